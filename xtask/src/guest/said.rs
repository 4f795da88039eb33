//! The report of `watch` on a program and its kernel.

/// Parts of kernel messages that report an error.
const COMPLAINTS: &[&str] = &[
    "BUG: ",
    "WARNING: ",
    "UBSAN: ",
    "ODEBUG: ",
    "Oops: ",
    "Kernel panic",
    "general protection fault",
    "unable to handle",
    "INFO: task ",
    "INFO: trying to register non-static key",
    "INFO: rcu",
    "detected stalls",
    "soft lockup",
    "workqueue lockup",
    "refcount_t: ",
    "list_add corruption",
    "list_del corruption",
    "DEBUG_LOCKS_WARN_ON",
    "blocked for more than",
    "Trying to vfree",
    "suspected memory leaks",
    "Objects remaining",
    // Printed when the check gives up.
    "turning off the locking correctness validator",
    "kmemleak: Automatic memory scanning thread ended",
    "Kernel memory leak detector disabled",
];

/// Maximum number of lines of a complaint that are shown.
const SHOWN: usize = 40;

/// Taints caused by a complaint: machine check, bad page, die, warning, soft lockup.
const TAINTED: u64 = 1 << 4 | 1 << 5 | 1 << 7 | 1 << 9 | 1 << 14;

/// The report of `watch`.
#[derive(Debug, Default, PartialEq)]
pub struct Said {
    /// How the program ended: `exit 0`, `signal 11`.
    pub program: String,
    /// Modules, and the errno of removing them.
    removed: Vec<(String, i32)>,
    /// Unreferenced pieces of memory; `None` if kmemleak is not available.
    pub leaks: Option<u32>,
    /// Whether lockdep is still on; `None` if the kernel has none.
    lockdep: Option<bool>,
    tainted: u64,
    lost: u64,
    /// First lines of complaints, each with its index in `log`.
    complaints: Vec<(usize, String)>,
    /// The kernel's log.
    log: Vec<String>,
    /// The output of kmemleak.
    leaked: Vec<String>,
    /// Whether the report is complete.
    ended: bool,
}

impl Said {
    /// Parses the standard error of `watch`.
    pub fn read(text: &str) -> Said {
        let mut said = Said::default();
        for line in text.lines() {
            if let Some(line) = line.strip_prefix("kernel: ") {
                if complains(line) {
                    said.complaints.push((said.log.len(), line.to_string()));
                }
                said.log.push(line.to_string());
            } else if let Some(line) = line.strip_prefix("leak: ") {
                said.leaked.push(line.to_string());
            } else if let Some(line) = line.strip_prefix("watch: ") {
                said.note(line);
            }
        }
        said
    }

    fn note(&mut self, line: &str) {
        let mut words = line.split(' ');
        let (what, rest) = (words.next(), words.collect::<Vec<_>>());
        let number = || rest.first().and_then(|word| word.parse::<u64>().ok());
        match what {
            Some("program") => self.program = rest.join(" "),
            Some("remove") => {
                let errno = rest.get(1).and_then(|word| word.parse().ok());
                let name = rest.first().copied().unwrap_or_default();
                self.removed.push((name.into(), errno.unwrap_or(-1)));
            }
            Some("leaks") => self.leaks = number().and_then(|n| u32::try_from(n).ok()),
            Some("lockdep") => self.lockdep = number().map(|n| n == 1),
            Some("tainted") => self.tainted = number().unwrap_or(u64::MAX),
            Some("lost") => self.lost = number().unwrap_or(u64::MAX),
            Some("end") => self.ended = true,
            _ => {}
        }
    }

    /// All problems except failures of the program itself. With `ours`, races count only in modules
    /// with these names.
    pub fn problems(&self, leaks: bool, ours: Option<&[&str]>) -> Vec<String> {
        let mut wrong = self.complained_of(ours);
        match self.leaks {
            None if leaks => wrong.push("kmemleak has given up".into()),
            Some(n) if n > 0 => {
                wrong.push(format!("{n} pieces of memory leaked"));
                let shown = SHOWN.min(self.leaked.len());
                println!("{}", self.leaked[..shown].join("\n"));
            }
            _ => {}
        }
        if self.lockdep != Some(true) {
            wrong.push("lockdep has given up".into());
        }
        wrong
    }

    /// Like [`Said::problems`], for a kernel without kmemleak and lockdep.
    pub(crate) fn complained_of(&self, ours: Option<&[&str]>) -> Vec<String> {
        let mut wrong = Vec::new();
        if !self.ended {
            wrong.push("the watch did not come to its end".into());
        }
        for (at, line) in self.counted(ours) {
            wrong.push(format!("the kernel says: {line}"));
            let end = (at + SHOWN).min(self.log.len());
            println!("{}", self.log[*at..end].join("\n"));
        }
        for (name, errno) in self.removed.iter().filter(|(_, errno)| *errno != 0) {
            wrong.push(format!("{name} cannot be removed: errno {errno}"));
        }
        if self.tainted & TAINTED != 0 {
            wrong.push(format!("the kernel is tainted: {:#x}", self.tainted));
        }
        if self.lost > 0 {
            wrong.push(format!("{} lost gaps in the kernel's log", self.lost));
        }
        wrong
    }

