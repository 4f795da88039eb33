//! Turns an experiment into its plan.

use assize_job::{Periodic, WorkloadKind};

use crate::configurations::combine::{combine, unchanged};
use crate::configurations::include::{self, PlannedGrid};
use crate::configurations::{factorial, names};
use crate::experiment::{Experiment, RUNS_DEFAULT};
use crate::levels::{Levels, RawLevel};
use crate::overrides::Overrides;
use crate::plan::{Plan, PlannedClaim, PlannedConfiguration, PlannedTradeoff, SCHEMA, StopRule};
use crate::report::{tables, tradeoffs};
use crate::schedule::blocks;
use crate::settings::{gaps, stalls, tracer};
use crate::until::RUNS_MAX;
use crate::values::error::Error;
use crate::values::target::{self, EXACT};
use crate::workloads::frames_stream;
use crate::{check, metrics, payload};

/// Default maximum number of memory images, each about 100 MB on disk.
pub const MOST_IMAGES: u32 = 32;
/// Maximum number of runs in an experiment.
const TOTAL_MAX: u64 = 1_000_000;

/// Parses an experiment file. `name` is the file's name in messages.
pub fn parse(text: &str, name: &str) -> Result<Experiment, Error> {
    let experiment = Experiment::read(text, name)?;
    check::check(&experiment)?;
    // Finds mistakes that only show once levels are combined.
    experiment.plan(&Overrides::default())?;
    Ok(experiment)
}

impl Experiment {
    /// Plans the configurations and the schedule. The same experiment and
    /// overrides always give the same plan.
    ///
    /// # Errors
    /// An override that names something that does not exist, or that leaves
    /// nothing that can be run.
    pub fn plan(&self, overrides: &Overrides) -> Result<Plan, Error> {
        plan(self, overrides)
    }
}

fn plan(experiment: &Experiment, overrides: &Overrides) -> Result<Plan, Error> {
    check_overrides(experiment, overrides)?;
    let (document, file) = (&experiment.document, &experiment.file);
    let whole = include::whole(experiment)?;
    let every = configurations(experiment, &whole, overrides)?;
    let target = overrides.target.as_ref().unwrap_or(&file.target);
    check_configurations(experiment, target, &every)?;
    let instruments = stalls::with_truth(document, &file.instruments, &every)?;
    let parameters = experiment.every_parameters();
    let payload = payload::derive(document, &file.payload, parameters, &every)?;
    let (grid, mut configurations) = restrict_to_overrides(experiment, (whole, every), overrides)?;
    let (seed, factors) = (overrides.seed.unwrap_or(file.seed), grid.levels(experiment));
    calibrate(target, &mut configurations);
    let switches = factorial::mark(experiment, &factors, &mut configurations)?;
    if file.aa {
        repeat_baseline(&mut configurations);
    }
    let (blocks, until) = blocks(experiment, overrides);
    check_total(experiment, overrides, configurations.len(), blocks)?;
    let images = images(target, file.images, blocks);
    let workloads = unchanged(experiment)?;
    Ok(Plan {
        schema: SCHEMA.to_owned(),
        source: document.name.clone(),
        experiment: document.text.clone(),
        overrides: overrides.clone(),
        title: file.title.clone(),
        question: file.question.clone(),
        target: target.clone(),
        seed,
        tables: tables::tables(&experiment.names(), &file.tables, &factors, &configurations),
        tradeoffs: tradeoffs(experiment, &configurations)?,
        factors,
        switches,
        runs: blocks::runs(
            seed,
            blocks,
            (configurations.len(), workloads.len()),
            file.aa.then_some(1),
            images,
        ),
        interleavings: std::collections::BTreeMap::new(),
        images: blocks::images(seed, images),
        configurations,
        workloads,
        instruments,
        gaps: gaps::settings(&file.instruments, file.gaps.as_ref()),
        tracer: tracer::settings(document, &file.instruments, file.tracer.as_ref())?,
        primary: file.primary.clone(),
        higher_is_better: experiment.directions().all_higher(),
        claims: claims(experiment),
        until,
        margin: file.margin,
        retries: file.retries,
        timeout_ms: file.timeout_ns / 1_000_000,
        samples: file.samples,
        offset_ns_max: file.offset_ns,
        payload,
    })
}

