//! Header fields of mails and of their parts.

use std::borrow::Cow;
use std::ops::Range;

use mail_parser::parsers::MessageStream;
use mail_parser::{ContentType, HeaderValue};
use memchr::{memchr, memchr2, memmem};

use super::charset;
use super::transfer::Encoding;

/// The longest header name that is taken for one.
const LONGEST_NAME: usize = 76;

/// Beyond this length encoded words in a header stay as they are.
const LONGEST_ENCODED: usize = 4096;

/// The fields that matter here, each without its name.
#[derive(Debug, Default, Clone)]
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    found: [Option<Range<usize>>; FIELDS],
    /// Where the body begins.
    pub(super) body: usize,
    /// Whether the header ends with an empty line, as it should.
    pub(super) ended: bool,
    /// Whether its first line is a field that mails have.
    pub(super) begins_known: bool,
    /// Whether a mailbox may have put a `>` before one of its lines or before the line after it.
    pub(super) may_be_stuffed: bool,
}

/// A field that matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[rustfmt::skip]
pub(super) enum Field {
    Subject, From, Date, MessageId, References, InReplyTo, ContentType, TransferEncoding,
    Disposition,
    /// Any field that mail servers add.
    Trace,
}

const FIELDS: usize = Field::Trace as usize + 1;

impl Field {
    fn named(name: &[u8]) -> Option<Field> {
        const NAMES: [(&[u8], Field); 14] = [
            (b"subject", Field::Subject),
            (b"from", Field::From),
            (b"date", Field::Date),
            (b"message-id", Field::MessageId),
            (b"references", Field::References),
            (b"in-reply-to", Field::InReplyTo),
            (b"content-type", Field::ContentType),
            (b"content-transfer-encoding", Field::TransferEncoding),
            (b"content-disposition", Field::Disposition),
            (b"received", Field::Trace),
            (b"return-path", Field::Trace),
            (b"delivered-to", Field::Trace),
            (b"to", Field::Trace),
            (b"mime-version", Field::Trace),
        ];
        let matches = |(known, _): &&(&[u8], Field)| name.eq_ignore_ascii_case(known);
        NAMES.iter().find(matches).map(|(_, field)| *field)
    }
}

impl<'a> Fields<'a> {
    /// Reads the header at the start of `bytes`. It ends with an empty line,
    /// or before the first line that is no header.
    pub(super) fn read(bytes: &'a [u8]) -> Fields<'a> {
        let mut fields = Fields {
            bytes,
            ..Fields::default()
        };
        let mut at = 0;
        let mut open = None;
        while at < bytes.len() {
            let rest = bytes.get(at..).unwrap_or_default();
            let end = at + memchr(b'\n', rest).map_or(rest.len(), |n| n + 1);
            match rest.first() {
                Some(b'\n') => fields.ended = true,
                Some(b'\r') if rest.get(1) == Some(&b'\n') => fields.ended = true,
                Some(b' ' | b'\t') if at > 0 => {
                    fields.extend(open, end);
                    at = end;
                    continue;
                }
                _ => {
                    let stuffed = rest.starts_with(b">From ");
                    let Some(name) = name(rest) else {
                        fields.may_be_stuffed |= rest.starts_with(b">");
                        if at > 0 && stuffed {
                            at = end;
                            continue;
                        }
                        break;
                    };
                    open = fields.add(name, at, end);
                    at = end;
                    continue;
                }
            }
            at = end;
            break;
        }
        fields.body = at;
        fields
    }

    /// Records a field and returns its slot; only the first field of each name is recorded.
    fn add(&mut self, name: &[u8], at: usize, end: usize) -> Option<usize> {
        let field = Field::named(name);
        if at == 0 {
            #[rustfmt::skip]
            let others = [
                "X-", "List-", "ARC-", "DKIM-", "Authentication-", "Sender", "Reply-To", "Cc",
            ];
            let begins = |known: &&str| after(name, known.as_bytes()).is_some();
            self.begins_known = field.is_some() || others.iter().any(begins);
        }
        let slot = field? as usize;
        let value = self.found.get_mut(slot).filter(|v| v.is_none())?;
        *value = Some(at + name.len() + 1..end);
        Some(slot)
    }

    /// A field goes on in the next line.
    fn extend(&mut self, slot: Option<usize>, end: usize) {
        if let Some(Some(value)) = slot.and_then(|s| self.found.get_mut(s)) {
            value.end = end;
        }
    }

    /// Whether the text is a mail: it begins with a header
    /// that has at least two of the fields that every mail has.
    pub(super) fn are_of_mail(&self) -> bool {
        use Field::{Date, From, MessageId, Subject, Trace};
        let essential = [Subject, From, Date, MessageId, Trace];
        let present = essential.iter().filter(|f| self.raw(**f).is_some());
        self.ended && self.begins_known && present.count() >= 2
    }

    fn raw(&self, field: Field) -> Option<&'a [u8]> {
        let range = self.found.get(field as usize)?.clone()?;
        self.bytes.get(range)
    }

