//! Tables of one shape under several headings.

use std::collections::{BTreeMap, BTreeSet};

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

/// For each heading, the points of it and that of the others which differs most from it.
fn most_differing<'t>(headings: &BTreeSet<&'t str>) -> BTreeMap<&'t str, i32> {
    let names: Vec<_> = headings
        .iter()
        .filter_map(|heading| Some((*heading, configuration_name(heading)?)))
        .collect();
    let most = names.iter().map(|(heading, name)| {
        let others = names.iter().filter(|(other, _)| other != heading);
        let points = others.map(|(_, other)| difference(name, other));
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
