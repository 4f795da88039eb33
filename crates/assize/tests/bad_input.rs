//! Wrong input, and machines without a requirement: each gives one clear error with a remedy, and
//! leaves nothing half-written.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::{Outcome, command, document, errors, recorded, script, there};

crate::common::tests! {
    needs ["agent"];
    factors_and_levels_are_named = factors,
    a_module_that_does_not_load_is_refused = modules,
    a_kernel_image_that_is_none_is_refused = kernel_image,
    an_agent_that_does_not_start_is_refused = agents,
    a_program_that_is_missing_comes_with_its_package = programs,
    a_full_disk_leaves_no_half_of_anything = full_cache,
    a_full_disk_loses_no_recorded_run = full_bundle,
    a_qemu_that_is_missing_or_old_is_named = qemu,
    a_wrong_time_limit_is_named = wall_limit,
    without_a_home_it_is_said_what_to_set = no_cache,
    without_rights_for_tracefs_a_run_does_not_begin = no_tracefs,
}

/// Tests that boot machines.
mod full {
    use super::*;

    crate::common::tests! {
        needs ["agent"];
        without_rights_for_kvm_the_report_says_so = no_kvm,
        an_agent_that_ends_as_process_1_is_named = agent_ends,
    }
}

/// Writes an experiment of one cell, with these lines at the top and this command.
fn experiment(here: &Path, target: &str, more: &str, argv: &str) {
    let text = format!(
        r#"title = "Test"
target = "{target}"
runs = 2
{more}

[workloads.it]
kind = "command"
argv = {argv}
"#
    );
    fs::write(here.join("test.toml"), text).unwrap();
}

const TRUE: &str = r#"["true"]"#;

/// Runs `assize run test.toml` with these environment variables.
fn run(here: &Path, variables: &[(&str, &Path)]) -> Output {
    let mut command = command(here, &["run", "test.toml", "--quiet"]);
    command.envs(variables.iter().copied());
    command.output().unwrap()
}

/// Asserts that the command printed one line with these words, exited with this status, and left no
/// bundle.
fn refused(here: &Path, done: &Output, status: i32, words: &[&str]) {
    let said = errors(done);
    assert_eq!(done.status.code(), Some(status), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("assize: "), "{said}");
    assert!(said.contains("; "), "no mend: {said}");
    for word in words {
        assert!(said.contains(word), "'{word}' is not in: {said}");
    }
    assert!(!here.join("test.bundle").exists(), "a bundle was begun");
}

/// Whether to skip this test; if so, prints the reason.
fn lacks(why: Result<(), String>) -> bool {
    why.map_err(|why| crate::common::skip(&why)).is_err()
}

/// Whether an exact machine can run here, or why not.
fn exact() -> Result<(), String> {
    there(&["QEMU", "kernel debian:6.12"])
}

fn as_root() -> Result<(), String> {
    match rustix::process::geteuid().is_root() {
        true => Ok(()),
        false => Err("needs root".into()),
    }
}

/// Compiles C. Returns false, after printing the reason, if that is impossible.
fn compiled(here: &Path, source: &str, arguments: &[&str], to: &str) -> bool {
    fs::write(here.join("source.c"), source).unwrap();
    let done = Command::new("cc")
        .args(["source.c", "-o", to])
        .args(arguments)
        .current_dir(here)
        .output();
    let there = done.is_ok_and(|done| done.status.success());
    if !there {
        crate::common::skip(&format!("no C compiler for {arguments:?}"));
    }
    there
}

/// Creates a cache that links the kernels and the QEMU of the default one.
fn cache(place: &Path) {
    let usual = assize_target::kernels::Kernels::default_root().unwrap();
    fs::create_dir_all(place).unwrap();
    for name in ["kernels", "qemu"] {
        let _ = std::os::unix::fs::symlink(usual.join(name), place.join(name));
    }
}

