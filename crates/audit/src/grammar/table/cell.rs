//! A figure in a table, with what stands around it.

use crate::grammar::number;
use crate::grammar::quantity::{is_listed, is_quotient, quantity};
use crate::listed::Listed;

/// A numeric cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    /// The value.
    pub(crate) value: f64,
    /// The unit glued to or standing behind the number; may be empty.
    pub(crate) unit: String,
    /// What stood behind a `±`, whatever that meant.
    pub(crate) spread: Option<PlusMinus>,
    /// Whether the number carried an explicit sign, as changes do.
    pub(crate) signed: bool,
    /// The percentage in brackets behind it, as of a change.
    pub(crate) change: Option<f64>,
    /// The place of the last digit, which the scanner finds.
    pub(crate) step: Option<f64>,
}

impl Cell {
    /// A place of a row where no figure stands.
    pub(super) fn missing() -> Self {
        Cell {
            unit: String::new(),
            signed: false,
            ..Cell::none()
        }
    }

    /// A place of a row where no figure stands, in a column of changes.
    pub(crate) fn none() -> Self {
        Cell {
            value: f64::NAN,
            unit: "%".to_string(),
            spread: None,
            signed: true,
            change: None,
            step: None,
        }
    }
}

/// The figure behind a `±`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlusMinus {
    pub(crate) value: f64,
    /// Whether it is a percentage of the figure before it.
    pub(crate) percent: bool,
}

impl PlusMinus {
    fn of(word: &str) -> Option<Self> {
        let (value, unit) = split_number(word.trim_end_matches([')', ',']))?;
        (value >= 0.0).then_some(PlusMinus {
            value: crate::printed::spread(value, word),
            percent: unit == "%",
        })
    }

    /// In the unit of the figure.
    pub(crate) fn of_value(self, value: f64) -> f64 {
        if self.percent {
            (value * self.value / 100.0).abs()
        } else {
            self.value
        }
    }
}

/// A cell without the marks that draw attention to it: `* 49.77% *`, `R +93.41%`.
pub(super) fn unflagged(cell: &str) -> &str {
    let starred = cell
        .strip_prefix("* ")
        .and_then(|rest| rest.strip_suffix(" *"));
    let letter = || {
        let (flag, rest) = cell.split_once(' ')?;
        let one = flag.len() == 1 && flag.bytes().all(|b| b.is_ascii_uppercase());
        let rest = rest.trim_start();
        (one && rest.starts_with(['+', '-']) && rest.ends_with('%')).then_some(rest)
    };
    starred.or_else(letter).unwrap_or(cell)
}

/// A whole cell as a number: `12.5`, `12.5 ms`, `76%`, `12 ± 3`, `12 (0.0%)`.
pub(crate) fn cell_value(cell: &str) -> Option<Cell> {
    if !may_be_value(cell.trim_start()) {
        return None;
    }
    let cell = bracketed(cell.trim()).unwrap_or(cell);
    let words: Vec<&str> = cell.split_whitespace().take(8).collect();
    let (mut value, mut used) = value_at(&words)?;
    // `0.76 -2.7%`: the change stands behind the figure.
    if value.change.is_none()
        && value.unit != "%"
        && let [word] = words[used..]
        && word.starts_with(['+', '-'])
        && let Some((change, "%")) = split_number(word)
    {
        value.change = Some(change);
        used += 1;
    }
    (used == words.len()).then_some(value)
}

/// A change with the word behind it that says which way it goes: `24.5x worse`.
pub(super) fn compared(cell: &str) -> Option<Cell> {
    let (change, word) = cell.rsplit_once(' ')?;
    let value = cell_value(change).filter(|_| COMPARED.contains(&word))?;
    matches!(value.unit.as_str(), "x" | "%").then_some(Cell {
        signed: true,
        ..value
    })
}

/// Words behind a change that say which way it goes.
const COMPARED: &[&str] = &[
    "better", "faster", "higher", "less", "longer", "lower", "more", "shorter", "slower", "worse",
];

