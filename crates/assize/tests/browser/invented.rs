//! Synthetic bundles and posts: names that attack a page, and the maximum that a page
//! holds.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use assize_bundle::{
    Configuration, DeclaredTable, DeclaredTradeoff, DeclaredTradeoffMetric, Doubt, Events, Head,
    Measurement, Place, Run, RunExit, RunRecord, Samples, Writer,
};
use assize_why::When;
use assize_why::when::{
    Bad, DrawnMoment, DrawnShare, PartedCpu, Parting, PathStep, SCHEMA, WhenAnswer,
};
use serde_json::json;

/// Strings that a page must survive wherever a name can be.
const ATTACKS: [&str; 9] = [
    "</script><script>document.title='harmed'</script>",
    "<img src=x onerror=alert(1)>",
    "\"'><svg onload=alert(2)>",
    "--><a href=javascript:alert(3)>&lt;&amp;",
    "{{ 7 * 7 }}{% raw %}${7 * 7}",
    "a\u{202e}desrever\u{2066}b",
    "</style></textarea></title><meta http-equiv=refresh content=0;url=//example.org>",
    "`=cmd|' /C calc'!A0\\u003cimg\\n",
    "__proto__",
];

/// A word without a place for a line break.
fn word(letters: usize) -> String {
    "x".repeat(letters)
}

/// One of the attacks, or a long word.
fn attack(at: usize) -> String {
    match ATTACKS.get(at % (ATTACKS.len() + 1)) {
        Some(text) => (*text).to_owned(),
        None => word(150),
    }
}

/// Writes a bundle in which all text is an attack. Returns the names of two
/// configurations and a workload.
pub fn hostile(place: &Path) -> [String; 3] {
    let names: Vec<String> = (0..5).map(|at| attack(at + 1)).chain([word(150)]).collect();
    let workloads = [attack(0), attack(6), format!("{}{}", word(90), attack(2))];
    let all = ATTACKS.join(" ");
    let head = Head {
        source: format!("{}.toml", attack(1)),
        experiment: format!("# {all}\ntitle = \"{}\"\n", word(400)),
        plan: json!({"margin": 0.01, "runs": []}),
        target: "host".into(),
        machine: attack(1),
        title: format!("{} {}", attack(0), attack(5)),
        question: format!("{all} {}?", word(200)),
        configurations: configurations(&names),
        level_settings: Vec::new(),
        same: BTreeMap::new(),
        factors: vec![attack(1), attack(5)],
        workloads: workloads.to_vec(),
        primary: vec![attack(0)],
        higher_is_better: vec![],
        claims: vec![],
        tables: vec![DeclaredTable {
            metric: attack(0),
            workloads: workloads.to_vec(),
            normalised_to: Some(workloads[0].clone()),
            factor: None,
            ..DeclaredTable::default()
        }],
        tradeoffs: vec![DeclaredTradeoff {
            x: traded(&attack(0), workloads[0].clone()),
            y: traded(&attack(0), workloads[1].clone()),
            place: attack(0),
        }],
        planned_runs: 108,
        facts: (0..ATTACKS.len())
            .map(|at| (attack(at), format!("{} {}", attack(at + 1), word(150))))
            .collect(),
        limits: (0..ATTACKS.len()).map(attack).collect(),
    };
    let writer = Writer::create(place, &head).unwrap();
    let mut index = 0;
    for block in 0..6 {
        for name in &names {
            for workload in &workloads {
                writer
                    .put(&hostile_run(index, block, name, workload))
                    .unwrap();
                index += 1;
            }
        }
    }
    [names[1].clone(), names[0].clone(), workloads[0].clone()]
}

/// A result of `assize when` for run 0 with these names; functions get the last one.
pub fn certain([configuration, workload, function]: [&str; 3]) -> When {
    let begin = 4_312_000_000;
    let moment = |at: u32| DrawnMoment {
        time_ns: begin + u64::from(at) * 1_000_000,
        instruction: begin + u64::from(at) * 1_000_000,
        share: DrawnShare::new(at.min(20), 20),
    };
    let step = |time_ns| PathStep {
        time_ns,
        what: function.into(),
    };
    let parted = PartedCpu {
        cpu: 1,
        time_ns: begin,
        within: function.into(),
        common: vec![step(begin)],
        bad: vec![step(begin + 1), step(begin + 2)],
        good: vec![step(begin + 1)],
    };
    When {
        schema: SCHEMA.into(),
        run: 0,
        configuration: configuration.into(),
        workload: workload.into(),
        seed: 1,
        cpus: 2,
        bad: Bad::Sample {
            metric: function.into(),
            number: 7,
            of: 9,
            value: 4e6,
            median: 4e3,
            threshold: 2e6,
            unit: "ns".into(),
            begin_ns: begin,
            end_ns: begin + 4_000_000,
        },
        answer: WhenAnswer::Moment {
            open_ns: moment(19).time_ns,
            certain_ns: moment(20).time_ns,
            rises: Vec::new(),
        },
        moments: (0..24).map(moment).collect(),
        seeds: None,
        parting: Some(Parting {
            from_ns: begin,
            until_ns: begin + 9,
            draw: 3,
            cpus: vec![parted.clone()],
            events: vec![parted],
        }),
    }
}

