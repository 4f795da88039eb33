//! Names of targets in experiment files and options.

/// The only target whose machines start from memory images.
pub(crate) const EXACT: &str = "exact";
/// The targets other than `ssh:HOST`.
const TARGETS: &[&str] = &[EXACT, "live", "host"];

/// Why a text is not a valid target; `None` if it is.
pub(crate) fn why_invalid(target: &str) -> Option<&'static str> {
    match target.strip_prefix("ssh:") {
        Some(host)
            if host.is_empty() || host.starts_with('-') || host.contains(char::is_whitespace) =>
        {
            Some("ssh: needs a host")
        }
        Some(_) => None,
        None if TARGETS.contains(&target) => None,
        None => Some("no such target"),
    }
}

/// The valid targets, for messages.
pub(crate) fn valid() -> impl Iterator<Item = &'static str> + Clone {
    TARGETS.iter().copied().chain(["ssh:HOST"])
}

/// Whether the target starts virtual machines of assize, so that the experiment sets CPUs and
/// devices.
#[must_use]
pub fn is_virtual(target: &str) -> bool {
    matches!(target, EXACT | "live")
}
