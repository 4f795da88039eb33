//! `assize audit` on a whole archive: mail by mail, or thread by thread.

use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use assize_audit::mail::Sealed;
use assize_audit::{Audit, Letter, Options, Scanned, Thread, Threads, read_message};
use assize_report::html::{ArchiveIndex, IndexRow, index};
use assize_verdict::{Document, Verdict};

use crate::archive::Mails;
use crate::audit::is_something;
use crate::cli::{AuditArguments, ReportFormat};
use crate::failure::Failure;
use crate::output;
use crate::parallel_map;
use crate::terms::JudgingTerms;

/// Judges each mail of an archive, and prints a line for each that has figures.
pub(crate) fn mailbox(
    mut mails: Mails,
    arguments: &AuditArguments,
    options: &Options,
) -> Result<u8, Failure> {
    only_lines(arguments)?;
    let source = arguments.file.display().to_string();
    let mut lines = OutputLines::new(arguments);
    let mut found = ArchiveIndex {
        source: source.clone(),
        threads: arguments.thread,
        ..ArchiveIndex::default()
    };
    let mut failed = None;
    let mails = std::iter::from_fn(|| match mails.next()? {
        Ok(mail) => Some(mail),
        Err(error) => {
            failed = Some(error);
            None
        }
    });
    if arguments.thread {
        let threads = threads(mails, &mut found, options)?.finish();
        let judge = |thread| judged_thread(thread, &source, arguments, options);
        let note = |row| note(row, &mut lines, &mut found, arguments);
        parallel_map::each(threads, Thread::bytes, judge, note)?;
    } else {
        let judge = |mail| judged_mail(mail, &source, arguments, options);
        let note = |row| {
            found.mails += 1;
            note(row, &mut lines, &mut found, arguments)
        };
        parallel_map::each(mails, Sealed::bytes, judge, note)?;
    }
    if let Some(source) = failed {
        return Err(Failure::Read {
            path: arguments.file.clone(),
            source,
        });
    }
    finish(lines, &found, arguments)
}

/// Groups mails with figures into threads.
fn threads(
    mails: impl Iterator<Item = Sealed>,
    found: &mut ArchiveIndex,
    options: &Options,
) -> Result<Threads, Failure> {
    let mut threads = Threads::default();
    // A mail that makes the parser panic is skipped; the rest of its thread is judged.
    let scan =
        |mail: Sealed| catch_unwind(AssertUnwindSafe(|| Scanned::new(&mail.open(), options))).ok();
    parallel_map::each(mails, Sealed::bytes, scan, |mail| {
        found.mails += 1;
        if let Some(mail) = mail {
            let _ = catch_unwind(AssertUnwindSafe(|| threads.add(mail, options)));
        }
        Ok::<(), Failure>(())
    })?;
    Ok(threads)
}

/// Decodes, reads and judges a mail.
fn judged_mail(
    mail: Sealed,
    source: &str,
    arguments: &AuditArguments,
    options: &Options,
) -> Option<IndexRow> {
    let (number, line) = mail.place();
    let open = || mail.may_hold_figures().then(|| mail.open());
    let Ok(message) = catch_unwind(AssertUnwindSafe(open)) else {
        let unknown = Letter {
            number,
            line,
            ..Letter::default()
        };
        return Some(broken(&[unknown]));
    };
    let message = message?;
    let letters = [message.letter.clone()];
    guarded(&letters, || {
        judged(
            &letters,
            &read_message(&message, source, options),
            arguments,
        )
    })
}

fn judged_thread(
    thread: Thread,
    source: &str,
    arguments: &AuditArguments,
    options: &Options,
) -> Option<IndexRow> {
    let letters = thread.letters.clone();
    guarded(&letters, || {
        judged(&letters, &thread.finish(source, options), arguments)
    })
}

/// Refuses options that only apply to a single document.
fn only_lines(arguments: &AuditArguments) -> Result<(), Failure> {
    let question = &arguments.trial.question;
    let refused = [
        (arguments.explain, "--explain"),
        (!question.claims.is_empty(), "--claim"),
        (question.claims_file.is_some(), "--claims"),
        (!question.fail_on.is_empty(), "--fail-on"),
        (arguments.out.is_some(), "--out"),
        (arguments.showing.json, "--json"),
        (arguments.showing.format != ReportFormat::Auto, "--format"),
    ];
    let refused = refused.iter().find(|(given, _)| *given);
    refused.map_or(Ok(()), |(_, option)| {
        Err(Failure::Argument(format!(
            "{option}: applies to one document, but {} holds several mails, each of which is \
             judged separately: choose one with --message",
            arguments.file.display()
        )))
    })
}

/// The row of a mail. If reading or judging it panicked, the row says so.
fn guarded(letters: &[Letter], judge: impl FnOnce() -> Option<IndexRow>) -> Option<IndexRow> {
    catch_unwind(AssertUnwindSafe(judge)).unwrap_or_else(|_| Some(broken(letters)))
}

fn broken(letters: &[Letter]) -> IndexRow {
    IndexRow {
        problem: Some("a bug in assize: the mail could not be read or judged".to_owned()),
        ..row(letters)
    }
}

