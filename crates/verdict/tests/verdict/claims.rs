//! Claims about runs, about events, and without any data.

use assize_bundle::{Records, Statement};
use assize_verdict::{Claim, ClaimOrigin, Error, Options, Outcome, try_records};

use crate::common::{hwlat_records, queue_records, runs_of};

fn claims(records: &Records, texts: &[&str]) -> Vec<Claim> {
    let options = Options {
        claims: texts.iter().map(|t| (*t).to_owned()).collect(),
        ..Options::default()
    };
    try_records(records, &options).unwrap().claims
}

fn claim(records: &Records, text: &str) -> (Outcome, String) {
    let found = claims(records, &[text]).remove(0);
    assert_eq!(found.text, text);
    (found.outcome, found.because)
}

/// Five runs of four configurations on two workloads: `fast` is 10 % below `slow`, `same` equals
/// `slow`, and `odd` is above `slow` on `two`.
fn five_runs() -> Records {
    let slow = [100.0, 100.1, 100.2, 100.3, 100.4];
    let fast = slow.map(|v| 0.9 * v);
    let above = slow.map(|v| 1.1 * v);
    let same = slow.map(|v| v + 0.05);
    let rows = |odd| -> [(&str, &[f64]); 4] {
        [
            ("slow", &slow),
            ("fast", &fast),
            ("same", &same),
            ("odd", odd),
        ]
    };
    let mut records = runs_of("one", "time", "s", &rows(&fast));
    records
        .runs
        .extend(runs_of("two", "time", "s", &rows(&above)).runs);
    records
}

#[test]
fn a_claim_is_upheld_or_refuted_by_its_direction() {
    let records = five_runs();
    let (outcome, because) = claim(&records, "fast < slow on time in one");
    assert_eq!(outcome, Outcome::Upheld);
    assert_eq!(
        because,
        "one: ratio 0.900 [0.898, 0.902], p 0.00794, 5 against 5 runs; established"
    );
    assert_eq!(claim(&records, "fast > slow on time").0, Outcome::Refuted);
    // Two configurations, neither of which is the baseline.
    assert_eq!(claim(&records, "same > fast on time").0, Outcome::Upheld);
    assert_eq!(claim(&records, "same < fast on time").0, Outcome::Refuted);
}

#[test]
fn declared_claims_come_first_and_stay_declared() {
    let mut records = five_runs();
    records.claims = vec![
        "fast < slow on time in one".into(),
        "same = slow on time in one".into(),
    ];
    let found = claims(
        &records,
        &["odd > slow on time in two", " FAST  < slow on time in one "],
    );
    let found: Vec<_> = found
        .iter()
        .map(|one| (one.text.as_str(), one.origin))
        .collect();
    let (declared, post_hoc) = (ClaimOrigin::Declared, ClaimOrigin::PostHoc);
    assert_eq!(
        found,
        [
            ("fast < slow on time in one", declared),
            ("same = slow on time in one", declared),
            ("odd > slow on time in two", post_hoc),
        ]
    );
    assert_eq!(claims(&five_runs(), &[]), []);
}

#[test]
fn a_declared_claim_about_what_was_not_run_is_undecided() {
    let mut records = five_runs();
    let declared = "fast < gone on time";
    records.claims = vec![declared.into(), "fast < slow on time in one".into()];
    let found = claims(&records, &[]);
    assert_eq!(found[0].outcome, Outcome::Undecided);
    assert_eq!(
        found[0].because,
        "the claim cannot be tested on these runs: no configuration \"gone\"; did you mean \
         \"same\"? (there are: slow, fast, same, odd)"
    );
    // The other claim is not affected.
    let alone = claims(&five_runs(), &["fast < slow on time in one"]);
    assert_eq!(found[1].because, alone[0].because);
    // As a post-hoc claim it is an error.
    records.claims.clear();
    let options = Options {
        claims: vec![declared.into()],
        ..Options::default()
    };
    assert!(try_records(&records, &options).is_err());
}

#[test]
fn a_margin_is_read_and_needs_its_sign() {
    let records = five_runs();
    assert_eq!(
        claim(&records, "fast < slow - 5% on time in one").0,
        Outcome::Upheld
    );
    let options = Options {
        claims: vec!["fast <= slow on time".into()],
        ..Options::default()
    };
    let error = try_records(&records, &options).unwrap_err().to_string();
    assert!(error.ends_with("`<=` needs a margin: write `A <= B + 2%`, or `A < B`"));
}

#[test]
fn several_workloads_must_all_agree() {
    let records = five_runs();
    assert_eq!(claim(&records, "fast < slow on time").0, Outcome::Upheld);
    // Established on one workload, and the opposite on the other, so refuted.
    assert_eq!(claim(&records, "odd < slow on time").0, Outcome::Refuted);
    assert_eq!(
        claim(&records, "odd < slow on time in two").0,
        Outcome::Refuted
    );
    assert_eq!(
        claim(&records, "odd < slow on time in one").0,
        Outcome::Upheld
    );
    // Upheld on one workload, undecided on the other.
    let mut records = records;
    let noise = [80.0, 120.0, 95.0, 130.0, 75.0];
    let odd = records.runs.iter_mut();
    let odd = odd.filter(|run| run.workload == "two" && run.configuration == "odd");
    for (run, value) in odd.zip(noise) {
        run.metrics["time"].value = value;
    }
    assert_eq!(claim(&records, "odd < slow on time").0, Outcome::Undecided);
}

