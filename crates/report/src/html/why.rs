//! The result of `assize why` as a page: tables and a differential flame graph.

use std::collections::BTreeMap;

use assize_why::difference::DifferenceRow;
use assize_why::stored::StoredFlame;
use assize_why::{Flame, Why};
use serde::Serialize;
use serde_json::{Value, json};

use super::{HtmlError, block, environment, render};
use crate::why::{account, count, interval, metric, questions, seeds, sentence, signed};

/// The style sheets, in the order in which they apply.
const STYLE: [&str; 5] = [
    include_str!("style/page.css"),
    include_str!("style/plots.css"),
    include_str!("style/print.css"),
    FLAME_STYLE,
    include_str!("style/why.css"),
];
/// The script: several files joined into one closure.
const SCRIPT: [&str; 5] = [
    include_str!("script/unpack.js"),
    include_str!("script/svg.js"),
    FLAME_SCRIPT[0],
    FLAME_SCRIPT[1],
    include_str!("script/why.js"),
];
/// The style of flame graphs, on this page and in a report.
pub(super) const FLAME_STYLE: &str = include_str!("style/flame.css");
pub(super) const FLAME_SCRIPT: [&str; 2] = [
    include_str!("script/flame.js"),
    include_str!("script/flame-keys.js"),
];
/// Number of functions in print; the style sheet has the same number.
const PRINTED: usize = 40;
/// Half the width of a cell in per cent: the maximum length of a bar.
const HALF: f64 = 50.0;

/// A row as shown.
#[derive(Debug, Serialize)]
pub(super) struct FunctionLine<'a> {
    name: &'a str,
    of: &'a str,
    together: bool,
    a: f64,
    b: f64,
    difference: f64,
    shown_a: String,
    shown_b: String,
    shown_difference: String,
    interval: String,
    established: bool,
    tone: &'static str,
    /// The start and the length of the difference bar, in per cent.
    bar: Option<[f64; 2]>,
}

/// Returns the result as a page that makes no network requests. `command` is the command
/// that was run. The same input gives the same bytes.
///
/// # Errors
/// [`HtmlError`], never because of the counts.
pub fn why(why: &Why, flame: &Flame, command: &str) -> Result<String, HtmlError> {
    let style = STYLE.concat();
    let script = format!("(() => {{\n'use strict';\n{}}})();\n", SCRIPT.concat());
    let data = block::deflate_json(&pack_result(why, flame)).map_err(HtmlError::Data)?;
    let together = DifferenceRow {
        name: "together".into(),
        ..why.total.clone()
    };
    let view = minijinja::context! {
        data => minijinja::Value::from_safe_string(data),
        title => format!("{} against {} on {}", why.a, why.b, why.workload),
        a => why.a,
        b => why.b,
        per => why.per,
        workload => why.workload,
        answer => sentence(why),
        account => account(why),
        metric => metric(why),
        seeds => seeds(why),
        several => why.p_attainable.is_some(),
        questions => questions(why),
        threads => lines(&why.threads, &together),
        subsystems => lines(&why.subsystems, &together),
        functions => lines(&why.functions, &together),
        printed => PRINTED,
        stacks => flame.stacks,
        least => crate::significant(100.0 * flame.least, 2),
        equal_jobs => equal_jobs(why, flame),
        command => command,
    };
    Ok(render(
        &environment()?,
        "why.html",
        [&style, &script],
        view,
    )?)
}

/// Whether the frames agree with the tables. They do if every seed completed the same number of
/// jobs: a mean over seeds then equals the total per job.
fn equal_jobs(why: &Why, flame: &Flame) -> bool {
    let all = flame.whole.all.into_iter().zip(flame.jobs);
    all.zip([why.total.a, why.total.b])
        .all(|((all, jobs), mean)| {
            let here = whole_number(all) / jobs;
            (here - mean).abs() <= 1e-9 * mean.abs()
        })
}

#[allow(clippy::cast_precision_loss)] // Counts stay far below 2^53.
fn whole_number(count: u64) -> f64 {
    count as f64
}

/// The rows of a table and their total.
pub(super) fn lines<'a>(
    rows: &'a [DifferenceRow],
    together: &'a DifferenceRow,
) -> Vec<FunctionLine<'a>> {
    let largest = rows.iter().map(|row| row.difference.abs());
    let largest = largest.fold(0.0, f64::max);
    let line = |row: &'a DifferenceRow, together: bool| {
        let length = HALF * row.difference.abs() / largest;
        let begin = if row.difference < 0.0 {
            HALF - length
        } else {
            HALF
        };
        let round = |value: f64| (value * 100.0).round() / 100.0;
        FunctionLine {
            name: &row.name,
            of: row.of.as_deref().unwrap_or_default(),
            together,
            a: row.a,
            b: row.b,
            difference: row.difference,
            shown_a: count(row.a),
            shown_b: count(row.b),
            shown_difference: signed(row.difference),
            interval: interval(row),
            established: row.established == Some(true),
            tone: match row.difference.total_cmp(&0.0) {
                std::cmp::Ordering::Less => "fewer",
                std::cmp::Ordering::Greater => "more",
                std::cmp::Ordering::Equal => "same",
            },
            bar: (!together && row.difference != 0.0).then(|| [begin, length].map(round)),
        }
    };
    let rows = rows.iter().map(|row| line(row, false));
    rows.chain([line(together, true)]).collect()
}

/// The input of the script.
pub(super) fn pack_result(why: &Why, flame: &Flame) -> Value {
    let stored = StoredFlame::from(flame.clone());
    let subsystems: BTreeMap<&str, &str> = why
        .functions
        .iter()
        .filter_map(|row| Some((row.name.as_str(), row.of.as_deref()?)))
        .collect();
    let of = |name: &String| subsystems.get(name.as_str()).copied().unwrap_or_default();
    let subsystems: Vec<&str> = stored.names.iter().map(of).collect();
    let mut value = json!(stored);
    if let Some(fields) = value.as_object_mut() {
        fields.extend([
            ("a".to_owned(), json!(why.a)),
            ("b".to_owned(), json!(why.b)),
            ("per".to_owned(), json!(why.per)),
            ("subsystems".to_owned(), json!(subsystems)),
        ]);
    }
    value
}

#[cfg(test)]
#[path = "why_tests.rs"]
mod tests;
