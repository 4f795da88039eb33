//! Tables with columns separated by blanks, tabs or bars, with or without rules.
//!
//! A table is a line of names above rows with as many figures as there are names. The user
//! gives the roles of rows and columns, or the table does: a column is headed `kernel` or the
//! like, or rows or columns number the runs of each name. The figures of any other table are
//! read and not judged.

use super::grid::{Cell, Grid, Row};
use super::prelude::*;
use crate::headings::is_rule;
use crate::states::side;

pub(crate) use self::roles::are_parameters;
pub(super) use self::roles::counts_runs;
use self::roles::repeats_others;

mod changes;
mod figures;
mod ratios;
mod roles;

/// Tables that people make.
pub const TABLE: Grammar = Grammar {
    reach: RULES + 1,
    is_report: false,
    ..Grammar::new("table", starts, read)
};

/// What may stand between two cells.
const BARS: [char; 4] = ['|', '\u{2502}', '\u{2503}', '\u{2551}'];
/// Longest line of a table.
const LONGEST: usize = 400;
/// Most rows of a table.
const MOST: usize = 2000;
/// Most rules between the header and the rows.
const RULES: usize = 2;

/// Parses a cell with a figure; the inner `None` stands for an empty cell. Sizes are names of rows, and
/// arrows are of sentences, unless it is `wide`.
fn cell(text: &str, wide: bool) -> Option<Option<Cell>> {
    if matches!(text, "-" | "--" | "n/a" | "N/A") {
        return Some(None);
    }
    let changed = || {
        Cell::pair(text)
            .flatten()
            .filter(|_| wide)
            .map(Cell::joined)
    };
    let cell = Cell::whole(text).or_else(changed)?;
    (wide || !cell.is_size).then_some(Some(cell))
}

/// Splits a line into fields: at bars, else at tabs, at commas between blanks, or at blanks; a `±`
/// joins its neighbours.
fn fields(text: &str) -> Vec<String> {
    let text = text.trim();
    if text.contains(BARS) {
        let inner = text.trim_start_matches(BARS).trim_end_matches(BARS);
        return inner
            .split(BARS)
            .map(|field| field.trim().to_owned())
            .collect();
    }
    let by = if text.contains('\t') { "\t" } else { " , " };
    if text.contains('\t') || text.matches(by).count() > 1 {
        let parts = text
            .split(by)
            .map(str::trim)
            .filter(|field| !field.is_empty());
        return parts.map(str::to_owned).collect();
    }
    let mut fields: Vec<String> = Vec::new();
    let mut join = false;
    for word in text.split_whitespace() {
        let mark = matches!(word, "±" | "+-" | "+/-")
            || word.starts_with('(') && word.ends_with(')') && !word.contains(char::is_numeric);
        match fields.last_mut().filter(|_| mark || join) {
            Some(last) => *last = format!("{last} {word}"),
            None => fields.push(word.to_owned()),
        }
        join = mark && !word.starts_with('(');
    }
    fields
}

/// A label without the marks of Markdown, and the text of a link: `[master](https://…)`.
fn plain(label: &str) -> String {
    let link = label
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(')'));
    let text = link.and_then(|link| Some(link.split_once("](")?.0));
    text.unwrap_or(label).replace("**", "").replace('`', "")
}

/// The parts of a line between which are two blanks or more, with their places.
fn parted(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let place = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    let parts = text
        .split("  ")
        .map(str::trim)
        .filter(|part| !part.is_empty());
    parts.map(move |part| (text[..place(part)].chars().count(), part))
}

/// The figures at the end of a row.
fn figures_behind(fields: &[String]) -> Vec<Option<Cell>> {
    let figures = fields.iter().rev().map_while(|field| cell(field, false));
    let mut figures: Vec<_> = figures.collect();
    figures.reverse();
    figures
}

/// Whether the figures of a row, if blanks are in them, stand below the last names of a header.
fn stands_below(names: &str, text: &str, row: &Row) -> bool {
    let blank = |cell: &Cell| cell.spread.is_none() && cell.text.contains(' ');
    let joined = |cell: &Option<Cell>| cell.as_ref().is_some_and(blank);
    if names.contains(BARS) || names.contains('\t') || !row.cells.iter().any(joined) {
        return true;
    }
    let places = |text: &'_ str| -> Vec<(usize, usize)> {
        let parts: Vec<_> = parted(text).collect();
        let ends = parts[parts.len().saturating_sub(row.cells.len())..].iter();
        ends.map(|(at, part)| (*at, at + part.chars().count()))
            .collect()
    };
    let (above, below) = (places(names), places(text));
    let mut pairs = above.iter().zip(&below);
    above.len() == below.len() && pairs.all(|(a, b)| a.0 < b.1 && b.0 < a.1)
}

