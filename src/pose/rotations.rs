//! Means of rotations, for any number of lanes: four joints of one character, or one joint of eight characters.
//!
//! See decision 013.

use super::simd::Simd;

/// Quaternions of any length, one in each lane.
pub(super) trait Rotations<S: Simd>: Copy {
    /// A number in each lane.
    type Number: Copy;

    fn dot(self, s: S, other: Self) -> Self::Number;
    fn times(self, s: S, factor: Self::Number) -> Self;
    /// `self + other · factor`, without regard to hemispheres.
    fn plus(self, s: S, other: Self, factor: Self::Number) -> Self;

    fn one(s: S) -> Self::Number;
    fn product(s: S, a: Self::Number, b: Self::Number) -> Self::Number;
    fn ratio(s: S, a: Self::Number, b: Self::Number) -> Self::Number;
    fn root(s: S, a: Self::Number) -> Self::Number;
    /// [`toward`](super::soa::toward) in each lane.
    fn toward(s: S, weight: Self::Number, dot: Self::Number) -> Self::Number;

    /// The mean of two by weights that sum to one, along the shorter arc. Takes rotations of any length and leaves them
    /// unnormalized; also returns the square of the factor by which they grow.
    #[inline(always)]
    fn mix(
        self,
        s: S,
        weight: Self::Number,
        other: Self,
        other_weight: Self::Number,
    ) -> (Self, Self::Number) {
        // wa · a/|a| ± wb · b/|b|, times |a| |b|²: one root instead of two, and no division.
        let (aa, bb) = (self.dot(s, self), other.dot(s, other));
        let both = Self::product(s, aa, bb);
        let turn = Self::product(s, weight, bb);
        let other_turn = Self::product(s, other_weight, Self::root(s, both));
        let other_turn = Self::toward(s, other_turn, self.dot(s, other));
        let mean = self.times(s, turn).plus(s, other, other_turn);
        (mean, Self::product(s, both, bb))
    }

    /// Adds another to a sum, scaled to the root of `square` as the sum was, so that weights stay in proportion, and turned into
    /// the sum's hemisphere.
    #[inline(always)]
    fn with(self, s: S, other: Self, weight: Self::Number, square: Self::Number) -> Self {
        let factor = Self::root(s, Self::ratio(s, square, other.dot(s, other)));
        let turn = Self::product(s, weight, factor);
        let turn = Self::toward(s, turn, self.dot(s, other));
        self.plus(s, other, turn)
    }

    /// Scaled to unit length. Not for quaternions near zero.
    #[inline(always)]
    fn normalized(self, s: S) -> Self {
        let length = Self::root(s, self.dot(s, self));
        self.times(s, Self::ratio(s, Self::one(s), length))
    }
}
