//! The lines of the answer: for each metric and configuration, whether it is better or worse, on
//! which workloads, and by how much.

use assize_verdict::{Comparison, NoiseFloor, Verdict};

use super::BriefSheet;
use crate::contrasts::contradicted;
use crate::contrasts::{
    ConfigurationContrast, RateContrast, RowOutcome, by_event, by_metric, effect,
    effect_with_interval, events_lead, percent, rows_are_primary, size, size_with_interval,
};
use crate::printable;

/// At most this many claims get a line.
const CLAIMS: usize = 4;
/// With more claims than this, none is explained.
const EXPLAINED: usize = 2;

/// Maximum number of lines shown when no contrast is decided.
const UNDECIDED: usize = 8;

/// A heading and its contrasts; for each contrast, whether it is undecided, and its lines.
type AnswerPart = (String, Vec<(bool, Vec<String>)>);

/// A no-break space, which keeps a figure together with its label.
const NO_BREAK: char = '\u{a0}';

/// The lines that fit, and the numbers of contrasts left out.
#[derive(Default)]
pub(super) struct BriefAnswers {
    pub(super) shown: Vec<String>,
    pub(super) claims_left: usize,
    pub(super) contrasts_left: usize,
    /// The number of decided contrasts among `contrasts_left`.
    pub(super) decided_left: usize,
    /// The number of contrasts left out because they are undecided.
    pub(super) open: usize,
    /// The number of contrasts left out because both sides are equal in every run.
    pub(super) equal: usize,
}

impl BriefAnswers {
    /// Adds parts in at most `room` lines: in the longer form if it fits entirely, else as much of
    /// the shorter form as fits.
    fn fill(&mut self, [longer, shorter]: [Vec<AnswerPart>; 2], room: usize) {
        let lines = |(_, contrasts): &AnswerPart| {
            let lines = contrasts.iter().map(|(_, lines)| lines.len());
            1 + lines.sum::<usize>()
        };
        let fits = self.shown.len() + longer.iter().map(lines).sum::<usize>() <= room;
        for (head, contrasts) in if fits { longer } else { shorter } {
            let mut head = Some(head);
            for (is_open, contrast) in contrasts {
                let lines = head.iter().cloned().chain(contrast).collect::<Vec<_>>();
                if self.shown.len() + lines.len() > room {
                    self.contrasts_left += 1;
                    self.decided_left += usize::from(!is_open);
                    continue;
                }
                head = None;
                self.shown.extend(lines);
            }
        }
    }
}

/// Lists the contrasts in at most `room` lines.
pub(super) fn lines(sheet: &BriefSheet<'_>, mut room: usize) -> BriefAnswers {
    let mut answers = BriefAnswers::default();
    let words = sheet.words();
    let mut of_metrics = by_metric(sheet.document, words);
    let of_events = by_event(sheet.document, words);
    let all: usize = of_metrics.iter().map(|one| one.contrasts.len()).sum();
    let told = || of_metrics.iter().flat_map(|one| &one.contrasts);
    let open = told().filter(|one| one.is_open()).count();
    let equal = told().filter(|one| one.is_equal()).count();
    let rates = || of_events.iter().flat_map(|one| &one.contrasts);
    let rates_are_open = rates().all(|one| one.outcome == RowOutcome::Open);
    let of_all = all + rates().count();
    // If no metric is declared primary, undecided contrasts are not listed.
    if !rows_are_primary(sheet.document) && open + equal < all {
        for one in &mut of_metrics {
            one.contrasts
                .retain(|contrast| !contrast.is_open() && !contrast.is_equal());
        }
        (answers.open, answers.equal) = (open, equal);
    } else if open == all && rates_are_open && of_all > 1 {
        answers
            .shown
            .push(none_decided(sheet, rates().next().is_some()));
        room = room.min(UNDECIDED);
    }
    let parts = |apart: bool| {
        let metrics = of_metrics.iter().map(|one| {
            let lines = one.contrasts.iter();
            let lines = lines.map(|it| (it.is_open(), contrast_lines(it, sheet, apart)));
            (heading(sheet, one.metric), lines.collect())
        });
        let events = of_events.iter().map(|one| {
            let lines = one.contrasts.iter();
            let lines = lines.map(|it| (it.outcome == RowOutcome::Open, rate_lines(it, sheet)));
            (heading(sheet, one.event), lines.collect())
        });
        match events_lead(sheet.document) {
            true => events.chain(metrics).collect::<Vec<AnswerPart>>(),
            false => metrics.chain(events).collect(),
        }
    };
    answers.fill([true, false].map(parts), room);
    answers
        .shown
        .extend(noise(sheet, room - answers.shown.len().min(room)));
    answers.shown.splice(0..0, same(sheet));
    if answers.shown.is_empty() && answers.contrasts_left == 0 {
        answers.shown.extend(nothing_compared(sheet));
    }
    answers
}

