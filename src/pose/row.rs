//! A row of a pose as a [`Product`] reckons with it: two rows of numbers to a vector where there are
//! such vectors.

use super::product::Product;
use super::soa::{sqrt, toward};
use crate::model::{SoaQuat, SoaTransform, SoaVec3};
use glam::{BVec4A, Vec4};

/// The transforms of four joints. Where not `SCALE`, every scale is one, and none is looked at.
#[derive(Clone, Copy)]
pub(crate) struct Row<P: Product, const SCALE: bool> {
    pub(crate) translation: Vectors<P>,
    pub(crate) rotation: Turns<P>,
    pub(crate) scale: Vectors<P>,
}

impl<P: Product, const SCALE: bool> Row<P, SCALE> {
    #[inline(always)]
    pub(crate) fn read(p: P, row: &SoaTransform) -> Self {
        let SoaTransform { translation: t, rotation: r, scale: s } = row;
        Self {
            translation: Vectors::read(p, &[t.x, t.y, t.z]),
            rotation: Turns::read(p, &[r.x, r.y, r.z, r.w]),
            scale: if SCALE { Vectors::read(p, &[s.x, s.y, s.z]) } else { Vectors::one(p) },
        }
    }

    #[inline(always)]
    pub(crate) fn transform(self, p: P) -> SoaTransform {
        SoaTransform {
            translation: self.translation.vec3(p),
            rotation: self.rotation.quat(p),
            scale: if SCALE { self.scale.vec3(p) } else { SoaVec3::ONE },
        }
    }

    #[inline(always)]
    pub(crate) fn zero(p: P) -> Self {
        let zero = p.both(Vec4::ZERO);
        let vectors = Vectors { xy: zero, z: Vec4::ZERO };
        Self { translation: vectors, rotation: Turns { xy: zero, zw: zero }, scale: vectors }
    }

    /// Everything by `weight`, but the rotations by `turn`.
    #[inline(always)]
    pub(crate) fn weighted(self, p: P, weight: Vec4, turn: Vec4) -> Self {
        let translation = self.translation.scaled(p, weight);
        let scale = if SCALE { self.scale.scaled(p, weight) } else { self.scale };
        Self { translation, rotation: self.rotation.scaled(p, turn), scale }
    }

    /// With `other` added, weighted as by [`Self::weighted`].
    #[inline(always)]
    pub(crate) fn plus_weighted(self, p: P, other: Self, weight: Vec4, turn: Vec4) -> Self {
        let translation = self.translation.plus_scaled(p, other.translation, weight);
        let scale = if SCALE { self.scale.plus_scaled(p, other.scale, weight) } else { self.scale };
        Self { translation, rotation: self.rotation.plus_scaled(p, other.rotation, turn), scale }
    }
}

impl<P: Product, const SCALE: bool> Row<P, SCALE> {
    /// The mean of two by weights that come to one: rotations by the short arc, of any length, and not normalised.
    /// And the square of what rotations of unit length would have been multiplied by.
    #[inline(always)]
    pub(crate) fn mix(self, p: P, weight: Vec4, other: Self, other_weight: Vec4) -> (Self, Vec4) {
        // wa · a/|a| ± wb · b/|b|, times |a| |b|²: one root instead of two, and no division.
        let (a, b) = (self.rotation, other.rotation);
        let (aa, bb) = (a.dot(p, a), b.dot(p, b));
        let (turn, other_turn) = (weight * bb, toward(other_weight * sqrt(aa * bb), a.dot(p, b)));
        (self.weighted(p, weight, turn).plus_weighted(p, other, other_weight, other_turn), aa * bb * bb)
    }

    /// With `other` added by `weight`; rotations by `turn` ≥ 0, in the hemisphere of `self`.
    #[inline(always)]
    pub(crate) fn plus_turned(self, p: P, other: Self, weight: Vec4, turn: Vec4) -> Self {
        let translation = self.translation.plus_scaled(p, other.translation, weight);
        let scale = if SCALE { self.scale.plus_scaled(p, other.scale, weight) } else { self.scale };
        let (a, b) = (self.rotation, other.rotation);
        // In pairs all the way, for each layer waits for the one before it.
        let dot = p.total(p.fused(a.zw, b.zw, p.mul(a.xy, b.xy)));
        let turn = p.signed(p.both(turn), dot);
        let rotation = Turns { xy: p.fused(b.xy, turn, a.xy), zw: p.fused(b.zw, turn, a.zw) };
        Self { translation, rotation, scale }
    }

