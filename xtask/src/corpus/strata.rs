//! Which mails hold figures, and which of them may compare something. Both
//! are broad on purpose: they decide what is drawn, not what it is.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use assize_audit::Line;
use assize_audit::mail::{Message, messages};
use regex::Regex;

use crate::Error;

/// A mail with fewer lines of figures holds none.
pub(super) const LINES: usize = 3;

/// What a mail was drawn as.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Stratum {
    /// One that holds figures.
    Figures,
    /// One that holds figures and words of comparisons.
    MayCompare,
    /// One whose figures may be of several runs each: with deviations or numbers
    /// of runs beside words of comparisons, or with many rows of one form.
    MayRepeat,
}

impl Stratum {
    /// The word in labels and listings.
    pub(super) fn word(self) -> &'static str {
        match self {
            Stratum::Figures => "figures",
            Stratum::MayCompare => "may-compare",
            Stratum::MayRepeat => "may-repeat",
        }
    }
}

/// The first message of a text.
pub(super) fn message(bytes: &[u8]) -> Result<Option<Message>, Error> {
    let first = messages(bytes).next().transpose();
    first.map_err(|why| why.to_string())
}

/// So far from a figure words belong to it.
const NEAR: usize = 3;

/// So many rows of one form may be runs.
const ROWS: usize = 6;

/// The strata a mail belongs to; all that hold something are of `Figures`.
pub(super) fn of(lines: &[Line<'_>]) -> Vec<Stratum> {
    let mut diff = false;
    let mut figures = 0;
    // Lines that are neither a patch nor apart, with whether they hold fine
    // figures.
    let mut texts: Vec<(&str, bool)> = Vec::new();
    for line in lines {
        let text: &str = &line.text;
        diff = in_diff(text, diff);
        if diff || is_apart(text) {
            continue;
        }
        let has_figures = has_figures(text);
        figures += usize::from(has_figures);
        texts.push((text, has_figures && FINE.is_match(text)));
    }
    if figures < LINES {
        return Vec::new();
    }
    let mut strata = vec![Stratum::Figures];
    let compares = may_compare(&texts);
    if compares {
        strata.push(Stratum::MayCompare);
    }
    if (compares && texts.iter().any(|(text, _)| REPEATED.is_match(text))) || of_one_form(&texts) {
        strata.push(Stratum::MayRepeat);
    }
    strata
}

/// Whether many rows with fine figures differ in nothing but digits.
fn of_one_form(texts: &[(&str, bool)]) -> bool {
    let mut forms: BTreeMap<String, usize> = BTreeMap::new();
    for (text, _) in texts.iter().filter(|(_, fine)| *fine) {
        let form = text.split_whitespace().map(|word| match is_figure(word) {
            true => "0",
            false => word,
        });
        *forms.entry(form.collect::<Vec<_>>().join(" ")).or_default() += 1;
    }
    forms.values().any(|rows| *rows >= ROWS)
}

/// Whether near fine figures stand words for one thing, for another, and for
/// what was measured.
fn may_compare(texts: &[(&str, bool)]) -> bool {
    let fine = texts.iter().filter(|(_, fine)| *fine).count();
    let mut met = [false; 3];
    for (at, (text, _)) in texts.iter().enumerate() {
        let around = at.saturating_sub(NEAR)..(at + NEAR + 1).min(texts.len());
        let near = texts.get(around).unwrap_or_default();
        if near.iter().any(|(_, fine)| *fine) {
            for (met, words) in met.iter_mut().zip([&ONE, &OTHER, &MEASURED]) {
                *met = *met || words.is_match(text);
            }
        }
    }
    fine >= LINES && met == [true; 3]
}

type Words = LazyLock<Regex>;

#[allow(clippy::expect_used)] // Constants; the tests use them.
fn words(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a regular expression")
}

/// A figure with a decimal point, a unit or a percent sign.
pub(super) static FINE: Words = LazyLock::new(|| {
    words(
        r"(?i)\d\.\d|\d ?(%|[kmg]i?b\b|[kmg]\b|[kmgt]?i?b(it)?s?/s|[nmu]?s(ec)?s?\b|ops|iops)|\d{5}",
    )
});

/// Words for what a change is compared with.
static ONE: Words = LazyLock::new(|| {
    words(
        r"(?i)\b(base|baseline|before|unpatched|vanilla|w/o|without|unmodified|mainline|upstream|old|orig|original|stock|default|vs\.?|versus|previous|current|than|disabled?|off|none|v\d)\b",
    )
});

/// Words for the change, or for a difference.
static OTHER: Words = LazyLock::new(|| {
    words(
        r"(?i)(\b(after|patched|w/|with|new|patch|patches|series|improve\w*|improvement|regress\w*|faster|slower|speed-?up|better|worse|change|diff|delta|gain|enabled?|on|optimi\w+|modified)\b|%change|% ?diff|[-+]\d+(\.\d+)? ?%)",
    )
});

/// Deviations, and numbers of runs.
static REPEATED: Words = LazyLock::new(|| {
    words(
        r"(?i)(±|\+-|\+/-|\bstd\.? ?dev|%stddev|\b(\d+|ten|five|three|several) (runs|iterations|rounds|boots|times)\b|\baverage(d)? (of|over)|\b(run|iteration|round) ?#?\d\b)",
    )
});

/// Units of performance and words for it, and what measures it.
static MEASURED: Words = LazyLock::new(|| {
    words(
        r"(?i)([kmgt]i?b(it)?s?/s|[mg]bps|\biops\b|ops/s|\bcycles\b|\bthroughput\b|\blatency\b|\bbandwidth\b|\bbench\w*|\bfio\b|dbench|iozone|sysbench|hackbench|netperf|iperf|perf stat|fs_?mark|filebench|unixbench|tcrypt|will-it-scale|stress-ng|kernbench|%stddev|std ?dev|\belapsed\b|^\W*real\s+\d|\bseconds\b|\bsecs?\b|\bavg\b|\baverage\b|\bmean\b|\btput\b|\bqps\b|\btps\b|per second|/sec\b|\bruntime\b|\bcpb\b)",
    )
});

/// Whether the line belongs to a patch; `inside` says it of the line before.
pub(super) fn in_diff(text: &str, inside: bool) -> bool {
    const BEGIN: [&str; 5] = ["diff --git ", "@@ -", "--- a/", "+++ b/", "index "];
    if BEGIN.iter().any(|begin| text.starts_with(begin)) {
        return text.starts_with("index ") <= text.contains("..");
    }
    inside && (text.is_empty() || text.starts_with(['+', '-', ' ', '\t', '\\', '@']))
}

/// Whether the line is a log's, code, a sum of changes in files, or an address.
pub(super) fn is_apart(text: &str) -> bool {
    let bare = text.trim();
    let attribution = bare.ends_with("wrote:") || bare.starts_with("On ");
    let log = bare.starts_with('[') || bare.starts_with('<') || bare.starts_with("0x");
    let code = bare.ends_with([';', '{', '}', '\\']) || bare.contains("->") || bare.contains("()");
    let stat = (bare.contains(" | ") && bare.ends_with(['+', '-']))
        || bare.contains("insertions(+)")
        || bare.contains("deletions(-)");
    attribution || log || code || stat || bare.contains("://") || bare.contains('@')
}

/// Whether figures are a good part of a line.
pub(super) fn has_figures(text: &str) -> bool {
    let (mut words, mut numbers) = (0, 0);
    for word in text.split_whitespace() {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '.');
        if word.is_empty() {
            continue;
        }
        words += 1;
        numbers += usize::from(is_figure(word));
    }
    numbers > 0 && numbers * 4 >= words
}

