//! The command line.

// With explicit paths, so that the fuzz target can include this file as a module.
#[path = "cli/bisecting.rs"]
mod bisecting;
#[path = "cli/commands.rs"]
mod commands;
#[path = "cli/fail_on.rs"]
mod fail_on;
#[path = "cli/groups.rs"]
mod groups;
#[path = "cli/hunting.rs"]
mod hunting;
#[path = "cli/running.rs"]
mod running;
#[path = "cli/sandbox.rs"]
mod sandbox;
#[path = "cli/trend.rs"]
mod trend;
#[path = "cli/trying.rs"]
mod trying;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use regex::Regex;

pub(crate) use bisecting::{BisectArguments, BisectFormat};
pub(crate) use commands::{CommandOutput, CommandTarget, CommandsArguments, TimeUnit};
pub(crate) use fail_on::{FailOn, Gate, Percent};
pub(crate) use groups::group_verbs;
pub(crate) use hunting::{HuntArguments, HuntFormat, Strategy};
pub(crate) use running::{
    DebugArguments, DoctorArguments, FarmArguments, KernelVerb, ListArguments, Listing,
    MergeArguments, OverrideArguments, PlanArguments, RunArguments, RunOneArguments, Scheduler,
    WhenArguments, WhenFormat, WhyArguments, WhyFormat,
};
pub(crate) use sandbox::SandboxArguments;
pub(crate) use trend::{TrendArguments, TrendFormat, TrendOrder};
pub(crate) use trying::{TryArguments, TryFormat};

