//! Extracts text from HTML, for mails that have no plain text.

use memchr::{memchr, memmem};

use super::text::Places;

/// Strips the tags: blocks and rows become lines, cells are separated by tabs, quotations get quote
/// marks. Entities are decoded later, with those of plain text. Returns the text and the line of
/// the file at which each of its lines begins.
pub(super) fn strip(html: &str, places: &Places) -> (String, Vec<u32>) {
    let mut page = Page {
        html,
        places,
        at: 0,
        line: 0,
        out: String::with_capacity(html.len()),
        starts: Vec::new(),
        begun: false,
        blank: false,
        preformatted: 0,
        quoted: 0,
    };
    page.walk();
    (page.out, page.starts)
}

/// Where the walk through a page stands.
struct Page<'a> {
    html: &'a str,
    places: &'a Places,
    at: usize,
    /// Lines of the source passed so far.
    line: usize,
    out: String,
    starts: Vec<u32>,
    /// Whether the line being written has anything in it.
    begun: bool,
    /// Whether white space waits to be written.
    blank: bool,
    preformatted: usize,
    quoted: usize,
}

impl Page<'_> {
    fn walk(&mut self) {
        // Once there is no `>` any more no `<` needs to look for one.
        let mut closable = true;
        while let Some(rest) = self.html.get(self.at..).filter(|r| !r.is_empty()) {
            let tag = matches!(
                rest.as_bytes(),
                [b'<', b'a'..=b'z' | b'A'..=b'Z' | b'/' | b'!' | b'?', ..]
            );
            if tag && closable {
                if rest.starts_with("<!--") {
                    let end = memmem::find(rest.as_bytes(), b"-->");
                    self.skip(end.map_or(rest.len(), |end| end + 3));
                    continue;
                }
                if let Some(end) = memchr(b'>', rest.as_bytes()) {
                    let inner = rest.get(1..end).unwrap_or_default();
                    self.skip(end + 1);
                    self.tag(inner);
                    continue;
                }
                closable = false;
            }
            let end = rest
                .bytes()
                .skip(1)
                .position(|b| b == b'<')
                .map_or(rest.len(), |n| n + 1);
            self.text(rest.get(..end).unwrap_or_default());
            self.at += end;
        }
        if self.begun {
            self.break_line();
        }
    }

    /// Passes over bytes of the source that are not text.
    fn skip(&mut self, bytes: usize) {
        let passed = self.html.as_bytes().get(self.at..self.at + bytes);
        self.line += memchr::memchr_iter(b'\n', passed.unwrap_or_default()).count();
        self.at += bytes;
    }

    fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '\n' if self.preformatted > 0 => {
                    self.break_line();
                    self.line += 1;
                }
                '\n' => {
                    self.line += 1;
                    self.blank = true;
                }
                '\r' => {}
                ' ' | '\t' | '\x0c' if self.preformatted == 0 => self.blank = true,
                c => {
                    self.begin();
                    self.out.push(c);
                }
            }
        }
    }

    /// Gets the line ready for a character.
    fn begin(&mut self) {
        if !self.begun {
            self.begun = true;
            self.starts.push(self.places.line(self.line));
            for _ in 0..self.quoted {
                self.out.push_str("> ");
            }
        } else if self.blank {
            self.out.push(' ');
        }
        self.blank = false;
    }

    /// Ends the line, even an empty one.
    fn break_line(&mut self) {
        self.blank = false;
        if !self.begun {
            self.begin();
        }
        self.out.push('\n');
        self.begun = false;
    }

    fn tag(&mut self, inner: &str) {
        let closes = inner.starts_with('/');
        let name: String = inner
            .trim_start_matches('/')
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .take(12)
            .map(|c| c.to_ascii_lowercase())
            .collect();
        match name.as_str() {
            "br" => self.break_line(),
            "td" | "th" if !closes && self.begun => {
                self.blank = false;
                self.out.push('\t');
            }
            "script" | "style" | "head" | "title" if !closes => self.skip_element(&name),
            "p" | "div" | "tr" | "pre" | "li" | "ul" | "ol" | "table" | "hr" | "h1" | "h2"
            | "h3" | "h4" | "h5" | "h6" | "blockquote" | "body" => {
                self.blank = false;
                if self.begun {
                    self.break_line();
                }
                let counter = match name.as_str() {
                    "pre" => &mut self.preformatted,
                    "blockquote" => &mut self.quoted,
                    _ => return,
                };
                // Depth is bounded, so that the marks written are too.
                *counter = match closes {
                    true => counter.saturating_sub(1),
                    false => (*counter + 1).min(16),
                };
            }
            _ => {}
        }
    }

    /// Passes over an element whose content is no text of the mail.
    fn skip_element(&mut self, name: &str) {
        let rest = self.html.get(self.at..).unwrap_or_default().as_bytes();
        let closes = |at: &usize| {
            let after = rest.get(at + 2..at + 2 + name.len());
            after.is_some_and(|n| n.eq_ignore_ascii_case(name.as_bytes()))
        };
        let end = memmem::find_iter(rest, b"</").find(closes);
        self.skip(end.unwrap_or(rest.len()));
    }
}
