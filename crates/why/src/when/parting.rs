//! Where two executions of one machine part, by CPU.

use serde::{Deserialize, Serialize};

use crate::Symbols;
use crate::symbols::KERNEL;

/// How many steps before and after the parting are shown.
const SHOWN: usize = 6;

/// The instructions that a CPU executed, each with its time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExecutedPath {
    /// Times, in ns of CLOCK_MONOTONIC, and addresses.
    pub instructions: Vec<(u64, u64)>,
}

/// Something that a CPU did.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct PathStep {
    /// When, in ns of CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// What: a function that it entered, or an event.
    pub what: String,
}

/// A CPU that does something else in two executions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct PartedCpu {
    /// The CPU.
    pub cpu: u32,
    /// When this run does what the other does not, in ns of CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// The function in which both last did the same; empty for events.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub within: String,
    /// The last steps that both have, with the times of this run.
    pub common: Vec<PathStep>,
    /// What this run did next.
    pub bad: Vec<PathStep>,
    /// What the draw that ended otherwise did next.
    pub good: Vec<PathStep>,
}

/// How a CPU's paths through the kernel's functions part; `None` if one only goes on for longer.
///
/// Programs that wait for a time execute more or fewer instructions, which says nothing. Nor do
/// instructions: one that gives up its turn, such as RDTSC, is logged twice.
#[must_use]
pub fn part(
    cpu: u32,
    bad: &ExecutedPath,
    good: &ExecutedPath,
    symbols: &Symbols,
) -> Option<PartedCpu> {
    let [bad, good] = [bad, good].map(|path| entered(path, symbols));
    let both = bad.iter().zip(&good);
    let same = both
        .take_while(|(one, other)| one.what == other.what)
        .count();
    let (before, rest) = bad.split_at_checked(same)?;
    let (next, _) = (rest.first()?, good.get(same)?);
    let shown =
        |steps: &[PathStep]| -> Vec<PathStep> { steps.iter().take(SHOWN).cloned().collect() };
    Some(PartedCpu {
        cpu,
        time_ns: next.time_ns,
        within: before
            .last()
            .map_or_else(String::new, |step| step.what.clone()),
        common: shown(before.get(same.saturating_sub(SHOWN)..)?),
        bad: shown(rest),
        good: shown(good.get(same..)?),
    })
}

/// The functions of the kernel that a path enters, by a call or by going on in another one.
fn entered(path: &ExecutedPath, symbols: &Symbols) -> Vec<PathStep> {
    let mut steps: Vec<PathStep> = Vec::new();
    let kernel = path.instructions.iter();
    for (time, address) in kernel.filter(|(_, address)| *address >= KERNEL) {
        let name = named(*address, symbols);
        if steps.last().is_none_or(|last| last.what != name) {
            steps.push(PathStep {
                time_ns: *time,
                what: name,
            });
        }
    }
    steps
}

fn named(address: u64, symbols: &Symbols) -> String {
    let function = symbols.at(address).and_then(|at| symbols.function(at));
    function.map_or_else(|| "kernel code".into(), |one| one.full_name())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "ffffffff81000000 T _text\nffffffff81000100 T first\n\
        ffffffff81000200 T second\nffffffff81000300 T third\nffffffff81001000 T _etext\n";

    fn path(addresses: &[u64]) -> ExecutedPath {
        let at = |(time, low): (u64, &u64)| (100 + time, 0xffff_ffff_8100_0000 + low);
        ExecutedPath {
            instructions: (0..).zip(addresses).map(at).collect(),
        }
    }

    #[test]
    fn paths_part_in_the_last_function_that_both_have() -> Result<(), crate::Error> {
        let symbols = Symbols::parse(TEXT)?;
        let bad = path(&[0x100, 0x104, 0x200, 0x204, 0x300]);
        let good = path(&[0x100, 0x104, 0x104, 0x200, 0x20a, 0x108]);
        let parted = part(1, &bad, &good, &symbols);
        let names = |steps: &[PathStep]| -> Vec<String> {
            let shown = |step: &PathStep| format!("{} {}", step.time_ns, step.what);
            steps.iter().map(shown).collect()
        };
        let Some(parted) = parted else {
            panic!("they part");
        };
        assert_eq!((parted.cpu, parted.time_ns), (1, 104));
        assert_eq!(parted.within, "second");
        assert_eq!(names(&parted.common), ["100 first", "102 second"]);
        assert_eq!(names(&parted.bad), ["104 third"]);
        assert_eq!(names(&parted.good), ["105 first"]);
        // One that only ends earlier does not part.
        assert_eq!(part(1, &bad, &path(&[0x100, 0x104]), &symbols), None);
        assert_eq!(part(1, &bad, &bad, &symbols), None);
        // What programs execute in between does not count.
        let mut longer = bad.clone();
        longer.instructions.insert(2, (102, 0x7f00_0000));
        assert_eq!(part(1, &bad, &longer, &symbols), None);
        Ok(())
    }
}
