//! Fills in missing tangents, following MikkTSpace.
//!
//! The `bevy_mikktspace` crate is the reference in the tests, but not for files: it recurses from triangle to triangle
//! around a vertex, compares each with all others there, and needs a kilobyte per vertex.

use super::{
    firsts::Firsts,
    normals::{arc_cosine, cosine, usable},
};
use crate::model::SkinPart;
use glam::{DVec2, DVec3, Vec2, Vec3, Vec4};

/// Computes the tangents that are missing and normalizes the others. Returns how many were missing.
///
/// A tangent is missing if it is zero, not finite or along the normal; a list of the wrong length
/// is missing as a whole. The others become unit vectors with a `w` of ±1. Positions, unit normals,
/// texture coordinates and triangles must be final. Vertices whose triangles mirror the texture
/// against each other are duplicated, one copy for each sign: `part` may grow at the end.
///
/// The bitangent `w · normal × tangent` points against V, as Bevy expects where V points down.
pub(super) fn complete_tangents(part: &mut SkinPart) -> usize {
    let vertices = part.positions.len();
    let mut missing = Vec::new();
    if part.tangents.len() != vertices {
        part.tangents = vec![Vec4::ZERO; vertices];
        missing = (0..vertices).collect();
    } else {
        for (vertex, (tangent, normal)) in part.tangents.iter_mut().zip(&part.normals).enumerate() {
            let w = if tangent.w < 0.0 { -1.0 } else { 1.0 };
            match usable(tangent.truncate()).filter(|t| t.cross(*normal).length_squared() > 1e-4) {
                Some(unit) => *tangent = unit.extend(w),
                None => missing.push(vertex),
            }
        }
    }
    if !missing.is_empty() {
        compute_tangents(part, &missing);
    }
    missing.len()
}

fn compute_tangents(part: &mut SkinPart, missing: &[usize]) {
    // As in models in plain colors, which have no texture coordinates.
    if part
        .triangles
        .iter()
        .all(|corners| area(part, corners) == 0.0)
    {
        for &vertex in missing {
            part.tangents[vertex] = part.normals[vertex].any_orthonormal_vector().extend(1.0);
        }
        return;
    }
    let first = first_equal(part);
    // Per vertex, the sum over its corners of either sign.
    let mut sums = vec![[Vec3::ZERO; 2]; part.positions.len()];
    for triangle in &part.triangles {
        let [a, b, c] = triangle.map(|vertex| part.positions[vertex as usize].as_dvec3());
        let edges = [a - c, b - a, c - b, a - c];
        let (along_u, mirrored) = along_u(part, triangle, b - a, c - a);
        let mut corners = [(0.0, DVec3::ZERO); 3];
        for (corner, &vertex) in triangle.iter().enumerate() {
            let normal = part.normals[vertex as usize].as_dvec3();
            let in_plane = |v: DVec3| v - normal * normal.dot(v);
            let (from, to) = (in_plane(edges[corner]), in_plane(edges[corner + 1]));
            corners[corner] = (cosine(-from, to), in_plane(along_u).normalize_or_zero());
        }
        // In a loop of its own, which takes a third less time: of a longer one, a processor sees too little ahead to
        // work while it waits for square roots.
        for (&vertex, (cosine, tangent)) in triangle.iter().zip(corners) {
            let share = (tangent * arc_cosine(cosine)).as_vec3();
            if share.is_finite() {
                sums[first[vertex as usize] as usize][usize::from(mirrored)] += share;
            }
        }
    }
    let mut mirrored_copy = vec![None; part.positions.len()];
    for &vertex in missing {
        let normal = part.normals[vertex];
        let in_plane = |v: Vec3| usable(v - normal * normal.dot(v));
        let [plain, mirrored] = sums[first[vertex] as usize];
        let (plain, mirrored) = (in_plane(plain), in_plane(mirrored));
        part.tangents[vertex] = match (plain, mirrored) {
            (Some(plain), _) => plain.extend(1.0),
            (None, Some(mirrored)) => mirrored.extend(-1.0),
            (None, None) => normal.any_orthonormal_vector().extend(1.0),
        };
        if let (Some(_), Some(mirrored)) = (plain, mirrored) {
            mirrored_copy[vertex] = Some(duplicate(part, vertex, mirrored.extend(-1.0)));
        }
    }
    if part.positions.len() == sums.len() {
        return;
    }
    // Triangles that mirror the texture get the copies.
    for face in 0..part.triangles.len() {
        let triangle = part.triangles[face];
        if triangle.iter().any(|&vertex| {
            mirrored_copy
                .get(vertex as usize)
                .is_some_and(Option::is_some)
        }) && area(part, &triangle) > 0.0
        {
            part.triangles[face] =
                triangle.map(|vertex| mirrored_copy[vertex as usize].unwrap_or(vertex));
        }
    }
}

