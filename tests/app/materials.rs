//! Parts with materials of the game's own type: everything works that works with Bevy's.

use super::support::*;
use bevy::{
    pbr::{ExtendedMaterial, MaterialExtension},
    prelude::*,
    render::render_resource::AsBindGroup,
};
use bevy_marionette::{
    asset::Character,
    character::{PartMaterial, PartMaterialPlugin, WeightView},
    model::Model,
    prelude::*,
};

#[derive(Asset, AsBindGroup, TypePath, Clone, Debug, Default)]
struct Bands {
    #[uniform(100)]
    count: f32,
}

impl MaterialExtension for Bands {}

type Toon = ExtendedMaterial<StandardMaterial, Bands>;

/// Two parts: `strip` of type `plain`, and `second` of type `shiny`.
fn two_parts() -> Model {
    let mut model = chain(&clips());
    model.parts.push(strip("second", 1));
    model.materials[0].type_name = Some("plain".into());
    let mut shiny = model.materials[0].clone();
    shiny.type_name = Some("shiny".into());
    shiny.roughness = 0.125;
    model.materials.push(shiny);
    model
}

/// An app that draws parts of type `shiny` with [`Toon`], as `MaterialPlugin` would prepare it.
fn stage() -> (TestApp, Handle<Character>) {
    let mut app = TestApp::new();
    app.app
        .init_asset::<Toon>()
        .add_plugins(PartMaterialPlugin::new(|part, standard| {
            let is_shiny = part.material_type.as_deref() == Some("shiny");
            is_shiny.then(|| Toon {
                base: standard.clone(),
                extension: Bands { count: 3.0 },
            })
        }));
    app.app.finish();
    let handle = app.add(two_parts(), &manifest());
    (app, handle)
}

fn toon(app: &mut TestApp, part: Entity) -> Option<Handle<Toon>> {
    let toon = app.world().get::<MeshMaterial3d<Toon>>(part);
    toon.map(|toon| toon.0.clone())
}

fn standard(app: &mut TestApp, part: Entity) -> Option<Handle<StandardMaterial>> {
    let standard = app.world().get::<MeshMaterial3d<StandardMaterial>>(part);
    standard.map(|standard| standard.0.clone())
}

fn visibility(app: &mut TestApp, part: Entity) -> Visibility {
    *app.world().get::<Visibility>(part).unwrap()
}

/// The base of a part's toon material.
fn base(app: &mut TestApp, part: Entity) -> StandardMaterial {
    let toon = toon(app, part).expect("it is drawn as a toon");
    app.asset(&toon).unwrap().base.clone()
}

#[test]
fn parts_are_drawn_with_what_the_game_makes_of_their_materials() {
    let (mut app, handle) = stage();
    let spawn = |app: &mut TestApp| {
        let entity = app.spawn(&handle, "walk");
        let material = PartMaterial::<Toon>::default();
        app.world().entity_mut(entity).insert(material);
        app.update(0.1);
        entity
    };
    let one = spawn(&mut app);
    let [plain, shiny] = app.parts(one)[..] else {
        panic!("two parts")
    };
    assert_eq!(toon(&mut app, plain), None, "it is not of the type");
    assert!(standard(&mut app, plain).is_some());
    assert_eq!(standard(&mut app, shiny), None, "Bevy draws one material");
    assert_eq!(base(&mut app, shiny).perceptual_roughness, 0.125);

    // Another one shares it; one without the component is as the asset says.
    let (two, other) = (spawn(&mut app), app.spawn(&handle, "walk"));
    app.update(0.1);
    let [part_of_two, part_of_other] = [two, other].map(|entity| app.parts(entity)[1]);
    assert_eq!(toon(&mut app, part_of_two), toon(&mut app, shiny));
    assert!(standard(&mut app, part_of_other).is_some());

    // A part with a material of its own.
    let own = app.world().resource_mut::<Assets<Toon>>().add(Toon {
        base: StandardMaterial::default(),
        extension: Bands::default(),
    });
    let with_own = PartMaterial::default().part("strip", own.clone());
    app.world().entity_mut(two).insert(with_own);
    app.update(0.1);
    let parts = app.parts(two);
    assert_eq!(toon(&mut app, parts[0]), Some(own));
    assert_eq!(standard(&mut app, parts[0]), None);

    // Without the component, they get back what the asset says.
    app.world().entity_mut(two).remove::<PartMaterial<Toon>>();
    app.update(0.1);
    let asset = app.asset(&handle).unwrap().parts.clone();
    for (part, asset) in parts.into_iter().zip(asset) {
        assert_eq!(toon(&mut app, part), None);
        assert_eq!(standard(&mut app, part), Some(asset.material));
    }
}

