//! Layout of a blend space's points, and the weights between them.
//!
//! Parameters are scaled to the size of the space, so that meters per second and degrees count alike. Points that are all
//! on one line are sorted along it. All others are triangulated once; a place within a triangle has the weights of its
//! barycentric coordinates, which change evenly along any straight line and agree at the edges.

use delaunator::{EMPTY, Point, triangulate};
use glam::DVec2;

/// Places nearer than this, in parts of the space's size, are refused: between them, a pose would jump.
const NEAR: f64 = 1e-3;
/// Places nearer to a line than this are on it: decimals such as 0.1 are off by less.
const ON_LINE: f64 = 1e-6;
/// A space smaller than this is a point: smaller numbers leave no room to compute with.
const LEAST_SIZE: f64 = 1e-100;
/// Weights up to this are rounding.
const LEAST: f64 = 1e-9;

/// Points that cannot be laid out, by their indices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LayoutError {
    TooClose(usize, usize),
    Sliver([usize; 3]),
}

#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// From parameters to parts of the space's size: `(p - origin) * scale`. A scale of 0 ignores a parameter.
    origin: DVec2,
    scale: DVec2,
    shape: Shape,
}

/// All in parts of the space's size.
#[derive(Clone, Debug)]
enum Shape {
    /// Points by their places along a line.
    Line {
        start: DVec2,
        along: DVec2,
        knots: Box<[(f64, usize)]>,
    },
    Mesh {
        triangles: Box<[Triangle]>,
        inner_edges: Box<[[DVec2; 2]]>,
        hull: Box<[[DVec2; 2]]>,
    },
}

/// A triangle, with the slopes of its second and third corners' weights.
#[derive(Clone, Copy, Debug)]
struct Triangle {
    /// By index, so that the order doesn't depend on the triangle.
    corners: [usize; 3],
    first: DVec2,
    slopes: [DVec2; 2],
}

impl Triangle {
    #[inline]
    fn weights(&self, place: DVec2) -> [f64; 3] {
        let [b, c] = self.slopes.map(|slope| slope.dot(place - self.first));
        [1.0 - b - c, b, c]
    }
}

impl Layout {
    pub(super) fn new(points: &[DVec2]) -> Result<Self, LayoutError> {
        let fold = |choose: fn(DVec2, DVec2) -> DVec2| {
            points.iter().copied().reduce(choose).unwrap_or_default()
        };
        let (origin, size) = (fold(DVec2::min), fold(DVec2::max) - fold(DVec2::min));
        // A size that vanishes beside the places themselves is rounding.
        let scale = |axis: usize| {
            let most = points
                .iter()
                .fold(0.0, |most: f64, p| most.max(p[axis].abs()));
            let is_flat = size[axis] < LEAST_SIZE || size[axis] <= 1e-12 * most;
            if is_flat { 0.0 } else { size[axis].recip() }
        };
        let scale = DVec2::new(scale(0), scale(1));
        let places: Vec<DVec2> = points
            .iter()
            .map(|point| (*point - origin) * scale)
            .collect();
        for (b, place) in places.iter().enumerate() {
            if let Some(a) = places[..b]
                .iter()
                .position(|other| other.distance(*place) < NEAR)
            {
                return Err(LayoutError::TooClose(a, b));
            }
        }
        Ok(Self {
            origin,
            scale,
            shape: Shape::new(&places)?,
        })
    }

    #[inline]
    fn place(&self, point: DVec2) -> DVec2 {
        // Without bounds, points far away would overflow.
        ((point - self.origin) * self.scale).clamp(DVec2::splat(-1e6), DVec2::splat(1e6))
    }

    /// The place within the space that is nearest to a point.
    pub(super) fn nearest(&self, point: DVec2) -> DVec2 {
        let place = self.place(point);
        let near = self.shape.nearest(place);
        let back = |axis: usize| match self.scale[axis] {
            0.0 => self.origin[axis],
            // A place within stays the same, to the bit.
            _ if near[axis] == place[axis] => point[axis],
            scale => self.origin[axis] + near[axis] / scale,
        };
        DVec2::new(back(0), back(1))
    }

