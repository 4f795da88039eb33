//! Figures of comparisons and factors.
//!
//! The constants were computed with scipy and numpy, not with this project:
//! the ratio from means of logarithms, the interval and p from
//! `stats.ttest_ind(equal_var=False)` and `stats.t.ppf` at Satterthwaite's
//! degrees of freedom, u²/12 added to the variance of values in steps of u (1 of
//! counts, 0.01 of energy), the permutation p from `itertools.combinations`, the corrections by
//! sorting in numpy.

use assize_bundle::{Place, Records, Spread, Summary};
use assize_verdict::{Options, Scale, Verdict};

use crate::common::{close, lints, queue_records, row, runs_of, tried};

/// One row of figures: metric, configuration, ratio, interval, p of the t test,
/// p of the permutation test, and p of the t test corrected over the 72
/// comparisons and 54 effects of the document.
type Expected = (&'static str, &'static str, f64, [f64; 2], f64, f64, f64);

#[rustfmt::skip]
const GLXGEARS: [Expected; 20] = [
    ("context-switches", "No opt", 0.9447072073, [0.9118599881, 0.9787376561], 0.01648700118, 0.1, 1.0),
    ("context-switches", "Bypass", 0.790811029, [0.7801612249, 0.8016062112], 1.29034992e-06, 0.1, 0.0001587130402),
    ("context-switches", "IRQ", 0.8363012547, [0.8212861838, 0.851590837], 2.148150643e-05, 0.1, 0.002599262278),
    ("context-switches", "IRQ plus bypass", 0.6619654064, [0.6506793695, 0.6734471997], 6.399021827e-07, 0.1, 7.934787065e-05),
    ("task-clock", "No opt", 1.000038687, [0.9995920421, 1.000485532], 0.8216750184, 0.8, 1.0),
    ("task-clock", "Bypass", 1.000265588, [0.9998193451, 1.000712031], 0.1323759549, 0.1, 1.0),
    ("task-clock", "IRQ", 1.000093337, [0.9996182353, 1.000568664], 0.6121900301, 0.6, 1.0),
    ("task-clock", "IRQ plus bypass", 1.000138666, [0.9997169639, 1.000560546], 0.4123894876, 0.4, 1.0),
    ("cpu_core/cycles/", "No opt", 0.9855450224, [0.950148408, 1.022260294], 0.3304613265, 0.4, 1.0),
    ("cpu_core/cycles/", "Bypass", 0.9834285814, [0.9420345872, 1.026641471], 0.3321071313, 0.3, 1.0),
    ("cpu_core/cycles/", "IRQ", 0.9606081244, [0.9231058196, 0.9996340064], 0.0487365329, 0.1, 1.0),
    ("cpu_core/cycles/", "IRQ plus bypass", 0.9002873141, [0.8653934942, 0.9365880994], 0.001955236783, 0.1, 0.1974757364),
    ("power/energy-pkg/", "No opt", 1.079645737, [1.025331543, 1.136837081], 0.01772049628, 0.1, 1.0),
    ("power/energy-pkg/", "Bypass", 0.9622659162, [0.9354180457, 0.9898843599], 0.02380272812, 0.1, 1.0),
    ("power/energy-pkg/", "IRQ", 1.070618826, [1.037598127, 1.104690381], 0.003795138683, 0.1, 0.3643333135),
    ("power/energy-pkg/", "IRQ plus bypass", 1.058467764, [1.029594855, 1.088150355], 0.005284458279, 0.1, 0.4967390782),
    ("power/energy-cores/", "No opt", 0.7991209844, [0.7348293963, 0.8690375629], 0.005389286891, 0.1, 0.5012036809),
    ("power/energy-cores/", "Bypass", 0.7645303579, [0.7396685143, 0.7902278612], 3.855768091e-05, 0.1, 0.00462692171),
    ("power/energy-cores/", "IRQ", 0.7066991509, [0.6872426438, 0.7267064906], 0.0002309043305, 0.1, 0.02701580667),
    ("power/energy-cores/", "IRQ plus bypass", 0.6953178075, [0.6753210677, 0.7159066651], 0.0003238418164, 0.1, 0.03691796707),
];

