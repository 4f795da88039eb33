//! The comparisons that `benchstat` prints, in its old and its new layout.
//!
//! Each cell is a mean (old) or a median (new) over several runs, so it becomes a summary: column
//! name = configuration, row name = workload. What follows `±` is not a standard deviation (old:
//! the largest deviation in per cent; new: a confidence interval of the median), so no spread is
//! reported but the p of its test, and one doubt per block. Deltas and geometric means are derived
//! from the cells and only explained. SI prefixes are resolved, because one row may hold `950µs` beside
//! `1.02ms`.

use assize_bundle::Spread;

use super::gobench::numerator;
use super::number::{Locale, step};
use super::prelude::*;
use super::units::thousands;

/// Some dozens of columns; a longer line is no header.
const HEADER_AT_MOST: usize = 4000;
/// Beginnings of footnotes.
const FOOTNOTES: [char; 5] = ['¹', '²', '³', '⁴', '⁵'];

static WORD: Form = Form::new(r"\S+");
static BARRED: Form = Form::new(r"[│|][^│|]*");
/// Words of a row that are not values: deltas, remarks in parentheses, marks.
static REMARK: Form = Form::new(r"^(?:.*[%)]|\(.*|[~?¹²³⁴⁵])$");
static VALUE: Form =
    Form::new(r"^(?<digits>\d[\d.,]*)(?<prefix>[nµμumkKMGT]?)(?<suffix>i|B/s|B|s)?$");

/// The output of `benchstat`.
pub const BENCHSTAT: Grammar = Grammar {
    first: b"n|",
    names_what_it_compares: true,
    ..Grammar::new("benchstat", starts, read)
};

fn starts(line: &str) -> bool {
    let text = line.trim_start();
    text.starts_with("name ") || text.starts_with('│') || text.starts_with('|')
}

fn read(lines: &[Line<'_>]) -> Option<Block> {
    let first = line_at(lines, 0).filter(|line| line.len() <= HEADER_AT_MOST)?;
    let old = first.trim_start().starts_with("name ");
    let columns = match old {
        true => old_header(first)?,
        false => new_header(first, line_at(lines, 1)?)?,
    };
    let mut block = Block::new("benchstat header", 2 - usize::from(old));
    Table { old, columns }.read(&mut block, lines);
    Some(block)
}

/// A word or a cell, and the character at which it begins.
struct Word<'a> {
    text: &'a str,
    from: usize,
}

/// Returns the matches of a pattern in a line.
fn found<'a>(form: &Form, line: &'a str) -> Vec<Word<'a>> {
    let (mut at, mut chars) = (0, 0);
    let word = |found: regex::Match<'a>| {
        chars += line[at..found.start()].chars().count();
        at = found.start();
        let text = found.as_str().trim_matches(['│', '|']).trim();
        Word { text, from: chars }
    };
    form.find_each(line).map(word).collect()
}

/// A column of values.
struct Column {
    configuration: String,
    metric: String,
    /// The character at which the column begins.
    from: usize,
}

impl Column {
    fn new(configuration: &str, metric: &str, from: usize) -> Self {
        Column {
            configuration: label(configuration),
            metric: label(metric),
            from,
        }
    }
}

/// Parses a header of the old layout: `name  old time/op  new time/op  delta`,
/// `name  time/op` or `name \ time/op  a.txt  b.txt  c.txt`.
fn old_header(header: &str) -> Option<Vec<Column>> {
    let words = found(&WORD, header);
    let columns: Vec<Column> = match &words[1..] {
        [slash, metric, files @ ..] if slash.text == "\\" && !files.is_empty() => {
            let column = |file: &Word<'_>| Column::new(file.text, metric.text, file.from);
            files.iter().map(column).collect()
        }
        [metric] => vec![Column::new("", metric.text, metric.from)],
        [old, a, new, b, delta] if (old.text, new.text, delta.text) == ("old", "new", "delta") => {
            let new = Column::new("new", b.text, new.from);
            vec![Column::new("old", a.text, old.from), new]
        }
        _ => return None,
    };
    let known = |column: &Column| column.metric.ends_with("/op") || column.metric == "speed";
    columns.iter().all(known).then_some(columns)
}

/// A line of file names between bars, then a line of units.
fn new_header(files: &str, units: &str) -> Option<Vec<Column>> {
    let named = |line| -> Vec<Word<'_>> {
        let cells = found(&BARRED, line).into_iter();
        cells.filter(|cell| !cell.text.is_empty()).collect()
    };
    let (files, units) = (named(files), named(units));
    if files.is_empty() || files.len() != units.len() {
        return None;
    }
    // Beside `vs base` a benchmark's own unit may be called anything.
    let compares = units.iter().any(|unit| unit.text.ends_with(" vs base"));
    let columns = files.iter().zip(&units).map(|(file, unit)| {
        let (metric, compared) = unit.text.split_once(' ').unwrap_or((unit.text, ""));
        let known = metric.contains('/') || compares;
        (known && matches!(compared.trim(), "" | "vs base"))
            .then(|| Column::new(file.text, metric, file.from))
    });
    columns.collect()
}

/// The rows below a header of either layout.
struct Table {
    old: bool,
    columns: Vec<Column>,
}

