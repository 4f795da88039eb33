//! Checks white space and words in every text file.

use super::Finding;

/// Words that must not be committed, with the reason.
const BANNED: &[(&str, &str)] = &[
    (concat!("sha", "red/"), OUTSIDE),
    (concat!("/ro", "ot/"), OUTSIDE),
    (concat!("/wo", "rk/"), OUTSIDE),
];

const OUTSIDE: &str = "a path that only the author's machine has";

/// The conflict marker of git that a mail never quotes.
const MERGE: &str = concat!("<<<<", "<<< ");

/// Words that are only allowed with an issue, as in `(#12)`.
const PROMISES: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X:"),
];

/// Checks one file, line by line.
pub(super) fn check(file: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut find = |line: usize, what: String| {
        findings.push(Finding {
            file: file.to_owned(),
            line,
            what,
        });
    };
    // An empty script would succeed without doing anything.
    if text.is_empty() {
        find(0, "an empty file".into());
    }
    for (at, line) in text.lines().enumerate() {
        if line.ends_with([' ', '\t']) || line.ends_with('\r') {
            find(at + 1, "trailing white space".into());
        }
        for (word, why) in BANNED {
            if line.contains(word) {
                find(at + 1, format!("`{word}`: {why}"));
            }
        }
        if line.starts_with(MERGE) {
            find(at + 1, "left by a merge".into());
        }
        for word in PROMISES {
            if line.contains(word) && !names_issue(line) {
                find(at + 1, format!("`{word}` without the number of an issue"));
            }
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        find(0, "no line end at the end".into());
    }
    if text.ends_with("\n\n") {
        find(0, "blank lines at the end".into());
    }
    findings
}

/// Whether the line has a `#` before a digit.
fn names_issue(line: &str) -> bool {
    line.as_bytes()
        .windows(2)
        .any(|pair| pair[0] == b'#' && pair[1].is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_at_the_end_of_a_line_is_found() {
        assert_eq!(check("a", "b \n").len(), 1);
        assert_eq!(check("a", "b\n\n").len(), 1);
        assert_eq!(check("a", "b").len(), 1);
        assert!(check("a", "b\n").is_empty());
    }

    #[test]
    fn an_empty_file_is_found() {
        assert_eq!(check("a", "").len(), 1);
    }

    #[test]
    fn a_promise_must_name_its_issue() {
        let promise = concat!("TO", "DO");
        assert_eq!(check("a", &format!("// {promise}: later\n")).len(), 1);
        assert!(check("a", &format!("// {promise}(#12): later\n")).is_empty());
    }
}
