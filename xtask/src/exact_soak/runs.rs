//! The runs of the soak.

use std::path::Path;

use assize_job::Order;
use assize_plan::Overrides;

use crate::{Error, tree};

/// The directory of the tour's experiments.
const TOUR: &str = "experiments/tour";
/// Two busy CPUs with all instruments.
const TWO_CPUS: &str = "tests/soak/two-cpus.toml";
/// The tour's experiment on two kernels. The light form leaves it out, as it would have
/// to boot both.
const KERNELS: &str = "kernels.toml";

/// A run from an experiment, executed any number of times.
#[derive(Debug, Clone)]
pub(super) struct Run {
    /// A description of its origin.
    pub(super) name: String,
    /// The order to the target.
    pub(super) order: Order,
}

/// All runs; in the light form, only the first block of each experiment.
pub(super) fn all(light: bool) -> Result<Vec<Run>, Error> {
    let root = tree::root()?;
    let mut files: Vec<String> = tree::files()?
        .into_iter()
        .filter(|name| name.starts_with(TOUR) && name.ends_with(".toml"))
        .filter(|name| !light || !name.ends_with(KERNELS))
        .collect();
    files.push(TWO_CPUS.into());
    let mut runs = Vec::new();
    for file in &files {
        runs.extend(runs_of_file(&root, file, light)?);
    }
    Ok(runs)
}

fn runs_of_file(root: &Path, file: &str, light: bool) -> Result<Vec<Run>, Error> {
    let path = root.join(file);
    let text = std::fs::read_to_string(&path).map_err(|why| format!("{file}: {why}"))?;
    let experiment = assize_plan::parse(&text, file).map_err(|why| why.to_string())?;
    let plan = experiment.plan(&Overrides::default());
    let plan = plan.map_err(|why| why.to_string())?;
    let wanted = plan.runs.iter().filter(|run| !light || run.block == 0);
    let runs = wanted.filter_map(|run| {
        let configuration = &plan.configurations.get(run.configuration)?.name;
        let workload = &plan.workloads.get(run.workload)?.name;
        let number = run.index + 1;
        Some(Run {
            name: format!("{file} run {number} ({configuration} on {workload})"),
            order: plan.order(run.index)?,
        })
    });
    Ok(runs.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tour_and_two_busy_cpus_are_there() {
        let runs = all(false).unwrap();
        let of = |what: &str| runs.iter().filter(|run| run.name.starts_with(what)).count();
        assert_eq!(of("experiments/tour/dep-queue.toml"), 100);
        let tour = [
            "experiments/tour/aa.toml",
            "experiments/tour/cyclictest.toml",
            "experiments/tour/kernels.toml",
        ];
        assert!(tour.iter().all(|file| of(file) > 0));
        let two = runs.iter().filter(|run| run.name.starts_with(TWO_CPUS));
        assert!(two.clone().all(|run| run.order.machine.cpus == 2));
        assert!(two.clone().all(|run| run.order.job.instruments.len() >= 10));
        assert!(two.count() >= 4);
    }

    #[test]
    fn the_light_form_is_a_part_of_it_with_one_image_for_each_machine() {
        let (light, whole) = (all(true).unwrap(), all(false).unwrap());
        assert!(light.len() >= 20 && light.len() < whole.len() / 4);
        for run in &light {
            assert!(whole.iter().any(|other| other.order == run.order));
        }
    }
}
