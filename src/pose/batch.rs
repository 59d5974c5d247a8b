//! Poses of a crowd, eight characters at a time.
//!
//! A joint's matrix needs that of its parent, so a processor that computes one character's waits for most of the time,
//! and shuffles columns for the rest. Here, each lane of a register belongs to another character: eight chains of joints
//! are followed at a time, and products need no shuffles. All operations are those of [`LocalToModel`] and [`Palette`],
//! in the same order, so the results are the same to the last bit.

mod clips;
mod lanes;
mod lines;
mod means;

use super::{
    ClipLayer, Evaluate, LocalToModel, Palette, Scratch, Stream,
    palette::split_world,
    recycle,
    simd::{self, Simd},
};
use crate::model::{CombinedJoints, JointIndex, Skeleton, SoaTransform};
use clips::{MeanClip, UnpackedChannel, find_clips, is_mean, unpack_rows};
use glam::{Affine3A, Mat4, Vec4};
use lanes::{Joints, Lanes, Matrices};
use lines::Lines;
use std::mem;

/// Up to eight characters with one skeleton, on the way from their clips to their palettes.
///
/// For crowds: if the characters play the same clips, it takes about two fifths less time than one after the other,
/// blending included.
///
/// ```
/// # use bevy_marionette::{internals::{model::CombinedJoints, pose::{Evaluate, PoseBatch}}, model::{Joint, JointTransform, Skeleton}};
/// # use glam::{Affine3A, Mat4, Vec3};
/// # let root = Joint { name: "".into(), parent: None, rest: JointTransform::IDENTITY, inverse_bind: Affine3A::IDENTITY };
/// # let skeleton = Skeleton::new(vec![root]).unwrap();
/// # let (remap, combined) = ([0], CombinedJoints::new());
/// let mut batch = PoseBatch::default();
/// for x in [0.0, 1.0, 2.0] {
///     batch.add(&Evaluate::new(&skeleton, &[]), &Affine3A::from_translation(Vec3::X * x));
/// }
/// let mut palettes = [[Mat4::ZERO; 1]; PoseBatch::MOST];
/// batch.write(&skeleton, &remap, &combined, &mut palettes.each_mut().map(|palette| &mut palette[..]));
/// assert_eq!(palettes[2][0], Mat4::from_translation(Vec3::X * 2.0));
/// assert_eq!(palettes[3][0], Mat4::ZERO);
/// ```
#[derive(Debug, Default)]
pub struct PoseBatch<'a> {
    /// The layers of poses that are only a mean of clips, one pose after the other. `ends` has the
    /// end of each pose's layers.
    layers: Vec<ClipLayer<'a>>,
    ends: [usize; PoseBatch::MOST],
    /// Local poses. A mean gets one only if it is needed.
    local: [Vec<SoaTransform>; PoseBatch::MOST],
    worlds: [Affine3A; PoseBatch::MOST],
    len: usize,
    /// `true` if a scale may differ from one.
    scaled: bool,
    /// The rotations and scales of the characters' world matrices, and their translations; found for the first part.
    roots: Matrices,
    places: [Lanes; 3],
    /// Rows of joints whose matrices are computed.
    solved: usize,
    /// Each joint's matrices, including the rotations and scales of the characters' world matrices.
    model: Vec<Matrices>,
    /// The same for a few characters, one after the other.
    few: Vec<Affine3A>,
    scratch: Scratch,
    /// The clips that all characters play.
    clips: Vec<MeanClip<'a>>,
    /// What their channels have been unpacked to, if they are compressed.
    unpacked: Vec<UnpackedChannel>,
    /// The first row that isn't unpacked, as far as any has to be.
    unpacked_rows: usize,
}

/// What the poses of a batch are: means of the same clips, each of which moves every joint.
const MEANS: u8 = 0;
/// Means of the same clips, of which some leave joints at rest.
const PARTIAL_MEANS: u8 = 1;
/// Local poses, in which all scales are one.
const POSES: u8 = 2;
/// Any local poses.
const SCALED_POSES: u8 = 3;

/// The fewest characters that are faster together than one by one.
const WORTH_A_BATCH: usize = 5;

impl<'a> PoseBatch<'a> {
    /// The most poses.
    pub const MOST: usize = 8;

    /// Forgets the poses.
    pub fn clear(&mut self) {
        (self.len, self.scaled, self.solved) = (0, false, 0);
        self.layers.clear();
    }

