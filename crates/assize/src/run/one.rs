//! `assize run-one` and `assize merge`: spread an experiment over processes and machines.

use std::fs;
use std::path::Path;

use assize_bundle::{Error, RunExit, Writer};
use assize_plan::{Plan, PlannedRun};
use assize_target::Target;
use assize_target::exact::Options;
use assize_verdict::count_of;

use super::engine::{Engine, RunEvent};
use super::interrupt::{Interrupt, ProcessKiller};
use super::reproducibility::ReproducibilityCheck;
use super::{head, target};
use crate::cli::{MergeArguments, RunOneArguments};
use crate::failure::Failure;
use crate::levels::ExpectedParts;
use crate::output;
use crate::record;
use crate::shell;

/// Executes the named runs of a plan, except those already in the bundle.
pub(crate) fn run_one(arguments: &RunOneArguments) -> Result<u8, Failure> {
    // From here on, the first signal ends the work after clean-up.
    Interrupt::watch()?;
    let plan = plan_at(&arguments.plan)?;
    let (first, last) = (*arguments.index.start(), *arguments.index.end());
    let Some(runs) = plan.runs.get(first as usize..=last as usize) else {
        return Err(Failure::Argument(format!(
            "--index {last}: {}: the plan has {} runs, counted from 0",
            arguments.plan.display(),
            plan.runs.len()
        )));
    };
    let writer = Writer::join(&arguments.out, &head::head(&plan)?).map_err(Failure::Record)?;
    let there = writer.recorded().map_err(Failure::Record)?;
    let (recorded, missing): (Vec<PlannedRun>, Vec<PlannedRun>) =
        runs.iter().partition(|run| there.contains(&run.index));
    for run in &recorded {
        print_line(&already(run.index, &arguments.out))?;
    }
    if missing.is_empty() {
        return Ok(0);
    }
    let options = Options {
        fresh: arguments.fresh,
        cold: false,
        unpinned: true,
    };
    let target = target::named_target(&plan.target, options)?;
    let codes = execute(&plan, &missing, target.as_ref(), (&writer, &arguments.out))?;
    match codes.iter().max() {
        Some(worst) if codes.len() == missing.len() => Ok(*worst),
        Some(_) => Err(Failure::Stopped {
            again: shell::command_line(std::env::args_os().skip(1)),
        }),
        None => Err(Failure::InterruptedEarly),
    }
}

/// Executes and records runs until an interrupt comes; returns the exit status of each.
fn execute(
    plan: &Plan,
    runs: &[PlannedRun],
    target: &dyn Target,
    (writer, out): (&Writer, &Path),
) -> Result<Vec<u8>, Failure> {
    let interrupt = Interrupt::watch()?;
    let orders = runs.iter().filter_map(|run| plan.order(run.index));
    target.prepare(&orders.collect::<Vec<_>>())?;
    let expected = ExpectedParts::for_runs(plan, runs, target)?;
    let twice = ReproducibilityCheck::of_plan(plan, runs, target)?;
    let mut killing = ProcessKiller::default();
    let engine = Engine {
        plan,
        target,
        jobs: 1,
        twice: &twice,
        interrupted: interrupt.flag(),
    };
    let mut codes = Vec::new();
    engine.carry_out(
        runs,
        || killing.go_on(),
        |event| {
            let RunEvent::Ended(ended) = event else {
                return Ok(());
            };
            let run = &ended.run;
            let recorded = record::recorded(plan, run, &ended.done, expected.run(run));
            writer.log(&ended.log_line()).map_err(Failure::Record)?;
            if !ended.again {
                let (text, code) = put(writer, &recorded, out)?;
                print_line(&text)?;
                codes.push(code);
            }
            Ok(())
        },
    )?;
    Ok(codes)
}

/// Records a run and reports the result. Another process may have recorded the same run already.
fn put(
    writer: &Writer,
    recorded: &assize_bundle::RunRecord,
    out: &Path,
) -> Result<(String, u8), Failure> {
    let index = recorded.index;
    match writer.put(recorded) {
        Ok(()) => {}
        Err(Error::AlreadyRecorded { .. }) => return Ok((already(index, out), 0)),
        Err(error) => return Err(Failure::Record(error)),
    }
    Ok(match &recorded.exit {
        RunExit::Completed => (format!("run {index}: recorded in {}", out.display()), 0),
        RunExit::Failed { why, .. } => (
            format!("run {index}: failed: {why}; recorded in {}", out.display()),
            3,
        ),
    })
}

fn already(index: u32, out: &Path) -> String {
    format!("run {index}: recorded already in {}", out.display())
}

fn print_line(text: &str) -> Result<u8, Failure> {
    let text = assize_report::printable(text).replace('\n', " ");
    output::print(format!("{text}\n").as_bytes()).map(|()| 0)
}

/// The plan in a bundle or a plan file.
fn plan_at(path: &Path) -> Result<Plan, Failure> {
    if path.is_dir() {
        return plan_of(assize_bundle::read_plan(path)?.plan, path);
    }
    let text = fs::read_to_string(path).map_err(|source| Failure::Read {
        path: path.to_path_buf(),
        source,
    })?;
    let value = serde_json::from_str(&text)
        .map_err(|error| Failure::Argument(format!("{}: {error}", path.display())))?;
    plan_of(value, path)
}

/// Parses a plan that was written to a file.
pub(crate) fn plan_of(value: serde_json::Value, path: &Path) -> Result<Plan, Failure> {
    let wrong = |why: String| Failure::Argument(format!("{}: {why}", path.display()));
    let schema = value.get("schema").and_then(|schema| schema.as_str());
    if schema != Some(assize_plan::SCHEMA) {
        return Err(wrong(format!(
            "is not a plan: schema '{}', not '{}'; `assize plan EXPERIMENT -o FILE` writes one",
            schema.unwrap_or("none"),
            assize_plan::SCHEMA
        )));
    }
    serde_json::from_value(value).map_err(|error| wrong(format!("the plan is damaged: {error}")))
}

/// Merges bundles.
pub(crate) fn merge(arguments: &MergeArguments) -> Result<u8, Failure> {
    let merged = assize_bundle::merge(&arguments.bundles, &arguments.out)?;
    print_line(&format!(
        "{} of {} runs from {} of {} in {}",
        merged.runs,
        merged.planned_runs,
        count_of(arguments.bundles.len(), "bundle"),
        count_of(merged.machines.len(), "machine"),
        arguments.out.display()
    ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    #[test]
    fn what_is_no_plan_is_said_to_be_none() {
        let place = Path::new("plan.json");
        for (value, words) in [
            (serde_json::json!({}), "is not a plan"),
            (
                serde_json::json!({"schema": "assize.plan/9"}),
                "'assize.plan/9'",
            ),
            (
                serde_json::json!({"schema": assize_plan::SCHEMA}),
                "damaged",
            ),
        ] {
            let text = plan_of(value, place).unwrap_err().to_string();
            assert!(
                text.contains(words) && text.starts_with("plan.json"),
                "{text}"
            );
        }
    }
}
