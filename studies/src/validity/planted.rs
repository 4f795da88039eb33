//! Records with a specific fault, as in real experiments and posts.

use assize_bundle::{Events, Measurement, Records, Run, RunCount};

use super::source::Source;
use super::trial::{BASELINE, Changed, Grid, Runs, Trial, metric_name, row, workload_name};

/// The configuration other than the baseline.
const OTHER: &str = "c1";
/// The default standard deviation between runs.
pub(crate) const SPREAD: f64 = 0.03;

/// Adds a run of the first workload.
fn push(records: &mut Records, configuration: &str, repetition: usize, values: &[f64]) {
    let mut run = Run::new(configuration, workload_name(0), 1 + repetition as u32);
    run.order = records.runs.len() as u32;
    for (metric, &value) in values.iter().enumerate() {
        let value = Measurement::new(value, "s");
        run.metrics.insert(metric_name(metric), value);
    }
    records.runs.push(run);
}

/// Orders the runs by a random schedule.
fn in_random_order(records: &mut Records, source: &mut Source) {
    let mut orders: Vec<u32> = (0..records.runs.len() as u32).collect();
    source.shuffle(&mut orders);
    for (run, order) in records.runs.iter_mut().zip(orders) {
        run.order = order;
    }
}

/// Metrics that count 0, 1 or 2 with equal probability.
pub(crate) fn tied(metrics: usize, runs: usize, source: &mut Source) -> Trial {
    let mut records = Records::default();
    for configuration in [BASELINE, OTHER] {
        for repetition in 0..runs {
            let values: Vec<f64> = (0..metrics).map(|_| source.below(3) as f64).collect();
            push(&mut records, configuration, repetition, &values);
        }
    }
    for run in &mut records.runs {
        for value in run.metrics.values_mut() {
            value.unit.clear();
        }
    }
    in_random_order(&mut records, source);
    Trial::without_effect(records, source)
}

/// Runs with a spread of 2 % against fewer runs with four times that.
pub(crate) fn unequal_spread(many: usize, few: usize, source: &mut Source) -> Trial {
    let mut records = Records::default();
    for (configuration, runs, spread) in [(BASELINE, many, 0.02), (OTHER, few, 0.08)] {
        for repetition in 0..runs {
            let value = (spread * source.normal()).exp();
            push(&mut records, configuration, repetition, &[value]);
        }
    }
    in_random_order(&mut records, source);
    Trial::without_effect(records, source)
}

/// Runs grouped by configuration on a machine that drifts by this much from run to run, in standard
/// deviations of a run.
pub(crate) fn drifting(runs: usize, drift: f64, source: &mut Source) -> Trial {
    let mut records = Records::default();
    for configuration in [BASELINE, OTHER] {
        for repetition in 0..runs {
            let drifted = drift * records.runs.len() as f64;
            let value = (SPREAD * (drifted + source.normal())).exp();
            push(&mut records, configuration, repetition, &[value]);
        }
    }
    Trial::without_effect(records, source)
}

/// Blocks that start from memory images in rotation. Each image makes each configuration faster or
/// slower at random, with a standard deviation of `spread`, like that of a seed. The second
/// configuration's true ratio is `ratio`.
pub(crate) fn images(
    (blocks, images): (usize, usize),
    spread: f64,
    ratio: f64,
    source: &mut Source,
) -> Trial {
    let mut records = Records::default();
    let draw = |_| [source.normal(), source.normal()];
    let lucks: Vec<[f64; 2]> = (0..images).map(draw).collect();
    for block in 0..blocks {
        let image = block % images;
        let of = [(BASELINE, 1.0), (OTHER, ratio)];
        for ((configuration, true_ratio), luck) in of.into_iter().zip(lucks[image]) {
            let value = true_ratio * (spread * (luck + source.normal())).exp();
            push(&mut records, configuration, block, &[value]);
            if let Some(run) = records.runs.last_mut() {
                run.block = Some(block as u32);
                run.image = Some(image as u32);
            }
        }
    }
    let mut trial = Trial::without_effect(records, source);
    trial
        .truth
        .insert(row(&workload_name(0), &metric_name(0), OTHER), ratio);
    trial
}

