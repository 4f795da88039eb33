//! The order that a target receives.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{
    Action, IdentityKind, Interleaving, Job, MemoryImage, PlacementPolicy, RunIdentityPart,
};

/// The machine that a run requires. A target that is a real machine checks it but cannot
/// change it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The kernel: `debian:6.12`, `running`, or a name given to `assize kernel add`.
    pub kernel: String,
    /// Kernel parameters to add to the command line.
    pub command_line: Vec<String>,
    /// Number of CPUs.
    pub cpus: u32,
    /// Memory in MiB.
    pub memory_mib: u32,
    /// The graphics card of a virtual machine, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display: Option<Display>,
    /// The random choices for its memory image, if the target uses images.
    #[serde(default, skip_serializing_if = "MemoryImage::is_plain")]
    pub image: MemoryImage,
}

/// A graphics card of a virtual machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Display {
    /// QEMU's `bochs-display` on PCI: 16 MiB of prefetchable memory in BAR 0.
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
            image: MemoryImage::default(),
        }
    }
}

/// Files to carry to the target in addition to the agent. All runs of one experiment and
/// machine have the same payload, so that they start from the same memory image.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payload {
    /// Programs by name (found in PATH) or path, with everything they link.
    pub programs: Vec<String>,
    /// Files and directories on this host, with their absolute paths on the target.
    pub files: Vec<(PathBuf, String)>,
    /// Kernel modules, with everything they depend on: by name, or by the path of a `.ko`
    /// file that replaces the module of that name in every run.
    pub modules: Vec<String>,
    /// Paths of `.ko` files that steps of single levels load. Each has a separate
    /// directory on the target, so several may have the same name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub module_files: Vec<String>,
    /// Programs that workloads start with environment variables that affect which program
    /// or libraries are loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linked: Vec<LinkedProgram>,
    /// Debian packages installed on this host, with everything their files need.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<Package>,
    /// Steps that load modules by name, with which the set-up of every run begins. A virtual
    /// machine performs them before its job is known, so that their effect is part of its
    /// memory image, up to the first step that would load a module that some run loads in
    /// another way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<Action>,
    /// Names of modules that every set-up loads before any other kind of step, from files or
    /// with parameters. Their common dependencies that are not varied are loaded first as
    /// well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub always: Vec<String>,
    /// Names of modules to which other steps give parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub varied: Vec<String>,
    /// The placement policies of all levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<PlacementPolicy>,
}

impl Payload {
    /// The file in a virtual machine with the steps to perform before its job is known,
    /// as a JSON list of [`Action`].
    pub const FIRST: &str = "/etc/assize/first.json";
    /// The file in a virtual machine with the packages that it carries, as a JSON list of
    /// [`CarriedPackage`].
    pub const PACKAGES: &str = "/etc/assize/packages.json";
}

/// A Debian package.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Patterns with `*`: only files whose paths match one of them; all files if there are
    /// none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
}

/// The carried files of a package.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarriedPackage {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The absolute paths of its files on the target, sorted.
    pub files: Vec<String>,
}

impl CarriedPackage {
    /// Lists the files with their digests, one per line. Packages with equal lists are
    /// equal.
    pub fn digest_list(&self, mut digest: impl FnMut(&str) -> Option<String>) -> String {
        let line = |path: &String| {
            let digest = digest(path).unwrap_or_default();
            format!("{digest} {path}\n")
        };
        self.files.iter().map(line).collect()
    }

    /// Its identity part. `digest`: digest of the text from
    /// [`CarriedPackage::digest_list`].
    #[must_use]
    pub fn identity(&self, digest: &str) -> RunIdentityPart {
        let digest = digest.get(..16).unwrap_or(digest);
        let value = format!("{}, {} files, {digest}", self.version, self.files.len());
        RunIdentityPart::new(IdentityKind::Package, &self.name, value)
    }
}

/// A program with the environment variables that determine what is loaded.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkedProgram {
    /// The program, by name or path.
    pub program: String,
    /// The variables of [`LinkedProgram::VARIABLES`] that are set, in that order.
    pub environment: Vec<(String, String)>,
}

impl LinkedProgram {
    /// The environment variables that determine what is loaded.
    pub const VARIABLES: [&'static str; 3] = ["PATH", "LD_LIBRARY_PATH", "LD_PRELOAD"];

    /// A program started with this environment; of duplicates, the last counts.
    #[must_use]
    pub fn new(program: &str, environment: &[(String, String)]) -> LinkedProgram {
        let value = |name: &&str| {
            let mut given = environment.iter().rev();
            given.find(|(other, _)| other == name).cloned()
        };
        LinkedProgram {
            program: program.into(),
            environment: LinkedProgram::VARIABLES.iter().filter_map(value).collect(),
        }
    }

    /// The directories in a variable; none if it is not set.
    pub fn directories(&self, variable: &str) -> impl Iterator<Item = &str> {
        let value = self.environment.iter().find(|(name, _)| name == variable);
        let value = value.map_or("", |(_, value)| value.as_str());
        value.split(':').filter(|path| !path.is_empty())
    }
}

/// The path on the target for a relative path: below `/experiment`, with `up` for `..`.
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
    /// The machine to run on.
    pub machine: Machine,
    /// The files to carry there.
    pub payload: Payload,
    /// The job to run there.
    pub job: Job,
    /// How the CPUs take turns, if the target can control that.
    #[serde(default, skip_serializing_if = "Interleaving::is_plain")]
    pub interleaving: Interleaving,
}
