//! Rows for lines that no format has read: lists, sentences, what an unknown tool prints.
//!
//! Lines that follow each other with as many numbers in the same units are a block, whose columns
//! become rows. Names that stand before the figures of several blocks are workloads, and the
//! heading of each block its configuration; other names may be those of configurations.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::draft::{Row, place};
use super::place::{is_spread, name_before};
use crate::correspondence::is_correspondence;
use crate::grammar::runs::{FEWEST, behind_name};
use crate::grammar::units::{is_measure, is_unit, metric_of};
use crate::group::names::short;
use crate::headings::{self, is_fence, is_rule};
use crate::line::Line;
use crate::numbers::{self, Printed};
use crate::states::side;

/// How far above a block its heading is looked for.
const REACH: usize = 40;
/// Most words of a name.
const NAME: usize = 8;

/// A line's numbers, each with its index among all numbers of the line.
type Numbers<'t> = Vec<(usize, Printed<'t>)>;

/// Lines between which at most blank lines and fences stand, or the line above each that names it.
struct Block<'t> {
    lines: Vec<(u32, &'t str, Numbers<'t>)>,
    names: Vec<Option<&'t str>>,
    titled: bool,
}

/// Drafts rows for all lines that are not among `taken`, and notes their numbers in `claimed`.
pub(super) fn rows(
    lines: &[&str],
    taken: &BTreeSet<u32>,
    claimed: &mut BTreeSet<(u32, usize)>,
) -> Vec<Row> {
    let blocks = blocks(lines, taken);
    let mut met: BTreeMap<&str, usize> = BTreeMap::new();
    for block in &blocks {
        let names: BTreeSet<&str> = block.names.iter().flatten().copied().collect();
        for name in names {
            *met.entry(name).or_default() += 1;
        }
    }
    let mut rows = Vec::new();
    for block in &blocks {
        let begin = block.lines[0].0 as usize - 1 - usize::from(block.titled);
        let heading = heading(lines, begin, taken);
        let workload = |name: &Option<&str>| name.is_some_and(|name| met[name] > 1);
        let all = 0..block.lines.len();
        let star = || "*".to_owned();
        let own = if block.is_of_runs() {
            block.runs()
        } else if block.repeats() || block.names.contains(&None) || block.pair().is_some() {
            block.by_name(&heading)
        } else if block.names.iter().all(workload) {
            block.columns(|_| [heading.clone(), star()], all, false)
        } else if block.is_in_columns() {
            let (_, text, numbers) = &block.lines[0];
            let pair = before_and_after(text, numbers).unwrap_or(["?", "?"]);
            block.columns(|at| [pair[at.min(1)].to_owned(), star()], all, true)
        } else {
            block.by_name(&heading)
        };
        for (row, numbers) in own {
            rows.push(row);
            claimed.extend(numbers);
        }
    }
    rows
}

/// The heading above the line at `to`, as a guess.
pub(super) fn heading(lines: &[&str], to: usize, taken: &BTreeSet<u32>) -> String {
    let from = to.saturating_sub(REACH);
    let near = lines[from..=to].iter().zip(1..);
    let near: Vec<Line<'_>> = near.map(|(text, at)| Line::plain(at, text)).collect();
    let free = |at: usize| !taken.contains(&((from + at) as u32 + 1));
    let found = headings::above(&near, 0, to - from, &free).pop();
    found.map_or("?".to_owned(), |one| {
        format!("{} ?", bare(&short(&one.text)))
    })
}

/// A row and the numbers in it.
type Claiming = (Row, Vec<(u32, usize)>);

impl<'t> Block<'t> {
    /// Whether a name stands before two lines.
    fn repeats(&self) -> bool {
        let mut met = BTreeSet::new();
        !self.names.iter().all(|name| met.insert(name))
    }

    /// Whether several lines have several figures of one kind, whose columns may be configurations.
    fn is_in_columns(&self) -> bool {
        let (_, text, first) = &self.lines[0];
        let measured = (0..first.len()).filter(|at| self.is_measured(*at));
        let kinds = measured.map(|at| word_at(text, &first[at].1));
        let kinds: Vec<String> = kinds.collect();
        let one = kinds.iter().all(|kind| *kind == kinds[0]);
        self.lines.len() > 1 && kinds.len() > 1 && one && behind_name(text).is_none()
    }

