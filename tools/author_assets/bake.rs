//! Textures: evaluates a character's paint at each texel of its charts.

use super::{charts::Chart, regions::Regions};
use glam::{DVec2, DVec3};
use image::{ExtendedColorType, ImageEncoder, codecs::png};

/// Appearance of a point on the surface.
#[derive(Clone, Copy, Debug)]
pub struct Texel {
    /// sRGB, 0..=1.
    pub color: DVec3,
    /// Height of fine relief in meters, for the normal map.
    pub height: f64,
}

/// A character's paint.
pub trait Paint {
    /// Returns the appearance of part `part` at `p`, given the surface normal.
    fn texel(&self, part: u8, p: DVec3, normal: DVec3) -> Texel;
}

/// A material's textures: 8-bit RGB, top row first.
pub struct Maps {
    pub size: usize,
    pub diffuse: Vec<[u8; 3]>,
    pub normal: Vec<[u8; 3]>,
}

/// The surface to bake.
pub struct Surface<'a> {
    pub regions: &'a Regions,
    /// Unit normals of the mesh's vertices.
    pub normals: &'a [DVec3],
    /// Ambient occlusion per vertex: 0 (buried) to 1 (open sky).
    pub sky: &'a [f64],
}

/// Step in meters over which the slope of the relief is measured.
const RELIEF_STEP: f64 = 0.0015;

/// Bakes the textures of one material.
pub fn bake(
    surface: &Surface,
    charts: &[Chart],
    material: usize,
    size: usize,
    paint: &dyn Paint,
) -> Maps {
    let flat = [128, 128, 255];
    let mut maps = Maps {
        size,
        diffuse: vec![[0; 3]; size * size],
        normal: vec![flat; size * size],
    };
    // 0: empty, 1: just outside a triangle, 2: inside one. Inside wins.
    let mut filled = vec![0u8; size * size];
    let mesh = &surface.regions.mesh;
    for chart in charts.iter().filter(|c| c.material == material) {
        for &triangle in &chart.triangles {
            let vertices = mesh.triangles[triangle as usize].map(|v| v as usize);
            let corners = vertices.map(|v| chart.tex_coord(mesh.positions[v]) * size as f64 - 0.5);
            let low = corners[0].min(corners[1]).min(corners[2]).floor() - 1.0;
            let high = corners[0].max(corners[1]).max(corners[2]).ceil() + 1.0;
            let clamp = |x: f64| x.clamp(0.0, size as f64 - 1.0) as usize;
            for y in clamp(low.y)..=clamp(high.y) {
                for x in clamp(low.x)..=clamp(high.x) {
                    let Some(weights) = barycentric(&corners, DVec2::new(x as f64, y as f64))
                    else {
                        continue;
                    };
                    let inside = weights.min_element() >= -1e-9;
                    let rank = if inside { 2 } else { 1 };
                    // A texel just outside uses the nearest point of the triangle.
                    let weights = weights.max(DVec3::ZERO) / weights.max(DVec3::ZERO).element_sum();
                    let near =
                        corners[0] * weights.x + corners[1] * weights.y + corners[2] * weights.z;
                    if filled[y * size + x] >= rank
                        || (!inside && near.distance(DVec2::new(x as f64, y as f64)) > 1.5)
                    {
                        continue;
                    }
                    filled[y * size + x] = rank;
                    let blend = |f: &dyn Fn(usize) -> DVec3| {
                        f(vertices[0]) * weights.x
                            + f(vertices[1]) * weights.y
                            + f(vertices[2]) * weights.z
                    };
                    let p = blend(&|v| mesh.positions[v]);
                    let normal = blend(&|v| surface.normals[v]).normalize_or(chart.normal);
                    let sky = blend(&|v| DVec3::splat(surface.sky[v])).x;
                    let part = surface.regions.parts[triangle as usize];
                    let look = |p: DVec3| paint.texel(part, p, normal);
                    let here = look(p);
                    let shade = 0.55 + 0.45 * sky;
                    maps.diffuse[y * size + x] = bytes(here.color * shade);

                    let tangent = chart.tangent(normal);
                    let bitangent = up_in_texture(chart, normal, tangent);
                    let slope =
                        |d: DVec3| (look(p + d * RELIEF_STEP).height - here.height) / RELIEF_STEP;
                    let bump = DVec3::new(-slope(tangent), -slope(bitangent), 1.0).normalize();
                    maps.normal[y * size + x] = bytes(bump * 0.5 + 0.5);
                }
            }
        }
    }
    spread(&mut maps, &mut filled);
    maps
}

