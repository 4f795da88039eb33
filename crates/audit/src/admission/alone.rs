//! What can be said of a name alone: that it is none of a configuration.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::contrast::{is_commit, is_version, words};
use super::signs::Sign;
use crate::roles::words::names_measurement;
use crate::states;
use crate::trigger::Trigger;

/// Words that say nothing alone, when a line of words is taken for names.
pub(super) const EMPTY: &[&str] = &[
    "with", "and", "or", "of", "the", "a", "an", "in", "on", "to", "is", "are", "was", "for", "by",
    "at", "it", "this", "that", "from", "as", "be", "than", "not", "i", "we", "you", "hi", "no",
    "so", "but", "if", "then", "when", "which",
];

/// Words for times and bounds that are set.
const SETTINGS: &[&str] = &[
    "timeout", "timeouts", "interval", "delay", "limit", "quota", "period", "sleep",
];
/// Words for machines, boots and passes.
const CIRCUMSTANCES: &[&str] = &[
    "machine", "host", "laptop", "board", "boot", "reboot", "pass", "rerun", "again",
];

/// `timeout connect`: the name of a time or a bound that is set.
pub(crate) fn is_setting_name(name: &str) -> bool {
    let list = words(name);
    !name.contains('=') && list.iter().any(|word| SETTINGS.contains(&word.as_str()))
}

/// Whether a name says only where or when something was measured: `second boot`, `host a`.
pub(crate) fn names_circumstance(name: &str) -> bool {
    let list = words(name);
    let circumstance = |word: &String| CIRCUMSTANCES.contains(&word.as_str());
    list.iter().any(circumstance) && !states::in_name(name)
}

/// Why a name is none of a configuration, if that can be said of it alone.
pub(crate) fn no_name(name: &str) -> Option<Sign> {
    no_name_of(name, &words(name))
}

/// The same of a name whose words are known.
fn no_name_of(name: &str, list: &[String]) -> Option<Sign> {
    let text = name.trim();
    let only_word = (list.len() == 1).then(|| list[0].as_str());
    if list.is_empty() || only_word.is_some_and(|word| EMPTY.contains(&word)) {
        return Some(Sign::EmptyName);
    }
    if is_code(text) {
        return Some(Sign::CodeName);
    }
    // `w/o patch) 17275`: a part of a line, with what stands behind it.
    if closes_first(text) && list.iter().any(|word| word.parse::<u64>().is_ok()) {
        return Some(Sign::FigureName);
    }
    // `on off on`: what stands in the cells of settings.
    let answer = |word: &String| {
        matches!(
            word.as_str(),
            "on" | "off" | "yes" | "no" | "true" | "false"
        )
    };
    if list.len() >= 2 && list.iter().all(answer) {
        return Some(Sign::FigureName);
    }
    // `P50: 2.56 P75: 2.83 P99: 58.21` is a row of figures.
    let fine = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.contains('.') && word.parse::<f64>().is_ok() && !is_version(word)
    };
    if text.split_whitespace().filter(fine).count() >= 3 {
        return Some(Sign::FigureName);
    }
    // `packets=10 (MB=12), rps=19` is one, too; `poll=100us + spin=5us` are settings that
    // hold together.
    let values = |text: &str| {
        let values = text.split('=').skip(1);
        let figures = values.filter(|v| v.trim().starts_with(|c: char| c.is_ascii_digit()));
        figures.count()
    };
    if is_figure(text) && !is_pointer(text) || text.split('+').any(|part| values(part) >= 2) {
        return Some(Sign::FigureName);
    }
    let prints = text
        .split_once(": = ")
        .is_some_and(|(_, rest)| rest.parse::<f64>().is_ok());
    if prints || is_reading(text) || is_uuid(text) || is_turn(list) {
        return Some(Sign::FigureName);
    }
    (list.len() > 14 || text.len() > 110).then_some(Sign::LongName)
}

/// Whether a parenthesis closes that none has opened.
fn closes_first(text: &str) -> bool {
    match (text.find(')'), text.find('(')) {
        (Some(close), open) => open.is_none_or(|open| close < open),
        (None, _) => false,
    }
}

