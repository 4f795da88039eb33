//! Bundles with planted effects, and the facts that a reader must find at once: direction, size and
//! certainty.

use std::fs;
use std::path::{Path, PathBuf};

use assize_bundle::{Events, Head, Measurement, Place, RunExit, Writer};
use serde_json::json;

use super::{artefacts, invented};
use crate::common::printed;

/// The answer must be within this many lines on a terminal.
const LINES: usize = 12;
/// Runs of each configuration on each workload: enough to establish a difference.
const RUNS: u32 = 7;

/// A planted effect.
struct Planted {
    name: &'static str,
    configurations: &'static [&'static str],
    workloads: &'static [&'static str],
    metric: &'static str,
    /// The value of a configuration on a workload, both by index; that of the first configuration
    /// is 100.
    value: fn(usize, usize) -> f64,
    /// How many runs of the last configuration fail.
    failed: u32,
    /// Whether the metric is declared primary with less being better.
    primary: bool,
    /// Events in each run of a configuration.
    events: Option<fn(usize) -> u64>,
    finds: &'static [Finding],
}

/// A fact that must be found about one configuration.
struct Finding {
    configuration: &'static str,
    /// The verdict in words.
    says: &'static str,
    /// The size of the effect, to within a hundredth of it.
    per_cent: f64,
    /// The words that the heading must contain; a direction, if there is one.
    heading: &'static str,
}

const fn finding(
    configuration: &'static str,
    says: &'static str,
    per_cent: f64,
    heading: &'static str,
) -> Finding {
    Finding {
        configuration,
        says,
        per_cent,
        heading,
    }
}

const LESS: &str = "less is better";
const BUSY: &str = "busy_time_per_job";
const TWO: &[&str] = &["sync", "frames"];

static PLANTED: [Planted; 9] = [
    Planted {
        name: "all-better",
        value: |c, _| [100.0, 80.0][c],
        finds: &[finding("change", "better in both workloads", -20.0, LESS)],
        ..PLAIN
    },
    Planted {
        name: "all-worse",
        value: |c, _| [100.0, 125.0][c],
        finds: &[finding("change", "worse in both workloads", 25.0, LESS)],
        ..PLAIN
    },
    Planted {
        name: "mixed",
        value: |c, w| [[100.0, 100.0], [70.0, 140.0]][c][w],
        finds: &[
            finding("change", "better in 1, worse in 1 of 2", -30.0, LESS),
            finding("change", "better in 1, worse in 1 of 2", 40.0, LESS),
        ],
        ..PLAIN
    },
    Planted {
        name: "nothing",
        value: |_, _| 100.0,
        finds: &[finding(
            "change",
            "no difference larger than 1 %",
            0.0,
            LESS,
        )],
        ..PLAIN
    },
    Planted {
        name: "one-workload",
        workloads: &["sync"],
        metric: "score",
        value: |c, _| [100.0, 110.0][c],
        finds: &[finding("change", "better", 10.0, "more is better")],
        ..PLAIN
    },
    Planted {
        name: "rare-events",
        workloads: &["frames"],
        value: |_, _| 100.0,
        events: Some(|c| [9, 1][c]),
        finds: &[finding("change", "likely better", -84.8, "Frames missed")],
        ..PLAIN
    },
    Planted {
        name: "many-configurations",
        configurations: &["base", "a", "b", "c", "d", "e", "f"],
        workloads: &["sync"],
        value: |c, _| 100.0 - 6.0 * c as f64,
        finds: &[
            finding("f", "better", -36.0, LESS),
            finding("e", "better", -30.0, LESS),
        ],
        ..PLAIN
    },
    Planted {
        name: "failed-runs",
        workloads: &["sync"],
        value: |c, _| [100.0, 60.0][c],
        failed: 1,
        finds: &[finding("change", "better", -40.0, LESS)],
        ..PLAIN
    },
    Planted {
        name: "neutral",
        metric: "cpus_used",
        primary: false,
        workloads: &["sync"],
        value: |c, _| [100.0, 150.0][c],
        finds: &[finding("change", "more", 50.0, "CPUs that were used")],
        ..PLAIN
    },
];

