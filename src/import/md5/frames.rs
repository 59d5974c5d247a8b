//! The frames of an `.md5anim` straight into a clip's channels, four joints at a time.

use crate::{
    format::md5::Md5Anim,
    import::axes::Basis,
    model::{ChannelSlot, ClipParts, RowTracks, Skeleton},
};
use glam::{BVec4A, DVec4, Vec3, Vec4};

/// The channels of a clip whose joints follow those of `anim` at `source`, one for each joint of
/// `skeleton`: what making each joint's transform at each frame comes to, without making them.
///
/// Channels none of whose numbers changes are constant. Rotations are not in one hemisphere yet. `None`
/// where a number is not finite.
pub(super) fn decode(
    anim: &Md5Anim,
    source: &[Option<usize>],
    skeleton: &Skeleton,
    basis: &Basis,
    frame_count: usize,
) -> Option<ClipParts> {
    let components = anim.components as usize;
    // A frame's numbers, behind them the base frame's, and a zero.
    let mut numbers = anim.frames.get(..components).unwrap_or(&[]).to_vec();
    let changes = changing(&anim.frames, components);
    numbers.extend(anim.base_frame.as_flattened().as_flattened());
    numbers.push(0.0);
    let zero = numbers.len() - 1;
    let place = |joint: Option<usize>, component: usize| {
        let Some(joint) = joint else { return zero };
        let (flags, start) = (anim.joints[joint].flags, anim.joints[joint].start as usize);
        match flags & 1 << component {
            0 => components + 6 * joint + component,
            _ => start + (flags & ((1 << component) - 1)).count_ones() as usize,
        }
    };

    let mut gathers = Vec::with_capacity(source.len().div_ceil(4));
    let mut rows = Vec::with_capacity(gathers.capacity());
    let (mut constants, mut stride) = (Vec::new(), 0);
    let mut slot = |is_sampled: bool, values: &[Vec4]| {
        let at = if is_sampled { stride } else { constants.len() } as u32;
        if is_sampled {
            stride += values.len();
            return ChannelSlot::Sampled(at);
        }
        constants.extend_from_slice(values);
        ChannelSlot::Constant(at)
    };
    for (row, joints) in source.chunks(4).enumerate() {
        let joint = |lane: usize| joints.get(lane).copied().flatten();
        let moved = [0, 1, 2, 3].map(|lane| joint(lane).is_some());
        let channel = |first: usize| [0, 1, 2].map(|axis| [0, 1, 2, 3].map(|lane| place(joint(lane), first + axis)));
        let gather = Gather { translation: channel(0), rotation: channel(3), moved: BVec4A::from_array(moved) };
        let change =
            |channel: &[[usize; 4]; 3]| channel.as_flattened().iter().any(|&at| changes.get(at) == Some(&true));
        let scales =
            [0, 1, 2, 3].map(|l| if moved[l] { skeleton.rest_of((row * 4 + l) as u16).scale } else { Vec3::ONE });
        let scale = [0, 1, 2].map(|axis| Vec4::from_array(scales.map(|scale| scale[axis])));
        rows.push(RowTracks {
            animated: Vec4::from_array(moved.map(|moved| f32::from(u8::from(moved)))),
            translation: slot(change(&gather.translation), &gather.translations(&numbers, basis)),
            rotation: slot(change(&gather.rotation), &gather.rotations(&numbers, basis)),
            scale: slot(false, &scale),
        });
        gathers.push(gather);
    }

    let mut samples = Vec::with_capacity(stride * frame_count);
    for frame in anim.frames.chunks_exact(components.max(1)).take(if stride > 0 { frame_count } else { 0 }) {
        numbers[..components].copy_from_slice(frame);
        for (row, gather) in rows.iter().zip(&gathers) {
            if matches!(row.translation, ChannelSlot::Sampled(_)) {
                samples.extend_from_slice(&gather.translations(&numbers, basis));
            }
            if matches!(row.rotation, ChannelSlot::Sampled(_)) {
                samples.extend_from_slice(&gather.rotations(&numbers, basis));
            }
        }
    }
    let finite = constants.iter().chain(&samples).all(|v| v.is_finite());
    finite.then(|| ClipParts { joints: skeleton.names().clone(), frame_count, rows, constants, samples })
}

/// Which of a frame's numbers is not the same in every frame.
fn changing(frames: &[f32], components: usize) -> Vec<bool> {
    let mut changes = vec![false; components];
    let mut frames = frames.chunks_exact(components.max(1));
    let first = frames.next().unwrap_or(&[]);
    for frame in frames {
        for ((changes, number), first) in changes.iter_mut().zip(frame).zip(first) {
            *changes |= number != first;
        }
    }
    changes
}

/// Where the numbers of four joints stand, by axis of the file.
struct Gather {
    translation: [[usize; 4]; 3],
    rotation: [[usize; 4]; 3],
    /// Lanes of joints that the clip moves; the others hold the identity.
    moved: BVec4A,
}

impl Gather {
    #[inline]
    fn translations(&self, numbers: &[f32], basis: &Basis) -> [Vec4; 3] {
        let [x, y, z] = &self.translation;
        let [x, y, z] = basis.points([gather(numbers, x), gather(numbers, y), gather(numbers, z)]);
        let still = Vec4::ZERO;
        [Vec4::select(self.moved, x, still), Vec4::select(self.moved, y, still), Vec4::select(self.moved, z, still)]
    }

    /// See [`Rigid::from_md5`](super::rigid::Rigid::from_md5), of which this is four.
    #[inline]
    fn rotations(&self, numbers: &[f32], basis: &Basis) -> [Vec4; 4] {
        let [x, y, z] = &self.rotation;
        let [x, y, z] = [gather(numbers, x), gather(numbers, y), gather(numbers, z)];
        let (x, y, z) = (x.as_dvec4(), y.as_dvec4(), z.as_dvec4());
        let w = -square_roots((DVec4::ONE - x * x - y * y - z * z).max(DVec4::ZERO));
        let per_length = DVec4::ONE / square_roots(x * x + y * y + z * z + w * w);
        let turned = [(x * per_length).as_vec4(), (y * per_length).as_vec4(), (z * per_length).as_vec4()];
        let [x, y, z] = basis.turns(turned);
        let select = |v, still| Vec4::select(self.moved, v, still);
        let (zero, one) = (Vec4::ZERO, Vec4::ONE);
        [select(x, zero), select(y, zero), select(z, zero), select((w * per_length).as_vec4(), one)]
    }
}

#[inline]
fn gather(numbers: &[f32], places: &[usize; 4]) -> Vec4 {
    Vec4::new(numbers[places[0]], numbers[places[1]], numbers[places[2]], numbers[places[3]])
}

#[inline]
fn square_roots(v: DVec4) -> DVec4 {
    DVec4::new(v.x.sqrt(), v.y.sqrt(), v.z.sqrt(), v.w.sqrt())
}
