//! The experiment that a change is tried with.

use std::path::{Path, PathBuf};

use assize_plan::Overrides;
use assize_target::testbed::Part;

use super::builds::{BASE, Builds};
use crate::failure::Failure;
use crate::shell;

/// Directory of the kernel to the experiment for it: its path in the sources of
/// this project, and its text.
const TABLE: &[(&str, &str, &str)] = &[(
    "drivers/gpu/drm/scheduler",
    "experiments/try/drm-scheduler.toml",
    include_str!("../../../../experiments/try/drm-scheduler.toml"),
)];
/// The factor whose levels are the sides.
pub(crate) const FACTOR: &str = "change";

/// An experiment without the levels of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Base {
    /// What messages call it.
    pub(crate) name: String,
    /// What it is called, and why it is this one.
    pub(crate) choice: String,
    /// Its title.
    pub(crate) title: String,
    /// The kernel that it asks for.
    pub(crate) kernel: String,
    /// Whether its runs are exact.
    pub(crate) exact: bool,
    /// Its text.
    pub(crate) text: String,
}

impl Base {
    /// The experiment that the user names, else the one for a part.
    pub(crate) fn of(named: Option<&Path>, part: &Part) -> Result<Base, Failure> {
        let (name, text, why) = match named {
            Some(path) => {
                let text = std::fs::read_to_string(path).map_err(|source| Failure::Read {
                    path: path.to_path_buf(),
                    source,
                })?;
                (shell::name_of(path), text, "as asked")
            }
            None => {
                let mut rows = TABLE.iter();
                let row = rows.find(|(directory, ..)| *directory == part.directory);
                let (_, name, text) = row.ok_or_else(|| {
                    Failure::Argument(format!(
                        "{}: no experiment is known for it; name one: --experiment FILE",
                        part.directory
                    ))
                })?;
                ((*name).to_owned(), (*text).to_owned(), "for this directory")
            }
        };
        let experiment = assize_plan::parse(&text, &name)?;
        let plan = experiment.plan(&Overrides::default())?;
        if !plan.factors.is_empty() {
            return Err(Failure::Argument(format!(
                "{name}: it has factors of its own, and the sides of a change are the only \
                 levels here; take those out, and set at the top what is wanted"
            )));
        }
        let machine = plan.configurations.first().map(|one| &one.machine);
        Ok(Base {
            choice: format!("{name} ({why}): {}", plan.title),
            title: plan.title.clone(),
            exact: plan.target == "exact",
            kernel: machine.map_or_else(String::new, |machine| machine.kernel.clone()),
            name,
            text,
        })
    }

    /// The experiment with a level for each side.
    pub(crate) fn with_levels(&self, builds: &Builds) -> Result<String, Failure> {
        let first = std::iter::once((BASE, &builds.base[..]));
        let rest = builds.levels();
        let sides = first.chain(rest.map(|(_, name, _, modules)| (name, modules)));
        with_sides(&self.text, sides)
    }
}

/// The text of an experiment with a level for each of these names and modules, the
/// baseline first.
pub(crate) fn with_sides<'m>(
    text: &str,
    sides: impl Iterator<Item = (&'m str, &'m [PathBuf])>,
) -> Result<String, Failure> {
    let mut text = text.to_owned();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str("\n# The sides of the change, base first.\n");
    for (name, modules) in sides {
        text.push_str(&level(name, modules)?);
    }
    Ok(text)
}

fn level(name: &str, modules: &[PathBuf]) -> Result<String, Failure> {
    let mut steps = Vec::new();
    for path in modules {
        let text = path.to_str().filter(|text| !text.contains(['\'', '\n']));
        let text = text.ok_or_else(|| {
            let why = "this path cannot stand in an experiment; set ASSIZE_CACHE to a plain one";
            Failure::Argument(format!("{}: {why}", path.display()))
        })?;
        steps.push(format!("{{ module = '{text}' }}"));
    }
    let steps = steps.join(", ");
    Ok(format!("[factors.{FACTOR}.{name}]\nsetup = [{steps}]\n"))
}

#[cfg(test)]
mod tests {
    use assize_target::testbed::PARTS;

    use super::*;

    #[test]
    fn every_part_has_an_experiment_that_can_be_planned() {
        for part in PARTS {
            let base = Base::of(None, part).unwrap();
            assert!(base.choice.contains(&base.title), "{}", base.choice);
            assert_eq!(base.kernel, "debian:6.12");
        }
    }

    #[test]
    fn the_embedded_text_is_the_file_of_its_name() {
        for (_, name, text) in TABLE {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
            assert_eq!(std::fs::read_to_string(root.join(name)).unwrap(), *text);
        }
    }

    #[test]
    fn levels_are_the_files_of_modules_in_their_order() {
        let text = level("p1", &["/x/gpu_sched.ko".into(), "/x/depq.ko".into()]).unwrap();
        assert_eq!(
            text,
            "[factors.change.p1]\n\
             setup = [{ module = '/x/gpu_sched.ko' }, { module = '/x/depq.ko' }]\n"
        );
        assert!(level("p1", &["/it's/x.ko".into()]).is_err());
    }

    #[test]
    fn an_experiment_with_factors_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("x.toml");
        let text = TABLE[0].2.to_owned() + "\n[factors.a.off]\n[factors.a.on]\ncpus = 2\n";
        std::fs::write(&file, text).unwrap();
        let error = Base::of(Some(&file), &PARTS[0]).unwrap_err().to_string();
        assert!(error.contains("it has factors of its own"), "{error}");
    }
}
