//! Tests of the internals of [`step_down`]: its statistics against values computed with numpy
//! and scipy, and that every labeling comes once.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::Value;

use super::sites::next_labeling;
use super::*;

fn floats(v: &Value) -> Vec<f64> {
    let numbers = v.as_array().unwrap().iter();
    numbers.map(|v| v.as_f64().unwrap()).collect()
}

fn contrast(row: &Value) -> Contrast {
    let block = |block: &Value| ContrastBlock {
        site: block[0].as_u64().unwrap(),
        a: floats(&block[1]),
        b: floats(&block[2]),
    };
    let blocks = row["blocks"].as_array().unwrap().iter();
    Contrast {
        blocks: blocks.map(block).collect(),
        resolution: row["resolution"].as_f64().unwrap(),
        relative: row["relative"].as_bool().unwrap(),
    }
}

#[track_caller]
fn agree(what: &str, got: f64, want: &Value) {
    let want = want.as_f64().unwrap();
    let near = got == want || (got - want).abs() <= 1e-9 * want.abs();
    assert!(near, "{what} is {got}, the oracle says {want}");
}

#[test]
fn statistics_and_the_spread_in_common_agree_with_scipy() {
    let file = include_str!("../../tests/reference/family.json");
    let cases: Vec<Value> = serde_json::from_str(file).unwrap();
    let mut with_prior = 0;
    for case in cases {
        let what = case["input"]["what"].as_str().unwrap();
        let rows = case["input"]["rows"].as_array().unwrap().iter();
        let rows: Vec<Contrast> = rows.map(contrast).collect();
        let (sites, found, want) = (RelabellingSites::new(&rows), prior(&rows), &case["want"]);
        assert_eq!(found.is_none(), want["prior"].is_null(), "{what}");
        if let Some(found) = found {
            with_prior += usize::from(found.df < 1000.0);
            agree(what, found.variance, &want["prior"][0]);
            agree(what, found.df, &want["prior"][1]);
        }
        for (at, row) in rows.iter().enumerate() {
            let got = PreparedContrast::new(row, &sites, found).statistic(&sites);
            agree(what, got, &want["statistic"][at]);
        }
    }
    assert!(with_prior > 2, "{with_prior}");
}

#[test]
fn every_labeling_comes_once() {
    for (a, b) in [
        (1, 1),
        (1, 4),
        (4, 1),
        (3, 3),
        (2, 5),
        (5, 5),
        (0, 3),
        (3, 0),
    ] {
        let first: Vec<bool> = (0..a + b).map(|run| run >= a).collect();
        let mut labels = first.clone();
        let mut seen = BTreeSet::from([labels.clone()]);
        while next_labeling(&mut labels) {
            assert_eq!(labels.iter().filter(|&&label| label).count(), b);
            assert!(seen.insert(labels.clone()), "{labels:?} comes twice");
        }
        assert_eq!(labels, first, "the first is there again");
        assert_eq!(seen.len() as f64, choose(a + b, a));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_joint_labeling_comes_once(sizes in prop::collection::vec((0_usize..4, 0_usize..4), 1..4)) {
        let block = |(site, &(a, b)): (u64, &(usize, usize))| ContrastBlock {
            site,
            a: vec![0.0; a],
            b: vec![0.0; b],
        };
        let contrast = Contrast {
            blocks: (0..).zip(&sizes).map(block).collect(),
            resolution: 0.0,
            relative: false,
        };
        let mut sites = RelabellingSites::new(&[contrast]);
        let first = sites.labels.clone();
        let mut seen = BTreeSet::from([first.clone()]);
        while sites.next() {
            prop_assert!(seen.insert(sites.labels.clone()));
        }
        prop_assert_eq!(&sites.labels, &first);
        prop_assert_eq!(seen.len() as f64, sites.relabelings());
        let all: f64 = sizes.iter().map(|&(a, b)| choose(a + b, b)).product();
        prop_assert_eq!(sites.relabelings(), all);
    }
}