    /// Forgets the poses and their clips, so that the memory can be kept for others.
    pub fn recycled(mut self) -> PoseBatch<'static> {
        self.clear();
        PoseBatch {
            layers: recycle(self.layers),
            clips: recycle(self.clips),
            ..self
        }
    }

    /// Returns the number of poses.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if there are no poses.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds the pose of a character at a place in the world, from its clips alone.
    ///
    /// # Panics
    /// If there are [`Self::MOST`] already, or like [`Evaluate::run_clips`].
    pub fn add(&mut self, pose: &Evaluate<'_, 'a>, world: &Affine3A) {
        let Self {
            layers,
            ends,
            local,
            worlds,
            len,
            scaled,
            solved,
            scratch,
            ..
        } = self;
        // Matrices of an earlier set of poses are out of date.
        *solved = 0;
        if is_mean(pose) {
            layers.extend_from_slice(pose.layers);
        } else {
            let local = &mut local[*len];
            // Swapped in and out, so that the pose is mixed in place and nothing is copied.
            scratch.swap_local(local);
            *scaled |= !pose.mix(scratch);
            scratch.swap_local(local);
        }
        ends[*len] = layers.len();
        worlds[*len] = *world;
        *len += 1;
    }

    /// Writes the palettes of one part of the characters, each as [`Palette::run`] does it.
    ///
    /// `remap` and `combined` are the part's, as for [`Palette`]. `out` has a slice for each pose, in the order in which
    /// they were added; an empty slice is left out. The slices are taken, so that the same list can be filled for the next part.
    /// All parts of a batch must have the skeleton of its poses.
    ///
    /// # Panics
    /// If a pose is of a skeleton with fewer joints, or like [`Palette::run`].
    pub fn write(
        &mut self,
        skeleton: &Skeleton,
        remap: &[JointIndex],
        combined: &CombinedJoints,
        out: &mut [&mut [Mat4]; PoseBatch::MOST],
    ) {
        self.write_each(skeleton, remap, combined, out, false);
    }

    /// Like [`Self::write`], but past the caches where the processor can, as [`Palette::stream`] does it.
    ///
    /// # Panics
    /// Like [`Self::write`].
    pub fn stream<'scope>(
        &mut self,
        skeleton: &Skeleton,
        remap: &[JointIndex],
        combined: &CombinedJoints,
        out: &mut [&'scope mut [Mat4]; PoseBatch::MOST],
        _: &'scope Stream<'scope, '_>,
    ) {
        // Combined joints are made from matrices that were just written, and streamed ones can't be read
        // back yet.
        self.write_each(skeleton, remap, combined, out, combined.is_empty());
    }

    fn write_each(
        &mut self,
        skeleton: &Skeleton,
        remap: &[JointIndex],
        combined: &CombinedJoints,
        out: &mut [&mut [Mat4]; PoseBatch::MOST],
        stream: bool,
    ) {
        // Slots past the last pose are left out, like those with empty slices.
        for out in &mut out[self.len..] {
            *out = &mut [];
        }
        let inverse_bind = skeleton.inverse_bind();
        let wide = self.len >= WORTH_A_BATCH;
        if !wide {
            self.solve_few(skeleton);
        } else if self.find_clips() {
            if self.clips.iter().all(MeanClip::moves_all) {
                simd::dispatch!(wide, s => self.write_with::<_, MEANS>(s, skeleton, remap, out, stream));
            } else {
                simd::dispatch!(wide, s => self.write_with::<_, PARTIAL_MEANS>(s, skeleton, remap, out, stream));
            }
        } else {
            self.mix_means(skeleton);
            if self.scaled {
                simd::dispatch!(wide, s => self.write_with::<_, SCALED_POSES>(s, skeleton, remap, out, stream));
            } else {
                simd::dispatch!(wide, s => self.write_with::<_, POSES>(s, skeleton, remap, out, stream));
            }
        }
        // Taken even if nothing is left to do with them: matrices that are streamed must not be read yet.
        let mut out = mem::take(out);
        // `write_with` has written everything else.
        if wide && combined.is_empty() {
            return;
        }
        for (lane, out) in out
            .iter_mut()
            .enumerate()
            .filter(|(_, out)| !out.is_empty())
        {
            let model = if wide {
                &[]
            } else {
                &self.few[lane * skeleton.len()..][..skeleton.len()]
            };
            let (_, world) = split_world(&self.worlds[lane]);
            let palette = Palette {
                world,
                model,
                inverse_bind,
                remap,
                combined,
            };
            if !wide {
                palette.write(out, stream);
            }
            palette.combine(out);
        }
    }

    /// Finds the clips whose means the poses are. Returns `false` if not all are, or not of the same clips.
    fn find_clips(&mut self) -> bool {
        let Self {
            layers,
            ends,
            len,
            solved,
            clips,
            unpacked,
            unpacked_rows,
            ..
        } = self;
        if *solved > 0 {
            // Found for an earlier part.
            return !clips.is_empty();
        }
        *unpacked_rows = 0;
        find_clips(*len, |lane| layers_of(layers, ends, lane), clips, unpacked)
    }

    /// Mixes the local poses of means, unless there are matrices already.
    fn mix_means(&mut self, skeleton: &Skeleton) {
        let Self {
            layers,
            ends,
            local,
            len,
            solved,
            scratch,
            ..
        } = self;
        if *solved > 0 {
            return;
        }
        for (lane, local) in local[..*len].iter_mut().enumerate() {
            let layers = layers_of(layers, ends, lane);
            if !layers.is_empty() {
                scratch.swap_local(local);
                Evaluate::new(skeleton, layers).mix(scratch);
                scratch.swap_local(local);
            }
        }
    }

    /// Computes the joints' matrices one character after the other.
    fn solve_few(&mut self, skeleton: &Skeleton) {
        self.mix_means(skeleton);
        let (parents, unit_scale) = (skeleton.parents(), !self.scaled);
        if mem::replace(&mut self.solved, skeleton.rows()) == skeleton.rows() {
            return;
        }
        self.few
            .resize(self.len * parents.len(), Affine3A::IDENTITY);
        for (lane, world) in self.worlds[..self.len].iter().enumerate() {
            let (local, root) = (&self.local[lane], Some(&split_world(world).0));
            let out = &mut self.few[lane * parents.len()..][..parents.len()];
            LocalToModel {
                parents,
                local,
                root,
                unit_scale,
            }
            .run(out);
        }
    }

    /// Writes the palettes, and computes each row of joints when an entry needs it: writing to memory then overlaps with
    /// arithmetic. `OF` is what the poses are: [`MEANS`], [`PARTIAL_MEANS`], [`POSES`], or [`SCALED_POSES`].
    #[inline(always)]
    fn write_with<S: Simd, const OF: u8>(
        &mut self,
        s: S,
        skeleton: &Skeleton,
        remap: &[JointIndex],
        out: &mut [&mut [Mat4]; PoseBatch::MOST],
        stream: bool,
    ) {
        let (parents, inverse_bind) = (skeleton.parents(), skeleton.inverse_bind());
        let count = parents.len().min(inverse_bind.len());
        let (parents, inverse_bind) = (&parents[..count], &inverse_bind[..count]);
        let mut model = mem::take(&mut self.model);
        if self.solved == 0 {
            model.resize(count, Matrices::default());
            let mut roots = [Affine3A::IDENTITY; PoseBatch::MOST];
            for (root, world) in roots.iter_mut().zip(&self.worlds[..self.len]) {
                *root = split_world(world).0;
            }
            self.roots = Matrices::new(s, &roots);
            [.., self.places] = Matrices::new(s, &self.worlds).0;
        }
        let (joints, mut solved) = (&mut model[..count], self.solved);
        // Lanes without a character repeat the first.
        let mut local = [&self.local[0][..]; PoseBatch::MOST];
        for (local, of_lane) in local.iter_mut().zip(&self.local[..self.len]) {
            *local = of_lane;
        }
        // Cut to length once, so that the loop below needs no bounds check. Means have no local poses.
        let are_means = OF == MEANS || OF == PARTIAL_MEANS;
        if !are_means {
            for local in &mut local {
                *local = &local[..count.div_ceil(4)];
            }
        }
        let (roots, [x, y, z]) = (&self.roots, &self.places);
        let places = [s.load(&x.0), s.load(&y.0), s.load(&z.0)];
        let (zero, one) = (s.both(Vec4::ZERO), s.both(Vec4::ONE));
        let mut lines = Lines::new(out, remap.len(), stream);
        for &joint in remap {
            let joint = usize::from(joint);
            // Parents come before their children, so rows up to the joint's own are all that it depends
            // on.
            while solved * 4 <= joint {
                if are_means {
                    // A few rows at a time: all at once may take more memory than the nearest cache has, and row by row takes
                    // a call for each.
                    if solved >= self.unpacked_rows {
                        self.unpacked_rows = unpack_rows(&self.clips, &mut self.unpacked, solved);
                    }
                    let (clips, unpacked, rest) = (&self.clips, &self.unpacked, skeleton.rest());
                    let mean = if OF == PARTIAL_MEANS {
                        Joints::mean::<true>(s, clips, unpacked, rest, solved)
                    } else {
                        Joints::mean::<false>(s, clips, unpacked, rest, solved)
                    };
                    mean.solve(s, solved, parents, roots, joints);
                } else {
                    let [a, b, c, d, e, f, g, h] = &local;
                    let rows = [a, b, c, d, e, f, g, h].map(|local| &local[solved]);
                    if OF == SCALED_POSES {
                        Joints::<S, true>::new(s, rows).solve(s, solved, parents, roots, joints);
                    } else {
                        Joints::<S, false>::new(s, rows).solve(s, solved, parents, roots, joints);
                    }
                }
                solved += 1;
            }
            let mut columns = joints[joint].times(s, &inverse_bind[joint]);
            for i in 0..3 {
                columns[3][i] = s.add(columns[3][i], places[i]);
            }
            let mut lanes = [[zero; 4]; 4];
            for column in 0..4 {
                let [x, y, z] = columns[column];
                lanes[column] = s.transposed([x, y, z, if column == 3 { one } else { zero }]);
            }
            lines.push(s, &lanes);
        }
        lines.finish(s);
        (self.model, self.solved) = (model, solved);
    }
}

/// Returns the layers of a pose that is a mean of clips, or an empty slice for any other pose.
fn layers_of<'l, 'a>(
    layers: &'l [ClipLayer<'a>],
    ends: &[usize],
    lane: usize,
) -> &'l [ClipLayer<'a>] {
    let start = lane.checked_sub(1).map_or(0, |before| ends[before]);
    &layers[start..ends[lane]]
}

#[cfg(test)]
#[path = "tests/batch.rs"]
mod tests;
