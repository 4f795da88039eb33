//! Kernel symbols by address.

use std::collections::{BTreeMap, BTreeSet};

use crate::Error;

/// The lowest kernel address.
pub const KERNEL: u64 = 1 << 63;
/// The maximum length of a function in bytes; code farther from its start is not
/// attributed to it.
pub(crate) const LONGEST: u64 = 1 << 20;
/// Prefixes of labels that are not functions, such as the padding before functions.
const LABELS: &[&str] = &["__pfx_", "__cfi_"];
const BOUNDS: &[&str] = &[
    "_text",
    "_stext",
    "_etext",
    "_sinittext",
    "_einittext",
    "startup_64",
];

const BOUND_ENDS: &[&str] = &["_text_start", "_text_end", "_text"];

/// One function of the kernel or of a module.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelFunction {
    /// Its name; the plainest one if it has several.
    pub name: String,
    /// Its module; `None` if it is built in.
    pub module: Option<String>,
}

impl KernelFunction {
    /// The name with the module: `drm_sched_main [gpu_sched]`.
    pub(crate) fn full_name(&self) -> String {
        match &self.module {
            Some(module) => format!("{} [{module}]", self.name),
            None => self.name.clone(),
        }
    }
}

/// A line of `/proc/kallsyms`.
pub(crate) struct KallsymsLine<'t> {
    /// The address, or for a per-CPU variable its offset.
    pub(crate) address: u64,
    pub(crate) is_code: bool,
    pub(crate) name: &'t str,
    /// `None` if it is built in.
    module: Option<&'t str>,
}

/// Parses the lines of `/proc/kallsyms`; a malformed line gives an error.
pub(crate) fn kallsyms(text: &str) -> impl Iterator<Item = Result<KallsymsLine<'_>, Error>> {
    text.lines().zip(1..).map(|(line, number)| {
        let wrong = |why: &str| Error::Line {
            text: "kallsyms",
            line: number,
            why: format!("{why}: {line:.60}"),
        };
        let mut words = line.split_ascii_whitespace();
        let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next())
        else {
            return Err(wrong("not an address, a type and a name"));
        };
        Ok(KallsymsLine {
            address: u64::from_str_radix(address, 16).map_err(|_| wrong("not an address"))?,
            is_code: matches!(kind, "t" | "T" | "w" | "W"),
            name,
            module: words.next().map(|word| word.trim_matches(['[', ']'])),
        })
    })
}

/// The functions of a kernel by address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Symbols {
    functions: Vec<(u64, KernelFunction)>,
    /// The addresses of every name, including aliases.
    addresses: BTreeMap<String, Vec<u64>>,
}

impl Symbols {
    /// Parses the text of `/proc/kallsyms`.
    ///
    /// # Errors
    /// If a line is malformed, or addresses are hidden.
    pub fn parse(text: &str) -> Result<Symbols, Error> {
        let mut all: Vec<(u64, KernelFunction)> = Vec::new();
        let mut addresses: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for line in kallsyms(text) {
            let KallsymsLine {
                address,
                is_code,
                name,
                module,
            } = line?;
            // Per-CPU symbols have small offsets instead of addresses.
            if !is_code || address < KERNEL {
                continue;
            }
            let module = module.map(str::to_owned);
            addresses.entry(name.to_owned()).or_default().push(address);
            if !LABELS.iter().any(|label| name.starts_with(label)) {
                let name = name.to_owned();
                all.push((address, KernelFunction { name, module }));
            }
        }
        all.sort_by(|(a, one), (b, other)| a.cmp(b).then_with(|| plain(one).cmp(&plain(other))));
        all.dedup_by_key(|(address, _)| *address);
        if all.is_empty() {
            return Err(Error::Missing {
                what: "the addresses of its functions".into(),
                mend: "with CONFIG_KALLSYMS",
            });
        }
        Ok(Symbols {
            functions: all,
            addresses,
        })
    }

    /// The index of the function at an address.
    #[must_use]
    pub fn at(&self, address: u64) -> Option<usize> {
        let after = self.functions.partition_point(|(from, _)| *from <= address);
        let at = after.checked_sub(1)?;
        let (from, _) = self.functions.get(at)?;
        (address - from < LONGEST).then_some(at)
    }

    /// An address as the kernel prints it: `race_use+0x5e [race]`.
    #[must_use]
    pub fn place(&self, address: u64) -> Option<String> {
        let (from, function) = self.functions.get(self.at(address)?)?;
        let module = function.module.as_ref();
        let module = module.map_or_else(String::new, |module| format!(" [{module}]"));
        Some(format!("{}+{:#x}{module}", function.name, address - from))
    }

    /// The function with this index.
    #[must_use]
    pub fn function(&self, at: usize) -> Option<&KernelFunction> {
        self.functions.get(at).map(|(_, function)| function)
    }

