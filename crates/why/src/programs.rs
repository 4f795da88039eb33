//! The programs and libraries of a machine: maps instructions outside the kernel to a
//! file and function.
//!
//! Load addresses are not queried from the machine, because it must not notice that it is
//! observed. They follow from the code: a translation block belongs to a file that has
//! the same bytes at the same page offset, and all blocks of one file have the same load
//! offset. As a result, no code gets a name unless its bytes equal those of the file.

use std::collections::{BTreeMap, BTreeSet};

use goblin::elf::header::ET_EXEC;
use goblin::elf::program_header::{PF_X, PT_LOAD};
use goblin::elf::sym::{STT_FUNC, STT_GNU_IFUNC, Sym};
use goblin::elf::{Elf, Symtab};
use goblin::strtab::Strtab;

use crate::RunCounts;
use crate::profile::{UNKNOWN, USER};

/// The name of code that is in no file of the machine, such as the vDSO, which the kernel
/// maps into every process.
pub const NO_FILE: &str = "(in no file)";
/// Files are mapped by pages, which preserves page offsets.
const PAGE: u64 = 4096;
/// Only blocks of at least this many bytes are used to locate a file; shorter ones occur
/// in many places.
const TELLING: usize = 12;
/// At least this many bytes of blocks must agree on a load offset.
const ENOUGH: usize = 48;

/// A program or library.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    /// The file name without directories.
    name: String,
    /// Whether it can only be loaded at its link addresses.
    fixed: bool,
    /// Its executable segments: link address and bytes.
    texts: Vec<(u64, Vec<u8>)>,
    /// Start, length and name of its functions, sorted by address.
    functions: Vec<(u64, u64, String)>,
}

impl Program {
    /// Reads a file; `None` if it is not a 64-bit program or library. `symbols` is an
    /// unstripped version of the same program; it is ignored unless its code is
    /// identical.
    #[must_use]
    pub fn read(path: &str, bytes: &[u8], symbols: Option<&[u8]>) -> Option<Program> {
        let mut program = Program::parse(path, bytes)?;
        let with = symbols.and_then(|bytes| Program::parse(path, bytes));
        if let Some(with) = with.filter(|with| with.texts == program.texts) {
            program.functions = with.functions;
        }
        Some(program)
    }

    fn parse(path: &str, bytes: &[u8]) -> Option<Program> {
        let elf = Elf::parse(bytes).ok().filter(|elf| elf.is_64)?;
        let executed = elf.program_headers.iter();
        let executed = executed.filter(|one| one.p_type == PT_LOAD && one.p_flags & PF_X != 0);
        let texts: Vec<(u64, Vec<u8>)> = executed
            .filter_map(|one| Some((one.p_vaddr, bytes.get(one.file_range())?.to_vec())))
            .collect();
        let mut functions = functions(&elf.syms, &elf.strtab);
        if functions.is_empty() {
            functions = self::functions(&elf.dynsyms, &elf.dynstrtab);
        }
        Some(Program {
            name: path.rsplit('/').next().unwrap_or(path).to_owned(),
            fixed: elf.header.e_type == ET_EXEC,
            functions,
            texts,
        })
    }

    /// Whether it has this code at this link address.
    fn has(&self, address: u64, code: &[u8]) -> bool {
        self.texts.iter().any(|(from, text)| {
            let at = address.checked_sub(*from);
            let at = at.and_then(|at| usize::try_from(at).ok());
            at.is_some_and(|at| text.get(at..).is_some_and(|rest| rest.starts_with(code)))
        })
    }

    /// The function at a link address, with the file: `main [cat]`.
    fn function(&self, address: u64) -> String {
        let after = self.functions.partition_point(|one| one.0 <= address);
        let found = after.checked_sub(1).and_then(|at| self.functions.get(at));
        let found = found.filter(|(from, length, _)| address - from < *length);
        let name = found.map_or(UNKNOWN, |(_, _, name)| name);
        format!("{name} [{}]", self.name)
    }

