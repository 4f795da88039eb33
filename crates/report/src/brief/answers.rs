//! For each metric and configuration one line: better or worse, where, by how much.

use std::cmp::Ordering;

use assize_verdict::{Better, Comparison, Document, Verdict};

use super::figures::{Outcome, change, effect, gain, outcome, percent};
use super::{Sheet, counts};
use crate::printable;

/// How many claims have a line.
const CLAIMS: usize = 4;

/// What could be shown, and what could not.
#[derive(Default)]
pub(super) struct Answers {
    pub(super) shown: Vec<String>,
    pub(super) claims_left: usize,
    pub(super) contrasts_left: usize,
}

/// The claims and the contrasts, in at most so many lines.
pub(super) fn lines(sheet: &Sheet<'_>, room: usize) -> Answers {
    let mut answers = Answers::default();
    claims(sheet, &mut answers);
    for (metric, contrasts) in by_metric(sheet) {
        let mut head = Some(heading(sheet, metric, &contrasts));
        for contrast in &contrasts {
            let mut lines: Vec<String> = head.iter().cloned().collect();
            lines.extend(contrast.lines(sheet));
            if answers.shown.len() + lines.len() > room {
                answers.contrasts_left += 1;
                continue;
            }
            head = None;
            answers.shown.extend(lines);
        }
    }
    answers
        .shown
        .extend(noise(sheet, room - answers.shown.len().min(room)));
    if answers.shown.is_empty() && answers.contrasts_left == 0 {
        let why = "Nothing could be compared: fewer than two configurations have figures.";
        answers.shown.push(why.to_owned());
    }
    answers
}

fn claims(sheet: &Sheet<'_>, answers: &mut Answers) {
    let all = &sheet.document.claims;
    for claim in all.iter().take(CLAIMS) {
        let word = claim.outcome.word();
        let text = format!("{}: {}", word.to_uppercase(), claim.text);
        answers.shown.extend(sheet.wrapped(&text, "  "));
    }
    answers.claims_left = all.len().saturating_sub(CLAIMS);
}

/// Of a document that compares nothing but the baseline with itself, the noise.
fn noise(sheet: &Sheet<'_>, room: usize) -> Vec<String> {
    let document = sheet.document;
    if !document.comparisons.is_empty() || document.noise_floor.is_empty() || room < 2 {
        return Vec::new();
    }
    let mut lines = vec![sheet.bold("The same twice: what differs is noise")];
    let rows = document.noise_floor.iter().filter_map(|row| {
        let change = percent(row.ratio? - 1.0);
        let ends = row.ci.map_or(String::new(), |[low, high]| {
            format!(", {} to {}", percent(low - 1.0), percent(high - 1.0))
        });
        let title = sheet.title(&row.metric);
        Some(format!("{title} in {}: {change}{ends}", row.workload))
    });
    lines.extend(
        rows.map(|row| format!("  {}", printable(&row)))
            .take(room - 1),
    );
    lines
}

/// One configuration against its baseline on one metric, in all workloads.
struct Contrast<'a> {
    name: &'a str,
    rows: Vec<(&'a Comparison, Outcome)>,
    better: Option<Better>,
    margin: f64,
}

/// The contrasts of each metric that leads: the primary ones; without these, those with
/// something to say. The most striking contrast of a metric is first.
fn by_metric<'a>(sheet: &'a Sheet<'_>) -> Vec<(&'a str, Vec<Contrast<'a>>)> {
    let rows = leading(sheet.document);
    let mut metrics: Vec<(&str, Vec<Contrast<'_>>)> = Vec::new();
    for row in rows {
        let better = sheet.better(&row.metric);
        let came_out = outcome(row, better, sheet.document.margin);
        let at = metrics.iter().position(|(metric, _)| *metric == row.metric);
        let at = at.unwrap_or_else(|| {
            metrics.push((&row.metric, Vec::new()));
            metrics.len() - 1
        });
        let Some((_, contrasts)) = metrics.get_mut(at) else {
            continue;
        };
        match contrasts
            .iter_mut()
            .find(|one| one.name == row.configuration)
        {
            Some(contrast) => contrast.rows.push((row, came_out)),
            None => contrasts.push(Contrast {
                name: &row.configuration,
                rows: vec![(row, came_out)],
                better,
                margin: sheet.document.margin,
            }),
        }
    }
    for (_, contrasts) in &mut metrics {
        contrasts.sort_by(|a, b| b.weight().total_cmp(&a.weight()));
    }
    if !rows_are_primary(sheet.document) {
        metrics.sort_by(|(_, a), (_, b)| first(b).total_cmp(&first(a)));
    }
    metrics
}

