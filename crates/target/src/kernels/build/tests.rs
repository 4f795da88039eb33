#![allow(clippy::unwrap_used)] // A test may fail.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use std::time::Duration;

use super::*;
use crate::process::ChildProcess;
use crate::sandbox::tests::{kinds, usual};

/// Pause between two checks.
const TURN: Duration = Duration::from_millis(5);

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A directory that passes for a kernel tree.
fn tree() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    for path in ["Kconfig", "arch/x86/Kconfig", "scripts/Kconfig.include"] {
        write(place.path(), path, "\n");
    }
    write(place.path(), "Makefile", "all:\n");
    place
}

/// The paths of all files below a directory.
fn files(root: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false => {
                    let inside = path.strip_prefix(root).unwrap();
                    found.insert(inside.to_str().unwrap().to_owned());
                }
            }
        }
    }
    found
}

#[test]
fn what_is_no_tree_of_the_kernel_or_is_not_clean_is_refused() {
    let fine = tree();
    assert!(check_tree("try", fine.path()).is_ok());
    for dirt in [
        ".config",
        "include/config/auto.conf",
        "arch/x86/include/generated/a.h",
    ] {
        let place = tree();
        write(place.path(), dirt, "");
        let error = check_tree("try", place.path()).unwrap_err();
        assert!(error.why.contains("something was built in"), "{error}");
        assert!(error.mend.unwrap().contains("git worktree add"));
    }
    let place = tree();
    fs::remove_file(place.path().join("arch/x86/Kconfig")).unwrap();
    let error = check_tree("try", place.path()).unwrap_err();
    assert!(error.why.ends_with("it has no arch/x86/Kconfig"), "{error}");
    let odd = tempfile::tempdir().unwrap();
    let inside = odd.path().join("a b");
    fs::rename(tree().keep(), &inside).unwrap();
    let error = check_tree("try", &inside).unwrap_err();
    assert!(
        error.why.contains("the path has special characters"),
        "{error}"
    );
}

#[test]
fn a_name_of_others_is_refused_before_anything_is_built() {
    let place = tempfile::tempdir().unwrap();
    let kernels = Kernels::new(place.path().to_path_buf());
    let said = kernels.build("debian:6.12", tree().path(), &Sandbox::Off, &mut |_| ());
    assert!(said.unwrap_err().why.contains("taken"));
    assert!(files(place.path()).is_empty());
}

#[test]
fn objects_are_shared_only_by_what_is_built_alike() {
    let key = |tree: &Path, compiler: &str, fragment| {
        let made = KernelBuildInputs {
            compiler: compiler.to_owned(),
            fragment,
        };
        made.key(tree)
    };
    let one = key(Path::new("/a"), "gcc 12", "CONFIG_A=y");
    assert_eq!(one, key(Path::new("/a"), "gcc 12", "CONFIG_A=y"));
    for other in [
        key(Path::new("/b"), "gcc 12", "CONFIG_A=y"),
        key(Path::new("/a"), "gcc 14", "CONFIG_A=y"),
        key(Path::new("/a"), "gcc 12", "CONFIG_A=n"),
        key(Path::new("/agcc"), " 12", "CONFIG_A=y"),
    ] {
        assert_ne!(one, other);
    }
}

#[test]
fn make_is_told_where_objects_go_and_no_version_of_its_own() {
    let command = command(Path::new("/t"), Path::new("/o"), &["bzImage"]);
    let arguments: Vec<_> = command.get_args().collect();
    assert!(arguments.iter().any(|word| *word == "LOCALVERSION="));
    assert!(arguments.iter().any(|word| *word == "O=/o"));
}

#[test]
fn what_make_has_started_ends_when_the_build_is_killed() {
    let (sources, place) = (tree(), tempfile::tempdir().unwrap());
    // The lock is next to the objects, and must not be shared with another test.
    let objects = place.path().join("objects");
    fs::create_dir(&objects).unwrap();
    // A process that was not killed leaves a file after ten minutes, and ends.
    let rules = "sub:\n\t@$(MAKE) --no-print-directory deep\n\
        deep:\n\t@echo $$$$ > $(O)/new && mv $(O)/new $(O)/pid; sleep 600; touch $(O)/went-on\n";
    write(sources.path(), "Makefile", rules);
    let pid = objects.join("pid");
    // The kernel sends its signal when the thread that started make ends.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let errors = File::create(objects.join("log")).unwrap();
            let command = command(sources.path(), &objects, &["sub"]);
            let process =
                ChildProcess::start(command, sources.path(), errors, None, Duration::MAX).unwrap();
            while !pid.exists() {
                let log = || fs::read_to_string(objects.join("log"));
                assert!(!process.ends_within(TURN), "{:?}", log());
            }
            std::mem::forget(process);
        });
    });
    let deep = fs::read_to_string(&pid).unwrap();
    // It is a zombie until init reaps it.
    let goes_on = || {
        let status = fs::read_to_string(format!("/proc/{}/status", deep.trim()));
        status.is_ok_and(|text| !text.contains("State:\tZ"))
    };
    while goes_on() {
        std::thread::sleep(TURN);
    }
    assert!(!objects.join("went-on").exists());
}

