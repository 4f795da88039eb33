use std::os::unix::fs::MetadataExt as _;

use super::*;
use crate::kernels::Kernels;

mod full;
mod hostile;

const KERNEL: &str = "debian:6.12";

/// Two modules, of which one depends on the other and on one of the kernel's; both would
/// reveal where they were built.
const PAIR: &[(&str, &str)] = &[
    (
        "Kbuild",
        "obj-m += low/\nobj-m += high-up/\nccflags-y += $(shell $(src)/say.sh)\n",
    ),
    (
        "high-up/Kbuild",
        "obj-m := high-up.o\nhigh-up-y := main.o\n",
    ),
    (
        "high-up/main.c",
        "// SPDX-License-Identifier: GPL-2.0-only\n\
         #include <linux/bug.h>\n#include <linux/cordic.h>\n#include <linux/module.h>\n\
         int low_add(int a);\n\
         static int __init high_init(void)\n{\n\tWARN_ON_ONCE(low_add(1) != 2);\n\
         \tpr_info(\"%s %p\\n\", __FILE__, &cordic_calc_iq);\n\treturn 0;\n}\n\
         static unsigned int many = 7;\nmodule_param(many, uint, 0444);\n\
         MODULE_PARM_DESC(many, \"how \"\n\t\"many\");\n\
         module_init(high_init);\nMODULE_DESCRIPTION(\"needs low\");\nMODULE_LICENSE(\"GPL\");\n",
    ),
    ("low/Kbuild", "# low is made of one file.\nobj-m += low.o\n"),
    (
        "low/low.c",
        "// SPDX-License-Identifier: GPL-2.0-only\n\
         #include <linux/bug.h>\n#include <linux/module.h>\nint low_add(int a);\n\
         int low_add(int a)\n{\n\tWARN_ON_ONCE(a < 0);\n\treturn a + 1;\n}\n\
         EXPORT_SYMBOL_GPL(low_add);\n\
         MODULE_DESCRIPTION(\"is needed\");\nMODULE_LICENSE(\"GPL\");\n",
    ),
    ("say.sh", "#!/bin/sh\nprintf -- '-DSAID '\n"),
];

const BROKEN: &[(&str, &str)] = &[
    ("Kbuild", "obj-m += broken.o\n"),
    ("broken.c", "#include <linux/module.h>\nnonsense x;\n"),
];

/// A fetched kernel with headers and an installed compiler, if there is one.
fn kernel() -> Option<Kernel> {
    let kernel = Kernels::new(Kernels::default_root().unwrap())
        .resolve(KERNEL)
        .ok();
    let Some(kernel) = kernel.filter(|kernel| kernel.headers.is_some()) else {
        eprintln!("skipped: no headers; assize kernel fetch --headers {KERNEL}");
        return None;
    };
    let root = tempfile::tempdir().unwrap();
    match Testbed::with_files(root.path(), &[]).build(&kernel, false) {
        Err(error) if error.why.starts_with("not found in PATH") => {
            eprintln!("skipped: {error}");
            None
        }
        _ => Some(kernel),
    }
}

#[test]
fn modules_are_found_in_their_sources_with_what_they_say_of_themselves() {
    let sources = ModuleSources::with_files(PAIR);
    assert_eq!(
        Vec::from_iter(sources.names(true)),
        ["high_up".to_string(), "low".to_string()]
    );
    let parameter = ModuleParameter {
        name: "many".into(),
        about: "how many".into(),
    };
    let module = |name: &str, about: &str, parameters: &[ModuleParameter]| TestbedModule {
        name: name.into(),
        about: about.into(),
        parameters: parameters.to_vec(),
    };
    assert_eq!(
        sources.modules(),
        [
            module("high-up", "needs low", &[parameter]),
            module("low", "is needed", &[])
        ]
    );
}

