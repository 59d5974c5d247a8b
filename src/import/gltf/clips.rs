//! Animations → clips.

mod sampler;

use super::{
    accessors::Accessors,
    curves::{Between, Channel, Motion},
    document::CHECK,
    extras,
    json::{self, Animation, Index, Interpolation, Property, Type},
    morphs::FileMorphs,
    nodes::{Local, Rig, RigJoint, whole::KeyedClips},
    shown::Switched,
    vrm::Vrm,
};
use crate::{
    format::FormatError,
    import::{
        ClipEntry, Limits,
        axes::Basis,
        limits::ClipTotals,
        names::{UniqueNames, listed},
        report::Report,
        resample::{Budget, Curve, MIRRORS, SAME_TIMES, Skin, mirrored_joints},
    },
    model::{JointTransform, Model, Reach},
    plural::{counted, there_are},
};
use glam::{DQuat, DVec3, DVec4, Quat, Vec3};
use sampler::{Draft, Sampler};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

/// The most animations whose keys are in memory at once.
const AT_ONCE: usize = 64;

/// Names in a warning, of which only the first are shown.
const MOST_NAMES: usize = 100;

/// Imports the clips of a file.
pub(super) struct Importer<'a> {
    pub(super) accessors: &'a Accessors<'a>,
    pub(super) basis: &'a Basis,
    pub(super) rig: &'a Rig,
    /// Nodes that clips show and hide.
    pub(super) switched: &'a [Switched],
    pub(super) limits: &'a Limits,
    pub(super) morphs: &'a FileMorphs,
    pub(super) vrm: &'a Vrm,
}

/// The clips of a file, and what it says of them as a manifest would, by name.
#[derive(Default)]
pub(super) struct FileClips {
    pub(super) clips: KeyedClips,
    pub(super) entries: BTreeMap<String, ClipEntry>,
}

/// The names of animations, and what is said about all of them at once.
#[derive(Default)]
struct Found {
    names: UniqueNames,
    /// Clips that got a number, because another one has their name.
    doubled: Vec<String>,
    /// Animations that move nothing.
    empty: Vec<String>,
    left_out: LeftOut,
}

impl Found {
    /// Adds an animation. Returns its keys under a name of its own, unless it moves nothing.
    fn add<'r>(&mut self, read: Read<'r>, report: &mut Report<'r>) -> Option<Draft> {
        self.left_out.add(read.left_out);
        report.append(read.report);
        match read.draft {
            Ok(mut draft) => {
                let name = self.names.add(draft.name.clone());
                if draft.name != name {
                    self.doubled.push(name.clone());
                }
                draft.name = name;
                Some(draft)
            }
            Err(name) => {
                self.empty.push(name);
                None
            }
        }
    }
}

/// An animation that was read.
struct Read<'a> {
    /// Its keys, or the name of one that moves nothing.
    draft: Result<Draft, String>,
    left_out: LeftOut,
    report: Report<'a>,
}

/// Channels and keys that were left out of all clips.
#[derive(Default)]
struct LeftOut {
    /// The first channel of something other than a node.
    elsewhere: Option<String>,
    strangers: BTreeSet<String>,
    keys: (usize, Option<String>),
    /// Clips that mirror joints which don't mirror at rest, or the other way around, and these
    /// joints.
    mirrors: [BTreeSet<String>; 2],
}