fn tradeoffs(
    experiment: &Experiment,
    configurations: &[PlannedConfiguration],
) -> Result<Vec<PlannedTradeoff>, Error> {
    tradeoffs::tradeoffs(
        &experiment.document,
        experiment.directions(),
        &experiment.file.tradeoffs,
        |names| metrics::workloads_with(experiment, configurations, names),
    )
}

/// Filters the grid and its configurations down to the levels that the overrides keep.
fn restrict_to_overrides(
    experiment: &Experiment,
    (whole, every): (PlannedGrid, Vec<PlannedConfiguration>),
    overrides: &Overrides,
) -> Result<(PlannedGrid, Vec<PlannedConfiguration>), Error> {
    if overrides.levels.is_empty() {
        return Ok((whole, every));
    }
    let part = include::part(experiment, &whole, &overrides.levels)?;
    let configurations = configurations(experiment, &part, overrides)?;
    Ok((part, configurations))
}

/// Checks for mistakes that only become apparent once all configurations are known.
fn check_configurations(
    experiment: &Experiment,
    target: &str,
    every: &[PlannedConfiguration],
) -> Result<(), Error> {
    factorial::check(experiment, every)?;
    metrics::check(experiment, every)?;
    let (document, file) = (&experiment.document, &experiment.file);
    let fewest = every.iter().map(|one| one.machine.cpus).min();
    let cpus = target::is_virtual(&file.target).then(|| fewest.unwrap_or(0));
    gaps::check(document, &file.instruments, file.gaps.as_ref(), cpus)?;
    tracer::check(document, &file.instruments, file.tracer.as_ref(), cpus)?;
    frames_stream::check_devices(document, target, every)
}

/// Rejects a schedule of more than [`TOTAL_MAX`] runs, which is probably a mistake.
fn check_total(
    experiment: &Experiment,
    overrides: &Overrides,
    configurations: usize,
    blocks: u32,
) -> Result<(), Error> {
    let cells = (configurations * experiment.file.workloads.len()) as u64;
    if cells * u64::from(blocks) <= TOTAL_MAX {
        return Ok(());
    }
    let why = format!("{cells} cells with {blocks} runs each are more than {TOTAL_MAX} runs");
    let error = match overrides.runs {
        Some(_) => Error::option("--runs", "", why),
        None if experiment.file.until.is_some() => experiment.error("until.max_runs", why),
        None => experiment.error("runs", why),
    };
    Err(error.mend(format!("at most {} runs of each cell", TOTAL_MAX / cells)))
}

fn check_overrides(experiment: &Experiment, overrides: &Overrides) -> Result<(), Error> {
    if let Some(target) = &overrides.target
        && let Some(why) = target::why_invalid(target)
    {
        let error = Error::option("--target", target, why);
        return Err(error.nearest(target, target::valid()));
    }
    if let Some(runs) = overrides.runs
        && !(1..=RUNS_MAX).contains(&runs)
    {
        let why = format!("{runs} is not between 1 and {RUNS_MAX}");
        return Err(Error::option("--runs", "", why));
    }
    if let Some(cpus) = overrides.cpus {
        if !(1..=255).contains(&cpus) {
            let why = format!("{cpus} is not between 1 and 255");
            return Err(Error::option("--cpus", "", why));
        }
        let sets = |level: &RawLevel| level.cpus.is_some();
        check_no_level(experiment, "--cpus", "sets the number of CPUs", sets)?;
    }
    match &overrides.kernel {
        Some(kernel) => check_kernel(experiment, overrides, kernel),
        None => Ok(()),
    }
}

