//! Lines that are no headings, as they name nothing that stands below them.

use crate::grammar::number::english;

/// Words that name nothing.
const GENERIC: &[&str] = &[
    "result",
    "results",
    "number",
    "numbers",
    "raw",
    "data",
    "test",
    "tests",
    "summary",
    "here",
    "are",
    "is",
    "the",
    "it",
    "looks",
    "like",
    "this",
    "now",
    "onto",
    "below",
    "above",
    "following",
    "as",
    "follows",
    "performance",
    "benchmark",
    "benchmarks",
    "measurement",
    "measurements",
    "output",
    "some",
    "my",
    "our",
    "table",
    "tables",
    "figures",
    "log",
    "a",
    "an",
    "of",
    "in",
    "and",
    "we",
    "i",
    "get",
    "got",
    "see",
    "these",
    "those",
    "was",
    "were",
    "then",
    "run",
    "runs",
    "for",
    "comparison",
    "details",
    "detailed",
    "full",
    "looking",
    "at",
    "what",
    "have",
    "logs",
    "changes",
    "changelog",
];

/// `Test results`, `Raw numbers`, `It looks like this`: names nothing.
pub(crate) fn is_generic(text: &str) -> bool {
    // What fio prints above its sums, and of itself.
    let version = text.strip_prefix("fio-");
    text.starts_with("Run status group")
        // A robot's first line of what was merged.
        || text.starts_with("The following commit has been merged")
        || version.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        || text
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|w| !w.is_empty())
            .all(|word| GENERIC.contains(&word.to_lowercase().as_str()))
}

/// `From: …`, `Date: …` in an archive's page.
pub(super) fn is_letter_header(text: &str) -> bool {
    const NAMES: &[&str] = &[
        "from",
        "to",
        "cc",
        "date",
        "subject",
        "message-id",
        "in-reply-to",
        "references",
        "reply-to",
        "sender",
        "link",
        "signed-off-by",
        "tested-by",
        "reviewed-by",
        "acked-by",
        "reported-by",
        "fixes",
        "suggested-by",
    ];
    text.split_once(':')
        .is_some_and(|(name, _)| NAMES.contains(&name.trim().to_lowercase().as_str()))
}

/// A mean that was computed by hand: `(12.5+12.9+12.1)/3 = 12.5`.
pub(super) fn is_calculation(text: &str) -> bool {
    let sign = |c: char| {
        matches!(
            c,
            '(' | ')' | '+' | '-' | '*' | '/' | '=' | '~' | '%' | '.' | ','
        )
    };
    let known = |c: char| c.is_ascii_digit() || c == ' ' || sign(c);
    text.contains(['+', '/', '*']) && text.contains('=') && text.chars().all(known)
}

/// A counter or a sample with its name behind it: `40,168      dTLB-miss`,
/// `1.013131404   50939   sched:sched_switch`; `5.10 kernel` is a version, and `8 threads`
/// may be what something was measured with.
pub(super) fn is_counted(text: &str) -> bool {
    let Some((number, rest)) = text.trim().split_once(char::is_whitespace) else {
        return false;
    };
    let places = number.split_once('.').map_or(0, |(_, places)| places.len());
    number.starts_with(|c: char| c.is_ascii_digit())
        && (number.contains(',') || places >= 3)
        && english(number).is_some()
        && rest.bytes().any(|b| b.is_ascii_alphabetic())
}

/// A function that a compiler made of another: `__rb_reserve_next.constprop.0`.
pub(super) fn is_symbol(text: &str) -> bool {
    const MADE: [&str; 5] = [".constprop.", ".isra.", ".part.", ".cold", ".llvm."];
    !text.contains(char::is_whitespace) && MADE.iter().any(|made| text.contains(made))
}

/// A command behind a prompt that only shows what stands in files: `box # grep IOPS *.log`.
pub(super) fn reads_files(text: &str) -> bool {
    const PROGRAMS: [&str; 5] = ["grep", "cat", "tail", "head", "awk"];
    let prompts = ["# ", "$ "].into_iter();
    let mut typed = prompts.filter_map(|mark| text.split_once(mark));
    typed.any(|(_, command)| {
        let mut words = command.split_whitespace();
        words.next().is_some_and(|word| PROGRAMS.contains(&word)) && words.next().is_some()
    })
}

/// `On …, … wrote:`
pub(crate) fn is_attribution(text: &str) -> bool {
    let lower = text.trim_end_matches(':').to_lowercase();
    [" wrote", " writes", " schrieb", " said", " a écrit"]
        .iter()
        .any(|end| lower.ends_with(end))
}
