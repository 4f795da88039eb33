//! A worker process, which executes runs; several work in parallel.
//!
//! It reads indices of runs, one per line, replies to each with a line of JSON, and exits at end of
//! input.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use assize_target::Target;
use assize_target::exact::{Exact, Options, lines};
use assize_target::kernels::Kernels;
use serde_json::{Value, json};

use super::child::Group;
use super::compare::Answer;
use super::{load, runs};
use crate::Error;

/// The argument that makes this program a worker.
pub(super) const WORD: &str = "--worker";

/// The exact machine, as commands use it, but without cached results.
pub(super) fn machine() -> Result<Exact, Error> {
    let root = Kernels::default_root().map_err(|error| error.to_string())?;
    let fresh = Options {
        fresh: true,
        cold: false,
        unpinned: false,
    };
    Exact::new(root, fresh).map_err(|error| error.to_string())
}

/// The main function of a worker process: `--worker light|whole SLOT`.
pub(super) fn main(arguments: &[String]) -> Result<(), Error> {
    let [form, slot] = arguments else {
        return Err("--worker light|whole SLOT".into());
    };
    load::end_with_parent()?;
    let slot: usize = slot.parse().map_err(|_| format!("{slot}: no number"))?;
    let runs = runs::all(form == "light")?;
    let machine = machine()?;
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|why| why.to_string())?;
        let index: usize = line.parse().map_err(|_| format!("{line}: no number"))?;
        let run = runs.get(index).ok_or_else(|| format!("no run {index}"))?;
        let answer = match machine.run(&run.order, slot % machine.slots()) {
            Ok(done) => json!({"run": index, "lines": lines(&done.outcome)}),
            Err(why) => json!({"run": index, "error": why.to_string()}),
        };
        // The pipe is closed once the soak is over.
        if writeln!(out, "{answer}")
            .and_then(|()| out.flush())
            .is_err()
        {
            break;
        }
    }
    Ok(())
}

/// A worker process, and the pipes to it.
pub(super) struct Worker {
    group: Group,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Worker {
    pub(super) fn start(light: bool, slot: usize) -> Result<Worker, Error> {
        let form = if light { "light" } else { "whole" };
        let mut command = load::this_command()?;
        command.args([WORD, form, &slot.to_string()]);
        let mut group = piped(&mut command).map_err(|why| format!("start a worker: {why}"))?;
        let child = group.child();
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("a worker has no pipes".into());
        };
        Ok(Worker {
            group,
            input,
            output: BufReader::new(output),
        })
    }

    pub(super) fn id(&self) -> u32 {
        self.group.id()
    }

    /// Executes one run.
    pub(super) fn run(&mut self, index: usize) -> Result<Answer, Error> {
        let gone = |why: io::Error| format!("a worker has gone: {why}");
        writeln!(self.input, "{index}").map_err(gone)?;
        let mut line = String::new();
        if self.output.read_line(&mut line).map_err(gone)? == 0 {
            return Err("a worker has gone".into());
        }
        let answer: Value = serde_json::from_str(&line).map_err(|why| why.to_string())?;
        if let Some(why) = answer["error"].as_str() {
            return Err(why.to_string());
        }
        let lines = answer["lines"].as_array().into_iter().flatten();
        Ok(lines.filter_map(Value::as_str).map(String::from).collect())
    }
}

fn piped(command: &mut Command) -> io::Result<Group> {
    Group::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()))
}