    /// With rotations of unit length. Not for rotations near zero.
    #[inline(always)]
    pub(crate) fn normalized(self, p: P) -> Self {
        Self { rotation: self.rotation.normalized(p), ..self }
    }

    /// `self` in the lanes of `mask`, `other` in the rest.
    #[inline(always)]
    pub(crate) fn or(self, p: P, mask: BVec4A, other: Self) -> Self {
        Self::read(p, &self.transform(p).or(mask, &other.transform(p)))
    }
}

/// Vectors of four joints: a pair of rows and a row.
#[derive(Clone, Copy)]
pub(crate) struct Vectors<P: Product> {
    xy: P::Pair,
    z: Vec4,
}

impl<P: Product> Vectors<P> {
    /// Of the rows x, y, z.
    #[inline(always)]
    pub(crate) fn read(p: P, &[x, y, z]: &[Vec4; 3]) -> Self {
        Self { xy: p.pair(&[x, y]), z }
    }

    #[inline(always)]
    pub(crate) fn one(p: P) -> Self {
        Self { xy: p.both(Vec4::ONE), z: Vec4::ONE }
    }

    /// The way `t` to `other`.
    #[inline(always)]
    pub(crate) fn lerp(self, p: P, other: Self, t: Vec4) -> Self {
        self.plus_scaled(p, Self { xy: p.sub(other.xy, self.xy), z: other.z - self.z }, t)
    }

    #[inline(always)]
    pub(crate) fn scaled(self, p: P, by: Vec4) -> Self {
        Self { xy: p.mul(self.xy, p.both(by)), z: self.z * by }
    }

    /// `self + other · by`.
    #[inline(always)]
    pub(crate) fn plus_scaled(self, p: P, other: Self, by: Vec4) -> Self {
        Self { xy: p.fused(other.xy, p.both(by), self.xy), z: p.fused_row(other.z, by, self.z) }
    }

    /// Element by element.
    #[inline(always)]
    pub(crate) fn times(self, p: P, other: Self) -> Self {
        Self { xy: p.mul(self.xy, other.xy), z: self.z * other.z }
    }

    #[inline(always)]
    pub(crate) fn vec3(self, p: P) -> SoaVec3 {
        let [x, y] = p.rows(self.xy);
        SoaVec3 { x, y, z: self.z }
    }
}

/// The quaternions of four joints in two pairs of rows.
#[derive(Clone, Copy)]
pub(crate) struct Turns<P: Product> {
    xy: P::Pair,
    zw: P::Pair,
}

impl<P: Product> Turns<P> {
    /// Of the rows x, y, z, w.
    #[inline(always)]
    pub(crate) fn read(p: P, &[x, y, z, w]: &[Vec4; 4]) -> Self {
        Self { xy: p.pair(&[x, y]), zw: p.pair(&[z, w]) }
    }

    /// The way `t` to `other`, straight.
    #[inline(always)]
    pub(crate) fn lerp(self, p: P, other: Self, t: Vec4) -> Self {
        self.plus_scaled(p, Self { xy: p.sub(other.xy, self.xy), zw: p.sub(other.zw, self.zw) }, t)
    }

    #[inline(always)]
    pub(crate) fn dot(self, p: P, other: Self) -> Vec4 {
        let [a, b] = p.rows(p.fused(self.zw, other.zw, p.mul(self.xy, other.xy)));
        a + b
    }

    #[inline(always)]
    pub(crate) fn scaled(self, p: P, by: Vec4) -> Self {
        let by = p.both(by);
        Self { xy: p.mul(self.xy, by), zw: p.mul(self.zw, by) }
    }

    /// `self + other · by`.
    #[inline(always)]
    pub(crate) fn plus_scaled(self, p: P, other: Self, by: Vec4) -> Self {
        let by = p.both(by);
        Self { xy: p.fused(other.xy, by, self.xy), zw: p.fused(other.zw, by, self.zw) }
    }

    /// Of unit length. Not for quaternions near zero.
    #[inline(always)]
    pub(crate) fn normalized(self, p: P) -> Self {
        self.scaled(p, Vec4::ONE / sqrt(self.dot(p, self)))
    }

    #[inline(always)]
    pub(crate) fn quat(self, p: P) -> SoaQuat {
        let ([x, y], [z, w]) = (p.rows(self.xy), p.rows(self.zw));
        SoaQuat { x, y, z, w }
    }
}

