//! Trade-offs: both metrics of each configuration, and its standing.

use assize_verdict::{
    Document, Relation, Standing, Tradeoff, TradeoffAxis, TradeoffPoint, TradeoffValue,
};
use unicode_width::UnicodeWidthStr;

use super::DIFFERENCE;
use super::declared::{COLUMN, effect_interval, has_difference, marked_effect, value_and_unit};
use super::grid::{CellWeight, TextCell, TextGrid};
use super::tables::weight;
use crate::number::short;
use crate::readable::Readable;
use crate::style::Style;
use crate::wrap::push_wrapped;

/// At most this many names are listed; the rest are counted.
const NAMED: usize = 3;

/// Prints each trade-off, and how to read it.
pub(super) fn tradeoffs(document: &Document, style: Style, out: &mut String) {
    for tradeoff in &document.tradeoffs {
        push_wrapped(out, "", "  ", &title(tradeoff));
        if !tradeoff.points.is_empty() {
            grid(tradeoff).draw(style, out);
        }
        let notes = tradeoff.points.iter().filter_map(note);
        for note in tradeoff.because.iter().cloned().chain(notes) {
            push_wrapped(out, "  ", "    ", &note);
        }
        out.push('\n');
    }
    legend(document, out);
}

fn title(tradeoff: &Tradeoff) -> String {
    let axis = |axis: &TradeoffAxis| {
        let better = axis.better.word();
        format!("{} in {} ({better} is better)", axis.metric, axis.workload)
    };
    let runs = match runs_of_all(tradeoff) {
        Some(n) => format!(", n = {n}"),
        None => String::new(),
    };
    format!(
        "Trade-off ({}{runs}): {} against {}",
        tradeoff.origin.words(),
        axis(&tradeoff.x),
        axis(&tradeoff.y)
    )
}

/// The number of runs behind every mean, if it is the same for all.
fn runs_of_all(tradeoff: &Tradeoff) -> Option<u32> {
    let values = || {
        tradeoff
            .points
            .iter()
            .flat_map(|point| [&point.x, &point.y])
    };
    let first = values().next()?.n?;
    values()
        .all(|value| value.n == Some(first))
        .then_some(first)
}

fn grid(tradeoff: &Tradeoff) -> TextGrid {
    let axes = [&tradeoff.x, &tradeoff.y];
    let heads = axes.map(|axis| match tradeoff.x.metric == tradeoff.y.metric {
        true => axis.workload.clone(),
        false => axis.metric.clone(),
    });
    let [x, y] = Readable::for_tradeoff(tradeoff);
    let mut grid = TextGrid {
        heads: heads.into_iter().chain([String::new()]).collect(),
        column: COLUMN,
        ..TextGrid::default()
    };
    let show_n = runs_of_all(tradeoff).is_none();
    for point in &tradeoff.points {
        let cells = vec![
            value(&point.x, &x, show_n),
            value(&point.y, &y, show_n),
            standing(point),
        ];
        grid.rows.push((point.configuration.clone(), cells));
    }
    grid
}

/// The mean, and below it the ratio to the baseline with its interval.
fn value(value: &TradeoffValue, readable: &Readable, show_n: bool) -> TextCell {
    let Some(mean) = value.mean else {
        return TextCell::missing();
    };
    let mut lines = vec![value_and_unit(readable.value(mean), &readable.unit)];
    if let Some(relation) = &value.relative {
        lines.push(marked_effect(relation));
        lines.extend(effect_interval(relation));
    }
    if let Some(n) = value.n.filter(|_| show_n) {
        lines.push(format!("n {n}"));
    }
    let verdict = value
        .relative
        .as_ref()
        .and_then(|relation| relation.verdict);
    TextCell {
        lines,
        weight: verdict.map_or(CellWeight::Plain, weight),
    }
}

