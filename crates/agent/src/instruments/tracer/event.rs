//! Decodes the events of the tracers, by the formats that this kernel declares.

use std::ops::AddAssign;

use assize_job::gaps::Cause;

use crate::instruments::ring::{self, EventFormat};
use crate::instruments::tracefs::Instance;

/// A decoded event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TracerEvent {
    /// hwlat's thread was switched in.
    In,
    /// hwlat's thread was switched out.
    Out,
    /// hwlat has finished a window and found latencies.
    Latencies {
        /// When it noticed the first, in nanoseconds of CLOCK_REALTIME.
        at_ns: u64,
        /// Length of the longest, in microseconds.
        longest_us: u64,
        /// Number of latencies.
        count: u64,
        /// NMIs in that time.
        nmis: u64,
    },
    /// osnoise's loop was delayed.
    Noise {
        /// Start, in nanoseconds of the tracer's clock.
        start_ns: u64,
        /// Length in nanoseconds.
        duration_ns: u64,
        /// Number of interruptions known to the kernel.
        interferences: u64,
    },
    /// Something took the CPU from the thread of osnoise or timerlat.
    Part {
        /// The cause.
        cause: Cause,
        /// Start, in nanoseconds of the tracer's clock.
        start_ns: u64,
        /// Length in nanoseconds, without nested interruptions.
        duration_ns: u64,
    },
    /// osnoise has finished a window of this many microseconds.
    Sample(u64),
    /// timerlat's timer has expired.
    Timer {
        /// Whether the thread reports it; otherwise the interrupt handler does.
        in_thread: bool,
        /// Latency in nanoseconds.
        late_ns: u64,
    },
}

/// CPU time taken by each cause, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Times {
    /// No cause known to the kernel.
    pub(super) hardware: u64,
    /// Non-maskable interrupts.
    pub(super) nmi: u64,
    /// Interrupts.
    pub(super) irq: u64,
    /// Softirqs.
    pub(super) softirq: u64,
    /// Other threads.
    pub(super) thread: u64,
}

impl Times {
    /// Adds a time to its cause.
    pub(super) fn add(&mut self, cause: Cause, ns: u64) {
        let own = match cause {
            Cause::Nmi => &mut self.nmi,
            Cause::Interrupt => &mut self.irq,
            Cause::Softirq => &mut self.softirq,
            Cause::Switch => &mut self.thread,
            _ => &mut self.hardware,
        };
        *own = own.saturating_add(ns);
    }
}

impl AddAssign for Times {
    fn add_assign(&mut self, other: Times) {
        self.hardware = self.hardware.saturating_add(other.hardware);
        self.nmi = self.nmi.saturating_add(other.nmi);
        self.irq = self.irq.saturating_add(other.irq);
        self.softirq = self.softirq.saturating_add(other.softirq);
        self.thread = self.thread.saturating_add(other.thread);
    }
}

