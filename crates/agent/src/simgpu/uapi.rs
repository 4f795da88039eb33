//! The structs and constants of `kernel/uapi/simgpu.h`, which documents them. A test
//! compares them with that file as compiled by a C compiler.

use crate::device::iowr;

pub(crate) const DESIGN_DRM_SCHED: u32 = 0;
pub(crate) const DESIGN_DEPQ: u32 = 1;
pub(crate) const DESIGN_NONE: u32 = 2;

pub(crate) const CREATE_BYPASS: u32 = 1;
pub(crate) const CREATE_SHARED: u32 = 2;
pub(crate) const CREATE_HIGHPRI: u32 = 4;
pub(crate) const CREATE_FREE_SLEEPS: u32 = 8;
pub(crate) const CREATE_FAIR: u32 = 16;

pub(crate) const PUT_WORKER: u32 = 0;
pub(crate) const PUT_IRQ: u32 = 1;
pub(crate) const PUT_SUBMIT: u32 = 2;
pub(crate) const PUT_AUTO: u32 = 3;

pub(crate) const WORKER_SYSTEM: u32 = 0;
pub(crate) const WORKER_WQ: u32 = 1;
pub(crate) const WORKER_HIGHPRI: u32 = 2;
pub(crate) const WORKER_KTHREAD: u32 = 3;
pub(crate) const WORKER_FOLLOW: u32 = 4;
pub(crate) const WORKER_FOLLOW_MIN: u32 = 5;

pub(crate) const SHARE_CONTEXT: u32 = 0;
pub(crate) const SHARE_ENGINE: u32 = 1;
pub(crate) const SHARE_DEVICE: u32 = 2;
pub(crate) const SHAPE_NONE: u32 = 0;
pub(crate) const SHAPE_XE: u32 = 1;
pub(crate) const SHAPE_PANTHOR: u32 = 2;
pub(crate) const SHAPE_AMDGPU: u32 = 3;

pub(crate) const DEP_FENCE: u32 = 0;
pub(crate) const DEP_JOB: u32 = 1;

pub(crate) const EXEC_FENCE_OUT: u32 = 1;
pub(crate) const EXEC_WRITE: u32 = 2;

pub(crate) const RECORD_DONE: u32 = 1;

pub(crate) const CONTROL_SEED: u32 = 4;

/// `struct simgpu_info`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SimgpuInfo {
    pub(crate) version: u32,
    pub(crate) engines: u32,
    pub(crate) engines_parallel: u32,
    pub(crate) pad: u32,
    pub(crate) queue_bytes: [u32; 2],
    pub(crate) job_bytes: [u32; 2],
    pub(crate) fence_bytes: [u32; 2],
}

/// `struct simgpu_create`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SimgpuCreate {
    pub(crate) design: u32,
    pub(crate) flags: u32,
    pub(crate) put: u32,
    pub(crate) worker: u32,
    pub(crate) share: u32,
    pub(crate) engine: u32,
    pub(crate) priority: u32,
    pub(crate) credit_limit: u32,
    pub(crate) ring: u32,
    pub(crate) timeout_us: u32,
    pub(crate) hang_limit: u32,
    pub(crate) context: u32,
    pub(crate) free_cost_ns: u32,
    pub(crate) shape: u32,
    pub(crate) memory: u32,
    pub(crate) pad: u32,
}

/// `struct simgpu_dep`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SimgpuDep {
    pub(crate) kind: u32,
    pub(crate) fd: i32,
    pub(crate) context: u32,
    pub(crate) handle: u32,
    pub(crate) seqno: u64,
}

/// `struct simgpu_exec`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SimgpuExec {
    pub(crate) flags: u32,
    pub(crate) n_deps: u32,
    pub(crate) deps: u64,
    pub(crate) duration_ns: u64,
    pub(crate) duration_spread_ns: u64,
    pub(crate) run_cost_ns: u64,
    pub(crate) credits: u32,
    pub(crate) fault: u32,
    pub(crate) fault_arg: u64,
    pub(crate) cookie: u64,
    pub(crate) write_offset: u32,
    pub(crate) write_value: u32,
    pub(crate) out_fence: i32,
    pub(crate) out_syncobj: u32,
    pub(crate) seqno: u64,
    pub(crate) out_point: u64,
}

