//! Filters, which turn stored numbers back into those of the elements.

/// A component of a filtered element.
pub(super) trait Component: Copy {
    const SIZE: usize;
    /// The largest of its values.
    const MOST: f32;
    fn read(bytes: &[u8]) -> i32;
    fn write(value: i32, bytes: &mut [u8]);
}

macro_rules! component {
    ($type:ty) => {
        impl Component for $type {
            const SIZE: usize = size_of::<Self>();
            const MOST: f32 = Self::MAX as f32;

            fn read(bytes: &[u8]) -> i32 {
                bytes
                    .try_into()
                    .map_or(0, |bytes| Self::from_le_bytes(bytes).into())
            }

            fn write(value: i32, bytes: &mut [u8]) {
                bytes.copy_from_slice(&(value as Self).to_le_bytes());
            }
        }
    };
}

component!(i8);
component!(i16);
component!(u8);
component!(u16);

/// Applies `decode` to each four components.
fn each<T: Component>(data: &mut [u8], decode: impl Fn([i32; 4]) -> [i32; 4]) {
    for element in data.chunks_exact_mut(4 * T::SIZE) {
        let mut values = [0; 4];
        for (value, bytes) in values.iter_mut().zip(element.chunks_exact(T::SIZE)) {
            *value = T::read(bytes);
        }
        for (value, bytes) in decode(values)
            .into_iter()
            .zip(element.chunks_exact_mut(T::SIZE))
        {
            T::write(value, bytes);
        }
    }
}

/// Rounds to the nearest whole number, halves away from zero.
fn nearest(value: f32) -> i32 {
    (value + 0.5f32.copysign(value)) as i32
}

/// Unit vectors: two coordinates on an octahedron, and the number that represents 1. The fourth
/// component is kept.
pub(super) fn octahedral<T: Component>(data: &mut [u8]) {
    each::<T>(data, |[x, y, one, w]| {
        let (x, y) = (x as f32, y as f32);
        let z = one as f32 - x.abs() - y.abs();
        // The lower half is folded over the upper one.
        let fold = z.min(0.0);
        let unfold = |value: f32| {
            if value >= 0.0 {
                value + fold
            } else {
                value - fold
            }
        };
        let (x, y) = (unfold(x), unfold(y));
        let scale = T::MOST / (x * x + y * y + z * z).sqrt();
        [
            nearest(x * scale),
            nearest(y * scale),
            nearest(z * scale),
            w,
        ]
    });
}

/// Rotations: all components but the largest, and a number whose last two bits say which that is.
pub(super) fn quaternion(data: &mut [u8]) {
    each::<i16>(data, |[x, y, z, last]| {
        let one = (last | 3) as f32;
        let [x, y, z] = [x, y, z].map(|value| value as f32);
        // Components other than the largest are at most 1/√2, so they are stored with √2 as their
        // unit. The largest follows from the length 1.
        let w = (one * one * 2.0 - x * x - y * y - z * z).max(0.0).sqrt();
        let scale = i16::MAX as f32 / std::f32::consts::SQRT_2 / one;
        let largest = (last & 3) as usize;
        let mut out = [0; 4];
        for (after, value) in [w, x, y, z].into_iter().enumerate() {
            out[(largest + after) % 4] = nearest(value * scale);
        }
        out
    });
}

/// Floats: a mantissa of 24 bits, and above it an exponent of 8 bits, both with a sign.
pub(super) fn exponential(data: &mut [u8]) {
    for bytes in data.as_chunks_mut::<4>().0 {
        let value = i32::from_le_bytes(*bytes);
        // The shifts extend the signs of both parts.
        let (exponent, mantissa) = (value >> 24, value << 8 >> 8);
        let scale = f32::from_bits(((exponent + 127) as u32) << 23);
        *bytes = (scale * mantissa as f32).to_le_bytes();
    }
}

/// Colors: luma, the differences of orange and green, and alpha below a bit that says how many bits there are.
pub(super) fn color<T: Component>(data: &mut [u8]) {
    let bits = 32 - 8 * T::SIZE as u32;
    each::<T>(data, |[luma, orange, green, alpha]| {
        let signed = |value: i32| value << bits >> bits;
        let (orange, green) = (signed(orange), signed(green));
        // All bits up to the highest that is set.
        let most = match alpha {
            0 => 0,
            _ => (1 << (32 - alpha.leading_zeros())) - 1,
        };
        // The marking bit is dropped, and the lowest bit repeated in its place.
        let alpha = alpha << 1 & most | alpha & 1;
        let scale = T::MOST / most as f32;
        [
            luma + orange - green,
            luma + green,
            luma - orange - green,
            alpha,
        ]
        .map(|value| (value as f32 * scale + 0.5) as i32)
    });
}
