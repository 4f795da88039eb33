//! Attribution of instructions: a planted loop is found with its exact count, the same run twice
//! shows no difference, and runs that do not match the bundle are refused.

#[path = "why/caches.rs"]
mod caches;
#[path = "why/programs.rs"]
mod programs;

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Outcome, assize, carry_out_printed, command, document, errors, printed};
use assize_target::exact::TASK_FIELDS;
use assize_target::kernels::Kernels;
use assize_target::testbed;
use serde_json::Value;

const KERNEL: &str = "debian:6.12";

/// A loop of 200,000 instructions: one, 99,999 times two, and one.
const SOURCE: &str = r#"// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sysfs.h>

void planted_loop(void);
asm(".text\n"
    ".globl planted_loop\n"
    ".type planted_loop, @function\n"
    "planted_loop:\n"
    "	mov $99999, %ecx\n"
    "1:	dec %ecx\n"
    "	jnz 1b\n"
    "	ret\n"
    ".size planted_loop, . - planted_loop\n");

static uint times;
module_param(times, uint, 0444);

static int planted_get(char *buffer, const struct kernel_param *parameter)
{
	uint i;

	for (i = 0; i < times; i++)
		planted_loop();
	return sysfs_emit(buffer, "done\n");
}

static const struct kernel_param_ops planted_ops = {
	.get = planted_get,
};
module_param_cb(run, &planted_ops, NULL, 0444);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("a loop of 200,000 instructions");
"#;

crate::common::tests! {
    needs ["agent", "QEMU", "kernel debian:6.12", "modules for debian:6.12"];
    a_planted_loop_is_named_first_with_its_count = planted,
    a_loop_planted_in_a_program_or_library_is_named_first = programs::loops,
    two_cpus_are_counted_too = two_cpus,
    a_thread_that_renames_itself_and_moves_is_one_thread = programs::renamed,
    the_compiler_says_of_tasks_what_the_types_of_a_kernel_say = offsets,
    a_planted_walk_misses_what_it_must = caches::walks,
    lines_that_two_cpus_write_in_turn_are_transferred = caches::turns,
}

/// Builds the module in this directory.
fn module(directory: &Path) {
    let kernels = Kernels::new(Kernels::default_root().unwrap());
    let kernel = kernels.resolve(KERNEL).unwrap();
    fs::write(directory.join("planted.c"), SOURCE).unwrap();
    // The loop is not a C function, which objtool would report.
    let text = "OBJECT_FILES_NON_STANDARD := y\nobj-m := planted.o\n";
    fs::write(directory.join("Kbuild"), text).unwrap();
    let done = Command::new("make")
        .arg("-C")
        .arg(kernel.headers.as_deref().unwrap())
        .arg(format!("M={}", directory.display()))
        .arg("modules")
        .env("PATH", testbed::path(&kernel).unwrap())
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", errors(&done));
}

/// An experiment of one run for each configuration, and its bundle.
fn bundle(directory: &Path, experiment: &str, name: &str) {
    fs::write(directory.join("experiment.toml"), experiment).unwrap();
    let done = ["run", "--quiet", "experiment.toml", "--out", name];
    printed(directory, &done);
}

fn rows<'a>(why: &'a Value, table: &str) -> Vec<(&'a str, f64)> {
    let all = why[table].as_array().unwrap().iter();
    let row = |row: &'a Value| {
        let name = row["name"].as_str().unwrap();
        (name, row["difference"].as_f64().unwrap())
    };
    all.map(row).collect()
}

/// Checks that the rows of each table add up to the whole difference.
fn adds_up(why: &Value) {
    let whole = why["total"]["difference"].as_f64().unwrap();
    for table in ["threads", "subsystems", "functions"] {
        let sum: f64 = rows(why, table).iter().map(|(_, value)| value).sum();
        assert!((sum - whole).abs() < 1e-3, "{table}: {sum} and {whole}");
    }
    let account = &why["account"];
    assert_eq!(account["whole"], true, "{account}");
    assert!(account["readings"].as_u64().unwrap() > 0, "{account}");
}

