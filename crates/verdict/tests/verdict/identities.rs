//! The differences between configurations, and configurations that are the same.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use assize_bundle::{Configuration, IdentityPart, LevelSettings, Records, RunIdentity};
use assize_verdict::{Document, Options, Outcome, Verdict, try_records};

use crate::common::{around, lints, runs_of};

fn part(kind: &str, name: &str, value: &str) -> IdentityPart {
    IdentityPart {
        kind: kind.into(),
        name: name.into(),
        value: Some(value.into()),
    }
}

/// Two configurations on two workloads, with these modules, settings and
/// kinds that may differ.
fn records(modules: [&str; 2], nice: [&str; 2], varies: &[&str]) -> Records {
    let mut records = Records::default();
    for workload in ["pipe", "sync"] {
        let values = [[1.0, 1.1, 1.2, 1.3], [2.0, 2.1, 2.2, 2.3]];
        let more = runs_of(
            workload,
            "time",
            "ns",
            &[("stock", &values[0]), ("slow", &values[1])],
        );
        records.runs.extend(more.runs);
    }
    for (at, run) in records.runs.iter_mut().enumerate() {
        run.order = u32::try_from(at).unwrap();
    }
    for (at, name) in ["stock", "slow"].into_iter().enumerate() {
        records.level_settings.push(LevelSettings {
            configuration: name.into(),
            settings: vec![
                part("workload", "pipe scheduling nice", nice[at]),
                part("workload", "sync scheduling nice", "0"),
            ],
            varies: varies.iter().map(ToString::to_string).collect(),
        });
        for workload in ["pipe", "sync"] {
            let runs = records.runs.iter();
            let own = runs.filter(|run| run.configuration == name && run.workload == workload);
            records.identities.push(RunIdentity {
                configuration: name.into(),
                workload: workload.into(),
                machine: None,
                runs: own.map(|run| run.order).collect(),
                parts: vec![
                    part("library", &format!("/{name}/libfoo.so.1"), "77"),
                    part("module", "gpu_sched", modules[at]),
                ],
            });
        }
    }
    records
}

fn tried(records: &Records) -> Document {
    try_records(records, &Options::default()).unwrap()
}

const A: &str = "4f1c00000000aaaa";
const B: &str = "9a0200000000bbbb";

#[test]
fn the_module_that_differs_is_named_in_one_line() {
    let document = tried(&records([A, B], ["0", "0"], &["module"]));
    let [difference] = &document.identity_differences[..] else {
        panic!("{:?}", document.identity_differences)
    };
    assert_eq!(
        difference.sentence(),
        "slow differs from stock only in: module gpu_sched (9a0200000000 instead of 4f1c00000000)"
    );
    assert!(difference.parts[0].by_level);
    assert_eq!(document.comparisons.len(), 2);
}

#[test]
fn configurations_that_are_the_same_on_every_workload_are_not_compared() {
    let same = records([A, A], ["0", "0"], &[]);
    let document = tried(&same);
    assert_eq!(document.comparisons, []);
    assert_eq!(document.same.len(), 1);
    assert_eq!(
        document.sentences[0].text,
        "No difference: slow has the same files and settings as stock."
    );
    assert!(document.lints.iter().all(|lint| lint.code != "same-run"));
    // Only the repeated baseline may be identical.
    let mut twice = same.clone();
    twice.configurations.push(Configuration {
        repeats: Some("stock".into()),
        ..named("slow")
    });
    assert_eq!(tried(&twice).noise_floor.len(), 2);
    // Without recorded settings, identity cannot be determined.
    let mut silent = same;
    silent.level_settings.clear();
    assert_eq!(tried(&silent).comparisons.len(), 2);
    assert_eq!(tried(&silent).same, []);
}

#[test]
fn claims_about_configurations_that_were_not_run_are_decided_by_their_kind() {
    let mut same = records([A, A], ["0", "0"], &[]);
    let claims = [
        ("slow < stock on time", Outcome::Refuted),
        ("slow > stock + 2% on time in pipe", Outcome::Refuted),
        ("slow <= stock + 2% on time", Outcome::Upheld),
        ("slow = stock on time", Outcome::Upheld),
    ];
    same.claims = claims.iter().map(|(text, _)| (*text).into()).collect();
    let with_runs = tried(&same);
    for (records, runs) in [(&mut same.clone(), 16), (&mut same, 0)] {
        if runs == 0 {
            records.configurations = ["stock", "slow"].map(named).into();
            records.workloads = vec!["pipe".into(), "sync".into()];
            records.runs.clear();
            records.identities.clear();
            records.same.insert("slow".into(), "stock".into());
        }
        let document = tried(records);
        assert_eq!(document.runs.len(), runs);
        assert_eq!(document.same, with_runs.same);
        assert_eq!(document.sentences, with_runs.sentences);
        assert!(
            runs > 0 || document.lints.is_empty(),
            "{:?}",
            document.lints
        );
        let found = document.claims.iter();
        let found: Vec<_> = found.map(|one| (one.text.as_str(), one.outcome)).collect();
        assert_eq!(found, claims);
    }
}

fn named(name: &str) -> Configuration {
    Configuration {
        name: name.into(),
        ..Configuration::default()
    }
}

