//! The morph targets of each part's mesh, and their order.

use crate::model::{MorphIndex, SkeletalClip, Skeleton, SkinPart};
use bevy::{
    mesh::morph::MAX_MORPH_WEIGHTS, pbr::skins_use_uniform_buffers, prelude::*,
    render::settings::WgpuLimits,
};
use std::{
    cmp::Reverse,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// The most morph targets that this program's renderer can draw. Bevy, too, keeps what a device can do for the whole program.
static MOST: AtomicUsize = AtomicUsize::new(usize::MAX);

/// The most morph targets of a mesh that can be drawn.
pub(super) fn most_morphs() -> usize {
    MOST.load(Ordering::Relaxed)
}

/// Follows the limits of the renderer.
///
/// Bevy keeps weights in storage buffers, which have room for any number. WebGL2 has none of these; there, the limit is
/// [`MAX_MORPH_WEIGHTS`].
pub(super) fn limit_to(limits: &WgpuLimits) {
    if skins_use_uniform_buffers(limits) {
        MOST.store(MAX_MORPH_WEIGHTS, Ordering::Relaxed);
    }
}

/// The targets of a part, those first that the most clips move. What is beyond `most` is left out, with a warning.
///
/// The GPU only reads weights up to the last one that isn't zero, so it makes a difference which ones come first.
pub(super) fn by_use(
    part: &SkinPart,
    skeleton: &Skeleton,
    clips: &[Arc<SkeletalClip>],
    most: usize,
) -> Arc<[MorphIndex]> {
    let mut morphs: Vec<MorphIndex> = part.morphs.iter().map(|target| target.morph).collect();
    let clips_of = |morph: MorphIndex| {
        clips
            .iter()
            .filter(|clip| clip.animates_morph(morph))
            .count()
    };
    // A stable sort: targets that as many clips move keep the order of the file.
    morphs.sort_by_key(|&morph| Reverse(clips_of(morph)));
    if morphs.len() > most {
        let names = skeleton.morphs().names();
        let left: Vec<&str> = morphs[most..]
            .iter()
            .filter_map(|&morph| names.get(usize::from(morph)).map(|name| &**name))
            .collect();
        warn!(
            "part `{}` has {} morph targets, but this platform draws at most {most}; those that the fewest clips move are left out: {}",
            part.name,
            morphs.len(),
            left.join(", ")
        );
        morphs.truncate(most);
    }
    morphs.into()
}

#[cfg(test)]
#[path = "tests/morphs.rs"]
mod tests;
