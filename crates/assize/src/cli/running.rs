//! The command line of the verbs that take measurements.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{QuestionArguments, SandboxArguments, ShowArguments};

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The experiment file
    #[arg(value_name = "EXPERIMENT", required_unless_present = "resume")]
    pub(crate) experiment: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) overrides: OverrideArguments,
    /// Parallel runs [default: as many as do not affect each other]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) jobs: Option<u32>,
    #[command(flatten)]
    pub(crate) farm: FarmArguments,
    /// Record into this new directory [default: EXPERIMENT.bundle]
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with = "resume",
        help_heading = "Output"
    )]
    pub(crate) out: Option<PathBuf>,
    /// Continue an unfinished bundle
    #[arg(long, value_name = "DIR", conflicts_with_all = ["experiment", "target", "runs", "schedule_seed", "levels", "cpus", "kernel_name", "revision"])]
    pub(crate) resume: Option<PathBuf>,
    /// Ignore the cache of exact runs
    #[arg(long, help_heading = "Cache")]
    pub(crate) fresh: bool,
    /// Boot for every run, instead of using memory images; implies --fresh
    #[arg(long, conflicts_with = "on", help_heading = "Cache")]
    pub(crate) cold: bool,
    /// Print nothing while runs execute
    #[arg(long, help_heading = "Output")]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) question: QuestionArguments,
    #[command(flatten)]
    pub(crate) showing: ShowArguments,
}

/// The option of every verb whose runs other machines can execute.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct FarmArguments {
    /// Let this scheduler execute the runs, on any of its nodes
    ///
    /// The runs are submitted as job arrays: see docs/farm.md. All nodes need assize and the
    /// directory of the bundle. sbatch takes its options from environment variables, such as
    /// SBATCH_TIMELIMIT.
    #[arg(long, value_enum, value_name = "SCHEDULER")]
    pub(crate) on: Option<Scheduler>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scheduler {
    Slurm,
}

