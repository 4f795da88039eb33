//! A private tracing instance of the kernel: it is separate from other tracing on this
//! machine, and is removed when the agent ends.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::mount::{MountFlags, mount};

use super::ring::{self, EventFormat, PageLayout};
use crate::cpus;
use crate::files;
use crate::records::doubt;

const TRACEFS: &str = "/sys/kernel/tracing";
const PREFIX: &str = "assize.";

/// The settings of an instance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InstanceSettings<'a> {
    /// Name of the instrument.
    pub name: &'a str,
    /// A clock that trace_clock lists.
    pub clock: &'a str,
    /// Maximum buffer size per CPU, in KiB.
    pub kib_per_cpu: u64,
    /// `SYSTEM/EVENT`, or `SYSTEM` for all of its events.
    pub events: &'a [&'a str],
}

/// An instance with its events enabled, but not yet recording.
#[derive(Debug)]
pub(crate) struct Instance {
    root: PathBuf,
    path: PathBuf,
    layout: PageLayout,
    /// Each CPU and its trace_pipe_raw.
    pipes: Vec<(u32, File)>,
    switch: Option<File>,
}

/// The events of one CPU, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CpuEvents<E> {
    /// The CPU.
    pub cpu: u32,
    /// Times and events.
    pub events: Vec<(u64, E)>,
}

/// Everything an instance has recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordedTrace<E> {
    /// For each CPU, ascending.
    pub cpus: Vec<CpuEvents<E>>,
    /// Number of events lost, as far as the kernel counts them.
    pub lost: u64,
    /// Whether a page could not be read to its end.
    pub broken: bool,
}

impl Instance {
    /// Creates an instance and allocates all memory it will need.
    pub(crate) fn open(wanted: InstanceSettings<'_>) -> Result<Instance, String> {
        let root = mounted()?;
        remove_left_over(&root);
        let own = std::process::id();
        let path = root
            .join("instances")
            .join(format!("{PREFIX}{own}.{}", wanted.name));
        fs::create_dir(&path).map_err(|why| {
            format!(
                "{}: {why}; run as root where tracefs can be written",
                path.display()
            )
        })?;
        let header = root.join("events/header_page");
        let mut this = Instance {
            root,
            path,
            layout: PageLayout::default(),
            pipes: Vec::new(),
            switch: None,
        };
        this.layout = ring::layout(&files::read(&header)?)
            .ok_or_else(|| format!("{}: not understood", header.display()))?;
        this.write("tracing_on", "0")?;
        this.write("trace_clock", wanted.clock)?;
        // Lose the end rather than the beginning, which shows which threads belong to the
        // workload.
        this.write("options/overwrite", "0")?;
        let cpus = cpus::online()?;
        let kib = buffer_kib(wanted.kib_per_cpu, cpus.len());
        this.write("buffer_size_kb", &kib.to_string())?;
        for event in wanted.events {
            this.write(&format!("events/{event}/enable"), "1")?;
        }
        this.open_pipes(&cpus)?;
        let path = this.path.join("tracing_on");
        let switch = OpenOptions::new().write(true).open(&path);
        this.switch = Some(switch.map_err(|why| format!("{}: {why}", path.display()))?);
        Ok(this)
    }

    /// The tracefs directory, whose top-level files all instances share.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Sets the tracer. The kernel refuses that while the pipes are open, so this
    /// closes them: call [`Instance::open_pipes`] afterwards.
    pub(crate) fn set_tracer(&mut self, name: &str) -> Result<(), String> {
        self.pipes.clear();
        self.write("current_tracer", name)
    }

    /// Opens the pipes from which the events of these CPUs are read.
    pub(crate) fn open_pipes(&mut self, cpus: &[u32]) -> Result<(), String> {
        for cpu in cpus {
            let path = self.path.join(format!("per_cpu/cpu{cpu}/trace_pipe_raw"));
            let flags = OFlags::NONBLOCK.bits().cast_signed();
            let pipe = OpenOptions::new()
                .read(true)
                .custom_flags(flags)
                .open(&path)
                .map_err(|why| format!("{}: {why}", path.display()))?;
            self.pipes.push((*cpu, pipe));
        }
        Ok(())
    }

    /// Writes to a file of the instance.
    pub(crate) fn write(&self, name: &str, value: &str) -> Result<(), String> {
        let path = self.path.join(name);
        fs::write(&path, value).map_err(|why| format!("{}: {why}", path.display()))
    }

    /// The events of this kernel that match `wanted` (see [`InstanceSettings::events`]),
    /// sorted.
    pub(crate) fn list_events(&self, wanted: &str) -> Vec<String> {
        let events = self.path.join("events");
        if wanted.contains('/') {
            let there = events.join(wanted).is_dir();
            return Vec::from_iter(there.then(|| wanted.to_owned()));
        }
        let listing = fs::read_dir(events.join(wanted)).into_iter().flatten();
        let mut found: Vec<String> = listing
            .flatten()
            .filter(|entry| entry.path().is_dir())
            .filter_map(|entry| Some(format!("{wanted}/{}", entry.file_name().to_str()?)))
            .collect();
        found.sort();
        found
    }

