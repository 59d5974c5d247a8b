//! Poses: joint overrides, masks, and joint matrices.
//!
//! In Bevy, the system parameter `CharacterPoses` has the poses of characters. [`SkeletalClip::pose_at`] poses a skeleton
//! without a character.
//!
//! [`SkeletalClip::pose_at`]: crate::model::SkeletalClip::pose_at
//!
//! The same inputs give the same bits in debug and release builds, on every thread and on every
//! machine of one architecture. Only sums, products, quotients and square roots are used, without
//! estimates, and the wide (AVX) code does the same operations in the same order as the portable
//! code. Matrix products, interpolation and means use fused multiply-adds (FMA); on a processor
//! without FMA these take about ten times as long and give the same result. Importing is the
//! exception: frames between keys are computed with the platform's sine and arc cosine, so they may
//! differ in their last bits between platforms.

mod adjust;
mod batch;
mod blend;
mod bounds;
mod compress;
mod evaluate;
mod inertia;
mod joint_weights;
mod layer;
mod mask;
mod matrix;
mod mix;
mod model_space;
mod morph;
mod packed;
mod palette;
mod pick;
mod pose_mut;
mod rotations;
mod row;
mod sample;
pub(crate) mod simd;
mod skin;
mod soa;
mod stream;
mod unpack;

pub(crate) use crate::recycle::recycle;
pub use adjust::{JointOverride, JointSpace};
pub(crate) use internals::*;
pub use mask::Mask;
#[cfg(feature = "bevy")]
pub(crate) use palette::split_world;
#[cfg(feature = "bevy")]
pub(crate) use pose_mut::PoseFacts;

/// Jobs over slices, from playing clips to skinning matrices. A job is a struct whose fields are its inputs and whose `run`
/// writes its output; it owns and allocates nothing. A local pose is a slice of rows of four joints
/// ([`SoaTransform`](crate::model::SoaTransform)).
///
/// | job | input | output |
/// | --- | --- | --- |
/// | [`Evaluate`] | playing clips, joint overrides | joint matrices |
/// | [`Palette`] | joint matrices | skinning matrices |
/// | [`Mix`] | clips, each with a time, weight and mask | local pose |
/// | [`Inertia`] | clips before and after a switch | local pose |
/// | [`LocalToModel`] | local pose | joint matrices |
/// | [`MorphVertices`] | morph weights | moved positions, normals and tangents |
/// | [`SkinVertices`] | skinning matrices | positions and normals |
/// | [`PickSkin`] | skinning matrices, a ray | the nearest triangle and its joint |
/// | [`PartBounds`] | joint matrices or clips | bounding boxes for culling |
/// | [`Compress`] | a clip and the skin it moves | a smaller clip |
///
/// For crowds, [`PoseBatch`] evaluates eight characters at a time, up to their palettes, and [`stream`](stream()) writes
/// palettes past the caches.
pub(crate) mod internals {
    pub use crate::pose::{
        batch::PoseBatch,
        bounds::{BlendReach, PartBounds},
        compress::Compress,
        evaluate::{Evaluate, MorphScratch, Scratch},
        inertia::{Inertia, InertiaAt, InertiaScratch},
        layer::ClipLayer,
        mix::{Mix, MixScratch},
        model_space::LocalToModel,
        morph::{MorphMode, MorphOverride, MorphVertices},
        palette::Palette,
        pick::{PickSkin, SkinHit, TriangleIndices, ray_enters_box},
        pose_mut::PoseMut,
        sample::FrameSpan,
        skin::SkinVertices,
        stream::{Stream, stream},
    };
}

#[cfg(test)]
#[path = "tests/mod.rs"]
mod tests;
