//! Rates of events. The constants are from `scipy.stats.chi2.ppf` (Garwood)
//! and `scipy.stats.binomtest`.

use assize_bundle::{Events, Measurement, Place, Records, Run, RunCount};
use assize_verdict::{Options, Outcome, RateComparison, RateTest, Verdict};

use crate::common::{close, hwlat_records, lints, noise, tried};

#[test]
fn rates_have_exact_intervals() {
    let document = tried(&hwlat_records(Some(300.0)), &Options::default());
    let expected = [
        (6, 0.0073396475116361696, 0.04353158007506228),
        (3, 0.0020622404096520045, 0.029224243565807745),
        (0, 0.0, 0.00998577424517997),
    ];
    assert_eq!(document.rates.len(), 3);
    for (rate, (count, low, high)) in document.rates.iter().zip(expected) {
        assert_eq!((rate.count, rate.exposure_s), (count, Some(300.0)));
        close(rate.rate_per_s, count as f64 / 300.0);
        close(rate.ci.map(|ci| ci[0]), low);
        close(rate.ci.map(|ci| ci[1]), high);
    }
}

#[test]
fn counts_of_one_exposure_are_compared_exactly_and_decide_nothing() {
    let document = tried(&hwlat_records(Some(300.0)), &Options::default());
    let [clflush, none] = &document.rate_comparisons[..] else {
        panic!("two comparisons");
    };
    close(clflush.p, 0.5078125);
    close(clflush.ratio, 0.5);
    close(none.p, 0.03125);
    close(none.ratio, 0.0);
    for found in [clflush, none] {
        // Six events are too few for windows of time.
        assert_eq!(found.test, Some(RateTest::Poisson));
        assert_eq!(
            (found.p_adjusted, found.verdict),
            (None, Verdict::Undecided)
        );
        let note = found.note.as_deref().unwrap();
        assert!(note.starts_with("one exposure of each"), "{note}");
    }
    // 12 against 6 events: p = 0.238; 28 against 14: p = 0.0436 (binomtest). The note gives the
    // exposure needed if p is above 5 %.
    assert!(
        clflush
            .note
            .as_deref()
            .unwrap()
            .contains("at these rates about")
    );
    assert!(
        !none
            .note
            .as_deref()
            .unwrap()
            .contains("at these rates about")
    );
}

#[test]
fn an_unknown_exposure_gives_counts_only_until_the_user_gives_it() {
    let document = tried(&hwlat_records(None), &Options::default());
    assert_eq!(document.rates[0].rate_per_s, None);
    assert_eq!(document.rate_comparisons[0].p, None);
    assert_eq!(lints(&document, "exposure-unknown").len(), 1);
    let options = Options {
        exposure_s: Some(300.0),
        ..Options::default()
    };
    let document = tried(&hwlat_records(None), &options);
    close(document.rate_comparisons[1].p, 0.03125);
    assert!(lints(&document, "exposure-unknown").is_empty());
}

#[test]
fn regular_gaps_are_told_and_poisson_gaps_are_not() {
    let mut records = hwlat_records(Some(300.0));
    let document = tried(&records, &Options::default());
    assert_eq!(
        lints(&document, "periodic-events"),
        [
            "hwlat V6.6: gaps are regular: about every 57.3 s; the Poisson intervals are too \
             wide"
        ]
    );
    records.events[0].times_s = vec![600.0, 601.0, 602.0, 603.0, 890.0, 891.0];
    let document = tried(&records, &Options::default());
    assert!(lints(&document, "clustered-events")[0].contains("come in clusters"));
    records.events[0].times_s = vec![620.0, 632.0, 700.0, 741.0, 861.0, 885.0];
    let document = tried(&records, &Options::default());
    assert!(lints(&document, "clustered-events").is_empty());
    assert!(lints(&document, "periodic-events").is_empty());
}

#[test]
fn a_baseline_without_a_count_is_told() {
    let mut records = hwlat_records(Some(300.0));
    records.events[0].event = "smi".into();
    let options = Options {
        baseline: Some("v6.6".into()),
        ..Options::default()
    };
    let document = tried(&records, &options);
    assert!(document.rate_comparisons.is_empty());
    assert_eq!(
        lints(&document, "missing-cell"),
        ["hwlat on fbcon: the baseline V6.6 has no count: no rates are compared there"]
    );
}

