//! How runs ended, counted and compared.

use assize_bundle::Ending;
use assize_bundle::kernel_log::{Complaint, Phase};
use serde::{Deserialize, Serialize};

use super::Verdict;
use crate::words::plain;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// The kernel panicked or oopsed.
    Crashed,
    /// The machine or one of its tasks stopped making progress.
    Hung,
    /// It took longer than allowed.
    TimedOut,
    /// The OOM killer killed something.
    OutOfMemory,
    /// The workload exited with an unexpected status or was killed by a signal.
    ExitStatus,
    /// The set-up, the background or the tear-down failed.
    SetUp,
    /// What ran was not what was requested.
    NotAsAsked,
    /// It completed, but the kernel complained during the measurement.
    Complained,
    /// It completed, but the kernel complained during set-up or tear-down.
    ComplainedOutside,
    /// It completed, but something in it took far longer than in other runs.
    Slow,
}

impl RunEnd {
    /// All endings, the most severe first.
    pub const ALL: [RunEnd; 10] = [
        RunEnd::Crashed,
        RunEnd::Hung,
        RunEnd::TimedOut,
        RunEnd::OutOfMemory,
        RunEnd::ExitStatus,
        RunEnd::SetUp,
        RunEnd::NotAsAsked,
        RunEnd::Complained,
        RunEnd::ComplainedOutside,
        RunEnd::Slow,
    ];

    /// Whether such a run has metrics.
    pub fn is_completed(self) -> bool {
        matches!(
            self,
            RunEnd::Complained | RunEnd::ComplainedOutside | RunEnd::Slow
        )
    }

    /// The ending of a failed run; `None` if it does not reflect on what was tested.
    pub(crate) fn from_ending(ending: Ending) -> Option<RunEnd> {
        Some(match ending {
            Ending::Crashed => RunEnd::Crashed,
            Ending::Hung => RunEnd::Hung,
            Ending::TimedOut => RunEnd::TimedOut,
            Ending::OutOfMemory => RunEnd::OutOfMemory,
            Ending::ExitStatus => RunEnd::ExitStatus,
            Ending::SetUp => RunEnd::SetUp,
            Ending::NotAsAsked => RunEnd::NotAsAsked,
            Ending::NotMeasured => return None,
        })
    }

    /// The ending of a completed run in which the kernel complained.
    pub(crate) fn from_complaints(complaints: &[Complaint]) -> RunEnd {
        if complaints.iter().any(|one| one.phase.is_window()) {
            RunEnd::Complained
        } else {
            RunEnd::ComplainedOutside
        }
    }

    /// For runs in which the kernel complained, when; `None` for other endings.
    pub(crate) fn phases(self) -> Option<&'static [Phase]> {
        match self {
            RunEnd::Complained => Some(&[Phase::Window]),
            RunEnd::ComplainedOutside => Some(&[Phase::SetUp, Phase::TearDown]),
            _ => None,
        }
    }

    /// The heading of its row: `crashes`.
    pub fn heading(self) -> &'static str {
        self.words().0
    }

    /// The past tense for one run: `crashed`.
    pub fn word(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            RunEnd::Crashed => ("crashes", "crashed"),
            RunEnd::Hung => ("hangs", "hung"),
            RunEnd::TimedOut => ("timeouts", "timed out"),
            RunEnd::OutOfMemory => ("runs out of memory", "ran out of memory"),
            RunEnd::ExitStatus => ("failed workloads", "failed"),
            RunEnd::SetUp => ("failed set-ups", "failed in its set-up"),
            RunEnd::NotAsAsked => (
                "runs with wrong files or settings",
                "ran with wrong files or settings",
            ),
            RunEnd::Complained => ("kernel warnings", "made the kernel warn"),
            RunEnd::ComplainedOutside => (
                "kernel warnings in set-up or tear-down",
                "made the kernel warn in set-up or tear-down",
            ),
            RunEnd::Slow => ("slow runs", "was slow"),
        }
    }
}

/// The threshold above which a run counts as slow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tail {
    /// The workload.
    pub workload: String,
    /// The metric compared with `above`; for samples, the largest of a run.
    pub metric: String,
    /// The threshold, far above most runs of all configurations.
    pub above: f64,
    /// Its unit.
    pub unit: String,
}

