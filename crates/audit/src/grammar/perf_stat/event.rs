//! Which names are counters.

/// How surely a name is that of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// Not a name at all (punctuation, a sentence's last word).
    No,
    /// Might be the name of a counter, or any word.
    Word,
    /// Has the shape of a counter: raw, tracepoint, PMU or vendor syntax.
    Plausible,
    /// A counter that perf knows, or one of a PMU that the kernel has.
    Sure,
}

/// Names that perf knows and that are no English words. Sorted.
const KNOWN: &[&str] = &[
    "CPU-clock",
    "CPU-migrations",
    "alignment-faults",
    "bpf-output",
    "branch-instructions",
    "branch-misses",
    "bus-cycles",
    "cache-misses",
    "cache-references",
    "cgroup-switches",
    "context-switches",
    "cpu-clock",
    "cpu-cycles",
    "cpu-migrations",
    "duration_time",
    "emulation-faults",
    "idle-cycles-backend",
    "idle-cycles-frontend",
    "major-faults",
    "mem-loads",
    "mem-loads-aux",
    "mem-stores",
    "minor-faults",
    "page-faults",
    "ref-cycles",
    "stalled-cycles-backend",
    "stalled-cycles-frontend",
    "system_time",
    "task-clock",
    "task-clock-msecs",
    "topdown-bad-spec",
    "topdown-be-bound",
    "topdown-br-mispredict",
    "topdown-fe-bound",
    "topdown-fetch-bubbles",
    "topdown-fetch-lat",
    "topdown-heavy-ops",
    "topdown-mem-bound",
    "topdown-recovery-bubbles",
    "topdown-retiring",
    "topdown-slots-issued",
    "topdown-slots-retired",
    "topdown-total-slots",
    "user_time",
];

/// Names that perf knows and that prose has too.
const ENGLISH: &[&str] = &[
    "branches",
    "cs",
    "cycles",
    "dummy",
    "faults",
    "instructions",
    "migrations",
    "slots",
];

/// First parts of the generic cache events.
const CACHES: &[&str] = &[
    "L1-dcache",
    "L1-icache",
    "LLC",
    "dTLB",
    "iTLB",
    "branch",
    "node",
];

/// Last parts of the generic cache events.
const CACHE_OPS: &[&str] = &[
    "load",
    "load-misses",
    "loads",
    "misses",
    "prefetch-misses",
    "prefetches",
    "store-misses",
    "stores",
];

/// PMUs that the kernel has; a longer name counts if it goes on with `_`.
const PMUS: &[&str] = &[
    "amd", "apple", "arm", "armv8", "armv9", "arm_spe", "cpu", "cpum_cf", "cpum_sf", "cstate",
    "cxl_pmu", "drm", "dsu", "hisi", "hv_24x7", "hv_gpci", "hwmon", "i915", "ibs", "imx8", "intel",
    "kprobe", "msr", "nest", "nvidia", "power", "qcom", "riscv", "smmuv3", "software", "tool",
    "uncore", "uprobe", "xe",
];

/// Subsystems whose tracepoints may lack an underscore.
const SUBSYSTEMS: &[&str] = &[
    "block",
    "exceptions",
    "irq",
    "kmem",
    "kvm",
    "migrate",
    "napi",
    "net",
    "power",
    "probe",
    "raw_syscalls",
    "sched",
    "skb",
    "syscalls",
    "timer",
    "tlb",
    "vmscan",
    "writeback",
    "xe",
];

/// Units that perf prints between the value and the name.
const UNITS: &[&str] = &[
    "%", "'C", "A", "Bytes", "C", "GiB", "Hz", "J", "Joules", "KB", "KiB", "MB", "MHz", "MiB", "V",
    "W", "Watts", "\u{b0}C", "bytes", "mA", "mV", "mW", "msec", "ms", "ns", "nsec", "rpm", "sec",
    "us", "usec",
];

/// Units whose values do not add up over time.
const LEVELS: &[&str] = &[
    "%", "'C", "A", "C", "Hz", "MHz", "V", "W", "Watts", "\u{b0}C", "mA", "mV", "mW", "rpm",
];

