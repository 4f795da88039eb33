//! Finds where two executions of one machine diverge, by CPU.

use serde::{Deserialize, Serialize};

use crate::Symbols;
use crate::symbols::KERNEL;

/// Maximum number of steps shown before, and after, the divergence.
const SHOWN: usize = 6;

/// The instructions that a CPU executed, each with its time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExecutedPath {
    /// Times, in ns of CLOCK_MONOTONIC, and addresses.
    pub instructions: Vec<(u64, u64)>,
}

/// A step of a CPU.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct PathStep {
    /// The time, in ns of CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// The function that the CPU entered, or the kernel event.
    pub what: String,
}

/// A CPU whose steps differ between two executions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct PartedCpu {
    /// The CPU.
    pub cpu: u32,
    /// The time of the first step that differs, in this run, in ns of CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// The last function that the CPU entered in both executions; empty for events.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub within: String,
    /// The last steps that both executions have in common, with the times of this run.
    pub common: Vec<PathStep>,
    /// The next steps of this run.
    pub bad: Vec<PathStep>,
    /// The next steps of the draw that ended otherwise.
    pub good: Vec<PathStep>,
}

/// Finds the first difference between the kernel functions that a CPU entered in two executions;
/// `None` if one path is only longer than the other.
///
/// Instructions of programs are ignored, since programs that wait for a time execute more or fewer
/// of them. Single instructions are not compared, since those that end a turn, such as RDTSC, are
/// logged twice.
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

/// The kernel functions that a path enters, by a call, a jump or a return.
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
        // A path that only ends earlier does not differ.
        assert_eq!(part(1, &bad, &path(&[0x100, 0x104]), &symbols), None);
        assert_eq!(part(1, &bad, &bad, &symbols), None);
        // Instructions of programs in between are ignored.
        let mut longer = bad.clone();
        longer.instructions.insert(2, (102, 0x7f00_0000));
        assert_eq!(part(1, &bad, &longer, &symbols), None);
        Ok(())
    }
}
