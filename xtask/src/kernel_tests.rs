//! Tests of the kernel modules on the kernels that experiments use: the suite in the kernel, the
//! uapi tests, the fuzzer, and random graphs.

use std::time::Instant;

use crate::guest::{Machine, Run, list, points, programs, watched};
use crate::steps::Done;
use crate::{Error, agent, assize, files, kmod};

/// Kernels on which every design is tested.
const WHOLLY: &[&str] = &["debian:6.12"];
/// The same, where each design takes more CPU time.
const REAL_TIME: &[&str] = &["debian:6.12-rt"];
/// Kernels on which `check-more` tests only some designs: incompatible kernel interfaces show on
/// any design, and the behaviour of designs is tested on the kernels above.
const PARTLY: &[&str] = &["debian:7"];
/// The modules in load order.
const MODULES: &[&str] = &["depq", "depq_test", "simgpu"];

/// Limit on the guest's clock, which advances while the graphs wait: about 50 ms for each graph on
/// each variant.
const LIGHT_TIMEOUT: &str = "1200s";
const HEAVY_TIMEOUT: &str = "120min";

/// The extent of the tests on a kernel.
struct Form {
    name: &'static str,
    cpus: &'static [u8],
    timeout: &'static str,
    /// Parameters of the suite, if it is run: repetitions in percent, and the stride through the
    /// designs.
    suite: &'static str,
    /// The arguments for each of [`TESTS`].
    arguments: fn(&Test) -> &'static [&'static str],
}

const PART: Form = Form {
    name: "part",
    cpus: &[2],
    timeout: LIGHT_TIMEOUT,
    suite: "{ scale = \"20\", stride = \"13\" }",
    arguments: |test| test.part,
};
const LIGHT: Form = Form {
    name: "light",
    cpus: &[2],
    timeout: LIGHT_TIMEOUT,
    suite: "{ scale = \"20\" }",
    arguments: |test| test.light,
};
/// Some designs with one CPU. [`LIGHT`] tests every design with two CPUs, where more can go wrong.
const PART_ALONE: Form = Form {
    name: "part-1",
    cpus: &[1],
    ..PART
};
const PART_BOTH: Form = Form {
    name: "part-both",
    cpus: &[1, 2],
    ..PART
};
const HEAVY: Form = Form {
    name: "heavy",
    cpus: &[1, 2],
    timeout: HEAVY_TIMEOUT,
    suite: "",
    arguments: |test| test.heavy,
};

/// The tests of `check-more`.
const CHECKED: &[(&[&str], &Form)] = &[
    (WHOLLY, &LIGHT),
    (WHOLLY, &PART_ALONE),
    (REAL_TIME, &PART_BOTH),
    (PARTLY, &PART),
];

/// A program, and its arguments in each form.
struct Test {
    name: &'static str,
    program: &'static str,
    part: &'static [&'static str],
    light: &'static [&'static str],
    heavy: &'static [&'static str],
}

const TESTS: &[Test] = &[
    Test {
        name: "suite",
        program: "depq_test_run",
        part: &[],
        light: &[],
        heavy: &[],
    },
    Test {
        name: "uapi",
        program: "simgpu_uapi",
        part: &["--unload", "simgpu.ko"],
        light: &["--unload", "simgpu.ko"],
        heavy: &["--unload", "simgpu.ko"],
    },
    Test {
        name: "fuzz",
        program: "simgpu_fuzz",
        part: &["1", "20000", "4"],
        light: &["1", "20000", "4"],
        heavy: &["1", "1000000", "4"],
    },
    Test {
        name: "graphs",
        program: "simgpu_graphs",
        part: &["1", "2"],
        light: &["1", "20"],
        heavy: &["1", "1000"],
    },
    Test {
        name: "races",
        program: "simgpu_races",
        part: &["200"],
        light: &["1000"],
        heavy: &["12000"],
    },
];

