//! Runs the planted bugs and the tests on one kernel, each in a separate boot, as
//! experiments.

use std::path::Path;

use super::build::module;
use super::kinds::{Kind, LEAK, MODULES, SCALE, STRIDE, TESTS, Test};
use xtask::Error;
use xtask::guest::{Machine, Run, list, points, watched};

/// Time limit of a run, on the guest's clock; the host's limit follows from it.
const TIMEOUT: &str = "1800s";

/// The result of a planted bug.
pub(super) struct Planted {
    pub(super) bug: &'static str,
    pub(super) words: &'static str,
    /// Why the bug does not count as reported; `None` if it does.
    pub(super) problem: Option<String>,
}

/// The result of a test.
pub(super) struct Tried {
    pub(super) test: &'static Test,
    /// Numbers of points passed, failed and skipped.
    pub(super) points: (u64, u64, u64),
    /// Duration in seconds of the guest's clock.
    pub(super) guest_s: f64,
    /// Races that were reported in other parts of the kernel.
    pub(super) elsewhere: Vec<String>,
    pub(super) problems: Vec<String>,
}

/// Runs the kernel without a planted bug, which must be silent, and then with each bug, which it
/// must report.
pub(super) fn plant(
    machine: &Machine,
    kind: &Kind,
    modules: &Path,
    programs: &Path,
) -> Result<Vec<Planted>, Error> {
    let planted = module(modules, "planted")?;
    let mut text = head(machine, "planted bugs", kind);
    text += "[workloads.watch]\nkind = \"command\"\n";
    let mut argv = vec![programs.join("watch").display().to_string()];
    argv.extend(["-u".into(), "planted".into()]);
    if kind.leaks {
        argv.push("-l".into());
    }
    text += &format!("argv = {}\n", list(&argv));
    let none = ("none", "");
    for (bug, _) in std::iter::once(&none).chain(kind.planted) {
        text += &format!(
            "[factors.bug.{bug}]\nsetup = [{{ module = {:?}, parameters = {{ bug = {bug:?} }} }}]\n",
            planted.display().to_string()
        );
    }
    let runs = machine.run("planted", &text)?;
    let find = |bug: &str| runs.iter().find(|run| run.configuration == bug);
    let mut all = vec![Planted {
        bug: "none",
        words: "",
        problem: find("none").map_or(Some("was not run".into()), |run| silent(run, kind)),
    }];
    for (bug, words) in kind.planted {
        let problem = find(bug).map_or(Some("was not run".into()), |run| unheard(run, words));
        all.push(Planted {
            bug,
            words,
            problem,
        });
    }
    for one in &all {
        let outcome = one.problem.as_deref().unwrap_or("ok");
        println!("planted {:<24} {outcome}", one.bug);
    }
    Ok(all)
}

/// Why the kernel without a planted bug was not silent; `None` if it was.
fn silent(run: &Run, kind: &Kind) -> Option<String> {
    let mut problems = run
        .said
        .problems(kind.leaks, kind.others.then_some(&["planted"]));
    problems.extend(run.failed.clone());
    (!problems.is_empty()).then(|| problems.join("; "))
}

/// Why a planted bug does not count as reported; `None` if it does.
fn unheard(run: &Run, words: &str) -> Option<String> {
    if let Some(why) = &run.failed {
        return Some(why.clone());
    }
    let heard = match words {
        LEAK => run.said.leaks.is_some_and(|leaks| leaks > 0),
        _ => run.said.complained(words),
    };
    (!heard).then(|| "the kernel did not report it".into())
}

/// Runs all tests that apply to this kind of kernel.
pub(super) fn try_all(
    machine: &Machine,
    kind: &Kind,
    modules: &Path,
    programs: &Path,
) -> Result<Vec<Tried>, Error> {
    let tests: Vec<&'static Test> = TESTS.iter().filter(|test| test.is_for(kind)).collect();
    let path = |name: &str| programs.join(name).display().to_string();
    let mut text = head(machine, "tests", kind);
    for name in MODULES {
        let path = module(modules, name)?.display().to_string();
        text += &format!("[[setup]]\nmodule = {path:?}\n");
        if *name == "depq_test" {
            text += &format!("parameters = {{ scale = \"{SCALE}\", stride = \"{STRIDE}\" }}\n");
        }
    }
    for (file, value) in FAILSLAB {
        text += &format!("[[setup]]\nwrite = \"/sys/kernel/debug/failslab/{file}\"\n");
        text += &format!("value = {value:?}\n");
    }
    for test in &tests {
        let leaks = kind.leaks.then_some("-l");
        let options: Vec<&str> = leaks
            .into_iter()
            .chain(test.failslab.then_some("-f"))
            .collect();
        let programs = [path("watch"), path(test.program)];
        text += &watched(test.name, MODULES, &options, programs, test.arguments);
    }
    let carried: Vec<String> = tests.iter().map(|test| path(test.program)).collect();
    text += &format!("[payload]\nprograms = {}\n", list(&carried));
    let runs = machine.run("tests", &text)?;
    Ok(tests
        .into_iter()
        .map(|test| {
            tried(
                test,
                runs.iter().find(|run| run.workload == test.name),
                kind,
            )
        })
        .collect())
}

