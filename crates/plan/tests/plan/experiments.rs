//! All experiment files in the tree can be planned.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use std::fs;
use std::path::{Path, PathBuf};

use assize_job::{Design, DriverShape, WorkerSharing};
use assize_plan::{Overrides, Plan, parse};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|end| end == "toml") {
            found.push(path);
        }
    }
}

fn plan(path: &Path) -> Plan {
    let text = fs::read_to_string(path).unwrap();
    let name = path.file_name().unwrap().to_string_lossy();
    let experiment = parse(&text, &name).unwrap_or_else(|error| panic!("{error}"));
    experiment.plan(&Overrides::default()).unwrap()
}

#[test]
fn every_experiment_has_a_schedule_of_complete_blocks() {
    let mut files = Vec::new();
    collect(&root().join("experiments"), &mut files);
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        let plan = plan(&file);
        let cells = plan.configurations.len() * plan.workloads.len();
        assert_ne!(cells, 0, "{file:?}");
        assert_eq!(plan.runs.len() % cells, 0, "{file:?}");
        assert!(
            !plan.primary.is_empty(),
            "{file:?} declares nothing primary"
        );
        for index in 0..plan.runs.len() {
            assert!(plan.order(u32::try_from(index).unwrap()).is_some());
        }
    }
}

#[test]
fn the_tour_has_these_runs() {
    for (name, configurations, runs) in [
        (
            "cyclictest",
            &["none+normal", "none+fifo", "hogs+normal", "hogs+fifo"][..],
            32,
        ),
        ("kernels", &["debian:6.1", "debian:6.12"], 16),
        ("aa", &["base", "base/aa"], 32),
        (
            "framebuffer-latency",
            &[
                "control",
                "write-back",
                "write-combined",
                "uncached",
                "flush-source",
                "flush-destination",
                "sfence",
                "non-temporal",
                "throttled",
                "stalled",
            ],
            60,
        ),
        (
            "dep-queue",
            &[
                "drm-sched",
                "depq",
                "depq+irq",
                "depq+bypass",
                "depq+bypass+irq",
            ],
            100,
        ),
    ] {
        let plan = plan(&root().join(format!("experiments/tour/{name}.toml")));
        let names: Vec<&str> = plan
            .configurations
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        assert_eq!(names, configurations, "{name}");
        assert_eq!(plan.runs.len(), runs, "{name}");
    }
}

/// The names of an experiment's configurations and workloads, and its number of
/// runs.
fn shape(name: &str) -> (Vec<String>, Vec<String>, usize) {
    let plan = plan(&root().join(format!("experiments/{name}.toml")));
    let configurations = plan.configurations.into_iter().map(|one| one.name);
    let workloads = plan.workloads.into_iter().map(|one| one.name);
    (
        configurations.collect(),
        workloads.collect(),
        plan.runs.len(),
    )
}

#[test]
fn latency_of_run_job_is_measured_on_these() {
    let (workers, workloads, runs) = shape("run-job-latency");
    assert_eq!(
        workers,
        [
            "workqueue",
            "workqueue/aa",
            "depq",
            "highpri",
            "kthread",
            "follow",
            "follow-min",
            "bypass",
            "bypass-follow"
        ]
    );
    assert_eq!(
        workloads,
        [
            "stream-normal",
            "stream-nice",
            "stream-nice19",
            "stream-fifo",
            "compositor"
        ]
    );
    assert_eq!(runs, 8 * 9 * 5);
    let (grid, policies, runs) = shape("run-job-latency-grid");
    assert_eq!(grid.len(), 8 * 4 * 2 * 2);
    assert_eq!(grid[0], "workqueue+hogs-2+cpus-2+debian:6.12");
    assert_eq!(policies.len(), 6);
    assert_eq!(runs, 8 * grid.len() * policies.len());
    let (workers, crowds, _) = shape("run-job-latency-crowd");
    assert!(
        workers.contains(&"kthread-context".to_owned()),
        "{workers:?}"
    );
    assert_eq!(crowds, ["crowd-1", "crowd-16", "crowd-256", "crowd-4096"]);
    let (workers, policies, runs) = shape("run-job-latency-nice");
    assert_eq!((workers.len(), policies.len(), runs), (8, 9, 8 * 8 * 9));
    assert!(workers.contains(&"min-flapping".to_owned()), "{workers:?}");
}

