use std::borrow::Cow;

/// Makes foreign text safe to display: replaces control characters, which could move the cursor,
/// and characters that change the text direction by U+FFFD.
///
/// ```
/// assert_eq!(assize_report::printable("a\u{1b}[2Jb"), "a\u{fffd}[2Jb");
/// assert_eq!(assize_report::printable("1\u{202e}23"), "1\u{fffd}23");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    let unfit = |c: char| c.is_control() || is_bidi_control(c);
    if !text.chars().any(unfit) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| match c {
        '\n' => '\n',
        '\t' => ' ',
        c if unfit(c) => '\u{fffd}',
        c => c,
    };
    Cow::Owned(text.chars().map(shown).collect())
}

/// Whether `c` is a Unicode bidirectional control character.
fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
