//! File names for the images in a model's file.

use super::names::UniqueNames;

/// Extensions of formats that their first bytes tell, and of others.
const TOLD: [&str; 7] = ["bmp", "dds", "jpeg", "jpg", "ktx2", "png", "webp"];
const UNTOLD: [&str; 5] = ["gif", "psd", "tga", "tif", "tiff"];

/// Gives images names that are unique and that any file system takes. Their extensions decide how apps decode them.
#[derive(Debug, Default)]
pub(super) struct ImageNames {
    /// Names without extensions, so that a number goes before these.
    stems: UniqueNames,
}

impl ImageNames {
    /// Returns a name for the image at an index: `given`, or the index if it is empty, with the extension of the image's
    /// format. That is `otherwise` where neither the bytes nor `given` tell.
    pub(super) fn add(&mut self, given: &str, at: usize, bytes: &[u8], otherwise: &str) -> String {
        let is_forbidden = |c: char| c.is_control() || "/\\:<>\"|?*".contains(c);
        let given = given.trim().replace(is_forbidden, "_");
        let is_among = |list: &[&str], extension: &str| {
            list.iter()
                .any(|known| extension.eq_ignore_ascii_case(known))
        };
        let known = given
            .rsplit_once('.')
            .filter(|(_, own)| is_among(&TOLD, own) || is_among(&UNTOLD, own));
        // The bytes decide, because names and media types in files may be wrong.
        let extension = match bytes {
            [0x89, b'P', b'N', b'G', ..] => "png",
            [0xff, 0xd8, 0xff, ..] => "jpg",
            [b'R', b'I', b'F', b'F', ..] => "webp",
            [0xab, b'K', b'T', b'X', ..] => "ktx2",
            [b'D', b'D', b'S', b' ', ..] => "dds",
            [b'B', b'M', ..] => "bmp",
            _ => known
                .map(|(_, own)| own)
                .filter(|own| is_among(&UNTOLD, own))
                .unwrap_or(otherwise),
        };
        // Not `..`, which is a folder.
        let stem = known.map_or(&*given, |(stem, _)| stem);
        let stem = match stem.trim_matches(['.', ' ']) {
            "" => format!("image{at}"),
            stem => stem.to_owned(),
        };
        format!("{}.{extension}", self.stems.add(stem))
    }
}