/// `( 0.22)`: a figure in brackets that has a column of its own.
fn bracketed(cell: &str) -> Option<&str> {
    let inner = cell.strip_prefix('(')?.strip_suffix(')')?.trim();
    let plain = inner.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    (plain && inner.contains('.')).then_some(inner)
}

/// Whether a word begins as values do, which is asked of each word of most lines.
pub(super) fn may_be_value(word: &str) -> bool {
    begins_number(word.trim_start_matches('~'))
}

/// Whether a word begins as numbers do, or with the bracket in which one stands.
fn begins_number(word: &str) -> bool {
    match word.as_bytes() {
        [b'.', second, ..] => second.is_ascii_digit(),
        [first, ..] => first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'('),
        [] => false,
    }
}

/// The value at the beginning of `words` and how many words it takes.
pub(super) fn value_at(words: &[&str]) -> Option<(Cell, usize)> {
    if !may_be_value(words.first()?) {
        return None;
    }
    if let Some(time) = time_of_words(words) {
        return Some(time);
    }
    if let Some(change) = sign_apart(words) {
        return Some((change, 2));
    }
    // `~34%` is a number that was rounded.
    let word = without_parts(words.first()?.trim_start_matches('~'));
    let (word, glued_change) = unchanged(unmarked(word));
    let (word, glued_spread, shared) = unspread(word)?;
    let (value, glued) = split_number(word).or_else(|| minutes(word))?;
    let glued = if glued.is_empty() { shared } else { glued };
    let signed = word.starts_with(['+', '-']);
    let mut cell = Cell {
        value,
        unit: glued.to_string(),
        spread: glued_spread,
        signed,
        change: glued_change,
        step: None,
    };
    if glued_change.is_some() {
        return Some((cell, 1));
    }
    let mut used = 1;
    if let Some(unit) = words.get(used).filter(|word| is_unit(word))
        && (cell.unit.is_empty() || is_thousands(&cell.unit) && is_rate(unit))
    {
        // `553k iops`
        cell.unit.push_str(unit);
        used += 1;
    }
    // Unless it stood right behind the number.
    if cell.spread.is_none() {
        let (spread, more) = spread_behind(&words[used..])?;
        cell.spread = spread;
        used += more;
    }
    // `8.612 s ± 0.041 s`
    if cell.spread.is_some()
        && !cell.unit.is_empty()
        && words.get(used).is_some_and(|word| *word == cell.unit)
    {
        used += 1;
    }
    if let Some((change, more)) = starred(&words[used..]) {
        cell.change = Some(change);
        return Some((cell, used + more));
    }
    let bracketed = parenthesis(&words[used..])?;
    cell.change = percentage(&words[used..used + bracketed]);
    used += bracketed;
    Some((cell, used))
}

/// The `± 0.3` or `±0.3` that may stand behind a number, and how many words it takes;
/// `None` if a `±` that is a word of its own has no figure behind it.
fn spread_behind(words: &[&str]) -> Option<(Option<PlusMinus>, usize)> {
    let marks = ["±", "+-", "+/-"];
    let Some(word) = words.first() else {
        return Some((None, 0));
    };
    if marks.contains(word) {
        return Some((Some(PlusMinus::of(words.get(1)?)?), 2));
    }
    let figure = marks.iter().find_map(|mark| word.strip_prefix(mark));
    let spread = figure.and_then(PlusMinus::of);
    Some((spread, usize::from(spread.is_some())))
}

/// `+ 20%`, of a sign and a percentage behind a blank.
fn sign_apart(words: &[&str]) -> Option<Cell> {
    let [sign @ ("+" | "-"), word, ..] = words else {
        return None;
    };
    let (value, unit) = split_number(word).filter(|_| !word.starts_with(['+', '-']))?;
    let value = if *sign == "-" { -value } else { value };
    (unit == "%").then(|| Cell {
        value,
        ..Cell::none()
    })
}