/// Blocks on each of several machines, whose true effects vary around zero; runs differ
/// by 2 %.
pub(crate) fn machines(machines: usize, blocks: usize, spread: f64, source: &mut Source) -> Trial {
    let mut records = Records::default();
    for machine in 0..machines {
        let effect = spread * source.normal();
        for block in 0..blocks {
            for (configuration, effect) in [(BASELINE, 0.0), (OTHER, effect)] {
                let value = (effect + 0.02 * source.normal()).exp();
                push(&mut records, configuration, block, &[value]);
                if let Some(run) = records.runs.last_mut() {
                    run.block = Some((machine * blocks + block) as u32);
                    run.machine = Some(format!("host{machine}"));
                }
            }
        }
    }
    Trial::without_effect(records, source)
}

/// Runs that differ by 0.3 %, except that a share of the second configuration's takes 1.6 times as
/// long.
pub(crate) fn slow_runs(runs: usize, share: f64, source: &mut Source) -> Trial {
    let mut records = Records::default();
    for (configuration, share) in [(BASELINE, 0.0), (OTHER, share)] {
        for repetition in 0..runs {
            let slow = if source.uniform() < share { 1.6 } else { 1.0 };
            let value = slow * (0.003 * source.normal()).exp();
            push(&mut records, configuration, repetition, &[value]);
        }
    }
    in_random_order(&mut records, source);
    let mut trial = Trial::without_effect(records, source);
    let name = row(&workload_name(0), &metric_name(0), OTHER);
    trial.truth.insert(name, 1.6_f64.powf(share));
    trial
}

/// Ten rows of three runs on one workload, and ten of eight blocks on another, which
/// truly change by `ratio`.
pub(crate) fn mixed(ratio: f64, source: &mut Source) -> Trial {
    let few = Grid::rows(10, Runs::Blocks(3)).trial(source);
    let many = Grid::rows(10, Runs::Blocks(8)).changed(Changed::Metrics(10, ratio));
    let mut trial = many.trial(source);
    for mut run in few.records.runs {
        run.workload = workload_name(1);
        run.order += trial.records.runs.len() as u32;
        trial.records.runs.push(run);
    }
    trial
}

/// Events in blocks with a run of each configuration.
pub(crate) fn events_of_runs(size: f64, blocks: usize, source: &mut Source) -> Trial {
    const EXPOSURE_S: f64 = 60.0;
    const CLUSTERS: f64 = 4.0;
    let mut records = Records::default();
    for block in 0..blocks {
        for configuration in [BASELINE, OTHER] {
            push(&mut records, configuration, block, &[]);
            if let Some(run) = records.runs.last_mut() {
                run.block = Some(block as u32);
            }
        }
    }
    for configuration in [BASELINE, OTHER] {
        let mut by_run = Vec::new();
        for run in records
            .runs
            .iter()
            .filter(|r| r.configuration == configuration)
        {
            let clusters = source.poisson(CLUSTERS);
            by_run.push(RunCount {
                order: run.order,
                count: (0..clusters).map(|_| 1 + source.poisson(size - 1.0)).sum(),
                exposure_s: Some(EXPOSURE_S),
            });
        }
        records.events.push(Events {
            configuration: configuration.into(),
            workload: workload_name(0),
            event: "hwlat".into(),
            count: by_run.iter().map(|run| run.count).sum(),
            exposure_s: Some(EXPOSURE_S * blocks as f64),
            times_s: Vec::new(),
            span_s: None,
            tolerated_s: None,
            by_run,
            place: assize_bundle::Place::default(),
        });
    }
    Trial::without_effect(records, source)
}

/// Events that occur in clusters of `size` on average, counted once with each of two
/// configurations over the same time.
pub(crate) fn events(size: f64, times: bool, source: &mut Source) -> Trial {
    const EXPOSURE_S: f64 = 600.0;
    const CLUSTERS: f64 = 20.0;
    let mut records = Records::default();
    for configuration in [BASELINE, OTHER] {
        let mut times_s = Vec::new();
        for _ in 0..source.poisson(CLUSTERS) {
            let at = EXPOSURE_S * source.uniform();
            let more = source.poisson(size - 1.0);
            times_s.extend((0..=more).map(|_| at + 0.1 * source.uniform()));
        }
        times_s.sort_by(f64::total_cmp);
        records.events.push(Events {
            configuration: configuration.into(),
            workload: workload_name(0),
            event: "hwlat".into(),
            count: times_s.len() as u64,
            exposure_s: Some(EXPOSURE_S),
            times_s: if times { times_s } else { Vec::new() },
            span_s: None,
            tolerated_s: None,
            by_run: Vec::new(),
            place: assize_bundle::Place::default(),
        });
    }
    Trial::without_effect(records, source)
}
