//! What counts as a failure of a run.

use assize_bundle::kernel_log::{Complaint, ComplaintKind, leading};
use assize_bundle::{Ending, FailedRun, RunExit, RunRecord};
use assize_job::AgentMessage;
use assize_target::{OrderResult, RunOutcome};
use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::when::Threshold;

/// The kinds of complaint that can be asked for, and their words.
const KINDS: [(&str, ComplaintKind); 14] = [
    ("warning", ComplaintKind::Warning),
    ("bug", ComplaintKind::Bug),
    ("oops", ComplaintKind::Oops),
    ("panic", ComplaintKind::Panic),
    ("lockdep", ComplaintKind::Lockdep),
    ("kasan", ComplaintKind::Kasan),
    ("kcsan", ComplaintKind::Kcsan),
    ("ubsan", ComplaintKind::Ubsan),
    ("kmsan", ComplaintKind::Kmsan),
    ("hung-task", ComplaintKind::HungTask),
    ("rcu-stall", ComplaintKind::RcuStall),
    ("lockup", ComplaintKind::Lockup),
    ("atomic", ComplaintKind::Atomic),
    ("other", ComplaintKind::Other),
];
/// The ways to end that can be asked for, their words, and how an answer names them.
const ENDINGS: [(&str, Ending, &str); 6] = [
    ("crash", Ending::Crashed, "crash"),
    ("hang", Ending::Hung, "hang"),
    ("timeout", Ending::TimedOut, "timeout"),
    ("out-of-memory", Ending::OutOfMemory, "out of memory"),
    ("exit", Ending::ExitStatus, "exit status"),
    ("setup", Ending::SetUp, "set-up"),
];

/// What counts as a failure; without any word, each complaint and each end but completion.
#[derive(Debug)]
pub(super) struct Oracles {
    asked: Vec<Oracle>,
}

#[derive(Debug)]
enum Oracle {
    Complaint(ComplaintKind),
    Ending(Ending),
    Metric(String),
    Log(Regex),
}

/// A failure of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Noticed {
    /// What noticed it.
    pub(super) oracle: String,
    pub(super) place: Option<String>,
    /// The line that reports it.
    pub(super) line: String,
    /// What failures of one kind have in common.
    pub(super) signature: String,
}

/// How a run ended for a hunt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RunVerdict {
    Passed,
    Failed(Noticed),
    /// It failed in a way that does not count, for this reason.
    Other(String),
}

impl Oracles {
    /// From the values of `--until` and `--until-log`.
    pub(super) fn parse(until: &[String], logs: &[String]) -> Result<Oracles, Failure> {
        let mut asked = Vec::new();
        for word in until {
            asked.push(Oracle::parse(word)?);
        }
        for pattern in logs {
            let regex = Regex::new(pattern).map_err(|error| {
                let last = error.to_string();
                let last = last.lines().last().unwrap_or_default();
                Failure::Argument(format!("hunt: --until-log '{pattern}': {last}"))
            })?;
            asked.push(Oracle::Log(regex));
        }
        Ok(Oracles { asked })
    }

    /// The words, for the answer.
    pub(super) fn words(&self) -> Vec<String> {
        let words = self.asked.iter().map(|oracle| match oracle {
            Oracle::Complaint(kind) => word_of(&KINDS, kind),
            Oracle::Ending(ending) => {
                let named = ENDINGS.iter().find(|one| one.1 == *ending);
                named.map_or("", |one| one.0).to_owned()
            }
            Oracle::Metric(text) => text.clone(),
            Oracle::Log(regex) => format!("log: {regex}"),
        });
        words.collect()
    }

    /// The kernel option without which a kind that is asked for never occurs, and its word.
    pub(super) fn kernel_options(&self) -> Vec<(&'static str, &'static str)> {
        let all = self.asked.iter().filter_map(|oracle| match oracle {
            Oracle::Complaint(ComplaintKind::Kasan) => Some(("kasan", "CONFIG_KASAN")),
            Oracle::Complaint(ComplaintKind::Kcsan) => Some(("kcsan", "CONFIG_KCSAN")),
            Oracle::Complaint(ComplaintKind::Kmsan) => Some(("kmsan", "CONFIG_KMSAN")),
            Oracle::Complaint(ComplaintKind::Ubsan) => Some(("ubsan", "CONFIG_UBSAN")),
            Oracle::Complaint(ComplaintKind::Lockdep) => Some(("lockdep", "CONFIG_PROVE_LOCKING")),
            _ => None,
        });
        all.collect()
    }

    /// How a run ended.
    pub(super) fn judge(
        &self,
        record: &RunRecord,
        done: &OrderResult,
    ) -> Result<RunVerdict, Failure> {
        let why = match &record.exit {
            RunExit::Failed { why, .. } => Some(why.as_str()),
            RunExit::Completed => None,
        };
        if record.ending.is_some_and(|ending| !ending.is_compared()) {
            return Ok(RunVerdict::Other(why.unwrap_or_default().to_owned()));
        }
        for oracle in &self.asked {
            if let Some(noticed) = oracle.notice(record, done)? {
                return Ok(RunVerdict::Failed(noticed));
            }
        }
        if self.asked.is_empty() {
            if let Some(complaint) = leading(&record.complaints) {
                return Ok(RunVerdict::Failed(of_complaint(complaint)));
            }
            if let Some(ending) = record.ending {
                return Ok(RunVerdict::Failed(of_ending(record, ending)));
            }
        }
        Ok(why.map_or(RunVerdict::Passed, |why| RunVerdict::Other(why.to_owned())))
    }
}

