//! Materials of any type: the one with which a part is drawn, and the one that it gets back.
//!
//! Bevy has one component per type of material. Those on a part are found through the type
//! registry, where Bevy registers each of them, so this works for types that are not named here.

use bevy::{
    ecs::reflect::ReflectComponent,
    prelude::*,
    reflect::{TypePath, TypeRegistry},
};
use std::any::TypeId;

/// On a part with a temporary material: the materials that it gets back.
#[derive(Component)]
pub(super) struct SetAside(Vec<(ReflectComponent, Box<dyn Reflect>)>);

impl SetAside {
    /// The material, if it is of this type.
    pub(super) fn get_mut<M: Material>(&mut self) -> Option<&mut MeshMaterial3d<M>> {
        self.0
            .iter_mut()
            .find_map(|(_, material)| material.downcast_mut())
    }
}

/// Draws a part with another material for a while.
pub(super) fn set_aside(part: &mut EntityWorldMut, material: Handle<StandardMaterial>) {
    if part.contains::<SetAside>() {
        return;
    }
    let registry = part.world().resource::<AppTypeRegistry>().clone();
    let registry = registry.read();
    let own = materials_of(part, &registry)
        .into_iter()
        .filter_map(|component| {
            let material = component.take(part)?;
            Some((component, material))
        })
        .collect();
    part.insert((SetAside(own), MeshMaterial3d(material)));
}

/// Gives a part back the material that was set aside.
pub(super) fn give_back(part: &mut EntityWorldMut) {
    let Some(SetAside(own)) = part.take::<SetAside>() else {
        return;
    };
    let registry = part.world().resource::<AppTypeRegistry>().clone();
    let registry = registry.read();
    part.remove::<MeshMaterial3d<StandardMaterial>>();
    for (component, material) in own {
        component.insert(part, material.as_partial_reflect(), &registry);
    }
}

/// Gives a part another material, whatever the type of its own. A temporary material of the part
/// stays.
pub(super) fn draw_with<M: Material>(part: &mut EntityWorldMut, material: MeshMaterial3d<M>) {
    if !part.contains::<SetAside>()
        && let Some(mut shown) = part.get_mut::<MeshMaterial3d<M>>()
    {
        shown.set_if_neq(material);
        return;
    }
    let registry = part.world().resource::<AppTypeRegistry>().clone();
    let registry = registry.read();
    if part.contains::<SetAside>() {
        let own = registry.get_type_data::<ReflectComponent>(TypeId::of::<MeshMaterial3d<M>>());
        if let (Some(own), Some(mut aside)) = (own, part.get_mut::<SetAside>()) {
            aside.0 = vec![(own.clone(), Box::new(material))];
        }
        return;
    }
    for component in materials_of(part, &registry) {
        component.remove(part);
    }
    part.insert(material);
}

/// Returns `true` if a part's own material is of this type.
pub(super) fn has_own<M: Material>(part: &EntityWorldMut) -> bool {
    match part.get::<SetAside>() {
        Some(SetAside(own)) => own
            .iter()
            .any(|(_, material)| material.is::<MeshMaterial3d<M>>()),
        None => part.contains::<MeshMaterial3d<M>>(),
    }
}

/// The material components of a part, whatever their types.
fn materials_of(part: &EntityWorldMut, registry: &TypeRegistry) -> Vec<ReflectComponent> {
    fn generic(path: &str) -> Option<&str> {
        path.split('<').next()
    }
    let wanted = generic(MeshMaterial3d::<StandardMaterial>::type_path());
    let components = part.world().components();
    part.archetype()
        .components()
        .iter()
        .filter_map(|&id| components.get_info(id)?.type_id())
        .filter_map(|type_id| registry.get(type_id))
        .filter(|registered| generic(registered.type_info().type_path()) == wanted)
        .filter_map(|registered| registered.data::<ReflectComponent>().cloned())
        .collect()
}
