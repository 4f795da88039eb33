//! Where mails come from: a file, a maildir, or the git repository of an archive.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;

use assize_audit::mail::{Sealed, sealed};

use crate::failure::Failure;

/// The mails of a source, in order.
pub(crate) type Mails = Box<dyn Iterator<Item = io::Result<Sealed>>>;

/// Longer mails are cut off here; nobody reads one of this size.
const LARGEST: u64 = 64 << 20;

/// What a path contains.
pub(crate) struct Archive {
    pub(crate) mails: Mails,
    /// Whether the format is that of an archive, even if it holds only one mail.
    pub(crate) several: bool,
}

/// Opens a file (`-` is standard input) or a directory of mails. `begun` is a reader at the start
/// of the file, if the caller has opened it already.
pub(crate) fn open(path: &Path, begun: Option<Box<dyn BufRead>>) -> Result<Archive, Failure> {
    let failed = |source| Failure::Read {
        path: path.to_path_buf(),
        source,
    };
    let reader = match begun {
        Some(reader) => Some(reader),
        None => file(path).map_err(failed)?,
    };
    if let Some(reader) = reader {
        return Ok(Archive {
            mails: Box::new(sealed(reader)),
            several: false,
        });
    }
    let several = |mails: Mails| Archive {
        mails,
        several: true,
    };
    if path.join("cur").is_dir() || path.join("new").is_dir() {
        let mails = maildir(path).map_err(failed)?;
        return Ok(several(Box::new(mails)));
    }
    let repositories = repositories(path);
    if repositories.is_empty() {
        return Err(Failure::Argument(format!(
            "{}: is a directory, but neither a maildir nor a git repository of mails; `assize \
             compare` judges bundles",
            path.display()
        )));
    }
    let mut readers = Vec::new();
    for repository in repositories {
        readers.push(MailRepository::open(&repository).map_err(failed)?);
    }
    let numbered = readers.into_iter().flatten().zip(1..);
    let mails = numbered.map(|(bytes, number)| bytes.map(|bytes| Sealed::mail(bytes, number)));
    Ok(several(Box::new(mails)))
}

/// Opens a file, or standard input for `-`. Returns `None` for a directory.
pub(crate) fn file(path: &Path) -> io::Result<Option<Box<dyn BufRead>>> {
    const BUFFER: usize = 1 << 18;
    if path.as_os_str() == "-" {
        return Ok(Some(Box::new(BufReader::with_capacity(
            BUFFER,
            io::stdin(),
        ))));
    }
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Ok(None);
    }
    Ok(Some(Box::new(BufReader::with_capacity(BUFFER, file))))
}

/// The mails of a maildir, sorted by name; names begin with the time of delivery.
fn maildir(path: &Path) -> io::Result<impl Iterator<Item = io::Result<Sealed>> + use<>> {
    let mut files: Vec<(std::ffi::OsString, PathBuf)> = Vec::new();
    for part in ["cur", "new"] {
        let entries = match fs::read_dir(path.join(part)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                files.push((entry.file_name(), entry.path()));
            }
        }
    }
    files.sort();
    Ok(files.into_iter().zip(1..).map(|((_, path), number)| {
        let mut bytes = Vec::new();
        File::open(path)?.take(LARGEST).read_to_end(&mut bytes)?;
        Ok(Sealed::mail(bytes, number))
    }))
}

/// The git repositories of an archive in the order of their epochs: the path itself, or
/// `git/0.git`, `git/1.git`, … below it.
fn repositories(path: &Path) -> Vec<PathBuf> {
    let is_one = |path: &Path| path.join("HEAD").is_file() && path.join("objects").is_dir();
    if is_one(path) || path.join(".git").exists() {
        return vec![path.to_path_buf()];
    }
    let epochs = (0..).map(|epoch| path.join(format!("git/{epoch}.git")));
    epochs.take_while(|path| is_one(path)).collect()
}

/// The mails of one git repository, oldest first. As with `public-inbox`, each commit holds one
/// mail as the file `m`.
struct MailRepository {
    child: Child,
    objects: BufReader<ChildStdout>,
}

impl MailRepository {
    fn open(path: &Path) -> io::Result<MailRepository> {
        let git = |arguments: &[&str]| {
            let mut command = Command::new("git");
            command.arg("-C").arg(path).args(arguments);
            command.stdin(Stdio::null()).stderr(Stdio::null());
            command
        };
        let list = git(&["rev-list", "--reverse", "HEAD"]).output()?;
        if !list.status.success() {
            let text = "git lists no commits in it";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        let mut child = git(&["cat-file", "--batch", "--buffer"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let taken = child.stdin.take().zip(child.stdout.take());
        let (mut names, objects) = taken.ok_or(io::ErrorKind::BrokenPipe)?;
        // git replies while requests are still being written, so another thread writes them.
        thread::spawn(move || {
            for commit in list.stdout.split(|b| *b == b'\n').filter(|c| !c.is_empty()) {
                let asked = names
                    .write_all(commit)
                    .and_then(|()| names.write_all(b":m\n"));
                if asked.is_err() {
                    break;
                }
            }
        });
        let objects = BufReader::with_capacity(1 << 18, objects);
        Ok(MailRepository { child, objects })
    }

    /// Reads the next mail; the inner `None` is a commit that deleted one.
    fn object(&mut self) -> io::Result<Option<Option<Vec<u8>>>> {
        let mut head = String::new();
        if self.objects.read_line(&mut head)? == 0 {
            return Ok(None);
        }
        let mut words = head.split_whitespace().skip(1);
        let (kind, size) = (words.next(), words.next());
        let Some(size) = size.and_then(|size| size.parse::<u64>().ok()) else {
            // `COMMIT:m missing`
            return Ok(Some(None));
        };
        let mut bytes = Vec::new();
        let mut object = self.objects.by_ref().take(size);
        object.by_ref().take(LARGEST).read_to_end(&mut bytes)?;
        io::copy(&mut object, &mut io::sink())?;
        self.objects.read_exact(&mut [0])?;
        Ok(Some(Some(bytes).filter(|_| kind == Some("blob"))))
    }
}

impl Iterator for MailRepository {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.object() {
                Ok(Some(Some(bytes))) => return Some(Ok(bytes)),
                Ok(Some(None)) => {}
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl Drop for MailRepository {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
