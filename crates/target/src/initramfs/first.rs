//! Modules that a machine loads before its job is known.

use std::collections::{BTreeMap, BTreeSet};

use assize_job::{Action, Payload};

use crate::carried::CarriedModule;
use crate::module_files::canonical;

/// The modules to load first: the steps that every set-up begins with, up to the first one
/// that involves a module which some run loads from a file or with its own parameters;
/// then, subject to the same condition, the dependencies of modules that every run loads.
pub(super) fn first_steps(payload: &Payload, carried: &[CarriedModule]) -> Vec<Action> {
    let modules = PayloadModules { payload, carried };
    let alike = payload.first.iter().take_while(|step| match step {
        Action::Module { module, .. } => modules.is_alike(&canonical(module)),
        _ => false,
    });
    let mut first: Vec<Action> = alike.cloned().collect();
    let mut there: BTreeSet<String> = first.iter().filter_map(name_of).collect();
    for name in &payload.always {
        if there.contains(name) {
            continue;
        }
        for need in modules.needs_of_all(name) {
            if modules.is_alike(&need) && there.insert(need.clone()) {
                first.push(Action::Module {
                    module: need,
                    parameters: BTreeMap::new(),
                });
            }
        }
    }
    first
}

fn name_of(step: &Action) -> Option<String> {
    match step {
        Action::Module { module, .. } => Some(canonical(module)),
        _ => None,
    }
}

/// The payload's modules.
struct PayloadModules<'a> {
    payload: &'a Payload,
    carried: &'a [CarriedModule],
}

impl PayloadModules<'_> {
    /// The module that this name means if no step names a file.
    fn named(&self, name: &str) -> Option<&CarriedModule> {
        let mut named = self.carried.iter().filter(|one| one.source.is_none());
        named.find(|one| one.name == name)
    }

    /// Whether some run loads it from a file or with its own parameters.
    fn is_apart(&self, name: &str) -> bool {
        let mut beside = self.carried.iter().filter(|one| one.source.is_some());
        let is_varied = self.payload.varied.iter().any(|other| other == name);
        is_varied || beside.any(|one| one.name == name)
    }

    /// Whether all runs load it and its dependencies in the same way.
    fn is_alike(&self, name: &str) -> bool {
        let needs = self.named(name).map_or(&[][..], |one| &one.needs);
        !self.is_apart(name) && !needs.iter().any(|need| self.is_apart(need))
    }

    /// The dependencies, direct and indirect, that all modules of this name share.
    fn needs_of_all(&self, name: &str) -> BTreeSet<String> {
        let of_name = self.carried.iter().filter(|one| one.name == name);
        let needs = of_name.map(|one| {
            let direct = one.needs.iter();
            let further = direct.clone().filter_map(|need| self.named(need));
            let further = further.flat_map(|one| &one.needs);
            direct.chain(further).cloned().collect::<BTreeSet<_>>()
        });
        needs.reduce(|a, b| &a & &b).unwrap_or_default()
    }
}
