//! Poses of a crowd, eight characters at a time.
//!
//! A joint's matrix needs that of its parent, so a processor that computes one character's waits for most of the time,
//! and shuffles columns for the rest. Here, each lane of a register belongs to another character: eight chains of joints
//! are followed at a time, and products need no shuffles. All operations are those of [`LocalToModel`] and [`Palette`],
//! in the same order, so the results are the same to the last bit.

use super::{
    Evaluate, LocalToModel, Palette, Scratch, Stream,
    palette::split_world,
    simd::{self, Simd},
};
use crate::model::{CombinedJoints, JointIndex, Skeleton, SoaTransform};
use glam::{Affine3A, Mat4, Vec4};

/// Up to eight characters with one skeleton, on the way from their clips to their palettes.
///
/// For crowds: it takes a tenth to a fifth less time than one character after the other, blending included.
///
/// ```
/// # use bevy_marionette::{model::{CombinedJoints, Joint, JointTransform, Skeleton}, pose::{Evaluate, PoseBatch}};
/// # use glam::{Affine3A, Mat4, Vec3};
/// # let root = Joint { name: "".into(), parent: None, rest: JointTransform::IDENTITY, inverse_bind: Affine3A::IDENTITY };
/// # let skeleton = Skeleton::new(vec![root]).unwrap();
/// # let (remap, combined) = ([0], CombinedJoints::new());
/// let mut batch = PoseBatch::default();
/// for x in [0.0, 1.0, 2.0] {
///     batch.add(&Evaluate::new(&skeleton, &[]), &Affine3A::from_translation(Vec3::X * x));
/// }
/// batch.solve(&skeleton);
/// let mut palettes = [[Mat4::ZERO; 1]; PoseBatch::MOST];
/// batch.write(&skeleton, &remap, &combined, palettes.each_mut().map(|palette| &mut palette[..]));
/// assert_eq!(palettes[2][0], Mat4::from_translation(Vec3::X * 2.0));
/// assert_eq!(palettes[3][0], Mat4::ZERO);
/// ```
#[derive(Debug, Default)]
pub struct PoseBatch {
    local: [Vec<SoaTransform>; PoseBatch::MOST],
    worlds: [Affine3A; PoseBatch::MOST],
    len: usize,
    /// Whether a scale may differ from one.
    scaled: bool,
    /// Each joint, with the worlds' rotations and scales.
    model: Vec<Matrices>,
    /// The same for a few characters, one after the other.
    few: Vec<Affine3A>,
    scratch: Scratch,
}

/// A number in each lane.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
struct Lanes([Vec4; 2]);

/// A 3×4 matrix in each lane: the columns x, y, z and the translation.
#[derive(Clone, Copy, Debug, Default)]
struct Matrices([[Lanes; 3]; 4]);

/// Fewer characters are faster one by one.
const WORTH_A_BATCH: usize = 5;

impl PoseBatch {
    /// The most poses.
    pub const MOST: usize = 8;

    /// Forgets the poses.
    pub fn clear(&mut self) {
        (self.len, self.scaled) = (0, false);
    }

    /// Number of poses.
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
    pub fn add(&mut self, pose: &Evaluate, world: &Affine3A) {
        let Self { local, worlds, len, scaled, scratch, .. } = self;
        let local = &mut local[*len];
        scratch.swap_local(local);
        *scaled |= !pose.mix(scratch);
        scratch.swap_local(local);
        worlds[*len] = *world;
        *len += 1;
    }

    /// Computes the joints' matrices.
    ///
    /// # Panics
    /// If a pose is of a skeleton with fewer joints.
    pub fn solve(&mut self, skeleton: &Skeleton) {
        let (parents, unit_scale) = (skeleton.parents(), !self.scaled);
        if self.len < WORTH_A_BATCH {
            self.few.resize(self.len * parents.len(), Affine3A::IDENTITY);
            for (lane, world) in self.worlds[..self.len].iter().enumerate() {
                let (local, root) = (&self.local[lane], Some(&split_world(world).0));
                let out = &mut self.few[lane * parents.len()..][..parents.len()];
                LocalToModel { parents, local, root, unit_scale }.run(out);
            }
            return;
        }
        self.model.resize(parents.len(), Matrices::default());
        let mut local = [&self.local[0][..]; Self::MOST];
        let mut roots = [Affine3A::IDENTITY; Self::MOST];
        // Lanes without a character repeat the first.
        for lane in 0..self.len {
            local[lane] = &self.local[lane];
            roots[lane] = split_world(&self.worlds[lane]).0;
        }
        let model = &mut self.model[..];
        simd::dispatch!(s => if unit_scale {
            multiply::<_, false>(s, parents, &local, &roots, model);
        } else {
            multiply::<_, true>(s, parents, &local, &roots, model);
        });
    }

