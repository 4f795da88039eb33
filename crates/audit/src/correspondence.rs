//! Recognises lines that accompany mails and patches. The numbers in them are dates, commits or
//! line counts, never figures.

/// Whether a line is an attribution, a trailer, an address or part of a diffstat.
pub(crate) fn is_correspondence(text: &str) -> bool {
    let bare = text.trim_start();
    is_said_by_somebody(bare) || is_trailer(bare) || is_address(bare) || is_of_diffstat(text)
}

/// `On Mon, Aug 12, 2019 at 1:04 AM X <x@y> wrote:`, also where it is wrapped.
fn is_said_by_somebody(text: &str) -> bool {
    let rest = text.strip_prefix("On ").and_then(behind_day);
    let dated = rest.is_some_and(|rest| rest.starts_with(", "));
    dated || text.ends_with(':') && is_attribution(text)
}

/// Whether a text is an attribution line: `On …, … wrote:`.
pub(crate) fn is_attribution(text: &str) -> bool {
    let lower = text.trim_end_matches(':').to_lowercase();
    let ends = [" wrote", " writes", " schrieb", " said", " a \u{e9}crit"];
    ends.iter().any(|end| lower.ends_with(end))
}

/// Returns the text after the day of the week.
fn behind_day(text: &str) -> Option<&str> {
    const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    DAYS.iter().find_map(|day| text.strip_prefix(day))
}

/// `Signed-off-by: X <x1@y>`, `Link: https://…`, `Fixes: 1f2d3c4 ("…")`, `Date: Tue, 13 Oct …`.
fn is_trailer(text: &str) -> bool {
    #[rustfmt::skip]
    const NAMES: [&str; 11] = [
        "Author", "BugLink", "Bugzilla", "CC", "Cc", "Closes", "From", "Gitweb", "Link",
        "Message-Id", "To",
    ];
    let Some((name, rest)) = text.split_once(": ") else {
        return false;
    };
    if name.contains(':') {
        return false;
    }
    let signed = name.ends_with("-by") && !name.contains(' ');
    let addressed = rest.contains('@') || rest.contains("://");
    signed && name.starts_with(char::is_uppercase)
        || (signed || NAMES.contains(&name)) && addressed
        || name == "Subject"
        || name == "Fixes" && text.contains(" (\"")
        || name.ends_with("Date") && behind_day(rest.trim_start()).is_some()
}

/// `https://…`, `[1] https://…`.
fn is_address(text: &str) -> bool {
    let number = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let rest = match number {
        Some((number, rest)) if number.bytes().all(|b| b.is_ascii_digit()) => {
            rest.trim_start_matches([':', ' '])
        }
        _ => text,
    };
    (rest.starts_with("https://") || rest.starts_with("http://")) && !rest.contains(' ')
}

/// What `git diff --stat --summary` prints: ` fs/x.c | 12 ++--`, ` 1 file changed, …`,
/// ` create mode 100644 fs/y.c`.
fn is_of_diffstat(text: &str) -> bool {
    const SUMMARY: [&str; 4] = ["create mode 1", "delete mode 1", "mode change 1", "rename "];
    let Some(text) = text.strip_prefix(' ') else {
        return false;
    };
    let counted = || {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < text.len()
            && (rest.starts_with(" file changed, ") || rest.starts_with(" files changed, "))
    };
    let changed = || {
        let (file, change) = text.split_once(" | ")?;
        let digit = |c: char| c.is_ascii_digit();
        let change = change.trim_start().trim_start_matches(digit);
        let marks = change.strip_prefix(' ')?;
        let drawn = !marks.is_empty() && marks.bytes().all(|b| matches!(b, b'+' | b'-'));
        Some(drawn && file.contains(['/', '.']))
    };
    SUMMARY.iter().any(|mark| text.starts_with(mark)) || counted() || changed().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_says_what_and_where_is_no_figure() {
        #[rustfmt::skip]
        let cases = [
            "On Mon, Aug 12, 2019 at 10:39 PM A Writer",
            "On Mon, 12 Aug 2019 22:39:01 +0200, A Writer <a@b.c> wrote:",
            "Signed-off-by: A Writer <a12@b.c>", "Tested-by: A Writer", "Subject: 12 %", "Cc: stable@b.c # 5.4",
            "Fixes: 1f2d3c4a5b6c (\"fs: Wake fewer threads\")", "Link: https://b.c/r/2019",
            "Date: Tue, 13 Oct 2020 12:39:23 -0700", "https://b.c/r/2019", "[2]: http://b.c/12",
            " fs/x.c           |  12 ++++------", " 1 file changed, 96 insertions(+)",
            " create mode 100644 fs/x2.c",
        ];
        #[rustfmt::skip]
        let figures = [
            "On Monday it took 12 s", "It took 12 s, as A wrote", "From: 63 seconds",
            "Fixes: 12 of 13", "written-by: 12 MB", "Date: 12.5 s", "https://b.c/x took 12 s",
            "[1] 12.5", " fs/x.c | 12", " read | 12 +-", " 3 files changed in 12 s",
            "12 files changed, 96 insertions(+)",
        ];
        for (texts, expected) in [(&cases[..], true), (&figures, false)] {
            let fails = texts
                .iter()
                .find(|text| is_correspondence(text) != expected);
            assert_eq!(fails, None);
        }
    }
}
