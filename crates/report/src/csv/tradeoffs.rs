//! Trade-offs as rows.

use assize_verdict::{Relation, Tradeoff, TradeoffAxis, TradeoffPoint, TradeoffValue};

use super::{CsvTable, number, relation_fields};

/// Writes a row for each trade-off, metric, point and domination.
pub(super) fn rows(tradeoff: &Tradeoff, table: &mut CsvTable) -> Result<(), ::csv::Error> {
    table.row(&[
        ("kind", "tradeoff".into()),
        ("level", tradeoff.level.to_string()),
        ("text", tradeoff.because.clone().unwrap_or_default()),
        ("origin", tradeoff.origin.words().into()),
    ])?;
    for (kind, axis) in [("tradeoff_x", &tradeoff.x), ("tradeoff_y", &tradeoff.y)] {
        let mut fields = of_axis(kind, axis);
        fields.push(("baseline", axis.baseline.clone().unwrap_or_default()));
        fields.push(("value", axis.better.word().into()));
        table.row(&fields)?;
    }
    for point in &tradeoff.points {
        let name = &point.configuration;
        value(
            ["point_x", "relative_x"],
            &tradeoff.x,
            name,
            &point.x,
            table,
        )?;
        value(
            ["point_y", "relative_y"],
            &tradeoff.y,
            name,
            &point.y,
            table,
        )?;
        standing(tradeoff, point, table)?;
    }
    Ok(())
}

fn of_axis(kind: &str, axis: &TradeoffAxis) -> Vec<(&'static str, String)> {
    vec![
        ("kind", kind.to_owned()),
        ("workload", axis.workload.clone()),
        ("metric", axis.metric.clone()),
        ("unit", axis.unit.clone()),
    ]
}

/// Writes the mean of a point in one metric, and its ratio to the baseline.
fn value(
    kinds: [&str; 2],
    axis: &TradeoffAxis,
    configuration: &str,
    value: &TradeoffValue,
    table: &mut CsvTable,
) -> Result<(), ::csv::Error> {
    let mut fields = of_axis(kinds[0], axis);
    fields.push(("configuration", configuration.to_owned()));
    fields.push(("n", number(value.n)));
    fields.push(("mean", number(value.mean)));
    table.row(&fields)?;
    if let Some(relation) = &value.relative {
        let mut fields = of_axis(kinds[1], axis);
        fields.push(("configuration", configuration.to_owned()));
        fields.push(("baseline", axis.baseline.clone().unwrap_or_default()));
        fields.extend(relation_fields(relation));
        table.row(&fields)?;
    }
    Ok(())
}

/// Writes the standing of a point, one row for each point that it is equivalent to or cannot be
/// distinguished from, and one row per metric for each point that dominates it: there, the
/// dominating point is the configuration and the dominated one the baseline.
fn standing(
    tradeoff: &Tradeoff,
    point: &TradeoffPoint,
    table: &mut CsvTable,
) -> Result<(), ::csv::Error> {
    table.row(&[
        ("kind", "standing".into()),
        ("configuration", point.configuration.clone()),
        ("verdict", point.standing.word().into()),
        (
            "value",
            if point.supported { "supported" } else { "" }.into(),
        ),
        ("text", point.because.clone().unwrap_or_default()),
    ])?;
    let others = [
        ("not_told_from", &point.not_told_from),
        ("equivalent_to", &point.equivalent_to),
    ];
    for (kind, name) in others
        .into_iter()
        .flat_map(|(kind, names)| names.iter().map(move |name| (kind, name)))
    {
        table.row(&[
            ("kind", kind.into()),
            ("configuration", point.configuration.clone()),
            ("baseline", name.clone()),
        ])?;
    }
    for one in &point.dominated_by {
        let axes: [(&TradeoffAxis, &Option<Relation>); 2] =
            [(&tradeoff.x, &one.x), (&tradeoff.y, &one.y)];
        for (axis, relation) in axes {
            let mut fields = of_axis("dominates", axis);
            fields.push(("baseline", point.configuration.clone()));
            fields.push(("configuration", one.configuration.clone()));
            match relation {
                Some(relation) => fields.extend(relation_fields(relation)),
                None => fields.push(("text", "the same".to_owned())),
            }
            table.row(&fields)?;
        }
    }
    Ok(())
}
