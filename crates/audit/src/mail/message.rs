//! One message: its header and its decoded text.

use std::borrow::Cow;
use std::collections::BTreeSet;

use assize_bundle::{Doubt, Place};
use memchr::memmem;

use super::charset::{self, Trouble};
use super::header::{Field, Fields, Kind};
use super::mime::{self, Leaf};
use super::text::{Places, Text, line_ends, narrow};
use super::transfer::{self, Encoding};
use super::{flowed, html};
use crate::group::item::doubt;
use crate::line::Line;
use crate::scan::may_hold;

/// The code of a doubt about bytes that could not be decoded.
pub const UNDECODABLE: &str = "undecodable-text";
/// The code of a doubt about a message that ends too early.
pub const TRUNCATED: &str = "truncated-message";
/// The code of a doubt about an attachment that is no text.
pub const BINARY_ATTACHMENT: &str = "binary-attachment";
/// The code of a doubt about a source that is no text.
pub const BINARY_INPUT: &str = "binary-input";

/// The identity of a mail.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Letter {
    /// Its place in the mailbox, counted from 1; 1 where there is only one.
    pub number: u32,
    /// The line of the file at which it begins.
    pub line: u32,
    /// The identifier without angle brackets.
    pub message_id: Option<String>,
    /// The subject, decoded.
    pub subject: Option<String>,
    /// The author, decoded, with the address.
    pub from: Option<String>,
    /// The date as it was written.
    pub date: Option<String>,
}

/// One message's text, decoded.
#[derive(Debug, Clone, Default)]
pub struct Message {
    /// Which mail it is.
    pub letter: Letter,
    /// The mails that it answers, the first of the thread first; no angle brackets.
    pub references: Vec<String>,
    /// Doubts about the decoding.
    pub doubts: Vec<Doubt>,
    texts: Vec<Text>,
}

/// Most references that are kept.
const REFERENCES: usize = 200;

/// Returns the identifiers in `References` and `In-Reply-To`.
fn references(fields: &Fields<'_>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for field in [Field::References, Field::InReplyTo] {
        let text = fields.text(field).unwrap_or_default();
        let ids = text.split('<').skip(1);
        for id in ids.filter_map(|part| part.split('>').next()) {
            let id = id.trim();
            if !id.is_empty() && all.len() < REFERENCES && all.iter().all(|known| known != id) {
                all.push(id.to_owned());
            }
        }
    }
    all
}

