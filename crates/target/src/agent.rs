//! Finds the agent's binary.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::Error;
use crate::talk::{ChildEnd, ChildLimits, talk};

/// Its file name.
const NAME: &str = "assize-agent";
/// Environment variable that names another binary to use.
const VARIABLE: &str = "ASSIZE_AGENT";
/// How to get it.
const BUILD: &str =
    "run `make build`; with `cargo install`, install crates/agent too, as README.md says";
/// How long the agent may take to print its version.
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// Returns the path of the agent's binary: `$ASSIZE_AGENT`, else the first static one of
/// `assize-agent` next to the current executable, `../libexec/assize/assize-agent` relative
/// to its directory, and the output of `make build` in the target directory that holds the
/// executable.
///
/// # Errors
/// There is none, or the file that `$ASSIZE_AGENT` names is not a static executable.
pub fn find() -> Result<PathBuf, Error> {
    let executable = env::current_exe().ok();
    find_for(env::var_os(VARIABLE), executable.as_deref())
}

/// Like [`find`], and checks that the agent runs on this machine.
///
/// # Errors
/// Those of [`find`]; the agent is built for another architecture, or prints no version.
pub fn find_here() -> Result<PathBuf, Error> {
    let path = find()?;
    match answers(&path) {
        Ok(()) => Ok(path),
        Err(why) => {
            let named = env::var_os(VARIABLE).is_some_and(|path| !path.is_empty());
            let mend = match named {
                true => format!("unset {VARIABLE}, or set it to the agent of this assize"),
                false => BUILD.into(),
            };
            Err(Error {
                what: "start the agent".into(),
                ..error(format!("{}: {why}", path.display()), mend, named)
            })
        }
    }
}

/// Checks that a program is an agent that runs here: it must print its version at once.
fn answers(path: &Path) -> Result<(), String> {
    // Otherwise a binary for another architecture would only give an obscure shell error.
    if let Some(built) = architecture(path)
        && built != env::consts::ARCH
    {
        let here = env::consts::ARCH;
        return Err(format!("it is built for {built}, this machine is {here}"));
    }
    let mut command = Command::new(path);
    command.arg("--version");
    let limits = ChildLimits {
        time: Some(ANSWER_TIME),
        bytes: 4096,
    };
    let said = talk(command, Vec::new(), limits).map_err(|error| error.to_string())?;
    if said.stdout.starts_with(format!("{NAME} ").as_bytes()) {
        return Ok(());
    }
    Err(match said.end {
        ChildEnd::Exit(status) => format!("it ended with {status} on --version"),
        ChildEnd::Time | ChildEnd::Bytes => "it does not report its version".into(),
    })
}

fn find_for(variable: Option<OsString>, executable: Option<&Path>) -> Result<PathBuf, Error> {
    if let Some(path) = variable.filter(|path| !path.is_empty()).map(PathBuf::from) {
        return match check(&path) {
            Ok(()) => Ok(path),
            Err(why) => Err(error(
                format!("{}: {why}", path.display()),
                format!("unset {VARIABLE}, or set it to a static agent"),
                true,
            )),
        };
    }
    let mut unfit = Vec::new();
    for path in candidates(executable) {
        match check(&path) {
            Ok(()) => return Ok(path),
            Err(why) if path.exists() => unfit.push(format!("{} {why}", path.display())),
            Err(_) => {}
        }
    }
    let why = if unfit.is_empty() {
        format!("{NAME} is not installed with this program")
    } else {
        unfit.join(", ")
    };
    Err(error(why, BUILD.into(), false))
}

fn error(why: String, mend: String, wrong_use: bool) -> Error {
    Error {
        what: "find the agent".into(),
        why,
        mend: Some(mend),
        wrong_use,
    }
}

/// Places to look for the agent, given the path of the current executable.
fn candidates(executable: Option<&Path>) -> Vec<PathBuf> {
    let Some(directory) = executable.and_then(Path::parent) else {
        return Vec::new();
    };
    let mut candidates = vec![directory.join(NAME)];
    if let Some(prefix) = directory.parent() {
        candidates.push(prefix.join("libexec/assize").join(NAME));
    }
    let built = format!("{}-unknown-linux-gnu/agent/{NAME}", env::consts::ARCH);
    candidates.extend(directory.ancestors().map(|above| above.join(&built)));
    candidates
}

/// Fails unless the file is a static executable; the error says what it is instead.
fn check(path: &Path) -> Result<(), String> {
    let metadata = fs::metadata(path).map_err(|error| format!("cannot be read: {error}"))?;
    if !metadata.is_file() {
        return Err("is not a file".into());
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return Err("is not executable".into());
    }
    let file = File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
    match interpreted(file) {
        Some(false) => Ok(()),
        Some(true) => Err("is not static".into()),
        None => Err("is not a 64-bit ELF executable".into()),
    }
}

