//! `assize debug` with a real gdb: a planted stall is where the run stops, looking changes nothing,
//! and what cannot be debugged is refused.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::common::{Cache, Outcome, assize, command, errors, printed, script};

crate::common::tests! {
    needs ["agent", "QEMU", "kernel debian:6.12", "modules for debian:6.12", "gdb"];
    the_worst_sample_is_the_planted_stall = stalls,
    looking_leaves_the_answer_as_recorded = scripts,
    a_write_makes_it_another_run_and_is_reported = writes,
    a_crash_is_stopped_where_the_kernel_panics = crash,
    what_cannot_be_debugged_is_refused = refused,
    a_debugger_that_ends_early_leaves_nothing_behind = ends_early,
}

const UNCHANGED: &str = "run 0: the answer is the recorded one\n";

/// An experiment with one run on this many CPUs, the last of which is stalled.
fn bundle(here: &Path, cpus: usize) -> String {
    let cpu = cpus - 1;
    let text = format!(
        r#"title = "Stalls"
cpus = {cpus}
runs = 1
samples = true
instruments = ["planted-stalls"]
primary = [{{ metric = "planted_stall_ns_max", better = "lower" }}]
stalls = {{ kind = "irqs-off", length = ["2us", "31us"], period = "1ms", jitter = "800us", cpu = {cpu} }}
[factors.nothing.plain]
[workloads.trips]
kind = "ping-pong"
loops = 1500
background = ["hogs"]
[background.hogs]
kind = "hogs"
threads = 1
"#
    );
    let name = format!("{cpus}.toml");
    fs::write(here.join(&name), text).unwrap();
    let out = format!("{cpus}.bundle");
    printed(here, &["run", "--quiet", "--out", &out, &name]);
    out
}

/// Debugs run 0 of a bundle with a gdb that executes these commands.
fn debug(here: &Path, bundle: &str, at: &str, commands: &str) -> Output {
    fs::write(here.join("script"), commands).unwrap();
    let words = [
        "debug", bundle, "0", "--at", at, "--", "-batch", "-x", "script",
    ];
    assize(here, &words)
}

