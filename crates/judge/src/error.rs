//! Why a figure could not be computed.

/// The result of every fallible function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a figure could not be computed. Data that cannot support a figure are an
/// error, never a `NaN` in a result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Fewer values (runs, samples, gaps) than the figure needs.
    #[error("{got} values where {needed} are needed")]
    TooFew {
        /// The smallest sufficient number.
        needed: usize,
        /// The number of values given.
        got: usize,
    },
    /// A value is `NaN` or infinite.
    #[error("a value is not a finite number")]
    NotFinite,
    /// A value is zero or negative where a logarithm is taken.
    #[error("a value is not positive and has no logarithm")]
    NotPositive,
    /// An argument other than the data is out of range; the text names it and
    /// gives the range.
    #[error("{0}")]
    BadArgument(&'static str),
    /// A full grid is incomplete: no run has this combination of levels. The
    /// text names it, for example `bypass=on, irq=off`.
    #[error("the grid has no run with {0}")]
    MissingCell(String),
    /// The columns of the model are linearly dependent.
    #[error("the effects are confounded")]
    RankDeficient,
    /// There are as many parameters as runs, so nothing remains to estimate the
    /// error from.
    #[error("{runs} runs for {parameters} parameters leave nothing to estimate the error from")]
    NoResidualDf {
        /// The number of parameters in the model, including the intercept.
        parameters: usize,
        /// The number of runs given.
        runs: usize,
    },
}

/// Rejects fewer than `needed` values, and any that is `NaN` or infinite.
pub(crate) fn check_finite(values: &[f64], needed: usize) -> Result<()> {
    if values.len() < needed {
        return Err(Error::TooFew {
            needed,
            got: values.len(),
        });
    }
    if values.iter().any(|v| !v.is_finite()) {
        return Err(Error::NotFinite);
    }
    Ok(())
}

/// [`check_finite`], and also rejects zero and negative values.
pub(crate) fn check_positive(values: &[f64], needed: usize) -> Result<()> {
    check_finite(values, needed)?;
    if values.iter().any(|&v| v <= 0.0) {
        return Err(Error::NotPositive);
    }
    Ok(())
}

/// Rejects a level (confidence, significance, probability) outside (0, 1).
pub(crate) fn check_open_unit(value: f64, what: &'static str) -> Result<()> {
    if value > 0.0 && value < 1.0 {
        Ok(())
    } else {
        Err(Error::BadArgument(what))
    }
}
