//! Mails of an archive, thread by thread.

use crate::common::lists;
use assize_audit::mail::messages;
use assize_audit::{Audit, Letter, Options, Scanned, Threads};

/// A mail.
fn mail(id: &str, subject: &str, answers: &[&str], body: &str) -> String {
    let references: Vec<String> = answers.iter().map(|id| format!("<{id}>")).collect();
    let references = match references.join("\n ") {
        ids if ids.is_empty() => String::new(),
        ids => format!("References: {ids}\n"),
    };
    format!(
        "From x@example.org Thu Jan  1 00:00:00 1970\nFrom: A <a@example.org>\nSubject: {subject}\n\
         Message-ID: <{id}>\n{references}\n{body}\n\n"
    )
}

fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("> {line}\n")).collect()
}

fn threads(mails: &[String]) -> Vec<(Vec<Letter>, Audit)> {
    let options = Options::default();
    let mut threads = Threads::default();
    for message in messages(mails.concat().as_bytes()) {
        threads.add(Scanned::new(&message.unwrap(), &options), &options);
    }
    let threads = threads.finish();
    threads
        .map(|thread| (thread.letters.clone(), thread.finish("box", &options)))
        .collect()
}

fn numbers(letters: &[Letter]) -> Vec<u32> {
    letters.iter().map(|letter| letter.number).collect()
}

#[test]
fn a_reply_joins_what_it_answers_and_its_quotations_count_once() {
    let first = lists(12.5, 11.5);
    let reply = format!(
        "I see\n\n{}\nand here\n\n{}",
        quoted(&first),
        lists(22.5, 21.25)
    );
    let mails = [
        mail("1@x", "[PATCH] queue", &[], &first),
        mail("9@x", "Another subject", &[], "Nothing to see."),
        mail("2@x", "Re: [PATCH] queue", &["1@x"], &reply),
        mail("3@x", "Re: [PATCH] queue", &["1@x", "2@x"], "Thanks!"),
    ];
    let threads = threads(&mails);
    assert_eq!(threads.len(), 1);
    let (letters, audit) = &threads[0];
    // Mails without figures are not listed.
    assert_eq!(numbers(letters), [1, 3]);
    assert_eq!(letters[1].message_id.as_deref(), Some("2@x"));
    assert_eq!(audit.records.runs.len(), 4, "two of each, none quoted");
    assert_eq!(audit.repeats.len(), 2, "one for each report");
    assert_eq!(audit.messages, 3, "the thread has three mails");
}

#[test]
fn versions_of_a_series_are_apart_even_as_answers() {
    let (third, fourth) = (lists(13.5, 11.0), lists(14.5, 11.0));
    let mails = [
        mail("1@x", "[PATCH 0/2] queue", &[], &lists(12.5, 11.5)),
        mail("2@x", "[PATCH v2 0/2] queue", &["1@x"], &lists(12.5, 11.25)),
        mail("3@x", "Re: [PATCH v2] q", &["1@x", "2@x"], &third),
        mail("4@x", "Re: was: q", &["1@x", "2@x", "3@x"], &fourth),
    ];
    let threads = threads(&mails);
    let letters = threads.iter().map(|(letters, _)| numbers(letters));
    let members: Vec<_> = letters.collect();
    assert_eq!(members, [vec![1], vec![2, 3, 4]]);
}

#[test]
fn a_mail_that_is_archived_twice_counts_once_and_strangers_are_apart() {
    let mails = [
        mail("1@x", "A", &[], &lists(12.5, 11.5)),
        mail("1@x", "A", &[], &lists(12.5, 11.5)),
        mail("2@x", "A", &[], &lists(12.75, 11.5)),
        // What it answers is not in the archive.
        mail("4@x", "Re: B", &["0@x", "3@x"], &lists(1.5, 2.5)),
        mail("5@x", "Re: B", &["0@x"], &lists(3.5, 2.25)),
    ];
    let threads = threads(&mails);
    let letters = threads.iter().map(|(letters, _)| numbers(letters));
    let members: Vec<_> = letters.collect();
    assert_eq!(members, [vec![1], vec![3], vec![4, 5]]);
}
