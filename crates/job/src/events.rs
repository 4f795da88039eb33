//! The kernel events of one run as a text, which the instrument `kernel-events` writes into
//! the bundle.
//!
//! The text declares its events and fields, since these differ between kernels:
//!
//! ```text
//! assize.kernel-events/1
//! start 1000
//! stop 9000
//! lost 0
//! kind 0 sched/sched_switch prev_pid prev_prio prev_state next_pid next_prio
//! name 57 sync
//! 0 1 250 0 0 120 0 57 120
//! end 1
//! ```
//!
//! A line that begins with a number is an event: its kind, the CPU, the nanoseconds since
//! the previous event (for the first: since the start), the thread that ran on that CPU,
//! and the values of the fields in order. Values are 64 bits wide and written as signed; a
//! pointer is replaced by its index in order of first appearance. `name` gives the name of
//! a thread from there on.
//!
//! ```
//! use assize_job::events::KernelEventLog;
//! let text = "assize.kernel-events/1\nstart 1000\nstop 9000\nlost 0\n\
//!     kind 0 sched/sched_waking pid prio\nname 57 sync\n0 1 250 3 57 120\nend 1\n";
//! let events = KernelEventLog::parse(text).unwrap();
//! assert_eq!(events.rows[0].at_ns, 1250);
//! assert_eq!(events.value(&events.rows[0], "prio"), Some(120));
//! assert_eq!(events.text(), text);
//! ```

use std::fmt::{self, Write};
use std::str::FromStr;

/// The schema of the text, its first line.
pub const EVENTS_SCHEMA: &str = "assize.kernel-events/1";
/// The file name under which the agent sends it.
pub const EVENTS_FILE: &str = "kernel-events.txt";

/// The kernel events of one run, in order of time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelEventLog {
    /// Start of the recording, on the clock of all events (CLOCK_MONOTONIC).
    pub start_ns: u64,
    /// End of the recording.
    pub stop_ns: u64,
    /// Events lost for lack of buffer space, as counted by the kernel.
    pub lost: u64,
    /// The kinds of events.
    pub kinds: Vec<EventKind>,
    /// The events, in ascending order of time.
    pub rows: Vec<KernelEvent>,
    /// Thread names, in the order in which they were seen.
    pub names: Vec<ThreadNaming>,
    /// The values of all events, concatenated.
    pub values: Vec<i64>,
}

/// A kind of event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventKind {
    /// Its name: `SYSTEM/EVENT`.
    pub name: String,
    /// The names of its fields.
    pub fields: Vec<String>,
}

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelEvent {
    /// Index in [`KernelEventLog::kinds`].
    pub kind: u16,
    /// The CPU on which it happened.
    pub cpu: u32,
    /// The time.
    pub at_ns: u64,
    /// The thread that ran on the CPU; in an interrupt, the interrupted one.
    pub tid: u32,
    /// Index of its first value in [`KernelEventLog::values`].
    pub first: usize,
}

/// The name that a thread has from a certain event onwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadNaming {
    /// Index of that event in [`KernelEventLog::rows`].
    pub row: usize,
    /// The thread id.
    pub tid: u32,
    /// Its name, without line ends.
    pub name: String,
}

/// A text that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MalformedText {
    /// The line number, from 1.
    pub line: usize,
    /// The defect.
    pub why: String,
}

impl fmt::Display for MalformedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl std::error::Error for MalformedText {}

impl KernelEventLog {
    /// Appends an event, no earlier than the last one, with a value for each field of its
    /// kind.
    pub fn push(&mut self, row: KernelEvent, values: &[i64]) {
        let first = self.values.len();
        self.rows.push(KernelEvent { first, ..row });
        self.values.extend_from_slice(values);
    }

    /// The values of an event, one for each field of its kind.
    #[must_use]
    pub fn values(&self, row: &KernelEvent) -> &[i64] {
        let kind = self.kinds.get(usize::from(row.kind));
        let count = kind.map_or(0, |kind| kind.fields.len());
        let end = row.first.saturating_add(count);
        self.values.get(row.first..end).unwrap_or_default()
    }

