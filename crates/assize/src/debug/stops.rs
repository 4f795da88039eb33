//! Breakpoints and watchpoints of a debugger.

use assize_target::gdb_stub::{GdbStub, Stop, StubError};

/// The breakpoints and watchpoints of a debugger: packets without the `Z`, such as
/// `1,ffffffff81000000,1`.
pub(super) struct Stops<'a> {
    packets: &'a [String],
    breakpoints: Vec<u64>,
}

/// Memory watched for writes: address, size and last contents; `None` if unreadable.
type Watched = (u64, usize, Option<Vec<u8>>);

/// The watched memory of one machine.
pub(super) struct WatchedMemory {
    all: Vec<Watched>,
}

impl<'a> Stops<'a> {
    pub(super) fn new(packets: &'a [String]) -> Stops<'a> {
        let breakpoints = packets.iter().filter_map(|packet| match parse(packet)? {
            (0 | 1, address, _) => Some(address),
            _ => None,
        });
        Stops {
            packets,
            breakpoints: breakpoints.collect(),
        }
    }

    /// Inserts all of them, or only watchpoints: single steps ignore breakpoints anyway.
    pub(super) fn insert(&self, stub: &mut GdbStub, all: bool) -> Result<WatchedMemory, StubError> {
        let mut watched = Vec::new();
        for packet in self.packets {
            let parsed = parse(packet);
            if all || !matches!(parsed, Some((0 | 1, ..))) {
                stub.apply(&format!("Z{packet}"))?;
            }
            if let Some((2, address, size)) = parsed {
                watched.push((address, size, stub.read(address, size).ok()));
            }
        }
        Ok(WatchedMemory { all: watched })
    }

    pub(super) fn has_breakpoint(&self, address: u64) -> bool {
        self.breakpoints.contains(&address)
    }
}

impl WatchedMemory {
    /// Whether to report a stop to the debugger. Like gdb, skips writes that do not change the
    /// memory.
    pub(super) fn is_hit(&mut self, stop: &Stop, stub: &mut GdbStub) -> bool {
        let Some(why) = &stop.watch else {
            return false;
        };
        let mut has_changed = !why.starts_with("watch:");
        for (address, size, bytes) in &mut self.all {
            let now = stub.read(*address, *size).ok();
            has_changed |= now.is_none() || now != *bytes;
            *bytes = now;
        }
        has_changed
    }
}

/// Kind, address and size of a `Z` packet.
fn parse(packet: &str) -> Option<(u8, u64, usize)> {
    let mut words = packet.split([',', ';']);
    let kind = words.next()?.parse().ok()?;
    let address = u64::from_str_radix(words.next()?, 16).ok()?;
    let size = usize::from_str_radix(words.next()?, 16).ok()?;
    Some((kind, address, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breakpoints_are_told_from_watchpoints() {
        let packets = ["0,10,1", "1,ffffffff81000000,1", "2,20,8", "4,30,4", "x"];
        let packets = packets.map(String::from);
        let stops = Stops::new(&packets);
        for (address, is_there) in [(0x10, true), (0xffff_ffff_8100_0000, true), (0x20, false)] {
            assert_eq!(stops.has_breakpoint(address), is_there, "{address:x}");
        }
        assert_eq!(parse("2,20,8"), Some((2, 0x20, 8)));
        assert_eq!(parse("2,20"), None);
    }
}
