//! `assize audit` of inputs that declare their contents, and of several files.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use assize_audit::declared::{Declared, Outcome, Stands, read};
use assize_audit::harness::directory;
use assize_audit::reading::Reading;
use assize_audit::{Audit, Judged, Options};
use assize_bundle::{JoinedSource, Measurement, Records, Run};

use crate::cli::{AuditArguments, ReportFormat};
use crate::failure::Failure;
use crate::files::NamesInFiles;
use crate::{archive, audit, compare, output};

pub(crate) enum OpenedInput {
    /// It declares its contents.
    Declared(Box<Declared>),
    /// It does not declare its contents. Holds a reader of the whole input if that is standard
    /// input.
    Other(Option<Box<dyn BufRead>>),
}

/// Opens the inputs of `assize audit`.
pub(crate) fn open(arguments: &AuditArguments, options: &Options) -> Result<OpenedInput, Failure> {
    let inputs: Vec<NamedInput> = std::iter::once(&arguments.file)
        .chain(&arguments.more)
        .map(|path| NamedInput::parse(path))
        .collect();
    if let Some(reading) = reading(arguments)? {
        let text = text(&arguments.file)?;
        let name = audit::named(&arguments.file);
        let declared = assize_audit::reading::judge(&text, &name, &reading)?;
        return Ok(OpenedInput::Declared(Box::new(declared)));
    }
    match &inputs[..] {
        [one] if one.name.is_some() => Err(Failure::Argument(format!(
            "{}: is one configuration; name the other too: assize audit base=FILE patched=FILE",
            arguments.file.display()
        ))),
        [_] if asks_for_lines(arguments) => Ok(OpenedInput::Other(None)),
        [one] => {
            let opened = alone(&one.path, options)?;
            if matches!(opened, OpenedInput::Other(_)) {
                only_declared(arguments)?;
            }
            Ok(opened)
        }
        several => {
            only_one(arguments)?;
            let all = together(several, options)?;
            Ok(OpenedInput::Declared(Box::new(all)))
        }
    }
}

/// The reading that a file or the command line gives.
fn reading(arguments: &AuditArguments) -> Result<Option<Reading>, Failure> {
    if let Some(path) = &arguments.reading {
        let reading = assize_audit::reading::parse(&text(path)?, &audit::named(path))?;
        return Ok(Some(reading));
    }
    if arguments.take.is_empty() {
        return Ok(None);
    }
    let metric = arguments.metric.as_ref();
    Ok(Some(assize_audit::reading::take(&arguments.take, metric)?))
}

