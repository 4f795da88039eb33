//! Archives of mailing lists: public-inbox v2 git repositories, in which each
//! commit's file `m` is one mail.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::Error;

/// How deep below the directory clones are looked for.
const DEPTH: usize = 4;

/// A clone of a list's archive.
pub(super) struct Archive {
    /// The list's name, such as `linux-block.vger.kernel.org`.
    pub(super) list: String,
    /// The list's name with the number of the epoch behind it.
    pub(super) name: String,
    path: PathBuf,
}

/// One commit of an archive.
pub(super) struct Commit {
    /// The whole hash.
    pub(super) hash: String,
    /// The year of the mail.
    pub(super) year: i64,
}

impl Archive {
    /// All clones below a directory, by name.
    pub(super) fn all(below: &Path) -> Result<Vec<Archive>, Error> {
        let mut found = Vec::new();
        collect(below, DEPTH, &mut found)?;
        if found.is_empty() {
            return Err(format!(
                "{}: holds no public-inbox clone; name a directory with clones such as LIST.0",
                below.display()
            ));
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// All commits, in the order of git.
    pub(super) fn commits(&self) -> Result<Vec<Commit>, Error> {
        let fault = |why: String| format!("{}: {why}", self.path.display());
        let output = Command::new("git")
            .arg("-C")
            .arg(&self.path)
            .args(["log", "--all", "--format=%H %at %ct"])
            .output()
            .map_err(|why| fault(format!("git log: {why}")))?;
        if !output.status.success() {
            return Err(fault(format!("git log: {}", output.status)));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.lines().filter_map(commit).collect())
    }

    /// Opens the archive for reading mails.
    pub(super) fn mails(&self) -> Result<Mails, Error> {
        Mails::open(&self.path)
    }
}

/// A line of the log. A mail's own clock may be wrong, so the earlier of its
/// date and that of the commit counts.
fn commit(line: &str) -> Option<Commit> {
    let mut words = line.split(' ');
    let hash = words.next()?.to_string();
    let written: i64 = words.next()?.parse().ok()?;
    let stored: i64 = words.next()?.parse().ok()?;
    Some(Commit {
        hash,
        year: year(written.min(stored)),
    })
}

/// The year of a time in seconds since 1970.
fn year(seconds: i64) -> i64 {
    // 400 years of the Gregorian calendar have 146,097 days.
    let days = seconds.div_euclid(86_400) + 719_468;
    let era = days.div_euclid(146_097);
    let day = days.rem_euclid(146_097);
    let of_era = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * of_era + of_era / 4 - of_era / 100);
    // Years are counted from March here.
    era * 400 + of_era + i64::from(of_year >= 306)
}

fn collect(path: &Path, depth: usize, found: &mut Vec<Archive>) -> Result<(), Error> {
    if path.join("HEAD").is_file() && path.join("objects").is_dir() {
        let name = name_of(path);
        found.push(Archive {
            list: list_of(&name).to_string(),
            name,
            path: path.to_path_buf(),
        });
        return Ok(());
    }
    if depth == 0 {
        return Ok(());
    }
    let fault = |why| format!("{}: {why}", path.display());
    for entry in fs::read_dir(path).map_err(fault)? {
        let entry = entry.map_err(fault)?;
        if entry.path().is_dir() {
            collect(&entry.path(), depth - 1, found)?;
        }
    }
    Ok(())
}

/// `LIST.EPOCH` from `…/LIST.EPOCH/repo`, `…/OWNER+LIST.EPOCH/…` or
/// `…/LIST/git/EPOCH.git`.
fn name_of(path: &Path) -> String {
    let mut epoch = None;
    let parts = path.components().rev();
    for part in parts.map(|part| part.as_os_str().to_string_lossy().into_owned()) {
        let bare = part.strip_suffix(".git").unwrap_or(&part);
        if matches!(bare, "repo" | "git" | "") {
            continue;
        }
        if bare.bytes().all(|b| b.is_ascii_digit()) {
            epoch = Some(bare.to_string());
            continue;
        }
        let list = bare.rsplit('+').next().unwrap_or(bare);
        return match epoch {
            Some(epoch) => format!("{list}.{epoch}"),
            None if list_of(list) == list => format!("{list}.0"),
            None => list.to_string(),
        };
    }
    String::new()
}

/// The list's name without the epoch.
fn list_of(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((list, epoch)) if epoch.bytes().all(|b| b.is_ascii_digit()) => list,
        _ => name,
    }
}

/// Reads mails of one archive, one after the other.
pub(super) struct Mails {
    git: Child,
    ask: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    path: PathBuf,
}

