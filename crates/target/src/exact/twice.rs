//! Runs that count only if two executions agree.
//!
//! A cached answer counts as one execution. A second entry, under another key, records that
//! two executions have given it.

use std::time::Instant;

use assize_job::Order;

use super::difference::{first_difference, lines};
use super::{Exact, facts};
use crate::cache::CacheKey;
use crate::qemu::Clock;
use crate::vm::{PreparedBoot, job_text};
use crate::{DIFFERED, EXECUTIONS, Error, OrderResult, RunFailure, RunOutcome};

/// How many pairs of executions may differ before the run fails.
const PAIRS: usize = 3;

/// One execution: the bytes that the agent sent, and the outcome.
type AgentExecution = (Vec<u8>, RunOutcome);

/// The result of executing a run until two executions agree.
#[derive(Debug, PartialEq)]
struct AgreedExecution {
    outcome: RunOutcome,
    /// The answer that two executions in a row have given.
    answer: Option<Vec<u8>>,
    /// For each pair of executions that differed, how they differed.
    differed: Vec<String>,
}

impl Exact {
    /// Whether the cache holds the answer; with `twice`, whether it holds one on which two
    /// executions have agreed.
    pub(super) fn holds(&self, order: &Order, twice: bool) -> Result<bool, Error> {
        let ready = self.stock.ready(order)?;
        let [once, both] = self.keys(&ready, order, &job_text(&ready, order)?);
        Ok(!self.options.fresh && self.cache.holds(if twice { &both } else { &once }))
    }

    /// The cache key of an answer, and the key under which it is stored again once two executions
    /// have agreed on it.
    fn keys(&self, ready: &PreparedBoot, order: &Order, job: &[u8]) -> [CacheKey; 2] {
        let once = self.answer_key(ready, order, job);
        let both = CacheKey::hash(&[once.to_string().as_bytes(), b"two executions"]);
        [once, both]
    }

    /// Runs an order until two executions agree. With `anew`, executes at least once even
    /// if the answer is cached.
    pub(super) fn twice(
        &self,
        order: &Order,
        slot: usize,
        anew: bool,
    ) -> Result<OrderResult, Error> {
        let begun = Instant::now();
        let ready = self.stock.ready(order)?;
        let job = job_text(&ready, order)?;
        let [once, both] = self.keys(&ready, order, &job);
        let mut machine = facts(&self.qemu, &ready, order, Clock::Instructions);
        let verified = if anew {
            None
        } else {
            self.cached_answer(&both)
        };
        let cached = verified.is_some();
        let agreed = match verified {
            Some((answer, outcome)) => AgreedExecution {
                outcome,
                answer: Some(answer),
                differed: Vec::new(),
            },
            None => agree(self.cached_answer(&once), || {
                self.carry_out(&ready, order, &job, slot, &mut machine)
            })?,
        };
        if !agreed.differed.is_empty() {
            // One of these may be wrong, and which one is unknown.
            self.cache.remove(&once);
            self.cache.remove(&both);
            machine.insert(DIFFERED.into(), agreed.differed.join("; "));
        }
        if let Some(answer) = &agreed.answer {
            machine.insert(EXECUTIONS.into(), "2".into());
            if !cached {
                self.cache.put(&once, answer)?;
                self.cache.put(&both, answer)?;
            }
        }
        Ok(OrderResult {
            outcome: agreed.outcome,
            machine,
            cached,
            elapsed: begun.elapsed(),
        })
    }
}

