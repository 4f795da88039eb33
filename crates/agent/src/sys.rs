//! Safe wrappers for the system calls the agent uses.

use std::ffi::{CStr, CString};
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Error};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use std::sync::atomic::AtomicU32;

use libc::{c_int, c_ulong, c_void};

mod end;

pub(crate) use end::{ProcessEnd, ProcessUsage, reap, wait};

/// Converts the return value of a system call to a result: a negative value is an error.
pub(crate) fn check(returned: c_int) -> io::Result<c_int> {
    if returned < 0 {
        Err(Error::last_os_error())
    } else {
        Ok(returned)
    }
}

/// The text of an error, without Rust's ` (os error N)`.
pub(crate) fn error_text(error: &Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error ") {
        Some(end) => text[..end].to_string(),
        None => text,
    }
}

/// Describes an error as a failure of `what`; for `map_err`.
pub(crate) fn failure_of(what: impl Display) -> impl FnOnce(Error) -> String {
    move |error| format!("{what}: {}", error_text(&error))
}

/// Converts to a C string, cut at the first NUL.
pub(crate) fn c_string(text: &str) -> CString {
    let bytes: Vec<u8> = text.bytes().take_while(|byte| *byte != 0).collect();
    CString::new(bytes).unwrap_or_default()
}

/// Nanoseconds of CLOCK_MONOTONIC.
pub(crate) fn now() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds of CLOCK_REALTIME.
pub(crate) fn wall() -> u64 {
    clock(libc::CLOCK_REALTIME)
}

/// CPU time of the calling thread, in nanoseconds.
pub(crate) fn thread_cpu_time() -> u64 {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn clock(which: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is valid for writes; these clocks always exist.
    unsafe { libc::clock_gettime(which, &raw mut time) };
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// Sleeps until CLOCK_MONOTONIC reaches `at` nanoseconds.
pub(crate) fn sleep_until(at: u64) {
    let time = timespec(at);
    // SAFETY: `time` is valid for reads, no remainder is asked for.
    while unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const time,
            std::ptr::null_mut(),
        )
    } == libc::EINTR
    {}
}

/// Nanoseconds as a `timespec`.
pub(crate) fn timespec(ns: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(ns % 1_000_000_000).unwrap_or(0),
    }
}

/// An anonymous file in memory.
pub(crate) fn memory_file(name: &CStr, close_on_exec: bool) -> io::Result<File> {
    let flags = if close_on_exec { libc::MFD_CLOEXEC } else { 0 };
    // SAFETY: `name` is a C string.
    let fd = check(unsafe { libc::memfd_create(name.as_ptr(), flags) })?;
    // SAFETY: the descriptor is new and ours.
    Ok(unsafe { File::from_raw_fd(fd) })
}

/// Maps memory at an address that the kernel chooses. `file` is -1 for anonymous memory.
pub(crate) fn map_memory(
    length: usize,
    protection: c_int,
    flags: c_int,
    file: RawFd,
    offset: i64,
) -> io::Result<*mut u8> {
    let place = std::ptr::null_mut();
    // SAFETY: without MAP_FIXED, a mapping replaces no other.
    let start = unsafe { libc::mmap(place, length, protection, flags, file, offset) };
    if start == libc::MAP_FAILED {
        return Err(Error::last_os_error());
    }
    Ok(start.cast())
}

/// A close-on-exec pipe: read end, write end.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for two descriptors.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) })?;
    // SAFETY: both descriptors are new and ours.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

