//! As much of XML as files of results have: elements with text, no mixtures.

use crate::declared::error::{Fault, syntax};

/// One step through a document.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event<'t> {
    Begin(&'t str),
    Text(String),
    End(&'t str),
}

/// The events of a document; attributes, comments and declarations are left out.
pub(super) fn events(text: &str) -> Result<Vec<Event<'_>>, Fault> {
    let wrong = |why: &str| syntax("XML", why);
    let mut events = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        if !before.trim().is_empty() {
            events.push(Event::Text(plain(before.trim())));
        }
        if let Some(comment) = after.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, rest)| rest);
            continue;
        }
        if let Some(data) = after.strip_prefix("![CDATA[") {
            let (data, behind) = data
                .split_once("]]>")
                .ok_or_else(|| wrong("CDATA is open"))?;
            events.push(Event::Text(data.to_owned()));
            rest = behind;
            continue;
        }
        let (tag, behind) = after
            .split_once('>')
            .ok_or_else(|| wrong("a tag is open"))?;
        rest = behind;
        if tag.starts_with(['?', '!']) {
            continue;
        }
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name.trim()) {
                return Err(wrong(&format!("</{name}> closes nothing")));
            }
            events.push(Event::End(name.trim()));
            continue;
        }
        let name = tag
            .split([' ', '\t', '\n', '\r', '/'])
            .next()
            .unwrap_or_default();
        events.push(Event::Begin(name));
        match tag.ends_with('/') {
            true => events.push(Event::End(name)),
            false => open.push(name),
        }
    }
    match open.last() {
        Some(name) => Err(wrong(&format!("<{name}> is not closed"))),
        None => Ok(events),
    }
}

/// A text without entities.
fn plain(text: &str) -> String {
    let pairs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&amp;", "&"),
    ];
    let mut plain = text.to_owned();
    for (entity, letter) in pairs {
        plain = plain.replace(entity, letter);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_text_and_close() {
        let found = events("<?xml?><a x=\"1\"><b>1 &amp; 2</b><c/><!-- no --></a>").unwrap();
        let expected = [
            Event::Begin("a"),
            Event::Begin("b"),
            Event::Text("1 & 2".into()),
            Event::End("b"),
            Event::Begin("c"),
            Event::End("c"),
            Event::End("a"),
        ];
        assert_eq!(found, expected);
        assert!(events("<a><b></a>").is_err() && events("<a").is_err());
    }
}
