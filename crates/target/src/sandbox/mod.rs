//! Runs builds of sources that somebody else wrote in a sandbox.
//!
//! `make` executes what it builds: a Makefile, a Kconfig file and each host program can run any
//! command. In the sandbox such a command sees the system's programs, the sources and its own
//! folder, and can write to that folder and to a private `/tmp`. It has no network, no home, no
//! other processes and no privileges, and it ends with the build. Paths are the same inside as
//! outside, so a build gives the same bytes with and without it.
//!
//! [`Limits`] bound the resources of a build; [`remains`] checks the files that it leaves.

mod limits;
mod namespaces;
pub(crate) mod remains;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::Error;
use crate::elf::ProgramHost;
use crate::fault::{failed, io, mend};
use crate::kernels::temporary_in;
pub(crate) use limits::{Limits, Watch};

/// Directories of the system, which hold programs and libraries. Those that exist are
/// visible.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/gnu/store",
    // How programs are found and configured; nothing else of /etc.
    "/etc/alternatives",
    "/etc/group",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/perl",
    "/etc/python3",
    "/etc/ssl/openssl.cnf",
];
/// Options of bwrap that do not depend on the build.
const BUBBLEWRAP: &[&str] = &[
    "--unshare-user",
    // Since 0.8; older versions of bwrap are not used.
    "--disable-userns",
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-uts",
    "--die-with-parent",
    // Without this, the build could type into the terminal.
    "--new-session",
    "--cap-drop",
    "ALL",
];

/// Time limit in seconds for a program in [`Sandbox::answer`].
const ANSWER_SECONDS: &str = "20";

/// How a build is isolated from the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sandbox {
    /// By bubblewrap: the path of `bwrap`.
    Bubblewrap(PathBuf),
    /// By namespaces that `unshare` and `mount` of util-linux set up: the path of `unshare`.
    Namespaces(PathBuf),
    /// Not at all, because the user trusts the sources.
    Off,
}

/// Why a build cannot be isolated, or which file it left that is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SandboxError {
    /// Neither kind of sandbox works on this machine.
    NotHere {
        /// Why bubblewrap does not work.
        bubblewrap: String,
        /// Why namespaces do not work.
        namespaces: String,
    },
    /// The build left a file or directory that is refused: its path, and why.
    Left(PathBuf, &'static str),
}

impl SandboxError {
    /// The error for what was attempted.
    pub(crate) fn into_error(self, what: &str) -> Error {
        match self {
            SandboxError::NotHere {
                bubblewrap,
                namespaces,
            } => mend(
                failed(
                    what,
                    format!(
                        "no sandbox for code that somebody else may have written: bubblewrap: \
                         {bubblewrap}; namespaces: {namespaces}"
                    ),
                ),
                "run `apt install bubblewrap` and allow user namespaces, or give --no-sandbox if \
                 you trust the sources",
            ),
            SandboxError::Left(path, kind) => mend(
                failed(what, format!("the build left {kind}: {}", path.display())),
                "nothing from this build is used; check what the sources do",
            ),
        }
    }
}

/// The files that a build sees and writes besides the system's programs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Folders {
    /// Files and directories that are read-only.
    pub(crate) readable: Vec<PathBuf>,
    /// The build's own folder, which is writable.
    pub(crate) writable: PathBuf,
}

/// A command that runs in a sandbox.
#[derive(Debug)]
pub(crate) struct Enclosed {
    pub(crate) command: Command,
    /// The directory that is its `/tmp`; `None` without a sandbox.
    pub(crate) scratch: Option<Scratch>,
}

/// A directory of a sandbox, removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Scratch(TempDir);

impl Scratch {
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remains::unlock(self.path());
    }
}

/// The directory below the scratch directory that is `/tmp` inside.
const TMP: &str = "tmp";
/// The directory below the scratch directory on which namespaces mount their root.
const ROOT: &str = "root";

impl Sandbox {
    /// The kind that works on this machine, bubblewrap first; each is tried once.
    ///
    /// # Errors
    /// Neither works; the error says what is missing, and how to build without a sandbox.
    pub fn find() -> Result<Sandbox, Error> {
        static FOUND: OnceLock<Result<Sandbox, SandboxError>> = OnceLock::new();
        let found = FOUND.get_or_init(|| {
            let host = ProgramHost::this();
            Sandbox::find_by(&|name| host.program(name))
        });
        found
            .clone()
            .map_err(|error| error.into_error("build in a sandbox"))
    }

