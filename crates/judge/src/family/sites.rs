//! The sites in which labels are exchanged, and the enumeration of all
//! relabelings.

use std::collections::BTreeMap;

use super::{Contrast, ContrastBlock};
use crate::permutation::choose;
use crate::random::RandomStream;

/// All sites; a site is keyed by its id and its numbers of runs of each label.
pub(super) struct RelabellingSites {
    index: BTreeMap<(u64, usize, usize), usize>,
    /// Whether each run has the label b.
    pub(super) labels: Vec<Vec<bool>>,
    sizes: Vec<(usize, usize)>,
}

impl RelabellingSites {
    pub(super) fn new(contrasts: &[Contrast]) -> Self {
        let mut sites = RelabellingSites {
            index: BTreeMap::new(),
            labels: Vec::new(),
            sizes: Vec::new(),
        };
        for block in contrasts.iter().flat_map(|contrast| &contrast.blocks) {
            let (a, b) = (block.a.len(), block.b.len());
            let next = sites.labels.len();
            let index = *sites.index.entry((block.site, a, b)).or_insert(next);
            if index == next {
                sites.sizes.push((a, b));
                sites.labels.push((0..a + b).map(|run| run >= a).collect());
            }
        }
        sites
    }

    pub(super) fn index_of(&self, block: &ContrastBlock) -> usize {
        self.index[&(block.site, block.a.len(), block.b.len())]
    }

    pub(super) fn relabelings(&self) -> f64 {
        self.sizes.iter().map(|&(a, b)| choose(a + b, a)).product()
    }

    /// Advances to the next relabeling; returns false after the last, when it is
    /// back at the first.
    pub(super) fn next(&mut self) -> bool {
        self.labels.iter_mut().any(|labels| next_labeling(labels))
    }

    pub(super) fn shuffle(&mut self, draws: &mut RandomStream) {
        for labels in &mut self.labels {
            for i in (1..labels.len()).rev() {
                labels.swap(i, draws.below(i + 1));
            }
        }
    }

    /// 1 if the two runs of a site have their original labels, else -1.
    pub(super) fn sign(&self, site: usize) -> f64 {
        if self.labels[site][1] { 1.0 } else { -1.0 }
    }
}

/// Advances to the next labeling in lexicographic order; returns false after the
/// last, when it is back at the first.
pub(super) fn next_labeling(labels: &mut [bool]) -> bool {
    let Some(at) = labels.windows(2).rposition(|pair| !pair[0] && pair[1]) else {
        labels.reverse();
        return false;
    };
    // Swap in the last true after `at`, and reverse what follows.
    let Some(with) = labels.iter().rposition(|&label| label) else {
        return false;
    };
    labels.swap(at, with);
    labels[at + 1..].reverse();
    true
}