impl Mails {
    fn open(path: &Path) -> Result<Mails, Error> {
        let fault = |why: String| format!("{}: {why}", path.display());
        let mut git = Command::new("git")
            .arg("-C")
            .arg(path)
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|why| fault(format!("git cat-file: {why}")))?;
        let answers = git.stdout.take().ok_or("git cat-file: no output")?;
        Ok(Mails {
            ask: git.stdin.take(),
            answers: BufReader::new(answers),
            git,
            path: path.to_path_buf(),
        })
    }

    /// The mail of a commit; `None` if the commit holds none, as where one
    /// was deleted.
    pub(super) fn get(&mut self, commit: &str) -> Result<Option<Vec<u8>>, Error> {
        let path = self.path.display().to_string();
        let fault = |why: std::io::Error| format!("{path}: {commit}: {why}");
        let ask = self.ask.as_mut().ok_or("git cat-file: no input")?;
        writeln!(ask, "{commit}:m").map_err(fault)?;
        ask.flush().map_err(fault)?;
        let mut head = String::new();
        self.answers.read_line(&mut head).map_err(fault)?;
        let mut words = head.split_whitespace().skip(1);
        let (kind, size) = (words.next(), words.next());
        let (Some("blob"), Some(Ok(size))) = (kind, size.map(str::parse::<usize>)) else {
            return Ok(None);
        };
        let mut bytes = vec![0; size + 1];
        self.answers.read_exact(&mut bytes).map_err(fault)?;
        bytes.pop();
        Ok(Some(bytes))
    }
}

impl Drop for Mails {
    fn drop(&mut self) {
        // It ends when there is nothing more to ask.
        self.ask = None;
        let _ = self.git.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_is_named_by_its_list_and_epoch_wherever_it_lies() {
        for path in [
            "/a/linux-block.vger.kernel.org.0/repo",
            "/a/owner+linux-block.vger.kernel.org.0/repo",
            "/a/linux-block.vger.kernel.org/git/0.git",
            "/a/linux-block.vger.kernel.org.git",
        ] {
            assert_eq!(
                name_of(Path::new(path)),
                "linux-block.vger.kernel.org.0",
                "{path}"
            );
        }
        assert_eq!(
            list_of("linux-block.vger.kernel.org.12"),
            "linux-block.vger.kernel.org"
        );
    }

    #[test]
    fn years_begin_on_the_first_of_january() {
        assert_eq!(year(0), 1970);
        assert_eq!(year(-1), 1969);
        assert_eq!(year(951_782_400), 2000);
        assert_eq!(year(1_609_459_199), 2020);
        assert_eq!(year(1_609_459_200), 2021);
    }

    #[test]
    fn a_mail_whose_clock_is_ahead_is_of_the_year_in_which_it_came() {
        let line = "0123 4294967295 1600000000";
        assert_eq!(commit(line).map(|c| c.year), Some(2020));
    }

    #[test]
    fn mails_come_out_as_they_were_committed() {
        let place = tempfile::tempdir().unwrap();
        let clone = place.path().join("some.list.0");
        fs::create_dir(&clone).unwrap();
        let git = |arguments: &[&str]| {
            let mut git = Command::new("git");
            git.arg("-C").arg(&clone).args(arguments);
            for (name, value) in [
                ("GIT_AUTHOR_NAME", "a"),
                ("GIT_COMMITTER_NAME", "a"),
                ("GIT_AUTHOR_EMAIL", "a@example.org"),
                ("GIT_COMMITTER_EMAIL", "a@example.org"),
            ] {
                git.env(name, value);
            }
            assert!(git.status().unwrap().success());
        };
        git(&["init", "--quiet"]);
        fs::write(clone.join("m"), "Subject: x\n\none\n").unwrap();
        git(&["add", "m"]);
        git(&["commit", "--quiet", "-m", "x"]);
        fs::remove_file(clone.join("m")).unwrap();
        fs::write(clone.join("d"), "").unwrap();
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "-m", "x"]);
        // A bare clone, as public-inbox makes them.
        fs::rename(clone.join(".git"), place.path().join("0.git")).unwrap();
        fs::remove_dir_all(&clone).unwrap();
        fs::create_dir_all(place.path().join("some.list/git")).unwrap();
        fs::rename(
            place.path().join("0.git"),
            place.path().join("some.list/git/0.git"),
        )
        .unwrap();
        let archives = Archive::all(place.path()).unwrap();
        assert_eq!(archives[0].list, "some.list");
        let commits = archives[0].commits().unwrap();
        let mut mails = archives[0].mails().unwrap();
        let got: Vec<_> = commits
            .iter()
            .map(|commit| mails.get(&commit.hash).unwrap())
            .collect();
        assert_eq!(got, [None, Some(b"Subject: x\n\none\n".to_vec())]);
        assert_eq!(mails.get("nothing").unwrap(), None);
    }

    #[test]
    fn a_directory_without_clones_is_an_error_that_names_it() {
        let place = tempfile::tempdir().unwrap();
        let Err(why) = Archive::all(place.path()) else {
            panic!("nothing is there");
        };
        assert!(why.contains(&place.path().display().to_string()));
    }
}
