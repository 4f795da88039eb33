//! What a kernel complains of in its log.
//!
//! [`complaints`] reads text as a console or `dmesg` prints it and gives one
//! [`Complaint`] for each report: a warning, an oops, a report of lockdep or of a
//! sanitizer, a stall, a panic. Two complaints are the same if their
//! [`Complaint::signature`] is: what kind it is and where, without addresses, numbers
//! and CPUs.

mod frames;

use serde::{Deserialize, Serialize};

use frames::Report;

/// A log has no more complaints than this; the first ones matter.
const MOST: usize = 32;

/// What a kernel complains of.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum ComplaintKind {
    /// `WARN()` and its kin.
    #[default]
    Warning,
    /// `BUG()`, a check of the kernel's that ends the task.
    Bug,
    /// A page fault, a general protection fault, any other oops.
    Oops,
    /// A panic without another complaint before it.
    Panic,
    /// Lockdep, and what RCU and others say through it.
    Lockdep,
    /// The address sanitizer.
    Kasan,
    /// The sanitizer of data races.
    Kcsan,
    /// The sanitizer of undefined behaviour.
    Ubsan,
    /// The sanitizer of uninitialised memory.
    Kmsan,
    /// A task blocked for too long.
    HungTask,
    /// A grace period of RCU that does not end.
    RcuStall,
    /// A CPU that does not schedule, or takes no interrupts.
    Lockup,
    /// Sleeping or scheduling where that is not allowed.
    Atomic,
    /// Another line that begins with `BUG:`.
    Other,
}

impl ComplaintKind {
    /// How the field calls it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            ComplaintKind::Warning => "WARNING",
            ComplaintKind::Bug => "kernel BUG",
            ComplaintKind::Oops => "oops",
            ComplaintKind::Panic => "panic",
            ComplaintKind::Lockdep => "lockdep",
            ComplaintKind::Kasan => "KASAN",
            ComplaintKind::Kcsan => "KCSAN",
            ComplaintKind::Ubsan => "UBSAN",
            ComplaintKind::Kmsan => "KMSAN",
            ComplaintKind::HungTask => "hung task",
            ComplaintKind::RcuStall => "RCU stall",
            ComplaintKind::Lockup => "lockup",
            ComplaintKind::Atomic => "sleep in atomic context",
            ComplaintKind::Other => "BUG",
        }
    }

    /// Whether the kernel, or the task that ran into it, does not go on.
    #[must_use]
    pub fn is_fatal(self) -> bool {
        matches!(
            self,
            ComplaintKind::Bug | ComplaintKind::Oops | ComplaintKind::Panic
        )
    }
}

/// At which point of a run a kernel complained.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// While the run was set up.
    SetUp,
    /// While the workload was measured, its background and instruments included.
    #[default]
    Window,
    /// While the set-up was undone.
    TearDown,
}

impl Phase {
    /// Whether it is the usual case, which JSON leaves out.
    #[must_use]
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference.
    pub fn is_window(&self) -> bool {
        *self == Phase::Window
    }
}

/// One complaint of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Complaint {
    /// Of what it complains.
    pub kind: ComplaintKind,
    /// When.
    #[serde(default, skip_serializing_if = "Phase::is_window")]
    pub phase: Phase,
    /// The line that says so, without its time stamp.
    pub line: String,
    /// Where: function, offset and module, as `race_use+0x5e [race]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The first functions of its trace, the innermost first, without those that
    /// print it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<String>,
}

impl Complaint {
    /// What complaints of one cause have in common: the kind and the place, or
    /// without a place the line without its numbers; and when, if that is not while the
    /// workload was measured.
    #[must_use]
    pub fn signature(&self) -> String {
        let when = match self.phase {
            Phase::SetUp => " (set-up)",
            Phase::Window => "",
            Phase::TearDown => " (tear-down)",
        };
        self.what_and_where() + when
    }

    fn what_and_where(&self) -> String {
        match (&self.place, self.frames.first()) {
            (Some(place), _) | (None, Some(place)) => {
                format!("{} in {place}", self.kind.word())
            }
            (None, None) => format!("{}: {}", self.kind.word(), without_numbers(&self.line)),
        }
    }
}

/// The complaints of a kernel's log, in their order, 32 at most.
///
/// A panic is one only where nothing else is before it: else it follows from that.
/// Any text is a log; of one that holds no complaint there are none.
#[must_use]
pub fn complaints(log: &str) -> Vec<Complaint> {
    let mut all: Vec<Complaint> = Vec::new();
    let mut open: Option<Report> = None;
    for line in log.lines().map(message) {
        let start = kind_of(line);
        let goes_on = open
            .as_ref()
            .is_some_and(|report| start.is_some_and(|kind| report.takes(kind)));
        match start {
            Some(kind) if !goes_on => {
                all.extend(open.take().map(Report::closed));
                let follows = kind == ComplaintKind::Panic && !all.is_empty();
                open = (!follows).then(|| Report::new(kind, line));
            }
            _ => {
                if let Some(report) = &mut open {
                    report.take(line);
                }
            }
        }
        if all.len() >= MOST {
            return all;
        }
    }
    all.extend(open.map(Report::closed));
    all
}

