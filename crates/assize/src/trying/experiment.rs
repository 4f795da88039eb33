//! The experiment that tests a change.

use std::path::{Path, PathBuf};

use super::builds::{BuildProduct, CommitBuilds};
use super::touched::BuildScope;
use crate::cli::Scheduler;
use crate::failure::Failure;
use crate::{run, shell};
use assize_plan::Overrides;

/// For each directory of the kernel, its experiment: the path in the sources of this
/// project, and the text.
const TABLE: &[(&str, &str, &str)] = &[(
    "drivers/gpu/drm/scheduler",
    "experiments/try/drm-scheduler.toml",
    include_str!("../../../../experiments/try/drm-scheduler.toml"),
)];
/// The experiment for code that the whole kernel depends on, and the path prefixes of
/// such code.
const KERNEL: (&str, &str) = (
    "experiments/try/kernel.toml",
    include_str!("../../../../experiments/try/kernel.toml"),
);
const CORE: &[&str] = &[
    "arch/x86/entry/",
    "arch/x86/kernel/",
    "include/linux/sched",
    "include/linux/workqueue",
    "kernel/fork.c",
    "kernel/futex/",
    "kernel/irq/",
    "kernel/irq_work.c",
    "kernel/kthread.c",
    "kernel/locking/",
    "kernel/rcu/",
    "kernel/sched/",
    "kernel/smp.c",
    "kernel/softirq.c",
    "kernel/stop_machine.c",
    "kernel/time/",
    "kernel/workqueue",
];
/// The factor whose levels are the sides.
pub(crate) const FACTOR: &str = "change";

/// An experiment without the levels of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BaseExperiment {
    /// The name for messages.
    pub(crate) name: String,
    /// The name for reports, and why this experiment was chosen.
    pub(crate) choice: String,
    pub(crate) title: String,
    /// The kernel that it requests.
    pub(crate) kernel: String,
    /// Where it runs.
    pub(crate) target: String,
    pub(crate) text: String,
}

impl BaseExperiment {
    /// The experiment that the user names, otherwise the one for what is built.
    pub(crate) fn named_or_for(
        named: Option<&Path>,
        scope: &BuildScope,
    ) -> Result<BaseExperiment, Failure> {
        let (name, text, why) = match named {
            Some(path) => {
                let text = std::fs::read_to_string(path).map_err(|source| Failure::Read {
                    path: path.to_path_buf(),
                    source,
                })?;
                (shell::name_of(path), text, "as asked")
            }
            None => {
                let (name, text) = known_experiment(scope)?;
                (name.to_owned(), text.to_owned(), "for this directory")
            }
        };
        BaseExperiment::of_text(name, text, why)
    }

    /// The experiment with this text, and why it was chosen.
    pub(crate) fn of_text(name: String, text: String, why: &str) -> Result<Self, Failure> {
        let experiment = assize_plan::parse(&text, &name)?;
        let plan = experiment.plan(&Overrides::default())?;
        if !plan.factors.is_empty() {
            return Err(Failure::Argument(format!(
                "{name}: it has factors, but here the only levels are the sides of the change; \
                 remove the factors, and set their keys at the top"
            )));
        }
        let machine = plan.configurations.first().map(|one| &one.machine);
        Ok(BaseExperiment {
            choice: format!("{name} ({why}): {}", plan.title),
            title: plan.title.clone(),
            target: plan.target,
            kernel: machine.map_or_else(String::new, |machine| machine.kernel.clone()),
            name,
            text,
        })
    }

    /// Whether its runs are exact.
    pub(crate) fn is_exact(&self) -> bool {
        self.target == "exact"
    }

    /// Fails if this scheduler cannot execute its runs.
    pub(crate) fn can_run_on(&self, scheduler: Option<Scheduler>) -> Result<(), Failure> {
        scheduler.map_or(Ok(()), |_| run::must_be_exact(&self.target))
    }

    /// The experiment with a level for each side.
    pub(crate) fn with_levels(&self, builds: &CommitBuilds) -> Result<String, Failure> {
        let mut sides = Vec::new();
        for (name, made) in builds.levels() {
            sides.push((name, setting(made)?));
        }
        Ok(with_sides(&self.text, &sides))
    }
}

/// The known experiment for what is built: path and text.
fn known_experiment(scope: &BuildScope) -> Result<(&'static str, &'static str), Failure> {
    let (found, path) = match scope {
        BuildScope::Modules(part) => {
            let mut rows = TABLE.iter();
            let row = rows.find(|(directory, ..)| *directory == part.directory);
            (row.map(|(_, name, text)| (*name, *text)), part.directory)
        }
        BuildScope::Kernel(file) => {
            let is_core = CORE.iter().any(|start| file.starts_with(start));
            (is_core.then_some(KERNEL), file.as_str())
        }
    };
    found.ok_or_else(|| {
        let why = "no experiment for this file is known; name one that exercises it: --experiment \
                   FILE";
        Failure::Argument(format!("{path}: {why}"))
    })
}

