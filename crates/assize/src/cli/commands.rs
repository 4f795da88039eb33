//! The command line of `assize compare -- COMMAND…`. Options are named as in hyperfine.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Options for commands")]
pub(crate) struct CommandsArguments {
    /// Commands to run here and compare, in turn, each in quotes; the first is the
    /// baseline. One that is more than words (pipes, variables) has a shell start all
    /// of them
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) commands: Vec<String>,
    /// Name of a command in the verdict; one for each command [default: its words]
    #[arg(
        short = 'n',
        long = "command-name",
        value_name = "NAME",
        conflicts_with = "inputs"
    )]
    pub(crate) names: Vec<String>,
    /// Run each command this many times [default: until --within is reached]
    #[arg(short, long, value_name = "N", conflicts_with_all = ["inputs", "min_runs", "max_runs", "within"], value_parser = runs())]
    pub(crate) runs: Option<u32>,
    /// Run each command at least this many times [default: 10]
    #[arg(short, long, value_name = "N", conflicts_with = "inputs", value_parser = runs())]
    pub(crate) min_runs: Option<u32>,
    /// Run each command at most this many times [default: 30]
    #[arg(short = 'M', long, value_name = "N", conflicts_with = "inputs", value_parser = runs())]
    pub(crate) max_runs: Option<u32>,
    /// Stop once there is a verdict on elapsed time and its interval is within so much
    /// of the ratio [default: 2%]
    #[arg(long, value_name = "PERCENT", conflicts_with = "inputs")]
    pub(crate) within: Option<String>,
    /// Run each command this many times beforehand, without counting
    #[arg(
        short,
        long,
        value_name = "N",
        conflicts_with = "inputs",
        default_value_t = 0
    )]
    pub(crate) warmup: u32,
    /// Run this once, before everything else
    #[arg(short, long, value_name = "CMD", conflicts_with = "inputs")]
    pub(crate) setup: Option<String>,
    /// Run this before each run; given once for each command, each has its own
    #[arg(short, long, value_name = "CMD", conflicts_with = "inputs")]
    pub(crate) prepare: Vec<String>,
    /// Run this after each run; given once for each command, each has its own
    #[arg(short = 'C', long, value_name = "CMD", conflicts_with = "inputs")]
    pub(crate) conclude: Vec<String>,
    /// Run this once, after everything else, even if something failed
    #[arg(short, long, value_name = "CMD", conflicts_with = "inputs")]
    pub(crate) cleanup: Option<String>,
    /// Kill a command that takes longer; its run counts as failed
    #[arg(
        long,
        value_name = "DURATION",
        conflicts_with = "inputs",
        default_value = "60min"
    )]
    pub(crate) timeout: String,
    /// Run nothing; write this as an experiment file, for assize run
    #[arg(long, value_name = "FILE", conflicts_with_all = ["inputs", "warmup", "setup", "cleanup", "out"])]
    pub(crate) write: Option<PathBuf>,
    /// Record into this new directory [default: compare.bundle; -2, -3, … is added if
    /// it is there]
    #[arg(long, value_name = "DIR", conflicts_with = "inputs")]
    pub(crate) out: Option<PathBuf>,
    /// Print nothing while commands run
    #[arg(long, conflicts_with = "inputs")]
    pub(crate) quiet: bool,
}

fn runs() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(2..=10_000)
}
