//! What the user asks for.

use crate::error::Error;

/// The level that `judge` takes by itself.
pub(crate) const LEVEL: f64 = 0.95;

/// With what each configuration is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Against {
    /// With the baseline of its workload.
    #[default]
    Baseline,
    /// With the one before it, in the order of the records, that has the metric or the
    /// event on the workload. All these comparisons are one family, as those with a
    /// baseline are. Tables and trade-offs still look at the baseline, and no
    /// sentence is made.
    Predecessor,
}

/// What the user asks for. Names may be given without case and shortened to
/// any unique prefix.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The configuration to compare with; by default the first.
    pub baseline: Option<String>,
    /// With what each configuration is compared.
    pub against: Against,
    /// Claims to try besides those that the records declare, such as `A < B on
    /// METRIC in WORKLOAD`.
    pub claims: Vec<String>,
    /// Trade-offs to show besides those that the records declare, such as `METRIC in
    /// WORKLOAD against METRIC`.
    pub tradeoffs: Vec<String>,
    /// The level of all tests, 0.05 by default.
    pub alpha: f64,
    /// The level of the intervals of ratios and differences, 0.95 by default.
    /// Intervals that are looked at several times while runs come in need a
    /// higher one.
    pub level: f64,
    /// The margin of equivalence as a share, 0.01 by default.
    pub margin: f64,
    /// Metrics declared primary before the data were seen, besides those that
    /// the records declare.
    pub primary: Vec<String>,
    /// Metrics of which more is better, besides those that the records name.
    pub higher_is_better: Vec<String>,
    /// Metrics of which less is better, besides the primary ones of the records
    /// of which more is not.
    pub lower_is_better: Vec<String>,
    /// Seconds of exposure for counts of events that came without.
    pub exposure_s: Option<f64>,
    /// The seed of Monte-Carlo draws.
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
            exposure_s: None,
            seed: 0,
        }
    }
}

impl Options {
    /// Refuses numbers that make no sense.
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