/// How often runs ended in a certain way, compared with the baseline. Counts are pooled over all
/// workloads that both ran, except those of slow runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutcomeComparison {
    /// How the runs ended.
    pub outcome: RunEnd,
    /// The threshold of slow runs, if `outcome` is `slow`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<Tail>,
    /// The configuration that `configuration` is compared with.
    pub baseline: String,
    /// The configuration under test.
    pub configuration: String,
    /// Runs of the baseline that ended this way.
    pub count_baseline: u32,
    /// Runs of the baseline.
    pub n_baseline: u32,
    /// Runs of the configuration that ended this way.
    pub count: u32,
    /// Runs of the configuration.
    pub n: u32,
    /// Pairs of runs that share seed and memory image, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<OutcomePairs>,
    /// The exact test that gave `p`.
    pub test: OutcomeTest,
    /// Two-sided p of the test.
    pub p: f64,
    /// The smallest p that the test can give with this many such runs.
    pub p_attainable: f64,
    /// `p` corrected for the document; `null` if `p_attainable` is above alpha.
    pub p_adjusted: Option<f64>,
    /// How many runs of the configuration would have to end this way to establish a difference if
    /// none of the baseline did; `null` if even all would not.
    pub fewest: Option<u32>,
    /// `established` or `undecided`.
    pub verdict: Verdict,
    /// What these runs have in common, the most frequent first.
    pub signatures: Vec<OutcomeSignature>,
    /// A note, such as that runs of both ended this way but in different places.
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

    /// Whether a larger share of runs ended this way in the configuration than in the baseline.
    pub fn is_more(&self) -> bool {
        let cross = |count: u32, of: u32| u64::from(count) * u64::from(of);
        cross(self.count, self.n_baseline) > cross(self.count_baseline, self.n)
    }

    /// Whether it is about slow runs and undecided: the least of what a report says.
    pub fn is_open_tail(&self) -> bool {
        self.tail.is_some() && self.verdict != Verdict::Established
    }

    /// Whether it is established that the configuration is worse.
    pub fn is_worse(&self) -> bool {
        self.verdict == Verdict::Established && self.is_more()
    }
}

/// Pairs of runs: one of each side on one workload, with one seed and memory image.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OutcomePairs {
    /// Number of pairs.
    pub pairs: u32,
    /// Pairs in which only the baseline's run ended this way.
    pub only_baseline: u32,
    /// Pairs in which only the configuration's did.
    pub only_configuration: u32,
    /// How many pairs the test counts as one, because runs from one image are alike; 1 if they are
    /// not.
    #[serde(default = "no_effect")]
    pub design_effect: f64,
}

/// The design effect of pairs in older documents.
fn no_effect() -> f64 {
    1.0
}

impl OutcomePairs {
    /// The numbers of differing pairs that the test counts: only the baseline's run, only the
    /// configuration's.
    pub(crate) fn effective(&self) -> [u32; 2] {
        let only = [self.only_baseline, self.only_configuration];
        only.map(|n| (f64::from(n) / self.design_effect).round() as u32)
    }

    /// The fewest differing pairs that the test counts as this many.
    pub(crate) fn least_for(&self, effective: u32) -> u32 {
        // As rounded in `effective`.
        ((f64::from(effective) - 0.5) * self.design_effect).ceil() as u32
    }
}

/// The exact test used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeTest {
    /// Fisher's, for unpaired runs.
    Fisher,
    /// McNemar's, for pairs.
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

/// What runs that ended in the same way have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeSignature {
    /// Kind and place, such as `oops in race_use+0x5e [race]`.
    pub signature: String,
    /// The log line of the first such run.
    pub line: String,
    /// The first functions of its call trace.
    pub frames: Vec<String>,
    /// The runs, those of the baseline first.
    pub runs: Vec<OutcomeRun>,
}

/// A run that failed or complained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeRun {
    /// The configuration under test.
    pub configuration: String,
    /// The workload.
    pub workload: String,
    /// Its position in the schedule, from 0, as `--index` takes it.
    pub index: u32,
    /// Its bundle, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<String>,
    /// Its seed, if known.
    pub seed: Option<u64>,
    /// Its memory image, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<u32>,
}

impl OutcomeRun {
    /// `3` or `3 of new.bundle`.
    pub fn number(&self) -> String {
        match &self.bundle {
            Some(bundle) => format!("{} of {bundle}", self.index),
            None => self.index.to_string(),
        }
    }
}
