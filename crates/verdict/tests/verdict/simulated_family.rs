//! Properties of whole documents for any records: sentences agree with the
//! table, more runs do not find less, and many rows do not raise the error rate.

use std::collections::BTreeMap;

use assize_verdict::{
    Configuration, Document, Measurement, Options, Outcome, Run, Sentence, Verdict, try_records,
};

type Records = assize_bundle::Records;

/// Random numbers by splitmix64 (Steele, Lea and Flood 2014).
struct Source(u64);

impl Source {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / 9_007_199_254_740_992.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.uniform() * end as f64) as usize
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Runs in random order, each with all metrics; noise of 3 %.
struct Design {
    workloads: usize,
    /// Configurations in addition to the baseline.
    configurations: usize,
    metrics: usize,
    runs: usize,
    in_blocks: bool,
}

impl Design {
    fn rows(metrics: usize, runs: usize, in_blocks: bool) -> Self {
        Design {
            workloads: 1,
            configurations: 1,
            metrics,
            runs,
            in_blocks,
        }
    }

    /// 72 rows.
    fn seventy_two(blocks: usize) -> Self {
        Design {
            workloads: 9,
            configurations: 4,
            ..Self::rows(2, blocks, true)
        }
    }

    /// `effect` gives the true ratio of a workload, configuration and metric.
    /// The first runs do not depend on the number of runs.
    fn records(&self, source: &mut Source, effect: impl Fn(usize, usize, usize) -> f64) -> Records {
        let mut runs = Vec::new();
        for repetition in 0..self.runs {
            let mut block = Vec::new();
            for workload in 0..self.workloads {
                for configuration in 0..=self.configurations {
                    block.push(self.run(source, [workload, configuration, repetition], &effect));
                }
            }
            shuffle(source, &mut block);
            runs.extend(block);
        }
        if !self.in_blocks {
            shuffle(source, &mut runs);
        }
        for (order, run) in (0..).zip(&mut runs) {
            run.order = order;
        }
        let names = (0..=self.configurations).map(|at| Configuration {
            name: name(at),
            label: name(at),
            ..Configuration::default()
        });
        Records {
            configurations: names.collect(),
            runs,
            ..Records::default()
        }
    }

    fn run(
        &self,
        source: &mut Source,
        [workload, configuration, repetition]: [usize; 3],
        effect: &impl Fn(usize, usize, usize) -> f64,
    ) -> Run {
        let mut run = Run::new(
            name(configuration),
            format!("w{workload}"),
            1 + repetition as u32,
        );
        run.block = self.in_blocks.then_some(repetition as u32);
        for metric in 0..self.metrics {
            let truth = if configuration == 0 {
                1.0
            } else {
                effect(workload, configuration, metric)
            };
            let level = 100.0 + 7.0 * metric as f64;
            let value = level * truth * (1.0 + 0.03 * source.normal());
            let value = Measurement::new(value, "s");
            run.metrics.insert(format!("m{metric:02}"), value);
        }
        run
    }
}

/// The name of a configuration; the first is the baseline.
fn name(configuration: usize) -> String {
    match configuration {
        0 => "base".into(),
        other => format!("c{other}"),
    }
}

fn shuffle<T>(source: &mut Source, things: &mut [T]) {
    for last in (1..things.len()).rev() {
        things.swap(last, source.below(last + 1));
    }
}

fn judged(records: &Records) -> Document {
    try_records(records, &Options::default()).unwrap()
}

fn is_difference(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Established | Verdict::Supported)
}

fn is_directional(sentence: &Sentence) -> bool {
    ["higher", "lower"]
        .iter()
        .any(|word| sentence.text.contains(word))
}

/// How many rows are `established` or `supported`.
fn count_differences(document: &Document) -> usize {
    let rows = document.comparisons.iter();
    rows.filter(|row| is_difference(row.verdict)).count()
}

