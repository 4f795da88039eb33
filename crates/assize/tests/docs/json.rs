//! Checks docs/json.md against the source that declares the fields of the verdict document, and
//! against a written document.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use libtest_mimic::Failed;
use serde_json::Value;
use syn::{Attribute, Expr, Fields, GenericArgument, Item, Lit, PathArguments, Type};

use crate::common::assize;
use crate::{rewrites, root};

const PAGE: &str = "docs/json.md";
const SOURCES: [&str; 8] = [
    "crates/verdict/src/document.rs",
    "crates/verdict/src/document/machines.rs",
    "crates/verdict/src/document/outcomes.rs",
    "crates/verdict/src/document/rates.rs",
    "crates/verdict/src/document/tables.rs",
    "crates/verdict/src/document/tradeoffs.rs",
    "crates/bundle/src/place.rs",
    "crates/bundle/src/records.rs",
];
const TOP: &str = "Document";
/// Number of tables from which on a common row moves to a separate table.
const MANY: usize = 3;
const COMMON: &str = "Other sections name these without repeating what they mean.";

/// A type declared in the source.
struct Declared {
    about: String,
    /// For an enum, fields are the possible words.
    is_enum: bool,
    fields: Vec<Field>,
}

struct Field {
    name: String,
    about: String,
    kind: Kind,
    /// Whether the field is omitted if it has its default value.
    may_be_absent: bool,
}

/// The type of a field.
enum Kind {
    Text,
    Number,
    Whole,
    Flag,
    Nullable(Box<Kind>),
    List(Box<Kind>),
    Pair(Box<Kind>),
    Map(Box<Kind>),
    Named(String),
}

type Types = BTreeMap<String, Declared>;

/// Generates the page, and compares or writes it.
pub fn agrees() -> Result<(), Failed> {
    let types = types();
    let path = root().join(PAGE);
    let page = fs::read_to_string(&path).unwrap();
    let (head, rest) = page.split_once("<!-- fields -->\n").unwrap();
    let (_, tail) = rest.split_once("<!-- end -->").unwrap();
    let mut text = format!("{head}<!-- fields -->\n");
    let names = reached(&types);
    let shared = shared(names.iter().map(|name| &types[name]));
    let rows: String = shared.values().map(String::as_str).collect();
    table("Common fields", COMMON, &rows, &mut text);
    for name in names {
        section(&name, &types[&name], &shared, &mut text);
    }
    write!(text, "\n<!-- end -->{tail}").unwrap();
    if rewrites() {
        fs::write(&path, &text).unwrap();
        return Ok(());
    }
    if page == text {
        return Ok(());
    }
    Err(format!("{PAGE} is out of date: cargo xtask golden").into())
}

/// Checks that a written document has exactly these fields, with these types.
pub fn conforms() -> Result<(), Failed> {
    let types = types();
    let claims = ["--claim", "irq < plain on task-clock"];
    let posts = ["dep-queue.txt", "packing.txt", "framebuffer-latency.txt"];
    for (at, post) in posts.into_iter().enumerate() {
        let post = format!("demo/{post}");
        let mut arguments = vec!["audit", "--json", &post];
        if at == 0 {
            arguments.extend(claims);
        }
        // The command exits with 1 because of the refuted claim.
        let written = assize(&root(), &arguments).stdout;
        let written = serde_json::from_slice(&written).unwrap();
        fits(&written, &Kind::Named(TOP.into()), &types, &post)?;
    }
    Ok(())
}

fn types() -> Types {
    let mut types = Types::new();
    for source in SOURCES {
        let text = fs::read_to_string(root().join(source)).unwrap();
        for item in syn::parse_file(&text).unwrap().items {
            match item {
                Item::Struct(item) => {
                    let fields = item.fields.iter().map(field).collect();
                    let about = about(&item.attrs);
                    let declared = Declared {
                        about,
                        is_enum: false,
                        fields,
                    };
                    types.insert(item.ident.to_string(), declared);
                }
                Item::Enum(item) => {
                    let style = serde(&item.attrs);
                    let dashes = style.contains("rename_all=kebab-case");
                    let fields = item.variants.iter();
                    let fields = fields.map(|one| variant(one, dashes)).collect();
                    let about = about(&item.attrs);
                    let declared = Declared {
                        about,
                        is_enum: true,
                        fields,
                    };
                    types.insert(item.ident.to_string(), declared);
                }
                _ => {}
            }
        }
    }
    types
}

fn field(field: &syn::Field) -> Field {
    let name = field.ident.as_ref().unwrap().to_string();
    let serde = serde(&field.attrs);
    let may_be_absent = serde.contains("skip_serializing_if");
    let kind = match kind(&field.ty) {
        // Absent rather than null.
        Kind::Nullable(inner) if may_be_absent => *inner,
        kind => kind,
    };
    Field {
        name: renamed(&serde).unwrap_or(name),
        about: about(&field.attrs),
        kind,
        may_be_absent,
    }
}

