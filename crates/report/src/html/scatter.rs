//! A plot of a trade-off: points with intervals, and the front as a line.
//!
//! It is drawn here rather than by the script, so it is visible without one.

use assize_verdict::{
    Better, Document, Standing, Tradeoff, TradeoffPoint, TradeoffValue, without_zeros,
};
use serde::Serialize;

use crate::number::significant;
use crate::readable::Readable;
use crate::wrap::cut;

const WIDTH: f64 = 680.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 660.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 352.0;
/// Half the size of a mark.
const MARK: f64 = 5.0;
/// The approximate width of a letter of a label, and the height of a line.
const LETTER: f64 = 6.9;
const LINE: f64 = 14.0;
/// Longer labels are cut.
const LONGEST: usize = 28;
/// Longer axis names are cut.
const LONGEST_NAME: usize = 84;
/// The axis is logarithmic if the largest value is more than this many times the smallest.
const LOGARITHMIC: f64 = 15.0;
/// The number of colours of the page.
const COLOURS: usize = 10;

/// The input of the template; positions are in pixels.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct ScatterPlot {
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    name_x: String,
    name_y: String,
    ticks_x: Vec<AxisTick>,
    ticks_y: Vec<AxisTick>,
    /// The boundary of the region that the front dominates.
    front: String,
    points: Vec<ScatterPoint>,
}

#[derive(Debug, PartialEq, Serialize)]
struct AxisTick {
    at: f64,
    text: String,
}

/// One configuration.
#[derive(Debug, PartialEq, Serialize)]
struct ScatterPoint {
    configuration: String,
    standing: &'static str,
    colour: String,
    mark: String,
    bars: Vec<String>,
    label: String,
    label_x: f64,
    label_y: f64,
    anchor: &'static str,
    /// A line from a label to its point, if the label is not next to it.
    leader: Option<String>,
}

/// A scale from values to pixels.
struct PixelScale {
    from: f64,
    to: f64,
    pixels: [f64; 2],
    is_log: bool,
}

/// A point before layout: its values and the ends of its intervals.
struct PointValues<'t> {
    point: &'t TradeoffPoint,
    /// Its index among all configurations, which determines its colour.
    index: usize,
    value: [f64; 2],
    ends: [Option<[f64; 2]>; 2],
}

/// Plots a trade-off whose axes are in `units`. `None` if no configuration has both
/// metrics.
pub(super) fn plot(
    document: &Document,
    tradeoff: &Tradeoff,
    units: [&Readable; 2],
) -> Option<ScatterPlot> {
    let placed = points_with_values(document, tradeoff, units);
    if placed.is_empty() {
        return None;
    }
    let scale = |which: usize, pixels: [f64; 2]| {
        let ends = placed.iter().filter_map(|one| one.ends[which]).flatten();
        PixelScale::for_values(
            placed.iter().map(|one| one.value[which]).chain(ends),
            pixels,
        )
    };
    let (x, y) = (scale(0, [LEFT, RIGHT]), scale(1, [BOTTOM, TOP]));
    let name = |which: usize| {
        let axis = [&tradeoff.x, &tradeoff.y][which];
        let unit = match units[which].unit.as_str() {
            "" => String::new(),
            unit => format!(", {unit}"),
        };
        let better = axis.better.word();
        let name = format!(
            "{} in {}{unit}; {better} is better",
            axis.metric, axis.workload
        );
        cut(&name, LONGEST_NAME)
    };
    let at: Vec<[f64; 2]> = placed
        .iter()
        .map(|one| [x.pixel(one.value[0]), y.pixel(one.value[1])])
        .collect();
    let on_front = placed
        .iter()
        .zip(&at)
        .filter(|(one, _)| one.point.standing == Standing::Front);
    let front = front(tradeoff, on_front.map(|(_, &at)| at).collect());
    let mut taken: Vec<OccupiedArea> = at.iter().map(|&at| OccupiedArea::around(at)).collect();
    let points = placed
        .iter()
        .zip(&at)
        .map(|(one, &at)| point(one, at, [&x, &y], &mut taken));
    Some(ScatterPlot {
        width: WIDTH,
        height: HEIGHT,
        left: LEFT,
        right: RIGHT,
        top: TOP,
        bottom: BOTTOM,
        name_x: name(0),
        name_y: name(1),
        points: points.collect(),
        ticks_x: x.ticks(),
        ticks_y: y.ticks(),
        front,
    })
}

