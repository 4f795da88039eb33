//! Reads what `strace -f -y` printed: which files a command used.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// The system calls to trace: those with a path, those that list a directory, and those that tell
/// in which directory a process is.
pub(super) const CALLS: &str = "trace=%file,getdents,getdents64,fchdir,clone,clone3,fork,vfork";
/// Calls that make a new file, directory or link.
const MAKERS: [&str; 10] = [
    "creat",
    "link",
    "linkat",
    "mkdir",
    "mkdirat",
    "mknod",
    "mknodat",
    "rename",
    "symlink",
    "symlinkat",
];

/// The files that a command used, by absolute path.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct UsedFiles {
    /// Programs that were executed.
    pub(super) programs: BTreeSet<PathBuf>,
    /// Files and directories that were looked at.
    pub(super) others: BTreeSet<PathBuf>,
    /// Directories that were listed.
    pub(super) listed: BTreeSet<PathBuf>,
    /// What did not exist before.
    new: BTreeSet<PathBuf>,
}

/// A completed call.
struct TracedCall<'t> {
    process: u32,
    name: &'t str,
    arguments: &'t str,
    result: &'t str,
}

/// Reads a trace of a command that was started in this directory.
pub(super) fn used_files(trace: &str, start: &Path) -> UsedFiles {
    let mut used = UsedFiles::default();
    let mut directories: BTreeMap<u32, PathBuf> = BTreeMap::new();
    let mut begun: BTreeMap<u32, String> = BTreeMap::new();
    for line in trace.lines() {
        let Some((process, rest)) = line.trim_start().split_once(' ') else {
            continue;
        };
        let (Ok(process), rest) = (process.parse(), rest.trim_start()) else {
            continue;
        };
        // A child's first call may come before its parent's call has returned.
        if !directories.contains_key(&process) {
            let forks = |(_, call): &(&u32, &String)| is_fork(call);
            let parent = begun.iter().find(forks).map(|(parent, _)| *parent);
            let inherited = parent.and_then(|parent| directories.get(&parent));
            let directory = inherited.map_or(start, PathBuf::as_path).to_owned();
            directories.insert(process, directory);
        }
        if let Some(begin) = rest.strip_suffix("<unfinished ...>") {
            begun.insert(process, begin.into());
            continue;
        }
        let resumed = rest.strip_prefix("<... ");
        let resumed = resumed.and_then(|rest| rest.split_once(" resumed>"));
        let whole = match resumed {
            Some((_, end)) => begun.remove(&process).unwrap_or_default() + end,
            None => rest.to_owned(),
        };
        if let Some(call) = call(process, &whole) {
            used.add(&call, &mut directories);
        }
    }
    used.others = std::mem::take(&mut used.others)
        .into_iter()
        .filter(|path| !used.is_new(path))
        .collect();
    used
}

fn is_fork(call: &str) -> bool {
    ["clone", "fork", "vfork"]
        .iter()
        .any(|name| call.starts_with(name))
}

/// Splits `NAME(ARGUMENTS) = RESULT`.
fn call(process: u32, text: &str) -> Option<TracedCall<'_>> {
    let (name, rest) = text.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    Some(TracedCall {
        process,
        name,
        arguments,
        result,
    })
}

impl UsedFiles {
    fn add(&mut self, call: &TracedCall<'_>, directories: &mut BTreeMap<u32, PathBuf>) {
        let failed = call.result.starts_with(['-', '?']);
        let current = directories.get(&call.process).cloned().unwrap_or_default();
        if is_fork(call.name) {
            if let Ok(child) = call.result.trim().parse() {
                directories.entry(child).or_insert(current);
            }
            return;
        }
        let base = opened(call.arguments).unwrap_or(current);
        if call.arguments.starts_with("AT_FDCWD<") {
            directories.insert(call.process, base.clone());
        }
        let path = match quoted(call.arguments) {
            // About a descriptor: the call that opened it has its path.
            Some(name) if name.as_os_str().is_empty() => return,
            Some(name) => plain(&base.join(name)),
            None => base,
        };
        match call.name {
            _ if failed => {
                if call.result.contains("ENOENT") && !self.knows(&path) {
                    self.new.insert(path);
                }
            }
            "getdents" | "getdents64" => {
                self.listed.insert(path);
            }
            "chdir" | "fchdir" => {
                directories.insert(call.process, path.clone());
                self.others.insert(path);
            }
            "execve" | "execveat" => {
                self.programs.insert(path);
            }
            maker if MAKERS.contains(&maker) || is_created(call.arguments) => {
                if !self.knows(&path) {
                    self.new.insert(path);
                }
            }
            _ => {
                self.others.insert(path);
            }
        }
    }

    fn knows(&self, path: &Path) -> bool {
        self.others.contains(path) || self.programs.contains(path)
    }

    /// Whether the command made this, or the directory that it is in.
    pub(super) fn is_new(&self, path: &Path) -> bool {
        path.ancestors().any(|above| self.new.contains(above))
    }
}