#[test]
fn runs_give_the_figures_that_scipy_gives() {
    let document = tried(&queue_records(), &Options::default());
    assert_eq!(document.comparisons.len(), 72);
    assert_eq!(document.baseline.as_deref(), Some("DRM sched"));
    for (metric, configuration, ratio, ci, p_t, p, p_t_adjusted) in GLXGEARS {
        let found = row(&document, "glxgears", metric, configuration);
        close(found.ratio, ratio);
        close(found.ci.map(|ci| ci[0]), ci[0]);
        close(found.ci.map(|ci| ci[1]), ci[1]);
        close(found.p_t, p_t);
        close(found.p, p);
        close(found.p_t_adjusted, p_t_adjusted);
        close(found.p_attainable, 0.1);
        assert_eq!((found.n_baseline, found.n), (Some(3), Some(3)));
        assert_eq!(found.scale, Scale::Log);
    }
    // Three runs cannot reach 5 %, so nothing is corrected.
    assert!(document.comparisons.iter().all(|c| c.p_adjusted.is_none()));
    assert!(document.families.is_empty());
    let first = row(&document, "glxgears", "context-switches", "No opt");
    close(first.mean_baseline, 71378.70887);
}

#[test]
fn three_runs_support_and_never_establish() {
    let document = tried(&queue_records(), &Options::default());
    // The runs are grouped by configuration, but that lint caps no verdict below that of three
    // runs.
    let supported: Vec<_> = document
        .comparisons
        .iter()
        .filter(|c| c.verdict == Verdict::Supported)
        .map(|c| (&*c.workload, &*c.metric, &*c.configuration))
        .collect();
    // Rows with a corrected p of the t test below 5 %: see the figures above.
    assert_eq!(
        supported,
        [
            ("glxgears", "context-switches", "Bypass"),
            ("glxgears", "context-switches", "IRQ"),
            ("glxgears", "context-switches", "IRQ plus bypass"),
            ("glxgears", "power/energy-cores/", "Bypass"),
            ("glxgears", "power/energy-cores/", "IRQ"),
            ("glxgears", "power/energy-cores/", "IRQ plus bypass"),
        ]
    );
    // Three runs show neither a difference nor equality.
    let others = document.comparisons.iter();
    let mut others = others.filter(|c| c.verdict != Verdict::Supported);
    assert!(others.all(|c| c.verdict == Verdict::Undecided));
}

/// The records of [`queue_records`] with alternating configurations, to which the lint on grouped
/// runs does not apply.
fn queue_in_turns() -> Records {
    let mut records = queue_records();
    for (at, run) in (0..).zip(&mut records.runs) {
        run.order = 30 * run.repetition + at;
    }
    records
}

#[test]
fn what_is_supported_says_how_many_runs_would_establish_it() {
    let document = tried(&queue_in_turns(), &Options::default());
    let supported = document.comparisons.iter();
    let mut supported = supported.filter(|c| c.verdict == Verdict::Supported);
    // 2 / 70 is below 5 %, 2 / 20 is not.
    assert!(supported.all(|c| c.runs_needed == Some(4)));
    // With grouped runs, no number of runs would suffice.
    let document = tried(&queue_records(), &Options::default());
    assert!(document.comparisons.iter().all(|c| c.runs_needed.is_none()));
}

