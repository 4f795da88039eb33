//! Executes the commands on pages. CONTRIBUTING.md describes how blocks are marked.
//!
//! Each page runs in a directory that looks like a checkout; the commands of its blocks run one
//! after the other in one shell. `ASSIZE_GOLDEN=1` writes their output into the page.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
#![allow(unreachable_pub, missing_docs)] // Modules are shared; nothing is published.

#[path = "../common/mod.rs"]
mod common;

mod cli;
mod compare;
mod inputs;
mod json;
mod metrics;
mod page;
mod pictures;
mod session;
mod shown;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use inputs::Inputs;
use page::{Block, Page};

/// The requirements of runs on the exact machine.
const EXACT: [&str; 3] = ["agent", "QEMU", "kernel debian:6.12"];

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Each test may use all CPUs for machines.
    arguments.test_threads = Some(1);
    let mut tests = vec![
        Trial::test(
            "the_page_of_the_command_line_is_what_help_says",
            cli::agrees,
        ),
        Trial::test("the_page_of_the_json_has_every_field", json::agrees),
        Trial::test(
            "a_verdict_has_the_fields_that_the_page_says",
            json::conforms,
        ),
        Trial::test("every_metric_of_the_lists_has_a_row", metrics::lists),
        Trial::test(
            "every_metric_that_workloads_record_has_a_row",
            metrics::recorded,
        ),
        Trial::test("a_row_is_known_by_its_name", compare::knows_rows),
        Trial::test("what_is_left_out_stays_left_out", compare::keeps_gaps),
        Trial::test(
            "a_line_of_a_picture_must_be_in_its_page",
            pictures::knows_lines,
        ),
    ];
    for name in names() {
        tests.push(Trial::test(name.clone(), move || try_page(&name)));
    }
    libtest_mimic::run(&arguments, tests).exit_code()
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

pub fn rewrites() -> bool {
    std::env::var_os("ASSIZE_GOLDEN").is_some_and(|value| value == "1")
}

/// The paths of the pages, relative to the root of the tree.
fn names() -> Vec<String> {
    let mut names: Vec<String> = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"]
        .map(String::from)
        .into();
    let mut pages = Vec::new();
    for directory in ["docs", "studies"] {
        for entry in fs::read_dir(root().join(directory)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") {
                pages.push(format!("{directory}/{name}"));
            }
        }
    }
    pages.sort();
    assert!(pages.len() > 10, "{pages:?}");
    names.extend(pages);
    names
}

fn try_page(name: &str) -> Result<(), Failed> {
    let path = root().join(name);
    let page = Page::read(name, &fs::read_to_string(&path).unwrap())?;
    for block in &page.blocks {
        shown::check(&page, block).map_err(|why| at(name, block, &why))?;
    }
    if page.blocks.iter().all(|block| block.steps.is_empty()) {
        return Ok(());
    }
    let wanted = page.needs();
    if !wanted.is_empty() {
        let needed: Vec<&str> = EXACT
            .iter()
            .copied()
            .chain(wanted.iter().map(String::as_str))
            .collect();
        if let Err(why) = common::there(&needed) {
            common::skip(&format!("{name}: {why}"));
            return Ok(());
        }
    }
    let same = inputs(&page)?;
    let session = session::carry_out(&page)?;
    let new = compare::all(&page, &session.done, same)?;
    if rewrites() {
        fs::write(path, new).unwrap();
    }
    pictures::agree(&page, &session.html, same)
}

/// Whether the figures of exact runs must match the page.
fn inputs(page: &Page) -> Result<bool, Failed> {
    if page.needs().is_empty() {
        return Ok(true);
    }
    let here = Inputs::here(page);
    let there = page.inputs().ok_or_else(|| {
        let why = "commands that run on the exact machine, and no line '*Measured on'";
        Failed::from(format!("{}: {why}", page.name))
    })?;
    if rewrites() {
        return Ok(true);
    }
    let same = here.line() == there;
    if !same {
        let name = &page.name;
        let here = here.line();
        common::skip(&format!(
            "{name}: figures are not compared, for the page was {there} and this is {here}"
        ));
    }
    Ok(same)
}

fn at(name: &str, block: &Block, why: &str) -> Failed {
    format!("{name}:{}: {why}", block.line).into()
}
