//! Builds the BPF objects of policies.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use assize_job::POLICIES;

use crate::Error;
use crate::elf::ProgramHost;
use crate::fault::{create, failed, io, list, mend, read, write};
use crate::parts_hash::PartsHash;
use crate::process::{ChildProcess, in_words};
use crate::prune::{prune, touch};
use crate::scratch::{into_place, temporary_in};

/// Every file that a build reads: path below `policies/` and text.
pub(super) const SOURCES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/policies.rs"));

/// Name of the program that attaches policies.
pub(super) const ATTACH: &str = "attach";
/// Part of every key: change it when the same sources are built differently.
const RECIPE: &[u8] = b"assize.policies/1";
/// Limit in bytes for stored objects; the oldest are removed first.
const BUILT: u64 = 16 << 20;
/// No limit: a build takes seconds, but unpredictably longer under load.
const LIMIT: Duration = Duration::MAX;
/// Name of the list of all files that a build read.
const INPUTS: &str = "inputs";
/// Compilers for BPF, in order of preference.
const CLANG: &[&str] = &[
    "clang", "clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14",
];
/// Compilers for the program, in order of preference.
const CC: &[&str] = &["cc", "gcc", "gcc-14", "gcc-12"];

/// A header of libbpf that policies include.
const HEADER: &str = "bpf/bpf_helpers.h";

const WHAT: &str = "build placement policies";
const INSTALL: &str = "run `apt install clang gcc libbpf-dev`";

/// The object file of a policy.
pub(super) fn object_of(name: &str) -> String {
    format!("{name}.bpf.o")
}

/// The compilers found on this host.
struct Compilers {
    clang: PathBuf,
    cc: PathBuf,
}

impl Compilers {
    fn find() -> Result<Self, Error> {
        let host = ProgramHost::this();
        let one = |names: &[&str]| {
            let mut found = names.iter().filter_map(|name| host.program(name));
            let missing = || mend(failed(WHAT, format!("no {} in PATH", names[0])), INSTALL);
            found.next().ok_or_else(missing)
        };
        Ok(Compilers {
            clang: one(CLANG)?,
            cc: one(CC)?,
        })
    }
}

/// The BPF compiler, if everything that a build needs is installed.
pub(super) fn compiler() -> Result<PathBuf, Error> {
    let compilers = Compilers::find()?;
    let places = ["/usr/include", "/usr/local/include"];
    let mut headers = places.iter().map(|place| Path::new(place).join(HEADER));
    match headers.any(|header| header.is_file()) {
        true => Ok(compilers.clang),
        false => Err(mend(failed(WHAT, format!("no {HEADER}")), INSTALL)),
    }
}

/// Returns the directory with the objects and the program. Builds them unless there is a
/// build of the current inputs.
pub(super) fn ensure(root: &Path) -> Result<PathBuf, Error> {
    let compilers = Compilers::find()?;
    let home = root.join("policies");
    let key = key(&compilers);
    let place = match find(&home, &key) {
        Some(place) => place,
        None => {
            let _lock = crate::lock::take(&home, &mut |_| ())?;
            // Another process may have built it in the meantime.
            match find(&home, &key) {
                Some(place) => place,
                None => make(&home, &key, &compilers)?,
            }
        }
    };
    touch(&place);
    Ok(place)
}

/// A hash of the inputs known before a build. The headers it reads are only known
/// afterwards.
fn key(compilers: &Compilers) -> String {
    let mut hash = PartsHash::default();
    hash.add(RECIPE);
    for (path, text) in SOURCES {
        hash.add(path);
        hash.add(text);
    }
    for compiler in [&compilers.clang, &compilers.cc] {
        hash.add(compiler.as_os_str().as_encoded_bytes());
        hash.add(digest(compiler));
    }
    hash.hex(32)
}

/// Digest of a file's contents; of nothing if it cannot be read.
fn digest(path: &Path) -> String {
    let bytes = fs::read(path).unwrap_or_default();
    blake3::hash(&bytes).to_hex()[..32].to_string()
}

/// The directory of a build whose inputs have not changed since.
fn find(home: &Path, key: &str) -> Option<PathBuf> {
    let holds = |place: &PathBuf| {
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        let inputs = fs::read_to_string(place.join(INPUTS)).unwrap_or_default();
        name.starts_with(key) && !inputs.is_empty() && as_listed(&inputs)
    };
    let places = list(&home.join("built")).unwrap_or_default();
    places.into_iter().find(holds)
}

