//! `marionette pose`: a model's vertices at a time of a clip, as the GPU moves them.

use crate::{
    Outcome,
    obj::Posed,
    open::{self, ImportArgs, OpenModel, Opened},
    term::{self, Paint, counted, seconds},
};
use bevy_marionette::{
    controller::BlendMode,
    format::{Diagnostic, FormatError},
    import::{FileKind, open_clips},
    model::SkeletalClip,
    pose::{ClipLayer, Evaluate, Scratch},
};
use clap::Args;
use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

/// Writes a model's vertices at a time of a clip, as the GPU would see them, to an OBJ file
///
/// The skin is moved by the engine's own palettes in single precision, with at most four joints per
/// vertex, and written in Bevy's axes: right-handed, Y up, forward -Z.
#[derive(Args)]
#[command(after_long_help = AFTER_HELP, after_help = "See --help for examples and what the OBJ holds.")]
pub struct Pose {
    /// .m3d, .md5mesh or .character.ron
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Files with clips for it: .md5anim, or models with clips
    #[arg(value_name = "ANIM")]
    anims: Vec<PathBuf>,
    /// The clip [default: the first of the first ANIM, or the model's first, or else the bind pose]
    #[arg(long, value_name = "NAME")]
    clip: Option<String>,
    /// Poses by no clip: the joints as the model has them at rest
    #[arg(long, conflicts_with = "clip")]
    bind: bool,
    /// Seconds into the clip; before its start or after its end it repeats or holds, as it is played
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, required_unless_present = "bind", value_parser = finite)]
    time: Option<f64>,
    /// The OBJ file to write; - is standard output
    #[arg(short, long, value_name = "FILE", value_parser = output)]
    output: Output,
    #[command(flatten)]
    import: ImportArgs,
}

const AFTER_HELP: &str = "\
Examples:
  marionette pose soldier.m3d --time 0.5 -o soldier.obj
  marionette pose knight.md5mesh walk.md5anim run.md5anim --clip run --time 0.25 -o run.obj
  marionette pose knight.md5mesh --bind -o - | less

The OBJ holds one `v` for each vertex of the file, in the file's order, counted through all subsets or
submeshes; then as many `vn` and `vt`, then the `f` of each part, with one index for all three. A vertex
that is in no part of the model stands at 0 0 0 and is in no face. `vt` counts from below, as OBJ has it.
What was done is said on standard error.";

#[derive(Clone, Debug)]
enum Output {
    Stdout,
    File(PathBuf),
}

fn finite(text: &str) -> Result<f64, String> {
    text.parse::<f64>().ok().filter(|time| time.is_finite()).ok_or_else(|| "expected a number of seconds".to_owned())
}

fn output(text: &str) -> Result<Output, String> {
    match text {
        "-" => Ok(Output::Stdout),
        // A slip of the hand must not cost a model.
        name if FileKind::of_name(name).is_some() => Err("the output is an OBJ file, call it so".to_owned()),
        name => Ok(Output::File(name.into())),
    }
}

/// A clip and where it is from.
struct Named {
    file: String,
    clip: SkeletalClip,
}

