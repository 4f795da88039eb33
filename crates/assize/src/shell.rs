//! Quoting of arguments for a shell.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// `assize` with these arguments, quoted where a shell needs it.
pub(crate) fn command_line(arguments: impl Iterator<Item = impl AsRef<OsStr>>) -> String {
    let mut line = String::from("assize");
    for argument in arguments {
        line.push(' ');
        line.push_str(&quote(argument.as_ref()));
    }
    line
}

/// The command line of this process, without `--out`, as that bundle now exists.
pub(crate) fn repeating_command() -> String {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    command_line(without_out(&arguments).into_iter())
}

/// Arguments without `--out` and its value.
fn without_out(arguments: &[OsString]) -> Vec<&OsString> {
    let mut kept = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            kept.push(argument);
            kept.extend(arguments);
            return kept;
        }
        if argument == "--out" {
            arguments.next();
        } else if !argument.as_encoded_bytes().starts_with(b"--out=") {
            kept.push(argument);
        }
    }
    kept
}

/// Quotes an argument for a shell if necessary: in single quotes or, if it is not UTF-8 or contains
/// unprintable characters, in the form `$'caf\xe9'`, which bash and zsh support, and POSIX since
/// 2024.
pub(crate) fn quote(argument: &OsStr) -> String {
    match argument.to_str() {
        Some(text) if text.chars().all(plain) && !text.is_empty() => text.to_owned(),
        Some(text) if !text.chars().any(hidden) => {
            format!("'{}'", text.replace('\'', "'\\''"))
        }
        _ => escaped(argument),
    }
}

fn plain(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '-' | '_' | '.' | '/' | ':' | '=' | ',' | '+' | '@' | '%')
}

/// Whether a report would replace this character.
fn hidden(c: char) -> bool {
    let text = c.to_string();
    c == '\n' || c == '\t' || assize_report::printable(&text) != text
}

/// The text, with bytes that are not UTF-8 as escapes.
fn escaped(argument: &OsStr) -> String {
    let mut text = String::from(ESCAPED);
    let hex = |text: &mut String, bytes: &[u8]| {
        for byte in bytes {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    };
    for chunk in argument.as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => text.push_str("\\\\"),
                // A literal quote mark would confuse programs that only count quote marks.
                c if c == '\'' || hidden(c) => hex(&mut text, c.to_string().as_bytes()),
                c => text.push(c),
            }
        }
        hex(&mut text, chunk.invalid());
    }
    text.push('\'');
    text
}

/// The begin of an escaped argument.
const ESCAPED: &str = "$'";

/// The name under which an experiment file is recorded: its path, quoted if it is not UTF-8.
pub(crate) fn name_of(path: &Path) -> String {
    match path.to_str() {
        Some(text) if text.starts_with(ESCAPED) => format!("./{text}"),
        Some(text) => text.to_owned(),
        None => quote(path.as_os_str()),
    }
}

/// Turns a result of [`name_of`] into a word of a shell command.
pub(crate) fn word_of(name: &str) -> String {
    if name.starts_with(ESCAPED) {
        name.to_owned()
    } else {
        quote(OsStr::new(name))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_command_is_given_again_without_the_place_that_is_taken() {
        for (given, again) in [
            ("run x.toml --out b --runs 3", "run x.toml --runs 3"),
            ("run --out=b x.toml", "run x.toml"),
            (
                "compare --output f -- --out b",
                "compare --output f -- --out b",
            ),
            ("try --out", "try"),
        ] {
            let words: Vec<OsString> = given.split(' ').map(OsString::from).collect();
            let kept = command_line(without_out(&words).into_iter());
            assert_eq!(kept, format!("assize {again}"));
        }
    }

    #[test]
    fn arguments_with_blanks_and_quotes_survive_a_shell() {
        let words = ["audit", "a b", "it's", "", "x<y"].map(String::from);
        assert_eq!(
            command_line(words.into_iter()),
            r"assize audit 'a b' 'it'\''s' '' 'x<y'"
        );
    }

    #[test]
    fn what_is_no_text_is_written_as_escapes() {
        let bytes = |bytes: &'static [u8]| quote(OsStr::from_bytes(bytes));
        assert_eq!(bytes(b"caf\xe9.txt"), r"$'caf\xe9.txt'");
        assert_eq!(bytes("é it's\n".as_bytes()), r"$'é it\x27s\x0a'");
        assert_eq!(bytes("café".as_bytes()), "'café'");
        assert_eq!(bytes(b"a\\\xff"), r"$'a\\\xff'");
    }

    #[test]
    fn a_shell_reads_what_was_meant() {
        let all: Vec<u8> = (1..=255).collect();
        let words: [&[u8]; 6] = [
            &all,
            b"caf\xe9e",
            b"\xffff'\\' $x `y`",
            b"",
            b"it's \"fine\"",
            "\u{202e}é\u{1b}[2J".as_bytes(),
        ];
        for word in words {
            let script = format!("printf %s {}", quote(OsStr::from_bytes(word)));
            let done = Command::new("bash").arg("-c").arg(script).output().unwrap();
            assert_eq!(done.stdout, word);
        }
    }

    #[test]
    fn the_name_of_an_experiment_is_its_path_again() {
        for path in [&b"x.toml"[..], b"a b.toml", b"caf\xe9.toml", b"$'x'.toml"] {
            let name = name_of(Path::new(OsStr::from_bytes(path)));
            let script = format!("printf %s {}", word_of(&name));
            let done = Command::new("bash").arg("-c").arg(script).output().unwrap();
            let path = path.strip_prefix(b"./").unwrap_or(path);
            let read = done.stdout.strip_prefix(b"./").unwrap_or(&done.stdout);
            assert_eq!(read, path, "{name}");
        }
    }
}
