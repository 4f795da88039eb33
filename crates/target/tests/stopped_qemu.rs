//! Tests of debugging with the QEMU for exact machines: stopping, stepping and inspecting a machine
//! does not change what it executes.

#![allow(clippy::unwrap_used)] // A test may fail.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

use assize_target::gdb_stub::{GdbStub, Stop, StubError};
use assize_target::qemu_build::QemuFiles;

use crate::own_qemu::{guest, machine, ours};

/// From when the firmware has started the guest, on any number of CPUs, until the end of the guest
/// on a single CPU, in ns.
const WORKS: std::ops::Range<u64> = 6_000_000..6_090_000;

/// The guest `debug.c`, started without a debugger and with one.
struct DebuggedGuest {
    qemu: QemuFiles,
    place: tempfile::TempDir,
    guest: PathBuf,
    symbols: BTreeMap<String, u64>,
    cpus: usize,
}

/// A guest that is stopped before its first instruction.
struct StoppedGuest {
    child: Child,
    stub: GdbStub,
    answer: PathBuf,
}

impl DebuggedGuest {
    fn new(cpus: usize) -> Option<DebuggedGuest> {
        let qemu = ours()?;
        let place = tempfile::tempdir().unwrap();
        let guest = guest(place.path(), "debug.c");
        let bytes = fs::read(&guest).unwrap();
        let elf = goblin::elf::Elf::parse(&bytes).unwrap();
        let named = |one: goblin::elf::Sym| Some((elf.strtab.get_at(one.st_name)?, one.st_value));
        let symbols = elf.syms.iter().filter_map(named);
        let symbols = symbols.map(|(name, at)| (name.to_owned(), at)).collect();
        Some(DebuggedGuest {
            qemu,
            place,
            guest,
            symbols,
            cpus,
        })
    }

    fn start(&self, more: &[&str]) -> (Child, PathBuf) {
        let answer = self.place.path().join("answer");
        let mut command = machine(&self.qemu, &self.guest);
        command.args(["-device", "isa-debugcon,chardev=answer,iobase=0xe9"]);
        command.args(["-smp", &self.cpus.to_string(), "-chardev"]);
        command.arg(format!("file,id=answer,path={}", answer.display()));
        (command.args(more).spawn().unwrap(), answer)
    }

    /// The answer of a guest that nobody stops.
    fn undisturbed(&self) -> String {
        let (mut child, answer) = self.start(&[]);
        assert_eq!(child.wait().unwrap().code(), Some(1));
        fs::read_to_string(answer).unwrap()
    }

    fn stopped(&self) -> StoppedGuest {
        let socket = self.place.path().join("gdb");
        // QEMU removes it only if it ends well.
        let _ = fs::remove_file(&socket);
        let listen = format!("unix:{},server=on,wait=off", socket.display());
        let (child, answer) = self.start(&["-S", "-gdb", &listen]);
        StoppedGuest {
            stub: connect(&socket),
            child,
            answer,
        }
    }

    fn at(&self, name: &str) -> u64 {
        self.symbols[name]
    }
}

fn connect(socket: &Path) -> GdbStub {
    for _ in 0..500 {
        if let Ok(stub) = GdbStub::connect(socket) {
            return stub;
        }
        sleep(Duration::from_millis(20));
    }
    panic!("QEMU does not listen");
}

impl StoppedGuest {
    /// A number of `info icount`.
    fn number(&mut self, name: &str) -> u64 {
        let text = self.stub.monitor("info icount").unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let words = line.unwrap().split_whitespace();
        words.take(1).next().unwrap().parse().unwrap()
    }

    /// Lets the guest end without a debugger and returns its answer.
    fn end(mut self) -> String {
        match self.stub.detach() {
            Ok(()) | Err(StubError::Ended) => {}
            Err(error) => panic!("{error}"),
        }
        assert_eq!(self.child.wait().unwrap().code(), Some(1));
        fs::read_to_string(self.answer).unwrap()
    }
}

#[test]
fn a_machine_stops_at_an_instant_and_a_step_takes_one_instruction() {
    let Some(guest) = DebuggedGuest::new(1) else {
        return;
    };
    let want = guest.undisturbed();
    let mut stopped = guest.stopped();
    let instant = WORKS.start + 123;
    stopped
        .stub
        .monitor(&format!("icount_stop {instant}"))
        .unwrap();
    assert_eq!(stopped.stub.go().unwrap().cpu, 0);
    for steps in 0..20 {
        assert_eq!(stopped.number("cpu 0 "), instant + steps);
        assert_eq!(stopped.stub.step(0).unwrap().cpu, 0);
    }
    assert_eq!(stopped.end(), want);
}

