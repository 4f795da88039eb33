//! The records of a run's gaps.

use assize_job::AgentMessage;
use assize_job::gaps::{Cause, Gap, GapsSettings, Seen, Watched};

use crate::records::{histogram, metric, number, raw, unavailable};

/// The instrument's name.
pub(super) const NAME: &str = "gaps";
/// Name of the raw output with all gaps.
const FILE: &str = "gaps.txt";
const NS_PER_MINUTE: f64 = 60e9;

/// Makes the records: counts with their exposure, lengths, how the CPUs were watched, and
/// the raw text. `span_ns`: duration of the watch, including interruptions.
/// `counts_smis`: whether all CPUs count system management interrupts.
pub(super) fn records(
    seen: &Seen,
    settings: &GapsSettings,
    span_ns: u64,
    counts_smis: bool,
) -> Vec<AgentMessage> {
    let mut records = vec![events((seen, span_ns), "gaps", |_| true)];
    for cause in Cause::OF_GAPS {
        if cause == Cause::Smi && !counts_smis {
            let why = "system management interrupts are not counted here, and the gaps they make \
                       are among gaps_unexplained; as root, load the module msr on a CPU that \
                       counts them";
            records.push(unavailable(NAME, Some("gaps_smi"), why));
            continue;
        }
        let name = format!("gaps_{}", cause.word());
        records.push(events((seen, span_ns), &name, |each| each == cause));
    }
    records.push(AgentMessage::Events {
        event: "gaps_unexplained_at_rest".into(),
        count: sum(seen, |cpu| cpu.rest_unexplained),
        exposure_ns: sum(seen, |cpu| cpu.rest_ns),
        t_ns: Vec::new(),
        span_ns: None,
        tolerated_ns: Some(settings.trust_ns),
    });
    if !seen.gaps.is_empty() {
        let lengths = seen.gaps.iter().map(|gap| gap.length_ns);
        records.push(histogram("gap", "ns", lengths));
    }
    records.extend(numbers(seen));
    records.push(raw(FILE, seen.text()));
    records
}

/// Metrics of how the CPUs were watched.
fn numbers(seen: &Seen) -> Vec<AgentMessage> {
    let observed = sum(seen, |cpu| cpu.observed_ns);
    let blind = sum(seen, |cpu| cpu.blind_ns);
    let of_both = number(observed.saturating_add(blind)).max(1.0);
    let mut records = vec![metric("gaps_observed", number(observed), "ns")];
    let share = 100.0 * number(blind) / of_both;
    records.push(metric("gaps_blind_share", share, "%"));
    if observed > 0 {
        let minutes = number(observed) / NS_PER_MINUTE;
        let unexplained = |gap: &&Gap| gap.cause == Cause::Unexplained;
        let (all, of_none) = (
            seen.gaps.len(),
            seen.gaps.iter().filter(unexplained).count(),
        );
        for (name, count) in [("gaps", all), ("gaps_unexplained", of_none)] {
            let name = format!("{name}_per_minute");
            records.push(metric(&name, count as f64 / minutes, "1/min"));
        }
    }
    for (name, time) in [
        (
            "gaps_loop",
            (|cpu| cpu.loop_ns_median) as fn(&Watched) -> u64,
        ),
        ("gaps_loop_max", |cpu| cpu.loop_ns_max),
        ("gaps_reading", |cpu| cpu.reading_ns),
    ] {
        let most = seen.cpus.iter().map(time).max().unwrap_or(0);
        records.push(metric(name, number(most), "ns"));
    }
    records
}

fn events(
    (seen, span_ns): (&Seen, u64),
    name: &str,
    which: impl Fn(Cause) -> bool,
) -> AgentMessage {
    let gaps = seen.gaps.iter().filter(|gap| which(gap.cause));
    let t_ns: Vec<u64> = gaps.map(|gap| gap.at_ns).collect();
    AgentMessage::Events {
        event: name.to_owned(),
        count: t_ns.len() as u64,
        exposure_ns: sum(seen, |cpu| cpu.observed_ns),
        t_ns,
        span_ns: Some(span_ns),
        tolerated_ns: None,
    }
}

