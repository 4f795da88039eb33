//! Finds which files a diff touches.

/// The paths of changed files from the top of the tree, in order and without repeats; both paths of
/// a renamed file. Empty if the text contains no diff.
#[must_use]
pub fn paths(text: &str) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    let mut add = |path: Option<String>| {
        if let Some(path) = path.filter(|path| !paths.contains(path)) {
            paths.push(path);
        }
    };
    let mut hunk = HunkRemainder::default();
    let mut before: Option<&str> = None;
    for line in text.lines() {
        if hunk.takes(line) {
            continue;
        }
        if let Some(old) = line.strip_prefix("--- ") {
            before = Some(old);
            continue;
        }
        if let (Some(new), Some(old)) = (line.strip_prefix("+++ "), before.take()) {
            add(path(old));
            add(path(new));
        } else if let Some(moved) = ["rename from ", "rename to ", "copy to "]
            .iter()
            .find_map(|start| line.strip_prefix(start))
        {
            add(Some(unquoted(moved)));
        } else if let Some(both) = line.strip_prefix("Binary files ") {
            let parts = both.trim_end_matches(" differ").split_once(" and ");
            if let Some((old, new)) = parts {
                add(path(old));
                add(path(new));
            }
        } else if let Some(next) = HunkRemainder::begins(line) {
            hunk = next;
        }
    }
    paths
}

/// The numbers of old and new lines that remain in a hunk.
#[derive(Default)]
pub(crate) struct HunkRemainder {
    old: u64,
    new: u64,
}

impl HunkRemainder {
    /// Parses `@@ -1,2 +3,4 @@`; a missing count is 1.
    pub(crate) fn begins(line: &str) -> Option<HunkRemainder> {
        let mut words = line.strip_prefix("@@ -")?.split(' ');
        let count = |range: &str| match range.split_once(',') {
            Some((_, count)) => count.parse().ok(),
            None => Some(1),
        };
        let old = count(words.next()?)?;
        let new = count(words.next()?.strip_prefix('+')?)?;
        Some(HunkRemainder { old, new })
    }

    /// Whether the line belongs to the hunk; a removed line may look like a file header.
    pub(crate) fn takes(&mut self, line: &str) -> bool {
        if self.old == 0 && self.new == 0 {
            return false;
        }
        match line.chars().next() {
            Some('-') => self.old = self.old.saturating_sub(1),
            Some('+') => self.new = self.new.saturating_sub(1),
            Some('\\') => {}
            // A mailer may have stripped the blank of an empty line.
            Some(' ') | None => {
                self.old = self.old.saturating_sub(1);
                self.new = self.new.saturating_sub(1);
            }
            Some(_) => {
                *self = HunkRemainder::default();
                return false;
            }
        }
        true
    }
}

/// The path in a file header, without `a/` or `b/` and without a date after it.
pub(crate) fn path(head: &str) -> Option<String> {
    let head = match head.starts_with('"') {
        true => head,
        false => head.split('\t').next().unwrap_or(head).trim_end(),
    };
    let name = unquoted(head);
    if name == "/dev/null" || name.is_empty() {
        return None;
    }
    let inside = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/"));
    Some(inside.map_or(name.clone(), String::from))
}

/// Unquotes a path that git quoted because of special characters.
fn unquoted(text: &str) -> String {
    let inside = text
        .strip_prefix('"')
        .and_then(|rest| rest.rsplit_once('"'));
    match inside {
        Some((inside, _)) => inside.replace("\\\"", "\"").replace("\\\\", "\\"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_named_once() {
        let text = "text\n---\n x.c | 2 +-\ndiff --git a/x.c b/x.c\n--- a/x.c\n+++ b/x.c\n\
                    @@ -1 +1 @@\n-a\n+b\ndiff --git a/n.h b/n.h\nnew file mode 100644\n\
                    --- /dev/null\n+++ b/n.h\t2026-01-01\n@@ -0,0 +1 @@\n+c\n\
                    rename from old.c\nrename to new.c\n-- \n2.39\n";
        assert_eq!(paths(text), ["x.c", "n.h", "old.c", "new.c"]);
    }

    #[test]
    fn a_line_that_is_removed_is_no_head_of_a_file() {
        let text = "--- a/x.c\n+++ b/x.c\n@@ -1,2 +1,2 @@\n--- a/evil.c\n+++ b/evil.c\n x\n";
        assert_eq!(paths(text), ["x.c"]);
    }

    #[test]
    fn a_text_without_a_diff_touches_nothing() {
        for text in [
            "",
            "--- a/x.c\n",
            "+++ b/x.c\n",
            "@@ -1 +1 @@\n",
            "--- \n+++ \n",
        ] {
            assert_eq!(paths(text), [""; 0], "{text:?}");
        }
    }
}
