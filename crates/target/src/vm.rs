//! Code shared by virtual machines: prepares kernels and initramfs for orders.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use assize_job::{IdentityKind, Machine, MemoryImage, Order, Payload, RunIdentityPart};

use crate::carried::CarriedFiles;
use crate::exact::keep_error;
use crate::initramfs::ProvidedFiles;
use crate::kernels::{Kernel, Kernels};
use crate::policies::{self, Policies};
use crate::prune::{prune, touch};
use crate::testbed::Testbed;
use crate::{Error, PreparationStep, ReportStep, governors, initramfs};

/// Limit in bytes for stored initramfs; the oldest are removed first.
const INITRAMFS: u64 = 2 << 30;

/// A kernel and an initramfs with a payload.
#[derive(Debug)]
pub(crate) struct PreparedBoot {
    pub(crate) kernel: Kernel,
    pub(crate) initramfs: PathBuf,
    /// BLAKE3 digest of the initramfs.
    pub(crate) initramfs_digest: String,
    /// What `uname -v` will print, if the image contains that.
    pub(crate) version: Option<String>,
    /// The paths and digests of its files.
    pub(crate) carried: CarriedFiles,
}

impl PreparedBoot {
    /// The identity that a run of this order must report.
    pub(crate) fn expected(&self, order: &Order, command_line: &str) -> Vec<RunIdentityPart> {
        let machine = &order.machine;
        let mut parts = self.carried.expected(&order.job, true);
        let mut add = |kind, name: &str, value: &str| {
            parts.push(RunIdentityPart::new(kind, name, value));
        };
        add(IdentityKind::Kernel, "release", &self.kernel.release);
        add(IdentityKind::Kernel, "image", &self.kernel.digest);
        if let Some(version) = &self.version {
            add(IdentityKind::Kernel, "version", version);
        }
        // The random choices of an image do not change the identity of the machine.
        let line = MemoryImage::without(command_line);
        add(IdentityKind::CommandLine, "", &line);
        // The command line may reduce CPUs and memory.
        let takes = |words: &[&str]| {
            let mut line = machine.command_line.iter();
            line.any(|word| words.contains(&word.split('=').next().unwrap_or_default()))
        };
        if !takes(&["maxcpus", "nr_cpus", "nosmp", "possible_cpus"]) {
            add(IdentityKind::Machine, "cpus", &machine.cpus.to_string());
        }
        if !takes(&["mem", "memmap"]) {
            let memory = machine.memory_mib.to_string();
            add(IdentityKind::Machine, "memory_mib", &memory);
        }
        parts.sort();
        parts
    }
}

/// Kernel, layout of the testbed's modules, whether modules need signatures, and payload.
type PreparedKey = (String, u32, bool, Payload);

/// Prepares kernels and initramfs, each once.
#[derive(Debug)]
pub(crate) struct BootStock {
    root: PathBuf,
    agent: PathBuf,
    ours: ProvidedFiles,
    ready: Mutex<BTreeMap<PreparedKey, Arc<PreparedBoot>>>,
}

impl BootStock {
    /// A stock that stores files below `root` and packs the agent at `agent`.
    pub(crate) fn new(root: PathBuf, agent: PathBuf) -> BootStock {
        BootStock {
            ours: ProvidedFiles {
                testbed: Testbed::new(&root),
                policies: Policies::new(&root),
            },
            root,
            agent,
            ready: Mutex::default(),
        }
    }

    /// Returns the kernel and initramfs that this order boots from.
    pub(crate) fn ready(&self, order: &Order) -> Result<Arc<PreparedBoot>, Error> {
        self.ready_telling(order, &|_| {})
    }

    /// Like [`BootStock::ready`], calling `tell` before each step.
    pub(crate) fn ready_telling(
        &self,
        order: &Order,
        tell: &ReportStep<'_>,
    ) -> Result<Arc<PreparedBoot>, Error> {
        check(&order.machine)?;
        let build = order.machine.image.build;
        let signed = initramfs::is_demanded(&order.machine.command_line);
        let payload = &order.payload;
        let key = (order.machine.kernel.clone(), build, signed, payload.clone());
        // A thread that panicked with the lock held has left the map intact.
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = ready.get(&key) {
            check_kernel(&found.kernel, order)?;
            return Ok(Arc::clone(found));
        }
        let kernel = Kernels::new(self.root.clone()).resolve(&order.machine.kernel)?;
        check_kernel(&kernel, order)?;
        let name = || kernel.name.clone();
        let ours = ProvidedFiles {
            testbed: self.ours.testbed.laid_out(build),
            ..self.ours.clone()
        };
        if ours.testbed.would_build(&kernel, &payload.modules) {
            tell(PreparationStep::Modules { kernel: name() });
        }
        tell(PreparationStep::Initramfs { kernel: name() });
        let packed = initramfs::build(&self.agent, &kernel, &ours, payload, signed)?;
        let initramfs_digest = blake3::hash(&packed.bytes).to_hex().to_string();
        let path = self.keep(&initramfs_digest, &packed.bytes)?;
        let made = Arc::new(PreparedBoot {
            version: kernel.version_line(),
            carried: packed.carried,
            kernel,
            initramfs: path,
            initramfs_digest,
        });
        ready.insert(key, Arc::clone(&made));
        Ok(made)
    }

    fn keep(&self, digest: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
        let parent = self.root.join("initramfs");
        let path = parent.join(format!("{digest}.cpio"));
        if path.exists() {
            touch(&path);
            return Ok(path);
        }
        prune(&parent, INITRAMFS);
        let put = || {
            fs::create_dir_all(&parent)?;
            let mut file = tempfile::NamedTempFile::new_in(&parent)?;
            file.write_all(bytes)?;
            file.persist(&path).map_err(|error| error.error)?;
            Ok(())
        };
        put().map_err(|error| keep_error(&path, &error))?;
        Ok(path)
    }

    /// The agent that is packed.
    pub(crate) fn agent(&self) -> &Path {
        &self.agent
    }

    /// The root directory for files.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }
}

/// The job as JSON, with the guest's paths.
pub(crate) fn job_text(ready: &PreparedBoot, order: &Order) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(&ready.carried.placed(&order.job)).map_err(|error| Error {
        what: "write the job".into(),
        why: error.to_string(),
        mend: None,
        wrong_use: false,
    })
}

/// Fails if an order needs something that its kernel is built without.
fn check_kernel(kernel: &Kernel, order: &Order) -> Result<(), Error> {
    policies::check_kernel(kernel, order)?;
    governors::check_kernel(kernel, order)
}

/// Reports errors for which QEMU's own message is hard to understand.
fn check(machine: &Machine) -> Result<(), Error> {
    let wrong = |why: String| crate::fault::wrong("describe a virtual machine", why);
    if machine.cpus == 0 || machine.cpus > 64 {
        return Err(wrong(format!("cpus is {}, not 1 to 64", machine.cpus)));
    }
    if machine.memory_mib < 128 || machine.memory_mib > 1 << 20 {
        return Err(wrong(format!(
            "memory is {} MiB; it must be at least 128 MiB",
            machine.memory_mib
        )));
    }
    if let Err(error) = machine.quantum_ns() {
        return Err(crate::fault::mend(wrong(error.why), error.mend));
    }
    Ok(())
}
