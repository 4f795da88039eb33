//! Figures as people write them down: lists, and means with their spread.

use super::*;

const SPREADS: &str = include_str!("../posted/spreads.txt");

/// Configuration, workload and figures of each run.
fn runs(read: &Read) -> Vec<(String, String, Vec<Figure>)> {
    let run = |(_, f): &(usize, Finding)| match f {
        Finding::Run { labels, figures } => {
            let name = |label: &Option<String>| label.clone().unwrap_or_default();
            let (configuration, workload) = (&labels.configuration, &labels.workload);
            Some((name(configuration), name(workload), figures.clone()))
        }
        _ => None,
    };
    read.findings.iter().filter_map(run).collect()
}

#[test]
fn means_with_a_spread_are_summaries_in_any_notation() {
    let read = read(SPREADS);
    let told: Vec<_> = read
        .findings
        .iter()
        .filter_map(|(_, finding)| match finding {
            Finding::Summary {
                labels,
                figure,
                spread: Some(spread),
                n,
            } => Some((
                labels.configuration.as_deref().unwrap_or_default(),
                figure.metric.as_str(),
                figure.value,
                *spread,
                *n,
            )),
            _ => None,
        })
        .collect();
    let (sd, se) = (Spread::StandardDeviation, Spread::StandardError);
    assert_eq!(
        told,
        [
            ("", "copy", 447.0, sd(13.0), None),
            // 2.9 % is less than 2.95 %.
            (
                "",
                "scan",
                18.25,
                sd((2.9 + 0.1 / 2.0) / 100.0 * 18.25),
                None
            ),
            ("Before", "req/s", 55_885.5, se(1_782.5), None),
            (
                "After",
                "",
                58_100.0,
                se((1.5 + 0.1 / 2.0) / 100.0 * 58_100.0),
                None
            ),
            ("", "mean", 185.2, sd(0.93), None),
            ("", "random", 12.5, se(0.25), Some(5)),
            ("", "mean", 3657.9, sd(1213.2), None),
        ]
    );
}

#[test]
fn the_sentence_above_says_of_how_many_runs_means_are() {
    let audit = assize_audit::read(SPREADS.as_bytes(), "x", &Default::default()).unwrap();
    let summaries = &audit.records.summaries;
    let n = |metric: &str| summaries.iter().find(|s| s.metric == metric).unwrap().n;
    assert_eq!(
        (n("copy"), n("scan"), n("random")),
        (Some(12), Some(12), Some(5))
    );
    let alone = SPREADS.replace("Each figure is the average of 12 runs:", "Figures:");
    let audit = assize_audit::read(alone.as_bytes(), "x", &Default::default()).unwrap();
    let summaries = &audit.records.summaries;
    assert!(
        summaries
            .iter()
            .filter(|s| s.metric == "copy")
            .all(|s| s.n.is_none())
    );
}

/// The configurations of runs and their only figures.
fn rows(text: &str) -> Vec<(String, String, f64)> {
    let rows = runs(&read(text)).into_iter();
    rows.map(|(name, _, figures)| (name, figures[0].metric.clone(), figures[0].value))
        .collect()
}

#[test]
fn runs_that_stand_in_a_row_behind_their_configuration_are_runs() {
    let text = "Before patch: map_time: 2.88s 2.91s 2.85s\n\
                After patch:  map_time: 0.31s 0.30s 0.33s  *85% less*\n";
    let read = rows(text);
    assert_eq!(read.len(), 6);
    assert_eq!(read[1], ("Before patch".into(), "map_time".into(), 2.91));
    assert_eq!(read[5], ("After patch".into(), "map_time".into(), 0.33));

    let text = "pool off: 40.3s = avg(40.6 39.3\n                      41.0)\n\n\
                pool on:  38.8s = avg(38.6 39.1 38.7)\n";
    let read = rows(text);
    assert_eq!(read.len(), 6);
    assert_eq!(read[2], ("pool off".into(), "time".into(), 41.0));
    let text = "old: 703/min = avg(700 705 704)\nnew: 803/min = avg(805 800 804)\n";
    assert_eq!(rows(text)[5], ("new".into(), "/min".into(), 804.0));
}

#[test]
fn a_row_of_figures_is_none_of_runs_if_their_mean_or_the_other_row_says_so() {
    for text in [
        // Their mean is another.
        "off: 40.3s = avg(40.6 39.3 44.0)\non: 38.8s = avg(38.6 39.1 38.7)\n",
        // One configuration only.
        "Before patch: map_time: 2.88s 2.91s 2.85s\n",
        // Units that differ.
        "Before patch: map_time: 2.88s 2.91s 2.85s\nAfter patch: map_time: 288ms 291ms 285ms\n",
        // No configurations.
        "load average: 2.88s 2.91s 2.85s\nlast: 2.88s 2.91s 2.85s\n",
        // Numbers of nothing.
        "before: 2 3 4\nafter: 3 4 5\n",
    ] {
        assert!(rows(text).is_empty(), "{text}");
    }
}