fn variant(variant: &syn::Variant, dashes: bool) -> Field {
    let mut name = String::new();
    for (at, letter) in variant.ident.to_string().char_indices() {
        if letter.is_uppercase() && at > 0 {
            name.push(if dashes { '-' } else { '_' });
        }
        name.extend(letter.to_lowercase());
    }
    let kind = match &variant.fields {
        Fields::Unnamed(fields) => kind(&fields.unnamed[0].ty),
        _ => Kind::Text,
    };
    Field {
        name,
        about: about(&variant.attrs),
        kind,
        may_be_absent: matches!(variant.fields, Fields::Unnamed(_)),
    }
}

/// The first paragraph of a doc comment, on one line.
fn about(attributes: &[Attribute]) -> String {
    let mut lines = Vec::new();
    for attribute in attributes.iter().filter(|one| one.path().is_ident("doc")) {
        let Expr::Lit(literal) = &attribute.meta.require_name_value().unwrap().value else {
            continue;
        };
        if let Lit::Str(text) = &literal.lit {
            lines.push(text.value().trim().to_owned());
        }
    }
    let text = lines
        .split(String::is_empty)
        .next()
        .unwrap_or_default()
        .join(" ");
    // Remove markup that only helps a reader of the source.
    text.replace("[`", "`").replace("`]", "`")
}

fn serde(attributes: &[Attribute]) -> String {
    let mut text = String::new();
    for attribute in attributes.iter().filter(|one| one.path().is_ident("serde")) {
        attribute
            .parse_nested_meta(|meta| {
                text.push_str(&meta.path.get_ident().unwrap().to_string());
                if let Ok(value) = meta.value() {
                    let value: syn::LitStr = value.parse()?;
                    write!(text, "={}", value.value()).unwrap();
                }
                text.push(';');
                Ok(())
            })
            .unwrap();
    }
    text
}

fn renamed(serde: &str) -> Option<String> {
    let (_, after) = serde.split_once("rename=")?;
    Some(after.split(';').next()?.to_owned())
}

fn kind(ty: &Type) -> Kind {
    match ty {
        Type::Array(array) => Kind::Pair(Box::new(kind(&array.elem))),
        Type::Path(path) => {
            let last = path.path.segments.last().unwrap();
            let inner = |at: usize| {
                let PathArguments::AngleBracketed(arguments) = &last.arguments else {
                    panic!("{} without arguments", last.ident);
                };
                match &arguments.args[at] {
                    GenericArgument::Type(ty) => Box::new(kind(ty)),
                    _ => panic!("{}: not a type", last.ident),
                }
            };
            match last.ident.to_string().as_str() {
                "String" => Kind::Text,
                "f64" => Kind::Number,
                "u32" | "u64" | "usize" => Kind::Whole,
                "bool" => Kind::Flag,
                "Option" => Kind::Nullable(inner(0)),
                "Vec" => Kind::List(inner(0)),
                "BTreeMap" | "IndexMap" => Kind::Map(inner(1)),
                name => Kind::Named(name.to_owned()),
            }
        }
        _ => panic!("a type that the page cannot describe"),
    }
}

/// The types in the document, in order of occurrence.
fn reached(types: &Types) -> Vec<String> {
    fn named(kind: &Kind) -> Option<&str> {
        match kind {
            Kind::Named(name) => Some(name),
            Kind::Nullable(inner) | Kind::List(inner) | Kind::Pair(inner) | Kind::Map(inner) => {
                named(inner)
            }
            Kind::Text | Kind::Number | Kind::Whole | Kind::Flag => None,
        }
    }
    let mut found = vec![TOP.to_owned()];
    let mut at = 0;
    while let Some(name) = found.get(at) {
        let declared = types
            .get(name)
            .unwrap_or_else(|| panic!("{name} is not in {SOURCES:?}"));
        for field in &declared.fields {
            if let Some(name) = named(&field.kind)
                && !found.iter().any(|known| known == name)
            {
                found.push(name.to_owned());
            }
        }
        at += 1;
    }
    found
}

/// The rows of many tables, by field.
fn shared<'a>(types: impl Iterator<Item = &'a Declared>) -> BTreeMap<String, String> {
    let mut times: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for field in types.filter(|one| !one.is_enum).flat_map(|one| &one.fields) {
        *times.entry((&field.name, row(field))).or_default() += 1;
    }
    let mut shared = BTreeMap::new();
    for ((name, row), _) in times.into_iter().filter(|(_, times)| *times >= MANY) {
        let other = shared.insert(name.to_owned(), row);
        assert_eq!(other, None, "two common meanings");
    }
    shared
}

