//! Properties of every schedule.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use std::collections::BTreeSet;
use std::fmt::Write;

use assize_plan::{Overrides, Plan};
use proptest::prelude::*;

use crate::common::{plan, read};

/// An experiment with factors of these sizes and this many workloads.
fn experiment(sizes: &[usize], workloads: usize, runs: u32, seed: u32, aa: bool) -> String {
    let mut text = format!("title = \"x\"\nruns = {runs}\nseed = {seed}\naa = {aa}\n");
    for (factor, size) in sizes.iter().enumerate() {
        for level in 0..*size {
            writeln!(text, "[factors.f{factor}.l{level}]").unwrap();
            writeln!(text, "command_line = [\"f{factor}={level}\"]").unwrap();
        }
    }
    for workload in 0..workloads {
        writeln!(text, "[workloads.w{workload}]\nkind = \"hackbench\"").unwrap();
    }
    text
}

fn blocks(plan: &Plan) -> Vec<Vec<(usize, usize)>> {
    let cells = plan.configurations.len() * plan.workloads.len();
    let block = |runs: &[assize_plan::PlannedRun]| {
        runs.iter()
            .map(|run| (run.configuration, run.workload))
            .collect()
    };
    plan.runs.chunks(cells).map(block).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_block_holds_every_cell_once(
        sizes in prop::collection::vec(1_usize..4, 0..4),
        workloads in 1_usize..4,
        runs in 1_u32..9,
        seed: u32,
        aa: bool,
    ) {
        let plan = plan(&experiment(&sizes, workloads, runs, seed, aa));
        let configurations = sizes.iter().product::<usize>() + usize::from(aa);
        prop_assert_eq!(plan.configurations.len(), configurations);
        prop_assert_eq!(plan.runs.len(), configurations * workloads * runs as usize);
        for block in blocks(&plan) {
            let cells: BTreeSet<_> = block.iter().collect();
            prop_assert_eq!(cells.len(), configurations * workloads);
        }
        for (at, run) in plan.runs.iter().enumerate() {
            prop_assert_eq!(run.index as usize, at);
            prop_assert_eq!(run.block as usize, at / (configurations * workloads));
            prop_assert_eq!(run.repetition, run.block + 1);
        }
    }

    #[test]
    fn the_runs_of_a_block_share_a_seed_and_the_repeated_baseline_has_its_own(
        sizes in prop::collection::vec(1_usize..4, 0..3),
        runs in 1_u32..9,
        seed: u32,
    ) {
        let plan = plan(&experiment(&sizes, 2, runs, seed, true));
        let cells = plan.configurations.len() * 2;
        let mut seeds = BTreeSet::new();
        for block in plan.runs.chunks(cells) {
            let own = block.iter().find(|run| run.configuration == 1).unwrap().seed;
            let shared = block.iter().find(|run| run.configuration == 0).unwrap().seed;
            for run in block {
                let wanted = if plan.configurations[run.configuration].aa { own } else { shared };
                prop_assert_eq!(run.seed, wanted);
            }
            prop_assert!(own < 1 << 53 && shared < 1 << 53);
            seeds.extend([own, shared]);
        }
        prop_assert_eq!(seeds.len(), 2 * runs as usize);
    }

    #[test]
    fn more_runs_leave_the_earlier_blocks_as_they_were(
        sizes in prop::collection::vec(1_usize..4, 0..4),
        few in 1_u32..5,
        more in 1_u32..5,
        seed: u32,
    ) {
        let short = plan(&experiment(&sizes, 2, few, seed, false));
        let long = plan(&experiment(&sizes, 2, few + more, seed, false));
        prop_assert_eq!(&long.runs[..short.runs.len()], &short.runs[..]);
    }

    #[test]
    fn a_seed_gives_the_same_bytes_and_another_seed_another_order(seed: u32) {
        let text = experiment(&[2, 3], 2, 6, seed, true);
        let bytes = |text: &str| serde_json::to_vec(&plan(text)).unwrap();
        prop_assert_eq!(bytes(&text), bytes(&text));
        // There are 14! orders in each of 6 blocks, so two equal schedules would mean a bug.
        let other = experiment(&[2, 3], 2, 6, seed ^ 1, true);
        prop_assert_ne!(blocks(&plan(&text)), blocks(&plan(&other)));
        prop_assert_ne!(plan(&text).runs[0].seed, plan(&other).runs[0].seed);
    }

    #[test]
    fn no_two_blocks_have_the_same_order(seed: u32) {
        // There are 18! orders: two equal ones would mean a bug.
        let plan = plan(&experiment(&[3, 3], 2, 20, seed, false));
        let orders: BTreeSet<_> = blocks(&plan).into_iter().collect();
        prop_assert_eq!(orders.len(), 20);
    }
}

#[test]
fn orders_are_uniform() {
    // Six orders of three cells; chi-squared with 5 degrees of freedom is
    // above 20.5 once in a thousand, and the seed is fixed.
    let plan = plan(&experiment(&[3], 1, 6000, 1, false));
    let mut counts = std::collections::BTreeMap::new();
    for block in blocks(&plan) {
        *counts.entry(block).or_insert(0_u32) += 1;
    }
    assert_eq!(counts.len(), 6);
    let chi: f64 = counts
        .values()
        .map(|count| (f64::from(*count) - 1000.0).powi(2) / 1000.0)
        .sum();
    assert!(chi < 20.5, "{chi}: {counts:?}");
}

#[test]
fn the_schedule_of_a_seed_is_this() {
    // It is the same on every machine and with every version.
    let plan = plan(&experiment(&[2, 2], 1, 3, 7, true));
    let shown: Vec<String> = plan
        .runs
        .iter()
        .map(|run| format!("{}:{}:{}", run.block, run.configuration, run.seed))
        .collect();
    assert_eq!(shown, SEVEN);
}

