//! Clips that are added to a character or removed from it while it plays.

use super::{Character, boxes::aabb, next_version};
use crate::{
    controller::Clips,
    model::{ClipError, SkeletalClip, Viseme},
    pose::BlendReach,
    rig::{Plants, TurnSpeeds},
};
use std::sync::Arc;

/// An error in adding a clip to a character.
///
/// ```
/// # use bevy_marionette::{asset::{AddClipError, Character}, model::SkeletalClip};
/// /// Adds a clip, in place of an older one.
/// fn update(character: &mut Character, clip: &SkeletalClip) -> Result<(), AddClipError> {
///     match character.add_clip(clip) {
///         Err(AddClipError::NameTaken(name)) => {
///             character.remove_clip(&name);
///             character.add_clip(clip)
///         }
///         other => other,
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AddClipError {
    /// The character has a clip of this name.
    #[error(
        "cannot add clip `{0}`: the character has one of this name; remove it first, or rename the new one"
    )]
    NameTaken(Arc<str>),
    /// The character has none of the clip's joints and morph targets.
    #[error(
        "cannot add clip `{0}`: none of its joints and morph targets is one of the character's; check that the names are the same"
    )]
    OtherJoints(Arc<str>),
    /// The visemes don't make a clip.
    #[error(transparent)]
    Visemes(#[from] ClipError),
}

/// # Clips at run time
impl Character {
    /// Adds a clip of visemes, a list of shapes of the mouth at times, as lip-sync tools write it.
    ///
    /// It moves nothing but the mouth, so play it over what the character does. See [`SkeletalClip::from_visemes`].
    ///
    /// ```
    /// # use bevy::prelude::*;
    /// # use bevy_marionette::{
    /// #     asset::{AddClipError, Character}, controller::{AnimationTrack, BlendMode}, model::Viseme, prelude::*,
    /// # };
    /// # use std::time::Duration;
    /// fn greet(character: &mut Character, controller: &mut AnimationController) -> Result<(), AddClipError> {
    ///     character.add_speech("hello", &[
    ///         Viseme::new(0.10, "ee", 0.6),
    ///         Viseme::new(0.22, "nn", 0.5),
    ///         Viseme::new(0.35, "oh", 0.8),
    ///         Viseme::new(0.60, "sil", 1.0),
    ///     ])?;
    ///     let hello = AnimationTrack::new("hello").blend(BlendMode::Override);
    ///     controller.play_over(hello, Duration::ZERO, Duration::ZERO);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// If there is a clip of this name, if the character can show none of the shapes, or if a weight is not finite.
    pub fn add_speech(
        &mut self,
        name: impl Into<Arc<str>>,
        visemes: &[Viseme],
    ) -> Result<(), AddClipError> {
        let clip = SkeletalClip::from_visemes(name, visemes, self.skeleton.morphs())?;
        self.add_clip(&clip)
    }

    /// Adds a clip, matched to the skeleton by the names of joints and morph targets.
    ///
    /// All instances can play it from the next frame on, by name. Their tracks play on, their parts
    /// stay, and their culling boxes grow to hold it. This takes about as long as loading the clip
    /// did: it looks at every frame.
    /// Reloading the character's file brings back the clips that the file has. To have a clip there from the start,
    /// name it in a [manifest](crate::import::Manifest).
    ///
    /// ```no_run
    /// # use bevy::prelude::*;
    /// # use bevy_marionette::{asset::{Character, ClipAsset}, prelude::*};
    /// # #[derive(Resource)] struct Learned { who: Handle<Character>, what: Handle<ClipAsset> }
    /// fn learn(learned: Res<Learned>, clips: Res<Assets<ClipAsset>>, mut characters: ResMut<Assets<Character>>) {
    ///     if let (Some(clip), Some(mut character)) = (clips.get(&learned.what), characters.get_mut(&learned.who)) {
    ///         if let Err(error) = character.add_clip(clip) {
    ///             error!("{error}");
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// If there is a clip of this name, or if the clip and the character have no joint and no morph target in common. Then
    /// nothing is changed.
    pub fn add_clip(&mut self, clip: &SkeletalClip) -> Result<(), AddClipError> {
        let name = &clip.timing.name;
        if self.clip(name).is_some() {
            return Err(AddClipError::NameTaken(name.clone()));
        }
        let morphs = self.skeleton.morphs();
        // Names decide, because a clip of another file has indices of its own.
        let moves_face = clip
            .morphs()
            .iter()
            .any(|name| morphs.morph(name).is_some());
        let moves_joints = clip
            .joints()
            .iter()
            .any(|joint| self.joint(joint).is_some());
        if !moves_joints && !moves_face {
            return Err(AddClipError::OtherJoints(name.clone()));
        }
        let clip = clip.bind(&self.skeleton);
        // In step with the clips, whose indices they share.
        if let Some(feet) = &self.feet {
            self.plants
                .push(Arc::new(Plants::detect(feet, &self.skeleton, &clip)));
        }
        self.clips.push(Arc::new(clip));
        // A space may have waited for this clip.
        self.bind_blend_spaces();
        self.follow_clips();
        Ok(())
    }

    /// Removes the clip called `name`, and returns it. `None` if there is no such clip.
    ///
    /// Tracks that play it stop, which is logged once, and have no part in the pose. They resume
    /// where they were if a clip of this name is added again. Other tracks are not affected.
    pub fn remove_clip(&mut self, name: &str) -> Option<Arc<SkeletalClip>> {
        let index = self.index_of(name)?;
        let clip = self.clips.remove(index);
        if index < self.plants.len() {
            self.plants.remove(index);
        }
        self.bind_blend_spaces();
        self.follow_clips();
        // The indices of later clips have changed, so anything that was looked up by index is
        // invalid.
        self.version = next_version();
        Some(clip)
    }

    /// Updates the boxes around blends, and the speeds of joints, to the present clips.
    fn follow_clips(&mut self) {
        self.clip_boxes.follow(&self.clips);
        let (boxes, _) = self.clip_boxes.long();
        boxes.into_iter().for_each(|find| find());
        let reach = BlendReach::new(&self.skeleton, self.clips.iter().map(|clip| &**clip));
        for part in &mut self.parts {
            // These boxes shrink, too, when the clip that reached farthest is gone.
            if let Some(bounds) = part.bounds.within(&reach) {
                part.blend_bounds = aabb(bounds);
            }
        }
        self.reach = Arc::new(reach);
        self.turn_speeds = Arc::new(TurnSpeeds::new(
            &self.skeleton,
            self.clips.iter().map(|clip| &**clip),
        ));
    }
}
