//! A logarithmic scale for changes: halving and doubling are equally far from no change.

use serde::Serialize;

/// The margin at both ends, in per cent of the width.
const EDGE: f64 = 3.0;
/// The minimum distance between ticks, so that their labels do not overlap on a phone.
const APART: f64 = 13.0;
/// Candidate changes for ticks.
const TICKS: [f64; 26] = [
    -0.98, -0.95, -0.9, -0.8, -0.6, -0.5, -0.4, -0.3, -0.2, -0.1, -0.05, -0.02, -0.01, 0.01, 0.02,
    0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 9.0, 19.0, 49.0, 99.0,
];

/// Maps positions to per cent of the width.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct EffectScale {
    low: f64,
    high: f64,
    /// The position of no change.
    none: f64,
    /// The start and width of the band of changes within the margin.
    band: [f64; 2],
    ticks: Vec<ScaleTick>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct ScaleTick {
    at: f64,
    text: String,
}

impl EffectScale {
    /// Builds a scale for values and intervals. An interval much wider than the spread of the
    /// values extends beyond the scale. `place` maps a change to its position.
    pub(super) fn new(
        values: &[f64],
        intervals: &[[f64; 2]],
        margin: f64,
        place: impl Fn(f64) -> f64,
    ) -> Self {
        let values = || values.iter().copied();
        let (least, most) = (values().fold(0.0, f64::min), values().fold(0.0, f64::max));
        let room = (most - least).max(3.0 * margin);
        let mut low = least;
        let mut high = most;
        for [from, to] in intervals {
            low = low.min(from.max(least - room));
            high = high.max(to.min(most + room));
        }
        // Keeps both sides visible, whatever the values.
        let side = (high - low).max(4.0 * margin) / 4.0;
        low = low.min(-side);
        high = high.max(side);
        let mut scale = EffectScale {
            low,
            high,
            none: 0.0,
            band: [0.0; 2],
            ticks: Vec::new(),
        };
        scale.none = scale.at(0.0);
        let ends = [place(-margin), place(margin)].map(|end| scale.at(end));
        scale.band = [ends[0].min(ends[1]), round((ends[0] - ends[1]).abs())];
        scale.ticks = scale.ticks(place);
        scale
    }

    /// The position in per cent of the width; positions beyond an end are moved to that end.
    pub(super) fn at(&self, place: f64) -> f64 {
        let share = (place.clamp(self.low, self.high) - self.low) / (self.high - self.low);
        round(EDGE + share * (100.0 - 2.0 * EDGE))
    }

    /// Like [`EffectScale::at`], but `None` beyond the ends.
    pub(super) fn inside(&self, place: f64) -> Option<f64> {
        let within = (self.low - 1e-9..=self.high + 1e-9).contains(&place);
        within.then(|| self.at(place))
    }

    /// The outermost ticks that fit, and more between them where there is room.
    fn ticks(&self, place: impl Fn(f64) -> f64) -> Vec<ScaleTick> {
        let mut ticks = vec![ScaleTick {
            at: self.none,
            text: "0 %".to_owned(),
        }];
        let fitting = TICKS.iter().filter_map(|change| {
            let at = self.inside(place(*change))?;
            Some((at, *change))
        });
        let mut fitting: Vec<(f64, f64)> = fitting.collect();
        fitting.sort_by(|a, b| (b.0 - self.none).abs().total_cmp(&(a.0 - self.none).abs()));
        for (at, change) in fitting {
            if ticks
                .iter()
                .all(|tick| (middle(tick.at) - middle(at)).abs() >= APART)
            {
                let text = text(change);
                ticks.push(ScaleTick { at, text });
            }
        }
        ticks.sort_by(|a, b| a.at.total_cmp(&b.at));
        ticks
    }
}

/// The middle of a tick's label. Near an edge the label starts or ends at the tick.
fn middle(at: f64) -> f64 {
    const HALF: f64 = 5.0;
    match at {
        at if at < 8.0 => at + HALF,
        at if at > 92.0 => at - HALF,
        at => at,
    }
}

fn text(change: f64) -> String {
    if change >= 1.0 {
        format!("{} x", (change + 1.0).round())
    } else {
        let sign = if change > 0.0 { "+" } else { "" };
        format!("{sign}{} %", (change * 100.0).round())
    }
}

/// Rounds to a hundredth of a per cent, which is finer than any screen.
fn round(share: f64) -> f64 {
    (share * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(change: f64) -> f64 {
        (1.0 + change).ln()
    }

    #[test]
    fn half_is_as_far_to_the_left_as_twice_is_to_the_right() {
        let scale = EffectScale::new(&[log(-0.5), log(1.0)], &[], 0.01, log);
        assert_eq!(
            [scale.at(log(-0.5)), scale.none, scale.at(log(1.0))],
            [3.0, 50.0, 97.0]
        );
        let texts: Vec<&str> = scale.ticks.iter().map(|tick| tick.text.as_str()).collect();
        assert_eq!(texts, ["-50 %", "-30 %", "0 %", "+50 %", "2 x"]);
    }

    #[test]
    fn both_sides_can_be_seen_where_all_is_on_one() {
        let scale = EffectScale::new(&[log(-0.4)], &[[log(-0.42), log(-0.38)]], 0.01, log);
        assert!(scale.none < 85.0 && scale.none > 60.0, "{scale:?}");
        assert_eq!(scale.inside(log(1.0)), None);
    }

    #[test]
    fn one_wide_interval_does_not_make_all_others_small() {
        let scale = EffectScale::new(
            &[log(-0.1), log(-0.05)],
            &[[log(-0.9), log(9.0)]],
            0.01,
            log,
        );
        assert_eq!(scale.inside(log(9.0)), None);
        let apart = scale.at(log(-0.05)) - scale.at(log(-0.1));
        assert!(apart > 10.0, "{scale:?}");
    }

    #[test]
    fn where_more_is_better_the_better_side_is_the_left_one() {
        let place = |change: f64| -log(change);
        let scale = EffectScale::new(&[place(0.5)], &[], 0.01, place);
        assert!(scale.at(place(0.5)) < scale.none);
        assert!(
            scale.ticks.first().is_some_and(|tick| tick.text == "+50 %"),
            "{scale:?}"
        );
    }

    #[test]
    fn where_nothing_differs_the_margin_can_be_seen() {
        let scale = EffectScale::new(&[0.0], &[[-0.001, 0.001]], 0.01, log);
        assert!(scale.band[1] > 20.0, "{scale:?}");
    }
}
