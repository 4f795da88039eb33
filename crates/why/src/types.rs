//! Offsets of fields in kernel structures, read from BTF.

use crate::Error;

const MAGIC: u16 = 0xeb9f;
/// The BTF kinds that are used or skipped.
pub(crate) const INTEGER: u32 = 1;
pub(crate) const ARRAY: u32 = 3;
pub(crate) const STRUCTURE: u32 = 4;
pub(crate) const UNION: u32 = 5;
pub(crate) const ENUMERATION: u32 = 6;
pub(crate) const TYPEDEF: u32 = 8;
const QUALIFIERS: std::ops::RangeInclusive<u32> = 9..=11;
pub(crate) const PROTOTYPE: u32 = 13;
const VARIABLE: u32 = 14;
const SECTION: u32 = 15;
const DECLARATION_TAG: u32 = 17;
pub(crate) const TYPE_TAG: u32 = 18;
pub(crate) const ENUMERATION_64: u32 = 19;
/// The maximum nesting depth of anonymous structures.
const DEPTH: u32 = 16;

pub(crate) struct BtfType {
    pub(crate) name: u32,
    pub(crate) kind: u32,
    /// For structures, whether member offsets also encode bit-field sizes.
    pub(crate) flag: bool,
    /// The type it refers to, or its size.
    pub(crate) refers: u32,
    /// The position of the first member, and the number of members.
    pub(crate) members: (usize, usize),
}

/// The types of a kernel.
pub(crate) struct Types<'a> {
    pub(crate) bytes: &'a [u8],
    /// The position of the names.
    pub(crate) strings: usize,
    pub(crate) all: Vec<BtfType>,
}

/// Returns the byte offsets of fields in a structure.
///
/// # Errors
/// If `bytes` is not valid BTF, or the structure or a field does not exist.
pub fn offsets<const N: usize>(
    bytes: &[u8],
    structure: &str,
    fields: [&str; N],
) -> Result<[u64; N], Error> {
    let types = Types::read(bytes).ok_or(Error::Types("cut off or missing"))?;
    let missing = |what: String| Error::Missing {
        what,
        mend: "with CONFIG_DEBUG_INFO_BTF",
    };
    let mut found = None;
    for one in &types.all {
        if one.kind == STRUCTURE && one.members.1 > 0 && types.named(one.name, structure) {
            found = Some(one);
            break;
        }
    }
    let found = found.ok_or_else(|| missing(format!("the layout of struct {structure}")))?;
    let mut offsets = [0; N];
    for (offset, field) in offsets.iter_mut().zip(fields) {
        *offset = types
            .offset(found, field, DEPTH)
            .ok_or_else(|| missing(format!("the offset of {field} in struct {structure}")))?;
    }
    Ok(offsets)
}

pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

fn size(value: u32) -> Option<usize> {
    usize::try_from(value).ok()
}

