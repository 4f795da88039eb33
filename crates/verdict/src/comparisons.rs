//! Every configuration against its baseline.

use std::collections::{BTreeMap, BTreeSet};

use assize_judge::{VerdictInput, decide, equivalence, lints, permutation, power};

use crate::across::Reach;
use crate::across_rows::{machine_rows, pooled_row, story};
use crate::baselines::Baselines;
use crate::caps::{Cap, Caps};
use crate::cells::{Cell, Cells, Key};
use crate::document::{Agreement, Comparison, Lint, MachineComparison, Pooled, Scale, Verdict};
use crate::family::{Answer, Answers, Asked, Question, Questions};
use crate::identities::are_same;
use crate::noise::repeated;
use crate::options::Options;
use crate::weigh::{Weighed, ends, weigh};
use crate::words::{p_value, plain};

/// More runs than this are no advice.
const MOST_RUNS: u32 = 10_000;
/// With fewer runs of a side nothing is supported.
pub(crate) const FEWEST_SUPPORTED: u32 = 3;
/// With fewer runs of a side nothing is equivalent.
const FEWEST_EQUIVALENT: u32 = 5;
/// Where some runs lie apart, two configurations are equivalent only if there are
/// runs enough to have seen a tail of this share.
const TAIL: f64 = 0.05;

/// Runs of the baseline, runs of the configuration, runs of each per block.
type Design = (u32, u32, Option<u32>);

/// One row before it is written down.
pub(crate) struct Row {
    pub(crate) key: Key,
    pub(crate) baseline: usize,
    pub(crate) weighed: Weighed,
    pub(crate) primary: bool,
    asked: Asked,
    on_machines: Vec<Asked>,
    cap: Option<Cap>,
    /// Why the two cannot be equivalent, if more than their interval is against it.
    tails: Option<String>,
    pub(crate) answer: Answer,
    pub(crate) verdict: Verdict,
    runs_needed: Option<u32>,
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

/// Asks of every configuration whether it differs from its baseline.
pub(crate) fn ask_all(
    cells: &Cells<'_>,
    baselines: &Baselines,
    primary: &BTreeSet<usize>,
    caps: &Caps<'_>,
    options: &Options,
    questions: &mut Questions,
) -> Vec<Row> {
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
            if configuration == baseline
                || repeated(cells, configuration).is_some()
                || are_same(cells, baseline, configuration, workload)
            {
                continue;
            }
            let key = Key {
                configuration,
                ..of_baseline
            };
            let is_primary = primary.contains(&metric);
            let mut row = ask(cells, key, baseline, (a, b), is_primary, options, questions);
            row.cap = caps.of(cells, key, (a, b));
            rows.push(row);
        }
    }
    rows
}

fn ask(
    cells: &Cells<'_>,
    key: Key,
    baseline: usize,
    (a, b): (&Cell<'_>, &Cell<'_>),
    primary: bool,
    options: &Options,
    questions: &mut Questions,
) -> Row {
    let weighed = weigh(cells, a, b).at_level(options.level);
    let tails = tails(a, b, options);
    let p_equivalence = equivalence_p(&weighed, options).filter(|_| tails.is_none());
    let asked = questions.ask(question(&weighed, p_equivalence, primary));
    let machines = weighed.across.iter().flat_map(|across| &across.machines);
    let on_machines = machines
        .map(|on| questions.ask(question(&on.weighed, None, primary)))
        .collect();
    Row {
        key,
        baseline,
        weighed,
        primary,
        asked,
        on_machines,
        cap: None,
        tails,
        answer: Answer::default(),
        verdict: Verdict::Undecided,
        runs_needed: None,
    }
}

/// What is asked of two cells.
pub(crate) fn question(weighed: &Weighed, p_equivalence: Option<f64>, primary: bool) -> Question {
    Question {
        contrast: weighed.contrast.clone(),
        p_t: weighed.p_t,
        p_equivalence,
        primary,
    }
}

/// p of the two one-sided tests; none where there can be no equivalence.
pub(crate) fn equivalence_p(weighed: &Weighed, options: &Options) -> Option<f64> {
    let fewest = weighed.n_a?.min(weighed.n_b?);
    if weighed.scale == Scale::Raw
        || fewest < FEWEST_EQUIVALENT
        || weighed.too_coarse(options).is_some()
        || weighed
            .agreement()
            .is_some_and(|found| found == Agreement::Differ)
    {
        return None;
    }
    let tests = equivalence::of_ratio(weighed.estimate.as_ref()?, options.margin);
    Some(tests.ok()?.p)
}

