//! Runs the tests and counts them.

use crate::Error;
use crate::agent;
use crate::command::{cargo, color, command, watch};
use crate::steps::{Counts, Done};

/// `cargo xtask test`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    cargo_test("tests", &arguments).map(|_| ())
}

/// A part of the names of all pages, which the test `docs` executes, and of no other test.
const PAGE: &str = ".md";
/// The module of tests that only `make test-all` runs, as they take long or have special
/// requirements.
const FULL: &str = "full::";
/// The module of tests that boot a machine and belong to `make test`.
const BOOTS: &str = "boots::";
/// The module of tests that start a cluster; they run one after the other.
const FARM: &str = "farm::";

/// A step of `check`: the tests that boot nothing.
pub(crate) fn quick() -> Result<Done, Error> {
    let others = [PAGE, FULL, BOOTS, FARM];
    let skip: Vec<&str> = others.iter().flat_map(|of| ["--skip", of]).collect();
    counted("tests", &[&["--workspace", "--"], &skip[..]].concat())
}

/// A step of `check`: a boot of each kind.
pub(crate) fn boots() -> Result<Done, Error> {
    counted("boots", &["--workspace", "--test", "it", "--", BOOTS])
}

/// A step of `check-more`: the other tests, except pages.
pub(crate) fn full() -> Result<Done, Error> {
    counted("all-tests", &["--workspace", "--", FULL])
}

/// A step of `check-more`: the cluster, which also measures its cost.
pub(crate) fn farm() -> Result<Done, Error> {
    let tests = ["--workspace", "--test", "it", "--", FARM];
    counted(
        "farm",
        &[&tests[..], &["--test-threads=1", "--nocapture"]].concat(),
    )
}

/// A step of `check-more`: the pages.
pub(crate) fn pages() -> Result<Done, Error> {
    counted("pages", &["--workspace", "--test", "docs", "--", PAGE])
}

fn counted(step: &str, arguments: &[&str]) -> Result<Done, Error> {
    cargo_test(step, arguments).map(Done::Counted)
}

/// Runs `cargo test` for the whole workspace: for part of it, dependencies would have other
/// features and be compiled again. Shows all output, then the total of all test binaries under the
/// name of the step.
fn cargo_test(step: &str, arguments: &[&str]) -> Result<Counts, Error> {
    let mut all = vec!["test", "--locked", "--no-fail-fast", "--color", color()];
    all.extend(arguments);
    // Tests report skips on standard error.
    let joined = ["-c", "exec \"$0\" \"$@\" 2>&1"];
    let mut tests = command("sh", &joined)?;
    tests.arg(cargo()).args(&all);
    if let Some(agent) = agent::path().ok().filter(|path| path.exists()) {
        tests.env("ASSIZE_AGENT", agent);
    }
    let mut total = Total::default();
    let result = watch(tests, |line| total.add(line));
    println!("\n{step}: {total}");
    if result.is_ok() && total.passed == 0 {
        return Err("no test was run".into());
    }
    let failed = |why| {
        let said = total.said.join("\n");
        format!("{} failed: {why}\n{said}", total.failed)
    };
    result.map_err(failed)?;
    // The test harness counts skipped tests as passed.
    let skipped = total.skipped.len() as u64;
    Ok(Counts {
        passed: total.passed.saturating_sub(skipped),
        skipped: total.skipped,
    })
}

/// Maximum number of lines from failing tests in the error, for readers who only see the end of a
/// long output.
const SAID: usize = 40;
/// Maximum number of lines from one test.
const SAID_EACH: usize = 12;

#[derive(Debug, Default, PartialEq)]
struct Total {
    passed: u64,
    failed: u64,
    ignored: u64,
    /// Reasons of skipped tests, which their harness counts as passed.
    skipped: Vec<String>,
    /// Output of failing tests.
    said: Vec<String>,
    /// Number of lines of the current test that may still be kept.
    keep: usize,
}

impl Total {
    /// Collects the output of failing tests, and adds the numbers in a line such as `test
    /// result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; …`.
    fn add(&mut self, line: &str) {
        // The harness of pages prints the name of the page first.
        if let Some((before, why)) = line.split_once("skipped: ")
            && (before.is_empty() || before.ends_with("... "))
        {
            self.skipped.push(why.to_owned());
        }
        if line.starts_with("---- ") {
            self.keep = SAID_EACH;
        }
        if line.trim() == "failures:" {
            self.keep = 0;
        }
        if self.keep > 0 && self.said.len() < SAID && !line.trim().is_empty() {
            self.keep -= 1;
            self.said.push(line.to_owned());
        }
        let Some(at) = line.find("test result: ") else {
            return;
        };
        let words: Vec<&str> = line[at..].split_whitespace().collect();
        for pair in words.windows(2) {
            let Ok(count) = pair[0].parse::<u64>() else {
                continue;
            };
            match pair[1].trim_end_matches(';') {
                "passed" => self.passed += count,
                "failed" => self.failed += count,
                "ignored" => self.ignored += count,
                _ => {}
            }
        }
    }
}

impl std::fmt::Display for Total {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} skipped",
            self.passed.saturating_sub(self.skipped.len() as u64),
            self.failed,
            self.ignored + self.skipped.len() as u64
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_add_up() {
        let mut total = Total::default();
        total.add("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out");
        total.add("test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out");
        total.add("test something ... ok");
        assert_eq!(total.to_string(), "7 passed, 2 failed, 1 skipped");
        total.add("skipped: no QEMU");
        assert_eq!(total.to_string(), "6 passed, 2 failed, 2 skipped");
        total.add("test a.md    ... skipped: no kernel");
        total.add("a figure is skipped: it is said");
        assert_eq!(total.skipped, ["no QEMU", "no kernel"]);
        assert!(total.said.is_empty());
    }

    #[test]
    fn what_failing_tests_say_is_kept_up_to_a_limit() {
        let mut total = Total::default();
        for line in [
            "test a ... FAILED",
            "",
            "failures:",
            "",
            "---- a stdout ----",
            "3 is 4",
        ] {
            total.add(line);
        }
        for at in 0..SAID_EACH {
            total.add(&format!("frame {at}"));
        }
        for line in [
            "---- b ----",
            "b.md:7: other",
            "",
            "failures:",
            "    a",
            "    b",
        ] {
            total.add(line);
        }
        assert_eq!(total.said[..2], ["---- a stdout ----", "3 is 4"]);
        assert_eq!(total.said.len(), SAID_EACH + 2);
        assert_eq!(total.said[SAID_EACH..], ["---- b ----", "b.md:7: other"]);
    }
}