/// The number of false positives that this many trials may have at a rate of 5 %; chance exceeds it
/// once in four thousand cases.
fn most_of(trials: usize) -> usize {
    let n = trials as f64;
    (0.05 * n + 3.5 * (0.05 * 0.95 * n).sqrt()) as usize
}

#[test]
fn a_sentence_gives_a_direction_only_to_rows_whose_verdict_does() {
    for seed in 0..150 {
        let mut source = Source(seed);
        let design = Design {
            workloads: 1 + source.below(3),
            configurations: 1 + source.below(3),
            metrics: 1 + source.below(5),
            runs: 3 + source.below(7),
            in_blocks: source.below(2) == 0,
        };
        let mut truth = BTreeMap::new();
        for key in 0..60 {
            let moved = source.below(2) == 0;
            let ratio = 1.0 + 0.15 * (2.0 * source.uniform() - 1.0);
            truth.insert(key, if moved { ratio } else { 1.0 });
        }
        let records = design.records(&mut source, |w, c, m| truth[&(15 * w + 5 * (c - 1) + m)]);
        let document = judged(&records);
        for row in document
            .comparisons
            .iter()
            .filter(|r| is_difference(r.verdict))
        {
            let inside =
                |ci: Option<[f64; 2]>| ci.is_none_or(|[low, high]| low < 1.0 && 1.0 < high);
            assert!(
                !inside(row.ci) && !inside(row.ci_simultaneous),
                "seed {seed}: {row:?}"
            );
        }
        for sentence in document.sentences.iter().filter(|s| is_directional(s)) {
            let mut backing = 0;
            for row in &document.comparisons {
                let name = format!("{} {} {}", row.workload, row.metric, row.configuration);
                // The sentence gives no direction for such a workload.
                let unmoved = format!("but not on {} ", row.workload);
                if !sentence.rows.contains(&name) || sentence.text.contains(&unmoved) {
                    continue;
                }
                backing += 1;
                assert!(
                    is_difference(row.verdict),
                    "seed {seed}: {name} is {}, and: {}",
                    row.verdict.word(),
                    sentence.text
                );
            }
            assert!(backing > 0, "seed {seed}: no row backs: {}", sentence.text);
        }
    }
}

/// For each document, how many of three rows that are 10 % higher, among seven without a
/// difference, are found with this many runs.
fn found_with(runs: usize, in_blocks: bool) -> Vec<usize> {
    let count = |seed| {
        let effect = |_, _, metric| if metric < 3 { 1.1 } else { 1.0 };
        let design = Design::rows(10, runs, in_blocks);
        let document = judged(&design.records(&mut Source(seed), effect));
        let planted = document.comparisons.iter().take(3);
        planted.filter(|row| is_difference(row.verdict)).count()
    };
    (0..DOCUMENTS).map(count).collect()
}

/// Documents for each number of runs.
const DOCUMENTS: u64 = 40;

/// Compares fewer with more runs. Documents with more runs extend those with fewer, so this is a
/// sign test: those that find less must not outnumber those that find more.
fn assert_more_find_more(numbers: &[usize], in_blocks: bool) {
    let mut all: Vec<(usize, Vec<usize>)> = Vec::new();
    for &runs in numbers {
        let now = found_with(runs, in_blocks);
        for (fewer, before) in &all {
            let pairs = || before.iter().zip(&now);
            let lost = pairs().filter(|(before, now)| now < before).count() as f64;
            let won = pairs().filter(|(before, now)| now > before).count() as f64;
            assert!(
                lost - won <= 3.5 * (lost + won).sqrt(),
                "{runs} instead of {fewer} runs: {lost} of {DOCUMENTS} documents find less, \
                 {won} more (seeds 0 to {DOCUMENTS})"
            );
        }
        all.push((runs, now));
    }
    let most: usize = all.last().unwrap().1.iter().sum();
    let planted = 3.0 * DOCUMENTS as f64;
    assert!(most as f64 > 0.95 * planted, "{most} of {planted}");
}