fn planted() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    module(here);
    let module = here.join("planted.ko");
    let experiment = format!(
        "title = \"a planted loop\"\nruns = 1\n\
         instruments = [\"timer-list\", \"guest-instructions\"]\n\
         [factors.loop.without]\nsetup = [{{ module = \"{0}\" }}]\n\
         [factors.loop.planted]\n\
         setup = [{{ module = \"{0}\", parameters = {{ times = \"1\" }} }}]\n\
         [workloads.read]\nkind = \"command\"\n\
         argv = [\"/bin/cat\", \"/sys/module/planted/parameters/run\"]\n",
        module.display()
    );
    bundle(here, &experiment, "b");
    let asked = ["why", "b", "planted", "without", "--format", "json"];
    let why = document(here, &[&asked[..], &["--reached", "planted_loop"]].concat());
    assert_eq!(why["schema"], "assize.why/1");
    adds_up(&why);
    assert_eq!(
        rows(&why, "functions")[0],
        ("planted_loop [planted]", 200_000.0)
    );
    assert_eq!(rows(&why, "subsystems")[0].0, "planted");
    let reached = &why["reached"][0];
    assert_eq!((&reached["a"], &reached["b"]), (&1.0.into(), &0.0.into()));
    let metrics = fs::read_to_string(here.join("b/runs/0000.json"))?;
    let metrics: Value = serde_json::from_str(&metrics)?;
    let executed = metrics["metrics"]["guest_instructions"]["value"].as_f64();
    let side = if metrics["configuration"] == "planted" {
        "a"
    } else {
        "b"
    };
    let counted = why["total"][side].as_f64();
    // The instrument also counts how the other instrument reads its file.
    let beside = executed.unwrap() - counted.unwrap();
    assert!(
        (0.0..1_000_000.0).contains(&beside),
        "{executed:?} {counted:?}"
    );

    claims(here);
    kept(here);
    let text = printed(here, &["why", "b", "planted", "without"]);
    assert!(text.starts_with("planted executes "), "{text}");
    assert!(text.replace('\n', " ").contains(": 200,0"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 72),
        "{text}"
    );
    let page = ["why", "b", "planted", "without", "--format", "html"];
    let page = printed(here, &page);
    for answer in [&text, &page] {
        let executed = carry_out_printed(&command(here, &[]), answer);
        assert!(
            executed
                .iter()
                .any(|line| line.starts_with("assize why b planted without"))
        );
    }
    let row = page.split("data-name=\"planted_loop [planted]\"").nth(1);
    let row = row.and_then(|rest| rest.split("</tr>").next());
    assert!(row.is_some_and(|row| row.contains(">+200,000<")), "{row:?}");

    let null = document(
        here,
        &[
            "why", "b", "without", "without", "--cache", "--format", "json",
        ],
    );
    adds_up(&null);
    assert_eq!(caches::differing(&null), 0);
    for table in ["threads", "subsystems", "functions"] {
        assert!(rows(&null, table).iter().all(|(_, value)| *value == 0.0));
    }
    refused(here)
}

/// The report's page shows the command that attributes the difference; after running that command
/// with --keep, the page shows the result.
fn kept(here: &Path) {
    let page = || {
        let page = printed(here, &["report", "b", "--format", "html"]);
        let section = page.split("<section id=\"why\"").nth(1).unwrap();
        section.split("</section>").next().unwrap().to_owned()
    };
    let before = page();
    // The baseline comes first, as in the report.
    let ask = "assize why b without planted --workload read --keep";
    assert!(before.contains(ask), "{before}");
    assert!(!before.contains("planted_loop"), "{before}");
    printed(here, &["why", "b", "without", "planted", "--keep"]);
    // Repeating the command with swapped arguments replaces the first result.
    let text = printed(here, &["why", "b", "planted", "without", "--keep"]);
    let planted = page();
    let first = text.lines().next().unwrap();
    assert!(planted.contains(&format!("<summary>{first}")), "{planted}");
    assert_eq!(planted.matches("<details").count(), 1, "{planted}");
    let row = planted.split("data-name=\"planted_loop [planted]\"").nth(1);
    let row = row.and_then(|rest| rest.split("</tr>").next()).unwrap();
    assert!(row.contains(">+200,000<"), "{row}");
    assert!(!planted.contains("class=\"ask\">assize why b without planted"));
    printed(here, &["why", "b", "without", "without", "--keep"]);
    let both = page();
    assert_eq!(both.matches("<details").count(), 2, "{both}");
    assert!(both.contains("without and without execute the same on read"));
    assert!(both.contains("No function differs."), "{both}");
    fs::remove_dir_all(here.join("b/why")).unwrap();
}

