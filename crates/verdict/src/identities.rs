//! How configurations differ in files and settings, or whether they are the same.

use std::collections::{BTreeMap, BTreeSet};

use assize_bundle::{IdentityPart, LevelSettings, Records, RunIdentity};

use crate::baselines::{Baselines, repeated};
use crate::cells::{Cells, PartValues, PartsByCell};
use crate::document::{DifferingPart, IdentityDifference, Lint, SameConfiguration};
use crate::names::folded;
use crate::words::{and_list, count_of};

/// Kinds whose names are paths, shown by their last component.
const FILES: [&str; 3] = ["program", "library", "file"];
/// Kinds whose values are digests.
const DIGESTS: [&str; 5] = ["module", "module-build-id", "program", "library", "file"];
/// Kinds of settings that have a default value if no level sets them.
const VALUES: [&str; 8] = [
    "sysctl",
    "setting",
    "environment",
    "workload",
    "queue",
    "idle states",
    "frequencies",
    "scheduling",
];
/// Kinds of settings that are not compared as requested, because the recorded parts show them.
const PROVEN: [&str; 5] = ["kernel", "machine", "command line", "set-up", "tear-down"];
/// Number of digits of a digest that are shown.
const DIGITS: usize = 12;
/// Maximum number of parts listed per difference; the rest are counted.
const MOST: usize = 4;

fn settings<'r>(records: &'r Records, configuration: &str) -> Option<&'r LevelSettings> {
    let mut all = records.level_settings.iter();
    all.find(|one| folded(&one.configuration) == folded(configuration))
}

/// The recorded identities of a configuration's runs, on one workload or on all.
fn identities<'r>(
    records: &'r Records,
    configuration: &'r str,
    workload: Option<&'r str>,
) -> impl Iterator<Item = &'r RunIdentity> {
    let is = |one: &str, other: &str| folded(one) == folded(other);
    records.identities.iter().filter(move |one| {
        is(&one.configuration, configuration)
            && workload.is_none_or(|workload| is(&one.workload, workload))
    })
}

/// Parts by kind and name. Files are named by the last component of their path
/// if that is unique.
fn values_by_part<'p>(parts: impl IntoIterator<Item = &'p IdentityPart>) -> PartValues {
    let parts: Vec<&IdentityPart> = parts.into_iter().collect();
    let short = |part: &IdentityPart| match FILES.contains(&part.kind.as_str()) {
        true => part.name.rsplit('/').next().unwrap_or_default().to_string(),
        false => part.name.clone(),
    };
    let mut paths: BTreeMap<(&str, String), BTreeSet<&str>> = BTreeMap::new();
    for part in &parts {
        let named = paths.entry((&part.kind, short(part))).or_default();
        named.insert(&part.name);
    }
    let name = |part: &IdentityPart| {
        let short = short(part);
        match paths.get(&(part.kind.as_str(), short.clone())) {
            Some(paths) if paths.len() > 1 => part.name.clone(),
            _ => short,
        }
    };
    parts
        .iter()
        .map(|part| ((part.kind.clone(), name(part)), part.value.clone()))
        .collect()
}

/// Everything known about the runs of one configuration on one workload, recorded or requested, by
/// machine; `None` if unknown or if it changed between runs.
fn whole(
    records: &Records,
    configuration: &str,
    workload: &str,
) -> Option<BTreeMap<Option<String>, PartValues>> {
    let settings = settings(records, configuration)?;
    let counts = |part: &&IdentityPart| {
        let own = part.name == workload || part.name.starts_with(&format!("{workload} "));
        match part.kind.as_str() {
            // The booted kernel is among the recorded parts.
            "kernel" => false,
            // So is the environment.
            "workload" => own && !part.name.ends_with(" environment"),
            _ => true,
        }
    };
    let mut machines = BTreeMap::new();
    for identity in identities(records, configuration, Some(workload)) {
        let asked = settings.settings.iter().filter(counts);
        let libraries = identity.parts.iter().any(|part| part.kind == "library");
        // If the libraries are recorded, their location does not matter.
        let made = identity.parts.iter();
        let made = made.filter(|part| !(libraries && places_libraries(part)));
        let parts = values_by_part(asked.chain(made));
        if machines.insert(identity.machine.clone(), parts).is_some() {
            return None;
        }
    }
    (!machines.is_empty()).then_some(machines)
}