impl<'a> Types<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Types<'a>> {
        let magic = u16::from_le_bytes(bytes.get(..2)?.try_into().ok()?);
        if magic != MAGIC {
            return None;
        }
        let header = size(word(bytes, 4)?)?;
        let from = header.checked_add(size(word(bytes, 8)?)?)?;
        let end = from.checked_add(size(word(bytes, 12)?)?)?;
        let strings = header.checked_add(size(word(bytes, 16)?)?)?;
        let mut types = Types {
            bytes,
            strings,
            all: vec![BtfType {
                name: 0,
                kind: 0,
                flag: false,
                refers: 0,
                members: (0, 0),
            }],
        };
        let mut at = from;
        while at < end {
            let (name, info, refers) =
                (word(bytes, at)?, word(bytes, at + 4)?, word(bytes, at + 8)?);
            let (kind, count) = ((info >> 24) & 0x1f, size(info & 0xffff)?);
            at = at.checked_add(12)?;
            let members = (at, count);
            at = at.checked_add(bytes_following(kind, count))?;
            types.all.push(BtfType {
                name,
                kind,
                flag: info >> 31 != 0,
                refers,
                members,
            });
        }
        Some(types)
    }

    fn named(&self, name: u32, wanted: &str) -> bool {
        let at = size(name).and_then(|name| self.strings.checked_add(name));
        let text = at.and_then(|at| self.bytes.get(at..));
        text.is_some_and(|text| {
            text.strip_prefix(wanted.as_bytes())
                .is_some_and(|rest| rest.first() == Some(&0))
        })
    }

    /// The offset of a field, searching anonymous structures as well.
    fn offset(&self, structure: &BtfType, field: &str, depth: u32) -> Option<u64> {
        let (from, count) = structure.members;
        for member in 0..count {
            let at = from + member * 12;
            let (name, kind, bits) = (
                word(self.bytes, at)?,
                word(self.bytes, at + 4)?,
                word(self.bytes, at + 8)?,
            );
            let bits = if structure.flag {
                bits & 0x00ff_ffff
            } else {
                bits
            };
            let here = u64::from(bits / 8);
            if self.named(name, field) {
                return Some(here);
            }
            if name == 0 && depth > 0 {
                let inner = self.resolved(kind)?;
                if matches!(inner.kind, STRUCTURE | UNION)
                    && let Some(inside) = self.offset(inner, field, depth - 1)
                {
                    return Some(here + inside);
                }
            }
        }
        None
    }

    /// The underlying type behind typedefs, tags and qualifiers.
    fn resolved(&self, mut id: u32) -> Option<&BtfType> {
        for _ in 0..=DEPTH {
            let found = self.all.get(size(id)?)?;
            if found.kind == TYPEDEF || found.kind == TYPE_TAG || QUALIFIERS.contains(&found.kind) {
                id = found.refers;
            } else {
                return Some(found);
            }
        }
        None
    }
}

/// The number of bytes that follow a type header.
fn bytes_following(kind: u32, count: usize) -> usize {
    match kind {
        INTEGER | VARIABLE | DECLARATION_TAG => 4,
        ARRAY => 12,
        STRUCTURE | UNION | SECTION | ENUMERATION_64 => count * 12,
        ENUMERATION | PROTOTYPE => count * 8,
        _ => 0,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
pub(crate) mod tests {
    use super::*;

    /// `struct task { int a; struct { int b; }; int c; }`, preceded by another type.
    pub(crate) fn sample_types() -> Vec<u8> {
        let strings = b"\0int\0task\0a\0b\0c\0";
        let mut types: Vec<u32> = Vec::new();
        types.extend([1, INTEGER << 24, 4, 32]); // 1: int
        types.extend([0, STRUCTURE << 24 | 1, 4, 12, 1, 0]); // 2: { b }
        types.extend([0, 10 << 24, 2]); // 3: const of it
        types.extend([5, STRUCTURE << 24 | 3, 12]); // 4: task
        types.extend([10, 1, 0, 0, 3, 32, 14, 1, 64]);
        let length = u32::try_from(types.len() * 4).unwrap();
        let mut bytes = MAGIC.to_le_bytes().to_vec();
        bytes.extend([1, 0]);
        for value in [24, 0, length, length, u32::try_from(strings.len()).unwrap()] {
            bytes.extend(u32::to_le_bytes(value));
        }
        types
            .iter()
            .for_each(|word| bytes.extend(word.to_le_bytes()));
        bytes.extend(strings);
        bytes
    }

    #[test]
    fn fields_are_found_also_in_structures_without_a_name() {
        assert_eq!(
            offsets(&sample_types(), "task", ["a", "b", "c"]),
            Ok([0, 4, 8])
        );
    }

    #[test]
    fn what_is_not_there_is_named() {
        let error = offsets(&sample_types(), "task", ["d"])
            .unwrap_err()
            .to_string();
        assert!(error.contains("the offset of d in struct task"), "{error}");
        let error = offsets(&sample_types(), "int", ["a"])
            .unwrap_err()
            .to_string();
        assert!(error.contains("struct int"), "{error}");
    }

    #[test]
    fn types_that_are_cut_off_anywhere_are_an_error_and_no_panic() {
        let whole = sample_types();
        for length in 0..whole.len() - 18 {
            assert!(
                offsets(&whole[..length], "task", ["c"]).is_err(),
                "{length}"
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(mut bytes: Vec<u8>) {
            let _ = offsets(&bytes, "task", ["a"]);
            bytes.splice(0..0, [0x9f, 0xeb, 1, 0, 24, 0, 0, 0]);
            let _ = offsets(&bytes, "task", ["a"]);
        }
    }
}
