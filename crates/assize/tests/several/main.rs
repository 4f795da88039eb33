//! Several bundles: blocks of one experiment, sides of a comparison, or points of a trend; all else
//! is refused.

mod trend;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use assize_bundle::{Configuration, Head, Measurement, Run, RunExit, RunRecord, Writer};
use serde_json::{Value, json};

/// Blocks of each bundle.
const BLOCKS: u32 = 8;

/// The head of a bundle for this target and machine, which tests then modify.
fn head(target: &str, machine: &str) -> Head {
    let named = |name: &str| Configuration {
        name: name.into(),
        label: name.into(),
        ..Configuration::default()
    };
    let configuration = |name: &str| {
        json!({"name": name, "machine": {"kernel": "debian:6.12", "cpus": 1},
               "workloads": [{"name": "pipe", "jobs": 100}], "setup": []})
    };
    Head {
        title: "Does a queue cost less?".into(),
        plan: json!({
            "margin": 0.01, "until": null, "seed": 1, "instruments": ["time"],
            "configurations": [configuration("base"), configuration("queue")],
            "workloads": [{"name": "pipe", "jobs": 100}],
        }),
        target: target.into(),
        machine: machine.into(),
        configurations: vec![named("base"), named("queue")],
        workloads: vec!["pipe".into()],
        primary: vec!["time".into()],
        planned_runs: 2 * BLOCKS,
        facts: BTreeMap::from([("host_kernel".into(), "6.1".into())]),
        ..Head::default()
    }
}

/// Writes a bundle in which the queue takes `ratio` times as long as the base.
fn bundle(place: &Path, name: &str, head: &Head, ratio: f64, unit: &str) {
    let noise = |index: u32| 0.002 * f64::from((7 * index + 3) % 5);
    let by = |index: u32| [1.0, ratio][(index % 2) as usize];
    let time = |index| by(index) * (1.0 + 0.1 * f64::from(index / 2) + noise(index));
    filled(place, name, head, 2 * BLOCKS, |index| {
        Measurement::new(time(index), unit)
    });
}

/// Writes a bundle with this many runs, alternating between base and queue, and the time
/// of each.
fn filled(place: &Path, name: &str, head: &Head, runs: u32, time: impl Fn(u32) -> Measurement) {
    let writer = Writer::create(&place.join(name), head).unwrap();
    for index in 0..runs {
        let block = index / 2;
        let configuration = ["base", "queue"][(index % 2) as usize];
        let mut run = Run::new(configuration, "pipe", block + 1);
        (run.order, run.block) = (index, Some(block));
        run.metrics.insert("time".into(), time(index));
        writer
            .put(&RunRecord::new(
                index,
                u64::from(block),
                run,
                RunExit::Completed,
            ))
            .unwrap();
    }
}

fn compare(place: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_assize"))
        .arg("compare")
        .args(arguments)
        .current_dir(place)
        .output()
        .unwrap()
}

fn document(place: &Path, arguments: &[&str]) -> Value {
    let done = compare(place, &[arguments, &["--json"]].concat());
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    serde_json::from_slice(&done.stdout).unwrap()
}

/// The message for wrong use: one line.
fn refused(place: &Path, arguments: &[&str]) -> String {
    let done = compare(place, arguments);
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(done.stdout.is_empty());
    assert_eq!(said.lines().count(), 1, "{said}");
    said
}

#[test]
fn machines_are_blocks() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    for (name, target, ratio) in [
        ("a", "host", 0.9),
        ("b", "ssh:two", 0.91),
        ("c", "ssh:three", 0.9),
    ] {
        bundle(here, name, &head(target, name), ratio, "s");
    }
    let found = document(here, &["a", "b", "c"]);
    let machines: Vec<&str> = found["machines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["machine"].as_str().unwrap())
        .collect();
    assert_eq!(machines, ["a", "b", "c"]);
    let pooled = &found["pooled"][0];
    assert_eq!(
        (&pooled["machines"], &pooled["shown_on"]),
        (&json!(3), &json!(3))
    );
    assert_eq!(pooled["verdict"], "established");
    assert_eq!(found["comparisons"][0]["ratio"], pooled["ratio"]);
    // The order of the bundles changes only the order of the rows.
    let turned = document(here, &["c", "b", "a"]);
    let (one, other) = (&turned["pooled"][0]["ratio"], &pooled["ratio"]);
    let difference = one.as_f64().unwrap() - other.as_f64().unwrap();
    assert!(difference.abs() < 1e-12);
    let text =
        String::from_utf8(compare(here, &["a", "b", "c", "--format", "mail"]).stdout).unwrap();
    assert!(text.contains("on all 3 machines"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 72),
        "{text}"
    );
}

