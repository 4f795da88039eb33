//! Cases with true differences, to count how many are found.

use super::{Case, Goal, Section};
use crate::validity::planted;
use crate::validity::tally::Measure;
use crate::validity::trial::{Changed, Grid, Runs};

/// The numbers of blocks in the table of power.
pub(crate) const BLOCKS: [usize; 3] = [6, 8, 12];
/// The numbers of rows in the table of power, and how many of them differ.
pub(crate) const ROWS: [(usize, usize); 3] = [(1, 1), (10, 3), (72, 18)];
/// The effect sizes in the table of power.
pub(crate) const EFFECTS: [f64; 3] = [0.02, 0.05, 0.10];
/// Correlations between the rows.
pub(crate) const CORRELATIONS: [f64; 2] = [0.0, 0.5];

/// A design with increasing numbers of runs.
pub(crate) struct Series {
    /// The prefix of the cases' names.
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    pub(crate) runs: &'static [usize],
}

/// The designs in which the share found must not fall with more runs.
pub(crate) const SERIES: [Series; 4] = [
    Series {
        name: "blocks-72",
        what: "blocks, 18 of 72 rows -20 %",
        runs: &[3, 4, 5, 6, 7, 8, 12, 20],
    },
    Series {
        name: "free-72",
        what: "random order, 18 of 72 rows -20 %",
        runs: &[2, 3, 4, 5, 6, 8],
    },
    Series {
        name: "blocks-10",
        what: "blocks, 3 of 10 rows +10 %",
        runs: &[3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20],
    },
    Series {
        name: "free-10",
        what: "random order, 3 of 10 rows +10 %",
        runs: &[2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 20],
    },
];

/// The name of a case of [`SERIES`].
pub(crate) fn of_series(series: &Series, runs: usize) -> String {
    format!("runs/{}-{runs}", series.name)
}

/// The name of a case of the table of power.
pub(crate) fn of_table(rows: usize, rho: f64, effect: f64, blocks: usize) -> String {
    format!("power/{rows}-{rho}-{effect}-{blocks}")
}

pub(super) fn by_runs() -> Vec<Case> {
    let mut cases = Vec::new();
    for series in &SERIES {
        for &runs in series.runs {
            let in_blocks = series.name.starts_with("blocks");
            let design = if in_blocks {
                Runs::Blocks(runs)
            } else {
                Runs::Free(runs)
            };
            let large = series.name.ends_with("72");
            let grid = if large {
                Grid::seventy_two(design).changed(Changed::LastConfiguration(0.8))
            } else {
                Grid::rows(10, design).changed(Changed::Metrics(3, 1.1))
            };
            // Documents take long if relabellings are sampled, or are many.
            let documents = match (in_blocks, runs) {
                (false, 9..) => [80, 0],
                (true, 16..) => [80, 0],
                _ if large => [160, 20],
                _ => [400, 60],
            };
            // The goal is for 72 rows that change by 20 %, from six blocks on.
            let goal = match (in_blocks, large, runs) {
                (true, true, 6..) => Goal::NoLess(0.9),
                _ => Goal::None,
            };
            let what = format!("{}, {runs} runs", series.what);
            let name = of_series(series, runs);
            cases.push(
                Case::new(Section::Runs, name, what, documents, move |source| {
                    grid.trial(source)
                })
                .shows(Measure::Found, goal)
                .shows(Measure::Established, Goal::None)
                .shows(Measure::FalseEstablished, Goal::NoMore(0.05)),
            );
        }
    }
    cases
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (rows, changed) in ROWS {
        for rho in CORRELATIONS.into_iter().take(if rows == 1 { 1 } else { 2 }) {
            for effect in EFFECTS {
                for blocks in BLOCKS {
                    let grid = Grid {
                        rho,
                        changed: Changed::Metrics(changed, 1.0 + effect),
                        ..Grid::rows(rows, Runs::Blocks(blocks))
                    };
                    let goal = match (rows, blocks, effect) {
                        (72, 8, 0.10) => Goal::NoLess(0.8),
                        (10, 8, 0.10) => Goal::NoLess(0.9),
                        _ => Goal::None,
                    };
                    let documents = match (rows, goal) {
                        (72, Goal::None) => [160, 0],
                        (72, _) => [160, 20],
                        (_, Goal::None) => [400, 0],
                        (..) => [400, 40],
                    };
                    let what = format!(
                        "{changed} of {rows} rows +{:.0} %, {blocks} blocks, correlation {rho}",
                        100.0 * effect
                    );
                    let name = of_table(rows, rho, effect, blocks);
                    cases.push(
                        Case::new(Section::Power, name, what, documents, move |source| {
                            grid.trial(source)
                        })
                        .shows(Measure::Found, goal)
                        .shows(Measure::FalseEstablished, Goal::NoMore(0.05))
                        .beside_peers(),
                    );
                }
            }
        }
    }
    cases.push(mixed());
    cases
}

/// Rows with few runs next to rows with many.
fn mixed() -> Case {
    let what = "10 rows of 8 blocks +10 %, beside 10 rows of 3 blocks in which nothing differs";
    Case::new(Section::Single, "mixed/10", what, [400, 60], |source| {
        planted::mixed(1.1, source)
    })
    .shows(Measure::Found, Goal::NoLess(0.9))
    .shows(Measure::FalseFound, Goal::NoMore(0.05))
}