#[test]
fn a_debugger_that_connects_again_is_told_of_the_cpu_that_stopped() {
    let Some(guest) = DebuggedGuest::new(4) else {
        return;
    };
    let mut stopped = guest.stopped();
    stopped.stub.set_breakpoint(guest.at("other")).unwrap();
    let cpu = stopped.stub.go().unwrap().cpu;
    assert_ne!(cpu, 0);
    assert_eq!(stopped.number("turn "), cpu as u64);
    assert_eq!(
        stopped.stub.program_counter(cpu).unwrap(),
        guest.at("other")
    );
    stopped.end();
}

#[test]
fn turns_are_drawn_anew_from_an_instant_on() {
    let Some(guest) = DebuggedGuest::new(2) else {
        return;
    };
    let seeded = |seed: Option<u64>| {
        let mut stopped = guest.stopped();
        let instant = WORKS.start + 5000;
        let stop = format!("icount_stop {instant}");
        stopped.stub.monitor(&stop).unwrap();
        stopped.stub.go().unwrap();
        if let Some(seed) = seed {
            let said = stopped.stub.monitor(&format!("icount_seed {seed}"));
            assert_eq!(said.unwrap(), "");
        }
        stopped.end()
    };
    let recorded = guest.undisturbed();
    assert_eq!(seeded(None), recorded);
    let [one, again, other] = [1, 1, 2].map(|seed| seeded(Some(seed)));
    assert_eq!(one, again);
    assert_ne!(one, recorded);
    assert_ne!(one, other);
}

/// Random actions of a user. Returns the guest's answer, and how often it was stopped.
fn session(guest: &DebuggedGuest, seed: u64) -> (String, u32) {
    let mut draw = fastrand::Rng::with_seed(seed);
    let mut stopped = guest.stopped();
    let begin = WORKS.start + draw.u64(..WORKS.end - WORKS.start) - 40_000;
    stopped
        .stub
        .monitor(&format!("icount_stop {begin}"))
        .unwrap();
    let (mut stops, mut stop) = (1, stopped.stub.go());
    let (mut breakpoints, mut watchpoints) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..3 + draw.u64(..20) {
        let Ok(Stop { cpu, .. }) = stop else { break };
        match draw.u64(..7) {
            kind @ 0..=1 => {
                let any = usize::try_from(draw.u64(..guest.cpus as u64)).unwrap();
                for _ in 0..1 + draw.u64(..60) {
                    stop = stopped.stub.step(if kind == 0 { any } else { cpu });
                    stops += 1;
                    if stop.is_err() {
                        break;
                    }
                }
            }
            2 => {
                // Including addresses at which no instruction begins.
                let name = draw.choice(["mix", "tick", "work", "interrupt"]).unwrap();
                let at = guest.at(name) + draw.u64(..8);
                if breakpoints.insert(at) {
                    stopped.stub.set_breakpoint(at).unwrap();
                }
            }
            3 => {
                let at = guest.at(draw.choice(["number", "lock", "done"]).unwrap());
                if watchpoints.insert(at) {
                    stopped.stub.apply(&format!("Z2,{at:x},4")).unwrap();
                }
            }
            4 => {
                for at in std::mem::take(&mut breakpoints) {
                    stopped.stub.remove_breakpoint(at).unwrap();
                }
                for at in std::mem::take(&mut watchpoints) {
                    stopped.stub.apply(&format!("z2,{at:x},4")).unwrap();
                }
            }
            5 => {
                stopped.stub.read(guest.at("mix"), 5000).unwrap();
                let later = stopped.number("now ") + 1 + draw.u64(..3000);
                stopped
                    .stub
                    .monitor(&format!("icount_stop {later}"))
                    .unwrap();
            }
            _ => {
                for _ in 0..1 + draw.u64(..10) {
                    stop = stopped.stub.go();
                    stops += 1;
                    if stop.is_err() {
                        break;
                    }
                }
            }
        }
    }
    (stopped.end(), stops)
}

fn sessions_change_nothing(cpus: usize) {
    let Some(guest) = DebuggedGuest::new(cpus) else {
        return;
    };
    let want = guest.undisturbed();
    let mut all = 0;
    for seed in 0..20 {
        let (answer, stops) = session(&guest, seed);
        assert_eq!(answer, want, "{cpus} CPUs, seed {seed}");
        all += stops;
    }
    assert!(all > 500, "{all} stops in all");
}

#[test]
fn looking_changes_nothing_with_one_cpu() {
    sessions_change_nothing(1);
}

/// A translated block is cut where a debugger stops; with several CPUs, that must not
/// change when a turn ends.
#[test]
fn looking_changes_nothing_with_several_cpus() {
    sessions_change_nothing(2);
    sessions_change_nothing(4);
}
