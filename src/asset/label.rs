//! Labels of a character's sub-assets.

use bevy::asset::AssetPath;
use std::fmt;

/// Labels of the sub-assets of a loaded [`Character`](super::Character).
///
/// ```
/// use bevy_marionette::asset::CharacterAssetLabel;
/// let path = CharacterAssetLabel::Clip("walk".into()).from_asset("scout/scout.character.ron");
/// assert_eq!(path.to_string(), "scout/scout.character.ron#Clip/walk");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CharacterAssetLabel {
    /// `Mesh0`: a part's [`Mesh`](bevy::mesh::Mesh), by index.
    Mesh(usize),
    /// `Material0`: a [`StandardMaterial`](bevy::pbr::StandardMaterial), by index.
    Material(usize),
    /// `Clip/walk`: a [`ClipAsset`](super::ClipAsset), by name.
    Clip(String),
    /// `Texture/skin.png`: an [`Image`](bevy::image::Image) of the model's own file, or with generated mip levels, by file name.
    Texture(String),
    /// `Part/head`: a [`CharacterPart`](super::CharacterPart) with its mesh and material, by name.
    Part(String),
}

impl CharacterAssetLabel {
    /// Returns the path of this sub-asset of the asset at `path`.
    pub fn from_asset(&self, path: impl Into<AssetPath<'static>>) -> AssetPath<'static> {
        path.into().with_label(self.to_string())
    }
}

impl fmt::Display for CharacterAssetLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mesh(index) => write!(f, "Mesh{index}"),
            Self::Material(index) => write!(f, "Material{index}"),
            Self::Clip(name) => write!(f, "Clip/{name}"),
            Self::Texture(file) => write!(f, "Texture/{file}"),
            Self::Part(name) => write!(f, "Part/{name}"),
        }
    }
}
