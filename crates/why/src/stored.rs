//! Flame graph frames stored column by column in files and pages. Nested objects would be
//! as deep as call stacks, which is too deep for JSON parsers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Flame;
use crate::flame::FlameFrame;

/// The maximum depth that is read; real stacks of the kernel and of programs have a few
/// hundred frames.
const DEEPEST: u32 = 4096;

/// A [`Flame`], column by column.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct StoredFlame {
    /// Whether frames are call stacks.
    stacks: bool,
    /// The divisors that convert figures to per job or per run.
    jobs: [f64; 2],
    /// Frames with a smaller share of all instructions are merged.
    least: f64,
    /// The names of frames, sorted.
    pub names: Vec<String>,
    /// The frames, parents before children; the first is the root.
    frames: FrameColumns,
}

/// One column per field of a frame; totals follow from the self counts.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
struct FrameColumns {
    name: Vec<usize>,
    above: Vec<Option<usize>>,
    others: Vec<usize>,
    own_a: Vec<u64>,
    own_b: Vec<u64>,
    entered_a: Vec<u64>,
    entered_b: Vec<u64>,
}

impl From<Flame> for StoredFlame {
    fn from(flame: Flame) -> StoredFlame {
        let mut names = BTreeMap::new();
        collect_names(&flame.whole, &mut names);
        for (at, number) in names.values_mut().enumerate() {
            *number = at;
        }
        let mut frames = FrameColumns::default();
        fill_columns(&mut frames, &flame.whole, None, &names);
        StoredFlame {
            stacks: flame.stacks,
            jobs: flame.jobs,
            least: flame.least,
            names: names.keys().map(|name| (*name).to_owned()).collect(),
            frames,
        }
    }
}

fn collect_names<'a>(frame: &'a FlameFrame, names: &mut BTreeMap<&'a str, usize>) {
    names.insert(&frame.name, 0);
    for below in &frame.below {
        collect_names(below, names);
    }
}

fn fill_columns(
    columns: &mut FrameColumns,
    frame: &FlameFrame,
    above: Option<usize>,
    names: &BTreeMap<&str, usize>,
) {
    let at = columns.name.len();
    let name = names.get(frame.name.as_str()).copied();
    columns.name.push(name.unwrap_or_default());
    columns.above.push(above);
    columns.others.push(frame.others);
    let [own_a, own_b] = frame.own;
    let [entered_a, entered_b] = frame.entered;
    for (column, figure) in [
        (&mut columns.own_a, own_a),
        (&mut columns.own_b, own_b),
        (&mut columns.entered_a, entered_a),
        (&mut columns.entered_b, entered_b),
    ] {
        column.push(figure);
    }
    for below in &frame.below {
        fill_columns(columns, below, Some(at), names);
    }
}

impl TryFrom<StoredFlame> for Flame {
    type Error = String;

    fn try_from(stored: StoredFlame) -> Result<Flame, String> {
        let mut frames: Vec<Option<FlameFrame>> = Vec::new();
        let mut depths: Vec<u32> = Vec::new();
        for at in 0..stored.frames.name.len() {
            let above = stored.frames.above.get(at).copied().flatten();
            let depth = above
                .and_then(|above| depths.get(above))
                .map_or(0, |depth| depth + 1);
            if depth > DEEPEST {
                return Err(format!("frame {at} is more than {DEEPEST} calls deep"));
            }
            depths.push(depth);
            let frame = stored.frame(at);
            frames.push(Some(
                frame.ok_or_else(|| format!("frame {at} is not whole"))?,
            ));
        }
        let sums = || "the frames have more instructions than can be counted".to_owned();
        // Children come after their parents, so each frame is complete when it is added
        // to its parent.
        for at in (1..frames.len()).rev() {
            let above = stored.frames.above.get(at).copied().flatten();
            let above = above.filter(|above| *above < at);
            let above = above.ok_or_else(|| format!("frame {at} has no caller before it"))?;
            let below = frames.get_mut(at).and_then(Option::take);
            if let (Some(below), Some(Some(above))) = (below, frames.get_mut(above)) {
                for (all, more) in above.all.iter_mut().zip(below.all) {
                    *all = all.checked_add(more).ok_or_else(sums)?;
                }
                above.below.push(below);
            }
        }
        let whole = frames.into_iter().next().flatten();
        let mut whole = whole.ok_or("there is no frame")?;
        in_order(&mut whole);
        Ok(Flame {
            stacks: stored.stacks,
            jobs: stored.jobs,
            least: stored.least,
            whole,
        })
    }
}