    /// Collects the load offsets at which a block with this code could be at this
    /// address.
    fn distances(&self, address: u64, code: &[u8], found: &mut BTreeSet<u64>) {
        if self.fixed {
            found.extend(self.has(address, code).then_some(0));
            return;
        }
        let Some(first) = code.first() else { return };
        for (from, text) in &self.texts {
            let at = usize::try_from(address.wrapping_sub(*from) % PAGE).unwrap_or(usize::MAX);
            let places = text.iter().enumerate().skip(at).step_by(4096);
            for (at, _) in places.filter(|(_, byte)| *byte == first) {
                let own = from.wrapping_add(at as u64);
                let same = text.get(at..).is_some_and(|rest| rest.starts_with(code));
                found.extend((same && own <= address).then(|| address - own));
            }
        }
    }
}

/// The functions of a symbol table.
fn functions(symbols: &Symtab<'_>, names: &Strtab<'_>) -> Vec<(u64, u64, String)> {
    let wanted = |one: &Sym| {
        matches!(one.st_type(), STT_FUNC | STT_GNU_IFUNC) && one.st_shndx != 0 && one.st_value > 0
    };
    let named = symbols.iter().filter(wanted);
    let mut all: Vec<(u64, u64, String)> = named
        .filter_map(|one| Some((one.st_value, one.st_size, names.get_at(one.st_name)?)))
        .filter(|(_, _, name)| !name.is_empty())
        .map(|(from, length, name)| (from, length, readable_name(name)))
        .collect();
    // Of several names for one address, the plainest is used.
    let plain = |name: &str| (name.len() - name.trim_start_matches('_').len(), name.len());
    all.sort_by(|(a, _, one), (b, _, other)| {
        let by_name = || plain(one).cmp(&plain(other)).then_with(|| one.cmp(other));
        a.cmp(b).then_with(by_name)
    });
    all.dedup_by(|one, kept| {
        let same = one.0 == kept.0;
        kept.1 = if same { kept.1.max(one.1) } else { kept.1 };
        same
    });
    // Assembly functions without a size extend to the next function.
    let ends: Vec<u64> = all.iter().skip(1).map(|one| one.0).collect();
    for (one, end) in all.iter_mut().zip(ends) {
        if one.1 == 0 {
            one.1 = end - one.0;
        }
    }
    all
}

/// Demangles a name and removes its symbol version.
fn readable_name(name: &str) -> String {
    let plain = name.split('@').next().unwrap_or(name);
    format!("{:#}", rustc_demangle::demangle(plain))
}

/// All programs and libraries of a machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Programs {
    /// The programs, in the order in which they are searched.
    pub all: Vec<Program>,
}

/// A program by index, and its load offset.
type LoadedProgram = (usize, u64);

/// The names of the instructions outside the kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstructionNames {
    /// Function names with their files.
    names: Vec<String>,
    /// For each block, the name index of each instruction.
    blocks: BTreeMap<u32, Vec<usize>>,
    /// Name indexes by task and address; `None` if different code was seen at the
    /// address.
    places: BTreeMap<(usize, u64), Option<usize>>,
}

impl Programs {
    /// Determines where the blocks of a run outside the kernel were loaded from.
    #[must_use]
    pub fn place(&self, counts: &RunCounts) -> InstructionNames {
        let mut placed = InstructionNames::default();
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        let loaded = self.loaded(counts);
        for (block, code, addresses) in counts.user_blocks() {
            let at = addresses.first().copied().unwrap_or_default();
            let of = loaded.get(&block).copied();
            let of = of.filter(|one| self.holds(*one, at, code));
            let name = |address: &u64| match of.and_then(|one| self.all.get(one.0).zip(Some(one.1)))
            {
                Some((program, distance)) => program.function(address.wrapping_sub(distance)),
                None => NO_FILE.to_owned(),
            };
            let mut number = |name: String| {
                let next = numbers.len();
                let names = &mut placed.names;
                *numbers.entry(name).or_insert_with_key(|name| {
                    names.push(name.clone());
                    next
                })
            };
            let of_block = addresses.iter().map(|address| number(name(address)));
            placed.blocks.insert(block, of_block.collect());
        }
        for (task, block) in counts.executed() {
            let (Some(names), Some(addresses)) =
                (placed.blocks.get(&block), counts.addresses(block))
            else {
                continue;
            };
            for (address, name) in addresses.iter().zip(names) {
                let place = placed.places.entry((task, *address));
                let place = place.or_insert(Some(*name));
                *place = place.filter(|before| before == name);
            }
        }
        placed
    }

