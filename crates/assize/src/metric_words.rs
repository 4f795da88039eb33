//! Titles and preferred directions of the metrics in a document.
//!
//! Declared directions come first. Metrics of our own instruments and workloads are in
//! the table of `assize_job`, and those of posted results are recognised by common words
//! in their names. No direction is assumed for any other metric.

use std::collections::BTreeSet;

use assize_job::{Preference, wording};
use assize_report::MetricWords;
use assize_verdict::{Better, Document, Options};

/// Words in names of metrics for which less is better.
const LESS: &[&str] = &[
    "clock",
    "cycles",
    "duration",
    "elapsed",
    "energy",
    "faults",
    "instructions",
    "jitter",
    "joules",
    "lat",
    "latency",
    "migrations",
    "misses",
    "power",
    "real",
    "runtime",
    "sys",
    "switches",
    "time",
    "user",
    "wakeups",
    "wall",
];
/// Words in names of metrics for which more is better.
const MORE: &[&str] = &[
    "bandwidth",
    "bogo",
    "bops",
    "bw",
    "fps",
    "iops",
    "mbps",
    "ops",
    "qps",
    "rps",
    "score",
    "throughput",
    "tps",
    "transactions",
];

/// The wording of each recorded metric, with the directions given by the experiment or the command
/// line. If the metrics are not `ours` but a post's, their names are the titles.
pub(crate) fn metric_words(
    documents: &[&Document],
    options: &Options,
    ours: bool,
) -> Vec<MetricWords> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for document in documents {
        names.extend(document.comparisons.iter().map(|row| row.metric.as_str()));
        names.extend(document.rates.iter().map(|rate| rate.event.as_str()));
        let recorded = document.runs.iter().flat_map(|run| run.metrics.keys());
        names.extend(recorded.map(String::as_str));
    }
    let words = names.into_iter().map(|one| words(one, options, ours));
    words.collect()
}

fn words(metric: &str, options: &Options, ours: bool) -> MetricWords {
    let known = wording(metric);
    let has = |names: &[String]| names.iter().any(|name| name.eq_ignore_ascii_case(metric));
    let better = if has(&options.higher_is_better) {
        Some(Better::Higher)
    } else if has(&options.lower_is_better) {
        Some(Better::Lower)
    } else {
        match &known {
            Some(known) => known.better.map(|preference| match preference {
                Preference::Less => Better::Lower,
                Preference::More => Better::Higher,
            }),
            None => by_words(metric),
        }
    };
    MetricWords {
        metric: metric.to_owned(),
        title: known
            .filter(|_| ours)
            .map_or_else(|| metric.to_owned(), |known| known.title),
        better,
    }
}

/// The direction that the words of a name imply; `None` if they contradict each other.
fn by_words(metric: &str) -> Option<Better> {
    let lower = metric.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    // Cost per operation (`ns/op`, `allocs/op`), or work per time (`MB/s`).
    let per = lower.rsplit_once('/').map(|(_, per)| per);
    let costs = per == Some("op");
    let rate = matches!(per, Some("s" | "sec" | "second"));
    match (has(LESS) || costs, has(MORE) || rate) {
        (true, false) => Some(Better::Lower),
        (false, true) => Some(Better::Higher),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_good_is_declared_or_known_and_else_open() {
        let options = Options {
            higher_is_better: vec!["Context_Switches".into()],
            lower_is_better: vec!["score".into()],
            ..Options::default()
        };
        let better = |metric: &str| words(metric, &options, true).better;
        assert_eq!(better("context_switches"), Some(Better::Higher));
        assert_eq!(better("score"), Some(Better::Lower));
        assert_eq!(better("busy_time_per_job"), Some(Better::Lower));
        assert_eq!(better("jobs"), None);
        for (metric, expected) in [
            ("context-switches", Some(Better::Lower)),
            ("time elapsed", Some(Better::Lower)),
            ("read IOPS", Some(Better::Higher)),
            ("clat latency p99", Some(Better::Lower)),
            ("ops", Some(Better::Higher)),
            ("drops", None),
            ("insn per cycle", None),
            ("throughput latency", None),
            ("ns/op", Some(Better::Lower)),
            ("allocs/op", Some(Better::Lower)),
            ("read MB/s", Some(Better::Higher)),
            ("real", Some(Better::Lower)),
            ("faults/s", None),
            ("frequency", None),
        ] {
            assert_eq!(
                words(metric, &Options::default(), true).better,
                expected,
                "{metric}"
            );
        }
    }
}
