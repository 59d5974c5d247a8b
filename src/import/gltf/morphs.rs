//! Morph targets: their names, weights at rest, and how animations move them.

use super::{
    accessors::Accessors,
    json::{Animation, Channel, ChannelTarget, Index, Property, Sampler, Type},
    samplers::{Keys, sampler_of},
    vrm::Vrm,
};
use crate::{
    format::FormatError,
    import::{
        ImportLimits,
        keys::Between,
        names::{given, named},
        nodes::Rig,
        report::Report,
        shared_morphs::{Given, SharedMorphs},
        weights::WeightCurve,
    },
    model::{MorphIndex, Morphs},
    plural::there_are,
};
use std::collections::{BTreeMap, HashMap};

/// The morph targets of a file.
pub(super) struct FileMorphs {
    pub(super) morphs: Morphs,
    /// Per node, the morph target of each of its mesh's targets.
    of_node: BTreeMap<usize, Vec<MorphIndex>>,
    /// Per animation, how it moves targets.
    curves: Vec<BTreeMap<MorphIndex, WeightCurve>>,
}

/// Weights of a node's targets in an animation.
type NodeCurves = Vec<WeightCurve>;

impl FileMorphs {
    pub(super) fn read(
        accessors: &Accessors,
        rig: &Rig,
        vrm: &Vrm,
        limits: &ImportLimits,
        report: &mut Report,
    ) -> Result<Self, FormatError> {
        let mut binds = vrm.binds();
        let counts = target_counts(accessors, rig, limits, report)?;
        let animations = &accessors.root.animations;
        let mut moved: HashMap<usize, BTreeMap<usize, NodeCurves>> = HashMap::new();
        for (at, animation) in animations.iter().enumerate() {
            let place = format!("animations[{at}]");
            let read = Reader {
                accessors,
                counts: &counts,
            };
            for (node, curves) in read.animation(animation, &place, report)? {
                moved.entry(node).or_default().insert(at, curves);
            }
        }
        let mut shared = SharedMorphs::default();
        let mut of_node = BTreeMap::new();
        for (&node, &count) in &counts {
            accessors.charge(report, "meshes", count as u64)?;
            let mut curves = moved.remove(&node).unwrap_or_default();
            let names = target_names(accessors, node, count);
            let given = names.into_iter().enumerate().map(|(target, name)| {
                let of_target = |(at, curves): (&usize, &mut NodeCurves)| {
                    let curve = std::mem::replace(&mut curves[target], WeightCurve::NONE);
                    curve.moves().then_some((*at, curve))
                };
                Given {
                    name,
                    rest: rest_weight(accessors, node, target),
                    curves: curves.iter_mut().filter_map(of_target).collect(),
                    expressions: binds.remove(&(node, target)).unwrap_or_default(),
                }
            });
            of_node.insert(node, shared.add_mesh(given));
            limits.check_morphs(report.file, shared.len())?;
        }
        if !vrm.animated.is_empty() {
            limits.check_morphs(report.file, vrm.animated.len())?;
            shared.add_mesh(animated_expressions(accessors, vrm, report)?);
            limits.check_morphs(report.file, shared.len())?;
        }
        let (morphs, curves) = shared.finish(animations.len(), "meshes", report);
        let list = |node: usize| of_node.get(&node).map_or(&[][..], |list: &Vec<_>| list);
        let morphs = vrm.with_expressions(morphs, list);
        Ok(Self {
            morphs,
            of_node,
            curves,
        })
    }

    /// The morph target of each target of a node's mesh.
    pub(super) fn of_node(&self, node: usize) -> &[MorphIndex] {
        self.of_node.get(&node).map_or(&[], |list| list)
    }

    /// Returns the weight curves of an animation, by morph target.
    pub(super) fn curves(&self, animation: usize) -> &BTreeMap<MorphIndex, WeightCurve> {
        &self.curves[animation]
    }
}

