//! Tests whether events are periodic.

use std::f64::consts::{PI, TAU};

use crate::moments::{sorted, variance};
use crate::poisson::{EventTimes, windows};

/// With fewer events than this, no period is detectable.
pub const FEWEST: usize = 8;
/// Maximum number of events examined; the rest are ignored.
const MOST: usize = 300;
/// Frequencies are tried up to this multiple of the rate of events: as few as one in this many
/// periods may have an event.
const MISSING: f64 = 4.0;
/// The number of frequencies tried per 1 / span.
const OVERSAMPLING: f64 = 8.0;
/// Multiples of a frequency have similar power; the lowest frequency with at least this share of
/// the largest power is taken.
const AS_STRONG: f64 = 0.5;
/// Events closer together than this share of the mean gap count as one.
const AT_ONCE: f64 = 0.1;
/// Maximum number of times that events are merged, since each merge increases the mean gap.
const ROUNDS: usize = 10;

/// A periodicity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Periodicity {
    /// The period, in the unit of the times.
    pub period: f64,
    /// The number of events examined; simultaneous ones count once.
    pub n: usize,
    /// How many of them are within a tenth of the period of a multiple of it.
    pub on_beat: usize,
    /// The probability of as large a power at any frequency if events are not
    /// periodic.
    pub p: f64,
}

/// Searches for a period in events. Many periods may lack an event, and there may be other events
/// in between.
///
/// For a frequency f the power is |sum exp(2 pi i f t)|^2 / n, about exponential with mean 1 for a
/// Poisson process. The largest, z, over frequencies from 2 / span to 4 n / span has a probability
/// of at most exp(-z) (1 + W sqrt z), where W is the number of independent frequencies, (4 n - 2)
/// sqrt(4 pi var t) / span. Simultaneous events count once, and the power is divided by the
/// dispersion of the counts in [`windows`] of time if that is above 1, so that clusters do not look
/// periodic.
///
/// - Shape: event times in any order, any unit; `exposure_s` is the span that contains them. At
///   least 8 distinct times ([`FEWEST`]); only the first 300 are used.
/// - `None` for fewer, or if a time is not finite or outside of the span.
/// - Range: 0 < period <= span / 2; p in (0, 1\]. A few exactly evenly spaced events are found by
///   [`crate::poisson::gaps`], not here: n events have a power of n at most.
/// - Cost: O(n^2).
/// - Source: power by Rayleigh 1919; probability of the maximum by Davies 1987, Biometrika 74, for
///   periodograms as in Baluev 2008, MNRAS 385.
/// - Checked by simulation: p <= 0.01 in 1 of 2,000 Poisson processes, and in 4 of 2,000 clustered
///   processes.
#[must_use]
pub fn beat(events: EventTimes<'_>) -> Option<Periodicity> {
    let inside = |t: &f64| (0.0..=events.exposure_s).contains(t);
    if events.times_s.len() < FEWEST || !events.times_s.iter().all(inside) {
        return None;
    }
    let (times, span) = looked_at(events);
    if times.len() < FEWEST || span <= 0.0 {
        return None;
    }
    let dispersion = windows(EventTimes {
        times_s: &times,
        exposure_s: span,
    });
    let dispersion = dispersion.map_or(1.0, |of| of.phi);
    let n = times.len() as f64;
    let (lowest, highest) = (2.0 / span, MISSING * n / span);
    let step = 1.0 / (OVERSAMPLING * span);
    let tried = ((highest - lowest) / step).max(0.0) as usize;
    let powers: Vec<f64> = (0..=tried)
        .map(|at| power(&times, lowest + at as f64 * step))
        .collect();
    let greatest = powers.iter().copied().fold(0.0, f64::max);
    let first = powers.iter().position(|&p| p >= AS_STRONG * greatest)?;
    let frequency = refined(&times, lowest + first as f64 * step, step);
    let greatest = greatest.max(power(&times, frequency));
    let z = greatest / dispersion;
    let independent = (highest - lowest) * (4.0 * PI * variance(&times)).sqrt();
    let p = (-z).exp() * (1.0 + independent * z.sqrt());
    Some(Periodicity {
        period: 1.0 / frequency,
        n: times.len(),
        on_beat: on_beat(&times, frequency),
        p: p.clamp(f64::MIN_POSITIVE, 1.0),
    })
}

/// The first distinct times, and the span in which they lie.
fn looked_at(events: EventTimes<'_>) -> (Vec<f64>, f64) {
    let mut times = sorted(events.times_s);
    for _ in 0..ROUNDS {
        let together = AT_ONCE * events.exposure_s / times.len() as f64;
        let many = times.len();
        // The first of several simultaneous events is kept.
        times.dedup_by(|later, kept| *later - *kept <= together);
        if times.len() == many {
            break;
        }
    }
    let span = times.get(MOST).copied().unwrap_or(events.exposure_s);
    times.truncate(MOST);
    (times, span)
}

/// The sums of the cosines and the sines of all phases.
fn sums(times: &[f64], frequency: f64) -> (f64, f64) {
    let phases = times
        .iter()
        .map(|t| (TAU * (frequency * t).fract()).sin_cos());
    phases.fold((0.0, 0.0), |(c, s), (sin, cos)| (c + cos, s + sin))
}

fn power(times: &[f64], frequency: f64) -> f64 {
    let (c, s) = sums(times, frequency);
    (c * c + s * s) / times.len() as f64
}

/// The frequency of the largest power nearby.
fn refined(times: &[f64], mut at: f64, step: f64) -> f64 {
    let mut reach = step;
    for _ in 0..30 {
        let near = [at - reach, at, at + reach];
        let best = near.into_iter().max_by(|a, b| {
            let powers = (power(times, *a), power(times, *b));
            powers.0.total_cmp(&powers.1)
        });
        match best {
            Some(best) if best != at => at = best,
            _ => reach *= 0.5,
        }
    }
    at
}

fn on_beat(times: &[f64], frequency: f64) -> usize {
    let (c, s) = sums(times, frequency);
    let phase = s.atan2(c) / TAU;
    let near = |t: &&f64| {
        let off = frequency * **t - phase;
        (off - off.round()).abs() <= 0.1
    };
    times.iter().filter(near).count()
}

#[cfg(test)]
#[path = "beat_tests.rs"]
mod tests;
