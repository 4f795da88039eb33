//! The output of the plugin: how often each instruction was executed, by CPU, task and
//! translation block.

use std::collections::BTreeMap;

use crate::Error;
use crate::calls::Trees;
use crate::misses::CacheModelOutput;
use crate::symbols::KERNEL;

/// The first line of the text.
pub const SCHEMA: &str = "assize.counts/2";

/// A task on one CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The CPU.
    pub cpu: u32,
    /// Its PID; -1 for code executed before the first observed context switch.
    pub pid: i64,
    /// Its TGID.
    pub tgid: i64,
    /// Its `comm`, as last seen in the kernel.
    pub name: String,
}

/// An instruction of a translation block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    /// The block.
    pub block: u32,
    /// Its index within the block.
    pub at: usize,
    /// Its address.
    pub address: u64,
}

/// The entries of a probed function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProbeEntries {
    /// The number of entries.
    pub times: u64,
    /// The number of entries by the number of significant bits of the argument.
    pub sizes: BTreeMap<u32, u64>,
}

/// Consistency checks of the counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CountChecks {
    /// Whether both the start and the end of the window were seen.
    pub closed: bool,
    /// The number of CPUs of the machine.
    pub cpus: u32,
    /// How often the clock was read.
    pub readings: u64,
    /// How often the clock had not advanced by the number of counted instructions.
    pub mismatches: u64,
    /// How many blocks were left before their end.
    pub early: u64,
    /// For how many of these the exit point is unknown.
    pub unclear: u64,
    /// Nanoseconds by which the clock advanced beyond the instruction count: skipped idle
    /// time and, on several CPUs, declared costs.
    pub skipped: u64,
    /// How often a call tree could not be followed.
    pub lost: u64,
}

/// The counts of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunCounts {
    tasks: Vec<Task>,
    /// For each block, the addresses of its instructions.
    blocks: BTreeMap<u32, Vec<u64>>,
    /// For each block outside the kernel, its code bytes.
    codes: BTreeMap<u32, Vec<u8>>,
    /// For each task and block, how often it was executed as a whole, and how often only
    /// its first n instructions were.
    cells: BTreeMap<(usize, u32), BlockExecutions>,
    /// The call trees, if they were requested.
    pub(crate) trees: Trees,
    /// The results of the cache model, if one was requested.
    pub(crate) missed: CacheModelOutput,
    /// The entries of the probed functions, in the order of the probes.
    pub entries: Vec<ProbeEntries>,
    /// Consistency checks of the counts.
    pub checks: CountChecks,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct BlockExecutions {
    whole: i128,
    parts: Vec<(usize, u64)>,
}

impl RunCounts {
    /// Parses the output of the plugin.
    ///
    /// # Errors
    /// If a line cannot be parsed or the text is cut off.
    pub fn parse(text: &str) -> Result<RunCounts, Error> {
        let mut counts = RunCounts::default();
        let mut ended = false;
        for (at, line) in text.lines().enumerate() {
            let understood = match at {
                0 => (line == SCHEMA).then_some(()),
                _ if ended => None,
                _ => counts.take(line),
            };
            ended = line == "end";
            understood.ok_or_else(|| Error::Line {
                text: "counts",
                line: at + 1,
                why: format!("not understood: {line:.60}"),
            })?;
        }
        if ended {
            return Ok(counts);
        }
        Err(Error::Line {
            text: "counts",
            line: text.lines().count() + 1,
            why: "the text is cut off".into(),
        })
    }

