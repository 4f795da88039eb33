//! Figures with a planted difference in every input format: eight runs a side, one side 10 % lower;
//! and the same without a difference.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

/// Normal noise of one per cent, the same in every execution.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Eight figures around a mean.
    fn figures(&mut self, mean: f64) -> [f64; 8] {
        std::array::from_fn(|_| {
            let normal: f64 = (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0;
            let value = mean * (1.0 + 0.01 * normal);
            (value * 1e4).round() / 1e4
        })
    }

    fn shuffled<T>(&mut self, mut all: Vec<T>) -> Vec<T> {
        for last in (1..all.len()).rev() {
            all.swap(last, (self.uniform() * (last + 1) as f64) as usize);
        }
        all
    }
}

/// An input format: writes figures to a directory, and returns the arguments that judge them.
struct Form {
    name: &'static str,
    write: fn(&Path, [&[f64; 8]; 2]) -> Vec<String>,
}

const SIDES: [&str; 2] = ["base", "patched"];

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Writes a file for each side.
fn each(
    place: &Path,
    sides: [&[f64; 8]; 2],
    ending: &str,
    text: impl Fn(&[f64; 8]) -> String,
) -> Vec<String> {
    let mut arguments = vec!["audit".to_owned()];
    for (name, values) in SIDES.iter().zip(sides) {
        let file = format!("{name}-results.{ending}");
        fs::write(place.join(&file), text(values)).unwrap();
        arguments.push(format!("{name}={file}"));
    }
    arguments
}

fn rows(sides: [&[f64; 8]; 2], row: impl Fn(&str, f64) -> String) -> String {
    let pairs = SIDES.iter().zip(sides);
    let all = pairs.flat_map(|(name, values)| values.iter().map(|value| row(name, *value)));
    all.collect()
}

fn moments(values: &[f64; 8]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / 8.0;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / 7.0).sqrt())
}

fn tidy(place: &Path, sides: [&[f64; 8]; 2]) -> Vec<String> {
    let rows = rows(sides, |name, value| {
        format!("{name},build,time,s,{value}\n")
    });
    let text = format!("configuration,workload,metric,unit,value\n{rows}");
    fs::write(place.join("t.csv"), text).unwrap();
    words("audit t.csv")
}

fn wide(place: &Path, sides: [&[f64; 8]; 2]) -> Vec<String> {
    let mut text = "run,base,patched\n".to_owned();
    for (run, (base, patched)) in sides[0].iter().zip(sides[1]).enumerate() {
        writeln!(text, "{},{base},{patched}", run + 1).unwrap();
    }
    fs::write(place.join("w.csv"), text).unwrap();
    words("audit w.csv --columns-are configurations")
}

fn markdown(place: &Path, sides: [&[f64; 8]; 2]) -> Vec<String> {
    let rows = rows(sides, |name, value| {
        format!("| build | {name} | {value} |\n")
    });
    let text = format!("Results:\n\n| benchmark | kernel | value (s) |\n|---|---|--:|\n{rows}");
    fs::write(place.join("m.md"), text).unwrap();
    words("audit m.md")
}

fn tabs(place: &Path, sides: [&[f64; 8]; 2]) -> Vec<String> {
    let rows = rows(sides, |name, value| format!("{value}\t{name}\n"));
    fs::write(place.join("t.tsv"), format!("Result [s]\tVersion\n{rows}")).unwrap();
    words("audit t.tsv")
}

fn hyperfine(place: &Path, sides: [&[f64; 8]; 2]) -> Vec<String> {
    let results = SIDES.iter().zip(sides).map(|(name, values)| {
        let (mean, stddev) = moments(values);
        json!({ "command": format!("./{name}"), "mean": mean, "stddev": stddev, "median": mean,
                "user": mean, "system": 0.0, "min": mean, "max": mean,
                "times": values, "exit_codes": [0, 0, 0, 0, 0, 0, 0, 0] })
    });
    let results: Vec<Value> = results.collect();
    let text = format!("{:#}\n", json!({ "results": results }));
    fs::write(place.join("h.json"), text).unwrap();
    words("audit h.json")
}

fn google(place: &Path, sides: [&[f64; 8]; 2]) -> Vec<String> {
    each(place, sides, "json", |values| {
        let entries = values.iter().enumerate().map(|(index, value)| {
            json!({ "name": "BM_sum", "run_name": "BM_sum", "run_type": "iteration",
                    "repetitions": 8, "repetition_index": index, "threads": 1,
                    "iterations": 1000, "real_time": value, "cpu_time": value,
                    "time_unit": "ns" })
        });
        let entries: Vec<Value> = entries.collect();
        json!({ "context": { "executable": "./b" }, "benchmarks": entries }).to_string()
    })
}

fn pytest(place: &Path, sides: [&[f64; 8]; 2]) -> Vec<String> {
    each(place, sides, "json", |values| {
        let (mean, stddev) = moments(values);
        json!({ "machine_info": {}, "benchmarks": [ {
            "name": "test_sum", "fullname": "test_b.py::test_sum",
            "stats": { "mean": mean, "stddev": stddev, "rounds": 8, "data": values }
        } ], "version": "5.1.0" })
        .to_string()
    })
}

