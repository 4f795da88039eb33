//! Licence lines of C sources, in the form the kernel wants them.

use super::Finding;

/// Checks the first line of a C, header or assembly file.
pub(super) fn check(file: &str, text: &str) -> Option<Finding> {
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
        assert!(check("kernel/a.c", "// SPDX-License-Identifier: GPL-2.0-only\n").is_none());
        assert!(
            check(
                "kernel/a.h",
                "/* SPDX-License-Identifier: GPL-2.0-only */\n"
            )
            .is_none()
        );
        assert!(check("kernel/a.h", "// SPDX-License-Identifier: GPL-2.0-only\n").is_some());
        assert!(check("kernel/a.c", "int a;\n").is_some());
    }

    #[test]
    fn the_kernel_takes_only_its_own_licence() {
        assert!(check("kernel/a.c", "// SPDX-License-Identifier: MIT\n").is_some());
        assert!(check("crates/a/a.c", "// SPDX-License-Identifier: MIT\n").is_none());
    }
}
