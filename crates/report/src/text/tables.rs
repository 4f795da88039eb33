//! The tables of the text report.

use assize_verdict::{
    Comparison, Document, Effect, Factorial, NoiseFloor, Rate, RateTest, Scale, Verdict,
};

use unicode_width::UnicodeWidthStr;

use super::DIFFERENCE;
use super::grid::{CellWeight, TextCell, TextGrid};
use crate::contrasts::{
    RowOutcome, contradicted, describe_run_counts, distinct, distinct_metrics, fixed_outcome,
    fixed_values, verdict_mark,
};
use crate::number::{interval, narrow, p, ratio, short, signed, significant};
use crate::style::Style;
use crate::wrap::push_wrapped;

/// Prints one table per workload: metrics by configurations.
pub(super) fn comparisons(document: &Document, style: Style, out: &mut String) {
    let all: Vec<&Comparison> = document.comparisons.iter().collect();
    // If all tables have the same numbers of runs, only the first gives them.
    let of_all = runs_line(&all);
    let tables = tables_of(document);
    for (at, (workload, baseline)) in tables.iter().enumerate() {
        let rows = all.iter().copied();
        let rows: Vec<&Comparison> = rows
            .filter(|c| c.workload == *workload && c.baseline == *baseline)
            .collect();
        let runs = match (of_all.is_empty(), at) {
            (true, _) => runs_line(&rows),
            (false, 0) if tables.len() > 1 => of_all.replace(')', " in every table)"),
            (false, 0) => of_all.clone(),
            (false, _) => String::new(),
        };
        let title = format!("{workload}: ratio to {baseline}{runs}");
        push_wrapped(out, "", "  ", &title);
        let grid = comparison_grid(document, &rows, of_all.is_empty() && runs.is_empty());
        grid.draw(style, out);
        out.push('\n');
    }
    if !tables.is_empty() {
        legend(document, out);
    }
}

/// The maximum width to which metric names are padded.
const MOST_GAP: usize = 40;

/// Prints the noise floor, the effects found where nothing differs: a table for each workload and
/// repeated baseline. Unless all are wanted, the ratios of all workloads are put together if their
/// numbers of runs are the same.
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
    let workloads = crate::brief::count_of(rows.len(), "workload");
    format!("{} on {workloads}", interval([low, high], ratio))
}

/// A line for each metric, with what is shown of its rows.
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

fn tables_of(document: &Document) -> Vec<(String, String)> {
    let mut tables: Vec<(String, String)> = Vec::new();
    for row in &document.comparisons {
        let key = (row.workload.clone(), row.baseline.clone());
        if !tables.contains(&key) {
            tables.push(key);
        }
    }
    tables
}

/// ` (n = 3 against 3)`, if all rows of the table have the same numbers.
fn runs_line(rows: &[&Comparison]) -> String {
    let counts = describe_run_counts(rows.iter().copied(), "");
    counts.map_or(String::new(), |counts| format!(" (n = {counts})"))
}

fn comparison_grid(document: &Document, rows: &[&Comparison], show_n: bool) -> TextGrid {
    let names: Vec<&str> = document
        .configurations
        .iter()
        .map(|c| c.name.as_str())
        .filter(|name| rows.iter().any(|row| row.configuration == *name))
        .collect();
    let metrics = distinct_metrics(rows);
    let mut grid = TextGrid {
        heads: names.iter().map(|n| n.to_string()).collect(),
        column: 13,
        rows: Vec::new(),
    };
    for metric in metrics {
        let cells = names
            .iter()
            .map(|name| {
                let row = rows
                    .iter()
                    .find(|row| row.metric == metric && row.configuration == **name);
                row.map(|row| comparison_cell(document, row, show_n))
                    .unwrap_or_default()
            })
            .collect();
        grid.rows.push((metric.to_string(), cells));
    }
    grid
}

