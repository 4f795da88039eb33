//! The same lines with other figures, below headings or behind names:
//!
//! ```text
//! Before:                                   before 165080.6 tps (60.3 allocs/op)
//!   Time spent inserting: real 5.831s         after  171513.8 tps (59.3 allocs/op)
//!   Throughput: 41060 rows/sec
//! After:
//!   Time spent inserting: real 4.865s
//!   Throughput: 45143 rows/sec
//! ```
//!
//! No tool need be known: what stands in two places in the same words is one thing, and
//! the numbers in it are what may differ. They are read only if the headings, or the
//! names, differ as those of configurations do. A number that takes the same values below
//! each heading, and is none of a measurement, belongs to the name. Lines that come again
//! below one heading are samples of one run, whose mean is the run's. What other formats
//! read is left to them.

mod figures;
mod heading;
mod named;
mod sections;
mod shape;

use super::lists::names_each;
use super::runs_in_a_row::have_their_mean;
use super::{Block, Grammar};
use crate::Line;
use crate::scan::RESULT;
pub(crate) use heading::Heading;
pub(super) use named::are_configurations;

/// Lines that come again with other figures; see the module.
pub struct Echoed;

/// Its name among the formats.
pub(crate) const ECHOED: &str = "echoed";

/// So many points make names those of configurations.
const CONTRAST: i32 = 3;
/// More configurations are not compared in this way.
const MOST: usize = 6;

impl Grammar for Echoed {
    fn name(&self) -> &'static str {
        ECHOED
    }

    fn is_report(&self) -> bool {
        false
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim();
        (3..=shape::LONGEST).contains(&text.len())
            && (text.len() <= 40
                || text.ends_with([':', '*', ')'])
                || text.contains('=')
                || shape::has_digit(text))
            && !text.ends_with(['.', ';', '{', '}'])
    }

    fn reach(&self) -> usize {
        8
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        // `read IOPS=95.7k, BW=374MiB/s` right below a heading is a list of figures, and
        // `Times: 2.9, 3.1, 3.0` above their mean has runs.
        if lines.get(1).is_some_and(|line| names_each(&line.text))
            || lines.get(1..).is_some_and(have_their_mean)
        {
            return None;
        }
        sections::read(lines).or_else(|| named::read(lines))
    }
}

/// Whether a format is that of what a tool prints, and not one of any figures.
pub(crate) fn is_report(format: &str) -> bool {
    let told = [
        "prose",
        "list",
        "pairs",
        "spread",
        "shared",
        super::sentence::SENTENCE,
    ];
    !has_form_of_any_tool(format) && !told.contains(&format)
}

/// Whether a format is a form in which any tool, or the author of a post, may print
/// figures.
pub(crate) fn has_form_of_any_tool(format: &str) -> bool {
    ["table", "rows", ECHOED, super::lists::LONE, RESULT].contains(&format)
}

#[cfg(test)]
mod tests;
