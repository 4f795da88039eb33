//! `assize trace`: one run of a bundle, event by event.

use std::io::{IsTerminal, stdout};
use std::path::Path;

use assize_bundle::RunRecord;
use assize_job::events::{EVENTS_FILE, EVENTS_SCHEMA, KernelEventLog};
use assize_trace::split::{LatencySplit, SplitQuestion};
use assize_trace::{TracedRun, perfetto, split};
use serde::Serialize;

use crate::cli::{SplitFormat, TraceArguments};
use crate::failure::Failure;
use crate::output;
use crate::shell;

/// The instrument that records the events.
const INSTRUMENT: &str = "kernel-events";

/// A run, and the latency split of its jobs.
#[derive(Debug, Serialize)]
struct TraceOfRun<'a> {
    #[serde(flatten)]
    split: &'a LatencySplit,
    run: u32,
    configuration: &'a str,
    workload: &'a str,
    seed: u64,
}

/// Writes the trace of a run, or prints the latency split of its jobs.
pub(crate) fn trace(arguments: &TraceArguments) -> Result<u8, Failure> {
    let path = arguments.output.as_deref();
    if !arguments.split && path.is_none() && stdout().is_terminal() {
        let why =
            "trace: a trace cannot be printed on a terminal; name a file with -o, or use --split";
        return Err(Failure::Argument(why.into()));
    }
    let recorded = recorded(&arguments.bundle, arguments.run)?;
    let run = TracedRun::new(events(&arguments.bundle, &recorded)?);
    if !arguments.split {
        if run.events.lost > 0 {
            eprintln!(
                "assize: run {}: {} kernel events were lost; later events are missing",
                recorded.index, run.events.lost
            );
        }
        output::deliver(&perfetto::trace(&run), path)?;
        return Ok(0);
    }
    let question = SplitQuestion {
        thread: arguments.thread.clone(),
        worst: arguments.worst,
    };
    let split = split::split(&run, &question);
    if split.jobs == 0 {
        return Err(nothing(&recorded, &run, arguments.thread.as_deref()));
    }
    let text = match arguments.format {
        SplitFormat::Text => {
            let about = format!(
                "run {}: {} on {}, seed {}\n",
                recorded.index,
                recorded.run.configuration,
                recorded.run.workload,
                recorded.seed()
            );
            assize_report::printable(&(about + &split::text(&split))).into_owned()
        }
        SplitFormat::Json => {
            let of_run = TraceOfRun {
                split: &split,
                run: recorded.index,
                configuration: &recorded.run.configuration,
                workload: &recorded.run.workload,
                seed: recorded.seed(),
            };
            let text = serde_json::to_string_pretty(&of_run);
            text.map_err(|error| Failure::Show(error.to_string()))? + "\n"
        }
    };
    output::deliver(text.as_bytes(), path)?;
    Ok(0)
}

/// A run with its kernel events; `None` if none were recorded.
pub(crate) fn traced(bundle: &Path, index: u32) -> Result<Option<TracedRun>, Failure> {
    let file = bundle.join("raw").join(format!("{index:04}-{EVENTS_FILE}"));
    if !file.exists() {
        return Ok(None);
    }
    let recorded = recorded(bundle, index)?;
    Ok(Some(TracedRun::new(events(bundle, &recorded)?)))
}

/// The record of the run with this index.
fn recorded(bundle: &Path, index: u32) -> Result<RunRecord, Failure> {
    let head = assize_bundle::read_plan(bundle)?;
    let place = bundle.display();
    let there = bundle
        .join("runs")
        .join(format!("{index:04}.json"))
        .exists();
    if there {
        return Ok(assize_bundle::read_run(bundle, index)?);
    }
    Err(Failure::Argument(if index < head.planned_runs {
        format!(
            "run {index}: {place}: it is not recorded yet; `assize run --resume {}` executes it",
            shell::quote(bundle.as_os_str())
        )
    } else {
        format!(
            "run {index}: {place}: the schedule has {} runs, counted from 0; \
             their files are in {place}/runs",
            head.planned_runs
        )
    }))
}

fn events(bundle: &Path, recorded: &RunRecord) -> Result<KernelEventLog, Failure> {
    let place = bundle.display();
    let index = recorded.index;
    let ours = |(name, text): &&(String, String)| {
        name.ends_with(EVENTS_FILE) && text.starts_with(EVENTS_SCHEMA)
    };
    let Some((name, text)) = recorded.raw.iter().find(ours) else {
        let given = recorded
            .unavailable
            .iter()
            .find(|u| u.instrument == INSTRUMENT);
        let why = given.map_or_else(
            || {
                format!(
                    "no kernel events were recorded; add \"{INSTRUMENT}\" to the key \
                     instruments of the experiment and run it again"
                )
            },
            |given| {
                format!(
                    "the instrument {INSTRUMENT} was not available: {}",
                    given.reason
                )
            },
        );
        return Err(Failure::Argument(format!("run {index}: {place}: {why}")));
    };
    KernelEventLog::parse(text).map_err(|error| {
        Failure::Argument(format!(
            "run {index}: {place}/raw/{name}: {error}; the file was changed or cut off, \
             run the experiment again"
        ))
    })
}

/// The failure if there are no jobs to show, with the reason.
fn nothing(recorded: &RunRecord, run: &TracedRun, thread: Option<&str>) -> Failure {
    let index = recorded.index;
    let mut names: Vec<String> = run
        .jobs
        .iter()
        .map(|job| run.threads.name(job.submitter))
        .collect();
    names.sort();
    names.dedup();
    Failure::Argument(match thread {
        Some(thread) if !names.is_empty() => format!(
            "run {index}: no thread '{thread}' submitted a job; valid: {}",
            names.join(", ")
        ),
        _ => format!(
            "run {index}: no job was submitted to simgpu while events were recorded; \
             without --split the trace still shows the scheduler"
        ),
    })
}
