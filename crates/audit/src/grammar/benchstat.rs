//! The comparisons that `benchstat` prints, in its old and its new layout.
//!
//! Each cell is a mean (old) or a median (new) over several runs, so it
//! becomes a summary: column name = configuration, row name = workload. What
//! follows `±` is not a standard deviation (old: the largest deviation in per
//! cent; new: a confidence interval of the median), so no spread is reported
//! but one doubt per block. Deltas, p-values and geometric means are derived
//! from the cells and only explained. SI prefixes are resolved, because one
//! row may hold `950µs` beside `1.02ms`.

use super::begins::Begins;
use super::block::{Block, Figure, Finding, Grammar, Labels};
use super::cells::{bad_number, label, line_at, summary};
use super::gobench::numerator;
use super::number::english;
use crate::line::Line;

/// Some dozens of columns; a longer line is no header.
const HEADER_AT_MOST: usize = 4000;

/// The output of `benchstat`.
pub struct Benchstat;

impl Grammar for Benchstat {
    fn name(&self) -> &'static str {
        "benchstat"
    }

    fn names_what_it_compares(&self) -> bool {
        true
    }

    fn begins(&self) -> Begins {
        Begins::with(b"n|")
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim_start();
        text.starts_with("name ") || text.starts_with('│') || text.starts_with('|')
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let first = line_at(lines, 0)?;
        let mut block = Block::default();
        let table = if first.trim_start().starts_with("name ") {
            block.taken.push("benchstat header");
            Table::old(first)?
        } else {
            block.taken.extend(["benchstat header"; 2]);
            Table::new(first, line_at(lines, 1)?)?
        };
        table.read(&mut block, lines);
        Some(block)
    }
}

/// A column of values.
struct Column {
    configuration: String,
    metric: String,
    /// The character at which the column begins.
    from: usize,
}

/// The header of either layout.
struct Table {
    old: bool,
    columns: Vec<Column>,
}

impl Table {
    /// `name  old time/op  new time/op  delta`, `name  time/op` or
    /// `name \ time/op  a.txt  b.txt  c.txt`.
    fn old(header: &str) -> Option<Self> {
        if header.len() > HEADER_AT_MOST {
            return None;
        }
        let words = words(header);
        let (first, rest) = words.split_first()?;
        if first.text != "name" {
            return None;
        }
        let columns = match rest {
            [w, metric, files @ ..] if w.text == "\\" && !files.is_empty() => files
                .iter()
                .map(|file| Column::new(file.text, metric.text, file.from))
                .collect(),
            [metric] => vec![Column::new("", metric.text, metric.from)],
            [old, a, new, b, delta]
                if (old.text, new.text, delta.text) == ("old", "new", "delta") =>
            {
                vec![
                    Column::new("old", a.text, old.from),
                    Column::new("new", b.text, new.from),
                ]
            }
            _ => return None,
        };
        let table = Table { old: true, columns };
        table
            .columns
            .iter()
            .all(|c| c.metric.ends_with("/op") || c.metric == "speed")
            .then_some(table)
    }

    /// A line of file names between bars, then a line of units.
    fn new(files: &str, units: &str) -> Option<Self> {
        if files.len().max(units.len()) > HEADER_AT_MOST {
            return None;
        }
        let files = barred(files);
        let units = barred(units);
        let named: Vec<_> = files.iter().filter(|c| !c.text.is_empty()).collect();
        let united: Vec<_> = units.iter().filter(|c| !c.text.is_empty()).collect();
        if named.is_empty() || named.len() != united.len() {
            return None;
        }
        // Beside `vs base` a benchmark's own unit may be called anything.
        let compares = united.iter().any(|unit| unit.text.ends_with(" vs base"));
        let columns = named.iter().zip(&united).map(|(file, unit)| {
            let mut words = unit.text.split_whitespace();
            let metric = words.next()?;
            let compared = words.collect::<Vec<_>>();
            let known = metric.contains('/') || compares;
            (known && (compared.is_empty() || compared == ["vs", "base"]))
                .then(|| Column::new(file.text, metric, file.from))
        });
        Some(Table {
            old: false,
            columns: columns.collect::<Option<_>>()?,
        })
    }

