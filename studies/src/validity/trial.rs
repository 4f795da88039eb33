//! A simulated trial: records whose true differences are known.

use assize_bundle::{Configuration, Measurement, Records, Run};
use assize_verdict::Options;
use std::collections::BTreeMap;

use super::noise::Noise;
use super::source::Source;

/// The configuration that the others are compared with.
pub(crate) const BASELINE: &str = "base";
/// The factors of a grid of configurations.
pub(crate) const FACTORS: [&str; 2] = ["bypass", "irq"];

/// Records, the question about them, and the true differences.
pub(crate) struct Trial {
    pub(crate) records: Records,
    pub(crate) options: Options,
    /// The true ratio of each row that differs.
    pub(crate) truth: BTreeMap<String, f64>,
    /// Whether to claim the most striking row after seeing the data.
    pub(crate) claims_best: bool,
}

impl Trial {
    /// Records in which nothing differs.
    pub(crate) fn without_effect(records: Records, source: &mut Source) -> Self {
        Self {
            records,
            options: Options {
                seed: source.seed(),
                ..Options::default()
            },
            truth: BTreeMap::new(),
            claims_best: false,
        }
    }

    /// The true ratio of a row.
    pub(crate) fn ratio(&self, row: &str) -> f64 {
        self.truth.get(row).copied().unwrap_or(1.0)
    }
}

/// The name of a row, in the form that the sentences of a document use.
pub(crate) fn row(workload: &str, metric: &str, configuration: &str) -> String {
    format!("{workload} {metric} {configuration}")
}

/// The number of runs of each configuration.
#[derive(Clone, Copy)]
pub(crate) enum Runs {
    /// This many randomised blocks with one run of each configuration.
    Blocks(usize),
    /// This many runs in random order.
    Free(usize),
    /// Runs in random order: this many of the baseline, and this many of each other configuration.
    Unequal(usize, usize),
}

/// The rows with true differences.
#[derive(Clone, Copy)]
pub(crate) enum Changed {
    Nothing,
    /// All rows of the last configuration, by this ratio.
    LastConfiguration(f64),
    /// This many metrics, from the first, in every configuration, by this ratio.
    Metrics(usize, f64),
    /// All rows of configurations with the first factor on, by this ratio.
    FirstFactor(f64),
    /// Each row with probability 0.5, by a random amount of at most ± this.
    Anything(f64),
}

/// An experiment in which each run has all metrics.
#[derive(Clone)]
pub(crate) struct Grid {
    pub(crate) workloads: usize,
    /// The number of configurations without the baseline.
    pub(crate) configurations: usize,
    pub(crate) metrics: usize,
    /// The number of primary metrics, from the first.
    pub(crate) primary: usize,
    /// Whether the last four configurations form a grid of two factors.
    pub(crate) factors: bool,
    pub(crate) runs: Runs,
    pub(crate) noise: Noise,
    /// The standard deviation between runs.
    pub(crate) spread: f64,
    /// The standard deviation of logarithms between blocks.
    pub(crate) block_spread: f64,
    /// The correlation between metrics of one run.
    pub(crate) rho: f64,
    pub(crate) changed: Changed,
}

impl Grid {
    /// A row for each metric of one workload and one configuration, with normal noise of 3 % and no
    /// differences.
    pub(crate) fn rows(metrics: usize, runs: Runs) -> Self {
        Self {
            workloads: 1,
            configurations: 1,
            metrics,
            primary: 0,
            factors: false,
            runs,
            noise: Noise::Normal,
            spread: 0.03,
            block_spread: 0.0,
            rho: 0.0,
            changed: Changed::Nothing,
        }
    }

    /// 72 rows: two metrics, nine workloads, four configurations.
    pub(crate) fn seventy_two(runs: Runs) -> Self {
        Self {
            workloads: 9,
            configurations: 4,
            ..Self::rows(2, runs)
        }
    }

    pub(crate) fn changed(self, changed: Changed) -> Self {
        Self { changed, ..self }
    }

