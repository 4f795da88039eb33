//! A client for QEMU's gdb stub: the part of gdb's remote protocol that runs a machine to a point,
//! reads its state there, and continues it.
//!
//! Packets are `$text#sum`; the receiver of one answers `+`. CPU `n` of the machine is the
//! thread `p1.n+1`.

use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How many bytes of memory are read with one packet.
const CHUNK: usize = 2048;
/// How often to check whether the caller still waits.
const LOOK: Duration = Duration::from_millis(100);
/// The number of the program counter among the registers of x86-64.
const PC: u32 = 16;

/// A connection to the gdb stub of a machine. The machine is stopped while a connection exists,
/// except in [`GdbStub::go`] and [`GdbStub::step`].
#[derive(Debug)]
pub struct GdbStub {
    stream: BufReader<UnixStream>,
    /// The part of the next packet that was received so far.
    partial: Vec<u8>,
    cancel: Arc<AtomicBool>,
}

/// A stop of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// The CPU that stopped it.
    pub cpu: usize,
    /// For a watchpoint its kind and the address, as in the stop reply: `watch:ffff8000;`.
    pub watch: Option<String>,
}

/// Why a request failed.
#[derive(Debug)]
pub enum StubError {
    /// The connection failed.
    Io(io::Error),
    /// The machine has ended.
    Ended,
    /// The caller does not want to wait any longer.
    Cancelled,
    /// The stub replied with an error, or with something unexpected.
    Answered {
        /// The packet.
        packet: String,
        /// The reply.
        answer: String,
    },
}

impl fmt::Display for StubError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StubError::Io(error) => error.fmt(f),
            StubError::Ended => f.write_str("the machine has ended"),
            StubError::Cancelled => f.write_str("interrupted"),
            StubError::Answered { packet, answer } => {
                write!(f, "QEMU answers {packet} with '{answer}'")
            }
        }
    }
}

impl std::error::Error for StubError {}

impl From<io::Error> for StubError {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
        match error.kind() {
            BrokenPipe | ConnectionReset | UnexpectedEof => StubError::Ended,
            _ => StubError::Io(error),
        }
    }
}

