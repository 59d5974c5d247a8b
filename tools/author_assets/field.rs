//! The body as a signed distance field: layers of solids, one layer per region of the surface.
//!
//! The solids of a layer blend smoothly into each other. Layers (skin, shirt, belt, …) lie on top of each other, with a
//! narrow seam between them. Negative distances are inside. Distances are lower bounds, which is enough for culling and
//! projection.

use super::maths::{smooth_max, smooth_min};
use glam::{DMat3, DVec3, IVec3};

/// A primitive shape.
#[derive(Clone, Copy)]
pub enum Shape {
    /// The hull of two balls, in a space scaled by `squash` about `a`.
    Cone {
        a: DVec3,
        ra: f64,
        b: DVec3,
        rb: f64,
        squash: DVec3,
    },
    /// An ellipsoid; the matrix's columns are its axes.
    Ellipsoid {
        center: DVec3,
        radii: DVec3,
        axes: DMat3,
    },
    /// A box with edges rounded by `round`.
    Block {
        center: DVec3,
        half: DVec3,
        round: f64,
        axes: DMat3,
    },
}

/// A shape that follows a bone.
#[derive(Clone, Copy)]
pub struct Solid {
    pub shape: Shape,
    /// The joint that the skin around this solid follows.
    pub bone: usize,
    /// Subtracts the solid from its layer instead of adding it.
    pub carve: bool,
}

/// A half-space that bounds a layer: keeps `normal · p ≤ offset`.
#[derive(Clone, Copy)]
pub struct Clip {
    pub normal: DVec3,
    pub offset: f64,
}

/// What a layer is made of.
pub enum Source {
    /// Solids blended together.
    Solids(Vec<Solid>),
    /// An earlier layer, thickened: bands, straps, cuffs.
    Shell { of: usize, thickness: f64 },
}

/// One region of the surface.
pub struct Layer {
    /// The character's own ID for the region.
    pub part: u8,
    pub source: Source,
    /// Width over which the layer's solids blend.
    pub blend: f64,
    /// Width over which the layer blends into earlier ones: small for a crisp seam.
    pub seam: f64,
    /// Half-spaces that bound the layer, with edges rounded by 4 mm.
    pub clips: Vec<Clip>,
}

/// A region drawn on another one: it changes what a point belongs to, not the shape.
pub struct Decal {
    /// The region it is on.
    pub on: u8,
    /// The character's own ID for it.
    pub part: u8,
    /// Negative within the decal; its sign is all that counts.
    pub within: fn(DVec3) -> f64,
}

/// The field's value at a point.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Signed distance in meters, negative inside.
    pub distance: f64,
    /// The nearest layer's part.
    pub part: u8,
    /// The bone of that layer's nearest solid.
    pub bone: usize,
}

/// All layers, with a grid that lists the relevant solids per cell.
pub struct Field {
    layers: Vec<Layer>,
    decals: Vec<Decal>,
    solids: Vec<(usize, Solid)>,
    low: DVec3,
    size: IVec3,
    cells: Vec<Vec<u16>>,
}

const CELL: f64 = 0.05;
/// Upper limit of `blend` and `seam`.
const WIDEST_BLEND: f64 = 0.09;
const MAX_LAYERS: usize = 32;
const EDGE: f64 = 0.004;

impl Field {
    /// Creates a field for points in the box from `low` to `high`.
    pub fn new(layers: Vec<Layer>, low: DVec3, high: DVec3) -> Self {
        assert!(
            layers.len() <= MAX_LAYERS
                && layers.iter().all(|l| l.blend.max(l.seam) <= WIDEST_BLEND)
        );
        let mut solids = Vec::new();
        for (index, layer) in layers.iter().enumerate() {
            if let Source::Solids(list) = &layer.source {
                // Carving solids last, so that they cut all others.
                solids.extend(list.iter().filter(|s| !s.carve).map(|s| (index, *s)));
                solids.extend(list.iter().filter(|s| s.carve).map(|s| (index, *s)));
            }
        }
        let size = ((high - low) / CELL).ceil().as_ivec3() + IVec3::ONE;
        let mut cells = Vec::with_capacity((size.x * size.y * size.z) as usize);
        let reach = CELL * 0.87;
        for z in 0..size.z {
            for y in 0..size.y {
                for x in 0..size.x {
                    let center = low + (IVec3::new(x, y, z).as_dvec3() + 0.5) * CELL;
                    let distances: Vec<f64> = solids
                        .iter()
                        .map(|(_, s)| s.shape.distance(center))
                        .collect();
                    let added = solids.iter().zip(&distances).filter(|(s, _)| !s.1.carve);
                    let nearest = added.map(|(_, d)| *d).fold(f64::MAX, f64::min);
                    let limit = nearest.max(0.0) + 2.5 * reach + WIDEST_BLEND;
                    cells.push(
                        (0..solids.len() as u16)
                            .filter(|&i| distances[usize::from(i)] <= limit)
                            .collect(),
                    );
                }
            }
        }
        Self {
            layers,
            decals: Vec::new(),
            solids,
            low,
            size,
            cells,
        }
    }

