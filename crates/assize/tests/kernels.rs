//! Messages about kernels that are available, and about others.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::common::{command, errors};

/// Stores a kernel by hand, with one module and its headers.
fn store(cache: &Path, name: &str) {
    let place = cache.join("kernels").join(name).join("1");
    let modules = place.join("lib/modules/6.1.0-mine");
    fs::create_dir_all(&modules).unwrap();
    fs::create_dir_all(place.join("headers")).unwrap();
    let description = serde_json::json!({
        "schema": "assize.kernel/1", "name": name, "version": "1", "release": "6.1.0-mine",
        "digest": "0", "headers": "headers", "origin": "a test",
    });
    fs::write(modules.join("modules.dep"), "kernel/drivers/dummy.ko:\n").unwrap();
    fs::write(
        place.join("headers/Makefile"),
        "modules:\n\t@echo in $(M)\n",
    )
    .unwrap();
    fs::write(place.join("vmlinuz"), "").unwrap();
    fs::write(place.join("kernel.json"), description.to_string()).unwrap();
}

/// Runs the command with a cache that holds only a kernel called `mine`.
fn assize(here: &Path, arguments: &[&str]) -> Output {
    let cache = here.join("cache");
    if !cache.exists() {
        store(&cache, "mine");
    }
    let mut command = command(here, arguments);
    command.env("ASSIZE_CACHE", &cache).output().unwrap()
}

const EXPERIMENT: &str = "\
title = \"x\"
kernel = \"KERNEL\"
setup = [{ module = \"MODULE\" }]
[factors.f.a]
[factors.f.b]
cpus = 2
[workloads.w]
kind = \"hackbench\"
";

#[test]
fn a_plan_refuses_kernels_and_modules_that_do_not_exist() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    for (kernel, module, expected) in [
        ("mine", "dummy", None),
        ("mine", "simgpu", None),
        ("debian:6.12", "whatever", None),
        (
            "debian:6.13",
            "dummy",
            Some(
                "x.toml:2: kernel: cannot find the kernel debian:6.13: no kernel has this name; did you mean debian:6.1",
            ),
        ),
        (
            "mine",
            "dumy",
            Some(
                "x.toml:3: setup[0]: cannot copy the module dumy: the kernel mine (6.1.0-mine) has no such module; give its name",
            ),
        ),
        (
            "debian:6.12",
            "./gone.ko",
            Some("x.toml:3: setup[0]: cannot read the module ./gone.ko: No such file"),
        ),
    ] {
        let text = EXPERIMENT
            .replace("KERNEL", kernel)
            .replace("MODULE", module);
        fs::write(here.join("x.toml"), text).unwrap();
        let verbs: &[&str] = match expected {
            Some(_) => &["plan", "run"],
            None => &["plan"],
        };
        for verb in verbs {
            let done = assize(here, &[verb, "x.toml"]);
            let said = errors(&done);
            let status = Some(if expected.is_some() { 2 } else { 0 });
            assert_eq!(
                done.status.code(),
                status,
                "{verb} {kernel} {module}: {said}"
            );
            assert!(
                said.contains(expected.unwrap_or_default()),
                "{verb}: {said}"
            );
        }
    }
    let fetched: Vec<_> = fs::read_dir(here.join("cache/kernels")).unwrap().collect();
    assert_eq!(fetched.len(), 1, "nothing is fetched: {fetched:?}");
}

#[test]
fn a_plan_says_which_kernel_has_to_be_fetched_and_checks_only_what_runs() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let text = EXPERIMENT
        .replace("KERNEL", "debian:7")
        .replace("MODULE", "dummy");
    let text = text.replace("cpus = 2", "kernel = \"nonsense\"");
    fs::write(here.join("x.toml"), text).unwrap();
    let done = assize(here, &["plan", "x.toml", "--set", "f=a"]);
    assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
    assert!(errors(&done).contains("assize kernel fetch debian:7"));
    let done = assize(here, &["plan", "x.toml"]);
    let said = errors(&done);
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(said.contains("x.toml:6: factors.f.b.kernel: "), "{said}");
    let text = EXPERIMENT
        .replace("KERNEL", "mine")
        .replace("MODULE", "dummy");
    fs::write(here.join("x.toml"), text).unwrap();
    let done = assize(here, &["plan", "x.toml", "--kernel", "mien"]);
    let said = errors(&done);
    assert!(
        said.contains("--kernel mien: ") && said.contains("did you mean mine?"),
        "{said}"
    );
}

#[test]
fn headers_are_what_make_needs() {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let done = assize(here, &["kernel", "headers", "mine"]);
    assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
    let printed = String::from_utf8(done.stdout).unwrap();
    let path = printed.strip_suffix('\n').unwrap();
    assert!(Path::new(path).is_absolute() && Path::new(path).join("Makefile").exists());
    for (name, mend) in [
        (
            "debian:6.12",
            "it has not been fetched or added; assize kernel fetch --headers debian:6.12",
        ),
        ("mien", "no kernel has this name; did you mean mine?"),
    ] {
        let done = assize(here, &["kernel", "headers", name]);
        let said = errors(&done);
        assert_eq!(done.status.code(), Some(2), "{said}");
        assert!(done.stdout.is_empty() && said.contains(mend), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    fs::remove_dir_all(here.join("cache/kernels/mine/1/headers")).unwrap();
    let done = assize(here, &["kernel", "headers", "mine"]);
    let said = errors(&done);
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(
        said.contains("its headers have not been fetched or added; assize kernel add mine"),
        "{said}"
    );
}
