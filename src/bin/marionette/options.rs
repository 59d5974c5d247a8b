//! Options that control how files are imported.

use bevy_marionette::import::{Hand, ImportLimits, ImportSettings, UpAxis};
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};

/// Overrides for what files and manifests say about themselves.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Import")]
pub struct ImportArgs {
    /// Factor for all lengths, such as 0.0254 for a model in inches [default: 1, or the manifest's]
    #[arg(long, value_name = "FACTOR", value_parser = positive)]
    scale: Option<f32>,
    /// Handedness of the file [default: auto, or the manifest's]
    ///
    /// `left` is Direct3D's convention and negates z. `auto` compares winding and normals for .m3d; MD5,
    /// glTF, and FBX are right-handed.
    #[arg(long, value_parser = hand())]
    hand: Option<Hand>,
    /// Up axis of the file [default: auto, or the manifest's]
    ///
    /// `z` has +X forward: (x, y, z) becomes (-y, z, -x). `auto` is y for .m3d, z for MD5,
    /// and y for glTF and FBX with half a turn, because their models face +Z.
    #[arg(long, value_parser = up())]
    up: Option<UpAxis>,
    /// Flip texture coordinates vertically
    #[arg(long)]
    flip_v: bool,
    /// Largest share of a vertex's weight that may follow other joints than in the file, where vertices have
    /// more than four joints [default: 1e-5, or the manifest's]
    ///
    /// It bounds the error as a share of the model's size. 1 keeps the four largest joints only.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    skin_error: Option<f32>,
    /// Most entries of a part's palette, joints and combined joints together [default: 256, or the manifest's]
    #[arg(long, value_name = "ENTRIES")]
    max_palette: Option<u16>,
    /// Take the keys of clips from other glTF and FBX files as they are, also if their armature is turned or in another unit
    #[arg(long)]
    as_is: bool,
    /// Keep all levels of detail of meshes, such as body_LOD0 and body_LOD1, instead of only the finest
    #[arg(long)]
    all_lods: bool,
    /// Upper limit on the contents of a file, such as joints=256; can be repeated
    ///
    /// Names: file_bytes, joints, vertices, triangles, influences (per vertex), morphs, morph_vertices, clips, clip_seconds,
    /// callbacks (per clip), clip_bytes and total_bytes (of clips in memory).
    #[arg(long = "limit", value_name = "NAME=MAX", value_parser = limit)]
    limits: Vec<(&'static str, u64)>,
}

impl ImportArgs {
    /// Returns the default limits with the overrides applied.
    pub fn limits(&self) -> ImportLimits {
        let mut limits = ImportLimits::default();
        for &(name, most) in &self.limits {
            limits.set(name, most);
        }
        limits
    }

    /// Returns `base` with the overrides applied.
    pub fn over(&self, base: ImportSettings) -> ImportSettings {
        ImportSettings {
            scale: self.scale.unwrap_or(base.scale),
            hand: self.hand.unwrap_or(base.hand),
            up: self.up.unwrap_or(base.up),
            flip_v: self.flip_v || base.flip_v,
            skin_error: self.skin_error.unwrap_or(base.skin_error),
            max_palette: self.max_palette.unwrap_or(base.max_palette),
            as_is: self.as_is || base.as_is,
            all_lods: self.all_lods || base.all_lods,
            limits: self.limits(),
        }
    }
}

fn positive(text: &str) -> Result<f32, String> {
    let factor = text
        .parse::<f32>()
        .ok()
        .filter(|factor| factor.is_finite() && *factor > 0.0);
    factor.ok_or_else(|| "expected a number greater than 0".to_owned())
}

fn share(text: &str) -> Result<f32, String> {
    let share = text
        .parse::<f32>()
        .ok()
        .filter(|share| share.is_finite() && *share >= 0.0);
    share.ok_or_else(|| "expected a number of 0 or more".to_owned())
}

fn hand() -> impl TypedValueParser<Value = Hand> {
    PossibleValuesParser::new(["auto", "left", "right"]).map(|name| match name.as_str() {
        "left" => Hand::Left,
        "right" => Hand::Right,
        _ => Hand::Auto,
    })
}

fn up() -> impl TypedValueParser<Value = UpAxis> {
    PossibleValuesParser::new(["auto", "y", "z"]).map(|name| match name.as_str() {
        "y" => UpAxis::Y,
        "z" => UpAxis::Z,
        _ => UpAxis::Auto,
    })
}

fn limit(text: &str) -> Result<(&'static str, u64), String> {
    let (name, most) = text
        .split_once('=')
        .ok_or("expected NAME=MAX, such as joints=256")?;
    let known = ImportLimits::NAMES.into_iter().find(|known| *known == name);
    let known = known.ok_or_else(|| {
        format!(
            "unknown limit; expected one of {}",
            ImportLimits::NAMES.join(", ")
        )
    })?;
    let most = most
        .parse()
        .ok()
        .filter(|&most| ImportLimits::default().set(known, most));
    Ok((known, most.ok_or("expected a whole number in range")?))
}
