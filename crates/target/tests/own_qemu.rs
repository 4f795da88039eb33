//! The QEMU of exact machines, where `cargo xtask lab` has built it.

#![allow(clippy::unwrap_used, clippy::print_stderr)] // A test may fail, and skip.

use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

use assize_target::kernels::Kernels;
use assize_target::qemu::Qemu;
use assize_target::qemu_build;

#[test]
fn the_qemu_that_is_built_says_what_it_is() {
    let root = Kernels::default_root().unwrap();
    let Some(stored) = qemu_build::stored(&root) else {
        let missing = qemu_build::missing().join(" ");
        eprintln!("skipped: no QEMU of ours is built; cargo xtask lab ({missing})");
        return;
    };
    let asked = Qemu::at(stored.binary.clone(), stored.data_dirs.clone()).unwrap();
    assert_eq!(asked.version, stored.version);
    assert!(asked.parallel);
    assert!(asked.fits(4).is_ok());
    if std::env::var_os("ASSIZE_QEMU").is_none() {
        assert_eq!(Qemu::find(&root).unwrap(), asked);
    }
}

/// Three executions of a guest that lets the size of the TLB show, two of them
/// while the host stops QEMU for longer than the window in which a QEMU without
/// patch 0007 looks how much of its TLB was used.
#[test]
fn the_hosts_time_does_not_size_tlbs() {
    let root = Kernels::default_root().unwrap();
    let Some(qemu) = qemu_build::stored(&root) else {
        eprintln!("skipped: no QEMU of ours is built; cargo xtask lab");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let guest = directory.path().join("tlb");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../qemu/test/tlb.c");
    let flags = "-m32 -O2 -Wall -Werror -ffreestanding -fno-pie -no-pie -fno-stack-protector \
                 -fno-asynchronous-unwind-tables -nostdlib -static \
                 -Wl,-Ttext-segment=0x100000 -Wl,--build-id=none -o";
    let mut gcc = Command::new("gcc");
    gcc.args(flags.split_whitespace()).arg(&guest).arg(source);
    assert!(gcc.status().unwrap().success());
    let machine = "-M microvm,rtc=on -cpu qemu64,+arat -icount shift=0,sleep=off,parallel=on \
                   -m 256 -nodefaults -no-user-config -display none -no-reboot \
                   -device isa-debugcon,chardev=answer,iobase=0xe9 \
                   -device isa-debug-exit,iobase=0xf4,iosize=4";
    let answer = |number: u64| {
        let place = directory.path().join(format!("answer{number}"));
        let mut command = Command::new(&qemu.binary);
        for data in &qemu.data_dirs {
            command.arg("-L").arg(data);
        }
        command.args(machine.split_whitespace());
        command.arg("-kernel").arg(&guest).arg("-chardev");
        command.arg(format!("file,id=answer,path={}", place.display()));
        let mut child = command.spawn().unwrap();
        for _ in 0..4 * number {
            stop_for(&child, Duration::from_millis(120));
            sleep(Duration::from_millis(40 * number));
        }
        // isa-debug-exit makes 1 of the 0 that the guest writes.
        assert_eq!(child.wait().unwrap().code(), Some(1));
        fs::read_to_string(place).unwrap()
    };
    let first = answer(0);
    // A TLB that kept all pages, and one that displaced some or all of them.
    assert!(first.lines().any(|line| line == "0"), "{first}");
    assert!(first.lines().any(|line| line != "0"), "{first}");
    for number in 1..3 {
        assert_eq!(answer(number), first, "execution {number}");
    }
}

fn stop_for(child: &Child, time: Duration) {
    let pid = rustix::process::Pid::from_child(child);
    // One that has ended since is not stopped, and that is no matter here.
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::STOP);
    sleep(time);
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::CONT);
}