fn section(name: &str, declared: &Declared, shared: &BTreeMap<String, String>, text: &mut String) {
    if declared.is_enum {
        write!(text, "\n## {name}\n\n{}\n\n", declared.about).unwrap();
        for field in &declared.fields {
            let value = match (field.may_be_absent, &field.kind) {
                (true, kind) => format!("`{{\"{}\": …}}` with a {}", field.name, words(kind)),
                (false, _) => format!("`\"{}\"`", field.name),
            };
            writeln!(text, "- {value}: {}", field.about).unwrap();
        }
        return;
    }
    let is_common = |field: &&Field| shared.get(&field.name) == Some(&row(field));
    let (common, own): (Vec<&Field>, Vec<&Field>) = declared.fields.iter().partition(is_common);
    let names: Vec<String> = common.iter().map(|one| format!("`{}`", one.name)).collect();
    let about = match names.is_empty() {
        true => declared.about.clone(),
        false => format!("{} Common fields: {}.", declared.about, names.join(", ")),
    };
    let own: String = own.into_iter().map(row).collect();
    table(name, &about, &own, text);
}

/// A heading, a paragraph and the rows of fields, if there are any.
fn table(title: &str, about: &str, rows: &str, text: &mut String) {
    write!(text, "\n## {title}\n\n{about}\n").unwrap();
    if !rows.is_empty() {
        let head = "| field | type | meaning |\n| --- | --- | --- |";
        write!(text, "\n{head}\n{rows}").unwrap();
    }
}

fn row(field: &Field) -> String {
    let absent = if field.may_be_absent {
        ", optional"
    } else {
        ""
    };
    let (name, kind) = (&field.name, words(&field.kind));
    format!("| `{name}` | {kind}{absent} | {} |\n", field.about)
}

fn words(kind: &Kind) -> String {
    match kind {
        Kind::Text => "string".into(),
        Kind::Number => "number".into(),
        Kind::Whole => "integer".into(),
        Kind::Flag => "boolean".into(),
        Kind::Nullable(inner) => format!("{} or null", words(inner)),
        Kind::List(inner) => format!("array of {}", plural(inner)),
        Kind::Pair(inner) => format!("pair of {}", plural(inner)),
        Kind::Map(inner) => format!("object of {}", plural(inner)),
        Kind::Named(name) => format!("[{name}](#{})", name.to_lowercase()),
    }
}

fn plural(kind: &Kind) -> String {
    let ending = if matches!(kind, Kind::Named(_)) {
        ""
    } else {
        "s"
    };
    words(kind) + ending
}

/// Checks recursively that a value is of this kind.
fn fits(value: &Value, kind: &Kind, types: &Types, at: &str) -> Result<(), Failed> {
    let wrong = || Failed::from(format!("{at}: not a {}: {value}", words(kind)));
    let holds = |right: bool| if right { Ok(()) } else { Err(wrong()) };
    match kind {
        Kind::Text => holds(value.is_string()),
        Kind::Number => holds(value.is_number()),
        Kind::Whole => holds(value.is_u64()),
        Kind::Flag => holds(value.is_boolean()),
        Kind::Nullable(_) if value.is_null() => Ok(()),
        Kind::Nullable(inner) => fits(value, inner, types, at),
        Kind::List(inner) | Kind::Pair(inner) => {
            let values = value.as_array().ok_or_else(wrong)?;
            holds(values.len() == 2 || matches!(kind, Kind::List(_)))?;
            values
                .iter()
                .try_for_each(|value| fits(value, inner, types, at))
        }
        Kind::Map(inner) => {
            let mut values = value.as_object().ok_or_else(wrong)?.values();
            values.try_for_each(|value| fits(value, inner, types, at))
        }
        Kind::Named(name) => named_fits(value, (name, &types[name]), types, at),
    }
}

fn named_fits(
    value: &Value,
    (name, declared): (&str, &Declared),
    types: &Types,
    at: &str,
) -> Result<(), Failed> {
    let wrong = |what: &str| Failed::from(format!("{at}: {name}: {what}: {value}"));
    if declared.is_enum {
        let word = match value {
            Value::Object(fields) => fields.keys().next().map(String::as_str),
            value => value.as_str(),
        };
        let known = declared
            .fields
            .iter()
            .any(|field| Some(field.name.as_str()) == word);
        return if known {
            Ok(())
        } else {
            Err(wrong("no such value"))
        };
    }
    let fields = value.as_object().ok_or_else(|| wrong("not an object"))?;
    for field in &declared.fields {
        match fields.get(&field.name) {
            None if field.may_be_absent => {}
            None => return Err(wrong(&format!("no {}", field.name))),
            Some(value) => fits(value, &field.kind, types, &format!("{at}: {}", field.name))?,
        }
    }
    let known = |name: &String| declared.fields.iter().any(|field| field.name == *name);
    match fields.keys().find(|name| !known(name)) {
        Some(name) => Err(wrong(&format!("{name} is not on the page"))),
        None => Ok(()),
    }
}
