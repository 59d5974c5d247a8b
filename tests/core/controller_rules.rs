//! The animation controller against its specification.
//!
//! Each numbered rule is a test with the number in its name:
//!
//! 1. an advance: time, scheduled changes, tracks, callbacks;
//! 2. what goes into the blend;
//! 4. scheduled changes, their transitions, handles and queries;
//! 5. resetting time;
//! 6. the periodic position;
//! 7. callbacks, each exactly once;
//! 8. cross-fades;
//! 9. what animation controllers often get wrong.
//!
//! (Rule 3, the mixing of transforms, belongs to the pose.) Then: the queue, copies and saved states,
//! properties under random input, and a long run against brute force.

mod callbacks;
mod clip_modes;
mod copies;
mod defects;
mod everyday;
mod growth;
mod overlays;
mod phase;
mod properties;
mod queue;
mod ranges;
mod saved;
mod soak;
mod support;
mod switches;
mod timeline;
mod tracks;