    /// The format of an event.
    pub(crate) fn format(&self, event: &str) -> Result<EventFormat, String> {
        let path = self.root.join("events").join(event).join("format");
        let text = files::read(&path)?;
        EventFormat::parse(&text).ok_or_else(|| format!("{}: not understood", path.display()))
    }

    /// Starts recording.
    pub(crate) fn on(&mut self) -> Result<(), String> {
        self.record(b"1")
    }

    /// Stops recording. Keeps what was recorded.
    pub(crate) fn off(&mut self) -> Result<(), String> {
        self.record(b"0")
    }

    fn record(&mut self, value: &[u8]) -> Result<(), String> {
        let Some(switch) = &mut self.switch else {
            return Err("tracing_on: not open".into());
        };
        let done = switch.write_all(value);
        done.map_err(|why| format!("{}/tracing_on: {why}", self.path.display()))
    }

    /// Removes and returns everything recorded. `decode` converts bytes to an event, or
    /// skips them.
    pub(crate) fn drain<E>(&mut self, decode: &dyn Fn(&[u8]) -> Option<E>) -> RecordedTrace<E> {
        let mut trace = RecordedTrace {
            cpus: Vec::with_capacity(self.pipes.len()),
            lost: 0,
            broken: false,
        };
        let mut page = vec![0u8; self.layout.page];
        for (cpu, pipe) in &mut self.pipes {
            let mut events = Vec::new();
            loop {
                let got = match pipe.read(&mut page) {
                    Ok(0) => break,
                    Ok(got) => got,
                    Err(why) if why.kind() == ErrorKind::Interrupted => continue,
                    Err(why) if why.kind() == ErrorKind::WouldBlock => break,
                    Err(_) => {
                        trace.broken = true;
                        break;
                    }
                };
                let bytes = page.get(..got).unwrap_or_default();
                let whole = ring::visit(bytes, &self.layout, &mut |time, bytes| {
                    events.extend(decode(bytes).map(|event| (time, event)));
                });
                trace.broken |= whole.is_none();
            }
            let stats = self.path.join(format!("per_cpu/cpu{cpu}/stats"));
            match files::read(&stats).ok().and_then(|text| lost_events(&text)) {
                Some(count) => trace.lost += count,
                None => trace.broken = true,
            }
            trace.cpus.push(CpuEvents { cpu: *cpu, events });
        }
        trace
    }
}

