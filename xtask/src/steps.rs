//! Steps that are all taken, whatever becomes of them, and counted.

use std::env;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use crate::command::command;
use crate::cpu_time::of_children;
use crate::{Error, agent};

/// How a step ended that did not fail.
pub(crate) enum Done {
    /// It did its work.
    Ok,
    /// It could not be done here, and why.
    Skipped(String),
}

/// One step.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    /// A short name.
    pub(crate) name: &'static str,
    /// The work.
    pub(crate) run: fn() -> Result<Done, Error>,
}

enum Outcome {
    Ok,
    Skipped(String),
    Failed(Error),
}

/// How a step ended, and what it cost.
pub(crate) struct Taken {
    name: &'static str,
    outcome: Outcome,
    time: Duration,
    /// Seconds of CPU time of the programs it started.
    cpu: f64,
    /// Bytes that may still be written where builds are, when it ended.
    free: Option<u64>,
}

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (how, why) = match &self.outcome {
            Outcome::Ok => ("ok", ""),
            Outcome::Skipped(why) => ("SKIPPED", why.as_str()),
            // All of it stands where the step ended, and at the end of all.
            Outcome::Failed(why) => ("FAILED", why.lines().next().unwrap_or_default()),
        };
        let (name, seconds, cpu) = (self.name, self.time.as_secs_f64(), self.cpu);
        write!(f, "{name:<12} {how:<8} {seconds:6.1} s {cpu:6.1} s of CPU")?;
        if let Some(free) = self.free {
            write!(f, " {:6.1} GiB free", free as f64 / f64::from(1 << 30))?;
        }
        match why {
            "" => Ok(()),
            why => write!(f, "  {why}"),
        }
    }
}

/// Takes every step, then lists how each ended. An error if any failed.
pub(crate) fn take_all(steps: &[Step]) -> Result<(), Error> {
    close(&take_each(steps))
}

/// Takes every step.
pub(crate) fn take_each(steps: &[Step]) -> Vec<Taken> {
    steps.iter().map(take).collect()
}

/// Lists how each step ended. An error if any failed.
pub(crate) fn close(taken: &[Taken]) -> Result<(), Error> {
    println!();
    for one in taken {
        println!("{one}");
    }
    let count =
        |wanted: fn(&Outcome) -> bool| taken.iter().filter(|one| wanted(&one.outcome)).count();
    let ok = count(|outcome| matches!(outcome, Outcome::Ok));
    let skipped = count(|outcome| matches!(outcome, Outcome::Skipped(_)));
    let failed = taken.len() - ok - skipped;
    let summary = format!("{ok} steps ok, {skipped} skipped, {failed} failed");
    println!("\n{summary}");
    let failures = taken.iter().filter_map(|one| match &one.outcome {
        Outcome::Failed(why) => Some(format!("{}: {why}", one.name)),
        _ => None,
    });
    let failures: Vec<String> = failures.collect();
    match failures.is_empty() {
        true => Ok(()),
        false => Err(format!("{summary}: {}", failures.join("; "))),
    }
}

fn take(step: &Step) -> Taken {
    println!("\n== {}", step.name);
    let start = Instant::now();
    let before = of_children().unwrap_or_default();
    let outcome = match (step.run)() {
        Ok(Done::Ok) => Outcome::Ok,
        Ok(Done::Skipped(why)) => {
            println!("skipped: {why}");
            Outcome::Skipped(why)
        }
        Err(why) => {
            eprintln!("{}: {why}", step.name);
            Outcome::Failed(why)
        }
    };
    Taken {
        name: step.name,
        outcome,
        time: start.elapsed(),
        cpu: of_children().unwrap_or_default() - before,
        free: free(),
    }
}

fn free() -> Option<u64> {
    let at = rustix::fs::statvfs(&agent::target().ok()?).ok()?;
    Some(at.f_bavail * at.f_frsize)
}