    fn take(&mut self, line: &str) -> Option<()> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "block" => self.take_block(rest),
            "task" => self.take_task(rest),
            "whole" => {
                let [task, block, times] = numbers(rest)?;
                self.cell(task, block)?.whole += i128::from(times);
                Some(())
            }
            "part" => {
                let [task, block, executed, times] = numbers(rest)?;
                let executed = usize::try_from(executed).ok()?;
                self.cell(task, block)?.parts.push((executed, times));
                Some(())
            }
            "root" => self.trees.take_root(rest, self.tasks.len()),
            "node" => self.trees.take_node(rest),
            "missed" => self.missed.take_cell(rest, self.tasks.len()),
            "cache" => self.missed.take_sums(rest),
            "entries" => {
                let [probe, times] = numbers(rest)?;
                (probe == self.entries.len() as u64).then_some(())?;
                let sizes = BTreeMap::new();
                self.entries.push(ProbeEntries { times, sizes });
                Some(())
            }
            "bucket" => {
                let [probe, bits, times] = numbers(rest)?;
                let entries = self.entries.get_mut(usize::try_from(probe).ok()?)?;
                entries.sizes.insert(u32::try_from(bits).ok()?, times);
                Some(())
            }
            "window" => self.take_window(rest),
            "end" => Some(()),
            _ => None,
        }
    }

    fn take_block(&mut self, rest: &str) -> Option<()> {
        let mut words = rest.split(' ');
        let number = words.next()?.parse().ok()?;
        let from = u64::from_str_radix(words.next()?, 16).ok()?;
        let offsets = words.next()?.split(',');
        let addresses: Option<Vec<u64>> = offsets
            .map(|offset| from.checked_add(u64::from_str_radix(offset, 16).ok()?))
            .collect();
        let addresses = addresses?;
        // Bytes are given only for user code, where an address does not identify the
        // code.
        let user = addresses.iter().all(|address| *address < KERNEL);
        if user {
            self.codes.insert(number, bytes(words.next()?)?);
        }
        let new = self.blocks.insert(number, addresses).is_none();
        (new && words.next().is_none()).then_some(())
    }

    fn take_task(&mut self, rest: &str) -> Option<()> {
        let mut words = rest.splitn(5, ' ');
        let number: usize = words.next()?.parse().ok()?;
        (number == self.tasks.len()).then_some(())?;
        self.tasks.push(Task {
            cpu: words.next()?.parse().ok()?,
            pid: words.next()?.parse().ok()?,
            tgid: words.next()?.parse().ok()?,
            name: words.next()?.to_owned(),
        });
        Some(())
    }

    fn take_window(&mut self, rest: &str) -> Option<()> {
        let words: Vec<&str> = rest.split(' ').collect();
        let [state, pairs @ ..] = &words[..] else {
            return None;
        };
        let mut given: BTreeMap<&str, u64> = BTreeMap::new();
        for pair in pairs.chunks(2) {
            let [name, value] = pair else { return None };
            given.insert(name, value.parse().ok()?);
        }
        let mut of = |name| given.remove(name);
        self.checks = CountChecks {
            closed: *state == "closed",
            cpus: u32::try_from(of("cpus")?).ok()?,
            readings: of("readings")?,
            mismatches: of("mismatches")?,
            early: of("early")?,
            unclear: of("unclear")?,
            skipped: of("skipped")?,
            lost: of("lost")?,
        };
        given.is_empty().then_some(())
    }

    fn cell(&mut self, task: u64, block: u64) -> Option<&mut BlockExecutions> {
        let task = usize::try_from(task).ok()?;
        let block = u32::try_from(block).ok()?;
        (task < self.tasks.len() && self.blocks.contains_key(&block)).then_some(())?;
        Some(self.cells.entry((task, block)).or_default())
    }

    /// The task with this index.
    pub(crate) fn task(&self, at: usize) -> Option<&Task> {
        self.tasks.get(at)
    }

    /// The blocks outside the kernel: number, code bytes, instruction addresses.
    pub(crate) fn user_blocks(&self) -> impl Iterator<Item = (u32, &[u8], &[u64])> {
        let addresses = |block| self.blocks.get(block).map(Vec::as_slice);
        self.codes
            .iter()
            .filter_map(move |(block, code)| Some((*block, code.as_slice(), addresses(block)?)))
    }

    /// The instruction addresses of a block.
    pub(crate) fn addresses(&self, block: u32) -> Option<&[u64]> {
        self.blocks.get(&block).map(Vec::as_slice)
    }

    /// The executed blocks of each task, as pairs of indexes.
    pub(crate) fn executed(&self) -> impl Iterator<Item = (usize, u32)> {
        self.cells.keys().copied()
    }

    /// Calls `tell` with the execution count of each instruction for each task.
    pub fn each(&self, mut tell: impl FnMut(&Task, Instruction, u64)) {
        for ((task, block), cell) in &self.cells {
            let (Some(task), Some(addresses)) = (self.tasks.get(*task), self.blocks.get(block))
            else {
                continue;
            };
            for (at, address) in addresses.iter().enumerate() {
                let parts = cell.parts.iter().filter(|(executed, _)| *executed > at);
                let times = cell.whole + parts.map(|(_, times)| i128::from(*times)).sum::<i128>();
                // A block that was entered before the window and left inside it is not
                // counted, so this is never negative.
                if let Ok(times) = u64::try_from(times)
                    && times > 0
                {
                    let (block, address) = (*block, *address);
                    tell(task, Instruction { block, at, address }, times);
                }
            }
        }
    }
}

