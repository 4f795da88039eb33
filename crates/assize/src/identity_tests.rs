use super::*;

fn one(kind: IdentityKind, name: &str, value: &str) -> RunIdentityPart {
    RunIdentityPart::new(kind, name, value)
}

/// The numbers of differences and of unclear settings.
fn counts(kind: IdentityKind, name: &str, wanted: &str, found: &str) -> (usize, usize) {
    let compared = compare(&[one(kind, name, wanted)], &[one(kind, name, found)], true);
    (compared.differences.len(), compared.unclear.len())
}

#[test]
fn values_are_compared_as_the_kernel_writes_them() {
    use IdentityKind::{CommandLine, Kernel, Parameter, Setting, Sysctl};
    const SAME: (usize, usize) = (0, 0);
    const OTHER: (usize, usize) = (1, 0);
    const UNCLEAR: (usize, usize) = (0, 1);
    let features = "/sys/kernel/debug/sched/features";
    for (kind, name, wanted, found, want) in [
        (Sysctl, "kernel.x", "1", "1", SAME),
        (Sysctl, "kernel.x", "0x10", "16", SAME),
        (Sysctl, "net.x", "1 2 3", "1\t2\t3", SAME),
        (Sysctl, "kernel.x", "100000", "65536", OTHER),
        (Sysctl, "kernel.x", "1", "Y", OTHER),
        (Parameter, "m.p", "1", "Y", SAME),
        (Parameter, "m.p", "on", "N", OTHER),
        (Parameter, "m.p", "7", "6", OTHER),
        (Setting, features, "NO_RUN", "NO_RUN WAKE", SAME),
        (Setting, features, "NO_RUN", "RUN WAKE", OTHER),
        (Setting, features, "RUN", "NO_RUN WAKE", OTHER),
        (Setting, features, "ODD", "RUN WAKE", UNCLEAR),
        (Setting, "/sys/block/x", "bfq", "none [bfq] kyber", SAME),
        (Setting, "/sys/block/x", "bfq", "[none] bfq kyber", OTHER),
        (Setting, "/sys/x", "full", "none (full)", SAME),
        (Setting, "/proc/x", "5", "3", OTHER),
        (Setting, "/proc/x", "reset all", "a table of words", UNCLEAR),
        (CommandLine, "", "quiet a=1", "built-in quiet a=1", SAME),
        (CommandLine, "", "quiet a=1", "quiet a=2", OTHER),
        (CommandLine, "", "quiet a=1", "quiet b a=1", OTHER),
        (Kernel, "release", "6.12", "6.1", OTHER),
        (Setting, "/sys/kernel/debug/kmemleak", "clear", "", UNCLEAR),
        (Setting, "/sys/x", "fast", "slow", OTHER),
        (Setting, "/tmp/x", "one", "", OTHER),
        (Setting, "/tmp/x", "one two", "one  two", SAME),
        (Setting, "/tmp/x", "one two", "one three", OTHER),
    ] {
        // A list may mark a word that it also contains unmarked.
        let found_counts = counts(kind, name, wanted, found);
        assert_eq!(found_counts, want, "{name}: {wanted} read as {found}");
    }
}

#[test]
fn what_is_missing_is_a_difference_and_what_cannot_be_read_is_unclear() {
    let wanted = one(IdentityKind::Module, "m", "abc");
    let missing = compare(std::slice::from_ref(&wanted), &[], true);
    let said = missing.differences[0].to_string();
    assert_eq!(said, "module m (abc) was missing");
    let hidden = RunIdentityPart::unreadable(IdentityKind::Parameter, "m.p");
    let wanted = one(IdentityKind::Parameter, "m.p", "1");
    let compared = compare(&[wanted], &[hidden], true);
    assert!(compared.differences.is_empty() && compared.unclear.len() == 1);
}

#[test]
fn libraries_count_only_where_mappings_are_known() {
    let wanted = [one(IdentityKind::Library, "/lib/x.so", "1")];
    assert_eq!(compare(&wanted, &[], true).differences.len(), 1);
    assert!(compare(&wanted, &[], false).differences.is_empty());
}
