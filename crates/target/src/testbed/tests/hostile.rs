//! Modules whose sources run commands, which kbuild executes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{BROKEN, PAIR, kernel};
use crate::kernels::Kernel;
use crate::sandbox::Sandbox;
use crate::sandbox::tests::kinds;
use crate::testbed::{KernelToBuildFor, build};

/// A module without any code.
const SOURCE: &str =
    "#include <linux/module.h>\nMODULE_DESCRIPTION(\"m\");\nMODULE_LICENSE(\"GPL\");\n";

/// Builds sources below `root`; `$(OUTSIDE)` in a Kbuild or Kconfig file is `root/outside`.
fn build_in(
    root: &Path,
    kernel: &Kernel,
    files: &[(&str, &str)],
    sandbox: &Sandbox,
) -> Result<Vec<PathBuf>, crate::Error> {
    let outside = root.join("outside");
    fs::create_dir_all(&outside).unwrap();
    let headers = kernel.headers.as_ref().unwrap();
    let place = |text: &&str| {
        let text = text.replace("$(OUTSIDE)", &outside.display().to_string());
        text.replace("$(HEADERS)", &headers.display().to_string())
    };
    let texts: BTreeMap<String, String> = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), place(text)))
        .collect();
    let subject = KernelToBuildFor::new(kernel)?;
    let built = build::ensure_in_sandbox(root, &texts, &subject, sandbox);
    built.map(|built| built.into_values().collect())
}

#[test]
fn modules_are_the_same_bytes_with_a_sandbox_and_without() {
    let Some(kernel) = kernel() else { return };
    let made = |sandbox: &Sandbox| {
        let root = tempfile::tempdir().unwrap();
        let paths = build_in(root.path(), &kernel, PAIR, sandbox).unwrap();
        let text = |path: &PathBuf| fs::read(path).unwrap();
        let inputs = fs::read_to_string(paths[0].with_file_name("inputs")).unwrap();
        (Vec::from_iter(paths.iter().map(text)), inputs)
    };
    let (modules, inputs) = made(&Sandbox::Off);
    for sandbox in kinds() {
        let inside = made(&sandbox);
        assert!(inside.0 == modules, "{sandbox:?}: other bytes");
        assert_eq!(inside.1, inputs, "{sandbox:?}: other inputs");
        let root = tempfile::tempdir().unwrap();
        let error = build_in(root.path(), &kernel, BROKEN, &sandbox).unwrap_err();
        assert!(
            error.why.starts_with("kernel/broken.c:2:1: error"),
            "{error}"
        );
    }
}

/// Files of a module, and what its build says if it does not succeed.
type HostileModule = (
    &'static [(&'static str, &'static str)],
    Option<&'static str>,
);

