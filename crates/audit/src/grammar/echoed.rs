//! The same lines with other figures, below headings or behind names:
//!
//! ```text
//! Before:                                   before 165080.6 tps (60.3 allocs/op)
//!   Time spent inserting: real 5.831s         after  171513.8 tps (59.3 allocs/op)
//!   Throughput: 41060 rows/sec
//! After:
//!   Time spent inserting: real 4.865s
//!   Throughput: 45143 rows/sec
//! ```
//!
//! No tool need be known: what stands in two places in the same words is one thing, and
//! the numbers in it are what may differ. They are read only if the headings, or the
//! names, differ as those of configurations do. A number that takes the same values below
//! each heading, and is none of a measurement, belongs to the name. Lines that come again
//! below one heading are samples of one run, whose mean is the run's. What other formats
//! read is left to them.

mod shape;

use std::collections::BTreeMap;

use super::cells::{label, line_at};
use super::quantity::{is_measure, metric_of};
use super::{Block, Figure, Finding, Grammar, Labels, Taken};
use crate::Line;
use crate::roles::differing;
use crate::roles::words::{names_configuration, names_measurement};
use shape::{Field, Shape};

/// Lines that come again with other figures; see the module.
pub struct Echoed;

/// Its name among the formats.
pub(crate) const ECHOED: &str = "echoed";

/// So many points make names those of configurations.
const CONTRAST: i32 = 3;
/// The second heading stands at most so many lines below the first.
const REACH: usize = 160;
/// So many lines that are not echoed end the last list.
const STRANGE: usize = 4;
/// More configurations are not compared in this way.
const MOST: usize = 6;
/// Names of configurations in a line of figures are not longer.
const LONGEST_NAME: usize = 48;

impl Grammar for Echoed {
    fn name(&self) -> &'static str {
        ECHOED
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim();
        (3..=shape::LONGEST).contains(&text.len())
            && (text.len() <= 40 || text.ends_with([':', '*', ')']) || shape::has_digit(text))
            && !text.ends_with(['.', ';', '{', '}'])
    }

    fn reach(&self) -> usize {
        8
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        below_headings(lines).or_else(|| behind_names(lines))
    }
}

/// A line that may stand above figures: a name alone, or a sentence that ends with a colon.
fn heading(text: &str) -> Option<&str> {
    let marks = |c: char| matches!(c, '#' | '*' | '=' | '~' | '_' | '-' | ' ' | '•' | '`');
    let text = text.trim().trim_matches(marks);
    let (name, colon) = match text.strip_suffix(':') {
        Some(name) => (name.rsplit(['.', '!', '?']).next()?, true),
        None => (text, false),
    };
    let name = name.trim().trim_matches(marks);
    let (words, length) = if colon { (12, 90) } else { (4, 32) };
    let fits = name.len() >= 2
        && name.len() <= length
        && name.split_whitespace().count() <= words
        && name.starts_with(|c: char| c.is_alphanumeric() || c == '(' || c == '[')
        && !name.contains(['|', '\t', ';', '{', '}', '"', '<', '>', '$'])
        && !name.contains("  ")
        && !name.contains(": ")
        && !name.ends_with([',', '.', '/']);
    let named = colon || names_configuration(name);
    (fits && named).then_some(name)
}

/// Whether a name is one that a first heading may have.
fn first_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    names_configuration(name) || lower.starts_with("no ") || lower.starts_with("current")
}

/// What stands below one heading.
struct Section<'t> {
    name: &'t str,
    at: usize,
    end: usize,
}

/// A line of a section: what stands above it without figures, and its shape.
struct Entry<'t> {
    at: usize,
    above: &'t str,
    shape: Shape<'t>,
}

fn entries<'t>(lines: &'t [Line<'_>], section: &Section<'t>) -> Vec<Entry<'t>> {
    let mut above = "";
    let mut all = Vec::new();
    for at in section.at + 1..section.end {
        let text = line_at(lines, at).unwrap_or_default();
        match shape::of(text) {
            Some(shape) => all.push(Entry { at, above, shape }),
            None if text.trim_end().ends_with(':') && text.len() <= 72 => above = text.trim(),
            None => {}
        }
    }
    all
}

