//! Which metrics an experiment may mention.

use crate::common::read;

#[test]
fn what_is_measured_only_sometimes_may_be_primary() {
    let text = r#"
title = "x"
instruments = ["wakeup", "cpu-idle", "perf-hardware"]
higher_is_better = ["cpu3_non_idle", "files"]
primary = [
    { metric = "latency_ns_p99.9", better = "lower" },
    { metric = "thread0_latency_max", better = "lower" },
    { metric = "wakeup_latency_ns_mad:hog", better = "lower" },
    { metric = "cycles_per_job", better = "lower" },
    { metric = "service_ratio", better = "lower" },
    { metric = "worker_raises", better = "lower" },
]
[workloads.timer]
kind = "cyclictest"
[workloads.crowd]
kind = "crowd"
[workloads.find]
kind = "command"
argv = ["find"]
metrics = ["files"]
"#;
    assert_eq!(
        read(text).plan(&Default::default()).unwrap().primary.len(),
        6
    );
}

#[test]
fn what_one_level_measures_is_measured() {
    let text = r#"
title = "x"
higher_is_better = ["slow_overruns", "fast_overruns"]
[factors.speed.slow]
[factors.speed.fast]
workload.w.loops = [{ name = "fast" }]
[workloads.w]
kind = "periodic"
loops = [{ name = "slow" }]
"#;
    let experiment = read(text);
    // This holds even if the plan leaves the level out.
    let levels = [("speed".to_owned(), vec!["slow".to_owned()])];
    let overrides = assize_plan::Overrides {
        levels: levels.into_iter().collect(),
        ..Default::default()
    };
    assert_eq!(
        experiment.plan(&overrides).unwrap().higher_is_better.len(),
        2
    );
}
