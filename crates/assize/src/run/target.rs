//! Finds a target by name.

use assize_plan::Plan;
use assize_target::exact::{Exact, Options};
use assize_target::kernels::Kernels;
use assize_target::live::Live;
use assize_target::{Error, Host, Ssh, Target};

use crate::failure::Failure;

/// The target with this name; the options are for exact machines.
pub(crate) fn named_target(name: &str, options: Options) -> Result<Box<dyn Target>, Failure> {
    let target: Box<dyn Target> = match name {
        "exact" => Box::new(exact(options)?),
        "live" => Box::new(Live::new(Kernels::default_root()?)?),
        "host" => Box::new(Host::new()),
        _ => match name.strip_prefix("ssh:") {
            Some(host) if !host.is_empty() => Box::new(Ssh::new(host)?),
            _ => return Err(unknown(name).into()),
        },
    };
    Ok(target)
}

/// The exact machine.
pub(crate) fn exact(options: Options) -> Result<Exact, Failure> {
    Ok(Exact::new(Kernels::default_root()?, options)?)
}

fn unknown(name: &str) -> Error {
    Error {
        what: "choose a target".into(),
        why: format!("there is no target '{name}'"),
        mend: Some("valid: exact, live, host, ssh:HOST".into()),
        wrong_use: true,
    }
}

/// The limits on conclusions from the runs of a plan; every report prints them.
pub(crate) fn limits(plan: &Plan) -> Vec<String> {
    let limits: &[&str] = match plan.target.as_str() {
        "exact" => &[
            "The exact machine counts instructions and has no caches, no memory types and no \
             frequency scaling: instruction counts, context switches, order and scheduling delays \
             are meaningful, cache and memory effects do not show.",
            match plan.images.len() {
                0 | 1 => {
                    "Exact runs differ only by their seeds: verdicts generalise over seeds, on the \
                     one memory image that all runs start from."
                }
                _ => {
                    "Exact runs differ only by their seeds and memory images: verdicts generalise \
                     over seeds and images."
                }
            },
        ],
        "live" => &[
            "The live machine is virtual: caches and memory are shared with this host, and its \
             interrupts and exits cost more than a real machine's.",
        ],
        // On hosts, local or remote, the limits follow from the recorded runs: see
        // `assize_bundle::Boots`.
        _ => &[],
    };
    limits.iter().map(|text| (*text).to_string()).collect()
}
