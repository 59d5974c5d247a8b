//! The values of attributes.

use super::{
    Attribute, DAMAGED, PER_ELEMENT, Result,
    bytes::Reader,
    corners::{Corners, NONE, Seams, Table, get},
    entropy, octahedron,
    predict::{self, Method, Place, Positions},
    sequence::{self, Sequence},
};
use crate::import::gltf::json::ComponentType;

/// The points that have values.
pub(super) struct Layout<'a> {
    pub(super) points: usize,
    /// The triangles, the seams of attributes, and the point of each corner; `None` if values are in the order of points.
    pub(super) mesh: Option<(&'a Corners, &'a [Seams], &'a [u32])>,
}

/// The encoding of an attribute's values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Coding {
    Plain,
    Integers,
    /// Floats, as integers within a range.
    Floats,
    Normals,
}

/// The header of an attribute.
struct Header {
    is_position: bool,
    data_type: u8,
    width: usize,
    normalized: bool,
    id: u32,
    coding: Coding,
}

/// The values of an attribute, before they are in their own type.
enum Values<'a> {
    Plain(&'a [u8]),
    Integers(Vec<i32>),
}

/// Reads all attributes of a mesh.
pub(super) fn read(
    reader: &mut Reader,
    layout: &Layout,
    charge: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<Vec<Attribute>> {
    let groups = reader.u8()?;
    let mut orders = Vec::new();
    if layout.mesh.is_some() {
        // Per decoder: the number of its seams (−1 for none), whether a vertex can have several
        // values, and the traversal.
        for _ in 0..groups {
            orders.push((reader.i8()?, reader.u8()?, reader.u8()?));
        }
    }
    let mut headers = Vec::new();
    for _ in 0..groups {
        headers.push(read_headers(reader)?);
    }
    let (mut out, mut positions) = (Vec::new(), None);
    for (at, headers) in headers.iter().enumerate() {
        let group = match layout.mesh {
            Some((corners, seams, of_corner)) => {
                charge(corners.vertex.len() as u64 / PER_ELEMENT)?;
                let order = orders.get(at).ok_or(DAMAGED)?;
                Group::on_mesh(layout, corners, seams, of_corner, *order)?
            }
            None => Group {
                entries: layout.points,
                of_point: Vec::new(),
                mesh: None,
            },
        };
        let width: usize = headers.iter().map(|header| header.width).sum();
        charge((layout.points as u64).saturating_mul(width as u64) / PER_ELEMENT)?;
        group.read(reader, layout, headers, &mut positions, &mut out)?;
    }
    Ok(out)
}

fn read_headers(reader: &mut Reader) -> Result<Vec<Header>> {
    let mut headers = Vec::new();
    for _ in 0..reader.number32()? {
        let (kind, data_type, width) = (reader.u8()?, reader.u8()?, reader.u8()?);
        let normalized = reader.u8()? > 0;
        if width == 0 {
            return Err(DAMAGED);
        }
        headers.push(Header {
            is_position: kind == 0,
            data_type,
            width: width.into(),
            normalized,
            id: reader.number32()?,
            coding: Coding::Plain,
        });
    }
    for header in &mut headers {
        // The sequential encoders GENERIC, INTEGER, QUANTIZATION and NORMALS.
        header.coding = match reader.u8()? {
            0 => Coding::Plain,
            1 if component(header.data_type)
                .is_some_and(|(_, kind)| kind != Some(ComponentType::F32)) =>
            {
                Coding::Integers
            }
            2 if header.data_type == FLOAT => Coding::Floats,
            3 if header.data_type == FLOAT && header.width == 3 => Coding::Normals,
            _ => return Err(DAMAGED),
        };
    }
    Ok(headers)
}

const FLOAT: u8 = 9;

/// Returns the size in bytes of a component of a type, and glTF's name for the type.
fn component(data_type: u8) -> Option<(usize, Option<ComponentType>)> {
    // Draco's `DataType`: signed and unsigned integers of 8 to 64 bits, then two sizes of floats,
    // and booleans.
    Some(match data_type {
        1 => (1, Some(ComponentType::I8)),
        2 => (1, Some(ComponentType::U8)),
        3 => (2, Some(ComponentType::I16)),
        4 => (2, Some(ComponentType::U16)),
        // glTF has no such numbers with a sign.
        5 | 6 => (4, Some(ComponentType::U32)),
        7 | 8 | 10 => (8, None),
        FLOAT => (4, Some(ComponentType::F32)),
        11 => (1, None),
        _ => return None,
    })
}

/// Attributes whose values are in the same order.
struct Group<'a> {
    entries: usize,
    /// The value of each point; empty if they are in the order of points.
    of_point: Vec<u32>,
    mesh: Option<(Table<'a>, Sequence, &'a [u32])>,
}

