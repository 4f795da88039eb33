//! Checks `uapi.rs` against `kernel/uapi/simgpu.h`.

use crate::layout::{ExpectedLayout, check_header, structs};

use super::uapi;

fn expected() -> ExpectedLayout {
    let mut expected = ExpectedLayout::default();
    structs! { expected; uapi;
        SimgpuInfo "simgpu_info" {
            version, engines, engines_parallel, pad, queue_bytes, job_bytes, fence_bytes,
        }
        SimgpuCreate "simgpu_create" {
            design, flags, put, worker, share, engine, priority, credit_limit, ring, timeout_us,
            hang_limit, context, free_cost_ns, shape, memory, pad,
        }
        SimgpuDep "simgpu_dep" { kind, fd, context, handle, seqno }
        SimgpuExec "simgpu_exec" {
            flags, n_deps, deps, duration_ns, duration_spread_ns, run_cost_ns, credits, fault,
            fault_arg, cookie, write_offset, write_value, out_fence, out_syncobj,
            seqno, out_point,
        }
        SimgpuSubmit "simgpu_submit" {
            context, flags, n_execs, exec_size, execs, objects, n_objects, pad,
        }
        SimgpuWait "simgpu_wait" {
            context, pad, seqno, timeout_ns, error, pad2, t_run, t_hw, t_wake,
        }
        SimgpuRecord "simgpu_record" {
            seqno, cookie, t_enter, t_commit, t_return, t_run, t_hw, t_done, order, error, flags,
        }
        SimgpuRead "simgpu_read" { context, record_size, first, n, pad, records }
        SimgpuStats "simgpu_stats" {
            context, banned, submitted, bypassed, done, failed, timedout, no_hang, released,
            put_irq, put_submit, put_worker, put_delayed, kicks, credits, queued, pending, pad,
            raises, lowers, softirqs,
        }
        SimgpuControl "simgpu_control" { context, command, arg }
        SimgpuGemCreate "simgpu_gem_create" { size, handle, flags }
        SimgpuGemMmap "simgpu_gem_mmap" { handle, pad, offset }
    }
    for (c, value) in [
        ("SIMGPU_VERSION", super::VERSION),
        ("SIMGPU_DESIGN_DRM_SCHED", uapi::DESIGN_DRM_SCHED),
        ("SIMGPU_DESIGN_DEPQ", uapi::DESIGN_DEPQ),
        ("SIMGPU_CREATE_BYPASS", uapi::CREATE_BYPASS),
        ("SIMGPU_CREATE_SHARED", uapi::CREATE_SHARED),
        ("SIMGPU_CREATE_HIGHPRI", uapi::CREATE_HIGHPRI),
        ("SIMGPU_CREATE_FREE_SLEEPS", uapi::CREATE_FREE_SLEEPS),
        ("SIMGPU_CREATE_FAIR", uapi::CREATE_FAIR),
        ("SIMGPU_PUT_WORKER", uapi::PUT_WORKER),
        ("SIMGPU_PUT_IRQ", uapi::PUT_IRQ),
        ("SIMGPU_PUT_SUBMIT", uapi::PUT_SUBMIT),
        ("SIMGPU_PUT_AUTO", uapi::PUT_AUTO),
        ("SIMGPU_WORKER_SYSTEM", uapi::WORKER_SYSTEM),
        ("SIMGPU_WORKER_WQ", uapi::WORKER_WQ),
        ("SIMGPU_WORKER_HIGHPRI", uapi::WORKER_HIGHPRI),
        ("SIMGPU_WORKER_KTHREAD", uapi::WORKER_KTHREAD),
        ("SIMGPU_WORKER_FOLLOW", uapi::WORKER_FOLLOW),
        ("SIMGPU_WORKER_FOLLOW_MIN", uapi::WORKER_FOLLOW_MIN),
        ("SIMGPU_SHARE_CONTEXT", uapi::SHARE_CONTEXT),
        ("SIMGPU_SHARE_ENGINE", uapi::SHARE_ENGINE),
        ("SIMGPU_SHARE_DEVICE", uapi::SHARE_DEVICE),
        ("SIMGPU_SHAPE_NONE", uapi::SHAPE_NONE),
        ("SIMGPU_SHAPE_XE", uapi::SHAPE_XE),
        ("SIMGPU_SHAPE_PANTHOR", uapi::SHAPE_PANTHOR),
        ("SIMGPU_SHAPE_AMDGPU", uapi::SHAPE_AMDGPU),
        ("SIMGPU_DEP_FENCE", uapi::DEP_FENCE),
        ("SIMGPU_DEP_JOB", uapi::DEP_JOB),
        ("SIMGPU_EXEC_FENCE_OUT", uapi::EXEC_FENCE_OUT),
        ("SIMGPU_EXEC_WRITE", uapi::EXEC_WRITE),
        ("SIMGPU_RECORD_DONE", uapi::RECORD_DONE),
        ("SIMGPU_CONTROL_SEED", uapi::CONTROL_SEED),
        ("SIMGPU_INFO", uapi::INFO),
        ("SIMGPU_CREATE", uapi::CREATE),
        ("SIMGPU_SUBMIT", uapi::SUBMIT),
        ("SIMGPU_WAIT", uapi::WAIT),
        ("SIMGPU_READ", uapi::READ),
        ("SIMGPU_STATS", uapi::STATS),
        ("SIMGPU_CONTROL", uapi::CONTROL),
        ("SIMGPU_GEM_CREATE", uapi::GEM_CREATE),
        ("SIMGPU_GEM_MMAP", uapi::GEM_MMAP),
    ] {
        expected.value(c, u64::from(value));
    }
    expected
}

#[test]
fn structs_and_numbers_are_those_of_the_header() {
    check_header("simgpu.h", &expected());
}
