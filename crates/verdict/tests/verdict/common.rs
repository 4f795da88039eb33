//! Records for tests, most of them figures posted to the kernel's mailing lists.

use assize_bundle::{Configuration, Events, Measurement, Records, Run, Unsupported};
use assize_verdict::{Comparison, Document, Options, try_records};

/// Values that vary much between seeds but little between configurations, without steps.
pub(crate) const BASE: [f64; 8] = [
    9.9768334850895,
    13.998174132645,
    8.0076824009477,
    20.872721388245,
    12.070544723565,
    29.950165394775,
    9.0720555869157,
    16.980389990437,
];
pub(crate) const QUEUE: [f64; 8] = [
    9.0789184714314,
    12.49836976129,
    7.206914160853,
    18.686055338048,
    10.964078123905,
    27.054982739947,
    8.2656506458566,
    15.182466344391,
];

/// Metrics of [`QUEUE_RUNS`], in order, with their units.
pub(crate) const QUEUE_METRICS: [(&str, &str); 9] = [
    ("context-switches", ""),
    ("cpu-migrations", ""),
    ("task-clock", "msec"),
    ("cpu_atom/cycles/", ""),
    ("cpu_core/cycles/", ""),
    ("cpu_core/instructions/", ""),
    ("power/energy-pkg/", "Joules"),
    ("power/energy-cores/", "Joules"),
    ("elapsed", "s"),
];

