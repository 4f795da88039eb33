//! Tests of merging bundles.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{head, recorded};
use assize_bundle::kernel_log::complaints;
use assize_bundle::{
    Across, Error, Head, RunExit, RunRecord, Writer, merge, read, read_plan, read_run, stack,
};

fn bundle(
    place: &Path,
    name: &str,
    head: &Head,
    runs: impl IntoIterator<Item = RunRecord>,
) -> PathBuf {
    let directory = place.join(name);
    let writer = Writer::create(&directory, head).unwrap();
    for run in runs {
        writer.put(&run).unwrap();
    }
    directory
}

fn head_on(target: &str, machine: &str) -> Head {
    Head {
        target: target.into(),
        machine: machine.into(),
        ..head(8)
    }
}

#[test]
fn runs_of_joined_records_keep_their_numbers_and_their_complaints() {
    let place = tempfile::tempdir().unwrap();
    let lost = |index| RunRecord {
        exit: RunExit::Failed {
            why: "exit status 1".into(),
            console: String::new(),
        },
        ..recorded(index)
    };
    let warned = |index| RunRecord {
        complaints: complaints("WARNING: CPU: 0 PID: 1 at a.c:1 f+0x1/0x2\n"),
        ..recorded(index)
    };
    // The first bundle lost runs, so that it has more numbers than completed runs.
    let first = [lost(0), lost(1), recorded(2), warned(3)];
    let second = [recorded(0), lost(1), warned(2), recorded(3)];
    let all = [
        bundle(place.path(), "a", &head_on("host", "a"), first),
        bundle(place.path(), "b", &head_on("host", "b"), second),
    ];
    let records = stack(&all, &["a".into(), "b".into()], Across::Machines).unwrap();
    let numbers = |orders: Vec<u32>| -> Vec<(usize, u32)> {
        let own = orders.into_iter().map(|order| {
            let (bundle, index) = records.run_in_bundle(order);
            let at = all
                .iter()
                .position(|path| Some(path.as_path()) == bundle.map(Path::new));
            (at.unwrap(), index)
        });
        own.collect()
    };
    let orders = records.runs.iter().map(|run| run.order).collect();
    assert_eq!(numbers(orders), [(0, 2), (0, 3), (1, 0), (1, 2), (1, 3)]);
    let orders = records.failures.iter().map(|run| run.order).collect();
    assert_eq!(numbers(orders), [(0, 0), (0, 1), (1, 1)]);
    let orders = records.complained.iter().map(|run| run.order).collect();
    assert_eq!(numbers(orders), [(0, 3), (1, 2)]);
    // One bundle alone is not named.
    assert_eq!(read(&all[0]).unwrap().run_in_bundle(3), (None, 3));
}

#[test]
fn counts_of_several_bundles_name_the_runs_that_they_are_of() {
    let place = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for (name, runs) in [("a", 0..3), ("b", 0..4)] {
        let runs = runs.map(|index| {
            let mut run = recorded(index);
            run.events[0].count = u64::from(index + 100 * all.len() as u32);
            run
        });
        let runs: Vec<RunRecord> = runs.collect();
        all.push(bundle(place.path(), name, &head_on("host", name), runs));
    }
    let names = ["a".to_owned(), "b".to_owned()];
    let records = stack(&all, &names, Across::Machines).unwrap();
    let base = &records.events[0];
    let by_run = base.by_run.iter().map(|one| {
        let mut runs = records.runs.iter();
        let run = runs.find(|run| run.order == one.order).unwrap();
        assert_eq!(run.configuration, base.configuration);
        (
            run.machine.as_deref().unwrap(),
            run.block.unwrap(),
            one.count,
        )
    });
    let by_run: Vec<_> = by_run.collect();
    assert_eq!(
        by_run,
        [("a", 0, 0), ("a", 1, 2), ("b", 2, 100), ("b", 3, 102)]
    );
    assert_eq!(base.count, 204);
}

