//! Detects gaps in readings of a counter: a pure state machine that gets each reading.

/// Limits in ticks of the counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GapLimits {
    /// Minimum length of a gap.
    pub(super) threshold: u64,
    /// Minimum length of a delay; not above the threshold.
    pub(super) notice: u64,
    /// Watched part of each window; watches all the time if not less than the window.
    pub(super) width: u64,
    /// Time from the beginning of one window to that of the next.
    pub(super) window: u64,
}

/// The result of one reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DetectorStep {
    /// No delay.
    Quiet,
    /// A delay that is too short to be a gap.
    Noticed,
    /// A gap.
    Gap(BlindSpan),
}

/// An interval without readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlindSpan {
    /// The last reading before it.
    pub(super) from: u64,
    /// Its length.
    pub(super) length: u64,
}

/// Follows the readings of one CPU.
///
/// A gap belongs to the time at which it begins: one that begins within the width and
/// continues beyond it counts as a whole; one that began before the first reading does
/// not count. So gaps over observed time are a rate, whatever the width.
#[derive(Debug, Clone)]
pub(super) struct GapDetector {
    limits: GapLimits,
    /// When the current window began.
    begun: u64,
    /// The last reading.
    last: u64,
    observed: u64,
    blind: u64,
    outside: u64,
    backwards: u64,
}

impl GapDetector {
    /// Starts with the reading `now`.
    pub(super) fn new(limits: GapLimits, now: u64) -> Self {
        let continuous = limits.width >= limits.window;
        let width = if continuous { u64::MAX } else { limits.width };
        GapDetector {
            limits: GapLimits { width, ..limits },
            begun: now,
            last: now,
            observed: 0,
            blind: 0,
            outside: 0,
            backwards: 0,
        }
    }

    /// Takes a reading. The counter may wrap around. Steps backwards are counted, and
    /// time continues from there.
    #[inline]
    pub(super) fn add_reading(&mut self, now: u64) -> DetectorStep {
        let length = now.wrapping_sub(self.last);
        if length >= self.limits.notice {
            return self.disturbed(now, length);
        }
        self.observe(length);
        self.last = now;
        DetectorStep::Quiet
    }

    #[cold]
    fn disturbed(&mut self, now: u64, length: u64) -> DetectorStep {
        if length > u64::MAX / 2 {
            self.backwards += 1;
            self.begun = self.begun.wrapping_add(length);
            self.last = now;
            return DetectorStep::Quiet;
        }
        let from = self.last;
        self.observe(length);
        self.last = now;
        match length >= self.limits.threshold {
            true => DetectorStep::Gap(BlindSpan { from, length }),
            false => DetectorStep::Noticed,
        }
    }

    #[inline]
    fn observe(&mut self, length: u64) {
        let inside = length.min(self.left());
        self.observed = self.observed.saturating_add(inside);
        self.outside = self.outside.saturating_add(length - inside);
    }

    /// The rest of the width.
    fn left(&self) -> u64 {
        let gone = self.last.wrapping_sub(self.begun);
        self.limits.width.saturating_sub(gone)
    }

    /// Continues with this reading, after a time without watching.
    pub(super) fn resume(&mut self, now: u64) {
        let length = self.since(now);
        let inside = length.min(self.left());
        self.blind = self.blind.saturating_add(inside);
        self.outside = self.outside.saturating_add(length - inside);
        self.last = now;
    }

    /// The beginning of the next window, if the width of this one has passed.
    #[inline]
    pub(super) fn next_window(&self) -> Option<u64> {
        let gone = self.last.wrapping_sub(self.begun);
        (gone >= self.limits.width).then(|| self.begun.wrapping_add(self.limits.window))
    }

    /// Starts a window with the reading `now`.
    pub(super) fn open_window(&mut self, now: u64) {
        self.outside = self.outside.saturating_add(self.since(now));
        self.begun = now;
        self.last = now;
    }

    /// The time since the last reading; 0 if the counter went back.
    fn since(&mut self, now: u64) -> u64 {
        let length = now.wrapping_sub(self.last);
        match length > u64::MAX / 2 {
            true => {
                self.backwards += 1;
                self.begun = self.begun.wrapping_add(length);
                0
            }
            false => length,
        }
    }

    /// Time in which a gap would have been seen.
    pub(super) fn observed(&self) -> u64 {
        self.observed
    }

    /// Time spent reading counters instead.
    pub(super) fn blind(&self) -> u64 {
        self.blind
    }

    /// Time outside of the widths.
    pub(super) fn outside(&self) -> u64 {
        self.outside
    }

