//! The functions that the hunks of a diff touch, as far as the diff shows.

use crate::diff::{HunkRemainder, path};

/// Annotations that look like a function name with arguments.
const ANNOTATIONS: [&str; 9] = [
    "__acquires",
    "__aligned",
    "__alloc_size",
    "__attribute__",
    "__must_hold",
    "__printf",
    "__releases",
    "__scanf",
    "__section",
];

/// A hunk and the functions that it changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TouchedHunk {
    /// The file, as a path from the top of the tree; for a renamed file, the new path.
    pub path: String,
    /// Its line ranges: `-1,2 +3,4`.
    pub range: String,
    /// The functions in which lines are added or removed, in order and without repeats.
    pub functions: Vec<String>,
    /// Whether it also changes lines that the diff does not assign to a function.
    pub outside: bool,
}

/// Returns all hunks of a text, in order. A line belongs to the last function that starts before it
/// in the hunk or, failing that, to the function named after the line ranges.
#[must_use]
pub fn touched(text: &str) -> Vec<TouchedHunk> {
    let mut all: Vec<TouchedHunk> = Vec::new();
    let (mut hunk, mut file) = (HunkRemainder::default(), String::new());
    let (mut before, mut inside): (Option<&str>, Option<String>) = (None, None);
    for line in text.lines() {
        if hunk.takes(line) {
            if let Some(one) = all.last_mut() {
                one.take(line, &mut inside);
            }
        } else if let Some(old) = line.strip_prefix("--- ") {
            before = Some(old);
        } else if let (Some(new), Some(old)) = (line.strip_prefix("+++ "), before.take()) {
            file = path(new).or_else(|| path(old)).unwrap_or_default();
        } else if let Some(next) = HunkRemainder::begins(line) {
            hunk = next;
            let words = line.trim_start_matches("@@ ");
            let (range, around) = words.split_once(" @@").unwrap_or((words, ""));
            inside = function_begun(around.trim_start());
            all.push(TouchedHunk {
                path: file.clone(),
                range: range.to_owned(),
                functions: Vec::new(),
                outside: false,
            });
        }
    }
    all
}

impl TouchedHunk {
    fn take(&mut self, line: &str, inside: &mut Option<String>) {
        let (sign, code) = match line.chars().next() {
            Some(sign @ ('+' | '-' | ' ')) => (sign, line.get(1..).unwrap_or_default()),
            Some('\\') => return,
            _ => (' ', line),
        };
        let first = code.chars().next();
        let function = function_begun(code);
        let others = first.is_some_and(|c| c.is_alphabetic() || c == '_' || c == '#');
        let label = code.trim_end().ends_with(':');
        if function.is_some() {
            inside.clone_from(&function);
        } else if others && !label && first != Some('#') {
            // The line is a declaration, or the return type of a function that follows.
            *inside = None;
        }
        if sign != ' ' && !code.trim().is_empty() {
            match inside {
                Some(name) if !self.functions.contains(name) => self.functions.push(name.clone()),
                Some(_) => {}
                None => self.outside = true,
            }
        }
        let ends = code.starts_with('}') || code.starts_with("SYM_FUNC_END");
        if ends {
            *inside = None;
        }
    }
}

