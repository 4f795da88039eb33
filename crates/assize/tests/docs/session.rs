//! Runs the commands of a page in one shell.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use libtest_mimic::Failed;

use crate::page::{Page, Step};
use crate::root;

/// The result of one command.
pub struct Done {
    pub status: i32,
    pub printed: String,
}

/// Seconds after which a page counts as hung.
const LIMIT_S: &str = "3600";

/// The results of the commands, and the HTML pages that they wrote, by name.
pub struct Session {
    pub done: Vec<Done>,
    pub html: BTreeMap<String, String>,
}

/// Executes the steps of a page.
pub fn carry_out(page: &Page) -> Result<Session, Failed> {
    let place = tempfile::tempdir().unwrap();
    let (here, notes) = (place.path().join("assize"), place.path().join("notes"));
    fs::create_dir(&notes).unwrap();
    checkout(&here);
    let (script, commands) = script(page, &here, &notes)?;
    let bin = Path::new(env!("CARGO_BIN_EXE_assize")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let ended = Command::new("timeout")
        .args(["--kill-after", "10", LIMIT_S, "bash", "-c", &script])
        .current_dir(&here)
        .env("PATH", format!("{}:{path}", bin.display()))
        .env_remove("NO_COLOR")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    let mut all = Vec::new();
    for at in 0..commands {
        let read = |what: &str| {
            let bytes = fs::read(notes.join(format!("{at}.{what}"))).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let Ok(status) = read("status").trim().parse() else {
            return Err(format!(
                "{}: the shell ended in command {} ({ended}): {}",
                page.name,
                at + 1,
                read("err")
            )
            .into());
        };
        let mut printed = read("out");
        // Progress messages are not shown, but errors are.
        if status != 0 {
            printed.push_str(&read("err"));
        }
        all.push(Done { status, printed });
    }
    Ok(Session {
        done: all,
        html: pages_in(&here),
    })
}

/// The HTML pages at the top of a directory.
fn pages_in(here: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(here).unwrap().map(Result::unwrap);
    let pages = entries.filter(|entry| entry.path().extension().is_some_and(|it| it == "html"));
    let read = |entry: fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, fs::read_to_string(entry.path()).unwrap())
    };
    pages.map(read).collect()
}

/// Fills a directory with links to everything at the top of the tree.
fn checkout(here: &Path) {
    fs::create_dir(here).unwrap();
    for entry in fs::read_dir(root()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        if name != "target" && !name.to_string_lossy().starts_with('.') {
            std::os::unix::fs::symlink(entry.path(), here.join(name)).unwrap();
        }
    }
}

/// The shell script of a page, and the number of commands that it records.
fn script(page: &Page, here: &Path, notes: &Path) -> Result<(String, usize), Failed> {
    let mut script = String::from("status=0\n");
    let (here, notes) = (here.display(), notes.display());
    let (mut commands, mut files) = (0, 0);
    for step in page.blocks.iter().flat_map(|block| &block.steps) {
        match step {
            Step::File { name, text } => {
                if name.contains('/') || name.contains('\'') {
                    return Err(format!("{}: {name}: not a plain name", page.name).into());
                }
                // A page may write a file more than once.
                fs::write(format!("{notes}/{files}.file"), text).unwrap();
                writeln!(script, "cp '{notes}/{files}.file' '{here}/{name}'").unwrap();
                files += 1;
            }
            Step::Command { text, .. } => {
                let at = commands;
                writeln!(
                    script,
                    "exec >'{notes}/{at}.out' 2>'{notes}/{at}.err'\n(exit $status)\n{text}\n\
                     status=$?; echo $status >'{notes}/{at}.status'"
                )
                .unwrap();
                commands += 1;
            }
        }
    }
    Ok((script, commands))
}
