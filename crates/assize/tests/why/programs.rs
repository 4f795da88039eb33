//! Functions of programs and libraries: planted loops come first, with their counts, wherever the
//! loader puts them.

use std::path::Path;
use std::process::Command;

use super::{Outcome, adds_up, branch, bundle, document, rows};

/// A loop of 200,000 instructions: one, 99,999 times two, and one.
const LOOP: &str = r#"
asm(".text\n"
    ".globl NAME\n"
    ".type NAME, @function\n"
    "NAME:\n"
    "	mov $99999, %ecx\n"
    "1:	dec %ecx\n"
    "	jnz 1b\n"
    "	ret\n"
    ".size NAME, . - NAME\n");
"#;
const MAIN: &str = r#"
#include <stdlib.h>
void in_program(void);
void in_library(void);
int main(int count, char **words)
{
	for (int i = count > 1 ? atoi(words[1]) : 0; i > 0; i--)
		in_program();
	for (int i = count > 2 ? atoi(words[2]) : 0; i > 0; i--)
		in_library();
	return 0;
}
"#;

/// Compiles a source in this directory.
fn compile(directory: &Path, words: &[&str], source: &str, file: &str) {
    let path = directory.join(file).with_extension("c");
    std::fs::write(&path, source).unwrap();
    let done = Command::new("cc")
        .current_dir(directory)
        .args(["-O1", "-Wall", "-o", file])
        .arg(&path)
        .args(words)
        .status()
        .unwrap();
    assert!(done.success());
}

/// A program with a symbol table, and a library with dynamic symbols only.
pub fn loops() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    let library = LOOP.replace("NAME", "in_library");
    compile(here, &["-shared", "-fPIC", "-s"], &library, "libplanted.so");
    let main = LOOP.replace("NAME", "in_program") + MAIN;
    let link = ["-pie", "-L.", "-lplanted", "-Wl,-rpath,$ORIGIN"];
    compile(here, &link, &main, "planted");
    let program = here.join("planted").display().to_string();
    let argv = |words: [&str; 2]| format!("{:?}", [&program[..], words[0], words[1]]);
    let experiment = format!(
        "title = \"planted loops\"\nruns = 1\ninstruments = [\"timer-list\"]\n\
         [factors.loop.without]\n\
         [factors.loop.program]\nworkload.planted.argv = {}\n\
         [factors.loop.library]\nworkload.planted.argv = {}\n\
         [workloads.planted]\nkind = \"command\"\nargv = {}\n",
        argv(["1", "0"]),
        argv(["0", "1"]),
        argv(["0", "0"])
    );
    bundle(here, &experiment, "b");
    for (name, function) in [
        ("program", "in_program [planted]"),
        ("library", "in_library [libplanted.so]"),
    ] {
        let asked = ["why", "b", name, "without", "--tree", "--format", "json"];
        let why = document(here, &asked);
        adds_up(&why);
        assert_eq!(rows(&why, "functions")[0], (function, 200_000.0));
        assert_eq!(rows(&why, "subsystems")[0].0, "user space");
        // From exec on, the thread is attributed to the program, even if it never waited for a CPU.
        let thread = rows(&why, "threads")[0];
        assert!(
            thread.0 == "planted" && (thread.1 - 2e5).abs() < 1e3,
            "{:?}",
            rows(&why, "threads")
        );
        let named = branch(&why["tree"], &["user space", function]).unwrap();
        for (key, value) in [("a", 200_000.0), ("own_a", 200_000.0), ("b", 0.0)] {
            assert_eq!(named[key].as_f64(), Some(value), "{named}");
        }
        // The loader has a file of its own, and every function belongs to some file.
        let loader = |row: &&(&str, f64)| row.0.ends_with(" [ld-linux-x86-64.so.2]");
        assert!(rows(&why, "functions").iter().any(|row| loader(&row)));
        assert!(
            !rows(&why, "functions")
                .iter()
                .any(|row| row.0 == "user space")
        );
    }
    Ok(())
}

const RENAMED: &str = r#"
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
void in_program(void);
static void go_to(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(1);
}
int main(int count, char **words)
{
	go_to(0);
	in_program();
	prctl(PR_SET_NAME, "renamed", 0, 0, 0);
	go_to(1);
	for (int i = count > 1 ? atoi(words[1]) : 0; i > 0; i--)
		in_program();
	return 0;
}
"#;

/// A thread that changes its name and then its CPU counts as one thread with its last name,
/// including its earlier instructions, in tables and trees.
pub fn renamed() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    let source = RENAMED.to_owned() + &LOOP.replace("NAME", "in_program");
    compile(here, &[], &source, "planted");
    let program = here.join("planted").display().to_string();
    let experiment = format!(
        "title = \"renamed\"\nruns = 1\ncpus = 2\ninstruments = [\"timer-list\"]\n\
         [factors.loop.none]\n\
         [factors.loop.one]\nworkload.planted.argv = [{program:?}, \"1\"]\n\
         [workloads.planted]\nkind = \"command\"\nargv = [{program:?}, \"0\"]\n"
    );
    bundle(here, &experiment, "b");
    let asked = ["why", "b", "one", "none", "--tree", "--format", "json"];
    let why = document(here, &asked);
    adds_up(&why);
    let planted = "in_program [planted]";
    assert_eq!(rows(&why, "functions")[0], (planted, 200_000.0));
    assert_eq!(rows(&why, "threads")[0].0, "renamed");
    let whole = branch(&why["tree"], &["renamed", "user space", planted]).unwrap();
    assert_eq!(whole["a"].as_f64(), Some(400_000.0), "{whole}");
    Ok(())
}
