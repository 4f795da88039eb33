//! A trend as text of 72 columns, for a terminal or a mail.

use crate::WIDTH;
use crate::printable::printable;
use crate::series::{command, mark, plain};
use crate::trend::{Trend, TrendPoint, TrendSeries, TrendStep};
use crate::wrap::cut;

/// The maximum number of lines about changes; the rest are counted.
const MOST: usize = 60;

/// Returns where something changed, and by how much.
#[must_use]
pub fn trend_text(trend: &Trend) -> String {
    let mut lines = head(trend);
    let changes = changes(trend);
    let shown = if changes.len() > MOST { MOST - 1 } else { MOST };
    lines.extend(changes.iter().take(shown).cloned());
    if changes.len() > shown {
        let more = changes.len() - shown;
        lines.push(format!("... and {more} more lines: --format json has all"));
    }
    lines.push(summary(trend));
    lines.extend(left_out(trend));
    lines.push(String::new());
    lines.extend(tail(trend));
    let lines = lines.iter().map(|line| cut(&printable(line), WIDTH) + "\n");
    lines.collect()
}

fn head(trend: &Trend) -> Vec<String> {
    let n = trend.points.len();
    let mut lines = vec![
        format!("{}: {n} bundles by {}", trend.title, trend.order),
        format!("  {}", trend.question),
    ];
    lines.retain(|line| !line.trim().is_empty());
    if let [first, .., last] = &trend.points[..] {
        lines.push(format!("  from {}", named(first)));
        lines.push(format!("  to   {}", named(last)));
    }
    lines.push(String::new());
    lines
}

/// `2026-11-06 0123456789ab sched/fair: Raise the base slice`.
fn named(point: &TrendPoint) -> String {
    let parts = [
        point.date.as_deref(),
        Some(point.name()),
        point.subject.as_deref(),
    ];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    parts.join(" ")
}

fn changes(trend: &Trend) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, point) in trend.points.iter().enumerate() {
        let mut changes = trend.changes_at(at).peekable();
        if changes.peek().is_none() && point.ended.is_empty() {
            continue;
        }
        lines.push(named(point));
        if point.revision.is_some() {
            lines.push(format!("    {}", point.path));
        }
        // The previous bundle lacks the metric.
        let before = changes.peek().and_then(|(_, step)| step.before);
        if let Some(before) = before.filter(|before| before + 1 < at) {
            let before = trend.points.get(before).map_or("", TrendPoint::name);
            lines.push(format!("    compared with {before}"));
        }
        for said in &point.ended {
            let options = textwrap::Options::new(WIDTH)
                .initial_indent("    ")
                .subsequent_indent("        ");
            let wrapped = textwrap::wrap(said, options);
            lines.extend(wrapped.into_iter().map(|line| line.into_owned()));
        }
        for (series, step) in changes {
            lines.extend(change(series, step));
        }
        if !point.differs.is_empty() {
            lines.push(format!("    differs in {}", point.differs.join(", ")));
        }
        lines.push(String::new());
    }
    lines
}

/// The change, and below it its size.
fn change(series: &TrendSeries, step: &TrendStep) -> [String; 2] {
    let mark = step.verdict.map_or("", mark);
    [
        format!(
            "    {}: {} in {}",
            step.outcome, series.metric, series.workload
        ),
        format!("        {}{mark}", step.shown),
    ]
}

fn summary(trend: &Trend) -> String {
    let (changed, all) = (trend.changed(), trend.points.len().saturating_sub(1));
    let comparisons = trend.comparisons();
    match (changed, all - changed.min(all)) {
        (0, _) => format!("No change is found in {comparisons} comparisons."),
        (_, 0) => {
            format!("Every bundle differs from the one before it ({comparisons} comparisons).")
        }
        (_, rest) => {
            let others = match rest {
                1 => "the other bundle".to_owned(),
                _ => format!("the other {rest} bundles"),
            };
            format!("No change is found at {others} ({comparisons} comparisons).")
        }
    }
}

fn left_out(trend: &Trend) -> Vec<String> {
    let lines = trend.left_out.iter().flat_map(|one| {
        [
            format!("left out: {}", one.path),
            format!("    {}", one.why),
        ]
    });
    lines.collect()
}

fn tail(trend: &Trend) -> Vec<String> {
    let level = plain(100.0 * (1.0 - trend.alpha));
    let margin = plain(100.0 * trend.margin);
    let mut lines = vec![
        "** established, * supported; each bundle is compared with the one".into(),
        format!("before it. All statements hold together at {level} %; differences"),
        format!("within {margin} % are no change."),
    ];
    if let caps @ [_, ..] = &trend.caps()[..] {
        lines.push(format!(
            "At most supported, because of lints: {}",
            caps.join(", ")
        ));
    }
    lines.extend(command(&trend.reproduce));
    lines
}
