//! The recipes of `docs/ci.md`, carried out in a checkout: they must pass without a change, and
//! fail with a regression.
//!
//! `ASSIZE_CI=20,5` tries each recipe 20 times, with a regression of 5 %.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::common::{document, root, script, skip, there};

/// Commands of the recipes that would change this machine or need a service.
const STAND_INS: [&str; 4] = ["apt-get", "curl", "gh", "sudo"];
/// Loops of the measured program: about 0.1 s.
const LOOPS: u64 = 400_000_000;

#[test]
fn the_recipes_for_pull_requests_are_green_without_a_change_and_red_on_a_regression() {
    if let Err(why) = there(&["agent"]) {
        return skip(&why);
    }
    let wanted = std::env::var("ASSIZE_CI").unwrap_or_else(|_| "1,50".into());
    let (times, percent) = wanted.split_once(',').unwrap();
    let (times, percent): (u32, u64) = (times.parse().unwrap(), percent.parse().unwrap());
    let more = LOOPS + LOOPS / 100 * percent;
    for (name, steps) in recipes() {
        let same = Checkout::new(LOOPS, "main");
        assert!(!same.take(&steps), "{name}: the same bytes");
        assert!(same.comment().contains("the same files and settings"));
        assert!(same.agree(false));
        for (loops, red) in [(LOOPS, false), (more, true)] {
            let right = (0..times).filter(|_| {
                let checkout = Checkout::new(loops, "change");
                checkout.take(&steps) == red && checkout.agree(red)
            });
            let right = right.count();
            eprintln!("{name}: {right} of {times} right, red: {red}");
            assert_eq!(right, times as usize, "{name}, red: {red}");
        }
    }
}

/// The steps of the workflow and of the job that compare a change with its base.
fn recipes() -> Vec<(&'static str, Vec<String>)> {
    let page = fs::read(root().join("docs/ci.md")).unwrap();
    let steps = crate::formats::read("steps", &page);
    let steps = |at: usize| serde_json::from_value(steps[at].clone()).unwrap();
    vec![("GitHub", steps(0)), ("GitLab", steps(1))]
}

/// The script that the page tells the reader to write.
fn recipe_script() -> String {
    let page = fs::read_to_string(root().join("docs/ci.md")).unwrap();
    let (_, from) = page
        .split_once("```sh run-by=crates/assize/tests/ci.rs\n")
        .unwrap();
    from.split_once("```").unwrap().0.to_owned()
}

/// A clone of a project whose last commit sets the number of loops and the version of the program.
struct Checkout {
    place: TempDir,
}

impl Checkout {
    fn new(loops: u64, version: &str) -> Checkout {
        let place = tempfile::tempdir().unwrap();
        let checkout = Checkout { place };
        let project = checkout.path("project");
        fs::create_dir(&project).unwrap();
        fs::create_dir(checkout.path("bin")).unwrap();
        for name in STAND_INS {
            script(&checkout.path("bin").join(name), "exit 0");
        }
        fs::write(project.join("assize-ci.sh"), recipe_script()).unwrap();
        fs::write(project.join("Makefile"), "CFLAGS = -O1\n").unwrap();
        let git = |words: &str| {
            let mut git = Command::new("git");
            git.args(["-c", "user.name=A", "-c", "user.email=a@example.org"]);
            git.args(words.split(' ')).current_dir(&project);
            assert!(git.output().unwrap().status.success(), "git {words}");
        };
        git("init -q");
        for (branch, loops, version) in [("main", LOOPS, "main"), ("change", loops, version)] {
            git(&format!("checkout -q -b {branch}"));
            let text = format!(
                "const char version[] = \"{version}\";\n\n\
                 int main(void)\n{{\n\tfor (volatile long i = 0; i < {loops}; i++)\n\t\t;\n}}\n"
            );
            fs::write(project.join("bench.c"), text).unwrap();
            git("add .");
            git("commit -q --allow-empty -m loops");
        }
        git("clone -q . ../clone");
        checkout
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// Executes the steps like a runner. Returns whether one failed with status 1; other failures
    /// are errors.
    fn take(&self, steps: &[String]) -> bool {
        let program = Path::new(env!("CARGO_BIN_EXE_assize")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let path = format!(
            "{}:{}:{path}",
            self.path("bin").display(),
            program.display()
        );
        let mut red = false;
        for step in steps {
            let step = step.replace("${{ github.base_ref }}", "main");
            let step = step.replace("${{ github.event.number }}", "1");
            let mut shell = Command::new("bash");
            shell
                .args(["-e", "-c", &step])
                .current_dir(self.path("clone"));
            shell.env("PATH", &path).env("ASSIZE_DEBS", "none");
            shell.env("GITHUB_STEP_SUMMARY", self.path("summary"));
            shell.env("CI_MERGE_REQUEST_DIFF_BASE_SHA", "origin/main");
            let done = shell.output().unwrap();
            match done.status.code() {
                Some(0) => {}
                Some(1) if step.contains("assize-ci.sh") => red = true,
                other => panic!("{step}: {other:?}: {done:?}"),
            }
        }
        red
    }

    fn comment(&self) -> String {
        fs::read_to_string(self.path("clone/assize.md")).unwrap()
    }

    /// Whether comment and test report agree on the result.
    fn agree(&self, red: bool) -> bool {
        let clone = self.path("clone");
        let report = fs::read_to_string(clone.join("junit.xml")).unwrap();
        let verdict = document(&clone, &["report", "compare.bundle", "--json"]);
        assert!(verdict.is_object());
        self.comment().contains("**failed**") == red && report.contains("<failure") == red
    }
}
