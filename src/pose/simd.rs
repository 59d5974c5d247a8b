//! SIMD backends: the few operations poses are made of, on two rows of four numbers at once.
//!
//! [`Avx`](avx::Avx) needs AVX2 and FMA. It keeps both rows in one 256-bit register and fuses a product and a sum into one
//! operation (FMA). [`Portable`] returns the same bits on every processor: each element goes through
//! the same operations in the same order, and without FMA hardware its result is computed from
//! several operations. A test compares the two. Only WebAssembly differs in the last bits.

// The only modules with `unsafe` code: 256-bit and 512-bit vectors where the processor has them.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
pub(crate) mod avx;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
pub(crate) mod avx512;
pub(crate) mod numbers;

use glam::{Affine3A, Mat3A, Mat4, Vec4};

/// A SIMD backend.
pub(crate) trait Simd: Copy {
    /// Two rows of four numbers, such as the x and the y of four joints.
    type Pair: Copy;

    /// `true` if it can write past the caches.
    const STREAMS: bool;

    fn pair(self, first: Vec4, second: Vec4) -> Self::Pair;
    fn rows(self, pair: Self::Pair) -> [Vec4; 2];
    fn add(self, a: Self::Pair, b: Self::Pair) -> Self::Pair;
    fn sub(self, a: Self::Pair, b: Self::Pair) -> Self::Pair;
    fn mul(self, a: Self::Pair, b: Self::Pair) -> Self::Pair;
    fn div(self, a: Self::Pair, b: Self::Pair) -> Self::Pair;
    /// The square root of each element, for elements ≥ 0.
    fn sqrt(self, a: Self::Pair) -> Self::Pair;
    /// `a · b + c`, rounded once.
    fn fma(self, a: Self::Pair, b: Self::Pair, c: Self::Pair) -> Self::Pair;
    /// Each element of `a` with the sign of the one in `signs`.
    fn with_signs(self, a: Self::Pair, signs: Self::Pair) -> Self::Pair;
    /// `a · b + c` of one row, rounded once.
    fn fma_row(self, a: Vec4, b: Vec4, c: Vec4) -> Vec4;
    /// Element `LANE` of each row, four times.
    fn lane<const LANE: usize>(self, pair: Self::Pair) -> Self::Pair;

    /// The columns x, y, z and the translation of a matrix; their fourth elements are unspecified.
    #[inline(always)]
    fn columns(self, m: &Affine3A) -> [Vec4; 4] {
        let Mat3A {
            x_axis,
            y_axis,
            z_axis,
        } = m.matrix3;
        [
            x_axis.extend(0.0),
            y_axis.extend(0.0),
            z_axis.extend(0.0),
            m.translation.extend(0.0),
        ]
    }

    /// Writes the columns x and y, z and w to memory. If `STREAM`, past the caches where the processor can, and not in
    /// order with other stores until [`Self::fence`].
    #[inline(always)]
    fn write<const STREAM: bool>(self, xy: Self::Pair, zw: Self::Pair, out: &mut Mat4) {
        let ([x, y], [z, w]) = (self.rows(xy), self.rows(zw));
        *out = Mat4::from_cols(x, y, z, w);
    }

    /// Writes a row to memory, like [`Self::write`].
    #[inline(always)]
    fn write_row<const STREAM: bool>(self, row: Vec4, out: &mut Vec4) {
        *out = row;
    }

    /// Writes four rows to memory, like [`Self::write`].
    #[inline(always)]
    fn write_line<const STREAM: bool>(self, [first, second]: [Self::Pair; 2], out: &mut [Vec4; 4]) {
        let ([a, b], [c, d]) = (self.rows(first), self.rows(second));
        *out = [a, b, c, d];
    }

    /// The first rows of two pairs, and the second ones.
    #[inline(always)]
    fn halves(self, a: Self::Pair, b: Self::Pair) -> [Self::Pair; 2] {
        let (a, b) = (self.rows(a), self.rows(b));
        [self.pair(a[0], b[0]), self.pair(a[1], b[1])]
    }

    /// Orders streamed writes before all later ones. Must be called before they are read.
    #[inline(always)]
    fn fence(self) {}

    /// Reads a pair from memory.
    #[inline(always)]
    fn load(self, rows: &[Vec4; 2]) -> Self::Pair {
        self.pair(rows[0], rows[1])
    }

    /// Writes a pair to memory.
    #[inline(always)]
    fn store(self, pair: Self::Pair, rows: &mut [Vec4; 2]) {
        *rows = self.rows(pair);
    }

