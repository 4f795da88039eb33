//! Any text is an experiment or a mistake that is named, and nothing panics.
#![no_main]

use assize_plan::{Overrides, Plan, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let experiment = match parse(text, "fuzz.toml") {
        Ok(experiment) => experiment,
        Err(error) => {
            assert!(error.to_string().starts_with("fuzz.toml"), "{error}");
            return;
        }
    };
    let plan = experiment
        .plan(&Overrides::default())
        .expect("it was planned");
    for (at, run) in plan.runs.iter().enumerate().take(64) {
        assert_eq!(run.index as usize, at);
        assert!(plan.order(run.index).is_some(), "run {at}");
    }
    // Writing it down takes its time, which is not what is tried here.
    if plan.runs.len() <= 1000 {
        let written = serde_json::to_vec(&plan).expect("a plan can be written");
        let read: Plan = serde_json::from_slice(&written).expect("a plan can be read");
        assert_eq!(read.runs, plan.runs);
        assert_eq!(read.configurations, plan.configurations);
    }
});
