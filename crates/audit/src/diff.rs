//! Patches inside a message: code, not data.

use std::ops::Range;

use crate::line::Line;

/// Which lines of a message are those of patches.
pub(crate) fn patches(lines: &[Line<'_>]) -> Vec<Range<usize>> {
    let mut patches = Patches::default();
    let mut found: Vec<Range<usize>> = Vec::new();
    for at in 0..lines.len() {
        if let Some(first) = patches.first_of(lines, at) {
            // What names the files may be known already.
            let first = found.last().map_or(first, |last| first.max(last.end));
            found.push(first..at + 1);
        }
    }
    found
}

/// Follows patches through the lines of a message.
#[derive(Debug, Default)]
struct Patches {
    /// The last hunk, and how deep it is quoted.
    hunk: Hunk,
    depth: u8,
    /// The quote depth of git's header, if the previous line belongs to one.
    header: Option<u8>,
}

impl Patches {
    /// Returns the first line, at or before the line at `at`, that belongs to the same part of a
    /// patch; `None` if that line is in no patch. Must be called for every line in order.
    fn first_of(&mut self, lines: &[Line<'_>], at: usize) -> Option<usize> {
        let line = &lines[at];
        let text: &str = &line.text;
        let within = self.header.take() == Some(line.depth);
        if self.hunk.goes_on() && line.depth == self.depth {
            return self.hunk.takes(text).then_some(at);
        }
        if let Some(hunk) = Hunk::begin(text) {
            (self.hunk, self.depth) = (hunk, line.depth);
            return Some(first_of_header(lines, at));
        }
        let begins = text.starts_with("diff --git ");
        self.header = Some(line.depth).filter(|_| begins || within && is_extended_header(text));
        (self.header.is_some() || is_file_header(text)).then_some(at)
    }
}

/// Returns the first line of the file header (`---`, `+++`) right above a hunk, or the line of the
/// hunk if it has no such header.
fn first_of_header(lines: &[Line<'_>], hunk: usize) -> usize {
    let is = |at: usize, mark: &str| {
        let line = lines.get(at).filter(|line| line.depth == lines[hunk].depth);
        line.is_some_and(|line| line.text.starts_with(mark))
    };
    match hunk.checked_sub(2) {
        Some(first) if is(first, "--- ") && is(first + 1, "+++ ") => first,
        _ => hunk,
    }
}

/// Whether a line below `diff --git` describes the change to the file.
fn is_extended_header(text: &str) -> bool {
    #[rustfmt::skip]
    const BEGINNINGS: [&str; 14] = [
        "--- ", "+++ ", "index ", "old mode ", "new mode ", "deleted file mode ",
        "new file mode ", "copy from ", "copy to ", "rename from ", "rename to ",
        "similarity index ", "dissimilarity index ", "Binary files ",
    ];
    BEGINNINGS.iter().any(|mark| text.starts_with(mark))
}

/// The rest of a hunk: lines of the old file and of the new one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hunk {
    old: usize,
    new: usize,
}

impl Hunk {
    /// The hunk that a line `@@ -12,7 +12,9 @@` begins.
    fn begin(text: &str) -> Option<Hunk> {
        let (ranges, _) = text.strip_prefix("@@ -")?.split_once(" @@")?;
        let (old, new) = ranges.split_once(" +")?;
        let count = |range: &str| match range.split_once(',') {
            Some((_, count)) => count.parse().ok(),
            None => Some(1_usize),
        };
        let (old, new) = (count(old)?.min(1_000_000), count(new)?.min(1_000_000));
        Some(Hunk { old, new })
    }

    /// Whether lines of the hunk follow.
    fn goes_on(&self) -> bool {
        self.old + self.new > 0
    }

    /// Takes a line if it can be one of the hunk's; if it cannot, the hunk ends.
    fn takes(&mut self, text: &str) -> bool {
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
fn is_file_header(text: &str) -> bool {
    let mut starts = ["diff --git ", "--- a/", "+++ b/"].iter();
    starts.any(|start| text.starts_with(start)) || text.starts_with("index ") && text.contains("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that are left of a text whose lines are quoted this deep.
    fn left(text: &str, depths: &[u8]) -> Vec<String> {
        let lines = (1..).zip(text.lines());
        let mut lines: Vec<Line<'_>> = lines.map(|(at, text)| Line::plain(at, text)).collect();
        for (line, depth) in lines.iter_mut().zip(depths) {
            line.depth = *depth;
        }
        let found = patches(&lines);
        let of_patch = |at: usize| found.iter().any(|range| range.contains(&at));
        let left = lines.into_iter().enumerate();
        let left = left.filter(|(at, line)| !of_patch(*at) && !line.text.is_empty());
        left.map(|(_, line)| line.text.into_owned()).collect()
    }

    #[test]
    fn a_patch_is_its_hunks_and_what_names_its_files() {
        let header = "diff --git a/x.c b/x.c\nnew file mode 100644\nindex 000..fb9c813\n\
                      --- /dev/null\n+++ b/x.c\n@@ -0,0 +1 @@\n+12 13\n";
        let names = "--- linux.orig/x.c\t2008-01-02\n+++ linux/x.c\t2008-01-03\n";
        let hunk = "@@ -1 +1 @@\n-12 13\n+13 14\n";
        for (text, wanted) in [
            (format!("{header}{header}base 1 2 3"), &["base 1 2 3"][..]),
            (format!("a 1\n{names}{hunk}b 2"), &["a 1", "b 2"]),
            (format!("{header}a 1\nold mode 1"), &["a 1", "old mode 1"]),
            (
                "a 1\n--- /dev/null\nindex of 12".to_owned(),
                &["a 1", "--- /dev/null", "index of 12"],
            ),
        ] {
            assert_eq!(left(&text, &[]), wanted);
        }
        assert_eq!(left(&format!("{names}b 2"), &[]).len(), 3);
        // A hunk goes on behind what stands between its lines.
        let answered = "@@ -1,2 +1,2 @@\n a 1\nWhy?\n-b 2\n+c 3";
        assert_eq!(left(answered, &[1, 1, 0, 1, 1]), ["Why?"]);
    }
}
