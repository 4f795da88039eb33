//! The pages of reports, opened in a real browser by `tests/browser/pages.mjs`.
//!
//! Experiments run on the exact machine, with few runs; a post is audited; synthetic bundles have
//! names that attack the page, or fill it. Pages, screenshots, output and runs are kept in
//! `browser` below the target directory, so that each run is executed only once.

mod invented;
mod planted;
mod why;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::common::{Outcome, can, command, document, errors, printed, skip};

/// Writes a page, and returns which checks apply to it.
type Made = fn() -> Opened;

/// A page in the form that `pages.mjs` expects: `CHECKS:PAGE`.
#[derive(Clone)]
struct Opened(String);

impl Opened {
    fn new(checks: &str, page: &Path) -> Self {
        Opened(format!("{checks}:{}", page.display()))
    }
}

static INVENTED: [Made; 5] = [published, hostile_bundle, hostile_post, large, machines];
static MEASURED: [Made; 2] = [dep_queue, run_job_latency];

/// One browser opens all pages: starting it takes longer than opening most of them.
#[test]
fn pages_of_experiments() {
    if browser_is_there() && can("pages_of_experiments", &MACHINE) {
        check(&MEASURED.map(|make| make())).unwrap();
    }
}

#[test]
fn pages_of_what_nobody_measured() {
    if browser_is_there() {
        check(&INVENTED.map(|make| make())).unwrap();
    }
}

#[test]
fn a_reader_finds_what_was_planted() {
    if browser_is_there() {
        reads().unwrap();
    }
}

#[test]
fn a_flame_graph_shows_what_was_planted() {
    if browser_is_there() {
        node("why.mjs", &[why::page().display().to_string()]).unwrap();
    }
}

#[test]
fn firefox_shows_the_same() {
    if browser_is_there() && firefox_is_there() && can("firefox_shows_the_same", &MACHINE) {
        let pages = [dep_queue, hostile_bundle, machines].map(|made| made().0);
        node_in(Some(&firefox()), "pages.mjs", &pages).unwrap();
        let why = why::page().display().to_string();
        node_in(Some(&firefox()), "why.mjs", &[why]).unwrap();
        reads_in(Some(&firefox())).unwrap();
    }
}

/// The requirements of pages with exact runs.
const MACHINE: [&str; 3] = ["agent", "QEMU", "kernel debian:6.12"];

fn browser_is_there() -> bool {
    browser().map_err(|why| skip(&why)).is_ok()
}

fn firefox_is_there() -> bool {
    let there = firefox().exists();
    if !there {
        skip(&format!(
            "{}: not there; ./setup.sh full",
            firefox().display()
        ));
    }
    there
}

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// Whether a browser, its driver and the packages are installed.
fn browser() -> Result<(), String> {
    let chromium = std::env::var_os("ASSIZE_CHROMIUM");
    let chromium = chromium.map_or_else(|| "/usr/bin/chromium".into(), PathBuf::from);
    if !chromium.exists() {
        return Err(format!(
            "{}: not there; ./setup.sh full",
            chromium.display()
        ));
    }
    let version = Command::new("node").arg("--version").output();
    let version = version.map_err(|why| format!("node: {why}; ./setup.sh full"))?;
    let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
    let major = version.trim_start_matches('v').split('.').next();
    if major
        .and_then(|n| n.parse().ok())
        .is_none_or(|n: u32| n < 18)
    {
        return Err(format!("node: {version} is older than 18; ./setup.sh full"));
    }
    let installed = root().join("target/setup/browser");
    for package in ["playwright-core", "axe-core"] {
        let at = installed.join("node_modules").join(package);
        if !at.exists() {
            return Err(format!("{}: not there; ./setup.sh full", at.display()));
        }
    }
    let lock = "package-lock.json";
    let wanted = fs::read(root().join("tests/browser").join(lock)).unwrap();
    if fs::read(installed.join(lock)).ok() != Some(wanted) {
        let at = installed.display();
        return Err(format!("{at}: not what {lock} pins; ./setup.sh full"));
    }
    Ok(())
}

/// The directory of pages and of the browser's output.
fn artefacts() -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("browser");
    fs::create_dir_all(&place).unwrap();
    place
}

