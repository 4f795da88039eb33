//! Safe wrapper for the render node of simgpu.

#[cfg(test)]
mod layout;
mod node;
pub(crate) mod uapi;

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use assize_job::{Design, DriverShape, JobPicker, JobPutter, Queue, Worker, WorkerSharing};

use crate::device;
use crate::sys;
use uapi::{
    SimgpuControl, SimgpuCreate, SimgpuDep, SimgpuExec, SimgpuGemCreate, SimgpuGemMmap, SimgpuInfo,
    SimgpuRead, SimgpuRecord, SimgpuStats, SimgpuSubmit, SimgpuWait,
};

/// The device's name in messages.
const NAME: &str = "simgpu";
/// The supported version of the interface.
const VERSION: u32 = 2;
/// Size of the memory that jobs can write to.
const MEMORY_BYTES: usize = 65536;

/// An open device. Dropping it releases its contexts and memory.
#[derive(Debug)]
pub(crate) struct SimgpuDevice {
    file: File,
    /// Handle of the GEM object that the jobs of all contexts write to.
    memory: u32,
}

impl SimgpuDevice {
    /// Opens the device.
    pub(crate) fn open() -> Result<SimgpuDevice, String> {
        let mut device = SimgpuDevice {
            file: node::open()?,
            memory: 0,
        };
        let version = device.info().map_err(|error| failed("info", &error))?;
        if version.version != VERSION {
            return Err(format!(
                "{NAME}: its interface has version {}, and this agent knows {VERSION}; \
                 use the module that came with assize",
                version.version
            ));
        }
        let mut create = SimgpuGemCreate {
            size: MEMORY_BYTES as u64,
            ..SimgpuGemCreate::default()
        };
        let created = device.ioctl(uapi::GEM_CREATE, &mut create);
        created.map_err(|error| failed("make its memory", &error))?;
        device.memory = create.handle;
        Ok(device)
    }

    /// The properties of the device.
    pub(crate) fn info(&self) -> io::Result<SimgpuInfo> {
        let mut info = SimgpuInfo::default();
        self.ioctl(uapi::INFO, &mut info)?;
        Ok(info)
    }

    /// Creates a context on an engine. Returns its id.
    pub(crate) fn create(&self, queue: &Queue, engine: u32) -> io::Result<u32> {
        let mut create = SimgpuCreate {
            memory: self.memory,
            ..create(queue, engine)
        };
        self.ioctl(uapi::CREATE, &mut create)?;
        Ok(create.context)
    }

    /// Seeds the random durations of a context.
    pub(crate) fn seed(&self, context: u32, seed: u64) -> io::Result<()> {
        let mut control = SimgpuControl {
            context,
            command: uapi::CONTROL_SEED,
            arg: seed,
        };
        self.ioctl(uapi::CONTROL, &mut control)
    }

    /// Submits one job that waits for `deps`. Returns its sequence number, and
    /// its fence if one was requested.
    pub(crate) fn submit(
        &self,
        context: u32,
        mut exec: SimgpuExec,
        deps: &[SimgpuDep],
    ) -> io::Result<(u64, Option<OwnedFd>)> {
        exec.n_deps = u32::try_from(deps.len()).unwrap_or(u32::MAX);
        exec.deps = if deps.is_empty() {
            0
        } else {
            deps.as_ptr() as u64
        };
        exec.out_fence = -1;
        let mut submit = SimgpuSubmit {
            context,
            flags: 0,
            n_execs: 1,
            exec_size: size_of::<SimgpuExec>() as u32,
            execs: &raw mut exec as u64,
            ..SimgpuSubmit::default()
        };
        self.ioctl(uapi::SUBMIT, &mut submit)?;
        // SAFETY: the kernel wrote the number of a descriptor that is new and
        // ours.
        let fence = (exec.out_fence >= 0).then(|| unsafe { OwnedFd::from_raw_fd(exec.out_fence) });
        Ok((exec.seqno, fence))
    }

