//! Parses apt's output.

/// One paragraph of `apt-cache show`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stanza {
    fields: Vec<(String, String)>,
}

impl Stanza {
    fn field(&self, name: &str) -> &str {
        let mut fields = self.fields.iter();
        let found = fields.find(|(field, _)| field.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }

    /// Its name.
    pub(crate) fn package(&self) -> &str {
        self.field("Package")
    }

    pub(crate) fn version(&self) -> &str {
        self.field("Version")
    }

    /// The architecture that the package is built for, or `all`.
    pub(crate) fn architecture(&self) -> &str {
        self.field("Architecture")
    }

    /// Whether dpkg has it installed.
    pub(crate) fn is_installed(&self) -> bool {
        self.field("Status").ends_with(" installed")
    }

    /// Whether every Debian system has the package.
    pub(crate) fn is_base(&self) -> bool {
        self.field("Essential") == "yes" || self.field("Priority") == "required"
    }

    /// The names of all packages that it may depend on, alternatives included.
    pub(crate) fn may_depend(&self) -> Vec<String> {
        let relations = self.relations();
        let names = relations.split([',', '|']).filter_map(name_in);
        names.collect()
    }

    /// The names of its dependencies; of alternatives the first.
    pub(crate) fn depends(&self) -> Vec<String> {
        let relations = self.relations();
        let firsts = relations.split(',').filter_map(|one| one.split('|').next());
        firsts.filter_map(name_in).collect()
    }

    fn relations(&self) -> String {
        [self.field("Pre-Depends"), self.field("Depends")].join(",")
    }
}

/// The name in a relation such as `libc6:any (>= 2.34)`.
fn name_in(relation: &str) -> Option<String> {
    let relation = relation.trim();
    let end = relation
        .find([' ', '(', ':', '['])
        .unwrap_or(relation.len());
    (end > 0).then(|| relation[..end].to_string())
}

/// The paragraphs of a text, with continuation lines joined.
pub(crate) fn stanzas(text: &str) -> Vec<Stanza> {
    let mut all = vec![Stanza::default()];
    for line in text.lines() {
        let count = all.len();
        let current = &mut all[count - 1];
        if line.trim().is_empty() {
            all.push(Stanza::default());
        } else if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = current.fields.last_mut() {
                value.push(' ');
                value.push_str(line.trim());
            }
        } else if let Some((name, value)) = line.split_once(':') {
            current.fields.push((name.into(), value.trim().into()));
        }
    }
    all.retain(|stanza| !stanza.package().is_empty());
    all
}

/// Name and SHA-256 of the one file `….orig.tar.…` in the output of `apt-get --print-uris
/// source`.
pub(super) fn archive(told: &str) -> Option<(String, String)> {
    told.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, file, _, hash] = words[..] else {
            return None;
        };
        let sha256 = hash.strip_prefix("SHA256:")?;
        let signature = file.ends_with(".asc") || file.ends_with(".sig");
        (file.contains(".orig.tar.") && !signature).then(|| (file.into(), sha256.into()))
    })
}

/// The line of standard error that names the problem, and how to fix it.
pub(super) fn complaint(said: &str, program: &str) -> (String, Option<String>) {
    let line = |mark: &str| said.lines().find(|line| line.starts_with(mark));
    let telling = said
        .lines()
        .find(|line| cause(line).is_some())
        .or_else(|| line("E: "))
        .or_else(|| said.lines().rfind(|line| !line.trim().is_empty()))
        .unwrap_or("it failed without a message");
    let plain = telling.trim_start_matches("E: ").trim_start_matches("W: ");
    let how = cause(said).map(String::from);
    (format!("{program}: {}", plain.trim()), how)
}

