//! The command line of `assize bisect`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::SandboxArguments;

#[derive(Debug, Args)]
pub(crate) struct BisectArguments {
    /// The commits, in a git tree of the kernel: those that BAD has and GOOD has not
    #[arg(
        value_name = "GOOD..BAD",
        required_unless_present_any = ["patch", "test"],
        conflicts_with_all = ["patch", "test"]
    )]
    pub(crate) range: Option<String>,
    /// What begins with the commit that is looked for: 'new > old on METRIC [in
    /// WORKLOAD]', where old is GOOD; with a margin 'new > old + 3% on METRIC',
    /// 'new < old - 3% on METRIC'
    #[arg(long, value_name = "CLAIM")]
    pub(crate) claim: String,
    /// The commits as they were posted: a mailbox or a thread; '-' reads standard
    /// input. GOOD is what they are applied to, BAD is all of them
    #[arg(long, value_name = "FILE", conflicts_with = "test")]
    pub(crate) patch: Option<PathBuf>,
    /// Apply --patch to this commit of the git tree; or to the sources of this kernel of
    /// Debian, which need no git tree, and run on it: debian:6.12
    #[arg(long, value_name = "REV|KERNEL", requires = "patch")]
    pub(crate) base: Option<String>,
    /// Try only HEAD, against this commit, for git bisect run: end with status 0 if
    /// the claim is refuted, 1 if it is upheld, 125 if that is not known
    #[arg(long, value_name = "GOOD", conflicts_with_all = ["format", "output"])]
    pub(crate) test: Option<String>,
    /// Run this experiment, with a level for each side [default: the one for the
    /// directory that the commits touch]. Only the workload that the claim names is run
    #[arg(long, value_name = "FILE")]
    pub(crate) experiment: Option<PathBuf>,
    /// Kernel to run on, and to build modules for [default: the experiment's]
    #[arg(long = "kernel", id = "kernel_name", value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    /// Runs of each side of a verdict on each workload [default: the experiment's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) runs: Option<u32>,
    /// Where the claim stays undecided, twice as many, and so on up to this [default:
    /// four times --runs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) max_runs: Option<u32>,
    /// Runs at a time [default: as many as the target can execute without one affecting
    /// another]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) jobs: Option<u32>,
    /// Keep the bundles and the verdicts so far in this directory; a search of the same
    /// question is continued
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
    /// Write to this file, not to standard output
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