impl Table {
    fn read(&self, block: &mut Block, lines: &[Line<'_>]) {
        let header = block.taken.len();
        block.extend(lines, |block, at, text| {
            let row = text.trim_start();
            if row.starts_with(FOOTNOTES) {
                return Some("benchstat footnote");
            } else if row.starts_with("geomean") || row.starts_with("[Geo mean]") {
                return Some("benchstat geomean");
            }
            let words = found(&WORD, text);
            let (name, rest) = words.split_first()?;
            let cells = Cells::parse(rest).filter(|_| !row.starts_with(['│', '|']))?;
            self.read_row(block, at, name.text, &cells);
            Some("benchstat row")
        });
        if block.taken.len() == header {
            return;
        }
        let what = match self.old {
            true => "the largest deviation",
            false => "a confidence interval of the median",
        };
        let doubt = format!("what benchstat prints after ± is {what}, not a standard deviation");
        block.doubt(0, "spread-unknown", doubt);
    }

    fn read_row(&self, block: &mut Block, at: usize, name: &str, cells: &Cells<'_>) {
        let in_order = cells.values.len() == self.columns.len();
        let mut seen = vec![false; self.columns.len()];
        for (i, value) in cells.values.iter().enumerate() {
            let column = match in_order {
                true => Some(i),
                false => self.columns.iter().rposition(|c| c.from <= value.from + 1),
            };
            let column = column.filter(|&c| !std::mem::replace(&mut seen[c], true));
            let Some(column) = column else {
                let doubt = format!("`{}` belongs to no column", label(value.text));
                block.doubt(at, "ragged-row", doubt);
                continue;
            };
            let configuration = self.columns[column].configuration.clone();
            let configuration = Some(configuration).filter(|name| !name.is_empty());
            let labels = Labels::new(configuration, Some(label(name)));
            let finding = match self.figure(column, value.text) {
                Some(figure) => summary(&labels, figure, self.p(column, cells), cells.runs(column)),
                None => bad_number(value.text, name),
            };
            block.find(at, finding);
        }
    }

    /// The p of benchstat's test against the first column, at least half of its last digit.
    fn p(&self, column: usize, cells: &Cells<'_>) -> Option<Spread> {
        let stated = cells.p.len() + 1 == self.columns.len();
        let text = cells.p.get(column.checked_sub(1)?).filter(|_| stated)?;
        let half = step(text, Locale::English)? / 2.0;
        Some(Spread::PrintedP(english(text)?.max(half)))
    }

    /// The value with its prefix resolved. In the old layout `ms` is a time and `M` a prefix.
    fn figure(&self, column: usize, text: &str) -> Option<Figure> {
        let metric = self.columns[column].metric.as_str();
        let found = VALUE.captures(text)?;
        let suffix = found.name("suffix").map_or("", |suffix| suffix.as_str());
        let digits = english(&found["digits"])?;
        if suffix == "i" && !self.old {
            let thousands = thousands(&found["prefix"])?;
            let unit = numerator(metric).rsplit('-').next().unwrap_or_default();
            let value = digits * 1024f64.powi(Some(thousands).filter(|power| *power > 0)?);
            return Some(Figure::new(metric, value, unit));
        }
        let unit = match (self.old, numerator(metric).rsplit('-').next()) {
            (true, _) => suffix,
            (false, _) if !suffix.is_empty() => return None,
            (false, Some("sec")) => "s",
            (false, own) => own.unwrap_or_default(),
        };
        let power = 3 * thousands(&found["prefix"])?;
        let value = english(&format!("{}e{power}", &found["digits"]))?;
        Some(Figure::new(metric, value, unit))
    }
}

/// A row without its name.
struct Cells<'a> {
    values: Vec<Word<'a>>,
    /// The text of each comparison's `n=`: `10` or `10+9`.
    sizes: Vec<&'a str>,
    /// The text of each comparison's `p=`.
    p: Vec<&'a str>,
}

impl<'a> Cells<'a> {
    /// Parts values from what is derived from them; `None` if there is no value, or a word
    /// that benchstat does not print.
    fn parse(words: &[Word<'a>]) -> Option<Self> {
        let (mut values, mut sizes, mut p) = (Vec::new(), Vec::new(), Vec::new());
        let mut words = words.iter();
        while let Some(Word { text, from }) = words.next() {
            let number = text.starts_with(|c: char| c.is_ascii_digit());
            if let Some(size) = text.trim_start_matches('(').strip_prefix("n=") {
                sizes.push(size.trim_end_matches(')'));
            } else if let Some(found) = text.strip_prefix("(p=") {
                p.push(found);
            } else if ["±", "+-", "Â±", "+/-"].contains(text) {
                words.next();
            } else if REMARK.is_match(text) {
            } else if number || matches!(text.to_ascii_lowercase().as_str(), "nan" | "inf") {
                values.push(Word { text, from: *from });
            } else {
                return None;
            }
        }
        (!values.is_empty()).then_some(Cells { values, sizes, p })
    }

    /// The number of runs behind the cell in `column`: in a comparison the
    /// first number belongs to the first column, the second to this one.
    fn runs(&self, column: usize) -> Option<u32> {
        let sizes = self.sizes.get(column.saturating_sub(1))?;
        let size = match sizes.split_once('+') {
            Some((base, _)) if column == 0 => base,
            Some((_, this)) => this,
            None => sizes,
        };
        size.parse().ok()
    }
}