fn traded(metric: &str, workload: String) -> DeclaredTradeoffMetric {
    DeclaredTradeoffMetric {
        metric: metric.to_owned(),
        workload,
        higher_is_better: false,
    }
}

/// The last one repeats the first; the others form a grid of two factors.
fn configurations(names: &[String]) -> Vec<Configuration> {
    let named = |(at, name): (usize, &String)| Configuration {
        name: name.clone(),
        label: attack(at),
        factors: if at < 4 {
            BTreeMap::from([(attack(1), at & 1 == 1), (attack(5), at & 2 == 2)])
        } else {
            BTreeMap::new()
        },
        repeats: (at + 1 == names.len()).then(|| names[0].clone()),
    };
    names.iter().enumerate().map(named).collect()
}

fn hostile_run(index: u32, block: u32, configuration: &str, workload: &str) -> RunRecord {
    let mut recorded = plain(index, block, configuration, workload);
    let scatter = f64::from(index * 7919 % 101) / 1000.0;
    let size = 1.0 + configuration.len() as f64 / 40.0 + scatter;
    let mut metric = |name: String, value: f64, unit: String| {
        recorded
            .run
            .metrics
            .insert(name, Measurement::new(value, unit));
    };
    metric(attack(0), size, attack(1));
    metric(attack(1), size * 1e21, "s".into());
    metric(attack(5), size * 1e-9, attack(5));
    metric(attack(8), (size - 2.5) * 1e3, attack(6));
    metric(word(120), scatter - 0.05, word(40));
    metric("constructor".into(), 1.0, String::new());
    metric("cpu0_non_idle".into(), size, "s".into());
    recorded.doubts = vec![Doubt {
        code: "lost-events".into(),
        detail: format!("{} {}", ATTACKS.join(" "), word(150)),
        place: Place::default(),
    }];
    recorded.events = vec![Events {
        configuration: configuration.into(),
        workload: workload.into(),
        event: attack(2),
        count: u64::from(index % 3),
        exposure_s: Some(10.0),
        times_s: vec![],
        span_s: None,
        tolerated_s: None,
        by_run: Vec::new(),
        place: Place::default(),
    }];
    recorded.samples = vec![
        samples(&attack(0), index, 20),
        samples(&word(120), index, 20),
    ];
    recorded.raw = vec![];
    recorded
}

pub fn plain(index: u32, block: u32, configuration: &str, workload: &str) -> RunRecord {
    let mut run = Run::new(configuration, workload, block + 1);
    run.order = index;
    run.block = Some(block);
    RunRecord::new(index, u64::from(index), run, RunExit::Completed)
}

fn samples(metric: &str, index: u32, count: u32) -> Samples {
    Samples {
        metric: metric.into(),
        unit: "ns".into(),
        start_ns: None,
        t_ns: (0..u64::from(count)).map(|at| at * 500).collect(),
        values: (0..count)
            .map(|at| f64::from(1000 + at * 7919 % 65_537 + index))
            .collect(),
    }
}

/// A mail with a hyperfine export and lines that attack.
pub fn post() -> String {
    let mut text = String::from("From: nobody <nobody@example.org>\nSubject: [PATCH] faster\n\n");
    for attack in ATTACKS {
        let _ = writeln!(text, "> {attack}");
    }
    let _ = writeln!(text, "{}\n", word(500));
    let mut results = Vec::new();
    for at in 0..=ATTACKS.len() {
        let times: Vec<f64> = (0..6)
            .map(|run| 0.1 + 0.01 * at as f64 + 0.0007 * f64::from(run * 5 % 6))
            .collect();
        results.push(json!({"command": attack(at), "mean": 0.1, "stddev": 0.001, "times": times}));
    }
    let _ = writeln!(text, "{:#}", json!({ "results": results }));
    text
}

