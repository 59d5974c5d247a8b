//! Images of a baked file that are decoded, with mip levels.

use super::BakedCharacter;
use crate::{
    import::{
        mips::{Content, add_mips, sizes, texels_of_all},
        textures::{TextureFiles, TextureMap},
    },
    model::MipFilter,
};
use std::{collections::HashMap, sync::Arc};

/// What decoded images begin with, in place of a format of images.
const MAGIC: &[u8; 16] = b"marionette image";

/// The bytes of a texel: red, green, blue, and alpha.
const TEXEL: usize = 4;

/// Largest width and height of an image that is decoded.
const MOST: u32 = 1 << 14;

/// A decoded image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Texels<'a> {
    /// Width and height in texels.
    pub size: [u32; 2],
    /// The number of levels, with the image itself.
    pub levels: u32,
    /// The texels of all levels, four bytes each, the largest level first.
    pub data: &'a [u8],
}

impl<'a> Texels<'a> {
    /// Returns the texels of a decoded image; `None` if it is another one, or damaged.
    pub fn of(image: &'a [u8]) -> Option<Self> {
        let ([width, height, levels], data) = {
            let (numbers, data) = image.strip_prefix(MAGIC)?.split_first_chunk::<12>()?;
            let numbers = numbers.as_chunks().0;
            ([0, 1, 2].map(|at| u32::from_le_bytes(numbers[at])), data)
        };
        if !(1..=MOST).contains(&width) || !(1..=MOST).contains(&height) {
            return None;
        }
        let size = [width as usize, height as usize];
        let texels = match levels {
            1 => size[0] * size[1],
            _ if levels as usize == sizes(size).count() => texels_of_all(size),
            _ => return None,
        };
        (data.len() == texels * TEXEL).then_some(Self {
            size: [width, height],
            levels,
            data,
        })
    }

    fn to_bytes(self) -> Arc<[u8]> {
        let [width, height] = self.size;
        let numbers = [width, height, self.levels].map(u32::to_le_bytes);
        let head = MAGIC.iter().chain(numbers.as_flattened());
        head.chain(self.data).copied().collect()
    }
}

/// The way in which an image is used.
#[derive(Clone, Copy, PartialEq)]
struct Use {
    is_color: bool,
    content: Content,
    has_mips: bool,
}

impl BakedCharacter {
    /// Decodes images, and adds their mip levels, which is what takes most of the time of loading them. `decode` returns the size
    /// of an image and its texels, of which each has four bytes, or `None` for one to be left as it is.
    ///
    /// Images that materials use in different ways, such as for colors and for normals, are left as they are, too.
    pub fn decode_images(
        &mut self,
        mut decode: impl FnMut(&str, &[u8]) -> Option<([u32; 2], Vec<u8>)>,
    ) {
        let mut uses: HashMap<String, Vec<Use>> = HashMap::new();
        let files = TextureFiles::new(self.images.keys().cloned());
        for material in &self.model.materials {
            let found = files.resolve_material(material);
            let drawn = TextureMap::ALL.into_iter();
            for map in drawn.filter(|map| *map != TextureMap::Specular) {
                let Some(image) = found.get(map) else {
                    continue;
                };
                uses.entry(image.to_owned()).or_default().push(Use {
                    is_color: map.is_color(),
                    content: Content::of(map, material),
                    has_mips: map.pick(&material.samplers).mip_levels != MipFilter::Off,
                });
            }
        }
        for (name, image) in &mut self.images {
            let uses = uses.get(name).map_or(&[][..], Vec::as_slice);
            let Some(first) = uses
                .first()
                .filter(|first| uses.iter().all(|of| of == *first))
            else {
                continue;
            };
            let Some((size, mut data)) = decode(name, image) else {
                continue;
            };
            let [width, height] = size.map(|side| side as usize);
            let is_whole = width
                .checked_mul(height)
                .and_then(|texels| texels.checked_mul(TEXEL));
            if is_whole != Some(data.len()) || data.is_empty() || width.max(height) > MOST as usize
            {
                continue;
            }
            let levels = match first.has_mips {
                true => add_mips(
                    &mut data,
                    [width, height],
                    TEXEL,
                    first.is_color,
                    first.content,
                ),
                false => 1,
            };
            let data = &data[..];
            *image = Texels { size, levels, data }.to_bytes();
        }
    }
}
