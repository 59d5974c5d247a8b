//! A character with a toon shader.
//!
//! The material is Bevy's own, extended by a fragment shader. [`PartMaterialPlugin`] makes one from each part's
//! `StandardMaterial`, textures included, and draws characters that have a [`PartMaterial`] with them. Everything else works as
//! before: parts are hidden, and weights are shown.
//!
//! ```text
//! cargo run --example custom_material
//! ```

mod stage;

use bevy::{
    pbr::{ExtendedMaterial, MaterialExtension},
    prelude::*,
    render::render_resource::AsBindGroup,
    shader::ShaderRef,
};
use bevy_marionette::{
    character::{PartMaterial, PartMaterialPlugin, WeightView},
    prelude::*,
};
use stage::{Caption, Orbit, StageArgs, View};

const HELP: &str =
    "T: toon shader on, off   J: hide the jacket   W: weights   drag, arrows: orbit   wheel: zoom";

/// Light in a few steps, and a rim around the shape.
#[derive(Asset, AsBindGroup, TypePath, Clone)]
struct Toon {
    #[uniform(100)]
    rim: LinearRgba,
    /// How many steps there are up to the surface's own color.
    #[uniform(100)]
    shades: f32,
}

impl MaterialExtension for Toon {
    fn fragment_shader() -> ShaderRef {
        "shaders/toon.wgsl".into()
    }
}

type ToonMaterial = ExtendedMaterial<StandardMaterial, Toon>;

pub fn main() {
    let args = stage::arguments::<StageArgs>().with_headless_defaults(0.86, "");
    stage::app("custom_material", &args, HELP)
        .add_plugins(MaterialPlugin::<ToonMaterial>::default())
        .add_plugins(PartMaterialPlugin::new(|_, standard| {
            Some(ToonMaterial {
                base: standard.clone(),
                extension: Toon {
                    rim: LinearRgba::rgb(0.5, 0.5, 0.6),
                    shades: 2.0,
                },
            })
        }))
        .insert_resource(View(Orbit {
            target: Vec3::Y * 0.9,
            distance: 3.7,
            yaw: 0.45,
            pitch: 0.1,
        }))
        .add_systems(Startup, spawn)
        .add_systems(Update, (keys, caption).chain())
        .run();
}

fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    let scout = SkinnedCharacter(assets.load("scout/scout.character.ron"));
    // As the asset says.
    commands.spawn((
        scout.clone(),
        AnimationController::playing("walk"),
        Transform::from_xyz(0.5, 0.0, 0.0),
    ));
    commands.spawn((
        scout,
        AnimationController::playing("walk"),
        PartMaterial::<ToonMaterial>::default(),
        PartOverrides::default(),
        Transform::from_xyz(-0.5, 0.0, 0.0),
    ));
}

fn keys(
    keys: Res<ButtonInput<KeyCode>>,
    mut commands: Commands,
    mut scout: Single<(
        Entity,
        &mut PartOverrides,
        Has<PartMaterial<ToonMaterial>>,
        Has<WeightView>,
    )>,
) {
    let (entity, parts, is_toon, shows_weights) = &mut *scout;
    let mut scout = commands.entity(*entity);
    if keys.just_pressed(KeyCode::KeyT) {
        match is_toon {
            true => scout.remove::<PartMaterial<ToonMaterial>>(),
            false => scout.insert(PartMaterial::<ToonMaterial>::default()),
        };
    }
    if keys.just_pressed(KeyCode::KeyW) {
        match shows_weights {
            true => scout.remove::<WeightView>(),
            false => scout.insert(WeightView::InfluenceCount),
        };
    }
    if keys.just_pressed(KeyCode::KeyJ) {
        let is_hidden = parts.is_hidden("jacket");
        parts.set_hidden("jacket", !is_hidden);
    }
}

fn caption(
    scout: Single<(
        &PartOverrides,
        Has<PartMaterial<ToonMaterial>>,
        Has<WeightView>,
    )>,
    mut caption: ResMut<Caption>,
) {
    let (parts, is_toon, shows_weights) = *scout;
    let look = match (shows_weights, is_toon) {
        (true, _) => "weights",
        (false, true) => "a toon shader",
        (false, false) => "Bevy's own material",
    };
    let jacket = if parts.is_hidden("jacket") {
        "hidden"
    } else {
        "there"
    };
    caption.set(format!("{look}   jacket: {jacket}"));
}
