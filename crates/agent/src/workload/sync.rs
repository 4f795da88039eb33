//! Submits one job after the other and waits for each.

use assize_job::Sync;

use super::client::{Client, Lane, Terms};
use super::load::Load;
use crate::simgpu::uapi::Exec;

pub(super) struct Waiting(pub(super) Sync);

impl Load for Waiting {
    fn contexts(&mut self, client: &Client) -> Result<Vec<Lane>, String> {
        client.lanes(1, self.0.submissions.into())
    }

    fn run(&mut self, terms: &Terms, _: u64, mut lanes: Vec<Lane>) -> Result<Vec<Lane>, String> {
        let exec = Exec {
            duration_ns: self.0.job_duration_ns,
            duration_spread_ns: self.0.spread_ns,
            run_cost_ns: self.0.run_cost_ns,
            ..Exec::default()
        };
        for lane in &mut lanes {
            let mut done = 0;
            while terms.background || done < self.0.submissions {
                let job = lane.submit(exec, &[])?;
                lane.wait(job.seqno)?;
                done = done.saturating_add(1);
            }
        }
        Ok(lanes)
    }
}
