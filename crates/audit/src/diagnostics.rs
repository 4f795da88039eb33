//! What compilers, linkers and tests say of lines of code: the numbers in it are lines and
//! columns. Logs of builds and of test suites consist of such messages.

use std::ops::Range;

use crate::Line;

/// Which lines of a message are those of compilers, linkers and tests.
pub(crate) fn messages(lines: &[Line<'_>]) -> Vec<Range<usize>> {
    let is_message = |at: &usize| is_message(&lines[*at].text);
    let found = (0..lines.len()).filter(is_message);
    found.map(|at| at..at + 1).collect()
}

fn is_message(text: &str) -> bool {
    let text = text.trim_start();
    let said = || {
        let (who, what) = text.split_once(": ")?;
        Some(is_speaker(who) && is_of_severity(what))
    };
    said().unwrap_or_default() || is_verdict(text) || is_count(text)
}

/// Whether something says a line of code, or is what a linker or a build names first:
/// `fs/x.c:12`, `fs/x.c:12:3`, `ld`, `x86_64-linux-gnu-ld`, `ld.lld`, `fs/x.o`.
fn is_speaker(who: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let file = |text: &str| text.contains('.') && !text.contains([' ', '\t', ':', '=', '|']);
    let mut parts = who.rsplitn(3, ':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(column), Some(line), Some(path)) => number(column) && number(line) && file(path),
        (Some(line), Some(path), None) => number(line) && file(path),
        _ => {
            let bare = !who.contains([' ', '\t', '=', '|']);
            bare && (who.ends_with(".o")
                || matches!(who, "ld" | "ld.lld" | "ld.bfd")
                || who.ends_with("-ld"))
        }
    }
}

/// Whether what is said is a warning, an error, or how a test ended; what a test measured
/// is said as `TINFO`.
fn is_of_severity(what: &str) -> bool {
    const SEVERITIES: [&str; 16] = [
        "warning:",
        "error:",
        "fatal error:",
        "note:",
        "remark:",
        "TPASS:",
        "TFAIL:",
        "TCONF:",
        "TBROK:",
        "TWARN:",
        "TSKIP:",
        "PASS:",
        "FAIL:",
        "CONF:",
        "BROK:",
        "WARN:",
    ];
    SEVERITIES.iter().any(|severity| what.starts_with(severity))
}

/// `msync04     1  TPASS  :  the page is dirty`.
fn is_verdict(text: &str) -> bool {
    const VERDICTS: [&str; 5] = ["TPASS", "TFAIL", "TCONF", "TBROK", "TWARN"];
    let mut words = text.split_ascii_whitespace().skip(1);
    words.next().is_some_and(|word| {
        word.bytes().all(|b| b.is_ascii_digit())
            && words.next().is_some_and(|word| VERDICTS.contains(&word))
            && words.next() == Some(":")
    })
}

/// `12 warnings generated.`, `1 warning and 2 errors generated.`
fn is_count(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < text.len()
        && (rest.starts_with(" warning") || rest.starts_with(" error"))
        && rest.ends_with(" generated.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_about_code_are_known() {
        for text in [
            "fs/x.c:837:2: warning: this statement may fall through [-Wimplicit-fallthrough=]",
            "   include/linux/x.h:12: error: 'y' undeclared",
            "fs/x.c:12:3: fatal error: y.h: No such file",
            "fs/x.c:12:3: note: expanded from macro 'Y2'",
            "aarch64-linux-gnu-ld: warning: lib/x.o: unsupported type: 0xc0000000",
            "ld.lld: error: undefined symbol: x2",
            "fs/x.o: warning: objtool: x()+0x12: unreachable instruction",
            "1 warning generated.",
            "12 warnings and 1 error generated.",
            "fanotify13.c:250: TPASS: got event: mask=30, pid=3257",
            "pipe02.c:86: PASS: Child 12 killed by SIGPIPE",
            "msync04     1  TPASS  :  the page is dirty",
        ] {
            assert!(is_message(text), "{text}");
        }
    }

    #[test]
    fn what_may_be_a_figure_is_left_alone() {
        for text in [
            "before: 12 warnings",
            "warning: 12.5 ms",
            "x: warning: 12.5 ms",
            "v5.10: error: 12.5 %",
            "test.c:12: 12.5 ms",
            "read 12: error: 3",
            "tst_timer_test.c:305: TINFO: min 2106us, max 2217us, median 2205us",
            "msync04     1  TINFO  :  12.5 ms",
            "read     1  12.5  :  ms",
            "tst_timer_test.c:305: INFO: min 2106us, max 2217us, median 2205us",
            "PASS: 12.5 ms",
            "12 warnings generated in 12.5 s",
            "12.5 warnings generated.",
            "base x.c:12: warning: 3",
        ] {
            assert!(!is_message(text), "{text}");
        }
    }
}