/// Decodes bytes written as two hexadecimal digits each.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let pairs = digits.chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair)
            .ok()
            .filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    });
    pairs.collect()
}

/// Parses exactly `N` numbers.
pub(crate) fn numbers<const N: usize>(text: &str) -> Option<[u64; N]> {
    let mut words = text.split(' ');
    let mut all = [0; N];
    for number in &mut all {
        *number = words.next()?.parse().ok()?;
    }
    words.next().is_none().then_some(all)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
pub(crate) mod tests {
    use super::*;

    pub(crate) const TEXT: &str = "assize.counts/2\n\
        block 3 ffffffff81000000 0,2,5\nblock 4 401000 0 90\n\
        task 0 0 -1 0 \ntask 1 0 17 17 a b\n\
        whole 1 3 10\nwhole 1 4 7\npart 1 3 2 4\n\
        root 1\nnode 0 ffffffff81000000 14 1\nnode 1 ffffffff81000005 10 3\n\
        node 0 ffffffff81000000 14 1\nnode 0 0 7 2\n\
        entries 0 12\nbucket 0 5 12\n\
        window closed cpus 1 readings 9 mismatches 0 early 4 unclear 0 skipped 50 lost 0\nend\n";

    #[test]
    fn a_block_that_was_left_counts_only_what_was_executed() {
        let counts = RunCounts::parse(TEXT).unwrap();
        let mut all = Vec::new();
        counts.each(|task, instruction, times| {
            assert_eq!((task.pid, task.name.as_str()), (17, "a b"));
            all.push((instruction.address, times));
        });
        let kernel = 0xffff_ffff_8100_0000;
        let want = [
            (kernel, 14),
            (kernel + 2, 14),
            (kernel + 5, 10),
            (0x40_1000, 7),
        ];
        assert_eq!(all, want);
        assert_eq!(counts.entries[0].times, 12);
        assert!(counts.checks.closed && counts.checks.skipped == 50);
    }

    #[test]
    fn a_text_that_is_cut_off_or_changed_is_refused_with_its_line() {
        let lines: Vec<&str> = TEXT.lines().collect();
        for length in 0..lines.len() {
            let error = RunCounts::parse(&lines[..length].join("\n")).unwrap_err();
            assert!(error.to_string().starts_with("counts, line "), "{error}");
        }
        for (from, to) in [
            ("whole 1 3 10", "whole 9 3 10"),
            ("whole 1 3 10", "whole 1 9 10"),
            ("whole 1 3 10", "whole 1 3 -1"),
            ("part 1 3 2 4", "part 1 3 2"),
            ("task 1 0 17", "task 2 0 17"),
            ("unclear 0", "unclear x"),
            ("root 1", "root 2"),
            ("root 1\n", ""),
            ("node 1 ", "node 5 "),
            ("node 0 0 7 2", "node 0 0 7"),
            ("unclear 0", "other 0"),
            ("block 4", "block 3"),
            ("entries 0", "entries 1"),
            ("assize.counts/2", "assize.counts/1"),
            ("401000 0 90", "401000 0"),
            ("401000 0 90", "401000 0 9"),
            ("401000 0 90", "401000 0 9x"),
            ("401000 0 90", "401000 0 90 90"),
            ("0,2,5", "0,2,5 90"),
            ("end", "end\nend"),
        ] {
            assert!(RunCounts::parse(&TEXT.replace(from, to)).is_err(), "{to}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*", at in 0usize..400) {
            let _ = RunCounts::parse(&text);
            let mut spoiled = TEXT.to_owned();
            spoiled.insert_str(at.min(TEXT.len()), &text);
            if let Ok(counts) = RunCounts::parse(&spoiled) {
                counts.each(|_, _, _| ());
            }
        }
    }
}