#[test]
fn a_block_more_takes_no_verdict_away_in_expectation() {
    // With 20 blocks, relabelings are sampled.
    let numbers = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 20];
    assert_more_find_more(&numbers, true);
}

#[test]
fn a_run_more_takes_no_verdict_away_in_expectation() {
    assert_more_find_more(&[3, 4, 5, 6, 7, 8, 9], false);
}

#[test]
fn where_nothing_differs_no_sentence_gives_a_direction() {
    const DOCUMENTS: usize = 80;
    for blocks in [3, 5, 6, 8] {
        let (mut directional, mut established) = (0, 0);
        for seed in 0..DOCUMENTS as u64 {
            let design = Design {
                workloads: 3,
                ..Design::seventy_two(blocks)
            };
            let document = judged(&design.records(&mut Source(seed), |_, _, _| 1.0));
            directional += usize::from(document.sentences.iter().any(is_directional));
            let mut rows = document.comparisons.iter();
            let sure = rows.any(|row| row.verdict == Verdict::Established);
            established += usize::from(sure);
        }
        let most = most_of(DOCUMENTS);
        assert!(
            directional <= most && established <= most,
            "{blocks} blocks: of {DOCUMENTS} documents {directional} give a direction, \
             {established} establish something (seeds 0 to {DOCUMENTS})"
        );
    }
}

/// Of 200 documents, the number with the lint `drift`. Blocks vary five times as much as the runs
/// in them, and each block adds `trend` to the previous one.
fn drifting_documents(trend: f64) -> usize {
    let drifts = |seed: &u64| {
        let design = Design {
            workloads: 2,
            ..Design::rows(4, 10, true)
        };
        let mut source = Source(*seed);
        let mut records = design.records(&mut source, |_, _, _| 1.0);
        let shared: Vec<f64> = (0..design.runs)
            .map(|at| (0.15 * source.normal() + trend * at as f64).exp())
            .collect();
        for run in &mut records.runs {
            let block = run.block.unwrap() as usize;
            for value in run.metrics.values_mut() {
                value.value *= shared[block];
            }
        }
        let document = judged(&records);
        document.lints.iter().any(|lint| lint.code == "drift")
    };
    (0..200).filter(drifts).count()
}

#[test]
fn blocks_that_differ_are_called_a_drift_only_if_they_drift() {
    let none = drifting_documents(0.0);
    assert!(none <= 200 / 20, "{none} of 200 without a trend");
    let found = drifting_documents(0.1);
    assert!(found >= 160, "{found} of 200 with a trend");
}

#[test]
fn six_blocks_find_a_large_difference_in_many_rows() {
    let (mut right, mut rows) = (0, 0);
    for seed in 0..20 {
        let effect = |_, configuration, _| if configuration == 4 { 0.8 } else { 1.0 };
        let document = judged(&Design::seventy_two(6).records(&mut Source(seed), effect));
        for row in document
            .comparisons
            .iter()
            .filter(|r| r.configuration == "c4")
        {
            rows += 1;
            right += u32::from(is_difference(row.verdict) && row.ratio.unwrap() < 1.0);
        }
    }
    assert_eq!(rows, 20 * 18);
    assert!(
        f64::from(right) >= 0.9 * f64::from(rows),
        "{right} of {rows} (seeds 0 to 20)"
    );
}

