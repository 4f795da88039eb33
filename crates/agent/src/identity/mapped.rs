//! Finds the files that were mapped for execution: programs, and the libraries that they or their
//! loaders opened.
//!
//! The kernel writes each such mapping to a ring buffer of perf events, one per CPU,
//! which is read only after the run has ended. This adds some microseconds to the start
//! of a program, in every configuration alike. The events are per CPU, not per task, so
//! they add nothing to a context switch.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering, fence};

use perf_event_open_sys::bindings;

use crate::cpus;
use crate::perf::{self, why};
use crate::sys;

/// Data pages per buffer: room for about 2,000 mappings.
const PAGES: usize = 64;
/// `PERF_RECORD_LOST`, `_FORK` and `_MMAP2` of linux/perf_event.h.
const LOST: u32 = 2;
const FORK: u32 = 7;
const MMAP2: u32 = 10;
/// Offset of the file name in the body of an MMAP2 record.
const NAME: usize = 64;

/// Watches which files are mapped for execution.
#[derive(Debug)]
pub(crate) struct MappingWatch {
    buffers: Vec<MappingBuffer>,
    /// Only this process and its descendants count; with `None`, every process.
    root: Option<u32>,
}

/// The mappings that a watch has seen.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SeenMappings {
    /// Paths of the mapped files.
    pub(crate) paths: BTreeSet<String>,
    /// Mappings lost because a buffer was full.
    pub(crate) lost: u64,
}

impl MappingWatch {
    /// Starts watching. In a guest every process counts, elsewhere only descendants of
    /// the agent.
    pub(crate) fn open(guest: bool) -> Result<MappingWatch, String> {
        let root = (!guest).then(std::process::id);
        let open = |cpu: u32| MappingBuffer::open(cpu, root.is_some()).map_err(|error| why(&error));
        let buffers = cpus::online()?.into_iter().map(open);
        Ok(MappingWatch {
            buffers: buffers.collect::<Result<_, _>>()?,
            root,
        })
    }

    /// Returns what has been mapped so far.
    pub(crate) fn seen(&self) -> SeenMappings {
        let mut log = MappingLog::default();
        for buffer in &self.buffers {
            log.add(&buffer.bytes());
        }
        log.seen(self.root)
    }
}

/// The ring buffer of one CPU. When it is full, further records are dropped.
#[derive(Debug)]
struct MappingBuffer {
    _event: OwnedFd,
    start: *mut u8,
    page: usize,
}

impl MappingBuffer {
    fn open(cpu: u32, forks: bool) -> io::Result<MappingBuffer> {
        let mut attr = bindings::perf_event_attr {
            type_: bindings::PERF_TYPE_SOFTWARE,
            config: u64::from(bindings::PERF_COUNT_SW_DUMMY),
            ..Default::default()
        };
        attr.set_mmap(1);
        attr.set_mmap2(1);
        attr.set_task(u64::from(forks));
        attr.set_exclude_kernel(1);
        // Never wake a reader: none is waiting.
        attr.set_watermark(1);
        attr.__bindgen_anon_2.wakeup_watermark = u32::MAX;
        let cpu = i32::try_from(cpu).unwrap_or(i32::MAX);
        let event = perf::open_event(attr, -1, cpu)?;
        let page = rustix::param::page_size();
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let (length, file) = (page * (PAGES + 1), event.as_raw_fd());
        Ok(MappingBuffer {
            start: sys::map_memory(length, protection, libc::MAP_SHARED, file, 0)?,
            _event: event,
            page,
        })
    }

    /// Everything written so far. The reader's position never moves, so the
    /// data start at offset 0 and never wrap around.
    fn bytes(&self) -> Vec<u8> {
        let control = self.start.cast::<bindings::perf_event_mmap_page>();
        // SAFETY: the first page of the mapping is that structure, and the
        // kernel writes the word atomically.
        let head = unsafe { AtomicU64::from_ptr(&raw mut (*control).data_head) };
        let head = head.load(Ordering::Acquire);
        fence(Ordering::Acquire);
        let size = usize::try_from(head).unwrap_or(usize::MAX);
        let size = size.min(self.page * PAGES);
        // SAFETY: the data start at the second page and are that long; the
        // kernel does not overwrite what precedes the head.
        unsafe { std::slice::from_raw_parts(self.start.add(self.page), size) }.to_vec()
    }
}

impl Drop for MappingBuffer {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing refers to it any more.
        unsafe { libc::munmap(self.start.cast(), self.page * (PAGES + 1)) };
    }
}

/// The contents of all buffers.
#[derive(Debug, Default)]
struct MappingLog {
    /// Process id and path.
    mapped: Vec<(u32, String)>,
    /// Process id to parent's process id.
    parents: BTreeMap<u32, u32>,
    lost: u64,
}

