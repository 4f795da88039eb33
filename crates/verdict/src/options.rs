//! The user's options.

use crate::error::Error;

/// The default confidence level of `judge`.
pub(crate) const LEVEL: f64 = 0.95;

/// What each configuration is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Against {
    /// The baseline of its workload.
    #[default]
    Baseline,
    /// The previous configuration, in the order of the records, that has the metric or the event on
    /// the workload. All these comparisons form one family, as comparisons with a baseline do.
    /// Tables and trade-offs still use the baseline, and there are no sentences.
    Predecessor,
}

/// The user's options. Names are case-insensitive and may be shortened to any
/// unique prefix.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The baseline; by default the first configuration.
    pub baseline: Option<String>,
    /// What each configuration is compared with.
    pub against: Against,
    /// Claims to test in addition to those that the records declare, such as `A
    /// < B on METRIC in WORKLOAD`.
    pub claims: Vec<String>,
    /// Trade-offs to show in addition to those that the records declare, such as `METRIC in
    /// WORKLOAD against METRIC`.
    pub tradeoffs: Vec<String>,
    /// The significance level of all tests, 0.05 by default.
    pub alpha: f64,
    /// The confidence level of the intervals of ratios and differences, 0.95 by default. Repeated
    /// looks at a running experiment need a higher level.
    pub level: f64,
    /// The equivalence margin as a fraction, 0.01 by default.
    pub margin: f64,
    /// Metrics declared primary before the data were seen, in addition to those
    /// that the records declare.
    pub primary: Vec<String>,
    /// Metrics for which more is better, in addition to those that the records
    /// name.
    pub higher_is_better: Vec<String>,
    /// Metrics for which less is better, in addition to the records' primary
    /// metrics that are not marked otherwise.
    pub lower_is_better: Vec<String>,
    /// Thresholds above which a run is slow, as `METRIC > 1 ms`.
    pub slow: Vec<String>,
    /// Seconds of exposure for event counts that were recorded without one.
    pub exposure_s: Option<f64>,
    /// The seed of Monte Carlo draws.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            baseline: None,
            against: Against::Baseline,
            claims: Vec::new(),
            tradeoffs: Vec::new(),
            alpha: 0.05,
            level: LEVEL,
            margin: 0.01,
            primary: Vec::new(),
            higher_is_better: Vec::new(),
            lower_is_better: Vec::new(),
            slow: Vec::new(),
            exposure_s: None,
            seed: 0,
        }
    }
}

impl Options {
    /// Rejects invalid numbers.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for (option, value) in [
            ("alpha", self.alpha),
            ("level", self.level),
            ("margin", self.margin),
        ] {
            if !(value > 0.0 && value < 1.0) {
                return Err(Error::Option {
                    option,
                    value: value.to_string(),
                    expected: "a number between 0 and 1",
                });
            }
        }
        match self.exposure_s {
            Some(s) if !(1e-9..=1e18).contains(&s) => Err(Error::Option {
                option: "exposure",
                value: s.to_string(),
                expected: "a positive number of seconds",
            }),
            _ => Ok(()),
        }
    }
}
