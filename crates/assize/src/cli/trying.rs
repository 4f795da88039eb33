//! The command line of `assize try`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{FailOn, SandboxArguments};

#[derive(Debug, Args)]
pub(crate) struct TryArguments {
    /// The change, in a git tree of the kernel: a commit, or OLD..NEW for those
    /// that NEW has and OLD has not [default: HEAD]
    #[arg(value_name = "RANGE", conflicts_with = "patch")]
    pub(crate) range: Option<String>,
    /// The change as it was posted: a mail, a mailbox or a thread, or a diff; '-'
    /// reads standard input. It is applied as git am does: to its base-commit,
    /// else to HEAD
    #[arg(long, value_name = "FILE")]
    pub(crate) patch: Option<PathBuf>,
    /// Apply --patch to this commit of the git tree; or to the sources of this kernel of
    /// Debian, which need no git tree, and run on it: debian:6.12
    #[arg(long, value_name = "REV|KERNEL", requires = "patch")]
    pub(crate) base: Option<String>,
    /// Try each commit separately: which patch of the series does what
    #[arg(long)]
    pub(crate) each: bool,
    /// Run this experiment, with a level for each side [default: the one for the
    /// directory that the change touches]
    #[arg(long, value_name = "FILE")]
    pub(crate) experiment: Option<PathBuf>,
    /// Kernel to run on, and to build modules for [default: the experiment's]
    #[arg(long = "kernel", id = "kernel_name", value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    /// Runs of each side on each workload [default: the experiment's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) runs: Option<u32>,
    /// Runs at a time [default: as many as the target can execute without one affecting
    /// another]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) jobs: Option<u32>,
    /// Record into this new directory [default: try.bundle; -2, -3, … is added if
    /// it is there]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// End with status 1 if this is found in what the whole series does:
    /// 'worse>2%' or 'unproven>2%', as assize run says. May be given several times
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
    /// Write to this file, not to standard output
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
    /// A mail to answer with: at most 40 lines of 72 columns
    Text,
    /// Schema assize.try/2
    Json,
    /// Checks as JUnit's XML: what ends the command with status 1 has failed
    Junit,
    /// The same as the kernel's test results, KTAP version 1
    Ktap,
    /// The same as a table of at most 65,000 characters, for a comment or a job's page
    Markdown,
    /// The same as annotations of a workflow of GitHub
    Github,
    /// What has failed, as a code quality report of GitLab
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
