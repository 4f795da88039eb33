//! The resolution at which data are kept. Each resolution keeps a subset of what a
//! finer one keeps, so that coarsening in steps gives the same result as coarsening at
//! once.

/// Limits on the size of the evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvidenceLimits {
    /// Maximum number of values of a curve; at least 16.
    pub points: usize,
    /// Maximum number of stretches of a series; at least 2.
    pub stretches: usize,
    /// Maximum size of all curves and series together as JSON, in bytes.
    pub bytes: usize,
}

impl Default for EvidenceLimits {
    fn default() -> Self {
        EvidenceLimits {
            points: 128,
            stretches: 256,
            bytes: 1_000_000,
        }
    }
}

/// Values that every curve includes in addition: both extremes and four
/// quantiles.
const ALWAYS: usize = 6;
/// The decades that the grid of the tail spans: its shares above a value go from 1 down to
/// 10^-DECADES.
pub(super) const DECADES: usize = 6;
/// The coarsest resolution used to save bytes.
const COARSEST: EvidenceResolution = EvidenceResolution {
    body: 16,
    decade: 2,
    stretches: 16,
    turn: 0,
};

/// The resolution at which data are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EvidenceResolution {
    /// The number of equal steps of the share.
    pub(super) body: usize,
    /// The number of equal steps of the logarithm of the share above, per
    /// decade.
    pub(super) decade: usize,
    /// The number of stretches of time.
    pub(super) stretches: usize,
    /// The field that is coarsened next: 0 for `stretches`, 1 for `body`, 2 for `decade`.
    turn: u8,
}

impl EvidenceResolution {
    /// The finest resolution within the limits.
    pub(super) fn finest(limits: &EvidenceLimits) -> EvidenceResolution {
        let points = limits.points.saturating_sub(ALWAYS);
        let decade = halvable(points / 2 / DECADES, COARSEST.decade);
        let body = points.saturating_sub(decade * DECADES).min(points / 2);
        EvidenceResolution {
            body: halvable(body, COARSEST.body).max(4),
            decade,
            stretches: halvable(limits.stretches, COARSEST.stretches),
            turn: 0,
        }
    }

    /// The next coarser resolution; `None` if there is none.
    pub(super) fn coarser(self) -> Option<EvidenceResolution> {
        let mut next = self;
        for _ in 0..3 {
            let (value, coarsest) = match next.turn {
                0 => (&mut next.stretches, COARSEST.stretches),
                1 => (&mut next.body, COARSEST.body),
                _ => (&mut next.decade, COARSEST.decade),
            };
            let can = *value / 2 >= coarsest;
            if can {
                *value /= 2;
            }
            next.turn = (next.turn + 1) % 3;
            if can {
                return Some(next);
            }
        }
        None
    }

    /// Maximum number of values in a thinned curve, not counting those that it always includes.
    pub(super) fn points(self) -> usize {
        self.body + self.decade * DECADES
    }

    /// The shares above a value at which the tail is divided, descending from 1.
    pub(super) fn tail(self) -> Vec<f64> {
        (0..=self.decade * DECADES)
            .map(|step| 10f64.powf(-(step as f64) / self.decade as f64))
            .collect()
    }
}

/// The largest number up to `value` that stays an integer when halved repeatedly
/// until it would be less than `coarsest`; at least 1.
fn halvable(value: usize, coarsest: usize) -> usize {
    let halvings = (value / coarsest).checked_ilog2().unwrap_or(0);
    (value >> halvings << halvings).max(1)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    #[test]
    fn the_finest_is_within_the_limits() {
        for points in 16..2000 {
            let limits = EvidenceLimits {
                points,
                ..EvidenceLimits::default()
            };
            let grain = EvidenceResolution::finest(&limits);
            assert!(grain.points() + ALWAYS <= points, "{points}: {grain:?}");
        }
    }

    #[test]
    fn each_part_gets_coarser_until_none_can() {
        let mut grain = EvidenceResolution::finest(&EvidenceLimits::default());
        let mut steps = 0;
        while let Some(next) = grain.coarser() {
            let sum = |grain: EvidenceResolution| grain.body + grain.decade + grain.stretches;
            assert!(sum(next) < sum(grain));
            grain = next;
            steps += 1;
        }
        assert!(steps >= 5, "{steps}");
        let last = (grain.body, grain.decade, grain.stretches);
        assert_eq!(last, (30, 2, 16));
    }

    #[test]
    fn halves_are_whole() {
        for value in 1..3000 {
            let mut halved = halvable(value, 16);
            assert!(halved <= value && (value < 16 || 8 * (value - halved) < value));
            while halved / 2 >= 16 {
                assert_eq!(halved % 2, 0, "{value}");
                halved /= 2;
            }
        }
    }

    #[test]
    fn a_coarse_tail_is_cut_where_a_fine_one_is() {
        let grain = EvidenceResolution {
            decade: 8,
            ..COARSEST
        };
        let half = EvidenceResolution {
            decade: 4,
            ..COARSEST
        };
        let every_other: Vec<f64> = grain.tail().into_iter().step_by(2).collect();
        assert_eq!(every_other, half.tail());
    }
}