impl<'a> Group<'a> {
    /// `order` has the number of the attribute with seams, or −1; a flag that is set if a vertex
    /// can have several values; and the kind of traversal.
    fn on_mesh(
        layout: &Layout,
        corners: &'a Corners,
        seams: &'a [Seams],
        of_corner: &'a [u32],
        (attribute, has_seams, walk): (i8, u8, u8),
    ) -> Result<Self> {
        let mut table = corners.table();
        if has_seams != 0 {
            let attribute = usize::try_from(attribute).map_err(|_| DAMAGED)?;
            table.seams = Some(seams.get(attribute).ok_or(DAMAGED)?);
        }
        let sequence = match walk {
            0 => sequence::depth_first(table)?,
            1 if has_seams == 0 => sequence::by_predictions(table)?,
            _ => return Err(DAMAGED),
        };
        let entries = sequence.corners.len();
        // Each value belongs to a point at least.
        if entries > layout.points {
            return Err(DAMAGED);
        }
        let mut of_point = vec![0; layout.points];
        for (corner, &point) in of_corner.iter().enumerate() {
            let value = get(&sequence.of_vertex, table.vertex(corner as u32));
            if value == NONE {
                return Err(DAMAGED);
            }
            *of_point.get_mut(point as usize).ok_or(DAMAGED)? = value;
        }
        Ok(Self {
            entries,
            of_point,
            mesh: Some((table, sequence, of_corner)),
        })
    }

    fn read(
        &self,
        reader: &mut Reader,
        layout: &Layout,
        headers: &[Header],
        positions: &mut Option<Positions>,
        out: &mut Vec<Attribute>,
    ) -> Result<()> {
        let mut all = Vec::new();
        for header in headers {
            let values = self.values(reader, header, positions.as_ref())?;
            if let Values::Integers(values) = &values
                && header.is_position
                && header.width == 3
                && positions.is_none()
                && !self.of_point.is_empty()
            {
                *positions = Some(Positions {
                    values: values.clone(),
                    of_point: self.of_point.clone(),
                });
            }
            all.push(values);
        }
        // The parameters that turn integers into floats follow after the values of all attributes.
        for (header, values) in headers.iter().zip(all) {
            let (size, kind) = component(header.data_type).ok_or(DAMAGED)?;
            let bytes = match values {
                Values::Plain(bytes) => self.spread(layout, bytes, size * header.width),
                Values::Integers(values) => {
                    let bytes = finish(reader, header, size, &values)?;
                    self.spread(layout, &bytes, size * header.width)
                }
            };
            out.push(Attribute {
                id: header.id,
                component: kind,
                width: header.width,
                normalized: header.normalized,
                bytes,
            });
        }
        Ok(())
    }

