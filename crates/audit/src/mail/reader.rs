//! Splits a file into messages: recognises its kind, and finds where each message begins.

use std::io::{self, BufRead, Read};
use std::sync::LazyLock;

use memchr::{memchr, memmem};
use regex::bytes::Regex;

use super::header::{self, Fields};
use super::message::{Message, unstuff};
use super::text::{line_ends, narrow};
use crate::scan::may_hold;

/// How much is read at once.
const CHUNK: u64 = 256 * 1024;

/// The longest line that separates messages.
const LONGEST_SEPARATOR: usize = 1000;

/// How many bytes are needed to recognise a separator, including the start of the line that follows
/// it.
const LOOKAHEAD: usize = LONGEST_SEPARATOR + 100;

/// Reads messages one after the other: those of a mailbox, one mail, or any other text as one
/// message. Memory holds at most the largest message and what was read together with it.
///
/// ```
/// let text = b"Time:  12.5 s\n> Time:  13.0 s\n";
/// let message = assize_audit::mail::messages(&text[..]).next().unwrap()?;
/// let lines = message.lines();
/// assert_eq!((lines[1].text.as_ref(), lines[1].depth), ("Time:  13.0 s", 1));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn messages<R: BufRead>(reader: R) -> impl Iterator<Item = io::Result<Message>> {
    sealed(reader).map(|mail| mail.map(Sealed::open))
}

/// As [`messages`], but gives the messages as they lie in the file, so that they
/// can be decoded elsewhere, by several threads at a time.
pub fn sealed<R: BufRead>(reader: R) -> Messages<R> {
    Messages {
        reader,
        buffer: Vec::new(),
        start: 0,
        ended: false,
        state: State::Fresh,
        number: 1,
        line: 1,
    }
}

/// One message that is not decoded yet.
#[derive(Debug)]
pub struct Sealed {
    bytes: Vec<u8>,
    number: u32,
    line: u32,
    of: Source,
}

/// The source of a message's bytes.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// A mailbox, whose writer may have put `>` before some lines.
    Mailbox,
    Mail,
    Plain,
}

impl Sealed {
    /// The mail of these bytes, the `number`th of its archive; lines count from 1.
    pub fn mail(bytes: Vec<u8>, number: u32) -> Sealed {
        Sealed {
            bytes,
            number,
            line: 1,
            of: Source::Mail,
        }
    }

    /// How large it is.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Its place in the mailbox, counted from 1, and the line of the file at which it begins.
    pub fn place(&self) -> (u32, u32) {
        (self.number, self.line)
    }

    /// Whether it may have figures, or words about code that does not run. For most mails, the
    /// answer "no" needs no decoding.
    pub fn may_hold_figures(&self) -> bool {
        if matches!(self.of, Source::Plain) {
            return true;
        }
        let fields = Fields::read(&self.bytes);
        let body = self.bytes.get(fields.body..).unwrap_or_default();
        fields.may_be_stuffed || !fields.is_simple() || may_hold(body)
    }

    /// Decodes it.
    pub fn open(self) -> Message {
        match self.of {
            Source::Mailbox => Message::mail(unstuff(self.bytes), self.number, self.line),
            Source::Mail => Message::mail(self.bytes, self.number, self.line),
            Source::Plain => Message::plain(self.bytes),
        }
    }
}

/// An iterator over messages; see [`sealed`].
#[derive(Debug)]
pub struct Messages<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Where the next message begins in the buffer.
    start: usize,
    /// Whether the reader has no more.
    ended: bool,
    state: State,
    /// The number of the next message.
    number: u32,
    /// The file's line at which it begins.
    line: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Fresh,
    Mailbox,
    Done,
}

impl<R: BufRead> Iterator for Messages<R> {
    type Item = io::Result<Sealed>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = match self.state {
            State::Fresh => self.first(),
            State::Mailbox => self.of_mailbox(),
            State::Done => return None,
        };
        if next.is_err() {
            self.state = State::Done;
        }
        next.transpose()
    }
}