#[test]
fn what_is_made_follows_its_original_reloads_and_overrides() {
    let (mut app, handle) = stage();
    let entity = app.spawn(&handle, "walk");
    let material = PartMaterial::<Toon>::default();
    app.world().entity_mut(entity).insert(material);
    app.update(0.1);
    let shiny = app.parts(entity)[1];

    // The material is edited, as when one of its textures fails to load.
    let original = app.asset(&handle).unwrap().parts[1].material.clone();
    let edit = |app: &mut TestApp, roughness: f32| {
        let mut materials = app.world().resource_mut::<Assets<StandardMaterial>>();
        let mut material = materials.get_mut(&original).unwrap();
        material.perceptual_roughness = roughness;
    };
    edit(&mut app, 0.5);
    app.update(0.1);
    app.update(0.1);
    assert_eq!(base(&mut app, shiny).perceptual_roughness, 0.5);

    // Another material is set for the part.
    let gold = app
        .world()
        .resource_mut::<Assets<StandardMaterial>>()
        .add(StandardMaterial {
            metallic: 1.0,
            ..default()
        });
    let overrides = PartOverrides::default().material("second", gold);
    app.world().entity_mut(entity).insert(overrides);
    app.update(0.1);
    assert_eq!(base(&mut app, shiny).metallic, 1.0);
    app.world().entity_mut(entity).remove::<PartOverrides>();
    app.update(0.1);
    assert_eq!(base(&mut app, shiny).perceptual_roughness, 0.5);
    app.update(0.1);

    // The asset is reloaded, and its parts are spawned anew.
    let character = build(app.world(), two_parts(), &manifest());
    app.world()
        .resource_mut::<Assets<Character>>()
        .insert(&handle, character)
        .unwrap();
    app.update(0.1);
    let renewed = app.parts(entity)[1];
    assert_ne!(renewed, shiny);
    assert_eq!(base(&mut app, renewed).perceptual_roughness, 0.125);

    // Materials that nobody shows are dropped.
    app.world().despawn(entity);
    (0..4).for_each(|_| app.update(0.1));
    assert_eq!(app.world().resource::<Assets<Toon>>().len(), 0);
}

#[test]
fn parts_are_hidden_mirrored_and_colored_by_weight_whatever_their_material_is() {
    let (mut app, handle) = stage();
    let entity = app.spawn(&handle, "walk");
    app.update(0.1);
    let parts = app.parts(entity);
    // By hand: nothing of the plugin has named this type.
    let by_hand = app.world().resource_mut::<Assets<Toon>>().add(Toon {
        base: StandardMaterial::default(),
        extension: Bands::default(),
    });
    for &part in &parts {
        app.world()
            .entity_mut(part)
            .remove::<MeshMaterial3d<StandardMaterial>>()
            .insert(MeshMaterial3d(by_hand.clone()));
    }
    let overrides = PartOverrides::default().hide("second");
    app.world().entity_mut(entity).insert(overrides);
    app.update(0.1);
    assert_eq!(visibility(&mut app, parts[1]), Visibility::Hidden);
    assert_eq!(toon(&mut app, parts[0]), Some(by_hand.clone()));

    app.world().entity_mut(entity).insert((
        WeightView::InfluenceCount,
        Transform::from_scale(Vec3::NEG_ONE),
    ));
    app.update(0.1);
    app.update(0.1);
    assert_eq!(toon(&mut app, parts[0]), None);
    assert!(standard(&mut app, parts[0]).is_some(), "weights are shown");
    let mesh = app.world().get::<Mesh3d>(parts[0]).unwrap().0.clone();
    let has_colors = app
        .asset(&mesh)
        .unwrap()
        .contains_attribute(Mesh::ATTRIBUTE_COLOR);
    assert!(has_colors, "and mirrored");

    // While they are shown, what is hidden changes.
    let mut overrides = app.world().get_mut::<PartOverrides>(entity).unwrap();
    overrides.set_hidden("second", false);
    overrides.set_hidden("strip", true);
    app.update(0.1);
    assert_eq!(visibility(&mut app, parts[0]), Visibility::Hidden);
    assert_eq!(visibility(&mut app, parts[1]), Visibility::Inherited);

    app.world().entity_mut(entity).remove::<WeightView>();
    app.update(0.1);
    for part in parts {
        assert_eq!(toon(&mut app, part), Some(by_hand.clone()));
        assert_eq!(standard(&mut app, part), None);
    }
}

#[test]
fn a_material_that_changes_while_weights_are_shown_is_there_afterwards() {
    let (mut app, handle) = stage();
    let entity = app.spawn(&handle, "walk");
    app.world()
        .entity_mut(entity)
        .insert(WeightView::InfluenceCount);
    app.update(0.1);
    let shiny = app.parts(entity)[1];
    let weights = standard(&mut app, shiny);
    let material = PartMaterial::<Toon>::default();
    app.world().entity_mut(entity).insert(material);
    app.update(0.1);
    assert_eq!(standard(&mut app, shiny), weights, "they are still shown");
    assert_eq!(toon(&mut app, shiny), None);
    app.world().entity_mut(entity).remove::<WeightView>();
    app.update(0.1);
    assert_eq!(base(&mut app, shiny).perceptual_roughness, 0.125);
    assert_eq!(standard(&mut app, shiny), None);
}

#[test]
#[should_panic(expected = "add `MaterialPlugin::<")]
fn a_material_that_bevy_was_not_told_of_is_an_error_that_says_what_to_add() {
    let mut app = TestApp::new();
    app.app
        .add_plugins(PartMaterialPlugin::<Toon>::new(|_, _| None));
    app.app.finish();
}
