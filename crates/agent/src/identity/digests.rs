//! Digests of files.
//!
//! In a virtual machine all files are digested once, before the memory image is taken, so
//! that a run only checks whether a file has changed since.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Metadata that changes whenever a file changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    inode: (u64, u64),
    size: u64,
    changed: (i64, i64),
}

/// Digests computed so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Digests {
    known: BTreeMap<String, (FileStamp, String)>,
}

impl Digests {
    /// Digests every file below a directory, without entering other file
    /// systems. Unreadable files are skipped.
    pub(crate) fn below(directory: &str) -> Digests {
        let mut digests = Digests::default();
        let device = fs::metadata(directory).map(|data| data.dev());
        let mut open = vec![directory.trim_end_matches('/').to_string()];
        while let (Some(path), Ok(device)) = (open.pop(), &device) {
            for entry in fs::read_dir(format!("{path}/"))
                .into_iter()
                .flatten()
                .flatten()
            {
                let Ok(data) = entry.metadata() else { continue };
                let Ok(name) = entry.file_name().into_string() else {
                    continue;
                };
                let path = format!("{path}/{name}");
                if data.is_dir() && data.dev() == *device {
                    open.push(path);
                } else if data.is_file() {
                    // If it cannot be read now, it is read when its digest is
                    // needed.
                    let _ = digests.digest(&path);
                }
            }
        }
        digests
    }

    /// The blake3 digest of a file, in hexadecimal digits.
    pub(crate) fn digest(&mut self, path: &str) -> io::Result<String> {
        let stamp = stamp(Path::new(path))?;
        if let Some((known, digest)) = self.known.get(path)
            && *known == stamp
        {
            return Ok(digest.clone());
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(fs::File::open(path)?)?;
        let digest = hasher.finalize().to_hex().to_string();
        self.known.insert(path.into(), (stamp, digest.clone()));
        Ok(digest)
    }
}

fn stamp(path: &Path) -> io::Result<FileStamp> {
    let data = fs::metadata(path)?;
    if !data.is_file() {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    Ok(FileStamp {
        inode: (data.dev(), data.ino()),
        size: data.size(),
        changed: (data.ctime(), data.ctime_nsec()),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_written_since_is_digested_again() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().to_string_lossy().into_owned();
        fs::create_dir(place.path().join("a")).unwrap();
        let path = format!("{root}/a/b");
        fs::write(&path, "one").unwrap();
        let mut digests = Digests::below(&root);
        assert_eq!(digests.known.len(), 1);
        let one = blake3::hash(b"one").to_hex().to_string();
        assert_eq!(digests.digest(&path).unwrap(), one);
        fs::write(&path, "two").unwrap();
        let two = blake3::hash(b"two").to_hex().to_string();
        assert_eq!(digests.digest(&path).unwrap(), two);
        assert!(digests.digest(&root).is_err(), "a directory has none");
    }
}