/// The text of a file. Invalid UTF-8 becomes replacement characters, so that line numbers
/// stay valid.
fn text(path: &Path) -> Result<String, Failure> {
    let failed = |source| Failure::Read {
        path: path.to_path_buf(),
        source,
    };
    let mut bytes = Vec::new();
    match archive::file(path).map_err(failed)? {
        Some(mut reader) => reader.read_to_end(&mut bytes).map_err(failed)?,
        None => {
            let text = format!("{}: is a directory; name a file", path.display());
            return Err(Failure::Argument(text));
        }
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes the draft of a reading and reports how much of the text is still open.
pub(crate) fn draft(
    path: &Path,
    arguments: &AuditArguments,
    options: &Options,
) -> Result<u8, Failure> {
    let text = text(&arguments.file)?;
    let usual = options.judged;
    let options = Options {
        judged: Judged::All,
        explain: true,
        ..options.clone()
    };
    let name = audit::named(&arguments.file);
    let failed = |source| Failure::Read {
        path: arguments.file.clone(),
        source,
    };
    let read = |options: &Options| assize_audit::read(text.as_bytes(), &name, options);
    let found = read(&options).map_err(failed)?;
    let usual = Options {
        judged: usual,
        ..options
    };
    let usual = read(&usual).map_err(failed)?;
    let draft = assize_audit::reading::draft(&text, &found, &usual);
    output::deliver(draft.text.as_bytes(), Some(path))?;
    let path = path.display().to_string();
    let said = if output::format(&arguments.showing) == ReportFormat::Json {
        let all = serde_json::json!({ "draft": path, "unassigned": draft.unassigned });
        format!("{all:#}\n")
    } else {
        format!(
            "{path}: {} rows; {} numbers are in no row. Complete the file, then: assize audit \
             {name} --reading {path}\n",
            draft
                .text
                .lines()
                .filter(|line| !line.starts_with('#'))
                .count(),
            draft.unassigned.len()
        )
    };
    output::print(said.as_bytes())?;
    Ok(0)
}

/// The line of each figure, and a check of the author's arithmetic. Empty if the format
/// of the input already shows the lines.
pub(crate) fn places(declared: &Declared) -> String {
    let mut text = String::new();
    if declared.format == "reading" {
        text.push_str("\nFigures and their lines\n");
        figures(declared, &mut text);
    } else if !declared.checks.is_empty() {
        text.push_str("\nThe author's arithmetic\n");
    }
    for check in &declared.checks {
        let said = match (check.agrees, check.recomputed) {
            (Some(true), _) => "agrees".to_owned(),
            (Some(false), Some(follows)) => format!(
                "differs by {}: the figures give {}",
                rounded((check.printed - follows).abs()),
                rounded(follows)
            ),
            _ => "cannot be checked: the figures for it are missing".to_owned(),
        };
        text.push_str(&format!(
            "  printed {} (line {}), {}: {said}\n",
            check.printed, check.line, check.what
        ));
    }
    text
}

/// Each figure with its line.
fn figures(declared: &Declared, text: &mut String) {
    let records = &declared.records;
    let mut rows: Vec<([&str; 3], Vec<String>)> = Vec::new();
    let runs = records.runs.iter().flat_map(|run| {
        let names = [run.configuration.as_str(), run.workload.as_str()];
        let figures = run.metrics.iter();
        figures.map(move |(name, one)| (names, name, one.value, run.place.line))
    });
    let means = records.summaries.iter().map(|one| {
        let names = [one.configuration.as_str(), one.workload.as_str()];
        (names, &one.metric, one.mean, one.place.line)
    });
    for ([configuration, workload], metric, value, line) in runs.chain(means) {
        let key = [configuration, workload, metric.as_str()];
        let shown = format!("{value} (line {line})");
        match rows.iter_mut().find(|(known, _)| *known == key) {
            Some((_, all)) => all.push(shown),
            None => rows.push((key, vec![shown])),
        }
    }
    for ([configuration, workload, metric], all) in rows {
        let all = all.join(", ");
        text.push_str(&format!("  {configuration}, {workload}, {metric}: {all}\n"));
    }
}

fn rounded(value: f64) -> String {
    let digits = (3 - value.abs().log10().floor().clamp(-6.0, 6.0) as i32).max(0);
    let digits = usize::try_from(digits).unwrap_or(0);
    format!("{value:.digits$}")
}

/// Whether an option says how to read the lines of a post.
fn asks_for_lines(arguments: &AuditArguments) -> bool {
    let rules = [
        !arguments.configurations.is_empty(),
        !arguments.workloads.is_empty(),
        !arguments.ignore.is_empty(),
        arguments.exposure.is_some(),
    ];
    rules.contains(&true) || of_mails(arguments).is_some()
}

/// The first option given that applies to mails only.
fn of_mails(arguments: &AuditArguments) -> Option<&'static str> {
    match arguments {
        one if one.message.is_some() => Some("--message"),
        one if one.thread => Some("--thread"),
        one if one.json_lines => Some("--json-lines"),
        one if one.index.is_some() => Some("--index"),
        _ => None,
    }
}

/// Refuses options that have no effect on a post.
fn only_declared(arguments: &AuditArguments) -> Result<(), Failure> {
    let option = match (&arguments.metric, arguments.runs_behind) {
        (Some(_), _) => "--metric",
        (_, Some(_)) => "--runs-behind",
        _ => return Ok(()),
    };
    Err(Failure::Argument(format!(
        "{option}: {} is not a table, a file of numbers or the result of a harness; omit {option}, \
         or name places with --take or --reading",
        audit::named(&arguments.file)
    )))
}

fn only_one(arguments: &AuditArguments) -> Result<(), Failure> {
    of_mails(arguments).map_or(Ok(()), |option| {
        Err(Failure::Argument(format!(
            "{option}: applies to one archive of mails; omit {option}, or name one input"
        )))
    })
}

/// An input and the name of its configuration.
struct NamedInput {
    name: Option<String>,
    path: PathBuf,
}

impl NamedInput {
    /// Parses `NAME=FILE`, unless a file has that whole name.
    fn parse(argument: &Path) -> NamedInput {
        let whole = || NamedInput {
            name: None,
            path: argument.to_path_buf(),
        };
        let Some(text) = argument.to_str().filter(|_| !argument.exists()) else {
            return whole();
        };
        match text.split_once('=') {
            Some((name, path)) if !name.is_empty() && !path.is_empty() => NamedInput {
                name: Some(name.to_owned()),
                path: path.into(),
            },
            _ => whole(),
        }
    }

    fn configuration(&self) -> String {
        self.name.clone().unwrap_or_else(|| stem(&self.path))
    }
}

fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// The configuration of each input. Files whose names number the runs of several configurations,
/// `before-1.txt`, `before-2.txt`, `after-1.txt`, `after-2.txt`, are runs of these.
fn configurations_of(inputs: &[NamedInput]) -> Vec<String> {
    let names: Vec<String> = inputs.iter().map(NamedInput::configuration).collect();
    let mut stems = Vec::new();
    let mut numbers: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for name in &names {
        let bare = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let stem = bare.trim_end_matches(['-', '_', '.', '#', ' ']);
        let number = name[bare.len()..].parse().unwrap_or(0);
        numbers.entry(stem).or_default().insert(number);
        stems.push(stem.to_owned());
    }
    let from_one = |all: &BTreeSet<usize>| all.len() >= 2 && all.iter().copied().eq(1..=all.len());
    let distinct = numbers.values().map(BTreeSet::len).sum::<usize>() == names.len();
    let named = inputs.iter().any(|input| input.name.is_some());
    let are_runs = !named && distinct && numbers.len() >= 2 && numbers.values().all(from_one);
    if are_runs { stems } else { names }
}

/// Reads one input.
fn alone(path: &Path, options: &Options) -> Result<OpenedInput, Failure> {
    if path.is_dir() {
        let found = directory(path, &audit::named(path), Stands::Alone, options)?;
        return Ok(found.map_or(OpenedInput::Other(None), |one| {
            OpenedInput::Declared(Box::new(one))
        }));
    }
    Ok(match opened(path, Stands::Alone, options)? {
        Some(Outcome::Declared(declared)) => OpenedInput::Declared(declared),
        Some(Outcome::Undeclared(rest)) if path.as_os_str() == "-" => {
            OpenedInput::Other(Some(Box::new(rest)))
        }
        _ => OpenedInput::Other(None),
    })
}

type InputReader = Box<dyn BufRead>;

/// The declared contents of an input; `None` if it is a directory.
fn opened(
    path: &Path,
    stands: Stands,
    options: &Options,
) -> Result<Option<Outcome<InputReader>>, Failure> {
    let failed = |source| Failure::Read {
        path: path.to_path_buf(),
        source,
    };
    let Some(reader) = archive::file(path).map_err(failed)? else {
        return Ok(None);
    };
    let found = read(reader, &audit::named(path), stands, options)?;
    Ok(Some(found))
}

/// The declared contents of one file among several, or what else can be read from it.
fn one_of_several(path: &Path, options: &Options) -> Result<Declared, Failure> {
    if path.is_dir() {
        let found = directory(path, &audit::named(path), Stands::AsConfiguration, options)?;
        return found.ok_or_else(|| {
            let text = format!(
                "{}: is a directory that no known harness wrote",
                path.display()
            );
            Failure::Argument(text)
        });
    }
    if let Some(Outcome::Declared(declared)) = opened(path, Stands::AsConfiguration, options)? {
        return Ok(*declared);
    }
    // The user who names files decides what is compared.
    let options = Options {
        judged: Judged::All,
        ..options.clone()
    };
    let found = audit::read(path, &options)?;
    audit::require_something(&found)?;
    Ok(Declared {
        records: found.records,
        ..Declared::default()
    })
}

/// The records of a file that is compared, alone or with others.
pub(crate) fn of_file(path: &Path, several: bool) -> Result<Records, Failure> {
    let options = Options::default();
    if several {
        return Ok(one_of_several(path, &options)?.records);
    }
    match opened(path, Stands::Alone, &options)? {
        Some(Outcome::Declared(declared)) => Ok(declared.records),
        _ => compare::read(path),
    }
}

/// Several inputs, each a configuration; inputs of one name are runs of one
/// configuration.
fn together(inputs: &[NamedInput], options: &Options) -> Result<Declared, Failure> {
    let mut all: Vec<Declared> = Vec::new();
    for input in inputs {
        all.push(one_of_several(&input.path, options)?);
    }
    let mut files = NamesInFiles::default();
    all.iter().for_each(|one| files.note(&one.records));
    let mut united = Declared::default();
    let mut configurations: Vec<(String, Records, Vec<JoinedSource>)> = Vec::new();
    let names = configurations_of(inputs);
    for ((name, input), declared) in names.iter().zip(inputs).zip(all) {
        let name = name.clone();
        let mut records = files.as_named(&name, declared.records);
        if names.iter().filter(|other| **other == name).count() > 1 {
            means_are_runs(&mut records);
        }
        united.lower_is_better.extend(declared.lower_is_better);
        united.checks.extend(declared.checks);
        let path = input.path.display().to_string();
        match configurations.iter_mut().find(|known| known.0 == name) {
            Some((_, known, files)) => {
                let shift = u32::try_from(known.runs.len()).unwrap_or(u32::MAX);
                files.push(JoinedSource { path, shift });
                pool(known, records);
            }
            None => configurations.push((name, records, vec![JoinedSource { path, shift: 0 }])),
        }
    }
    if configurations.len() < 2 {
        let text = "all inputs belong to one configuration; name another: assize audit base=FILE \
                    patched=FILE";
        return Err(Failure::Argument(text.into()));
    }
    let mut files = Vec::new();
    for (name, records, of_these) in configurations {
        compare::join(&mut united.records, records, Path::new(&name))?;
        let shift = united.records.joined.pop().map_or(0, |last| last.shift);
        files.extend(of_these.into_iter().map(|file| JoinedSource {
            shift: file.shift + shift,
            ..file
        }));
    }
    united.records.joined = files;
    let names: Vec<String> = inputs.iter().map(|one| audit::named(&one.path)).collect();
    united.records.source = names.join(", ");
    // The order of runs in a file relative to those of other inputs is unknown.
    united.records.order_unknown = true;
    united.lower_is_better.sort_unstable();
    united.lower_is_better.dedup();
    Ok(united)
}

/// With several files per configuration, each file is a run. A mean in a file becomes one
/// value of that run.
fn means_are_runs(records: &mut Records) {
    let mut runs: Vec<Run> = Vec::new();
    for one in std::mem::take(&mut records.summaries) {
        let known = runs
            .iter()
            .position(|run| run.workload == one.workload && !run.metrics.contains_key(&one.metric));
        let at = known.unwrap_or_else(|| {
            let mut run = Run::new(&one.configuration, &one.workload, 1);
            run.place = one.place;
            runs.push(run);
            runs.len() - 1
        });
        let measurement = Measurement::new(one.mean, one.unit);
        runs[at].metrics.insert(one.metric, measurement);
    }
    if !runs.is_empty() {
        records.limits.clear();
        let said = "a run is one file, with the means of its repetitions";
        records.limits.push(said.to_owned());
    }
    records.runs.extend(runs);
}

/// Adds the runs of one more file to those of a configuration.
fn pool(all: &mut Records, more: Records) {
    let cell = |run: &assize_bundle::Run| (run.configuration.clone(), run.workload.clone());
    let mut counts = std::collections::HashMap::new();
    all.runs.extend(more.runs);
    for (at, run) in all.runs.iter_mut().enumerate() {
        let count = counts.entry(cell(run)).or_insert(0);
        *count += 1;
        run.repetition = *count;
        run.order = u32::try_from(at).unwrap_or(u32::MAX);
    }
    for workload in more.workloads {
        if !all.workloads.contains(&workload) {
            all.workloads.push(workload);
        }
    }
    for one in more.resolutions {
        let place = |r: &assize_bundle::Resolution| (r.workload.clone(), r.metric.clone());
        match all.resolutions.iter_mut().find(|r| place(r) == place(&one)) {
            Some(known) if known.unit == one.unit => known.step = known.step.min(one.step),
            Some(_) => {}
            None => all.resolutions.push(one),
        }
    }
    all.summaries.extend(more.summaries);
    all.events.extend(more.events);
    all.statements.extend(more.statements);
    all.unsupported.extend(more.unsupported);
    all.doubts.extend(more.doubts);
    for limit in more.limits {
        if !all.limits.contains(&limit) {
            all.limits.push(limit);
        }
    }
}

/// Converts to the form of what is read from a post.
pub(crate) fn as_audit(declared: Declared) -> Audit {
    Audit {
        records: declared.records,
        messages: 1,
        ..Audit::default()
    }
}
