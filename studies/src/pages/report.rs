//! The output of `assize report --format json` for one experiment.

use serde_json::Value;

/// A verdict document, and the files of its runs.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) document: Value,
    pub(super) runs: Vec<Value>,
}

impl Report {
    /// The comparison of a metric on a workload between a configuration and the
    /// baseline.
    pub(super) fn row(&self, metric: &str, workload: &str, configuration: &str) -> Option<&Value> {
        find(
            &self.document["comparisons"],
            metric,
            workload,
            configuration,
        )
    }

    /// The comparison of the repeated baseline with the baseline.
    pub(super) fn floor(&self, metric: &str, workload: &str) -> Option<&Value> {
        self.document["noise_floor"].as_array()?.iter().find(|row| {
            row["metric"] == metric && row["workload"] == workload && row["ratio"].is_number()
        })
    }

    /// The mean of the baseline.
    pub(super) fn baseline(&self, metric: &str, workload: &str) -> Option<f64> {
        let rows = self.document["comparisons"].as_array()?;
        let row = |row: &&Value| row["metric"] == metric && row["workload"] == workload;
        rows.iter().find(row)?["mean_baseline"].as_f64()
    }

    /// Whether this configuration is the baseline.
    pub(super) fn is_baseline(&self, configuration: &str) -> bool {
        self.document["baseline"] == configuration
    }

    /// The mean of any configuration.
    pub(super) fn mean(&self, metric: &str, workload: &str, configuration: &str) -> Option<f64> {
        match self.is_baseline(configuration) {
            true => self.baseline(metric, workload),
            false => self.row(metric, workload, configuration)?["mean"].as_f64(),
        }
    }

    /// All rows of the experiment's table of a metric.
    pub(super) fn table(&self, metric: &str) -> Option<&Vec<Value>> {
        let tables = self.document["tables"].as_array()?;
        let table = tables.iter().find(|table| table["metric"] == metric)?;
        table["rows"].as_array()
    }

    /// The trade-off between two metrics.
    pub(super) fn tradeoff(&self, x: &str, y: &str) -> Option<&Value> {
        let of = |one: &&Value| one["x"]["metric"] == x && one["y"]["metric"] == y;
        self.document["tradeoffs"].as_array()?.iter().find(of)
    }

    /// The effect of a factor, or of an interaction `a:b`.
    pub(super) fn effect(&self, metric: &str, workload: &str, name: &str) -> Option<&Value> {
        let fits = self.document["factorial"].as_array()?;
        let fit = fits
            .iter()
            .find(|fit| fit["metric"] == metric && fit["workload"] == workload)?;
        fit["effects"]
            .as_array()?
            .iter()
            .find(|effect| effect["name"] == name)
    }

    /// The number of events in all runs of a configuration.
    pub(super) fn count(&self, event: &str, configuration: &str) -> Option<u64> {
        let rates = self.document["rates"].as_array()?;
        let of = |rate: &&Value| rate["event"] == event && rate["configuration"] == configuration;
        rates.iter().find(of)?["count"].as_u64()
    }

    /// The fraction of all samples of a metric in a configuration's runs that exceed a value.
    pub(super) fn share_beyond(&self, metric: &str, configuration: &str, than: f64) -> Option<f64> {
        let (mut beyond, mut all) = (0.0, 0.0);
        let runs = self
            .runs
            .iter()
            .filter(|run| run["configuration"] == configuration);
        for histogram in runs.flat_map(|run| run["histograms"].as_array()).flatten() {
            if histogram["metric"] != metric {
                continue;
            }
            for bucket in histogram["buckets"].as_array().into_iter().flatten() {
                let (value, count) = (bucket[0].as_f64()?, bucket[1].as_f64()?);
                all += count;
                beyond += if value > than { count } else { 0.0 };
            }
        }
        (all > 0.0).then(|| beyond / all)
    }
}

fn find<'v>(
    rows: &'v Value,
    metric: &str,
    workload: &str,
    configuration: &str,
) -> Option<&'v Value> {
    rows.as_array()?.iter().find(|row| {
        row["metric"] == metric
            && row["workload"] == workload
            && row["configuration"] == configuration
    })
}