    /// Returns the field with decals.
    pub fn with_decals(self, decals: Vec<Decal>) -> Self {
        Self { decals, ..self }
    }

    /// Returns distance, part and bone at a point.
    pub fn sample(&self, p: DVec3) -> Sample {
        let mut distance = [f64::MAX; MAX_LAYERS];
        let mut nearest = [(f64::MAX, 0usize); MAX_LAYERS];
        let cell = ((p - self.low) / CELL)
            .floor()
            .as_ivec3()
            .clamp(IVec3::ZERO, self.size - IVec3::ONE);
        for &index in &self.cells[((cell.z * self.size.y + cell.y) * self.size.x + cell.x) as usize]
        {
            let (layer, solid) = &self.solids[usize::from(index)];
            let d = solid.shape.distance(p);
            let blend = self.layers[*layer].blend;
            if solid.carve {
                distance[*layer] = smooth_max(distance[*layer], -d, blend);
            } else {
                distance[*layer] = smooth_min(distance[*layer], d, blend);
                if d < nearest[*layer].0 {
                    nearest[*layer] = (d, solid.bone);
                }
            }
        }
        let mut sample = Sample {
            distance: f64::MAX,
            part: 0,
            bone: 0,
        };
        let mut closest = f64::MAX;
        for (index, layer) in self.layers.iter().enumerate() {
            if let Source::Shell { of, thickness } = layer.source {
                nearest[index] = nearest[of];
                distance[index] = distance[of] - thickness;
            }
            if nearest[index].0 == f64::MAX {
                continue;
            }
            for clip in &layer.clips {
                distance[index] =
                    smooth_max(distance[index], clip.normal.dot(p) - clip.offset, EDGE);
            }
            if distance[index] < closest {
                closest = distance[index];
                sample.part = layer.part;
                sample.bone = nearest[index].1;
            }
            sample.distance = smooth_min(sample.distance, distance[index], layer.seam);
        }
        let on = sample.part;
        let decal = self
            .decals
            .iter()
            .find(|d| d.on == on && (d.within)(p) < 0.0);
        sample.part = decal.map_or(on, |decal| decal.part);
        sample
    }

    /// Returns the signed distance at a point.
    pub fn distance(&self, p: DVec3) -> f64 {
        self.sample(p).distance
    }

    /// Returns the gradient, from differences over `step` (four samples at the corners of a tetrahedron).
    pub fn gradient(&self, p: DVec3, step: f64) -> DVec3 {
        let corners = [
            (1.0, -1.0, -1.0),
            (-1.0, -1.0, 1.0),
            (-1.0, 1.0, -1.0),
            (1.0, 1.0, 1.0),
        ]
        .map(DVec3::from);
        corners
            .into_iter()
            .map(|c| c * self.distance(p + c * step))
            .sum::<DVec3>()
            / (4.0 * step)
    }

    /// Returns the outward unit normal near the surface.
    pub fn normal(&self, p: DVec3, step: f64) -> DVec3 {
        self.gradient(p, step).normalize_or(DVec3::Y)
    }

    /// Projects `p` onto the surface, moving it by at most `reach`.
    pub fn project(&self, p: DVec3, reach: f64) -> DVec3 {
        let mut at = p;
        for _ in 0..5 {
            let gradient = self.gradient(at, 0.0008);
            let step = gradient * (self.distance(at) / gradient.length_squared().max(0.05));
            at -= step.clamp_length_max(reach * 0.5);
            if step.length_squared() < 1e-12 {
                break;
            }
        }
        p + (at - p).clamp_length_max(reach)
    }
}

impl Shape {
    /// Scales the shape by `k` about `pivot`.
    pub fn grown(self, pivot: DVec3, k: f64) -> Self {
        let at = |p: DVec3| pivot + (p - pivot) * k;
        match self {
            Self::Cone {
                a,
                ra,
                b,
                rb,
                squash,
            } => Self::Cone {
                a: at(a),
                ra: ra * k,
                b: at(b),
                rb: rb * k,
                squash,
            },
            Self::Ellipsoid {
                center,
                radii,
                axes,
            } => Self::Ellipsoid {
                center: at(center),
                radii: radii * k,
                axes,
            },
            Self::Block {
                center,
                half,
                round,
                axes,
            } => Self::Block {
                center: at(center),
                half: half * k,
                round: round * k,
                axes,
            },
        }
    }

