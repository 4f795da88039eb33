//! The report as a plain-text mail.

mod comparisons;
mod declared;
mod grid;
mod machines;
mod outcomes;
mod secondary;
mod tables;
mod tradeoffs;

use std::collections::BTreeMap;

use assize_verdict::{Document, IdentityDifference};

use crate::brief::{self, Brief};
use crate::contrasts::remaining_sentences;
use crate::style::Style;
use crate::wrap::{push_wrapped, push_wrapped_code};

/// Explains `d` in a table.
const DIFFERENCE: &str = " d: a difference (for percentages, in points), because values of zero or \
                          less have no ratio.";

/// Returns the report as text of at most [`WIDTH`](crate::wrap::WIDTH) columns: the head of
/// [`crate::brief()`], followed by everything else. Secondary metrics are only named, unless
/// [`Brief::all`] is set.
pub fn text(document: &Document, asked: &Brief<'_>, style: Style) -> String {
    let [mut out, answer] = brief::head(document, asked, style);
    out.push('\n');
    claims(document, &mut out);
    out.push_str(&answer);
    out.push('\n');
    remarks(document, &mut out);
    outcomes::outcomes(document, &mut out);
    let (shown, left_out) = secondary::without(document, asked);
    let lints_of_a_code = shown.as_ref().map_or(LINTS_OF_A_CODE, |_| 1);
    let document = shown.as_ref().unwrap_or(document);
    comparisons::comparisons(document, asked.all, style, &mut out);
    undecided(document, &mut out);
    out.push_str(&left_out);
    machines::tables(document, &mut out);
    tradeoffs::tradeoffs(document, style, &mut out);
    declared::tables(document, style, &mut out);
    tables::noise_floor(document, asked.all, &mut out);
    tables::factorial(document, style, &mut out);
    tables::rates(document, &mut out);
    tables::statements(document, &mut out);
    identities(document, asked.all, &mut out);
    lints(document, lints_of_a_code, &mut out);
    limits(document, &mut out);
    let report = Some(&document.reproduce).filter(|command| !command.is_empty());
    let commands: Vec<&String> = document.rerun.iter().chain(report).collect();
    if !commands.is_empty() {
        out.push_str("Reproduce:\n");
    }
    for command in commands {
        push_wrapped_code(&mut out, command);
    }
    out
}

/// The sentences that add something to the answer.
fn remarks(document: &Document, out: &mut String) {
    let mut any = false;
    for sentence in remaining_sentences(document) {
        push_wrapped(out, "- ", "  ", &sentence.text);
        any = true;
    }
    if any {
        out.push('\n');
    }
}

fn claims(document: &Document, out: &mut String) {
    for claim in &document.claims {
        let first = format!("Claim ({}): ", claim.origin.words());
        push_wrapped(out, &first, "       ", &claim.text);
        push_wrapped(
            out,
            "  ",
            "  ",
            &format!("{}. {}", claim.outcome.word().to_uppercase(), claim.because),
        );
    }
    if !document.claims.is_empty() {
        out.push('\n');
    }
}

/// At most this many reasons are listed.
const REASONS: usize = 8;

/// Why rows are undecided, except for reasons already given in the head.
fn undecided(document: &Document, out: &mut String) {
    let reasons = brief::undecided(document);
    let mut rest = reasons.iter().filter(|reason| !reason.leads).peekable();
    if rest.peek().is_none() {
        return;
    }
    out.push_str("Undecided, and why\n");
    for reason in rest.by_ref().take(REASONS) {
        let [first, others @ ..] = &reason.rows[..] else {
            continue;
        };
        let more = match others.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let name = format!(
            "{} on {}, {}",
            first.metric, first.workload, first.configuration
        );
        push_wrapped(
            out,
            "  - ",
            "    ",
            &format!("{name}{more}: {}.", reason.text),
        );
    }
    match rest.count() {
        0 => {}
        n => push_wrapped(
            out,
            "  - ",
            "    ",
            &format!("{n} more reasons: --json has them all"),
        ),
    }
    out.push('\n');
}

/// How each configuration differs from the baseline. If there are more than two, differences that
/// levels explain are only counted, unless `all` is set.
fn identities(document: &Document, all: bool, out: &mut String) {
    if document.identity_differences.is_empty() {
        return;
    }
    out.push_str("Identity: kernel, modules, programs, settings of the runs\n");
    let differences = &document.identity_differences;
    let counts = !all && differences.len() > 2;
    let explained =
        |one: &&IdentityDifference| counts && one.parts.iter().all(|part| part.by_level);
    for difference in differences.iter().filter(|one| !explained(one)) {
        push_wrapped(out, "  - ", "    ", &format!("{}.", difference.sentence()));
    }
    match differences.iter().filter(explained).count() {
        0 => {}
        n => {
            let these = assize_verdict::count_of(n, "configuration");
            let text = format!("{these} differ only in what their levels set (--all lists how).");
            push_wrapped(out, "  - ", "    ", &text);
        }
    }
    out.push('\n');
}