/// Counts per run of 10 s, of two configurations whose runs alternate.
fn counted_by_run(a: &[u64], b: &[u64]) -> Records {
    let mut records = Records::default();
    for (at, (name, counts)) in (0..).zip([("a", a), ("b", b)]) {
        let runs: Vec<Run> = (0..)
            .zip(counts)
            .map(|(i, _)| Run {
                order: 2 * i + at,
                ..Run::new(name, "w", i + 1)
            })
            .collect();
        let of = |(run, &count): (&Run, &u64)| RunCount {
            order: run.order,
            count,
            exposure_s: Some(10.0),
        };
        records.events.push(Events {
            configuration: name.into(),
            workload: "w".into(),
            event: "late".into(),
            count: counts.iter().sum(),
            exposure_s: Some(10.0 * counts.len() as f64),
            times_s: Vec::new(),
            span_s: None,
            tolerated_s: None,
            by_run: runs.iter().zip(counts).map(of).collect(),
            place: Place::default(),
        });
        records.runs.extend(runs);
    }
    records
}

fn judged(records: &Records) -> RateComparison {
    let options = Options {
        claims: vec!["b > a on late".into()],
        ..Options::default()
    };
    let mut document = tried(records, &options);
    let found = document.rate_comparisons.remove(0);
    let upheld = document.claims[0].outcome == Outcome::Upheld;
    let differs = matches!(found.verdict, Verdict::Established | Verdict::Supported);
    assert_eq!(upheld, differs, "a claim is as sure as its rate");
    found
}

#[test]
fn rates_of_runs_are_compared_as_runs() {
    // Twice as many events in each of five runs.
    let found = judged(&counted_by_run(
        &[100, 104, 97, 99, 102],
        &[201, 196, 205, 199, 202],
    ));
    assert_eq!(found.test, Some(RateTest::Runs));
    close(found.ratio, 1003.0 / 502.0);
    close(found.p, 2.0 / 252.0);
    assert_eq!(found.verdict, Verdict::Established);
    // A rate comes in steps of one event in 10 s: Welch's p would be 0.0417 without the variance of
    // 1/12 that whole events hide.
    let found = judged(&counted_by_run(&[10, 10, 11], &[12, 12, 12]));
    close(found.p_adjusted, 0.05887888240965338);
    assert_eq!(found.verdict, Verdict::Undecided);
    // With three runs of each, only the t test can decide.
    let found = judged(&counted_by_run(&[100, 104, 97], &[201, 196, 205]));
    assert_eq!(
        (found.p_adjusted.is_some(), found.verdict),
        (true, Verdict::Supported)
    );
}

#[test]
fn what_caps_a_metric_caps_a_rate_of_runs() {
    let counts = [[100, 104, 97, 99, 102], [201, 196, 205, 199, 202]];
    let plain = counted_by_run(&counts[0], &counts[1]);
    assert_eq!(judged(&plain).verdict, Verdict::Established);
    // All runs from one memory image.
    let mut records = plain.clone();
    records.runs.iter_mut().for_each(|run| run.image = Some(0));
    let found = judged(&records);
    assert_eq!(
        (found.verdict, found.note.as_deref()),
        (
            Verdict::Supported,
            Some("at most supported, because of the lint shared-image")
        )
    );
    // All runs of one configuration before those of the other.
    let mut records = plain.clone();
    for events in &mut records.events {
        let late = 100 * u32::from(events.configuration == "b");
        for count in &mut events.by_run {
            count.order = late + count.order / 2;
        }
    }
    for run in &mut records.runs {
        run.order = 100 * u32::from(run.configuration == "b") + run.order / 2;
    }
    let found = judged(&records);
    assert_eq!(
        (found.verdict, found.note.as_deref()),
        (
            Verdict::Supported,
            Some("at most supported, because of the lint unrandomised-order")
        )
    );
}

#[test]
fn events_that_come_in_bursts_are_not_taken_one_by_one() {
    // Some runs of each side have a burst: 310 against 502 events would give p < 1e-9 if the events
    // were independent.
    let found = judged(&counted_by_run(&[3, 2, 301, 1, 3], &[2, 240, 3, 255, 2]));
    assert_eq!(found.test, Some(RateTest::Runs));
    assert!(found.p > Some(0.3), "{found:?}");
    assert_eq!(found.verdict, Verdict::Undecided);
    // Runs without exposure cannot be compared.
    let mut records = counted_by_run(&[100, 104, 97, 99, 102], &[201, 196, 205, 199, 202]);
    records.events[0].by_run[0].exposure_s = None;
    let found = judged(&records);
    assert_eq!(
        (found.test, found.verdict),
        (Some(RateTest::Poisson), Verdict::Undecided)
    );
}