/// The complaint that says best why a run ended: the first that is fatal, or the first.
#[must_use]
pub fn leading(complaints: &[Complaint]) -> Option<&Complaint> {
    let fatal = complaints.iter().find(|one| one.kind.is_fatal());
    fatal.or_else(|| complaints.first())
}

/// A line without what the console puts before it: the time stamp, the caller, and the
/// level of a raw log.
fn message(line: &str) -> &str {
    let mut line = line.trim();
    if let Some((level, rest)) = line.strip_prefix('<').and_then(|rest| rest.split_once('>'))
        && !level.is_empty()
        && level.bytes().all(|b| b.is_ascii_digit())
    {
        line = rest.trim_start();
    }
    let stamp = |inside: &str| {
        let inside = inside.trim();
        !inside.is_empty() && inside.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    };
    let caller = |inside: &str| {
        let mut inside = inside.trim().chars();
        let known = matches!(inside.next(), Some('T' | 'C'));
        known && inside.clone().count() > 0 && inside.all(|c| c.is_ascii_digit())
    };
    for is in [&stamp as &dyn Fn(&str) -> bool, &caller] {
        if let Some((inside, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']'))
            && is(inside)
        {
            line = rest.trim_start();
        }
    }
    line
}

/// Beginnings of what a complaint begins with, the more specific first.
const BEGINNINGS: [(&str, ComplaintKind); 21] = [
    ("BUG: KASAN: ", ComplaintKind::Kasan),
    ("BUG: KFENCE: ", ComplaintKind::Kasan),
    ("BUG: KCSAN: ", ComplaintKind::Kcsan),
    ("BUG: KMSAN: ", ComplaintKind::Kmsan),
    ("BUG: kernel NULL pointer dereference", ComplaintKind::Oops),
    ("BUG: unable to handle ", ComplaintKind::Oops),
    ("BUG: stack guard page was hit", ComplaintKind::Oops),
    ("BUG: sleeping function called", ComplaintKind::Atomic),
    ("BUG: scheduling while atomic", ComplaintKind::Atomic),
    ("BUG: Invalid wait context", ComplaintKind::Lockdep),
    ("BUG: workqueue lockup", ComplaintKind::Lockup),
    ("BUG: ", ComplaintKind::Other),
    ("kernel BUG at ", ComplaintKind::Bug),
    ("Oops: ", ComplaintKind::Oops),
    ("Internal error: ", ComplaintKind::Oops),
    ("Unable to handle kernel ", ComplaintKind::Oops),
    ("general protection fault", ComplaintKind::Oops),
    ("UBSAN: ", ComplaintKind::Ubsan),
    ("WARNING: CPU: ", ComplaintKind::Warning),
    ("WARNING: ", ComplaintKind::Lockdep),
    ("Kernel panic - not syncing", ComplaintKind::Panic),
];

/// Lines of `WARNING:` that are of neither `WARN()` nor lockdep and report nothing of
/// the run.
const HARMLESS: [&str; 2] = ["WARNING: Spectre", "WARNING: Unprivileged"];

/// Of what a line complains, if a complaint begins with it.
fn kind_of(line: &str) -> Option<ComplaintKind> {
    if HARMLESS.iter().any(|one| line.starts_with(one)) {
        return None;
    }
    if let Some(rest) = line.strip_prefix("watchdog: ") {
        let is = rest.starts_with("BUG: soft lockup") || rest.contains("hard LOCKUP");
        return is.then_some(ComplaintKind::Lockup);
    }
    if let Some(rest) = line.strip_prefix("rcu: ").or(Some(line))
        && let Some(rest) = rest.strip_prefix("INFO: ")
    {
        let kinds = [
            ("detected stall", ComplaintKind::RcuStall),
            ("self-detected stall", ComplaintKind::RcuStall),
            ("detected expedited stalls", ComplaintKind::RcuStall),
            ("blocked for more than", ComplaintKind::HungTask),
            ("blocked in I/O wait for more", ComplaintKind::HungTask),
            ("trying to register non-static key", ComplaintKind::Lockdep),
        ];
        let mut kinds = kinds.into_iter();
        return kinds
            .find(|(sign, _)| rest.contains(sign))
            .map(|(_, kind)| kind);
    }
    // `WARN()` since 6.19; lockdep names no CPU in its line.
    if line.starts_with("WARNING: ") && line.contains("at ") && line.contains(", CPU#") {
        return Some(ComplaintKind::Warning);
    }
    let mut beginnings = BEGINNINGS.into_iter();
    beginnings
        .find(|(beginning, _)| line.starts_with(beginning))
        .map(|(_, kind)| kind)
}

/// A line whose numbers, addresses and CPUs are left out.
fn without_numbers(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let hexadecimal = rest.strip_prefix("0x");
        let (number, kind): (&str, fn(char) -> bool) = match hexadecimal {
            Some(after) => (after, |c| c.is_ascii_hexdigit()),
            None => (rest, |c| c.is_ascii_digit()),
        };
        let after = number.trim_start_matches(kind);
        if after.len() < number.len() {
            out.push('N');
            rest = after;
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
