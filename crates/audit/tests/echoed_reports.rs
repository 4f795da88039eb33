//! Reports of programs that nobody knows, of which lines come again with other figures.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use std::collections::BTreeMap;

use assize_audit::{Options, read};

/// Each metric with its unit, and what each configuration has of it.
type Cells = BTreeMap<String, Vec<(String, f64)>>;

fn cells(post: &str) -> Cells {
    let audit = read(post.as_bytes(), "post", &Options::default()).unwrap();
    let mut cells = Cells::new();
    for run in &audit.records.runs {
        for (metric, figure) in &run.metrics {
            let own = cells.entry(format!("{metric} ({})", figure.unit));
            let own = own.or_default();
            own.push((run.configuration.clone(), figure.value));
        }
    }
    // What is read and not judged.
    for statement in &audit.records.statements {
        if let Some(configuration) = &statement.configuration {
            let own = cells.entry(format!("{} ({})", statement.metric, statement.unit));
            let own = own.or_default();
            own.push((configuration.clone(), statement.value));
        }
    }
    cells
}

fn of(cells: &Cells, metric: &str) -> Vec<(String, f64)> {
    cells
        .get(metric)
        .cloned()
        .unwrap_or_else(|| panic!("no {metric} in {cells:?}"))
}

fn told(values: &[(&str, f64)]) -> Vec<(String, f64)> {
    let own = |(name, value): &(&str, f64)| ((*name).to_owned(), *value);
    values.iter().map(own).collect()
}

/// A summary, a histogram and a distribution.
fn load(rate: f64, average: f64, p50: f64, p99: f64) -> String {
    format!(
        "$ ./load --clients=10 put\n\nSummary:\n  Total:        32.2357 secs.\n  \
         Average:      {average} secs.\n  Requests/sec: {rate}\n\nResponse time histogram:\n  \
         0.0055 [1]    |\n  0.0452 [8914] |∎∎∎∎∎∎∎∎∎∎∎∎∎∎\n  0.0849 [952]  |∎∎∎∎\n  \
         0.1246 [79]   |\n  0.1643 [8]    |\n  0.2040 [19]   |\n  0.2437 [9]    |\n\n\
         Latency distribution:\n  50% in {p50} secs.\n  99% in {p99} secs.\n\n"
    )
}

#[test]
fn settings_are_headings_and_rows_of_a_histogram_no_figures() {
    let post = format!(
        "The option makes puts faster on my machine:\n\n1. --batch=0,0 (same as on master):\n{}\
         2. --batch=10,100us\n{}",
        load(310.2154, 0.0322, 0.0297, 0.0976),
        load(381.3198, 0.0261, 0.0245, 0.0528)
    );
    let cells = cells(&post);
    let names = ["batch=0,0", "batch=10,100us"];
    assert_eq!(
        of(&cells, "Summary Requests/sec ()"),
        told(&[(names[0], 310.2154), (names[1], 381.3198)])
    );
    assert_eq!(
        of(&cells, "Latency distribution time 99 (secs)"),
        told(&[(names[0], 0.0976), (names[1], 0.0528)])
    );
    assert!(
        !cells.keys().any(|name| name.contains("histogram")),
        "{cells:?}"
    );
}

#[test]
fn a_heading_below_that_of_a_state_is_of_what_stands_below_both() {
    let post = format!(
        "It costs little.\n\nno authentication:\n\n{}with authentication:\n\n{}",
        load(6183.5877, 0.0002, 0.0001, 0.0003),
        load(3942.5185, 0.0003, 0.0002, 0.0004)
    );
    assert_eq!(
        of(&cells(&post), "Summary Requests/sec ()"),
        told(&[
            ("no authentication", 6183.5877),
            ("with authentication", 3942.5185)
        ])
    );
    // Of two headings that name configurations the inner one is that of the figures.
    let list = |rate: f64| format!("Requests: {rate} per s\nSteps per request: 3.25 us\n\n");
    let post = format!(
        "Results after the move:\n\nPR:\n{}master:\n{}",
        list(12.5),
        list(13.5)
    );
    let cells = cells(&post);
    let names: Vec<&String> = cells.values().flatten().map(|(name, _)| name).collect();
    assert!(
        names.iter().all(|name| *name == "PR" || *name == "master"),
        "{cells:?}"
    );
}

#[test]
fn words_that_only_look_like_numbers_tell_lines_apart() {
    let list = |values: [u32; 3]| {
        let [a, b, c] = values;
        format!(
            "INFO: one stream\n50.0%ile Latency (in nanos):\t\t{a}\n99.0%ile Latency (in nanos):\t\t{b}\n\
             99.9%ile Latency (in nanos):\t\t{c}\n\n"
        )
    };
    let post = format!(
        "Larger frames nearly double the rate.\n\nBefore:\n\n{}After:\n{}",
        list([280_856_575, 455_172_095, 537_198_591]),
        list([125_948_927, 193_840_127, 226_841_599])
    );
    let cells = cells(&post);
    assert_eq!(
        of(&cells, "99.9%ile Latency (ns)"),
        told(&[("Before", 537_198_591.0), ("After", 226_841_599.0)])
    );
    assert_eq!(cells.len(), 3, "{cells:?}");
    // Time stamps, which do not come again, name nothing.
    let stamped = |at: u32, spent: f64| {
        format!("at 10:{at}:41 all spent {spent} ms\nat 10:{at}:59 all spent {spent} ms\n")
    };
    let post = format!(
        "Faster:\n\nBefore:\n{}\nAfter:\n{}",
        stamped(11, 12.5),
        stamped(47, 7.5)
    );
    assert_eq!(self::cells(&post).len(), 1, "{:?}", self::cells(&post));
}