#[test]
fn headers_are_those_of_the_build_and_stay_when_the_tree_changes() {
    let (sources, objects, to) = (
        tree(),
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
    );
    for path in [
        "include/linux/a.h",
        "arch/x86/include/asm/b.h",
        "arch/x86/Makefile_32.cpu",
    ] {
        write(sources.path(), path, "before");
    }
    write(sources.path(), "kernel/sched/fair.c", "");
    for path in [
        ".config",
        "Module.symvers",
        "include/generated/autoconf.h",
        "include/config/auto.conf",
        "include/config/EMPTY",
        "arch/x86/include/generated/c.h",
        "scripts/mod/modpost",
        "scripts/mod/modpost.o",
        "scripts/mod/.modpost.cmd",
        "vmlinux",
    ] {
        write(objects.path(), path, "");
    }
    std::os::unix::fs::symlink("..", sources.path().join("scripts/up")).unwrap();
    headers::keep("try", sources.path(), objects.path(), to.path()).unwrap();
    write(sources.path(), "include/linux/a.h", "after");
    let expected = [
        ".config",
        "Makefile",
        "Module.symvers",
        "arch/x86/Makefile_32.cpu",
        "arch/x86/include/asm/b.h",
        "arch/x86/include/generated/c.h",
        "include/config/auto.conf",
        "include/generated/autoconf.h",
        "include/linux/a.h",
        "scripts/Kconfig.include",
        "scripts/mod/modpost",
    ];
    assert_eq!(files(to.path()), expected.map(String::from).into());
    let text = fs::read_to_string(to.path().join("include/linux/a.h"));
    assert_eq!(text.unwrap(), "before");
}

/// A stand-in for kbuild: the image is `head` plus the code in a source.
const MAKEFILE: &str = "\
allnoconfig:
\t@mkdir -p $(O)/include/config $(O)/include/generated $(O)/scripts
\t@grep -v CONFIG_SCHED_DEBUG $(KCONFIG_ALLCONFIG) > $(O)/.config
\t@echo 6.12.0 > $(O)/include/config/kernel.release
\t@echo CONFIG_SMP=y > $(O)/include/config/auto.conf
\t@env > $(O)/env
bzImage:
\t@mkdir -p $(O)/arch/x86/boot
\t@grep -n planted kernel/sched/fair.c | sed 's/^/fair.c: error: /' >&2
\t@! grep -q planted kernel/sched/fair.c
\t@(cat head; sed 's://.*::' kernel/sched/fair.c | tr -d '\\n') > $(O)/arch/x86/boot/bzImage
modules:
\t@sed 's://.*::' kernel/sched/fair.c | tr -d '\\n' > $(O)/a.ko
\t@! test -e module.c || cat module.c >> $(O)/a.ko
modules_install:
\t@mkdir -p $(INSTALL_MOD_PATH)/lib/modules/6.12.0
\t@cp $(O)/a.ko $(INSTALL_MOD_PATH)/lib/modules/6.12.0
";

/// A tree that can be built, and a store for kernels.
pub(in crate::kernels) struct Lab {
    tree: tempfile::TempDir,
    place: tempfile::TempDir,
    sandbox: Sandbox,
}

impl Lab {
    /// `None` if there is no make.
    pub(in crate::kernels) fn new() -> Option<Self> {
        if let Err(error) = Command::new("make").arg("--version").output() {
            eprintln!("skipped: no make: {error}");
            return None;
        }
        let lab = Lab {
            tree: tree(),
            place: tempfile::tempdir().unwrap(),
            sandbox: usual(),
        };
        write(lab.tree.path(), "Makefile", MAKEFILE);
        write(lab.tree.path(), "include/linux/a.h", "");
        write(lab.tree.path(), "arch/x86/include/asm/b.h", "");
        let head = crate::kernels::image::tests::bzimage("6.12.0 (assize@assize) #1");
        fs::write(lab.tree.path().join("head"), head).unwrap();
        Some(lab)
    }

