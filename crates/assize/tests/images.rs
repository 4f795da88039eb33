//! Memory images of the exact machine: what is randomised in them, and that runs from
//! them are exact.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::common::{Cache, Outcome, command, document, errors, files, printed, skip, there};
use serde_json::Value;

crate::common::tests! {
    needs ["agent", "QEMU", "kernel debian:6.12"];
    each_block_goes_on_from_an_image_of_its_own = own,
    with_one_image_nothing_is_drawn = one,
    modules_that_may_be_loaded_in_any_order_are = modules,
    builds_of_our_modules_are_part_of_an_image = builds,
    a_plan_says_how_many_boots_there_will_be = planned,
}

/// The program prints its process ID and the length of the variable that shifts its
/// stack.
const EXPERIMENT: &str = r#"title = "Images"
kernel = "debian:6.12"
runs = 3

[factors.change.off]

[factors.change.on]
workload.it.environment = { MORE = "1" }

[workloads.it]
kind = "command"
argv = ["sh", "-c", """
echo pid: $$
echo padding: ${#ASSIZE_PADDING}
while read address kind name; do
    [ $name = _text ] && echo text: $((0x${address#ffff})) && break
done </proc/kallsyms
"""]
metrics = ["pid", "padding", "text"]
"#;

struct Here {
    directory: tempfile::TempDir,
    cache: Cache,
}

impl Here {
    fn new(more: &str) -> Here {
        Here::with_experiment(&format!("{more}\n{EXPERIMENT}"))
    }

    fn with_experiment(text: &str) -> Here {
        let here = Here {
            directory: tempfile::tempdir().unwrap(),
            cache: Cache::new(),
        };
        fs::write(here.path().join("images.toml"), text).unwrap();
        here
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Runs the experiment without using cached answers.
    fn run(&self, out: &str, more: &[&str]) {
        let arguments = [&["run", "images.toml", "--fresh", "--out", out], more].concat();
        let done = command(self.path(), &arguments)
            .env("ASSIZE_CACHE", self.cache.path())
            .output()
            .unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_slice(&fs::read(self.path().join(path)).unwrap()).unwrap()
    }

    fn runs(&self, out: &str) -> Vec<Value> {
        let of = |index| self.json(&format!("{out}/runs/{index:04}.json"));
        (0..6).map(of).collect()
    }

    /// For each image, the digests of the memory that its runs started from.
    fn memories(&self, out: &str) -> BTreeMap<u64, BTreeSet<String>> {
        let log = fs::read_to_string(self.path().join(out).join("log.jsonl")).unwrap();
        let mut all: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
        for line in log.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let index = line["index"].as_u64().unwrap();
            let run = self.json(&format!("{out}/runs/{index:04}.json"));
            let image = run["image"].as_u64().unwrap();
            let digest = line["memory_image"].as_str().unwrap();
            all.entry(image).or_default().insert(digest.into());
        }
        all
    }
}

fn value(run: &Value, metric: &str) -> i64 {
    run["metrics"][metric]["value"].as_f64().unwrap() as i64
}

fn own() -> Outcome {
    let here = Here::new("");
    here.run("a", &[]);
    let runs = here.runs("a");
    let memories = here.memories("a");
    assert_eq!(memories.len(), 3);
    let all: BTreeSet<&String> = memories.values().flatten().collect();
    assert_eq!(all.len(), 3, "one memory for each image: {memories:?}");
    // The number of processes and the padding are as drawn.
    let images = here.json("a/bundle.json")["head"]["plan"]["images"].clone();
    let drawn = |run: &Value, what: &str| {
        let image = &images[run["image"].as_u64().unwrap() as usize];
        image[what].as_i64().unwrap()
    };
    let first = &runs[0];
    for run in &runs {
        assert_eq!(run["image"], run["block"]);
        assert_eq!(value(run, "padding"), drawn(run, "padding"));
        // The kernel itself starts some threads at varying times.
        let processes = drawn(run, "processes") - drawn(first, "processes");
        let more = value(run, "pid") - value(first, "pid") - processes;
        assert!(more.abs() <= 4, "{more}");
    }
    // The kernel is at a different address in each image, a multiple of 2 MiB apart.
    let places: BTreeSet<i64> = runs.iter().map(|run| value(run, "text")).collect();
    assert_eq!(places.len(), 3, "{places:x?}");
    assert!(
        places.iter().all(|place| place % (2 << 20) == 0),
        "{places:x?}"
    );
    // The same bytes in another order, with one run at a time, and from a fresh boot.
    here.run("b", &["--jobs", "1"]);
    assert_eq!(files(&here.path().join("a")), files(&here.path().join("b")));
    here.run("c", &["--cold"]);
    assert_eq!(files(&here.path().join("a")), files(&here.path().join("c")));
    Ok(())
}

