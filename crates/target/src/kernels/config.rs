//! Kernel options that the exact machine needs.
//!
//! There is one table: the fragment that our own kernels are configured with. Its comments
//! say for each option who needs it and what for, and they are parsed here.

use std::collections::BTreeMap;
use std::fmt;

use crate::Error;
use crate::fault::{mend, wrong};

/// The fragment that kernels for the exact machine are configured with.
pub const EXACT: &str = include_str!("../../../../kernel/config/exact.config");

/// How much an option matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OptionWeight {
    /// Without it no run is possible.
    Needed,
    /// Without it a feature is missing.
    Wanted,
    /// A choice; other values would work too.
    Chosen,
}

/// The prefixes of comments on options.
const WEIGHTS: &[(&str, OptionWeight)] = &[
    ("Needed by ", OptionWeight::Needed),
    ("Wanted by ", OptionWeight::Wanted),
    ("Chosen: ", OptionWeight::Chosen),
];

/// An option in the fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedOption {
    /// `CONFIG_…`.
    pub option: String,
    /// Its value.
    pub value: String,
    /// How much it matters.
    pub weight: OptionWeight,
    /// Who wants it and what for, or why the value was chosen.
    pub why: String,
}

impl fmt::Display for WantedOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.option, self.value)
    }
}

impl WantedOption {
    /// Whether a value satisfies the wish: `y` also satisfies `m`, and a number satisfies any
    /// smaller one.
    fn is_met(&self, value: Option<&str>) -> bool {
        let value = value.unwrap_or("n");
        let number = |text: &str| text.parse::<u64>().ok();
        match (number(&self.value), number(value)) {
            (Some(least), Some(is)) => is >= least,
            _ => value == self.value || (self.value == "m" && value == "y"),
        }
    }
}

/// Parses a fragment with its comments.
///
/// # Errors
/// An option without a comment that says how much it matters, or a line that is neither an option
/// nor a comment.
pub fn wishes(text: &str) -> Result<Vec<WantedOption>, String> {
    let mut wishes = Vec::new();
    let mut comment: Option<(OptionWeight, String)> = None;
    let mut after_option = false;
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(words) = line.strip_prefix('#') {
            let words = words.trim();
            let begun = WEIGHTS
                .iter()
                .find_map(|(start, weight)| Some((*weight, words.strip_prefix(start)?)));
            match (begun, &mut comment) {
                (Some((weight, rest)), _) => comment = Some((weight, rest.to_owned())),
                (None, Some((_, said))) if !after_option => {
                    said.push(' ');
                    said.push_str(words);
                }
                _ => comment = None,
            }
            after_option = false;
        } else if line.trim().is_empty() {
            comment = None;
        } else {
            let (option, value) = assignment(line)
                .ok_or_else(|| format!("line {number}: '{line}' sets no option"))?;
            let (weight, why) = comment.clone().ok_or_else(|| {
                format!("line {number}: no comment says how much {option} matters")
            })?;
            wishes.push(WantedOption {
                option: option.to_owned(),
                value: value.to_owned(),
                weight,
                why,
            });
            after_option = true;
        }
    }
    Ok(wishes)
}

/// A kernel's configuration, as in `.config`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelConfig(BTreeMap<String, String>);

