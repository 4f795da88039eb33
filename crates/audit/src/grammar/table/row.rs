//! Lines of a table cut into cells.

use super::cell::{
    Cell, cell_value, compared, is_starred, is_unit, may_be_value, unflagged, value_at,
};
use super::remark::{without_arrow, without_remark};
use crate::grammar::Grammar;
use crate::grammar::mmtests::is_statistic;
use crate::grammar::walltime::Walltime;

/// A line read as a label and the figures behind it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Row {
    /// The words before the first number, one entry per cell or word.
    pub(crate) labels: Vec<String>,
    /// The figures.
    pub(crate) cells: Vec<Cell>,
}

impl Row {
    /// Whether a mark stands before this row and a header, `Average:` of `sar`. Then names of
    /// columns, which are parted by one blank where they are long, are words.
    pub(super) fn is_marked_as(&self, header: &str) -> bool {
        let mark = header.split_whitespace().next();
        let label = self.labels.first().map(String::as_str);
        mark == label && mark.is_some_and(|mark| mark.ends_with(':'))
    }

    /// Whether nothing was read yet but the number before a name: `32  randread`.
    fn is_numbered(&self) -> bool {
        let whole = |cell: &Cell| {
            let bare = cell.unit.is_empty() && cell.spread.is_none() && cell.change.is_none();
            bare && !cell.signed && cell.value.fract() == 0.0
        };
        self.labels.is_empty() && self.cells.len() == 1 && self.cells.iter().all(whole)
    }

    /// The same of a size: `4k  randread`.
    fn is_sized(&self) -> bool {
        let size = |cell: &Cell| {
            let unit = cell.unit.trim_end_matches('B').trim_end_matches('i');
            let known = matches!(unit, "k" | "K" | "M" | "G" | "");
            known && cell.spread.is_none() && cell.change.is_none() && !cell.signed
        };
        let whole = |cell: &Cell| size(cell) && cell.value.fract() == 0.0;
        self.labels.is_empty() && self.cells.len() == 1 && self.cells.iter().all(whole)
    }

    /// The row between pipes with its first figure for a name, if it has one figure more
    /// than there are columns and no name: `8K  | 3 | 280 ms` below `none  | 1 | 770 ms`.
    pub(super) fn named_by_number(mut self, text: &str, columns: usize) -> Row {
        if let Some(name) = pipe_cells(text).as_ref().and_then(|cells| cells.first())
            && self.labels.is_empty()
            && self.cells.len() == columns + 1
        {
            self.labels.push((*name).to_owned());
            self.cells.remove(0);
        }
        self
    }

    /// Adds a word to the name; a number before it is part of it.
    fn name(&mut self, word: &str) {
        let printed = |cell: Cell| format!("{}{}", cell.value, cell.unit);
        let numbers = self.cells.drain(..).map(printed);
        self.labels.extend(numbers);
        self.labels.push(word.to_string());
    }
}

/// Longest line that is looked at as a row.
const LONGEST: usize = 1000;

/// A line of only rule characters (`====`, `+---+---+`, `|---|:--|`, `├───┼───┤`).
pub(crate) fn is_rule(text: &str) -> bool {
    let text = text.trim();
    if text.len() < 3 || text.len() > LONGEST {
        return false;
    }
    if !text.is_ascii() {
        return is_drawn_rule(text);
    }
    text.bytes().all(|b| {
        matches!(
            b,
            b'-' | b'=' | b'+' | b'|' | b':' | b' ' | b'\t' | b'_' | b'~' | b'*' | b'x' | b'.'
        )
    }) && text
        .bytes()
        .any(|b| matches!(b, b'-' | b'=' | b'_' | b'~' | b'*' | b'.'))
        && (!text.contains('.') || text.contains("..|") || text.contains("|.."))
        && (!text.contains('x') || text.contains("x--") || text.contains("--x"))
}

