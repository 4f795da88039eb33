//! `assize debug`: repeats a recorded run and stops it for a debugger.

mod at;
pub(crate) mod clock;
mod gdb;
mod history;
pub(crate) mod moment;
pub(crate) mod place;
mod point;
mod relay;
mod signals;
mod stops;

use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::slice;

use assize_plan::Plan;
use assize_report::milliseconds;
use assize_target::Target;
use assize_target::exact::{DebuggedRun, DebuggerFiles, Exact, Options, TaskTypes};
use assize_target::gdb_stub::{GdbStub, StubError};
use assize_why::kernel_elf::{KernelSymbol, kernel_symbols};

use crate::cli::DebugArguments;
use crate::failure::Failure;
use crate::levels::ExpectedParts;
use crate::output;
use crate::repeat::{RunToRepeat, exact_plan};
use crate::run::target;

use at::At;
use clock::GuestClock;
use gdb::GdbFiles;
use history::History;
use place::{Missed, Place, Standing};
use relay::{Doors, Interruption, SeenMachine};
use signals::Signals;

/// Distance of the checkpoint before the time of `--at`, in ns.
const CHECKPOINT_BEFORE: u64 = 100_000;

/// Symbols and types of a kernel, for gdb.
pub(crate) struct KernelFacts {
    pub(crate) symbols: Vec<KernelSymbol>,
    /// Its BTF, if there is any.
    types: Option<Vec<u8>>,
    /// Its clock, or why the clock cannot be read.
    pub(crate) clock: Result<GuestClock, String>,
}

/// A run that is stopped at the requested place.
struct StoppedRun<'a> {
    seen: SeenMachine<'a>,
    again: &'a RunToRepeat<'a>,
    kernel: KernelFacts,
    signals: Signals,
    place: DebuggerFiles,
}

/// Repeats a run, stops it at a place, and hands it over to a debugger.
pub(crate) fn debug(arguments: &DebugArguments) -> Result<u8, Failure> {
    let plan = exact_plan(&arguments.bundle, "debug")?;
    let again = RunToRepeat::recorded(&plan, arguments.run, &arguments.bundle, "debug")?;
    let (place, what) = place(&plan, &again, arguments)?;
    let port = arguments.port.map(bind).transpose()?;
    if port.is_none() {
        check_gdb(&arguments.gdb)?;
    }
    let exact = target::exact(Options::default())?;
    exact.prepare(slice::from_ref(&again.order))?;
    again.refuse_other_machine(&exact, "debug")?;
    let expected = ExpectedParts::for_runs(&plan, &[again.run], &exact)?;
    // From here on there are machines to clean up after a signal.
    let signals = Signals::watch()?;
    let kernel = KernelFacts::read(&exact, &again, "debug")?;
    let interruption = Interruption::default();
    let mut stopped = StoppedRun {
        seen: SeenMachine {
            run: exact.debug(&again.order, 0)?,
            history: History::new(&exact, &again.order, &interruption.any),
            before_write: None,
            interruption,
        },
        again: &again,
        kernel,
        signals,
        place: exact.debugger_files()?,
    };
    let standing = stopped.bring_to(&place)?;
    stopped.tell(&standing, &what);
    match port {
        Some(listener) => stopped.wait_at(listener)?,
        None => stopped.leave_to_gdb(arguments)?,
    }
    let StoppedRun { seen, signals, .. } = stopped;
    let (mut run, written) = (seen.run, seen.before_write.is_some());
    run.let_go();
    signals.wait_for(|| run.has_ended())?;
    let done = run.finish()?;
    let difference = again.difference(&plan, &done, &expected);
    let (text, code) = verdict(written, difference.as_deref());
    output::print(format!("run {}: {text}\n", again.run.index).as_bytes())?;
    Ok(code)
}

/// The result of the repeated run in words, and the exit status: 0 only if the run was left
/// unchanged and gave the recorded result.
fn verdict(written: bool, difference: Option<&str>) -> (String, u8) {
    let another = "memory or registers were written, so this is a different run now";
    match (written, difference) {
        (false, None) => ("the result is as recorded".into(), 0),
        (false, Some(what)) => (format!("the result is not as recorded: {what}"), 1),
        (true, None) => (format!("{another}, with the recorded result"), 1),
        (true, Some(what)) => (format!("{another}: {what}"), 1),
    }
}

/// The place of `--at`, and a description if it is a recorded moment, else an empty one.
fn place(
    plan: &Plan,
    again: &RunToRepeat<'_>,
    arguments: &DebugArguments,
) -> Result<(Place, String), Failure> {
    let wrong = |why| Failure::Argument(format!("debug: --at: {why}"));
    let text = arguments.at.as_deref();
    if arguments.metric.is_some() && !matches!(text, Some("worst" | "worst:end")) {
        let why = "debug: --metric: it applies to --at worst only; add --at worst";
        return Err(Failure::Argument(why.into()));
    }
    let Some(text) = text else {
        return Ok((Place::Begin, String::new()));
    };
    match At::parse(text).map_err(wrong)? {
        At::Place(place) => Ok((place, String::new())),
        At::Moment(moment) => {
            let (recorded, metric) = (&again.recorded, arguments.metric.as_deref());
            let (time, what) = moment.find(plan, recorded, again.bundle, metric)?;
            Ok((Place::Time(time), what))
        }
    }
}

fn bind(port: u16) -> Result<TcpListener, Failure> {
    TcpListener::bind(("127.0.0.1", port)).map_err(|error| {
        Failure::Argument(format!("debug: --port {port}: {error}; choose another"))
    })
}