/// Lists below two headings or more that differ as configurations do.
fn below_headings(lines: &[Line<'_>]) -> Option<Block> {
    let first = heading(line_at(lines, 0)?).filter(|name| first_name(name))?;
    let depth = lines[0].depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let mut sections = vec![Section {
        name: first,
        at: 0,
        end: 0,
    }];
    let mut at = 1;
    while let Some(text) = here(at).filter(|_| at <= REACH * sections.len()) {
        if let Some(name) = heading(text) {
            let again = sections.iter().any(|known| known.name == name);
            let other = sections
                .iter()
                .all(|s| differing(&[s.name, name]) >= CONTRAST);
            if again || other && sections.len() == MOST {
                break;
            }
            if other {
                sections.last_mut()?.end = at;
                sections.push(Section { name, at, end: at });
            }
        }
        at += 1;
    }
    if sections.len() < 2 {
        return None;
    }
    sections.last_mut()?.end = at;
    let mut all: Vec<Vec<Entry<'_>>> = sections.iter().map(|s| entries(lines, s)).collect();
    let known: Vec<String> = all[0].iter().map(key).collect();
    if known.is_empty() {
        return None;
    }
    // The last list ends where its lines are no longer those of the first.
    let last = all.pop()?;
    let from = sections.last()?.at;
    let mut end = from;
    for entry in &last {
        if known.contains(&key(entry)) {
            let strange = (end + 1..entry.at)
                .filter(|at| here(*at).is_some_and(|text| !text.trim().is_empty()))
                .count();
            if end > from && strange > STRANGE {
                break;
            }
            end = entry.at;
        }
    }
    all.push(last.into_iter().filter(|e| e.at <= end).collect());
    sections.last_mut()?.end = end + 1;
    // At least half of the lines with figures must come again below each heading.
    let echoed = |list: &Vec<Entry<'_>>| {
        let same = list.iter().filter(|e| known.contains(&key(e))).count();
        same > 0 && same * 2 >= list.len()
    };
    let second: Vec<String> = all[1].iter().map(key).collect();
    let back = known.iter().filter(|key| second.contains(key)).count();
    if !all.iter().skip(1).all(echoed) || back * 2 < known.len() || read_by_others(lines, &sections)
    {
        return None;
    }
    let mut block = Block {
        findings: Vec::new(),
        taken: vec!["text between" as Taken; end + 1],
    };
    for (section, entries) in sections.iter().zip(&all) {
        block.taken[section.at] = "heading of lines that come again";
        for entry in entries {
            block.taken[entry.at] = "line that comes again";
        }
    }
    let figures = aligned(&all);
    for (section, figures) in sections.iter().zip(figures) {
        if figures.is_empty() {
            return None;
        }
        let labels = Labels {
            configuration: Some(label(section.name)),
            ..Labels::default()
        };
        block.find(section.at, Finding::Run { labels, figures });
    }
    Some(block)
}

/// What a line is compared by.
fn key(entry: &Entry<'_>) -> String {
    format!("{}\n{}", entry.above, entry.shape.words)
}

/// Whether a format is that of what a tool prints, and not one of any figures.
pub(crate) fn is_report(format: &str) -> bool {
    let general = [
        "table", "prose", "list", "rows", "pairs", "spread", "shared", ECHOED,
    ];
    let others = [super::lists::LONE, super::sentence::SENTENCE];
    !general.contains(&format) && !others.contains(&format)
}

/// Whether formats that know what they read find it in the first section.
fn read_by_others(lines: &[Line<'_>], sections: &[Section<'_>]) -> bool {
    let (mut rows, mut figures) = (0, 0);
    let mut at = sections[0].at + 1;
    while at < sections[0].end {
        let text = line_at(lines, at).unwrap_or_default();
        let mut used = 1;
        for grammar in super::all() {
            let table = grammar.name() == "table";
            if text.trim().is_empty()
                || !is_report(grammar.name()) && !table
                || !grammar.starts(text)
            {
                continue;
            }
            if let Some(block) = grammar.read(&lines[at..]) {
                if !table {
                    return true;
                }
                // A name and a figure in each row is what stands here.
                let wide = |(_, finding): &(usize, Finding)| match finding {
                    Finding::Grid(grid) => grid.header.columns.len() >= 2,
                    _ => true,
                };
                used = block.taken.len().max(1);
                rows += if block.findings.iter().any(wide) {
                    used
                } else {
                    0
                };
            }
        }
        let end = (at + used).min(sections[0].end);
        let shaped = |at: usize| line_at(lines, at).is_some_and(|text| shape::of(text).is_some());
        figures += (at..end).filter(|at| shaped(*at)).count();
        at = end;
    }
    rows * 2 >= figures.max(1)
}

