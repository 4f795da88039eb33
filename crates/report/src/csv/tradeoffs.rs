//! Trade-offs as rows.

use assize_verdict::{Relation, Tradeoff, TradeoffAxis, TradeoffPoint, TradeoffValue};

use super::{CellText, CsvTable, Fields, Written, relation_fields};

/// Writes a row for each trade-off, metric, point and domination.
pub(super) fn rows(tradeoff: &Tradeoff, table: &mut CsvTable) -> Written {
    let fields = [
        ("level", tradeoff.level.cell()),
        ("text", tradeoff.because.cell()),
        ("origin", tradeoff.origin.words().into()),
    ];
    table.row("tradeoff", &fields)?;
    for (kind, axis) in [("tradeoff_x", &tradeoff.x), ("tradeoff_y", &tradeoff.y)] {
        let better = vec![("value", axis.better.word().into())];
        let fields = [of_axis(axis), fields!(axis; baseline), better];
        table.row(kind, &fields.concat())?;
    }
    for point in &tradeoff.points {
        let x = ["point_x", "relative_x"];
        value(x, &tradeoff.x, point, &point.x, table)?;
        let y = ["point_y", "relative_y"];
        value(y, &tradeoff.y, point, &point.y, table)?;
        standing(tradeoff, point, table)?;
    }
    Ok(())
}

fn of_axis(axis: &TradeoffAxis) -> Fields {
    fields!(axis; workload metric unit)
}

/// Writes the mean of a point in one metric, and its ratio to the baseline.
fn value(
    kinds: [&str; 2],
    axis: &TradeoffAxis,
    point: &TradeoffPoint,
    value: &TradeoffValue,
    table: &mut CsvTable,
) -> Written {
    let names = [of_axis(axis), fields!(point; configuration)].concat();
    let figures = fields!(value; n mean);
    table.row(kinds[0], &[names.clone(), figures].concat())?;
    if let Some(relation) = &value.relative {
        let fields = [names, fields!(axis; baseline), relation_fields(relation)];
        table.row(kinds[1], &fields.concat())?;
    }
    Ok(())
}

/// Writes the standing of a point, one row for each point that it is equivalent to or cannot be
/// distinguished from, and one row per metric for each point that dominates it: there, the
/// dominating point is the configuration and the dominated one the baseline.
fn standing(tradeoff: &Tradeoff, point: &TradeoffPoint, table: &mut CsvTable) -> Written {
    let configuration = ("configuration", point.configuration.clone());
    let supported = if point.supported { "supported" } else { "" };
    let fields = [
        configuration.clone(),
        ("verdict", point.standing.word().into()),
        ("value", supported.into()),
        ("text", point.because.cell()),
    ];
    table.row("standing", &fields)?;
    for (kind, names) in [
        ("not_told_from", &point.not_told_from),
        ("equivalent_to", &point.equivalent_to),
    ] {
        for name in names {
            table.row(kind, &[configuration.clone(), ("baseline", name.clone())])?;
        }
    }
    for one in &point.dominated_by {
        let axes: [(&TradeoffAxis, &Option<Relation>); 2] =
            [(&tradeoff.x, &one.x), (&tradeoff.y, &one.y)];
        for (axis, relation) in axes {
            let baseline = vec![("baseline", point.configuration.clone())];
            let relation = match relation {
                Some(relation) => relation_fields(relation),
                None => vec![("text", "the same".to_owned())],
            };
            let own = fields!(one; configuration);
            table.row(
                "dominates",
                &[of_axis(axis), baseline, own, relation].concat(),
            )?;
        }
    }
    Ok(())
}