/// The configurations that cannot differ from the baseline, in a sentence.
fn same(sheet: &BriefSheet<'_>) -> Vec<String> {
    let said = sheet.document.same_sentence();
    said.map_or_else(Vec::new, |said| sheet.wrapped(&said, "  "))
}

fn nothing_compared(sheet: &BriefSheet<'_>) -> Vec<String> {
    let nothing = match sheet.document.outcomes.is_empty() {
        true => "Nothing could be compared",
        false => "Nothing else could be compared",
    };
    let because = match sheet.document.statements.is_empty() {
        true => "no workload has figures of two named configurations",
        false => "the text does not say which of its figures to compare",
    };
    sheet.wrapped(&format!("{nothing}: {because}."), "  ")
}

/// Says that no contrast is decided; mentions the outcomes of runs if one of them is decided.
fn none_decided(sheet: &BriefSheet<'_>, has_events: bool) -> String {
    let mut ends = sheet.document.outcomes.iter();
    sheet.bold(match ends.any(|one| one.verdict == Verdict::Established) {
        true => "Apart from how runs ended, nothing is decided.",
        false if has_events => "Cannot tell on any metric or event.",
        false => "Cannot tell on any metric.",
    })
}

/// The outcomes of the first claims, with reasons if there are only a few.
pub(super) fn claims(sheet: &BriefSheet<'_>) -> BriefAnswers {
    let all = &sheet.document.claims;
    let mut answers = BriefAnswers {
        claims_left: all.len().saturating_sub(CLAIMS),
        ..BriefAnswers::default()
    };
    for claim in all.iter().take(CLAIMS) {
        let word = claim.outcome.word();
        let text = format!("{}: {}", word.to_uppercase(), claim.text);
        answers.shown.extend(sheet.wrapped(&text, "  "));
        if all.len() <= EXPLAINED {
            let why = sheet.wrapped(&format!("  {}", claim.because), "  ");
            answers.shown.extend(why);
        }
    }
    answers
}

/// The noise floor, for a document that compares only the baseline with itself.
fn noise(sheet: &BriefSheet<'_>, room: usize) -> Vec<String> {
    let document = sheet.document;
    if !document.comparisons.is_empty() || document.noise_floor.is_empty() || room < 2 {
        return Vec::new();
    }
    let mut lines = vec![sheet.bold("The same twice: any difference is noise")];
    let floor = &document.noise_floor;
    let several = floor.iter().any(|row| row.workload != floor[0].workload);
    for row in floor {
        let Some(answer) = noise_answer(row, document.margin) else {
            continue;
        };
        let title = sheet.words().title(&row.metric);
        let text = match several {
            true => format!("  {title} in {}: {answer}", row.workload),
            false => format!("  {title}: {answer}"),
        };
        let wrapped = sheet.wrapped(&text, "    ");
        if lines.len() + wrapped.len() > room {
            break;
        }
        lines.extend(wrapped);
    }
    lines
}

/// The comparison of a repeated baseline with the baseline, in the words used for any other
/// configuration; `None` without a ratio.
fn noise_answer(row: &NoiseFloor, margin: f64) -> Option<String> {
    let change = percent(row.ratio? - 1.0);
    let Some(ends) = row.ci.map(|ci| ci.map(|end| end - 1.0)) else {
        return Some(change);
    };
    let outcome = match row.verdict {
        Verdict::Equivalent => RowOutcome::Same,
        _ => RowOutcome::Open,
    };
    let [low, high] = ends.map(percent);
    Some(format!(
        "{}: {change}, {low} to {high}",
        outcome.words(margin)
    ))
}

