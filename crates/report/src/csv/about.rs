//! Facts about the document, as rows.

use assize_verdict::Document;

use super::CsvTable;

/// Writes one row per fact.
pub(super) fn about(document: &Document, table: &mut CsvTable) -> Result<(), ::csv::Error> {
    let texts = [
        ("schema", &document.schema),
        ("source", &document.source),
        ("reproduce", &document.reproduce),
    ];
    let rerun = document.rerun.as_ref().map(|line| ("rerun", line));
    let baseline = document.baseline.as_ref().map(|name| ("baseline", name));
    for (name, text) in texts.into_iter().chain(rerun).chain(baseline) {
        table.row(&[
            ("kind", "about".into()),
            ("metric", name.into()),
            ("text", text.clone()),
        ])?;
    }
    for (name, value) in [
        ("alpha", document.alpha),
        ("level", document.level),
        ("margin", document.margin),
    ] {
        table.row(&[
            ("kind", "about".into()),
            ("metric", name.into()),
            ("value", value.to_string()),
        ])?;
    }
    for configuration in &document.configurations {
        table.row(&[
            ("kind", "configuration".into()),
            (
                "baseline",
                configuration.repeats.clone().unwrap_or_default(),
            ),
            ("configuration", configuration.name.clone()),
            ("text", configuration.label.clone()),
        ])?;
        for (factor, on) in &configuration.factors {
            table.row(&[
                ("kind", "level".into()),
                ("configuration", configuration.name.clone()),
                ("value", u8::from(*on).to_string()),
                ("factor", factor.clone()),
            ])?;
        }
    }
    for workload in &document.workloads {
        table.row(&[("kind", "workload".into()), ("workload", workload.clone())])?;
    }
    Ok(())
}
