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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entities_of_web_archives_are_decoded() {
        assert_eq!(decode("&gt; 1 &lt; 2 &amp; 3"), "> 1 < 2 & 3");
        assert_eq!(decode("&quot;a&quot; &#39;b&apos;"), "\"a\" 'b'");
        assert_eq!(decode("power&#x2F;energy-pkg&#47;"), "power/energy-pkg/");
        assert_eq!(decode("1.2&nbsp;&plusmn;&#160;0.3&#177;"), "1.2 ± 0.3±");
    }

    #[test]
    fn a_double_escape_is_decoded_once_more_and_no_further() {
        assert_eq!(decode("&amp;gt; x"), "> x");
        assert_eq!(decode("&amp;amp;gt; x"), "&gt; x");
    }

    #[test]
    fn what_is_no_entity_stays_and_is_not_copied() {
        for text in [
            "a && b; c &d",
            "&; &#; &#x; &#-1; &#+9; &unknown; &",
            "&#55555555;",
            "&#10; &#13; &#0; &#x85;",
            "&ü;",
        ] {
            assert!(
                matches!(decode(text), Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
    }
}
