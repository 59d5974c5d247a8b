//! Clips and tracks → joint matrices: plain jobs over slices.
//!
//! Each job is a struct whose fields are its inputs and whose `run` writes its output; none owns or
//! allocates anything. A local pose is rows of four joints ([`SoaTransform`](crate::model::SoaTransform)).
//!
//! | job | from | to |
//! | --- | --- | --- |
//! | [`Sample`] | a clip at a time | local pose |
//! | [`Blend`], [`PriorityBlend`] | weighted, masked local poses | local pose |
//! | [`Add`], [`Override`] | a local pose laid over another | local pose |
//! | [`Mix`] | all of the above in one pass over the clips | local pose |
//! | [`AdjustJoints`], [`Ik`] | joints set by hand, limbs that reach | local pose and joint matrices |
//! | [`LocalToModel`] | local pose | joint matrices |
//! | [`Palette`], [`Skinning`] | joint matrices | skinning matrices |
//! | [`SkinVertices`] | skinning matrices | positions and normals |
//! | [`PickSkin`] | skinning matrices, a ray | the triangle it hits, and whose |
//! | [`PartBounds`] | joint matrices, clips | boxes for culling |
//! | [`Compress`] | a clip and the skin it moves | a smaller clip |
//!
//! [`Evaluate`] runs them in order, from the clips that play to the joint matrices.
//!
//! The same inputs give the same bits in debug and release builds, on every thread and machine of
//! one architecture: there are no estimates, and where wider vectors are used (AVX) they do the same
//! operations in the same order. Products of matrices, ways between two frames and means of poses are
//! worked out with fused operations (FMA); a processor without them takes some ten times as long over
//! those, and gets the same. Nothing but sums, products, quotients and square roots enters. Importing asks
//! the platform's library for sines and arc cosines, where keys lie off a clip's grid or far apart: between
//! two platforms those frames may differ in their last bits.

mod adjust;
mod blend;
mod bounds;
mod compress;
mod evaluate;
mod ik;
mod mask;
mod mix;
mod model_space;
mod overlay;
mod palette;
mod pick;
mod product;
mod row;
mod sample;
mod skin;
mod soa;

pub use adjust::{AdjustJoints, JointOverride, JointSpace};
pub use blend::{Blend, PoseLayer, PriorityBlend};
pub use bounds::{PartBounds, Reach};
pub use compress::Compress;
pub use evaluate::{Evaluate, Scratch};
pub use ik::{ChainIk, Ik, IkScratch, TwoBoneIk};
pub use mask::Mask;
pub use mix::{ClipLayer, Mix, MixScratch};
pub use model_space::LocalToModel;
pub use overlay::{Add, Override, difference_clip};
pub use palette::{Palette, Skinning, copy_palette};
pub use pick::{PickSkin, SkinHit, TriangleIndices, influence_count, influence_of, ray_meets_box};
pub use sample::{FrameSpan, Sample};
pub use skin::SkinVertices;