    /// Twice four by four numbers: element `j` of row `i` becomes element `i` of row `j`, for the first rows and for the
    /// second ones.
    #[inline(always)]
    fn transposed(self, pairs: [Self::Pair; 4]) -> [Self::Pair; 4] {
        let [a, b, c, d] = pairs.map(|pair| self.rows(pair));
        let first = Mat4::from_cols(a[0], b[0], c[0], d[0]).transpose();
        let second = Mat4::from_cols(a[1], b[1], c[1], d[1]).transpose();
        [
            self.pair(first.x_axis, second.x_axis),
            self.pair(first.y_axis, second.y_axis),
            self.pair(first.z_axis, second.z_axis),
            self.pair(first.w_axis, second.w_axis),
        ]
    }

    /// With the last element of each row replaced.
    #[inline(always)]
    fn with_last(self, pair: Self::Pair, [first, second]: [f32; 2]) -> Self::Pair {
        let rows = self.rows(pair);
        self.pair(rows[0].with_w(first), rows[1].with_w(second))
    }

    /// A pair made of two rows that is read several times.
    #[inline(always)]
    fn kept_pair(self, first: Vec4, second: Vec4) -> Self::Pair {
        self.pair(first, second)
    }

    /// The same row twice.
    #[inline(always)]
    fn both(self, row: Vec4) -> Self::Pair {
        self.pair(row, row)
    }
}

/// The backend every processor can run.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Simd for Portable {
    type Pair = [Vec4; 2];

    const STREAMS: bool = false;

    #[inline(always)]
    fn pair(self, first: Vec4, second: Vec4) -> [Vec4; 2] {
        [first, second]
    }

    #[inline(always)]
    fn rows(self, pair: [Vec4; 2]) -> [Vec4; 2] {
        pair
    }

    #[inline(always)]
    fn add(self, a: [Vec4; 2], b: [Vec4; 2]) -> [Vec4; 2] {
        [a[0] + b[0], a[1] + b[1]]
    }

    #[inline(always)]
    fn sub(self, a: [Vec4; 2], b: [Vec4; 2]) -> [Vec4; 2] {
        [a[0] - b[0], a[1] - b[1]]
    }

    #[inline(always)]
    fn mul(self, a: [Vec4; 2], b: [Vec4; 2]) -> [Vec4; 2] {
        [a[0] * b[0], a[1] * b[1]]
    }

    #[inline(always)]
    fn div(self, a: [Vec4; 2], b: [Vec4; 2]) -> [Vec4; 2] {
        [a[0] / b[0], a[1] / b[1]]
    }

    #[inline(always)]
    fn sqrt(self, a: [Vec4; 2]) -> [Vec4; 2] {
        a.map(super::soa::sqrt)
    }

    #[inline(always)]
    fn fma(self, a: [Vec4; 2], b: [Vec4; 2], c: [Vec4; 2]) -> [Vec4; 2] {
        [fma(a[0], b[0], c[0]), fma(a[1], b[1], c[1])]
    }

    #[inline(always)]
    fn with_signs(self, a: [Vec4; 2], signs: [Vec4; 2]) -> [Vec4; 2] {
        [a[0].copysign(signs[0]), a[1].copysign(signs[1])]
    }

    #[inline(always)]
    fn fma_row(self, a: Vec4, b: Vec4, c: Vec4) -> Vec4 {
        fma(a, b, c)
    }

    #[inline(always)]
    fn lane<const LANE: usize>(self, pair: [Vec4; 2]) -> [Vec4; 2] {
        pair.map(|row| Vec4::splat(row[LANE]))
    }
}

/// `a · b + c`, rounded once, by an instruction that every processor of the target has.
#[cfg(any(target_arch = "aarch64", target_feature = "fma"))]
#[inline(always)]
fn fma(a: Vec4, b: Vec4, c: Vec4) -> Vec4 {
    a.mul_add(b, c)
}

/// `a · b + c`, rounded twice: WebAssembly has no such instruction, and a browser's poses need not have the last bit of
/// a native program's.
#[cfg(target_arch = "wasm32")]
#[inline(always)]
fn fma(a: Vec4, b: Vec4, c: Vec4) -> Vec4 {
    a * b + c
}

/// `a · b + c`, rounded once; takes about ten times as long as the two operations.
#[cfg(not(any(
    target_arch = "aarch64",
    target_arch = "wasm32",
    target_feature = "fma"
)))]
#[inline(never)]
fn fma(a: Vec4, b: Vec4, c: Vec4) -> Vec4 {
    Vec4::from_array(std::array::from_fn(|lane| {
        emulated_fma(a[lane], b[lane], c[lane])
    }))
}

