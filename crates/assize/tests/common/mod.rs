//! Helpers shared by tests that run experiments.

#![allow(dead_code)] // Not every test needs all of it.

pub mod scheduler;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use libtest_mimic::Failed;

/// The assize command in this directory.
pub fn command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assize"));
    command.args(arguments).current_dir(directory);
    command
}

/// The root of the tree.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text of every Rust source of these crates, without its tests.
pub fn sources<S: AsRef<str>>(crates: &[S]) -> Vec<String> {
    let mut open: Vec<PathBuf> = crates
        .iter()
        .map(|name| root().join("crates").join(name.as_ref()).join("src"))
        .collect();
    let mut texts = Vec::new();
    while let Some(at) = open.pop() {
        if at.is_dir() {
            open.extend(fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path()));
        } else if at.extension().is_some_and(|extension| extension == "rs") {
            let name = at.to_string_lossy().into_owned();
            if !name.contains("tests") {
                let text = fs::read_to_string(&at).unwrap();
                texts.push(text.split("#[cfg(test)]").next().unwrap().to_owned());
            }
        }
    }
    texts
}

/// Executes every command printed in a text, page or document, in the directory and environment of
/// `like`, and returns them. Each must exit with 0, or with 1 if it reports that something is
/// worse.
pub fn carry_out_printed(like: &Command, text: &str) -> Vec<String> {
    let commands = match serde_json::from_str(text) {
        Ok(document) => commands_of_document(&document),
        Err(_) => commands_of_text(text),
    };
    for command in &commands {
        let script = command.replacen("assize", env!("CARGO_BIN_EXE_assize"), 1);
        let mut shell = Command::new("bash");
        shell.arg("-c").arg(script);
        shell.current_dir(like.get_current_dir().unwrap());
        for (name, value) in like.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        let done = shell.output().unwrap();
        let (status, said) = (done.status.code(), errors(&done));
        let ended = matches!(status, Some(0 | 1)) && !said.contains("bash: ");
        assert!(ended, "{command}: {status:?}: {said}");
    }
    commands
}

fn commands_of_document(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::String(text) if text.starts_with("assize ") => vec![text.clone()],
        serde_json::Value::Array(all) => all.iter().flat_map(commands_of_document).collect(),
        serde_json::Value::Object(all) => all.values().flat_map(commands_of_document).collect(),
        _ => Vec::new(),
    }
}

/// The commands on separate lines of a text, or in separate elements of a page.
fn commands_of_text(text: &str) -> Vec<String> {
    let codes = [
        ("&#x27;", "'"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&amp;", "&"),
    ];
    let mut joined = text.replace("\\\n", " ");
    let page = joined.contains("<html");
    if page {
        joined = joined.replace("</", "\n").replace('>', "\n");
    }
    let lines = joined
        .lines()
        .map(|line| line.trim_start_matches("Reproduce: ").trim());
    let verb = |line: &&str| {
        let rest = line.strip_prefix("assize ").unwrap_or_default();
        rest.starts_with(|first: char| first.is_ascii_lowercase())
    };
    let found = lines.filter(verb);
    let plain = |line: &str| {
        let replace = |line: String, (code, sign)| line.replace(code, sign);
        codes.into_iter().fold(line.to_owned(), replace)
    };
    found
        .map(|line| if page { plain(line) } else { line.to_owned() })
        .collect()
}

/// The Python that has packages from PyPI; `./setup.sh full` installs those that Debian lacks.
pub fn python() -> PathBuf {
    std::env::var_os("ASSIZE_DATA_PYTHON").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/setup/python-venv/bin/python3"),
        PathBuf::from,
    )
}

/// Runs the command.
pub fn assize(directory: &Path, arguments: &[&str]) -> Output {
    command(directory, arguments).output().unwrap()
}

/// The text that the command wrote to standard error.
pub fn errors(done: &Output) -> String {
    String::from_utf8_lossy(&done.stderr).into_owned()
}

/// Asserts that the runs in the bundles `first` and `second` are equal, byte for byte.
pub fn is_exact(here: &Path) {
    let done = assize(here, &["merge", "--out", "both", "first", "second"]);
    assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
}

/// Runs a verb, which must refuse in one line, and returns its error.
pub fn refusal(here: &Path, verb: &str, words: &[&str]) -> String {
    let done = assize(here, &[&[verb], words].concat());
    assert_eq!(done.status.code(), Some(2), "{}", errors(&done));
    let said = errors(&done);
    assert_eq!(said.lines().count(), 1, "{said}");
    said
}

/// The output of a command that must exit with 0.
pub fn printed(directory: &Path, arguments: &[&str]) -> String {
    let done = assize(directory, arguments);
    let status = done.status.code();
    assert_eq!(status, Some(0), "{arguments:?}: {}", errors(&done));
    String::from_utf8(done.stdout).unwrap()
}

/// The output of a command, parsed as JSON.
pub fn document(directory: &Path, arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&printed(directory, arguments)).unwrap()
}

