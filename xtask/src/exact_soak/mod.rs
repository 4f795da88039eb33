//! Tests whether the exact machine is exact whatever the host does.
//!
//! Executes runs from several processes at once, under everything known to slow down a host or to
//! stop QEMU, and compares the results of all executions of a run byte by byte.

mod child;
mod compare;
mod disturb;
mod load;
mod options;
mod over;
mod runs;
mod squeeze;
mod table;
mod worker;

use std::fs;
use std::sync::Mutex;
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use assize_target::Target;

use crate::draw::Draws;
use crate::steps::Done;
use crate::{Error, agent, files};
use child::kill_group;
use compare::{Answer, Answers};
use disturb::{Disturbed, disturb};
use load::{Load, Strength};
use options::Options;
use over::Over;
use runs::Run;
use squeeze::{MEMORY, Squeeze};
use table::Summary;
use worker::Worker;

/// Number of processes that execute runs.
const COMMANDS: usize = 4;
/// The nice value of the load. With 5, runs got a third of the CPUs, and 2,000 of them took two
/// hours.
const NICE: i32 = 10;
/// Interval at which to check whether all is done.
const TURN: Duration = Duration::from_millis(100);
/// Interval at which the load of the host is sampled.
const LOOK: Duration = Duration::from_millis(500);
/// Stream numbers of random draws, other than those of the load's processes.
const STOPPING: u64 = 1000;
const PRESSING: u64 = 1001;
const ORDER: u64 = 1002;

/// `cargo xtask exact-soak`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    match arguments.split_first() {
        Some((word, rest)) if word == worker::WORD => return worker::main(rest),
        Some((word, rest)) if word == load::WORD => return load::main(rest),
        _ => {}
    }
    let options = Options::parse(arguments)?;
    agent::run(&[])?;
    let summary = soak(&options)?;
    let judged = judge(&summary);
    if options.write {
        summary.write()?;
    }
    judged
}

/// The step of `check`: the light form.
pub(crate) fn step() -> Result<Done, Error> {
    let options = Options::parse(&["--light".to_string()])?;
    if let Err(why) = ready(&runs::all(true)?) {
        return Ok(Done::Skipped(why));
    }
    judge(&soak(&options)?).map(|()| Done::Ok)
}

/// Prints the table; fails if any result deviates.
fn judge(summary: &Summary) -> Result<(), Error> {
    println!("\n{}", summary.table());
    match summary.deviations {
        0 => Ok(()),
        some => Err(format!("{some} answers deviate")),
    }
}

/// Creates all memory images while the host is quiet.
fn ready(runs: &[Run]) -> Result<(String, usize), Error> {
    let machine = worker::machine()?;
    let orders: Vec<_> = runs.iter().map(|run| run.order.clone()).collect();
    let told = machine.prepare_telling(&orders, &|step| println!("{step}"));
    told.map_err(|error| error.to_string())?;
    Ok((machine.qemu().version.clone(), machine.slots()))
}

fn soak(options: &Options) -> Result<Summary, Error> {
    let over = Over::with_signals()?;
    let runs = runs::all(options.light)?;
    let (qemu, cpus) = ready(&runs)?;
    // On the disk that builds use.
    let place = files::scratch("exact-soak")?;
    let mut summary = Summary {
        form: if options.light { "light" } else { "whole" }.into(),
        qemu,
        runs: runs.len(),
        commands: COMMANDS,
        cpus,
        seed: options.seed,
        ..Summary::default()
    };
    let answers = Mutex::new(Answers::default());
    let soaking = Soaking {
        runs: &runs,
        answers: &answers,
        over: &over,
    };
    if !options.light {
        println!("each run on the quiet host");
        let once: Vec<usize> = (0..runs.len()).collect();
        let workers = soaking.workers(cpus.min(COMMANDS), options.light)?;
        summary.quiet = soaking.carry_out(workers, &once)?;
    }
    if !over.is() {
        soaking.under_load(options, &place, &mut summary)?;
    }
    let answers = answers.into_inner().unwrap_or_else(|all| all.into_inner());
    for deviation in answers.deviations() {
        summary.deviations += deviation.times;
        let name = runs.get(deviation.run).map_or("", |run| run.name.as_str());
        println!(
            "{name}: {} of its answers: {}",
            deviation.times, deviation.how
        );
    }
    if answers.single() > 0 {
        let why = format!("{} runs were executed once only", answers.single());
        summary.skipped.push(why);
    }
    Ok(summary)
}

struct Soaking<'a> {
    runs: &'a [Run],
    answers: &'a Mutex<Answers>,
    over: &'a Over,
}