impl Oracle {
    fn parse(word: &str) -> Result<Oracle, Failure> {
        if let Some((_, kind)) = KINDS.iter().find(|(known, _)| *known == word) {
            return Ok(Oracle::Complaint(*kind));
        }
        if let Some((_, ending, _)) = ENDINGS.iter().find(|(known, ..)| *known == word) {
            return Ok(Oracle::Ending(*ending));
        }
        if word.contains(['>', '<']) {
            let wrong = |why| Failure::Argument(format!("hunt: --until: {why}"));
            return Threshold::parse(word)
                .map(|_| Oracle::Metric(word.to_owned()))
                .map_err(wrong);
        }
        let known = KINDS.iter().map(|(known, _)| *known);
        let known: Vec<&str> = known.chain(ENDINGS.iter().map(|one| one.0)).collect();
        Err(Failure::Argument(format!(
            "hunt: --until '{word}': is neither 'METRIC > VALUE' nor one of {}",
            known.join(", ")
        )))
    }

    fn notice(&self, record: &RunRecord, done: &OrderResult) -> Result<Option<Noticed>, Failure> {
        Ok(match self {
            Oracle::Complaint(kind) => {
                let mut all = record.complaints.iter();
                all.find(|one| one.kind == *kind).map(of_complaint)
            }
            Oracle::Ending(ending) => {
                (record.ending == Some(*ending)).then(|| of_ending(record, *ending))
            }
            Oracle::Metric(text) => of_metric(text, record)?,
            Oracle::Log(regex) => of_log(regex, record, done),
        })
    }
}

fn word_of(kinds: &[(&str, ComplaintKind)], kind: &ComplaintKind) -> String {
    let named = kinds.iter().find(|(_, known)| known == kind);
    named.map_or("", |(word, _)| word).to_owned()
}

fn of_complaint(complaint: &Complaint) -> Noticed {
    Noticed {
        oracle: complaint.kind.word().to_owned(),
        place: complaint.place.clone(),
        line: complaint.line.clone(),
        signature: complaint.signature(),
    }
}

fn of_ending(record: &RunRecord, ending: Ending) -> Noticed {
    let why = match &record.exit {
        RunExit::Failed { why, .. } => why.lines().next().unwrap_or_default().to_owned(),
        RunExit::Completed => String::new(),
    };
    let named = ENDINGS.iter().find(|one| one.1 == ending);
    let oracle = named.map_or("", |one| one.2).to_owned();
    let signature = match ending {
        Ending::ExitStatus | Ending::SetUp | Ending::Crashed => FailedRun {
            why: why.clone(),
            ending: Some(ending),
            ..FailedRun::default()
        }
        .signature(),
        // How long it took, or waited, differs.
        _ => oracle.clone(),
    };
    Noticed {
        oracle,
        place: None,
        line: why,
        signature,
    }
}

/// A run that did not complete has no metrics.
fn of_metric(text: &str, record: &RunRecord) -> Result<Option<Noticed>, Failure> {
    if record.ending.is_some() {
        return Ok(None);
    }
    let found = Threshold::parse(text).and_then(|threshold| threshold.exceeded(record));
    let found = found.map_err(|why| Failure::Argument(format!("hunt: --until: {why}")))?;
    Ok(found.map(|value| Noticed {
        oracle: "metric".into(),
        place: None,
        line: value,
        signature: text.to_owned(),
    }))
}