    /// Writes the palettes of one part of the characters, each as [`Palette::run`] does it.
    ///
    /// `remap` and `combined` are the part's, as for [`Palette`]. `out` has a slice for each pose, in the order in which
    /// they were added; an empty slice is left out.
    ///
    /// # Panics
    /// Like [`Palette::run`].
    pub fn write(
        &self,
        skeleton: &Skeleton,
        remap: &[JointIndex],
        combined: &CombinedJoints,
        out: [&mut [Mat4]; Self::MOST],
    ) {
        self.write_each::<false>(skeleton, remap, combined, out);
    }

    /// Like [`Self::write`], but past the caches where the processor can, as [`Palette::stream`] does it.
    ///
    /// # Panics
    /// Like [`Palette::run`].
    pub fn stream<'scope>(
        &self,
        skeleton: &Skeleton,
        remap: &[JointIndex],
        combined: &CombinedJoints,
        out: [&'scope mut [Mat4]; Self::MOST],
        _: &'scope Stream<'scope, '_>,
    ) {
        if combined.is_empty() {
            self.write_each::<true>(skeleton, remap, combined, out);
        } else {
            self.write_each::<false>(skeleton, remap, combined, out);
        }
    }

    fn write_each<const STREAM: bool>(
        &self,
        skeleton: &Skeleton,
        remap: &[JointIndex],
        combined: &CombinedJoints,
        mut out: [&mut [Mat4]; Self::MOST],
    ) {
        let (inverse_bind, joints) = (skeleton.inverse_bind(), skeleton.len());
        let wide = self.len >= WORTH_A_BATCH;
        if wide {
            simd::dispatch!(s => self.write_with::<_, STREAM>(s, inverse_bind, remap, &mut out));
            if combined.is_empty() {
                return;
            }
        }
        for (lane, out) in out[..self.len].iter_mut().enumerate().filter(|(_, out)| !out.is_empty()) {
            let model = if wide { &[] } else { &self.few[lane * joints..][..joints] };
            let (_, world) = split_world(&self.worlds[lane]);
            let palette = Palette { world, model, inverse_bind, remap, combined };
            if !wide {
                palette.write::<STREAM>(out);
            }
            palette.combine(out);
        }
    }

    #[inline(always)]
    fn write_with<S: Simd, const STREAM: bool>(
        &self,
        s: S,
        inverse_bind: &[Affine3A],
        remap: &[JointIndex],
        out: &mut [&mut [Mat4]; Self::MOST],
    ) {
        let [place_x, place_y, place_z] = Matrices::new(s, &self.worlds).0[3];
        let places = [s.load(&place_x.0), s.load(&place_y.0), s.load(&place_z.0)];
        let (zero, one) = (s.both(Vec4::ZERO), s.both(Vec4::ONE));
        let count = self.model.len().min(inverse_bind.len());
        let (model, inverse_bind) = (&self.model[..count], &inverse_bind[..count]);
        // What is written past the caches must fill whole lines of 64 bytes, or takes three times as long. A matrix has
        // 64 bytes, but allocators mostly start 16 bytes behind the beginning of a line. So a line ends with the first
        // columns of an entry, `split` of them, and begins with the others of the entry before.
        let split = out.iter().find(|out| !out.is_empty()).map_or(4, |out| columns_to_line_end(out));
        let mut heads: [&mut [Vec4]; Self::MOST] = Default::default();
        let mut lines: [&mut [[Vec4; 4]]; Self::MOST] = Default::default();
        let mut tails: [&mut [Vec4]; Self::MOST] = Default::default();
        for (lane, out) in out.iter_mut().enumerate().take(self.len) {
            if !out.is_empty() {
                let (head, rest) = bytemuck::cast_slice_mut(&mut out[..remap.len()]).split_at_mut(split % 4);
                let (whole, tail) = rest.as_chunks_mut();
                (heads[lane], lines[lane], tails[lane]) = (head, whole, tail);
            }
        }
        // The last two entries: each one's columns, of each pair of lanes.
        let mut entries = [[[Lanes::default(); 4]; 4]; 2];
        for (entry, &joint) in remap.iter().enumerate() {
            let joint = usize::from(joint);
            let mut columns = model[joint].times(s, &inverse_bind[joint]);
            for i in 0..3 {
                columns[3][i] = s.add(columns[3][i], places[i]);
            }
            for column in 0..4 {
                let [x, y, z] = columns[column];
                let lanes = s.transposed([x, y, z, if column == 3 { one } else { zero }]);
                for lane in 0..4 {
                    s.store(lanes[lane], &mut entries[entry % 2][column][lane].0);
                }
            }
            let Some(at) = (entry + split / 4).checked_sub(1) else {
                write_columns::<S, STREAM>(s, &entries[0], 0, &mut heads);
                continue;
            };
            let (now, before) = (&entries[entry % 2], &entries[(entry + 1) % 2]);
            let from = |i: usize| if split + i < 4 { &before[(split + i) % 4] } else { &now[(split + i) % 4] };
            let line = [from(0), from(1), from(2), from(3)];
            for (lane, lines) in lines.iter_mut().enumerate() {
                let (pair, half) = (lane % 4, lane / 4);
                if let Some(out) = lines.get_mut(at) {
                    for i in 0..4 {
                        s.write_row::<STREAM>(line[i][pair].0[half], &mut out[i]);
                    }
                }
            }
        }
        let last = remap.len().wrapping_sub(1);
        write_columns::<S, STREAM>(s, &entries[last % 2], split, &mut tails);
    }
}

