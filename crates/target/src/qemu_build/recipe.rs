//! The recipe for the patched QEMU: the folder `qemu/`, embedded in this binary.

use crate::Error;
use crate::fault::{failed, mend};
use crate::kernels::compare_versions;
use crate::parts_hash::PartsHash;

/// Every file that a build reads: path below `qemu/` and text.
const OURS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/qemu.rs"));

/// The table of files to fetch, with their hashes.
const SOURCE: &str = "source";
/// The arguments of QEMU's configure.
const CONFIGURE: &str = "configure";

/// The files of a recipe, sorted by path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recipe<'a> {
    files: &'a [(&'a str, &'a str)],
}

/// One line of the table of sources: a file that is known to be good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KnownFile {
    /// The kind of its contents.
    pub(super) what: FetchedPart,
    /// Its upstream version: `10.0.13`.
    pub(super) version: String,
    /// Its name.
    pub(super) file: String,
    /// SHA-256 of its bytes, in lower-case hexadecimal.
    pub(super) sha256: String,
}

/// The contents of a fetched file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FetchedPart {
    /// QEMU's sources.
    Qemu,
    /// Meson, which configures it.
    Wheel,
}

/// How far a source package is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SourceTrust {
    /// The package is in the table.
    Known,
    /// The package is newer than one of the same series in the table; only the archive's signature
    /// vouches for it.
    Newer,
}

impl<'a> Recipe<'a> {
    /// The recipe embedded in this binary.
    pub(super) fn ours() -> Recipe<'static> {
        Recipe { files: OURS }
    }

    #[cfg(test)]
    pub(super) fn with_files(files: &'a [(&'a str, &'a str)]) -> Self {
        Recipe { files }
    }

    fn text(&self, name: &str) -> &'a str {
        let mut files = self.files.iter();
        files
            .find(|(path, _)| *path == name)
            .map_or("", |(_, text)| text)
    }

    /// Names and texts of the patches, in the order in which they apply.
    pub(super) fn patches(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let files = self.files.iter().copied();
        files.filter(|(path, _)| path.starts_with("patches/"))
    }

    /// The arguments of QEMU's configure.
    pub(super) fn configure(&self) -> Vec<&'a str> {
        let lines = self.text(CONFIGURE).lines().map(str::trim);
        lines
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .collect()
    }

    /// A hash of the patches and the configure arguments. It does not cover QEMU's version, which
    /// is part of the directory's name.
    pub(super) fn digest(&self) -> String {
        let mut hash = PartsHash::default();
        for (path, text) in self.patches() {
            hash.add(path);
            hash.add(text);
        }
        self.configure().into_iter().for_each(|text| hash.add(text));
        hash.hex(64)
    }

    /// The table of files that are known to be good.
    pub(super) fn known_files(&self) -> Result<Vec<KnownFile>, Error> {
        let lines = self.text(SOURCE).lines().enumerate();
        let lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        lines
            .map(|(at, line)| {
                parse_known(line).map_err(|why| {
                    let place = format!("read qemu/{SOURCE}, line {}", at + 1);
                    mend(
                        failed(place, why),
                        "write: WHAT VERSION FILE SHA256, with WHAT qemu or wheel",
                    )
                })
            })
            .collect()
    }
}

fn parse_known(line: &str) -> Result<KnownFile, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [what, version, file, sha256] = words[..] else {
        return Err(format!("it has {} words, not 4", words.len()));
    };
    let what = match what {
        "qemu" => FetchedPart::Qemu,
        "wheel" => FetchedPart::Wheel,
        _ => return Err(format!("'{what}' is neither qemu nor wheel")),
    };
    if !version.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(format!("'{version}' is not a version"));
    }
    if file.contains('/') || file.starts_with('.') {
        return Err(format!("'{file}' is not a file name"));
    }
    let digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    if sha256.len() != 64 || !sha256.chars().all(digit) {
        return Err(format!(
            "'{sha256}' is not a SHA-256, which has 64 digits of 0-9 and a-f"
        ));
    }
    Ok(KnownFile {
        what,
        version: version.into(),
        file: file.into(),
        sha256: sha256.into(),
    })
}

/// Whether a source package is known or newer than a known one of its series; otherwise why not to
/// build from it.
pub(super) fn trust(known: &[KnownFile], file: &str, sha256: &str) -> Result<SourceTrust, String> {
    let qemu = || known.iter().filter(|known| known.what == FetchedPart::Qemu);
    if let Some(named) = qemu().find(|known| known.file == file) {
        return match named.sha256 == sha256 {
            true => Ok(SourceTrust::Known),
            false => Err(format!(
                "the archive's {file} is not the expected one: its SHA-256 is {sha256}, not {}",
                named.sha256
            )),
        };
    }
    let version = version_of(file).ok_or_else(|| format!("{file} has no version in its name"))?;
    let newer = |known: &KnownFile| {
        series(version) == series(&known.version)
            && compare_versions(version, &known.version).is_gt()
    };
    if qemu().any(newer) {
        return Ok(SourceTrust::Newer);
    }
    let known: Vec<&str> = qemu().map(|known| known.version.as_str()).collect();
    Err(format!(
        "the archive has QEMU {version}, and the patches are for {} and later versions of its series",
        known.join(", ")
    ))
}

