//! Counters read around a gap, from which its cause is inferred.

use std::fs::File;
use std::os::unix::fs::FileExt;

use assize_job::gaps::Cause;

/// MSR in which Intel CPUs count system management interrupts (MSR_SMI_COUNT).
const SMI_COUNT: u64 = 0x34;
/// A tick of /proc/stat, in nanoseconds.
const TICK_NS: u64 = 10_000_000;
/// Minimum length of a gap to attribute to steal time, which is counted in ticks.
pub(super) const STEAL_NS_MIN: u64 = TICK_NS / 2;

/// Counters of one CPU, and of the thread that watches it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct CpuCounts {
    /// Context switches of the thread.
    pub(super) switches: u64,
    /// Interrupts of the CPU.
    pub(super) interrupts: u64,
    /// Softirqs of the CPU.
    pub(super) softirqs: u64,
    /// Steal time in ticks, in which the hypervisor ran something else.
    pub(super) steal: u64,
    /// System management interrupts of the CPU, where they are counted.
    pub(super) smis: u64,
}

impl CpuCounts {
    /// The increase since `before`.
    pub(super) fn since(self, before: CpuCounts) -> CpuCounts {
        CpuCounts {
            switches: self.switches.saturating_sub(before.switches),
            interrupts: self.interrupts.saturating_sub(before.interrupts),
            softirqs: self.softirqs.saturating_sub(before.softirqs),
            steal: self.steal.saturating_sub(before.steal),
            smis: self.smis.saturating_sub(before.smis),
        }
    }

    /// These counters, with `switches` and `smis` of `own`.
    pub(super) fn with_own(self, own: CpuCounts) -> CpuCounts {
        CpuCounts {
            switches: own.switches,
            smis: own.smis,
            ..self
        }
    }

    /// The cause of a gap of this length, given the increase of the counters since they
    /// were last read. `stale`: something else has delayed the loop since the CPU's
    /// counters were read, so that their increase may come from that.
    pub(super) fn cause(self, length_ns: u64, stale: bool) -> Cause {
        let stolen = self.steal > 0
            && length_ns >= STEAL_NS_MIN
            && self.steal.saturating_mul(TICK_NS) >= length_ns / 2;
        let found = if self.smis > 0 {
            Cause::Smi
        } else if self.switches > 0 {
            Cause::Switch
        } else if stolen {
            Cause::Steal
        } else if self.interrupts > 0 {
            Cause::Interrupt
        } else if self.softirqs > 0 {
            Cause::Softirq
        } else {
            Cause::Unexplained
        };
        let of_cpu = matches!(found, Cause::Steal | Cause::Interrupt | Cause::Softirq);
        if stale && of_cpu {
            Cause::Unclear
        } else {
            found
        }
    }
}

/// Reads the counters of one CPU.
#[derive(Debug)]
pub(super) struct CpuCountsReader {
    cpu: u32,
    interrupts: File,
    softirqs: File,
    stat: File,
    msr: Option<File>,
    buffer: Vec<u8>,
}

impl CpuCountsReader {
    /// Opens the counters that are available.
    pub(super) fn open(cpu: u32) -> Result<CpuCountsReader, String> {
        let open = |path: &str| File::open(path).map_err(|why| format!("{path}: {why}"));
        Ok(CpuCountsReader {
            cpu,
            interrupts: open("/proc/interrupts")?,
            softirqs: open("/proc/softirqs")?,
            stat: open("/proc/stat")?,
            msr: smi_register(cpu),
            // Nonzero, so that its pages are present.
            buffer: vec![1; 1 << 20],
        })
    }

    /// Reads all counters except steal time, which takes longest and is set to 0.
    pub(super) fn read(&mut self) -> CpuCounts {
        let cpu = self.cpu;
        let interrupts = sum_for_cpu(read_from_start(&self.interrupts, &mut self.buffer), cpu);
        let softirqs = sum_for_cpu(read_from_start(&self.softirqs, &mut self.buffer), cpu);
        CpuCounts {
            interrupts: interrupts.unwrap_or(0),
            softirqs: softirqs.unwrap_or(0),
            ..self.read_own()
        }
    }

    /// Reads the ticks of steal time.
    pub(super) fn read_steal(&mut self) -> u64 {
        steal_ticks(read_from_start(&self.stat, &mut self.buffer), self.cpu).unwrap_or(0)
    }

    /// Reads only the quick counters, `switches` and `smis`; sets the others to 0.
    pub(super) fn read_own(&self) -> CpuCounts {
        CpuCounts {
            switches: context_switches(),
            smis: self.msr.as_ref().and_then(smi_count).unwrap_or(0),
            ..CpuCounts::default()
        }
    }
}

/// Opens the MSRs of a CPU, if its count of system management interrupts can be read.
pub(super) fn smi_register(cpu: u32) -> Option<File> {
    let file = File::open(format!("/dev/cpu/{cpu}/msr")).ok()?;
    smi_count(&file).map(|_| file)
}

fn smi_count(register: &File) -> Option<u64> {
    let mut bytes = [0; 8];
    register.read_exact_at(&mut bytes, SMI_COUNT).ok()?;
    Some(u64::from_le_bytes(bytes))
}

/// Context switches of the calling thread.
fn context_switches() -> u64 {
    // SAFETY: all zeroes are a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is valid for writes.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    usage.ru_nvcsw.unsigned_abs() + usage.ru_nivcsw.unsigned_abs()
}

/// Reads a file from its beginning, as much as fits the buffer.
fn read_from_start<'b>(file: &File, buffer: &'b mut [u8]) -> &'b [u8] {
    let mut filled = 0;
    while let Ok(got @ 1..) = file.read_at(&mut buffer[filled..], filled as u64) {
        filled += got;
    }
    &buffer[..filled]
}

