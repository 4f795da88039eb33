//! Wrong use is refused, and never looks like success.

use std::path::{Path, PathBuf};

use crate::common::{assize, errors};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The message for refused arguments.
fn refused(directory: &Path, arguments: &[&str]) -> String {
    let done = assize(directory, arguments);
    let said = errors(&done);
    assert_eq!(done.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(done.stdout.is_empty(), "{arguments:?}");
    said
}

const POST: &str = "demo/dep-queue.txt";

#[test]
fn what_fail_on_does_not_know_is_refused_with_what_it_knows() {
    for (word, near) in [
        ("lnt", "did you mean 'lint'?"),
        ("missing-cel", "did you mean 'missing-cell'?"),
        ("undecide", "did you mean 'undecided'?"),
        ("regression>2%", "valid: lint, undecided, worse>2%"),
        ("", "valid: lint, undecided, worse>2%"),
    ] {
        let said = refused(&root(), &["audit", POST, "--fail-on", word]);
        assert!(
            said.contains(near) && said.contains("docs/lints.md"),
            "{word}: {said}"
        );
    }
    // The same applies to every verb with the option, before anything is measured.
    for verb in ["run", "compare", "report"] {
        let said = refused(&root(), &[verb, "not-there", "--fail-on", "lnt"]);
        assert!(said.contains("did you mean 'lint'?"), "{verb}: {said}");
    }
    let lint = assize(&root(), &["audit", POST, "--fail-on", "lint"]);
    assert_eq!(lint.status.code(), Some(1));
}

#[test]
fn options_that_would_have_no_effect_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let empty = place.path().join("claims");
    std::fs::write(&empty, "# none yet\n\n").unwrap();
    let empty = empty.to_str().unwrap();
    for (arguments, said) in [
        (
            &["list", "experiments", "not-there"][..],
            "cannot read: not-there",
        ),
        (
            &["audit", POST, "--configuration", "zzzz=new"],
            "matches nothing in demo/dep-queue.txt",
        ),
        (
            &["audit", POST, "--workload", "zzzz=new"],
            "matches nothing in demo/dep-queue.txt",
        ),
        (&["audit", POST, "--claims", empty], "holds no claim"),
        (&["audit", POST, "--all", "--json"], "--all: applies only"),
        (
            &["audit", POST, "--all", "--format", "csv"],
            "--all: applies only",
        ),
        (
            &["audit", POST, "--explain", "--claim", "a < b on c"],
            "omit --explain or --claim",
        ),
        (
            &["audit", POST, "--explain", "--fail-on", "lint"],
            "omit --explain or --fail-on",
        ),
        (
            &["audit", POST, "--explain", "--out", "x.bundle"],
            "omit --explain or --out",
        ),
        (
            &["audit", POST, "--explain", "--json"],
            "omit --explain or --json",
        ),
        (
            &["audit", POST, "--claim", "irq < plain on nothing"],
            "no metric \"nothing\"",
        ),
        (
            &["audit", POST, "--primary", "nothing"],
            "no metric \"nothing\"",
        ),
        (
            &["audit", POST, "--higher-is-better", "nothing"],
            "no metric \"nothing\"",
        ),
        (
            &["audit", POST, "--baseline", "nothing"],
            "no configuration \"nothing\"",
        ),
    ] {
        let found = refused(&root(), arguments);
        assert!(found.contains(said), "{arguments:?}: {found}");
    }
    // Options that have an effect are accepted.
    for arguments in [
        &["audit", POST, "--workload", "glxgears=gears"][..],
        &["list", "experiments"],
    ] {
        let done = assize(&root(), arguments);
        assert_eq!(
            done.status.code(),
            Some(0),
            "{arguments:?}: {}",
            errors(&done)
        );
    }
    assert_eq!(
        assize(place.path(), &["list", "experiments"]).status.code(),
        Some(0)
    );
}

#[test]
fn what_cannot_be_written_is_a_failure() {
    let full = || {
        std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap()
    };
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["audit", "--help"],
        &["man"],
        &["list", "targets"],
        &["audit", POST],
        &["audit", POST, "--json"],
        &["audit", POST, "--explain"],
    ] {
        let mut command = crate::common::command(&root(), arguments);
        let done = command.stdout(full()).output().unwrap();
        let said = errors(&done);
        assert_eq!(done.status.code(), Some(3), "{arguments:?}: {said}");
        assert!(
            said.starts_with("assize: cannot write: standard output: "),
            "{said}"
        );
    }
    for format in ["text", "html", "json", "csv"] {
        let done = assize(
            &root(),
            &["audit", POST, "--format", format, "-o", "/dev/full"],
        );
        assert_eq!(done.status.code(), Some(3), "{format}: {}", errors(&done));
    }
}
