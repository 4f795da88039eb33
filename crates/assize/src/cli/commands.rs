//! The options of `assize compare` for commands, named as in hyperfine.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Options for commands")]
pub(crate) struct CommandsArguments {
    /// Commands to run here and compare, each in quotes; the first is the baseline
    ///
    /// If any has pipes, variables or the like, a shell starts all of them.
    #[arg(last = true, value_name = "COMMAND", hide_short_help = true)]
    pub(crate) commands: Vec<String>,
    /// Where to run commands: host or exact
    ///
    /// exact is a virtual machine that counts instructions, of the kernel too. It gets what a run
    /// of each command under strace used here; what that is, is listed.
    #[arg(
        long,
        value_enum,
        value_name = "TARGET",
        default_value_t,
        hide_possible_values = true
    )]
    pub(crate) target: CommandTarget,
    /// With --target exact, carry this file or directory too
    #[arg(long, value_name = "PATH")]
    pub(crate) with: Vec<PathBuf>,
    /// With --target exact, run nothing here: carry programs, and what --with names
    #[arg(long, hide_short_help = true)]
    pub(crate) no_trace: bool,
    /// Standard input of the commands [default: nothing]
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) input: Option<PathBuf>,
    /// Set this variable for the commands, by default to its value here
    ///
    /// On the exact machine, commands have only PATH and HOME from here, LC_ALL=C and TZ=UTC.
    #[arg(long = "env", value_name = "NAME[=VALUE]", hide_short_help = true)]
    pub(crate) environment: Vec<String>,
    /// Name of a command; give it once for each
    #[arg(short = 'n', long = "command-name", value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Run each command exactly this many times
    #[arg(short, long, value_name = "N", conflicts_with_all = ["min_runs", "max_runs", "within"], value_parser = runs())]
    pub(crate) runs: Option<u32>,
    /// Minimum number of runs of each command [default: 10]
    #[arg(short, long, value_name = "N", value_parser = runs())]
    pub(crate) min_runs: Option<u32>,
    /// Maximum number of runs of each command [default: 30]
    #[arg(short = 'M', long, value_name = "N", value_parser = runs())]
    pub(crate) max_runs: Option<u32>,
    /// Stop once elapsed time has a verdict and an interval this narrow [default: 2%]
    #[arg(long, value_name = "PERCENT", hide_short_help = true)]
    pub(crate) within: Option<String>,
    /// Warm-up runs of each command, not counted
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    pub(crate) warmup: u32,
    /// Run this once, before all runs
    #[arg(short, long, value_name = "CMD")]
    pub(crate) setup: Option<String>,
    /// Run this before each run
    ///
    /// Give it once for all commands, or once for each.
    #[arg(short, long, value_name = "CMD")]
    pub(crate) prepare: Vec<String>,
    /// Run this after each run
    #[arg(short = 'C', long, value_name = "CMD")]
    pub(crate) conclude: Vec<String>,
    /// Run this once, after all runs
    #[arg(short, long, value_name = "CMD")]
    pub(crate) cleanup: Option<String>,
    /// Run with each of these values for {VAR}
    #[arg(short = 'L', long, num_args = 2, value_names = ["VAR", "A,B"])]
    pub(crate) parameter_list: Vec<String>,
    /// Run with each number from MIN to MAX for {VAR}
    #[arg(short = 'P', long, num_args = 3, value_names = ["VAR", "MIN", "MAX"], hide_short_help = true)]
    pub(crate) parameter_scan: Vec<String>,
    /// The step of --parameter-scan [default: 1]
    #[arg(short = 'D', long, value_name = "DELTA", hide_short_help = true)]
    pub(crate) parameter_step_size: Option<String>,
    /// Accept any exit status
    ///
    /// Without it, a command that always fails stops the comparison.
    #[arg(short, long)]
    pub(crate) ignore_failure: bool,
    /// Kill a command that takes longer; its run counts as failed
    #[arg(long, value_name = "DURATION", hide_short_help = true, default_value = TIMEOUT)]
    pub(crate) timeout: String,
    /// Run nothing; write an experiment file for assize run
    #[arg(long, value_name = "FILE", hide_short_help = true, conflicts_with_all = ["warmup", "setup", "cleanup", "out"])]
    pub(crate) write: Option<PathBuf>,
    /// Record here [default: compare.bundle]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Start commands without a shell
    #[arg(short = 'N', long, hide_short_help = true)]
    pub(crate) no_shell: bool,
    /// Write all times as JSON, as hyperfine does
    #[arg(long, value_name = "FILE", conflicts_with = "write")]
    pub(crate) export_json: Option<PathBuf>,
    /// Write means and medians as CSV, as hyperfine does
    #[arg(
        long,
        value_name = "FILE",
        hide_short_help = true,
        conflicts_with = "write"
    )]
    pub(crate) export_csv: Option<PathBuf>,
    /// Write a Markdown table, with ratios and their 95 % intervals
    #[arg(
        long,
        value_name = "FILE",
        hide_short_help = true,
        conflicts_with = "write"
    )]
    pub(crate) export_markdown: Option<PathBuf>,
    /// Show times in this unit [default: from the times]
    #[arg(
        short = 'u',
        long,
        value_enum,
        value_name = "UNIT",
        hide_short_help = true,
        hide_possible_values = true
    )]
    pub(crate) time_unit: Option<TimeUnit>,
    /// Print the output of commands [default: only record it]
    ///
    /// The bundle keeps it. As in hyperfine, --output=null discards it, --output=pipe pipes it
    /// first, and --output=inherit is the same as --show-output.
    #[arg(long, conflicts_with_all = ["quiet", "write"])]
    pub(crate) show_output: bool,
    /// Where the commands' output goes: taken from --output, which all verbs have.
    #[arg(skip)]
    pub(crate) output: CommandOutput,
    /// Print nothing while commands run
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// Where commands run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CommandTarget {
    /// This machine
    #[default]
    Host,
    /// A virtual machine that counts instructions
    Exact,
}