/// The expressions that a `.vrma` moves, as targets of their names. Their weights are translations of nodes along X.
fn animated_expressions(
    accessors: &Accessors,
    vrm: &Vrm,
    report: &mut Report,
) -> Result<Vec<Given>, FormatError> {
    let counts = BTreeMap::new();
    let read = Reader {
        accessors,
        counts: &counts,
    };
    let mut curves: BTreeMap<usize, BTreeMap<usize, WeightCurve>> = BTreeMap::new();
    for (at, animation) in accessors.root.animations.iter().enumerate() {
        for (channel, contents) in animation.channels.iter().enumerate() {
            let node = contents.target.node.map(Index::value);
            let node = node.filter(|node| vrm.animated.contains_key(node));
            let (Some(node), Some(Property::Translation)) = (node, contents.target.path) else {
                continue;
            };
            let place = format!("animations[{at}].channels[{channel}]");
            let Some(sampler) = animation.samplers.get(contents.sampler.value()) else {
                continue;
            };
            if let Some(found) = read.channel(sampler, 1, Type::Vec3, &place, report)? {
                let of_node = curves.entry(node).or_default();
                found.into_iter().for_each(|curve| {
                    of_node.entry(at).or_insert(curve);
                });
            }
        }
    }
    let given = vrm.animated.iter().map(|(node, name)| Given {
        name: name.to_string(),
        rest: 0.0,
        curves: curves.remove(node).unwrap_or_default(),
        expressions: Vec::new(),
    });
    Ok(given.collect())
}

/// For each node of the rig whose mesh has targets, how many: the most of any primitive, within what can be indexed.
fn target_counts(
    accessors: &Accessors,
    rig: &Rig,
    limits: &ImportLimits,
    report: &Report,
) -> Result<BTreeMap<usize, usize>, FormatError> {
    let root = accessors.root;
    let mut counts = BTreeMap::new();
    for &node in &rig.meshes {
        let Some(at) = root.nodes[node].mesh.map(Index::value) else {
            continue;
        };
        let Some(mesh) = root.meshes.get(at) else {
            continue;
        };
        // Any number of nodes may show a mesh of many primitives.
        let names = mesh.primitives.iter().map(|p| 1 + p.target_names.len());
        let names: usize = names.sum();
        accessors.charge(report, &format!("meshes[{at}]"), names as u64)?;
        // Primitives of a mesh should have the same number of targets. Those with fewer lack the last ones.
        let most = mesh.primitives.iter().map(|p| p.targets.len()).max();
        if let Some(most) = most.filter(|&most| most > 0) {
            // Before channels are read, which have weights of each.
            limits.check_morphs(report.file, most)?;
            counts.insert(node, most);
        }
    }
    Ok(counts)
}

/// The names of a node's targets: from `extras.targetNames` of the mesh, or of a primitive, or after the mesh.
fn target_names(accessors: &Accessors, node: usize, count: usize) -> Vec<String> {
    let root = accessors.root;
    let mesh = root.nodes[node]
        .mesh
        .and_then(|mesh| root.meshes.get(mesh.value()));
    let mut names = vec![None; count];
    // Exporters write the names to either place.
    let lists = mesh.into_iter().flat_map(|mesh| {
        let primitives = mesh
            .primitives
            .iter()
            .map(|primitive| &primitive.target_names);
        std::iter::once(&mesh.target_names).chain(primitives)
    });
    for list in lists {
        for (name, found) in names.iter_mut().zip(list) {
            *name = name.or_else(|| given(found.as_deref()?));
        }
    }
    let of_mesh = mesh.and_then(|mesh| mesh.name.as_deref());
    let after = [of_mesh, root.nodes[node].name.as_deref()];
    let after = after.into_iter().flatten().find_map(given);
    let after = format!("{}.", after.unwrap_or("morph"));
    let numbered = |(target, name)| named([name], &after, target);
    names.into_iter().enumerate().map(numbered).collect()
}

/// A target's weight in a node, which goes before that of its mesh.
fn rest_weight(accessors: &Accessors, node: usize, target: usize) -> f32 {
    let root = accessors.root;
    let of_mesh = || {
        root.meshes
            .get(root.nodes[node].mesh?.value())?
            .weights
            .as_ref()
    };
    let weights = root.nodes[node].weights.as_ref().or_else(of_mesh);
    let weight = weights.and_then(|weights| weights.get(target).copied());
    weight.filter(|weight| is_usable(*weight)).unwrap_or(0.0)
}

/// Weights beyond this are not meant.
fn is_usable(weight: f32) -> bool {
    weight.abs() <= 1e6
}

impl WeightCurve {
    const NONE: Self = Self {
        times: Vec::new(),
        values: Vec::new(),
        between: Between::Linear,
    };

    fn moves(&self) -> bool {
        !self.times.is_empty()
    }
}

struct Reader<'a> {
    accessors: &'a Accessors<'a>,
    counts: &'a BTreeMap<usize, usize>,
}

