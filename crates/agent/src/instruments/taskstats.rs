//! Statistics that the kernel sends for each thread that exits (taskstats over generic
//! netlink). A socket queues them until they are read.

use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
    sockopt,
};

const SOCKET_BYTES: usize = 8 << 20;

// Constants of the kernel's interface: genetlink.h and taskstats.h.
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const GENL_ID_CTRL: u16 = 0x10;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const TASKSTATS_CMD_GET: u8 = 1;
const TASKSTATS_CMD_ATTR_REGISTER_CPUMASK: u16 = 3;
const TASKSTATS_TYPE_PID: u16 = 1;
const TASKSTATS_TYPE_STATS: u16 = 3;
const TASKSTATS_TYPE_AGGR_PID: u16 = 4;

const HEADERS: usize = 16 + 4;

/// A thread's counts, from its exit or from /proc.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ThreadExit {
    /// Its id.
    pub tid: u32,
    /// Id of its process.
    pub process: u32,
    /// Id of its parent process.
    pub parent: u32,
    /// Its name in the kernel.
    pub comm: String,
    /// Voluntary context switches.
    pub voluntary: u64,
    /// Involuntary context switches.
    pub involuntary: u64,
}

/// A subscription to the exits of all threads.
#[derive(Debug)]
pub(crate) struct Taskstats {
    socket: OwnedFd,
    buffer: Vec<u8>,
    /// Whether the socket overflowed, so that exits are missing.
    pub lost: bool,
    /// Whether a record had an unknown layout.
    pub strange: bool,
}

impl Taskstats {
    /// Subscribes to exits on these CPUs.
    pub(crate) fn open(cpus: &[u32]) -> Result<Taskstats, String> {
        let failed = |why: Errno| format!("taskstats: {why}");
        let socket = socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            Some(netlink::GENERIC),
        )
        .map_err(failed)?;
        // Without the privilege to force the size, accept the limit.
        if sockopt::set_socket_recv_buffer_size_force(&socket, SOCKET_BYTES).is_err() {
            sockopt::set_socket_recv_buffer_size(&socket, SOCKET_BYTES).map_err(failed)?;
        }
        let mut this = Taskstats {
            socket,
            buffer: vec![0; 64 << 10],
            lost: false,
            strange: false,
        };
        let name = attribute(CTRL_ATTR_FAMILY_NAME, b"TASKSTATS\0");
        let answer = this.ask(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, &name)?;
        let family = answer.and_then(|bytes| {
            let id = find(bytes.get(HEADERS..)?, CTRL_ATTR_FAMILY_ID)?;
            Some(u16::from_ne_bytes([*id.first()?, *id.get(1)?]))
        });
        let family =
            family.ok_or("taskstats: the kernel lacks it; use one with CONFIG_TASKSTATS")?;
        let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
        let mut list = list.join(",").into_bytes();
        list.push(0);
        let mask = attribute(TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, &list);
        this.ask(family, TASKSTATS_CMD_GET, &mask)?;
        Ok(this)
    }

    /// Sends a request and waits for the reply; `None` if there is only an
    /// acknowledgement.
    fn ask(&mut self, kind: u16, command: u8, body: &[u8]) -> Result<Option<Vec<u8>>, String> {
        let refused = |why: Errno| match why {
            Errno::NOENT => "taskstats: the kernel lacks it; use one with CONFIG_TASKSTATS".into(),
            Errno::PERM | Errno::ACCESS => "taskstats: not permitted; run as root".into(),
            why => format!("taskstats: {why}"),
        };
        let message = request(kind, command, body);
        send(&self.socket, &message, SendFlags::empty()).map_err(refused)?;
        let mut answer = None;
        loop {
            let (got, _) =
                recv(&self.socket, &mut self.buffer[..], RecvFlags::empty()).map_err(refused)?;
            let bytes = self.buffer.get(..got).unwrap_or_default();
            for message in messages(bytes) {
                let Some(errno) = errno(message) else {
                    answer = Some(message.to_vec());
                    continue;
                };
                return match errno {
                    0 => Ok(answer),
                    errno => Err(refused(Errno::from_raw_os_error(errno))),
                };
            }
        }
    }

    /// The exits since the last call.
    pub(crate) fn drain(&mut self) -> Vec<ThreadExit> {
        let mut exits = Vec::new();
        loop {
            match recv(&self.socket, &mut self.buffer[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => return exits,
                Ok((got, _)) => {
                    let bytes = self.buffer.get(..got).unwrap_or_default();
                    self.strange |= !read_exits(bytes, &mut exits);
                }
                Err(Errno::NOBUFS) => self.lost = true,
                Err(Errno::INTR) => {}
                Err(_) => return exits,
            }
        }
    }
}

