//! Lists of words that are asked of each word of most lines.

use std::borrow::Cow;

/// With which letters words of a list begin, and how long they are. Few words of a text
/// begin with the letter and have the length of one that is listed, and only those need be
/// compared with the list.
pub(crate) struct Lengths(
    /// For each first letter, small or not, the lengths of the words that begin with it, a
    /// bit each; those that begin with what is not ASCII are at 0.
    [u64; 128],
);

impl Lengths {
    pub(crate) const NONE: Lengths = Lengths([0; 128]);

    /// Also those of words, none of which is empty or has 64 bytes or more.
    pub(crate) const fn and(mut self, words: &[&str]) -> Lengths {
        let mut at = 0;
        while at < words.len() {
            let word = words[at].as_bytes();
            self.0[entry(word[0])] |= 1 << word.len();
            at += 1;
        }
        self
    }

    /// Whether a word of the list may be this one.
    pub(crate) fn allow(&self, word: &str) -> bool {
        let first = word.as_bytes().first();
        word.len() < 64 && first.is_some_and(|b| self.0[entry(*b)] >> word.len() & 1 == 1)
    }
}

/// A list of words.
pub(crate) struct Listed {
    words: &'static [&'static str],
    lengths: Lengths,
}

impl Listed {
    /// Of words, none of which is empty or has 64 bytes or more.
    pub(crate) const fn of(words: &'static [&'static str]) -> Listed {
        let lengths = Lengths::NONE.and(words);
        Listed { words, lengths }
    }

    /// Whether a word is one of them.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.lengths.allow(word) && self.words.contains(&word)
    }

    /// Whether a word is one of them but for the case of letters of ASCII.
    pub(crate) fn has_in_any_case(&self, word: &str) -> bool {
        let is = |known: &&str| known.eq_ignore_ascii_case(word);
        self.lengths.allow(word) && self.words.iter().any(is)
    }
}

/// A text in small letters; most are already.
pub(crate) fn lowercase(text: &str) -> Cow<'_, str> {
    let small = |b: u8| b.is_ascii() && !b.is_ascii_uppercase();
    match text.bytes().all(small) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.to_lowercase()),
    }
}

/// Where the lengths of words with a first byte are.
const fn entry(first: u8) -> usize {
    if first.is_ascii() {
        first.to_ascii_lowercase() as usize
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static WORDS: Listed = Listed::of(&["old", "new", "w/o", "µs", "IOps"]);

    #[test]
    fn words_of_the_list_are_known_and_no_others() {
        for word in ["old", "new", "w/o", "µs", "IOps"] {
            assert!(WORDS.has(word) && WORDS.has_in_any_case(word), "{word}");
        }
        // The last is as long as one of them, but for 64 bytes.
        let long = "o".repeat(67);
        for word in ["", "odd", "nee", "o", "µ", "μs", "olds", "ne", "\0s", &long] {
            assert!(!WORDS.has(word) && !WORDS.has_in_any_case(word), "{word}");
        }
    }

    #[test]
    fn capital_letters_matter_only_where_they_are_to() {
        for word in ["OLD", "New", "W/o", "iops", "IOPS"] {
            assert!(!WORDS.has(word) && WORDS.has_in_any_case(word), "{word}");
        }
    }
}