#[test]
fn the_same_bytes_come_out_in_any_directory_and_say_nothing_of_it() {
    let Some(kernel) = kernel() else { return };
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let longer = other.path().join("a/longer/path");
    let first = Testbed::with_files(one.path(), PAIR)
        .build(&kernel, false)
        .unwrap();
    let second = Testbed::with_files(&longer, PAIR)
        .build(&kernel, false)
        .unwrap();
    assert_eq!(Vec::from_iter(first.keys()), ["high_up", "low"]);
    for (name, path) in &first {
        let bytes = std::fs::read(path).unwrap();
        assert!(bytes == std::fs::read(&second[name]).unwrap(), "{name}");
        let text = String::from_utf8_lossy(&bytes);
        let headers = kernel.headers.as_ref().unwrap().parent().unwrap();
        for place in [one.path(), headers] {
            assert!(!text.contains(&*place.to_string_lossy()), "{name}");
        }
    }
}

#[test]
fn another_layout_is_the_same_modules_in_other_bytes_and_kept_apart() {
    let Some(kernel) = kernel() else { return };
    let root = tempfile::tempdir().unwrap();
    let testbed = Testbed::with_files(root.path(), PAIR);
    let asked = ["low".to_string()];
    let mut all = Vec::new();
    for variant in [0, 1, 2, 1] {
        let testbed = testbed.laid_out(variant);
        let again = all.len() == 3;
        assert_eq!(testbed.would_build(&kernel, &asked), !again, "{variant}");
        let built = testbed.build(&kernel, false).unwrap();
        assert_eq!(Vec::from_iter(built.keys()), ["high_up", "low"]);
        all.push(std::fs::read(&built["high_up"]).unwrap());
    }
    assert!(all[0] != all[1] && all[0] != all[2] && all[1] != all[2]);
    assert!(all[1] == all[3]);
}

#[test]
fn a_module_is_built_once_and_again_when_a_source_changes() {
    let Some(kernel) = kernel() else { return };
    let root = tempfile::tempdir().unwrap();
    let testbed = Testbed::with_files(root.path(), PAIR);
    let built = std::thread::scope(|scope| {
        let both = [0, 1].map(|_| scope.spawn(|| testbed.build(&kernel, false).unwrap()));
        both.map(|thread| thread.join().unwrap())
    });
    assert_eq!(built[0], built[1]);
    let inode = |path: &Path| std::fs::metadata(path).unwrap().ino();
    let first = inode(&built[0]["low"]);
    assert_eq!(inode(&testbed.build(&kernel, false).unwrap()["low"]), first);
    let left = std::fs::read_dir(root.path().join("modules/built")).unwrap();
    assert_eq!(left.count(), 1);
    // Without its dependency, the other one is no longer built.
    const LOW: &[(&str, &str)] = &[("Kbuild", "obj-m += low/\n"), PAIR[3], PAIR[4]];
    let changed = Testbed::with_files(root.path(), LOW)
        .build(&kernel, false)
        .unwrap();
    assert_ne!(changed["low"], built[0]["low"]);
    assert!(changed["low"].exists() && !changed.contains_key("high_up"));
}

#[test]
fn what_a_module_needs_of_the_testbed_and_of_the_kernel_is_carried() {
    let Some(kernel) = kernel() else { return };
    let root = tempfile::tempdir().unwrap();
    let testbed = Testbed::with_files(root.path(), PAIR);
    let asked = ["high-up".to_string()];
    let found = crate::modules::select(&kernel, &testbed, &asked, &[]).unwrap();
    let names = Vec::from_iter(found.modules.iter().map(|module| module.name.as_str()));
    let high = found.modules.last().unwrap();
    assert_eq!(names.last(), Some(&"high_up"));
    assert!(names.contains(&"cordic") && names.contains(&"low"));
    assert_eq!(high.path, "extra/high_up.ko");
    assert!(high.needs.contains(&"extra/low.ko".to_string()));
    // A module given as a file also finds its dependencies in the testbed.
    let copy = root.path().join("high_up.ko");
    std::fs::write(&copy, &high.bytes).unwrap();
    let asked = [copy.to_string_lossy().into_owned()];
    assert_eq!(
        crate::modules::select(&kernel, &testbed, &asked, &[]).unwrap(),
        found
    );
}

