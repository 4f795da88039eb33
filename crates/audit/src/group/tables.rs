//! Tables of one shape under several headings.

use crate::grammar::Finding;
use crate::grammar::table::Grid;
use crate::roles::differing;
use crate::scan::Placed;

/// A block with the headings above it, the nearest first.
type Headed = (Placed, Option<String>, Option<String>);

/// Of each block, if it is a table and others of the same shape stand under
/// other headings, how much these differ as names of configurations do.
pub(super) fn under_differing_headings(blocks: &[Headed]) -> Vec<i32> {
    let grids: Vec<Option<&Grid>> = blocks.iter().map(|(placed, ..)| grid(placed)).collect();
    let one = |at: usize| -> i32 {
        let (Some(this), Some(heading)) = (grids[at], blocks[at].1.as_deref()) else {
            return 0;
        };
        let alike = (0..blocks.len()).filter(|&other| {
            blocks[other].0.depth == blocks[at].0.depth
                && grids[other].is_some_and(|grid| same_shape(grid, this))
        });
        let mut headings: Vec<&str> = vec![heading];
        for other in alike {
            if let Some(name) = blocks[other].1.as_deref()
                && !headings.contains(&name)
            {
                headings.push(name);
            }
        }
        let others = headings[1..].iter();
        others
            .map(|other| differing(&[heading, other]))
            .max()
            .unwrap_or(0)
    };
    (0..blocks.len()).map(one).collect()
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

/// Whether two tables have the same columns, and rows of the same names or as
/// many.
fn same_shape(a: &Grid, b: &Grid) -> bool {
    let columns = |grid: &Grid| -> Vec<String> {
        grid.header
            .columns
            .iter()
            .map(|column| column.name.to_lowercase())
            .collect()
    };
    columns(a) == columns(b)
}
