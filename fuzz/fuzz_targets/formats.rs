//! Every format of the auditor, wherever it says that a block of it may start.
#![no_main]

use assize_audit::grammar::all;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for grammar in all() {
        assize_fuzz::read_with(*grammar, data);
    }
});
