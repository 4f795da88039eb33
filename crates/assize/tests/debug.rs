//! `assize debug` with a real gdb: the run stops at a planted stall, reading changes nothing, and
//! runs that cannot be debugged are refused.
//!
//! `ASSIZE_DEBUG=0..67,8` executes 67 random scripts on each number of CPUs, every other one next to
//! 8 busy loops.

use std::env;
use std::fs;
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::common::{Cache, Outcome, assize, command, errors, printed, refusal, script};

crate::common::tests! {
    needs ["agent", "QEMU", "kernel debian:6.12", "modules for debian:6.12", "gdb"];
    the_worst_sample_is_the_planted_stall = stalls,
    looking_leaves_the_answer_as_recorded = scripts,
    steps_back_and_forwards_end_where_they_began = back_and_forth,
    the_last_writer_of_a_word_is_the_planted_one = writers,
    nothing_comes_before_the_begin = begin,
    going_back_ends_where_the_run_cannot_be_repeated = cannot_go_back,
    a_write_makes_it_another_run_and_is_reported = writes,
    a_crash_is_stopped_where_the_kernel_panics = crash,
    what_cannot_be_debugged_is_refused = refused,
    a_debugger_that_ends_early_leaves_nothing_behind = ends_early,
}

const UNCHANGED: &str = "run 0: the result is as recorded\n";

/// An experiment with one run on this many CPUs, the last of which is stalled.
fn bundle(here: &Path, cpus: usize) -> String {
    bundle_of(here, cpus, 1500)
}

/// The same with this many round trips of its workload.
fn bundle_of(here: &Path, cpus: usize, loops: u32) -> String {
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
loops = {loops}
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

/// The output of gdb; the run must have given the recorded result.
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
        // Another CPU may reach the time first; this one is then less than 200 instructions behind.
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

/// A random gdb script that reads memory, steps and stops.
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
        let line = match draw.u64(..13) {
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
            8 => format!("reverse-stepi {}", 1 + draw.u64(..3)),
            9 | 10 => "reverse-continue".into(),
            11 => "reverse-finish".into(),
            _ => "continue".into(),
        };
        script.push_str(&line);
        script.push('\n');
    }
    script
}

