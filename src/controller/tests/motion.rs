use super::*;
use fastrand::Rng;

fn any(random: &mut Rng) -> (Instant, f64, Option<Ramp>, Pace) {
    let moment = Nanos::from_secs(random.f64() * 3.0);
    let transition = [TransitionCurve::Linear, TransitionCurve::EaseInEaseOut][random.usize(..2)];
    let ramp = random.bool().then(|| Ramp {
        from: random.f64() * 4.0 - 2.0,
        to: random.f64() * 4.0 - 2.0,
        begin: moment.minus(Nanos::from_secs(random.f64())),
        end: moment.plus(Nanos::from_secs(1.0 + random.f64() * 3.0)),
        transition,
    });
    let until = Some(moment.plus(Nanos::from_secs(random.f64() * 2.0)));
    let paced = Pace {
        since: moment,
        pace: 0.5 + random.f64(),
        change: random.f64() * 0.4 - 0.2,
        until,
    };
    let pace = [Pace::EVEN, paced][random.usize(..2)];
    (
        Instant {
            moment,
            rest: random.f64() - 0.5,
        },
        random.f64() * 4.0 - 2.0,
        ramp,
        pace,
    )
}

#[test]
fn the_distance_is_the_integral_of_the_speed_and_its_time_is_found() {
    let mut random = Rng::with_seed(1);
    for _ in 0..2000 {
        let (begin, steady, ramp, pace) = any(&mut random);
        let motion = Motion::new(begin, steady, ramp, pace);
        let end = motion
            .until
            .map_or(2.0, |until| begin.seconds_to(until).max(0.0));
        let (steps, mut sum) = (400, 0.0);
        for step in 0..steps {
            let after = end * (f64::from(step) + 0.5) / f64::from(steps);
            let since = |moment: Nanos| after - begin.seconds_to(moment);
            let speed = ramp.map_or(steady, |ramp| ramp.after(since(ramp.begin)));
            sum += speed * (pace.pace + pace.change * since(pace.since)) * end / f64::from(steps);
        }
        assert!(
            (motion.distance(end) - sum).abs() < 1e-4,
            "{motion:?}: {} {sum}",
            motion.distance(end)
        );
        let way = motion.distance(end * random.f64());
        let seconds = motion.seconds_of(begin, way).unwrap_or(end);
        assert!((motion.distance(seconds) - way).abs() < 1e-12, "{motion:?}");
    }
}

#[test]
fn a_motion_ends_where_it_turns_around() {
    for transition in [TransitionCurve::Linear, TransitionCurve::EaseInEaseOut] {
        let ramp = Ramp {
            from: 1.0,
            to: -3.0,
            begin: Nanos::from_secs(1.0),
            end: Nanos::from_secs(3.0),
            transition,
        };
        let begin = Instant {
            moment: Nanos::from_secs(1.0),
            rest: 0.0,
        };
        let there = Motion::new(begin, 9.0, Some(ramp), Pace::EVEN);
        let turn = there.until.unwrap();
        assert!(there.forward && ramp.at(turn).abs() < 1e-8);
        let back = Motion::new(
            Instant {
                moment: turn,
                rest: 0.0,
            },
            9.0,
            Some(ramp),
            Pace::EVEN,
        );
        assert_eq!(
            (back.forward, back.until),
            (false, Some(Nanos::from_secs(3.0)))
        );
    }
}
