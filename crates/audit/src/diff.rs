//! Patches inside a message: code, not data.

use crate::Line;

/// Follows `@@ -a,b +c,d @@` hunks through the lines of a message.
#[derive(Debug, Default)]
pub(crate) struct Hunks {
    old: usize,
    new: usize,
    depth: u8,
}

impl Hunks {
    /// Whether a line belongs to a patch; must see every line in order.
    pub(crate) fn inside(&mut self, line: &Line<'_>) -> bool {
        let text: &str = &line.text;
        let bytes = text.as_bytes();
        if self.old + self.new > 0 && line.depth == self.depth {
            match bytes.first() {
                Some(b'+') => self.new = self.new.saturating_sub(1),
                Some(b'-') => self.old = self.old.saturating_sub(1),
                Some(b'\\') => {}
                // Trailing blanks are stripped: an empty line is context.
                Some(b' ' | b'\t') | None => {
                    self.old = self.old.saturating_sub(1);
                    self.new = self.new.saturating_sub(1);
                }
                Some(_) => {
                    (self.old, self.new) = (0, 0);
                    return false;
                }
            }
            return true;
        }
        if let Some((old, new)) = bytes
            .starts_with(b"@@ -")
            .then(|| hunk_header(text))
            .flatten()
        {
            (self.old, self.new, self.depth) = (old, new, line.depth);
            return true;
        }
        text.starts_with("diff --git ")
            || (text.starts_with("index ") && text.contains(".."))
            || text.starts_with("--- a/")
            || text.starts_with("+++ b/")
    }
}

/// The line counts of `@@ -12,7 +12,9 @@ …`.
fn hunk_header(text: &str) -> Option<(usize, usize)> {
    let body = text.strip_prefix("@@ -")?;
    let (ranges, _) = body.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => Some(1usize),
    };
    Some((count(old)?.min(1_000_000), count(new)?.min(1_000_000)))
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