#[test]
fn it_does_not_matter_where_the_same_library_lies() {
    let with = |digests: [&str; 2]| {
        let mut records = records([A, A], ["0", "0"], &["environment"]);
        for one in &mut records.identities {
            let at = usize::from(one.configuration == "slow");
            let directory = ["/opt/a", "/opt/b"][at];
            let library = format!("{directory}/libx.so.1");
            one.parts.extend([
                part("environment", "w LD_LIBRARY_PATH", directory),
                part("library", &library, digests[at]),
            ]);
        }
        tried(&records).same.len()
    };
    assert_eq!(with([A, A]), 1);
    assert_eq!(with([A, B]), 0);
}

#[test]
fn a_workload_on_which_nothing_differs_is_not_compared() {
    let document = tried(&records([A, A], ["0", "5"], &["scheduling"]));
    let [row] = &document.comparisons[..] else {
        panic!("{:?}", document.comparisons)
    };
    assert_eq!(row.workload, "pipe");
    let lint = document
        .lints
        .iter()
        .find(|lint| lint.code == "same-run")
        .unwrap();
    assert_eq!(lint.location, "slow on sync");
}

#[test]
fn what_no_level_says_is_a_lint() {
    let document = tried(&records([A, B], ["0", "0"], &["sysctl"]));
    let lint = document
        .lints
        .iter()
        .find(|lint| lint.code == "unexpected-difference");
    assert!(lint.unwrap().detail.contains("module gpu_sched"));
    let expected = tried(&records([A, B], ["0", "0"], &["module"]));
    assert!(lints(&expected, "unexpected-difference").is_empty());
}

#[test]
fn runs_of_one_cell_that_were_made_of_other_things_are_a_lint() {
    let mut records = records([A, B], ["0", "0"], &["module"]);
    let mut later = records.identities[0].clone();
    let moved = records.identities[0].runs.split_off(2);
    later.runs = moved;
    later.parts[1] = part("module", "gpu_sched", "5555");
    records.identities.push(later);
    let document = tried(&records);
    let lint = document
        .lints
        .iter()
        .find(|lint| lint.code == "identity-varies")
        .unwrap();
    assert_eq!(lint.location, "stock on pipe");
    assert!(
        lint.detail.contains("5555 instead of 4f1c00000000"),
        "{}",
        lint.detail
    );
}

#[test]
fn of_a_list_of_features_the_one_that_was_written_is_named() {
    let mut records = records([A, A], ["0", "0"], &["setting"]);
    let path = "/sys/kernel/debug/sched/features";
    records.level_settings[1].settings.extend([
        part("set-up", "1 action", "write"),
        part("set-up", "1 path", path),
        part("set-up", "1 value", "NO_RUN"),
    ]);
    for identity in records.identities.iter_mut().skip(2) {
        identity
            .parts
            .push(part("setting", path, "A B C NO_RUN D E"));
    }
    let said = tried(&records).identity_differences[0].sentence();
    assert!(
        said.ends_with("features (NO_RUN; not set in the baseline)"),
        "{said}"
    );
}

#[test]
fn idle_states_and_frequencies_that_levels_declare_are_no_surprise() {
    for (kind, expected) in [
        ("idle states", true),
        ("frequencies", true),
        ("setting", false),
    ] {
        let mut records = records(["1", "2"], ["0", "0"], &["module", "library"]);
        for (level, governor) in records.level_settings.iter_mut().zip(["menu", "ladder"]) {
            level.settings.push(part(kind, "governor", governor));
        }
        let document = try_records(&records, &Options::default()).unwrap();
        let found = lints(&document, "unexpected-difference");
        assert_eq!(found.is_empty(), expected, "{kind}: {found:?}");
    }
}

#[test]
fn a_repeated_baseline_is_equivalent_only_as_any_other_configuration_would_be() {
    let twice = |share: f64, offset: f64, metrics: usize| {
        let mut records = runs_of("w", "m0", "ns", &[]);
        for metric in 0..metrics {
            let a = around(100.0, share, 2 * metric as u64 + 1, 12);
            let b = around(100.0 * (1.0 + offset), share, 2 * metric as u64 + 2, 12);
            let more = runs_of(
                "w",
                &format!("m{metric}"),
                "ns",
                &[("base", &a), ("again", &b)],
            );
            match metric {
                0 => records = more,
                _ => records.runs.extend(more.runs),
            }
        }
        let named = |name: &str, repeats: Option<&str>| assize_bundle::Configuration {
            name: name.into(),
            repeats: repeats.map(str::to_owned),
            ..assize_bundle::Configuration::default()
        };
        records.configurations = vec![named("base", None), named("again", Some("base"))];
        let floor = tried(&records).noise_floor;
        assert_eq!(floor.len(), metrics);
        let equal = floor
            .iter()
            .filter(|row| row.verdict == Verdict::Equivalent);
        equal.count()
    };
    assert_eq!(twice(0.002, 0.0, 4), 4);
    assert_eq!(twice(0.05, 0.0, 4), 0);
    assert_eq!(twice(0.002, 0.03, 1), 0);
    // A single row is equivalent; the same row among forty is not.
    assert_eq!([1, 40].map(|metrics| twice(0.016, 0.0, metrics)), [1, 0]);
}