/// `perf stat -a` of two compositors' clients on a DRM scheduler and on four
/// kinds of dependency queue, three runs each (dri-devel, March 2026).
#[rustfmt::skip]
pub(crate) const QUEUE_RUNS: [(&str, &str, [f64; 9]); 30] = [
    ("DRM sched", "glxgears", [71_548.0, 1466.0, 320_440.96, 9_140_249_815.0, 9_140_253_058.0, 7_071_794_806.0, 168.76, 57.78, 20.029_126_614]),
    ("DRM sched", "glxgears", [71_720.0, 1581.0, 320_530.64, 8_990_313_521.0, 8_990_315_400.0, 6_988_827_285.0, 172.15, 58.33, 20.034_862_844]),
    ("DRM sched", "glxgears", [70_871.0, 1980.0, 320_558.82, 8_861_481_467.0, 8_861_485_448.0, 6_665_294_516.0, 167.82, 56.97, 20.035_713_155]),
    ("DRM sched", "weston-simple-egl", [27_398.0, 678.0, 160_255.17, 5_002_546_782.0, 5_002_549_920.0, 3_498_672_077.0, 93.41, 23.91, 10.017_552_274]),
    ("DRM sched", "weston-simple-egl", [27_322.0, 580.0, 160_307.12, 4_783_734_059.0, 4_783_737_645.0, 3_224_510_206.0, 91.89, 23.28, 10.020_629_190]),
    ("DRM sched", "weston-simple-egl", [27_356.0, 573.0, 160_362.30, 5_112_653_847.0, 5_112_658_503.0, 3_395_873_668.0, 94.40, 24.58, 10.023_979_647]),
    ("No opt", "glxgears", [66_233.0, 1820.0, 320_586.39, 9_028_164_726.0, 9_028_178_052.0, 6_541_478_243.0, 178.47, 44.18, 20.036_849_235]),
    ("No opt", "glxgears", [68_389.0, 2034.0, 320_457.18, 8_736_092_056.0, 8_736_096_958.0, 6_511_630_145.0, 183.23, 47.43, 20.031_469_459]),
    ("No opt", "glxgears", [67_692.0, 1877.0, 320_524.05, 8_837_946_224.0, 8_837_949_628.0, 6_018_812_170.0, 187.63, 46.76, 20.034_428_856]),
    ("No opt", "weston-simple-egl", [27_259.0, 313.0, 160_538.29, 5_079_653_975.0, 5_079_657_432.0, 3_166_877_411.0, 90.72, 21.70, 10.034_716_719]),
    ("No opt", "weston-simple-egl", [26_933.0, 449.0, 160_334.74, 4_851_027_105.0, 4_851_054_678.0, 3_042_177_215.0, 87.33, 21.85, 10.021_873_082]),
    ("No opt", "weston-simple-egl", [27_101.0, 351.0, 160_333.98, 4_903_047_240.0, 4_903_055_111.0, 2_884_284_727.0, 87.68, 21.36, 10.021_938_190]),
    ("Bypass", "glxgears", [56_788.0, 2576.0, 320_610.02, 9_056_383_522.0, 9_056_385_629.0, 6_285_652_796.0, 164.29, 44.70, 20.041_318_795]),
    ("Bypass", "glxgears", [56_388.0, 2326.0, 320_581.07, 8_789_215_827.0, 8_789_217_484.0, 6_251_346_200.0, 162.67, 44.30, 20.037_648_324]),
    ("Bypass", "glxgears", [56_167.0, 2434.0, 320_594.69, 8_700_873_664.0, 8_700_877_150.0, 6_405_556_662.0, 162.55, 43.33, 20.038_448_851]),
    ("Bypass", "weston-simple-egl", [24_747.0, 1254.0, 160_543.42, 5_047_832_024.0, 5_047_823_996.0, 3_124_591_155.0, 80.28, 21.49, 10.034_654_628]),
    ("Bypass", "weston-simple-egl", [24_953.0, 921.0, 160_375.32, 5_197_283_835.0, 5_197_287_623.0, 3_393_363_950.0, 83.36, 21.92, 10.024_899_366]),
    ("Bypass", "weston-simple-egl", [24_576.0, 966.0, 160_339.37, 4_915_705_971.0, 4_915_709_503.0, 2_968_947_722.0, 79.96, 21.08, 10.022_743_041]),
    ("IRQ", "glxgears", [60_305.0, 1994.0, 320_528.79, 8_518_549_937.0, 8_518_573_906.0, 5_813_890_066.0, 184.52, 40.79, 20.032_795_872]),
    ("IRQ", "glxgears", [59_401.0, 2256.0, 320_475.03, 8_581_759_828.0, 8_581_763_986.0, 6_748_269_548.0, 179.76, 40.66, 20.029_861_532]),
    ("IRQ", "glxgears", [59_381.0, 1800.0, 320_616.35, 8_829_473_025.0, 8_829_477_019.0, 6_505_926_710.0, 180.38, 40.86, 20.040_016_190]),
    ("IRQ", "weston-simple-egl", [27_341.0, 786.0, 160_478.01, 4_681_440_843.0, 4_681_443_905.0, 2_969_039_615.0, 91.74, 20.84, 10.031_116_623]),
    ("IRQ", "weston-simple-egl", [24_626.0, 429.0, 160_367.44, 4_828_015_355.0, 4_828_019_887.0, 2_675_419_833.0, 90.35, 21.10, 10.024_476_921]),
    ("IRQ", "weston-simple-egl", [24_679.0, 340.0, 160_303.90, 4_500_129_961.0, 4_500_132_697.0, 2_766_150_592.0, 88.01, 19.76, 10.019_653_353]),
    ("IRQ plus bypass", "glxgears", [46_934.0, 1558.0, 320_569.83, 7_976_414_449.0, 7_976_417_934.0, 6_126_973_947.0, 178.36, 40.10, 20.037_681_420]),
    ("IRQ plus bypass", "glxgears", [47_691.0, 1994.0, 320_602.83, 8_270_567_663.0, 8_270_572_484.0, 4_361_204_861.0, 181.56, 40.16, 20.038_511_163]),
    ("IRQ plus bypass", "glxgears", [47_129.0, 1921.0, 320_491.09, 8_054_513_204.0, 8_054_518_711.0, 6_131_796_639.0, 178.54, 40.08, 20.032_444_923]),
    ("IRQ plus bypass", "weston-simple-egl", [21_991.0, 286.0, 160_343.73, 4_497_475_288.0, 4_497_477_011.0, 3_042_007_163.0, 89.14, 20.09, 10.021_642_254]),
    ("IRQ plus bypass", "weston-simple-egl", [22_366.0, 225.0, 160_386.68, 4_398_432_348.0, 4_398_435_205.0, 3_086_156_274.0, 89.07, 19.68, 10.024_827_902]),
    ("IRQ plus bypass", "weston-simple-egl", [22_515.0, 286.0, 160_481.91, 4_447_740_222.0, 4_447_743_314.0, 3_217_285_071.0, 90.15, 19.65, 10.029_135_743]),
];

/// A run from its metrics.
pub(crate) fn run(
    configuration: &str,
    workload: &str,
    repetition: u32,
    metrics: &[(&str, &str, f64)],
) -> Run {
    let mut run = Run::new(configuration, workload, repetition);
    for &(name, unit, value) in metrics {
        run.metrics
            .insert(name.into(), Measurement::new(value, unit));
    }
    run
}

/// Numbers the runs in the order given.
pub(crate) fn in_order(mut runs: Vec<Run>) -> Vec<Run> {
    for (order, run) in (0..).zip(&mut runs) {
        run.order = order;
    }
    runs
}

/// Numbers the runs so that configurations alternate, as in a schedule.
pub(crate) fn in_turns(mut runs: Vec<Run>) -> Vec<Run> {
    let mut places: Vec<usize> = (0..runs.len()).collect();
    places.sort_by_key(|&at| runs[at].repetition);
    for (order, at) in (0..).zip(places) {
        runs[at].order = order;
    }
    runs
}

/// The same runs, sorted by configuration.
pub(crate) fn grouped(mut records: Records) -> Records {
    records.runs = in_order(records.runs);
    records
}

