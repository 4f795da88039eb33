//! Command lines, and the lines right below them.

use assize_bundle::Place;

use super::Scanner;
use crate::command;
use crate::grammar;
use crate::grammar::{dispatch, list};
use crate::line::Line;

/// A line with this many words is prose.
const WORDS_OF_TEXT: usize = 6;

/// A wrapped command line fills at least this many bytes.
const NEARLY: usize = 48;
/// Longest continuation line.
const LONGEST: usize = 100;
/// Most lines of a wrapped command.
const WRAPPED: usize = 8;

/// Reads a line `sleep 300`; returns the seconds.
pub(super) fn sleep(text: &str) -> Option<f64> {
    let bare = text.trim().trim_start_matches(['#', '$', ' ']);
    crate::options::parse_duration(bare.strip_prefix("sleep ")?).ok()
}

impl Scanner<'_, '_> {
    /// The command above a block. If there is prose between the command and a table, the command is
    /// an example and does not name the table's workload.
    pub(super) fn command_of(&self, at: usize, format: &str) -> Option<(Place, String)> {
        let level = self.levels.get(&self.lines[at].depth)?;
        let (line, place, text) = level.command.as_ref()?;
        let example = format == "table" && self.has_text_between(*line, at);
        (!example).then(|| (*place, text.clone()))
    }

    /// Whether there is a line of prose between a command and the block that begins at line `at`. A
    /// heading is not prose.
    fn has_text_between(&self, command: usize, at: usize) -> bool {
        let is_word = |word: &&str| {
            let bare = word.trim_end_matches([',', '.', ';']);
            bare.bytes().all(|b| b.is_ascii_alphabetic())
        };
        (command + 1..at).any(|between| {
            let line = &self.lines[between];
            let text = line.text.trim_end();
            line.depth == self.lines[at].depth
                && !self.used[between]
                && !text.ends_with(':')
                && text.split_whitespace().filter(is_word).count() >= WORDS_OF_TEXT
        })
    }

    /// A command line, with the lines over which a mailer wrapped it.
    pub(super) fn command(&mut self, at: usize) -> Option<usize> {
        let line = &self.lines[at];
        if list::state(&line.text).is_some() {
            return None;
        }
        let mut text = command::find(&line.text)?.to_string();
        let mut used = 1;
        while used < 4 && command::wants_more(&text) {
            let goes_on = |n: &&Line<'_>| n.depth == line.depth && !n.text.trim().is_empty();
            let Some(next) = self.lines.get(at + used).filter(goes_on) else {
                break;
            };
            if text.ends_with('\\') {
                text.pop();
            } else if self.starts_block(at + used) {
                break;
            }
            text = format!("{} {}", text.trim_end(), next.text.trim());
            used += 1;
        }
        while used < WRAPPED
            && let Some(rest) = self.options_go_on(at + used, line.depth)
        {
            text = format!("{} {rest}", text.trim_end());
            used += 1;
        }
        for i in at..at + used {
            self.take(i, "command");
        }
        self.flush_samples(line.depth);
        if !command::prepares(&text) {
            self.level(line.depth).command = Some((at, line.place, text));
        }
        Some(used)
    }

    /// Returns the wrapped rest of a command line: a line of options right below a line of
    /// nearly full length.
    fn options_go_on(&self, at: usize, depth: u8) -> Option<&str> {
        let above = self.lines.get(at.checked_sub(1)?)?.text.trim();
        let line = self.lines.get(at).filter(|line| line.depth == depth)?;
        let text = line.text.trim();
        let option = |word: &str| {
            let name = word.trim_start_matches('-');
            word.len() - name.len() <= 2
                && name.len() >= 2
                && name.starts_with(|c: char| c.is_ascii_lowercase())
        };
        let mut words = text.split_whitespace();
        let is_first = |word: &str| word.starts_with('-') && option(word);
        let first = words.next().is_some_and(is_first);
        let whole = above.ends_with([':', '\\']) || above.len() < NEARLY;
        let valued = text.contains('=') || words.next().is_none();
        (first && valued && !whole && text.len() <= LONGEST).then_some(text)
    }

    fn starts_block(&self, at: usize) -> bool {
        let text = &self.lines[at].text;
        // For commands the distance to the next digit does not matter.
        dispatch::formats(text, 0)
            .map(|format| &grammar::all()[format])
            .filter(|g| g.name != "table")
            .any(|g| (g.starts)(text) && (g.read)(&self.lines[at..]).is_some())
    }
}