impl Soaking<'_> {
    fn workers(&self, number: usize, light: bool) -> Result<Vec<Worker>, Error> {
        (0..number).map(|slot| Worker::start(light, slot)).collect()
    }

    fn under_load(
        &self,
        options: &Options,
        place: &std::path::Path,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        let strength = Strength {
            seed: options.seed,
            nice: NICE,
            memory: MEMORY,
        };
        // Dropped last, as its processes must have ended.
        let squeeze = Squeeze::new();
        let load = Load::start(place, strength)?;
        let workers = self.workers(COMMANDS, options.light)?;
        let ids: Vec<u32> = workers.iter().map(Worker::id).collect();
        summary.parts.clone_from(&load.parts);
        summary.skipped.clone_from(&load.skipped);
        match &squeeze {
            Ok(squeeze) => {
                for pid in load.memory().chain(ids.iter().copied()) {
                    squeeze.take(pid)?;
                }
                summary.parts.push(squeeze.words());
            }
            Err(why) => summary
                .skipped
                .push(format!("a group with little memory: {why}")),
        }
        let order = self.order(options);
        let done = Over::default();
        let [looking, stopping, pressing] = [(); 3].map(|()| done.clone());
        thread::scope(|scope| {
            let looked = scope.spawn(move || look(&looking));
            let draws = |part| Draws::new(options.seed, part);
            let (stops, presses) = (draws(STOPPING), draws(PRESSING));
            let disturbed = scope.spawn(move || disturb(&ids, stops, &stopping));
            let squeeze = squeeze.as_ref().ok();
            let squeezed = scope.spawn(move || squeeze.map(|all| all.press(presses, &pressing)));
            let executions = self.carry_out(workers, &order);
            done.set();
            // These only panic through a bug in xtask.
            summary.load = looked.join().unwrap_or_default();
            summary.disturbed = disturbed.join().unwrap_or_else(|_| Disturbed::default());
            summary.squeezed = squeezed.join().ok().flatten().unwrap_or_default();
            summary.executions = executions?;
            Ok(())
        })
    }

    /// The order of runs: all equally often, each round in a new random order.
    fn order(&self, options: &Options) -> Vec<usize> {
        let mut draws = Draws::new(options.seed, ORDER);
        let mut order = Vec::new();
        while order.len() < options.runs {
            let mut round: Vec<usize> = (0..self.runs.len()).collect();
            draws.shuffle(&mut round);
            order.extend(round);
        }
        order.truncate(options.runs);
        order
    }

    /// Executes these runs, each on the next free worker, and keeps the results; returns their
    /// number.
    fn carry_out(&self, workers: Vec<Worker>, order: &[usize]) -> Result<usize, Error> {
        let left = Mutex::new(order.iter().copied().enumerate());
        let next = || {
            let mut left = left.lock().unwrap_or_else(|left| left.into_inner());
            left.next().filter(|_| !self.over.is())
        };
        let all = order.len();
        let ids: Vec<u32> = workers.iter().map(Worker::id).collect();
        let work = |mut worker: Worker| -> Result<usize, Error> {
            let mut done = 0;
            while let Some((at, run)) = next() {
                match worker.run(run) {
                    Ok(answer) => self.keep(run, answer),
                    Err(_) if self.over.is() => break,
                    Err(why) => {
                        self.over.set();
                        return Err(why);
                    }
                }
                done += 1;
                if (at + 1) % 20 == 0 {
                    println!("{}/{all} runs", at + 1);
                }
            }
            Ok(done)
        };
        thread::scope(|scope| {
            let work = &work;
            let working: Vec<_> = workers
                .into_iter()
                .map(|worker| scope.spawn(move || work(worker)))
                .collect();
            while !working.iter().all(ScopedJoinHandle::is_finished) {
                if !self.over.sleep(TURN) {
                    // Runs still in progress are not needed.
                    let left = ids.iter().zip(&working);
                    left.filter(|(_, thread)| !thread.is_finished())
                        .for_each(|(id, _)| kill_group(*id));
                    thread::sleep(TURN);
                }
            }
            let panicked = |_| Err("an internal thread has panicked".to_string());
            let done = working
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(panicked));
            done.sum()
        })
    }

    fn keep(&self, run: usize, answer: Answer) {
        let mut answers = self.answers.lock().unwrap_or_else(|all| all.into_inner());
        answers.take(run, answer);
    }
}

/// Samples how many threads are running, runnable or waiting for a disk.
fn look(over: &Over) -> Vec<f64> {
    let mut all = Vec::new();
    while over.sleep(LOOK) {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        let number = |name: &str| -> Option<f64> {
            let line = stat.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().parse().ok()
        };
        let busy = ["procs_running ", "procs_blocked "].map(|name| number(name).unwrap_or(0.0));
        all.push(busy.iter().sum());
    }
    all
}
