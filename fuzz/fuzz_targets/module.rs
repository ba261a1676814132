#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tbaa_fuzz::targets::module(data));