fn cause(said: &str) -> Option<&'static str> {
    let has = |parts: &[&str]| parts.iter().any(|part| said.contains(part));
    if has(&["No space left", "enough free space", "Disk quota exceeded"]) {
        return Some("free some space, or set ASSIZE_CACHE to another disk");
    }
    if has(&[
        "NO_PUBKEY",
        "not signed",
        "couldn't be verified",
        "EXPKEYSIG",
    ]) {
        return Some("apt-get install debian-archive-keyring");
    }
    if has(&["404 ", "does not have a Release file", "Release file"]) {
        return Some("check that the mirror in /etc/apt has this suite; try again later");
    }
    if has(&[
        "Could not resolve",
        "Temporary failure",
        "Could not connect",
        "Unable to connect",
        "Connection",
        "Cannot initiate",
        "timed out",
        "Failed to fetch",
    ]) {
        return Some("check the network, and the proxy in /etc/apt/apt.conf.d");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const META: &str = "Package: linux-image-6.12-amd64\n\
        Source: linux-signed-amd64 (6.12.117+1~deb12u1)\n\
        Version: 6.12.117-1~deb12u1\n\
        Depends: linux-image-6.12.117+deb12-amd64 (= 6.12.117-1~deb12u1)\n\
        Description: Linux for 64-bit PCs\n this goes\n on\n\n\
        Package: linux-headers-6.12.117+deb12-amd64\n\
        Version: 6.12.117-1~deb12u1\n\
        Pre-Depends: dpkg:any (>= 1)\n\
        Depends: linux-base (>= 4.12~), linux-headers-6.12.117+deb12-common (= 1),\
         linux-image-6.12.117+deb12-amd64 (= 1) | linux-image-unsigned (= 1), gcc-12\n";

    #[test]
    fn paragraphs_have_names_versions_and_dependencies() {
        let all = stanzas(META);
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].package(), "linux-image-6.12-amd64");
        assert_eq!(all[0].version(), "6.12.117-1~deb12u1");
        assert_eq!(all[0].depends(), ["linux-image-6.12.117+deb12-amd64"]);
        assert_eq!(
            all[1].depends(),
            [
                "dpkg",
                "linux-base",
                "linux-headers-6.12.117+deb12-common",
                "linux-image-6.12.117+deb12-amd64",
                "gcc-12"
            ]
        );
        assert_eq!(
            all[0].field("Description"),
            "Linux for 64-bit PCs this goes on"
        );
    }

    #[test]
    fn of_a_source_package_the_first_archive_is_taken() {
        let told = "'http://x/q/qemu_10.0+ds-1.dsc' qemu_10.0+ds-1.dsc 12 SHA256:aa\n\
            'http://x/q/qemu_10.0%2bds.orig.tar.xz.asc' qemu_10.0+ds.orig.tar.xz.asc 3 SHA256:bb\n\
            'http://x/q/qemu_10.0%2bds.orig.tar.xz' qemu_10.0+ds.orig.tar.xz 34 SHA256:cc\n\
            'http://x/q/qemu_10.0%2bds-1.debian.tar.xz' qemu_10.0+ds-1.debian.tar.xz 5 SHA256:dd\n";
        let found = archive(told);
        assert_eq!(
            found,
            Some(("qemu_10.0+ds.orig.tar.xz".into(), "cc".into()))
        );
        assert_eq!(
            archive("'http://x/a.orig.tar.xz' a.orig.tar.xz 1 MD5Sum:aa\n"),
            None
        );
        assert_eq!(archive(""), None);
    }

    #[test]
    fn no_text_gives_no_paragraph() {
        assert!(stanzas("").is_empty());
        assert!(stanzas("\n \nN: nothing\n").is_empty());
    }

    #[test]
    fn each_complaint_gets_its_mend() {
        for (said, why, how) in [
            (
                "E: Failed to fetch http://x/InRelease  Temporary failure resolving 'x'\nE: Some index files failed",
                "Temporary failure resolving",
                "network",
            ),
            (
                "W: GPG error: http://x sid: NO_PUBKEY 1\nE: The repository is not signed.",
                "NO_PUBKEY",
                "keyring",
            ),
            (
                "E: You don't have enough free space in /x/.",
                "free space",
                "ASSIZE_CACHE",
            ),
            (
                "E: Failed to fetch http://x/y.deb  404  Not Found",
                "404",
                "mirror",
            ),
        ] {
            let (found, mend) = complaint(said, "apt-get");
            assert!(found.contains(why), "{found}");
            assert!(mend.unwrap().contains(how), "{said}");
        }
        let said = "tar: ./x: Cannot write: No space left on device\ndpkg-deb: error: tar failed\n";
        assert!(complaint(said, "dpkg-deb").0.contains("No space left"));
        assert_eq!(complaint("", "apt-get").1, None);
        assert_eq!(complaint("odd\n\n", "apt-get").0, "apt-get: odd");
    }
}