const PLAIN: Planted = Planted {
    name: "",
    configurations: &["base", "change"],
    workloads: TWO,
    metric: BUSY,
    value: |_, _| 100.0,
    failed: 0,
    primary: true,
    events: None,
    finds: &[],
};

/// Returns the pages in the form that `pages.mjs` expects, after checking the lines on a
/// terminal.
pub fn pages() -> Vec<(PathBuf, String)> {
    let place = tempfile::tempdir().unwrap();
    let mut pages = Vec::new();
    for planted in &PLANTED {
        planted.write(&place.path().join(planted.name));
        let asked = ["report", planted.name];
        let page = page(place.path(), planted.name, &asked, planted.finds);
        pages.push((page, listed(planted.finds)));
    }
    pages.push((index(place.path()), "[]".to_owned()));
    pages.push((trend(place.path()), "[]".to_owned()));
    // The same effect in a post: two commands, the second of which takes a fifth less.
    let times = |mean: f64| (0..RUNS).map(move |run| mean * scatter(run));
    let result = |command: &str, mean: f64| json!({"command": command, "mean": mean, "stddev": 0.001, "times": times(mean).collect::<Vec<_>>()});
    let results = json!({"results": [result("base", 0.1), result("change", 0.08)]});
    let post = format!("From: nobody <nobody@example.org>\nSubject: faster\n\n{results:#}\n");
    fs::write(place.path().join("post.txt"), post).unwrap();
    let finds = &[finding("change", "likely better", -20.0, LESS)];
    let page = page(place.path(), "audit", &["audit", "post.txt"], finds);
    pages.push((page, listed(finds)));
    pages
}

/// Writes a trend of bundles; from the fourth on they are a fifth faster.
fn trend(place: &Path) -> PathBuf {
    let before = Planted {
        name: "trend",
        configurations: &["base"],
        ..PLAIN
    };
    let after = Planted {
        value: |_, _| 80.0,
        ..before
    };
    let directory = place.join("trend");
    for at in 0..6 {
        let planted = [&before, &after][usize::from(at >= 3)];
        planted.write(&directory.join(format!("n{at}")));
    }
    let page = artefacts().join("planted-trend.html");
    let to = page.display().to_string();
    let asked = [
        "trend", "trend", "--order", "path", "--format", "html", "-o", &to,
    ];
    printed(place, &asked);
    page
}

/// Writes an index page, which must have the answer of each bundle.
fn index(place: &Path) -> PathBuf {
    printed(place, &["index", "."]);
    let page = artefacts().join("planted-index.html");
    fs::copy(place.join("index.html"), &page).unwrap();
    let text = fs::read_to_string(&page).unwrap().replace('\u{a0}', " ");
    let rows: Vec<&str> = text.split("<tr data-bundle=").skip(1).collect();
    assert_eq!(rows.len(), PLANTED.len());
    for planted in &PLANTED {
        let named = |row: &&&str| row.starts_with(&format!("\"{}\"", planted.name));
        let row = rows.iter().find(named);
        let row = row.unwrap_or_else(|| panic!("{} is not in {text}", planted.name));
        let one = &planted.finds[0];
        let says = format!("{}: {}", one.configuration, one.says);
        assert!(row.contains(&says), "{says} is not in {row}");
        assert!(row.contains(one.heading), "{} is not in {row}", one.heading);
    }
    page
}

/// The findings for the browser script.
fn listed(finds: &[Finding]) -> String {
    let finds = finds.iter().map(|one| {
        json!({"configuration": one.configuration, "says": one.says, "per_cent": one.per_cent, "heading": one.heading})
    });
    json!(finds.collect::<Vec<_>>()).to_string()
}

fn page(place: &Path, name: &str, asked: &[&str], finds: &[Finding]) -> PathBuf {
    let text = printed(
        place,
        &[asked, &["--format", "brief", "--color", "never"]].concat(),
    );
    let seen: Vec<&str> = text.lines().take(LINES).collect();
    for one in finds {
        one.is_in(&seen)
            .unwrap_or_else(|why| panic!("{name}: {why}:\n{text}"));
    }
    let page = artefacts().join(format!("planted-{name}.html"));
    let html = page.display().to_string();
    printed(place, &[asked, &["--format", "html", "-o", &html]].concat());
    page
}

