//! Reads dpkg's database of installed packages.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::apt::{Stanza, stanzas};
use crate::elf::ProgramHost;
use crate::fault::{list, mend, read, wrong};

const DATABASE: &str = "/var/lib/dpkg";

/// The installed packages of a machine.
#[derive(Debug)]
pub(crate) struct Dpkg<'a> {
    host: &'a ProgramHost,
    /// By name; the machine's own architecture wins over others.
    installed: BTreeMap<String, Stanza>,
    /// Path of each shared library to the package that owns it.
    owners: BTreeMap<PathBuf, String>,
}

impl<'a> Dpkg<'a> {
    /// Reads the database.
    pub(crate) fn read(host: &'a ProgramHost) -> Result<Self, Error> {
        let status = format!("{DATABASE}/status");
        let text = std::fs::read(host.path_below_root(Path::new(&status))).map_err(|_| {
            let why = "this machine has no dpkg, so the contents of packages are not known";
            let mend_by = "name its programs and files under [payload] instead";
            mend(wrong("copy packages", why), mend_by)
        })?;
        let all = stanzas(&String::from_utf8_lossy(&text));
        let own = all.iter().find(|one| one.package() == "dpkg");
        let own = own.map_or_else(String::new, |one| one.architecture().to_string());
        let mut installed: BTreeMap<String, Stanza> = BTreeMap::new();
        for stanza in all.into_iter().filter(Stanza::is_installed) {
            let name = stanza.package().to_string();
            let is_own = [own.as_str(), "all"].contains(&stanza.architecture());
            if is_own || !installed.contains_key(&name) {
                installed.insert(name, stanza);
            }
        }
        let mut dpkg = Dpkg {
            host,
            installed,
            owners: BTreeMap::new(),
        };
        dpkg.owners = dpkg.owners()?;
        Ok(dpkg)
    }

    /// An installed package.
    pub(crate) fn package(&self, name: &str) -> Option<&Stanza> {
        self.installed.get(name)
    }

    /// The paths that a package installs, directories included, in the order of its list.
    pub(crate) fn paths(&self, stanza: &Stanza) -> Result<Vec<PathBuf>, Error> {
        let (name, architecture) = (stanza.package(), stanza.architecture());
        let of_one = format!("{DATABASE}/info/{name}.list");
        let of_many = format!("{DATABASE}/info/{name}:{architecture}.list");
        let file = [of_many, of_one].map(|path| self.host.path_below_root(Path::new(&path)));
        let file = file.iter().find(|path| path.exists());
        let file = file.ok_or_else(|| {
            let error = wrong(
                format!("copy the package {name}"),
                "dpkg has no list of its files",
            );
            mend(error, format!("run `apt-get install --reinstall {name}`"))
        })?;
        let text = read(file)?;
        let text = String::from_utf8_lossy(&text);
        Ok(text.lines().map(PathBuf::from).collect())
    }

    /// The package that owns a shared library.
    pub(crate) fn owner(&self, library: &Path) -> Option<&str> {
        let found = |path: &Path| self.owners.get(&with_usr(path));
        found(library)
            .or_else(|| found(&self.host.real(library)))
            .map(String::as_str)
    }

    fn owners(&self) -> Result<BTreeMap<PathBuf, String>, Error> {
        let mut owners = BTreeMap::new();
        let info = self.host.path_below_root(Path::new(DATABASE)).join("info");
        for path in list(&info)? {
            let file = path.file_name().and_then(|name| name.to_str());
            let Some(name) = file.and_then(|name| name.strip_suffix(".list")) else {
                continue;
            };
            let name = name.split(':').next().unwrap_or(name);
            let text = read(&path)?;
            let text = String::from_utf8_lossy(&text);
            for line in text.lines().filter(|line| line.contains(".so")) {
                owners.insert(with_usr(Path::new(line)), name.to_string());
            }
        }
        Ok(owners)
    }