/// A row: figures behind words. Between bars, words among the figures are none of them, behind
/// as many labels as the rows above have. The name of a row may end with a number, `dbench 4`, if
/// `parted` from its figures by two blanks.
fn row(at: usize, text: &str, labels: Option<usize>, apart: bool) -> Option<Row> {
    if text.len() > LONGEST || !text.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut fields = fields(text);
    let cells: Vec<Option<Cell>> = match text.contains(BARS) {
        true => {
            let wide = fields.iter().enumerate();
            let figures = wide.map(|(at, field)| cell(field, at > 0).flatten());
            let first = figures.clone().position(|figure| figure.is_some())?;
            figures.skip(labels.unwrap_or(first)).collect()
        }
        false => {
            let narrow = figures_behind(&fields);
            let parts: Vec<String> = parted(text).map(|(_, part)| part.to_owned()).collect();
            let figures = figures_behind(&parts);
            // `12.3 ms   14.5 ms`
            let named = apart && !figures.is_empty() && figures.len() + 1 == parts.len();
            match named || figures.len() > narrow.len() {
                true => {
                    fields = parts;
                    figures
                }
                false => narrow,
            }
        }
    };
    // `| mean | 101.14 | 6.01 |` below numbered runs.
    let named = labels == Some(0) && cells.first().is_some_and(Option::is_none);
    let labels = &fields[..fields.len() - cells.len() + usize::from(named)];
    let labels: Vec<String> = labels.iter().map(|label| plain(label)).collect();
    let figures = cells.iter().flatten().count();
    // Behind ` - ` a figure may be negative or not.
    let sentence = labels.len() > 8
        || labels
            .iter()
            .any(|label| label.ends_with(',') && cell(label.trim_end_matches(','), true).is_some())
        || labels.last().is_some_and(|label| {
            label.ends_with([',', '=', '(']) || label == "-" || label.ends_with(" -")
        });
    (figures > 0 && !sentence).then_some(Row { at, labels, cells })
}

/// Parses a header into the names of the labels and of the figures of the `first` row. What is
/// `drawn` above a rule needs not look like a name, and percentages at the end need none. Between
/// blanks a name above the labels names no figures; there is none if the header is `indented`.
fn header(
    text: &str,
    first: &Row,
    drawn: bool,
    indented: bool,
) -> Option<(Vec<String>, Vec<String>)> {
    let (labels, count) = (first.labels.len(), first.cells.len());
    let percent = first
        .cells
        .last()
        .is_some_and(|cell| cell.as_ref().is_some_and(|cell| cell.unit == "%"));
    let text = text.trim();
    let words = fields(text);
    let blanks = !(text.contains(BARS) || text.contains('\t'));
    let wide: Vec<String> = match blanks {
        false => words.clone(),
        true => parted(text).map(|(_, part)| part.to_owned()).collect(),
    };
    // Where single blanks are left, nothing stands below anything.
    let aligned = blanks && wide.len() > 1;
    let mut more = wide.clone();
    more.extend(percent.then(String::new));
    for names in [&wide, &words, &numbered(&words, count), &more] {
        let keys = match names.len().checked_sub(count) {
            Some(0) if labels > 0 && aligned && !indented => continue,
            Some(keys) if keys <= 1 || keys == labels => keys,
            _ => continue,
        };
        let (keys, columns) = names.split_at(keys);
        let named =
            |name: &String| cell(name, true).is_none() && name.contains(char::is_alphanumeric);
        let (last, others) = columns.split_last()?;
        let all = others.iter().all(named) && (named(last) || last.is_empty() && percent);
        if drawn && keys.len() == labels || all {
            let columns = columns.iter().map(|name| plain(name));
            return Some((keys.to_vec(), columns.collect()));
        }
    }
    None
}

/// Joins the words of a header with numbered names: `idle % cpu 0 cpu 1 render time`.
fn numbered(words: &[String], count: usize) -> Vec<String> {
    let is_number = |at: usize| {
        words
            .get(at)
            .is_some_and(|word| word.parse::<u32>().is_ok())
    };
    let Some(first) = (1..words.len()).find(|at| is_number(*at)).map(|at| at - 1) else {
        return Vec::new();
    };
    let mut names: Vec<String> = Vec::new();
    if first > 0 {
        names.push(words[..first].join(" "));
    }
    let mut at = first;
    while is_number(at + 1) && words[at] == words[first] {
        names.push(words[at..at + 2].join(" "));
        at += 2;
    }
    let missing = (count + usize::from(first > 0)).saturating_sub(names.len());
    match missing {
        1 if at < words.len() => names.push(words[at..].join(" ")),
        _ => names.extend_from_slice(&words[at..]),
    }
    names
}