/// The points with values in both metrics.
fn points_with_values<'t>(
    document: &Document,
    tradeoff: &'t Tradeoff,
    units: [&Readable; 2],
) -> Vec<PointValues<'t>> {
    let base = |of: fn(&TradeoffPoint) -> &TradeoffValue, baseline: &Option<String>| {
        let mut points = tradeoff.points.iter();
        let point = points.find(|point| Some(&point.configuration) == baseline.as_ref());
        point.and_then(|point| of(point).mean)
    };
    let bases = [
        base(|point| &point.x, &tradeoff.x.baseline),
        base(|point| &point.y, &tradeoff.y.baseline),
    ];
    let of = |point: &'t TradeoffPoint| {
        let values = [&point.x, &point.y];
        let value = [values[0].mean?, values[1].mean?];
        let ends = [0, 1].map(|at| {
            let relation = values[at].relative.as_ref()?;
            let (base, ci) = (bases[at]?, relation.ci?);
            let end = |end: f64| match relation.ratio {
                Some(_) => units[at].value(base * end),
                None => units[at].value(base + end),
            };
            Some(ci.map(end))
        });
        let mut names = document.configurations.iter();
        let index = names.position(|one| one.name == point.configuration);
        Some(PointValues {
            point,
            index: index.unwrap_or(0),
            value: [0, 1].map(|at| units[at].value(value[at])),
            ends,
        })
    };
    tradeoff.points.iter().filter_map(of).collect()
}

impl PixelScale {
    fn for_values(values: impl Iterator<Item = f64>, pixels: [f64; 2]) -> Self {
        let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let is_log = low > 0.0 && high / low > LOGARITHMIC;
        let (from, to) = if is_log {
            let room = (high / low).powf(0.06);
            (low / room, high * room)
        } else {
            let room = match high - low {
                0.0 => high.abs().max(1.0) * 0.05,
                width => width * 0.06,
            };
            (low - room, high + room)
        };
        PixelScale {
            from,
            to,
            pixels,
            is_log,
        }
    }

    fn pixel(&self, value: f64) -> f64 {
        let share = match self.is_log {
            true => (value / self.from).ln() / (self.to / self.from).ln(),
            false => (value - self.from) / (self.to - self.from),
        };
        round_to_tenths(self.pixels[0] + share * (self.pixels[1] - self.pixels[0]))
    }

    fn ticks(&self) -> Vec<AxisTick> {
        let values = match self.is_log {
            true => self.decades(),
            false => self.steps(),
        };
        let tick = |value: f64| AxisTick {
            at: self.pixel(value),
            text: short(value),
        };
        values.into_iter().map(tick).collect()
    }

    /// Ticks at 1, 2 and 5 times powers of ten.
    fn decades(&self) -> Vec<f64> {
        let powers = self.from.log10().floor() as i32..=self.to.log10().ceil() as i32;
        let all = powers.flat_map(|power| [1.0, 2.0, 5.0].map(|step| step * 10_f64.powi(power)));
        all.filter(|value| (self.from..=self.to).contains(value))
            .collect()
    }

    /// About six ticks at round numbers.
    fn steps(&self) -> Vec<f64> {
        let rough = (self.to - self.from) / 6.0;
        let power = 10_f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
        let step = steps
            .into_iter()
            .find(|step| *step >= rough)
            .unwrap_or(rough);
        let first = (self.from / step).ceil() as i64;
        let last = (self.to / step).floor() as i64;
        (first..=last).map(|at| at as f64 * step).collect()
    }
}

/// Formats a round number without trailing zeros.
fn short(value: f64) -> String {
    without_zeros(&significant(value, 4)).to_owned()
}

/// Rounds to a tenth of a pixel, which keeps the output short and reproducible.
fn round_to_tenths(pixels: f64) -> f64 {
    (pixels * 10.0).round() / 10.0
}

