//! Every figure agrees with scipy, statsmodels or numpy to 1e-6 relative.
//!
//! The answers are stored in `reference/`, written by `oracle/reference.py`.
//! `cargo test -p assize-judge --test oracle -- --nocapture` prints the worst
//! relative deviation of each file.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests, which the configuration does not recognise"
)]

use assize_judge::{
    Estimate, Interval, PublishedMean, adjust, equivalence, factorial, flips, jitter, lints,
    paired, poisson, pooled, power, quantile, welch,
};
use serde_json::Value;

const TOLERANCE: f64 = 1e-6;

/// Compares figures and remembers the worst deviation.
struct Judge {
    file: &'static str,
    case: usize,
    tolerance: f64,
    worst: f64,
    figures: usize,
}

impl Judge {
    fn agree(&mut self, what: &str, got: f64, want: &Value) {
        let want = want.as_f64().unwrap();
        let deviation = if got == want {
            0.0
        } else {
            (got - want).abs() / want.abs()
        };
        assert!(
            deviation <= self.tolerance,
            "{}, case {}: {what} is {got}, the oracle says {want}",
            self.file,
            self.case
        );
        self.worst = self.worst.max(deviation);
        self.figures += 1;
    }

    /// With very many degrees of freedom, a far tail has no accurate digits.
    fn tail(&mut self, what: &str, got: f64, want: &Value) {
        if number(want) > 1e-12 {
            self.agree(what, got, want);
        } else {
            assert!(got < 1e-12, "{what} is {got}");
        }
    }

    fn interval(&mut self, what: &str, got: Interval, want: &Value) {
        self.agree(what, got.low, &want[0]);
        self.agree(what, got.high, &want[1]);
    }

    fn estimate(&mut self, got: Estimate, want: &Value) {
        self.agree("effect", got.effect, &want["effect"]);
        self.interval("ci", got.ci, &want["ci"]);
        self.interval("ci90", got.ci90, &want["ci90"]);
        self.agree(
            "standard error",
            got.standard_error,
            &want["standard_error"],
        );
        self.agree("df", got.df, &want["df"]);
        self.agree("p_t", got.p_t, &want["p_t"]);
    }
}

/// Runs `check` on each case of a file.
fn check_cases(file: &'static str, text: &str, check: impl Fn(&mut Judge, &Value, &Value)) {
    let cases: Vec<Value> = serde_json::from_str(text).unwrap();
    let mut judge = Judge {
        file,
        case: 0,
        tolerance: TOLERANCE,
        worst: 0.0,
        figures: 0,
    };
    assert!(!cases.is_empty());
    for (index, case) in cases.iter().enumerate() {
        judge.case = index;
        judge.tolerance = TOLERANCE;
        check(&mut judge, &case["input"], &case["want"]);
    }
    let (cases, figures, worst) = (cases.len(), judge.figures, judge.worst);
    println!("{file}: {cases} cases, {figures} figures, worst {worst:.1e}");
}

macro_rules! oracle {
    ($name:ident, $check:expr) => {
        #[test]
        fn $name() {
            let file = concat!(stringify!($name), ".json");
            check_cases(
                file,
                include_str!(concat!("reference/", stringify!($name), ".json")),
                $check,
            );
        }
    };
}

fn floats(v: &Value) -> Vec<f64> {
    let list = v.as_array().unwrap();
    list.iter().map(|x| x.as_f64().unwrap()).collect()
}

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap()
}

fn count(v: &Value) -> u64 {
    v.as_u64().unwrap()
}

