//! Animation clips: `AnimationClip Walk { Bone0 #Keyframes: 2 { Time: 0 Pos: … } … }`.

use super::{
    label,
    notes::Cause,
    reader::{Reader, item},
    record::{self, Column, Layout, Record, Schema},
};
use crate::format::{
    Unexpected,
    m3d::{M3dClip, M3dKey},
};
use crate::plural::{counted, there_are};

/// A clip as written.
pub(super) struct RawClip {
    pub(super) offset: usize,
    pub(super) name: String,
    pub(super) tracks: Vec<RawTrack>,
}

/// The keys of one bone.
pub(super) struct RawTrack {
    pub(super) offset: usize,
    /// The number in the label.
    pub(super) bone: Option<u32>,
    pub(super) keys: Vec<M3dKey>,
    /// The number of keys that `#Keyframes` declares.
    promised: Option<u32>,
}

const fn column(names: &'static [&'static str], slot: usize, count: usize) -> Column {
    Column {
        names,
        slot,
        least: count,
        most: count,
        indices: false,
    }
}

const SCHEMA: Schema = Schema {
    columns: [
        column(&["Time", "TimePos"], 0, 1),
        column(&["Pos", "Position", "Translation"], 1, 3),
        column(&["Scale"], 4, 3),
        column(&["Quat", "Rotation"], 7, 4),
        column(&[], 0, 0),
        column(&[], 0, 0),
    ],
    blank: [
        0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    ],
    section: "AnimationClips",
    enclosed: true,
};

const LABELS: [&str; 4] = ["AnimationClip", "Bone0", "#Keyframes", "Time"];

/// Reads the clips.
pub(super) fn read<'a>(reader: &mut Reader<'a>, clips: &mut Vec<RawClip>) {
    let mut layout = Layout::default();
    let mut depth = 0u32;
    while !reader.at_section_end() {
        let offset = reader.lexer.offset();
        if reader.lexer.eat(b'{') {
            depth += 1;
            continue;
        }
        if reader.lexer.eat(b'}') {
            if depth == 0 {
                reader
                    .state
                    .notes
                    .add(Cause::Brace, offset, || "there is one `}` too many".into());
            }
            depth = depth.saturating_sub(1);
            continue;
        }
        let label = reader.lexer.label();
        if label::same(label, "AnimationClip") {
            let (name, opened) = clip_name(reader);
            depth += u32::from(opened);
            clips.push(RawClip {
                offset,
                name,
                tracks: Vec::new(),
            });
            continue;
        }
        let track = clips.last_mut().map(|clip| &mut clip.tracks);
        match track {
            Some(tracks) if label::after(label, "Bone").is_some() => {
                let bone = label::after(label, "Bone").and_then(label::index);
                tracks.push(RawTrack {
                    offset,
                    bone,
                    keys: Vec::new(),
                    promised: None,
                });
                continue;
            }
            Some(tracks) if label::same(label, "Keyframes") => {
                if let Err(unexpected) = promise(reader, tracks) {
                    reader.recover(offset, &unexpected, context(clips));
                }
                continue;
            }
            _ => reader.lexer.seek(offset),
        }
        if SCHEMA.knows(label) && clips.last().is_some_and(|clip| !clip.tracks.is_empty()) {
            keys(reader, clips, &mut layout);
        } else if SCHEMA.knows(label) || (clips.is_empty() && label::after(label, "Bone").is_some())
        {
            let expected = if clips.is_empty() {
                "`AnimationClip` and a name"
            } else {
                "a bone, such as `Bone0`"
            };
            reader.unexpected_here(expected, context(clips));
        } else {
            reader.unknown_label(LABELS, "AnimationClips", context(clips));
        }
    }
    if depth > 0 && !reader.report.is_full() {
        let braces = counted(depth as usize, "closing brace");
        let are = if depth == 1 { "is" } else { "are" };
        let message = format!("{braces} {are} missing before this; the file may be cut off");
        reader.report.warning(reader.lexer.offset(), message);
    }
}

/// Returns the item being read, for reports.
fn context(clips: &[RawClip]) -> String {
    let Some(clip) = clips.last() else {
        return "AnimationClips".into();
    };
    match clip.tracks.last() {
        None => format!("clip `{}` in AnimationClips", clip.name),
        Some(track) => {
            let bone = track.bone.unwrap_or(clip.tracks.len() as u32 - 1);
            item(
                "key",
                track.keys.len(),
                track.promised,
                &format!("bone {bone} of clip `{}`", clip.name),
            )
        }
    }
}

