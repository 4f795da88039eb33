//! The results of several machines, individually and pooled.

use assize_verdict::{Agreement, Document, MachineComparison, Pooled, Scale, Verdict, count_of};
use unicode_width::UnicodeWidthStr;

use super::DIFFERENCE;
use crate::contrasts::verdict_mark;
use crate::number::{interval_within, narrow, p, ratio, signed, significant};
use crate::printable;
use crate::wrap::push_wrapped;

/// The widest name of a machine.
const NAME: usize = 18;
/// The width of an interval.
const INTERVAL: usize = 16;

/// For each comparison that shows a difference, prints the effect on every machine, the pooled
/// effect, and how much the machines differ.
pub(super) fn tables(document: &Document, out: &mut String) {
    if document.pooled.is_empty() {
        return;
    }
    let (shown, rest): (Vec<&Pooled>, Vec<&Pooled>) =
        document.pooled.iter().partition(|row| says_something(row));
    let several = document.across.plural();
    let title = format!("On each of the {several}, and on all together (pooled)");
    push_wrapped(out, "", "  ", &title);
    for row in &shown {
        comparison(document, row, out);
    }
    if !rest.is_empty() {
        let text = format!(
            "{} in which no difference is shown and the {several} agree; --json has them",
            count_of(rest.len(), "more comparison")
        );
        push_wrapped(out, "  ", "  ", &text);
    }
    out.push('\n');
    let mut text = format!(
        "pooled: what these {several} have in common, each weighted by its inverse squared error; \
         random: the mean over {several} like these; next: where 95 % of such {several} would lie. \
         p: Welch's test that the effects are equal; below 0.1 the {several} count as different."
    );
    if shown.iter().any(|row| row.difference.is_some()) {
        text.push_str(DIFFERENCE);
    }
    push_wrapped(out, "", "", &text);
    out.push('\n');
}

fn says_something(row: &Pooled) -> bool {
    row.agreement != Agreement::Agree
        || matches!(row.verdict, Verdict::Established | Verdict::Supported)
}

fn comparison(document: &Document, row: &Pooled, out: &mut String) {
    let title = format!(
        "{}: {}, {} to {}: {}",
        row.workload,
        row.metric,
        row.configuration,
        row.baseline,
        standing(document, row)
    );
    push_wrapped(out, "  ", "      ", &title);
    let machines: Vec<&MachineComparison> = document
        .machines
        .iter()
        .filter(|on| {
            (&on.workload, &on.metric, &on.unit) == (&row.workload, &row.metric, &row.unit)
                && (&on.baseline, &on.configuration) == (&row.baseline, &row.configuration)
        })
        .collect();
    let names = machines.iter().map(|on| on.machine.width());
    let widest = names.max().unwrap_or(0).clamp(6, NAME);
    for on in machines {
        let mut line = figures(on.ratio, on.difference, on.ci, on.verdict);
        let count = |n: Option<u32>| n.map_or("?".to_string(), |n| n.to_string());
        line.push_str(&format!("  n {}:{}", count(on.n), count(on.n_baseline)));
        if let Some(weight) = on.weight {
            line.push_str(&format!("  {:.0} %", 100.0 * weight));
        }
        named(&on.machine, widest, &line, out);
    }
    if row.agreement != Agreement::Opposite {
        let line = figures(row.ratio, row.difference, row.ci, row.verdict);
        named("pooled", widest, &line, out);
    }
    let random = row.ratio_random.or(row.difference_random);
    if let (Some(value), Some(ci)) = (random, row.ci_random) {
        let scale = row.scale;
        let line = format!("{:>9}     {}", number(value, scale), interval(ci, scale));
        named("random", widest, &line, out);
        if let Some(next) = row.prediction {
            let line = format!("{:>14}{}", "", interval(next, scale));
            named("next", widest, &line, out);
        }
    }
}

/// Whether the machines agree, in a few words.
fn standing(document: &Document, row: &Pooled) -> String {
    let several = document.across.plural();
    let test = row
        .q_p_welch
        .map_or(String::new(), |value| format!(", p {}", p(value)));
    let share = match (row.i2, row.i2_ci) {
        (Some(i2), Some([low, high])) => format!(
            ", I2 {:.0} % [{:.0}, {:.0}]",
            100.0 * i2,
            100.0 * low,
            100.0 * high
        ),
        _ => String::new(),
    };
    let where_shown = match (row.shown_on, row.machines) {
        (2, 2) => format!("on both {several}"),
        (shown, all) if shown == all => format!("on all {all} {several}"),
        (0, all) => format!("over {all} {several} together, on none alone"),
        (shown, all) => format!("on {shown} of {all} {several}"),
    };
    match row.agreement {
        Agreement::Opposite => format!("the {several} DISAGREE{test}{share}"),
        Agreement::Differ => format!("{where_shown}, which differ in size{test}{share}"),
        Agreement::Agree => format!("{where_shown}, which agree{test}{share}"),
    }
}

fn number(value: f64, scale: Scale) -> String {
    match scale {
        Scale::Raw => format!("d {}", narrow(value, signed)),
        Scale::Log | Scale::Summary => narrow(value, ratio),
    }
}

fn interval(ci: [f64; 2], scale: Scale) -> String {
    match scale {
        Scale::Raw => interval_within(INTERVAL, ci, |v| significant(v, 2)),
        Scale::Log | Scale::Summary => interval_within(INTERVAL, ci, ratio),
    }
}

