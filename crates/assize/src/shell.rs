//! Arguments as a shell would have to be given them.

/// `assize` with these arguments, quoted where a shell needs it.
pub(crate) fn command_line(arguments: impl Iterator<Item = String>) -> String {
    let mut line = String::from("assize");
    for argument in arguments {
        line.push(' ');
        line.push_str(&quote(&argument));
    }
    line
}

fn quote(argument: &str) -> String {
    let plain = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '-' | '_' | '.' | '/' | ':' | '=' | ',' | '+' | '@' | '%')
    };
    if !argument.is_empty() && argument.chars().all(plain) {
        return argument.to_string();
    }
    format!("'{}'", argument.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_with_blanks_and_quotes_survive_a_shell() {
        let words = ["audit", "a b", "it's", "", "x<y"].map(String::from);
        assert_eq!(
            command_line(words.into_iter()),
            r"assize audit 'a b' 'it'\''s' '' 'x<y'"
        );
    }
}
