//! How the verbs work together, and their exit statuses.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn assize(arguments: &[&str]) -> Output {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_assize"))
        .args(arguments)
        .current_dir(root)
        .output()
        .unwrap()
}

fn document(arguments: &[&str]) -> serde_json::Value {
    let done = assize(arguments);
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    serde_json::from_slice(&done.stdout).unwrap()
}

#[test]
fn a_bundle_is_judged_like_the_post_it_was_read_from() {
    let place = tempfile::tempdir().unwrap();
    let bundle = place.path().join("bundle");
    let bundle = bundle.to_str().unwrap();
    let mut read = document(&["audit", "demo/dep-queue.txt", "--json", "--out", bundle]);
    // Numbers that are not figures belong to the post, not to the measurement.
    let unassigned = read.as_object_mut().unwrap().remove("unassigned");
    assert!(unassigned.is_some_and(|list| !list.as_array().unwrap().is_empty()));
    for verb in ["compare", "report"] {
        let mut kept = document(&[verb, bundle, "--json"]);
        for changed in ["source", "reproduce"] {
            read[changed] = serde_json::Value::Null;
            kept[changed] = serde_json::Value::Null;
        }
        assert_eq!(read, kept, "{verb}");
    }
    let again = assize(&["audit", "demo/dep-queue.txt", "--out", bundle]);
    assert_eq!(
        again.status.code(),
        Some(2),
        "a bundle is never overwritten"
    );
}

#[test]
fn a_page_holds_the_verdicts_and_the_lines_they_were_read_from() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("page.html");
    let post = "demo/dep-queue.txt";
    let done = assize(&[
        "audit",
        post,
        "--format",
        "html",
        "-o",
        path.to_str().unwrap(),
    ]);
    assert!(done.status.success());
    let page = std::fs::read_to_string(path).unwrap();
    let read = document(&["audit", post, "--json"]);
    for row in read["comparisons"].as_array().unwrap() {
        if let Some(ratio) = row["ratio"].as_f64() {
            let cell = format!(" data-ratio=\"{ratio:?}\"");
            assert!(page.contains(&cell), "{cell}");
        }
    }
    let line = "<td id=\"L16\">16</td><td><code>            71,548        context-switches";
    assert!(page.contains(line));
    assert!(page.contains("<b>71548</b> context-switches"));
}

#[test]
fn the_same_post_gives_the_same_bytes() {
    let first = assize(&["audit", "demo/dep-queue.txt", "--json"]);
    assert_eq!(
        first.stdout,
        assize(&["audit", "demo/dep-queue.txt", "--json"]).stdout
    );
}

#[test]
fn a_refuted_claim_and_fail_on_end_with_status_1() {
    let post = "demo/dep-queue.txt";
    let claim = |text: &str| assize(&["audit", post, "--claim", text]).status.code();
    assert_eq!(
        claim("bypass + irq > drm_sched on context-switches in glxgears"),
        Some(1),
        "they are fewer"
    );
    assert_eq!(claim("irq = plain on task-clock"), Some(0));
    let fail_on = |what: &str| assize(&["audit", post, "--fail-on", what]).status.code();
    assert_eq!(fail_on("constant-metric"), Some(1));
    assert_eq!(fail_on("drift"), Some(0));
}

#[test]
fn each_of_several_files_is_a_configuration() {
    let place = tempfile::tempdir().unwrap();
    for (name, times) in [
        ("old", "2.0, 2.1, 2.2, 2.05"),
        ("new", "1.0, 1.1, 1.2, 1.05"),
    ] {
        let text = format!(
            "{{\"results\": [{{\"command\": \"make\", \"mean\": 1.0, \"times\": [{times}], \"exit_codes\": [0, 0, 0, 0]}}]}}"
        );
        std::fs::write(place.path().join(format!("{name}.json")), text).unwrap();
    }
    let [old, new] = ["old", "new"].map(|name| place.path().join(format!("{name}.json")));
    let document = document(&[
        "compare",
        old.to_str().unwrap(),
        new.to_str().unwrap(),
        "--json",
    ]);
    let row = &document["comparisons"][0];
    assert_eq!(
        (&row["baseline"], &row["configuration"]),
        (&"old".into(), &"new".into())
    );
    assert_eq!(row["workload"], "make");
    assert_eq!(
        row["verdict"], "established",
        "4 against 4, wholly apart, and nobody knows when which was made: {row}"
    );
}

/// Renders a manual page and returns what man would complain about.
fn warnings_of(page: &Path) -> Option<String> {
    let mut groff = Command::new("groff");
    let done = groff
        .args(["-man", "-ww", "-z", "-Tutf8"])
        .arg(page)
        .output();
    Some(String::from_utf8_lossy(&done.ok()?.stderr).into_owned())
}

#[test]
fn each_verb_has_a_manual_page_that_renders_and_refers_to_pages_that_are_there() {
    let place = tempfile::tempdir().unwrap();
    let done = assize(&["man", "--into", place.path().to_str().unwrap()]);
    assert!(done.status.success());
    let mut names: Vec<String> = std::fs::read_dir(place.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let one = String::from_utf8(assize(&["man", "run"]).stdout).unwrap();
    for name in &names {
        let path = place.path().join(name);
        let page = std::fs::read_to_string(&path).unwrap();
        assert!(*name != "assize-run.1" || page == one);
        for section in [
            "NAME",
            "SYNOPSIS",
            "DESCRIPTION",
            "OPTIONS",
            "EXIT STATUS",
            "FILES",
            "ENVIRONMENT",
        ] {
            assert!(
                page.contains(&format!(".SH \"{section}\"")),
                "{name}: {section}"
            );
        }
        let plain = page
            .replace("\\-", "-")
            .replace("\\fB", "")
            .replace("\\fR", "");
        for (at, _) in plain.match_indices("(1)") {
            let word = plain[..at].rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            let there = format!("{}.1", word.into_iter().next().unwrap());
            assert!(names.contains(&there), "{name} refers to {there}");
        }
        match warnings_of(&path) {
            Some(said) => assert_eq!(said, "", "{name}"),
            None => println!("skipped: there is no groff"),
        }
    }
    let help = String::from_utf8(assize(&["--help"]).stdout).unwrap();
    for verb in names.iter().filter_map(|name| name.strip_prefix("assize-")) {
        let verb = verb.trim_end_matches(".1");
        assert!(help.contains(&format!("\n  {verb} ")), "{verb}");
    }
    assert_eq!(names.len(), 20, "{names:?}");
    assert_eq!(assize(&["man", "nonsense"]).status.code(), Some(2));
}

#[test]
fn completions_come_from_the_command_line() {
    for shell in ["bash", "zsh", "fish"] {
        let text = String::from_utf8(assize(&["completions", shell]).stdout).unwrap();
        assert!(text.contains("higher-is-better"), "{shell}");
    }
}
