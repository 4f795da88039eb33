//! The bytes by which a format's first lines are recognised.
//!
//! A single byte rules out most formats on most lines: every line of `hwlat` has `#` or `[`,
//! and no line of `fio` begins with `>`. Each format declares its bytes ([`Begins`]); one pass
//! over a line then finds the formats to ask.

/// A set of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes([u64; 4]);

impl Bytes {
    /// All bytes.
    pub const ANY: Bytes = Bytes([u64::MAX; 4]);

    /// The set of these bytes.
    pub const fn of(bytes: &[u8]) -> Bytes {
        let mut set = [0; 4];
        let mut at = 0;
        while at < bytes.len() {
            let byte = bytes[at] as usize;
            set[byte / 64] |= 1 << (byte % 64);
            at += 1;
        }
        Bytes(set)
    }

    /// Whether a byte is one of them.
    pub const fn has(self, byte: u8) -> bool {
        self.0[byte as usize / 64] >> (byte % 64) & 1 == 1
    }
}

/// The bytes that the first line of a block must have.
#[derive(Debug, Clone, Copy)]
pub struct Begins {
    /// Allowed values of the first byte after blanks; bytes beyond ASCII are always allowed.
    pub first: Bytes,
    /// At least one of these must occur.
    pub holds: Bytes,
}

impl Begins {
    /// Any line.
    pub const ANY: Begins = Begins {
        first: Bytes::ANY,
        holds: Bytes::ANY,
    };

    /// Lines whose first byte after blanks is one of these.
    pub const fn with(first: &[u8]) -> Begins {
        Begins {
            first: Bytes::of(first),
            ..Begins::ANY
        }
    }

    /// Lines that have one of these bytes.
    pub const fn holding(bytes: &[u8]) -> Begins {
        Begins {
            holds: Bytes::of(bytes),
            ..Begins::ANY
        }
    }

    /// Requires one of these bytes in addition.
    pub const fn and_holding(self, bytes: &[u8]) -> Begins {
        Begins {
            holds: Bytes::of(bytes),
            ..self
        }
    }
}
