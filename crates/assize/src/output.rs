//! Judging and output, shared by all verbs that judge.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use assize_bundle::Records;
use assize_report::{Brief, CheckFinding, Checks, MetricWords, Style};
use assize_verdict::{Better, Document, Options, primary_directions, try_records};

use terminal_size::{Width, terminal_size};

use crate::cli::{Colour, QuestionArguments, ReportFormat, ShowArguments, TrialArguments};
use crate::failure::Failure;
use crate::gate;
use crate::metric_words::metric_words;
use crate::page::{self, PageInputs, RecordsOrigin};
use crate::shell;
use crate::terms::JudgingTerms;

/// Judges records as the user asked.
pub(crate) fn judge(
    records: &Records,
    trial: &TrialArguments,
    terms: &JudgingTerms,
) -> Result<Document, Failure> {
    let mut document = try_records(records, &options(trial, terms)?)?;
    document.reproduce = shell::repeating_command();
    Ok(document)
}

/// The user's options combined with the experiment's terms. With several looks, each has its share
/// of alpha, and the intervals are at that level.
pub(crate) fn options(trial: &TrialArguments, terms: &JudgingTerms) -> Result<Options, Failure> {
    let mut claims = trial.question.claims.clone();
    if let Some(path) = &trial.question.claims_file {
        let in_file = claims_of(path)?;
        if in_file.is_empty() {
            let text = format!("{}: holds no claim; write one on each line", path.display());
            return Err(Failure::Argument(text));
        }
        claims.extend(in_file);
    }
    let mut options = Options {
        baseline: trial.question.baseline.clone(),
        claims,
        tradeoffs: trial.question.tradeoffs.clone(),
        alpha: trial.alpha,
        primary: trial.primary.clone(),
        higher_is_better: trial.higher_is_better.clone(),
        lower_is_better: trial.lower_is_better.clone(),
        slow: trial.slow.clone(),
        seed: trial.seed,
        ..Options::default()
    };
    if let Some(margin) = trial.margin.or(terms.margin) {
        options.margin = margin;
    }
    if terms.looks.iter().any(|looks| looks.ends.len() > 1) {
        options.alpha = terms.alpha(trial.alpha);
        options.level = 1.0 - options.alpha;
    }
    Ok(options)
}

/// The `assize compare` command that asks these questions about a bundle.
pub(crate) fn compare_command(bundle: &Path, question: &QuestionArguments) -> String {
    let mut words: Vec<OsString> = vec!["compare".into(), bundle.into()];
    let mut add = |option: &str, value: &OsStr| words.extend([option.into(), value.into()]);
    if let Some(baseline) = &question.baseline {
        add("--baseline", baseline.as_ref());
    }
    for claim in &question.claims {
        add("--claim", claim.as_ref());
    }
    if let Some(path) = &question.claims_file {
        add("--claims", path.as_ref());
    }
    for tradeoff in &question.tradeoffs {
        add("--tradeoff", tradeoff.as_ref());
    }
    for what in &question.fail_on {
        add("--fail-on", what.word().as_ref());
    }
    shell::command_line(words.into_iter())
}

fn claims_of(path: &Path) -> Result<Vec<String>, Failure> {
    let text = fs::read_to_string(path).map_err(|source| Failure::Read {
        path: path.to_path_buf(),
        source,
    })?;
    let lines = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim());
    Ok(lines
        .filter(|line| !line.is_empty())
        .map(str::to_string)
        .collect())
}

/// The output format; `--json` takes precedence over `--format`.
pub(crate) fn format(showing: &ShowArguments) -> ReportFormat {
    if showing.json {
        ReportFormat::Json
    } else {
        showing.format
    }
}