#[test]
fn metrics_declared_primary_are_corrected_apart_from_the_others() {
    let options = Options {
        primary: vec!["POWER/energy-pkg".into()],
        ..Options::default()
    };
    let document = tried(&queue_in_turns(), &options);
    let (family, others): (Vec<_>, Vec<_>) = document
        .comparisons
        .iter()
        .partition(|c| c.metric == "power/energy-pkg/");
    assert_eq!(family.len(), 8);
    assert!(family.iter().all(|c| c.primary) && others.iter().all(|c| !c.primary));
    // Four of six effects have a smaller p than Bypass on weston, which has the smallest of eight
    // rows: when it is tested, 10 of the 14 tests remain, at four fifths of alpha.
    let smallest = row(
        &document,
        "weston-simple-egl",
        "power/energy-pkg/",
        "Bypass",
    );
    close(smallest.p_t_adjusted, 10.0 * 0.002124900482 / 0.8);
    assert_eq!(smallest.verdict, Verdict::Supported);
    // 2 / C(2n, n) must reach 0.8 * 0.05: 2 / 70 does.
    assert_eq!(smallest.runs_needed, Some(4));
    // A row that is undecided among 126 tests is supported among 14.
    let irq = row(&document, "glxgears", "power/energy-pkg/", "IRQ");
    close(irq.p_t_adjusted, 8.0 * 0.003795138683 / 0.8);
    assert_eq!(irq.verdict, Verdict::Supported);
    let not = row(&document, "glxgears", "power/energy-pkg/", "No opt");
    assert_eq!(not.verdict, Verdict::Undecided);
}

#[test]
fn ten_runs_establish() {
    // `perf bench sched` before and after a change, ops/s.
    let base = [
        33452.0, 33541.0, 33365.0, 33455.0, 33449.0, 33616.0, 33479.0, 33594.0, 33458.0, 33704.0,
    ];
    let patched = [
        36485.0, 39405.0, 36858.0, 38047.0, 37866.0, 34922.0, 34388.0, 37203.0, 35363.0, 35180.0,
    ];
    let records = runs_of(
        "sched",
        "rate",
        "ops/s",
        &[("base", &base), ("patched", &patched)],
    );
    let document = tried(&records, &Options::default());
    let found = row(&document, "sched", "rate", "patched");
    assert_eq!(found.verdict, Verdict::Established);
    close(found.ratio, 1.090385624446102);
    close(found.ci.map(|ci| ci[0]), 1.0567360300557247);
    close(found.p_t, 0.00014623589094946138);
    close(found.p, 2.0 / 184_756.0);
    assert_eq!(found.runs_needed, None);
}

#[test]
fn values_that_are_not_positive_are_compared_as_differences() {
    let rows: [(&str, &[f64]); 2] = [("a", &[0.0, 1.0, 2.0, -1.0]), ("b", &[5.0, 6.0, 4.0, 7.0])];
    let document = tried(&runs_of("w", "gain", "dB", &rows), &Options::default());
    let found = row(&document, "w", "gain", "b");
    assert_eq!((found.scale, found.ratio), (Scale::Raw, None));
    close(found.difference, 5.0);
    // From scipy.stats.ttest_ind; a spread of more than a step already includes the rounding.
    close(found.ci.map(|ci| ci[0]), 2.7662853048352973);
    close(found.p_t, 0.001_547_421_214_540_938_6);
    close(found.p, 2.0 / 70.0);
    close(found.mean, 5.5);
    assert_eq!(found.verdict, Verdict::Established);
    assert_eq!(
        found.because.as_deref(),
        Some("contains zero or negative values: compared as differences")
    );
}

#[test]
fn a_single_run_gives_a_ratio_and_nothing_else() {
    let rows: [(&str, &[f64]); 3] = [("a", &[8.0]), ("b", &[2.0]), ("c", &[4.0, 4.1, 4.2])];
    let document = tried(&runs_of("w", "t", "s", &rows), &Options::default());
    let single = row(&document, "w", "t", "b");
    close(single.ratio, 0.25);
    assert_eq!((single.ci, single.p, single.p_t), (None, None, None));
    close(single.p_attainable, 1.0);
    assert_eq!(single.verdict, Verdict::Undecided);
    assert_eq!(
        single.because.as_deref(),
        Some("a single run per side: no interval and no test")
    );
    let three = row(&document, "w", "t", "c");
    close(three.p_attainable, 0.25);
    assert_eq!(three.n, Some(3));
}

