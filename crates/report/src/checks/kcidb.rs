//! Reports for KCIDB, the kernel community's common database of test results.

use serde_json::json;
use sha2::{Digest, Sha256};

use super::{Check, CheckState, Checks, line};

/// Returns the checks in KCIDB schema 5.3, as tests of a build that KCIDB knows as `ORIGIN:ID`. An
/// undecided check has status `DONE`: measured, without a verdict. The ID of a test is a hash of
/// the build, the check and its result, so equal results have equal IDs.
///
/// # Errors
/// Never, for [`Checks`] built by this crate.
pub fn kcidb(checks: &Checks, build: &str) -> Result<String, serde_json::Error> {
    let origin = build.split(':').next().unwrap_or_default();
    let tests = checks.checks.iter().map(|check| {
        let (status, why) = match &check.state {
            CheckState::Passed => ("PASS", String::new()),
            CheckState::Undecided => ("DONE", String::new()),
            CheckState::Failed(why) => ("FAIL", format!("{why}; ")),
        };
        json!({
            "build_id": build,
            "id": format!("{origin}:assize:{}", digest(build, check)),
            "origin": origin,
            "path": format!("assize.{}.{}", step(&check.group), step(&check.name)),
            "status": status,
            "comment": line(&format!("{}: {why}{}", check.name, check.said)),
            "misc": {"reproduce": line(&checks.reproduce)},
        })
    });
    let report = json!({
        "version": {"major": 5, "minor": 3},
        "tests": tests.collect::<Vec<_>>(),
    });
    let mut text = serde_json::to_string_pretty(&report)?;
    text.push('\n');
    Ok(text)
}

fn digest(build: &str, check: &Check) -> String {
    let of = [build, &check.group, &check.name, &check.said].join("\0");
    let digest = Sha256::digest(of.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Converts text to one component of a test path: letters, digits, `_` and `-`.
fn step(text: &str) -> String {
    let fits = |c: char| match c.is_ascii_alphanumeric() || c == '-' {
        true => c,
        false => '_',
    };
    match text.is_empty() {
        true => "_".into(),
        false => text.chars().map(fits).collect(),
    }
}
