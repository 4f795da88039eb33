//! Compares structs and constants with a header of `kernel/uapi/`, for tests.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Statements of a C program, and the output they must print.
#[derive(Default)]
pub(crate) struct ExpectedLayout {
    c: String,
    lines: String,
}

impl ExpectedLayout {
    /// Adds a C expression and its expected value.
    pub(crate) fn value(&mut self, c: &str, value: u64) {
        writeln!(
            self.c,
            "\tprintf(\"%s %llu\\n\", {c:?}, (unsigned long long)({c}));"
        )
        .unwrap();
        writeln!(self.lines, "{c} {value}").unwrap();
    }
}

/// Adds the sizes and field offsets of a module's structs.
macro_rules! structs {
    ($expected:ident; $module:ident; $($rust:ident $c:literal { $($field:ident),* $(,)? })*) => { $(
        $expected.value(
            concat!("sizeof(struct ", $c, ")"),
            std::mem::size_of::<$module::$rust>() as u64,
        );
        $(
            $expected.value(
                concat!("offsetof(struct ", $c, ", ", stringify!($field), ")"),
                std::mem::offset_of!($module::$rust, $field) as u64,
            );
            // Destructure the struct, so that a missing field does not compile.
        )*
        let _ = |whole: $module::$rust| { let $module::$rust { $($field: _),* } = whole; };
    )* };
}
pub(crate) use structs;

/// Compiles the program with the header, runs it and compares its output.
pub(crate) fn check_header(header: &str, expected: &ExpectedLayout) {
    let directory = tempfile::tempdir().unwrap();
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernel/uapi");
    let source = directory.path().join("layout.c");
    let program = directory.path().join("layout");
    let text = format!(
        "#include <stddef.h>\n#include <stdio.h>\n#include {:?}\n\nint main(void)\n{{\n{}\treturn 0;\n}}\n",
        headers.join(header).canonicalize().unwrap(),
        expected.c
    );
    std::fs::write(&source, text).unwrap();
    let compiler = Command::new("cc")
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .output();
    let Ok(compiled) = compiler else {
        eprintln!("skipped: there is no C compiler");
        return;
    };
    let stderr = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{stderr}");
    let printed = Command::new(&program).output().unwrap().stdout;
    assert_eq!(String::from_utf8(printed).unwrap(), expected.lines);
}