/// Writes a page, together with the documents and the text that it must agree with.
fn page(name: &str, directory: &Path, asked: &[&str]) -> PathBuf {
    let place = artefacts().join(format!("{name}.html"));
    let html = place.display().to_string();
    printed(
        directory,
        &[asked, &["--format", "html", "-o", &html]].concat(),
    );
    let text = ["--format", "text", "--color", "never"];
    let text = printed(directory, &[asked, &text].concat());
    fs::write(place.with_extension("txt"), text).unwrap();
    let first = document(directory, &[asked, &["--format", "json"]].concat());
    let configurations = first["configurations"].as_array().unwrap().iter();
    // A page that is only timed does not switch to other baselines.
    let others: Vec<String> = configurations
        .filter(|_| name != "large")
        .filter(|one| one["repeats"].is_null() && one["name"] != first["baseline"])
        .map(|one| format!("--baseline={}", one["name"].as_str().unwrap()))
        .collect();
    let others = others.iter().map(|baseline| {
        document(
            directory,
            &[asked, &["--format", "json", baseline]].concat(),
        )
    });
    let documents: Vec<_> = std::iter::once(first.clone()).chain(others).collect();
    let json = serde_json::to_string(&documents).unwrap();
    fs::write(place.with_extension("json"), json).unwrap();
    place
}

/// Debian's Firefox, or the one that `ASSIZE_FIREFOX` names.
fn firefox() -> PathBuf {
    let named = std::env::var_os("ASSIZE_FIREFOX");
    named.map_or_else(|| "/usr/bin/firefox-esr".into(), PathBuf::from)
}

/// Runs all checks on pages in Chromium, and prints the results.
fn check(pages: &[Opened]) -> Outcome {
    let pages = pages.iter().map(|Opened(page)| page.clone());
    node("pages.mjs", &pages.collect::<Vec<_>>())
}

/// Runs a script from `tests/browser` with Chromium and prints its output.
fn node(script: &str, arguments: &[String]) -> Outcome {
    node_in(None, script, arguments)
}

/// Like `node`, in Firefox if a path is given.
fn node_in(firefox: Option<&Path>, script: &str, arguments: &[String]) -> Outcome {
    let script = root().join("tests/browser").join(script);
    let mut node = Command::new("node");
    match firefox {
        Some(firefox) => node.env("ASSIZE_FIREFOX", firefox),
        None => node.env_remove("ASSIZE_FIREFOX"),
    };
    let done = node
        .arg("--test-reporter=spec")
        .arg(script)
        .args(arguments)
        // An outer test runner would expect output in its own format.
        .env_remove("NODE_TEST_CONTEXT")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    println!("{said}{}", errors(&done));
    if !done.status.success() {
        return Err("a page is not as it should be: see above".into());
    }
    assert!(said.contains("pass "), "no check was made: {said}");
    Ok(())
}

/// Ten known answers, which both the first lines on a terminal and the first screen must show.
fn reads() -> Outcome {
    reads_in(None)
}

/// Like `reads`, in Firefox if a path is given.
fn reads_in(firefox: Option<&Path>) -> Outcome {
    let pages = planted::pages();
    for (page, finds) in &pages {
        fs::write(page.with_extension("planted.json"), finds).unwrap();
    }
    let pages = pages.iter().map(|(page, _)| page);
    node_in(
        firefox,
        "reader.mjs",
        &pages
            .map(|page| page.display().to_string())
            .collect::<Vec<_>>(),
    )
}

/// Runs an experiment on the exact machine; runs are cached.
fn experiment(directory: &Path, file: &Path, more: &[&str]) {
    static CACHE: OnceLock<PathBuf> = OnceLock::new();
    let cache = CACHE.get_or_init(|| {
        let cache = artefacts().join("cache");
        crate::common::share_usual(&cache);
        cache
    });
    let file = file.display().to_string();
    let arguments = [&["run", &file, "--out", "bundle"], more].concat();
    let done = command(directory, &arguments)
        .env("ASSIZE_CACHE", cache)
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
}

/// An experiment with kernel events, from which pages make timelines.
fn dep_queue() -> Opened {
    // Two browsers open the page, so it is written once, before either starts.
    static MADE: OnceLock<Opened> = OnceLock::new();
    MADE.get_or_init(make_dep_queue).clone()
}

