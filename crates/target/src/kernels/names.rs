//! Kernel names.

use super::kernel::Kernel;

/// A kernel that Debian packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DebianKernel {
    /// Its name in assize.
    pub name: &'static str,
    /// The Debian suite that has it.
    pub suite: &'static str,
    /// The package that depends on the newest image.
    pub package: &'static str,
    /// The series to which its images must belong; `None` if any series will do.
    pub series: Option<&'static str>,
    /// A description.
    pub about: &'static str,
}

/// Every kernel that `assize kernel fetch` knows. The archive decides which point release a
/// name gives.
pub const DEBIAN: &[DebianKernel] = &[
    DebianKernel {
        name: "debian:6.12",
        suite: "bookworm",
        package: "linux-image-6.12-amd64",
        series: None,
        about: "Linux 6.12 of Debian 12",
    },
    DebianKernel {
        name: "debian:6.12-rt",
        suite: "bookworm",
        package: "linux-image-6.12-rt-amd64",
        series: None,
        about: "Linux 6.12 of Debian 12 with PREEMPT_RT",
    },
    DebianKernel {
        name: "debian:6.1",
        suite: "bookworm",
        package: "linux-image-amd64",
        series: None,
        about: "Linux 6.1 of Debian 12",
    },
    DebianKernel {
        name: "debian:6.1-rt",
        suite: "bookworm",
        package: "linux-image-rt-amd64",
        series: None,
        about: "Linux 6.1 of Debian 12 with PREEMPT_RT",
    },
    DebianKernel {
        name: "debian:7",
        suite: "trixie-backports",
        package: "linux-image-amd64",
        series: Some("7"),
        about: "the newest Linux 7 of Debian 13's backports, with sched_ext",
    },
    DebianKernel {
        name: "debian:sid",
        suite: "sid",
        package: "linux-image-amd64",
        series: None,
        about: "the newest Linux of Debian, with sched_ext",
    },
];

impl DebianKernel {
    /// The suite with the tools that the kernel was built with.
    pub(super) fn base(&self) -> &'static str {
        self.suite.trim_end_matches("-backports")
    }

    /// Whether a package is an image of its series, and not of another flavour.
    pub(super) fn is_image(&self, package: &str) -> bool {
        let version = package
            .strip_prefix("linux-image-")
            .and_then(|rest| rest.strip_suffix("-amd64"));
        let of_series = |version: &str| match self.series {
            Some(series) => version
                .strip_prefix(series)
                .is_some_and(|rest| rest.starts_with('.')),
            None => true,
        };
        version.is_some_and(|version| !version.contains('-') && of_series(version))
    }
}

/// The suites to use together: a suite and its security updates. Backports are used alone,
/// because apt installs nothing from them by default.
pub(super) fn suites(suite: &str) -> Vec<String> {
    match suite == "sid" || suite.ends_with("-backports") {
        true => vec![suite.into()],
        false => vec![suite.into(), format!("{suite}-security")],
    }
}

/// The Debian kernel of this name.
pub(super) fn debian(name: &str) -> Option<&'static DebianKernel> {
    DEBIAN.iter().find(|kernel| kernel.name == name)
}

/// Whether `version`, as given by the user, means this kernel: the version of its package,
/// its release, or its release up to a `-`.
pub(super) fn is_version(kernel: &Kernel, version: &str) -> bool {
    kernel.version == version
        || kernel.release == version
        || kernel
            .release
            .strip_prefix(version)
            .is_some_and(|rest| rest.starts_with('-'))
}

/// The known name with the smallest edit distance, unless that is more than half of the name.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|candidate| (strsim::levenshtein(name, candidate), candidate))
        .filter(|(edits, candidate)| *edits <= candidate.len().max(name.len()) / 2)
        .min()
        .map(|(_, candidate)| candidate)
}

/// The directory for a kernel name.
pub(super) fn directory(name: &str) -> String {
    name.replace(':', "_")
}

/// Why a kernel cannot have this release, which is part of paths; `None` if it can.
pub(super) fn release_refused(release: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "+-._~".contains(c);
    let fine = !release.is_empty() && !release.starts_with('.') && release.chars().all(plain);
    (!fine).then(|| format!("its release is {release:?}, which cannot name a directory"))
}

/// Why the user cannot give a kernel this name; `None` if they can.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_means_its_images_and_no_other_flavour() {
        let seven = debian("debian:7").unwrap();
        for (name, is) in [
            ("linux-image-7.3.4+deb13-amd64", true),
            ("linux-image-7.10.1-amd64", true),
            ("linux-image-8.0.1+deb13-amd64", false),
            ("linux-image-70.1.2-amd64", false),
            ("linux-image-6.7.1+deb13-amd64", false),
            ("linux-image-7.3.4+deb13-rt-amd64", false),
            ("linux-image-7.3.4+deb13-cloud-amd64", false),
            ("linux-image-7.3.4+deb13-amd64-dbg", false),
            ("linux-image-7.3.4+deb13-arm64", false),
            ("linux-image-amd64", false),
        ] {
            assert_eq!(seven.is_image(name), is, "{name}");
        }
    }

    #[test]
    fn a_release_is_one_plain_word() {
        for fine in [
            "6.12.0",
            "6.12.117+deb12-rt-amd64",
            "7.0.0-rc1-00012-gabc_x~1",
        ] {
            assert_eq!(release_refused(fine), None, "{fine}");
        }
        for bad in [
            "",
            "..",
            "../x",
            "/etc",
            "6.12/../..",
            "6.12 x",
            "6.12\n",
            ".x",
        ] {
            assert!(release_refused(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn backports_are_looked_at_alone_and_built_with_what_their_suite_has() {
        let seven = debian("debian:7").unwrap();
        assert_eq!(suites(seven.suite), ["trixie-backports"]);
        assert_eq!(suites(seven.base()), ["trixie", "trixie-security"]);
        assert_eq!(suites(debian("debian:sid").unwrap().base()), ["sid"]);
    }
}
