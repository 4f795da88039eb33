//! Properties that vary from one boot of a machine to the next.

use serde::{Deserialize, Serialize};

/// Random choices that determine the state in a memory image.
///
/// A verdict over runs that all start from one image holds for that image only. Its memory
/// layout and what its kernel did before are as accidental as on a real machine after a
/// boot, so they are drawn anew for each image. The default is a machine for which nothing
/// was drawn.
///
/// The choices are passed on the kernel's command line, so that the command line determines the
/// machine.
///
/// ```
/// use assize_job::MemoryImage;
/// let image = MemoryImage { processes: 3, ..MemoryImage::default() };
/// let line = format!("quiet {}", image.words().join(" "));
/// assert_eq!(MemoryImage::from_command_line(&line), image);
/// assert_eq!(MemoryImage::without(&line), "quiet");
/// assert!(MemoryImage::default().words().is_empty());
/// ```
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(deny_unknown_fields, default)]
pub struct MemoryImage {
    /// Microseconds of guest time to wait before the image is taken, in addition to the
    /// usual wait.
    pub settle_us: u32,
    /// Processes that start and exit before the image is taken.
    pub processes: u32,
    /// How far down the stacks of the workload's processes are shifted, in bytes. For
    /// programs, a padding variable in their environment does this.
    pub padding: u32,
    /// Seed for the loading order of modules that can be loaded in any order; 0 for the
    /// order in which they are named.
    pub modules: u32,
    /// Index of the code layout of the testbed's modules, below [`MemoryImage::BUILDS`]; 0 is the
    /// order of the source.
    pub build: u32,
    /// Seed for the kernel's addresses; 0 for the addresses it was linked for.
    pub addresses: u32,
}

impl MemoryImage {
    /// Prefix of the kernel parameters with these choices.
    pub const PREFIX: &str = "assize.drawn.";
    /// Number of code layouts of the testbed's modules.
    pub const BUILDS: u32 = 3;

    /// Whether this is the default image, for which nothing was chosen at random.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == MemoryImage::default()
    }

    /// The choices as kernel parameters; none for the default image.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        if self.is_plain() {
            return Vec::new();
        }
        let mut all = *self;
        let prefix = MemoryImage::PREFIX;
        let word = |(name, value): (&str, &mut u32)| format!("{prefix}{name}={value}");
        all.words_and_values().map(word).into()
    }

    /// Parses the choices from a command line. Missing ones have their defaults.
    #[must_use]
    pub fn from_command_line(line: &str) -> MemoryImage {
        let mut image = MemoryImage::default();
        for (name, value) in image.words_and_values() {
            let mut words = line.split_ascii_whitespace();
            let parsed = words.find_map(|word| {
                let rest = word.strip_prefix(MemoryImage::PREFIX)?.strip_prefix(name)?;
                rest.strip_prefix('=')?.parse().ok()
            });
            *value = parsed.unwrap_or_default();
        }
        image
    }

    /// A command line without these parameters: the part that all images have in common.
    #[must_use]
    pub fn without(line: &str) -> String {
        let words = line.split_ascii_whitespace();
        let words: Vec<&str> = words
            .filter(|word| !word.starts_with(MemoryImage::PREFIX))
            .collect();
        words.join(" ")
    }

    fn words_and_values(&mut self) -> [(&'static str, &mut u32); 6] {
        [
            ("settle_us", &mut self.settle_us),
            ("processes", &mut self.processes),
            ("padding", &mut self.padding),
            ("modules", &mut self.modules),
            ("build", &mut self.build),
            ("addresses", &mut self.addresses),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_draw_comes_back_from_the_command_line() {
        let mut image = MemoryImage::default();
        for (number, (_, value)) in (1..).zip(image.words_and_values()) {
            *value = number;
        }
        let line = image.words().join(" ");
        assert_eq!(MemoryImage::from_command_line(&line), image);
        assert_eq!(
            line.matches(MemoryImage::PREFIX).count(),
            image.words_and_values().len()
        );
    }

    #[test]
    fn only_whole_words_say_what_was_drawn() {
        let line = "x.assize.drawn.processes=1 assize.drawn.process=2 \
                    assize.drawn.processes=many assize.drawn.processesx=4 assize.drawn=5";
        assert_eq!(MemoryImage::from_command_line(line), MemoryImage::default());
        let line = "a  assize.drawn.processes=1 b\n";
        assert_eq!(MemoryImage::from_command_line(line).processes, 1);
        assert_eq!(MemoryImage::without(line), "a b");
    }
}