fn of_log(regex: &Regex, record: &RunRecord, done: &OrderResult) -> Option<Noticed> {
    let (RunOutcome::Completed(messages)
    | RunOutcome::Failed {
        records: messages, ..
    }) = &done.outcome;
    let logs = messages.iter().filter_map(|message| match message {
        AgentMessage::KernelLog { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let console = match &record.exit {
        RunExit::Failed { console, .. } => console.as_str(),
        RunExit::Completed => "",
    };
    let raw = record.raw.iter().map(|(_, text)| text.as_str());
    let mut lines = logs.chain([console]).chain(raw).flat_map(str::lines);
    let line = lines.find(|line| regex.is_match(line))?;
    Some(Noticed {
        oracle: "log".into(),
        place: None,
        line: line.trim().to_owned(),
        signature: format!("log: {regex}"),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use assize_bundle::{Measurement, Run};
    use assize_job::RunStage;

    use super::*;

    fn done(messages: Vec<AgentMessage>) -> OrderResult {
        OrderResult {
            outcome: RunOutcome::Completed(messages),
            machine: BTreeMap::new(),
            cached: false,
            elapsed: Duration::ZERO,
        }
    }

    fn record(ending: Option<Ending>, why: &str) -> RunRecord {
        let exit = match ending {
            None => RunExit::Completed,
            Some(_) => RunExit::Failed {
                why: why.into(),
                console: "the end".into(),
            },
        };
        let mut record = RunRecord::new(0, 1, Run::new("base", "w", 1), exit);
        record.ending = ending;
        record
    }

    fn warning(place: &str) -> Complaint {
        Complaint {
            line: "WARNING: CPU: 1".into(),
            place: Some(place.into()),
            ..Complaint::default()
        }
    }

    fn oracles(until: &[&str]) -> Oracles {
        let until: Vec<String> = until.iter().map(ToString::to_string).collect();
        Oracles::parse(&until, &[]).unwrap()
    }

    fn signature(verdict: RunVerdict) -> Option<String> {
        match verdict {
            RunVerdict::Failed(noticed) => Some(noticed.signature),
            _ => None,
        }
    }

    #[test]
    fn without_a_word_complaints_and_ends_count_and_a_good_run_does_not() {
        let all = oracles(&[]);
        let none = done(Vec::new());
        let judged = |record: &RunRecord| all.judge(record, &none).unwrap();
        assert_eq!(judged(&record(None, "")), RunVerdict::Passed);
        let mut complains = record(None, "");
        complains.complaints = vec![warning("f+0x1")];
        assert_eq!(signature(judged(&complains)).unwrap(), "WARNING in f+0x1");
        let status = record(Some(Ending::ExitStatus), "'x': exit status 3: at 0x17");
        assert_eq!(signature(judged(&status)).unwrap(), "'x': exit status 3");
        let hung = |s: u32| record(Some(Ending::Hung), &format!("stalled: {s} s"));
        assert_eq!(signature(judged(&hung(3))).unwrap(), "hang");
        assert_eq!(signature(judged(&hung(4))), signature(judged(&hung(3))));
        let other = record(Some(Ending::NotMeasured), "QEMU ended");
        assert_eq!(judged(&other), RunVerdict::Other("QEMU ended".into()));
    }

    #[test]
    fn with_words_only_these_count() {
        let none = done(Vec::new());
        let mut complains = record(None, "");
        complains.complaints = vec![warning("f")];
        let judged = |until: &[&str], record: &RunRecord| {
            signature(oracles(until).judge(record, &none).unwrap())
        };
        assert_eq!(judged(&["warning"], &complains).unwrap(), "WARNING in f");
        assert_eq!(
            judged(&["kasan", "warning"], &complains).unwrap(),
            "WARNING in f"
        );
        assert_eq!(judged(&["kasan"], &complains), None);
        let late = record(Some(Ending::TimedOut), "not done after 2 s");
        assert_eq!(judged(&["timeout"], &late).unwrap(), "timeout");
        let verdict = oracles(&["exit"]).judge(&late, &none).unwrap();
        assert_eq!(verdict, RunVerdict::Other("not done after 2 s".into()));
    }

    #[test]
    fn a_metric_beyond_its_value_counts() {
        let none = done(Vec::new());
        let mut run = record(None, "");
        let lost = Measurement::new(2.0, "updates".to_owned());
        run.run.metrics.insert("lost".into(), lost);
        let judged = |until: &str| signature(oracles(&[until]).judge(&run, &none).unwrap());
        assert_eq!(judged("lost > 1").unwrap(), "lost > 1");
        assert_eq!(judged("lost > 2"), None);
        let unknown = oracles(&["found > 1"]).judge(&run, &none);
        assert!(unknown.unwrap_err().to_string().contains("no metric found"));
    }

    #[test]
    fn a_line_of_the_log_counts_also_where_the_kernel_did_not_complain() {
        let log = AgentMessage::KernelLog {
            stage: RunStage::Workload,
            text: "a line\n[    6.1] race: 2 updates lost\n".into(),
        };
        let oracles = Oracles::parse(&[], &["updates? lost$".into()]).unwrap();
        let run = record(None, "");
        let verdict = oracles.judge(&run, &done(vec![log])).unwrap();
        let RunVerdict::Failed(noticed) = verdict else {
            panic!("{verdict:?}")
        };
        assert!(
            noticed.line.ends_with("race: 2 updates lost"),
            "{noticed:?}"
        );
        let passed = oracles.judge(&run, &done(Vec::new())).unwrap();
        assert_eq!(passed, RunVerdict::Passed);
    }

    #[test]
    fn a_word_that_is_none_is_refused_with_those_that_are() {
        for (until, log, words) in [
            ("kasam", "", "one of warning, bug, oops"),
            ("> 3", "", "METRIC > VALUE"),
            ("", "(", "unclosed group"),
        ] {
            let until: Vec<String> = [until]
                .iter()
                .filter(|x| !x.is_empty())
                .map(ToString::to_string)
                .collect();
            let log: Vec<String> = [log]
                .iter()
                .filter(|x| !x.is_empty())
                .map(ToString::to_string)
                .collect();
            let why = Oracles::parse(&until, &log).unwrap_err().to_string();
            assert!(why.contains(words), "{why}");
        }
    }
}
