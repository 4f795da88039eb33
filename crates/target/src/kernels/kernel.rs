//! A kernel whose files are on this machine.

use std::path::PathBuf;

use super::image;
use crate::Error;
use crate::fault::read;

/// One kernel whose files are on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// Its name: `debian:6.12`.
    pub name: String,
    /// Which of the kernels stored under that name: the version of its package.
    pub version: String,
    /// What `uname -r` prints on it, read from the image itself.
    pub release: String,
    /// The image, bzImage or ELF.
    pub image: PathBuf,
    /// The directory `…/lib/modules/RELEASE`.
    pub modules: Option<PathBuf>,
    /// Its configuration.
    pub config: Option<PathBuf>,
    /// The directory to give to `make -C` when building a module.
    pub headers: Option<PathBuf>,
    /// The directory with the programs of a compiler that was fetched for it, to be
    /// searched before PATH.
    pub compiler: Option<PathBuf>,
    /// Whether building a module for it runs only programs that the distribution or the user
    /// provides; otherwise its headers hold programs whose sources somebody else may have written.
    pub trusted: bool,
    /// The BLAKE3 digest of the image, in hexadecimal.
    pub digest: String,
}

impl Kernel {
    /// What `uname -v` will print on it, if the image contains that.
    #[must_use]
    pub fn version_line(&self) -> Option<String> {
        image::version(&std::fs::read(&self.image).ok()?)
    }

    /// Returns which of these options (`CONFIG_X`) are built in; `None` if the
    /// configuration is not available.
    ///
    /// # Errors
    /// The configuration cannot be read.
    pub(crate) fn built_in<'a>(&self, options: &[&'a str]) -> Result<Option<Vec<&'a str>>, Error> {
        let Some(config) = &self.config else {
            return Ok(None);
        };
        let text = read(config)?;
        let text = String::from_utf8_lossy(&text);
        let is_on = |option: &&str| {
            text.lines()
                .any(|line| line.strip_prefix(*option) == Some("=y"))
        };
        Ok(Some(options.iter().copied().filter(is_on).collect()))
    }

    /// A kernel with only a configuration.
    #[cfg(test)]
    pub(crate) fn of_config(name: &str, config: &std::path::Path) -> Kernel {
        Kernel {
            name: name.into(),
            version: "1".into(),
            release: "1".into(),
            image: PathBuf::new(),
            modules: None,
            config: Some(config.to_owned()),
            headers: None,
            compiler: None,
            trusted: true,
            digest: String::new(),
        }
    }
}