#[test]
fn a_claim_that_was_chosen_by_its_figures_has_no_better_chance() {
    const DOCUMENTS: usize = 60;
    let mut upheld = 0;
    for seed in 0..DOCUMENTS as u64 {
        let records = Design::seventy_two(8).records(&mut Source(seed), |_, _, _| 1.0);
        let document = judged(&records);
        assert_eq!(document.comparisons.len(), 72);
        let size = |ratio: Option<f64>| ratio.map_or(0.0, |r| r.ln().abs());
        let best = document
            .comparisons
            .iter()
            .min_by(|a, b| {
                let by_p = a.p.unwrap_or(1.0).total_cmp(&b.p.unwrap_or(1.0));
                by_p.then(size(b.ratio).total_cmp(&size(a.ratio)))
            })
            .unwrap();
        let sign = if best.ratio.unwrap() < 1.0 { '<' } else { '>' };
        let claim = format!(
            "{} {sign} base on {} in {}",
            best.configuration, best.metric, best.workload
        );
        let options = Options {
            claims: vec![claim],
            ..Options::default()
        };
        let again = try_records(&records, &options).unwrap();
        upheld += usize::from(again.claims[0].outcome == Outcome::Upheld);
    }
    assert!(
        upheld <= most_of(DOCUMENTS),
        "{upheld} of {DOCUMENTS} claims upheld (seeds 0 to {DOCUMENTS})"
    );
}

/// Rows with few runs and rows with many do not affect each other in one document.
#[test]
fn rows_of_three_blocks_beside_rows_of_eight_are_judged_by_their_own_runs() {
    let (mut right, mut wrong) = (0, 0);
    for seed in 0..40 {
        let mut source = Source(seed);
        let mut records = Design::rows(10, 8, true).records(&mut source, |_, _, _| 1.1);
        let few = Design::rows(10, 3, true).records(&mut source, |_, _, _| 1.0);
        for mut run in few.runs {
            run.workload = "few".into();
            run.order += 16;
            records.runs.push(run);
        }
        let document = judged(&records);
        let (of_few, of_many): (Vec<_>, Vec<_>) = document
            .comparisons
            .iter()
            .partition(|row| row.workload == "few");
        right += of_many.iter().filter(|r| is_difference(r.verdict)).count();
        wrong += usize::from(of_few.iter().any(|r| is_difference(r.verdict)));
    }
    assert!(right >= 360, "{right} of 400 (seeds 0 to 40)");
    assert!(wrong <= most_of(40), "{wrong} of 40 (seeds 0 to 40)");
}

#[test]
fn the_only_row_of_a_document_pays_for_no_other() {
    let effect = |_, _, _| 1.1;
    let count = |metrics: usize| -> usize {
        let document =
            |seed| judged(&Design::rows(metrics, 8, true).records(&mut Source(seed), effect));
        (0..20).map(|seed| count_differences(&document(seed))).sum()
    };
    assert!(count(1) >= 19, "{} of 20 (seeds 0 to 20)", count(1));
}

/// The number of runs suggested for an undecided row settles it if nothing differs: with that many
/// new runs, at least three of four such rows get a verdict.
#[test]
fn so_many_runs_as_are_asked_for_settle_what_does_not_differ() {
    let designs = [
        (6, true, 1, 0.03),
        (8, true, 2, 0.05),
        (8, false, 1, 0.03),
        (12, false, 1, 0.012),
    ];
    for (runs, in_blocks, metrics, margin) in designs {
        let options = Options {
            margin,
            ..Options::default()
        };
        let judged = |runs, seed| {
            let records =
                Design::rows(metrics, runs, in_blocks).records(&mut Source(seed), |_, _, _| 1.0);
            try_records(&records, &options).unwrap().comparisons
        };
        let (mut asked, mut settled) = (0, 0);
        for seed in 0..30 {
            for (at, row) in judged(runs, seed).iter().enumerate() {
                let Some(needed) = row.runs_needed else {
                    continue;
                };
                if row.verdict == Verdict::Undecided {
                    asked += 1;
                    let again = &judged(needed as usize, 1000 + seed)[at];
                    settled += usize::from(again.verdict != Verdict::Undecided);
                }
            }
        }
        println!("{runs} runs, in blocks {in_blocks}: {settled} of {asked}");
        assert!(
            asked >= 20 && settled * 4 >= asked * 3,
            "{runs} runs: {settled} of {asked} (seeds 0 to 30)"
        );
    }
}
