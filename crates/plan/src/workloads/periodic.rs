//! The parameters of the workload `periodic`.

use std::collections::BTreeSet;

use assize_job::Periodic;

use super::scheduling::SCHEDULING;
use super::shared::COUNT;
use crate::values::document::{TomlDocument, join};
use crate::values::error::Error;
use crate::values::keys::{KeySection, List, Table, Text, duration, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "periodic",
    keys: &[
        key(
            "duration",
            duration(1).or("1s"),
            "How long the workload runs.",
        ),
        key(
            "loops",
            List(&Table(&LOOP_KEYS)).or("[]"),
            "Threads that work for a while in each period.",
        ),
        key(
            "rt_app",
            Text.optional(),
            "Instead of loops: a file for rt-app.",
        ),
        key(
            "calibration",
            duration(1).optional(),
            "How long an iteration of rt-app's loop takes, if the file does not say.",
        ),
    ],
};

/// The keys of a loop of `periodic`: one thread, or several identical ones.
pub(crate) static LOOP_KEYS: KeySection = KeySection {
    name: "loop",
    keys: &[
        key("name", Text.or("loop"), "Name of the loop in metrics."),
        key("threads", COUNT.or("1"), "Threads that run this loop."),
        key("period", duration(1).or("10ms"), "Length of a period."),
        key("run", duration(1).or("1ms"), "CPU time per period."),
        SCHEDULING,
    ],
};

/// Checks the loops. `path` is the last place where they are given.
pub(crate) fn check(document: &TomlDocument, path: &str, periodic: &Periodic) -> Result<(), Error> {
    let loops = join(path, "loops");
    match (&periodic.rt_app, periodic.loops.is_empty()) {
        (None, true) => {
            let error = document.error(path, "has neither loops nor rt_app");
            return Err(error.mend("give loops = [{ period = \"10ms\", run = \"1ms\" }]"));
        }
        (Some(_), false) => {
            let error = document.error(&loops, "are not used with rt_app");
            return Err(error.mend("remove one of them"));
        }
        _ => {}
    }
    let mut names = BTreeSet::new();
    for (at, one) in periodic.loops.iter().enumerate() {
        let place = format!("{loops}[{at}]");
        if one.run_ns > one.period_ns {
            let why = "run is longer than period";
            return Err(document.error(&join(&place, "run"), why));
        }
        if !names.insert(&one.name) {
            let why = format!("two loops are called '{}'", one.name);
            let error = document.error(&join(&place, "name"), why);
            return Err(error.mend("give each loop its own name"));
        }
    }
    Ok(())
}