oracle!(pooled, |judge, input, want| {
    let (effects, variances) = (floats(&input["effects"]), floats(&input["variances"]));
    let df = floats(&input["df"]);
    let studies: Vec<pooled::Study> = (0..effects.len())
        .map(|at| pooled::Study {
            effect: effects[at],
            standard_error: variances[at].sqrt(),
            df: df[at],
        })
        .collect();
    let fixed = pooled::fixed(&studies).unwrap();
    judge.agree("fixed", fixed.effect, &want["fixed"]);
    judge.agree(
        "standard error",
        fixed.standard_error,
        &want["standard_error"],
    );
    judge.agree("df", fixed.df, &want["df"]);
    judge.interval("ci", fixed.ci, &want["ci"]);
    judge.interval("ci90", fixed.ci90, &want["ci90"]);
    judge.tail("p_t", fixed.p_t, &want["p_t"]);
    for (at, share) in pooled::shares(&studies).unwrap().into_iter().enumerate() {
        judge.agree("share", share, &want["shares"][at]);
    }
    // The figures above use t with up to 1e7 degrees of freedom, for which the
    // gamma function leaves eight digits. From here on nine digits are accurate.
    judge.tolerance = 1e-9;
    let differ = pooled::heterogeneity(&studies).unwrap();
    judge.agree("q", differ.q, &want["q"]);
    judge.agree("q_p", differ.p, &want["q_p"]);
    judge.tail("q_p_welch", differ.p_welch, &want["q_p_welch"]);
    judge.agree("tau2", differ.tau2, &want["tau2"]);
    judge.interval("tau2_ci", differ.tau2_ci, &want["tau2_ci"]);
    judge.agree("i2", differ.i2, &want["i2"]);
    judge.interval("i2_ci", differ.i2_ci, &want["i2_ci"]);
    let random = pooled::random(&studies).unwrap();
    judge.agree("random", random.effect, &want["random"]);
    judge.agree("random_se", random.standard_error, &want["random_se"]);
    judge.interval("random_ci", random.ci, &want["random_ci"]);
    assert_eq!(random.prediction.is_some(), studies.len() > 2);
    if let Some(prediction) = random.prediction {
        judge.interval("prediction", prediction, &want["prediction"]);
    }
});

oracle!(paired, |judge, input, want| {
    let (a, b) = (floats(&input["a"]), floats(&input["b"]));
    judge.estimate(paired::ratio(&a, &b).unwrap(), &want["ratio"]);
    judge.estimate(paired::difference(&a, &b).unwrap(), &want["difference"]);
});

oracle!(flips, |judge, input, want| {
    let (level, variance) = (number(&input["level"]), number(&input["variance"]));
    let found = flips::interval(&floats(&input["differences"]), level, variance).unwrap();
    assert_eq!(found.is_none(), want["ci"].is_null());
    if let Some(found) = found {
        judge.interval("ci", found, &want["ci"]);
    }
});

oracle!(welch, |judge, input, want| {
    let (a, b) = (floats(&input["a"]), floats(&input["b"]));
    judge.estimate(welch::ratio(&a, &b).unwrap(), &want["ratio"]);
    judge.estimate(welch::difference(&a, &b).unwrap(), &want["difference"]);
});

oracle!(summaries, |judge, input, want| {
    let moments = |v: &Value| PublishedMean {
        mean: number(&v[0]),
        standard_error: number(&v[1]),
        n: Some(count(&v[2]) as u32),
    };
    let got = welch::ratio_from_summaries(moments(&input["a"]), moments(&input["b"]));
    judge.estimate(got.unwrap(), want);
});

oracle!(adjust, |judge, input, want| {
    let p = floats(&input["p"]);
    let (holm, bh) = (adjust::holm(&p), adjust::benjamini_hochberg(&p));
    for i in 0..p.len() {
        judge.agree("holm", holm[i], &want["holm"][i]);
        judge.agree("bh", bh[i], &want["bh"][i]);
    }
});

oracle!(equivalence, |judge, input, want| {
    let (a, b) = (floats(&input["a"]), floats(&input["b"]));
    let ratio = welch::ratio(&a, &b).unwrap();
    let got = equivalence::of_ratio(&ratio, number(&input["margin"])).unwrap();
    judge.agree("p", got.p, &want["p"]);
    assert_eq!(got.equivalent, number(&want["p"]) <= 0.05);
});

fn fitted(judge: &mut Judge, input: &Value, want: &Value) {
    let x = floats(&input["x"]);
    let levels = input["levels"].as_array().unwrap();
    let cells: Vec<(Vec<bool>, f64)> = levels
        .iter()
        .zip(&x)
        .map(|(l, &x)| {
            let on = l.as_array().unwrap();
            (on.iter().map(|v| v.as_bool().unwrap()).collect(), x)
        })
        .collect();
    let names = input["names"].as_array().unwrap();
    let names: Vec<&str> = names.iter().map(|n| n.as_str().unwrap()).collect();
    let blocks = input["blocks"].as_array();
    let blocks = blocks.map_or_else(Vec::new, |all| {
        all.iter()
            .map(|b| u32::try_from(count(b)).unwrap())
            .collect()
    });
    let got = factorial::fit_in_blocks(&cells, &blocks, &names).unwrap();
    if blocks.is_empty() {
        assert_eq!(factorial::fit(&cells, &names).unwrap(), got);
    }
    assert_eq!(got.residual_df as u64, count(&want["df"]));
    judge.agree("residual sd", got.residual_sd, &want["sd"]);
    for (i, e) in got.effects.iter().enumerate() {
        assert_eq!(e.name, want["names"][i].as_str().unwrap());
        judge.agree("effect", e.ln_effect, &want["effect"][i]);
        judge.agree("t", e.t, &want["t"][i]);
        judge.agree("p", e.p, &want["p"][i]);
        judge.agree("low", e.ci.low.ln(), &want["low"][i]);
        judge.agree("high", e.ci.high.ln(), &want["high"][i]);
    }
}

