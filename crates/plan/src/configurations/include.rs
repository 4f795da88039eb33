//! The grid of an experiment: which combinations of levels become
//! configurations.

use indexmap::IndexMap;

use crate::configurations::subset;
use crate::experiment::{Experiment, Pattern};
use crate::levels::level_path;
use crate::values::document::join;
use crate::values::error::Error;

/// The combinations of levels that are planned.
#[derive(Debug, Clone)]
pub(crate) struct PlannedGrid {
    /// For each factor, the indices of the levels that occur, ascending.
    kept: Vec<Vec<usize>>,
    /// For each configuration, the level of each factor; baseline first.
    pub(crate) combinations: Vec<Vec<usize>>,
}

impl PlannedGrid {
    /// The levels that occur, by factor.
    pub(crate) fn levels(&self, experiment: &Experiment) -> IndexMap<String, Vec<String>> {
        let factors = experiment.file.factors.iter().zip(&self.kept);
        factors
            .map(|((factor, levels), kept)| {
                let names = kept.iter().filter_map(|at| levels.get_index(*at));
                (
                    factor.clone(),
                    names.map(|(name, _)| name.clone()).collect(),
                )
            })
            .collect()
    }
}

/// The full grid of the file, after `include` and `exclude`.
pub(crate) fn whole(experiment: &Experiment) -> Result<PlannedGrid, Error> {
    let file = &experiment.file;
    let sizes: Vec<usize> = file.factors.values().map(IndexMap::len).collect();
    let Some(mut combinations) = subset::full_factorial(&sizes) else {
        let why = format!("make more than {} configurations", subset::MOST);
        let error = experiment.error("factors", why);
        return Err(error.mend("use fewer factors or levels"));
    };
    let full = combinations.len();
    if let Some(include) = &file.include {
        let included = include
            .iter()
            .enumerate()
            .map(|(at, one)| matched(experiment, &format!("include[{at}]"), one, &combinations))
            .collect::<Result<Vec<PatternIndices>, Error>>()?;
        combinations.retain(|levels| included.iter().any(|one| matches_pattern(one, levels)));
    }
    for (at, pattern) in file.exclude.iter().enumerate() {
        let excluded = matched(
            experiment,
            &format!("exclude[{at}]"),
            pattern,
            &combinations,
        )?;
        combinations.retain(|levels| !matches_pattern(&excluded, levels));
    }
    let key = if file.exclude.is_empty() {
        "include"
    } else {
        "exclude"
    };
    let baseline = combinations.first().map(|levels| levels.iter().sum());
    if baseline != Some(0) {
        let why = "leaves out the baseline, which has the first level of each factor";
        let error = experiment.error(key, why);
        return Err(error.mend("write another level first, or keep the combination"));
    }
    let grid = PlannedGrid {
        kept: sizes.iter().map(|size| (0..*size).collect()).collect(),
        combinations,
    };
    every_level_is_kept(experiment, &grid, key)?;
    if grid.combinations.len() < full {
        tell_apart(experiment, &grid).map_err(|why| experiment.error(key, why).mend(KEEP))?;
    }
    Ok(grid)
}

/// An error if a level is in no combination; `key` left it out.
fn every_level_is_kept(
    experiment: &Experiment,
    grid: &PlannedGrid,
    key: &str,
) -> Result<(), Error> {
    for (at, (factor, levels)) in experiment.file.factors.iter().enumerate() {
        for (position, level) in levels.keys().enumerate() {
            let mut combinations = grid.combinations.iter();
            if !combinations.any(|one| one.get(at) == Some(&position)) {
                let why = format!("{key} leaves this level in no configuration");
                let error = experiment.error(&level_path(factor, level), why);
                return Err(error.mend("remove the level or keep a combination with it"));
            }
        }
    }
    Ok(())
}

const KEEP: &str = "keep more combinations";

/// The part of a grid with only these levels.
pub(crate) fn part(
    experiment: &Experiment,
    whole: &PlannedGrid,
    keep: &IndexMap<String, Vec<String>>,
) -> Result<PlannedGrid, Error> {
    let factors = &experiment.file.factors;
    for (factor, wanted) in keep {
        let Some(levels) = factors.get(factor) else {
            let error = Error::option("--set", factor, "no such factor");
            return Err(error.nearest(factor, factors.keys().map(String::as_str)));
        };
        if wanted.is_empty() {
            return Err(Error::option("--set", factor, "keeps no level"));
        }
        for (at, level) in wanted.iter().enumerate() {
            if !levels.contains_key(level) {
                let error = Error::option("--set", factor, format!("no level '{level}'"));
                return Err(error.nearest(level, levels.keys().map(String::as_str)));
            }
            if wanted[..at].contains(level) {
                let why = format!("level used twice: '{level}'");
                return Err(Error::option("--set", factor, why).mend("remove one"));
            }
        }
    }
    let wanted = |combination: &Vec<usize>| {
        factors
            .iter()
            .zip(combination)
            .all(|((factor, levels), at)| {
                let name = levels.get_index(*at).map(|(name, _)| name);
                match (keep.get(factor), name) {
                    (Some(wanted), Some(name)) => wanted.contains(name),
                    _ => true,
                }
            })
    };
    let mut combinations = whole.combinations.clone();
    combinations.retain(wanted);
    let kept = occurring(factors.len(), &combinations);
    let full: usize = kept.iter().map(Vec::len).product();
    let first = combinations.first().map(|first| first.iter().zip(&kept));
    let baseline = first.is_some_and(|mut first| first.all(|(at, kept)| kept.first() == Some(at)));
    if !baseline {
        let why = "no remaining configuration has the first remaining level of each factor";
        return Err(Error::option("--set", "", why).mend("keep other levels"));
    }
    let partial = combinations.len() < full;
    let grid = PlannedGrid { kept, combinations };
    if partial {
        tell_apart(experiment, &grid).map_err(|why| Error::option("--set", "", why).mend(KEEP))?;
    }
    Ok(grid)
}

