//! Tests that the published files agree with the code: the JSON Schema, the lists of
//! keys in docs/experiment.md, and the workload parameters that the agent
//! accepts. With `ASSIZE_GOLDEN` set, the files are rewritten instead.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use assize_job::{Loop, Queue, Scheduling, WORKLOADS, WorkloadKind};
use serde_json::{Value, json};

use crate::experiment;
use crate::schema::{SECTIONS, schema};
use crate::settings::queue;
use crate::steps::action;
use crate::values::keys::{KeySection, KeyType, SectionKey};
use crate::values::quantity;
use crate::workloads::{kinds, periodic, scheduling};

fn agrees(file: &str, wanted: &str) {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(file);
    if env::var_os("ASSIZE_GOLDEN").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, wanted).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "{file} is out of date: cargo xtask golden");
}

#[test]
fn the_published_schema_is_the_schema() {
    let text = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    agrees("schema/experiment.schema.json", &text);
}

#[test]
fn every_reference_of_the_schema_leads_somewhere() {
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    match value {
                        Value::String(target) if name == "$ref" => found.push(target.clone()),
                        value => references(value, found),
                    }
                }
            }
            Value::Array(values) => values.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }
    let schema = schema();
    let mut found = Vec::new();
    references(&schema, &mut found);
    assert!(found.len() > 20, "{found:?}");
    for target in found {
        let pointer = target.strip_prefix('#').unwrap();
        assert!(schema.pointer(pointer).is_some(), "{target}");
    }
}

/// Lists of words that are longer become a table of the page, which explains each word.
const LONG: usize = 12;

/// The type, in words.
fn words(kind: &KeyType) -> String {
    match kind {
        KeyType::Text | KeyType::Target | KeyType::Free => "string".to_owned(),
        KeyType::Instrument => "instrument".to_owned(),
        KeyType::Word(words) if words.len() > LONG => "see above".to_owned(),
        KeyType::Word(words) => format!("`{}`", words.join("`, `")),
        KeyType::Whole(least, i64::MAX) => format!("from {least}"),
        KeyType::Whole(least, most) if *least < 0 => format!("{least} to {most}"),
        KeyType::Whole(least, most) => format!("{least}–{most}"),
        KeyType::Quantity(kind, _) => kind.noun.1.to_owned(),
        KeyType::Share => "share".to_owned(),
        KeyType::Flag => "boolean".to_owned(),
        KeyType::Value => "string or integer".to_owned(),
        KeyType::List(KeyType::Whole(least, most)) => format!("list of {least}–{most}"),
        KeyType::List(element) => format!("list of {}", plural(element)),
        KeyType::WordOrList(names, element) => {
            format!("`{}`, or a list of {}", names.join("`, `"), plural(element))
        }
        KeyType::OneOrMore(element) => format!("{}, or a list", words(element)),
        KeyType::Map(KeyType::OneOrMore(_)) => "[pattern](#include-and-exclude)".to_owned(),
        KeyType::Map(element) => format!("table of {}", plural(element)),
        KeyType::Pairs => "table of strings".to_owned(),
        KeyType::Table(section) | KeyType::Part(section) => link(section.name),
        KeyType::Action => link("step"),
        KeyType::Workload => link("workload"),
        KeyType::Policy => "[policy](policies.md)".to_owned(),
        KeyType::Changes => "table of parameters".to_owned(),
    }
}

fn plural(kind: &KeyType) -> String {
    match kind {
        KeyType::Text | KeyType::Free | KeyType::Value => "strings".to_owned(),
        KeyType::Map(KeyType::OneOrMore(_)) => "[patterns](#include-and-exclude)".to_owned(),
        KeyType::Map(element) => format!("tables of {}", plural(element)),
        other => words(other) + "s",
    }
}

fn link(name: &str) -> String {
    let heading = match name {
        "step" => "steps",
        "tradeoff" | "tradeoff-metric" => "trade-offs",
        "workload" => "workloads",
        "primary" => "primary",
        "level" => "levels",
        "queue" => "queues",
        "idle" | "idle-state" => "idle-states",
        "frequency" | "frequency-step" => "frequencies",
        "file" => "files",
        "loop" => "loops",
        "stalls" => "stalls",
        "table" => "tables",
        other => other,
    };
    let noun = if name == "primary" {
        "primary metric"
    } else {
        name
    };
    format!("[{noun}](#{heading})")
}

/// The mark of the parameters that many kinds of workloads share.
const COMMON: &str = "workload";
/// The number of kinds from which on a shared parameter is described only once.
const MANY: usize = 3;

/// The parameters of many workloads, in the order of their first occurrence.
fn shared() -> Vec<&'static SectionKey> {
    let all = || kinds::KINDS.iter().flat_map(|section| section.keys);
    let mut shared: Vec<&SectionKey> = Vec::new();
    for key in all() {
        let times = all().filter(|other| is_same(key, other)).count();
        if times >= MANY && !shared.iter().any(|other| is_same(key, other)) {
            shared.push(key);
        }
    }
    shared
}

/// Whether two keys differ only in limits and default.
fn is_same(one: &SectionKey, other: &SectionKey) -> bool {
    (one.name, one.meaning) == (other.name, other.meaning)
}

/// The key with its type and default. Leaves out obvious defaults, and the type of a quantity,
/// which the default shows.
fn head(key: &SectionKey) -> String {
    let default = key.default().map(|text| format!("`{text}`"));
    let default = default.filter(|text| !["`false`", "`[]`", "`{}`", "`\"\"`"].contains(&&**text));
    let kind = match key.kind {
        KeyType::Quantity(..) | KeyType::Share if default.is_some() => None,
        kind => Some(words(&kind)),
    };
    let required = key.is_required().then(|| "required".to_owned());
    let parts: Vec<String> = [kind, default, required].into_iter().flatten().collect();
    format!("`{}` ({})", key.name, parts.join("; "))
}

