//! Tables that an experiment asks for.

use std::collections::BTreeMap;

use assize_bundle::{Configuration, DeclaredTable, Records};
use assize_verdict::{Document, Options, Relation, TTest, Table, TableCell, try_records};
use proptest::prelude::*;

use crate::common::{close, in_order, lints, run, tried};

/// Jitter in ns of eight blocks by configuration and workload: normal, nice,
/// fifo.
#[rustfmt::skip]
const JITTER: [(&str, [[f64; 8]; 3]); 2] = [
    ("base", [
        [1200.0, 1350.0, 990.0, 1640.0, 1280.0, 2100.0, 1010.0, 1490.0],
        [910.0, 1060.0, 800.0, 1190.0, 1010.0, 1500.0, 770.0, 1120.0],
        [12.0, 14.5, 9.1, 17.0, 13.3, 20.2, 10.4, 15.7],
    ]),
    ("follow", [
        [720.0, 800.0, 610.0, 970.0, 780.0, 1240.0, 600.0, 900.0],
        [700.0, 820.0, 590.0, 930.0, 760.0, 1190.0, 610.0, 870.0],
        [4.5, 5.6, 3.3, 6.6, 5.0, 7.4, 4.1, 6.0],
    ]),
];
/// For `follow`, nice relative to normal: ratio, its interval, p_t.
const NICE: [f64; 4] = [
    0.97977826088,
    0.9627066654549,
    1.0026319556211,
    0.06184203652892367,
];
/// For `base`, fifo relative to normal: ratio and the upper end of its interval.
const FIFO: [f64; 2] = [0.0101310760406, 0.0105467235798];
const WORKLOADS: [&str; 3] = ["normal", "nice", "fifo"];

fn declared_table(normalised_to: Option<&str>) -> DeclaredTable {
    DeclaredTable {
        metric: "jitter".into(),
        workloads: WORKLOADS.map(Into::into).into(),
        normalised_to: normalised_to.map(Into::into),
        place: "x.toml:7: tables[0].metric".into(),
        ..DeclaredTable::default()
    }
}

fn records() -> Records {
    let mut runs = Vec::new();
    for (configuration, of) in JITTER {
        for (workload, values) in WORKLOADS.iter().zip(of) {
            for (repetition, value) in (1..).zip(values) {
                let metrics = [("jitter", "ns", value), ("time", "s", 1.0 + value)];
                let mut run = run(configuration, workload, repetition, &metrics);
                run.block = Some(repetition);
                runs.push(run);
            }
        }
    }
    Records {
        source: "x.toml".into(),
        runs: in_order(runs),
        tables: vec![declared_table(Some("normal"))],
        ..Records::default()
    }
}

fn only(document: &Document) -> &Table {
    assert_eq!(document.tables.len(), 1);
    &document.tables[0]
}

fn cell<'t>(table: &'t Table, configuration: &str, workload: &str) -> &'t TableCell {
    let row = table.rows.iter().find(|r| r.configuration == configuration);
    let row = row.expect("the configuration has a row");
    let cell = row.cells.iter().find(|c| c.workload == workload);
    cell.expect("the workload has a column")
}

/// Checks that the table's ratios to the baseline are those of the comparisons.
fn agrees(document: &Document, table: &Table) {
    for row in &table.rows {
        for cell in &row.cells {
            let of = document.comparisons.iter().find(|c| {
                c.workload == cell.workload
                    && (&c.metric, &c.unit) == (&table.metric, &table.unit)
                    && Some(&c.baseline) == row.baseline.as_ref()
                    && c.configuration == row.configuration
            });
            let Some(of) = of else {
                let verdict = cell.relative.as_ref().and_then(|r| r.verdict);
                assert_eq!(verdict, None, "{}", row.configuration);
                continue;
            };
            let want = Relation {
                n_baseline: of.n_baseline,
                n: of.n,
                ratio: of.ratio,
                ci: of.ci,
                p_t: of.p_t,
                t_test: of.t_test,
                p: of.p,
                difference: of.difference,
                verdict: Some(of.verdict),
                because: of.because.clone(),
            };
            assert_eq!(cell.relative.as_ref(), Some(&want));
        }
    }
}

