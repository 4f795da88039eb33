//! `assize hunt`: looks for the interleavings with which something fails.

mod against;
mod cells;
mod found;
mod journal;
mod oracle;
mod rates;
mod shrink;
mod strategy;
mod subject;
mod tally;

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use assize_bundle::Writer;
use assize_plan::{Overrides, Plan, PlannedRun};
use assize_report::{FoundFailure, HUNT, HUNT_LIMITS, Hunt};
use assize_target::exact::Options;
use assize_target::kernels::Kernels;

use crate::cli::{HuntArguments, HuntFormat, Strategy, TryArguments};
use crate::failure::Failure;
use crate::parallel_map;
use crate::run::interrupt::Interrupt;
use crate::run::{free_with, head_of, planned_with, target};
use crate::trying::{BuiltChange, measure_and_judge};
use crate::{output, shell};
use against::Sides;
use cells::Hunted;
use found::{Shortest, shortest};
use journal::Journal;
use oracle::Oracles;
pub(crate) use rates::BuildHunts;
use subject::HuntSubject;
pub(crate) use tally::SidePair;
use tally::{HuntTally, JournalRun};

/// How many schedules are tried, unless the command line says otherwise.
pub(crate) const SCHEDULES: u32 = 400;
/// How long a run may take, in ms of the guest's time, unless the command line says otherwise. The
/// kernel notices a hung task after 2 s at the earliest.
const TIMEOUT_MS: u64 = 3000;
/// Each schedule is a batch of its own.
const BATCH: usize = 1 << 18;
/// A terminal sends an interrupt to a machine and to us at the same time.
const PULSE: Duration = Duration::from_millis(50);

/// Tries schedules, and shows what fails with them.
pub(crate) fn hunt(arguments: &HuntArguments) -> Result<u8, Failure> {
    let begin = || HuntSubject::new(arguments, shell::repeating_command());
    hunt_or_resume(arguments, begin)
}

/// `assize try --hunt`: hunts with both sides of a change.
pub(crate) fn hunt_change(arguments: &TryArguments) -> Result<u8, Failure> {
    if let Some(directory) = &arguments.out {
        Journal::may_create(directory)?;
    }
    let built = BuiltChange::of_try(arguments)?;
    if !built.differs() {
        return measure_and_judge(arguments, built);
    }
    let options = HuntArguments {
        seeds: arguments.runs,
        json: arguments.json,
        quiet: arguments.quiet,
        output: arguments.output.clone(),
        out: arguments.out.clone(),
        ..HuntArguments::default()
    };
    hunt_or_resume(&options, || {
        let command = shell::repeating_command();
        let sides = Sides::of_change(&built)?;
        Ok(HuntSubject::of_sides(
            "try".into(),
            sides,
            &options,
            command,
        ))
    })
}

fn hunt_or_resume(
    arguments: &HuntArguments,
    begin: impl FnOnce() -> Result<HuntSubject, Failure>,
) -> Result<u8, Failure> {
    let interrupt = Interrupt::watch()?;
    let until = arguments.duration.as_deref().map(until).transpose()?;
    let (mut journal, subject, hunted, runs) = match &arguments.resume {
        Some(directory) => {
            let (journal, subject, runs) = Journal::resume(directory)?;
            let hunted = prepare(&subject)?;
            (journal, subject, hunted, runs)
        }
        None => {
            if let Some(directory) = &arguments.out {
                Journal::may_create(directory)?;
            }
            let subject = begin()?;
            let name = || free_with(subject.name.as_ref(), "hunt");
            let directory = arguments.out.clone().unwrap_or_else(name);
            Journal::may_create(&directory)?;
            let hunted = prepare(&subject)?;
            let journal = Journal::create(&directory, &subject)?;
            (journal, subject, hunted, Vec::new())
        }
    };
    let cells = &hunted.plan.runs.clone();
    let mut tally = HuntTally::default();
    for runs in journal::complete(runs, cells.len()) {
        tally.add(cells, &runs);
    }
    let search = ScheduleSearch {
        hunted: &hunted,
        strategies: subject.strategies(),
        most: most(arguments),
        until,
        first: arguments.first,
        quiet: arguments.quiet,
        interrupt: &interrupt,
    };
    search.carry_out(&mut tally, &mut journal)?;
    let document = conclude(&hunted, &tally, &journal, &subject, &interrupt)?;
    show(&document, arguments)?;
    if interrupt.came() {
        let directory = journal.directory().as_os_str();
        let words = ["hunt".as_ref(), "--resume".as_ref(), directory];
        return Err(Failure::Stopped {
            again: shell::command_line(words.into_iter()),
        });
    }
    Ok(0)
}

/// The number of the last schedule.
fn most(arguments: &HuntArguments) -> u32 {
    match (arguments.seeds, &arguments.duration) {
        (Some(seeds), _) => seeds,
        (None, Some(_)) => u32::MAX,
        (None, None) => SCHEDULES,
    }
}

