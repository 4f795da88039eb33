//! Reads the job from QEMU's fw_cfg.

use crate::ports::{FW_CFG_DATA, FW_CFG_SELECT, Ports};

/// Item that lists the files.
const DIRECTORY: u16 = 0x19;
/// Name of the file with the job.
const JOB: &str = "opt/assize/job";
/// Size of a directory entry: size (4 bytes), item (2), reserved (2), name
/// (56); big endian.
const ENTRY: usize = 64;

/// The byte after the job's text that requests the kernel's symbols.
const SYMBOLS: u8 = b's';

/// The job, and whether to measure.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BootRequest {
    /// The text of the job.
    pub(crate) job: String,
    /// Whether to pass the kernel's symbols to the plugin after the set-up instead of
    /// measuring. Both kinds of run have a byte for this, so that they are identical up
    /// to that point.
    pub(crate) passes_symbols: bool,
}

/// Reads the job's text and the byte after it.
pub(crate) fn job(ports: Ports) -> Result<BootRequest, String> {
    let mut count = [0; 4];
    ports.write_16(FW_CFG_SELECT, DIRECTORY);
    ports.read(FW_CFG_DATA, &mut count);
    let mut found = None;
    for _ in 0..u32::from_be_bytes(count).min(4096) {
        let mut entry = [0; ENTRY];
        ports.read(FW_CFG_DATA, &mut entry);
        found = found.or_else(|| matching_item(&entry, JOB));
    }
    let Some((item, size)) = found else {
        return Err(format!("fw_cfg: {JOB}: no such file; pass it with -fw_cfg"));
    };
    let mut blob = vec![0; size as usize];
    ports.write_16(FW_CFG_SELECT, item);
    ports.read(FW_CFG_DATA, &mut blob);
    parse_blob(&blob).map_err(|why| format!("fw_cfg: {JOB}: {why}"))
}

/// Item and size of a directory entry, if it has this name.
fn matching_item(entry: &[u8; ENTRY], name: &str) -> Option<(u16, u32)> {
    let (head, rest) = entry.split_first_chunk::<4>()?;
    let (item, rest) = rest.split_first_chunk::<2>()?;
    let end = rest[2..].iter().position(|byte| *byte == 0)?;
    (&rest[2..2 + end] == name.as_bytes())
        .then(|| (u16::from_be_bytes(*item), u32::from_be_bytes(*head)))
}

/// Parses the blob: the length of the text in 8 hexadecimal digits, the text,
/// the byte for symbols, padding.
fn parse_blob(blob: &[u8]) -> Result<BootRequest, String> {
    let (digits, rest) = blob
        .split_first_chunk::<8>()
        .ok_or("shorter than the 8 digits of its length")?;
    let length = std::str::from_utf8(digits)
        .ok()
        .filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .and_then(|text| usize::from_str_radix(text, 16).ok())
        .ok_or("does not begin with 8 hexadecimal digits")?;
    let text = rest
        .get(..length)
        .ok_or_else(|| format!("{length} bytes announced, {} are there", rest.len()))?;
    let job = String::from_utf8(text.to_vec()).map_err(|_| "not UTF-8")?;
    Ok(BootRequest {
        job,
        passes_symbols: rest.get(length) == Some(&SYMBOLS),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blob_is_length_text_and_padding() {
        let request = |job: &str, passes_symbols| {
            let job = job.to_owned();
            Ok(BootRequest {
                job,
                passes_symbols,
            })
        };
        assert_eq!(parse_blob(b"00000002{}"), request("{}", false));
        assert_eq!(parse_blob(b"00000002{}\0\0\0\0"), request("{}", false));
        assert_eq!(parse_blob(b"00000002{}s"), request("{}", true));
        assert_eq!(
            parse_blob(b"0000000Aaaaaaaaaaa....s"),
            request("aaaaaaaaaa", false)
        );
        assert_eq!(parse_blob(b"00000000"), request("", false));
        for bad in [
            &b""[..],
            b"0000000",
            b"00000003{}",
            b"0000000g{}",
            b"+0000002{}",
            b"00000001\xff",
        ] {
            assert!(parse_blob(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn an_entry_is_found_by_its_whole_name() {
        let mut entry = [0; ENTRY];
        entry[..4].copy_from_slice(&300u32.to_be_bytes());
        entry[4..6].copy_from_slice(&0x29u16.to_be_bytes());
        entry[8..8 + JOB.len()].copy_from_slice(JOB.as_bytes());
        assert_eq!(matching_item(&entry, JOB), Some((0x29, 300)));
        assert_eq!(matching_item(&entry, "opt/assize/jo"), None);
        assert_eq!(matching_item(&entry, "opt/assize/job2"), None);
    }

    proptest::proptest! {
        #[test]
        fn no_blob_panics(blob: Vec<u8>) {
            let _ = parse_blob(&blob);
        }

        #[test]
        fn what_is_packed_comes_out(text in "\\PC*", padding in 0usize..64) {
            let mut blob = format!("{:08x}{text}", text.len()).into_bytes();
            blob.resize(blob.len() + padding, 0);
            assert_eq!(parse_blob(&blob).map(|request| request.job), Ok(text));
        }
    }
}
