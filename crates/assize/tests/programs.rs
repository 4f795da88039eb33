//! `assize compare --target exact` on programs of this machine: a planted difference has its size,
//! equal code has none, and each program prints there what it prints here.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Outcome, assize, document, errors, skip};
use serde_json::Value;

crate::common::tests! {
    needs ["agent", "QEMU", "kernel debian:6.12"];
    two_thousandths_more_instructions_are_found_with_their_number = planted,
    programs_print_what_they_print_here = everyday,
    a_missing_file_is_named_with_the_option_that_carries_it = missing,
}

/// Loops of 20 million instructions, and of 40,000 more.
const COUNTS: [(&str, u32); 3] = [("a", 10_000_000), ("b", 10_020_000), ("c", 10_000_000)];
const SOURCE: &str = r#"
#include <stdio.h>
void planted(void);
asm(".text\n.type planted, @function\n"
    "planted: mov $COUNT, %ecx\n1: dec %ecx\n jnz 1b\n ret\n.size planted, . - planted\n");
int main(void) { planted(); puts("done"); return 0; }
"#;

fn run(place: &Path, program: &str, words: &[&str]) -> Result<String, String> {
    let done = Command::new(program)
        .args(words)
        .current_dir(place)
        .output();
    let done = done.map_err(|error| format!("{program}: {error}"))?;
    match done.status.success() {
        true => Ok(String::from_utf8_lossy(&done.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
    }
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

fn planted() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    for (name, count) in COUNTS {
        fs::write(
            here.join("x.c"),
            SOURCE.replace("COUNT", &count.to_string()),
        )?;
        run(here, "cc", &["-O1", "-o", name, "x.c"])?;
    }
    let asked = [
        "compare",
        "--target",
        "exact",
        "--no-trace",
        "--quiet",
        "--json",
        "--out",
        "o",
    ];
    let judged = document(here, &[&asked[..], &["./a", "./b", "./c"]].concat());
    let row = |configuration: &str| -> &Value {
        let rows = judged["comparisons"].as_array().unwrap();
        let wanted = |row: &&Value| {
            row["metric"] == "guest_instructions" && row["configuration"] == configuration
        };
        rows.iter().find(wanted).unwrap()
    };
    let (more, same) = (row("b"), row("c"));
    let number = |value: &Value| value.as_f64().unwrap();
    let planted = number(&more["mean"]) - number(&more["mean_baseline"]);
    assert!((planted - 40_000.0).abs() < 400.0, "{more}");
    let truth = 1.0 + 40_000.0 / number(&more["mean_baseline"]);
    let (from, to) = (number(&more["ci"][0]), number(&more["ci"][1]));
    assert!(
        from < truth * 1.00001 && truth < to * 1.00001,
        "{truth}: {more}"
    );
    assert_eq!(more["verdict"], "established");
    assert!((number(&same["ratio"]) - 1.0).abs() < 1e-5, "{same}");
    assert_ne!(same["verdict"], "established");
    let why = document(here, &["why", "o", "b", "a", "--format", "json"]);
    let first = &why["functions"][0];
    assert!(
        first["name"].as_str().unwrap().starts_with("planted ["),
        "{first}"
    );
    Ok(())
}

/// What a command prints on the exact machine, and here.
fn prints(here: &Path, commands: [&str; 2]) -> Outcome {
    // Elsewhere, or the commands that list this directory would find it.
    let place = tempfile::tempdir()?;
    let out = place.path().join("o").display().to_string();
    let asked = [
        "compare", "--target", "exact", "--quiet", "-r", "2", "--out", &out,
    ];
    let done = assize(here, &[&asked[..], &commands].concat());
    assert!(done.status.success(), "{commands:?}: {}", errors(&done));
    let mut there: Vec<String> = fs::read_dir(place.path().join("o/raw"))?
        .map(|entry| fs::read_to_string(entry?.path()))
        .collect::<Result<_, _>>()?;
    there.sort();
    there.dedup();
    let mut printed = commands.map(|command| run(here, "sh", &["-c", command]).unwrap());
    printed.sort();
    assert_eq!(there, printed);
    Ok(())
}

fn everyday() -> Outcome {
    if !has("strace") {
        skip("strace is not installed");
        return Ok(());
    }
    let place = tempfile::tempdir()?;
    let here = place.path();
    fs::write(
        here.join("a.py"),
        "import json, sys\nprint(json.dumps(sys.argv[1:]))\n",
    )?;
    fs::write(here.join("words"), "b\na\n")?;
    prints(here, ["/usr/bin/python3 a.py 1", "/usr/bin/python3 a.py 2"])?;
    prints(here, ["ls; sort < words", "ls -a | sort -r"])?;
    fs::write(
        here.join("a.rs"),
        "fn main() { println!(\"{:?}\", std::env::args()); }",
    )?;
    if has("rustc") {
        run(here, "rustc", &["-O", "a.rs"])?;
        prints(here, ["./a 1", "./a 2"])?;
    }
    if has("git") {
        run(here, "git", &["init", "-q", "."])?;
        run(here, "git", &["add", "words"])?;
        prints(here, ["git status --short", "git status"])?;
    }
    if has("sqlite3") {
        run(
            here,
            "sqlite3",
            &["db", "create table t(a); insert into t values (3), (4);"],
        )?;
        prints(
            here,
            [
                "sqlite3 db 'select a from t'",
                "sqlite3 db 'select sum(a) from t'",
            ],
        )?;
    }
    let go = "package main\nimport (\"fmt\"; \"os\")\nfunc main() { fmt.Println(os.Args) }\n";
    fs::write(here.join("b.go"), go)?;
    if Command::new("go").arg("version").output().is_ok() {
        run(here, "go", &["build", "-o", "b", "b.go"])?;
        prints(here, ["./b 1", "./b 2"])?;
    }
    Ok(())
}

fn missing() -> Outcome {
    let place = tempfile::tempdir()?;
    let here = place.path();
    fs::write(here.join("words"), "a\n")?;
    let asked = ["compare", "--target", "exact", "--no-trace", "-r", "2"];
    let commands = ["cat words", "cat -A words"];
    let failed = assize(here, &[&asked[..], &commands].concat());
    assert_eq!(failed.status.code(), Some(3));
    let why = errors(&failed);
    assert!(
        why.contains("No such file") && why.contains("--with PATH"),
        "{why}"
    );
    let with = [&asked[..], &["--with", "words", "--out", "o"], &commands].concat();
    let done = assize(here, &with);
    assert!(done.status.success(), "{}", errors(&done));
    Ok(())
}