impl KernelConfig {
    /// Parses a configuration, which messages call `name`.
    ///
    /// # Errors
    /// The first line that does not belong in a configuration; a file that is compressed,
    /// is not text, or sets nothing.
    pub fn parse(bytes: &[u8], name: &str) -> Result<Self, Error> {
        let what = format!("read the configuration {name}");
        if bytes.starts_with(&[0x1f, 0x8b]) {
            let how = format!("zcat {name} | assize kernel config --check -");
            return Err(mend(wrong(what, "it is compressed"), how));
        }
        const GIVE: &str = "give the .config of a kernel's tree, or /boot/config-RELEASE";
        let text =
            std::str::from_utf8(bytes).map_err(|_| mend(wrong(&*what, "it is not text"), GIVE))?;
        let mut options = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines().map(str::trim_end)) {
            let unset = line
                .strip_prefix("# ")
                .and_then(|rest| rest.strip_suffix(" is not set"));
            let set = match unset.filter(|name| is_name(name)) {
                Some(name) => Some((name, "n")),
                None if line.is_empty() || line.starts_with('#') => continue,
                None => assignment(line),
            };
            let Some((option, value)) = set else {
                let why =
                    format!("line {number}: '{line}' is neither CONFIG_NAME=VALUE nor a comment");
                return Err(mend(wrong(what, why), GIVE));
            };
            options.insert(option.to_owned(), value.to_owned());
        }
        if options.is_empty() {
            return Err(mend(wrong(what, "it sets no option"), GIVE));
        }
        Ok(KernelConfig(options))
    }

    /// The value of an option, if the configuration names it.
    #[must_use]
    pub fn value(&self, option: &str) -> Option<&str> {
        self.0.get(option).map(String::as_str)
    }

    /// The wishes that the configuration does not meet, needed ones first. Wishes of weight
    /// [`OptionWeight::Chosen`] are ignored.
    #[must_use]
    pub fn lacks<'w>(&self, wishes: &'w [WantedOption]) -> Vec<&'w WantedOption> {
        let mut lacking: Vec<&WantedOption> = wishes
            .iter()
            .filter(|wish| wish.weight != OptionWeight::Chosen)
            .filter(|wish| !wish.is_met(self.value(&wish.option)))
            .collect();
        lacking.sort_by_key(|wish| wish.weight);
        lacking
    }

    /// The wishes of any weight whose value differs: those that Kconfig did not accept.
    #[must_use]
    pub fn not_taken<'w>(&self, wishes: &'w [WantedOption]) -> Vec<&'w WantedOption> {
        let taken = |wish: &&WantedOption| self.value(&wish.option).unwrap_or("n") == wish.value;
        wishes.iter().filter(|wish| !taken(wish)).collect()
    }
}

/// Option and value in a line.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let (option, value) = line.split_once('=')?;
    let number = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let hex = text.strip_prefix("0x").is_some_and(|hex| {
            !hex.is_empty() && hex.bytes().all(|digit| digit.is_ascii_hexdigit())
        });
        hex || (!digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()))
    };
    let quoted = value.len() >= 2 && value.starts_with('"') && value.ends_with('"');
    let is_value = matches!(value, "y" | "m" | "n") || quoted || number(value);
    (is_name(option) && is_value).then_some((option, value))
}