fn request(kind: u16, command: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(HEADERS + body.len()).unwrap_or(u32::MAX);
    let mut message = Vec::with_capacity(HEADERS + body.len());
    message.extend(length.to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend((NLM_F_REQUEST | NLM_F_ACK).to_ne_bytes());
    message.extend([0; 8]); // Sequence number and port.
    message.extend([command, 1, 0, 0]);
    message.extend(body);
    message
}

fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
    let mut bytes = Vec::with_capacity(value.len() + 8);
    bytes.extend(length.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let word = bytes.get(at..at + 2)?;
    Some(u16::from_ne_bytes(word.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at + 4)?;
    Some(u32::from_ne_bytes(word.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let word = bytes.get(at..at + 8)?;
    Some(u64::from_ne_bytes(word.try_into().ok()?))
}

/// The netlink messages in received bytes.
fn messages(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let length = usize::try_from(u32_at(bytes, 0)?).ok()?;
        if length < 16 {
            return None;
        }
        let message = bytes.get(..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(message)
    })
}

/// The errno of an acknowledgement; 0 is success. `None` for other messages.
fn errno(message: &[u8]) -> Option<i32> {
    if u16_at(message, 4)? != NLMSG_ERROR {
        return None;
    }
    let number = u32_at(message, 16)?.cast_signed();
    Some(number.wrapping_neg())
}

/// Finds the first attribute of this kind. Returns its value.
fn find(mut bytes: &[u8], kind: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(u16_at(bytes, 0)?);
        let value = bytes.get(4..length)?;
        // The two highest bits are flags.
        if u16_at(bytes, 2)? & 0x3fff == kind {
            return Some(value);
        }
        bytes = bytes.get(length.next_multiple_of(4)..)?;
    }
}

/// Adds the exits in received bytes; false if one cannot be parsed.
fn read_exits(bytes: &[u8], exits: &mut Vec<ThreadExit>) -> bool {
    let mut good = true;
    for message in messages(bytes) {
        let body = message.get(HEADERS..).unwrap_or_default();
        // Sums of a process lack this attribute; skip them.
        let Some(thread) = find(body, TASKSTATS_TYPE_AGGR_PID) else {
            continue;
        };
        match exit(thread) {
            Some(exit) => exits.push(exit),
            None => good = false,
        }
    }
    good
}

/// Parses a `struct taskstats`. Version 12 was the first with the process id. Version 15
/// moved fields that are needed here; it is recognised by the position of the thread's
/// id.
fn exit(thread: &[u8]) -> Option<ThreadExit> {
    const COMM: usize = 80;
    const PID: usize = 128;
    const PPID: usize = 132;
    const NVCSW: usize = 272;
    const NIVCSW: usize = 280;
    const TGID: usize = 368;
    let tid = u32_at(find(thread, TASKSTATS_TYPE_PID)?, 0)?;
    let stats = find(thread, TASKSTATS_TYPE_STATS)?;
    if u16_at(stats, 0)? < 12 || u32_at(stats, PID)? != tid {
        return None;
    }
    let comm = stats.get(COMM..COMM + 32)?;
    let comm = comm.split(|&byte| byte == 0).next()?;
    Some(ThreadExit {
        tid,
        process: u32_at(stats, TGID)?,
        parent: u32_at(stats, PPID)?,
        comm: String::from_utf8_lossy(comm).into_owned(),
        voluntary: u64_at(stats, NVCSW)?,
        involuntary: u64_at(stats, NIVCSW)?,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A message as the kernel sends it, with a record of this version.
    fn message(version: u16, tid: u32) -> Vec<u8> {
        let mut stats = vec![0u8; 416];
        stats[0..2].copy_from_slice(&version.to_ne_bytes());
        stats[80..84].copy_from_slice(b"work");
        stats[128..132].copy_from_slice(&tid.to_ne_bytes());
        stats[132..136].copy_from_slice(&40u32.to_ne_bytes());
        stats[272..280].copy_from_slice(&11u64.to_ne_bytes());
        stats[280..288].copy_from_slice(&7u64.to_ne_bytes());
        stats[368..372].copy_from_slice(&41u32.to_ne_bytes());
        let mut nested = attribute(TASKSTATS_TYPE_PID, &42u32.to_ne_bytes());
        nested.extend(attribute(6, &[]));
        nested.extend(attribute(TASKSTATS_TYPE_STATS, &stats));
        let mut body = attribute(TASKSTATS_TYPE_AGGR_PID, &nested);
        body.extend(attribute(5, &[1, 2, 3, 4]));
        request(0x1d, 2, &body)
    }

    #[test]
    fn an_end_is_read() {
        let mut bytes = message(14, 42);
        bytes.extend(message(13, 42));
        let mut exits = Vec::new();
        assert!(read_exits(&bytes, &mut exits));
        let wanted = ThreadExit {
            tid: 42,
            process: 41,
            parent: 40,
            comm: "work".into(),
            voluntary: 11,
            involuntary: 7,
        };
        assert_eq!(exits, [wanted.clone(), wanted]);
    }

    #[test]
    fn a_layout_unknown_is_noticed() {
        for bytes in [message(11, 42), message(15, 0)] {
            let mut exits = Vec::new();
            assert!(!read_exits(&bytes, &mut exits));
            assert!(exits.is_empty());
        }
    }

    proptest! {
        #[test]
        fn nothing_received_can_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            read_exits(&bytes, &mut Vec::new());
        }

        #[test]
        fn no_broken_message_can_make_it_panic(at in 0usize..400, byte in any::<u8>()) {
            let mut bytes = message(14, 42);
            let at = at % bytes.len();
            bytes[at] = byte;
            read_exits(&bytes, &mut Vec::new());
        }
    }

    #[test]
    fn the_end_of_a_process_is_told() {
        let cpus = crate::cpus::online().unwrap();
        let mut taskstats = match Taskstats::open(&cpus) {
            Ok(taskstats) => taskstats,
            Err(why) => {
                eprintln!("skipped: {why}");
                return;
            }
        };
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        let exits = taskstats.drain();
        let exit = exits.iter().find(|exit| exit.tid == pid).unwrap();
        assert_eq!(exit.process, pid);
        assert_eq!(exit.parent, std::process::id());
        assert_eq!(exit.comm, "true");
    }
}