fn one() -> Outcome {
    let here = Here::new("images = 1");
    here.run("a", &[]);
    let memories = here.memories("a");
    assert_eq!(memories.keys().collect::<Vec<_>>(), [&0]);
    assert_eq!(memories[&0].len(), 1);
    let runs = here.runs("a");
    let pids: BTreeSet<i64> = runs.iter().map(|run| value(run, "pid")).collect();
    assert_eq!(pids.len(), 1, "{pids:?}");
    let line = runs[0]["environment"]["command_line"].as_str().unwrap();
    assert!(!line.contains("assize.drawn"), "{line}");
    assert!(runs.iter().all(|run| value(run, "padding") == 0));
    // The kernel is at its link address.
    assert!(
        runs.iter()
            .all(|run| value(run, "text") == 0xffff_8100_0000)
    );
    Ok(())
}

/// An experiment that prints a digit for each of three loaded modules, the newest first. Another
/// set-up step comes between the second and the third.
const MODULES: &str = r#"title = "Modules"
kernel = "debian:6.12"
setup = [
    { module = "dummy" },
    { module = "brd" },
    { sysctl = "kernel.panic_on_warn", value = 0 },
    { module = "ifb" },
]

[workloads.it]
kind = "command"
argv = ["sh", "-c", "while read name rest; do case $name in dummy) o=${o}1;; brd) o=${o}2;; ifb) o=${o}3;; esac; done </proc/modules; echo order: $o"]
metrics = ["order"]
"#;

fn modules() -> Outcome {
    let orders = |more: &str| {
        let here = Here::with_experiment(&format!("{more}\n{MODULES}"));
        here.run("a", &[]);
        let runs = fs::read_dir(here.path().join("a/runs")).unwrap().count();
        let run = |index| here.json(&format!("a/runs/{index:04}.json"));
        let all = (0..runs).map(|index| value(&run(index), "order"));
        all.collect::<BTreeSet<i64>>()
    };
    assert_eq!(orders("runs = 2\nimages = 1"), BTreeSet::from([321]));
    // With this seed, the two images have the two possible orders.
    assert_eq!(orders("runs = 2\nseed = 4"), BTreeSet::from([312, 321]));
    Ok(())
}

/// Two forms of our own queue.
const BUILDS: &str = r#"title = "Builds"
kernel = "debian:6.12"
runs = 3

[factors.bypass.off]
queue = { design = "depq", bypass = false }

[factors.bypass.on]
queue = { design = "depq", bypass = true }

[workloads.sync]
kind = "sync"
submissions = 5
"#;

fn builds() -> Outcome {
    if let Err(why) = there(&["modules for debian:6.12"]) {
        skip(&why);
        return Ok(());
    }
    let here = Here::with_experiment(BUILDS);
    here.run("a", &[]);
    let mut of_image: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
    for run in here.runs("a") {
        let parts = run["identity"].as_array().unwrap();
        let is = |part: &&Value| part["kind"] == "module" && part["name"] == "depq";
        let module = parts.iter().find(is).unwrap()["value"].as_str().unwrap();
        let image = run["image"].as_u64().unwrap();
        of_image.entry(image).or_default().insert(module.into());
    }
    // Each image has different bytes, which are the same in all runs from it.
    assert!(of_image.values().all(|modules| modules.len() == 1));
    let all: BTreeSet<&String> = of_image.values().flatten().collect();
    assert_eq!(all.len(), 3, "{of_image:?}");
    // This does not count as a difference between configurations, nor between their runs.
    let verdict = document(here.path(), &["compare", "a", "--json"]);
    let lints = verdict["lints"].as_array().unwrap();
    let codes = lints.iter().map(|lint| lint["code"].as_str().unwrap());
    let wrong: Vec<&str> = codes
        .filter(|code| ["identity-varies", "unexpected-difference"].contains(code))
        .collect();
    assert!(wrong.is_empty(), "{lints:?}");
    Ok(())
}

fn planned() -> Outcome {
    for (more, said) in [
        ("", "3 memory images: 3 boots unless already kept\n"),
        ("images = 1", "1 memory image: 1 boot unless already kept\n"),
        ("target = \"host\"", "6 runs: 3 of each of 2 cells\n"),
    ] {
        let here = Here::new(more);
        let text = printed(here.path(), &["plan", "images.toml"]);
        assert!(text.contains(said), "{text}");
    }
    Ok(())
}
