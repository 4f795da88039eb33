#![allow(clippy::unwrap_used)] // A test may fail.

use std::collections::BTreeMap;

use super::*;
use crate::calls::Call;
use crate::counts::CountChecks;
use crate::{Profile, Why, WhyQuestion};

/// `f` with `own` instructions calls `g` with 150; `h` has the rest of `all`.
pub(crate) fn side(own: u64, all: u64) -> CountedRun {
    let leaf = |own| Call {
        own,
        entered: 2,
        callees: BTreeMap::new(),
    };
    let f = Call {
        callees: [("g".to_owned(), leaf(150))].into(),
        ..leaf(own)
    };
    let callees = [("f".to_owned(), f), ("h".to_owned(), leaf(all - own - 150))];
    let thread = Call {
        callees: callees.into(),
        ..Call::default()
    };
    CountedRun {
        run: 0,
        profile: Profile {
            instructions: all,
            checks: CountChecks {
                closed: true,
                cpus: 1,
                readings: 1,
                ..CountChecks::default()
            },
            ..Profile::default()
        },
        jobs: Some(2.0),
        metric: None,
        reached: Vec::new(),
        calls: Some(Calls {
            threads: [("t".to_owned(), thread)].into(),
        }),
        misses: None,
        functions: Vec::new(),
    }
}

fn explain(text: &str, names: &[&str], spoil: fn(&mut CountedRun)) -> ExplainedClaim {
    let with_names = |mut side: CountedRun| {
        side.functions = vec![names.iter().map(|name| (*name).to_owned()).collect()];
        side
    };
    let mut b = with_names(side(50, 800));
    spoil(&mut b);
    let pair = CountedPair {
        seed: 1,
        a: with_names(side(100, 1000)),
        b,
    };
    let asked = WhyQuestion {
        workload: "w".into(),
        a: "a".into(),
        b: "b".into(),
        metric: "busy_time".into(),
        reached: Vec::new(),
        claims: vec![ShareClaim::parse(text, "busy_time").unwrap()],
        hunks: Vec::new(),
        caches: None,
    };
    Why::compare(&asked, &[pair]).claims.pop().unwrap()
}

#[test]
fn what_a_function_explains_includes_what_it_calls() {
    // 250 of 1000 and 200 of 800: at most 250 of 800.
    let kept = explain("f: 31% on busy_time", &["f"], |_| ());
    assert_eq!(kept.outcome, ClaimOutcome::NotRefuted);
    assert_eq!((kept.has.share_a, kept.has.share_b), (25.0, 25.0));
    assert!((kept.has.at_most - 31.25).abs() < 1e-9, "{kept:?}");
    assert_eq!((kept.has.entered_a, kept.has.reached), (1.0, true));
    let refuted = explain("f: 32%", &["f"], |_| ());
    assert_eq!(refuted.outcome, ClaimOutcome::Refuted);
    let callee = explain("g: 20 %", &["g"], |_| ());
    assert_eq!(callee.outcome, ClaimOutcome::Refuted);
    assert!((callee.has.at_most - 18.75).abs() < 1e-9, "{callee:?}");
}

#[test]
fn functions_of_hunks_come_behind_those_of_claims() {
    let names = ["h", "f", "g"].map(|name| [name.to_owned()].into());
    let with_names = |mut side: CountedRun| {
        side.functions = [&names[..], &[std::collections::BTreeSet::new()]].concat();
        side
    };
    let hunk = |functions: &[&str], outside| DiffHunk {
        path: "x.c".into(),
        range: "-1 +1".into(),
        functions: functions.iter().map(|name| (*name).to_owned()).collect(),
        outside,
    };
    let asked = WhyQuestion {
        workload: "w".into(),
        a: "a".into(),
        b: "b".into(),
        metric: "busy_time".into(),
        reached: Vec::new(),
        claims: vec![ShareClaim::parse("h: 1 %", "busy_time").unwrap()],
        hunks: vec![
            hunk(&["f"], false),
            hunk(&[], true),
            hunk(&["g", "z"], false),
        ],
        caches: None,
    };
    assert_eq!(asked.functions().collect::<Vec<_>>(), ["h", "f", "g", "z"]);
    let pair = CountedPair {
        seed: 1,
        a: with_names(side(100, 1000)),
        b: with_names(side(50, 800)),
    };
    let why = Why::compare(&asked, &[pair]);
    let shares: Vec<Vec<(&str, f64, bool)>> = why
        .hunks
        .iter()
        .map(|hunk| {
            let functions = hunk.functions.iter();
            functions
                .map(|one| (&*one.name, one.has.at_most, one.has.known))
                .collect()
        })
        .collect();
    let want = [
        vec![("f", 31.25, true)],
        vec![],
        vec![("g", 18.75, true), ("z", 0.0, false)],
    ];
    assert_eq!(shares, want);
    assert!(why.hunks[1].outside);
}

#[test]
fn the_last_digit_of_a_figure_may_be_rounded() {
    // 150 of 800 is 18.75 %.
    for (text, outcome) in [
        ("g: 19%", ClaimOutcome::NotRefuted),
        ("g: 19.0%", ClaimOutcome::Refuted),
        ("g: 18.8%", ClaimOutcome::NotRefuted),
        ("g: 18.9%", ClaimOutcome::Refuted),
    ] {
        assert_eq!(explain(text, &["g"], |_| ()).outcome, outcome, "{text}");
    }
}

#[test]
fn a_function_that_is_not_reached_explains_nothing() {
    let all = explain("z: 1%", &["z"], |_| ());
    assert_eq!(all.outcome, ClaimOutcome::Refuted);
    assert!(!all.has.reached && all.has.at_most == 0.0);
}

#[test]
fn what_the_counts_do_not_say_is_undecided() {
    let undecided = |text: &str, names: &[&str], spoil: fn(&mut CountedRun), why: &str| {
        let all = explain(text, names, spoil);
        assert_eq!(all.outcome, ClaimOutcome::Undecided);
        assert!(all.why.unwrap().contains(why));
    };
    undecided("z: 1%", &[], |_| (), "no function of this name");
    undecided(
        "z: 1%",
        &["z"],
        |side| side.profile.checks.unclear = 1,
        "not every",
    );
    undecided(
        "z: 1%",
        &["z"],
        |side| side.profile.checks.cpus = 2,
        "2 CPUs",
    );
    let several: fn(&mut CountedRun) = |side| side.profile.checks.cpus = 2;
    let all = explain("z: 1% on guest_instructions", &["z"], several);
    assert_eq!(all.outcome, ClaimOutcome::Refuted);
}

#[test]
fn a_claim_names_a_function_a_figure_and_a_metric() {
    let claim = ShareClaim::parse("a.isra.0 : -2.5 % on guest_instructions", "busy_time").unwrap();
    assert_eq!(
        (&*claim.function, claim.percent, &*claim.metric),
        ("a.isra.0", 2.5, "guest_instructions")
    );
    for (text, words) in [
        ("f 20%", "no colon"),
        ("f: 20", "no %"),
        (": 20%", "no name"),
        ("f(): 20%", "no name"),
        ("f: x%", "no figure"),
        ("f: 0%", "no figure"),
        ("f: 1e3%", "no figure"),
        ("f: inf%", "no figure"),
        ("f: 20% of busy_time", "no 'on METRIC'"),
        ("f: 20% on latency", "valid: busy_time"),
    ] {
        let error = ShareClaim::parse(text, "busy_time").unwrap_err();
        assert!(error.contains(words), "{error}");
    }
}