/// The line through the points of the front. Between neighbours it passes through the corner with
/// the worse value of both metrics; at the ends it continues to the edges of the plot.
fn front(tradeoff: &Tradeoff, mut at: Vec<[f64; 2]>) -> String {
    at.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let (Some(first), Some(last)) = (at.first(), at.last()) else {
        return String::new();
    };
    let lower_x = tradeoff.x.better == Better::Lower;
    let lower_y = tradeoff.y.better == Better::Lower;
    // On the screen, y grows downwards.
    let worse_x = if lower_x { f64::max } else { f64::min };
    let worse_y = if lower_y { f64::min } else { f64::max };
    let (far_x, far_y) = (
        if lower_x { RIGHT } else { LEFT },
        if lower_y { TOP } else { BOTTOM },
    );
    let best_x = if lower_x { first } else { last };
    let worst_x = if lower_x { last } else { first };
    let mut path: Vec<[f64; 2]> = vec![[best_x[0], far_y]];
    let ordered: Vec<&[f64; 2]> = match lower_x {
        true => at.iter().collect(),
        false => at.iter().rev().collect(),
    };
    for pair in ordered.windows(2) {
        path.push(*pair[0]);
        path.push([
            worse_x(pair[0][0], pair[1][0]),
            worse_y(pair[0][1], pair[1][1]),
        ]);
    }
    path.push(*worst_x);
    path.push([far_x, worst_x[1]]);
    line(&path)
}

fn line(path: &[[f64; 2]]) -> String {
    let steps = path.iter().enumerate().map(|(at, [x, y])| {
        let step = if at == 0 { 'M' } else { 'L' };
        format!("{step}{x} {y}")
    });
    steps.collect()
}

fn point(
    one: &PointValues<'_>,
    at: [f64; 2],
    scales: [&PixelScale; 2],
    taken: &mut Vec<OccupiedArea>,
) -> ScatterPoint {
    let [x, y] = at;
    let mut bars = Vec::new();
    if let Some([low, high]) = one.ends[0].map(|ends| ends.map(|end| scales[0].pixel(end))) {
        bars.push(format!("M{low} {y}L{high} {y}"));
    }
    if let Some([low, high]) = one.ends[1].map(|ends| ends.map(|end| scales[1].pixel(end))) {
        bars.push(format!("M{x} {low}L{x} {high}"));
    }
    let name = cut(&one.point.configuration, LONGEST);
    let label = match one.point.standing {
        Standing::Undecided => format!("{name} ?"),
        Standing::Front | Standing::Dominated => name,
    };
    let (place, anchor, is_far) =
        free_label_place(at, label.chars().count() as f64 * LETTER, taken);
    let leader = is_far.then(|| line(&[at, [place[0], place[1] - 4.0]]));
    ScatterPoint {
        configuration: one.point.configuration.clone(),
        standing: one.point.standing.word(),
        colour: format!("var(--c{})", one.index % COLOURS),
        mark: mark(one.index, at),
        bars,
        label,
        label_x: place[0],
        label_y: place[1],
        anchor,
        leader,
    }
}

/// The mark of a configuration, with the same shape as in other plots, so that it is recognisable
/// without its colour.
fn mark(index: usize, [x, y]: [f64; 2]) -> String {
    let corners = |list: &[[f64; 2]]| {
        let at = |[dx, dy]: &[f64; 2]| {
            [
                round_to_tenths(x + dx * MARK),
                round_to_tenths(y + dy * MARK),
            ]
        };
        line(&list.iter().map(at).collect::<Vec<_>>()) + "Z"
    };
    match index % 5 {
        0 => {
            let left = round_to_tenths(x - MARK);
            let width = 2.0 * MARK;
            format!("M{left} {y}a{MARK} {MARK} 0 1 0 {width} 0a{MARK} {MARK} 0 1 0 -{width} 0Z")
        }
        1 => corners(&[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]]),
        2 => corners(&[[0.0, -1.2], [1.1, 0.9], [-1.1, 0.9]]),
        3 => corners(&[[0.0, -1.3], [1.3, 0.0], [0.0, 1.3], [-1.3, 0.0]]),
        _ => corners(&[[-1.1, -0.9], [1.1, -0.9], [0.0, 1.2]]),
    }
}

/// An area that is already occupied.
#[derive(Debug, Clone, Copy)]
struct OccupiedArea {
    x: [f64; 2],
    y: [f64; 2],
}

impl OccupiedArea {
    fn around([x, y]: [f64; 2]) -> Self {
        OccupiedArea {
            x: [x - MARK, x + MARK],
            y: [y - MARK, y + MARK],
        }
    }

    fn meets(&self, other: &OccupiedArea) -> bool {
        let meet = |a: [f64; 2], b: [f64; 2]| a[0] < b[1] && b[0] < a[1];
        meet(self.x, other.x) && meet(self.y, other.y)
    }

    fn is_inside(&self) -> bool {
        self.x[0] >= LEFT && self.x[1] <= WIDTH && self.y[0] >= TOP && self.y[1] <= BOTTOM
    }
}

