//! The nodes that any animation of a file moves.

use super::{times::Moved, transforms::Moving};
use ufbx::{Node, Scene, Transform};

/// The properties that all animation stacks of a file move.
pub(super) struct Moves<'a> {
    stacks: Vec<Moved<'a>>,
    /// Per node, whether any stack moves its translation, rotation and scale.
    pub(super) of_node: Vec<[bool; 3]>,
}

pub(super) fn moves(scene: &Scene) -> Moves<'_> {
    let stacks: Vec<Moved> = scene.anim_stacks.into_iter().map(Moved::new).collect();
    // All stacks as one, so that each node is looked at once.
    let all = Moved::all(&stacks);
    let keyed = |node| all.as_ref().map_or([false; 3], |all| all.keyed(node));
    let of_node = scene.nodes.into_iter().map(keyed).collect();
    Moves { stacks, of_node }
}

impl<'a> Moves<'a> {
    /// The transforms of a node at the keys of its scale.
    pub(super) fn at_scale_keys(&self, node: &'a Node) -> impl Iterator<Item = Transform> + '_ {
        // Most stacks have no keys of it, and those of a file may be many.
        let stacks = self.stacks.iter();
        let stacks = stacks.filter(|moved| moved.scale_keys(node).next().is_some());
        stacks.flat_map(|moved| {
            let moving = Moving::new(moved, node);
            moved.scale_keys(node).map(move |time| moving.at(time))
        })
    }
}
