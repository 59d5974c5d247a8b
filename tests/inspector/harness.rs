//! An app with a window that is never shown, driven by input messages.

use super::painted::{Painted, PaintedPlugin};
use bevy::{
    app::PluginsState,
    input::{
        ButtonState,
        keyboard::{Key, KeyboardInput},
        mouse::MouseButtonInput,
    },
    log::LogPlugin,
    prelude::*,
    render::{
        RenderPlugin,
        settings::{RenderCreation, WgpuSettings},
    },
    time::TimeUpdateStrategy,
    window::{PrimaryWindow, WindowEvent, WindowResolution},
    winit::WinitPlugin,
};
use bevy_egui::{
    EguiContext,
    egui::{self, Rect},
};
use bevy_marionette::{
    asset::{Character, build_character},
    import::{GoalEntry, LookAtEntry, Manifest, MaskEntry},
    inspector::MarionetteInspectorPlugin,
    model::{
        ClipFrames, ClipTiming, Influences, Joint, JointTransform, Material, Model, SkeletalClip,
        Skeleton, SkinPart,
    },
    prelude::*,
    rig::Limb,
};
use glam::Affine3A;
use std::{path::Path, time::Duration};

pub const FRAME: f64 = 1.0 / 60.0;

/// Callbacks fired: name and time in the clip.
#[derive(Resource, Default)]
struct Heard(Vec<(String, f64)>);

pub struct Harness {
    pub app: App,
    pub character: Entity,
    window: Entity,
}

impl Harness {
    /// An app with a waving character and a closed inspector.
    pub fn new() -> Self {
        Self::in_window(1280, 800, 1.0)
    }

    /// Like [`new`](Self::new), in a window of this physical size and scale factor.
    pub fn in_window(width: u32, height: u32, scale: f32) -> Self {
        Self::build_with((width, height, scale), |_| {})
    }

    /// Like [`new`](Self::new), with more added to the app.
    pub fn with(more: impl FnOnce(&mut App)) -> Self {
        Self::build_with((1280, 800, 1.0), more)
    }

    /// Like [`new`](Self::new), with assets in a folder.
    pub fn in_folder(folder: &Path) -> Self {
        let assets = AssetPlugin {
            file_path: folder
                .to_str()
                .expect("the folder has a name in UTF-8")
                .to_owned(),
            ..default()
        };
        Self::build((1280, 800, 1.0), assets, |app| {
            app.add_plugins((MarionetteInspectorPlugin, PaintedPlugin));
        })
    }

    /// [`in_window`](Self::in_window), with more added to the app.
    pub fn build_with(window: (u32, u32, f32), more: impl FnOnce(&mut App)) -> Self {
        Self::build(window, AssetPlugin::default(), |app| {
            app.add_plugins((MarionetteInspectorPlugin, PaintedPlugin));
            more(app);
        })
    }

    /// An app without the panel and without [`Painted`].
    pub fn bare(more: impl FnOnce(&mut App)) -> Self {
        Self::build((1280, 800, 1.0), AssetPlugin::default(), more)
    }

