//! One labelled text, shown.

use super::label::{Kind, Label, Part};
use super::reading::Reading;
use crate::Error;

/// At most so many comparisons are listed.
const LISTED: usize = 30;

/// What the label says of a text, and what the auditor made of it.
pub(super) fn text(label: &Label, text: &[u8]) -> Result<String, Error> {
    let reading = Reading::of(text, &label.name())?;
    let mut out = vec![format!("{} ({})", label.name(), label.part().word())];
    if label.part() == Part::Scored {
        out.push("scored: the auditor must not be worked on with it".into());
    }
    labelled(label, &reading, &mut out);
    let grade = reading.grade(label);
    out.push(format!(
        "auditor: {}; grouping {}; {}",
        if grade.admitted {
            "judges"
        } else {
            "does not judge"
        },
        grade.grouping.word(),
        match (grade.positive, grade.sound) {
            (false, _) => "nothing established or supported",
            (true, true) => "a sound verdict",
            (true, false) => "an unsound verdict",
        }
    ));
    out.extend(grade.faults.iter().map(|fault| format!("  {fault}")));
    judged(&reading, &mut out);
    if label.part() != Part::Scored {
        taken(text, &label.name(), &mut out)?;
    }
    Ok(out.join("\n"))
}

/// What each line that is no prose was taken for, and what was decided.
fn taken(text: &[u8], name: &str, out: &mut Vec<String>) -> Result<(), Error> {
    let options = assize_audit::Options {
        explain: true,
        ..assize_audit::Options::default()
    };
    let audit = assize_audit::read(text, name, &options).map_err(|why| format!("{name}: {why}"))?;
    let lines = audit.explained.iter();
    let told = lines.filter(|line| !matches!(line.taken.as_str(), "blank" | "prose"));
    for line in told {
        let (at, text) = (line.place.line, &line.text);
        out.push(format!("{at:>6} {:<26} {text}", line.taken));
    }
    for (place, said) in &audit.decisions {
        out.push(format!("line {}: {}", place.line, said.join("\n    ")));
    }
    Ok(())
}

fn labelled(label: &Label, reading: &Reading, out: &mut Vec<String>) {
    let kind = match label.kind {
        Kind::None => "no measurements",
        Kind::Figures => "measurements, no comparison",
        Kind::Comparison => "a comparison",
    };
    out.push(format!("label: {kind}: {}", label.shape));
    if let Some(comparison) = &label.comparison {
        out.push(format!(
            "  configurations {}; workloads {}; metrics {}",
            comparison.configurations.join(", "),
            comparison.workloads.join(", "),
            comparison.metrics.join(", ")
        ));
        let sound = if comparison.sound {
            "could"
        } else {
            "could not"
        };
        out.push(format!("  established or supported {sound} be sound"));
    }
    for value in &label.values {
        let read = if reading.has(value) {
            "read"
        } else {
            "not read"
        };
        out.push(format!(
            "  {} / {} / {} = {}: {read}",
            value.configuration, value.workload, value.metric, value.value
        ));
    }
}

fn judged(reading: &Reading, out: &mut Vec<String>) {
    let runs = |n: Option<u32>| n.map_or("?".to_string(), |n| n.to_string());
    let rows = reading.document.iter().flat_map(|d| &d.comparisons);
    for row in rows.clone().take(LISTED) {
        out.push(format!(
            "  {} / {}: {} against {}, {} against {} runs: {}",
            row.workload,
            row.metric,
            row.configuration,
            row.baseline,
            runs(row.n),
            runs(row.n_baseline),
            row.verdict.word()
        ));
    }
    let more = rows.count().saturating_sub(LISTED);
    if more > 0 {
        out.push(format!("  and {more} more"));
    }
}