fn factors() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let factors = "[factors.change.off]\n[factors.change.on]\ncpus = 2";
    let level = |more: &str| experiment(here, "host", &format!("{factors}\n{more}"), TRUE);
    level("");
    let set = |level: &str| {
        let arguments = ["run", "test.toml", "--quiet", "--set", level];
        command(here, &arguments).output().unwrap()
    };
    let words = ["--set", "chnge", "did you mean 'change'"];
    refused(here, &set("chnge=on"), 2, &words);
    refused(here, &set("change=onn"), 2, &["--set", "did you mean 'on'"]);
    level("[factors.change.off]");
    let words = ["test.toml:7", "factors.change.off", "twice"];
    refused(here, &run(here, &[]), 2, &words);
    experiment(
        here,
        "host",
        "exclude = [{ chnge = \"on\" }]\n[factors.change.off]\n[factors.change.on]\nenvironment = { A = 1 }",
        TRUE,
    );
    let words = ["test.toml:4", "exclude", "chnge", "did you mean 'change'"];
    refused(here, &run(here, &[]), 2, &words);
    Ok(())
}

fn modules() -> Outcome {
    if lacks(exact()) {
        return Ok(());
    }
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let load = |module: &str, status: i32, words: &[&str]| {
        let setup = format!("setup = [{{ module = \"{module}\" }}]");
        experiment(here, "exact", &setup, TRUE);
        refused(here, &run(here, &[]), status, words);
    };
    load("no-such-module", 2, &["no-such-module", "debian:6.12"]);
    fs::write(here.join("garbage.ko"), "garbage").unwrap();
    load("./garbage.ko", 2, &["garbage.ko", "not an ELF file", ".ko"]);
    load("./absent.ko", 2, &["absent.ko", "check the path"]);
    let other = r#"__attribute__((section(".modinfo"), used))
static const char info[] = "license=GPL\0vermagic=1.2.3-other SMP \0depends=";"#;
    if compiled(here, other, &["-c"], "other.ko") {
        load("./other.ko", 2, &["other.ko", "1.2.3-other", "make -C"]);
    }
    Ok(())
}

fn kernel_image() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    fs::write(here.join("image"), vec![0x5a; 4096]).unwrap();
    let add = |name: &str, image: &str| {
        let arguments = ["kernel", "add", name, "--kernel", image];
        let mut command = command(here, &arguments);
        command
            .env("ASSIZE_CACHE", here.join("cache"))
            .output()
            .unwrap()
    };
    refused(
        here,
        &add("mine", "image"),
        2,
        &["mine", "not a kernel image", "bzImage"],
    );
    refused(
        here,
        &add("debian:6.12", "image"),
        2,
        &["debian:6.12", "another name"],
    );
    assert!(!here.join("cache/kernels").exists(), "something was stored");
    experiment(here, "exact", "kernel = \"mine\"", TRUE);
    if !lacks(there(&["QEMU"])) {
        let words = ["mine", "assize kernel"];
        refused(
            here,
            &run(here, &[("ASSIZE_CACHE", &here.join("cache"))]),
            2,
            &words,
        );
    }
    Ok(())
}

fn agents() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let agent = here.join("agent");
    let executable = || fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    let check = |word: &str| {
        for target in ["host", "exact"] {
            if target == "host" || exact().is_ok() {
                experiment(here, target, "", TRUE);
                let done = run(here, &[("ASSIZE_AGENT", &agent)]);
                refused(here, &done, 2, &[word, "ASSIZE_AGENT", "agent"]);
            }
        }
    };
    check("cannot be read");
    fs::write(&agent, "text").unwrap();
    check("not executable");
    executable();
    check("not a 64-bit ELF");
    fs::copy("/bin/sh", &agent).unwrap();
    executable();
    check("not static");
    let ends = "int main(void) { return 7; }";
    if compiled(here, ends, &["-static"], "agent") {
        check("exit status: 7");
        // The agent, as if built for another architecture.
        let mut bytes = fs::read(&agent).unwrap();
        let other = if bytes[18] == 62 { 183 } else { 62 };
        bytes[18] = other;
        fs::write(&agent, bytes).unwrap();
        check("it is built for");
    }
    Ok(())
}

fn agent_ends() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let source = r#"#include <unistd.h>
int main(int argc, char **argv) {
    return argc > 1 ? write(1, "assize-agent 0\n", 15) != 15 : 3;
}"#;
    if lacks(exact()) || !compiled(here, source, &["-static"], "agent") {
        return Ok(());
    }
    cache(&here.join("cache"));
    experiment(here, "exact", "", TRUE);
    let variables: [(&str, &Path); 2] = [
        ("ASSIZE_AGENT", &here.join("agent")),
        ("ASSIZE_CACHE", &here.join("cache")),
    ];
    let words = ["boot", "Attempted to kill init", "ASSIZE_AGENT"];
    refused(here, &run(here, &variables), 3, &words);
    no_image(&here.join("cache"));
    Ok(())
}

