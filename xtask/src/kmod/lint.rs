//! checkpatch and kernel-doc.

use std::path::PathBuf;

use assize_target::kernels::Kernels;

use crate::Error;
use crate::command::{command, run, works};
use crate::steps::Done;
use crate::tree;

/// The messages of checkpatch that are accepted in files of one kind.
struct Rule {
    /// Whether this rule applies to a file, given its path.
    is: fn(&str) -> bool,
    /// Whether `--strict` checks are errors too.
    strict: bool,
    /// Types of messages that are ignored for this kind.
    ignore: &'static str,
}

/// The first rule that matches a file applies. All other messages are errors, including those of
/// `--strict`, which sets the style of new kernel code.
///
/// Ignored in all files: UNCOMMENTED_DEFINITION, which does not recognise that kernel-doc or a
/// table describes a lock; and REPEATED_WORD, which objects to `the back end end the context`.
const RULES: &[Rule] = &[
    // User-space programs, with types and conventions of the C library.
    Rule {
        is: |path| path.starts_with("kernel/tests/user/"),
        strict: false,
        ignore: "VOLATILE,EMBEDDED_FUNCTION_NAME,PREFER_DEFINED_ATTRIBUTE_MACRO,REPEATED_WORD",
    },
    // A user-space program.
    Rule {
        is: |path| path.starts_with("policies/attach/"),
        strict: false,
        ignore: "EMBEDDED_FUNCTION_NAME,REPEATED_WORD",
    },
    // A QEMU plugin, with types and formats of the C library.
    Rule {
        is: |path| path.starts_with("qemu/plugin/"),
        strict: true,
        ignore: "CAMELCASE,PREFER_KERNEL_TYPES,REPEATED_WORD",
    },
    // BPF programs include no kernel headers, so they declare types and constants; variables set at
    // load time are volatile.
    Rule {
        is: |path| path.starts_with("policies/"),
        strict: true,
        ignore: "AVOID_EXTERNS,BIT_MACRO,CAMELCASE,COMPLEX_MACRO,MACRO_ARG_REUSE,MACRO_ARG_UNUSED,\
                 NEW_TYPEDEFS,PREFER_DEFINED_ATTRIBUTE_MACRO,REPEATED_WORD,SPACING,\
                 UNCOMMENTED_DEFINITION,VOLATILE",
    },
    // Macro arguments of tests have no side effects, so evaluating them twice is fine.
    Rule {
        is: |path| path.starts_with("kernel/tests/"),
        strict: true,
        ignore: "EMBEDDED_FUNCTION_NAME,MACRO_ARG_REUSE,REPEATED_WORD,UNCOMMENTED_DEFINITION",
    },
    // TRACE_EVENT is formatted in its own way everywhere in the kernel.
    Rule {
        is: |path| path.ends_with("/trace.h"),
        strict: true,
        ignore: "OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT",
    },
    // BIT() is not available in headers that user space includes.
    Rule {
        is: |path| path.starts_with("kernel/uapi/"),
        strict: true,
        ignore: "BIT_MACRO",
    },
    Rule {
        is: |_| true,
        strict: true,
        ignore: "REPEATED_WORD,UNCOMMENTED_DEFINITION",
    },
];

/// Runs checkpatch on every C file of the kernel side and of the plugin.
pub(crate) fn checkpatch() -> Result<Done, Error> {
    let Some(script) = script() else {
        return Ok(Done::Skipped(
            "checkpatch.pl is not here; cargo xtask lab".into(),
        ));
    };
    if !works("perl", &["-v"]) {
        return Ok(Done::Skipped("perl is not installed".into()));
    }
    let script = script.to_string_lossy();
    let mut files = sources()?;
    let mut failed = 0;
    for rule in RULES {
        let (of_rule, others) = files.into_iter().partition(|file| (rule.is)(file));
        files = others;
        failed += usize::from(!passes(&script, rule, &of_rule)?);
    }
    match failed {
        0 => Ok(Done::Ok),
        _ => Err("see above".into()),
    }
}

fn passes(script: &str, rule: &Rule, files: &[String]) -> Result<bool, Error> {
    if files.is_empty() {
        return Ok(true);
    }
    let ignore = format!("--ignore={}", rule.ignore);
    let mut arguments = vec![
        script,
        "--no-tree",
        "--terse",
        "--show-types",
        "--quiet",
        "--no-summary",
        "--max-line-length=100",
        &ignore,
    ];
    if rule.strict {
        arguments.push("--strict");
    }
    arguments.push("--file");
    arguments.extend(files.iter().map(String::as_str));
    Ok(run(command("perl", &arguments)?).is_ok())
}

/// The path of checkpatch, which is only in the kernel sources, not in a smaller package.
fn script() -> Option<PathBuf> {
    let series = Kernels::default_root().ok()?.join("sources");
    let below = |path: PathBuf| {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    };
    let mut found: Vec<PathBuf> = below(series)
        .flat_map(below)
        .map(|tree| tree.join("scripts/checkpatch.pl"))
        .filter(|script| script.is_file())
        .collect();
    found.sort();
    found.pop()
}

/// Runs kernel-doc on every kernel-doc comment.
pub(crate) fn kernel_doc() -> Result<Done, Error> {
    let headers = match super::headers(super::WANTED[0]) {
        Ok(headers) => headers,
        Err(why) => return Ok(Done::Skipped(why)),
    };
    let script = headers.directory.join("scripts/kernel-doc");
    if !script.is_file() || !works("perl", &["-v"]) {
        return Ok(Done::Skipped("no kernel-doc or no perl here".into()));
    }
    let script = script.to_string_lossy();
    let files = sources()?;
    let mut arguments = vec![&*script, "-none", "-Werror"];
    arguments.extend(files.iter().map(String::as_str));
    run(command("perl", &arguments)?).map_err(|_| Error::from("see above"))?;
    Ok(Done::Ok)
}

/// The C files of the modules, of the module for known-answer trials, of the placement
/// policies, and of the QEMU plugin.
fn sources() -> Result<Vec<String>, Error> {
    let mut files = tree::files()?;
    files.retain(|file| {
        let typed = file.ends_with(".c") || file.ends_with(".h");
        let ours = [
            "kernel/",
            "policies/",
            "qemu/plugin/",
            "tests/trials/module/",
        ];
        typed && ours.iter().any(|folder| file.starts_with(folder))
    });
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpatch_finds_what_is_planted_and_nothing_beside() {
        let Some(script) = script().filter(|_| works("perl", &["-v"])) else {
            eprintln!("skipped: checkpatch.pl or perl is not here; cargo xtask lab");
            return;
        };
        let name = format!("checkpatch-{}.c", std::process::id());
        let file = tree::target().unwrap().join(name);
        let start = "// SPDX-License-Identifier: GPL-2.0-only\n\n#include <linux/bug.h>\n\n";
        let rule = RULES.last().unwrap();
        for (body, good) in [
            ("int f(int a)\n{\n\treturn a + 1;\n}\n", true),
            ("int f(int a)\n{\n\tBUG_ON(a);\n\treturn a + 1;\n}\n", false),
            ("int f(int a) {\n    return a+1;\n}\n", false),
        ] {
            std::fs::write(&file, format!("{start}{body}")).unwrap();
            let files = [file.to_string_lossy().into_owned()];
            let passed = passes(&script.to_string_lossy(), rule, &files);
            assert_eq!(passed, Ok(good), "{body}");
        }
        std::fs::remove_file(file).unwrap();
    }
}