fn starts(line: &str) -> bool {
    let text = line.trim_end();
    let sentence = text.ends_with(['.', ':', ';', ',', '{', '}']);
    text.len() <= LONGEST && !sentence && text.bytes().any(|b| b.is_ascii_alphabetic())
}

fn read(lines: &[Line<'_>]) -> Option<Block> {
    table(lines, false).or_else(|| below_spans(lines))
}

/// The first row, the names of labels and of figures above it, whether a rule is between, and
/// whether names of rows may end with numbers.
fn head(lines: &[Line<'_>]) -> Option<(Row, [Vec<String>; 2], bool, bool)> {
    let names = line_at(lines, 0)?;
    let text = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == lines[0].depth);
    let parts = |text: &str| text.trim().is_empty() || is_ruled(text.trim());
    let rules = (1..=RULES).take_while(|at| text(*at).is_some_and(parts));
    let begin = 1 + rules.count();
    let ruled = (1..begin).any(|at| text(at).is_some_and(|text| is_ruled(text.trim())));
    let drawn = ruled && names.contains(BARS);
    let indent = |text: &str| text.len() - text.trim_start().len();
    let indented = indent(names) > indent(text(begin)?);
    let head = |apart: bool| {
        let first = row(begin, text(begin)?, None, apart)?;
        // `stock: 184.1` above `stock: 183.2` is no header but the first of them.
        let same = |above: Row| above.cells.len() == first.cells.len();
        if !drawn && row(0, names, None, apart).is_some_and(same) {
            return None;
        }
        let (keys, columns) = header(names, &first, drawn, indented)?;
        // Above a blank line one name is a title.
        let titled = !ruled && begin > 1 && columns.len() == 1;
        let below = !titled && stands_below(names, text(begin)?, &first);
        below.then_some((first, [keys, columns], ruled, apart))
    };
    // Without two blanks nothing stands apart.
    head(false).or_else(|| text(begin)?.contains("  ").then(|| head(true))?)
}

/// A table; if it is `spanned` by more names above its header, one row is enough.
fn table(lines: &[Line<'_>], spanned: bool) -> Option<Block> {
    let (first, [keys, columns], ruled, apart) = head(lines)?;
    let names = line_at(lines, 0)?;
    let text = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == lines[0].depth);
    let begin = first.at;
    let mut grid = Grid {
        keys,
        columns,
        rows: Vec::new(),
    };
    let mut end = begin;
    let mut doubts = Vec::new();
    // Between bars, or above or below a rule, one row is a table.
    let mut closed = ruled || names.contains(BARS) && grid.columns.len() > 1 || spanned;
    while let Some(line) = text(end).filter(|_| end < MOST) {
        let fits = |row: &Row| row.cells.len() == grid.columns.len();
        let labels = Some(first.labels.len());
        let row_at = |at: usize| row(at, text(at)?, labels, apart).filter(fits);
        let named = |row: &Row| row.labels.is_empty() == first.labels.is_empty();
        let alike = |row: &Row| named(row) && row.cells.len() > 1;
        let goes_on = || end > begin && row_at(end + 1).as_ref().is_some_and(alike);
        if is_ruled(line.trim()) || line.trim().is_empty() && goes_on() {
            closed |= is_ruled(line.trim());
            end += 1;
            continue;
        }
        match row_at(end) {
            Some(row) => {
                let why = unread(line).filter(|_| line.contains(BARS));
                doubts.extend(why.map(|why| (end, format!("{why}; it is left out"))));
                grid.rows.push(row);
            }
            None => {
                let count = first.labels.len() + first.cells.len();
                let Some(why) = unread(line).filter(|_| fields(line).len() == count) else {
                    break;
                };
                doubts.push((
                    end,
                    label(&format!("{why}; its row is left out: {}", line.trim())),
                ));
            }
        }
        end += 1;
    }
    closed |= grid.recomputed().is_some();
    if grid.rows.len() < if closed { 1 } else { 2 } {
        return None;
    }
    number_rows(&mut grid);
    name_rows_by_numbers(&mut grid);
    let end = grid.rows.last().map_or(end, |row| row.at + 1);
    let mut block = Block::new("table", end);
    block.find(0, Finding::Grid(Box::new(grid)));
    for (at, why) in doubts.into_iter().filter(|(at, _)| *at < end) {
        block.find(at, Finding::Doubt("bad-number", why));
    }
    Some(block)
}

/// A table below one more line of names, each above several columns: `4k` above `read` and `write`.
fn below_spans(lines: &[Line<'_>]) -> Option<Block> {
    let (upper, names) = (line_at(lines, 0)?, line_at(lines, 1)?);
    let last = upper.split_whitespace().next_back()?;
    let is_row = cell(last, false).is_some() || cell(upper, true).is_some();
    if lines[0].depth != lines[1].depth || is_row {
        return None;
    }
    let mut block = table(&lines[1..], true)?;
    for (at, finding) in &mut block.findings {
        let Finding::Grid(grid) = finding else {
            *at += 1;
            continue;
        };
        let all = fields(upper);
        let alike = all.len() == fields(names).len();
        let above = match upper.contains(BARS) {
            true => all[all
                .len()
                .checked_sub(grid.columns.len())
                .filter(|_| alike)?..]
                .to_vec(),
            false => repeated(upper, &grid.columns)?,
        };
        for (outer, name) in above.iter().zip(&mut grid.columns) {
            *name = format!("{outer} {name}").trim_start().to_owned();
        }
        grid.rows.iter_mut().for_each(|row| row.at += 1);
    }
    block.taken.insert(0, "table");
    Some(block)
}

/// The name above each column where the columns begin with the same names for each of those above:
/// `before` and `after` above `mean`, `sd`, `mean`, `sd` and `change`.
fn repeated(upper: &str, columns: &[String]) -> Option<Vec<String>> {
    let above: Vec<&str> = parted(upper).map(|(_, part)| part).collect();
    let width = 1 + columns
        .iter()
        .skip(1)
        .position(|name| *name == columns[0])?;
    let groups = columns
        .chunks(width)
        .take_while(|group| *group == &columns[..width]);
    let told = above.iter().flat_map(|name| vec![name.to_string(); width]);
    (above.len() >= 2 && groups.count() == above.len()).then(|| told.collect())
}

/// Makes a column of the numbers of runs that name the rows: `run 1`, `run 2` above a mean.
fn number_rows(grid: &mut Grid) {
    let number = |row: &Row| {
        let [label] = &row.labels[..] else {
            return None;
        };
        let (word, number) = label.rsplit_once(' ')?;
        Some((word.to_owned(), Cell::whole(number)?)).filter(|_| counts_runs(word))
    };
    let numbers: Vec<_> = grid.rows.iter().map(number).collect();
    let mut rows = grid.rows.iter().zip(&numbers);
    let Some((word, _)) = numbers.first().cloned().flatten() else {
        return;
    };
    if !rows.all(|(row, number)| number.is_some() || repeats_others(&row.label())) {
        return;
    }
    grid.keys.clear();
    grid.columns.insert(0, word);
    for (row, number) in grid.rows.iter_mut().zip(numbers) {
        let number = number.map(|(_, number)| number);
        if number.is_some() {
            row.labels.clear();
        }
        row.cells.insert(0, number);
    }
}

/// Numbers in the first columns name the rows if they are sizes, or whole numbers and nothing
/// else does, beside figures that are neither: block sizes, numbers of clients.
fn name_rows_by_numbers(grid: &mut Grid) {
    let whole = |cell: &Cell| cell.unit.is_empty() && cell.value.fract() == 0.0;
    loop {
        let names = |row: &Row| {
            let first = row.cells.first().and_then(Option::as_ref);
            let number = |cell: &Cell| row.labels.is_empty() && whole(cell) && cell.value >= 0.0;
            first.is_some_and(|cell| cell.then.is_none() && (cell.is_size || number(cell)))
        };
        let rows = grid.rows.iter();
        let mut others = rows.flat_map(|row| row.cells.iter().skip(1).flatten());
        let sizes = |row: &Row| row.cells[0].as_ref().is_some_and(|cell| cell.is_size);
        let sized = grid.rows.iter().all(sizes);
        let plain = |cell: &Cell| cell.is_size || cell.unit == "%" || !sized && whole(cell);
        let kept = counts_runs(&grid.columns[0]) || side(&grid.columns[0]).is_some();
        if kept || !grid.rows.iter().all(names) || others.all(plain) {
            return;
        }
        grid.keys.push(grid.columns.remove(0));
        for row in &mut grid.rows {
            let first = row.cells.remove(0);
            row.labels.extend(first.map(|cell| cell.text));
        }
    }
}

/// Names a field that looks like a number and is not read; between bars the first may be a name,
/// `4k randread`.
fn unread(text: &str) -> Option<String> {
    let fields = fields(text);
    let digit = |field: &&String| {
        let bare = field.trim_matches('*');
        let named = ["nan", "inf"].contains(&bare.to_lowercase().as_str());
        (named || bare.starts_with(|c: char| c.is_ascii_digit())) && cell(field, true).is_none()
    };
    let bad = fields
        .iter()
        .skip(usize::from(text.contains(BARS)))
        .find(digit)?;
    Some(format!("{} is not a number", label(bad)))
}

fn is_ruled(text: &str) -> bool {
    let drawn = |c: char| "|:-+= ".contains(c) || ('\u{2500}'..='\u{257f}').contains(&c);
    is_rule(text) || !text.is_empty() && text.chars().all(drawn)
}