#[cfg(test)]
mod tests {
    use crate::controller::{BlendMode, TrackPriority};
    use crate::model::{ClipFrames, ClipTiming, JointTransform, SkeletalClip, SoaTransform};
    use crate::pose::product::portably;
    use crate::pose::{Add, Blend, ClipLayer, Mask, Mix, MixScratch, Override, PoseLayer, PriorityBlend, Sample};
    use fastrand::Rng;
    use glam::{Quat, Vec3};

    const JOINTS: usize = 13;

    fn pose(random: &mut Rng, scaled: bool) -> Vec<JointTransform> {
        let mut vector = |size: f32| Vec3::from_array([0; 3].map(|_| (random.f32() - 0.5) * size));
        let joint = |_| JointTransform {
            translation: vector(2.0),
            rotation: Quat::from_vec4((vector(2.0) + Vec3::X * 0.1).extend(vector(2.0).x)).normalize(),
            scale: Vec3::ONE + vector(if scaled { 1.0 } else { 0.0 }),
        };
        (0..JOINTS).map(joint).collect()
    }

    fn clip(random: &mut Rng, scaled: bool) -> SkeletalClip {
        let whole = random.bool();
        let frames = ClipFrames {
            joints: (0..JOINTS).map(|joint| joint.to_string().into()).collect(),
            animated: (0..JOINTS).map(|_| whole || random.u8(..4) > 0).collect(),
            transforms: (0..3).flat_map(|_| pose(random, scaled)).collect(),
        };
        SkeletalClip::new(ClipTiming::new("clip", 1.0), &frames).unwrap()
    }

    fn bits(pose: &[SoaTransform]) -> Vec<u32> {
        let lanes = pose.iter().flat_map(|row| (0..4).map(|lane| row.get(lane)));
        let vectors =
            lanes.flat_map(|joint| [joint.translation.extend(0.0), joint.rotation.into(), joint.scale.extend(0.0)]);
        vectors.flat_map(|vector| vector.to_array()).map(f32::to_bits).collect()
    }

    #[test]
    fn every_job_gives_the_same_bits_with_wide_vectors_and_without() {
        let mut random = Rng::with_seed(4);
        for round in 0..if cfg!(miri) { 8 } else { 400 } {
            let scaled = round % 2 == 0;
            let rest = SoaTransform::rows(&pose(&mut random, scaled));
            let clips = [0; 5].map(|_| clip(&mut random, scaled));
            let shares = (0..JOINTS).map(|_| [0.0, 1.0, random.f32()][random.usize(..3)]);
            let mask = Mask::from_shares(shares.collect::<Vec<_>>());
            let masks = random.bool();
            let mut layers: Vec<ClipLayer> = Vec::new();
            for clip in &clips[..random.usize(..=5)] {
                layers.push(ClipLayer {
                    weight: random.f32(),
                    mask: (masks && random.bool()).then_some(&mask),
                    priority: if random.u8(..3) == 0 { TrackPriority::High } else { TrackPriority::Low },
                    mode: [
                        BlendMode::Blend,
                        BlendMode::Blend,
                        BlendMode::Blend,
                        BlendMode::Additive,
                        BlendMode::Override,
                    ][random.usize(..5)],
                    ..ClipLayer::new(clip, random.f64())
                });
            }
            let poses: Vec<_> = (0..3).map(|_| SoaTransform::rows(&pose(&mut random, scaled))).collect();
            let blended: Vec<PoseLayer> = poses
                .iter()
                .map(|pose| PoseLayer {
                    pose,
                    weight: random.f32(),
                    mask: (masks && random.bool()).then_some(mask.rows()),
                })
                .collect();
            let run = || {
                let job = |run: &dyn Fn(&mut [SoaTransform])| {
                    let mut out = rest.clone();
                    run(&mut out);
                    bits(&out)
                };
                let (pose, weight, mask, rest) = (&poses[0], 0.7, blended[0].mask, &rest[..]);
                let mix = Mix { layers: &layers, priority_blend: 0.3, rest, unit_scale: !scaled };
                let (low, high) = blended.split_at(1);
                [
                    job(&|out| mix.run(&mut MixScratch::default(), out)),
                    job(&|out| Sample { clip: &clips[0], time: 0.4, rest }.run(out)),
                    job(&|out| Blend { layers: &blended, rest }.run(out)),
                    job(&|out| PriorityBlend { low, high, priority_blend: 0.3, rest }.run(out)),
                    job(&|out| Add { pose, weight, mask }.run(out)),
                    job(&|out| Override { pose, weight, mask }.run(out)),
                ]
            };
            assert_eq!(run(), portably(run), "round {round}");
        }
    }
}
