//! A part in a pose, as the GPU draws it.

use bevy_marionette::{
    internals::pose::{Palette, SkinVertices},
    model::{Skeleton, SkinPart},
};
use glam::{Affine3A, Mat4, Vec3};

/// Returns the positions of a part's vertices. `joints` has the matrix of each joint, in model space.
pub fn drawn(skeleton: &Skeleton, part: &SkinPart, joints: &[Affine3A]) -> Vec<Vec3> {
    // Whatever is not written shows.
    let mut palette = vec![Mat4::NAN; part.palette_len()];
    Palette {
        world: Affine3A::IDENTITY,
        model: joints,
        inverse_bind: skeleton.inverse_bind(),
        remap: &part.palette,
        combined: &part.combined_joints,
    }
    .run(&mut palette);
    let mut positions = part.positions.clone();
    SkinVertices {
        part,
        palette: &palette,
    }
    .positions(&mut positions);
    positions
}