/// For each factor, the indices of its levels that occur.
fn occurring(factors: usize, combinations: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let one = |factor: usize| {
        let mut levels: Vec<usize> = combinations
            .iter()
            .filter_map(|levels| levels.get(factor).copied())
            .collect();
        levels.sort_unstable();
        levels.dedup();
        levels
    };
    (0..factors).map(one).collect()
}

/// Checks that every main effect can be estimated; the error names effects that cannot.
fn tell_apart(experiment: &Experiment, grid: &PlannedGrid) -> Result<(), String> {
    let sizes: Vec<usize> = grid.kept.iter().map(Vec::len).collect();
    let position = |factor: usize, level: &usize| {
        let kept = grid.kept.get(factor)?;
        kept.iter().position(|kept| kept == level)
    };
    let combinations: Vec<Vec<usize>> = grid
        .combinations
        .iter()
        .map(|levels| {
            let levels = levels.iter().enumerate();
            levels
                .filter_map(|(factor, level)| position(factor, level))
                .collect()
        })
        .collect();
    let Some(effects) = subset::confounded(&combinations, &sizes) else {
        return Ok(());
    };
    let levels = grid.levels(experiment);
    let names: Vec<String> = effects
        .iter()
        .filter_map(|(factor, level)| {
            let (factor, levels) = levels.get_index(*factor)?;
            Some(format!("{factor}={}", levels.get(*level)?))
        })
        .collect();
    let (last, others) = names
        .split_last()
        .map_or(("", &names[..]), |(last, others)| (last, others));
    Err(match others {
        [other] => format!(
            "the effect of {last} cannot be distinguished from that of {other}: \
             they always change together"
        ),
        others => format!(
            "the effect of {last} cannot be distinguished from those of {}: \
             together they determine {last}",
            others.join(" and ")
        ),
    })
}

/// A pattern by index: for each factor it names, the levels that match.
type PatternIndices = Vec<Option<Vec<usize>>>;

fn matches_pattern(pattern: &PatternIndices, levels: &[usize]) -> bool {
    let mut pairs = pattern.iter().zip(levels);
    pairs.all(|(wanted, level)| wanted.as_ref().is_none_or(|wanted| wanted.contains(level)))
}

/// Resolves a pattern to indices; it must match at least one combination.
fn matched(
    experiment: &Experiment,
    path: &str,
    pattern: &Pattern,
    combinations: &[Vec<usize>],
) -> Result<PatternIndices, Error> {
    let positions = positions(experiment, path, pattern)?;
    if combinations
        .iter()
        .any(|levels| matches_pattern(&positions, levels))
    {
        return Ok(positions);
    }
    let why = "matches none of the remaining configurations";
    Err(experiment.error(path, why).mend("remove it"))
}

fn positions(
    experiment: &Experiment,
    path: &str,
    pattern: &Pattern,
) -> Result<PatternIndices, Error> {
    let factors = &experiment.file.factors;
    let mut positions = vec![None; factors.len()];
    if pattern.is_empty() {
        let error = experiment.error(path, "names no factor");
        return Err(error.mend("write { FACTOR = \"LEVEL\" }"));
    }
    for (factor, wanted) in pattern {
        let path = join(path, factor);
        let Some((at, _, levels)) = factors.get_full(factor) else {
            let error = experiment.error(&path, format!("no factor '{factor}'"));
            return Err(error.nearest(factor, factors.keys().map(String::as_str)));
        };
        let mut found = Vec::new();
        for level in wanted {
            let Some(position) = levels.get_index_of(level) else {
                let error = experiment.error(&path, format!("no level '{level}' of {factor}"));
                return Err(error.nearest(level, levels.keys().map(String::as_str)));
            };
            if found.contains(&position) {
                let error = experiment.error(&path, format!("level used twice: '{level}'"));
                return Err(error.mend("remove one"));
            }
            found.push(position);
        }
        positions[at] = Some(found);
    }
    Ok(positions)
}
