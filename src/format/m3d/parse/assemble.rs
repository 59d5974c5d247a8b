//! Makes a model whose indices and ranges are valid from the contents of the sections. Repairs are
//! made here, with a warning.

use super::{
    Raw, clip, header,
    notes::Cause,
    reader::{Reader, item},
    skeleton,
    state::Counted,
    subset::RawSubset,
    triangle::{self, RawTriangles},
    vertex,
};
use crate::format::{
    FormatError,
    m3d::{M3d, M3dSubset, M3dVertex},
    reader::CUT_OFF,
};
use crate::plural::{counted, there_are};

/// Returns the model. Meaningless if an error was reported.
pub(super) fn assemble(reader: &mut Reader<'_>, mut raw: Raw) -> M3d {
    imply_triangles(reader, &mut raw);
    check_triangles(reader, &raw);
    let bones = skeleton::assemble(
        reader,
        std::mem::take(&mut raw.offsets),
        std::mem::take(&mut raw.parents),
    );
    // Further checks would report consequences of the same mistake.
    if reader.report.failed() {
        return M3d::default();
    }
    check_weights(
        reader,
        &mut raw.vertices,
        raw.vertices_start.unwrap_or(0),
        bones.len(),
    );
    let clips_written = raw.clips.len();
    let clips = clip::assemble(reader, std::mem::take(&mut raw.clips), bones.len());
    if reader.report.failed() {
        return M3d::default();
    }
    // DX10 files name the subset in each triangle.
    let subsets = if raw.subsets.is_empty() && !raw.triangles.subsets.is_empty() {
        subsets_of_triangles(&mut raw.triangles)
    } else if raw.subsets.is_empty() && !raw.triangles.indices.is_empty() {
        let start = raw.triangles.start;
        reader.report.warning(
            start,
            "there is no subset table; all triangles are one subset",
        );
        vec![M3dSubset {
            vertex_count: raw.vertices.len() as u32,
            face_count: raw.triangles.indices.len() as u32,
            ..Default::default()
        }]
    } else {
        subsets_of_table(reader, &raw)
    };
    // Compared last, with what was really read, since repairs may have changed the numbers.
    header::compare(reader, |what| match what {
        Counted::Materials => raw.materials.len(),
        Counted::Vertices => raw.vertices.len(),
        Counted::Triangles => raw.triangles.indices.len(),
        Counted::Bones => bones.len(),
        Counted::AnimationClips => clips_written,
        Counted::Subsets => subsets.len(),
    });
    M3d {
        dialect: reader.state.signs.dialect(),
        materials: raw.materials,
        subsets,
        vertices: raw.vertices,
        triangles: raw.triangles.indices,
        bones,
        clips,
    }
}

/// Makes triangles for a file that neither has nor declares any: its vertices are a triangle list. Other files
/// without vertices or triangles are cut off.
fn imply_triangles(reader: &mut Reader<'_>, raw: &mut Raw) {
    let end = reader.lexer.source().len();
    if raw.vertices.is_empty() && raw.offsets.is_empty() {
        let message = match raw.vertices_start {
            None => "expected a Vertices section, found the end of the file",
            Some(_) => "the Vertices section is empty",
        };
        reader.report.error(end, message).hint = CUT_OFF.into();
    } else if raw.triangles_found || raw.vertices.is_empty() {
        if raw.triangles_found && raw.triangles.indices.is_empty() && !raw.vertices.is_empty() {
            reader.report.warning(
                raw.triangles.start,
                "there are no triangles; nothing will be drawn",
            );
        }
    } else if reader.state.header.count(Counted::Triangles).is_none()
        && raw.vertices.len().is_multiple_of(3)
    // No header promises triangles, so nothing was cut off.
    {
        let start = raw.vertices_start.unwrap_or(0);
        let message = "there is no Triangles section; every three vertices are a triangle";
        reader.report.warning(start, message);
        raw.triangles.indices = (0..raw.vertices.len() as u32 / 3)
            .map(|i| [3 * i, 3 * i + 1, 3 * i + 2])
            .collect();
        // A row may have either range. Here, one is three times the other.
        for subset in &mut raw.subsets {
            subset.face_start = subset
                .face_start
                .or(subset.vertex_start.map(|start| start / 3));
            subset.face_count = subset
                .face_count
                .or(subset.vertex_count.map(|count| count / 3));
        }
    } else {
        let error = reader.report.error(
            end,
            "expected a Triangles section, found the end of the file",
        );
        error.hint = CUT_OFF.into();
    }
}