/// The name of the function that starts on a line.
fn function_begun(code: &str) -> Option<String> {
    let starts = code.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !starts || code.trim_end().ends_with(';') {
        return None;
    }
    let mut names = Vec::new();
    let mut depth = 0_u32;
    for (at, character) in code.char_indices() {
        match character {
            '=' if depth == 0 => return None,
            '(' => {
                let name = code.get(..at).and_then(last_word).filter(|_| depth == 0);
                names.extend(name.map(|name| (name, code.get(at + 1..).unwrap_or_default())));
                depth += 1;
            }
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    let function = |(name, _): &&(&str, &str)| !ANNOTATIONS.contains(name);
    let (name, arguments) = names.iter().find(function)?;
    let first = arguments.split([',', ')']).next().map(str::trim);
    let first = first.filter(|first| !first.is_empty());
    if name.starts_with("SYSCALL_DEFINE") {
        return first.map(|call| format!("__x64_sys_{call}"));
    }
    if name.starts_with("SYM_") && name.contains("_START") {
        return first.map(str::to_owned);
    }
    (!name.starts_with("SYM_")).then(|| (*name).to_owned())
}

/// The identifier at the end of a text.
fn last_word(text: &str) -> Option<&str> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let from = text.trim_end_matches(word).len();
    text.get(from..)
        .filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(around: &str, lines: &str) -> TouchedHunk {
        let count = |sign: char| {
            let of = |line: &&str| line.starts_with(sign) || line.starts_with(' ');
            lines.lines().filter(of).count()
        };
        let (old, new) = (count('-'), count('+'));
        let text = format!("--- a/x.c\n+++ b/x.c\n@@ -7,{old} +7,{new} @@{around}\n{lines}");
        let mut all = touched(&text);
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    fn functions(around: &str, lines: &str) -> (Vec<String>, bool) {
        let one = one(around, lines);
        (one.functions, one.outside)
    }

    #[test]
    fn a_hunk_inside_a_function_has_its_name_from_the_words_behind_the_ranges() {
        let found = one(" static int f(struct x *x,", " \ta();\n-\tb();\n+\tc();\n");
        assert_eq!((&*found.path, &*found.range), ("x.c", "-7,2 +7,2"));
        assert_eq!(found.functions, ["f"]);
        assert!(!found.outside);
        assert!(functions("", "-\tb();\n").1);
    }

    #[test]
    fn a_function_that_begins_in_the_hunk_counts_from_there_on() {
        let lines = " \treturn 0;\n }\n \n-int g(void)\n+int h(void)\n {\n \tint a;\n }\n";
        assert_eq!(functions(" int f(int a)", lines).0, ["g", "h"]);
        let lines = "-\ta();\n }\n \n int g(void)\n {\n+\tb();\n out:\n+\tc();\n }\n+#define X 1\n";
        let (names, outside) = functions(" int f(int a)", lines);
        assert_eq!(names, ["f", "g"]);
        assert!(outside);
    }

    #[test]
    fn what_only_looks_like_a_function_is_none() {
        for line in [
            "int g(void);",
            "static int (*call)(int) = g;",
            "static DEFINE_MUTEX(lock);",
            "struct x {",
            "static const struct ops ops = { F(a) };",
            "\tif (a)",
            " * text (more)",
            "",
        ] {
            assert_eq!(function_begun(line), None, "{line}");
        }
    }

    #[test]
    fn names_are_those_of_symbols() {
        for (line, name) in [
            ("__printf(1, 2) void say(const char *form, ...)", "say"),
            ("static void __sched f(int a) __releases(a->lock)", "f"),
            ("static struct x *__f(int a,", "__f"),
            ("SYSCALL_DEFINE3(read, unsigned int, fd,", "__x64_sys_read"),
            ("SYM_FUNC_START(csum_partial)", "csum_partial"),
            ("f(int a)", "f"),
        ] {
            assert_eq!(function_begun(line).as_deref(), Some(name), "{line}");
        }
    }

    #[test]
    fn each_file_and_hunk_is_told_apart() {
        let text = "--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@ int f(int)\n-\ta\n+\tb\n\
                    @@ -9 +9 @@ int g(int)\n-\ta\n+\tb\n\
                    --- a/y.c\n+++ /dev/null\n@@ -1 +0,0 @@ int h(int)\n-\ta\n";
        let all = touched(text);
        let found: Vec<(&str, &[String])> = all
            .iter()
            .map(|one| (&*one.path, &*one.functions))
            .collect();
        let [f, g, h] = ["f", "g", "h"].map(|name| vec![name.to_owned()]);
        assert_eq!(found, [("x.c", &*f), ("x.c", &*g), ("y.c", &*h)]);
        assert!(touched("no diff at all").is_empty());
    }
}