impl Reader<'_> {
    /// Reads the weights of an animation, by node.
    fn animation(
        &self,
        animation: &Animation,
        place: &str,
        report: &mut Report,
    ) -> Result<BTreeMap<usize, NodeCurves>, FormatError> {
        let mut out = BTreeMap::new();
        for (at, channel) in animation.channels.iter().enumerate() {
            let target = match channel.target.path {
                Some(Property::MorphTargetWeights) => None,
                Some(Property::MorphTargetWeight(target)) => Some(target as usize),
                _ => continue,
            };
            let place = format!("{place}.channels[{at}]");
            let nodes = self.nodes(channel, &place, report)?;
            let count = nodes.iter().map(|node| self.counts[node]).max();
            let Some(count) = count.filter(|&count| target.is_none_or(|target| target < count))
            else {
                let message = "weights of a node without morph targets are animated";
                report.warn(&place, message, "the channel was left out");
                continue;
            };
            let sampler = sampler_of(animation, channel, &place, report)?;
            let first = target.unwrap_or(0);
            let width = target.map_or(count, |_| 1);
            let is_taken = |node: &usize| {
                let curves: Option<&NodeCurves> = out.get(node);
                curves.is_some_and(|all| all[first..first + width].iter().any(WeightCurve::moves))
            };
            if nodes.iter().any(is_taken) {
                report.warn(
                    &place,
                    "another channel has the same target",
                    "the first one counts",
                );
                continue;
            }
            let Some(curves) = self.channel(sampler, width, Type::Scalar, &place, report)? else {
                continue;
            };
            let keys: usize = curves.iter().map(|curve| curve.values.len()).sum();
            for node in nodes {
                self.accessors
                    .charge(report, &place, (count + keys) as u64)?;
                let none = || vec![WeightCurve::NONE; count];
                let all = out.entry(node).or_insert_with(none);
                all[first..first + width].clone_from_slice(&curves);
            }
        }
        Ok(out)
    }

    /// Returns the nodes with morph targets whose weights a channel animates: one, or those that show a mesh and have no weights
    /// of their own.
    fn nodes(
        &self,
        channel: &Channel,
        place: &str,
        report: &Report,
    ) -> Result<Vec<usize>, FormatError> {
        let ChannelTarget { node, mesh, .. } = channel.target;
        if mesh.is_none() {
            let known = |node: &usize| self.counts.contains_key(node);
            let node = node.map(Index::value).filter(known);
            return Ok(Vec::from_iter(node));
        }
        // Any number of channels may animate a mesh that any number of nodes show.
        self.accessors
            .charge(report, place, self.counts.len() as u64)?;
        let nodes = &self.accessors.root.nodes;
        let is_meant = |at: &usize| nodes[*at].mesh == mesh && nodes[*at].weights.is_none();
        Ok(self.counts.keys().copied().filter(is_meant).collect())
    }

    /// Reads a channel: a curve per target. `None` if it has no usable keys. Of vectors, the first component is the weight.
    fn channel(
        &self,
        sampler: &Sampler,
        targets: usize,
        kind: Type,
        place: &str,
        report: &mut Report,
    ) -> Result<Option<NodeCurves>, FormatError> {
        let Some(keys) = Keys::open(self.accessors, sampler, (kind, targets), place, report)?
        else {
            return Ok(None);
        };
        let (between, (per_key, _)) = (keys.between, keys.per_key());
        let mut curves = vec![
            WeightCurve {
                between,
                ..WeightCurve::NONE
            };
            targets
        ];
        let mut unusable = 0;
        let mut last = f64::NEG_INFINITY;
        for key in 0..keys.len() {
            let time = keys.time(key);
            let value = |target: usize, i: usize| {
                let at = (key * per_key + i) * targets + target;
                match kind {
                    Type::Vec3 => keys.values.floats::<3>(at)[0],
                    _ => keys.values.floats::<1>(at)[0],
                }
            };
            let is_valid = |target| (0..per_key).all(|i| is_usable(value(target, i)));
            // A key that isn't valid for one target is left out for all, so that they keep the same times.
            if !time.is_finite() || time < last || !(0..targets).all(is_valid) {
                unusable += 1;
                continue;
            }
            last = time;
            for (target, curve) in curves.iter_mut().enumerate() {
                curve.times.push(time);
                curve
                    .values
                    .extend((0..per_key).map(|i| f64::from(value(target, i))));
            }
        }
        if unusable > 0 {
            let message = format!(
                "{} earlier than the one before, or without a valid weight",
                there_are(unusable, "key")
            );
            report.warn(place, message, "they were left out");
        }
        Ok((last > f64::NEG_INFINITY).then_some(curves))
    }
}