    /// Returns a lower bound of the signed distance, which is exact for unsquashed cones and blocks.
    pub fn distance(&self, p: DVec3) -> f64 {
        match *self {
            Self::Cone {
                a,
                ra,
                b,
                rb,
                squash,
            } => {
                let p = a + (p - a) / squash;
                cone(p, a, ra, a + (b - a) / squash, rb) * squash.min_element()
            }
            Self::Ellipsoid {
                center,
                radii,
                axes,
            } => {
                let q = axes.transpose() * (p - center);
                let (scaled, slope) = ((q / radii).length(), (q / (radii * radii)).length());
                if slope < 1e-9 {
                    -radii.min_element()
                } else {
                    scaled * (scaled - 1.0) / slope
                }
            }
            Self::Block {
                center,
                half,
                round,
                axes,
            } => {
                let q = (axes.transpose() * (p - center)).abs() - half + round;
                q.max(DVec3::ZERO).length() + q.max_element().min(0.0) - round
            }
        }
    }
}

/// Signed distance of a round cone, after Inigo Quilez.
fn cone(p: DVec3, a: DVec3, ra: f64, b: DVec3, rb: f64) -> f64 {
    let ba = b - a;
    let (l2, rr) = (ba.length_squared(), ra - rb);
    let a2 = l2 - rr * rr;
    if a2 <= 0.0 {
        // One ball contains the other.
        return ((p - a).length() - ra).min((p - b).length() - rb);
    }
    let pa = p - a;
    let y = pa.dot(ba);
    let z = y - l2;
    let x2 = (pa * l2 - ba * y).length_squared();
    let (y2, z2) = (y * y * l2, z * z * l2);
    let k = rr.signum() * rr * rr * x2;
    if z.signum() * a2 * z2 > k {
        (x2 + z2).sqrt() / l2 - rb
    } else if y.signum() * a2 * y2 < k {
        (x2 + y2).sqrt() / l2 - ra
    } else {
        ((x2 * a2 / l2).sqrt() + y * rr) / l2 - ra
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ball(center: DVec3, radius: f64, bone: usize) -> Solid {
        Solid {
            shape: Shape::Cone {
                a: center,
                ra: radius,
                b: center,
                rb: radius,
                squash: DVec3::ONE,
            },
            bone,
            carve: false,
        }
    }

    #[test]
    fn culling_solids_by_cell_changes_nothing() {
        let balls: Vec<Solid> = (0..40)
            .map(|i| {
                ball(
                    DVec3::new(0.05 * f64::from(i), 0.1 * f64::from(i % 7), 0.0),
                    0.06,
                    i as usize,
                )
            })
            .collect();
        let layers = || {
            vec![Layer {
                part: 3,
                source: Source::Solids(balls.clone()),
                blend: 0.05,
                seam: 0.01,
                clips: vec![],
            }]
        };
        let field = Field::new(layers(), DVec3::splat(-0.2), DVec3::new(2.2, 0.9, 0.2));
        let mut all = Field::new(layers(), DVec3::splat(-0.2), DVec3::new(2.2, 0.9, 0.2));
        all.cells
            .iter_mut()
            .for_each(|cell| *cell = (0..40).collect());
        for i in 0..2000 {
            let f = f64::from(i);
            let p = DVec3::new(f * 0.001, (f * 0.37) % 0.7, (f * 0.11) % 0.3 - 0.15);
            let (a, b) = (field.sample(p), all.sample(p));
            assert!(
                a.bone == b.bone && (a.distance - b.distance).abs() < 1e-12 || b.distance > 0.05,
                "{p}: {a:?} {b:?}"
            );
        }
    }

    #[test]
    fn a_projected_point_lies_on_the_surface() {
        let layers = vec![Layer {
            part: 0,
            source: Source::Solids(vec![ball(DVec3::ZERO, 0.1, 0)]),
            blend: 0.01,
            seam: 0.01,
            clips: vec![],
        }];
        let field = Field::new(layers, DVec3::splat(-0.2), DVec3::splat(0.2));
        let p = field.project(DVec3::new(0.06, 0.05, 0.04), 0.05);
        assert!((p.length() - 0.1).abs() < 2e-6, "{p}");
    }
}