/// Asserts that there is no memory image, not even an incomplete one.
fn no_image(cache: &Path) {
    let left: Vec<PathBuf> = fs::read_dir(cache.join("images"))
        .map(|all| all.map(|one| one.unwrap().path()).collect())
        .unwrap_or_default();
    assert!(left.iter().all(|path| path.is_file()), "{left:?}");
}

fn programs() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    experiment(here, "host", "", r#"["cyclictest"]"#);
    let done = run(here, &[("PATH", here)]);
    refused(
        here,
        &done,
        3,
        &["cyclictest", "PATH", "apt install rt-tests"],
    );
    experiment(here, "host", "", r#"["no-such-program"]"#);
    refused(here, &run(here, &[]), 3, &["no-such-program", "install it"]);
    if lacks(exact()) {
        return Ok(());
    }
    experiment(here, "exact", "", r#"["no-such-program"]"#);
    refused(here, &run(here, &[]), 2, &["no-such-program", "install it"]);
    let packages = [
        ("schbench", "no package of schbench"),
        ("stress-ng", "apt-get install stress-ng"),
        ("fio", "apt-get install fio"),
    ];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let missing = packages
        .iter()
        .find(|(name, _)| !directories.iter().any(|at| at.join(name).exists()));
    if let Some((program, how)) = missing {
        experiment(here, "exact", "", &format!("[\"{program}\"]"));
        refused(here, &run(here, &[]), 2, &[program, how]);
    }
    Ok(())
}

/// A small file system, unmounted on drop.
struct Small(PathBuf);

impl Small {
    fn mount(at: PathBuf, size: &str) -> Option<Small> {
        fs::create_dir_all(&at).unwrap();
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", size, "none"])
            .arg(&at)
            .output();
        let mounted = done.is_ok_and(|done| done.status.success());
        if lacks(as_root()) {
            return None;
        }
        if !mounted {
            crate::common::skip("no tmpfs can be mounted");
        }
        mounted.then_some(Small(at))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

fn full_cache() -> Outcome {
    if lacks(exact()) {
        return Ok(());
    }
    // Too small for the initramfs; then too small for the memory image.
    for size in ["size=256k", "size=24m"] {
        let place = tempfile::tempdir().unwrap();
        let here = place.path();
        let Some(small) = Small::mount(here.join("cache"), size) else {
            return Ok(());
        };
        cache(&small.0);
        experiment(here, "exact", "", TRUE);
        let done = run(here, &[("ASSIZE_CACHE", &small.0)]);
        refused(here, &done, 3, &["free some space", "ASSIZE_CACHE"]);
        no_image(&small.0);
    }
    Ok(())
}

fn full_bundle() -> Outcome {
    // Too small for the head of the bundle, and then for a run.
    for (pages, mend) in [(1, "try again"), (3, "--resume")] {
        let place = tempfile::tempdir().unwrap();
        let here = place.path();
        let Some(small) = Small::mount(here.join("small"), "size=1m") else {
            return Ok(());
        };
        experiment(here, "host", "", TRUE);
        let fill = small.0.join("fill");
        let whole = vec![0; 1 << 20];
        fs::write(&fill, &whole[4096 * pages..]).unwrap();
        let arguments = ["run", "test.toml", "--quiet", "--out", "small/b"];
        let done = command(here, &arguments).output().unwrap();
        refused(here, &done, 3, &["No space left", "free some space", mend]);
        fs::remove_file(&fill).unwrap();
        let begun = small.0.join("b/bundle.json").exists();
        assert_eq!(begun, mend == "--resume");
        let arguments = match begun {
            true => ["run", "--quiet", "--resume", "small/b"].to_vec(),
            false => arguments.to_vec(),
        };
        let done = command(here, &arguments).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
        assert_eq!(recorded(&small.0.join("b")), 2);
        let verdict = document(here, &["compare", "small/b", "--json"]);
        assert_eq!(verdict["runs"].as_array().unwrap().len(), 2);
    }
    Ok(())
}

fn qemu() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let cache = here.join("cache");
    experiment(here, "exact", "cpus = 2", TRUE);
    let without = [("ASSIZE_CACHE", &*cache), ("PATH", here)];
    let fetch = "assize kernel fetch --qemu";
    refused(here, &run(here, &without), 3, &["find QEMU", "PATH", fetch]);
    let named = here.join("named");
    let name = |more: &[&str], status: i32| {
        let mut words = vec!["ASSIZE_QEMU"];
        words.extend(more);
        refused(here, &run(here, &[("ASSIZE_QEMU", &named)]), status, &words);
    };
    name(&["named", "No such file"], 2);
    script(&named, "echo something else");
    name(&["named", "--version"], 2);
    script(&named, "echo QEMU emulator version 6.2.0");
    name(&["6.2.0", "older than 7.2"], 2);
    if !lacks(there(&["kernel debian:6.12"])) {
        script(&named, "echo QEMU emulator version 7.2.22");
        name(&["2 CPUs", "7.2.22", fetch], 3);
    }
    Ok(())
}

fn no_cache() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    experiment(here, "exact", "", TRUE);
    for arguments in [&["run", "test.toml"][..], &["kernel", "list"]] {
        let mut command = command(here, arguments);
        for name in ["ASSIZE_CACHE", "XDG_CACHE_HOME", "HOME"] {
            command.env_remove(name);
        }
        let words = [
            "none of ASSIZE_CACHE, XDG_CACHE_HOME and HOME is set",
            "set ASSIZE_CACHE",
        ];
        refused(here, &command.output().unwrap(), 2, &words);
    }
    Ok(())
}

fn wall_limit() -> Outcome {
    if lacks(exact()) {
        return Ok(());
    }
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    experiment(here, "exact", "", TRUE);
    let name = "ASSIZE_WALL_LIMIT_S";
    refused(
        here,
        &run(here, &[(name, Path::new("soon"))]),
        2,
        &[name, "soon"],
    );
    Ok(())
}

/// The command as an unprivileged user, who may still read the files.
fn as_nobody(here: &Path, arguments: &[&str]) -> Option<Command> {
    let nobody = |program: &std::ffi::OsStr| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command.args([
            "--inh-caps=+dac_read_search",
            "--ambient-caps=+dac_read_search",
        ]);
        command.arg(program).current_dir(here);
        command
    };
    if lacks(as_root()) {
        return None;
    }
    fs::set_permissions(here, fs::Permissions::from_mode(0o777)).unwrap();
    let program = command(here, &[]).get_program().to_owned();
    let tried = nobody(&program).arg("--version").output();
    if !tried.is_ok_and(|tried| tried.status.success()) {
        crate::common::skip("setpriv cannot start the command as nobody");
        return None;
    }
    let mut command = nobody(&program);
    command.args(arguments);
    Some(command)
}

fn no_kvm() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let there = exact().and_then(|()| match fs::metadata("/dev/kvm") {
        Ok(kvm) if kvm.permissions().mode() & 0o6 == 0 => Ok(()),
        Ok(_) => Err("everybody may use /dev/kvm".to_string()),
        Err(error) => Err(format!("/dev/kvm: {error}")),
    });
    let arguments = ["run", "test.toml", "--quiet", "--runs", "1"];
    let Some(mut command) = (!lacks(there))
        .then(|| as_nobody(here, &arguments))
        .flatten()
    else {
        return Ok(());
    };
    let cached = here.join("cache");
    cache(&cached);
    fs::set_permissions(&cached, fs::Permissions::from_mode(0o777)).unwrap();
    experiment(here, "live", "", TRUE);
    command.env("ASSIZE_WALL_LIMIT_S", "15");
    let done = command.env("ASSIZE_CACHE", &cached).output().unwrap();
    let run = fs::read(here.join("test.bundle/runs/0000.json"));
    let run: serde_json::Value = serde_json::from_slice(&run.unwrap()).unwrap();
    let doubts = run["doubts"].as_array().unwrap();
    let said = doubts
        .iter()
        .find(|doubt| doubt["code"] == "software-emulation");
    let Some(said) = said else {
        panic!("{run}: {}", errors(&done));
    };
    let detail = said["detail"].as_str().unwrap();
    assert!(detail.contains("/dev/kvm: Permission denied"), "{detail}");
    Ok(())
}

fn no_tracefs() -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let Some(mut command) = as_nobody(here, &["run", "test.toml", "--quiet"]) else {
        return Ok(());
    };
    experiment(here, "host", "instruments = [\"wakeup\"]", TRUE);
    let done = command.output().unwrap();
    refused(here, &done, 2, &["permission", "wakeup", "root"]);
    Ok(())
}
