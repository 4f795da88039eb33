//! Pairs the runs of two cells that share a block.

use std::collections::BTreeMap;

use crate::cells::{Cell, RunValue};

/// The runs of both cells that have a partner in their block, by block.
///
/// `None` unless every run is in a block, each block that holds both cells holds
/// one run of each, and there are at least two such blocks.
pub(crate) fn paired_runs<'a>(a: &Cell<'a>, b: &Cell<'a>) -> Option<(Cell<'a>, Cell<'a>)> {
    let mut blocks: BTreeMap<u32, (Vec<RunValue>, Vec<RunValue>)> = BTreeMap::new();
    for &reading in &a.runs {
        blocks.entry(reading.block?).or_default().0.push(reading);
    }
    for &reading in &b.runs {
        blocks.entry(reading.block?).or_default().1.push(reading);
    }
    // The step stays that of the whole cell.
    let without_runs = |cell: &Cell<'a>| Cell {
        step: cell.step,
        ..Cell::default()
    };
    let (mut in_a, mut in_b) = (without_runs(a), without_runs(b));
    for (of_a, of_b) in blocks.into_values() {
        match (&of_a[..], &of_b[..]) {
            ([one], [other]) => {
                in_a.runs.push(*one);
                in_b.runs.push(*other);
            }
            ([], _) | (_, []) => {}
            _ => return None,
        }
    }
    (in_a.runs.len() > 1).then_some((in_a, in_b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(blocks: &[Option<u32>]) -> Cell<'static> {
        let runs = blocks.iter().enumerate().map(|(run, &block)| RunValue {
            run,
            value: 1.0,
            block,
            image: None,
            machine: None,
        });
        Cell {
            runs: runs.collect(),
            ..Cell::default()
        }
    }

    #[test]
    fn only_complete_blocks_make_pairs() {
        let some = |blocks: &[u32]| cell(&blocks.iter().map(|&b| Some(b)).collect::<Vec<_>>());
        let pairs =
            |a: &Cell<'static>, b: &Cell<'static>| paired_runs(a, b).map(|p| p.0.runs.len());
        assert_eq!(pairs(&some(&[0, 1, 2]), &some(&[2, 0, 1])), Some(3));
        // One run failed on each side.
        assert_eq!(pairs(&some(&[0, 1, 2]), &some(&[1, 2, 3])), Some(2));
        assert_eq!(pairs(&some(&[0, 1]), &some(&[1, 2])), None);
        // Two runs of one configuration in a block are not a pair.
        assert_eq!(pairs(&some(&[0, 1, 1, 2]), &some(&[0, 1, 2])), None);
        assert_eq!(pairs(&cell(&[Some(0), None]), &some(&[0, 1])), None);
        assert_eq!(pairs(&cell(&[None, None]), &cell(&[None, None])), None);
    }

    #[test]
    fn pairs_keep_the_steps_of_their_cells() {
        let stepped = |step: f64| Cell {
            step: Some(step),
            ..cell(&[Some(0), Some(1)])
        };
        let (in_a, in_b) = paired_runs(&stepped(0.25), &stepped(0.5)).unwrap();
        assert_eq!((in_a.step, in_b.step), (Some(0.25), Some(0.5)));
    }
}
