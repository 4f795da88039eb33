//! Tests of writing a bundle.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common::{files, head, recorded};
use assize_bundle::{
    EXECUTIONS, Error, Events, Head, RunCount, RunExit, Writer, read, read_plan, read_run,
};
use proptest::prelude::*;
use serde_json::json;

#[test]
fn a_run_reads_back_as_it_was_put() {
    let place = tempfile::tempdir().unwrap();
    let writer = Writer::create(place.path(), &head(3)).unwrap();
    let mut run = recorded(2);
    writer.put(&run).unwrap();
    run.raw[0].0 = format!("0002-{}", run.raw[0].0);
    assert_eq!(read_run(place.path(), 2).unwrap(), run);
    assert_eq!(read_plan(place.path()).unwrap(), head(3));
}

#[test]
fn the_judge_sees_runs_failures_and_what_is_missing() {
    let place = tempfile::tempdir().unwrap();
    let writer = Writer::create(place.path(), &head(5)).unwrap();
    for index in [0, 1, 2] {
        writer.put(&recorded(index)).unwrap();
    }
    let mut bad = recorded(3);
    bad.exit = RunExit::Failed {
        why: "kernel panic: not syncing".into(),
        console: "one\ntwo".into(),
    };
    writer.put(&bad).unwrap();
    let records = read(place.path()).unwrap();
    assert_eq!(records.runs.len(), 3);
    assert_eq!(records.runs[2], recorded(2).run);
    assert_eq!(records.failures[0].why, "kernel panic: not syncing");
    assert_eq!(records.failures[0].console, "one\ntwo");
    assert_eq!(records.limits, head(5).limits);
    assert_eq!(records.unavailable.len(), 2, "one for each configuration");
    let codes: Vec<&str> = records.doubts.iter().map(|d| d.code.as_str()).collect();
    assert_eq!(codes, ["lost-events", "lost-events", "incomplete"]);
    assert!(records.doubts[0].detail.contains("base on pipe, 2 runs"));
    assert!(records.doubts[2].detail.starts_with("4 of 5 runs"));
    // Counts and exposures are summed over the completed runs of a cell.
    let base = &records.events[0];
    assert_eq!((base.count, base.exposure_s), (4, Some(20.0)));
    assert_eq!(base.times_s, [1.0, 2.0, 11.0, 12.0]);
}

#[test]
fn a_kernel_log_that_was_not_read_is_a_limit() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path().join("bundle");
    let writer = Writer::create(&at, &head(4)).unwrap();
    for index in 0..4 {
        let mut run = recorded(index);
        if index == 1 {
            let why = "not read: /dev/kmsg: Permission denied".to_owned();
            run.environment.insert("kernel_log".into(), why);
        }
        writer.put(&run).unwrap();
    }
    let limits = read(&at).unwrap().limits;
    assert!(
        limits
            .iter()
            .any(|limit| limit.contains("Permission denied, in 1 of 4 runs")),
        "{limits:?}"
    );
}

#[test]
fn runs_executed_twice_are_counted_and_those_that_differed_named() {
    let place = tempfile::tempdir().unwrap();
    let writer = Writer::create(place.path(), &head(4)).unwrap();
    for index in 0..4 {
        let mut run = recorded(index);
        if index < 2 {
            run.environment.insert(EXECUTIONS.into(), "2".into());
        }
        writer.put(&run).unwrap();
        writer
            .log(&json!({"index": index, "differed": null}))
            .unwrap();
    }
    let all = read(place.path()).unwrap();
    let sentence = "Executed twice: 2 of the 4 runs; all executions that count were equal, byte \
                    for byte.";
    assert_eq!(all.limits[1..], [sentence]);
    assert!(all.doubts.iter().all(|doubt| doubt.code != "inexact"));
    let differed = "line 2: metric time: 5 against 9";
    let line = json!({"index": 1, "differed": differed, "failed": null});
    writer.log(&line).unwrap();
    fs::OpenOptions::new()
        .append(true)
        .open(place.path().join("log.jsonl"))
        .and_then(|mut log| std::io::Write::write_all(&mut log, b"{\"index\": 1, \"diff\xff"))
        .unwrap();
    let all = read(place.path()).unwrap();
    let doubts: Vec<_> = all.doubts.iter().filter(|d| d.code == "inexact").collect();
    assert_eq!(doubts.len(), 1);
    let detail = &doubts[0].detail;
    assert!(detail.starts_with("run 2 (queue on pipe): "), "{detail}");
    assert!(detail.contains(differed) && detail.ends_with("later executions were equal"));
}

