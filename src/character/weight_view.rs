//! Skins coloured by their weights, and skins of mirrored characters: other meshes in a part's place.
//!
//! Both are the part's own mesh with something changed, made when first asked for, shared by all
//! characters that ask for the same, and dropped when none does any more.

use super::{CharacterParts, SkinnedCharacter};
use crate::{
    asset::{Character, CharacterPart},
    model::JointIndex,
    pose::{influence_count, influence_of},
};
use bevy::{mesh::VertexAttributeValues, platform::collections::HashMap, prelude::*};

/// Put on a character: its skin shows how it is weighted, as it moves, in place of its materials.
/// Removing it gives the materials back.
///
/// Needs the meshes in the main world, where they are kept unless
/// [`CharacterLoaderSettings::meshes`](crate::asset::CharacterLoaderSettings::meshes) says otherwise.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, PartialEq)]
pub enum WeightView {
    /// The share of one joint, in the colours of [`weight_color`]: blue for none, red for all.
    Joint(JointIndex),
    /// How many joints pull at each vertex, in the colours of [`influence_count_color`].
    InfluenceCount,
}

/// The colour that stands for a weight in 0..=1: blue, cyan, green, yellow, red, as in Blender's weight paint
/// mode.
pub fn weight_color(weight: f32) -> Color {
    let weight = if weight.is_finite() { weight.clamp(0.0, 1.0) } else { 0.0 };
    // The blue is not pure, which would be too dark for any form to be seen in it.
    const STOPS: [Vec3; 5] = [
        Vec3::new(0.16, 0.28, 0.85),
        Vec3::new(0.0, 0.775, 0.775),
        Vec3::new(0.0, 0.85, 0.0),
        Vec3::new(0.925, 0.925, 0.0),
        Vec3::new(1.0, 0.0, 0.0),
    ];
    let quarter = weight * 4.0;
    let from = (quarter as usize).min(3);
    let [red, green, blue] = STOPS[from].lerp(STOPS[from + 1], quarter - from as f32).to_array();
    Color::srgb(red, green, blue)
}

/// The colour that stands for a number of influences: grey for none, then blue, green, yellow, and red
/// for four.
pub fn influence_count_color(count: usize) -> Color {
    match count {
        0 => Color::srgb(0.4, 0.4, 0.4),
        1 => Color::srgb(0.2, 0.35, 0.9),
        2 => Color::srgb(0.25, 0.75, 0.3),
        3 => Color::srgb(0.95, 0.85, 0.2),
        _ => Color::srgb(0.9, 0.2, 0.15),
    }
}

/// The material under the colours: no light, so that they are the same everywhere.
#[derive(Resource)]
pub(super) struct WeightMaterial(pub(super) Handle<StandardMaterial>);

impl FromWorld for WeightMaterial {
    fn from_world(world: &mut World) -> Self {
        let material = StandardMaterial { unlit: true, ..default() };
        Self(world.resource_mut::<Assets<StandardMaterial>>().add(material))
    }
}

/// How a part's mesh differs from that of the asset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct MeshVariant {
    /// Triangles turned round. Bevy culls by the winding on screen, which a mirroring transform reverses.
    mirrored: bool,
    view: Option<WeightView>,
}

/// The meshes made so far.
#[derive(Resource, Default)]
pub(super) struct MeshVariants {
    /// By original; `None` where that cannot be read.
    made: HashMap<(AssetId<Mesh>, MeshVariant), Option<Handle<Mesh>>>,
    /// Those made in this frame, too late for the GPU.
    fresh: Vec<(AssetId<Mesh>, MeshVariant)>,
}

type Viewed<'w> = (Entity, &'w SkinnedCharacter, &'w GlobalTransform, Option<&'w WeightView>, &'w mut CharacterParts);
type MaybeChanged =
    Or<(Changed<GlobalTransform>, Changed<CharacterParts>, Changed<SkinnedCharacter>, Changed<WeightView>)>;

/// Makes the meshes of characters that are mirrored from this frame on, while the GPU can still have them in
/// it: a frame later they would be seen inside out once.
///
/// It goes by the transforms of the character and those above it, and so misses one that is mirrored by a
/// change far above it.
pub(super) fn foresee_mirrors(
    assets: Res<Assets<Character>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut variants: ResMut<MeshVariants>,
    mut loading: Local<Vec<Entity>>,
    changed: Query<Entity, (With<CharacterParts>, Or<(Changed<Transform>, Changed<SkinnedCharacter>)>)>,
    characters: Query<(&SkinnedCharacter, &CharacterParts, Option<&WeightView>)>,
    places: Query<(&Transform, Option<&ChildOf>)>,
) {
    let still_loading = std::mem::take(&mut *loading);
    for entity in changed.iter().chain(still_loading) {
        let Ok((handle, parts, view)) = characters.get(entity) else { continue };
        let mut mirrored = false;
        let mut above = Some(entity);
        while let Some((place, parent)) = above.and_then(|entity| places.get(entity).ok()) {
            mirrored ^= place.scale.element_product() < 0.0;
            above = parent.map(ChildOf::parent);
        }
        let variant = MeshVariant { mirrored, view: view.copied() };
        if !mirrored || parts.variant == variant {
            continue;
        }
        match assets.get(handle.id()) {
            Some(character) => {
                variants.are_made(character, variant, &mut meshes);
            }
            None => loading.push(entity),
        }
    }
}