/// `cargo xtask kernel-tests [--heavy] [--fresh] [KERNEL...]`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let has = |option: &str| arguments.iter().any(|argument| argument == option);
    let given: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let kernels: Vec<&str> = given
        .into_iter()
        .filter(|word| !word.starts_with("--"))
        .collect();
    if let Some(unknown) = arguments
        .iter()
        .find(|word| word.starts_with("--") && !["--heavy", "--fresh"].contains(&word.as_str()))
    {
        return Err(format!("{unknown}: no such option"));
    }
    agent::run(&[])?;
    let all = [WHOLLY, REAL_TIME, PARTLY].concat();
    let done = match (has("--heavy"), kernels.is_empty()) {
        (false, true) => on(CHECKED, has("--fresh"))?,
        (false, false) => on(
            &[(&kernels, &LIGHT), (&kernels, &PART_ALONE)],
            has("--fresh"),
        )?,
        (true, true) => on(&[(&all, &HEAVY)], has("--fresh"))?,
        (true, false) => on(&[(&kernels, &HEAVY)], has("--fresh"))?,
    };
    match done {
        Done::Ok | Done::Counted(_) => Ok(()),
        Done::Skipped(why) => Err(why),
    }
}

/// The step of `check`: some of the tests on one kernel.
pub(crate) fn smoke() -> Result<Done, Error> {
    on(&[(WHOLLY, &PART)], false)
}

/// The step of `check-more`: the light form or part of it, with cached runs of the same modules and
/// programs.
pub(crate) fn step() -> Result<Done, Error> {
    on(CHECKED, false)
}

/// Runs the tests on these kernels, each in its form.
fn on(wanted: &[(&[&str], &Form)], fresh: bool) -> Result<Done, Error> {
    // A kernel that cannot be fetched must not hide failures on the others.
    let look = |kernel: &str| kmod::headers(kernel).map(|_| ());
    let (mut parts, mut reasons) = (Vec::new(), Vec::new());
    for (kernels, form) in wanted {
        let (there, lacking) = split(kernels, &look);
        reasons.extend(lacking);
        if !there.is_empty() {
            parts.push((there, *form));
        }
    }
    if parts.is_empty() {
        return Ok(Done::Skipped(reasons.join("; ")));
    }
    let assize = assize::build()?;
    let place = files::scratch("kernel-tests")?;
    let programs = programs(&place)?;
    // Each form has a subdirectory.
    let path = |name: &str| programs.join(name).display().to_string();
    let begun = Instant::now();
    let (mut runs, mut count) = (Vec::new(), 0);
    for (kernels, form) in &parts {
        let machine = Machine {
            kernel: kernels.join(", "),
            place: place.clone(),
            assize: assize.clone(),
            fresh,
        };
        runs.extend(machine.run(form.name, &experiment(kernels, form, &path))?);
        count += kernels.len() * form.cpus.len() * TESTS.len();
    }
    judge(&runs, count)?;
    println!("{:.0} s", begun.elapsed().as_secs_f64());
    Ok(match reasons.is_empty() {
        true => Done::Ok,
        false => Done::Skipped(format!("{}; passed on the others", reasons.join("; "))),
    })
}

/// The available kernels, and the reasons why others are not.
fn split<'a>(
    kernels: &[&'a str],
    look: &dyn Fn(&str) -> Result<(), String>,
) -> (Vec<&'a str>, Vec<String>) {
    let (mut there, mut lacking) = (Vec::new(), Vec::new());
    for kernel in kernels {
        match look(kernel) {
            Ok(()) => there.push(*kernel),
            Err(why) => lacking.push(format!("{kernel}: {why}")),
        }
    }
    (there, lacking)
}

/// Every test on every kernel with every number of CPUs.
fn experiment(kernels: &[&str], form: &Form, path: &dyn Fn(&str) -> String) -> String {
    let mut text = format!(
        "title = \"tests of the kernel modules\"\nruns = 1\nmemory = \"512M\"\n\
         timeout = {:?}\ncommand_line = [\"loglevel=5\"]\n",
        form.timeout
    );
    for module in MODULES {
        text += &format!("[[setup]]\nmodule = {module:?}\n");
        if *module == "depq_test" && !form.suite.is_empty() {
            text += &format!("parameters = {}\n", form.suite);
        }
    }
    let programs: Vec<String> = TESTS.iter().map(|test| path(test.program)).collect();
    text += &format!("[payload]\nprograms = {}\n", list(&programs));
    for kernel in kernels {
        text += &format!("[factors.kernel.{kernel:?}]\nkernel = {kernel:?}\n");
    }
    for cpus in form.cpus {
        text += &format!("[factors.cpus.\"{cpus}\"]\ncpus = {cpus}\n");
    }
    for test in TESTS {
        let programs = [path("watch"), path(test.program)];
        text += &watched(test.name, MODULES, &[], programs, (form.arguments)(test));
    }
    text
}