    /// The number of functions.
    #[must_use]
    pub fn count(&self) -> usize {
        self.functions.len()
    }

    /// The start addresses of the functions with this name; there may be several.
    #[must_use]
    pub fn addresses(&self, name: &str) -> &[u64] {
        self.addresses.get(name).map_or(&[], Vec::as_slice)
    }

    /// The start addresses and names of all functions, in order.
    pub(crate) fn begins(&self) -> impl Iterator<Item = (u64, &str)> {
        self.functions
            .iter()
            .map(|(address, function)| (*address, function.name.as_str()))
    }

    /// The full names of the functions that `name` refers to: all that have this name or
    /// alias, with or without a compiler suffix (`.isra.0`).
    #[must_use]
    pub fn meant(&self, name: &str) -> BTreeSet<String> {
        let parts = format!("{name}.");
        let with_parts = self.addresses.range(parts.clone()..);
        let with_parts = with_parts.take_while(|(other, _)| other.starts_with(&parts));
        let whole = self.addresses.get(name).into_iter();
        whole
            .chain(with_parts.map(|(_, all)| all))
            .flatten()
            .filter_map(|address| Some(self.function(self.at(*address)?)?.full_name()))
            .collect()
    }

    /// All names and addresses, including aliases, sorted by name.
    pub fn names(&self) -> impl Iterator<Item = (&str, u64)> {
        self.addresses
            .iter()
            .flat_map(|(name, all)| all.iter().map(move |address| (name.as_str(), *address)))
    }
}

/// The sort key for names of one address; the smallest is used.
fn plain(function: &KernelFunction) -> (bool, usize, &str) {
    let name = function.name.as_str();
    let underscores = name.len() - name.trim_start_matches('_').len();
    let bound = BOUNDS.contains(&name) || BOUND_ENDS.iter().any(|end| name.ends_with(end));
    (bound, underscores, name)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    const TEXT: &str = "0000000000000000 A fixed_percpu_data\n\
        ffffffff81000000 T _stext\nffffffff81000000 T _text\n\
        ffffffff81000000 t first\nffffffff81000010 t __pfx_second\n\
        ffffffff81000020 T __second\nffffffff81000020 T second\n\
        ffffffff81000040 D data\nffffffffc0000000 t third\t[gpu_sched]\n";

    #[test]
    fn an_address_is_of_the_function_that_begins_before_it() {
        let symbols = Symbols::parse(TEXT).unwrap();
        let name = |address| {
            let at = symbols.at(address)?;
            Some(symbols.function(at)?.name.as_str())
        };
        assert_eq!(name(0xffff_ffff_8100_0000), Some("first"));
        // Padding before a function is attributed to the previous one.
        assert_eq!(name(0xffff_ffff_8100_001f), Some("first"));
        assert_eq!(name(0xffff_ffff_8100_0020), Some("second"));
        assert_eq!(name(0xffff_ffff_c000_0001), Some("third"));
        assert_eq!(name(0xffff_ffff_80ff_ffff), None);
        assert_eq!(name(0xffff_ffff_9000_0000), None);
        let third = symbols.at(0xffff_ffff_c000_0000).unwrap();
        let module = symbols.function(third).unwrap().module.as_deref();
        assert_eq!(module, Some("gpu_sched"));
    }

    #[test]
    fn aliases_are_kept() {
        let symbols = Symbols::parse(TEXT).unwrap();
        assert_eq!(symbols.addresses("__second"), [0xffff_ffff_8100_0020]);
        assert_eq!(symbols.addresses("second"), [0xffff_ffff_8100_0020]);
        assert!(symbols.addresses("data").is_empty());
        assert_eq!(symbols.count(), 3);
    }

    #[test]
    fn a_name_means_aliases_and_parts_and_nothing_that_only_begins_so() {
        let text = format!("{TEXT}ffffffff81000060 t second.isra.0\nffffffff81000080 t second_x\n");
        let symbols = Symbols::parse(&text).unwrap();
        let meant = |name: &str| -> Vec<String> { symbols.meant(name).into_iter().collect() };
        assert_eq!(meant("second"), ["second", "second.isra.0"]);
        assert_eq!(meant("__second"), ["second"]);
        assert_eq!(meant("third"), ["third [gpu_sched]"]);
        assert!(meant("data").is_empty() && meant("sec").is_empty());
    }

    #[test]
    fn what_is_no_list_of_symbols_is_refused_with_its_line() {
        let error = Symbols::parse("ffffffff81000000 T a\nx\n").unwrap_err();
        assert!(
            error.to_string().starts_with("kallsyms, line 2: "),
            "{error}"
        );
        for text in ["", "0000000000000000 T hidden\n", "zz T a\n"] {
            assert!(Symbols::parse(text).is_err(), "{text}");
        }
    }
}