    /// The kind that works with the programs that `program` finds.
    fn find_by(program: &dyn Fn(&str) -> Option<PathBuf>) -> Result<Sandbox, SandboxError> {
        let attempt = |name: &str, kind: fn(PathBuf) -> Sandbox| {
            let path = program(name);
            let sandbox = kind(path.ok_or_else(|| format!("{name} is not in PATH"))?);
            sandbox.works().map(|()| sandbox)
        };
        attempt("bwrap", Sandbox::Bubblewrap).or_else(|bubblewrap| {
            attempt("unshare", Sandbox::Namespaces).map_err(|namespaces| SandboxError::NotHere {
                bubblewrap,
                namespaces,
            })
        })
    }

    /// A description: `bubblewrap, /usr/bin/bwrap`.
    #[must_use]
    pub fn described(&self) -> String {
        match self {
            Sandbox::Bubblewrap(path) => format!("bubblewrap, {}", path.display()),
            Sandbox::Namespaces(path) => format!("namespaces, by {}", path.display()),
            Sandbox::Off => "none".into(),
        }
    }

    /// Fails unless a command can be run in it on this machine.
    fn works(&self) -> Result<(), String> {
        let place = tempfile::tempdir().map_err(|error| error.to_string())?;
        let writable = place.path().join("build");
        std::fs::create_dir(&writable).map_err(|error| error.to_string())?;
        let mut command = Command::new("sh");
        command.args(["-c", ": > file"]).env_clear();
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        let folders = Folders {
            writable: writable.clone(),
            ..Folders::default()
        };
        let enclosed = self.enclose(command, &writable, &folders, &Limits::default());
        let mut enclosed = enclosed.map_err(|error| error.to_string())?;
        let said = enclosed.command.current_dir(&writable).output();
        let said = said.map_err(|error| error.to_string())?;
        if said.status.success() && writable.join("file").is_file() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&said.stderr);
        let line = text.lines().find(|line| !line.trim().is_empty());
        Err(line.unwrap_or("a command in it fails").trim().to_owned())
    }

    /// Puts a command into the sandbox, to run in `directory`. Of its environment only variables
    /// that were set explicitly remain, without TMPDIR; HOME is `/tmp`.
    ///
    /// # Errors
    /// A directory cannot be created next to the writable folder.
    pub(crate) fn enclose(
        &self,
        command: Command,
        directory: &Path,
        folders: &Folders,
        limits: &Limits,
    ) -> Result<Enclosed, Error> {
        if *self == Sandbox::Off {
            return Ok(Enclosed {
                command,
                scratch: None,
            });
        }
        let beside = folders.writable.parent().unwrap_or(&folders.writable);
        let scratch = Scratch(temporary_in(beside)?);
        let (tmp, root) = (scratch.path().join(TMP), scratch.path().join(ROOT));
        for path in [&tmp, &root] {
            std::fs::create_dir(path).map_err(|error| io("create", path, &error))?;
        }
        let path = command.get_envs().find(|(name, _)| *name == "PATH");
        let path = path.and_then(|(_, value)| value).unwrap_or_default();
        let mounts = mounts(folders, &tmp, path);
        let mut wrapped = match self {
            Sandbox::Bubblewrap(program) => {
                let mut wrapped = Command::new(program);
                wrapped.args(BUBBLEWRAP).args(bubblewrap(&mounts));
                wrapped.arg("--chdir").arg(directory).arg("--");
                wrapped
            }
            Sandbox::Namespaces(program) => namespaces::command(program, &root, directory, &mounts),
            Sandbox::Off => Command::new("false"),
        };
        wrapped.args(limits.prefix());
        wrapped.arg(command.get_program()).args(command.get_args());
        wrapped.env_clear();
        for (name, value) in command.get_envs() {
            if let Some(value) = value.filter(|_| name != "TMPDIR") {
                wrapped.env(name, value);
            }
        }
        wrapped.env("HOME", "/tmp");
        Ok(Enclosed {
            command: wrapped,
            scratch: Some(scratch),
        })
    }
}