/// `Busy time per job (less is better)`, followed by the metric's key if it fits.
fn heading(sheet: &BriefSheet<'_>, metric: &str) -> String {
    let heading = sheet.words().heading(metric);
    let heading = printable(&heading);
    let key = format!("  [{metric}]");
    let known = sheet.words().title(metric) != metric;
    let fits = heading.chars().count() + key.chars().count() <= sheet.width;
    match known && fits {
        true => sheet.bold(&heading) + &sheet.dressed(&printable(&key), "2"),
        false => sheet.bold(&heading),
    }
}

/// The lines for a configuration. `apart`: if the best and the worst workload do not fit on one
/// line with their intervals, each gets a separate line.
fn contrast_lines(
    contrast: &ConfigurationContrast<'_>,
    sheet: &BriefSheet<'_>,
    apart: bool,
) -> Vec<String> {
    let whole = best_and_worst_effects(contrast, sheet, true);
    let short = change_with_interval(contrast, sheet);
    let before = sheet.names + contrast.verdict().chars().count() + 6;
    let fits = |text: &String| before + text.chars().count() <= sheet.width;
    let without = best_and_worst_effects(contrast, sheet, false);
    if apart && whole != without && !fits(&whole) && !short.as_ref().is_some_and(fits) {
        return workloads_apart(contrast, sheet);
    }
    // Ordered from most to least detailed, for terminals too narrow for everything.
    let details = [
        whole,
        short.unwrap_or_else(|| without.clone()),
        without,
        brief_best_and_worst_effects(contrast, sheet, true),
        brief_best_and_worst_effects(contrast, sheet, false),
    ];
    let outcomes = contrast.rows.iter().map(|(_, came_out)| *came_out);
    name_and_verdict(
        contrast.name,
        &contrast.verdict(),
        &details,
        outcomes,
        sheet,
    )
}

fn rate_lines(contrast: &RateContrast<'_>, sheet: &BriefSheet<'_>) -> Vec<String> {
    let verdict = contrast.outcome.words(sheet.document.margin);
    let effect = contrast.effect();
    let details = match sheet.document.workloads.len() {
        1 => [effect.clone(), effect],
        _ => [format!("{} {effect}", printable(contrast.workload)), effect],
    };
    let outcomes = std::iter::once(contrast.outcome);
    name_and_verdict(contrast.name, &verdict, &details, outcomes, sheet)
}

/// The lines for a configuration: its name, its verdict, and the first of `details` that fits.
fn name_and_verdict(
    name: &str,
    verdict: &str,
    details: &[String],
    outcomes: impl Iterator<Item = RowOutcome>,
    sheet: &BriefSheet<'_>,
) -> Vec<String> {
    let name = printable(name).replace('\n', " ");
    let columns = sheet.names;
    let indent = " ".repeat(columns + 4);
    let wide = name.chars().count() > columns;
    let before = if wide {
        indent.clone()
    } else {
        format!("  {name:columns$}  ")
    };
    let mut lines = Vec::new();
    if wide {
        lines.push(format!("  {name}"));
    }
    let line = |detail: &String| {
        let colon = if detail.is_empty() { "" } else { ": " };
        format!("{before}{verdict}{colon}{detail}")
    };
    let fits = |line: &String| line.chars().count() <= sheet.width;
    match details.iter().map(line).find(fits) {
        Some(line) => {
            let line = line.replace(NO_BREAK, " ");
            lines.push(coloured(outcomes, sheet, &line, verdict));
        }
        None => {
            let text = format!("{before}{verdict}:");
            lines.push(coloured(outcomes, sheet, &text, verdict));
            let below = details.iter().map(|one| format!("{indent}{one}"));
            let below: Vec<String> = below.collect();
            let one = below.iter().find(|line| fits(line)).or(below.last());
            let wrapped = one.map(|line| sheet.wrapped(line, &indent));
            let wrapped = wrapped.unwrap_or_default();
            lines.extend(wrapped.iter().map(|line| line.replace(NO_BREAK, " ")));
        }
    }
    lines
}

/// Green if every outcome is better, red if every outcome is worse.
fn coloured(
    outcomes: impl Iterator<Item = RowOutcome>,
    sheet: &BriefSheet<'_>,
    line: &str,
    verdict: &str,
) -> String {
    let outcomes: Vec<RowOutcome> = outcomes.collect();
    let all = |outcome| outcomes.iter().all(|one| *one == outcome);
    let code = match outcomes.first() {
        Some(RowOutcome::Better) if all(RowOutcome::Better) => "32",
        Some(RowOutcome::Worse) if all(RowOutcome::Worse) => "31",
        _ => return line.to_owned(),
    };
    line.replacen(verdict, &sheet.dressed(verdict, code), 1)
}

