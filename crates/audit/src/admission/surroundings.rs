//! Whether the lines of a block and around it are code, a log or a dump.

use super::signs::Sign;
use crate::Line;

/// So many lines before and behind a block are looked at.
const AROUND: usize = 3;
/// So many lines of a block are looked at.
const MOST: usize = 60;

/// What lines `at..at + used` and their neighbours say against figures.
pub(crate) fn signs(lines: &[Line<'_>], at: usize, used: usize) -> Vec<Sign> {
    let mut signs = Vec::new();
    let depth = lines[at].depth;
    let own = |line: &&Line<'_>| line.depth == depth && !line.text.trim().is_empty();
    let end = (at + used).min(lines.len());
    let inside: Vec<&Line<'_>> = lines[at..end].iter().filter(own).take(MOST).collect();
    let before = lines[at.saturating_sub(AROUND)..at].iter().filter(own);
    let behind = lines[end..(end + AROUND).min(lines.len())]
        .iter()
        .filter(own);
    let around: Vec<&Line<'_>> = before.chain(behind).collect();
    let dumped = |lines: &[&Line<'_>]| lines.iter().filter(|line| is_dump(&line.text)).count();
    let (within, beside) = (dumped(&inside), dumped(&around));
    if within * 3 >= inside.len().max(1) || beside * 2 > around.len() && beside >= 2 {
        signs.push(Sign::Dump);
    }
    signs
}

/// Whether a line is code, assembly, a log, a register dump, a device tree.
pub(crate) fn is_dump(text: &str) -> bool {
    let text = text.trim();
    let bytes = text.as_bytes();
    if bytes.is_empty() || is_typed(text) {
        return false;
    }
    let ends =
        text.ends_with([';', '{', '}', '\\']) || text.ends_with("*/") || text.ends_with(">;");
    let stamp = bytes[0] == b'['
        && text.find(']').is_some_and(|end| {
            text[1..end]
                .trim()
                .bytes()
                .all(|b| b.is_ascii_digit() || b == b'.')
        });
    // What `free` prints is the state of a machine.
    let state = text.starts_with("total ") && text.contains(" used ") && text.contains(" free");
    let marks = [
        "->",
        "=>",
        "&&",
        "||",
        "/*",
        " = <",
        "0x",
        "printk",
        "static ",
        "struct ",
        "#define",
        "#include",
        "return ",
        "compatible",
        "goto ",
        "EXPORT_SYMBOL",
        "create mode",
        "delete mode",
        "rename ",
        "files changed",
    ];
    let text = &without_changes(text);
    ends || stamp
        || state
        || marks.iter().any(|mark| text.contains(mark))
        || hexadecimal(text)
        || drawn(text)
        || assembly(text)
}

/// Whether a line is the rest of a command that was typed on several: `--bs=4k --name=x \`.
fn is_typed(text: &str) -> bool {
    let rest = text.strip_prefix("--").unwrap_or_default();
    rest.starts_with(|c: char| c.is_ascii_lowercase()) && !text.ends_with(';')
}

/// A line without the arrows between two figures: `12 -> 13`.
fn without_changes(text: &str) -> String {
    let mut parts = text.split("->");
    let mut plain = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let figures = plain
            .trim_end()
            .ends_with(|c: char| c.is_ascii_digit() || c == '%')
            && part.trim_start().starts_with(|c: char| c.is_ascii_digit());
        plain.push_str(if figures { " " } else { "->" });
        plain.push_str(part);
    }
    plain
}

/// Most of its words are hexadecimal and some could be nothing else.
fn hexadecimal(text: &str) -> bool {
    let (mut words, mut hex, mut letters) = (0, 0, 0);
    for word in text.split_whitespace().take(40) {
        words += 1;
        let word = word.trim_matches(|c: char| matches!(c, ':' | '(' | ')' | '<' | '>' | ','));
        let all = matches!(word.len(), 2 | 4 | 8 | 12 | 16)
            && word.bytes().all(|b| b.is_ascii_hexdigit());
        if all {
            hex += 1;
            letters += usize::from(
                word.bytes().any(|b| b.is_ascii_alphabetic())
                    && word.bytes().any(|b| b.is_ascii_digit()),
            );
        }
    }
    hex >= 3 && letters >= 1 && hex * 3 >= words * 2
}

/// Boxes and arrows drawn with characters.
fn drawn(text: &str) -> bool {
    ["-->", "<--", "|_", "_|", "\\_", "+--->", "^^^", "| |"]
        .iter()
        .any(|mark| text.contains(mark))
        && !text.bytes().any(|b| b.is_ascii_digit())
}

/// An instruction with its registers.
fn assembly(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    const INSTRUCTIONS: &[&str] = &[
        "mov", "movq", "movl", "add", "addq", "sub", "push", "pop", "ldr", "str", "lea", "jmp",
        "je", "jne", "call", "callq", "ret", "cmp", "test", "xor", "vpxor", "aesenc",
    ];
    let operands = text.contains('%') && text.contains(',') || text.contains(", [");
    operands && (INSTRUCTIONS.contains(&first) || text.contains(":\t"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Sign> {
        let lines: Vec<Line<'_>> = text
            .lines()
            .enumerate()
            .map(|(at, line)| Line::plain(at as u32 + 1, line))
            .collect();
        signs(&lines, 0, lines.len())
    }

    #[test]
    fn dumps_are_known() {
        assert!(of("reg = <0x10 0x20>;\nclocks = <1 2>;").contains(&Sign::Dump));
        assert_eq!(
            of("r0 00000010 ffffa2b1 0000beef\nr4 1111a2b1 00000000 12345678"),
            [Sign::Dump]
        );
        assert_eq!(of("[    1.2345] a 1\n[    2.3456] b 2"), [Sign::Dump]);
        assert_eq!(of("kernel  time\nbase  12.5\npatched  11.5"), []);
        assert_eq!(of("3#words : 211984 ->  66683 (3.1), 97 MB/s"), []);
        assert!(of("x->next = 12;\ny->next = 13;").contains(&Sign::Dump));
        assert_eq!(
            of("--bs=4k --name=x \\\n--dir=${DIR}\nread 12 ms\nsync 3 ms"),
            []
        );
        assert_eq!(of("--count;\n--left;"), [Sign::Dump]);
        assert_eq!(of("| kernel | time |\n|---|---|\n| base | 12 |"), []);
    }
}
