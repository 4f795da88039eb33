//! The workloads of a phone on the exact machine: planted effects are found with their size, and no
//! others.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::{Cache, Outcome, command, errors, is_exact, skip, there};
use serde_json::Value;

crate::common::tests! {
    needs ["agent", "QEMU", "kernel debian:6.12"];
    work_and_cpus_count_as_they_should = work_and_cpus,
    music_stops_only_where_it_is_starved = music,
    rt_app_is_calibrated_once_for_all = rt_app,
}

/// Maps configuration and workload to the record of a run.
type Runs = BTreeMap<(String, String), Value>;

struct Place {
    directory: tempfile::TempDir,
    cache: Cache,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Place {
        let place = Place {
            directory: tempfile::tempdir().unwrap(),
            cache: Cache::new(),
        };
        for (name, text) in files {
            fs::write(place.here().join(name), text).unwrap();
        }
        place
    }

    fn here(&self) -> &Path {
        self.directory.path()
    }

    fn does(&self, arguments: &[&str]) -> String {
        let done = command(self.here(), arguments)
            .env("ASSIZE_CACHE", self.cache.path())
            .output()
            .unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
        errors(&done)
    }

    /// Runs the experiment and returns the record of each run.
    fn runs(&self, more: &[&str]) -> Runs {
        let run = ["run", "test.toml", "--quiet", "--out", "bundle"];
        self.does(&[&run, more].concat());
        let bundle = self.here().join("bundle/runs");
        let mut runs = Runs::new();
        for entry in fs::read_dir(&bundle).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|end| end != "json") {
                continue;
            }
            let run: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
            assert_eq!(run["exit"], "completed", "{run}");
            let text = |key: &str| run[key].as_str().unwrap().to_string();
            runs.insert((text("configuration"), text("workload")), run);
        }
        fs::remove_dir_all(self.here().join("bundle")).unwrap();
        runs
    }
}

fn run_of<'r>(runs: &'r Runs, configuration: &str, workload: &str) -> &'r Value {
    &runs[&(configuration.to_string(), workload.to_string())]
}

fn metric(run: &Value, name: &str) -> f64 {
    let value = run["metrics"][name]["value"].as_f64();
    value.unwrap_or_else(|| panic!("no {name} in {run}"))
}

/// Asserts that two values differ by at most this fraction.
fn is_near(found: f64, wanted: f64, share: f64, what: &str) {
    let off = (found / wanted - 1.0).abs();
    assert!(off <= share, "{what}: {found}, not {wanted}");
}

/// A page is 4 × (2 + 3) + 2 = 22 ms with a CPU for each thread, and
/// 4 × (2 + 3 × 3) + 2 = 46 ms on one.
const WORK: &str = r#"title = "Work and CPUs"
runs = 1
images = 1

[factors.work.plain]

[factors.work.more]
workload.browser = { main = "2400us", work = "3600us" }
workload.score.threads = 1

[workloads.browser]
kind = "browser"
pages = 8
rate = 0
think = "10ms"
think_spread = "10ms"

[workloads.score]
kind = "cpu-score"
threads = 8
duration = "300ms"
"#;

fn work_and_cpus() -> Outcome {
    let place = Place::new(&[("test.toml", WORK)]);
    if let Err(why) = there(&["QEMU, 2 CPUs"]) {
        skip(&why);
        return Ok(());
    }
    let one = place.runs(&["--cpus", "1"]);
    let four = place.runs(&["--cpus", "4"]);
    let page = |runs: &Runs, work: &str| metric(run_of(runs, work, "browser"), "render_time_mean");
    is_near(page(&four, "plain"), 22e6, 0.02, "with a CPU for each");
    is_near(page(&one, "plain"), 46e6, 0.02, "on one CPU");
    for runs in [&one, &four] {
        let ratio = page(runs, "more") / page(runs, "plain");
        is_near(ratio, 1.2, 0.01, "a fifth more work");
    }
    let score = |runs: &Runs, work: &str, name: &str| metric(run_of(runs, work, "score"), name);
    let single = score(&one, "more", "score");
    is_near(
        score(&one, "plain", "score"),
        single,
        0.02,
        "8 threads on one",
    );
    is_near(
        score(&four, "more", "score"),
        single,
        0.02,
        "1 thread on four",
    );
    let all = score(&four, "plain", "score");
    is_near(all, 4.0 * single, 0.02, "8 threads on four");
    let (least, most) = ("score_least", "score_most");
    let (least, most) = (score(&four, "plain", least), score(&four, "plain", most));
    assert!(least <= all / 8.0 && all / 8.0 <= most && least > 0.0);
    for more in [&["--out", "first"][..], &["--out", "second", "--fresh"]] {
        place.does(&[&["run", "test.toml", "--cpus", "4"], more].concat());
    }
    is_exact(place.here());
    Ok(())
}

