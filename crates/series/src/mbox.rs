//! Splits a file into mails.

/// Returns the mails of a file unchanged, each with its `From ` line if it has one. A
/// file without separators is returned whole.
pub(crate) fn split(bytes: &[u8]) -> Vec<&[u8]> {
    let mut starts = Vec::new();
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if is_separator(line) {
            starts.push(at);
        }
        at += line.len();
    }
    // Text before the first separator is not a mail.
    match starts.first() {
        None => vec![bytes],
        Some(_) => {
            let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
            let parts = starts.iter().zip(ends);
            parts
                .filter_map(|(from, to)| bytes.get(*from..to))
                .collect()
        }
    }
}

/// Whether a line is an mbox separator: `From WHO DATE` with a year at the end, as all
/// mbox writers produce. A sentence that starts with "From" has no year, or is quoted
/// with `>`.
fn is_separator(line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line);
    let Some(rest) = line.strip_prefix("From ") else {
        return false;
    };
    let words: Vec<&str> = rest.split_whitespace().collect();
    let is_year = |word: &&&str| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    let has_time = words.iter().any(|word| word.split(':').count() == 3);
    words.len() >= 6 && has_time && words.iter().rev().take(2).any(|word| is_year(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "From mboxrd@z Thu Jan  1 00:00:00 1970\n";

    #[test]
    fn mails_begin_at_separators_and_not_at_sentences() {
        let text = format!("{LINE}Subject: a\n\nFrom here on\n\n{LINE}Subject: b\n\n>{LINE}y\n");
        let mails = split(text.as_bytes());
        assert_eq!(mails.len(), 2);
        assert!(mails[0].ends_with(b"From here on\n\n"));
        assert!(mails[1].ends_with(format!(">{LINE}y\n").as_bytes()));
    }

    #[test]
    fn what_has_no_separator_is_one_text() {
        for text in [
            "",
            "Subject: a\n\nb\n",
            "From here on it is text\n\nSubject: a\n",
        ] {
            assert_eq!(split(text.as_bytes()), [text.as_bytes()]);
        }
    }

    #[test]
    fn no_byte_between_separators_is_lost() {
        let text = format!("{LINE}a\r\n\r\n{LINE}b\n\n\n{LINE}");
        let mails = split(text.as_bytes());
        assert_eq!(mails.concat(), text.as_bytes());
        assert_eq!(mails.len(), 3);
    }
}
