//! Which role the columns of a table have, and which the rows: what the user says, else what
//! the table itself declares. What neither says is not guessed.

use std::collections::BTreeSet;

use super::words::{self, CONFIGURATION_KEYS, REPETITION_KEYS, is_derived_row, key_is};
use super::{Context, Role, Roles, figures};
use crate::admission::Sign;
use crate::grammar::table::Grid;

/// Decides what rows and columns stand for.
pub(super) fn decide(grid: &Grid, context: &Context<'_>) -> Roles {
    let repetition = words::repetition_column(&grid.header, &grid.rows);
    let parameter = words::parameter_column(&grid.header).filter(|at| Some(*at) != repetition);
    let (columns, rows, because) = of(grid);
    let roles = Roles {
        columns,
        rows,
        parameter,
        repetition,
        because,
    };
    corrected(roles, context)
}

/// What the user says comes first.
fn corrected(mut roles: Roles, context: &Context<'_>) -> Roles {
    let options = context.options;
    if options.transpose {
        std::mem::swap(&mut roles.columns, &mut roles.rows);
    }
    let complement = |role: Role| match role {
        Role::Configurations => Role::Metrics,
        Role::Metrics => Role::Configurations,
        Role::Workloads => Role::Metrics,
        Role::Repetitions => Role::Configurations,
    };
    if let Some(role) = options.columns_are {
        if options.rows_are.is_none() && roles.rows == role {
            roles.rows = complement(role);
        }
        roles.columns = role;
    }
    if let Some(role) = options.rows_are {
        if options.columns_are.is_none() && roles.columns == role {
            roles.columns = complement(role);
        }
        roles.rows = role;
    }
    if options.says_roles() {
        roles.because = Some("the user says so");
    }
    roles
}

/// What columns are, what rows are, and what says so, if anything does.
fn of(grid: &Grid) -> (Role, Role, Option<&'static str>) {
    if numbers_runs(grid) {
        return (
            Role::Metrics,
            Role::Configurations,
            Some("the rows number the runs of each name"),
        );
    }
    if is_keyed(grid) {
        return (
            Role::Metrics,
            Role::Configurations,
            Some("the key names configurations"),
        );
    }
    let repeated = labels(grid).iter().all(|label| is_run(label));
    match repeated || grid.rows.iter().all(|row| row.labels.is_empty()) {
        true => (Role::Metrics, Role::Repetitions, None),
        false => (Role::Metrics, Role::Workloads, None),
    }
}

/// The names of rows, without those that are computed from others.
fn labels(grid: &Grid) -> Vec<String> {
    let labels = grid.rows.iter().map(|row| row.labels.join(" "));
    labels.filter(|label| !is_derived_row(label)).collect()
}

/// `run 1`, `#2`.
fn is_run(label: &str) -> bool {
    let stem = label.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':');
    stem.len() < label.len() && key_is(stem.trim_end(), REPETITION_KEYS)
}

/// Whether each row numbers a run of a name, two names and two runs of each at least:
/// `base_1`, `base_2`, `patched_1`, `patched_2`.
fn numbers_runs(grid: &Grid) -> bool {
    let labels = labels(grid);
    let runs: Option<Vec<(&str, u32)>> = labels
        .iter()
        .map(|label| words::repetition_suffix(label))
        .collect();
    let runs = runs.unwrap_or_default();
    let distinct: BTreeSet<&(&str, u32)> = runs.iter().collect();
    let names: BTreeSet<&str> = runs.iter().map(|(name, _)| *name).collect();
    let again = |name: &&str| runs.iter().filter(|(own, _)| own == name).count() >= 2;
    names.len() >= 2 && distinct.len() == runs.len() && names.iter().all(again)
}

/// Whether a key of the rows is one of configurations.
fn is_keyed(grid: &Grid) -> bool {
    let mut keys = grid.header.keys.iter().enumerate();
    keys.any(|(at, key)| key_is(key, CONFIGURATION_KEYS) && !figures::holds_figures(grid, at))
}

/// What a table says for or against judging it.
pub(super) fn signs(grid: &Grid, roles: &Roles) -> Vec<Sign> {
    let mut signs = Vec::new();
    if roles.rows == Role::Configurations {
        signs.extend(is_keyed(grid).then_some(Sign::ConfigurationKey));
        signs.extend(numbers_runs(grid).then_some(Sign::NumberedRuns));
    }
    signs.extend(roles.because.is_none().then_some(Sign::Undeclared));
    signs
}