fn text(done: &Output) -> String {
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// The lines of gdb that this debugging printed; the answer must be the recorded one.
fn undisturbed(done: &Output) -> String {
    let (printed, said) = (text(done), errors(done));
    assert_eq!(done.status.code(), Some(0), "{printed}{said}");
    let before = printed.strip_suffix(UNCHANGED);
    before.unwrap_or_else(|| panic!("{printed}{said}")).into()
}

fn stalls() -> Outcome {
    let place = tempfile::tempdir()?;
    for cpus in [1, 2, 4] {
        let bundle = bundle(place.path(), cpus);
        // Another CPU may come to the time first; this one is less than 200 instructions behind.
        for (at, steps, stalled) in [
            ("worst", 200, true),
            ("worst:end", 0, true),
            ("worst:end", 1000, false),
        ] {
            let show = format!("thread {cpus}\nstepi {steps}\ninfo symbol $pc\ninfo clock\n");
            let done = debug(place.path(), &bundle, at, &show);
            let seen = undisturbed(&done);
            let inside = seen
                .lines()
                .any(|line| line.starts_with("irqs_off_stall + "));
            assert_eq!(
                inside,
                stalled,
                "{cpus} CPUs, {at}: {seen}{}",
                errors(&done)
            );
        }
    }
    Ok(())
}

/// A script of gdb that looks, steps and stops, drawn from a seed.
fn drawn(seed: u64, cpus: usize) -> String {
    let mut draw = fastrand::Rng::with_seed(seed);
    let functions = [
        "__schedule",
        "try_to_wake_up",
        "hrtimer_interrupt",
        "ktime_get",
        "pipe_read",
    ];
    let mut script = String::from("set pagination off\n");
    for _ in 0..4 + draw.u64(..12) {
        let line = match draw.u64(..9) {
            0 => format!("thread {}", 1 + draw.u64(..cpus as u64)),
            1 => format!("stepi {}", 1 + draw.u64(..300)),
            2 => format!(
                "break *{}+{}",
                draw.choice(functions).unwrap(),
                draw.u64(..6)
            ),
            3 => format!("tbreak {}", draw.choice(functions).unwrap()),
            4 => "watch *(int *)&jiffies".into(),
            5 => "delete".into(),
            6 => "info registers\nx/40gx $sp\nx/20i $pc\nbt 5\ninfo clock".into(),
            7 => "x/s *(char **)&saved_command_line\np *(long *)&jiffies".into(),
            _ => "continue".into(),
        };
        script.push_str(&line);
        script.push('\n');
    }
    script
}

fn scripts() -> Outcome {
    let place = tempfile::tempdir()?;
    for cpus in [1, 2, 4] {
        let bundle = bundle(place.path(), cpus);
        for (seed, at) in (0..).zip(["worst", "__schedule:9", "sample:round_trip:50"]) {
            let script = drawn(seed, cpus);
            let done = debug(place.path(), &bundle, at, &script);
            assert!(
                text(&done).ends_with(UNCHANGED),
                "{cpus} CPUs, seed {seed}: {}",
                errors(&done)
            );
            assert_eq!(done.status.code(), Some(0));
        }
    }
    Ok(())
}

fn writes() -> Outcome {
    let place = tempfile::tempdir()?;
    let bundle = bundle(place.path(), 1);
    for write in [
        "set var *(long *)&jiffies = *(long *)&jiffies",
        "set var $xmm0.v4_int32[0] = 77",
    ] {
        let done = debug(place.path(), &bundle, "worst", write);
        assert_eq!(done.status.code(), Some(1), "{write}: {}", errors(&done));
        let said = text(&done);
        assert!(said.contains("memory or registers were written"), "{said}");
    }
    let done = debug(place.path(), &bundle, "worst", "kill");
    assert_eq!(done.status.code(), Some(1), "{}", errors(&done));
    assert!(
        text(&done).contains("not the recorded one"),
        "{}",
        text(&done)
    );
    Ok(())
}

fn crash() -> Outcome {
    let place = tempfile::tempdir()?;
    let text = r#"title = "Crash"
runs = 1
[factors.nothing.plain]
[workloads.crash]
kind = "command"
argv = ["/bin/sh", "-c", "echo c > /proc/sysrq-trigger"]
"#;
    fs::write(place.path().join("crash.toml"), text)?;
    let done = assize(place.path(), &["run", "--quiet", "crash.toml"]);
    assert!(
        errors(&done).contains("sysrq triggered crash"),
        "{}",
        errors(&done)
    );
    let done = debug(
        place.path(),
        "crash.bundle",
        "crash",
        "info symbol $pc\nbt 3\n",
    );
    let seen = undisturbed(&done);
    assert!(seen.contains("panic in section"), "{seen}");
    assert!(seen.contains("in sysrq_handle_crash"), "{seen}");
    Ok(())
}

/// Runs `assize debug`, which must refuse, and returns its error.
fn refusal(here: &Path, words: &[&str]) -> String {
    let done = assize(here, &[&["debug"], words].concat());
    assert_eq!(done.status.code(), Some(2), "{}", errors(&done));
    let said = errors(&done);
    assert_eq!(said.lines().count(), 1, "{said}");
    said
}

fn refused() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    let bundle = bundle(here, 1);
    let taken = TcpListener::bind("127.0.0.1:0")?;
    let port = taken.local_addr()?.port().to_string();
    for (words, why) in [
        (&["0", "--at", "12xs"][..], "is no time"),
        (
            &["0", "--at", "no_such_function"],
            "no function no_such_function",
        ),
        (&["0", "--at", "__schedule:99999999"], "ended before call"),
        (&["0", "--at", "99s"], "ended before 99000"),
        (&["0", "--at", "1ns"], "had not begun"),
        (&["0", "--at", "crash"], "did not oops"),
        (
            &["0", "--at", "sample:round_trip:1501"],
            "samples 1 to 1500",
        ),
        (&["0", "--at", "job:1"], "kernel-events"),
        (
            &["0", "--at", "worst", "--metric", "cpu_time"],
            "no samples of cpu_time",
        ),
        (&["0", "--metric", "round_trip"], "add --at worst"),
        (&["7"], "no run 7"),
        (&["0", "--gdb", "/no/such/gdb"], "apt-get install gdb"),
        (&["0", "--gdb", "false"], "apt-get install gdb"),
        (&["0", "--port", &port], "choose another"),
    ] {
        let said = refusal(here, &[&[bundle.as_str()], words].concat());
        assert!(said.contains(why), "{words:?}: {said}");
    }
    let file = here.join(&bundle).join("runs/0000.json");
    let recorded = fs::read_to_string(&file)?;
    for (fact, value) in [("qemu", "9.9.9"), ("kernel_digest", "1234")] {
        let mut run: Value = serde_json::from_str(&recorded)?;
        assert!(run["environment"][fact].is_string(), "{recorded}");
        run["environment"][fact] = value.into();
        fs::write(&file, run.to_string())?;
        let said = refusal(here, &[&bundle, "0"]);
        assert!(said.contains(&format!("and was {value}")), "{said}");
    }
    let host = "title = \"Host\"\nruns = 1\n[factors.nothing.plain]\n[workloads.w]\nkind = \"ping-pong\"\nloops = 10\n";
    fs::write(here.join("host.toml"), host)?;
    printed(here, &["run", "--quiet", "--target", "host", "host.toml"]);
    let said = refusal(here, &["host.bundle", "0"]);
    assert!(said.contains("no run can be repeated"), "{said}");
    Ok(())
}