#[test]
fn exact_parts_become_what_one_machine_would_have_written() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let a = bundle(
        place.path(),
        "a",
        &head_on("exact", "one"),
        (0..5).map(recorded),
    );
    let b = bundle(
        place.path(),
        "b",
        &head_on("exact", "two"),
        (3..8).map(recorded),
    );
    let whole = bundle(
        place.path(),
        "whole",
        &head_on("exact", "one"),
        (0..8).map(recorded),
    );
    let merged = merge(&[a, b], &at("ab")).unwrap();
    assert_eq!(
        (merged.runs, merged.planned_runs, merged.duplicates),
        (8, 8, 2)
    );
    assert_eq!(merged.machines, ["one"]);
    for file in [
        "bundle.json",
        "runs/0000.json",
        "runs/0007.json",
        "samples/0007.parquet",
        "raw/0004-tool.txt",
    ] {
        let of = |directory: &Path| fs::read(directory.join(file)).unwrap();
        assert_eq!(of(&at("ab")), of(&whole), "{file}");
    }
    assert_eq!(read(&at("ab")).unwrap(), read(&whole).unwrap());
    // The merged bundle can be resumed.
    Writer::resume(&at("ab"), &head_on("exact", "three")).unwrap();
}

#[test]
fn broken_exactness_names_the_run_and_the_first_field() {
    let place = tempfile::tempdir().unwrap();
    let a = bundle(
        place.path(),
        "a",
        &head_on("exact", "one"),
        (0..3).map(recorded),
    );
    type Change = fn(&mut RunRecord);
    let changes: [(Change, &str); 4] = [
        (
            |r| r.run.metrics["time"].value = 7.5,
            "metrics.time.value: 7.5 here, ",
        ),
        (
            |r| r.samples[0].values[42] += 1.0,
            "samples.latency[42].value: ",
        ),
        (|r| r.raw[0].1.push('x'), "raw, line 2: 'x' here, '' in "),
        (
            |r| drop(r.environment.insert("qemu".into(), "10".into())),
            "environment.qemu: '10' here, nothing in ",
        ),
    ];
    for (number, (change, part)) in changes.into_iter().enumerate() {
        let mut other = recorded(2);
        change(&mut other);
        let b = bundle(
            place.path(),
            &format!("b{number}"),
            &head_on("exact", "two"),
            [other],
        );
        let out = place.path().join("out");
        let error = merge(&[a.clone(), b], &out).unwrap_err();
        assert!(matches!(
            error,
            Error::Conflict {
                index: 2,
                exact: true,
                ..
            }
        ));
        let text = error.to_string();
        assert!(text.contains("run 2: ") && text.contains(part), "{text}");
        assert!(!out.exists(), "nothing is left");
    }
}

#[test]
fn machines_keep_their_runs_in_blocks_of_their_own() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let a = bundle(
        place.path(),
        "a",
        &head_on("host", "one"),
        (0..8).map(recorded),
    );
    let b = bundle(
        place.path(),
        "b",
        &head_on("host", "two"),
        (0..7).map(recorded),
    );
    let merged = merge(&[a.clone(), b.clone()], &at("ab")).unwrap();
    assert_eq!(
        (merged.runs, merged.planned_runs, merged.duplicates),
        (15, 16, 0)
    );
    assert_eq!(merged.machines, ["one", "two"]);
    let records = read(&at("ab")).unwrap();
    let blocks: Vec<u32> = records.runs.iter().map(|run| run.block.unwrap()).collect();
    assert_eq!(blocks, [0, 0, 1, 1, 2, 2, 3, 3, 8, 8, 9, 9, 10, 10, 11]);
    let base: Vec<u32> = records
        .runs
        .iter()
        .filter(|run| run.configuration == "base")
        .map(|run| run.repetition)
        .collect();
    assert_eq!(base, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert!(
        records
            .doubts
            .iter()
            .any(|d| d.detail.starts_with("15 of 16 runs"))
    );
    assert_eq!(
        read_run(&at("ab"), 10).unwrap().samples,
        recorded(2).samples
    );
    assert_eq!(read_run(&at("ab"), 10).unwrap().raw[0].0, "0010-tool.txt");
    // A third machine joins the merged bundle; the order of merging does not
    // matter.
    let c = bundle(
        place.path(),
        "c",
        &head_on("host", "three"),
        (0..8).map(recorded),
    );
    merge(&[at("ab"), c.clone()], &at("ab+c")).unwrap();
    merge(&[a, b, c], &at("abc")).unwrap();
    assert_eq!(read(&at("ab+c")).unwrap(), read(&at("abc")).unwrap());
    assert_eq!(read_plan(&at("ab+c")).unwrap().machine, "one, two, three");
}

