//! The command line of `assize try`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{FailOn, FarmArguments, SandboxArguments};

#[derive(Debug, Args)]
pub(crate) struct TryArguments {
    /// A commit of a git tree of the kernel, or OLD..NEW [default: HEAD]
    #[arg(value_name = "RANGE", conflicts_with = "patch")]
    pub(crate) range: Option<String>,
    /// The change as a mail, a thread or a diff; '-' reads standard input
    ///
    /// The change is applied to its base-commit, else to HEAD, as by git am.
    #[arg(long, value_name = "FILE")]
    pub(crate) patch: Option<PathBuf>,
    /// Apply --patch to this commit, or to debian:6.12's sources, and run that kernel
    #[arg(long, value_name = "REV|KERNEL", requires = "patch")]
    pub(crate) base: Option<String>,
    /// Try each commit of the series separately
    #[arg(long)]
    pub(crate) each: bool,
    /// Run this experiment [default: the one for the directory that the change touches]
    #[arg(long, value_name = "FILE")]
    pub(crate) experiment: Option<PathBuf>,
    /// Kernel to run on [default: the experiment's]
    #[arg(long = "kernel", id = "kernel_name", value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    /// Runs of each side [default: the experiment's, or 400 with --hunt]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) runs: Option<u32>,
    /// Parallel runs [default: as many as do not affect each other]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) jobs: Option<u32>,
    /// Hunt for failures with the same schedules on both sides, instead of measuring
    #[arg(long, conflicts_with_all = ["each", "jobs", "on", "fail_on", "format"])]
    pub(crate) hunt: bool,
    #[command(flatten)]
    pub(crate) farm: FarmArguments,
    /// Record into this new directory [default: try.bundle, or try.hunt]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Exit with status 1 if the series is 'worse>2%' or 'unproven>2%'
    #[arg(long = "fail-on", value_name = "WHAT", value_parser = FailOn::parse)]
    pub(crate) fail_on: Vec<FailOn>,
    #[command(flatten)]
    pub(crate) sandbox: SandboxArguments,
    /// Print nothing while runs execute
    #[arg(long)]
    pub(crate) quiet: bool,
    /// How to show what each patch does
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TryFormat::Text)]
    pub(crate) format: TryFormat,
    /// The same as --format json
    #[arg(long)]
    pub(crate) json: bool,
    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

impl TryArguments {
    /// The output format, whichever option selects it.
    pub(crate) fn shown_as(&self) -> TryFormat {
        match self.json {
            true => TryFormat::Json,
            false => self.format,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TryFormat {
    /// A mail to answer with, in at most 40 lines
    Text,
    /// Schema assize.try/2
    Json,
    /// Checks as JUnit's XML
    Junit,
    /// Checks as KTAP
    Ktap,
    /// Checks as a table, for a comment
    Markdown,
    /// Checks as GitHub's annotations
    Github,
    /// Failed checks as GitLab's code quality report
    Gitlab,
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, CliVerb};

    #[test]
    fn json_is_the_format_of_that_name() {
        let shown_as = |more: &[&str]| {
            let words = [&["assize", "try"], more].concat();
            match Cli::try_parse_from(words).unwrap().verb {
                CliVerb::Try(arguments) => arguments.shown_as(),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(shown_as(&["--json"]), TryFormat::Json);
        assert_eq!(shown_as(&["--format", "json"]), TryFormat::Json);
        assert_eq!(shown_as(&["--format", "ktap"]), TryFormat::Ktap);
        assert_eq!(shown_as(&[]), TryFormat::Text);
    }
}
