//! The body of a complaint: registers and traces.

use super::{Complaint, ComplaintKind, Phase};

/// Number of functions kept of a trace.
const FRAMES: usize = 4;
/// Maximum number of lines in a report.
const LINES: usize = 400;

/// Functions that print or raise a complaint, rather than cause it; among them those that check
/// what their caller gave them.
const PRINTING: [&str; 50] = [
    "__dump_stack",
    "dump_stack",
    "dump_stack_lvl",
    "show_stack",
    "print_report",
    "print_address_description",
    "kasan_report",
    "kasan_check_range",
    "__asan_load1",
    "__asan_load2",
    "__asan_load4",
    "__asan_load8",
    "__asan_store1",
    "__asan_store2",
    "__asan_store4",
    "__asan_store8",
    "__warn",
    "__warn_printk",
    "warn_slowpath_fmt",
    "report_bug",
    "handle_bug",
    "panic",
    "vpanic",
    "check_panic_on_warn",
    "die",
    "__die",
    "__die_body",
    "die_addr",
    "oops_end",
    "page_fault_oops",
    "kernelmode_fixup_or_oops",
    "do_user_addr_fault",
    "do_error_trap",
    "do_trap",
    "ubsan_epilogue",
    "__might_resched",
    "__might_sleep",
    "__schedule_bug",
    "print_circular_bug",
    "debug_show_all_locks",
    "refcount_warn_saturate",
    "__list_add_valid",
    "__list_add_valid_or_report",
    "__list_del_entry_valid",
    "__list_del_entry_valid_or_report",
    "debug_print_object",
    "__fortify_panic",
    "__fortify_report",
    "__stack_chk_fail",
    "usercopy_abort",
];
/// Name prefixes of functions that print or raise a complaint.
const PRINTING_BEGINNINGS: [&str; 7] = [
    "exc_",
    "asm_exc_",
    "asm_sysvec_",
    "sysvec_",
    "__ubsan_handle_",
    "kcsan_",
    "print_",
];

/// A complaint whose lines are still being read.
pub(super) struct PendingComplaint {
    complaint: Complaint,
    /// The place from the line of the faulting instruction.
    at: Option<String>,
    /// Whether an end line has been read.
    ended: bool,
    lines: usize,
}

impl PendingComplaint {
    pub(super) fn new(kind: ComplaintKind, line: &str) -> Self {
        let place = match kind {
            ComplaintKind::Warning => line.rsplit_once(" at ").and_then(|(_, at)| last_place(at)),
            ComplaintKind::Kasan | ComplaintKind::Kcsan | ComplaintKind::Kmsan => line
                .split_once(" in ")
                .and_then(|(_, rest)| first_place(rest)),
            _ => None,
        };
        PendingComplaint {
            complaint: Complaint {
                kind,
                phase: Phase::Window,
                line: line.to_owned(),
                place,
                frames: Vec::new(),
            },
            at: None,
            ended: false,
            lines: 0,
        }
    }

    /// Whether a line that could start a complaint of this kind continues the pending complaint
    /// instead: the oops after the line with its reason, a repetition of the oops, or the final
    /// panic.
    pub(super) fn takes(&self, kind: ComplaintKind) -> bool {
        let fatal = self.complaint.kind.is_fatal();
        match kind {
            ComplaintKind::Oops => fatal && !self.ended,
            ComplaintKind::Panic => true,
            _ => false,
        }
    }

    /// Reads a line of the body.
    pub(super) fn take(&mut self, line: &str) {
        self.lines += 1;
        if line.starts_with("---[ end trace") || self.lines > LINES {
            self.ended = true;
        }
        if self.ended {
            return;
        }
        let at = line
            .strip_prefix("RIP: ")
            .or_else(|| line.strip_prefix("pc : "));
        if let Some(at) = at {
            if self.at.is_none() {
                let at = at.split_once(':').map_or(at, |(_, rest)| rest);
                self.at = first_place(at).filter(|place| !is_printing(place));
            }
        } else if let Some(place) = frame(line)
            && self.complaint.frames.len() < FRAMES
            && !is_printing(&place)
        {
            self.complaint.frames.push(place);
        }
    }

    /// The finished complaint.
    pub(super) fn closed(self) -> Complaint {
        let mut complaint = self.complaint;
        let named = complaint.place.take().filter(|place| !is_printing(place));
        complaint.place = match complaint.kind {
            // No instruction is at fault, but a CPU, a task or a lock.
            ComplaintKind::RcuStall | ComplaintKind::Lockup => self.at,
            ComplaintKind::HungTask | ComplaintKind::Lockdep | ComplaintKind::Kcsan => named,
            _ => named.or(self.at),
        }
        .or_else(|| complaint.frames.first().cloned());
        complaint
    }
}

/// The function in a line of a trace, if the unwinder is sure of it.
fn frame(line: &str) -> Option<String> {
    let line = line.trim();
    let whole = first_place(line)?;
    let first = line.split_whitespace().next()?;
    first.contains("+0x").then_some(whole)
}

/// Parses `function+offset [module]` at the beginning of a text, dropping the function's size.
fn first_place(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    let first = words.next()?;
    let (place, _size) = first.split_once('/').unwrap_or((first, ""));
    let (function, offset) = place.split_once("+0x").unwrap_or((place, ""));
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    let is_hex = |c: char| c.is_ascii_hexdigit();
    if function.is_empty() || !function.chars().all(is_name) || !offset.chars().all(is_hex) {
        return None;
    }
    if function.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let module = words.next().filter(|word| word.starts_with('['));
    // The module's build ID may follow its name.
    let module = module.map(|word| word.trim_matches(|c| matches!(c, '[' | ']' | ',')));
    Some(match module {
        Some(module) => format!("{place} [{module}]"),
        None => place.to_owned(),
    })
}

/// Parses the place at the end of `FILE:LINE function+offset/size [module]`.
fn last_place(text: &str) -> Option<String> {
    let at = text.find("+0x")?;
    let begin = text[..at].rfind(' ').map_or(0, |blank| blank + 1);
    first_place(&text[begin..])
}

/// Whether a function only prints or raises a complaint.
fn is_printing(place: &str) -> bool {
    let name = place.split('+').next().unwrap_or(place);
    let name = name.split('.').next().unwrap_or(name);
    PRINTING.contains(&name)
        || PRINTING_BEGINNINGS
            .iter()
            .any(|beginning| name.starts_with(beginning))
}
