//! Reads TOML into plain values, and checks that every key is known and every
//! value is of its key's type.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::document::{SourceText, Spans, is_bare, join};
use super::error::Error;
use super::keys::{KeySection, KeyType, SectionKey};
use super::quantity::{self, Quantity, show_ns};

/// The key of a workload that names its background workloads.
pub(crate) const BACKGROUND: &str = "background";

/// The tables that a file may have.
#[derive(Clone, Copy)]
pub(crate) struct KeyGrammar {
    /// The top of the file.
    pub(crate) top: &'static KeySection,
    /// The forms of a step of set-up or tear-down.
    pub(crate) steps: &'static [KeySection],
    /// The kinds of workloads.
    pub(crate) workloads: &'static [&'static KeySection],
}

pub(crate) type ValueNode<'t> = Spanned<DeValue<'t>>;

/// Reads a file to plain values by field name ([`SectionKey::field`]), and the places of its keys.
pub(crate) fn read(source: SourceText<'_>, grammar: KeyGrammar) -> Result<(Value, Spans), Error> {
    let document = DeTable::parse(source.text).map_err(|error| syntax(source, &error))?;
    let root = document.get_ref();
    let mut checker = ExperimentChecker {
        source,
        grammar,
        spans: Spans::new(),
        kinds: HashMap::new(),
        fill: true,
    };
    for section in ["workloads", "background"] {
        checker.note_kinds(root, section)?;
    }
    let value = checker.table("", &(0..0), root, grammar.top)?;
    Ok((value, checker.spans))
}

/// The error for text that is not TOML or gives a key twice.
fn syntax(source: SourceText<'_>, error: &toml::de::Error) -> Error {
    let span = error.span().unwrap_or(0..0);
    let why = error.message().lines().next().unwrap_or("cannot be read");
    let key = source.text.get(span.clone()).filter(|text| is_bare(text));
    match key {
        Some(key) if why.starts_with("duplicate key") => {
            let start = source.text[..span.start].rfind('\n').map_or(0, |at| at + 1);
            let line = source.text[start..].lines().next().unwrap_or_default();
            let header = line.trim().strip_prefix('[');
            let header = header.and_then(|rest| rest.split(']').next());
            source
                .error(&span, header.unwrap_or(key), "is used twice")
                .mend("remove or rename one")
        }
        _ => source.error(&span, "", format!("not TOML: {why}")),
    }
}

pub(crate) struct ExperimentChecker<'a> {
    pub(crate) source: SourceText<'a>,
    grammar: KeyGrammar,
    pub(crate) spans: Spans,
    /// The parameters of each workload's kind, by workload name.
    kinds: HashMap<String, &'static KeySection>,
    /// Whether to fill in defaults of absent keys.
    fill: bool,
}