/// Gives parts the mesh they are to have, where that may have changed.
pub(super) fn swap_meshes(
    assets: Res<Assets<Character>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut variants: ResMut<MeshVariants>,
    mut mesh_events: MessageReader<AssetEvent<Mesh>>,
    mut gone: (RemovedComponents<WeightView>, RemovedComponents<CharacterParts>),
    mut waiting: Local<Vec<Entity>>,
    mut characters: ParamSet<(Query<Viewed, MaybeChanged>, Query<Viewed>)>,
    mut parts: Query<&mut Mesh3d>,
) {
    // What was foreseen is in time.
    variants.fresh.clear();
    // Meshes whose original was changed are made anew.
    let mut stale = false;
    for event in mesh_events.read() {
        if let AssetEvent::Modified { id } | AssetEvent::Removed { id } = event {
            stale |= variants.made.extract_if(|(source, _), _| source == id).count() > 0;
        }
    }
    let mut swapped = gone.1.read().count() > 0;
    // A mesh reaches the GPU in the frame after it is made, and Bevy draws nothing of a part that has it
    // sooner: until then the part keeps the one it has.
    let were_waiting = std::mem::take(&mut *waiting);
    let mut swap = |entity: Entity, list: &mut CharacterParts, variant: MeshVariant, character: &Character| {
        if !variants.are_made(character, variant, &mut meshes) {
            waiting.push(entity);
            return;
        }
        list.variant = variant;
        swapped = true;
        for (part, &entity) in character.parts.iter().zip(&list.entities) {
            if let Ok(mut mesh) = parts.get_mut(entity) {
                mesh.set_if_neq(Mesh3d(variants.get(part, variant)));
            }
        }
    };
    let ready = |handle: &SkinnedCharacter, list: &CharacterParts| {
        assets.get(handle.id()).filter(|character| list.version == Some(character.version))
    };
    for (entity, handle, world, view, mut list) in &mut characters.p0() {
        let variant = MeshVariant::of(world, view);
        if list.variant != variant
            && let Some(character) = ready(handle, &list)
        {
            swap(entity, list.bypass_change_detection(), variant, character);
        }
    }
    let mut everyone = characters.p1();
    for entity in gone.0.read().chain(were_waiting) {
        if let Ok((_, handle, world, view, mut list)) = everyone.get_mut(entity)
            && list.variant != MeshVariant::of(world, view)
            && let Some(character) = ready(handle, &list)
        {
            swap(entity, list.bypass_change_detection(), MeshVariant::of(world, view), character);
        }
    }
    if stale {
        for (entity, handle, world, view, mut list) in &mut everyone {
            if list.variant != MeshVariant::default()
                && let Some(character) = ready(handle, &list)
            {
                // So that a swap that has to wait is not taken for one that was done.
                list.bypass_change_detection().variant = MeshVariant::default();
                swap(entity, list.bypass_change_detection(), MeshVariant::of(world, view), character);
            }
        }
    }
    // What was just made has no part yet.
    if swapped && waiting.is_empty() {
        variants.forget_unused();
    }
}

impl MeshVariant {
    fn of(world: &GlobalTransform, view: Option<&WeightView>) -> Self {
        Self { mirrored: world.affine().matrix3.determinant() < 0.0, view: view.copied() }
    }
}

impl MeshVariants {
    /// Whether the meshes of all parts were there before this frame; makes those that are not.
    fn are_made(&mut self, character: &Character, variant: MeshVariant, meshes: &mut Assets<Mesh>) -> bool {
        if variant == MeshVariant::default() {
            return true;
        }
        let mut all = true;
        for part in &character.parts {
            let key = (part.mesh.id(), variant);
            if self.made.contains_key(&key) {
                all &= !self.fresh.contains(&key);
                continue;
            }
            let mesh = meshes.get(&part.mesh).and_then(|mesh| make(part, variant, mesh)).map(|mesh| meshes.add(mesh));
            if mesh.is_none() {
                let name = &part.name;
                warn!("part `{name}` shows no weights, and is inside out when mirrored: its mesh is on the GPU only");
            }
            if mesh.is_some() {
                self.fresh.push(key);
                all = false;
            }
            self.made.insert(key, mesh);
        }
        all
    }

