//! Figures for blocks, machines, looks and plans agree with numpy and scipy to
//! 1e-9 relative.
//!
//! The answers are stored in `reference/`, written by `oracle/reference.py` with
//! `oracle/designs.py`.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, which the configuration does not recognise"
)]

use assize_judge::power::{self, ComparisonLayout, PowerAim, PowerDesign};
use assize_judge::{equivalence, factorial, lints, paired, poisson, spending};
use serde_json::Value;

const TOLERANCE: f64 = 1e-9;

/// The cases of a file: `input` and `want`.
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

#[track_caller]
fn agree(what: &str, got: f64, want: &Value) {
    let want = want.as_f64().unwrap();
    let near = got == want || (got - want).abs() <= TOLERANCE * want.abs();
    assert!(near, "{what} is {got}, the oracle says {want}");
}

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap()
}

fn count(v: &Value) -> u32 {
    u32::try_from(v.as_u64().unwrap()).unwrap()
}

fn floats(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().map(number).collect()
}

fn lists(v: &Value) -> Vec<Vec<f64>> {
    v.as_array().unwrap().iter().map(floats).collect()
}

/// Compares with a tolerance relative to `scale`, because a difference of large
/// numbers keeps only their absolute precision.
#[track_caller]
fn near(what: &str, got: f64, want: &Value, scale: f64) {
    let want = number(want);
    let near = (got - want).abs() <= TOLERANCE * want.abs().max(1e-4 * scale);
    assert!(near, "{what} is {got}, the oracle says {want}");
}

