//! What terminals can show.

/// The formatting that the output allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    /// Whether to use escape sequences for bold and dim; no meaning depends on them
    /// alone.
    pub colour: bool,
}