impl GdbStub {
    /// Connects, which stops the machine and removes all breakpoints.
    ///
    /// # Errors
    /// Nothing listens on this socket.
    pub fn connect(path: &Path) -> Result<GdbStub, StubError> {
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(LOOK))?;
        let mut stub = GdbStub {
            stream: BufReader::new(stream),
            partial: Vec::new(),
            cancel: Arc::default(),
        };
        stub.ask("qSupported:multiprocess+;swbreak+")?;
        stub.ask("?")?;
        Ok(stub)
    }

    /// Makes all waiting end once this flag is set.
    #[must_use]
    pub fn cancelled_by(mut self, flag: &Arc<AtomicBool>) -> GdbStub {
        self.cancel = Arc::clone(flag);
        self
    }

    /// Whether the caller's flag is set.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::SeqCst)
    }

    /// Continues the machine until it stops, as at a breakpoint.
    ///
    /// # Errors
    /// [`StubError::Ended`] if it ends without a stop.
    pub fn go(&mut self) -> Result<Stop, StubError> {
        self.resume("vCont;c")
    }

    /// Arms a stop: the machine stops before any CPU passes an instant, a count as in `info
    /// icount`.
    ///
    /// # Errors
    /// Those of the connection.
    pub fn stop_at(&mut self, count: u64) -> Result<(), StubError> {
        self.monitor(&format!("icount_stop {count}")).map(|_| ())
    }

    /// Continues the machine up to an instant. Returns the CPU that is there.
    ///
    /// # Errors
    /// The machine ends before the instant; those of the connection.
    pub fn go_to(&mut self, count: u64) -> Result<usize, StubError> {
        self.stop_at(count)?;
        Ok(self.go()?.cpu)
    }

    /// The number after `words` in `info icount`, such as `now ` or `cpu 1 `.
    ///
    /// # Errors
    /// There is no such number; those of the connection.
    pub fn icount(&mut self, words: &str) -> Result<u64, StubError> {
        let packet = "info icount";
        let answer = self.monitor(packet)?;
        let mut lines = answer.lines();
        let number = |line: &str| line.strip_prefix(words)?.split(' ').next()?.parse().ok();
        lines.find_map(number).ok_or_else(|| StubError::Answered {
            packet: packet.into(),
            answer,
        })
    }

    /// Continues the machine until this CPU has executed an instruction, ignoring a breakpoint at
    /// that instruction. Another CPU may have reached a breakpoint before.
    ///
    /// # Errors
    /// As [`GdbStub::go`].
    pub fn step(&mut self, cpu: usize) -> Result<Stop, StubError> {
        self.resume(&format!("vCont;s:p1.{:x};c", cpu + 1))
    }

    /// Executes one instruction of the CPU whose turn it is, or makes it take one interrupt or
    /// exception. Breakpoints are ignored.
    ///
    /// # Errors
    /// As [`GdbStub::go`].
    pub fn step_machine(&mut self) -> Result<Stop, StubError> {
        self.resume("vCont;s")
    }

    /// Asks a running machine to stop. The stop reply goes to the caller that continued the
    /// machine.
    ///
    /// # Errors
    /// The connection failed.
    pub fn interrupt(&mut self) -> Result<(), StubError> {
        Ok(self.stream.get_mut().write_all(b"\x03")?)
    }

    fn resume(&mut self, packet: &str) -> Result<Stop, StubError> {
        let answer = self.ask(packet)?;
        if answer.starts_with(['W', 'X']) {
            return Err(StubError::Ended);
        }
        stopped_by(&answer).ok_or(StubError::Answered {
            packet: packet.into(),
            answer,
        })
    }

    /// Stops each CPU before it executes the instruction at this address.
    ///
    /// # Errors
    /// The stub refuses.
    pub fn set_breakpoint(&mut self, address: u64) -> Result<(), StubError> {
        self.confirm(&format!("Z1,{address:x},1"))
    }

    /// Removes the breakpoint at this address.
    ///
    /// # Errors
    /// There is no such breakpoint.
    pub fn remove_breakpoint(&mut self, address: u64) -> Result<(), StubError> {
        self.confirm(&format!("z1,{address:x},1"))
    }

    /// Inserts or removes a breakpoint or watchpoint by its packet, as gdb sends it:
    /// `Z1,ffffffff81000000,1`.
    ///
    /// # Errors
    /// The stub refuses.
    pub fn apply(&mut self, packet: &str) -> Result<(), StubError> {
        self.confirm(packet)
    }

    /// Reads memory at an address as seen by the CPU that stopped the machine.
    ///
    /// # Errors
    /// There is no memory at the address.
    pub fn read(&mut self, address: u64, bytes: usize) -> Result<Vec<u8>, StubError> {
        let mut all = Vec::new();
        while all.len() < bytes {
            let from = address.wrapping_add(all.len() as u64);
            let packet = format!("m{from:x},{:x}", CHUNK.min(bytes - all.len()));
            let answer = self.ask(&packet)?;
            match from_hex(&answer) {
                Some(some) => all.extend(some),
                None => return Err(StubError::Answered { packet, answer }),
            }
        }
        Ok(all)
    }

    /// Writes memory, after which the run differs from the recorded one.
    ///
    /// # Errors
    /// There is no memory at the address.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), StubError> {
        let packet = format!("M{address:x},{:x}:{}", bytes.len(), hex(bytes));
        self.confirm(&packet)
    }

    /// The program counter of a CPU.
    ///
    /// # Errors
    /// There is no such CPU.
    pub fn program_counter(&mut self, cpu: usize) -> Result<u64, StubError> {
        self.confirm(&format!("Hgp1.{:x}", cpu + 1))?;
        let packet = format!("p{PC:x}");
        let answer = self.ask(&packet)?;
        let bytes = from_hex(&answer).and_then(|bytes| bytes.try_into().ok());
        bytes
            .map(u64::from_le_bytes)
            .ok_or(StubError::Answered { packet, answer })
    }

    /// Executes a command of QEMU's monitor and returns its output.
    ///
    /// # Errors
    /// The connection failed.
    pub fn monitor(&mut self, command: &str) -> Result<String, StubError> {
        self.send(&format!("qRcmd,{}", hex(command.as_bytes())))?;
        let mut text = Vec::new();
        loop {
            let packet = self.receive()?;
            match packet.strip_prefix('O').filter(|_| packet != "OK") {
                Some(more) => text.extend(from_hex(more).unwrap_or_default()),
                None => return Ok(String::from_utf8_lossy(&text).replace('\r', "")),
            }
        }
    }

    /// Removes all breakpoints and continues the machine without a debugger.
    ///
    /// # Errors
    /// The connection failed.
    pub fn detach(mut self) -> Result<(), StubError> {
        self.confirm("D;1")
    }

    fn confirm(&mut self, packet: &str) -> Result<(), StubError> {
        let answer = self.ask(packet)?;
        if answer == "OK" {
            return Ok(());
        }
        Err(StubError::Answered {
            packet: packet.into(),
            answer,
        })
    }

    fn ask(&mut self, packet: &str) -> Result<String, StubError> {
        self.send(packet)?;
        self.receive()
    }

    fn send(&mut self, packet: &str) -> Result<(), StubError> {
        self.send_packet(packet.as_bytes())
    }

    /// Forwards a packet of another client.
    ///
    /// # Errors
    /// The connection failed.
    pub fn send_packet(&mut self, packet: &[u8]) -> Result<(), StubError> {
        Ok(self.stream.get_mut().write_all(&framed(packet))?)
    }

    fn receive(&mut self) -> Result<String, StubError> {
        Ok(String::from_utf8_lossy(&self.receive_packet()?).into_owned())
    }

    /// Receives the next packet, and skips checksums and acknowledgements between packets.
    ///
    /// # Errors
    /// [`StubError::Cancelled`] if the flag was set before a packet arrived; the call can be
    /// repeated.
    pub fn receive_packet(&mut self) -> Result<Vec<u8>, StubError> {
        loop {
            match self.stream.read_until(b'#', &mut self.partial) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if self.is_cancelled() {
                        return Err(StubError::Cancelled);
                    }
                    continue;
                }
                read => read?,
            };
            let mut bytes = std::mem::take(&mut self.partial);
            if bytes.pop() != Some(b'#') {
                return Err(StubError::Ended);
            }
            if let Some(begin) = bytes.iter().position(|byte| *byte == b'$') {
                // A machine that has ended needs no acknowledgement of that.
                let _ = self.stream.get_mut().write_all(b"+");
                return Ok(bytes.split_off(begin + 1));
            }
        }
    }
}

