//! The results of a cache model for one run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::counts::{Task, numbers};
use crate::profile::{ProfilePlace, counts_by_place};
use crate::programs::InstructionNames;
use crate::{Error, RunCounts, Subsystems, Symbols};

/// The events that the model counts for an access, in the order of the plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MissKind {
    /// A fetch that misses the L1i of its CPU.
    L1iMisses,
    /// A data access that misses the L1d of its CPU.
    L1dMisses,
    /// An access that also misses the L2.
    L2Misses,
    /// An access that misses all caches.
    LastLevelMisses,
    /// An access to a line that another CPU has modified.
    Transfers,
}

/// All kinds, in the order of the plugin.
pub const KINDS: [MissKind; 5] = [
    MissKind::L1iMisses,
    MissKind::L1dMisses,
    MissKind::L2Misses,
    MissKind::LastLevelMisses,
    MissKind::Transfers,
];

/// The number of accesses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Accesses {
    /// Fetches of instruction lines.
    pub fetches: u64,
    /// Data reads.
    pub reads: u64,
    /// Data writes.
    pub writes: u64,
}

/// The output of the plugin about the cache model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CacheModelOutput {
    /// Task index, instruction address, and the count of each kind.
    cells: Vec<(usize, u64, [u64; KINDS.len()])>,
    /// All accesses, and the number of those without a known physical address.
    accesses: Option<(Accesses, u64)>,
}

impl CacheModelOutput {
    pub(crate) fn take_cell(&mut self, rest: &str, tasks: usize) -> Option<()> {
        let (task, rest) = rest.split_once(' ')?;
        let (address, times) = rest.split_once(' ')?;
        let task = task.parse().ok().filter(|task| *task < tasks)?;
        let address = u64::from_str_radix(address, 16).ok()?;
        self.cells.push((task, address, numbers(times)?));
        Some(())
    }

    /// Reads the last line, which has the sums of all others.
    pub(crate) fn take_sums(&mut self, rest: &str) -> Option<()> {
        let [fetches, reads, writes, unplaced, sums @ ..] = numbers::<9>(rest)?;
        for (at, sum) in sums.iter().enumerate() {
            let each = self.cells.iter().filter_map(|(_, _, times)| times.get(at));
            let all = each.map(|times| u128::from(*times)).sum::<u128>();
            (all == u128::from(*sum)).then_some(())?;
        }
        let accesses = Accesses {
            fetches,
            reads,
            writes,
        };
        let once = self.accesses.replace((accesses, unplaced)).is_none();
        once.then_some(())
    }
}

/// The misses of one run in a cache model, by thread and function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Misses {
    /// For each kind, the counts by place.
    pub places: BTreeMap<MissKind, BTreeMap<ProfilePlace, u64>>,
    /// The number of accesses.
    pub accesses: Accesses,
}

impl Misses {
    /// Resolves the addresses of the misses to names.
    ///
    /// # Errors
    /// If there was no model, or it lacked the physical address of some accesses.
    pub fn from_counts(
        counts: &RunCounts,
        symbols: &Symbols,
        programs: &InstructionNames,
        subsystems: &Subsystems,
    ) -> Result<Misses, Error> {
        let missed = &counts.missed;
        let (accesses, unplaced) = missed.accesses.ok_or(Error::Caches(None))?;
        if unplaced > 0 {
            return Err(Error::Caches(Some(unplaced)));
        }
        let each = |(at, kind): (usize, &MissKind)| {
            let places = counts_by_place(symbols, subsystems, |visit| {
                for (number, address, times) in &missed.cells {
                    let task: Option<&Task> = counts.task(*number);
                    let times = times.get(at).copied().filter(|times| *times > 0);
                    if let (Some(task), Some(times)) = (task, times) {
                        let user = programs.of_task(*number, *address);
                        visit(task, (*address, user), times);
                    }
                }
            });
            (*kind, places)
        };
        Ok(Misses {
            places: KINDS.iter().enumerate().map(each).collect(),
            accesses,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;
    use crate::counts::tests::TEXT;
    use crate::profile::USER;

    const CELLS: &str = "missed 1 ffffffff81000001 3 2 1 0 0\nmissed 1 ffffffff81000003 0 4 0 0 5\n\
                         missed 1 401000 0 1 1 1 0\ncache 10 20 30 0 3 7 2 1 5\n";

    fn read(cells: &str) -> Result<Misses, Error> {
        let text = TEXT.replace("entries 0", &format!("{cells}entries 0"));
        let symbols = Symbols::parse("ffffffff81000000 t schedule\n").unwrap();
        let placed = InstructionNames::default();
        Misses::from_counts(
            &RunCounts::parse(&text)?,
            &symbols,
            &placed,
            &Subsystems::shipped(),
        )
    }

    #[test]
    fn what_was_missed_is_of_the_function_and_thread_that_missed_it() {
        let misses = read(CELLS).unwrap();
        let rows = |kind: MissKind| -> Vec<(&str, u64)> {
            let places = misses.places[&kind].iter();
            let row = |(place, times): (&'_ ProfilePlace, &u64)| -> (String, u64) {
                assert_eq!(place.thread, "a b");
                (place.function.clone(), *times)
            };
            let rows: Vec<(String, u64)> = places.map(row).collect();
            rows.into_iter()
                .map(|(name, times)| (if name == USER { USER } else { "schedule" }, times))
                .collect()
        };
        assert_eq!(rows(MissKind::L1iMisses), [("schedule", 3)]);
        assert_eq!(rows(MissKind::L1dMisses), [("schedule", 6), (USER, 1)]);
        assert_eq!(rows(MissKind::L2Misses), [("schedule", 1), (USER, 1)]);
        assert_eq!(rows(MissKind::LastLevelMisses), [(USER, 1)]);
        assert_eq!(rows(MissKind::Transfers), [("schedule", 5)]);
        let all = misses.accesses;
        assert_eq!((all.fetches, all.reads, all.writes), (10, 20, 30));
    }

    #[test]
    fn sums_that_are_none_and_accesses_without_a_place_are_refused() {
        for (from, to) in [
            ("0 3 7 2 1 5", "0 3 7 2 1 6"),
            ("0 3 7 2 1 5", "0 3 7 2 1"),
            ("missed 1 401000", "missed 2 401000"),
            ("missed 1 401000", "missed 1 x"),
            ("missed 1 401000 0 1 1 1 0\n", ""),
            ("cache 10", "cache 10 20 30 0 3 7 2 1 5\ncache 10"),
        ] {
            let error = read(&CELLS.replace(from, to)).unwrap_err();
            assert!(matches!(error, Error::Line { .. }), "{to}: {error}");
        }
        assert_eq!(read(""), Err(Error::Caches(None)));
        let error = read(&CELLS.replace("30 0 ", "30 6 ")).unwrap_err();
        assert_eq!(error, Error::Caches(Some(6)));
        assert!(error.to_string().contains('6'), "{error}");
    }
}