/// A unit of time, named as in hyperfine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimeUnit {
    #[value(alias = "us")]
    Microsecond,
    #[value(alias = "ms")]
    Millisecond,
    #[value(alias = "s")]
    Second,
}

impl TimeUnit {
    pub(crate) fn sign(self) -> &'static str {
        match self {
            TimeUnit::Microsecond => "us",
            TimeUnit::Millisecond => "ms",
            TimeUnit::Second => "s",
        }
    }
}

/// Where the standard output of commands goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum CommandOutput {
    /// Into the bundle.
    #[default]
    Kept,
    /// To /dev/null.
    Null,
    /// Through a pipe, and then to /dev/null.
    Pipe,
}

fn runs() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(2..=10_000)
}

/// How long a command may take by default.
const TIMEOUT: &str = "60min";

impl CommandsArguments {
    /// The first option that only commands can have, as the user gave it.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("--target", self.target != CommandTarget::Host),
            ("--with", !self.with.is_empty()),
            ("--no-trace", self.no_trace),
            ("--input", self.input.is_some()),
            ("--env", !self.environment.is_empty()),
            ("--command-name", !self.names.is_empty()),
            ("--runs", self.runs.is_some()),
            ("--min-runs", self.min_runs.is_some()),
            ("--max-runs", self.max_runs.is_some()),
            ("--within", self.within.is_some()),
            ("--warmup", self.warmup > 0),
            ("--setup", self.setup.is_some()),
            ("--prepare", !self.prepare.is_empty()),
            ("--conclude", !self.conclude.is_empty()),
            ("--cleanup", self.cleanup.is_some()),
            ("--parameter-list", !self.parameter_list.is_empty()),
            ("--parameter-scan", !self.parameter_scan.is_empty()),
            ("--parameter-step-size", self.parameter_step_size.is_some()),
            ("--ignore-failure", self.ignore_failure),
            ("--timeout", self.timeout != TIMEOUT),
            ("--write", self.write.is_some()),
            ("--out", self.out.is_some()),
            ("--no-shell", self.no_shell),
            ("--export-json", self.export_json.is_some()),
            ("--export-csv", self.export_csv.is_some()),
            ("--export-markdown", self.export_markdown.is_some()),
            ("--time-unit", self.time_unit.is_some()),
            ("--show-output", self.show_output),
            ("--quiet", self.quiet),
        ];
        given.into_iter().find_map(|(name, is)| is.then_some(name))
    }
}
