//! What commands of this machine need on the exact machine, which has no files of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use assize_report::printable;

use crate::cli::{CommandTarget, CommandsArguments};
use crate::failure::Failure;

use super::file::{CommandsExperiment, ComparedCommand, list, quoted};
use super::kind::is_program_file;
use super::traced::{self, UsedFiles};

/// Directories of the kernel, and files that the machine has.
const OWN: [&str; 5] = ["/dev", "/proc", "/sys", "/etc/passwd", "/etc/group"];
/// The largest sum of all files. The machine has 1 GiB, and twice holds what it carries.
const MOST: u64 = 256 << 20;
/// Where the words of a command begin, behind the shell that changes the directory.
const COMMAND: usize = 4;
/// The number of files in a directory that are listed by name.
const NAMED: usize = 6;

/// Files and programs of this machine, with the same paths on the exact machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CommandFiles {
    /// By name or path.
    programs: BTreeSet<String>,
    /// Files by size; directories in which all is carried are among them.
    files: BTreeMap<String, u64>,
    /// Directories of which nothing else is carried.
    directories: BTreeSet<String>,
}

/// The current directory.
pub(super) fn here() -> Result<PathBuf, String> {
    std::env::current_dir().map_err(|error| format!("the current directory: {error}"))
}

/// The variables of the commands, as --env names them. The exact machine also gets those that
/// decide where programs are found.
pub(super) fn environment(asked: &CommandsArguments) -> Result<Vec<(String, String)>, String> {
    let value = |name: &str| std::env::var(name);
    let mut set = BTreeMap::new();
    if asked.target == CommandTarget::Exact {
        let usual = ["PATH", "HOME"].into_iter();
        set.extend(usual.filter_map(|name| Some((name.to_owned(), value(name).ok()?))));
    }
    for text in &asked.environment {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, value.to_owned()),
            None => (
                text.as_str(),
                value(text).map_err(|_| {
                    format!("--env {text}: it is not set here; give its value: --env {text}=VALUE")
                })?,
            ),
        };
        set.insert(name.to_owned(), value);
    }
    Ok(set.into_iter().collect())
}

impl CommandFiles {
    /// Finds what these commands need: what --with names and, unless --no-trace is given, what one
    /// run of each uses.
    pub(super) fn needed(
        experiment: &CommandsExperiment,
        asked: &CommandsArguments,
    ) -> Result<CommandFiles, Failure> {
        refuse_others(asked)?;
        let directory = here().map_err(Failure::Argument)?;
        let mut carried = CommandFiles::default();
        carried.directories.insert(text(&directory)?);
        for path in asked.with.iter().chain(&asked.input) {
            carried.named(&std::path::absolute(path).unwrap_or(path.clone()))?;
        }
        let traces = !asked.no_trace && has_strace();
        if !asked.no_trace && !traces && !asked.quiet {
            eprintln!(
                "strace is not installed, so only programs and what --with names are carried"
            );
        }
        for argv in experiment.commands.iter().flat_map(ComparedCommand::steps) {
            match traces {
                true => {
                    let set = experiment.environment();
                    let used = trace(argv, set, &directory, asked.ignore_failure)?;
                    carried.used(&used)?;
                }
                false => carried.programs.extend(own_program(argv, &directory)),
            }
        }
        carried.prune();
        match carried.files.values().sum::<u64>() {
            size if size > MOST => Err(carried.too_large(size)),
            _ => Ok(carried),
        }
    }

    /// Adds what --with names.
    fn named(&mut self, path: &Path) -> Result<(), Failure> {
        let read = |source| Failure::Read {
            path: path.to_owned(),
            source,
        };
        let data = fs::metadata(path).map_err(read)?;
        match is_program_file(path, &data) {
            true => _ = self.programs.insert(text(path)?),
            false => _ = self.files.insert(text(path)?, size(path).map_err(read)?),
        }
        Ok(())
    }

    /// Adds what a run used, as far as it still exists. A directory that it listed has the same
    /// names on the exact machine.
    fn used(&mut self, used: &UsedFiles) -> Result<(), Failure> {
        for program in &used.programs {
            if program.is_file() && !used.is_new(program) {
                self.programs.insert(text(program)?);
            }
        }
        let mut others = used.others.clone();
        for directory in &used.listed {
            let entries = fs::read_dir(directory).into_iter().flatten().flatten();
            others.extend(entries.map(|entry| entry.path()).filter(|path| {
                // A link to a directory would be followed to all that is in it.
                let leads_to_all = path.is_symlink() && path.is_dir();
                !used.is_new(path) && !leads_to_all
            }));
        }
        for path in others {
            let Ok(data) = fs::metadata(&path) else {
                continue;
            };
            let is_own = OWN.iter().any(|own| path.starts_with(own));
            match data.is_file() {
                _ if is_own => {}
                true => _ = self.files.entry(text(&path)?).or_insert(data.len()),
                false if data.is_dir() => _ = self.directories.insert(text(&path)?),
                false => {}
            }
        }
        Ok(())
    }

