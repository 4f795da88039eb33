//! Reads one mail as a patch.

use mail_parser::MessageParser;

use crate::diff;
use crate::subject::PatchSubject;

/// A posted patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostedPatch {
    /// Its subject without bracketed prefixes; empty for a bare diff.
    pub subject: String,
    /// `Name <address>`, if given.
    pub author: Option<String>,
    /// The files that it touches, as paths from the top of the tree.
    pub paths: Vec<String>,
    /// The mail or diff as it is in the file, for git.
    pub bytes: Vec<u8>,
    /// Whether it is a bare diff, without a subject or author.
    pub bare: bool,
}

/// One mail of a file.
#[derive(Debug, Clone)]
pub(crate) struct Mail {
    pub(crate) subject: PatchSubject,
    pub(crate) base: Option<String>,
    pub(crate) patch: PostedPatch,
}

impl Mail {
    pub(crate) fn has_diff(&self) -> bool {
        !self.patch.paths.is_empty()
    }
}

/// Reads one mail, or a bare diff.
pub(crate) fn read(bytes: &[u8]) -> Mail {
    let parsed = MessageParser::default().parse(after_separator(bytes));
    let headed = parsed.filter(|mail| mail.subject().is_some() && mail.from().is_some());
    let Some(mail) = headed else {
        return mail_of_diff(bytes);
    };
    let subject = PatchSubject::parse(mail.subject().unwrap_or_default());
    let text = body(&mail);
    let author = in_body_author(&text).or_else(|| {
        let from = mail.from()?.first()?;
        let address = from.address()?;
        Some(match from.name() {
            Some(name) => format!("{name} <{address}>"),
            None => format!("<{address}>"),
        })
    });
    Mail {
        base: base_of(&text),
        patch: PostedPatch {
            subject: subject.text.clone(),
            author,
            paths: diff::paths(&text),
            bytes: bytes.to_vec(),
            bare: false,
        },
        subject,
    }
}

fn mail_of_diff(bytes: &[u8]) -> Mail {
    let text = String::from_utf8_lossy(bytes);
    Mail {
        subject: PatchSubject {
            version: 1,
            ..PatchSubject::default()
        },
        base: base_of(&text),
        patch: PostedPatch {
            subject: String::new(),
            author: None,
            paths: diff::paths(&text),
            bytes: bytes.to_vec(),
            bare: true,
        },
    }
}

/// All text parts of a mail, since a patch may be attached.
fn body(mail: &mail_parser::Message<'_>) -> String {
    let mut text = String::new();
    for part in &mail.parts {
        if let Some(contents) = part.text_contents() {
            let is_html = matches!(part.body, mail_parser::PartType::Html(_));
            if !is_html {
                text.push_str(&contents.replace("\r\n", "\n"));
                text.push('\n');
            }
        }
    }
    text
}

/// The author, if the patch was posted by someone else: a `From:` on the first line of
/// the text.
fn in_body_author(text: &str) -> Option<String> {
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    Some(first.strip_prefix("From: ")?.trim().to_owned())
}

/// The base commit that the series names.
fn base_of(text: &str) -> Option<String> {
    let mut lines = text
        .lines()
        .filter_map(|line| line.strip_prefix("base-commit:"));
    let id = lines.next()?.trim();
    let is_id = id.len() >= 7 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| id.to_owned())
}

/// Strips the mbox separator line from a mail.
fn after_separator(bytes: &[u8]) -> &[u8] {
    if !bytes.starts_with(b"From ") {
        return bytes;
    }
    let end = bytes.iter().position(|byte| *byte == b'\n');
    end.and_then(|end| bytes.get(end + 1..)).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-a\n+b\n";

    #[test]
    fn encoded_subjects_and_bodies_are_read() {
        let text = format!(
            "From: =?UTF-8?q?Ren=C3=A9?= <r@example.org>\n\
             Subject: =?UTF-8?q?[PATCH=201/2]=20f=C3=BCr?=\n\
             Content-Transfer-Encoding: quoted-printable\n\n{}base-commit: 0123456789ab\n",
            DIFF.replace('=', "=3D")
        );
        let letter = read(text.as_bytes());
        assert_eq!(letter.patch.subject, "für");
        assert_eq!(letter.patch.author.as_deref(), Some("René <r@example.org>"));
        assert_eq!(letter.subject.place, Some((1, 2)));
        assert_eq!(letter.patch.paths, ["x.c"]);
        assert_eq!(letter.base.as_deref(), Some("0123456789ab"));
    }

    #[test]
    fn who_wrote_it_is_not_who_posted_it() {
        let text =
            format!("From: P <p@x.org>\nSubject: [PATCH] a\n\nFrom: W <w@x.org>\n\nb\n{DIFF}");
        assert_eq!(
            read(text.as_bytes()).patch.author.as_deref(),
            Some("W <w@x.org>")
        );
    }

    #[test]
    fn a_diff_without_a_mail_is_a_bare_one() {
        let letter = read(format!("diff --git a/x.c b/x.c\n{DIFF}").as_bytes());
        assert!(letter.patch.bare && letter.has_diff());
        assert!(!read(b"\xff\0nothing").has_diff());
    }

    #[test]
    fn a_base_that_is_no_commit_is_none() {
        assert_eq!(base_of("base-commit: next-2026\n"), None);
        assert_eq!(
            base_of("x\nbase-commit:  0123abc \n").as_deref(),
            Some("0123abc")
        );
    }
}