    /// Generates the records.
    pub(crate) fn trial(&self, source: &mut Source) -> Trial {
        let mut truth = BTreeMap::new();
        let mut records = Records::default();
        self.name(&mut records);
        for workload in 0..self.workloads {
            for (at, configuration) in self.names().iter().enumerate().skip(1) {
                for metric in 0..self.metrics {
                    let ratio = self.effect(at, metric, source);
                    if ratio != 1.0 {
                        truth.insert(
                            row(
                                &workload_name(workload),
                                &metric_name(metric),
                                configuration,
                            ),
                            ratio,
                        );
                    }
                }
            }
        }
        if let Changed::FirstFactor(ratio) = self.changed {
            truth.insert(row(&workload_name(0), &metric_name(0), FACTORS[0]), ratio);
        }
        let blocks = self.block_factors(source);
        for (order, (workload, at, repetition)) in (0..).zip(self.schedule(source)) {
            let names = self.names();
            let mut run = Run::new(&names[at], workload_name(workload), 1 + repetition as u32);
            run.order = order;
            run.block = matches!(self.runs, Runs::Blocks(_)).then_some(repetition as u32);
            let common = (if self.rho > 0.0 { source.normal() } else { 0.0 }, self.rho);
            for metric in 0..self.metrics {
                let name = metric_name(metric);
                let key = row(&run.workload, &name, &run.configuration);
                let ratio = truth.get(&key).copied().unwrap_or(1.0);
                let block = blocks.get(&(workload, repetition, metric)).copied();
                let noise = self.noise.factor(self.spread, common, source);
                let level = 100.0 + 7.0 * metric as f64;
                let value = level * ratio * block.unwrap_or(1.0) * noise;
                run.metrics.insert(name, Measurement::new(value, "s"));
            }
            records.runs.push(run);
        }
        Trial {
            truth,
            ..Trial::without_effect(records, source)
        }
    }

    fn names(&self) -> Vec<String> {
        let others = (1..=self.configurations).map(|at| format!("c{at}"));
        std::iter::once(BASELINE.to_owned()).chain(others).collect()
    }

    /// Names configurations, factors and primary metrics.
    fn name(&self, records: &mut Records) {
        records.primary = (0..self.primary).map(metric_name).collect();
        if self.factors {
            records.factors = FACTORS.map(str::to_owned).to_vec();
        }
        for (at, name) in self.names().into_iter().enumerate() {
            let levels = FACTORS.into_iter().zip(self.levels(at));
            let in_grid = self.factors && at + 4 > self.configurations;
            records.configurations.push(Configuration {
                label: name.clone(),
                name,
                factors: levels
                    .filter(|_| in_grid)
                    .map(|(factor, level)| (factor.to_owned(), level))
                    .collect(),
                ..Configuration::default()
            });
        }
    }

    /// The factors that a configuration has on; only the last four configurations form a grid.
    fn levels(&self, configuration: usize) -> [bool; 2] {
        let at = (configuration + 3).saturating_sub(self.configurations);
        [at & 1 == 1, at & 2 == 2]
    }

    fn effect(&self, configuration: usize, metric: usize, source: &mut Source) -> f64 {
        match self.changed {
            Changed::LastConfiguration(ratio) if configuration == self.configurations => ratio,
            Changed::Metrics(first, ratio) if metric < first => ratio,
            Changed::FirstFactor(ratio) if self.levels(configuration)[0] => ratio,
            Changed::Anything(most) if source.uniform() < 0.5 => {
                1.0 + most * (2.0 * source.uniform() - 1.0)
            }
            _ => 1.0,
        }
    }

    /// The noise common to all runs of a block, by workload, block and metric.
    fn block_factors(&self, source: &mut Source) -> BTreeMap<(usize, usize, usize), f64> {
        let mut factors = BTreeMap::new();
        if let (Runs::Blocks(blocks), true) = (self.runs, self.block_spread > 0.0) {
            for workload in 0..self.workloads {
                for block in 0..blocks {
                    for metric in 0..self.metrics {
                        let factor = (self.block_spread * source.normal()).exp();
                        factors.insert((workload, block, metric), factor);
                    }
                }
            }
        }
        factors
    }

    /// Workload, configuration and repetition of each run, in random order; with blocks,
    /// block by block.
    fn schedule(&self, source: &mut Source) -> Vec<(usize, usize, usize)> {
        let count = |configuration: usize| match self.runs {
            Runs::Blocks(n) | Runs::Free(n) => n,
            Runs::Unequal(n, _) if configuration == 0 => n,
            Runs::Unequal(_, n) => n,
        };
        let mut all = Vec::new();
        for workload in 0..self.workloads {
            for configuration in 0..=self.configurations {
                let repetitions = 0..count(configuration);
                all.extend(repetitions.map(|repetition| (workload, configuration, repetition)));
            }
        }
        source.shuffle(&mut all);
        if matches!(self.runs, Runs::Blocks(_)) {
            all.sort_by_key(|&(.., block)| block);
        }
        all
    }
}

pub(crate) fn workload_name(at: usize) -> String {
    format!("w{at}")
}

pub(crate) fn metric_name(at: usize) -> String {
    format!("m{at:03}")
}