    /// The kind of an event.
    #[must_use]
    pub fn kind(&self, row: &KernelEvent) -> Option<&EventKind> {
        self.kinds.get(usize::from(row.kind))
    }

    /// One value of an event, if its kind has this field.
    #[must_use]
    pub fn value(&self, row: &KernelEvent, field: &str) -> Option<i64> {
        let fields = &self.kind(row)?.fields;
        let at = fields.iter().position(|known| known == field)?;
        self.values(row).get(at).copied()
    }

    /// Formats the text. The same events give the same bytes.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!(
            "{EVENTS_SCHEMA}\nstart {}\nstop {}\nlost {}\n",
            self.start_ns, self.stop_ns, self.lost
        );
        for (at, kind) in self.kinds.iter().enumerate() {
            let _ = write!(text, "kind {at} {}", kind.name);
            for field in &kind.fields {
                let _ = write!(text, " {field}");
            }
            text.push('\n');
        }
        let mut names = self.names.iter().peekable();
        let mut last = self.start_ns;
        for (at, row) in self.rows.iter().enumerate() {
            while let Some(name) = names.next_if(|name| name.row <= at) {
                let _ = writeln!(text, "name {} {}", name.tid, name.name);
            }
            let step = row.at_ns.saturating_sub(last);
            last = last.max(row.at_ns);
            let _ = write!(text, "{} {} {step} {}", row.kind, row.cpu, row.tid);
            for value in self.values(row) {
                let _ = write!(text, " {value}");
            }
            text.push('\n');
        }
        let _ = writeln!(text, "end {}", self.rows.len());
        text
    }

    /// Parses the text.
    ///
    /// # Errors
    /// [`MalformedText`] with the first line that is invalid; also if the end is missing.
    pub fn parse(text: &str) -> Result<KernelEventLog, MalformedText> {
        let mut reader = KernelEventLogReader::default();
        let mut lines = text.lines().enumerate();
        if lines.next().map(|(_, line)| line) != Some(EVENTS_SCHEMA) {
            return Err(malformed(1, format!("not of the schema {EVENTS_SCHEMA}")));
        }
        for (at, line) in lines {
            if reader.ended {
                return Err(malformed(at + 1, "something follows the end".into()));
            }
            reader.line(line).map_err(|why| malformed(at + 1, why))?;
        }
        if !reader.ended {
            let line = text.lines().count() + 1;
            return Err(malformed(line, "the end is missing".into()));
        }
        Ok(reader.events)
    }
}

fn malformed(line: usize, why: String) -> MalformedText {
    MalformedText { line, why }
}

#[derive(Default)]
struct KernelEventLogReader {
    events: KernelEventLog,
    last: u64,
    ended: bool,
}

impl KernelEventLogReader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let events = &mut self.events;
        match word {
            "start" => {
                events.start_ns = number(rest)?;
                self.last = events.start_ns;
            }
            "stop" => events.stop_ns = number(rest)?,
            "lost" => events.lost = number(rest)?,
            "kind" => self.kind(rest)?,
            "name" => {
                let (tid, name) = rest.split_once(' ').unwrap_or((rest, ""));
                events.names.push(ThreadNaming {
                    row: events.rows.len(),
                    tid: number(tid)?,
                    name: name.to_owned(),
                });
            }
            "end" => {
                let count: usize = number(rest)?;
                if count != events.rows.len() {
                    return Err(format!(
                        "{count} events announced, {} there",
                        events.rows.len()
                    ));
                }
                self.ended = true;
            }
            _ => self.row(line)?,
        }
        Ok(())
    }

    fn kind(&mut self, rest: &str) -> Result<(), String> {
        let mut words = rest.split(' ').map(str::to_owned);
        let at: usize = number(&words.next().unwrap_or_default())?;
        if at != self.events.kinds.len() {
            return Err(format!("kind {at} is out of order"));
        }
        let name = words.next().ok_or("a kind without a name")?;
        let fields = words.collect();
        self.events.kinds.push(EventKind { name, fields });
        Ok(())
    }

    fn row(&mut self, line: &str) -> Result<(), String> {
        let mut words = line.split(' ');
        let mut next = || words.next().ok_or("an event that breaks off");
        let kind: u16 = number(next()?)?;
        let cpu = number(next()?)?;
        let step: u64 = number(next()?)?;
        let tid = number(next()?)?;
        let known = self.events.kinds.get(usize::from(kind));
        let fields = known.ok_or_else(|| format!("no kind {kind}"))?.fields.len();
        let first = self.events.values.len();
        for word in words {
            self.events.values.push(number(word)?);
        }
        if self.events.values.len() - first != fields {
            return Err(format!("an event of kind {kind} has {fields} values"));
        }
        let at_ns = self
            .last
            .checked_add(step)
            .ok_or("a time beyond all times")?;
        self.last = at_ns;
        self.events.rows.push(KernelEvent {
            kind,
            cpu,
            at_ns,
            tid,
            first,
        });
        Ok(())
    }
}

