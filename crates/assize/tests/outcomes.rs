//! Outcomes of runs, from a bundle to every format and the exit status.

use std::path::Path;
use std::process::{Command, Output};

use assize_bundle::kernel_log::complaints;
use assize_bundle::{Configuration, Ending, Head, Measurement, Run, RunExit, RunRecord, Writer};
use serde_json::{Value, json};

const PANIC: &str = "\
[    3.117010] BUG: kernel NULL pointer dereference, address: 0000000000000008
[    3.117020] Oops: Oops: 0000 [#1] PREEMPT SMP NOPTI
[    3.117030] RIP: 0010:ring_take+0x5e/0x90 [ring]
[    3.117040] Call Trace:
[    3.117050]  reader+0x3a/0x60 [ring]
[    3.117060] Kernel panic - not syncing: Fatal exception";

const WARNING: &str = "\
[    3.000131] WARNING: CPU: 1 PID: 212 at ring.c:104 ring_check+0xa1/0xc0 [ring]
[    3.000200] Call Trace:
[    3.000230]  seq_read_iter+0x11e/0x480";

/// The outcome of runs on the patched side.
#[derive(Clone, Copy, PartialEq)]
enum Planted {
    /// This many runs crash, the first ones.
    Crashes(u32),
    /// This many runs complete with a kernel warning, the first ones.
    Warnings(u32),
}

/// A bundle of 40 pairs with common seed and image.
fn bundle(directory: &Path, planted: Planted) {
    let configuration = |name: &str| Configuration {
        name: name.into(),
        label: name.into(),
        ..Configuration::default()
    };
    let head = Head {
        source: "ring.toml".into(),
        plan: json!({ "overrides": {}, "margin": 0.01 }),
        target: "exact".into(),
        title: "A ring".into(),
        configurations: vec![configuration("old"), configuration("new")],
        workloads: vec!["read".into()],
        primary: vec!["time".into()],
        planned_runs: 80,
        ..Head::default()
    };
    let writer = Writer::create(directory, &head).unwrap();
    for index in 0..80 {
        let (block, name) = (index / 2, ["old", "new"][(index % 2) as usize]);
        let mut run = Run::new(name, "read", block + 1);
        (run.order, run.block, run.image) = (index, Some(block), Some(block));
        let value = 10.0 + f64::from((7 * block + 3 * (index % 2)) % 5) * 0.001;
        let mut recorded = match planted {
            Planted::Crashes(n) if name == "new" && block < n => {
                let why = "kernel panic: Kernel panic - not syncing: Fatal exception".into();
                let console = PANIC.to_owned();
                let exit = RunExit::Failed { why, console };
                RunRecord {
                    ending: Some(Ending::Crashed),
                    complaints: complaints(PANIC),
                    ..RunRecord::new(index, u64::from(block), run, exit)
                }
            }
            _ => {
                run.metrics
                    .insert("time".into(), Measurement::new(value, "s"));
                RunRecord::new(index, u64::from(block), run, RunExit::Completed)
            }
        };
        if matches!(planted, Planted::Warnings(n) if name == "new" && block < n) {
            recorded.complaints = complaints(WARNING);
        }
        writer.put(&recorded).unwrap();
    }
}

fn assize(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assize"));
    command.args(arguments).current_dir(directory);
    command.output().unwrap()
}

fn document(directory: &Path, arguments: &[&str]) -> Value {
    serde_json::from_slice(&assize(directory, arguments).stdout).unwrap()
}

/// The output of a bundle in a format, and the exit status.
fn report_of(at: &Path, more: &[&str]) -> (String, String, Option<i32>) {
    let done = assize(at, &[&["report", "ring.bundle"], more].concat());
    let out = String::from_utf8_lossy(&done.stdout).into_owned();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    (out, said, done.status.code())
}

fn planted(planted: Planted) -> tempfile::TempDir {
    let at = tempfile::tempdir().unwrap();
    bundle(&at.path().join("ring.bundle"), planted);
    at
}

const SAID: &str = "0 of 40 -> 6 of 40 runs";

#[test]
fn six_crashes_of_forty_are_said_first_in_every_format() {
    let at = planted(Planted::Crashes(6));
    let at = at.path();
    let (brief, said, status) = report_of(at, &["--format", "brief"]);
    assert!(
        brief.starts_with("ring.toml: 74 runs completed of 80"),
        "{brief}"
    );
    let said_at = brief.find("\n\nCrashes with new: worse: 0 of 40 -> 6 of 40 runs (oops in");
    assert!(
        said_at.is_some() && said_at < brief.find("time (less"),
        "{brief}"
    );
    assert_eq!(status, Some(0));
    // No option asks about endings: the last line reports them, with the command to investigate.
    assert!(
        said.contains("look into it: assize run-one ring.bundle --index 1"),
        "{said}"
    );

    let (mail, ..) = report_of(at, &["--format", "mail"]);
    let mail = mail.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "How runs ended Crashes with new: worse: 0 of 40 -> 6 of 40 runs",
        "(oops in ring_take+0x5e [ring]), established",
        "McNemar's exact test: p = 0.031",
        "of 40 pairs with the same seed and image, 0 ended so with old only, 6 with new only",
        "run 1 (new on read, seed 0), run 3 (new on read, seed 1)",
        "assize run-one ring.bundle --index 1",
        "n = 34 of 40 against 34 of 40",
    ] {
        assert!(mail.contains(part), "{part}: {mail}");
    }
    let (page, ..) = report_of(at, &["--format", "html"]);
    let ended = page.find(SAID.replace('>', "&gt;").as_str());
    assert!(
        ended.is_some() && ended < page.find("id=\"hero\""),
        "{ended:?}"
    );
    let (junit, ..) = report_of(at, &["--format", "junit"]);
    assert!(junit.contains("failures=\"1\""), "{junit}");
    let (ktap, ..) = report_of(at, &["--format", "ktap"]);
    assert!(ktap.contains("not ok 1 outcomes"), "{ktap}");
    let (github, ..) = report_of(at, &["--format", "github"]);
    assert!(
        github.starts_with("::error title=outcomes%3A crashes with new"),
        "{github}"
    );
    let (gitlab, ..) = report_of(at, &["--format", "gitlab"]);
    assert!(gitlab.contains("crashes with new against old"), "{gitlab}");
    let (markdown, ..) = report_of(at, &["--format", "markdown"]);
    assert!(
        markdown.contains("| **failed** | outcomes | crashes"),
        "{markdown}"
    );
    let (kcidb, ..) = report_of(at, &["--format", "kcidb", "--kcidb-build", "me:1"]);
    assert!(kcidb.contains("\"FAIL\""), "{kcidb}");
    let json = document(at, &["report", "ring.bundle", "--json"]);
    assert_eq!(json["outcomes"][0]["count"], 6);
    assert_eq!(json["outcomes"][0]["verdict"], "established");
    assert!(
        json["sentences"][0]["text"]
            .as_str()
            .unwrap()
            .contains("more crashes")
    );
    assert_eq!(json["comparisons"][0]["attempted"], json!([40, 40]));
    assert_ne!(json["comparisons"][0]["verdict"], "equivalent");
}

