//! Files and functions that are too long.

use super::source::{after_block, line_of};
use super::{Code, Finding};

pub(super) const FILE_LINES: usize = 500;
pub(super) const FUNCTION_LINES: usize = 60;

/// Checks a Rust file.
pub(super) fn check(Code { file, code, lines }: &Code) -> Vec<Finding> {
    let mut findings = Vec::new();
    if *lines > FILE_LINES {
        findings.push(Finding {
            file: file.clone(),
            line: 0,
            what: format!("{lines} lines without tests; {FILE_LINES} are enough"),
        });
    }
    for function in functions(code) {
        let lines = function.last - function.first + 1;
        if lines > FUNCTION_LINES {
            findings.push(Finding {
                file: file.clone(),
                line: function.first,
                what: format!(
                    "fn {} has {lines} lines; {FUNCTION_LINES} are enough",
                    function.name
                ),
            });
        }
    }
    findings
}

struct Function<'a> {
    name: &'a str,
    first: usize,
    last: usize,
}

/// The functions with a body, including nested ones.
fn functions(code: &str) -> Vec<Function<'_>> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let name = code[at + 3..]
            .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '#'))
            .next()
            .unwrap_or_default();
        let Some(open) = body(code, at) else {
            continue;
        };
        found.push(Function {
            name,
            first: line_of(code, at),
            last: line_of(code, after_block(code, open) - 1),
        });
    }
    found
}

/// The offset of the brace that opens the body of the function at `at`.
fn body(code: &str, at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (offset, byte) in code.bytes().enumerate().skip(at) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.checked_sub(1)?,
            b'{' if depth == 0 => return Some(offset),
            b';' | b'}' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Vec<Finding> {
        super::check(&Code::of_file("a.rs".into(), text))
    }

    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    a();\n".repeat(lines - 2))
    }

    #[test]
    fn sixty_lines_are_enough_for_a_function() {
        assert!(check(&function(60)).is_empty());
        let findings = check(&function(61));
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].what, "fn long has 61 lines; 60 are enough");
    }

    #[test]
    fn five_hundred_lines_are_enough_for_a_file() {
        assert!(check(&"//\n".repeat(500)).is_empty());
        assert_eq!(check(&"//\n".repeat(501)).len(), 1);
    }

    #[test]
    fn unit_tests_do_not_count() {
        let text = format!(
            "{}#[cfg(test)]\nmod tests {{\n{}}}\n",
            "//\n".repeat(499),
            function(90)
        );
        assert!(check(&text).is_empty());
    }

    #[test]
    fn signatures_without_a_body_are_no_functions() {
        assert!(functions("trait T { fn a(&self, b: [u8; 4]) -> u8; }").is_empty());
        assert_eq!(
            functions("fn a(f: fn (u8) -> u8) -> [u8; 2] { b }").len(),
            1
        );
    }
}