/// Maximum number of lines for lints of one code, if all tables are shown.
const LINTS_OF_A_CODE: usize = 8;

fn lints(document: &Document, most: usize, out: &mut String) {
    if document.lints.is_empty() {
        return;
    }
    out.push_str("Lints: problems with the data\n");
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    for lint in &document.lints {
        let count = shown.entry(lint.code.as_str()).or_default();
        *count += 1;
        if *count > most {
            continue;
        }
        push_wrapped(out, "  ", "    ", &crate::wrap::lint_line(lint));
    }
    let more: Vec<String> = shown
        .iter()
        .filter(|(_, count)| **count > most)
        .map(|(code, count)| format!("{} [{code}]", count - most))
        .collect();
    if !more.is_empty() {
        let text = format!("and {} more; --json has them all", more.join(", "));
        push_wrapped(out, "  ", "    ", &text);
    }
    if let Some(command) = document.lints.iter().find_map(|lint| lint.command.as_ref()) {
        out.push_str("  Run the first of these again:\n");
        push_wrapped_code(out, command);
    }
    out.push('\n');
}

fn limits(document: &Document, out: &mut String) {
    if document.limits.is_empty() {
        return;
    }
    out.push_str("Limits: what this target cannot tell\n");
    for limit in &document.limits {
        push_wrapped(out, "  - ", "    ", limit);
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_experiment_is_carried_out_before_it_is_reported() {
        let none: [u8; 0] = [];
        let document: Document = serde_json::from_value(serde_json::json!({
            "schema": "assize.verdict/1", "source": "bundle", "baseline": null,
            "alpha": 0.05, "margin": 0.01, "configurations": none, "workloads": none,
            "runs": none, "summaries": none, "statements": none, "comparisons": none,
            "factorial": none, "rates": none, "rate_comparisons": none, "claims": none,
            "lints": none, "sentences": none, "rerun": "assize run --cpus 2 x.toml",
            "reproduce": "assize report bundle",
        }))
        .unwrap();
        assert!(
            text(&document, &Brief::default(), Style::default())
                .ends_with("Reproduce:\n  assize run --cpus 2 x.toml\n  assize report bundle\n")
        );
    }

    #[test]
    fn the_noise_floor_and_the_limits_are_shown() {
        let floor = |metric: &str, ratio: f64| {
            serde_json::json!({
                "workload": "pipe", "metric": metric, "unit": "s",
                "baseline": "base", "configuration": "base/aa",
                "n_baseline": 8, "n": 8, "ratio": ratio,
                "ci": [ratio - 0.01, ratio + 0.01], "p_t": 0.5, "p": 0.5,
                "difference": null,
            })
        };
        let none: [u8; 0] = [];
        let document: Document = serde_json::from_value(serde_json::json!({
            "schema": "assize.verdict/1", "source": "bundle", "baseline": "base",
            "alpha": 0.05, "margin": 0.01, "configurations": none, "workloads": none,
            "runs": none, "summaries": none, "statements": none, "comparisons": none,
            "noise_floor": [floor("time", 1.002), floor("switches", 0.998)],
            "factorial": none, "rates": none, "rate_comparisons": none,
            "claims": none, "lints": none, "sentences": none,
            "limits": ["no caches are modelled"], "reproduce": "assize report bundle",
        }))
        .unwrap();
        let out = text(&document, &Brief::default(), Style::default());
        let shown = out.split_once("\n\n").unwrap().1;
        assert_eq!(
            shown,
            "The same twice: any difference is noise\n  \
             time: cannot tell: +0.20 %, -0.80 % to +1.2 %\n  \
             switches: cannot tell: -0.20 %, -1.2 % to +0.80 %\n\n\
             pipe: noise floor, base/aa to base (n = 8 against 8)\n  \
             time      1.002  0.992..1.012\n  \
             switches  0.998  0.988..1.008\n\n\
             Limits: what this target cannot tell\n  \
             - no caches are modelled\n\n\
             Reproduce:\n  assize report bundle\n"
        );
    }

    #[test]
    fn a_long_command_is_continued_between_its_words_only() {
        let claim = "'a configuration with a long name < another one on context-switches'";
        let mut out = String::new();
        push_wrapped_code(&mut out, &format!("assize audit post.txt --claim {claim}"));
        assert_eq!(
            out,
            format!("  assize audit post.txt --claim \\\n    {claim}\n")
        );
    }
}