/// A descriptor that becomes readable when the process ends.
pub(crate) fn pidfd(pid: i32) -> io::Result<OwnedFd> {
    // SAFETY: no memory is passed.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let fd = check(c_int::try_from(fd).unwrap_or(-1))?;
    // SAFETY: the descriptor is new and ours.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Waits until a descriptor is readable or at end of file, at most until `deadline`
/// (nanoseconds of CLOCK_MONOTONIC; `None` waits forever). Returns which ones are.
pub(crate) fn wait_readable(fds: &[&OwnedFd], deadline: Option<u64>) -> Vec<bool> {
    let mut polls: Vec<libc::pollfd> = fds
        .iter()
        .map(|fd| libc::pollfd {
            fd: fd.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    loop {
        let left = deadline.map(|at| timespec(at.saturating_sub(now())));
        let left_at = left.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: `polls` has the number of entries passed, and `left_at` is null or
        // points to `left`.
        let ready = unsafe {
            let count = polls.len() as libc::nfds_t;
            libc::ppoll(polls.as_mut_ptr(), count, left_at, std::ptr::null())
        };
        if ready < 0 && Error::last_os_error().raw_os_error() == Some(libc::EINTR) {
            continue;
        }
        return polls.iter().map(|poll| poll.revents != 0).collect();
    }
}

/// Signals that ask a process to end.
const END_SIGNALS: [c_int; 3] = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM];

/// Blocks the signals that ask this process to end. The descriptor becomes readable
/// when one arrives, and stays readable.
pub(crate) fn hold_end_signals() -> io::Result<OwnedFd> {
    // SAFETY: all zeroes are a valid set, every call gets a valid one, and
    // the descriptor is new and ours.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        for signal in END_SIGNALS {
            libc::sigaddset(&raw mut set, signal);
        }
        check(libc::sigprocmask(
            libc::SIG_BLOCK,
            &raw const set,
            std::ptr::null_mut(),
        ))?;
        let fd = check(libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Unblocks all signals; called in a child.
pub(crate) fn release_signals() {
    // SAFETY: all zeroes are an empty set, and it is valid for reads.
    unsafe {
        let set: libc::sigset_t = std::mem::zeroed();
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
    }
}

/// From now on, makes sched_setaffinity succeed without effect for the calling thread,
/// the threads and processes that it starts, and the programs that it execs.
pub(crate) fn ignore_affinity() -> io::Result<()> {
    let op = |code: u32, jt: u8, k: u32| libc::sock_filter {
        code: code as u16,
        jt,
        jf: 0,
        k,
    };
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let jump = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let give = libc::BPF_RET | libc::BPF_K;
    // The system call number is the first word of struct seccomp_data. An errno of 0
    // means success.
    let mut filter = [
        op(load, 0, 0),
        op(jump, 1, libc::SYS_sched_setaffinity as u32),
        op(give, 0, libc::SECCOMP_RET_ALLOW),
        op(give, 0, libc::SECCOMP_RET_ERRNO),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: `program` points to a complete filter, which the kernel copies.
    unsafe {
        // Unprivileged processes must set this before they install a filter.
        check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        check(libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::SECCOMP_MODE_FILTER,
            &raw const program,
        ))?;
    }
    Ok(())
}

/// Gives this process the highest real-time priority. Its children do not inherit it.
pub(crate) fn take_precedence() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 99 };
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the parameters are valid for reads.
    check(unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) })?;
    Ok(())
}

/// Sends a signal to every process of a group.
pub(crate) fn kill_group(group: i32, signal: c_int) {
    // SAFETY: no memory is passed.
    unsafe { libc::kill(-group, signal) };
}

/// The name of a signal.
pub(crate) fn signal_name(signal: c_int) -> String {
    let name = match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGSYS => "SIGSYS",
        _ => return format!("signal {signal}"),
    };
    name.to_string()
}

/// The kernel's release (`uname -r`) and version (`uname -v`).
pub(crate) fn uname() -> (String, String) {
    // SAFETY: all zeroes are a valid utsname, and it is valid for writes.
    let names = unsafe {
        let mut names: libc::utsname = std::mem::zeroed();
        libc::uname(&raw mut names);
        names
    };
    let text = |field: &[libc::c_char]| {
        let bytes: Vec<u8> = field.iter().map(|c| c.to_ne_bytes()[0]).collect();
        let end = bytes.iter().position(|byte| *byte == 0);
        String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]).into_owned()
    };
    (text(&names.release), text(&names.version))
}

/// How many CPUs are online.
pub(crate) fn cpus() -> i64 {
    // SAFETY: no memory is passed.
    unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }
}

/// Mounts a file system.
pub(crate) fn mount(kind: &str, at: &str, flags: c_ulong, options: &str) -> io::Result<()> {
    let (kind, at, options) = (c_string(kind), c_string(at), c_string(options));
    // SAFETY: all pointers are to C strings that outlive the call.
    check(unsafe {
        libc::mount(
            kind.as_ptr(),
            at.as_ptr(),
            kind.as_ptr(),
            flags,
            options.as_ptr().cast::<c_void>(),
        )
    })?;
    Ok(())
}

/// Sets the host name.
pub(crate) fn set_host_name(name: &str) -> io::Result<()> {
    // SAFETY: the pointer and length are those of `name`.
    check(unsafe { libc::sethostname(name.as_ptr().cast(), name.len()) })?;
    Ok(())
}

