//! What a run was made of: the kernel that booted, the modules that were
//! loaded, the programs and libraries that were mapped, the settings that were
//! in effect.
//!
//! A target says what its order asks for, the agent says what was there, in
//! the same words, so that the two can be compared.

use serde::{Deserialize, Serialize};

/// The most characters of a setting that are kept.
pub const SETTING_MAX: usize = 4096;

/// What a part of an identity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdentityKind {
    /// The kernel: its `release` and `version` as `uname` has them, its
    /// `build-id`, and the digest of the `image` that was booted.
    Kernel,
    /// The kernel's command line; its name is empty.
    CommandLine,
    /// The machine: `cpus` online, `memory_mib`.
    Machine,
    /// A kernel module by its name in the kernel: digest of the file it was
    /// loaded from.
    Module,
    /// A loaded kernel module by its name in the kernel: the build id that
    /// the kernel shows.
    ModuleBuildId,
    /// `MODULE.PARAMETER`: its value.
    Parameter,
    /// A sysctl: its value.
    Sysctl,
    /// A file that the set-up writes: what it holds afterwards.
    Setting,
    /// A file that a workload reads: its digest.
    File,
    /// A program that was executed, by its path: its digest.
    Program,
    /// A shared library that was mapped, by its path: its digest.
    Library,
    /// A Debian package by its name: its version, how many of its files were
    /// carried, and a digest of them.
    Package,
    /// `WORKLOAD NAME`: a variable of the environment of a workload.
    Environment,
    /// `WORKLOAD policy`, `priority`, `nice` and `cpus` of the first thread of
    /// a workload's process.
    Scheduling,
    /// What places tasks on CPUs: `ops`, what the kernel calls it, `object`, its
    /// digest, and each of its tunables. Nothing where the kernel's own
    /// scheduler does.
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

    /// What people call it: as it is written in records, with spaces.
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

/// One thing that a run was made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct IdentityPart {
    /// What it is.
    pub kind: IdentityKind,
    /// Which one; unique within its kind.
    pub name: String,
    /// What it was: a digest (blake3, hexadecimal) of bytes, or a value as
    /// text. None if it is there and cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

impl IdentityPart {
    /// A part with its value.
    #[must_use]
    pub fn new(kind: IdentityKind, name: impl Into<String>, value: impl Into<String>) -> Self {
        IdentityPart {
            kind,
            name: name.into(),
            value: Some(value.into()),
        }
    }

    /// A part that is there and cannot be read.
    #[must_use]
    pub fn unreadable(kind: IdentityKind, name: impl Into<String>) -> Self {
        IdentityPart {
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
        // The last in the order of the declaration is the last of the list.
        assert_eq!(IdentityKind::Policy as usize + 1, IdentityKind::ALL.len());
    }
}
