//! KTAP version 1, the kernel's test result format.

use std::fmt::Write;

use super::{Check, CheckState, Checks, line};

/// Returns the checks as KTAP, one subtest per group.
pub fn ktap(checks: &Checks) -> String {
    let groups = checks.groups();
    let mut out = format!("KTAP version 1\n1..{}\n", groups.len());
    for (number, (name, of_group)) in (1..).zip(&groups) {
        // Writing to a string does not fail.
        let _ = writeln!(out, "  KTAP version 1\n  1..{}", of_group.len());
        for (number, check) in (1..).zip(of_group) {
            let _ = writeln!(out, "  # {}", line(&check.said));
            let (word, directive) = match &check.state {
                CheckState::Passed => ("ok", String::new()),
                CheckState::Undecided => ("ok", " # SKIP undecided".into()),
                CheckState::Failed(why) => {
                    let _ = writeln!(out, "  # {}", line(why));
                    ("not ok", String::new())
                }
            };
            let _ = writeln!(
                out,
                "  {word} {number} {}{directive}",
                escape_description(&check.name)
            );
        }
        let failed = |check: &&Check| matches!(check.state, CheckState::Failed(_));
        let word = if of_group.iter().any(failed) {
            "not ok"
        } else {
            "ok"
        };
        let _ = writeln!(out, "{word} {number} {}", escape_description(name));
    }
    out
}

/// Replaces `#`, which would start a KTAP directive in a description.
fn escape_description(text: &str) -> String {
    line(text).replace('#', "_")
}