fn ends_early() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    let bundle = bundle(here, 2);
    let cache = Cache::new();
    let start = |words: &[&str]| -> Command {
        let mut debug = command(here, &[&["debug", &bundle, "0"], words].concat());
        debug.env("ASSIZE_CACHE", cache.path());
        debug.stderr(Stdio::piped()).stdout(Stdio::piped());
        debug
    };
    // gdb is killed: the run goes on to its end without it.
    let killed = [
        "--at",
        "worst",
        "--",
        "-batch",
        "-ex",
        "break __schedule",
        "-ex",
        "shell kill -9 $PPID",
    ];
    let done = start(&killed).output()?;
    assert!(text(&done).ends_with(UNCHANGED), "{}", errors(&done));
    // gdb crashes at once.
    script(&here.join("gdb"), "[ $1 = --version ] || kill -SEGV $$");
    let done = start(&["--gdb", "./gdb"]).output()?;
    assert!(text(&done).ends_with(UNCHANGED), "{}", errors(&done));
    // assize is asked to end while a debugger is awaited, and on the way to a place.
    let port = TcpListener::bind("127.0.0.1:0")?
        .local_addr()?
        .port()
        .to_string();
    let awaited = Duration::from_secs(2);
    for (signal, pause, words) in [
        (Signal::INT, awaited, &["--port", &port][..]),
        (
            Signal::TERM,
            awaited,
            &["--", "-batch", "-ex", "shell sleep 60"],
        ),
        (
            Signal::INT,
            Duration::ZERO,
            &["--at", "ktime_get:100000000"],
        ),
    ] {
        let running = start(words).spawn()?;
        while !cache
            .processes()
            .iter()
            .any(|(name, _)| name.starts_with("qemu"))
        {
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(pause);
        kill_process(Pid::from_raw(i32::try_from(running.id())?).unwrap(), signal)?;
        let done = running.wait_with_output()?;
        assert_eq!(
            done.status.code(),
            Some(130),
            "{words:?}: {}",
            errors(&done)
        );
        cache.is_idle();
    }
    Ok(())
}
