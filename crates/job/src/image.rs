//! What varies from one boot of a machine to the next.

use serde::{Deserialize, Serialize};

/// How a machine came to the state that its memory image holds.
///
/// A verdict over runs that all start from one image speaks of that image
/// only. What lies where in it, and what its kernel has done before, is as
/// accidental as it is on a real machine after a boot, so it is drawn anew for
/// each image. The default is a machine for which nothing was drawn.
///
/// What was drawn travels on the kernel's command line, so that the machine is
/// a function of it.
///
/// ```
/// use assize_job::Image;
/// let image = Image { processes: 3, ..Image::default() };
/// let line = format!("quiet {}", image.words().join(" "));
/// assert_eq!(Image::of(&line), image);
/// assert_eq!(Image::without(&line), "quiet");
/// assert!(Image::default().words().is_empty());
/// ```
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(deny_unknown_fields, default)]
pub struct Image {
    /// Microseconds of the machine's clock for which it is left alone before
    /// the image is taken, beyond those for which every machine is.
    pub settle_us: u32,
    /// Processes that have come and gone before that.
    pub processes: u32,
    /// Bytes by which the stacks of the workload's processes begin lower: of
    /// those that are programs by a variable of their environment.
    pub padding: u32,
    /// What the order is drawn from in which modules are loaded that could be
    /// loaded in any; 0 for the order in which they are named.
    pub modules: u32,
    /// Which build of the testbed's modules is loaded, below [`Image::BUILDS`]:
    /// the same code laid out in other ways, for 0 as it is written.
    pub build: u32,
    /// What the addresses of the kernel are drawn from; 0 for those that it was
    /// linked for.
    pub addresses: u32,
}

impl Image {
    /// Words of the command line that say what was drawn begin with this.
    pub const PREFIX: &str = "assize.drawn.";
    /// How many builds of the testbed's modules there are.
    pub const BUILDS: u32 = 3;

    /// Whether nothing was drawn.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Image::default()
    }

    /// What was drawn, as words of the kernel's command line; none if nothing
    /// was.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        if self.is_plain() {
            return Vec::new();
        }
        let mut all = *self;
        let prefix = Image::PREFIX;
        let word = |(name, value): (&str, &mut u32)| format!("{prefix}{name}={value}");
        all.named().map(word).into()
    }

    /// What the words of a command line say; of what they do not say, the
    /// default.
    #[must_use]
    pub fn of(line: &str) -> Image {
        let mut image = Image::default();
        for (name, value) in image.named() {
            let mut words = line.split_ascii_whitespace();
            let said = words.find_map(|word| {
                let said = word.strip_prefix(Image::PREFIX)?.strip_prefix(name)?;
                said.strip_prefix('=')?.parse().ok()
            });
            *value = said.unwrap_or_default();
        }
        image
    }

    /// A command line without these words: what it says in every image.
    #[must_use]
    pub fn without(line: &str) -> String {
        let words = line.split_ascii_whitespace();
        let words: Vec<&str> = words
            .filter(|word| !word.starts_with(Image::PREFIX))
            .collect();
        words.join(" ")
    }

    fn named(&mut self) -> [(&'static str, &mut u32); 6] {
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
        let mut image = Image::default();
        for (number, (_, value)) in (1..).zip(image.named()) {
            *value = number;
        }
        let line = image.words().join(" ");
        assert_eq!(Image::of(&line), image);
        assert_eq!(line.matches(Image::PREFIX).count(), image.named().len());
    }

    #[test]
    fn only_whole_words_say_what_was_drawn() {
        let line = "x.assize.drawn.processes=1 assize.drawn.process=2 \
                    assize.drawn.processes=many assize.drawn.processesx=4 assize.drawn=5";
        assert_eq!(Image::of(line), Image::default());
        let line = "a  assize.drawn.processes=1 b\n";
        assert_eq!(Image::of(line).processes, 1);
        assert_eq!(Image::without(line), "a b");
    }
}
