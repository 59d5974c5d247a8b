//! Which file a texture's name means.
//!
//! Models name textures as their artist's machine knew them: without extension, in another case,
//! with backslashes, by an absolute path, or through a material that implies the file. Here that is
//! a question about names only; whoever has the folder answers what is in it.

use crate::model::Material;
use std::collections::HashMap;

/// Extensions tried where a name has none, or where its own is not there.
const EXTENSIONS: [&str; 5] = ["tga", "dds", "png", "jpg", "jpeg"];

/// A map of a material.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextureMap {
    /// Base colour; Doom's companion ends in `_d`.
    BaseColor,
    /// Tangent-space normals; Doom's companion ends in `_local`.
    Normal,
    /// Specular colour; Doom's companion ends in `_s`.
    Specular,
}

/// The files beside a model, found whatever the case of their names.
#[derive(Clone, Debug, Default)]
pub struct TextureFiles {
    /// Lower-case name → the names as they are.
    names: HashMap<String, Vec<String>>,
}

/// The files of a material's maps, relative to the model's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MaterialTextures {
    /// Base colour map.
    pub base_color: Option<String>,
    /// Normal map.
    pub normal: Option<String>,
    /// Specular map.
    pub specular: Option<String>,
}

impl TextureFiles {
    /// The files there are, as paths relative to the model's folder; either slash will do.
    pub fn new(files: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut names: HashMap<String, Vec<String>> = HashMap::new();
        for file in files {
            let file = file.into();
            names.entry(clean(&file).to_lowercase()).or_default().push(file);
        }
        Self { names }
    }

    /// The file called `name`; of two that differ in case the one written alike.
    pub fn find(&self, name: &str) -> Option<&str> {
        let name = clean(name);
        let found = self.names.get(&name.to_lowercase())?;
        found.iter().find(|file| clean(file) == name).or(found.first()).map(String::as_str)
    }

    /// The file of one map whose name the model wrote; see [`texture_candidates`].
    pub fn resolve(&self, written: &str, map: TextureMap) -> Option<&str> {
        texture_candidates(written, map).iter().find_map(|name| self.find(name))
    }

    /// The files of a material's maps. A material without a normal or specular map that is there
    /// takes the companion of its base colour map: `foo_local` or `foo_nmap`, and `foo_s`.
    pub fn resolve_material(&self, material: &Material) -> MaterialTextures {
        let base = material.base_color_map.as_deref().unwrap_or_default();
        let find = |written: &Option<String>, map| {
            let own = written.as_deref().and_then(|written| self.resolve(written, map));
            own.or_else(|| companions(base, map).iter().find_map(|name| self.find(name))).map(str::to_owned)
        };
        MaterialTextures {
            base_color: self.resolve(base, TextureMap::BaseColor).map(str::to_owned),
            normal: find(&material.normal_map, TextureMap::Normal),
            specular: find(&material.specular_map, TextureMap::Specular),
        }
    }
}

/// The paths a written name may mean, relative to the model's folder, likeliest first.
///
/// 1. the name as written, with forward slashes;
/// 2. with each of the usual extensions, added or in place of its own;
/// 3. its file name alone, beside the model, likewise — the only candidate of an absolute path;
/// 4. the companion of Doom's materials for `map`: `foo_d`, `foo_local`, `foo_s`.
///
/// None for a name that means no file: an empty one or `<default>`.
pub fn texture_candidates(written: &str, map: TextureMap) -> Vec<String> {
    let mut out = Vec::new();
    for place in places(written) {
        add_with_extensions(&mut out, &place);
    }
    add_companions(&mut out, written, map);
    out
}

/// The companions alone of a base colour map, for a material that names no other map.
fn companions(base: &str, map: TextureMap) -> Vec<String> {
    let mut out = Vec::new();
    add_companions(&mut out, base, map);
    out
}

fn add_companions(out: &mut Vec<String>, written: &str, map: TextureMap) {
    let suffixes: &[&str] = match map {
        TextureMap::BaseColor => &["_d"],
        TextureMap::Normal => &["_local", "_nmap"],
        TextureMap::Specular => &["_s"],
    };
    for place in places(written) {
        let stem = stem(&place);
        // `foo_d` is itself a companion: its sisters are called after `foo`.
        let bare = stem.strip_suffix("_d").or(stem.strip_suffix("_D")).filter(|bare| !file_name(bare).is_empty());
        for name in [Some(stem), bare].into_iter().flatten() {
            for suffix in suffixes {
                add_with_extensions(out, &format!("{name}{suffix}"));
            }
        }
    }
}

/// Where a written name may lie: as written, and beside the model.
fn places(written: &str) -> Vec<String> {
    let name = clean(written);
    let alone = file_name(&name);
    if alone.is_empty() || alone == "." || alone == ".." || name.starts_with('<') {
        return Vec::new();
    }
    let absolute = name.starts_with('/') || name.as_bytes().get(1) == Some(&b':') || name.contains("://");
    if absolute || alone == name { vec![alone.to_owned()] } else { vec![name.clone(), alone.to_owned()] }
}

fn add_with_extensions(out: &mut Vec<String>, name: &str) {
    let mut add = |name: String| {
        if !out.contains(&name) {
            out.push(name);
        }
    };
    add(name.to_owned());
    // A dot may belong to the name (`head.v2`): the extension is added before it takes its place.
    for extension in EXTENSIONS {
        add(format!("{name}.{extension}"));
    }
    let stem = stem(name);
    if stem.len() < name.len() {
        for extension in EXTENSIONS {
            add(format!("{stem}.{extension}"));
        }
    }
}

