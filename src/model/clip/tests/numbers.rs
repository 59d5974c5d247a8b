use super::*;

#[test]
fn a_step_is_at_least_as_large_as_asked_for_and_less_than_a_quarter_larger() {
    let mut least = 1e-12;
    while least < 1e7 {
        let step = step(step_bits(least).unwrap());
        assert!(step >= least && step <= 1.25 * least, "{least} {step}");
        least *= 1.013;
    }
    assert_eq!(step_bits(0.0), Some(0));
    assert_eq!([1e8, f32::INFINITY].map(step_bits), [None; 2]);
}

#[test]
fn numbers_of_all_widths_read_back_within_their_tolerance() {
    let mut random = fastrand::Rng::with_seed(2);
    let mut widths = [0; 17];
    for _ in 0..if cfg!(miri) { 20 } else { 2000 } {
        // Two channels, so that the second one starts anywhere.
        let mut value = || {
            let range = (random.f32() * -14.0).exp2();
            let low = (random.f32() - 0.5) * [0.0, 1.0, 100.0][random.usize(..3)];
            [low, low + range]
        };
        let mut channels: Vec<[[Vec4; 3]; 2]> = Vec::new();
        for _ in 0..2 {
            let (mut lows, mut highs) = ([Vec4::ZERO; 3], [Vec4::ZERO; 3]);
            for i in 0..12 {
                [lows[i / 4][i % 4], highs[i / 4][i % 4]] = value();
            }
            channels.push([lows, highs]);
        }
        let tolerance = 1e-5 * (random.f32() * 9.0).exp2();
        let frames: Vec<Vec<Vec4>> = (0..5)
            .map(|frame| {
                let between = |[lows, highs]: &[[Vec4; 3]; 2]| {
                    [0, 1, 2].map(|i| {
                        let share = match frame {
                            0 => Vec4::ZERO,
                            1 => Vec4::ONE,
                            _ => Vec4::from_array([0; 4].map(|_| random.f32())),
                        };
                        lows[i] + (highs[i] - lows[i]) * share
                    })
                };
                channels.iter().flat_map(between).collect()
            })
            .collect();
        let mut writer = NumberWriter::default();
        let mut formats = Vec::new();
        for (at, [lows, highs]) in channels.into_iter().enumerate() {
            let tolerances = [Vec4::splat(tolerance); 3];
            let rest = [Vec4::NAN; 3];
            match NumberFormat::fit(lows, highs, tolerances, rest) {
                Some(Fitted::Numbers(mut format)) => {
                    writer.add(&mut format, at * 3);
                    let all = format.widths();
                    for &width in all.as_flattened() {
                        widths[usize::from(width)] += 1;
                    }
                    formats.push((at * 3, format));
                }
                Some(Fitted::Still(values)) => {
                    for (i, value) in values.into_iter().enumerate() {
                        assert!((value - lows[i]).abs().max_element() <= 1.01 * tolerance);
                    }
                }
                None => {}
            }
        }
        let numbers = writer.finish(frames.iter().map(Vec::as_slice));
        for (from, format) in &formats {
            for (frame, exact) in frames.iter().enumerate() {
                let got = numbers.read(format, frame);
                for (got, exact) in got.iter().zip(&exact[*from..]) {
                    let apart = (*got - *exact).abs().max_element();
                    // Steps are rounded up by less than a quarter, and f32 rounds values of 50 to 4e-6.
                    assert!(apart <= 1.26 * tolerance + 1e-5, "{apart} of {tolerance}");
                }
            }
        }
    }
    let unused = (0..17).filter(|&width| widths[width] == 0);
    assert_eq!(unused.collect::<Vec<usize>>(), [0; 0]);
}

#[test]
fn a_channel_near_the_rest_pose_is_left_to_it() {
    let rest = [Vec4::new(0.1, 0.2, 0.3, 0.4)];
    let fit = |low: f32, high: f32| {
        let [lows, highs] = [low, high].map(|by| rest.map(|rest| rest + by));
        NumberFormat::fit(lows, highs, [Vec4::splat(0.01); 1], rest)
    };
    assert!(matches!(fit(-0.009, 0.009), Some(Fitted::Still(still)) if still == rest));
    assert!(matches!(fit(0.005, 0.015), Some(Fitted::Still(still)) if still != rest));
    assert!(matches!(fit(-0.02, 0.02), Some(Fitted::Numbers(_))));
    assert!(fit(-1e6, 1e6).is_none(), "too many bits");
    assert!(fit(0.0, f32::INFINITY).is_none());
    // Without a tolerance, nothing but the rest pose is close enough.
    let exact = NumberFormat::fit(rest, rest, [Vec4::ZERO], rest);
    assert!(matches!(exact, Some(Fitted::Still(still)) if still == rest));
}