    fn build(
        (width, height, scale): (u32, u32, f32),
        assets: AssetPlugin,
        more: impl FnOnce(&mut App),
    ) -> Self {
        let mut app = App::new();
        let resolution = WindowResolution::new(width, height).with_scale_factor_override(scale);
        let wgpu = WgpuSettings {
            backends: None,
            ..default()
        };
        app.add_plugins(
            DefaultPlugins
                .set(assets)
                .set(RenderPlugin {
                    render_creation: RenderCreation::Automatic(Box::new(wgpu)),
                    ..default()
                })
                .set(WindowPlugin {
                    primary_window: Some(Window {
                        resolution,
                        ..default()
                    }),
                    ..default()
                })
                .disable::<WinitPlugin>()
                .disable::<LogPlugin>(),
        );
        app.add_plugins(MarionettePlugins::default());
        app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(
            FRAME,
        )));
        app.init_resource::<Heard>()
            .add_message::<AnimationCallback>();
        app.add_systems(
            Last,
            |mut heard: ResMut<Heard>, mut events: MessageReader<AnimationCallback>| {
                heard.0.extend(
                    events
                        .read()
                        .map(|event| (event.name.to_string(), event.clip_time)),
                );
            },
        );
        more(&mut app);
        while app.plugins_state() == PluginsState::Adding {
            std::thread::yield_now();
        }
        app.finish();
        app.cleanup();
        let world = app.world_mut();
        world.spawn((
            Camera3d::default(),
            Transform::from_xyz(0.0, 1.0, 6.0).looking_at(Vec3::Y, Vec3::Y),
        ));
        let mut manifest = Manifest::of_model("code");
        manifest.masks.insert(
            "left arm".into(),
            MaskEntry {
                roots: vec!["arm.L".into()],
                falloff: 0,
                ..MaskEntry::default()
            },
        );
        let limb = Limb::two_bone("body", "hand.L");
        manifest.goals.insert("reach".into(), GoalEntry::new(limb));
        manifest.look_at = Some(LookAtEntry::new([("arm.R", 0.3), ("hand.R", 0.7)]));
        let character = world.resource_scope(|world, mut meshes: Mut<Assets<Mesh>>| {
            let mut materials = world.resource_mut::<Assets<StandardMaterial>>();
            build_character(waver(), &manifest, &mut meshes, &mut materials)
        });
        let handle = world.resource_mut::<Assets<Character>>().add(character);
        let character = world
            .spawn((
                Name::new("Waver"),
                SkinnedCharacter(handle),
                AnimationController::playing("wave"),
            ))
            .id();
        let window = world
            .query_filtered::<Entity, With<PrimaryWindow>>()
            .single(world)
            .unwrap();
        let mut harness = Self {
            app,
            character,
            window,
        };
        harness.frames(3);
        harness
    }

    pub fn frames(&mut self, count: usize) {
        for _ in 0..count {
            self.app.update();
        }
    }

    pub fn get<C: Component>(&self) -> Option<&C> {
        self.app.world().get::<C>(self.character)
    }

    pub fn controller(&mut self) -> Mut<'_, AnimationController> {
        self.app
            .world_mut()
            .get_mut(self.character)
            .expect("a character has a controller")
    }

    /// Returns the callback keys of the character's clip: name and time.
    pub fn keys(&self) -> Vec<(String, f64)> {
        let handle = self.get::<SkinnedCharacter>().expect("it is a character");
        let character = self
            .app
            .world()
            .resource::<Assets<Character>>()
            .get(handle.id())
            .expect("it is loaded");
        character.clips[0]
            .timing
            .callbacks
            .iter()
            .map(|key| (key.name.to_string(), key.time))
            .collect()
    }

    /// Returns the ends of those that are ranges.
    pub fn ends(&self) -> Vec<f64> {
        let handle = self.get::<SkinnedCharacter>().expect("it is a character");
        let character = self
            .app
            .world()
            .resource::<Assets<Character>>()
            .get(handle.id())
            .expect("it is loaded");
        character.clips[0]
            .timing
            .callbacks
            .iter()
            .filter_map(|key| key.until)
            .collect()
    }

    /// Runs some frames and returns the callbacks fired.
    pub fn heard_in(&mut self, frames: usize) -> Vec<(String, f64)> {
        self.app.world_mut().resource_mut::<Heard>().0.clear();
        self.frames(frames);
        std::mem::take(&mut self.app.world_mut().resource_mut::<Heard>().0)
    }

    fn painted(&self) -> &Painted {
        self.app.world().resource()
    }

    /// Returns texts that are cut off.
    pub fn cut(&self) -> &[String] {
        &self.painted().cut
    }

    /// Returns egui's current theme.
    pub fn theme(&mut self) -> egui::Theme {
        let world = self.app.world_mut();
        world
            .query::<&mut EguiContext>()
            .single_mut(world)
            .expect("one camera")
            .get_mut()
            .theme()
    }

    /// Returns the texts last painted.
    pub fn texts(&self) -> Vec<&str> {
        self.painted().texts()
    }

    pub fn shows(&self, text: &str) -> bool {
        self.painted().shows(text)
    }

    pub fn copied(&self) -> Option<String> {
        self.painted().copied.clone()
    }

    /// Returns where a text is painted.
    pub fn find(&self, text: &str) -> Rect {
        self.painted().find(text)
    }

    /// Returns where a text containing `part` is painted, right of `label` in the same row.
    pub fn find_beside(&self, label: &str, part: &str) -> Rect {
        self.painted().find_beside(label, part)
    }

    /// Returns the first text right of `label` in the same row.
    pub fn text_beside(&self, label: &str) -> String {
        self.painted().text_beside(label)
    }

    /// Projects a point in the world to the window.
    pub fn in_view(&mut self, point: Vec3) -> egui::Pos2 {
        let world = self.app.world_mut();
        let mut cameras = world.query::<(&Camera, &GlobalTransform)>();
        let (camera, from) = cameras.single(world).unwrap();
        let at = camera.world_to_viewport(from, point).unwrap();
        egui::pos2(at.x, at.y)
    }

    /// Presses and releases a key.
    pub fn key(&mut self, key_code: KeyCode, logical_key: Key) {
        for state in [ButtonState::Pressed, ButtonState::Released] {
            let (logical_key, window) = (logical_key.clone(), self.window);
            let input = KeyboardInput {
                key_code,
                logical_key,
                state,
                text: None,
                repeat: false,
                window,
            };
            self.app.world_mut().write_message(input);
            self.app.update();
        }
    }

    /// Types a text.
    pub fn type_text(&mut self, text: &str) {
        for letter in text.chars() {
            // The physical key doesn't matter for text input.
            self.key(
                KeyCode::F24,
                if letter == ' ' {
                    Key::Space
                } else {
                    Key::Character(letter.to_string().into())
                },
            );
        }
        self.frames(1);
    }

    pub fn click(&mut self, text: &str) {
        let at = self.find(text).center();
        self.drag(at, egui::Vec2::ZERO);
    }

    /// Presses at `from`, moves by `by` in steps, and releases.
    pub fn drag(&mut self, from: egui::Pos2, by: egui::Vec2) {
        self.point(from);
        self.button(ButtonState::Pressed);
        if by != egui::Vec2::ZERO {
            for step in 1..=8 {
                self.point(from + by * (step as f32 / 8.0));
            }
        }
        self.button(ButtonState::Released);
        self.frames(2);
    }

    pub fn point(&mut self, at: egui::Pos2) {
        let (window, position) = (self.window, Vec2::new(at.x, at.y));
        // Windows send each event twice: as its own type and as a `WindowEvent`.
        let moved = CursorMoved {
            window,
            position,
            delta: None,
        };
        let mut of = self
            .app
            .world_mut()
            .get_mut::<Window>(window)
            .expect("the window");
        of.set_cursor_position(Some(position));
        self.app
            .world_mut()
            .write_message(WindowEvent::from(moved.clone()));
        self.app.world_mut().write_message(moved);
        self.app.update();
    }

    pub fn button(&mut self, state: ButtonState) {
        let window = self.window;
        let input = MouseButtonInput {
            button: MouseButton::Left,
            state,
            window,
        };
        self.app.world_mut().write_message(WindowEvent::from(input));
        self.app.world_mut().write_message(input);
        self.app.update();
    }
}

