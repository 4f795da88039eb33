//! Repeats runs of a bundle, and compares the results with the recorded ones.

use std::collections::BTreeMap;
use std::path::Path;

use assize_bundle::{RunExit, RunRecord};
use assize_job::Order;
use assize_plan::{Plan, PlannedRun};
use assize_target::OrderResult;
use assize_target::exact::Exact;

use crate::failure::Failure;
use crate::levels::ExpectedParts;
use crate::record;
use crate::run::plan_of;

/// A recorded run and the order that repeats it.
pub(crate) struct RunToRepeat<'a> {
    pub(crate) run: PlannedRun,
    pub(crate) order: Order,
    pub(crate) recorded: RunRecord,
    pub(crate) bundle: &'a Path,
}

impl<'a> RunToRepeat<'a> {
    /// Finds a run of this plan; `None` if the bundle has no record of it.
    pub(crate) fn find(
        plan: &Plan,
        run: &PlannedRun,
        bundle: &'a Path,
    ) -> Result<Option<RunToRepeat<'a>>, Failure> {
        let file = bundle.join("runs").join(format!("{:04}.json", run.index));
        let Some(order) = plan.order(run.index).filter(|_| file.exists()) else {
            return Ok(None);
        };
        Ok(Some(RunToRepeat {
            run: *run,
            order,
            recorded: assize_bundle::read_run(bundle, run.index)?,
            bundle,
        }))
    }

    /// Finds a run of this plan; fails if the bundle has no record of it.
    pub(crate) fn recorded(
        plan: &Plan,
        index: u32,
        bundle: &'a Path,
        verb: &str,
    ) -> Result<RunToRepeat<'a>, Failure> {
        let planned = plan.runs.iter().find(|run| run.index == index);
        let found = match planned {
            Some(run) => RunToRepeat::find(plan, run, bundle)?,
            None => None,
        };
        found.ok_or_else(|| {
            Failure::Argument(format!(
                "{verb}: {}: no run {index} is recorded; the schedule has runs 0 to {}",
                bundle.display(),
                plan.runs.len().saturating_sub(1)
            ))
        })
    }

    /// Fails if anything known before the run, such as the kernel, differs from the record.
    pub(crate) fn refuse_other_machine(&self, exact: &Exact, verb: &str) -> Result<(), Failure> {
        let facts = exact.facts(&self.order)?;
        let then = &self.recorded.environment;
        let other = facts
            .iter()
            .find(|(name, now)| then.get(*name) != Some(now));
        let Some((name, now)) = other else {
            return Ok(());
        };
        let then = then.get(name).map_or("nothing", String::as_str);
        Err(Failure::Argument(format!(
            "{verb}: {}: run {} cannot be repeated: {name} is {now:.60} and was {then:.60}; run \
             the experiment again with this assize: `assize run --out NEW`",
            self.bundle.display(),
            self.run.index
        )))
    }

    /// The first difference between this execution and the record; `None` if there is none.
    pub(crate) fn difference(
        &self,
        plan: &Plan,
        done: &OrderResult,
        expected: &ExpectedParts,
    ) -> Option<String> {
        let now = record::recorded(plan, &self.run, done, expected.run(&self.run));
        difference(&self.recorded, &now)
    }
}

/// The plan of a bundle; fails unless its target is exact.
pub(crate) fn exact_plan(bundle: &Path, verb: &str) -> Result<Plan, Failure> {
    let plan = plan_of(assize_bundle::read_plan(bundle)?.plan, bundle)?;
    if plan.target == "exact" {
        return Ok(plan);
    }
    Err(Failure::Argument(format!(
        "{verb}: {}: its runs were executed on the target {}, where no run can be repeated; run \
         the experiment with `assize run --target exact`",
        bundle.display(),
        plan.target
    )))
}

/// The first difference between a repeated run and its record; `None` if there is none.
fn difference(recorded: &RunRecord, now: &RunRecord) -> Option<String> {
    match &now.exit {
        exit if *exit == recorded.exit => {}
        RunExit::Failed { why, .. } => return Some(why.clone()),
        RunExit::Completed => return Some("it completed".into()),
    }
    for part in &now.identity {
        if !recorded.identity.contains(part) {
            let value = part.value.as_deref().unwrap_or("nothing");
            return Some(format!("{} {} is {value:.24}", part.kind, part.name));
        }
    }
    // The number of executions is not part of the result.
    let known = |facts: &BTreeMap<String, String>| {
        let mut facts = facts.clone();
        facts.remove(assize_target::EXECUTIONS);
        facts
    };
    let (then, today) = (known(&recorded.environment), known(&now.environment));
    let other = today
        .iter()
        .find(|(name, value)| then.get(*name) != Some(value));
    if let Some((name, value)) = other {
        return Some(format!("{name} is {value:.60}"));
    }
    for (name, then) in &recorded.run.metrics {
        match now.run.metrics.get(name) {
            Some(today) if today == then => {}
            Some(today) => {
                return Some(format!("{name} is {} and was {}", today.value, then.value));
            }
            None => return Some(format!("{name} is missing")),
        }
    }
    let texts =
        |run: &RunRecord| -> Vec<String> { run.raw.iter().map(|(_, text)| text.clone()).collect() };
    let same = recorded.run.metrics.len() == now.run.metrics.len()
        && recorded.identity == now.identity
        && recorded.unavailable == now.unavailable
        && recorded.events == now.events
        && recorded.doubts == now.doubts
        && recorded.samples == now.samples
        && recorded.histograms == now.histograms
        && then.len() == today.len()
        && texts(recorded) == texts(now);
    (!same).then(|| "some of its records differ".to_owned())
}
