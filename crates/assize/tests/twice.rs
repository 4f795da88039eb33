//! Runs that are executed twice: a QEMU that deviates once is noticed and its result not recorded;
//! one that always deviates gives no result; one that never deviates causes no message.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::{Cache, Outcome, command, errors, files};
use assize_target::qemu::Qemu;
use serde_json::Value;

crate::common::tests! {
    needs ["agent", "QEMU", "kernel debian:6.12"];
    a_deviation_is_noticed_and_never_a_number = a_deviation_is_noticed,
}

/// Four runs, one after the other, of which the first or the second is executed twice, so the
/// second execution is one of a pair.
const EXPERIMENT: &str = r#"title = "Test"
runs = 2
images = 1
aa = true
retries = 0

[workloads.it]
kind = "ping-pong"
"#;

/// A stand-in for QEMU. It counts the executions of runs and, for those that should deviate, puts
/// their number before the first value of the result.
const SCRIPT: &str = r#"# What it is and what it can do is asked without a job.
case "$*" in *opt/assize/job*) ;; *) exec @QEMU@ "$@" ;; esac
for word in "$@"; do
    case "$word" in
    file,id=answer,path=*) answer=${word#*path=} ;;
    name=opt/assize/job,file=*) job=${word#*file=} ;;
    esac
done
# Boots and probes have no job.
[ "$(head -c 8 "$job")" = 00000000 ] && exec @QEMU@ @DATA@ "$@"
@QEMU@ @DATA@ "$@"
status=$?
echo >> "@PLACE@/executions"
number=$(wc -l < "@PLACE@/executions")
case " $(cat "@PLACE@/deviate") " in
*" $number "*) sed -i "0,/\"value\":/s//\"value\":$number/" "$answer" ;;
esac
exit $status
"#;

struct Place {
    directory: tempfile::TempDir,
    cache: Cache,
}

impl Place {
    fn new() -> Place {
        let place = Place {
            directory: tempfile::tempdir().unwrap(),
            cache: Cache::new(),
        };
        fs::write(place.at("test.toml"), EXPERIMENT).unwrap();
        let qemu = Qemu::find(place.cache.path()).unwrap();
        let data = qemu
            .data
            .iter()
            .map(|data| format!("-L {}", data.display()));
        let script = SCRIPT
            .replace("@QEMU@", &qemu.binary.display().to_string())
            .replace("@DATA@", &data.collect::<Vec<_>>().join(" "))
            .replace("@PLACE@", &place.directory.path().display().to_string());
        crate::common::script(&place.at("qemu"), &script);
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Runs the experiment; the listed executions deviate.
    fn run(&self, bundle: &str, deviate: &str, more: &[&str]) -> Ran {
        fs::write(self.at("executions"), "").unwrap();
        fs::write(self.at("deviate"), deviate).unwrap();
        let arguments = ["run", "test.toml", "--jobs", "1", "--json", "--out", bundle];
        let output = command(self.directory.path(), &[&arguments[..], more].concat())
            .env("ASSIZE_CACHE", self.cache.path())
            .env("ASSIZE_QEMU", self.at("qemu"))
            .output()
            .unwrap();
        let executions = fs::read_to_string(self.at("executions")).unwrap();
        Ran {
            bundle: self.at(bundle),
            executions: executions.lines().count(),
            said: errors(&output),
            output,
        }
    }
}

struct Ran {
    bundle: PathBuf,
    executions: usize,
    said: String,
    output: Output,
}

impl Ran {
    fn document(&self) -> Value {
        assert_eq!(self.output.status.code(), Some(0), "{}", self.said);
        serde_json::from_slice(&self.output.stdout).unwrap()
    }

    /// The details of the lint of this name.
    fn lints(&self, code: &str) -> Vec<String> {
        let document = self.document();
        let lints = document["lints"].as_array().unwrap().clone();
        let found = lints.iter().filter(|lint| lint["code"] == code);
        found.map(ToString::to_string).collect()
    }

    /// The number of runs recorded as executed twice.
    fn twice(&self) -> usize {
        let runs = (0..4).map(|index| run(&self.bundle, index));
        runs.filter(|run| run["environment"]["executions"] == "2")
            .count()
    }
}

fn run(bundle: &Path, index: u32) -> Value {
    let path = bundle.join(format!("runs/{index:04}.json"));
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn a_deviation_is_noticed() -> Outcome {
    let place = Place::new();

    let equal = place.run("equal", "", &[]);
    assert_eq!(equal.executions, 5, "{}", equal.said);
    assert!(equal.said.contains("1 of 4 runs executed twice: all equal"));
    assert!(!equal.said.contains("differed"), "{}", equal.said);
    assert!(equal.lints("inexact").is_empty());
    assert_eq!(equal.twice(), 1);
    let limits = equal.document()["limits"].to_string();
    assert!(
        limits.contains("Executed twice: 1 of the 4 runs"),
        "{limits}"
    );

    // All results are cached, and so is the agreement of two executions.
    let kept = place.run("kept", "1 2 3 4", &[]);
    assert_eq!(kept.executions, 0, "{}", kept.said);
    assert!(!kept.said.contains("executed twice"), "{}", kept.said);
    assert_eq!(files(&kept.bundle), files(&equal.bundle));

    // Both are executed again, and the result is that on which two agree.
    let once = place.run("once", "2", &["--fresh"]);
    assert_eq!(once.executions, 7, "{}", once.said);
    assert!(once.said.contains("two executions of it differed: line "));
    let sentence = "1 of 4 runs executed twice: 1 differed at first";
    assert!(once.said.contains(sentence), "{}", once.said);
    assert_eq!(files(&once.bundle), files(&equal.bundle));
    let lints = once.lints("inexact");
    assert_eq!(lints.len(), 1);
    assert!(
        lints[0].contains("later executions were equal"),
        "{lints:?}"
    );

    // A run fails if in three pairs no two executions agree.
    let never = place.run("never", "2 3 4 5 6 7", &["--fresh"]);
    assert_eq!(never.twice(), 0);
    let runs = (0..4).map(|index| run(&never.bundle, index));
    let failed: Vec<Value> = runs.filter(|run| run["exit"] != "completed").collect();
    assert_eq!(failed.len(), 1, "{}", never.said);
    let why = failed[0]["exit"]["failed"]["why"].as_str().unwrap();
    assert!(
        why.starts_with("inexact: two executions of it differed 3 times"),
        "{why}"
    );
    assert_eq!(never.lints("inexact").len(), 1);
    Ok(())
}
