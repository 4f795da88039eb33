//! Finds the parts of a mail in one pass over its lines, whatever their nesting.

use std::ops::Range;

use memchr::memmem;

use super::header::{Fields, Kind, Part};
use super::text::{line_ends, narrow};

/// Deepest nesting of parts; deeper ones are read as text.
const DEEPEST: usize = 16;

/// A part that has no parts itself.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) part: Part,
    /// The kind of the part.
    pub(super) kind: Kind,
    /// Its bytes, still encoded.
    pub(super) body: Range<usize>,
    /// The file's line at which they begin.
    pub(super) line: u32,
    /// The mail that it belongs to: 0 for the outermost; mails within it count from 1.
    pub(super) owner: usize,
    /// The `multipart/alternative` that it belongs to, counted from 1; 0 for none.
    pub(super) choice: usize,
}

/// Finds the parts of the mail in `bytes`, which begins at line `line` of the file. Also returns
/// the line at which a part is cut off, if one is.
pub(super) fn leaves(bytes: &[u8], line: u32) -> (Vec<Leaf>, Option<u32>) {
    let mut walk = Walk {
        bytes,
        line,
        ..Walk::default()
    };
    walk.entity(0);
    walk.run();
    (walk.leaves, walk.cut_at)
}

/// An open multipart.
struct Frame {
    boundary: Vec<u8>,
    owner: usize,
    choice: usize,
}

/// The element being read.
#[derive(Default)]
enum Open {
    /// Between parts.
    #[default]
    Nothing,
    /// Before the first part of the innermost multipart, from this byte and line.
    Preamble(usize, u32),
    /// A part.
    Leaf(Box<Leaf>),
}

#[derive(Default)]
struct Walk<'a> {
    bytes: &'a [u8],
    /// The offset in bytes up to which line ends are counted.
    counted: usize,
    /// The line of the file at that offset.
    line: u32,
    open: Open,
    stack: Vec<Frame>,
    owner: usize,
    owners: usize,
    choices: usize,
    leaves: Vec<Leaf>,
    cut_at: Option<u32>,
}

impl Walk<'_> {
    fn run(&mut self) {
        let bytes = self.bytes;
        for found in memmem::find_iter(bytes, b"\n--") {
            let at = found + 1;
            // Lines of headers that were read already lie before.
            if self.stack.is_empty() || at < self.counted {
                continue;
            }
            let rest = bytes.get(at + 2..).unwrap_or_default();
            let mut frames = self.stack.iter().enumerate().rev();
            let hit = frames.find_map(|(i, f)| Some((i, delimits(rest, &f.boundary)?)));
            let Some((depth, (length, last))) = hit else {
                continue;
            };
            self.close(at, depth);
            self.stack.truncate(depth + 1);
            let after = at + 2 + length;
            self.owner = self.stack.last().map_or(0, |f| f.owner);
            if last {
                self.stack.pop();
                self.owner = self.stack.last().map_or(0, |f| f.owner);
            } else {
                self.entity(after);
            }
        }
        let unended = !self.stack.is_empty();
        self.close(bytes.len(), usize::MAX);
        if unended {
            self.cut(bytes.len());
        }
    }

    /// The file's line at a byte; bytes are asked for in order.
    fn line_at(&mut self, at: usize) -> u32 {
        let passed = self.bytes.get(self.counted..at).unwrap_or_default();
        self.line = self.line.saturating_add(narrow(line_ends(passed)));
        self.counted = self.counted.max(at);
        self.line
    }

    fn cut(&mut self, at: usize) {
        let line = self.line_at(at);
        self.cut_at.get_or_insert(line);
    }

    /// A part begins, with its header.
    fn entity(&mut self, mut at: usize) {
        for _ in 0..DEEPEST {
            let fields = Fields::read(self.bytes.get(at..).unwrap_or_default());
            let part = fields.part();
            at += fields.body;
            let line = self.line_at(at);
            match part.kind() {
                Kind::Message => {
                    self.owners += 1;
                    self.owner = self.owners;
                }
                Kind::Multipart(boundary) if self.stack.len() < DEEPEST => {
                    let mut choice = self.choice();
                    if part.alternative && choice == 0 {
                        self.choices += 1;
                        choice = self.choices;
                    }
                    self.stack.push(Frame {
                        boundary: boundary.into_bytes(),
                        owner: self.owner,
                        choice,
                    });
                    self.open = Open::Preamble(at, line);
                    return;
                }
                kind => return self.begin(part, kind, at, line),
            }
        }
        let line = self.line_at(at);
        self.begin(Part::default(), Kind::Plain, at, line);
    }

    fn begin(&mut self, part: Part, kind: Kind, at: usize, line: u32) {
        let kind = match kind {
            Kind::Multipart(_) | Kind::Message => Kind::Plain,
            kind => kind,
        };
        self.open = Open::Leaf(Box::new(Leaf {
            part,
            kind,
            body: at..at,
            line,
            owner: self.owner,
            choice: self.choice(),
        }));
    }

    /// The value of [`Leaf::choice`] for a part that begins now.
    fn choice(&self) -> usize {
        self.stack.last().map_or(0, |frame| frame.choice)
    }

    /// Ends the open part before the byte `at`. There the multipart at this depth of the stack has
    /// a delimiter, or the mail ends (`depth` is `usize::MAX`).
    fn close(&mut self, at: usize, depth: usize) {
        let by_end = depth == usize::MAX;
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Nothing => {}
            Open::Leaf(mut leaf) => {
                leaf.body.end = match by_end {
                    true => at,
                    false => before_line_end(self.bytes, at).max(leaf.body.start),
                };
                // Millions of empty parts would cost more than their bytes.
                if !leaf.body.is_empty() {
                    self.leaves.push(*leaf);
                }
            }
            // A multipart without parts: better as text than not at all.
            Open::Preamble(start, line) if by_end || depth + 1 < self.stack.len() => {
                self.begin(Part::default(), Kind::Plain, start, line);
                return self.close(at, depth);
            }
            Open::Preamble(..) => {}
        }
        if !by_end && depth + 1 < self.stack.len() {
            self.cut(at);
        }
    }
}

/// If the rest of a line that begins with `--` is the delimiter of this boundary: its length
/// including the line end, and whether it is the last delimiter.
fn delimits(rest: &[u8], boundary: &[u8]) -> Option<(usize, bool)> {
    let after = rest.strip_prefix(boundary)?;
    let (after, last) = match after.strip_prefix(b"--") {
        Some(after) => (after, true),
        None => (after, false),
    };
    let blanks = after
        .iter()
        .position(|b| !matches!(b, b' ' | b'\t' | b'\r'))
        .unwrap_or(after.len());
    let end = match after.get(blanks) {
        None => blanks,
        Some(b'\n') => blanks + 1,
        Some(_) => return None,
    };
    Some((rest.len() - after.len() + end, last))
}

/// Where the line before the one at `at` ends, without its line end: that
/// belongs to the delimiter.
fn before_line_end(bytes: &[u8], at: usize) -> usize {
    let before = bytes.get(..at).unwrap_or_default();
    let before = before.strip_suffix(b"\n").unwrap_or(before);
    before.strip_suffix(b"\r").unwrap_or(before).len()
}