/// Whether a part is a search path of libraries.
fn places_libraries(part: &IdentityPart) -> bool {
    let variable = part.name.rsplit(' ').next().unwrap_or_default();
    part.kind == "environment" && matches!(variable, "LD_LIBRARY_PATH" | "LD_PRELOAD")
}

fn wholes(cells: &Cells<'_>) -> PartsByCell {
    let mut all = PartsByCell::new();
    for (configuration, name) in cells.configurations.iter().enumerate() {
        for (workload, on) in cells.workloads.iter().enumerate() {
            if let Some(parts) = whole(cells.records, name, on) {
                all.insert((configuration, workload), parts);
            }
        }
    }
    all
}

/// Whether the runs of two configurations on one workload are identical, as far
/// as the records show.
pub(crate) fn are_same(cells: &Cells<'_>, one: usize, other: usize, workload: usize) -> bool {
    if stands_for(cells, one) == stands_for(cells, other) {
        return true;
    }
    if repeated(cells, one).is_some() || repeated(cells, other).is_some() {
        return false;
    }
    let wholes = cells.wholes.get_or_init(|| wholes(cells));
    let of = |configuration: usize| wholes.get(&(configuration, workload));
    of(one).is_some_and(|parts| Some(parts) == of(other))
}

/// The first configuration that requests the same as this one.
fn stands_for<'c>(cells: &'c Cells<'_>, configuration: usize) -> &'c str {
    let name = &cells.configurations[configuration];
    cells.records.same.get(name).unwrap_or(name)
}

/// Whether two configurations are identical on every workload.
pub(crate) fn are_same_everywhere(cells: &Cells<'_>, one: usize, other: usize) -> bool {
    let mut workloads = 0..cells.workloads.len();
    !cells.records.level_settings.is_empty()
        && workloads.all(|workload| are_same(cells, one, other, workload))
}

/// The configurations that are identical to the ones that they are compared with.
pub(crate) fn same(cells: &Cells<'_>, baselines: &Baselines) -> Vec<SameConfiguration> {
    let all = (0..cells.configurations.len()).collect();
    let pairs = baselines.pairs(cells, all, baselines.main(cells));
    let same = pairs.filter(|&(one, baseline)| are_same_everywhere(cells, one, baseline));
    let name = |at: usize| cells.configurations[at].clone();
    same.map(|(one, baseline)| SameConfiguration {
        configuration: name(one),
        baseline: name(baseline),
    })
    .collect()
}

/// Lints for workloads that compare nothing because the configuration is identical to its baseline.
fn unchanged(cells: &Cells<'_>, baselines: &Baselines) -> Vec<Lint> {
    let mut lints = Vec::new();
    for (configuration, name) in cells.configurations.iter().enumerate() {
        for (workload, on) in cells.workloads.iter().enumerate() {
            let Some(baseline) = baselines.baseline_on(workload) else {
                continue;
            };
            if baseline != configuration
                && are_same(cells, baseline, configuration, workload)
                && !are_same_everywhere(cells, baseline, configuration)
            {
                let of = &cells.configurations[baseline];
                lints.push(Lint {
                    code: "same-run".into(),
                    location: format!("{name} on {on}"),
                    detail: format!(
                        "does not differ from {of} there: the same bytes and settings; nothing \
                         is compared"
                    ),
                    ..Lint::default()
                });
            }
        }
    }
    lints
}

/// How each configuration differs from its baseline.
pub(crate) fn differences(cells: &Cells<'_>, baselines: &Baselines) -> Vec<IdentityDifference> {
    let of = |configuration: usize| cells.configurations[configuration].as_str();
    let all = (0..cells.configurations.len()).collect();
    let mut found = Vec::new();
    for (configuration, baseline) in baselines.pairs(cells, all, baselines.main(cells)) {
        let records = cells.records;
        let known = |name| identities(records, name, None).next().is_some();
        if !known(of(baseline))
            || !known(of(configuration))
            || are_same_everywhere(cells, baseline, configuration)
        {
            continue;
        }
        found.push(IdentityDifference {
            configuration: of(configuration).into(),
            baseline: of(baseline).into(),
            parts: differing(records, of(baseline), of(configuration)),
        });
    }
    found
}

