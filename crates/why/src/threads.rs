//! Merged names of threads.

/// The `comm` of process 1, which is the agent, and of its children until they change it.
const INIT: &str = "init";

/// The merged name of a thread: workers of all pools are `kworkers`, and a CPU number
/// after a slash is removed. Process 1 is the agent; a child that has not set a name is
/// the workload.
#[must_use]
pub fn merged_name(name: &str, pid: i64) -> String {
    if name == INIT {
        return if pid == 1 { "agent" } else { "workload" }.into();
    }
    if name.starts_with("kworker/") {
        return "kworkers".into();
    }
    match name.rsplit_once('/') {
        Some((base, number))
            if !base.is_empty()
                && !number.is_empty()
                && number.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            base.into()
        }
        _ if name.is_empty() => "(no name)".into(),
        _ => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_and_cpus_are_merged_and_nothing_else() {
        for (name, together) in [
            ("kworker/0:1", "kworkers"),
            ("kworker/u8:3-events", "kworkers"),
            ("swapper/1", "swapper"),
            ("ksoftirqd/0", "ksoftirqd"),
            ("irq/9-acpi", "irq/9-acpi"),
            ("submit-3", "submit-3"),
            ("/7", "/7"),
            ("", "(no name)"),
        ] {
            assert_eq!(merged_name(name, 7), together);
        }
        assert_eq!(
            [1, 80].map(|pid| merged_name("init", pid)),
            ["agent", "workload"]
        );
    }
}
