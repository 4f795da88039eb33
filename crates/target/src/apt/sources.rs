//! Debian mirrors.

use std::path::{Path, PathBuf};

/// URLs of the main archive and of its security updates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mirrors {
    main: String,
    security: String,
}

/// The mirrors that this machine uses, if it runs Debian; else Debian's own.
pub(super) fn mirrors() -> Mirrors {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let debian = release.lines().any(|line| line.trim() == "ID=debian");
    let mut texts = Vec::new();
    if debian {
        let mut files = vec![PathBuf::from("/etc/apt/sources.list")];
        let parts = Path::new("/etc/apt/sources.list.d");
        files.extend(crate::fault::list(parts).unwrap_or_default());
        texts.extend(
            files
                .iter()
                .filter_map(|file| std::fs::read_to_string(file).ok()),
        );
    }
    from_texts(&texts)
}

/// The first URL that ends in `/debian`, and the first that ends in `/debian-security`.
fn from_texts(texts: &[String]) -> Mirrors {
    let addresses: Vec<&str> = texts
        .iter()
        .flat_map(|text| text.lines())
        .filter(|line| !line.trim_start().starts_with('#'))
        .flat_map(str::split_whitespace)
        .filter(|word| word.starts_with("http://") || word.starts_with("https://"))
        .map(|word| word.trim_end_matches('/'))
        .collect();
    let ending = |end: &str, default: &str| {
        let found = addresses.iter().find(|address| address.ends_with(end));
        found.map_or_else(|| default.to_string(), ToString::to_string)
    };
    Mirrors {
        main: ending("/debian", "http://deb.debian.org/debian"),
        security: ending("/debian-security", "http://deb.debian.org/debian-security"),
    }
}

/// The text of a `sources.list` with a line of each kind (`deb`, `deb-src`) for each of
/// these suites.
pub(super) fn list(mirrors: &Mirrors, suites: &[&str], kinds: &[&str], keyring: &str) -> String {
    let mut text = String::new();
    for suite in suites {
        let address = match suite.ends_with("-security") {
            true => &mirrors.security,
            false => &mirrors.main,
        };
        for kind in kinds {
            text += &format!("{kind} [arch=amd64 signed-by={keyring}] {address} {suite} main\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_mirror_is_kept_in_both_notations() {
        let one = "# deb http://no.example/debian x main\n\
            deb [signed-by=/x] https://mirror.example/debian/ bookworm main\n\
            deb https://packages.example/apt other main\n";
        let two = "Types: deb\nURIs: http://sec.example/debian-security/\nSuites: x\n";
        assert_eq!(
            from_texts(&[one.to_string(), two.to_string()]),
            Mirrors {
                main: "https://mirror.example/debian".into(),
                security: "http://sec.example/debian-security".into(),
            }
        );
    }

    #[test]
    fn without_sources_debians_own_are_used_and_verified() {
        let text = list(
            &from_texts(&[]),
            &["bookworm", "bookworm-security"],
            &["deb"],
            "/k.gpg",
        );
        assert_eq!(
            text,
            "deb [arch=amd64 signed-by=/k.gpg] http://deb.debian.org/debian bookworm main\n\
             deb [arch=amd64 signed-by=/k.gpg] http://deb.debian.org/debian-security \
             bookworm-security main\n"
        );
        let both = list(&from_texts(&[]), &["trixie"], &["deb", "deb-src"], "/k.gpg");
        let kinds = both.lines().map(|line| line.split(' ').next());
        assert!(kinds.eq([Some("deb"), Some("deb-src")]), "{both}");
    }
}
