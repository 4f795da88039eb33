#![allow(clippy::unwrap_used)] // A test may fail.

use assize_bundle::{Configuration, Measurement};

use super::*;

/// An experiment with four configurations, a repeated baseline, and two workloads, one of which
/// measures latencies.
fn plan(runs: u32, primary: &str) -> Plan {
    let text = format!(
        "title = 't'\nruns = {runs}\nimages = {runs}\naa = true\ninstruments = ['perf-software']\n\
         primary = [{primary}]\n\
         [factors.a.off]\n[factors.a.on]\nworkload.t.interval = '2ms'\n\
         [factors.b.off]\n[factors.b.on]\nworkload.t.loops = 50\n\
         [workloads.t]\nkind = 'cyclictest'\n[workloads.c]\nkind = 'command'\nargv = ['true']\n"
    );
    let experiment = assize_plan::parse(&text, "test.toml").unwrap();
    experiment.plan(&assize_plan::Overrides::default()).unwrap()
}

const BOTH: &str = "{ metric = 'latency_ns_p50', better = 'lower' }, \
                    { metric = 'context_switches', better = 'lower' }";

fn reach(runs: u32, primary: &str) -> DesignReach {
    DesignReach::of_plan(&plan(runs, primary), None).unwrap()
}

#[test]
fn rows_are_counted_where_the_metric_is_measured() {
    // Three configurations; latencies on one workload, context switches on both.
    assert_eq!(reach(8, BOTH).primary.rows, Some(9));
    assert_eq!(reach(8, "").primary.rows, None);
}

#[test]
fn too_few_blocks_for_primary_rows_are_a_warning() {
    let warned = |runs, primary| reach(runs, primary).warning();
    assert_eq!(warned(6, BOTH), None);
    let few = warned(5, BOTH).unwrap();
    assert_eq!(
        few,
        "warning: no primary row can be established, whatever is measured: the smallest p of 5 \
         blocks is 0.062, above 0.04; 6 runs of each cell could"
    );
    assert!(warned(1, BOTH).unwrap().contains("of 1 block is 1, above"));
    // Without primary rows, all rows share alpha.
    assert!(warned(5, "").unwrap().contains("no row can"));
    assert_eq!(warned(6, ""), None);
}

#[test]
fn several_blocks_on_one_memory_image_are_no_replicates() {
    let on = |images: u32, runs: u32| {
        let text = format!(
            "title = 't'\nruns = {runs}\nimages = {images}\ninstruments = ['perf-software']\n\
             primary = [{BOTH}]\n[factors.a.off]\n[factors.a.on]\nworkload.t.interval = '2ms'\n\
             [workloads.t]\nkind = 'cyclictest'\n"
        );
        let experiment = assize_plan::parse(&text, "test.toml").unwrap();
        let plan = experiment.plan(&assize_plan::Overrides::default()).unwrap();
        DesignReach::of_plan(&plan, None).unwrap()
    };
    let few = on(4, 16).warning().unwrap();
    assert!(
        few.ends_with(
            "the smallest p of 4 memory images is 0.12, above 0.04; 6 memory images could"
        ),
        "{few}"
    );
    assert_eq!(on(8, 16).warning(), None);
    let alone = "all runs start from one memory image";
    assert!(on(1, 16).described().contains(alone));
    assert!(!on(16, 16).described().contains(alone));
}

#[test]
fn other_rows_need_more_blocks_than_primary_ones() {
    let said = reach(6, BOTH).described();
    assert!(
        said.contains(
            "all other rows at the level 0.01 together, smallest p 0.031: none can be established; \
             8 runs of each cell could\n"
        ),
        "{said}"
    );
    let said = reach(8, BOTH).described();
    assert!(
        said.starts_with(
            "9 primary rows at the level 0.04 together, smallest p 0.0078\nall other rows at the \
             level 0.01 together, smallest p 0.0078\na primary row whose runs vary by 3 %: a ratio \
             of 1."
        ),
        "{said}"
    );
}

