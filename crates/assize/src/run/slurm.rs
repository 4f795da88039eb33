//! `assize run --on slurm`: Slurm executes the runs, as an array of jobs.
//!
//! The bundle is the only state. Each job records its runs there and skips recorded ones, so it may
//! be repeated any number of times: Slurm requeues the jobs of a failed node, and runs that are
//! still missing after an array has ended are submitted again. Jobs do not need this process; if it
//! ends, another one can wait for them.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use assize_bundle::Writer;
use assize_plan::PlannedRun;

use super::PlannedWork;
use super::interrupt::Interrupt;
use super::progress::Progress;
use crate::failure::Failure;
use crate::shell;
use crate::terms::recorded_in;

/// The option's name, for messages.
pub(super) const OPTION: &str = "--on slurm";
/// Interval at which the bundle and the queue are polled.
const LOOK: Duration = Duration::from_secs(2);
/// Interval at which an interrupt is checked for.
const PULSE: Duration = Duration::from_millis(50);
/// Maximum number of jobs in an array: Slurm's default for `MaxArraySize` is one more.
const JOBS: u32 = 1000;
/// Runs of a job without `--jobs`: they share the 100 to 150 ms of CPU time to start a job.
const RUNS_EACH: u32 = 25;
/// Jobs per parallel job allowed by `--jobs`. With several, all finish at about the same time, and
/// less is lost with a job.
const JOBS_EACH: u32 = 2;

/// Fails unless the runs of this target are the same on every node.
pub(crate) fn must_be_exact(target: &str) -> Result<(), Failure> {
    match target {
        "exact" => Ok(()),
        _ => Err(Failure::Argument(format!(
            "{OPTION}: needs the target exact; on {target} runs differ from node to node"
        ))),
    }
}

/// Submits the runs of a bundle.
#[derive(Debug)]
pub(super) struct Slurm {
    /// The bundle, as an absolute path; also the name of the jobs.
    bundle: PathBuf,
    /// Jobs at a time, if limited.
    at_once: Option<u32>,
    fresh: bool,
}

impl Slurm {
    /// `at_once`: maximum number of parallel jobs. `fresh`: whether jobs ignore the cache.
    pub(super) fn new(
        work: &PlannedWork,
        at_once: Option<u32>,
        fresh: bool,
    ) -> Result<Slurm, Failure> {
        must_be_exact(&work.plan.target)?;
        Ok(Slurm {
            bundle: std::path::absolute(&work.directory).map_err(|source| Failure::Read {
                path: work.directory.clone(),
                source,
            })?,
            at_once,
            fresh,
        })
    }

    /// Submits these runs, and returns once all are recorded or an interrupt came.
    pub(super) fn carry_out(
        &self,
        runs: &[PlannedRun],
        interrupt: &Interrupt,
        progress: &mut Progress<'_>,
    ) -> Result<(), Failure> {
        let mut missing: Vec<PlannedRun> = runs.to_vec();
        let there = recorded_in(&self.bundle)?;
        missing.retain(|run| !there.contains(&run.index));
        // Fails here if Slurm is missing. Later errors are assumed to be restarts of its
        // controller.
        self.queued()?;
        let mut submitted: Option<String> = None;
        loop {
            // The first iteration waits for jobs submitted by an earlier command.
            let before = missing.len();
            self.wait(&mut missing, interrupt, progress)?;
            if interrupt.came() {
                return Ok(());
            }
            let Some(array) = JobArray::for_runs(&missing, self.at_once) else {
                return Ok(());
            };
            if let Some(id) = &submitted {
                self.must_go_on(id, missing.len() < before)?;
            }
            let id = self.submit(&array)?;
            let (runs, jobs) = (missing.len(), array.jobs.len());
            progress.print(&format!("{runs} runs in {jobs} jobs of Slurm: {id}"));
            submitted = Some(id);
        }
    }

    /// Removes the remains of killed jobs, and the output of jobs.
    pub(super) fn clean(&self, writer: &Writer) -> Result<(), Failure> {
        // Leaving the directory behind is harmless.
        let _ = fs::remove_dir_all(self.outputs());
        writer.clean().map_err(Failure::Record)
    }

    /// The directory for the output of jobs.
    fn outputs(&self) -> PathBuf {
        let mut name = self.bundle.clone().into_os_string();
        name.push(".slurm");
        name.into()
    }

    /// The name of the jobs. A comma would separate names for `squeue`.
    fn name(&self) -> String {
        self.bundle.to_string_lossy().replace(',', "_")
    }