    /// Waits for a job, at most `timeout_ns`.
    pub(crate) fn wait(&self, context: u32, seqno: u64, timeout_ns: u64) -> io::Result<SimgpuWait> {
        let mut wait = SimgpuWait {
            context,
            seqno,
            timeout_ns,
            ..SimgpuWait::default()
        };
        self.ioctl(uapi::WAIT, &mut wait)?;
        Ok(wait)
    }

    /// Reads records of jobs, starting at job `first`. Returns how many were read, fewer
    /// than fit if there are no more.
    pub(crate) fn read(
        &self,
        context: u32,
        first: u64,
        records: &mut [SimgpuRecord],
    ) -> io::Result<usize> {
        let mut read = SimgpuRead {
            context,
            record_size: size_of::<SimgpuRecord>() as u32,
            first,
            n: u32::try_from(records.len()).unwrap_or(u32::MAX),
            pad: 0,
            records: records.as_mut_ptr() as u64,
        };
        self.ioctl(uapi::READ, &mut read)?;
        Ok((read.n as usize).min(records.len()))
    }

    /// The statistics of a context.
    pub(crate) fn stats(&self, context: u32) -> io::Result<SimgpuStats> {
        let mut stats = SimgpuStats {
            context,
            ..SimgpuStats::default()
        };
        self.ioctl(uapi::STATS, &mut stats)?;
        Ok(stats)
    }

    /// Maps the memory that jobs write to.
    pub(crate) fn memory(&self) -> io::Result<Memory> {
        let mut place = SimgpuGemMmap {
            handle: self.memory,
            ..SimgpuGemMmap::default()
        };
        self.ioctl(uapi::GEM_MMAP, &mut place)?;
        let at = sys::map_memory(
            MEMORY_BYTES,
            libc::PROT_READ,
            libc::MAP_SHARED,
            self.file.as_raw_fd(),
            place.offset as libc::off_t,
        )?;
        Ok(Memory(at.cast()))
    }

    /// Issues an ioctl. `T` must be the struct of `number`, with pointers and lengths
    /// that the kernel may use.
    fn ioctl<T>(&self, number: u32, argument: &mut T) -> io::Result<()> {
        // SAFETY: the number tells the kernel to read and write a `T`; its
        // pointers come from slices above that outlive the call.
        unsafe { device::ioctl(&self.file, number, argument) }
    }
}

/// The mapped memory that jobs write to.
#[derive(Debug)]
pub(crate) struct Memory(*const u32);

// SAFETY: threads only read whole words from the mapping, which is not unmapped
// as long as this lives.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// Number of words.
    pub(crate) const WORDS: usize = MEMORY_BYTES / size_of::<u32>();

    /// The current value of a word; the index wraps around.
    pub(crate) fn word(&self, index: usize) -> u32 {
        // SAFETY: the mapping has this many words and lasts as long as this; the
        // kernel may write to it at any time.
        unsafe { self.0.add(index % Memory::WORDS).read_volatile() }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and has this size.
        unsafe { libc::munmap(self.0.cast_mut().cast(), MEMORY_BYTES) };
    }
}

/// The message of a failed operation.
pub(crate) fn failed(what: &str, error: &io::Error) -> String {
    format!("{NAME}: {what}: {}", sys::error_text(error))
}

