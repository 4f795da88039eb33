//! Wrong use is refused, and never passes for success.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
#![allow(unreachable_pub)] // The module `common` is shared.

mod common;

use std::path::{Path, PathBuf};

use common::{assize, errors};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What is said when this is refused as wrong use.
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
        ("regression>2%", "(there are: lint, undecided, "),
        ("", "(there are: lint, undecided, "),
    ] {
        let said = refused(&root(), &["audit", POST, "--fail-on", word]);
        assert!(
            said.contains(near) && said.contains("unreached-code"),
            "{word}: {said}"
        );
    }
    // The same for every verb that has the option; nothing is measured first.
    for verb in ["run", "compare", "report"] {
        let said = refused(&root(), &[verb, "not-there", "--fail-on", "lnt"]);
        assert!(said.contains("did you mean 'lint'?"), "{verb}: {said}");
    }
    let lint = assize(&root(), &["audit", POST, "--fail-on", "lint"]);
    assert_eq!(lint.status.code(), Some(1));
}
