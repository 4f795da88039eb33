//! `assize when`: finds the time from which the bad end of a run was certain.

mod bad;
mod draws;
mod events;
mod follow;

use std::slice;

use assize_plan::Plan;
use assize_target::Target;
use assize_target::exact::{Exact, Options};
use assize_why::When;
use assize_why::when::{Bad, Certain, DrawnMoment, DrawnShare, SCHEMA, Search, TURN, WhenAnswer};

use crate::cli::{WhenArguments, WhenFormat};
use crate::debug::KernelFacts;
use crate::failure::Failure;
use crate::levels::ExpectedParts;
use crate::repeat::{RunToRepeat, exact_plan};
use crate::run::target;
use crate::{output, shell};

use bad::BadRun;
pub(crate) use bad::Threshold;
use draws::Draws;

/// A recorded run that can be repeated, and what was bad about it.
struct Repeatable<'a> {
    plan: &'a Plan,
    exact: &'a Exact,
    again: &'a RunToRepeat<'a>,
    expected: ExpectedParts,
    kernel: KernelFacts,
    bad: BadRun,
}

/// Repeats a run from many moments with other random time slices of its CPUs, and shows from which
/// moment its end was certain.
pub(crate) fn when(arguments: &WhenArguments) -> Result<u8, Failure> {
    let plan = exact_plan(&arguments.bundle, "when")?;
    let again = RunToRepeat::recorded(&plan, arguments.run, &arguments.bundle, "when")?;
    let asked = (arguments.metric.as_deref(), arguments.bad.as_deref());
    let bad = bad::bad(&plan, &again.recorded, asked)?;
    let exact = target::exact(Options {
        unpinned: true,
        ..Options::default()
    })?;
    exact.prepare(slice::from_ref(&again.order))?;
    again.refuse_other_machine(&exact, "when")?;
    let when = match bad {
        Err(not_bad) => {
            let (bad, why) = *not_bad;
            empty(&again, bad, WhenAnswer::Nothing { why })
        }
        Ok(bad) => {
            let repeatable = Repeatable {
                plan: &plan,
                exact: &exact,
                again: &again,
                expected: ExpectedParts::for_runs(&plan, &[again.run], &exact)?,
                kernel: KernelFacts::read(&exact, &again, "when")?,
                bad,
            };
            repeatable.answer(arguments.draws)?
        }
    };
    if arguments.keep {
        assize_bundle::keep_when(&arguments.bundle, when.run, &when)?;
    }
    let text = match arguments.format {
        WhenFormat::Json => {
            let text = serde_json::to_string_pretty(&when);
            text.map_err(|error| Failure::Show(error.to_string()))? + "\n"
        }
        WhenFormat::Text => {
            let command = shell::command_line(std::env::args_os().skip(1));
            assize_report::when(&when, &command)
        }
    };
    let text = assize_report::printable(&text).into_owned();
    output::deliver(text.as_bytes(), arguments.output.as_deref())?;
    Ok(0)
}

fn empty(again: &RunToRepeat<'_>, bad: Bad, answer: WhenAnswer) -> When {
    let run = &again.recorded.run;
    When {
        schema: SCHEMA.into(),
        run: again.run.index,
        configuration: run.configuration.clone(),
        workload: run.workload.clone(),
        seed: again.recorded.seed(),
        cpus: again.order.machine.cpus,
        bad,
        answer,
        moments: Vec::new(),
        seeds: None,
        parting: None,
    }
}

impl Repeatable<'_> {
    fn answer(self, many: u32) -> Result<When, Failure> {
        let [begin, end] = self.bounds()?;
        let draws = Draws::new(&self);
        let mut when = empty(self.again, self.bad.bad.clone(), WhenAnswer::Start);
        if self.again.order.machine.cpus == 1 {
            return self.by_seed(&draws, when, many);
        }
        let mut search = Search::new(begin, end, many);
        while let Some((at, numbers)) = search.next() {
            let ended = draws.from(at, numbers)?;
            let bad = ended.iter().filter(|bad| **bad).count();
            search.note(at, count(bad), count(ended.len()));
            draws.tell(&search);
        }
        let mut counts: Vec<u64> = search.points().keys().copied().collect();
        if let Certain::Between { certain, .. } = search.certain() {
            counts.extend([certain, certain + TURN]);
        }
        counts.sort_unstable();
        counts.dedup();
        let times = self.times(&counts)?;
        let time = |count: u64| times.get(&count).copied().unwrap_or_default();
        when.moments = search
            .points()
            .iter()
            .map(|(at, share)| DrawnMoment {
                time_ns: time(*at),
                instruction: *at,
                share: DrawnShare::new(share.count, share.of),
            })
            .collect();
        let Certain::Between { open, certain } = search.certain() else {
            return self.by_seed(&draws, when, many);
        };
        let rises = search.rises();
        when.answer = WhenAnswer::Moment {
            open_ns: time(open),
            certain_ns: time(certain + TURN),
            rises: rises.iter().map(|step| step.map(time)).collect(),
        };
        if let Some(number) = draws.ended_otherwise(open) {
            when.parting = self.parting((open, certain + TURN), number)?;
        }
        Ok(when)
    }

    /// If time slices make no difference, tests with other seeds whether random values drawn before
    /// the start do.
    fn by_seed(&self, draws: &Draws<'_>, mut when: When, many: u32) -> Result<When, Failure> {
        let ended = draws.of_seeds(0..many)?;
        let bad = ended.iter().filter(|bad| **bad).count();
        when.seeds = Some(DrawnShare::new(count(bad), many));
        if bad < ended.len() {
            when.answer = WhenAnswer::Seed;
        }
        Ok(when)
    }
}

fn count(all: usize) -> u32 {
    u32::try_from(all).unwrap_or(u32::MAX)
}
