//! Formatting that terminals support.

/// The formatting that the output allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    /// Whether to use escape sequences for bold and dim. They never carry a meaning alone.
    pub colour: bool,
}
