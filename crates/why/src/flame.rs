//! The trees of a differential flame graph: whole numbers, so that every frame
//! is exactly what it has itself and what is below it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::calls::Call;
use crate::difference::{Pair, Side, number};
use crate::stored::Stored;

/// The first threshold above none.
const SMALLEST: f64 = 1e-6;

/// The configurations, in the order of figures.
const SIDES: [fn(&Pair) -> &Side; 2] = [|pair| &pair.a, |pair| &pair.b];

/// One frame. Figures are of the first and of the second configuration, of all
/// seeds together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
    /// The thread, the subsystem or the function; empty for the whole and for
    /// small frames that are one.
    pub name: String,
    /// How many small frames this one is, if it is some.
    pub others: usize,
    /// Instructions with those of all frames below.
    pub all: [u64; 2],
    /// Instructions of its own.
    pub own: [u64; 2],
    /// How often it was entered.
    pub entered: [u64; 2],
    /// What is below it, the widest first.
    pub below: Vec<Frame>,
}

/// The frames of two configurations.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(into = "Stored", try_from = "Stored")]
pub struct Flame {
    /// Whether frames are stacks of calls, and not thread, subsystem and
    /// function.
    pub stacks: bool,
    /// By how much a figure is divided to be that of a job or run.
    pub jobs: [f64; 2],
    /// A frame with less than this share of all instructions, in both
    /// configurations, is one of some others.
    pub least: f64,
    /// All instructions; threads are below.
    pub whole: Frame,
}

impl Flame {
    /// The frames of these runs: stacks of calls if `trees` is asked for and
    /// all runs have them. Frames with less than the share `least` are put
    /// together; should there be more than `most` all the same, those with
    /// less than twice that, and so on.
    #[must_use]
    pub fn of(pairs: &[Pair], trees: bool, least: f64, most: usize) -> Flame {
        let sides = || pairs.iter().flat_map(|pair| [&pair.a, &pair.b]);
        let by_job = sides().all(|side| side.jobs.is_some_and(|jobs| jobs > 0.0));
        let stacks = trees && sides().all(|side| side.calls.is_some());
        let mut whole = Frame::default();
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

    /// The same with no more than so many frames: those below [`Flame::least`] are
    /// put together, and should there be too many all the same, those below twice
    /// that, and so on.
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
            // A threshold of nothing has no double.
            least = (least * 2.0).max(SMALLEST);
        }
    }
}

impl Frame {
    /// How many frames this one and those below it are.
    #[must_use]
    pub fn frames(&self) -> usize {
        1 + self.below.iter().map(Frame::frames).sum::<usize>()
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

fn of_places(side: &Side) -> Stack {
    let mut whole = Stack::default();
    for (place, times) in &side.profile.places {
        let thread = whole.below.entry(place.thread.clone()).or_default();
        let subsystem = thread.below.entry(place.subsystem.clone()).or_default();
        let function = subsystem.below.entry(place.function.clone()).or_default();
        function.own += times;
    }
    whole
}

/// Adds a run of one configuration to the frames, and says how many instructions
/// it has.
fn add(frame: &mut Frame, stack: &Stack, side: usize) -> u64 {
    let mut all = stack.own;
    for (name, stack) in &stack.below {
        let at = frame.below.iter().position(|below| below.name == *name);
        let at = at.unwrap_or_else(|| {
            frame.below.push(Frame {
                name: name.clone(),
                ..Frame::default()
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

/// Makes one frame of all that are smaller than the limits or are some others
/// already, and sorts the rest.
fn fold(frame: &mut Frame, limits: [f64; 2]) {
    let small = |frame: &Frame| {
        let mut both = frame.all.iter().zip(limits);
        frame.others > 0 || both.all(|(all, limit)| number(*all) < limit)
    };
    let (others, mut kept): (Vec<Frame>, Vec<Frame>) = std::mem::take(&mut frame.below)
        .into_iter()
        .partition(small);
    for below in &mut kept {
        fold(below, limits);
    }
    let widest = |frame: &Frame| frame.all.into_iter().max();
    kept.sort_by(|one, other| {
        let sizes = widest(other).cmp(&widest(one));
        sizes.then_with(|| one.name.cmp(&other.name))
    });
    if !others.is_empty() {
        let mut one = Frame {
            others: others.iter().map(|other| other.others.max(1)).sum(),
            ..Frame::default()
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
