//! The results of several machines.

use assize_verdict::{Agreement, Document, MachineComparison, Pooled};

use super::{CsvTable, bounds, number};

/// Writes a row for each machine, and one for each figure of all machines together.
pub(super) fn rows(document: &Document, table: &mut CsvTable) -> Result<(), ::csv::Error> {
    for row in &document.machines {
        machine(row, table)?;
    }
    for row in &document.pooled {
        write_pooled(row, table)?;
        write_spread(row, table)?;
    }
    Ok(())
}

fn machine(row: &MachineComparison, table: &mut CsvTable) -> Result<(), ::csv::Error> {
    let names = [
        ("workload", row.workload.clone()),
        ("metric", row.metric.clone()),
        ("unit", row.unit.clone()),
        ("baseline", row.baseline.clone()),
        ("configuration", row.configuration.clone()),
        ("machine", row.machine.clone()),
    ];
    let [low, high] = bounds(row.ci);
    let mut fields = vec![
        ("kind", "machine".to_owned()),
        ("n_baseline", number(row.n_baseline)),
        ("n", number(row.n)),
        ("mean_baseline", number(row.mean_baseline)),
        ("mean", number(row.mean)),
        ("ratio", number(row.ratio)),
        low,
        high,
        ("p_t", number(row.p_t)),
        ("p", number(row.p)),
        ("p_attainable", number(row.p_attainable)),
        ("p_adjusted", number(row.p_adjusted)),
        ("p_t_adjusted", number(row.p_t_adjusted)),
        ("scale", format!("{:?}", row.scale).to_lowercase()),
        ("difference", number(row.difference)),
        ("verdict", row.verdict.word().into()),
        ("text", row.because.clone().unwrap_or_default()),
    ];
    fields.extend(names.clone());
    table.row(&fields)?;
    let mut fields = vec![("kind", "weight".to_owned()), ("value", number(row.weight))];
    fields.extend(names);
    table.row(&fields)
}

fn names(row: &Pooled) -> [(&'static str, String); 5] {
    [
        ("workload", row.workload.clone()),
        ("metric", row.metric.clone()),
        ("unit", row.unit.clone()),
        ("baseline", row.baseline.clone()),
        ("configuration", row.configuration.clone()),
    ]
}

fn write_pooled(row: &Pooled, table: &mut CsvTable) -> Result<(), ::csv::Error> {
    let [low, high] = bounds(row.ci);
    let agreement = match row.agreement {
        Agreement::Agree => "agree",
        Agreement::Differ => "differ",
        Agreement::Opposite => "opposite",
    };
    let why = row.because.as_deref().unwrap_or_default();
    let mut fields = vec![
        ("kind", "pooled".to_owned()),
        ("n", row.machines.to_string()),
        ("count", row.shown_on.to_string()),
        ("ratio", number(row.ratio)),
        low,
        high,
        ("p_t", number(row.p_t)),
        ("p", number(row.p)),
        ("p_attainable", number(row.p_attainable)),
        ("p_adjusted", number(row.p_adjusted)),
        ("p_t_adjusted", number(row.p_t_adjusted)),
        ("scale", format!("{:?}", row.scale).to_lowercase()),
        ("difference", number(row.difference)),
        ("verdict", row.verdict.word().into()),
        ("text", format!("{agreement}: {why}")),
    ];
    fields.extend(names(row));
    table.row(&fields)
}

/// Writes how much the machines differ, and what to expect on other machines.
fn write_spread(row: &Pooled, table: &mut CsvTable) -> Result<(), ::csv::Error> {
    let random = row.ratio_random.or(row.difference_random);
    for (kind, value, ci, p) in [
        ("random", random, row.ci_random, None),
        ("prediction", None, row.prediction, None),
        ("q", row.q, None, row.q_p),
        ("q_welch", None, None, row.q_p_welch),
        ("i2", row.i2, row.i2_ci, None),
        ("tau2", row.tau2, row.tau2_ci, None),
    ] {
        if value.is_none() && ci.is_none() && p.is_none() {
            continue;
        }
        let [low, high] = bounds(ci);
        let mut fields = vec![
            ("kind", kind.to_owned()),
            ("value", number(value)),
            low,
            high,
            ("p", number(p)),
        ];
        fields.extend(names(row));
        table.row(&fields)?;
    }
    Ok(())
}
