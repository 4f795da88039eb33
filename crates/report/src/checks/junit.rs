//! JUnit XML, as read by Jenkins, GitLab and others.

use std::fmt::Write;

use super::{Check, CheckState, Checks, line};

/// Returns the checks as JUnit XML, one suite per group.
pub fn junit(checks: &Checks) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a string does not fail.
    let _ = writeln!(
        out,
        "<testsuites name=\"{}\" {}>",
        escaped(&checks.title),
        numbers(checks.checks.iter())
    );
    for (name, of_group) in checks.groups() {
        let _ = writeln!(
            out,
            "  <testsuite name=\"{}\" {}>",
            escaped(name),
            numbers(of_group.iter().copied())
        );
        for check in of_group {
            case(check, &mut out);
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn numbers<'c>(checks: impl Iterator<Item = &'c Check>) -> String {
    let (mut tests, mut failures, mut skipped) = (0, 0, 0);
    for check in checks {
        tests += 1;
        failures += usize::from(matches!(check.state, CheckState::Failed(_)));
        skipped += usize::from(check.state == CheckState::Undecided);
    }
    format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"")
}

fn case(check: &Check, out: &mut String) {
    let said = escaped(&check.said);
    let inside = match &check.state {
        CheckState::Failed(why) => {
            let why = escaped(why);
            format!("<failure message=\"{why}\" type=\"assize\">{said}</failure>")
        }
        CheckState::Undecided => format!("<skipped message=\"{said}\"/>"),
        CheckState::Passed => format!("<system-out>{said}</system-out>"),
    };
    let _ = writeln!(
        out,
        "    <testcase classname=\"{}\" name=\"{}\">{inside}</testcase>",
        escaped(&check.group),
        escaped(&check.name)
    );
}

fn escaped(text: &str) -> String {
    let xml = |c: char| match c {
        '&' => "&amp;".into(),
        '<' => "&lt;".into(),
        '>' => "&gt;".into(),
        '"' => "&quot;".into(),
        // XML 1.0 does not allow these characters.
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}'.to_string(),
        c => c.to_string(),
    };
    line(text).chars().map(xml).collect()
}