/// Brings the loopback interface up.
pub(crate) fn loopback_up() -> io::Result<()> {
    // SAFETY: no memory is passed.
    let fd =
        check(unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: the descriptor is new and ours.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: all zeroes are a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name[0] = b'l'.cast_signed();
    request.ifr_name[1] = b'o'.cast_signed();
    let flags = libc::IFF_UP | libc::IFF_RUNNING;
    request.ifr_ifru.ifru_flags = i16::try_from(flags).unwrap_or(0);
    // SAFETY: SIOCSIFFLAGS reads an ifreq.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) })?;
    Ok(())
}

/// Loads a kernel module from an open file.
pub(crate) fn load_module(file: &File, parameters: &str) -> io::Result<()> {
    let parameters = c_string(parameters);
    // SAFETY: `parameters` is a C string that outlives the call.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_finit_module,
            file.as_raw_fd(),
            parameters.as_ptr(),
            0,
        )
    };
    check(c_int::try_from(returned).unwrap_or(-1))?;
    Ok(())
}

/// Unloads a kernel module, if it is not in use.
pub(crate) fn unload_module(name: &str) -> io::Result<()> {
    let name = c_string(name);
    // SAFETY: `name` is a C string that outlives the call.
    let returned =
        unsafe { libc::syscall(libc::SYS_delete_module, name.as_ptr(), libc::O_NONBLOCK) };
    check(c_int::try_from(returned).unwrap_or(-1))?;
    Ok(())
}

/// Adds bytes to the kernel's entropy pool and reseeds its generator at once.
pub(crate) fn reseed_random(random: &File, bytes: &[u8; 64]) -> io::Result<()> {
    /// `struct rand_pool_info` of linux/random.h with its buffer.
    #[repr(C)]
    struct Pool {
        bits: c_int,
        bytes: c_int,
        buffer: [u8; 64],
    }
    const RNDADDENTROPY: c_ulong = 0x4008_5203;
    const RNDRESEEDCRNG: c_ulong = 0x5207;
    let pool = Pool {
        bits: 512,
        bytes: 64,
        buffer: *bytes,
    };
    // SAFETY: the request reads a header and the number of bytes given in it.
    check(unsafe { libc::ioctl(random.as_raw_fd(), RNDADDENTROPY, &raw const pool) })?;
    // SAFETY: the request takes no argument.
    check(unsafe { libc::ioctl(random.as_raw_fd(), RNDRESEEDCRNG) })?;
    Ok(())
}

/// Sleeps while the word has this value; may return spuriously.
pub(crate) fn futex_wait(word: &AtomicU32, value: u32) {
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    let forever: *const libc::timespec = std::ptr::null();
    // SAFETY: the word is valid for the call.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, value, forever) };
}

/// Wakes one waiter.
pub(crate) fn futex_wake(word: &AtomicU32) {
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word is valid for the call.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, 1) };
}

/// Minimises the timer slack of the calling thread. With the default, the kernel may
/// fire timers up to 50 microseconds late on purpose.
pub(crate) fn no_timer_slack() {
    // SAFETY: no memory is passed.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

/// Faults in and locks all current pages of this process.
pub(crate) fn lock_memory() -> io::Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::mlockall(libc::MCL_CURRENT) }).map(|_| ())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use super::*;

    /// The CPUs allowed to a shell that has tried to pin itself to the last of them.
    fn allowed(unpinned: bool) -> String {
        let script = "all=$(taskset -pc $$); last=${all##*[ ,-]}
            taskset -pc $last $$ >/dev/null; taskset -pc $$";
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", script]);
        if unpinned {
            // SAFETY: the function uses only values on the stack, and makes two system calls.
            unsafe { shell.pre_exec(ignore_affinity) };
        }
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.rsplit(' ').next().unwrap().trim().to_owned()
    }

    #[test]
    fn who_may_not_choose_its_cpus_keeps_those_it_has() {
        let own = Command::new("taskset")
            .args(["-pc", &std::process::id().to_string()])
            .output()
            .unwrap();
        let own = String::from_utf8(own.stdout).unwrap();
        assert!(
            own.trim().ends_with(&format!(" {}", allowed(true))),
            "{own}"
        );
        let last = own.trim().rsplit([' ', ',', '-']).next().unwrap();
        assert_eq!(allowed(false), last);
    }
}
