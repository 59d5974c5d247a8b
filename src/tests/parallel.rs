use super::*;

#[test]
fn results_are_in_the_order_of_the_items() {
    #[cfg(feature = "bevy")]
    AsyncComputeTaskPool::get_or_init(Default::default);
    let items: Vec<usize> = (0..1000).collect();
    for estimate in [Duration::ZERO, Duration::MAX] {
        let squares = in_parallel(&items, estimate, |&item| item * item);
        assert!(
            squares
                .iter()
                .enumerate()
                .all(|(at, &square)| square == at * at)
        );
        assert_eq!(squares.len(), items.len());
    }
    assert!(in_parallel(&[] as &[usize], Duration::MAX, |&item| item).is_empty());
}