/// Number of columns up to the end of a cache line, 1 to 4.
#[inline(always)]
fn columns_to_line_end(matrices: &[Mat4]) -> usize {
    4 - matrices.as_ptr().addr() / size_of::<Vec4>() % 4
}

/// Writes the columns of an entry from `first` on, as many as `out` has room for.
#[inline(always)]
fn write_columns<S: Simd, const STREAM: bool>(
    s: S,
    columns: &[[Lanes; 4]; 4],
    first: usize,
    out: &mut [&mut [Vec4]; PoseBatch::MOST],
) {
    for lane in 0..PoseBatch::MOST {
        for (column, out) in columns.iter().skip(first).zip(out[lane].iter_mut()) {
            s.write_row::<STREAM>(column[lane % 4].0[lane / 4], out);
        }
    }
}

impl Matrices {
    /// A matrix for each lane.
    #[inline(always)]
    fn new<S: Simd>(s: S, matrices: &[Affine3A; PoseBatch::MOST]) -> Self {
        let mut columns = [[Vec4::ZERO; 4]; PoseBatch::MOST];
        for lane in 0..PoseBatch::MOST {
            columns[lane] = s.columns(&matrices[lane]);
        }
        let mut out = Self::default();
        for (column, out) in out.0.iter_mut().enumerate() {
            let pair = |lane: usize| s.pair(columns[lane][column], columns[lane + 4][column]);
            let [x, y, z, _] = s.transposed([pair(0), pair(1), pair(2), pair(3)]);
            s.store(x, &mut out[0].0);
            s.store(y, &mut out[1].0);
            s.store(z, &mut out[2].0);
        }
        out
    }

    /// `self · b`, with the same `b` for all lanes.
    #[inline(always)]
    fn times<S: Simd>(&self, s: S, b: &Affine3A) -> [[S::Pair; 3]; 4] {
        let mut product = [[s.both(Vec4::ZERO); 3]; 4];
        let columns = s.columns(b);
        for column in 0..4 {
            let b = columns[column];
            let [x, y, z] = [s.both(Vec4::splat(b.x)), s.both(Vec4::splat(b.y)), s.both(Vec4::splat(b.z))];
            product[column] = self.times_column(s, [x, y, z], column == 3);
        }
        product
    }

    /// A column of a product, or its translation: the operations of [`Left::times`](super::matrix::Left::times).
    #[inline(always)]
    fn times_column<S: Simd>(&self, s: S, [bx, by, bz]: [S::Pair; 3], translation: bool) -> [S::Pair; 3] {
        let Self([x, y, z, t]) = self;
        let mut out = [bx; 3];
        for i in 0..3 {
            let x = s.load(&x[i].0);
            let by_x = if translation { s.fma(x, bx, s.load(&t[i].0)) } else { s.mul(x, bx) };
            out[i] = s.fma(s.load(&z[i].0), bz, s.fma(s.load(&y[i].0), by, by_x));
        }
        out
    }
}

/// The transforms of four joints, each with a character in each lane. If not `SCALE`, all scales are one.
struct Joints<S: Simd, const SCALE: bool> {
    translation: [[S::Pair; 4]; 3],
    rotation: [[S::Pair; 4]; 4],
    scale: [[S::Pair; 4]; 3],
}

