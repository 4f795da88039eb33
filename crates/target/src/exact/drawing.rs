//! Runs whose CPUs take other turns from an instant on.

use std::time::Instant;

use assize_job::Order;

use super::{Exact, facts};
use crate::cache::CacheKey;
use crate::fault::failed;
use crate::gdb_stub::{GdbStub, StubError};
use crate::qemu::Clock;
use crate::vm::job_text;
use crate::{Error, OrderResult, RunOutcome};

/// Other turns from an instant on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Draw {
    /// The instant, in ns since the machine was switched on.
    pub count: u64,
    /// What the turns are drawn from, with what the machine drew before.
    pub seed: u64,
}

impl Exact {
    /// Repeats a run up to an instant, draws the turns of its CPUs anew and lets it go on to its
    /// end. A run that ends before the instant is the recorded one. Answers are cached.
    ///
    /// # Errors
    /// QEMU is another one than assize builds, or cannot be used.
    pub fn draw(&self, order: &Order, slot: usize, draw: Draw) -> Result<OrderResult, Error> {
        let begun = Instant::now();
        let ready = self.stock.ready(order)?;
        let job = job_text(&ready, order)?;
        let key = self.key(&ready, &order.machine, Some(&job)).to_string();
        let from = [draw.count, draw.seed].map(u64::to_le_bytes);
        let key = CacheKey::hash(&[key.as_bytes(), b"drawn anew", &from[0], &from[1]]);
        if let Some((_, outcome)) = self.cached_answer(&key) {
            return Ok(OrderResult {
                outcome,
                machine: facts(&self.qemu, &ready, order, Clock::Instructions),
                cached: true,
                elapsed: begun.elapsed(),
            });
        }
        let run = self.debug(order, slot)?;
        run.stub()
            .and_then(|stub| draw.go_on(stub))
            .map_err(|error| failed("draw the turns of a run anew", error))?;
        let (done, answer) = run.finish_with_answer()?;
        if matches!(done.outcome, RunOutcome::Completed(_)) {
            self.cache.put(&key, &answer)?;
        }
        Ok(done)
    }
}

impl Draw {
    fn go_on(self, mut stub: GdbStub) -> Result<(), StubError> {
        stub.monitor(&format!("icount_stop {}", self.count))?;
        match stub.go() {
            Ok(_) => {}
            Err(StubError::Ended) => return Ok(()),
            Err(other) => return Err(other),
        }
        stub.monitor(&format!("icount_seed {}", self.seed))?;
        stub.detach()
    }
}
