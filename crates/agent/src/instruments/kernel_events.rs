//! Records kernel events during a run, for `assize trace`.
//!
//! The events stay in the kernel's ring buffer until the workload has ended. Their
//! formats are read from the kernel, so that events of modules need no code here.

use std::collections::{BTreeMap, HashMap};

use assize_job::AgentMessage;
use assize_job::events::{EVENTS_FILE, EventKind, KernelEvent, KernelEventLog, ThreadNaming};

use super::ring::{self, EventField, EventFormat};
use super::run_instrument::RunInstrument;
use super::tracefs::{Instance, InstanceSettings, RecordedTrace};
use crate::records::{raw, unavailable};
use crate::sys;

const NAME: &str = "kernel-events";
/// Required events.
const ALWAYS: &[&str] = &["sched/sched_switch", "sched/sched_waking"];
/// Events to record if the kernel or a loaded module has them.
const WHERE_THERE: &[&str] = &[
    "sched/sched_wakeup_new",
    "task/task_newtask",
    "gpu_scheduler",
    "depq",
    "simgpu",
];

/// The instrument `kernel-events`.
#[derive(Default)]
pub(crate) struct KernelEvents {
    instance: Option<Instance>,
    decoder: KernelEventDecoder,
    start_ns: u64,
    stop_ns: u64,
    failed: Option<String>,
}

impl RunInstrument for KernelEvents {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(&mut self) -> Result<(), String> {
        let instance = Instance::open(InstanceSettings {
            name: NAME,
            clock: "mono",
            kib_per_cpu: 16 << 10,
            events: ALWAYS,
        })?;
        for event in ALWAYS {
            self.decoder.add(event, &instance.format(event)?)?;
        }
        for wanted in WHERE_THERE {
            for event in instance.list_events(wanted) {
                self.decoder.add(&event, &instance.format(&event)?)?;
                instance.write(&format!("events/{event}/enable"), "1")?;
            }
        }
        self.instance = Some(instance);
        Ok(())
    }

    fn start(&mut self, _: i32) {
        self.start_ns = sys::now();
        if let Some(Err(why)) = self.instance.as_mut().map(Instance::on) {
            self.failed = Some(why);
        }
    }

    fn stop(&mut self) {
        if let Some(Err(why)) = self.instance.as_mut().map(Instance::off) {
            self.failed.get_or_insert(why);
        }
        self.stop_ns = sys::now();
    }

    fn records(&mut self) -> Vec<AgentMessage> {
        let Some(mut instance) = self.instance.take() else {
            return vec![unavailable(NAME, None, "it was not opened")];
        };
        if let Some(why) = self.failed.take() {
            return vec![unavailable(NAME, None, why)];
        }
        let decoder = &self.decoder;
        let trace = instance.drain(&|event| decoder.decode(event));
        drop(instance);
        let mut records = Vec::from_iter(trace.doubt(NAME));
        let events = self.events(trace);
        records.push(raw(EVENTS_FILE, events.text()));
        records
    }
}

impl KernelEvents {
    /// Merges the events of all CPUs, in order of time and then of CPU.
    fn events(&self, trace: RecordedTrace<DecodedEvent>) -> KernelEventLog {
        let mut events = KernelEventLog {
            start_ns: self.start_ns,
            stop_ns: self.stop_ns,
            // Unreadable data count as lost.
            lost: trace.lost.max(u64::from(trace.broken)),
            kinds: self
                .decoder
                .kinds
                .iter()
                .map(|known| known.kind())
                .collect(),
            ..KernelEventLog::default()
        };
        let cpus = trace.cpus.into_iter();
        let mut all: Vec<(u64, u32, DecodedEvent)> = cpus
            .flat_map(|cpu| {
                let events = cpu.events.into_iter();
                events.map(move |(at_ns, seen)| (at_ns, cpu.cpu, seen))
            })
            .collect();
        all.sort_by_key(|(at_ns, ..)| *at_ns);
        let mut known = NamesAndAddresses::default();
        for (at_ns, cpu, mut seen) in all {
            known.add_names(&seen.names, &mut events);
            if let Some(layout) = self.decoder.kinds.get(usize::from(seen.kind)) {
                known.number_addresses(layout, &mut seen.values);
            }
            let row = KernelEvent {
                kind: seen.kind,
                cpu,
                at_ns,
                tid: seen.tid,
                first: 0,
            };
            events.push(row, &seen.values);
        }
        events
    }
}

