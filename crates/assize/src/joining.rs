//! Decides how several bundles are related: as blocks of one experiment, or as sides of a
//! comparison.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use assize_bundle::{
    Across, Boots, BundleRelation, Configuration, Doubt, FirstDifference, Head, Records,
    bundle_relation, name_apart,
};
use assize_plan::is_virtual;

use crate::failure::Failure;
use crate::resolutions;

/// Whether two bundles hold runs of the same configuration on the same workload.
pub(crate) fn overlap(inputs: &[PathBuf], all: &[Records]) -> bool {
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (path, records) in inputs.iter().zip(all) {
        let runs = records.runs.iter();
        let cells: BTreeSet<(&str, &str)> = runs
            .map(|run| (run.configuration.as_str(), run.workload.as_str()))
            .collect();
        let bundle = path.is_dir() && assize_bundle::read_plan(path).is_ok();
        if bundle && !cells.is_disjoint(&seen) {
            return true;
        }
        seen.extend(cells);
    }
    false
}

/// Bundles of one experiment, each a block. Anything but the machine may differ only if
/// `asked`: with `--bundles blocks`.
pub(crate) fn blocks(inputs: &[PathBuf], asked: bool) -> Result<Records, Failure> {
    let mut heads = Vec::new();
    for path in inputs {
        heads.push(head(path)?);
    }
    let boots = boots_of(inputs, &heads)?;
    let mut unknown_boots = BTreeSet::new();
    let mut kinds: Vec<Across> = Vec::new();
    for (at, second) in heads.iter().enumerate() {
        for (before, (first, other)) in heads.iter().zip(inputs).take(at).enumerate() {
            let pair = BundlePair {
                path: &inputs[at],
                other,
            };
            let relation = bundle_relation(first, second);
            let may_be_blocks = !matches!(
                relation,
                BundleRelation::OneSchedule | BundleRelation::Strangers(..)
            );
            let of_both = [&boots[before], &boots[at]];
            if let Some(boot) = of_both[0].shared(of_both[1]).filter(|_| may_be_blocks) {
                return Err(Failure::Argument(pair.one_boot(boot)));
            }
            let across = pair.across(relation, asked)?;
            if across == Across::Bundles && of_both.iter().any(|one| one.unknown) {
                unknown_boots.insert(inputs[at].display().to_string());
            }
            if !kinds.contains(&across) {
                kinds.push(across);
            }
        }
    }
    let across = match kinds[..] {
        [one] => one,
        // Both machines and kernels differ.
        _ => Across::Bundles,
    };
    let names = name_apart(&heads, inputs, across);
    let mut records = assize_bundle::stack(inputs, &names, across)?;
    for path in inputs {
        resolutions::declare(path, &mut records)?;
    }
    if across == Across::Machines {
        records.doubts.extend(other_kernels(&heads));
    }
    records.doubts.extend(unknown_boots.into_iter().map(|path| {
        let detail = format!(
            "{path}: the boot of the runs is not recorded; if the bundles are of one boot, they \
             are not replicates: reboot between them, and record them again"
        );
        Doubt::new("boot-unknown", detail)
    }));
    Ok(records)
}

/// The boots of each bundle that was recorded on a host.
fn boots_of(inputs: &[PathBuf], heads: &[Head]) -> Result<Vec<Boots>, Failure> {
    let of_one = |(path, head): (&PathBuf, &Head)| match is_virtual(&head.target) {
        true => Ok(Boots::default()),
        false => Ok(assize_bundle::boots(path)?),
    };
    inputs.iter().zip(heads).map(of_one).collect()
}

fn head(path: &Path) -> Result<Head, Failure> {
    if !path.is_dir() {
        return Err(Failure::Argument(format!(
            "{}: is not a bundle of runs, so it cannot be a block; omit it or --bundles blocks",
            path.display()
        )));
    }
    Ok(assize_bundle::read_plan(path)?)
}

