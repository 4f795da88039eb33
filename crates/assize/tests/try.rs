//! `assize try`: patches whose effect is known, from a mailbox and from a git tree,
//! to what is said of each.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
#![allow(unreachable_pub)] // The module `common` is shared.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use assize_target::kernels::Kernels;
use assize_target::testbed::PARTS;
use common::{Cache, Outcome, Test, command, errors};
use serde_json::Value;

fn main() -> ExitCode {
    let tests: Vec<Test> = vec![
        (
            "each_patch_of_a_mailbox_is_said_to_do_what_was_planted",
            mailbox,
        ),
        ("a_range_whose_header_changes_is_built_with_it", range),
        ("what_cannot_be_tried_is_refused_before_a_run", refused),
    ];
    common::run(tests, &["agent", "QEMU", "kernel debian:6.12"])
}

const KERNEL: &str = "debian:6.12";
const MAIN: &str = "drivers/gpu/drm/scheduler/sched_main.c";
const FENCE: &str = "drivers/gpu/drm/scheduler/sched_fence.c";
const HEADER: &str = "include/drm/gpu_scheduler.h";

/// Differs in a text that nothing reads.
const NEUTRAL: &[Edit] = &[(
    FENCE,
    "MODULE_DESCRIPTION(\"DRM GPU scheduler\")",
    "MODULE_DESCRIPTION(\"DRM GPU job scheduler\")",
)];
/// One worker's turn for all jobs that are done, not one for each.
const FASTER: &[Edit] = &[(
    MAIN,
    "\tjob = drm_sched_get_finished_job(sched);\n\tif (job)\n\t\tsched->ops->free_job(job);\n\n\
     \tdrm_sched_run_free_queue(sched);\n",
    "\twhile ((job = drm_sched_get_finished_job(sched)))\n\t\tsched->ops->free_job(job);\n\n",
)];
/// 100 us of a busy CPU for each job.
const SLOWER: &[Edit] = &[
    (
        MAIN,
        "#include <linux/wait.h>",
        "#include <linux/delay.h>\n#include <linux/wait.h>",
    ),
    (
        MAIN,
        "\tfence = sched->ops->run_job(sched_job);",
        "\tudelay(100);\n\tfence = sched->ops->run_job(sched_job);",
    ),
];
/// Everything behind it lies elsewhere: who has not seen this header breaks.
const LARGER: &[Edit] = &[(
    HEADER,
    "struct drm_gpu_scheduler {\n",
    "struct drm_gpu_scheduler {\n\tunsigned long planted[64];\n",
)];
const BROKEN: &[Edit] = &[(
    MAIN,
    "#include <linux/wait.h>",
    "#include <linux/not-there.h>",
)];

