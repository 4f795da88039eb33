//! Runs as process 1 of a virtual machine.

mod fw_cfg;
mod image;
mod preload;

use std::fs::{self, OpenOptions};
use std::os::fd::IntoRawFd;
use std::path::Path;

use assize_job::{MemoryImage, RunStage};

use crate::channel::{Channel, RecordSink};
use crate::identity::digests::Digests;
use crate::ports::Ports;
use crate::records::{doubt, failed};
use crate::run::{self, Guest};
use crate::sys;

/// The mounts, in order: type, mount point, flags and options.
const MOUNTS: &[(&str, &str, libc::c_ulong, &str)] = {
    const SAFE: libc::c_ulong = libc::MS_NOSUID | libc::MS_NOEXEC | libc::MS_NODEV;
    &[
        ("proc", "/proc", SAFE, ""),
        ("sysfs", "/sys", SAFE, ""),
        ("devtmpfs", "/dev", libc::MS_NOSUID, "mode=0755"),
        (
            "devpts",
            "/dev/pts",
            libc::MS_NOSUID | libc::MS_NOEXEC,
            "ptmxmode=0666",
        ),
        (
            "tmpfs",
            "/dev/shm",
            libc::MS_NOSUID | libc::MS_NODEV,
            "mode=1777",
        ),
        (
            "tmpfs",
            "/tmp",
            libc::MS_NOSUID | libc::MS_NODEV,
            "mode=1777",
        ),
        (
            "tmpfs",
            "/run",
            libc::MS_NOSUID | libc::MS_NODEV,
            "mode=0755",
        ),
        ("debugfs", "/sys/kernel/debug", SAFE, ""),
        ("tracefs", "/sys/kernel/tracing", SAFE, ""),
        ("cgroup2", "/sys/fs/cgroup", SAFE, ""),
    ]
};

/// Symbolic links and their targets.
const LINKS: &[(&str, &str)] = &[
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];