    /// The states that the figures of a single line are of.
    fn pair(&self) -> Option<[&'static str; 2]> {
        let (_, text, numbers) = &self.lines[0];
        before_and_after(text, numbers).filter(|_| self.lines.len() == 1)
    }

    /// Whether each line has several numbers and nothing else, below a name.
    fn is_of_runs(&self) -> bool {
        let all_runs = |(_, text, all): &(u32, &str, Numbers<'t>)| {
            all.len() >= FEWEST && text.split_whitespace().count() == all.len()
        };
        self.titled && self.lines.iter().all(all_runs)
    }

    /// A row for each line, whose numbers are runs.
    fn runs(&self) -> Vec<Claiming> {
        let lines = self.lines.iter().zip(&self.names);
        let one = |((line, _, all), name): (&(u32, &str, Numbers<'t>), &Option<&str>)| {
            let name = name.map(bare).unwrap_or_default();
            let [configuration, workload] = match state_in(&name) {
                Some((state, of)) => [state.to_owned(), format!("{of} ?")],
                None => [name.clone(), "?".to_owned()],
            };
            let fields = [configuration, workload, metric("value", all[0].1.unit)];
            let claims = all.iter().map(|(nth, _)| (*line, *nth)).collect();
            (row(fields, vec![format!("{line}.*")], false), claims)
        };
        lines.map(one).collect()
    }

    /// Rows whose names may be those of configurations.
    fn by_name(&self, heading: &str) -> Vec<Claiming> {
        let mut rows = Vec::new();
        let mut from = 0;
        let before = |(_, text, all): &(u32, &'t str, Numbers<'t>)| text[..all[0].1.at].trim();
        for same in self
            .lines
            .chunk_by(|one, other| before(one) == before(other))
        {
            let range = from..from + same.len();
            from = range.end;
            let name = self.names[range.start].map(bare);
            let (line, text, numbers) = &self.lines[range.start];
            if let Some(pair) = self.pair() {
                let short = name.filter(|name| name.split_whitespace().count() <= NAME);
                let of = short.map_or("?".to_owned(), |name| format!("{name} ?"));
                for (at, (nth, one)) in numbers.iter().enumerate() {
                    let unit = [one, &numbers[at ^ 1].1].map(|one| one.unit);
                    let unit = unit.into_iter().find(|unit| !unit.is_empty());
                    let metric = match unit {
                        Some(unit) if is_unit(unit) => metric(metric_of(unit), unit),
                        _ => metric(&word_at(text, one), ""),
                    };
                    let of = match numbers.len() {
                        2 => of.clone(),
                        _ => format!("{} ?", at / 2 + 1),
                    };
                    let fields = [pair[at % 2].to_owned(), of, metric];
                    let places = vec![place(text, *line, *nth)];
                    rows.push((row(fields, places, false), vec![(*line, *nth)]));
                }
            } else if behind_name(text).is_some() && range.len() == 1 {
                let all = (0..numbers::find(text).len())
                    .map(|nth| (*line, nth))
                    .collect();
                let metric = metric("value", numbers[0].1.unit);
                let fields = [name.unwrap_or_default(), "?".to_owned(), metric];
                rows.push((row(fields, vec![format!("{line}.*")], false), all));
            } else {
                let named = match name.as_deref().map(state_in) {
                    Some(Some((state, of))) => [state.to_owned(), format!("{of} ?")],
                    Some(None) => [name.unwrap_or_default(), "?".to_owned()],
                    None => [heading.to_owned(), "?".to_owned()],
                };
                rows.extend(self.columns(|_| named.clone(), range, false));
            }
        }
        rows
    }

    /// A row for each column that looks measured, of some lines; `of` gives its configuration and
    /// workload. Columns that are `apart` are configurations with one metric.
    fn columns(
        &self,
        of: impl Fn(usize) -> [String; 2],
        range: Range<usize>,
        apart: bool,
    ) -> Vec<Claiming> {
        let mut rows: Vec<Claiming> = Vec::new();
        let (_, text, first) = &self.lines[range.start];
        for at in (0..first.len()).filter(|at| self.is_measured(*at)) {
            let one = &first[at].1;
            let spread = first.get(at + 1).map(|(_, next)| &text[one.end..next.at]);
            let behind = at > 0 && is_spread(&text[first[at - 1].1.end..one.at]);
            if behind
                && rows
                    .last_mut()
                    .is_some_and(|(row, _)| !row.behind.is_empty())
            {
                continue;
            }
            let lines = &self.lines[range.clone()];
            let claims: Vec<_> = lines
                .iter()
                .map(|(line, _, all)| (*line, all[at].0))
                .collect();
            let name = word_at(text, one);
            let own = |(row, _): &&Claiming| row.fields[2].starts_with(&*name);
            let [configuration, workload] = of(rows.len());
            let name = match rows.iter().filter(own).count() {
                twins if twins > 0 && !apart => metric(&format!("{name} {}", twins + 1), one.unit),
                _ => metric(&name, one.unit),
            };
            let places = lines
                .iter()
                .map(|(line, text, all)| place(text, *line, all[at].0));
            let mean = spread.is_some_and(is_spread);
            rows.push((
                row([configuration, workload, name], places.collect(), mean),
                claims,
            ));
        }
        rows
    }

    /// Whether the numbers of a column have the unit or the look of measured ones.
    fn is_measured(&self, at: usize) -> bool {
        let column = || self.lines.iter().map(|(_, _, all)| &all[at].1);
        let (_, text, all) = &self.lines[0];
        let unit = all[at].1.unit;
        let above = text[..all[at].1.at].trim_end();
        let sign = above.ends_with([':', '=', '|']);
        // Behind another figure, or before its spread.
        let joins = at > 0 && all[at - 1].1.end == above.len() && all[at - 1].1.unit == unit;
        let spread = all
            .get(at + 1)
            .is_some_and(|(_, next)| is_spread(&text[all[at].1.end..next.at]));
        let sign = sign || spread || joins && self.is_measured(at - 1);
        let fraction = column().any(|one| one.number.value.fract() != 0.0);
        let varies = column().any(|one| one.number.value != all[at].1.number.value);
        let several = self.lines.len() > 1 && varies && unit != "%";
        is_measure(unit) || unit.is_empty() && fraction && sign || several
    }
}

fn row(fields: [String; 3], places: Vec<String>, spread: bool) -> Row {
    // A line that begins with `#` is a comment.
    let plain = |field: String| {
        field
            .replace('|', "/")
            .trim_start_matches(['#', ' '])
            .to_owned()
    };
    let fields = fields.map(plain);
    Row {
        fields,
        places,
        behind: if spread { " +- se n=?" } else { "" }.to_owned(),
        in_order: false,
    }
}

/// Groups lines into blocks.
fn blocks<'t>(lines: &[&'t str], taken: &BTreeSet<u32>) -> Vec<Block<'t>> {
    let mut blocks: Vec<Block<'t>> = Vec::new();
    // Lines with words since the last line of the block.
    let mut between = usize::MAX;
    for (text, at) in lines.iter().copied().zip(1..) {
        let bare = text.trim();
        if bare.is_empty() || is_fence(bare) || is_rule(bare) {
            continue;
        }
        let all: Numbers<'t> = numbers::find(text).into_iter().enumerate().collect();
        let all: Numbers<'t> = all
            .into_iter()
            .filter(|(_, one)| stands_alone(text, one))
            .collect();
        let code = bare.starts_with("--") || bare.starts_with('$') || bare.ends_with('\\');
        if all.is_empty() || code || taken.contains(&at) || is_correspondence(text) {
            between = between.saturating_add(1);
            continue;
        }
        let name = name_before(lines, at, all[0].1.at);
        let titled = !text[..all[0].1.at].contains(char::is_alphabetic) && name.is_some();
        let units = |all: &Numbers<'t>| all.iter().map(|(_, one)| one.unit).collect::<Vec<_>>();
        let state = name.is_some_and(|name| titled && side(name).is_some());
        let near = between == usize::from(titled) && !state;
        let goes_on = |block: &&mut Block<'t>| {
            near && units(&block.lines[0].2) == units(&all) && block.titled == titled
        };
        between = 0;
        match blocks.last_mut().filter(goes_on) {
            Some(block) => {
                block.lines.push((at, text, all));
                block.names.push(name);
            }
            None => blocks.push(Block {
                lines: vec![(at, text, all)],
                names: vec![name],
                titled,
            }),
        }
    }
    blocks
}

