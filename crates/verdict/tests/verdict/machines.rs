//! One experiment on several machines.

use assize_bundle::{Across, Records};
use assize_verdict::{Agreement, Document, Options, Outcome, Scale, TTest, Verdict};

use crate::common::{BASE, QUEUE, lints, row, runs_of, tried};

/// The noise of a noisier machine, on the log scale.
const NOISE: [f64; 8] = [0.4, -0.2, 0.1, -0.5, 0.3, 0.2, -0.4, 0.1];

/// One machine with its values of base and queue, in blocks of one run each.
type MachineValues<'m> = (&'m str, Vec<f64>, Vec<f64>);

fn records_on(machines: &[MachineValues<'_>]) -> Records {
    let mut all = Records::default();
    for (number, (name, base, queue)) in (0u32..).zip(machines) {
        let mut records = runs_of("pipe", "time", "s", &[("base", base), ("queue", queue)]);
        for run in &mut records.runs {
            run.machine = Some((*name).into());
            run.block = Some(100 * number + run.repetition);
            run.order += 1000 * number;
        }
        all.runs.extend(records.runs);
    }
    all
}

fn scaled(values: &[f64], by: f64, noise: f64) -> Vec<f64> {
    let pairs = values.iter().zip(NOISE);
    pairs.map(|(v, n)| v * by * (noise * n).exp()).collect()
}

fn three() -> Records {
    records_on(&[
        ("alpha", BASE.to_vec(), QUEUE.to_vec()),
        ("beta", scaled(&BASE, 3.0, 0.0), scaled(&QUEUE, 3.0, 0.03)),
        (
            "gamma",
            scaled(&BASE, 0.5, 0.0),
            scaled(&QUEUE, 0.5 * (-0.01_f64).exp(), 0.05),
        ),
    ])
}

/// Two machines on which the effect has opposite directions.
fn opposite() -> Records {
    records_on(&[
        ("alpha", BASE.to_vec(), QUEUE.to_vec()),
        ("beta", BASE.to_vec(), scaled(&BASE, 1.2, 0.02)),
    ])
}

fn close(value: Option<f64>, wanted: f64) {
    let value = value.unwrap_or(f64::NAN);
    assert!(
        (value - wanted).abs() <= 1e-6 * wanted.abs(),
        "{value} is not {wanted}"
    );
}

fn ends(ci: Option<[f64; 2]>, wanted: [f64; 2]) {
    close(ci.map(|ci| ci[0]), wanted[0]);
    close(ci.map(|ci| ci[1]), wanted[1]);
}

fn sentence_texts(document: &Document) -> Vec<&str> {
    let sentences = document.sentences.iter();
    sentences.map(|sentence| sentence.text.as_str()).collect()
}

#[test]
fn machines_are_compared_each_and_pooled() {
    let document = tried(&three(), &Options::default());
    assert_eq!(document.machines.len(), 3);
    let ratios: Vec<Option<f64>> = document.machines.iter().map(|on| on.ratio).collect();
    // scipy.stats.ttest_rel of the logarithms on each.
    close(ratios[0], 0.9018472106954953);
    close(ratios[2], 0.8928736810162261);
    close(document.machines[1].p_t, 2.2312137368481106e-07);
    close(document.machines[0].weight, 0.6849876233472977);
    // Three machines have 2^24 relabelings together, so this is a Monte Carlo
    // figure; six standard deviations of it are 0.0017.
    let p = document.machines[0].p.unwrap();
    assert!((p - 2.0 / 256.0).abs() < 0.0017, "{p}");
    let family = &document.families[0];
    assert!(!family.exact && family.relabelings == 2.0_f64.powi(24));
    close(document.machines[0].p_attainable, 2.0 / 256.0);
    // Computed from the formulas of docs/statistics.md in numpy and scipy.
    let pooled = &document.pooled[0];
    assert_eq!((pooled.machines, pooled.shown_on), (3, 3));
    assert_eq!(pooled.agreement, Agreement::Agree);
    close(pooled.ratio, 0.9008857944489853);
    ends(pooled.ci, [0.8956397464601557, 0.9061625702160427]);
    close(pooled.p_t, 4.419397835310123e-15);
    close(pooled.q, 1.6494534125738727);
    close(pooled.q_p, 0.4383547757004914);
    close(pooled.q_p_welch, 0.47898217426879247);
    assert_eq!((pooled.tau2, pooled.i2), (Some(0.0), Some(0.0)));
    close(pooled.tau2_ci.map(|ci| ci[1]), 0.001274487300025703);
    close(pooled.i2_ci.map(|ci| ci[1]), 0.9813114610545518);
    close(pooled.ratio_random, 0.9008857944489853);
    ends(pooled.ci_random, [0.891617383939994, 0.9102505505821318]);
    ends(pooled.prediction, [0.8737892542344631, 0.9288226087777053]);
    // None of 99,999 draws is as extreme.
    close(pooled.p, 1.0 / 100_000.0);
}

#[test]
fn the_comparison_is_the_pooled_one() {
    let document = tried(&three(), &Options::default());
    let found = row(&document, "pipe", "time", "queue");
    let pooled = &document.pooled[0];
    assert_eq!((found.n_baseline, found.n), (Some(24), Some(24)));
    assert_eq!(found.t_test, Some(TTest::Pooled));
    assert_eq!(
        (found.ratio, found.ci, found.p, found.verdict),
        (pooled.ratio, pooled.ci, pooled.p, Verdict::Established)
    );
    assert_eq!(
        sentence_texts(&document),
        ["time is lower on pipe with queue (0.901 [0.894, 0.908] on all 3 machines)."]
    );
}

#[test]
fn one_machine_is_no_block_and_adds_nothing_to_the_document() {
    let records = records_on(&[("alpha", BASE.to_vec(), QUEUE.to_vec())]);
    let document = tried(&records, &Options::default());
    assert!(document.machines.is_empty() && document.pooled.is_empty());
    let found = row(&document, "pipe", "time", "queue");
    assert_eq!(found.t_test, Some(TTest::Paired));
}

#[test]
fn machines_that_contradict_each_other_are_not_pooled_silently() {
    let options = Options {
        claims: vec![
            "queue > base on time".into(),
            "queue = base on time".into(),
            "base < queue on time".into(),
        ],
        ..Options::default()
    };
    let document = tried(&opposite(), &options);
    let pooled = &document.pooled[0];
    assert_eq!(pooled.agreement, Agreement::Opposite);
    assert_eq!(pooled.verdict, Verdict::Undecided);
    let alone = document.machines.iter().map(|on| on.verdict);
    assert_eq!(alone.collect::<Vec<_>>(), [Verdict::Established; 2]);
    let found = row(&document, "pipe", "time", "queue");
    assert_eq!(found.verdict, Verdict::Undecided);
    assert_eq!(found.runs_needed, None, "more runs would not help");
    let first = sentence_texts(&document)[0];
    assert!(
        first.starts_with(
            "The machines disagree on time on pipe with queue: it is higher on beta (1.2"
        ) && first.contains("lower on alpha (0.90"),
        "{first}"
    );
    for claim in &document.claims {
        assert_eq!(claim.outcome, Outcome::Undecided, "{claim:?}");
        assert!(claim.because.contains("machines disagree"), "{claim:?}");
    }
    // The words are about the claim's first configuration relative to its second.
    let because = |at: usize| document.claims[at].because.as_str();
    assert!(because(0).contains("higher on beta (1.2"), "{}", because(0));
    assert!(because(2).contains("lower on beta (0.8"), "{}", because(2));
}

#[test]
fn effects_of_unequal_size_are_said_to_be_so() {
    let records = records_on(&[
        ("alpha", BASE.to_vec(), QUEUE.to_vec()),
        ("beta", BASE.to_vec(), scaled(&QUEUE, 0.7, 0.02)),
    ]);
    let document = tried(&records, &Options::default());
    let pooled = &document.pooled[0];
    assert_eq!(pooled.agreement, Agreement::Differ);
    // Each of these machines shows the effect; others are unknown.
    assert_eq!(pooled.verdict, Verdict::Supported);
    // Two machines give almost no information about others.
    let ci = pooled.ci_random.unwrap();
    assert!(ci[0] < 0.2 && ci[1] > 1.0, "{ci:?}");
    let sentences = sentence_texts(&document);
    assert!(
        sentences.iter().any(|text| text.starts_with(
            "The change of time on pipe with queue differs between the machines (p < 0.0001)"
        )),
        "{sentences:?}"
    );
    // There is no single effect size for all machines.
    assert_eq!(
        sentences[0],
        "time is lower on pipe with queue (0.631 to 0.902 on both machines) (supported, not established)."
    );
}

#[test]
fn a_mean_of_unequal_effects_is_not_equivalence() {
    // Whole seconds would be too coarse to be equivalent.
    let base = || {
        BASE.map(|value| value * (1.0 + 0.01 * value.sin()))
            .to_vec()
    };
    let near = |by: f64| scaled(&base(), by, 0.002);
    let wide = Options {
        margin: 0.04,
        ..Options::default()
    };
    let alike = records_on(&[("alpha", base(), near(1.0)), ("beta", base(), near(1.0))]);
    assert_eq!(tried(&alike, &wide).pooled[0].verdict, Verdict::Equivalent);
    // With a margin of 4 %: 5 % more on one machine and none on the other.
    let unlike = records_on(&[
        ("alpha", base(), near(1.0)),
        ("beta", base(), scaled(&base(), 1.002, 0.05)),
        ("gamma", base(), near(1.02)),
    ]);
    let document = tried(&unlike, &wide);
    let pooled = &document.pooled[0];
    assert_eq!(pooled.agreement, Agreement::Differ);
    assert_ne!(pooled.verdict, Verdict::Equivalent);
}

#[test]
fn a_noisy_machine_does_not_drown_a_quiet_one() {
    let records = records_on(&[
        ("quiet", BASE.to_vec(), QUEUE.to_vec()),
        ("noisy", BASE.to_vec(), scaled(&QUEUE, 1.0, 2.0)),
    ]);
    let document = tried(&records, &Options::default());
    assert_eq!(document.machines[1].verdict, Verdict::Undecided);
    let pooled = &document.pooled[0];
    assert_eq!((pooled.verdict, pooled.shown_on), (Verdict::Established, 1));
    assert!(sentence_texts(&document)[0].contains("on 1 of 2 machines"));
}

#[test]
fn levels_of_machines_are_neither_drift_nor_outliers() {
    let mut records = three();
    let far = records_on(&[(
        "far",
        scaled(&BASE[..2], 1000.0, 0.0),
        scaled(&QUEUE[..2], 1000.0, 0.0),
    )]);
    for mut run in far.runs {
        run.block = run.block.map(|block| block + 5000);
        run.order += 5000;
        records.runs.push(run);
    }
    let document = tried(&records, &Options::default());
    assert!(lints(&document, "outlier-run").is_empty());
    assert!(lints(&document, "drift").is_empty());
}

#[test]
fn a_machine_without_one_side_is_left_out_and_named() {
    let mut records = three();
    records
        .runs
        .retain(|run| run.configuration == "base" || run.machine.as_deref() != Some("gamma"));
    let document = tried(&records, &Options::default());
    assert_eq!(document.pooled[0].machines, 2);
    let because = document.pooled[0].because.as_deref().unwrap();
    assert!(
        because.contains("gamma left out: no runs of both configurations there"),
        "{because}"
    );
}

#[test]
fn without_noise_there_are_no_weights_and_no_interval() {
    let constant = |by: f64| vec![5.0 * by; 4];
    let records = records_on(&[
        ("alpha", constant(1.0), constant(0.9)),
        ("beta", constant(2.0), constant(1.8)),
    ]);
    let document = tried(&records, &Options::default());
    let pooled = &document.pooled[0];
    close(pooled.ratio, 0.9);
    assert_eq!(
        (pooled.ci, pooled.q, pooled.agreement),
        (None, None, Agreement::Agree)
    );
    close(pooled.p, 2.0 / 256.0);
    assert!(
        pooled
            .because
            .as_deref()
            .unwrap()
            .contains("no run varies on")
    );
}

#[test]
fn values_that_are_not_all_positive_are_pooled_as_differences() {
    let mut base = BASE.to_vec();
    base[0] = 0.0;
    let records = records_on(&[
        ("alpha", base, QUEUE.to_vec()),
        ("beta", BASE.to_vec(), scaled(&QUEUE, 1.0, 0.02)),
    ]);
    let document = tried(&records, &Options::default());
    let pooled = &document.pooled[0];
    assert_eq!((pooled.scale, pooled.ratio), (Scale::Raw, None));
    assert!(pooled.difference.is_some() && pooled.difference_random.is_some());
    assert!(document.machines.iter().all(|on| on.scale == Scale::Raw));
}

#[test]
fn kernels_are_called_kernels() {
    let mut records = three();
    records.across = Across::Kernels;
    let document = tried(&records, &Options::default());
    assert!(sentence_texts(&document)[0].contains("on all 3 kernels"));
    let json = serde_json::to_value(&document).unwrap();
    assert_eq!(json["across"], "kernels");
    let back: Document = serde_json::from_value(json).unwrap();
    assert_eq!(back, document);
}

#[test]
fn factors_are_fitted_with_the_block_or_the_machine_as_block() {
    let mut records = Records {
        factors: vec!["bypass".into()],
        ..three()
    };
    for (name, on) in [("base", false), ("queue", true)] {
        records.configurations.push(assize_bundle::Configuration {
            name: name.into(),
            label: name.into(),
            factors: [("bypass".to_owned(), on)].into(),
            ..assize_bundle::Configuration::default()
        });
    }
    let document = tried(&records, &Options::default());
    let fit = &document.factorial[0];
    // 48 runs, two parameters, and one for each of 24 blocks but the first.
    assert_eq!((fit.n, fit.residual_df), (48, 23.0));
    assert_eq!(fit.effects[0].verdict, Verdict::Established);
    // Without blocks, machines are the blocks: two parameters for three machines.
    for run in &mut records.runs {
        run.block = None;
    }
    let document = tried(&records, &Options::default());
    let fit = &document.factorial[0];
    assert_eq!((fit.n, fit.residual_df), (48, 44.0));
    // The runs of a machine vary by more than the effect.
    assert_eq!(fit.effects[0].verdict, Verdict::Undecided);
}

#[test]
fn an_effect_somewhere_is_no_common_effect() {
    // A large effect on a noisy machine, and almost none on a quiet one, which has more weight.
    let little = (0..8).map(|at| 0.001 * (f64::from(at) - 3.5));
    let quiet: Vec<f64> = BASE.iter().zip(little).map(|(v, x)| v * x.exp()).collect();
    let records = records_on(&[
        ("quiet", BASE.to_vec(), quiet),
        ("noisy", BASE.to_vec(), scaled(&BASE, 3.0, 1.0)),
    ]);
    let document = tried(&records, &Options::default());
    assert_eq!(document.machines[1].verdict, Verdict::Established);
    let pooled = &document.pooled[0];
    assert_eq!(pooled.agreement, Agreement::Differ);
    assert!(
        pooled.ci.is_some_and(|ci| ci[0] < 1.0 && ci[1] > 1.0),
        "{pooled:?}"
    );
    assert_eq!(pooled.verdict, Verdict::Undecided);
}

#[test]
fn a_claim_about_another_pair_is_as_sure_as_its_row_would_be() {
    let mut records = records_on(&[
        ("alpha", BASE.to_vec(), QUEUE.to_vec()),
        ("beta", BASE.to_vec(), scaled(&QUEUE, 0.7, 0.02)),
    ]);
    // The claim is about two configurations that are both compared with this one.
    let mut first: Vec<_> = records.runs.clone();
    first.retain(|run| run.configuration == "base");
    for run in &mut first {
        run.configuration = "first".into();
    }
    records.runs.splice(0..0, first);
    let claims = Options {
        claims: vec!["queue < base on time".into()],
        ..Options::default()
    };
    let of_claim = tried(&records, &claims);
    assert_eq!(of_claim.baseline.as_deref(), Some("first"));
    let baseline = Options {
        baseline: Some("base".into()),
        ..Options::default()
    };
    let of_row = tried(&records, &baseline);
    let row = row(&of_row, "pipe", "time", "queue");
    // Each machine shows the effect; others are unknown.
    assert_eq!(row.verdict, Verdict::Supported);
    let claim = &of_claim.claims[0];
    assert_eq!(claim.outcome, Outcome::Upheld, "{claim:?}");
    assert!(
        claim.because.contains("supported, not established"),
        "{claim:?}"
    );
}
