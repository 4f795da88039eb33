//! The JSON Schema of experiment files, for editors.

use assize_job::INSTRUMENTS;
use serde_json::{Map, Value, json};

use crate::report::{primary, tables, tradeoffs};
use crate::settings::{frequency, gaps, idle, policy, queue, stalls, tracer};
use crate::steps::action;
use crate::values::keys::{KeySection, KeyType, SectionKey};
use crate::values::read::BACKGROUND;
use crate::workloads::{kinds, periodic, scheduling};
use crate::{experiment, levels, payload, until};

/// The tables with fixed keys, except the top of the file, steps and workloads.
pub(crate) static SECTIONS: &[&KeySection] = &[
    &levels::KEYS,
    &queue::KEYS,
    &idle::KEYS,
    &idle::STATE_KEYS,
    &frequency::KEYS,
    &frequency::STEP_KEYS,
    &gaps::KEYS,
    &tracer::KEYS,
    &stalls::KEYS,
    &until::KEYS,
    &primary::KEYS,
    &tables::KEYS,
    &tradeoffs::KEYS,
    &tradeoffs::METRIC_KEYS,
    &payload::KEYS,
    &payload::FILE_KEYS,
    &scheduling::KEYS,
    &periodic::LOOP_KEYS,
];

/// The JSON Schema of experiment files, published as
/// `schema/experiment.schema.json`. It covers the values of single keys; only
/// [`crate::parse`] checks how keys combine.
pub fn schema() -> Value {
    let mut definitions = Map::new();
    for section in SECTIONS {
        definitions.insert(section.name.to_owned(), object(section));
    }
    let mut actions = Vec::new();
    for form in action::FORMS {
        let name = format!("action-{}", form.name);
        actions.push(reference(&name));
        definitions.insert(name, object(form));
    }
    definitions.insert("action".to_owned(), json!({ "oneOf": actions }));
    let (mut workloads, mut changes) = (Vec::new(), Vec::new());
    for section in kinds::KINDS {
        let kind = section.name;
        let name = format!("workload-{kind}");
        workloads.push(reference(&name));
        definitions.insert(name, workload(section));
        let name = format!("changes-{kind}");
        changes.push(reference(&name));
        definitions.insert(name, fixed(properties(section), &[]));
    }
    definitions.insert("workload".to_owned(), json!({ "oneOf": workloads }));
    definitions.insert("changes".to_owned(), json!({ "anyOf": changes }));

    let mut root = Map::new();
    root.insert(
        "$schema".to_owned(),
        "https://json-schema.org/draft/2020-12/schema".into(),
    );
    root.insert("title".to_owned(), "assize experiment".into());
    if let Value::Object(top) = object(&experiment::KEYS) {
        root.extend(top);
    }
    root.insert("$defs".to_owned(), Value::Object(definitions));
    Value::Object(root)
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn object(section: &KeySection) -> Value {
    let required = section.keys.iter().filter(|key| key.is_required());
    let required: Vec<&str> = required.map(|key| key.name).collect();
    fixed(properties(section), &required)
}

fn workload(section: &KeySection) -> Value {
    let mut all = Map::new();
    all.insert("kind".to_owned(), json!({ "const": section.name }));
    all.insert(
        BACKGROUND.to_owned(),
        json!({
            "type": "array",
            "items": { "type": "string", "minLength": 1 },
            "description": "Background workloads that run at the same time, if this workload is measured.",
        }),
    );
    all.extend(properties(section));
    let required = section.keys.iter().filter(|key| key.is_required());
    let required: Vec<&str> = ["kind"]
        .into_iter()
        .chain(required.map(|key| key.name))
        .collect();
    fixed(all, &required)
}

/// The schema of a policy: a name, a path or a table. Valid tunables depend on the policy, which
/// the schema cannot express, so it allows those of all policies.
fn policy() -> Value {
    let mut named = Map::new();
    named.insert("name".to_owned(), value_schema(&KeyType::Text));
    for tunable in assize_job::POLICIES.iter().flat_map(|one| one.tunables) {
        let mut property = value_schema(&policy::tunable_type(tunable.unit));
        property["description"] = tunable.about.into();
        named.entry(tunable.name).or_insert(property);
    }
    let named = json!({
        "type": "object",
        "properties": named,
        "required": ["name"],
        "additionalProperties": { "type": "integer", "minimum": 0 },
    });
    let program = json!({
        "type": "object",
        "properties": {
            "program": value_schema(&KeyType::Text),
            "arguments": value_schema(&KeyType::List(&KeyType::Free)),
        },
        "required": ["program"],
        "additionalProperties": false,
    });
    json!({ "anyOf": [value_schema(&KeyType::Text), named, program] })
}

fn fixed(properties: Map<String, Value>, required: &[&str]) -> Value {
    let mut object = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        object["required"] = required.into();
    }
    object
}

fn properties(section: &KeySection) -> Map<String, Value> {
    let property = |key: &SectionKey| {
        let mut property = value_schema(&key.kind);
        property["description"] = key.meaning.into();
        if let Some(text) = key.default()
            && let Ok(default) = serde_json::from_str::<Value>(&text)
        {
            property["default"] = default;
        }
        (key.name.to_owned(), property)
    };
    section.keys.iter().map(property).collect()
}

fn value_schema(kind: &KeyType) -> Value {
    let number = r"^[0-9]+(\.[0-9]+)?";
    match kind {
        KeyType::Quantity(kind, _) => {
            let units = kind.unit_names().join("|");
            json!({ "type": "string", "pattern": format!("{number} ?({units})$") })
        }
        KeyType::Text => json!({ "type": "string", "minLength": 1 }),
        KeyType::Target => {
            json!({ "type": "string", "pattern": r"^(exact|live|host|ssh:[^\s-]\S*)$" })
        }
        KeyType::Instrument => {
            let names = INSTRUMENTS.iter().map(|instrument| instrument.name);
            json!({ "enum": names.collect::<Vec<_>>() })
        }
        KeyType::Free => json!({ "type": "string" }),
        KeyType::Word(words) => json!({ "enum": words }),
        KeyType::Whole(least, most) => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        KeyType::Share => json!({ "type": "string", "pattern": format!("{number} *%$") }),
        KeyType::Flag => json!({ "type": "boolean" }),
        KeyType::Value => json!({ "type": ["string", "integer"] }),
        KeyType::List(element) => json!({ "type": "array", "items": value_schema(element) }),
        KeyType::WordOrList(words, element) => {
            json!({ "anyOf": [{ "enum": words }, { "type": "array", "items": value_schema(element) }] })
        }
        KeyType::OneOrMore(element) => {
            json!({ "anyOf": [value_schema(element), { "type": "array", "items": value_schema(element) }] })
        }
        KeyType::Map(element) => {
            json!({ "type": "object", "additionalProperties": value_schema(element) })
        }
        KeyType::Pairs => {
            json!({ "type": "object", "additionalProperties": value_schema(&KeyType::Value) })
        }
        KeyType::Table(section) | KeyType::Part(section) => reference(section.name),
        KeyType::Action => reference("action"),
        KeyType::Policy => policy(),
        KeyType::Workload => reference("workload"),
        KeyType::Changes => {
            json!({ "type": "object", "additionalProperties": reference("changes") })
        }
    }
}