fn sum(seen: &Seen, part: impl Fn(&Watched) -> u64) -> u64 {
    let all = seen.cpus.iter().map(part);
    all.fold(0, u64::saturating_add)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;
    use crate::records::metric_value;
    use assize_job::METRICS;

    fn seen(gaps: &[(u32, u64, u64, Cause)]) -> Seen {
        let gap = |&(cpu, at_ns, length_ns, cause): &(u32, u64, u64, Cause)| Gap {
            cpu,
            at_ns,
            length_ns,
            cause,
            switches: 0,
            interrupts: 0,
            softirqs: 0,
            count: 1,
        };
        let cpu = |cpu, reading_ns| Watched {
            cpu,
            observed_ns: 900,
            blind_ns: 100,
            loop_ns_median: 8,
            loop_ns_max: 9,
            reading_ns,
            rest_ns: 50,
            rest_gaps: 3,
            rest_unexplained: 2,
            ..Watched::default()
        };
        Seen {
            cpus: vec![cpu(1, 30), cpu(2, 40)],
            gaps: gaps.iter().map(gap).collect(),
            ..Seen::default()
        }
    }

    fn count(records: &[AgentMessage], wanted: &str) -> (u64, u64, Option<u64>) {
        let found = records.iter().find_map(|record| match record {
            AgentMessage::Events {
                event,
                count,
                exposure_ns,
                tolerated_ns,
                ..
            } if event == wanted => Some((*count, *exposure_ns, *tolerated_ns)),
            _ => None,
        });
        found.unwrap()
    }

    #[test]
    fn the_exposure_is_that_of_all_cpus_and_each_gap_has_one_cause() {
        let seen = seen(&[
            (1, 5, 20, Cause::Switch),
            (2, 7, 20, Cause::Interrupt),
            (1, 9, 31, Cause::Unexplained),
            (1, 11, 25, Cause::Unexplained),
        ]);
        let records = records(&seen, &GapsSettings::default(), 1000, true);
        assert_eq!(count(&records, "gaps"), (4, 1800, None));
        assert_eq!(count(&records, "gaps_unexplained"), (2, 1800, None));
        let causes =
            Cause::OF_GAPS.map(|cause| count(&records, &format!("gaps_{}", cause.word())).0);
        assert_eq!(causes.iter().sum::<u64>(), 4);
        let at_rest = count(&records, "gaps_unexplained_at_rest");
        assert_eq!(at_rest, (4, 100, Some(10_000_000_000)));
        let number = |wanted: &str| metric_value(&records, wanted);
        assert_eq!(number("gaps_blind_share"), Some(10.0));
        // Four gaps, two of them unexplained, in 1800 ns.
        let counted = |name: &str, count: f64| {
            let rate = number(name).unwrap();
            assert!(
                (rate / (count * 60e9 / 1800.0) - 1.0).abs() < 1e-9,
                "{rate}"
            );
        };
        counted("gaps_per_minute", 4.0);
        counted("gaps_unexplained_per_minute", 2.0);
        assert_eq!(number("gaps_reading"), Some(40.0));
        assert!(records.contains(&AgentMessage::Histogram {
            metric: "gap".into(),
            unit: "ns".into(),
            buckets: vec![(20, 2), (25, 1), (31, 1)],
            exact: true,
        }));
    }

    #[test]
    fn what_is_sent_is_what_is_declared() {
        let own = |name: &str| {
            let listed = METRICS.iter().filter(|metric| metric.name == name);
            listed.count() == 1
        };
        let mut sent = 0;
        for record in records(
            &seen(&[(1, 5, 20, Cause::Smi)]),
            &GapsSettings::default(),
            9,
            true,
        ) {
            let name = match &record {
                AgentMessage::Events { event, .. } => event,
                AgentMessage::Metric { metric, .. } | AgentMessage::Histogram { metric, .. } => {
                    metric
                }
                _ => continue,
            };
            assert!(own(name), "{name}");
            sent += 1;
        }
        let declared = assize_job::of_instrument(NAME).count();
        assert_eq!(sent, declared);
        // Without a gap there are no lengths, and without a count of SMIs none of
        // those.
        let quiet = records(&seen(&[]), &GapsSettings::default(), 9, false);
        let lengths = quiet
            .iter()
            .any(|r| matches!(r, AgentMessage::Histogram { .. }));
        let lacks = quiet
            .iter()
            .any(|r| matches!(r, AgentMessage::Unavailable { .. }));
        assert!(!lengths && lacks);
    }
}
