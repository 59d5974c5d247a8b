// Bevy's lighting in a few steps, with a rim around the shape.

#import bevy_pbr::{
    forward_io::{FragmentOutput, VertexOutput},
    pbr_fragment::pbr_input_from_standard_material,
    pbr_functions::{alpha_discard, apply_pbr_lighting, main_pass_post_lighting_processing},
}

struct Toon {
    rim: vec4<f32>,
    shades: f32,
}

@group(#{MATERIAL_BIND_GROUP}) @binding(100) var<uniform> toon: Toon;

fn brightness(color: vec3<f32>) -> f32 {
    return dot(color, vec3<f32>(0.2126, 0.7152, 0.0722));
}

@fragment
fn fragment(in: VertexOutput, @builtin(front_facing) is_front: bool) -> FragmentOutput {
    var surface = pbr_input_from_standard_material(in, is_front);
    surface.material.base_color = alpha_discard(surface.material, surface.material.base_color);
    let color = surface.material.base_color;
    let lit = apply_pbr_lighting(surface);

    // How bright the light is, whatever the color it falls on.
    let light = brightness(lit.rgb) / max(brightness(color.rgb), 0.02);
    let shade = (floor(light * toon.shades) + 0.5) / toon.shades;
    let edge = 1.0 - saturate(dot(surface.N, surface.V));
    let rim = toon.rim.rgb * smoothstep(0.7, 0.74, edge);

    var out: FragmentOutput;
    out.color = vec4<f32>((color.rgb + rim) * shade, color.a);
    out.color = main_pass_post_lighting_processing(surface, out.color);
    return out;
}
