#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| assize_fuzz::read_mail(data));