/// Reads the rest of the line, and whether it ends with the clip's brace: some exporters put it there.
fn clip_name(reader: &mut Reader<'_>) -> (String, bool) {
    let offset = reader.lexer.offset();
    let line = reader.lexer.rest_of_line();
    // If a brace follows on another line, the one in this line is part of the name.
    let (name, opened) = match line.strip_suffix(b"{") {
        Some(before) if reader.lexer.peek_byte() != Some(b'{') => (before.trim_ascii_end(), true),
        _ => (line, false),
    };
    (reader.text(offset, name), opened)
}

/// Reads the count behind `#Keyframes:`.
fn promise(reader: &mut Reader<'_>, tracks: &mut [RawTrack]) -> Result<(), Unexpected> {
    let count = reader.lexer.u32()?;
    if let Some(track) = tracks.last_mut() {
        track.promised = Some(count);
    }
    Ok(())
}

/// Reads keys until something else comes.
fn keys<'a>(reader: &mut Reader<'a>, clips: &mut [RawClip], layout: &mut Layout<'a>) {
    let mut record = Record::blank(&SCHEMA);
    loop {
        let (offset, errors) = (reader.lexer.offset(), reader.report.errors());
        if !layout.replay(&mut reader.lexer, &mut record) {
            if reader.at_section_end() {
                return;
            }
            record = record::read(reader, &SCHEMA, layout, |_| context(clips));
            if record.is_blank() {
                return;
            }
        }
        let Some(track) = clips.last_mut().and_then(|clip| clip.tracks.last_mut()) else {
            return;
        };
        let key = key(&record);
        if record.counts[..4].contains(&0) && reader.report.errors() == errors {
            reader.state.notes.add(Cause::KeyParts, offset, || {
                "a key lacks Time, Pos, Scale or Quat; defaults are used".into()
            });
        }
        if track.keys.last().is_some_and(|last| last.time > key.time) {
            reader.state.notes.add(Cause::KeyOrder, offset, || {
                "a key is earlier than the one before it; the keys are sorted by time".into()
            });
        }
        track.keys.push(key);
    }
}

#[inline]
fn key(record: &Record) -> M3dKey {
    let [time] = record.get(0);
    M3dKey {
        time,
        translation: record.get(1),
        scale: record.get(4),
        rotation: record.get(7),
    }
}

/// Returns the clips, with a list of keys for each of `bones` bones.
pub(super) fn assemble(reader: &mut Reader<'_>, clips: Vec<RawClip>, bones: usize) -> Vec<M3dClip> {
    let Some(first) = clips.first() else {
        return Vec::new();
    };
    if bones == 0 {
        let message = format!(
            "the file has no bones, so its clips are left out ({} in all)",
            clips.len()
        );
        reader.report.warning(first.offset, message);
        return Vec::new();
    }
    // Every exporter writes every bone into every clip. Lists for a file too short for that could take far more
    // memory than the file.
    if clips.len().saturating_mul(bones) > reader.lexer.source().len() {
        let message = format!(
            "{} clips cannot each have keys for {bones} bones in so short a file",
            clips.len()
        );
        reader.report.error(first.offset, message);
        return Vec::new();
    }
    let assembled = clips.into_iter().enumerate().map(|(index, clip)| {
        let mut lists = vec![Vec::new(); bones];
        for (position, track) in clip.tracks.into_iter().enumerate() {
            let bone = track.bone.map_or(position, |bone| bone as usize);
            if track
                .promised
                .is_some_and(|promised| promised as usize != track.keys.len())
            {
                let (keys, promised) = (track.keys.len(), track.promised.unwrap_or(0));
                reader.state.notes.add(Cause::KeyCount, track.offset, || {
                    format!(
                        "a bone declares {}, but has {keys}",
                        counted(promised as usize, "key")
                    )
                });
            }
            match lists.get_mut(bone) {
                None => reader.state.notes.add(Cause::Track, track.offset, || {
                    format!(
                        "bone {bone} is out of range: {}; its keys are left out",
                        there_are(bones, "bone")
                    )
                }),
                Some(list) if list.is_empty() => *list = track.keys,
                Some(list) => {
                    reader.state.notes.add(Cause::TrackAgain, track.offset, || {
                        "a bone has two lists of keys in a clip; they are joined".into()
                    });
                    list.extend(track.keys);
                }
            }
        }
        for keys in &mut lists {
            if !keys.is_sorted_by(|a, b| a.time <= b.time) {
                keys.sort_by(|a, b| a.time.total_cmp(&b.time));
            }
        }
        let name = if clip.name.is_empty() {
            format!("Clip{index}")
        } else {
            clip.name
        };
        M3dClip { name, bones: lists }
    });
    assembled.collect()
}