#[test]
fn machines_over_ssh_are_machines() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let a = bundle(
        place.path(),
        "a",
        &head_on("ssh:desk", "desk"),
        (0..8).map(recorded),
    );
    let b = bundle(
        place.path(),
        "b",
        &head_on("ssh:rack", "rack"),
        (0..8).map(recorded),
    );
    let here = bundle(
        place.path(),
        "c",
        &head_on("host", "here"),
        (0..8).map(recorded),
    );
    let merged = merge(&[a.clone(), b.clone()], &at("ab")).unwrap();
    assert_eq!(
        (merged.runs, merged.machines),
        (16, vec!["desk".into(), "rack".into()])
    );
    let head = read_plan(&at("ab")).unwrap();
    assert_eq!(
        (head.target.as_str(), head.machine.as_str()),
        ("host", "desk, rack")
    );
    merge(&[at("ab"), here.clone()], &at("ab+c")).unwrap();
    merge(&[a.clone(), b, here], &at("abc")).unwrap();
    assert_eq!(read(&at("ab+c")).unwrap(), read(&at("abc")).unwrap());
    // The same machine given twice is one machine.
    let again = merge(&[a.clone(), a], &at("aa")).unwrap();
    assert_eq!((again.runs, again.duplicates), (8, 8));
}

#[test]
fn what_cannot_be_compared_is_refused_with_the_reason() {
    let place = tempfile::tempdir().unwrap();
    let a = bundle(place.path(), "a", &head_on("host", "one"), [recorded(0)]);
    type Change = fn(&mut Head);
    let changes: [(Change, &str); 4] = [
        (
            |h| h.target = "live".into(),
            "target: 'live' here, 'host' in ",
        ),
        (
            |h| h.primary = vec![],
            "primary[0]: nothing here, 'time' in ",
        ),
        (
            |h| h.workloads.push("build".into()),
            "workloads[1]: 'build' here, ",
        ),
        (
            |h| h.configurations[1].name = "other".into(),
            "configurations[1].name: 'other' here, 'queue' in ",
        ),
    ];
    for (number, (change, part)) in changes.into_iter().enumerate() {
        let mut other = head_on("host", "two");
        change(&mut other);
        let b = bundle(place.path(), &format!("b{number}"), &other, [recorded(0)]);
        let text = merge(&[a.clone(), b], &place.path().join("out"))
            .unwrap_err()
            .to_string();
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn one_machine_that_has_run_twice_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let a = bundle(place.path(), "a", &head_on("host", "one"), [recorded(0)]);
    let mut again = recorded(0);
    again.run.metrics["time"].value = 1.2;
    let b = bundle(place.path(), "b", &head_on("host", "one"), [again]);
    let error = merge(&[a, b], &place.path().join("out")).unwrap_err();
    assert!(
        matches!(error, Error::Conflict { exact: false, .. }),
        "{error}"
    );
}

#[test]
fn posted_results_and_full_directories_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let posted = place.path().join("posted");
    assize_bundle::write(&posted, &assize_bundle::Records::default()).unwrap();
    let out = place.path().join("out");
    assert!(matches!(
        merge(std::slice::from_ref(&posted), &out),
        Err(Error::NoSchedule(_))
    ));
    assert!(matches!(merge(&[], &out), Err(Error::Nothing)));
    let a = bundle(place.path(), "a", &head_on("host", "one"), [recorded(0)]);
    assert!(matches!(merge(&[a], &posted), Err(Error::NotEmpty(_))));
}
