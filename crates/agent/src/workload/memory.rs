//! Memory mappings, and areas within them.

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, RawFd};

use crate::sys;

/// The size of a huge page on x86.
const HUGE: usize = 2 << 20;
/// Size of the inaccessible page after a guarded mapping.
const GUARD: usize = 4096;

/// A mapping, unmapped on drop.
#[derive(Debug)]
pub(super) struct Mapping {
    start: *mut u8,
    length: usize,
    /// Size of the inaccessible area after the mapping.
    guard: usize,
}

/// An area within a mapping.
#[derive(Debug, Clone, Copy)]
pub(super) struct Area<'a> {
    start: *mut u8,
    length: usize,
    mapping: PhantomData<&'a Mapping>,
}

impl Mapping {
    /// Maps anonymous private memory.
    pub(super) fn anonymous(length: usize) -> io::Result<Mapping> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE;
        Mapping::new(length, flags, -1, 0)
    }

    /// Maps whole pages of anonymous private memory, followed by an inaccessible page.
    pub(super) fn guarded(length: usize) -> io::Result<Mapping> {
        let mut mapping = Mapping::anonymous(length + GUARD)?;
        mapping.length = length;
        mapping.guard = GUARD;
        let behind = mapping.start.wrapping_add(length);
        // SAFETY: the page belongs to the mapping, and is not part of its length.
        sys::check(unsafe { libc::mprotect(behind.cast(), GUARD, libc::PROT_NONE) })?;
        Ok(mapping)
    }

    /// Maps anonymous private memory in huge pages.
    pub(super) fn huge(length: usize) -> io::Result<Mapping> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE;
        let whole = length.next_multiple_of(HUGE);
        Mapping::new(whole, flags | libc::MAP_HUGETLB, -1, 0)
    }

    /// Maps a file in memory.
    pub(super) fn memfd(length: usize) -> io::Result<Mapping> {
        let file = sys::memory_file(c"frames", true)?;
        file.set_len(length as u64)?;
        Mapping::file(&file, length, 0)
    }

    /// Maps `length` bytes of a file or device, from `offset` on.
    pub(super) fn file(file: &File, length: usize, offset: u64) -> io::Result<Mapping> {
        let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
        Mapping::new(length, flags, file.as_raw_fd(), offset)
    }

    fn new(length: usize, flags: i32, file: RawFd, offset: u64) -> io::Result<Mapping> {
        let offset = i64::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        Ok(Mapping {
            start: sys::map_memory(length, protection, flags, file, offset)?,
            length,
            guard: 0,
        })
    }

    /// Its start, valid for reads and writes of [`Mapping::length`] bytes.
    pub(super) fn start(&self) -> *mut u8 {
        self.start
    }

    /// Its length in bytes.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// The area of `length` bytes at `offset`, if the mapping contains it.
    pub(super) fn area(&self, offset: usize, length: usize) -> Option<Area<'_>> {
        let end = offset.checked_add(length)?;
        (end <= self.length).then(|| Area {
            start: self.start.wrapping_add(offset),
            length,
            mapping: PhantomData,
        })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and areas do not outlive it.
        unsafe { libc::munmap(self.start.cast(), self.length + self.guard) };
    }
}

impl Area<'_> {
    /// Its start, valid for reads and writes of [`Area::length`] bytes.
    pub(super) fn start(self) -> *mut u8 {
        self.start
    }

    /// Its length in bytes.
    pub(super) fn length(self) -> usize {
        self.length
    }

    /// Copies as much of `bytes` as fits to the start of the area.
    pub(super) fn fill(self, bytes: &[u8]) {
        let length = bytes.len().min(self.length);
        // SAFETY: both have this many bytes, and a Rust slice is in no mapping.
        unsafe { super::instructions::mov(self.start, bytes.as_ptr(), length) };
    }

    /// Copies the start of the area to `bytes`.
    pub(super) fn read(self, bytes: &mut [u8]) {
        let length = bytes.len().min(self.length);
        // SAFETY: as above.
        unsafe { super::instructions::mov(bytes.as_mut_ptr(), self.start, length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_area_lies_in_its_mapping() {
        let mapping = Mapping::anonymous(4096).unwrap();
        assert!(mapping.area(0, 4096).is_some() && mapping.area(4096, 0).is_some());
        assert!(mapping.area(1, 4096).is_none() && mapping.area(usize::MAX, 2).is_none());
        let area = mapping.area(7, 5).unwrap();
        area.fill(b"frame and more");
        let mut found = [0; 7];
        mapping.area(6, 7).unwrap().read(&mut found);
        assert_eq!(&found, b"\0frame\0");
    }

    #[test]
    fn a_file_in_memory_holds_what_was_written() {
        let mapping = Mapping::memfd(100).unwrap();
        mapping.area(10, 3).unwrap().fill(b"abc");
        let mut found = [0; 3];
        mapping.area(10, 3).unwrap().read(&mut found);
        assert_eq!(&found, b"abc");
    }
}