fn number<T: FromStr>(word: &str) -> Result<T, String> {
    word.parse()
        .map_err(|_| format!("'{word}' is not a number that fits here"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events(rows: &[(u64, u32, u32, i64, i64)]) -> KernelEventLog {
        let kind = |name: &str, fields: &[&str]| EventKind {
            name: name.into(),
            fields: fields.iter().map(|field| (*field).to_owned()).collect(),
        };
        let mut events = KernelEventLog {
            start_ns: 100,
            stop_ns: u64::MAX,
            lost: 3,
            kinds: vec![kind("a/b", &["x", "y"]), kind("c/d", &[])],
            ..KernelEventLog::default()
        };
        let mut at_ns = 100;
        for (at, &(step, cpu, tid, x, y)) in rows.iter().enumerate() {
            at_ns += step;
            let kind = u16::from(x % 2 == 0);
            let row = KernelEvent {
                kind,
                cpu,
                at_ns,
                tid,
                first: 0,
            };
            if y % 3 == 0 {
                events.names.push(ThreadNaming {
                    row: at,
                    tid,
                    name: format!("thread {y}"),
                });
            }
            events.push(row, [x, y].get(usize::from(kind) * 2..).unwrap_or_default());
        }
        events
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(
            rows in prop::collection::vec((0u64..1 << 40, 0u32..4, any::<u32>(), any::<i64>(), any::<i64>()), 0..40),
        ) {
            let events = events(&rows);
            let text = events.text();
            prop_assert_eq!(KernelEventLog::parse(&text).unwrap(), events);
        }

        #[test]
        fn a_text_that_was_cut_is_refused(cut in 0usize..100) {
            let text = events(&[(1, 0, 5, 1, 3), (2, 1, 6, 2, 3), (3, 0, 5, 5, 5)]).text();
            let cut = cut.min(text.len() - 2);
            prop_assert!(KernelEventLog::parse(&text[..cut]).is_err());
        }

        #[test]
        fn nothing_can_make_it_panic(text in "(assize.kernel-events/1\n)?([a-z0-9 -]{0,12}\n){0,8}") {
            let _ = KernelEventLog::parse(&text);
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let cases = [
            ("", "line 1: not of the schema assize.kernel-events/1"),
            (
                "assize.kernel-events/1\nkind 1 a\n",
                "line 2: kind 1 is out of order",
            ),
            ("assize.kernel-events/1\n0 0 0 0\n", "line 2: no kind 0"),
            (
                "assize.kernel-events/1\nkind 0 a x\n0 0 0 0\n",
                "line 3: an event of kind 0 has 1 values",
            ),
            (
                "assize.kernel-events/1\nend 2\n",
                "line 2: 2 events announced, 0 there",
            ),
            (
                "assize.kernel-events/1\nend 0\nend 0\n",
                "line 3: something follows the end",
            ),
        ];
        for (text, wanted) in cases {
            assert_eq!(KernelEventLog::parse(text).unwrap_err().to_string(), wanted);
        }
    }

    #[test]
    fn fields_are_found_by_name() {
        let events = events(&[(1, 0, 5, 7, 8)]);
        let row = &events.rows[0];
        assert_eq!(events.value(row, "y"), Some(8));
        assert_eq!(events.value(row, "z"), None);
    }
}