/// A bundle and an earlier one of the command line.
struct BundlePair<'p> {
    path: &'p Path,
    other: &'p Path,
}

impl BundlePair<'_> {
    /// The message saying that the two are not replicates.
    fn one_boot(&self, boot: &str) -> String {
        format!(
            "{}: has runs of the same boot as {} ({boot}): whatever is fixed at boot is the same \
             in both bundles, so they are not replicates; reboot between them, add --bundles \
             sides to compare the two, or leave one out",
            self.path.display(),
            self.other.display()
        )
    }

    /// How the two differ, if they may be blocks.
    fn across(&self, relation: BundleRelation, asked: bool) -> Result<Across, Failure> {
        let (path, other) = (self.path.display(), self.other.display());
        let why = match relation {
            BundleRelation::Machines => return Ok(Across::Machines),
            BundleRelation::Setting(across, _) if asked => return Ok(across),
            BundleRelation::Again if asked => return Ok(Across::Bundles),
            BundleRelation::Setting(_, difference) => format!(
                "{path}: has the configurations of {other} with {}; add --bundles blocks to ask \
                 whether effects hold in both, or --bundles sides to compare the two",
                differing(&difference)
            ),
            BundleRelation::Again => format!(
                "{path}: repeats the experiment of {other} on the same machine; add --bundles \
                 blocks to judge both together, --bundles sides to compare the two, or leave one \
                 out"
            ),
            BundleRelation::OneSchedule => format!(
                "{path}: holds part of the schedule of {other}; merge them with `assize merge \
                 --out DIR` and compare the result"
            ),
            BundleRelation::Strangers(what, difference) => format!(
                "{path}: the {what} differs from that of {other}: {}; run one experiment file with \
                 the same options on both, or add --bundles sides to compare all runs of one with \
                 all of the other",
                differing(&difference)
            ),
        };
        Err(Failure::Argument(why))
    }
}

fn differing(difference: &FirstDifference) -> String {
    format!(
        "{} {} here, {} there",
        difference.field, difference.second, difference.first
    )
}

/// A doubt if the machines have different kernels as well.
fn other_kernels(heads: &[Head]) -> Option<Doubt> {
    let kernel = |head: &Head| head.facts.get("host_kernel").cloned();
    let kernels: Vec<String> = heads.iter().filter_map(kernel).collect();
    let distinct: BTreeSet<&String> = kernels.iter().collect();
    let on_host = |head: &Head| !is_virtual(&head.target);
    (distinct.len() > 1 && heads.iter().all(on_host)).then(|| {
        let named: Vec<String> = heads
            .iter()
            .filter_map(|head| Some(format!("{} on {}", kernel(head)?, head.machine)))
            .collect();
        Doubt::new(
            "confounded",
            format!(
                "the machines run different kernels ({}): a difference between them may be due to \
                 the kernels",
                named.join(", ")
            ),
        )
    })
}

/// Adds a doubt to bundles of several machines that have no cell in common: configuration and
/// machine are confounded.
pub(crate) fn confounded(inputs: &[PathBuf], all: &mut [Records]) {
    let mut machines: BTreeMap<String, &Path> = BTreeMap::new();
    for path in inputs {
        if let Some(head) = plan_of(path)
            && head.target != "exact"
        {
            machines.entry(head.machine).or_insert(path);
        }
    }
    if machines.len() > 1
        && let Some(last) = all.last_mut()
    {
        let named: Vec<String> = machines
            .iter()
            .map(|(machine, path)| format!("{} on {machine}", path.display()))
            .collect();
        last.doubts.push(Doubt::new(
            "confounded",
            format!(
                "the bundles are of several machines ({}) and share no configuration: a difference \
                 between their configurations may be due to the machines",
                named.join(", ")
            ),
        ));
    }
}

fn plan_of(path: &Path) -> Option<Head> {
    path.is_dir()
        .then(|| assize_bundle::read_plan(path).ok())
        .flatten()
}

