//! Compares every configuration with its baseline.

use std::collections::{BTreeMap, BTreeSet};

use assize_judge::{equivalence, permutation};

use crate::across_rows::{agreement_sentence, machine_rows, pooled_row};
use crate::baselines::Baselines;
use crate::caps::{Cap, Caps};
use crate::cells::Cells;
use crate::compare::{CellComparison, ends};
use crate::document::{Comparison, Lint, MachineComparison, Pooled, Scale, Verdict};
use crate::enough::{runs_needed, runs_to_attain};
use crate::family::{Hypotheses, HypothesisResult, HypothesisResults};
use crate::identities::are_same;
use crate::options::Options;
use crate::row::{ComparisonRow, ConfigurationPair};
use crate::words::{count_of, p_value};

/// A design: runs of the baseline, runs of the configuration, memory images if those are the
/// replicates, and runs of each side per block.
type ReplicateCounts = (u32, u32, Option<u32>, Option<u32>);

/// All comparisons, with the rows per machine and pooled.
pub(crate) struct ComparisonResults {
    pub(crate) comparisons: Vec<Comparison>,
    pub(crate) machines: Vec<MachineComparison>,
    pub(crate) pooled: Vec<Pooled>,
    /// Lints for designs in which no test can reach alpha.
    pub(crate) lints: Vec<Lint>,
}

impl ComparisonResults {
    /// Sorts all rows by their places.
    pub(crate) fn sorted<K: Ord>(mut self, place: impl Fn(&str, &str) -> K) -> Self {
        let key = |workload: &String, metric: &String| place(workload, metric);
        self.comparisons
            .sort_by_key(|c| key(&c.workload, &c.metric));
        self.machines.sort_by_key(|c| key(&c.workload, &c.metric));
        self.pooled.sort_by_key(|c| key(&c.workload, &c.metric));
        self
    }
}

/// Registers, for every configuration, the hypothesis that it differs from its baseline.
pub(crate) fn ask_all(
    cells: &Cells<'_>,
    baselines: &Baselines,
    primary: &BTreeSet<usize>,
    caps: &Caps<'_>,
    options: &Options,
    hypotheses: &mut Hypotheses,
) -> Vec<ComparisonRow> {
    let asked = baselines.compared(cells).into_iter();
    asked
        .filter(|(key, baseline)| !are_same(cells, *baseline, key.configuration, key.workload))
        .filter_map(|(key, baseline)| {
            let pair = ConfigurationPair {
                key,
                baseline,
                primary: primary.contains(&key.metric),
                bound: 1.0,
            };
            ComparisonRow::ask(cells, pair, caps, options, hypotheses)
        })
        .collect()
}

/// Decides every row.
pub(crate) fn settle(rows: &mut [ComparisonRow], answers: &HypothesisResults, options: &Options) {
    for row in rows {
        row.settle(answers, options);
        row.runs_needed = runs_needed(row, options);
    }
}

/// All rows in the form of the document.
pub(crate) fn written_all(
    cells: &Cells<'_>,
    rows: &[ComparisonRow],
    options: &Options,
) -> ComparisonResults {
    let mut compared = ComparisonResults {
        comparisons: Vec::new(),
        machines: Vec::new(),
        pooled: Vec::new(),
        lints: too_few(cells, rows, options.alpha),
    };
    for row in rows {
        let document_row = comparison_row(cells, row, options);
        if let Some(across) = &row.comparison.across {
            compared
                .machines
                .extend(machine_rows(across, &document_row));
            let pooled = pooled_row(across, &row.comparison, &document_row);
            compared.pooled.push(pooled);
        }
        compared.comparisons.push(document_row);
    }
    compared
}

/// Lints for designs whose smallest attainable p is above alpha, one per design.
fn too_few(cells: &Cells<'_>, rows: &[ComparisonRow], alpha: f64) -> Vec<Lint> {
    let mut designs: BTreeMap<ReplicateCounts, (f64, Vec<&str>)> = BTreeMap::new();
    for row in rows {
        let comparison = &row.comparison;
        let (Some(a), Some(b), Some(p)) = (comparison.n_a, comparison.n_b, comparison.p_attainable)
        else {
            continue;
        };
        if p > alpha {
            let design = designs
                .entry((a, b, comparison.images, comparison.per_block))
                .or_insert((p, Vec::new()));
            let workload = cells.workloads[row.key.workload].as_str();
            if !design.1.contains(&workload) {
                design.1.push(workload);
            }
        }
    }
    designs
        .into_iter()
        .map(|((a, b, images, per_block), (p, workloads))| Lint {
            code: "n-too-small".into(),
            location: workloads.join(", "),
            detail: format!(
                "{}{}: the smallest attainable p is {}{}",
                against(a, b),
                images.map_or(String::new(), |images| format!(
                    " on {}",
                    count_of(images as usize, "memory image")
                )),
                p_value(p),
                enough(images, per_block, alpha).map_or(String::new(), |text| format!("; {text}"))
            ),
            ..Lint::default()
        })
        .collect()
}

