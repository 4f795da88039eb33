//! The command line of `assize hunt`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::SandboxArguments;

#[derive(Debug, Default, Args)]
pub(crate) struct HuntArguments {
    /// The experiment file
    #[arg(value_name = "EXPERIMENT", conflicts_with = "program")]
    pub(crate) experiment: Option<PathBuf>,
    /// Hunt this program, with its arguments, instead of an experiment
    #[arg(last = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<String>,
    /// What counts as a failure: kasan, warning, hang, 'METRIC > VALUE', … [default: any]
    #[arg(long, value_name = "WHAT")]
    pub(crate) until: Vec<String>,
    /// Count a run as failed if a line of the kernel's log or of its output matches
    #[arg(long, value_name = "REGEX")]
    pub(crate) until_log: Vec<String>,
    /// Stop at the first failure
    #[arg(long)]
    pub(crate) first: bool,
    /// How many schedules to try [default: 400, or any number with --for]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) seeds: Option<u32>,
    /// Try schedules for so long: 90s, 10m, 2h
    #[arg(long = "for", id = "duration", value_name = "TIME")]
    pub(crate) duration: Option<String>,
    /// Compare failure rates with this kernel, module (.ko) or patch, under the same schedules
    #[arg(long, value_name = "WHAT")]
    pub(crate) against: Vec<String>,
    /// Apply the patch to this commit, or to debian:6.12's sources, as `assize try` does
    #[arg(long, value_name = "REV|KERNEL", requires = "against")]
    pub(crate) base: Option<String>,
    #[command(flatten)]
    pub(crate) sandbox: SandboxArguments,
    /// How CPUs take turns [default: all, one after the other]
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) strategy: Vec<Strategy>,
    /// Kernel of the machine
    #[arg(long = "kernel", id = "kernel_name", value_name = "NAME", help_heading = WHAT)]
    pub(crate) kernel: Option<String>,
    /// CPUs of the machine [default: the experiment's, or 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = WHAT)]
    pub(crate) cpus: Option<u32>,
    /// Load this module before PROGRAM: its name, or the path of a .ko file
    #[arg(long, value_name = "MODULE", help_heading = WHAT, conflicts_with = "experiment")]
    pub(crate) module: Vec<String>,
    /// Only these levels of a factor
    #[arg(long = "set", id = "levels", value_name = "FACTOR=LEVEL,…", value_parser = super::running::levels, help_heading = WHAT)]
    pub(crate) levels: Vec<(String, Vec<String>)>,
    /// How long a run may take, in ms of the machine's time [default: the experiment's, up to 3000]
    #[arg(long = "timeout", value_name = "MS", help_heading = WHAT, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout_ms: Option<u64>,
    /// Continue a hunt that was stopped
    #[arg(long, value_name = "DIR", conflicts_with_all = ["experiment", "program", "until", "until_log", "against", "base", "strategy", "kernel_name", "cpus", "levels", "timeout_ms", "module", "out"])]
    pub(crate) resume: Option<PathBuf>,
    /// Write what is found into this new directory [default: EXPERIMENT.hunt]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// How to show the answer
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = HuntFormat::Text)]
    pub(crate) format: HuntFormat,
    /// The same as --format json
    #[arg(long)]
    pub(crate) json: bool,
    /// Print nothing while runs execute
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// The heading of options that say what is run.
const WHAT: &str = "What to run";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum HuntFormat {
    /// The answer in 72 columns
    #[default]
    Text,
    /// Schema assize.hunt/1
    Json,
}

/// A way to draw an interleaving from a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum)]
pub(crate) enum Strategy {
    /// Random turns of the machine's length
    Turns,
    /// Random turns, and delays at random instants
    Delays,
    /// Random turns, and delays behind locked instructions
    Locked,
}
