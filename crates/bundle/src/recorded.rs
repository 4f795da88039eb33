//! The stored form of one run.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize, Serializer};

use crate::kernel_log::Complaint;
use crate::{Doubt, Ending, Events, IdentityPart, Measurement, Place, Run, Unavailable};

/// One run of a schedule, with everything it recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    /// Its index in the schedule, from 0.
    pub index: u32,
    /// The run with its metrics. Those of a failed run are recorded but never judged.
    pub run: Run,
    /// How it ended.
    pub exit: RunExit,
    /// The way in which a failed run ended; `None` for a completed one.
    pub ending: Option<Ending>,
    /// The kernel's complaints.
    pub complaints: Vec<Complaint>,
    /// Metrics or instruments that the target could not provide.
    pub unavailable: Vec<Unavailable>,
    /// Facts about where it ran. On the exact target, none about the host.
    pub environment: BTreeMap<String, String>,
    /// The parts of its identity, sorted by kind and name.
    pub identity: Vec<IdentityPart>,
    /// Counted events.
    pub events: Vec<Events>,
    /// Doubts about its numbers.
    pub doubts: Vec<Doubt>,
    /// Individual measurements.
    pub samples: Vec<Samples>,
    /// Histograms: how often each value occurred.
    pub histograms: Vec<Histogram>,
    /// Raw output of tools, each with a file name.
    pub raw: Vec<(String, String)>,
}

impl RunRecord {
    /// A run with nothing but its metrics.
    #[must_use]
    pub fn new(index: u32, seed: u64, mut run: Run, exit: RunExit) -> Self {
        run.seed = Some(seed);
        RunRecord {
            index,
            run,
            exit,
            ending: None,
            complaints: Vec::new(),
            unavailable: Vec::new(),
            environment: BTreeMap::new(),
            identity: Vec::new(),
            events: Vec::new(),
            doubts: Vec::new(),
            samples: Vec::new(),
            histograms: Vec::new(),
            raw: Vec::new(),
        }
    }

    /// The seed it was given; every run of a schedule has one.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.run.seed.unwrap_or_default()
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunExit {
    /// It completed.
    Completed,
    /// It failed.
    Failed {
        /// The reason.
        why: String,
        /// The last lines of its console.
        console: String,
    },
}

/// Individual measurements of one metric, in the order in which they were taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    /// The metric; unique within the run.
    pub metric: String,
    /// The unit of the values.
    pub unit: String,
    /// The workload's start on CLOCK_MONOTONIC, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_ns: Option<u64>,
    /// The times, in nanoseconds since the workload's start.
    pub t_ns: Vec<u64>,
    /// The values; as many as `t_ns`.
    pub values: Vec<f64>,
}

/// How often each value occurred.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// The metric; unique within the run.
    pub metric: String,
    /// The unit of the values.
    pub unit: String,
    /// Values and counts, values ascending. A value is exact if `exact`,
    /// otherwise it is the end of its bucket.
    #[serde(serialize_with = "on_one_line")]
    pub buckets: Vec<(u64, u64)>,
    /// Whether each value is a measured one.
    pub exact: bool,
}

/// Serialises pairs without the white space of the surrounding file: there may
/// be as many as there are samples.
fn on_one_line<S: Serializer>(pairs: &[(u64, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    serde_json::value::to_raw_value(pairs)
        .map_err(serde::ser::Error::custom)?
        .serialize(serializer)
}

/// A metric in the file of samples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SampleSeries {
    pub(crate) metric: String,
    pub(crate) unit: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) start_ns: Option<u64>,
    pub(crate) count: u64,
}

/// Placeholder for histograms that are skipped: they may be long, and the judge
/// does not use them.
pub(crate) type Skipped = serde::de::IgnoredAny;

