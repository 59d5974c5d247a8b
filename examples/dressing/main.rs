//! Worn armor, hidden and recolored parts, skin weights, and a mirrored twin.
//!
//! The armor is a character of its own, with its own small skeleton; code shapes it from the body's skin. [`WornBy`] makes
//! it follow the body's joints of the same names. The twin is mirrored by a negative scale.
//!
//! ```text
//! cargo run --example dressing
//! ```

mod armor;
#[path = "../stage/mod.rs"]
mod stage;

use bevy::prelude::*;
use bevy_marionette::{
    asset::{Character, build_character},
    character::{WeightView, WornBy},
    import::Manifest,
    inspector::{BoneShape, DrawSkeleton, DrawSkeletonPlugin},
    prelude::*,
};
use stage::{Caption, Orbit, StageArgs, View};

const HELP: &str = "A: armor   H: hair   P: paint the jacket   W: weights   B: bones   drag, arrows: orbit   wheel: zoom";

pub fn main() {
    let args = stage::arguments::<StageArgs>().with_headless_defaults(0.55, "");
    stage::app("dressing", &args, HELP)
        .add_plugins(DrawSkeletonPlugin)
        .insert_resource(View(Orbit {
            target: Vec3::new(0.0, 0.90, 0.0),
            distance: 3.8,
            yaw: 0.35,
            pitch: 0.1,
        }))
        .add_systems(Startup, spawn)
        .add_systems(
            Update,
            (forge, change_clothes, hide_and_paint, look_inside, caption),
        )
        .run();
}

#[derive(Resource)]
struct Scout(Handle<Character>);

/// The armor, once it is made.
#[derive(Resource)]
struct Armor(Handle<Character>);

fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    let scout = assets.load("scout/scout.character.ron");
    for (x, mirror) in [(-0.55, 1.0), (0.55, -1.0)] {
        commands.spawn((
            SkinnedCharacter(scout.clone()),
            AnimationController::playing("walk"),
            Transform::from_xyz(x, 0.0, 0.0).with_scale(Vec3::new(mirror, 1.0, 1.0)),
        ));
    }
    commands.insert_resource(Scout(scout));
}

/// Makes the armor once the body is loaded, and puts it on the body that isn't mirrored.
fn forge(
    mut commands: Commands,
    scout: Res<Scout>,
    armor: Option<Res<Armor>>,
    bodies: Query<(Entity, &Transform), With<SkinnedCharacter>>,
    mut characters: ResMut<Assets<Character>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    if armor.is_some() {
        return;
    }
    let Some(body) = characters.get(&scout.0) else {
        return;
    };
    let model = armor::suit(body, &meshes);
    let mut made = build_character(
        model,
        &Manifest::of_model("armor"),
        &mut meshes,
        &mut materials,
    );
    let steel = materials.add(StandardMaterial {
        base_color: Color::srgb(0.62, 0.66, 0.72),
        metallic: 0.9,
        perceptual_roughness: 0.35,
        // The plates are visible from both sides.
        double_sided: true,
        cull_mode: None,
        ..default()
    });
    for part in &mut made.parts {
        part.material = steel.clone();
    }
    let armor = characters.add(made);
    if let Some((body, _)) = bodies.iter().find(|(_, place)| place.scale.x > 0.0) {
        commands.spawn((SkinnedCharacter(armor.clone()), WornBy(body)));
    }
    commands.insert_resource(Armor(armor));
}

fn change_clothes(
    keys: Res<ButtonInput<KeyCode>>,
    mut commands: Commands,
    armor: Option<Res<Armor>>,
    worn: Query<Entity, With<WornBy>>,
    bodies: Query<Entity, (With<SkinnedCharacter>, Without<WornBy>)>,
) {
    let Some(armor) = armor.filter(|_| keys.just_pressed(KeyCode::KeyA)) else {
        return;
    };
    if worn.is_empty() {
        for body in &bodies {
            commands.spawn((SkinnedCharacter(armor.0.clone()), WornBy(body)));
        }
    }
    for armor in &worn {
        commands.entity(armor).despawn();
    }
}

fn hide_and_paint(
    keys: Res<ButtonInput<KeyCode>>,
    mut commands: Commands,
    scout: Res<Scout>,
    characters: Res<Assets<Character>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    bodies: Query<(Entity, Option<&PartOverrides>), (With<SkinnedCharacter>, Without<WornBy>)>,
) {
    let Some(character) = characters.get(&scout.0) else {
        return;
    };
    let part = |word: &str| {
        character
            .parts
            .iter()
            .position(|part| part.name.contains(word))
    };
    for (body, overrides) in &bodies {
        let mut overrides = overrides.cloned().unwrap_or_default();
        if let (true, Some(hair)) = (keys.just_pressed(KeyCode::KeyH), part("hair")) {
            overrides.set_hidden(hair, !overrides.is_hidden(hair));
        } else if let (true, Some(jacket)) = (keys.just_pressed(KeyCode::KeyP), part("jacket")) {
            let paint = StandardMaterial {
                base_color: Color::srgb(0.55, 0.08, 0.10),
                ..default()
            };
            overrides.set_material(jacket, Some(materials.add(paint)));
        } else {
            continue;
        }
        commands.entity(body).insert(overrides);
    }
}

fn look_inside(
    keys: Res<ButtonInput<KeyCode>>,
    mut commands: Commands,
    scout: Res<Scout>,
    characters: Res<Assets<Character>>,
    bodies: Query<
        (Entity, Option<&WeightView>, Option<&DrawSkeleton>),
        (With<SkinnedCharacter>, Without<WornBy>),
    >,
) {
    let thigh = || characters.get(&scout.0)?.skeleton.joint("thigh.L");
    for (body, view, drawn) in &bodies {
        let mut body = commands.entity(body);
        if keys.just_pressed(KeyCode::KeyW) {
            match view {
                None => body.insert(WeightView::Joint(thigh().unwrap_or_default())),
                Some(WeightView::Joint(_)) => body.insert(WeightView::InfluenceCount),
                Some(WeightView::InfluenceCount) => body.remove::<WeightView>(),
            };
        }
        if keys.just_pressed(KeyCode::KeyB) {
            let next = match drawn {
                None => Some(DrawSkeleton {
                    sockets: true,
                    ..default()
                }),
                Some(DrawSkeleton { names: false, .. }) => Some(DrawSkeleton {
                    names: true,
                    ..default()
                }),
                Some(DrawSkeleton { links: false, .. }) => {
                    let lines = DrawSkeleton {
                        bones: BoneShape::None,
                        names: true,
                        links: true,
                        ..default()
                    };
                    Some(DrawSkeleton {
                        bounds: true,
                        axes: true,
                        ..lines
                    })
                }
                Some(_) => None,
            };
            match next {
                Some(next) => body.insert(next),
                None => body.remove::<DrawSkeleton>(),
            };
        }
    }
}

fn caption(worn: Query<(), With<WornBy>>, views: Query<&WeightView>, mut caption: ResMut<Caption>) {
    let view = match views.iter().next() {
        None => "materials",
        Some(WeightView::Joint(_)) => "weights of the left thigh",
        Some(WeightView::InfluenceCount) => "influences per vertex",
    };
    caption.set(format!(
        "suits of armor: {}   shown: {view}   one of the two is mirrored",
        worn.iter().count()
    ));
}
