//! Text and commands wrapped to the width of a mail.

use assize_verdict::Lint;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::printable;

/// The width of the text report, in columns.
pub const WIDTH: usize = 72;

/// Appends text wrapped to the width of a mail.
pub(crate) fn push_wrapped(out: &mut String, first: &str, rest: &str, text: &str) {
    let options = textwrap::Options::new(WIDTH)
        .initial_indent(first)
        .subsequent_indent(rest);
    // A newline in a name must not end a row.
    let text = printable(text).replace('\n', " ");
    for line in textwrap::wrap(text.trim_end(), options) {
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// Appends a command, wrapped with backslashes if it is too long.
pub(crate) fn push_wrapped_code(out: &mut String, command: &str) {
    push_wrapped_code_after(out, "  ", command);
}

/// Appends a command to the beginning of a line.
pub(crate) fn push_wrapped_code_after(out: &mut String, begin: &str, command: &str) {
    let command = printable(command);
    let words = shell_words(&command);
    let mut line = String::from(begin);
    for (at, word) in words.iter().enumerate() {
        if line.len() + word.len() + 3 > WIDTH && line.trim().len() > 2 {
            out.push_str(line.trim_end());
            out.push_str(" \\\n");
            line = String::from("    ");
        }
        line.push_str(word);
        if at + 1 < words.len() {
            line.push(' ');
        }
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

/// Wraps text to the width of a mail.
pub(crate) fn fill_lines(text: &str) -> String {
    textwrap::fill(text, WIDTH) + "\n"
}

/// Cuts a line to `columns` columns.
pub(crate) fn cut(line: &str, columns: usize) -> String {
    if line.width() <= columns {
        return line.to_owned();
    }
    let (mut short, mut width) = (String::new(), 1);
    for c in line.chars() {
        width += c.width().unwrap_or(0);
        if width > columns {
            break;
        }
        short.push(c);
    }
    short.trim_end().to_owned() + "…"
}

/// Splits a command into words; quoted text is one word.
fn shell_words(line: &str) -> Vec<&str> {
    let (mut words, mut from) = (Vec::new(), 0);
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in line.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if !quoted => escaped = true,
            '\'' => quoted = !quoted,
            ' ' if !quoted => {
                words.extend(line.get(from..at));
                from = at + 1;
            }
            _ => {}
        }
    }
    words.extend(line.get(from..));
    words
}

/// The text of a warning: its code, its place, and the defect.
pub(crate) fn lint_line(lint: &Lint) -> String {
    match lint.location.as_str() {
        "" => format!("[{}] {}", lint.code, lint.detail),
        location => format!("[{}] {location}: {}", lint.code, lint.detail),
    }
}