fn first(contrasts: &[Contrast<'_>]) -> f64 {
    contrasts.first().map_or(0.0, Contrast::weight)
}

fn rows_are_primary(document: &Document) -> bool {
    document.comparisons.iter().any(|row| row.primary)
}

/// The rows that the answer is made of.
pub(super) fn leading(document: &Document) -> Vec<&Comparison> {
    let primary = rows_are_primary(document);
    let leads = |row: &&Comparison| row.primary == primary;
    document.comparisons.iter().filter(leads).collect()
}

/// `busy time per job (less is better)`.
fn heading(sheet: &Sheet<'_>, metric: &str, contrasts: &[Contrast<'_>]) -> String {
    let mut text = sheet.title(metric).to_owned();
    if let Some(first) = text.get(..1).map(str::to_uppercase) {
        text.replace_range(..1, &first);
    }
    match contrasts.first().and_then(|one| one.better) {
        Some(Better::Lower) => text.push_str(" (less is better)"),
        Some(Better::Higher) => text.push_str(" (more is better)"),
        None => {}
    }
    sheet.bold(&printable(&text))
}

impl Contrast<'_> {
    /// How much there is to say: what is established before what is not.
    fn weight(&self) -> f64 {
        let of = |(row, came_out): &(&Comparison, Outcome)| {
            let size = gain(row, None).abs();
            match came_out {
                Outcome::Better | Outcome::Worse | Outcome::Less | Outcome::More => 100.0 + size,
                Outcome::LikelyBetter
                | Outcome::LikelyWorse
                | Outcome::LikelyLess
                | Outcome::LikelyMore => 10.0 + size,
                Outcome::Same => 1.0,
                Outcome::Open => 0.0,
            }
        };
        self.rows.iter().map(of).fold(0.0, f64::max)
    }

    fn lines(&self, sheet: &Sheet<'_>) -> Vec<String> {
        let name = printable(self.name).replace('\n', " ");
        let verdict = self.verdict();
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
        // What is least needed goes first where the terminal is narrow.
        let details = [self.details(true), self.details(false), self.extremes()];
        let line = |detail: &String| {
            let colon = if detail.is_empty() { "" } else { ": " };
            format!("{before}{verdict}{colon}{detail}")
        };
        let fits = |line: &String| line.chars().count() <= sheet.width;
        let fitting = details.iter().map(line).find(fits);
        match fitting {
            Some(line) => lines.push(self.coloured(sheet, &line, &verdict)),
            None => lines.extend(sheet.wrapped(&line(&details[2]), &indent)),
        }
        lines
    }

    fn coloured(&self, sheet: &Sheet<'_>, line: &str, verdict: &str) -> String {
        let code = match self.rows.first().map(|(_, came_out)| came_out) {
            Some(Outcome::Better) if self.all(Outcome::Better) => "32",
            Some(Outcome::Worse) if self.all(Outcome::Worse) => "31",
            _ => return line.to_owned(),
        };
        line.replacen(verdict, &sheet.dressed(verdict, code), 1)
    }

    fn all(&self, outcome: Outcome) -> bool {
        self.rows.iter().all(|(_, came_out)| *came_out == outcome)
    }

    /// `better`, or `better in 3, worse in 1, cannot tell in 2 of 6 workloads`.
    fn verdict(&self) -> String {
        const ALL: [Outcome; 10] = [
            Outcome::Better,
            Outcome::Worse,
            Outcome::Less,
            Outcome::More,
            Outcome::LikelyBetter,
            Outcome::LikelyWorse,
            Outcome::LikelyLess,
            Outcome::LikelyMore,
            Outcome::Same,
            Outcome::Open,
        ];
        let counted = ALL.iter().filter_map(|outcome| {
            let n = self.rows.iter().filter(|(_, one)| one == outcome).count();
            (n > 0).then(|| (self.word(*outcome), n))
        });
        let counted: Vec<(String, usize)> = counted.collect();
        match &counted[..] {
            [(word, 1)] => word.clone(),
            [(word, 2)] => format!("{word} in both workloads"),
            [(word, n)] => format!("{word} in all {n} workloads"),
            several => {
                let parts: Vec<String> = several
                    .iter()
                    .map(|(word, n)| format!("{word} in {n}"))
                    .collect();
                format!("{} of {} workloads", parts.join(", "), self.rows.len())
            }
        }
    }

    fn word(&self, outcome: Outcome) -> String {
        match outcome {
            Outcome::Better => "better".to_owned(),
            Outcome::Worse => "worse".to_owned(),
            Outcome::Less => "less".to_owned(),
            Outcome::More => "more".to_owned(),
            Outcome::LikelyBetter => "likely better".to_owned(),
            Outcome::LikelyWorse => "likely worse".to_owned(),
            Outcome::LikelyLess => "likely less".to_owned(),
            Outcome::LikelyMore => "likely more".to_owned(),
            Outcome::Same => format!("no difference larger than {}", margin(self.margin)),
            Outcome::Open => "cannot tell".to_owned(),
        }
    }

    /// The best and the worst workload of those that are decided, with absolute values.
    fn details(&self, with_interval: bool) -> String {
        let rows = self.best_and_worst();
        let detail = |row: &&Comparison| {
            let effect = effect(row, with_interval);
            match self.rows.len() {
                1 => effect,
                _ => format!("{} {effect}", printable(&row.workload)),
            }
        };
        let details: Vec<String> = rows.iter().map(detail).collect();
        details.join("; ")
    }

    /// The same without absolute values.
    fn extremes(&self) -> String {
        let shown = self.best_and_worst().into_iter().filter_map(|row| {
            let change = percent(change(row)?);
            Some(match self.rows.len() {
                1 => change,
                _ => format!("{} {change}", printable(&row.workload)),
            })
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    fn best_and_worst(&self) -> Vec<&Comparison> {
        let by_gain = |a: &&Comparison, b: &&Comparison| -> Ordering {
            gain(b, self.better).total_cmp(&gain(a, self.better))
        };
        let decided = self
            .rows
            .iter()
            .any(|(_, came_out)| *came_out != Outcome::Open);
        let shown = |came_out: &Outcome| !decided || *came_out != Outcome::Open;
        let rows = self.rows.iter().filter(|(_, came_out)| shown(came_out));
        let mut rows: Vec<&Comparison> = rows.map(|(row, _)| *row).collect();
        rows.sort_by(by_gain);
        match rows[..] {
            [first, .., last] => vec![first, last],
            _ => rows,
        }
    }
}

/// A margin in per cent.
pub(super) fn margin(margin: f64) -> String {
    percent(margin)
        .trim_start_matches('+')
        .replace(".0 %", " %")
}

/// How many rows have another verdict than undecided.
pub(super) fn decided(rows: &[&Comparison]) -> usize {
    let is = |row: &&&Comparison| row.verdict != Verdict::Undecided;
    rows.iter().filter(is).count()
}

/// Counts in words, of what is not shown.
pub(super) fn left(answers: &Answers) -> Vec<String> {
    let mut parts = Vec::new();
    if answers.claims_left > 0 {
        parts.push(counts::of(answers.claims_left, "more claim"));
    }
    if answers.contrasts_left > 0 {
        parts.push(counts::of(answers.contrasts_left, "more contrast"));
    }
    parts
}