/// `10.0.13` of `qemu_10.0.13+ds.orig.tar.xz`.
pub(super) fn version_of(file: &str) -> Option<&str> {
    let (_, rest) = file.split_once('_')?;
    let (version, _) = rest.split_once(".orig.tar")?;
    let end = version.find(['+', '~']).unwrap_or(version.len());
    let version = &version[..end];
    let numbers = !version.is_empty() && version.split('.').all(|n| n.parse::<u32>().is_ok());
    numbers.then_some(version)
}

/// `10.0` of `10.0.13`.
fn series(version: &str) -> Vec<&str> {
    version.split('.').take(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHA: &str = "6a0888e806c2ffc0c5f0733e974f9aea55491950d3c47c98669c8b236dde59ae";

    fn table(text: &str) -> Result<Vec<KnownFile>, Error> {
        Recipe::with_files(&[(SOURCE, text)]).known_files()
    }

    #[test]
    fn our_own_table_names_a_qemu_and_what_configures_it() {
        let ours = Recipe::ours();
        let known = ours.known_files().unwrap();
        for what in [FetchedPart::Qemu, FetchedPart::Wheel] {
            assert!(known.iter().any(|known| known.what == what));
        }
        for one in known.iter().filter(|known| known.what == FetchedPart::Qemu) {
            assert_eq!(version_of(&one.file), Some(one.version.as_str()));
        }
        let arguments = ours.configure();
        assert!(arguments.contains(&"--target-list=x86_64-softmmu"));
        assert!(arguments.iter().all(|word| word.starts_with("--")));
        assert_eq!(ours.digest().len(), 64);
    }

    #[test]
    fn a_bad_table_is_told_with_its_line() {
        let sha = &SHA[1..];
        for (line, why) in [
            ("qemu 10.0.13".to_string(), "2 words, not 4"),
            (format!("gcc 12 a.tar {SHA}"), "'gcc' is neither"),
            (format!("qemu next a.tar {SHA}"), "'next' is not a version"),
            (format!("qemu 10 ../a {SHA}"), "'../a' is not a file name"),
            (format!("qemu 10 a.tar {sha}"), "not a SHA-256"),
            (
                format!("qemu 10 a.tar {}", SHA.to_uppercase()),
                "not a SHA-256",
            ),
        ] {
            let error = table(&format!("# first\n\n{line}\n")).unwrap_err();
            assert!(error.what.contains("qemu/source, line 3"), "{error}");
            assert!(error.why.contains(why), "{error}");
        }
        assert_eq!(table("# nothing\n").unwrap(), []);
    }

    #[test]
    fn a_source_is_trusted_by_its_hash_or_as_a_newer_one_of_its_series() {
        let known = table(&format!(
            "qemu 10.0.13 qemu_10.0.13+ds.orig.tar.xz {SHA}\nwheel 1.5.0 m.whl {SHA}\n"
        ))
        .unwrap();
        let trust = |version: &str, sha: &str| {
            trust(&known, &format!("qemu_{version}+ds.orig.tar.xz"), sha)
        };
        let other = SHA.replace('6', "7");
        assert_eq!(trust("10.0.13", SHA), Ok(SourceTrust::Known));
        assert!(trust("10.0.13", &other).unwrap_err().contains(&other));
        assert_eq!(trust("10.0.14", &other), Ok(SourceTrust::Newer));
        for version in ["10.0.9", "10.1.0", "11.0.13", "x"] {
            assert!(trust(version, SHA).is_err(), "{version}");
        }
    }

    #[test]
    fn the_digest_follows_patches_and_arguments_and_nothing_else() {
        let files = [
            (CONFIGURE, "# why\n--a\n"),
            ("patches/0001.patch", "one"),
            (SOURCE, "qemu 1 a b"),
        ];
        let digest = |at: usize, text: &'static str| {
            let mut files = files;
            files[at].1 = text;
            Recipe::with_files(&files).digest()
        };
        let first = Recipe::with_files(&files).digest();
        assert_eq!(digest(0, "--a\n\n# because\n"), first);
        assert_eq!(digest(2, "qemu 2 a b"), first);
        assert_ne!(digest(0, "--b\n"), first);
        assert_ne!(digest(1, "two"), first);
        // The boundaries between texts matter.
        assert_ne!(digest(0, "--\na\n"), first);
    }
}
