//! Texture coordinates: unwraps the surface into flat charts, packed into one square per material.
//!
//! A chart is a patch that is entirely visible from one direction. Patches are chosen greedily, largest first, to keep
//! seams few; each is projected along its direction at its true size.

use super::regions::Regions;
use glam::{DVec2, DVec3};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A patch, and its place in the material's texture.
#[derive(Clone, Debug)]
pub struct Chart {
    pub material: usize,
    /// Direction from which it is visible.
    pub normal: DVec3,
    /// Directions of increasing u and v, in model space.
    pub u: DVec3,
    pub v: DVec3,
    pub triangles: Vec<u32>,
    /// Texture coordinates are meters on the projection plane × scale + offset.
    pub offset: DVec2,
    pub scale: f64,
}

/// Minimum cosine between a chart's direction and its triangles' normals.
const FACING: f64 = 0.34;
/// Minimum cosine for a small leftover that joins a neighboring chart.
const FACING_LEFTOVER: f64 = 0.12;
/// A patch of fewer triangles is a leftover.
const LEFTOVER: usize = 14;
/// Charts are packed on a grid with this many blocks per side.
const BLOCKS: usize = 256;
/// Minimum number of blocks between charts: 8 texels of 512, which keeps charts apart up to the third mip level.
const GAP: usize = 4;

impl Chart {
    /// Returns the texture coordinates of a point of the chart, V down.
    pub fn tex_coord(&self, p: DVec3) -> DVec2 {
        DVec2::new(self.u.dot(p), self.v.dot(p)) * self.scale + self.offset
    }

    /// Returns the direction of increasing u on a surface with this normal.
    pub fn tangent(&self, normal: DVec3) -> DVec3 {
        // The vector in the tangent plane that projects to u, as MikkTSpace computes it.
        let facing = normal.dot(self.normal).max(0.05);
        (self.u - self.normal * (normal.dot(self.u) / facing)).normalize_or(self.u)
    }
}

