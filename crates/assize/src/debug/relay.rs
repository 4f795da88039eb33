//! Relays gdb's remote protocol between a debugger and a machine. Reverse execution is implemented
//! here: it gives the debugger another machine, at the earlier point.

use std::collections::BTreeSet;
use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use assize_target::exact::DebuggedRun;
use assize_target::gdb_stub::{GdbStub, StubError, framed, hex, stopped_by};

use super::history::{History, NotBack, Reached, StandingMachine};
use super::point::{Point, clocks};
use super::stops::Stops;

/// Interval between checks for a new connection and for the end of the run.
const LOOK: Duration = Duration::from_millis(20);

/// The listening sockets for debuggers.
pub(super) enum Doors {
    Socket(UnixListener),
    Port(TcpListener),
}

/// A connection over either kind of socket.
trait Stream: Read + Write + Send {
    fn twin(&self) -> io::Result<Box<dyn Stream>>;
    fn end(&self);
}

impl Stream for UnixStream {
    fn twin(&self) -> io::Result<Box<dyn Stream>> {
        Ok(Box::new(self.try_clone()?))
    }
    fn end(&self) {
        // The connection may be closed already.
        let _ = self.shutdown(Shutdown::Both);
    }
}

impl Stream for TcpStream {
    fn twin(&self) -> io::Result<Box<dyn Stream>> {
        Ok(Box::new(self.try_clone()?))
    }
    fn end(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

impl Doors {
    /// Makes `accept` return an error if no debugger is waiting.
    pub(super) fn without_waiting(self) -> io::Result<Doors> {
        match &self {
            Doors::Socket(listener) => listener.set_nonblocking(true)?,
            Doors::Port(listener) => listener.set_nonblocking(true)?,
        }
        Ok(self)
    }

    fn accept(&self) -> io::Result<Box<dyn Stream>> {
        Ok(match self {
            Doors::Socket(listener) => Box::new(listener.accept()?.0),
            Doors::Port(listener) => {
                let stream = listener.accept()?.0;
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)?;
                Box::new(stream)
            }
        })
    }
}

/// Flags that cancel waiting for the machine.
#[derive(Debug, Default, Clone)]
pub(super) struct Interruption {
    /// Set with either flag below, and when a debugger disconnects.
    pub(super) any: Arc<AtomicBool>,
    /// Set by signals that end this process.
    pub(super) ends: Arc<AtomicBool>,
    /// Set when a debugger asks the machine to stop.
    stop: Arc<AtomicBool>,
}

impl Interruption {
    pub(super) fn is_end(&self) -> bool {
        self.ends.load(Ordering::SeqCst)
    }

    /// Whether a debugger has asked the machine to stop; clears the request.
    fn take_stop(&self) -> bool {
        let asked = self.stop.swap(false, Ordering::SeqCst);
        self.any.store(self.is_end(), Ordering::SeqCst);
        asked
    }
}

/// The machine that debuggers see; reverse execution replaces it.
pub(super) struct SeenMachine<'a> {
    pub(super) run: DebuggedRun,
    pub(super) history: History<'a>,
    /// The point before a debugger first wrote to memory or registers; `None` if none did.
    pub(super) before_write: Option<Point>,
    pub(super) interruption: Interruption,
}

impl SeenMachine<'_> {
    /// Serves debuggers one after the other, until `is_done` or a signal.
    pub(super) fn serve(&mut self, doors: &Doors, mut is_done: impl FnMut(&DebuggedRun) -> bool) {
        while !is_done(&self.run) && !self.interruption.is_end() {
            match doors.accept() {
                // An error means that the debugger or the machine is gone; another may connect.
                Ok(stream) => drop(self.carry(stream)),
                Err(_) => thread::sleep(LOOK),
            }
            // The debugger's disconnect has set the flag.
            self.interruption.take_stop();
        }
    }

    fn carry(&mut self, stream: Box<dyn Stream>) -> Result<(), StubError> {
        let (to_here, inputs) = mpsc::channel();
        let (from, interruption) = (stream.twin()?, self.interruption.clone());
        let reader = thread::spawn(move || read(from, &to_here, &interruption));
        let stub = self.run.stub()?.cancelled_by(&self.interruption.any);
        let mut session = Session {
            seen: self,
            stub,
            debugger: stream,
            cpu: 0,
            general: None,
            continued: None,
            inserted: BTreeSet::new(),
        };
        let served = session.serve(&inputs);
        session.debugger.end();
        // The thread panics only through a bug in this file.
        let _ = reader.join();
        served
    }
}

enum DebuggerInput {
    Packet(Vec<u8>),
    Interrupt,
}