/// Whether each file in the list still has the digest recorded there.
fn as_listed(inputs: &str) -> bool {
    inputs.lines().all(|line| {
        let pair = line.split_once(' ');
        pair.is_some_and(|(state, path)| digest(Path::new(path)) == state)
    })
}

fn make(home: &Path, key: &str, compilers: &Compilers) -> Result<PathBuf, Error> {
    prune(&home.join("built"), BUILT);
    let work = temporary_in(home)?;
    let real = fs::canonicalize(work.path());
    let work = real.map_err(|error| io("find", work.path(), &error))?;
    for (path, text) in SOURCES {
        let to = work.join(path);
        let parent = to.parent().unwrap_or(&work);
        create(parent)?;
        write(&to, text)?;
    }
    let result = temporary_in(home)?;
    let mut read_by_all = BTreeSet::new();
    let mut one = |mut command: Command, name: &str| {
        command.arg("-MD").arg("-MF").arg(work.join("read"));
        command.arg("-o").arg(result.path().join(name));
        run(command, &work, home)?;
        let read_by = read(&work.join("read"))?;
        read_by_all.extend(dependencies(&String::from_utf8_lossy(&read_by), &work));
        Ok(())
    };
    for policy in POLICIES {
        let folder = match policy.is_test {
            true => format!("tests/{}", policy.name),
            false => policy.name.to_string(),
        };
        let source = format!("{folder}/{}.bpf.c", policy.name);
        one(compile(compilers, &work, &source), &object_of(policy.name))?;
    }
    one(link(compilers, &work), ATTACH)?;
    let inputs: String = read_by_all
        .iter()
        .map(|path| format!("{} {}\n", digest(path), path.display()))
        .collect();
    let to = result.path().join(INPUTS);
    write(&to, &inputs)?;
    let state = blake3::hash(inputs.as_bytes()).to_hex();
    let place = home.join("built").join(format!("{key}-{}", &state[..16]));
    into_place(result, &place)?;
    Ok(place)
}

/// The compiler command for an object. The output must be the same in every directory, so
/// directories are removed from paths.
fn compile(compilers: &Compilers, work: &Path, source: &str) -> Command {
    let mut command = Command::new(&compilers.clang);
    command
        .args(["-target", "bpf", "-mcpu=v3", "-std=gnu11", "-g", "-O2"])
        .args([
            "-Wall",
            "-Werror",
            "-Wno-missing-declarations",
            "-D__TARGET_ARCH_x86",
        ])
        .arg(format!("-ffile-prefix-map={}=.", work.display()))
        .arg("-Iinclude")
        .args(["-c", source]);
    command
}

fn link(compilers: &Compilers, work: &Path) -> Command {
    let mut command = Command::new(&compilers.cc);
    command
        .args(["-O2", "-g0", "-Wall", "-D_GNU_SOURCE"])
        .arg(format!("-ffile-prefix-map={}=.", work.display()))
        .args(["attach/attach.c", "-lbpf"]);
    command
}

/// Runs a compiler; its messages become the error.
fn run(mut command: Command, work: &Path, home: &Path) -> Result<(), Error> {
    command.env("LC_ALL", "C").env_remove("CPATH");
    let log = home.join("build.log");
    let errors = File::create(&log).map_err(|error| io("write", &log, &error))?;
    let name = command.get_program().to_string_lossy().into_owned();
    let could_not = |error: std::io::Error| failed(WHAT, format!("{name}: {error}"));
    let mut process = ChildProcess::start(command, work, errors, None, LIMIT).map_err(could_not)?;
    drop(process.child().stdin.take());
    if let Some(mut output) = process.child().stdout.take() {
        // Compilers report errors on standard error.
        output.read_to_end(&mut Vec::new()).map_err(could_not)?;
    }
    let why = match process.wait().map_err(could_not)? {
        Some(status) if status.success() => return Ok(()),
        Some(status) => format!("{name}: {}", in_words(status)),
        None => format!("{name} did not end"),
    };
    let text = read(&log)?;
    let text = String::from_utf8_lossy(&text);
    let error = failed(WHAT, first_error(&text).unwrap_or(why));
    Err(match is_libbpf_missing(&text) {
        true => mend(error, INSTALL),
        false => mend(error, format!("the full log is {}", log.display())),
    })
}