/// The version, with the commit if `packaging/dist` builds this.
const VERSION: &str = match option_env!("ASSIZE_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};

/// The heading of options that say how to judge.
const JUDGING: &str = "How to judge";
/// The heading of options that say how posted text is read.
const READING: &str = "How to read the text";
/// The heading of options for mailboxes and archives.
const MAILS: &str = "Several mails";
/// Significance level of all tests, unless the user gives another.
pub(crate) const ALPHA: f64 = 0.05;
/// Seed of the judge's random draws, unless the user gives another.
const SEED: u64 = 1;

/// Tells whether a change helps or hurts, by how much, and how certain that is.
#[derive(Debug, Parser)]
#[command(
    name = "assize",
    version = VERSION,
    propagate_version = true,
    max_term_width = 90
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: CliVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliVerb {
    /// Run an experiment, record its runs and judge them
    Run(Box<RunArguments>),
    /// Find out what a kernel change does: a commit, range or posted series
    ///
    /// Both sides are built and run.
    Try(Box<TryArguments>),
    /// Find the commit of a range that caused a change
    ///
    /// Commits are built, run and judged.
    Bisect(Box<BisectArguments>),
    /// Show the runs of an experiment, or write them as a plan
    Plan(PlanArguments),
    /// Execute single runs of a plan or of a bundle
    RunOne(RunOneArguments),
    /// Merge bundles of one experiment
    Merge(MergeArguments),
    /// Say what the numbers of a posted benchmark result support
    ///
    /// The text is read as it was pasted.
    Audit(Box<AuditArguments>),
    /// Run two commands and compare them, or judge recorded results
    ///
    /// A directory is a bundle, a file that is not a program holds results, anything else is a
    /// command: assize compare 'CMD A' 'CMD B'.
    Compare(Box<CompareArguments>),
    /// Show the verdicts of a bundle, as a mail, a page or data
    Report(ReportArguments),
    /// Write a page that lists the bundles of a directory
    Index(IndexArguments),
    /// Find the bundle at which a metric changed
    ///
    /// Bundles of one experiment are compared in order, each with the one before it.
    Trend(TrendArguments),
    /// Write a trace of a run for Perfetto, or split latency by stage
    Trace(TraceArguments),
    /// Show where the instructions of two configurations differ
    Why(WhyArguments),
    /// Repeat a recorded exact run and stop it at a place, in gdb
    ///
    /// Stopping, stepping and reading do not change the run. gdb can also go back: reverse-stepi,
    /// reverse-finish, reverse-continue to a breakpoint or watchpoint. Arguments after -- go to
    /// gdb.
    Debug(DebugArguments),
    /// Find the moment from which a bad sample or crash was certain
    ///
    /// The run is repeated up to many moments, and each draw continues it from one of them with
    /// other turns of its CPUs. The answer is the share of draws that are as bad, by moment.
    When(WhenArguments),
    /// Find a race: run with one interleaving of CPUs after another
    ///
    /// Shows how often it fails, the shortest schedule that fails each time, and with --against
    /// whether a change removes the failure.
    Hunt(Box<HuntArguments>),
    /// Show what this machine can measure, and what is missing
    Doctor(DoctorArguments),
    /// List the workloads, instruments, metrics, targets and the like
    List(ListArguments),
    /// List, fetch, add and build kernels to run
    #[command(subcommand)]
    Kernel(KernelVerb),
    /// Print completions for a shell
    #[command(hide = true)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print a manual page, or write all of them
    #[command(hide = true)]
    Man(ManArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// Print the page of this verb instead of the program's
    #[arg(value_name = "VERB")]
    pub(crate) verb: Option<String>,
    /// Write the pages of the program and of all verbs into this directory
    #[arg(long, value_name = "DIR", conflicts_with = "verb")]
    pub(crate) into: Option<PathBuf>,
}

/// Options that say what to ask about the records.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "What to ask")]
pub(crate) struct QuestionArguments {
    /// Compare with this configuration [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(crate) baseline: Option<String>,
    /// Test a claim: 'A < B on METRIC [in WORKLOAD]'
    ///
    /// < is lower, > higher, = equivalent; with a margin: 'A <= B + 2%', 'A > B + 2%'.
    /// Repeatable.
    #[arg(long = "claim", value_name = "CLAIM")]
    pub(crate) claims: Vec<String>,
    /// Test the claims of a file, one per line
    #[arg(long = "claims", value_name = "FILE", hide_short_help = true)]
    pub(crate) claims_file: Option<PathBuf>,
    /// Show which configurations are best at two metrics: 'METRIC against METRIC'
    #[arg(long = "tradeoff", value_name = "TRADEOFF", hide_short_help = true)]
    pub(crate) tradeoffs: Vec<String>,
    /// Exit with status 1 if WHAT is found, such as 'worse>2%'
    ///
    /// 'worse>2%': a primary metric is shown to be more than 2 % worse. 'unproven>2%': a primary
    /// metric may be that much worse. 'undecided': a claim is undecided. 'lint': a lint is
    /// reported. The code of a lint: this lint is reported. Repeatable.
    #[arg(long = "fail-on", value_name = "WHAT", value_parser = FailOn::parse)]
    pub(crate) fail_on: Vec<FailOn>,
}

/// Options for judging.
#[derive(Debug, Clone, Args)]
pub(crate) struct TrialArguments {
    #[command(flatten)]
    pub(crate) question: QuestionArguments,
    /// A metric declared primary before the data were seen
    #[arg(long = "primary", value_name = "METRIC", help_heading = JUDGING, hide_short_help = true)]
    pub(crate) primary: Vec<String>,
    /// A metric for which more is better
    #[arg(long, value_name = "METRIC", help_heading = JUDGING, hide_short_help = true)]
    pub(crate) higher_is_better: Vec<String>,
    /// A metric for which less is better
    #[arg(long, value_name = "METRIC", help_heading = JUDGING, hide_short_help = true)]
    pub(crate) lower_is_better: Vec<String>,
    /// Compare how many runs exceed a time [default: one computed from the runs]
    #[arg(long = "slow", value_name = "METRIC > TIME", help_heading = JUDGING, hide_short_help = true)]
    pub(crate) slow: Vec<String>,
    /// Significance level of all tests
    #[arg(long, value_name = "P", default_value_t = ALPHA, value_parser = share, help_heading = JUDGING, hide_short_help = true)]
    pub(crate) alpha: f64,
    /// Ratios within 1 ± SHARE are equivalent [default: 0.01]
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = JUDGING)]
    pub(crate) margin: Option<f64>,
    /// Seed of the permutation tests
    #[arg(long, value_name = "N", default_value_t = SEED, help_heading = JUDGING, hide_short_help = true)]
    pub(crate) seed: u64,
}

impl Default for TrialArguments {
    /// The defaults, as if no option were given.
    fn default() -> Self {
        TrialArguments {
            question: QuestionArguments::default(),
            primary: Vec::new(),
            higher_is_better: Vec::new(),
            lower_is_better: Vec::new(),
            slow: Vec::new(),
            alpha: ALPHA,
            margin: None,
            seed: SEED,
        }
    }
}

/// Options for the output.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ShowArguments {
    /// How to show the verdict [default: auto]
    #[arg(long, value_enum, value_name = "FORMAT", hide_default_value = true, default_value_t = ReportFormat::Auto)]
    pub(crate) format: ReportFormat,
    /// The same as --format json
    #[arg(long)]
    pub(crate) json: bool,
    /// With --format mail, all tables
    #[arg(long)]
    pub(crate) all: bool,
    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The build that --format kcidb reports on
    #[arg(long, value_name = "ORIGIN:ID", hide_short_help = true, required_if_eq("format", "kcidb"), value_parser = kcidb_build)]
    pub(crate) kcidb_build: Option<String>,
    /// When to use colour
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Colour::Auto, hide_short_help = true)]
    pub(crate) color: Colour,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// brief, or mail with --output or --all
    Auto,
    /// The answer in at most 25 lines
    Brief,
    /// The answer and the tables, in 72 columns
    #[value(alias = "text")]
    Mail,
    /// A page with plots
    Html,
    /// Schema assize.verdict/1
    Json,
    /// One table
    Csv,
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
    /// Checks as tests of a build, for KCIDB
    Kcidb,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Args)]