impl Pose {
    pub fn run(self) -> Outcome {
        let opened = open::open_model(&self.model, &self.import);
        complain(&opened.diagnostics);
        let Some(model) = opened.model() else { return Ok(false) };
        let clip = match self.choose(&opened, model) {
            Ok((clip, warnings)) => {
                complain(&warnings);
                clip
            }
            Err(error) => {
                complain(&error.diagnostics);
                return Ok(false);
            }
        };

        let time = self.time.unwrap_or(0.0);
        let (what, layers) = match &clip {
            Some(Named { file, clip }) => {
                let length = clip.timing.duration;
                // The very end is the last frame here, though a loop is at its start again by then.
                let at = if (0.0..=length).contains(&time) { time } else { clip.timing.periodic(time) };
                let from = if *file == opened.name { String::new() } else { format!(" of {file}") };
                let asked = if at == time { String::new() } else { format!(" (for {})", seconds(time)) };
                let what =
                    format!("clip `{}`{from} at {} of {}{asked}", clip.timing.name, seconds(at), seconds(length));
                let mode = if clip.additive { BlendMode::Additive } else { BlendMode::Blend };
                (what, vec![ClipLayer { mode, ..ClipLayer::new(clip, at) }])
            }
            None if self.bind => ("bind pose".to_owned(), Vec::new()),
            None => ("bind pose, for there is no clip".to_owned(), Vec::new()),
        };
        let mut pose = Scratch::default();
        Evaluate::new(&model.model.skeleton, &layers).run(&mut pose);
        let posed = Posed::new(&model.model, model.vertices, pose.model());

        let title = format!("{}: {what}", opened.name);
        let target = match &self.output {
            Output::Stdout => "standard output".to_owned(),
            Output::File(path) => path.display().to_string(),
        };
        if let Err(error) = write(&self.output, &model.model, &posed, &title) {
            complain(&[Diagnostic::error(&target, format!("cannot write it: {}", open::reason(&error)))]);
            return Ok(false);
        }
        term::note(&title);
        let loose = posed.loose();
        if loose > 0 {
            term::note(&format!("  {} in no part, written as 0 0 0", counted(loose, "vertex")));
        }
        term::note(&format!("  {} → {target}", counted(posed.len(), "vertex")));
        Ok(true)
    }

    /// The clip to pose by, and warnings about the files it was looked for in.
    fn choose(&self, opened: &Opened, model: &OpenModel) -> Result<(Option<Named>, Vec<Diagnostic>), FormatError> {
        let mut warnings = Vec::new();
        let mut clips = Vec::new();
        for path in &self.anims {
            let file = path.to_string_lossy().into_owned();
            let source = open::read(path)?;
            let (found, more) = open_clips(&file, &open::stem(path), &source, &model.model.skeleton, &model.settings)?;
            warnings.extend(more);
            clips.extend(found.into_iter().map(|clip| Named { file: file.clone(), clip }));
        }
        clips.extend(model.model.clips.iter().map(|clip| Named { file: opened.name.clone(), clip: clip.clone() }));
        if self.bind {
            return Ok((None, warnings));
        }
        let names: Vec<String> = clips.iter().map(|named| format!("`{}`", named.clip.timing.name)).collect();
        let Some(wanted) = &self.clip else {
            if let [first, _, ..] = &names[..] {
                term::note(&format!("no --clip named: {first} is the first of {}", names.join(", ")));
            }
            return Ok((clips.into_iter().next(), warnings));
        };
        match clips.into_iter().find(|named| *named.clip.timing.name == **wanted) {
            Some(named) => Ok((Some(named), warnings)),
            None => {
                let has = if names.is_empty() { "there are no clips".to_owned() } else { names.join(", ") };
                let error = Diagnostic::error(&opened.name, format!("there is no clip `{wanted}`"));
                let mut diagnostics = warnings;
                diagnostics.push(error.with_hint(if names.is_empty() { has } else { format!("there are {has}") }));
                Err(FormatError { diagnostics })
            }
        }
    }
}

fn complain(diagnostics: &[Diagnostic]) {
    let paint = Paint::stderr();
    for diagnostic in diagnostics {
        term::note(&paint.diagnostic(diagnostic));
    }
}

fn write(output: &Output, model: &bevy_marionette::model::Model, posed: &Posed, title: &str) -> io::Result<()> {
    match output {
        Output::Stdout => {
            let mut out = term::out();
            posed.write(&mut out, model, title)?;
            out.flush()
        }
        Output::File(path) => {
            let mut out = BufWriter::with_capacity(1 << 16, File::create(path as &Path)?);
            posed.write(&mut out, model, title)?;
            out.flush()
        }
    }
}