fn row(letters: &[Letter]) -> IndexRow {
    let first = letters.first().cloned().unwrap_or_default();
    IndexRow {
        messages: letters.iter().map(|letter| letter.number).collect(),
        message_id: first.message_id,
        subject: first.subject,
        from: first.from,
        date: first.date,
        ..IndexRow::default()
    }
}

/// The figures read from a mail and the verdict on them; `None` if it has no figures.
fn judged(letters: &[Letter], audit: &Audit, arguments: &AuditArguments) -> Option<IndexRow> {
    let records = &audit.records;
    if !is_something(records) {
        return None;
    }
    let mut row = IndexRow {
        configurations: records
            .configurations
            .iter()
            .map(|c| c.name.clone())
            .collect(),
        runs: records.runs.len(),
        summaries: records.summaries.len(),
        statements: records.statements.len(),
        ..row(letters)
    };
    match output::judge(records, &arguments.trial, &JudgingTerms::default()) {
        Ok(document) => count(&document, &mut row),
        Err(failure) => row.problem = Some(failure.to_string()),
    }
    Some(row)
}

fn count(document: &Document, row: &mut IndexRow) {
    for comparison in &document.comparisons {
        match comparison.verdict {
            Verdict::Established => row.established += 1,
            Verdict::Supported => row.supported += 1,
            Verdict::Equivalent => row.equivalent += 1,
            Verdict::Undecided => row.undecided += 1,
        }
    }
    for lint in &document.lints {
        if !row.lints.contains(&lint.code) {
            row.lints.push(lint.code.clone());
        }
    }
}

/// Prints a row and keeps it for the index.
fn note(
    row: Option<IndexRow>,
    lines: &mut OutputLines,
    found: &mut ArchiveIndex,
    arguments: &AuditArguments,
) -> Result<(), Failure> {
    let Some(row) = row else { return Ok(()) };
    lines.with_figures += 1;
    let line = if arguments.json_lines {
        let json = serde_json::to_string(&row);
        json.map_err(|error| Failure::Show(error.to_string()))?
    } else {
        line(&row)
    };
    lines.push(&line)?;
    if arguments.index.is_some() {
        found.rows.push(row);
    }
    Ok(())
}

/// Maximum number of mails whose positions a line lists.
const SHOWN: usize = 3;

/// `  4711  supported     2 established, 1 undecided  [PATCH] queue: …`
fn line(row: &IndexRow) -> String {
    let mut numbers: Vec<String> = row
        .messages
        .iter()
        .take(SHOWN)
        .map(u32::to_string)
        .collect();
    if row.messages.len() > SHOWN {
        numbers.push("…".to_owned());
    }
    let mut text = format!("{:>7}  {:<11}", numbers.join(","), row.verdict());
    let counts = [
        (row.established, "established"),
        (row.supported, "supported"),
        (row.equivalent, "equivalent"),
        (row.undecided, "undecided"),
    ];
    let told: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let subject = row.subject.as_deref().unwrap_or("(no subject)");
    let told = match &row.problem {
        Some(problem) => problem.clone(),
        None if told.is_empty() => "nothing to compare".to_owned(),
        None => told.join(", "),
    };
    let _ = write!(text, "  {subject}  ({told})");
    assize_report::printable(&text).into_owned()
}

/// Lines written to standard output, or collected for a file.
struct OutputLines {
    out: Option<BufWriter<io::Stdout>>,
    kept: String,
    with_figures: usize,
}

impl OutputLines {
    fn new(arguments: &AuditArguments) -> Self {
        let streams = arguments.showing.output.is_none();
        OutputLines {
            out: streams.then(|| BufWriter::new(io::stdout())),
            kept: String::new(),
            with_figures: 0,
        }
    }

    fn push(&mut self, line: &str) -> Result<(), Failure> {
        match &mut self.out {
            Some(out) => writeln!(out, "{line}").map_err(output::failed_to_print),
            None => {
                self.kept.push_str(line);
                self.kept.push('\n');
                Ok(())
            }
        }
    }
}

fn finish(
    mut lines: OutputLines,
    found: &ArchiveIndex,
    arguments: &AuditArguments,
) -> Result<u8, Failure> {
    if lines.with_figures == 0 {
        return Err(Failure::NothingFound {
            place: found.source.clone(),
            because: format!("none of its {} mails holds benchmark figures", found.mails),
        });
    }
    if !arguments.json_lines {
        let what = if found.threads { "threads" } else { "mails" };
        let figures = lines.with_figures;
        lines.push(&format!(
            "{} mails; {figures} {what} with figures.",
            found.mails
        ))?;
    }
    match &mut lines.out {
        Some(out) => out.flush().map_err(output::failed_to_print)?,
        None => output::deliver(lines.kept.as_bytes(), arguments.showing.output.as_deref())?,
    }
    if let Some(path) = &arguments.index {
        let page = index(found).map_err(|error| Failure::Show(error.to_string()))?;
        output::deliver(page.as_bytes(), Some(path))?;
    }
    Ok(0)
}
