//! Tests with machines that are slow and machines that have stalled.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use assize_job::{PingPong, Workload, WorkloadKind};

use super::*;
use crate::kernels::Kernels;

/// The exact machine in a separate directory that shares the stored kernels; `None`, with a
/// message, if it is not available.
fn exact(place: &std::path::Path, options: Options) -> Option<Exact> {
    let root = Kernels::default_root().unwrap();
    let machine = Machine::default();
    let there = Kernels::new(root.clone())
        .resolve(&machine.kernel)
        .and_then(|_| Exact::new(root.clone(), options));
    match there {
        Ok(mut exact) => {
            std::os::unix::fs::symlink(root.join("kernels"), place.join("kernels")).unwrap();
            exact.stock = BootStock::new(place.to_owned(), agent::find_here().unwrap());
            exact.cache = Cache::new(place.join("runs"));
            Some(exact)
        }
        Err(error) => {
            eprintln!("skipped: {error}");
            None
        }
    }
}

fn order(words: &[&str], programs: &[&str]) -> Order {
    let ping_pong = PingPong {
        loops: 10,
        ..PingPong::default()
    };
    Order {
        machine: Machine {
            command_line: words.iter().map(ToString::to_string).collect(),
            ..Machine::default()
        },
        payload: Payload {
            programs: programs.iter().map(ToString::to_string).collect(),
            ..Payload::default()
        },
        job: Job {
            workload: Workload {
                name: "quick".into(),
                kind: WorkloadKind::PingPong(ping_pong),
            },
            timeout_ms: 10,
            ..Job::default()
        },
        ..Order::default()
    }
}

const FRESH: Options = Options {
    fresh: true,
    cold: false,
    unpinned: false,
};
const COLD: Options = Options {
    fresh: true,
    cold: true,
    unpinned: false,
};

/// Makes QEMU start through this script, in which `$QEMU` is the real binary.
fn by_script(exact: &mut Exact, place: &std::path::Path, script: &str) {
    let path = place.join("qemu");
    let real = exact.qemu.binary.display();
    fs::write(&path, format!("#!/bin/sh\nQEMU={real}\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    exact.qemu.binary = path;
}

fn answer(exact: &Exact, order: &Order) -> Vec<AgentMessage> {
    match exact.run(order, 0).unwrap().outcome {
        RunOutcome::Completed(records) => records,
        RunOutcome::Failed { failure, .. } => panic!("{failure}"),
    }
}

/// The failure reported for a kernel that boots but never becomes ready.
fn of_boot(words: &[&str], programs: &[&str]) -> Option<String> {
    let place = tempfile::tempdir().unwrap();
    let mut exact = exact(place.path(), FRESH)?;
    exact.boot = GuestLimits {
        guest: Some(Duration::from_secs(5)),
        look: Duration::from_secs(1),
    };
    let order = order(words, programs);
    Some(exact.prepare(&[order]).unwrap_err().why)
}

const PASSED: &str = " s of the guest's time have passed";

#[test]
fn a_job_without_a_timeout_may_take_for_ever() {
    let mut order = order(&[], &[]);
    assert!(patience(&order.job).guest.is_some());
    order.job.timeout_ms = 0;
    assert_eq!(patience(&order.job).guest, None);
}

#[test]
fn qemu_is_told_the_seed_of_a_run_but_not_while_it_makes_an_image() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    fs::write(at("qemu"), "#!/bin/sh\necho \"$@\" > arguments; exit 1\n").unwrap();
    fs::set_permissions(at("qemu"), fs::Permissions::from_mode(0o755)).unwrap();
    let qemu = Qemu {
        binary: at("qemu"),
        data: Vec::new(),
        version: "10.0.13".into(),
        parallel: true,
    };
    let machine = Machine::default();
    let nothing = at("nothing");
    let booted = BootSpec {
        root: place.path(),
        qemu: &qemu,
        machine: &machine,
        clock: Clock::Instructions,
        kernel: &nothing,
        initramfs: &nothing,
        cpu: None,
        limit: Duration::MAX,
        own: None,
        boot: BOOT,
        run: None,
        seed: 7,
        watch: None,
        turns: TurnOptions::default(),
    };
    for (makes_image, seed) in [(true, ",seed=0 "), (false, ",seed=7 ")] {
        let running = booted.start(&at("ram"), makes_image, b"", &[]).unwrap();
        assert_eq!(running.finish().unwrap().ended, None);
        let told = fs::read_to_string(at("arguments")).unwrap();
        assert!(told.contains(seed), "{told}");
    }
}

/// Tests that boot machines.
mod full {
    use super::*;

    #[test]
    fn a_host_that_stands_still_fails_no_run() {
        let place = tempfile::tempdir().unwrap();
        let Some(mut exact) = exact(place.path(), COLD) else {
            return;
        };
        let order = order(&[], &[]);
        let quick = answer(&exact, &order);
        let stops = "( sleep 0.5; kill -STOP $$; sleep 33; kill -CONT $$ ) & exec $QEMU \"$@\"";
        by_script(&mut exact, place.path(), stops);
        assert!(answer(&exact, &order) == quick);
    }

    #[test]
    fn a_slow_host_gives_the_same_answer() {
        let place = tempfile::tempdir().unwrap();
        let Some(mut exact) = exact(place.path(), FRESH) else {
            return;
        };
        let order = order(&[], &[]);
        let quick = answer(&exact, &order);
        fs::remove_dir_all(place.path().join("images")).unwrap();
        // Its guest time is checked all the time, too.
        exact.boot.look = Duration::from_millis(100);
        let slow = "( while sleep 0.1; kill -STOP $$; do sleep 0.05; kill -CONT $$; done ) \
                    2>/dev/null & exec $QEMU \"$@\"";
        by_script(&mut exact, place.path(), slow);
        assert!(answer(&exact, &order) == quick);
    }

    #[test]
    fn a_guest_that_spins_is_said_not_to_get_ready() {
        let spins = ["rdinit=/usr/bin/sh", "--", "-c", "\"while :; do :; done\""];
        let Some(why) = of_boot(&spins, &["sh"]) else {
            return;
        };
        assert!(
            why.starts_with("the agent did not get ready: ") && why.contains(PASSED),
            "{why}"
        );
    }

    #[test]
    fn a_guest_that_idles_is_said_not_to_get_ready() {
        let idles = ["rdinit=/usr/bin/sleep", "--", "1000000"];
        let Some(why) = of_boot(&idles, &["sleep"]) else {
            return;
        };
        assert!(why.contains(PASSED), "{why}");
    }

    #[test]
    fn every_step_is_told_before_the_first_run() {
        let place = tempfile::tempdir().unwrap();
        let Some(exact) = exact(place.path(), FRESH) else {
            return;
        };
        let two = Order {
            machine: Machine {
                memory_mib: 160,
                ..Machine::default()
            },
            ..order(&[], &[])
        };
        let orders = [order(&[], &[]), two];
        let told = |exact: &Exact| {
            let told = std::sync::Mutex::new(Vec::new());
            let tell = |step: PreparationStep| told.lock().unwrap().push(step.to_string());
            exact.prepare_telling(&orders, &tell).unwrap();
            told.into_inner().unwrap()
        };
        let mut first = told(&exact);
        // They boot in parallel if the host has enough CPUs.
        first[1..].sort_unstable();
        assert_eq!(
            first,
            [
                "packing the initramfs for debian:6.12",
                "booting debian:6.12, 1 of 2",
                "booting debian:6.12, 2 of 2",
            ]
        );
        // Nothing that exists already is built again.
        assert_eq!(told(&exact), [""; 0]);
    }
}
