//! Any text is a workload to replay or a mistake that is named, and nothing
//! panics.
#![no_main]

use assize_job::replay::{ReplayStep, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let script = match parse(text) {
        Ok(script) => script,
        Err(error) => {
            let shown = error.to_string();
            assert!(!shown.contains('\n') && !error.mend.is_empty(), "{shown}");
            return;
        }
    };
    for (index, step) in script.steps.iter().enumerate() {
        let mut before = Vec::new();
        match step {
            ReplayStep::Batch(batch) => {
                assert!(batch.lane < script.lanes.len());
                before.extend(batch.dependencies.iter().map(|dependency| dependency.step));
            }
            ReplayStep::Sync { step } => before.push(*step),
            _ => {}
        }
        for step in before {
            assert!(step < index && matches!(script.steps[step], ReplayStep::Batch(_)));
        }
    }
});
