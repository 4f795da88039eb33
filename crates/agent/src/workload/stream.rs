//! Submits one job after the other, waits for each, and reports the round trips.

use assize_job::{AgentMessage, StreamWorkload as Parameters};

use super::client::{Client, ClientTerms, ContextLane};
use super::load::{FinishedRun, Load};
use super::series::TimedSeries;
use crate::simgpu::uapi::SimgpuExec;
use crate::sys;

pub(super) struct StreamLoad {
    stream: Parameters,
    trips: TimedSeries,
}

impl StreamLoad {
    pub(super) fn new(stream: Parameters) -> StreamLoad {
        StreamLoad {
            stream,
            trips: TimedSeries::default(),
        }
    }
}

impl Load for StreamLoad {
    fn contexts(&mut self, client: &Client) -> Result<Vec<ContextLane>, String> {
        let submissions = self.stream.submissions;
        if client.measures() {
            self.trips = TimedSeries::with_room(submissions.into());
        }
        client.lanes(1, submissions.into())
    }

    fn run(
        &mut self,
        terms: &ClientTerms,
        _: u64,
        mut lanes: Vec<ContextLane>,
    ) -> Result<Vec<ContextLane>, String> {
        let exec = SimgpuExec {
            duration_ns: self.stream.job_duration_ns,
            duration_spread_ns: self.stream.spread_ns,
            run_cost_ns: self.stream.run_cost_ns,
            ..SimgpuExec::default()
        };
        let mut pauses = terms.stream("pause");
        if self.stream.pause_ns > 0 {
            sys::no_timer_slack();
        }
        for lane in &mut lanes {
            let mut done = 0;
            while terms.background || done < self.stream.submissions {
                // Read records here, outside of the measured trip.
                lane.make_room()?;
                let before = sys::now();
                let job = lane.submit(exec, &[])?;
                lane.wait(job.seqno)?;
                let after = sys::now();
                if !terms.background {
                    self.trips.push(after, after - before);
                }
                done = done.saturating_add(1);
                if self.stream.pause_ns > 0 {
                    sys::sleep_until(after + pauses.below(self.stream.pause_ns));
                }
            }
        }
        Ok(lanes)
    }

    fn records(&mut self, run: &FinishedRun<'_>) -> Result<Vec<AgentMessage>, String> {
        let trips = std::mem::take(&mut self.trips);
        Ok(trips.records("round_trip", "ns", run.start, run.terms.samples))
    }
}