/// Words of the derived figures behind `#`, as mailers wrap them.
const VOCABULARY: &[&str] = &[
    "/sec",
    "CPUs",
    "CPU",
    "G/sec",
    "GHz",
    "GB/sec",
    "Joules",
    "K/sec",
    "L1-dcache",
    "L1-icache",
    "LL-cache",
    "LLC",
    "M/sec",
    "MB/sec",
    "accesses",
    "aborted",
    "all",
    "backend",
    "bad",
    "bound",
    "branch",
    "branches",
    "cache",
    "cycle",
    "cycles",
    "dTLB",
    "elision",
    "frontend",
    "hits",
    "iTLB",
    "idle",
    "insn",
    "insns",
    "of",
    "per",
    "refs",
    "retiring",
    "sec",
    "speculation",
    "stalled",
    "transaction",
    "transactional",
    "utilized",
];

/// Whether the word is one of a derived figure.
pub(super) fn is_vocabulary(word: &str) -> bool {
    VOCABULARY.contains(&word)
}

/// Whether perf prints this unit.
pub(super) fn is_unit(word: &str) -> bool {
    UNITS.contains(&word)
}

/// Whether values in this unit are levels and no amounts, so that their sum
/// says nothing.
pub(super) fn is_level(unit: &str) -> bool {
    LEVELS.contains(&unit)
}

/// Whether a value in this unit can be below zero.
pub(super) fn may_be_negative(unit: &str) -> bool {
    matches!(unit, "C" | "'C" | "\u{b0}C" | "V" | "mV" | "A" | "mA")
}

/// Whether the name is a counter's and an English word at once.
pub(super) fn is_english(name: &str) -> bool {
    ENGLISH.contains(&name)
}

/// How surely `name` is a counter's name.
pub(super) fn class(name: &str) -> Class {
    if !shaped(name) {
        return Class::No;
    }
    let base = without_modifier(name);
    if KNOWN.binary_search(&base).is_ok() || is_english(base) || is_cache(base) {
        return Class::Sure;
    }
    if let Some(known) = pmu(base) {
        return if known { Class::Sure } else { Class::Plausible };
    }
    if is_raw(base) || is_tracepoint(base) || is_vendor(base) {
        return Class::Plausible;
    }
    Class::Word
}

/// Whether the characters are those of a name.
fn shaped(name: &str) -> bool {
    let bytes = name.as_bytes();
    let inner = |b: &u8| b.is_ascii_alphanumeric() || b"_-:/.,=@%~*+?{}<>|!^#".contains(b);
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.len() <= 512
        && bytes
            .last()
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'_' | b'}'))
        && bytes.iter().all(inner)
}

/// The name without `:u`, `:kpp` and the like.
fn without_modifier(name: &str) -> &str {
    match name.rsplit_once(':') {
        Some((base, modifier))
            if !base.is_empty()
                && (1..=8).contains(&modifier.len())
                && modifier.bytes().all(|b| b"ukhvGHDIpPSWebRX".contains(&b)) =>
        {
            base
        }
        _ => name,
    }
}

fn is_cache(name: &str) -> bool {
    CACHES.iter().any(|cache| {
        name.strip_prefix(cache)
            .and_then(|rest| rest.strip_prefix('-'))
            .is_some_and(|op| CACHE_OPS.contains(&op))
    })
}

/// `None` if `name` is not in PMU syntax (`pmu/event/`), else whether the PMU
/// is one that the kernel has.
fn pmu(name: &str) -> Option<bool> {
    let (pmu, rest) = name.split_once('/')?;
    let (event, modifier) = rest.rsplit_once('/')?;
    let named = pmu
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
    if pmu.is_empty() || !named || event.contains('/') || modifier.len() > 8 {
        return None;
    }
    let known = PMUS.iter().any(|known| {
        pmu.strip_prefix(known)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    });
    Some(known || event.contains('='))
}