/// `front`, `dominated by NAME` or `undecided`.
fn standing(point: &TradeoffPoint) -> TextCell {
    let weak = if point.supported { " *" } else { "" };
    let mut lines = vec![format!("{}{weak}", point.standing.word())];
    // A name that is too long appears only below the table.
    let first = point.dominated_by.first();
    let by = first.map(|one| format!("by {}", one.configuration));
    let is_short = by.as_ref().is_some_and(|by| by.width() < COLUMN);
    lines.extend(by.filter(|_| is_short));
    let others = point.dominated_by.len().saturating_sub(1);
    if others > 0 && is_short {
        lines.push(format!("and {others} more"));
    }
    TextCell {
        lines,
        weight: match point.standing {
            Standing::Front => CellWeight::Bold,
            Standing::Dominated => CellWeight::Plain,
            Standing::Undecided => CellWeight::Dim,
        },
    }
}

/// The reason for a point's standing, if the table does not show it.
fn note(point: &TradeoffPoint) -> Option<String> {
    let mut said: Vec<String> = Vec::new();
    said.extend(point.because.clone());
    if !point.dominated_by.is_empty() {
        let of = |relation: &Option<Relation>| {
            relation
                .as_ref()
                .map_or("the same".to_owned(), marked_effect)
        };
        let by = point
            .dominated_by
            .iter()
            .map(|one| format!("{} ({}, {})", one.configuration, of(&one.x), of(&one.y)));
        said.push(format!("dominated by {}", named(by)));
    }
    if point.standing == Standing::Undecided && !point.not_told_from.is_empty() {
        said.push(format!(
            "cannot be distinguished from {}",
            named(point.not_told_from.iter().cloned())
        ));
    }
    if !point.equivalent_to.is_empty() {
        said.push(format!(
            "equivalent to {}",
            named(point.equivalent_to.iter().cloned())
        ));
    }
    (!said.is_empty()).then(|| format!("{}: {}", point.configuration, said.join("; ")))
}