/// The parts in which two configurations differ, on any workload.
fn differing(records: &Records, baseline: &str, configuration: &str) -> Vec<DifferingPart> {
    // Failed runs do not record parts, so only workloads that both completed are compared.
    let workloads = |name: &str| -> BTreeSet<String> {
        let all = identities(records, name, None);
        all.map(|one| folded(&one.workload)).collect()
    };
    let both: BTreeSet<String> = (workloads(baseline).into_iter())
        .filter(|one| workloads(configuration).contains(one))
        .collect();
    let of = |name: &str| {
        let asked = settings(records, name);
        let asked = asked.into_iter().flat_map(|one| &one.settings);
        let asked = asked.filter(|part| !PROVEN.contains(&part.kind.as_str()));
        let made = identities(records, name, None);
        let made = made.filter(|one| both.contains(&folded(&one.workload)));
        let made = made.flat_map(|one| &one.parts);
        values_by_part(asked.chain(made))
    };
    let (a, b) = (of(baseline), of(configuration));
    let varies = varies(records, baseline, configuration);
    let keys: BTreeSet<&(String, String)> = a.keys().chain(b.keys()).collect();
    let differing = keys.into_iter().filter(|key| a.get(*key) != b.get(*key));
    let value = |parts: &PartValues, of: &str, key: &(String, String)| {
        let found = parts.get(key).cloned().flatten()?;
        // Of a file that lists all options, shows the value that was written.
        let long = key.0 == "setting" && found.split_whitespace().count() > MOST;
        let written = || written_value(records, of, &key.1);
        Some(if long {
            written().unwrap_or(found)
        } else {
            found
        })
    };
    let parts = differing.map(|key| DifferingPart {
        kind: key.0.clone(),
        name: key.1.clone(),
        baseline: value(&a, baseline, key),
        value: value(&b, configuration, key),
        by_level: varies
            .as_ref()
            .is_none_or(|kinds| kinds.contains(&key.0) || is_asked(&key.0)),
    });
    parts.collect()
}

/// The last value that the set-up of a configuration writes to a file.
fn written_value(records: &Records, configuration: &str, path: &str) -> Option<String> {
    let settings = &settings(records, configuration)?.settings;
    let of = |name: &str| {
        let mut parts = settings.iter().filter(|part| part.kind == "set-up");
        parts.find(|part| part.name == name)?.value.clone()
    };
    let mut steps = settings.iter().filter_map(|part| {
        let step = part.name.strip_suffix(" path")?;
        (part.kind == "set-up" && part.value.as_deref() == Some(path)).then_some(step)
    });
    steps
        .next_back()
        .and_then(|step| of(&format!("{step} value")))
}

/// Whether this kind is a requested setting, which only levels change.
fn is_asked(kind: &str) -> bool {
    matches!(
        kind,
        "workload" | "background" | "queue" | "idle states" | "frequencies"
    )
}

/// The kinds of parts that the levels of two configurations may change; `None`
/// if unknown.
fn varies(records: &Records, one: &str, other: &str) -> Option<BTreeSet<String>> {
    let (one, other) = (settings(records, one)?, settings(records, other)?);
    Some(one.varies.union(&other.varies).cloned().collect())
}

/// Lints about the parts of the runs.
pub(crate) fn lints(
    cells: &Cells<'_>,
    differences: &[IdentityDifference],
    baselines: &Baselines,
) -> Vec<Lint> {
    let mut lints = unchanged(cells, baselines);
    lints.extend(changing(cells.records));
    for difference in differences {
        let parts: Vec<String> = difference
            .parts
            .iter()
            .filter(|part| !part.by_level)
            .map(DifferingPart::words)
            .collect();
        if !parts.is_empty() {
            lints.push(Lint {
                code: "unexpected-difference".into(),
                location: difference.configuration.clone(),
                detail: format!(
                    "differs from {} in something that no level sets: {}",
                    difference.baseline,
                    first_parts(&parts)
                ),
                ..Lint::default()
            });
        }
    }
    lints
}

