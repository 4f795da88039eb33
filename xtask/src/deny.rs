//! Checks licences, sources and advisories of dependencies with cargo-deny.

use crate::Error;
use crate::command::{cargo, command, output, run, works};
use crate::steps::Done;

const ABSENT: &str = "cargo-deny is not installed; ./setup.sh test";

/// Checks duplicates, licences and sources; needs no network except the registry.
pub(crate) fn rules() -> Result<Done, Error> {
    if !works("cargo-deny", &["--version"]) {
        return Ok(Done::Skipped(ABSENT.into()));
    }
    // Also fetches the crates that this machine does not build.
    run(command(cargo(), &["fetch", "--locked", "--quiet"])?)?;
    run(command(
        "cargo-deny",
        &[
            "--offline",
            "--log-level",
            "error",
            "check",
            "bans",
            "licenses",
            "sources",
        ],
    )?)?;
    Ok(Done::Ok)
}

/// Checks advisories, from a database on GitHub.
pub(crate) fn advisories() -> Result<Done, Error> {
    if !works("cargo-deny", &["--version"]) {
        return Ok(Done::Skipped(ABSENT.into()));
    }
    if let Err(why) = output("cargo-deny", &["--log-level", "error", "fetch", "db"]) {
        let last = why.lines().rfind(|line| line.contains("fatal:"));
        let why = last.unwrap_or("it could not be fetched").trim();
        return Ok(Done::Skipped(format!("the advisory database: {why}")));
    }
    run(command(
        "cargo-deny",
        &["--offline", "check", "advisories"],
    )?)?;
    Ok(Done::Ok)
}
