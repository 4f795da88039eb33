//! Submits one job after the other, waits for each, and reports how long each
//! took its submitter.

use assize_job::{AgentMessage, StreamWorkload as Parameters};

use super::client::{Client, Finished, Lane, Terms};
use super::load::Load;
use super::series::Series;
use crate::simgpu::uapi::Exec;
use crate::sys;

pub(super) struct Streaming {
    stream: Parameters,
    trips: Series,
}

impl Streaming {
    pub(super) fn new(stream: Parameters) -> Streaming {
        Streaming {
            stream,
            trips: Series::default(),
        }
    }
}

impl Load for Streaming {
    fn contexts(&mut self, client: &Client) -> Result<Vec<Lane>, String> {
        let submissions = self.stream.submissions;
        if client.measures() {
            self.trips = Series::with_room(submissions.into());
        }
        client.lanes(1, submissions.into())
    }

    fn run(&mut self, terms: &Terms, _: u64, mut lanes: Vec<Lane>) -> Result<Vec<Lane>, String> {
        let exec = Exec {
            duration_ns: self.stream.job_duration_ns,
            duration_spread_ns: self.stream.spread_ns,
            run_cost_ns: self.stream.run_cost_ns,
            ..Exec::default()
        };
        let mut pauses = terms.stream("pause");
        if self.stream.pause_ns > 0 {
            sys::no_timer_slack();
        }
        for lane in &mut lanes {
            let mut done = 0;
            while terms.background || done < self.stream.submissions {
                // Read records here, so that this is not part of the measured
                // trip.
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

    fn records(
        &mut self,
        _: &Client,
        terms: &Terms,
        start: u64,
        _: &[Finished],
    ) -> Result<Vec<AgentMessage>, String> {
        let trips = std::mem::take(&mut self.trips);
        Ok(trips.records("round_trip", "ns", start, terms.samples))
    }
}