pub(crate) struct AuditArguments {
    /// The post: text, a mail, a mailbox, an archive, or '-'
    ///
    /// '-' reads standard input.
    /// For a mailbox, a maildir or a public-inbox git repository, prints one line for each
    /// mail that has figures.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// More files, each a configuration
    ///
    /// Files with the same NAME are runs of one configuration, and so are files numbered
    /// from 1: before-1.txt, before-2.txt, after-1.txt, after-2.txt.
    #[arg(value_name = "NAME=FILE")]
    pub(crate) more: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) trial: TrialArguments,
    #[command(flatten)]
    pub(crate) showing: ShowArguments,
    /// Lines that match REGEX name the configuration NAME
    #[arg(long = "configuration", value_name = "REGEX=NAME", help_heading = READING, value_parser = assize_audit::parse_rule)]
    pub(crate) configurations: Vec<(Regex, String)>,
    /// Lines that match REGEX name the workload NAME
    #[arg(long = "workload", value_name = "REGEX=NAME", help_heading = READING, value_parser = assize_audit::parse_rule)]
    pub(crate) workloads: Vec<(Regex, String)>,
    /// Ignore lines that match REGEX
    #[arg(long = "ignore", value_name = "REGEX", help_heading = READING, hide_short_help = true, value_parser = assize_audit::parse_regex)]
    pub(crate) ignore: Vec<Regex>,
    /// What the columns of tables stand for
    ///
    /// configurations, metrics, workloads or repetitions.
    #[arg(long, value_name = "ROLE", help_heading = READING, value_parser = assize_audit::Role::parse)]
    pub(crate) columns_are: Option<assize_audit::Role>,
    /// What a '+-' after a mean is: sd, se, ci95 or cv
    ///
    /// cv is the sd in percent. The default is what the text says, else the most cautious reading.
    #[arg(long, value_name = "KIND", help_heading = READING, value_parser = assize_audit::SpreadKind::parse)]
    pub(crate) spread: Option<assize_audit::SpreadKind>,
    /// What unnamed numbers measure, as in 'time s <'
    ///
    /// A name, a unit and, if known, '<' (less is better) or '>'.
    #[arg(long, value_name = "METRIC", help_heading = READING, value_parser = assize_audit::declared::Metric::parse)]
    pub(crate) metric: Option<assize_audit::declared::Metric>,
    /// Judge the figures at the places that this file lists
    #[arg(long, value_name = "FILE", help_heading = READING, conflicts_with_all = ["more", "take", "draft"])]
    pub(crate) reading: Option<PathBuf>,
    /// Judge figures at PLACE as those of NAME: '12-16=stock'
    #[arg(long, value_name = "PLACE=NAME", help_heading = READING, conflicts_with_all = ["more", "draft"])]
    pub(crate) take: Vec<String>,
    /// Write a draft of a reading; complete it and give it to --reading
    #[arg(long, value_name = "FILE", help_heading = READING, conflicts_with = "more")]
    pub(crate) draft: Option<PathBuf>,
    /// Runs per mean, where the text does not state it
    #[arg(long, value_name = "N", help_heading = READING, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs_behind: Option<u32>,
    /// How long events were counted: 300s, 5m or 1h
    #[arg(long, value_name = "DURATION", help_heading = READING, hide_short_help = true, value_parser = assize_audit::parse_duration)]
    pub(crate) exposure: Option<f64>,
    /// Show how each line was read
    #[arg(long)]
    pub(crate) explain: bool,
    /// Record what was read as a bundle in this new directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Only this mail: its number, or its Message-ID
    #[arg(long, value_name = "MAIL", help_heading = MAILS, conflicts_with_all = ["thread", "index", "json_lines"])]
    pub(crate) message: Option<String>,
    /// Judge by thread: a reply together with the mails that it answers
    #[arg(long, help_heading = MAILS)]
    pub(crate) thread: bool,
    /// Print each mail's line as JSON
    #[arg(long, help_heading = MAILS, hide_short_help = true)]
    pub(crate) json_lines: bool,
    /// Write a page with a row for each mail or thread
    #[arg(long, value_name = "PAGE", help_heading = MAILS, hide_short_help = true)]
    pub(crate) index: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// Bundles, files of results, or commands to run
    ///
    /// A file can be hyperfine's JSON, or any format that audit reads.
    #[arg(value_name = "BUNDLE|COMMAND", required_unless_present = "commands")]
    pub(crate) inputs: Vec<PathBuf>,
    /// How to join bundles with the same configurations [default: blocks, if on several machines]
    #[arg(long, value_enum, value_name = "WHAT", hide_short_help = true)]
    pub(crate) bundles: Option<BundleJoining>,
    #[command(flatten)]
    pub(crate) trial: TrialArguments,
    #[command(flatten)]
    pub(crate) showing: ShowArguments,
    #[command(flatten)]
    pub(crate) running: CommandsArguments,
}