fn figures(
    of_ratio: Option<f64>,
    difference: Option<f64>,
    ci: Option<[f64; 2]>,
    verdict: Verdict,
) -> String {
    let scale = if difference.is_some() {
        Scale::Raw
    } else {
        Scale::Log
    };
    let value = of_ratio.or(difference);
    let value = value.map_or("-".to_string(), |value| number(value, scale));
    let ci = ci.map_or("-".to_string(), |ci| interval(ci, scale));
    format!("{value:>9} {:<2}  {ci:<16}", verdict_mark(verdict))
}

fn named(name: &str, widest: usize, line: &str, out: &mut String) {
    let name = printable(name).replace('\n', " ");
    let mut short: String = name.chars().take(NAME).collect();
    while short.width() > NAME {
        short.pop();
    }
    let gap = " ".repeat(widest.saturating_sub(short.width()));
    out.push_str(format!("    {short}{gap} {line}").trim_end());
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Brief, Style, WIDTH, text};

    fn document(agreement: &str, names: [&str; 2]) -> Document {
        let none: [u8; 0] = [];
        let machine = |name: &str, ratio: f64| {
            serde_json::json!({
                "workload": "pipe", "metric": "time", "unit": "s", "baseline": "base",
                "configuration": "queue", "machine": name, "n_baseline": 8, "n": 8,
                "mean_baseline": 1.0, "mean": ratio, "scale": "log", "ratio": ratio,
                "difference": null, "ci": [ratio - 0.01, ratio + 0.01], "standard_error": 0.005,
                "df": 7.0, "weight": 0.5, "p_t": 0.001, "t_test": "paired", "p": 0.0078,
                "p_attainable": 0.0078, "p_adjusted": 0.0156, "p_t_adjusted": 0.002,
                "verdict": "established", "because": null,
            })
        };
        let verdict = if agreement == "opposite" {
            "undecided"
        } else {
            "established"
        };
        let pooled = serde_json::json!({
            "workload": "pipe", "metric": "time", "unit": "s", "baseline": "base",
            "configuration": "queue", "machines": 2, "shown_on": 2, "scale": "log",
            "ratio": 0.91, "difference": null, "ci": [0.903, 0.917],
            "ratio_random": 0.91, "difference_random": null, "ci_random": [0.79, 1.05],
            "prediction": [0.5, 1.5], "q": 2.0, "q_p": 0.157, "q_p_welch": 0.179, "i2": 0.5,
            "i2_ci": [0.0, 0.999], "tau2": 0.0001, "tau2_ci": [0.0, 0.1], "p_t": 0.0001,
            "p": 0.0001, "p_attainable": 0.00003, "p_adjusted": 0.0001,
            "p_t_adjusted": 0.0001, "agreement": agreement, "verdict": verdict,
            "because": null,
        });
        serde_json::from_value(serde_json::json!({
            "schema": "assize.verdict/1", "source": "a, b", "baseline": "base",
            "alpha": 0.05, "margin": 0.01, "configurations": none, "workloads": none,
            "runs": none, "summaries": none, "statements": none, "comparisons": none,
            "machines": [machine(names[0], 0.9), machine(names[1], 0.92)],
            "pooled": [pooled],
            "factorial": none, "rates": none, "rate_comparisons": none, "claims": none,
            "lints": none, "sentences": none, "reproduce": "",
        }))
        .unwrap()
    }

    fn rendered_machines(agreement: &str) -> String {
        let out = text(
            &document(agreement, ["alpha", "beta"]),
            &Brief::default(),
            Style::default(),
        );
        let from = out.find("On each").unwrap();
        out[from..].to_string()
    }

    #[test]
    fn each_machine_has_a_line_and_all_have_one_together() {
        assert!(
            rendered_machines("agree").starts_with(
                "On each of the machines, and on all together (pooled)\n  \
                 pipe: time, queue to base: on both machines, which agree, p 0.179, I2\n      \
                 50 % [0, 100]\n    \
                 alpha      0.900 **  0.890..0.910      n 8:8  50 %\n    \
                 beta       0.920 **  0.910..0.930      n 8:8  50 %\n    \
                 pooled     0.910 **  0.903..0.917\n    \
                 random     0.910     0.790..1.050\n    \
                 next                 0.500..1.500\n"
            ),
            "{}",
            rendered_machines("agree")
        );
    }

    #[test]
    fn what_contradicts_itself_has_no_pooled_line() {
        let out = rendered_machines("opposite");
        assert!(
            out.contains("the machines DISAGREE") && !out.contains("\n    pooled"),
            "{out}"
        );
    }

    #[test]
    fn no_line_is_too_wide_whatever_the_machines_are_called() {
        let long = "a-machine-with-quite-a-long-name.in.some.domain.example.org";
        for names in [
            [long, "b"],
            [
                "\u{30de}\u{30b7}\u{30f3}\u{30de}\u{30b7}\u{30f3}\u{30de}\u{30b7}\u{30f3}\u{30de}\u{30b7}\u{30f3}\u{30de}\u{30b7}\u{30f3}\u{30de}\u{30b7}",
                "x",
            ],
        ] {
            for line in text(
                &document("differ", names),
                &Brief::default(),
                Style::default(),
            )
            .lines()
            {
                assert!(line.width() <= WIDTH, "{line}");
            }
        }
    }
}