/// The verdict on a configuration, and below it the best and the worst workload with intervals.
fn workloads_apart(contrast: &ConfigurationContrast<'_>, sheet: &BriefSheet<'_>) -> Vec<String> {
    let outcomes = contrast.rows.iter().map(|(_, came_out)| *came_out);
    let verdict = contrast.verdict();
    let mut lines = name_and_verdict(contrast.name, &verdict, &[], outcomes, sheet);
    let indent = " ".repeat(sheet.names + 4);
    for (row, came_out) in contrast.best_and_worst() {
        let whole = effect_with_interval(sheet.document, row, came_out);
        let size = size_with_interval(sheet.document, row, came_out);
        let line = |effect: String| format!("{indent}{}", of_workload(sheet, row, effect));
        let mut choices = [Some(whole.clone()), size].into_iter().flatten().map(line);
        let fits = choices.find(|line| line.chars().count() <= sheet.width);
        match fits {
            Some(line) => lines.push(line),
            None => lines.extend(sheet.wrapped(&line(whole), &format!("{indent}  "))),
        }
    }
    lines
}

/// The effects on the best and the worst decided workload, with absolute values.
fn best_and_worst_effects(
    contrast: &ConfigurationContrast<'_>,
    sheet: &BriefSheet<'_>,
    with_interval: bool,
) -> String {
    let rows = contrast.best_and_worst().into_iter();
    let detail = |(row, came_out)| {
        let effect = match with_interval {
            true => effect_with_interval(sheet.document, row, came_out),
            false => effect(sheet.document, row),
        };
        of_workload(sheet, row, effect)
    };
    rows.map(detail).collect::<Vec<_>>().join("; ")
}

/// For a single workload, the change and its interval, which say more than absolute values do.
/// `None` if the interval has no width as printed.
fn change_with_interval(
    contrast: &ConfigurationContrast<'_>,
    sheet: &BriefSheet<'_>,
) -> Option<String> {
    let [(row, came_out)] = contrast.rows[..] else {
        return None;
    };
    let text = size_with_interval(sheet.document, row, came_out)?;
    let is_narrow = text.matches(&size(row)).count() > 2;
    (!is_narrow).then(|| of_workload(sheet, row, text))
}

/// Like [`best_and_worst_effects`], but with absolute values for the first workload at most.
fn brief_best_and_worst_effects(
    contrast: &ConfigurationContrast<'_>,
    sheet: &BriefSheet<'_>,
    with_absolute: bool,
) -> String {
    let rows = contrast.best_and_worst().into_iter().enumerate();
    let extreme = |(at, (row, _)): (usize, (&Comparison, RowOutcome))| {
        let whole = with_absolute && at == 0 || contradicted(sheet.document, row);
        let effect = match whole {
            true => effect(sheet.document, row),
            false => size(row),
        };
        let text = of_workload(sheet, row, effect);
        match contrast.rows.len() {
            1 => text,
            _ => text.replace(' ', "\u{a0}"),
        }
    };
    rows.map(extreme).collect::<Vec<_>>().join(", ")
}

/// The effect, prefixed with the name of its workload if the document has several.
fn of_workload(sheet: &BriefSheet<'_>, row: &Comparison, effect: String) -> String {
    let effect = printable(&effect).into_owned();
    match sheet.document.workloads.len() {
        0 | 1 => effect,
        _ => format!("{} {effect}", printable(&row.workload)),
    }
}

/// Counts, in words, of what is not shown.
pub(super) fn count_omitted(answers: &BriefAnswers) -> Vec<String> {
    let mut parts = Vec::new();
    if answers.claims_left > 0 {
        parts.push(assize_verdict::count_of(answers.claims_left, "more claim"));
    }
    if answers.contrasts_left > 0 {
        parts.push(assize_verdict::count_of(
            answers.contrasts_left,
            "more answer",
        ));
    }
    if answers.open > 0 {
        parts.push(assize_verdict::count_of(answers.open, "undecided answer"));
    }
    if answers.equal > 0 {
        parts.push(assize_verdict::count_of(answers.equal, "answer") + " 'equal in every run'");
    }
    parts
}