    /// Removes what is carried anyway.
    fn prune(&mut self) {
        let whole: Vec<PathBuf> = self.files.keys().map(PathBuf::from).collect();
        let whole: Vec<&PathBuf> = whole.iter().filter(|path| path.is_dir()).collect();
        let inside = |path: &str| {
            let within = |above: &&PathBuf| Path::new(path).starts_with(above);
            whole
                .iter()
                .any(|above| within(above) && **above != Path::new(path))
        };
        let programs = &self.programs;
        self.files
            .retain(|path, _| !inside(path) && !programs.contains(path));
        let held: Vec<&String> = self.files.keys().chain(&self.programs).collect();
        let all: Vec<String> = self.directories.iter().cloned().collect();
        self.directories.retain(|path| {
            let below = |other: &String| other != path && Path::new(other).starts_with(path);
            !held.iter().any(|held| below(held) || *held == path)
                && !all.iter().any(below)
                && !inside(path)
        });
    }

    fn too_large(&self, size: u64) -> Failure {
        let mut largest: Vec<(&String, &u64)> = self.files.iter().collect();
        largest.sort_by_key(|(_, size)| std::cmp::Reverse(**size));
        let largest: Vec<&str> = largest
            .iter()
            .take(3)
            .map(|(path, _)| path.as_str())
            .collect();
        Failure::Argument(format!(
            "the commands use {} MB of files, such as {}, and the exact machine takes {}; name the \
             files to carry with --no-trace --with PATH",
            size >> 20,
            largest.join(", "),
            MOST >> 20
        ))
    }

    /// The keys of the set-up, for the top of the experiment file.
    pub(super) fn set_up(&self) -> String {
        if self.directories.is_empty() {
            return String::new();
        }
        let words = ["mkdir", "-p"].map(String::from).into_iter();
        let argv: Vec<String> = words.chain(self.directories.iter().cloned()).collect();
        format!("setup = [{{ command = {} }}]\n", list(&argv))
    }

    /// The payload, for the end of the experiment file.
    pub(super) fn payload(&self) -> String {
        let programs: Vec<String> = self.programs.iter().cloned().collect();
        let mut text = format!("\n[payload]\nprograms = {}\nfiles = [\n", list(&programs));
        for path in self.files.keys().map(|path| quoted(path)) {
            _ = writeln!(text, "    {{ from = {path}, to = {path} }},");
        }
        text + "]\n"
    }

    /// What is carried, a directory a line; the experiment file has all names.
    pub(super) fn listing(&self) -> String {
        let mut places: BTreeMap<&Path, Vec<String>> = BTreeMap::new();
        for path in self.programs.iter().chain(self.files.keys()) {
            let path = Path::new(path);
            let name = path.file_name().unwrap_or(path.as_os_str());
            let end = if path.is_dir() { "/" } else { "" };
            let place = path.parent().unwrap_or(Path::new(""));
            let names = places.entry(place).or_default();
            names.push(name.to_string_lossy().into_owned() + end);
        }
        let size: u64 = self.files.values().sum();
        let mut text = format!(
            "carried to the exact machine: programs with their libraries ({}), files ({}, {:.1} MB)\n",
            self.programs.len(),
            self.files.len(),
            size as f64 / 1e6
        );
        for (place, names) in places {
            let place = match place.as_os_str().is_empty() {
                true => "from PATH".into(),
                false => place.display().to_string(),
            };
            let names = match names.len() > NAMED {
                true => format!("{} files", names.len()),
                false => names.join(" "),
            };
            _ = writeln!(text, "  {}: {}", printable(&place), printable(&names));
        }
        text
    }
}

/// Refuses options that make no sense for runs that all start from the same memory.
fn refuse_others(asked: &CommandsArguments) -> Result<(), Failure> {
    let given = [
        ("--warmup", asked.warmup > 0),
        ("--setup", asked.setup.is_some()),
        ("--cleanup", asked.cleanup.is_some()),
    ];
    match given.into_iter().find(|(_, is)| *is) {
        Some((option, _)) => Err(Failure::Argument(format!(
            "{option}: on the exact machine each run starts from the same memory; execute it \
             before, or use --prepare"
        ))),
        None => Ok(()),
    }
}

/// The program that this command starts, unless a shell finds it.
fn own_program(argv: &[String], directory: &Path) -> Option<String> {
    let name = argv.get(COMMAND)?;
    match name.contains('/') {
        true => traced::plain(&directory.join(name))
            .to_str()
            .map(str::to_owned),
        false => Some(name.clone()),
    }
}