/// Reads a debugger's input until it disconnects. Acknowledgements and requests to stop come
/// between packets; inside a packet, `#` is escaped.
fn read(from: Box<dyn Stream>, to: &Sender<DebuggerInput>, interruption: &Interruption) {
    let mut packet = None;
    for byte in BufReader::new(from).bytes().map_while(Result::ok) {
        let input = match (&mut packet, byte) {
            (None, b'$') => {
                packet = Some(Vec::new());
                continue;
            }
            (None, 3) => {
                interruption.stop.store(true, Ordering::SeqCst);
                interruption.any.store(true, Ordering::SeqCst);
                DebuggerInput::Interrupt
            }
            (None, _) => continue,
            (Some(_), b'#') => DebuggerInput::Packet(packet.take().unwrap_or_default()),
            (Some(bytes), _) => {
                bytes.push(byte);
                continue;
            }
        };
        if to.send(input).is_err() {
            break;
        }
    }
    interruption.any.store(true, Ordering::SeqCst);
}

/// The connection of one debugger.
struct Session<'a, 'b> {
    seen: &'a mut SeenMachine<'b>,
    stub: GdbStub,
    debugger: Box<dyn Stream>,
    /// The CPU that stopped last.
    cpu: usize,
    /// The last `Hg` packet (CPU of register access) and `Hc` packet (CPU to step or continue).
    general: Option<String>,
    continued: Option<String>,
    /// The inserted breakpoints and watchpoints: their packets without the `Z`.
    inserted: BTreeSet<String>,
}