/// Whether a name is a line of what was measured: `throughput of 8 writers = 2210.5 kB/s`, and
/// no setting: `poll = 5us`, `limit = 1.5`.
fn is_reading(text: &str) -> bool {
    let Some((what, value)) = text.rsplit_once(['=', ':']) else {
        return false;
    };
    let value = value.trim();
    let rest = value.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
    let number = value.len() - rest.len();
    let fine = value.get(..number).is_some_and(|n| n.contains('.'));
    let rate = rest.contains("/s") || rest.contains("ps");
    number > 0
        && rest.split_whitespace().count() <= 1
        && (fine || rate)
        && names_measurement(what)
        && what.split_whitespace().count() >= 2
}

/// Whether a name is nothing but an identifier: `3743fa03-e0a1-435a-44ef-51672ab23082`.
fn is_uuid(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let hex = |part: &&str| part.bytes().all(|b| b.is_ascii_hexdigit());
    parts.len() == 5
        && parts.iter().all(hex)
        && parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12])
}

/// Whether a name only says which in a row it is: `2nd pass`, `third run`.
fn is_turn(words: &[String]) -> bool {
    const FIRST: [&str; 6] = ["first", "second", "third", "fourth", "fifth", "last"];
    const TURNS: [&str; 7] = [
        "pass",
        "run",
        "round",
        "iteration",
        "attempt",
        "try",
        "time",
    ];
    let [which, turn] = words else {
        return false;
    };
    let digits = which.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let ends = which.get(digits.len()..).unwrap_or_default();
    let counted = !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit())
        && matches!(ends, "st" | "nd" | "rd" | "th");
    (counted || FIRST.contains(&which.as_str())) && TURNS.contains(&turn.as_str())
}

/// Whether a name is a number in brackets, as of what a text explains: `(1)`, `[2]`.
pub(crate) fn is_pointer(text: &str) -> bool {
    let text = text.trim();
    let inner = text
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    let inner = inner.or_else(|| {
        text.strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
    });
    inner.is_some_and(|inner| {
        (1..=2).contains(&inner.len()) && inner.bytes().all(|b| b.is_ascii_digit())
    })
}

/// Whether a name is nothing but a number, a percentage, an address, a time.
pub(crate) fn is_figure(text: &str) -> bool {
    let versions = text
        .split_whitespace()
        .any(|w| w.len() >= 3 && is_version(&w.to_lowercase()));
    if versions || !text.bytes().any(|b| b.is_ascii_digit()) {
        return false;
    }
    let hex = |word: &str| {
        word.len() >= 6
            && word.bytes().all(|b| b.is_ascii_hexdigit())
            && word.bytes().any(|b| b.is_ascii_digit())
    };
    text.split(|c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')' | '|' | '[' | ']'))
        .filter(|word| !word.is_empty())
        .all(|word| {
            let word = word.trim_matches(|c: char| matches!(c, ':' | '-' | '+' | '#' | '.' | '$'));
            let digits = word.bytes().filter(u8::is_ascii_digit).count();
            let letters = word.chars().filter(|c| c.is_alphabetic()).count();
            word.is_empty()
                || (digits > 0 && letters == 0)
                || (word.starts_with(|c: char| c.is_ascii_digit())
                    && letters <= 3
                    && (!is_commit(word) || word.starts_with("00")))
                || word.starts_with("0x")
                || (hex(word) && !is_commit(word))
                || crate::grammar::table::is_unit(word)
        })
}

/// Whether a name is part of what somebody tells, or says how it was measured: `and you then
/// do`, `When reading the data, it is less`, `After that, we check it`, `Use the function graph`.
pub(crate) fn is_told(name: &str) -> bool {
    let list = words(name);
    let who = |word: &String| matches!(word.as_str(), "we" | "you" | "we'd" | "you'd");
    let begins = |words: &[&str]| list.first().is_some_and(|word| words.contains(&&**word));
    let joins = begins(&["and", "or", "but", "so", "then"]);
    let told = begins(&["use", "run", "execute", "measure", "record"]) && list.len() >= 3;
    let clause = [
        "when", "if", "while", "since", "because", "although", "however",
    ];
    let clause = begins(&clause) && list.len() >= 5;
    joins || told || clause || list.iter().any(who) || is_clause(&list)
}