/// `a · b + c`, rounded once.
///
/// In double precision the product is exact. The sum is rounded to odd, so that rounding it a second
/// time gives what rounding once would (Boldo and Melquiond, "Emulation of FMA and correctly rounded
/// sums: proved algorithms using rounding to odd").
#[cfg_attr(
    any(
        target_arch = "aarch64",
        target_arch = "wasm32",
        target_feature = "fma"
    ),
    allow(dead_code)
)]
#[inline]
fn emulated_fma(a: f32, b: f32, c: f32) -> f32 {
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + c;
    // The rounding error of the sum (Knuth's two-sum).
    let of_c = sum - product;
    let error = (product - (sum - of_c)) + (c - of_c);
    let bits = sum.to_bits();
    // Nothing to correct: the sum is exact, odd already, or infinite or NaN.
    if error == 0.0 || bits & 1 == 1 || !sum.is_finite() {
        return sum as f32;
    }
    // The neighbor on the side of the exact sum. Since `bits` is even, it is odd.
    let odd = if (error > 0.0) == (sum > 0.0) {
        bits + 1
    } else {
        bits - 1
    };
    f64::from_bits(odd) as f32
}

impl Portable {
    /// Runs `work` in a function of its own: without optimization everything inlined there takes up
    /// stack, and a caller of several such functions must not need the stack of all of them.
    #[inline(never)]
    pub(crate) fn enter<R>(self, work: impl FnOnce(Self) -> R) -> R {
        work(self)
    }

    #[inline(always)]
    pub(crate) fn enter_wide<R>(self, work: impl FnOnce(Self) -> R) -> R {
        self.enter(work)
    }
}

/// Evaluates an expression with the fastest backend this processor supports:
/// `dispatch!(simd => job.run_with(simd, out))`.
///
/// `dispatch!(wide, simd => …)` is for loops that need more than sixteen registers.
///
/// Rigs don't use the backend itself, but need a tenth fewer instructions where they are compiled for AVX, with the same
/// results.
///
/// What the expression calls must be inlined (`#[inline(always)]`, loops rather than closures), or
/// it is not compiled for the backend's instructions.
macro_rules! dispatch {
    ($simd:ident => $work:expr) => {
        $crate::pose::simd::dispatch!(enter, $simd => $work)
    };
    (wide, $simd:ident => $work:expr) => {
        $crate::pose::simd::dispatch!(enter_wide, $simd => $work)
    };
    ($enter:ident, $simd:ident => $work:expr) => {{
        #[cfg(target_arch = "x86_64")]
        let avx = $crate::pose::simd::avx::Avx::detect();
        #[cfg(not(target_arch = "x86_64"))]
        let avx: Option<$crate::pose::simd::Portable> = None;
        match avx {
            Some(avx) => avx.$enter(
                #[inline(always)]
                |$simd| $work,
            ),
            None => $crate::pose::simd::Portable.$enter(
                #[inline(always)]
                |$simd| $work,
            ),
        }
    }};
}
pub(crate) use dispatch;

/// The backends that a test allows.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Backend {
    Portable,
    /// AVX2 without the additional registers of AVX-512.
    Avx,
    Fastest,
}

#[cfg(test)]
impl Backend {
    pub(crate) const ALL: [Self; 3] = [Self::Portable, Self::Avx, Self::Fastest];
}

#[cfg(test)]
thread_local! {
    static BACKEND: std::cell::Cell<Backend> = const { std::cell::Cell::new(Backend::Fastest) };
}

/// Does `work` with a backend, or the fastest below it that the processor has.
#[cfg(test)]
pub(crate) fn with_backend<R>(backend: Backend, work: impl FnOnce() -> R) -> R {
    BACKEND.set(backend);
    let done = work();
    BACKEND.set(Backend::Fastest);
    done
}

/// Does `work` with the portable backend.
#[cfg(test)]
pub(crate) fn portably<R>(work: impl FnOnce() -> R) -> R {
    with_backend(Backend::Portable, work)
}

/// The bits of a number, for comparing backends: the sign of a NaN is unspecified, and Miri picks it at random.
#[cfg(all(test, debug_assertions))]
pub(crate) fn bits_of(x: f32) -> u32 {
    if x.is_nan() {
        f32::NAN.to_bits()
    } else {
        x.to_bits()
    }
}

// Debug builds only: LLVM 22 crashes on such tests when they are optimized, though not on the code they test.
#[cfg(all(test, debug_assertions))]
#[path = "tests/simd.rs"]
mod tests;