/// Options that override parts of an experiment.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Override the experiment")]
pub(crate) struct OverrideArguments {
    /// Where to run: exact, live, host or ssh:HOST
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Runs of each configuration on each workload
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: Option<u32>,
    /// Seed of the schedule and of every run
    #[arg(long = "seed", id = "schedule_seed", value_name = "SEED")]
    pub(crate) seed: Option<u64>,
    /// Only these levels of a factor
    #[arg(long = "set", id = "levels", value_name = "FACTOR=LEVEL,…", value_parser = levels)]
    pub(crate) levels: Vec<(String, Vec<String>)>,
    /// CPUs of the machine
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cpus: Option<u32>,
    /// Kernel of the machine
    #[arg(long = "kernel", id = "kernel_name", value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    /// Record this as the revision, for assize trend
    #[arg(long, value_name = "REV", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) revision: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    /// The experiment file
    #[arg(value_name = "EXPERIMENT")]
    pub(crate) experiment: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: OverrideArguments,
    /// Assume that runs vary as in this bundle [default: by 3 %]
    #[arg(long, value_name = "BUNDLE", conflicts_with = "output")]
    pub(crate) like: Option<PathBuf>,
    /// Write the plan, as JSON, to this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RunOneArguments {
    /// A plan written by `assize plan -o`, or a bundle
    #[arg(value_name = "PLAN")]
    pub(crate) plan: PathBuf,
    /// Index of the run in the plan, from 0, or a range: 8-15
    #[arg(long, value_name = "K", value_parser = indices)]
    pub(crate) index: RangeInclusive<u32>,
    /// Record into this directory; several processes may do so at once
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Execute the run even if the cache of exact runs holds it
    #[arg(long)]
    pub(crate) fresh: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArguments {
    /// Bundles of the same experiment
    #[arg(value_name = "BUNDLE", required = true)]
    pub(crate) bundles: Vec<PathBuf>,
    /// Write the merged bundle into this new directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct WhyArguments {
    /// A bundle of exact runs
    #[arg(value_name = "BUNDLE")]
    pub(crate) bundle: PathBuf,
    /// The configuration to explain
    #[arg(value_name = "A")]
    pub(crate) a: String,
    /// The configuration to compare it with
    #[arg(value_name = "B")]
    pub(crate) b: String,
    /// The workload [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Option<String>,
    /// The metric to show next to the instructions
    #[arg(long, value_name = "METRIC", default_value = "busy_time")]
    pub(crate) metric: String,
    /// Number of seeds to rerun; several give intervals and verdicts
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) seeds: u32,
    /// Show how often this kernel function is entered, and the values of an argument
    ///
    /// ARG is 1 to 6, or a register. Repeatable.
    #[arg(long, value_name = "FN[:ARG]")]
    pub(crate) reached: Vec<String>,
    /// Test how much a function can explain: 'csum_partial: 20% on busy_time'
    #[arg(long, value_name = "CLAIM")]
    pub(crate) explains: Vec<String>,
    /// Show which hunks of this diff or mail are reached, and how much they explain
    #[arg(long, value_name = "FILE")]
    pub(crate) diff: Option<PathBuf>,
    /// Show call trees
    #[arg(long)]
    pub(crate) tree: bool,
    /// Also model caches
    ///
    /// SPEC is host, for the caches of this host, or a geometry, by default
    /// l1i=32K/8,l1d=32K/8,l2=1M/16,llc=8M/16,line=64.
    #[arg(
        long,
        value_name = "SPEC",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ""
    )]
    pub(crate) cache: Option<String>,
    /// Store the answer in the bundle; its page then has a flame graph
    #[arg(long)]
    pub(crate) keep: bool,
    /// Functions to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    /// List every function
    #[arg(long, conflicts_with = "top")]
    pub(crate) all: bool,
    /// How to show the answer
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = WhyFormat::Text)]
    pub(crate) format: WhyFormat,
    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DebugArguments {
    /// A bundle of exact runs
    #[arg(value_name = "BUNDLE")]
    pub(crate) bundle: PathBuf,
    /// Index of the run in the schedule, from 0
    #[arg(value_name = "RUN")]
    pub(crate) run: u32,
    /// Where to stop first: worst, a sample, job, event or wait, a time, a function, or crash
    /// [default: the start of the run]
    ///
    /// worst: the start of the worst sample; worst:end: its end. sample:round_trip:7: the 7th
    /// sample of a metric. job:412: a submission to simgpu. event:sched_switch:3: a kernel event.
    /// wait:cyclictest: the wakeup after which a thread of this name waited longest for a CPU.
    /// 12.345ms: a time of the guest's CLOCK_MONOTONIC. drm_sched_main:7: the 7th call of a
    /// function. crash: where the kernel oopses, warns or panics.
    #[arg(long, value_name = "WHERE")]
    pub(crate) at: Option<String>,
    /// The metric whose worst sample --at worst finds
    /// [default: the first primary one with samples]
    #[arg(long, value_name = "NAME")]
    pub(crate) metric: Option<String>,
    /// The gdb to start
    #[arg(
        long,
        value_name = "PROGRAM",
        default_value = "gdb",
        conflicts_with = "port"
    )]
    pub(crate) gdb: PathBuf,
    /// Start no gdb; wait for a debugger on this port of 127.0.0.1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// Arguments for gdb, such as -batch -x SCRIPT
    #[arg(last = true, value_name = "ARGUMENT", conflicts_with = "port")]
    pub(crate) arguments: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct WhenArguments {
    /// A bundle of exact runs
    #[arg(value_name = "BUNDLE")]
    pub(crate) bundle: PathBuf,
    /// Index of the run in the schedule, from 0
    #[arg(value_name = "RUN")]
    pub(crate) run: u32,
    /// The metric whose worst sample is explained [default: the first primary one with samples]
    #[arg(long, value_name = "NAME")]
    pub(crate) metric: Option<String>,
    /// Call a run bad by this instead of by its worst sample: 'round_trip_ns_max > 1ms'
    #[arg(long, value_name = "METRIC > VALUE", conflicts_with = "metric")]
    pub(crate) bad: Option<String>,
    /// Draws from each moment that matters
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(4..=1000))]
    pub(crate) draws: u32,
    /// Store the answer in the bundle; its page then shows it
    #[arg(long)]
    pub(crate) keep: bool,
    /// How to show the answer
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = WhenFormat::Text)]
    pub(crate) format: WhenFormat,
    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WhenFormat {
    /// The answer in 72 columns
    Text,
    /// Schema assize.when/1
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WhyFormat {
    /// Tables of 72 columns
    Text,
    /// Schema assize.why/1
    Json,
    /// Stacks for flame graphs
    Folded,
    /// A profile for pprof
    Pprof,
    /// A page with a differential flame graph
    Html,
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// What to list [default: everything]
    #[arg(value_enum, value_name = "WHAT")]
    pub(crate) what: Option<Listing>,
    /// Directories to search for experiment files
    #[arg(value_name = "DIR", default_value = "experiments")]
    pub(crate) directories: Vec<PathBuf>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listing {
    Experiments,
    Workloads,
    Instruments,
    Targets,
    Designs,
    Policies,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KernelVerb {
    /// List the available kernels, and those that can be fetched
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Fetch a kernel from Debian's archive into a private directory
    Fetch {
        /// debian:6.12, debian:6.12-rt, debian:6.1, debian:7 or debian:sid
        #[arg(value_name = "NAME", required_unless_present = "qemu")]
        name: Option<String>,
        /// Also fetch its headers, for building modules
        #[arg(long)]
        headers: bool,
        /// Also fetch its headers and the compiler that built it
        #[arg(long)]
        compiler: bool,
        /// Build QEMU for exact machines instead
        #[arg(long, conflicts_with_all = ["name", "headers", "compiler"])]
        qemu: bool,
    },
    /// Add your own kernel under a name
    Add {
        /// The name that experiment files will use
        #[arg(value_name = "NAME")]
        name: String,
        /// The kernel image (bzImage)
        #[arg(long, value_name = "IMAGE")]
        kernel: PathBuf,
        /// Its modules: the directory that holds `kernel/` and `modules.dep`
        #[arg(long, value_name = "DIR")]
        modules: Option<PathBuf>,
        /// Its headers, for building modules
        #[arg(long, value_name = "DIR")]
        headers: Option<PathBuf>,
    },
    /// Build a small kernel for the exact machine, with its modules and headers
    Build {
        /// The name that experiment files will use
        #[arg(value_name = "NAME")]
        name: String,
        /// The top of a clean source tree, which is not modified
        #[arg(long, value_name = "DIR", default_value = ".")]
        tree: PathBuf,
        #[command(flatten)]
        sandbox: SandboxArguments,
    },
    /// Print the directory to build modules against: make -C DIR M=$PWD modules
    Headers {
        /// An available kernel that has its headers
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Print the configuration that kernel build uses, with a reason for each option
    Config {
        /// Check this configuration; status 1 if it lacks a needed option
        #[arg(long, value_name = "FILE")]
        check: Option<PathBuf>,
    },
}

/// `8`, or `8-15`.
fn indices(text: &str) -> Result<RangeInclusive<u32>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if first <= last => Ok(first..=last),
        _ => Err(format!("'{text}' is not of the form K or FIRST-LAST")),
    }
}

pub(super) fn levels(text: &str) -> Result<(String, Vec<String>), String> {
    let (factor, levels) = text
        .split_once('=')
        .ok_or_else(|| format!("'{text}' is not of the form FACTOR=LEVEL,…"))?;
    let levels: Vec<String> = levels.split(',').map(|l| l.trim().to_string()).collect();
    if factor.trim().is_empty() || levels.iter().any(String::is_empty) {
        return Err(format!("'{text}' is not of the form FACTOR=LEVEL,…"));
    }
    Ok((factor.trim().to_string(), levels))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_one_or_a_range() {
        assert_eq!(indices("7"), Ok(7..=7));
        assert_eq!(indices("8-15"), Ok(8..=15));
        for wrong in ["", "-", "3-", "-3", "4-3", "a", "1-2-3", "4294967296"] {
            assert!(indices(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn levels_of_a_factor_are_parted_by_commas() {
        let pair = |f: &str, l: &[&str]| (f.into(), l.iter().map(|l| (*l).into()).collect());
        assert_eq!(levels("cpus=1,2").unwrap(), pair("cpus", &["1", "2"]));
        assert_eq!(levels("a = x , y").unwrap(), pair("a", &["x", "y"]));
        for wrong in ["", "a", "=b", "a=", "a=b,,c"] {
            assert!(levels(wrong).is_err(), "{wrong}");
        }
    }
}