fn check_kernel(experiment: &Experiment, overrides: &Overrides, kernel: &str) -> Result<(), Error> {
    let target = overrides.target.as_ref().unwrap_or(&experiment.file.target);
    if target == "host" || target.starts_with("ssh:") {
        let why = format!("the target {target} uses the kernel that runs there");
        let error = Error::option("--kernel", kernel, why);
        return Err(error.mend("leave it out, or use the target exact or live"));
    }
    if kernel.is_empty() || kernel.chars().any(char::is_whitespace) {
        let error = Error::option("--kernel", "", format!("'{kernel}' is not a kernel"));
        return Err(error.mend(check::KERNELS));
    }
    let sets = |level: &RawLevel| level.kernel.is_some();
    check_no_level(experiment, "--kernel", "sets the kernel", sets)
}

/// Fails if a level sets what a command-line option sets for all configurations.
fn check_no_level(
    experiment: &Experiment,
    option: &str,
    why: &str,
    sets: impl Fn(&RawLevel) -> bool,
) -> Result<(), Error> {
    for (factor, levels) in &experiment.file.factors {
        if levels.values().any(&sets) {
            let error = Error::option(option, &format!("factors.{factor}"), why);
            return Err(error.mend(format!("use --set {factor}=LEVEL")));
        }
    }
    Ok(())
}

fn configurations(
    experiment: &Experiment,
    grid: &PlannedGrid,
    overrides: &Overrides,
) -> Result<Vec<PlannedConfiguration>, Error> {
    let factors = &experiment.file.factors;
    let parts = names::parts(factors);
    let mut configurations = Vec::new();
    for combination in &grid.combinations {
        let levels: Levels<'_> = factors
            .iter()
            .zip(combination)
            .filter_map(|((factor, levels), at)| {
                let (name, level) = levels.get_index(*at)?;
                Some((factor.as_str(), name.as_str(), level))
            })
            .collect();
        let name = names::join(&parts, combination);
        configurations.push(combine(experiment, name, &levels, overrides)?);
    }
    Ok(configurations)
}

/// Sets rt-app's calibration on the exact target, where the time of one iteration of its loop is
/// known, so that rt-app does not measure it.
fn calibrate(target: &str, configurations: &mut [PlannedConfiguration]) {
    let every = configurations.iter_mut().flat_map(|configuration| {
        let beside = configuration.beside.iter_mut().flatten();
        let own = configuration.workloads.iter_mut();
        own.chain(&mut configuration.background).chain(beside)
    });
    for workload in every {
        if let WorkloadKind::Periodic(one) = &mut workload.kind
            && one.rt_app.is_some()
            && target == EXACT
        {
            one.calibration_ns
                .get_or_insert(Periodic::EXACT_CALIBRATION_NS);
        }
    }
}

fn repeat_baseline(configurations: &mut Vec<PlannedConfiguration>) {
    let Some(baseline) = configurations.first() else {
        return;
    };
    let mut again = baseline.clone();
    again.name = format!("{}/aa", baseline.name);
    again.aa = true;
    again.switches.clear();
    configurations.insert(1, again);
}

/// The number of memory images: as many as the file asks for, by default one per
/// block up to [`MOST_IMAGES`], and never more than there are blocks.
fn images(target: &str, asked: Option<u32>, blocks: u32) -> u32 {
    match target {
        EXACT => asked.unwrap_or(MOST_IMAGES).min(blocks),
        _ => 0,
    }
}

/// The largest number of blocks, and when to stop early.
fn blocks(experiment: &Experiment, overrides: &Overrides) -> (u32, Option<StopRule>) {
    let file = &experiment.file;
    let Some(until) = &file.until else {
        return (overrides.runs.or(file.runs).unwrap_or(RUNS_DEFAULT), None);
    };
    let most = overrides.runs.unwrap_or(until.max_runs);
    let first_look = until.first_look.min(most);
    let until = StopRule {
        within: until.within,
        metric: until.metric.clone(),
        first_look,
        every: until.every,
        // The last look is at the end, when all runs are done.
        looks: 1 + (most - first_look).div_ceil(until.every),
    };
    (most, Some(until))
}

fn claims(experiment: &Experiment) -> Vec<PlannedClaim> {
    let claim = |(at, text): (usize, &String)| PlannedClaim {
        text: text.clone(),
        place: experiment.document.place(&format!("claims[{at}]")),
    };
    experiment
        .file
        .claims
        .iter()
        .enumerate()
        .map(claim)
        .collect()
}