/// Lints for cells whose runs differ in their parts.
fn changing(records: &Records) -> Vec<Lint> {
    let mut cells: BTreeMap<(&str, &str, Option<&str>), Vec<&RunIdentity>> = BTreeMap::new();
    for one in &records.identities {
        let cell = (&*one.configuration, &*one.workload, one.machine.as_deref());
        cells.entry(cell).or_default().push(one);
    }
    let mut lints = Vec::new();
    for ((configuration, workload, _), all) in cells {
        let Some((first, others)) = all.split_first() else {
            continue;
        };
        for other in others {
            let (a, b) = (values_by_part(&first.parts), values_by_part(&other.parts));
            let keys: BTreeSet<&(String, String)> = a.keys().chain(b.keys()).collect();
            let parts: Vec<String> = keys
                .into_iter()
                .filter(|key| a.get(*key) != b.get(*key))
                .map(|key| describe_part(&key.0, &key.1, flat(&a, key), flat(&b, key)))
                .collect();
            lints.push(Lint {
                code: "identity-varies".into(),
                location: format!("{configuration} on {workload}"),
                detail: format!(
                    "{} did not run with the files and settings of {}: {}",
                    count_of(other.runs.len(), "run"),
                    count_of(first.runs.len(), "other"),
                    first_parts(&parts)
                ),
                ..Lint::default()
            });
        }
    }
    lints
}

fn flat<'p>(parts: &'p PartValues, key: &(String, String)) -> Option<&'p str> {
    parts.get(key).and_then(Option::as_deref)
}

/// The first few parts, and the number of the others.
fn first_parts(parts: &[String]) -> String {
    match parts.len() > MOST {
        true => format!(
            "{} and {} more",
            parts[..MOST].join(", "),
            parts.len() - MOST
        ),
        false => and_list(parts),
    }
}

/// A part and its two values, in words.
fn describe_part(kind: &str, name: &str, baseline: Option<&str>, value: Option<&str>) -> String {
    let shown = |value: &str| match DIGESTS.contains(&kind) {
        true => value.chars().take(DIGITS).collect(),
        false if value.is_empty() => "empty".into(),
        false => value.to_string(),
    };
    let values = match (baseline, value) {
        (Some(a), Some(b)) => format!("{} instead of {}", shown(b), shown(a)),
        (None, Some(b)) if VALUES.contains(&kind) => {
            format!("{}; not set in the baseline", shown(b))
        }
        (Some(a), None) if VALUES.contains(&kind) => {
            format!("not set; {} in the baseline", shown(a))
        }
        (None, Some(b)) => format!("{}; absent in the baseline", shown(b)),
        (Some(a), None) => format!("absent; {} in the baseline", shown(a)),
        (None, None) => "not readable".into(),
    };
    let what = format!("{} {name}", kind.replace('-', " "));
    format!("{} ({values})", what.trim_end())
}

impl DifferingPart {
    /// The part and its two values in words, with shortened digests.
    #[must_use]
    pub fn words(&self) -> String {
        describe_part(
            &self.kind,
            &self.name,
            self.baseline.as_deref(),
            self.value.as_deref(),
        )
    }
}

impl IdentityDifference {
    /// All differences in one sentence: the most informative parts, and the number of the others.
    #[must_use]
    pub fn sentence(&self) -> String {
        let modules: BTreeSet<&str> = self
            .parts
            .iter()
            .filter(|part| part.kind == "module")
            .map(|part| part.name.as_str())
            .collect();
        let release = self
            .parts
            .iter()
            .any(|part| part.kind == "kernel" && part.name == "release");
        // A digest says more than a build ID, and a release more than an image.
        let tells = |part: &&DifferingPart| match part.kind.as_str() {
            "module-build-id" => !modules.contains(part.name.as_str()),
            "kernel" if release => part.name == "release",
            _ => true,
        };
        let parts: Vec<String> = self
            .parts
            .iter()
            .filter(tells)
            .map(DifferingPart::words)
            .collect();
        let (a, b) = (&self.baseline, &self.configuration);
        match parts.is_empty() {
            true => format!("no difference between {b} and {a} was seen"),
            false => format!("{b} differs from {a} only in: {}", first_parts(&parts)),
        }
    }
}