/// Forward slashes, no blanks around, no `.` and no empty steps; `a/..` taken back, but not a
/// leading `..`, which leads out of the model's folder as it should.
fn clean(written: &str) -> String {
    let written = written.trim().replace('\\', "/");
    let mut steps: Vec<&str> = Vec::new();
    for step in written.split('/') {
        match step {
            "" | "." => {}
            ".." if steps.last().is_some_and(|last| *last != "..") => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    let path = steps.join("/");
    if written.starts_with('/') { format!("/{path}") } else { path }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The path without its extension; a name such as `.tga` is all stem.
fn stem(path: &str) -> &str {
    match file_name(path).rfind('.') {
        Some(dot) if dot > 0 => &path[..path.len() - file_name(path).len() + dot],
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TextureMap::{BaseColor, Normal, Specular};

    fn resolve(written: &str, map: TextureMap, files: &[&str]) -> Option<String> {
        TextureFiles::new(files.iter().copied()).resolve(written, map).map(str::to_owned)
    }

    #[test]
    fn the_name_as_written_wins_whatever_its_case_and_slashes() {
        assert_eq!(resolve("upBody_norm.dds", Normal, &["upbody_norm.dds"]).as_deref(), Some("upbody_norm.dds"));
        assert_eq!(resolve("a.png", BaseColor, &["A.png", "a.png"]).as_deref(), Some("a.png"));
        assert_eq!(
            resolve(r"tex\\wall.dds", BaseColor, &["wall.dds", "tex/wall.dds"]).as_deref(),
            Some("tex/wall.dds")
        );
        assert_eq!(resolve(r"..\tex\wall.dds", BaseColor, &["../tex/wall.dds"]).as_deref(), Some("../tex/wall.dds"));
    }

    #[test]
    fn extensions_are_added_or_exchanged() {
        assert_eq!(
            resolve("models/bob/head", BaseColor, &["models/bob/head.tga"]).as_deref(),
            Some("models/bob/head.tga")
        );
        assert_eq!(resolve("head.tga", BaseColor, &["head.png"]).as_deref(), Some("head.png"));
        assert_eq!(resolve("head.v2", BaseColor, &["head.png", "head.v2.png"]).as_deref(), Some("head.v2.png"));
    }

    #[test]
    fn the_file_name_alone_is_looked_for_beside_the_model() {
        assert_eq!(resolve("models/mapobjects/crate", BaseColor, &["crate.jpg"]).as_deref(), Some("crate.jpg"));
        assert_eq!(resolve(r"f:\art\crate.tga", BaseColor, &["crate.tga"]).as_deref(), Some("crate.tga"));
        assert_eq!(texture_candidates(r"f:\art\crate.tga", BaseColor)[0], "crate.tga");
        assert_eq!(texture_candidates("/home/me/crate.tga", BaseColor)[0], "crate.tga");
    }

    #[test]
    fn companions_come_last() {
        let files = ["fat.tga", "fat_d.tga", "fat_local.tga", "fat_s.png"];
        assert_eq!(resolve("models/fat", BaseColor, &files).as_deref(), Some("fat.tga"));
        assert_eq!(resolve("models/fat", BaseColor, &files[1..]).as_deref(), Some("fat_d.tga"));
        assert_eq!(resolve("missing", Specular, &files), None);
        let textures = |base: &str| {
            let material = Material { base_color_map: Some(base.into()), ..Material::default() };
            TextureFiles::new(files[1..].iter().copied()).resolve_material(&material)
        };
        let expected = MaterialTextures {
            base_color: Some("fat_d.tga".into()),
            normal: Some("fat_local.tga".into()),
            specular: Some("fat_s.png".into()),
        };
        assert_eq!(textures("models/fat"), expected);
        assert_eq!(textures("fat_d.tga"), expected);
    }

    #[test]
    fn a_missing_normal_map_falls_back_to_the_one_beside_the_base_colour() {
        let material = Material {
            base_color_map: Some("bricks.jpg".into()),
            normal_map: Some("gone.dds".into()),
            ..Material::default()
        };
        let files = TextureFiles::new(["bricks.jpg", "bricks_nmap.jpg"]);
        assert_eq!(files.resolve_material(&material).normal.as_deref(), Some("bricks_nmap.jpg"));
    }

    #[test]
    fn names_that_mean_no_file_have_no_candidates() {
        for written in ["", "  ", "<default>", "..", "../..", "/", r"\\", ".", "a/.."] {
            assert_eq!(texture_candidates(written, BaseColor), [""; 0], "{written:?}");
        }
    }

    #[test]
    fn the_oddest_names_do_no_harm() {
        for written in
            ["../../../../../../etc/passwd", "é:ü", ".tga", "…", "a\0b", "_d", "://", "x:/", "a//../b/./c.tga"]
        {
            for map in [BaseColor, Normal, Specular] {
                assert!(texture_candidates(written, map).iter().all(|name| !name.starts_with('/') && !name.is_empty()));
            }
        }
        assert_eq!(texture_candidates("a//../b/./c.tga", BaseColor)[0], "b/c.tga");
    }
}