/// Unwraps the surface into charts for every material.
///
/// `material` returns a part's material, `detail` a factor on its texel density. Each of the `fronts` is a part and the
/// direction it is seen from: everything visible from there becomes one chart, so that no seam crosses a face.
pub fn unwrap(
    regions: &Regions,
    material: &dyn Fn(u8) -> usize,
    detail: &dyn Fn(u8) -> f64,
    fronts: &[(u8, DVec3)],
) -> Vec<Chart> {
    let mesh = &regions.mesh;
    let materials: Vec<usize> = regions.parts.iter().map(|&p| material(p)).collect();
    let corners = |t: usize| mesh.triangles[t].map(|v| mesh.positions[v as usize]);
    let doubled: Vec<DVec3> = (0..mesh.triangles.len())
        .map(|t| {
            let [a, b, c] = corners(t);
            (b - a).cross(c - a)
        })
        .collect();
    let normals: Vec<DVec3> = doubled.iter().map(|n| n.normalize_or(DVec3::Y)).collect();
    let neighbors = across_edges(regions, &materials, detail);

    let mut chart_of: Vec<Option<usize>> = vec![None; normals.len()];
    let mut charts: Vec<(DVec3, Vec<u32>)> = Vec::new();
    let mut sheets: Vec<Sheet> = Vec::new();
    for &(part, direction) in fronts {
        let open = |t: usize| regions.parts[t] == part && normals[t].dot(direction) > FACING;
        let Some(patch) = patches(&neighbors, &open).into_iter().max_by_key(Vec::len) else {
            continue;
        };
        let mut sheet = Sheet::new(direction);
        let patch: Vec<u32> = patch
            .into_iter()
            .filter(|&t| sheet.lay(corners(t as usize)))
            .collect();
        patch
            .iter()
            .for_each(|&t| chart_of[t as usize] = Some(charts.len()));
        charts.push((direction, patch));
        sheets.push(sheet);
    }
    let directions = directions();
    // Patches only shrink as triangles are used up, so a direction's largest patch stays valid until it is touched.
    let mut best: Vec<Option<(f64, Vec<u32>)>> = vec![None; directions.len()];
    loop {
        for (direction, best) in directions
            .iter()
            .zip(&mut best)
            .filter(|(_, best)| best.is_none())
        {
            let open = |t: usize| chart_of[t].is_none() && normals[t].dot(*direction) > FACING;
            let patches = patches(&neighbors, &open).into_iter();
            let area = |patch: &[u32]| {
                patch
                    .iter()
                    .map(|&t| doubled[t as usize].dot(*direction))
                    .sum::<f64>()
            };
            let largest = patches
                .map(|p| (area(&p), p))
                .max_by(|a, b| a.0.total_cmp(&b.0));
            *best = Some(largest.unwrap_or_default());
        }
        // Among equals take the first, so that a cube's faces come before its edges.
        let mut choice = 0;
        for (i, found) in best.iter().enumerate() {
            if found.as_ref().map(|f| f.0) > best[choice].as_ref().map(|f| f.0 * 1.02) {
                choice = i;
            }
        }
        let (_, patch) = best[choice].take().unwrap_or_default();
        if patch.len() < LEFTOVER {
            break;
        }
        let mut sheet = Sheet::new(directions[choice]);
        let patch: Vec<u32> = patch
            .into_iter()
            .filter(|&t| sheet.lay(corners(t as usize)))
            .collect();
        patch
            .iter()
            .for_each(|&t| chart_of[t as usize] = Some(charts.len()));
        for found in &mut best {
            found.take_if(|f| f.1.iter().any(|&t| chart_of[t as usize].is_some()));
        }
        charts.push((directions[choice], patch));
        sheets.push(sheet);
    }
    let leftovers = patches(&neighbors, &|t| chart_of[t].is_none());

    // Leftovers join the neighbor they share the most edges with, if its direction still sees them.
    for patch in leftovers {
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        for &t in &patch {
            for &n in &neighbors[t as usize] {
                if let Some(chart) = chart_of[n as usize] {
                    let sees = patch.iter().all(|&t| {
                        normals[t as usize].dot(charts[chart].0) > FACING_LEFTOVER
                            && sheets[chart].is_free(corners(t as usize))
                    });
                    *shared.entry(chart).or_default() += usize::from(sees);
                }
            }
        }
        let home = shared
            .into_iter()
            .filter(|s| s.1 > 0)
            .max_by_key(|s| s.1)
            .map(|s| s.0);
        let home = home.unwrap_or_else(|| {
            let mean = patch
                .iter()
                .map(|&t| doubled[t as usize])
                .sum::<DVec3>()
                .normalize_or(DVec3::Y);
            charts.push((mean, vec![]));
            sheets.push(Sheet::new(mean));
            charts.len() - 1
        });
        patch
            .iter()
            .for_each(|&t| _ = sheets[home].lay(corners(t as usize)));
        patch
            .iter()
            .for_each(|&t| chart_of[t as usize] = Some(home));
        charts[home].1.extend(patch);
    }

    let mut out: Vec<Chart> = charts
        .into_iter()
        .map(|(normal, triangles)| {
            let first = triangles[0] as usize;
            let points: Vec<DVec3> = triangles
                .iter()
                .flat_map(|&t| corners(t as usize))
                .collect();
            let (u, v) = upright(normal, &points);
            let scale = detail(regions.parts[first]);
            Chart {
                material: materials[first],
                normal,
                u,
                v,
                triangles,
                offset: DVec2::ZERO,
                scale,
            }
        })
        .collect();
    let count = out.iter().map(|c| c.material + 1).max().unwrap_or(0);
    (0..count).for_each(|m| pack(&mut out, m, &corners));
    out
}

/// A chart's projection plane, with the grid points its triangles already cover.
struct Sheet {
    u: DVec3,
    v: DVec3,
    covered: HashSet<(i32, i32)>,
}

