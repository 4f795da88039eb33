//! The command line of `assize bisect`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{FarmArguments, SandboxArguments};

#[derive(Debug, Args)]
pub(crate) struct BisectArguments {
    /// The commits in BAD that are not in GOOD, in a kernel git tree
    #[arg(
        value_name = "GOOD..BAD",
        required_unless_present_any = ["patch", "test"],
        conflicts_with_all = ["patch", "test"]
    )]
    pub(crate) range: Option<String>,
    /// What the commit causes: 'new > old + 3% on METRIC [in WORKLOAD]'
    #[arg(long, value_name = "CLAIM", required_unless_present = "hunt")]
    pub(crate) claim: Option<String>,
    /// Find the commit since which runs fail more often, with the same schedules on all commits
    #[arg(long, conflicts_with_all = ["claim", "test", "max_runs", "jobs", "on"])]
    pub(crate) hunt: bool,
    /// The commits as a mailbox or a thread; '-' reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "test")]
    pub(crate) patch: Option<PathBuf>,
    /// Apply --patch to this commit, or to debian:6.12's sources, and run that kernel
    #[arg(long, value_name = "REV|KERNEL", requires = "patch")]
    pub(crate) base: Option<String>,
    /// Try only HEAD against this commit, for git bisect run
    ///
    /// The status is 0 if the claim is refuted, 1 if it is upheld, else 125.
    #[arg(long, value_name = "GOOD", conflicts_with_all = ["format", "output"])]
    pub(crate) test: Option<String>,
    /// Run this experiment [default: the one for the directory that the commits touch]
    #[arg(long, value_name = "FILE")]
    pub(crate) experiment: Option<PathBuf>,
    /// Kernel to run on [default: the experiment's]
    #[arg(long = "kernel", id = "kernel_name", value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    /// Runs of each side [default: the experiment's, or 400 with --hunt]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) runs: Option<u32>,
    /// While undecided, double the runs, up to N [default: 4 times --runs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) max_runs: Option<u32>,
    /// Parallel runs [default: as many as do not affect each other]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) jobs: Option<u32>,
    #[command(flatten)]
    pub(crate) farm: FarmArguments,
    /// Keep bundles and verdicts here; the same command continues the search
    #[arg(long, value_name = "DIR", default_value = "bisect.bundles")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) sandbox: SandboxArguments,
    /// Print nothing while commits are tested
    #[arg(long)]
    pub(crate) quiet: bool,
    /// How to show the answer
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = BisectFormat::Text)]
    pub(crate) format: BisectFormat,
    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BisectFormat {
    /// The answer in at most 25 lines of 72 columns
    Text,
    /// Schema assize.bisect/1
    Json,
}
