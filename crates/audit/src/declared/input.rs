//! An input that is read, and what it declares.

use assize_bundle::Records;

use super::arithmetic::Check;
use super::error::{Error, Fault};
use super::header::Known;
use super::sheet::Sheet;
use crate::options::Options;

/// The contents of an input that declares them.
#[derive(Debug, Clone, Default)]
pub struct Declared {
    /// The form of the input.
    pub format: &'static str,
    /// The figures.
    pub records: Records,
    /// Metrics that the input marks as lower-is-better.
    pub lower_is_better: Vec<String>,
    /// The author's arithmetic, recomputed.
    pub checks: Vec<Check>,
}

/// Whether an input stands alone or is one configuration of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stands {
    /// It must name its configurations itself.
    #[default]
    Alone,
    /// It holds one configuration, named by the caller.
    AsConfiguration,
}

/// Name used for the workload if the input does not name one.
pub(super) const WORKLOAD: &str = "workload";

/// A sheet and the form it was read from.
pub(super) type Found = (Sheet, &'static str);

/// The input and the options for reading it.
pub(super) struct Input<'i> {
    pub(super) source: &'i str,
    pub(super) known: Known,
    pub(super) options: &'i Options,
}

impl Input<'_> {
    pub(super) fn at(&self, line: u32) -> impl Fn(Fault) -> Error {
        move |fault| Error::at(self.source, line, fault)
    }
}

/// A blank line, or one that begins with `#`.
pub(super) fn is_comment(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}
