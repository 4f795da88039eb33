//! What the numbers of lines that come again are, and what they are called.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::sections::Entry;
use super::shape::{Field, Shape, is_size};
use crate::grammar::Figure;
use crate::grammar::cells::label;
use crate::grammar::quantity::{is_measure, is_time, metric_of};
use crate::grammar::table::split_unit;
use crate::roles::monotone;
use crate::roles::words::{REPETITION_KEYS, is_derived, key_is, names_measurement, names_metric};

/// The figures of each section, the same names in each.
pub(super) struct Aligned {
    pub(super) figures: Vec<Vec<Figure>>,
    /// Whether nobody says which of the numbers of a line a figure is, or several lines
    /// became one.
    pub(super) unclear: bool,
}

/// The figures of lines that come again.
pub(super) fn aligned(sections: &[Vec<Entry<'_>>]) -> Aligned {
    let mut keys: Vec<String> = Vec::new();
    for entry in sections.iter().flatten() {
        let key = entry.key();
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let mut all = Aligned {
        figures: vec![Vec::new(); sections.len()],
        unclear: false,
    };
    let mut names = BTreeMap::new();
    for name in &keys {
        let lists: Vec<Vec<&Entry<'_>>> = sections
            .iter()
            .map(|list| list.iter().filter(|entry| entry.key() == *name).collect())
            .collect();
        if lists.iter().filter(|list| !list.is_empty()).count() < 2 {
            continue;
        }
        line_by_line(&lists, &mut all, &mut names);
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
    if let Some(columns) = columns(lists) {
        return match columns[at] {
            Some(name) if is_measured(name, lists, at) => Place::Measured,
            _ => Place::Setting,
        };
    }
    let field = &first[0].shape.fields[at];
    let own = values(first);
    let same = there().all(|list| values(list) == own);
    let counts = counts_runs(field.label) && there().all(|list| list.len() > 1);
    // What is the same in many lines is set.
    let one = same && own.len() >= 2 && own.iter().all(|value| *value == own[0]);
    if one || counts || same && at == 0 && is_duration_of_row(&first[0].shape) {
        return Place::Setting;
    }
    let nothing = same && own.iter().all(|value| *value == 0.0);
    let united = is_measure(unit_of(field).1) || field.unit.contains('/');
    let united = united && !nothing;
    let measure = united || field.step < 1.0;
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
    let steps = |list: &Vec<&Entry<'_>>| list.len() > 1 && monotone(values(list).into_iter());
    if at == 0 && !united && is_amount_of_row(field) && there().all(steps) {
        return Place::Name;
    }
    if same && !united && !(own.len() == 1 && measure && names_measurement(field.label)) {
        let apart = own.iter().any(|value| *value != own[0]);
        return if apart { Place::Name } else { Place::Setting };
    }
    // A bare whole number beside figures with units counts or sets something.
    let mut beside = first[0].shape.fields.iter();
    let mut beside = || beside.any(|other| is_measure(other.unit));
    let told = measure || !several && named(field.label) && !beside();
    // `2.3x faster` is computed from two figures.
    let told = told && field.unit != "x";
    if told && !is_spread(field.label) && !is_spread(field.behind) && !is_number_of(field.label) {
        Place::Measured
    } else {
        Place::Setting
    }
}

/// What the numbers of lines of one shape are called in a line above some of them.
fn columns<'e>(lists: &'e [Vec<&Entry<'_>>]) -> Option<&'e [Option<&'e str>]> {
    let named = |entry: &&&Entry<'_>| !entry.columns.is_empty();
    let first = lists.iter().flatten().find(named);
    first.map(|entry| entry.columns.as_slice())
}

/// Whether a column is one of figures, and not computed from others, nor how many they
/// are.
fn is_measured(name: &str, lists: &[Vec<&Entry<'_>>], at: usize) -> bool {
    let mut entries = lists.iter().flatten();
    let other = is_derived(name, &[], 0)
        || is_spread(name)
        || is_number_of(name)
        || key_is(name, REPETITION_KEYS)
        || ["count", "n", "runs"].contains(&name.to_ascii_lowercase().as_str());
    !other
        && (names_metric(name)
            || entries.any(|entry| {
                let field = &entry.shape.fields[at];
                field.step < 1.0 || is_measure(field.unit)
            }))
}

/// Whether each number is another.
fn parts_rows(values: &[f64]) -> bool {
    values
        .iter()
        .enumerate()
        .all(|(at, value)| !values[..at].contains(value))
}

/// Whether a label says how figures scatter.
pub(super) fn is_spread(label: &str) -> bool {
    let lower = label.to_ascii_lowercase();
    ["deviation", "stddev", "stdev", "variance", " mad"]
        .iter()
        .any(|word| lower.contains(word))
}

/// Whether a label is that of a process, a port or the like, or of what is set.
fn is_number_of(label: &str) -> bool {
    let last = label.rsplit(|c: char| !c.is_alphanumeric()).next();
    let last = last.unwrap_or_default().to_ascii_lowercase();
    matches!(
        last.as_str(),
        "pid"
            | "tid"
            | "port"
            | "thread"
            | "id"
            | "seed"
            | "line"
            | "version"
            | "iteration"
            | "period"
            | "duty"
            | "timeout"
            | "interval"
    )
}

/// Whether the first number of a row is how many there were, in lines that need not all
/// come again: `64 threads: 12 ms`.
fn is_amount_of_row(field: &Field<'_>) -> bool {
    field.label.is_empty() && field.value.fract() == 0.0
}

/// Whether the first number of a row is how long the others were measured: `10.0s  104 ops/s`.
fn is_duration_of_row(shape: &Shape<'_>) -> bool {
    let first = &shape.fields[0];
    first.label.is_empty() && is_time(first.unit) && shape.fields.len() > 1
}

/// Whether a label says that the number behind it counts how often the same was done.
fn counts_runs(label: &str) -> bool {
    let last = label.rsplit(' ').next();
    last.is_some_and(|word| word.len() >= 3 && key_is(word, REPETITION_KEYS))
}

/// Whether it is said of each measured number what it is: a colon parts it from its name, it
/// is the only number beside those that are names, or each has a unit and one word before it
/// that names it. Elsewhere names may be shifted: `305 rounds in 5.0 sec: 16400 usec`.
fn are_told(shape: &Shape<'_>, places: &[Place]) -> bool {
    let beside = places.iter().filter(|place| **place != Place::Name).count();
    let measured = || {
        let fields = shape.fields.iter().zip(places);
        fields.filter(|(_, place)| **place == Place::Measured)
    };
    let one_word = |(field, _): (&Field<'_>, &Place)| {
        is_measure(field.unit) && field.label.split_whitespace().count() == 1
    };
    // `Times: 3.09, 3.10, 3.07`: which of them it is, nobody says.
    let several = shape.fields.iter().zip(places).any(|(field, place)| {
        let words = [field.label, field.unit, field.behind];
        *place == Place::Setting && !words.concat().contains(char::is_alphabetic)
    });
    let ends = shape
        .fields
        .last()
        .is_some_and(|last| last.behind.is_empty());
    !several && measured().all(|(field, _)| field.named || beside == 1)
        || ends && measured().count() >= 2 && measured().skip(1).all(one_word)
}

/// Lines of one shape by the numbers that are names.
fn by_name<'l, 'e>(
    list: &[&'l Entry<'e>],
    places: &[Place],
) -> BTreeMap<String, Vec<&'l Entry<'e>>> {
    let mut rows: BTreeMap<String, Vec<&Entry<'_>>> = BTreeMap::new();
    for entry in list {
        let names = entry.shape.fields.iter().zip(places);
        let names = names.filter(|(_, place)| **place == Place::Name);
        let name: Vec<String> = names.map(|(field, _)| field.value.to_string()).collect();
        rows.entry(name.join(" ")).or_default().push(*entry);
    }
    rows
}

/// The figures of lines of one shape; `names` says of which lines each metric is.
fn line_by_line(
    lists: &[Vec<&Entry<'_>>],
    all: &mut Aligned,
    names: &mut BTreeMap<String, String>,
) {
    let Some(first) = lists.iter().flatten().next() else {
        return;
    };
    let places: Vec<Place> = (0..first.shape.fields.len())
        .map(|at| place(lists, at))
        .collect();
    all.unclear |= columns(lists).is_none() && !are_told(&first.shape, &places);
    for (list, figures) in lists.iter().zip(&mut all.figures) {
        for (name, rows) in by_name(list, &places) {
            all.unclear |= rows.len() > 1;
            for (at, _) in places
                .iter()
                .enumerate()
                .filter(|(_, p)| **p == Place::Measured)
            {
                let values: Vec<f64> = rows.iter().map(|row| row.shape.fields[at].value).collect();
                let field = &rows[0].shape.fields[at];
                if rows
                    .iter()
                    .any(|row| row.shape.fields[at].unit != field.unit)
                {
                    continue;
                }
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                let column = columns(lists)
                    .and_then(|columns| columns[at])
                    .map(split_unit);
                let metric = metric(rows[0], at, &name, &varying(rows[0], lists));
                let own = format!("{} {name} {at}", rows[0].key());
                let others = |metric: &str| names.get(metric).is_some_and(|of| *of != own);
                let (metric, unit) = match column {
                    Some((name, unit)) => (label(&of_row(rows[0], &name)), unit),
                    None => (metric, String::new()),
                };
                let metric = match others(&metric) {
                    true => label(&format!("{} {name} {}", rows[0].shape.words, at + 1)),
                    false => metric,
                };
                let unit = match unit_of(field).1 {
                    "" => unit.as_str(),
                    unit => unit,
                };
                let mut figure = Figure::new(metric, mean, unit);
                figure.step = (values.len() == 1).then_some(field.step);
                if !others(&figure.metric) {
                    names.insert(figure.metric.clone(), own);
                    figures.push(figure);
                }
            }
        }
    }
}

/// What a number is called whose column has a name.
fn of_row(entry: &Entry<'_>, column: &str) -> String {
    let above = entry.above.trim().trim_end_matches(':').trim();
    let mut parts = vec![above, entry.shape.fields[0].label, column];
    parts.retain(|part| !part.is_empty());
    parts.join(" ")
}

/// The words of a line that look like numbers and are not the same in each of the lines:
/// time stamps and the like.
fn varying<'e>(entry: &Entry<'e>, lists: &[Vec<&Entry<'e>>]) -> Vec<&'e str> {
    let has = |list: &&Vec<&Entry<'_>>, at: usize, word: &str| {
        let mut own = list.iter();
        own.any(|other| other.shape.odd.get(at) == Some(&word))
    };
    let everywhere = |(at, word): &(usize, &'e str)| {
        let mut there = lists.iter().filter(|list| !list.is_empty());
        there.all(|list| has(&list, *at, word))
    };
    let all = entry.shape.odd.iter().copied().enumerate();
    let all = all.filter(|word| entry.apart.is_empty() && !everywhere(word));
    all.map(|(_, word)| word).collect()
}

/// A label without words that other lines do not have.
fn said_everywhere<'t>(label: &'t str, varying: &[&str]) -> Cow<'t, str> {
    let own = |word: &str| varying.iter().any(|odd| word.contains(odd));
    if !label.split_whitespace().any(own) {
        return Cow::Borrowed(label);
    }
    let words: Vec<&str> = label.split_whitespace().filter(|word| !own(word)).collect();
    Cow::Owned(words.join(" "))
}

/// What a number of a line is called.
fn metric(entry: &Entry<'_>, at: usize, name: &str, varying: &[&str]) -> String {
    let fields = &entry.shape.fields;
    let head = unit_of(&fields[0]).0;
    // `7.860 user  2.427 sys`: the names stand behind the numbers.
    let before = at.checked_sub(1).map_or("", |before| fields[before].behind);
    let taken = head.is_empty() && !before.is_empty() && fields[at].label == before;
    let own = match taken {
        true if !fields[at].behind.is_empty() => fields[at].behind,
        true if !fields[at].unit.is_empty() => kind(&fields[at]),
        _ if fields.len() == 1 && head.is_empty() => behind(entry).unwrap_or(own_name(&fields[at])),
        _ => own_name(&fields[at]),
    };
    let above = entry.above.trim().trim_end_matches(':').trim();
    let head = said_everywhere(head, varying);
    let own = said_everywhere(own, varying);
    let mut parts = vec![above];
    if at > 0 {
        parts.push(&head);
    }
    parts.extend([own.as_ref(), name]);
    if !parts.iter().any(|part| part.contains(&entry.apart)) {
        parts.push(&entry.apart);
    }
    parts.retain(|part| !part.is_empty());
    match parts.is_empty() {
        true => label(&entry.shape.words),
        false => label(&closed(parts.join(" "))),
    }
}

/// A name with the parenthesis that was taken for the end of it: `reads (IOPS`.
fn closed(mut name: String) -> String {
    if name.matches('(').count() > name.matches(')').count() {
        name.push(')');
    }
    name
}

/// The label and the unit of a number, which may stand in the label: `p99 (in nanos): 4551`.
fn unit_of<'t>(field: &Field<'t>) -> (&'t str, &'t str) {
    const WORDS: &[(&str, &str)] = &[
        ("nanos", "ns"),
        ("nanoseconds", "ns"),
        ("micros", "us"),
        ("microseconds", "us"),
        ("millis", "ms"),
        ("milliseconds", "ms"),
        ("seconds", "s"),
    ];
    let parted = field
        .label
        .rsplit_once('(')
        .filter(|_| field.unit.is_empty());
    let Some((name, unit)) = parted else {
        return (field.label, field.unit);
    };
    let unit = unit.strip_prefix("in ").unwrap_or(unit);
    let word = WORDS.iter().find(|(word, _)| *word == unit);
    match word
        .map(|(_, unit)| *unit)
        .or(is_measure(unit).then_some(unit))
    {
        Some(unit) => (name.trim_end(), unit),
        None => (field.label, field.unit),
    }
}

/// All that stands behind the only number of a line: `20ms running transaction`.
fn behind<'e>(entry: &'e Entry<'_>) -> Option<&'e str> {
    let (_, rest) = entry.shape.words.split_once('#')?;
    let (_, words) = rest.split_once(' ')?;
    let named = words.starts_with(|c: char| c.is_ascii_alphabetic());
    named.then_some(words)
}

/// What a number is, as its unit says.
fn kind<'t>(field: &Field<'t>) -> &'t str {
    match field.unit {
        unit if is_size(unit) => "size",
        unit => metric_of(unit),
    }
}

pub(super) fn own_name<'t>(field: &Field<'t>) -> &'t str {
    let candidates = [unit_of(field).0, field.behind, kind(field)];
    let joins = ["and", "or", "to", "of", "in", "with", "vs"];
    let named = |text: &&&str| text.chars().any(char::is_alphabetic) && !joins.contains(*text);
    candidates.iter().find(named).copied().unwrap_or("value")
}
