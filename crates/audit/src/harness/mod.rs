//! Readers of the result files of benchmark harnesses, one module for each harness.
//!
//! Repetitions inside one process are samples: their mean, deviation and number become one
//! summary, which supports no more than *likely*. If a configuration has several files, the
//! means of each file are one run.

pub(crate) mod common;
mod criterion;
mod google_benchmark;
mod jmh;
mod phoronix;
mod pytest_benchmark;

use std::path::Path;

use crate::declared::error::Error;
use crate::declared::input::{Declared, Stands};
use crate::declared::sheet::Sheet;
use crate::group::item::UNNAMED;
use crate::options::Options;
use common::{Context, Harness};

const ALL: &[Harness] = &[
    google_benchmark::GOOGLE_BENCHMARK,
    pytest_benchmark::PYTEST_BENCHMARK,
    jmh::JMH,
    phoronix::PHORONIX,
];

/// The harness that wrote a text.
pub(crate) fn find(head: &str) -> Option<&'static Harness> {
    let head = head.trim_start();
    ALL.iter().find(|harness| (harness.begins)(head))
}

/// Reads a directory of results, if it is one that a harness writes; `source` is its name
/// for messages.
///
/// # Errors
/// A description of the mistake.
pub fn directory(
    path: &Path,
    source: &str,
    stands: Stands,
    options: &Options,
) -> Result<Option<Declared>, Error> {
    let context = Context {
        configuration: UNNAMED,
        runs_behind: options.runs_behind,
    };
    let mut sheet = Sheet::default();
    if !criterion::read(path, source, stands, &context, &mut sheet)? {
        return Ok(None);
    }
    Ok(Some(sheet.finish(source, "criterion")))
}
