//! HTML entities, as web archives leave them in text they show.

use std::borrow::Cow;

use memchr::memchr;

/// The longest entity between `&` and `;` that is looked at.
const LONGEST: usize = 9;

/// Decodes the entities of a line; a doubly escaped one (`&amp;gt;`) once
/// more. What is no entity stays as it is, and then nothing is copied.
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

/// One pass: the decoded text and whether an ampersand came out of it;
/// `None` if there was no entity.
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

/// The entity whose text follows an `&`, and its length with the `;`.
fn entity(rest: &[u8]) -> Option<(char, usize)> {
    let end = memchr(b';', rest.get(..(LONGEST + 1).min(rest.len()))?)?;
    let name = std::str::from_utf8(rest.get(..end)?).ok()?;
    let decoded = match name.strip_prefix('#') {
        Some(number) => numeric(number)?,
        None => named(name)?,
    };
    Some((decoded, end + 1))
}

/// A character by its number. Control characters are not decoded, so that no
/// entity can break a line; the tab may.
fn numeric(number: &str) -> Option<char> {
    let (digits, radix) = match number.strip_prefix(['x', 'X']) {
        Some(hex) => (hex, 16),
        None => (number, 10),
    };
    if !digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    match char::from_u32(u32::from_str_radix(digits, radix).ok()?)? {
        '\t' => Some('\t'),
        '\u{a0}' => Some(' '),
        c if c.is_control() || c == '\u{2028}' || c == '\u{2029}' => None,
        c => Some(c),
    }
}

/// A character by its name: those that occur in pasted results. All kinds of
/// blanks become the plain one, so that columns stay columns.
fn named(name: &str) -> Option<char> {
    Some(match name {
        "gt" | "GT" => '>',
        "lt" | "LT" => '<',
        "amp" | "AMP" => '&',
        "quot" | "QUOT" => '"',
        "apos" => '\'',
        "nbsp" | "ensp" | "emsp" | "thinsp" => ' ',
        "plusmn" => '±',
        "times" => '×',
        "divide" => '÷',
        "micro" | "mu" => 'µ',
        "sigma" => 'σ',
        "Delta" => 'Δ',
        "deg" => '°',
        "sup2" => '²',
        "frac12" => '½',
        "middot" => '·',
        "bull" => '•',
        "hellip" => '…',
        "ndash" => '–',
        "mdash" => '—',
        "minus" => '−',
        "le" => '≤',
        "ge" => '≥',
        "ne" => '≠',
        "asymp" => '≈',
        "larr" => '←',
        "rarr" => '→',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "laquo" => '«',
        "raquo" => '»',
        "copy" => '©',
        "reg" => '®',
        "euro" => '€',
        _ => return None,
    })
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
        assert_eq!(decode("a &amp;&amp; b"), "a && b");
    }

    #[test]
    fn what_is_no_entity_stays_and_is_not_copied() {
        for text in [
            "a && b; c &d",
            "AT&T; x",
            "&; &#; &#x; &#-1; &#+9; &unknown; &",
            "cat a & echo; ls",
            "&#55555555;",
            "&#xD800;",
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
