//! However time is divided into steps, the same happens, to the nanosecond and to the bit.

mod dense;
mod programs;

use fastrand::Rng;
use programs::{Cast, act, advance, begin, cast_of, span};

/// How many programs are played: 600, or as many as `MARIONETTE_PROGRAMS` says.
fn count() -> u64 {
    std::env::var("MARIONETTE_PROGRAMS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(600)
}

/// The seed of the first program: 0, or what `MARIONETTE_FIRST_PROGRAM` says, to play many of them in parts.
fn first() -> u64 {
    std::env::var("MARIONETTE_FIRST_PROGRAM")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(0)
}

/// Plays a program with each of its parts in one step, and in others, and compares. Returns how much happened, how far it went,
/// and how far apart the movements were, in parts of the way.
fn play(seed: u64, stretch: f64) -> Result<(usize, f64, f64), String> {
    let mut random = Rng::with_seed(seed);
    let mut clips = cast_of(&mut random, stretch);
    let mut whole = begin(&mut random);
    let mut frames = whole.clone();
    let mut pieces = whole.clone();
    let (mut told, mut far, mut apart) = (0, 0.0, 0.0_f64);
    for part in 0..random.usize(2..9) {
        for _ in 0..random.usize(1..4) {
            let (same, mut others) = (random.clone(), Vec::new());
            for controller in [&mut whole, &mut frames, &mut pieces] {
                let mut random = same.clone();
                let mut now = Cast::clone_of(&clips);
                act(controller, &mut now, &mut random);
                others.push((random, now));
            }
            (random, clips) = others.pop().unwrap();
        }
        let nanos = span(&mut random);
        let before = whole.clone();
        let mut cuts = Rng::with_seed(random.u64(..));
        let scale = [1e6, 3e7, 4e8][random.usize(..3)];
        let mut events: [Vec<_>; 3] = Default::default();
        let (way, _) = advance(&mut whole, &clips, nanos, &mut events[0], || nanos);
        let ways = [
            advance(&mut frames, &clips, nanos, &mut events[1], || 16_666_667),
            advance(&mut pieces, &clips, nanos, &mut events[2], || {
                (cuts.f64() * scale) as u64
            }),
        ];
        for (other, controller) in [(1, &frames), (2, &pieces)] {
            let who = format!("program {seed}, part {part}, cut {other}");
            let differ = (0..events[0].len().max(events[other].len()))
                .find(|at| events[0].get(*at) != events[other].get(*at));
            if let Some(at) = differ {
                if std::env::var("MARIONETTE_PROGRAM").is_ok() {
                    for events in [&events[0], &events[other]] {
                        println!("-----");
                        let near = events.iter().skip(at.saturating_sub(6)).take(12);
                        near.for_each(|event| {
                            println!("{}", format!("{event:?}").replace("CallbackData(Unit)", ""))
                        });
                    }
                    println!("{before:#?}");
                }
                return Err(format!(
                    "{who}: {:#?} is not {:#?}",
                    events[0].get(at),
                    events[other].get(at)
                ));
            }
            if whole != *controller {
                let [a, b] = [&whole, controller].map(|controller| format!("{controller:#?}"));
                if std::env::var("MARIONETTE_PROGRAM").is_ok() {
                    println!("{before:#?}\n====\n{a}\n====\n{b}");
                }
                let lines = a
                    .lines()
                    .zip(b.lines())
                    .filter(|(a, b)| a != b)
                    .take(6)
                    .collect::<Vec<_>>();
                return Err(format!("{who}: {lines:#?}"));
            }
        }
        // The distance, there and back.
        let length = ways[0].1.max(1e-3);
        for (other, _) in ways {
            let off = way
                .translation
                .distance(other.translation)
                .max((way.turn - other.turn).abs());
            apart = apart.max(off / length);
            if off > 1e-6 * length {
                if std::env::var("MARIONETTE_PROGRAM").is_ok() {
                    for cut in [nanos, 16_666_667, 1_000_000, 100_000, 10_000] {
                        let mut again = before.clone();
                        println!(
                            "{cut} {:?}",
                            advance(&mut again, &clips, nanos, &mut Vec::new(), || cut)
                        );
                    }
                    println!("{nanos} {length} {before:#?}");
                }
                return Err(format!(
                    "program {seed}, part {part}: {way:?} is not {other:?}"
                ));
            }
        }
        // A file in between changes nothing.
        if random.u8(..4) == 0 {
            pieces = ron::from_str(&ron::to_string(&pieces).unwrap()).unwrap();
        }
        (told, far) = (told + events[0].len(), far + way.translation.length());
    }
    Ok((told, far, apart))
}

#[test]
fn programs_that_once_differed_do_so_no_longer() {
    // In long steps, knots of root motion were missed that lay where a leader was anchored (153,861 to 168,580), or where a
    // follower had just ceased to wait for its leader (259,660), and shares that grow from nothing were integrated too roughly.
    // Parameters that turned back at once kept the course on which they had set off (887,446 and 922,545).
    // A clip that waited at its end didn't notice that its speed turned around (845,892).
    // The total of weights fell and rose within one stretch of root motion, or changed too much (261,734 and 943,252).
    // A frame ended between two knots right next to each other (5,001,562 and 5,002,191).
    for seed in [
        26_882, 26_914, 91_670, 259_660, 153_861, 155_673, 168_580, 887_446, 922_545, 845_892,
        261_734, 943_252, 5_001_562, 5_002_191,
    ] {
        assert_eq!(play(seed, 1.0).map(|_| ()), Ok(()));
    }
}

// At 16 ms and less, a frame has loops of clips in it, and several knots of their paths.
#[test]
fn programs_of_very_short_clips_do_not_depend_on_how_time_is_cut() {
    let mut far = 0.0;
    for seed in first()..first() + count() / 4 {
        far += play(seed, 0.02).unwrap().1;
    }
    assert!(far > 100.0, "{far}");
}

#[test]
fn programs_with_everything_at_once_do_not_depend_on_how_time_is_cut() {
    let (mut told, mut far, mut apart) = (0, 0.0, 0.0_f64);
    let mut wrong = Vec::new();
    let one = std::env::var("MARIONETTE_PROGRAM")
        .ok()
        .and_then(|seed| seed.parse().ok());
    for seed in one.map_or(first()..first() + count(), |one| one..one + 1) {
        match play(seed, 1.0) {
            Ok((events, way, off)) => {
                (told, far, apart) = (told + events, far + way, apart.max(off))
            }
            Err(what) => wrong.push(what),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}: {}",
        wrong.len(),
        count(),
        wrong.iter().take(5).cloned().collect::<Vec<_>>().join("\n")
    );
    println!(
        "{} programs, {told} events, {far:.0} m, movements at most {apart:e} of the way apart",
        count()
    );
    assert!(told > 5000 && far > 100.0, "{told} {far}");
}