/// Settings of failslab. They affect only programs that ask for it (`watch -f`); allocations for
/// starting a program never fail.
const FAILSLAB: &[(&str, &str)] = &[
    ("task-filter", "Y"),
    ("ignore-gfp-wait", "N"),
    ("verbose", "0"),
    ("probability", "2"),
    ("interval", "1"),
    ("space", "400000"),
    ("times", "-1"),
];

fn tried(test: &'static Test, run: Option<&Run>, kind: &Kind) -> Tried {
    let ours = kind.others.then_some(MODULES);
    println!("\n{} on {}", test.name, kind.name);
    let mut tried = Tried {
        test,
        points: (0, 0, 0),
        guest_s: 0.0,
        elsewhere: Vec::new(),
        problems: Vec::new(),
    };
    let Some(run) = run else {
        tried.problems.push("was not run".into());
        return tried;
    };
    tried.points = points(&run.stdout);
    tried.guest_s = run.guest_s;
    tried.problems = run.problems(|said| said.problems(kind.leaks, ours));
    if let Some(ours) = ours {
        let lines = run.said.elsewhere(ours);
        tried
            .elsewhere
            .extend(lines.into_iter().map(str::to_string));
    }
    for problem in &tried.problems {
        println!("{}: {problem}", test.name);
    }
    let (passed, failed, skipped) = tried.points;
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    tried
}

fn head(machine: &Machine, what: &str, kind: &Kind) -> String {
    let mut text = format!(
        "title = \"{what}\"\nquestion = \"What does {kernel} say?\"\nkernel = \"{kernel}\"\n\
         runs = 1\ncpus = 2\nmemory = \"1G\"\ntimeout = \"{TIMEOUT}\"\n\
         command_line = [\"loglevel=5\"]\n",
        kernel = machine.kernel,
    );
    if kind.leaks {
        // Forgets earlier leaks, which are not those of the test.
        text += "[[setup]]\nwrite = \"/sys/kernel/debug/kmemleak\"\nvalue = \"clear\"\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use xtask::guest::Said;

    fn run(stderr: &str) -> Run {
        Run {
            configuration: "x".into(),
            workload: "watch".into(),
            stdout: "ok 1 a\n".into(),
            said: Said::read(stderr),
            guest_s: 1.0,
            failed: None,
        }
    }

    const WELL: &str = "watch: program exit 0\nwatch: lockdep 1\nwatch: leaks 0\nwatch: end\n";

    #[test]
    fn a_planted_bug_must_be_reported_in_its_words() {
        let said = format!("kernel: BUG: KASAN: slab-use-after-free in planted_x\n{WELL}");
        assert!(unheard(&run(&said), "KASAN: slab-use-after-free in planted").is_none());
        assert!(unheard(&run(&said), "KASAN: slab-out-of-bounds in planted").is_some());
        assert!(unheard(&run(WELL), LEAK).is_some());
        let leaked = WELL.replace("leaks 0", "leaks 16");
        assert!(unheard(&run(&leaked), LEAK).is_none());
    }

    #[test]
    fn a_test_must_have_tried_something_and_ended_well() {
        let kind = &super::super::kinds::KINDS[0];
        let problems = |run: Option<&Run>| tried(&TESTS[0], run, kind).problems;
        assert!(problems(Some(&run(WELL))).is_empty());
        assert_eq!(problems(None), ["was not run"]);
        let mut silent = run(WELL);
        silent.stdout.clear();
        assert_eq!(problems(Some(&silent)), ["no point was tried"]);
        let mut bad = run(&WELL.replace("exit 0", "exit 1"));
        bad.stdout = "not ok 1 a\n".into();
        assert_eq!(problems(Some(&bad)).len(), 2);
    }
}
