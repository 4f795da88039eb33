//! Caches the answers of exact runs, that is, the bytes that the agent sent, by content.
//!
//! An exact run is a function of its inputs, so it need not be executed twice. An entry is
//! a file named by the [`CacheKey`] of all inputs:
//!
//! ```text
//! assize.cache/1\n | BLAKE3 of key and the rest, 32 bytes | zstd of the answer
//! ```

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use crate::exact::keep_error;
use crate::fault::failed;
use crate::stream::outcome;
use crate::{Error, RunOutcome};

/// Magic bytes at the start of every entry, also hashed into every key.
const MAGIC: &[u8] = b"assize.cache/1\n";
/// Bytes before the compressed answer.
const HEADER: usize = MAGIC.len() + blake3::OUT_LEN;
/// Default size limit of a cache in bytes.
const LIMIT: u64 = 2 << 30;
/// Files being written have this prefix.
const UNFINISHED: &str = ".new-";
/// Unfinished files older than this were left by a process that died.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Hash of all inputs of a run; names its entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CacheKey(blake3::Hash);

impl CacheKey {
    /// Hashes these parts in this order. Different parts give different keys, even if their
    /// concatenations are the same.
    ///
    /// For an exact run the parts are the digests of kernel and initramfs (which contains
    /// the agent), the command line, QEMU's version, the arguments that describe the
    /// machine (CPUs and memory among them), and the job (which contains the seed).
    pub fn hash(parts: &[&[u8]]) -> CacheKey {
        let mut hasher = blake3::Hasher::new();
        hasher.update(MAGIC);
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        CacheKey(hasher.finalize())
    }
}

impl std::fmt::Display for CacheKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.to_hex())
    }
}

/// The size of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheSize {
    /// Number of runs.
    pub entries: u64,
    /// The total size of their files in bytes.
    pub bytes: u64,
}

/// A directory of answers of exact runs, which several processes may share.
#[derive(Debug)]
pub struct Cache {
    root: PathBuf,
    limit: u64,
    /// Bytes that may still be written before the directory is scanned again; 0 at first.
    spare: AtomicU64,
}

struct CacheEntry {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

impl Cache {
    /// A cache in this directory, which need not exist yet, with a limit of 2 GiB.
    pub fn new(root: PathBuf) -> Cache {
        Cache {
            root,
            limit: LIMIT,
            spare: AtomicU64::new(0),
        }
    }

    /// Sets the limit to about this many bytes.
    #[must_use]
    pub fn with_limit(mut self, bytes: u64) -> Cache {
        self.limit = bytes;
        self.spare = AtomicU64::new(0);
        self
    }

    /// Returns the answer stored under this key, byte for byte. A damaged file counts as
    /// absent and is removed.
    pub fn get(&self, key: &CacheKey) -> Option<Vec<u8>> {
        let path = self.path(key);
        let bytes = fs::read(&path).ok()?;
        let answer = unpack(key, &bytes);
        if answer.is_none() {
            // If this fails, the next reader finds the file damaged again.
            let _ = fs::remove_file(&path);
        } else if let Ok(file) = File::open(&path) {
            // If this fails, only the order of eviction suffers.
            let _ = file.set_modified(SystemTime::now());
        }
        answer
    }

    /// Whether there is an entry under this key; [`Cache::get`] may still find it damaged.
    pub(crate) fn holds(&self, key: &CacheKey) -> bool {
        self.path(key).exists()
    }

    /// Removes the entry under this key, if there is one.
    pub(crate) fn remove(&self, key: &CacheKey) {
        // If this fails, the next answer replaces the file.
        let _ = fs::remove_file(self.path(key));
    }

    /// Stores the answer of a completed run, and evicts the least recently used entries if
    /// the cache exceeds its limit.
    ///
    /// # Errors
    /// The run has not completed, or the directory cannot be written.
    pub fn put(&self, key: &CacheKey, answer: &[u8]) -> Result<(), Error> {
        const WHAT: &str = "store a run in the cache";
        if !matches!(outcome(answer, "", None), RunOutcome::Completed(_)) {
            return Err(failed(WHAT, "it has not completed"));
        }
        let path = self.path(key);
        let written = self.write(&path, key, answer).map_err(|error| Error {
            what: WHAT.into(),
            ..keep_error(&path, &error)
        })?;
        let enough = self
            .spare
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |spare| {
                spare.checked_sub(written)
            });
        if enough.is_err() {
            self.trim();
        }
        Ok(())
    }