impl Sheet {
    /// Grid spacing in meters, finer than the smallest triangle.
    const PITCH: f64 = 0.0011;

    fn new(normal: DVec3) -> Self {
        let (u, v) = normal.any_orthonormal_pair();
        Self {
            u,
            v,
            covered: HashSet::new(),
        }
    }

    /// Returns `true` if the triangle wouldn't overlap another.
    fn is_free(&self, corners: [DVec3; 3]) -> bool {
        self.spots(corners)
            .iter()
            .all(|spot| !self.covered.contains(spot))
    }

    /// Adds a triangle; returns `false`, and changes nothing, if it would overlap another.
    fn lay(&mut self, corners: [DVec3; 3]) -> bool {
        let free = self.is_free(corners);
        if free {
            self.covered.extend(self.spots(corners));
        }
        free
    }

    /// Returns the grid points inside a triangle.
    fn spots(&self, corners: [DVec3; 3]) -> Vec<(i32, i32)> {
        let t = corners.map(|p| DVec2::new(self.u.dot(p), self.v.dot(p)) / Self::PITCH);
        let area = (t[1] - t[0]).perp_dot(t[2] - t[0]);
        let (low, high) = bounds(t.into_iter());
        let mut out = Vec::new();
        for y in low.y.ceil() as i32..=high.y.floor() as i32 {
            for x in low.x.ceil() as i32..=high.x.floor() as i32 {
                let p = DVec2::new(f64::from(x), f64::from(y));
                if (0..3).all(|i| (t[(i + 1) % 3] - t[i]).perp_dot(p - t[i]) * area.signum() > 0.0)
                {
                    out.push((x, y));
                }
            }
        }
        out
    }
}

/// Returns the connected patches of open triangles.
fn patches(neighbors: &[Vec<u32>], open: &dyn Fn(usize) -> bool) -> Vec<Vec<u32>> {
    let mut seen = vec![false; neighbors.len()];
    let mut out = Vec::new();
    for start in 0..neighbors.len() {
        if seen[start] || !open(start) {
            continue;
        }
        seen[start] = true;
        let (mut patch, mut next) = (vec![start as u32], 0);
        while next < patch.len() {
            for &n in &neighbors[patch[next] as usize] {
                if !seen[n as usize] && open(n as usize) {
                    seen[n as usize] = true;
                    patch.push(n);
                }
            }
            next += 1;
        }
        out.push(patch);
    }
    out
}

/// Returns each triangle's neighbors that may share its chart: those of the same material and detail.
fn across_edges(
    regions: &Regions,
    materials: &[usize],
    detail: &dyn Fn(u8) -> f64,
) -> Vec<Vec<u32>> {
    let mut by_edge: HashMap<(u32, u32), Vec<u32>> = HashMap::new();
    for (i, t) in regions.mesh.triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            by_edge
                .entry((a.min(b), a.max(b)))
                .or_default()
                .push(i as u32);
        }
    }
    let alike = |a: usize, b: usize| {
        materials[a] == materials[b] && detail(regions.parts[a]) == detail(regions.parts[b])
    };
    let others = |i: usize, t: &[u32; 3]| {
        let mut list: Vec<u32> = (0..3)
            .flat_map(|k| {
                by_edge[&(t[k].min(t[(k + 1) % 3]), t[k].max(t[(k + 1) % 3]))]
                    .iter()
                    .copied()
            })
            .filter(|&n| n as usize != i && alike(n as usize, i))
            .collect();
        list.sort_unstable();
        list.dedup();
        list
    };
    regions
        .mesh
        .triangles
        .iter()
        .enumerate()
        .map(|(i, t)| others(i, t))
        .collect()
}

