use super::*;

fn f32_of(text: &str) -> Option<f32> {
    Lexer::new(text.as_bytes()).f32().ok()
}

#[test]
fn numbers_are_read_as_the_standard_library_reads_them() {
    let written = [
        "0",
        "-0",
        "1",
        "-1.5",
        "+2",
        ".5",
        "5.",
        "1e3",
        "1E-07",
        "-3.7e-17",
        "0.03756343",
        "37.46099",
        "1e-45",
        "3.4028235e38",
        "16777217",
        "0.1",
        "123456789012345678901234567890",
        "1.00000017881393421514957253748434595763683319091796875001",
        "9007199254740993",
        "1e22",
        "1e-22",
        "4.7019774e-38",
        "1.1754944e-38",
        "1.1754942e-38",
    ];
    for text in written {
        assert_eq!(
            f32_of(text).map(f32::to_bits),
            Some(text.parse::<f32>().unwrap().to_bits()),
            "{text}"
        );
    }
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..100_000 {
        let value = f32::from_bits(random.u32(..));
        if value.is_finite() {
            for text in [
                format!("{value}"),
                format!("{value:e}"),
                format!("{value:.6}"),
                format!("{:.9}", value.fract()),
            ] {
                assert_eq!(f32_of(&text), text.parse::<f32>().ok(), "{text}");
            }
        }
    }
}

#[test]
fn numbers_next_to_the_middle_between_two_neighbors_go_the_right_way() {
    let mut random = fastrand::Rng::with_seed(8);
    for _ in 0..100_000 {
        let below = f32::from_bits(random.u32(0x2000_0000..0x6000_0000));
        let middle = (f64::from(below) + f64::from(below.next_up())) / 2.0;
        for value in [middle.next_down(), middle, middle.next_up()] {
            for text in [
                format!("{value}"),
                format!("{value:.9e}"),
                format!("{value:.16e}"),
                format!("{value:.17E}"),
            ] {
                assert_eq!(f32_of(&text), text.parse::<f32>().ok(), "{text}");
            }
        }
    }
}

#[test]
fn short_numbers_are_rounded_as_the_standard_library_rounds_them() {
    let mut random = fastrand::Rng::with_seed(2);
    for _ in 0..300_000 {
        let digits = random.usize(1..16);
        let mut text = format!("{:0digits$}", random.u64(..10_u64.pow(digits as u32)));
        text.insert(random.usize(..=digits), '.');
        assert_eq!(
            short_f32(text.as_bytes()).map_or(f32_of(&text), |(value, _)| Some(value)),
            text.parse().ok()
        );
    }
}

#[test]
fn what_is_not_a_finite_number_is_refused_and_left_in_place() {
    for text in [
        "nan", "inf", "-", "e5", "1e", "1e400", "1x", "--1", "", "{", "0x10", "1.2.3", ".",
    ] {
        let mut lexer = Lexer::new(text.as_bytes());
        let error = lexer.f32().expect_err(text);
        assert_eq!((error.offset, lexer.offset()), (0, 0), "{text}");
    }
}

#[test]
fn whole_numbers_do_not_wrap() {
    assert_eq!(Lexer::new(b"4294967295").u32(), Ok(u32::MAX));
    assert!(Lexer::new(b"4294967296").u32().is_err());
    assert!(Lexer::new(b"99999999999999999999999").u32().is_err());
    assert_eq!(Lexer::new(b"-2147483648 ").i32(), Ok(i32::MIN));
    assert!(Lexer::new(b"- 1").i32().is_err());
}
