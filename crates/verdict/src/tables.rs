//! Tables that an experiment asks for: one metric over several workloads.

use assize_bundle::DeclaredTable;
use assize_judge::quantile;

use crate::baselines::Baselines;
use crate::cells::{Cell, CellKey, Cells};
use crate::compare::{CellComparison, compare_cells};
use crate::document::{Comparison, Lint, Relation, Table, TableCell, TableRow};
use crate::identities::are_same;
use crate::names::{folded, similar};
use crate::options::Options;
use crate::words::{count_of, finite};

/// All tables, and lints for requested metrics that were not measured. Ratios that are in the
/// document's `comparisons` are taken from there.
pub(crate) fn tabulate(
    cells: &Cells<'_>,
    baselines: &Baselines,
    comparisons: &[Comparison],
    options: &Options,
) -> (Vec<Table>, Vec<Lint>) {
    let (mut tables, mut lints) = (Vec::new(), Vec::new());
    for asked in &cells.records.tables {
        let tabulator = TableBuilder {
            cells,
            baselines,
            comparisons,
            options,
            asked,
        };
        let units = tabulator.units();
        if units.is_empty() {
            lints.extend(absent(cells, asked));
            tables.push(tabulator.table(None));
        }
        let of_units = units.into_iter().map(|unit| tabulator.table(Some(unit)));
        tables.extend(of_units);
    }
    (tables, lints)
}

/// A lint if no run has the metric although there are runs.
fn absent(cells: &Cells<'_>, asked: &DeclaredTable) -> Option<Lint> {
    let names = cells.metric_names();
    let known = names.contains(&asked.metric);
    let detail = if names.is_empty() {
        return None;
    } else if known {
        format!("no run of the table's workloads has '{}'", asked.metric)
    } else {
        let near = similar(&asked.metric, &names);
        let mend = near.map_or(String::new(), |name| format!("; did you mean '{name}'?"));
        format!(
            "'{}' is not among the {} metrics recorded{mend}",
            asked.metric,
            names.len()
        )
    };
    Some(Lint {
        code: "missing-cell".into(),
        location: asked.place.clone(),
        detail,
        ..Lint::default()
    })
}

/// A requested table and its data.
struct TableBuilder<'t, 'a> {
    cells: &'t Cells<'a>,
    baselines: &'t Baselines,
    comparisons: &'t [Comparison],
    options: &'t Options,
    asked: &'t DeclaredTable,
}

impl TableBuilder<'_, '_> {
    /// The metrics of this name that its workloads have, one per unit.
    fn units(&self) -> Vec<usize> {
        let workloads: Vec<usize> = self.workloads().flatten().collect();
        let rows = self.cells.rows();
        let all = self.cells.metrics.iter().enumerate();
        let named = all.filter(|(_, metric)| metric.name == self.asked.metric);
        named
            .map(|(metric, _)| metric)
            .filter(|metric| workloads.iter().any(|w| rows.contains(&(*w, *metric))))
            .collect()
    }

    /// The columns; `None` for workloads without records.
    fn workloads(&self) -> impl Iterator<Item = Option<usize>> {
        let names = self.asked.workloads.iter();
        names.map(|name| self.cells.workload(name))
    }

    fn table(&self, metric: Option<usize>) -> Table {
        let unit = metric.map_or("", |metric| &self.cells.metrics[metric].unit);
        let rows = 0..self.cells.configurations.len();
        Table {
            metric: self.asked.metric.clone(),
            unit: unit.to_owned(),
            workloads: self.asked.workloads.clone(),
            normalised_to: self.asked.normalised_to.clone(),
            factor: self.asked.factor.clone(),
            level: self.options.level,
            rows: rows.map(|row| self.row(metric, row)).collect(),
        }
    }

    fn row(&self, metric: Option<usize>, configuration: usize) -> TableRow {
        let baseline = self.baseline(configuration);
        let columns = self.asked.workloads.iter().zip(self.workloads());
        let cells = columns
            .map(|(name, workload)| {
                let key = metric.zip(workload).map(|(metric, workload)| CellKey {
                    workload,
                    metric,
                    configuration,
                });
                let mut cell = self.cell(key, name, configuration);
                if let Some(key) = key {
                    cell.normalised = self.normalised(key, name);
                    cell.relative = baseline.and_then(|of| self.relative(key, of));
                }
                cell
            })
            .collect();
        TableRow {
            configuration: self.cells.configurations[configuration].clone(),
            baseline: baseline.map(|of| self.cells.configurations[of].clone()),
            because: self.without_baseline(configuration),
            cells,
        }
    }

    /// The configuration that the row is compared with; `None` for the baseline
    /// itself.
    fn baseline(&self, configuration: usize) -> Option<usize> {
        let name = &self.cells.configurations[configuration];
        let baseline = match self.asked.factor {
            Some(_) => self.cells.configuration(self.partner(name)?),
            None => self.baselines.main(self.cells),
        };
        baseline.filter(|&of| of != configuration)
    }

