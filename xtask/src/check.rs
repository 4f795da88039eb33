//! The checks required before a commit (`make test`), and the additional ones of `make
//! test-all`.

use crate::Error;
use crate::command::{cargo, command, run as run_command, works};
use crate::steps::{Beside, Done, ROWS, Step, Taken, close, take_each};
use crate::{
    agent, assize, deny, docs, exact_soak, kernel_tests, kmod, lab, oracle, spelling, steps, test,
    tidy, trials,
};

/// Steps without requirements, which find mistakes within a minute; they come first.
const FIRST: &[Step] = &[
    Step::new("format", &[], format),
    Step::new("tidy", &["test"], tidy::step),
    Step::new("links", &[], docs::links_step),
    Step::new("spelling", &["test"], spelling::step),
];

/// Builds the program, which the lists below use.
const PROGRAM: &[Step] = &[Step::new("program", &[], assize::step)];

/// Steps that compile, one after the other, as cargo locks the target directory.
const COMPILED: &[Step] = &[
    Step::new("clippy", &[], clippy),
    Step::new("tests", &["run", "test"], test::quick),
];

/// Prerequisites of virtual machines, and a boot of each kind; runs in parallel with [`COMPILED`]
/// once the program is built.
const BOOTED: &[Step] = &[
    Step::new("agent", &[], agent::step),
    Step::new("machines", &["exact"], lab::machine),
    Step::new("sources", &["exact"], lab::sources),
    Step::new("modules", &["test"], kmod::newest),
    Step::new("sparse", &["test"], kmod::sparse),
    Step::new("checkpatch", &["test"], kmod::checkpatch),
    Step::new("kernel-doc", &["test"], kmod::kernel_doc),
    Step::new("suite", &[], kernel_tests::smoke),
    Step::new("levels", &[], trials::smoke),
    Step::new("boots", &["exact"], test::boots),
];

/// Steps that only `check-more` runs. On its two lists, which take about the same time, steps that
/// boot machines alternate with steps that compute.
const MACHINES: &[Step] = &[
    Step::new("kernels", &["exact", "run", "full"], lab::step),
    Step::new("all-modules", &["test"], kmod::step),
    Step::new("trials", &["full"], trials::step),
    Step::new("kernel-tests", &[], kernel_tests::step),
    Step::new("exact-soak", &[], exact_soak::step),
    Step::new("farm", &["full"], test::farm),
    Step::new("pages", &["full"], test::pages),
];

const OTHERS: &[Step] = &[
    Step::new("all-tests", &["full"], test::full),
    Step::new("oracle", &["full"], oracle::step),
    Step::new("clippy-tests", &[], clippy_tests),
    Step::new("docs", &[], docs::step),
    Step::new("deny", &["full"], deny::rules),
    Step::new("advisories", &["full"], deny::advisories),
];

fn all() -> impl Iterator<Item = &'static Step> {
    let lists = [FIRST, PROGRAM, COMPILED, BOOTED, MACHINES, OTHERS];
    lists.into_iter().flatten()
}

/// `cargo xtask check [STEP...]`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let named = |name: &String| {
        let found = all().find(|step| step.name == name);
        found.copied().ok_or_else(|| {
            let names: Vec<&str> = all().map(|step| step.name).collect();
            format!("{name}: no such step; there are {}", names.join(", "))
        })
    };
    let (rows, names) = match arguments {
        [option, file, names @ ..] if option == ROWS => (Some(file), names),
        names => (None, names),
    };
    let wanted: Vec<Step> = names.iter().map(named).collect::<Result<_, _>>()?;
    match rows {
        Some(file) => steps::keep(&take_each(&wanted), file),
        None if wanted.is_empty() => quick(),
        None => close(&take_each(&wanted)),
    }
}

/// `cargo xtask check-more`.
pub(crate) fn run_more(arguments: &[String]) -> Result<(), Error> {
    if let Some(word) = arguments.first() {
        return Err(format!("{word}: takes no arguments; see `check LANE...`"));
    }
    // Done before the lists start, as two parallel installations would wait for each other.
    steps::install(&["exact", "run", "test", "full"])?;
    let mut taken = take_each(PROGRAM);
    taken.extend(side_by_side(OTHERS, MACHINES));
    close(&taken)
}

/// The checks required before a commit.
fn quick() -> Result<(), Error> {
    let mut taken = take_each(FIRST);
    taken.extend(take_each(PROGRAM));
    taken.extend(side_by_side(COMPILED, BOOTED));
    close(&taken)
}

/// Runs two lists of steps in parallel.
fn side_by_side(these: &[Step], those: &[Step]) -> Vec<Taken> {
    let beside = Beside::start(those);
    let mut taken = take_each(these);
    taken.extend(Beside::end(beside));
    taken
}

fn format() -> Result<Done, Error> {
    if !works(cargo(), &["fmt", "--version"]) {
        return Ok(Done::Skipped("cargo fmt is not installed".into()));
    }
    run_command(command(cargo(), &["fmt", "--all", "--check"])?)?;
    Ok(Done::Ok)
}

/// Lints the program. [`clippy_tests`] compiles about as much again.
fn clippy() -> Result<Done, Error> {
    lint(&[])
}

fn clippy_tests() -> Result<Done, Error> {
    lint(&["--all-targets"])
}

fn lint(targets: &[&str]) -> Result<Done, Error> {
    if !works(cargo(), &["clippy", "--version"]) {
        return Ok(Done::Skipped("cargo clippy is not installed".into()));
    }
    let clippy = ["clippy", "--workspace", "--locked"];
    let denied = ["--", "-D", "warnings"];
    run_command(command(cargo(), &[&clippy[..], targets, &denied].concat())?)?;
    Ok(Done::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_does_not_exist_is_an_error() {
        let why = run(&["tidy".into(), "test".into()]).unwrap_err();
        assert!(
            why.starts_with("test: no such step; there are format, tidy,"),
            "{why}"
        );
    }

    #[test]
    fn every_step_has_a_name_of_its_own() {
        let mut names: Vec<&str> = all().map(|step| step.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
