//! Replaces the names of the testbed's modules in jobs with their files, for a machine that is
//! already running.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assize_job::{Action, Job, Order};

use super::Testbed;
use crate::Error;
use crate::elf::modinfo;
use crate::fault::read;
use crate::module_files::canonical;
use crate::needs::is_file;

impl Testbed {
    /// The testbed's modules that these orders name.
    pub(crate) fn named_modules<'a>(&self, orders: &'a [Order]) -> Vec<&'a str> {
        let actions = orders.iter().flat_map(|order| {
            let actions = order.job.setup.iter().chain(&order.job.teardown);
            actions.filter_map(|action| match action {
                Action::Module { module, .. } => Some(module),
                _ => None,
            })
        });
        let payload = orders.iter().flat_map(|order| &order.payload.modules);
        let names = payload.chain(actions).map(String::as_str);
        names
            .filter(|name| !is_file(name) && self.has(&canonical(name)))
            .collect()
    }
}

/// Files of built modules, and their dependencies on each other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct BuiltModules {
    paths: BTreeMap<String, PathBuf>,
    needs: BTreeMap<String, Vec<String>>,
}

impl BuiltModules {
    /// Reads the dependencies of these modules.
    pub(crate) fn with_dependencies(paths: BTreeMap<String, PathBuf>) -> Result<Self, Error> {
        let mut needs = BTreeMap::new();
        for (name, path) in &paths {
            let facts = modinfo(path, &read(path)?)?;
            let depends = facts.iter().filter(|(key, _)| key == "depends");
            let names = depends.flat_map(|(_, value)| value.split(','));
            let ours = names.map(canonical).filter(|need| paths.contains_key(need));
            needs.insert(name.clone(), ours.collect());
        }
        Ok(BuiltModules { paths, needs })
    }

    /// The job with the names of the testbed's modules replaced by paths, each after its
    /// dependencies.
    pub(crate) fn placed(&self, job: &Job) -> Job {
        let mut job = job.clone();
        job.setup = self.actions(&job.setup);
        job.teardown = self.actions(&job.teardown);
        job
    }

    fn actions(&self, actions: &[Action]) -> Vec<Action> {
        let mut placed = Vec::new();
        for action in actions {
            match action {
                Action::Module { module, parameters } if !is_file(module) => {
                    let name = canonical(module);
                    self.before(&name, &mut placed);
                    placed.push(Action::Module {
                        module: self.path(&name).unwrap_or_else(|| module.clone()),
                        parameters: parameters.clone(),
                    });
                }
                other => placed.push(other.clone()),
            }
        }
        placed
    }

    fn path(&self, name: &str) -> Option<String> {
        let path = self.paths.get(name)?;
        Some(path.to_string_lossy().into_owned())
    }

    /// Adds the dependencies of a module to `placed` unless they are there already. There are no
    /// cycles, because modules that depend on each other could not be loaded.
    fn before(&self, name: &str, placed: &mut Vec<Action>) {
        for need in self.needs.get(name).into_iter().flatten() {
            self.before(need, placed);
            let Some(module) = self.path(need) else {
                continue;
            };
            let is = |action: &Action| matches!(action, Action::Module { module: it, .. } if *it == module);
            if !placed.iter().any(is) {
                placed.push(Action::Module {
                    module,
                    parameters: BTreeMap::new(),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::tests::module;

    fn action(module: &str) -> Action {
        Action::Module {
            module: module.into(),
            parameters: BTreeMap::new(),
        }
    }

    #[test]
    fn modules_of_ours_are_loaded_from_their_files_after_what_they_need() {
        let place = tempfile::tempdir().unwrap();
        let mut paths = BTreeMap::new();
        for (name, depends) in [("low", ""), ("mid", "low"), ("high", "drm,mid,low")] {
            let path = place.path().join(format!("{name}.ko"));
            std::fs::write(&path, module(&[&format!("depends={depends}")])).unwrap();
            paths.insert(name.to_string(), path);
        }
        let files = BuiltModules::with_dependencies(paths).unwrap();
        let job = Job {
            setup: vec![action("drm"), action("mid"), action("high")],
            teardown: vec![action("/x/low.ko")],
            ..Job::default()
        };
        let ours = |name: &str| action(&place.path().join(name).to_string_lossy());
        let placed = files.placed(&job);
        assert_eq!(
            placed.setup,
            [
                action("drm"),
                ours("low.ko"),
                ours("mid.ko"),
                ours("high.ko")
            ]
        );
        assert_eq!(placed.teardown, [action("/x/low.ko")]);
    }

    #[test]
    fn only_names_ask_for_our_modules() {
        let testbed =
            Testbed::with_files("/nowhere".as_ref(), &[("Kbuild", "obj-m += low-er.o\n")]);
        let order = |module: &str| Order {
            job: Job {
                setup: vec![action(module)],
                ..Job::default()
            },
            ..Order::default()
        };
        assert_eq!(testbed.named_modules(&[order("low-er")]), ["low-er"]);
        assert_eq!(testbed.named_modules(&[order("low_er")]), ["low_er"]);
        assert!(
            testbed
                .named_modules(&[order("/x/low-er.ko"), order("drm")])
                .is_empty()
        );
    }
}