/// Why some runs that lie apart forbid that two cells are called equivalent.
fn tails(a: &Cell<'_>, b: &Cell<'_>, options: &Options) -> Option<String> {
    let apart = |cell: &Cell<'_>| {
        cell.by_machine().iter().any(|cell| {
            let values = cell.values();
            let middle = median(&values);
            lints::outlier(&values)
                .into_iter()
                .any(|at| (values[at] / middle - 1.0).abs() > options.margin)
        })
    };
    let fewest = u32::try_from(a.runs.len().min(b.runs.len())).ok()?;
    let missed = equivalence::share_missed(fewest, options.alpha).ok()?;
    (missed > TAIL && (apart(a) || apart(b))).then(|| {
        format!(
            "some runs lie apart, and {fewest} runs do not tell how many do: up to {} % may",
            plain(100.0 * missed)
        )
    })
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Decides every row.
pub(crate) fn settle(rows: &mut [Row], answers: &Answers, options: &Options) {
    for row in rows {
        row.answer = answers.of(row.asked);
        if let Some(across) = &mut row.weighed.across {
            for (on, &asked) in across.machines.iter_mut().zip(&row.on_machines) {
                on.answer = answers.of(asked);
                on.verdict = verdict_of(&on.weighed, &on.answer, options);
            }
        }
        row.verdict = capped(
            verdict(&row.weighed, &row.answer, options),
            row.cap,
            &row.answer,
            options,
        );
        row.runs_needed = runs_needed(row, options.alpha);
    }
}

/// A verdict no better than a lint allows. What a lint is about must have the t test
/// on its side.
pub(crate) fn capped(
    verdict: Verdict,
    cap: Option<Cap>,
    answer: &Answer,
    options: &Options,
) -> Verdict {
    let Some(cap) = cap else {
        return verdict;
    };
    let by_t = answer.p_t_adjusted.is_some_and(|p| p <= options.alpha);
    match (verdict, cap.verdict) {
        (Verdict::Established, Verdict::Supported) if by_t => Verdict::Supported,
        (Verdict::Established, Verdict::Established) if by_t => Verdict::Established,
        (Verdict::Supported, Verdict::Established) => Verdict::Supported,
        (Verdict::Supported, Verdict::Supported) => Verdict::Supported,
        (Verdict::Equivalent, _) => Verdict::Equivalent,
        _ => Verdict::Undecided,
    }
}