/// When the time is up.
fn until(text: &str) -> Result<Instant, Failure> {
    let seconds = assize_audit::parse_duration(text);
    let seconds = seconds.map_err(|why| Failure::Argument(format!("hunt: --for: {why}")))?;
    let end = Duration::try_from_secs_f64(seconds).ok();
    let end = end.and_then(|length| Instant::now().checked_add(length));
    end.ok_or_else(|| Failure::Argument(format!("hunt: --for: '{text}' is too long")))
}

fn plan(subject: &HuntSubject) -> Result<Plan, Failure> {
    let overrides = Overrides {
        runs: Some(1),
        kernel: subject.kernel.clone(),
        cpus: subject.cpus,
        levels: subject.levels.iter().cloned().collect(),
        ..Overrides::default()
    };
    let plan = planned_with(&subject.experiment, &subject.name, &overrides)?;
    if plan.target != "exact" {
        return Err(Failure::Argument(format!(
            "hunt: {}: its target is {}; only runs on exact machines can be repeated",
            subject.name, plan.target
        )));
    }
    Ok(plan)
}

fn prepare(subject: &HuntSubject) -> Result<Hunted, Failure> {
    let exact = target::exact(Options {
        unpinned: true,
        ..Options::default()
    })?;
    let oracles = Oracles::parse(&subject.until, &subject.until_log)?;
    let plan = plan(subject)?;
    must_notice(&oracles, &plan)?;
    let timeout = subject
        .timeout_ms
        .unwrap_or(plan.timeout_ms.min(TIMEOUT_MS));
    Hunted::prepare(plan, exact, oracles, timeout)
}

/// Refuses to look for what a kernel cannot notice.
fn must_notice(oracles: &Oracles, plan: &Plan) -> Result<(), Failure> {
    let kernels = Kernels::new(Kernels::default_root()?);
    for configuration in &plan.configurations {
        let name = &configuration.machine.kernel;
        // Without its configuration nothing is known; one that is not there yet is fetched.
        let Ok(kernel) = kernels.resolve(name) else {
            continue;
        };
        let config = kernel.config.as_ref();
        let Some(text) = config.and_then(|path| std::fs::read_to_string(path).ok()) else {
            continue;
        };
        for (word, option) in oracles.kernel_options() {
            if !text.lines().any(|line| line == format!("{option}=y")) {
                return Err(Failure::Argument(format!(
                    "hunt: --until {word}: the kernel {name} is built without {option}; choose one \
                     that has it: --kernel NAME (`assize kernel list`)"
                )));
            }
        }
    }
    Ok(())
}

/// What is tried, and when it ends.
struct ScheduleSearch<'a> {
    hunted: &'a Hunted,
    strategies: Vec<Strategy>,
    /// The number of the last schedule.
    most: u32,
    /// When the time is up.
    until: Option<Instant>,
    /// Whether to stop at the first failure.
    first: bool,
    quiet: bool,
    interrupt: &'a Interrupt,
}

/// Why no further schedule is looked at.
enum WhyStopped {
    Enough,
    Failed(Box<Failure>),
}

impl ScheduleSearch<'_> {
    /// Tries schedules, several at a time, and counts them in the order of their numbers.
    fn carry_out(&self, tally: &mut HuntTally, journal: &mut Journal) -> Result<(), Failure> {
        let cells = &self.hunted.plan.runs;
        let begun = Instant::now();
        let numbers = tally.schedules + 1..=self.most;
        let numbers = numbers.take_while(|_| !self.is_over());
        let done = parallel_map::each(
            numbers,
            |_| BATCH,
            |number| self.schedule(cells, number),
            |runs| {
                let runs = runs.map_err(|failure| match self.interrupt.came() {
                    true => WhyStopped::Enough,
                    false => WhyStopped::Failed(Box::new(failure)),
                })?;
                // What an interrupt has killed has not failed.
                if runs.iter().any(|run| run.other.is_some()) {
                    sleep(PULSE);
                }
                if self.interrupt.came() {
                    return Err(WhyStopped::Enough);
                }
                let failed = |failure| WhyStopped::Failed(Box::new(failure));
                journal.add(&runs).map_err(failed)?;
                tally.add(cells, &runs);
                self.tell(tally, begun);
                match (self.first && tally.has_failed()) || tally.is_decided() || self.is_over() {
                    true => Err(WhyStopped::Enough),
                    false => Ok(()),
                }
            },
        );
        if !self.quiet && std::io::stderr().is_terminal() {
            eprintln!();
        }
        match done {
            Ok(()) | Err(WhyStopped::Enough) => Ok(()),
            Err(WhyStopped::Failed(failure)) => Err(*failure),
        }
    }

    fn is_over(&self) -> bool {
        self.interrupt.came() || self.until.is_some_and(|end| Instant::now() >= end)
    }

    /// Gives a schedule to each cell.
    fn schedule(&self, cells: &[PlannedRun], number: u32) -> Result<Vec<JournalRun>, Failure> {
        let strategy = Strategy::numbered(number, &self.strategies);
        let run = |cell: &PlannedRun| {
            let run = self.hunted.try_schedule(cell, number, strategy, 0)?;
            let (verdict, turns) = (&run.verdict, &run.turns);
            Ok(JournalRun::new(
                number,
                strategy.name(),
                cell.index,
                verdict,
                turns,
            ))
        };
        cells.iter().map(run).collect()
    }

    /// Says on a terminal how far it is.
    fn tell(&self, tally: &HuntTally, begun: Instant) {
        if self.quiet || !std::io::stderr().is_terminal() {
            return;
        }
        let kinds = tally.kinds();
        let failed: u32 = kinds.iter().map(|(_, kind)| kind.count).sum();
        eprint!(
            "\r{} schedules, {failed} failures of {} kinds, {} s ",
            tally.schedules,
            kinds.len(),
            begun.elapsed().as_secs()
        );
    }
}

