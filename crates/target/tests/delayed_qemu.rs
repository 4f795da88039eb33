//! Tests of delays with the QEMU for exact machines: a delayed CPU executes nothing while others
//! continue, and drawn delays can be repeated.

#![allow(clippy::unwrap_used)] // A test may fail.

use std::fs;

use assize_job::Delay;

use crate::own_qemu::{guest, machine, ours};

/// An instant during the work of the guest `debug.c`, in ns.
const WORKS: u64 = 6_040_000;

/// The guest `debug.c`, whose answer changes with every instruction that is executed at another
/// time.
struct Delayed {
    qemu: assize_target::qemu_build::QemuFiles,
    place: tempfile::TempDir,
    guest: std::path::PathBuf,
}

impl Delayed {
    fn new() -> Option<Delayed> {
        let qemu = ours()?;
        let place = tempfile::tempdir().unwrap();
        Some(Delayed {
            qemu,
            guest: guest(place.path(), "debug.c"),
            place,
        })
    }

    /// Runs the guest on two CPUs with further options of `-icount`. Returns its exit status, its
    /// answer, the delays that took place, and the output of QEMU.
    fn run(&self, words: &str) -> (Option<i32>, String, Vec<Delay>, String) {
        let at = |name: &str| self.place.path().join(name);
        let _ = fs::remove_file(at("answer"));
        let mut command = machine(&self.qemu, &self.guest);
        command.args(["-smp", "2", "-icount"]);
        command.arg(format!("delayed={}{words}", at("delayed").display()));
        command.args([
            "-device",
            "isa-debugcon,chardev=answer,iobase=0xe9",
            "-chardev",
        ]);
        command.arg(format!("file,id=answer,path={}", at("answer").display()));
        let done = command.output().unwrap();
        let made = fs::read_to_string(at("delayed")).unwrap_or_default();
        (
            done.status.code(),
            fs::read_to_string(at("answer")).unwrap_or_default(),
            made.lines()
                .map(|line| Delay::parse(line).unwrap().0)
                .collect(),
            String::from_utf8(done.stderr).unwrap(),
        )
    }

    fn listed(&self, delays: &[Delay]) -> (Option<i32>, String, Vec<Delay>, String) {
        self.seeded(delays, 0)
    }

    fn seeded(&self, delays: &[Delay], seed: u64) -> (Option<i32>, String, Vec<Delay>, String) {
        let path = self.place.path().join("delays");
        let lines: String = delays.iter().map(|delay| format!("{delay}\n")).collect();
        fs::write(&path, lines).unwrap();
        self.run(&format!(",delays={},seed={seed}", path.display()))
    }
}

#[test]
fn delays_that_were_drawn_can_be_listed_and_give_the_same() {
    let Some(guest) = Delayed::new() else {
        return;
    };
    let (status, plain, made, _) = guest.run("");
    assert_eq!((status, made), (Some(1), Vec::new()));
    assert_eq!(guest.listed(&[]).1, plain, "an empty list");
    let lengths = ",delay-least=100,delay-most=20000,delay-from=6000000";
    for (seed, draw) in [
        (0, ",delay-every=5000"),
        (0, ",delay-locked=20"),
        (7, ",delay-every=3000,delay-locked=50,seed=7"),
    ] {
        let (_, drawn, mut made, _) = guest.run(&format!("{draw}{lengths}"));
        assert!(made.len() > 5 && drawn != plain, "{draw}: {}", made.len());
        assert!(made.iter().any(|one| one.cpu == 1), "{draw}");
        assert!(
            made.iter()
                .all(|one| (100..=20_000).contains(&one.length_ns))
        );
        assert_eq!(
            guest.run(&format!("{draw}{lengths}")).1,
            drawn,
            "{draw}, again"
        );
        made.sort_by_key(|one| (one.at_ns, one.cpu));
        let (_, again, listed, _) = guest.seeded(&made, seed);
        assert_eq!(again, drawn, "{draw}, listed");
        assert_eq!(listed.len(), made.len(), "{draw}");
        made.remove(0);
        let (_, without, ..) = guest.seeded(&made, seed);
        assert_ne!(without, drawn, "{draw}, without the first");
    }
}

/// The answer is 30 numbers, each put out when the first CPU has the lock.
#[test]
fn what_a_delay_changes_lies_behind_it() {
    let Some(guest) = Delayed::new() else {
        return;
    };
    let (_, plain, ..) = guest.run("");
    let delay = Delay {
        cpu: 1,
        at_ns: WORKS,
        length_ns: 1000,
    };
    let (_, delayed, made, _) = guest.listed(&[delay]);
    assert_eq!(made, [delay]);
    let both = || plain.lines().zip(delayed.lines());
    let same = both().take_while(|(one, other)| one == other).count();
    assert!(0 < same && same < plain.lines().count(), "{plain}{delayed}");
    let late = Delay {
        at_ns: 1 << 40,
        ..delay
    };
    assert_eq!(guest.listed(&[late]).1, plain, "behind the end");
}

#[test]
fn a_list_with_a_mistake_is_refused() {
    let Some(guest) = Delayed::new() else {
        return;
    };
    let delay = |cpu, at_ns, length_ns| Delay {
        cpu,
        at_ns,
        length_ns,
    };
    for (wrong, why) in [
        (
            vec![delay(64, 1, 1)],
            "not a CPU, an instant and a length: 64 1 1",
        ),
        (
            vec![delay(0, 1, 0)],
            "not a CPU, an instant and a length: 0 1 0",
        ),
        (
            vec![delay(1, 5, 1), delay(1, 4, 1)],
            "CPU 1 are not in order",
        ),
    ] {
        let (status, _, _, printed) = guest.listed(&wrong);
        assert!(status == Some(1) && printed.contains(why), "{printed}");
    }
    let both = guest.run(",delays=/dev/null,delay-every=5");
    assert!(both.3.contains("either listed or drawn"), "{}", both.3);
    let length = guest.run(",delay-every=5,delay-least=7,delay-most=6");
    assert!(
        length.3.contains("delay-least is more than"),
        "{}",
        length.3
    );
    let missing = guest.run(",delays=/nowhere");
    assert!(missing.3.contains("cannot read /nowhere"), "{}", missing.3);
}