/// Whether words begin a sentence that tells of something: `It looks as if`, `This works`,
/// and not `this patch`. Below `Here is what I get` stand the figures of what it was said of.
fn is_clause(words: &[String]) -> bool {
    const VERBS: [&str; 22] = [
        "is", "are", "was", "were", "has", "have", "had", "does", "did", "works", "worked",
        "looks", "shows", "showed", "gives", "gave", "seems", "means", "makes", "happens", "will",
        "would",
    ];
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let verb = VERBS.contains(&word(1));
    match word(0) {
        "it" | "there" | "they" | "he" | "she" | "i" => words.len() >= 3,
        "this" | "that" | "these" | "those" | "which" => verb && words.len() >= 3,
        "let" | "let's" | "it's" | "there's" | "that's" => true,
        _ => false,
    }
}

/// Whether a name is a piece of code, a path, a row of a log.
fn is_code(text: &str) -> bool {
    // `mainline @ 626b2dda7651` is a version.
    let version = text.split_once(" @ ").is_some_and(|(_, rest)| {
        let commit = rest.split_whitespace().next();
        commit.is_some_and(is_commit)
    });
    if text.contains('@') && !version {
        return true;
    }
    // A sentence may name a function: `a pipe written with the old ->write()`.
    let sentence = text
        .split_whitespace()
        .filter(|word| word.bytes().all(|b| b.is_ascii_alphabetic() || b == b','))
        .count()
        >= 5;
    let text = &match sentence && text.contains("->") {
        true => Cow::Owned(text.replace("->", "")),
        false => Cow::Borrowed(text),
    };
    let log = text.starts_with(['[', '^']) || text.starts_with('%') || text.starts_with("+#");
    let path = text
        .split_whitespace()
        .any(|w| w.starts_with(['/', '.']) && w.len() > 3 || w.matches('/').count() >= 2);
    log || path
        || CODE
            .as_ref()
            .is_some_and(|code| code.is_match(text.as_bytes()))
}

/// What a piece of code holds.
static CODE: LazyLock<Option<Trigger>> =
    LazyLock::new(|| Trigger::new(r"=>|->|::|[;{}\\$]|0x|<<|>>|&&|\|\||/\*|\*/|!=|==").ok());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_code_and_empty_words_are_no_names() {
        for name in [
            "packets=10 (MB=12), rps=19",
            "-27.0",
            "0200",
            "100%",
            "4k",
            "12:30:01",
            "1. 99.96",
            "00000001719f58b0",
            "Percentiles: P50: 12.56 P75: 12.83 P99: 58.21",
            "Total throughput of 6 writers = 2210.52 MB/s",
            "Rate of work: = 311",
            "2nd pass",
            "third run",
            "5d1c8a02-77b1-4c0e-9a53-0f62de1b7a10",
        ] {
            assert_eq!(no_name(name), Some(Sign::FigureName), "{name}");
        }
        for name in [
            "a/{ => b}/c.c",
            "[ 1.25] usb",
            "x->y",
            "/dev/sda",
            "GPR24: 0x12",
        ] {
            assert_eq!(no_name(name), Some(Sign::CodeName), "{name}");
        }
        assert_eq!(no_name("with"), Some(Sign::EmptyName));
        for name in [
            "and you'd then do",
            "After that, we check it with gdb",
            "or a deeper queue",
            "Use the function graph",
            "It seems that the journal is flushed",
            "This works if the journal is elsewhere",
            "Let us look at it",
            "When reading the data, the difference is small",
        ] {
            assert!(is_told(name), "{name}");
        }
        for name in [
            "Andes",
            "original",
            "what I see with a pool",
            "teo",
            "use DMA",
            "this series, journal elsewhere",
            "that patch",
            "when idle",
            "it",
        ] {
            assert!(!is_told(name), "{name}");
        }
        assert_eq!(no_name("^CExiting on signal 2"), Some(Sign::CodeName));
        for name in [
            "poll=120us + spin=4us",
            "v5.8",
            "5.10-rc3",
            "patched",
            "w/o fix in 5.10",
            "teo-1",
            "v2",
            "flush limit = 16",
            "poll limit = 1.5",
            "second patch",
            "2nd series",
            "5d1c8a02-77b1",
        ] {
            assert_eq!(no_name(name), None, "{name}");
        }
    }
}
