//! The hash of several inputs.

/// A hash of parts in their order. Different parts give different hashes, even if their
/// concatenations are the same.
#[derive(Default)]
pub(crate) struct PartsHash(blake3::Hasher);

impl PartsHash {
    /// Adds a part.
    pub(crate) fn add(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        self.0.update(&(part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    /// The first hexadecimal digits of the hash; it has 64.
    pub(crate) fn hex(&self, digits: usize) -> String {
        let hex = self.0.finalize().to_hex();
        hex.chars().take(digits).collect()
    }
}
