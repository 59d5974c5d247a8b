//! A character's data, independent of file formats: skeleton, skin, materials and clips.
//!
//! Everything is in Bevy's axes: right-handed, Y up, forward −Z, and in meters after scaling. Parents come
//! before their children.

mod blend_space;
mod bounding_box;
mod callback_data;
mod callback_keys;
mod clip;
mod expressions;
mod lever;
mod marks;
mod material;
mod mirror;
mod morph;
mod playback;
mod reach;
mod roles;
mod root_motion;
mod side_names;
mod sides;
mod skeleton;
mod skin;
mod states;
mod timing;
mod transform;
mod visemes;

pub use blend_space::{BlendPoint, BlendSpace, BlendSpaceError, BlendSync};
pub(crate) use blend_space::{Cycle, Member, Phase, SyncMark};
pub use callback_data::CallbackData;
pub(crate) use callback_keys::clamped;
pub use callback_keys::{CallbackKey, CallbackKeys};
#[cfg(target_arch = "x86_64")]
pub(crate) use clip::SixteenNumbers;
pub(crate) use clip::{
    ChannelSlot, ClipParts, ClipTransforms, FrameShares, MorphCurves, NEVER_AT_REST, NumberFormat,
    PackedNumbers, Quantization, RawClip, RowTracks, STEP_BASE, STEP_SHIFT, Tolerance,
    WeightTracks, lanes_of, number,
};
pub use clip::{ClipError, ClipFrames, SkeletalClip};
pub(crate) use internals::*;
pub(crate) use lever::{LEVER, attached_apart, axes_apart, size_at_rest};
pub(crate) use marks::{
    ClipToCompile, Compiler, KeySource, KeyToCompile, Mark, MarkKey, MarkKind, Marks, Span,
};
pub use material::Material;
pub use morph::expression::{Expression, ExpressionOverride};
#[cfg(feature = "bevy")]
pub(crate) use morph::expression::{OthersLeft, Procedural};
pub(crate) use morph::weights_of;
pub use morph::{MorphIndex, Morphs};
pub use playback::PlaybackMode;
pub(crate) use reach::{JointReach, Reach, is_near};
pub use root_motion::RootDelta;
pub(crate) use root_motion::{Knot, Twist, turned};
pub(crate) use sides::Sides;
#[cfg(feature = "inspector")]
pub(crate) use sides::{MirrorPlane, RestFrame};
pub(crate) use skeleton::{BindPose, NodeSpace, SkeletonParts, seen_in, signs};
pub use skeleton::{Joint, JointIndex, Skeleton, SkeletonError};
pub use skin::{Influences, SkinPart};
pub use states::{Choice, Entering, Exit, Leader, Origins, Speed, State, StateLayer, Then};
pub(crate) use states::{
    Entry, MachineLayer, Opening, PlayedClip, StateMachine, Successor, TransitionKind, distinct,
};
pub use timing::ClipTiming;
pub use transform::JointTransform;
pub(crate) use transform::affine_from_row_vector_matrix;
pub(crate) use transform::{SoaQuat, SoaVec3};
pub use visemes::Viseme;

/// What the crate and its tools use, but no app: see [`crate::internals`].
pub(crate) mod internals {
    pub use crate::model::{
        blend_space::BoundBlendSpace,
        bounding_box::BoundingBox,
        clip::MorphFrames,
        material::{Maps, MipFilter, Sampler, TextureFilter, TextureWrap, UvTransform},
        morph::expression::{ColorBind, TextureBind},
        morph::{MorphDelta, MorphTarget},
        roles::{Finger, Role, RoleError, Roles},
        root_motion::RootPath,
        side_names::Side,
        skin::CombinedJoints,
        states::{MachineState, StateError, StateLayers},
        transform::SoaTransform,
    };
}

/// A complete character: a skeleton, the parts of its skin, their materials, and its clips.
///
/// ```no_run
/// # use bevy_marionette::{import::{ImportSettings, open_model}, model::Model};
/// # fn f() -> Result<(), Box<dyn std::error::Error>> {
/// let knight = open_model("knight.glb", &std::fs::read("knight.glb")?, &ImportSettings::default())?;
/// let Model { skeleton, parts, clips, .. } = &knight.model;
/// let triangles: usize = parts.iter().map(|part| part.triangles.len()).sum();
/// println!("{} joints, {triangles} triangles, {} clips", skeleton.len(), clips.len());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The joints.
    pub skeleton: Skeleton,
    /// The skin, one part per subset or submesh (more if one uses too many joints).
    pub parts: Vec<SkinPart>,
    /// Materials, referred to by [`SkinPart::material`].
    pub materials: Vec<Material>,
    /// Clips in the skeleton's joint order.
    pub clips: Vec<SkeletalClip>,
}

/// `f64::floor`, without a call on processors that may have no instruction for it.
#[inline]
pub(crate) fn floor(number: f64) -> f64 {
    if number.abs() < 1e15 {
        let whole = number as i64 as f64;
        if whole > number { whole - 1.0 } else { whole }
    } else {
        number.floor()
    }
}