impl Importer<'_> {
    /// Imports the clips in the joint order of `model`, whose skeleton and parts are complete. Also
    /// returns, for each clip, which properties of each joint have keys.
    pub(super) fn run(
        &self,
        model: &Model,
        reach: &mut Reach,
        report: &mut Report,
    ) -> Result<FileClips, FormatError> {
        let animations = &self.accessors.root.animations;
        if animations.is_empty() {
            return Ok(Default::default());
        }
        let skin = Skin::new(model);
        let skin = match self.vrm.is_animation {
            true => skin.of_any_body(),
            false => skin,
        };
        let sampler = Sampler::new(model, self.morphs, skin);
        let (mut found, mut budget) = (Found::default(), Budget::default());
        let (mut totals, mut too_large) = (ClipTotals::default(), Vec::new());
        let mut clips = Vec::with_capacity(animations.len().min(self.limits.clips as usize));
        let mut keyed = Vec::new();
        let mut entries = BTreeMap::new();
        let numbered: Vec<(usize, &Animation)> = animations.iter().enumerate().collect();
        // Not all at once, because their keys take memory.
        for some in numbered.chunks(AT_ONCE) {
            let keys = some
                .iter()
                .map(|(_, animation)| self.keys(animation))
                .fold(0, usize::saturating_add);
            let read = self.accessors.read_all(some, keys, |&(at, animation)| {
                self.read(at, animation, model, report.file)
            })?;
            let drafts: Vec<Draft> = read
                .into_iter()
                .filter_map(|read| found.add(read, report))
                .collect();
            let made = sampler.run(&drafts, &mut budget);
            for (draft, made) in drafts.into_iter().zip(made) {
                let Draft {
                    place,
                    name,
                    extras,
                    keyed: keyed_here,
                    ..
                } = draft;
                let Some(made) = made else {
                    too_large.push(name);
                    continue;
                };
                for (message, hint) in made.warnings {
                    report.warn(&place, message, hint);
                }
                // Before they are sorted in.
                let callbacks = extras.callbacks.len();
                self.limits.check_callbacks(report.file, &name, callbacks)?;
                let clip = made.clip.and_then(|mut clip| {
                    clip.timing.playback = extras.entry.playback.unwrap_or(clip.timing.playback);
                    clip.timing.extend_callbacks(extras.callbacks);
                    reach.admit(&model.skeleton, &clip).map(|()| clip)
                });
                match clip {
                    Ok(clip) => {
                        self.limits.check_clip(report.file, &clip)?;
                        totals.add(&clip);
                        self.limits.check_totals(report.file, &totals)?;
                        if extras.entry != ClipEntry::default() {
                            entries.insert(clip.timing.name.to_string(), extras.entry);
                        }
                        clips.push(clip);
                        keyed.push(keyed_here);
                    }
                    Err(message) => report.warn(
                        &place,
                        format!("a clip is left out: {message}"),
                        "export it again",
                    ),
                }
            }
        }
        let list = |names: &[String]| listed(names.iter().map(String::as_str));
        if !too_large.is_empty() {
            let names = list(&too_large);
            let message = format!(
                "clips that take too much memory for the few keys of the file are left out: {names}"
            );
            report.warn("animations", message, SAME_TIMES);
        }
        if !found.empty.is_empty() {
            report.warn(
                "animations",
                format!(
                    "clips that move nothing are left out: {}",
                    list(&found.empty)
                ),
                "export only the character's own animations",
            );
        }
        if !found.doubled.is_empty() {
            let message = format!(
                "clips that share a name with another got a number: {}",
                list(&found.doubled)
            );
            report.warn("animations", message, "");
        }
        found.left_out.tell(report);
        Ok(FileClips {
            clips: (clips, keyed),
            entries,
        })
    }

    /// The number of keys in an animation, according to its accessors.
    fn keys(&self, animation: &Animation) -> usize {
        let keys = |sampler: &json::Sampler| {
            let times = self.accessors.root.accessors.get(sampler.input.value())?;
            Some(times.get().ok()?.count.0 as usize)
        };
        let all = animation.samplers.iter().filter_map(keys);
        all.fold(0, usize::saturating_add)
    }

    /// Reads an animation.
    fn read<'r>(
        &self,
        at: usize,
        animation: &Animation,
        model: &Model,
        file: &'r str,
    ) -> Result<Read<'r>, FormatError> {
        let place = format!("animations[{at}]");
        let named = animation
            .name
            .clone()
            .filter(|name| !name.trim().is_empty());
        let name = named.unwrap_or_else(|| format!("clip{at}"));
        let (mut left_out, mut report) = (LeftOut::default(), Report::new(file));
        let (mut motions, end) = self.motions(animation, &place, &mut left_out, &mut report)?;
        if motions.iter().all(Motion::is_still) && self.morphs.curves(at).is_empty() {
            return Ok(Read {
                draft: Err(name),
                left_out,
                report,
            });
        }
        let has_keys = |motion: &Motion| {
            let [t, r, s] = [&motion.translation, &motion.rotation, &motion.scale];
            let is_switched = !motion.switches.is_empty();
            [t.is_some(), r.is_some(), s.is_some() || is_switched]
        };
        let keyed = motions.iter().map(has_keys).collect();
        // Copies of joints come last. They follow their originals, and have no motion of their
        // own.
        motions.resize_with(model.skeleton.len(), || Motion::still(Local::IDENTITY));
        let curves: Vec<Curve> = motions.into_iter().map(Motion::into_curve).collect();
        let draft = Draft {
            animation: at,
            name,
            extras: extras::of_animation(animation, &place, &mut report),
            place,
            keyed,
            end: curves.iter().map(Curve::end).fold(end, f64::max),
            curves,
        };
        Ok(Read {
            draft: Ok(draft),
            left_out,
            report,
        })
    }

    /// Returns the motion of each joint of the rig in an animation, and the time of the last key
    /// that is left out.
    fn motions(
        &self,
        animation: &Animation,
        place: &str,
        left_out: &mut LeftOut,
        report: &mut Report,
    ) -> Result<(Vec<Motion>, f64), FormatError> {
        let root = self.accessors.root;
        let mut used = vec![false; animation.channels.len()];
        let mut motions: Vec<Motion> = self
            .rig
            .joints
            .iter()
            .map(|joint| Motion::still(joint.rest))
            .collect();
        let mut switches = BTreeMap::new();
        // One text for all channels, of which there are thousands, and hardly ever anything to say.
        let (mut place, first) = (format!("{place}.channels["), place.len());
        for (at, channel) in animation.channels.iter().enumerate() {
            place.truncate(first + ".channels[".len());
            _ = write!(place, "{at}]");
            if channel.target.path.is_some_and(Property::is_weights) {
                // See `morphs.rs`.
                continue;
            }
            let node = channel.target.node.map(Index::value);
            if node.is_some_and(|node| self.vrm.is_proxy(node)) {
                continue;
            }
            let Some(node) = channel.target.node.map(Index::value) else {
                left_out.elsewhere.get_or_insert_with(|| place.clone());
                continue;
            };
            let Some(target) = root.nodes.get(node) else {
                let message = format!(
                    "node {node} is out of range: {}",
                    there_are(root.nodes.len(), "node")
                );
                return Err(report.error(&place, message, CHECK));
            };
            let Some(property) = channel.target.path else {
                report.warn(
                    &place,
                    "the channel's target has an unknown path",
                    "it was left out",
                );
                continue;
            };
            if property == Property::Visibility {
                if let Some(switch) = self.switch(animation, channel, &place, report)? {
                    switches.entry(node).or_insert(switch);
                }
                continue;
            }
            let Some(joint) = self.rig.of_node[node] else {
                // The transform of a skin's own node has no effect.
                if target.skin.is_none() && left_out.strangers.len() < MOST_NAMES {
                    left_out
                        .strangers
                        .insert(target.name.clone().unwrap_or_else(|| format!("node{node}")));
                }
                continue;
            };
            let Some(curve) = self.channel(
                animation, channel, property, joint, &place, left_out, report,
            )?
            else {
                continue;
            };
            let motion = &mut motions[joint];
            let slot = match property {
                Property::Translation => &mut motion.translation,
                Property::Rotation => &mut motion.rotation,
                _ => &mut motion.scale,
            };
            if slot.is_some() {
                report.warn(
                    &place,
                    "another channel has the same target",
                    "the first one counts",
                );
            } else {
                *slot = Some(curve);
                used[at] = true;
            }
        }
        place.truncate(first);
        self.add_switches(&switches, &mut motions, &place, report)?;
        let others = animation
            .channels
            .iter()
            .zip(used)
            .filter(|(_, used)| !used);
        let ends = others.map(|(channel, _)| self.end(animation, channel.sampler.value(), report));
        Ok((motions, ends.fold(0.0, f64::max)))
    }

    /// Adds what shows and hides joints to their motions.
    fn add_switches(
        &self,
        switches: &BTreeMap<usize, Channel>,
        motions: &mut [Motion],
        place: &str,
        report: &Report,
    ) -> Result<(), FormatError> {
        for switched in self.switched {
            let Some(joint) = self.rig.of_node[switched.node] else {
                continue;
            };
            let motion = &mut motions[joint];
            let nodes = &self.accessors.root.nodes;
            let (by, others): (Vec<usize>, Vec<usize>) = switched
                .by
                .iter()
                .partition(|node| switches.contains_key(node));
            let is_hidden = switched.is_hidden && others.iter().any(|&n| nodes[n].is_hidden());
            if by.is_empty() || is_hidden {
                // It stays hidden, however large it would be.
                motion.scale.take_if(|_| switched.is_hidden);
                continue;
            }
            motion.rest.scale = self.scale(joint, switched.scale);
            // Any number of meshes may be below a node.
            let keys = by.iter().map(|node| switches[node].times.len()).sum();
            self.accessors.charge_keys(report, place, keys)?;
            motion.switches = by.iter().map(|node| switches[node].clone()).collect();
        }
        Ok(())
    }

    /// Reads a channel that shows and hides a node. `None` if it has no usable keys.
    fn switch(
        &self,
        animation: &Animation,
        channel: &json::Channel,
        place: &str,
        report: &Report,
    ) -> Result<Option<Channel>, FormatError> {
        let Some(sampler) = animation.samplers.get(channel.sampler.value()) else {
            return Ok(None);
        };
        let open = |index: Index| {
            self.accessors
                .open_keys(report, place, index.value(), &[Type::Scalar])
        };
        let (times, values) = (open(sampler.input)?, open(sampler.output)?);
        let mut out = Channel {
            times: Vec::new(),
            values: Vec::new(),
            // There is nothing between shown and hidden.
            between: Between::Step,
            is_rotation: false,
        };
        for key in 0..times.len().min(values.len()) {
            let time = f64::from(times.floats::<1>(key)[0]);
            if time.is_finite() && out.times.last().is_none_or(|&last| time >= last) {
                out.times.push(time);
                out.values
                    .push(DVec4::splat(values.floats::<1>(key)[0].into()));
            }
        }
        Ok((!out.times.is_empty()).then_some(out))
    }

    /// The time of a sampler's last key; 0 if there is none.
    fn end(&self, animation: &Animation, sampler: usize, report: &Report) -> f64 {
        let times = animation.samplers.get(sampler).and_then(|sampler| {
            // The channel was left out, so its errors don't matter.
            self.accessors
                .open_keys(report, "", sampler.input.value(), &[Type::Scalar])
                .ok()
        });
        let times = times
            .iter()
            .flat_map(|times| (0..times.len()).map(|key| f64::from(times.floats::<1>(key)[0])));
        times.filter(|time| time.is_finite()).fold(0.0, f64::max)
    }

    /// Reads a channel, in the frame of its joint. `None` if it has no usable keys.
    fn channel(
        &self,
        animation: &Animation,
        channel: &json::Channel,
        property: Property,
        joint: usize,
        place: &str,
        left_out: &mut LeftOut,
        report: &mut Report,
    ) -> Result<Option<Channel>, FormatError> {
        let index = channel.sampler.value();
        let Some(sampler) = animation.samplers.get(index) else {
            let message = format!(
                "sampler {index} is out of range: {}",
                there_are(animation.samplers.len(), "sampler")
            );
            return Err(report.error(place, message, CHECK));
        };
        let Some(interpolation) = sampler.interpolation else {
            report.warn(
                place,
                "the sampler has an unknown interpolation",
                "the channel was left out",
            );
            return Ok(None);
        };
        let between = match interpolation {
            Interpolation::Linear => Between::Linear,
            Interpolation::Step => Between::Step,
            Interpolation::CubicSpline => Between::Cubic,
        };
        let is_rotation = property == Property::Rotation;
        let kind = if is_rotation { Type::Vec4 } else { Type::Vec3 };
        let times =
            self.accessors
                .open_keys(report, place, sampler.input.value(), &[Type::Scalar])?;
        let values = self
            .accessors
            .open_keys(report, place, sampler.output.value(), &[kind])?;
        let values = if is_rotation {
            values.into_shares()
        } else {
            values
        };
        // A cubic key has an incoming tangent, a value, and an outgoing tangent.
        let (per_key, value_at) = if between == Between::Cubic {
            (3, 1)
        } else {
            (1, 0)
        };
        if values.len() < times.len() * per_key {
            let message = format!(
                "the channel has {} for {}, expected {}",
                counted(values.len(), "value"),
                counted(times.len(), "key"),
                times.len() * per_key
            );
            report.warn(place, message, "the channel was left out");
            return Ok(None);
        }
        let RigJoint { frame, .. } = &self.rig.joints[joint];
        let convert = |at: usize, is_rate: bool| -> DVec4 {
            let [x, y, z, w] = values.floats(at);
            match property {
                Property::Rotation => {
                    let mut turn = self.basis.rotation(Quat::from_xyzw(x, y, z, w)).as_dquat();
                    // The tangents of splines are not rotations, and a spline's values go with them.
                    if per_key == 1 {
                        turn = turn.normalize();
                    }
                    DVec4::from(frame.rotation(turn))
                }
                Property::Translation => {
                    let vector = self.basis.point(Vec3::new(x, y, z)).as_dvec3();
                    let vector = if is_rate {
                        frame.direction(vector)
                    } else {
                        frame.translation(vector)
                    };
                    vector.extend(0.0)
                }
                _ => {
                    let scale = JointTransform {
                        scale: Vec3::new(x, y, z),
                        ..JointTransform::IDENTITY
                    };
                    let scale = self.basis.transform(scale).scale.as_dvec3();
                    if is_rate {
                        frame.scale(scale).extend(0.0)
                    } else {
                        self.scale(joint, scale).extend(0.0)
                    }
                }
            }
        };
        let mut out = Channel {
            times: Vec::with_capacity(times.len()),
            values: Vec::with_capacity(times.len() * per_key),
            between,
            is_rotation,
        };
        let (mut unusable, mut mirrors) = (0, false);
        for key in 0..times.len() {
            let time = f64::from(times.floats::<1>(key)[0]);
            let values = &mut [DVec4::ZERO; 3][..per_key];
            for (i, value) in values.iter_mut().enumerate() {
                *value = convert(key * per_key + i, i != value_at);
            }
            let value = values[value_at];
            let is_turn = !is_rotation || value.length_squared() > 1e-12;
            mirrors |= property == Property::Scale && value.x * value.y * value.z < 0.0;
            // Two keys at one time are a jump.
            let is_later = out.times.last().is_none_or(|&last| time >= last);
            if time.is_finite()
                && is_later
                && is_turn
                && values.iter().all(|value| value.is_finite())
            {
                out.times.push(time);
                out.values.extend_from_slice(values);
            } else {
                unusable += 1;
            }
        }
        if mirrors && left_out.mirrors[1].len() < MOST_NAMES {
            let clip = animation.name.as_deref().unwrap_or(place);
            let names = [clip, &self.rig.joints[joint].name];
            for (all, name) in left_out.mirrors.iter_mut().zip(names) {
                all.insert(name.to_owned());
            }
        }
        if unusable > 0 {
            left_out.keys.0 += unusable;
            left_out.keys.1.get_or_insert_with(|| place.to_owned());
        }
        Ok((!out.times.is_empty()).then_some(out))
    }

    /// Returns a scale in the frame of its joint. A scale near one becomes one, which makes poses
    /// faster.
    fn scale(&self, joint: usize, scale: DVec3) -> DVec3 {
        let RigJoint { frame, .. } = &self.rig.joints[joint];
        frame
            .local(Local {
                translation: DVec3::ZERO,
                rotation: DQuat::IDENTITY,
                scale,
            })
            .scale
    }
}

