//! Runs whose instructions are counted by a plugin of QEMU.
//!
//! The machine does not notice: the answer of such a run is that of the same
//! run without the plugin, byte for byte, which the caller compares. What is
//! at which address is asked of the same run up to the moment in which it
//! would begin to measure.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use assize_job::Order;

use super::boot::Watch;
use super::{Exact, exact, facts};
use crate::cache::Key;
use crate::fault::{failed, io, mend, read, wrong};
use crate::kernels::{Kernel, into_place, temporary_in};
use crate::prune::{prune, touch};
use crate::qemu::{Clock, joined};
use crate::vm::{Ready, job_text};
use crate::{Done, Error, plugin, scratch, stream, testbed};

/// Bytes that symbols may take on disk before old ones go.
const SYMBOLS: u64 = 1 << 30;
/// What the files begin with that a machine gives away.
const GIVEN: &str = "given";
/// What the files of its symbols and types end with.
const KALLSYMS: &str = "0";
const TYPES: &str = "1";
/// What the file ends with that keeps what the compiler said instead of types.
const OFFSETS: &str = "2";

/// What a kernel says of itself in one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolTexts {
    /// Its `/proc/kallsyms`, with modules.
    pub kallsyms: Vec<u8>,
    /// How its tasks lie in memory.
    pub tasks: TaskTypes,
}

/// Where the fields of a task lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskTypes {
    /// As all its types say: `/sys/kernel/btf/vmlinux`.
    Btf(Vec<u8>),
    /// Of a kernel without them, as its compiler says: offsets in bytes of
    /// [`TASK_FIELDS`].
    Offsets([u64; 3]),
}

/// What is read of a task.
pub const TASK_FIELDS: [&str; 3] = ["pid", "tgid", "comm"];

/// A run of which each instruction was counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    /// What came of it, as without counting.
    pub done: Done,
    /// What the plugin wrote: `assize.counts/1`.
    pub counts: String,
}

impl Exact {
    /// What is at which address in the run of this order.
    ///
    /// # Errors
    /// The plugin cannot be built or used, or the machine did not get as far
    /// as to measure.
    pub fn symbols(&self, order: &Order, slot: usize) -> Result<SymbolTexts, Error> {
        let ready = self.stock.ready(order)?;
        let job = job_text(&ready, order)?;
        let key = self.key(&ready, &order.machine, Some(&job));
        let key = Key::of(&[key.to_string().as_bytes(), b"symbols"]).to_string();
        let parent = self.stock.root().join("symbols");
        let place = parent.join(key);
        if place.is_dir() {
            touch(&place);
            return self.given(&ready.kernel, &place.join(GIVEN));
        }
        prune(&parent, SYMBOLS);
        let work = temporary_in(&parent)?;
        let path = work.path().join(GIVEN);
        let watch = Watch {
            plugin: self.plugin(&[("give=", &path)])?,
            gives_symbols: true,
        };
        let left = self.watched(&ready, order, &job, slot, &watch)?;
        if !path.with_extension(KALLSYMS).is_file() {
            let last = left.console.lines().last().unwrap_or("nothing");
            let why = left.ended.as_ref().map_or_else(
                || "the set-up failed, or the agent is of another assize".into(),
                |failure| format!("{failure}; it printed: {last}"),
            );
            return Err(mend(
                failed("ask a machine for its symbols", why),
                "`assize run --fresh` shows whether the run works; `make build` makes the agent",
            ));
        }
        let texts = self.given(&ready.kernel, &path)?;
        into_place(work, &place)?;
        Ok(texts)
    }

    /// What a machine has given away. Of types only a kernel without them has
    /// given none.
    fn given(&self, kernel: &Kernel, path: &Path) -> Result<SymbolTexts, Error> {
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
            fs::write(&offsets, text).map_err(|error| io("write", &offsets, &error))?;
            TaskTypes::Offsets(all)
        };
        Ok(SymbolTexts {
            kallsyms: read(&path.with_extension(KALLSYMS))?,
            tasks,
        })
    }

    /// Carries out an order, without the cache, and counts. `map` is what the
    /// plugin is to know, line by line.
    ///
    /// # Errors
    /// The plugin cannot be built or used.
    pub fn count(&self, order: &Order, slot: usize, map: &str) -> Result<Counted, Error> {
        let begun = Instant::now();
        let ready = self.stock.ready(order)?;
        let job = job_text(&ready, order)?;
        let root = self.stock.root();
        let work = scratch::directory(root).map_err(|error| io("create", root, &error))?;
        let [list, out] = ["kernel", "counts"].map(|name| work.path().join(name));
        fs::write(&list, map).map_err(|error| io("write", &list, &error))?;
        let watch = Watch {
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
        Ok(Counted {
            done: Done {
                outcome: exact(stream::outcome(&left.answer, &left.console, left.ended)),
                machine: facts(&self.qemu, &ready, order, Clock::Instructions),
                cached: false,
                wall: begun.elapsed(),
            },
            counts,
        })
    }

    /// The value of `-plugin` with these words.
    fn plugin(&self, words: &[(&str, &PathBuf)]) -> Result<OsString, Error> {
        if self.qemu.number() < (10, 0) || !self.qemu.parallel {
            let why = format!(
                "QEMU {} is not the one that assize builds",
                self.qemu.version
            );
            let step = "unset ASSIZE_QEMU, then run `assize kernel fetch --qemu`";
            return Err(mend(wrong("count instructions", why), step));
        }
        let mut value = joined("", &plugin::ensure(self.stock.root())?);
        for (word, path) in words {
            value.push(joined(&format!(",{word}"), path));
        }
        Ok(value)
    }

    fn watched(
        &self,
        ready: &Ready,
        order: &Order,
        job: &[u8],
        slot: usize,
        watch: &Watch,
    ) -> Result<super::Left, Error> {
        let image = self.image(ready, order, slot)?;
        let booted = super::Booted {
            watch: Some(watch),
            ..self.booted(ready, order, slot)
        };
        image.run(&booted, job)
    }
}