/// Executes pairs until the two executions of a pair agree. `earlier`, if given, is the
/// first execution of the first pair. A failed execution ends the loop, since it gives no
/// figures to compare.
fn agree(
    mut earlier: Option<AgentExecution>,
    mut execute: impl FnMut() -> Result<AgentExecution, Error>,
) -> Result<AgreedExecution, Error> {
    let mut differed = Vec::new();
    for _ in 0..PAIRS {
        let (answer, outcome) = match earlier.take() {
            Some(earlier) => earlier,
            None => execute()?,
        };
        if matches!(outcome, RunOutcome::Failed { .. }) {
            return Ok(AgreedExecution {
                outcome,
                answer: None,
                differed,
            });
        }
        let (again, second) = execute()?;
        if answer == again && outcome == second {
            return Ok(AgreedExecution {
                outcome,
                answer: Some(answer),
                differed,
            });
        }
        let difference = first_difference(&lines(&outcome), &lines(&second));
        // If the records are equal, the bytes before the first record differ.
        differed.push(difference.unwrap_or_else(|| "the records before the answer".into()));
    }
    let how = format!(
        "two executions of it differed {PAIRS} times: {}",
        differed.join("; ")
    );
    Ok(AgreedExecution {
        outcome: RunOutcome::Failed {
            failure: RunFailure::Inexact { how },
            records: Vec::new(),
            console: String::new(),
        },
        answer: None,
        differed,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail.
    use super::*;
    use assize_job::AgentMessage;

    fn execution(value: f64) -> AgentExecution {
        let record = AgentMessage::Metric {
            metric: "latency".into(),
            value,
            unit: "ns".into(),
        };
        let answer = serde_json::to_vec(&record).unwrap();
        (answer, RunOutcome::Completed(vec![record]))
    }

    fn failed() -> AgentExecution {
        let failure = RunFailure::Ended { how: "x".into() };
        let outcome = RunOutcome::Failed {
            failure,
            records: Vec::new(),
            console: String::new(),
        };
        (Vec::new(), outcome)
    }

    /// The result of these executions, and how many of them were used.
    fn agreed_of(
        earlier: Option<AgentExecution>,
        all: Vec<AgentExecution>,
    ) -> (AgreedExecution, usize) {
        let (mut left, mut made) = (all.into_iter(), 0);
        let agreed = agree(earlier, || {
            made += 1;
            Ok(left.next().unwrap())
        });
        (agreed.unwrap(), made)
    }

    #[test]
    fn two_that_agree_are_enough_and_nothing_is_noted() {
        let (agreed, made) = agreed_of(None, vec![execution(5.0), execution(5.0)]);
        assert_eq!((agreed.outcome, made), (execution(5.0).1, 2));
        assert_eq!(agreed.answer, Some(execution(5.0).0));
        assert!(agreed.differed.is_empty());
        let (agreed, made) = agreed_of(Some(execution(5.0)), vec![execution(5.0)]);
        assert_eq!((agreed.outcome, made), (execution(5.0).1, 1));
    }

    #[test]
    fn one_that_deviates_is_noted_and_both_are_made_again() {
        for deviates in [0, 1] {
            let mut all = vec![execution(5.0); 4];
            all[deviates] = execution(9.0);
            let (agreed, made) = agreed_of(None, all);
            assert_eq!((&agreed.outcome, made), (&execution(5.0).1, 4));
            assert_eq!(agreed.differed.len(), 1);
            assert!(
                agreed.differed[0].contains("metric latency: "),
                "{agreed:?}"
            );
        }
    }

    #[test]
    fn an_earlier_answer_that_deviates_is_not_believed() {
        let (agreed, made) = agreed_of(Some(execution(9.0)), vec![execution(5.0); 3]);
        assert_eq!((agreed.outcome, made), (execution(5.0).1, 3));
        let want = "line 1: metric latency: 9.0 against 5.0";
        assert_eq!(agreed.differed, [want]);
    }

    #[test]
    fn what_never_agrees_is_never_a_number() {
        let all = (0..6).map(|value| execution(f64::from(value))).collect();
        let (agreed, made) = agreed_of(None, all);
        assert_eq!((agreed.answer, made), (None, 2 * PAIRS));
        assert_eq!(agreed.differed.len(), PAIRS);
        let RunOutcome::Failed { failure, .. } = agreed.outcome else {
            unreachable!("{:?}", agreed.outcome);
        };
        let text = failure.to_string();
        assert!(
            text.starts_with("inexact: two executions of it differed 3 times"),
            "{text}"
        );
        assert!(text.contains("2.0 against 3.0"), "{text}");
    }

    #[test]
    fn a_failed_execution_ends_it_and_one_of_two_that_fails_is_a_difference() {
        let (agreed, made) = agreed_of(None, vec![failed()]);
        assert_eq!((agreed.outcome, agreed.answer, made), (failed().1, None, 1));
        let five = || execution(5.0);
        let (agreed, made) = agreed_of(None, vec![five(), failed(), five(), five()]);
        assert_eq!((agreed.outcome, made), (five().1, 4));
        assert_eq!(agreed.differed.len(), 1);
    }
}