/// Decodes the fields of an event; skips it with `None`.
type EventReader = fn(&RecordedFields<'_>) -> Option<TracerEvent>;
/// An event as `SYSTEM/EVENT`, its required fields, and its decoder.
pub(super) type EventReading = (&'static str, &'static [&'static str], EventReader);

/// The fields of one recorded event.
pub(super) struct RecordedFields<'a> {
    format: &'a EventFormat,
    bytes: &'a [u8],
}

impl RecordedFields<'_> {
    /// A field's value as a number.
    pub(super) fn number(&self, field: &str) -> Option<u64> {
        self.format.field(field)?.number(self.bytes)
    }

    /// Whether a field is a thread name that starts with `begin`.
    pub(super) fn is_named(&self, field: &str, begin: &str) -> Option<bool> {
        let comm = self.format.field(field)?.comm(self.bytes)?;
        Some(comm.starts_with(begin.as_bytes()))
    }

    /// Decodes an event of something that took the CPU.
    fn part(&self, cause: Cause) -> Option<TracerEvent> {
        Some(TracerEvent::Part {
            cause,
            start_ns: self.number("start")?,
            duration_ns: self.number("duration")?,
        })
    }
}

const SPAN: &[&str] = &["start", "duration"];
/// The events with which the kernel reports what took a CPU.
pub(super) const NMI: EventReading = ("osnoise/nmi_noise", SPAN, |fields| fields.part(Cause::Nmi));
pub(super) const IRQ: EventReading = ("osnoise/irq_noise", SPAN, |fields| {
    fields.part(Cause::Interrupt)
});
pub(super) const SOFTIRQ: EventReading = ("osnoise/softirq_noise", SPAN, |fields| {
    fields.part(Cause::Softirq)
});
pub(super) const THREAD: EventReading = ("osnoise/thread_noise", SPAN, |fields| {
    fields.part(Cause::Switch)
});

/// Decodes the events of one tracer.
#[derive(Default)]
pub(super) struct TracerEventDecoder {
    known: Vec<(EventFormat, EventReader)>,
}

impl TracerEventDecoder {
    /// Adds an event; reads its format from the kernel.
    pub(super) fn add(
        &mut self,
        reading: &EventReading,
        instance: &Instance,
    ) -> Result<(), String> {
        self.add_format(reading, instance.format(reading.0)?)
    }

    fn add_format(
        &mut self,
        (event, fields, read): &EventReading,
        format: EventFormat,
    ) -> Result<(), String> {
        if let Some(lacking) = fields.iter().find(|name| format.field(name).is_none()) {
            return Err(format!("the trace event {event} has no {lacking} here"));
        }
        self.known.push((format, *read));
        Ok(())
    }

    pub(super) fn decode(&self, bytes: &[u8]) -> Option<TracerEvent> {
        let id = ring::id(bytes)?;
        let (format, read) = self.known.iter().find(|(format, _)| format.id == id)?;
        read(&RecordedFields { format, bytes })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    const NOISE: &str = "name: irq_noise\nID: 9\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
        \tfield:u64 start;\toffset:8;\tsize:8;\tsigned:0;\n\
        \tfield:u64 duration;\toffset:16;\tsize:8;\tsigned:0;\n";

    #[test]
    fn an_event_is_read_as_the_kernel_lays_it_out() {
        let mut decoder = TracerEventDecoder::default();
        decoder
            .add_format(&IRQ, EventFormat::parse(NOISE).unwrap())
            .unwrap();
        let mut bytes = [0u8; 24];
        bytes[0] = 9;
        bytes[8] = 100;
        bytes[16] = 7;
        let wanted = TracerEvent::Part {
            cause: Cause::Interrupt,
            start_ns: 100,
            duration_ns: 7,
        };
        assert_eq!(decoder.decode(&bytes), Some(wanted));
        for end in 0..bytes.len() {
            assert_eq!(decoder.decode(&bytes[..end]), None, "{end}");
        }
        bytes[0] = 8;
        assert_eq!(decoder.decode(&bytes), None);
    }

    #[test]
    fn a_kernel_whose_events_lack_a_field_is_told_so() {
        let format = EventFormat::parse(&NOISE.replace("duration", "length")).unwrap();
        let why = TracerEventDecoder::default()
            .add_format(&IRQ, format)
            .unwrap_err();
        assert!(why.contains("irq_noise has no duration"), "{why}");
    }

    #[test]
    fn times_are_counted_to_their_causes() {
        let mut times = Times::default();
        for (cause, ns) in [
            (Cause::Nmi, 1),
            (Cause::Interrupt, 2),
            (Cause::Softirq, 4),
            (Cause::Switch, 8),
            (Cause::Unexplained, 16),
            (Cause::Interrupt, 32),
        ] {
            times.add(cause, ns);
        }
        times += times;
        let Times {
            hardware,
            nmi,
            irq,
            softirq,
            thread,
        } = times;
        assert_eq!([hardware, nmi, irq, softirq, thread], [32, 2, 68, 8, 16]);
    }
}