/// The direction, of any length, in which U grows along a triangle with the edges `ab` and `ac`, and whether the
/// picture is mirrored on it.
fn along_u(part: &SkinPart, triangle: &[u32; 3], ab: DVec3, ac: DVec3) -> (DVec3, bool) {
    let [st, su] = edges(part, triangle);
    let area = st.perp_dot(su);
    // V points down the picture, so its area is negative where it is not mirrored.
    let sign = if area == 0.0 { 0.0 } else { area.signum() };
    ((ab * su.y - ac * st.y) * sign, area > 0.0)
}

/// Twice the area of a triangle's picture, which is above 0 where it is mirrored.
fn area(part: &SkinPart, triangle: &[u32; 3]) -> f64 {
    let [st, su] = edges(part, triangle);
    st.perp_dot(su)
}

/// The edges from the first corner of a triangle in the picture.
fn edges(part: &SkinPart, triangle: &[u32; 3]) -> [DVec2; 2] {
    let [s, t, u] = triangle.map(|vertex| tex_coord(part, vertex as usize).as_dvec2());
    [t - s, u - s]
}

/// Adds a copy of a vertex with another tangent and returns its index.
fn duplicate(part: &mut SkinPart, vertex: usize, tangent: Vec4) -> u32 {
    part.positions.push(part.positions[vertex]);
    part.normals.push(part.normals[vertex]);
    part.tangents.push(tangent);
    part.tex_coords.push(part.tex_coords[vertex]);
    if let Some(tex_coord) = part.second_tex_coords.get(vertex).copied() {
        part.second_tex_coords.push(tex_coord);
    }
    if let Some(color) = part.colors.get(vertex).copied() {
        part.colors.push(color);
    }
    if let Some(influences) = part.influences.get(vertex).copied() {
        part.influences.push(influences);
    }
    if let Some(source) = part.source_vertices.get(vertex).copied() {
        part.source_vertices.push(source);
    }
    let copy = part.positions.len() as u32 - 1;
    for target in &mut part.morphs {
        if let Ok(at) = target.vertices.binary_search(&(vertex as u32)) {
            target.vertices.push(copy);
            for list in [
                &mut target.positions,
                &mut target.normals,
                &mut target.tangents,
            ] {
                list.extend(list.get(at).copied());
            }
        }
    }
    copy
}

/// Per vertex, the first one with the same position, normal and texture coordinate.
fn first_equal(part: &SkinPart) -> Vec<u32> {
    let key = |vertex: u32| {
        let vertex = vertex as usize;
        let ([x, y, z], [l, m, n]) = (
            part.positions[vertex].to_array(),
            part.normals[vertex].to_array(),
        );
        let [u, v] = tex_coord(part, vertex).to_array();
        // Both zeros become one.
        let pair =
            |a: f32, b: f32| u64::from((a + 0.0).to_bits()) << 32 | u64::from((b + 0.0).to_bits());
        [pair(x, y), pair(z, l), pair(m, n), pair(u, v)]
    };
    let mut firsts = Firsts::new(part.positions.len());
    let first = |vertex: u32| {
        let own = key(vertex);
        firsts.first(own, vertex, |other| key(other) == own)
    };
    (0..part.positions.len() as u32).map(first).collect()
}

fn tex_coord(part: &SkinPart, vertex: usize) -> Vec2 {
    part.tex_coords.get(vertex).copied().unwrap_or_default()
}

#[cfg(test)]
#[path = "tests/tangents.rs"]
mod tests;
