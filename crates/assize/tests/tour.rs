//! The experiments of the tour on the exact machine, with few runs.

use std::path::Path;
use std::process::Output;

use crate::common::{Cache, Outcome, command, errors, files, is_exact, skip, there};
use serde_json::Value;

crate::common::tests! {
    needs ["agent", "QEMU", "kernel debian:6.12"];
    load_delays_a_timer = cyclictest,
    equal_configurations_have_a_noise_floor = aa,
    two_kernels_are_compared = kernels,
    frames_arrive_and_only_stalls_are_seen = framebuffer,
    the_tour_is_exact = exact,
}

/// A directory for bundles, with a separate cache.
struct Tour {
    directory: tempfile::TempDir,
    cache: Cache,
    file: String,
}

impl Tour {
    fn new(name: &str) -> Tour {
        let tour = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/tour");
        Tour {
            directory: tempfile::tempdir().unwrap(),
            cache: Cache::new(),
            file: tour.join(name).display().to_string(),
        }
    }

    fn here(&self) -> &Path {
        self.directory.path()
    }

    fn run(&self, more: &[&str]) -> Output {
        let arguments = [&["run", &self.file, "--runs", "2"], more].concat();
        let done = command(self.here(), &arguments)
            .env("ASSIZE_CACHE", self.cache.path())
            .output()
            .unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
        done
    }

    /// Runs the experiment, then again from the cache; returns the verdict.
    fn verdict(&self, runs: usize) -> Value {
        let done = self.run(&["--json", "--out", "first"]);
        let said = errors(&done);
        assert!(
            said.contains(&format!("{runs} of {runs} runs recorded")),
            "{said}"
        );
        assert!(
            !said.contains("failed") && !said.contains("the cache"),
            "{said}"
        );
        let verdict: Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!(verdict["runs"].as_array().unwrap().len(), runs);
        let again = self.run(&["--json", "--out", "second"]);
        let said = errors(&again);
        let all = format!("all {runs} runs came from the cache");
        assert!(said.contains(&all), "{said}");
        let (first, second) = (self.here().join("first"), self.here().join("second"));
        assert_eq!(files(&first), files(&second));
        verdict
    }
}

/// The comparisons of a metric: configuration and ratio.
fn ratios(verdict: &Value, metric: &str) -> Vec<(String, f64)> {
    let comparisons = verdict["comparisons"].as_array().unwrap();
    let of = comparisons.iter().filter(|c| c["metric"] == metric);
    of.map(|c| {
        assert_eq!((&c["n_baseline"], &c["n"]), (&2.into(), &2.into()), "{c}");
        let name = c["configuration"].as_str().unwrap().to_string();
        (name, c["ratio"].as_f64().unwrap())
    })
    .collect()
}

fn cyclictest() -> Outcome {
    let verdict = Tour::new("cyclictest.toml").verdict(8);
    for metric in ["latency_ns_p50", "latency_ns_p99", "wakeup_latency_ns_p99"] {
        let names: Vec<String> = ratios(&verdict, metric)
            .into_iter()
            .map(|(n, _)| n)
            .collect();
        assert_eq!(names, ["none+fifo", "hogs+normal", "hogs+fifo"], "{metric}");
    }
    // Two busy threads delay a thread of the same priority by whole time slices, but never one with
    // real-time priority.
    let worst = ratios(&verdict, "latency_ns_max");
    let of = |name: &str| worst.iter().find(|(n, _)| n == name).unwrap().1;
    assert!(
        of("hogs+normal") > 5.0 && of("hogs+fifo") < 2.0,
        "{worst:?}"
    );
    let factorial = verdict["factorial"].as_array().unwrap();
    assert!(factorial.iter().any(|f| f["metric"] == "latency_ns_max"));
    Ok(())
}

fn aa() -> Outcome {
    let verdict = Tour::new("aa.toml").verdict(8);
    let floor = verdict["noise_floor"].as_array().unwrap();
    for (workload, metric) in [("cyclictest", "latency_ns_p99"), ("hackbench", "elapsed")] {
        let found = floor
            .iter()
            .find(|f| f["workload"] == workload && f["metric"] == metric);
        let ratio = found.unwrap()["ratio"].as_f64().unwrap();
        // Only the seeds differ.
        assert!((0.5..2.0).contains(&ratio), "{workload} {metric}: {ratio}");
    }
    assert!(verdict["comparisons"].as_array().unwrap().is_empty());
    Ok(())
}

fn kernels() -> Outcome {
    if let Err(why) = there(&["kernel debian:6.1"]) {
        skip(&why);
        return Ok(());
    }
    let verdict = Tour::new("kernels.toml").verdict(4);
    for metric in ["elapsed", "context_switches"] {
        let ratios = ratios(&verdict, metric);
        let [(name, ratio)] = &ratios[..] else {
            panic!("{metric}: {ratios:?}");
        };
        assert!(name == "debian:6.12" && *ratio != 1.0, "{name}: {ratio}");
    }
    Ok(())
}

fn framebuffer() -> Outcome {
    if let Err(why) = there(&["modules for debian:6.12"]) {
        skip(&why);
        return Ok(());
    }
    let verdict = Tour::new("framebuffer-latency.toml").verdict(20);
    let rates = verdict["rates"].as_array().unwrap();
    let mut seen = 0;
    for rate in rates {
        let (event, count) = (
            rate["event"].as_str().unwrap(),
            rate["count"].as_u64().unwrap(),
        );
        let stalled = rate["configuration"] == "stalled" && event == "gaps_unexplained";
        let own = ["gaps_unexplained", "frames_late"].contains(&event);
        assert!(!own || stalled == (count > 0), "{rate}");
        seen += u32::from(own);
    }
    assert_eq!(seen, 20, "{rates:?}");
    // All configurations except the control copy, and all data arrive.
    let runs = verdict["runs"].as_array().unwrap();
    let wrong = runs
        .iter()
        .map(|run| &run["metrics"]["pixels_wrong"]["value"]);
    let wrong: Vec<Option<f64>> = wrong.map(Value::as_f64).collect();
    assert_eq!(
        wrong.iter().filter(|one| **one == Some(0.0)).count(),
        18,
        "{wrong:?}"
    );
    assert_eq!(
        wrong.iter().filter(|one| one.is_none()).count(),
        2,
        "{wrong:?}"
    );
    Ok(())
}

fn exact() -> Outcome {
    let tour = Tour::new("cyclictest.toml");
    tour.run(&["--out", "first"]);
    tour.run(&["--out", "second", "--fresh"]);
    is_exact(tour.here());
    Ok(())
}
