//! Attaches a placement policy, checks that it stays attached, and finds in the kernel's
//! log why it was ejected.
//!
//! A process holds the policy: the kernel detaches it when that process ends. The process
//! dies with the agent, so that no policy outlives a run.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

use assize_job::{IdentityKind, PlacementPolicy, PolicyForm, Scheduling};

use super::command::CommandContext;
use crate::process::{Body, Child, ProcessExit, program};
use crate::sys;

const ROOT: &str = "/sys/kernel/sched_ext";
const ENABLED: &str = "enabled";
/// Line that the attaching program prints once the policy is in effect.
const ATTACHED: &str = "attached";
/// Polling interval while waiting for that line.
const LOOK_NS: u64 = 1_000_000;
/// How long to wait for the kernel to log why it ejected a policy.
const EXIT_NS: u64 = 1_000_000_000;
/// Maximum number of log lines quoted in a failure.
const LINES: usize = 4;

/// An attached policy.
#[derive(Debug)]
pub(crate) struct AttachedPolicy {
    child: Child,
    /// The state of sched_ext right after attaching.
    seen: SchedExtState,
    log: PolicyLog,
    /// Tunables that the attaching program has read back.
    tunables: Vec<(String, String)>,
    object: Option<String>,
}

/// The state of sched_ext.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SchedExtState {
    state: String,
    ops: String,
    /// Incremented each time a policy is enabled.
    serial: String,
}

impl SchedExtState {
    fn now() -> SchedExtState {
        let read = |name: &str| {
            let text = fs::read_to_string(format!("{ROOT}/{name}")).unwrap_or_default();
            text.trim().to_string()
        };
        SchedExtState {
            state: read("state"),
            ops: read("root/ops"),
            serial: read("enable_seq"),
        }
    }

    /// Whether a policy is in effect that was not in effect `before`. The kernel reports
    /// a policy as enabled slightly before it has finished enabling it and increments the
    /// counter.
    fn is_new(&self, before: &SchedExtState) -> bool {
        self.state == ENABLED && (self.serial.is_empty() || self.serial != before.serial)
    }
}

/// The name of the policy in effect, if any.
pub(crate) fn active_policy() -> Option<String> {
    let seen = SchedExtState::now();
    (seen.state == ENABLED).then_some(seen.ops)
}

/// Attaches a policy, and waits until it is in effect.
pub(crate) fn attach(
    policy: &PlacementPolicy,
    with: &CommandContext<'_>,
) -> Result<AttachedPolicy, String> {
    if !fs::exists(ROOT).unwrap_or(false) {
        return Err(format!("this kernel has no sched_ext: there is no {ROOT}"));
    }
    if let Some(other) = active_policy() {
        return Err(format!("the policy '{other}' is attached already; stop it"));
    }
    let before = SchedExtState::now();
    let log = PolicyLog::open();
    let body = Body::Exec(program(&policy.argv, with.seed)?);
    let mut child = Child::start(body, &Scheduling::default(), with.guest)
        .map_err(sys::failure_of("new process"))?;
    let mut started = child.wait_ready(&with.limits);
    if started.is_ok() {
        child.release();
        started = wait(&mut child, policy, &before, with);
    }
    let seen = SchedExtState::now();
    if let (Ok(()), Some(wanted)) = (&started, policy.ops())
        && seen.ops != wanted
    {
        let ops = &seen.ops;
        started = Err(format!(
            "the kernel reports '{ops}' as attached, not '{wanted}'"
        ));
    }
    if let Err(why) = started {
        child.kill();
        let left = child.reap().map_err(|error| sys::error_text(&error))?;
        let messages = log.new_messages();
        return Err(with_reasons(&why_not(why, &left), &messages));
    }
    let is_object = matches!(policy.form, PolicyForm::Ours | PolicyForm::Object);
    Ok(AttachedPolicy {
        tunables: settings(&child.stdout_so_far()),
        object: is_object.then(|| policy.argv.get(1).cloned()).flatten(),
        child,
        seen,
        log,
    })
}

/// Waits until the policy is in effect. An empty error means that the attaching program
/// has ended.
fn wait(
    child: &mut Child,
    policy: &PlacementPolicy,
    before: &SchedExtState,
    with: &CommandContext<'_>,
) -> Result<(), String> {
    let deadline = with.limits.deadline();
    // Third-party programs do not report when they are done.
    let reports = policy.form != PolicyForm::Program;
    loop {
        if child.ends_until(sys::now() + LOOK_NS, &with.limits)? {
            return Err(String::new());
        }
        let attached = !reports || child.stdout_so_far().lines().any(|line| line == ATTACHED);
        if attached && SchedExtState::now().is_new(before) {
            return Ok(());
        }
        if deadline.is_some_and(|deadline| sys::now() >= deadline) {
            let ms = with.limits.timeout_ms;
            return Err(format!("it was not attached after {ms} ms"));
        }
    }
}

