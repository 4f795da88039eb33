//! The other tables of the text report.

use assize_verdict::{Document, Effect, Factorial, NoiseFloor, Rate, RateTest, Verdict};

use unicode_width::UnicodeWidthStr;

use super::grid::{CellWeight, TextCell, TextGrid};
use crate::contrasts::{distinct, verdict_mark};
use crate::number::{interval, narrow, p, ratio, signed, significant};
use crate::style::Style;
use crate::wrap::push_wrapped;

/// The maximum width to which metric names are padded.
const MOST_GAP: usize = 40;

/// Prints the noise floor, the effects found where nothing differs: a table for each workload and
/// repeated baseline. Unless all are requested, workloads with the same numbers of runs are
/// summarised by ranges of ratios.
pub(super) fn noise_floor(document: &Document, wants_all: bool, out: &mut String) {
    let all = &document.noise_floor[..];
    let sides = |row: &NoiseFloor| {
        let names = (row.configuration.clone(), row.baseline.clone());
        (names, row.n, row.n_baseline)
    };
    let several = all.iter().any(|row| row.workload != all[0].workload);
    let alike = all
        .iter()
        .all(|row| sides(row) == sides(&all[0]) && row.ratio.is_some());
    if several && alike && !wants_all {
        return noise_table(all, "noise floor of all workloads", range_of_ratios, out);
    }
    let of = |row: &NoiseFloor| (row.workload.clone(), row.configuration.clone());
    for rows in all.chunk_by(|a, b| of(a) == of(b)) {
        let title = format!("{}: noise floor", rows[0].workload);
        noise_table(rows, &title, |rows| noise(rows[0]), out);
    }
}

/// `0.919..1.124 on 4 workloads`.
fn range_of_ratios(rows: &[&NoiseFloor]) -> String {
    let ratios = || rows.iter().filter_map(|row| row.ratio);
    let [low, high] = [
        ratios().fold(f64::INFINITY, f64::min),
        ratios().fold(0.0, f64::max),
    ];
    let workloads = assize_verdict::count_of(rows.len(), "workload");
    format!("{} on {workloads}", interval([low, high], ratio))
}

/// A line for each metric, with a text for its rows.
fn noise_table(
    rows: &[NoiseFloor],
    title: &str,
    show: impl Fn(&[&NoiseFloor]) -> String,
    out: &mut String,
) {
    let Some(first) = rows.first() else { return };
    let count = |n: Option<u32>| n.map_or("?".to_string(), |n| n.to_string());
    let title = format!(
        "{title}, {} to {} (n = {} against {})",
        first.configuration,
        first.baseline,
        count(first.n),
        count(first.n_baseline)
    );
    push_wrapped(out, "", "  ", &title);
    let metrics = distinct(rows.iter().map(|row| row.metric.as_str()));
    let widest = metrics.iter().map(|name| name.width()).max().unwrap_or(0);
    for metric in metrics {
        let of_metric: Vec<&NoiseFloor> = rows.iter().filter(|row| row.metric == metric).collect();
        let gap = " ".repeat(widest.min(MOST_GAP).saturating_sub(metric.width()));
        let line = format!("{metric}{gap}  {}", show(&of_metric));
        push_wrapped(out, "  ", "      ", &line);
    }
    out.push('\n');
}

fn noise(row: &NoiseFloor) -> String {
    match (row.ratio, row.difference) {
        (Some(value), _) => {
            let ci = row.ci.map_or("-".to_string(), |ci| interval(ci, ratio));
            format!("{}  {ci}", narrow(value, ratio))
        }
        (None, Some(value)) => {
            let ci = row.ci.map(|ci| interval(ci, |v| significant(v, 2)));
            let ci = ci.unwrap_or("-".to_string());
            format!("d {}  {ci}", narrow(value, signed))
        }
        (None, None) => "-".to_string(),
    }
}

/// The terminal style of a verdict.
pub(super) fn weight(verdict: Verdict) -> CellWeight {
    match verdict {
        Verdict::Established | Verdict::Supported => CellWeight::Bold,
        Verdict::Equivalent => CellWeight::Plain,
        Verdict::Undecided => CellWeight::Dim,
    }
}