#[test]
fn a_row_is_normalised_to_itself_and_compared_with_the_baseline() {
    let document = tried(&records(), &Options::default());
    let table = only(&document);
    assert_eq!((&*table.unit, table.level), ("ns", 0.95));
    let normal = cell(table, "base", "normal");
    assert_eq!((normal.n, normal.median), (8, Some(1315.0)));
    assert_eq!((&normal.normalised, &normal.relative), (&None, &None));
    // From scipy.stats.t for the logarithms of the blocks, nice against normal and fifo against
    // normal, and the means of subsets of their differences in numpy, with u²/12 added to each
    // side's variance: the jitter comes in whole numbers, that of `base` on normal in steps of 10
    // ns, that of fifo in steps of 0.1 ns.
    let nice = cell(table, "follow", "nice").normalised.as_ref();
    let nice = nice.expect("normalised");
    assert_eq!((nice.n_baseline, nice.n), (Some(8), Some(8)));
    assert_eq!((nice.t_test, nice.verdict), (Some(TTest::Paired), None));
    close(nice.ratio, NICE[0]);
    close(nice.ci.map(|ci| ci[0]), NICE[1]);
    close(nice.ci.map(|ci| ci[1]), NICE[2]);
    close(nice.p_t, NICE[3]);
    let fifo = cell(table, "base", "fifo").normalised.as_ref();
    let fifo = fifo.expect("normalised");
    close(fifo.ratio, FIFO[0]);
    close(fifo.ci.map(|ci| ci[1]), FIFO[1]);
    assert_eq!(table.rows[1].baseline.as_deref(), Some("base"));
    assert_eq!(table.rows[0].baseline, None);
    agrees(&document, table);
    assert!(cell(table, "follow", "fifo").relative.is_some());
}

#[test]
fn without_a_column_that_is_one_there_are_medians_only() {
    let mut records = records();
    records.tables = vec![declared_table(None)];
    let document = tried(&records, &Options::default());
    let table = only(&document);
    let cells = table.rows.iter().flat_map(|row| &row.cells);
    assert!(cells.clone().all(|cell| cell.normalised.is_none()));
    assert!(cells.clone().all(|cell| cell.median.is_some()));
    agrees(&document, table);
}

#[test]
fn another_level_and_another_baseline_hold_in_the_table_too() {
    let options = Options {
        level: 0.99,
        baseline: Some("follow".into()),
        ..Options::default()
    };
    let wide = tried(&records(), &options);
    let table = only(&wide);
    assert_eq!(table.level, 0.99);
    assert_eq!(table.rows[0].baseline.as_deref(), Some("follow"));
    agrees(&wide, table);
    let usual = tried(&records(), &Options::default());
    let ci = |document: &Document| {
        let cell = cell(only(document), "base", "fifo");
        cell.normalised
            .as_ref()
            .and_then(|r| r.ci)
            .expect("an interval")
    };
    let (wide, usual) = (ci(&wide), ci(&usual));
    assert!(wide[0] < usual[0] && wide[1] > usual[1]);
}

#[test]
fn what_was_not_measured_is_said_and_never_a_hole() {
    let mut records = records();
    let lacks = |run: &assize_bundle::Run, configuration: &str, workload: &str| {
        run.configuration == configuration && run.workload == workload
    };
    for run in &mut records.runs {
        if lacks(run, "follow", "nice") || (lacks(run, "follow", "fifo") && run.repetition < 3) {
            run.metrics.shift_remove("jitter");
        }
    }
    records.configurations = ["base", "follow", "gone"]
        .map(|name| Configuration {
            name: name.into(),
            label: name.into(),
            ..Configuration::default()
        })
        .into();
    let document = tried(&records, &Options::default());
    let table = only(&document);
    let nice = cell(table, "follow", "nice");
    assert_eq!((nice.n, nice.median), (0, None));
    assert_eq!((&nice.normalised, &nice.relative), (&None, &None));
    assert_eq!(nice.because.as_deref(), Some("none of 8 runs has jitter"));
    let fifo = cell(table, "follow", "fifo");
    assert_eq!(fifo.because.as_deref(), Some("6 of 8 runs have jitter"));
    let relation = fifo.normalised.as_ref().expect("six pairs are left");
    assert_eq!((relation.n_baseline, relation.n), (Some(6), Some(6)));
    assert_eq!(
        relation.because.as_deref(),
        Some("2 runs left out, without a partner in the same block")
    );
    let gone = cell(table, "gone", "normal");
    assert_eq!(gone.because.as_deref(), Some("no completed run"));
    let text = serde_json::to_string(&document.tables).expect("JSON");
    assert!(!text.contains("NaN"));
}