#[test]
fn equality_is_upheld_by_equivalence_and_refuted_by_a_difference() {
    let records = five_runs();
    let (outcome, because) = claim(&records, "same = slow on time");
    assert_eq!(outcome, Outcome::Upheld);
    assert!(
        because.ends_with("equivalent within \u{b1}1 %"),
        "{because}"
    );
    assert_eq!(
        claim(&records, "fast = slow on time in one").0,
        Outcome::Refuted
    );
    // Both are shown to be equal, so "less" is refuted.
    assert_eq!(claim(&records, "same < slow on time").0, Outcome::Refuted);
    // Four runs of each cannot show equality.
    let mut few = records;
    few.runs.retain(|run| run.repetition < 5);
    assert_eq!(claim(&few, "same = slow on time").0, Outcome::Undecided);
}

#[test]
fn a_claim_about_a_row_is_as_sure_as_the_row_however_many_are_made() {
    let records = five_runs();
    let texts = ["fast < slow on time in one", "odd > slow on time in two"];
    let alone = texts.map(|text| claims(&records, &[text]).remove(0));
    assert!(alone.iter().all(|c| c.outcome == Outcome::Upheld));
    assert_eq!(claims(&records, &texts), alone);
    // With three runs of each, only the t test finds the difference, for row and claim.
    let mut records = records;
    records.runs.retain(|run| run.repetition < 4);
    let (outcome, because) = claim(&records, texts[0]);
    assert_eq!(outcome, Outcome::Upheld);
    assert!(because.contains("supported, not established"), "{because}");
}

#[test]
fn three_runs_can_support_a_claim_and_what_they_do_not_is_undecided() {
    // The t tests of 72 rows and 54 effects are corrected together: for energy-cores with IRQ, p is
    // 0.000231 and 0.0270 corrected; for energy-pkg, 0.00380 and 0.364 (scipy).
    let records = queue_records();
    let (outcome, because) = claim(&records, "irq < drm on power/energy-cores in glx");
    assert_eq!(outcome, Outcome::Upheld);
    assert_eq!(
        because,
        "glxgears: ratio 0.707 [0.687, 0.727], p of t 0.000231 (0.027 corrected), 3 against 3 \
         runs; supported, not established"
    );
    let (outcome, because) = claim(&records, "irq > drm on power/energy-cores in glx");
    assert_eq!(outcome, Outcome::Refuted);
    assert!(because.contains("supported, not established"), "{because}");
    let (outcome, because) = claim(&records, "irq > drm on power/energy-pkg in glx");
    assert_eq!(outcome, Outcome::Undecided);
    assert_eq!(
        because,
        "glxgears: ratio 1.07 [1.04, 1.10], p of t 0.0038 (0.364 corrected), 3 against 3 runs, \
         points the claimed way; so few runs cannot reach p <= 0.05 (smallest attainable p: \
         0.1); 4 runs a side could"
    );
}

#[test]
fn events_of_one_exposure_decide_no_claim() {
    let records = hwlat_records(Some(300.0));
    for text in [
        "V6.6 + no Write < v6.6 on hwlat",
        "V6.6 < 'V6.6 + no Write Combine' on hwlat",
        "V6.6 + clflush < V6.6 on hwlat in fbcon",
    ] {
        let (outcome, because) = claim(&records, text);
        assert_eq!(outcome, Outcome::Undecided);
        assert!(because.contains("events may come in clusters"), "{because}");
    }
    let (_, because) = claim(&records, "V6.6 + no Write < v6.6 on hwlat");
    assert!(
        because.starts_with("fbcon: 0 in 300 s against 6 in 300 s, p 0.0313, ratio 0; "),
        "{because}"
    );
    let (_, because) = claim(&records, "V6.6 + clflush < V6.6 on hwlat in fbcon");
    assert!(because.contains("at these rates about"), "{because}");
    let (outcome, because) = claim(&hwlat_records(None), "V6.6 + no < V6.6 on hwlat");
    assert_eq!(outcome, Outcome::Undecided);
    assert!(because.contains("without the exposure"), "{because}");
}

#[test]
fn statements_alone_decide_nothing() {
    let records = Records {
        statements: vec![Statement {
            configuration: Some("new".into()),
            workload: None,
            metric: "throughput".into(),
            unit: String::new(),
            value: 1.2,
            normalised_to: Some("old".into()),
            not_admitted: false,
            place: assize_bundle::Place::default(),
        }],
        ..Records::default()
    };
    let (outcome, because) = claim(&records, "new > old on throughput");
    assert_eq!(outcome, Outcome::Undecided);
    assert!(because.starts_with("no claim can be judged"));
}

#[test]
fn a_metric_that_one_side_lacks_leaves_the_claim_undecided() {
    let mut records = runs_of("w", "time", "s", &[("a", &[1.0, 2.0]), ("b", &[1.0, 2.0])]);
    records
        .runs
        .extend(runs_of("w", "power", "W", &[("a", &[1.0, 2.0])]).runs);
    let (outcome, because) = claim(&records, "a < b on power");
    assert_eq!(outcome, Outcome::Undecided);
    assert!(because.starts_with("no workload has runs of this metric"));
}

#[test]
fn a_wrong_claim_names_the_character() {
    let error = |text: &str| {
        let options = Options {
            claims: vec![text.into()],
            ..Options::default()
        };
        try_records(&five_runs(), &options).unwrap_err()
    };
    assert!(matches!(
        error("fast slow"),
        Error::Claim { position: 10, .. }
    ));
    assert!(matches!(
        error("fast < slwo on time"),
        Error::ClaimName { position: 8, .. }
    ));
    assert_eq!(
        error("fast < slow on tame").to_string(),
        "claim \"fast < slow on tame\": character 16: no metric \"tame\"; did you mean \
         \"time\"? (there are: time)"
    );
    assert!(error("s < fast on time").to_string().contains("slow, same"));
}