/// The same runs in blocks of one run of each configuration.
pub(crate) fn in_blocks(mut records: Records) -> Records {
    for run in &mut records.runs {
        run.block = Some(run.repetition);
    }
    records
}

/// Independent numbers between -1 and 1, determined by the seed: the high bits of SplitMix64.
pub(crate) fn noise(seed: u64, n: usize) -> Vec<f64> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    std::iter::repeat_with(next).take(n).collect()
}

/// `n` values within `share` of `level`.
pub(crate) fn around(level: f64, share: f64, seed: u64, n: usize) -> Vec<f64> {
    let off = noise(seed, n).into_iter();
    off.map(|off| level * (1.0 + share * off)).collect()
}

/// Runs of one metric on one workload, given by configuration. The
/// configurations alternate.
pub(crate) fn runs_of(
    workload: &str,
    metric: &str,
    unit: &str,
    rows: &[(&str, &[f64])],
) -> Records {
    let mut runs = Vec::new();
    for (configuration, values) in rows {
        for (repetition, &value) in (1..).zip(*values) {
            runs.push(run(
                configuration,
                workload,
                repetition,
                &[(metric, unit, value)],
            ));
        }
    }
    Records {
        source: "typed in".into(),
        runs: in_turns(runs),
        ..Records::default()
    }
}

/// The records of [`QUEUE_RUNS`], with the two flags as factors.
pub(crate) fn queue_records() -> Records {
    let mut records = Records {
        source: "queue.txt".into(),
        factors: vec!["bypass".into(), "irq".into()],
        ..Records::default()
    };
    for (name, levels) in [
        ("DRM sched", None),
        ("No opt", Some((false, false))),
        ("Bypass", Some((true, false))),
        ("IRQ", Some((false, true))),
        ("IRQ plus bypass", Some((true, true))),
    ] {
        let factors = levels.map(|(bypass, irq)| [("bypass".into(), bypass), ("irq".into(), irq)]);
        records.configurations.push(Configuration {
            name: name.into(),
            label: name.into(),
            factors: factors.into_iter().flatten().collect(),
            ..Configuration::default()
        });
    }
    for (i, (configuration, workload, values)) in (0..).zip(QUEUE_RUNS) {
        let metrics: Vec<_> = QUEUE_METRICS
            .iter()
            .zip(values)
            .map(|(&(name, unit), value)| (name, unit, value))
            .collect();
        records
            .runs
            .push(run(configuration, workload, i % 3 + 1, &metrics));
        records.unsupported.push(Unsupported {
            configuration: configuration.into(),
            workload: workload.into(),
            metric: "cpu_atom/instructions/".into(),
            reason: "not supported".into(),
            place: assize_bundle::Place::default(),
        });
    }
    records.runs = in_order(records.runs);
    records
}

/// Hardware latencies above 10 us in 300 s, with and without two workarounds
/// (dri-devel, February 2024).
pub(crate) fn hwlat_records(exposure_s: Option<f64>) -> Records {
    let events = |configuration: &str, times: &[f64]| Events {
        configuration: configuration.into(),
        workload: "fbcon".into(),
        event: "hwlat".into(),
        count: times.len() as u64,
        exposure_s,
        times_s: times.to_vec(),
        span_s: None,
        tolerated_s: None,
        by_run: Vec::new(),
        place: assize_bundle::Place::default(),
    };
    Records {
        source: "hwlat.txt".into(),
        events: vec![
            events(
                "V6.6",
                &[
                    613.749741, 675.201727, 731.435258, 787.684533, 844.303041, 900.494844,
                ],
            ),
            events("V6.6 + clflush", &[534.595415, 758.560453, 815.117057]),
            events("V6.6 + no Write Combine", &[]),
        ],
        ..Records::default()
    }
}

/// Checks a figure to 1e-6 relative; it must exist.
pub(crate) fn close(found: Option<f64>, expected: f64) {
    let found = found.expect("the figure exists");
    assert!(
        (found - expected).abs() <= 1e-6 * expected.abs(),
        "{found} is not {expected}"
    );
}

/// Judges records, which must not fail.
pub(crate) fn tried(records: &Records, options: &Options) -> Document {
    try_records(records, options).expect("the options are sound")
}

/// One comparison of a document.
pub(crate) fn row<'d>(
    document: &'d Document,
    workload: &str,
    metric: &str,
    configuration: &str,
) -> &'d Comparison {
    document
        .comparisons
        .iter()
        .find(|c| c.workload == workload && c.metric == metric && c.configuration == configuration)
        .expect("the comparison exists")
}

/// The details and locations of all lints with this code.
pub(crate) fn lints(document: &Document, code: &str) -> Vec<String> {
    document
        .lints
        .iter()
        .filter(|lint| lint.code == code)
        .map(|lint| format!("{}: {}", lint.location, lint.detail))
        .collect()
}
