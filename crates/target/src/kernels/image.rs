//! Reads release and version from a kernel image.

/// The release in an image, as `uname -r` will print it; otherwise, why the bytes are not a
/// kernel image.
pub(super) fn release(bytes: &[u8]) -> Result<String, String> {
    if bytes.get(0x202..0x206) == Some(b"HdrS") {
        return from_bzimage(bytes)
            .ok_or_else(|| "it is a bzImage whose header names no version".into());
    }
    if bytes.starts_with(b"\x7fELF") {
        return from_vmlinux(bytes)
            .ok_or_else(|| "it is an ELF file, but not a kernel: no 'Linux version' in it".into());
    }
    Err("it is not a kernel image: neither a bzImage nor an ELF vmlinux".into())
}

/// The version of the kernel in these bytes, as `uname -v` will print it: the text after
/// its release from the first `#`, if the image has it.
pub(super) fn version(bytes: &[u8]) -> Option<String> {
    let text = if bytes.get(0x202..0x206) == Some(b"HdrS") {
        bytes.get(banner_of_bzimage(bytes)?..)?
    } else {
        banner_of_vmlinux(bytes)?
    };
    let end = |byte: &u8| matches!(byte, 0 | b'\n');
    let line = &text[..text.iter().take(1024).position(end)?];
    let line = std::str::from_utf8(line).ok()?;
    let version = &line[line.find(" #")? + 1..];
    Some(version.trim_end().to_string())
}

/// The release in a bzImage. By the boot protocol, the 16-bit value at 0x20e plus 0x200 is
/// the offset of a string that begins with it.
fn from_bzimage(bytes: &[u8]) -> Option<String> {
    word(bytes.get(banner_of_bzimage(bytes)?..)?)
}

fn banner_of_bzimage(bytes: &[u8]) -> Option<usize> {
    let offset = u16::from_le_bytes([*bytes.get(0x20e)?, *bytes.get(0x20f)?]);
    (offset != 0).then_some(usize::from(offset) + 0x200)
}

fn from_vmlinux(bytes: &[u8]) -> Option<String> {
    word(banner_of_vmlinux(bytes)?)
}

/// The text after `Linux version `, from the release on.
fn banner_of_vmlinux(bytes: &[u8]) -> Option<&[u8]> {
    let banner = b"Linux version ";
    let mut from = 0;
    loop {
        let at = from + find(bytes.get(from..)?, banner)?;
        let rest = &bytes[at + banner.len()..];
        // Some kernels have a format string first: "Linux version %s".
        match word(rest) {
            Some(release) if release.starts_with(|c: char| c.is_ascii_digit()) => {
                return Some(rest);
            }
            _ => from = at + banner.len(),
        }
    }
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|w| w == needle)
}

fn word(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().take(256).position(|b| *b == b' ' || *b == 0)?;
    let word = std::str::from_utf8(&bytes[..end]).ok()?;
    // It is used in paths.
    let plain = |c: char| c.is_ascii_alphanumeric() || "+-._~".contains(c);
    (!word.is_empty() && word != ".." && word.chars().all(plain)).then(|| word.to_string())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The smallest file that passes for a bzImage.
    pub(in crate::kernels) fn bzimage(banner: &str) -> Vec<u8> {
        let mut bytes = vec![0; 0x400];
        bytes[0x202..0x206].copy_from_slice(b"HdrS");
        bytes[0x20e..0x210].copy_from_slice(&0x100_u16.to_le_bytes());
        bytes[0x300..0x300 + banner.len()].copy_from_slice(banner.as_bytes());
        bytes
    }

    #[test]
    fn the_release_of_a_bzimage_is_the_first_word_of_its_version() {
        let image = bzimage("6.12.117+deb12-amd64 (debian-kernel@lists) #1 SMP");
        assert_eq!(release(&image).unwrap(), "6.12.117+deb12-amd64");
    }

    #[test]
    fn the_release_of_a_vmlinux_follows_its_banner() {
        let image = b"\x7fELF Linux version %s (%s) Linux version 7.2.1-x (gcc) #1\0";
        assert_eq!(release(image).unwrap(), "7.2.1-x");
    }

    #[test]
    fn the_version_is_what_uname_prints() {
        let image = bzimage("6.1 (me@here) #1 SMP Debian 6.1.2-1 (2026-01-01)");
        let said = version(&image);
        assert_eq!(said.as_deref(), Some("#1 SMP Debian 6.1.2-1 (2026-01-01)"));
        let image = b"\x7fELF Linux version 7.2 (me@here) (gcc 14) #3 SMP today\n\0";
        assert_eq!(version(image).as_deref(), Some("#3 SMP today"));
        assert_eq!(version(&bzimage("6.1 nothing")), None);
        assert_eq!(version(b""), None);
    }

    #[test]
    fn what_is_no_kernel_is_refused() {
        let mut odd = bzimage("6.1 x");
        odd[0x20e..0x210].copy_from_slice(&0xffff_u16.to_le_bytes());
        let traversal = bzimage("../../x y");
        for bytes in [
            &b""[..],
            b"hello",
            b"\x7fELF",
            &odd,
            &traversal,
            &[0; 0x210],
        ] {
            assert!(release(bytes).is_err());
        }
    }
}