#[test]
fn counts_of_events_are_kept_by_run() {
    let counts = [[3, 4], [0, 0], [10, 1], [0, 2]];
    let place = tempfile::tempdir().unwrap();
    let writer = Writer::create(place.path(), &head(4)).unwrap();
    for (index, twice) in (0..).zip(counts) {
        let mut run = recorded(index);
        let one = run.events[0].clone();
        // Two instruments of one run count the same event.
        run.events = twice
            .map(|count| Events {
                count,
                times_s: vec![],
                ..one.clone()
            })
            .to_vec();
        writer.put(&run).unwrap();
    }
    let records = read(place.path()).unwrap();
    let of = |configuration: &str| {
        let mut all = records.events.iter();
        all.find(|one| one.configuration == configuration).unwrap()
    };
    let of_run = |order, count| RunCount {
        order,
        count,
        exposure_s: Some(20.0),
    };
    assert_eq!(of("base").by_run, [of_run(0, 7), of_run(2, 11)]);
    assert_eq!(of("base").count, 18);
    assert_eq!(of("queue").by_run, [of_run(1, 0), of_run(3, 2)]);
    // The file of a run has the same fields as before.
    let stored = fs::read_to_string(place.path().join("runs/0000.json")).unwrap();
    assert!(!stored.contains("by_run"), "{stored}");
}

#[test]
fn times_go_on_where_the_time_before_ended_which_need_not_be_the_exposure() {
    let times = |span_s| {
        let place = tempfile::tempdir().unwrap();
        let writer = Writer::create(place.path(), &head(4)).unwrap();
        for index in 0..4 {
            let mut run = recorded(index);
            let events = Events {
                count: 1,
                times_s: vec![1.0],
                span_s,
                ..run.events[0].clone()
            };
            run.events = vec![events];
            writer.put(&run).unwrap();
        }
        let records = read(place.path()).unwrap();
        let mut all = records.events.into_iter();
        all.find(|one| one.configuration == "base").unwrap()
    };
    // Two runs of 10 s each.
    let of = times(None);
    assert_eq!((of.times_s, of.span_s), (vec![1.0, 11.0], None));
    // On four CPUs at once, each takes 2.5 s.
    let of = times(Some(2.5));
    assert_eq!((of.times_s, of.span_s), (vec![1.0, 3.5], Some(5.0)));
    assert_eq!(of.exposure_s, Some(20.0));
}

#[test]
fn a_run_is_never_written_twice() {
    let place = tempfile::tempdir().unwrap();
    let writer = Writer::create(place.path(), &head(3)).unwrap();
    writer.put(&recorded(1)).unwrap();
    let before = files(place.path());
    let mut other = recorded(1);
    other.samples[0].values[0] = 99.0;
    assert!(matches!(
        writer.put(&other),
        Err(Error::AlreadyRecorded { index: 1, .. })
    ));
    assert!(matches!(
        writer.put(&recorded(3)),
        Err(Error::NotPlanned { index: 3, .. })
    ));
    assert_eq!(files(place.path()), before);
    assert_eq!(writer.recorded().unwrap(), BTreeSet::from([1]));
}

#[test]
fn the_same_runs_give_the_same_bytes_in_any_order() {
    let place = tempfile::tempdir().unwrap();
    let (a, b) = (place.path().join("a"), place.path().join("b"));
    let writer = Writer::create(&a, &head(3)).unwrap();
    for index in [0, 1, 2] {
        writer.put(&recorded(index)).unwrap();
        writer.log(&json!({"index": index, "wall_s": 0.1})).unwrap();
    }
    let writer = Writer::create(&b, &head(3)).unwrap();
    writer.put(&recorded(2)).unwrap();
    drop(writer);
    let writer = Writer::resume(&b, &head(3)).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| writer.put(&recorded(1)).unwrap());
        scope.spawn(|| writer.put(&recorded(0)).unwrap());
    });
    assert_eq!(files(&a), files(&b));
}

#[test]
fn leftovers_of_writes_that_were_cut_off_are_removed() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let writer = Writer::create(place.path(), &head(3)).unwrap();
    writer.put(&recorded(0)).unwrap();
    writer.log(&json!({"index": 0})).unwrap();
    drop(writer);
    let clean = files(place.path());
    for name in [
        "runs/.part-x",
        "samples/.part-y",
        "samples/0001.parquet",
        "raw/0002-a",
    ] {
        fs::write(at(name), "half").unwrap();
    }
    fs::write(at("log.jsonl"), "{\"index\":0}\n{\"ind").unwrap();
    assert_eq!(read(place.path()).unwrap().runs.len(), 1);
    Writer::resume(place.path(), &head(3)).unwrap();
    assert_eq!(files(place.path()), clean);
    assert_eq!(
        fs::read_to_string(at("log.jsonl")).unwrap(),
        "{\"index\":0}\n"
    );
}

#[test]
fn only_one_process_does_a_schedule() {
    let place = tempfile::tempdir().unwrap();
    let first = Writer::create(place.path(), &head(3)).unwrap();
    let busy = |result: Result<Writer, Error>| matches!(result, Err(Error::Busy(_)));
    assert!(busy(Writer::resume(place.path(), &head(3))));
    assert!(busy(Writer::join(place.path(), &head(3))));
    drop(first);
    let some = Writer::join(place.path(), &head(3)).unwrap();
    let more = Writer::join(place.path(), &head(3)).unwrap();
    assert!(busy(Writer::resume(place.path(), &head(3))));
    some.put(&recorded(0)).unwrap();
    assert!(matches!(
        more.put(&recorded(0)),
        Err(Error::AlreadyRecorded { .. })
    ));
}