/// The maximum that a page holds: a hundred runs, with enough samples to be thinned.
pub fn large(place: &Path) {
    let names = ["base", "one", "two", "three", "four"];
    let workloads = ["stream", "frames"];
    let head = Head {
        source: "large.toml".into(),
        experiment: String::new(),
        plan: json!({"margin": 0.01, "runs": []}),
        target: "host".into(),
        machine: "invented".into(),
        title: "As much as a page holds".into(),
        question: "How long does it take until it can be used?".into(),
        configurations: configurations_named(&names),
        level_settings: Vec::new(),
        same: BTreeMap::new(),
        factors: vec![],
        workloads: workloads.map(String::from).to_vec(),
        primary: vec!["metric00".into()],
        higher_is_better: vec![],
        claims: vec![],
        tables: vec![],
        tradeoffs: vec![],
        planned_runs: 100,
        facts: BTreeMap::new(),
        limits: vec![],
    };
    let writer = Writer::create(place, &head).unwrap();
    for index in 0..100 {
        let (block, cell) = (index / 10, (index % 10) as usize);
        let mut recorded = plain(index, block, names[cell / 2], workloads[cell % 2]);
        for metric in 0..60 {
            let scatter = f64::from(index * 7919 % 101 + metric * 13 % 17) / 1000.0;
            let value = (1.0 + cell as f64 / 50.0 + scatter) * 10f64.powi(metric as i32 % 7);
            let value = Measurement::new(value, "ns");
            recorded
                .run
                .metrics
                .insert(format!("metric{metric:02}"), value);
        }
        recorded.samples = ["latency", "wakeup", "round_trip", "gap"]
            .map(|metric| samples(metric, index, 600))
            .to_vec();
        writer.put(&recorded).unwrap();
    }
}

/// A bundle from one of several machines.
pub fn machine(place: &Path, name: &str, at: u32) {
    let names = ["base", "queue", "bypass"];
    let workloads = ["stream", "frames"];
    let configuration = |name: &&str| json!({"name": name, "machine": {"cpus": 2}, "setup": []});
    let head = Head {
        source: "machines.toml".into(),
        experiment: "title = \"A queue on three machines\"\n".into(),
        plan: json!({
            "margin": 0.01, "until": null, "seed": 1, "runs": [], "instruments": ["time"], "overrides": {},
            "configurations": names.iter().map(configuration).collect::<Vec<_>>(),
        }),
        target: "host".into(),
        machine: name.into(),
        title: "A queue on three machines".into(),
        question: "Does it cost less on all of them?".into(),
        configurations: configurations_named(&names),
        workloads: workloads.map(String::from).to_vec(),
        primary: vec!["time".into()],
        tradeoffs: vec![DeclaredTradeoff {
            x: traded("time", workloads[0].into()),
            y: traded("switches", workloads[1].into()),
            place: "machines.toml:2: tradeoffs[0]".into(),
        }],
        planned_runs: 48,
        facts: BTreeMap::from([("host_cpu".into(), format!("that of {name}"))]),
        ..Head::default()
    };
    let writer = Writer::create(place, &head).unwrap();
    for index in 0..48 {
        let (block, cell) = (index / 6, (index % 6) as usize);
        let mut recorded = plain(index, block, names[cell / 2], workloads[cell % 2]);
        let scatter = 1.0 + f64::from((7 * index + 3 * at) % 11) / 1000.0;
        let of = |effects: [f64; 3]| scatter * effects[cell / 2];
        let size = 0.9 - 0.1 * f64::from(at);
        let opposite = if at == 2 { 1.2 } else { 0.8 };
        for (metric, value, unit) in [
            ("time", 3.0 * of([1.0, 0.8, 0.7]), "s"),
            ("wait", 40.0 * of([1.0, size, 0.95]), "us"),
            ("switches", 900.0 * of([1.0, opposite, 1.0]), ""),
            (
                "drift",
                of([1.0, 1.0, 3.0]) - 2.0 - f64::from(block % 3),
                "ns",
            ),
        ] {
            let value = Measurement::new(value, unit);
            recorded.run.metrics.insert(metric.into(), value);
        }
        // There is no ratio on one machine, as the baseline is zero.
        let none = at == 0 && cell / 2 == 0;
        let stalls = if none {
            0.0
        } else {
            20.0 * of([1.0, 0.5, 0.4])
        };
        let stalls = Measurement::new(stalls, "us");
        recorded.run.metrics.insert("stalls".into(), stalls);
        if cell / 2 > 0 {
            let raises = Measurement::new(5.0 * of([1.0, 1.0, 2.0]), "");
            recorded.run.metrics.insert("raises".into(), raises);
        }
        recorded.samples = vec![samples("latency", index + 100 * at, 50)];
        writer.put(&recorded).unwrap();
    }
}

pub fn configurations_named(names: &[&str]) -> Vec<Configuration> {
    let named = |name: &&str| Configuration {
        name: (*name).into(),
        label: (*name).into(),
        ..Configuration::default()
    };
    names.iter().map(named).collect()
}