fn criterion(place: &Path, sides: [&[f64; 8]; 2]) -> Vec<String> {
    let mut arguments = vec!["audit".to_owned()];
    for (name, values) in SIDES.iter().zip(sides) {
        let directory = place.join(name).join("sum/new");
        fs::create_dir_all(&directory).unwrap();
        let times: Vec<f64> = values.iter().map(|value| value * 100.0).collect();
        let sample = json!({ "sampling_mode": "Flat", "iters": vec![100.0; 8], "times": times });
        fs::write(directory.join("sample.json"), sample.to_string()).unwrap();
        let named = json!({ "full_id": "sum" }).to_string();
        fs::write(directory.join("benchmark.json"), named).unwrap();
        arguments.push(format!("{name}={name}"));
    }
    arguments
}

fn perf(place: &Path, sides: [&[f64; 8]; 2]) -> Vec<String> {
    each(place, sides, "txt", |values| {
        let mut text = String::new();
        for value in values {
            writeln!(
                text,
                " Performance counter stats for './w':\n\n       {:.2} msec task-clock\n\n       \
                 {value:.4} seconds time elapsed\n",
                value * 900.0
            )
            .unwrap();
        }
        text
    })
}

fn go(place: &Path, sides: [&[f64; 8]; 2]) -> Vec<String> {
    each(place, sides, "txt", |values| {
        let mut text = "goos: linux\ngoarch: amd64\npkg: example.org/sum\n".to_owned();
        for value in values {
            writeln!(text, "BenchmarkSum-2   \t 1000\t {value:.1} ns/op").unwrap();
        }
        text + "PASS\n"
    })
}

/// The output of fio for a job, with eight files a side.
fn fio(place: &Path, sides: [&[f64; 8]; 2]) -> Vec<String> {
    let mut arguments = vec!["audit".to_owned()];
    for (name, values) in SIDES.iter().zip(sides) {
        for (run, value) in values.iter().enumerate() {
            let bandwidth = (value * 1000.0).round();
            let read = json!({ "io_bytes": 1_048_576, "io_kbytes": 1024,
                               "bw_bytes": bandwidth * 1024.0, "bw": bandwidth,
                               "iops": bandwidth / 4.0, "runtime": 10, "total_ios": 256 });
            let text = json!({ "fio version": "fio-3.33", "timestamp": 1_796_000_000,
                "time": "Sun Nov 29 02:10:08 2026",
                "jobs": [ { "jobname": "r", "groupid": 0, "error": 0, "read": read } ] });
            let file = format!("{name}{run}.json");
            fs::write(place.join(&file), format!("{text:#}\n")).unwrap();
            arguments.push(format!("{name}={file}"));
        }
    }
    arguments
}

fn means(place: &Path, sides: [&[f64; 8]; 2]) -> Vec<String> {
    let mut text = "| config | mean [s] | sd | n |\n|---|---|---|---|\n".to_owned();
    for (name, values) in SIDES.iter().zip(sides) {
        let (mean, sd) = moments(values);
        writeln!(text, "| {name} | {mean:.4} | {sd:.4} | 8 |").unwrap();
    }
    fs::write(place.join("means.md"), text).unwrap();
    words("audit means.md")
}

fn phoronix(place: &Path, sides: [&[f64; 8]; 2]) -> Vec<String> {
    let mut entries = String::new();
    for (name, values) in SIDES.iter().zip(sides) {
        let raw: Vec<String> = values.iter().map(f64::to_string).collect();
        let (mean, _) = moments(values);
        write!(
            entries,
            "<Entry><Identifier>{name}</Identifier><Value>{mean:.3}</Value>\
             <RawString>{}</RawString></Entry>",
            raw.join(":")
        )
        .unwrap();
    }
    let text = format!(
        "<?xml version=\"1.0\"?>\n<PhoronixTestSuite>\n<Result>\n\
         <Identifier>pts/build-linux-kernel-1.15.0</Identifier>\n\
         <Title>Timed Linux Kernel Compilation</Title>\n<Description>Build: defconfig\
         </Description>\n<Scale>Seconds</Scale>\n<Proportion>LIB</Proportion>\n\
         <DisplayFormat>BAR_GRAPH</DisplayFormat>\n<Data>{entries}</Data>\n</Result>\n\
         </PhoronixTestSuite>\n"
    );
    fs::write(place.join("composite.xml"), text).unwrap();
    words("audit composite.xml")
}

fn numbers(place: &Path, sides: [&[f64; 8]; 2]) -> Vec<String> {
    let mut arguments = each(place, sides, "txt", |values| {
        values.map(|value| format!("{value}\n")).concat()
    });
    arguments.extend(["--metric".to_owned(), "time s <".to_owned()]);
    arguments
}

