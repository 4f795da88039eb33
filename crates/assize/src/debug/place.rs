//! Stops a run at a place.

use std::fmt;

use assize_report::milliseconds;
use assize_target::gdb_stub::{GdbStub, StubError};
use assize_why::kernel_elf::KernelSymbol;

use super::clock::GuestClock;

/// Functions that the kernel calls on an oops, a warning or a panic.
const CRASH: [&str; 4] = ["oops_enter", "__warn", "panic", "vpanic"];
/// Targets farther ahead than this, in ns, are approached in steps, as the guest may change its
/// clock rate.
const NEAR: u64 = 2_000_000;

/// A place in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// The first instruction after the memory image, before the set-up.
    Begin,
    /// A time of CLOCK_MONOTONIC, in ns.
    Time(u64),
    /// The Nth call of a function, counted from 1.
    Call(String, u64),
    /// The first oops, warning or panic of the kernel.
    Crash,
}

/// Why a run was not stopped at a place.
#[derive(Debug)]
pub(crate) enum Missed {
    /// The run ended first; the place in words.
    Ended(String),
    /// The run has no such place; the reason.
    None(String),
    /// The connection to the machine failed.
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

/// The position of a stopped machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    /// The CPU that stopped.
    pub(crate) cpu: usize,
    /// The clock of that CPU, in ns since the machine was switched on.
    pub(crate) count: u64,
}

/// Continues a machine up to a place. `clock` is used for times only.
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

/// Stops where a CPU reaches one of these addresses for the Nth time; returns that CPU.
fn go_to_call(stub: &mut GdbStub, addresses: &[u64], times: u64) -> Result<usize, Missed> {
    for address in addresses {
        stub.set_breakpoint(*address)?;
    }
    let mut cpu = stub.go()?.cpu;
    for _ in 1..times {
        // Steps over the breakpoint. Another CPU may reach one in this step.
        let next = stub.step(cpu)?.cpu;
        let stands = addresses.contains(&stub.program_counter(next)?);
        cpu = if next == cpu && !stands {
            stub.go()?.cpu
        } else {
            next
        };
    }
    for address in addresses {
        stub.remove_breakpoint(*address)?;
    }
    Ok(cpu)
}

/// Stops before the first instruction at or after this time. Approaches the time in steps, because
/// the guest may adjust its clock on the way.
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
        // All CPUs may have been idle past the time.
        if clock.read(stub)?.time(stub.icount(&format!("cpu {cpu} "))?) >= time {
            return Ok(cpu);
        }
    }
}
