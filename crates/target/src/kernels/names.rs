//! Names of kernels.

use super::Kernel;

/// A kernel that Debian packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DebianKernel {
    /// Its name here.
    pub name: &'static str,
    /// The release of Debian whose archive has it.
    pub suite: &'static str,
    /// The package that depends on the newest image.
    pub package: &'static str,
    /// What it is.
    pub about: &'static str,
}

/// Every kernel that `assize kernel fetch` knows. Which point release a name
/// stands for is the archive's affair.
pub const DEBIAN: &[DebianKernel] = &[
    DebianKernel {
        name: "debian:6.12",
        suite: "bookworm",
        package: "linux-image-6.12-amd64",
        about: "Linux 6.12 of Debian 12",
    },
    DebianKernel {
        name: "debian:6.12-rt",
        suite: "bookworm",
        package: "linux-image-6.12-rt-amd64",
        about: "Linux 6.12 of Debian 12 with PREEMPT_RT",
    },
    DebianKernel {
        name: "debian:6.1",
        suite: "bookworm",
        package: "linux-image-amd64",
        about: "Linux 6.1 of Debian 12",
    },
    DebianKernel {
        name: "debian:6.1-rt",
        suite: "bookworm",
        package: "linux-image-rt-amd64",
        about: "Linux 6.1 of Debian 12 with PREEMPT_RT",
    },
    DebianKernel {
        name: "debian:sid",
        suite: "sid",
        package: "linux-image-amd64",
        about: "the newest Linux of Debian, with sched_ext",
    },
];

/// The Debian kernel of that name.
pub(super) fn debian(name: &str) -> Option<&'static DebianKernel> {
    DEBIAN.iter().find(|kernel| kernel.name == name)
}

/// Whether `version`, as somebody wrote it, means this kernel: the version of
/// its package, its release, or its release up to a `-`.
pub(super) fn is_version(kernel: &Kernel, version: &str) -> bool {
    kernel.version == version
        || kernel.release == version
        || kernel
            .release
            .strip_prefix(version)
            .is_some_and(|rest| rest.starts_with('-'))
}

/// The known name that takes the fewest edits, if it takes few.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|candidate| (edits(name, candidate), candidate))
        .filter(|(edits, candidate)| *edits <= candidate.len().max(name.len()) / 2)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

/// The directory for a name.
pub(super) fn directory(name: &str) -> String {
    name.replace(':', "_")
}

/// Why a name cannot be given to a kernel, if so.
pub(super) fn refused(name: &str) -> Option<String> {
    if name == "running" || name.starts_with("debian") {
        return Some("this name is taken".into());
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
    if name.is_empty() || name.starts_with(['.', '-']) || !name.chars().all(plain) {
        return Some("a name is made of letters, digits, '+', '-', '.' and '_'".into());
    }
    None
}