#[test]
fn eras_of_drm_sched_are_a_kernel_each_alone_and_beside_depq() {
    let (eras, workloads, runs) = shape("drm-sched-eras");
    assert_eq!(
        eras,
        [
            "6.12+drm-sched",
            "6.12+depq",
            "6.1+drm-sched",
            "6.1+depq",
            "7+drm-sched",
            "7+depq",
            "7-fair+drm-sched"
        ]
    );
    assert_eq!(runs, 6 * eras.len() * workloads.len());
    let plan = plan(&root().join("experiments/drm-sched-eras.toml"));
    for run in &plan.runs {
        let job = plan.order(run.index).unwrap().job;
        let queue = job.queue.unwrap();
        assert_eq!(queue.credits, 2);
        assert_eq!(queue.shared, queue.design == Design::DrmSched);
    }
}

#[test]
fn shapes_of_drm_sched_are_each_beside_the_form_of_depq_that_corresponds() {
    let (names, workloads, runs) = shape("dep-queue-shapes");
    let (_, of_dep_queue, _) = shape("dep-queue");
    assert_eq!((names.len(), runs), (9, 6 * 9 * workloads.len()));
    assert!(of_dep_queue.iter().all(|name| workloads.contains(name)));
    let plan = plan(&root().join("experiments/dep-queue-shapes.toml"));
    for run in &plan.runs {
        let queue = plan.order(run.index).unwrap().job.queue.unwrap();
        let name = &names[run.configuration];
        let (driver, form) = name.split_once('-').unwrap_or((name, ""));
        let (wanted, share, credits) = match driver {
            "xe" => (DriverShape::Xe, WorkerSharing::Context, 64),
            "panthor" => (DriverShape::Panthor, WorkerSharing::Device, 64),
            _ => (DriverShape::Amdgpu, WorkerSharing::Engine, 2),
        };
        // The file does not set credits for the shape, so they are the driver's default.
        assert_eq!(queue.credits, credits, "{name}");
        if form.is_empty() {
            assert_eq!((queue.design, queue.shape), (Design::DrmSched, wanted));
        } else {
            assert_eq!(
                (queue.design, queue.shape),
                (Design::Depq, DriverShape::None)
            );
            assert_eq!((queue.share, queue.bypass), (share, form == "bypass"));
        }
    }
}

#[test]
fn hogs_run_beside_all_that_measures_latency() {
    let plan = plan(&root().join("experiments/run-job-latency.toml"));
    for run in &plan.runs {
        let job = plan.order(run.index).unwrap().job;
        let beside: Vec<&str> = job.background.iter().map(|one| &*one.name).collect();
        assert_eq!(beside, ["hogs"], "{}", job.workload.name);
    }
}

#[test]
fn the_examples_of_the_documentation_are_experiments() {
    let text = fs::read_to_string(root().join("docs/experiment.md")).unwrap();
    let mut examples = 0;
    for block in text.split("```toml\n").skip(1) {
        let block = block.split("```").next().unwrap();
        // Excerpts without a title are completed to whole files.
        let text = if block.contains("title = ") {
            block.to_owned()
        } else if block.starts_with("exclude") || block.starts_with("until") {
            continue;
        } else {
            format!("title = \"x\"\n{block}\n[workloads.w]\nkind = \"frames\"\n")
        };
        parse(&text, "docs/experiment.md").unwrap_or_else(|error| panic!("{error}\n{text}"));
        examples += 1;
    }
    assert!(examples >= 4, "{examples}");
}
