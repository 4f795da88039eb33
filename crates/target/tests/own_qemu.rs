//! Tests of the QEMU for exact machines, if `cargo xtask lab` has built it.

#![allow(clippy::unwrap_used, clippy::print_stderr)] // A test may fail, and skip.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

use assize_target::kernels::Kernels;
use assize_target::qemu::Qemu;
use assize_target::qemu_build;
use assize_target::qemu_build::QemuFiles;

#[test]
fn the_qemu_that_is_built_says_what_it_is() {
    let Some(stored) = ours() else {
        return;
    };
    let asked = Qemu::at(stored.binary.clone(), vec![stored.data.clone()]).unwrap();
    assert_eq!(asked.version, stored.version);
    assert!(asked.parallel);
    assert!(asked.fits(4).is_ok());
    if std::env::var_os("ASSIZE_QEMU").is_none() {
        let root = Kernels::default_root().unwrap();
        assert_eq!(Qemu::find(&root).unwrap(), asked);
    }
}

/// The QEMU that assize built; `None`, with a message, if there is none.
pub(crate) fn ours() -> Option<QemuFiles> {
    let stored = qemu_build::stored(&Kernels::default_root().unwrap());
    if stored.is_none() {
        let missing = qemu_build::missing().join(" ");
        crate::support::skip(&format!(
            "no QEMU of ours is built; cargo xtask lab ({missing})"
        ));
    }
    stored
}

/// Builds a guest without a kernel from its source in `qemu/test/`.
pub(crate) fn guest(directory: &Path, source: &str) -> PathBuf {
    let guest = directory.join("guest");
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../qemu/test")
        .join(source);
    let flags = "-m32 -O2 -Wall -Werror -ffreestanding -fno-pie -no-pie -fno-stack-protector \
                 -fno-asynchronous-unwind-tables -mgeneral-regs-only -nostdlib -static \
                 -Wl,-Ttext-segment=0x100000 -Wl,--build-id=none -o";
    let mut gcc = Command::new("gcc");
    gcc.args(flags.split_whitespace()).arg(&guest).arg(source);
    assert!(gcc.status().unwrap().success());
    guest
}

/// A machine with this guest, which ends it by isa-debug-exit: writing 0 gives exit status
/// 1.
pub(crate) fn machine(qemu: &QemuFiles, guest: &Path) -> Command {
    let machine = "-M microvm,rtc=on -cpu qemu64,+arat -icount shift=0,sleep=off,parallel=on \
                   -m 256 -nodefaults -no-user-config -display none -no-reboot \
                   -device isa-debug-exit,iobase=0xf4,iosize=4";
    let mut command = Command::new(&qemu.binary);
    command.arg("-L").arg(&qemu.data);
    command.args(machine.split_whitespace());
    command.arg("-kernel").arg(guest);
    command
}

/// Three executions of a guest that makes the size of the TLB visible, two of them while
/// the host stops QEMU for longer than the window in which a QEMU without patch 0007 checks
/// how much of its TLB was used.
#[test]
fn the_hosts_time_does_not_size_tlbs() {
    let Some(qemu) = ours() else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let guest = guest(directory.path(), "tlb.c");
    let answer = |number: u64| {
        let place = directory.path().join(format!("answer{number}"));
        let mut command = machine(&qemu, &guest);
        command.args(["-device", "isa-debugcon,chardev=answer,iobase=0xe9"]);
        command.arg("-chardev");
        command.arg(format!("file,id=answer,path={}", place.display()));
        let mut child = command.spawn().unwrap();
        for _ in 0..4 * number {
            stop_for(&child, Duration::from_millis(120));
            sleep(Duration::from_millis(40 * number));
        }
        assert_eq!(child.wait().unwrap().code(), Some(1));
        fs::read_to_string(place).unwrap()
    };
    let first = answer(0);
    // One TLB kept all pages; another displaced some or all of them.
    assert!(first.lines().any(|line| line == "0"), "{first}");
    assert!(first.lines().any(|line| line != "0"), "{first}");
    for number in 1..3 {
        assert_eq!(answer(number), first, "execution {number}");
    }
}

/// How many guest instructions are translated at once, which determines the CPU time and
/// can be tested without a clock.
#[test]
fn blocks_are_short_where_turns_are_and_go_on_behind_a_pause_elsewhere() {
    let Some(qemu) = ours() else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let guest = guest(directory.path(), "blocks.S");
    let blocks = |cpus: &str| {
        let log = directory.path().join(format!("log{cpus}"));
        let mut command = machine(&qemu, &guest);
        command.args([
            "-smp",
            cpus,
            "-d",
            "op",
            "-dfilter",
            "0x100000..0x10ffff",
            "-D",
        ]);
        assert_eq!(command.arg(&log).status().unwrap().code(), Some(1));
        let log = fs::read_to_string(log).unwrap();
        // Each block begins with a title, each of its instructions with a rule.
        let blocks = log.split("OP").skip(1);
        Vec::from_iter(blocks.map(|block| block.matches(" ---- ").count()))
    };
    // 100 instructions, PAUSE, 100 more, and the three that end the machine. The guest may execute
    // some after these before the host ends it.
    assert_eq!(blocks("1")[..1], [204]);
    assert_eq!(blocks("2")[..8], [32, 32, 32, 5, 32, 32, 32, 7]);
}

fn stop_for(child: &Child, time: Duration) {
    let pid = rustix::process::Pid::from_child(child);
    // If it has ended since, nothing is stopped, which does not matter here.
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::STOP);
    sleep(time);
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::CONT);
}
