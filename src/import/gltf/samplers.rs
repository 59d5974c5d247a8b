//! The keys of animations' channels, opened and checked.

use super::{
    accessors::{Accessor, Accessors},
    document::out_of_range,
    json::{Animation, Channel, Index, Interpolation, Sampler, Type},
};
use crate::{
    format::FormatError,
    import::{keys::Between, report::Report},
    plural::counted,
};

/// The keys of a channel.
pub(super) struct Keys<'a> {
    times: Accessor<'a>,
    /// For each key as many as the channel has targets, or three times as many for splines.
    pub(super) values: Accessor<'a>,
    pub(super) between: Between,
}

/// Returns the sampler of a channel.
pub(super) fn sampler_of<'r>(
    animation: &'r Animation,
    channel: &Channel,
    place: &str,
    report: &Report,
) -> Result<&'r Sampler, FormatError> {
    let (index, samplers) = (channel.sampler.value(), &animation.samplers);
    samplers
        .get(index)
        .ok_or_else(|| out_of_range("sampler", index, samplers.len(), place, report))
}

impl<'a> Keys<'a> {
    /// Opens the keys of a channel, which have `targets` values of a type each. `None` if they can't be read, which a warning says.
    pub(super) fn open(
        accessors: &Accessors<'a>,
        sampler: &Sampler,
        (kind, targets): (Type, usize),
        place: &str,
        report: &mut Report,
    ) -> Result<Option<Self>, FormatError> {
        const LEFT_OUT: &str = "the channel was left out";
        let between = match sampler.interpolation {
            Some(Interpolation::Linear) => Between::Linear,
            Some(Interpolation::Step) => Between::Step,
            Some(Interpolation::CubicSpline) => Between::Cubic,
            None => {
                report.warn(place, "the sampler has an unknown interpolation", LEFT_OUT);
                return Ok(None);
            }
        };
        let open = |index: Index, kind| accessors.open_keys(report, place, index.value(), &[kind]);
        let (times, values) = (
            open(sampler.input, Type::Scalar)?,
            open(sampler.output, kind)?,
        );
        // All three numbers are the file's, so their product may overflow.
        let per_key = if between == Between::Cubic { 3 } else { 1 };
        let wanted = times.len().saturating_mul(per_key).saturating_mul(targets);
        if values.len() < wanted {
            let message = format!(
                "the channel has {} for {}, expected {wanted}",
                counted(values.len(), "value"),
                counted(times.len(), "key"),
            );
            report.warn(place, message, LEFT_OUT);
            return Ok(None);
        }
        Ok(Some(Self {
            times,
            // Rotations and weights are at most 1, so their integers are fractions.
            values: match kind {
                Type::Vec3 => values,
                _ => values.into_shares(),
            },
            between,
        }))
    }

    /// Returns the number of keys.
    pub(super) fn len(&self) -> usize {
        self.times.len()
    }

    /// Returns the time of a key in seconds, which may not be finite.
    pub(super) fn time(&self, key: usize) -> f64 {
        f64::from(self.times.floats::<1>(key)[0])
    }

    /// Returns the values of each key and target, and which of them isn't a tangent: a key of a spline has an incoming tangent,
    /// a value, and an outgoing tangent.
    pub(super) fn per_key(&self) -> (usize, usize) {
        if self.between == Between::Cubic {
            (3, 1)
        } else {
            (1, 0)
        }
    }
}
