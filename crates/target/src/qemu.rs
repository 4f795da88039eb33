//! QEMU: where it is, how old it is, and how a machine is described to it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use assize_job::{Image, Machine};

use crate::Error;

/// The oldest QEMU that the exact machine was tried with.
const OLDEST: (u32, u32) = (7, 2);
/// The first that shares the instruction budget among the guest's CPUs. With
/// an older one a busy CPU starves those after it.
const OLDEST_FOR_SEVERAL_CPUS: (u32, u32) = (8, 1);

/// One QEMU for x86-64.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qemu {
    /// The program.
    pub binary: PathBuf,
    /// Where its firmware is; empty for where it was built to look.
    pub data: Vec<PathBuf>,
    /// As it says itself: `10.0.2 (Debian 1:10.0.2+ds-2+deb13u1~bpo12+1)`.
    pub version: String,
}

impl Qemu {
    /// The QEMU to use: `$ASSIZE_QEMU` if set, else the newest of the one
    /// fetched into `root` and the one in PATH.
    ///
    /// # Errors
    /// There is none, or it does not run, or it is too old.
    pub fn find(root: &Path) -> Result<Qemu, Error> {
        if let Some(binary) = std::env::var_os("ASSIZE_QEMU") {
            let named = |error: Error| Error {
                mend: Some(format!(
                    "unset ASSIZE_QEMU, or let it name QEMU {}.{} or newer",
                    OLDEST.0, OLDEST.1
                )),
                wrong_use: true,
                ..error
            };
            let qemu = Qemu::at(PathBuf::from(binary), Vec::new()).map_err(named)?;
            return qemu.not_too_old().map_err(named);
        }
        let mut found = Vec::new();
        if let Some(stored) = crate::qemu_store::stored(root) {
            found.push(Qemu {
                binary: stored.binary,
                data: stored.data_dirs,
                version: stored.version,
            });
        }
        let system = in_path("qemu-system-x86_64").map(|binary| Qemu::at(binary, Vec::new()));
        match system {
            Some(Ok(qemu)) => found.push(qemu),
            Some(Err(error)) if found.is_empty() => return Err(error),
            Some(Err(_)) | None => {}
        }
        found.sort_by_key(Qemu::number);
        found.pop().ok_or_else(missing)?.not_too_old()
    }

    /// The QEMU at a path.
    ///
    /// # Errors
    /// It does not run, or does not say its version.
    pub fn at(binary: PathBuf, data: Vec<PathBuf>) -> Result<Qemu, Error> {
        let what = format!("run {}", binary.display());
        let output = Command::new(&binary).arg("--version").output();
        let output = output.map_err(|error| Error {
            why: error.to_string(),
            ..missing().with_what(&what)
        })?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = text
            .lines()
            .next()
            .and_then(|line| line.split_once("version "))
            .map(|(_, version)| version.trim().to_string());
        match version {
            Some(version) => Ok(Qemu {
                binary,
                data,
                version,
            }),
            None => Err(Error {
                what,
                why: "it does not answer --version as QEMU does".into(),
                mend: Some("name QEMU's qemu-system-x86_64 in ASSIZE_QEMU, or unset it".into()),
                wrong_use: true,
            }),
        }
    }

    /// Major and minor version.
    pub fn number(&self) -> (u32, u32) {
        let mut numbers = self
            .version
            .split(|c: char| !c.is_ascii_digit())
            .map(|digits| digits.parse().unwrap_or(0));
        (
            numbers.next().unwrap_or_default(),
            numbers.next().unwrap_or_default(),
        )
    }

    fn not_too_old(self) -> Result<Qemu, Error> {
        if self.number() >= OLDEST {
            return Ok(self);
        }
        Err(Error {
            what: format!("use QEMU {} at {}", self.version, self.binary.display()),
            why: format!("it is older than {}.{}", OLDEST.0, OLDEST.1),
            mend: Some("assize kernel fetch --qemu".into()),
            wrong_use: false,
        })
    }

