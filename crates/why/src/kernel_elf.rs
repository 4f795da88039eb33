//! The symbols and types of a kernel as an ELF file, for debuggers.
//!
//! The file has no code: debuggers read that from the machine. It has two empty sections, for code
//! and data, since debuggers tell functions from variables by the section of a symbol.

use crate::Error;
use crate::kernel_types::{Dwarf, kernel_types};
use crate::symbols::{KERNEL, KallsymsLine, kallsyms};

/// Sizes in bytes of ELF's file header, section headers and symbols; number of sections.
const HEADER: u64 = 64;
const SECTION: u64 = 64;
const SYMBOL: u64 = 24;
const SECTIONS: u64 = 9;
/// Start and size of the addresses of the kernel's code and its modules.
const CODE: u64 = 0xffff_ffff_8000_0000;
const CODE_SIZE: u64 = 0x7f00_0000;
/// The names of the sections; section headers refer to them by offset.
const NAMES: &[u8] = b"\0.text\0.data\0.symtab\0.strtab\0.debug_abbrev\0.debug_info\0.debug_str\0";

/// A symbol of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelSymbol {
    /// The address, or for a per-CPU variable its offset.
    pub address: u64,
    /// Its name.
    pub name: String,
    /// Whether it is code.
    pub is_code: bool,
}

/// Parses `/proc/kallsyms`; the symbols keep its order.
///
/// # Errors
/// If a line is malformed.
pub fn kernel_symbols(text: &str) -> Result<Vec<KernelSymbol>, Error> {
    let owned = |line: KallsymsLine<'_>| KernelSymbol {
        address: line.address,
        name: line.name.to_owned(),
        is_code: line.is_code,
    };
    kallsyms(text).map(|line| line.map(owned)).collect()
}

/// Builds an ELF file with these symbols and, from BTF, the kernel's types.
///
/// # Errors
/// If the BTF is malformed.
pub fn kernel_elf(symbols: &[KernelSymbol], btf: Option<&[u8]>) -> Result<Vec<u8>, Error> {
    let types = match btf {
        Some(btf) => kernel_types(btf).ok_or(Error::Types("cut off or missing"))?,
        None => Dwarf::default(),
    };
    let (mut table, mut names) = (vec![0; 24], vec![0]);
    for symbol in symbols {
        // A global function, variable or absolute number.
        let (info, section): (u8, u16) = match (symbol.is_code, symbol.address >= KERNEL) {
            (true, _) => (0x12, 1),
            (false, true) => (0x11, 2),
            (false, false) => (0x11, 0xfff1),
        };
        let name = u32::try_from(names.len()).unwrap_or_default();
        table.extend(name.to_le_bytes());
        table.extend([info, 0]);
        table.extend(section.to_le_bytes());
        table.extend(symbol.address.to_le_bytes());
        table.extend(0_u64.to_le_bytes());
        names.extend(symbol.name.as_bytes());
        names.push(0);
    }
    let (table_size, names_size) = (table.len() as u64, names.len() as u64);
    let table_at = HEADER + SECTIONS * SECTION;
    let names_at = table_at + table_size;
    let own_at = names_at + names_size;
    let first_at = own_at + NAMES.len() as u64;
    let [first, second, third] = [
        types.abbreviations.len() as u64,
        types.entries.len() as u64,
        types.strings.len() as u64,
    ];
    let mut file = header();
    // Name, type, flags, address, offset, size, link, info, alignment, size of an entry.
    let sections: [[u64; 10]; 9] = [
        [0; 10],
        [1, 8, 2 | 4, CODE, 0, CODE_SIZE, 0, 0, 16, 0],
        [7, 8, 2 | 1, KERNEL, 0, 0, 0, 0, 16, 0],
        [13, 2, 0, 0, table_at, table_size, 4, 1, 8, SYMBOL],
        [21, 3, 0, 0, names_at, names_size, 0, 0, 1, 0],
        [0, 3, 0, 0, own_at, NAMES.len() as u64, 0, 0, 1, 0],
        [29, 1, 0, 0, first_at, first, 0, 0, 1, 0],
        [43, 1, 0, 0, first_at + first, second, 0, 0, 1, 0],
        [55, 1, 0, 0, first_at + first + second, third, 0, 0, 1, 0],
    ];
    for section in sections {
        file.extend(section_header(section));
    }
    file.extend(table);
    file.extend(names);
    file.extend(NAMES);
    file.extend(types.abbreviations);
    file.extend(types.entries);
    file.extend(types.strings);
    Ok(file)
}

fn section_header(fields: [u64; 10]) -> Vec<u8> {
    let [
        name,
        kind,
        flags,
        address,
        offset,
        size,
        link,
        info,
        alignment,
        entry,
    ] = fields;
    let mut header = Vec::new();
    for word in [name, kind] {
        header.extend(low(word));
    }
    for word in [flags, address, offset, size] {
        header.extend(word.to_le_bytes());
    }
    for word in [link, info] {
        header.extend(low(word));
    }
    for word in [alignment, entry] {
        header.extend(word.to_le_bytes());
    }
    header
}

fn low(word: u64) -> [u8; 4] {
    let [a, b, c, d, ..] = word.to_le_bytes();
    [a, b, c, d]
}

/// The file header of an x86-64 executable with nine section headers after it.
fn header() -> Vec<u8> {
    let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1];
    file.resize(16, 0);
    let halves = |file: &mut Vec<u8>, all: &[u16]| {
        for half in all {
            file.extend(half.to_le_bytes());
        }
    };
    halves(&mut file, &[2, 62]);
    file.extend(1_u32.to_le_bytes());
    // Entry, program headers, section headers.
    for word in [0, 0, HEADER] {
        file.extend(word.to_le_bytes());
    }
    file.extend(0_u32.to_le_bytes());
    halves(&mut file, &[64, 56, 0, 64, 9, 5]);
    file
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    const TEXT: &str = "0000000000001000 A cpu_number\n\
                        ffffffff81000000 T _text\n\
                        ffffffff82000000 D jiffies\n\
                        ffffffffc0001000 t drm_sched_main\t[gpu_sched]\n";

    #[test]
    fn a_reader_of_elf_finds_each_symbol_at_its_address() {
        let file = kernel_elf(&kernel_symbols(TEXT).unwrap(), None).unwrap();
        let elf = goblin::elf::Elf::parse(&file).unwrap();
        let found: Vec<(&str, u64, bool)> = elf
            .syms
            .iter()
            .skip(1)
            .map(|one| {
                let name = elf.strtab.get_at(one.st_name).unwrap();
                (name, one.st_value, one.is_function())
            })
            .collect();
        let want = [
            ("cpu_number", 0x1000, false),
            ("_text", 0xffff_ffff_8100_0000, true),
            ("jiffies", 0xffff_ffff_8200_0000, false),
            ("drm_sched_main", 0xffff_ffff_c000_1000, true),
        ];
        assert_eq!(found, want);
        let sections = elf.section_headers.iter();
        let names: Vec<&str> = sections
            .map(|one| elf.shdr_strtab.get_at(one.sh_name).unwrap())
            .collect();
        assert_eq!(names[..5], ["", ".text", ".data", ".symtab", ".strtab"]);
    }

    #[test]
    fn a_line_that_is_no_symbol_is_named() {
        let error = kernel_symbols("ffffffff81000000 T _text\nxyz\n").unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
    }
}
