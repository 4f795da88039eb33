//! Finds the offsets of fields in a kernel structure with the compiler, for kernels without
//! BTF: it compiles a file in the same way as a module.

use std::fs;
use std::path::Path;
use std::process::Command;

use goblin::elf::Elf;

use super::KernelToBuildFor;
use crate::Error;
use crate::fault::{failed, io, mend, read, write};
use crate::kernels::Kernel;
use crate::make::{self, MakeRun};
use crate::sandbox::{Folders, Limits};
use crate::scratch;

/// The symbol of the offsets in the object.
const NUMBERS: &str = "assize_offsets";

/// The offset in bytes of each of these fields in a structure, which `header` declares.
///
/// # Errors
/// The headers of the kernel are not stored here, or do not compile.
pub fn offsets<const N: usize>(
    root: &Path,
    kernel: &Kernel,
    (header, structure): (&str, &str),
    fields: [&str; N],
) -> Result<[u64; N], Error> {
    let subject = KernelToBuildFor::new(kernel)?;
    let what = format!(
        "find the offsets of fields of {structure} in {}",
        kernel.name
    );
    let place = scratch::directory(root).map_err(|error| io("create", root, &error))?;
    let work = place.path().join("build");
    fs::create_dir(&work).map_err(|error| io("create", &work, &error))?;
    let wanted = fields.map(|field| format!("\toffsetof(struct {structure}, {field}),\n"));
    let source = format!(
        "#include <{header}>\n#include <linux/stddef.h>\n\
         const unsigned long {NUMBERS}[] = {{\n{}}};\n",
        wanted.concat()
    );
    for (name, text) in [("Kbuild", "obj-m := offsets.o\n"), ("offsets.c", &source)] {
        let path = work.join(name);
        write(&path, text)?;
    }
    let log = place.path().join("log");
    let shown = format!("{}/", work.display());
    let with_log = |error: Error| {
        let text = fs::read_to_string(&log).unwrap_or_default();
        let line = make::first_error(&text).unwrap_or(error.why);
        mend(
            failed(&what, line),
            format!(
                "`assize kernel fetch --headers {}` fetches its headers",
                kernel.name
            ),
        )
    };
    let run = MakeRun {
        what: &what,
        directory: &work,
        log: &log,
        shown: (&shown, ""),
        sandbox: &subject.sandbox()?,
        folders: Folders {
            readable: subject.readable(subject.headers),
            writable: work.clone(),
        },
        limits: Limits::default(),
        unfinished: None,
    };
    run.run(command(&subject, &work)).map_err(with_log)?;
    let object = read(&work.join("offsets.o"))?;
    numbers(&object).ok_or_else(|| failed(&what, "the object file has no offsets"))
}

/// The command that compiles the file in a directory.
fn command(subject: &KernelToBuildFor<'_>, work: &Path) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", "exec make \"$@\" >&2", "make", "-C"])
        .arg(subject.headers)
        .arg(format!("M={}", work.display()))
        .args(["KCFLAGS=-g0", "offsets.o"])
        .env_clear()
        .env("LC_ALL", "C");
    if let Ok(path) = std::env::join_paths(subject.path()) {
        command.env("PATH", path);
    }
    command
}

/// Reads the offsets from the object.
fn numbers<const N: usize>(object: &[u8]) -> Option<[u64; N]> {
    let elf = Elf::parse(object).ok()?;
    let named = |one: &goblin::elf::Sym| elf.strtab.get_at(one.st_name) == Some(NUMBERS);
    let symbol = elf.syms.iter().find(named)?;
    let section = elf.section_headers.get(symbol.st_shndx)?;
    let bytes = object.get(section.file_range()?)?;
    let bytes = bytes.get(usize::try_from(symbol.st_value).ok()?..)?;
    let mut all = bytes
        .chunks_exact(8)
        .map_while(|one| Some(u64::from_le_bytes(one.try_into().ok()?)));
    let mut of = [0; N];
    for one in &mut of {
        *one = all.next()?;
    }
    Some(of)
}