#[test]
fn blocks_restrict_the_relabelings() {
    let rows: [(&str, &[f64]); 2] = [
        ("a", &[10.0, 20.0, 30.0, 40.0, 50.0, 60.0]),
        ("b", &[11.0, 22.0, 33.0, 44.0, 55.0, 66.0]),
    ];
    let mut records = runs_of("w", "t", "s", &rows);
    let whole = tried(&records, &Options::default());
    assert!(row(&whole, "w", "t", "b").p > Some(0.5));
    for (i, run) in (0_u32..).zip(&mut records.runs) {
        run.block = Some(i % 6);
    }
    let blocked = tried(&records, &Options::default());
    let found = row(&blocked, "w", "t", "b");
    close(found.p, 2.0 / 64.0);
    close(found.p_attainable, 2.0 / 64.0);
    assert_eq!(found.verdict, Verdict::Established);
}

#[test]
fn too_few_blocks_say_how_many_would_do() {
    let rows: [(&str, &[f64]); 2] = [("a", &[10.0, 10.1, 10.2]), ("b", &[20.0, 20.1, 20.3])];
    let mut records = runs_of("w", "t", "s", &rows);
    for (i, run) in (0_u32..).zip(&mut records.runs) {
        run.block = Some(i % 3);
    }
    let document = tried(&records, &Options::default());
    let found = row(&document, "w", "t", "b");
    close(found.p_attainable, 0.25);
    assert_eq!(found.verdict, Verdict::Supported);
    // One run of each per block: 2 / 2^6 is the first p of at most 0.05.
    assert_eq!(found.runs_needed, Some(6));
    assert_eq!(
        crate::common::lints(&document, "n-too-small"),
        ["w: 3 against 3 runs: the smallest attainable p is 0.25; 6 against 6 runs would do"]
    );
}

fn summary(configuration: &str, mean: f64, percent: Option<f64>, n: Option<u32>) -> Summary {
    Summary {
        configuration: configuration.into(),
        workload: "rt-app".into(),
        metric: "power/energy-cores/".into(),
        unit: "Joules".into(),
        mean,
        spread: percent.map(|p| Spread::StandardError(mean * p / 100.0)),
        n,
        place: assize_bundle::Place::default(),
    }
}

#[test]
fn the_p_that_a_tool_printed_for_a_line_makes_a_difference_likely_and_no_more() {
    let verdict = |p: f64, line: u32, n: u32| {
        let mut of_b = summary("b", 45.0, None, Some(n));
        of_b.spread = Some(Spread::PrintedP(p));
        of_b.place.line = line;
        let records = Records {
            summaries: vec![summary("a", 50.0, None, Some(n)), of_b],
            ..Records::default()
        };
        let document = tried(&records, &Options::default());
        row(&document, "rt-app", "power/energy-cores/", "b").verdict
    };
    assert_eq!(verdict(0.0005, 0, 10), Verdict::Supported);
    assert_eq!(verdict(0.421, 0, 10), Verdict::Undecided);
    // Of too few runs, or against another line.
    assert_eq!(verdict(0.0005, 0, 2), Verdict::Undecided);
    assert_eq!(verdict(0.0005, 7, 10), Verdict::Undecided);
}

#[test]
fn summaries_are_compared_by_their_standard_errors() {
    let records = Records {
        summaries: vec![
            summary("base", 52.67, Some(1.24), Some(10)),
            summary("EAS", 45.55, Some(1.07), Some(10)),
        ],
        ..Records::default()
    };
    let document = tried(&records, &Options::default());
    let found = row(&document, "rt-app", "power/energy-cores/", "EAS");
    assert_eq!(found.scale, Scale::Summary);
    close(found.ratio, 0.8648186824);
    close(found.ci.map(|ci| ci[0]), 0.8355225354);
    close(found.ci.map(|ci| ci[1]), 0.8951420478);
    close(found.p_t, 6.528342578e-08);
    assert_eq!((found.p, found.p_attainable), (None, None));
    assert_eq!(found.verdict, Verdict::Supported);
    assert_eq!((found.n, found.runs_needed), (Some(10), None));
}