/// Returns the bitangent for a chart's tangent, pointing to the top of the texture.
pub fn up_in_texture(chart: &Chart, normal: DVec3, tangent: DVec3) -> DVec3 {
    let b = normal.cross(tangent);
    if b.dot(chart.v) > 0.0 { -b } else { b }
}

/// Fills the gaps between charts with the nearest texels, so that filtering and mip levels show no seams.
fn spread(maps: &mut Maps, filled: &mut [u8]) {
    let size = maps.size as i64;
    while filled.contains(&0) {
        let before = filled.to_vec();
        for at in 0..filled.len() {
            if before[at] != 0 {
                continue;
            }
            let (x, y) = (at as i64 % size, at as i64 / size);
            let around = [(1, 0), (-1, 0), (0, 1), (0, -1)].map(|(dx, dy)| (x + dx, y + dy));
            let found = around
                .into_iter()
                .filter(|&(x, y)| (0..size).contains(&x) && (0..size).contains(&y))
                .map(|(x, y)| (y * size + x) as usize)
                .find(|&n| before[n] != 0);
            if let Some(n) = found {
                (maps.diffuse[at], maps.normal[at], filled[at]) =
                    (maps.diffuse[n], maps.normal[n], 1);
            }
        }
        if before == filled {
            break; // A material without a chart.
        }
    }
}

/// Returns barycentric coordinates, or `None` for a triangle without area.
fn barycentric(t: &[DVec2; 3], p: DVec2) -> Option<DVec3> {
    let area = (t[1] - t[0]).perp_dot(t[2] - t[0]);
    let part = |a: usize, b: usize| (t[b] - t[a]).perp_dot(p - t[a]) / area;
    (area.abs() > 1e-9).then(|| DVec3::new(part(1, 2), part(2, 0), part(0, 1)))
}

fn bytes(c: DVec3) -> [u8; 3] {
    (c.clamp(DVec3::ZERO, DVec3::ONE) * 255.0)
        .round()
        .to_array()
        .map(|x| x as u8)
}

/// Halves the size of a square image: every texel is the mean of four.
pub fn halve(pixels: &[[u8; 3]], size: usize) -> Vec<[u8; 3]> {
    let half = size / 2;
    let mean = |at: usize| {
        let corner = at / half * 2 * size + at % half * 2;
        let four =
            [corner, corner + 1, corner + size, corner + size + 1].map(|texel| pixels[texel]);
        std::array::from_fn(|c| {
            ((four.iter().map(|texel| u32::from(texel[c])).sum::<u32>() + 2) / 4) as u8
        })
    };
    (0..half * half).map(mean).collect()
}

/// Encodes an image as PNG.
pub fn png(pixels: &[[u8; 3]], size: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let encoder = png::PngEncoder::new_with_quality(
        &mut out,
        png::CompressionType::Best,
        png::FilterType::Adaptive,
    );
    encoder
        .write_image(
            pixels.as_flattened(),
            size as u32,
            size as u32,
            ExtendedColorType::Rgb8,
        )
        .expect("writing to a Vec cannot fail, and the buffer has the given size");
    out
}

/// Estimates ambient occlusion per vertex from the field at a few steps along the normal
/// (Evans, "Fast approximations for global illumination on dynamic scenes", 2006).
pub fn sky(
    field: &super::field::Field,
    mesh: &super::contour::Mesh,
    normals: &[DVec3],
) -> Vec<f64> {
    let steps = [0.008, 0.02, 0.04, 0.07];
    let seen = |p: DVec3, n: DVec3| {
        let open = steps
            .iter()
            .map(|&s| (field.distance(p + n * s) / s).clamp(0.0, 1.0))
            .sum::<f64>();
        open / steps.len() as f64
    };
    let mut sky: Vec<f64> = mesh
        .positions
        .iter()
        .zip(normals)
        .map(|(&p, &n)| seen(p, n))
        .collect();
    // Smooth once over the surface, because the mesh is coarser than its creases.
    let before = sky.clone();
    for (v, list) in mesh.neighbors().iter().enumerate() {
        let mean = list.iter().map(|&n| before[n as usize]).sum::<f64>() / list.len().max(1) as f64;
        sky[v] = 0.5 * (before[v] + mean);
    }
    sky
}