    /// The configuration with the factor's first level and otherwise equal levels.
    fn partner(&self, name: &str) -> Option<&str> {
        let mut pairs = self.asked.baselines.iter();
        let pair = pairs.find(|(of, _)| folded(of) == folded(name));
        pair.map(|(_, baseline)| baseline.as_str())
    }

    fn without_baseline(&self, configuration: usize) -> Option<String> {
        let factor = self.asked.factor.as_ref()?;
        let name = &self.cells.configurations[configuration];
        self.partner(name).is_none().then(|| {
            format!(
                "no configuration has the first level of {factor} and otherwise the same levels"
            )
        })
    }

    fn cell(&self, key: Option<CellKey>, workload: &str, configuration: usize) -> TableCell {
        let found = key.and_then(|key| self.cells.get(key));
        let mut values = found.map(Cell::values).unwrap_or_default();
        values.sort_by(f64::total_cmp);
        let n = u32::try_from(values.len()).unwrap_or(u32::MAX);
        TableCell {
            workload: workload.to_owned(),
            n,
            median: quantile::type7(&values, 0.5).ok().and_then(finite),
            normalised: None,
            relative: None,
            because: match found.and_then(|cell| cell.summary.as_ref()) {
                Some(_) if values.is_empty() => Some("only a mean of runs is given".into()),
                _ => self.lacking(workload, configuration, values.len()),
            },
        }
    }

    /// Why some or all runs lack the metric.
    fn lacking(&self, workload: &str, configuration: usize, having: usize) -> Option<String> {
        let place = (self.cells.workload(workload), configuration);
        let there = self.cells.run_places.iter();
        let runs = there
            .filter(|&&(workload, configuration)| (Some(workload), configuration) == place)
            .count();
        let metric = &self.asked.metric;
        match (runs, having) {
            (0, _) => Some("no completed run".into()),
            (runs, 0) => Some(format!("none of {} has {metric}", count_of(runs, "run"))),
            (runs, having) if having < runs => {
                Some(format!("{having} of {runs} runs have {metric}"))
            }
            _ => None,
        }
    }

    /// The relation to the same configuration on the workload to which the table
    /// is normalised.
    fn normalised(&self, key: CellKey, workload: &str) -> Option<Relation> {
        let to = self
            .asked
            .normalised_to
            .as_ref()
            .filter(|to| *to != workload)?;
        let one = CellKey {
            workload: self.cells.workload(to)?,
            ..key
        };
        self.comparison(one, key)
            .map(|comparison| relation(&comparison, comparison.p_alone(self.options.seed)))
    }

    /// The relation to the baseline on the same workload, taken from the
    /// document's comparisons if they have it; `None` for identical
    /// configurations.
    fn relative(&self, key: CellKey, baseline: usize) -> Option<Relation> {
        if are_same(self.cells, baseline, key.configuration, key.workload) {
            return None;
        }
        let metric = &self.cells.metrics[key.metric];
        let same = |row: &&Comparison| {
            row.workload == self.cells.workloads[key.workload]
                && (&row.metric, &row.unit) == (&metric.name, &metric.unit)
                && row.baseline == self.cells.configurations[baseline]
                && row.configuration == self.cells.configurations[key.configuration]
        };
        if let Some(row) = self.comparisons.iter().find(same) {
            return Some(row_relation(row));
        }
        let of_baseline = CellKey {
            configuration: baseline,
            ..key
        };
        self.comparison(of_baseline, key)
            .map(|comparison| relation(&comparison, comparison.p_alone(self.options.seed)))
    }

    fn comparison(&self, a: CellKey, b: CellKey) -> Option<CellComparison> {
        let (a, b) = (self.cells.get(a)?, self.cells.get(b)?);
        Some(compare_cells(self.cells, a, b).at_level(self.options.level))
    }
}

/// The figures of a comparison; `p` is that of the permutation test.
pub(crate) fn relation(comparison: &CellComparison, p: Option<f64>) -> Relation {
    Relation {
        n_baseline: comparison.n_a,
        n: comparison.n_b,
        ratio: comparison.ratio,
        ci: comparison.ci_ends(),
        p_t: comparison.p_t,
        t_test: comparison.t_test,
        p,
        difference: comparison.difference,
        verdict: None,
        because: (!comparison.because.is_empty()).then(|| comparison.because.join("; ")),
    }
}

/// The figures of a comparison.
pub(crate) fn row_relation(row: &Comparison) -> Relation {
    Relation {
        n_baseline: row.n_baseline,
        n: row.n,
        ratio: row.ratio,
        ci: row.ci,
        p_t: row.p_t,
        t_test: row.t_test,
        p: row.p,
        difference: row.difference,
        verdict: Some(row.verdict),
        because: row.because.clone(),
    }
}