/// Thread names and addresses seen so far.
#[derive(Default)]
struct NamesAndAddresses {
    names: BTreeMap<u32, [u8; 16]>,
    addresses: HashMap<i64, i64>,
}

impl NamesAndAddresses {
    /// Adds the names that are new.
    fn add_names(&mut self, names: &[(u32, [u8; 16])], events: &mut KernelEventLog) {
        for (tid, comm) in names {
            // The idle thread of every CPU has this id.
            if *tid == 0 || self.names.get(tid) == Some(comm) {
                continue;
            }
            self.names.insert(*tid, *comm);
            let text = comm.split(|&byte| byte == 0).next().unwrap_or_default();
            let name = String::from_utf8_lossy(text);
            events.names.push(ThreadNaming {
                row: events.rows.len(),
                tid: *tid,
                name: name.replace(char::is_control, "?"),
            });
        }
    }

    /// Replaces addresses by consecutive numbers: addresses must not be published, and
    /// only need to distinguish objects.
    fn number_addresses(&mut self, layout: &EventLayout, values: &mut [i64]) {
        for ((_, field), value) in layout.fields.iter().zip(values) {
            if field.pointer && *value != 0 {
                let next = i64::try_from(self.addresses.len()).unwrap_or(i64::MAX) + 1;
                *value = *self.addresses.entry(*value).or_insert(next);
            }
        }
    }
}

/// One recorded event.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DecodedEvent {
    kind: u16,
    tid: u32,
    values: Vec<i64>,
    /// Thread ids and names in this event.
    names: Vec<(u32, [u8; 16])>,
}

/// Decodes events by the formats that this kernel declares.
#[derive(Debug, Default)]
struct KernelEventDecoder {
    kinds: Vec<EventLayout>,
    /// The kernel's id of an event to its index in `kinds`.
    places: HashMap<u16, u16>,
}

#[derive(Debug)]
struct EventLayout {
    name: String,
    tid: EventField,
    fields: Vec<(String, EventField)>,
    /// Pairs of fields: a thread's id, and its name.
    names: Vec<(EventField, EventField)>,
}

impl EventLayout {
    fn kind(&self) -> EventKind {
        EventKind {
            name: self.name.clone(),
            fields: self.fields.iter().map(|(name, _)| name.clone()).collect(),
        }
    }
}

impl KernelEventDecoder {
    fn add(&mut self, event: &str, format: &EventFormat) -> Result<(), String> {
        let tid = format.field("common_pid");
        let tid = tid.ok_or_else(|| format!("the trace event {event} has no common_pid here"))?;
        let numbers = format.own_fields().filter(|(_, field)| field.is_number());
        let comms = format.own_fields().filter_map(|(name, field)| {
            // prev_comm is the name of prev_pid.
            let pid = format!("{}pid", name.strip_suffix("comm")?);
            field.is_comm().then_some((format.field(&pid)?, field))
        });
        let place = u16::try_from(self.kinds.len()).map_err(|_| "too many trace events")?;
        self.places.insert(format.id, place);
        self.kinds.push(EventLayout {
            name: event.to_owned(),
            tid,
            fields: numbers
                .map(|(name, field)| (name.to_owned(), field))
                .collect(),
            names: comms.collect(),
        });
        Ok(())
    }

