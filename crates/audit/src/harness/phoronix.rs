//! `composite.xml` of the Phoronix Test Suite.
//!
//! A `Result` is a test with its `Title`, `Description`, `Scale` (the unit) and `Proportion`
//! (`HIB`: higher is better). The identifier of an `Entry` names a configuration; its `RawString`
//! has the results of the runs, separated by colons.

use super::common::{Context, Harness, better};
use crate::declared::error::{Fault, no_number, syntax};
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

fn read(document: &str, context: &Context<'_>, sheet: &mut Sheet) -> Result<(), Fault> {
    for test in elements(document, "Result")? {
        add(test, context, sheet)?;
    }
    Ok(())
}

/// What is inside the elements of a name, which have no attributes and are not nested.
fn elements<'t>(text: &'t str, name: &str) -> Result<Vec<&'t str>, Fault> {
    let (begin, end) = (format!("<{name}>"), format!("</{name}>"));
    let all = text.split(&begin).skip(1).map(|rest| rest.split_once(&end));
    let all: Option<Vec<_>> = all.collect();
    let all = all.ok_or_else(|| syntax("XML", format!("{begin} is not closed")))?;
    Ok(all.into_iter().map(|(inside, _)| inside).collect())
}

/// The text of the first element of a name, without entities; empty if there is none.
fn text(of: &str, name: &str) -> Result<String, Fault> {
    let first = elements(of, name)?.first().map_or("", |text| text.trim());
    let data = first.strip_prefix("<![CDATA[");
    if let Some(data) = data.and_then(|data| data.strip_suffix("]]>")) {
        return Ok(data.to_owned());
    }
    let entities = [
        ("quot", "\""),
        ("apos", "'"),
        ("lt", "<"),
        ("gt", ">"),
        ("amp", "&"),
    ];
    let plain =
        |text: String, (name, sign): &(&str, &str)| text.replace(&format!("&{name};"), sign);
    Ok(entities.iter().fold(first.to_owned(), plain))
}

fn add(test: &str, context: &Context<'_>, sheet: &mut Sheet) -> Result<(), Fault> {
    let (head, _) = test.split_once("<Entry>").unwrap_or((test, ""));
    let (title, scale) = (text(head, "Title")?, text(head, "Scale")?);
    let workload = match text(head, "Description")?.as_str() {
        "" => title,
        description => format!("{title}, {description}"),
    };
    let proportion = text(head, "Proportion")?;
    let metric = match scale.as_str() {
        "" if proportion == "LIB" => "time",
        "" => "result",
        scale => scale,
    };
    match proportion.as_str() {
        "HIB" => better(sheet, metric, Better::Higher),
        "LIB" => better(sheet, metric, Better::Lower),
        _ => {}
    }
    for entry in elements(test, "Entry")? {
        let [identifier, value, raw] =
            ["Identifier", "Value", "RawString"].map(|name| text(entry, name));
        let (identifier, value, raw) = (identifier?, value?, raw?);
        // A test that failed has no value.
        if value.is_empty() && raw.is_empty() {
            continue;
        }
        let of = Of {
            configuration: match context.configuration {
                UNNAMED => &identifier,
                name => name,
            },
            workload: &workload,
            ..Of::default()
        };
        let read = |text: &str| {
            let place = || format!("{workload} of {identifier}");
            number(text.trim(), Locale::English).ok_or_else(|| no_number(&place(), text))
        };
        if raw.is_empty() {
            let mean = Mean {
                mean: read(&value)?,
                spread: None,
                n: context.runs_behind,
            };
            sheet.mean(of, metric, &scale, mean);
            continue;
        }
        let runs: Result<Vec<Number>, Fault> = raw.split(':').map(read).collect();
        for value in runs? {
            let run = sheet.run(of);
            sheet.figure(run, metric, &scale, value, 0)?;
        }
    }
    Ok(())
}
