//! The checks and the structure-aware mutation of the tests, for the fuzz targets.

#[path = "../tests/core/fuzz/blocks.rs"]
pub mod blocks;
#[path = "../tests/core/fuzz/checks.rs"]
pub mod checks;
#[path = "../tests/core/fuzz/choices.rs"]
pub mod choices;

/// Mutates a text: every second time by blocks, otherwise as libFuzzer does. Returns the new size.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    if seed.is_multiple_of(2) {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    }
    let mut text = data[..size].to_vec();
    blocks::mutate(&mut text, &mut blocks::Random(seed.into()), max_size);
    let size = text.len().min(max_size);
    data[..size].copy_from_slice(&text[..size]);
    size
}
