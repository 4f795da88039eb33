//! Annotations that GitHub and GitLab show next to a change.

use serde_json::json;
use sha2::{Digest, Sha256};

use super::{Check, CheckState, Checks, line};

/// GitHub shows at most this many annotations per step and kind, and drops the rest.
const MOST: usize = 10;

/// Returns the checks as GitHub workflow commands: an error for each failed check, and a
/// notice with the counts.
pub fn github(checks: &Checks) -> String {
    let failed: Vec<(&Check, &String)> = failed(checks).collect();
    let mut out = String::new();
    let shown = match failed.len() {
        n if n > MOST => MOST - 1,
        n => n,
    };
    for (check, why) in failed.iter().take(shown) {
        let title = format!("{}: {}", check.group, check.name);
        out.push_str(&command("error", &title, &format!("{why}; {}", check.said)));
    }
    if failed.len() > shown {
        let rest = format!("{} more have failed", failed.len() - shown);
        out.push_str(&command("error", &checks.title, &rest));
    }
    let text = format!("{}; {}", checks.summary(), checks.reproduce);
    out.push_str(&command("notice", &checks.title, &text));
    out
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

/// Returns the failed checks as a GitLab code quality report. A check keeps its
/// fingerprint from report to report, so that GitLab can tell which ones are new.
///
/// # Errors
/// Never, for [`Checks`] built by this crate.
pub fn gitlab(checks: &Checks) -> Result<String, serde_json::Error> {
    let issues: Vec<serde_json::Value> = failed(checks)
        .map(|(check, why)| {
            let name = format!("{}\0{}", check.group, check.name);
            let digest = Sha256::digest(name.as_bytes());
            let fingerprint: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            json!({
                "description": line(&format!(
                    "{}: {}: {why}; {}", check.group, check.name, check.said
                )),
                "check_name": format!("assize {}", line(&check.group)),
                "fingerprint": fingerprint,
                "severity": "major",
                "location": {"path": line(&checks.file), "lines": {"begin": 1}},
            })
        })
        .collect();
    let mut text = serde_json::to_string_pretty(&issues)?;
    text.push('\n');
    Ok(text)
}