/// Every file below a directory with its bytes, except locks and the log.
pub fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                open.push(path);
            } else if name != "log.jsonl" && !name.starts_with("lock") {
                let bytes = fs::read(&path).unwrap();
                found.insert(path.strip_prefix(directory).unwrap().into(), bytes);
            }
        }
    }
    found
}

/// The number of runs in a bundle.
pub fn recorded(bundle: &Path) -> usize {
    fs::read_dir(bundle.join("runs")).map_or(0, |entries| {
        entries
            .filter(|entry| {
                let name = entry.as_ref().unwrap().file_name();
                let name = name.to_string_lossy();
                name.ends_with(".json") && !name.starts_with('.')
            })
            .count()
    })
}

/// Checks that `assize doctor` finds all of these; the error names what is missing.
pub fn there(names: &[&str]) -> Result<(), String> {
    static FINDINGS: OnceLock<serde_json::Value> = OnceLock::new();
    let findings = FINDINGS.get_or_init(|| document(Path::new("."), &["doctor", "--json"]));
    let checks = findings["checks"].as_array().unwrap();
    for name in names {
        let check = checks.iter().find(|check| check["name"] == *name);
        match check {
            Some(check) if check["there"] == true => {}
            Some(check) => return Err(format!("{name}: {}", check["detail"])),
            None => return Err(format!("{name}: not there")),
        }
    }
    Ok(())
}

/// Prints that a test was skipped, in the form that xtask counts.
pub fn skip(why: &str) {
    // The test harness hides the output of `eprintln` in a test that passes.
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

/// Makes this directory a cache that shares kernels, modules, memory images and QEMU with
/// the default cache; its runs are separate.
pub fn share_usual(cache: &Path) {
    let usual = assize_target::kernels::Kernels::default_root().unwrap();
    fs::create_dir_all(cache).unwrap();
    for name in [
        "kernels",
        "images",
        "initramfs",
        "modules",
        "policies",
        "qemu",
    ] {
        fs::create_dir_all(usual.join(name)).unwrap();
        let here = cache.join(name);
        let _ = fs::remove_file(&here);
        std::os::unix::fs::symlink(usual.join(name), here).unwrap();
    }
}

/// An empty cache of runs that shares kernels, modules, memory images and QEMU with the
/// default cache.
pub struct Cache(tempfile::TempDir);

impl Cache {
    pub fn new() -> Cache {
        let cache = tempfile::tempdir().unwrap();
        share_usual(cache.path());
        Cache(cache)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The processes that use this cache: name, and the letter of the state.
    pub fn processes(&self) -> Vec<(String, String)> {
        let variable = format!("ASSIZE_CACHE={}", self.path().display());
        let uses = |directory: &Path| {
            let environment = fs::read(directory.join("environ")).unwrap_or_default();
            let mut variables = environment.split(|byte| *byte == 0);
            variables.any(|one| one == variable.as_bytes())
        };
        let all = fs::read_dir("/proc").unwrap();
        let using = all.map(|entry| entry.unwrap().path()).filter(|d| uses(d));
        let about = |directory: PathBuf| {
            let stat = fs::read_to_string(directory.join("stat")).ok()?;
            let (name, rest) = stat.rsplit_once(") ")?;
            let (_, name) = name.split_once('(')?;
            Some((name.to_string(), rest.split(' ').next()?.to_string()))
        };
        using.filter_map(about).collect()
    }

    /// Asserts that no process uses the cache, now or soon: on a busy host, a process that is
    /// killed with its parent may die a little later.
    pub fn is_idle(&self) {
        let mut asleep = 0;
        loop {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            // A process that is being killed is running or runnable.
            asleep += u32::from(left.iter().all(|(_, state)| state == "S"));
            assert!(asleep < 2000, "left behind: {left:?}");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    /// Removes all runs.
    pub fn empty(&self) {
        let runs = self.path().join("runs");
        if runs.exists() {
            fs::remove_dir_all(runs).unwrap();
        }
    }
}

/// Writes a shell script to this path.
pub fn script(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

/// The result of a test.
pub type Outcome = Result<(), Failed>;

/// Whether the requirements of a test are met; prints what is missing.
pub fn can(test: &str, needed: &[&str]) -> bool {
    let missing = there(needed).err();
    if let Some(why) = &missing {
        skip(&format!("{test}: {why}"));
    }
    missing.is_none()
}

/// Defines tests by name and function; each is run if its requirements are met.
#[allow(unused_macros)] // The browser tests do not use it.
macro_rules! tests {
    (needs $needed:expr; $($name:ident = $test:expr,)+) => {
        $(
            #[test]
            fn $name() {
                let needed: &[&str] = &$needed;
                if needed.is_empty() || $crate::common::can(stringify!($name), needed) {
                    ($test)().unwrap();
                }
            }
        )+
    };
}
#[allow(unused_imports)]
pub(crate) use tests;
