//! `assize audit` of inputs that declare what they hold, and of several files.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use assize_audit::declared::{Declared, Outcome, Stands, read};
use assize_audit::{Audit, Judged, Options};
use assize_bundle::Records;

use crate::cli::AuditArguments;
use crate::failure::Failure;
use crate::files::Files;
use crate::{archive, audit, compare};

/// An input that was opened.
pub(crate) enum Opened {
    /// It declares what it holds.
    Declared(Box<Declared>),
    /// It does not; if it is standard input, here it is from its begin.
    Other(Option<Box<dyn BufRead>>),
}

/// Opens the inputs of `assize audit`.
pub(crate) fn open(arguments: &AuditArguments, options: &Options) -> Result<Opened, Failure> {
    let inputs: Vec<Named> = std::iter::once(&arguments.file)
        .chain(&arguments.more)
        .map(|path| Named::of(path))
        .collect();
    match &inputs[..] {
        [one] if one.name.is_some() => Err(Failure::Argument(format!(
            "{}: is one configuration; name the other one too: assize audit base=FILE patched=FILE",
            arguments.file.display()
        ))),
        [_] if asks_for_lines(arguments) => Ok(Opened::Other(None)),
        [one] => alone(&one.path, options),
        several => {
            only_one(arguments)?;
            let all = together(several, options)?;
            Ok(Opened::Declared(Box::new(all)))
        }
    }
}

/// Whether an option says how lines of a post are to be taken.
fn asks_for_lines(arguments: &AuditArguments) -> bool {
    let rules = [
        !arguments.configurations.is_empty(),
        !arguments.workloads.is_empty(),
        !arguments.ignore.is_empty(),
        arguments.rows_are.is_some(),
        arguments.transpose,
        arguments.exposure.is_some(),
    ];
    rules.contains(&true) || of_mails(arguments).is_some()
}

/// The option that is about mails.
fn of_mails(arguments: &AuditArguments) -> Option<&'static str> {
    match arguments {
        one if one.message.is_some() => Some("--message"),
        one if one.thread => Some("--thread"),
        one if one.json_lines => Some("--json-lines"),
        one if one.index.is_some() => Some("--index"),
        _ => None,
    }
}

fn only_one(arguments: &AuditArguments) -> Result<(), Failure> {
    of_mails(arguments).map_or(Ok(()), |option| {
        Err(Failure::Argument(format!(
            "{option}: is for one archive of mails; leave it out, or name one input"
        )))
    })
}

/// An input and the configuration that it is.
struct Named {
    name: Option<String>,
    path: PathBuf,
}

impl Named {
    /// `NAME=FILE`, unless there is a file of that name.
    fn of(argument: &Path) -> Named {
        let whole = || Named {
            name: None,
            path: argument.to_path_buf(),
        };
        let Some(text) = argument.to_str().filter(|_| !argument.exists()) else {
            return whole();
        };
        match text.split_once('=') {
            Some((name, path)) if !name.is_empty() && !path.is_empty() => Named {
                name: Some(name.to_owned()),
                path: path.into(),
            },
            _ => whole(),
        }
    }

    fn configuration(&self) -> String {
        let stem = || self.path.file_stem().unwrap_or_default().to_string_lossy();
        self.name.clone().unwrap_or_else(|| stem().into_owned())
    }
}

/// Reads one input.
fn alone(path: &Path, options: &Options) -> Result<Opened, Failure> {
    Ok(match opened(path, Stands::Alone, options)? {
        Some(Outcome::Declared(declared)) => Opened::Declared(declared),
        Some(Outcome::Undeclared(rest)) if path.as_os_str() == "-" => {
            Opened::Other(Some(Box::new(rest)))
        }
        _ => Opened::Other(None),
    })
}

type Reader = Box<dyn BufRead>;

/// What an input declares; nothing if it is a directory.
fn opened(
    path: &Path,
    stands: Stands,
    options: &Options,
) -> Result<Option<Outcome<Reader>>, Failure> {
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

/// What one file of several declares, or what else is read from it.
pub(crate) fn one_of_several(path: &Path, options: &Options) -> Result<Declared, Failure> {
    if let Some(Outcome::Declared(declared)) = opened(path, Stands::AsConfiguration, options)? {
        return Ok(*declared);
    }
    // Who names files says what is compared.
    let options = Options {
        judged: Judged::All,
        ..options.clone()
    };
    let found = audit::read(path, &options)?;
    audit::something(&found)?;
    Ok(Declared {
        records: found.records,
        ..Declared::default()
    })
}

/// Several inputs, each a configuration; those of one name are more of its runs.
fn together(inputs: &[Named], options: &Options) -> Result<Declared, Failure> {
    let mut all: Vec<Declared> = Vec::new();
    for input in inputs {
        all.push(one_of_several(&input.path, options)?);
    }
    let mut files = Files::default();
    all.iter().for_each(|one| files.note(&one.records));
    let mut united = Declared::default();
    let mut configurations: Vec<(String, Records)> = Vec::new();
    for (input, declared) in inputs.iter().zip(all) {
        let name = input.configuration();
        let records = files.called(&name, declared.records);
        united.lower_is_better.extend(declared.lower_is_better);
        united.checks.extend(declared.checks);
        match configurations.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => pool(known, records),
            None => configurations.push((name, records)),
        }
    }
    if configurations.len() < 2 {
        let text = "all inputs are one configuration; name another one: assize audit base=FILE \
                    patched=FILE";
        return Err(Failure::Argument(text.into()));
    }
    let paths: Vec<PathBuf> = inputs.iter().map(|input| input.path.clone()).collect();
    let records = configurations.into_iter().map(|(_, records)| records);
    united.records = compare::united(&paths, records.collect())?;
    let names: Vec<String> = inputs.iter().map(|one| audit::named(&one.path)).collect();
    united.records.source = names.join(", ");
    // Nobody knows when the runs of one file were made beside those of another.
    united.records.order_unknown = true;
    united.lower_is_better.sort_unstable();
    united.lower_is_better.dedup();
    Ok(united)
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
    all.limits.extend(more.limits);
}

/// As what was read from a post.
pub(crate) fn as_audit(declared: Declared) -> Audit {
    Audit {
        records: declared.records,
        messages: 1,
        ..Audit::default()
    }
}
