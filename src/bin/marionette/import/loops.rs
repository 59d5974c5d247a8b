//! Decides which clips loop: measured at the skin, and by the name where that isn't enough.

use super::words::snake;
use crate::obj::Posed;
use bevy_marionette::{
    controller::BlendMode,
    internals::{
        model::BoundingBox,
        pose::{ClipLayer, Evaluate, Scratch},
    },
    model::{Model, PlaybackMode, SkeletalClip},
};
use glam::Vec3;

/// Largest distance of the last pose from the first, as a share of the size.
const SAME: f32 = 0.01;
/// The same for clips without a frame for the way back, whose gap is one more step.
const ONE_STEP: f32 = 0.15;
/// A clip that moves less than this share of the size from its first pose is a pose that breathes.
const STILL: f32 = 0.08;

const REPEATED: [&str; 20] = [
    "idle",
    "walk",
    "walking",
    "run",
    "running",
    "jog",
    "jogging",
    "sprint",
    "sprinting",
    "gallop",
    "trot",
    "crawl",
    "crawling",
    "strafe",
    "swim",
    "swimming",
    "fly",
    "flying",
    "hover",
    "loop",
];
const PLAYED_ONCE: [&str; 27] = [
    "attack", "bite", "cast", "death", "defeat", "die", "dying", "dodge", "draw", "equip", "fall",
    "hit", "jump", "kick", "land", "landing", "pick", "punch", "recoil", "reload", "roll", "shoot",
    "slash", "stab", "swing", "throw", "turn",
];
/// Words of clips that lead from one motion to another.
const BETWEEN: [&str; 6] = ["to", "into", "start", "stop", "enter", "exit"];
/// Words that end as `spinning` does, but name no lasting motion.
const NO_MOTION: [&str; 8] = [
    "king", "ring", "wing", "spring", "sting", "fling", "sling", "string",
];

/// Playback mode that a clip's name suggests.
#[derive(Clone, Debug, PartialEq)]
enum Named {
    /// Something that continues: it is a loop even if its ends don't meet.
    Repeated(String),
    /// Something that lasts, such as `spinning`: it is a loop if its ends meet.
    Lasting,
    /// Something that is done once, or that leads to something else.
    Once(String),
    Nothing,
}

impl Named {
    /// The last known word decides: `run_attack` is an attack, and `jump_idle` is idle.
    fn new(name: &str) -> Self {
        let name = snake(name);
        let words = || {
            name.split('_')
                .map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()))
        };
        // `idle_to_walk` is done once, whatever other words it has.
        if let Some(word) = words().find(|word| BETWEEN.contains(word)) {
            return Self::Once(word.to_owned());
        }
        let mut known = words().rev().filter_map(|word| match () {
            _ if PLAYED_ONCE.contains(&word) => Some(Self::Once(word.to_owned())),
            _ if REPEATED.contains(&word) => Some(Self::Repeated(word.to_owned())),
            _ if word.len() > 4 && word.ends_with("ing") && !NO_MOTION.contains(&word) => {
                Some(Self::Lasting)
            }
            _ => None,
        });
        known.next().unwrap_or(Self::Nothing)
    }
}

/// Returns `true` for the words by which clips are judged, such as `walk`.
pub fn is_action(word: &str) -> bool {
    Named::new(word) != Named::Nothing
}

/// Playback mode of a clip, and the reason for it.
pub struct Verdict {
    pub playback: PlaybackMode,
    /// Reason, for a list of decisions.
    pub why: String,
}

impl Verdict {
    fn new(playback: PlaybackMode, why: impl Into<String>) -> Self {
        Self {
            playback,
            why: why.into(),
        }
    }
}