/// Computed by an independent Python implementation of ChaCha8 and of the rules
/// in crates/plan/src/schedule/.
const SEVEN: [&str; 15] = [
    "0:1:4196792939664307",
    "0:2:6882482394073239",
    "0:3:6882482394073239",
    "0:4:6882482394073239",
    "0:0:6882482394073239",
    "1:4:8416020949962698",
    "1:2:8416020949962698",
    "1:1:2536625057140120",
    "1:0:8416020949962698",
    "1:3:8416020949962698",
    "2:3:98383515040850",
    "2:4:98383515040850",
    "2:0:98383515040850",
    "2:1:1750927467606951",
    "2:2:98383515040850",
];

#[test]
fn runs_go_on_from_an_image_on_the_exact_target_only() {
    let text = experiment(&[2], 2, 3, 1, true);
    for (target, images) in [("exact", 3), ("live", 0), ("ssh:h", 0)] {
        let overrides = Overrides {
            target: Some(target.into()),
            ..Overrides::default()
        };
        let plan = read(&text).plan(&overrides).unwrap();
        assert_eq!(plan.images.len(), images, "{target}");
        let mut runs = plan.runs.iter();
        assert!(runs.all(|run| run.image.is_some() == (images > 0)));
    }
}

/// A plan with this many runs of each cell and this many images.
fn over(runs: u32, images: Option<u32>) -> Plan {
    let text = experiment(&[2], 2, runs, 7, true);
    let images = images.map_or(String::new(), |images| format!("images = {images}\n"));
    plan(&format!("{images}{text}"))
}

#[test]
fn blocks_are_dealt_out_over_images() {
    for (runs, asked, images) in [
        (3, None, 3),
        (40, None, 32),
        (40, Some(40), 40),
        (7, Some(2), 2),
    ] {
        let plan = over(runs, asked);
        assert_eq!(plan.images.len(), images);
        let distinct: BTreeSet<_> = plan.images.iter().collect();
        assert_eq!(distinct.len(), images);
        for run in &plan.runs {
            let image = run.image.unwrap() as usize;
            assert_eq!(image, run.block as usize % images);
            let order = plan.order(run.index).unwrap();
            assert_eq!(order.machine.image, plan.images[image]);
        }
    }
    // More runs leave the earlier images unchanged.
    assert_eq!(over(5, None).images[..], over(9, None).images[..5]);
    assert_eq!(over(5, Some(3)).images[..], over(9, None).images[..3]);
}

#[test]
fn for_a_single_image_nothing_is_drawn() {
    for (runs, images) in [(8, Some(1)), (1, None)] {
        let plan = over(runs, images);
        assert_eq!(plan.images, [assize_job::MemoryImage::default()]);
        assert!(plan.runs.iter().all(|run| run.image == Some(0)));
        assert!(plan.order(0).unwrap().machine.image.is_plain());
    }
}

#[test]
fn fewer_runs_than_images_leave_images_out() {
    let few = Overrides {
        runs: Some(2),
        ..Overrides::default()
    };
    let text = format!("images = 4\n{}", experiment(&[2], 1, 4, 7, false));
    assert_eq!(read(&text).plan(&few).unwrap().images.len(), 2);
}

#[test]
fn the_images_of_a_seed_are_these() {
    // From the same independent implementation as `SEVEN`: the stream number
    // 2^32 - 1 of a block's seed.
    let drawn = over(3, None).images;
    let shown = drawn.iter().map(|image| {
        let assize_job::MemoryImage {
            settle_us,
            processes,
            padding,
            modules,
            build,
            addresses,
        } = *image;
        (settle_us, processes, padding, modules, build, addresses)
    });
    let wanted = [
        (435_206, 142, 2928, 3_440_629_515, 0, 156),
        (465_873, 72, 1328, 140_188_316, 1, 478),
        (435_697, 241, 3920, 4_078_177_177, 2, 277),
    ];
    assert_eq!(shown.collect::<Vec<_>>(), wanted);
}

#[test]
fn looks_are_counted_until_all_runs_are_done() {
    for (first, every, most, looks) in [
        (5, 5, 30, 6),
        (5, 5, 31, 7),
        (5, 5, 29, 6),
        (30, 5, 30, 1),
        (2, 1, 10, 9),
        (4, 100, 5, 2),
    ] {
        let text = format!(
            "title = \"x\"
            primary = [{{ metric = \"elapsed\", better = \"lower\" }}]
            until = {{ within = \"2%\", first_look = {first}, every = {every}, max_runs = {most} }}
            [workloads.w]
            kind = \"hackbench\""
        );
        let plan = plan(&text);
        let until = plan.until.unwrap();
        assert_eq!(
            (until.first_look, until.looks),
            (first, looks),
            "{first} {every} {most}"
        );
        assert_eq!(plan.runs.len(), most as usize);
        // The same, step by step.
        let mut at = first;
        let mut stepped = 1;
        while at < most {
            at += every;
            stepped += 1;
        }
        assert_eq!(stepped, looks);
    }
}

#[test]
fn fewer_runs_than_the_first_look_leave_one_look() {
    let text = "title = \"x\"
        primary = [{ metric = \"elapsed\", better = \"lower\" }]
        until = { within = \"2%\" }
        [workloads.w]
        kind = \"hackbench\"";
    let few = Overrides {
        runs: Some(3),
        ..Overrides::default()
    };
    let plan = read(text).plan(&few).unwrap();
    let until = plan.until.unwrap();
    assert_eq!((until.first_look, until.looks, plan.runs.len()), (3, 1, 3));
}
