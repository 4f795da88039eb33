//! From the first sight of a failure to the shortest schedule that shows it.

use assize_job::Interleaving;
use assize_plan::PlannedRun;
use assize_report::{FoundDelay, FoundSchedule};
use assize_why::Symbols;

use super::cells::{Hunted, HuntedRun, of_delays};
use super::oracle::RunVerdict;
use super::shrink::shrink;
use super::tally::FailureKind;
use crate::failure::Failure;
use crate::run::interrupt::Interrupt;

/// How many runs are spent on making a schedule shorter.
const MOST: u32 = 80;

/// The shortest schedule of a kind of failure, and the run with it.
pub(super) struct Shortest {
    pub(super) cell: PlannedRun,
    pub(super) turns: Interleaving,
    pub(super) run: HuntedRun,
    pub(super) schedule: FoundSchedule,
}

/// Looks for the shortest schedule with which a kind of failure occurs.
pub(super) fn shortest(
    hunted: &Hunted,
    kind: &FailureKind,
    interrupt: &Interrupt,
) -> Result<Shortest, Failure> {
    let (cell, seed) = (kind.best.cell, u64::from(kind.best.number));
    let is_it = |run: &HuntedRun| match &run.verdict {
        RunVerdict::Failed(noticed) => noticed.signature == kind.noticed.signature,
        RunVerdict::Passed | RunVerdict::Other(_) => false,
    };
    let all = kind.best.turns.delays.clone();
    let found = all.len() as u32;
    let left = shrink(all, MOST, |delays| {
        // What an interrupt has killed has not failed in this way either.
        Ok::<bool, Failure>(
            !interrupt.came() && is_it(&hunted.repeat(&cell, seed, &of_delays(delays.to_vec()))?),
        )
    })?;
    let turns = of_delays(left);
    let run = hunted.repeat(&cell, seed, &turns)?;
    let again = hunted.repeat(&cell, seed, &turns)?;
    let repeats = is_it(&run) && run.record == again.record;
    let symbols = match turns.delays.is_empty() {
        true => None,
        // Without symbols the places stay unknown; the schedule is what matters.
        false => hunted.symbols(&cell, seed).ok(),
    };
    let places = turns
        .delays
        .iter()
        .enumerate()
        .map(|(at, delay)| FoundDelay {
            cpu: delay.cpu,
            at_ns: delay.at_ns,
            length_ns: delay.length_ns,
            place: place(symbols.as_ref(), run.next.get(at).copied().flatten()),
        });
    let schedule = FoundSchedule {
        seed,
        delays: places.collect(),
        delays_found: found,
        repeats,
    };
    Ok(Shortest {
        cell,
        turns,
        run,
        schedule,
    })
}

/// `race_use+0x5e [race]`, or whose instruction it is.
fn place(symbols: Option<&Symbols>, address: Option<u64>) -> Option<String> {
    let (symbols, address) = (symbols?, address?);
    let of_program = || (address < 1 << 47).then(|| "an instruction of a program".into());
    symbols.place(address).or_else(of_program)
}