/// Decides whether a clip of a model is a loop.
pub fn judge(model: &Model, clip: &SkeletalClip) -> Verdict {
    use PlaybackMode::{Loop, Once};
    let (last, duration) = (clip.frame_count() - 1, clip.timing.duration);
    if last == 0 || duration <= 0.0 {
        return Verdict::new(Loop, "is a single pose");
    }
    let skin = Skin { model, clip };
    let size = skin.size();
    // Frames may be unevenly spaced.
    let step = duration / last as f64;
    let ends = [0.0, step, duration - step, duration].map(|time| skin.at(time));
    let [first, second, before, end] = &ends;
    // The place that the model has moved to does not matter.
    let travel = mean(first, end) * Vec3::new(1.0, 0.0, 1.0);
    let gap = farthest(first, end, travel) / size;
    let (start_speed, end_speed) = (
        farthest(first, second, Vec3::ZERO) / size,
        farthest(before, end, Vec3::ZERO) / size,
    );
    let fastest = start_speed.max(end_speed);
    let turned = velocity_change(&ends) / size;
    // The motion of the skin at the seam distinguishes walk cycles from swings of a sword.
    let smooth = turned <= 0.6 * fastest + 0.002;
    let closes = gap <= SAME;
    let lacks_a_step = gap <= ONE_STEP && gap <= 1.6 * fastest && smooth;
    let reach = (0..=8)
        .map(|i| farthest(first, &skin.at(duration * f64::from(i) / 8.0), Vec3::ZERO))
        .fold(0.0, f32::max)
        / size;
    let travels = match travel.length() > 0.1 * size {
        true => format!(", traveling {:.2} units", travel.length()),
        false => String::new(),
    };
    let percent = |share: f32| format!("{:.1} % of the size", 100.0 * share);

    match Named::new(&clip.timing.name) {
        Named::Once(word) if closes || lacks_a_step => Verdict::new(
            Once,
            format!("ends as it begins, but its name says that it is done once (`{word}`)"),
        ),
        Named::Repeated(word) if !closes && !lacks_a_step => Verdict::new(
            Loop,
            format!(
                "ends {} from where it begins, but its name says that it goes on (`{word}`)",
                percent(gap)
            ),
        ),
        Named::Repeated(_) | Named::Lasting if closes => {
            Verdict::new(Loop, format!("ends as it begins{travels}"))
        }
        _ if closes && fastest < 0.002 && reach > STILL => {
            Verdict::new(Once, "ends as it begins, at rest: a gesture")
        }
        _ if closes && smooth => Verdict::new(Loop, format!("ends as it begins{travels}")),
        _ if closes => Verdict::new(Once, "ends as it begins, but its speed jumps there"),
        _ if lacks_a_step => Verdict::new(Loop, format!("ends one step before it begins{travels}")),
        _ => Verdict::new(Once, format!("ends {} from where it begins", percent(gap))),
    }
}

struct Skin<'a> {
    model: &'a Model,
    clip: &'a SkeletalClip,
}

impl Skin<'_> {
    /// The diagonal of the skin's box.
    fn size(&self) -> f32 {
        let points = self
            .model
            .parts
            .iter()
            .flat_map(|part| part.positions.iter().copied());
        let bounds = BoundingBox::enclosing(points);
        bounds
            .map_or(1.0, |bounds| bounds.diagonal())
            .max(f32::MIN_POSITIVE)
    }

    /// Places of the vertices at a time; of the joints, if there is no skin.
    fn at(&self, time: f64) -> Vec<Vec3> {
        let Self { model, clip } = self;
        let mode = if clip.additive {
            BlendMode::Additive
        } else {
            BlendMode::Blend
        };
        let layers = [ClipLayer {
            mode,
            ..ClipLayer::new(clip, time)
        }];
        let mut pose = Scratch::default();
        Evaluate::new(&model.skeleton, &layers).run(&mut pose);
        let mut out: Vec<Vec3> = Posed::new(model, 0, pose.model(), &[])
            .positions()
            .collect();
        if out.is_empty() {
            out = pose
                .model()
                .iter()
                .map(|joint| joint.translation.into())
                .collect();
        }
        out
    }
}

fn mean(from: &[Vec3], to: &[Vec3]) -> Vec3 {
    let sum: Vec3 = from.iter().zip(to).map(|(from, to)| *to - *from).sum();
    sum / from.len().max(1) as f32
}

fn farthest(from: &[Vec3], to: &[Vec3], apart: Vec3) -> f32 {
    from.iter()
        .zip(to)
        .map(|(from, to)| (*to - *from - apart).length())
        .fold(0.0, f32::max)
}

/// The largest change of a vertex's step from the last frames to the first.
fn velocity_change([first, second, before, end]: &[Vec<Vec3>; 4]) -> f32 {
    let steps = first.iter().zip(second).zip(before.iter().zip(end));
    steps
        .map(|((a, b), (c, d))| ((*b - *a) - (*d - *c)).length())
        .fold(0.0, f32::max)
}

#[cfg(test)]
#[path = "tests/loops.rs"]
mod tests;