impl Sandbox {
    /// Whether a path is visible in it.
    pub(crate) fn shows(&self, path: &Path, folders: &Folders) -> bool {
        let given = folders.readable.iter().chain([&folders.writable]);
        let search = std::env::var_os("PATH").unwrap_or_default();
        *self == Sandbox::Off
            || SYSTEM.iter().any(|system| path.starts_with(system))
            || given
                .chain(&programs(&search))
                .any(|shown| path.starts_with(shown))
    }

    /// Returns the output of a command whose program a build has named. The build's folder is
    /// read-only, since it has been checked already.
    ///
    /// # Errors
    /// A directory cannot be created next to the folder.
    pub(crate) fn answer(&self, command: Command, folders: &Folders) -> Result<String, Error> {
        let text = |mut command: Command| {
            let said = command.output().map(|said| said.stdout);
            String::from_utf8_lossy(&said.unwrap_or_default()).into_owned()
        };
        if *self == Sandbox::Off {
            return Ok(text(command));
        }
        let beside = folders.writable.parent().unwrap_or(&folders.writable);
        let own = Scratch(temporary_in(beside)?);
        let writable = own.path().join("own");
        std::fs::create_dir(&writable).map_err(|error| io("create", &writable, &error))?;
        let mut readable = folders.readable.clone();
        readable.push(folders.writable.clone());
        let mut bounded = Command::new("timeout");
        bounded.arg(ANSWER_SECONDS).arg(command.get_program());
        bounded.args(command.get_args()).env("LC_ALL", "C");
        bounded.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let inside = Folders {
            readable,
            writable: writable.clone(),
        };
        let enclosed = self.enclose(bounded, &writable, &inside, &Limits::default())?;
        Ok(text(enclosed.command))
    }
}

/// An entry of the sandbox's file system.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Mount {
    /// A path that is visible with everything below it, read-only.
    Read(PathBuf),
    /// A path, and the path in the sandbox at which it is visible and writable.
    Write(PathBuf, PathBuf),
    /// A symbolic link: its target, and its path.
    Link(PathBuf, PathBuf),
}

/// All entries, in the order in which they are set up: outer directories first, writable ones last.
fn mounts(folders: &Folders, tmp: &Path, path: &OsStr) -> Vec<Mount> {
    let mut mounts = vec![
        Mount::Write(tmp.to_path_buf(), "/tmp".into()),
        Mount::Write(tmp.to_path_buf(), "/var/tmp".into()),
    ];
    for path in SYSTEM.iter().map(PathBuf::from) {
        match std::fs::read_link(&path) {
            Ok(text) => mounts.push(Mount::Link(text, path)),
            Err(_) if path.exists() => mounts.push(Mount::Read(path)),
            Err(_) => {}
        }
    }
    let mut readable: Vec<PathBuf> = programs(path);
    readable.extend(folders.readable.iter().cloned());
    let of_system = |path: &PathBuf| SYSTEM.iter().any(|system| path.starts_with(system));
    readable.retain(|path| path.exists() && !of_system(path));
    readable.sort();
    readable.dedup();
    mounts.extend(readable.into_iter().map(Mount::Read));
    let own = &folders.writable;
    mounts.push(Mount::Write(own.clone(), own.clone()));
    mounts
}

/// The directories of PATH, except the home directory and its parents.
fn programs(path: &OsStr) -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let whole = |path: &PathBuf| home.as_ref().is_some_and(|home| home.starts_with(path));
    let directories = std::env::split_paths(path);
    directories
        .filter(|path| path.is_absolute() && path.parent().is_some() && !whole(path))
        .collect()
}

/// The options of bwrap for these mounts.
fn bubblewrap(mounts: &[Mount]) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    let mut add = |option: &str, paths: &[&Path]| {
        words.push(option.into());
        words.extend(paths.iter().map(|path| path.as_os_str().to_owned()));
    };
    for mount in mounts {
        match mount {
            Mount::Read(path) => add("--ro-bind", &[path, path]),
            Mount::Write(from, to) => add("--bind", &[from, to]),
            Mount::Link(text, path) => add("--symlink", &[text, path]),
        }
    }
    for (option, path) in [("--proc", "/proc"), ("--dev", "/dev")] {
        add(option, &[Path::new(path)]);
    }
    for path in ["/proc", "/dev", "/"] {
        add("--remount-ro", &[Path::new(path)]);
    }
    words
}

#[cfg(test)]
pub(crate) mod tests;
