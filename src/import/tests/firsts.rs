use super::*;

#[test]
fn each_finds_the_first_of_its_equals() {
    let things: Vec<u64> = (0..10_000).map(|i| i * i % 4099).collect();
    let mut firsts = Firsts::new(things.len());
    for (index, &thing) in things.iter().enumerate() {
        let first = firsts.first([thing], index as u32, |other| {
            things[other as usize] == thing
        });
        assert_eq!(
            Some(first as usize),
            things.iter().position(|&other| other == thing)
        );
    }
}

#[test]
fn things_that_collide_on_purpose_are_left_apart_after_a_bounded_search() {
    const COUNT: u32 = 20_000;
    let mut firsts = Firsts::new(COUNT as usize);
    let looked_at = std::cell::Cell::new(0);
    for index in 0..COUNT {
        let first = firsts.first([7], index, |_| {
            looked_at.set(looked_at.get() + 1);
            false
        });
        assert_eq!(first, index);
    }
    assert!(looked_at.get() <= COUNT as usize * Firsts::MOST);
}

#[test]
fn an_empty_table_is_harmless() {
    assert_eq!(Firsts::new(0).first([1], 0, |_| true), 0);
}
