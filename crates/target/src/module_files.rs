//! Names and bytes of module files.

use std::io::Read as _;
use std::path::Path;

use crate::Error;
use crate::fault::failed;

/// The file name in a path up to `.ko`, with `_` for `-`.
pub(crate) fn stem(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    canonical(file.split(".ko").next().unwrap_or(file))
}

pub(crate) fn canonical(name: &str) -> String {
    name.replace('-', "_")
}

/// Decompresses a module file if necessary.
pub(crate) fn plain(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    let result = if bytes.starts_with(b"\xfd7zXZ\0") {
        lzma_rust2::XzReader::new(bytes.as_slice(), true).read_to_end(&mut out)
    } else if bytes.starts_with(b"\x28\xb5\x2f\xfd") {
        ruzstd::decoding::StreamingDecoder::new(bytes.as_slice())
            .map_err(std::io::Error::other)
            .and_then(|mut reader| reader.read_to_end(&mut out))
    } else if bytes.starts_with(b"\x1f\x8b") {
        flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut out)
    } else {
        return Ok(bytes);
    };
    result.map_err(|error| failed(format!("unpack {}", path.display()), error))?;
    Ok(out)
}

/// Whether `text` matches a pattern with `*`, `?` and `[…]`.
pub(crate) fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    let mut star = None;
    while t < text.len() {
        if pattern.get(p) == Some(&'*') {
            star = Some((p, t));
            p += 1;
        } else if let Some(next) = one(&pattern, p, text[t]) {
            (p, t) = (next, t + 1);
        } else if let Some((at, from)) = star {
            (p, t) = (at + 1, from + 1);
            star = Some((at, from + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// The position after the next element of the pattern, if that element matches this
/// character.
fn one(pattern: &[char], at: usize, c: char) -> Option<usize> {
    match pattern.get(at)? {
        '?' => Some(at + 1),
        '[' => {
            let end = at + pattern[at..].iter().position(|c| *c == ']')?;
            let set = &pattern[at + 1..end];
            let ranges = set
                .windows(3)
                .any(|w| w[1] == '-' && w[0] <= c && c <= w[2]);
            (ranges || set.contains(&c)).then_some(end + 1)
        }
        other => (*other == c).then_some(at + 1),
    }
}