impl<S: Simd, const SCALE: bool> Joints<S, SCALE> {
    /// `T · R · S` of one of the joints: the operations of [`Elements::new`](super::matrix::Elements::new).
    #[inline(always)]
    fn columns(&self, s: S, joint: usize) -> [[S::Pair; 3]; 4] {
        let Self { translation: [tx, ty, tz], rotation: [x, y, z, w], scale } = self;
        let (x, y, z, w) = (x[joint], y[joint], z[joint], w[joint]);
        let (one, minus_two) = (s.both(Vec4::ONE), s.both(Vec4::splat(-2.0)));
        let (x2, y2, z2) = (s.add(x, x), s.add(y, y), s.add(z, z));
        let (nx2, ny2, nz2) = (s.mul(x, minus_two), s.mul(y, minus_two), s.mul(z, minus_two));
        let (less_xx, less_yy) = (s.fma(x, nx2, one), s.fma(y, ny2, one));
        let mut columns = [
            [s.fma(z, nz2, less_yy), s.fma(x, y2, s.mul(w, z2)), s.fma(x, z2, s.mul(w, ny2))],
            [s.fma(x, y2, s.mul(w, nz2)), s.fma(z, nz2, less_xx), s.fma(y, z2, s.mul(w, x2))],
            [s.fma(x, z2, s.mul(w, y2)), s.fma(y, z2, s.mul(w, nx2)), s.fma(y, ny2, less_xx)],
            [tx[joint], ty[joint], tz[joint]],
        ];
        if SCALE {
            for (column, scale) in columns.iter_mut().zip(scale) {
                for element in column {
                    *element = s.mul(*element, scale[joint]);
                }
            }
        }
        columns
    }
}

/// Multiplies local transforms down the hierarchies.
#[inline(always)]
fn multiply<S: Simd, const SCALE: bool>(
    s: S,
    parents: &[Option<JointIndex>],
    local: &[&[SoaTransform]; PoseBatch::MOST],
    roots: &[Affine3A; PoseBatch::MOST],
    out: &mut [Matrices],
) {
    let roots = Matrices::new(s, roots);
    let count = parents.len().div_ceil(4);
    let [a, b, c, d, e, f, g, h] = local;
    // Of one length, so that no row is checked eight times.
    let (a, b, c, d) = (&a[..count], &b[..count], &c[..count], &d[..count]);
    let (e, f, g, h) = (&e[..count], &f[..count], &g[..count], &h[..count]);
    for row in 0..count {
        let rows = [&a[row], &b[row], &c[row], &d[row], &e[row], &f[row], &g[row], &h[row]];
        let joints = by_joint::<S, SCALE>(s, rows);
        for (i, parent) in parents[row * 4..].iter().take(4).enumerate() {
            let (done, rest) = out.split_at_mut(row * 4 + i);
            let above = parent.map_or(&roots, |parent| &done[usize::from(parent)]);
            let (columns, out) = (joints.columns(s, i), &mut rest[0].0);
            for column in 0..4 {
                let product = above.times_column(s, columns[column], column == 3);
                for i in 0..3 {
                    s.store(product[i], &mut out[column][i].0);
                }
            }
        }
    }
}

