//! QEMU: its command line for a machine.

mod find;

use std::ffi::OsString;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use assize_job::{Display, Machine, MemoryImage};

pub use find::Qemu;
pub(crate) use find::is_parallel;

/// The guest's clock starts at the beginning of this year when an exact machine is powered
/// on.
pub(crate) const YEAR: i64 = 2026;

/// The clock of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    /// One instruction takes one nanosecond; idle time is skipped.
    Instructions,
    /// The host's clock, with software emulation and one thread per CPU.
    Host,
    /// The host's clock, with hardware virtualisation.
    Kvm,
}

/// Guest time, in nanoseconds, that passes at a PAUSE instruction in a spinning CPU.
const PAUSE_NS: u32 = 50;
/// Guest time, in nanoseconds, that an atomic access takes in addition to its instruction.
const ATOMIC_NS: u32 = 2;
/// Guest time, in nanoseconds, between sending and arrival of an inter-processor interrupt.
const IPI_NS: u32 = 200;

/// The value of `-icount` for a machine whose clock counts instructions. `seed` sets the
/// order of its CPUs; 0 leaves it as in the memory image.
fn icount(qemu: &Qemu, machine: &Machine, seed: u64) -> String {
    let plain = "shift=0,sleep=off";
    if !qemu.parallel {
        return plain.into();
    }
    // An invalid quantum was refused earlier.
    let quantum = machine.quantum_ns().unwrap_or(Machine::QUANTUM_NS);
    format!(
        "{plain},parallel=on,quantum={quantum},pause={PAUSE_NS},atomic={ATOMIC_NS},\
         ipi={IPI_NS},seed={seed}"
    )
}

/// The arguments that define the machine. They identify a run, so they contain no path, and no
/// seed, which is part of the job.
pub(crate) fn machine_arguments(qemu: &Qemu, machine: &Machine, clock: Clock) -> Vec<String> {
    seeded_arguments(qemu, machine, clock, 0)
}

fn seeded_arguments(qemu: &Qemu, machine: &Machine, clock: Clock, seed: u64) -> Vec<String> {
    let mut arguments: Vec<String> = Vec::new();
    let mut add = |words: &[&str]| arguments.extend(words.iter().map(ToString::to_string));
    let board = "microvm,rtc=on,memory-backend=mem";
    match machine.display {
        None => add(&["-M", board]),
        // The device's ROM is for a BIOS, which is never executed here.
        Some(Display::Bochs) => {
            add(&["-M", &format!("{board},pcie=on,acpi=on")]);
            add(&["-device", "bochs-display,romfile="]);
        }
    }
    match clock {
        // Without arat the kernel does not use the local APIC for high-resolution timers if
        // there are several CPUs.
        Clock::Instructions => {
            add(&["-cpu", "qemu64,+arat", "-icount"]);
            add(&[&icount(qemu, machine, seed)]);
        }
        Clock::Host => add(&["-cpu", "qemu64,+arat", "-accel", "tcg,thread=multi"]),
        Clock::Kvm => add(&["-cpu", "host", "-accel", "kvm"]),
    }
    let rtc = match clock {
        Clock::Instructions => format!("base={YEAR}-01-01,clock=vm"),
        Clock::Host | Clock::Kvm => "base=utc,clock=host".to_owned(),
    };
    add(&["-rtc", &rtc, "-smp"]);
    add(&[&machine.cpus.to_string()]);
    add(&["-m", &machine.memory_mib.to_string()]);
    add(&["-nodefaults", "-no-user-config", "-display", "none"]);
    add(&["-no-reboot", "-parallel", "none"]);
    arguments
}

