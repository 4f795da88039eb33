//! Means printed next to a change imply that change, or name the machine they are from.

use std::collections::BTreeSet;

use assize_bundle::{Configuration, Measurement, Records, Run, ThinnedEvidence};
use assize_report::html::{About, ReportPage, html};
use assize_report::{Brief, MetricWords, Style, brief, text};
use assize_verdict::{Better, Document, Options, try_records};
use regex::{Captures, Regex};

/// A number in text.
const NUMBER: &str = r"[-+]?[0-9.]+(?:e[-+]?[0-9]+)?";

/// Pseudo-random numbers from a seed (splitmix64).
pub(crate) struct Source(pub(crate) u64);

impl Source {
    pub(crate) fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.share()
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.share() * n as f64) as usize
    }
}

/// A baseline and two configurations on up to three machines and workloads, with effects of every
/// size that differ between machines.
fn records(seed: u64) -> Records {
    let mut source = Source(seed);
    let machines = &["alpha", "beta", "gamma"][..1 + source.below(3)];
    let workloads = ["sync", "frames", "idle"][..1 + source.below(3)].to_vec();
    let mut records = Records {
        source: "planted.bundle".into(),
        primary: vec!["latency".into()],
        workloads: workloads.iter().map(|name| (*name).to_owned()).collect(),
        ..Records::default()
    };
    for name in ["base", "one", "two"] {
        records.configurations.push(Configuration {
            name: name.into(),
            label: name.into(),
            ..Configuration::default()
        });
    }
    for (at, machine) in (0_u32..).zip(machines) {
        for workload in &workloads {
            let size = 10_f64.powf(source.between(1.0, 8.0));
            let noise = 10_f64.powf(source.between(-3.0, -0.5));
            for name in ["base", "one", "two"] {
                let effect = match name {
                    "base" => 0.0,
                    _ if source.share() < 0.5 => source.between(-0.1, 0.1),
                    _ => source.between(-4.0, 7.0),
                };
                for repetition in 1..=6 {
                    let mut run = Run::new(name, *workload, repetition);
                    run.machine = (machines.len() > 1).then(|| (*machine).to_owned());
                    run.block = Some(100 * at + repetition);
                    run.order = 100 * at + repetition;
                    let value = size * (effect + noise * source.between(-1.0, 1.0)).exp();
                    let latency = Measurement::new(value, "ns");
                    run.metrics.insert("latency".into(), latency);
                    records.runs.push(run);
                }
            }
        }
    }
    records
}

fn metrics() -> Vec<MetricWords> {
    vec![MetricWords {
        metric: "latency".into(),
        title: "latency".into(),
        better: Some(Better::Lower),
    }]
}

/// The text of a page without its markup.
fn page(document: &Document) -> String {
    let about = About {
        metrics: metrics(),
        ..About::default()
    };
    let page = ReportPage {
        document,
        others: &[],
        evidence: ThinnedEvidence::default(),
        timelines: Vec::new(),
        about,
        post: None,
        attributions: Default::default(),
    };
    let page = html(&page).unwrap();
    let start = page.find("id=\"hero\"").unwrap();
    let end = page[start..].find("id=\"controls\"").unwrap();
    let hero = &page[start..start + end];
    let bare = Regex::new("<[^>]*>").unwrap().replace_all(hero, "");
    bare.replace('→', "->")
        .replace('µ', "u")
        .replace('\u{a0}', " ")
}

/// The range of values that a printed number may have been rounded from.
fn read(text: &str) -> [f64; 2] {
    let value: f64 = text.parse().unwrap();
    let (digits, power) = text.split_once('e').unwrap_or((text, "0"));
    let decimals = digits.split_once('.').map_or(0, |(_, after)| after.len());
    let half = 0.5 * 10_f64.powi(power.parse::<i32>().unwrap() - decimals as i32);
    [value - half, value + half]
}

fn factor(unit: &str) -> f64 {
    match unit {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => panic!("{unit} is no unit of time"),
    }
}

/// The ratios that a printed change (`-46.8 %`, `22.0 x`) may have been rounded from.
fn ratios(number: &str, sign: &str) -> [f64; 2] {
    let read = read(number);
    match sign {
        "%" => read.map(|per_cent| 1.0 + per_cent / 100.0),
        _ => read,
    }
}

/// Whether the range of a change overlaps that of a quotient.
fn agree(change: [f64; 2], before: [f64; 2], after: [f64; 2]) -> bool {
    let quotient = [after[0] / before[1], after[1] / before[0]];
    let rounding = 1e-9 * change[1].abs();
    quotient[0] <= change[1] + rounding && quotient[1] >= change[0] - rounding
}

