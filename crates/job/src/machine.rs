//! What a target is given.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Action, IdentityKind, IdentityPart, Image, Job, PlacementPolicy};

/// The machine a run wants. Targets that are a real machine check it and
/// cannot change it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Which kernel: `debian:6.12`, `running`, or a name given to
    /// `assize kernel add`.
    pub kernel: String,
    /// Words added to the kernel's command line.
    pub command_line: Vec<String>,
    /// Number of CPUs.
    pub cpus: u32,
    /// Memory in MiB.
    pub memory_mib: u32,
    /// The graphics card that a machine of ours has, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display: Option<Display>,
    /// What was drawn for the memory image that it goes on from, where the
    /// target has such images.
    #[serde(default, skip_serializing_if = "Image::is_plain")]
    pub image: Image,
}

/// A graphics card of a machine of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Display {
    /// QEMU's `bochs-display` on PCI: 16 MiB of memory in BAR 0, which is
    /// prefetchable.
    Bochs,
}

impl Display {
    /// Its name in an experiment file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Display::Bochs => "bochs",
        }
    }
}

impl Default for Machine {
    fn default() -> Self {
        Machine {
            kernel: "debian:6.12".into(),
            command_line: Vec::new(),
            cpus: 1,
            memory_mib: 256,
            display: None,
            image: Image::default(),
        }
    }
}

/// What must be on the target beside the agent. All runs of one experiment
/// and machine carry the same payload, so that they start from the same
/// memory image.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payload {
    /// Programs by name (found in PATH) or path, with everything they link.
    pub programs: Vec<String>,
    /// File or directory here, and the absolute path it has there.
    pub files: Vec<(PathBuf, String)>,
    /// Kernel modules by name, or by path of a `.ko` file that stands for the
    /// name in every run, with everything they depend on.
    pub modules: Vec<String>,
    /// Paths of `.ko` files that steps of single levels load. Each lies at a
    /// place of its own there, beside others of the same name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub module_files: Vec<String>,
    /// Programs that workloads start with variables that decide which program
    /// or which libraries are loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linked: Vec<Linked>,
    /// Debian packages that are installed here, with what their files need.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<Package>,
    /// Steps that load modules by name and with which the set-up of every run
    /// begins. A machine of ours has them behind it before its job is known, so
    /// that they are part of its memory image, as far as they bring nothing
    /// along that single runs load in another way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<Action>,
    /// Names of modules that every run loads before it does anything else, be it
    /// from files or with parameters of its own. What all of them need that is
    /// not varied is loaded first as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub always: Vec<String>,
    /// Names of modules to which other steps give parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub varied: Vec<String>,
    /// Placement policies of all levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<PlacementPolicy>,
}

impl Payload {
    /// Where a machine of ours finds the steps that it begins with, as a JSON
    /// list of [`Action`].
    pub const FIRST: &str = "/etc/assize/first.json";
    /// Where it finds what it was given of packages, as a JSON list of
    /// [`CarriedPackage`].
    pub const PACKAGES: &str = "/etc/assize/packages.json";
}

/// A Debian package.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Only those of its files whose path matches one of these patterns with
    /// `*`; all, if there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
}

/// What was carried of a package.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarriedPackage {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The absolute paths of its files there, sorted.
    pub files: Vec<String>,
}

impl CarriedPackage {
    /// The files with what `digest` says of each, one a line: two packages with
    /// the same text are the same.
    pub fn listed(&self, mut digest: impl FnMut(&str) -> Option<String>) -> String {
        let line = |path: &String| {
            let digest = digest(path).unwrap_or_default();
            format!("{digest} {path}\n")
        };
        self.files.iter().map(line).collect()
    }

    /// What it is, as an identity says it. `digest` is that of the text that
    /// [`CarriedPackage::listed`] gives.
    #[must_use]
    pub fn identity(&self, digest: &str) -> IdentityPart {
        let digest = digest.get(..16).unwrap_or(digest);
        let value = format!("{}, {} files, {digest}", self.version, self.files.len());
        IdentityPart::new(IdentityKind::Package, &self.name, value)
    }
}

/// A program with the variables of its environment that decide what is loaded.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Linked {
    /// The program, by name or path.
    pub program: String,
    /// Those of [`Linked::VARIABLES`] that are set, in that order.
    pub environment: Vec<(String, String)>,
}

impl Linked {
    /// The variables in question.
    pub const VARIABLES: [&'static str; 3] = ["PATH", "LD_LIBRARY_PATH", "LD_PRELOAD"];

    /// A program that is started with this environment; what is given last
    /// counts.
    #[must_use]
    pub fn of(program: &str, environment: &[(String, String)]) -> Linked {
        let value = |name: &&str| {
            let mut given = environment.iter().rev();
            given.find(|(other, _)| other == name).cloned()
        };
        Linked {
            program: program.into(),
            environment: Linked::VARIABLES.iter().filter_map(value).collect(),
        }
    }

    /// The directories that a variable lists; none if it is not set.
    pub fn directories(&self, variable: &str) -> impl Iterator<Item = &str> {
        let value = self.environment.iter().find(|(name, _)| name == variable);
        let value = value.map_or("", |(_, value)| value.as_str());
        value.split(':').filter(|path| !path.is_empty())
    }
}

/// Where on the target something lies that is named by a relative path: below
/// `/experiment`, with `up` for `..`.
#[must_use]
pub fn below_experiment(path: &str) -> String {
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    let parts = parts.map(|part| if part == ".." { "up" } else { part });
    let parts: Vec<&str> = std::iter::once("/experiment").chain(parts).collect();
    parts.join("/")
}

/// One run, as a target sees it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The machine to have.
    pub machine: Machine,
    /// What to carry there.
    pub payload: Payload,
    /// What to do there.
    pub job: Job,
}