/// `struct simgpu_submit`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SimgpuSubmit {
    pub(crate) context: u32,
    pub(crate) flags: u32,
    pub(crate) n_execs: u32,
    pub(crate) exec_size: u32,
    pub(crate) execs: u64,
    pub(crate) objects: u64,
    pub(crate) n_objects: u32,
    pub(crate) pad: u32,
}

/// `struct simgpu_wait`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SimgpuWait {
    pub(crate) context: u32,
    pub(crate) pad: u32,
    pub(crate) seqno: u64,
    pub(crate) timeout_ns: u64,
    pub(crate) error: i32,
    pub(crate) pad2: u32,
    pub(crate) t_run: u64,
    pub(crate) t_hw: u64,
    pub(crate) t_wake: u64,
}

/// `struct simgpu_record`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SimgpuRecord {
    pub(crate) seqno: u64,
    pub(crate) cookie: u64,
    pub(crate) t_enter: u64,
    pub(crate) t_commit: u64,
    pub(crate) t_return: u64,
    pub(crate) t_run: u64,
    pub(crate) t_hw: u64,
    pub(crate) t_done: u64,
    pub(crate) order: u64,
    pub(crate) error: i32,
    pub(crate) flags: u32,
}

/// `struct simgpu_read`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SimgpuRead {
    pub(crate) context: u32,
    pub(crate) record_size: u32,
    pub(crate) first: u64,
    pub(crate) n: u32,
    pub(crate) pad: u32,
    pub(crate) records: u64,
}

/// `struct simgpu_stats`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SimgpuStats {
    pub(crate) context: u32,
    pub(crate) banned: u32,
    pub(crate) submitted: u64,
    pub(crate) bypassed: u64,
    pub(crate) done: u64,
    pub(crate) failed: u64,
    pub(crate) timedout: u64,
    pub(crate) no_hang: u64,
    pub(crate) released: u64,
    pub(crate) put_irq: u64,
    pub(crate) put_submit: u64,
    pub(crate) put_worker: u64,
    pub(crate) put_delayed: u64,
    pub(crate) kicks: u64,
    pub(crate) credits: u32,
    pub(crate) queued: u32,
    pub(crate) pending: u32,
    pub(crate) pad: u32,
    pub(crate) raises: u64,
    pub(crate) lowers: u64,
    pub(crate) softirqs: u64,
}

/// `struct simgpu_control`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SimgpuControl {
    pub(crate) context: u32,
    pub(crate) command: u32,
    pub(crate) arg: u64,
}

/// `struct simgpu_gem_create`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SimgpuGemCreate {
    pub(crate) size: u64,
    pub(crate) handle: u32,
    pub(crate) flags: u32,
}

/// `struct simgpu_gem_mmap`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SimgpuGemMmap {
    pub(crate) handle: u32,
    pub(crate) pad: u32,
    pub(crate) offset: u64,
}

const _: () = {
    assert!(size_of::<SimgpuInfo>() == 40);
    assert!(size_of::<SimgpuCreate>() == 64);
    assert!(size_of::<SimgpuDep>() == 24);
    assert!(size_of::<SimgpuExec>() == 96);
    assert!(size_of::<SimgpuSubmit>() == 40);
    assert!(size_of::<SimgpuWait>() == 56);
    assert!(size_of::<SimgpuRecord>() == 80);
    assert!(size_of::<SimgpuRead>() == 32);
    assert!(size_of::<SimgpuStats>() == 144);
    assert!(size_of::<SimgpuControl>() == 16);
    assert!(size_of::<SimgpuGemCreate>() == 16);
    assert!(size_of::<SimgpuGemMmap>() == 16);
};

/// The number of an ioctl that reads and writes a `T`.
const fn number<T>(nr: u32) -> u32 {
    iowr::<T>(b'd' as u32, 0x40 + nr)
}

pub(crate) const INFO: u32 = number::<SimgpuInfo>(0);
pub(crate) const CREATE: u32 = number::<SimgpuCreate>(1);
pub(crate) const SUBMIT: u32 = number::<SimgpuSubmit>(3);
pub(crate) const WAIT: u32 = number::<SimgpuWait>(4);
pub(crate) const READ: u32 = number::<SimgpuRead>(5);
pub(crate) const STATS: u32 = number::<SimgpuStats>(6);
pub(crate) const CONTROL: u32 = number::<SimgpuControl>(8);
pub(crate) const GEM_CREATE: u32 = number::<SimgpuGemCreate>(9);
pub(crate) const GEM_MMAP: u32 = number::<SimgpuGemMmap>(10);
