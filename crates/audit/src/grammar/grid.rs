//! A table as it was read, before its rows and columns are given their roles.

/// A figure in a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    pub(crate) value: f64,
    pub(crate) unit: String,
    /// The place of its last digit.
    pub(crate) step: Option<f64>,
    /// The number after its `±`.
    pub(crate) spread: Option<f64>,
}

/// A row: labels, then figures, `None` where one is missing.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its line in the block.
    pub(crate) at: usize,
    pub(crate) labels: Vec<String>,
    pub(crate) cells: Vec<Option<Cell>>,
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// The headers of the labels.
    pub(crate) keys: Vec<String>,
    /// The headers of the figures.
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Row>,
}

impl Row {
    /// Returns the labels joined by blanks.
    pub(crate) fn label(&self) -> String {
        self.labels.join(" ")
    }
}
