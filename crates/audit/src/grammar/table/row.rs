//! Lines of a table cut into cells.

use crate::grammar::quantity::is_listed;
use crate::grammar::walltime::Walltime;
use crate::grammar::{Grammar, number};

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

/// A line read as a label and the figures behind it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Row {
    /// The words before the first number, one entry per cell or word.
    pub(crate) labels: Vec<String>,
    /// The figures.
    pub(crate) cells: Vec<Cell>,
}

/// Longest line that is looked at as a row.
const LONGEST: usize = 1000;

/// A line of only rule characters (`====`, `+---+---+`, `|---|:--|`).
pub(crate) fn is_rule(text: &str) -> bool {
    let text = text.trim();
    text.len() >= 3
        && text.len() <= LONGEST
        && text.bytes().all(|b| {
            matches!(
                b,
                b'-' | b'=' | b'+' | b'|' | b':' | b' ' | b'_' | b'~' | b'*' | b'x'
            )
        })
        && text
            .bytes()
            .any(|b| matches!(b, b'-' | b'=' | b'_' | b'~' | b'*'))
        && (!text.contains('x') || text.contains("x--") || text.contains("--x"))
}

/// The cells of a line with pipes, or `None` where there are none.
pub(crate) fn pipe_cells(text: &str) -> Option<Vec<&str>> {
    let text = text.trim();
    let inner = text.strip_prefix('|').unwrap_or(text);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    (inner.len() < text.len()
        || inner.contains(" | ")
        || inner.contains('│')
        || inner.contains('|'))
    .then(|| inner.split(['|', '│']).map(str::trim).collect::<Vec<_>>())
    .filter(|cells| cells.len() >= 2)
}

/// The cells of a line parted by tabs or by two blanks and more.
pub(crate) fn wide_cells(text: &str) -> Vec<&str> {
    let mut cells = Vec::new();
    for part in text.trim().split('\t') {
        let mut rest = part.trim();
        while let Some(at) = rest.find("  ") {
            cells.push(&rest[..at]);
            rest = rest[at..].trim_start();
        }
        if !rest.is_empty() {
            cells.push(rest);
        }
    }
    cells
}

/// How the cells of a table's rows are parted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parting {
    /// By pipes, tabs or two blanks and more.
    Wide,
    /// By any blank.
    Words,
    /// By two blanks and more, where a change behind a figure has no column of its own:
    /// `3.15    2.82  -10.5%`.
    WideChanged,
    /// By any blank, likewise.
    WordsChanged,
}

impl Parting {
    /// Whether changes behind figures belong to these.
    pub(crate) fn changed(self) -> bool {
        matches!(self, Parting::WideChanged | Parting::WordsChanged)
    }
}

/// Reads a line as a data row: labels, then nothing but numbers.
pub(crate) fn data_row(text: &str, parting: Parting) -> Option<Row> {
    let text = text.trim();
    if text.len() < 3 || text.len() > LONGEST || !text.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    if matches!(text.as_bytes()[0], b'[' | b'{' | b'/' | b'(' | b'@' | b'#') || text.contains("://")
    {
        return None;
    }
    // What `time` prints has a grammar of its own.
    if Walltime.starts(text) {
        return None;
    }
    match parting {
        Parting::Words => row_of_words(text),
        Parting::WordsChanged => row_of_words(text).map(with_changes),
        Parting::WideChanged => {
            let cells = Some(wide_cells(text)).filter(|_| !text.contains(['|', '│']))?;
            row_of_cells(cells.into_iter()).map(with_changes)
        }
        Parting::Wide => match pipe_cells(text) {
            Some(cells) => row_of_cells(cells.into_iter()),
            None => row_of_cells(wide_cells(text).into_iter()),
        },
    }
}

/// Whether a line may be a row of some table, be it parted in whatever way. No table is
/// without one, so this is asked of each line once where tables would ask it of each line
/// again for all those above.
pub(crate) fn may_be_row(text: &str) -> bool {
    let begins = |word: &str| may_be_value(word.trim_start_matches('~'));
    let apart = |c: char| c.is_whitespace() || matches!(c, '|' | '│');
    if !text.split(apart).any(begins) {
        return false;
    }
    let is_figure = |cell: &&str| {
        let value = cell.rsplit_once(": ").map(|(_, value)| value);
        cell_value(cell).is_some() || value.is_some_and(|value| cell_value(value).is_some())
    };
    wide_cells(text).iter().any(is_figure)
        || pipe_cells(text).is_some_and(|cells| cells.iter().any(is_figure))
        || row_of_words(text).is_some()
}

/// A row in which a signed percentage belongs to the figure before it.
fn with_changes(row: Row) -> Row {
    let mut cells: Vec<Cell> = Vec::with_capacity(row.cells.len());
    for cell in row.cells {
        match cells.last_mut() {
            Some(last)
                if cell.signed
                    && cell.unit == "%"
                    && cell.spread.is_none()
                    && last.unit != "%"
                    && last.change.is_none() =>
            {
                last.change = Some(cell.value);
            }
            _ => cells.push(cell),
        }
    }
    Row { cells, ..row }
}

