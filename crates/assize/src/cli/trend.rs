//! The command line of `assize trend`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{ALPHA, share};

#[derive(Debug, Args)]
pub(crate) struct TrendArguments {
    /// Bundles of one experiment, or directories that hold them at any depth
    #[arg(value_name = "DIRECTORY", required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Order of the bundles [default: commit if --tree has all revisions, else date]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) order: Option<TrendOrder>,
    /// The git tree that has the revisions
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) tree: PathBuf,
    /// Judge this metric or event [default: primary metrics and all events]
    #[arg(long = "metric", value_name = "METRIC")]
    pub(crate) metrics: Vec<String>,
    /// Significance level of all tests together
    #[arg(long, value_name = "P", default_value_t = ALPHA, value_parser = share)]
    pub(crate) alpha: f64,
    /// Ratios within 1 ± SHARE are no change [default: 0.01]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) margin: Option<f64>,
    /// How to show what changed
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TrendFormat::Text)]
    pub(crate) format: TrendFormat,
    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrendOrder {
    /// The dates of the commits that were run
    Commit,
    /// When the last run ended
    Date,
    /// The paths of the bundles, with numbers sorted as numbers
    Path,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrendFormat {
    /// What changed, and where, in 72 columns
    Text,
    /// A page with plots
    Html,
    /// Schema assize.trend/1
    Json,
}