fn named(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(NAMED);
    let shown: Vec<String> = names.take(NAMED).collect();
    match more {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn legend(document: &Document, out: &mut String) {
    let Some(first) = document.tradeoffs.first() else {
        return;
    };
    let level = short(first.level * 100.0);
    let margin = document.margin * 100.0;
    let mut text = format!(
        "Means as in comparisons (geometric where all values are positive), and below each the \
         ratio to the baseline with its {level} % interval, marked as above. front: every other \
         configuration is shown not to dominate this one. dominated: the configuration named is \
         shown to be better in one metric, and better or equivalent within {margin} % in the \
         other; its ratios to this one are in brackets. undecided: neither. All pairs are \
         corrected together with everything else that is tested."
    );
    let points = || document.tradeoffs.iter().flat_map(|one| &one.points);
    if points().any(|point| point.supported) {
        text.push_str(" *: by a verdict that is only supported.");
    }
    let differs = |value: &TradeoffValue| has_difference(&value.relative);
    if points().any(|point| differs(&point.x) || differs(&point.y)) {
        text.push_str(DIFFERENCE);
    }
    push_wrapped(out, "", "", &text);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use assize_verdict::Document;
    use serde_json::{Value, json};

    use crate::brief::Brief;
    use crate::style::Style;
    use crate::text::text;

    fn relation(ratio: f64, verdict: &str) -> Value {
        json!({
            "n_baseline": 8, "n": 8, "ratio": ratio, "ci": [ratio * 0.99, ratio * 1.01],
            "p_t": 0.01, "t_test": "paired", "p": 0.01, "difference": null,
            "verdict": verdict, "because": null,
        })
    }

    fn value(mean: f64, relative: &Value) -> Value {
        json!({"n": 8, "mean": mean, "relative": relative})
    }

    fn axis(metric: &str, workload: &str, unit: &str) -> Value {
        json!({
            "workload": workload, "metric": metric, "unit": unit, "better": "lower",
            "baseline": "none",
        })
    }

    fn point(name: &str, values: [Value; 2], standing: &str, more: &Value) -> Value {
        let none: [u8; 0] = [];
        let [x, y] = values;
        let mut point = json!({
            "configuration": name, "x": x, "y": y, "standing": standing, "supported": false,
            "dominated_by": none, "not_told_from": none, "equivalent_to": none, "because": null,
        });
        for (key, value) in more.as_object().unwrap() {
            point[key] = value.clone();
        }
        point
    }

    #[test]
    fn a_tradeoff_is_shown_with_both_metrics_and_the_standing_of_each() {
        let none: [u8; 0] = [];
        let null = Value::Null;
        let (better, worse) = (
            relation(0.842, "established"),
            relation(2.204, "established"),
        );
        let by = json!({"configuration": "pack-burst", "supported": true,
            "x": relation(0.45, "supported"), "y": relation(0.998, "equivalent")});
        let points = json!([
            point(
                "none",
                [value(25_700_000.0, &null), value(259.0, &null)],
                "front",
                &json!({})
            ),
            point(
                "spread",
                [
                    value(25_750_000.0, &relation(1.002, "undecided")),
                    value(255.0, &relation(0.985, "undecided"))
                ],
                "undecided",
                &json!({"not_told_from": ["none"]})
            ),
            point(
                "pack-burst",
                [
                    value(26_000_000.0, &relation(1.011, "supported")),
                    value(218.0, &better)
                ],
                "front",
                &json!({"supported": true})
            ),
            point(
                "pack-full",
                [value(56_700_000.0, &worse), value(218.3, &better)],
                "dominated",
                &json!({"dominated_by": [by.clone(), by.clone(), by.clone(), by], "supported": true})
            ),
        ]);
        let document: Document = serde_json::from_value(json!({
            "schema": "assize.verdict/1", "source": "bundle", "baseline": "none",
            "alpha": 0.05, "margin": 0.01, "configurations": none, "workloads": none,
            "runs": none, "summaries": none, "statements": none, "comparisons": none,
            "tradeoffs": [{"origin": "declared", "x": axis("render_time_mean", "browser-audio", "ns"),
                "y": axis("modelled_energy", "audio", "mJ"), "level": 0.95, "points": points,
                "because": null}],
            "factorial": none, "rates": none, "rate_comparisons": none,
            "claims": none, "lints": none, "sentences": none, "reproduce": "",
        }))
        .unwrap();
        let out = text(&document, &Brief::default(), Style::default());
        // Skips the line about what was read and the answer, which is empty here.
        let shown = out.splitn(3, "\n\n").nth(2).unwrap();
        assert!(
            shown
                .lines()
                .all(|line| line.chars().count() <= crate::WIDTH)
        );
        let (table, legend) = shown.split_once("\n\n").unwrap();
        assert_eq!(table, WANTED);
        let words: Vec<&str> = legend.split_whitespace().collect();
        assert!(
            words.ends_with(&[
                "*:",
                "by",
                "a",
                "verdict",
                "that",
                "is",
                "only",
                "supported."
            ]),
            "{legend}"
        );
    }

    const WANTED: &str = "\
Trade-off (declared, n = 8): render_time_mean in browser-audio (lower is
  better) against modelled_energy in audio (lower is better)
            render_time_   modelled_
            mean           energy
none        25.70 ms       259.0 mJ       front
spread      25.75 ms       255.0 mJ       undecided
            1.002 ?        0.985 ?
            0.992..1.012   0.975..0.995
pack-burst  26.00 ms       218.0 mJ       front *
            1.011 *        0.842 **
            1.001..1.021   0.834..0.850
pack-full   56.70 ms       218.3 mJ       dominated *
            2.204 **       0.842 **       by pack-burst
            2.182..2.226   0.834..0.850   and 3 more
  spread: cannot be distinguished from none
  pack-full: dominated by pack-burst (0.450 *, 0.998 =), pack-burst
    (0.450 *, 0.998 =), pack-burst (0.450 *, 0.998 =) and 1 more";
}