fn comparison_cell(document: &Document, row: &Comparison, show_n: bool) -> TextCell {
    if contradicted(document, row) {
        return TextCell {
            lines: vec!["disagree !".to_string()],
            weight: CellWeight::Bold,
        };
    }
    let fixed = fixed_outcome(document, row);
    let value = match (row.ratio, row.difference) {
        (Some(value), _) => narrow(value, ratio),
        (None, Some(difference)) => format!("d {}", narrow(difference, signed)),
        (None, None) => "-".to_string(),
    };
    let mut lines = match fixed {
        Some(RowOutcome::Equal) => vec!["equal".to_string()],
        Some(_) => vec![value],
        None => vec![format!("{value} {}", verdict_mark(row.verdict))],
    };
    match row.ci {
        _ if fixed == Some(RowOutcome::Equal) => {}
        _ if fixed_values(document, row).is_some() => lines.push("in every run".to_string()),
        Some(ends) if row.scale == Scale::Raw => lines.push(interval(ends, |v| significant(v, 2))),
        Some(ends) => lines.push(interval(ends, ratio)),
        None => {}
    }
    if show_n {
        let count = |n: Option<u32>| n.map_or("?".to_string(), |n| n.to_string());
        lines.push(format!("n {}:{}", count(row.n), count(row.n_baseline)));
    }
    if let Some(step) = row.resolution.filter(|_| hides_equality(document, row)) {
        lines.push(format!("steps {}", short(step)));
    }
    TextCell {
        lines,
        weight: weight(row.verdict),
    }
}

/// Whether the resolution of the values keeps a row from being equivalent.
fn hides_equality(document: &Document, row: &Comparison) -> bool {
    let undecided = row.verdict == Verdict::Undecided && fixed_outcome(document, row).is_none();
    row.too_coarse && undecided && row.ratio.is_some() && row.ci.is_some()
}

/// The terminal style of a verdict.
pub(super) fn weight(verdict: Verdict) -> CellWeight {
    match verdict {
        Verdict::Established | Verdict::Supported => CellWeight::Bold,
        Verdict::Equivalent => CellWeight::Plain,
        Verdict::Undecided => CellWeight::Dim,
    }
}

fn legend(document: &Document, out: &mut String) {
    let (alpha, level) = (short(document.alpha), short(document.level * 100.0));
    let margin = document.margin * 100.0;
    let raw = document
        .comparisons
        .iter()
        .any(|row| row.scale == Scale::Raw && row.difference.is_some());
    let mut text = format!(
        "Below each ratio is its own {level} % interval, not corrected. ** established (permutation test, corrected for all that is tested, p <= {alpha}); * supported \
         (only the t test, with the same correction: too few runs, only their means, or a lint forbids more); = equivalent within {margin} %; ? undecided."
    );
    text.push_str(&tail(document).unwrap_or_default());
    let contradicted = |row: &Comparison| contradicted(document, row);
    if document.comparisons.iter().any(contradicted) {
        let several = document.across.plural();
        text.push_str(&format!(
            " disagree !: {several} show opposite effects, so no figure speaks for all."
        ));
    }
    let mut rows = document.comparisons.iter();
    if rows.any(|row| fixed_values(document, row).is_some()) {
        text.push_str(
            " equal, in every run: no run of a side differs from another; without a mark, nothing is tested.",
        );
    }
    let hides_equality = |row: &Comparison| hides_equality(document, row);
    if document.comparisons.iter().any(hides_equality) {
        text.push_str(" steps: values come in steps of that, beyond the margin, so that nothing shows them equal.");
    }
    if raw {
        text.push_str(DIFFERENCE);
    }
    push_wrapped(out, "", "", &text);
    out.push('\n');
}

/// The share of slow runs that the smallest sample called equivalent could have missed.
fn tail(document: &Document) -> Option<String> {
    let equal = document.comparisons.iter();
    let fewest = equal
        .filter(|row| row.verdict == Verdict::Equivalent)
        .filter_map(|row| row.n.min(row.n_baseline))
        .min()?;
    let missed = 1.0 - document.alpha.powf(1.0 / f64::from(fewest));
    Some(format!(
        " Equal is the mean: of {fewest} runs without a slow one, up to {:.0} % of all may be slow.",
        100.0 * missed
    ))
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
            rows: Vec::new(),
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
        let text = "Factors: ratio on/off, averaged over the other factor; a:b is the ratio of the two ratios, 1 where the \
                    factors do not depend on each other. The interval is its own; ** established, * supported, ? undecided are \
                    corrected for all that is tested.";
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