/// The guest kernel's command line.
pub(crate) fn command_line(machine: &Machine, clock: Clock) -> String {
    let mut words = vec![
        "console=ttyS0",
        "quiet",
        "panic=-1",
        "oops=panic",
        "assize.channel=debugcon",
        "assize.image=1",
        // The kernel's self-tests of ciphers take half a second.
        "cryptomgr.notests",
    ];
    let mut frequency = String::new();
    match clock {
        Clock::Instructions => {
            if machine.image.addresses == 0 {
                words.push("nokaslr");
            }
            words.extend(["tsc=reliable", "assize.clock=instructions"]);
        }
        Clock::Host => {
            // On a busy host the guest cannot calibrate its clock and hangs trying.
            words.extend(["no_timer_check", "tsc=reliable"]);
            frequency =
                host_clock_khz().map_or_else(String::new, |khz| format!("tsc_early_khz={khz}"));
        }
        Clock::Kvm => {}
    }
    if !frequency.is_empty() {
        words.push(&frequency);
    }
    let mut drawn = machine.image.words();
    if let Some(space) = space(&machine.image) {
        drawn.push(space);
    }
    words.extend(drawn.iter().map(String::as_str));
    words.extend(machine.command_line.iter().map(String::as_str));
    words.join(" ")
}

/// A command-line word whose length selects the kernel's addresses.
///
/// The kernel's decompressor derives them from its boot parameters, which include the
/// address of the command line, and from the time-stamp counter, which counts the
/// instructions spent reading it. Both follow from its length. The CPU has no random number
/// instructions, so there is no other input.
fn space(image: &MemoryImage) -> Option<String> {
    let length = usize::try_from(image.addresses).ok()?;
    let space = "x".repeat(length);
    (length > 0).then(|| format!("{}space={space}", MemoryImage::PREFIX))
}

