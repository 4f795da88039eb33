//! Executes runs on the exact machine, on a live one, on this host, or on another host.
//!
//! A [`Target`] executes [`Order`]s and returns the agent's records. It owns kernels, memory
//! images, QEMU and the cache of exact runs. It knows nothing about what is measured.

pub mod agent;
mod apt;
mod cache;
mod carried;
mod dpkg;
mod elf;
pub mod exact;
mod fault;
mod frame_memory;
pub mod gdb_stub;
mod governors;
mod host;
mod initramfs;
pub mod kernels;
pub mod live;
mod lock;
mod make;
mod module_files;
mod modules;
mod needs;
mod outcome;
mod own_time;
pub mod packages;
mod parts_hash;
mod plugin;
pub mod policies;
mod process;
pub mod processes;
mod prune;
pub mod qemu;
pub mod qemu_build;
mod sandbox;
mod scratch;
mod ssh;
mod step;
pub mod stream;
mod talk;
pub mod testbed;
mod vm;

pub use cache::{Cache, CacheKey, CacheSize};
pub use host::{Host, is_program};
pub use modules::check as check_modules;
pub use outcome::{DIFFERED, EXECUTIONS, OrderResult, RunFailure, RunOutcome};
pub use sandbox::Sandbox;
pub use ssh::Ssh;
pub use step::{PreparationStep, ReportStep};

use assize_job::{Order, RunIdentityPart};

/// A place to run orders.
pub trait Target: Sync {
    /// How many runs can be done at once without disturbing each other.
    fn slots(&self) -> usize;

    /// Prepares for these orders: finds kernels, builds what machines carry, and boots memory
    /// images. Must be called before any run. Results are stored, so other processes need not
    /// repeat the work. Calls `tell` before each step that may take long.
    ///
    /// # Errors
    /// Something is missing; the error says what, and how to get it. No run has started then.
    fn prepare_telling(&self, orders: &[Order], tell: &ReportStep<'_>) -> Result<(), Error>;

    /// What the machine lacks for this order, one sentence each: a run of it will fail or
    /// report less. Other orders are not affected.
    fn lacking(&self, _order: &Order) -> Vec<String> {
        Vec::new()
    }

    /// [`Target::prepare_telling`] without progress reports.
    ///
    /// # Errors
    /// Those of [`Target::prepare_telling`].
    fn prepare(&self, orders: &[Order]) -> Result<(), Error> {
        self.prepare_telling(orders, &|_| {})
    }

    /// The identity that a run of this order must report, as far as it is known here.
    /// Called after [`Target::prepare`].
    ///
    /// # Errors
    /// Something that the order needs no longer exists.
    fn expected(&self, order: &Order) -> Result<Vec<RunIdentityPart>, Error>;

    /// Executes one order. `slot` must be below [`Target::slots`] and differ between simultaneous
    /// runs.
    ///
    /// # Errors
    /// Only if the target itself can execute no more runs. A failed run is an
    /// [`RunOutcome::Failed`].
    fn run(&self, order: &Order, slot: usize) -> Result<OrderResult, Error>;

    /// Whether the answer to an order is cached, so that running it executes nothing; with
    /// `twice`, the same for [`Target::run_twice`].
    ///
    /// # Errors
    /// Those of [`Target::expected`].
    fn is_kept(&self, _order: &Order, _twice: bool) -> Result<bool, Error> {
        Ok(false)
    }

    /// Like [`Target::run`], but on a target that gives equal answers to equal orders, an answer
    /// counts only if two executions agree on it. If they differ, further pairs are executed; after
    /// a few the run fails. [`EXECUTIONS`] and [`DIFFERED`] in [`OrderResult::machine`] record
    /// this. With `anew` at least one execution is made now. Other targets run the order once.
    ///
    /// # Errors
    /// Those of [`Target::run`].
    fn run_twice(&self, order: &Order, slot: usize, _anew: bool) -> Result<OrderResult, Error> {
        self.run(order, slot)
    }
}

/// Why a target cannot do what was requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The attempted action: `boot the kernel debian:6.12`.
    pub what: String,
    /// Why it failed.
    pub why: String,
    /// The command or change that fixes it, if one is known.
    pub mend: Option<String>,
    /// Whether the request was wrong (exit status 2); otherwise the work failed (3).
    pub wrong_use: bool,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot {}: {}", self.what, self.why)?;
        if let Some(mend) = &self.mend {
            write!(f, "; {mend}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