fn is_name(option: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    option
        .strip_prefix("CONFIG_")
        .is_some_and(|name| !name.is_empty() && name.bytes().all(plain))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail.

    use super::*;

    const SMALL: &str = "# Licence.\n\n# Needed by runs: they run,\n# all of them.\nCONFIG_A=y\n\
        CONFIG_CPUS=8\n# Wanted by x: it is there.\nCONFIG_B=m\n# Chosen: as others.\nCONFIG_C=n\n";

    fn options(wishes: &[&WantedOption]) -> Vec<String> {
        wishes.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_option_of_the_fragment_says_how_much_it_matters_and_why() {
        let all = wishes(EXACT).unwrap();
        for weight in [
            OptionWeight::Needed,
            OptionWeight::Wanted,
            OptionWeight::Chosen,
        ] {
            assert!(all.iter().any(|wish| wish.weight == weight), "{weight:?}");
        }
        for (at, wish) in all.iter().enumerate() {
            assert!(!wish.why.is_empty());
            let twice = all[..at].iter().any(|other| other.option == wish.option);
            assert!(!twice, "{wish} is there twice");
        }
    }

    #[test]
    fn the_fragment_meets_its_own_wishes_and_nothing_meets_none() {
        let all = wishes(EXACT).unwrap();
        let itself = KernelConfig::parse(EXACT.as_bytes(), "x").unwrap();
        assert!(itself.lacks(&all).is_empty() && itself.not_taken(&all).is_empty());
        let empty = KernelConfig::parse(b"CONFIG_NOTHING=y\n", "x").unwrap();
        let count = all
            .iter()
            .filter(|wish| wish.weight != OptionWeight::Chosen)
            .count();
        assert_eq!(empty.lacks(&all).len(), count);
    }

    #[test]
    fn a_comment_speaks_of_the_options_up_to_the_next() {
        let all = wishes(SMALL).unwrap();
        let why: Vec<(&str, OptionWeight, &str)> = all
            .iter()
            .map(|wish| (&*wish.option, wish.weight, &*wish.why))
            .collect();
        assert_eq!(
            why,
            [
                (
                    "CONFIG_A",
                    OptionWeight::Needed,
                    "runs: they run, all of them."
                ),
                (
                    "CONFIG_CPUS",
                    OptionWeight::Needed,
                    "runs: they run, all of them."
                ),
                ("CONFIG_B", OptionWeight::Wanted, "x: it is there."),
                ("CONFIG_C", OptionWeight::Chosen, "as others."),
            ]
        );
    }

    #[test]
    fn an_option_that_no_comment_speaks_of_is_refused() {
        for (text, why) in [
            ("CONFIG_A=y\n", "line 1: no comment"),
            (
                "# Needed by a: b\nCONFIG_A=y\n\nCONFIG_B=y\n",
                "line 4: no comment",
            ),
            (
                "# Needed by a: b\nCONFIG_A=y\n# Words.\nCONFIG_B=y\n",
                "line 4: no comment",
            ),
            ("# Needed by a: b\nA=y\n", "line 2: 'A=y' sets no option"),
        ] {
            let said = wishes(text).unwrap_err();
            assert!(said.starts_with(why), "{said}");
        }
    }

    #[test]
    fn more_cpus_and_parts_of_the_image_will_do_and_less_will_not() {
        let all = wishes(SMALL).unwrap();
        for (config, lacking) in [
            (
                "CONFIG_A=y\nCONFIG_CPUS=8192\nCONFIG_B=y\nCONFIG_C=y\n",
                &[][..],
            ),
            (
                "CONFIG_B=m\nCONFIG_A=m\nCONFIG_CPUS=7\n",
                &["CONFIG_A=y", "CONFIG_CPUS=8"],
            ),
            (
                "# CONFIG_B is not set\nCONFIG_A=y\n",
                &["CONFIG_CPUS=8", "CONFIG_B=m"],
            ),
        ] {
            let config = KernelConfig::parse(config.as_bytes(), "x").unwrap();
            assert_eq!(options(&config.lacks(&all)), lacking);
        }
    }

    #[test]
    fn what_kconfig_has_not_taken_is_named_whatever_its_weight() {
        let config = b"CONFIG_A=y\nCONFIG_CPUS=9\nCONFIG_B=m\nCONFIG_C=y\n";
        let config = KernelConfig::parse(config, "x").unwrap();
        let all = wishes(SMALL).unwrap();
        assert_eq!(
            options(&config.not_taken(&all)),
            ["CONFIG_CPUS=8", "CONFIG_C=n"]
        );
    }

    #[test]
    fn what_is_no_configuration_is_refused_with_its_line() {
        for (bytes, why) in [
            (
                &b"CONFIG_A=y\nint main(void);\n"[..],
                "line 2: 'int main(void);' is neither",
            ),
            (b"CONFIG_A=maybe\n", "line 1: "),
            (b"CONFIG_=y\n", "line 1: "),
            (b"CONFIG_A B=y\n", "line 1: "),
            (b"\x1f\x8b\x08\0", "it is compressed"),
            (b"CONFIG_A=\"\xff\"\n", "it is not text"),
            (b"# nothing\n", "it sets no option"),
            (b"", "it sets no option"),
        ] {
            let error = KernelConfig::parse(bytes, "x.config").unwrap_err();
            assert!(error.wrong_use && error.mend.is_some());
            assert!(error.why.starts_with(why), "{error}");
        }
        let fine = b"CONFIG_A=-1\nCONFIG_B=0x1F\nCONFIG_C=\"a=b c\"\nCONFIG_D=n\r\n";
        assert!(KernelConfig::parse(fine, "x").is_ok());
    }

    #[test]
    fn kernels_of_debian_lack_no_more_than_two_tracers() {
        let kernels =
            crate::kernels::Kernels::new(crate::kernels::Kernels::default_root().unwrap());
        let all = wishes(EXACT).unwrap();
        let mut seen = 0;
        for kernel in kernels.list().unwrap() {
            let (true, Some(path)) = (kernel.name.starts_with("debian:"), &kernel.config) else {
                continue;
            };
            let config = KernelConfig::parse(&std::fs::read(path).unwrap(), &kernel.name).unwrap();
            let tracers = ["CONFIG_OSNOISE_TRACER=y", "CONFIG_TIMERLAT_TRACER=y"];
            let lacking = options(&config.lacks(&all));
            match &*kernel.name {
                "debian:6.12-rt" => assert!(lacking.is_empty(), "{lacking:?}"),
                name => assert_eq!(lacking, tracers, "{name}"),
            }
            seen += 1;
        }
        if seen == 0 {
            eprintln!("skipped: no kernel of Debian is here; cargo xtask lab");
        }
    }
}