    /// The mesh of a part; its own where the original cannot be read.
    fn get(&self, part: &CharacterPart, variant: MeshVariant) -> Handle<Mesh> {
        self.made.get(&(part.mesh.id(), variant)).cloned().flatten().unwrap_or_else(|| part.mesh.clone())
    }

    /// Drops the meshes that no part has any more.
    fn forget_unused(&mut self) {
        let is_ours_alone = |handle: &Handle<Mesh>| match handle {
            Handle::Strong(counted) => std::sync::Arc::strong_count(counted) == 1,
            Handle::Uuid(..) => false,
        };
        self.made.retain(|_, handle| !handle.as_ref().is_some_and(is_ours_alone));
    }
}

fn make(part: &CharacterPart, variant: MeshVariant, original: &Mesh) -> Option<Mesh> {
    // What only the GPU has cannot be copied.
    original.try_attribute(Mesh::ATTRIBUTE_POSITION).ok()?;
    let mut mesh = original.clone();
    if let Some(view) = variant.view {
        let colors = colors(part, view, original);
        mesh.insert_attribute(Mesh::ATTRIBUTE_COLOR, VertexAttributeValues::Float32x4(colors));
    }
    if variant.mirrored {
        mesh.invert_winding().ok()?;
    }
    Some(mesh)
}

/// A linear colour for each vertex.
fn colors(part: &CharacterPart, view: WeightView, mesh: &Mesh) -> Vec<[f32; 4]> {
    let joints = match mesh.try_attribute(Mesh::ATTRIBUTE_JOINT_INDEX) {
        Ok(VertexAttributeValues::Uint16x4(joints)) => &joints[..],
        _ => &[],
    };
    let weights = match mesh.try_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT) {
        Ok(VertexAttributeValues::Float32x4(weights)) => &weights[..],
        _ => &[],
    };
    let normals = match mesh.try_attribute(Mesh::ATTRIBUTE_NORMAL) {
        Ok(VertexAttributeValues::Float32x3(normals)) => &normals[..],
        _ => &[],
    };
    let slot = match view {
        WeightView::Joint(joint) => part.palette.iter().position(|&j| j == joint).map(|slot| slot as u16),
        WeightView::InfluenceCount => None,
    };
    (0..mesh.count_vertices())
        .map(|vertex| {
            let joints = joints.get(vertex).copied().unwrap_or_default();
            let weights = weights.get(vertex).copied().unwrap_or_default();
            let color = match view {
                WeightView::Joint(_) => weight_color(slot.map_or(0.0, |slot| influence_of(slot, joints, weights))),
                WeightView::InfluenceCount => influence_count_color(influence_count(joints, weights)),
            };
            let shade = normals.get(vertex).map_or(1.0, |normal| shade(Vec3::from(*normal)));
            let color = color.to_linear();
            [color.red * shade, color.green * shade, color.blue * shade, 1.0]
        })
        .collect()
}

/// Shadow painted on, as by a light above and in front in the bind pose, so that the form still reads.
///
/// Characters look along −Z.
fn shade(normal: Vec3) -> f32 {
    const LIGHT: Vec3 = Vec3::new(0.48, 0.64, -0.6);
    0.64 + 0.36 * normal.dot(LIGHT).clamp(-1.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_go_from_blue_over_cyan_green_and_yellow_to_red() {
        let steps = [
            (0.0, [0.16, 0.28, 0.85]),
            (0.25, [0.0, 0.775, 0.775]),
            (0.5, [0.0, 0.85, 0.0]),
            (0.75, [0.925, 0.925, 0.0]),
            (1.0, [1.0, 0.0, 0.0]),
            (7.0, [1.0, 0.0, 0.0]),
            (f32::NAN, [0.16, 0.28, 0.85]),
        ];
        for (weight, color) in steps {
            let found = weight_color(weight).to_srgba().to_f32_array_no_alpha();
            assert!(Vec3::from(found).abs_diff_eq(Vec3::from(color), 1e-6), "{weight}: {found:?}");
        }
        // No step: neighbouring weights have neighbouring colours.
        for i in 0..1000 {
            let [a, b] = [i, i + 1].map(|i| weight_color(i as f32 / 1000.0).to_srgba().to_vec3());
            assert!(a.distance(b) < 0.01, "{i}");
        }
    }

    #[test]
    fn each_number_of_influences_has_a_color_of_its_own() {
        let colors = [0, 1, 2, 3, 4].map(|count| influence_count_color(count).to_srgba().to_vec3());
        for (i, a) in colors.iter().enumerate() {
            assert!(colors[..i].iter().all(|b| a.distance(*b) > 0.3));
        }
    }
}