/// Directions to the faces, edges and corners of a cube, faces first.
fn directions() -> Vec<DVec3> {
    let mut out: Vec<DVec3> = (0..27)
        .map(|i| {
            DVec3::new(
                f64::from(i % 3 - 1),
                f64::from(i / 3 % 3 - 1),
                f64::from(i / 9 - 1),
            )
        })
        .filter(|d| *d != DVec3::ZERO)
        .collect();
    out.sort_by(|a, b| a.length_squared().total_cmp(&b.length_squared()));
    out.into_iter().map(DVec3::normalize).collect()
}

/// Chooses a chart's axes: the model's up is up in the texture, unless rotating makes the box clearly smaller.
fn upright(normal: DVec3, points: &[DVec3]) -> (DVec3, DVec3) {
    let up = if normal.y.abs() > 0.9 {
        DVec3::NEG_Z
    } else {
        DVec3::Y
    };
    let right = up.cross(normal).normalize();
    let down = right.cross(normal).normalize();
    let mut best = (f64::MAX, right, down);
    for step in 0..16 {
        let (s, c) = super::maths::sin_cos(f64::from(step) * std::f64::consts::PI / 32.0);
        let (u, v) = (right * c + down * s, down * c - right * s);
        let (low, high) = bounds(points.iter().map(|p| DVec2::new(u.dot(*p), v.dot(*p))));
        let area = (high.x - low.x) * (high.y - low.y) * if step == 0 { 0.8 } else { 1.0 };
        if area < best.0 {
            best = (area, u, v);
        }
    }
    (best.1, best.2)
}

fn bounds(points: impl Iterator<Item = DVec2>) -> (DVec2, DVec2) {
    points.fold((DVec2::MAX, DVec2::MIN), |(low, high), p| {
        (low.min(p), high.max(p))
    })
}

/// Packs a material's charts into the unit square, as large as they fit.
fn pack(charts: &mut [Chart], material: usize, corners: &dyn Fn(usize) -> [DVec3; 3]) {
    let mut order: Vec<usize> = (0..charts.len())
        .filter(|&i| charts[i].material == material)
        .collect();
    let flat: HashMap<usize, Vec<[DVec2; 3]>> = order
        .iter()
        .map(|&i| {
            let c = &charts[i];
            let project = |p: DVec3| DVec2::new(c.u.dot(p), c.v.dot(p)) * c.scale;
            (
                i,
                c.triangles
                    .iter()
                    .map(|&t| corners(t as usize).map(project))
                    .collect(),
            )
        })
        .collect();
    let extent = |i: &usize| bounds(flat[i].iter().flatten().copied());
    let longest = |i: &usize| {
        let (low, high) = extent(i);
        (high - low).max_element()
    };
    order.sort_by(|a, b| longest(b).total_cmp(&longest(a)));

    let (mut fits, mut too_big) = (0.0, 6.0);
    let mut places = Vec::new();
    for _ in 0..9 {
        let scale = 0.5 * (fits + too_big);
        match try_pack(&order, &flat, scale) {
            Some(found) => (fits, places) = (scale, found),
            None => too_big = scale,
        }
    }
    for (i, offset) in places {
        charts[i].scale *= fits;
        charts[i].offset = offset;
    }
}

