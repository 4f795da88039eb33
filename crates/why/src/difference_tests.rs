#![allow(clippy::unwrap_used)] // A test may fail.

use super::*;
use crate::counts::CountChecks;
use crate::misses::{Accesses, MissKind};
use crate::profile::ProfilePlace;

fn place(thread: &str, function: &str, subsystem: &str) -> ProfilePlace {
    ProfilePlace {
        thread: thread.into(),
        function: function.into(),
        subsystem: subsystem.into(),
    }
}

fn side(counts: &[(&str, &str, u64)], jobs: Option<f64>) -> CountedRun {
    let places: BTreeMap<ProfilePlace, u64> = counts
        .iter()
        .map(|(thread, function, times)| {
            let subsystem = if function.starts_with('w') {
                "workqueues"
            } else {
                "scheduling"
            };
            (place(thread, function, subsystem), *times)
        })
        .collect();
    CountedRun {
        run: 0,
        profile: Profile {
            instructions: places.values().sum(),
            places,
            checks: CountChecks {
                closed: true,
                cpus: 1,
                readings: 10,
                ..CountChecks::default()
            },
        },
        jobs,
        metric: Some(500.0),
        reached: Vec::new(),
        calls: None,
        misses: None,
        functions: Vec::new(),
    }
}

fn asked() -> WhyQuestion {
    WhyQuestion {
        workload: "sync".into(),
        a: "one".into(),
        b: "two".into(),
        metric: "busy_time".into(),
        reached: Vec::new(),
        claims: Vec::new(),
        hunks: Vec::new(),
        caches: None,
    }
}

fn pair(seed: u64, a: CountedRun, b: CountedRun) -> CountedPair {
    CountedPair { seed, a, b }
}

#[test]
fn the_rows_of_every_table_add_up_to_the_whole_difference() {
    let a = side(
        &[("x", "s", 700), ("y", "s", 100), ("y", "w", 900)],
        Some(10.0),
    );
    let b = side(&[("x", "s", 500), ("y", "v", 40)], Some(10.0));
    let why = Why::compare(&asked(), &[pair(1, a, b)]);
    assert_eq!(why.per, "job");
    assert_eq!(
        (why.total.a, why.total.b, why.total.difference),
        (170.0, 54.0, 116.0)
    );
    for table in [&why.threads, &why.subsystems, &why.functions] {
        let sum: f64 = table.iter().map(|row| row.difference).sum();
        assert!((sum - 116.0).abs() < 1e-9, "{table:?}");
        assert!(table.iter().all(|row| row.interval.is_none()));
        let sizes: Vec<f64> = table.iter().map(|row| row.difference.abs()).collect();
        assert!(sizes.is_sorted_by(|one, other| one >= other));
    }
    assert_eq!(why.functions[0].name, "w");
    assert!(why.account.whole);
    let metric = why.metric.unwrap();
    assert_eq!((metric.a, metric.b), (50.0, 50.0));
}

#[test]
fn the_same_run_twice_differs_in_no_row() {
    let one = || side(&[("x", "s", 700), ("y", "w", 900)], None);
    let why = Why::compare(&asked(), &[pair(1, one(), one()), pair(2, one(), one())]);
    assert_eq!(why.per, "run");
    let tables = [&why.threads, &why.subsystems, &why.functions];
    assert!(
        tables
            .into_iter()
            .flatten()
            .all(|row| row.difference == 0.0)
    );
    assert!(
        tables
            .into_iter()
            .flatten()
            .all(|row| row.established == Some(false))
    );
}

#[test]
fn with_enough_seeds_a_difference_is_established_and_one_lucky_seed_is_not() {
    let pairs: Vec<CountedPair> = (0..8)
        .map(|seed| {
            let lucky = if seed == 3 { 5000 } else { 100 };
            let a = side(&[("x", "s", 900 + seed), ("x", "w", lucky)], Some(1.0));
            pair(
                seed,
                a,
                side(&[("x", "s", 700), ("x", "w", 100)], Some(1.0)),
            )
        })
        .collect();
    let why = Why::compare(&asked(), &pairs);
    let row = |name: &str| why.functions.iter().find(|row| row.name == name).unwrap();
    assert_eq!(row("s").established, Some(true));
    assert_eq!(row("w").established, Some(false));
    let [low, high] = row("s").interval.unwrap();
    assert!(low < row("s").difference && row("s").difference < high);
    assert!(low > 195.0 && high < 210.0, "{low} {high}");
    assert_eq!(why.p_attainable, Some(2.0 / 256.0));
}

#[test]
fn few_seeds_establish_nothing() {
    let pairs: Vec<CountedPair> = (0..3)
        .map(|seed| {
            let a = side(&[("x", "s", 900 + seed)], None);
            pair(seed, a, side(&[("x", "s", 100)], None))
        })
        .collect();
    let why = Why::compare(&asked(), &pairs);
    assert_eq!(why.functions[0].established, Some(false));
    assert_eq!(why.p_attainable, Some(0.25));
}

