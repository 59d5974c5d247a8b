//! `marionette pose`: writes a model's vertices at a time of a clip, as the GPU would move them.

use crate::{
    Outcome,
    obj::Posed,
    open::{self, Named, OpenModel, Opened},
    options::ImportArgs,
    term::{self, complain, counted, seconds},
    write,
};
use bevy_marionette::{
    controller::BlendMode,
    format::{Diagnostic, FormatError},
    import::FileKind,
    internals::{
        format::Parsed,
        import::listed,
        pose::{ClipLayer, Evaluate, MorphOverride, MorphScratch, Scratch},
        spelling::did_you_mean,
    },
};
use clap::Args;
use std::{io::Write, path::PathBuf};

/// Writes a model's vertices at a time of a clip to an OBJ file
///
/// The skin is moved by the engine's own palettes, in single precision, and written in Bevy's axes:
/// right-handed, Y up, -Z forward. Vertices with more than four joints follow all of them (see --skin-error).
#[derive(Args)]
#[command(after_long_help = AFTER_HELP, after_help = "See --help for examples and the layout of the OBJ.")]
pub struct Pose {
    /// .glb, .gltf, .fbx, .m3d, .md5mesh, .character.ron or .character.bin
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Files with clips for the model: .md5anim, or models with clips
    #[arg(value_name = "ANIM")]
    anims: Vec<PathBuf>,
    /// Clip to pose with [default: the first of the first ANIM, else the model's first, else the bind pose]
    #[arg(long, value_name = "NAME")]
    clip: Option<String>,
    /// Use the model's rest pose instead of a clip
    #[arg(long, conflicts_with = "clip")]
    bind: bool,
    /// Seconds into the clip; outside the clip, it repeats or holds as it would when played
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, required_unless_present = "bind", value_parser = finite)]
    time: Option<f64>,
    /// Weight of a morph target, in place of the clip's; may be given several times
    #[arg(long, value_name = "NAME=WEIGHT", value_parser = morph)]
    morph: Vec<(String, f32)>,
    /// OBJ file to write; - for standard output
    #[arg(short, long, value_name = "FILE", value_parser = output)]
    output: Output,
    #[command(flatten)]
    import: ImportArgs,
}

const AFTER_HELP: &str = "\
Examples:
  marionette pose knight.glb --clip Idle --time 0.5 -o knight.obj
  marionette pose face.glb --bind --morph jawOpen=0.5 -o face.obj
  marionette pose soldier.m3d --time 0.5 -o soldier.obj
  marionette pose knight.md5mesh walk.md5anim run.md5anim --clip run --time 0.25 -o run.obj
  marionette pose knight.md5mesh --bind -o - | less

The OBJ holds one `v` for each vertex in the file, in file order and across all subsets or submeshes, then
the same number of `vn` and `vt`, then the faces `f` of each part, with one index for all three. A vertex
that no part uses is written as 0 0 0 and has no face. `vt` counts from the bottom, as OBJ requires.
A summary is printed on standard error.";

#[derive(Clone, Debug)]
enum Output {
    Stdout,
    File(PathBuf),
}

fn finite(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|time| time.is_finite())
        .ok_or_else(|| "expected a number of seconds".to_owned())
}

fn morph(text: &str) -> Result<(String, f32), String> {
    let parsed = text.rsplit_once('=').and_then(|(name, weight)| {
        let weight = weight.trim().parse::<f32>().ok()?;
        weight.is_finite().then(|| (name.trim().to_owned(), weight))
    });
    parsed.ok_or_else(|| "expected a name and a weight, such as jawOpen=0.5".to_owned())
}

fn output(text: &str) -> Result<Output, String> {
    match text {
        "-" => Ok(Output::Stdout),
        // A typo must not overwrite a model.
        name if FileKind::of_name(name).is_some() => {
            Err("expected the name of an OBJ file".to_owned())
        }
        name => Ok(Output::File(name.into())),
    }
}

impl Pose {
    pub fn run(self) -> Outcome {
        let opened = open::open_model(&self.model, &self.import);
        complain(&opened.diagnostics);
        let Some(model) = opened.model() else {
            return Ok(false);
        };
        let clip = match self.choose(&opened, model) {
            Ok(Parsed { value, warnings }) => {
                complain(&warnings);
                value
            }
            Err(error) => {
                complain(&error.diagnostics);
                return Ok(false);
            }
        };
        let (what, layers) = self.layers(&opened, clip.as_ref());
        let morph_overrides = match self.overrides(&opened, model) {
            Ok(overrides) => overrides,
            Err(error) => {
                complain(&[error]);
                return Ok(false);
            }
        };
        let job = Evaluate {
            morph_overrides: &morph_overrides,
            ..Evaluate::new(&model.model.skeleton, &layers)
        };
        let (mut pose, mut morphs) = (Scratch::default(), MorphScratch::default());
        job.run(&mut pose);
        let weights = job.run_morphs(&mut morphs);
        let weights = weights.unwrap_or(model.model.skeleton.morphs().rest());
        let posed = Posed::new(&model.model, model.report.vertices, pose.model(), weights);

        let title = format!("{}: {what}", opened.name);
        let target = match &self.output {
            Output::Stdout => {
                let mut out = term::out();
                posed.write(&mut out, &model.model, &title)?;
                out.flush()?;
                "standard output".to_owned()
            }
            Output::File(path) => {
                let inputs = model.files.iter().chain(&self.anims);
                let written = write::check(path, inputs).and_then(|()| {
                    write::create(path, |out| posed.write(out, &model.model, &title))
                });
                if let Err(error) = written {
                    complain(&[error]);
                    return Ok(false);
                }
                path.display().to_string()
            }
        };
        term::note(&title);
        if posed.unused() > 0 {
            term::note(&format!(
                "  {} in no part, written as 0 0 0",
                counted(posed.unused(), "vertex")
            ));
        }
        term::note(&format!("  {} → {target}", counted(posed.len(), "vertex")));
        Ok(true)
    }