/// Finds the shortest schedule of each kind, records its run, and writes the document.
fn conclude(
    hunted: &Hunted,
    tally: &HuntTally,
    journal: &Journal,
    subject: &HuntSubject,
    interrupt: &Interrupt,
) -> Result<Hunt, Failure> {
    let plan = &hunted.plan;
    let name = |at: usize| name_of(plan, at);
    let (failures, runs) = shortened(hunted, tally, interrupt)?;
    record(plan, runs, journal.bundle()?)?;
    let machine = plan.configurations.first().map(|one| &one.machine);
    let document = Hunt {
        schema: HUNT.into(),
        title: plan.title.clone(),
        kernel: machine.map_or_else(String::new, |machine| machine.kernel.clone()),
        cpus: machine.map_or(0, |machine| machine.cpus),
        until: hunted.until(),
        schedules: tally.schedules,
        strategies: tally.strategies.clone(),
        sides: tally.sides(name),
        failures,
        comparisons: tally.comparisons(name),
        others: tally.others(name),
        limits: HUNT_LIMITS.into(),
        directory: journal.directory().display().to_string(),
        reproduce: subject.command.clone(),
    };
    let text = json(&document)?;
    output::deliver(
        text.as_bytes(),
        Some(&journal.directory().join("hunt.json")),
    )?;
    Ok(document)
}

/// The kinds of failure with their shortest schedules, and the runs with these.
fn shortened(
    hunted: &Hunted,
    tally: &HuntTally,
    interrupt: &Interrupt,
) -> Result<(Vec<FoundFailure>, Vec<Shortest>), Failure> {
    let plan = &hunted.plan;
    let (mut failures, mut runs) = (Vec::new(), Vec::new());
    for (index, (configuration, kind)) in (0..).zip(tally.kinds()) {
        let short = shortest(hunted, kind, interrupt)?;
        let workload = plan.workloads.get(short.cell.workload);
        failures.push(FoundFailure {
            configuration: name_of(plan, configuration),
            workload: workload.map_or_else(String::new, |one| one.name.clone()),
            oracle: kind.noticed.oracle.clone(),
            place: kind.noticed.place.clone(),
            line: kind.noticed.line.clone(),
            signature: kind.noticed.signature.clone(),
            rate: tally.rate(configuration, kind.count),
            strategies: tally.by_strategy(configuration, kind),
            first: kind.first,
            crashed: !short.run.record.complaints.is_empty(),
            run: index,
            schedule: short.schedule.clone(),
        });
        runs.push(short);
    }
    Ok((failures, runs))
}

fn name_of(plan: &Plan, configuration: usize) -> String {
    let configuration = plan.configurations.get(configuration);
    configuration.map_or_else(String::new, |one| one.name.clone())
}

/// Records the runs with the shortest schedules in a bundle, for `assize debug`, `when` and
/// `report`.
fn record(plan: &Plan, runs: Vec<Shortest>, directory: PathBuf) -> Result<(), Failure> {
    if runs.is_empty() {
        return Ok(());
    }
    let mut plan = plan.clone();
    plan.interleavings = BTreeMap::new();
    plan.runs = Vec::new();
    for (index, short) in (0..).zip(&runs) {
        plan.runs.push(PlannedRun {
            index,
            block: index,
            seed: short.schedule.seed,
            ..short.cell
        });
        if !short.turns.is_plain() {
            plan.interleavings.insert(index, short.turns.clone());
        }
    }
    let writer = Writer::create(&directory, &head_of(&plan)?).map_err(Failure::Record)?;
    for (index, short) in (0..).zip(runs) {
        let mut record = short.run.record;
        record.index = index;
        record.run.order = index;
        record.run.block = Some(index);
        writer.put(&record).map_err(Failure::Record)?;
    }
    Ok(())
}

fn json(document: &Hunt) -> Result<String, Failure> {
    assize_report::hunt_json(document).map_err(|error| Failure::Show(error.to_string()))
}

fn show(document: &Hunt, arguments: &HuntArguments) -> Result<(), Failure> {
    let text = match arguments.format {
        _ if arguments.json => json(document)?,
        HuntFormat::Json => json(document)?,
        HuntFormat::Text => assize_report::hunt(document),
    };
    output::deliver(text.as_bytes(), arguments.output.as_deref())
}
