//! Configurations in a series, each compared with the previous one.

use assize_bundle::{Events, Place, RunCount};
use assize_verdict::{Against, Configuration, Document, Measurement, Options, Run, Verdict};

type Records = assize_bundle::Records;

/// The number of configurations in a series.
const LONG: usize = 12;
/// Runs of each configuration, with the same seeds for all.
const SEEDS: u32 = 8;

/// Deterministic noise (splitmix64, Steele, Lea and Flood 2014).
fn noise(of: u64) -> f64 {
    let mut z = of.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / 9_007_199_254_740_992.0 - 0.5
}

/// A series in which each configuration has the value `level` with 1 % of noise. The runs of a seed
/// share a far larger deviation.
fn series(draw: u64, paired: bool, level: impl Fn(usize) -> f64) -> Records {
    let mut records = Records {
        primary: vec!["time".into()],
        ..Records::default()
    };
    for at in 0..LONG {
        let name = format!("r{at:02}");
        records.configurations.push(Configuration {
            name: name.clone(),
            label: name.clone(),
            ..Configuration::default()
        });
        for seed in 0..SEEDS {
            let mut run = Run::new(name.as_str(), "load", seed + 1);
            run.order = records.runs.len() as u32;
            run.block = paired.then_some(seed);
            let own = noise(draw << 32 | (at as u64) << 16 | u64::from(seed));
            let common = if paired {
                noise(draw << 32 | u64::from(seed) | 1 << 60)
            } else {
                0.0
            };
            let value = level(at) * (1.0 + 0.2 * common) * (1.0 + 0.01 * own);
            run.metrics
                .insert("time".into(), Measurement::new(value, "s"));
            records.runs.push(run);
        }
    }
    records
}

fn judged(records: &Records) -> Document {
    let options = Options {
        against: Against::Predecessor,
        ..Options::default()
    };
    assize_verdict::try_records(records, &options).unwrap()
}

/// The names of configurations that differ from the previous one.
fn changes(document: &Document, verdict: Verdict) -> Vec<&str> {
    let rows = document.comparisons.iter();
    let is = rows.filter(|row| row.verdict == verdict);
    is.map(|row| row.configuration.as_str()).collect()
}

#[test]
fn a_step_is_found_at_its_place_and_nowhere_else() {
    for place in [1, 6, LONG - 1] {
        let planted = |at| if at < place { 100.0 } else { 90.0 };
        let found = judged(&series(1, true, planted));
        let rows = &found.comparisons;
        let pairs: Vec<_> = rows
            .iter()
            .map(|row| (&*row.baseline, &*row.configuration))
            .collect();
        assert_eq!(pairs.len(), LONG - 1);
        assert_eq!((pairs[0], pairs[10]), (("r00", "r01"), ("r10", "r11")));
        assert_eq!(
            changes(&found, Verdict::Established),
            [format!("r{place:02}")]
        );
        let row = &rows[place - 1];
        assert!((row.ratio.unwrap() - 0.9).abs() < 0.01, "{row:?}");
        assert_eq!(
            found.families[0].tests,
            LONG as u32 - 1,
            "all are one family"
        );
        assert!(found.sentences.is_empty());
    }
}

#[test]
fn of_many_series_without_a_step_few_have_one() {
    let wrong = |paired| {
        let with = |draw: &u64| {
            let found = judged(&series(*draw, paired, |_| 100.0));
            let differs = [Verdict::Established, Verdict::Supported];
            differs
                .iter()
                .any(|verdict| !changes(&found, *verdict).is_empty())
        };
        (100..160).filter(with).count()
    };
    // 3 of 60 are expected; by chance, more than 8 occur once in 300 trials.
    for paired in [true, false] {
        let wrong = wrong(paired);
        assert!(wrong <= 8, "{wrong} of 60, paired: {paired}");
    }
}

#[test]
fn without_common_seeds_the_order_of_the_runs_allows_no_more_than_supported() {
    let found = judged(&series(1, false, |at| if at < 6 { 100.0 } else { 90.0 }));
    assert!(changes(&found, Verdict::Established).is_empty());
    assert_eq!(changes(&found, Verdict::Supported), ["r06"]);
    assert_eq!(
        found.comparisons[5].capped_by.as_deref(),
        Some("unrandomised-order")
    );
}

#[test]
fn where_a_metric_is_missing_the_last_that_has_it_is_compared() {
    let mut records = series(1, true, |at| if at < 6 { 100.0 } else { 90.0 });
    let lacking = records
        .runs
        .iter_mut()
        .filter(|run| run.configuration == "r06");
    lacking.for_each(|run| run.metrics.clear());
    let found = judged(&records);
    assert_eq!(found.comparisons.len(), LONG - 2);
    let row = &found.comparisons[5];
    assert_eq!((&*row.baseline, &*row.configuration), ("r05", "r07"));
    assert_eq!(row.verdict, Verdict::Established);
}

#[test]
fn rates_of_events_are_compared_with_the_one_before() {
    let mut records = series(1, true, |_| 100.0);
    for at in 0..LONG {
        let count = |seed: u32| if at < 4 { 20 + u64::from(seed % 3) } else { 90 };
        let order = |seed| at as u32 * SEEDS + seed;
        let of_run = |seed| RunCount {
            order: order(seed),
            count: count(seed),
            exposure_s: Some(1.0),
        };
        let by_run: Vec<RunCount> = (0..SEEDS).map(of_run).collect();
        records.events.push(Events {
            configuration: format!("r{at:02}"),
            workload: "load".into(),
            event: "missed".into(),
            count: by_run.iter().map(|one| one.count).sum(),
            exposure_s: Some(f64::from(SEEDS)),
            times_s: Vec::new(),
            span_s: None,
            tolerated_s: None,
            by_run,
            place: Place::default(),
        });
    }
    let found = judged(&records);
    assert_eq!(found.rate_comparisons.len(), LONG - 1);
    let differ = found
        .rate_comparisons
        .iter()
        .filter(|row| row.verdict == Verdict::Established);
    let names: Vec<_> = differ
        .map(|row| (&*row.baseline, &*row.configuration))
        .collect();
    assert_eq!(names, [("r03", "r04")]);
}