    /// Removes every entry.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn clear(&self) -> Result<(), Error> {
        for path in self.files() {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    let why = format!("{}: {error}", path.display());
                    return Err(failed("clear the cache", why));
                }
                _ => {}
            }
        }
        self.spare.store(0, Ordering::Relaxed);
        Ok(())
    }

    /// The number and the size of the entries.
    pub fn stats(&self) -> CacheSize {
        let entries = self.entries();
        CacheSize {
            entries: entries.len() as u64,
            bytes: entries.iter().map(|entry| entry.bytes).sum(),
        }
    }

    fn path(&self, key: &CacheKey) -> PathBuf {
        let name = key.to_string();
        self.root.join(&name[..2]).join(&name[2..])
    }

    fn write(&self, path: &Path, key: &CacheKey, answer: &[u8]) -> io::Result<u64> {
        let directory = path.parent().unwrap_or(&self.root);
        fs::create_dir_all(directory)?;
        let bytes = pack(key, answer)?;
        let mut file = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .tempfile_in(directory)?;
        file.write_all(&bytes)?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(bytes.len() as u64)
    }

    /// Evicts the least recently used entries down to nine tenths of the limit, so that not
    /// every [`Cache::put`] has to evict.
    fn trim(&self) {
        let now = SystemTime::now();
        for path in self.files().filter(|path| is_unfinished(path)) {
            let age = fs::metadata(&path)
                .and_then(|metadata| metadata.modified())
                .ok()
                .and_then(|modified| now.duration_since(modified).ok());
            if age.is_some_and(|age| age > ABANDONED) {
                let _ = fs::remove_file(&path);
            }
        }
        let mut entries = self.entries();
        entries.sort_by(|a, b| (a.used, &a.path).cmp(&(b.used, &b.path)));
        let mut total: u64 = entries.iter().map(|entry| entry.bytes).sum();
        let goal = self.limit - self.limit / 10;
        if total > self.limit {
            for entry in &entries {
                if total <= goal {
                    break;
                }
                // Another process may have removed it first.
                let _ = fs::remove_file(&entry.path);
                total = total.saturating_sub(entry.bytes);
            }
        }
        // Other processes may write too: scan again after a tenth of the limit.
        let spare = self.limit.saturating_sub(total).min(self.limit / 10);
        self.spare.store(spare, Ordering::Relaxed);
    }

    /// All files that belong to the cache, finished or not.
    fn files(&self) -> impl Iterator<Item = PathBuf> {
        list(&self.root)
            .filter(|directory| is_hex(directory, 2))
            .flat_map(|directory| list(&directory))
            .filter(|path| is_hex(path, 2 * blake3::OUT_LEN - 2) || is_unfinished(path))
    }

    fn entries(&self) -> Vec<CacheEntry> {
        self.files()
            .filter(|path| !is_unfinished(path))
            .filter_map(|path| {
                let metadata = fs::metadata(&path).ok()?;
                Some(CacheEntry {
                    bytes: metadata.len(),
                    used: metadata.modified().ok()?,
                    path,
                })
            })
            .collect()
    }
}

/// The entries of a directory; none if it cannot be read.
fn list(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
}

fn is_hex(path: &Path, length: usize) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| {
        name.len() == length
            && name
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with(UNFINISHED))
}

fn checksum(key: &CacheKey, compressed: &[u8]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(key.0.as_bytes());
    hasher.update(compressed);
    hasher.finalize()
}

fn pack(key: &CacheKey, answer: &[u8]) -> io::Result<Vec<u8>> {
    let compressed = zstd::encode_all(answer, zstd::DEFAULT_COMPRESSION_LEVEL)?;
    Ok([MAGIC, checksum(key, &compressed).as_bytes(), &compressed].concat())
}

/// Returns the answer in a file if the checksum matches.
fn unpack(key: &CacheKey, bytes: &[u8]) -> Option<Vec<u8>> {
    let compressed = bytes.get(HEADER..)?;
    let sum = bytes.strip_prefix(MAGIC)?.get(..blake3::OUT_LEN)?;
    if sum != checksum(key, compressed).as_bytes() {
        return None;
    }
    zstd::decode_all(compressed).ok()
}

#[cfg(test)]
mod tests;
