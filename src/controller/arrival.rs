//! When a track reaches the place at which something follows: the next clip, or an overlay's fade-out.

use super::{AnimationController, TrackId, compensated::CompensatedF64, playhead, sync::Lead};

/// A track reaches the place at which something follows.
pub(super) struct Arrival {
    pub(super) time: CompensatedF64,
    pub(super) track: TrackId,
    /// The place, as an unwrapped position.
    pub(super) position: f64,
    pub(super) next: Next,
}

/// What follows when a track arrives.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Next {
    /// The next clip of the queue, or the fallback.
    Clip,
    /// The track, an overlay, fades out.
    FadeOut,
}

impl AnimationController {
    /// The moment until `end` at which the track at an index reaches its target, which depends on where it is and
    /// on its direction.
    pub(super) fn arrival(
        &self,
        at: usize,
        end: CompensatedF64,
        next: Next,
        target: impl Fn(f64, bool) -> f64,
    ) -> Option<Arrival> {
        let track = &self.tracks[at];
        let length = track.known?.length;
        if !self.is_moving(at) {
            return None;
        }
        let lead = self.lead(at);
        let speed = self.course(at, lead);
        // A follower goes only as far as its leader, which may be held at its end.
        let led = |lead: Lead, position: CompensatedF64| {
            CompensatedF64::new(lead.follow(position.value()))
        };
        let mut lead = lead.map(|lead| (lead, self.tracks[lead.leader].held()));
        let (mut begin, mut position) = (
            self.time,
            lead.map_or(track.held(), |(lead, position)| led(lead, position)),
        );
        for part in speed.turning_point(begin, end).into_iter().chain([end]) {
            let forward = speed.is_forward(begin, part);
            let target = target(position.value(), forward);
            let there = match &mut lead {
                None => position + speed.distance(begin, part),
                Some((lead, reached)) => {
                    let leader = &self.tracks[lead.leader];
                    if !leader.paused {
                        *reached = leader
                            .hold(*reached + self.own_speed(lead.leader).distance(begin, part));
                    }
                    led(*lead, *reached)
                }
            };
            let is_at = |position: f64| {
                let [at, target] =
                    [position, target].map(|position| playhead::place(length, position));
                if forward { at >= target } else { at <= target }
            };
            if is_at(position.value()) {
                return Some(Arrival {
                    time: begin,
                    track: track.id,
                    position: target,
                    next,
                });
            }
            if is_at(there.value()) {
                let time = speed.moment(
                    begin,
                    part,
                    (CompensatedF64::new(target) - position).value(),
                );
                return Some(Arrival {
                    time,
                    track: track.id,
                    position: target,
                    next,
                });
            }
            (begin, position) = (part, there);
        }
        None
    }
}