#[test]
fn more_runs_find_smaller_effects_and_the_margin_has_its_price() {
    let of = |runs| reach(runs, BOTH).described();
    let found = |text: &str| -> f64 {
        let behind = text.split("a ratio of ").nth(1).unwrap();
        behind.split(' ').next().unwrap().parse().unwrap()
    };
    let (few, many) = (found(&of(8)), found(&of(40)));
    assert!(1.0 < many && many < few, "{few} {many}");
    let text = of(8);
    let price = text.split("a ratio of 1.01 takes ").nth(1).unwrap();
    assert!(price.contains(" with images = "), "{price}");
    let runs: u32 = price.split(' ').next().unwrap().parse().unwrap();
    let of = found(&reach(runs, BOTH).described());
    assert!(of <= 1.0101, "{runs} runs find {of}");
}

/// Runs of two configurations in blocks. Blocks differ by `block`, and the runs of one
/// configuration by `noise`, alternating up and down.
fn records(block: f64, noise: f64, blocks: u32) -> Records {
    let mut records = Records::default();
    for name in ["base", "on"] {
        records.configurations.push(Configuration {
            name: name.into(),
            ..Configuration::default()
        });
    }
    for at in 0..blocks {
        let sign = |bit: u32| if at >> bit & 1 == 1 { 1.0 } else { -1.0 };
        for (name, noise) in [("base", 0.0), ("on", noise * sign(0))] {
            let mut run = Run::new(name, "t", at + 1);
            run.block = Some(at);
            let ln = 5.0 + block * sign(1) + noise;
            let value = Measurement::new(ln.exp(), "ns");
            run.metrics.insert("latency_ns_p50".into(), value);
            records.runs.push(run);
        }
    }
    records
}

#[test]
fn noise_is_what_runs_of_a_block_differ_by() {
    // Of four differences, two are 0.1 and two -0.1: the variance is 0.04 / 3, half of it
    // from each run.
    let found = noise(&records(3.0, 0.1, 4), "latency_ns_p50").unwrap();
    assert!((found - (0.02_f64 / 3.0).sqrt()).abs() < 1e-12, "{found}");
    let none = noise(&records(3.0, 0.0, 4), "latency_ns_p50").unwrap();
    assert!(none < 1e-12, "{none}");
    assert_eq!(noise(&records(3.0, 0.1, 4), "elapsed"), None);
    assert_eq!(noise(&records(3.0, 0.1, 1), "latency_ns_p50"), None);
}

#[test]
fn an_earlier_bundle_says_how_much_its_runs_vary() {
    let place = tempfile::tempdir().unwrap();
    let like = place.path().join("like.bundle");
    assize_bundle::write(&like, &records(3.0, 0.1, 4)).unwrap();
    let reach = DesignReach::of_plan(&plan(8, BOTH), Some(&like)).unwrap();
    let said = reach.described();
    let noise = "latency_ns_p50, which varies by 8.2 %: a ratio of 1.";
    assert!(said.contains(noise), "{said}");
    let absent = format!(
        "context_switches has no cell with two positive values in {}",
        like.display()
    );
    assert!(said.contains(&absent), "{said}");
    // With one metric on one workload there is no other row.
    assert!(said.contains("\n0 other rows at the level 0.01"), "{said}");
}

#[test]
fn without_blocks_noise_is_what_runs_of_a_configuration_differ_by() {
    let mut records = records(0.2, 0.0, 4);
    for run in &mut records.runs {
        run.block = None;
    }
    let found = noise(&records, "latency_ns_p50").unwrap();
    assert!((found - (0.16_f64 / 3.0).sqrt()).abs() < 1e-12, "{found}");
}

#[test]
fn numbers_have_two_digits_that_count() {
    let all = [0.04, 0.0078125, 2.0 / 64.0, 3.0, 25.04, 1.0].map(two_digits);
    assert_eq!(all, ["0.04", "0.0078", "0.031", "3", "25", "1"]);
    let all = [1.0834, 0.9234, 1.00421, 1.5, 3.21].map(near_one);
    assert_eq!(all, ["1.083", "0.923", "1.0042", "1.5", "3.2"]);
}