/// A rule of the characters with which boxes are drawn: three lines at least, and nothing
/// else but corners. The last character may have been cut in two.
fn is_drawn_rule(text: &str) -> bool {
    let text = text.trim_end_matches(char::REPLACEMENT_CHARACTER);
    let line = |c: char| matches!(c, '─' | '━' | '═' | '╌' | '┄');
    let drawn = |c: char| ('\u{2500}'..='\u{257f}').contains(&c);
    let plain = |c: char| matches!(c, '+' | '|' | '-' | '=' | ' ');
    text.chars().all(|c| drawn(c) || plain(c)) && text.chars().filter(|c| line(*c)).count() >= 3
}

/// Whether a line has pipes and nothing between them: `|      |      |`.
pub(crate) fn is_empty_row(text: &str) -> bool {
    let pipes = text.chars().filter(|c| matches!(c, '|' | '│')).count();
    pipes >= 2
        && text
            .chars()
            .all(|c| c.is_whitespace() || matches!(c, '|' | '│'))
}

/// The cells of a line with pipes, or `None` where there are none.
pub(crate) fn pipe_cells(text: &str) -> Option<Vec<&str>> {
    let text = text.trim();
    let inner = text.strip_prefix(['|', '│']).unwrap_or(text);
    let inner = inner.strip_suffix(['|', '│']).unwrap_or(inner);
    (inner.contains('|') || inner.contains('│'))
        .then(|| inner.split(['|', '│']).map(str::trim).collect())
}

/// The cells of a line parted by tabs or by two blanks and more.
pub(crate) fn wide_cells(text: &str) -> Vec<&str> {
    let mut cells = Vec::new();
    for part in text.trim().split('\t') {
        let mut rest = part.trim();
        let mut from = 0;
        while let Some(at) = two_blanks(&rest[from..]).map(|at| from + at) {
            if goes_on(&rest[..at], rest[at..].trim_start()) {
                from = rest.len() - rest[at..].trim_start().len();
                continue;
            }
            cells.push(&rest[..at]);
            rest = rest[at..].trim_start();
            from = 0;
        }
        if !rest.is_empty() {
            cells.push(rest);
        }
    }
    cells
}

/// Whether a cell goes on behind blanks that align it: `54.2 s ±  7.1 s`, `12.5 (   0.0%)`,
/// `12.5 *  -2.4%*`, `+  7%`.
fn goes_on(cell: &str, rest: &str) -> bool {
    let figure = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let signed = || figure(rest.trim_start_matches(['+', '-']));
    let percent = || {
        rest.split(' ')
            .next()
            .is_some_and(|word| word.ends_with("%)"))
    };
    ["±", "+-", "+/-"].iter().any(|mark| cell.ends_with(mark))
        || cell.ends_with(" (") && signed() && percent()
        || cell.ends_with(" *") && signed() && rest.split(' ').next().is_some_and(is_starred)
        || cell == "+" && figure(rest)
}

/// Where two blanks stand in a text.
fn two_blanks(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b' ', bytes).find(|at| bytes.get(at + 1) == Some(&b' '))
}

/// What stands before the last colon with a blank behind it, and what behind that.
fn labelled(cell: &str) -> Option<(&str, &str)> {
    let bytes = cell.as_bytes();
    let mut colons = memchr::memrchr_iter(b':', bytes);
    let at = colons.find(|at| bytes.get(at + 1) == Some(&b' '))?;
    Some((&cell[..at], &cell[at + 2..]))
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
    let text = without_remark(without_star(text)).trim();
    if text.len() < 3 || text.len() > LONGEST || !text.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let begins = text.bytes().next().unwrap_or_default();
    if matches!(begins, b'[' | b'{' | b'/' | b'(' | b'@' | b'#') && !is_bracketed_name(text)
        || text.contains("://")
    {
        return None;
    }
    // What `time` and MMTests print has a grammar of its own.
    if Walltime.starts(text) || is_statistic(text) {
        return None;
    }
    match parting {
        Parting::Words => row_of_words(text),
        Parting::WordsChanged => row_of_words(text).map(with_changes),
        Parting::WideChanged => {
            let cells = (!text.contains(['|', '│'])).then(|| wide_cells(text))?;
            row_of_cells(cells.into_iter()).map(with_changes)
        }
        Parting::Wide => match pipe_cells(text) {
            Some(cells) => row_of_cells(cells.into_iter()),
            None => row_of_cells(wide_cells(text).into_iter()),
        },
    }
}

