//! The whole: any bytes become records and a verdict, and nothing panics.
#![no_main]

use assize_audit::{Options, read};
use libfuzzer_sys::fuzz_target;
use unicode_width::UnicodeWidthStr;

fuzz_target!(|bytes: &[u8]| {
    let options = Options {
        explain: true,
        ..Options::default()
    };
    let Ok(audit) = read(bytes, "fuzz", &options) else {
        return;
    };
    for run in &audit.records.runs {
        assert!(run.metrics.values().all(|m| m.value.is_finite()));
        assert!(run.repetition >= 1 && run.place.line >= 1);
    }
    // Many runs make permutation tests long, which is not what is tried here.
    if audit.records.runs.len() <= 24 {
        if let Ok(document) = assize_verdict::try_records(&audit.records, &Default::default()) {
            assert!(assize_report::json(&document).is_ok());
            for line in assize_report::text(&document, &Default::default(), Default::default()).lines() {
                assert!(line.width() <= assize_report::WIDTH, "{line}");
            }
        }
    }
});