/// A body with two arms. The clip `wave` lifts the left one and fires `up` halfway; `still` doesn't move.
pub fn waver() -> Model {
    let joint = |name: &str, parent, translation| Joint {
        name: name.into(),
        parent,
        rest: JointTransform::new(translation, Quat::IDENTITY),
        inverse_bind: Affine3A::IDENTITY,
    };
    let skeleton = Skeleton::new(vec![
        joint("body", None, Vec3::Y),
        joint("arm.L", Some(0), Vec3::X),
        joint("arm.R", Some(0), Vec3::NEG_X),
        joint("hand.L", Some(1), Vec3::X),
        joint("hand.R", Some(2), Vec3::NEG_X),
    ])
    .unwrap();
    let transforms = (0..3).flat_map(|frame| {
        let lift = Quat::from_rotation_z(frame as f32 * 0.3);
        (0..5).map(move |joint| JointTransform {
            rotation: if joint == 1 { lift } else { Quat::IDENTITY },
            ..rest(joint)
        })
    });
    let animated = vec![false, true, false, false, false];
    let frames = ClipFrames {
        joints: skeleton.names().clone(),
        animated,
        transforms: transforms.collect(),
    };
    let mut timing = ClipTiming::new("wave", 1.0);
    timing.add_callback(0.5, "up", ron::Value::Unit);
    let influences = vec![
        Influences {
            palette: [0, 0, 0, 0],
            weights: [1.0, 0.0, 0.0, 0.0],
        },
        Influences {
            palette: [0, 1, 0, 0],
            weights: [0.5, 0.5, 0.0, 0.0],
        },
        Influences {
            palette: [1, 0, 0, 0],
            weights: [1.0, 0.0, 0.0, 0.0],
        },
    ];
    let part = SkinPart {
        name: "skin".into(),
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        normals: vec![Vec3::Z; 3],
        tangents: vec![Vec4::new(1.0, 0.0, 0.0, 1.0); 3],
        tex_coords: vec![Vec2::ZERO; 3],
        influences,
        triangles: vec![[0, 1, 2]],
        palette: vec![0, 1],
        source_vertices: vec![0, 1, 2],
        ..SkinPart::default()
    };
    let still = ClipFrames {
        transforms: (0..5).map(rest).collect(),
        ..frames.clone()
    };
    let clips = vec![
        SkeletalClip::new(timing, &frames).unwrap(),
        SkeletalClip::new(ClipTiming::new("still", 1.0), &still).unwrap(),
    ];
    Model {
        skeleton,
        parts: vec![part],
        clips,
        materials: vec![Material {
            name: "skin".into(),
            ..Material::default()
        }],
    }
}

fn rest(joint: usize) -> JointTransform {
    let at = [Vec3::Y, Vec3::X, Vec3::NEG_X, Vec3::X, Vec3::NEG_X];
    JointTransform::new(at[joint], Quat::IDENTITY)
}
