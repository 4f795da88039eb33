//! `assize run --verify-exact`: checks that the exact machine is exact on this host.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use assize_job::Order;
use assize_plan::{Plan, PlannedRun};
use assize_target::Target;
use assize_target::exact::{self, Options};

use super::engine::{Engine, RunEvent};
use super::interrupt::{Interrupt, ProcessKiller};
use super::reproducibility::ReproducibilityCheck;
use super::target;
use crate::failure::Failure;
use crate::output;

/// Parallel runs while the host is busy.
const JOBS: usize = 2;
const FRESH: Options = Options {
    fresh: true,
    cold: false,
    unpinned: false,
};

/// Executes every run three times: as usual, without the cache, and without the cache next to busy
/// loops on all CPUs. Fails if the agent's messages differ.
pub(crate) fn verify(plan: &Plan, interrupt: &Interrupt, quiet: bool) -> Result<u8, Failure> {
    if plan.target != "exact" {
        return Err(Failure::Argument(format!(
            "--verify-exact: needs the target exact; on {} runs differ",
            plan.target
        )));
    }
    let say = |text: &str| {
        if !quiet {
            eprintln!("{text}");
        }
    };
    let usual = target::exact(Options::default())?;
    let fresh = target::exact(FRESH)?;
    let orders: Vec<Order> = plan
        .runs
        .iter()
        .filter_map(|run| plan.order(run.index))
        .collect();
    fresh.prepare_telling(&orders, &|step| say(&step.to_string()))?;
    let all = |target: &dyn Target, jobs| answers(plan, target, jobs, interrupt);
    say("each run once, from the cache if it is there");
    let first = all(&usual, usual.slots())?;
    say("each run without the cache");
    let second = all(&fresh, 1)?;
    let busy = exact::allowed_cpus();
    say(&format!(
        "each run without the cache, {JOBS} at once, beside busy loops on {} CPUs",
        busy.len()
    ));
    let third = beside_hogs(&busy, || all(&fresh, JOBS.min(fresh.slots())))?;
    for (others, when) in [(&second, "without the cache"), (&third, "on a busy host")] {
        if let Some(different) = first_difference(&first, others) {
            return Err(Failure::Inexact(format!("{different} {when}")));
        }
    }
    let runs = plan.runs.len();
    output::print(
        format!("{runs} runs, each executed 3 times: equal, byte for byte\n").as_bytes(),
    )?;
    Ok(0)
}

/// The agent's messages of each run, in schedule order.
fn answers(
    plan: &Plan,
    target: &dyn Target,
    jobs: usize,
    interrupt: &Interrupt,
) -> Result<Vec<(PlannedRun, Vec<String>)>, Failure> {
    let mut killing = ProcessKiller::default();
    let engine = Engine {
        plan,
        target,
        jobs,
        twice: &ReproducibilityCheck::default(),
        interrupted: interrupt.flag(),
    };
    let mut all = Vec::new();
    engine.carry_out(
        &plan.runs,
        || killing.go_on(),
        |event| {
            if let RunEvent::Ended(ended) = event
                && !ended.again
            {
                all.push((ended.run, exact::lines(&ended.done.outcome)));
            }
            Ok(())
        },
    )?;
    if interrupt.came() {
        return Err(Failure::InterruptedEarly);
    }
    all.sort_by_key(|(run, _)| run.index);
    Ok(all)
}

/// `run 3, line 7: metric latency: 4288 against 4312`.
fn first_difference(
    first: &[(PlannedRun, Vec<String>)],
    second: &[(PlannedRun, Vec<String>)],
) -> Option<String> {
    for ((run, first), (_, second)) in first.iter().zip(second) {
        if let Some(different) = exact::first_difference(first, second) {
            return Some(format!("run {}, {different}", run.index));
        }
    }
    (first.len() != second.len()).then(|| format!("{} runs against {}", first.len(), second.len()))
}

/// Runs `work` while a busy loop occupies each of these CPUs.
fn beside_hogs<T>(cpus: &[usize], work: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for &cpu in cpus {
            let over = &over;
            scope.spawn(move || {
                let mut set = rustix::thread::CpuSet::new();
                set.set(cpu);
                // Without affinity, the loop still keeps some CPU busy.
                let _ = rustix::thread::sched_setaffinity(None, &set);
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let done = work();
        over.store(true, Ordering::Relaxed);
        done
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::planned_run;

    fn runs(all: &[&[&str]]) -> Vec<(PlannedRun, Vec<String>)> {
        let lines = |lines: &&[&str]| lines.iter().map(|line| (*line).to_string()).collect();
        (0..)
            .zip(all)
            .map(|(i, l)| (planned_run(i), lines(l)))
            .collect()
    }

    const HELLO: &str = r#"{"record":"hello","schema":"assize.agent/1","version":"1"}"#;

    fn metric(value: u32) -> String {
        format!(r#"{{"record":"metric","metric":"latency","value":{value},"unit":"ns"}}"#)
    }

    #[test]
    fn equal_answers_have_no_difference() {
        let all = runs(&[&[HELLO, &metric(1)], &[HELLO]]);
        assert_eq!(first_difference(&all, &all), None);
    }

    #[test]
    fn the_first_difference_is_named_by_run_line_and_metric() {
        let one = runs(&[&[HELLO], &[HELLO, &metric(4288), &metric(5)]]);
        let two = runs(&[&[HELLO], &[HELLO, &metric(4312), &metric(6)]]);
        assert_eq!(
            first_difference(&one, &two).as_deref(),
            Some("run 1, line 2: metric latency: 4288 against 4312")
        );
    }

    #[test]
    fn lines_that_only_one_has_are_a_difference() {
        let (short, long) = (runs(&[&[HELLO]]), runs(&[&[HELLO, &metric(1)]]));
        let text = first_difference(&short, &long).unwrap_or_default();
        assert!(
            text.starts_with("run 0, line 2: nothing against {"),
            "{text}"
        );
        let fewer = runs(&[]);
        assert_eq!(
            first_difference(&fewer, &short).as_deref(),
            Some("0 runs against 1")
        );
    }
}
