//! Runs whose CPUs are delayed at random instants, and which can be repeated.

use std::time::{Duration, Instant};

use assize_job::{Delay, Order};

use super::turns::DelayDraw;
use super::{Exact, exact, facts, keep_error};
use crate::fault::failed;
use crate::qemu::Clock;
use crate::vm::job_text;
use crate::{Error, OrderResult, stream};

/// Guest time beyond the timeout after which a hung run is killed. The agent has ended the run by
/// then if it can still do anything; a kernel that spins takes CPU time until then.
const SPARE: Duration = Duration::from_secs(1);
/// CPU time of QEMU between two checks of the guest time.
const LOOK: Duration = Duration::from_secs(1);

/// A run, and the delays of its CPUs.
#[derive(Debug, Clone, PartialEq)]
pub struct Explored {
    /// The result.
    pub done: OrderResult,
    /// The delays that took place, in order of time. An order that lists them gives the same
    /// result.
    pub delays: Vec<Delay>,
    /// For each delay the address of the next instruction; known only for delays that the order
    /// lists.
    pub next: Vec<Option<u64>>,
}

impl Exact {
    /// When the machine of an order resumes from its memory image, in ns since it was switched on.
    ///
    /// # Errors
    /// Those of [`Exact::debug`].
    pub fn resumes_at(&self, order: &Order, slot: usize) -> Result<u64, Error> {
        let run = self.debug(order, slot)?;
        let now = run.stub().and_then(|mut stub| stub.icount("now "));
        now.map_err(|error| failed("read the clock of a machine", error))
    }

    /// Executes an order with the delays that it lists, or that are drawn from its seed. Nothing is
    /// cached.
    ///
    /// # Errors
    /// QEMU is not the one that assize builds, or cannot be used.
    pub fn explore(
        &self,
        order: &Order,
        slot: usize,
        draw: Option<DelayDraw>,
    ) -> Result<Explored, Error> {
        if !self.qemu.parallel {
            return Err(self.other_qemu("delay the CPUs of a run", ""));
        }
        let begun = Instant::now();
        let ready = self.stock.ready(order)?;
        let job = job_text(&ready, order)?;
        let mut machine = facts(&self.qemu, &ready, order, Clock::Instructions);
        let image = self.image(&ready, order, slot)?;
        machine.insert("memory_image".into(), image.digest.clone());
        let mut booted = self.booted(&ready, order, slot);
        booted.turns.drawn = draw;
        booted.turns.logged = true;
        let mut running = image.load(&booted, &job, &[], None)?;
        let limit = Duration::from_millis(order.job.timeout_ms) + SPARE;
        if let Err(error) = running.go_on_for(limit, LOOK) {
            let why = running.give_up(&error.to_string());
            return Err(failed("resume a memory image", why));
        }
        let left = running
            .finish()
            .map_err(|error| keep_error(self.stock.root(), &error))?;
        let (delays, next) = left.delayed.into_iter().unzip();
        Ok(Explored {
            done: OrderResult {
                outcome: exact(stream::outcome(&left.answer, &left.console, left.ended)),
                machine,
                cached: false,
                elapsed: begun.elapsed(),
            },
            delays,
            next,
        })
    }
}
