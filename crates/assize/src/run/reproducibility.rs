//! Executes some runs twice, and checks that both executions agree.

use std::collections::BTreeSet;

use assize_plan::{Plan, PlannedRun};
use assize_target::{DIFFERED, EXECUTIONS, OrderResult, Target};

use crate::failure::Failure;

/// The runs of which two executions must agree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ReproducibilityCheck {
    chosen: BTreeSet<u32>,
    /// A run to execute again even if it is cached.
    anew: Option<u32>,
}

impl ReproducibilityCheck {
    /// Selects the runs of a plan. If all selected runs are cached but some other run has to be
    /// executed, one of the selected is executed again, to check that this machine is exact.
    pub(crate) fn of_plan(
        plan: &Plan,
        missing: &[PlannedRun],
        target: &dyn Target,
    ) -> Result<ReproducibilityCheck, Failure> {
        let chosen = plan.reproducibility_checks();
        if chosen.is_empty() {
            return Ok(ReproducibilityCheck::default());
        }
        let (mut new, mut checked) = (false, false);
        for run in missing {
            let twice = chosen.contains(&run.index);
            let Some(order) = plan.order(run.index) else {
                continue;
            };
            if !target.is_kept(&order, twice)? {
                new = true;
                checked |= twice;
            }
        }
        let first = missing.iter().find(|run| chosen.contains(&run.index));
        let anew = first.filter(|_| new && !checked).map(|run| run.index);
        Ok(ReproducibilityCheck { chosen, anew })
    }

    /// Executes a run, once or twice.
    pub(super) fn run(
        &self,
        target: &dyn Target,
        order: &assize_job::Order,
        (index, slot): (u32, usize),
    ) -> Result<OrderResult, assize_target::Error> {
        if self.chosen.contains(&index) {
            target.run_twice(order, slot, self.anew == Some(index))
        } else {
            target.run(order, slot)
        }
    }
}

/// How many runs were executed, how many of them twice, and how many differed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ReproducibilityCounts {
    executed: u32,
    twice: u32,
    differed: u32,
}

impl ReproducibilityCounts {
    /// Counts a run that has ended.
    pub(super) fn count(&mut self, done: &OrderResult) {
        if done.cached {
            return;
        }
        let differed = done.machine.contains_key(DIFFERED);
        self.executed += 1;
        self.twice += u32::from(differed || done.machine.contains_key(EXECUTIONS));
        self.differed += u32::from(differed);
    }

    /// `2 of 100 runs executed twice: all equal`; `None` if no run was executed twice.
    pub(super) fn sentence(self) -> Option<String> {
        let ReproducibilityCounts {
            executed,
            twice,
            differed,
        } = self;
        let equal = match differed {
            0 => "all equal".to_string(),
            some => format!("{some} differed at first; the machine is not exact here"),
        };
        (twice > 0).then(|| format!("{twice} of {executed} runs executed twice: {equal}"))
    }
}

/// The difference between two executions of a run; `None` if they agree.
pub(super) fn differed(done: &OrderResult) -> Option<&String> {
    done.machine.get(DIFFERED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assize_target::RunOutcome;
    use std::collections::BTreeMap;
    use std::time::Duration;

    fn order_result(cached: bool, facts: &[&str]) -> OrderResult {
        let facts = facts.iter().map(|fact| ((*fact).into(), "x".into()));
        OrderResult {
            outcome: RunOutcome::Completed(Vec::new()),
            machine: facts.collect::<BTreeMap<String, String>>(),
            cached,
            elapsed: Duration::ZERO,
        }
    }

    fn sentence(all: &[OrderResult]) -> Option<String> {
        let mut compared = ReproducibilityCounts::default();
        all.iter().for_each(|done| compared.count(done));
        compared.sentence()
    }

    #[test]
    fn what_was_compared_is_said() {
        let equal = || order_result(false, &[EXECUTIONS]);
        assert_eq!(
            sentence(&[order_result(false, &[]), order_result(false, &[])]),
            None
        );
        assert_eq!(
            sentence(&[order_result(true, &[EXECUTIONS])]),
            None,
            "not now"
        );
        let text = sentence(&[equal(), order_result(false, &[]), order_result(true, &[])]);
        assert_eq!(
            text.as_deref(),
            Some("1 of 2 runs executed twice: all equal")
        );
    }

    #[test]
    fn what_differed_is_said_whatever_came_of_it() {
        for facts in [&[DIFFERED][..], &[DIFFERED, EXECUTIONS]] {
            let text = sentence(&[
                order_result(false, facts),
                order_result(false, &[EXECUTIONS]),
            ]);
            let want = "2 of 2 runs executed twice: 1 differed at first; the machine is not \
                        exact here";
            assert_eq!(text.as_deref(), Some(want));
        }
    }
}