    pub(in crate::kernels) fn kernels(&self) -> Kernels {
        Kernels::new(self.place.path().to_path_buf())
    }

    fn build(&self, name: &str, source: &str) -> (Result<BuiltKernel, Error>, Vec<String>) {
        let tree = self.with(source);
        let mut said = Vec::new();
        let mut say = |line: &str| said.push(line.to_owned());
        let made = KernelBuildInputs::with_compiler("gcc 12");
        let kernels = self.kernels();
        let built = kernels.build_by(&made, name, &tree, None, &self.sandbox, &mut say);
        (built, said)
    }

    /// The tree with this source.
    pub(in crate::kernels) fn with(&self, source: &str) -> PathBuf {
        write(self.tree.path(), "kernel/sched/fair.c", source);
        check_tree("try", self.tree.path()).unwrap()
    }
}

#[test]
fn a_comment_makes_the_same_image_and_code_another() {
    let Some(lab) = Lab::new() else { return };
    let (base, _) = lab.build("base", "int slice = 1;\n");
    let base = base.unwrap();
    assert_eq!(base.same, Vec::<String>::new());
    let (comment, _) = lab.build("comment", "// A slice.\nint slice = 1;\n");
    let comment = comment.unwrap();
    assert_eq!(comment.same, ["base"]);
    assert_eq!(comment.kernel.digest, base.kernel.digest);
    let (code, _) = lab.build("code", "int slice = 3;\n");
    let code = code.unwrap();
    assert_eq!(code.same, Vec::<String>::new());
    assert_ne!(code.kernel.digest, base.kernel.digest);
    // Code of a module is not in the image.
    write(lab.tree.path(), "module.c", "int of_a_module;\n");
    let (module, _) = lab.build("module", "int slice = 1;\n");
    let module = module.unwrap();
    assert_eq!(module.kernel.digest, base.kernel.digest);
    assert_eq!(module.same, Vec::<String>::new());

    // Each stored kernel keeps its files, whatever was built later.
    let stored = |name: &str| lab.kernels().resolve(name).unwrap();
    for (name, text) in [("base", "= 1"), ("code", "= 3")] {
        let kernel = stored(name);
        assert_eq!(kernel.release, "6.12.0");
        let module = kernel.modules.unwrap().join("a.ko");
        assert!(fs::read_to_string(module).unwrap().contains(text), "{name}");
        let headers = kernel.headers.unwrap();
        assert!(headers.join("include/config/auto.conf").is_file());
        assert!(headers.join("include/linux/a.h").is_file());
        assert!(kernel.config.is_some());
    }
    assert!(
        !lab.tree.path().join(".config").exists(),
        "the tree is only read"
    );
}

#[test]
fn what_builds_is_told_who_builds_and_nothing_of_our_environment() {
    let Some(lab) = Lab::new() else { return };
    lab.build("mine", "int a;\n").0.unwrap();
    let builds = files(&lab.place.path().join("builds"));
    let path = builds.iter().find(|path| path.ends_with("/env")).unwrap();
    let text = fs::read_to_string(lab.place.path().join("builds").join(path)).unwrap();
    let told: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.split('=').next())
        .collect();
    for (name, _) in BUILDER {
        assert!(told.contains(name), "{name}: {text}");
    }
    // cargo sets this for its tests.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert!(!told.contains("CARGO_MANIFEST_DIR"), "{text}");
}

#[test]
fn a_source_that_does_not_compile_is_named_and_stores_nothing() {
    let Some(lab) = Lab::new() else { return };
    let (built, _) = lab.build("broken", "planted\n");
    let error = built.unwrap_err();
    assert!(error.why.contains("error: 1:planted"), "{error}");
    assert!(error.mend.unwrap().contains("build.log"));
    assert!(lab.kernels().resolve("broken").is_err());
    assert!(lab.build("mended", "int a;\n").0.is_ok());
}

