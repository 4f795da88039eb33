//! The syntax of placement policies.

use std::collections::BTreeMap;

use assize_job::{POLICIES, PlacementPolicy, PolicyEntry, PolicyForm, TunableUnit};
use serde_json::{Value, json};
use toml::de::{DeTable, DeValue};

use crate::values::document::join;
use crate::values::error::Error;
use crate::values::keys::{self, KeyType, duration};
use crate::values::read::{ExperimentChecker, ValueNode};

/// The `policy` key.
pub(crate) const KEY: keys::SectionKey = keys::key(
    "policy",
    KeyType::Policy.optional(),
    "Placement policy; none, the default, is the kernel's scheduler.",
);

/// The key that names a policy.
const NAME: &str = "name";
/// The key of a policy's program.
const PROGRAM: &str = "program";
/// The key of the program's arguments.
const ARGUMENTS: &str = "arguments";
/// The largest value of a tunable.
const COUNT_MAX: i64 = i64::MAX;

/// The type of a tunable in the file.
pub(crate) fn tunable_type(unit: TunableUnit) -> KeyType {
    match unit {
        TunableUnit::Share => KeyType::Share,
        TunableUnit::Duration => duration(1),
        TunableUnit::Count => KeyType::Whole(1, COUNT_MAX),
    }
}

impl ExperimentChecker<'_> {
    /// Reads a policy: a name, the path of an object, or a table with one of these and tunables, or
    /// with a program and its arguments.
    pub(crate) fn policy(&mut self, path: &str, node: &ValueNode<'_>) -> Result<Value, Error> {
        let table = match node.get_ref() {
            DeValue::String(_) => return self.check_named(path, node, &DeTable::new()),
            DeValue::Table(table) => table,
            _ => {
                let wanted = "the name of a policy, the path of an object, or a table";
                return Err(self.wants(path, node, wanted));
            }
        };
        match (table.get(NAME), table.get(PROGRAM)) {
            (Some(name), None) => self.check_named(path, name, table),
            (None, Some(program)) => self.program(path, program, table),
            (Some(_), Some(_)) => {
                let error = self.error(path, node, "has both a name and a program");
                Err(error.mend("write one of them"))
            }
            (None, None) => {
                let error = self.error(path, node, "has neither a name nor a program");
                Err(error.mend("write policy = { name = \"pack-full\" }"))
            }
        }
    }

    fn check_named(
        &mut self,
        path: &str,
        name: &ValueNode<'_>,
        table: &DeTable<'_>,
    ) -> Result<Value, Error> {
        let text = self.check(path, name, &KeyType::Text)?;
        let text = text.as_str().unwrap_or_default();
        let ours = assize_job::policy(text);
        let form = match ours {
            Some(_) => PolicyForm::Ours,
            None if text == PlacementPolicy::NONE => PolicyForm::Kernel,
            None if is_object(text) => PolicyForm::Object,
            None => {
                let known = POLICIES.iter().filter(|policy| !policy.is_test);
                let known = known
                    .map(|policy| policy.name)
                    .chain([PlacementPolicy::NONE]);
                let error = self.error(path, name, format!("no placement policy '{text}'"));
                return Err(error.nearest(text, known));
            }
        };
        let mut tunables: BTreeMap<String, u64> = ours
            .map_or(&[][..], |ours| ours.tunables)
            .iter()
            .map(|tunable| (tunable.name.to_owned(), tunable.default))
            .collect();
        for (key, node) in table {
            if key.get_ref() == NAME {
                continue;
            }
            let path = join(path, key.get_ref());
            self.spans.insert(path.clone(), key.span());
            let kind = match (ours, form) {
                (Some(ours), _) => tunable(ours, key.get_ref()),
                (None, PolicyForm::Object) => Some(KeyType::Whole(0, COUNT_MAX)),
                _ => None,
            };
            let Some(kind) = kind else {
                let why = format!("no such tunable of {text}");
                let error = self.source.error(&key.span(), &path, why);
                let names = ours.map_or(&[][..], |ours| ours.tunables).iter();
                let names = names.map(|tunable| tunable.name);
                return Err(error.nearest(key.get_ref(), names));
            };
            let value = self.check(&path, node, &kind)?;
            tunables.insert(key.get_ref().to_string(), in_source(&value));
        }
        Ok(json!({ "name": text, "form": form, "tunables": tunables }))
    }

    fn program(
        &mut self,
        path: &str,
        program: &ValueNode<'_>,
        table: &DeTable<'_>,
    ) -> Result<Value, Error> {
        let place = join(path, PROGRAM);
        let name = self.check(&place, program, &KeyType::Text)?;
        let mut argv = vec![name.clone()];
        for (key, node) in table {
            let path = join(path, key.get_ref());
            self.spans.insert(path.clone(), key.span());
            match key.get_ref().as_ref() {
                PROGRAM => {}
                ARGUMENTS => {
                    let given = self.check(&path, node, &KeyType::List(&KeyType::Free))?;
                    argv.extend(given.as_array().into_iter().flatten().cloned());
                }
                other => {
                    let why = "a policy with a program has no such key";
                    let error = self.source.error(&key.span(), &path, why);
                    return Err(error.nearest(other, [PROGRAM, ARGUMENTS]));
                }
            }
        }
        Ok(json!({ "name": name, "form": PolicyForm::Program, "argv": argv }))
    }
}

/// Whether a policy is given by the path of its object.
fn is_object(policy: &str) -> bool {
    policy.contains('/') || policy.ends_with(".o")
}

/// The type of a tunable of a built-in policy; `None` if it has no such tunable.
fn tunable(policy: &PolicyEntry, name: &str) -> Option<KeyType> {
    let mut all = policy.tunables.iter();
    let found = all.find(|tunable| tunable.name == name)?;
    Some(tunable_type(found.unit))
}

/// Converts a value to the integer units of the policy's source; a share is given as a fraction.
fn in_source(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| {
        let share = value.as_f64().unwrap_or_default();
        (share * TunableUnit::WHOLE as f64).round() as u64
    })
}