/// Adds a level for each of these names and settings to the text of an experiment, the
/// baseline first.
pub(crate) fn with_sides(text: &str, sides: &[(&str, String)]) -> String {
    let mut text = text.to_owned();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str("\n# The sides of the change, base first.\n");
    for (name, setting) in sides {
        text.push_str(&format!("[factors.{FACTOR}.{name}]\n{setting}\n"));
    }
    text
}

/// The setting of a level that makes it run this build.
pub(crate) fn setting(made: &BuildProduct) -> Result<String, Failure> {
    match made {
        BuildProduct::Modules(modules) => loading(modules),
        BuildProduct::Kernel(kernel) => Ok(format!("kernel = '{}'", kernel.name)),
    }
}

/// The setting of a level that loads these modules.
fn loading(modules: &[PathBuf]) -> Result<String, Failure> {
    let mut steps = Vec::new();
    for path in modules {
        let text = path.to_str().filter(|text| !text.contains(['\'', '\n']));
        let text = text.ok_or_else(|| {
            let why = "this path cannot be used in an experiment; set ASSIZE_CACHE to a plain one";
            Failure::Argument(format!("{}: {why}", path.display()))
        })?;
        steps.push(format!("{{ module = '{text}' }}"));
    }
    let steps = steps.join(", ");
    Ok(format!("setup = [{steps}]"))
}

#[cfg(test)]
mod tests {
    use assize_target::testbed::PARTS;

    use super::super::builds::BASE;
    use super::*;

    #[test]
    fn every_part_has_an_experiment_that_can_be_planned() {
        for part in PARTS {
            let base = BaseExperiment::named_or_for(None, &BuildScope::Modules(part)).unwrap();
            assert!(base.choice.contains(&base.title), "{}", base.choice);
            assert_eq!(base.kernel, "debian:6.12");
        }
    }

    #[test]
    fn the_embedded_text_is_the_file_of_its_name() {
        let table = TABLE.iter().map(|(_, name, text)| (name, text));
        for (name, text) in table.chain([(&KERNEL.0, &KERNEL.1)]) {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
            assert_eq!(std::fs::read_to_string(root.join(name)).unwrap(), *text);
        }
    }

    #[test]
    fn levels_are_the_files_of_modules_in_their_order() {
        let setting = loading(&["/x/gpu_sched.ko".into(), "/x/depq.ko".into()]).unwrap();
        assert_eq!(
            with_sides("runs = 6", &[("p1", setting)]),
            "runs = 6\n\n# The sides of the change, base first.\n[factors.change.p1]\n\
             setup = [{ module = '/x/gpu_sched.ko' }, { module = '/x/depq.ko' }]\n"
        );
        assert!(loading(&["/it's/x.ko".into()]).is_err());
    }

    #[test]
    fn each_side_runs_the_kernel_that_was_built_of_it() {
        let kernel = |name: &str| {
            let kernel = assize_target::kernels::Kernel {
                trusted: false,
                name: name.into(),
                version: "6.12.0.0123abcd".into(),
                release: "6.12.0".into(),
                image: "/k/vmlinuz".into(),
                modules: None,
                config: None,
                headers: None,
                compiler: None,
                digest: name.into(),
            };
            setting(&BuildProduct::Kernel(Box::new(kernel))).unwrap()
        };
        let sides = [(BASE, kernel("try-0")), ("p1", kernel("try-1"))];
        let text = with_sides(KERNEL.1, &sides);
        let experiment = assize_plan::parse(&text, "x.toml").unwrap();
        let plan = experiment.plan(&Overrides::default()).unwrap();
        let of = |at: usize| plan.configurations[at].machine.kernel.as_str();
        assert_eq!((of(0), of(1)), ("try-0", "try-1"));
    }

    #[test]
    fn an_experiment_with_factors_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("x.toml");
        let text = TABLE[0].2.to_owned() + "\n[factors.a.off]\n[factors.a.on]\ncpus = 2\n";
        std::fs::write(&file, text).unwrap();
        let scope = BuildScope::Modules(&PARTS[0]);
        let error = BaseExperiment::named_or_for(Some(&file), &scope)
            .unwrap_err()
            .to_string();
        assert!(error.contains("it has factors"), "{error}");
    }

    #[test]
    fn a_file_of_the_core_has_an_experiment_and_others_want_one_named() {
        let of = |path: &str| BaseExperiment::named_or_for(None, &BuildScope::Kernel(path.into()));
        for path in ["kernel/sched/fair.c", "kernel/workqueue.c"] {
            assert!(of(path).unwrap().choice.contains(KERNEL.0), "{path}");
        }
        for path in ["net/core/dev.c", "kernel/schedule.c"] {
            let error = of(path).unwrap_err().to_string();
            assert!(error.contains("--experiment FILE"), "{error}");
        }
    }
}
