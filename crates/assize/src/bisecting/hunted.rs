//! Verdicts by failure rates: all commits get the same schedules.

use assize_report::{ClaimVerdict, excluded};
use assize_verdict::Outcome;

use super::evaluator::{BisectionEvaluator, BuiltCommit, nothing_differs, stopped};
use super::{BisectionSearch, BisectionSetup};
use crate::failure::Failure;
use crate::hunting::SidePair;
use crate::run::interrupt::Interrupt;

impl BisectionSetup {
    /// How many tests a verdict takes at most. In a hunt a commit is compared with GOOD and BAD.
    pub(super) fn tests_each(&self) -> f64 {
        match self.question.hunt {
            true => 2.0,
            false => self.looks.len() as f64,
        }
    }
}

impl BisectionSearch<'_, '_> {
    /// The verdict on the commit with this number.
    pub(super) fn judge(
        &mut self,
        at: usize,
        good: &BuiltCommit,
        side: &BuiltCommit,
    ) -> Result<ClaimVerdict, Failure> {
        if self.evaluator.question.hunt && at == self.line.last() {
            self.evaluator.bad = Some(side.clone());
        }
        self.evaluator.judge(good, side)
    }
}

impl BisectionEvaluator<'_> {
    /// Whether `new` fails more often than `old`: upheld if it does, refuted if it fails less
    /// often than `old`, or than BAD. Also returns how many runs each side had.
    pub(super) fn by_rates(
        &mut self,
        old: &BuiltCommit,
        new: &BuiltCommit,
        most: u32,
    ) -> Result<(ClaimVerdict, u32), Failure> {
        let needed = 1.0 / self.alpha;
        let pair = self.rates(old, new, most)?;
        let (mut outcome, mut because) = (Outcome::Undecided, undecided(&pair));
        if pair.evidence >= needed {
            outcome = match pair.only {
                [old, new] if new > old => Outcome::Upheld,
                _ => Outcome::Refuted,
            };
            because = rates(&pair, "old");
        } else if let Some(bad) = self.bad.clone().filter(|bad| bad.bytes != new.bytes) {
            let pair = self.rates(new, &bad, most)?;
            if pair.evidence >= needed && pair.only[1] > pair.only[0] {
                outcome = Outcome::Refuted;
                because = format!(
                    "failed in {} of {} runs, BAD in {}",
                    pair.failed[0], pair.pairs, pair.failed[1]
                );
            }
        }
        let verdict = ClaimVerdict {
            outcome,
            because,
            runs: pair.pairs,
            bundle: Some(format!("{}.hunt", name(new))),
            ..nothing_differs()
        };
        Ok((verdict, 2 * pair.pairs))
    }

    fn rates(
        &mut self,
        old: &BuiltCommit,
        new: &BuiltCommit,
        most: u32,
    ) -> Result<SidePair, Failure> {
        let names = [old, new].map(name);
        for (side, name) in [old, new].into_iter().zip(&names) {
            let text = self.question.experiment_of(&side.made)?;
            self.hunts.open(name, text, self.kernel.clone())?;
        }
        let [old, new] = &names;
        let interrupt = Interrupt::watch()?;
        let pair = self.hunts.compare(old, new, most, 1.0 / self.alpha)?;
        match interrupt.came() {
            true => Err(stopped()),
            false => Ok(pair),
        }
    }
}

/// The name of a build's hunt: commits with the same bytes have one.
fn name(side: &BuiltCommit) -> String {
    side.bytes.chars().take(12).collect()
}

fn rates(pair: &SidePair, other: &str) -> String {
    let [old, new] = pair.failed;
    format!("failed in {new} of {} runs, {other} in {old}", pair.pairs)
}

fn undecided(pair: &SidePair) -> String {
    let rates = rates(pair, "old");
    match pair.failed {
        [_, 0] if pair.pairs > 0 => format!(
            "{rates}; a rate above {} % would have been seen with 95 % probability",
            assize_report::significant(100.0 * excluded(pair.pairs), 2)
        ),
        _ => format!("{rates}; that may be chance"),
    }
}
