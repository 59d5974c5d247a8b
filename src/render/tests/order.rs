use super::*;
use bevy::prelude::*;

#[test]
fn palettes_get_into_the_order_of_their_ranges_whatever_order_they_come_in() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut order = PaletteOrder::default();
    // In order; as two threads collect them, each some of the chunks; and shuffled.
    for threads in [1, 2, 100] {
        for _ in 0..500 {
            let mut starts: Vec<u32> = (0..random.u32(..200)).map(|_| random.u32(..1000)).collect();
            starts.sort_unstable();
            if threads == 100 {
                random.shuffle(&mut starts);
            } else {
                let mut lists = vec![vec![]; threads];
                starts
                    .chunks(20)
                    .for_each(|chunk| lists[random.usize(..threads)].extend_from_slice(chunk));
                starts = lists.concat();
            }
            order.clear();
            let job = |&start: &u32| PaletteJob {
                character: Entity::PLACEHOLDER,
                part: 0,
                range: start..start + 4,
                jumped: false,
            };
            order.extend(&starts.iter().map(job).collect::<Vec<_>>());
            let sorted = order.sort();
            assert!(
                sorted.is_sorted_by_key(|place| place.start),
                "{starts:?} {sorted:?}"
            );
            assert!(
                sorted
                    .iter()
                    .all(|place| place.start == starts[place.index as usize] && place.length == 4)
            );
            let mut indices: Vec<u32> = sorted.iter().map(|place| place.index).collect();
            indices.sort_unstable();
            assert!(indices.into_iter().eq(0..starts.len() as u32));
        }
    }
}
