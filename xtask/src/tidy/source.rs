//! Just enough of Rust's lexical grammar to count braces.

/// The source with comments, strings and characters replaced by spaces, with the same number of
/// lines and bytes.
pub(super) fn blanked(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = skip(bytes, at);
        if end == at {
            at += 1;
            continue;
        }
        for byte in &mut out[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    // Only whole tokens were replaced, so this is still UTF-8.
    String::from_utf8_lossy(&out).into_owned()
}

/// The end of the comment, string or character that starts at `at`; `at` itself if none does.
fn skip(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let in_word = at > 0 && is_word(bytes[at - 1]);
    match rest[0] {
        b'/' if rest.starts_with(b"//") => at + line_comment(rest),
        b'/' if rest.starts_with(b"/*") => at + block_comment(rest),
        b'"' => at + quoted(rest, b'"'),
        b'\'' => at + character(rest),
        b'r' | b'b' | b'c' if !in_word => at + prefixed(rest),
        _ => at,
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn line_comment(rest: &[u8]) -> usize {
    rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len())
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// The length of a string or character, including its quotes.
fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length of a character literal; 0 for a lifetime.
fn character(rest: &[u8]) -> usize {
    let first = rest.get(1).copied().unwrap_or(b'\'');
    if first == b'\\' {
        return quoted(rest, b'\'');
    }
    // One character of one to four bytes, then the closing quote.
    let width = match first {
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    };
    if rest.get(1 + width) == Some(&b'\'') {
        2 + width
    } else {
        0
    }
}

/// The length of a raw, byte or C string, such as `br#"…"#`.
fn prefixed(rest: &[u8]) -> usize {
    let letters = rest
        .iter()
        .take_while(|b| matches!(b, b'r' | b'b' | b'c'))
        .count();
    let raw = rest[..letters].contains(&b'r');
    let hashes = rest[letters..].iter().take_while(|&&b| b == b'#').count();
    let open = letters + hashes;
    match rest.get(open) {
        Some(b'"') if raw => {
            let close = [&b"\""[..], &vec![b'#'; hashes]].concat();
            rest[open + 1..]
                .windows(close.len())
                .position(|window| window == close)
                .map_or(rest.len(), |found| open + 1 + found + close.len())
        }
        Some(b'"') if hashes == 0 => open + quoted(&rest[open..], b'"'),
        Some(b'\'') if hashes == 0 && letters == 1 && rest[0] == b'b' => {
            open + quoted(&rest[open..], b'\'')
        }
        _ => 0,
    }
}

/// The offset after the brace that closes the one at `open`.
pub(super) fn after_block(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    code.len()
}

/// The code of a file with unit tests also replaced by spaces, and the number of lines without
/// them.
pub(super) fn without_tests(source: &str) -> (String, usize) {
    let mut code = blanked(source);
    let mut lines = source.lines().count();
    for test in test_modules(&code) {
        lines -= line_of(&code, test.end) - line_of(&code, test.start) + 1;
        let blank = |c| if c == '\n' { '\n' } else { ' ' };
        let blank: String = code[test.clone()].chars().map(blank).collect();
        code.replace_range(test, &blank);
    }
    (code, lines)
}

/// The byte ranges of `#[cfg(test)] mod … { … }`, including modules with further
/// attributes.
fn test_modules(code: &str) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    for (at, attribute) in code.match_indices("#[cfg(test)]") {
        let after = &code[at + attribute.len()..];
        let mut item = after.trim_start();
        while let Some(other) = item.strip_prefix("#[") {
            item = other
                .find(']')
                .map_or("", |end| other[end + 1..].trim_start());
        }
        if let Some(public) = item.strip_prefix("pub") {
            let after = public.strip_prefix('(').and_then(|scope| scope.find(')'));
            item = public[after.map_or(0, |end| end + 2)..].trim_start();
        }
        let open = item.find(['{', ';']).filter(|_| item.starts_with("mod "));
        if let Some(open) = open
            && item.as_bytes()[open] == b'{'
        {
            let open = code.len() - item.len() + open;
            found.push(at..after_block(code, open));
        }
    }
    found
}

/// The number, from 1, of the line that contains the byte.
pub(super) fn line_of(code: &str, at: usize) -> usize {
    code.as_bytes()[..at]
        .iter()
        .filter(|&&byte| byte == b'\n')
        .count()
        + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_in_text_do_not_count() {
        let source = r##"a "{" '{' b'{' r#"{"# br"{" c"\"{" /* { /* { */ */ // {
'\u{7f}' 'é' &'a {}"##;
        let code = blanked(source);
        assert_eq!(code.matches('{').count(), 1);
        assert_eq!(code.len(), source.len());
        assert_eq!(code.lines().count(), 2);
        assert!(code.contains("&'a {}"));
    }

    #[test]
    fn a_raw_identifier_is_no_string() {
        assert_eq!(blanked("r#type {}"), "r#type {}");
    }

    #[test]
    fn test_modules_are_found() {
        let code = "fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() {}\n}\nfn c() {}";
        let found = test_modules(code);
        assert_eq!(found.len(), 1);
        assert!(code[found[0].clone()].ends_with("fn b() {}\n}"));
        let with_more = code.replace("(test)]", "(test)]\n#[allow(clippy::panic)] ");
        assert_eq!(test_modules(&with_more).len(), 1);
        let public = code.replace("mod tests", "pub(super) mod tests");
        assert_eq!(test_modules(&public).len(), 1);
        let is_for_a_function = code.replace("mod tests {\n fn b() {}\n}", "fn b() {}");
        assert!(test_modules(&is_for_a_function).is_empty());
    }
}