    /// A field's text, unfolded, with encoded words decoded.
    pub(super) fn text(&self, field: Field) -> Option<String> {
        let raw = self.raw(field)?;
        if let Ok(line) = str::from_utf8(raw.trim_ascii())
            && memchr2(b'\n', b'=', line.as_bytes()).is_none()
        {
            let text = line.trim();
            return (!text.is_empty()).then(|| text.to_owned());
        }
        let encoded = raw.len() <= LONGEST_ENCODED && memmem::find(raw, b"=?").is_some();
        let text = match encoded.then(|| decode_words(raw)).flatten() {
            Some(text) => text,
            None => unfold(raw),
        };
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Returns the properties of the part that the fields describe.
    pub(super) fn part(&self) -> Part {
        let mut part = Part::default();
        if let Some(value) = self.parsed(Field::ContentType) {
            part.read_type(&value);
        }
        if let Some(value) = self.parsed(Field::Disposition) {
            part.attached = value.ctype() == "attachment";
            if let Some(name) = value.attribute("filename") {
                part.name = Some(name.to_owned());
            }
        }
        part.encoding = self.encoding();
        part
    }

    /// Whether the text after the header needs no decoding.
    pub(super) fn is_simple(&self) -> bool {
        self.encoding() == Encoding::Identity && self.part().is_simple()
    }

    fn encoding(&self) -> Encoding {
        let encoding = self.raw(Field::TransferEncoding).unwrap_or_default();
        let encoding = encoding.trim_ascii();
        if after(encoding, b"quoted-printable").is_some() {
            Encoding::QuotedPrintable
        } else if after(encoding, b"base64").is_some() {
            Encoding::Base64
        } else {
            Encoding::Identity
        }
    }

    fn parsed(&self, field: Field) -> Option<ContentType<'static>> {
        let raw = self.raw(field).filter(|r| r.len() <= LONGEST_ENCODED)?;
        match MessageStream::new(&closed(raw))
            .parse_content_type()
            .into_owned()
        {
            HeaderValue::ContentType(value) => Some(value),
            _ => None,
        }
    }
}

/// The name of the header field at the start of a line.
pub(super) fn name(line: &[u8]) -> Option<&[u8]> {
    let colon = memchr(b':', line.get(..LONGEST_NAME.min(line.len()))?)?;
    let name = line.get(..colon)?;
    let proper = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    proper.then_some(name)
}

/// Returns the rest of a text that begins with a word, in upper or lower case.
fn after<'t>(text: &'t [u8], word: &[u8]) -> Option<&'t [u8]> {
    let (start, rest) = text.split_at_checked(word.len())?;
    start.eq_ignore_ascii_case(word).then_some(rest)
}

/// A field's value with a line end, which the parser wants.
fn closed(raw: &[u8]) -> Cow<'_, [u8]> {
    if raw.ends_with(b"\n") {
        return Cow::Borrowed(raw);
    }
    let mut closed = raw.to_vec();
    closed.push(b'\n');
    Cow::Owned(closed)
}

