//! The place at which a run is stopped first, and how it gets there.

use std::fmt;

use assize_target::gdb_stub::{GdbStub, StubError};
use assize_why::kernel_elf::KernelSymbol;

use super::clock::GuestClock;

/// The functions that a kernel calls when it oopses, warns or panics.
const CRASH: [&str; 4] = ["oops_enter", "__warn", "panic", "vpanic"];
/// Farther ahead than this, in ns, changes of the guest's clock rate on the way matter.
const NEAR: u64 = 2_000_000;

/// A place in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// Where its memory image goes on, before its set-up.
    Begin,
    /// A time of CLOCK_MONOTONIC, in ns.
    Time(u64),
    /// The Nth call of a function, from 1.
    Call(String, u64),
    /// Where the kernel oopses, warns or panics.
    Crash,
}

/// Why a run did not get to a place.
#[derive(Debug)]
pub(crate) enum Missed {
    /// The run ended before it.
    Ended(String),
    /// This run has no such place.
    None(String),
    /// The machine cannot be asked.
    Stub(StubError),
}

impl From<StubError> for Missed {
    fn from(error: StubError) -> Self {
        Missed::Stub(error)
    }
}

impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missed::Ended(what) => write!(f, "the run ended before {what}"),
            Missed::None(why) => f.write_str(why),
            Missed::Stub(error) => error.fmt(f),
        }
    }
}

/// Where a machine is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    /// The CPU that stopped it.
    pub(crate) cpu: usize,
    /// The count of that CPU, in ns since the machine was switched on.
    pub(crate) count: u64,
}

/// Lets a machine go on to a place. Only a time needs the clock.
pub(crate) fn go_to(
    stub: &mut GdbStub,
    place: &Place,
    symbols: &[KernelSymbol],
    clock: &Result<GuestClock, String>,
) -> Result<Standing, Missed> {
    let cpu = match place {
        Place::Begin => 0,
        Place::Time(time) => {
            let clock = clock.as_ref().map_err(|why| {
                Missed::None(format!("the time of this kernel cannot be read: {why}"))
            })?;
            go_to_time(stub, clock, *time)?
        }
        Place::Call(name, number) => {
            let addresses: Vec<u64> = code(symbols, |one| one == name).collect();
            if addresses.is_empty() {
                return Err(Missed::None(format!("the kernel has no function {name}")));
            }
            go_to_call(stub, &addresses, *number).map_err(|error| match error {
                Missed::Stub(StubError::Ended) => Missed::Ended(format!("call {number} of {name}")),
                other => other,
            })?
        }
        Place::Crash => {
            let addresses: Vec<u64> = code(symbols, |one| CRASH.contains(&one)).collect();
            go_to_call(stub, &addresses, 1).map_err(|error| match error {
                Missed::Stub(StubError::Ended) => {
                    Missed::None("the kernel did not oops, warn or panic in this run".into())
                }
                other => other,
            })?
        }
    };
    Ok(Standing {
        cpu,
        count: stub.icount(&format!("cpu {cpu} "))?,
    })
}

fn code(symbols: &[KernelSymbol], is: impl Fn(&str) -> bool) -> impl Iterator<Item = u64> {
    let mut found: Vec<u64> = symbols
        .iter()
        .filter(|one| one.is_code && is(&one.name))
        .map(|one| one.address)
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter()
}

/// Stops at the Nth time that a CPU comes to one of these addresses.
fn go_to_call(stub: &mut GdbStub, addresses: &[u64], times: u64) -> Result<usize, Missed> {
    for address in addresses {
        stub.set_breakpoint(*address)?;
    }
    let mut cpu = stub.go()?;
    for _ in 1..times {
        // Past the instruction at which it stands. Another CPU may come to one meanwhile.
        let next = stub.step(cpu)?;
        let stands = addresses.contains(&stub.program_counter(next)?);
        cpu = if next == cpu && !stands {
            stub.go()?
        } else {
            next
        };
    }
    for address in addresses {
        stub.remove_breakpoint(*address)?;
    }
    Ok(cpu)
}

/// Stops before the first instruction at this time or later. The guest may adjust its clock on
/// the way, so this approaches the time in steps.
fn go_to_time(stub: &mut GdbStub, clock: &GuestClock, time: u64) -> Result<usize, Missed> {
    let begin = clock.read(stub)?.time(stub.icount("now ")?);
    if begin >= time {
        return Err(Missed::None(format!(
            "at {} ms the run had not begun; it begins at {} ms",
            milliseconds(time),
            milliseconds(begin)
        )));
    }
    loop {
        let (count, now) = (clock.read(stub)?.count(time), stub.icount("now ")?);
        let ahead = count.saturating_sub(now);
        let stop = if ahead > NEAR {
            count - ahead / 1000 - NEAR / 2
        } else {
            count
        };
        let cpu = stub.go_to(stop).map_err(|error| match error {
            StubError::Ended => Missed::Ended(format!("{} ms", milliseconds(time))),
            other => Missed::Stub(other),
        })?;
        // All CPUs may have been idle until later.
        if clock.read(stub)?.time(stub.icount(&format!("cpu {cpu} "))?) >= time {
            return Ok(cpu);
        }
    }
}

/// With all digits of the nanoseconds.
pub(crate) fn milliseconds(ns: u64) -> String {
    format!("{}.{:06}", ns / 1_000_000, ns % 1_000_000)
}
