//! Checkpoints of a debugged run, from which it is repeated sooner than from its memory image.
//!
//! A checkpoint is the state of the devices, as QEMU saves it without the memory, and the pages of
//! memory that differ from the memory image. QEMU maps the image copy-on-write, so the host's
//! kernel knows which pages the guest has written. Both are read while the machine is stopped,
//! within a few hundredths of a second, and reading them does not affect the machine.
//!
//! Alternatives: a migration, on which QEMU's snapshots are based, flushes TLBs to track what the
//! guest writes, and saves the whole memory. A `fork` would keep the TLBs, but QEMU has threads,
//! files and sockets that do not survive one. A second machine that lags a little must repeat the
//! whole run after each step back.
//!
//! A machine resumed from a checkpoint executes the same instructions, but starts with empty TLBs.
//! The guest can notice that in one place: the accessed bits of page tables are set again. Callers
//! that go to a point therefore check that the machine reaches it.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use assize_job::Order;
use serde_json::json;

use super::debugging::DebuggedRun;
use super::{Exact, keep_error};
use crate::fault::failed;
use crate::scratch::{self, ScratchDirectory};
use crate::{Error, fault};

const WHAT: &str = "keep a checkpoint";
const PAGE: usize = 4096;
/// Bits of `/proc/PID/pagemap`: the page is in memory, in swap, or file-backed.
const PRESENT: u64 = 1 << 63;
const SWAPPED: u64 = 1 << 62;
const OF_A_FILE: u64 = 1 << 61;
/// The length of a saved state's header: magic number and version.
const HEADER: usize = 8;
/// The first bytes of a section with a whole device, and of the description at the end of a state.
const WHOLE_SECTION: u8 = 4;
const DESCRIPTION: [u8; 5] = [6, 0, 0, 0, 0];

/// The state of a debugged run at one moment, on disk.
#[derive(Debug)]
pub struct Checkpoint {
    files: ScratchDirectory,
    /// The output of the machine until then.
    output: [Vec<u8>; 2],
}

impl Exact {
    /// Saves the state of this run's machine, which must be stopped and can be continued
    /// afterwards.
    ///
    /// # Errors
    /// The machine is not stopped, or the files cannot be written.
    pub fn checkpoint(&self, run: &mut DebuggedRun) -> Result<Checkpoint, Error> {
        let root = self.stock.root();
        let files = scratch::directory(root).map_err(|error| keep_error(root, &error))?;
        let devices = files.path().join("devices");
        let save = json!({"filename": devices, "live": false});
        let saved = run.running.control();
        saved
            .and_then(|qmp| qmp.execute("xen-save-devices-state", save))
            .map_err(|error| failed(WHAT, error))?;
        let state = whole_state(&fault::read(&run.state)?, &fault::read(&devices)?);
        let state = state.ok_or_else(|| failed(WHAT, "QEMU saved it in an unknown form"))?;
        fault::write(&files.path().join("state"), state)?;
        let memory = GuestMemory::find(run.running.id(), &run.state.with_file_name("ram"))
            .map_err(|error| failed(WHAT, format!("/proc/{}: {error}", run.running.id())))?;
        let pages = files.path().join("pages");
        memory
            .save_written(&pages)
            .map_err(|error| keep_error(&pages, &error))?;
        let own = run.running.output();
        let own = own.map_err(|error| keep_error(files.path(), &error))?;
        Ok(Checkpoint {
            files,
            output: joined(&run.before, own),
        })
    }

    /// Starts another machine of this order in the state of the checkpoint, and leaves it stopped.
    ///
    /// # Errors
    /// QEMU does not start.
    pub fn debug_from(
        &self,
        order: &Order,
        slot: usize,
        checkpoint: &Checkpoint,
    ) -> Result<DebuggedRun, Error> {
        let uri = format!("file:{}", checkpoint.files.path().join("state").display());
        let mut run = self.debugged(order, slot, Some(&uri))?;
        let id = run.running.id();
        GuestMemory::find(id, &run.state.with_file_name("ram"))
            .and_then(|memory| memory.load_written(&checkpoint.files.path().join("pages")))
            .map_err(|error| {
                failed("continue from a checkpoint", format!("/proc/{id}: {error}"))
            })?;
        run.before.clone_from(&checkpoint.output);
        Ok(run)
    }
}

/// Concatenates two outputs.
pub(super) fn joined(before: &[Vec<u8>; 2], after: [Vec<u8>; 2]) -> [Vec<u8>; 2] {
    let mut all = before.clone();
    for (all, after) in all.iter_mut().zip(after) {
        all.extend(after);
    }
    all
}

/// The device state of a memory image with the devices replaced by `devices`. They follow the
/// sections of the machine's name and of its read-only memory.
fn whole_state(image: &[u8], devices: &[u8]) -> Option<Vec<u8>> {
    // A section: its kind, number, name with its length, instance and version.
    let name = usize::from(*devices.get(HEADER + 5)?);
    let first = devices.get(HEADER..HEADER + 6 + name + 8)?;
    if first.first() != Some(&WHOLE_SECTION) || image.get(..HEADER) != devices.get(..HEADER) {
        return None;
    }
    let mut places = image.windows(first.len()).enumerate();
    let (at, _) = places.find(|(_, some)| *some == first)?;
    let mut state = image.get(..at)?.to_vec();
    state.extend(devices.get(HEADER..)?);
    state.extend(DESCRIPTION);
    Some(state)
}