    /// How often the counter went back.
    pub(super) fn backwards(&self) -> u64 {
        self.backwards
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALWAYS: GapLimits = GapLimits {
        threshold: 100,
        notice: 40,
        width: 1000,
        window: 1000,
    };
    const HALF: GapLimits = GapLimits {
        width: 500,
        ..ALWAYS
    };

    /// Takes readings at these intervals; returns the results.
    fn fed(detector: &mut GapDetector, from: u64, steps: &[u64]) -> Vec<DetectorStep> {
        let mut now = from;
        let mut seen = Vec::new();
        for step in steps {
            now = now.wrapping_add(*step);
            seen.push(detector.add_reading(now));
        }
        seen
    }

    fn gap(from: u64, length: u64) -> DetectorStep {
        DetectorStep::Gap(BlindSpan { from, length })
    }

    #[test]
    fn a_gap_is_as_long_as_the_threshold_or_longer() {
        let mut detector = GapDetector::new(ALWAYS, 7);
        let seen = fed(&mut detector, 7, &[39, 40, 99, 100, 5000, 10]);
        let expected = [
            DetectorStep::Quiet,
            DetectorStep::Noticed,
            DetectorStep::Noticed,
            gap(185, 100),
            gap(285, 5000),
            DetectorStep::Quiet,
        ];
        assert_eq!(seen, expected);
        assert_eq!(detector.observed(), 39 + 40 + 99 + 100 + 5000 + 10);
        assert_eq!((detector.blind(), detector.outside()), (0, 0));
    }

    #[test]
    fn readings_without_disturbance_are_no_gap_however_many() {
        let mut detector = GapDetector::new(ALWAYS, 0);
        let seen = fed(&mut detector, 0, &[39; 10_000]);
        assert!(seen.iter().all(|step| *step == DetectorStep::Quiet));
        assert_eq!(detector.observed(), 390_000);
        assert_eq!(detector.next_window(), None, "it is watched all the time");
    }

    #[test]
    fn a_counter_that_wraps_goes_on() {
        let from = u64::MAX - 50;
        let mut detector = GapDetector::new(ALWAYS, from);
        let seen = fed(&mut detector, from, &[30, 150, 30]);
        assert_eq!(
            seen,
            [
                DetectorStep::Quiet,
                gap(u64::MAX - 20, 150),
                DetectorStep::Quiet
            ]
        );
        assert_eq!((detector.observed(), detector.backwards()), (210, 0));
    }

    #[test]
    fn a_counter_that_goes_back_is_no_gap_and_no_time() {
        let mut detector = GapDetector::new(HALF, 1000);
        assert_eq!(detector.add_reading(1030), DetectorStep::Quiet);
        assert_eq!(detector.add_reading(930), DetectorStep::Quiet);
        assert_eq!(detector.backwards(), 1);
        assert_eq!(detector.observed(), 30);
        // The width keeps its length.
        assert_eq!(detector.add_reading(930 + 120), gap(930, 120));
        assert_eq!(detector.observed(), 150);
        assert_eq!(detector.next_window(), None);
        assert_eq!(detector.add_reading(930 + 470), gap(1050, 350));
        assert_eq!(detector.next_window(), Some(930 - 30 + 1000));
        assert_eq!(detector.observed(), 500);
        // Also while not watching.
        detector.resume(100);
        assert_eq!((detector.backwards(), detector.blind()), (2, 0));
    }

    #[test]
    fn a_gap_in_which_the_width_ends_counts_whole_and_is_observed_in_part() {
        let mut detector = GapDetector::new(HALF, 0);
        assert_eq!(fed(&mut detector, 0, &[30; 16]), [DetectorStep::Quiet; 16]);
        assert_eq!(detector.next_window(), None);
        assert_eq!(detector.add_reading(480 + 300), gap(480, 300));
        assert_eq!((detector.observed(), detector.outside()), (500, 280));
        assert_eq!(detector.next_window(), Some(1000));
        // What precedes the first reading of a window is not seen.
        detector.open_window(1700);
        assert_eq!(detector.outside(), 280 + 920);
        assert_eq!(detector.add_reading(1730), DetectorStep::Quiet);
        assert_eq!(detector.observed(), 530);
    }

    #[test]
    fn a_width_that_ends_at_a_reading_is_over() {
        let mut detector = GapDetector::new(HALF, 0);
        fed(&mut detector, 0, &[25; 20]);
        assert_eq!((detector.observed(), detector.outside()), (500, 0));
        assert_eq!(detector.next_window(), Some(1000));
    }

    #[test]
    fn time_for_something_else_is_blind_and_holds_no_gap() {
        let mut detector = GapDetector::new(ALWAYS, 0);
        assert_eq!(detector.add_reading(150), gap(0, 150));
        detector.resume(2150);
        assert_eq!(detector.add_reading(2180), DetectorStep::Quiet);
        assert_eq!((detector.observed(), detector.blind()), (180, 2000));
        // Time beyond the width is outside.
        let mut detector = GapDetector::new(HALF, 0);
        assert_eq!(detector.add_reading(450), gap(0, 450));
        detector.resume(650);
        assert_eq!((detector.blind(), detector.outside()), (50, 150));
        assert_eq!(detector.next_window(), Some(1000));
    }

    proptest! {
        /// Planted gaps are found, each once with its length, and every tick is
        /// accounted for.
        #[test]
        fn what_is_planted_is_found(
            from in any::<u64>(),
            steps in proptest::collection::vec((1u64..300, any::<bool>()), 1..300),
            half in any::<bool>(),
        ) {
            let limits = if half { HALF } else { ALWAYS };
            let mut detector = GapDetector::new(limits, from);
            let (mut now, mut planted, mut found) = (from, Vec::new(), Vec::new());
            for (step, read) in steps {
                if step >= 100 {
                    planted.push(BlindSpan { from: now, length: step });
                }
                now = now.wrapping_add(step);
                match detector.add_reading(now) {
                    DetectorStep::Gap(span) => {
                        found.push(span);
                        now = now.wrapping_add(17);
                        detector.resume(now);
                    }
                    DetectorStep::Noticed => prop_assert!((40..100).contains(&step)),
                    DetectorStep::Quiet => prop_assert!(step < 40),
                }
                if let Some(next) = detector.next_window() {
                    // A sleep ends late, if the loop sleeps at all.
                    let late = if read { 0 } else { 23 };
                    now = if next.wrapping_sub(now) < u64::MAX / 2 { next } else { now };
                    now = now.wrapping_add(late);
                    detector.open_window(now);
                }
            }
            prop_assert_eq!(found, planted);
            let all = detector.observed() + detector.blind() + detector.outside();
            prop_assert_eq!(all, now.wrapping_sub(from));
        }
    }
}