#[test]
fn any_gate_is_closed_by_crashes() {
    let at = planted(Planted::Crashes(6));
    for gate in ["worse>2%", "lint", "drift", "undecided"] {
        let more = [
            "--fail-on",
            gate,
            "--primary",
            "time",
            "--lower-is-better",
            "time",
        ];
        let (_, said, status) = report_of(at.path(), &more);
        assert_eq!(status, Some(1), "{gate}: {said}");
        assert!(said.contains("Crashes with new: worse"), "{gate}: {said}");
        assert!(!said.contains("look into it"), "{gate}: {said}");
    }
}

#[test]
fn one_crash_of_forty_is_mentioned_everywhere_without_a_verdict() {
    let at = planted(Planted::Crashes(1));
    let at = at.path();
    let mention = "0 of 40 -> 1 of 40 runs";
    for format in ["brief", "mail", "junit", "ktap", "markdown", "html"] {
        let (text, said, status) = report_of(at, &["--format", format]);
        let text = text.replace("&gt;", ">").replace('\n', " ");
        assert!(text.contains(mention), "{format}: {text}");
        assert_eq!((status, said.as_str()), (Some(0), ""), "{format}");
    }
    let (brief, ..) = report_of(at, &["--format", "brief"]);
    let brief = brief.replace("\n  ", " ");
    assert!(
        brief.contains("Crashes with new: cannot tell: 0 of 40 -> 1 of 40"),
        "{brief}"
    );
    assert!(
        brief.contains("6 or more such runs would show a difference"),
        "{brief}"
    );
    let gate = ["--fail-on", "worse>2%", "--lower-is-better", "time"];
    assert_eq!(report_of(at, &gate).2, Some(0));
    // A gate that requires proof fails without it.
    let gate = ["--fail-on", "unproven>2%", "--lower-is-better", "time"];
    assert_eq!(report_of(at, &gate).2, Some(1));
}