fn check_gdb(program: &Path) -> Result<(), Failure> {
    match gdb::runs(program) {
        Ok(true) => Ok(()),
        Ok(false) => Err(gdb_failure(program, "it fails with --version")),
        Err(error) => Err(gdb_failure(program, &error.to_string())),
    }
}

fn gdb_failure(program: &Path, why: &str) -> Failure {
    Failure::Argument(format!(
        "debug: {}: {why}; apt-get install gdb, or name one with --gdb",
        program.display()
    ))
}

impl KernelFacts {
    /// Reads the facts about the kernel of a run.
    pub(crate) fn read(
        exact: &Exact,
        again: &RunToRepeat<'_>,
        verb: &str,
    ) -> Result<KernelFacts, Failure> {
        let texts = exact.symbols(&again.order, 0)?;
        let symbols = kernel_symbols(&String::from_utf8_lossy(&texts.kallsyms));
        let symbols = symbols.map_err(|error| {
            Failure::Argument(format!("{verb}: {}: {error}", again.order.machine.kernel))
        })?;
        let clock = match &texts.tasks {
            TaskTypes::Btf(types) => GuestClock::find(&symbols, types),
            TaskTypes::Offsets(_) => Err("it has no BTF (CONFIG_DEBUG_INFO_BTF)".into()),
        };
        let types = match texts.tasks {
            TaskTypes::Btf(types) => Some(types),
            TaskTypes::Offsets(_) => None,
        };
        Ok(KernelFacts {
            symbols,
            types,
            clock,
        })
    }
}

impl StoppedRun<'_> {
    /// Continues the machine up to a place. Before a time it takes a checkpoint, so that the first
    /// steps back are short.
    fn bring_to(&mut self, place: &Place) -> Result<Standing, Failure> {
        let stub = self.seen.run.stub().map_err(Missed::from);
        let standing = stub.and_then(|stub| {
            let mut stub = stub.cancelled_by(&self.signals.flag());
            if let Place::Time(time) = place {
                self.keep_before(&mut stub, *time)?;
            }
            self.go_to(&mut stub, place)
        });
        standing.map_err(|missed| match missed {
            Missed::Stub(StubError::Cancelled) => Failure::InterruptedEarly,
            missed => Failure::Argument(format!("debug: --at: {missed}")),
        })
    }

    fn go_to(&self, stub: &mut GdbStub, place: &Place) -> Result<Standing, Missed> {
        let KernelFacts { symbols, clock, .. } = &self.kernel;
        place::go_to(stub, place, symbols, clock)
    }

    fn keep_before(&mut self, stub: &mut GdbStub, time: u64) -> Result<(), Missed> {
        let before = Place::Time(time.saturating_sub(CHECKPOINT_BEFORE));
        match self.go_to(stub, &before) {
            Ok(standing) => {
                let SeenMachine { run, history, .. } = &mut self.seen;
                // Without the checkpoint, steps back only take longer.
                let _ = history.keep(run, stub, standing.count);
                Ok(())
            }
            // The run begins later than that.
            Err(Missed::None(_)) => Ok(()),
            Err(Missed::Ended(_)) => Err(Missed::Ended(format!("{} ms", milliseconds(time)))),
            Err(missed) => Err(missed),
        }
    }

    fn tell(&self, standing: &Standing, what: &str) {
        let run = &self.again.recorded.run;
        let at = if what.is_empty() { "" } else { " at " };
        eprintln!(
            "assize: run {} ({}, {}) stopped{at}{what}: CPU {}, instruction {}",
            self.again.run.index, run.configuration, run.workload, standing.cpu, standing.count
        );
    }

    /// Starts gdb and serves it until it exits.
    fn leave_to_gdb(&mut self, arguments: &DebugArguments) -> Result<(), Failure> {
        let door = self.place.socket();
        let failed = |source| Failure::Write {
            what: door.display().to_string(),
            source,
        };
        let doors = UnixListener::bind(&door).map(Doors::Socket);
        let doors = doors.and_then(Doors::without_waiting).map_err(failed)?;
        let files = self.files(&door.display().to_string())?;
        self.signals.end(&self.seen.interruption, false)?;
        let mut gdb = files
            .start(&arguments.gdb, &arguments.arguments)
            .map_err(|error| gdb_failure(&arguments.gdb, &error.to_string()))?;
        self.seen
            .serve(&doors, |_| !matches!(gdb.try_wait(), Ok(None)));
        self.signals.leave(&mut gdb)
    }

    /// Serves debuggers on a port until the run has ended.
    fn wait_at(&mut self, listener: TcpListener) -> Result<(), Failure> {
        let failed = |source| Failure::Write {
            what: "a port".into(),
            source,
        };
        let address = listener.local_addr().map_err(failed)?;
        let doors = Doors::Port(listener).without_waiting().map_err(failed)?;
        let files = self.files(&address.to_string())?;
        eprintln!("assize: in another terminal: gdb {}", files.options());
        self.signals.end(&self.seen.interruption, true)?;
        self.seen.serve(&doors, DebuggedRun::has_ended);
        self.signals.wait_for(|| self.seen.run.has_ended())
    }

    fn files(&self, door: &str) -> Result<GdbFiles, Failure> {
        let directory = self.place.directory();
        GdbFiles::write(directory, door, &self.kernel).map_err(|source| Failure::Write {
            what: directory.display().to_string(),
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_equal_answer_of_an_unwritten_run_is_a_success() {
        assert_eq!(verdict(false, None).1, 0);
        for (written, difference) in [(true, None), (true, Some("x")), (false, Some("x"))] {
            let (text, code) = verdict(written, difference);
            assert_eq!(code, 1);
            assert_eq!(text.contains("a different run"), written, "{text}");
        }
    }
}