fn row_of_cells<'a>(cells: impl Iterator<Item = &'a str>) -> Option<Row> {
    let mut row = Row::default();
    for cell in cells {
        // `Before: 59221` is a label and its first figure.
        let (label, cell) = match cell.rsplit_once(": ") {
            Some((label, value)) if row.cells.is_empty() && cell_value(value).is_some() => {
                (Some(label), value)
            }
            _ => (None, cell),
        };
        row.labels.extend(label.map(str::to_string));
        let cell = unflagged(cell);
        match cell_value(cell) {
            Some(value) => row.cells.push(value),
            None if row.cells.is_empty() => row.labels.push(cell.to_string()),
            None if cell.is_empty() || matches!(cell, "-" | "n/a" | "N/A") => {}
            None => return None,
        }
    }
    (!row.cells.is_empty()).then_some(row)
}

/// A cell without the marks that draw attention to it: `* 49.77% *`, `R +93.41%`.
fn unflagged(cell: &str) -> &str {
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

/// Words before the first number of a row.
const MOST_LABELS: usize = 8;

fn row_of_words(text: &str) -> Option<Row> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut cells = Vec::new();
    let (mut at, mut labels) = (0, 0);
    while at < words.len() {
        let (value, used) = match value_at(&words[at..]) {
            Some(found) => found,
            None if cells.is_empty() && labels < MOST_LABELS => {
                (at, labels) = (at + 1, labels + 1);
                continue;
            }
            None => return None,
        };
        cells.push(value);
        at += used;
    }
    // A sentence that happens to end in a number is not a row.
    let prose_like = cells.len() == 1 && (labels > 3 || labels == 0);
    if cells.is_empty() || prose_like {
        return None;
    }
    let labels = words[..labels].iter().map(ToString::to_string).collect();
    Some(Row { labels, cells })
}

/// A whole cell as a number: `12.5`, `12.5 ms`, `76%`, `12 ± 3`, `12 (0.0%)`.
pub(crate) fn cell_value(cell: &str) -> Option<Cell> {
    if !may_be_value(cell.trim_start().trim_start_matches('~')) {
        return None;
    }
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

/// The value at the beginning of `words` and how many words it takes.
fn value_at(words: &[&str]) -> Option<(Cell, usize)> {
    // `~34%` is a number that was rounded.
    let word = words.first()?.trim_start_matches('~');
    if !may_be_value(word) {
        return None;
    }
    let word = without_parts(word);
    let (word, glued_change) = unchanged(unmarked(word));
    let (word, glued_spread) = unspread(word)?;
    let (value, glued) = split_number(word).or_else(|| minutes(word))?;
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
    if cell.unit.is_empty() && words.get(used).is_some_and(|word| is_unit(word)) {
        cell.unit = words[used].to_string();
        used += 1;
    }
    if cell.spread.is_some() {
        // It stood right behind the number.
    } else if words
        .get(used)
        .is_some_and(|w| matches!(*w, "±" | "+-" | "+/-"))
    {
        cell.spread = Some(PlusMinus::of(words.get(used + 1)?)?);
        used += 2;
    } else if let Some(spread) = words.get(used).and_then(|word| {
        let marks = ["±", "+-", "+/-"];
        let figure = marks.iter().find_map(|mark| word.strip_prefix(mark))?;
        PlusMinus::of(figure)
    }) {
        cell.spread = Some(spread);
        used += 1;
    }
    // `8.612 s ± 0.041 s`
    if cell.spread.is_some()
        && !cell.unit.is_empty()
        && words.get(used).is_some_and(|word| *word == cell.unit)
    {
        used += 1;
    }
    let bracketed = parenthesis(&words[used..])?;
    cell.change = percentage(&words[used..used + bracketed]);
    used += bracketed;
    Some((cell, used))
}

/// Whether a word begins as values do.
fn may_be_value(word: &str) -> bool {
    let first = word.as_bytes().first();
    first.is_some_and(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'('))
}

