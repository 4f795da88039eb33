//! Git repositories.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::commit::{Commit, CommitAuthor};
use crate::error::Error;
use crate::mail::PostedPatch;
use crate::program::output_of;

/// A repository.
#[derive(Debug, Clone)]
pub struct GitRepository {
    directory: PathBuf,
    /// Whether assize created it; the user's git configuration is ignored there.
    private: bool,
}

/// The committer in repositories that assize creates.
const SELF: &str = "assize";
const NOWHERE: &str = "assize@localhost";
/// The date of commits that have none.
const NEVER: &str = "1970-01-01T00:00:00Z";

impl GitRepository {
    /// Opens the repository that contains a directory.
    ///
    /// # Errors
    /// If git is not installed, or there is no repository.
    pub fn open(directory: &Path) -> Result<Self, Error> {
        let here = GitRepository {
            directory: directory.to_path_buf(),
            private: false,
        };
        let top = here.run_git(&["rev-parse", "--show-toplevel"])?;
        Ok(GitRepository {
            directory: PathBuf::from(top.trim_end_matches('\n')),
            private: false,
        })
    }

    /// Creates a repository in an empty directory, with one commit of these files (path
    /// to text). The same files give the same commit.
    ///
    /// # Errors
    /// If git is not installed, or a file cannot be written.
    pub fn create(
        directory: &Path,
        files: &BTreeMap<String, String>,
        subject: &str,
    ) -> Result<Self, Error> {
        let new = GitRepository {
            directory: directory.to_path_buf(),
            private: true,
        };
        let failed = |path: &Path, error: std::io::Error| Error::Git {
            what: "init".into(),
            said: format!("{}: {error}", path.display()),
        };
        for (path, text) in files {
            let to = directory.join(path);
            let parent = to.parent().unwrap_or(directory);
            fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
            fs::write(&to, text).map_err(|error| failed(&to, error))?;
        }
        new.begin(&[], subject)?;
        Ok(new)
    }

    /// Creates the first commit from all files in the tree, added with these git options.
    fn begin(&self, options: &[&str], subject: &str) -> Result<(), Error> {
        self.run_git(&["init", "--quiet", "."])?;
        self.run_git(&[options, &["add", "--all", "--force", "."]].concat())?;
        self.commit(subject)
    }

    /// Turns a directory into a repository with one commit of all its files, and removes
    /// the files, so that only packed objects remain. The same files give the same
    /// commit.
    ///
    /// # Errors
    /// If git is not installed, or a file cannot be written or removed.
    pub fn pack(directory: &Path, subject: &str) -> Result<Self, Error> {
        let new = GitRepository {
            directory: directory.to_path_buf(),
            private: true,
        };
        let failed = |error: std::io::Error| Error::Git {
            what: "add".into(),
            said: format!("{}: {error}", directory.display()),
        };
        // git writes files above the threshold directly to one pack.
        new.begin(&["-c", "core.bigFileThreshold=1"], subject)?;
        for entry in fs::read_dir(directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let is_directory = entry.file_type().map_err(failed)?.is_dir();
            match is_directory {
                true if entry.file_name() == ".git" => Ok(()),
                true => fs::remove_dir_all(entry.path()),
                false => fs::remove_file(entry.path()),
            }
            .map_err(failed)?;
        }
        Ok(new)
    }

