//! The types of a kernel as DWARF, for debuggers, which do not read BTF.
//!
//! Each type becomes an entry of one compilation unit. Names are offsets into the strings of the
//! BTF, which become the section `.debug_str`. Variables and functions are left out.

use crate::types::{
    ARRAY, BtfType, ENUMERATION, ENUMERATION_64, INTEGER, PROTOTYPE, STRUCTURE, TYPE_TAG, TYPEDEF,
    Types, UNION, word,
};

const POINTER: u32 = 2;
const FORWARD: u32 = 7;
const VOLATILE: u32 = 9;
const CONSTANT: u32 = 10;
const RESTRICT: u32 = 11;
const FLOAT: u32 = 16;
/// Maximum number of type tags in front of one type.
const TAGS: u32 = 16;
/// Size of the unit's header, which precedes the first entry: length, DWARF version, offset of the
/// abbreviations, size of an address.
const UNIT: usize = 11;
const VERSION: u16 = 4;

/// Contents of the sections `.debug_abbrev`, `.debug_info` and `.debug_str`.
#[derive(Default)]
pub(crate) struct Dwarf<'a> {
    pub(crate) abbreviations: Vec<u8>,
    pub(crate) entries: Vec<u8>,
    pub(crate) strings: &'a [u8],
}

// Forms of attributes.
const TEXT: u8 = 0x08;
const NAME: u8 = 0x0e;
const ONE_BYTE: u8 = 0x0b;
const FOUR_BYTES: u8 = 0x06;
const EIGHT_BYTES: u8 = 0x07;
const REFERENCE: u8 = 0x13;
const SET: u8 = 0x19;

/// An abbreviation: a tag, whether its entries have children, and attributes with their forms.
type Abbreviation = (u8, bool, &'static [(u8, u8)]);

/// All abbreviations. [`Entry`] is an index into this list, from 1.
const ABBREVIATIONS: [Abbreviation; 21] = [
    (0x11, true, &[(0x03, TEXT), (0x13, ONE_BYTE)]),
    (0x3b, false, &[(0x03, TEXT)]),
    (
        0x24,
        false,
        &[(0x03, NAME), (0x0b, FOUR_BYTES), (0x3e, ONE_BYTE)],
    ),
    (0x0f, false, &[(0x0b, ONE_BYTE), (0x49, REFERENCE)]),
    (0x01, true, &[(0x49, REFERENCE)]),
    (0x21, false, &[(0x37, FOUR_BYTES)]),
    (0x13, true, &[(0x03, NAME), (0x0b, FOUR_BYTES)]),
    (0x17, true, &[(0x03, NAME), (0x0b, FOUR_BYTES)]),
    (
        0x0d,
        false,
        &[(0x03, NAME), (0x49, REFERENCE), (0x38, FOUR_BYTES)],
    ),
    (
        0x0d,
        false,
        &[
            (0x03, NAME),
            (0x49, REFERENCE),
            (0x6b, FOUR_BYTES),
            (0x0d, FOUR_BYTES),
        ],
    ),
    (0x13, false, &[(0x03, NAME), (0x3c, SET)]),
    (0x17, false, &[(0x03, NAME), (0x3c, SET)]),
    (0x04, true, &[(0x03, NAME), (0x0b, FOUR_BYTES)]),
    (0x28, false, &[(0x03, NAME), (0x1c, EIGHT_BYTES)]),
    (0x16, false, &[(0x03, NAME), (0x49, REFERENCE)]),
    (0x26, false, &[(0x49, REFERENCE)]),
    (0x35, false, &[(0x49, REFERENCE)]),
    (0x37, false, &[(0x49, REFERENCE)]),
    (0x15, true, &[(0x27, SET), (0x49, REFERENCE)]),
    (0x05, false, &[(0x49, REFERENCE)]),
    (0x18, false, &[]),
];

#[derive(Debug, Clone, Copy)]
enum Entry {
    Unit = 1,
    Void,
    Base,
    Pointer,
    Array,
    Range,
    Structure,
    Union,
    Member,
    BitField,
    ForwardStructure,
    ForwardUnion,
    Enumeration,
    Enumerator,
    Typedef,
    Constant,
    Volatile,
    Restrict,
    Prototype,
    Parameter,
    MoreParameters,
}

/// Converts the types in BTF to DWARF; `None` if the BTF is malformed.
pub(crate) fn kernel_types(btf: &[u8]) -> Option<Dwarf<'_>> {
    let types = Types::read(btf)?;
    let mut unit = Unit {
        types: &types,
        bytes: vec![0; UNIT],
        places: Vec::new(),
        references: Vec::new(),
    };
    unit.begin(Entry::Unit);
    unit.bytes.extend(b"types\0\x0c");
    for (id, one) in types.all.iter().enumerate() {
        unit.places.push(unit.bytes.len());
        if id == 0 {
            unit.begin(Entry::Void);
            unit.bytes.extend(b"void\0");
        } else {
            unit.add(one)?;
        }
    }
    unit.end();
    Some(Dwarf {
        abbreviations: abbreviations(),
        entries: unit.finish()?,
        strings: types.bytes.get(types.strings..)?,
    })
}

