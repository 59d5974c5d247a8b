#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bevy_marionette_fuzz::checks::baked(data));
