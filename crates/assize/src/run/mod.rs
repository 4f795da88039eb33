//! `assize run`: from an experiment file to a verdict.

pub(crate) mod declared;
mod engine;
mod failing;
mod head;
mod interim;
pub(crate) mod interrupt;
mod named;
mod one;
mod place;
mod planning;
mod progress;
mod ready;
mod recording;
mod reproducibility;
mod slurm;
mod summary;
pub(crate) mod target;
mod view;
mod work;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;

use assize_bundle::{Records, Writer, nothing_differs};
use assize_job::Order;
use assize_plan::{Plan, PlannedRun};
use assize_target::exact::Options;
use assize_target::{PreparationStep, Target};
use assize_verdict::FailedCell;

pub(crate) use head::{REVISION, configurations, head as head_of};
pub(crate) use one::{merge, plan_of, run_one};
pub(crate) use place::{free_with, must_be_free};
pub(crate) use planning::{experiment, plan};
pub(crate) use recording::{
    MeasuredRecords, ReadyExperiment, Recording, planned, planned_with, record_runs,
};
pub(crate) use slurm::must_be_exact;

use crate::cli::{FailOn, QuestionArguments, RunArguments, Scheduler, TrialArguments};
use crate::compare;
use crate::failure::{self, Failure};
use crate::levels::{self, ExpectedParts};
use crate::output;
use crate::page::{PageInputs, RecordsOrigin};
use crate::reach::DesignReach;
use crate::record;
use crate::rerun;
use crate::terms::{JudgingTerms, recorded_in};
use engine::{Engine, RunEvent};
use failing::FailureStreaks;
use interim::InterimStage;
use interrupt::{Interrupt, ProcessKiller};
use progress::{Progress, RunTally};
use ready::GettingReady;
use reproducibility::ReproducibilityCheck;
use slurm::Slurm;
use summary::{lacking, summary};
use work::PlannedWork;

/// Runs an experiment, or the rest of one, and judges it.
pub(crate) fn run(arguments: &RunArguments) -> Result<u8, Failure> {
    let interrupt = Interrupt::watch()?;
    let work = match (&arguments.resume, &arguments.experiment) {
        (Some(directory), _) => PlannedWork::resumed(directory)?,
        (None, Some(experiment)) => PlannedWork::new(experiment, arguments)?,
        (None, None) => return Err(Failure::Argument("EXPERIMENT is missing".into())),
    };
    askable(&work.plan, &arguments.question)?;
    let slurm = match arguments.farm.on {
        Some(Scheduler::Slurm) => Some(Slurm::new(&work, arguments.jobs, arguments.fresh)?),
        None => None,
    };
    let target = target::named_target(&work.plan.target, options(arguments))?;
    let engine = RunSession {
        work: &work,
        target: target.as_ref(),
        interrupt: &interrupt,
        jobs: jobs(arguments.jobs, target.as_ref()),
        gives_up: false,
        slurm: slurm.as_ref(),
        show_output: false,
    };
    let tally = engine.carry_out(arguments.quiet)?;
    engine.not_interrupted(&tally)?;
    judge(&work, arguments)
}

/// Refuses claims and options that could not be judged later, before anything is measured.
fn askable(plan: &Plan, question: &QuestionArguments) -> Result<(), Failure> {
    let trial = TrialArguments {
        question: question.clone(),
        ..TrialArguments::default()
    };
    let names = plan.configurations.iter().map(|of| of.name.clone());
    let options = output::options(&trial, &JudgingTerms::default())?;
    let fail_on = &trial.question.fail_on;
    let gate = fail_on.iter().find(|on| matches!(on, FailOn::Gate(..)));
    if let Some(gate) = gate.filter(|_| plan.primary.is_empty()) {
        let text = format!(
            "--fail-on '{}': the experiment has no primary metric; write primary = [{{ metric = \
             \"M\", better = \"lower\" }}] into it",
            gate.word()
        );
        return Err(Failure::Argument(text));
    }
    Ok(assize_verdict::check(&options, &names.collect::<Vec<_>>())?)
}

