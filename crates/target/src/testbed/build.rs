//! From sources to modules.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::compiler::{Compiler, check_path, check_release};
use super::sources::Sources;
use super::{Subject, what};
use crate::Error;
use crate::elf::Host;
use crate::fault::{failed, io, mend, read};
use crate::kernels::{into_place, temporary_in};
use crate::modules::stem;
use crate::process::{Process, in_words};
use crate::prune::{prune, touch};

/// Part of every key: to be raised when the same sources are built otherwise.
const RECIPE: &[u8] = b"assize.testbed/1";
/// Bytes that modules may take on disk before old ones go.
const BUILT: u64 = 64 << 20;
/// A build takes seconds, and how many more on a busy host nobody knows.
const LIMIT: Duration = Duration::MAX;
/// What the log of make is called beside the modules.
const LOG: &str = "build.log";

/// The modules of these sources for this kernel, by name. Builds them unless
/// they are there.
pub(super) fn ensure(
    root: &Path,
    sources: &Sources<'_>,
    subject: &Subject<'_>,
    tests: bool,
) -> Result<BTreeMap<String, PathBuf>, Error> {
    let place = place(root, sources, subject, tests)?;
    if !place.exists() {
        let home = root.join("modules");
        let _lock = crate::lock::take(&home, &mut |_| ())?;
        // Another process may have done it in the meantime.
        if !place.exists() {
            prune(&home.join("built"), BUILT);
            build(&home, &place, sources, subject, tests)?;
        }
    }
    touch(&place);
    let names = sources.names(tests).into_iter();
    Ok(names
        .map(|name| (name.clone(), place.join(format!("{name}.ko"))))
        .collect())
}

/// Whether they are there.
pub(super) fn is_built(
    root: &Path,
    sources: &Sources<'_>,
    subject: &Subject<'_>,
    tests: bool,
) -> Result<bool, Error> {
    place(root, sources, subject, tests).map(|place| place.exists())
}

/// Where they lie once they are built.
fn place(
    root: &Path,
    sources: &Sources<'_>,
    subject: &Subject<'_>,
    tests: bool,
) -> Result<PathBuf, Error> {
    check_path(subject, root)?;
    check_path(subject, subject.headers)?;
    check_release(subject)?;
    let compiler = Compiler::find(&Host::this(), subject)?;
    let mut hash = blake3::Hasher::new();
    let mut add = |part: &[u8]| {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part);
    };
    add(RECIPE);
    add(&[u8::from(tests)]);
    for part in [subject.release, subject.digest, &compiler.version] {
        add(part.as_bytes());
    }
    for (path, text) in sources.files() {
        add(path.as_bytes());
        add(text.as_bytes());
    }
    let key = hash.finalize().to_hex();
    Ok(root.join("modules/built").join(&key.as_str()[..32]))
}

fn build(
    home: &Path,
    place: &Path,
    sources: &Sources<'_>,
    subject: &Subject<'_>,
    tests: bool,
) -> Result<(), Error> {
    let work = temporary_in(home)?;
    write(work.path(), sources)?;
    let log = home.join(format!("{}.log", subject.release));
    make(work.path(), &log, subject, tests)?;
    let mut made = BTreeMap::new();
    collect(work.path(), &mut made)?;
    let result = temporary_in(home)?;
    for name in sources.names(tests) {
        let module = made.get(&name).ok_or_else(|| {
            let why = format!("make has made no {name}.ko; see {}", log.display());
            failed(what(subject.name), why)
        })?;
        let to = result.path().join(format!("{name}.ko"));
        fs::copy(module, &to).map_err(|error| io("write", &to, &error))?;
    }
    let to = result.path().join(LOG);
    fs::rename(&log, &to).map_err(|error| io("write", &to, &error))?;
    into_place(result, place)
}

fn write(directory: &Path, sources: &Sources<'_>) -> Result<(), Error> {
    for (path, text) in sources.files() {
        let to = directory.join(path);
        let parent = to.parent().unwrap_or(directory);
        fs::create_dir_all(parent).map_err(|error| io("create", parent, &error))?;
        fs::write(&to, text).map_err(|error| io("write", &to, &error))?;
        if path.ends_with(".sh") {
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(&to, mode).map_err(|error| io("change", &to, &error))?;
        }
    }
    Ok(())
}

