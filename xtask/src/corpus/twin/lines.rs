//! What a line of a mail is, as far as its twin must know.

use std::sync::LazyLock;

use regex::Regex;

use super::super::strata::{FINE, is_figure};
use super::words::is_small;

/// A class of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Nothing.
    Blank,
    /// A sum of changes in files.
    Stat,
    /// Who says what follows.
    Attribution,
    /// `Signed-off-by:` and its like.
    Trailer,
    /// A kernel log, registers, a backtrace.
    Log,
    /// Code.
    Code,
    /// What somebody typed.
    Command,
    /// Figures, or the rules and headers of their tables.
    Figures,
    /// A few words.
    Heading,
    /// The rest.
    Prose,
}

/// At most so many lines of a class stand in a row, where that is limited.
pub(super) fn most(class: Class) -> usize {
    match class {
        Class::Trailer => 6,
        Class::Stat | Class::Command => 24,
        Class::Log | Class::Code => 40,
        Class::Figures => 160,
        Class::Heading | Class::Prose => 16,
        Class::Blank | Class::Attribution => usize::MAX,
    }
}

#[allow(clippy::expect_used)] // Constants; the tests use them.
fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a regular expression")
}

static ATTRIBUTION: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(wrote|writes|said|escreveu|schrieb|a écrit|ha scritto|写道)\s*[:：]?\s*$|schrieb .*:$|^On \w{3},? .*\d{4}|^在 \d{4}|^Le \d|^(From|Sent|To|Cc|CC|Date|Subject): ",
    )
});
static TRAILER: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\s*([A-Z][a-z]+(-[a-z]+)+|Cc|CC|Link|Closes|Fixes|Message-ID):\s"));
static STAT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\|\s+\d+ [+-]*$|\|\s+\d+$|\d+ files? changed|^\s*(create|delete|rename|copy|similarity|new file|deleted file|old) ?(mode|index|from|to|\{)|^\s*rename ",
    )
});
static LOG: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^\s*\[\s*\d+\.\d+\]|\+0x[0-9a-f]+|\b0x[0-9a-f]{8}|\b[0-9a-f]{16}\b|^\s*\[<|^\s*(RIP|RSP|R[A-DS][XIP]|R\d\d|CR\d|Code|Call Trace|CPU):|\[inline\]|^\w{3} [ \d]\d \d\d:\d\d:\d\d|^\s*(?:[0-9a-f]{2} ){8}",
    )
});
static STAMP: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*\[\s*\d+\.\d+\]\s*"));
static CODE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"[;{}\\]$|->|^\s*(/\*|\*/|\* |//|#\s*(define|include|if|endif)|\+\s|\+$)|\w\(.*\)\s*[;{]?$|^\s*\d+\s*(\{|\}|[a-z_]+\()",
    )
});
static COMMAND: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^\s*(\S+@\S+\s*)?\S{0,30}[#$]\s+\S|\s--?[a-z][\w-]*([= ]|$).*\s--?[a-z]|^\s*(sudo|taskset|fio|dd|perf|numactl|echo|mkfs\S*|mount|umount|cat|\./\S+|make|mdadm|truncate|modprobe)\s",
    )
});
static RULE: LazyLock<Regex> = LazyLock::new(|| regex(r"^[\s|+x=_.*~\\-]+$"));
/// Hashes of commits, and versions beside them: the names above a robot's table.
static HASHES: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^([0-9a-f]{10,40}|v\d[\w.-]*)(\s+([0-9a-f]{10,40}|v\d[\w.-]*))+$"));
static CELLS: LazyLock<Regex> = LazyLock::new(|| regex(r"\s*\t\s*|\s{2,}|\s*\|\s*"));
static NAMED: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*[^:=]{1,40}\s*[:=]\s*[~<(]*[-+]?\d"));

/// What a line outside of patches is.
pub(super) fn class(text: &str) -> Class {
    let bare = text.trim();
    if bare.is_empty() {
        return Class::Blank;
    }
    if RULE.is_match(bare) || HASHES.is_match(bare) {
        return Class::Figures;
    }
    if ATTRIBUTION.is_match(bare) {
        return Class::Attribution;
    }
    if TRAILER.is_match(text) {
        return Class::Trailer;
    }
    if STAT.is_match(text) && !bare.starts_with('|') {
        return Class::Stat;
    }
    let unstamped = STAMP.replace(text, "");
    if LOG.is_match(text) {
        let figures = FINE.is_match(&unstamped) && NAMED.is_match(&unstamped);
        let apart = unstamped.contains("0x") || unstamped.split_whitespace().count() > 6;
        return match figures && !apart {
            true => Class::Figures,
            false => Class::Log,
        };
    }
    let sentence = is_sentence(bare);
    if COMMAND.is_match(text) && !sentence {
        return Class::Command;
    }
    let comment = bare.contains("/*") || bare.contains("*/");
    if !comment && is_header(bare) {
        return Class::Figures;
    }
    if comment || (CODE.is_match(bare) && !FINE.is_match(bare)) {
        return Class::Code;
    }
    of_words(bare, sentence)
}

/// Whether a line is parted into columns.
fn is_table(bare: &str) -> bool {
    let digit = bare.bytes().any(|b| b.is_ascii_digit());
    bare.matches('|').count() > 1 || bare.contains("    ") || (digit && bare.contains('\t'))
}

/// Whether a line is the header of a table, though its end may look like code: `AFTER(ns)`,
/// `Diff(%)`.
fn is_header(bare: &str) -> bool {
    let cells: Vec<&str> = CELLS.split(bare).filter(|cell| !cell.is_empty()).collect();
    let few = |cell: &&str| cell.split_whitespace().count() <= 3;
    cells.len() >= 3 && cells.iter().all(few) && !bare.contains([';', '{', '}', '=', ','])
}

/// Whether a line has several words that only sentences have.
fn is_sentence(bare: &str) -> bool {
    let small = |word: &&str| {
        let word = word
            .trim_matches(|c: char| !c.is_alphabetic())
            .to_lowercase();
        let more = ["we", "i", "you", "this", "that", "have", "be"];
        is_small(&word) || more.contains(&word.as_str())
    };
    !is_table(bare) && bare.split_whitespace().filter(small).count() >= 3
}

fn of_words(bare: &str, sentence: bool) -> Class {
    let words: Vec<&str> = bare.split_whitespace().collect();
    let trim = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '.');
        is_figure(word)
    };
    let numbers = words.iter().filter(|word| trim(word)).count();
    let wide = (is_table(bare) || bare.contains("   ")) && words.len() <= 24;
    if numbers * 4 >= words.len() && numbers > 0 && (!sentence || numbers * 2 >= words.len()) {
        return Class::Figures;
    }
    if NAMED.is_match(bare) && words.len() <= 16 && !sentence {
        return Class::Figures;
    }
    if (wide && !sentence) || bare.contains('±') || bare.contains("+-") || bare.contains("+/-") {
        return Class::Figures;
    }
    let short = words.len() <= 5 || (words.len() <= 10 && bare.ends_with(':'));
    match short {
        true => Class::Heading,
        false => Class::Prose,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_what_they_look_like() {
        for (text, is) in [
            ("", Class::Blank),
            ("+-----+-----+", Class::Figures),
            ("| base | 12.5 |", Class::Figures),
            (
                "  883.77 ±  4%     +67.2%       1478 ±  9%  a.metric",
                Class::Figures,
            ),
            ("            base     patched", Class::Figures),
            ("sendto: 12.5 usecs", Class::Figures),
            ("\tBEFORE(ns)\tAFTER(ns)\tSAVED(%)", Class::Figures),
            (
                "         %stddev     %change         %stddev",
                Class::Figures,
            ),
            (
                "             \\          |                \\",
                Class::Figures,
            ),
            ("\tgoto\tout_free(req);", Class::Code),
            (
                "[    2.591449]    neon            :  1166 MB/sec",
                Class::Figures,
            ),
            (
                "[    2.591449] usb 1-1: new high-speed device number 2 using xhci",
                Class::Log,
            ),
            (" entry_SYSCALL_64_after_hwframe+0x44/0xa9", Class::Log),
            (
                "On Fri, Apr 26, 2019 at 08:06:33AM -0400, A Writer wrote:",
                Class::Attribution,
            ),
            ("Signed-off-by: A Writer <a@example.org>", Class::Trailer),
            (" fs/a.c | 12 ++--", Class::Stat),
            ("\treturn a->b;", Class::Code),
            ("  2499\t/* On error, returns the -errno.", Class::Code),
            ("# dd if=/dev/zero of=/dev/null", Class::Command),
            ("Before this patch:", Class::Heading),
            (
                "mode=500 is what I set in all of the runs, and that is why",
                Class::Prose,
            ),
            (
                "A sentence that says something about what comes next here",
                Class::Prose,
            ),
        ] {
            assert_eq!(class(text), is, "{text}");
        }
    }
}
