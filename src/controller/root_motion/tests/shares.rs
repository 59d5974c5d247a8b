use super::*;
use crate::controller::root_motion::movers::Part;

fn mover(track: usize, weight: f64, group: Group) -> Mover<'static> {
    let part = Part {
        track,
        weight: Value::steady(weight),
        mask: 1.0,
        group,
        ..Mover::NONE.part
    };
    Mover {
        part,
        ..Mover::NONE
    }
}

#[test]
fn an_override_takes_its_share_from_what_lies_below() {
    let mut movers = [
        mover(0, 1.0, Group::Low),
        mover(1, 3.0, Group::Low),
        mover(2, 0.25, Group::Over),
    ];
    share(&mut movers, &Value::steady(0.5), Nanos::ZERO);
    let shares = movers.map(|mover| mover.share);
    assert_eq!(shares, [0.1875, 0.5625, 0.25]);
}
