//! A directory of the kernel is built from its tree with the tree's headers, and so are the
//! modules that include these.

use std::fs;
use std::path::Path;

use super::kernel;
use crate::kernels::Kernel;
use crate::sandbox::Sandbox;
use crate::sandbox::tests::usual;
use crate::testbed::{KernelPart, PARTS, SourceTexts};

const SOURCE: &str = "// SPDX-License-Identifier: GPL-2.0-only\n\
    #include <drm/gpu_scheduler.h>\n#include <linux/module.h>\n\
    #define CREATE_TRACE_POINTS\n#include \"tiny_trace.h\"\n\
    unsigned long tiny_size(void);\nunsigned long tiny_size(void)\n{\n\
    \ttrace_tiny(TINY);\n\treturn sizeof(struct drm_gpu_scheduler);\n}\n\
    EXPORT_SYMBOL_GPL(tiny_size);\n\
    MODULE_DESCRIPTION(\"tiny\");\nMODULE_LICENSE(\"GPL\");\n";

/// A header that includes itself by a path from the kernel's include/trace.
const TRACE: &str = "/* SPDX-License-Identifier: GPL-2.0-only */\n\
    #undef TRACE_SYSTEM\n#define TRACE_SYSTEM tiny\n#define TRACE_INCLUDE_FILE tiny_trace\n\
    #if !defined(TINY_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)\n#define TINY_TRACE_H\n\
    #include <linux/tracepoint.h>\n#define TINY 1\n\
    TRACE_EVENT(tiny, TP_PROTO(int a), TP_ARGS(a),\n\
    \tTP_STRUCT__entry(__field(int, a)),\n\tTP_fast_assign(__entry->a = a;),\n\
    \tTP_printk(\"%d\", __entry->a));\n#endif\n#undef TRACE_INCLUDE_PATH\n\
    #define TRACE_INCLUDE_PATH ../../drivers/gpu/drm/scheduler\n\
    #include <trace/define_trace.h>\n";

const HEADER: &str = "include/drm/gpu_scheduler.h";

/// Replaces the kernel's directory with a small one that uses the kernel's headers.
fn tree(part: &KernelPart, kernel: &Kernel) -> SourceTexts {
    let mut tree = part.kernel_headers(kernel).unwrap();
    let makefile = "gpu-sched-y := tiny.o\nobj-$(CONFIG_DRM_SCHED) += gpu-sched.o\n";
    for (name, text) in [
        ("Makefile", makefile),
        ("tiny.c", SOURCE),
        ("tiny_trace.h", TRACE),
    ] {
        tree.insert(format!("{}/{name}", part.directory), text.into());
    }
    tree
}

fn larger(tree: &SourceTexts) -> SourceTexts {
    let start = "struct drm_gpu_scheduler {\n";
    let text = tree[HEADER].replace(start, &format!("{start}\tlong planted[8];\n"));
    let mut larger = tree.clone();
    assert_ne!(
        larger.insert(HEADER.into(), text),
        larger.get(HEADER).cloned()
    );
    larger
}

#[test]
fn a_header_of_the_tree_comes_before_the_kernels_in_the_part_and_in_what_uses_it() {
    let Some(kernel) = kernel() else { return };
    let (part, root) = (&PARTS[0], tempfile::tempdir().unwrap());
    let plain = tree(part, &kernel);
    let larger = larger(&plain);
    assert!(part.changed_headers(&kernel, &plain).unwrap().is_empty());
    assert_eq!(part.changed_headers(&kernel, &larger).unwrap(), [HEADER]);
    let build = |tree: &SourceTexts| {
        let built = part
            .build(root.path(), &kernel, tree, true, &usual())
            .unwrap();
        assert_eq!(
            Vec::from_iter(built.keys()),
            ["depq", "gpu_sched", "simgpu"]
        );
        built
            .into_values()
            .map(|path| fs::read(path).unwrap())
            .collect::<Vec<_>>()
    };
    let (before, after) = (build(&plain), build(&larger));
    let same: Vec<bool> = before.iter().zip(&after).map(|(a, b)| a == b).collect();
    assert_eq!(same, [true, false, false], "depq, gpu_sched, simgpu");
    let alone = part
        .build(root.path(), &kernel, &plain, false, &usual())
        .unwrap();
    assert_eq!(Vec::from_iter(alone.keys()), ["gpu_sched"]);
}

#[test]
fn an_error_of_the_part_names_the_file_of_the_tree() {
    let Some(kernel) = kernel() else { return };
    let (part, root) = (&PARTS[0], tempfile::tempdir().unwrap());
    let mut tree = tree(part, &kernel);
    let file = format!("{}/tiny.c", part.directory);
    tree.insert(file.clone(), SOURCE.replace("sizeof", "nonsense + sizeof"));
    let error = part
        .build(root.path(), &kernel, &tree, false, &usual())
        .unwrap_err();
    assert!(error.why.starts_with(&format!("{file}:")), "{error}");
    assert!(
        error
            .what
            .starts_with("build drivers/gpu/drm/scheduler for"),
        "{error}"
    );
}

#[test]
fn what_is_part_of_the_image_or_not_in_the_tree_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let config = place.path().join("config");
    fs::write(&config, "CONFIG_DRM=y\nCONFIG_DRM_SCHED=y\n").unwrap();
    let mut kernel = super::bare("mine");
    kernel.headers = Some(place.path().to_path_buf());
    let build = |kernel: &Kernel| {
        PARTS[0].build(
            Path::new("/nowhere"),
            kernel,
            &SourceTexts::new(),
            false,
            &Sandbox::Off,
        )
    };
    assert!(
        build(&kernel)
            .unwrap_err()
            .why
            .contains("has no drivers/gpu/drm/scheduler/Makefile")
    );
    kernel.config = Some(config);
    let error = build(&kernel).unwrap_err();
    assert!(error.why.contains("CONFIG_DRM_SCHED=y"), "{error}");
}

#[test]
fn a_part_has_its_directory_and_its_headers_and_nothing_beside() {
    let part = &PARTS[0];
    for path in [HEADER, "drivers/gpu/drm/scheduler/sched_main.c"] {
        assert!(part.has(path), "{path}");
    }
    for path in [
        "drivers/gpu/drm/scheduler",
        "drivers/gpu/drm/scheduler2/a.c",
        "include/drm/a.h",
    ] {
        assert!(!part.has(path), "{path}");
    }
}