#[test]
fn machines_that_disagree_are_said_to_before_anything_else() {
    let place = tempfile::tempdir().unwrap();
    bundle(place.path(), "a", &head("host", "a"), 0.9, "s");
    bundle(place.path(), "b", &head("host", "b"), 1.1, "s");
    let found = document(place.path(), &["a", "b"]);
    assert_eq!(found["pooled"][0]["agreement"], "opposite");
    assert_eq!(found["comparisons"][0]["verdict"], "undecided");
    let first = found["sentences"][0]["text"].as_str().unwrap();
    assert!(
        first.starts_with("The machines disagree on time"),
        "{first}"
    );
    let text =
        String::from_utf8(compare(place.path(), &["a", "b", "--format", "mail"]).stdout).unwrap();
    assert!(text.contains("time        disagree !"), "{text}");
    assert!(!text.contains("\n    pooled"), "{text}");
}

#[test]
fn what_is_not_one_experiment_is_refused_with_what_differs() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    bundle(here, "a", &head("host", "a"), 0.9, "s");
    let mut cases: Vec<(&str, Head, &str)> = Vec::new();
    let other = || head("host", "b");
    let mut title = other();
    title.title = "Another?".into();
    cases.push((
        "title",
        title,
        "the experiment differs from that of a: title 'Another?' here, 'Does",
    ));
    cases.push((
        "target",
        head("exact", "exact"),
        "the target differs from that of a: target 'exact' here, 'host' there",
    ));
    let mut jobs = other();
    jobs.plan["configurations"][0]["workloads"][0]["jobs"] = json!(200);
    jobs.plan["workloads"][0]["jobs"] = json!(200);
    cases.push((
        "jobs",
        jobs,
        "the parameter of a workload differs from that of a: workloads[0].jobs 200 here, 100 there",
    ));
    let mut setup = other();
    setup.plan["configurations"][1]["setup"] = json!(["x"]);
    cases.push((
        "setup",
        setup,
        "the definition of a configuration differs from that of a: configurations[1].setup",
    ));
    let mut design = other();
    design.plan["margin"] = json!(0.05);
    cases.push((
        "design",
        design,
        "the design differs from that of a: margin 0.05 here, 0.01 there",
    ));
    let mut primary = other();
    primary.primary = vec!["power".into()];
    cases.push((
        "primary",
        primary,
        "the choice of primary metrics differs from that of a: primary[0]",
    ));
    let mut more = other();
    more.configurations.push(Configuration {
        name: "third".into(),
        ..Configuration::default()
    });
    cases.push((
        "more",
        more,
        "the set of configurations differs from that of a: configurations[2]",
    ));
    for (name, head, why) in cases {
        bundle(here, name, &head, 0.9, "s");
        let said = refused(here, &["a", name]);
        assert!(said.contains(why), "{said}");
        assert!(said.contains("--bundles sides"), "the mend: {said}");
    }
    bundle(here, "unit", &other(), 0.9, "ms");
    let said = refused(here, &["a", "unit"]);
    assert!(
        said.contains("units differ: metric 'time' is in 'ms' here, in 's' in a"),
        "{said}"
    );
}

