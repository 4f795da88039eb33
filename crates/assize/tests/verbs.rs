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

#[test]
fn the_manual_and_completions_come_from_the_command_line() {
    let page = String::from_utf8(assize(&["man"]).stdout).unwrap();
    assert!(
        page.contains("audit") && page.contains("exposure"),
        "{page}"
    );
    for shell in ["bash", "zsh", "fish"] {
        let text = String::from_utf8(assize(&["completions", shell]).stdout).unwrap();
        assert!(text.contains("higher-is-better"), "{shell}");
    }
}
