//! The memory that reading baked characters takes, whatever their counts claim.

use super::{peak, sheet};
use bevy_marionette::{
    import::{BakedCharacter, ImportLimits, ImportSettings, Manifest},
    internals::{format::m3d, import::from_m3d},
};

#[test]
fn baked_files_with_any_count_changed_take_bounded_memory() {
    let parsed = m3d::parse("f.m3d", sheet(30_000).as_bytes()).unwrap();
    let imported = from_m3d("f.m3d", &parsed.value, &ImportSettings::default()).unwrap();
    let baked = BakedCharacter::new(&Manifest::of_model("f.m3d"), imported);
    let bytes = baked.to_bytes("f").unwrap();
    let read = |bytes: &[u8]| drop(BakedCharacter::read("f", bytes, &ImportLimits::default()));
    let sound = peak(|| read(&bytes));
    assert!(sound < 3 * bytes.len(), "{sound} for {}", bytes.len());
    let mut odd = bytes.clone();
    for at in (20..bytes.len() - 8).filter(|at| *at < 6000 || at % 7 == 0) {
        for count in [200, 1 << 20, 1 << 44, u64::MAX] {
            odd[at..at + 8].copy_from_slice(&u64::to_le_bytes(count));
            let taken = peak(|| read(&odd));
            assert!(taken < 16 * bytes.len(), "{taken} with {count} at {at}");
        }
        odd[at..at + 8].copy_from_slice(&bytes[at..at + 8]);
    }
}