/// The memory of a stopped guest, in the process of its QEMU.
struct GuestMemory {
    process: PathBuf,
    /// Begin and end of each mapping, and the number of its first page in the file.
    mappings: Vec<(u64, u64, u64)>,
}

impl GuestMemory {
    /// Finds where a process has mapped this file.
    fn find(id: u32, file: &Path) -> io::Result<GuestMemory> {
        let process = PathBuf::from(format!("/proc/{id}"));
        let maps = fs::read_to_string(process.join("maps"))?;
        // The kernel shows the path without symbolic links.
        let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        let file = file.display().to_string();
        let found = maps.lines().filter_map(|line| mapping(line, &file));
        let mappings: Vec<_> = found.collect();
        if mappings.is_empty() {
            return Err(io::Error::other("its memory is not found"));
        }
        Ok(GuestMemory { process, mappings })
    }

    /// Writes the pages that the process has written to a file, each preceded by its number.
    fn save_written(&self, to: &Path) -> io::Result<()> {
        let map = File::open(self.process.join("pagemap"))?;
        let memory = File::open(self.process.join("mem"))?;
        let mut out = BufWriter::with_capacity(1 << 20, File::create(to)?);
        let mut bytes = [0; PAGE];
        for (begin, end, first) in &self.mappings {
            let pages = (end - begin) / PAGE as u64;
            let mut entries = vec![0; usize::try_from(pages).unwrap_or(0) * 8];
            map.read_exact_at(&mut entries, begin / PAGE as u64 * 8)?;
            for (page, entry) in (0..).zip(entries.as_chunks::<8>().0) {
                if is_written(u64::from_ne_bytes(*entry)) {
                    memory.read_exact_at(&mut bytes, begin + page * PAGE as u64)?;
                    out.write_all(&(first + page).to_le_bytes())?;
                    out.write_all(&bytes)?;
                }
            }
        }
        out.flush()
    }

    /// Writes the pages in a file of [`GuestMemory::save_written`] into the memory.
    fn load_written(&self, from: &Path) -> io::Result<()> {
        let memory = File::options().write(true).open(self.process.join("mem"))?;
        let count = fs::metadata(from)?.len() / (8 + PAGE as u64);
        let mut file = BufReader::with_capacity(1 << 20, File::open(from)?);
        let (mut number, mut bytes) = ([0; 8], [0; PAGE]);
        for _ in 0..count {
            file.read_exact(&mut number)?;
            file.read_exact(&mut bytes)?;
            let page = u64::from_le_bytes(number);
            let place = self.mappings.iter().find_map(|(begin, end, first)| {
                let at = begin + page.checked_sub(*first)? * PAGE as u64;
                (at < *end).then_some(at)
            });
            let place = place.ok_or_else(|| io::Error::other("its memory is smaller"))?;
            memory.write_all_at(&bytes, place)?;
        }
        Ok(())
    }
}

/// Whether an entry of `pagemap` is that of a private page: a file-backed page was not written.
fn is_written(entry: u64) -> bool {
    entry & SWAPPED != 0 || entry & (PRESENT | OF_A_FILE) == PRESENT
}

/// Begin, end and first page of a mapping of this file, from a line of `/proc/PID/maps`:
/// `7f0000000000-7f0010000000 rw-p 00000000 fe:01 123   /path`.
fn mapping(line: &str, file: &str) -> Option<(u64, u64, u64)> {
    let before = line.strip_suffix(" (deleted)").unwrap_or(line);
    let mut words = before.strip_suffix(file)?.split_ascii_whitespace();
    let (begin, end) = words.next()?.split_once('-')?;
    let offset = words.nth(1)?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    Some((number(begin)?, number(end)?, number(offset)? / PAGE as u64))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail.
    use super::*;

    #[test]
    fn a_mapping_is_that_of_the_file() {
        let line = "7f0000000000-7f0010000000 rw-p 00002000 fe:01 123    /a b/ram";
        let want = Some((0x7f00_0000_0000, 0x7f00_1000_0000, 2));
        assert_eq!(mapping(line, "/a b/ram"), want);
        assert_eq!(mapping(&format!("{line} (deleted)"), "/a b/ram"), want);
        assert_eq!(mapping(line, "/a b/state"), None);
        assert_eq!(mapping("7f00-7f10 rw-p 00000000 00:00 0", "/ram"), None);
    }

    #[test]
    fn devices_of_another_moment_replace_those_of_an_image() {
        let section = |name: &str, value: u8| {
            let mut bytes = vec![4, 0, 0, 0, 9, u8::try_from(name.len()).unwrap()];
            bytes.extend(name.as_bytes());
            bytes.extend([0, 0, 0, 0, 0, 0, 0, 2, value]);
            bytes
        };
        let header = b"QEVM\0\0\0\x03";
        let image = [&header[..], b"name and rom", &section("timer", 1), b"\0"].concat();
        let devices = [&header[..], &section("timer", 7), b"\0"].concat();
        let want = [
            &header[..],
            b"name and rom",
            &section("timer", 7),
            b"\0\x06\0\0\0\0",
        ];
        assert_eq!(whole_state(&image, &devices).unwrap(), want.concat());
        let other = [&header[..], &section("cpu", 7), b"\0"].concat();
        assert_eq!(whole_state(&image, &other), None);
        assert_eq!(whole_state(&image, header), None);
    }

    #[test]
    fn only_private_pages_are_written() {
        for (entry, written) in [
            (0, false),
            (PRESENT, true),
            (PRESENT | OF_A_FILE, false),
            (SWAPPED, true),
        ] {
            assert_eq!(is_written(entry), written, "{entry:x}");
        }
    }
}
