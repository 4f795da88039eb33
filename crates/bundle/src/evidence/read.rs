//! Reading the runs, a few at a time.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::curve::Distribution;
use super::gather::{GatheredRuns, RunData};
use super::grain::EvidenceLimits;
use super::series::TimeCourse;
use crate::layout::{get, recorded as there, run_path, samples_path};
use crate::recorded::{self, RunExit, StoredRun};
use crate::{Error, Samples, samples};

/// Maximum number of threads; more would only use more memory.
const THREADS: usize = 4;

/// The parts of `runs/NNNN.json` that are needed here. Histograms may be long,
/// so they are parsed only if there are no samples.
#[derive(Deserialize)]
struct RunSketch<'a> {
    configuration: String,
    workload: String,
    exit: RunExit,
    #[serde(default, borrow)]
    histograms: Vec<RawHistogram<'a>>,
    #[serde(default)]
    samples: Vec<recorded::SampleSeries>,
}

#[derive(Deserialize)]
struct RawHistogram<'a> {
    metric: String,
    unit: String,
    #[serde(borrow)]
    buckets: &'a RawValue,
    exact: bool,
}

/// The data shared by the threads.
struct SharedProgress {
    gathered: GatheredRuns,
    /// The error of the unreadable run with the lowest index.
    error: Option<(usize, Error)>,
}

/// Reads all recorded runs.
pub(super) fn gather_all(directory: &Path, limits: &EvidenceLimits) -> Result<GatheredRuns, Error> {
    let runs: Vec<u32> = there(directory)?.into_iter().collect();
    let next = AtomicUsize::new(0);
    let shared = Mutex::new(SharedProgress {
        gathered: GatheredRuns::new(limits),
        error: None,
    });
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads.min(THREADS).min(runs.len()) {
            scope.spawn(|| read_remaining(directory, &runs, &next, &shared));
        }
    });
    let shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    match shared.error {
        Some((_, error)) => Err(error),
        None => Ok(shared.gathered),
    }
}

/// Reads runs in order until there are no more.
fn read_remaining(
    directory: &Path,
    runs: &[u32],
    next: &AtomicUsize,
    shared: &Mutex<SharedProgress>,
) {
    let locked = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some(&index) = runs.get(at) else {
            return;
        };
        let grain = {
            let shared = locked();
            if shared.error.is_some() {
                return;
            }
            shared.gathered.grain
        };
        match run_data(directory, index) {
            Ok(mut found) => {
                found.thin(grain);
                locked().gathered.take(found);
            }
            Err(error) => {
                let known = &mut locked().error;
                if known.as_ref().is_none_or(|(first, _)| at < *first) {
                    *known = Some((at, error));
                }
            }
        }
    }
}

/// Reads the data of one run.
fn run_data(directory: &Path, index: u32) -> Result<RunData, Error> {
    let path = run_path(directory, index);
    let text = fs::read(&path).map_err(Error::io(&path))?;
    let sketch: RunSketch<'_> = serde_json::from_slice(&text).map_err(Error::malformed(&path))?;
    let mut found = RunData {
        index,
        configuration: sketch.configuration,
        workload: sketch.workload,
        failed: sketch.exit != RunExit::Completed,
        ..RunData::default()
    };
    if found.failed {
        return Ok(found);
    }
    for histogram in &sketch.histograms {
        if sketch.samples.iter().any(|s| s.metric == histogram.metric) {
            continue;
        }
        match serde_json::from_str::<Vec<(u64, u64)>>(histogram.buckets.get()) {
            Ok(buckets) => counted(histogram, &buckets, &mut found),
            // Read again, so that the error names the position in the file.
            Err(source) => {
                get::<StoredRun>(&path)?;
                return Err(Error::malformed(&path)(source));
            }
        }
    }
    if !sketch.samples.is_empty() {
        let path = samples_path(directory, index);
        for samples in samples::decoded(&path, &sketch.samples)? {
            measured(samples, &mut found);
        }
    }
    Ok(found)
}

fn counted(histogram: &RawHistogram<'_>, buckets: &[(u64, u64)], found: &mut RunData) {
    let pairs = buckets.iter().map(|&(value, count)| (value as f64, count));
    let mut pairs: Vec<(f64, u64)> = pairs.collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (metric, unit) = (&histogram.metric, &histogram.unit);
    let distribution = if histogram.exact {
        Distribution::of_counts(metric, unit, &pairs)
    } else {
        found.bucketed += 1;
        Distribution::of_buckets(metric, unit, &pairs)
    };
    found.distributions.extend(distribution);
}

fn measured(samples: Samples, found: &mut RunData) {
    let Samples {
        metric,
        unit,
        start_ns: _,
        mut t_ns,
        mut values,
    } = samples;
    let all = values.len();
    if values.iter().any(|value| !value.is_finite()) {
        let mut finite = values.iter().map(|value| value.is_finite());
        t_ns.retain(|_| finite.next().unwrap_or(false));
        values.retain(|value| value.is_finite());
        found.not_finite += (all - values.len()) as u64;
    }
    found
        .courses
        .extend(TimeCourse::new(&metric, &unit, &t_ns, &values));
    let distribution = Distribution::of_samples(&metric, &unit, values);
    found.distributions.extend(distribution);
}