/// Whether a word ends with a percentage and the star of what is significant: `-2.4%*`.
pub(super) fn is_starred(word: &str) -> bool {
    word.strip_suffix("%*")
        .is_some_and(|number| number::english(number).is_some())
}

/// The change between stars that stands behind a figure, `* -2.4%*`, and its words.
fn starred(words: &[&str]) -> Option<(f64, usize)> {
    let (word, used) = match words {
        ["*", word, ..] => (*word, 2),
        [word, ..] => (word.strip_prefix('*')?, 1),
        [] => return None,
    };
    Some((number::english(word.strip_suffix("%*")?)?, used))
}

/// `3m 04s`, `1h 2m 30s`: a time of several words, in seconds, and how many there are.
fn time_of_words(words: &[&str]) -> Option<(Cell, usize)> {
    let part = |word: &&&str| {
        let digits = word.trim_end_matches(['h', 'm', 's']);
        let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        plain && !digits.is_empty() && digits.len() + 1 == word.len()
    };
    let used = words.iter().take(3).take_while(part).count();
    if used < 2 {
        return None;
    }
    let text = words[..used].join(" ");
    let (time, rest) = quantity(&text)?;
    let cell = Cell {
        value: time.value,
        unit: time.unit.to_string(),
        spread: None,
        signed: false,
        change: None,
        step: Some(time.step),
    };
    rest.is_empty().then_some((cell, used))
}

/// A number without the mark of a note before it, `(1)187k`, or the stars of what is
/// significant behind it, `-13.87%**`.
fn unmarked(word: &str) -> &str {
    let word = match word.ends_with("**") {
        true => word.trim_end_matches('*'),
        false => word,
    };
    let parted = word.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    match parted {
        Some((note, rest)) if note.len() == 1 && rest.starts_with(|c: char| c.is_ascii_digit()) => {
            rest
        }
        _ => word,
    }
}

/// `0.24(0.20+0.03)`: a time without the times of user and system behind it.
fn without_parts(word: &str) -> &str {
    let parted = word
        .strip_suffix(')')
        .and_then(|head| head.split_once('('))
        .filter(|(time, _)| !time.is_empty());
    let parts = parted.and_then(|(time, inner)| Some((time, inner.split_once('+')?)));
    match parts {
        Some((time, (user, system)))
            if [user, system]
                .iter()
                .all(|part| number::english(part).is_some_and(|value| value >= 0.0)) =>
        {
            time
        }
        _ => word,
    }
}

/// `530.92(+14.2%)`: the number and the change that is glued to it.
fn unchanged(word: &str) -> (&str, Option<f64>) {
    let at = word.find('(').filter(|at| *at > 0).unwrap_or(word.len());
    let (head, change) = word.split_at(at);
    match percentage(&[change]) {
        Some(change) => (head, Some(change)),
        None => (word, None),
    }
}

/// `12.5±0.3`, `12.5±0.3ms`: the number, what is glued behind it, and the unit that it
/// may have there; `None` if that is no number.
fn unspread(word: &str) -> Option<(&str, Option<PlusMinus>, &str)> {
    // Each of the marks has one of these bytes.
    let marked = word.bytes().skip(1).any(|b| b == b'+' || !b.is_ascii());
    let marks = ["±", "+/-", "+-"].into_iter().filter(|_| marked);
    let found = marks
        .filter_map(|mark| word.split_once(mark))
        .find(|(head, _)| !head.is_empty());
    match found {
        Some((head, spread)) if !spread.is_empty() => {
            let given = PlusMinus::of(spread)?;
            let (_, unit) = split_number(spread.trim_end_matches([')', ',']))?;
            let unit = if given.percent { "" } else { unit };
            Some((head, Some(given), unit))
        }
        Some(_) => None,
        None => Some((word, None, "")),
    }
}