    /// Creates a repository in an empty directory, at a commit of this one. It shares all
    /// objects of this repository, but only the given files are checked out. This
    /// repository is not changed.
    ///
    /// # Errors
    /// If the commit does not exist, or a file cannot be written.
    pub fn beside(
        &self,
        directory: &Path,
        commit: &str,
        files: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Self, Error> {
        let new = GitRepository {
            directory: directory.to_path_buf(),
            private: true,
        };
        let commit = self.resolve(commit).ok_or_else(|| Error::Range {
            range: commit.into(),
            why: format!("there is no such commit in {}", self.directory.display()),
            mend: "name one".into(),
        })?;
        new.run_git(&["init", "--quiet", "."])?;
        let said = self.run_git(&[
            "rev-parse",
            "--git-path",
            "objects",
            "--git-path",
            "shallow",
        ])?;
        let mut places = said.lines().map(|line| self.directory.join(line));
        let (objects, shallow) = (places.next(), places.next());
        let git = directory.join(".git");
        let failed = |error: std::io::Error| Error::Git {
            what: "init".into(),
            said: format!("{}: {error}", git.display()),
        };
        let mut borrowed = objects.unwrap_or_default().into_os_string();
        borrowed.push("\n");
        let info = git.join("objects/info");
        fs::create_dir_all(&info).map_err(failed)?;
        fs::write(info.join("alternates"), borrowed.as_encoded_bytes()).map_err(failed)?;
        // Marks where a shallow history ends.
        if let Some(shallow) = shallow.filter(|path| path.is_file()) {
            fs::copy(shallow, git.join("shallow")).map_err(failed)?;
        }
        let patterns = files.into_iter().map(|path| pattern(path.as_ref()));
        fs::create_dir_all(git.join("info")).map_err(failed)?;
        let patterns: String = patterns.collect();
        fs::write(git.join("info/sparse-checkout"), patterns).map_err(failed)?;
        new.run_git(&["config", "core.sparseCheckout", "true"])?;
        new.run_git(&["checkout", "--quiet", "--detach", &commit])?;
        Ok(new)
    }

    /// The top of the working tree.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The full ID of a commit, if it exists.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<String> {
        if name.starts_with('-') {
            return None;
        }
        let name = format!("{name}^{{commit}}");
        let said = self
            .run_git(&["rev-parse", "--verify", "--quiet", &name])
            .ok()?;
        Some(said.trim().to_owned())
    }

    /// Returns the commit before a range, and the commits of the range, oldest first.
    /// `A..B` means the commits of B that A lacks, `REV` that single commit. Only first
    /// parents are followed.
    ///
    /// # Errors
    /// If a commit does not exist, the range is empty, or its first commit has no parent.
    pub fn range(&self, range: &str) -> Result<(Commit, Vec<Commit>), Error> {
        let refuse = |why: &str, mend: &str| Error::Range {
            range: range.into(),
            why: why.into(),
            mend: mend.into(),
        };
        let known = |name: &str| {
            let name = if name.is_empty() { "HEAD" } else { name };
            self.resolve(name).ok_or_else(|| {
                let why = format!("there is no commit {name} in {}", self.directory.display());
                refuse(&why, "name a commit, or OLD..NEW")
            })
        };
        if range.contains("...") {
            return Err(refuse(
                "a symmetric difference is not a series",
                "write OLD..NEW",
            ));
        }
        let ids = match range.split_once("..") {
            None => vec![known(range)?],
            Some((old, new)) => {
                let span = format!("{}..{}", known(old)?, known(new)?);
                let said = self.run_git(&["rev-list", "--reverse", "--first-parent", &span])?;
                said.lines().map(String::from).collect()
            }
        };
        let Some(first) = ids.first() else {
            return Err(refuse("no commit in it", "write the older commit first"));
        };
        let base = self.resolve(&format!("{first}^")).ok_or_else(|| {
            let why = format!("{first} has no parent here");
            refuse(&why, "fetch more of the history")
        })?;
        let commits = ids.iter().map(|id| self.describe(id));
        Ok((self.describe(&base)?, commits.collect::<Result<_, _>>()?))
    }

    /// Returns the commit with this name.
    ///
    /// # Errors
    /// If there is no such commit.
    pub fn describe(&self, id: &str) -> Result<Commit, Error> {
        let said = self.run_git(&[
            "log",
            "-1",
            "--format=%H%x00%s%x00%an <%ae>%x00%as",
            id,
            "--",
        ])?;
        let mut fields = said.trim_end_matches('\n').split('\0');
        let mut next = || fields.next().unwrap_or_default().to_owned();
        let (id, subject, author, date) = (next(), next(), next(), next());
        let is_ours = author == format!("{SELF} <{NOWHERE}>");
        // For a merge, the diff against the first parent; diff-tree on the merge itself
        // would also list files that differ from other parents.
        let paths = match self.resolve(&format!("{id}^")) {
            Some(parent) => self.differing(&parent, &id)?,
            None => self.in_root(&id)?,
        };
        Ok(Commit {
            id,
            subject,
            written: (!(self.private && is_ours)).then_some(CommitAuthor { author, date }),
            paths,
        })
    }

    /// The files of a root commit.
    fn in_root(&self, id: &str) -> Result<Vec<String>, Error> {
        let said = self.run_git(&["ls-tree", "-r", "-z", "--full-tree", "--name-only", id])?;
        Ok(paths(&said))
    }