#[test]
fn those_who_do_single_runs_may_begin_a_bundle_at_once() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("new");
    std::thread::scope(|scope| {
        for index in 0..8 {
            let directory = &directory;
            scope.spawn(move || {
                let writer = Writer::join(directory, &head(8)).unwrap();
                writer.put(&recorded(index)).unwrap();
            });
        }
    });
    let records = read(&directory).unwrap();
    assert_eq!(records.runs.len(), 8);
    assert!(
        records
            .doubts
            .iter()
            .all(|doubt| doubt.code != "incomplete")
    );
}

#[test]
fn runs_after_a_planned_stop_do_not_count_as_missing() {
    let place = tempfile::tempdir().unwrap();
    let runs: Vec<_> = (0..8)
        .map(|index| json!({"index": index, "seed": 11 + index, "block": index / 2}))
        .collect();
    let until = Head {
        plan: json!({"until": {"first_look": 2, "every": 1}, "runs": runs}),
        ..head(8)
    };
    let is_incomplete = || {
        let doubts = read(place.path()).unwrap().doubts;
        doubts.iter().any(|doubt| doubt.code == "incomplete")
    };
    let writer = Writer::create(place.path(), &until).unwrap();
    let codes: Vec<bool> = (0..6)
        .map(|index| {
            writer.put(&recorded(index)).unwrap();
            is_incomplete()
        })
        .collect();
    // It may stop after two or three whole blocks.
    assert_eq!(codes, [true, true, true, false, true, false]);
}

#[test]
fn another_experiment_is_refused_with_the_first_difference() {
    let place = tempfile::tempdir().unwrap();
    drop(Writer::create(place.path(), &head(3)).unwrap());
    let refused = |change: fn(&mut Head)| {
        let mut other = head(3);
        change(&mut other);
        Writer::resume(place.path(), &other).map_err(|error| error.to_string())
    };
    for (change, part) in [
        (
            (|h: &mut Head| h.experiment = "title = \"x\"\nruns = 4\n".into()) as fn(&mut Head),
            "experiment, line 2: 'runs = 3' in the bundle, 'runs = 4' now",
        ),
        (
            |h| h.plan["runs"][1]["seed"] = json!(9),
            "plan.runs[1].seed: 12 ",
        ),
        (|h| h.target = "host".into(), "target: 'exact'"),
        (
            |h| drop(h.facts.insert("qemu".into(), "10.0".into())),
            "facts.qemu: '7.2'",
        ),
    ] {
        let text = refused(change).unwrap_err();
        assert!(text.contains(part), "{text}");
    }
    // The exact target is the same on every host.
    refused(|h| {
        h.machine = "other".into();
        h.source = "elsewhere.toml".into();
        h.facts.insert("host_cpu".into(), "other".into());
    })
    .unwrap();
}

#[test]
fn foreign_files_are_left_alone() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("thesis.txt"), "mine").unwrap();
    for begin in [Writer::create, Writer::join] {
        assert!(matches!(
            begin(place.path(), &head(3)),
            Err(Error::NotEmpty(_))
        ));
    }
    assert_eq!(files_in(place.path()), ["thesis.txt"]);
}

fn files_in(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap();
    names
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn a_value_that_is_no_number_is_unavailable_and_not_lost() {
    let place = tempfile::tempdir().unwrap();
    let writer = Writer::create(place.path(), &head(3)).unwrap();
    let mut run = recorded(0);
    run.run.metrics["time"].value = f64::NAN;
    writer.put(&run).unwrap();
    let records = read(place.path()).unwrap();
    assert!(!records.runs[0].metrics.contains_key("time"));
    let found = records
        .unavailable
        .iter()
        .find(|u| u.metric.as_deref() == Some("time"));
    assert_eq!(found.unwrap().reason, "the value read was NaN");
}

proptest! {
    // Each case flushes to disk.
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn samples_of_any_kind_read_back(
        series in prop::collection::vec(
            prop::collection::vec((0u64..1 << 63, prop::num::f64::ANY), 0..50),
            0..4,
        )
    ) {
        let place = tempfile::tempdir().unwrap();
        let writer = Writer::create(place.path(), &head(1)).unwrap();
        let mut run = recorded(0);
        run.samples = series
            .iter()
            .enumerate()
            .map(|(at, pairs)| assize_bundle::Samples {
                metric: format!("metric {at}"),
                unit: "ns".into(),
                start_ns: None,
                t_ns: pairs.iter().map(|pair| pair.0).collect(),
                values: pairs.iter().map(|pair| pair.1).collect(),
            })
            .collect();
        writer.put(&run).unwrap();
        let bits = |run: &assize_bundle::RunRecord| -> Vec<(String, Vec<u64>, Vec<u64>)> {
            run.samples
                .iter()
                .map(|s| {
                    let values = s.values.iter().map(|v| v.to_bits()).collect();
                    (s.metric.clone(), s.t_ns.clone(), values)
                })
                .collect()
        };
        prop_assert_eq!(bits(&read_run(place.path(), 0).unwrap()), bits(&run));
    }
}
