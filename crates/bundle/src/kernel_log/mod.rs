//! Finds the kernel's complaints in its log.
//!
//! [`complaints`] parses the output of a console or `dmesg` and returns one [`Complaint`] for each
//! report: a warning, an oops, a report of lockdep or of a sanitizer, a stall, a panic. Two
//! complaints are the same if they have the same [`Complaint::signature`]: kind and place, without
//! addresses, numbers and CPUs.

mod frames;

use serde::{Deserialize, Serialize};

use frames::PendingComplaint;

/// Maximum number of complaints read from a log; the first ones matter most.
const MOST: usize = 32;

/// The kind of a kernel's complaint.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum ComplaintKind {
    /// `WARN()` and its variants.
    #[default]
    Warning,
    /// `BUG()`, a failed assertion that kills the task.
    Bug,
    /// A page fault, a general protection fault, any other oops.
    Oops,
    /// A panic without another complaint before it.
    Panic,
    /// Lockdep, including reports of RCU and others through it.
    Lockdep,
    /// KASAN, the address sanitizer, and KFENCE.
    Kasan,
    /// KCSAN, the data-race sanitizer.
    Kcsan,
    /// UBSAN, the undefined-behaviour sanitizer.
    Ubsan,
    /// KMSAN, the uninitialised-memory sanitizer.
    Kmsan,
    /// A task blocked for too long.
    HungTask,
    /// An RCU grace period that does not end.
    RcuStall,
    /// A soft or hard lockup: a CPU that does not schedule, or takes no
    /// interrupts.
    Lockup,
    /// Sleeping or scheduling where that is not allowed.
    Atomic,
    /// Any other line that begins with `BUG:`.
    Other,
}

impl ComplaintKind {
    /// The usual name of the kind.
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

    /// Whether it is fatal to the kernel, or to the task that ran into it.
    #[must_use]
    pub fn is_fatal(self) -> bool {
        matches!(
            self,
            ComplaintKind::Bug | ComplaintKind::Oops | ComplaintKind::Panic
        )
    }
}

/// The phase of a run in which a kernel complained.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// During set-up.
    SetUp,
    /// While the workload was measured, including its background and
    /// instruments.
    #[default]
    Window,
    /// During tear-down.
    TearDown,
}

impl Phase {
    /// Whether it is the default, which JSON omits.
    #[must_use]
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference.
    pub fn is_window(&self) -> bool {
        *self == Phase::Window
    }
}

/// One complaint of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Complaint {
    /// The kind.
    pub kind: ComplaintKind,
    /// The phase of the run.
    #[serde(default, skip_serializing_if = "Phase::is_window")]
    pub phase: Phase,
    /// The line that reports it, without its time stamp.
    pub line: String,
    /// The place: function, offset and module, such as `race_use+0x5e [race]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The first functions of its call trace, innermost first, without those
    /// that print it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<String>,
}

impl Complaint {
    /// The signature that complaints with the same cause share: the kind and the place, or without
    /// a place the line without its numbers; and the phase, unless it is the measurement.
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
            (None, None) => {
                let (word, line) = (self.kind.word(), without_numbers(&self.line));
                match line.strip_prefix(word) {
                    Some(rest) if rest.starts_with(": ") => line,
                    _ => format!("{word}: {line}"),
                }
            }
        }
    }
}

/// The complaints in a kernel log, in order, at most 32.
///
/// A panic counts only if it is the first complaint; otherwise it is a consequence. Any text is
/// accepted as a log; without complaints the result is empty.
#[must_use]
pub fn complaints(log: &str) -> Vec<Complaint> {
    let mut all: Vec<Complaint> = Vec::new();
    let mut open: Option<PendingComplaint> = None;
    for line in log.lines().map(message) {
        let start = kind_of(line);
        let goes_on = open
            .as_ref()
            .is_some_and(|report| start.is_some_and(|kind| report.takes(kind)));
        match start {
            Some(kind) if !goes_on => {
                all.extend(open.take().map(PendingComplaint::closed));
                let follows = kind == ComplaintKind::Panic && !all.is_empty();
                open = (!follows).then(|| PendingComplaint::new(kind, line));
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
    all.extend(open.map(PendingComplaint::closed));
    all
}

/// The complaint that best explains why a run ended: the first fatal one, otherwise the first.
#[must_use]
pub fn leading(complaints: &[Complaint]) -> Option<&Complaint> {
    let fatal = complaints.iter().find(|one| one.kind.is_fatal());
    fatal.or_else(|| complaints.first())
}

/// Strips what the console adds before a line: the time stamp, the caller, and the level of a raw
/// log.
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

/// Prefixes of the first lines of complaints, the more specific first.
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

/// `WARNING:` lines from neither `WARN()` nor lockdep, which report nothing about the run.
const HARMLESS: [&str; 2] = ["WARNING: Spectre", "WARNING: Unprivileged"];

/// The kind of complaint that begins with this line, if one does.
fn kind_of(line: &str) -> Option<ComplaintKind> {
    if HARMLESS.iter().any(|one| line.starts_with(one)) {
        return None;
    }
    if is_oops_of_a_trap(line) {
        return Some(ComplaintKind::Oops);
    }
    let watchdog = line.strip_prefix("NMI ").unwrap_or(line);
    if let Some(rest) = watchdog.strip_prefix("watchdog: ") {
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
    // The form of `WARN()` since 6.19; lockdep's line names no CPU.
    if line.starts_with("WARNING: ") && line.contains("at ") && line.contains(", CPU#") {
        return Some(ComplaintKind::Warning);
    }
    let mut beginnings = BEGINNINGS.into_iter();
    beginnings
        .find(|(beginning, _)| line.starts_with(beginning))
        .map(|(_, kind)| kind)
}

/// Whether a line is that of an oops of a trap: `divide error: 0000 [#1] PREEMPT SMP`. Since 6.10
/// such lines begin with `Oops: `.
fn is_oops_of_a_trap(line: &str) -> bool {
    let Some((what, rest)) = line.split_once(": ") else {
        return false;
    };
    let Some((code, rest)) = rest.split_once(" [#") else {
        return false;
    };
    let digits = rest.split(']').next().unwrap_or_default();
    let is = |text: &str, of: fn(&u8) -> bool| !text.is_empty() && text.bytes().all(|b| of(&b));
    what.bytes()
        .all(|b| b.is_ascii_alphabetic() || b" -".contains(&b))
        && code.len() == 4
        && is(code, u8::is_ascii_hexdigit)
        && rest.contains(']')
        && is(digits, u8::is_ascii_digit)
}

/// The line without numbers, addresses and CPUs.
fn without_numbers(line: &str) -> String {
    /// The shortest word of hexadecimal digits that is a number.
    const SHORTEST: usize = 4;
    let mut out = String::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let begins = !out.ends_with(|c: char| c.is_ascii_alphanumeric());
        let word = rest.split(|c: char| !c.is_ascii_alphanumeric()).next();
        let is_number = |word: &&str| {
            word.len() >= SHORTEST
                && word.bytes().all(|b| b.is_ascii_hexdigit())
                && word.bytes().any(|b| b.is_ascii_digit())
        };
        if let Some(word) = word.filter(|word| begins && is_number(word)) {
            out.push('N');
            rest = &rest[word.len()..];
            continue;
        }
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