    /// Submits an array of jobs and returns its ID.
    fn submit(&self, array: &JobArray) -> Result<String, Failure> {
        let outputs = self.outputs();
        fs::create_dir_all(&outputs).map_err(|source| Failure::Write {
            what: outputs.display().to_string(),
            source,
        })?;
        let program = std::env::current_exe().map_err(|source| Failure::Read {
            path: "/proc/self/exe".into(),
            source,
        })?;
        let limit = self
            .at_once
            .map_or_else(String::new, |most| format!("%{most}"));
        let mut sbatch = Command::new("sbatch");
        sbatch
            .args([
                "--parsable",
                "--requeue",
                "--open-mode=append",
                "--ntasks=1",
            ])
            .arg(format!("--array={}{limit}", ranges(&array.jobs)))
            .arg(format!("--job-name={}", self.name()))
            .arg(format!("--output={}/%a.txt", outputs.display()));
        let id = printed(sbatch, &array.script(&program, &self.bundle, self.fresh))?;
        // In a federation, the ID is followed by the cluster.
        Ok(id.split(';').next().unwrap_or_default().trim().to_owned())
    }

    /// Waits until no job of this bundle is queued, and removes recorded runs from `missing`.
    fn wait(
        &self,
        missing: &mut Vec<PlannedRun>,
        interrupt: &Interrupt,
        progress: &mut Progress<'_>,
    ) -> Result<(), Failure> {
        let (mut said, mut goes_on) = (String::new(), false);
        loop {
            // The queue is read before the bundle, so that the last job's runs are seen. While runs
            // are being recorded, there must be jobs.
            let queued = if goes_on { Ok(true) } else { self.queued() };
            let there = recorded_in(&self.bundle)?;
            let before = missing.len();
            missing.retain(|run| {
                let done = there.contains(&run.index);
                if done {
                    progress.recorded_elsewhere(run);
                }
                !done
            });
            goes_on = missing.len() < before && !missing.is_empty();
            match queued {
                Ok(false) => return Ok(()),
                Ok(true) => {}
                Err(failure) => {
                    let why = failure.to_string();
                    if why != said {
                        progress.print(&why);
                        said = why;
                    }
                }
            }
            let look = Instant::now() + LOOK;
            while Instant::now() < look {
                if interrupt.came() {
                    return Ok(());
                }
                thread::sleep(PULSE);
            }
        }
    }

    /// Whether any job of this bundle is pending or running.
    fn queued(&self) -> Result<bool, Failure> {
        let mut squeue = Command::new("squeue");
        squeue.args(["--noheader", "--format=%i"]);
        squeue.arg(format!("--name={}", self.name()));
        Ok(!printed(squeue, "")?.trim().is_empty())
    }

    /// Fails if the last array was cancelled or recorded no run.
    fn must_go_on(&self, id: &str, recorded_some: bool) -> Result<(), Failure> {
        let failed = |why: String| Failure::Command {
            option: OPTION.into(),
            command: format!("job {id}"),
            why,
        };
        let mut squeue = Command::new("squeue");
        squeue.args(["--noheader", "--format=%i", "--states=CANCELLED"]);
        squeue.arg(format!("--jobs={id}"));
        // The query may fail, as Slurm forgets jobs after some minutes; recorded runs decide then.
        if printed(squeue, "").is_ok_and(|jobs| !jobs.trim().is_empty()) {
            return Err(failed("was cancelled".into()));
        }
        if recorded_some {
            return Ok(());
        }
        let outputs = self.outputs();
        let last = last_line(&outputs).unwrap_or_else(|| "the jobs printed nothing".into());
        Err(failed(format!(
            "no run was recorded: {last}; see {}",
            outputs.display()
        )))
    }
}

/// A job array; each job executes the same number of consecutive runs.
#[derive(Debug, PartialEq, Eq)]
struct JobArray {
    first: u32,
    last: u32,
    each: u32,
    /// The jobs that have missing runs.
    jobs: BTreeSet<u32>,
}

impl JobArray {
    /// The jobs for the missing runs; `None` if there are none.
    fn for_runs(missing: &[PlannedRun], at_once: Option<u32>) -> Option<JobArray> {
        let indices: BTreeSet<u32> = missing.iter().map(|run| run.index).collect();
        let (&first, &last) = (indices.first()?, indices.last()?);
        let runs = last - first + 1;
        let jobs = match at_once {
            Some(most) => most.saturating_mul(JOBS_EACH),
            None => runs.div_ceil(RUNS_EACH),
        };
        let each = runs.div_ceil(jobs.min(JOBS));
        Some(JobArray {
            first,
            last,
            each,
            jobs: indices.iter().map(|index| (index - first) / each).collect(),
        })
    }

