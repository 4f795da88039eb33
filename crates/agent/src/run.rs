//! One run, from the job to the last record.

use assize_job::{AGENT_SCHEMA, Job, Record, SCHEMA, Scheduling, Stage, Workload};

use crate::channel::Channel;
use crate::instruments::{self, Instrument};
use crate::process::{Body, Child, Left};
use crate::seed::Stream;
use crate::sys::{self, End};
use crate::workload::{self, Reader, output};
use crate::{actions, environment};

/// Process 1 starts the workload this often a second plus the start offset,
/// so that the time which the set-up took does not decide where between two
/// ticks of the kernel the workload starts.
const GRID_NS: u64 = 100_000_000;

/// Sends who answers, and where.
pub(crate) fn hello(channel: &mut Channel, resumed_ns: Option<u64>) {
    channel.send(&Record::Hello {
        schema: AGENT_SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        resumed_ns,
    });
    channel.send(&environment::record());
}

/// Carries out the job, if it can be read. `guest`: as process 1.
pub(crate) fn answer(job: Result<String, String>, channel: &mut Channel, guest: bool) {
    match job.and_then(|text| read(&text)) {
        Ok(job) => Run { job, guest }.carry_out(channel),
        Err(why) => channel.send(&Record::Failed {
            stage: Stage::Start,
            what: "read the job".into(),
            why,
        }),
    }
}

fn read(text: &str) -> Result<Job, String> {
    let job: Job = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if job.schema == SCHEMA {
        Ok(job)
    } else {
        Err(format!(
            "schema {}: this agent knows {SCHEMA}; use the agent that came with assize",
            job.schema
        ))
    }
}

/// A run and how it is carried out.
struct Run {
    job: Job,
    guest: bool,
}

/// A workload that runs beside the measured one.
struct Background {
    name: String,
    child: Child,
    statuses: Vec<i32>,
    /// Not called; what it holds goes when the process has ended.
    _read: Reader,
}

impl Run {
    fn carry_out(&self, channel: &mut Channel) {
        if self.guest
            && let Err(why) = self.reseed()
        {
            channel.send(&failed(
                Stage::Setup,
                "reseed the kernel's random numbers",
                why,
            ));
        }
        let job = &self.job;
        let failures = self.actions(&job.setup, Stage::Setup);
        channel.send_all(&failures);
        if failures.is_empty() {
            self.measure(channel);
        }
        channel.send_all(&self.actions(&job.teardown, Stage::Teardown));
    }

    fn actions(&self, actions: &[assize_job::Action], stage: Stage) -> Vec<Record> {
        let job = &self.job;
        actions::carry_out(actions, stage, job.seed, job.timeout_ms, self.guest)
    }

    /// Has the kernel draw its random numbers from the seed.
    fn reseed(&self) -> Result<(), String> {
        let mut stream = Stream::new(self.job.seed, "kernel");
        let mut bytes = [0; 64];
        for chunk in bytes.chunks_exact_mut(8) {
            chunk.copy_from_slice(&stream.next().to_le_bytes());
        }
        let path = "/dev/urandom";
        let mut options = std::fs::OpenOptions::new();
        options
            .write(true)
            .open(path)
            .and_then(|file| sys::reseed(&file, &bytes))
            .map_err(|error| format!("{path}: {}", sys::words(&error)))
    }

    /// Background, workload and instruments.
    fn measure(&self, channel: &mut Channel) {
        let mut background = Vec::new();
        for (index, workload) in self.job.background.iter().enumerate() {
            match self.start_background(index, workload) {
                Ok(started) => background.push(started),
                Err(why) => {
                    channel.send(&failed(Stage::Background, &workload.name, why));
                    end_background(background, channel);
                    return;
                }
            }
        }
        self.measure_workload(channel);
        end_background(background, channel);
    }

    fn start_background(&self, index: usize, workload: &Workload) -> Result<Background, String> {
        let label = format!("background.{index}");
        let prepared = workload::prepare(workload, &self.job, &label, true)?;
        let mut child = self.start(prepared.body, &prepared.scheduling)?;
        child.release();
        Ok(Background {
            name: workload.name.clone(),
            child,
            statuses: prepared.statuses,
            _read: prepared.read,
        })
    }

    /// Starts a process and waits until it waits.
    fn start(&self, body: Body, scheduling: &Scheduling) -> Result<Child, String> {
        let mut child = Child::start(body, scheduling, self.guest)
            .map_err(|error| format!("new process: {}", sys::words(&error)))?;
        if let Err(why) = child.wait_ready(workload::deadline(self.job.timeout_ms)) {
            child.kill();
            // Why it is not ready is known; how it ended does not matter.
            let _ = child.reap();
            return Err(why);
        }
        Ok(child)
    }

