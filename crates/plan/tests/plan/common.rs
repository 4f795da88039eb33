//! Experiments that several tests use.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use assize_plan::{Experiment, Overrides, Plan, parse};

/// An experiment with one of each section.
pub(crate) const FULL: &str = include_str!("full.toml");

/// The smallest experiment: a title and a workload.
pub(crate) const SMALL: &str = "\
title = \"Small\"
[workloads.w]
kind = \"ping-pong\"
";

pub(crate) fn read(text: &str) -> Experiment {
    parse(text, "x.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub(crate) fn plan(text: &str) -> Plan {
    read(text).plan(&Overrides::default()).unwrap()
}

pub(crate) fn mistake(text: &str) -> String {
    match parse(text, "x.toml") {
        Ok(_) => panic!("no mistake found in\n{text}"),
        Err(error) => error.to_string(),
    }
}
