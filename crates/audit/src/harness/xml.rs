//! A minimal XML reader for result files: elements with text, no mixed content.

use crate::declared::error::{Fault, syntax};
use crate::grammar::form::Form;

/// One step through a document.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event<'t> {
    Begin(&'t str),
    Text(String),
    End(&'t str),
}

static PART: Form = Form::new(
    r"(?s)<!--.*?-->|<!\[CDATA\[(?<data>.*?)\]\]>|<[?!][^>]*>|</(?<end>[^>]*)>|<(?<begin>[^\s/>]+)[^>]*?(?<empty>/?)>|(?<text>[^<]+)|<",
);

/// The events of a document; attributes, comments and declarations are left out.
pub(super) fn events(text: &str) -> Result<Vec<Event<'_>>, Fault> {
    let wrong = |why: String| syntax("XML", why);
    let mut events = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for part in PART.each(text) {
        let get = |name: &str| part.name(name).map(|found| found.as_str());
        if let Some(text) = get("text").map(str::trim).filter(|text| !text.is_empty()) {
            events.push(Event::Text(plain(text)));
        } else if let Some(data) = get("data") {
            events.push(Event::Text(data.to_owned()));
        } else if let Some(name) = get("end").map(str::trim) {
            if open.pop() != Some(name) {
                return Err(wrong(format!("</{name}> closes nothing")));
            }
            events.push(Event::End(name));
        } else if let Some(name) = get("begin") {
            events.push(Event::Begin(name));
            match get("empty") {
                Some("/") => events.push(Event::End(name)),
                _ => open.push(name),
            }
        } else if &part[0] == "<" {
            return Err(wrong("a tag is open".to_owned()));
        }
    }
    match open.last() {
        Some(name) => Err(wrong(format!("<{name}> is not closed"))),
        None => Ok(events),
    }
}

/// A text without entities.
fn plain(text: &str) -> String {
    let quotes = text.replace("&quot;", "\"").replace("&apos;", "'");
    let tags = quotes.replace("&lt;", "<").replace("&gt;", ">");
    tags.replace("&amp;", "&")
}