    /// The commit date, in seconds since 1970.
    ///
    /// # Errors
    /// If there is no such commit.
    pub fn committed(&self, id: &str) -> Result<i64, Error> {
        let said = self.run_git(&["log", "-1", "--format=%ct", id, "--"])?;
        said.trim().parse().map_err(|_| Error::Git {
            what: "log".into(),
            said: format!("{id} has no time: {said}"),
        })
    }

    /// Whether `one` is an ancestor of `other`, or the same commit.
    #[must_use]
    pub fn is_ancestor(&self, one: &str, other: &str) -> bool {
        self.run_git(&["merge-base", "--is-ancestor", one, other])
            .is_ok()
    }

    /// The files that differ between two commits, as paths from the top of the tree.
    ///
    /// # Errors
    /// If a commit does not exist.
    pub fn differing(&self, one: &str, other: &str) -> Result<Vec<String>, Error> {
        let said = self.run_git(&[
            "diff",
            "--name-only",
            "--no-renames",
            "-z",
            one,
            other,
            "--",
        ])?;
        Ok(paths(&said))
    }

    /// Makes a directory hold exactly the files of a commit. The repository's own tree
    /// and index are not changed. `index` is an index file outside the directory; with
    /// it, only files that differ from the commit checked out before are written.
    ///
    /// # Errors
    /// If the commit does not exist, or a file cannot be written.
    pub fn check_out(&self, commit: &str, directory: &Path, index: &Path) -> Result<(), Error> {
        let mut command = self.command(&[
            "-c",
            "core.sparseCheckout=false",
            "-c",
            "core.autocrlf=false",
            "read-tree",
            "--reset",
            "-u",
            commit,
        ]);
        command
            .env("GIT_WORK_TREE", directory)
            .env("GIT_INDEX_FILE", index);
        output_of("read-tree", command).map(drop)
    }