/// Finds a free position for a label: to the right or left of its point, else at increasing
/// distance above or below. Returns the position, the text anchor, and whether a leader line is
/// needed.
fn free_label_place(
    [x, y]: [f64; 2],
    width: f64,
    taken: &mut Vec<OccupiedArea>,
) -> ([f64; 2], &'static str, bool) {
    let steps = (0..24).map(|step| {
        let rows = f64::from((step + 1) / 2) * LINE;
        if step % 2 == 1 { -rows } else { rows }
    });
    let mut candidates = steps.flat_map(|off| {
        let baseline = y + off + 4.0;
        let gap = MARK + 4.0;
        [
            (
                [x + gap, baseline],
                "start",
                [x + gap, x + gap + width],
                off,
            ),
            ([x - gap, baseline], "end", [x - gap - width, x - gap], off),
        ]
    });
    let of = |place: &[f64; 2], x: [f64; 2]| OccupiedArea {
        x,
        y: [place[1] - LINE + 3.0, place[1] + 3.0],
    };
    let fits = |(place, _, x, _): &([f64; 2], &str, [f64; 2], f64)| {
        let wanted = of(place, *x);
        wanted.is_inside() && !taken.iter().any(|other| other.meets(&wanted))
    };
    let beside = ([x + MARK + 4.0, y + 4.0], "start", [x, x + width], 0.0);
    let (place, anchor, across, off) = candidates.find(fits).unwrap_or(beside);
    taken.push(of(&place, across));
    (place.map(round_to_tenths), anchor, off.abs() > LINE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tradeoff(lower: [bool; 2], points: &[(&str, f64, f64, &str)]) -> Tradeoff {
        let none: [u8; 0] = [];
        let axis = |lower: bool| {
            serde_json::json!({
                "workload": "w", "metric": "m", "unit": "", "baseline": "a",
                "better": if lower { "lower" } else { "higher" },
            })
        };
        let value = |mean: f64| {
            let relation = serde_json::json!({
                "n_baseline": 8, "n": 8, "ratio": 1.0, "ci": [0.9, 1.2], "p_t": null,
                "t_test": null, "p": null, "difference": null, "verdict": "undecided",
                "because": null,
            });
            serde_json::json!({"n": 8, "mean": mean, "relative": relation})
        };
        let point = |(name, x, y, standing): &(&str, f64, f64, &str)| {
            serde_json::json!({
                "configuration": name, "x": value(*x), "y": value(*y), "standing": standing,
                "supported": false, "dominated_by": none, "not_told_from": none,
                "equivalent_to": none, "because": null,
            })
        };
        serde_json::from_value(serde_json::json!({
            "origin": "declared", "x": axis(lower[0]), "y": axis(lower[1]), "level": 0.95,
            "points": points.iter().map(point).collect::<Vec<_>>(), "because": null,
        }))
        .unwrap()
    }

    fn drawn(lower: [bool; 2], points: &[(&str, f64, f64, &str)]) -> ScatterPlot {
        let none: [u8; 0] = [];
        let document: Document = serde_json::from_value(serde_json::json!({
            "schema": "assize.verdict/1", "source": "bundle", "baseline": "a",
            "alpha": 0.05, "margin": 0.01, "configurations": none, "workloads": none,
            "runs": none, "summaries": none, "statements": none, "comparisons": none,
            "factorial": none, "rates": none, "rate_comparisons": none, "claims": none,
            "lints": none, "sentences": none, "reproduce": "",
        }))
        .unwrap();
        let plain = Readable::for_values("", std::iter::empty());
        plot(&document, &tradeoff(lower, points), [&plain, &plain]).unwrap()
    }

    const POINTS: [(&str, f64, f64, &str); 4] = [
        ("a", 10.0, 20.0, "front"),
        ("b", 20.0, 10.0, "front"),
        ("c", 25.0, 25.0, "dominated"),
        ("d", 11.0, 19.0, "undecided"),
    ];

    /// The corners of the line, in pixels.
    fn corners(path: &str) -> Vec<[f64; 2]> {
        let steps = path.split(['M', 'L']).filter(|step| !step.is_empty());
        let pair = |step: &str| {
            let (x, y) = step.split_once(' ').unwrap();
            [x.parse().unwrap(), y.parse().unwrap()]
        };
        steps.map(pair).collect()
    }

    #[test]
    fn the_front_goes_by_the_corner_that_is_as_bad_as_both() {
        let plot = drawn([true, true], &POINTS);
        let [start, a, corner, b, end] = corners(&plot.front)[..] else {
            panic!("{}", plot.front)
        };
        // From above down to `a`, right to the x of `b`, down to `b`, and right to the
        // edge.
        assert_eq!((start, end), ([a[0], TOP], [RIGHT, b[1]]));
        assert_eq!(corner, [b[0], a[1]]);
        assert!(a[0] < b[0] && a[1] < b[1], "y grows downwards");
        // If more is better in y, both points are on the front and the line runs the
        // other way.
        let other = [("a", 10.0, 10.0, "front"), ("b", 20.0, 20.0, "front")];
        let plot = drawn([true, false], &other);
        let [start, a, corner, b, end] = corners(&plot.front)[..] else {
            panic!("{}", plot.front)
        };
        assert_eq!((start, end), ([a[0], BOTTOM], [RIGHT, b[1]]));
        assert_eq!(corner, [b[0], a[1]]);
        assert!(a[0] < b[0] && a[1] > b[1]);
    }

    #[test]
    fn points_stand_where_their_values_are_with_their_intervals() {
        let plot = drawn([true, true], &POINTS);
        let tick = |text: &str| {
            plot.ticks_x
                .iter()
                .find(|tick| tick.text == text)
                .unwrap()
                .at
        };
        // `a` is the baseline, at 10, and all intervals reach from 9 to 12.
        assert_eq!(corners(&plot.front)[1][0], tick("10"));
        let bar = corners(&plot.points[0].bars[0]);
        assert!(bar[0][0] < tick("10") && bar[1][0] > tick("10") && bar[1][0] < tick("15"));
        assert_eq!(plot.points[0].bars.len(), 2);
        let standings: Vec<&str> = plot.points.iter().map(|point| point.standing).collect();
        assert_eq!(standings, ["front", "front", "dominated", "undecided"]);
        let labels: Vec<&str> = plot.points.iter().map(|point| &*point.label).collect();
        assert_eq!(
            labels,
            ["a", "b", "c", "d ?"],
            "the sign is not only a colour"
        );
    }

    #[test]
    fn labels_of_points_that_lie_on_each_other_do_not() {
        let crowd: Vec<(String, f64)> = (0..12)
            .map(|at| (format!("configuration{at}"), 1e-3 * f64::from(at)))
            .collect();
        let mut points: Vec<(&str, f64, f64, &str)> = crowd
            .iter()
            .map(|(name, off)| (&**name, 10.0 + off, 10.0, "front"))
            .collect();
        points.push(("far", 30.0, 1.0, "front"));
        let plot = drawn([true, true], &points);
        let boxes: Vec<OccupiedArea> = plot
            .points
            .iter()
            .map(|point| {
                let width = point.label.len() as f64 * LETTER;
                let left = if point.anchor == "start" {
                    point.label_x
                } else {
                    point.label_x - width
                };
                OccupiedArea {
                    x: [left, left + width],
                    y: [point.label_y - LINE + 3.0, point.label_y + 3.0],
                }
            })
            .collect();
        for (at, one) in boxes.iter().enumerate() {
            assert!(one.is_inside(), "{:?}", plot.points[at]);
            assert!(boxes[at + 1..].iter().all(|other| !other.meets(one)));
        }
        assert!(plot.points.iter().any(|point| point.leader.is_some()));
    }

    #[test]
    fn values_that_are_many_times_each_other_have_a_logarithmic_axis() {
        let plot = drawn(
            [true, true],
            &[("a", 1.0, 1.0, "front"), ("b", 1000.0, 2.0, "dominated")],
        );
        let at: Vec<f64> = plot.ticks_x.iter().map(|tick| tick.at).collect();
        let texts: Vec<&str> = plot.ticks_x.iter().map(|tick| &*tick.text).collect();
        let place = |text: &str| at[texts.iter().position(|one| *one == text).unwrap()];
        assert!(((place("100") - place("10")) - (place("10") - place("1"))).abs() < 0.3);
    }

    #[test]
    fn values_that_are_all_the_same_and_zeroes_are_drawn() {
        for value in [0.0, 5.0, -3.0, 1e-9] {
            let plot = drawn([true, true], &[("a", value, value, "front")]);
            assert!(plot.ticks_x.len() < 30);
            assert!(
                corners(&plot.front)
                    .iter()
                    .flatten()
                    .all(|pixel| pixel.is_finite())
            );
        }
    }
}