/// `1m13.821s`, as shells print times, in seconds.
fn minutes(word: &str) -> Option<(f64, &'static str)> {
    let (minutes, seconds) = word.strip_suffix('s')?.split_once('m')?;
    let minutes: u32 = minutes.parse().ok()?;
    let seconds = number::english(seconds).filter(|s| (0.0..60.0).contains(s))?;
    let thousandths = (f64::from(minutes) * 60.0 + seconds) * 1e6;
    Some((thousandths.round() / 1e6, "s"))
}

/// The percentage that words in brackets give: `( +0.5%)`, `(-3 %)`. Of several,
/// `(+11%/+56%)`, the last: where rows follow each other that is the change to
/// the first one.
fn percentage(words: &[&str]) -> Option<f64> {
    let text = words.join("");
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let last = inner.rsplit('/').next()?;
    let number = last.strip_suffix('%')?;
    number::english(number.trim_start_matches('~'))
}

/// Words of a `( +0.5%)` that stands behind a number; `None` if it never ends.
fn parenthesis(words: &[&str]) -> Option<usize> {
    if !words.first().is_some_and(|word| word.starts_with('(')) {
        return Some(0);
    }
    let end = words.iter().take(4).position(|word| word.ends_with(')'))?;
    // `(drops 0.1 ± 0.2M/s)` is a figure of its own.
    let measured = words[..end].contains(&"±");
    (!measured).then_some(end + 1)
}

/// A number with a unit glued to it.
pub(crate) fn split_number(word: &str) -> Option<(f64, &str)> {
    if !begins_number(word) || word.starts_with('(') || word.len() > 40 {
        return None;
    }
    if let Some(value) = number::english(word) {
        return Some((value, ""));
    }
    let unit_at = word
        .char_indices()
        .find(|&(at, c)| {
            at > 0 && (c.is_alphabetic() || c == '%') && !(c == 'e' && exponent(&word[at..]))
        })?
        .0;
    let (digits, unit) = word.split_at(unit_at);
    let value = number::english(digits)?;
    is_unit(unit).then_some((value, unit))
}

fn exponent(rest: &str) -> bool {
    let rest = rest[1..].trim_start_matches(['+', '-']);
    !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a letter is one for thousands of what is counted.
fn is_thousands(unit: &str) -> bool {
    matches!(unit, "k" | "K" | "M" | "G")
}

/// Whether a unit is that of something counted in a time.
fn is_rate(unit: &str) -> bool {
    unit.eq_ignore_ascii_case("iops")
        || matches!(unit, "ops" | "ops/s" | "ops/sec" | "req/s" | "pps")
}

/// Units as they stand behind numbers.
#[rustfmt::skip]
static UNITS: Listed = Listed::of(&[
    "%", "s", "sec", "secs", "seconds", "ms", "msec", "msecs", "us", "µs", "μs", "usec",
    "usecs", "ns", "nsec", "J", "Joules", "mJ", "W", "mW", "Watts", "Hz", "kHz", "KHz", "MHz",
    "GHz", "B", "KB", "kB", "MB", "GB", "KiB", "MiB", "GiB", "MB/s", "MiB/s", "GB/s", "GiB/s",
    "KB/s", "KiB/s", "Mbps", "Gbps", "Mbit/s", "Gbit/s", "Mbits/sec", "Gbits/sec", "MB/sec",
    "ops/s", "ops/sec", "req/s", "IOPS", "fps", "FPS", "k", "K", "M", "G", "x", "cycles",
    "Mb/s", "Gb/s", "KB/sec", "GB/sec", "MiB/sec", "GiB/sec", "Mbit/sec", "Gbit/sec", "min",
    "mins", "minutes", "ns/op", "us/op", "cpb", "pps", "Kpps", "Mpps", "tps", "TPS", "qps",
    "QPS", "kIOPS", "KIOPS", "MIOPS", "Mops/s", "kops/s", "iops", "IOPs", "kIOPs", "KIOPs",
]);

/// Whether a word is a unit of the kind found behind numbers.
pub(crate) fn is_unit(word: &str) -> bool {
    is_listed(&UNITS, word) || is_quotient(word)
}