/// `r01c2`.
fn is_raw(name: &str) -> bool {
    name.strip_prefix('r').is_some_and(|hex| {
        (2..=16).contains(&hex.len())
            && hex.bytes().all(|b| b.is_ascii_hexdigit())
            && hex.bytes().any(|b| b.is_ascii_digit())
    })
}

/// `sched:sched_switch`.
fn is_tracepoint(name: &str) -> bool {
    let part = |part: &str| {
        part.len() >= 2
            && part
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'*')
    };
    name.split_once(':').is_some_and(|(subsystem, event)| {
        part(subsystem) && part(event) && (SUBSYSTEMS.contains(&subsystem) || event.contains('_'))
    })
}

/// `inst_retired.any`, `l1d_cache_refill`.
fn is_vendor(name: &str) -> bool {
    let snake = name
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'));
    let suffix_ok = name.rsplit_once('.').is_none_or(|(_, last)| {
        !matches!(
            last,
            "c" | "h"
                | "S"
                | "o"
                | "ko"
                | "rs"
                | "py"
                | "sh"
                | "txt"
                | "dts"
                | "dtsi"
                | "rst"
                | "yaml"
                | "json"
                | "conf"
                | "patch"
                | "gz"
                | "html"
                | "log"
        )
    });
    snake && suffix_ok && name.contains('_')
}

/// Whether a word says which part of the machine a row is about (`CPU0`,
/// `S0`, `S0-D0-C1`, `N0`, `S0-D0-L3-ID0`).
pub(super) fn is_place(word: &str) -> bool {
    let bytes = word.as_bytes();
    let tail = match bytes {
        [b'C', b'P', b'U', tail @ ..] | [b'S' | b'N' | b'D', tail @ ..] => tail,
        _ => return false,
    };
    tail.first().is_some_and(u8::is_ascii_digit)
        && bytes.len() <= 40
        && tail
            .iter()
            .all(|b| b.is_ascii_digit() || b.is_ascii_uppercase() || matches!(b, b'-' | b','))
}

/// Whether a word names a thread (`bash-8178`).
pub(super) fn is_thread(word: &str) -> bool {
    word.rsplit_once('-').is_some_and(|(comm, id)| {
        !comm.is_empty() && id.len() <= 10 && super::token::all_digits(id)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_names_are_sorted() {
        assert!(KNOWN.is_sorted());
    }

    #[test]
    fn names_that_perf_prints_are_counters() {
        for name in [
            "cycles",
            "cycles:u",
            "instructions:kpp",
            "LLC-load-misses",
            "L1-dcache-loads:u",
            "cpu_core/cycles/",
            "power/energy-pkg/",
            "uncore_imc_free_running/data_read/",
            "cpu/event=0x3c,umask=0x0/",
            "cpu_atom/instructions/u",
            "duration_time",
        ] {
            assert_eq!(class(name), Class::Sure, "{name}");
        }
        for name in [
            "r01c2",
            "sched:sched_switch",
            "kmem:kfree",
            "inst_retired.any",
            "l1d_cache_refill",
            "foo/bar/",
        ] {
            assert_eq!(class(name), Class::Plausible, "{name}");
        }
    }

    #[test]
    fn words_of_prose_and_file_names_are_not_counters() {
        for name in [
            "patches",
            "bytes",
            "rad",
            "seconds",
            "foo_bar.c",
            "note:this",
        ] {
            assert_eq!(class(name), Class::Word, "{name}");
        }
        for name in ["bytes.", "(cycles)", "", "3rd", "cycles,"] {
            assert_eq!(class(name), Class::No, "{name}");
        }
    }

    #[test]
    fn places_and_threads_are_told_apart_from_counters() {
        for place in ["CPU0", "S0", "S0-D0-C12", "N1", "S0-D0-L3-ID0", "D0"] {
            assert!(is_place(place), "{place}");
        }
        for other in ["CPUs", "S", "Sum", "N", "CPU", "D0nut"] {
            assert!(!is_place(other), "{other}");
        }
        assert!(is_thread("bash-8178"));
        assert!(!is_thread("bash"));
    }
}
