use super::*;
use crate::import::{LookAtEntry, SpringEntry};
use crate::messages::assert_message;
use crate::model::{ClipFrames, ClipTiming, Joint, JointTransform, Skeleton};

/// A model that has everything that some format lacks.
fn model() -> Model {
    let rest = JointTransform {
        translation: glam::Vec3::Y,
        ..JointTransform::IDENTITY
    };
    let joint = Joint {
        name: "hips".into(),
        parent: None,
        rest,
        inverse_bind: Affine3A::IDENTITY,
    };
    let mut timing = ClipTiming::new("jump", 1.0);
    timing.playback = PlaybackMode::Once;
    timing.add_callback(0.5, "land", ());
    let frames = ClipFrames {
        joints: ["hips".into()].into(),
        animated: vec![],
        transforms: vec![JointTransform {
            scale: glam::Vec3::splat(2.0),
            ..rest
        }],
    };
    let mut clip = SkeletalClip::new(timing, &frames).unwrap();
    clip.additive = true;
    Model {
        skeleton: Skeleton::new(vec![joint]).unwrap(),
        parts: vec![SkinPart {
            name: "body".into(),
            normals: vec![glam::Vec3::Y],
            colors: vec![glam::Vec4::ONE],
            ..SkinPart::default()
        }],
        materials: vec![Material {
            name: "skin".into(),
            base_color: [2.0, 1.0, 1.0, 0.5],
            normal_map: Some("n.png".into()),
            specular_map: Some("s.png".into()),
            alpha_cutoff: Some(0.5),
            ..Material::default()
        }],
        clips: vec![clip],
    }
}

fn said(model: &Model, format: WriteFormat) -> String {
    losses("out", model, None, format)
        .iter()
        .map(|d| format!("{}\n", d.message))
        .collect()
}

#[test]
fn each_format_lists_what_it_lacks_and_nothing_else() {
    assert_message("losses: as m3d", said(&model(), WriteFormat::M3d));
    assert_message("losses: as md5", said(&model(), WriteFormat::Md5));
    #[cfg(feature = "gltf")]
    assert_message("losses: as glb", said(&model(), WriteFormat::Glb));
    let mut manifest = Manifest::of_model("a.glb");
    manifest.look_at = Some(LookAtEntry::new([("head", 1.0)]));
    manifest.springs = vec![SpringEntry::new(["ear.L", "ear.R"])];
    for format in [WriteFormat::M3d, WriteFormat::Md5] {
        let lost = losses("out", &Model::default(), Some(&manifest), format);
        let lost = lost
            .iter()
            .map(|warning| &*warning.message)
            .collect::<Vec<_>>();
        assert_eq!(lost, ["not kept: 1 look_at joint", "not kept: 2 springs"]);
        assert_eq!(said(&Model::default(), format), "");
    }
}
