//! A git tree of the DRM scheduler's sources, and changes with known effects.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use assize_target::kernels::Kernels;
use assize_target::testbed::PARTS;

use super::{Cache, carry_out_printed, command, errors, skip};

pub const KERNEL: &str = "debian:6.12";
pub const MAIN: &str = "drivers/gpu/drm/scheduler/sched_main.c";
pub const FENCE: &str = "drivers/gpu/drm/scheduler/sched_fence.c";
pub const HEADER: &str = "include/drm/gpu_scheduler.h";

/// A file, a text that occurs in it once, and its replacement.
pub type Edit = (&'static str, &'static str, &'static str);

/// Changes a text that nothing reads.
pub const NEUTRAL: &[Edit] = &[(
    FENCE,
    "MODULE_DESCRIPTION(\"DRM GPU scheduler\")",
    "MODULE_DESCRIPTION(\"DRM GPU job scheduler\")",
)];
/// Keeps the CPU busy for 100 us per job.
pub const SLOWER: &[Edit] = &[
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
/// Does not build.
pub const BROKEN: &[Edit] = &[(
    MAIN,
    "#include <linux/wait.h>",
    "#include <linux/not-there.h>",
)];

/// An experiment that takes seconds.
pub const SHORT: &str = r#"title = "drm_sched, briefly"
runs = 6
images = 1
instruments = ["timer-list"]
primary = [{ metric = "busy_time_per_job", better = "lower" }]
queue.design = "drm-sched"
[workloads.sync]
kind = "sync"
submissions = 60
[workloads.window]
kind = "threads"
submissions = 480
window = 8
"#;

/// An experiment with few runs, since crashed runs are repeated whenever they are requested.
pub const FEW: &str = r#"title = "drm_sched, briefly"
runs = 8
images = 1
primary = [{ metric = "busy_time_per_job", better = "lower" }]
instruments = ["timer-list"]
queue.design = "drm-sched"
[workloads.sync]
kind = "sync"
submissions = 20
"#;

/// Edits that call `then`, such as `BUG_ON`, before each job, but only in runs whose random number
/// below 12 meets the condition `drawn`.
pub fn fated(drawn: &str, then: &str) -> Vec<(&'static str, &'static str, String)> {
    let fate = "#include <linux/random.h>\n#include <linux/wait.h>\n\n\
        static bool planted_fate(void)\n{\n\tstatic int drawn = -1;\n\n\
        \tif (drawn < 0)\n\t\tdrawn = get_random_u32_below(12);\n\treturn ";
    let include = format!("{fate}{drawn};\n}}\n");
    let run = "\tfence = sched->ops->run_job(sched_job);";
    vec![
        (MAIN, "#include <linux/wait.h>", include),
        (MAIN, run, format!("\t{then}(planted_fate());\n{run}")),
    ]
}

/// A directory with a git tree of the scheduler's sources and headers, and an
/// experiment.
pub struct Place {
    directory: tempfile::TempDir,
    cache: Cache,
}

impl Place {
    /// `None` if the sources have not been fetched.
    pub fn new() -> Option<Self> {
        let usual = Kernels::default_root().unwrap();
        let kernels = Kernels::new(usual.clone());
        let kernel = kernels.resolve(KERNEL).unwrap();
        let part = &PARTS[0];
        let Some(source) = kernels.stored_source_parts("6.12", &kernel.version, &[part.directory])
        else {
            skip("the sources of the scheduler are not here; cargo xtask lab");
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

    /// The git tree.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The cache that its commands use.
    pub fn cache(&self) -> &Path {
        self.cache.path()
    }

    /// Empties the cache of runs.
    pub fn forget_runs(&self) {
        self.cache.empty();
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn git(&self, arguments: &[&str]) -> String {
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

    pub fn commit(&self, subject: &str, edits: &[(&str, &str, impl AsRef<str>)]) {
        for (file, from, to) in edits {
            let to = to.as_ref();
            let text = fs::read_to_string(self.path().join(file)).unwrap();
            assert_eq!(text.matches(from).count(), 1, "{file}: {from}");
            self.write(file, &text.replace(from, to));
        }
        self.git(&["commit", "-qam", subject]);
    }

    /// The last `commits` commits as a thread: a cover letter, then the patches in reverse order.
    pub fn thread(&self, commits: usize) -> PathBuf {
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

    /// Runs a verb in the git tree.
    pub fn assize(&self, verb: &str, arguments: &[&str]) -> Output {
        self.command(&[&[verb], arguments].concat())
            .output()
            .unwrap()
    }

    /// Executes every command printed in a text, which must include these verbs.
    pub fn carry_out_printed(&self, text: &str, verbs: &[&str]) {
        let executed = carry_out_printed(&self.command(&[]), text);
        for verb in verbs {
            let start = format!("assize {verb} ");
            let found = executed.iter().any(|line| line.starts_with(&start));
            assert!(found, "no {verb}: {text}");
        }
    }

    /// A command in the git tree.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(self.path(), arguments);
        command.env("ASSIZE_CACHE", self.cache.path());
        command
    }
}
