//! Carries gdb's remote protocol between debuggers and a machine, and notices writes.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Where debuggers connect.
pub(super) enum Doors {
    Socket(UnixListener),
    Port(TcpListener),
}

/// A connection of either kind.
trait Stream: Read + Write + Send + Sized + 'static {
    fn twin(&self) -> io::Result<Self>;
    fn end(&self, how: Shutdown);
}

impl Stream for UnixStream {
    fn twin(&self) -> io::Result<Self> {
        self.try_clone()
    }
    fn end(&self, how: Shutdown) {
        // It may have ended already.
        let _ = self.shutdown(how);
    }
}

impl Stream for TcpStream {
    fn twin(&self) -> io::Result<Self> {
        self.try_clone()
    }
    fn end(&self, how: Shutdown) {
        let _ = self.shutdown(how);
    }
}

/// Carries each debugger that connects, one after the other, until the process ends.
/// `written` is set when one writes memory or registers.
pub(super) fn serve(doors: Doors, machine: &Path, written: &Arc<AtomicBool>) {
    let (machine, written) = (machine.to_owned(), Arc::clone(written));
    thread::spawn(move || {
        loop {
            let served = match &doors {
                Doors::Socket(listener) => {
                    let accepted = listener.accept();
                    accepted.and_then(|(stream, _)| carry(stream, &machine, &written))
                }
                Doors::Port(listener) => {
                    let accepted = listener.accept();
                    accepted.and_then(|(stream, _)| {
                        stream.set_nodelay(true)?;
                        carry(stream, &machine, &written)
                    })
                }
            };
            // A debugger or the machine has gone; another debugger may come.
            drop(served);
        }
    });
}

fn carry<S: Stream>(debugger: S, machine: &Path, written: &Arc<AtomicBool>) -> io::Result<()> {
    let mut machine = UnixStream::connect(machine)?;
    let (from_machine, mut to_debugger) = (machine.twin()?, debugger.twin()?);
    let back = thread::spawn(move || {
        copy(from_machine, &mut to_debugger, |_| {});
        // The debugger still acknowledges the last packet.
        to_debugger.end(Shutdown::Write);
    });
    let (mut packets, written) = (Packets::default(), Arc::clone(written));
    copy(debugger, &mut machine, |bytes| {
        if bytes.iter().any(|byte| packets.writes(*byte)) {
            written.store(true, Ordering::SeqCst);
        }
    });
    machine.end(Shutdown::Both);
    // It panics only through a bug in this file.
    let _ = back.join();
    Ok(())
}

/// Copies until the sender ends. Where the receiver ends first, the other direction ends the
/// sender.
fn copy(mut from: impl Read, to: &mut impl Write, mut look: impl FnMut(&[u8])) {
    let mut bytes = [0; 65536];
    while let Ok(count) = from.read(&mut bytes) {
        let Some(some) = bytes.get(..count).filter(|some| !some.is_empty()) else {
            break;
        };
        look(some);
        let _ = to.write_all(some);
    }
}

/// Reads packets byte by byte. A `$` begins one; within one it is escaped.
#[derive(Debug, Default)]
struct Packets {
    head: Vec<u8>,
    within: bool,
}

impl Packets {
    /// Whether a packet that writes is known by this byte. `X` and `M` may ask for nothing to
    /// be written, to see whether that is possible.
    fn writes(&mut self, byte: u8) -> bool {
        if byte == b'$' {
            self.head.clear();
            self.within = true;
            return false;
        }
        if !self.within {
            return false;
        }
        self.head.push(byte);
        match self.head.first() {
            Some(b'P' | b'G') => self.known(true),
            Some(b'M' | b'X') if byte == b':' => {
                let nothing = self.head.ends_with(b",0:");
                self.known(!nothing)
            }
            Some(b'M' | b'X') if self.head.len() < 64 => false,
            _ => self.known(false),
        }
    }

    fn known(&mut self, writes: bool) -> bool {
        self.within = false;
        writes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_packets_that_write_are_noticed() {
        let seen = |text: &str| {
            let mut packets = Packets::default();
            text.bytes().filter(|byte| packets.writes(*byte)).count()
        };
        assert_eq!(
            seen("+$m1000,4#8e+$vCont;c#a8\u{3}+$qRcmd,50#00$Hgp1.2#00"),
            0
        );
        assert_eq!(seen("$Xffffffff81000000,0:#00$M1000,0:#00"), 0);
        assert_eq!(seen("$Xffffffff81000000,1:P#00"), 1);
        assert_eq!(seen("$M1000,4:01020304#00+$P10=0011#00$G0011#00"), 3);
        assert_eq!(seen("$QP#00$Z1,1000,1#00$z0,G,1#00"), 0);
    }
}