impl<E> RecordedTrace<E> {
    /// A doubt, if events were lost or could not be read.
    pub(crate) fn doubt(&self, instrument: &str) -> Option<assize_job::AgentMessage> {
        let detail = match (self.lost, self.broken) {
            (0, false) => return None,
            (0, true) => format!("{instrument}: part of the trace could not be read"),
            (lost, _) => format!(
                "{instrument}: {lost} trace events did not fit into the buffer; later events are \
                 not counted; make the run shorter"
            ),
        };
        Some(doubt("lost-events", detail))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = self.off();
        // An instance in use cannot be removed.
        self.pipes.clear();
        self.switch = None;
        // A child that is being started may still have these files open.
        for _ in 0..20 {
            match fs::remove_dir(&self.path) {
                Err(why) if why.kind() == ErrorKind::ResourceBusy => {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                _ => break,
            }
        }
    }
}

/// Checks that this kernel has the tracer.
pub(crate) fn has_tracer(name: &str, option: &str) -> Result<(), String> {
    let path = mounted()?.join("available_tracers");
    let there = files::read(&path)?;
    if there.split_ascii_whitespace().any(|one| one == name) {
        return Ok(());
    }
    Err(format!(
        "this kernel has no tracer {name}: {} lists {}; use a kernel with {option}, such as \
         debian:6.12-rt",
        path.display(),
        there.trim()
    ))
}

/// Finds the tracefs directory; mounts it if necessary.
fn mounted() -> Result<PathBuf, String> {
    let usable = |path: &Path| path.join("instances").is_dir();
    let places = [TRACEFS, "/sys/kernel/debug/tracing"].map(Path::new);
    if let Some(place) = places.iter().find(|place| usable(place)) {
        return Ok(place.to_path_buf());
    }
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    match mount("tracefs", TRACEFS, "tracefs", flags, None) {
        Ok(()) if usable(places[0]) => Ok(places[0].into()),
        Ok(()) => Err(format!("{TRACEFS}: it has no instances")),
        Err(why) => Err(format!(
            "{TRACEFS}: no tracefs is mounted and it cannot be: {why}; \
             run as root on a kernel with CONFIG_TRACING"
        )),
    }
}

/// Removes instances that ended processes have left.
fn remove_left_over(root: &Path) {
    let Ok(listing) = fs::read_dir(root.join("instances")) else {
        return;
    };
    for entry in listing.flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(owning_process);
        if owner.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// The process that owns an instance.
fn owning_process(name: &str) -> Option<u32> {
    let (pid, _) = name.strip_prefix(PREFIX)?.split_once('.')?;
    pid.parse().ok()
}

/// Buffer size per CPU in KiB: at most 1/16 of the memory for all CPUs together, but at
/// least 64.
#[allow(clippy::useless_conversion)] // Not on 32-bit machines.
fn buffer_kib(wanted: u64, cpus: usize) -> u64 {
    let info = rustix::system::sysinfo();
    let unit = u64::from(info.mem_unit.max(1));
    let total_kib = u64::try_from(info.totalram)
        .unwrap_or(u64::MAX)
        .saturating_mul(unit)
        / 1024;
    let cpus = u64::try_from(cpus.max(1)).unwrap_or(u64::MAX);
    wanted.min(total_kib / 16 / cpus).max(64)
}

/// Number of lost events in per_cpu/cpuN/stats.
fn lost_events(text: &str) -> Option<u64> {
    let mut sum = None;
    for line in text.lines() {
        if let Some(("overrun" | "commit overrun" | "dropped events", count)) =
            line.split_once(": ")
        {
            *sum.get_or_insert(0) += count.trim().parse::<u64>().ok()?;
        }
    }
    sum
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use super::*;
    use crate::sys;

    #[test]
    fn losses_are_summed() {
        let text = "entries: 5\noverrun: 2\ncommit overrun: 1\nbytes: 20\n\
            oldest event ts: 1.0\nnow ts: 2.0\ndropped events: 40\nread events: 0\n";
        assert_eq!(lost_events(text), Some(43));
        assert_eq!(lost_events("entries: 5\n"), None);
        assert_eq!(lost_events("overrun: x\n"), None);
    }

    #[test]
    fn instances_name_their_process() {
        let cases = [
            ("assize.12.wakeup", Some(12)),
            ("assize.x.wakeup", None),
            ("assize.12", None),
            ("other.12.wakeup", None),
        ];
        for (name, wanted) in cases {
            assert_eq!(owning_process(name), wanted, "{name}");
        }
    }

    #[test]
    fn a_lost_event_is_never_silent() {
        let trace = |lost, broken| RecordedTrace::<()> {
            cpus: Vec::new(),
            lost,
            broken,
        };
        assert_eq!(trace(0, false).doubt("x"), None);
        assert!(trace(3, false).doubt("x").is_some());
        assert!(trace(0, true).doubt("x").is_some());
    }

    /// An instance for switches of threads, if this machine allows one.
    fn open_if_possible(name: &'static str, kib_per_cpu: u64) -> Option<Instance> {
        let opened = Instance::open(InstanceSettings {
            name,
            clock: "mono",
            kib_per_cpu,
            events: &["sched/sched_switch"],
        });
        opened.inspect_err(|why| eprintln!("skipped: {why}")).ok()
    }

    #[test]
    fn an_instance_records_and_leaves_nothing() {
        let Some(mut instance) = open_if_possible("test", 256) else {
            return;
        };
        let path = instance.path.clone();
        let format = instance.format("sched/sched_switch").unwrap();
        let before = sys::now();
        instance.on().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
        instance.off().unwrap();
        let after = sys::now();
        let trace = instance.drain(&|event| (ring::id(event)? == format.id).then_some(()));
        let times: Vec<u64> = trace
            .cpus
            .iter()
            .flat_map(|cpu| cpu.events.iter().map(|(time, ())| *time))
            .collect();
        assert!(!times.is_empty());
        assert!(times.iter().all(|time| (before..=after).contains(time)));
        assert!(!trace.broken);
        drop(instance);
        assert!(!path.exists());
    }

    #[test]
    fn events_that_do_not_fit_are_counted() {
        let Some(mut instance) = open_if_possible("test-full", 64) else {
            return;
        };
        instance.on().unwrap();
        let (there, from_here) = std::sync::mpsc::sync_channel(0);
        let (back, from_there) = std::sync::mpsc::sync_channel(0);
        let other = std::thread::spawn(move || {
            while let Ok(()) = from_here.recv() {
                back.send(()).unwrap();
            }
        });
        for _ in 0..4000 {
            there.send(()).unwrap();
            from_there.recv().unwrap();
        }
        drop(there);
        other.join().unwrap();
        instance.off().unwrap();
        let trace = instance.drain(&|_| Some(()));
        assert!(trace.lost > 0);
        assert!(trace.doubt("test-full").is_some());
    }
}