    fn decode(&self, event: &[u8]) -> Option<DecodedEvent> {
        let kind = *self.places.get(&ring::id(event)?)?;
        let known = self.kinds.get(usize::from(kind))?;
        let value = |(_, field): &(String, EventField)| field.value(event);
        let name =
            |(pid, comm): &(EventField, EventField)| Some((pid.tid(event)?, comm.comm(event)?));
        Some(DecodedEvent {
            kind,
            tid: known.tid.tid(event)?,
            values: known.fields.iter().map(value).collect::<Option<_>>()?,
            names: known.names.iter().filter_map(name).collect(),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use super::*;
    use crate::instruments::tracefs::CpuEvents;

    const FORMAT: &str = "name: sample\nID: 9\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
        \tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n\
        \tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n\
        \tfield:void * fence;\toffset:32;\tsize:8;\tsigned:0;\n";

    fn event(tid: u32, context: u32, name: &str, fence: u64) -> Vec<u8> {
        let mut bytes = vec![0u8; 40];
        bytes[0..2].copy_from_slice(&9u16.to_le_bytes());
        bytes[4..8].copy_from_slice(&tid.to_le_bytes());
        bytes[8..8 + name.len()].copy_from_slice(name.as_bytes());
        bytes[24..28].copy_from_slice(&context.to_le_bytes());
        bytes[28..32].copy_from_slice(&(-2i32).to_le_bytes());
        bytes[32..40].copy_from_slice(&fence.to_le_bytes());
        bytes
    }

    #[test]
    fn the_text_has_each_event_in_order_and_no_address() {
        let mut instrument = KernelEvents {
            start_ns: 100,
            stop_ns: 900,
            ..KernelEvents::default()
        };
        let format = EventFormat::parse(FORMAT).unwrap();
        instrument.decoder.add("a/sample", &format).unwrap();
        let cpu = |cpu, events: &[(u64, Vec<u8>)]| CpuEvents {
            cpu,
            events: events
                .iter()
                .map(|(at, bytes)| (*at, instrument.decoder.decode(bytes).unwrap()))
                .collect(),
        };
        let (first, second) = (u64::MAX - 4, 1u64 << 40);
        let trace = RecordedTrace {
            cpus: vec![
                cpu(
                    0,
                    &[
                        (200, event(5, 6, "a b", first)),
                        (300, event(5, 6, "a b", second)),
                    ],
                ),
                cpu(
                    1,
                    &[
                        (150, event(7, 7, "c\nd", second)),
                        (300, event(7, 7, "e", 0)),
                    ],
                ),
            ],
            lost: 0,
            broken: true,
        };
        let wanted = "assize.kernel-events/1\nstart 100\nstop 900\nlost 1\nkind 0 a/sample pid prio fence\n\
            name 7 c?d\n0 1 50 7 7 -2 1\nname 6 a b\n0 0 50 5 6 -2 2\n0 0 100 5 6 -2 1\n\
            name 7 e\n0 1 0 7 7 -2 0\nend 4\n";
        let text = instrument.events(trace).text();
        assert_eq!(text, wanted);
        assert_eq!(KernelEventLog::parse(&text).unwrap().text(), text);
    }

    #[test]
    fn switches_of_this_machine_are_recorded() {
        let mut instrument = KernelEvents::default();
        if let Err(why) = instrument.open() {
            eprintln!("skipped: {why}");
            return;
        }
        instrument.start(0);
        std::thread::sleep(std::time::Duration::from_millis(5));
        instrument.stop();
        let records = instrument.records();
        let Some(AgentMessage::Raw { name, text }) = records.last() else {
            panic!("no text: {records:?}");
        };
        assert_eq!(name, EVENTS_FILE);
        let events = KernelEventLog::parse(text).unwrap();
        assert!(
            events
                .rows
                .iter()
                .any(|row| events.value(row, "next_pid").is_some())
        );
        let times = events.start_ns..=events.stop_ns;
        assert!(events.rows.iter().all(|row| times.contains(&row.at_ns)));
    }
}
