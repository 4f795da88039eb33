//! The counts of one run, by thread and function.

use std::collections::BTreeMap;

use crate::counts::{Checks, Task};
use crate::programs::Placed;
use crate::symbols::{Function, KERNEL};
use crate::threads::merged;
use crate::{Counts, Subsystems, Symbols};

/// What instructions outside the kernel are added up under.
pub const USER: &str = "user space";
/// What those of the kernel are for which there is no symbol.
pub const UNKNOWN: &str = "(no symbol)";

/// What a count is of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The thread, by its merged name.
    pub thread: String,
    /// The function, with its module: `drm_sched_main [gpu_sched]`.
    pub function: String,
    /// What the function belongs to.
    pub subsystem: String,
}

/// One run, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// Instructions of each place.
    pub places: BTreeMap<Place, u64>,
    /// All of them together.
    pub instructions: u64,
    /// How far they can be trusted.
    pub checks: Checks,
}

/// A function with its module: `drm_sched_main [gpu_sched]`.
pub(crate) fn full_name(function: &Function) -> String {
    match &function.module {
        Some(module) => format!("{} [{module}]", function.name),
        None => function.name.clone(),
    }
}

/// Tells a visitor tasks, addresses with what they are called if they are
/// outside the kernel, and numbers.
pub(crate) type Visit<'a, 'names> = dyn FnMut(&Task, (u64, &'names str), u64) + 'a;

/// Puts names to what `each` tells of, and adds up under them.
pub(crate) fn placed<'a>(
    symbols: &Symbols,
    subsystems: &Subsystems,
    each: impl FnOnce(&mut Visit<'_, 'a>),
) -> BTreeMap<Place, u64> {
    let belongs = subsystems.of_all(symbols);
    let mut found: BTreeMap<(String, Option<usize>, Option<&'a str>), u64> = BTreeMap::new();
    let mut names: BTreeMap<(i64, String), String> = BTreeMap::new();
    each(&mut |task, (address, user), times| {
        let thread = names
            .entry((task.pid, task.name.clone()))
            .or_insert_with(|| merged(&task.name, task.pid))
            .clone();
        let user = (address < KERNEL).then_some(user);
        let function = if user.is_some() {
            None
        } else {
            symbols.at(address)
        };
        *found.entry((thread, function, user)).or_default() += times;
    });
    let mut places = BTreeMap::new();
    for ((thread, function, user), times) in found {
        let known = function.and_then(|at| Some((symbols.function(at)?, belongs.get(at)?)));
        let place = match known {
            Some((function, subsystem)) => Place {
                thread,
                function: full_name(function),
                subsystem: (*subsystem).to_owned(),
            },
            None => Place {
                function: user.unwrap_or(UNKNOWN).to_owned(),
                subsystem: user.map_or(crate::subsystems::OTHER, |_| USER).to_owned(),
                thread,
            },
        };
        *places.entry(place).or_default() += times;
    }
    places
}

impl Profile {
    /// Puts names to counts.
    #[must_use]
    pub fn of(
        counts: &Counts,
        symbols: &Symbols,
        programs: &Placed,
        subsystems: &Subsystems,
    ) -> Profile {
        let places = placed(symbols, subsystems, |visit| {
            counts.each(|task, one, times| {
                let user = programs.of_block(one.block, one.at);
                visit(task, (one.address, user), times);
            });
        });
        Profile {
            instructions: places.values().sum(),
            places,
            checks: counts.checks.clone(),
        }
    }

    /// The stacks of a flame graph, one line each: thread, subsystem and
    /// function, and how many instructions.
    #[must_use]
    pub fn folded(&self) -> String {
        let plain = |text: &str| text.replace([';', '\n', '\r'], "_");
        let line = |(place, times): (&Place, &u64)| {
            let Place {
                thread,
                function,
                subsystem,
            } = place;
            let [thread, subsystem, function] = [thread, subsystem, function].map(|t| plain(t));
            format!("{thread};{subsystem};{function} {times}\n")
        };
        self.places.iter().map(line).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;
    use crate::counts::tests::TEXT;

    #[test]
    fn places_add_up_to_all_instructions() {
        let counts = Counts::parse(TEXT).unwrap();
        let kernel = "ffffffff81000000 t schedule\nffffffff81000005 t mystery_of_nobody\n";
        let symbols = Symbols::parse(kernel).unwrap();
        let profile = Profile::of(
            &counts,
            &symbols,
            &Placed::default(),
            &Subsystems::shipped(),
        );
        let rows: Vec<(&str, u64)> = profile
            .places
            .iter()
            .map(|(place, times)| (place.function.as_str(), *times))
            .collect();
        assert_eq!(
            rows,
            [("mystery_of_nobody", 10), ("schedule", 28), (USER, 7)]
        );
        assert_eq!(profile.instructions, 45);
        assert_eq!(profile.places.values().sum::<u64>(), 45);
        let folded = profile.folded();
        assert!(folded.contains("a b;scheduling;schedule 28\n"), "{folded}");
    }
}