/// The branch of a call tree reached by these names, from any depth.
fn branch<'a>(all: &'a Value, names: &[&str]) -> Option<&'a Value> {
    let callees = all.as_array()?;
    let [first, rest @ ..] = names else {
        return None;
    };
    let here = callees.iter().find(|one| one["name"] == *first);
    let here = here.and_then(|one| match rest {
        [] => Some(one),
        _ => branch(&one["callees"], rest),
    });
    here.or_else(|| {
        callees
            .iter()
            .find_map(|one| branch(&one["callees"], names))
    })
}

/// Checks that each branch has its own instructions plus those of its callees, and
/// returns the sum of all own instructions.
fn own(branch: &Value, side: &str) -> f64 {
    let callees = branch["callees"].as_array();
    let below = |of: fn(&Value, &str) -> f64| -> f64 {
        let each = callees.into_iter().flatten();
        each.map(|callee| of(callee, side)).sum()
    };
    let itself = branch[format!("own_{side}")].as_f64().unwrap();
    let whole = branch[side].as_f64().unwrap();
    let called = below(|callee, side| callee[side].as_f64().unwrap());
    assert_eq!(whole, itself + called, "{}", branch["name"]);
    itself + below(own)
}

/// The planted loop in the call tree, and true and false claims about it: the loop adds 15.0 % to
/// what is executed without it.
fn claims(here: &Path) {
    let said = [
        "planted_get: 15 %",
        "planted_loop: 16 % on busy_time",
        "csum_partial: 1 % on busy_time",
        "no_such_function: 20 %",
    ];
    let explains = said.iter().flat_map(|claim| ["--explains", claim]);
    let asked = [
        "why", "b", "planted", "without", "--tree", "--format", "json",
    ];
    let asked: Vec<&str> = asked.into_iter().chain(explains).collect();
    let done = assize(here, &asked);
    assert_eq!(done.status.code(), Some(1), "{}", errors(&done));
    let why: Value = serde_json::from_slice(&done.stdout).unwrap();
    adds_up(&why);
    let loops = branch(
        &why["tree"],
        &["planted_get [planted]", "planted_loop [planted]"],
    );
    let loops = loops.unwrap();
    for (key, value) in [
        ("a", 200_000),
        ("own_a", 200_000),
        ("entered_a", 1),
        ("b", 0),
    ] {
        assert_eq!(loops[key].as_f64(), Some(f64::from(value)), "{loops}");
    }
    let path = ["ksys_read", "vfs_read", "planted_get [planted]"];
    assert!(branch(&why["tree"], &path[..2]).is_some());
    let get = branch(
        &why["tree"],
        &["vfs_read", "kernfs_fop_read_iter", "seq_read_iter"],
    );
    let get = branch(&get.unwrap()["callees"], &path[2..]).unwrap();
    assert!(get["a"].as_f64() > Some(200_000.0), "{get}");
    for side in ["a", "b"] {
        let threads = why["tree"].as_array().unwrap().iter();
        let sum: f64 = threads.map(|thread| own(thread, side)).sum();
        assert_eq!(why["total"][side].as_f64(), Some(sum));
    }
    let outcomes: Vec<&str> = why["claims"]
        .as_array()
        .unwrap()
        .iter()
        .map(|claim| claim["outcome"].as_str().unwrap())
        .collect();
    let want = ["not-refuted", "refuted", "refuted", "undecided"];
    assert_eq!(outcomes, want, "{}", why["claims"]);
    let reached = |at: usize| &why["claims"][at]["has"]["reached"];
    assert_eq!(
        [reached(1), reached(2)],
        [&Value::Bool(true), &Value::Bool(false)]
    );
}

