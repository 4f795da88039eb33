//! Follows a run and a draw that was not bad, instruction by instruction, to where they part.

use std::fs::File;
use std::io::{BufRead, BufReader};

use assize_target::exact::Draw;
use assize_target::gdb_stub::{GdbStub, StubError};
use assize_why::Symbols;
use assize_why::when::{ExecutedPath, PartedCpu, Parting, part};

use super::Repeatable;
use super::draws::{draw_from, failed};
use super::events::events;
use crate::failure::Failure;

/// How far past the certain moment both are followed, in ns: at first, and if they have not parted
/// by then. The way is divided into slices, after each of which the CPUs' clocks are read.
const BEYOND: [u64; 2] = [5_000, 200_000];
const SLICES: u64 = 100;

impl Repeatable<'_> {
    /// Where the run and one of its draws part.
    pub(super) fn parting(
        &self,
        (open, certain): (u64, u64),
        number: u32,
    ) -> Result<Option<Parting>, Failure> {
        let texts = self.exact.symbols(&self.again.order, 0)?;
        let symbols = Symbols::parse(&String::from_utf8_lossy(&texts.kallsyms));
        let symbols = symbols.map_err(|error| Failure::Argument(format!("when: {error}")))?;
        let draw = draw_from(open, number);
        for beyond in BEYOND {
            let until = certain + beyond;
            let bad = self.follow(open, until, None)?;
            let good = self.follow(open, until, Some(draw))?;
            let mut cpus: Vec<PartedCpu> = (0..)
                .zip(bad.paths.iter().zip(&good.paths))
                .filter_map(|(cpu, (bad, good))| part(cpu, bad, good, &symbols))
                .collect();
            cpus.sort_by_key(|one| one.time_ns);
            if !cpus.is_empty() || beyond == BEYOND[1] {
                return Ok(Some(Parting {
                    from_ns: bad.from_ns,
                    until_ns: bad.until_ns,
                    draw: number + 1,
                    cpus,
                    events: events(
                        &self.again.recorded,
                        &self.draw(open, number, None)?,
                        bad.from_ns,
                    ),
                }));
            }
        }
        Ok(None)
    }

    fn follow(&self, from: u64, until: u64, draw: Option<Draw>) -> Result<Followed, Failure> {
        let clock = self.clock()?;
        let run = self.exact.debug(&self.again.order, 0)?;
        let log = run.socket().with_file_name("executed");
        let mut stub = run.stub().map_err(failed)?;
        let mut follow = || -> Result<Followed, StubError> {
            stub.go_to(from)?;
            if let Some(draw) = draw {
                stub.monitor(&format!("icount_seed {}", draw.seed))?;
            }
            stub.monitor(&format!("logfile {}", log.display()))?;
            stub.monitor("one-insn-per-tb on")?;
            stub.monitor("log exec,nochain")?;
            let cpus = self.again.order.machine.cpus;
            let mut followed = Followed {
                paths: (0..cpus).map(|_| ExecutedPath::default()).collect(),
                from_ns: clock.read(&mut stub)?.time(from),
                until_ns: 0,
            };
            let mut lines = BufReader::new(File::open(&log)?);
            let slice = ((until - from) / SLICES).max(1);
            for end in (1..=SLICES).map(|step| from + step * slice) {
                let keeper = clock.read(&mut stub)?;
                let mut clocks = clocks(&mut stub, cpus)?;
                match stub.go_to(end) {
                    Ok(_) => {}
                    Err(StubError::Ended) => break,
                    Err(error) => return Err(error),
                }
                followed.read(&mut lines, &mut clocks, |count| keeper.time(count))?;
                followed.until_ns = keeper.time(end);
            }
            Ok(followed)
        };
        follow().map_err(failed)
    }
}

/// The instructions that the CPUs of a run executed.
struct Followed {
    paths: Vec<ExecutedPath>,
    from_ns: u64,
    until_ns: u64,
}

impl Followed {
    /// Reads the lines that QEMU has logged since the last call, one per instruction.
    fn read(
        &mut self,
        lines: &mut impl BufRead,
        clocks: &mut [u64],
        time: impl Fn(u64) -> u64,
    ) -> Result<(), StubError> {
        let (mut line, mut last) = (String::new(), None);
        while lines.read_line(&mut line)? > 0 {
            if let Some((cpu, address)) = executed(&line) {
                if let (Some(path), Some(clock)) = (self.paths.get_mut(cpu), clocks.get_mut(cpu)) {
                    path.instructions.push((time(*clock), address));
                    *clock += 1;
                }
                last = Some(cpu);
            } else if line.starts_with("Stopped execution")
                && let Some(path) = last.and_then(|cpu: usize| self.paths.get_mut(cpu))
            {
                // QEMU logged this instruction, but did not execute it.
                path.instructions.pop();
                last = None;
            }
            line.clear();
        }
        Ok(())
    }
}

/// The CPU and the address of a line such as
/// `Trace 1: 0x7f1812e00400 [00000000/ffffffff812288d6/0040c2b0/ff022200] `.
fn executed(line: &str) -> Option<(usize, u64)> {
    let (cpu, rest) = line.strip_prefix("Trace ")?.split_once(':')?;
    let address = rest.split_once('[')?.1.split('/').nth(1)?;
    Some((cpu.parse().ok()?, u64::from_str_radix(address, 16).ok()?))
}

/// The clocks of the CPUs. The clock of an idle CPU lags, so the machine's time is used.
fn clocks(stub: &mut GdbStub, cpus: u32) -> Result<Vec<u64>, StubError> {
    let now = stub.icount("now ")?;
    (0..cpus)
        .map(|cpu| Ok(stub.icount(&format!("cpu {cpu} "))?.max(now)))
        .collect()
}