#[test]
fn items_of_a_list_are_configurations_if_two_of_them_are() {
    let item = |name: &str, options: &str, speed: f64, latency: u32| {
        format!(
            "- {name}\n  $ flight -test_put {options}\n  *Speed: {speed} MB/s*\n  *Latency: {latency} us*\n\n"
        )
    };
    let post = format!(
        "Compression costs time for random data:\n\n{}{}{}Closes #9902\n",
        item("No compression", "", 2941.53, 40),
        item(
            "zstd with default compression level",
            "-c zstd",
            1205.66,
            101
        ),
        item(
            "zstd with high compression level",
            "-c zstd:19",
            47.6882,
            2618
        )
    );
    assert_eq!(
        of(&cells(&post), "Speed (MB/s)"),
        told(&[
            ("No compression", 2941.53),
            ("zstd with default compression level", 1205.66),
            ("zstd with high compression level", 47.6882)
        ])
    );
}

#[test]
fn headings_of_one_form_that_do_not_contrast_are_not_pooled() {
    let post = "Reading across versions:\n\n\
        Testing old on old:\nreadrandom : 34.5 micros/op 29085 ops/sec\n\
        Testing old on mid:\nreadrandom : 190.5 micros/op 5249 ops/sec\n\
        Testing new on new:\nreadrandom : 33.5 micros/op 29986 ops/sec\n";
    let mut read: Vec<f64> = Vec::new();
    for (_, value) in cells(post).values().flatten() {
        read.push(*value);
    }
    let printed = [34.5, 29085.0, 190.5, 5249.0, 33.5, 29986.0];
    assert!(read.iter().all(|value| printed.contains(value)), "{read:?}");
    // Numbered ones are each of their own.
    let post = "Caches are shared now.\n\nMaster (hit rate: 95.4%)\nREAD - Takes(s): 442.3, Avg(us): 7366\n\n\
        Test 1 (throughput +16%, hit rate: 97.7%):\nREAD - Takes(s): 380.1, Avg(us): 6329\n\n\
        Test 2 (throughput +4.6%, hit rate: 96.1%):\nREAD - Takes(s): 422.8, Avg(us): 7040\n";
    assert_eq!(
        of(&cells(post), "READ - Takes (s)"),
        told(&[("Master", 442.3), ("Test 1", 380.1), ("Test 2", 422.8)])
    );
}

#[test]
fn names_above_and_behind_figures_are_theirs() {
    let suite = |lat: f64, lng: f64, again: f64| {
        format!(
            "Get \"tracks\" by index:\nname: 'lat', length: 1000000, type: Float32\n x {lat} ops/sec ±0.79%\n   \
             157.14% of a frame @ 60FPS\n\nGet \"tracks\" by index:\nname: 'lng', length: 1000000, type: Float32\n \
             x {lng} ops/sec ±2.63%\n   162.54% of a frame @ 60FPS\n\nIterate \"tracks\":\n\
             name: 'lat', length: 1000000, type: Float32\n x {again} ops/sec ±0.90%\n   12.5% of a frame @ 60FPS\n\n"
        )
    };
    let post = format!(
        "Iterators are faster.\n\nMaster\n\n{}This branch\n\n{}",
        suite(38.18, 36.92, 110.5),
        suite(39.25, 37.5, 250.5)
    );
    let cells = cells(&post);
    let name = "name: 'lat', length: 1000000, type: Float32 x (ops/sec)";
    assert_eq!(
        of(&cells, &format!("Get \"tracks\" by index: {name}")),
        told(&[("Master", 38.18), ("This branch", 39.25)])
    );
    assert_eq!(
        of(&cells, &format!("Iterate \"tracks\": {name}")),
        told(&[("Master", 110.5), ("This branch", 250.5)])
    );
    assert_eq!(cells.len(), 3, "{cells:?}");
    let post = "Average of ten checkouts:\n\nbefore (git version 1.6.2.rc1):\n \
        7.860 user  2.427 sys  19.465 real  52.8% CPU  faults: 95331 minor\nafter:\n \
        6.184 user  2.160 sys  17.619 real  47.4% CPU  faults: 38994 minor\n";
    let cells = self::cells(post);
    assert_eq!(of(&cells, "sys ()")[1].1, 2.16);
    assert_eq!(of(&cells, "real ()")[1].1, 17.619);
}

#[test]
fn sizes_in_several_units_are_compared() {
    let post = "For small tables less is allocated.\n\nAfter this change:\n\nTotal memory allocated:\n        \
        174.422MB\n\nallocations:\n        < 6.000B   :  3064 ▇▇\n        < 36.000B  :  7533 ▇▇▇▇\n\n\
        Before this change:\n\nTotal memory allocated:\n        1.295GB\n\nallocations:\n        \
        < 6.000B   :  3064 ▇▇\n        < 36.000B  :  7543 ▇▇▇▇\n";
    let cells = cells(post);
    assert_eq!(
        of(&cells, "Total memory allocated size (MB)"),
        told(&[
            ("After this change", 174.422),
            ("Before this change", 1295.0)
        ])
    );
    assert_eq!(cells.len(), 1, "{cells:?}");
}

#[test]
fn how_far_a_download_has_come_is_no_measurement() {
    let clone = |objects: u32, size: f64, rate: f64| {
        format!(
            "Cloning into 'tree'...\nremote: Enumerating objects: {objects}, done.\n\
             Receiving objects: 100% ({objects}/{objects}), {size} MiB | {rate} MiB/s, done.\n\n"
        )
    };
    let post = format!(
        "Less is kept in the repository.\n\nBefore:\n{}After:\n{}",
        clone(97872, 58.97, 20.53),
        clone(98489, 59.23, 21.26)
    );
    assert_eq!(cells(&post), Cells::new());
}
