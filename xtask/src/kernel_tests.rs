//! The tests of the kernel modules, on the kernels that experiments use: the
//! suite inside the kernel, the user interface, the fuzzer, random graphs.

use std::fs;
use std::time::Instant;

use crate::command::{cargo, command, run as run_command};
use crate::debug::{Machine, Run, failed_points, list, points, programs};
use crate::steps::Done;
use crate::{Error, agent, kmod};

const KERNELS: &[&str] = &["debian:6.12", "debian:6.12-rt", "debian:7"];
const CPUS: &[u8] = &[1, 2];
/// In the order in which they are loaded.
const MODULES: &[&str] = &["depq", "depq_test", "simgpu"];

/// Repetitions that the suite makes in the light form, in percent.
const LIGHT_SCALE: u32 = 20;

/// On the clock of the guest, on which the graphs wait for each other: some
/// 50 ms for each graph on each variant.
const LIGHT_TIMEOUT: &str = "600s";
const HEAVY_TIMEOUT: &str = "120min";

/// A program, and its arguments in the light form and in the heavy one.
struct Test {
    name: &'static str,
    program: &'static str,
    light: &'static [&'static str],
    heavy: &'static [&'static str],
}

const TESTS: &[Test] = &[
    Test {
        name: "suite",
        program: "depq_test_run",
        light: &[],
        heavy: &[],
    },
    Test {
        name: "uapi",
        program: "simgpu_uapi",
        light: &["--unload", "simgpu.ko"],
        heavy: &["--unload", "simgpu.ko"],
    },
    Test {
        name: "fuzz",
        program: "simgpu_fuzz",
        light: &["1", "20000", "4"],
        heavy: &["1", "1000000", "4"],
    },
    Test {
        name: "graphs",
        program: "simgpu_graphs",
        light: &["1", "20"],
        heavy: &["1", "1000"],
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
    let kernels = if kernels.is_empty() {
        KERNELS
    } else {
        &kernels[..]
    };
    if let Some(unknown) = arguments
        .iter()
        .find(|word| word.starts_with("--") && !["--heavy", "--fresh"].contains(&word.as_str()))
    {
        return Err(format!("{unknown}: no such option"));
    }
    agent::run(&[])?;
    match on(kernels, has("--heavy"), has("--fresh"))? {
        Done::Ok => Ok(()),
        Done::Skipped(why) => Err(why),
    }
}

/// The step of `check`: the light form. Exact runs that were carried out
/// before, of the same modules and programs, are not carried out again.
pub(crate) fn step() -> Result<Done, Error> {
    on(KERNELS, false, false)
}

fn on(kernels: &[&str], heavy: bool, fresh: bool) -> Result<Done, Error> {
    // One that could not be fetched must not hide what is wrong on others.
    let (there, lacking) = split(kernels, &|kernel| kmod::headers(kernel).map(|_| ()));
    let lacking = match (there.is_empty(), lacking.is_empty()) {
        (true, _) => return Ok(Done::Skipped(lacking)),
        (false, true) => None,
        (false, false) => Some(format!("{lacking}; passed on {}", there.join(", "))),
    };
    let kernels = &there[..];
    run_command(command(
        cargo(),
        &["build", "--quiet", "--locked", "--package", "assize"],
    )?)?;
    let place = agent::target()?.join("kernel-tests");
    if place.exists() {
        fs::remove_dir_all(&place).map_err(|why| format!("{}: {why}", place.display()))?;
    }
    let programs = programs(&place)?;
    let machine = Machine {
        kernel: kernels.join(", "),
        place,
        assize: agent::target()?.join("debug/assize"),
        fresh,
    };
    let path = |name: &str| programs.join(name).display().to_string();
    let begun = Instant::now();
    let runs = machine.run("tests", &experiment(kernels, heavy, &path))?;
    judge(&runs, kernels.len() * CPUS.len() * TESTS.len())?;
    println!("{:.0} s", begun.elapsed().as_secs_f64());
    Ok(lacking.map_or(Done::Ok, Done::Skipped))
}

/// Kernels that are there, and why others are not.
fn split<'a>(
    kernels: &[&'a str],
    look: &dyn Fn(&str) -> Result<(), String>,
) -> (Vec<&'a str>, String) {
    let (mut there, mut lacking) = (Vec::new(), Vec::new());
    for kernel in kernels {
        match look(kernel) {
            Ok(()) => there.push(*kernel),
            Err(why) => lacking.push(format!("{kernel}: {why}")),
        }
    }
    (there, lacking.join("; "))
}

/// Every test on every kernel with every number of CPUs.
fn experiment(kernels: &[&str], heavy: bool, path: &dyn Fn(&str) -> String) -> String {
    let timeout = if heavy { HEAVY_TIMEOUT } else { LIGHT_TIMEOUT };
    let mut text = format!(
        "title = \"tests of the kernel modules\"\nruns = 1\nmemory = \"512M\"\n\
         timeout = {timeout:?}\ncommand_line = [\"loglevel=5\"]\n",
    );
    for module in MODULES {
        text += &format!("[[setup]]\nmodule = {module:?}\n");
        if *module == "depq_test" && !heavy {
            text += &format!("parameters = {{ scale = \"{LIGHT_SCALE}\" }}\n");
        }
    }
    let programs: Vec<String> = TESTS.iter().map(|test| path(test.program)).collect();
    text += &format!("[payload]\nprograms = {}\n", list(&programs));
    for kernel in kernels {
        text += &format!("[factors.kernel.{kernel:?}]\nkernel = {kernel:?}\n");
    }
    for cpus in CPUS {
        text += &format!("[factors.cpus.\"{cpus}\"]\ncpus = {cpus}\n");
    }
    for test in TESTS {
        let mut argv = vec![path("watch")];
        for module in MODULES.iter().rev() {
            argv.extend(["-u".into(), (*module).into()]);
        }
        argv.extend(["--".into(), path(test.program)]);
        let arguments = if heavy { test.heavy } else { test.light };
        argv.extend(arguments.iter().map(ToString::to_string));
        text += &format!("[workloads.{}]\nkind = \"command\"\n", test.name);
        text += &format!("argv = {}\n", list(&argv));
    }
    text
}

/// Says what became of each run, with what failed in it; an error if anything
/// did, or if a run is missing.
fn judge(runs: &[Run], wanted: usize) -> Result<(), Error> {
    let mut failures = 0;
    for run in runs {
        let (passed, failed, skipped) = points(&run.stdout);
        let mut problems: Vec<String> = run.failed.iter().cloned().collect();
        if problems.is_empty() {
            problems.extend(run.said.complained_of(None));
            if run.said.program != "exit 0" {
                problems.push(format!("it ended with {}", run.said.program));
            }
        }
        match (passed, failed) {
            (0, 0) => problems.push("no point was tried".into()),
            (_, 0) => {}
            _ => problems.push(format!("{failed} points failed")),
        }
        println!(
            "{:8} {:28} {passed} passed, {failed} failed, {skipped} skipped, {:.1} s of the guest",
            run.workload, run.configuration, run.guest_s
        );
        for line in skips(&run.stdout) {
            println!("    {line}");
        }
        if !problems.is_empty() {
            failures += 1;
            println!("{}", failed_points(&run.stdout));
        }
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

/// The reasons of what was skipped, each once.
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
        let text = experiment(KERNELS, false, &|name| format!("/p/{name}"));
        for test in TESTS {
            let argv = format!("\"--\", \"/p/{}\"", test.program);
            assert!(text.contains(&argv), "{text}");
        }
        assert_eq!(
            text.matches("[factors.").count(),
            KERNELS.len() + CPUS.len()
        );
    }

    #[test]
    fn a_kernel_that_is_not_here_is_told_and_the_others_are_tested() {
        let look = |kernel: &str| match kernel {
            "debian:7" => Err("no mirror".to_string()),
            _ => Ok(()),
        };
        let (there, lacking) = split(KERNELS, &look);
        assert_eq!(there, ["debian:6.12", "debian:6.12-rt"]);
        assert_eq!(lacking, "debian:7: no mirror");
    }

    #[test]
    fn a_run_that_is_missing_is_a_failure() {
        assert_eq!(judge(&[], 4).unwrap_err(), "0 of 4 runs are there");
    }
}
