//! Patches inside a message: code, not data.

use crate::Line;

/// Follows `@@ -a,b +c,d @@` hunks through the lines of a message.
#[derive(Debug, Default)]
pub(crate) struct Hunks {
    hunk: Hunk,
    depth: u8,
}

impl Hunks {
    /// Whether a line belongs to a patch; must see every line in order.
    pub(crate) fn inside(&mut self, line: &Line<'_>) -> bool {
        let text: &str = &line.text;
        if self.hunk.goes_on() && line.depth == self.depth {
            return self.hunk.takes(text);
        }
        if let Some((hunk, _)) = Hunk::begin(text) {
            (self.hunk, self.depth) = (hunk, line.depth);
            return true;
        }
        is_file_header(text)
    }
}

/// What is left of a hunk of a patch: lines of the old file and of the new one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hunk {
    old: usize,
    new: usize,
}

impl Hunk {
    /// The hunk that a line `@@ -12,7 +12,9 @@ REST` begins, and REST.
    pub fn begin(text: &str) -> Option<(Hunk, &str)> {
        let body = text.strip_prefix("@@ -")?;
        let (ranges, rest) = body.split_once(" @@")?;
        let (old, new) = ranges.split_once(" +")?;
        let count = |range: &str| match range.split_once(',') {
            Some((_, count)) => count.parse().ok(),
            None => Some(1_usize),
        };
        let (old, new) = (count(old)?.min(1_000_000), count(new)?.min(1_000_000));
        Some((Hunk { old, new }, rest))
    }

    /// Whether lines of it are to come.
    pub fn goes_on(&self) -> bool {
        self.old + self.new > 0
    }

    /// Takes a line if it can be one of the hunk's; if it cannot, the hunk ends.
    pub fn takes(&mut self, text: &str) -> bool {
        match text.bytes().next() {
            Some(b'+') => self.new = self.new.saturating_sub(1),
            Some(b'-') => self.old = self.old.saturating_sub(1),
            Some(b'\\') => {}
            // Trailing blanks are stripped: an empty line is context.
            Some(b' ' | b'\t') | None => {
                self.old = self.old.saturating_sub(1);
                self.new = self.new.saturating_sub(1);
            }
            Some(_) => {
                *self = Hunk::default();
                return false;
            }
        }
        true
    }
}

/// Whether a line names the files that a patch changes.
pub fn is_file_header(text: &str) -> bool {
    text.starts_with("diff --git ")
        || (text.starts_with("index ") && text.contains(".."))
        || text.starts_with("--- a/")
        || text.starts_with("+++ b/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hunk_ends_where_its_header_says() {
        let text = "@@ -1,2 +1,2 @@ int f(void)\n a 1 2 3\n-b 1 2 3\n+c 1 2 3\nbase 1 2 3";
        let mut hunks = Hunks::default();
        let inside: Vec<bool> = text
            .lines()
            .map(|t| hunks.inside(&Line::plain(1, t)))
            .collect();
        assert_eq!(inside, [true, true, true, true, false]);
    }
}