/// The number of parallel runs: as requested, but at most the number of slots.
fn jobs(asked: Option<u32>, target: &dyn Target) -> usize {
    let slots = target.slots().max(1);
    asked.map_or(slots, |asked| slots.min(asked as usize))
}

/// Where runs are recorded, and what they are checked against.
struct RunContext<'a> {
    writer: &'a Writer,
    expected: &'a ExpectedParts,
    twice: &'a ReproducibilityCheck,
}

struct RunSession<'a> {
    work: &'a PlannedWork,
    target: &'a dyn Target,
    interrupt: &'a Interrupt,
    jobs: usize,
    /// Whether to give up once the first runs of a configuration have all failed.
    gives_up: bool,
    /// Set if Slurm executes the runs.
    slurm: Option<&'a Slurm>,
    /// Whether to print the output of each run.
    show_output: bool,
}

impl RunSession<'_> {
    /// Fails with the command to resume if the work was interrupted.
    fn not_interrupted(&self, tally: &RunTally) -> Result<(), Failure> {
        if !self.interrupt.came() {
            return Ok(());
        }
        let again = failure::resuming(&self.work.directory);
        Err(Failure::Interrupted {
            again: match self.slurm {
                Some(_) => format!("{again} {}", slurm::OPTION),
                None => again,
            },
            recorded: tally.recorded,
            planned: self.work.plan.runs.len(),
        })
    }

    fn carry_out(&self, quiet: bool) -> Result<RunTally, Failure> {
        let plan = &self.work.plan;
        let there = match self.work.resumed {
            true => recorded_in(&self.work.directory)?,
            false => BTreeSet::new(),
        };
        // If the directory cannot be read, the writer reports why.
        let known = match self.work.resumed {
            true => assize_bundle::read(&self.work.directory).unwrap_or_default(),
            false => Records::default(),
        };
        let is_there = |index| there.contains(&index);
        let mut progress = Progress::new(plan, is_there, quiet);
        if nothing_differs(&known.configurations, &known.same) {
            return Ok(progress.tally());
        }
        let stages = interim::stages(plan);
        if self.slurm.is_none() {
            self.prepare(&stages, &there, &progress)?;
        }
        if self.interrupt.came() && !self.work.resumed {
            return Err(Failure::InterruptedEarly);
        }
        let missing = match self.interrupt.came() {
            true => Vec::new(),
            false => missing_of(&stages, &there),
        };
        let expected = ExpectedParts::for_runs(plan, &missing, self.target)?;
        let same = levels::same(plan, &expected);
        for (name, other) in &same {
            progress.print(&format!(
                "{name} has the same files and settings as {other}: they are not compared"
            ));
        }
        let is_answer = !self.work.resumed && nothing_differs(&configurations(plan), &same);
        let writer = self.work.writer(self.slurm.is_some(), same)?;
        if is_answer {
            return Ok(progress.tally());
        }
        let twice = ReproducibilityCheck::of_plan(plan, &missing, self.target)?;
        self.announce(&progress)?;
        progress.begin();
        let with = RunContext {
            writer: &writer,
            expected: &expected,
            twice: &twice,
        };
        let stopped = self.stages(&stages, &there, &with, &mut progress)?;
        progress.finish();
        if !self.interrupt.came() {
            self.slurm.map_or(Ok(()), |slurm| slurm.clean(&writer))?;
            progress.print(&summary(plan.runs.len(), progress.tally(), stopped));
            if let Some(compared) = progress.compared().sentence() {
                progress.print(&compared);
            }
        }
        Ok(progress.tally())
    }

    /// Executes the runs of all stages until an interrupt, or until a look is conclusive; returns
    /// the number of blocks at that look.
    fn stages(
        &self,
        stages: &[InterimStage],
        there: &BTreeSet<u32>,
        with: &RunContext<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<Option<usize>, Failure> {
        for stage in stages {
            match self.slurm {
                Some(slurm) => slurm.carry_out(&stage.runs, self.interrupt, progress)?,
                None => self.stage(stage, there, with, progress)?,
            }
            if self.interrupt.came() {
                break;
            }
            if stage.look && self.told_enough(stage)? {
                return Ok(Some(stage.blocks.len()));
            }
        }
        Ok(None)
    }

    /// Prints the number of runs, the bundle, and known obstacles.
    fn announce(&self, progress: &Progress<'_>) -> Result<(), Failure> {
        let plan = &self.work.plan;
        let directory = self.work.directory.display();
        progress.print(&format!("{} runs into {directory}", plan.runs.len()));
        let warning = DesignReach::of_plan(plan, None)?.warning();
        for line in warning.into_iter().chain(lacking(plan, self.target)) {
            progress.print(&line);
        }
        Ok(())
    }

    /// Prepares the target for the runs up to the first look, as later runs may not be needed.
    fn prepare(
        &self,
        stages: &[InterimStage],
        there: &BTreeSet<u32>,
        progress: &Progress<'_>,
    ) -> Result<(), Failure> {
        let missing = stages.iter().map(|stage| {
            let stage = std::slice::from_ref(stage);
            missing_of(stage, there)
        });
        let first = missing.into_iter().find(|runs| !runs.is_empty());
        let missing = first.unwrap_or_default().into_iter();
        let orders: Vec<Order> = missing
            .filter_map(|run| self.work.plan.order(run.index))
            .collect();
        let mut ready = GettingReady::new(&self.work.plan.target);
        let (sender, steps) = channel();
        thread::scope(|scope| {
            let tell = move |step: PreparationStep| {
                // The receiver is gone once the target is ready.
                let _ = sender.send(step);
            };
            let preparing = scope.spawn(move || self.target.prepare_telling(&orders, &tell));
            let mut killing = ProcessKiller::default();
            while !preparing.is_finished() {
                thread::sleep(ready::TURN);
                ready.turn(steps.try_iter(), |text| progress.prepares(text));
                if self.interrupt.came() {
                    killing.go_on();
                }
            }
            match preparing.join() {
                Ok(Ok(())) => Ok(()),
                Ok(Err(_)) if self.interrupt.came() => Ok(()),
                Ok(Err(error)) => Err(Failure::Target(error)),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }

    fn stage(
        &self,
        stage: &InterimStage,
        there: &BTreeSet<u32>,
        with: &RunContext<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<(), Failure> {
        let missing: Vec<_> = stage
            .runs
            .iter()
            .filter(|run| !there.contains(&run.index))
            .copied()
            .collect();
        let mut killing = ProcessKiller::default();
        let mut streaks = FailureStreaks::default();
        let engine = Engine {
            plan: &self.work.plan,
            target: self.target,
            jobs: self.jobs,
            twice: with.twice,
            interrupted: self.interrupt.flag(),
        };
        engine.carry_out(
            &missing,
            || killing.go_on(),
            |event| {
                let ended = match event {
                    RunEvent::Ended(ended) => *ended,
                    RunEvent::UnderWay(runs) => {
                        progress.under_way(runs);
                        return Ok(());
                    }
                };
                let expected = with.expected.run(&ended.run);
                let recorded = record::recorded(&self.work.plan, &ended.run, &ended.done, expected);
                with.writer
                    .log(&ended.log_line())
                    .map_err(Failure::Record)?;
                if !ended.again {
                    with.writer.put(&recorded).map_err(Failure::Record)?;
                }
                progress.ended(&ended, &recorded);
                if self.show_output {
                    progress.print_output(&recorded);
                }
                match self.gives_up && !ended.again {
                    true => streaks.add(&recorded, &self.work.directory),
                    false => Ok(()),
                }
            },
        )
    }

    /// Whether the complete blocks settle the question, so that no more runs are needed.
    fn told_enough(&self, stage: &InterimStage) -> Result<bool, Failure> {
        let Some(until) = &self.work.plan.until else {
            return Ok(false);
        };
        let (mut records, terms, _) = compare::gather(&self.work.inputs(), None)?;
        records
            .runs
            .retain(|run| run.block.is_none_or(|block| stage.blocks.contains(&block)));
        let terms = terms.with_complete(stage.blocks.len() as u32);
        let options = output::options(&TrialArguments::default(), &terms)?;
        let document = assize_verdict::try_records(&records, &options)?;
        let primary = self.work.plan.primary.iter().map(|one| one.metric.clone());
        let watched = |metric: &String| until.metric.as_ref().is_none_or(|only| only == metric);
        let watched: Vec<String> = primary.filter(watched).collect();
        Ok(interim::enough(&document, &watched, until.within))
    }
}

/// The runs of all stages that are not recorded yet.
fn missing_of(stages: &[InterimStage], there: &BTreeSet<u32>) -> Vec<PlannedRun> {
    let all = stages.iter().flat_map(|stage| &stage.runs);
    all.filter(|run| !there.contains(&run.index))
        .copied()
        .collect()
}

/// Judges the runs as `compare` does.
fn judge(work: &PlannedWork, arguments: &RunArguments) -> Result<u8, Failure> {
    let (records, terms, _) = compare::gather(&work.inputs(), None)?;
    if records.runs.is_empty() && !nothing_differs(&records.configurations, &records.same) {
        return Err(Failure::NoRun {
            directory: work.directory.clone(),
            why: records.failures.first().map(|failure| failure.why.clone()),
        });
    }
    let trial = TrialArguments {
        question: arguments.question.clone(),
        ..TrialArguments::default()
    };
    let mut document = output::judge(&records, &trial, &terms)?;
    if work.resumed {
        // All runs are done, so the same command would add nothing.
        document.rerun = rerun::command(&work.directory)?;
        document.reproduce = output::compare_command(&work.directory, &arguments.question);
    }
    rerun::add_run_commands(&work.directory, &mut document);
    let material = PageInputs {
        records: &records,
        trial: &trial,
        terms: &terms,
        from: RecordsOrigin::Bundle(&work.directory),
    };
    let code = output::show(&document, &material, &arguments.showing)?;
    all_completed(&records, &work.directory, |_| false)?;
    Ok(code)
}

/// Fails if no run of some configuration completed on a workload, as a requested measurement is
/// then missing. A configuration that `may_lose` all its runs is exempt if each of them ended in a
/// way that counts as a result.
fn all_completed(
    records: &Records,
    directory: &Path,
    may_lose: fn(&str) -> bool,
) -> Result<(), Failure> {
    let mut failed = assize_verdict::failed_cells(records);
    failed.retain(|cell| {
        cell.is_whole() && !(may_lose(cell.configuration) && cell.tells_of_what_was_tried())
    });
    let Some(first) = failed.first().and_then(|cell| cell.failures.first()) else {
        return Ok(());
    };
    let line = |cell: &FailedCell<'_>| {
        let (configuration, workload) = (cell.configuration, cell.workload);
        let n = cell.runs();
        format!("{configuration} on {workload}: {n} of {n}: {}", cell.why())
    };
    Err(Failure::FailedRuns {
        directory: directory.to_path_buf(),
        first: first.order,
        cells: failed.iter().map(line).collect(),
    })
}

fn options(arguments: &RunArguments) -> Options {
    Options {
        fresh: arguments.fresh || arguments.cold,
        cold: arguments.cold,
        unpinned: false,
    }
}

/// A run of a plan, for tests.
#[cfg(test)]
fn planned_run(index: u32) -> PlannedRun {
    PlannedRun {
        index,
        block: 0,
        configuration: 0,
        workload: 0,
        repetition: 1,
        seed: 1,
        image: None,
    }
}
