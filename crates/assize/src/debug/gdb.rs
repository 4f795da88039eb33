//! Starts gdb.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use assize_why::kernel_elf::kernel_elf;

use super::KernelFacts;
use crate::shell;

const CLOCK: &str = include_str!("clock.py");

/// The command files for a gdb.
#[derive(Debug)]
pub(super) struct GdbFiles {
    commands: PathBuf,
    clock: PathBuf,
}

impl GdbFiles {
    /// Writes the files into a directory, for a machine at the socket or port `door`.
    pub(super) fn write(
        directory: &Path,
        door: &str,
        kernel: &KernelFacts,
    ) -> io::Result<GdbFiles> {
        let at = |name: &str| directory.join(name);
        let elf = at("kernel");
        let made = kernel_elf(&kernel.symbols, kernel.types.as_deref());
        fs::write(&elf, made.map_err(io::Error::other)?)?;
        let mut commands = String::from("set confirm off\n");
        let _ = writeln!(commands, "file {}", elf.display());
        // On a busy host a reply may take longer than gdb's default of two seconds.
        commands.push_str("set remotetimeout 60\n");
        let _ = writeln!(commands, "target remote {door}");
        fs::write(at("commands"), commands)?;
        let mut text = String::from("CLOCK = ");
        match &kernel.clock {
            Ok(clock) => {
                let [last, factor, shift, fraction, base, end] = clock.fields;
                let _ = writeln!(
                    text,
                    "({}, {}, {}, ({last}, {factor}, {shift}, {fraction}, {base}, {end}))",
                    clock.at,
                    clock.copies,
                    clock.copy_size()
                );
            }
            Err(_) => text.push_str("None\n"),
        }
        fs::write(at("clock.py"), text + CLOCK)?;
        Ok(GdbFiles {
            commands: at("commands"),
            clock: at("clock.py"),
        })
    }

    /// Starts gdb without the user's configuration files and without auto-loading.
    pub(super) fn start(
        &self,
        program: &Path,
        arguments: &[std::ffi::OsString],
    ) -> io::Result<Child> {
        Command::new(program)
            .args(["-q", "-nx", "-iex", "set auto-load off"])
            .args([
                Path::new("-x"),
                &self.clock,
                Path::new("-x"),
                &self.commands,
            ])
            .args(arguments)
            .spawn()
    }

    /// The options for a gdb that the user starts.
    pub(super) fn options(&self) -> String {
        let [commands, clock] =
            [&self.commands, &self.clock].map(|it| shell::quote(it.as_os_str()));
        format!("-x {clock} -x {commands}")
    }
}

/// Whether this program can be executed and succeeds.
pub(super) fn runs(program: &Path) -> io::Result<bool> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null());
    Ok(command.output()?.status.success())
}