#[test]
fn options_that_a_kernel_does_not_have_are_said_and_needed_ones_are_missed() {
    let Some(lab) = Lab::new() else { return };
    let (built, said) = lab.build("mine", "int a;\n");
    assert!(built.is_ok());
    let named = said
        .iter()
        .filter(|line| line.contains("CONFIG_SCHED_DEBUG=y"));
    assert_eq!(named.count(), 1, "{said:?}");

    let without = MAKEFILE.replace("CONFIG_SCHED_DEBUG", "CONFIG_X86_IOPL_IOPERM");
    write(lab.tree.path(), "Makefile", &without);
    let error = lab.build("mine", "int a;\n").0.unwrap_err();
    assert!(error.why.contains("CONFIG_X86_IOPL_IOPERM=y"), "{error}");
}

#[test]
fn an_image_is_the_same_with_a_sandbox_and_without_and_is_trusted_without() {
    let Some(mut lab) = Lab::new() else { return };
    lab.sandbox = Sandbox::Off;
    let without = lab.build("without", "int slice = 1;\n").0.unwrap();
    assert!(without.kernel.trusted);
    for (at, sandbox) in kinds().into_iter().enumerate() {
        lab.sandbox = sandbox;
        let with = lab
            .build(&format!("with-{at}"), "int slice = 1;\n")
            .0
            .unwrap();
        assert_eq!(with.kernel.digest, without.kernel.digest);
        assert!(with.same.contains(&"without".to_owned()), "{:?}", with.same);
        assert!(
            !with.kernel.trusted,
            "its headers hold programs of the sources"
        );
        assert!(!lab.kernels().resolve(&with.kernel.name).unwrap().trusted);
    }
}

/// Makefiles that try to access files outside, and the error that each gives.
const HOSTILE: &[(&str, &str, &str)] = &[
    (
        "> $(O)/arch/x86/boot/bzImage",
        "> $(O)/image; ln -s /etc/passwd $(O)/arch/x86/boot/bzImage",
        "a link out of its folder",
    ),
    (
        "echo 6.12.0 >",
        "echo ../../../../outside >",
        "cannot name a directory",
    ),
    ("echo 6.12.0 >", "echo /etc >", "cannot name a directory"),
    (
        "echo 6.12.0 >",
        "mkfifo $(O)/pipe; echo 6.12.0 >",
        "something that is not a file",
    ),
    (
        "@env > $(O)/env",
        "@echo $(shell touch $(SECRET)/file) > $(SECRET)/other",
        "Error",
    ),
];

#[test]
fn what_is_stored_of_a_hostile_build_is_nothing() {
    for sandbox in kinds() {
        for (from, to, why) in HOSTILE {
            let Some(mut lab) = Lab::new() else { return };
            lab.sandbox = sandbox.clone();
            let secret = tempfile::tempdir().unwrap();
            let text = MAKEFILE.replace(from, to);
            let text = text.replace("$(SECRET)", &secret.path().display().to_string());
            assert_ne!(text, MAKEFILE);
            write(lab.tree.path(), "Makefile", &text);
            let error = lab.build("mine", "int a;\n").0.unwrap_err();
            assert!(error.to_string().contains(why), "{to}: {error}");
            assert!(lab.kernels().resolve("mine").is_err(), "{to}");
            assert_eq!(files(secret.path()), BTreeSet::new(), "{to}");
        }
        // A link of the sources themselves: its text must not get into the headers.
        let Some(mut lab) = Lab::new() else { return };
        lab.sandbox = sandbox;
        let link = lab.tree.path().join("include/linux/stolen.h");
        std::os::unix::fs::symlink("/etc/passwd", link).unwrap();
        let error = lab.build("mine", "int a;\n").0.unwrap_err();
        assert!(error.why.contains("stolen.h"), "{error}");
    }
}

#[test]
fn objects_of_a_build_that_was_killed_are_not_used() {
    let Some(lab) = Lab::new() else { return };
    lab.build("mine", "int a;\n").0.unwrap();
    let builds = lab.place.path().join("builds");
    let place = crate::fault::list(&builds).unwrap().remove(0);
    assert!(!place.join("unfinished").exists());
    write(&place, "objects/half", "");
    lab.build("mine", "int a;\n").0.unwrap();
    assert!(
        place.join("objects/half").exists(),
        "it was built incrementally"
    );
    fs::write(place.join("unfinished"), "").unwrap();
    lab.build("mine", "int a;\n").0.unwrap();
    assert!(!place.join("objects/half").exists());
    assert!(lab.sandbox == Sandbox::Off || !place.join("unfinished").exists());
}