    /// Whether a machine with this many CPUs can be exact and fair.
    ///
    /// # Errors
    /// Several CPUs want a newer QEMU.
    pub fn fits(&self, cpus: u32) -> Result<(), Error> {
        if cpus <= 1 || self.number() >= OLDEST_FOR_SEVERAL_CPUS {
            return Ok(());
        }
        Err(Error {
            what: format!(
                "run an exact machine with {cpus} CPUs on QEMU {}",
                self.version
            ),
            why: format!(
                "before {}.{} a busy CPU of an exact machine starves the others",
                OLDEST_FOR_SEVERAL_CPUS.0, OLDEST_FOR_SEVERAL_CPUS.1
            ),
            mend: Some(match std::env::var_os("ASSIZE_QEMU") {
                Some(_) => "unset ASSIZE_QEMU, and assize kernel fetch --qemu".into(),
                None => "assize kernel fetch --qemu".into(),
            }),
            wrong_use: false,
        })
    }
}

impl Error {
    fn with_what(self, what: &str) -> Error {
        Error {
            what: what.into(),
            ..self
        }
    }
}

fn missing() -> Error {
    Error {
        what: "find QEMU".into(),
        why: "there is no qemu-system-x86_64 in PATH".into(),
        mend: Some("apt-get install qemu-system-x86, or assize kernel fetch --qemu".into()),
        wrong_use: false,
    }
}

fn in_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|directory| directory.join(program))
        .find(|candidate| candidate.is_file())
}

/// The year that begins when an exact machine is switched on.
pub(crate) const YEAR: i64 = 2026;

/// How the clock of a machine goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    /// One instruction is one nanosecond, idle time is skipped.
    Instructions,
    /// The host's clock, by software emulation with a thread for each CPU.
    Host,
    /// The host's clock, by hardware virtualisation.
    Kvm,
}

/// Microseconds of the guest that several busy CPUs have together before each
/// has had its turn, unless a word of the command line says otherwise.
const TURNS_US: u32 = 20;
/// That word. An idle second of the guest takes the host one with short turns.
const TURNS: &str = "assize.turns_us=";

/// The length of turns that the command line of a machine asks for.
fn turns_us(machine: &Machine) -> u32 {
    let asked = machine.command_line.iter().rev();
    asked
        .filter_map(|word| word.strip_prefix(TURNS)?.parse().ok())
        .find(|us| *us > 0)
        .unwrap_or(TURNS_US)
}