/// All rows as they are written down.
pub(crate) fn written_all(cells: &Cells<'_>, rows: &[Row], options: &Options) -> Compared {
    let mut compared = Compared {
        comparisons: Vec::new(),
        machines: Vec::new(),
        pooled: Vec::new(),
        lints: too_few(cells, rows, options.alpha),
    };
    for row in rows {
        let comparison = written(cells, row, options);
        if let Some(across) = &row.weighed.across {
            compared.machines.extend(machine_rows(across, &comparison));
            let pooled = pooled_row(across, &row.weighed, &comparison);
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

/// The verdict of a row. Where several machines have no common direction no
/// difference is claimed, and a mean of unequal effects shows no equivalence.
fn verdict(weighed: &Weighed, answer: &Answer, options: &Options) -> Verdict {
    let word = verdict_of(weighed, answer, options);
    let differs = matches!(word, Verdict::Established | Verdict::Supported);
    if differs && let Some(across) = &weighed.across {
        return match across.reach(options.alpha) {
            Reach::LikeThese => word,
            // Kernels are what is asked about; machines stand for others.
            Reach::AllOfThese if across.is_of_kernels() => word,
            Reach::AllOfThese => Verdict::Supported,
            Reach::None => Verdict::Undecided,
        };
    }
    let alike = weighed
        .agreement()
        .is_none_or(|found| found == Agreement::Agree);
    if word == Verdict::Equivalent && !alike {
        return Verdict::Undecided;
    }
    word
}

/// One of the four words, by the corrected p of two cells.
pub(crate) fn verdict_of(weighed: &Weighed, answer: &Answer, options: &Options) -> Verdict {
    let word = decide(VerdictInput {
        p_adjusted: answer.p_adjusted,
        p_t_adjusted: answer.p_t_adjusted.filter(|_| enough_for_t(weighed)),
        p_attainable: answer.least,
        p_equivalence: answer.p_equivalence,
        alpha: options.alpha,
    });
    match word {
        assize_judge::Verdict::Established => Verdict::Established,
        assize_judge::Verdict::Supported => Verdict::Supported,
        assize_judge::Verdict::Equivalent => Verdict::Equivalent,
        assize_judge::Verdict::Undecided => Verdict::Undecided,
    }
}

fn enough_for_t(weighed: &Weighed) -> bool {
    let made = weighed.n_a.min(weighed.n_b);
    made.is_some_and(|n| n >= FEWEST_SUPPORTED)
}

/// How many runs a side would establish a row: by the attainable p at its part of
/// alpha if it is supported, by the power of the t test at the level of one test of
/// its family if it is undecided.
fn runs_needed(row: &Row, alpha: f64) -> Option<u32> {
    let weighed = &row.weighed;
    if row.cap.is_some() || weighed.agreement() == Some(Agreement::Opposite) {
        return None;
    }
    let share = match (weighed.p_attainable, row.answer.least) {
        (Some(own), Some(least)) if least < 1.0 => own / least,
        _ => 1.0,
    };
    let fewest = runs_to_attain(weighed.per_block, alpha * share);
    match row.verdict {
        Verdict::Supported => fewest.filter(|_| weighed.contrast.is_some()),
        Verdict::Undecided => {
            weighed.contrast.as_ref()?;
            let needed = runs_for(weighed, row.answer.alone)?.max(fewest?);
            let made = weighed.n_a.min(weighed.n_b)?;
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
    let across = weighed.across.as_ref();
    let capped = capped_by(row, options);
    let mut because: Vec<String> = Vec::new();
    because.extend(across.map(|across| story(across, options.alpha)));
    because.extend(weighed.because.iter().cloned());
    if row.verdict == Verdict::Undecided && weighed.ci90.is_some() {
        because.extend(weighed.coarseness(options));
        because.extend(row.tails.clone().filter(|_| within(weighed, options)));
    }
    because.extend(capped.map(|cap| match cap.verdict {
        Verdict::Established => format!("the t test does not find it: {}", cap.lint),
        verdict => format!("no better than {}: {}", verdict.word(), cap.lint),
    }));
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
        ci: weighed.ci_ends(),
        ci_simultaneous: simultaneous(weighed, &row.answer, row.verdict),
        p_t: weighed.p_t,
        t_test: weighed.t_test,
        p: row.answer.p,
        p_attainable: weighed.p_attainable,
        p_adjusted: row.answer.p_adjusted,
        p_t_adjusted: row.answer.p_t_adjusted,
        primary: row.primary,
        capped_by: capped.map(|cap| cap.lint.to_owned()),
        scale: weighed.scale,
        difference: weighed.difference,
        resolution: weighed.step,
        too_coarse: weighed.too_coarse(options).is_some(),
        verdict: row.verdict,
        runs_needed: row.runs_needed,
        because: (!because.is_empty()).then(|| because.join("; ")),
    }
}

/// The lint that made a verdict worse than its figures.
fn capped_by(row: &Row, options: &Options) -> Option<Cap> {
    let uncapped = verdict(&row.weighed, &row.answer, options);
    row.cap.filter(|_| uncapped != row.verdict)
}

fn within(weighed: &Weighed, options: &Options) -> bool {
    let margin = equivalence::bounds(options.margin).ok();
    margin
        .zip(weighed.ci90)
        .is_some_and(|(m, ci)| ci.within(&m))
}

/// The interval that holds together with those of all other tests of the family
/// (Bonferroni). What the family's test excludes and this interval does not,
/// because the test uses what rows have in common or steps down, ends at "no
/// difference" (Guilbaud 2008).
pub(crate) fn simultaneous(
    weighed: &Weighed,
    answer: &Answer,
    verdict: Verdict,
) -> Option<[f64; 2]> {
    let estimate = weighed.estimate?;
    if !(answer.alone > 0.0 && answer.alone < 1.0) {
        return None;
    }
    let level = 1.0 - answer.alone;
    let (interval, none) = match weighed.scale {
        Scale::Raw => (estimate.difference_interval(level), 0.0),
        Scale::Log | Scale::Summary => (estimate.ratio_interval(level), 1.0),
    };
    let [low, high] = ends(interval.ok()?)?;
    let differs = matches!(verdict, Verdict::Established | Verdict::Supported);
    Some(match estimate.effect > none {
        true if differs => [low.max(none), high],
        false if differs => [low, high.min(none)],
        _ => [low, high],
    })
}