/// Restores the order of children, which were added last to first.
fn in_order(frame: &mut FlameFrame) {
    frame.below.reverse();
    frame.below.iter_mut().for_each(in_order);
}

impl StoredFlame {
    /// The frame with this index, without children; `None` if a column is too short.
    fn frame(&self, at: usize) -> Option<FlameFrame> {
        let columns = &self.frames;
        let own = [*columns.own_a.get(at)?, *columns.own_b.get(at)?];
        Some(FlameFrame {
            name: self.names.get(*columns.name.get(at)?)?.clone(),
            others: *columns.others.get(at)?,
            all: own,
            own,
            entered: [*columns.entered_a.get(at)?, *columns.entered_b.get(at)?],
            below: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail.

    use serde_json::{Value, json};

    use super::*;

    fn frame(name: &str, own: [u64; 2], below: Vec<FlameFrame>) -> FlameFrame {
        let mut all = own;
        for frame in &below {
            all = [all[0] + frame.all[0], all[1] + frame.all[1]];
        }
        FlameFrame {
            name: name.into(),
            others: 0,
            all,
            own,
            entered: [1, 2],
            below,
        }
    }

    /// Frames nested more deeply than JSON parsers allow.
    fn deep() -> Flame {
        let mut chain = frame("last", [5, 7], Vec::new());
        for depth in 0..200 {
            let beside = frame("beside", [depth, 0], Vec::new());
            chain = frame("caller", [1, 1], vec![chain, beside]);
        }
        Flame {
            stacks: true,
            jobs: [2.0, 4.0],
            least: 0.001,
            whole: frame("", [0, 0], vec![chain]),
        }
    }

    #[test]
    fn frames_are_read_as_they_were_written_however_deep() {
        let text = serde_json::to_string(&deep()).unwrap();
        assert_eq!(serde_json::from_str::<Flame>(&text).unwrap(), deep());
    }

    #[test]
    fn what_is_no_tree_of_frames_is_refused() {
        let wrong = |change: &dyn Fn(&mut Value)| {
            let mut value = serde_json::to_value(deep()).unwrap();
            change(&mut value);
            serde_json::from_value::<Flame>(value)
                .unwrap_err()
                .to_string()
        };
        for (text, said) in [
            (
                wrong(&|v| {
                    let chain = 0..=u64::from(DEEPEST) + 1;
                    let above: Vec<Value> =
                        chain.clone().map(|at| json!(at.checked_sub(1))).collect();
                    v["frames"] = json!({ "above": above });
                    for column in ["name", "others", "own_a", "own_b", "entered_a", "entered_b"] {
                        v["frames"][column] = json!(vec![0; chain.clone().count()]);
                    }
                }),
                "frame 4097 is more than 4096 calls deep",
            ),
            (
                wrong(&|v| v["frames"]["above"][3] = json!(3)),
                "frame 3 has no caller before it",
            ),
            (
                wrong(&|v| v["frames"]["above"][3] = json!(null)),
                "frame 3 has no caller before it",
            ),
            (
                wrong(&|v| v["frames"]["name"][3] = json!(99)),
                "frame 3 is not whole",
            ),
            (
                wrong(&|v| v["frames"]["own_b"] = json!([1])),
                "frame 1 is not whole",
            ),
            (
                wrong(&|v| v["frames"]["name"] = json!([])),
                "there is no frame",
            ),
            (
                wrong(&|v| {
                    v["frames"]["own_a"][1] = json!(u64::MAX);
                    v["frames"]["own_a"][2] = json!(u64::MAX);
                }),
                "more instructions than can be counted",
            ),
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
    }
}
