//! How processes end, and the CPU time and memory they have used.

use std::ffi::c_int;
use std::io;

use super::check;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessEnd {
    /// It exited with this status.
    Exited(i32),
    /// It was killed by a signal.
    Killed {
        /// Number of the signal.
        signal: i32,
        /// Whether a core was dumped.
        core: bool,
    },
}

/// CPU time and memory used by a process and the children it waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ProcessUsage {
    /// CPU time in user space, in nanoseconds with a resolution of a microsecond.
    pub(crate) user_ns: u64,
    /// CPU time in the kernel.
    pub(crate) system_ns: u64,
    /// The largest resident set that any one of them had, in KiB.
    pub(crate) peak_kib: u64,
}

impl ProcessUsage {
    /// User and system time.
    pub(crate) fn total_ns(self) -> u64 {
        self.user_ns + self.system_ns
    }
}

/// Waits for a child to end; reaps it if `reap` is true.
pub(crate) fn wait(pid: i32, reap: bool) -> io::Result<ProcessEnd> {
    let keep = if reap { 0 } else { libc::WNOWAIT };
    loop {
        // SAFETY: all zeroes are a valid siginfo_t.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let id = libc::id_t::try_from(pid).unwrap_or(0);
        // SAFETY: `info` is valid for writes.
        let done =
            check(unsafe { libc::waitid(libc::P_PID, id, &raw mut info, libc::WEXITED | keep) });
        match done {
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
            Err(error) => return Err(error),
            Ok(_) => return Ok(decode_end(&info)),
        }
    }
}

/// Waits for a child to end and reaps it. Returns how it ended, and what it used.
pub(crate) fn reap(pid: i32) -> io::Result<(ProcessEnd, ProcessUsage)> {
    loop {
        // SAFETY: all zeroes are a valid siginfo_t and a valid rusage.
        let (mut info, mut usage): (libc::siginfo_t, libc::rusage) =
            unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        // SAFETY: both structures are valid for writes. The C library's function lacks
        // the last argument of this system call.
        let done = unsafe {
            libc::syscall(
                libc::SYS_waitid,
                libc::P_PID,
                pid,
                &raw mut info,
                libc::WEXITED,
                &raw mut usage,
            )
        };
        match check(c_int::try_from(done).unwrap_or(-1)) {
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
            Err(error) => return Err(error),
            Ok(_) => {
                let ns = |time: libc::timeval| {
                    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_usec.unsigned_abs() * 1000
                };
                let used = ProcessUsage {
                    user_ns: ns(usage.ru_utime),
                    system_ns: ns(usage.ru_stime),
                    peak_kib: usage.ru_maxrss.unsigned_abs(),
                };
                return Ok((decode_end(&info), used));
            }
        }
    }
}

/// Decodes the result of waitid.
fn decode_end(info: &libc::siginfo_t) -> ProcessEnd {
    // SAFETY: waitid has filled in the fields of SIGCHLD.
    let status = unsafe { info.si_status() };
    match info.si_code {
        libc::CLD_EXITED => ProcessEnd::Exited(status),
        code => ProcessEnd::Killed {
            signal: status,
            core: code == libc::CLD_DUMPED,
        },
    }
}