/// Whether these arguments of `open` make a new file or discard the content of an old one.
fn is_created(arguments: &str) -> bool {
    let flags = arguments.rsplit('"').next().unwrap_or_default();
    flags.contains("O_CREAT") && (flags.contains("O_TRUNC") || flags.contains("O_EXCL"))
}

/// The path of the descriptor that is the first argument: `AT_FDCWD</tmp>` or `3</tmp>`.
fn opened(arguments: &str) -> Option<PathBuf> {
    let first = arguments.split(['"', ',']).next()?;
    let start = first.find('<')?;
    let path = arguments.get(start + 1..)?;
    let end = path.find(['>', '"'])?;
    let path = unescaped(&path[..end]);
    path.is_absolute().then_some(path)
}

/// The first string among the arguments.
fn quoted(arguments: &str) -> Option<PathBuf> {
    let (_, rest) = arguments.split_once('"')?;
    let mut escaped = false;
    let end = rest.char_indices().find_map(|(at, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })?;
    Some(unescaped(&rest[..end]))
}

/// Undoes the escapes of strings in C.
fn unescaped(text: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    let mut bytes = Vec::new();
    let mut rest = text.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let mut octal = String::new();
        while octal.len() < 3
            && let Some(digit) = rest.next_if(|next| (b'0'..b'8').contains(next))
        {
            octal.push(char::from(digit));
        }
        bytes.push(match u8::from_str_radix(&octal, 8) {
            Ok(byte) => byte,
            Err(_) => match rest.next() {
                Some(b'n') => b'\n',
                Some(b't') => b'\t',
                Some(b'r') => b'\r',
                Some(b'v') => 0x0b,
                Some(b'f') => 0x0c,
                Some(other) => other,
                None => b'\\',
            },
        });
    }
    std::ffi::OsString::from_vec(bytes).into()
}

/// The path without `.` and `..`.
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(set: &BTreeSet<PathBuf>) -> Vec<&str> {
        set.iter().filter_map(|path| path.to_str()).collect()
    }

    #[test]
    fn relative_paths_are_below_the_directory_of_their_process() {
        let used = used_files(
            r#"7 execve("./a", ["./a"], 0x7ff /* 3 vars */) = 0
7 access("/etc/none", R_OK) = -1 ENOENT (No such file or directory)
7 openat(AT_FDCWD</w>, "in \303\251\"x\".txt", O_RDONLY) = 3</w/in>
7 newfstatat(2</w/err>, "", {st_mode=S_IFREG|0644, ...}, AT_EMPTY_PATH) = 0
7 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
8 chdir("sub/../d")                 = 0
7 <... clone resumed>, child_tidptr=0x7) = 8
8 access("f", R_OK)                 = 0
7 stat("f", {st_mode=S_IFREG})      = 0
8 openat(4</w/q>, "../z", O_RDONLY <unfinished ...>
7 +++ exited with 0 +++
8 <... openat resumed>) = 3</w/z>
8 getdents64(3</w/z>, 0x1 /* 3 entries */, 32768) = 80
8 execve("/bin/none", ["none"], 0x0) = -1 ENOENT (No such file or directory)
"#,
            Path::new("/w"),
        );
        assert_eq!(paths(&used.programs), ["/w/a"]);
        assert_eq!(
            paths(&used.others),
            ["/w/d", "/w/d/f", "/w/f", "/w/in é\"x\".txt", "/w/z"]
        );
        assert_eq!(paths(&used.listed), ["/w/z"]);
    }

    #[test]
    fn what_a_command_makes_is_not_there_before() {
        let used = used_files(
            r#"7 openat(AT_FDCWD</w>, "old", O_RDWR|O_CREAT, 0644) = 3</w/old>
7 openat(AT_FDCWD</w>, "out", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 3</w/out>
7 stat("out", {st_mode=S_IFREG}) = 0
7 openat(AT_FDCWD</w>, "log", O_RDONLY) = -1 ENOENT (No such file or directory)
7 openat(AT_FDCWD</w>, "log", O_RDWR|O_CREAT, 0644) = 3</w/log>
7 mkdir("made", 0755) = 0
7 openat(AT_FDCWD</w>, "made/in", O_RDWR|O_CREAT, 0644) = 3</w/made/in>
7 openat(AT_FDCWD</w>, "read", O_RDONLY) = 3</w/read>
7 openat(AT_FDCWD</w>, "read", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 3</w/read>
"#,
            Path::new("/w"),
        );
        assert_eq!(paths(&used.others), ["/w/old", "/w/read"]);
    }

    #[test]
    fn no_text_makes_it_panic() {
        for text in [
            "",
            "7",
            "7 x(",
            "7 x(\"",
            "7 open(\"\\",
            "7 open(3<, \"a\") = 0",
            "x y",
        ] {
            assert_eq!(used_files(text, Path::new("/")).programs.len(), 0, "{text}");
        }
    }
}
