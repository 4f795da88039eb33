//! Runs programs from another release of Debian.
//!
//! They need a C library that this machine may not have. So their loader and libraries are
//! stored with them, and each program is replaced by a script that starts it with these.
//! The programs are not modified, and since the scripts use paths relative to themselves,
//! the whole tree can be moved.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use crate::Error;
use crate::elf::{LoaderEnvironment, ProgramHost, closure};
use crate::fault::{create, failed, io, read, write};

/// Library directories in packages.
const LIBRARIES: [&str; 2] = ["/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu"];

/// Replaces a program with a script that starts it with the C library below `system`. The libraries
/// it needs are copied from there to `libraries`. Files that are not dynamically linked programs
/// stay as they are.
pub(super) fn install(program: &Path, system: &Path, libraries: &Path) -> Result<(), Error> {
    let host = ProgramHost::at_root(system, Vec::new());
    let loading = LoaderEnvironment {
        library_path: LIBRARIES.iter().map(PathBuf::from).collect(),
        preload: Vec::new(),
    };
    let bytes = read(program)?;
    let Some(closure) = closure(&host, program, &bytes, &loading)? else {
        return Ok(());
    };
    let Some(loader) = closure.interpreter.as_deref().and_then(Path::file_name) else {
        return Ok(());
    };
    create(libraries)?;
    let found = LIBRARIES.iter().map(|place| Path::new(place).join(loader));
    let found = found
        .into_iter()
        .find(|path| host.path_below_root(path).is_file());
    let found = found.ok_or_else(|| {
        let why = format!("there is no {}", loader.to_string_lossy());
        failed(format!("keep {}", program.display()), why)
    })?;
    copy(&host.path_below_root(&found), &libraries.join(loader))?;
    for (name, library) in &closure.libraries {
        copy(&host.path_below_root(&library.path), &libraries.join(name))?;
    }
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let hidden = program.with_file_name(format!(".{name}.elf"));
    fs::rename(program, &hidden).map_err(|error| io("move", program, &error))?;
    let directory = program.parent().unwrap_or(program);
    let to = relative(directory, libraries);
    let text = script(&to.to_string_lossy(), &loader.to_string_lossy(), &name);
    write(program, text)?;
    fs::set_permissions(program, Permissions::from_mode(0o755))
        .map_err(|error| io("change", program, &error))
}

/// The launcher script. It passes on the name it was called by, from which compilers find
/// their internal programs.
fn script(libraries: &str, loader: &str, name: &str) -> String {
    format!(
        "#!/bin/sh\n\
         # Starts {name} with the C library that it was built for.\n\
         here=${{0%/*}}\n\
         libraries=$here/{libraries}\n\
         exec \"$libraries/{loader}\" --library-path \"$libraries\" --argv0 \"$0\" \\\n\
         \t\"$here/.{name}.elf\" \"$@\"\n"
    )
}

/// Copies a file, with links followed, unless it is there already.
fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    if !to.exists() {
        fs::copy(from, to).map_err(|error| io("copy", from, &error))?;
    }
    Ok(())
}

/// The relative path from one directory to another; neither contains links.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let common = from.components().zip(to.components());
    let common = common.take_while(|(a, b)| a == b).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_way_from_one_directory_to_another_goes_up_and_down() {
        let way = |from, to| relative(Path::new(from), Path::new(to));
        assert_eq!(way("/a/b/c", "/a/d/e"), Path::new("../../d/e"));
        assert_eq!(way("/a", "/a/b"), Path::new("b"));
    }

    /// A system whose loader and libraries are copies of this machine's.
    fn system(program: &Path) -> Option<tempfile::TempDir> {
        let system = tempfile::tempdir().unwrap();
        let bytes = fs::read(program).unwrap();
        let this = closure(
            &ProgramHost::this(),
            program,
            &bytes,
            &LoaderEnvironment::default(),
        );
        let this = this.unwrap()?;
        let to = system.path().join("usr/lib/x86_64-linux-gnu");
        fs::create_dir_all(&to).unwrap();
        let loader = this.interpreter?;
        let libraries = this.libraries.values().map(|library| &library.path);
        for path in libraries.chain([&loader]) {
            fs::copy(path, to.join(path.file_name().unwrap())).unwrap();
        }
        Some(system)
    }

    #[test]
    fn a_program_runs_with_the_libraries_beside_it_and_after_a_move() {
        let sh = fs::canonicalize("/bin/sh").unwrap();
        let Some(system) = system(&sh) else {
            eprintln!("skipped: /bin/sh is linked statically");
            return;
        };
        let place = tempfile::tempdir().unwrap();
        let bin = place.path().join("a b/bin");
        let libraries = place.path().join("a b/lib/x");
        fs::create_dir_all(&bin).unwrap();
        fs::copy(&sh, bin.join("say")).unwrap();
        install(&bin.join("say"), system.path(), &libraries).unwrap();
        // Now only the copies are left.
        drop(system);
        fs::rename(place.path().join("a b"), place.path().join("c")).unwrap();
        let moved = place.path().join("c/bin/say");
        let maps = "echo $0 \"$1\"; while read line; do echo \"$line\"; done < /proc/$$/maps";
        let said = Command::new(&moved)
            .args(["-c", maps, "me", "x  y"])
            .output();
        let said = String::from_utf8(said.unwrap().stdout).unwrap();
        assert_eq!(said.lines().next(), Some("me x  y"));
        let c = said.lines().find(|line| line.ends_with("/libc.so.6"));
        let own = place.path().join("c/lib/x/libc.so.6");
        assert!(c.unwrap().ends_with(&*own.to_string_lossy()), "{said}");
        let named = Command::new(&moved).args(["-c", "echo $0"]).output();
        let named = String::from_utf8(named.unwrap().stdout).unwrap();
        assert_eq!(named.trim(), moved.to_string_lossy());
    }

    #[test]
    fn what_is_no_program_stays_as_it_is() {
        let place = tempfile::tempdir().unwrap();
        let script = place.path().join("script");
        fs::write(&script, "#!/bin/sh\n").unwrap();
        install(&script, place.path(), &place.path().join("lib")).unwrap();
        assert_eq!(fs::read(&script).unwrap(), b"#!/bin/sh\n");
        assert!(!place.path().join("lib").exists());
    }

    #[test]
    fn a_library_that_no_package_has_is_named() {
        let place = tempfile::tempdir().unwrap();
        let sh = fs::canonicalize("/bin/sh").unwrap();
        if system(&sh).is_none() {
            return;
        }
        let program = place.path().join("program");
        fs::copy(&sh, &program).unwrap();
        let error = install(&program, place.path(), &place.path().join("lib"));
        assert!(error.unwrap_err().why.contains("libc.so.6"));
    }
}