/// Environment variables of every program in the machine.
const ENVIRONMENT: &[(&str, &str)] = &[
    (
        "PATH",
        "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    ),
    ("HOME", "/root"),
    ("LC_ALL", "C"),
    ("TZ", "UTC"),
];

/// The kernel parameter that selects the debug console.
const DEBUG_CONSOLE: &str = "assize.channel=debugcon";
/// The kernel parameter that requests a memory image.
const IMAGE: &str = "assize.image=1";
/// Written to the console when the image may be taken.
const READY: &[u8] = b"ready\n";
/// How long the machine idles before that, so that the kernel finishes late start-up
/// work.
const SETTLE_NS: u64 = 3_000_000_000;

/// Returns the kernel's command line if this is process 1 of a virtual machine started by
/// assize. Does nothing in any other process.
pub(crate) fn command_line() -> Option<String> {
    if std::process::id() != 1 {
        return None;
    }
    let path = "/proc/cmdline";
    if !Path::new(path).exists() {
        mount("/proc").ok()?;
    }
    let line = fs::read_to_string(path).ok()?;
    has_word(&line, DEBUG_CONSOLE).then_some(line)
}

fn has_word(line: &str, word: &str) -> bool {
    line.split_ascii_whitespace().any(|other| other == word)
}

/// Sets the machine up, carries out its job and powers it off.
pub(crate) fn main(command_line: &str) {
    let problems = set_up();
    // Without ports there is no way to answer. When process 1 ends, the kernel panics,
    // and the host sees that.
    let Ok(ports) = Ports::open() else { return };
    report_panics(ports);
    let image = MemoryImage::from_command_line(command_line);
    let digests = Digests::below("/");
    let aged = image::age_processes(&image);
    let mut guest = Some(Guest {
        digests,
        image,
        preloaded: preload::load_modules(&image),
        passes_symbols: false,
    });
    let resumed_ns = has_word(command_line, IMAGE).then(|| {
        sys::sleep_until(sys::now() + SETTLE_NS + u64::from(image.settle_us) * 1000);
        ports.write_console(READY);
        ports.stop_for_image()
    });
    let mut channel = Channel::new(RecordSink::DebugConsole(ports));
    run::send_greeting(&mut channel, resumed_ns, true);
    if let Err(why) = aged {
        channel.send(&failed(
            RunStage::Start,
            "make the machine that was drawn",
            sys::error_text(&why),
        ));
    }
    for why in problems {
        channel.send(&doubt("machine-set-up", why));
    }
    image::call_on_deeper_stack(image.padding, &mut || {
        let request = fw_cfg::job(ports);
        let mut guest = guest.take();
        if let (Ok(request), Some(guest)) = (&request, &mut guest) {
            guest.passes_symbols = request.passes_symbols;
        }
        run::carry_out_job(request.map(|request| request.job), &mut channel, guest);
    });
    // The console takes every byte; nothing can have been lost.
    let _ = channel.end();
    ports.exit(0);
}

/// Sets up mounts, links, standard files, environment and names. Returns what
/// failed; the run may not need it.
fn set_up() -> Vec<String> {
    let mut problems = Vec::new();
    let mut note = |what: &str, done: std::io::Result<()>| {
        if let Err(error) = done {
            problems.push(format!("{what}: {}", sys::error_text(&error)));
        }
    };
    for (_, at, _, _) in MOUNTS {
        note(&format!("mount {at}"), mount(at));
    }
    for (link, target) in LINKS {
        if !Path::new(link).exists() {
            note(link, std::os::unix::fs::symlink(target, link));
        }
    }
    note("standard files", open_standard_files());
    for (name, value) in ENVIRONMENT {
        // SAFETY: this process has one thread.
        unsafe { std::env::set_var(name, value) };
    }
    note("HOME", fs::create_dir_all("/root"));
    note("working directory", std::env::set_current_dir("/"));
    note("host name", sys::set_host_name("assize"));
    note("loopback", sys::loopback_up());
    // So that a busy workload cannot keep the agent from ending it. The agent sleeps
    // during the measurement.
    note("real-time priority", sys::take_precedence());
    problems
}

/// Mounts the entry of [`MOUNTS`] for this mount point, unless a file system of
/// its type is there already.
fn mount(place: &str) -> std::io::Result<()> {
    let Some((kind, at, flags, options)) = MOUNTS.iter().find(|mount| mount.1 == place) else {
        return Ok(());
    };
    let mounted = fs::read_to_string("/proc/mounts").unwrap_or_default();
    let is = |line: &str| {
        let mut fields = line.split(' ').skip(1);
        fields.next() == Some(at) && fields.next() == Some(kind)
    };
    if mounted.lines().any(is) {
        return Ok(());
    }
    if would_hide(kind, Path::new(at)) {
        return Ok(());
    }
    // Fails in sysfs, which makes its own directories. The error of the mount is more
    // useful.
    let _ = fs::create_dir_all(at);
    match sys::mount(kind, at, *flags, options) {
        // Not built into this kernel; whatever needs it reports that.
        Err(error) if error.raw_os_error() == Some(libc::ENODEV) => Ok(()),
        done => done,
    }
}

/// Whether a mount would hide files of the initramfs, such as a program of the payload in
/// `/tmp`. The mount points of other types are always empty.
fn would_hide(kind: &str, at: &Path) -> bool {
    kind == "tmpfs" && fs::read_dir(at).is_ok_and(|mut all| all.next().is_some())
}

/// Opens /dev/null as standard files: without a console, the kernel gives
/// process 1 no open files.
fn open_standard_files() -> std::io::Result<()> {
    loop {
        let null = OpenOptions::new()
            .read(true)
            .write(true)
            .open("/dev/null")?;
        let number = null.into_raw_fd();
        if number > 2 {
            // SAFETY: the descriptor is ours, and is not used any more.
            sys::check(unsafe { libc::close(number) })?;
            return Ok(());
        }
    }
}

/// Makes a panic of the agent send a record and power the machine off; otherwise the
/// kernel would panic.
fn report_panics(ports: Ports) {
    std::panic::set_hook(Box::new(move |panic| {
        if std::process::id() != 1 {
            eprintln!("{panic}");
            return;
        }
        let mut channel = Channel::new(RecordSink::DebugConsole(ports));
        let why = panic.to_string().replace('\n', " ");
        channel.send(&failed(RunStage::Start, "the agent panicked", why));
        ports.exit(0);
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_command_line_count_only_whole() {
        let line = "quiet assize.channel=debugcon assize.image=1\n";
        assert!(has_word(line, DEBUG_CONSOLE) && has_word(line, IMAGE));
        assert!(!has_word("assize.image=10 xassize.channel=debugcon", IMAGE));
        assert!(!has_word(
            "assize.image=10 xassize.channel=debugcon",
            DEBUG_CONSOLE
        ));
    }

    #[test]
    fn what_the_initramfs_carries_is_not_hidden_by_an_empty_file_system() {
        let place = std::env::temp_dir().join(format!("boot-{}", std::process::id()));
        fs::create_dir_all(&place).unwrap();
        assert!(!would_hide("tmpfs", &place));
        fs::write(place.join("program"), "").unwrap();
        assert!(would_hide("tmpfs", &place));
        assert!(!would_hide("proc", &place));
        fs::remove_dir_all(&place).unwrap();
    }

    #[test]
    fn places_are_mounted_after_those_they_lie_in() {
        for (index, mount) in MOUNTS.iter().enumerate() {
            let later = &MOUNTS[index + 1..];
            let inside = format!("{}/", mount.1);
            assert!(!later.iter().any(|other| other.1 == mount.1));
            assert!(
                !MOUNTS[..index]
                    .iter()
                    .any(|other| other.1.starts_with(&inside))
            );
        }
    }
}