/// One exposure of 300 s each, with the times of all events.
fn one_exposure(a: Vec<f64>, b: Vec<f64>) -> Records {
    let events = |name: &str, mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        Events {
            configuration: name.into(),
            workload: "w".into(),
            event: "late".into(),
            count: times.len() as u64,
            exposure_s: Some(300.0),
            times_s: times,
            span_s: None,
            tolerated_s: None,
            by_run: Vec::new(),
            place: Place::default(),
        }
    };
    Records {
        events: vec![events("a", a), events("b", b)],
        ..Records::default()
    }
}

/// `n` events at random times.
fn at_random(n: usize, seed: u64) -> Vec<f64> {
    noise(seed, n)
        .into_iter()
        .map(|x| 150.0 * (1.0 + x))
        .collect()
}

/// `n` bursts of 20 events within a second, at random times.
fn in_bursts(n: usize, seed: u64) -> Vec<f64> {
    let begins = noise(seed, n).into_iter().map(|x| 149.0 * (1.0 + x));
    begins
        .flat_map(|begin| (0..20).map(move |at| begin + 0.05 * f64::from(at)))
        .collect()
}

#[test]
fn one_exposure_with_times_supports_by_its_windows_at_best() {
    let found = judged(&one_exposure(at_random(60, 1), at_random(200, 2)));
    assert_eq!(found.test, Some(RateTest::Windows));
    assert_eq!(found.verdict, Verdict::Supported);
    assert_eq!(
        found.note.as_deref(),
        Some("one exposure of each configuration, so at most supported")
    );
    // There is no difference.
    let found = judged(&one_exposure(at_random(60, 3), at_random(60, 4)));
    assert_eq!(found.verdict, Verdict::Undecided);
    // Three bursts against eight: 60 events against 160 would give p < 1e-10.
    let found = judged(&one_exposure(in_bursts(3, 5), in_bursts(8, 6)));
    assert_eq!(found.test, Some(RateTest::Windows));
    assert!(found.p > Some(0.05), "{found:?}");
    assert_eq!(found.verdict, Verdict::Undecided);
}

#[test]
fn one_exposure_without_times_decides_nothing_and_says_why() {
    let mut records = one_exposure(at_random(60, 1), at_random(200, 2));
    for events in &mut records.events {
        events.times_s.clear();
    }
    let found = judged(&records);
    assert_eq!(found.test, Some(RateTest::Poisson));
    assert!(
        found.p < Some(1e-9) && found.p_adjusted.is_none(),
        "{found:?}"
    );
    assert_eq!(found.verdict, Verdict::Undecided);
    assert_eq!(
        found.note.as_deref(),
        Some(
            "one exposure of each configuration, and events may come in clusters: p assumes that \
             they are independent"
        )
    );
}

#[test]
fn several_cpus_watched_at_once_are_no_clusters() {
    let mut records = one_exposure(at_random(60, 1), at_random(100, 2));
    // Four CPUs for 300 s: the times lie in the first quarter of the exposure.
    for events in &mut records.events {
        events.exposure_s = Some(1200.0);
    }
    let of = |records: &Records| judged(records).p.unwrap();
    let without = of(&records);
    for events in &mut records.events {
        events.span_s = Some(300.0);
    }
    let with = of(&records);
    let one = of(&one_exposure(at_random(60, 1), at_random(100, 2)));
    assert!((with - one).abs() < 1e-12, "{with} {one}");
    assert!((without - one).abs() > 1e-3, "{without} {one}");
}

#[test]
fn a_beat_is_told_with_its_period_though_events_are_missing() {
    let every_30_s = |n: u32| {
        let beats = (0..n).filter(|at| at % 3 != 1);
        beats.map(|at| 30.0 * f64::from(at) + 4.0).collect()
    };
    let mut records = one_exposure(every_30_s(60), at_random(40, 7));
    for events in &mut records.events {
        events.exposure_s = Some(1800.0);
    }
    // The other side's events are in its first 300 s, which is not periodic.
    let document = tried(&records, &Options::default());
    let told = lints(&document, "periodic-events");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("recur every 30 s: 40 of 40 are within a tenth"),
        "{told:?}"
    );
    let told = lints(&document, "clustered-events");
    assert!(told.iter().all(|lint| !lint.contains("base")), "{told:?}");
}