/// Checks every change with means in a text. Returns how many means are over all runs and
/// how many from one machine.
fn check(text: &str, document: &Document) -> [usize; 2] {
    let beside =
        format!(r"({NUMBER}) (%|x) \(?(?:on (\S+): )?({NUMBER})(?: (\w+))? -> ({NUMBER}) (\w+)");
    let names: BTreeSet<&str> = document.machines.iter().map(|on| &*on.machine).collect();
    let mut counts = [0; 2];
    for found in Regex::new(&beside).unwrap().captures_iter(text) {
        let of = |at: usize| found.get(at).map(|part| part.as_str());
        let to = of(7).unwrap();
        let side = |at: usize, unit: &str| read(of(at).unwrap()).map(|v| v * factor(unit));
        let (before, after) = (side(4, of(5).unwrap_or(to)), side(6, to));
        for at in [4, 6] {
            let value: f64 = of(at).unwrap().parse().unwrap();
            assert!(value >= 0.1, "not easy to read: {}", &found[0]);
        }
        if let Some(name) = of(3) {
            assert!(names.contains(name), "{name}: {text}");
            let is_means = |on: &assize_verdict::MachineComparison| {
                let within = |of: [f64; 2], mean: f64| of[0] <= mean && mean <= of[1];
                on.machine == name
                    && within(before, on.mean_baseline.unwrap())
                    && within(after, on.mean.unwrap())
            };
            assert!(document.machines.iter().any(is_means), "{}", &found[0]);
            counts[1] += 1;
            continue;
        }
        let change = ratios(of(1).unwrap(), of(2).unwrap());
        assert!(agree(change, before, after), "{}: {text}", &found[0]);
        counts[0] += 1;
    }
    counts
}

/// Checks the changes next to the means of the runs, below the answer.
fn check_spread(text: &str) -> usize {
    let Some((_, table)) = text.split_once("\nEach run of ") else {
        return 0;
    };
    let table = table.split("\n\n").next().unwrap();
    let mean = |name: &str| {
        let row = Regex::new(&format!(
            r"\n  {name} +({NUMBER})(?: (ns|us|ms|s)\b)?(?:  +({NUMBER}) (%|x))?"
        ))
        .unwrap();
        let found: Option<Captures<'_>> = row.captures(table);
        found.map(|found| {
            let unit = found.get(2).map_or(1.0, |unit| factor(unit.as_str()));
            let change = found.get(3).map(|it| ratios(it.as_str(), &found[4]));
            (read(&found[1]).map(|mean| mean * unit), change)
        })
    };
    let (base, _) = mean("base").unwrap();
    let mut checked = 0;
    for name in ["one", "two"] {
        let Some((after, change)) = mean(name) else {
            continue;
        };
        assert!(agree(change.unwrap(), base, after), "{name}: {table}");
        checked += 1;
    }
    checked
}

#[test]
fn absolute_values_beside_a_change_make_it_or_say_whose_they_are() {
    let mut beside = [0; 2];
    let mut below = 0;
    for seed in 0..30 {
        let records = records(seed);
        let document = try_records(&records, &Options::default()).unwrap();
        let metrics = metrics();
        let asked = |width| Brief {
            metrics: &metrics,
            question: None,
            width,
            all: true,
        };
        let mut texts = vec![
            text(&document, &asked(72), Style::default()),
            page(&document),
        ];
        for width in [60, 80, 100, 120] {
            let short = brief(&document, &asked(width), Style::default());
            below += check_spread(&short);
            texts.push(short);
        }
        for text in texts {
            let [of_all, of_one] = check(&text, &document);
            beside[0] += of_all;
            beside[1] += of_one;
        }
    }
    assert!(
        beside[0] > 50 && beside[1] > 50 && below > 50,
        "{beside:?} {below}"
    );
}

#[test]
fn a_change_that_is_not_what_its_absolute_values_make_is_noticed() {
    let document = try_records(&records(1), &Options::default()).unwrap();
    let right = "one  better: -46.8 % (28.2 -> 15.0 us), -46.9 % to -46.7 %";
    assert_eq!(check(right, &document), [1, 0]);
    for wrong in [
        "one  better: -46.8 % (28.2 -> 16.0 us)",
        "one  worse: 22.0 x (5.0 us -> 3.1 ms)",
        "one  worse: 22.0 x (on nowhere: 5.0 us -> 3.1 ms)",
        "one  worse: 765 x (0.00503 -> 3.85 ms)",
    ] {
        let noticed = std::panic::catch_unwind(|| check(wrong, &document));
        assert!(noticed.is_err(), "{wrong}");
    }
}