/// A number without the mark of a note before it: `(1)187k`.
fn unmarked(word: &str) -> &str {
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

/// `12.5±0.3`: the number and what is glued behind it; `None` if that is no number.
fn unspread(word: &str) -> Option<(&str, Option<PlusMinus>)> {
    let marks = ["±", "+/-", "+-"].into_iter();
    let found = marks
        .filter_map(|mark| word.split_once(mark))
        .find(|(head, _)| !head.is_empty());
    match found {
        Some((head, spread)) if !spread.is_empty() => Some((head, Some(PlusMinus::of(spread)?))),
        Some(_) => None,
        None => Some((word, None)),
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
    words
        .iter()
        .take(4)
        .position(|word| word.ends_with(')'))
        .map(|at| at + 1)
}

/// A number with a unit glued to it.
pub(crate) fn split_number(word: &str) -> Option<(f64, &str)> {
    let first = *word.as_bytes().first()?;
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-')) || word.len() > 40 {
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

/// Units as they stand behind numbers.
#[rustfmt::skip]
const UNITS: &[&str] = &[
    "%", "s", "sec", "secs", "seconds", "ms", "msec", "msecs", "us", "µs", "μs", "usec",
    "usecs", "ns", "nsec", "J", "Joules", "mJ", "W", "mW", "Watts", "Hz", "kHz", "KHz", "MHz",
    "GHz", "B", "KB", "kB", "MB", "GB", "KiB", "MiB", "GiB", "MB/s", "MiB/s", "GB/s", "GiB/s",
    "KB/s", "KiB/s", "Mbps", "Gbps", "Mbit/s", "Gbit/s", "Mbits/sec", "Gbits/sec", "MB/sec",
    "ops/s", "ops/sec", "req/s", "IOPS", "fps", "FPS", "k", "K", "M", "G", "x", "cycles",
    "Mb/s", "Gb/s", "KB/sec", "GB/sec", "MiB/sec", "GiB/sec", "Mbit/sec", "Gbit/sec", "min",
    "mins", "minutes", "ns/op", "us/op", "cpb", "pps", "Kpps", "Mpps", "tps", "TPS", "qps",
    "QPS", "kIOPS", "KIOPS", "MIOPS", "Mops/s", "kops/s",
];

/// Whether a word is a unit of the kind found behind numbers.
pub(crate) fn is_unit(word: &str) -> bool {
    is_listed(UNITS, word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<f64> {
        data_row(text, Parting::Wide)
            .or_else(|| data_row(text, Parting::Words))
            .map(|row| row.cells.iter().map(|cell| cell.value).collect())
            .unwrap_or_default()
    }

    #[test]
    fn a_row_is_words_and_then_nothing_but_numbers() {
        assert_eq!(values("3.9_1 11.96 2.86 2.48"), [11.96, 2.86, 2.48]);
        assert_eq!(values("| base | 12.5 ms | 13 |"), [12.5, 13.0]);
        assert_eq!(values("wq 100% 76% 1%"), [100.0, 76.0, 1.0]);
        assert_eq!(
            values("| q2 | 6.25 | R +93.41% | * 49.77% * |"),
            [6.25, 93.41, 49.77]
        );
        assert_eq!(
            values("| q2 | 6.25 | Rx +93.41% | 49.77% |"),
            [] as [f64; 0]
        );
        assert_eq!(
            values("Hmean 1   100.00 (   0.00%)  101.00 *  1.00%*"),
            [] as [f64; 0]
        );
        assert_eq!(
            values("Hmean 1   100.00 (   0.00%)  101.00 (   1.00%)"),
            [1.0, 100.0, 101.0]
        );
        assert_eq!(values("a  12.1 ± 0.3  13"), [12.1, 13.0]);
        assert_eq!(values("a  12.1 s ± 0.3 s  13 ms"), [12.1, 13.0]);
        assert_eq!(
            values("a  12.1±0.3  13.5+-4%  (1)187k"),
            [12.1, 13.5, 187.0]
        );
        assert_eq!(values("real  1m13.821s  0m9.5s"), [73.821, 9.5]);
        assert_eq!(values("Elapsed  465.38  531.74(+14.3%)"), [465.38, 531.74]);
        assert_eq!(values("Elapsed  465.38  531.74(x)"), [] as [f64; 0]);
        assert_eq!(values("a  11  12.1±x  13"), [] as [f64; 0]);
        assert_eq!(values("we saw it in 3 of 5 cases"), [] as [f64; 0]);
        assert_eq!(values("[   12.3456] foo 12"), [] as [f64; 0]);
        assert_eq!(values("drivers/gpu/a.c | 12 ++--"), [] as [f64; 0]);
    }

    #[test]
    fn a_change_behind_a_figure_belongs_to_it_where_the_header_has_no_name_for_it() {
        let changes = |text: &str, parting| {
            let row = data_row(text, parting);
            row.map(|row| {
                let cells = row.cells.iter();
                cells
                    .map(|cell| (cell.value, cell.change))
                    .collect::<Vec<_>>()
            })
        };
        let read = [(0.79, None), (0.82, Some(3.8))];
        for text in [
            "1.2: stage (a)  0.79  0.82  +3.8%",
            "1.2: stage (a)  0.79  0.82 +3.8%",
            "1.2: stage (a)  0.79(0.50+0.20)  0.82(0.51+0.21) +3.8%",
        ] {
            assert_eq!(
                changes(text, Parting::WideChanged).as_deref(),
                Some(&read[..]),
                "{text}"
            );
        }
        assert_eq!(
            changes("stage 0.79 0.82 +3.8%", Parting::WordsChanged).as_deref(),
            Some(&read[..])
        );
        // A column of percentages remains one.
        assert_eq!(values("a  12%  -3%"), [12.0, -3.0]);
        assert_eq!(values("stage  0.79  0.82  +3.8%"), [0.79, 0.82, 3.8]);
        assert_eq!(values("a  12(1+x)  3"), [3.0]);
    }

    #[test]
    fn rules_are_rules() {
        assert!(is_rule("+---+---+") && is_rule("=====") && is_rule("|---|:-:|"));
        assert!(!is_rule("--") && !is_rule("- item") && !is_rule("| a |"));
    }
}
