//! The instruction counts of one run, by thread and function.

use std::collections::BTreeMap;

use crate::counts::{CountChecks, Task};
use crate::programs::InstructionNames;
use crate::symbols::KERNEL;
use crate::threads::merged_name;
use crate::{RunCounts, Subsystems, Symbols};

/// The subsystem of instructions outside the kernel.
pub const USER: &str = "user space";
/// The name of kernel code without a symbol.
pub const UNKNOWN: &str = "(no symbol)";

/// The thread and function that a count is for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProfilePlace {
    /// The merged name of the thread.
    pub thread: String,
    /// The function, with its module: `drm_sched_main [gpu_sched]`.
    pub function: String,
    /// The subsystem of the function.
    pub subsystem: String,
}

/// The counts of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// The instructions by place.
    pub places: BTreeMap<ProfilePlace, u64>,
    /// The total number of instructions.
    pub instructions: u64,
    /// Consistency checks of the counts.
    pub checks: CountChecks,
}

/// A visitor of counts: task, address with its user-space name (ignored for kernel
/// addresses), and count.
pub(crate) type Visit<'a, 'names> = dyn FnMut(&Task, (u64, &'names str), u64) + 'a;

/// Resolves the addresses that `each` visits to names and sums the counts by place.
pub(crate) fn counts_by_place<'a>(
    symbols: &Symbols,
    subsystems: &Subsystems,
    each: impl FnOnce(&mut Visit<'_, 'a>),
) -> BTreeMap<ProfilePlace, u64> {
    let belongs = subsystems.of_all(symbols);
    let mut found: BTreeMap<(String, Option<usize>, Option<&'a str>), u64> = BTreeMap::new();
    let mut names: BTreeMap<(i64, String), String> = BTreeMap::new();
    each(&mut |task, (address, user), times| {
        let thread = names
            .entry((task.pid, task.name.clone()))
            .or_insert_with(|| merged_name(&task.name, task.pid))
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
            Some((function, subsystem)) => ProfilePlace {
                thread,
                function: function.full_name(),
                subsystem: (*subsystem).to_owned(),
            },
            None => ProfilePlace {
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
    /// Resolves the counts of a run to names.
    #[must_use]
    pub fn from_counts(
        counts: &RunCounts,
        symbols: &Symbols,
        programs: &InstructionNames,
        subsystems: &Subsystems,
    ) -> Profile {
        let places = counts_by_place(symbols, subsystems, |visit| {
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

    /// Returns folded stacks for a flame graph, one per line: thread, subsystem,
    /// function, and instructions.
    #[must_use]
    pub fn folded(&self) -> String {
        let plain = |text: &str| text.replace([';', '\n', '\r'], "_");
        let line = |(place, times): (&ProfilePlace, &u64)| {
            let ProfilePlace {
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
        let counts = RunCounts::parse(TEXT).unwrap();
        let kernel = "ffffffff81000000 t schedule\nffffffff81000005 t mystery_of_nobody\n";
        let symbols = Symbols::parse(kernel).unwrap();
        let profile = Profile::from_counts(
            &counts,
            &symbols,
            &InstructionNames::default(),
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
