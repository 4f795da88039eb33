//! Collects the data of the runs, within the limit of bytes.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

use super::curve::Distribution;
use super::grain::{EvidenceLimits, EvidenceResolution};
use super::notes;
use super::series::TimeCourse;
use super::{Curve, ThinnedEvidence, ThinnedSeries};

#[derive(Debug, Default)]
pub(super) struct RunData {
    pub(super) index: u32,
    pub(super) configuration: String,
    pub(super) workload: String,
    /// Whether the run failed; failed runs are not shown.
    pub(super) failed: bool,
    pub(super) distributions: Vec<Distribution>,
    pub(super) courses: Vec<TimeCourse>,
    /// The number of samples that are not finite.
    pub(super) not_finite: u64,
    /// The number of distributions of which only buckets are known.
    pub(super) bucketed: usize,
}

impl RunData {
    pub(super) fn thin(&mut self, grain: EvidenceResolution) {
        for distribution in &mut self.distributions {
            distribution.thin(grain);
        }
        for course in &mut self.courses {
            course.thin(grain);
        }
    }

    fn bytes(&self) -> usize {
        let curves = self
            .distributions
            .iter()
            .map(|d| size(&d.curve(self.index)));
        let series = self.courses.iter().map(|c| size(&c.series(self.index)));
        curves.chain(series).sum()
    }
}

/// The data of all runs.
#[derive(Debug)]
pub(super) struct GatheredRuns {
    pub(super) grain: EvidenceResolution,
    limit: usize,
    bytes: usize,
    runs: BTreeMap<u32, RunData>,
}

impl GatheredRuns {
    pub(super) fn new(limits: &EvidenceLimits) -> Self {
        GatheredRuns {
            grain: EvidenceResolution::finest(limits),
            limit: limits.bytes,
            bytes: 0,
            runs: BTreeMap::new(),
        }
    }

    /// Adds a run. The order of runs does not matter: data that are too large at one resolution
    /// stay too large when more runs are added.
    pub(super) fn take(&mut self, mut found: RunData) {
        found.thin(self.grain);
        self.bytes += found.bytes();
        self.runs.insert(found.index, found);
        while self.bytes > self.limit {
            let Some(coarser) = self.grain.coarser() else {
                return;
            };
            self.grain = coarser;
            self.bytes = 0;
            for run in self.runs.values_mut() {
                run.thin(coarser);
                self.bytes += run.bytes();
            }
        }
    }

    /// The evidence that is shown, within the limit. Curves take precedence over series, and the
    /// first repetitions over later ones.
    pub(super) fn evidence(&self, limits: &EvidenceLimits) -> ThinnedEvidence {
        let mut evidence = ThinnedEvidence::default();
        let mut left = self.limit;
        let mut whole = true;
        for run in self.by_repetition() {
            for distribution in &run.distributions {
                let curve = distribution.curve(run.index);
                whole = whole && spend(&mut left, size(&curve));
                evidence.curves.extend(whole.then_some(curve));
            }
        }
        for run in self.by_repetition() {
            for course in &run.courses {
                let series = course.series(run.index);
                whole = whole && spend(&mut left, size(&series));
                evidence.series.extend(whole.then_some(series));
            }
        }
        evidence.curves.sort_by_key(|curve: &Curve| curve.run);
        evidence
            .series
            .sort_by_key(|series: &ThinnedSeries| series.run);
        evidence.thinned = notes::sentences(&self.counts(&evidence), self.grain, limits);
        evidence
    }

    /// The runs by repetition: the first run of each configuration and workload,
    /// then the second, and so on.
    fn by_repetition(&self) -> Vec<&RunData> {
        let mut cells: BTreeMap<(&str, &str), u32> = BTreeMap::new();
        let mut runs: Vec<(u32, &RunData)> = self
            .runs
            .values()
            .map(|run| {
                let cell = cells
                    .entry((&run.configuration, &run.workload))
                    .or_default();
                *cell += 1;
                (*cell, run)
            })
            .collect();
        runs.sort_by_key(|(repetition, run)| (*repetition, run.index));
        runs.into_iter().map(|(_, run)| run).collect()
    }

    fn counts(&self, evidence: &ThinnedEvidence) -> notes::EvidenceCounts {
        let runs = || self.runs.values();
        let distributions = || runs().flat_map(|run| &run.distributions);
        let courses = || runs().flat_map(|run| &run.courses);
        let thinned = |distribution: &&Distribution| !distribution.is_whole(self.grain);
        notes::EvidenceCounts {
            runs: runs().count(),
            failed: runs().filter(|run| run.failed).count(),
            distributions: distributions().count(),
            thinned: distributions().filter(thinned).count(),
            largest: distributions().map(|d| d.count).max().unwrap_or(0),
            curves: evidence.curves.len(),
            courses: courses().count(),
            stretched: courses().filter(|c| !c.is_whole(self.grain)).count(),
            series: evidence.series.len(),
            not_finite: runs().map(|run| run.not_finite).sum(),
            bucketed: runs().map(|run| run.bucketed).sum(),
        }
    }
}

/// Deducts bytes from `left`, if there are enough.
fn spend(left: &mut usize, bytes: usize) -> bool {
    match left.checked_sub(bytes) {
        Some(rest) => {
            *left = rest;
            true
        }
        None => false,
    }
}

/// The size of a value as JSON with a comma, in bytes.
fn size<T: Serialize>(value: &T) -> usize {
    let mut counter = ByteCounter(1);
    // Counting never fails.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

struct ByteCounter(usize);

impl Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "gather_tests.rs"]
mod tests;