/// Whether a line begins with a name in brackets that blanks part from figures:
/// `(2 inlined)    12.5 s`, `[16s, 32s)    4611`.
fn is_bracketed_name(text: &str) -> bool {
    let (inner, interval) = match text.strip_prefix('[') {
        Some(rest) => (Some(rest), true),
        None => (text.strip_prefix('('), false),
    };
    let closes = |c: char| c == ')' || interval && c == ']';
    let name = inner.and_then(|rest| Some((rest, rest.find(closes)?)));
    let name = name.map(|(rest, at)| (&rest[..at], &rest[at + 1..]));
    name.is_some_and(|(name, rest)| {
        name.bytes().any(|b| b.is_ascii_alphabetic())
            && (!interval || name.contains(", "))
            && !name.contains("  ")
            && (rest.starts_with('\t') || rest.starts_with("  "))
    })
}

/// A row without the stars behind its last figure, which say that it is significant:
/// `-14.79% *`.
fn without_star(text: &str) -> &str {
    let bare = text.trim_end();
    let rest = bare.trim_end_matches('*');
    let figures = rest.trim_end();
    let marked = (1..=3).contains(&(bare.len() - rest.len())) && figures.len() < rest.len();
    match marked && figures.ends_with(|c: char| c == '%' || c.is_ascii_digit()) {
        true => figures,
        false => text,
    }
}

/// Whether a line may be a row of some table, be it parted in whatever way. No table is
/// without one, so this is asked of each line once where tables would ask it of each line
/// again for all those above.
pub(crate) fn may_be_row(text: &str) -> bool {
    let bare = without_remark(without_star(text));
    may_be_bare_row(text) || bare.len() < text.len() && may_be_bare_row(bare)
}

/// The same of a line with nothing behind its figures.
fn may_be_bare_row(text: &str) -> bool {
    let apart = |c: char| c.is_whitespace() || matches!(c, '|' | '│');
    if !text.split(apart).any(may_be_value) {
        return false;
    }
    let is_figure = |cell: &&str| {
        let value = || labelled(cell).map(|(_, value)| value);
        cell_value(cell).is_some() || value().is_some_and(|value| cell_value(value).is_some())
    };
    let any =
        |cells: Vec<&str>| cells.iter().any(is_figure) || shared_unit(cells.into_iter()).is_some();
    any(wide_cells(text)) || pipe_cells(text).is_some_and(any) || row_of_words(text).is_some()
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
    take_computed_change(&mut cells);
    Row { cells, ..row }
}

/// So far may a change of two figures be from the one that follows from them, in percent:
/// half of its last digit, and what the figures were rounded by.
const ROUNDED: f64 = 0.06;

/// `45903.5  46529.5  1.36%`: a percentage without a sign belongs to the second of two
/// figures if it is their change.
fn take_computed_change(cells: &mut Vec<Cell>) {
    let [base, changed, change] = &mut cells[..] else {
        return;
    };
    let bare = |cell: &Cell| cell.change.is_none() && cell.unit != "%" && cell.value > 0.0;
    let follows = bare(base)
        && bare(changed)
        && change.unit == "%"
        && change.spread.is_none()
        && change.value.fract() != 0.0
        && ((changed.value / base.value - 1.0) * 100.0 - change.value).abs() <= ROUNDED;
    if follows {
        changed.change = Some(change.value);
        cells.truncate(2);
    }
}

