//! Patches in a mail, made short.

use assize_audit::{Hunk, is_file_header};

use super::words::{is_keyword, respelled};

/// So many lines of a hunk stay.
const LINES: usize = 8;

/// So many hunks of each patch stay.
const HUNKS: usize = 2;

/// Follows patches through the lines of one depth and keeps their beginnings.
#[derive(Debug, Default)]
pub(super) struct Patch {
    hunk: Hunk,
    /// The lines of the hunk that stay.
    kept: Vec<String>,
    /// Its first line, and what follows the header.
    header: Option<(usize, String)>,
    hunks: usize,
}

impl Patch {
    /// Takes a line if it belongs to a patch.
    pub(super) fn takes(&mut self, text: &str, out: &mut Vec<String>) -> bool {
        if self.hunk.goes_on() && self.hunk.takes(text) {
            if self.kept.len() < LINES && self.hunks <= HUNKS {
                self.kept.push(text.to_string());
            }
            if !self.hunk.goes_on() {
                self.end(out);
            }
            return true;
        }
        self.end(out);
        if let Some((hunk, rest)) = Hunk::begin(text) {
            self.hunk = hunk;
            self.hunks += 1;
            self.header = Some((first_line(text), rest.to_string()));
            if !hunk.goes_on() {
                self.end(out);
            }
            return true;
        }
        let head = is_file_header(text);
        if head && self.hunks < HUNKS {
            out.push(coded(text));
        }
        head
    }

    /// Writes the hunk, with its header for the lines that stayed.
    pub(super) fn end(&mut self, out: &mut Vec<String>) {
        self.hunk = Hunk::default();
        let Some((from, rest)) = self.header.take() else {
            return;
        };
        let kept = std::mem::take(&mut self.kept);
        if self.hunks > HUNKS {
            return;
        }
        let count = |but: char| {
            let counted = |line: &&String| !line.starts_with(but) && !line.starts_with('\\');
            kept.iter().filter(counted).count()
        };
        let (old, new) = (count('+'), count('-'));
        out.push(format!("@@ -{from},{old} +{from},{new} @@{}", coded(&rest)));
        out.extend(kept.iter().map(|line| coded(line)));
    }
}

/// The number of a hunk's first line in the old file.
fn first_line(header: &str) -> usize {
    let digits = header.trim_start_matches("@@ -");
    let start = digits.split([',', ' ']).next().unwrap_or_default();
    start.parse().unwrap_or(1)
}

/// Code with identifiers, comments and strings of ours.
pub(super) fn coded(text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    let flush = |word: &mut String, out: &mut String| {
        let stays = word.len() < 3 || word.starts_with(|c: char| c.is_ascii_digit());
        match stays || is_keyword(word) {
            true => out.push_str(word),
            false => out.push_str(&respelled(word)),
        }
        word.clear();
    };
    for c in text.chars() {
        if c.is_ascii_alphanumeric() || c == '_' {
            word.push(c);
        } else {
            flush(&mut word, &mut out);
            out.push(if c.is_ascii() { c } else { '?' });
        }
    }
    flush(&mut word, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_hunk_becomes_a_short_one_whose_header_is_right() {
        let mut patch = Patch::default();
        let mut out = Vec::new();
        let mut lines = vec!["diff --git a/fs/x.c b/fs/x.c".to_string()];
        lines.push("@@ -10,20 +10,21 @@ int long_name(void)".into());
        lines.extend((0..20).map(|n| format!(" \tcall_{n}(argument);")));
        lines.push("+\tone_more(argument);".into());
        for line in &lines {
            assert!(patch.takes(line, &mut out), "{line}");
        }
        assert!(!patch.takes("base 1 2 3", &mut out));
        assert_eq!(out.len(), 2 + LINES);
        assert!(out[1].starts_with("@@ -10,8 +10,8 @@ int "));
        assert!(!out.join("\n").contains("long_name"));
        let mut again = Patch::default();
        let mut twice = Vec::new();
        for line in &out {
            assert!(again.takes(line, &mut twice), "{line}");
        }
        assert_eq!(twice.len(), out.len());
    }

    #[test]
    fn code_keeps_keywords_and_numbers() {
        let text = coded("if (some_value == 42) return 0x1f; /* a comment */");
        assert!(text.starts_with("if (") && text.contains("== 42) return 0x1f;"));
        assert!(!text.contains("some_value") && !text.contains("comment"));
    }
}
