//! Parses the `.cmd` files that kbuild writes next to each object.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::fault::{files_below, io, read};

/// Bytes of the longest file that is read. Those of kbuild have some tens of thousands.
const LONGEST: u64 = 16 << 20;

#[derive(Debug, Clone, Copy)]
pub(super) struct BuildDirectories<'a> {
    /// The directory of our sources, with links resolved.
    pub(super) work: &'a Path,
    /// The directory for `make -C`, with links resolved.
    pub(super) headers: &'a Path,
    /// A directory of programs to search before PATH.
    pub(super) compiler: Option<&'a Path>,
}

/// The commands of a build, combined.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Commands {
    /// Files that compilers read.
    pub(super) read: BTreeSet<PathBuf>,
    /// Directories that compilers search for headers.
    pub(super) searched: BTreeSet<PathBuf>,
    /// Programs that produced the objects, as the commands name them.
    pub(super) programs: BTreeSet<String>,
    /// The programs that are compilers.
    pub(super) compilers: BTreeSet<String>,
}

impl Commands {
    /// Reads the commands below the directory of our sources, and leaves out files in that
    /// directory itself.
    pub(super) fn read(site: BuildDirectories<'_>) -> Result<Self, Error> {
        let mut commands = Commands::default();
        for path in files_below(site.work)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let is_command = name.ends_with(".o.cmd") || name.ends_with(".ko.cmd");
            let data = path.symlink_metadata();
            if is_command && data.map_err(|error| io("read", &path, &error))?.len() <= LONGEST {
                commands.add(&String::from_utf8_lossy(&read(&path)?), site);
            }
        }
        let outside = |path: &PathBuf| !path.starts_with(site.work);
        commands.read.retain(outside);
        commands.searched.retain(outside);
        Ok(commands)
    }

    /// Adds the text of one file: `savedcmd_OBJECT := COMMAND`, `source_OBJECT := FILE`,
    /// `deps_OBJECT := \` and then one file per line. Kernels before 6.5 write `cmd_` for
    /// `savedcmd_`.
    fn add(&mut self, text: &str, site: BuildDirectories<'_>) {
        let mut base = site.headers;
        let mut in_deps = false;
        for line in text.lines() {
            if in_deps {
                in_deps = line.ends_with('\\');
                let file = line.trim_end_matches('\\').trim();
                if !file.is_empty() && !file.starts_with('$') {
                    self.read.insert(base.join(file));
                }
                continue;
            }
            let Some((variable, value)) = line.split_once(" := ") else {
                continue;
            };
            if variable.starts_with("savedcmd_") || variable.starts_with("cmd_") {
                let words: Vec<&str> = value.split_whitespace().collect();
                base = directory_of(&words, site);
                self.add_command(&words, base);
            } else if variable.starts_with("source_") {
                self.read.insert(base.join(value.trim()));
            }
            in_deps = variable.starts_with("deps_") && value.ends_with('\\');
        }
    }

    fn add_command(&mut self, words: &[&str], base: &Path) {
        let programs = words.iter().take_while(|word| !word.starts_with('-'));
        let programs: Vec<String> = programs.map(|word| (*word).to_string()).collect();
        if words.contains(&"-c") {
            self.compilers.extend(programs.last().cloned());
        }
        self.programs.extend(programs);
        let after = ["-I", "-isystem", "-iquote", "-idirafter"];
        let pairs = words.iter().zip(words.iter().skip(1));
        let apart = pairs.filter_map(|(option, word)| after.contains(option).then_some(*word));
        let joined = words.iter().filter_map(|word| word.strip_prefix("-I"));
        for directory in apart.chain(joined).filter(|word| !word.is_empty()) {
            self.searched.insert(base.join(directory));
        }
    }
}

/// The directory in which a command ran: that of the headers if its output is an absolute
/// path, as in kernels before 6.13, else that of our sources.
fn directory_of<'a>(words: &[&str], site: BuildDirectories<'a>) -> &'a Path {
    let output = words.iter().skip_while(|word| **word != "-o").nth(1);
    match output.is_some_and(|output| !output.starts_with('/')) {
        true => site.work,
        false => site.headers,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed_commands(text: &str) -> Commands {
        let mut commands = Commands::default();
        let site = BuildDirectories {
            work: Path::new("/w"),
            headers: Path::new("/h/x"),
            compiler: None,
        };
        commands.add(text, site);
        commands
    }

    fn paths<const N: usize>(texts: [&str; N]) -> BTreeSet<PathBuf> {
        texts.into_iter().map(PathBuf::from).collect()
    }

    #[test]
    fn files_directories_and_programs_of_a_command_are_found() {
        let found = parsed_commands(
            "savedcmd_/w/a.o :=  ccache gcc-12 -Wp,-MMD,/w/.a.o.d -I/h/y/include -I./include \
             -isystem /s -include /h/y/include/k.h -c -o /w/a.o /w/a.c\n\n\
             source_/w/a.o := /w/a.c\n\ndeps_/w/a.o := \\\n  /h/y/include/k.h \\\n    \
             $(wildcard include/config/SMP) \\\n  include/generated/a.h \\\n\n\
             /w/a.o: $(deps_/w/a.o)\n\n$(deps_/w/a.o):\n",
        );
        assert_eq!(
            found.read,
            paths(["/w/a.c", "/h/y/include/k.h", "/h/x/include/generated/a.h"])
        );
        assert_eq!(
            found.searched,
            paths(["/h/y/include", "/h/x/./include", "/s"])
        );
        let names = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(names(&found.programs), "ccache gcc-12");
        assert_eq!(names(&found.compilers), "gcc-12");
        let linked = parsed_commands("cmd_/w/a.ko := ld -r -o /w/a.ko /w/a.o;  true\n");
        assert_eq!(names(&linked.programs), "ld");
        assert!(linked.compilers.is_empty());
    }

    #[test]
    fn a_command_that_names_its_output_in_short_was_given_among_our_sources() {
        let found = parsed_commands(
            "savedcmd_d/a.o := gcc -I../h/x/include -c -o d/a.o d/a.c\n\n\
             source_d/a.o := d/a.c\ndeps_d/a.o := \\\n  ../h/x/include/k.h \\\n  d/a.h\n",
        );
        assert_eq!(
            found.read,
            paths(["/w/d/a.c", "/w/../h/x/include/k.h", "/w/d/a.h"])
        );
        assert_eq!(found.searched, paths(["/w/../h/x/include"]));
    }

    #[test]
    fn what_is_no_such_file_tells_nothing() {
        for text in [
            "",
            "deps_a := \\",
            "a := \n",
            "savedcmd_a := \n",
            "\\\n\\\n",
        ] {
            assert_eq!(parsed_commands(text), Commands::default(), "{text:?}");
        }
    }
}