/// An item for each key.
fn list<'a>(keys: impl Iterator<Item = &'a SectionKey>) -> String {
    keys.map(|key| format!("- {}: {}\n", head(key), key.meaning))
        .collect()
}

/// The shared parameters, without defaults that depend on the kind of workload.
fn common() -> String {
    let mut text = String::new();
    for key in shared() {
        let head = if is_alike(key) {
            head(key)
        } else {
            format!("`{}`", key.name)
        };
        writeln!(text, "- {head}: {}", key.meaning).unwrap();
    }
    text
}

/// Whether a shared parameter has the same limits and default wherever it occurs.
fn is_alike(key: &SectionKey) -> bool {
    let all = kinds::KINDS.iter().flat_map(|section| section.keys);
    let mut same = all.filter(|other| is_same(key, other));
    same.all(|other| head(other) == head(key))
}

/// The keys of a section; of shared ones, only limits and default.
fn own(section: &KeySection) -> String {
    let is_shared = |key: &SectionKey| shared().iter().any(|other| is_same(key, other));
    let own = section.keys.iter().filter(|key| !is_shared(key));
    let known = section.keys.iter().filter(|key| is_shared(key));
    let known: Vec<String> = known.filter(|key| !is_alike(key)).map(head).collect();
    let text = list(own);
    if known.is_empty() {
        return text;
    }
    format!("- {}\n{text}", known.join(", "))
}

/// Replaces the list of keys after each mark; returns the text and the number of lists.
fn with_lists(text: &str) -> (String, usize) {
    // `command` is both a step and a workload, so the marks of steps begin with
    // `step`.
    let mut named: BTreeMap<String, String> = BTreeMap::new();
    named.insert(COMMON.to_owned(), common());
    for section in SECTIONS.iter().chain(&[&experiment::KEYS]) {
        named.insert(section.name.to_owned(), list(section.keys.iter()));
    }
    for form in action::FORMS {
        named.insert(format!("step {}", form.name), list(form.keys.iter()));
    }
    for section in kinds::KINDS {
        named.insert(format!("workload {}", section.name), own(section));
    }
    let mut result = String::new();
    let mut rest = text;
    let mut used = 0;
    while let Some((before, after)) = rest.split_once("<!-- keys: ") {
        let (name, after) = after.split_once(" -->\n\n").unwrap();
        let (old, after) = after.split_once("\n\n").unwrap();
        let is_list = old
            .lines()
            .all(|line| line.starts_with("- ") || line.starts_with("  "));
        assert!(
            is_list,
            "below the mark of {name} must be a list, or a line with `- `: {old}"
        );
        let keys = named
            .get(name)
            .unwrap_or_else(|| panic!("no section {name}"));
        write!(result, "{before}<!-- keys: {name} -->\n\n{keys}\n").unwrap();
        rest = after;
        used += 1;
    }
    assert_eq!(used, named.len(), "a section has no list, or two");
    (result + rest, used)
}

#[test]
fn the_keys_of_the_documentation_are_those_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/experiment.md");
    let text = fs::read_to_string(path).unwrap();
    let (wanted, lists) = with_lists(&text);
    assert!(lists > 15);
    for key in kinds::KINDS.iter().flat_map(|section| section.keys) {
        if let KeyType::Word(words) = key.kind
            && words.len() > LONG
        {
            let missing = words
                .iter()
                .find(|word| !text.contains(&format!("`{word}`")));
            assert_eq!(missing, None, "{}", key.name);
        }
    }
    agrees("docs/experiment.md", &wanted);
}

/// The default of a parameter, in the agent's units.
fn as_it_goes(key: &SectionKey) -> Option<Value> {
    let value: Value = serde_json::from_str(&key.default()?).unwrap();
    Some(match key.kind {
        KeyType::Quantity(kind, _) => kind.parse(value.as_str().unwrap()).unwrap().into(),
        KeyType::Share => quantity::share(value.as_str().unwrap()).unwrap().into(),
        KeyType::Pairs => json!([]),
        _ => value,
    })
}

fn same_fields(section: &KeySection, defaults: &Value) {
    let fields = defaults.as_object().unwrap();
    let mut ours: Vec<String> = section.keys.iter().map(SectionKey::field).collect();
    let mut theirs: Vec<&str> = fields.keys().map(String::as_str).collect();
    theirs.retain(|name| *name != "kind");
    ours.sort_unstable();
    theirs.sort_unstable();
    assert_eq!(ours, theirs, "{}", section.name);
    for key in section.keys {
        if let Some(default) = as_it_goes(key) {
            assert_eq!(
                fields[&key.field()],
                default,
                "{} of {}",
                key.name,
                section.name
            );
        }
    }
}

#[test]
fn parameters_are_those_of_the_agent_with_its_defaults() {
    let ours: Vec<&str> = kinds::KINDS.iter().map(|kind| kind.name).collect();
    let theirs: Vec<&str> = WORKLOADS.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(ours, theirs);
    for section in kinds::KINDS {
        let kind = section.name;
        let defaults: WorkloadKind = serde_json::from_value(json!({ "kind": kind })).unwrap();
        same_fields(section, &serde_json::to_value(defaults).unwrap());
    }
    let scheduling = serde_json::to_value(Scheduling::default()).unwrap();
    same_fields(&scheduling::KEYS, &scheduling);
    let queue = serde_json::to_value(Queue::default()).unwrap();
    same_fields(&queue::KEYS, &queue);
    same_fields(
        &periodic::LOOP_KEYS,
        &serde_json::to_value(Loop::default()).unwrap(),
    );
}