/// Shows a document and returns the exit status.
pub(crate) fn show(
    document: &Document,
    material: &PageInputs<'_>,
    showing: &ShowArguments,
) -> Result<u8, Failure> {
    if showing.all && !matches!(format(showing), ReportFormat::Auto | ReportFormat::Mail) {
        let said = "--all: applies only to --format mail; omit --all or the other format";
        return Err(Failure::Argument(said.to_owned()));
    }
    let findings = gate::findings(document, material)?;
    gate::report(document, &findings);
    let text = match format(showing) {
        ReportFormat::Auto if showing.output.is_none() && !showing.all => {
            render(assize_report::brief, document, material, showing)?
        }
        ReportFormat::Brief => render(assize_report::brief, document, material, showing)?,
        ReportFormat::Auto | ReportFormat::Mail => {
            render(assize_report::text, document, material, showing)?
        }
        ReportFormat::Html => page::page(document, material)?,
        ReportFormat::Json => show_or_fail(assize_report::json(document))?,
        ReportFormat::Csv => show_or_fail(assize_report::csv(document))?,
        ReportFormat::Junit => assize_report::junit(&checks(document, material, &findings)?),
        ReportFormat::Ktap => assize_report::ktap(&checks(document, material, &findings)?),
        ReportFormat::Markdown => assize_report::markdown(&checks(document, material, &findings)?),
        ReportFormat::Github => assize_report::github(&checks(document, material, &findings)?),
        ReportFormat::Gitlab => show_or_fail(assize_report::gitlab(&checks(
            document, material, &findings,
        )?))?,
        ReportFormat::Kcidb => {
            let build = showing.kcidb_build.as_deref().unwrap_or_default();
            let checks = checks(document, material, &findings)?;
            show_or_fail(assize_report::kcidb(&checks, build))?
        }
    };
    deliver(text.as_bytes(), showing.output.as_deref())?;
    if let Some(said) = gate::last_word(document, &findings) {
        warn(&said);
    }
    Ok(u8::from(!findings.is_empty()))
}

/// Reports progress on standard error, unless nothing is to be printed.
pub(crate) fn progress(quiet: bool) -> impl Fn(&str) {
    move |line| {
        if !quiet {
            eprintln!("{}", assize_report::printable(line));
        }
    }
}

/// Prints a serious message on standard error, in red on a terminal.
pub(crate) fn warn(said: &str) {
    let said = assize_report::printable(said).replace('\n', " ");
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match io::stderr().is_terminal() && !plain {
        true => eprintln!("\u{1b}[1;31m{said}\u{1b}[0m"),
        false => eprintln!("{said}"),
    }
}

fn show_or_fail(text: Result<String, impl std::fmt::Display>) -> Result<String, Failure> {
    text.map_err(|error| Failure::Show(error.to_string()))
}

/// The document as checks that pass or fail.
fn checks(
    document: &Document,
    material: &PageInputs<'_>,
    findings: &[CheckFinding],
) -> Result<Checks, Failure> {
    let words = words(&[document], material)?;
    Ok(Checks::for_document(document, &words, findings))
}

/// Whether colours are requested, or standard output is a terminal and nothing disables
/// them.
fn style(showing: &ShowArguments, terminal: bool) -> Style {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let colour = match showing.color {
        Colour::Auto => terminal && !plain,
        Colour::Always => true,
        Colour::Never => false,
    };
    Style { colour }
}

/// The document as text for people, as wide as the terminal.
fn render(
    form: fn(&Document, &Brief<'_>, Style) -> String,
    document: &Document,
    material: &PageInputs<'_>,
    showing: &ShowArguments,
) -> Result<String, Failure> {
    let terminal = showing.output.is_none() && io::stdout().is_terminal();
    let metrics = words(&[document], material)?;
    let question = page::question(material)?;
    let brief = Brief {
        metrics: &metrics,
        question: question.as_deref(),
        width: match terminal_size().filter(|_| terminal) {
            Some((Width(columns), _)) => columns.into(),
            None => assize_report::WIDTH,
        },
        all: showing.all,
    };
    Ok(form(document, &brief, style(showing, terminal)))
}

/// The wording of the metrics in several documents from one input.
pub(crate) fn words(
    documents: &[&Document],
    material: &PageInputs<'_>,
) -> Result<Vec<MetricWords>, Failure> {
    let mut options = options(material.trial, material.terms)?;
    for (metric, better) in primary_directions(material.records, &options)? {
        match better {
            Better::Lower => options.lower_is_better.push(metric),
            Better::Higher => options.higher_is_better.push(metric),
        }
    }
    let ours = !matches!(material.from, RecordsOrigin::Post(_));
    Ok(metric_words(documents, &options, ours))
}

/// Writes to a file, atomically, or to standard output.
pub(crate) fn deliver(text: &[u8], path: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = path else { return print(text) };
    let failed = |source| Failure::Write {
        what: path.display().to_string(),
        source,
    };
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return fs::write(path, text).map_err(failed);
    }
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = path.with_file_name(name);
    let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, path));
    written.map_err(|source| {
        let _ = fs::remove_file(&beside);
        failed(source)
    })
}

/// Writes to standard output.
pub(crate) fn print(text: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text)
        .and_then(|()| out.flush())
        .map_err(failed_to_print)
}

/// The failure to write to standard output.
pub(crate) fn failed_to_print(source: io::Error) -> Failure {
    match source.kind() {
        io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
        _ => Failure::Write {
            what: "standard output".into(),
            source,
        },
    }
}