impl AttachedPolicy {
    /// Checks that this policy is still in effect. The error gives the kernel's reason.
    pub(crate) fn check(&self) -> Result<(), String> {
        let now = SchedExtState::now();
        if now == self.seen && !self.child.has_ended() {
            return Ok(());
        }
        // The kernel logs the reason shortly after it ejects a policy.
        let deadline = sys::now() + EXIT_NS;
        let mut messages = self.log.new_messages();
        while messages.is_empty() && sys::now() < deadline {
            sys::sleep_until(sys::now() + LOOK_NS);
            messages = self.log.new_messages();
        }
        let what = match now.state.as_str() {
            ENABLED if now.ops != self.seen.ops => format!("'{}' decides now", now.ops),
            ENABLED if now.serial != self.seen.serial => "it was attached again".into(),
            ENABLED => "the process that attached it has ended".into(),
            state => format!("it is {state}"),
        };
        Err(with_reasons(&what, &messages))
    }

    /// Name and tunables of the policy, as parts of the identity of a run.
    pub(crate) fn parts(&self) -> Vec<(IdentityKind, String, Option<String>)> {
        let part = |name: &str, value: &str| {
            (
                IdentityKind::Policy,
                name.to_string(),
                Some(value.to_string()),
            )
        };
        let tunables = self.tunables.iter();
        let tunables = tunables.map(|(name, value)| part(name, value));
        std::iter::once(part("ops", &self.seen.ops))
            .chain(tunables)
            .collect()
    }

    /// The BPF object file, if the policy is one.
    pub(crate) fn object(&self) -> Option<&str> {
        self.object.as_deref()
    }

    /// Ends the process that holds the policy. Once the process is gone, the kernel
    /// has detached the policy.
    pub(crate) fn detach(self) {
        self.child.kill();
        // How the process ended does not matter: it was killed.
        let _ = self.child.reap();
    }
}

/// Why a policy was not attached, from the output of the program.
fn why_not(why: String, left: &ProcessExit) -> String {
    if !why.is_empty() {
        return why;
    }
    let lines = load_failure_lines(&left.stderr_text());
    match left.why_failed(&[]) {
        Some(how) if lines.is_empty() => how,
        _ => lines,
    }
}

/// The last lines that explain why a policy could not be loaded. Leaves out the
/// verifier's statistics, the long explanations that newer kernels add to a one-line
/// error, and libbpf's consequential errors.
fn load_failure_lines(stderr: &str) -> String {
    let is_noise = |line: &&str| {
        let starts = [
            "processed ",
            "-- END",
            "-- BEGIN",
            "libbpf: failed to load",
            "verification time",
            "stack depth",
        ];
        line.is_empty() || starts.iter().any(|start| line.starts_with(start))
    };
    let mut explains = false;
    let is_told = |line: &&str| {
        let explained = explains && !line.starts_with("libbpf: ");
        explains = explained || line.starts_with("Verification failed: ");
        !explained && !is_noise(line)
    };
    let stderr = without_colours(stderr);
    let lines = stderr.lines().map(str::trim);
    let lines: Vec<&str> = lines.filter(is_told).collect();
    lines[lines.len().saturating_sub(LINES)..].join("; ")
}

/// Removes escape sequences for colours: some programs write them even to a pipe.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default();
    let rest = parts.map(|part| {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ';');
        match end.map(|end| part.split_at(end)) {
            Some((_, rest)) if rest.starts_with('m') => &rest[1..],
            _ => part,
        }
    });
    std::iter::once(first).chain(rest).collect()
}

fn with_reasons(what: &str, reasons: &[String]) -> String {
    match reasons {
        [] => what.to_string(),
        reasons => format!("{what}: {}", reasons.join("; ")),
    }
}

/// Parses the lines `set NAME VALUE`.
fn settings(stdout: &str) -> Vec<(String, String)> {
    let lines = stdout.lines().filter_map(|line| line.strip_prefix("set "));
    let pairs = lines.filter_map(|line| line.split_once(' '));
    pairs
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect()
}

/// The kernel's log from now on.
#[derive(Debug)]
struct PolicyLog(Option<File>);

impl PolicyLog {
    fn open() -> PolicyLog {
        let open = || {
            let mut file = OpenOptions::new()
                .read(true)
                .custom_flags(libc::O_NONBLOCK)
                .open("/dev/kmsg")?;
            file.seek(SeekFrom::End(0))?;
            std::io::Result::Ok(file)
        };
        // Without the log, failures give less detail.
        PolicyLog(open().ok())
    }