/// Converts a queue's settings to the kernel's format.
fn create(queue: &Queue, engine: u32) -> SimgpuCreate {
    let depq = queue.design == Design::Depq;
    let highpri = !depq && queue.worker == Worker::Highpri;
    let mut flags = 0;
    for (is_set, flag) in [
        (queue.bypass, uapi::CREATE_BYPASS),
        (queue.shared, uapi::CREATE_SHARED),
        (highpri, uapi::CREATE_HIGHPRI),
        (queue.free_sleeps, uapi::CREATE_FREE_SLEEPS),
        (queue.pick == JobPicker::Fair, uapi::CREATE_FAIR),
    ] {
        if is_set {
            flags |= flag;
        }
    }
    SimgpuCreate {
        design: match queue.design {
            Design::DrmSched => uapi::DESIGN_DRM_SCHED,
            Design::Depq => uapi::DESIGN_DEPQ,
            Design::None => uapi::DESIGN_NONE,
        },
        flags,
        put: match queue.put {
            JobPutter::Worker => uapi::PUT_WORKER,
            JobPutter::Irq => uapi::PUT_IRQ,
            JobPutter::Submit => uapi::PUT_SUBMIT,
            JobPutter::Auto => uapi::PUT_AUTO,
        },
        worker: match queue.worker {
            _ if !depq => 0,
            Worker::System => uapi::WORKER_SYSTEM,
            Worker::Workqueue => uapi::WORKER_WQ,
            Worker::Highpri => uapi::WORKER_HIGHPRI,
            Worker::Kthread => uapi::WORKER_KTHREAD,
            Worker::Follow => uapi::WORKER_FOLLOW,
            Worker::FollowMin => uapi::WORKER_FOLLOW_MIN,
        },
        share: match queue.share {
            WorkerSharing::Context => uapi::SHARE_CONTEXT,
            WorkerSharing::Engine => uapi::SHARE_ENGINE,
            WorkerSharing::Device => uapi::SHARE_DEVICE,
        },
        engine,
        priority: 0,
        credit_limit: queue.credits,
        ring: queue.ring,
        timeout_us: u32::try_from(queue.timeout_ns / 1000).unwrap_or(u32::MAX),
        hang_limit: queue.hang_limit,
        context: 0,
        free_cost_ns: u32::try_from(queue.free_cost_ns).unwrap_or(u32::MAX),
        shape: match queue.shape {
            DriverShape::None => uapi::SHAPE_NONE,
            DriverShape::Xe => uapi::SHAPE_XE,
            DriverShape::Panthor => uapi::SHAPE_PANTHOR,
            DriverShape::Amdgpu => uapi::SHAPE_AMDGPU,
        },
        memory: 0,
        pad: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_described_as_the_kernel_wants_it() {
        let drm = create(&Queue::default(), 3);
        let wanted = SimgpuCreate {
            engine: 3,
            credit_limit: 64,
            ring: 1024,
            timeout_us: 5_000_000,
            ..SimgpuCreate::default()
        };
        assert_eq!(drm, wanted);
        let highpri = Queue {
            worker: Worker::Highpri,
            shared: true,
            ..Queue::default()
        };
        let flags = uapi::CREATE_SHARED | uapi::CREATE_HIGHPRI;
        assert_eq!(create(&highpri, 3), SimgpuCreate { flags, ..wanted });
        for (shape, number) in [
            (DriverShape::Xe, 1),
            (DriverShape::Panthor, 2),
            (DriverShape::Amdgpu, 3),
        ] {
            let shaped = Queue {
                shape,
                ..Queue::default()
            };
            let wanted = SimgpuCreate {
                shape: number,
                ..wanted
            };
            assert_eq!(create(&shaped, 3), wanted);
        }
        let none = Queue {
            design: Design::None,
            free_cost_ns: 700,
            free_sleeps: true,
            ..Queue::default()
        };
        let flags = uapi::CREATE_FREE_SLEEPS;
        let wanted = SimgpuCreate {
            design: 2,
            flags,
            free_cost_ns: 700,
            ..wanted
        };
        assert_eq!(create(&none, 3), wanted);
        let depq = Queue {
            design: Design::Depq,
            bypass: true,
            put: JobPutter::Submit,
            worker: Worker::Highpri,
            share: WorkerSharing::Device,
            ..Queue::default()
        };
        let depq = create(&depq, 3);
        assert_eq!((depq.design, depq.flags), (1, uapi::CREATE_BYPASS));
        assert_eq!((depq.put, depq.worker, depq.share), (2, 2, 2));
        let auto = Queue {
            design: Design::Depq,
            put: JobPutter::Auto,
            ..Queue::default()
        };
        let fair = Queue {
            pick: JobPicker::Fair,
            ..auto.clone()
        };
        let auto = create(&auto, 3);
        assert_eq!((auto.design, auto.flags, auto.put), (1, 0, 3));
        let flags = uapi::CREATE_FAIR;
        assert_eq!(create(&fair, 3), SimgpuCreate { flags, ..auto });
        assert_eq!(
            create(
                &Queue {
                    design: Design::Depq,
                    ..Queue::default()
                },
                0
            )
            .worker,
            1
        );
    }
}