const HOSTILE: &[HostileModule] = &[
    // A shell in Kbuild.
    (
        &[
            (
                "Kbuild",
                "obj-m := m.o\nx := $(shell touch $(OUTSIDE)/file)\n",
            ),
            ("m.c", SOURCE),
        ],
        None,
    ),
    // A shell in Kconfig, read by the kernel's own program.
    (
        &[
            (
                "Kbuild",
                "obj-m := m.o\n\
                 x := $(shell cd $(src) && $(HEADERS)/scripts/kconfig/conf --alldefconfig Kconfig \
                 > said 2>&1)\n",
            ),
            (
                "Kconfig",
                "config A\n\tdef_bool $(shell,touch $(OUTSIDE)/file && echo y)\n",
            ),
            ("m.c", SOURCE),
        ],
        None,
    ),
    // A host program that kbuild compiles and a rule that runs it.
    (
        &[
            (
                "Kbuild",
                "obj-m := m.o\nhostprogs := h\n\
                 $(obj)/m.o: $(obj)/made.h\n$(obj)/made.h: $(obj)/h\n\t$< $(OUTSIDE)/file; touch $@\n",
            ),
            (
                "h.c",
                "#include <stdio.h>\nint main(int c, char **v) { return !fopen(v[1], \"w\"); }\n",
            ),
            ("m.c", SOURCE),
        ],
        None,
    ),
    // A file of the user's in place of the module.
    (
        &[
            (
                "Kbuild",
                "obj-m := m.o\n$(obj)/m.o: FORCE\n\
                 \t(sleep 1; while ! [ -e $(obj)/m.ko ]; do :; done; \
                 ln -sf /etc/passwd $(obj)/m.ko) &\n",
            ),
            ("m.c", SOURCE),
        ],
        None,
    ),
    (
        &[
            (
                "Kbuild",
                "obj-m := m.o\nx := $(shell ln -s /etc/passwd $(src)/n.ko)\n",
            ),
            ("m.c", SOURCE),
        ],
        Some("a link out of its folder"),
    ),
    // Its own compiler, which is asked for other programs after the build.
    (
        &[
            (
                "Kbuild",
                "obj-m := m.o\nx := $(shell chmod +x $(src)/evil.sh; mkdir -p $(src)/x; \
                 echo 'savedcmd_a.o := $(src)/evil.sh -c -o a.o a.c' > $(src)/x/.a.o.cmd)\n",
            ),
            (
                "evil.sh",
                "#!/bin/sh\nd=${0%/*}\ntouch $(OUTSIDE)/file || {\n\
                 rm $d/modules.order && mkfifo $d/modules.order; ln -s /etc/passwd $d/n.ko\n}\n\
                 echo /dev/zero\n",
            ),
            ("m.c", SOURCE),
        ],
        None,
    ),
    // Inputs that have no end, or wait.
    (
        &[
            (
                "Kbuild",
                "obj-m := m.o\nx := $(shell mkdir -p $(src)/x; \
                 printf 'savedcmd_a.o := gcc -I/proc -c -o a.o a.c\\nsource_a.o := /dev/zero\\n\
                 deps_a.o := \\\\\\n  /proc/kmsg \\\\\\n' > $(src)/x/.a.o.cmd)\n",
            ),
            ("m.c", SOURCE),
        ],
        None,
    ),
    // Links that lead back.
    (
        &[
            (
                "Kbuild",
                "obj-m := m.o\nx := $(shell for i in a b c d; do ln -s . $(src)/$$i; done)\n",
            ),
            ("m.c", SOURCE),
        ],
        None,
    ),
];

#[test]
fn sources_that_run_commands_do_nothing_outside_their_folder() {
    let Some(kernel) = kernel() else { return };
    // Without a sandbox they do what they are meant to: otherwise this would prove nothing.
    let attempts = |text: &str| text.contains("$(OUTSIDE)/file");
    for (files, _) in HOSTILE {
        if files.iter().any(|(_, text)| attempts(text)) {
            let root = tempfile::tempdir().unwrap();
            let built = build_in(root.path(), &kernel, files, &Sandbox::Off);
            let touched = root.path().join("outside/file");
            assert!(touched.exists(), "{files:?}: {built:?}");
        }
    }
    for sandbox in kinds() {
        for (files, why) in HOSTILE {
            let root = tempfile::tempdir().unwrap();
            let built = build_in(root.path(), &kernel, files, &sandbox);
            let outside = crate::fault::list(&root.path().join("outside")).unwrap();
            assert!(
                outside.is_empty(),
                "{sandbox:?}: {files:?} left {outside:?}"
            );
            match (built, why) {
                (Err(error), Some(why)) => assert!(error.why.contains(why), "{error}"),
                (Ok(_), Some(why)) => panic!("{sandbox:?}: {files:?} is not refused: {why}"),
                // It may fail, if it says why.
                (Err(error), None) => assert!(!error.why.is_empty(), "{error}"),
                (Ok(paths), None) => {
                    for path in paths {
                        assert!(path.symlink_metadata().unwrap().is_file());
                        assert_eq!(fs::read(&path).unwrap()[..4], *b"\x7fELF");
                    }
                }
            }
        }
    }
}

#[test]
fn headers_of_a_kernel_that_somebody_else_wrote_run_nothing_outside_either() {
    let root = tempfile::tempdir().unwrap();
    let headers = root.path().join("headers");
    fs::create_dir(&headers).unwrap();
    let touched = root.path().join("touched");
    let rules = format!("modules:\n\ttouch {}\n\tfalse\n", touched.display());
    fs::write(headers.join("Makefile"), rules).unwrap();
    let mut kernel = super::bare("mine");
    kernel.headers = Some(headers);
    kernel.trusted = true;
    let testbed = super::Testbed::with_files(root.path(), PAIR);
    let said = testbed.build(&kernel, false).unwrap_err();
    if said.why.starts_with("not found in PATH") {
        eprintln!("skipped: {said}");
        return;
    }
    assert!(touched.exists());
    fs::remove_file(&touched).unwrap();
    kernel.trusted = false;
    testbed.build(&kernel, false).unwrap_err();
    assert!(!touched.exists());
}