/// `3 against 3 runs`.
pub(crate) fn against(a: u32, b: u32) -> String {
    format!("{a} against {}", count_of(b as usize, "run"))
}

/// How many replicates would suffice, and the p that they could reach without blocks.
fn enough(images: Option<u32>, per_block: Option<u32>, alpha: f64) -> Option<String> {
    let n = runs_to_attain(per_block, alpha)?;
    if images.is_some() {
        return Some(format!("{} would do", count_of(n as usize, "memory image")));
    }
    if per_block.is_some() {
        return Some(format!("{} would do", against(n, n)));
    }
    let p = permutation::attainable(n as usize, n as usize);
    Some(format!("{n} against {n} would reach {}", p_value(p)))
}

fn comparison_row(cells: &Cells<'_>, row: &ComparisonRow, options: &Options) -> Comparison {
    let metric = &cells.metrics[row.key.metric];
    let comparison = &row.comparison;
    let across = comparison.across.as_ref();
    let capped = capped_by(row, options);
    let mut because: Vec<String> = Vec::new();
    because.extend(across.map(|across| agreement_sentence(across, options.alpha)));
    because.extend(comparison.because.iter().cloned());
    let by_spread = comparison.scale == Scale::Summary && comparison.estimate.is_some();
    if by_spread && row.verdict == Verdict::Supported {
        because.push("only means and their spread are given: no permutation test".into());
    }
    because.extend(row.lost.words());
    if row.verdict == Verdict::Undecided && comparison.ci90.is_some() {
        because.extend(comparison.coarseness(options));
        because.extend(row.tails.clone().filter(|_| within(comparison, options)));
    }
    because.extend(capped.map(|cap| match cap.verdict {
        Verdict::Established => format!(
            "the t test finds no difference, and the lint {} makes the permutation test invalid",
            cap.lint
        ),
        _ => cap.sentence(),
    }));
    Comparison {
        workload: cells.workloads[row.key.workload].clone(),
        metric: metric.name.clone(),
        unit: metric.unit.clone(),
        baseline: cells.configurations[row.baseline].clone(),
        configuration: cells.configurations[row.key.configuration].clone(),
        n_baseline: comparison.n_a,
        n: comparison.n_b,
        images: comparison.images,
        attempted: row.lost.attempted(),
        mean_baseline: comparison.mean_a,
        mean: comparison.mean_b,
        ratio: comparison.ratio,
        ci: comparison.ci_ends(),
        ci_simultaneous: simultaneous(comparison, &row.answer, row.verdict),
        p_t: comparison.p_t,
        t_test: comparison.t_test,
        p: row.answer.p,
        p_attainable: comparison.p_attainable,
        p_adjusted: row.answer.p_adjusted,
        p_t_adjusted: row.answer.p_t_adjusted,
        primary: row.primary,
        capped_by: capped.map(|cap| cap.lint.to_owned()),
        scale: comparison.scale,
        difference: comparison.difference,
        resolution: comparison.step,
        too_coarse: comparison.too_coarse(options).is_some(),
        verdict: row.verdict,
        runs_needed: row.runs_needed,
        because: (!because.is_empty()).then(|| because.join("; ")),
    }
}

/// The lint that limits a verdict to less than the figures support.
fn capped_by(row: &ComparisonRow, options: &Options) -> Option<Cap> {
    let uncapped = row.uncapped(options);
    row.cap.filter(|_| uncapped != row.verdict)
}

fn within(comparison: &CellComparison, options: &Options) -> bool {
    let margin = equivalence::bounds(options.margin).ok();
    margin
        .zip(comparison.ci90)
        .is_some_and(|(m, ci)| ci.within(&m))
}

/// The simultaneous interval over all tests of the family (Bonferroni). The family's test may
/// exclude "no difference" although this interval does not, because it uses the dependence between
/// rows and steps down; the interval then ends at "no difference".
pub(crate) fn simultaneous(
    comparison: &CellComparison,
    answer: &HypothesisResult,
    verdict: Verdict,
) -> Option<[f64; 2]> {
    if !(answer.alone > 0.0 && answer.alone < 1.0) {
        return None;
    }
    ends(comparison.interval_of(verdict, 1.0 - answer.alone)?)
}
