//! Finding and executing programs.

use std::ffi::{CString, c_char};
use std::io;
use std::path::Path;

use crate::sys;

/// Environment variable that gives every program the seed of the run.
pub(crate) const SEED_VARIABLE: &str = "ASSIZE_SEED";

/// A program to exec.
#[derive(Debug, Default)]
pub(crate) struct ExecProgram {
    /// Path of the executable.
    pub(crate) path: String,
    /// The arguments, starting with `argv[0]`.
    pub(crate) arguments: Vec<String>,
    /// Variables added to the agent's environment.
    pub(crate) environment: Vec<(String, String)>,
    /// Working directory, if not the agent's.
    pub(crate) directory: Option<String>,
    /// Whether its calls to sched_setaffinity are ignored: see [`sys::ignore_affinity`].
    pub(crate) unpinned: bool,
}

/// Finds the program `argv[0]`. The seed replaces `{seed}` in its arguments.
pub(crate) fn program(argv: &[String], seed: u64) -> Result<ExecProgram, String> {
    program_with(argv, &[], seed)
}

/// Like [`program`], with variables added to the environment. A PATH among them is
/// searched instead of the agent's.
pub(crate) fn program_with(
    argv: &[String],
    environment: &[(String, String)],
    seed: u64,
) -> Result<ExecProgram, String> {
    let Some(name) = argv.first() else {
        return Err("argv: no program is named".into());
    };
    let seed = seed.to_string();
    let mut path = environment.iter().rev();
    let path = path.find(|(name, _)| name == "PATH");
    let path = path.map_or_else(
        || std::env::var("PATH").unwrap_or_default(),
        |(_, path)| path.clone(),
    );
    let own = (SEED_VARIABLE.into(), seed.clone());
    Ok(ExecProgram {
        path: find(name, &path)?,
        arguments: argv
            .iter()
            .map(|text| text.replace("{seed}", &seed))
            .collect(),
        environment: std::iter::once(own)
            .chain(environment.iter().cloned())
            .collect(),
        ..ExecProgram::default()
    })
}

/// The file of a program, given by path or searched in the directories of
/// `path`.
fn find(name: &str, path: &str) -> Result<String, String> {
    if name.contains('/') {
        return if is_program(name) {
            Ok(name.to_string())
        } else {
            Err(format!(
                "{name}: no such program here; it is not in the payload"
            ))
        };
    }
    path.split(':')
        .map(|directory| format!("{directory}/{name}"))
        .find(|file| is_program(file))
        .ok_or_else(|| {
            format!(
                "{name}: no such program in {path}; it is not in the payload, \
                 or not installed on this host"
            )
        })
}

fn is_program(path: &str) -> bool {
    // SAFETY: the path is a C string that outlives the call.
    Path::new(path).is_file()
        && unsafe { libc::access(sys::c_string(path).as_ptr(), libc::X_OK) } == 0
}

/// Execs the program in this process. Returns the reason if that fails.
pub(super) fn become_program(exec: &ExecProgram) -> String {
    let why = |error: io::Error| format!("{}: {}", exec.path, sys::error_text(&error));
    if let Some(directory) = &exec.directory
        && let Err(error) = std::env::set_current_dir(directory)
    {
        return format!("{directory}: {}", sys::error_text(&error));
    }
    for (name, value) in &exec.environment {
        // SAFETY: this process has one thread.
        unsafe { std::env::set_var(name, value) };
    }
    if exec.unpinned
        && let Err(error) = sys::ignore_affinity()
    {
        return format!(
            "its CPU affinity cannot be reset: {}",
            sys::error_text(&error)
        );
    }
    let arguments: Vec<CString> = exec
        .arguments
        .iter()
        .map(|text| sys::c_string(text))
        .collect();
    let mut pointers: Vec<*const c_char> = arguments.iter().map(|text| text.as_ptr()).collect();
    pointers.push(std::ptr::null());
    let path = sys::c_string(&exec.path);
    // SAFETY: the path is a C string, and the list of C strings ends with a
    // null pointer; all of them outlive the call.
    unsafe { libc::execv(path.as_ptr(), pointers.as_ptr()) };
    why(io::Error::last_os_error())
}