    /// The weights at a place within the space, of up to three points. Their sum is 1; those that are 0 don't count.
    #[inline]
    pub(super) fn weights(&self, point: DVec2) -> [(usize, f64); 3] {
        // A weight that is only rounding would keep a clip active.
        let counting = |(index, weight)| (index, if weight > LEAST { weight } else { 0.0 });
        let found = self.shape.weights(self.place(point)).map(counting);
        let sum: f64 = found.iter().map(|(_, weight)| weight).sum();
        found.map(|(index, weight)| (index, weight / sum))
    }

    /// The distance of two points in parts of the space's size.
    #[inline]
    pub(super) fn distance(&self, from: DVec2, to: DVec2) -> f64 {
        self.place(from).distance(self.place(to))
    }

    /// The first part of the way between two places within the space, beyond `after`, at which the slope of a weight may
    /// change.
    pub(super) fn next_bend(&self, from: DVec2, to: DVec2, after: f64) -> Option<f64> {
        let (from, to) = (self.place(from), self.place(to));
        let is_next = |part: &f64| *part > after && *part < 1.0;
        match &self.shape {
            Shape::Line {
                start,
                along,
                knots,
            } => {
                let [from, to] = [from, to].map(|place| (place - *start).dot(*along));
                let parts = knots.iter().map(|(knot, _)| (knot - from) / (to - from));
                parts.filter(is_next).min_by(f64::total_cmp)
            }
            Shape::Mesh { inner_edges, .. } => {
                let parts = inner_edges
                    .iter()
                    .filter_map(|edge| crossing([from, to], *edge, is_next));
                parts.min_by(f64::total_cmp)
            }
        }
    }
}

impl Shape {
    fn new(places: &[DVec2]) -> Result<Self, LayoutError> {
        let mesh = triangulate(
            &places
                .iter()
                .map(|place| Point {
                    x: place.x,
                    y: place.y,
                })
                .collect::<Vec<_>>(),
        );
        let corner = |half_edge: usize| places[mesh.triangles[half_edge]];
        let mut is_flat = Vec::with_capacity(mesh.len());
        let mut triangles = Vec::new();
        for corners in mesh.triangles.chunks_exact(3) {
            let corners = [corners[0], corners[1], corners[2]];
            let [a, b, c] = corners.map(|corner| places[corner]);
            let (area, longest) = (
                (b - a).perp_dot(c - a),
                a.distance(b).max(b.distance(c)).max(c.distance(a)),
            );
            let height = area.abs() / longest;
            is_flat.push(height <= ON_LINE);
            if height <= ON_LINE {
                continue;
            }
            if height < NEAR {
                return Err(LayoutError::Sliver(corners));
            }
            // Sorted corners make the weights of a shared edge come in the same order from both
            // triangles.
            let mut corners = corners;
            corners.sort_unstable();
            let [a, b, c] = corners.map(|corner| places[corner]);
            let area = (b - a).perp_dot(c - a);
            let slopes = [
                DVec2::new(c.y - a.y, a.x - c.x),
                DVec2::new(a.y - b.y, b.x - a.x),
            ]
            .map(|slope| slope / area);
            triangles.push(Triangle {
                corners,
                first: a,
                slopes,
            });
        }
        if triangles.is_empty() {
            return Ok(Self::line(places));
        }
        // Every edge between two triangles is two half-edges, of which one suffices.
        let inner = mesh.halfedges.iter().enumerate().filter(|&(edge, &twin)| {
            twin != EMPTY && edge < twin && !is_flat[edge / 3] && !is_flat[twin / 3]
        });
        let ends = |edge: usize| [corner(edge), corner(delaunator::next_halfedge(edge))];
        let hull = mesh
            .hull
            .iter()
            .zip(mesh.hull.iter().cycle().skip(1))
            .map(|(a, b)| [places[*a], places[*b]]);
        Ok(Self::Mesh {
            triangles: triangles.into(),
            inner_edges: inner.map(|(edge, _)| ends(edge)).collect(),
            hull: hull.collect(),
        })
    }

    /// Points of which the farthest two are farther apart than [`NEAR`], or a single one.
    fn line(places: &[DVec2]) -> Self {
        // The leftmost point, or the lowest of several, is an end of the line. The point that is
        // farthest from it is the other end.
        let start = places
            .iter()
            .copied()
            .reduce(|a, b| if (b.x, b.y) < (a.x, a.y) { b } else { a });
        let start = start.unwrap_or_default();
        let end = places.iter().copied().reduce(|a, b| {
            if b.distance(start) > a.distance(start) {
                b
            } else {
                a
            }
        });
        let along = (end.unwrap_or_default() - start).normalize_or_zero();
        let along_it = |(at, place): (usize, &DVec2)| ((*place - start).dot(along), at);
        let mut knots: Box<[(f64, usize)]> = places.iter().enumerate().map(along_it).collect();
        knots.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self::Line {
            start,
            along,
            knots,
        }
    }

