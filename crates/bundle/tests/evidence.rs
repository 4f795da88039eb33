//! Tests of the evidence from a bundle's samples and histograms.

use std::fs;
use std::path::Path;

use crate::common::{head, recorded};
use assize_bundle::{
    EvidenceLimits, Histogram, Records, RunExit, RunRecord, Samples, ThinnedEvidence, Writer,
    evidence, write,
};

fn written_evidence(runs: &[RunRecord]) -> ThinnedEvidence {
    let place = tempfile::tempdir().unwrap();
    put(place.path(), runs);
    evidence(place.path(), &EvidenceLimits::default()).unwrap()
}

fn put(place: &Path, runs: &[RunRecord]) {
    let writer = Writer::create(place, &head(20)).unwrap();
    for run in runs {
        writer.put(run).unwrap();
    }
}

/// A run with this many samples, and optionally their histogram.
fn sampled(index: u32, count: u32, histogram: bool) -> RunRecord {
    let mut run = recorded(index);
    let values: Vec<f64> = (0..count)
        .map(|at| f64::from(at * 7919 % 65_537 + index))
        .collect();
    let mut sorted = values.clone();
    sorted.sort_by(f64::total_cmp);
    let buckets = sorted
        .chunk_by(|a, b| a == b)
        .map(|same| (same[0] as u64, same.len() as u64));
    run.histograms = vec![Histogram {
        metric: "latency".into(),
        unit: "ns".into(),
        buckets: buckets.collect(),
        exact: true,
    }];
    run.histograms.truncate(usize::from(histogram));
    run.samples = vec![Samples {
        metric: "latency".into(),
        unit: "ns".into(),
        start_ns: None,
        t_ns: (0..u64::from(count)).map(|at| at * 500).collect(),
        values,
    }];
    run
}

#[test]
fn samples_and_histograms_of_all_runs_are_shown() {
    let shown = written_evidence(&[recorded(0), recorded(1), recorded(5)]);
    let of = |run| {
        let curves = shown.curves.iter().filter(move |curve| curve.run == run);
        curves
            .map(|curve| curve.metric.as_str())
            .collect::<Vec<_>>()
    };
    for run in [0, 1, 5] {
        assert_eq!(of(run), ["wakeup", "latency"]);
    }
    let wakeup = &shown.curves[0];
    assert_eq!((wakeup.unit.as_str(), wakeup.count), ("ns", 4));
    assert_eq!(wakeup.values, [100.0, 250.0]);
    assert_eq!(wakeup.shares, [0.75, 1.0]);
    let series: Vec<u32> = shown.series.iter().map(|series| series.run).collect();
    assert_eq!(series, [0, 1, 5]);
    assert_eq!(shown.series[0].t_ns.len(), 100);
    assert!(shown.thinned.is_empty(), "{:?}", shown.thinned);
}

#[test]
fn a_metric_with_both_is_shown_once_and_the_same() {
    let both = written_evidence(&[sampled(0, 5000, true)]);
    let samples = written_evidence(&[sampled(0, 5000, false)]);
    let mut counts = sampled(0, 5000, true);
    counts.samples.clear();
    let counts = written_evidence(&[counts]);
    assert_eq!(both.curves.len(), 1);
    assert_eq!(both.curves, samples.curves);
    assert_eq!(both.curves, counts.curves);
    assert!(counts.series.is_empty());
    assert!(counts.thinned[0].contains("`samples = true`"));
}

#[test]
fn what_is_thinned_is_said() {
    let shown = written_evidence(&[sampled(0, 5000, true), sampled(1, 60, true)]);
    let said = shown.thinned.join("\n");
    assert!(said.contains("1 of 2 distributions are thinned"), "{said}");
    assert!(said.contains("1 of 2 series are thinned to 256"), "{said}");
    assert!(shown.curves[0].values.len() <= 128);
    assert_eq!(shown.curves[0].count, 5000);
}

#[test]
fn what_cannot_be_shown_is_said() {
    let mut failed = recorded(1);
    failed.exit = RunExit::Failed {
        why: "kernel panic".into(),
        console: String::new(),
    };
    let mut odd = recorded(0);
    odd.samples[0].values[3] = f64::NAN;
    odd.samples[0].values[4] = f64::INFINITY;
    odd.histograms[0].exact = false;
    let shown = written_evidence(&[odd, failed]);
    assert_eq!(shown.curves.len(), 2);
    assert_eq!((shown.curves[1].count, shown.series[0].count), (98, 98));
    assert!(shown.series[0].t_ns.iter().all(|t| ![3e3, 4e3].contains(t)));
    let said = shown.thinned.join("\n");
    for part in [
        "2 samples are not finite numbers",
        "for 1 of 2 distributions only buckets",
        "1 of 2 runs failed",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn a_bundle_without_any_says_so() {
    let mut bare = recorded(0);
    bare.samples.clear();
    bare.histograms.clear();
    let nothing = written_evidence(&[bare]);
    assert!(nothing.curves.is_empty() && nothing.series.is_empty());
    assert!(nothing.thinned[0].contains("hold no samples and no histograms"));

    let place = tempfile::tempdir().unwrap();
    write(place.path(), &Records::default()).unwrap();
    let posted = evidence(place.path(), &EvidenceLimits::default()).unwrap();
    assert!(posted.curves.is_empty());
    assert!(posted.thinned[0].contains("results that were read"));
}

#[test]
fn damage_is_named_with_its_file() {
    let place = tempfile::tempdir().unwrap();
    put(place.path(), &[recorded(0), recorded(1), recorded(2)]);
    let run = place.path().join("runs/0001.json");
    let text = fs::read_to_string(&run).unwrap();
    assert!(text.contains("\"buckets\": [[100,3],[250,1]],\n"));
    let line = 1 + text.lines().position(|line| line.contains("250")).unwrap();
    fs::write(&run, text.replace("250", "-250")).unwrap();
    let fault = || {
        evidence(place.path(), &EvidenceLimits::default())
            .unwrap_err()
            .to_string()
    };
    let said = fault();
    assert!(
        said.contains("0001.json") && said.contains(&format!("line {line}")),
        "{said}"
    );
    let samples = place.path().join("samples/0000.parquet");
    let bytes = fs::read(&samples).unwrap();
    fs::write(&samples, &bytes[..bytes.len() / 2]).unwrap();
    assert!(fault().contains("0000.parquet"), "{}", fault());
    fs::remove_file(&samples).unwrap();
    assert!(fault().contains("0000.parquet"), "{}", fault());
}
