//! Queues of workloads that submit to simgpu, and what they need.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use assize_job::{Action, Design, JobPutter, Queue, Worker, WorkerSharing, WorkloadKind};
use assize_plan::Plan;

use crate::common::{SMALL, plan};

const GRID: &str = r#"
title = "Grid"
include = [
    { design = "drm", bypass = "off", put = "worker" },
    { design = "depq" },
]
[queue]
ring = 256
timeout = "2s"
[factors.design.drm]
[factors.design.depq]
queue = { design = "depq", share = "engine", ring = 512 }
[factors.bypass.off]
queue.bypass = false
[factors.bypass.on]
queue.bypass = true
[factors.put.worker]
[factors.put.submit]
queue.put = "submit"
[workloads.threads]
kind = "threads"
window = 8
[workloads.load]
kind = "ping-pong"
"#;

fn queue<'p>(plan: &'p Plan, name: &str) -> &'p Queue {
    let mut all = plan.configurations.iter();
    let found = all.find(|one| one.name == name);
    let found = found.unwrap_or_else(|| panic!("no {name}"));
    found.queue.as_ref().unwrap()
}

#[test]
fn settings_of_levels_lie_over_those_of_the_top() {
    let plan = plan(GRID);
    assert_eq!(plan.configurations.len(), 5);
    let drm = Queue {
        ring: 256,
        timeout_ns: 2_000_000_000,
        ..Queue::default()
    };
    assert_eq!(*queue(&plan, "drm+worker"), drm);
    let both = Queue {
        design: Design::Depq,
        bypass: true,
        put: JobPutter::Submit,
        share: WorkerSharing::Engine,
        ring: 512,
        ..drm
    };
    assert_eq!(*queue(&plan, "depq+bypass+submit"), both);
    assert_eq!(both.worker, Worker::Workqueue);
}

#[test]
fn depq_chooses_for_itself_where_nothing_of_its_form_is_given() {
    let of = |settings: &str| {
        let text = format!("title = \"x\"\nqueue = {{ {settings} }}\n[workloads.sync]\n");
        let plan = plan(&format!("{text}kind = \"sync\"\n"));
        plan.configurations[0].queue.clone().unwrap().put
    };
    assert_eq!(of("design = \"depq\""), JobPutter::Auto);
    assert_eq!(of("design = \"depq\", share = \"engine\""), JobPutter::Auto);
    let worker = "design = \"depq\", put = \"auto\", worker = \"kthread\"";
    assert_eq!(of(worker), JobPutter::Auto);
    for given in ["bypass = false", "put = \"worker\"", "worker = \"follow\""] {
        assert_eq!(
            of(&format!("design = \"depq\", {given}")),
            JobPutter::Worker
        );
    }
    for other in ["drm-sched", "none"] {
        assert_eq!(of(&format!("design = \"{other}\"")), JobPutter::Worker);
    }
}

#[test]
fn the_agent_is_told_of_the_queues_and_loads_the_module() {
    let plan = plan(GRID);
    assert_eq!(plan.payload.modules, ["simgpu"]);
    let order = plan.order(0).unwrap();
    let configuration = &plan.configurations[plan.runs[0].configuration];
    assert_eq!(order.job.queue, configuration.queue);
    assert!(matches!(&order.job.setup[..], [Action::Module { module, .. }] if module == "simgpu"));
}

#[test]
fn a_step_that_loads_the_module_is_left_alone() {
    let step = "setup = [{ module = \"x/simgpu.ko\", parameters = { engines = 4 } }]\n";
    let plan = plan(&format!("{step}{GRID}"));
    assert_eq!(plan.payload.module_files, ["x/simgpu.ko"]);
    assert!(plan.payload.modules.is_empty());
    assert_eq!(plan.configurations[0].setup.len(), 1);
}

#[test]
fn nothing_changes_for_workloads_that_do_not_submit() {
    let plan = plan(SMALL);
    assert_eq!(plan.configurations[0].queue, None);
    assert!(plan.configurations[0].setup.is_empty() && plan.payload.modules.is_empty());
    let text = serde_json::to_string(&plan.order(0).unwrap()).unwrap();
    assert!(!text.contains("queue"), "{text}");
}

#[test]
fn a_file_of_steps_is_carried_to_the_target() {
    let plan = plan("title = \"x\"\n[workloads.w]\nkind = \"replay\"\nfile = \"media/a.wsim\"\n");
    let files = &plan.payload.files;
    assert_eq!(
        files[..],
        [("media/a.wsim".into(), "/experiment/media/a.wsim".into())]
    );
    let WorkloadKind::Replay(replay) = &plan.configurations[0].workloads[0].kind else {
        panic!("{:?}", plan.configurations[0].workloads)
    };
    assert_eq!(replay.file.as_deref(), Some("/experiment/media/a.wsim"));
}