/// The figures of each section, the same names in each.
fn aligned(sections: &[Vec<Entry<'_>>]) -> Vec<Vec<Figure>> {
    let mut keys: Vec<String> = Vec::new();
    for entry in sections.iter().flatten() {
        let key = key(entry);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let mut all = vec![Vec::new(); sections.len()];
    for name in &keys {
        let lists: Vec<Vec<&Entry<'_>>> = sections
            .iter()
            .map(|list| list.iter().filter(|entry| key(entry) == *name).collect())
            .collect();
        if lists.iter().filter(|list| !list.is_empty()).count() < 2 {
            continue;
        }
        line_by_line(&lists, &mut all);
    }
    all
}

/// What a number in lines that come again is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// It tells apart the lines below one heading, as it does below the others.
    Name,
    /// It never differs, and is no measurement.
    Setting,
    Measured,
}

fn place(lists: &[Vec<&Entry<'_>>], at: usize) -> Place {
    let there = || lists.iter().filter(|list| !list.is_empty());
    let values = |list: &Vec<&Entry<'_>>| -> Vec<f64> {
        list.iter()
            .map(|entry| entry.shape.fields[at].value)
            .collect()
    };
    let Some(first) = there().next() else {
        return Place::Setting;
    };
    let field = &first[0].shape.fields[at];
    let own = values(first);
    let same = there().all(|list| values(list) == own);
    let nothing = same && own.iter().all(|value| *value == 0.0);
    let united = is_measure(field.unit) || field.unit.contains('/');
    let united = united && !nothing;
    let measure = united || own[0].fract() != 0.0;
    let named = |text: &str| text.chars().any(char::is_alphabetic);
    let several = there().any(|list| list.len() > 1);
    if ![field.label, field.unit, field.behind]
        .into_iter()
        .any(named)
    {
        // Rows that stand in one list and not in another keep their names.
        let whole = at == 0 && several && field.value.fract() == 0.0;
        let parted = whole && there().all(|list| parts_rows(&values(list)));
        return if parted { Place::Name } else { Place::Setting };
    }
    if same && !united && !(own.len() == 1 && measure && names_measurement(field.label)) {
        let apart = own.iter().any(|value| *value != own[0]);
        return if apart { Place::Name } else { Place::Setting };
    }
    let told = measure || !several && named(field.label);
    // `2.3x faster` is computed from two figures.
    let told = told && field.unit != "x";
    if told && !is_spread(field.label) && !is_spread(field.behind) && !is_number_of(field.label) {
        Place::Measured
    } else {
        Place::Setting
    }
}

/// Whether each number is another.
fn parts_rows(values: &[f64]) -> bool {
    values
        .iter()
        .enumerate()
        .all(|(at, value)| !values[..at].contains(value))
}

/// Whether a label says how figures scatter.
fn is_spread(label: &str) -> bool {
    let lower = label.to_ascii_lowercase();
    ["deviation", "stddev", "stdev", "variance", " mad"]
        .iter()
        .any(|word| lower.contains(word))
}

/// Whether a label is that of a process, a port or the like.
fn is_number_of(label: &str) -> bool {
    let last = label.rsplit(|c: char| !c.is_alphanumeric()).next();
    let last = last.unwrap_or_default().to_ascii_lowercase();
    matches!(
        last.as_str(),
        "pid" | "tid" | "port" | "thread" | "id" | "seed" | "line" | "version" | "iteration"
    )
}

/// The figures of lines of one shape.
fn line_by_line(lists: &[Vec<&Entry<'_>>], all: &mut [Vec<Figure>]) {
    let Some(first) = lists.iter().flatten().next() else {
        return;
    };
    let places: Vec<Place> = (0..first.shape.fields.len())
        .map(|at| place(lists, at))
        .collect();
    for (list, figures) in lists.iter().zip(all) {
        let mut rows: BTreeMap<String, Vec<&Entry<'_>>> = BTreeMap::new();
        for entry in list {
            let names = entry.shape.fields.iter().zip(&places);
            let names = names.filter(|(_, place)| **place == Place::Name);
            let name: Vec<String> = names.map(|(field, _)| field.value.to_string()).collect();
            rows.entry(name.join(" ")).or_default().push(entry);
        }
        for (name, rows) in rows {
            for (at, _) in places
                .iter()
                .enumerate()
                .filter(|(_, p)| **p == Place::Measured)
            {
                let values: Vec<f64> = rows.iter().map(|row| row.shape.fields[at].value).collect();
                let field = &rows[0].shape.fields[at];
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                let metric = metric(rows[0], at, &name);
                let taken = |metric: &str| figures.iter().any(|f: &Figure| f.metric == metric);
                let metric = match taken(&metric) {
                    true => label(&format!("{} {name} {}", rows[0].shape.words, at + 1)),
                    false => metric,
                };
                let mut figure = Figure::new(metric, mean, field.unit);
                figure.step = (values.len() == 1).then_some(field.step);
                if !taken(&figure.metric) {
                    figures.push(figure);
                }
            }
        }
    }
}

/// What a number of a line is called.
fn metric(entry: &Entry<'_>, at: usize, name: &str) -> String {
    let fields = &entry.shape.fields;
    let head = fields[0].label;
    let own = own_name(&fields[at]);
    let above = entry.above.trim_end_matches(':').trim();
    let mut parts = vec![above];
    if at > 0 {
        parts.push(head);
    }
    parts.extend([own, name]);
    parts.retain(|part| !part.is_empty());
    label(&parts.join(" "))
}

fn own_name<'t>(field: &Field<'t>) -> &'t str {
    let candidates = [field.label, field.behind, metric_of(field.unit)];
    let joins = ["and", "or", "to", "of", "in", "with", "vs"];
    let named = |text: &&&str| text.chars().any(char::is_alphabetic) && !joins.contains(*text);
    candidates.iter().find(named).copied().unwrap_or("value")
}