#[test]
fn two_kernels_may_be_blocks_or_sides_and_nobody_guesses() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let mut new = head("exact", "exact");
    for at in [0, 1] {
        new.plan["configurations"][at]["machine"]["kernel"] = json!("debian:6.1");
    }
    // The kernel was given on the command line.
    new.plan["overrides"] = json!({"kernel": "debian:6.1"});
    new.facts = BTreeMap::from([("kernel debian:6.1".into(), "6.1.170".into())]);
    let mut old = head("exact", "exact");
    old.facts = BTreeMap::from([("kernel debian:6.12".into(), "6.12.117".into())]);
    bundle(here, "old", &old, 0.9, "s");
    bundle(here, "new", &new, 0.8, "s");
    let said = refused(here, &["old", "new"]);
    for part in [
        "'debian:6.1' here, 'debian:6.12' there",
        "--bundles blocks",
        "--bundles sides",
    ] {
        assert!(said.contains(part), "{said}");
    }
    let blocks = document(here, &["old", "new", "--bundles", "blocks"]);
    assert_eq!(blocks["across"], "kernels");
    assert_eq!(blocks["machines"][1]["machine"], "debian:6.1");
    let sides = document(here, &["old", "new", "--bundles", "sides"]);
    assert!(sides.get("pooled").is_none());
    let rows = sides["comparisons"].as_array().unwrap();
    let named: Vec<[&str; 3]> = rows
        .iter()
        .map(|row| ["workload", "baseline", "configuration"].map(|key| row[key].as_str().unwrap()))
        .collect();
    assert_eq!(named, [["base", "old", "new"], ["queue", "old", "new"]]);
    // Equal seeds in equal blocks form pairs.
    assert_eq!(rows[1]["t_test"], "paired");
    let ratio = rows[1]["ratio"].as_f64().unwrap();
    assert!((ratio - 0.8 / 0.9).abs() < 1e-9, "{ratio}");
}

#[test]
fn one_machine_twice_is_not_two_machines() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    bundle(here, "a", &head("host", "a"), 0.9, "s");
    let mut again = head("host", "a");
    again.plan["seed"] = json!(2);
    bundle(here, "b", &again, 0.9, "s");
    let said = refused(here, &["a", "b"]);
    assert!(said.contains("on the same machine"), "{said}");
    let found = document(here, &["a", "b", "--bundles", "blocks"]);
    assert_eq!(
        (&found["across"], &found["machines"][1]["machine"]),
        (&json!("bundles"), &json!("b"))
    );
    bundle(here, "part", &head("exact", "exact"), 0.9, "s");
    bundle(here, "rest", &head("exact", "exact"), 0.9, "s");
    let said = refused(here, &["part", "rest"]);
    assert!(said.contains("assize merge"), "{said}");
}

/// Sets the boot of the runs of a bundle, or of every `step`th run.
fn boot(place: &Path, name: &str, id: &str, step: usize) {
    for index in (0..2 * BLOCKS).step_by(step) {
        let path = place.join(name).join(format!("runs/{index:04}.json"));
        let mut run: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        run["environment"]["boot_id"] = json!(id);
        fs::write(&path, run.to_string()).unwrap();
    }
}

#[test]
fn bundles_of_one_boot_are_no_replicates() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    for (name, seed) in [("a", 1), ("b", 2)] {
        let mut head = head("host", "a");
        head.plan["seed"] = json!(seed);
        bundle(here, name, &head, 0.9, "s");
    }
    let blocks = &["a", "b", "--bundles", "blocks"];
    let lint = |found: &Value| {
        let lints = found["lints"].as_array().unwrap().iter();
        lints.filter(|lint| lint["code"] == "boot-unknown").count()
    };
    // Bundles that do not record their boot.
    let found = document(here, blocks);
    assert_eq!(lint(&found), 1);
    assert!(
        found["limits"][0]
            .as_str()
            .unwrap()
            .contains("is not recorded")
    );
    boot(here, "a", "one", 1);
    boot(here, "b", "one", 2);
    for asked in [blocks, &blocks[..2]] {
        let said = refused(here, asked);
        assert!(said.contains("runs of the same boot as a (one)"), "{said}");
        assert!(said.contains("reboot between them"), "{said}");
    }
    // They may be compared as sides.
    document(here, &["a", "b", "--bundles", "sides"]);
    boot(here, "b", "two", 1);
    let found = document(here, blocks);
    assert_eq!(
        (lint(&found), &found["machines"][1]["machine"]),
        (0, &json!("b"))
    );
    let limit = |found: &Value| found["limits"][0].as_str().unwrap().to_owned();
    assert!(limit(&found).starts_with("The runs are of 2 boots"));
    assert!(limit(&document(here, &["a"])).contains("one boot of one machine"));
    // The same machine under two names.
    bundle(here, "c", &head("ssh:c", "c"), 0.9, "s");
    boot(here, "c", "two", 1);
    let said = refused(here, &["b", "c"]);
    assert!(said.contains("not replicates"), "{said}");
}

