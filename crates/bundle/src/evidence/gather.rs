//! What was found in the runs, no more of it than there is room for.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

use super::curve::Distribution;
use super::grain::Grain;
use super::said;
use super::series::Course;
use super::{Curve, Evidence, Limits, Series};

/// What one run holds.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) index: u32,
    pub(super) configuration: String,
    pub(super) workload: String,
    /// A failed run is not shown.
    pub(super) failed: bool,
    pub(super) distributions: Vec<Distribution>,
    pub(super) courses: Vec<Course>,
    /// Samples that were no numbers.
    pub(super) not_finite: u64,
    /// Distributions of which only buckets are known.
    pub(super) bucketed: usize,
}

impl Found {
    pub(super) fn thin(&mut self, grain: Grain) {
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

/// What the runs hold.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) grain: Grain,
    limit: usize,
    bytes: usize,
    runs: BTreeMap<u32, Found>,
}

impl Gathered {
    pub(super) fn new(limits: &Limits) -> Self {
        Gathered {
            grain: Grain::finest(limits),
            limit: limits.bytes,
            bytes: 0,
            runs: BTreeMap::new(),
        }
    }

    /// Adds a run. Runs may come in any order: what is too much for a grain
    /// is too much with the runs that follow.
    pub(super) fn take(&mut self, mut found: Found) {
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

    /// As it is shown: all curves before any series, and of both those of the
    /// first repetitions before those of later ones.
    pub(super) fn evidence(&self, limits: &Limits) -> Evidence {
        let mut evidence = Evidence::default();
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
        evidence.series.sort_by_key(|series: &Series| series.run);
        evidence.thinned = said::sentences(&self.counts(&evidence), self.grain, limits);
        evidence
    }

    /// The first run of each configuration and workload, then the second.
    fn by_repetition(&self) -> Vec<&Found> {
        let mut cells: BTreeMap<(&str, &str), u32> = BTreeMap::new();
        let mut runs: Vec<(u32, &Found)> = self
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

    fn counts(&self, evidence: &Evidence) -> said::Counts {
        let runs = || self.runs.values();
        let distributions = || runs().flat_map(|run| &run.distributions);
        let courses = || runs().flat_map(|run| &run.courses);
        let thinned = |distribution: &&Distribution| !distribution.is_whole(self.grain);
        said::Counts {
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

/// Takes from what is left, if it is enough.
fn spend(left: &mut usize, bytes: usize) -> bool {
    match left.checked_sub(bytes) {
        Some(rest) => {
            *left = rest;
            true
        }
        None => false,
    }
}

/// How many bytes a value takes as JSON, and a comma.
fn size<T: Serialize>(value: &T) -> usize {
    let mut counter = Counter(1);
    // Counting never fails.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

struct Counter(usize);

impl Write for Counter {
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
