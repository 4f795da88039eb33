//! Lines that say the same behind the names of configurations.

use super::figures::{is_spread, own_name};
use super::shape::{self, Field, Shape};
use super::{CONTRAST, MOST};
use crate::Line;
use crate::grammar::cells::{label, line_at};
use crate::grammar::number::numbers;
use crate::grammar::quantity::is_measure;
use crate::grammar::{Block, Figure, Finding, Labels, Taken};
use crate::roles::differing;
use crate::roles::words::names_measurement;

/// Names of configurations in a line of figures are not longer.
const LONGEST_NAME: usize = 48;

/// Lines that follow each other, whose first words are names of configurations and whose
/// rest is the same but for the figures.
pub(super) fn read(lines: &[Line<'_>]) -> Option<Block> {
    let found = alike(lines);
    let (last, first) = found.last().zip(found.first())?;
    let names: Vec<String> = found.iter().map(|(_, shape)| name(shape).0).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if !is_rated(&first.1) || !are_configurations(&names) {
        return None;
    }
    let mut block = Block {
        findings: Vec::new(),
        taken: vec!["blank" as Taken; last.0 + 1],
    };
    // A whole number that is the same behind each name is set.
    let set = |at: usize| {
        let field = &first.1.fields[at];
        let mut others = found.iter().map(|(_, shape)| shape.fields[at].value);
        let counted = field.unit.is_empty() && field.value.fract() == 0.0;
        counted && others.all(|value| value == field.value)
    };
    for ((at, shape), name) in found.iter().zip(&names) {
        block.taken[*at] = "line that comes again";
        let figures = figures(shape, &set)?;
        let labels = Labels {
            configuration: Some(label(name)),
            ..Labels::default()
        };
        block.find(*at, Finding::Run { labels, figures });
    }
    Some(block)
}

/// Whether a line has two numbers, one of them with the unit of something measured, or of
/// one thing per another.
fn is_rated(shape: &Shape<'_>) -> bool {
    let fields = &shape.fields;
    let rated = |field: &Field<'_>| is_measure(field.unit) || field.unit.contains('/');
    fields.len() >= 2 && fields.iter().any(rated)
}

/// The words before the first number: a name, and behind a colon what the number is.
fn name<'t>(shape: &Shape<'t>) -> (String, &'t str) {
    let words = shape.fields[0].label;
    let (name, number) = words.split_once(": ").unwrap_or((words, ""));
    let open = name.contains('(') && !name.contains(')');
    let name = name.to_string();
    (if open { name + ")" } else { name }, number.trim())
}

/// The first line and those below it that say the same behind other names.
fn alike<'t>(lines: &'t [Line<'_>]) -> Vec<(usize, Shape<'t>)> {
    let depth = lines[0].depth;
    // The first line at or below one that is not blank.
    let next = |at: usize| {
        (at..at + 3).find_map(|at| {
            let text = line_at(lines, at).filter(|_| lines[at].depth == depth)?;
            (!text.trim().is_empty()).then_some((at, text))
        })
    };
    // Numbers are what the shape of a line is made of.
    if numbers(&lines[0].text) < 2 || next(1).is_none_or(|(_, below)| numbers(below) < 2) {
        return Vec::new();
    }
    let mut found: Vec<(usize, Shape<'_>)> = Vec::new();
    let mut at = 0;
    while found.len() < MOST {
        if found.first().is_some_and(|(_, shape)| !is_rated(shape)) {
            break;
        }
        let Some((line, shape)) = next(at).and_then(|(at, text)| Some((at, shape::of(text)?)))
        else {
            break;
        };
        let (own, number) = name(&shape);
        let fits = (2..=LONGEST_NAME).contains(&own.len())
            && found.iter().all(|(_, known)| {
                let (other, same) = name(known);
                known.rest() == shape.rest() && other != own && same == number
            });
        if !fits || line > at && found.is_empty() {
            break;
        }
        found.push((line, shape));
        at = line + 1;
    }
    found
}

/// Whether names, at least two, differ as those of configurations do, and none is that of
/// something measured.
pub(in crate::grammar) fn are_configurations(names: &[&str]) -> bool {
    let each = names.iter().all(|name| {
        let mut others = names.iter().filter(|other| *other != name);
        others.any(|other| differing(&[name, other]) > CONTRAST)
    });
    names.len() >= 2 && each && !names.iter().any(|name| names_measurement(name))
}

/// The figures of a line; `None` if two of them have one name.
fn figures(shape: &Shape<'_>, set: &dyn Fn(usize) -> bool) -> Option<Vec<Figure>> {
    let mut figures: Vec<Figure> = Vec::new();
    for (index, field) in shape.fields.iter().enumerate() {
        let named = match index {
            0 => name(shape).1,
            _ => field.label,
        };
        let spread = is_spread(named) || is_spread(field.behind);
        let counted = field.unit.is_empty() && field.value.fract() == 0.0;
        let metric = label(own_name(&Field {
            label: named,
            ..*field
        }));
        // `2.3x faster` is computed from two figures.
        if spread || counted && named.is_empty() || field.unit == "x" || set(index) {
            continue;
        }
        // Figures of one thing in columns: a header says which.
        if figures.iter().any(|f| f.metric == metric) {
            return None;
        }
        let mut figure = Figure::new(metric, field.value, field.unit);
        figure.step = Some(field.step);
        figures.push(figure);
    }
    Some(figures)
}