#[test]
fn a_metric_that_no_run_has_is_a_lint_with_its_place() {
    let mut records = records();
    records.tables[0].metric = "jiter".into();
    let document = tried(&records, &Options::default());
    let table = only(&document);
    let mut cells = table.rows.iter().flat_map(|row| &row.cells);
    assert!(cells.all(|cell| cell.because.as_deref() == Some("none of 8 runs has jiter")));
    assert!(lints(&document, "missing-cell").contains(
        &"x.toml:7: tables[0].metric: 'jiter' is not among the 2 metrics recorded; did you mean 'jitter'?".to_owned()
    ));
    // It was measured, but on another workload.
    records.tables[0].metric = "only".into();
    let metrics = [("only", "", 1.0)];
    records.runs.push(run("base", "other", 1, &metrics));
    let document = tried(&records, &Options::default());
    assert!(lints(&document, "missing-cell").contains(
        &"x.toml:7: tables[0].metric: no run of the table's workloads has 'only'".to_owned()
    ));
}

#[test]
fn a_metric_in_two_units_has_two_tables() {
    let mut records = records();
    for run in &mut records.runs {
        if run.workload == "fifo" {
            run.metrics["jitter"].unit = "cycles".into();
        }
    }
    let document = tried(&records, &Options::default());
    let units: Vec<&str> = document.tables.iter().map(|t| &*t.unit).collect();
    assert_eq!(units, ["ns", "cycles"]);
    assert!(cell(&document.tables[0], "base", "fifo").median.is_none());
    assert!(
        cell(&document.tables[1], "base", "fifo")
            .normalised
            .is_none()
    );
    assert!(cell(&document.tables[1], "base", "fifo").median.is_some());
}

#[test]
fn a_metric_in_two_units_of_one_dimension_has_one_table() {
    let mut records = records();
    let plain = tried(&records, &Options::default());
    for run in &mut records.runs {
        if run.workload == "fifo" {
            let jitter = &mut run.metrics["jitter"];
            (jitter.value, jitter.unit) = (jitter.value / 1000.0, "us".into());
        }
    }
    let document = tried(&records, &Options::default());
    assert_eq!(document.tables.len(), plain.tables.len());
    let median = |d: &Document| cell(&d.tables[0], "base", "fifo").median.unwrap();
    let (found, expected) = (median(&document), median(&plain));
    let scale = if document.tables[0].unit == "us" {
        1000.0
    } else {
        1.0
    };
    assert!(
        (found * scale / expected - 1.0).abs() < 1e-12,
        "{found} {expected}"
    );
}

