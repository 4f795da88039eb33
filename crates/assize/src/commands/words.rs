//! Splits a command line into the words of an argument vector.

/// Characters that are special to a shell. Quotes around them are not checked, as a shell is
/// harmless there.
const SIGNS: &str = "|&;<>()$`*?[]{}~#!\n";

/// Whether a command needs a shell.
pub(super) fn wants_shell(command: &str) -> bool {
    let first = command.split_whitespace().next().unwrap_or_default();
    command.contains(|c| SIGNS.contains(c)) || first.contains('=')
}

/// The words of a command, or of a shell that executes it.
pub(super) fn argv(command: &str, by_shell: bool) -> Result<Vec<String>, String> {
    if command.trim().is_empty() {
        return Err("a command is empty; write it in quotes: 'sleep 1'".into());
    }
    if by_shell {
        return Ok(["sh", "-c", command].map(String::from).into());
    }
    shlex::split(command).ok_or_else(|| format!("{command}: unmatched quote"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_need_no_shell() {
        let words = argv("grep -c 'a b' \"x y\".txt", false).unwrap();
        assert_eq!(words, ["grep", "-c", "a b", "x y.txt"]);
        for plain in ["sleep 0.1", "./run --n=3 -k a:b,c%d@e+f", "true"] {
            assert!(!wants_shell(plain), "{plain}");
        }
    }

    #[test]
    fn whatever_a_shell_would_read_otherwise_is_left_to_it() {
        for more in [
            "a | b", "a && b", "a; b", "a > b", "$A", "a `b`", "*.c", "A=1 b", "a ~", "(a)",
            "a\nb", "a # b", "a {1,2}",
        ] {
            assert!(wants_shell(more), "{more}");
        }
        assert_eq!(argv("a | b", true).unwrap(), ["sh", "-c", "a | b"]);
    }

    #[test]
    fn what_is_no_command_is_refused() {
        assert!(argv(" ", true).unwrap_err().contains("is empty"));
        assert!(argv("a 'b", false).unwrap_err().contains("unmatched"));
    }
}
