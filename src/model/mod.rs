//! Skeleton, clip and skin: a character's data, wherever it came from.
//!
//! Everything here is in Bevy's axes: right-handed, Y up, forward −Z, metres after scaling.
//! Joints come parents first, and poses are kept as structure-of-arrays rows of four joints
//! ([`SoaTransform`]), the shape in which the jobs of [`crate::pose`] work.

mod bounding_box;
mod callback_data;
mod clip;
mod material;
mod skeleton;
mod skin;
mod timing;
mod transform;

pub use bounding_box::BoundingBox;
pub use callback_data::CallbackData;
pub use clip::{ClipError, ClipFrames, Quantisation, SkeletalClip};
pub use material::Material;
pub use skeleton::{Joint, JointIndex, Skeleton, SkeletonError};
pub use skin::{Influences, SkinPart};
pub use timing::{CallbackKey, ClipTiming, PlaybackMode};
pub use transform::{JointTransform, SoaQuat, SoaTransform, SoaVec3};

pub(crate) use clip::{ChannelSlot, NumberRange, RowTracks};
pub(crate) use transform::affine_from_row_vector_matrix;

/// A whole character: one skeleton, the parts of its skin, their materials, and its clips.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The joints.
    pub skeleton: Skeleton,
    /// The skin, one part per subset or submesh (more where one uses over 256 joints).
    pub parts: Vec<SkinPart>,
    /// Materials, referred to by [`SkinPart::material`].
    pub materials: Vec<Material>,
    /// Clips in the skeleton's joint order.
    pub clips: Vec<SkeletalClip>,
}
