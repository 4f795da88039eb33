//! Families of tests agree with an enumeration in numpy, and have the documented properties for any
//! data.
//!
//! The answers are stored in `reference/`, written by `oracle/reference.py` with
//! `oracle/families.py`.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, which the configuration does not recognise"
)]

use assize_judge::family::{Contrast, ContrastBlock, FamilyResult, step_down};
use assize_judge::{adjust, lints};
use proptest::prelude::*;
use serde_json::Value;

/// A p value is a count divided by the number of relabelings: two agree exactly or not at all.
const SAME: f64 = 1e-12;
const TOLERANCE: f64 = 1e-9;

macro_rules! cases {
    ($name:literal) => {{
        let cases: Vec<Value> =
            serde_json::from_str(include_str!(concat!("reference/", $name, ".json"))).unwrap();
        assert!(!cases.is_empty());
        cases
            .into_iter()
            .map(|case| (case["input"].clone(), case["want"].clone()))
    }};
}

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap()
}

fn floats(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().map(number).collect()
}

fn contrasts(rows: &Value) -> Vec<Contrast> {
    let block = |block: &Value| ContrastBlock {
        site: block[0].as_u64().unwrap(),
        a: floats(&block[1]),
        b: floats(&block[2]),
    };
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| Contrast {
        blocks: row["blocks"]
            .as_array()
            .unwrap()
            .iter()
            .map(block)
            .collect(),
        resolution: number(&row["resolution"]),
        relative: row["relative"].as_bool().unwrap(),
    })
    .collect()
}

#[test]
fn every_relabeling_is_counted_as_the_oracle_counts_it() {
    for (input, want) in cases!("family") {
        let what = input["what"].as_str().unwrap();
        let rows = contrasts(&input["rows"]);
        let got = step_down(&rows, 0).unwrap();
        assert!(got.exact, "{what}");
        assert_eq!(got.relabelings, number(&want["relabelings"]), "{what}");
        assert_eq!(f64::from(got.draws), got.relabelings, "{what}");
        assert_eq!(got.tested.len(), rows.len(), "{what}");
        for (at, tested) in got.tested.iter().enumerate() {
            let figures = [
                ("p", tested.p),
                ("p_attainable", tested.p_attainable),
                ("p_adjusted", tested.p_adjusted),
            ];
            for (name, got) in figures {
                let want = number(&want[name][at]);
                let near = (got - want).abs() < SAME;
                assert!(
                    near,
                    "{what}, row {at}: {name} is {got}, the oracle says {want}"
                );
            }
        }
    }
}

#[test]
fn draws_estimate_the_p_of_all_relabelings() {
    for (input, want) in cases!("family_drawn") {
        let rows = contrasts(&input["rows"]);
        for seed in 0..3 {
            let got = step_down(&rows, seed).unwrap();
            assert_eq!(got.relabelings, number(&want["relabelings"]));
            assert!(!got.exact && got.draws == 100_000, "{got:?}");
            for (at, tested) in got.tested.iter().enumerate() {
                for (got, want) in [
                    (tested.p, number(&want["p"][at])),
                    (tested.p_adjusted, number(&want["p_adjusted"][at])),
                ] {
                    // Five standard errors, plus the observed labeling, which is counted.
                    let error = (want * (1.0 - want) / 1e5).sqrt();
                    let near = (got - want).abs() < 5.0 * error + 1e-5;
                    assert!(near, "seed {seed}, row {at}: {got}, the oracle says {want}");
                }
            }
        }
    }
}

/// Parses a list in which `null` means NaN.
fn perhaps(v: &Value) -> Vec<f64> {
    let list = v.as_array().unwrap().iter();
    list.map(|v| v.as_f64().unwrap_or(f64::NAN)).collect()
}

#[test]
fn two_families_share_alpha_as_the_procedure_says() {
    for (input, want) in cases!("share_alpha") {
        let (first, second) = (perhaps(&input["first"]), perhaps(&input["second"]));
        let got = adjust::share_alpha(&first, &second, number(&input["share"]));
        for (got, want) in [(got.0, &want["first"]), (got.1, &want["second"])] {
            let want = perhaps(want);
            assert_eq!(got.len(), want.len());
            for (got, want) in got.iter().zip(&want) {
                let near = (got - want).abs() <= TOLERANCE * want.abs();
                assert!(
                    near || got.is_nan() && want.is_nan(),
                    "{input}: {got} {want}"
                );
            }
        }
    }
}

#[test]
fn runs_that_resemble_their_neighbours() {
    let mut found = 0;
    for (input, want) in cases!("serial_likeness") {
        let Some(got) = lints::serial_likeness(&floats(&input["values"])) else {
            assert!(want.is_null(), "{input}");
            continue;
        };
        found += 1;
        for (got, want) in [(got.ratio, &want["ratio"]), (got.p, &want["p"])] {
            let want = number(want);
            assert!(
                (got - want).abs() <= TOLERANCE * want,
                "{input}: {got} {want}"
            );
        }
    }
    assert!(found > 20, "{found}");
}

