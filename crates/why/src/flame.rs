//! The frames of a differential flame graph. Figures are integers, so that every frame is
//! exactly the sum of its self count and the frames below it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::calls::Call;
use crate::difference::{CountedPair, CountedRun, number};
use crate::stored::StoredFlame;

/// The first threshold above zero.
const SMALLEST: f64 = 1e-6;

/// Accessors for the two configurations, in the order of the figures.
const SIDES: [fn(&CountedPair) -> &CountedRun; 2] = [|pair| &pair.a, |pair| &pair.b];

/// One frame. Figures are for the first and the second configuration, summed over all
/// seeds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlameFrame {
    /// The name of the thread, subsystem or function; empty for the root and for a frame
    /// of merged small ones.
    pub name: String,
    /// The number of small frames merged into this one; 0 for an ordinary frame.
    pub others: usize,
    /// Inclusive instructions.
    pub all: [u64; 2],
    /// Self instructions.
    pub own: [u64; 2],
    /// The number of entries.
    pub entered: [u64; 2],
    /// The frames below, widest first.
    pub below: Vec<FlameFrame>,
}

/// The frames of two configurations.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(into = "StoredFlame", try_from = "StoredFlame")]
pub struct Flame {
    /// Whether frames are call stacks; otherwise they are thread, subsystem and function.
    pub stacks: bool,
    /// The divisors that convert figures to per job or per run.
    pub jobs: [f64; 2],
    /// Frames with a smaller share of all instructions in both configurations are merged.
    pub least: f64,
    /// The root, with all instructions; threads are below it.
    pub whole: FlameFrame,
}

impl Flame {
    /// Builds the frames of these runs: call stacks if `trees` is set and all runs have
    /// them. Frames with a share below `least` are merged. If more than `most` frames
    /// remain, the threshold is doubled until they fit.
    #[must_use]
    pub fn from_pairs(pairs: &[CountedPair], trees: bool, least: f64, most: usize) -> Flame {
        let sides = || pairs.iter().flat_map(|pair| [&pair.a, &pair.b]);
        let by_job = sides().all(|side| side.jobs.is_some_and(|jobs| jobs > 0.0));
        let stacks = trees && sides().all(|side| side.calls.is_some());
        let mut whole = FlameFrame::default();
        for pair in pairs {
            for (at, side) in SIDES.iter().enumerate() {
                let side = side(pair);
                let stack = match side.calls.as_ref().filter(|_| stacks) {
                    Some(calls) => of_calls(&calls.threads),
                    None => of_places(side),
                };
                add(&mut whole, &stack, at);
            }
        }
        let jobs = SIDES.map(|side| {
            let of = pairs.iter().map(|pair| side(pair).jobs.unwrap_or(1.0));
            let each: f64 = of.sum();
            let runs = number(pairs.len().max(1) as u64);
            if by_job { each } else { runs }
        });
        Flame {
            stacks,
            jobs,
            least,
            whole,
        }
        .within(most)
    }

    /// Reduces the graph to at most `most` frames: frames below [`Flame::least`] are
    /// merged, and the threshold is doubled until the rest fits.
    #[must_use]
    pub fn within(self, most: usize) -> Flame {
        let complete = self.whole;
        let mut least = self.least;
        loop {
            let mut whole = complete.clone();
            let limits = whole.all.map(|all| least * number(all));
            fold(&mut whole, limits);
            if whole.frames() <= most || least >= 1.0 {
                return Flame {
                    least,
                    whole,
                    ..self
                };
            }
            // Doubling a threshold of zero has no effect.
            least = (least * 2.0).max(SMALLEST);
        }
    }
}

impl FlameFrame {
    /// The number of frames in this subtree, including itself.
    #[must_use]
    pub fn frames(&self) -> usize {
        1 + self.below.iter().map(FlameFrame::frames).sum::<usize>()
    }
}

/// The frames of one run, by name.
#[derive(Default)]
struct Stack {
    own: u64,
    entered: u64,
    below: BTreeMap<String, Stack>,
}

fn of_calls(calls: &BTreeMap<String, Call>) -> Stack {
    let below = |(name, call): (&String, &Call)| {
        let stack = Stack {
            own: call.own,
            entered: call.entered,
            ..of_calls(&call.callees)
        };
        (name.clone(), stack)
    };
    Stack {
        below: calls.iter().map(below).collect(),
        ..Stack::default()
    }
}

fn of_places(side: &CountedRun) -> Stack {
    let mut whole = Stack::default();
    for (place, times) in &side.profile.places {
        let thread = whole.below.entry(place.thread.clone()).or_default();
        let subsystem = thread.below.entry(place.subsystem.clone()).or_default();
        let function = subsystem.below.entry(place.function.clone()).or_default();
        function.own += times;
    }
    whole
}

/// Adds a run of one configuration to the frames and returns its inclusive instructions.
fn add(frame: &mut FlameFrame, stack: &Stack, side: usize) -> u64 {
    let mut all = stack.own;
    for (name, stack) in &stack.below {
        let at = frame.below.iter().position(|below| below.name == *name);
        let at = at.unwrap_or_else(|| {
            frame.below.push(FlameFrame {
                name: name.clone(),
                ..FlameFrame::default()
            });
            frame.below.len() - 1
        });
        if let Some(below) = frame.below.get_mut(at) {
            all += add(below, stack, side);
        }
    }
    for (figures, more) in [
        (&mut frame.all, all),
        (&mut frame.own, stack.own),
        (&mut frame.entered, stack.entered),
    ] {
        if let Some(figure) = figures.get_mut(side) {
            *figure += more;
        }
    }
    all
}

/// Merges all frames below the limits, and those already merged, into one frame; sorts
/// the rest.
fn fold(frame: &mut FlameFrame, limits: [f64; 2]) {
    let small = |frame: &FlameFrame| {
        let mut both = frame.all.iter().zip(limits);
        frame.others > 0 || both.all(|(all, limit)| number(*all) < limit)
    };
    let (others, mut kept): (Vec<FlameFrame>, Vec<FlameFrame>) = std::mem::take(&mut frame.below)
        .into_iter()
        .partition(small);
    for below in &mut kept {
        fold(below, limits);
    }
    let widest = |frame: &FlameFrame| frame.all.into_iter().max();
    kept.sort_by(|one, other| {
        let sizes = widest(other).cmp(&widest(one));
        sizes.then_with(|| one.name.cmp(&other.name))
    });
    if !others.is_empty() {
        let mut one = FlameFrame {
            others: others.iter().map(|other| other.others.max(1)).sum(),
            ..FlameFrame::default()
        };
        for other in &others {
            for (sum, all) in one.all.iter_mut().zip(other.all) {
                *sum += all;
            }
        }
        one.own = one.all;
        kept.push(one);
    }
    frame.below = kept;
}

#[cfg(test)]
#[path = "flame_tests.rs"]
mod tests;