#[test]
fn contrasts_and_fits_in_blocks() {
    for (input, want) in cases!("block_contrasts") {
        let x = floats(&input["x"]);
        let levels = input["levels"].as_array().unwrap().iter();
        let on = |l: &Value| {
            l.as_array()
                .unwrap()
                .iter()
                .map(|v| v.as_bool().unwrap())
                .collect()
        };
        let cells: Vec<(Vec<bool>, f64)> = levels.map(on).zip(x).collect();
        let blocks: Vec<(u32, u32)> = input["blocks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|b| (count(&b[0]), count(&b[1])))
            .collect();
        let names = input["names"].as_array().unwrap();
        let names: Vec<&str> = names.iter().map(|n| n.as_str().unwrap()).collect();
        let fitted = factorial::fit_in_blocks(&cells, &blocks, &names).unwrap();
        let contrasts = factorial::block_contrasts(&cells, &blocks, &names).unwrap();
        assert_eq!(fitted.residual_df as u32, count(&want["df"]));
        assert_eq!(contrasts.len(), fitted.effects.len());
        for (at, (name, of)) in contrasts.iter().enumerate() {
            assert_eq!(name, want["names"][at].as_str().unwrap());
            let effect = &fitted.effects[at];
            near("effect", effect.ln_effect, &want["effect"][at], 1.0);
            agree(
                "standard error",
                effect.standard_error,
                &want["standard_error"][at],
            );
            assert_eq!(of.len(), want["contrasts"][at].as_array().unwrap().len());
            for (got, want) in of.iter().zip(want["contrasts"][at].as_array().unwrap()) {
                near("contrast", *got, want, 1.0);
            }
        }
    }
}

#[test]
fn rates_of_clusters() {
    for (input, want) in cases!("clustered_rates") {
        let (a, b) = (floats(&input["a"]["times"]), floats(&input["b"]["times"]));
        let side = |times_s, of: &str| poisson::EventTimes {
            times_s,
            exposure_s: number(&input[of]["exposure"]),
        };
        let got = poisson::compare_clustered(side(&a, "a"), side(&b, "b")).unwrap();
        agree("ratio", got.ratio, &want["ratio"]);
        agree("low", got.ci.low, &want["ci"][0]);
        agree("high", got.ci.high, &want["ci"][1]);
        agree(
            "standard error",
            got.standard_error,
            &want["standard_error"],
        );
        agree("df", got.df, &want["df"]);
        agree("p", got.p, &want["p"]);
        agree("phi of a", got.phi_a, &want["phi"][0]);
        agree("phi of b", got.phi_b, &want["phi"][1]);
    }
}

#[test]
fn trends_inside_groups() {
    for (input, want) in cases!("trends") {
        let groups = lists(&input["groups"]);
        let slices: Vec<&[f64]> = groups.iter().map(Vec::as_slice).collect();
        let got = lints::drift_inside(&slices).unwrap();
        agree("tau", got.tau, &want["tau"]);
        agree("p", got.p, &want["p"]);
    }
}

#[test]
fn levels_of_looks() {
    for (input, want) in cases!("spending") {
        let (alpha, fractions) = (number(&input["alpha"]), floats(&input["fractions"]));
        for (at, fraction) in fractions.iter().enumerate() {
            agree(
                "spent",
                spending::spent(alpha, *fraction).unwrap(),
                &want["spent"][at],
            );
        }
        let levels = spending::levels(alpha, &fractions).unwrap();
        for (at, level) in levels.into_iter().enumerate() {
            near("level", level, &want["levels"][at], 1.0);
        }
        let looks = spending::able_looks(alpha, &fractions, &floats(&input["floors"])).unwrap();
        let Some(looks) = looks else {
            assert!(want["looks"].is_null());
            continue;
        };
        let taken: Vec<u32> = looks.iter().map(|l| l.planned as u32).collect();
        let expected = want["looks"].as_array().unwrap().iter().map(count);
        assert_eq!(taken, expected.collect::<Vec<u32>>());
        for (look, want) in looks.iter().zip(want["look_levels"].as_array().unwrap()) {
            near("level of a look", look.level, want, 1.0);
        }
    }
}

#[test]
fn equivalence_of_pairs() {
    for (input, want) in cases!("equivalence_of_pairs") {
        let ratio = paired::ratio(&floats(&input["a"]), &floats(&input["b"])).unwrap();
        let got = equivalence::of_ratio(&ratio, number(&input["margin"])).unwrap();
        // The difference of logarithms near 5 loses digits.
        let (got_p, want_p) = (got.p, number(&want["p"]));
        assert!(
            (got_p - want_p).abs() <= 1e-9 * want_p.max(1e-3),
            "{got_p} {want_p}"
        );
        assert_eq!(got.equivalent, want_p <= 0.05);
    }
}

#[test]
fn shares_that_runs_may_have_missed() {
    for (input, want) in cases!("share_missed") {
        let got = equivalence::share_missed(count(&input["n"]), number(&input["alpha"]));
        agree("share", got.unwrap(), &want["share"]);
    }
}

fn layout(input: &Value) -> ComparisonLayout {
    match input["layout"].as_str().unwrap() {
        "pairs" => ComparisonLayout::Pairs,
        _ => ComparisonLayout::TwoSamples,
    }
}

fn aim(input: &Value) -> PowerAim {
    PowerAim {
        rows: count(&input["rows"]),
        alpha: number(&input["alpha"]),
        power: number(&input["power"]),
    }
}

#[test]
fn effects_that_designs_find() {
    for (input, want) in cases!("designs") {
        let design = PowerDesign {
            layout: layout(&input),
            runs: count(&input["runs"]),
        };
        agree("least p", design.least_p(), &want["floor"]);
        let got = power::least_effect(design, number(&input["sd"]), aim(&input));
        match got {
            Some(got) => agree("least effect", got, &want["least"]),
            None => assert!(want["least"].is_null()),
        }
    }
}

#[test]
fn runs_that_effects_need() {
    for (input, want) in cases!("runs_for") {
        let (sd, ratio) = (number(&input["sd"]), number(&input["ratio"]));
        let got = power::runs_for(layout(&input), sd, ratio, aim(&input));
        assert_eq!(got, Some(count(&want["runs"])), "{input}");
    }
}