impl MappingLog {
    /// Adds the records of one buffer, up to the first malformed one.
    fn add(&mut self, mut bytes: &[u8]) {
        while let Some((kind, body, rest)) = record(bytes) {
            bytes = rest;
            match kind {
                LOST => self.lost += word64(body, 8).unwrap_or(0),
                FORK => {
                    if let (Some(pid), Some(parent)) = (word32(body, 0), word32(body, 4))
                        && pid != parent
                    {
                        self.parents.insert(pid, parent);
                    }
                }
                MMAP2 => {
                    if let (Some(pid), Some(path)) = (word32(body, 0), path(body)) {
                        self.mapped.push((pid, path));
                    }
                }
                _ => {}
            }
        }
    }

    fn seen(self, root: Option<u32>) -> SeenMappings {
        let counts = |pid: u32| root.is_none_or(|root| self.comes_from(pid, root));
        let mapped = self.mapped.iter().filter(|(pid, _)| counts(*pid));
        SeenMappings {
            paths: mapped.map(|(_, path)| path.clone()).collect(),
            lost: self.lost,
        }
    }

    fn comes_from(&self, mut pid: u32, root: u32) -> bool {
        // Ids may be reused and form a cycle, so bound the walk.
        for _ in 0..=self.parents.len() {
            match self.parents.get(&pid) {
                _ if pid == root => return true,
                Some(parent) => pid = *parent,
                None => return false,
            }
        }
        false
    }
}

/// Type and body of the first record, and the bytes after it.
fn record(bytes: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let kind = word32(bytes, 0)?;
    let size = usize::from(u16::from_ne_bytes([*bytes.get(6)?, *bytes.get(7)?]));
    Some((kind, bytes.get(8..size)?, bytes.get(size..)?))
}

/// The mapped file, if it has a path that can be opened.
fn path(body: &[u8]) -> Option<String> {
    let name = body.get(NAME..)?.split(|byte| *byte == 0).next()?;
    let name = String::from_utf8_lossy(name).into_owned();
    let is_file = name.starts_with('/') && !name.starts_with("//") && !name.starts_with("/memfd:");
    is_file.then_some(name)
}

fn word32(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

fn word64(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_ne_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record_bytes(kind: u32, body: &[u8]) -> Vec<u8> {
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend([0, 0]);
        bytes.extend(u16::try_from(body.len() + 8).unwrap().to_ne_bytes());
        bytes.extend(body);
        bytes
    }

    fn mapping(pid: u32, path: &str) -> Vec<u8> {
        let mut body = pid.to_ne_bytes().to_vec();
        body.resize(NAME, 0);
        body.extend(path.as_bytes());
        body.resize(body.len().next_multiple_of(8) + 8, 0);
        record_bytes(MMAP2, &body)
    }

    fn fork(pid: u32, parent: u32) -> Vec<u8> {
        let words = [pid, parent, pid, parent, 0, 0];
        record_bytes(FORK, &words.map(u32::to_ne_bytes).concat())
    }

    #[test]
    fn only_files_of_descendants_count() {
        let mut log = MappingLog::default();
        log.add(
            &[
                fork(11, 10),
                mapping(12, "/usr/bin/late"),
                mapping(11, "//anon"),
            ]
            .concat(),
        );
        log.add(
            &[
                fork(12, 11),
                mapping(99, "/usr/bin/other"),
                mapping(11, "[vdso]"),
            ]
            .concat(),
        );
        let mut lost = vec![0; 8];
        lost.extend(3u64.to_ne_bytes());
        log.add(&record_bytes(LOST, &lost));
        let seen = log.seen(Some(10));
        assert_eq!(Vec::from_iter(&seen.paths), ["/usr/bin/late"]);
        assert_eq!(seen.lost, 3);
    }

    #[test]
    fn a_circle_of_numbers_ends() {
        let mut log = MappingLog::default();
        log.add(&[fork(11, 12), fork(12, 11), mapping(11, "/x")].concat());
        assert!(log.seen(Some(10)).paths.is_empty());
    }

    proptest! {
        #[test]
        fn nothing_can_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut log = MappingLog::default();
            log.add(&bytes);
            log.seen(Some(1));
        }
    }

    #[test]
    fn a_program_and_its_libraries_are_seen() {
        let watch = match MappingWatch::open(false) {
            Ok(watch) => watch,
            Err(why) => {
                eprintln!("skipped: {why}");
                return;
            }
        };
        let before = watch.seen();
        let done = std::process::Command::new("/bin/sh")
            .args(["-c", "true"])
            .status();
        assert!(done.unwrap().success());
        let seen = watch.seen();
        let shell = std::fs::canonicalize("/bin/sh").unwrap();
        let shell = shell.to_string_lossy().into_owned();
        assert!(!before.paths.contains(&shell), "nothing had been started");
        assert!(seen.paths.contains(&shell), "{seen:?}");
        assert!(
            seen.paths.iter().any(|path| path.contains("/libc.so")),
            "{seen:?}"
        );
    }
}