    /// Chooses the clip. Also returns the warnings of the files in which it was searched.
    fn choose(
        &self,
        opened: &Opened,
        model: &OpenModel,
    ) -> Result<Parsed<Option<Named>>, FormatError> {
        let Parsed {
            value: mut clips,
            mut warnings,
        } = open::clips_of(&self.anims, model)?;
        if self.bind {
            return Ok(Parsed {
                value: None,
                warnings,
            });
        }
        // Clips of the given files come first, because one of them is probably meant.
        clips.extend(model.model.clips.iter().map(|clip| Named {
            file: opened.name.clone(),
            clip: clip.clone(),
        }));
        let names: Vec<String> = clips
            .iter()
            .map(|named| named.clip.timing.name.to_string())
            .collect();
        let Some(wanted) = &self.clip else {
            // A single clip needs no choice.
            if let [first, _, ..] = &clips[..] {
                term::note(&format!(
                    "using clip `{}`; choose another with --clip: {}",
                    first.clip.timing.name,
                    listed(names.iter().map(String::as_str))
                ));
            }
            return Ok(Parsed {
                value: clips.into_iter().next(),
                warnings,
            });
        };
        match clips
            .into_iter()
            .find(|named| *named.clip.timing.name == **wanted)
        {
            Some(named) => Ok(Parsed {
                value: Some(named),
                warnings,
            }),
            None => {
                let error = Diagnostic::error(&opened.name, format!("no such clip: `{wanted}`"));
                let known = names.iter().map(String::as_str);
                warnings.push(error.with_hint(hint(wanted, known, "there are no clips")));
                Err(FormatError {
                    diagnostics: warnings,
                })
            }
        }
    }

    /// Finds the morph targets whose weights are given.
    fn overrides(
        &self,
        opened: &Opened,
        model: &OpenModel,
    ) -> Result<Vec<MorphOverride>, Diagnostic> {
        let morphs = model.model.skeleton.morphs();
        let find = |(name, weight): &(String, f32)| {
            let found = morphs.morph(name);
            found
                .map(|morph| MorphOverride::set(morph, *weight))
                .ok_or_else(|| {
                    let message = format!("--morph: the model has no morph target `{name}`");
                    let known = morphs.names().iter().map(|name| &**name);
                    let hint = hint(name, known, "it has none");
                    Diagnostic::error(&opened.name, message).with_hint(hint)
                })
        };
        self.morph.iter().map(find).collect()
    }

    /// Returns the layers that make the pose, and a description of it.
    fn layers<'a>(&self, opened: &Opened, clip: Option<&'a Named>) -> (String, Vec<ClipLayer<'a>>) {
        let Some(Named { file, clip }) = clip else {
            let why = if self.bind {
                ""
            } else {
                " (there are no clips)"
            };
            return (format!("bind pose{why}"), Vec::new());
        };
        let (time, length) = (self.time.unwrap_or(0.0), clip.timing.duration);
        // At its very end, a loop is shown in its last frame, though it has started over by then.
        let at = if (0.0..=length).contains(&time) {
            time
        } else {
            clip.timing.periodic(time)
        };
        let from = if *file == opened.name {
            String::new()
        } else {
            format!(" of {file}")
        };
        let asked = if at == time {
            String::new()
        } else {
            format!(" (for {})", seconds(time))
        };
        let what = format!(
            "clip `{}`{from} at {} of {}{asked}",
            clip.timing.name,
            seconds(at),
            seconds(length)
        );
        let mode = if clip.additive {
            BlendMode::Additive
        } else {
            BlendMode::Blend
        };
        (
            what,
            vec![ClipLayer {
                mode,
                ..ClipLayer::new(clip, at)
            }],
        )
    }
}

/// Returns the hint for a name that isn't there: the one that was probably meant, or the first of those that are, or `none`.
fn hint<'k>(name: &str, known: impl Iterator<Item = &'k str> + Clone, none: &str) -> String {
    did_you_mean(name, known.clone()).unwrap_or_else(|| match known.clone().next() {
        Some(_) => format!("available: {}", listed(known)),
        None => none.to_owned(),
    })
}
