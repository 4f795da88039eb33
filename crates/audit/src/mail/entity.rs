//! HTML entities, as web archives leave them in text they show.

use std::borrow::Cow;

use mail_parser::decoders::html::add_html_token;
use memchr::memchr;

/// The longest entity between `&` and `;` that is looked at.
const LONGEST: usize = 9;

/// Decodes the entities of a line, twice if it was escaped twice (`&amp;gt;`). Anything else is
/// left unchanged; a line without entities is not copied.
pub(super) fn decode(text: &str) -> Cow<'_, str> {
    let Some((once, ampersand)) = pass(text) else {
        return Cow::Borrowed(text);
    };
    if !ampersand {
        return Cow::Owned(once);
    }
    let twice = pass(&once).map(|(twice, _)| twice);
    Cow::Owned(twice.unwrap_or(once))
}

/// One pass of decoding: returns the decoded text and whether an entity became an ampersand; `None`
/// if there was no entity.
fn pass(text: &str) -> Option<(String, bool)> {
    let mut out: Option<String> = None;
    let mut ampersand = false;
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = memchr(b'&', text.as_bytes().get(at..)?) {
        let start = at + found;
        at = start + 1;
        let Some((decoded, length)) = entity(text.as_bytes().get(at..)?) else {
            continue;
        };
        let out = out.get_or_insert_with(|| String::with_capacity(text.len()));
        out.push_str(text.get(copied..start)?);
        out.push(decoded);
        ampersand |= decoded == '&';
        at += length;
        copied = at;
    }
    let mut out = out?;
    out.push_str(text.get(copied..)?);
    Some((out, ampersand))
}

/// Decodes the entity that follows an `&`; returns its character and its length including the `;`.
/// Control characters except the tab are refused, so that none can break a line. Other white space
/// becomes a plain blank, so that columns stay aligned.
fn entity(rest: &[u8]) -> Option<(char, usize)> {
    let end = memchr(b';', rest.get(..(LONGEST + 1).min(rest.len()))?)? + 1;
    let inner = rest.get(..end - 1)?;
    let digits = inner.trim_ascii_start().strip_prefix(b"#").unwrap_or(inner);
    if inner.is_empty() || !digits.iter().all(u8::is_ascii_alphanumeric) {
        return None;
    }
    let mut decoded = String::new();
    add_html_token(&mut decoded, &[b"&", rest.get(..end)?].concat(), false);
    let mut chars = decoded.chars();
    match (chars.next()?, chars.next()) {
        ('&', Some(_)) | (char::REPLACEMENT_CHARACTER, _) => None,
        ('\t', None) => Some(('\t', end)),
        (c, None) if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => None,
        (c, None) if c.is_whitespace() => Some((' ', end)),
        (c, None) => Some((c, end)),
        _ => None,
    }
}