/// Decodes encoded words.
fn decode_words(raw: &[u8]) -> Option<String> {
    match MessageStream::new(&closed(raw)).parse_unstructured() {
        HeaderValue::Text(text) => Some(text.into_owned()),
        _ => None,
    }
}

/// Joins the lines of a folded field.
fn unfold(raw: &[u8]) -> String {
    let (text, _) = charset::decode(raw.to_vec(), None);
    let mut lines = text.lines();
    let mut out = lines.next().unwrap_or_default().trim().to_owned();
    for line in lines {
        out.push(' ');
        out.push_str(line.trim());
    }
    out
}

/// The kind of a part.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Kind {
    #[default]
    Plain,
    Html,
    /// Text of another type, or a part with the name of a text file.
    OtherText,
    /// Parts set apart by this boundary.
    Multipart(String),
    /// A mail in the mail.
    Message,
    /// A cryptographic signature.
    Signature,
    Binary,
}

/// The properties of a part.
#[derive(Debug, Clone, Default)]
pub(super) struct Part {
    /// The type by its name.
    mime: String,
    kind: Kind,
    pub(super) alternative: bool,
    pub(super) charset: Option<String>,
    pub(super) name: Option<String>,
    pub(super) encoding: Encoding,
    pub(super) flowed: bool,
    pub(super) delsp: bool,
    pub(super) attached: bool,
}

impl Part {
    fn read_type(&mut self, value: &ContentType<'_>) {
        let (major, minor) = (value.ctype(), value.subtype().unwrap_or_default());
        let says = |attribute: &str, word: &str| {
            let said = value.attribute(attribute);
            said.is_some_and(|s| s.eq_ignore_ascii_case(word))
        };
        self.kind = match (major, minor) {
            ("multipart", _) => match value.attribute("boundary") {
                Some(boundary) if !boundary.is_empty() => Kind::Multipart(boundary.to_owned()),
                _ => Kind::Plain,
            },
            ("message", "rfc822" | "global") => Kind::Message,
            ("text", "html") => Kind::Html,
            ("text", "plain") | ("text", "") => Kind::Plain,
            ("text" | "message", _) | ("application", "json") => Kind::OtherText,
            ("application", "pgp-signature" | "pkcs7-signature" | "x-pkcs7-signature") => {
                Kind::Signature
            }
            _ => Kind::Binary,
        };
        self.mime = format!("{major}/{minor}");
        self.alternative = (major, minor) == ("multipart", "alternative");
        self.charset = value.attribute("charset").map(str::to_owned);
        self.name = value.attribute("name").map(str::to_owned);
        self.flowed = says("format", "flowed");
        self.delsp = says("delsp", "yes");
    }

    /// Returns the kind of the part, by its type and name.
    pub(super) fn kind(&self) -> Kind {
        match &self.kind {
            Kind::Binary if self.named_as_text() => Kind::OtherText,
            Kind::Message if self.encoding != Encoding::Identity => Kind::Binary,
            kind => kind.clone(),
        }
    }

    /// Whether its text needs no decoding.
    pub(super) fn is_simple(&self) -> bool {
        self.kind == Kind::Plain
            && self.encoding == Encoding::Identity
            && !self.flowed
            && self.charset.as_deref().is_none_or(charset::is_utf8)
    }

    fn named_as_text(&self) -> bool {
        const ENDINGS: [&str; 11] = [
            "txt", "log", "csv", "tsv", "json", "patch", "diff", "out", "md", "dat", "text",
        ];
        let ending = self.name.as_deref().and_then(|n| n.rsplit_once('.'));
        ending.is_some_and(|(_, e)| ENDINGS.iter().any(|text| e.eq_ignore_ascii_case(text)))
    }

    /// Its name and type, for a sentence.
    pub(super) fn described(&self) -> String {
        let name: String = match &self.name {
            Some(name) => name.escape_debug().take(80).collect(),
            None => "without a name".into(),
        };
        let mime = match self.mime.as_str() {
            "" => "of no type",
            mime => mime,
        };
        let mime: String = mime.escape_debug().take(80).collect();
        format!("{name} ({mime}")
    }
}
