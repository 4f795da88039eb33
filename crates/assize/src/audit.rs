//! `assize audit`.

use std::io::{self, BufRead};
use std::path::Path;

use assize_audit::mail::Sealed;
use assize_audit::{Audit, Judged, Options};
use assize_bundle::Records;
use assize_verdict::Unassigned;

use crate::archive::{self, Mails};
use crate::cli::{AuditArguments, ReportFormat};
use crate::declared::{self, OpenedInput};
use crate::failure::Failure;
use crate::mailbox::mailbox;
use crate::output;
use crate::page::{PageInputs, RecordsOrigin};
use crate::terms::JudgingTerms;

/// Reads a post, judges it and shows the verdict.
pub(crate) fn audit(arguments: &AuditArguments) -> Result<u8, Failure> {
    let options = options(arguments);
    if let Some(path) = &arguments.draft {
        return declared::draft(path, arguments, &options);
    }
    let mut trial = arguments.trial.clone();
    let mut places = String::new();
    let audit = match declared::open(arguments, &options)? {
        OpenedInput::Declared(declared) => {
            let lower = declared.lower_is_better.iter().cloned();
            trial.lower_is_better.extend(lower);
            let higher = declared.records.higher_is_better.iter().cloned();
            trial.higher_is_better.extend(higher);
            places = declared::places(&declared);
            declared::as_audit(*declared)
        }
        OpenedInput::Other(begun) => match document(arguments, &options, begun)? {
            InputSource::Document(audit) => {
                places.push_str(if audit.explained.is_empty() {
                    UNCOUNTED
                } else {
                    ""
                });
                *audit
            }
            InputSource::Mails(mails) => return mailbox(mails, arguments, &options),
        },
    };
    if arguments.explain {
        only_explained(arguments)?;
    }
    let as_text = matches!(
        output::format(&arguments.showing),
        ReportFormat::Auto | ReportFormat::Mail
    );
    if arguments.explain && as_text {
        return explain(&audit, arguments);
    }
    require_something(&audit)?;
    every_rule_names(&audit.records, arguments)?;
    if let Some(directory) = &arguments.out {
        assize_bundle::write(directory, &audit.records)?;
    }
    let mut document = output::judge(&audit.records, &trial, &JudgingTerms::default())?;
    if output::format(&arguments.showing) == ReportFormat::Json {
        document.unassigned = unassigned(&audit);
    }
    let material = PageInputs {
        records: &audit.records,
        trial: &trial,
        terms: &JudgingTerms::default(),
        from: RecordsOrigin::Post(&audit),
    };
    let status = output::show(&document, &material, &arguments.showing)?;
    if is_read_by_people(arguments) && arguments.showing.output.is_none() {
        places.push_str(&not_compared(&audit));
        output::print(assize_report::printable(&places).as_bytes())?;
    }
    Ok(status)
}

fn explain(audit: &Audit, arguments: &AuditArguments) -> Result<u8, Failure> {
    let text = explanation(audit);
    let text = assize_report::printable(&text);
    output::deliver(text.as_bytes(), arguments.showing.output.as_deref())?;
    Ok(0)
}

fn is_read_by_people(arguments: &AuditArguments) -> bool {
    matches!(
        output::format(&arguments.showing),
        ReportFormat::Auto | ReportFormat::Mail | ReportFormat::Brief
    )
}

/// Longest text, in bytes, whose uncompared figures are counted.
const COUNTED: usize = 1 << 20;
const UNCOUNTED: &str =
    "Not compared: other figures (not counted in texts of more than 1 MiB); --draft lists them\n";

/// The number of figures of a post that are not compared, as a sentence; empty if all are.
fn not_compared(audit: &Audit) -> String {
    let line = |said| format!("Not compared: {said}; --draft lists them\n");
    left_out(audit).map_or_else(String::new, line)
}

