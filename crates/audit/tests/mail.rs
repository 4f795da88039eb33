//! Mail of every condition, from file to lines.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::common::{explain, lists, looked_over};
use assize_audit::mail::{BINARY_INPUT, Message, messages, sealed};
use assize_audit::{Line, Options, read_message};
use assize_bundle::Records;
use proptest::prelude::*;

fn read(bytes: &[u8]) -> Vec<Message> {
    messages(bytes)
        .map(|m| m.expect("a slice can be read"))
        .collect()
}

fn one(bytes: &[u8]) -> Message {
    let mut all = read(bytes);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

/// Lines as `LINE:DEPTH TEXT`.
fn shown(message: &Message) -> Vec<String> {
    let show = |l: &Line<'_>| {
        assert_eq!(l.place.message, message.letter.number);
        format!("{}:{} {}", l.place.line, l.depth, l.text)
    };
    message.lines().iter().map(show).collect()
}

/// What is read of each file in `posts/mail`.
#[test]
fn mails_are_read_as_they_were_looked_over() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/posts/mail"));
    let files = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let expected = folder.join("read_as.txt");
    let mut all = String::new();
    for file in files.iter().filter(|file| **file != expected) {
        writeln!(all, "=== {}", file.file_name().unwrap().to_string_lossy()).unwrap();
        for message in read(&std::fs::read(file).unwrap()) {
            let said = [
                &message.letter.subject,
                &message.letter.from,
                &message.letter.message_id,
                &message.letter.date,
            ];
            let said: Vec<&str> = said.into_iter().flatten().map(String::as_str).collect();
            let (number, said) = (message.letter.number, said.join(" | "));
            writeln!(all, "message {number}: {said}").unwrap();
            for doubt in &message.doubts {
                let (code, line) = (&doubt.code, doubt.place.line);
                writeln!(all, "doubt at {line}: {code}: {}", doubt.detail).unwrap();
            }
            for line in shown(&message) {
                writeln!(all, "{line}").unwrap();
            }
        }
    }
    looked_over(&expected, &all);
}

#[test]
fn binary_gives_a_doubt_and_no_lines() {
    let noise: Vec<u8> = (1..=255).collect();
    for bytes in [
        &b"\x7fELF\x02\0\0\0text\n"[..],
        b"\x01\x02\x03\x04abc",
        &noise,
    ] {
        let message = one(bytes);
        assert_eq!(message.doubts[0].code, BINARY_INPUT);
        assert!(message.lines().is_empty());
    }
}

#[test]
fn an_empty_file_is_one_message_without_lines() {
    assert!(one(b"").lines().is_empty());
    assert!(one(b"\xef\xbb\xbf").lines().is_empty());
    assert_eq!(shown(&one(b"\n")), ["1:0 "]);
}

#[test]
fn a_text_is_a_mail_only_if_its_header_is_one() {
    assert_eq!(
        shown(&one(b"from:A <a@b>\r\nDATE: b\r\n\r\nbody")),
        ["4:0 body"]
    );
    for text in [
        "From: a\nDate: b\nhello world\n\n",
        "Results: a\nFrom: b\nDate: c\n\nx",
        "From: b\n\nDate: c\n\nx",
        "From: b\nDate: c\n",
    ] {
        assert_eq!(one(text.as_bytes()).lines()[0].place.line, 1, "{text}");
    }
}

/// Hands out a few bytes at a time.
struct Trickle<'a>(&'a [u8], usize);

impl std::io::Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = buffer.len().min(self.1).min(self.0.len());
        buffer[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        Ok(length)
    }
}

#[test]
fn it_does_not_matter_how_the_bytes_arrive() {
    let bytes = include_bytes!("posts/mail/mailbox.mbox");
    let whole: Vec<_> = read(bytes).iter().map(shown).collect();
    for step in [1, 7, 1000] {
        let reader = std::io::BufReader::with_capacity(3, Trickle(bytes, step));
        let trickled: Vec<_> = messages(reader).map(|m| shown(&m.unwrap())).collect();
        assert_eq!(trickled, whole);
    }
}

#[test]
fn a_reader_that_fails_ends_the_messages() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("broken"))
        }
    }
    let mut messages = messages(std::io::BufReader::new(Broken));
    assert!(messages.next().unwrap().is_err());
    assert!(messages.next().is_none());
}

/// Inputs that would take forever if any step were quadratic.
#[test]
fn hostile_mails_take_linear_time() {
    let head = "From: a\nSubject: b\nContent-Type: multipart/mixed; boundary=x\n\n";
    let never_ended = "--x\nContent-Type: multipart/mixed; boundary=y\n\n".repeat(40_000);
    let nested: String = (0..40_000)
        .map(|n| format!("--x\nContent-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n"))
        .collect();
    let forwarded =
        "--x\nContent-Type: message/rfc822\n\nContent-Type: message/rfc822\n\n".repeat(40_000);
    let html = |tag: &str| format!("--x\nContent-Type: text/html\n\n{}", tag.repeat(200_000));
    let tags = ["<a", "<!--", "<style>", "</", "<blockquote>", "<pre>\n"].map(html);
    let marks = [">", "> ", "| ", "|> ", ">>>>>>> ", "A> ", " >"].map(|mark| mark.repeat(100_000));
    #[rustfmt::skip]
    let cases = [
        never_ended, nested, forwarded, "--".repeat(1_000_000), "\n--x".repeat(500_000),
        "\n>From ".repeat(300_000), "&amp;".repeat(400_000), "\r\x0c".repeat(1_000_000),
        "a\n\nFrom x Thu Jan  1 00:00:00 1970\n".repeat(50_000), "> | ".repeat(500_000),
        ": x\n".repeat(500_000),
    ];
    for body in cases.into_iter().chain(tags).chain(marks) {
        let message = one(format!("{head}{body}").as_bytes());
        let _ = message.lines().len();
        let lines: usize = read(body.as_bytes()).iter().map(|m| m.lines().len()).sum();
        assert!(lines <= 2_000_001);
    }
}

