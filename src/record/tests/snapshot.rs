use super::*;
use crate::{model::ClipTiming, rig::LookState};
use glam::Vec2;

#[test]
fn a_rig_whose_numbers_are_not_finite_is_refused() {
    let clips = [ClipTiming::new("walk", 1.0)];
    for (turn, is_fine) in [(0.5, true), (f32::NAN, false), (f32::INFINITY, false)] {
        let look = LookState {
            turn: Vec2::new(0.0, turn),
            ..LookState::default()
        };
        let rig = RigState {
            look,
            ..RigState::default()
        };
        let snapshot = CharacterSnapshot {
            rig: Some(Box::new(rig)),
            ..CharacterSnapshot::default()
        };
        let read = CharacterSnapshot::from_bytes(&snapshot.to_bytes(), &clips[..]);
        assert_eq!(read.is_ok(), is_fine, "{turn}: {read:?}");
        let changes = snapshot.changes_since(&CharacterSnapshot::default());
        let read = CharacterSnapshot::default().with_changes(&changes, &clips[..]);
        assert_eq!(read.is_ok(), is_fine, "{turn}: {read:?}");
    }
}