/// Rows of all kinds: pairs and larger blocks, with ties, some blocks lacking a run; with common
/// sites.
fn any_row() -> impl Strategy<Value = Contrast> {
    let value = || (-4_i32..5).prop_map(|i| f64::from(i) / 8.0);
    let pairs = prop::collection::vec((value(), value(), 0..8), 3..7).prop_map(|pairs| {
        let pairs = (0..).zip(pairs);
        let block = |(site, (a, b, lacks)): (u64, (f64, f64, i32))| ContrastBlock {
            site,
            a: vec![a],
            b: if lacks == 0 && site > 1 {
                Vec::new()
            } else {
                vec![b]
            },
        };
        pairs.map(block).collect::<Vec<ContrastBlock>>()
    });
    let several = (0_u64..3, prop::collection::vec(value(), 4..7), 1_usize..4).prop_map(
        |(site, values, of_a)| {
            let (a, b) = values.split_at(of_a);
            let (a, b) = (a.to_vec(), b.to_vec());
            let site = 100 + site;
            vec![ContrastBlock { site, a, b }]
        },
    );
    let blocks = prop_oneof![pairs, several];
    (blocks, 0..3, any::<bool>()).prop_map(|(blocks, steps, relative)| Contrast {
        blocks,
        resolution: f64::from(steps) / 1000.0,
        relative,
    })
}

fn rows(n: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Contrast>> {
    prop::collection::vec(any_row(), n)
}

fn tested(rows: &[Contrast]) -> FamilyResult {
    let found = step_down(rows, 0).unwrap();
    assert!(found.exact, "{} relabelings", found.relabelings);
    found
}

/// The row with all values and its resolution changed.
fn changed(row: &Contrast, value: impl Fn(f64) -> f64, resolution: f64) -> Contrast {
    let mut row = row.clone();
    for block in &mut row.blocks {
        for v in block.a.iter_mut().chain(&mut block.b) {
            *v = value(*v);
        }
    }
    row.resolution *= resolution;
    row
}

fn are_alike(one: &FamilyResult, other: &FamilyResult) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() < SAME;
    one.tested.len() == other.tested.len()
        && one.tested.iter().zip(&other.tested).all(|(a, b)| {
            near(a.p, b.p)
                && near(a.p_adjusted, b.p_adjusted)
                && near(a.p_attainable, b.p_attainable)
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn p_adjusted_is_no_less_than_p_and_p_than_what_is_attainable(rows in rows(1..5)) {
        for tested in tested(&rows).tested {
            prop_assert!(tested.p >= tested.p_attainable - SAME, "{tested:?}");
            prop_assert!(tested.p_adjusted >= tested.p && tested.p_adjusted <= 1.0, "{tested:?}");
        }
    }

    #[test]
    fn p_does_not_depend_on_the_order_of_rows(rows in rows(2..5), by in 1_usize..4) {
        let by = by % rows.len();
        let mut turned = rows.clone();
        turned.rotate_left(by);
        turned.reverse();
        let mut found = tested(&turned);
        found.tested.reverse();
        found.tested.rotate_right(by);
        prop_assert!(are_alike(&tested(&rows), &found));
    }

    #[test]
    fn p_does_not_depend_on_the_unit_of_a_row(rows in rows(1..5), unit in 0.01_f64..100.0) {
        // Only rows of logarithms are compared with each other.
        let scaled = |(at, row): (usize, &Contrast)| {
            let unit = if row.relative { unit } else { unit * 2_f64.powi(at as i32) };
            changed(row, |v| v * unit, unit * unit)
        };
        let scaled: Vec<Contrast> = rows.iter().enumerate().map(scaled).collect();
        prop_assert!(are_alike(&tested(&rows), &tested(&scaled)));
    }

    #[test]
    fn p_does_not_depend_on_what_both_sides_have_in_common(rows in rows(1..5), shift in -5_i32..5) {
        // Eighths are exact, so that nothing is lost in rounding.
        let shifted = |(at, row): (usize, &Contrast)| {
            let by = f64::from(shift) * (at + 1) as f64;
            changed(row, |v| v + by, 1.0)
        };
        let shifted: Vec<Contrast> = rows.iter().enumerate().map(shifted).collect();
        prop_assert!(are_alike(&tested(&rows), &tested(&shifted)));
    }

    #[test]
    fn another_row_only_raises_p_adjusted(rows in rows(1..4), more in any_row()) {
        // Without the common spread, which another row may change.
        let alone = |mut row: Contrast| { row.relative = false; row };
        let mut rows: Vec<Contrast> = rows.into_iter().map(alone).collect();
        let before = tested(&rows);
        rows.push(alone(more));
        let after = tested(&rows);
        for (before, after) in before.tested.iter().zip(&after.tested) {
            prop_assert!((before.p - after.p).abs() < SAME, "{before:?} {after:?}");
            prop_assert!(after.p_adjusted >= before.p_adjusted - SAME, "{before:?} {after:?}");
        }
    }

    #[test]
    fn a_row_in_which_nothing_differs_costs_nothing(rows in rows(1..4), value in -3_i32..3) {
        let before = tested(&rows);
        let mut with = rows.clone();
        with.push(changed(&rows[0], |_| f64::from(value), 0.0));
        let mut after = tested(&with);
        let added = after.tested.pop().unwrap();
        prop_assert!(are_alike(&before, &after));
        prop_assert_eq!((added.p, added.p_adjusted), (1.0, 1.0));
    }

    #[test]
    fn sharing_costs_no_more_than_its_part(
        first in prop::collection::vec(0.0_f64..=1.0, 1..6),
        second in prop::collection::vec(0.0_f64..=1.0, 1..6),
        share in 0.05_f64..0.95,
    ) {
        let got = adjust::share_alpha(&first, &second, share);
        for (p, adjusted, part) in first.iter().zip(&got.0).map(|(p, a)| (p, a, share))
            .chain(second.iter().zip(&got.1).map(|(p, a)| (p, a, 1.0 - share)))
        {
            prop_assert!(adjusted >= p && *adjusted <= (p / part).min(1.0) + SAME);
        }
        let other = adjust::share_alpha(&second, &first, 1.0 - share);
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < TOLERANCE);
        prop_assert!(near(&got.0, &other.1) && near(&got.1, &other.0));
    }
}