/// The arguments that make the machine what it is. No path is among them, so
/// that they can be part of what identifies a run.
pub(crate) fn machine_arguments(machine: &Machine, clock: Clock) -> Vec<String> {
    let mut arguments: Vec<String> = Vec::new();
    let mut add = |words: &[&str]| arguments.extend(words.iter().map(ToString::to_string));
    add(&["-M", "microvm,rtc=on,memory-backend=mem"]);
    match clock {
        // Without arat the kernel takes no high-resolution timers from the
        // local APIC once there are several CPUs.
        Clock::Instructions => add(&["-cpu", "qemu64,+arat", "-icount", "shift=0,sleep=off"]),
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
    if clock == Clock::Instructions && machine.cpus > 1 {
        // CPUs share the instructions up to the next timer. With nothing but
        // the ticks of a busy guest, a CPU waits milliseconds for its turn,
        // also to take an interrupt. Nothing passes this filter; its timer
        // ends every turn.
        let us = turns_us(machine);
        let filter = format!("filter-buffer,id=turns,netdev=turn,queue=rx,interval={us}");
        add(&["-netdev", "hubport,id=turn,hubid=0", "-object", &filter]);
    }
    arguments
}

/// The words of the guest kernel's command line.
pub(crate) fn command_line(machine: &Machine, clock: Clock) -> String {
    let mut words = vec![
        "console=ttyS0",
        "quiet",
        "panic=-1",
        "oops=panic",
        "assize.channel=debugcon",
        "assize.image=1",
        // The kernel's tests of its ciphers take half a second.
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
            // On a busy host the guest cannot find out how fast its clock
            // goes, and then hangs while it calibrates.
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

/// A word as long as what the addresses of the kernel are drawn from.
///
/// The kernel's loader draws them from what it was handed, in which is where its
/// command line begins, and from the time-stamp counter, which counts the
/// instructions that it took to read it. Both follow from its length. The CPU has
/// no random numbers of its own, so nothing else comes in.
fn space(image: &Image) -> Option<String> {
    let length = usize::try_from(image.addresses).ok()?;
    let space = "x".repeat(length);
    (length > 0).then(|| format!("{}space={space}", Image::PREFIX))
}

/// How fast the time-stamp counter of this host goes, measured once. A live
/// machine without KVM shows that counter to its guest.
#[cfg(target_arch = "x86_64")]
fn host_clock_khz() -> Option<u64> {
    static KHZ: OnceLock<Option<u64>> = OnceLock::new();
    *KHZ.get_or_init(|| {
        // SAFETY: every x86-64 CPU has the instruction, and it has no effect
        // but its result.
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

/// Files that one QEMU process gets.
#[derive(Debug, Clone)]
pub(crate) struct Files<'a> {
    /// The kernel's image.
    pub(crate) kernel: &'a Path,
    /// The initramfs.
    pub(crate) initramfs: &'a Path,
    /// What the guest's memory is.
    pub(crate) memory: &'a Path,
    /// Whether writes go to `memory`, or stay with this process.
    pub(crate) share: bool,
    /// What the guest reads its job from.
    pub(crate) job: &'a Path,
    /// Where the guest's answer goes.
    pub(crate) answer: &'a Path,
    /// Where the guest's console goes.
    pub(crate) console: &'a Path,
}

/// All arguments of one QEMU process. Its control channel is its standard
/// input and output.
pub(crate) fn arguments(
    qemu: &Qemu,
    machine: &Machine,
    clock: Clock,
    files: &Files<'_>,
) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::new();
    for directory in &qemu.data {
        all.push("-L".into());
        all.push(directory.into());
    }
    all.extend(
        machine_arguments(machine, clock)
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

/// QEMU takes a comma in a value for the end of it, unless it is doubled.
fn joined(prefix: &str, path: &Path) -> OsString {
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

    fn qemu(version: &str) -> Qemu {
        Qemu {
            binary: "qemu".into(),
            data: Vec::new(),
            version: version.into(),
        }
    }

    #[test]
    fn versions_are_read_as_qemu_prints_them() {
        let debian = qemu("10.0.2 (Debian 1:10.0.2+ds-2+deb13u1~bpo12+1)");
        assert_eq!(debian.number(), (10, 0));
        assert_eq!(qemu("7.2.22 (Debian 1:7.2+dfsg-7)").number(), (7, 2));
        assert_eq!(qemu("").number(), (0, 0));
    }

    #[test]
    fn turns_are_as_long_as_the_command_line_says() {
        let us = |words: &[&str]| {
            turns_us(&Machine {
                command_line: words.iter().map(ToString::to_string).collect(),
                ..Machine::default()
            })
        };
        assert_eq!(us(&[]), TURNS_US);
        assert_eq!(us(&["quiet", "assize.turns_us=2000"]), 2000);
        assert_eq!(us(&["assize.turns_us=50", "assize.turns_us=7"]), 7);
        assert_eq!(us(&["assize.turns_us=0"]), TURNS_US);
        assert_eq!(us(&["assize.turns_us=fast"]), TURNS_US);
    }

    #[test]
    fn an_old_qemu_is_refused_with_the_mend() {
        let error = qemu("6.2.0").not_too_old();
        assert!(error.is_err_and(|e| e.to_string().contains("fetch --qemu")));
        assert!(qemu("7.2.0").not_too_old().is_ok());
    }

    #[test]
    fn several_cpus_want_a_qemu_that_shares_the_budget() {
        assert!(qemu("7.2.22").fits(1).is_ok());
        assert!(qemu("7.2.22").fits(2).is_err());
        assert!(qemu("8.1.0").fits(2).is_ok());
        assert!(qemu("10.0.2").fits(4).is_ok());
    }

    #[test]
    fn a_comma_in_a_path_does_not_end_the_value() {
        assert_eq!(joined("path=", Path::new("/a,b")), "path=/a,,b");
    }

    #[test]
    fn a_draw_of_addresses_makes_the_command_line_longer_by_it() {
        let line = |addresses| {
            let machine = Machine {
                image: Image {
                    addresses,
                    ..Image::default()
                },
                ..Machine::default()
            };
            command_line(&machine, Clock::Instructions)
        };
        assert!(line(0).contains("nokaslr") && !line(0).contains("space"));
        assert!(!line(7).contains("nokaslr"));
        assert_eq!(line(19).len(), line(12).len() + 7);
        assert_eq!(Image::of(&line(12)).addresses, 12);
        assert!(!Image::without(&line(12)).contains("xx"));
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