/// The frequency of this host's time-stamp counter in kHz, measured once. A live machine
/// without KVM exposes that counter to its guest.
#[cfg(target_arch = "x86_64")]
fn host_clock_khz() -> Option<u64> {
    static KHZ: OnceLock<Option<u64>> = OnceLock::new();
    *KHZ.get_or_init(|| {
        // SAFETY: every x86-64 CPU has the instruction, and it has no effect but its
        // result.
        let read = || unsafe { std::arch::x86_64::_rdtsc() };
        let (begun, first) = (Instant::now(), read());
        std::thread::sleep(Duration::from_millis(50));
        let (ticks, elapsed) = (read().checked_sub(first)?, begun.elapsed());
        let khz = u128::from(ticks) * 1_000_000 / elapsed.as_nanos().max(1);
        u64::try_from(khz).ok().filter(|khz| *khz > 0)
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn host_clock_khz() -> Option<u64> {
    None
}

#[derive(Debug, Clone)]
pub(crate) struct QemuProcessFiles<'a> {
    /// The kernel's image.
    pub(crate) kernel: &'a Path,
    pub(crate) initramfs: &'a Path,
    /// The file that is the guest's memory.
    pub(crate) memory: &'a Path,
    /// Whether writes go to `memory` or stay private.
    pub(crate) share: bool,
    /// The file with the guest's job.
    pub(crate) job: &'a Path,
    /// The file for the guest's answer.
    pub(crate) answer: &'a Path,
    /// The file for the guest's console output.
    pub(crate) console: &'a Path,
    /// Seed for the order in which its CPUs run; 0 keeps that of the memory image.
    pub(crate) seed: u64,
}

/// All arguments of one QEMU process. Its control channel is its standard input and output.
pub(crate) fn arguments(
    qemu: &Qemu,
    machine: &Machine,
    clock: Clock,
    files: &QemuProcessFiles<'_>,
) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::new();
    for directory in &qemu.data {
        all.push("-L".into());
        all.push(directory.into());
    }
    all.extend(
        seeded_arguments(qemu, machine, clock, files.seed)
            .into_iter()
            .map(OsString::from),
    );
    let mut add = |name: &str, value: OsString| {
        all.push(name.into());
        all.push(value);
    };
    let share = if files.share { "on" } else { "off" };
    let memory = format!(
        "memory-backend-file,id=mem,size={}M,share={share},mem-path=",
        machine.memory_mib
    );
    add("-object", joined(&memory, files.memory));
    add("-kernel", files.kernel.into());
    add("-initrd", files.initramfs.into());
    add("-append", command_line(machine, clock).into());
    add("-chardev", joined("file,id=answer,path=", files.answer));
    add("-device", "isa-debugcon,chardev=answer,iobase=0xe9".into());
    add("-chardev", joined("file,id=console,path=", files.console));
    add("-serial", "chardev:console".into());
    add("-device", "isa-debug-exit,iobase=0xf4,iosize=4".into());
    add("-device", "pvpanic,ioport=0x505".into());
    add("-fw_cfg", joined("name=opt/assize/job,file=", files.job));
    add("-qmp", "stdio".into());
    all
}

/// A path as the value of an option, with commas doubled, because QEMU takes a single one
/// for the end of the value.
pub(crate) fn joined(prefix: &str, path: &Path) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let mut bytes = prefix.as_bytes().to_vec();
    for byte in path.as_os_str().as_bytes() {
        bytes.push(*byte);
        if *byte == b',' {
            bytes.push(b',');
        }
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn qemu(parallel: bool) -> Qemu {
        Qemu {
            binary: "qemu".into(),
            data: Vec::new(),
            version: "10.0.13".into(),
            parallel,
        }
    }

    #[test]
    fn each_cpu_has_a_clock_of_its_own_where_qemu_can() {
        let machine = |words: &[&str]| Machine {
            command_line: words.iter().map(ToString::to_string).collect(),
            ..Machine::default()
        };
        let usual = icount(&qemu(true), &machine(&[]), 0);
        assert!(usual.starts_with("shift=0,sleep=off,parallel=on,quantum=100,"));
        assert!(usual.ends_with(",seed=0"));
        let longer = icount(&qemu(true), &machine(&["assize.quantum_ns=2000"]), 0);
        assert_eq!(longer, usual.replace("quantum=100", "quantum=2000"));
        let words = machine(&["assize.quantum_ns=2000"]);
        assert_eq!(icount(&qemu(false), &words, 7), "shift=0,sleep=off");
    }

    #[test]
    fn the_seed_of_a_run_is_told_to_qemu_and_makes_no_other_machine() {
        let machine = Machine::default();
        let of = |seed| seeded_arguments(&qemu(true), &machine, Clock::Instructions, seed);
        assert_eq!(
            of(0),
            machine_arguments(&qemu(true), &machine, Clock::Instructions)
        );
        assert_ne!(of(7), of(8));
        assert!(
            of(u64::MAX)
                .join(" ")
                .contains(",seed=18446744073709551615 ")
        );
        for clock in [Clock::Host, Clock::Kvm] {
            let words = seeded_arguments(&qemu(true), &machine, clock, 7).join(" ");
            assert!(!words.contains("icount"), "{words}");
        }
    }

    #[test]
    fn only_a_machine_that_asks_for_a_card_has_pci() {
        let of = |display| {
            let machine = Machine {
                display,
                ..Machine::default()
            };
            machine_arguments(&qemu(true), &machine, Clock::Instructions).join(" ")
        };
        let (with, without) = (of(Some(Display::Bochs)), of(None));
        assert!(without.starts_with("-M microvm,rtc=on,memory-backend=mem -cpu "));
        assert!(
            !without.contains("pci") && !without.contains("bochs"),
            "{without}"
        );
        let card = ",pcie=on,acpi=on -device bochs-display,romfile= -cpu ";
        assert_eq!(with, without.replacen(" -cpu ", card, 1));
    }

    #[test]
    fn a_comma_in_a_path_does_not_end_the_value() {
        assert_eq!(joined("path=", Path::new("/a,b")), "path=/a,,b");
    }

    #[test]
    fn a_draw_of_addresses_makes_the_command_line_longer_by_it() {
        let line = |addresses| {
            let machine = Machine {
                image: MemoryImage {
                    addresses,
                    ..MemoryImage::default()
                },
                ..Machine::default()
            };
            command_line(&machine, Clock::Instructions)
        };
        assert!(line(0).contains("nokaslr") && !line(0).contains("space"));
        assert!(!line(7).contains("nokaslr"));
        assert_eq!(line(19).len(), line(12).len() + 7);
        assert_eq!(MemoryImage::from_command_line(&line(12)).addresses, 12);
        assert!(!MemoryImage::without(&line(12)).contains("xx"));
    }

    #[test]
    fn words_of_the_machine_end_the_command_line() {
        let machine = Machine {
            command_line: vec!["preempt=full".into()],
            ..Machine::default()
        };
        let line = command_line(&machine, Clock::Instructions);
        assert!(line.ends_with(" preempt=full"), "{line}");
        assert!(line.contains("assize.clock=instructions"));
        assert!(!command_line(&machine, Clock::Host).contains("instructions"));
    }
}