impl ExperimentChecker<'_> {
    /// Records the kind of each workload in this section. Called before levels are read, because
    /// the parameters that a level may change depend on the kind.
    fn note_kinds(&mut self, root: &DeTable<'_>, section: &str) -> Result<(), Error> {
        let Some(table) = root.get(section).and_then(|node| node.get_ref().as_table()) else {
            return Ok(());
        };
        for (name, node) in table {
            let kind = self.kind(&join(section, name.get_ref()), node)?;
            self.kinds.insert(name.get_ref().to_string(), kind);
        }
        Ok(())
    }

    pub(crate) fn check(
        &mut self,
        path: &str,
        node: &ValueNode<'_>,
        kind: &KeyType,
    ) -> Result<Value, Error> {
        match kind {
            KeyType::Text
            | KeyType::Target
            | KeyType::Instrument
            | KeyType::Free
            | KeyType::Word(_) => self.text(path, node, kind),
            KeyType::Quantity(kind, least) => self.quantity(path, node, kind, *least),
            KeyType::Share => self.share(path, node),
            KeyType::Whole(least, most) => self.whole(path, node, *least, *most),
            KeyType::Flag => match node.get_ref() {
                DeValue::Boolean(flag) => Ok(Value::Bool(*flag)),
                _ => Err(self.wants(path, node, "true or false")),
            },
            KeyType::Value => match node.get_ref() {
                DeValue::Integer(number) => {
                    let number = self.integer(path, node, number)?;
                    Ok(Value::String(number.to_string()))
                }
                DeValue::String(_) => self.text(path, node, &KeyType::Free),
                _ => Err(self.wants(path, node, "text or a whole number")),
            },
            KeyType::List(element) => self.list(path, node, element),
            KeyType::OneOrMore(element) => match node.get_ref() {
                DeValue::Array(_) => self.list(path, node, element),
                _ => Ok(Value::Array(vec![self.check(path, node, element)?])),
            },
            KeyType::WordOrList(words, element) => match node.get_ref() {
                DeValue::Array(_) => self.list(path, node, element),
                DeValue::String(_) => self.text(path, node, &KeyType::Word(words)),
                _ => Err(self.wants(path, node, "a name in quotes, or a list in [ ]")),
            },
            KeyType::Map(element) => self.map(path, node, element),
            KeyType::Pairs => self.pairs(path, node),
            KeyType::Table(section) => {
                let table = self.want_table(path, node)?;
                self.table(path, &node.span(), table, section)
            }
            KeyType::Part(section) => {
                let table = self.want_table(path, node)?;
                let fields = self.parameters(path, &node.span(), table, section)?;
                Ok(Value::Object(fields))
            }
            KeyType::Action => self.action(path, node),
            KeyType::Workload => self.workload(path, node),
            KeyType::Changes => self.changes(path, node),
            KeyType::Policy => self.policy(path, node),
        }
    }

    fn pairs(&mut self, path: &str, node: &ValueNode<'_>) -> Result<Value, Error> {
        let map = self.map(path, node, &KeyType::Value)?;
        let pairs = map.as_object().into_iter().flatten();
        Ok(pairs
            .map(|(name, value)| Value::Array(vec![name.as_str().into(), value.clone()]))
            .collect())
    }

    fn text(&self, path: &str, node: &ValueNode<'_>, kind: &KeyType) -> Result<Value, Error> {
        let DeValue::String(text) = node.get_ref() else {
            return Err(self.wants(path, node, "text in quotes"));
        };
        let wrong = match kind {
            KeyType::Word(words) if !words.contains(&text.as_ref()) => {
                let why = format!("'{text}' is not valid");
                let words = words.iter().copied();
                return Err(self.error(path, node, why).nearest(text, words));
            }
            KeyType::Free if text.contains('\0') => {
                Some("must not hold the character NUL".to_owned())
            }
            KeyType::Free => None,
            _ if text.trim().is_empty() => Some("is empty".to_owned()),
            _ if text.chars().any(char::is_control) => {
                Some("must be one line without control characters".to_owned())
            }
            _ => None,
        };
        match wrong {
            Some(why) => Err(self.error(path, node, why)),
            None => Ok(Value::String(text.to_string())),
        }
    }

    fn quantity(
        &self,
        path: &str,
        node: &ValueNode<'_>,
        quantity: &Quantity,
        least: u64,
    ) -> Result<Value, Error> {
        let DeValue::String(text) = node.get_ref() else {
            let (article, noun) = quantity.noun;
            let example = quantity.example;
            let wanted = format!("{article} {noun} with a unit, in quotes, such as {example}");
            return Err(self.wants(path, node, &wanted));
        };
        match quantity.parse(text) {
            Ok(value) if value < least => {
                let why = format!("'{text}' is less than {}", show_ns(least));
                Err(self.error(path, node, why))
            }
            Ok(value) => Ok(value.into()),
            Err(why) => Err(self.error(path, node, why)),
        }
    }

    fn share(&self, path: &str, node: &ValueNode<'_>) -> Result<Value, Error> {
        let DeValue::String(text) = node.get_ref() else {
            return Err(self.wants(path, node, "a share in quotes, such as \"2%\""));
        };
        quantity::share(text)
            .map(Value::from)
            .map_err(|why| self.error(path, node, why))
    }

    fn whole(
        &self,
        path: &str,
        node: &ValueNode<'_>,
        least: i64,
        most: i64,
    ) -> Result<Value, Error> {
        let DeValue::Integer(number) = node.get_ref() else {
            return Err(self.wants(path, node, "a whole number without quotes"));
        };
        let number = self.integer(path, node, number)?;
        if (least..=most).contains(&number) {
            Ok(number.into())
        } else {
            let why = format!("{number} is not between {least} and {most}");
            Err(self.error(path, node, why))
        }
    }

    fn integer(
        &self,
        path: &str,
        node: &ValueNode<'_>,
        number: &DeInteger<'_>,
    ) -> Result<i64, Error> {
        i64::from_str_radix(number.as_str(), number.radix())
            .map_err(|_| self.error(path, node, format!("{number} is too large")))
    }

    fn list(
        &mut self,
        path: &str,
        node: &ValueNode<'_>,
        element: &KeyType,
    ) -> Result<Value, Error> {
        let DeValue::Array(nodes) = node.get_ref() else {
            return Err(self.wants(path, node, "a list in [ ]"));
        };
        let mut values = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            let path = format!("{path}[{at}]");
            self.spans.insert(path.clone(), node.span());
            values.push(self.check(&path, node, element)?);
        }
        Ok(Value::Array(values))
    }

    fn map(&mut self, path: &str, node: &ValueNode<'_>, element: &KeyType) -> Result<Value, Error> {
        let mut values = Map::new();
        for (name, node) in self.want_table(path, node)? {
            let path = join(path, name.get_ref());
            self.spans.insert(path.clone(), name.span());
            let value = self.check(&path, node, element)?;
            values.insert(name.get_ref().to_string(), value);
        }
        Ok(Value::Object(values))
    }

    /// Reads a table with fixed keys. `span` is its byte range in the file.
    fn table(
        &mut self,
        path: &str,
        span: &Range<usize>,
        table: &DeTable<'_>,
        section: &'static KeySection,
    ) -> Result<Value, Error> {
        let mut values = Map::new();
        for (name, node) in table {
            let path = join(path, name.get_ref());
            let Some(key) = section.key(name.get_ref()) else {
                let why = format!("no such key in {}", section.name);
                let error = self.source.error(&name.span(), &path, why);
                if section.name != "experiment" && self.is_of_the_top(name.get_ref()) {
                    return Err(error.mend("move it above the first [table]"));
                }
                return Err(error.nearest(name.get_ref(), section.names()));
            };
            self.spans.insert(path.clone(), name.span());
            values.insert(key.field(), self.check(&path, node, &key.kind)?);
        }
        if self.fill {
            for key in section.keys {
                self.absent(path, span, key, &mut values)?;
            }
        }
        Ok(Value::Object(values))
    }

    /// Whether this is a key of the top, which is in this table only because a `[table]` header
    /// precedes it.
    fn is_of_the_top(&self, name: &str) -> bool {
        self.grammar.top.key(name).is_some()
    }

    fn absent(
        &mut self,
        path: &str,
        span: &Range<usize>,
        key: &SectionKey,
        values: &mut Map<String, Value>,
    ) -> Result<(), Error> {
        if values.contains_key(&key.field()) {
            return Ok(());
        }
        if let Some(text) = key.default()
            && let Ok(node) = DeValue::parse(&text)
        {
            let value = self.check(&join(path, key.name), &node, &key.kind)?;
            values.insert(key.field(), value);
        }
        if !key.is_required() {
            return Ok(());
        }
        let error = self.source.error(span, &join(path, key.name), "is missing");
        let meaning = key.meaning.trim_end_matches('.');
        let mut rest = meaning.chars();
        let first = rest.next().into_iter().flat_map(char::to_lowercase);
        let meaning: String = first.chain(rest).collect();
        Err(error.mend(format!("add it: {meaning}")))
    }

    fn action(&mut self, path: &str, node: &ValueNode<'_>) -> Result<Value, Error> {
        let table = self.want_table(path, node)?;
        let steps = self.grammar.steps.iter();
        let mut forms = steps.clone().filter(|form| table.contains_key(form.name));
        let forms = (forms.next(), forms.next());
        let form = match forms {
            (Some(form), None) => form,
            (Some(one), Some(other)) => {
                let why = format!("is both {} and {}", one.name, other.name);
                let error = self.error(path, node, why);
                return Err(error.mend("write two steps"));
            }
            (None, _) => {
                let names = steps.map(|form| form.name);
                let error = self.error(path, node, "is not a step");
                let given = table.keys().next().map(|name| name.get_ref().to_string());
                return Err(error.nearest(&given.unwrap_or_default(), names));
            }
        };
        let mut value = self.table(path, &node.span(), table, form)?;
        if let Some(fields) = value.as_object_mut() {
            fields.insert("action".to_owned(), form.name.into());
        }
        Ok(value)
    }

    /// The parameters of the kind named by a workload.
    fn kind(&self, path: &str, node: &ValueNode<'_>) -> Result<&'static KeySection, Error> {
        let table = self.want_table(path, node)?;
        let kinds = self.grammar.workloads.iter().copied();
        let names = kinds.clone().map(|kind| kind.name);
        let Some(kind) = table.get("kind") else {
            let error = self.error(path, node, "has no kind");
            return Err(error.nearest("", names));
        };
        let path = join(path, "kind");
        let DeValue::String(name) = kind.get_ref() else {
            return Err(self.wants(&path, kind, "text in quotes"));
        };
        let mut named = kinds.filter(|kind| kind.name == *name);
        named.next().ok_or_else(|| {
            let error = self.error(&path, kind, format!("no kind of workload '{name}'"));
            error.nearest(name, names)
        })
    }

    fn workload(&mut self, path: &str, node: &ValueNode<'_>) -> Result<Value, Error> {
        let section = self.kind(path, node)?;
        let table = self.want_table(path, node)?;
        let mut keys = table.clone();
        let kind = keys.remove("kind").map_or(node.span(), |kind| kind.span());
        // Background workloads cannot have background workloads of their own.
        let beside = match path.starts_with("workloads.") {
            true => keys.remove(BACKGROUND),
            false => None,
        };
        let mut value = self.parameters(path, &node.span(), &keys, section)?;
        if let Some(names) = beside {
            let path = join(path, BACKGROUND);
            self.spans.insert(path.clone(), names.span());
            let names = self.list(&path, &names, &KeyType::Text)?;
            value.insert(BACKGROUND.to_owned(), names);
        }
        for key in section.keys.iter().filter(|key| key.is_required()) {
            self.absent(path, &kind, key, &mut value)?;
        }
        value.insert("kind".to_owned(), section.name.into());
        Ok(Value::Object(value))
    }

    /// Reads the keys that are present, without defaults.
    fn parameters(
        &mut self,
        path: &str,
        span: &Range<usize>,
        table: &DeTable<'_>,
        section: &'static KeySection,
    ) -> Result<Map<String, Value>, Error> {
        let fill = std::mem::replace(&mut self.fill, false);
        let value = self.table(path, span, table, section);
        self.fill = fill;
        match value? {
            Value::Object(fields) => Ok(fields),
            _ => Ok(Map::new()),
        }
    }

    fn changes(&mut self, path: &str, node: &ValueNode<'_>) -> Result<Value, Error> {
        let mut values = Map::new();
        for (name, node) in self.want_table(path, node)? {
            let path = join(path, name.get_ref());
            let Some(section) = self.kinds.get(name.get_ref().as_ref()).copied() else {
                let why = format!("no workload '{}'", name.get_ref());
                let error = self.source.error(&name.span(), &path, why);
                let mut names: Vec<&str> = self.kinds.keys().map(String::as_str).collect();
                names.sort_unstable();
                return Err(error.nearest(name.get_ref(), names));
            };
            self.spans.insert(path.clone(), name.span());
            let table = self.want_table(&path, node)?;
            let fields = self.parameters(&path, &node.span(), table, section)?;
            values.insert(name.get_ref().to_string(), Value::Object(fields));
        }
        Ok(Value::Object(values))
    }

    pub(crate) fn want_table<'n, 't>(
        &self,
        path: &str,
        node: &'n ValueNode<'t>,
    ) -> Result<&'n DeTable<'t>, Error> {
        match node.get_ref() {
            DeValue::Table(table) => Ok(table),
            _ => Err(self.wants(path, node, "a table")),
        }
    }

    pub(crate) fn wants(&self, path: &str, node: &ValueNode<'_>, wanted: &str) -> Error {
        self.error(path, node, format!("must be {wanted}"))
    }

    pub(crate) fn error(&self, path: &str, node: &ValueNode<'_>, why: impl Into<String>) -> Error {
        self.source.error(&node.span(), path, why)
    }
}
