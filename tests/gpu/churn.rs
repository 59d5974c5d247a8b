//! Spawns, despawns, moves, stops and hides characters and Bevy's own skins at random, and checks every matrix on the GPU
//! after every frame. The renderer lends its buffer to the main world, which may be done before it could.

use super::{
    arm::arm,
    harness::Harness,
    offscreen::character::{palette, parts},
};
use bevy::{
    camera::visibility::NoFrustumCulling,
    mesh::skinning::{SkinnedMesh, SkinnedMeshInverseBindposes},
    prelude::*,
    render::{Render, RenderApp},
};
use bevy_marionette::{
    asset::Character,
    character::{AnimationLod, CharacterSystems, ModelPose, PartOverrides, PoseSharing},
    controller::AnimationTrack,
    prelude::*,
};
use fastrand::Rng;

const FRAMES: usize = 150;

/// One of Bevy's skins, with joint entities.
struct Other {
    mesh: Entity,
    joints: [Entity; 2],
}

struct Churn {
    harness: Harness,
    random: Rng,
    model: Handle<Character>,
    inverse_bindposes: Handle<SkinnedMeshInverseBindposes>,
    ours: Vec<Entity>,
    others: Vec<Other>,
}

impl Churn {
    /// If `late`, the renderer uploads every third frame late, so that the main world has no buffer to write to.
    fn new(sharing: PoseSharing, late: bool, seed: u64) -> Self {
        let mut harness = Harness::new();
        if late {
            let in_time = |mut frame: Local<u32>| {
                *frame += 1;
                !(*frame).is_multiple_of(3)
            };
            let render = harness.app.sub_app_mut(RenderApp);
            render.configure_sets(Render, CharacterSystems::UploadPalettes.run_if(in_time));
        }
        harness.world().insert_resource(sharing);
        let model = harness.add(arm());
        let binds = vec![Mat4::IDENTITY, Mat4::from_translation(Vec3::NEG_Y)];
        let inverse_bindposes = harness
            .world()
            .resource_mut::<Assets<SkinnedMeshInverseBindposes>>()
            .add(binds);
        Self {
            harness,
            random: Rng::with_seed(seed),
            model,
            inverse_bindposes,
            ours: vec![],
            others: vec![],
        }
    }

    fn place(&mut self) -> Transform {
        let mut number = || self.random.f32() * 2.0 - 1.0;
        let turn = Quat::from_euler(EulerRot::XYZ, number(), number(), number());
        Transform::from_xyz(number(), number(), number())
            .with_rotation(turn)
            .with_scale(Vec3::splat(1.0 + 0.5 * number()))
    }

    fn spawn_ours(&mut self) {
        let mut controller = AnimationController::default();
        controller.add_track(
            AnimationTrack::new("bend").starting_at(f64::from(self.random.u8(..4)) * 0.2),
        );
        let place = self.place();
        self.ours.push(
            self.harness
                .world()
                .spawn((SkinnedCharacter(self.model.clone()), controller, place))
                .id(),
        );
    }

    fn spawn_other(&mut self) {
        let (place, inverse_bindposes, model) = (
            self.place(),
            self.inverse_bindposes.clone(),
            self.model.clone(),
        );
        let world = self.harness.world();
        let part = world
            .resource::<Assets<Character>>()
            .get(&model)
            .unwrap()
            .parts[0]
            .clone();
        let joints =
            [place, Transform::from_xyz(0.5, 1.0, 0.0)].map(|place| world.spawn(place).id());
        let skin = SkinnedMesh {
            inverse_bindposes,
            joints: joints.to_vec(),
        };
        let looks = (
            Mesh3d(part.mesh),
            MeshMaterial3d(part.material),
            NoFrustumCulling,
        );
        let mesh = world.spawn((skin, looks, Transform::default())).id();
        self.others.push(Other { mesh, joints });
    }

