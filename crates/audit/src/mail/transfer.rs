//! Decodes content transfer encodings, and notes which line of the file each line comes from.

use mail_parser::decoders::base64::base64_decode;
use memchr::memchr;

/// The transfer encoding of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Encoding {
    /// No encoding.
    #[default]
    Identity,
    QuotedPrintable,
    Base64,
}

/// Decodes quoted-printable. Returns the bytes, the file's line at which each decoded line begins,
/// and whether the text breaks off in an escape or a soft line break.
pub(super) fn quoted_printable(bytes: &[u8], first: u32) -> (Vec<u8>, Vec<u32>, bool) {
    let mut out = Vec::with_capacity(bytes.len());
    let mut starts = Vec::new();
    let mut line = first;
    let mut fresh = true;
    let mut cut_short = false;
    for source in bytes.split_inclusive(|b| *b == b'\n') {
        let ended = source.ends_with(b"\n");
        let mut rest = source.trim_ascii_end();
        let soft = rest.ends_with(b"=");
        if soft {
            rest = rest.strip_suffix(b"=").unwrap_or(rest);
        }
        cut_short = soft && !ended;
        while let Some(at) = memchr(b'=', rest) {
            append(rest.get(..at), line, &mut fresh, &mut out, &mut starts);
            let after = rest.get(at + 1..).unwrap_or_default();
            match hex_pair(after) {
                Some(byte) => {
                    append(Some(&[byte]), line, &mut fresh, &mut out, &mut starts);
                    fresh = byte == b'\n';
                    rest = after.get(2..).unwrap_or_default();
                }
                None => {
                    cut_short |= !ended && after.len() < 2;
                    append(Some(b"="), line, &mut fresh, &mut out, &mut starts);
                    rest = after;
                }
            }
        }
        append(Some(rest), line, &mut fresh, &mut out, &mut starts);
        if ended && !soft {
            if fresh {
                starts.push(line);
            }
            out.push(b'\n');
            fresh = true;
        }
        line = line.saturating_add(u32::from(ended));
    }
    if starts.is_empty() {
        starts.push(first);
    }
    (out, starts, cut_short)
}

/// Adds bytes, and a new line before them if one is due.
fn append(
    bytes: Option<&[u8]>,
    line: u32,
    fresh: &mut bool,
    out: &mut Vec<u8>,
    starts: &mut Vec<u32>,
) {
    let bytes = bytes.unwrap_or_default();
    if bytes.is_empty() {
        return;
    }
    if *fresh {
        starts.push(line);
        *fresh = false;
    }
    out.extend_from_slice(bytes);
}

/// Reads two hexadecimal digits.
fn hex_pair(text: &[u8]) -> Option<u8> {
    let digit = |at: usize| {
        let c = char::from(*text.get(at)?);
        c.to_digit(16).and_then(|d| u8::try_from(d).ok())
    };
    Some(digit(0)? << 4 | digit(1)?)
}

/// Decodes base64. Returns the bytes, and whether some are missing: it ends within a group, or at a
/// character that is not base64.
pub(super) fn base64(bytes: &[u8]) -> (Vec<u8>, bool) {
    let blank = |b: &u8| matches!(b, b' ' | b'\t' | b'\r' | b'\n');
    let digit = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    let part = |b: &u8| digit(b) || blank(b) || *b == b'=';
    // A mailing list adds its footer behind the end.
    let end = bytes.iter().position(|b| !part(b)).unwrap_or(bytes.len());
    let (encoded, footer) = bytes.split_at(end);
    let padded = encoded.trim_ascii_end().ends_with(b"=");
    let whole = encoded.iter().filter(|b| digit(b)).count() % 4 == 0 && footer.is_empty();
    (
        base64_decode(encoded).unwrap_or_default(),
        !padded && !whole,
    )
}
