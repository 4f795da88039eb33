//! Steps that are all taken, whatever becomes of them, and counted.

use std::fmt;
use std::time::{Duration, Instant};

use crate::Error;
use crate::cpu_time::of_children;

/// How a step ended that did not fail.
pub(crate) enum Done {
    /// It did its work.
    Ok,
    /// It could not be done here, and why.
    Skipped(String),
}

/// One step.
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

/// Takes every step, then lists how each ended. An error if any failed.
pub(crate) fn take_all(steps: &[Step]) -> Result<(), Error> {
    let taken: Vec<_> = steps.iter().map(take).collect();
    println!();
    for (step, outcome, cost) in &taken {
        let (how, why) = match outcome {
            Outcome::Ok => ("ok", ""),
            Outcome::Skipped(why) => ("SKIPPED", why.as_str()),
            Outcome::Failed(why) => ("FAILED", why.as_str()),
        };
        let line = format!("{:<12} {how:<8} {cost}  {why}", step.name);
        println!("{}", line.trim_end());
    }
    let count = |wanted: fn(&Outcome) -> bool| taken.iter().filter(|(_, o, _)| wanted(o)).count();
    let ok = count(|outcome| matches!(outcome, Outcome::Ok));
    let skipped = count(|outcome| matches!(outcome, Outcome::Skipped(_)));
    let failed = taken.len() - ok - skipped;
    let summary = format!("{ok} steps ok, {skipped} skipped, {failed} failed");
    println!("\n{summary}");
    if failed == 0 { Ok(()) } else { Err(summary) }
}

/// What a step cost.
struct Cost {
    time: Duration,
    /// Seconds of CPU time of the programs it started.
    cpu: f64,
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.time.as_secs_f64();
        write!(f, "{seconds:6.1} s {:6.1} s of CPU", self.cpu)
    }
}

fn take(step: &Step) -> (&Step, Outcome, Cost) {
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
    let cost = Cost {
        time: start.elapsed(),
        cpu: of_children().unwrap_or_default() - before,
    };
    (step, outcome, cost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

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
        assert_eq!(summary, "1 steps ok, 1 skipped, 1 failed");
        assert_eq!(TAKEN.load(Ordering::Relaxed), 1);
    }
}