fn make_dep_queue() -> Opened {
    let place = tempfile::tempdir().unwrap();
    let whole = fs::read_to_string(root().join("experiments/tour/dep-queue.toml")).unwrap();
    let text = whole.replace("instruments = [", "instruments = [\"kernel-events\", ");
    assert_ne!(text, whole);
    let file = place.path().join("dep-queue.toml");
    fs::write(&file, text).unwrap();
    experiment(place.path(), &file, &["--runs", "3"]);
    let why = "why bundle drm-sched depq+bypass+irq --workload sync --keep";
    let why: Vec<&str> = why.split(' ').collect();
    let done = command(place.path(), &why)
        .env("ASSIZE_CACHE", artefacts().join("cache"))
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
    let page = page("dep-queue", place.path(), &["report", "bundle"]);
    Opened::new("all", &page)
}

/// Two workloads of the experiment with fewer jobs, three workers, and the baseline
/// twice.
fn run_job_latency() -> Opened {
    let place = tempfile::tempdir().unwrap();
    let whole = fs::read_to_string(root().join("experiments/run-job-latency.toml")).unwrap();
    let left_out = ["stream-nice", "stream-nice19", "compositor"];
    let mut text = String::new();
    for block in whole.split_inclusive("\n\n") {
        if left_out
            .iter()
            .any(|name| block.contains(&format!("[workloads.{name}]")))
        {
            continue;
        }
        text += block;
    }
    for name in left_out {
        text = text.replace(&format!(" \"{name}\","), "");
    }
    text = text.replace("submissions = 1000\n", "");
    text = text.replace("\"stream\"\n", "\"stream\"\nsubmissions = 300\n");
    let file = place.path().join("run-job-latency.toml");
    fs::write(&file, text).unwrap();
    let some = ["--runs", "2", "--set", "worker=workqueue,follow,bypass"];
    experiment(place.path(), &file, &some);
    let bundle = place.path().join("bundle");
    let certain = invented::certain(["workqueue", "stream-normal", "kick_pool"]);
    assize_bundle::keep_when(&bundle, 0, &certain).unwrap();
    let page = page("run-job-latency", place.path(), &["report", "bundle"]);
    assert!(fs::read_to_string(&page).unwrap().contains("id=\"when\""));
    Opened::new("all", &page)
}

fn published() -> Opened {
    let page = page("published", &root(), &["audit", "demo/dep-queue.txt"]);
    Opened::new("all", &page)
}

fn hostile_bundle() -> Opened {
    static MADE: OnceLock<Opened> = OnceLock::new();
    MADE.get_or_init(make_hostile_bundle).clone()
}

fn make_hostile_bundle() -> Opened {
    let place = tempfile::tempdir().unwrap();
    let bundle = place.path().join("bundle");
    let [a, b, workload] = invented::hostile(&bundle);
    assize_bundle::keep_answer(&bundle, [0, 1], &why::kept(&a, &b, &workload)).unwrap();
    let certain = invented::certain([&a, &workload, &b]);
    assize_bundle::keep_when(&bundle, 0, &certain).unwrap();
    let page = page("hostile-bundle", place.path(), &["report", "bundle"]);
    Opened::new("hostile", &page)
}

fn hostile_post() -> Opened {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("post.txt"), invented::post()).unwrap();
    let page = page("hostile-post", place.path(), &["audit", "post.txt"]);
    Opened::new("hostile", &page)
}

/// Three machines: one effect on all, one that differs in size, and one that is reversed
/// on one of them.
fn machines() -> Opened {
    static MADE: OnceLock<Opened> = OnceLock::new();
    MADE.get_or_init(make_machines).clone()
}

fn make_machines() -> Opened {
    let place = tempfile::tempdir().unwrap();
    let names = ["desk", "lap", "rack"];
    for (at, name) in (0..).zip(names) {
        invented::machine(&place.path().join(name), name, at);
    }
    let asked = [&["compare"][..], &names].concat();
    let page = page("several-machines", place.path(), &asked);
    Opened::new("all", &page)
}

/// Only prints the time, as it depends on the host.
fn large() -> Opened {
    let place = tempfile::tempdir().unwrap();
    invented::large(&place.path().join("bundle"));
    let page = page("large", place.path(), &["report", "bundle"]);
    Opened::new("large", &page)
}