/// Reports the result of each run with its failures; returns an error if there is a
/// failure or a run is missing.
fn judge(runs: &[Run], wanted: usize) -> Result<(), Error> {
    let mut failures = 0_usize;
    for run in runs {
        let (passed, failed, skipped) = points(&run.stdout);
        println!(
            "{:8} {:28} {passed} passed, {failed} failed, {skipped} skipped, {:.1} s of the guest",
            run.workload, run.configuration, run.guest_s
        );
        for line in skips(&run.stdout) {
            println!("    {line}");
        }
        let problems = run.problems(|said| said.complained_of(None));
        failures += usize::from(!problems.is_empty());
        for problem in problems {
            println!("    {problem}");
        }
    }
    if runs.len() != wanted {
        return Err(format!("{} of {wanted} runs are there", runs.len()));
    }
    match failures {
        0 => Ok(()),
        count => Err(format!("{count} of {wanted} runs failed; see above")),
    }
}

/// The reasons for skipped tests, each once.
fn skips(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.split_once("# SKIP"));
    let mut reasons: Vec<String> = lines
        .map(|(_, why)| format!("skipped: {}", why.trim()))
        .collect();
    reasons.sort();
    reasons.dedup();
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_to_skip_is_told_once() {
        let text = "ok 1 a # SKIP no e\nok 2 b\n    ok 3 c # SKIP no e\nok 4 d # SKIP x\n";
        assert_eq!(skips(text), ["skipped: no e", "skipped: x"]);
    }

    #[test]
    fn every_program_is_carried_and_started_by_watch() {
        let kernels = [WHOLLY, REAL_TIME].concat();
        let text = experiment(&kernels, &LIGHT, &|name| format!("/p/{name}"));
        for test in TESTS {
            let argv = format!("\"--\", \"/p/{}\"", test.program);
            assert!(text.contains(&argv), "{text}");
        }
        assert_eq!(
            text.matches("[factors.").count(),
            kernels.len() + LIGHT.cpus.len()
        );
    }

    #[test]
    fn a_kernel_that_is_not_here_is_told_and_the_others_are_tested() {
        let look = |kernel: &str| match kernel {
            "debian:7" => Err("no mirror".to_string()),
            _ => Ok(()),
        };
        let (there, lacking) = split(&["debian:6.12", "debian:7"], &look);
        assert_eq!(there, ["debian:6.12"]);
        assert_eq!(lacking, ["debian:7: no mirror"]);
    }

    #[test]
    fn every_design_is_tried_with_two_cpus_and_each_test_with_one_on_each_kind_of_kernel() {
        let forms_of = |kernel: &&str| -> Vec<&Form> {
            let with = CHECKED
                .iter()
                .filter(|(kernels, _)| kernels.contains(kernel));
            with.map(|(_, form)| *form).collect()
        };
        let with = |forms: &[&Form], cpus: u8, suite: &str| {
            forms
                .iter()
                .any(|form| form.cpus.contains(&cpus) && form.suite == suite)
        };
        for kernel in WHOLLY {
            assert!(with(&forms_of(kernel), 2, LIGHT.suite));
            assert!(with(&forms_of(kernel), 1, PART.suite));
        }
        for kernel in REAL_TIME {
            assert!(with(&forms_of(kernel), 2, PART.suite));
            assert!(with(&forms_of(kernel), 1, PART.suite));
        }
        assert!(!LIGHT.suite.contains("stride"));
    }

    #[test]
    fn a_run_that_is_missing_is_a_failure() {
        assert_eq!(judge(&[], 4).unwrap_err(), "0 of 4 runs are there");
    }
}
