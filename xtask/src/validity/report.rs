//! The report, as Markdown without dates: the same seed gives the same bytes.

use super::methods::METHODS;
use super::noise::Noise;
use super::{Cell, EFFECTS, RUNS};
use std::fmt::Write;

/// The chance of a false alarm that is promised.
const ALPHA: f64 = 0.05;
/// Normal quantile of the 95 % intervals that are printed.
const PRINTED: f64 = 1.959_964;
/// Normal quantile for failing: there are many cells, and with 1.96 some
/// would fail by chance at a true rate of exactly 5 %.
const FAILING: f64 = 3.5;

/// The whole report.
pub(crate) fn text(cells: &[Cell], seed: u64, quick: bool) -> String {
    let mut out = String::new();
    head(&mut out, seed, quick);
    reading(&mut out, cells);
    false_alarms(&mut out, cells);
    coverage(&mut out, cells);
    detection(&mut out, cells);
    out
}

/// The cells in which `established` is false more often than promised.
pub(crate) fn broken(cells: &[Cell]) -> Vec<String> {
    promised(cells)
        .filter(|c| wilson(c.found.differences[0], c.trials, FAILING).0 > ALPHA)
        .map(|c| {
            let rate = percent(c.found.differences[0], c.trials);
            format!(
                "established is false in {rate} % of the trials, {} noise, {} runs",
                c.noise.name(),
                c.runs
            )
        })
        .collect()
}

/// Cells without an effect whose runs are exchangeable.
fn promised(cells: &[Cell]) -> impl Iterator<Item = &Cell> {
    cells
        .iter()
        .filter(|c| c.effect == 0.0 && c.noise.is_exchangeable())
}

/// Wilson's interval of a share (1927).
fn wilson(count: u32, trials: u32, z: f64) -> (f64, f64) {
    let (p, n) = (f64::from(count) / f64::from(trials), f64::from(trials));
    let centre = p + z * z / (2.0 * n);
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    (
        ((centre - half) / scale).max(0.0),
        ((centre + half) / scale).min(1.0),
    )
}

fn percent(count: u32, trials: u32) -> String {
    format!("{:.1}", 100.0 * f64::from(count) / f64::from(trials))
}

/// `5.0 [4.7, 5.3]`, all in per cent.
fn share(count: u32, trials: u32) -> String {
    let (low, high) = wilson(count, trials, PRINTED);
    let rate = percent(count, trials);
    format!("{rate} [{:.1}, {:.1}]", 100.0 * low, 100.0 * high)
}

fn head(out: &mut String, seed: u64, quick: bool) {
    let command = if quick {
        format!("cargo xtask validity --quick --seed {seed}")
    } else {
        format!("cargo xtask validity --seed {seed} --write")
    };
    let _ = write!(
        out,
        "# How often the verdicts are wrong\n\n\
         Written by `{command}`; the same seed gives the same bytes. Do not edit.\n\n\
         Runs of two configurations are simulated, with a standard deviation of\n\
         2 % between runs, and judged at α = 0.05. All figures are shares of\n\
         trials in per cent, with the 95 % interval (Wilson) of the simulation\n\
         itself in brackets.\n\n\
         The noises:\n\n"
    );
    for noise in Noise::ALL {
        let _ = writeln!(out, "- **{}**: {}.", noise.name(), noise.description());
    }
    out.push_str(
        "\nThe methods: assize's verdict `established`; `established` or `supported`;\n\
         Welch's t test on raw values, p ≤ 0.05; \"the means ± standard deviation do\n\
         not overlap\"; and hyperfine's \"x ± y times faster\", read as a difference\n\
         if x − y is above 1.\n\n",
    );
}

/// What the tables say, from the figures themselves.
fn reading(out: &mut String, cells: &[Cell]) {
    out.push_str("## Reading\n\n");
    for (method, what) in [
        (0, "`established` is false"),
        (1, "`established` or `supported` is false"),
        (2, "Welch's t on raw values alarms falsely"),
        (3, "\"mean ± sd apart\" alarms falsely"),
        (4, "hyperfine's reading alarms falsely"),
    ] {
        if let Some(c) = promised(cells).max_by(|x, y| rate(x, method).total_cmp(&rate(y, method)))
        {
            let _ = writeln!(
                out,
                "- {what} at most {} % of the time ({}, {} runs a\n  side), where runs are exchangeable.",
                share(c.found.differences[method], c.trials),
                c.noise.name(),
                c.runs
            );
        }
    }
    let above = promised(cells)
        .filter(|c| wilson(c.found.differences[0], c.trials, PRINTED).0 > ALPHA)
        .count();
    let _ = writeln!(
        out,
        "- Rows in which `established` is false above 5 % by more than the simulation's\n  \
         error: {above} of {}.",
        promised(cells).count()
    );
    if let Some(c) = cells
        .iter()
        .filter(|c| c.effect == 0.0 && !c.noise.is_exchangeable())
        .max_by(|x, y| rate(x, 0).total_cmp(&rate(y, 0)))
    {
        let _ = writeln!(
            out,
            "- With unequal spread, which the permutation test does not promise to bear,\n  \
             `established` is false up to {} % of the time ({} runs a side).",
            share(c.found.differences[0], c.trials),
            c.runs
        );
    }
    coverage_reading(out, cells);
    out.push_str(
        "- With 3 runs a side (and below 6 blocks of one run each) `established` cannot\n  \
         happen: the smallest p of the design is above 0.05. `supported` stands in for\n  \
         it, and it is only as good as the t interval.\n\
         - The interval does not know of blocks. Where blocks differ much it is far too\n  \
         wide: it covers, but says little, and `supported` and `equivalent` are\n  \
         rarely reached. The permutation test within blocks is not so blind.\n",
    );
    caution_reading(out, cells);
    out.push('\n');
}

