use std::borrow::Cow;

/// Text of somebody else's made fit for a terminal: control characters, which
/// could move the cursor or worse, become U+FFFD.
///
/// ```
/// assert_eq!(assize_report::printable("a\u{1b}[2Jb"), "a\u{fffd}[2Jb");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(char::is_control) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| match c {
        '\n' => '\n',
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    Cow::Owned(text.chars().map(shown).collect())
}
