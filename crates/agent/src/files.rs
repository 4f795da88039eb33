//! Reads files of procfs, sysfs and tracefs.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// The text of a file, or why it cannot be read.
///
/// Reads are large: tracefs returns only what fits the first read of some files
/// (events/header_page), and fewer reads leave less time for the content to change
/// between them.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    const PIECE: usize = 32 << 10;
    let failed = |why: std::io::Error| format!("{}: {why}", path.display());
    let mut file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    loop {
        let filled = bytes.len();
        bytes.resize(filled + PIECE, 0);
        match file.read(bytes.get_mut(filled..).unwrap_or_default()) {
            Ok(got) => {
                bytes.truncate(filled + got);
                if got == 0 {
                    break;
                }
            }
            Err(why) if why.kind() == ErrorKind::Interrupted => bytes.truncate(filled),
            Err(why) => return Err(failed(why)),
        }
    }
    // Thread names may contain any bytes.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