    /// The messages about policies since the last call, at most [`LINES`].
    fn new_messages(&self) -> Vec<String> {
        let Some(mut file) = self.0.as_ref() else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        let mut buffer = [0; 8192];
        loop {
            match file.read(&mut buffer) {
                Ok(count @ 1..) => {
                    let text = String::from_utf8_lossy(&buffer[..count]);
                    lines.extend(policy_message(&text).map(str::to_string));
                }
                // Messages were overwritten before they were read.
                Err(error) if error.raw_os_error() == Some(libc::EPIPE) => {}
                _ => break,
            }
        }
        lines.truncate(LINES);
        lines
    }
}

/// The message of a log record, if it is about a policy and not just that one was
/// enabled.
fn policy_message(record: &str) -> Option<&str> {
    let (_, text) = record.split_once(';')?;
    let line = text.lines().next()?.strip_prefix("sched_ext: ")?;
    (!line.ends_with(" enabled")).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_decides_once_the_kernel_has_counted_it() {
        let seen = |state: &str, serial: &str| SchedExtState {
            state: state.into(),
            ops: "x".into(),
            serial: serial.into(),
        };
        let before = seen("disabled", "4");
        assert!(!seen("enabling", "4").is_new(&before));
        assert!(!seen("enabled", "4").is_new(&before));
        assert!(seen("enabled", "5").is_new(&before));
        // A kernel without the counter.
        assert!(seen("enabled", "").is_new(&seen("disabled", "")));
    }

    #[test]
    fn a_failure_repeats_no_colours() {
        let stderr = "00:05 \x1b[0m\x1b[1;34m[INFO] \x1b[0mflags: 0x36\nError: x\x1b[2Jy\x1b[\n";
        assert_eq!(
            load_failure_lines(stderr),
            "00:05 [INFO] flags: 0x36; Error: x2Jy"
        );
    }

    #[test]
    fn of_the_kernels_log_only_the_end_of_a_policy_is_taken() {
        let lines = [
            "6,1,2,-;sched_ext: BPF scheduler \"x\" enabled\n",
            "3,1,2,-;sched_ext: BPF scheduler \"x\" disabled (runtime error)\n SUBSYSTEM=y\n",
            "3,1,2,-;usb 1-1: sched_ext: no\n",
            "nonsense",
        ];
        let lines: Vec<&str> = lines
            .iter()
            .filter_map(|line| policy_message(line))
            .collect();
        assert_eq!(lines, ["BPF scheduler \"x\" disabled (runtime error)"]);
    }

    #[test]
    fn of_what_the_verifier_says_the_reason_is_kept() {
        let stderr = "libbpf: prog 'e': BPF program load failed: Permission denied\n\
            libbpf: prog 'e': -- BEGIN PROG LOAD LOG --\n0: R1=ctx()\n4: (79) r3 = *(u64 *)(r0 +0)\n\
            R0 invalid mem access 'map_value_or_null'\n\
            processed 10 insns (limit 1000000) max_states_per_insn 0\n-- END PROG LOAD LOG --\n\
            libbpf: failed to load object 'policy'\nx.bpf.o: the kernel does not load it\n";
        let lines = load_failure_lines(stderr);
        assert!(
            lines.contains("R0 invalid mem access 'map_value_or_null'"),
            "{lines}"
        );
        assert!(!lines.contains("processed"), "{lines}");
        assert_eq!(load_failure_lines(""), "");
    }

    #[test]
    fn what_newer_verifiers_explain_hides_no_reason() {
        let stderr = "libbpf: prog 'e': -- BEGIN PROG LOAD LOG --\n8: (79) r3 = *(u64 *)(r0 +0)\n\
            R0 invalid mem access 'map_value_or_null'\n\
            Verification failed: Register Type Safety: Invalid dereference\nReason:\n\
            R0 may be NULL here.\nAt:\n  e @ x.bpf.c:21:40\nSuggestion:\n  Add a NULL check.\n\
            processed 10 insns (limit 1000000)\n-- END PROG LOAD LOG --\n\
            libbpf: prog 'e': failed to load: -13\nlibbpf: failed to load object 'policy'\n\
            x.bpf.o: the kernel does not load it\n";
        assert_eq!(
            load_failure_lines(stderr),
            "R0 invalid mem access 'map_value_or_null'; \
             Verification failed: Register Type Safety: Invalid dereference; \
             libbpf: prog 'e': failed to load: -13; x.bpf.o: the kernel does not load it"
        );
    }

    #[test]
    fn settings_are_those_that_were_read_back() {
        let lines = "set fill 700\nset slice 4000000\nattached\nset\n";
        let wanted = [("fill", "700"), ("slice", "4000000")];
        let wanted = wanted.map(|(name, value)| (name.to_string(), value.to_string()));
        assert_eq!(settings(lines), wanted);
    }

    #[test]
    fn reasons_follow_what_has_happened() {
        let lines = ["a".to_string(), "b".to_string()];
        assert_eq!(
            with_reasons("it is disabled", &lines),
            "it is disabled: a; b"
        );
        assert_eq!(with_reasons("x", &[]), "x");
    }
}