fn scripts() -> Outcome {
    let wanted = env::var("ASSIZE_DEBUG").unwrap_or_else(|_| "0..3,0".into());
    let (seeds, loops) = wanted
        .split_once(',')
        .ok_or("ASSIZE_DEBUG=FROM..TO,LOOPS")?;
    let (from, to) = seeds
        .split_once("..")
        .ok_or("ASSIZE_DEBUG=FROM..TO,LOOPS")?;
    let (from, to, loops): (u64, u64, usize) = (from.parse()?, to.parse()?, loops.parse()?);
    let place = tempfile::tempdir()?;
    let bundles = [1, 2, 4].map(|cpus| (cpus, bundle(place.path(), cpus)));
    for seed in from..to {
        let at = ["worst", "__schedule:9", "sample:round_trip:50"][(seed % 3) as usize];
        let loops = if seed % 2 == 0 { 0 } else { loops };
        for (cpus, bundle) in &bundles {
            eprintln!("{cpus} CPUs, seed {seed}, {at}, beside {loops} loops");
            let script = drawn(seed, *cpus);
            let done = beside(loops, || debug(place.path(), bundle, at, &script));
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

/// Runs `act` next to this many busy loops.
fn beside<T>(loops: usize, act: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..loops {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let done = act();
        is_over.store(true, Ordering::Relaxed);
        done
    })
}

/// Compares registers of the selected CPU, which do not change while another CPU executes.
fn back_and_forth() -> Outcome {
    let place = tempfile::tempdir()?;
    for cpus in [1, 2, 4] {
        let bundle = bundle(place.path(), cpus);
        for at in ["worst", "pipe_read:40", "__schedule:30"] {
            let script = "info registers\nreverse-stepi 12\nstepi 12\ninfo registers\n\
                          stepi 12\nreverse-stepi 12\ninfo registers\n";
            let done = debug(place.path(), &bundle, at, script);
            let seen = undisturbed(&done);
            if let Some((function, _)) = at.split_once(':') {
                let first = seen.lines().next().unwrap_or_default();
                assert!(first.contains(function), "{cpus} CPUs, {at}: {seen}");
            }
            let registers: Vec<&str> = seen.split("rax ").skip(1).collect();
            let registers: Vec<&str> = registers
                .iter()
                .filter_map(|all| Some(all.split_once("cr8 ")?.0))
                .collect();
            let [first, again, back] = registers[..] else {
                panic!("{cpus} CPUs, {at}: {seen}");
            };
            assert!(first == again && first == back, "{cpus} CPUs, {at}: {seen}");
        }
    }
    Ok(())
}

/// Three threads take turns in writing their number to a word of the kernel.
fn writers_bundle(here: &Path, cpus: usize) -> String {
    let one = |number: u32| {
        format!(
            "(echo writer{number} > /proc/self/comm; i=0; while [ $i -lt 60 ]; do \
             echo {number} > /proc/sys/kernel/panic; i=$((i+1)); done) & "
        )
    };
    let text = format!(
        r#"title = "Writers"
cpus = {cpus}
runs = 1
[factors.nothing.plain]
[workloads.writers]
kind = "command"
argv = ["/bin/sh", "-c", "{}{}{}wait"]
"#,
        one(1),
        one(2),
        one(3)
    );
    let name = format!("writers{cpus}.toml");
    fs::write(here.join(&name), text).unwrap();
    let out = format!("writers{cpus}.bundle");
    printed(here, &["run", "--quiet", "--out", &out, &name]);
    out
}

/// The number of the thread that wrote last: according to the word, and according to reverse
/// execution.
fn last_writer(here: &Path, bundle: &str, call: u64, steps: u64) -> (String, String) {
    let script = format!(
        "set pagination off\nstepi {steps}\np *(int *)&panic_timeout\n\
         watch *(int *)&panic_timeout\nreverse-continue\ninfo symbol $pc\n\
         p (*(struct task_struct **)($gs_base + (long)&pcpu_hot))->comm\n"
    );
    let at = format!("proc_dointvec:{call}");
    let done = debug(here, bundle, &at, &script);
    let seen = undisturbed(&done);
    let part = |before: &str, end: char| {
        let found = seen
            .split_once(before)
            .and_then(|(_, it)| it.split_once(end));
        found
            .unwrap_or_else(|| panic!("{bundle}, {at}: {seen}"))
            .0
            .to_owned()
    };
    (part("$1 = ", '\n'), part("\"writer", '\\'))
}

fn writers() -> Outcome {
    let place = tempfile::tempdir()?;
    let mut draw = fastrand::Rng::with_seed(1);
    for cpus in [1, 2, 4] {
        let bundle = writers_bundle(place.path(), cpus);
        for _ in 0..2 {
            let (call, steps) = (draw.u64(20..170), draw.u64(1..2000));
            let (word, writer) = last_writer(place.path(), &bundle, call, steps);
            assert_eq!(word, writer, "{cpus} CPUs, call {call}, {steps} steps");
        }
    }
    Ok(())
}

fn begin() -> Outcome {
    let place = tempfile::tempdir()?;
    let bundle = bundle(place.path(), 2);
    let script = "info registers rip\nreverse-stepi\ntbreak __schedule\ncontinue\nstepi 30\n\
                  reverse-continue\ninfo registers rip\n";
    fs::write(place.path().join("script"), script)?;
    let words = ["debug", &bundle, "0", "--", "-batch", "-x", "script"];
    let done = assize(place.path(), &words);
    let seen = undisturbed(&done);
    assert_eq!(
        seen.matches("No more reverse-execution history").count(),
        2,
        "{seen}"
    );
    let counters: Vec<&str> = seen
        .lines()
        .filter(|line| line.starts_with("rip"))
        .collect();
    assert!(counters.len() == 2 && counters[0] == counters[1], "{seen}");
    Ok(())
}

fn cannot_go_back() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    let bundle = bundle(here, 2);
    // The written value is lost, and the run is the recorded one again.
    let script = "set var *(long *)&jiffies = 7\nstepi 10\nreverse-stepi\np *(long *)&jiffies\n";
    let done = debug(here, &bundle, "worst", script);
    let (seen, said) = (undisturbed(&done), errors(&done));
    assert!(
        said.contains("What was written to memory or registers is lost"),
        "{seen}{said}"
    );
    assert!(!seen.contains("$1 = 7\n"), "{seen}");
    // assize does not notice that QEMU's monitor changed the run.
    let script = "monitor icount_seed 7\ntbreak __schedule\ncontinue\nreverse-stepi\n";
    let done = debug(here, &bundle, "worst", script);
    let said = format!("{}{}", text(&done), errors(&done));
    assert!(said.contains("something has changed the run"), "{said}");
    // Ctrl-C during reverse execution, and a machine that dies then.
    let cache = Cache::new();
    // On a fast host, reverse execution may end before the signal arrives.
    let pauses = ["0.7", "0.3", "0.1", "0.05"];
    for (kill, why) in [
        ("kill -INT $PPID", ["SIGINT", "Quit"]),
        // The machine's memory may be being read at that moment.
        (
            "kill -KILL $(pgrep -n qemu -P $(ps -o ppid= -p $PPID))",
            ["cannot go back", "the machine has ended"],
        ),
    ] {
        for pause in pauses {
            let script = format!(
                "shell (sleep {pause}; {kill}) &\nbreak panic\nreverse-continue\ninfo clock\n"
            );
            fs::write(here.join("script"), script)?;
            let words = ["debug", &bundle, "0", "--at", "worst:end", "--"];
            let words = [&words[..], &["-batch", "-x", "script"]].concat();
            let mut debug = command(here, &words);
            debug.env("ASSIZE_CACHE", cache.path());
            let done = debug.output()?;
            let said = format!("{}{}", text(&done), errors(&done));
            assert!(text(&done).ends_with(UNCHANGED), "{kill}: {said}");
            cache.is_idle();
            if !["No such process", "usage"]
                .iter()
                .any(|late| said.contains(late))
            {
                assert!(why.iter().any(|why| said.contains(why)), "{kill}: {said}");
                break;
            }
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
    assert!(text(&done).contains("not as recorded"), "{}", text(&done));
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

fn refused() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    let bundle = bundle(here, 1);
    let taken = TcpListener::bind("127.0.0.1:0")?;
    let port = taken.local_addr()?.port().to_string();
    for (words, why) in [
        (&["0", "--at", "12xs"][..], "is not a time"),
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
        let said = refusal(here, "debug", &[&[bundle.as_str()], words].concat());
        assert!(said.contains(why), "{words:?}: {said}");
    }
    let file = here.join(&bundle).join("runs/0000.json");
    let recorded = fs::read_to_string(&file)?;
    for (fact, value) in [("qemu", "9.9.9"), ("kernel_digest", "1234")] {
        let mut run: Value = serde_json::from_str(&recorded)?;
        assert!(run["environment"][fact].is_string(), "{recorded}");
        run["environment"][fact] = value.into();
        fs::write(&file, run.to_string())?;
        let said = refusal(here, "debug", &[&bundle, "0"]);
        assert!(said.contains(&format!("and was {value}")), "{said}");
    }
    let host = "title = \"Host\"\nruns = 1\n[factors.nothing.plain]\n[workloads.w]\nkind = \"ping-pong\"\nloops = 10\n";
    fs::write(here.join("host.toml"), host)?;
    printed(here, &["run", "--quiet", "--target", "host", "host.toml"]);
    let said = refusal(here, "debug", &["host.bundle", "0"]);
    assert!(said.contains("no run can be repeated"), "{said}");
    Ok(())
}

fn ends_early() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    // No signal may come after the end of the run.
    let bundle = bundle_of(here, 2, 20_000);
    let cache = Cache::new();
    let start = |words: &[&str]| -> Command {
        let mut debug = command(here, &[&["debug", &bundle, "0"], words].concat());
        debug.env("ASSIZE_CACHE", cache.path());
        debug.stderr(Stdio::piped()).stdout(Stdio::piped());
        debug
    };
    // gdb is killed, and the run continues to its end.
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
    // assize gets a signal while waiting for a debugger, and on the way to a place.
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
        // Before there is anything to clean up, a signal ends the command directly.
        let ended = done
            .status
            .code()
            .or(done.status.signal().map(|one| 128 + one));
        assert_eq!(ended, Some(130), "{words:?}: {}", errors(&done));
        cache.is_idle();
    }
    Ok(())
}
