//! Imported skins against the formula, and files written, damaged and made up.

use super::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn an_imported_skin_moves_as_the_files_formula_says(seed: u64, joints in 2usize..12, frames in 1u32..5, turned: bool) {
        let mut chance = Chance(fastrand::Rng::with_seed(seed));
        let mesh = chance.mesh(joints, if turned { 0.6 } else { 0.0 });
        let anim = chance.anim(&mesh, frames);
        let imported = import(&mesh);
        let model = &imported.model;
        assert_sound(model);
        prop_assert_eq!(imported.report.bind_recovered, turned);
        prop_assert!(imported.report.bind_residual_relative < 1e-5, "{:?}", imported.report);
        // Joints, skin and reference are a few units across.
        let tolerance = 1e-4;
        let rest = skinned(model, &pose_of_clip(model, None));
        prop_assert!(largest_distance(&rest, &formula(&mesh, &pose_of_joints(&mesh))) < tolerance);

        let clip = clip_from_md5("a.md5anim", "a", &checked(&anim), &model.skeleton, &ImportSettings::default()).unwrap();
        prop_assert_eq!(clip.warnings, []);
        // The clip may have frames between the file's; on each of them it is the formula's pose.
        let steps = (clip.value.frame_count() - 1).checked_div(frames as usize - 1).unwrap_or(1);
        for frame in 0..clip.value.frame_count() {
            let truth = pose_of_anim(&mesh, &anim, frame / steps, (frame % steps) as f64 / steps as f64);
            let skin = skinned(model, &pose_of_clip(model, Some((&clip.value, frame, 0.0))));
            let off = largest_distance(&skin, &formula(&mesh, &truth));
            prop_assert!(off < tolerance, "frame {frame} of {steps} each: {off}");
        }
    }

    #[test]
    fn between_frames_an_imported_skin_keeps_to_the_arc(seed: u64, joints in 2usize..6, fast in 0.05f64..0.85) {
        let mut chance = Chance(fastrand::Rng::with_seed(seed));
        let mesh = chance.mesh(joints, 0.0);
        let anim = chance.turning(&mesh, 4, fast);
        let model = &import(&mesh).model;
        let clip = clip_from_md5("a.md5anim", "a", &checked(&anim), &model.skeleton, &ImportSettings::default()).unwrap().value;
        let steps = (clip.frame_count() - 1) / 3;
        for _ in 0..4 {
            let at = chance.0.f64() * 3.0;
            let truth = formula(&mesh, &pose_of_anim(&mesh, &anim, at as usize, at.fract()));
            let fine = at * steps as f64;
            let skin = skinned(model, &pose_of_clip(model, Some((&clip, fine as usize, fine.fract()))));
            let size = truth.iter().map(|v| v.length()).fold(0.0, f64::max);
            let off = largest_distance(&skin, &truth);
            prop_assert!(off < 1e-4 * size, "at {at}, {steps} steps: {off} of {size}");
        }
    }

    #[test]
    fn what_is_written_reads_back_and_imports_as_the_same_model(seed: u64, joints in 1usize..12, frames in 1u32..5) {
        let mut chance = Chance(fastrand::Rng::with_seed(seed));
        let mesh = chance.mesh(joints, 0.0);
        let anim = chance.anim(&mesh, frames);
        let read = parse_mesh("a", write_mesh(&mesh).as_bytes()).unwrap();
        prop_assert_eq!((&*read.value, read.warnings.len()), (&mesh, 0));
        let read = parse_anim("a", write_anim(&anim).as_bytes()).unwrap();
        prop_assert_eq!((&*read.value, read.warnings.len()), (&anim, 0));

        let model = import(&mesh).model;
        let clip = clip_from_md5("a", "a", &checked(&anim), &model.skeleton, &ImportSettings::default()).unwrap().value;
        let text = write_mesh(&to_md5_mesh(&model));
        let again = import(&parse_mesh("b", text.as_bytes()).unwrap().value).model;
        prop_assert_eq!(model.skeleton.names(), again.skeleton.names());
        prop_assert_eq!(model.skeleton.parents(), again.skeleton.parents());
        prop_assert_eq!(model.parts.len(), again.parts.len());
        for (part, again) in model.parts.iter().zip(&again.parts) {
            prop_assert_eq!((&part.name, &part.tex_coords, &part.triangles), (&again.name, &again.tex_coords, &again.triangles));
            for (a, b) in part.positions.iter().zip(&again.positions) {
                prop_assert!((*a - *b).length() < 1e-5 * 4.0);
            }
            prop_assert_eq!(part.combined_joints.len(), again.combined_joints.len());
            for vertex in 0..part.positions.len() {
                // All joints are written, however many.
                let mut joints = part.joint_weights(vertex).zip(again.joint_weights(vertex));
                prop_assert_eq!(part.joint_weights(vertex).count(), again.joint_weights(vertex).count());
                let agree = joints.all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-5);
                prop_assert!(agree, "vertex {}", vertex);
            }
        }
        let text = write_anim(&to_md5_anim(&clip, &model.skeleton));
        let anim = parse_anim("b", text.as_bytes()).unwrap().value;
        let again = clip_from_md5("b", "a", &checked(&anim), &model.skeleton, &ImportSettings::default()).unwrap().value;
        // Turns that four steps do not tame are divided once more; the frames that were there stay.
        let steps = (again.frame_count() - 1).checked_div(clip.frame_count() - 1).unwrap_or(1);
        prop_assert_eq!((clip.frame_count() - 1) * steps, again.frame_count() - 1);
        prop_assert!((clip.timing.duration - again.timing.duration).abs() < 1e-6);
        for (joint, frame) in (0..joints).flat_map(|j| (0..clip.frame_count()).map(move |f| (j, f))) {
            let (a, b) = (clip.transform_at(joint, frame), again.transform_at(joint, frame * steps));
            prop_assert!((a.translation - b.translation).length() < 1e-5);
            // Near half a turn the w that MD5 leaves out is known to half the digits of the rest.
            prop_assert!(a.rotation.dot(b.rotation).abs() > 1.0 - 1e-6);
        }
    }

    #[test]
    fn damaged_files_are_read_or_refused_and_what_is_read_imports(seed: u64, cut: bool) {
        let mut chance = Chance(fastrand::Rng::with_seed(seed));
        let mesh = chance.mesh(4, 0.0);
        let mut text = write_mesh(&mesh).into_bytes();
        let mut moves = write_anim(&chance.anim(&mesh, 3)).into_bytes();
        for text in [&mut text, &mut moves] {
            if cut {
                text.truncate(chance.0.usize(0..text.len()));
            }
            for _ in 0..chance.0.usize(0..4) {
                let at = chance.0.usize(0..text.len().max(1)).min(text.len());
                let with = *chance.0.choice(b"0123456789-.e \n\t\"{}()x/\xff\0").unwrap();
                match chance.0.u32(0..3) {
                    0 => text.insert(at, with),
                    1 if at < text.len() => text[at] = with,
                    _ if at < text.len() => drop(text.remove(at)),
                    _ => {}
                }
            }
        }
        let skeleton = import(&mesh).model.skeleton;
        if let Ok(read) = parse_mesh("a", &text)
            && let Ok(imported) = from_md5("a", &read.value, &ImportSettings::default())
        {
            assert_sound(&imported.model);
        }
        if let Ok(read) = parse_anim("a", &moves) {
            prop_assert!(read.value.frame_count() > 0 && read.value.frame_rate != 0.0);
            // A clip that is made is finite, or `SkeletalClip::new` would have refused it.
            let _ = clip_from_md5("a", "a", &read.value, &skeleton, &ImportSettings::default());
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text: String, words in prop::collection::vec(
        prop::sample::select(vec!["MD5Version 10", "joints {", "mesh {", "}", "vert", "tri", "weight", "0", "-1", "( 0 0 0 )",
            "\"a\"", "frame", "{", "numverts", "4294967295", "hierarchy {", "baseframe {", "bounds {", "1e39", "\n", "//"]), 0..60))
    {
        for text in [text, format!("MD5Version 10\n{}", words.join(" "))] {
            let _ = parse_mesh("a", text.as_bytes());
            let _ = parse_anim("a", text.as_bytes());
        }
    }
}