/// The architecture that a file is built for, as `uname -m` prints it; `None` if it is not
/// an ELF file or the architecture is unknown.
pub(crate) fn architecture(path: &Path) -> Option<&'static str> {
    let mut header = [0; 20];
    File::open(path).ok()?.read_exact(&mut header).ok()?;
    if header[..4] != *b"\x7fELF" {
        return None;
    }
    match u16::from_le_bytes(array(&header, 18)?) {
        62 => Some("x86_64"),
        183 => Some("aarch64"),
        243 => Some("riscv64"),
        258 => Some("loongarch64"),
        _ => None,
    }
}

/// Whether a 64-bit little-endian ELF executable has a program interpreter; `None` if it is
/// not such a file.
fn interpreted(mut file: File) -> Option<bool> {
    const PT_INTERP: u32 = 3;
    const CLASS_64: u8 = 2;
    const LITTLE_ENDIAN: u8 = 1;
    let mut header = [0; 64];
    file.read_exact(&mut header).ok()?;
    if header[..6] != [0x7f, b'E', b'L', b'F', CLASS_64, LITTLE_ENDIAN] {
        return None;
    }
    let executable = matches!(u16::from_le_bytes(array(&header, 16)?), 2 | 3);
    let table = u64::from_le_bytes(array(&header, 32)?);
    let size = u16::from_le_bytes(array(&header, 54)?);
    let count = u16::from_le_bytes(array(&header, 56)?);
    if !executable || count == 0 || size < 56 {
        return None;
    }
    for index in 0..u64::from(count) {
        let mut kind = [0; 4];
        let at = table.checked_add(index * u64::from(size))?;
        file.read_exact_at(&mut kind, at).ok()?;
        if u32::from_le_bytes(kind) == PT_INTERP {
            return Some(true);
        }
    }
    Some(false)
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file with one program header of this type.
    fn elf(segment: u32) -> Vec<u8> {
        let mut bytes = vec![0; 120];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[16] = 3;
        bytes[32] = 64;
        bytes[54] = 56;
        bytes[56] = 1;
        bytes[64..68].copy_from_slice(&segment.to_le_bytes());
        bytes
    }

    fn write(path: &Path, bytes: &[u8], mode: u32) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn the_first_static_agent_is_taken() {
        let directory = tempfile::tempdir().unwrap();
        let executable = directory.path().join("target/debug/assize");
        let built = directory.path().join("target").join(format!(
            "{}-unknown-linux-gnu/agent/assize-agent",
            env::consts::ARCH
        ));
        let installed = directory.path().join("target/libexec/assize/assize-agent");
        let beside = directory.path().join("target/debug/assize-agent");
        let found = || find_for(None, Some(&executable));
        assert!(found().unwrap_err().why.contains("not installed"));
        write(&built, &elf(1), 0o755);
        assert_eq!(found().unwrap(), built);
        write(&installed, &elf(1), 0o755);
        assert_eq!(found().unwrap(), installed);
        // A plain `cargo build` produces a dynamic binary.
        write(&beside, &elf(3), 0o755);
        assert_eq!(found().unwrap(), installed);
        write(&beside, &elf(1), 0o755);
        assert_eq!(found().unwrap(), beside);
    }

    #[test]
    fn unfit_files_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let executable = directory.path().join("bin/assize");
        let path = directory.path().join("bin/assize-agent");
        let cases: &[(&[u8], u32, &str)] = &[
            (&elf(3), 0o755, "is not static"),
            (&elf(1), 0o644, "is not executable"),
            (&elf(1)[..60], 0o755, "is not a 64-bit ELF executable"),
            (b"#!/bin/sh\n", 0o755, "is not a 64-bit ELF executable"),
            (b"", 0o755, "is not a 64-bit ELF executable"),
        ];
        for (bytes, mode, expected) in cases {
            write(&path, bytes, *mode);
            let error = find_for(None, Some(&executable)).unwrap_err();
            assert_eq!(error.why, format!("{} {expected}", path.display()));
            assert_eq!(error.mend.as_deref(), Some(BUILD));
        }
    }

    #[test]
    fn the_variable_is_taken_at_its_word() {
        let directory = tempfile::tempdir().unwrap();
        let executable = directory.path().join("bin/assize");
        write(&directory.path().join("bin/assize-agent"), &elf(1), 0o755);
        let named = directory.path().join("mine");
        let found = || find_for(Some(named.clone().into()), Some(&executable));
        let error = found().unwrap_err();
        assert!(error.wrong_use && error.why.contains("mine"), "{error}");
        write(&named, &elf(1), 0o755);
        assert_eq!(found().unwrap(), named);
    }

    #[test]
    fn ordinary_programs_are_told_apart() {
        assert_eq!(interpreted(File::open("/bin/sh").unwrap()), Some(true));
        assert_eq!(interpreted(File::open("/etc/passwd").unwrap()), None);
        assert_eq!(architecture(Path::new("/bin/sh")), Some(env::consts::ARCH));
        assert_eq!(architecture(Path::new("/etc/passwd")), None);
    }
}
