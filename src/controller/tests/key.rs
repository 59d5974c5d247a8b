use super::*;

#[test]
fn keys_of_both_lists_come_in_order_from_either_end() {
    let own = [0.0, 0.5, 0.5, 1.0].map(|time| CallbackKey {
        time,
        until: None,
        name: "".into(),
        data: ().into(),
    });
    let callbacks = [0.25, 0.5, 1.0].map(|time| AddedCallback {
        id: CallbackId((time * 100.0) as u64),
        clip: "c".into(),
        time: time.into(),
        until: None,
        every: 1,
        passed: 0,
        name: "".into(),
        data: ().into(),
    });
    let mut added = Vec::new();
    collect_added(&callbacks, &"c".into(), 1.0, &mut added);
    let keys = |own, added| Keys::new(own, added, &callbacks, 1.0);
    use KeyRef::Clip;
    let added_at = |id| KeyRef::Added(CallbackId(id));
    let order: Vec<_> = keys(&own, &added).map(|key| key.key).collect();
    assert_eq!(
        order,
        [
            Clip(0),
            added_at(25),
            Clip(1),
            Clip(2),
            added_at(50),
            Clip(3),
            added_at(100)
        ]
    );
    let back: Vec<_> = keys(&own, &added).rev().map(|key| key.key).collect();
    assert!(back.iter().eq(order.iter().rev()));
    assert_eq!(keys(&own, &[]).rev().count(), 4);
    assert_eq!(keys(&[], &added).count(), 3);
}