impl<R: BufRead> Messages<R> {
    /// Reads on; drops what has been handed out.
    fn fill(&mut self) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        let read = self
            .reader
            .by_ref()
            .take(CHUNK)
            .read_to_end(&mut self.buffer)?;
        self.ended |= read == 0;
        Ok(())
    }

    /// Recognises the kind of file, and returns the first message.
    fn first(&mut self) -> io::Result<Option<Sealed>> {
        while !self.ended && self.buffer.len() < LOOKAHEAD * 2 {
            self.fill()?;
        }
        let text = without_mark(&self.buffer);
        let blank = text.iter().take_while(|b| matches!(b, b'\n' | b'\r'));
        let blank = blank.take(LONGEST_SEPARATOR).count();
        let at = self.buffer.len() - text.len() + blank;
        if separates(self.buffer.get(at..).unwrap_or_default()) {
            let skipped = self.buffer.get(..at).unwrap_or_default();
            self.line = self.line.saturating_add(narrow(line_ends(skipped)));
            self.start = at;
            self.state = State::Mailbox;
            return self.of_mailbox();
        }
        self.state = State::Done;
        self.reader.read_to_end(&mut self.buffer)?;
        let mut bytes = std::mem::take(&mut self.buffer);
        if Fields::read(without_mark(&bytes)).are_of_mail() {
            let mark = bytes.len() - without_mark(&bytes).len();
            bytes.drain(..mark);
            return Ok(Some(Sealed::mail(bytes, 1)));
        }
        Ok(Some(Sealed {
            of: Source::Plain,
            ..Sealed::mail(bytes, 1)
        }))
    }

    /// The next message of a mailbox.
    fn of_mailbox(&mut self) -> io::Result<Option<Sealed>> {
        // How much of the message has been searched for its end.
        let mut searched = 0;
        let end = loop {
            if let Some(end) = self.end_from(&mut searched) {
                break end;
            }
            if self.ended {
                break self.buffer.len();
            }
            self.fill()?;
        };
        let bytes = self.buffer.get(self.start..end).unwrap_or_default();
        if bytes.is_empty() {
            self.state = State::Done;
            return Ok(None);
        }
        let (number, line) = (self.number, self.line);
        self.number = number.saturating_add(1);
        self.line = line.saturating_add(narrow(line_ends(bytes)));
        self.start = end;
        // The separator itself is no header.
        let head = memchr(b'\n', bytes).map_or(bytes.len(), |n| n + 1);
        Ok(Some(Sealed {
            bytes: bytes.get(head..).unwrap_or_default().to_vec(),
            number,
            line: line.saturating_add(1),
            of: Source::Mailbox,
        }))
    }

    /// Where the message ends, if that is known yet: before a separator that follows an empty line.
    /// Advances `searched`, an offset from the start of the message, over the bytes that need not
    /// be searched again.
    fn end_from(&self, searched: &mut usize) -> Option<usize> {
        let message = self.buffer.get(self.start..)?;
        for found in memmem::find_iter(message.get(*searched..)?, b"\nFrom ") {
            let at = *searched + found + 1;
            let rest = message.get(at..)?;
            if rest.len() < LOOKAHEAD && !self.ended {
                *searched = at - 1;
                return None;
            }
            if follows_blank(message.get(..at)?) && separates(rest) {
                return Some(self.start + at);
            }
        }
        *searched = message.len().saturating_sub(5).max(*searched);
        None
    }
}

/// The bytes without a byte order mark.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Whether the last line is empty.
fn follows_blank(before: &[u8]) -> bool {
    let line = before.strip_suffix(b"\n").unwrap_or(before);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    line.is_empty() || line.ends_with(b"\n")
}

/// Whether a message of a mailbox begins here: with a line such as
/// `From a@example.org Thu Jan  1 00:00:00 1970`, and then a header.
fn separates(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(b"From ") else {
        return false;
    };
    let window = rest.get(..LONGEST_SEPARATOR).unwrap_or(rest);
    let Some(end) = memchr(b'\n', window) else {
        return false;
    };
    let (line, after) = rest.split_at(end + 1);
    dated(line) && header::name(after.strip_prefix(b">").unwrap_or(after)).is_some()
}

static DATED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let (days, months) = (
        "Mon|Tue|Wed|Thu|Fri|Sat|Sun",
        "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec",
    );
    let time = r"\d+\s+\d[\d:]*:[\d:]*(?:\s+\S+)?";
    Regex::new(&format!(
        r"(?-u)\s(?:{days})\s+(?:{months})\s+{time}\s+\d{{4}}\s"
    ))
    .ok()
});

/// Whether a line has a date as `asctime` writes it.
fn dated(line: &[u8]) -> bool {
    DATED.as_ref().is_some_and(|date| date.is_match(line))
}