/// Steps that another `cargo xtask check` takes in the meantime.
pub(crate) struct Beside {
    /// Their names, for messages.
    names: String,
    process: Child,
    log: PathBuf,
}

impl Beside {
    /// Begins with `check NAME...`, whose output goes to `log`.
    pub(crate) fn start(steps: &[Step], log: PathBuf) -> Result<Beside, Error> {
        let xtask = env::current_exe().map_err(|why| format!("our own path: {why}"))?;
        let failed = |why: io::Error| format!("{}: {why}", log.display());
        let output = File::create(&log).map_err(failed)?;
        let errors = output.try_clone().map_err(failed)?;
        let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
        let mut process = command(xtask, &["check"])?;
        process.args(&names).stdout(output).stderr(errors);
        let process = process
            .spawn()
            .map_err(|why| format!("xtask check {}: {why}", names.join(" ")))?;
        let names = names.join(", ");
        Ok(Beside {
            names,
            process,
            log,
        })
    }

    /// Waits for the end and shows the output, which lists how each step ended.
    pub(crate) fn end(mut self) -> Result<(), Error> {
        let status = self.process.wait();
        let failed = |why: io::Error| format!("{}: {why}", self.log.display());
        let log = fs::read(&self.log).map_err(failed)?;
        io::stdout().write_all(&log).map_err(failed)?;
        match status.map_err(failed)? {
            status if status.success() => Ok(()),
            status => {
                let log = String::from_utf8_lossy(&log);
                let why = said_last(&log).unwrap_or_default();
                Err(format!("one of {}: {status}: {why}", self.names))
            }
        }
    }
}

/// What `xtask check` said at its end of steps that failed, which may be several lines.
fn said_last(log: &str) -> Option<&str> {
    let (_, said) = log.rsplit_once("xtask: check: ")?;
    Some(said.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn a_row_says_how_a_step_ended_and_what_it_cost() {
        let taken = |outcome| Taken {
            name: "trials",
            outcome,
            time: Duration::from_millis(1250),
            cpu: 2.0,
            free: Some(3 << 29),
        };
        assert_eq!(
            taken(Outcome::Skipped("no QEMU".into())).to_string(),
            "trials       SKIPPED     1.2 s    2.0 s of CPU    1.5 GiB free  no QEMU"
        );
        assert!(taken(Outcome::Ok).to_string().ends_with("GiB free"));
    }

    #[test]
    fn a_failure_beside_is_a_failure() {
        let end = |program: &str| {
            let log = tempfile::NamedTempFile::new().unwrap();
            let said = "== trials\nxtask: check: 1 failed: trials: one\nis wrong\n";
            fs::write(log.path(), said).unwrap();
            let beside = Beside {
                names: "trials".into(),
                process: std::process::Command::new(program).spawn().unwrap(),
                log: log.path().to_path_buf(),
            };
            beside.end()
        };
        assert_eq!(end("true"), Ok(()));
        let why = end("false").unwrap_err();
        assert!(why.starts_with("one of trials: "), "{why}");
        assert!(why.ends_with(": 1 failed: trials: one\nis wrong"), "{why}");
    }

    #[test]
    fn steps_after_a_failure_are_still_taken_and_failures_are_counted() {
        static TAKEN: AtomicU32 = AtomicU32::new(0);
        let steps = [
            Step {
                name: "breaks",
                run: || Err("on purpose".into()),
            },
            Step {
                name: "absent",
                run: || Ok(Done::Skipped("not here".into())),
            },
            Step {
                name: "works",
                run: || {
                    TAKEN.fetch_add(1, Ordering::Relaxed);
                    Ok(Done::Ok)
                },
            },
        ];
        let summary = take_all(&steps).unwrap_err();
        let failed = "1 steps ok, 1 skipped, 1 failed: breaks: on purpose";
        assert_eq!(summary, failed);
        assert_eq!(TAKEN.load(Ordering::Relaxed), 1);
    }
}
