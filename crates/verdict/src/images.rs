//! Runs that start from the same memory image.
//!
//! If an image affects one configuration and not another, that effect is drawn once per image,
//! however many runs start from it. So several shared images are the replicates: for each image,
//! the runs of a configuration count as their mean. A single image is not random, and results hold
//! for that image only.

use std::collections::{BTreeMap, BTreeSet};

use assize_bundle::Run;
use assize_judge::family::{Contrast, ContrastBlock};

use crate::cells::{Cell, Cells, RunValue};
use crate::means::{arithmetic, site};

/// A machine; `None` if the runs name none.
pub(crate) type MachineName<'a> = Option<&'a str>;

/// The memory images of each machine on which several runs of a configuration and workload start
/// from the same image.
pub(crate) fn repeated(runs: &[Run]) -> BTreeMap<MachineName<'_>, BTreeSet<u32>> {
    let mut images: BTreeMap<MachineName<'_>, BTreeSet<u32>> = BTreeMap::new();
    let mut cells = BTreeSet::new();
    let mut twice = BTreeSet::new();
    for run in runs {
        let Some(image) = run.image else {
            continue;
        };
        let machine = run.machine.as_deref();
        images.entry(machine).or_default().insert(image);
        if !cells.insert((machine, image, &*run.configuration, &*run.workload)) {
            twice.insert(machine);
        }
    }
    images.retain(|machine, _| twice.contains(machine));
    images
}

/// Averages the runs of each image that both cells have; `None` unless all runs share images.
/// Averages logarithms if `positive`. The blocks of the result are images.
pub(crate) fn means<'a>(
    (a, b): (&Cell<'a>, &Cell<'a>),
    positive: bool,
) -> Option<(Cell<'a>, Cell<'a>)> {
    let of = |cell: &Cell<'a>| -> Option<BTreeMap<u32, Vec<RunValue>>> {
        let mut images: BTreeMap<u32, Vec<RunValue>> = BTreeMap::new();
        for &reading in &cell.runs {
            images.entry(reading.image?).or_default().push(reading);
        }
        Some(images)
    };
    let (of_a, of_b) = (of(a)?, of(b)?);
    let (mut in_a, mut in_b) = (Cell::default(), Cell::default());
    for (image, runs) in &of_a {
        let mean = |runs: &[RunValue]| mean(*image, runs, positive);
        if let Some(others) = of_b.get(image) {
            in_a.runs.extend(mean(runs));
            in_b.runs.extend(mean(others));
        }
    }
    Some((in_a, in_b))
}

/// Contrasts of the blocks of a row; if images are shared, means over the blocks of each image.
pub(crate) fn of_contrasts(
    cells: &Cells<'_>,
    (workload, metric): (usize, usize),
    contrasts: Vec<Contrast>,
) -> Vec<Contrast> {
    let mut images: BTreeMap<u64, u64> = BTreeMap::new();
    for reading in cells.row(workload, metric).flat_map(|(_, cell)| &cell.runs) {
        if let (Some(_), Some(_)) = (reading.image, reading.block) {
            let at = |number| site(reading.machine, number);
            images.insert(at(reading.block), at(reading.image));
        }
    }
    let mut contrasts = contrasts;
    for contrast in &mut contrasts {
        let mut of: BTreeMap<u64, ContrastBlock> = BTreeMap::new();
        for block in contrast.blocks.drain(..) {
            let site = images.get(&block.site).copied().unwrap_or(block.site);
            let of = of.entry(site).or_insert(ContrastBlock {
                site,
                a: Vec::new(),
                b: Vec::new(),
            });
            of.a.extend(block.a);
            of.b.extend(block.b);
        }
        let mean = |values: &[f64]| arithmetic(values).into_iter().collect();
        contrast
            .blocks
            .extend(of.into_values().map(|of| ContrastBlock {
                site: of.site,
                a: mean(&of.a),
                b: mean(&of.b),
            }));
    }
    contrasts
}

fn mean(image: u32, runs: &[RunValue], positive: bool) -> Option<RunValue> {
    let values: Vec<f64> = match positive {
        true => runs.iter().map(|run| run.value.ln()).collect(),
        false => runs.iter().map(|run| run.value).collect(),
    };
    let mean = arithmetic(&values)?;
    Some(RunValue {
        value: if positive { mean.exp() } else { mean },
        block: Some(image),
        image: None,
        ..*runs.first()?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(configuration: &str, image: Option<u32>, machine: Option<&str>) -> Run {
        let mut run = Run::new(configuration, "w", 1);
        run.image = image;
        run.machine = machine.map(str::to_owned);
        run
    }

    #[test]
    fn images_are_repeated_if_a_configuration_has_two_runs_of_one() {
        let of = |runs: &[(&str, Option<u32>)]| -> Vec<u32> {
            let runs: Vec<Run> = runs.iter().map(|&(c, i)| run(c, i, None)).collect();
            repeated(&runs).into_values().flatten().collect()
        };
        let shared = [("a", Some(0)), ("a", Some(0)), ("a", Some(1))];
        assert_eq!(of(&shared), [0, 1]);
        // Both configurations of a block start from its image.
        assert!(of(&[("a", Some(0)), ("b", Some(0)), ("a", Some(1))]).is_empty());
        assert_eq!(of(&[("a", Some(0)), ("a", Some(0))]), [0]);
        assert!(of(&[("a", None), ("a", None)]).is_empty());
        let both = [
            run("a", Some(0), Some("m")),
            run("a", Some(0), Some("m")),
            run("a", Some(1), Some("m")),
            run("a", Some(0), Some("n")),
            run("a", Some(1), Some("n")),
        ];
        let of_m = BTreeSet::from([0, 1]);
        assert_eq!(repeated(&both), BTreeMap::from([(Some("m"), of_m)]));
    }

    #[test]
    fn each_image_has_one_mean() {
        let cell = |runs: &[(u32, f64)]| Cell {
            runs: (0..)
                .zip(runs)
                .map(|(block, &(image, value))| RunValue {
                    run: 0,
                    value,
                    block: Some(block),
                    image: Some(image),
                    machine: Some(3),
                })
                .collect(),
            ..Cell::default()
        };
        let a = cell(&[(0, 1.0), (1, 5.0), (0, 4.0)]);
        let b = cell(&[(0, 3.0), (1, 7.0), (0, 27.0)]);
        let (of_a, of_b) = means((&a, &b), true).unwrap();
        let rounded = |cell: &Cell<'_>| -> Vec<f64> {
            let values = cell.values();
            values.iter().map(|v| (v * 1e9).round() / 1e9).collect()
        };
        assert_eq!(rounded(&of_a), [2.0, 5.0]);
        assert_eq!(rounded(&of_b), [9.0, 7.0]);
        assert_eq!(of_a.runs[1].block, Some(1));
        assert_eq!(of_a.runs[1].machine, Some(3));
        let (of_a, _) = means((&a, &b), false).unwrap();
        assert_eq!(of_a.values(), [2.5, 5.0]);
        let mut unshared = a.clone();
        unshared.runs[0].image = None;
        assert_eq!(means((&unshared, &b), true), None);
    }
}
