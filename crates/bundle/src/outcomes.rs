//! How failed runs ended.

use serde::{Deserialize, Serialize};

use crate::kernel_log::{Complaint, complaints, leading};

/// How a run that did not complete ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// The kernel panicked or oopsed.
    Crashed,
    /// The machine or one of its tasks stopped making progress.
    Hung,
    /// The run took longer than allowed.
    TimedOut,
    /// The kernel's OOM killer killed something.
    OutOfMemory,
    /// The workload exited with an unexpected status or was killed by a signal.
    ExitStatus,
    /// The set-up, the background or the tear-down failed.
    SetUp,
    /// The identity of the run was not the one requested.
    NotAsAsked,
    /// The failure says nothing about the code under test: for example, QEMU or ssh ended, or a
    /// clock was not exact.
    NotMeasured,
}

impl Ending {
    /// Whether the code under test may be the cause, so that these runs are counted and compared.
    #[must_use]
    pub fn is_compared(self) -> bool {
        !matches!(self, Ending::NotAsAsked | Ending::NotMeasured)
    }

    /// The ending of a run of which only the reason is known, as in bundles of older versions.
    #[must_use]
    pub fn of_reason(why: &str) -> Ending {
        let begins = |beginning: &str| why.starts_with(beginning);
        if begins("kernel panic: ") {
            Ending::Crashed
        } else if begins("not done after ") {
            Ending::TimedOut
        } else if begins("the machine has stalled: ") || begins("ended too early: a task hung") {
            Ending::Hung
        } else if begins("out of memory: ") {
            Ending::OutOfMemory
        } else if begins("it was not the run that was asked for") {
            Ending::NotAsAsked
        } else if begins("ended too early: ") || begins("inexact: ") || begins("the agent ") {
            Ending::NotMeasured
        } else {
            Ending::ExitStatus
        }
    }
}

/// A failed run. It has no metrics and takes part in no comparison of metrics.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FailedRun {
    /// The configuration under test.
    pub configuration: String,
    /// The workload.
    pub workload: String,
    /// Counted from 1 within configuration and workload.
    pub repetition: u32,
    /// Position in the order of execution, counted from 0.
    pub order: u32,
    /// The randomised block it belongs to, if the schedule has blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// The memory image that its machine started from, as [`crate::Run::image`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<u32>,
    /// The machine it ran on, as [`crate::Run::machine`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The seed it was given, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The reason of the failure.
    pub why: String,
    /// The last lines of its console.
    pub console: String,
    /// How it ended, if recorded; see [`FailedRun::ended`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
    /// The kernel's complaints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub complaints: Vec<Complaint>,
}

impl FailedRun {
    /// How it ended; derived from the reason if not recorded.
    #[must_use]
    pub fn ended(&self) -> Ending {
        self.ending.unwrap_or_else(|| Ending::of_reason(&self.why))
    }

    /// The kernel's complaints; derived from the console if not recorded.
    #[must_use]
    pub fn complained_of(&self) -> Vec<Complaint> {
        if !self.complaints.is_empty() || !self.ended().is_compared() {
            return self.complaints.clone();
        }
        complaints(&self.console)
    }

    /// The signature shared by runs that failed for the same cause.
    #[must_use]
    pub fn signature(&self) -> String {
        let complaints = self.complained_of();
        match leading(&complaints) {
            Some(complaint) => complaint.signature(),
            None => how_it_ended(self.why.lines().next().unwrap_or_default()).to_owned(),
        }
    }
}

/// How a command ended, without its output, which may differ between runs.
fn how_it_ended(why: &str) -> &str {
    let begins = ["exit status ", "killed by "];
    let Some(at) = begins.into_iter().filter_map(|sign| why.find(sign)).min() else {
        return why;
    };
    let end = why[at..].find([':', ';']).map_or(why.len(), |end| at + end);
    &why[..end]
}

/// A completed run in which the kernel complained.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ComplainedRun {
    /// The configuration under test.
    pub configuration: String,
    /// The workload.
    pub workload: String,
    /// Position in the order of execution: [`crate::Run::order`] of that run.
    pub order: u32,
    /// The kernel's complaints; at least one.
    pub complaints: Vec<Complaint>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_older_bundles_tell_how_runs_ended() {
        for (why, ending) in [
            (
                "kernel panic: Kernel panic - not syncing: x",
                Ending::Crashed,
            ),
            ("not done after 60 s", Ending::TimedOut),
            ("the machine has stalled: no instruction", Ending::Hung),
            (
                "out of memory: Out of memory: Killed process 7",
                Ending::OutOfMemory,
            ),
            ("ended too early: QEMU: signal 9", Ending::NotMeasured),
            ("ended too early: a task hung: INFO: task x", Ending::Hung),
            ("pipe: exit status 3", Ending::ExitStatus),
        ] {
            assert_eq!(Ending::of_reason(why), ending, "{why}");
        }
    }

    #[test]
    fn commands_that_end_alike_have_one_signature_whatever_they_print() {
        for (why, signature) in [
            (
                "it: exit status 3: 7 of 9 failed; x: y",
                "it: exit status 3",
            ),
            ("it: exit status 3; it printed nothing", "it: exit status 3"),
            (
                "it: killed by SIGSEGV, core dumped: address 7",
                "it: killed by SIGSEGV, core dumped",
            ),
            ("not done after 60 s: x", "not done after 60 s: x"),
        ] {
            let run = FailedRun {
                why: why.into(),
                ..FailedRun::default()
            };
            assert_eq!(run.signature(), signature);
        }
    }

    #[test]
    fn a_console_tells_what_an_older_record_does_not() {
        let run = FailedRun {
            why: "kernel panic: Kernel panic - not syncing: Fatal exception".into(),
            console: "BUG: kernel NULL pointer dereference, address: 0\nRIP: 0010:f+0x1/0x2\n"
                .into(),
            ..FailedRun::default()
        };
        assert_eq!(run.ended(), Ending::Crashed);
        assert_eq!(run.signature(), "oops in f+0x1");
    }
}