#[test]
fn a_summary_without_spread_or_n_gives_a_ratio_only() {
    for (percent, n, why) in [
        (None, Some(10), "the spread of the runs is not given"),
        (Some(1.0), None, "the number of runs is not given"),
    ] {
        let records = Records {
            summaries: vec![
                summary("base", 50.0, percent, n),
                summary("EAS", 45.0, percent, n),
            ],
            ..Records::default()
        };
        let document = tried(&records, &Options::default());
        let found = row(&document, "rt-app", "power/energy-cores/", "EAS");
        close(found.ratio, 0.9);
        assert_eq!((found.ci, found.verdict), (None, Verdict::Undecided));
        assert!(found.because.as_deref().unwrap().starts_with(why));
    }
}

#[test]
fn a_summary_of_the_runs_beside_it_is_the_same_data() {
    let rows: [(&str, &[f64]); 2] = [("Base", &[10.0, 10.2, 10.4]), ("new", &[8.0, 8.2, 8.4])];
    let mut records = runs_of("rt-app", "power/energy-cores/", "Joules", &rows);
    records.summaries = vec![summary("BASE", 10.2, Some(1.0), Some(3))];
    let document = tried(&records, &Options::default());
    assert_eq!(document.configurations.len(), 2);
    let found = row(&document, "rt-app", "power/energy-cores/", "new");
    assert_eq!(found.scale, Scale::Log);
    assert!(found.because.as_deref().unwrap().contains("agrees"));
    assert!(crate::common::lints(&document, "summary-mismatch").is_empty());

    records.summaries[0].mean = 12.0;
    let document = tried(&records, &Options::default());
    assert_eq!(
        crate::common::lints(&document, "summary-mismatch"),
        [
            "rt-app power/energy-cores/ Base: the summary says 12.0 of 3 runs, the 3 runs \
             have the mean 10.2: the runs are used"
        ]
    );
}

#[test]
fn factors_give_the_effects_that_least_squares_give() {
    // numpy.linalg.lstsq on logarithms with columns of +-1/2 and their product.
    let document = tried(&queue_records(), &Options::default());
    assert_eq!(document.factorial.len(), 18);
    let found = document
        .factorial
        .iter()
        .find(|f| f.workload == "glxgears" && f.metric == "power/energy-pkg/")
        .unwrap();
    assert_eq!((found.n, found.residual_df), (12, 8.0));
    let expected = [
        ("bypass", 0.9387031915, 0.9195047151, 0.0001062160681),
        ("irq", 1.044402895, 1.023042635, 0.00127468141),
        ("bypass:irq", 1.109248707, 1.064339705, 0.0004120553373),
    ];
    for (effect, (name, ratio, low, p)) in found.effects.iter().zip(expected) {
        assert_eq!(effect.name, name);
        close(Some(effect.ratio), ratio);
        close(effect.ci.map(|ci| ci[0]), low);
        close(effect.p, p);
    }
}

#[test]
fn a_hole_in_the_grid_of_factors_is_a_lint() {
    let mut records = queue_records();
    records
        .runs
        .retain(|r| !(r.configuration == "IRQ" && r.workload == "glxgears"));
    let document = tried(&records, &Options::default());
    assert_eq!(document.factorial.len(), 9);
    assert_eq!(
        crate::common::lints(&document, "missing-cell"),
        [
            "glxgears: no runs of IRQ",
            "glxgears: no run with bypass=off, irq=on: the factors' effects are not computed",
        ]
    );
}

#[test]
fn the_baseline_is_named_by_any_unique_prefix() {
    let options = Options {
        baseline: Some("irq".into()),
        ..Options::default()
    };
    let document = tried(&queue_records(), &options);
    assert_eq!(document.baseline.as_deref(), Some("IRQ"));
    let found = row(&document, "glxgears", "power/energy-pkg/", "DRM sched");
    close(found.ratio, 1.0 / 1.070618826);
    let options = Options {
        baseline: Some("drm dep".into()),
        ..Options::default()
    };
    let error = assize_verdict::try_records(&queue_records(), &options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "baseline: no configuration \"drm dep\"; did you mean \"DRM sched\"? (there are: \
         DRM sched, No opt, Bypass, IRQ, IRQ plus bypass)"
    );
}