/// File, a text that it holds once, and what comes for it.
type Edit = (&'static str, &'static str, &'static str);

const SHORT: &str = r#"title = "drm_sched, shortly"
runs = 6
images = 2
instruments = ["timer-list"]
primary = [{ metric = "busy_time_per_job", better = "lower" }]
queue.design = "drm-sched"
[workloads.sync]
kind = "sync"
submissions = 60
[workloads.window]
kind = "threads"
submissions = 240
window = 4
"#;

/// A directory with a git tree of the scheduler's sources and headers, and an
/// experiment.
struct Place {
    directory: tempfile::TempDir,
    cache: Cache,
}

impl Place {
    /// Nothing if the sources are not here.
    fn new() -> Option<Self> {
        let usual = Kernels::default_root().unwrap();
        let kernels = Kernels::new(usual.clone());
        let kernel = kernels.resolve(KERNEL).unwrap();
        let part = &PARTS[0];
        let Some(source) = kernels.stored_source_parts("6.12", &kernel.version, &[part.directory])
        else {
            common::skip("the sources of the scheduler are not here; cargo xtask lab");
            return None;
        };
        let place = Place {
            directory: tempfile::tempdir().unwrap(),
            cache: Cache::new(),
        };
        let sources = place.cache.path().join("sources");
        std::os::unix::fs::symlink(usual.join("sources"), sources).unwrap();
        let headers = part.kernel_headers(&kernel).unwrap();
        for (path, text) in &headers {
            place.write(path, text);
        }
        for entry in fs::read_dir(source.tree.join(part.directory)).unwrap() {
            let entry = entry.unwrap();
            let path = Path::new(part.directory).join(entry.file_name());
            place.write(
                path.to_str().unwrap(),
                &fs::read_to_string(entry.path()).unwrap(),
            );
        }
        place.write("Documentation/gpu/x.rst", "x\n");
        place.write("kernel/sched/fair.c", "x\n");
        fs::write(place.path().join("short.toml"), SHORT).unwrap();
        place.git(&["init", "-q", "."]);
        place.git(&["add", "drivers", "include", "Documentation", "kernel"]);
        place.git(&["commit", "-qm", "linux"]);
        Some(place)
    }

    /// Inside of the git tree.
    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn git(&self, arguments: &[&str]) -> String {
        let done = Command::new("git")
            .current_dir(self.path())
            .args(["-c", "user.name=Ann Author"])
            .args(["-c", "user.email=ann@example.org"])
            .args(arguments)
            .env("GIT_AUTHOR_DATE", "2026-11-02T10:00:00+0100")
            .output()
            .unwrap();
        assert!(done.status.success(), "{arguments:?}: {}", errors(&done));
        String::from_utf8(done.stdout).unwrap()
    }

    fn commit(&self, subject: &str, edits: &[Edit]) {
        for (file, from, to) in edits {
            let text = fs::read_to_string(self.path().join(file)).unwrap();
            assert_eq!(text.matches(from).count(), 1, "{file}: {from}");
            self.write(file, &text.replace(from, to));
        }
        self.git(&["commit", "-qam", subject]);
    }

    /// So many commits as a thread: a cover letter, and the patches from the last
    /// to the first.
    fn thread(&self, commits: usize) -> PathBuf {
        let count = commits.to_string();
        let mails =
            |arguments: &[&str]| self.git(&[&["format-patch", "--stdout"], arguments].concat());
        let mut text = String::from(
            "From mboxrd@z Thu Jan  1 00:00:00 1970\nFrom: Ann <ann@example.org>\n\
             Subject: [PATCH 0/",
        ) + &count
            + "] drm/sched: Changes\n\nWords.\n\n";
        for at in (0..commits).rev() {
            let to = format!("HEAD~{}", commits - 1 - at);
            let one = mails(&["-1", &to]);
            text += &one.replace("[PATCH]", &format!("[PATCH {}/{count}]", at + 1));
        }
        let path = self.path().join("thread.mbox");
        fs::write(&path, text).unwrap();
        path
    }

    fn try_it(&self, arguments: &[&str]) -> Output {
        let mut command = command(self.path(), &[&["try"], arguments].concat());
        command.env("ASSIZE_CACHE", self.cache.path());
        command.output().unwrap()
    }
}

/// The words that a patch's effects are read as, by workload.
fn readings(patch: &Value) -> Vec<(String, String)> {
    let effects = patch["outcome"]["effects"].as_array();
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let effects = effects.unwrap_or_else(|| panic!("{patch}")).iter();
    effects
        .map(|one| (word(&one["workload"]), word(&one["reading"])))
        .collect()
}

fn pairs(words: &[(&str, &str)]) -> Vec<(String, String)> {
    words
        .iter()
        .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
        .collect()
}

fn mailbox() -> Outcome {
    let Some(place) = Place::new() else {
        return Ok(());
    };
    place.commit("drm/sched: Describe the module", NEUTRAL);
    place.commit("drm/sched: Include what is not there", BROKEN);
    place.git(&["revert", "--no-edit", "HEAD"]);
    place.commit("drm/sched: Free all finished jobs at once", FASTER);
    place.commit("drm/sched: Wait before each job", SLOWER);
    place.thread(5);
    let arguments = [
        "--base",
        KERNEL,
        "--patch",
        "thread.mbox",
        "--each",
        "--experiment",
        "short.toml",
        "--out",
        "each.bundle",
        "--quiet",
    ];
    let done = place.try_it(&[&arguments[..], &["--format", "json"]].concat());
    assert!(done.status.success(), "{}", errors(&done));
    let said: Value = serde_json::from_slice(&done.stdout).unwrap();
    let patches = said["patches"].as_array().unwrap();
    assert_eq!(said["title"], "drm/sched: Changes");
    assert_eq!(
        patches[0]["patch"]["author"],
        "Ann Author <ann@example.org>"
    );
    assert_eq!(patches[0]["patch"]["date"], "2026-11-02");
    assert_eq!(
        readings(&patches[0]),
        pairs(&[("sync", "no_difference"), ("window", "no_difference")])
    );
    let why = patches[1]["outcome"]["not_built"].as_str().unwrap();
    assert!(
        why.starts_with(&format!("{MAIN}:")) && why.contains("not-there.h"),
        "{why}"
    );
    // The first that builds again is what it was before.
    assert_eq!(patches[2]["outcome"], "same_bytes");
    let faster = readings(&patches[3]);
    assert_eq!(
        faster[1],
        ("window".to_owned(), "better".to_owned()),
        "{said}"
    );
    assert_eq!(
        readings(&patches[4]),
        pairs(&[("sync", "worse"), ("window", "worse")])
    );
    let slower = &patches[4]["outcome"]["effects"][0];
    assert!(slower["ratio"].as_f64().unwrap() > 2.0, "{slower}");
    assert!(place.path().join("each.bundle/bundle.json").is_file());
    Ok(())
}

fn range() -> Outcome {
    let Some(place) = Place::new() else {
        return Ok(());
    };
    place.commit("drm/sched: Make room", LARGER);
    place.commit(
        "Documentation: Say more",
        &[("Documentation/gpu/x.rst", "x\n", "more\n")],
    );
    let arguments = [
        "HEAD~2..HEAD",
        "--experiment",
        "short.toml",
        "--runs",
        "3",
        "--quiet",
    ];
    let gate = ["--fail-on", "worse>50%"];
    let done = place.try_it(&[&arguments[..], &gate].concat());
    assert!(done.status.success(), "{}", errors(&done));
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(text.starts_with("HEAD~2..HEAD: 2 patches\n"), "{text}");
    assert!(text.contains("drm/sched: Make room"), "{text}");
    assert!(
        text.contains("not part of what ran: Documentation/gpu/x.rst"),
        "{text}"
    );
    // The last lines say how to do it again, the gate's own word among them.
    let (verdicts, again) = text.split_once("\n** established").unwrap();
    assert!(!verdicts.contains("worse"), "{text}");
    assert!(again.contains("--fail-on 'worse>50%'"), "{text}");
    assert!(text.lines().count() <= 40 && text.lines().all(|line| line.chars().count() <= 72));
    // What includes the header was built with it.
    let bundle = fs::read_to_string(place.path().join("try.bundle/experiment.toml")).unwrap();
    assert!(bundle.contains("simgpu.ko"), "{bundle}");
    Ok(())
}

fn refused() -> Outcome {
    let Some(place) = Place::new() else {
        return Ok(());
    };
    place.commit("sched: Be fair", &[("kernel/sched/fair.c", "x\n", "y\n")]);
    place.commit("drm/sched: Include what is not there", BROKEN);
    let thread = place.thread(1);
    let text = fs::read_to_string(&thread).unwrap();
    let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    write("half.mbox", &text.replace("1/1]", "1/2]"));
    write(
        "stale.mbox",
        &text.replace("-#include <linux/wait.h>", "-#include <linux/stale.h>"),
    );
    for (arguments, why) in [
        (
            &["HEAD~1"][..],
            "kernel/sched/fair.c: this needs the whole kernel",
        ),
        (&["HEAD..HEAD"], "no commit in it"),
        (&["nowhere"], "there is no commit nowhere"),
        (&["HEAD"], "not-there.h"),
        (&["HEAD", "--each"], "no commit of it builds"),
        (&["--patch", "half.mbox"], "patch 2 of 2 is missing"),
        (
            &["--patch", "stale.mbox"],
            "patch 1 (drm/sched: Include what is not there) does not apply",
        ),
        (
            &["--patch", "thread.mbox", "--base", "mine"],
            "only sources of Debian's kernels",
        ),
        (&["--patch", "none.mbox"], "none.mbox"),
    ] {
        let done = place.try_it(&[arguments, &["--out", "refused.bundle"]].concat());
        let said = errors(&done);
        assert!(!done.status.success(), "{arguments:?}");
        assert!(said.contains(why), "{arguments:?}: {said}");
        assert!(
            !place.path().join("refused.bundle").exists(),
            "{arguments:?}"
        );
    }
    Ok(())
}
