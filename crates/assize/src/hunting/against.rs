//! The sides of a hunt: modules or a kernel as they are named, or what is built of a change.

use std::path::Path;

use crate::cli::HuntArguments;
use crate::commands::quoted;
use crate::failure::Failure;
use crate::trying::experiment::{BaseExperiment, with_sides};
use crate::trying::source::ChangeOptions;
use crate::trying::{BuildOptions, BuiltChange};

/// The text of an experiment with a level for each side, and the kernel of all sides, if it is
/// not the experiment's.
pub(super) struct Sides {
    pub(super) text: String,
    pub(super) kernel: Option<String>,
}

impl Sides {
    /// The sides that `--against` asks for.
    pub(super) fn new(
        name: &str,
        text: String,
        arguments: &HuntArguments,
    ) -> Result<Sides, Failure> {
        let text = match &arguments.against[..] {
            [patch] if is_patch(patch) => return of_patch(name, text, patch, arguments),
            _ if arguments.base.is_some() => {
                let why = "hunt: --base: is only for --against PATCH";
                return Err(Failure::Argument(why.into()));
            }
            [] => text,
            [kernel] if !is_module(kernel) => {
                let after = format!("kernel = {}", quoted(kernel));
                with_sides(
                    &text,
                    &[("before", setup(&arguments.module)?), ("after", after)],
                )
            }
            modules if modules.iter().all(|one| is_module(one)) => {
                let before = setup(&arguments.module)?;
                with_sides(&text, &[("before", before), ("after", setup(modules)?)])
            }
            _ => {
                let why = "hunt: --against: give one kernel, one patch, or only modules (.ko)";
                return Err(Failure::Argument(why.into()));
            }
        };
        let kernel = arguments.kernel.clone();
        Ok(Sides { text, kernel })
    }

    /// The sides of a change.
    pub(super) fn of_change(built: &BuiltChange) -> Result<Sides, Failure> {
        Ok(Sides {
            text: built.base.with_levels(&built.sides.builds)?,
            kernel: built.sides.kernel.clone(),
        })
    }
}

/// Whether a side is what `--module` loads instead of something that all sides load.
pub(super) fn replaces_modules(against: &[String]) -> bool {
    against.iter().any(|one| !is_patch(one))
}

fn of_patch(
    name: &str,
    text: String,
    patch: &str,
    arguments: &HuntArguments,
) -> Result<Sides, Failure> {
    let asked = ChangeOptions {
        range: None,
        patch: Some(Path::new(patch)),
        base: arguments.base.as_deref(),
    };
    let options = BuildOptions {
        base: arguments.base.as_deref(),
        kernel: arguments.kernel.as_deref(),
        each: false,
        sandbox: &arguments.sandbox,
    };
    let built = BuiltChange::new(&asked, &options, arguments.quiet, |_| {
        BaseExperiment::of_text(name.to_owned(), text, "as asked")
    })?;
    if !built.differs() {
        let why = "hunt: what is built is the same with and without the change";
        return Err(Failure::Argument(why.into()));
    }
    Sides::of_change(&built)
}

/// A patch is a file, or standard input.
fn is_patch(name: &str) -> bool {
    name == "-" || (!is_module(name) && Path::new(name).is_file())
}

fn is_module(name: &str) -> bool {
    name.ends_with(".ko")
}

/// The setting that loads these modules; empty for none.
pub(super) fn setup(modules: &[String]) -> Result<String, Failure> {
    if modules.is_empty() {
        return Ok(String::new());
    }
    let steps = modules.iter().map(|module| {
        let path = if is_module(module) {
            absolute(module)?
        } else {
            module.clone()
        };
        Ok(format!("{{ module = {} }}", quoted(&path)))
    });
    let steps = steps.collect::<Result<Vec<_>, Failure>>()?;
    Ok(format!("setup = [{}]", steps.join(", ")))
}

pub(super) fn absolute(path: &str) -> Result<String, Failure> {
    let found = std::fs::canonicalize(path).map_err(|source| Failure::Read {
        path: path.into(),
        source,
    })?;
    Ok(found.to_string_lossy().into_owned())
}
