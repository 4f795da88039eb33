//! Where runs happen: the exact machine, a live one, this host, another host.
//!
//! A [`Target`] carries out [`Order`]s and answers with what the agent on it
//! recorded. Kernels, memory images, QEMU and the cache of exact runs are this
//! crate's business. It does not know what is measured.

pub mod agent;
mod apt;
mod cache;
mod carried;
mod dpkg;
mod elf;
pub mod exact;
mod fault;
mod frame_memory;
mod governors;
mod host;
mod initramfs;
pub mod kernels;
pub mod live;
mod lock;
mod make;
mod modules;
mod needs;
mod outcome;
mod own_time;
pub mod packages;
mod plugin;
pub mod policies;
mod process;
mod prune;
pub mod qemu;
pub mod qemu_build;
pub mod qemu_store;
mod scratch;
mod ssh;
mod step;
pub mod stream;
mod talk;
pub mod testbed;
mod vm;

pub use cache::{Cache, Key, Stats};
pub use host::Host;
pub use outcome::{DIFFERED, Done, EXECUTIONS, Failure, Outcome};
pub use ssh::Ssh;
pub use step::{Step, Tell};

use assize_job::{IdentityPart, Order};

/// Somewhere to run.
pub trait Target: Sync {
    /// How runs may be done at once without disturbing each other.
    fn slots(&self) -> usize;

    /// Gets ready for these orders: finds kernels, builds and boots memory
    /// images. Called before any run; what it has done need not be done
    /// again by another process. Tells of each step that may take long.
    ///
    /// # Errors
    /// What is missing, and the mend. No run has started then.
    fn prepare_telling(&self, orders: &[Order], tell: &Tell<'_>) -> Result<(), Error>;

    /// What the machine lacks for this order, each in one sentence: a run of it
    /// will fail, or say less. Other orders can do without it.
    fn lacking(&self, _order: &Order) -> Vec<String> {
        Vec::new()
    }

    /// [`Target::prepare_telling`] in silence.
    ///
    /// # Errors
    /// As that has.
    fn prepare(&self, orders: &[Order]) -> Result<(), Error> {
        self.prepare_telling(orders, &|_| {})
    }

    /// What a run of this order must be made of, as far as that is known here;
    /// called after [`Target::prepare`]. What the set-up sets follows from the
    /// job and is not here.
    ///
    /// # Errors
    /// Something that the order needs has gone since.
    fn expected(&self, order: &Order) -> Result<Vec<IdentityPart>, Error>;

    /// Carries out one order. `slot` is below [`Target::slots`] and no two
    /// runs have the same at once.
    ///
    /// # Errors
    /// Only if the target itself cannot go on. A run that fails is an
    /// [`Outcome::Failed`].
    fn run(&self, order: &Order, slot: usize) -> Result<Done, Error>;

    /// Whether the answer to an order is kept, so that to run it executes
    /// nothing; with `twice`, whether one is that [`Target::run_twice`] gives
    /// without executing anything.
    ///
    /// # Errors
    /// As [`Target::expected`].
    fn is_kept(&self, _order: &Order, _twice: bool) -> Result<bool, Error> {
        Ok(false)
    }

    /// The same as [`Target::run`] where equal orders have equal answers, but
    /// for that an answer counts only if two executions have given it: two
    /// that differ are made again, a few times, and then the run has failed.
    /// [`EXECUTIONS`] and [`DIFFERED`] in [`Done::machine`] say so. With
    /// `anew` at least one execution is made now. Elsewhere it is run once.
    ///
    /// # Errors
    /// As [`Target::run`].
    fn run_twice(&self, order: &Order, slot: usize, _anew: bool) -> Result<Done, Error> {
        self.run(order, slot)
    }
}

/// Why a target cannot do what is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// What was to be done: `boot the kernel debian:6.12`.
    pub what: String,
    /// Why it cannot be done.
    pub why: String,
    /// The command or change that mends it, if one is known.
    pub mend: Option<String>,
    /// Whether the request was wrong (exit status 2) rather than the work
    /// failed (3).
    pub wrong_use: bool,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.what, self.why)?;
        if let Some(mend) = &self.mend {
            write!(f, "; {mend}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