/// Prints one table per workload: metrics by effects.
pub(super) fn factorial(document: &Document, style: Style, out: &mut String) {
    for workload in &document.workloads {
        let fits: Vec<&Factorial> = document
            .factorial
            .iter()
            .filter(|fit| fit.workload == *workload)
            .collect();
        let Some(first) = fits.first() else { continue };
        let title = format!(
            "{workload}: effect of {} over the full grid (n = {})",
            first.factors.join(", "),
            first.n
        );
        push_wrapped(out, "", "  ", &title);
        let heads: Vec<String> = first
            .effects
            .iter()
            .map(|effect| effect.name.clone())
            .collect();
        let mut grid = TextGrid {
            heads,
            column: 16,
            ..TextGrid::default()
        };
        for fit in &fits {
            grid.rows.push((
                fit.metric.clone(),
                fit.effects.iter().map(effect_cell).collect(),
            ));
        }
        grid.draw(style, out);
        out.push('\n');
    }
    if !document.factorial.is_empty() {
        let text = "Factors: ratio on/off, averaged over the other factor; a:b is the ratio of the \
                    two ratios, 1 where the factors do not depend on each other. The interval is \
                    not corrected; ** established, * supported, ? undecided are corrected for all \
                    that is tested.";
        push_wrapped(out, "", "", text);
        out.push('\n');
    }
}

fn effect_cell(effect: &Effect) -> TextCell {
    let mut lines = vec![format!(
        "{} {}",
        narrow(effect.ratio, ratio),
        verdict_mark(effect.verdict)
    )];
    if let Some([low, high]) = effect.ci {
        lines.push(interval([low, high], ratio));
    }
    TextCell {
        lines,
        weight: weight(effect.verdict),
    }
}

/// Prints events, their rates and the exact tests.
pub(super) fn rates(document: &Document, out: &mut String) {
    let mut events: Vec<(&str, &str)> = Vec::new();
    for rate in &document.rates {
        let key = (rate.workload.as_str(), rate.event.as_str());
        if !events.contains(&key) {
            events.push(key);
        }
    }
    for (workload, event) in events {
        let title = if workload == event {
            format!("{event} events")
        } else {
            format!("{workload}: {event} events")
        };
        push_wrapped(out, "", "  ", &title);
        for rate in document
            .rates
            .iter()
            .filter(|r| r.workload == workload && r.event == event)
        {
            push_wrapped(out, "  ", "    ", &rate_line(rate));
        }
        for row in document
            .rate_comparisons
            .iter()
            .filter(|r| r.workload == workload && r.event == event)
        {
            let times = row
                .ratio
                .map(|r| format!("ratio {}, ", ratio(r)))
                .unwrap_or_default();
            let test = row
                .p
                .map(|v| format!("p = {}{}", p(v), rate_units(row.test)))
                .unwrap_or_else(|| "not tested".into());
            let note = row
                .note
                .as_deref()
                .map(|n| format!("; {n}"))
                .unwrap_or_default();
            let text = format!(
                "{} against {}: {times}{test}, {}{note}",
                row.configuration,
                row.baseline,
                row.verdict.word()
            );
            push_wrapped(out, "  ", "    ", &text);
        }
        out.push('\n');
    }
}

/// The units over which the p value of two rates was computed.
fn rate_units(test: Option<RateTest>) -> &'static str {
    match test {
        Some(RateTest::Runs) => " over the runs",
        Some(RateTest::Windows) => " over windows of time",
        Some(RateTest::Poisson) => " if events are independent",
        None => "",
    }
}

fn seconds(value: f64) -> String {
    if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        significant(value, 4)
    }
}

fn rate_line(rate: &Rate) -> String {
    let exposure = rate
        .exposure_s
        .map(|s| format!(" in {} s", seconds(s)))
        .unwrap_or_default();
    let mut text = format!("{}: {}{exposure}", rate.configuration, rate.count);
    if let (Some(value), Some([low, high])) = (rate.rate_per_s, rate.ci) {
        let scale = if high >= 1.0 {
            (1.0, "s")
        } else if high * 60.0 >= 10.0 {
            (60.0, "min")
        } else {
            (3600.0, "h")
        };
        let show = |v: f64| significant(v * scale.0, 3);
        text.push_str(&format!(
            ", {} per {} [{}, {}]",
            show(value),
            scale.1,
            show(low),
            show(high)
        ));
    }
    if let Some(note) = &rate.note {
        text.push_str(&format!("; {note}"));
    }
    text
}

/// Prints figures that were read but not judged.
pub(super) fn statements(document: &Document, out: &mut String) {
    if document.statements.is_empty() {
        return;
    }
    out.push_str("Figures that are read, not judged\n");
    for statement in &document.statements {
        let mut text = String::new();
        for part in [&statement.workload, &statement.configuration]
            .into_iter()
            .flatten()
        {
            text.push_str(&format!("{part}, "));
        }
        let unit = if statement.unit == "%" {
            " %".to_string()
        } else {
            format!(" {}", statement.unit)
        };
        text.push_str(&format!(
            "{}: {}{}",
            statement.metric,
            statement.value,
            unit.trim_end()
        ));
        if let Some(base) = &statement.normalised_to {
            text.push_str(&format!(" of {base}"));
        }
        push_wrapped(
            out,
            "  ",
            "    ",
            &format!("{text} (line {})", statement.place.line),
        );
    }
    out.push('\n');
}