/// Whether a word is a decimal number, with or without a unit behind it.
pub(super) fn is_figure(word: &str) -> bool {
    let end = word
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',')))
        .unwrap_or(word.len());
    let (digits, unit) = word.split_at(end);
    let short = unit.len() <= 6 && !unit.bytes().any(|b| b.is_ascii_digit());
    digits.starts_with(|c: char| c.is_ascii_digit()) && short && !unit.starts_with('x')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strata(text: &str) -> Vec<Stratum> {
        let lines: Vec<_> = text.lines().map(|text| Line::plain(1, text)).collect();
        of(&lines)
    }

    #[test]
    fn rows_of_figures_make_a_mail_one_with_figures() {
        assert_eq!(strata("a 1.5\nb 2\nc: 3 MB/s\n"), [Stratum::Figures]);
        assert_eq!(strata("a 1.5\nb 2\nc of the many words here 3 MB/s\n"), []);
    }

    #[test]
    fn words_of_comparisons_make_it_one_that_may_compare() {
        let text = "before:\na 1.5 MB/s\nb 2.1\nafter the patch:\nb 2.5\n";
        assert_eq!(strata(text), [Stratum::Figures, Stratum::MayCompare]);
        let one = text
            .replace("before", "here")
            .replace(" the patch", "wards");
        assert_eq!(strata(&one), [Stratum::Figures]);
        let what = text.replace("MB/s", "apples");
        assert_eq!(strata(&what), [Stratum::Figures]);
    }

    #[test]
    fn rows_of_one_form_and_numbers_of_runs_make_it_one_that_may_repeat() {
        let rows = "read 1.5 MB/s\n".repeat(ROWS);
        assert_eq!(strata(&rows), [Stratum::Figures, Stratum::MayRepeat]);
        let text = "before (5 runs):\na 1.5 MB/s\nb 2.1\nafter the patch:\nb 2.5\n";
        let all = [Stratum::Figures, Stratum::MayCompare, Stratum::MayRepeat];
        assert_eq!(strata(text), all);
    }

    #[test]
    fn diffs_code_logs_and_sums_of_changes_are_no_figures() {
        for text in [
            "diff --git a/x b/x\n@@ -1,3 +1,3 @@\n 1 2\n-3 4\n+5 6\n 7 8\n",
            "a = 1;\nb = 2;\nc = 3;\nd = 4;\n",
            "[ 1.000] a 1\n[ 2.000] b 2\n[ 3.000] c 3\n",
            " a.c | 12 ++\n b.c | 13 ++-\n c.c | 14 ++\n 3 files changed, 12 insertions(+)\n",
        ] {
            assert_eq!(strata(text), [], "{text}");
        }
    }

    #[test]
    fn a_figure_may_have_a_unit_but_is_no_name_or_address() {
        for word in ["12", "1,234.5", "12k", "3.4GiB/s"] {
            assert!(is_figure(word), "{word}");
        }
        for word in ["v5", "0x12", "12ab34cd", "a"] {
            assert!(!is_figure(word), "{word}");
        }
    }
}
