//! Maps functions to subsystems.

use std::collections::BTreeMap;

use crate::symbols::KernelFunction;
use crate::{Error, Symbols};

/// The built-in table.
const SHIPPED: &str = include_str!("subsystems.txt");
/// The subsystem of functions that match nothing.
pub const OTHER: &str = "other";

/// A table of patterns for subsystems.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subsystems {
    modules: BTreeMap<String, String>,
    whole: BTreeMap<String, String>,
    begins: BTreeMap<String, String>,
}

impl Subsystems {
    /// The built-in table.
    #[must_use]
    pub fn shipped() -> Subsystems {
        // A test checks that it parses.
        Subsystems::parse(SHIPPED).unwrap_or_default()
    }

    /// Parses a table. Each line has a name, a colon and patterns; `#` starts a comment.
    ///
    /// # Errors
    /// If a line lacks a colon, or two lines have the same pattern.
    pub fn parse(text: &str) -> Result<Subsystems, Error> {
        let mut table = Subsystems::default();
        for (at, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            let wrong = |why: String| Error::Line {
                text: "subsystems",
                line: at + 1,
                why,
            };
            if line.is_empty() {
                continue;
            }
            let Some((name, patterns)) = line.split_once(':') else {
                return Err(wrong(format!("not a name and a colon: {line:.60}")));
            };
            for pattern in patterns.split_ascii_whitespace() {
                if let Some(before) = table.add(pattern, name.trim())
                    && before != name.trim()
                {
                    return Err(wrong(format!("{pattern} belongs to {before} already")));
                }
            }
        }
        Ok(table)
    }

    fn add(&mut self, pattern: &str, name: &str) -> Option<String> {
        let module = pattern
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        let name = name.to_owned();
        match (module, pattern.strip_suffix('*')) {
            (Some(module), _) => self.modules.insert(module.into(), name),
            (None, Some(begin)) => self.begins.insert(begin.into(), name),
            (None, None) => self.whole.insert(pattern.into(), name),
        }
    }

    /// The subsystem of a function according to its name.
    fn by_name<'a>(&'a self, function: &'a KernelFunction) -> Option<&'a str> {
        if let Some(module) = &function.module {
            // A module that is not in the table is its own subsystem.
            let known = self.modules.get(module).map(String::as_str);
            return Some(known.unwrap_or(module));
        }
        // Removes compiler suffixes: .isra.0, .constprop.0, .cold.
        let name = function.name.split('.').next().unwrap_or_default();
        if let Some(found) = self.whole.get(name) {
            return Some(found);
        }
        let lengths = (1..=name.len())
            .rev()
            .filter(|at| name.is_char_boundary(*at));
        let mut begins = lengths.filter_map(|length| self.begins.get(name.get(..length)?));
        begins.next().map(String::as_str)
    }

    /// The subsystem of each function, in the order of their indexes. A function that
    /// matches nothing gets the subsystem of its neighbours if both sides agree.
    #[must_use]
    pub fn of_all<'a>(&'a self, symbols: &'a Symbols) -> Vec<&'a str> {
        let count = symbols.count();
        let named: Vec<Option<&str>> = (0..count)
            .map(|at| self.by_name(symbols.function(at)?))
            .collect();
        let mut before: Vec<Option<&str>> = Vec::with_capacity(count);
        let mut last = None;
        for name in &named {
            last = name.or(last);
            before.push(last);
        }
        let mut all = vec![OTHER; count];
        let mut next: Option<&str> = None;
        for (at, place) in all.iter_mut().enumerate().rev() {
            let own = named.get(at).copied().flatten();
            next = own.or(next);
            let neighbours = before.get(at).copied().flatten().filter(|_| own.is_none());
            *place = match (own, neighbours, next) {
                (Some(own), _, _) => own,
                (None, Some(one), Some(other)) if one == other => one,
                _ => OTHER,
            };
        }
        all
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    #[test]
    fn the_table_that_comes_along_is_well_formed() {
        let table = Subsystems::parse(SHIPPED).unwrap();
        assert_eq!(table, Subsystems::shipped());
        assert!(table.modules.contains_key("gpu_sched"));
        let of = |name: &str| {
            let function = KernelFunction {
                name: name.into(),
                module: None,
            };
            table.by_name(&function).map(str::to_owned)
        };
        for (name, subsystem) in [
            ("try_to_wake_up", "scheduling"),
            ("process_one_work", "workqueues"),
            ("__x64_sys_ioctl", "entry and exit"),
            ("rb_erase", "library functions"),
            ("rb_reserve_next_event", "tracing and perf"),
            ("update_curr.isra.0", "scheduling"),
        ] {
            assert_eq!(of(name).as_deref(), Some(subsystem), "{name}");
        }
        assert_eq!(of("zz_nobody"), None);
    }

    #[test]
    fn the_longest_pattern_counts_and_a_module_before_all() {
        let table = Subsystems::parse("a: q* [m]\nb: qu*\nc: que\n").unwrap();
        let of = |name: &str, module: Option<&str>| {
            let function = KernelFunction {
                name: name.into(),
                module: module.map(str::to_owned),
            };
            table.by_name(&function).unwrap().to_owned()
        };
        assert_eq!(of("qa", None), "a");
        assert_eq!(of("quit", None), "b");
        assert_eq!(of("que", None), "c");
        assert_eq!(of("que", Some("m")), "a");
        assert_eq!(of("que", Some("n")), "n");
    }

    #[test]
    fn who_lies_between_two_of_one_subsystem_belongs_to_it() {
        let text: String = ["a1", "x", "a2", "y", "b1", "z"]
            .iter()
            .enumerate()
            .map(|(at, name)| format!("ffffffff810000{at}0 t {name}\n"))
            .collect();
        let symbols = Symbols::parse(&text).unwrap();
        let table = Subsystems::parse("a: a*\nb: b*").unwrap();
        let want = ["a", "a", "a", OTHER, "b", OTHER];
        assert_eq!(table.of_all(&symbols), want);
    }

    #[test]
    fn a_pattern_of_two_lines_is_an_error_with_its_line() {
        let error = Subsystems::parse("# x\na: f*\nb: f*").unwrap_err();
        assert!(error.to_string().starts_with("subsystems, line 3: f*"));
        assert!(Subsystems::parse("abc").is_err());
    }
}
