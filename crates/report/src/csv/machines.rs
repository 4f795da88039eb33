//! The results of several machines.

use assize_verdict::{Agreement, Document, MachineComparison, Pooled};

use super::{CellText, CsvTable, Written, bounds};

/// Writes a row for each machine, and one for each figure of all machines together.
pub(super) fn rows(document: &Document, table: &mut CsvTable) -> Written {
    for row in &document.machines {
        machine(row, table)?;
    }
    for row in &document.pooled {
        write_pooled(row, table)?;
        write_spread(row, table)?;
    }
    Ok(())
}

fn machine(row: &MachineComparison, table: &mut CsvTable) -> Written {
    let names = fields!(row; workload metric unit baseline configuration machine);
    let figures = fields!(row; n_baseline n mean_baseline mean ratio p_t p p_attainable p_adjusted
        p_t_adjusted scale difference verdict);
    let text = vec![("text", row.because.cell())];
    let fields = [names.clone(), figures, bounds(row.ci), text];
    table.row("machine", &fields.concat())?;
    let weight = vec![("value", row.weight.cell())];
    table.row("weight", &[names, weight].concat())
}

fn write_pooled(row: &Pooled, table: &mut CsvTable) -> Written {
    let agreement = match row.agreement {
        Agreement::Agree => "agree",
        Agreement::Differ => "differ",
        Agreement::Opposite => "opposite",
    };
    let why = row.because.as_deref().unwrap_or_default();
    let own = fields!(row; workload metric unit baseline configuration ratio p_t p p_attainable
        p_adjusted p_t_adjusted scale difference verdict);
    let further = vec![
        ("n", row.machines.cell()),
        ("count", row.shown_on.cell()),
        ("text", format!("{agreement}: {why}")),
    ];
    table.row("pooled", &[own, bounds(row.ci), further].concat())
}

/// Writes how much the machines differ, and what to expect on other machines.
fn write_spread(row: &Pooled, table: &mut CsvTable) -> Written {
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
        let names = fields!(row; workload metric unit baseline configuration);
        let figures = vec![("value", value.cell()), ("p", p.cell())];
        table.row(kind, &[names, bounds(ci), figures].concat())?;
    }
    Ok(())
}
