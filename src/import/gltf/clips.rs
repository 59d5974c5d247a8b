//! Animations → clips.

use super::{
    accessors::Accessors,
    curves::{Channel, Motion},
    document::out_of_range,
    extras,
    json::{self, Animation, Index, Property, Type},
    morphs::FileMorphs,
    nodes::{Local, Rig, RigJoint},
    samplers::{Keys, sampler_of},
    shown::Switched,
    vrm::Vrm,
};
use crate::{
    format::FormatError,
    import::{
        ImportLimits,
        axes::Basis,
        keys::{Between, KeyTrack},
        names::named,
        report::Report,
        resample::Curve,
        scene::{Bare, Clips, FileClips, MOST_NAMES, Mirrored, SceneClip, add_names},
    },
    plural::there_are,
};
use glam::{DQuat, DVec3, DVec4, Quat, Vec3};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    sync::Arc,
};

/// The most animations whose keys are in memory at once.
const AT_ONCE: usize = 64;

/// Reads the animations of a file.
pub(super) struct AnimationReader<'a> {
    pub(super) accessors: &'a Accessors<'a>,
    pub(super) basis: &'a Basis,
    pub(super) rig: &'a Rig,
    /// Nodes that clips show and hide.
    pub(super) switched: &'a [Switched],
    pub(super) morphs: &'a FileMorphs,
    pub(super) vrm: &'a Vrm,
}

/// An animation that was read.
struct Read<'a> {
    /// Its keys, or the name of one that moves nothing.
    clip: Result<SceneClip, String>,
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
    mirrored: Mirrored,
}