    fn measure_workload(&self, channel: &mut Channel) {
        let workload = &self.job.workload;
        let fail = |why: String| failed(Stage::Workload, &workload.name, why);
        let prepared = match workload::prepare(workload, &self.job, "workload", false) {
            Ok(prepared) => prepared,
            Err(why) => return channel.send(&fail(why)),
        };
        let (mut instruments, missing) = instruments::make(&self.job.instruments);
        channel.send_all(&missing);
        instruments.retain_mut(|instrument| match instrument.open() {
            Ok(()) => true,
            Err(reason) => {
                channel.send(&Record::Unavailable {
                    instrument: instrument.name().into(),
                    metric: None,
                    reason,
                });
                false
            }
        });
        let child = match self.start(prepared.body, &prepared.scheduling) {
            Ok(child) => child,
            Err(why) => return channel.send(&fail(why)),
        };
        let done = self.let_run(child, &mut instruments);
        for instrument in &mut instruments {
            channel.send_all(&instrument.records());
        }
        match done {
            Err(why) => channel.send(&fail(why)),
            Ok((left, elapsed_ns, late)) => {
                let why = late.or_else(|| workload::failure(&left, &prepared.statuses));
                channel.forward(&left.results);
                if let Some(why) = why {
                    channel.send(&fail(why));
                    channel.send_all(&output::raw(&workload.name, &left));
                } else {
                    channel.send_all(&(prepared.read)(&left, elapsed_ns));
                }
            }
        }
    }

    /// Waits for the start, lets the workload run to its end, and measures.
    /// What it left, how long it took, and whether it took too long.
    fn let_run(
        &self,
        mut child: Child,
        instruments: &mut [Box<dyn Instrument>],
    ) -> Result<(Left, u64, Option<String>), String> {
        let offset = Stream::new(self.job.seed, "offset").below(self.job.offset_ns_max);
        let now = sys::now();
        let grid = if self.guest {
            now.next_multiple_of(GRID_NS)
        } else {
            now
        };
        sys::sleep_until(grid + offset);
        for instrument in instruments.iter_mut() {
            instrument.start(child.pid());
        }
        let kills = oom_kills();
        let start = sys::now();
        child.release();
        let in_time = child.wait_end(workload::deadline(self.job.timeout_ms));
        if !in_time {
            child.kill();
            child.wait_end(None);
        }
        let elapsed_ns = sys::now() - start;
        for instrument in instruments.iter_mut().rev() {
            instrument.stop();
        }
        let left = child.reap().map_err(|error| sys::words(&error))?;
        let kills = oom_kills().saturating_sub(kills);
        let late = if !in_time {
            Some(format!(
                "not done after {} ms; it was killed",
                self.job.timeout_ms
            ))
        } else if kills > 0 && left.end != End::Exited(0) {
            Some(format!(
                "the kernel killed {kills} of its processes for lack of memory; \
                 give the machine more"
            ))
        } else {
            None
        };
        Ok((left, elapsed_ns, late))
    }
}

/// Ends what runs beside the workload, and says what ended too early.
fn end_background(background: Vec<Background>, channel: &mut Channel) {
    for Background {
        name,
        child,
        statuses,
        _read,
    } in background
    {
        let early = child.wait_end(Some(0));
        child.kill();
        let left = match child.reap() {
            Ok(left) => left,
            Err(error) => {
                channel.send(&failed(Stage::Background, &name, sys::words(&error)));
                continue;
            }
        };
        if !early {
            continue;
        }
        channel.send(&match workload::failure(&left, &statuses) {
            Some(why) => failed(Stage::Background, &name, why),
            None => Record::Doubt {
                code: "background-ended".into(),
                detail: format!("{name}, in the background, ended before the workload did"),
            },
        });
    }
}

/// How many processes the kernel has killed for lack of memory.
fn oom_kills() -> u64 {
    let counters = std::fs::read_to_string("/proc/vmstat").unwrap_or_default();
    let mut counts = counters
        .lines()
        .filter_map(|line| line.strip_prefix("oom_kill "));
    counts
        .next()
        .and_then(|count| count.parse().ok())
        .unwrap_or(0)
}

fn failed(stage: Stage, what: &str, why: String) -> Record {
    Record::Failed {
        stage,
        what: what.into(),
        why,
    }
}