#[test]
fn with_a_factor_rows_are_compared_with_its_first_level() {
    let mut records = records();
    let more: Vec<_> = records
        .runs
        .iter()
        .filter(|run| run.configuration == "follow")
        .map(|run| {
            let mut run = run.clone();
            run.configuration = "follow+hogs".into();
            run.metrics["jitter"].value *= 1.5;
            run
        })
        .collect();
    records.runs.extend(more);
    let pair = |of: &str, to: &str| (of.to_owned(), to.to_owned());
    records.tables[0].factor = Some("hogs".into());
    records.tables[0].baselines =
        BTreeMap::from([pair("follow", "follow"), pair("follow+hogs", "follow")]);
    let document = tried(&records, &Options::default());
    let table = only(&document);
    let baselines: Vec<Option<&str>> = table.rows.iter().map(|r| r.baseline.as_deref()).collect();
    assert_eq!(baselines, [None, None, Some("follow")]);
    assert_eq!(
        table.rows[0].because.as_deref(),
        Some("no configuration has the first level of hogs and otherwise the same levels")
    );
    assert_eq!(table.rows[1].because, None);
    let relative = cell(table, "follow+hogs", "fifo").relative.as_ref();
    let relative = relative.expect("compared");
    close(relative.ratio, 1.5);
    assert_eq!(relative.verdict, None);
    // This equals requesting it as the baseline.
    let options = Options {
        baseline: Some("follow".into()),
        ..Options::default()
    };
    let asked = tried(&records, &options);
    let own = asked.comparisons.iter().find(|c| {
        (&*c.configuration, &*c.workload, &*c.metric) == ("follow+hogs", "fifo", "jitter")
    });
    let own = own.expect("compared");
    assert_eq!((relative.ratio, relative.ci), (own.ratio, own.ci));
    assert_eq!((relative.p, relative.p_t), (own.p, own.p_t));
}

#[test]
fn a_repeated_baseline_stands_beside_the_first_as_in_the_noise_floor() {
    let mut records = records();
    records.configurations = vec![
        Configuration {
            name: "base".into(),
            label: "base".into(),
            ..Configuration::default()
        },
        Configuration {
            name: "follow".into(),
            label: "follow".into(),
            repeats: Some("base".into()),
            ..Configuration::default()
        },
    ];
    let document = tried(&records, &Options::default());
    let table = only(&document);
    assert!(document.comparisons.is_empty());
    for floor in document.noise_floor.iter().filter(|f| f.metric == "jitter") {
        let relative = cell(table, "follow", &floor.workload).relative.as_ref();
        let relative = relative.expect("compared");
        assert_eq!((relative.ratio, relative.ci), (floor.ratio, floor.ci));
        assert_eq!(relative.verdict, None);
    }
}

/// Runs with gaps and all kinds of values, in blocks or not.
fn any_records() -> impl Strategy<Value = Records> {
    let value = prop_oneof![
        8 => 0.1..1e6f64,
        1 => Just(0.0),
        1 => -10.0..10.0f64,
        1 => Just(f64::NAN),
    ];
    let one = (0..4usize, 0..4usize, 1..6u32, any::<bool>(), value);
    let runs = proptest::collection::vec(one, 0..60);
    (runs, any::<bool>(), 0..5usize).prop_map(|(rows, blocks, to)| {
        let mut runs = Vec::new();
        for (configuration, workload, repetition, has, value) in rows {
            let metric = if has { "jitter" } else { "other" };
            let name = ["a", "b", "c", "d"][configuration];
            let workload = ["normal", "nice", "fifo", "more"][workload];
            let mut run = run(name, workload, repetition, &[(metric, "ns", value)]);
            run.block = blocks.then_some(repetition);
            runs.push(run);
        }
        Records {
            runs: in_order(runs),
            tables: vec![declared_table(WORKLOADS.get(to).copied())],
            ..Records::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_relative_row_is_the_verdicts_and_nothing_is_a_hole(records in any_records()) {
        let document = try_records(&records, &Options::default()).unwrap();
        let table = only(&document);
        agrees(&document, table);
        prop_assert_eq!(table.rows.len(), document.configurations.len());
        for cell in table.rows.iter().flat_map(|row| &row.cells) {
            prop_assert_eq!(cell.n == 0, cell.median.is_none());
            prop_assert!(cell.median.is_some() || cell.because.is_some());
            let relations = [&cell.normalised, &cell.relative].into_iter().flatten();
            for relation in relations {
                let numbers = [relation.ratio, relation.p, relation.p_t, relation.difference];
                prop_assert!(numbers.into_iter().flatten().all(f64::is_finite));
            }
        }
        let text = serde_json::to_string(&document.tables).unwrap();
        let back: Vec<Table> = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(back.len(), 1);
    }
}
