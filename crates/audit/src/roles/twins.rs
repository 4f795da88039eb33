//! Two rows of one name in a table of many others.

use assize_bundle::Place;

use super::{Role, Roles};
use crate::grammar::Finding;
use crate::grammar::table::Grid;

/// In a table of fewer rows two of one name are no slip.
const MANY: usize = 8;

/// The table without two rows that one name does not tell apart, where all others have
/// names of their own, and what to say of it. Whoever wrote it made a slip in one of them.
pub(super) fn without(grid: &Grid, roles: &Roles) -> Option<(Grid, (Place, Finding))> {
    let by_name = roles.columns == Role::Configurations && roles.rows == Role::Metrics;
    let alone = roles.parameter.is_none() && roles.repetition.is_none();
    if !by_name || !alone || grid.rows.len() < MANY {
        return None;
    }
    let names: Vec<String> = grid.rows.iter().map(|row| row.labels.join(" ")).collect();
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    let mut twins = sorted
        .windows(2)
        .filter(|pair| pair.first() == pair.last())
        .filter_map(|pair| pair.first().copied());
    let name = twins.next().filter(|name| !name.is_empty())?;
    if twins.next().is_some() {
        return None;
    }
    let first = names.iter().position(|other| other == name)?;
    let place = grid.places.get(first).copied().unwrap_or_default();
    let detail = format!("two rows are called {name}, and both are left out");
    let own = |at: &usize| names.get(*at).is_some_and(|other| other != name);
    let kept = || (0..grid.rows.len()).filter(own);
    let without = Grid {
        rows: kept().filter_map(|at| grid.rows.get(at).cloned()).collect(),
        at: kept().filter_map(|at| grid.at.get(at).copied()).collect(),
        places: kept()
            .filter_map(|at| grid.places.get(at).copied())
            .collect(),
        ..grid.clone()
    };
    Some((without, (place, Finding::Doubt("duplicate-rows", detail))))
}
