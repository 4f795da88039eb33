//! Cases in which nothing differs.

use super::{Case, Goal, Section};
use crate::validity::noise::Noise;
use crate::validity::planted;
use crate::validity::tally::Measure;
use crate::validity::trial::{Grid, Runs};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = many_rows();
    cases.extend(noises());
    cases.extend(sharing());
    let mixed = "10 rows of 3 blocks beside 10 rows of 8 blocks, normal";
    cases.push(with_error_rates(Case::new(
        Section::Null,
        "null/mixed",
        mixed,
        [1000, 60],
        |source| planted::mixed(1.0, source),
    )));
    cases
}

/// As many rows as in a large experiment.
fn many_rows() -> Vec<Case> {
    let mut cases = Vec::new();
    for runs in [
        Runs::Blocks(3),
        Runs::Blocks(5),
        Runs::Blocks(6),
        Runs::Blocks(8),
        Runs::Blocks(12),
        Runs::Free(3),
        Runs::Free(4),
        Runs::Free(5),
    ] {
        let what = format!("72 rows, normal, {}", design(runs));
        let documents = [400, 20];
        cases.push(null(what, documents, Grid::seventy_two(runs)).beside_peers());
    }
    cases
}

/// A few rows with each kind of noise.
fn noises() -> Vec<Case> {
    let mut cases = Vec::new();
    for noise in Noise::ALL {
        for runs in [
            Runs::Blocks(6),
            Runs::Blocks(8),
            Runs::Free(3),
            Runs::Free(5),
            Runs::Free(8),
            Runs::Unequal(5, 10),
        ] {
            let what = format!("10 rows, {}, {}", noise.name(), design(runs));
            let grid = Grid {
                noise,
                ..Grid::rows(10, runs)
            };
            let dear = matches!(runs, Runs::Free(8) | Runs::Unequal(..));
            let documents = if dear { [600, 20] } else { [1000, 40] };
            cases.push(null(what, documents, grid));
        }
    }
    cases
}

/// Contrasts that share a baseline: their signs are flipped together, which is exact only for
/// symmetric errors.
fn sharing() -> Vec<Case> {
    let mut cases = Vec::new();
    for configurations in [8, 24] {
        for blocks in [6, 8, 12] {
            let grid = Grid {
                configurations,
                noise: Noise::Skewed,
                spread: 0.3,
                ..Grid::rows(1, Runs::Blocks(blocks))
            };
            let what = format!(
                "{configurations} configurations that share a baseline, skewed, s = 30 %, {}",
                design(Runs::Blocks(blocks))
            );
            cases.push(null(what, [1000, 60], grid));
        }
    }
    cases
}

fn null(what: String, documents: [u32; 2], grid: Grid) -> Case {
    let name = format!("null/{what}");
    with_error_rates(Case::new(
        Section::Null,
        name,
        what,
        documents,
        move |source| grid.trial(source),
    ))
}

fn with_error_rates(case: Case) -> Case {
    case.shows(Measure::FalseEstablished, Goal::NoMore(0.05))
        .shows(Measure::FalseFound, Goal::NoMore(0.05))
        .shows(Measure::Directional, Goal::NoMore(0.05))
        .shows(Measure::Covered, Goal::None)
        .shows(Measure::Equivalent, Goal::None)
}

fn design(runs: Runs) -> String {
    match runs {
        Runs::Blocks(n) => format!("{n} blocks"),
        Runs::Free(n) => format!("{n} runs in random order"),
        Runs::Unequal(a, b) => format!("{a} runs against {b}"),
    }
}