/// From eight characters' rows of four joints to four joints' transforms with a character in each lane.
#[inline(always)]
fn by_joint<S: Simd, const SCALE: bool>(
    s: S,
    [a, b, c, d, e, f, g, h]: [&SoaTransform; PoseBatch::MOST],
) -> Joints<S, SCALE> {
    macro_rules! turned {
        ($($of:tt)+) => {
            s.transposed([
                s.pair(a.$($of)+, e.$($of)+),
                s.pair(b.$($of)+, f.$($of)+),
                s.pair(c.$($of)+, g.$($of)+),
                s.pair(d.$($of)+, h.$($of)+),
            ])
        };
    }
    let translation = [turned!(translation.x), turned!(translation.y), turned!(translation.z)];
    let rotation = [turned!(rotation.x), turned!(rotation.y), turned!(rotation.z), turned!(rotation.w)];
    let mut scale = translation;
    if SCALE {
        scale = [turned!(scale.x), turned!(scale.y), turned!(scale.z)];
    }
    Joints { translation, rotation, scale }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ClipFrames, ClipTiming, Joint, JointTransform, SkeletalClip};
    use crate::pose::{ClipLayer, simd::portably, stream};
    use fastrand::Rng;
    use glam::{Quat, Vec3, Vec3A};

    const JOINTS: usize = 14;

    fn transform(random: &mut Rng, scaled: bool) -> JointTransform {
        let mut vector = |size: f32| Vec3::from_array([0; 3].map(|_| (random.f32() - 0.5) * size));
        JointTransform {
            translation: vector(2.0),
            rotation: Quat::from_vec4((vector(2.0) + Vec3::X * 0.1).extend(vector(2.0).x)).normalize(),
            scale: Vec3::ONE + vector(if scaled { 1.0 } else { 0.0 }),
        }
    }

    fn skeleton(random: &mut Rng, scaled: bool) -> Skeleton {
        let joint = |i: usize| Joint {
            name: i.to_string().into(),
            parent: (i > 0 && random.u8(..5) > 0).then(|| random.usize(..i) as u16),
            rest: transform(random, scaled),
            inverse_bind: transform(random, true).to_affine(),
        };
        Skeleton::new((0..JOINTS).map(joint).collect()).unwrap()
    }

    fn clip(random: &mut Rng, skeleton: &Skeleton, scaled: bool) -> SkeletalClip {
        let transforms = (0..3 * JOINTS).map(|_| transform(random, scaled)).collect();
        let frames = ClipFrames { joints: skeleton.names().clone(), animated: vec![], transforms };
        SkeletalClip::new(ClipTiming::new("clip", 1.0), &frames).unwrap().bind(skeleton)
    }

    fn bits(matrices: &[Vec4]) -> Vec<u32> {
        matrices.iter().flat_map(|column| column.to_array()).map(f32::to_bits).collect()
    }

    #[test]
    fn a_batch_gives_the_same_bits_as_its_characters_one_by_one() {
        let mut random = Rng::with_seed(7);
        for round in 0..if cfg!(miri) { 4 } else { 400 } {
            let scaled = random.bool();
            let skeleton = skeleton(&mut random, scaled);
            // A character with scales among others without.
            let clips = [random.bool(), random.bool()].map(|scaled| clip(&mut random, &skeleton, scaled));
            let remap: Vec<_> = (0..random.usize(..12)).map(|_| random.u16(..JOINTS as u16)).collect();
            let mut combined = CombinedJoints::new();
            if random.u8(..4) == 0 && !remap.is_empty() {
                combined.push([(0, 0.5), (remap.len() as u16 - 1, 0.5)]);
            }
            // Palettes at every offset to a cache line, with room between them that must stay as it is.
            let (length, offset) = (remap.len() + combined.len(), random.usize(..4));
            let mut expected = vec![Vec4::NAN; 4 + PoseBatch::MOST * 4 * (length + 1)];
            let mut written = expected.clone();
            let missing = random.u8(..);
            let mut batch = PoseBatch::default();
            let count = random.usize(..=PoseBatch::MOST);
            for lane in 0..count {
                let layers = [0, 1].map(|i| ClipLayer { weight: 0.5, ..ClipLayer::new(&clips[i], random.f64()) });
                let job = Evaluate::new(&skeleton, &layers[..random.usize(..=2)]);
                let world =
                    Affine3A { translation: Vec3A::splat(lane as f32), ..transform(&mut random, scaled).to_affine() };
                batch.add(&job, &world);
                if missing >> lane & 1 == 1 {
                    continue;
                }
                let mut scratch = Scratch::default();
                let (root, world) = split_world(&world);
                job.run_clips(Some(&root), &mut scratch);
                let (model, inverse_bind) = (scratch.model(), skeleton.inverse_bind());
                let out = &mut expected[offset + lane * 4 * (length + 1)..][..length * 4];
                Palette { world, model, inverse_bind, remap: &remap, combined: &combined }
                    .run(bytemuck::cast_slice_mut(out));
            }
            let mut run = |streamed: bool| {
                batch.solve(&skeleton);
                written.fill(Vec4::NAN);
                let mut out: [&mut [Mat4]; PoseBatch::MOST] = Default::default();
                let places = written[offset..].chunks_exact_mut(4 * (length + 1));
                for (lane, (out, place)) in out.iter_mut().zip(places).enumerate().take(count) {
                    if missing >> lane & 1 == 0 {
                        *out = bytemuck::cast_slice_mut(&mut place[..length * 4]);
                    }
                }
                if streamed {
                    stream(|stream| batch.stream(&skeleton, &remap, &combined, out, stream));
                } else {
                    batch.write(&skeleton, &remap, &combined, out);
                }
                bits(&written)
            };
            for streamed in [false, true] {
                assert_eq!(run(streamed), bits(&expected), "round {round}, {count} characters");
                assert_eq!(portably(|| run(streamed)), bits(&expected), "round {round}, portable");
            }
        }
    }
}
