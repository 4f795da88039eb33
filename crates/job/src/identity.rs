//! The identity of a run: the kernel that booted, the modules that were loaded, the
//! programs and libraries that were mapped, the settings that were in effect.
//!
//! A target states what its order requires, and the agent reports what it found, in the
//! same form, so that the two can be compared.

use serde::{Deserialize, Serialize};

/// Maximum length of a stored setting, in characters.
pub const SETTING_MAX: usize = 4096;

/// The kind of an identity part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdentityKind {
    /// The kernel: `release` and `version` as in `uname`, its `build-id`, and the digest of
    /// the `image` that was booted.
    Kernel,
    /// The kernel's command line; its name is empty.
    CommandLine,
    /// The machine: `cpus` online and `memory_mib`.
    Machine,
    /// A kernel module, by its name in the kernel: the digest of the file it was loaded
    /// from.
    Module,
    /// A loaded kernel module, by its name in the kernel: the build id that the kernel
    /// reports.
    ModuleBuildId,
    /// `MODULE.PARAMETER`: the value.
    Parameter,
    /// A sysctl: the value.
    Sysctl,
    /// A file that the set-up writes: its contents afterwards.
    Setting,
    /// A file that a workload reads: its digest.
    File,
    /// A program that was executed, by its path: its digest.
    Program,
    /// A shared library that was mapped, by its path: its digest.
    Library,
    /// A Debian package, by name: its version, the number of its files that were carried,
    /// and a digest of them.
    Package,
    /// `WORKLOAD NAME`: an environment variable of a workload.
    Environment,
    /// `WORKLOAD policy`, `priority`, `nice` and `cpus` of the first thread of a workload's
    /// process.
    Scheduling,
    /// The placement policy: its name in the kernel (`ops`), the digest of its `object`,
    /// and each of its tunables. Absent if the kernel's own scheduler places tasks.
    Policy,
}

impl IdentityKind {
    /// Every kind.
    pub const ALL: [IdentityKind; 15] = [
        IdentityKind::Kernel,
        IdentityKind::CommandLine,
        IdentityKind::Machine,
        IdentityKind::Module,
        IdentityKind::ModuleBuildId,
        IdentityKind::Parameter,
        IdentityKind::Sysctl,
        IdentityKind::Setting,
        IdentityKind::File,
        IdentityKind::Program,
        IdentityKind::Library,
        IdentityKind::Package,
        IdentityKind::Environment,
        IdentityKind::Scheduling,
        IdentityKind::Policy,
    ];

    /// Its name in messages: as in records, with spaces.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            IdentityKind::Kernel => "kernel",
            IdentityKind::CommandLine => "command line",
            IdentityKind::Machine => "machine",
            IdentityKind::Module => "module",
            IdentityKind::ModuleBuildId => "module build id",
            IdentityKind::Parameter => "parameter",
            IdentityKind::Sysctl => "sysctl",
            IdentityKind::Setting => "setting",
            IdentityKind::File => "file",
            IdentityKind::Program => "program",
            IdentityKind::Library => "library",
            IdentityKind::Package => "package",
            IdentityKind::Environment => "environment",
            IdentityKind::Scheduling => "scheduling",
            IdentityKind::Policy => "policy",
        }
    }

    /// Whether its values are digests of bytes.
    #[must_use]
    pub fn is_digest(self) -> bool {
        matches!(
            self,
            IdentityKind::Module
                | IdentityKind::ModuleBuildId
                | IdentityKind::File
                | IdentityKind::Program
                | IdentityKind::Library
        )
    }
}

/// One part of a run's identity.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunIdentityPart {
    /// Its kind.
    pub kind: IdentityKind,
    /// Its name, unique within its kind.
    pub name: String,
    /// A BLAKE3 digest in hexadecimal, or a value as text. `None` if the part exists but
    /// cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

impl RunIdentityPart {
    /// A part with its value.
    #[must_use]
    pub fn new(kind: IdentityKind, name: impl Into<String>, value: impl Into<String>) -> Self {
        RunIdentityPart {
            kind,
            name: name.into(),
            value: Some(value.into()),
        }
    }

    /// A part that exists but cannot be read.
    #[must_use]
    pub fn unreadable(kind: IdentityKind, name: impl Into<String>) -> Self {
        RunIdentityPart {
            kind,
            name: name.into(),
            value: None,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_listed_once_and_has_a_noun_of_its_own() {
        for kind in IdentityKind::ALL {
            let written = serde_json::to_value(kind).unwrap();
            assert_eq!(written, kind.noun().replace(' ', "-"));
        }
        assert!(IdentityKind::ALL.windows(2).all(|pair| pair[0] < pair[1]));
        // The last variant is the last one of the list.
        assert_eq!(IdentityKind::Policy as usize + 1, IdentityKind::ALL.len());
    }
}
