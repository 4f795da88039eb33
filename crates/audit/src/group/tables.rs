//! Tables of one shape under several headings.

use std::collections::{BTreeMap, BTreeSet};

use super::names::workload_score;
use crate::grammar::Finding;
use crate::grammar::table::Grid;
use crate::roles::{configuration_name, difference};
use crate::scan::Placed;

/// A block with the headings above it, the nearest first.
type Headed = (Placed, Option<String>, Option<String>);

/// Of each block, if it is a table and others of the same shape stand under
/// other headings, how much these differ as names of configurations do.
pub(super) fn under_differing_headings(blocks: &[Headed]) -> Vec<i32> {
    let mut alike: BTreeMap<(u8, Vec<String>), Vec<usize>> = BTreeMap::new();
    for (at, (placed, ..)) in blocks.iter().enumerate() {
        if let Some(grid) = grid(placed) {
            alike
                .entry((placed.depth, shape(grid)))
                .or_default()
                .push(at);
        }
    }
    let mut points = vec![0; blocks.len()];
    for tables in alike.into_values().filter(|tables| tables.len() > 1) {
        let heading = |at: &usize| blocks[*at].1.as_deref();
        let headings: BTreeSet<&str> = tables.iter().filter_map(heading).collect();
        let most = most_differing(&headings);
        for at in tables {
            points[at] = heading(&at)
                .and_then(|name| most.get(name).copied())
                .unwrap_or(0);
        }
    }
    points
}

/// Names that say the opposite of each other have so many points.
const OPPOSITE: i32 = 4;

/// For each heading, the points of it and that of the others which differs most from it;
/// none for names of tests that say nothing else, such as `READ summary`.
fn most_differing<'t>(headings: &BTreeSet<&'t str>) -> BTreeMap<&'t str, i32> {
    let names: Vec<_> = headings
        .iter()
        .filter_map(|heading| Some((*heading, configuration_name(heading)?)))
        .collect();
    let most = names.iter().map(|(heading, name)| {
        let others = names.iter().filter(|(other, _)| other != heading);
        let tests = |other: &str| workload_score(heading) > 0 && workload_score(other) > 0;
        let points = others.map(|(text, other)| match difference(name, other) {
            points if points < OPPOSITE && tests(text) => 0,
            points => points,
        });
        (*heading, points.max().unwrap_or(0))
    });
    most.collect()
}

fn grid(placed: &Placed) -> Option<&Grid> {
    placed
        .findings
        .iter()
        .find_map(|(_, finding)| match finding {
            Finding::Grid(grid) => Some(&**grid),
            _ => None,
        })
}

/// What tables of one shape have in common: the names of their columns.
fn shape(grid: &Grid) -> Vec<String> {
    let columns = grid.header.columns.iter();
    columns.map(|column| column.name.to_lowercase()).collect()
}
