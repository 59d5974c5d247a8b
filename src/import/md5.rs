//! MD5 → model, and model → MD5.

use super::{ImportSettings, Imported};
use crate::{
    format::{
        FormatError, Parsed,
        md5::{Md5Anim, Md5Mesh},
    },
    model::{Model, SkeletalClip, Skeleton},
};

/// Makes a model of an `.md5mesh` file; `file` is its name for reports.
pub fn from_md5(_file: &str, _mesh: &Md5Mesh, _settings: &ImportSettings) -> Result<Imported, FormatError> {
    todo!()
}

/// Makes a clip called `name` of an `.md5anim` file, in the joint order of `skeleton`.
pub fn clip_from_md5(
    _file: &str,
    _name: &str,
    _anim: &Md5Anim,
    _skeleton: &Skeleton,
    _settings: &ImportSettings,
) -> Result<Parsed<SkeletalClip>, FormatError> {
    todo!()
}

/// The model's mesh as an `.md5mesh` file, Z up and +X forward.
pub fn to_md5_mesh(_model: &Model) -> Md5Mesh {
    todo!()
}

/// A clip of the skeleton as an `.md5anim` file, Z up and +X forward.
pub fn to_md5_anim(_clip: &SkeletalClip, _skeleton: &Skeleton) -> Md5Anim {
    todo!()
}
