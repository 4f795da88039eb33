//! scipy computes the same figures and verdicts from the same runs.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use assize_bundle::{
    Configuration, DeclaredTable, DeclaredTradeoff, DeclaredTradeoffMetric, Measurement, Records,
    Run, Spread, Summary,
};
use assize_verdict::{Document, Options, Standing, TTest, Verdict, try_records};

/// Recomputes a document with oracle/independent.py.
fn computed_again(document: &Document, primary: &[&str]) -> (bool, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../oracle/independent.py");
    let name = std::env::var_os("ASSIZE_PYTHON").unwrap_or_else(|| "/usr/bin/python3".into());
    let mut child = Command::new(name)
        .arg(script)
        .arg("--primary")
        .args(primary)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let json = serde_json::to_vec(document).unwrap();
    child.stdin.take().unwrap().write_all(&json).unwrap();
    let done = child.wait_with_output().unwrap();
    let said = [done.stdout, done.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    (done.status.success(), said.concat())
}

/// The document of the records, after checking that scipy agrees.
#[track_caller]
fn agreed(mut records: Records, primary: &[&str]) -> Document {
    records.primary = primary.iter().map(|&name| name.into()).collect();
    let document = try_records(&records, &Options::default()).unwrap();
    let (right, said) = computed_again(&document, primary);
    assert!(
        right,
        "{said}\n(python3-scipy is missing? ./setup.sh installs it)"
    );
    document
}

fn configured(names: &[&str]) -> Records {
    let of = |name: &&str| Configuration {
        name: (*name).into(),
        label: (*name).into(),
        repeats: name.strip_suffix("/aa").map(Into::into),
        ..Configuration::default()
    };
    Records {
        configurations: names.iter().map(of).collect(),
        ..Records::default()
    }
}

/// Approximately normal values without steps, the same on every machine.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        // Knuth's generator; its upper bits are good enough for a test.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / 9_007_199_254_740_992.0
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

fn push(
    records: &mut Records,
    place: (&str, &str),
    block: Option<u32>,
    metrics: &[(&str, &str, f64)],
) {
    let order = u32::try_from(records.runs.len()).unwrap();
    let mut run = Run::new(place.1, place.0, order + 1);
    (run.order, run.block) = (order, block);
    for &(name, unit, value) in metrics {
        run.metrics
            .insert(name.into(), Measurement::new(value, unit));
    }
    records.runs.push(run);
}

fn words(document: &Document) -> Vec<(&str, &str, &str, Verdict)> {
    let rows = document.comparisons.iter();
    rows.map(|row| {
        let (workload, metric) = (row.workload.as_str(), row.metric.as_str());
        (workload, metric, row.configuration.as_str(), row.verdict)
    })
    .collect()
}

/// Twelve blocks of a baseline, a repeated baseline and a change, of which one run is missing; two
/// workloads, one normalised to the other.
fn in_pairs() -> Records {
    let mut records = configured(&["base", "base/aa", "queue"]);
    records.tables = vec![DeclaredTable {
        metric: "time".into(),
        workloads: vec!["pipe".into(), "socket".into()],
        normalised_to: Some("pipe".into()),
        ..DeclaredTable::default()
    }];
    let mut noise = Noise(1);
    for block in 0..12_u32 {
        let level = noise.normal();
        for workload in ["pipe", "socket"] {
            for name in ["base", "base/aa", "queue"] {
                if name == "queue" && workload == "pipe" && block == 5 {
                    continue;
                }
                let change = if name == "queue" { 0.95 } else { 1.0 };
                let time = (level + 0.02 * noise.normal()).exp() * change;
                let ticks = (90.0 * (1.0 + 0.05 * noise.normal()) / change).round() / 4.0;
                let metrics = [
                    ("time", "s", time),
                    ("ticks", "s", ticks),
                    ("offset", "s", level + 0.3 * noise.normal()),
                    ("size", "B", 3.7 * (0.001 * noise.normal()).exp()),
                    (
                        "switches",
                        "",
                        (700.0 + 40.0 * noise.normal() * change).round(),
                    ),
                ];
                push(&mut records, (workload, name), Some(block), &metrics);
            }
        }
    }
    records
}

#[test]
fn scipy_finds_the_same_from_runs_in_blocks() {
    let document = agreed(in_pairs(), &[]);
    let tests: Vec<_> = document.comparisons.iter().map(|row| row.t_test).collect();
    assert_eq!(tests, [Some(TTest::Paired); 10]);
    assert_eq!(document.noise_floor.len(), 10);
    assert_eq!(document.tables[0].rows.len(), 3);
    let words = words(&document);
    assert!(words.contains(&("pipe", "time", "queue", Verdict::Established)));
    assert!(words.contains(&("socket", "size", "queue", Verdict::Equivalent)));
    assert!(words.contains(&("socket", "offset", "queue", Verdict::Undecided)));
    let ticks = |row: &&assize_verdict::Comparison| row.metric == "ticks";
    let steps: Vec<_> = document.comparisons.iter().filter(ticks).collect();
    assert!(steps.iter().all(|row| row.resolution == Some(0.25)));
}

#[test]
fn scipy_finds_the_same_where_primary_metrics_share_alpha() {
    let document = agreed(in_pairs(), &["size", "offset"]);
    assert_eq!(document.families.len(), 2);
    let alpha: Vec<f64> = document.families.iter().map(|of| of.alpha).collect();
    assert!((alpha[0] - 0.04).abs() < 1e-12 && (alpha[1] - 0.01).abs() < 1e-12);
}

/// Ten blocks of five configurations, one of which has no `energy`.
fn with_tradeoffs() -> Records {
    let names = ["base", "packed", "quick", "poor", "lacks", "near"];
    let mut records = configured(&names);
    let metric = |metric: &str, higher_is_better| DeclaredTradeoffMetric {
        metric: metric.into(),
        workload: "w".into(),
        higher_is_better,
    };
    let tradeoff = |x: DeclaredTradeoffMetric, y: DeclaredTradeoffMetric| DeclaredTradeoff {
        x,
        y,
        place: "x.toml:1: tradeoffs".into(),
    };
    records.tradeoffs = vec![
        tradeoff(metric("time", false), metric("energy", false)),
        tradeoff(metric("time", false), metric("score", true)),
    ];
    let planted = [
        (1.0, 1.0),
        (1.4, 0.7),
        (0.9, 1.2),
        (1.5, 1.1),
        (1.0, 1.0),
        (1.01, 1.0),
    ];
    let mut noise = Noise(7);
    for block in 0..10_u32 {
        for (name, (time, energy)) in names.into_iter().zip(planted) {
            let mut one = |spread: f64| (spread * noise.normal()).exp();
            let values = [
                ("time", "s", time * one(0.01)),
                ("score", "/s", one(0.03) / time),
                ("energy", "J", energy * one(0.003)),
            ];
            let there = if name == "lacks" { 2 } else { 3 };
            push(&mut records, ("w", name), Some(block), &values[..there]);
        }
    }
    records
}

#[test]
fn scipy_finds_the_same_configurations_on_the_front() {
    let mut document = agreed(with_tradeoffs(), &["time", "energy"]);
    let standings: Vec<Vec<Standing>> = document
        .tradeoffs
        .iter()
        .map(|one| one.points.iter().map(|point| point.standing).collect())
        .collect();
    let (front, dominated, undecided) = (Standing::Front, Standing::Dominated, Standing::Undecided);
    let of_energy = [undecided, front, front, dominated, undecided, undecided];
    assert_eq!(standings[0], of_energy);
    assert_eq!(standings[1][2..4], [front, dominated]);
    document.tradeoffs[0].points[5].standing = front;
    let (right, said) = computed_again(&document, &["time", "energy"]);
    assert!(
        !right && said.contains("trade-off, near: standing"),
        "{said}"
    );
}

/// Alternating configurations without blocks, one of which has few runs.
fn by_turns(rounds: u32, noise: &mut Noise) -> Records {
    let mut records = configured(&["base", "one", "few"]);
    for round in 0..rounds {
        for (at, name) in ["base", "one", "few"].into_iter().enumerate() {
            if name == "few" && round > 2 {
                continue;
            }
            let spread = if name == "few" { 0.1 } else { 0.01 };
            let one = |noise: &mut Noise| (spread * noise.normal()).exp();
            let metrics = [
                ("wide", "s", one(noise) * (1.0 + 0.1 * at as f64)),
                ("still", "s", 5.5),
                (
                    "even",
                    "J",
                    8.8 * one(noise).powf(0.02) * (1.0 + 0.3 * f64::from(at == 2)),
                ),
                ("faults", "", (40.0 + 2.0 * noise.normal()).round()),
            ];
            push(&mut records, ("w", name), None, &metrics);
        }
    }
    records
}

#[test]
fn scipy_finds_the_same_from_runs_without_blocks() {
    let document = agreed(by_turns(5, &mut Noise(5)), &["wide"]);
    assert!(
        document
            .comparisons
            .iter()
            .all(|row| row.t_test == Some(TTest::Welch))
    );
    // Four runs per side: 2 of 70 relabelings; three against six: one of 84.
    for rounds in [4, 6] {
        agreed(by_turns(rounds, &mut Noise(u64::from(rounds))), &[]);
    }
}

#[test]
fn scipy_finds_the_same_where_some_have_one_run_or_a_mean() {
    let mut noise = Noise(9);
    let mut records = by_turns(5, &mut noise);
    records
        .runs
        .retain(|run| run.configuration != "few" || run.order < 4);
    for (name, mean) in [("base", 1.0), ("one", 1.3), ("few", 1.01)] {
        records.summaries.push(Summary {
            configuration: name.into(),
            workload: "posted".into(),
            metric: "score".into(),
            unit: String::new(),
            mean,
            spread: (name != "few").then_some(Spread::StandardDeviation(0.02)),
            n: Some(7),
            place: assize_bundle::Place::default(),
        });
    }
    let document = agreed(records, &[]);
    let words = words(&document);
    assert!(words.contains(&("posted", "score", "one", Verdict::Supported)));
    assert!(words.contains(&("posted", "score", "few", Verdict::Undecided)));
}

#[test]
fn scipy_finds_the_same_lints_that_hold_verdicts_down() {
    let capped = |records: Records, lint: &str| {
        let document = agreed(records, &[]);
        let held = document.comparisons.iter();
        let held = held.filter(|row| row.capped_by.as_deref() == Some(lint));
        assert!(held.count() > 0, "{lint}: {:?}", document.comparisons);
    };
    let run =
        |noise: &mut Noise, shift: f64| [("time", "s", (shift + 0.01 * noise.normal()).exp())];
    // All runs of one configuration, then all of the other; and a trend in both.
    for (trend, lint) in [(0.0, "unrandomised-order"), (0.02, "drift")] {
        let mut noise = Noise(21);
        let mut records = configured(&["base", "one"]);
        for round in 0..16 {
            let name = if round < 8 { "base" } else { "one" };
            let shift = 0.1 * f64::from(round / 8) + trend * f64::from(round);
            push(&mut records, ("w", name), None, &run(&mut noise, shift));
        }
        capped(records, lint);
    }
    // Alternating runs, each of which resembles the previous one.
    let mut noise = Noise(22);
    let mut records = configured(&["base", "one"]);
    for round in 0..14 {
        let one = round % 3 == 2;
        let shift = 2.0 * f64::from(u8::from(one)) + 0.3 * (f64::from(round) / 3.0).sin();
        let name = if one { "one" } else { "base" };
        push(&mut records, ("w", name), None, &run(&mut noise, shift));
    }
    capped(records, "dependent-runs");
    // All runs start from one memory image.
    let mut records = configured(&["base", "one"]);
    for round in 0..12 {
        let name = ["base", "one"][round % 2];
        let shift = 0.2 * (round % 2) as f64;
        push(&mut records, ("w", name), None, &run(&mut noise, shift));
    }
    records.runs.iter_mut().for_each(|run| run.image = Some(0));
    capped(records, "shared-image");
    // Three runs that vary much and twelve that do not.
    let mut records = configured(&["base", "one"]);
    for round in 0..15 {
        let few = round % 5 == 2;
        let name = if few { "one" } else { "base" };
        let far = if few {
            0.5 + 0.05 * f64::from(round)
        } else {
            0.0
        };
        push(&mut records, ("w", name), None, &run(&mut noise, far));
    }
    capped(records, "unequal-spread");
}

/// Two factors with their full grid in each block, one block lacking a run, and
/// a metric without effects.
fn grid(blocks: u32, each: u32) -> Records {
    let mut records = configured(&["none", "irq", "bypass", "both"]);
    records.factors = vec!["bypass".into(), "irq".into()];
    for (at, configuration) in records.configurations.iter_mut().enumerate() {
        configuration.factors = [("bypass".into(), at >= 2), ("irq".into(), at % 2 == 1)].into();
    }
    let mut noise = Noise(u64::from(31 * blocks + each));
    for block in 0..blocks {
        let level = noise.normal();
        for (at, name) in ["none", "irq", "bypass", "both"].into_iter().enumerate() {
            for _ in 0..each {
                if block == 1 && at == 3 {
                    continue;
                }
                let effect = if at >= 2 { -0.2 } else { 0.0 };
                let metrics = [
                    ("time", "s", (level + effect + 0.02 * noise.normal()).exp()),
                    ("idle", "s", (level + 0.02 * noise.normal()).exp()),
                ];
                push(&mut records, ("w", name), Some(block), &metrics);
            }
        }
    }
    records
}

#[test]
fn scipy_finds_the_same_effects_of_factors_in_blocks() {
    let document = agreed(grid(9, 1), &["time"]);
    let effects = &document.factorial[0].effects;
    let found: Vec<_> = effects
        .iter()
        .map(|of| (of.name.as_str(), of.verdict))
        .collect();
    assert_eq!(found[0], ("bypass", Verdict::Established));
    assert_eq!(found[1].1, Verdict::Undecided);
    agreed(grid(4, 1), &[]);
}

#[test]
fn scipy_finds_the_same_from_blocks_of_several_runs() {
    let document = agreed(grid(3, 2), &[]);
    assert!(
        document
            .comparisons
            .iter()
            .all(|row| row.t_test == Some(TTest::Welch))
    );
}

/// Tests the oracle itself: it must notice a changed document.
#[test]
fn scipy_objects_to_a_document_that_was_changed() {
    let document = agreed(by_turns(5, &mut Noise(5)), &[]);
    let changes: [fn(&mut Document); 5] = [
        |d| d.comparisons[0].p = d.comparisons[0].p.map(|p| p + 1.0 / 252.0),
        |d| d.comparisons[0].p_adjusted = d.comparisons[0].p_adjusted.map(|p| p / 2.0),
        |d| d.comparisons[0].verdict = Verdict::Equivalent,
        |d| d.comparisons[0].ci_simultaneous = d.comparisons[0].ci,
        |d| drop(d.comparisons.pop()),
    ];
    for (at, change) in changes.iter().enumerate() {
        let mut changed = document.clone();
        change(&mut changed);
        assert!(changed != document, "change {at}");
        assert!(!computed_again(&changed, &[]).0, "change {at}");
    }
}

/// Eight blocks in which ten perfectly correlated metrics rise with one configuration and fall with
/// another. The joint test finds that; a test that ignores their dependence would not.
fn ten_that_are_one() -> Records {
    let mut records = configured(&["base", "up", "down"]);
    let names: Vec<String> = (0..10).map(|at| format!("time{at}")).collect();
    for (block, by) in (0..).zip([3.0, 1.0, -0.5, 2.0, 0.2, 4.0, 1.5, 2.5]) {
        for (name, sign) in [("base", 0.0), ("up", 1.0), ("down", -1.0)] {
            let value = (0.137 * f64::from(block) + 0.01 * sign * by).exp();
            let metrics: Vec<_> = names.iter().map(|of| (of.as_str(), "s", value)).collect();
            push(&mut records, ("w", name), Some(block), &metrics);
        }
    }
    records
}

#[test]
fn scipy_finds_the_same_where_intervals_end_at_no_difference() {
    let document = agreed(ten_that_are_one(), &[]);
    for row in &document.comparisons {
        assert_eq!(row.verdict, Verdict::Established);
        let end = usize::from(row.configuration == "down");
        assert_eq!(row.ci_simultaneous.unwrap()[end], 1.0, "{row:?}");
    }
}

/// Blocks that start from several memory images, with a change whose effect is five times as large
/// on the first image; with values in whole counts, in steps, and finer than any step.
fn on_images(blocks: u32, images: u32) -> Records {
    let mut records = configured(&["base", "one", "two"]);
    let mut noise = Noise(31);
    for block in 0..blocks {
        for (name, shift) in [("base", 0.0), ("one", 0.05), ("two", 0.1)] {
            let image = block % images;
            let luck = if image == 0 { shift } else { 0.2 * shift };
            let value = 20.0 * (luck + 0.01 * noise.normal()).exp();
            let coarse = (100.0 * value).round() / 100.0;
            let metrics = [
                ("time", "s", value),
                ("shown", "s", coarse),
                ("count", "", (10.0 * value).round()),
                ("change", "s", value - 20.5),
            ];
            push(&mut records, ("w", name), Some(block), &metrics);
            records.runs.last_mut().unwrap().image = Some(image);
        }
    }
    records
}

#[test]
fn scipy_finds_the_same_where_memory_images_are_the_replicates() {
    for (blocks, images) in [(12, 2), (12, 5), (17, 8)] {
        let mut records = on_images(blocks, images);
        let document = agreed(records.clone(), &["time"]);
        let row = &document.comparisons[0];
        assert_eq!((row.images, row.n), (Some(images), Some(blocks)));
        assert_eq!(row.t_test, Some(TTest::Paired));
        // A configuration is missing in one block, and on one image.
        records.runs.retain(|run| {
            (run.block, &*run.configuration) != (Some(3), "base")
                && (run.image, &*run.configuration) != (Some(1), "two")
        });
        agreed(records.clone(), &[]);
        // Without blocks, images form the pairs.
        for run in &mut records.runs {
            run.block = None;
        }
        agreed(records, &[]);
    }
}

#[test]
fn scipy_finds_the_same_where_a_cap_finds_no_t_test_on_its_side() {
    let mut records = ten_that_are_one();
    records.runs.iter_mut().for_each(|run| run.image = Some(0));
    let document = agreed(records, &[]);
    for row in &document.comparisons {
        assert!(row.p_adjusted <= Some(0.05) && row.p_t_adjusted > Some(0.05));
        assert_eq!(row.verdict, Verdict::Undecided);
        assert_eq!(row.capped_by.as_deref(), Some("shared-image"));
    }
}
