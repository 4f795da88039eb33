//! Vertical blanks, and frames for them.

use std::os::fd::OwnedFd;

use assize_job::AgentMessage;

use super::client::{ClientTerms, ContextLane};
use crate::records::events;
use crate::simgpu::uapi::{self, SimgpuDep, SimgpuExec};

/// Delay before the first vertical blank, for all threads to start.
const START_NS: u64 = 5_000_000;
const NS_PER_S: u64 = 1_000_000_000;

/// The vertical blanks of a run.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Blanks {
    pub(super) first: u64,
    pub(super) period_ns: u64,
    /// End of the blanks, exclusive.
    pub(super) end: u64,
}

impl Blanks {
    /// `rate` blanks per second for `duration_ns`, or without end in the background.
    /// Their phase after `start` is random.
    pub(super) fn new(terms: &ClientTerms, rate: u32, duration_ns: u64, start: u64) -> Blanks {
        let period_ns = period_ns(rate);
        let first = start + START_NS + terms.stream("phase").below(period_ns);
        let end = if terms.background {
            u64::MAX
        } else {
            first.saturating_add(duration_ns)
        };
        Blanks {
            first,
            period_ns,
            end,
        }
    }

    /// The first blank after `time`.
    pub(super) fn after(&self, time: u64) -> u64 {
        let passed = time.checked_sub(self.first);
        let index = passed.map_or(0, |passed| passed / self.period_ns + 1);
        self.first
            .saturating_add(index.saturating_mul(self.period_ns))
    }

    /// All blanks but the first, at which clients start.
    pub(super) fn but_the_first(&self) -> impl Iterator<Item = u64> {
        let blanks = *self;
        let next = move |blank: &u64| blank.checked_add(blanks.period_ns);
        let first = blanks.after(blanks.first);
        std::iter::successors(Some(first), next).take_while(move |blank| *blank < blanks.end)
    }
}

/// Maximum number of vertical blanks in `duration_ns`.
pub(super) fn max_blanks(rate: u32, duration_ns: u64) -> u64 {
    duration_ns / period_ns(rate) + 1
}

fn period_ns(rate: u32) -> u64 {
    NS_PER_S / u64::from(rate.max(1))
}

/// The record of missed vertical blanks. `start`: start of the run.
pub(super) fn frames_missed(missed: &[u64], duration_ns: u64, start: u64) -> AgentMessage {
    let t_ns = missed.iter().map(|blank| blank - start).collect();
    events("frames_missed", t_ns, duration_ns)
}

/// A frame that a client passes to a compositor.
#[derive(Debug)]
pub(super) struct ClientFrame {
    pub(super) fence: OwnedFd,
    pub(super) seqno: u64,
    pub(super) begun: u64,
}

/// Submits the jobs of a frame, each depending on the one before.
pub(super) fn render(
    lane: &mut ContextLane,
    exec: SimgpuExec,
    jobs: u32,
    begun: u64,
) -> Result<ClientFrame, String> {
    let mut before: Option<SimgpuDep> = None;
    for left in (0..jobs).rev() {
        let flags = if left == 0 { uapi::EXEC_FENCE_OUT } else { 0 };
        let job = lane.submit(SimgpuExec { flags, ..exec }, before.as_slice())?;
        if let Some(fence) = job.fence {
            return Ok(ClientFrame {
                fence,
                seqno: job.seqno,
                begun,
            });
        }
        before = lane.job(job.seqno);
    }
    Err("the kernel returned no fence for a frame".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLANKS: Blanks = Blanks {
        first: 100,
        period_ns: 10,
        end: 150,
    };

    #[test]
    fn the_next_blank_is_after_now() {
        assert_eq!(BLANKS.after(0), 100);
        assert_eq!(BLANKS.after(99), 100);
        assert_eq!(BLANKS.after(100), 110);
        assert_eq!(BLANKS.after(109), 110);
        assert_eq!(BLANKS.after(110), 120);
    }

    #[test]
    fn clients_begin_at_the_first_blank_and_the_others_are_to_be_met() {
        let all: Vec<u64> = BLANKS.but_the_first().collect();
        assert_eq!(all, [110, 120, 130, 140]);
        assert_eq!(max_blanks(60, 1_000_000_000), 61);
    }
}