/// Adds names as long as there are few.
fn add_some(all: &mut BTreeSet<String>, names: BTreeSet<String>) {
    all.extend(names.into_iter().take(MOST_NAMES.saturating_sub(all.len())));
}

impl LeftOut {
    /// Adds what was left out of another clip.
    fn add(&mut self, other: Self) {
        self.elsewhere = self.elsewhere.take().or(other.elsewhere);
        add_some(&mut self.strangers, other.strangers);
        self.keys.0 += other.keys.0;
        self.keys.1 = self.keys.1.take().or(other.keys.1);
        for (all, names) in self.mirrors.iter_mut().zip(other.mirrors) {
            add_some(all, names);
        }
    }

    fn tell(self, report: &mut Report) {
        if let Some(place) = self.elsewhere {
            report.warn(
                &place,
                "channels animate something other than a node, such as a material",
                "these channels were left out",
            );
        }
        if let (count @ 1.., Some(place)) = self.keys {
            let message = format!(
                "{} earlier than the one before, or without a valid transform",
                there_are(count, "key")
            );
            report.warn(&place, message, "they were left out");
        }
        if !self.mirrors[0].is_empty() {
            let [clips, joints] = self.mirrors;
            let when = "in clips but not at rest, or the other way around";
            let message = mirrored_joints(when, [joints, clips]);
            report.warn("animations", message, MIRRORS);
        }
        if !self.strangers.is_empty() {
            let names = listed(self.strangers.iter().map(String::as_str));
            report.warn(
                "animations",
                format!(
                    "animations of nodes that are not part of the character are left out: {names}"
                ),
                "",
            );
        }
    }
}