    /// Reads the values of an attribute and undoes their prediction.
    fn values<'s>(
        &self,
        reader: &mut Reader<'s>,
        header: &Header,
        positions: Option<&Positions>,
    ) -> Result<Values<'s>> {
        if header.coding == Coding::Plain {
            let (size, _) = component(header.data_type).ok_or(DAMAGED)?;
            let bytes = (size * header.width) as u64 * self.entries as u64;
            return reader.take(bytes).map(Values::Plain);
        }
        let is_normal = header.coding == Coding::Normals;
        let width = if is_normal { 2 } else { header.width };
        let method = match reader.i8()? {
            // Draco's `PredictionSchemeMethod`. 2 and 3 exist only for backward compatibility.
            -2 => None,
            0 => Some(Method::Difference),
            1 => Some(Method::Parallelogram),
            4 => Some(Method::Parallelograms),
            5 => Some(Method::TexCoords),
            6 => Some(Method::Normal),
            _ => return Err("this kind of prediction is not read"),
        };
        let transform = if method.is_some() { reader.i8()? } else { 0 };
        // `PredictionSchemeTransformType`: 1 wraps around a range, and 2 and 3 are for normals on
        // an octahedron.
        let has_transform = if is_normal {
            transform == 2 || transform == 3
        } else {
            transform == 1
        };
        let method = method.filter(|_| has_transform);
        let count = self.entries * width;
        let numbers = if reader.u8()? != 0 {
            entropy::numbers(reader, count, width)?
        } else {
            let size = reader.u8()?;
            if !(1..=4).contains(&size) {
                return Err(DAMAGED);
            }
            let bytes = reader.take(u64::from(size) * count as u64)?;
            let number = |bytes: &[u8]| {
                let digits = bytes.iter().rev();
                digits.fold(0, |number, &byte| number << 8 | u32::from(byte))
            };
            bytes.chunks_exact(size.into()).map(number).collect()
        };
        // Predicted normals have differences that are never negative, so these are not
        // zigzag-coded.
        let has_sign = !(is_normal && method.is_some());
        let sign = |number| {
            if has_sign {
                entropy::signed(number)
            } else {
                number as i32
            }
        };
        let mut values: Vec<i32> = numbers.into_iter().map(sign).collect();
        if let Some(method) = method {
            let place = self.mesh.as_ref().map(|(table, sequence, points)| Place {
                table: *table,
                sequence,
                points,
                positions,
            });
            predict::restore(
                reader,
                method,
                transform,
                &mut values,
                width,
                place.as_ref(),
            )?;
        }
        Ok(Values::Integers(values))
    }

    /// Gives each point its value.
    fn spread(&self, layout: &Layout, values: &[u8], size: usize) -> Vec<u8> {
        if self.of_point.is_empty() {
            return values.to_vec();
        }
        let mut out = Vec::with_capacity(layout.points * size);
        for &value in &self.of_point {
            // Each is less than the number of values.
            out.extend_from_slice(&values[value as usize * size..][..size]);
        }
        out
    }
}

/// Turns values into bytes of their own type.
fn finish(reader: &mut Reader, header: &Header, size: usize, values: &[i32]) -> Result<Vec<u8>> {
    Ok(match header.coding {
        Coding::Plain | Coding::Integers => {
            let bytes = values.iter().flat_map(|value| {
                let bytes = i64::from(*value).to_le_bytes();
                bytes.into_iter().take(size)
            });
            bytes.collect()
        }
        Coding::Floats => {
            let mut min = Vec::new();
            for _ in 0..header.width {
                min.push(reader.f32()?);
            }
            let (range, bits) = (reader.f32()?, u32::from(reader.u8()?));
            if !(1..=30).contains(&bits) {
                return Err(DAMAGED);
            }
            let step = range / ((1u32 << bits) - 1) as f32;
            let values = values.iter().zip(min.iter().cycle());
            values
                .flat_map(|(value, min)| (*value as f32 * step + min).to_le_bytes())
                .collect()
        }
        Coding::Normals => {
            let bits = u32::from(reader.u8()?);
            if !(2..=30).contains(&bits) {
                return Err(DAMAGED);
            }
            let values = values.as_chunks().0.iter();
            values
                .flat_map(|point| octahedron::unit_vector(*point, bits))
                .flat_map(f32::to_le_bytes)
                .collect()
        }
    })
}