#[test]
fn what_is_not_accounted_for_is_said() {
    let spoil: [fn(&mut CountChecks); 4] = [
        |checks| checks.closed = false,
        |checks| checks.mismatches = 1,
        |checks| checks.unclear = 1,
        |checks| checks.readings = 0,
    ];
    for spoil in spoil {
        let good = || side(&[("x", "s", 1)], None);
        let mut bad = good();
        spoil(&mut bad.profile.checks);
        if bad.profile.checks.readings == 0 {
            bad.profile.checks.readings = 0;
        }
        assert!(
            !Why::compare(&asked(), &[pair(1, good(), bad)])
                .account
                .whole
        );
    }
}

#[test]
fn entries_and_shares_of_a_function_are_told() {
    let mut a = side(&[("x", "s", 25), ("x", "w", 75)], Some(5.0));
    a.reached = vec![FunctionEntries {
        times: 10,
        sizes: [(3, 10)].into(),
    }];
    let b = side(&[("x", "w", 10)], Some(5.0));
    let question = WhyQuestion {
        reached: vec!["s:1".into()],
        ..asked()
    };
    let why = Why::compare(&question, &[pair(1, a, b)]);
    let [reached] = &why.reached[..] else {
        unreachable!()
    };
    assert_eq!((reached.a, reached.b), (2.0, 0.0));
    assert_eq!((reached.share_a, reached.share_b), (0.25, 0.0));
    assert_eq!(reached.sizes_a, [(3, 10)].into());
}

#[test]
fn what_a_model_of_caches_missed_is_set_against_each_other_by_kind() {
    let missing = |function: &str, times: u64, transfers: u64| {
        let mut side = side(&[("t", "schedule", 900)], Some(10.0));
        let cell = |times| [(place("t", function, "locking"), times)].into();
        side.misses = Some(Misses {
            places: [
                (MissKind::L1dMisses, cell(times)),
                (MissKind::Transfers, cell(transfers)),
            ]
            .into(),
            accesses: Accesses {
                reads: 1000,
                ..Accesses::default()
            },
        });
        side
    };
    let mut asked = asked();
    let pairs = [pair(1, missing("lock", 50, 20), missing("unlock", 30, 20))];
    assert_eq!(Why::compare(&asked, &pairs).caches, None);
    asked.caches = Some(Geometry::default());
    let caches = Why::compare(&asked, &pairs).caches.unwrap();
    assert_eq!(
        (caches.accesses_a.reads, caches.accesses_b.writes),
        (1000, 0)
    );
    let row = |kind: MissKind| {
        let table = caches
            .kinds
            .iter()
            .find(|table| table.kind == kind)
            .unwrap();
        let total = (table.total.a, table.total.b, table.total.difference);
        let functions: Vec<(&str, f64)> = table
            .functions
            .iter()
            .map(|row| (row.name.as_str(), row.difference))
            .collect();
        (total, functions)
    };
    let (total, functions) = row(MissKind::L1dMisses);
    assert_eq!(total, (5.0, 3.0, 2.0));
    assert_eq!(functions, [("lock", 5.0), ("unlock", -3.0)]);
    let (total, functions) = row(MissKind::Transfers);
    assert_eq!(total, (2.0, 2.0, 0.0));
    assert_eq!(functions, [("lock", 2.0), ("unlock", -2.0)]);
    assert_eq!(row(MissKind::L2Misses), ((0.0, 0.0, 0.0), vec![]));
}

#[test]
fn which_levels_of_caches_differ_is_decided_over_seeds_for_all_levels_at_once() {
    let missing = |l1d: u64, transfers: u64| {
        let mut side = side(&[("t", "schedule", 900)], Some(10.0));
        let cell = |times| [(place("t", "lock", "locking"), times)].into();
        side.misses = Some(Misses {
            places: [
                (MissKind::L1dMisses, cell(l1d)),
                (MissKind::Transfers, cell(transfers)),
            ]
            .into(),
            accesses: Accesses::default(),
        });
        side
    };
    let mut asked = asked();
    asked.caches = Some(Geometry::default());
    let established = |l1d: [u64; 8], transfers: [u64; 8]| {
        let each = (0..8).zip(l1d.into_iter().zip(transfers));
        let pairs: Vec<CountedPair> = each
            .map(|(seed, (l1d, transfers))| pair(seed, missing(l1d, transfers), missing(100, 100)))
            .collect();
        let caches = Why::compare(&asked, &pairs).caches.unwrap();
        let total = |kind| {
            let mut kinds = caches.kinds.iter();
            let table = kinds.find(|table| table.kind == kind);
            table.unwrap().total.established.unwrap()
        };
        assert!(!total(MissKind::L2Misses));
        [MissKind::L1dMisses, MissKind::Transfers].map(total)
    };
    let same = [100; 8];
    let large = [500, 501, 502, 503, 504, 505, 506, 507];
    let lucky = [100, 100, 100, 900, 100, 100, 100, 100];
    let either_way = [90, 110, 91, 109, 92, 108, 93, 107];
    // Each alone has p = 8/256; both together exceed 0.05.
    let most = [120, 121, 119, 122, 118, 123, 117, 82];
    let most_too = [82, 118, 121, 117, 123, 120, 122, 119];
    assert_eq!(established(large, lucky), [true, false]);
    assert_eq!(established(large, either_way), [true, false]);
    assert_eq!(established(large, large), [true, true]);
    assert_eq!(established(most, same), [true, false]);
    assert_eq!(established(same, most_too), [false, true]);
    assert_eq!(established(most, most_too), [false, false]);
}
