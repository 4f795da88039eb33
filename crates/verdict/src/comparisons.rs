//! Every configuration against its baseline.

use std::collections::{BTreeMap, BTreeSet};

use assize_judge::{VerdictInput, benjamini_hochberg, decide, holm, permutation, power};

use crate::across_rows::{machine_rows, pooled_row, story};
use crate::baselines::Baselines;
use crate::cells::{Cells, Key};
use crate::document::{Agreement, Comparison, Lint, MachineComparison, Pooled, Verdict};
use crate::identities::are_same;
use crate::noise::repeated;
use crate::options::Options;
use crate::weigh::{Weighed, weigh};
use crate::words::p_value;

/// More runs than this are no advice.
const MOST_RUNS: u32 = 10_000;

/// Runs of the baseline, runs of the configuration, runs of each per block.
type Design = (u32, u32, Option<u32>);

/// One row before it is written down.
struct Row {
    key: Key,
    baseline: usize,
    weighed: Weighed,
    p_adjusted: Option<f64>,
    p_t_adjusted: Option<f64>,
    verdict: Verdict,
    runs_needed: Option<u32>,
    agreement: Option<Agreement>,
}

/// All comparisons, and what several machines say of them.
pub(crate) struct Compared {
    pub(crate) comparisons: Vec<Comparison>,
    pub(crate) machines: Vec<MachineComparison>,
    pub(crate) pooled: Vec<Pooled>,
    /// Where runs are too few for any test.
    pub(crate) lints: Vec<Lint>,
}

impl Compared {
    /// With all rows in the order of their places.
    pub(crate) fn sorted<K: Ord>(mut self, place: impl Fn(&str, &str) -> K) -> Self {
        let key = |workload: &String, metric: &String| place(workload, metric);
        self.comparisons
            .sort_by_key(|c| key(&c.workload, &c.metric));
        self.machines.sort_by_key(|c| key(&c.workload, &c.metric));
        self.pooled.sort_by_key(|c| key(&c.workload, &c.metric));
        self
    }
}

/// All comparisons, corrected within their families: the metrics in `primary`
/// by Holm, the others by Benjamini and Hochberg.
pub(crate) fn compare_all(
    cells: &Cells<'_>,
    baselines: &Baselines,
    primary: &BTreeSet<usize>,
    options: &Options,
) -> Compared {
    let mut rows = weigh_all(cells, baselines, options);
    for is_primary in [true, false] {
        let mut family: Vec<&mut Row> = rows
            .iter_mut()
            .filter(|row| primary.contains(&row.key.metric) == is_primary)
            .collect();
        settle(&mut family, is_primary, options);
    }
    let lints = too_few(cells, &rows, options.alpha);
    let mut compared = Compared {
        comparisons: Vec::new(),
        machines: Vec::new(),
        pooled: Vec::new(),
        lints,
    };
    for row in rows {
        let comparison = written(cells, &row, options);
        if let Some(across) = &row.weighed.across {
            let of_row = machine_rows(across, &comparison, options);
            compared.machines.extend(of_row);
            let pooled = pooled_row(across, &row.weighed, &comparison, options);
            compared.pooled.push(pooled);
        }
        compared.comparisons.push(comparison);
    }
    compared
}

/// Designs whose smallest attainable p is above alpha, each once.
fn too_few(cells: &Cells<'_>, rows: &[Row], alpha: f64) -> Vec<Lint> {
    let mut designs: BTreeMap<Design, (f64, Vec<&str>)> = BTreeMap::new();
    for row in rows {
        let weighed = &row.weighed;
        let (Some(a), Some(b), Some(p)) = (weighed.n_a, weighed.n_b, weighed.p_attainable) else {
            continue;
        };
        if p > alpha {
            let design = designs
                .entry((a, b, weighed.per_block))
                .or_insert((p, Vec::new()));
            let workload = cells.workloads[row.key.workload].as_str();
            if !design.1.contains(&workload) {
                design.1.push(workload);
            }
        }
    }
    designs
        .into_iter()
        .map(|((a, b, per_block), (p, workloads))| Lint {
            code: "n-too-small".into(),
            location: workloads.join(", "),
            detail: format!(
                "{}: the smallest attainable p is {}{}",
                against(a, b),
                p_value(p),
                enough(per_block, alpha).map_or(String::new(), |text| format!("; {text}"))
            ),
        })
        .collect()
}