impl Message {
    /// Its lines, decoded and unquoted, in order. An empty line separates the parts of a mail, so
    /// that no block of figures extends beyond its part.
    pub fn lines(&self) -> Vec<Line<'_>> {
        let (mut lines, message) = (Vec::new(), self.letter.number);
        for text in &self.texts {
            if !lines.is_empty() {
                let line = text.places.line(0);
                lines.push(Line::new("", 0, Place { message, line }));
            }
            text.lines(message, &mut lines);
        }
        lines
    }

    /// Whether figures, or words about code that does not run, may be found in it.
    pub(crate) fn may_hold_figures(&self) -> bool {
        let mut texts = self.texts.iter();
        texts.any(|text| may_hold(text.text.as_bytes().get(text.start..).unwrap_or_default()))
    }

    /// A file that is no mail.
    pub(super) fn plain(bytes: Vec<u8>) -> Message {
        let mut message = Message::default();
        (message.letter.number, message.letter.line) = (1, 1);
        match charset::decode_utf16(&bytes) {
            Some((text, trouble)) => {
                let places = Places::From(1);
                message.note(trouble, &places);
                message.add(text, 0, places);
            }
            None => message.add_text(old_line_ends(bytes), None, Places::From(1)),
        }
        message
    }

    /// A mail, which begins at the file's line `line`.
    pub(super) fn mail(bytes: Vec<u8>, number: u32, line: u32) -> Message {
        let fields = Fields::read(&bytes);
        let id = fields.text(Field::MessageId);
        let bare = |id: String| id.trim_start_matches('<').trim_end_matches('>').to_owned();
        let letter = Letter {
            number,
            line,
            message_id: id.map(bare),
            subject: fields.text(Field::Subject),
            from: fields.text(Field::From),
            date: fields.text(Field::Date),
        };
        let mut message = Message {
            letter,
            ..Message::default()
        };
        message.references = references(&fields);
        if fields.is_simple() {
            let start = fields.body;
            message.add_simple(bytes, start, line);
        } else {
            message.add_parts(&bytes, line);
        }
        message
    }

    /// The text of a mail that travelled as it is: nothing is copied.
    fn add_simple(&mut self, bytes: Vec<u8>, start: usize, line: u32) {
        let (head, body) = bytes.split_at(start.min(bytes.len()));
        let first = line.saturating_add(narrow(line_ends(head)));
        if charset::is_binary(body) {
            return self.doubt(BINARY_INPUT, "the text of the mail is binary", first);
        }
        match String::from_utf8(bytes) {
            Ok(text) => self.add(text, start, Places::From(first)),
            Err(error) => {
                let body = error.into_bytes().split_off(start);
                self.add_text(body, None, Places::From(first));
            }
        }
    }

    fn add_parts(&mut self, bytes: &[u8], line: u32) {
        let (leaves, cut_at) = mime::leaves(bytes, line);
        let raw = |leaf: &Leaf| bytes.get(leaf.body.clone()).unwrap_or_default();
        let is_body = |leaf: &Leaf| {
            leaf.kind == Kind::Plain && !leaf.part.attached && !raw(leaf).trim_ascii().is_empty()
        };
        // Where plain text is to be had, HTML says the same once more: in a
        // choice between both, and behind plain text anywhere. Not before
        // plain text, which may be the footer of a mailing list.
        let plain = leaves.iter().filter(|l| is_body(l));
        let choices: BTreeSet<usize> = plain.map(|l| l.choice).collect();
        let mut said = BTreeSet::new();
        for leaf in &leaves {
            let raw = raw(leaf);
            match leaf.kind {
                Kind::Html if !leaf.part.attached && leaf.choice > 0 => {
                    if !choices.contains(&leaf.choice) {
                        self.add_leaf(leaf, raw);
                    }
                }
                Kind::Html if !leaf.part.attached && said.contains(&leaf.owner) => {}
                Kind::Signature => {}
                Kind::Binary => self.refuse(leaf, raw),
                _ => self.add_leaf(leaf, raw),
            }
            if is_body(leaf) {
                said.insert(leaf.owner);
            }
        }
        if let Some(line) = cut_at {
            self.doubt(TRUNCATED, "a part of the mail has no end", line);
        }
    }

    /// Adds a doubt about an attachment that is not text.
    fn refuse(&mut self, leaf: &Leaf, raw: &[u8]) {
        let (size, _) = self.decoded(leaf, raw, |bytes, _| bytes.len());
        let detail = format!("{}, {size} bytes) was not read", leaf.part.described());
        self.doubt(BINARY_ATTACHMENT, &detail, leaf.line);
    }

    /// A part that is text.
    fn add_leaf(&mut self, leaf: &Leaf, raw: &[u8]) {
        let (bytes, places) = self.decoded(leaf, raw, |bytes, _| bytes.into_owned());
        let part = &leaf.part;
        let charset = part.charset.as_deref();
        let start = charset.and_then(|charset| charset.get(..6));
        let wide = start.is_some_and(|start| start.eq_ignore_ascii_case("utf-16"));
        if !wide && charset::is_binary(&bytes) {
            let detail = format!("{}) is binary, not text", part.described());
            return self.doubt(BINARY_INPUT, &detail, leaf.line);
        }
        let (text, trouble) = charset::decode(bytes, charset);
        self.note(trouble, &places);
        let (text, starts) = match leaf.kind {
            Kind::Html => html::strip(&text, &places),
            Kind::Plain if part.flowed => flowed::join(&text, &places, part.delsp),
            _ => return self.add(text, 0, places),
        };
        self.add(text, 0, Places::Each(starts));
    }

    /// Undoes a part's transfer encoding and hands the bytes on.
    fn decoded<T>(
        &mut self,
        leaf: &Leaf,
        raw: &[u8],
        then: impl Fn(Cow<'_, [u8]>, &Places) -> T,
    ) -> (T, Places) {
        let (bytes, places, cut) = match leaf.part.encoding {
            Encoding::Identity => (Cow::Borrowed(raw), Places::From(leaf.line), false),
            Encoding::QuotedPrintable => {
                let (bytes, starts, cut) = transfer::quoted_printable(raw, leaf.line);
                (Cow::Owned(bytes), Places::Each(starts), cut)
            }
            Encoding::Base64 => {
                let (bytes, cut) = transfer::base64(raw);
                (Cow::Owned(bytes), Places::At(leaf.line), cut)
            }
        };
        if cut {
            self.doubt(TRUNCATED, "an encoded part ends too early", leaf.line);
        }
        let done = then(bytes, &places);
        (done, places)
    }

    /// Decodes bytes that are text of a character set, and adds it.
    fn add_text(&mut self, bytes: Vec<u8>, charset: Option<&str>, places: Places) {
        if charset::is_binary(&bytes) {
            return self.doubt(BINARY_INPUT, "this is binary, not text", places.line(0));
        }
        let (text, trouble) = charset::decode(bytes, charset);
        self.note(trouble, &places);
        self.add(text, 0, places);
    }

    fn add(&mut self, text: String, start: usize, places: Places) {
        let text = Text {
            text,
            start,
            places,
        };
        self.texts
            .extend(Some(text).filter(|text| text.text.len() > start));
    }

    fn note(&mut self, trouble: Option<Trouble>, places: &Places) {
        if let Some(trouble) = trouble {
            self.doubt(UNDECODABLE, &trouble.detail, places.line(trouble.index));
        }
    }

    fn doubt(&mut self, code: &str, detail: &str, line: u32) {
        let message = self.letter.number;
        self.doubts
            .push(doubt(code, detail, Place { message, line }));
    }
}

/// Converts lone carriage returns to line feeds, if the file has no line feed.
fn old_line_ends(mut bytes: Vec<u8>) -> Vec<u8> {
    if memchr::memchr(b'\r', &bytes).is_some() && memchr::memchr(b'\n', &bytes).is_none() {
        for byte in bytes.iter_mut().filter(|b| **b == b'\r') {
            *byte = b'\n';
        }
    }
    bytes
}

/// Removes the `>` that a mailbox puts before lines that look like the beginning of a message.
pub(super) fn unstuff(mut bytes: Vec<u8>) -> Vec<u8> {
    let stuffed = |at: &usize| {
        let before = bytes.get(..*at).unwrap_or_default();
        let marks = before.iter().rev().take_while(|b| **b == b'>').count();
        matches!(before.get(..at - marks), Some([] | [.., b'\n']))
    };
    let marks = memmem::find_iter(&bytes, b">From ").filter(stuffed);
    let marks: Vec<usize> = marks.collect();
    if !marks.is_empty() {
        let mut at = 0;
        let mut marks = marks.into_iter().peekable();
        bytes.retain(|_| {
            let drop = marks.next_if_eq(&at).is_some();
            at += 1;
            !drop
        });
    }
    bytes
}
