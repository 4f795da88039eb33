//! Finds the configurations that form the grid of switches (factors with two levels), whose effects
//! are fitted.

use indexmap::IndexMap;

use crate::configurations::names;
use crate::experiment::{Experiment, Pattern};
use crate::plan::PlannedConfiguration;
use crate::values::document::join;
use crate::values::error::Error;

/// Maps factors to their "off" and "on" levels; both are the same if the factor
/// is held constant.
type FactorSwitches = IndexMap<String, (String, String)>;

/// Checks the grid that the file declares against all its configurations.
pub(crate) fn check(
    experiment: &Experiment,
    configurations: &[PlannedConfiguration],
) -> Result<(), Error> {
    let Some(pattern) = &experiment.file.factorial else {
        return Ok(());
    };
    let switches = declared_grid(experiment, pattern)?;
    if let Some(hole) = missing_combination(&switches, configurations) {
        let why = format!("no configuration has {hole}");
        let error = experiment.error("factorial", why);
        return Err(error.mend("name only levels of which every combination is run"));
    }
    Ok(())
}

/// Marks the configurations of the grid and returns the names of its switches;
/// none if there is no complete grid of two or more switches. A switch is named
/// after its factor, but after its "on" setting if the file declares the grid.
pub(crate) fn mark(
    experiment: &Experiment,
    factors: &IndexMap<String, Vec<String>>,
    configurations: &mut [PlannedConfiguration],
) -> Result<Vec<String>, Error> {
    let switches = match &experiment.file.factorial {
        Some(pattern) => declared_grid(experiment, pattern)?,
        None => match all_of_two(factors) {
            Some(switches) => switches,
            None => return Ok(Vec::new()),
        },
    };
    if missing_combination(&switches, configurations).is_some() {
        return Ok(Vec::new());
    }
    let called = switch_names(experiment, &switches);
    for configuration in configurations {
        configuration.switches = positions(&switches, configuration)
            .map(|on| called.iter().cloned().zip(on).collect())
            .unwrap_or_default();
    }
    Ok(called)
}

/// All factors as switches, if there are several and each has two levels.
fn all_of_two(factors: &IndexMap<String, Vec<String>>) -> Option<FactorSwitches> {
    if factors.len() < 2 {
        return None;
    }
    let pair = |(factor, levels): (&String, &Vec<String>)| match &levels[..] {
        [off, on] => Some((factor.clone(), (off.clone(), on.clone()))),
        _ => None,
    };
    factors.iter().map(pair).collect()
}

/// The grid that the file declares. Factors it does not name are held at their
/// baseline.
fn declared_grid(experiment: &Experiment, pattern: &Pattern) -> Result<FactorSwitches, Error> {
    let factors = &experiment.file.factors;
    let mut switches = FactorSwitches::new();
    for (factor, levels) in factors {
        if let Some((baseline, _)) = levels.get_index(0) {
            switches.insert(factor.clone(), (baseline.clone(), baseline.clone()));
        }
    }
    for (factor, wanted) in pattern {
        let path = join("factorial", factor);
        let Some(levels) = factors.get(factor) else {
            let error = experiment.error(&path, format!("no factor '{factor}'"));
            return Err(error.nearest(factor, factors.keys().map(String::as_str)));
        };
        for level in wanted {
            if !levels.contains_key(level) {
                let error = experiment.error(&path, format!("no level '{level}' of {factor}"));
                return Err(error.nearest(level, levels.keys().map(String::as_str)));
            }
        }
        let pair = match &wanted[..] {
            [held] => (held.clone(), held.clone()),
            [off, on] if off != on => (off.clone(), on.clone()),
            _ => {
                let why =
                    "must be one level, to hold the factor, or two different levels, off and on";
                return Err(experiment.error(&path, why));
            }
        };
        switches.insert(factor.clone(), pair);
    }
    if switches.values().filter(|(off, on)| off != on).count() < 2 {
        let error = experiment.error("factorial", "switches fewer than two factors");
        return Err(error.mend("write FACTOR = [\"OFF\", \"ON\"] for two or more"));
    }
    Ok(switches)
}

/// Whether each switch is on; `None` if the configuration is not in the grid.
fn positions(switches: &FactorSwitches, configuration: &PlannedConfiguration) -> Option<Vec<bool>> {
    if configuration.aa {
        return None;
    }
    let mut positions = Vec::new();
    for (factor, (off, on)) in switches {
        let level = configuration.levels.get(factor)?;
        if level != off && level != on {
            return None;
        }
        if off != on {
            positions.push(level == on);
        }
    }
    Some(positions)
}

/// A combination of the grid that no configuration has.
fn missing_combination(
    switches: &FactorSwitches,
    configurations: &[PlannedConfiguration],
) -> Option<String> {
    let switched: Vec<_> = switches.iter().filter(|(_, (off, on))| off != on).collect();
    let present: Vec<Vec<bool>> = configurations
        .iter()
        .filter_map(|configuration| positions(switches, configuration))
        .collect();
    // A grid of so many switches has more cells than the plan has configurations.
    let Some(cells) = 1_usize.checked_shl(u32::try_from(switched.len()).ok()?) else {
        return Some("all levels".into());
    };
    let missing = (0..cells.min(present.len() + 1)).find_map(|cell| {
        let wanted: Vec<bool> = (0..switched.len()).map(|at| cell >> at & 1 == 1).collect();
        (!present.contains(&wanted)).then_some(wanted)
    })?;
    let words: Vec<String> = switched
        .iter()
        .zip(missing)
        .map(|((factor, (off, on)), is_on)| format!("{factor}={}", if is_on { on } else { off }))
        .collect();
    Some(words.join(", "))
}

fn switch_names(experiment: &Experiment, switches: &FactorSwitches) -> Vec<String> {
    let factors = &experiment.file.factors;
    let parts = names::parts(factors);
    let name = |(factor, (off, on)): (&String, &(String, String))| {
        if off == on {
            return None;
        }
        if experiment.file.factorial.is_none() {
            return Some(factor.clone());
        }
        let (at, _, levels) = factors.get_full(factor)?;
        let part = parts.get(at)?.get(levels.get_index_of(on)?)?;
        Some(if part.is_empty() {
            factor.clone()
        } else {
            part.clone()
        })
    };
    switches.iter().filter_map(name).collect()
}