#[test]
fn poisson_events_are_seldom_said_to_be_anything_else() {
    let mut said = [0; 2];
    for seed in 0..300 {
        let records = one_exposure(at_random(12, seed), at_random(40, 1000 + seed));
        let document = tried(&records, &Options::default());
        for (said, code) in said.iter_mut().zip(["periodic-events", "clustered-events"]) {
            *said += lints(&document, code).len();
        }
    }
    println!("of 600: {said:?}");
    // Periodic events are tested twice.
    assert!(said[0] <= 18 && said[1] <= 12, "{said:?}");
}

#[test]
fn no_event_bounds_the_rate_in_words_and_few_say_when_the_first_came() {
    let records = one_exposure(vec![12.5, 200.0], Vec::new());
    let document = tried(&records, &Options::default());
    let note = |at: usize| document.rates[at].note.clone().unwrap_or_default();
    assert_eq!(note(0), "the first event came after 12.5 s of exposure");
    let words = "no events: the 95 % upper bound of the rate is 1 in 100 s";
    assert_eq!(note(1), words);
    // A clock that started before the exposure gives no time of the first event.
    let records = one_exposure(vec![612.5, 800.0], at_random(40, 1));
    let document = tried(&records, &Options::default());
    assert!(document.rates.iter().all(|rate| rate.note.is_none()));
}

/// Counts per run, and events on the idle machine before each run.
fn with_rest(count: u64, exposure_s: f64) -> Records {
    let mut records = counted_by_run(&[100, 104, 97, 99, 102], &[201, 196, 205, 199, 202]);
    let of_machine = |events: &Events| Events {
        event: "late_at_rest".into(),
        count,
        exposure_s: Some(exposure_s),
        tolerated_s: Some(10.0),
        by_run: Vec::new(),
        ..events.clone()
    };
    let at_rest: Vec<Events> = records.events.iter().map(of_machine).collect();
    records.events.extend(at_rest);
    records
}

#[test]
fn a_machine_that_has_too_many_events_at_rest_gives_no_verdict_on_them() {
    let of = |records: &Records| {
        let document = tried(records, &Options::default());
        let lints = lints(&document, "untrusted-machine");
        let mut rows = document.rate_comparisons.into_iter();
        (rows.find(|row| row.event == "late").unwrap(), lints)
    };
    // Ten in 200 s on both sides together are within the tolerated one in 10 s,
    // which would be 20.
    let (row, told) = of(&with_rest(5, 100.0));
    assert_eq!((row.verdict, told), (Verdict::Established, vec![]));
    let (row, told) = of(&with_rest(11, 100.0));
    assert_eq!(row.verdict, Verdict::Undecided);
    assert!(row.p.is_some_and(|p| p < 0.05), "its p is shown: {row:?}");
    assert_eq!(
        row.note.as_deref(),
        Some("undecided because of the lint untrusted-machine")
    );
    assert_eq!(
        told,
        [
            "late: at rest the machine had 22 such events in 200 s, more than one in 10 s: such events \
          under load may come from the machine itself, so they get no verdict"
        ]
    );
    // The same applies if the rate is a metric of each run.
    let verdict_of = |count| {
        let mut records = with_rest(count, 100.0);
        for (at, run) in records.runs.iter_mut().enumerate() {
            let rate = if run.configuration == "a" {
                60.0
            } else {
                120.0
            };
            let value = Measurement::new(rate + 0.1 * at as f64, "1/min");
            run.metrics.insert("late_per_minute".into(), value);
        }
        let document = tried(&records, &Options::default());
        let mut rows = document.comparisons.into_iter();
        rows.find(|row| row.metric == "late_per_minute")
            .unwrap()
            .verdict
    };
    assert_eq!(verdict_of(5), Verdict::Established);
    assert_eq!(verdict_of(11), Verdict::Undecided);
    // The same applies to one exposure each.
    let mut records = one_exposure(at_random(60, 1), at_random(200, 2));
    let mut at_rest = records.events[0].clone();
    at_rest.event = format!("{}_at_rest", at_rest.event);
    at_rest.tolerated_s = Some(10.0);
    records.events.push(at_rest);
    assert_eq!(of(&records).0.verdict, Verdict::Undecided);
    // Without a tolerated rate, there is no lint.
    records.events[2].tolerated_s = None;
    assert_eq!(of(&records).0.verdict, Verdict::Supported);
}
