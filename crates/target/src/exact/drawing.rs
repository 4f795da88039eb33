//! Draws: repeats of a run whose CPUs take other turns from an instant on.

use std::time::Instant;

use assize_job::Order;

use super::{Checkpoint, Exact};
use crate::cache::CacheKey;
use crate::fault::failed;
use crate::gdb_stub::{GdbStub, StubError};
use crate::vm::job_text;
use crate::{Error, OrderResult, RunOutcome};

const WHAT: &str = "continue a run with other turns of its CPUs";

/// The instant and the seed of a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Draw {
    /// The instant, in ns since the machine was switched on.
    pub count: u64,
    /// The seed from which turns are drawn, together with what the machine drew before.
    pub seed: u64,
}

/// The state of a run at an instant, on disk, from which draws are made.
#[derive(Debug)]
pub struct DrawOrigin {
    count: u64,
    /// `None` if the run ends before the instant.
    checkpoint: Option<Checkpoint>,
}

impl Exact {
    /// Repeats a run up to an instant, from an earlier origin if there is one, and saves its state.
    ///
    /// # Errors
    /// QEMU is not the one that assize builds, or cannot be used.
    pub fn draw_origin(
        &self,
        order: &Order,
        count: u64,
        earlier: Option<&DrawOrigin>,
    ) -> Result<DrawOrigin, Error> {
        let earlier = earlier.filter(|one| one.count <= count);
        let mut run = match earlier.and_then(|one| one.checkpoint.as_ref()) {
            Some(checkpoint) => self.debug_from(order, 0, checkpoint)?,
            None => self.debug(order, 0)?,
        };
        let stopped = run.stub().and_then(|stub| stopped_at(stub, count));
        let checkpoint = match stopped {
            // The machine is stopped while the connection exists.
            Ok(Some(_stub)) => Some(self.checkpoint(&mut run)?),
            Ok(None) => None,
            Err(error) => return Err(failed(WHAT, error)),
        };
        Ok(DrawOrigin { count, checkpoint })
    }

    /// Whether the answer of a draw is cached.
    ///
    /// # Errors
    /// The order cannot be prepared.
    pub fn is_drawn(&self, order: &Order, draw: Draw) -> Result<bool, Error> {
        Ok(self.cached_answer(&self.draw_key(order, draw)?).is_some())
    }

    /// Repeats a run up to an instant, and from there to its end with newly drawn turns of its
    /// CPUs. With an origin it starts at that instant, which is faster and gives the same answer. A
    /// run that ends before the instant gives the recorded answer. Completed answers are cached.
    ///
    /// # Errors
    /// QEMU is not the one that assize builds, or cannot be used.
    pub fn draw(
        &self,
        order: &Order,
        draw: Draw,
        origin: Option<&DrawOrigin>,
    ) -> Result<OrderResult, Error> {
        let begun = Instant::now();
        let key = self.draw_key(order, draw)?;
        if let Some((_, outcome)) = self.cached_answer(&key) {
            return Ok(OrderResult {
                outcome,
                machine: self.facts(order)?,
                cached: true,
                elapsed: begun.elapsed(),
            });
        }
        let origin = origin.filter(|one| one.count == draw.count);
        let checkpoint = origin.and_then(|one| one.checkpoint.as_ref());
        let run = match checkpoint {
            Some(checkpoint) => self.debug_from(order, 0, checkpoint)?,
            None => self.debug(order, 0)?,
        };
        let stopped = run.stub().and_then(|stub| match checkpoint {
            Some(_) => Ok(Some(stub)),
            None => stopped_at(stub, draw.count),
        });
        let drawn = stopped.and_then(|stub| stub.map_or(Ok(()), |stub| draw.go_on(stub)));
        drawn.map_err(|error| failed(WHAT, error))?;
        let (done, answer) = run.finish_with_answer()?;
        if matches!(done.outcome, RunOutcome::Completed(_)) {
            self.cache.put(&key, &answer)?;
        }
        Ok(done)
    }

    fn draw_key(&self, order: &Order, draw: Draw) -> Result<CacheKey, Error> {
        let ready = self.stock.ready(order)?;
        let job = job_text(&ready, order)?;
        let key = self.answer_key(&ready, order, &job).to_string();
        let from = [draw.count, draw.seed].map(u64::to_le_bytes);
        Ok(CacheKey::hash(&[
            key.as_bytes(),
            b"drawn anew",
            &from[0],
            &from[1],
        ]))
    }
}

impl Draw {
    /// Continues a machine that is stopped at the instant.
    fn go_on(self, mut stub: GdbStub) -> Result<(), StubError> {
        stub.monitor(&format!("icount_seed {}", self.seed))?;
        stub.detach()
    }
}

/// Runs a machine up to an instant, where it stops; `None` if it ends before.
fn stopped_at(mut stub: GdbStub, count: u64) -> Result<Option<GdbStub>, StubError> {
    match stub.go_to(count) {
        Ok(_) => Ok(Some(stub)),
        Err(StubError::Ended) => Ok(None),
        Err(other) => Err(other),
    }
}