/// The sum of a CPU's column in `/proc/interrupts` or `/proc/softirqs`: lines with one
/// count per CPU, below a line that names the CPUs.
fn sum_for_cpu(text: &[u8], cpu: u32) -> Option<u64> {
    let mut lines = text.split(|byte| *byte == b'\n');
    let mut columns = words(lines.next()?);
    let column = columns
        .by_ref()
        .position(|word| word.strip_prefix(b"CPU").and_then(number) == Some(u64::from(cpu)))?;
    let after = columns.count();
    let mut sum = 0u64;
    for line in lines {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            continue;
        };
        let mut counts = words(&line[colon + 1..]).map(number);
        let count = counts.nth(column).flatten();
        // A line such as ERR has one count for all CPUs.
        let whole = counts.take(after).filter(Option::is_some).count() == after;
        if let (Some(count), true) = (count, whole) {
            sum = sum.saturating_add(count);
        }
    }
    Some(sum)
}

/// Ticks of steal time of a CPU in `/proc/stat`.
fn steal_ticks(text: &[u8], cpu: u32) -> Option<u64> {
    let mut lines = text.split(|byte| *byte == b'\n');
    lines.find_map(|line| {
        let mut words = words(line);
        let name = words.next()?.strip_prefix(b"cpu")?;
        (number(name) == Some(u64::from(cpu))).then(|| words.nth(7).and_then(number))?
    })
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
}

fn number(word: &[u8]) -> Option<u64> {
    let digit = |number: u64, byte: &u8| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    };
    let mut bytes = word.iter();
    let first = digit(0, bytes.next()?)?;
    bytes.try_fold(first, digit)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    const INTERRUPTS: &[u8] = b"            CPU0       CPU2       CPU3       \n\
  0:         35          0          0   IO-APIC   2-edge      timer\n\
 10:          1          2          3   IO-APIC  10-edge      7 virtio 5\n\
NMI:          0          1          0   Non-maskable interrupts\n\
LOC:       1000       2000       3000   Local timer interrupts\n\
ERR:         77\n\
MIS:          5\n";

    #[test]
    fn interrupts_of_a_cpu_are_its_column() {
        assert_eq!(sum_for_cpu(INTERRUPTS, 0), Some(1036));
        assert_eq!(sum_for_cpu(INTERRUPTS, 2), Some(2003));
        assert_eq!(sum_for_cpu(INTERRUPTS, 3), Some(3003));
        assert_eq!(sum_for_cpu(INTERRUPTS, 1), None, "it is offline");
        assert_eq!(sum_for_cpu(b"", 0), None);
        for end in 0..INTERRUPTS.len() {
            sum_for_cpu(&INTERRUPTS[..end], 3);
        }
        // With one CPU, only its name distinguishes a line for all CPUs from others.
        let one = b"           CPU0\nLOC:  12   Local timer interrupts\n";
        assert_eq!(sum_for_cpu(one, 0), Some(12));
        let softirqs = b"                    CPU0       CPU1\n          HI:          1          0\n       TIMER:        100        200\n";
        assert_eq!(sum_for_cpu(softirqs, 1), Some(200));
    }

    #[test]
    fn steal_time_is_the_eighth_figure_of_a_cpu() {
        let stat = b"cpu  1 2 3 4 5 6 7 8 9 0\ncpu1 1 2 3 4 5 6 7 81 0 0\ncpu10 1 2 3 4 5 6 7 82 0 0\nintr 5\n";
        assert_eq!(steal_ticks(stat, 1), Some(81));
        assert_eq!(steal_ticks(stat, 10), Some(82));
        assert_eq!(steal_ticks(stat, 0), None);
        assert_eq!(steal_ticks(b"cpu0 1 2 3", 0), None);
    }

    #[test]
    fn the_cause_is_what_was_counted_meanwhile() {
        let none = CpuCounts::default();
        let counted = |count: fn(&mut CpuCounts)| {
            let mut counts = none;
            count(&mut counts);
            counts
        };
        for (counts, cause) in [
            (none, Cause::Unexplained),
            (counted(|c| c.softirqs = 1), Cause::Softirq),
            (counted(|c| c.interrupts = 1), Cause::Interrupt),
            (counted(|c| c.switches = 2), Cause::Switch),
            (counted(|c| c.smis = 1), Cause::Smi),
        ] {
            assert_eq!(counts.cause(20_000, false), cause);
            // The thread's counters are read after each disturbance, so they are never
            // stale.
            let stale = match cause {
                Cause::Softirq | Cause::Interrupt => Cause::Unclear,
                cause => cause,
            };
            assert_eq!(counts.cause(20_000, true), stale);
        }
        // A cause that includes others takes precedence.
        let all = CpuCounts {
            switches: 1,
            interrupts: 4,
            softirqs: 1,
            ..none
        };
        assert_eq!(all.cause(20_000, false), Cause::Switch);
        // A tick of steal time explains no gap that is far longer, or far shorter.
        let stolen = counted(|c| c.steal = 1);
        assert_eq!(stolen.cause(15_000_000, false), Cause::Steal);
        assert_eq!(stolen.cause(25_000_000, false), Cause::Unexplained);
        assert_eq!(stolen.cause(4_000_000, false), Cause::Unexplained);
    }

    #[test]
    fn counters_of_this_machine_do_not_go_back() {
        let online = crate::cpus::online().unwrap();
        let mut reader = CpuCountsReader::open(online[0]).unwrap();
        let before = reader.read();
        let after = reader.read();
        assert!(before.interrupts > 0 && before.softirqs > 0);
        assert!(after.interrupts >= before.interrupts && after.switches >= before.switches);
    }
}