    fn read(&self, block: &mut Block, lines: &[Line<'_>]) {
        let header = block.taken.len();
        for at in header.. {
            let Some(row) = line_at(lines, at) else {
                break;
            };
            if row.trim_start().starts_with(['¹', '²', '³', '⁴', '⁵']) {
                block.taken.push("benchstat footnote");
                continue;
            }
            let words = words(row);
            let Some((name, rest)) = words.split_first() else {
                break;
            };
            if name.text == "geomean" || row.trim_start().starts_with("[Geo mean]") {
                block.taken.push("benchstat geomean");
                continue;
            }
            let Some(cells) = Cells::of(rest) else {
                break;
            };
            if cells.values.is_empty() || name.text.starts_with(['│', '|']) {
                break;
            }
            block.taken.push("benchstat row");
            self.read_row(block, at, name.text, &cells);
        }
        if block.taken.len() == header {
            return;
        }
        let what = if self.old {
            "the largest deviation"
        } else {
            "a confidence interval of the median"
        };
        let doubt = format!("what benchstat prints behind ± is {what}, not a standard deviation");
        block.find(0, Finding::Doubt("spread-unknown", doubt));
    }

    fn read_row(&self, block: &mut Block, at: usize, name: &str, cells: &Cells<'_>) {
        let in_order = cells.values.len() == self.columns.len();
        let mut seen = vec![false; self.columns.len()];
        for (i, value) in cells.values.iter().enumerate() {
            let column = if in_order {
                Some(i)
            } else {
                self.columns.iter().rposition(|c| c.from <= value.from + 1)
            };
            let column = column.filter(|&c| !std::mem::replace(&mut seen[c], true));
            let Some(column) = column else {
                let doubt = format!("`{}` stands in no column of its own", label(value.text));
                block.find(at, Finding::Doubt("ragged-row", doubt));
                continue;
            };
            let labels = Labels {
                configuration: Some(self.columns[column].configuration.clone())
                    .filter(|c| !c.is_empty()),
                workload: Some(label(name)),
                repetition: None,
            };
            match self.figure(column, value.text) {
                Some(figure) => {
                    let n = cells.runs(column);
                    block.find(at, summary(&labels, figure, None, n));
                }
                None => block.find(at, bad_number(value.text, name)),
            }
        }
    }

    /// The value with its prefix resolved.
    fn figure(&self, column: usize, text: &str) -> Option<Figure> {
        let metric = self.columns[column].metric.as_str();
        let digits = number_len(text);
        let suffix = &text[digits..];
        if self.old {
            let (power, unit) = old_unit(suffix)?;
            let value = english(&format!("{}e{power}", &text[..digits]))?;
            return Some(Figure::new(metric, value, unit));
        }
        let unit = match numerator(metric).rsplit('-').next() {
            Some("sec") => "s",
            Some(own) => own,
            None => "",
        };
        let value = match suffix.strip_suffix('i') {
            Some(binary) => {
                let thousands = ["K", "M", "G", "T"].iter().position(|p| *p == binary)?;
                english(&text[..digits])? * 1024f64.powi(i32::try_from(thousands).ok()? + 1)
            }
            None => english(&format!("{}e{}", &text[..digits], prefix(suffix)?))?,
        };
        Some(Figure::new(metric, value, unit))
    }
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

/// The power of ten of an SI prefix.
fn prefix(text: &str) -> Option<i32> {
    Some(match text {
        "" => 0,
        "n" => -9,
        "µ" | "μ" | "u" => -6,
        "m" => -3,
        "k" | "K" => 3,
        "M" => 6,
        "G" => 9,
        "T" => 12,
        _ => return None,
    })
}

/// The power of ten and the unit of what stands behind a value in the old
/// layout; `ms` there is a time and `M` a prefix.
fn old_unit(suffix: &str) -> Option<(i32, &str)> {
    for unit in ["B/s", "B", "s"] {
        if let Some(rest) = suffix.strip_suffix(unit)
            && let Some(power) = prefix(rest)
        {
            return Some((power, unit));
        }
    }
    prefix(suffix).map(|power| (power, ""))
}

/// How many bytes of `text` are digits and a point.
fn number_len(text: &str) -> usize {
    text.bytes()
        .take_while(|b| b.is_ascii_digit() || b".,".contains(b))
        .count()
}

/// A word and the character at which it begins.
struct Word<'a> {
    text: &'a str,
    from: usize,
}

/// The words of a line with the characters at which they begin.
fn words(line: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut start = None;
    for (from, (at, c)) in line.char_indices().enumerate() {
        if c.is_whitespace() {
            if let Some((byte, from)) = start.take() {
                let text = &line[byte..at];
                words.push(Word { text, from });
            }
        } else if start.is_none() {
            start = Some((at, from));
        }
    }
    if let Some((byte, from)) = start {
        let text = &line[byte..];
        words.push(Word { text, from });
    }
    words
}

/// The texts between bars, each with the character at which its bar stands.
fn barred(line: &str) -> Vec<Word<'_>> {
    let mut cells = Vec::new();
    let mut open: Option<(usize, usize)> = None;
    for (chars, (at, c)) in line.char_indices().enumerate() {
        if c == '│' || c == '|' {
            if let Some((from_byte, from)) = open {
                cells.push(Word {
                    text: line[from_byte..at].trim(),
                    from,
                });
            }
            open = Some((at + c.len_utf8(), chars));
        }
    }
    if let Some((from_byte, from)) = open {
        cells.push(Word {
            text: line[from_byte..].trim(),
            from,
        });
    }
    cells
}

/// A row without its name.
#[derive(Default)]
struct Cells<'a> {
    values: Vec<Word<'a>>,
    /// The text of each comparison's `n=`: `10` or `10+9`.
    sizes: Vec<&'a str>,
}

impl<'a> Cells<'a> {
    /// Parts values from what is derived from them; `None` if there is a
    /// word that benchstat does not print.
    fn of(words: &[Word<'a>]) -> Option<Self> {
        let mut cells = Cells::default();
        let mut skip = false;
        for word in words {
            let text = word.text;
            if std::mem::take(&mut skip) {
                continue;
            }
            if let Some(size) = text.trim_start_matches('(').strip_prefix("n=") {
                cells.sizes.push(size.trim_end_matches(')'));
            } else if ["±", "+-", "Â±", "+/-"].contains(&text) {
                skip = true;
            } else if is_value(text) {
                cells.values.push(Word {
                    text,
                    from: word.from,
                });
            } else if !is_remark(text) {
                return None;
            }
        }
        Some(cells)
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

/// Whether a word is a value, as against a delta or a remark.
fn is_value(text: &str) -> bool {
    let first = text.as_bytes().first().copied().unwrap_or(b' ');
    if text.ends_with(['%', ')']) {
        return false;
    }
    first.is_ascii_digit() || ["nan", "inf"].contains(&text.to_ascii_lowercase().as_str())
}

/// Whether a word is a delta, part of a remark in parentheses, or a mark.
fn is_remark(text: &str) -> bool {
    text.ends_with(['%', ')'])
        || text.starts_with('(')
        || ["~", "?", "¹", "²", "³", "⁴", "⁵"].contains(&text)
}