/// Reports every index beyond the vertices.
fn check_triangles(reader: &mut Reader<'_>, raw: &Raw) {
    let (indices, vertices) = (raw.triangles.indices.as_flattened(), raw.vertices.len());
    let wrong = (0..indices.len()).filter(|&at| indices[at] as usize >= vertices);
    for at in wrong.take(FormatError::MAX_ERRORS.saturating_sub(reader.report.errors())) {
        let place = triangle::locate(reader, &raw.triangles, at);
        let message = format!(
            "index {} is out of range: {}",
            indices[at],
            there_are(vertices, "vertex")
        );
        let context = item(
            "triangle",
            at / 3,
            reader.state.header.count(Counted::Triangles),
            "Triangles",
        );
        reader.report.error(place, message).context = context;
    }
}

/// Removes weights of bones that do not exist.
fn check_weights(reader: &mut Reader<'_>, vertices: &mut [M3dVertex], start: usize, bones: usize) {
    let is_weighted = |v: &M3dVertex| v.weights != [0.0; 4] || v.bones != [0; 4];
    if bones == 0 {
        let promised = reader.state.header.count(Counted::Bones).unwrap_or(0);
        let first = vertices.iter().position(is_weighted);
        if promised > 0 {
            let message = format!(
                "the header says Bones {promised}, but the file has none; it is read as a static model"
            );
            reader
                .report
                .warning(reader.state.header.offset(Counted::Bones), message);
        } else if let Some(first) = first {
            let place = vertex::locate(reader, start, first);
            reader.report.warning(
                place,
                "there are blend weights but no bones; this is read as a static model",
            );
        }
        if let Some(first) = first {
            vertices[first..]
                .iter_mut()
                .for_each(|v| (v.weights, v.bones) = Default::default());
        }
        return;
    }
    for (index, vertex) in vertices.iter_mut().enumerate() {
        for (bone, weight) in vertex.bones.iter_mut().zip(&mut vertex.weights) {
            if (*bone as usize) < bones {
                continue;
            }
            // An unused slot may say anything.
            if *weight != 0.0 {
                // Finding the line takes time, so it is done for the first one only.
                let first = !reader.state.notes.met(Cause::Weight);
                let place = if first {
                    vertex::locate(reader, start, index)
                } else {
                    0
                };
                reader.state.notes.add(Cause::Weight, place, || {
                    let bone = if *bone == u32::MAX {
                        "-1".to_owned()
                    } else {
                        bone.to_string()
                    };
                    format!(
                        "a vertex has the weight {weight} for bone {bone}, but {}; the weight is removed",
                        there_are(bones, "bone")
                    )
                });
            }
            (*bone, *weight) = (0, 0.0);
        }
    }
}

/// Returns the subsets that the fourth numbers of triangles make (DX10). Triangles are sorted by subset.
fn subsets_of_triangles(triangles: &mut RawTriangles) -> Vec<M3dSubset> {
    if !triangles.subsets.is_sorted() {
        let mut order: Vec<usize> = (0..triangles.indices.len()).collect();
        // Stable, so that the triangles of a subset keep their order.
        order.sort_by_key(|&at| triangles.subsets[at]);
        triangles.indices = order.iter().map(|&at| triangles.indices[at]).collect();
        triangles.subsets.sort();
    }
    let mut start = 0;
    let runs = triangles.subsets.chunk_by(|a, b| a == b).map(|run| {
        let faces = start..start + run.len();
        start = faces.end;
        let (vertex_start, vertex_count) = vertices_of(&triangles.indices[faces.clone()]);
        M3dSubset {
            id: run[0],
            vertex_start,
            vertex_count,
            face_start: faces.start as u32,
            face_count: run.len() as u32,
        }
    });
    runs.collect()
}