#[test]
fn a_build_that_fails_says_where_and_keeps_its_log() {
    let Some(kernel) = kernel() else { return };
    let root = tempfile::tempdir().unwrap();
    let error = Testbed::with_files(root.path(), BROKEN)
        .build(&kernel, false)
        .unwrap_err();
    assert_eq!(
        error.why,
        "kernel/broken.c:2:1: error: unknown type name 'nonsense'"
    );
    let mend = error.mend.unwrap();
    let log = mend.strip_prefix("the full log is ").unwrap();
    assert!(std::fs::read_to_string(log).unwrap().contains("nonsense"));
    let left = std::fs::read_dir(root.path().join("modules")).unwrap();
    let temporary = left.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with(".tmp-")
    });
    assert_eq!(temporary.count(), 0);
}

/// A kernel without any files.
fn bare(name: &str) -> Kernel {
    Kernel {
        name: name.into(),
        version: "1".into(),
        release: "6.12.0-x".into(),
        image: PathBuf::new(),
        modules: None,
        config: None,
        headers: None,
        compiler: None,
        trusted: true,
        digest: String::new(),
    }
}

#[test]
fn missing_headers_are_told_with_the_command_that_brings_them() {
    let root = tempfile::tempdir().unwrap();
    let testbed = Testbed::with_files(root.path(), PAIR);
    let mend = |name: &str| testbed.build(&bare(name), false).unwrap_err().mend.unwrap();
    assert_eq!(
        mend("debian:6.12-rt"),
        "assize kernel fetch --headers debian:6.12-rt"
    );
    assert_eq!(mend("running"), "run `apt install linux-headers-6.12.0-x`");
    assert!(mend("mine").starts_with("assize kernel add mine "));
    let error = testbed
        .build_for_release(root.path(), "6.12.0-x", false)
        .unwrap_err();
    assert!(error.why.contains("6.12.0-x/build"), "{error}");
}

#[test]
fn headers_of_another_kernel_and_paths_that_make_cannot_take_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let headers = root.path().join("headers");
    let generated = headers.join("include/generated");
    std::fs::create_dir_all(&generated).unwrap();
    let said = "#define UTS_RELEASE \"6.13.0-y\"\n";
    std::fs::write(generated.join("utsrelease.h"), said).unwrap();
    let kernel = Kernel {
        headers: Some(headers.clone()),
        ..bare("mine")
    };
    let why = |root: &Path| {
        let error = Testbed::with_files(root, PAIR)
            .build(&kernel, false)
            .unwrap_err();
        error.why
    };
    assert!(why(root.path()).contains("are of 6.13.0-y"));
    assert!(why(&root.path().join("a b")).contains("make cannot work in"));
}

#[test]
fn our_modules_are_there_and_say_what_they_are() {
    let ours = modules();
    for name in ["depq", "simgpu"] {
        let found = ours.iter().find(|module| module.name == name);
        assert!(
            found.is_some_and(|module| !module.about.is_empty()),
            "{name}"
        );
    }
    let sources = ModuleSources::ours();
    let user = |(path, _): (&str, &str)| path.starts_with("tests/user/");
    assert!(!sources.files().any(user));
    assert!(sources.files().any(|(path, _)| path == "compat/probe.sh"));
}

#[test]
fn what_serves_tests_is_no_part_of_what_experiments_are_given() {
    let testbed = Testbed::new(Path::new("/nowhere"));
    assert!(testbed.is_test("depq_test") && !testbed.is_test("depq"));
    assert!(!testbed.is_test("nonsense"));
    assert!(modules().iter().all(|module| module.name != "depq_test"));
}
