//! The races of `experiments/races.toml` make runs fail, and their fixes prevent that.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{Outcome, command, errors};

crate::common::tests! {
    needs ["agent", "QEMU", "kernel debian:6.12", "modules for debian:6.12"];
    planted_races_fail_and_never_with_their_fix = planted,
}

/// Races that fail in one of 4,000 attempts or more often.
const FREQUENT: &[&str] = &[
    "abba",
    "check-then-act",
    "double-put",
    "late-callback",
    "lost-update",
    "missed-wakeup",
    "sleep-in-rcu",
];

/// Races that need a delayed store or a paused CPU, and so never fail here.
const NEVER: &[&str] = &["no-barrier", "short-grace"];

/// Whether any run of each configuration crashed.
fn crashed(bundle: &Path) -> BTreeMap<String, bool> {
    let entries = fs::read_dir(bundle.join("runs")).unwrap();
    let runs = entries.map(|entry| {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        let run: Value = serde_json::from_slice(&bytes).unwrap();
        let name = run["configuration"].as_str().unwrap().to_string();
        let why = run["exit"]["failed"]["why"].as_str();
        assert!(why.is_some() || run["exit"] == "completed", "{run}");
        assert!(
            why.is_none_or(|why| why.contains("panic")),
            "{name}: {why:?}"
        );
        (name, why.is_some())
    });
    let mut any = BTreeMap::new();
    for (name, crashed) in runs {
        *any.entry(name).or_default() |= crashed;
    }
    any
}

fn planted() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/races.toml");
    // One run of 20,000 attempts, and the first failure ends it.
    let text = fs::read_to_string(source)?
        .replace(
            "runs = 100",
            "runs = 1\ncommand_line = [\"panic_on_warn=1\"]",
        )
        .replace("timeout = \"3s\"", "timeout = \"60s\"")
        .replace(
            "setup = [{ sysctl",
            "setup = [{ module = \"simrace\", parameters = { attempts = 20000 } },\n\
             { sysctl = \"kernel.hung_task_panic\", value = 1 },\n{ sysctl",
        );
    fs::write(here.join("races.toml"), text)?;
    let done = command(here, &["run", "--quiet", "races.toml"]).output()?;
    let crashed = crashed(&here.join("races.bundle"));
    assert_eq!(crashed.len(), 24, "{}", errors(&done));
    // With some seeds, the threads of a race never get close enough to each other.
    let races = format!("race={}", FREQUENT.join(","));
    let words = ["--set", &races, "--set", "fix=off", "--out", "seeds"];
    let words = [&["run", "--quiet", "--runs", "6", "races.toml"], &words[..]].concat();
    let done = command(here, &words).output()?;
    let with_seeds = self::crashed(&here.join("seeds"));
    for race in FREQUENT {
        assert!(with_seeds[*race], "{race} does not fail: {}", errors(&done));
    }
    for (name, crashed) in &crashed {
        let never = name.ends_with("+fix") || NEVER.contains(&name.as_str());
        assert!(!(never && *crashed), "{name} fails");
    }
    Ok(())
}