/// Lines that follow each other, whose first words are names of configurations and whose
/// rest is the same but for the figures.
fn behind_names(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines[0].depth;
    let mut found: Vec<(usize, Shape<'_>)> = Vec::new();
    let mut at = 0;
    while found.len() < MOST {
        let next = (at..at + 3).find_map(|at| {
            let text = line_at(lines, at).filter(|_| lines[at].depth == depth)?;
            (!text.trim().is_empty()).then_some((at, text))
        });
        let Some((line, shape)) = next.and_then(|(at, text)| Some((at, shape::of(text)?))) else {
            break;
        };
        let name = shape.fields[0].label;
        let fits = (2..=LONGEST_NAME).contains(&name.len())
            && found
                .iter()
                .all(|(_, known)| known.rest() == shape.rest() && known.fields[0].label != name);
        if !fits || line > at && found.is_empty() {
            break;
        }
        found.push((line, shape));
        at = line + 1;
    }
    let names: Vec<&str> = found
        .iter()
        .map(|(_, shape)| shape.fields[0].label)
        .collect();
    let (_, first) = found.first()?;
    let rated = first.fields.iter().any(|field| is_measure(field.unit));
    // One number alone says too little.
    let several = first.fields.len() >= 2;
    let each = names.iter().all(|name| {
        let mut others = names.iter().filter(|other| *other != name);
        others.any(|other| differing(&[name, other]) > CONTRAST)
    });
    if names.len() < 2 || !rated || !several || !each || names.iter().any(|n| names_measurement(n))
    {
        return None;
    }
    let last = found.last().map_or(0, |(at, _)| *at);
    let mut block = Block {
        findings: Vec::new(),
        taken: vec!["blank" as Taken; last + 1],
    };
    for (at, shape) in &found {
        block.taken[*at] = "line that comes again";
        let mut figures: Vec<Figure> = Vec::new();
        for (index, field) in shape.fields.iter().enumerate() {
            let named = if index == 0 { "" } else { field.label };
            let spread = is_spread(named) || is_spread(field.behind);
            let counted = field.unit.is_empty() && field.value.fract() == 0.0;
            let name = own_name(&Field {
                label: named,
                ..*field
            });
            if spread || counted && named.is_empty() {
                continue;
            }
            // Figures of one thing in columns: a header says which.
            if figures.iter().any(|f| f.metric == name) {
                return None;
            }
            let mut figure = Figure::new(label(name), field.value, field.unit);
            figure.step = Some(field.step);
            figures.push(figure);
        }
        let labels = Labels {
            configuration: Some(label(shape.fields[0].label)),
            ..Labels::default()
        };
        block.find(*at, Finding::Run { labels, figures });
    }
    Some(block)
}

#[cfg(test)]
mod tests;