/// What is read of each mail of a mailbox, and whether it was thought that anything may be.
/// To explain each line, all of them are looked at.
fn all_read(mailbox: &str) -> Vec<(bool, Records)> {
    let of = |mail: std::io::Result<assize_audit::mail::Sealed>| {
        let mail = mail.expect("a slice can be read");
        let may = mail.may_hold_figures();
        let message = mail.open();
        let records = read_message(&message, "box", &explain()).records;
        let quick = read_message(&message, "box", &Options::default()).records;
        assert_eq!(quick, records);
        (may, records)
    };
    sealed(mailbox.as_bytes()).map(of).collect()
}

/// Whether there is anything to say of a mail.
fn is_something(records: &Records) -> bool {
    let unreached = |doubt: &assize_bundle::Doubt| doubt.code == "unreached-code";
    !(records.runs.is_empty() && records.statements.is_empty())
        || records.doubts.iter().any(unreached)
}

#[test]
fn mails_that_hold_nothing_are_passed_over_and_no_others() {
    let mail = |fields: &str, body: &str| {
        format!("From x Mon Jan  1 00:00:00 2024\nFrom: a\nDate: b\n{fields}\n{body}\n\n")
    };
    let plain = "Content-Type: text/plain; charset=utf-8\n";
    let base64 = "Content-Transfer-Encoding: base64\n";
    // The header ends where the mark is taken away.
    let stuffed = ">From x\nSubject: It has no effect here.\n";
    let figures = lists(12.5, 11.5);
    // The same figures, of which no digit is left.
    let encoded = "QmVmb3JlOgpSdW5uaW5nIGluIHByb2Nlc3MgbW9kZSB3aXRoIDEwIGdyb3VwcyB1c2luZyA0\n\
        MCBmaWxlIGRlc2NyaXB0b3JzIGVhY2ggKD09IDQwMCB0YXNrcykKRWFjaCBzZW5kZXIgd2ls\n\
        bCBwYXNzIDEwMCBtZXNzYWdlcyBvZiAxMDAgYnl0ZXMKVGltZTogMTIuNQoKQWZ0ZXI6ClJ1\n\
        bm5pbmcgaW4gcHJvY2VzcyBtb2RlIHdpdGggMTAgZ3JvdXBzIHVzaW5nIDQwIGZpbGUgZGVz\n\
        Y3JpcHRvcnMgZWFjaCAoPT0gNDAwIHRhc2tzKQpFYWNoIHNlbmRlciB3aWxsIHBhc3MgMTAw\n\
        IG1lc3NhZ2VzIG9mIDEwMCBieXRlcwpUaW1lOiAxMS41Cg==";
    #[rustfmt::skip]
    let cases = [
        (plain, figures.as_str(), true, true),
        ("", "> This path is Never\n> executed.", true, true),
        ("", "It has no effect\nhere at all.", true, true), (base64, encoded, true, true),
        (plain, "Applied, thanks.\nIt is faster now.", false, false),
        (plain, "Never mind.", true, false), (stuffed, "words", true, true),
        ("", "", false, false), ("", "caf\u{e9} \u{663} s to \u{662} s", false, false),
    ];
    for (fields, body, may, found) in cases {
        let read = all_read(&mail(fields, body));
        let [(thought, records)] = &read[..] else {
            panic!("{} mails", read.len());
        };
        assert_eq!((*thought, is_something(records)), (may, found), "{body}");
    }
}

proptest! {
    #[test]
    fn plain_text_gives_its_lines_back(text in "[a-z0-9 .%\t\n(±µ]{0,400}") {
        // Marks need a `>` or begin with `|`: nothing here can be a quote.
        let message = one(text.as_bytes());
        let lines = message.lines();
        let expected: Vec<&str> = text.lines().map(str::trim_end).collect();
        let found: Vec<&str> = lines.iter().map(|l| l.text.as_ref()).collect();
        prop_assert_eq!(found, expected);
        for (line, number) in lines.iter().zip(1..) {
            prop_assert_eq!((line.depth, line.place.line), (0, number));
            prop_assert!(matches!(line.text, std::borrow::Cow::Borrowed(_)));
        }
    }

    #[test]
    fn quoting_once_more_adds_one_to_each_depth(
        texts in proptest::collection::vec("([>| ]|MB> |&gt; ?|>>>>>>> a){0,5}[a-z0-9 |=>&;.:±]{0,20}", 1..12)
    ) {
        let text: String = texts.iter().map(|t| format!("{t}\n")).collect();
        let quoted: String = texts.iter().map(|t| format!("> {t}\n")).collect();
        let (text, quoted) = (one(text.as_bytes()), one(quoted.as_bytes()));
        let (lines, quoted) = (text.lines(), quoted.lines());
        prop_assert_eq!(lines.len(), quoted.len());
        for (line, quoted) in lines.iter().zip(&quoted) {
            prop_assert_eq!(line.depth + 1, quoted.depth);
            prop_assert_eq!(&line.text, &quoted.text);
        }
    }
}
