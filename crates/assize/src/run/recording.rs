//! Records the runs of an experiment that another verb has generated.

use std::fs;
use std::path::{Path, PathBuf};

use assize_bundle::Records;
use assize_plan::{Overrides, Plan};
use assize_target::exact::Options;

use super::interrupt::Interrupt;
use super::slurm::Slurm;
use super::{
    PlannedWork, RunSession, all_completed, askable, declared, jobs, place, planning, target,
};
use crate::cli::{QuestionArguments, Scheduler};
use crate::compare;
use crate::failure::Failure;
use crate::shell;
use crate::terms::JudgingTerms;

/// The experiment, and the options for running it.
#[derive(Debug)]
pub(crate) struct Recording<'a> {
    /// The experiment file.
    pub(crate) text: &'a str,
    /// The default name of the bundle: `NAME.bundle`.
    pub(crate) name: &'a str,
    /// The directory of the bundle, if not the default one.
    pub(crate) out: Option<PathBuf>,
    /// Whether to continue a bundle of the same experiment that exists there.
    pub(crate) resume: bool,
    /// The kernel of every machine, if not the experiment's.
    pub(crate) kernel: Option<String>,
    /// Runs of each configuration on each workload, if not the experiment's.
    pub(crate) runs: Option<u32>,
    /// Maximum number of parallel runs.
    pub(crate) jobs: Option<u32>,
    /// What executes the runs, if not this process.
    pub(crate) on: Option<Scheduler>,
    /// Whether to print no progress.
    pub(crate) quiet: bool,
    /// The question that the runs will be judged on, which is checked first.
    pub(crate) question: &'a QuestionArguments,
    /// Whether all runs of a configuration may end abnormally; that is then a result.
    pub(crate) may_lose: fn(&str) -> bool,
    /// Whether to give up once the first runs of a configuration have all failed.
    pub(crate) gives_up: bool,
    /// Whether to print the output of each run.
    pub(crate) show_output: bool,
}

/// The recorded runs.
#[derive(Debug)]
pub(crate) struct MeasuredRecords {
    /// The bundle.
    pub(crate) directory: PathBuf,
    /// All records of the bundle.
    pub(crate) records: Records,
    /// The terms for judging it.
    pub(crate) terms: JudgingTerms,
    /// Runs of each configuration on each workload.
    pub(crate) runs: u32,
}

impl MeasuredRecords {
    /// The number of completed runs and of all runs, unless these are equal.
    pub(crate) fn completed(&self) -> Option<[usize; 2]> {
        let (done, lost) = (self.records.runs.len(), self.records.failures.len());
        (lost > 0).then_some([done, done + lost])
    }
}

/// Name of the copy of the experiment file in the bundle.
const FILE: &str = "experiment.toml";

/// Runs an experiment, and stores its file in the bundle.
pub(crate) fn record_runs(recording: &Recording<'_>) -> Result<MeasuredRecords, Failure> {
    ReadyExperiment::planned(recording)?.carry_out()
}

/// Plans the text of an experiment; fails if it has mistakes.
pub(crate) fn planned(text: &str, file: &Path) -> Result<Plan, Failure> {
    checked(text, file, &Overrides::default())
}

fn checked(text: &str, file: &Path, overrides: &Overrides) -> Result<Plan, Failure> {
    planned_with(text, &shell::name_of(file), overrides)
}

/// Like [`planned`], with a name for messages and with overrides.
pub(crate) fn planned_with(text: &str, name: &str, overrides: &Overrides) -> Result<Plan, Failure> {
    let experiment = assize_plan::parse(text, name)?;
    let plan = experiment.plan(overrides)?;
    declared::check(&experiment)?;
    planning::replays(&plan)?;
    Ok(plan)
}

/// A planned experiment that has been checked.
pub(crate) struct ReadyExperiment<'a> {
    recording: &'a Recording<'a>,
    work: PlannedWork,
    file: PathBuf,
}

impl<'a> ReadyExperiment<'a> {
    /// Plans an experiment, before anything is run.
    pub(crate) fn planned(recording: &'a Recording<'a>) -> Result<Self, Failure> {
        let directory = match &recording.out {
            Some(directory) => {
                if !recording.resume {
                    place::must_be_free(directory)?;
                }
                directory.clone()
            }
            None => place::free(recording.name.as_ref()),
        };
        let resumed = recording.resume && assize_bundle::read_plan(&directory).is_ok();
        let file = directory.join(FILE);
        let overrides = Overrides {
            runs: recording.runs,
            kernel: recording.kernel.clone(),
            ..Overrides::default()
        };
        let plan = checked(recording.text, &file, &overrides)?;
        askable(&plan, recording.question)?;
        Ok(ReadyExperiment {
            recording,
            work: PlannedWork {
                plan,
                directory,
                resumed,
            },
            file,
        })
    }

    /// Runs the experiment.
    pub(crate) fn carry_out(self) -> Result<MeasuredRecords, Failure> {
        let ReadyExperiment {
            recording,
            work,
            file,
        } = self;
        let interrupt = Interrupt::watch()?;
        let target = target::named_target(&work.plan.target, Options::default())?;
        let slurm = match recording.on {
            Some(Scheduler::Slurm) => Some(Slurm::new(&work, recording.jobs, false)?),
            None => None,
        };
        let doing = RunSession {
            work: &work,
            target: target.as_ref(),
            interrupt: &interrupt,
            jobs: jobs(recording.jobs, target.as_ref()),
            gives_up: recording.gives_up,
            slurm: slurm.as_ref(),
            show_output: recording.show_output,
        };
        let tally = doing.carry_out(recording.quiet)?;
        fs::write(&file, recording.text).map_err(|source| Failure::Write {
            what: file.display().to_string(),
            source,
        })?;
        doing.not_interrupted(&tally)?;
        let (records, terms, _) = compare::gather(&work.inputs(), None)?;
        all_completed(&records, &work.directory, recording.may_lose)?;
        let cells = work.plan.configurations.len() * work.plan.workloads.len();
        Ok(MeasuredRecords {
            runs: ((records.runs.len() + records.failures.len()) / cells.max(1)) as u32,
            directory: work.directory,
            records,
            terms,
        })
    }
}