/// The number and the lines of the figures that are not compared; `None` if all are.
fn left_out(audit: &Audit) -> Option<String> {
    /// Maximum number of places listed.
    const MOST: usize = 4;
    let lines = assize_audit::reading::left_out(audit);
    let mut places: Vec<[u32; 2]> = Vec::new();
    for &line in &lines {
        match places.last_mut() {
            // A blank line or a rule may separate rows.
            Some([_, to]) if line <= *to + 2 => *to = line,
            _ => places.push([line, line]),
        }
    }
    let shown = places.iter().take(MOST).map(|[from, to]| match from == to {
        true => from.to_string(),
        false => format!("{from}-{to}"),
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    let more = match places.len().saturating_sub(MOST) {
        0 => String::new(),
        1 => " and one more".to_owned(),
        more => format!(" and {more} more"),
    };
    let count = lines.len();
    let (figures, at) = (
        if count == 1 { "figure" } else { "figures" },
        if lines.first() == lines.last() {
            "line"
        } else {
            "lines"
        },
    );
    (count > 0).then(|| format!("{count} {figures} in {at} {shown}{more}"))
}

/// The numbers in the post that are not among its figures.
fn unassigned(audit: &Audit) -> Vec<Unassigned> {
    let all = assize_audit::reading::unassigned(audit).into_iter();
    let one = |one: assize_audit::reading::Unassigned| Unassigned {
        value: one.value,
        unit: one.unit,
        line: one.line,
    };
    all.map(one).collect()
}

/// The options of the command line that describe the post.
fn options(arguments: &AuditArguments) -> Options {
    Options {
        configurations: arguments.configurations.clone(),
        workloads: arguments.workloads.clone(),
        ignore: arguments.ignore.clone(),
        exposure_s: arguments.exposure,
        // The page shows the lines next to the figures; JSON lists the unassigned
        // numbers.
        explain: arguments.explain
            || matches!(
                output::format(&arguments.showing),
                ReportFormat::Html | ReportFormat::Json
            ),
        columns_are: arguments.columns_are,
        spread: arguments.spread,
        judged: Judged::Declared,
        metric: arguments.metric.clone(),
        runs_behind: arguments.runs_behind,
    }
}

/// The input to judge.
enum InputSource {
    /// One document.
    Document(Box<Audit>),
    /// Mails, each of them a document.
    Mails(Mails),
}

/// Opens the input. A file with at most one mail is a single document, and so is the mail
/// that --message selects.
fn document(
    arguments: &AuditArguments,
    options: &Options,
    begun: Option<Box<dyn BufRead>>,
) -> Result<InputSource, Failure> {
    let failed = |source| Failure::Read {
        path: arguments.file.clone(),
        source,
    };
    let name = named(&arguments.file);
    let mut archive = archive::open(&arguments.file, begun)?;
    if let Some(wanted) = &arguments.message {
        let id = wanted.trim_start_matches('<').trim_end_matches('>');
        for message in archive.mails {
            let sealed = message.map_err(failed)?;
            let is_counted = sealed.bytes() <= COUNTED;
            let message = sealed.open();
            let letter = &message.letter;
            if letter.number.to_string() == *id || letter.message_id.as_deref() == Some(id) {
                let options = Options {
                    explain: options.explain || is_counted,
                    ..options.clone()
                };
                let audit = assize_audit::read_message(&message, &name, &options);
                return Ok(InputSource::Document(Box::new(audit)));
            }
        }
        return Err(Failure::Argument(format!(
            "--message {wanted}: {name} has no such mail; its mails are numbered from 1"
        )));
    }
    let mut begin: Vec<Sealed> = archive
        .mails
        .by_ref()
        .take(2)
        .collect::<io::Result<_>>()
        .map_err(failed)?;
    let listed = arguments.thread || arguments.json_lines || arguments.index.is_some();
    if begin.len() < 2 && !archive.several && !listed {
        let is_counted = begin.iter().all(|mail| mail.bytes() <= COUNTED);
        let options = Options {
            explain: options.explain || is_counted,
            ..options.clone()
        };
        let read = |mail: Sealed| assize_audit::read_message(&mail.open(), &name, &options);
        let empty = || assize_audit::empty(&name);
        let audit = begin.pop().map_or_else(empty, read);
        return Ok(InputSource::Document(Box::new(audit)));
    }
    let all = begin.into_iter().map(Ok).chain(archive.mails);
    Ok(InputSource::Mails(Box::new(all)))
}

/// The name of a file in messages.
pub(crate) fn named(path: &Path) -> String {
    if path.as_os_str() == "-" {
        "standard input".into()
    } else {
        path.display().to_string()
    }
}

/// With --explain as text, nothing is judged, so refuses options that would have no effect.
fn only_explained(arguments: &AuditArguments) -> Result<(), Failure> {
    let question = &arguments.trial.question;
    let refused = match output::format(&arguments.showing) {
        ReportFormat::Html => None,
        ReportFormat::Json => Some("--json"),
        ReportFormat::Csv => Some("--format csv"),
        ReportFormat::Brief => Some("--format brief"),
        ReportFormat::Junit
        | ReportFormat::Ktap
        | ReportFormat::Markdown
        | ReportFormat::Github
        | ReportFormat::Gitlab
        | ReportFormat::Kcidb => Some("--format"),
        ReportFormat::Auto | ReportFormat::Mail => match question {
            asked if !asked.claims.is_empty() => Some("--claim"),
            asked if asked.claims_file.is_some() => Some("--claims"),
            asked if !asked.fail_on.is_empty() => Some("--fail-on"),
            _ if arguments.out.is_some() => Some("--out"),
            _ => None,
        },
    };
    refused.map_or(Ok(()), |option| {
        Err(Failure::Argument(format!(
            "--explain: only shows how the text was read; omit --explain or {option}"
        )))
    })
}

/// Refuses a naming rule that matches nothing, since it is probably a mistake.
fn every_rule_names(records: &Records, arguments: &AuditArguments) -> Result<(), Failure> {
    let folded = |name: &str| name.to_lowercase();
    let configured = |name: &str| {
        let mut known = records.configurations.iter();
        known.any(|other| folded(&other.name) == folded(name))
    };
    // With several messages, more text may follow the given name of a workload.
    let works = |name: &str| {
        let mut known = records.workloads.iter();
        known.any(|other| folded(other).starts_with(&folded(name)))
    };
    let configurations = arguments.configurations.iter();
    let workloads = arguments.workloads.iter();
    let idle = configurations
        .map(|rule| ("--configuration", rule, configured(&rule.1)))
        .chain(workloads.map(|rule| ("--workload", rule, works(&rule.1))))
        .find(|(.., named)| !named);
    idle.map_or(Ok(()), |(option, (pattern, name), _)| {
        Err(Failure::Argument(format!(
            "{option} '{pattern}={name}': matches nothing in {}; --explain shows how each line was \
             read",
            records.source
        )))
    })
}

/// Reads a file, or standard input for `-`.
pub(crate) fn read(path: &Path, options: &Options) -> Result<Audit, Failure> {
    let failed = |source| Failure::Read {
        path: path.to_path_buf(),
        source,
    };
    let Some(reader) = archive::file(path).map_err(failed)? else {
        let text = format!(
            "{}: is a directory; `assize compare` judges bundles",
            path.display()
        );
        return Err(Failure::Argument(text));
    };
    assize_audit::read(reader, &named(path), options).map_err(failed)
}

/// Fails if there is nothing to judge, and says what was found instead.
pub(crate) fn require_something(audit: &Audit) -> Result<(), Failure> {
    let records = &audit.records;
    if is_something(records) {
        return Ok(());
    }
    Err(Failure::NothingFound {
        place: records.source.clone(),
        because: because(audit),
    })
}

/// Whether there is anything to judge.
pub(crate) fn is_something(records: &Records) -> bool {
    let found = records.runs.len()
        + records.summaries.len()
        + records.events.len()
        + records.statements.len();
    // A doubt about whether the code under test ran deserves a verdict even without
    // figures.
    let mut doubts = records.doubts.iter();
    found > 0 || doubts.any(|doubt| doubt.code == "unreached-code")
}

fn because(audit: &Audit) -> String {
    let records = &audit.records;
    let mut text = match left_out(audit) {
        Some(said) => format!("{said}, in no known format"),
        None => String::from("no figures in a known format"),
    };
    for doubt in records.doubts.iter().take(5) {
        text.push_str(&format!(
            "\n  line {}: {} [{}]",
            doubt.place.line, doubt.detail, doubt.code
        ));
    }
    if records.doubts.len() > 5 {
        text.push_str(&format!("\n  and {} more", records.doubts.len() - 5));
    }
    text.push_str(
        "\n  --explain shows how each line was read, --draft writes a reading to complete",
    );
    text
}

/// How each line was read, then how the figures were grouped.
fn explanation(audit: &Audit) -> String {
    let mut text = String::new();
    for line in &audit.explained {
        let quotes = ">".repeat(usize::from(line.depth.min(8)));
        text.push_str(&format!(
            "{:>6} {quotes:<3} {:<28} {}\n",
            line.place.line,
            line.taken,
            line.text.trim_end()
        ));
    }
    let records = &audit.records;
    text.push_str("\nGrouped as\n");
    for configuration in &records.configurations {
        let runs: Vec<String> = records
            .workloads
            .iter()
            .filter_map(|workload| {
                let lines: Vec<String> = records
                    .runs
                    .iter()
                    .filter(|run| {
                        run.configuration == configuration.name && run.workload == *workload
                    })
                    .map(|run| run.place.line.to_string())
                    .collect();
                (!lines.is_empty())
                    .then(|| format!("{workload}: {} (lines {})", lines.len(), lines.join(", ")))
            })
            .collect();
        text.push_str(&format!("  configuration {}", configuration.name));
        if configuration.label != configuration.name {
            text.push_str(&format!(" from \"{}\"", configuration.label));
        }
        for (factor, on) in &configuration.factors {
            text.push_str(&format!(", {factor} {}", if *on { "on" } else { "off" }));
        }
        text.push('\n');
        for line in runs {
            text.push_str(&format!("    runs of {line}\n"));
        }
    }
    explain_decisions(audit, &mut text);
    for doubt in &records.doubts {
        text.push_str(&format!(
            "  line {}: {} [{}]\n",
            doubt.place.line, doubt.detail, doubt.code
        ));
    }
    text
}

/// How tables were interpreted, and what was recorded before.
fn explain_decisions(audit: &Audit, text: &mut String) {
    for (place, said) in &audit.decisions {
        for (at, line) in said.iter().enumerate() {
            let head = match at {
                0 => format!("  line {}: ", place.line),
                _ => "    ".to_string(),
            };
            text.push_str(&format!("{head}{line}\n"));
        }
    }
    for (place, original) in &audit.repeats {
        text.push_str(&format!(
            "  line {} quotes line {}: not counted again\n",
            place.line, original.line
        ));
    }
}