impl AnimationReader<'_> {
    /// Imports the clips for a model, whose skeleton and parts are complete.
    pub(super) fn run(
        &self,
        bare: &mut Bare,
        limits: &ImportLimits,
        report: &mut Report,
    ) -> Result<FileClips, FormatError> {
        let animations = &self.accessors.root.animations;
        if animations.is_empty() {
            return Ok(FileClips::default());
        }
        let names = bare.model.skeleton.morphs().names().to_vec();
        let (mut clips, mut left_out) =
            (Clips::new("animations", bare, limits), LeftOut::default());
        if self.vrm.is_animation {
            clips.are_for_any_body();
        }
        let numbered: Vec<(usize, &Animation)> = animations.iter().enumerate().collect();
        // Not all at once, because their keys take memory.
        for some in numbered.chunks(AT_ONCE) {
            let keys = some
                .iter()
                .map(|(_, animation)| self.keys(animation))
                .fold(0, usize::saturating_add);
            let read = self.accessors.read_all(some, keys, |&(at, animation)| {
                self.read(at, animation, &names, report.file)
            })?;
            let mut batch = Vec::with_capacity(read.len());
            for Read {
                clip,
                left_out: more,
                report: own,
            } in read
            {
                left_out.add(more);
                report.append(own);
                match clip {
                    Ok(clip) => batch.push(clip),
                    Err(name) => clips.leave_out_empty(name),
                }
            }
            clips.add(batch, report)?;
        }
        clips
            .mirrored
            .append(std::mem::take(&mut left_out.mirrored));
        let clips = clips.finish(report);
        left_out.tell(report);
        Ok(clips)
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

    /// Reads an animation. `morphs` are the names of the model's morph targets.
    fn read<'r>(
        &self,
        at: usize,
        animation: &Animation,
        morphs: &[Arc<str>],
        file: &'r str,
    ) -> Result<Read<'r>, FormatError> {
        let place = format!("animations[{at}]");
        let name = named([animation.name.as_deref()], "clip", at);
        let (mut left_out, mut report) = (LeftOut::default(), Report::new(file));
        let (motions, end) = self.motions(animation, &place, &mut left_out, &mut report)?;
        let mut weights = self.morphs.curves(at).clone();
        if motions.iter().all(Motion::is_still) && weights.is_empty() {
            return Ok(Read {
                clip: Err(name),
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
        let curves: Vec<Curve> = motions.into_iter().map(Motion::into_curve).collect();
        let end = curves.iter().map(Curve::end).fold(end, f64::max);
        let extras = extras::of_animation(animation, &place, &mut report);
        if let Some(moved) = &extras.morphs {
            let is_moved = |name: &Arc<str>| moved.iter().any(|moved| **moved == **name);
            weights.retain(|&morph, _| is_moved(&morphs[usize::from(morph)]));
        }
        // Keys are in single precision. The duration in the extras is exact, unless the keys
        // were changed since.
        let is_near = |duration: &f64| (duration - end).abs() <= 1e-6 * end.max(1.0);
        let clip = SceneClip {
            place,
            name,
            keyed,
            weights,
            keys: curves.iter().map(Curve::len).sum(),
            curves,
            end,
            duration: Some(extras.duration.filter(is_near).unwrap_or(end)),
            frames: extras.frames,
            is_additive: extras.additive,
            callbacks: extras.callbacks,
            entry: extras.entry,
        };
        Ok(Read {
            clip: Ok(clip),
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
            let moved = channel.target.node.map(Index::value);
            if moved.is_some_and(|node| self.vrm.is_proxy(node)) {
                continue;
            }
            let Some((node, property)) = self.target(channel, &place, left_out, report)? else {
                continue;
            };
            if property == Property::Visibility {
                if let Some(switch) = self.switch(animation, channel, &place, report)? {
                    switches.entry(node).or_insert(switch);
                }
                continue;
            }
            let Some(joint) = self.rig.of_node[node] else {
                self.leave_out_stranger(node, left_out);
                continue;
            };
            let target = (joint, property);
            let curve = self.channel(animation, channel, target, &place, left_out, report)?;
            let Some(curve) = curve else {
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

    /// Returns the node that a channel moves, and its property. `None` for weights, see `morphs.rs`, and for what can't be moved.
    fn target(
        &self,
        channel: &json::Channel,
        place: &str,
        left_out: &mut LeftOut,
        report: &mut Report,
    ) -> Result<Option<(usize, Property)>, FormatError> {
        let json::ChannelTarget { node, path, .. } = channel.target;
        if path.is_some_and(Property::is_weights) {
            return Ok(None);
        }
        let Some(node) = node.map(Index::value) else {
            left_out.elsewhere.get_or_insert_with(|| place.to_owned());
            return Ok(None);
        };
        let nodes = self.accessors.root.nodes.len();
        if node >= nodes {
            return Err(out_of_range("node", node, nodes, place, report));
        }
        if path.is_none() {
            let message = "the channel's target has an unknown path";
            report.warn(place, message, "it was left out");
        }
        Ok(path.map(|property| (node, property)))
    }

    /// Takes note of a node that isn't a joint. The transform of a skin's own node has no effect.
    fn leave_out_stranger(&self, node: usize, left_out: &mut LeftOut) {
        let target = &self.accessors.root.nodes[node];
        if target.skin.is_none() && left_out.strangers.len() < MOST_NAMES {
            let name = named([target.name.as_deref()], "node", node);
            left_out.strangers.insert(name);
        }
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
            let keys = by.iter().map(|node| switches[node].keys.times.len()).sum();
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
        let mut out = KeyTrack {
            times: Vec::new(),
            values: Vec::new(),
            // There is nothing between shown and hidden.
            between: Between::Step,
        };
        for key in 0..times.len().min(values.len()) {
            let time = f64::from(times.floats::<1>(key)[0]);
            if time.is_finite() && out.times.last().is_none_or(|&last| time >= last) {
                out.times.push(time);
                out.values
                    .push(DVec4::splat(values.floats::<1>(key)[0].into()));
            }
        }
        Ok((!out.times.is_empty()).then_some(Channel {
            keys: out,
            is_rotation: false,
        }))
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
        (joint, property): (usize, Property),
        place: &str,
        left_out: &mut LeftOut,
        report: &mut Report,
    ) -> Result<Option<Channel>, FormatError> {
        let sampler = sampler_of(animation, channel, place, report)?;
        let is_rotation = property == Property::Rotation;
        let kind = if is_rotation { Type::Vec4 } else { Type::Vec3 };
        let Some(keys) = Keys::open(self.accessors, sampler, (kind, 1), place, report)? else {
            return Ok(None);
        };
        let (per_key, value_at) = keys.per_key();
        let mut out = KeyTrack {
            times: Vec::with_capacity(keys.len()),
            values: Vec::with_capacity(keys.len() * per_key),
            between: keys.between,
        };
        let (mut unusable, mut mirrors) = (0, false);
        for key in 0..keys.len() {
            let time = keys.time(key);
            let values = &mut [DVec4::ZERO; 3][..per_key];
            for (i, value) in values.iter_mut().enumerate() {
                // The tangents of splines are not rotations, and a spline's values go with them.
                let is_rate = i != value_at || (is_rotation && per_key > 1);
                let given = keys.values.floats(key * per_key + i);
                *value = self.convert((joint, property), given, is_rate);
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
        if mirrors {
            let clip = animation.name.as_deref().unwrap_or(place);
            left_out.mirrored.add(clip, &self.rig.joints[joint].name);
        }
        if unusable > 0 {
            left_out.keys.0 += unusable;
            left_out.keys.1.get_or_insert_with(|| place.to_owned());
        }
        Ok((!out.times.is_empty()).then_some(Channel {
            keys: out,
            is_rotation,
        }))
    }

    /// Converts a value or a tangent of a key to the frame of its joint.
    #[inline]
    fn convert(
        &self,
        (joint, property): (usize, Property),
        [x, y, z, w]: [f32; 4],
        is_rate: bool,
    ) -> DVec4 {
        let (RigJoint { frame, .. }, basis) = (&self.rig.joints[joint], self.basis);
        match property {
            Property::Rotation => {
                let turn = basis.rotation(Quat::from_xyzw(x, y, z, w)).as_dquat();
                DVec4::from(frame.rotation(if is_rate { turn } else { turn.normalize() }))
            }
            Property::Translation => {
                let vector = basis.point(Vec3::new(x, y, z)).as_dvec3();
                let vector = if is_rate {
                    frame.direction(vector)
                } else {
                    frame.translation(vector)
                };
                vector.extend(0.0)
            }
            _ => {
                let scale = basis.scale_of(Vec3::new(x, y, z)).as_dvec3();
                let scale = if is_rate {
                    frame.scale(scale)
                } else {
                    self.scale(joint, scale)
                };
                scale.extend(0.0)
            }
        }
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

impl LeftOut {
    /// Adds what was left out of another clip.
    fn add(&mut self, other: Self) {
        self.elsewhere = self.elsewhere.take().or(other.elsewhere);
        add_names(&mut self.strangers, other.strangers);
        self.keys.0 += other.keys.0;
        self.keys.1 = self.keys.1.take().or(other.keys.1);
        self.mirrored.append(other.mirrored);
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
        let what = "animations of nodes that are not part of the character are left out";
        report.warn_of("animations", what, self.strangers, "");
    }
}
