//! Sentences about what was thinned or left out.

use super::grain::{DECADES, EvidenceLimits, EvidenceResolution};

/// The note on a bundle of results that were read from a text.
pub(super) const POSTED: &str = "the bundle holds results that were read, without samples or \
                                 histograms: there are no distributions and no series to show";

/// Counts of what was recorded and of what is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct EvidenceCounts {
    pub(super) runs: usize,
    pub(super) failed: usize,
    /// Distributions that were recorded.
    pub(super) distributions: usize,
    /// Distributions of which not every value is kept.
    pub(super) thinned: usize,
    /// The number of samples in the largest distribution.
    pub(super) largest: u64,
    /// Distributions that are shown.
    pub(super) curves: usize,
    /// Series that were recorded.
    pub(super) courses: usize,
    /// Series of which not every sample is kept.
    pub(super) stretched: usize,
    /// Series that are shown.
    pub(super) series: usize,
    pub(super) not_finite: u64,
    pub(super) bucketed: usize,
}

pub(super) fn sentences(
    counts: &EvidenceCounts,
    grain: EvidenceResolution,
    limits: &EvidenceLimits,
) -> Vec<String> {
    let mut notes = Vec::new();
    let completed = counts.runs - counts.failed;
    if counts.distributions == 0 {
        notes.push(format!(
            "the {completed} completed runs hold no samples and no histograms: there are no \
             distributions and no series to show"
        ));
    } else if counts.courses == 0 {
        notes.push(
            "the runs hold how often each value occurred, but not when: there are no series to \
             show; `samples = true` in the experiment file keeps single samples"
                .to_owned(),
        );
    }
    notes.extend(thinned(counts, grain));
    notes.extend(stretched(counts, grain));
    notes.extend(left_out(counts, limits));
    notes.extend(other_notes(counts));
    notes
}

fn thinned(counts: &EvidenceCounts, grain: EvidenceResolution) -> Option<String> {
    if counts.thinned == 0 {
        return None;
    }
    let step = rounded_up(100.0 / grain.body as f64);
    let times = rounded_up(10f64.powf(1.0 / grain.decade as f64));
    let down = if counts.largest > 10u64.pow(DECADES as u32) {
        ", down to one sample in a million"
    } else {
        ""
    };
    Some(format!(
        "{} of {} distributions are thinned to {} values each or fewer. Between two of these \
         values the share of samples up to a value is too low by less than {step:.2} % of the \
         samples, and the share above it is too high by less than a factor of {times:.2}{down}. \
         The least and the greatest sample are always shown; so are p50, p90, p99 and p99.9 where \
         ten samples on either side support them",
        counts.thinned,
        counts.distributions,
        grain.points() + 6,
    ))
}

/// Rounds up to two decimals.
fn rounded_up(value: f64) -> f64 {
    (value * 100.0).ceil() / 100.0
}

fn stretched(counts: &EvidenceCounts, grain: EvidenceResolution) -> Option<String> {
    (counts.stretched > 0).then(|| {
        format!(
            "{} of {} series are thinned to {} equal stretches of time each or fewer: only the \
             least and the greatest sample of each stretch are shown, so no extreme is missing",
            counts.stretched, counts.courses, grain.stretches
        )
    })
}

fn left_out(counts: &EvidenceCounts, limits: &EvidenceLimits) -> Vec<String> {
    let all = [
        ("distributions", counts.distributions, counts.curves),
        ("series", counts.courses, counts.series),
    ];
    let missing = all.iter().filter(|(_, there, shown)| shown < there);
    missing
        .map(|(what, there, shown)| {
            format!(
                "{} of {there} {what} are left out, the last repetitions first: even thinned as \
                 far as possible, they do not fit into {} bytes",
                there - shown,
                limits.bytes
            )
        })
        .collect()
}

fn other_notes(counts: &EvidenceCounts) -> Vec<String> {
    let mut notes = Vec::new();
    if counts.bucketed > 0 {
        notes.push(format!(
            "for {} of {} distributions only buckets were recorded: the share of samples is known \
             at the end of each bucket, but not inside it",
            counts.bucketed, counts.distributions
        ));
    }
    if counts.not_finite > 0 {
        notes.push(format!(
            "{} samples are not finite numbers and are left out",
            counts.not_finite
        ));
    }
    if counts.failed > 0 {
        notes.push(format!(
            "{} of {} runs failed; what they measured is not shown",
            counts.failed, counts.runs
        ));
    }
    notes
}