fn abbreviations() -> Vec<u8> {
    let mut bytes = Vec::new();
    for (number, (tag, is_parent, attributes)) in (1..).zip(ABBREVIATIONS) {
        bytes.extend([number, tag, u8::from(is_parent)]);
        for (attribute, form) in attributes {
            bytes.extend([*attribute, *form]);
        }
        bytes.extend([0, 0]);
    }
    bytes.push(0);
    bytes
}

struct Unit<'a> {
    types: &'a Types<'a>,
    bytes: Vec<u8>,
    /// The offset of the entry of each type, by its BTF id.
    places: Vec<usize>,
    /// Offsets of references that are not written yet, each with the BTF id that it refers to.
    references: Vec<(usize, u32)>,
}

impl Unit<'_> {
    fn begin(&mut self, entry: Entry) {
        self.bytes.push(entry as u8);
    }

    /// Ends the children of an entry.
    fn end(&mut self) {
        self.bytes.push(0);
    }

    fn number(&mut self, number: u32) {
        self.bytes.extend(number.to_le_bytes());
    }

    fn reference(&mut self, id: u32) {
        self.references.push((self.bytes.len(), id));
        self.number(0);
    }

    fn word(&self, at: usize) -> Option<u32> {
        word(self.types.bytes, at)
    }

    fn add(&mut self, one: &BtfType) -> Option<()> {
        match one.kind {
            INTEGER => self.add_integer(one)?,
            FLOAT => self.add_base(one, 4),
            POINTER => {
                self.begin(Entry::Pointer);
                self.bytes.push(8);
                self.reference(one.refers);
            }
            ARRAY => self.add_array(one)?,
            STRUCTURE => self.add_members(one, Entry::Structure)?,
            UNION => self.add_members(one, Entry::Union)?,
            FORWARD => {
                let kinds = [Entry::ForwardStructure, Entry::ForwardUnion];
                self.begin(kinds[usize::from(one.flag)]);
                self.number(one.name);
            }
            ENUMERATION | ENUMERATION_64 => self.add_enumeration(one)?,
            TYPEDEF => {
                self.begin(Entry::Typedef);
                self.number(one.name);
                self.reference(one.refers);
            }
            CONSTANT => self.add_qualifier(one, Entry::Constant),
            VOLATILE => self.add_qualifier(one, Entry::Volatile),
            RESTRICT => self.add_qualifier(one, Entry::Restrict),
            PROTOTYPE => self.add_prototype(one)?,
            // Variables, functions and tags have no entry.
            _ => {}
        }
        Some(())
    }

    fn add_qualifier(&mut self, one: &BtfType, entry: Entry) {
        self.begin(entry);
        self.reference(one.refers);
    }

    fn add_base(&mut self, one: &BtfType, encoding: u8) {
        self.begin(Entry::Base);
        self.number(one.name);
        self.number(one.refers);
        self.bytes.push(encoding);
    }

    fn add_integer(&mut self, one: &BtfType) -> Option<()> {
        let encoding = match (self.word(one.members.0)? >> 24, one.refers) {
            (4, _) => 2,
            (1, 1) => 6,
            (_, 1) => 8,
            (1, _) => 5,
            _ => 7,
        };
        self.add_base(one, encoding);
        Some(())
    }

    fn add_array(&mut self, one: &BtfType) -> Option<()> {
        let (at, _) = one.members;
        let (element, count) = (self.word(at)?, self.word(at + 8)?);
        self.begin(Entry::Array);
        self.reference(element);
        self.begin(Entry::Range);
        self.number(count);
        self.end();
        Some(())
    }

    fn add_members(&mut self, one: &BtfType, entry: Entry) -> Option<()> {
        self.begin(entry);
        self.number(one.name);
        self.number(one.refers);
        let (from, count) = one.members;
        for at in (from..).step_by(12).take(count) {
            let (name, id, place) = (self.word(at)?, self.word(at + 4)?, self.word(at + 8)?);
            let size = if one.flag { place >> 24 } else { 0 };
            let bits = if one.flag { place & 0x00ff_ffff } else { place };
            self.begin(if size == 0 {
                Entry::Member
            } else {
                Entry::BitField
            });
            self.number(name);
            self.reference(id);
            if size == 0 {
                self.number(bits / 8);
            } else {
                self.number(bits);
                self.number(size);
            }
        }
        self.end();
        Some(())
    }

    fn add_enumeration(&mut self, one: &BtfType) -> Option<()> {
        self.begin(Entry::Enumeration);
        self.number(one.name);
        self.number(one.refers);
        let (from, count) = one.members;
        let size = if one.kind == ENUMERATION { 8 } else { 12 };
        for at in (from..).step_by(size).take(count) {
            let (name, low) = (self.word(at)?, self.word(at + 4)?);
            let high = match one.kind {
                ENUMERATION if one.flag && low.cast_signed() < 0 => u32::MAX,
                ENUMERATION => 0,
                _ => self.word(at + 8)?,
            };
            self.begin(Entry::Enumerator);
            self.number(name);
            self.number(low);
            self.number(high);
        }
        self.end();
        Some(())
    }

    fn add_prototype(&mut self, one: &BtfType) -> Option<()> {
        self.begin(Entry::Prototype);
        self.reference(one.refers);
        let (from, count) = one.members;
        for at in (from..).step_by(8).take(count) {
            match self.word(at + 4)? {
                0 => self.begin(Entry::MoreParameters),
                id => {
                    self.begin(Entry::Parameter);
                    self.reference(id);
                }
            }
        }
        self.end();
        Some(())
    }

    /// The offset of the entry of a type, after skipping type tags, which have none.
    fn place(&self, mut id: u32) -> Option<usize> {
        for _ in 0..TAGS {
            let index = usize::try_from(id).ok()?;
            let one = self.types.all.get(index)?;
            if one.kind != TYPE_TAG {
                return self.places.get(index).copied();
            }
            id = one.refers;
        }
        None
    }

    fn finish(mut self) -> Option<Vec<u8>> {
        for (at, id) in std::mem::take(&mut self.references) {
            let place = u32::try_from(self.place(id)?).ok()?;
            self.bytes
                .get_mut(at..at + 4)?
                .copy_from_slice(&place.to_le_bytes());
        }
        let length = u32::try_from(self.bytes.len() - 4).ok()?;
        let mut head = length.to_le_bytes().to_vec();
        head.extend(VERSION.to_le_bytes());
        head.extend([0, 0, 0, 0, 8]);
        self.bytes.get_mut(..UNIT)?.copy_from_slice(&head);
        Some(self.bytes)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;
    use crate::types::tests::sample_types;

    #[test]
    fn each_type_is_an_entry_to_which_others_refer() {
        let btf = sample_types();
        let dwarf = kernel_types(&btf).unwrap();
        let entries = &dwarf.entries;
        assert_eq!(word(entries, 0), u32::try_from(entries.len() - 4).ok());
        // struct task, 12 bytes: a, of int.
        let mut head = vec![Entry::Structure as u8];
        for number in [5_u32, 12] {
            head.extend(number.to_le_bytes());
        }
        head.extend([Entry::Member as u8, 10, 0, 0, 0]);
        let at = entries.windows(head.len()).position(|some| some == head);
        let int = usize::try_from(word(entries, at.unwrap() + head.len()).unwrap()).unwrap();
        assert_eq!(entries[int], Entry::Base as u8);
        assert_eq!(word(entries, int + 1), Some(1));
        assert!(dwarf.strings.starts_with(b"\0int\0task\0"));
    }

    #[test]
    fn types_that_are_cut_off_or_refer_to_nothing_are_none_and_no_panic() {
        let whole = sample_types();
        for length in 0..whole.len() - 18 {
            assert!(kernel_types(&whole[..length]).is_none(), "{length}");
        }
        let mut wrong = whole;
        // A member refers to a type that does not exist.
        let at = wrong.len() - 16 - 32;
        wrong[at..at + 4].copy_from_slice(&99_u32.to_le_bytes());
        assert!(kernel_types(&wrong).is_none());
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(mut bytes: Vec<u8>) {
            let _ = kernel_types(&bytes);
            bytes.splice(0..0, [0x9f, 0xeb, 1, 0, 24, 0, 0, 0]);
            let _ = kernel_types(&bytes);
        }
    }
}
