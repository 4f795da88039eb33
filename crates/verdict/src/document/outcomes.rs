//! How runs ended, counted and compared.

use assize_bundle::Ending;
use serde::{Deserialize, Serialize};

use super::Verdict;
use crate::words::plain;

/// A way in which runs end that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// The kernel panicked or oopsed.
    Crashed,
    /// The machine, or a task of it, got no further.
    Hung,
    /// It took longer than allowed.
    TimedOut,
    /// The kernel killed something for lack of memory.
    OutOfMemory,
    /// The workload ended by another status than it should, or by a signal.
    ExitStatus,
    /// The set-up, the background or the tear-down failed.
    SetUp,
    /// It was completed, and the kernel complained.
    Complained,
    /// It was completed, and something in it took far longer than in others.
    Slow,
}

impl RunEnd {
    /// All of them, the gravest first.
    pub const ALL: [RunEnd; 8] = [
        RunEnd::Crashed,
        RunEnd::Hung,
        RunEnd::TimedOut,
        RunEnd::OutOfMemory,
        RunEnd::ExitStatus,
        RunEnd::SetUp,
        RunEnd::Complained,
        RunEnd::Slow,
    ];

    /// Whether such a run has metrics.
    pub fn is_completed(self) -> bool {
        matches!(self, RunEnd::Complained | RunEnd::Slow)
    }

    /// The end of a failed run; none of one that says nothing of what was tried.
    pub(crate) fn of(ending: Ending) -> Option<RunEnd> {
        Some(match ending {
            Ending::Crashed => RunEnd::Crashed,
            Ending::Hung => RunEnd::Hung,
            Ending::TimedOut => RunEnd::TimedOut,
            Ending::OutOfMemory => RunEnd::OutOfMemory,
            Ending::ExitStatus => RunEnd::ExitStatus,
            Ending::SetUp => RunEnd::SetUp,
            Ending::NotAsAsked | Ending::NotMeasured => return None,
        })
    }

    /// The heading of its row: `crashes`.
    pub fn heading(self) -> &'static str {
        match self {
            RunEnd::Crashed => "crashes",
            RunEnd::Hung => "hangs",
            RunEnd::TimedOut => "timeouts",
            RunEnd::OutOfMemory => "runs out of memory",
            RunEnd::ExitStatus => "failed workloads",
            RunEnd::SetUp => "failed set-ups",
            RunEnd::Complained => "kernel warnings",
            RunEnd::Slow => "slow runs",
        }
    }

    /// What a run did: `crashed`.
    pub fn word(self) -> &'static str {
        match self {
            RunEnd::Crashed => "crashed",
            RunEnd::Hung => "hung",
            RunEnd::TimedOut => "timed out",
            RunEnd::OutOfMemory => "ran out of memory",
            RunEnd::ExitStatus => "failed",
            RunEnd::SetUp => "failed in its set-up",
            RunEnd::Complained => "was warned of by the kernel",
            RunEnd::Slow => "was slow",
        }
    }
}

/// Above what a run is called slow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tail {
    /// What was executed.
    pub workload: String,
    /// What took so long: a metric, of samples the largest of a run.
    pub metric: String,
    /// The threshold, which is far above most runs of all configurations.
    pub above: f64,
    /// Its unit.
    pub unit: String,
}

/// How often runs of one configuration ended in one way, against the baseline. All
/// workloads on which both were run are taken together, but for slow runs, which are
/// those of one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutcomeComparison {
    /// In which way.
    pub outcome: RunEnd,
    /// Above what runs are slow, where that is the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<Tail>,
    /// The configuration compared with.
    pub baseline: String,
    /// The configuration under trial.
    pub configuration: String,
    /// How many runs of the baseline ended so.
    pub count_baseline: u32,
    /// Of how many.
    pub n_baseline: u32,
    /// How many runs of the configuration ended so.
    pub count: u32,
    /// Of how many.
    pub n: u32,
    /// The runs as pairs of one seed and memory image, where they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<OutcomePairs>,
    /// Which exact test gave `p`.
    pub test: OutcomeTest,
    /// Its two-sided p.
    pub p: f64,
    /// The smallest p that it can give with so many runs that ended so.
    pub p_attainable: f64,
    /// `p` corrected for the document; `null` where `p_attainable` is above alpha.
    pub p_adjusted: Option<f64>,
    /// Against none of the baseline, how many runs of the configuration would have had
    /// to end so to be established; `null` if even all of them would not have done.
    pub fewest: Option<u32>,
    /// What may be said of it: `established` or `undecided`.
    pub verdict: Verdict,
    /// What the runs that ended so have in common, the most frequent first.
    pub signatures: Vec<OutcomeSignature>,
    /// What else to know, such as that both sides ended so, but in different places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl OutcomeComparison {
    /// The heading of the row: `crashes`, or `elapsed above 3.1 ms on read`.
    pub fn heading(&self) -> String {
        match &self.tail {
            None => self.outcome.heading().to_owned(),
            Some(tail) => {
                let (metric, above) = (&tail.metric, plain(tail.above));
                format!("{metric} above {above} {} on {}", tail.unit, tail.workload)
            }
        }
    }

    /// Whether more runs of the configuration than of the baseline ended so: their
    /// shares.
    pub fn is_more(&self) -> bool {
        let cross = |count: u32, of: u32| u64::from(count) * u64::from(of);
        cross(self.count, self.n_baseline) > cross(self.count_baseline, self.n)
    }

    /// Whether it is established that the configuration is worse.
    pub fn is_worse(&self) -> bool {
        self.verdict == Verdict::Established && self.is_more()
    }
}

/// Runs of two configurations as pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomePairs {
    /// How many.
    pub pairs: u32,
    /// In how many of them only the baseline's run ended so.
    pub only_baseline: u32,
    /// In how many only the configuration's.
    pub only_configuration: u32,
}

/// Which exact test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeTest {
    /// Fisher's, of runs that are not paired.
    Fisher,
    /// McNemar's, of pairs that share seed and memory image.
    McNemar,
}

impl OutcomeTest {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            OutcomeTest::Fisher => "Fisher's exact test",
            OutcomeTest::McNemar => "McNemar's exact test",
        }
    }
}

/// What runs that ended in one way have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeSignature {
    /// Kind and place, as `oops in race_use+0x5e [race]`.
    pub signature: String,
    /// The line of the first such run that says so.
    pub line: String,
    /// The first functions of its trace.
    pub frames: Vec<String>,
    /// The runs, those of the baseline first.
    pub runs: Vec<OutcomeRun>,
}

/// A run that ended in some way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeRun {
    /// Its configuration.
    pub configuration: String,
    /// What was executed.
    pub workload: String,
    /// Its place in the schedule, from 0: the number that `--index` takes.
    pub index: u32,
    /// Its seed, where that is known.
    pub seed: Option<u64>,
    /// Its memory image, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<u32>,
}