    fn holds(&self, (program, distance): LoadedProgram, address: u64, code: &[u8]) -> bool {
        let program = self.all.get(program);
        let own = address.checked_sub(distance);
        program
            .zip(own)
            .is_some_and(|(program, own)| program.has(own, code))
    }

    /// The program of each block. Load offsets that the most bytes agree on are assigned
    /// first.
    fn loaded(&self, counts: &RunCounts) -> BTreeMap<u32, LoadedProgram> {
        let mut votes: BTreeMap<LoadedProgram, Vec<(u32, usize)>> = BTreeMap::new();
        let long = counts.user_blocks();
        for (block, code, addresses) in long.filter(|(_, code, _)| code.len() >= TELLING) {
            let Some(address) = addresses.first() else {
                continue;
            };
            for (at, program) in self.all.iter().enumerate() {
                let mut found = BTreeSet::new();
                program.distances(*address, code, &mut found);
                for distance in found {
                    let of = votes.entry((at, distance)).or_default();
                    of.push((block, code.len()));
                }
            }
        }
        let mut order: Vec<(usize, LoadedProgram)> = votes
            .iter()
            .map(|(loaded, blocks)| (blocks.iter().map(|(_, bytes)| bytes).sum(), *loaded))
            .collect();
        order.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.cmp(other)));
        let mut of: BTreeMap<u32, LoadedProgram> = BTreeMap::new();
        let mut accepted = Vec::new();
        for (_, loaded) in order {
            let blocks = votes.get(&loaded).into_iter().flatten();
            let left: Vec<&(u32, usize)> = blocks
                .filter(|(block, _)| !of.contains_key(block))
                .collect();
            let fixed = self.all.get(loaded.0).is_some_and(|program| program.fixed);
            let bytes: usize = left.iter().map(|(_, bytes)| bytes).sum();
            if left.is_empty() || (bytes < ENOUGH && !fixed) {
                continue;
            }
            of.extend(left.into_iter().map(|(block, _)| (*block, loaded)));
            accepted.push(loaded);
        }
        for (block, code, addresses) in counts.user_blocks() {
            let Some(address) = addresses.first().filter(|_| !of.contains_key(&block)) else {
                continue;
            };
            let holds = |loaded: &&LoadedProgram| self.holds(**loaded, *address, code);
            if let Some(loaded) = accepted.iter().find(holds) {
                of.insert(block, *loaded);
            }
        }
        of
    }
}

impl InstructionNames {
    fn name(&self, at: Option<&usize>) -> &str {
        at.and_then(|at| self.names.get(*at))
            .map_or(USER, String::as_str)
    }

    /// The function of an instruction in a block, with its file.
    #[must_use]
    pub fn of_block(&self, block: u32, instruction: usize) -> &str {
        let names = self.blocks.get(&block);
        self.name(names.and_then(|names| names.get(instruction)))
    }

    /// The function at an address in a task, with its file.
    #[must_use]
    pub fn of_task(&self, task: usize, address: u64) -> &str {
        let place = self.places.get(&(task, address));
        self.name(place.and_then(Option::as_ref))
    }
}

#[cfg(test)]
#[path = "programs_tests.rs"]
mod tests;
