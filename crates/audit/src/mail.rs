//! Bytes to unquoted lines; plain text only until mails are read.
#![allow(missing_docs)]
use crate::Line;
use assize_bundle::{Doubt, Place};
use std::borrow::Cow;
pub struct Message {
    pub number: u32,
    pub subject: Option<String>,
    pub doubts: Vec<Doubt>,
    text: String,
}
impl Message {
    pub fn lines(&self) -> Vec<Line<'_>> {
        self.text
            .lines()
            .enumerate()
            .map(|(i, t)| {
                let mut d = 0;
                let mut t = t;
                while let Some(r) = t.trim_start().strip_prefix('>') {
                    d += 1;
                    t = r.strip_prefix(' ').unwrap_or(r);
                }
                Line {
                    text: Cow::Borrowed(t.trim_end()),
                    depth: d,
                    place: Place {
                        message: 1,
                        line: i as u32 + 1,
                    },
                }
            })
            .collect()
    }
}
pub fn messages<R: std::io::BufRead>(
    mut reader: R,
) -> impl Iterator<Item = std::io::Result<Message>> {
    let mut text = String::new();
    let r = reader.read_to_string(&mut text);
    std::iter::once(r.map(|_| Message {
        number: 1,
        subject: None,
        doubts: vec![],
        text,
    }))
}