    /// The links of Debian's alternatives system: link, its target below
    /// `/etc/alternatives`, and the target of that.
    pub(crate) fn alternatives(&self) -> Vec<(String, String, String)> {
        let directory = self
            .host
            .path_below_root(Path::new(DATABASE))
            .join("alternatives");
        // The directory does not exist if there are no alternatives.
        let files = list(&directory).unwrap_or_default();
        let mut links = Vec::new();
        for file in files {
            let Some(name) = file.file_name().and_then(|name| name.to_str()) else {
                continue;
            };
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            let head = text.lines().skip(1).take_while(|line| !line.is_empty());
            let head: Vec<&str> = head.collect();
            let Some((link, others)) = head.split_first() else {
                continue;
            };
            let others = others.chunks_exact(2).map(|pair| (pair[0], pair[1]));
            for (name, link) in std::iter::once((name, *link)).chain(others) {
                let middle = format!("/etc/alternatives/{name}");
                let target = std::fs::read_link(self.host.path_below_root(Path::new(&middle)));
                if let Ok(target) = target {
                    let target = target.to_string_lossy().into_owned();
                    links.push((link.to_string(), middle, target));
                }
            }
        }
        links
    }
}

/// Prefixes `/lib`, `/bin` and `/sbin` with `/usr`, where these files are today: package
/// lists contain both forms.
fn with_usr(path: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    match ["/lib", "/bin", "/sbin"]
        .iter()
        .any(|old| text.starts_with(old))
    {
        true => PathBuf::from(format!("/usr{text}")),
        false => path.to_path_buf(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    fn host(files: &[(&str, &str)]) -> (tempfile::TempDir, ProgramHost) {
        let place = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = place.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let host = ProgramHost::at_root(place.path(), Vec::new());
        (place, host)
    }

    const STATUS: &str = "Package: dpkg\nStatus: install ok installed\nArchitecture: amd64\n\n\
        Package: a\nStatus: install ok installed\nArchitecture: i386\nVersion: 1\n\n\
        Package: a\nStatus: install ok installed\nArchitecture: amd64\nVersion: 2\n\n\
        Package: gone\nStatus: deinstall ok config-files\nArchitecture: amd64\n";

    #[test]
    fn what_is_installed_is_known_with_its_files_and_owners() {
        let (_place, host) = host(&[
            ("var/lib/dpkg/status", STATUS),
            (
                "var/lib/dpkg/info/a:amd64.list",
                "/.\n/lib/x/liba.so.1\n/usr/bin/a\n",
            ),
            ("var/lib/dpkg/info/a:i386.list", "/lib/y/liba.so.1\n"),
        ]);
        let dpkg = Dpkg::read(&host).unwrap();
        assert!(dpkg.package("gone").is_none() && dpkg.package("none").is_none());
        let a = dpkg.package("a").unwrap();
        assert_eq!(a.version(), "2", "the machine's own architecture");
        let paths = dpkg.paths(a).unwrap();
        assert_eq!(
            paths[1..],
            ["/lib/x/liba.so.1", "/usr/bin/a"].map(PathBuf::from)
        );
        let owner = |path: &str| dpkg.owner(Path::new(path)).map(String::from);
        assert_eq!(owner("/usr/lib/x/liba.so.1").as_deref(), Some("a"));
        assert_eq!(owner("/lib/x/libb.so.1"), None);
        let dpkg_itself = dpkg.package("dpkg").unwrap();
        let error = dpkg.paths(dpkg_itself).unwrap_err().to_string();
        assert!(error.contains("no list of its files"), "{error}");
    }

    #[test]
    fn a_machine_without_dpkg_is_told() {
        let (_place, host) = host(&[]);
        let error = Dpkg::read(&host).unwrap_err().to_string();
        assert!(error.contains("has no dpkg"), "{error}");
    }

    #[test]
    fn alternatives_have_a_link_for_each_name() {
        let (place, host) = host(&[
            ("var/lib/dpkg/status", STATUS),
            (
                "var/lib/dpkg/alternatives/play",
                "auto\n/usr/bin/play\nplay.1\n/usr/share/man/play.1\n\n/usr/bin/one\n5\n\n",
            ),
        ]);
        let links = place.path().join("etc/alternatives");
        std::fs::create_dir_all(&links).unwrap();
        std::os::unix::fs::symlink("/usr/bin/one", links.join("play")).unwrap();
        std::fs::create_dir_all(place.path().join("var/lib/dpkg/info")).unwrap();
        let dpkg = Dpkg::read(&host).unwrap();
        let found = dpkg.alternatives();
        let wanted = ["/usr/bin/play", "/etc/alternatives/play", "/usr/bin/one"];
        let wanted = wanted.map(String::from);
        assert_eq!(found, [wanted.into()]);
    }
}