fn text(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        let path = path.display();
        Failure::Argument(format!("{path}: its path is not UTF-8; rename it"))
    })
}

/// The size of a file, or of all files in a directory.
fn size(path: &Path) -> io::Result<u64> {
    let data = fs::symlink_metadata(path)?;
    if !data.is_dir() {
        return Ok(data.len());
    }
    fs::read_dir(path)?.map(|entry| size(&entry?.path())).sum()
}

fn has_strace() -> bool {
    let tried = Command::new("strace")
        .arg("-V")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}

/// Runs a command here under strace, with the variables that it has on the exact machine.
fn trace(
    argv: &[String],
    environment: &[(String, String)],
    directory: &Path,
    any_status: bool,
) -> Result<UsedFiles, Failure> {
    let command = argv.get(COMMAND..).unwrap_or_default();
    let failed = |why: String| Failure::Command {
        option: "--target exact".into(),
        command: format!("{} under strace", command.join(" ")),
        why: format!("{why}; to run nothing here, use --no-trace and --with PATH"),
    };
    let file = std::env::temp_dir().join(format!("assize-strace-{}", std::process::id()));
    let status = Command::new("strace")
        .args([
            "-f",
            "-y",
            "-qq",
            "-e",
            traced::CALLS,
            "-e",
            "signal=none",
            "-o",
        ])
        .arg(&file)
        .arg("--")
        .args(argv.iter().map(|word| word.replace("{seed}", "1")))
        .env_clear()
        .envs([("LC_ALL", "C"), ("TZ", "UTC")])
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    let read = fs::read(&file);
    _ = fs::remove_file(&file);
    let status = status.map_err(|error| failed(error.to_string()))?;
    if !status.success() && !any_status {
        return Err(failed(status.to_string()));
    }
    let read = read.map_err(|error| failed(error.to_string()))?;
    Ok(traced::used_files(
        &String::from_utf8_lossy(&read),
        directory,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carried(programs: &[&str], files: &[&str], directories: &[&str]) -> CommandFiles {
        let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
        let mut carried = CommandFiles {
            programs: owned(programs),
            files: files.iter().map(|path| ((*path).to_owned(), 1)).collect(),
            directories: owned(directories),
        };
        carried.prune();
        carried
    }

    #[test]
    fn nothing_is_carried_twice() {
        let pruned = carried(
            &["/a/run"],
            &["/a/run", "/usr", "/usr/bin/env", "/b/c/file"],
            &["/a", "/b/c", "/d", "/d/e", "/usr/lib", "/f-g", "/f"],
        );
        assert_eq!(
            pruned,
            CommandFiles {
                directories: ["/d/e", "/f", "/f-g"].map(String::from).into(),
                ..carried(&["/a/run"], &["/usr", "/b/c/file"], &[])
            }
        );
        assert_eq!(
            pruned.set_up(),
            "setup = [{ command = [\"mkdir\", \"-p\", \"/d/e\", \"/f\", \"/f-g\"] }]\n"
        );
    }

    #[test]
    fn a_listed_directory_has_the_same_names() {
        let place = tempfile::tempdir().unwrap();
        let here = fs::canonicalize(place.path()).unwrap();
        for name in ["a", "b", "new"] {
            fs::write(here.join(name), "x").unwrap();
        }
        fs::create_dir_all(here.join("sub/below")).unwrap();
        let at = here.display();
        let trace = format!(
            "7 open(\"{at}/new\", O_WRONLY|O_CREAT|O_TRUNC) = 3\n7 getdents64(3<{at}>, 0x1) = 9\n\
             7 stat(\"/proc/self\", 0x1) = 0\n7 open(\"/etc/passwd\", O_RDONLY) = 3\n"
        );
        let mut carried = CommandFiles::default();
        carried.used(&traced::used_files(&trace, &here)).unwrap();
        let expected = ["a", "b"].map(|name| format!("{at}/{name}"));
        assert!(carried.files.keys().eq(&expected), "{carried:?}");
        assert!(carried.directories.iter().eq([&format!("{at}/sub")]));
    }

    #[test]
    fn a_directory_with_many_files_is_a_line() {
        let files: Vec<String> = (0..9).map(|number| format!("/many/{number}")).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).chain(["/few/x"]).collect();
        let lines = carried(&["sort"], &files, &[]).listing();
        let expected = "carried to the exact machine: programs with their libraries (1), files (10, \
                        0.0 MB)\n  from PATH: sort\n  /few: x\n  /many: 9 files\n";
        assert_eq!(lines, expected);
    }
}
