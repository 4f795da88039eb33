//! Decodes bytes to text.

use mail_parser::decoders::charsets::map::charset_decoder;
use memchr::memchr;

/// How many bytes are examined to decide whether they are text.
const SAMPLE: usize = 8192;

/// A problem in decoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    /// The line of the text, counted from 0.
    pub(super) index: usize,
    /// One sentence.
    pub(super) detail: String,
}

/// Decodes a text of the given character set; of UTF-8 if none is given. What cannot be decoded
/// is taken as Windows-1252, so that a lone `±` or `µ` of an older mailer survives.
pub(super) fn decode(bytes: Vec<u8>, charset: Option<&str>) -> (String, Option<Trouble>) {
    let Some(charset) = charset.filter(|c| !is_utf8(c)) else {
        return decode_utf8(bytes);
    };
    let Some(decoder) = charset_decoder(charset.as_bytes()) else {
        let (text, _) = decode_utf8(bytes);
        let name: String = charset.escape_debug().take(40).collect();
        let detail = format!("the character set {name} is unknown; read as UTF-8");
        return (text, Some(Trouble { index: 0, detail }));
    };
    let text = decoder(&bytes);
    let trouble = text.find('\u{fffd}').map(|bad| Trouble {
        index: super::text::line_ends(text.as_bytes().get(..bad).unwrap_or_default()),
        detail: format!("some bytes are not {charset}; they were replaced"),
    });
    (text, trouble)
}

/// Whether text of this character set is UTF-8 as it stands.
pub(super) fn is_utf8(charset: &str) -> bool {
    ["utf-8", "us-ascii", "ascii", "utf8", "ansi_x3.4-1968", ""]
        .iter()
        .any(|name| charset.eq_ignore_ascii_case(name))
}

fn decode_utf8(bytes: Vec<u8>) -> (String, Option<Trouble>) {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return (text, None),
        Err(error) => error.into_bytes(),
    };
    let mut text = String::with_capacity(bytes.len() + bytes.len() / 8);
    let mut first = None;
    let mut count = 0usize;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            first.get_or_insert(text.len());
            count += chunk.invalid().len();
        }
        if let Some(decoder) = charset_decoder(b"windows-1252") {
            text.push_str(&decoder(chunk.invalid()));
        }
    }
    let before = text.as_bytes().get(..first.unwrap_or(0));
    let trouble = Trouble {
        index: super::text::line_ends(before.unwrap_or_default()),
        detail: format!("{count} bytes are not UTF-8; read as Windows-1252"),
    };
    (text, Some(trouble))
}

/// Decodes UTF-16; `None` if the bytes do not begin with a byte order mark.
pub(super) fn decode_utf16(bytes: &[u8]) -> Option<(String, Option<Trouble>)> {
    let charset = match bytes {
        [0xff, 0xfe, ..] => "utf-16le",
        [0xfe, 0xff, ..] => "utf-16be",
        _ => return None,
    };
    let (text, trouble) = decode(bytes.get(2..)?.to_vec(), Some(charset));
    let odd = (bytes.len() % 2 == 1).then(|| Trouble {
        index: super::text::line_ends(text.as_bytes()),
        detail: "the last byte is half a character; it was left out".into(),
    });
    Some((text, trouble.or(odd)))
}

/// Whether bytes are not text: they have NUL bytes, or more than 30 % control characters.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    let sample = bytes.get(..SAMPLE).unwrap_or(bytes);
    if memchr(0, sample).is_some() {
        return true;
    }
    let control = controls(sample);
    if control * 10 > sample.len() * 3 {
        return true;
    }
    // Bytes that are no UTF-8 count too, but not alone: text in an undeclared
    // eight-bit character set is still text.
    if control * 50 <= sample.len() {
        return false;
    }
    let invalid: usize = sample.utf8_chunks().map(|c| c.invalid().len()).sum();
    (control + invalid) * 10 > sample.len() * 3
}

/// The number of control characters that do not belong in text; white space and the escape
/// character do. Counts byte by byte in chunks, which the compiler turns into vector instructions:
/// every mail passes here.
fn controls(sample: &[u8]) -> usize {
    let is_control = |b: u8| ((b < 0x20) & !(8..=0x0d).contains(&b) & (b != 0x1b)) | (b == 0x7f);
    let in_chunk = |chunk: &[u8]| -> u8 { chunk.iter().map(|b| u8::from(is_control(*b))).sum() };
    sample.chunks(192).map(|c| usize::from(in_chunk(c))).sum()
}