#[test]
fn a_sentence_of_one_boot_is_not_taken_from_an_older_bundle() {
    let place = tempfile::tempdir().unwrap();
    let mut head = head("host", "a");
    head.limits = vec!["Runs of a host are of one machine and one boot of it: and so on.".into()];
    bundle(place.path(), "a", &head, 0.9, "s");
    let found = document(place.path(), &["a"]);
    let limits = found["limits"].as_array().unwrap();
    assert_eq!(limits.len(), 1, "{found}");
    assert!(limits[0].as_str().unwrap().contains("is not recorded"));
}

#[test]
fn merged_machines_are_judged_as_the_bundles_they_come_from() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    bundle(here, "a", &head("host", "a"), 0.9, "s");
    bundle(here, "b", &head("host", "b"), 0.92, "s");
    let both = [here.join("a"), here.join("b")];
    assize_bundle::merge(&both, &here.join("ab")).unwrap();
    let (merged, apart) = (document(here, &["ab"]), document(here, &["a", "b"]));
    for of in ["machines", "pooled", "comparisons"] {
        assert_eq!(merged[of], apart[of], "{of}");
    }
    bundle(here, "c", &head("host", "c"), 0.9, "s");
    assert_eq!(document(here, &["ab", "c"])["pooled"][0]["machines"], 3);
    let said = refused(here, &["ab", "a"]);
    assert!(
        said.contains("holds runs of the machine 'a', and so does ab"),
        "{said}"
    );
}

#[test]
fn other_configurations_on_another_machine_are_a_lint() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    bundle(here, "a", &head("host", "a"), 0.9, "s");
    let posted = Run::new("third", "pipe", 1);
    let mut runs = vec![posted; 4];
    for (run, time) in runs.iter_mut().zip([1.0, 1.1, 1.2, 1.3]) {
        run.metrics
            .insert("time".into(), Measurement::new(time, "s"));
    }
    let third = Head {
        configurations: vec![Configuration {
            name: "third".into(),
            ..Configuration::default()
        }],
        ..head("host", "b")
    };
    let writer = Writer::create(&here.join("b"), &third).unwrap();
    for (index, run) in (0..).zip(runs) {
        writer
            .put(&RunRecord::new(index, 0, run, RunExit::Completed))
            .unwrap();
    }
    let found = document(here, &["a", "b"]);
    let codes = found["lints"].as_array().unwrap().iter();
    assert!(
        codes.into_iter().any(|lint| lint["code"] == "confounded"),
        "{}",
        found["lints"]
    );
}

#[test]
fn what_a_source_says_of_its_steps_holds_in_one_bundle_and_in_several() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    for kind in ["hackbench", "command"] {
        for machine in ["one", "two"] {
            let mut head = head("host", machine);
            for configuration in head.plan["configurations"].as_array_mut().unwrap() {
                configuration["workloads"][0]["kind"] = kind.into();
            }
            let name = format!("{kind}-{machine}");
            bundle(here, &name, &head, 1.0, "ms");
            // hackbench's metrics have other names.
            let runs = fs::read_dir(here.join(name).join("runs")).unwrap();
            for run in runs {
                let path = run.unwrap().path();
                let text = fs::read_to_string(&path).unwrap();
                fs::write(&path, text.replace("\"time\"", "\"reported_time\"")).unwrap();
            }
        }
        let [one, two] = ["one", "two"].map(|machine| format!("{kind}-{machine}"));
        let asked: [&[&str]; 4] = [
            &["report", &one, "--json"],
            &["compare", &one, "--json"],
            &["compare", &one, &two, "--json"],
            &["compare", &one, &two, "--bundles", "sides", "--json"],
        ];
        for arguments in asked {
            let done = Command::new(env!("CARGO_BIN_EXE_assize"))
                .args(arguments)
                .current_dir(here)
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success(), "{arguments:?}: {text}");
            let found: Value = serde_json::from_slice(&done.stdout).unwrap();
            let row = &found["comparisons"][0];
            let coarse = kind == "hackbench";
            assert_eq!(row["too_coarse"], coarse, "{arguments:?}: {row:#}");
            if coarse {
                assert_eq!(row["resolution"], 1.0, "a millisecond: {row:#}");
            }
        }
    }
}
