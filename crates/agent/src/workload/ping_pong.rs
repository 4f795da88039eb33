//! Two threads that wake each other in turn.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use assize_job::{AgentMessage, PingPong, WakeupMechanism};

use super::prepared::{Prepared, WorkloadContext, prepare_staged};
use super::series::TimedSeries;
use super::threads::{join, spawn};
use crate::process::Staged;
use crate::sys;

pub(super) fn prepare(
    ping_pong: &PingPong,
    context: &WorkloadContext<'_>,
) -> Result<Prepared, String> {
    let (via, loops) = (ping_pong.via, ping_pong.loops);
    if via == WakeupMechanism::Socket {
        return Err("via: socket: ping-pong knows `pipe` and `futex`".into());
    }
    let scheduling = ping_pong.scheduling.clone();
    let game = PingPongExchange {
        via,
        loops: (!context.background).then_some(loops),
        samples: context.job.samples,
        start: 0,
        trips: TimedSeries::default(),
    };
    Ok(prepare_staged(scheduling, game))
}

/// The exchange to carry out, and the results.
struct PingPongExchange {
    via: WakeupMechanism,
    /// Number of round trips; `None`: until the process is killed.
    loops: Option<u64>,
    samples: bool,
    start: u64,
    trips: TimedSeries,
}

/// One side of the exchange.
enum PingPongEnd {
    /// Reads a byte from one pipe and writes it to another.
    Pipe(File, File),
    /// Waits until the word is this side's number, and sets it to the other's.
    Futex(Arc<AtomicU32>, u32),
}

fn connected_ends(via: WakeupMechanism) -> io::Result<(PingPongEnd, PingPongEnd)> {
    if via == WakeupMechanism::Futex {
        let turn = Arc::new(AtomicU32::new(0));
        return Ok((
            PingPongEnd::Futex(turn.clone(), 0),
            PingPongEnd::Futex(turn, 1),
        ));
    }
    let ((read_ping, write_pong), (read_pong, write_ping)) = (sys::pipe()?, sys::pipe()?);
    let end = |from, to| PingPongEnd::Pipe(File::from(from), File::from(to));
    Ok((end(read_ping, write_ping), end(read_pong, write_pong)))
}

impl PingPongEnd {
    /// Waits for this side's turn.
    fn wait_turn(&mut self) -> io::Result<()> {
        match self {
            PingPongEnd::Pipe(from, _) => from.read_exact(&mut [0]),
            PingPongEnd::Futex(turn, side) => loop {
                let other = turn.load(Ordering::Acquire);
                if other == *side {
                    return Ok(());
                }
                sys::futex_wait(turn, other);
            },
        }
    }

    /// Passes the turn to the other side.
    fn pass_turn(&mut self) -> io::Result<()> {
        match self {
            PingPongEnd::Pipe(_, to) => to.write_all(b"o"),
            PingPongEnd::Futex(turn, side) => {
                turn.store(1 - *side, Ordering::Release);
                sys::futex_wake(turn);
                Ok(())
            }
        }
    }
}

impl Staged for PingPongExchange {
    fn set_up(&mut self) -> Result<(), String> {
        self.trips = TimedSeries::with_room(self.loops.unwrap_or(0));
        Ok(())
    }

    fn run(&mut self) -> Result<(), String> {
        let words = |error: io::Error| sys::error_text(&error);
        self.start = sys::now();
        let (mut ping, mut pong) = connected_ends(self.via).map_err(words)?;
        let rounds = self.loops.unwrap_or(u64::MAX);
        let other = spawn("pong", move || -> io::Result<()> {
            for _ in 0..rounds {
                pong.wait_turn()?;
                pong.pass_turn()?;
            }
            Ok(())
        })?;
        for _ in 0..rounds {
            let begin = sys::now();
            ping.pass_turn()
                .and_then(|()| ping.wait_turn())
                .map_err(words)?;
            let end = sys::now();
            if self.loops.is_some() {
                self.trips.push(end, end - begin);
            }
        }
        for done in join(vec![other])? {
            done.map_err(words)?;
        }
        Ok(())
    }

    fn records(&mut self) -> Result<Vec<AgentMessage>, String> {
        let trips = std::mem::take(&mut self.trips);
        Ok(trips.records("round_trip", "ns", self.start, self.samples))
    }
}