/// `runs/NNNN.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredRun<H = Vec<Histogram>> {
    pub(crate) index: u32,
    pub(crate) configuration: String,
    pub(crate) workload: String,
    pub(crate) repetition: u32,
    pub(crate) order: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) block: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) image: Option<u32>,
    pub(crate) seed: u64,
    pub(crate) exit: RunExit,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ending: Option<Ending>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) complaints: Vec<Complaint>,
    pub(crate) metrics: IndexMap<String, Measurement>,
    #[serde(default)]
    pub(crate) unavailable: Vec<Unavailable>,
    #[serde(default)]
    pub(crate) events: Vec<Events>,
    #[serde(default)]
    pub(crate) doubts: Vec<Doubt>,
    #[serde(default)]
    pub(crate) histograms: H,
    /// The contents of `samples/NNNN.parquet`.
    #[serde(default)]
    pub(crate) samples: Vec<SampleSeries>,
    /// Names of files in `raw/`.
    #[serde(default)]
    pub(crate) raw: Vec<String>,
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) identity: Vec<IdentityPart>,
}

impl StoredRun {
    /// Leaves out numbers that JSON cannot represent and records them as
    /// unavailable.
    pub(crate) fn new(recorded: &RunRecord) -> Self {
        let run = &recorded.run;
        let mut unavailable = recorded.unavailable.clone();
        let mut metrics = run.metrics.clone();
        metrics.retain(|metric, measurement| {
            let finite = measurement.value.is_finite();
            if !finite {
                unavailable.push(Unavailable {
                    configuration: run.configuration.clone(),
                    workload: run.workload.clone(),
                    instrument: String::new(),
                    metric: Some(metric.clone()),
                    reason: format!("the value read was {}", measurement.value),
                });
            }
            finite
        });
        StoredRun {
            index: recorded.index,
            configuration: run.configuration.clone(),
            workload: run.workload.clone(),
            repetition: run.repetition,
            order: run.order,
            block: run.block,
            image: run.image,
            seed: recorded.seed(),
            exit: recorded.exit.clone(),
            ending: recorded.ending,
            complaints: recorded.complaints.clone(),
            metrics,
            unavailable,
            events: recorded.events.clone(),
            doubts: recorded.doubts.clone(),
            histograms: recorded.histograms.clone(),
            samples: recorded.samples.iter().map(series).collect(),
            raw: file_names(recorded.index, &recorded.raw),
            environment: recorded.environment.clone(),
            identity: recorded.identity.clone(),
        }
    }
}

impl<H> StoredRun<H> {
    /// Converts it to a [`Run`], without what the judge does not use.
    pub(crate) fn into_run(self) -> Run {
        Run {
            configuration: self.configuration,
            workload: self.workload,
            repetition: self.repetition,
            metrics: self.metrics,
            order: self.order,
            block: self.block,
            image: self.image,
            seed: Some(self.seed),
            machine: None,
            place: Place::default(),
        }
    }
}

fn series(samples: &Samples) -> SampleSeries {
    SampleSeries {
        metric: samples.metric.clone(),
        unit: samples.unit.clone(),
        start_ns: samples.start_ns,
        count: samples.values.len() as u64,
    }
}

/// A file name for each raw output of a run. No name leaves `raw/`, starts with
/// a dot, or occurs twice.
fn file_names(index: u32, raw: &[(String, String)]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (given, _) in raw {
        let safe: String = given
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || "._-+".contains(c) {
                    c
                } else {
                    '_'
                }
            })
            .take(100)
            .collect();
        let mut name = format!("{index:04}-{safe}");
        let mut more = 2;
        while names.contains(&name) {
            name = format!("{index:04}-{more}-{safe}");
            more += 1;
        }
        names.push(name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_raw_files_stay_in_their_folder() {
        let raw: Vec<(String, String)> = ["a.json", "../../etc/passwd", "a.json", "", ".x"]
            .map(|name| (name.to_owned(), String::new()))
            .to_vec();
        assert_eq!(
            file_names(7, &raw),
            [
                "0007-a.json",
                "0007-.._.._etc_passwd",
                "0007-2-a.json",
                "0007-",
                "0007-.x"
            ]
        );
    }
}
