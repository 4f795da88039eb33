//! Submits one job after the other and waits for each.

use assize_job::Sync;

use super::client::{Client, ClientTerms, ContextLane};
use super::load::Load;
use crate::simgpu::uapi::SimgpuExec;

pub(super) struct SyncLoad(pub(super) Sync);

impl Load for SyncLoad {
    fn contexts(&mut self, client: &Client) -> Result<Vec<ContextLane>, String> {
        client.lanes(1, self.0.submissions.into())
    }

    fn run(
        &mut self,
        terms: &ClientTerms,
        _: u64,
        mut lanes: Vec<ContextLane>,
    ) -> Result<Vec<ContextLane>, String> {
        let exec = SimgpuExec {
            duration_ns: self.0.job_duration_ns,
            duration_spread_ns: self.0.spread_ns,
            run_cost_ns: self.0.run_cost_ns,
            ..SimgpuExec::default()
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
