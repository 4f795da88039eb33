//! What is hunted: each configuration of an experiment on each of its workloads.

use assize_bundle::RunRecord;
use assize_job::{Delay, Interleaving, Order};
use assize_plan::{Plan, PlannedRun};
use assize_target::Target;
use assize_target::exact::{DelayDraw, Exact, Explored};

use super::oracle::{Oracles, RunVerdict};
use crate::cli::Strategy;
use crate::failure::Failure;
use crate::levels::ExpectedParts;
use crate::record;

/// Everything that is needed to execute runs.
pub(super) struct Hunted {
    /// The plan, with one run for each configuration and workload, and one memory image.
    pub(super) plan: Plan,
    pub(super) exact: Exact,
    expected: ExpectedParts,
    oracles: Oracles,
    /// How long a run may take, in ms of the guest's time.
    timeout_ms: u64,
    /// For each run of the plan, from when on its CPUs are delayed.
    from_ns: Vec<u64>,
}

/// The agent first checks that the clock stood while the machine did.
const CHECKED_NS: u64 = 1_000_000;

/// How a run with a schedule went.
#[derive(Debug, Clone)]
pub(super) struct HuntedRun {
    pub(super) verdict: RunVerdict,
    /// How its CPUs took turns: what gives this run again.
    pub(super) turns: Interleaving,
    /// For each delay the address of the instruction after it, if it is known.
    pub(super) next: Vec<Option<u64>>,
    pub(super) record: RunRecord,
}

impl Hunted {
    /// Prepares the machines of a plan.
    pub(super) fn prepare(
        mut plan: Plan,
        exact: Exact,
        oracles: Oracles,
        timeout_ms: u64,
    ) -> Result<Hunted, Failure> {
        plan.runs = cells(&plan);
        plan.images = Vec::new();
        let orders: Vec<Order> = plan
            .runs
            .iter()
            .filter_map(|run| plan.order(run.index))
            .collect();
        exact.prepare(&orders)?;
        let from = |order| Ok(exact.resumes_at(order, 0)? + CHECKED_NS);
        let from_ns = orders.iter().map(from).collect::<Result<_, Failure>>()?;
        Ok(Hunted {
            expected: ExpectedParts::for_runs(&plan, &plan.runs, &exact)?,
            plan,
            exact,
            oracles,
            timeout_ms,
            from_ns,
        })
    }

    /// The order of a cell with this seed.
    fn order(&self, cell: &PlannedRun, seed: u64, turns: &Interleaving) -> Result<Order, Failure> {
        let order = self.plan.order(cell.index);
        let mut order =
            order.ok_or_else(|| Failure::Argument("hunt: the plan is damaged".into()))?;
        order.job.seed = seed;
        order.job.timeout_ms = self.timeout_ms;
        order.interleaving = turns.clone();
        Ok(order)
    }

    /// Executes a cell with a schedule of this number.
    pub(super) fn try_schedule(
        &self,
        cell: &PlannedRun,
        number: u32,
        strategy: Strategy,
        slot: usize,
    ) -> Result<HuntedRun, Failure> {
        let from_ns = self.from_ns.get(cell.index as usize).copied();
        let draw = strategy.draw(number, from_ns.unwrap_or_default());
        self.execute(cell, number.into(), &Interleaving::default(), draw, slot)
    }

    /// Executes a cell with this seed and these turns.
    pub(super) fn repeat(
        &self,
        cell: &PlannedRun,
        seed: u64,
        turns: &Interleaving,
    ) -> Result<HuntedRun, Failure> {
        self.execute(cell, seed, turns, None, 0)
    }

    fn execute(
        &self,
        cell: &PlannedRun,
        seed: u64,
        turns: &Interleaving,
        draw: Option<DelayDraw>,
        slot: usize,
    ) -> Result<HuntedRun, Failure> {
        let order = self.order(cell, seed, turns)?;
        let Explored { done, delays, next } = self.exact.explore(&order, slot, draw)?;
        let run = PlannedRun { seed, ..*cell };
        let record = record::recorded(&self.plan, &run, &done, self.expected.run(cell));
        let delays: Vec<Delay> = if draw.is_some() {
            delays
        } else {
            turns.delays.clone()
        };
        Ok(HuntedRun {
            verdict: self.oracles.judge(&record, &done)?,
            turns: of_delays(delays),
            next,
            record,
        })
    }

    /// The kernel's symbols in a run of this cell.
    pub(super) fn symbols(
        &self,
        cell: &PlannedRun,
        seed: u64,
    ) -> Result<assize_why::Symbols, Failure> {
        let order = self.order(cell, seed, &Interleaving::default())?;
        let texts = self.exact.symbols(&order, 0)?;
        let symbols = assize_why::Symbols::parse(&String::from_utf8_lossy(&texts.kallsyms));
        symbols.map_err(|error| Failure::Argument(format!("hunt: {error}")))
    }

    /// The words of what counts as a failure.
    pub(super) fn until(&self) -> Vec<String> {
        self.oracles.words()
    }
}

/// The machine's turns, with these delays.
pub(super) fn of_delays(delays: Vec<Delay>) -> Interleaving {
    Interleaving {
        quantum_ns: None,
        delays,
    }
}

/// One run for each configuration and workload; the repeated baseline of `aa` is left out.
fn cells(plan: &Plan) -> Vec<PlannedRun> {
    let configurations = plan.configurations.iter().enumerate();
    let configurations = configurations.filter(|(_, one)| !one.aa);
    let cells =
        configurations.flat_map(|(at, _)| (0..plan.workloads.len()).map(move |of| (at, of)));
    let run = |(index, (configuration, workload))| PlannedRun {
        index,
        block: 0,
        configuration,
        workload,
        repetition: 1,
        seed: 1,
        image: None,
    };
    (0..).zip(cells).map(run).collect()
}
