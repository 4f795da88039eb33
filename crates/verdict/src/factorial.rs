//! Effects of two-level factors, where the configurations form a full grid.

use assize_judge::{Error as JudgeError, factorial};

use crate::cells::Cells;
use crate::document::{Effect, Factorial, Lint};
use crate::names::folded;
use crate::weigh::ends;
use crate::words::finite;

/// Fits every metric of every workload in which the whole grid was run, and
/// says where it was not.
pub(crate) fn fit_all(cells: &Cells<'_>) -> (Vec<Factorial>, Vec<Lint>) {
    let levels = levels(cells);
    let names: Vec<&str> = cells.records.factors.iter().map(String::as_str).collect();
    let (mut fits, mut holes) = (Vec::new(), Vec::new());
    if names.is_empty() {
        return (fits, holes.into_iter().collect());
    }
    for (workload, metric) in cells.rows() {
        let Some(runs) = logs_of_grid(cells, &levels, workload, metric) else {
            continue;
        };
        let machines: Vec<u32> = runs.iter().filter_map(|run| run.1).collect();
        let runs: Vec<(Vec<bool>, f64)> = runs.into_iter().map(|run| run.0).collect();
        match factorial::fit_in_blocks(&runs, &machines, &names) {
            Ok(fit) => fits.push(written(cells, workload, metric, fit)),
            Err(JudgeError::MissingCell(hole)) => {
                note_hole(&mut holes, cells, (workload, metric), &hole);
            }
            Err(_) => {}
        }
    }
    (fits, holes)
}

/// Levels and logarithm, and the machine where there are several.
type GridRun = ((Vec<bool>, f64), Option<u32>);

/// The levels of each configuration of the grid, by configuration.
fn levels(cells: &Cells<'_>) -> Vec<Option<Vec<bool>>> {
    let records = cells.records;
    let of = |name: &String| {
        let configuration = records
            .configurations
            .iter()
            .find(|c| folded(&c.name) == folded(name))?;
        let level = |factor: &String| configuration.factors.get(factor).copied();
        records.factors.iter().map(level).collect()
    };
    cells.configurations.iter().map(of).collect()
}

/// Levels, logarithm and machine of every run of the grid; none if there are fewer than
/// two configurations of it or if a value has no logarithm.
fn logs_of_grid(
    cells: &Cells<'_>,
    levels: &[Option<Vec<bool>>],
    workload: usize,
    metric: usize,
) -> Option<Vec<GridRun>> {
    let mut runs = Vec::new();
    let mut configurations = 0;
    for (configuration, cell) in cells.row(workload, metric) {
        let Some(levels) = &levels[configuration] else {
            continue;
        };
        configurations += usize::from(!cell.runs.is_empty());
        for reading in &cell.runs {
            if reading.value <= 0.0 {
                return None;
            }
            let machine = reading.machine.and_then(|of| u32::try_from(of).ok());
            runs.push(((levels.clone(), reading.value.ln()), machine));
        }
    }
    (configurations > 1).then_some(runs)
}

fn note_hole(holes: &mut Vec<Lint>, cells: &Cells<'_>, row: (usize, usize), hole: &str) {
    let workload = &cells.workloads[row.0];
    let detail = format!("no run with {hole}: the factors' effects are not computed");
    let known = holes
        .iter()
        .any(|lint| lint.location == *workload && lint.detail == detail);
    if !known {
        holes.push(Lint {
            code: "missing-cell".into(),
            location: workload.clone(),
            detail,
        });
    }
}

fn written(
    cells: &Cells<'_>,
    workload: usize,
    metric: usize,
    fit: assize_judge::Factorial,
) -> Factorial {
    let effects = fit.effects.iter().filter_map(|effect| {
        Some(Effect {
            name: effect.name.clone(),
            ratio: finite(effect.ratio)?,
            ci: ends(effect.ci),
            p: finite(effect.p),
        })
    });
    Factorial {
        workload: cells.workloads[workload].clone(),
        metric: cells.metrics[metric].name.clone(),
        unit: cells.metrics[metric].unit.clone(),
        factors: cells.records.factors.clone(),
        n: u32::try_from(fit.runs).unwrap_or(u32::MAX),
        residual_df: fit.residual_df as f64,
        effects: effects.collect(),
    }
}