    /// The contents of a commit's files at or below these paths, by path.
    ///
    /// # Errors
    /// If the commit does not exist, or a file is not UTF-8 text.
    pub fn files(
        &self,
        commit: &str,
        paths: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<BTreeMap<String, String>, Error> {
        let words = [
            "ls-tree",
            "-r",
            "-z",
            "--full-tree",
            "--name-only",
            commit,
            "--",
        ];
        let mut arguments = words.map(String::from).to_vec();
        arguments.extend(paths.into_iter().map(|path| path.as_ref().to_owned()));
        let names = self.run_git(&arguments)?;
        let mut files = BTreeMap::new();
        for name in names.split('\0').filter(|name| !name.is_empty()) {
            let blob = format!("{commit}:{name}");
            files.insert(name.to_owned(), self.run_git(&["cat-file", "blob", &blob])?);
        }
        Ok(files)
    }

    /// Applies patches in order, as `git am` does, and returns a commit for each. If
    /// `only` has path patterns, changes to other files are skipped.
    ///
    /// # Errors
    /// The first patch that does not apply, with the message of git.
    pub fn apply(&self, patches: &[PostedPatch], only: &[String]) -> Result<Vec<Commit>, Error> {
        let place = self.directory.join(".git/posted");
        let written = |error: std::io::Error| Error::Git {
            what: "am".into(),
            said: format!("{}: {error}", place.display()),
        };
        let mut commits = Vec::new();
        for (at, patch) in patches.iter().enumerate() {
            fs::write(&place, &patch.bytes).map_err(written)?;
            let applied = match patch.bare {
                true => self.apply_diff(&place, only),
                false => {
                    let am = ["am", "--quiet", "--committer-date-is-author-date"];
                    self.apply_file(&am, &place, only)
                }
            };
            if let Err(error) = applied {
                let Error::Git { said, .. } = error else {
                    return Err(error);
                };
                let subject = match patch.subject.as_str() {
                    "" => "a diff".to_owned(),
                    subject => subject.to_owned(),
                };
                return Err(Error::Apply {
                    number: at + 1,
                    subject,
                    said,
                });
            }
            commits.push(self.describe("HEAD")?);
        }
        Ok(commits)
    }

    fn apply_file(&self, how: &[&str], file: &Path, only: &[String]) -> Result<(), Error> {
        let mut words: Vec<String> = how.iter().map(ToString::to_string).collect();
        words.extend(only.iter().map(|pattern| format!("--include={pattern}")));
        words.push(file.display().to_string());
        self.run_git(&words).map(drop)
    }

    fn apply_diff(&self, file: &Path, only: &[String]) -> Result<(), Error> {
        self.apply_file(&["apply", "--index"], file, only)?;
        let changed = self.run_git(&["diff", "--cached", "--name-only"])?;
        let first = changed.lines().next().unwrap_or("nothing");
        self.commit(&format!("a diff of {first}"))
    }

    fn commit(&self, subject: &str) -> Result<(), Error> {
        self.run_git(&["commit", "--quiet", "--allow-empty", "--message", subject])
            .map(drop)
    }

    /// Runs git and returns its output.
    fn run_git(&self, arguments: &[impl AsRef<OsStr>]) -> Result<String, Error> {
        let words = arguments.iter().map(|word| word.as_ref().to_string_lossy());
        let what = words.take(1).collect::<String>();
        let said = output_of(&what, self.command(arguments))?;
        String::from_utf8(said).map_err(|_| {
            let last = arguments.last().map(|word| word.as_ref().to_string_lossy());
            let said = format!("{} is not UTF-8 text", last.unwrap_or_default());
            Error::Git { what, said }
        })
    }

    fn command(&self, arguments: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new("git");
        command
            .arg("-C")
            .arg(&self.directory)
            .env("LC_ALL", "C")
            .stdin(Stdio::null());
        if self.private {
            for name in [
                "GIT_DIR",
                "GIT_WORK_TREE",
                "GIT_INDEX_FILE",
                "GIT_OBJECT_DIRECTORY",
            ] {
                command.env_remove(name);
            }
            for who in ["AUTHOR", "COMMITTER"] {
                command
                    .env(format!("GIT_{who}_NAME"), SELF)
                    .env(format!("GIT_{who}_EMAIL"), NOWHERE)
                    .env(format!("GIT_{who}_DATE"), NEVER);
            }
            command
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .env("GIT_CONFIG_NOSYSTEM", "1")
                .args(["-c", "core.autocrlf=false", "-c", "gc.auto=0"])
                .args([
                    "-c",
                    "core.hooksPath=/dev/null",
                    "-c",
                    "init.defaultBranch=main",
                ]);
        }
        command.args(arguments);
        command
    }
}

/// A sparse-checkout pattern that matches only this file.
fn pattern(path: &str) -> String {
    let mut line = String::from("/");
    for c in path.chars() {
        if matches!(c, '*' | '?' | '[' | '\\' | ' ') {
            line.push('\\');
        }
        line.push(c);
    }
    line + "\n"
}

/// Splits paths that git terminates with NUL (`-z`).
fn paths(said: &str) -> Vec<String> {
    let paths = said.split('\0').filter(|path| !path.is_empty());
    paths.map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIL: &str = "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n\
        From: Ann <ann@x.org>\nDate: Mon, 2 Nov 2026 10:00:00 +0100\n\
        Subject: [PATCH 1/1] lib: Count\n\nWhy.\n\nSigned-off-by: Ann <ann@x.org>\n---\n";
    const DIFF: &str = "diff --git a/lib/a.c b/lib/a.c\n--- a/lib/a.c\n+++ b/lib/a.c\n\
        @@ -1,3 +1,3 @@\n one\n-two\n+three\n four\n";
    const MORE: &str = "diff --git a/doc/b b/doc/b\n--- a/doc/b\n+++ b/doc/b\n\
        @@ -1 +1 @@\n-absent\n+here\n";

    fn repository() -> Option<(tempfile::TempDir, GitRepository)> {
        let place = tempfile::tempdir().unwrap();
        let files = [("lib/a.c".to_owned(), "one\ntwo\nfour\n".to_owned())].into();
        match GitRepository::create(place.path(), &files, "base") {
            Ok(repository) => Some((place, repository)),
            Err(error) => {
                eprintln!("skipped: {error}");
                None
            }
        }
    }

    fn patch(text: &str, bare: bool) -> PostedPatch {
        PostedPatch {
            subject: if bare {
                String::new()
            } else {
                "lib: Count".into()
            },
            author: None,
            paths: crate::paths_of_diff(text),
            bytes: text.as_bytes().to_vec(),
            bare,
        }
    }

    #[test]
    fn a_directory_that_is_packed_has_all_its_files_in_a_commit_and_no_others() {
        let place = tempfile::tempdir().unwrap();
        let of = |name: &str| {
            let directory = place.path().join(name);
            fs::create_dir_all(directory.join("lib")).unwrap();
            fs::write(directory.join("lib/a.c"), "one\ntwo\nfour\n").unwrap();
            fs::write(directory.join(".gitignore"), "*.c\n").unwrap();
            fs::write(directory.join("logo"), [0xff, 0, 0xfe]).unwrap();
            std::os::unix::fs::symlink("lib/a.c", directory.join("link")).unwrap();
            directory
        };
        let one = of("one");
        let packed = match GitRepository::pack(&one, "all of it") {
            Ok(packed) => packed,
            Err(error) => return eprintln!("skipped: {error}"),
        };
        let left: Vec<_> = fs::read_dir(&one).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
        let base = packed.describe("HEAD").unwrap();
        assert_eq!(base.paths, [".gitignore", "lib/a.c", "link", "logo"]);
        assert_eq!((base.subject.as_str(), base.written), ("all of it", None));
        let again = GitRepository::pack(&of("two"), "all of it").unwrap();
        assert_eq!(again.resolve("HEAD"), Some(base.id.clone()));
        // Repositories can be created next to a packed one, and all its files can be checked out.
        let beside = place.path().join("beside");
        fs::create_dir(&beside).unwrap();
        let beside = packed.beside(&beside, "HEAD", ["lib/a.c"]).unwrap();
        let commits = beside.apply(&[patch(&format!("{MAIL}{DIFF}"), false)], &[]);
        let (tree, index) = (place.path().join("tree"), place.path().join("index"));
        fs::create_dir(&tree).unwrap();
        beside
            .check_out(&commits.unwrap()[0].id, &tree, &index)
            .unwrap();
        let text = fs::read_to_string(tree.join("link")).unwrap();
        assert_eq!(text, "one\nthree\nfour\n");
        assert_eq!(fs::read(tree.join("logo")).unwrap(), [0xff, 0, 0xfe]);
    }

    #[test]
    fn mails_and_diffs_become_commits_with_what_is_known_of_them() {
        let Some((_place, repository)) = repository() else {
            return;
        };
        let back = DIFF.replace("-two", "-three").replace("+three", "+two");
        let patches = [patch(&format!("{MAIL}{DIFF}"), false), patch(&back, true)];
        let commits = repository.apply(&patches, &[]).unwrap();
        assert_eq!(commits[0].subject, "lib: Count");
        let written = commits[0].written.as_ref().unwrap();
        assert_eq!(
            (&*written.author, &*written.date),
            ("Ann <ann@x.org>", "2026-11-02")
        );
        assert_eq!(commits[0].paths, ["lib/a.c"]);
        assert_eq!(
            (&*commits[1].subject, &commits[1].written),
            ("a diff of lib/a.c", &None)
        );
        let text =
            |at: usize| repository.files(&commits[at].id, ["lib"]).unwrap()["lib/a.c"].clone();
        assert_eq!(text(0), "one\nthree\nfour\n");
        assert_eq!(text(1), "one\ntwo\nfour\n");
    }

    #[test]
    fn the_same_patches_give_the_same_commits() {
        let ids = || {
            let (_place, repository) = repository()?;
            let patches = [patch(&format!("{MAIL}{DIFF}"), false)];
            let commits = repository.apply(&patches, &[]).unwrap();
            Some(commits[0].id.clone())
        };
        assert_eq!(ids(), ids());
        let Some((_place, repository)) = self::repository() else {
            return;
        };
        let when = repository
            .run_git(&["log", "-1", "--format=%at %ct"])
            .unwrap();
        assert_eq!(when, "0 0\n", "no clock is in the base");
    }

    #[test]
    fn a_patch_that_does_not_apply_is_named_with_what_git_says() {
        let Some((_place, repository)) = repository() else {
            return;
        };
        let wrong = DIFF.replace("-two", "-ten");
        for bare in [false, true] {
            let head = if bare { "" } else { MAIL };
            let patches = [patch(&format!("{head}{wrong}"), bare)];
            let error = repository.apply(&patches, &[]).unwrap_err();
            let text = error.to_string();
            assert!(text.starts_with("patch 1 ("), "{text}");
            assert!(text.contains("lib/a.c:1"), "{text}");
        }
    }

    #[test]
    fn files_that_are_left_out_need_not_be_there() {
        let Some((_place, repository)) = repository() else {
            return;
        };
        let both = patch(&format!("{MAIL}{DIFF}{MORE}"), false);
        assert!(
            repository
                .clone()
                .apply(std::slice::from_ref(&both), &[])
                .is_err()
        );
        let Some((_place, repository)) = self::repository() else {
            return;
        };
        let commits = repository.apply(&[both], &["lib/*".into()]).unwrap();
        assert_eq!(commits[0].paths, ["lib/a.c"]);
        let none = patch(&format!("{MAIL}{MORE}"), false);
        let commits = repository.apply(&[none], &["lib/*".into()]).unwrap();
        assert!(commits[0].paths.is_empty());
    }

    #[test]
    fn a_range_is_its_commits_from_old_to_new_and_the_one_before() {
        let Some((place, repository)) = repository() else {
            return;
        };
        let back = DIFF.replace("-two", "-three").replace("+three", "+two");
        let patches = [patch(&format!("{MAIL}{DIFF}"), false), patch(&back, true)];
        repository.apply(&patches, &[]).unwrap();
        let opened = GitRepository::open(&place.path().join("lib")).unwrap();
        let (base, commits) = opened.range("HEAD~2..HEAD").unwrap();
        assert_eq!(base.subject, "base");
        let subjects: Vec<&str> = commits.iter().map(|one| one.subject.as_str()).collect();
        assert_eq!(subjects, ["lib: Count", "a diff of lib/a.c"]);
        let (base, commits) = opened.range("HEAD~1").unwrap();
        assert_eq!((base.subject.as_str(), commits.len()), ("base", 1));
        assert_eq!(opened.range("HEAD~1..").unwrap().1.len(), 1);
    }

    #[test]
    fn patches_are_applied_beside_a_tree_that_stays_as_it_is() {
        let Some((place, repository)) = repository() else {
            return;
        };
        for path in ["lib/other.c", "lib/a[1].c"] {
            std::fs::write(place.path().join(path), "1\n").unwrap();
        }
        repository.run_git(&["add", "lib"]).unwrap();
        repository.commit("more").unwrap();
        // Uncommitted changes are ignored.
        std::fs::write(place.path().join("lib/a.c"), "by hand\n").unwrap();
        let before = repository.run_git(&["rev-parse", "HEAD"]).unwrap();
        let opened = GitRepository::open(place.path()).unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let beside = opened.beside(scratch.path(), "HEAD", ["lib/a.c"]).unwrap();
        let has = |path: &str| scratch.path().join(path).exists();
        assert!(has("lib/a.c") && !has("lib/other.c"));
        let mail = patch(&format!("{MAIL}{DIFF}"), false);
        let commits = beside.apply(&[mail], &[]).unwrap();
        assert_eq!(commits[0].paths, ["lib/a.c"]);
        assert!(beside.is_ancestor(before.trim(), &commits[0].id));
        let files = beside.files(&commits[0].id, ["lib"]).unwrap();
        assert_eq!(files["lib/a.c"], "one\nthree\nfour\n");
        assert_eq!(
            files["lib/other.c"], "1\n",
            "what was not checked out is there"
        );
        let (tree, index) = (place.path().join("tree"), place.path().join("index"));
        std::fs::create_dir(&tree).unwrap();
        beside.check_out(&commits[0].id, &tree, &index).unwrap();
        assert!(tree.join("lib/other.c").exists(), "a place gets all files");
        assert_eq!(repository.run_git(&["rev-parse", "HEAD"]).unwrap(), before);
        let text = std::fs::read_to_string(place.path().join("lib/a.c")).unwrap();
        assert_eq!(text, "by hand\n");
        let odd = tempfile::tempdir().unwrap();
        opened.beside(odd.path(), "HEAD", ["lib/a[1].c"]).unwrap();
        assert!(odd.path().join("lib/a[1].c").exists());
        let none = tempfile::tempdir().unwrap();
        assert!(opened.beside(none.path(), "nowhere", ["x"]).is_err());
    }

    #[test]
    fn a_merge_touches_what_it_brings_to_its_first_parent() {
        let Some((place, repository)) = repository() else {
            return;
        };
        let base = repository.resolve("HEAD").unwrap();
        let commit = |path: &str, text: &str| {
            std::fs::write(place.path().join(path), text).unwrap();
            repository.run_git(&["add", path]).unwrap();
            repository.commit(path).unwrap();
            repository.resolve("HEAD").unwrap()
        };
        let mainline = commit("lib/mainline.c", "1\n");
        repository
            .run_git(&["checkout", "--quiet", "-b", "topic", &base])
            .unwrap();
        let topic = commit("lib/topic.c", "1\n");
        repository
            .run_git(&["checkout", "--quiet", "main"])
            .unwrap();
        let how = ["merge", "--quiet", "--no-ff", "--message", "merge", "topic"];
        repository.run_git(&how).unwrap();
        let merge = repository.describe("HEAD").unwrap();
        assert_eq!(merge.paths, ["lib/topic.c"]);
        let (before, commits) = repository.range(&format!("{base}..HEAD")).unwrap();
        assert_eq!((&before.id, &commits[0].id), (&base, &mainline));
        assert_eq!(commits[1].paths, ["lib/topic.c"]);
        assert_eq!(
            repository.describe(&base).unwrap().paths,
            ["lib/a.c"],
            "of a root all"
        );
        for (one, other, is) in [
            (&base, &merge.id, true),
            (&topic, &merge.id, true),
            (&topic, &mainline, false),
        ] {
            assert_eq!(repository.is_ancestor(one, other), is);
        }
        assert_eq!(repository.committed(&topic).unwrap(), 0);
        assert!(repository.committed("nowhere").is_err());
    }

    #[test]
    fn ranges_of_nothing_are_refused() {
        let Some((_place, repository)) = repository() else {
            return;
        };
        for (range, why) in [
            (
                "HEAD..HEAD",
                "no commit in it; write the older commit first",
            ),
            ("HEAD", "has no parent here"),
            ("nowhere", "there is no commit nowhere"),
            ("--all", "there is no commit --all"),
            ("a...b", "write OLD..NEW"),
        ] {
            let text = repository.range(range).unwrap_err().to_string();
            assert!(text.contains(why), "{text}");
        }
    }

    #[test]
    fn a_commit_is_checked_out_elsewhere_and_only_what_differs_is_written() {
        let Some((place, repository)) = repository() else {
            return;
        };
        let base = repository.resolve("HEAD").unwrap();
        std::fs::write(place.path().join("lib/b.c"), "more\n").unwrap();
        repository.run_git(&["add", "lib/b.c"]).unwrap();
        repository.commit("more").unwrap();
        let more = repository.resolve("HEAD").unwrap();
        let out = tempfile::tempdir().unwrap();
        let (tree, index) = (out.path().join("tree"), out.path().join("index"));
        std::fs::create_dir(&tree).unwrap();
        let read = |path: &str| std::fs::read_to_string(tree.join(path)).ok();
        let written = || tree.join("lib/a.c").metadata().unwrap().modified().unwrap();
        repository.check_out(&more, &tree, &index).unwrap();
        assert_eq!(read("lib/b.c").as_deref(), Some("more\n"));
        let before = written();
        std::fs::write(tree.join("lib/b.c"), "by hand\n").unwrap();
        repository.check_out(&base, &tree, &index).unwrap();
        assert_eq!((read("lib/b.c"), written()), (None, before));
        assert_eq!(read("lib/a.c").as_deref(), Some("one\ntwo\nfour\n"));
        std::fs::write(tree.join("lib/a.c"), "by hand\n").unwrap();
        repository.check_out(&more, &tree, &index).unwrap();
        assert_eq!(read("lib/a.c").as_deref(), Some("one\ntwo\nfour\n"));
        assert_eq!(read("lib/b.c").as_deref(), Some("more\n"));
        assert!(repository.check_out("none", &tree, &index).is_err());
        // The repository's own tree and index are unchanged.
        assert_eq!(repository.run_git(&["status", "--porcelain"]).unwrap(), "");
    }

    #[test]
    fn outside_of_a_repository_git_says_so() {
        let place = tempfile::tempdir().unwrap();
        let error = GitRepository::open(place.path()).unwrap_err().to_string();
        assert!(error.starts_with("git rev-parse: "), "{error}");
    }
}