/// 200 ms are buffered, and each second an urgent task occupies the CPU for 400 ms.
const MUSIC: &str = r#"title = "Music"
runs = 1
images = 1

[workloads.quiet]
kind = "audio"
duration = "2s"

[workloads.beside]
kind = "audio"
duration = "2s"
background = ["light"]

[workloads.starved]
kind = "audio"
duration = "2s"
background = ["hog"]

[background.light]
kind = "hogs"

[background.hog]
kind = "periodic"
loops = [{ period = "1s", run = "400ms", scheduling = { policy = "fifo", priority = 50 } }]
"#;

fn music() -> Outcome {
    if let Err(why) = there(&["mpg123", "aplay"]) {
        skip(&why);
        return Ok(());
    }
    let place = Place::new(&[("test.toml", MUSIC)]);
    let runs = place.runs(&[]);
    let underruns = |workload: &str| {
        let events = run_of(&runs, "base", workload)["events"]
            .as_array()
            .unwrap();
        assert_eq!(events[0]["event"], "underruns");
        events[0]["count"].as_u64().unwrap()
    };
    let silence = |workload: &str| metric(run_of(&runs, "base", workload), "silence");
    for workload in ["quiet", "beside"] {
        assert_eq!(underruns(workload), 0, "{workload}");
        assert!(silence(workload).abs() < f64::EPSILON);
    }
    // Two or three times while it plays, depending on the phase.
    let starved = underruns("starved");
    assert!((2..=3).contains(&starved), "{starved}");
    let each = silence("starved") / starved as f64;
    // Minus the rest of the buffer, plus a little for starting again.
    assert!((150e6..300e6).contains(&each), "{each}");
    let cost = metric(run_of(&runs, "base", "quiet"), "player_cpu_time");
    assert!((1e6..200e6).contains(&cost), "{cost}");
    let packages = run_of(&runs, "base", "quiet")["identity"]
        .as_array()
        .unwrap();
    let packages: Vec<&str> = packages
        .iter()
        .filter(|part| part["kind"] == "package")
        .map(|part| part["name"].as_str().unwrap())
        .collect();
    assert!(packages.contains(&"alsa-utils"), "{packages:?}");
    assert!(packages.contains(&"libasound2-data"), "{packages:?}");
    Ok(())
}

/// rt-app with the calibration set by the workload, which must be what rt-app measures itself.
const RT_APP: &str = r#"title = "rt-app"
runs = 1
images = 1
cpus = 1

[workloads.given]
kind = "periodic"
rt_app = "cpu.json"

[workloads.measured]
kind = "command"
argv = ["rt-app", "/cpu.json"]

[payload]
files = [{ from = "cpu.json", to = "/cpu.json" }]
"#;

fn rt_app() -> Outcome {
    if let Err(why) = there(&["rt-app"]) {
        skip(&why);
        return Ok(());
    }
    let file = r#"{"global": {"duration": 1, "calibration": "CPU0"},
        "tasks": {"one": {"loop": 1, "run": 1000}}}"#;
    let place = Place::new(&[("test.toml", RT_APP), ("cpu.json", file)]);
    let run = ["run", "test.toml", "--quiet", "--out", "raw.bundle"];
    place.does(&run);
    let said = |workload: &str| {
        let files = fs::read_dir(place.here().join("raw.bundle/raw")).unwrap();
        let ending = format!("-{workload}.stderr");
        let mut paths = files.map(|entry| entry.unwrap().path());
        let path = paths.find(|path| path.to_string_lossy().ends_with(&ending));
        fs::read_to_string(path.unwrap()).unwrap()
    };
    let loads = format!("pLoad = {}ns", assize_job::Periodic::EXACT_CALIBRATION_NS);
    let (measured, given) = (said("measured"), said("given"));
    assert!(measured.contains("Calibrate ns per loop"), "{measured}");
    assert!(measured.contains(&loads), "{measured}");
    assert!(given.contains(&loads), "{given}");
    assert!(!given.contains("Calibrate ns per loop"), "{given}");
    Ok(())
}
