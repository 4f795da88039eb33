//! Archives of mails: each mail is judged separately.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{assize, document, errors, printed};
use serde_json::Value;

/// Alternating runs of two kernels; `shift` is the difference.
fn body(shift: f64) -> String {
    let mut text = String::new();
    for run in 0..5 {
        let base = 10.0 + f64::from(run * run % 7) * 0.1;
        text.push_str(&format!(
            "base:\nreal 0m{base:.3}s\nuser 0m1.000s\nsys 0m1.000s\n\n"
        ));
        let new = base + shift + f64::from(run) * 0.015;
        text.push_str(&format!(
            "patched:\nreal 0m{new:.3}s\nuser 0m1.000s\nsys 0m1.000s\n\n"
        ));
    }
    text
}

/// A mail in transport format.
fn mail(id: &str, subject: &str, answers: Option<&str>, body: &str) -> String {
    let answers = answers.map_or(String::new(), |id| format!("In-Reply-To: <{id}>\n"));
    format!(
        "From: A Person <a@example.org>\nSubject: {subject}\nMessage-ID: <{id}>\n\
         Date: Thu, 1 Jan 2026 00:00:00 +0000\n{answers}\n{body}"
    )
}

/// Four mails: one with a difference, one with a quotation, one without a difference, one
/// without figures.
fn mails() -> [String; 4] {
    let quoted: String = body(-3.0)
        .lines()
        .map(|line| format!("> {line}\n"))
        .collect();
    [
        mail("1@x", "[PATCH] faster", None, &body(-3.0)),
        mail(
            "2@x",
            "Re: [PATCH] faster",
            Some("1@x"),
            &format!("{quoted}\nThanks\n"),
        ),
        mail("3@x", "[PATCH] another", None, &body(0.0)),
        mail("4@x", "hello", None, "No figures here.\n"),
    ]
}

fn mailbox(place: &Path) {
    let begin = "From x@example.org Thu Jan  1 00:00:00 1970\n";
    let text: String = mails()
        .iter()
        .map(|mail| format!("{begin}{mail}\n"))
        .collect();
    fs::write(place.join("list.mbox"), text).unwrap();
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn each_mail_of_a_mailbox_is_judged_by_itself() {
    let place = tempfile::tempdir().unwrap();
    mailbox(place.path());
    let rows = lines(&printed(
        place.path(),
        &["audit", "list.mbox", "--json-lines"],
    ));
    let numbers: Vec<&Value> = rows.iter().map(|row| &row["messages"]).collect();
    assert_eq!(
        numbers,
        [
            &serde_json::json!([1]),
            &serde_json::json!([2]),
            &serde_json::json!([3])
        ]
    );
    assert_eq!(rows[0]["message_id"], "1@x");
    assert_eq!(rows[0]["subject"], "[PATCH] faster");
    // The same result as for the mail alone, word for word.
    fs::write(place.path().join("1.eml"), &mails()[0]).unwrap();
    let alone = document(place.path(), &["audit", "1.eml", "--json"]);
    let verdicts = alone["comparisons"].as_array().unwrap();
    let of = |word: &str| verdicts.iter().filter(|row| row["verdict"] == word).count();
    for word in ["established", "supported", "equivalent", "undecided"] {
        assert_eq!(rows[0][word], of(word), "{word}");
    }
    assert_eq!(rows[0]["runs"], 10);
    assert!(of("established") + of("supported") > 0, "{alone}");
    assert_eq!(rows[2]["established"], 0);
    assert_eq!(rows[2]["supported"], 0);
    let chosen = document(
        place.path(),
        &["audit", "list.mbox", "--message", "<3@x>", "--json"],
    );
    assert_eq!(chosen["runs"].as_array().unwrap().len(), 10);
}

#[test]
fn a_thread_counts_what_it_quotes_once() {
    let place = tempfile::tempdir().unwrap();
    mailbox(place.path());
    let arguments = ["audit", "list.mbox", "--thread", "--json-lines"];
    let rows = lines(&printed(place.path(), &arguments));
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["runs"], 10, "the reply only quotes");
    assert_eq!(rows[1]["messages"], serde_json::json!([3]));
}

#[test]
fn the_lines_and_the_index_say_the_same() {
    let place = tempfile::tempdir().unwrap();
    mailbox(place.path());
    let text = printed(
        place.path(),
        &["audit", "list.mbox", "--index", "index.html"],
    );
    assert_eq!(text.lines().count(), 4);
    assert!(text.ends_with("4 mails; 3 mails with figures.\n"), "{text}");
    let page = fs::read_to_string(place.path().join("index.html")).unwrap();
    assert_eq!(page.matches("<tr data-verdict=").count(), 3);
    for line in text.lines().take(3) {
        let verdict = line.split_whitespace().nth(1).unwrap();
        assert!(
            page.contains(&format!("<tr data-verdict=\"{verdict}\"")),
            "{line}"
        );
    }
    assert!(!page.contains("<script"));
}

#[test]
fn a_maildir_and_a_repository_of_mails_are_archives_too() {
    let place = tempfile::tempdir().unwrap();
    mailbox(place.path());
    let box_rows = lines(&printed(
        place.path(),
        &["audit", "list.mbox", "--json-lines"],
    ));
    for part in ["cur", "new", "tmp"] {
        fs::create_dir_all(place.path().join("maildir").join(part)).unwrap();
    }
    for (number, mail) in mails().iter().enumerate() {
        let part = if number < 2 { "cur" } else { "new" };
        let name = format!("maildir/{part}/{number}.host");
        fs::write(place.path().join(name), mail).unwrap();
    }
    let rows = lines(&printed(
        place.path(),
        &["audit", "maildir", "--json-lines"],
    ));
    assert_eq!(rows, box_rows);

    let repository = place.path().join("list");
    fs::create_dir(&repository).unwrap();
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"];
        let mut command = Command::new("git");
        command
            .arg("-C")
            .arg(&repository)
            .args(identity)
            .args(arguments);
        assert!(command.output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    for mail in mails() {
        fs::write(repository.join("m"), mail).unwrap();
        git(&["add", "m"]);
        git(&["commit", "-q", "-m", "x"]);
    }
    git(&["rm", "-q", "m"]);
    git(&["commit", "-q", "-m", "deleted"]);
    let rows = lines(&printed(place.path(), &["audit", "list", "--json-lines"]));
    assert_eq!(rows, box_rows);
}

#[test]
fn what_speaks_of_one_document_is_refused_with_what_to_do() {
    let place = tempfile::tempdir().unwrap();
    mailbox(place.path());
    for option in [["--format", "html"], ["--claim", "base < patched on real"]] {
        let done = assize(place.path(), &["audit", "list.mbox", option[0], option[1]]);
        assert_eq!(done.status.code(), Some(2));
        assert!(
            errors(&done).contains("choose one with --message"),
            "{}",
            errors(&done)
        );
    }
    let done = assize(place.path(), &["audit", "list.mbox", "--message", "9"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(errors(&done).contains("no such mail"));
    fs::create_dir(place.path().join("empty")).unwrap();
    let done = assize(place.path(), &["audit", "empty"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(errors(&done).contains("neither a maildir nor a git repository"));
    fs::write(place.path().join("nothing"), "").unwrap();
    let done = assize(place.path(), &["audit", "nothing"]);
    assert_eq!(done.status.code(), Some(2), "{}", errors(&done));
}