/// Runs make, with all it says in `log`.
fn make(directory: &Path, log: &Path, subject: &Subject<'_>, tests: bool) -> Result<(), Error> {
    let errors = File::create(log).map_err(|error| io("write", log, &error))?;
    let command = command(directory, subject, tests);
    let could_not = |error: std::io::Error| failed(what(subject.name), format!("make: {error}"));
    let mut process = Process::start(command, directory, errors, None, LIMIT).map_err(could_not)?;
    drop(process.child().stdin.take());
    if let Some(mut output) = process.child().stdout.take() {
        // Nothing comes here: the command sends its output to its errors.
        output.read_to_end(&mut Vec::new()).map_err(could_not)?;
    }
    let status = process.wait().map_err(could_not)?;
    let why = match status {
        Some(status) if status.success() => return Ok(()),
        Some(status) => format!("make: {}", in_words(status)),
        None => "make did not end".into(),
    };
    let text = read(log)?;
    let line = first_error(&String::from_utf8_lossy(&text)).unwrap_or(why);
    let line = line.replace(&format!("{}/", directory.display()), "kernel/");
    Err(mend(
        failed(what(subject.name), line),
        format!("the whole log is {}", log.display()),
    ))
}

/// The same bytes must come out wherever this is done, so no path of ours may
/// get into a module: debugging information, which is full of them, is left
/// out, and the others are cut short. Nor may there be anything that depends
/// on a tool that some machines lack, as type data for BPF does on pahole.
fn command(directory: &Path, subject: &Subject<'_>, tests: bool) -> Command {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    // The compiler is told the paths behind links, as kbuild resolves them.
    let headers = &fs::canonicalize(subject.headers).unwrap_or_else(|_| subject.headers.into());
    let around = headers.parent().unwrap_or(headers);
    let mut command = Command::new("sh");
    command
        .args(["-c", "exec make \"$@\" >&2", "make", "-C"])
        .arg(headers)
        .arg(format!("M={}", directory.display()))
        .arg(format!("-j{jobs}"))
        .arg(format!(
            "KCFLAGS=-g0 -ffile-prefix-map={}/= -ffile-prefix-map={}/=",
            directory.display(),
            around.display()
        ))
        .arg(if tests { "TESTS=y" } else { "TESTS=n" })
        .args(["CONFIG_DEBUG_INFO_BTF_MODULES=", "modules"])
        // Many variables mean something to kbuild.
        .env_clear()
        .env("LC_ALL", "C");
    for name in ["HOME", "PATH", "TMPDIR"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

/// The first line that says what is wrong.
fn first_error(log: &str) -> Option<String> {
    let marks = [
        ": error: ",
        ": fatal error: ",
        "ERROR: ",
        "*** ",
        ": not found",
    ];
    let mut lines = log.lines().map(str::trim);
    let line = lines.find(|line| marks.iter().any(|mark| line.contains(mark)))?;
    Some(line.to_string())
}

/// Name and path of every module below a directory.
fn collect(directory: &Path, made: &mut BTreeMap<String, PathBuf>) -> Result<(), Error> {
    for path in crate::fault::list(directory)? {
        if path.is_dir() {
            collect(&path, made)?;
        } else if path.extension().is_some_and(|extension| extension == "ko") {
            made.insert(stem(&path.to_string_lossy()), path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_is_found_among_the_rest() {
        let log = "make: Entering directory '/h'\n  CC [M]  /b/a.o\n\
            /b/a.c:3:5: warning: unused\n/b/a.c:4:1: error: unknown type name 'x'\n\
            make[2]: *** [a.o] Error 1\n";
        assert_eq!(
            first_error(log).as_deref(),
            Some("/b/a.c:4:1: error: unknown type name 'x'")
        );
        let modpost = "ERROR: modpost: \"f\" [/b/a.ko] undefined!\nmake[1]: *** [x] Error 1\n";
        assert!(first_error(modpost).is_some_and(|line| line.contains("\"f\"")));
        assert_eq!(first_error("  CC [M]  a.o\n"), None);
    }
}
