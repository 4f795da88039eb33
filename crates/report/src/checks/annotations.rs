//! Annotations that GitHub and GitLab show next to a change.

use serde_json::json;
use sha2::{Digest, Sha256};

use super::{Check, CheckState, Checks, line};

/// GitHub shows at most this many annotations per step and kind, and drops the rest.
const MOST: usize = 10;

/// Returns the checks as GitHub workflow commands: an error for each failed check, a
/// warning for each undecided check of how runs ended, and a notice with the counts.
pub fn github(checks: &Checks) -> String {
    let title = |check: &Check| format!("{}: {}", check.group, check.name);
    let failed = failed(checks).map(|(check, why)| {
        let text = format!("{why}; {}", check.said);
        command("error", &title(check), &text)
    });
    let open = checks.undecided_outcomes();
    let open = open.map(|check| command("warning", &title(check), &check.said));
    let mut out = at_most("error", checks, failed.collect(), "more have failed");
    let open = at_most("warning", checks, open.collect(), "more like this");
    out.push_str(&open);
    let text = format!("{}; {}", checks.summary(), checks.reproduce);
    out.push_str(&command("notice", &checks.title, &text));
    out
}

/// The commands of one kind, at most as many as GitHub shows; the last counts the rest.
fn at_most(kind: &str, checks: &Checks, mut commands: Vec<String>, rest: &str) -> String {
    if commands.len() > MOST {
        let text = format!("{} {rest}", commands.len() - (MOST - 1));
        commands.truncate(MOST - 1);
        commands.push(command(kind, &checks.title, &text));
    }
    commands.concat()
}

fn failed(checks: &Checks) -> impl Iterator<Item = (&Check, &String)> {
    checks.checks.iter().filter_map(|check| match &check.state {
        CheckState::Failed(why) => Some((check, why)),
        _ => None,
    })
}

fn command(kind: &str, title: &str, text: &str) -> String {
    let message = line(text).replace('%', "%25");
    let property = line(title)
        .replace('%', "%25")
        .replace(':', "%3A")
        .replace(',', "%2C");
    format!("::{kind} title={property}::{message}\n")
}

/// Returns the checks as a GitLab code quality report: a major issue for each failed
/// check, and one for information for each undecided check of how runs ended. A check
/// keeps its fingerprint from report to report, so that GitLab can tell which ones are
/// new.
///
/// # Errors
/// Never, for [`Checks`] built by this crate.
pub fn gitlab(checks: &Checks) -> Result<String, serde_json::Error> {
    let failed = failed(checks).map(|(check, why)| {
        let text = format!("{why}; {}", check.said);
        issue(checks, check, "major", &text)
    });
    let open = checks.undecided_outcomes();
    let open = open.map(|check| issue(checks, check, "info", &check.said));
    let issues: Vec<serde_json::Value> = failed.chain(open).collect();
    let mut text = serde_json::to_string_pretty(&issues)?;
    text.push('\n');
    Ok(text)
}

fn issue(checks: &Checks, check: &Check, severity: &str, text: &str) -> serde_json::Value {
    let name = format!("{}\0{}", check.group, check.name);
    let digest = Sha256::digest(name.as_bytes());
    let fingerprint: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    json!({
        "description": line(&format!("{}: {}: {text}", check.group, check.name)),
        "check_name": format!("assize {}", line(&check.group)),
        "fingerprint": fingerprint,
        "severity": severity,
        "location": {"path": line(&checks.file), "lines": {"begin": 1}},
    })
}
