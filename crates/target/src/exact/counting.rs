//! Runs whose instructions a QEMU plugin counts.
//!
//! The guest does not notice: such a run gives the same answer as the run without the
//! plugin, byte for byte, and the caller compares them. The symbols come from the same run,
//! stopped right before it would begin to measure.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use assize_job::Order;

use super::boot::WatchPlugin;
use super::{Exact, exact, facts};
use crate::cache::CacheKey;
use crate::fault::{failed, io, mend, read, write};
use crate::kernels::Kernel;
use crate::prune::{prune, touch};
use crate::qemu::{Clock, joined};
use crate::scratch::{into_place, temporary_in};
use crate::vm::{PreparedBoot, job_text};
use crate::{Error, OrderResult, plugin, scratch, stream, testbed};

/// Limit in bytes for stored symbols; the oldest are removed first.
const SYMBOLS: u64 = 1 << 30;
/// Base name of the files that a machine hands over.
const GIVEN: &str = "given";
/// Extensions of the files that hold the kernel's symbols and its types.
const KALLSYMS: &str = "0";
const TYPES: &str = "1";
/// Extension of the file with the compiler's offsets, for a kernel without type
/// information.
const OFFSETS: &str = "2";

/// Symbols and types that the kernel of one run reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolTexts {
    /// `/proc/kallsyms`, modules included.
    pub kallsyms: Vec<u8>,
    /// The layout of `task_struct`.
    pub tasks: TaskTypes,
}

/// Where the fields of a `task_struct` are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskTypes {
    /// The kernel's BTF: `/sys/kernel/btf/vmlinux`.
    Btf(Vec<u8>),
    /// Byte offsets of [`TASK_FIELDS`] from the compiler, for a kernel without BTF.
    Offsets([u64; 3]),
}

/// The fields read from a `task_struct`.
pub const TASK_FIELDS: [&str; 3] = ["pid", "tgid", "comm"];

/// A run with every instruction counted.
#[derive(Debug, Clone, PartialEq)]
pub struct CountedExecution {
    /// The result, the same as without counting.
    pub done: OrderResult,
    /// The plugin's output: `assize.counts/2`.
    pub counts: String,
}

impl Exact {
    /// Returns the kernel's symbols in the run of this order, with modules loaded.
    ///
    /// # Errors
    /// The plugin cannot be built or used, or the machine ended before it would have
    /// measured.
    pub fn symbols(&self, order: &Order, slot: usize) -> Result<SymbolTexts, Error> {
        let ready = self.stock.ready(order)?;
        let job = job_text(&ready, order)?;
        let key = self.key(&ready, &order.machine, Some(&job));
        let key = CacheKey::hash(&[key.to_string().as_bytes(), b"symbols"]).to_string();
        let parent = self.stock.root().join("symbols");
        let place = parent.join(key);
        if place.is_dir() {
            touch(&place);
            return self.read_symbols(&ready.kernel, &place.join(GIVEN));
        }
        prune(&parent, SYMBOLS);
        let work = temporary_in(&parent)?;
        let path = work.path().join(GIVEN);
        let watch = WatchPlugin {
            plugin: self.plugin(&[("give=", &path)])?,
            gives_symbols: true,
        };
        let left = self.watched(&ready, order, &job, slot, &watch)?;
        if !path.with_extension(KALLSYMS).is_file() {
            let last = left.console.lines().last().unwrap_or("nothing");
            let why = left.ended.as_ref().map_or_else(
                || "the set-up failed, or the agent is from another version of assize".into(),
                |failure| format!("{failure}; it printed: {last}"),
            );
            return Err(mend(
                failed("get the symbols of a machine", why),
                "`assize run --fresh` shows whether the run works; `make build` makes the agent",
            ));
        }
        let texts = self.read_symbols(&ready.kernel, &path)?;
        into_place(work, &place)?;
        Ok(texts)
    }

    /// Reads the files that a machine has handed over. If they include no types, the kernel
    /// has no BTF, and the compiler gives the offsets instead.
    fn read_symbols(&self, kernel: &Kernel, path: &Path) -> Result<SymbolTexts, Error> {
        let types = path.with_extension(TYPES);
        let offsets = path.with_extension(OFFSETS);
        let kept = || {
            let text = fs::read_to_string(&offsets).ok()?;
            let all: Option<Vec<u64>> = text.lines().map(|line| line.parse().ok()).collect();
            all?.try_into().ok()
        };
        let tasks = if types.is_file() {
            TaskTypes::Btf(read(&types)?)
        } else if let Some(offsets) = kept() {
            TaskTypes::Offsets(offsets)
        } else {
            let task = ("linux/sched.h", "task_struct");
            let all = testbed::offsets(self.stock.root(), kernel, task, TASK_FIELDS)?;
            let text = all.map(|one| format!("{one}\n")).concat();
            write(&offsets, text)?;
            TaskTypes::Offsets(all)
        };
        Ok(SymbolTexts {
            kallsyms: read(&path.with_extension(KALLSYMS))?,
            tasks,
        })
    }

    /// Runs an order with counting, bypassing the cache. `map` is the plugin's input file.
    ///
    /// # Errors
    /// The plugin cannot be built or used.
    pub fn count(&self, order: &Order, slot: usize, map: &str) -> Result<CountedExecution, Error> {
        let begun = Instant::now();
        let ready = self.stock.ready(order)?;
        let job = job_text(&ready, order)?;
        let root = self.stock.root();
        let work = scratch::directory(root).map_err(|error| io("create", root, &error))?;
        let [list, out] = ["kernel", "counts"].map(|name| work.path().join(name));
        write(&list, map)?;
        let watch = WatchPlugin {
            plugin: self.plugin(&[("kernel=", &list), ("out=", &out)])?,
            gives_symbols: false,
        };
        let left = self.watched(&ready, order, &job, slot, &watch)?;
        let counts = fs::read_to_string(&out).map_err(|error| {
            let last = left.console.lines().last().unwrap_or("nothing");
            failed(
                "count the instructions of a run",
                format!("{error}; QEMU printed: {last}"),
            )
        })?;
        Ok(CountedExecution {
            done: OrderResult {
                outcome: exact(stream::outcome(&left.answer, &left.console, left.ended)),
                machine: facts(&self.qemu, &ready, order, Clock::Instructions),
                cached: false,
                elapsed: begun.elapsed(),
            },
            counts,
        })
    }

    /// The value of QEMU's `-plugin` with these options.
    fn plugin(&self, words: &[(&str, &PathBuf)]) -> Result<OsString, Error> {
        if self.qemu.number() < (10, 0) || !self.qemu.parallel {
            return Err(self.other_qemu("count instructions", ""));
        }
        let mut value = joined("", &plugin::ensure(self.stock.root())?);
        for (word, path) in words {
            value.push(joined(&format!(",{word}"), path));
        }
        Ok(value)
    }

    fn watched(
        &self,
        ready: &PreparedBoot,
        order: &Order,
        job: &[u8],
        slot: usize,
        watch: &WatchPlugin,
    ) -> Result<super::BootOutput, Error> {
        let image = self.image(ready, order, slot)?;
        let booted = super::BootSpec {
            watch: Some(watch),
            ..self.booted(ready, order, slot)
        };
        image.run(&booted, job)
    }
}