fn row_of_cells<'a>(cells: impl Iterator<Item = &'a str> + Clone) -> Option<Row> {
    let shared = shared_unit(cells.clone());
    let mut row = Row::default();
    for cell in cells {
        if let Some(figure) = shared.and_then(|unit| in_unit(cell, unit)) {
            row.cells.push(figure);
            continue;
        }
        // `Before: 59221` is a label and its first figure.
        let labelled = || labelled(cell).filter(|(_, value)| cell_value(value).is_some());
        let (label, cell) = match row.cells.is_empty().then(labelled).flatten() {
            Some((label, value)) => (Some(label), value),
            None => (None, cell),
        };
        row.labels.extend(label.map(str::to_string));
        let cell = unflagged(without_arrow(cell));
        match cell_value(cell) {
            Some(value) => row.cells.push(value),
            None if cell.split(' ').next_back().is_some_and(is_arrow) => return None,
            None if is_missing(cell) && cell != "-" && !row.labels.is_empty() => {
                row.cells.push(Cell::missing());
            }
            None if row.cells.is_empty() || !cell.is_empty() && row.is_sized() => {
                row.name(cell);
            }
            None if is_no_change(cell) => row.cells.push(Cell::none()),
            None if compared(cell).is_some() => row.cells.extend(compared(cell)),
            None if is_missing(cell) => row.cells.push(Cell::missing()),
            None if cell.is_empty() => {}
            None => return None,
        }
    }
    (!row.cells.is_empty()).then_some(row)
}

/// A word that is no known unit but stands behind the numbers of two cells and more of a row,
/// as units do; sizes that columns may be called by, such as `2 lanes`, have no fractions.
fn shared_unit<'a>(cells: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let parts = cells.filter_map(|cell| {
        let (number, unit) = cell.split_once(' ')?;
        let unit = unit.trim_start();
        let word = (2..=8).contains(&unit.len())
            && unit.bytes().all(|b| b.is_ascii_alphabetic() || b == b'/');
        let plain = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b',');
        (word && number.bytes().all(plain) && !is_unit(unit)).then_some((number, unit))
    });
    let mut parts = parts.peekable();
    let (_, unit) = *parts.peek()?;
    let (mut count, mut fraction) = (0, false);
    for (number, other) in parts {
        if other != unit {
            return None;
        }
        count += 1;
        fraction |= number.contains('.');
    }
    (count >= 2 && fraction).then_some(unit)
}

/// A number in a unit.
fn in_unit(cell: &str, unit: &str) -> Option<Cell> {
    let number = cell.strip_suffix(unit)?.strip_suffix(' ')?;
    let figure = cell_value(number).filter(|figure| figure.unit.is_empty())?;
    Some(Cell {
        unit: unit.to_owned(),
        ..figure
    })
}

/// What programs print for the change of a figure that was zero: `NaN%`, `+Inf%`.
fn is_no_change(word: &str) -> bool {
    let bare = word.strip_suffix('%').unwrap_or_default();
    let bare = bare.trim_start_matches(['+', '-']).to_ascii_lowercase();
    matches!(bare.as_str(), "nan" | "inf" | "infinity")
}

/// Words before the first number of a row, and before its only one.
const MOST_LABELS: usize = 8;
const LABELS_OF_ONE: usize = 3;

