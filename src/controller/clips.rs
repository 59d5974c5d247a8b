//! The trait by which a controller looks up its clips.

use crate::model::{BoundBlendSpace, ClipTiming, RootPath, StateLayers};
use std::sync::Arc;

/// The clips that a controller plays, looked up by name.
///
/// The set may change between two advances, as in a hot reload: the controller keeps names, and trusts a
/// cached index only while the clip found there still has the name. A clip that disappears stops its track,
/// one that appears starts it. `None::<C>` stands for clips that are not loaded yet.
///
/// Without Bevy, a `Vec` or a slice of [`ClipTiming`]s will do; in Bevy, the asset `Character` has clips.
///
/// ```
/// # use bevy_marionette::controller::{AnimationController, Clips, PlaybackEvent};
/// /// Returns the seconds until an attack hits, for an enemy that has to dodge it.
/// fn hits_in(attacker: &AnimationController, clips: &impl Clips) -> Option<f64> {
///     let (mut ahead, mut events) = (attacker.clone(), Vec::new());
///     ahead.advance(5.0, clips, &mut events).ok()?;
///     let is_hit = |event: &&PlaybackEvent| matches!(event, PlaybackEvent::Callback(key) if key.name == "hit");
///     Some(events.iter().find(is_hit)?.time() - attacker.time())
/// }
/// ```
pub trait Clips {
    /// Returns `true` if the clips can be played. While they cannot, [`AnimationController::advance`] does
    /// nothing at all: no time passes, so nothing is missed.
    ///
    /// [`AnimationController::advance`]: super::AnimationController::advance
    fn is_ready(&self) -> bool {
        true
    }

    /// Returns the index of the clip with this name.
    fn index_of(&self, name: &str) -> Option<usize>;

    /// Returns a clip's length, playback and callback keys; `None` if the index is out of range.
    fn timing(&self, index: usize) -> Option<&ClipTiming>;

    /// Returns `true` if a clip holds differences to add to a pose, rather than poses.
    fn is_additive(&self, index: usize) -> bool {
        let _ = index;
        false
    }

    /// Returns how a clip carries its character; `None` if it doesn't.
    #[doc(hidden)]
    fn root_path(&self, index: usize) -> Option<&RootPath> {
        let _ = index;
        None
    }

    /// Returns `true` if a clip poses the joint that root motion is taken from. A clip that doesn't has no part in the
    /// blend of root motion, but among the clips of `play` and in a blend space it stands still, as the joint's rest pose
    /// does. One that poses the joint without root motion stands still, too.
    fn reaches_root(&self, index: usize) -> bool {
        let _ = index;
        true
    }

    /// Returns a mask's weight, in `0..=1`, at the joint that root motion is taken from; 0 if there is no such mask.
    fn root_mask(&self, mask: &str) -> f32 {
        let _ = mask;
        0.0
    }

    /// Returns the blend spaces that can be played by name, bound to these clips.
    #[doc(hidden)]
    fn blend_spaces(&self) -> &[BoundBlendSpace] {
        &[]
    }

    /// Returns the states that come with these clips. A controller that has states already takes them up.
    #[doc(hidden)]
    fn states(&self) -> Option<&Arc<StateLayers>> {
        None
    }
}

impl Clips for [ClipTiming] {
    fn index_of(&self, name: &str) -> Option<usize> {
        self.iter().position(|clip| &*clip.name == name)
    }

    fn timing(&self, index: usize) -> Option<&ClipTiming> {
        self.get(index)
    }
}

impl<const N: usize> Clips for [ClipTiming; N] {
    fn index_of(&self, name: &str) -> Option<usize> {
        self.as_slice().index_of(name)
    }

    fn timing(&self, index: usize) -> Option<&ClipTiming> {
        self.get(index)
    }
}

impl Clips for Vec<ClipTiming> {
    fn index_of(&self, name: &str) -> Option<usize> {
        self.as_slice().index_of(name)
    }

    fn timing(&self, index: usize) -> Option<&ClipTiming> {
        self.get(index)
    }
}

impl<C: Clips + ?Sized> Clips for &C {
    fn is_ready(&self) -> bool {
        (**self).is_ready()
    }

    fn index_of(&self, name: &str) -> Option<usize> {
        (**self).index_of(name)
    }

    fn timing(&self, index: usize) -> Option<&ClipTiming> {
        (**self).timing(index)
    }

    fn is_additive(&self, index: usize) -> bool {
        (**self).is_additive(index)
    }

    fn root_path(&self, index: usize) -> Option<&RootPath> {
        (**self).root_path(index)
    }

    fn reaches_root(&self, index: usize) -> bool {
        (**self).reaches_root(index)
    }

    fn root_mask(&self, mask: &str) -> f32 {
        (**self).root_mask(mask)
    }

    fn blend_spaces(&self) -> &[BoundBlendSpace] {
        (**self).blend_spaces()
    }

    fn states(&self) -> Option<&Arc<StateLayers>> {
        (**self).states()
    }
}

impl<C: Clips> Clips for Option<C> {
    fn is_ready(&self) -> bool {
        self.as_ref().is_some_and(Clips::is_ready)
    }

    fn index_of(&self, name: &str) -> Option<usize> {
        self.as_ref()?.index_of(name)
    }

    fn timing(&self, index: usize) -> Option<&ClipTiming> {
        self.as_ref()?.timing(index)
    }

    fn is_additive(&self, index: usize) -> bool {
        self.as_ref().is_some_and(|clips| clips.is_additive(index))
    }

    fn root_path(&self, index: usize) -> Option<&RootPath> {
        self.as_ref()?.root_path(index)
    }

    fn reaches_root(&self, index: usize) -> bool {
        self.as_ref().is_some_and(|clips| clips.reaches_root(index))
    }

    fn root_mask(&self, mask: &str) -> f32 {
        self.as_ref().map_or(0.0, |clips| clips.root_mask(mask))
    }

    fn blend_spaces(&self) -> &[BoundBlendSpace] {
        self.as_ref().map_or(&[], Clips::blend_spaces)
    }

    fn states(&self) -> Option<&Arc<StateLayers>> {
        self.as_ref()?.states()
    }
}

#[cfg(test)]
#[path = "tests/clips.rs"]
mod tests;