    fn nearest(&self, place: DVec2) -> DVec2 {
        match self {
            Self::Line {
                start,
                along,
                knots,
            } => {
                let last = knots.last().map_or(0.0, |knot| knot.0);
                *start + *along * (place - *start).dot(*along).clamp(0.0, last)
            }
            Self::Mesh {
                triangles, hull, ..
            } => {
                // On an edge, rounding may put it beyond both triangles.
                let is_within = |triangle: &Triangle| {
                    triangle
                        .weights(place)
                        .iter()
                        .all(|weight| *weight >= -LEAST)
                };
                if triangles.iter().any(is_within) {
                    return place;
                }
                let on_edge = |[a, b]: &[DVec2; 2]| {
                    let way = *b - *a;
                    *a + way * ((place - *a).dot(way) / way.length_squared()).clamp(0.0, 1.0)
                };
                let nearer = |a: DVec2, b: DVec2| {
                    if b.distance_squared(place) < a.distance_squared(place) {
                        b
                    } else {
                        a
                    }
                };
                hull.iter().map(on_edge).reduce(nearer).unwrap_or(place)
            }
        }
    }

    #[inline]
    fn weights(&self, place: DVec2) -> [(usize, f64); 3] {
        match self {
            Self::Line {
                start,
                along,
                knots,
            } => {
                let at = (place - *start).dot(*along);
                let after = knots.partition_point(|knot| knot.0 <= at);
                let Some(&(begin, first)) = knots.get(after.wrapping_sub(1)) else {
                    return [
                        (knots.first().map_or(0, |knot| knot.1), 1.0),
                        (0, 0.0),
                        (0, 0.0),
                    ];
                };
                let Some(&(end, second)) = knots.get(after) else {
                    return [(first, 1.0), (0, 0.0), (0, 0.0)];
                };
                let share = (at - begin) / (end - begin);
                // By index, so that the order is the same on both sides of a point.
                let pair = [(first, 1.0 - share), (second, share)];
                let [a, b] = if first < second {
                    pair
                } else {
                    [pair[1], pair[0]]
                };
                [a, b, (0, 0.0)]
            }
            Self::Mesh { triangles, .. } => {
                let of = |triangle: &Triangle, weights: [f64; 3]| {
                    [0, 1, 2].map(|corner| (triangle.corners[corner], weights[corner]))
                };
                // A point on an edge may be outside of both triangles by rounding. The one that it
                // misses least counts.
                let mut best = (f64::NEG_INFINITY, [(0, 0.0); 3]);
                for triangle in triangles {
                    let weights @ [a, b, c] = triangle.weights(place);
                    if a >= 0.0 && b >= 0.0 && c >= 0.0 {
                        return of(triangle, weights);
                    }
                    let least = a.min(b).min(c);
                    if least > best.0 {
                        best = (least, of(triangle, weights));
                    }
                }
                best.1
            }
        }
    }
}

/// Returns the part of a way, in `0..1`, at which it crosses an edge, its ends included; `None` if they don't meet, or if
/// the part is not `wanted`.
fn crossing(
    [from, to]: [DVec2; 2],
    [a, b]: [DVec2; 2],
    wanted: impl Fn(&f64) -> bool,
) -> Option<f64> {
    let (way, edge) = (to - from, b - a);
    let across = way.perp_dot(edge);
    let before = (a - from).perp_dot(edge);
    // Most are ahead or behind, which shows without a division.
    if before.abs() >= across.abs() || (before < 0.0) != (across < 0.0) {
        return None;
    }
    // A way along the edge leaves it where it crosses another one.
    if across * across <= 1e-24 * way.length_squared() * edge.length_squared() {
        return None;
    }
    let is_on_edge = || (-1e-9..=1.0 + 1e-9).contains(&((a - from).perp_dot(way) / across));
    Some(before / across).filter(|part| wanted(part) && is_on_edge())
}

#[cfg(test)]
#[path = "tests/layout.rs"]
mod tests;
