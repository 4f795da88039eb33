//! The cache model: the misses of one program are planted, and those of another are computed by
//! cachegrind.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{Outcome, adds_up, bundle, document, refused_words};

const SOURCE: &str = include_str!("lines.c");
/// Maximum relative difference from cachegrind, because in the machine the kernel uses the same
/// caches.
const APART: f64 = 0.02;

/// Builds the program in this directory, and returns its path.
fn program(directory: &Path) -> String {
    let source = directory.join("lines.c");
    fs::write(&source, SOURCE).unwrap();
    let path = directory.join("lines");
    let done = Command::new("cc")
        .args(["-O1", "-static", "-pthread", "-Wall", "-o"])
        .args([&path, &source])
        .status()
        .unwrap();
    assert!(done.success());
    path.display().to_string()
}

/// An experiment that runs the program with different arguments in each configuration.
fn experiment(program: &str, cpus: u32, configurations: &[(&str, &[&str])]) -> String {
    let mut text = format!(
        "title = \"lines\"\nruns = 1\ncpus = {cpus}\ninstruments = [\"timer-list\"]\n\
         [workloads.lines]\nkind = \"command\"\nargv = [\"{program}\"]\n"
    );
    for (name, words) in configurations {
        let argv = [&[program], *words].concat();
        text += &format!("[factors.words.{name}]\nworkload.lines.argv = {argv:?}\n");
    }
    text
}

/// The misses of one kind in user space, for both configurations.
fn user_space(why: &Value, kind: &str) -> [f64; 2] {
    let tables = why["caches"]["kinds"].as_array().unwrap();
    let table = tables.iter().find(|one| one["kind"] == kind).unwrap();
    let rows = table["functions"].as_array().unwrap();
    for rows in ["threads", "subsystems", "functions"] {
        for side in ["a", "b"] {
            let all = table[rows].as_array().unwrap().iter();
            let sum: f64 = all.map(|row| row[side].as_f64().unwrap()).sum();
            assert_eq!(table["total"][side].as_f64(), Some(sum), "{kind}, {rows}");
        }
    }
    let users = || rows.iter().filter(|row| row["of"] == "user space");
    ["a", "b"].map(|side| users().map(|row| row[side].as_f64().unwrap()).sum())
}

/// The number of functions whose misses differ between two configurations, over all
/// kinds.
pub fn differing(why: &Value) -> usize {
    let tables = why["caches"]["kinds"].as_array().unwrap().iter();
    let rows = tables.flat_map(|table| table["functions"].as_array().unwrap());
    rows.filter(|row| row["difference"] != 0.0).count()
}

/// Reads twice as many lines as the L1d has 100 times, then half as many 400 times: all reads of
/// the first walk miss, and hardly any of the second.
pub fn walks() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    let program = program(here);
    let words: [(&str, &[&str]); 2] = [
        ("walks", &["walk", "1024", "100", "256", "400"]),
        ("product", &["multiply", "4"]),
    ];
    bundle(here, &experiment(&program, 1, &words), "b");
    let asked = ["why", "b", "walks", "product", "--cache"];
    let why = document(here, &[&asked[..], &["--format", "json"]].concat());
    adds_up(&why);
    let [walks, product] = user_space(&why, "l1d_misses");
    let planted = 1024.0 * 100.0;
    // The first writes to the lines miss too, and the kernel evicts some.
    assert!((planted..planted + 1024.0).contains(&walks), "{walks}");
    let [beyond, _] = user_space(&why, "l2_misses");
    assert!(beyond < 2048.0, "{beyond}");
    assert_eq!(user_space(&why, "transfers"), [0.0, 0.0]);
    let reads = why["caches"]["accesses_a"]["reads"].as_f64();
    assert!(reads > Some(2.0 * planted), "{reads:?}");

    let refused = [&asked[..4], &["--cache=l3=1M/2"]].concat();
    let said = refused_words(here, &refused);
    assert!(said.contains("--cache: 'l3=1M/2' is not part"), "{said}");
    if let Some(theirs) = cachegrind(here, &program) {
        eprintln!("L1d misses of a product: {product} here, {theirs} by cachegrind");
        assert!(
            (product - theirs).abs() <= APART * theirs,
            "{product} {theirs}"
        );
    }
    Ok(())
}

/// The number of L1d misses of a product, according to cachegrind.
fn cachegrind(here: &Path, program: &str) -> Option<f64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=cachegrind", "--cache-sim=yes", "--I1=32768,8,64"]);
    command.args(["--D1=32768,8,64", "--LL=1048576,16,64"]);
    command.arg(format!(
        "--cachegrind-out-file={}",
        here.join("out").display()
    ));
    let done = command.args([program, "multiply", "4"]).output();
    let Ok(done) = done else {
        eprintln!("not compared with cachegrind: there is no valgrind");
        return None;
    };
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let line = said.lines().find(|line| line.contains("D1  misses:"));
    let words = line.unwrap_or_else(|| panic!("{said}")).split(':').nth(1);
    let number = words.unwrap().split_whitespace().next().unwrap();
    Some(number.replace(',', "").parse().unwrap())
}

/// Two threads on two CPUs write to one line alternately.
pub fn turns() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    let program = program(here);
    let words: [(&str, &[&str]); 2] = [("many", &["turns", "700"]), ("few", &["turns", "200"])];
    bundle(here, &experiment(&program, 2, &words), "b");
    let asked = ["why", "b", "many", "few", "--cache", "--format", "json"];
    let why = document(here, &asked);
    adds_up(&why);
    let [many, few] = user_space(&why, "transfers");
    assert!((many - few - 500.0).abs() <= 5.0, "{many} {few}");
    Ok(())
}