impl Finding {
    /// Whether the lines contain a heading and, below it, the configuration with words
    /// and size.
    fn is_in(&self, lines: &[&str]) -> Result<(), String> {
        let heading = lines.iter().position(|line| line.contains(self.heading));
        let heading = heading.ok_or_else(|| format!("no line says {}", self.heading))?;
        let named = |line: &&str| line.split_whitespace().next() == Some(self.configuration);
        let below = &lines[heading + 1..];
        let at = below.iter().position(named);
        let at = at.ok_or_else(|| format!("no line of {}", self.configuration))?;
        // Lines that continue the row are indented further.
        let rest = below[at + 1..].iter();
        let rest = rest.take_while(|line| line.starts_with("     "));
        let line = rest.fold(below[at].to_owned(), |line, next| {
            line + " " + next.trim_start()
        });
        let said = line.trim_start()[self.configuration.len()..].trim_start();
        if !said.starts_with(self.says) {
            return Err(format!("{line} does not say {}", self.says));
        }
        let near = |one: f64| (one - self.per_cent).abs() <= self.per_cent.abs() / 100.0 + 0.2;
        let words: Vec<&str> = line.split_whitespace().collect();
        let sizes = words.windows(2).filter(|two| two[1].starts_with('%'));
        let mut sizes = sizes.filter_map(|two| two[0].parse::<f64>().ok());
        match sizes.any(near) {
            true => Ok(()),
            false => Err(format!("{line} does not say {} %", self.per_cent)),
        }
    }
}

/// A factor by which runs differ; nearly the same for all configurations of a block.
fn scatter(run: u32) -> f64 {
    1.0 + f64::from(run * 7919 % 101) / 1e5
}

impl Planted {
    fn write(&self, place: &Path) {
        let head = Head {
            source: format!("{}.toml", self.name),
            plan: json!({"margin": 0.01, "runs": []}),
            target: "host".into(),
            machine: "planted".into(),
            title: format!("Planted: {}", self.name),
            question: "Does the change make it better?".into(),
            configurations: invented::configurations_named(self.configurations),
            workloads: self
                .workloads
                .iter()
                .map(|name| (*name).to_owned())
                .collect(),
            primary: if self.primary {
                vec![self.metric.to_owned()]
            } else {
                Vec::new()
            },
            higher_is_better: vec!["score".to_owned()],
            planned_runs: RUNS * (self.configurations.len() * self.workloads.len()) as u32,
            ..Head::default()
        };
        let writer = Writer::create(place, &head).unwrap();
        let mut index = 0;
        for block in 0..RUNS {
            for at in 0..self.configurations.len() {
                for workload in 0..self.workloads.len() {
                    writer.put(&self.run(index, block, at, workload)).unwrap();
                    index += 1;
                }
            }
        }
    }

    fn run(&self, index: u32, block: u32, at: usize, workload: usize) -> assize_bundle::RunRecord {
        let names = (self.configurations[at], self.workloads[workload]);
        let mut recorded = invented::plain(index, block, names.0, names.1);
        let last = at + 1 == self.configurations.len();
        if last && block < self.failed {
            recorded.exit = RunExit::Failed {
                why: "planted".into(),
                console: String::new(),
            };
            return recorded;
        }
        let value = (self.value)(at, workload) * scatter(index);
        let metrics = &mut recorded.run.metrics;
        metrics.insert(self.metric.to_owned(), Measurement::new(value, "ns"));
        if let Some(events) = self.events {
            recorded.events = vec![Events {
                configuration: names.0.to_owned(),
                workload: names.1.to_owned(),
                event: "frames_missed".into(),
                count: events(at) + u64::from(block % 2),
                exposure_s: Some(10.0),
                times_s: vec![],
                span_s: None,
                tolerated_s: None,
                by_run: Vec::new(),
                place: Place::default(),
            }];
        }
        recorded
    }
}
