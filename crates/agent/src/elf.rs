//! Fields and build ids in kernel modules and notes.

/// Type of the note that holds the build id.
const NT_GNU_BUILD_ID: u32 = 3;

/// The value of a field of a module's section `.modinfo`.
pub(crate) fn module_field(file: &[u8], field: &str) -> Option<String> {
    let texts = section(file, ".modinfo")?.split(|byte| *byte == 0);
    let mut values = texts.filter_map(|text| {
        let (name, value) = std::str::from_utf8(text).ok()?.split_once('=')?;
        (name == field).then(|| value.to_string())
    });
    values.next()
}

/// The build id of a module file.
pub(crate) fn module_build_id(file: &[u8]) -> Option<String> {
    build_id(section(file, ".note.gnu.build-id")?)
}

/// Finds the build id among ELF notes. Returns it in hexadecimal digits.
pub(crate) fn build_id(mut notes: &[u8]) -> Option<String> {
    loop {
        let word = |at: usize| {
            let bytes = notes.get(at..at + 4)?;
            Some(u32::from_ne_bytes(bytes.try_into().ok()?))
        };
        let size = |at: usize| usize::try_from(word(at)?).ok();
        let (name_size, size, kind) = (size(0)?, size(4)?, word(8)?);
        let name_end = 12_usize.checked_add(name_size)?;
        let start = name_end.checked_next_multiple_of(4)?;
        let end = start.checked_add(size)?;
        let (name, bytes) = (notes.get(12..name_end)?, notes.get(start..end)?);
        if kind == NT_GNU_BUILD_ID && name == b"GNU\0" {
            return Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        notes = notes.get(end.checked_next_multiple_of(4)?..)?;
    }
}

/// A section of a 64-bit ELF file, by name.
fn section<'a>(file: &'a [u8], name: &str) -> Option<&'a [u8]> {
    if !file.starts_with(b"\x7fELF\x02") {
        return None;
    }
    let number = |bytes: &[u8], at: usize, size: usize| {
        let mut word = [0; 8];
        word.get_mut(..size)?
            .copy_from_slice(bytes.get(at..at.checked_add(size)?)?);
        usize::try_from(u64::from_le_bytes(word)).ok()
    };
    let (table, size) = (number(file, 0x28, 8)?, number(file, 0x3a, 2)?);
    let (count, names) = (number(file, 0x3c, 2)?, number(file, 0x3e, 2)?);
    let header = |at: usize| {
        let start = table.checked_add(at.checked_mul(size)?)?;
        file.get(start..start.checked_add(size)?)
    };
    let bytes = |header: &[u8]| {
        let start = number(header, 0x18, 8)?;
        file.get(start..start.checked_add(number(header, 0x20, 8)?)?)
    };
    let names = bytes(header(names)?)?;
    (0..count).find_map(|at| {
        let header = header(at)?;
        let own = names.get(number(header, 0, 4)?..)?;
        let own = own.split(|byte| *byte == 0).next()?;
        (own == name.as_bytes()).then(|| bytes(header))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn note(name: &[u8], kind: u32, value: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for number in [name.len() as u32, value.len() as u32, kind] {
            bytes.extend(number.to_ne_bytes());
        }
        bytes.extend(name);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn the_build_id_is_found_among_other_notes() {
        let notes = [note(b"Xen\0", 3, &[9; 5]), note(b"GNU\0", 3, &[1, 0xab])].concat();
        assert_eq!(build_id(&notes).as_deref(), Some("01ab"));
        assert_eq!(build_id(&notes[..20]), None);
        assert_eq!(build_id(&[]), None);
    }

    #[test]
    fn the_running_kernel_says_its_build_id() {
        // A container may hide it.
        if let Ok(notes) = std::fs::read("/sys/kernel/notes") {
            assert!(build_id(&notes).is_some_and(|id| id.len() >= 16));
        }
    }

    proptest! {
        #[test]
        fn nothing_can_make_it_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            build_id(&bytes);
            bytes.splice(0..0, *b"\x7fELF\x02");
            module_field(&bytes, "name");
        }
    }
}