/// Returns offsets for charts at `scale`, or `None` if they don't fit.
fn try_pack(
    order: &[usize],
    flat: &HashMap<usize, Vec<[DVec2; 3]>>,
    scale: f64,
) -> Option<Vec<(usize, DVec2)>> {
    let block = 1.0 / BLOCKS as f64;
    let mut taken = vec![false; BLOCKS * BLOCKS];
    let mut out = Vec::new();
    for &i in order {
        let (low, high) = bounds(flat[&i].iter().flatten().map(|p| *p * scale));
        let (wide, tall) = (
            ((high.x - low.x) / block) as usize + 3,
            ((high.y - low.y) / block) as usize + 3,
        );
        if wide > BLOCKS || tall > BLOCKS {
            return None;
        }
        // Blocks the chart touches, plus a border of one block.
        let mut mask = vec![false; wide * tall];
        for t in &flat[&i] {
            let p = t.map(|p| (p * scale - low) / block + 1.0);
            let (l, h) = bounds(p.into_iter());
            for y in (l.y as usize)..=(h.y as usize) {
                for x in (l.x as usize)..=(h.x as usize) {
                    if touches(&p, DVec2::new(x as f64 + 0.5, y as f64 + 0.5)) {
                        mask[y * wide + x] = true;
                    }
                }
            }
        }
        let mut cells: Vec<(usize, usize)> = (0..wide * tall)
            .filter(|&c| mask[c])
            .map(|c| (c % wide, c / wide))
            .collect();
        // In scattered order, to find a collision early.
        cells.sort_by_key(|&(x, y)| ((x * 31 + y * 57) % 64, y, x));
        let place = (0..=BLOCKS - tall)
            .flat_map(|y| (0..=BLOCKS - wide).map(move |x| (x, y)))
            .find(|&(x, y)| {
                cells
                    .iter()
                    .all(|&(cx, cy)| !taken[(y + cy) * BLOCKS + x + cx])
            });
        let (x, y) = place?;
        for &(cx, cy) in &cells {
            let near = |at: usize| at.saturating_sub(GAP)..=(at + GAP).min(BLOCKS - 1);
            for by in near(y + cy) {
                taken[by * BLOCKS..][near(x + cx)].fill(true);
            }
        }
        out.push((i, DVec2::new(x as f64 + 1.0, y as f64 + 1.0) * block - low));
    }
    Some(out)
}

/// Returns `true` if a triangle comes within 0.75 of a point.
fn touches(t: &[DVec2; 3], p: DVec2) -> bool {
    let inside = |s: f64| (0..3).all(|i| (t[(i + 1) % 3] - t[i]).perp_dot(p - t[i]) * s >= 0.0);
    let near = |a: DVec2, b: DVec2| {
        let along = ((p - a).dot(b - a) / (b - a).length_squared().max(1e-18)).clamp(0.0, 1.0);
        p.distance_squared(a.lerp(b, along)) < 0.75 * 0.75
    };
    inside(1.0) || inside(-1.0) || (0..3).any(|i| near(t[i], t[(i + 1) % 3]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_charts_keep_their_distance_and_lie_within_the_square() {
        let block = 1.0 / BLOCKS as f64;
        let triangle = |i: usize| {
            let (w, h) = (
                0.03 + 0.013 * (i * 7 % 11) as f64,
                0.02 + 0.017 * (i * 5 % 13) as f64,
            );
            [DVec2::ZERO, DVec2::new(w, 0.3 * h), DVec2::new(0.2 * w, h)]
        };
        let flat: HashMap<usize, Vec<[DVec2; 3]>> =
            (0..24).map(|i| (i, vec![triangle(i)])).collect();
        let order: Vec<usize> = (0..24).collect();
        let places = try_pack(&order, &flat, 1.0).expect("there is room");
        let along = |a: DVec2, b: DVec2| (0..=64).map(move |k| a.lerp(b, f64::from(k) / 64.0));
        let edges: Vec<Vec<DVec2>> = places
            .iter()
            .map(|&(i, offset)| triangle(i).map(|p| p + offset))
            .map(|t| (0..3).flat_map(|k| along(t[k], t[(k + 1) % 3])).collect())
            .collect();
        for (i, one) in edges.iter().enumerate() {
            assert!(
                one.iter()
                    .all(|p| p.min_element() >= 0.0 && p.max_element() <= 1.0),
                "{i}"
            );
            let others = || edges[..i].iter().flatten();
            let nearest = one
                .iter()
                .flat_map(|p| others().map(|o| o.distance(*p)))
                .fold(f64::MAX, f64::min);
            assert!(
                nearest >= GAP as f64 * block,
                "{i}: {} blocks",
                nearest / block
            );
        }
        assert!(try_pack(&order, &flat, 3.0).is_none());
    }
}