impl Session<'_, '_> {
    fn serve(&mut self, inputs: &Receiver<DebuggerInput>) -> Result<(), StubError> {
        loop {
            match inputs.recv_timeout(LOOK) {
                Ok(DebuggerInput::Packet(packet)) => {
                    self.debugger.write_all(b"+")?;
                    self.answer(&packet)?;
                }
                // The machine stopped before the request arrived.
                Ok(DebuggerInput::Interrupt) => {
                    self.seen.interruption.take_stop();
                }
                Err(RecvTimeoutError::Timeout) if self.seen.interruption.is_end() => return Ok(()),
                Err(RecvTimeoutError::Timeout) if self.seen.run.has_ended() => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    fn answer(&mut self, packet: &[u8]) -> Result<(), StubError> {
        let text = String::from_utf8_lossy(packet).into_owned();
        if writes(&text) && self.seen.before_write.is_none() {
            self.seen.before_write = Some(self.here()?);
        }
        match text.as_str() {
            "bs" | "bc" => return self.go_back(text == "bs"),
            _ if text.starts_with("Hg") => self.general = Some(text.clone()),
            _ if text.starts_with("Hc") => self.continued = Some(text.clone()),
            _ => {}
        }
        self.stub.send_packet(packet)?;
        // A kill packet gets no reply.
        if text == "k" {
            return Ok(());
        }
        let mut answer = self.wait()?;
        if let Some(stop) = stopped_by(&String::from_utf8_lossy(&answer)) {
            self.stopped_on(stop.cpu);
            if text == "?" {
                // QEMU selects the stopped CPU at a stop, but not for `?`.
                self.select()?;
            }
        }
        if answer == b"OK" {
            match text.split_at_checked(1) {
                Some(("Z", which)) => drop(self.inserted.insert(which.into())),
                Some(("z", which)) => drop(self.inserted.remove(which)),
                _ => {}
            }
        }
        if text.starts_with("qSupported") {
            answer.extend(b";ReverseStep+;ReverseContinue+");
        }
        self.send(&answer)
    }

    fn send(&mut self, answer: &[u8]) -> Result<(), StubError> {
        Ok(self.debugger.write_all(&framed(answer))?)
    }

    /// Records a stop. Debuggers take the CPU that stopped as selected.
    fn stopped_on(&mut self, cpu: usize) {
        self.cpu = cpu;
        self.general = Some(format!("Hgp1.{:x}", cpu + 1));
    }

    /// Waits for the machine's reply; forwards console output that precedes it.
    fn wait(&mut self) -> Result<Vec<u8>, StubError> {
        loop {
            match self.stub.receive_packet() {
                Ok(some) if some.starts_with(b"O") && some != b"OK" => self.send(&some)?,
                Err(StubError::Cancelled) if self.seen.interruption.take_stop() => {
                    self.stub.interrupt()?;
                }
                other => return other,
            }
        }
    }

    /// The current point of the machine; restores the debugger's selection.
    fn here(&mut self) -> Result<Point, StubError> {
        let point = Point::read(&mut self.stub)?;
        self.select()?;
        Ok(point)
    }

    /// Selects in the machine the CPU that the debugger has selected.
    fn select(&mut self) -> Result<(), StubError> {
        match &self.general {
            Some(packet) => self.stub.apply(packet),
            None => Ok(()),
        }
    }

    /// The CPU to step: that of the last `Hc` packet, else the selected one.
    fn stepped(&self) -> usize {
        let named = |packet: &Option<String>| {
            let (_, thread) = packet.as_ref()?.split_once('.')?;
            usize::from_str_radix(thread, 16).ok()?.checked_sub(1)
        };
        let named = named(&self.continued).or_else(|| named(&self.general));
        named.unwrap_or(self.cpu)
    }

    fn go_back(&mut self, steps: bool) -> Result<(), StubError> {
        let stepped = self.stepped();
        let answer = match self.earlier(steps, stepped) {
            Ok((mut machine, reached)) => {
                let (cpu, why) = match reached {
                    Reached::Cpu(cpu) => (cpu, String::new()),
                    Reached::Watchpoint(cpu, watch) => (cpu, watch),
                    Reached::Begin => (clocks(&mut machine.stub)?.0, "replaylog:begin;".into()),
                };
                self.stopped_on(cpu);
                self.see(machine)?;
                format!("T05thread:p01.{:02x};{why}", cpu + 1)
            }
            Err(NotBack::Stub(StubError::Cancelled)) => {
                if !self.seen.interruption.take_stop() {
                    return Err(StubError::Cancelled);
                }
                format!("T02thread:p01.{:02x};", self.cpu + 1)
            }
            Err(why) => format!("E.cannot go back: {why}"),
        };
        self.send(answer.as_bytes())
    }

    fn earlier(&mut self, steps: bool, cpu: usize) -> Result<(StandingMachine, Reached), NotBack> {
        if let Some(point) = self.seen.before_write.clone() {
            let machine = self.seen.history.go_back_to(&point)?;
            self.seen.before_write = None;
            let text = "What was written to memory or registers is lost.\n";
            self.send(format!("O{}", hex(text.as_bytes())).as_bytes())?;
            return Ok((machine, Reached::Cpu(point.turn)));
        }
        let here = self.here()?;
        if steps {
            return self.seen.history.step_back(&here, cpu);
        }
        let packets: Vec<String> = self.inserted.iter().cloned().collect();
        let stops = Stops::new(&packets);
        self.seen.history.continue_back(&here, &stops)
    }

    /// Replaces the machine that the debugger sees, with the same breakpoints.
    fn see(&mut self, machine: StandingMachine) -> Result<(), StubError> {
        self.stub = machine.stub;
        self.seen.run = machine.run;
        for packet in &self.inserted {
            self.stub.apply(&format!("Z{packet}"))?;
        }
        self.select()
    }
}

/// Whether a packet writes memory or registers. `X` and `M` with length 0 write nothing; gdb sends
/// them to probe for support.
fn writes(packet: &str) -> bool {
    match packet.chars().next() {
        Some('P' | 'G') => true,
        Some('M' | 'X') => packet
            .split_once(':')
            .is_some_and(|(head, _)| !head.ends_with(",0")),
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    #[test]
    fn only_packets_that_write_are_noticed() {
        for (packet, is_write) in [
            ("m1000,4", false),
            ("vCont;c", false),
            ("qRcmd,50", false),
            ("QP", false),
            ("Z1,1000,1", false),
            ("Hgp1.2", false),
            ("Xffffffff81000000,0:", false),
            ("M1000,0:", false),
            ("Xffffffff81000000,1:P", true),
            ("M1000,4:01020304", true),
            ("P10=0011", true),
            ("G0011", true),
        ] {
            assert_eq!(writes(packet), is_write, "{packet}");
        }
    }

    #[test]
    fn packets_and_requests_to_stop_are_told_apart() {
        let (mut debugger, relay) = UnixStream::pair().unwrap();
        let (to, inputs) = mpsc::channel();
        let interruption = Interruption::default();
        debugger
            .write_all(b"+$vCont;c#a8\x03+$X10,1:\x03#00-")
            .unwrap();
        drop(debugger);
        read(Box::new(relay), &to, &interruption);
        drop(to);
        let seen: Vec<Option<Vec<u8>>> = inputs
            .iter()
            .map(|input| match input {
                DebuggerInput::Packet(packet) => Some(packet),
                DebuggerInput::Interrupt => None,
            })
            .collect();
        let want = [
            Some(b"vCont;c".to_vec()),
            None,
            Some(b"X10,1:\x03".to_vec()),
        ];
        assert_eq!(seen, want);
        assert!(interruption.take_stop() && !interruption.take_stop());
    }
}
