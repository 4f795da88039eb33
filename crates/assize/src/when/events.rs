//! The first kernel events in which a run and a draw differ, by CPU.

use std::collections::BTreeSet;

use assize_bundle::RunRecord;
use assize_job::events::{EVENTS_FILE, EVENTS_SCHEMA, KernelEvent, KernelEventLog};
use assize_trace::TracedRun;
use assize_why::when::{PartedCpu, PathStep};

/// Maximum number of events shown before and after the first difference.
const SHOWN: usize = 6;

/// For each CPU, the first events from a time on that differ; empty unless both runs recorded
/// events.
pub(super) fn events(bad: &RunRecord, good: &RunRecord, from_ns: u64) -> Vec<PartedCpu> {
    let (Some(bad), Some(good)) = (traced(bad), traced(good)) else {
        return Vec::new();
    };
    let cpus: BTreeSet<u32> = bad.events.rows.iter().map(|row| row.cpu).collect();
    let mut all: Vec<PartedCpu> = cpus
        .into_iter()
        .filter_map(|cpu| {
            let [bad, good] = [&bad, &good].map(|run| steps(run, cpu, from_ns));
            parted(cpu, &bad, &good)
        })
        .collect();
    all.sort_by_key(|one| one.time_ns);
    all
}

fn traced(run: &RunRecord) -> Option<TracedRun> {
    let mut files = run.raw.iter();
    let ours =
        files.find(|(name, text)| name.ends_with(EVENTS_FILE) && text.starts_with(EVENTS_SCHEMA));
    Some(TracedRun::new(KernelEventLog::parse(&ours?.1).ok()?))
}

/// The events of a CPU. Of their values only threads are compared, as many others are times.
fn steps(run: &TracedRun, cpu: u32, from_ns: u64) -> Vec<PathStep> {
    let rows = run.events.rows.iter();
    rows.filter(|row| row.cpu == cpu && row.at_ns >= from_ns)
        .map(|row| PathStep {
            time_ns: row.at_ns,
            what: described(run, row),
        })
        .collect()
}

/// `sched_waking by hog: pid kworker/1:2`.
fn described(run: &TracedRun, row: &KernelEvent) -> String {
    let Some(kind) = run.events.kind(row) else {
        return String::new();
    };
    let name = kind.name.rsplit('/').next().unwrap_or_default();
    let mut text = format!("{name} by {}", run.threads.name(row.tid));
    for (field, value) in kind.fields.iter().zip(run.events.values(row)) {
        if let Some(word) = field.strip_suffix("pid")
            && let Ok(tid) = u32::try_from(*value)
        {
            let word = word.trim_end_matches('_');
            let word = if word.is_empty() {
                ""
            } else {
                &format!(" {word}")
            };
            text += &format!("{word} {}", run.threads.name(tid));
        }
    }
    text
}

fn parted(cpu: u32, bad: &[PathStep], good: &[PathStep]) -> Option<PartedCpu> {
    let both = bad.iter().zip(good);
    let same = both
        .take_while(|(one, other)| one.what == other.what)
        .count();
    let rest = |all: &[PathStep]| -> Vec<PathStep> {
        all.iter().skip(same).take(SHOWN).cloned().collect()
    };
    let (after, others) = (rest(bad), rest(good));
    let before = bad.get(..same).unwrap_or_default();
    let first = after.first().or(others.first())?.time_ns;
    Some(PartedCpu {
        cpu,
        time_ns: first,
        within: String::new(),
        common: before
            .iter()
            .skip(same.saturating_sub(SHOWN))
            .cloned()
            .collect(),
        bad: after,
        good: others,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(time_ns: u64, what: &str) -> PathStep {
        PathStep {
            time_ns,
            what: what.into(),
        }
    }

    #[test]
    fn events_are_compared_without_their_times() {
        let bad = [step(1, "a"), step(2, "b"), step(3, "c")];
        let good = [step(1, "a"), step(5, "b"), step(6, "d")];
        let found = parted(1, &bad, &good);
        let names = |steps: &[PathStep]| -> String {
            steps.iter().map(|step| step.what.as_str()).collect()
        };
        assert!(found.is_some_and(|one| {
            names(&one.common) == "ab" && names(&one.bad) == "c" && names(&one.good) == "d"
        }));
        assert_eq!(parted(1, &bad, &bad), None);
    }
}
