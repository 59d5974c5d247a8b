#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bevy_marionette_fuzz::checks::m3d(data));
libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    bevy_marionette_fuzz::mutate(data, size, max_size, seed)
});