/// How several bundles relate to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BundleJoining {
    /// Blocks of one experiment
    Blocks,
    /// The sides of a comparison; the first is the baseline
    Sides,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// The bundle
    #[arg(value_name = "BUNDLE")]
    pub(crate) bundle: PathBuf,
    #[command(flatten)]
    pub(crate) trial: TrialArguments,
    #[command(flatten)]
    pub(crate) showing: ShowArguments,
}

#[derive(Debug, Args)]
pub(crate) struct IndexArguments {
    /// The directory that holds the bundles, at any depth
    #[arg(value_name = "DIRECTORY")]
    pub(crate) directory: PathBuf,
    /// Write the page to this file [default: index.html in the directory]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) trial: TrialArguments,
}

#[derive(Debug, Args)]
pub(crate) struct TraceArguments {
    /// The bundle
    #[arg(value_name = "BUNDLE")]
    pub(crate) bundle: PathBuf,
    /// The run's number in the schedule, from 0
    #[arg(value_name = "RUN")]
    pub(crate) run: u32,
    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print the latency of the jobs by stage instead of writing a trace
    #[arg(long)]
    pub(crate) split: bool,
    /// How to show the split
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = SplitFormat::Text, requires = "split")]
    pub(crate) format: SplitFormat,
    /// Worst cases to list
    #[arg(long, value_name = "N", default_value_t = 10, requires = "split")]
    pub(crate) worst: usize,
    /// Only jobs submitted by threads of this name
    #[arg(long, value_name = "NAME", requires = "split")]
    pub(crate) thread: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SplitFormat {
    /// Tables of 72 columns
    Text,
    /// Schema assize.split/1
    Json,
}

/// Parses `ORIGIN:ID`, the name of a build in KCIDB.
fn kcidb_build(text: &str) -> Result<String, String> {
    let is_origin = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    match text.split_once(':') {
        Some((origin, id))
            if !origin.is_empty() && origin.chars().all(is_origin) && !id.is_empty() =>
        {
            Ok(text.to_owned())
        }
        _ => Err(
            "is not of the form ORIGIN:ID; ORIGIN has only lower-case letters, digits and '_'"
                .into(),
        ),
    }
}

/// Parses `0.05` or `5%`.
fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (text, 1.0),
    };
    let value: f64 = number
        .parse()
        .map_err(|_| format!("'{text}' is not a number or a percentage"))?;
    let value = value / unit;
    if value > 0.0 && value < 1.0 {
        Ok(value)
    } else {
        Err(format!("{text} is not between 0 and 1, or 0 % and 100 %"))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use clap::CommandFactory;

    use super::*;

    /// The dictionary of the fuzz target.
    const WORDS: &str = include_str!("../../../fuzz/command_line.dict");

    #[test]
    fn any_words_are_a_command_or_an_error() {
        Cli::command().debug_assert();
        let words: Vec<Vec<u8>> = WORDS
            .lines()
            .map(|line| line.trim_matches('"').replace("\\x00", ""))
            .map(|word| word.replace("\\xff", "\u{ff}").replace("\\xe9", "\u{e9}"))
            .map(|word| word.chars().map(|c| c as u32 as u8).collect())
            .collect();
        // Numerical Recipes' generator: any will do, if it can be replayed.
        let mut state: u32 = 20_261_122;
        let mut draw = |below: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as usize % below
        };
        let (mut parsed, mut refused) = (0, 0);
        for _ in 0..5000 {
            let mut arguments = vec![OsString::from("assize")];
            for _ in 0..=draw(5) {
                let mut word = words[draw(words.len())].clone();
                if draw(4) == 0 {
                    word.insert(draw(word.len() + 1), 1 + draw(255) as u8);
                }
                arguments.push(OsString::from_vec(word));
            }
            match Cli::try_parse_from(arguments) {
                Ok(cli) => parsed += usize::from(!format!("{cli:?}").is_empty()),
                Err(error) => refused += usize::from(!error.to_string().is_empty()),
            }
        }
        assert_eq!(parsed + refused, 5000);
        assert!(parsed > 50 && refused > 50, "{parsed} {refused}");
    }
}
