//! Options that correct or complete the reading of a post.

use assize_bundle::Spread;
use regex::Regex;

use crate::declared::metric::Metric;
use crate::grammar::number::english;

/// Corrections, and answers that the post does not give.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Lines and headings that match name this configuration.
    pub configurations: Vec<(Regex, String)>,
    /// Lines and commands that match name this workload.
    pub workloads: Vec<(Regex, String)>,
    /// Lines to ignore.
    pub ignore: Vec<Regex>,
    /// Seconds of exposure of counted events.
    pub exposure_s: Option<f64>,
    /// Keep a description of every line.
    pub explain: bool,
    /// The role of the columns of tables.
    pub columns_are: Option<Role>,
    /// The meaning of `±`.
    pub spread: Option<SpreadKind>,
    /// Which figures may be judged.
    pub judged: Judged,
    /// The metric of plain numbers.
    pub metric: Option<Metric>,
    /// The number of runs of means that do not give it.
    pub runs_behind: Option<u32>,
}

/// The role of the rows or columns of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A configuration under test.
    Configurations,
    /// A metric.
    Metrics,
    /// A workload, or a parameter of one.
    Workloads,
    /// One more execution of the same.
    Repetitions,
}

impl Role {
    /// Its name in the plural, as on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Role::Configurations => "configurations",
            Role::Metrics => "metrics",
            Role::Workloads => "workloads",
            Role::Repetitions => "repetitions",
        }
    }

    /// Reads a role.
    ///
    /// # Errors
    /// A sentence with the known words.
    pub fn parse(text: &str) -> Result<Self, String> {
        use Role::{Configurations, Metrics, Repetitions, Workloads};
        let all = [Configurations, Metrics, Workloads, Repetitions];
        one_of(text, all.map(|role| (role.word(), role)))
    }
}

/// Which figures may be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Judged {
    /// Only figures for which the text, the tool or the user declares what is compared.
    #[default]
    Declared,
    /// All. For a caller that knows that the text compares.
    All,
}

/// The meaning of `±` after a mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpreadKind {
    /// The standard deviation of the runs.
    Sd,
    /// The standard error of the mean.
    Se,
    /// Half of a 95 % confidence interval.
    Ci95,
    /// The coefficient of variation, in percent.
    Cv,
}

impl SpreadKind {
    /// Reads `sd`, `se`, `ci95` or `cv`.
    ///
    /// # Errors
    /// A sentence with the known words.
    pub fn parse(text: &str) -> Result<Self, String> {
        use SpreadKind::{Ci95, Cv, Sd, Se};
        one_of(text, [("sd", Sd), ("se", Se), ("ci95", Ci95), ("cv", Cv)])
    }

    /// Returns the spread of this kind after `mean`.
    pub(crate) fn spread(self, value: f64, mean: f64) -> Spread {
        /// Half the width of a 95 % interval of the normal distribution, in standard deviations.
        const Z95: f64 = 1.959_963_984_540_054;
        match self {
            SpreadKind::Sd => Spread::StandardDeviation(value),
            SpreadKind::Se => Spread::StandardError(value),
            // The quantile of t is larger: this leaves more doubt than there is.
            SpreadKind::Ci95 => Spread::StandardError(value / Z95),
            SpreadKind::Cv => Spread::StandardDeviation(value / 100.0 * mean.abs()),
        }
    }
}

impl Options {
    pub(crate) fn ignores(&self, text: &str) -> bool {
        self.ignore.iter().any(|regex| regex.is_match(text))
    }

    pub(crate) fn configuration_of(&self, text: &str) -> Option<&str> {
        named(&self.configurations, text)
    }

    pub(crate) fn workload_of(&self, text: &str) -> Option<&str> {
        named(&self.workloads, text)
    }
}

/// The one of several that has this name.
fn one_of<T, const N: usize>(text: &str, all: [(&str, T); N]) -> Result<T, String> {
    let names = all.each_ref().map(|(name, _)| *name).join(", ");
    let mut all = all.into_iter();
    let found = all.find(|(name, _)| *name == text);
    found
        .map(|(_, one)| one)
        .ok_or_else(|| format!("'{text}' is none of {names}"))
}

fn named<'o>(rules: &'o [(Regex, String)], text: &str) -> Option<&'o str> {
    let (_, name) = rules.iter().find(|(regex, _)| regex.is_match(text))?;
    Some(name)
}

/// Reads `REGEX=NAME`; the name stands behind the last `=`.
///
/// # Errors
/// A sentence that describes the mistake and the expected form.
pub fn parse_rule(text: &str) -> Result<(Regex, String), String> {
    let (pattern, name) = text
        .rsplit_once('=')
        .filter(|(pattern, name)| !pattern.is_empty() && !name.trim().is_empty())
        .ok_or_else(|| format!("'{text}' is not REGEX=NAME, as in '^patched=new'"))?;
    Ok((parse_regex(pattern)?, name.trim().to_string()))
}

/// Compiles a regular expression of the user's.
///
/// # Errors
/// A sentence that names the expression.
pub fn parse_regex(pattern: &str) -> Result<Regex, String> {
    Regex::new(pattern).map_err(|error| {
        let reason = error.to_string();
        let last = reason.lines().last().unwrap_or_default();
        let last = last.trim_start_matches("error: ");
        format!("'{pattern}' is not a regular expression: {last}")
    })
}

/// Reads `300s`, `5m`, `1.5h` or `300` as seconds.
///
/// # Errors
/// A sentence that describes the expected form.
pub fn parse_duration(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic());
    let (digits, unit) = text.split_at(unit_at.unwrap_or(text.len()));
    let factor = match unit {
        "s" | "sec" | "" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86400.0,
        _ => f64::NAN,
    };
    let value = english(digits.trim()).map(|value| value * factor);
    let proper = value.filter(|seconds| seconds.is_finite() && *seconds > 0.0);
    proper.ok_or_else(|| format!("'{text}' is not a duration, as in 300s, 5m or 1h"))
}