/// The message for refused arguments.
fn refused_words(here: &Path, words: &[&str]) -> String {
    let done = assize(here, words);
    assert_eq!(done.status.code(), Some(2), "{}", errors(&done));
    errors(&done)
}

/// Refuses a bundle in which a figure was changed.
fn refused(here: &Path) -> Outcome {
    let file = here.join("b/runs/0000.json");
    let text = fs::read_to_string(&file)?;
    let mut run: Value = serde_json::from_str(&text)?;
    run["metrics"]["busy_time"]["value"] = 1.into();
    fs::write(&file, run.to_string())?;
    let said = refused_words(here, &["why", "b", "planted", "without"]);
    assert!(said.contains("run 0 can no longer be repeated"), "{said}");
    assert!(
        said.contains("busy_time is") && said.contains("and was 1"),
        "{said}"
    );
    Ok(())
}

fn two_cpus() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    let experiment = "title = \"two\"\nruns = 1\ninstruments = [\"timer-list\"]\n\
        cpus = 2\n[factors.queue.drm-sched]\n[factors.queue.depq]\n\
        queue.design = \"depq\"\n[workloads.sync]\nkind = \"sync\"\nsubmissions = 50\n";
    bundle(here, experiment, "b");
    let why = document(here, &["why", "b", "drm-sched", "depq", "--format", "json"]);
    adds_up(&why);
    assert_eq!(why["account"]["cpus"], 2);
    assert_eq!(why["per"], "job");
    let subsystems = rows(&why, "subsystems");
    let of = |name: &str| subsystems.iter().find(|row| row.0 == name).unwrap().1;
    assert!(of("drm_sched") > 0.0 && of("depq") < 0.0, "{subsystems:?}");
    let folded = printed(
        here,
        &["why", "b", "drm-sched", "depq", "--format", "folded"],
    );
    let times = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap();
    let sum: u64 = folded.lines().map(times).sum();
    assert_eq!(Some(sum), why["account"]["instructions"].as_u64());
    assert!(
        folded.contains("drm-sched;kworkers;scheduling;__schedule "),
        "{folded}"
    );
    Ok(())
}

/// For kernels without BTF, a compiler gives the offsets. For kernels with BTF, both must agree.
fn offsets() -> Outcome {
    let root = Kernels::default_root().unwrap();
    let kernels = Kernels::new(root.clone());
    for name in [KERNEL, "debian:6.1", "debian:7"] {
        let Ok(kernel) = kernels.resolve(name) else {
            continue;
        };
        let Some(headers) = kernel.headers.as_deref() else {
            continue;
        };
        // Of the kernel image, only its BTF section is stored.
        let Ok(image) = fs::read(headers.join("vmlinux.btf")) else {
            continue;
        };
        let begin = [0x9f, 0xeb, 1, 0, 24, 0, 0, 0];
        let at = image.windows(begin.len()).position(|part| part == begin);
        let types = &image[at.unwrap()..];
        let said = assize_why::types::offsets(types, "task_struct", TASK_FIELDS).unwrap();
        let task = ("linux/sched.h", "task_struct");
        let found = testbed::offsets(&root, &kernel, task, TASK_FIELDS).unwrap();
        assert_eq!(found, said, "{name}");
        assert!(said[1] == said[0] + 4 && said[2] > said[1], "{said:?}");
        let wrong = testbed::offsets(&root, &kernel, task, ["no_such_field"]);
        let wrong = wrong.unwrap_err().to_string();
        assert!(wrong.contains("no_such_field"), "{wrong}");
    }
    Ok(())
}
