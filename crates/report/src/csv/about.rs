//! Facts about the document, as rows.

use assize_verdict::Document;

use super::{CellText, CsvTable, Written};

/// Writes one row per fact.
pub(super) fn about(document: &Document, table: &mut CsvTable) -> Written {
    let texts = [
        ("schema", &document.schema),
        ("source", &document.source),
        ("reproduce", &document.reproduce),
    ];
    let rerun = document.rerun.as_ref().map(|line| ("rerun", line));
    let baseline = document.baseline.as_ref().map(|name| ("baseline", name));
    for (name, text) in texts.into_iter().chain(rerun).chain(baseline) {
        table.row("about", &[("metric", name.into()), ("text", text.clone())])?;
    }
    for (name, value) in [
        ("alpha", document.alpha),
        ("level", document.level),
        ("margin", document.margin),
    ] {
        table.row("about", &[("metric", name.into()), ("value", value.cell())])?;
    }
    for configuration in &document.configurations {
        let name = ("configuration", configuration.name.clone());
        let repeats = ("baseline", configuration.repeats.cell());
        let label = ("text", configuration.label.clone());
        table.row("configuration", &[repeats, name.clone(), label])?;
        for (factor, on) in &configuration.factors {
            let value = ("value", u8::from(*on).to_string());
            table.row("level", &[name.clone(), value, ("factor", factor.clone())])?;
        }
    }
    for workload in &document.workloads {
        table.row("workload", &[("workload", workload.clone())])?;
    }
    Ok(())
}
