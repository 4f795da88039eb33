//! The kinds of noise between runs of one configuration.

use super::source::Source;

/// One kind of noise.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noise {
    Normal,
    LogNormal,
    HeavyTailed,
    Pareto,
    Skewed,
}

impl Noise {
    pub(crate) const ALL: [Self; 5] = [
        Self::Normal,
        Self::LogNormal,
        Self::HeavyTailed,
        Self::Pareto,
        Self::Skewed,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::LogNormal => "log-normal tail",
            Self::HeavyTailed => "heavy-tailed",
            Self::Pareto => "Pareto tail",
            Self::Skewed => "skewed",
        }
    }

    /// The noise of one run: a factor around 1 with a standard deviation of about `spread`.
    /// `common`: what all metrics of the run share, as a standard normal number and its share of
    /// the variance (normal noise only).
    pub(crate) fn factor(self, spread: f64, common: (f64, f64), source: &mut Source) -> f64 {
        let e = std::f64::consts::E;
        match self {
            Self::Normal => {
                let (shared, rho) = common;
                1.0 + spread * (rho.sqrt() * shared + (1.0 - rho).sqrt() * source.normal())
            }
            Self::LogNormal => 1.0 + spread / ((e - 1.0) * e).sqrt() * source.normal().exp(),
            Self::HeavyTailed => (spread / 3.0_f64.sqrt() * source.student3()).exp(),
            Self::Pareto => 1.0 + spread / (2.5 / (2.25 * 0.5_f64)).sqrt() * source.pareto(2.5),
            Self::Skewed => (spread * source.exponential()).exp(),
        }
    }
}