/// `3 against 3 runs`.
pub(crate) fn against(a: u32, b: u32) -> String {
    format!("{a} against {b} run{}", if b == 1 { "" } else { "s" })
}

/// How many runs would do, and what p they would reach.
fn enough(per_block: Option<u32>, alpha: f64) -> Option<String> {
    let n = runs_to_attain(per_block, alpha)?;
    if per_block.is_some() {
        return Some(format!("{} would do", against(n, n)));
    }
    let p = permutation::attainable(n as usize, n as usize);
    Some(format!("{n} against {n} would reach {}", p_value(p)))
}

fn weigh_all(cells: &Cells<'_>, baselines: &Baselines, options: &Options) -> Vec<Row> {
    let mut rows = Vec::new();
    for (workload, metric) in cells.rows() {
        let Some(baseline) = baselines.of(workload) else {
            continue;
        };
        let of_baseline = Key {
            workload,
            metric,
            configuration: baseline,
        };
        let Some(a) = cells.get(of_baseline) else {
            continue;
        };
        for (configuration, b) in cells.row(workload, metric) {
            if configuration != baseline
                && repeated(cells, configuration).is_none()
                && !are_same(cells, baseline, configuration, workload)
            {
                rows.push(Row {
                    key: Key {
                        configuration,
                        ..of_baseline
                    },
                    baseline,
                    weighed: weigh(cells, a, b, options.seed).at_level(options.level),
                    p_adjusted: None,
                    p_t_adjusted: None,
                    verdict: Verdict::Undecided,
                    runs_needed: None,
                    agreement: None,
                });
            }
        }
    }
    rows
}

/// Corrects one family and decides its rows.
fn settle(family: &mut [&mut Row], by_holm: bool, options: &Options) {
    let correct = if by_holm { holm } else { benjamini_hochberg };
    let p: Vec<Option<f64>> = family.iter().map(|row| row.weighed.p).collect();
    let p_t: Vec<Option<f64>> = family.iter().map(|row| row.weighed.p_t).collect();
    let p_adjusted = where_present(&p, correct);
    let p_t_adjusted = where_present(&p_t, correct);
    // What the correction would leave of each row's smallest possible p if
    // all rows of the family had theirs.
    let attainable: Vec<Option<f64>> = family
        .iter()
        .map(|row| row.weighed.p.and(row.weighed.p_attainable))
        .collect();
    let attainable = where_present(&attainable, correct);
    for (row, ((p, p_t), attainable)) in family
        .iter_mut()
        .zip(p_adjusted.into_iter().zip(p_t_adjusted).zip(attainable))
    {
        row.p_adjusted = p;
        row.p_t_adjusted = p_t;
        row.verdict = verdict(&row.weighed, [p, p_t, attainable], options);
        row.agreement = row.weighed.agreement(options);
    }
    let tested = p.iter().flatten().count().max(1) as f64;
    let convinced = family
        .iter()
        .filter(|row| matches!(row.verdict, Verdict::Established | Verdict::Supported))
        .count();
    let share = if by_holm { 1.0 } else { convinced as f64 };
    let level = options.alpha * share / tested;
    for row in family.iter_mut() {
        row.runs_needed = runs_needed(row, level, options.alpha);
    }
}

/// Corrects the values that exist, leaving the others out of the family.
pub(crate) fn where_present(
    p: &[Option<f64>],
    correct: impl Fn(&[f64]) -> Vec<f64>,
) -> Vec<Option<f64>> {
    let present: Vec<f64> = p.iter().flatten().copied().collect();
    let mut corrected = correct(&present).into_iter();
    p.iter().map(|p| p.and_then(|_| corrected.next())).collect()
}

/// The verdict of a row. Where several machines have no common direction no
/// difference is claimed, and a mean of unequal effects shows no equivalence.
fn verdict(weighed: &Weighed, corrected: [Option<f64>; 3], options: &Options) -> Verdict {
    let common = weighed.has_common_direction(options);
    let corrected = if common { corrected } else { [None; 3] };
    let word = verdict_of(weighed, corrected, options);
    let alike = weighed
        .agreement(options)
        .is_none_or(|found| found == Agreement::Agree);
    if word == Verdict::Equivalent && !alike {
        Verdict::Undecided
    } else {
        word
    }
}