/// Each input as one configuration, named after its directory or file.
pub(crate) fn sides(inputs: &[PathBuf], all: Vec<Records>) -> Result<Vec<Records>, Failure> {
    let name = |path: &PathBuf| {
        let whole = path.canonicalize().unwrap_or_else(|_| path.clone());
        let name = whole.file_stem().unwrap_or_default();
        name.to_string_lossy().into_owned()
    };
    let names: Vec<String> = inputs.iter().map(name).collect();
    sides_called(&names, inputs, all)
}

/// Each input as one configuration with the given name.
pub(crate) fn sides_called(
    called: &[String],
    inputs: &[PathBuf],
    all: Vec<Records>,
) -> Result<Vec<Records>, Failure> {
    let heads: Vec<Option<Head>> = inputs.iter().map(|path| plan_of(path)).collect();
    // A block means no more than its seed, which is the same on both sides.
    let seeds: BTreeSet<Option<String>> = heads
        .iter()
        .map(|head| {
            let exact = head.as_ref().filter(|head| head.target == "exact")?;
            exact.plan.get("seed").map(ToString::to_string)
        })
        .collect();
    let paired = seeds.len() == 1 && !seeds.contains(&None);
    let mut names: BTreeMap<String, &Path> = BTreeMap::new();
    let mut sides = Vec::new();
    for ((path, name), records) in inputs.iter().zip(called).zip(all) {
        if let Some(other) = names.insert(name.to_lowercase(), path) {
            return Err(Failure::Argument(format!(
                "{}: has the name '{name}', like {}; rename one of the two",
                path.display(),
                other.display()
            )));
        }
        let records = if path.is_dir() {
            side(name, records, paired)
        } else {
            records
        };
        sides.push(records);
    }
    Ok(sides)
}

/// A bundle as one configuration.
fn side(name: &str, mut records: Records, paired: bool) -> Records {
    let one_configuration = records.configurations.len() == 1;
    let one_workload = records.workloads.len() == 1;
    let workload = |configuration: &str, workload: &str| match (one_configuration, one_workload) {
        (true, _) => workload.to_owned(),
        (false, true) => configuration.to_owned(),
        (false, false) => format!("{workload}, {configuration}"),
    };
    let rename = |of: &mut String, on: &mut String| {
        *on = workload(of, on);
        name.clone_into(of);
    };
    let mut workloads = Vec::new();
    for on in &records.workloads {
        let all = records.configurations.iter();
        workloads.extend(all.map(|configuration| workload(&configuration.name, on)));
    }
    records.workloads = workloads;
    for run in &mut records.runs {
        rename(&mut run.configuration, &mut run.workload);
        run.block = run.block.filter(|_| paired);
    }
    for one in &mut records.identities {
        rename(&mut one.configuration, &mut one.workload);
    }
    records.level_settings.clear();
    for run in &mut records.failures {
        rename(&mut run.configuration, &mut run.workload);
        run.block = run.block.filter(|_| paired);
    }
    for run in &mut records.complained {
        rename(&mut run.configuration, &mut run.workload);
    }
    for one in &mut records.summaries {
        rename(&mut one.configuration, &mut one.workload);
    }
    for one in &mut records.events {
        rename(&mut one.configuration, &mut one.workload);
    }
    for one in &mut records.resolutions {
        rename(&mut one.configuration, &mut one.workload);
    }
    for one in &mut records.unsupported {
        rename(&mut one.configuration, &mut one.workload);
    }
    for one in &mut records.unavailable {
        rename(&mut one.configuration, &mut one.workload);
    }
    records.configurations = vec![Configuration {
        name: name.to_owned(),
        label: name.to_owned(),
        ..Configuration::default()
    }];
    records.factors.clear();
    records.tables.clear();
    // They use the former configuration names.
    records.claims.clear();
    records.tradeoffs.clear();
    records
}