    /// Does something random to one of each kind.
    fn happen(&mut self) {
        if let Some(at) = self
            .random
            .usize(..8)
            .checked_sub(1)
            .filter(|&at| at < self.ours.len())
        {
            let (entity, place, what) = (self.ours[at], self.place(), self.random.u8(..10));
            let mut entity = self.harness.world().entity_mut(entity);
            match what {
                0 => drop(entity.insert(place)),
                1 => drop(entity.insert(Visibility::Hidden)),
                2 => drop(
                    entity
                        .insert(Visibility::Inherited)
                        .remove::<PartOverrides>(),
                ),
                3 => drop(entity.insert(PartOverrides::default().hide("upper"))),
                4 => drop(entity.insert(ModelPose::default())),
                5 => drop(entity.remove::<ModelPose>()),
                6 => drop(entity.insert(AnimationLod {
                    poses: 0.0,
                    ..AnimationLod::default()
                })),
                7 => drop(entity.remove::<AnimationLod>()),
                _ => {
                    let mut controller = entity.get_mut::<AnimationController>().unwrap();
                    let paused = controller.paused;
                    controller.paused = !paused;
                }
            }
        }
        if let Some(other) = self.others.get(self.random.usize(..6)) {
            let (mesh, joint, place, what) = (
                other.mesh,
                other.joints[1],
                self.place(),
                self.random.u8(..3),
            );
            let world = self.harness.world();
            match what {
                0 => drop(world.entity_mut(joint).insert(place)),
                1 => drop(world.entity_mut(mesh).insert(Visibility::Hidden)),
                _ => drop(world.entity_mut(mesh).insert(Visibility::Inherited)),
            }
        }
        match self.random.u8(..20) {
            0 | 1 if self.ours.len() < 7 => self.spawn_ours(),
            2 if !self.ours.is_empty() => {
                let entity = self.ours.swap_remove(self.random.usize(..self.ours.len()));
                self.harness.world().despawn(entity);
            }
            3 | 4 if self.others.len() < 6 => self.spawn_other(),
            5 if !self.others.is_empty() => {
                let other = self
                    .others
                    .swap_remove(self.random.usize(..self.others.len()));
                self.harness.world().despawn(other.mesh);
            }
            _ => {}
        }
    }

    /// Compares what is in view. Returns the number of skins compared.
    fn check(&mut self, frame: usize) -> [usize; 2] {
        let mut seen = [0; 2];
        for &entity in &self.ours {
            for (index, part) in parts(self.harness.world(), entity).into_iter().enumerate() {
                if self
                    .harness
                    .world()
                    .get::<ViewVisibility>(part)
                    .unwrap()
                    .get()
                {
                    // A stored pose is rounded differently from one that is evaluated while it is written.
                    let expected = palette(self.harness.world(), entity, index);
                    let found = self.harness.buffers.current(part);
                    assert!(
                        same(&found, &expected),
                        "frame {frame}, {entity} part {index}: {found:?}, not {expected:?}"
                    );
                    seen[0] += 1;
                }
            }
        }
        for Other { mesh, joints } in &self.others {
            let world = self.harness.world();
            if !world.get::<ViewVisibility>(*mesh).unwrap().get() {
                continue;
            }
            let place =
                |joint: Entity| Mat4::from(world.get::<GlobalTransform>(joint).unwrap().affine());
            let expected = [
                place(joints[0]),
                place(joints[1]) * Mat4::from_translation(Vec3::NEG_Y),
            ];
            let found = self.harness.buffers.current(*mesh);
            assert!(
                same(&found, &expected),
                "frame {frame}, Bevy's {mesh}: {found:?} and not {expected:?}"
            );
            seen[1] += 1;
        }
        seen
    }
}

fn same(found: &[Mat4], expected: &[Mat4]) -> bool {
    found.len() == expected.len()
        && found
            .iter()
            .zip(expected)
            .all(|(a, b)| a.abs_diff_eq(*b, 1e-5))
}

#[test]
fn whatever_comes_goes_stops_and_hides_every_matrix_is_that_of_its_frame() {
    for (sharing, seed) in [
        (PoseSharing::Off, 1),
        (PoseSharing::Lossless, 2),
        (PoseSharing::Steps(8.0), 3),
    ] {
        for late in [false, true] {
            let mut churn = Churn::new(sharing, late, seed);
            (0..3).for_each(|_| churn.spawn_ours());
            churn.harness.update();
            let mut most = [0; 2];
            for frame in 0..FRAMES {
                churn.happen();
                churn.harness.update();
                let seen = churn.check(frame);
                most = [0, 1].map(|side| most[side].max(seen[side]));
            }
            assert!(
                most[0] >= 6 && most[1] >= 2,
                "hardly anything was in view: {most:?}"
            );
        }
    }
}