oracle!(factorial, fitted);
oracle!(factorial_in_blocks, fitted);

oracle!(garwood, |judge, input, want| {
    let (exposure, level) = (number(&input["exposure"]), number(&input["level"]));
    let got = poisson::garwood(count(&input["count"]), exposure, level).unwrap();
    judge.agree("low", got.low, &want["low"]);
    judge.agree("high", got.high, &want["high"]);
});

oracle!(rates, |judge, input, want| {
    let (a, b) = (&input["a"], &input["b"]);
    let got = poisson::compare(count(&a[0]), number(&a[1]), count(&b[0]), number(&b[1]));
    judge.agree("p", got.unwrap().p, &want["p"]);
});

oracle!(gaps, |judge, input, want| {
    let got = poisson::gaps(&floats(&input["times"])).unwrap();
    judge.agree("mean", got.mean, &want["mean"]);
    judge.agree("cv", got.cv, &want["cv"]);
    judge.agree("statistic", got.statistic, &want["statistic"]);
    judge.agree("p_regular", got.p_regular, &want["p_regular"]);
    judge.agree("p_clustered", got.p_clustered, &want["p_clustered"]);
});

oracle!(quantiles, |judge, input, want| {
    let sorted = floats(&input["sorted"]);
    for (i, p) in floats(&input["p"]).into_iter().enumerate() {
        let got = quantile::type7(&sorted, p).unwrap();
        judge.agree("type 7", got, &want["type7"][i]);
    }
    for w in want["intervals"].as_array().unwrap() {
        let got = quantile::interval(&sorted, number(&w[0]), number(&w[1]));
        if w[2].is_null() {
            assert!(got.is_err(), "case {}: {got:?}", judge.case);
            continue;
        }
        let got = got.unwrap();
        let (low, high) = (count(&w[2][0]) as usize, count(&w[2][1]) as usize);
        assert_eq!((got.rank_low, got.rank_high), (low, high));
        assert_eq!(got.interval.low, sorted[low - 1]);
        assert_eq!(got.interval.high, sorted[high - 1]);
        judge.agree("coverage", got.coverage, &w[2][2]);
    }
});

oracle!(jitter, |judge, input, want| {
    let got = jitter::jitter(&floats(&input["values"])).unwrap();
    judge.agree("sd", got.sd, &want["sd"]);
    judge.agree("mad", got.mad, &want["mad"]);
    judge.agree("max", got.max, &want["max"]);
    match got.p99_minus_p50 {
        Some(spread) => judge.agree("p99 - p50", spread, &want["p99_minus_p50"]),
        None => assert!(want["p99_minus_p50"].is_null()),
    }
});

oracle!(power, |judge, input, want| {
    let [sd, ratio, alpha] = ["sd", "ratio", "alpha"].map(|k| number(&input[k]));
    for w in want["power"].as_array().unwrap() {
        let got = power::power_of(count(&w[0]) as u32, sd, ratio, alpha);
        judge.agree("power", got, &w[1]);
    }
});

oracle!(equivalence_runs, |judge, input, want| {
    let [sd, margin, alpha, power] = ["sd", "margin", "alpha", "power"].map(|k| number(&input[k]));
    let layout = power::ComparisonLayout::TwoSamples;
    let got = power::runs_for_equivalence(layout, sd, margin, alpha, power).unwrap();
    judge.agree("runs", f64::from(got), &want["runs"]);
});

oracle!(drift, |judge, input, want| {
    let got = lints::drift(&floats(&input["values"])).unwrap();
    judge.agree("tau", got.tau, &want["tau"]);
    judge.agree("p", got.p, &want["p"]);
});

oracle!(outlier, |judge, input, want| {
    let got = lints::outlier(&floats(&input["values"]));
    let want = want["indices"].as_array().unwrap();
    let want: Vec<usize> = want.iter().map(|i| count(i) as usize).collect();
    assert_eq!(got, want, "case {}", judge.case);
});