/// Whether a number is no part of a name, `BM_copy/1024`, and neither a p-value nor a number of runs.
fn stands_alone(text: &str, one: &Printed<'_>) -> bool {
    let head = text[..one.at].trim_end_matches(['=', '<', ' ']);
    let word = head.rsplit(|c: char| !c.is_alphanumeric()).next();
    let said = head.len() < one.at && matches!(word, Some("p" | "P" | "n"));
    let before = text[..one.at].chars().next_back();
    let parts = |c: char| c.is_whitespace() || matches!(c, ':' | '=' | '|' | '~' | '\u{b1}');
    !said && before.is_none_or(parts)
}

/// The states that the figures of a sentence are of, if each is one of a pair in one unit, which the
/// second may have for both: `from 12 s to 9 s`, `9 s (was 12 s)`, `from 37 to 47 FPS`.
fn before_and_after(text: &str, all: &Numbers<'_>) -> Option<[&'static str; 2]> {
    let states = |pair: &[(usize, Printed<'_>)]| {
        let [(_, one), (_, other)] = pair else {
            return None;
        };
        let joins = ["to", "->", "\u{2192}", "=>", "vs", "vs.", "against", "now"];
        let states = match text[one.end..other.at].trim() {
            "(was" | "(from" => ["after ?", "before ?"],
            between if joins.contains(&between) => ["before ?", "after ?"],
            _ => return None,
        };
        let one_unit = one.unit == other.unit || one.unit.is_empty() || other.unit.is_empty();
        let measured = is_measure(one.unit) || is_measure(other.unit);
        (one_unit && (measured || all.len() == 2)).then_some(states)
    };
    let first = states(all.get(..2)?)?;
    let alike = |pair: &[(usize, Printed<'_>)]| states(pair) == Some(first);
    all.chunks(2).all(alike).then_some(first)
}

/// The state at the begin or the end of a name, and the rest of the name: `build before`.
fn state_in(name: &str) -> Option<(&str, &str)> {
    let one = |word: &str| word.len() > 3 && side(word).is_some();
    let (rest, last) = name.rsplit_once(' ')?;
    let (first, behind) = name.split_once(' ')?;
    let begins = one(first) && !behind.contains(' ');
    (one(last).then_some((last, rest))).or(begins.then_some((first, behind)))
}

/// The word behind a number without a unit, else the one that an equals sign parts from it.
fn word_at(text: &str, one: &Printed<'_>) -> String {
    if is_unit(one.unit) {
        return metric_of(one.unit).to_owned();
    }
    let letter = |b: u8| b.is_ascii_alphabetic() || b == b'_';
    let letters = |word: &&str| !word.is_empty() && word.bytes().all(letter);
    let behind = text[one.end..].strip_prefix(' ');
    let behind = behind
        .and_then(|rest| rest.split([' ', ',', ';']).next())
        .filter(letters);
    let before = text[..one.at].trim_end().strip_suffix('=');
    let before = before
        .and_then(|rest| rest.split([' ', ',', ';']).next_back())
        .filter(letters);
    behind.or(before).unwrap_or("value").to_owned()
}

pub(super) fn metric(name: &str, unit: &str) -> String {
    let name = if is_unit(unit) && name == "value" {
        metric_of(unit)
    } else {
        name
    };
    format!("{name} [{unit}]").replace(" []", "")
}

/// A name without quotation marks.
fn bare(name: &str) -> String {
    name.replace(['`', '"'], "").trim().to_owned()
}