/// A packet with its framing and checksum.
#[must_use]
pub fn framed(packet: &[u8]) -> Vec<u8> {
    let sum = packet.iter().copied().fold(0, u8::wrapping_add);
    let mut bytes = Vec::with_capacity(packet.len() + 4);
    bytes.push(b'$');
    bytes.extend(packet);
    bytes.extend(format!("#{sum:02x}").as_bytes());
    bytes
}

/// Parses a stop reply: `T05thread:p01.02;watch:ffff8000;`.
#[must_use]
pub fn stopped_by(reply: &str) -> Option<Stop> {
    let (_, rest) = reply.strip_prefix('T')?.split_once("thread:p")?;
    let (thread, rest) = rest.split_once(';')?;
    let (_, thread) = thread.split_once('.')?;
    Some(Stop {
        cpu: usize::from_str_radix(thread, 16).ok()?.checked_sub(1)?,
        watch: rest.contains("watch:").then(|| rest.to_owned()),
    })
}

/// Bytes as hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of hexadecimal digits, at least one.
fn from_hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.is_empty() || !rest.is_empty() {
        return None;
    }
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let byte = |[high, low]: &[u8; 2]| u8::try_from(digit(*high)? << 4 | digit(*low)?).ok();
    pairs.iter().map(byte).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail.
    use super::*;

    #[test]
    fn a_stop_reply_names_the_cpu_and_the_watchpoint() {
        for (reply, cpu) in [
            ("T05thread:p01.01;", Some(0)),
            ("T05thread:p01.0a;", Some(9)),
            ("T05thread:p01.02;watch:ffffffff82400000;", Some(1)),
            ("W01", None),
            ("E22", None),
            ("T05thread:p01.00;", None),
        ] {
            let stop = stopped_by(reply);
            assert_eq!(stop.as_ref().map(|stop| stop.cpu), cpu, "{reply}");
            let watch = stop.and_then(|stop| stop.watch);
            assert_eq!(watch.is_some(), reply.contains("watch"), "{reply}");
        }
    }

    #[test]
    fn hexadecimal_text_gives_the_bytes_it_was_made_of() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(from_hex(&hex(&bytes)).unwrap(), bytes);
        for wrong in ["", "E14", "0g", "+1", "é"] {
            assert_eq!(from_hex(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn packets_are_framed_and_a_machine_that_goes_has_ended() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("gdb");
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let stub = std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut from = BufReader::new(stream);
            let mut asked = Vec::new();
            for answer in ["PacketSize=1000", "T05thread:p01.01;", "11223344", "E14"] {
                let mut bytes = Vec::new();
                from.read_until(b'#', &mut bytes).unwrap();
                let mut sum = [0; 2];
                io::Read::read_exact(&mut from, &mut sum).unwrap();
                asked.push(String::from_utf8(bytes).unwrap());
                write!(from.get_mut(), "+${answer}#00").unwrap();
            }
            asked
        });
        let mut client = GdbStub::connect(&path).unwrap();
        assert_eq!(client.read(0x1000, 4).unwrap(), [0x11, 0x22, 0x33, 0x44]);
        let error = client.read(0, 1).unwrap_err().to_string();
        assert_eq!(error, "QEMU answers m0,1 with 'E14'");
        let asked = stub.join().unwrap();
        assert_eq!(asked[1..], ["+$?#", "+$m1000,4#", "+$m0,1#"]);
        assert!(matches!(client.go(), Err(StubError::Ended)));
    }
}