/// Returns the subsets of the table, their ranges cut to the data.
fn subsets_of_table(reader: &mut Reader<'_>, raw: &Raw) -> Vec<M3dSubset> {
    let triangles = raw.triangles.indices.len() as u32;
    let vertices = raw.vertices.len() as u32;
    let rows = face_ranges(reader, &raw.subsets, triangles);
    check_overlap(
        reader,
        &rows,
        triangles,
        raw.subsets.first().map_or(0, |row| row.offset),
    );
    if reader.report.failed() {
        return Vec::new();
    }
    let subsets = rows
        .into_iter()
        .zip(&raw.subsets)
        .enumerate()
        .map(|(index, (faces, row))| {
            // Rows without an ID are in the order of the materials.
            let id = row.id.unwrap_or(index as u32);
            if id as usize >= raw.materials.len() && !raw.materials.is_empty() {
                reader.state.notes.add(Cause::SubsetId, row.offset, || {
                    format!(
                        "SubsetID {id} is out of range: {}; the material in the subset's place is used",
                        there_are(raw.materials.len(), "material")
                    )
                });
            }
            let (face_start, face_count) = clamp(faces, triangles);
            if (face_start, face_count) != faces {
                reader.state.notes.add(Cause::FaceRange, row.offset, || {
                    format!(
                        "subset {index} ends at triangle {}, but {}; it is cut short",
                        end(faces),
                        there_are(triangles as usize, "triangle")
                    )
                });
            }
            let written = (row.vertex_start.unwrap_or(0), row.vertex_count.unwrap_or(0));
            let (vertex_start, vertex_count) = clamp(written, vertices);
            if (vertex_start, vertex_count) != written {
                reader.state.notes.add(Cause::VertexRange, row.offset, || {
                    format!(
                        "subset {index} ends at vertex {}, but {}; it is cut short",
                        end(written),
                        there_are(vertices as usize, "vertex")
                    )
                });
            }
            let mut subset = M3dSubset {
                id,
                vertex_start,
                vertex_count,
                face_start,
                face_count,
            };
            if vertex_count == 0 && face_count > 0 {
                reader
                    .state
                    .notes
                    .add(Cause::NoVertexCount, row.offset, || {
                        format!(
                            "subset {index} declares no vertices; those of its triangles are used"
                        )
                    });
                let faces = face_start as usize..(face_start + face_count) as usize;
                (subset.vertex_start, subset.vertex_count) =
                    vertices_of(&raw.triangles.indices[faces]);
            }
            subset
        });
    subsets.collect()
}

/// Reports rows that name the same triangles over and over: the model would need far more memory than its file.
fn check_overlap(reader: &mut Reader<'_>, rows: &[(u32, u32)], triangles: u32, place: usize) {
    const MANY: u64 = 1_000_000;
    const TIMES: u64 = 16;
    let sum: u64 = rows
        .iter()
        .map(|&range| u64::from(clamp(range, triangles).1))
        .sum();
    if sum > MANY.max(TIMES * u64::from(triangles)) {
        let message = format!(
            "{} name {sum} triangles in all, but {}",
            counted(rows.len(), "subset"),
            there_are(triangles as usize, "triangle")
        );
        reader.report.error(place, message);
    }
}

/// Returns start and count of each row's triangles, not yet known to be in range.
fn face_ranges(reader: &mut Reader<'_>, rows: &[RawSubset], triangles: u32) -> Vec<(u32, u32)> {
    let mut next = 0u32;
    let mut ranges = Vec::with_capacity(rows.len());
    for (index, row) in rows.iter().enumerate() {
        let start = row.face_start.unwrap_or(next);
        // A row without a count reaches to the start of the next.
        let rest = rows
            .get(index + 1)
            .and_then(|row| row.face_start)
            .unwrap_or(triangles)
            .saturating_sub(start);
        let count = row.face_count.unwrap_or(rest);
        next = start.saturating_add(count);
        ranges.push((start, count));
    }
    // One exporter counts indices instead of triangles.
    let sum: u64 = ranges.iter().map(|&(_, count)| u64::from(count)).sum();
    let too_far = ranges
        .iter()
        .any(|&range| end(range) > u64::from(triangles));
    if too_far && sum == 3 * u64::from(triangles) && ranges.iter().all(|(_, count)| count % 3 == 0)
    {
        let message =
            format!("FaceCount is {sum} in all, three times the triangles; it is divided by three");
        reader.report.warning(rows[0].offset, message);
        // Starts count indices, too, if each subset starts where the one before it ends.
        let mut next = 0u32;
        let starts_too = ranges.iter().all(|&(start, count)| {
            let follows = start == next;
            next = start.saturating_add(count);
            follows
        });
        for (start, count) in &mut ranges {
            *count /= 3;
            *start /= if starts_too { 3 } else { 1 };
        }
    }
    ranges
}

fn clamp((start, count): (u32, u32), length: u32) -> (u32, u32) {
    let start = start.min(length);
    (start, count.min(length - start))
}

fn end((start, count): (u32, u32)) -> u64 {
    u64::from(start) + u64::from(count)
}

/// Returns the first and the number of the vertices that triangles span.
fn vertices_of(triangles: &[[u32; 3]]) -> (u32, u32) {
    let indices = triangles.as_flattened();
    match (indices.iter().min(), indices.iter().max()) {
        (Some(&first), Some(&last)) => (first, last - first + 1),
        _ => (0, 0),
    }
}