/// What the readings without a test cost where nothing is odd about the noise.
fn caution_reading(out: &mut String, cells: &[Cell]) {
    let at = |runs: usize, effect: f64, method: usize| {
        cells
            .iter()
            .find(|c| c.noise == Noise::Normal && c.runs == runs && c.effect == effect)
            .map_or_else(String::new, |c| {
                percent(c.found.differences[method], c.trials)
            })
    };
    let _ = write!(
        out,
        "- The readings without a test hold no rate at all. In normal noise \"mean ± sd\n  \
         apart\" goes from {} % false alarms with 3 runs to {} % with 8, hyperfine's\n  \
         reading from {} % to {} %; but with 8 runs they find an effect of 2 % in only\n  \
         {} % and {} % of the trials, where `established` finds it in {} %.\n\
         - With 4 runs a side the permutation test is coarse: p can be 2/70 or 4/70, and\n  \
         only the first is below 0.05. It alarms falsely in {} % and finds a 2 % effect\n  \
         in {} % of the trials, Welch's t in {} % and {} %. A fifth run pays.\n",
        at(3, 0.0, 3),
        at(8, 0.0, 3),
        at(3, 0.0, 4),
        at(8, 0.0, 4),
        at(8, 0.02, 3),
        at(8, 0.02, 4),
        at(8, 0.02, 0),
        at(4, 0.0, 0),
        at(4, 0.02, 0),
        at(4, 0.0, 2),
        at(4, 0.02, 2),
    );
}

fn rate(c: &Cell, method: usize) -> f64 {
    f64::from(c.found.differences[method]) / f64::from(c.trials)
}

fn coverage_reading(out: &mut String, cells: &[Cell]) {
    let covered = |c: &Cell| f64::from(c.found.covered) / f64::from(c.trials);
    let null = || cells.iter().filter(|c| c.effect == 0.0);
    if let Some(c) = null().min_by(|x, y| covered(x).total_cmp(&covered(y))) {
        let _ = writeln!(
            out,
            "- The 95 % interval covers least in {}, {} runs: {} %.",
            c.noise.name(),
            c.runs,
            share(c.found.covered, c.trials)
        );
    }
    let below: Vec<String> = null()
        .filter(|c| wilson(c.found.covered, c.trials, PRINTED).1 < 0.95)
        .map(|c| format!("{} with {} runs", c.noise.name(), c.runs))
        .collect();
    let below = if below.is_empty() {
        "nowhere".to_owned()
    } else {
        below.join(", ")
    };
    let _ = writeln!(
        out,
        "- Coverage is below 95 % by more than the simulation's error: {below}."
    );
}

fn false_alarms(out: &mut String, cells: &[Cell]) {
    out.push_str("## False alarms: no effect at all\n\n");
    method_table(out, cells, 0.0);
    out.push_str(
        "The promise is at most 5 % for `established`, in every row but \"unequal\n\
         spread\"; the command fails if a row is above it beyond doubt (z = 3.5).\n\n",
    );
}

fn method_table(out: &mut String, cells: &[Cell], effect: f64) {
    let _ = writeln!(
        out,
        "| noise | runs a side | trials | {} |",
        METHODS.join(" | ")
    );
    let _ = writeln!(out, "|---|--:|--:|{}", "--:|".repeat(METHODS.len()));
    for c in cells.iter().filter(|c| c.effect == effect) {
        let shares: Vec<String> = c
            .found
            .differences
            .iter()
            .map(|&n| share(n, c.trials))
            .collect();
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} |",
            c.noise.name(),
            c.runs,
            c.trials,
            shares.join(" | ")
        );
    }
    out.push('\n');
}

fn coverage(out: &mut String, cells: &[Cell]) {
    out.push_str(
        "## Coverage of the 95 % interval, and `equivalent` where nothing differs\n\n\
         The interval of the ratio should hold the true ratio, 1, in 95 % of the\n\
         trials. `equivalent` (margin 1 %) is the right verdict here, if there are\n\
         runs enough to reach it.\n\n| noise |",
    );
    for runs in RUNS {
        let _ = write!(out, " {runs} runs: covers | {runs} runs: equivalent |");
    }
    let _ = writeln!(out, "\n|---|{}", "--:|".repeat(2 * RUNS.len()));
    for noise in Noise::ALL {
        let _ = write!(out, "| {} |", noise.name());
        for c in cells.iter().filter(|c| c.noise == noise && c.effect == 0.0) {
            let covers = share(c.found.covered, c.trials);
            let _ = write!(
                out,
                " {covers} | {} |",
                percent(c.found.equivalent, c.trials)
            );
        }
        out.push('\n');
    }
    out.push('\n');
}

fn detection(out: &mut String, cells: &[Cell]) {
    out.push_str(
        "## Detection: how often a true effect is found\n\n\
         Read these beside the false alarms: a method that alarms often also finds\n\
         often.\n\n",
    );
    for effect in &EFFECTS[1..] {
        let _ = writeln!(out, "### An effect of {:.0} %\n", 100.0 * effect);
        method_table(out, cells, *effect);
    }
    // One line end at the end of the file.
    out.truncate(out.trim_end().len());
    out.push('\n');
}
