//! `composite.xml` of the Phoronix Test Suite.
//!
//! A `Result` is a test with its `Title`, `Description`, `Scale` (the unit) and `Proportion`
//! (`HIB`: higher is better). The identifier of an `Entry` names a configuration; its `RawString`
//! has the results of the runs, separated by colons.

use super::common::{Context, Harness, better};
use super::xml::{Event, events};
use crate::declared::error::{Fault, no_number};
use crate::declared::metric::Better;
use crate::declared::sheet::{Mean, Of, Sheet};
use crate::grammar::number::Locale;
use crate::grammar::number::{Number, number};
use crate::group::item::UNNAMED;

/// See the module.
pub(super) const PHORONIX: Harness = Harness {
    name: "Phoronix Test Suite",
    begins: |text| text.starts_with('<') && text.contains("<PhoronixTestSuite"),
    read,
};

/// A test of the file.
#[derive(Default)]
struct Test {
    title: String,
    description: String,
    scale: String,
    proportion: String,
    entries: Vec<Entry>,
}

/// The results of one configuration in a test.
#[derive(Default)]
struct Entry {
    identifier: String,
    value: String,
    raw: String,
}

fn read(document: &str, context: &Context<'_>, sheet: &mut Sheet) -> Result<(), Fault> {
    for test in tests(document)? {
        add(&test, context, sheet)?;
    }
    Ok(())
}

fn tests(document: &str) -> Result<Vec<Test>, Fault> {
    let mut tests: Vec<Test> = Vec::new();
    let mut path: Vec<&str> = Vec::new();
    for event in events(document)? {
        match event {
            Event::Begin(name) => {
                path.push(name);
                match path.as_slice() {
                    [_, "Result"] => tests.push(Test::default()),
                    [_, "Result", "Data", "Entry"] => {
                        if let Some(test) = tests.last_mut() {
                            test.entries.push(Entry::default());
                        }
                    }
                    _ => {}
                }
            }
            Event::End(_) => {
                path.pop();
            }
            Event::Text(text) => {
                if let Some(test) = tests.last_mut() {
                    note(test, &path, text);
                }
            }
        }
    }
    Ok(tests)
}

fn note(test: &mut Test, path: &[&str], text: String) {
    let into = match path {
        [_, "Result", "Title"] => &mut test.title,
        [_, "Result", "Description"] => &mut test.description,
        [_, "Result", "Scale"] => &mut test.scale,
        [_, "Result", "Proportion"] => &mut test.proportion,
        [_, "Result", "Data", "Entry", field] => {
            let Some(entry) = test.entries.last_mut() else {
                return;
            };
            match *field {
                "Identifier" => &mut entry.identifier,
                "Value" => &mut entry.value,
                "RawString" => &mut entry.raw,
                _ => return,
            }
        }
        _ => return,
    };
    *into = text;
}

fn add(test: &Test, context: &Context<'_>, sheet: &mut Sheet) -> Result<(), Fault> {
    let workload = match test.description.as_str() {
        "" => test.title.clone(),
        description => format!("{}, {description}", test.title),
    };
    let metric = match test.scale.as_str() {
        "" if test.proportion == "LIB" => "time",
        "" => "result",
        scale => scale,
    };
    match test.proportion.as_str() {
        "HIB" => better(sheet, metric, Better::Higher),
        "LIB" => better(sheet, metric, Better::Lower),
        _ => {}
    }
    for entry in &test.entries {
        // A test that failed has no value.
        if entry.value.is_empty() && entry.raw.is_empty() {
            continue;
        }
        let of = Of {
            configuration: match context.configuration {
                UNNAMED => &entry.identifier,
                name => name,
            },
            workload: &workload,
            ..Of::default()
        };
        let read = |text: &str| {
            let place = || format!("{workload} of {}", entry.identifier);
            number(text.trim(), Locale::English).ok_or_else(|| no_number(&place(), text))
        };
        if entry.raw.is_empty() {
            let mean = Mean {
                mean: read(&entry.value)?,
                spread: None,
                n: context.runs_behind,
            };
            sheet.mean(of, metric, &test.scale, mean);
            continue;
        }
        let runs: Result<Vec<Number>, Fault> = entry.raw.split(':').map(read).collect();
        for value in runs? {
            let run = sheet.run(of);
            sheet.figure(run, metric, &test.scale, value, 0)?;
        }
    }
    Ok(())
}
