//! Reads posted benchmark results exactly as they were pasted.
//!
//! Text comes in as a plain file, a mail or a mailbox and passes three rooms:
//! [`mail`] (bytes to unquoted [`Line`]s), [`grammar`] (lines to blocks of
//! figures, one file per format) and grouping (blocks to runs of a
//! configuration and a workload). No statistics happen here, and nothing is
//! dropped silently: what looked like data and was not understood is a doubt.
//!
//! ```
//! let post = "\
//! base:
//!  Performance counter stats for 'true' (10 runs):
//!        52.67 Joules power/energy-cores/       ( +-  1.24% )
//! patched:
//!  Performance counter stats for 'true' (10 runs):
//!        45.55 Joules power/energy-cores/       ( +-  1.07% )
//! ";
//! let audit = assize_audit::read(post.as_bytes(), "post.txt", &Default::default())?;
//! let names: Vec<_> = audit.records.configurations.iter().map(|c| c.name.as_str()).collect();
//! assert_eq!(names, ["base", "patched"]);
//! assert_eq!(audit.records.summaries[0].n, Some(10));
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod declared;
pub mod grammar;
pub mod harness;
pub mod mail;
pub mod reading;

mod command;
mod diff;
mod group;
mod headings;
mod line;
mod located;
mod options;
mod printed;
mod scan;
mod threads;
mod trigger;
mod unreached;

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::BufRead;

use assize_bundle::{Doubt, Place, Records};
use serde::Serialize;

pub use diff::{Hunk, is_file_header};
pub use group::{UNNAMED, is_tool};
pub use line::Line;
pub use located::{Located, StandsFor, located};
pub use options::{Judged, Options, Role, SpreadKind, parse_duration, parse_regex, parse_rule};
pub use threads::{Letter, Thread, Threads};

/// What one line was taken for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// Where it stands.
    pub place: Place,
    /// How deep it was quoted.
    pub depth: u8,
    /// What it was taken for.
    pub taken: String,
    /// Its text, unquoted.
    pub text: String,
}

/// A post as it was understood.
#[derive(Debug, Clone, Default)]
pub struct Audit {
    /// The figures.
    pub records: Records,
    /// Line by line, if [`Options::explain`] was set.
    pub explained: Vec<Explained>,
    /// Blocks that are quotations of others: where, and the original.
    pub repeats: Vec<(Place, Place)>,
    /// Of tables and of comparisons: what was decided, and why.
    pub decisions: Vec<(Place, Vec<String>)>,
    /// How many messages were read.
    pub messages: u32,
}

/// Reads a post, a mail or a mailbox as one document; `source` is its name for
/// messages.
///
/// Memory is bounded by the largest message and the figures found.
///
/// # Errors
/// Only when the reader fails. Whatever is wrong with the text itself is in
/// the records as doubts.
pub fn read<R: BufRead>(reader: R, source: &str, options: &Options) -> std::io::Result<Audit> {
    let mut reading = Reading::default();
    for message in mail::messages(reader) {
        reading.add(Scanned::of(&message?, options), options);
    }
    Ok(reading.finish(source, options))
}

/// Reads one message as a document of its own.
pub fn read_message(message: &mail::Message, source: &str, options: &Options) -> Audit {
    let mut reading = Reading::default();
    reading.add(Scanned::alone(message, options), options);
    reading.finish(source, options)
}

/// What there is to say of a document without messages.
pub fn empty(source: &str) -> Audit {
    Reading::default().finish(source, &Options::default())
}

/// A document as its messages are added to it.
#[derive(Default)]
struct Reading {
    grouper: group::Grouper,
    audit: Audit,
    doubts: Vec<Doubt>,
    met: HashSet<u64>,
}

/// A message in which figures were looked for: what a document needs of it. No
/// message has anything to do with another until it is added to one.
#[derive(Debug)]
pub struct Scanned {
    letter: Letter,
    references: Vec<String>,
    doubts: Vec<Doubt>,
    /// A number that two messages share only if their texts are equal, as far as
    /// 64 bits can tell; none where that does not matter.
    text: Option<u64>,
    scan: scan::Scan,
}

impl Scanned {
    /// Looks for figures in a message.
    pub fn of(message: &mail::Message, options: &Options) -> Scanned {
        Scanned::new(message, options, |lines| Some(fingerprint(lines)))
    }

    /// The same of a message that is a document of its own, and no other's copy.
    fn alone(message: &mail::Message, options: &Options) -> Scanned {
        Scanned::new(message, options, |_| None)
    }

    fn new(
        message: &mail::Message,
        options: &Options,
        text: impl Fn(&[Line<'_>]) -> Option<u64>,
    ) -> Scanned {
        let mut scanned = Scanned {
            letter: Letter::from(message),
            references: message.references.clone(),
            doubts: message.doubts.clone(),
            text: None,
            scan: scan::Scan::default(),
        };
        if !message.may_hold_figures() && !options.explain {
            return scanned;
        }
        let mut lines = message.lines();
        scanned.text = text(&lines);
        let ignored = ignore(&mut lines, options);
        let mut scan = scan::scan(&mut lines, options);
        for (at, text) in ignored {
            if let Some(line) = scan.explained.get_mut(at) {
                (line.taken, line.text) = ("ignored on request".to_string(), text);
            }
        }
        scanned.scan = scan;
        scanned
    }
}

impl Reading {
    /// Adds a message; says whether it held any figures that are new.
    fn add(&mut self, message: Scanned, options: &Options) -> bool {
        let Scanned {
            letter,
            doubts,
            text,
            mut scan,
            ..
        } = message;
        self.audit.messages += 1;
        self.doubts.extend(doubts);
        // Lists archive a mail once for each list it was sent to. All of its
        // blocks would turn out to be repeats; this only says so sooner.
        let again = text.is_some_and(|text| !self.met.insert(text));
        if again && !options.explain || scan.is_empty() {
            return false;
        }
        self.audit.explained.append(&mut scan.explained);
        let figures = !scan.placed.is_empty();
        self.grouper
            .add(letter.number, letter.subject.as_deref(), scan, options);
        figures
    }

    fn finish(self, source: &str, options: &Options) -> Audit {
        let mut audit = self.audit;
        let grouped = self.grouper.finish(source, options);
        audit.records = grouped.records;
        audit.records.doubts.splice(0..0, self.doubts);
        audit.repeats = grouped.repeats;
        audit.decisions = grouped.decisions;
        explain_repeats(&mut audit);
        audit
    }
}

/// Makes the lines blank that the user does not want to be looked at, so that
/// the blocks they stand in stay whole; gives back what was there.
fn ignore(lines: &mut [Line<'_>], options: &Options) -> Vec<(usize, String)> {
    let mut ignored = Vec::new();
    if options.ignore.is_empty() {
        return ignored;
    }
    for (at, line) in lines.iter_mut().enumerate() {
        if options.ignores(&line.text) {
            ignored.push((at, std::mem::take(&mut line.text).into_owned()));
        }
    }
    ignored
}

/// Says of each line where a quotation begins that it is one.
fn explain_repeats(audit: &mut Audit) {
    let mut index = HashMap::new();
    for (at, line) in audit.explained.iter().enumerate() {
        index.entry(line.place).or_insert(at);
    }
    for (place, original) in &audit.repeats {
        if let Some(&at) = index.get(place) {
            let note = format!(" (quoted again, first at line {})", original.line);
            audit.explained[at].taken.push_str(&note);
        }
    }
}

/// A hash of the text.
fn fingerprint(lines: &[Line<'_>]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for line in lines {
        (line.depth, &line.text).hash(&mut hasher);
    }
    hasher.finish()
}
