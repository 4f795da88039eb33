//! What the gaps of a run come to.

use std::collections::BTreeMap;

use assize_job::Record;
use assize_job::gaps::{Cause, Seen, Watched};

use super::NAME;
use crate::instruments::{metric, number, unavailable};

/// The raw output with all gaps.
const FILE: &str = "gaps.txt";

/// Counts with their exposure, the lengths, how the CPUs were watched, and the text.
/// `span_ns`: for how long the CPUs were watched, with interruptions. `counts_smis`: whether the CPUs count system management interrupts.
pub(super) fn records(seen: &Seen, span_ns: u64, counts_smis: bool) -> Vec<Record> {
    let mut records = vec![events((seen, span_ns), "gaps", |_| true)];
    for cause in Cause::ALL {
        if cause == Cause::Smi && !counts_smis {
            let why = "system management interrupts are not counted here, and the gaps they make \
                       are among gaps_unexplained; as root, load the module msr on a CPU that \
                       counts them";
            records.push(unavailable(NAME, Some("gaps_smi"), why));
            continue;
        }
        let name = format!("gaps_{}", cause.word());
        records.push(events((seen, span_ns), &name, |of| of == cause));
    }
    records.push(Record::Events {
        event: "gaps_unexplained_at_rest".into(),
        count: sum(seen, |cpu| cpu.rest_unexplained),
        exposure_ns: sum(seen, |cpu| cpu.rest_ns),
        t_ns: Vec::new(),
        span_ns: None,
    });
    let mut lengths: BTreeMap<u64, u64> = BTreeMap::new();
    for gap in &seen.gaps {
        *lengths.entry(gap.length_ns).or_default() += 1;
    }
    if !lengths.is_empty() {
        records.push(Record::Histogram {
            metric: "gap".into(),
            unit: "ns".into(),
            buckets: lengths.into_iter().collect(),
            exact: true,
        });
    }
    let observed = sum(seen, |cpu| cpu.observed_ns);
    let blind = sum(seen, |cpu| cpu.blind_ns);
    let of_both = number(observed.saturating_add(blind)).max(1.0);
    records.push(metric("gaps_observed", number(observed), "ns"));
    let share = 100.0 * number(blind) / of_both;
    records.push(metric("gaps_blind_share", share, "%"));
    for (name, of) in [
        (
            "gaps_loop",
            (|cpu| cpu.loop_ns_median) as fn(&Watched) -> u64,
        ),
        ("gaps_loop_max", |cpu| cpu.loop_ns_max),
        ("gaps_reading", |cpu| cpu.reading_ns),
    ] {
        let most = seen.cpus.iter().map(of).max().unwrap_or(0);
        records.push(metric(name, number(most), "ns"));
    }
    records.push(Record::Raw {
        name: FILE.into(),
        text: seen.text(),
    });
    records
}

fn events((seen, span_ns): (&Seen, u64), name: &str, which: impl Fn(Cause) -> bool) -> Record {
    let gaps = seen.gaps.iter().filter(|gap| which(gap.cause));
    let t_ns: Vec<u64> = gaps.map(|gap| gap.at_ns).collect();
    Record::Events {
        event: name.to_owned(),
        count: t_ns.len() as u64,
        exposure_ns: sum(seen, |cpu| cpu.observed_ns),
        t_ns,
        span_ns: Some(span_ns),
    }
}

fn sum(seen: &Seen, of: impl Fn(&Watched) -> u64) -> u64 {
    let all = seen.cpus.iter().map(of);
    all.fold(0, u64::saturating_add)
}