const FORMS: [Form; 14] = [
    Form {
        name: "tidy CSV",
        write: tidy,
    },
    Form {
        name: "wide CSV",
        write: wide,
    },
    Form {
        name: "two files of numbers",
        write: numbers,
    },
    Form {
        name: "Markdown",
        write: markdown,
    },
    Form {
        name: "TSV",
        write: tabs,
    },
    Form {
        name: "hyperfine",
        write: hyperfine,
    },
    Form {
        name: "Google Benchmark",
        write: google,
    },
    Form {
        name: "pytest-benchmark",
        write: pytest,
    },
    Form {
        name: "criterion",
        write: criterion,
    },
    Form {
        name: "perf stat",
        write: perf,
    },
    Form {
        name: "go test",
        write: go,
    },
    Form {
        name: "fio",
        write: fio,
    },
    Form {
        name: "mean, sd, n",
        write: means,
    },
    Form {
        name: "Phoronix",
        write: phoronix,
    },
];

/// The comparisons of a document; the error is the output if there is none.
fn comparisons(place: &Path, arguments: &[String]) -> Result<Vec<Value>, String> {
    let done = Command::new(env!("CARGO_BIN_EXE_assize"))
        .args(arguments)
        .arg("--json")
        .current_dir(place)
        .output()
        .unwrap();
    if done.status.code() != Some(0) {
        return Err(String::from_utf8_lossy(&done.stderr).into_owned());
    }
    let document: Value = serde_json::from_slice(&done.stdout).unwrap();
    Ok(document["comparisons"].as_array().unwrap().clone())
}

/// Whether a comparison reports a difference.
fn differs(comparison: &Value) -> bool {
    ["established", "supported"].contains(&comparison["verdict"].as_str().unwrap())
}

#[test]
fn a_planted_tenth_is_found_in_every_form_and_a_null_in_none() {
    let mut wrong = Vec::new();
    for (at, form) in FORMS.iter().enumerate() {
        let mut noise = Noise(20_261_129 + 7919 * at as u64);
        for (what, mean) in [("planted", 1.8), ("null", 2.0)] {
            let place = tempfile::tempdir().unwrap();
            let (base, patched) = (noise.figures(2.0), noise.figures(mean));
            let arguments = (form.write)(place.path(), [&base, &patched]);
            let found = match comparisons(place.path(), &arguments) {
                Ok(found) => found,
                Err(error) => {
                    wrong.push(format!("{}, {what}: {error}", form.name));
                    continue;
                }
            };
            let lower = |one: &Value| one["ratio"].as_f64().is_some_and(|ratio| ratio < 1.0);
            let right = match what {
                "planted" => !found.is_empty() && found.iter().all(|c| differs(c) && lower(c)),
                _ => !found.is_empty() && !found.iter().any(differs),
            };
            if !right {
                wrong.push(format!("{}, {what}: {found:#?}", form.name));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of 28: {}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The verdicts and their figures, without the order of rows.
fn decided(found: &[Value]) -> Vec<[String; 6]> {
    let keys = [
        "workload",
        "configuration",
        "verdict",
        "ratio",
        "p",
        "p_adjusted",
    ];
    let mut all: Vec<[String; 6]> = found
        .iter()
        .map(|one| keys.map(|key| one[key].to_string()))
        .collect();
    all.sort();
    all
}

#[test]
fn layouts_and_the_order_of_rows_change_no_verdict() {
    for seed in 1..=6_u64 {
        let mut noise = Noise(seed * 104_729);
        let place = tempfile::tempdir().unwrap();
        let mean = if seed % 2 == 0 { 1.8 } else { 2.0 };
        let values = [noise.figures(2.0), noise.figures(mean)];
        let mut rows: Vec<(&str, f64)> = Vec::new();
        for (name, values) in SIDES.iter().zip(values) {
            rows.extend(values.map(|value| (*name, value)));
        }
        let mut texts: Vec<(String, String)> = Vec::new();
        for turn in 0..2 {
            let csv: String = rows.iter().map(|(c, v)| format!("{c},{v}\n")).collect();
            texts.push((format!("{turn}.csv"), format!("config,value\n{csv}")));
            let marked: String = rows
                .iter()
                .map(|(c, v)| format!("| {v} | {c} |\n"))
                .collect();
            let head = "| value | config |\n|---|---|\n";
            texts.push((format!("{turn}.md"), format!("{head}{marked}")));
            let lines = rows
                .iter()
                .map(|(c, v)| format!("{}\n", json!({ "value": v, "configuration": c })));
            texts.push((format!("{turn}.jsonl"), lines.collect()));
            rows = noise.shuffled(rows);
        }
        let mut wide = "configuration=base;configuration=patched\n".to_owned();
        for (base, patched) in values[0].iter().zip(values[1]) {
            writeln!(wide, "{base};{patched}").unwrap();
        }
        texts.push(("wide.csv".to_owned(), wide));
        let mut first = None;
        for (name, text) in texts {
            fs::write(place.path().join(&name), &text).unwrap();
            let found = comparisons(place.path(), &words(&format!("audit {name}"))).unwrap();
            let found = decided(&found);
            let expected = first.get_or_insert_with(|| found.clone());
            assert_eq!(*expected, found, "seed {seed}, {name}");
        }
    }
}
