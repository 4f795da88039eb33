//! The index of bundles: a page with one row per bundle and its answers.

use assize_verdict::Document;
use serde::Serialize;

use super::{HtmlError, environment, render};
use crate::MetricWords;
use crate::contrasts::{
    Wordings, by_event, by_metric, describe_outcome, effect_with_interval, ranked_outcomes,
};

/// At most this many answers per bundle are shown; the rest are counted.
const SHOWN: usize = 4;
/// Hides the rows that do not contain the search words.
const SCRIPT: &str = include_str!("script/library.js");

/// The bundles in a directory tree.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct BundleLibrary {
    /// The directory.
    pub source: String,
    /// The bundles, newest first.
    pub rows: Vec<LibraryRow>,
}

/// One bundle.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LibraryRow {
    /// The path of the bundle.
    pub path: String,
    /// The title of the experiment.
    pub title: String,
    /// The question of the experiment; may be empty.
    pub question: String,
    /// Its answers.
    pub answers: Vec<LibraryAnswer>,
    /// The number of contrasts not shown.
    pub more: usize,
    /// The day of its last run; empty if unknown.
    pub date: String,
    /// The kernels that it ran on.
    pub kernels: Vec<String>,
    /// The configurations; they name commits if commits were compared.
    pub configurations: Vec<String>,
    /// The number of runs.
    pub runs: usize,
    /// Why it could not be judged.
    pub problem: Option<String>,
}

/// One configuration on one metric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LibraryAnswer {
    /// `Time CPUs were not idle (less is better)`.
    pub heading: String,
    /// `depq: better in both workloads, sync -46.8 % (28.2 -> 15.0 us)`.
    pub text: String,
}

/// Typesets an answer: `->` becomes an arrow, `us` becomes `µs`, and `%` is not separated from its
/// figure.
fn on_paper(text: &str) -> String {
    text.replace(" us)", " µs)")
        .replace(" us ->", " µs ->")
        .replace("->", "→")
        .replace(" %", "\u{a0}%")
}

impl LibraryRow {
    /// Adds the answers of a document: the endings of runs, then the most striking contrast of each
    /// metric.
    pub fn answer(&mut self, document: &Document, metrics: &[MetricWords]) {
        let words = Wordings(metrics);
        let mut first = Vec::new();
        let mut rest = 0;
        for row in ranked_outcomes(document) {
            rest += 1;
            first.push(LibraryAnswer {
                heading: "How runs ended".into(),
                text: on_paper(&describe_outcome(row)),
            });
        }
        for one in by_metric(document, words) {
            rest += one.contrasts.len();
            let Some(contrast) = one.contrasts.first() else {
                continue;
            };
            let row = contrast.best_and_worst().into_iter().next();
            let size = row.map(|(row, came_out)| {
                let effect = effect_with_interval(document, row, came_out);
                match contrast.rows.len() {
                    1 => effect,
                    _ => format!("{} {effect}", row.workload),
                }
            });
            let said = format!("{}: {}", contrast.name, contrast.verdict());
            first.push(LibraryAnswer {
                heading: words.heading(one.metric),
                text: on_paper(&[said, size.unwrap_or_default()].join(", ")),
            });
        }
        for one in by_event(document, words) {
            rest += one.contrasts.len();
            let Some(contrast) = one.contrasts.first() else {
                continue;
            };
            let verdict = contrast.outcome.words(document.margin);
            first.push(LibraryAnswer {
                heading: words.heading(one.event),
                text: on_paper(&format!(
                    "{}: {verdict}, {}",
                    contrast.name,
                    contrast.effect()
                )),
            });
        }
        first.truncate(SHOWN);
        self.more = rest - first.len();
        self.answers = first;
    }
}

/// Returns the index as a page. The same input gives the same bytes.
///
/// # Errors
/// [`HtmlError`], never because of the contents of the bundles.
pub fn library(library: &BundleLibrary) -> Result<String, HtmlError> {
    let style = concat!(
        include_str!("style/page.css"),
        include_str!("style/index.css")
    );
    let view = minijinja::context! {
        title => match library.source.as_str() {
            "." => "Experiments".to_owned(),
            source => format!("Experiments in {source}"),
        },
        rows => library.rows,
    };
    Ok(render(
        &environment()?,
        "library.html",
        [style, SCRIPT],
        view,
    )?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bundle_has_a_row_and_what_it_says_is_text() {
        let row = |question: &str, problem: Option<&str>| LibraryRow {
            path: "a/<b>.bundle".into(),
            question: question.into(),
            answers: vec![LibraryAnswer {
                heading: "Time (less is better)".into(),
                text: "new: better, -20.0 % (10.2 -> 8.16 s)".into(),
            }],
            problem: problem.map(str::to_owned),
            ..LibraryRow::default()
        };
        let of = BundleLibrary {
            source: "here".into(),
            rows: vec![
                row("</script><script>alert(1)</script>", None),
                row("b", Some("broken")),
            ],
        };
        let page = library(&of).unwrap_or_default();
        assert_eq!(page.matches("<tr data-bundle=").count(), 2, "{page}");
        assert_eq!(page.matches("<script").count(), 1, "the script of the page");
        assert!(page.contains("new: better, -20.0 %") && page.contains("broken"));
        assert!(
            page.contains(
                &crate::html::block::policy(
                    concat!(
                        include_str!("style/page.css"),
                        include_str!("style/index.css")
                    ),
                    SCRIPT
                )
                .replace('\'', "&#x27;")
                .replace('/', "&#x2f;")
            )
        );
    }
}
