//! Licence lines of C sources in the form that the kernel requires, and sizes.

use super::Finding;
use super::sizes::{FILE_LINES, FUNCTION_LINES};

/// Checks a C, header or assembly file.
pub(super) fn check(file: &str, text: &str) -> Vec<Finding> {
    let mut findings: Vec<Finding> = licence(file, text).into_iter().collect();
    if is_c(file) && in_kernel(file) {
        findings.extend(sizes(file, text));
    }
    findings
}

fn is_c(file: &str) -> bool {
    file.ends_with(".c") || file.ends_with(".h")
}

fn sizes(file: &str, text: &str) -> Vec<Finding> {
    let finding = |line, what| Finding {
        file: file.to_owned(),
        line,
        what,
    };
    let mut findings = Vec::new();
    let lines = text.lines().count();
    if lines > FILE_LINES {
        let what = format!("{lines} lines; {FILE_LINES} are enough");
        findings.push(finding(0, what));
    }
    // In kernel style, a brace at the start of a line begins a function body.
    let mut open = None;
    for (at, line) in text.lines().enumerate() {
        match (line, open) {
            ("{", _) => open = Some(at),
            ("}", Some(start)) => {
                let lines = at - start - 1;
                if lines > FUNCTION_LINES {
                    let what = format!("a body of {lines} lines; {FUNCTION_LINES} are enough");
                    findings.push(finding(start + 1, what));
                }
                open = None;
            }
            _ => {}
        }
    }
    findings
}

/// Checks the first line of a C, header or assembly file.
fn licence(file: &str, text: &str) -> Option<Finding> {
    let wanted = match file.rsplit_once('.')?.1 {
        "c" => "// SPDX-License-Identifier: ",
        "h" | "S" => "/* SPDX-License-Identifier: ",
        _ => return None,
    };
    let first = text.lines().next().unwrap_or_default();
    let what = match first.strip_prefix(wanted) {
        None => format!("the first line must begin with `{wanted}`"),
        Some(licence) if in_kernel(file) && !licence.starts_with("GPL-2.0") => {
            format!("`{licence}`: code for the kernel is GPL-2.0")
        }
        Some(_) => return None,
    };
    Some(Finding {
        file: file.to_owned(),
        line: 1,
        what,
    })
}

fn in_kernel(file: &str) -> bool {
    file.starts_with("kernel/") || file.starts_with("policies/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_file_has_its_comment() {
        assert!(check("kernel/a.c", "// SPDX-License-Identifier: GPL-2.0-only\n").is_empty());
        assert!(
            check(
                "kernel/a.h",
                "/* SPDX-License-Identifier: GPL-2.0-only */\n"
            )
            .is_empty()
        );
        assert!(check("kernel/a.h", "// SPDX-License-Identifier: GPL-2.0-only\n").len() == 1);
        assert!(check("kernel/a.c", "int a;\n").len() == 1);
    }

    #[test]
    fn files_and_bodies_have_a_size() {
        let head = "// SPDX-License-Identifier: GPL-2.0-only\n";
        let body =
            |lines: usize| format!("{head}int f(void)\n{{\n{}}}\n", "\ta();\n".repeat(lines));
        assert!(check("kernel/a.c", &body(FUNCTION_LINES)).is_empty());
        let findings = check("kernel/a.c", &body(FUNCTION_LINES + 1));
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].line, 3);
        let long = format!("{head}{}", "int a;\n".repeat(FILE_LINES));
        assert_eq!(check("kernel/a.c", &long).len(), 1);
        assert!(check("crates/a/a.c", &long).is_empty());
    }

    #[test]
    fn the_kernel_takes_only_its_own_licence() {
        assert!(check("kernel/a.c", "// SPDX-License-Identifier: MIT\n").len() == 1);
        assert!(check("crates/a/a.c", "// SPDX-License-Identifier: MIT\n").is_empty());
    }
}