    fn script(&self, program: &Path, bundle: &Path, fresh: bool) -> String {
        let JobArray {
            first, last, each, ..
        } = self;
        let [program, bundle] = [program, bundle].map(|path| shell::quote(path.as_os_str()));
        let fresh = if fresh { " --fresh" } else { "" };
        format!(
            "#!/bin/sh\n\
             first=$(({first} + SLURM_ARRAY_TASK_ID * {each}))\n\
             last=$((first + {each} - 1))\n\
             [ $last -le {last} ] || last={last}\n\
             exec {program} run-one {bundle} --index $first-$last --out {bundle}{fresh}\n"
        )
    }
}

/// `0-7,9`.
fn ranges(numbers: &BTreeSet<u32>) -> String {
    let mut ranges: Vec<[u32; 2]> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some([_, end]) if *end + 1 == number => *end = number,
            _ => ranges.push([number, number]),
        }
    }
    let text = ranges.into_iter().map(|[first, end]| match first == end {
        true => first.to_string(),
        false => format!("{first}-{end}"),
    });
    text.collect::<Vec<_>>().join(",")
}

/// The standard output of a Slurm command, given `input`.
fn printed(mut command: Command, input: &str) -> Result<String, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let failed = |why: String| Failure::Command {
        option: OPTION.into(),
        command: name.clone(),
        why,
    };
    let missing = |error: std::io::Error| failed(error.to_string());
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(missing)?;
    if let Some(mut stdin) = child.stdin.take() {
        // If the command does not read everything, its message says why.
        let _ = stdin.write_all(input.as_bytes());
    }
    let done = child.wait_with_output().map_err(missing)?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr)
            .trim()
            .replace('\n', "; ");
        return Err(failed(said));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// The last line of output of any job.
fn last_line(outputs: &Path) -> Option<String> {
    let entries = fs::read_dir(outputs).ok()?.flatten();
    let newest = entries.max_by_key(|entry| {
        let about = entry.metadata().ok()?;
        Some((about.len() > 0, about.modified().ok()?))
    })?;
    let text = fs::read(newest.path()).ok()?;
    let text = String::from_utf8_lossy(&text);
    text.lines().last().map(str::to_owned)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;
    use crate::run::planned_run;

    fn array(missing: impl IntoIterator<Item = u32>, at_once: Option<u32>) -> JobArray {
        let missing: Vec<PlannedRun> = missing.into_iter().map(planned_run).collect();
        JobArray::for_runs(&missing, at_once).unwrap()
    }

    /// The runs executed by the jobs of an array, started by a shell as on a node.
    fn executed(array: &JobArray) -> Vec<u32> {
        let script = array.script(Path::new("echo"), Path::new("b"), false);
        let mut all = Vec::new();
        for job in &array.jobs {
            let mut shell = Command::new("sh");
            shell
                .args(["-c", &script])
                .env("SLURM_ARRAY_TASK_ID", job.to_string());
            let said = printed(shell, "").unwrap();
            let range = said.split(' ').nth(3).unwrap();
            let (first, last) = range.split_once('-').unwrap();
            all.extend(first.parse::<u32>().unwrap()..=last.parse().unwrap());
        }
        all
    }

    #[test]
    fn every_missing_run_is_in_one_job_and_none_beyond_the_last() {
        for (missing, at_once) in [
            ((0..200).collect::<Vec<_>>(), Some(4)),
            ((0..200).collect(), None),
            ((100..2000).collect(), None),
            (vec![7], None),
            (vec![3, 4, 90, 199], Some(1)),
        ] {
            let array = array(missing.clone(), at_once);
            let all = executed(&array);
            let set: BTreeSet<u32> = all.iter().copied().collect();
            assert_eq!(set.len(), all.len(), "{array:?}");
            assert!(missing.iter().all(|index| set.contains(index)), "{array:?}");
            assert_eq!(set.last(), missing.last());
            assert!(array.jobs.iter().all(|job| *job < JOBS));
        }
    }

    #[test]
    fn a_job_executes_25_runs_unless_that_makes_too_many_jobs() {
        assert_eq!(array(0..200, None).each, 25);
        assert_eq!(array(0..200, Some(10)).each, 10);
        assert_eq!(array(0..200, Some(100)).each, 1);
        assert_eq!(array(0..50_000, None).each, 50);
    }

    #[test]
    fn consecutive_jobs_are_one_range() {
        let text = |numbers: &[u32]| ranges(&numbers.iter().copied().collect());
        assert_eq!(text(&[0, 1, 2, 3]), "0-3");
        assert_eq!(text(&[0, 2, 3, 9]), "0,2-3,9");
        assert_eq!(text(&[]), "");
    }
}