/// One of the four words, by three corrected p-values: of the permutation test,
/// of the t test, and the smallest that the former can give.
pub(crate) fn verdict_of(
    weighed: &Weighed,
    [p_adjusted, p_t_adjusted, p_attainable]: [Option<f64>; 3],
    options: &Options,
) -> Verdict {
    let word = decide(VerdictInput {
        p_adjusted,
        p_t_adjusted,
        p_attainable,
        ci90: weighed.ci_of_equivalence(options),
        margin: options.margin,
        alpha: options.alpha,
    });
    match word {
        assize_judge::Verdict::Established => Verdict::Established,
        assize_judge::Verdict::Supported => Verdict::Supported,
        assize_judge::Verdict::Equivalent => Verdict::Equivalent,
        assize_judge::Verdict::Undecided => Verdict::Undecided,
    }
}

/// How many runs a side would establish a row: by the attainable p at `level`
/// if it is supported, by the power of the t test at its own corrected level if
/// it is undecided.
fn runs_needed(row: &Row, level: f64, alpha: f64) -> Option<u32> {
    if row.agreement == Some(Agreement::Opposite) {
        return None;
    }
    match row.verdict {
        Verdict::Supported => {
            row.weighed.p?;
            runs_to_attain(row.weighed.per_block, level)
        }
        Verdict::Undecided => {
            let (p, adjusted) = (row.weighed.p?, row.p_adjusted?);
            let level = if adjusted > 0.0 {
                alpha * p / adjusted
            } else {
                alpha
            };
            let needed = runs_for(&row.weighed, level)?;
            let made = row.weighed.n_a.min(row.weighed.n_b)?;
            Some(needed.max(made + 1)).filter(|&n| n <= MOST_RUNS)
        }
        Verdict::Established | Verdict::Equivalent => None,
    }
}

/// Runs a side that find the observed ratio at 80 % power.
pub(crate) fn runs_for(weighed: &Weighed, level: f64) -> Option<u32> {
    let needed = power::runs_for_effect(weighed.log_sd?, weighed.ratio?, level, 0.8)?;
    Some(needed).filter(|&n| n <= MOST_RUNS)
}

/// Runs a side at which the permutation test can reach `level`; with blocks of
/// `per_block` against `per_block` runs, a whole number of blocks.
pub(crate) fn runs_to_attain(per_block: Option<u32>, level: f64) -> Option<u32> {
    let Some(per_block) = per_block else {
        return permutation::runs_needed(level);
    };
    let relabelings = 2.0 / permutation::attainable(per_block as usize, per_block as usize);
    // Beyond 20 blocks of two runs the Monte-Carlo draws set the limit.
    (1..=20_u32)
        .find(|&blocks| {
            let all = relabelings.powf(f64::from(blocks));
            all <= permutation::EXACT_LIMIT && 2.0 / all <= level
        })
        .map(|blocks| blocks * per_block)
}

fn written(cells: &Cells<'_>, row: &Row, options: &Options) -> Comparison {
    let metric = &cells.metrics[row.key.metric];
    let weighed = &row.weighed;
    let mut because: Vec<String> = Vec::new();
    because.extend(weighed.across.as_ref().map(|across| story(across, options)));
    because.extend(weighed.because.iter().cloned());
    if row.verdict == Verdict::Undecided && weighed.ci90.is_some() {
        because.extend(weighed.coarseness(options));
    }
    let ci = weighed.ci_ends();
    Comparison {
        workload: cells.workloads[row.key.workload].clone(),
        metric: metric.name.clone(),
        unit: metric.unit.clone(),
        baseline: cells.configurations[row.baseline].clone(),
        configuration: cells.configurations[row.key.configuration].clone(),
        n_baseline: weighed.n_a,
        n: weighed.n_b,
        mean_baseline: weighed.mean_a,
        mean: weighed.mean_b,
        ratio: weighed.ratio,
        ci,
        p_t: weighed.p_t,
        t_test: weighed.t_test,
        p: weighed.p,
        p_attainable: weighed.p_attainable,
        p_adjusted: row.p_adjusted,
        p_t_adjusted: row.p_t_adjusted,
        scale: weighed.scale,
        difference: weighed.difference,
        resolution: weighed.step,
        too_coarse: weighed.too_coarse(options).is_some(),
        verdict: row.verdict,
        runs_needed: row.runs_needed,
        because: (!because.is_empty()).then(|| because.join("; ")),
    }
}