    /// The complaints that count.
    fn counted<'a>(
        &'a self,
        ours: Option<&'a [&str]>,
    ) -> impl Iterator<Item = &'a (usize, String)> {
        self.complaints
            .iter()
            .filter(move |(_, line)| ours.is_none_or(|ours| !is_elsewhere(line, ours)))
    }

    /// Races outside these modules.
    pub fn elsewhere(&self, ours: &[&str]) -> Vec<&str> {
        let lines = self.complaints.iter().map(|(_, line)| line.as_str());
        lines.filter(|line| is_elsewhere(line, ours)).collect()
    }

    /// Whether there is a complaint with these words.
    pub fn complained(&self, words: &str) -> bool {
        self.complaints
            .iter()
            .any(|(at, line)| line.contains(words) || self.has_near(*at, words))
    }

    /// Whether the words are near a complaint: some have a line of stars before the details.
    fn has_near(&self, at: usize, words: &str) -> bool {
        let end = (at + 3).min(self.log.len());
        self.log[at..end].iter().any(|line| line.contains(words))
    }
}

fn complains(line: &str) -> bool {
    COMPLAINTS.iter().any(|words| line.contains(words))
}

fn is_elsewhere(line: &str, ours: &[&str]) -> bool {
    line.contains("KCSAN: ") && !ours.iter().any(|name| line.contains(&format!("[{name}]")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WELL: &str = "watch: program exit 0\nwatch: remove simgpu 0\nwatch: leaks 0\n\
        watch: lockdep 1\nwatch: tainted 4096\nkernel: depq: loading out-of-tree module taints \
        kernel.\nwatch: lost 0\nwatch: end\n";

    #[test]
    fn a_kernel_that_is_well_has_no_problems() {
        let said = Said::read(WELL);
        assert_eq!(said.program, "exit 0");
        assert_eq!(said.removed, [("simgpu".to_string(), 0)]);
        assert!(said.problems(true, None).is_empty());
    }

    #[test]
    fn a_check_that_says_it_is_there_does_not_complain() {
        let line = "kmemleak: Kernel memory leak detector initialized (mem pool available: 9)";
        assert!(!complains(line));
        assert!(complains("kmemleak: 3 new suspected memory leaks (see x)"));
    }

    #[test]
    fn each_sign_of_trouble_is_a_problem() {
        for (from, to) in [
            ("simgpu 0", "simgpu 16"),
            ("leaks 0", "leaks 2"),
            ("leaks 0", "leaks absent"),
            ("lockdep 1", "lockdep 0"),
            ("lockdep 1", "lockdep absent"),
            ("tainted 4096", "tainted 4608"),
            ("lost 0", "lost 3"),
            ("watch: end\n", ""),
            ("depq: loading", "BUG: KASAN: slab-use-after-free in x"),
            ("depq: loading", "WARNING: CPU: 1 PID: 9 at kernel/x.c:1"),
            ("depq: loading", "INFO: task x:9 blocked for more than 30 s"),
        ] {
            let said = Said::read(&WELL.replace(from, to));
            assert_eq!(said.problems(true, None).len(), 1, "{to}");
        }
        let said = Said::read(&WELL.replace("leaks 0", "leaks absent"));
        assert!(said.problems(false, None).is_empty());
    }

    #[test]
    fn a_race_elsewhere_counts_only_where_it_is_asked_for() {
        let race = |at: &str| WELL.replace("depq: loading", &format!("BUG: KCSAN: {at}"));
        let ours = ["depq"];
        let said = Said::read(&race("data-race in a+0x1/0x2 / b+0x3/0x4 x"));
        assert!(said.problems(true, Some(&ours)).is_empty());
        assert_eq!(said.problems(true, None).len(), 1);
        assert_eq!(said.elsewhere(&ours).len(), 1);
        let said = Said::read(&race("data-race in a [depq] / b+0x3/0x4 x"));
        assert_eq!(said.problems(true, Some(&ours)).len(), 1);
        assert!(said.elsewhere(&ours).is_empty());
    }

    #[test]
    fn a_complaint_is_found_by_its_words() {
        let said = Said::read(&WELL.replace("depq: loading", "WARNING: inconsistent lock state"));
        assert!(said.complained("inconsistent lock state"));
        assert!(!said.complained("circular"));
    }
}