fn row_of_words(text: &str) -> Option<Row> {
    if !text.split_whitespace().next_back().is_some_and(may_end_row) {
        return None;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    // Most lines are sentences, and no names need be kept of them.
    let first = words.iter().position(|word| may_be_value(word))?;
    let mut others = words[first + 1..].iter();
    if first > MOST_LABELS
        || first > LABELS_OF_ONE && !others.any(|word| may_be_value(word) || is_no_change(word))
    {
        return None;
    }
    let mut row = Row::default();
    let mut at = 0;
    while at < words.len() {
        let (value, used) = match value_at(&words[at..]) {
            Some(found) => found,
            None if !row.cells.is_empty() && is_no_change(words[at]) => (Cell::none(), 1),
            // `name: 8.38 -> 8.34` has two figures.
            None if !row.cells.is_empty() && !row.is_numbered() || is_arrow(words[at]) => {
                return None;
            }
            None if row.labels.len() > MOST_LABELS => return None,
            None => {
                row.name(words[at]);
                at += 1;
                continue;
            }
        };
        row.cells.push(value);
        at += used;
    }
    if row.cells.is_empty() || row.labels.len() > MOST_LABELS || prose_like(&row) {
        return None;
    }
    Some(row)
}

/// Whether a word may be the last of a row of words: a figure, or what belongs to one.
fn may_end_row(word: &str) -> bool {
    may_be_value(word)
        || word.ends_with(')')
        || word.starts_with('±')
        || is_unit(word)
        || is_no_change(word)
}

/// What stands where there is no figure.
pub(super) fn is_missing(cell: &str) -> bool {
    matches!(cell, "-" | "n/a" | "N/A" | "NA")
}

fn is_arrow(word: &str) -> bool {
    matches!(word, "->" | "-->" | "=>" | "→")
}

/// A sentence that happens to end in a number is not a row.
fn prose_like(row: &Row) -> bool {
    row.cells.len() == 1 && (row.labels.len() > LABELS_OF_ONE || row.labels.is_empty())
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
    fn rules_of_columns_may_be_parted_by_tabs() {
        assert!(is_rule("  ---\t---------\t------"));
        assert!(!is_rule("  ---\t---------\tchange"));
    }

    #[test]
    fn figures_may_begin_with_their_point() {
        assert_eq!(
            values("|100,000 | .115s | 2.12s |"),
            [100_000.0, 0.115, 2.12]
        );
        assert_eq!(values("old .text .data 12"), [12.0]);
    }

    #[test]
    fn remarks_behind_figures_are_none_of_them() {
        assert_eq!(
            values("| c = 16 | 159673 | 83668 (-48%)  <-- | 216947 |").len(),
            3
        );
        assert_eq!(
            values("stat 1  1310  2908  (+121%)  # other files").len(),
            3
        );
        assert_eq!(values("stat 1  1310  2908  of other files"), [] as [f64; 0]);
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
            [100.0, 101.0]
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
        assert_eq!(
            values("a  75597.5  65111**  -13.87%**"),
            [75597.5, 65111.0, -13.87]
        );
        assert_eq!(values("a  11  12.1±x  13"), [] as [f64; 0]);
        assert_eq!(
            values("a | 100.9 i/s | 34711.9 i/s | 343.87x"),
            [100.9, 34711.9, 343.87]
        );
        assert_eq!(values("a | 3 and/or | 4"), [4.0]);
        assert_eq!(
            values("copy  14.5 (   0.0%)   14.2 *  -2.4%*  15.5 * 12.4%*"),
            [14.5, 14.2, 15.5]
        );
        assert_eq!(values("a  12 GB/s  + 20%"), [12.0, 20.0]);
        assert_eq!(values("a  12 GB/s  +  7%"), [12.0, 7.0]);
        let parted = values("a  12 GB/s  -  7%");
        assert!(parted.len() == 3 && parted[1].is_nan());
        assert_eq!(values("a  125  5.1  24.5x worse"), [125.0, 5.1, 24.5]);
        assert_eq!(values("a  24.5x worse  3"), [3.0]);
        assert_eq!(values("old  553k iops  635k iops"), [553.0, 635.0]);
        assert_eq!(
            values("a  41.9  ( 0.22)  25.1  ( 2.98)"),
            [41.9, 0.22, 25.1, 2.98]
        );
        assert_eq!(values("(2 inlined)  6.7s  16.9s"), [6.7, 16.9]);
        assert_eq!(values("(see 2.1) 12 13"), [] as [f64; 0]);
        assert_eq!(values("[16s, 32s)    4611   2863"), [4611.0, 2863.0]);
        assert_eq!(values("[driver]    4611   2863"), [] as [f64; 0]);
        assert_eq!(
            values("rb 1  11.5 ± 0.2M/s (drops 0.1 ± 0.2M/s)"),
            [] as [f64; 0]
        );
        assert_eq!(values("100ms/s  N  41.2%  9.8%"), [41.2, 9.8]);
        assert_eq!(values("build  3m 04s  2m 58.5s"), [184.0, 178.5]);
        assert_eq!(values("build  1h 2m 3s"), [3723.0]);
        assert_eq!(values("| 16k | lazy pool | 12.5 | 13.5 |"), [12.5, 13.5]);
        assert_eq!(values("| 16ms | lazy pool | 12.5 | 13.5 |"), [] as [f64; 0]);
        assert_eq!(values("we saw it in 3 of 5 cases"), [] as [f64; 0]);
        assert_eq!(values("(2 lazy flush)   12.5s   13.5s (+8%)"), [12.5, 13.5]);
        assert_eq!(values("(2) lazy   12.5s   13.5s"), [] as [f64; 0]);
        assert_eq!(values("(17)   12.5s   13.5s"), [] as [f64; 0]);
        assert_eq!(values("first VM | 36.5K IOPS | 39.5K IOPS |"), [36.5, 39.5]);
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
        // A percentage without a sign is one if it follows from both figures, and no figure
        // of its own.
        let follows = [(400.0, None), (430.0, Some(7.5))];
        assert_eq!(
            changes("stage   400   430   7.5%", Parting::WideChanged).as_deref(),
            Some(&follows[..])
        );
        let apart = [(400.0, None), (430.0, None), (17.5, None)];
        assert_eq!(
            changes("stage   400   430   17.5%", Parting::WideChanged).as_deref(),
            Some(&apart[..])
        );
        // A column of percentages remains one.
        assert_eq!(values("a  12%  -3%"), [12.0, -3.0]);
        assert_eq!(values("stage  0.79  0.82  +3.8%"), [0.79, 0.82, 3.8]);
        assert_eq!(values("a  12(1+x)  3"), [3.0]);
    }

    #[test]
    fn rows_of_words_end_with_figures_and_what_belongs_to_them() {
        for text in [
            "a 12",
            "a 12 ms",
            "a 12 (+3%)",
            "a 12 ( +0.5 %)",
            "a 12 ±3",
            "a 12 +- 3",
            "a ~34%",
            "a 12 13 NaN%",
        ] {
            assert!(data_row(text, Parting::Words).is_some(), "{text}");
        }
        for text in ["a 12 then", "12 of them", "a b"] {
            assert!(data_row(text, Parting::Words).is_none(), "{text}");
        }
    }

    #[test]
    fn rules_are_rules() {
        assert!(is_rule("+---+---+") && is_rule("=====") && is_rule("|---|:-:|"));
        assert!(is_rule(" ....|......|....") && !is_rule("....") && !is_rule("... -- ..."));
        assert!(!is_rule("--") && !is_rule("- item") && !is_rule("| a |"));
        assert!(is_rule("├───┼───┤") && is_rule("+───────+────\u{fffd}") && is_rule("━━━"));
        assert!(!is_rule("│ a │") && !is_rule("│   │") && !is_rule("──") && !is_rule("─── x"));
        assert!(is_empty_row("|    |   |") && is_empty_row("   │  │"));
        assert!(!is_empty_row("|") && !is_empty_row("| a |") && !is_empty_row("    "));
    }

    #[test]
    fn a_word_behind_several_numbers_is_their_unit() {
        let row = data_row("exec     |  3662.1 lpx   |  2718 lpx", Parting::Wide).unwrap();
        let cells = row
            .cells
            .iter()
            .map(|cell| (cell.value, cell.unit.as_str()));
        assert_eq!(
            cells.collect::<Vec<_>>(),
            [(3662.1, "lpx"), (2718.0, "lpx")]
        );
        // One alone, two of different ones, and whole numbers, which name columns.
        for text in [
            "exec  |  3662.1 lpx",
            "exec  |  3662.1 lpx  |  12.5 lanes",
            "kind  |  2 lanes  |  4 lanes",
        ] {
            let row = data_row(text, Parting::Wide);
            let foreign = |row: &Row| row.cells.iter().any(|cell| cell.unit.starts_with('l'));
            assert!(!row.as_ref().is_some_and(foreign), "{text}");
        }
    }
}
