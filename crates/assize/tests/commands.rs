//! `assize compare -- COMMAND…`: commands of which it is known how they compare.

use crate::common::{Outcome, assize, errors};
use serde_json::Value;

crate::common::tests! {
    needs ["agent"];
    the_longer_of_two_waits_is_worse_and_the_shorter_better = planted,
    the_same_command_twice_is_never_a_verdict = same,
    what_fails_says_which_command_and_why = failing,
}

const SHORT: &str = "sleep 0.01";
/// So much longer that no host is so busy as to hide it.
const LONG: &str = "sleep 0.4";

/// Status and document of a comparison whose bundle is new.
fn compared(commands: [&str; 2], more: &[&str]) -> (Option<i32>, Value) {
    let place = tempfile::tempdir().unwrap();
    let fixed = ["compare", "--quiet", "--json"];
    let arguments = [&fixed, more, &["--"], &commands].concat();
    let done = assize(place.path(), &arguments);
    let document = serde_json::from_slice(&done.stdout);
    (
        done.status.code(),
        document.unwrap_or_else(|_| panic!("{}", errors(&done))),
    )
}

/// Noise may hide what was planted, and then passes; it does not come to be there.
fn planted() -> Outcome {
    let gate = &["-r", "6", "--fail-on", "worse>2%"];
    let found = (0..3).find_map(|_| {
        let (status, worse) = compared([SHORT, LONG], gate);
        let row = worse["comparisons"][0].clone();
        (row["verdict"] == "established").then_some((status, row))
    });
    let (status, row) = found.unwrap();
    assert_eq!(status, Some(1), "the gate is closed");
    assert_eq!(row["metric"], "elapsed");
    assert!(row["ratio"].as_f64().unwrap() > 2.0, "{row}");
    let better = (0..3).any(|_| {
        let (status, better) = compared([LONG, SHORT], gate);
        assert_eq!(status, Some(0), "the gate is open");
        let row = &better["comparisons"][0];
        row["verdict"] == "established" && row["ratio"].as_f64() < Some(0.5)
    });
    assert!(better, "better in one of three");
    Ok(())
}

fn same() -> Outcome {
    let (status, document) = compared(["sleep 0.01"; 2], &["-r", "6", "--fail-on", "worse>2%"]);
    assert_eq!(status, Some(0));
    assert_eq!(document["comparisons"].as_array().unwrap().len(), 0);
    assert_eq!(document["noise_floor"][0]["metric"], "elapsed");
    assert_eq!(document["noise_floor"][0]["n"], 6);
    Ok(())
}

fn failing() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    for (arguments, status, said) in [
        (
            &["-r", "2", "--", "true", "false"][..],
            3,
            "false on command: 2 of 2: command: exit status 1",
        ),
        (&["--", "true", "/not/there"], 3, "/not/there"),
        (
            &["--setup", "exit 3", "--", "true", "sleep 0"],
            3,
            "--setup: sh -c exit 3: exit status: 3",
        ),
        (&["--", "true"], 2, "one command alone cannot be compared"),
        (
            &["--claim", "true < false", "--", "true", "false"],
            2,
            "true < false",
        ),
        (&["--warmup", "2", "x.bundle"], 2, "cannot be used with"),
        (&["x.bundle", "--", "a", "b"], 2, "cannot be used with"),
    ] {
        let done = assize(place.path(), &[&["compare", "--quiet"], arguments].concat());
        let text = errors(&done);
        assert!(text.contains(said), "{arguments:?}: {text}");
        assert_eq!(done.status.code(), Some(status), "{arguments:?}: {text}");
    }
    Ok(())
}