fn first_error(log: &str) -> Option<String> {
    crate::make::first_line_with(log, &["error: ", "cannot find -l"])
}

/// Whether a compiler did not find libbpf or its headers.
fn is_libbpf_missing(log: &str) -> bool {
    log.contains("cannot find -lbpf")
        || log.contains("bpf/") && log.contains("file not found")
        || log.contains("bpf/") && log.contains("No such file")
}

/// The files that a compiler has read, except our own sources.
fn dependencies(text: &str, work: &Path) -> Vec<PathBuf> {
    let text = text.replace("\\\n", " ");
    let after = text.split_once(':').map_or("", |(_, after)| after);
    let paths = after.split_whitespace().map(Path::new);
    // Our own are named by relative paths.
    let others = paths.filter(|path| path.is_absolute() && !path.starts_with(work));
    others.map(Path::to_path_buf).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_has_a_source_that_says_what_it_is_and_all_of_its_tunables() {
        for policy in POLICIES {
            let name = policy.name;
            let end = format!("{name}/{name}.bpf.c");
            let source = SOURCES.iter().find(|(path, _)| path.ends_with(&end));
            let (path, text) = source.unwrap_or_else(|| panic!("no source of {name}"));
            assert_eq!(path.starts_with("tests/"), policy.is_test, "{path}");
            assert!(text.contains(&format!(" * {name}: ")), "{path}");
            let ops = name.replace('-', "_");
            assert!(
                text.contains(&format!("POLICY({ops}")) || text.contains(&format!("\"{ops}\"")),
                "{path}"
            );
            let shared = SOURCES.iter().find(|(path, _)| *path == "include/policy.h");
            let all = format!("{text}{}", shared.map_or("", |(_, text)| text));
            for tunable in policy.tunables {
                let start = format!("const volatile u64 {} = ", tunable.name);
                let value = all
                    .split_once(&start)
                    .and_then(|(_, rest)| rest.split_once(';'));
                let value = value
                    .unwrap_or_else(|| panic!("{path} has no {}", tunable.name))
                    .0;
                let factors = value.replace("MSEC", "1000000");
                let value: u64 = factors
                    .split('*')
                    .map(|one| one.trim().parse::<u64>().unwrap())
                    .product();
                assert_eq!(value, tunable.default, "{path}: {}", tunable.name);
                assert!(text.contains(tunable.name), "{path}: {}", tunable.name);
            }
            let declared = text.matches("const volatile u64 ").count();
            let own = policy
                .tunables
                .iter()
                .filter(|one| one.name != "slice")
                .count();
            assert_eq!(declared, own, "{path} has tunables that are not listed");
        }
    }

    #[test]
    fn what_a_compiler_read_is_listed_but_our_own() {
        let text = "attach: attach/attach.c \\\n /usr/include/bpf/bpf.h \\\n /w/include/x.h\n";
        let found = dependencies(text, Path::new("/w"));
        assert_eq!(found, [PathBuf::from("/usr/include/bpf/bpf.h")]);
        assert!(dependencies("", Path::new("/w")).is_empty());
    }

    #[test]
    fn a_build_serves_until_a_header_changes() {
        let place = tempfile::tempdir().unwrap();
        let header = place.path().join("bpf.h");
        fs::write(&header, "a").unwrap();
        let built = place.path().join("built/key-1");
        fs::create_dir_all(&built).unwrap();
        let inputs = format!("{} {}\n", digest(&header), header.display());
        fs::write(built.join(INPUTS), inputs).unwrap();
        assert_eq!(find(place.path(), "key"), Some(built));
        assert_eq!(find(place.path(), "other"), None);
        fs::write(&header, "b").unwrap();
        assert_eq!(find(place.path(), "key"), None);
    }

    #[test]
    fn a_library_that_is_missing_is_told_from_other_errors() {
        for log in [
            "/usr/bin/ld: cannot find -lbpf: No such file or directory\n",
            "include/scx.h:41:10: fatal error: 'bpf/bpf_helpers.h' file not found\n",
            "attach.c:29:10: fatal error: bpf/bpf.h: No such file or directory\n",
        ] {
            assert!(
                is_libbpf_missing(log) && first_error(log).is_some(),
                "{log}"
            );
        }
        assert!(!is_libbpf_missing(
            "a.bpf.c:3:1: error: unknown type name 'x'\n"
        ));
    }
}