/// The outcome of a claim about the bundle, and the reason.
fn claimed(at: &Path, claim: &str) -> (String, String) {
    let json = document(at, &["report", "ring.bundle", "--json", "--claim", claim]);
    let claims = json["claims"].as_array();
    let claim = &claims.unwrap_or_else(|| panic!("{claim}: {json}"))[0];
    let [outcome, because] = ["outcome", "because"].map(|key| claim[key].as_str().unwrap());
    (outcome.to_owned(), because.to_owned())
}

#[test]
fn a_claim_may_speak_of_how_runs_ended() {
    for (crashes, claim, outcome, because) in [
        (
            20,
            "new > old on crashes",
            "upheld",
            "crashes 20 of 40 against 0 of 40",
        ),
        (
            20,
            "new > old + 10% on crashes",
            "upheld",
            "crashes 20 of 40",
        ),
        (
            20,
            "new <= old + 10% on crashes in read",
            "refuted",
            "crashes 20 of 40",
        ),
        (
            20,
            "new < old - 10% on crashes",
            "refuted",
            "crashes 20 of 40",
        ),
        (
            20,
            "new > old + 45% on crashes",
            "undecided",
            "crashes 20 of 40",
        ),
        // One crash rules out an excess of twenty points, but not one of two.
        (
            1,
            "new <= old + 20% on crashes",
            "upheld",
            "crashes 1 of 40",
        ),
        (
            1,
            "new > old + 20% on crashes",
            "refuted",
            "crashes 1 of 40",
        ),
        (
            1,
            "new <= old + 2% on crashes",
            "undecided",
            "crashes 1 of 40",
        ),
        (
            1,
            "new > old on crashes",
            "undecided",
            "smallest attainable p: 1",
        ),
        // No hang at all rules out twenty points as well.
        (
            1,
            "new <= old + 20% on hangs",
            "upheld",
            "hangs 0 of 40 against 0 of 40",
        ),
        (
            1,
            "new <= old + 5% on hangs",
            "undecided",
            "about 86 runs a side rule out a difference of 5 points",
        ),
        (1, "new = old on hangs", "undecided", "claim `A <= B + 5%`"),
        (
            0,
            "new <= old + 20% on kernel warnings",
            "upheld",
            "kernel warnings 0 of 40",
        ),
        // Every run crashes, as claimed.
        (
            40,
            "new > old + 50% on crashes",
            "upheld",
            "crashes 40 of 40",
        ),
    ] {
        let at = planted(Planted::Crashes(crashes));
        let (found, why) = claimed(at.path(), claim);
        assert_eq!(found, outcome, "{claim}: {why}");
        assert!(why.contains(because), "{claim}: {why}");
    }
}

/// A claim that fits the data may have been chosen after seeing them.
#[test]
fn a_claim_on_crashes_is_as_sure_as_their_row() {
    let at = planted(Planted::Crashes(6));
    let json = document(
        at.path(),
        &[
            "report",
            "ring.bundle",
            "--json",
            "--claim",
            "new > old on crashes",
        ],
    );
    let row = &json["outcomes"][0];
    assert_eq!(row["verdict"], "established");
    assert_eq!(json["claims"][0]["outcome"], "upheld");
    let without = document(at.path(), &["report", "ring.bundle", "--json"]);
    assert_eq!(row["p_adjusted"], without["outcomes"][0]["p_adjusted"]);
}

#[test]
fn warnings_of_runs_that_completed_are_counted() {
    let at = planted(Planted::Warnings(12));
    let (brief, said, status) = report_of(at.path(), &["--format", "brief"]);
    let brief = brief.replace("\n  ", " ");
    assert!(
        brief.contains("Kernel warnings with new: worse: 0 of 40 -> 12 of 40 runs"),
        "{brief}"
    );
    assert!(
        brief.contains("WARNING in ring_check+0xa1 [ring]"),
        "{brief}"
    );
    assert!(brief.starts_with("ring.toml: 80 runs,"), "{brief}");
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(report_of(at.path(), &["--fail-on", "lint"]).2, Some(1));
}