#[test]
fn a_workload_without_the_baseline_has_its_own_or_is_left_out() {
    let mut records = runs_of("one", "t", "s", &[("a", &[1.0, 2.0]), ("b", &[1.0, 3.0])]);
    let other = runs_of("two", "t", "s", &[("c", &[1.0, 2.0]), ("d", &[1.0, 3.0])]);
    records.runs.extend(other.runs);
    let document = tried(&records, &Options::default());
    assert_eq!(row(&document, "two", "t", "d").baseline, "c");
    assert_eq!(
        crate::common::lints(&document, "missing-baseline"),
        ["two: a was not run here: c is the baseline instead"]
    );
    let options = Options {
        baseline: Some("d".into()),
        ..Options::default()
    };
    let document = tried(&records, &options);
    assert_eq!(document.comparisons.len(), 1);
    assert_eq!(
        crate::common::lints(&document, "missing-cell"),
        ["one: the baseline d was not run on one: nothing is compared there"]
    );
}

/// The same times, one configuration in seconds and one in milliseconds.
fn in_two_units() -> Records {
    let mut records = runs_of("w", "time", "s", &[("a", &[1.0, 1.1, 1.2, 1.05])]);
    let other = [("b", &[2000.0, 2100.0, 2200.0, 2050.0][..])];
    records
        .runs
        .extend(runs_of("w", "time", "msec", &other).runs);
    records
}

#[test]
fn units_of_one_dimension_are_compared_and_what_was_recorded_stays() {
    let records = in_two_units();
    let options = Options {
        claims: vec!["a < b on time".into()],
        ..Options::default()
    };
    let document = tried(&records, &options);
    let found = row(&document, "w", "time", "b");
    let same = [
        ("a", &[1.0, 1.1, 1.2, 1.05][..]),
        ("b", &[2.0, 2.1, 2.2, 2.05]),
    ];
    let plain = tried(&runs_of("w", "time", "s", &same), &options);
    assert_eq!(found, row(&plain, "w", "time", "b"));
    assert_eq!(document.comparisons.len(), 1);
    assert_eq!(document.claims, plain.claims);
    assert!(lints(&document, "unit-unknown").is_empty());
    assert_eq!(document.runs, records.runs, "records keep what was printed");
}

#[test]
fn summaries_in_two_units_are_compared() {
    let summary = |configuration: &str, mean: f64, sd: f64, unit: &str| Summary {
        configuration: configuration.into(),
        workload: "w".into(),
        metric: "time".into(),
        unit: unit.into(),
        mean,
        spread: Some(Spread::StandardDeviation(sd)),
        n: Some(10),
        place: Place::default(),
    };
    let records = |of_b| Records {
        summaries: vec![summary("a", 1.25, 0.05, "s"), of_b],
        ..Records::default()
    };
    let mixed = tried(
        &records(summary("b", 750.0, 25.0, "ms")),
        &Options::default(),
    );
    let plain = tried(
        &records(summary("b", 0.75, 0.025, "s")),
        &Options::default(),
    );
    assert_eq!(mixed.comparisons, plain.comparisons);
    assert_eq!(mixed.comparisons.len(), 1);
    assert_eq!(mixed.lints, plain.lints);
}

#[test]
fn other_dimensions_are_not_compared_and_the_lint_says_so() {
    let mut records = in_two_units();
    for run in records
        .runs
        .iter_mut()
        .filter(|run| run.configuration == "b")
    {
        run.metrics[0].unit = "J".into();
    }
    let document = tried(&records, &Options::default());
    assert!(document.comparisons.is_empty());
    assert_eq!(
        lints(&document, "unit-unknown"),
        [
            "time: given in s and J, which cannot be converted into each other: each is judged separately"
        ]
    );
}
