//! A document as a whole: its messages are read one after the other, and what they say is
//! grouped at the end.

use std::collections::{HashMap, HashSet};
use std::io::BufRead;

use assize_bundle::{Doubt, Place, Records};

use crate::group::Grouper;
use crate::line::{Explained, hash};
pub use crate::mail::message::Letter;
use crate::mail::message::Message;
use crate::mail::messages;
use crate::options::Options;
use crate::scan::{Scan, scan};

/// A post as it was understood.
#[derive(Debug, Clone, Default)]
pub struct Audit {
    /// The figures.
    pub records: Records,
    /// Line by line, if [`Options::explain`] was set.
    pub explained: Vec<Explained>,
    /// Where each quotation of another block begins, and where the original does.
    pub repeats: Vec<(Place, Place)>,
    /// The decision on each table and each comparison, with its reason.
    pub decisions: Vec<(Place, Vec<String>)>,
    /// How many messages were read.
    pub messages: u32,
}

/// Reads a post, a mail or a mailbox as one document; `source` is its name for messages.
///
/// Memory is bounded by the largest message and the figures found.
///
/// # Errors
/// Only when the reader fails. Whatever is wrong with the text itself is in
/// the records as doubts.
pub fn read<R: BufRead>(reader: R, source: &str, options: &Options) -> std::io::Result<Audit> {
    let mut reading = Reading::default();
    for message in messages(reader) {
        reading.add(Scanned::new(&message?, options), options);
    }
    Ok(reading.finish(source, options))
}

/// Reads one message as a separate document.
pub fn read_message(message: &Message, source: &str, options: &Options) -> Audit {
    let mut reading = Reading::default();
    reading.add(Scanned::new(message, options), options);
    reading.finish(source, options)
}

/// Returns the audit of a document without messages.
pub fn empty(source: &str) -> Audit {
    Reading::default().finish(source, &Options::default())
}

/// Accumulates the messages of a document.
#[derive(Default)]
pub(crate) struct Reading {
    pub(crate) grouper: Grouper,
    audit: Audit,
    doubts: Vec<Doubt>,
    met: HashSet<u64>,
}

/// The result of scanning one message for figures. Messages are independent of each other until
/// they are added to a document.
#[derive(Debug)]
pub struct Scanned {
    pub(crate) letter: Letter,
    pub(crate) references: Vec<String>,
    doubts: Vec<Doubt>,
    /// A hash of the text, by which a second copy of the message is recognised; `None` if the
    /// message cannot contain figures and was not scanned.
    text: Option<u64>,
    scan: Scan,
}

impl Scanned {
    /// Looks for figures in a message.
    pub fn new(message: &Message, options: &Options) -> Scanned {
        let mut scanned = Scanned {
            letter: message.letter.clone(),
            references: message.references.clone(),
            doubts: message.doubts.clone(),
            text: None,
            scan: Scan::default(),
        };
        if message.may_hold_figures() || options.explain {
            let mut lines = message.lines();
            let texts = lines.iter().map(|line| (line.depth, &line.text));
            scanned.text = Some(hash(&texts.collect::<Vec<_>>()));
            scanned.scan = scan(&mut lines, options);
        }
        scanned
    }
}

impl Reading {
    /// Adds a message; returns whether it has new figures.
    pub(crate) fn add(&mut self, message: Scanned, options: &Options) -> bool {
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
        // blocks would turn out to be repeats later; this is faster.
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

    pub(crate) fn finish(self, source: &str, options: &Options) -> Audit {
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

/// Marks, in the explanation, each line at which a quotation begins.
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
