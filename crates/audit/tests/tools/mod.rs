//! The grammars of tools, each on what the tool printed.

use assize_audit::Line;
use assize_audit::grammar::{Figure, Finding, Labels, all};
use assize_bundle::Spread;
use proptest::prelude::*;

mod benchmarks;
mod benchstat;
mod hyperfine;
mod lkp;
mod ministat;
mod posted;
mod powertop;
mod prose;
mod robust;
mod suites_of_benchmarks;
mod turbostat;

/// A summary's configuration, workload, figure, deviation and number of runs.
type Told = (String, String, Figure, Option<f64>, Option<u32>);

/// What a text was read for.
#[derive(Debug, Default)]
struct Read {
    /// Line (from 1) and finding.
    findings: Vec<(usize, Finding)>,
    /// What each line was taken for; empty for prose.
    taken: Vec<&'static str>,
}

/// Reads a text as the auditor does: at each line the first format that reads
/// a block gets it.
fn read(text: &str) -> Read {
    let lines: Vec<Line<'_>> = (1..)
        .zip(text.lines())
        .map(|(number, text)| Line::plain(number, text.trim_end()))
        .collect();
    let mut all_read = Read::default();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let rest = &lines[at..];
        let block = all()
            .iter()
            .filter(|g| g.starts(&line.text))
            .find_map(|g| g.read(rest));
        match block {
            None => {
                all_read.taken.push("");
                at += 1;
            }
            Some(block) => {
                assert!((1..=rest.len()).contains(&block.taken.len()));
                for (index, finding) in block.findings {
                    assert!(index < block.taken.len());
                    check(&finding);
                    all_read.findings.push((at + index + 1, finding));
                }
                at += block.taken.len();
                all_read.taken.extend(block.taken);
            }
        }
    }
    all_read
}

/// What the interface promises of every finding.
fn check(finding: &Finding) {
    match finding {
        Finding::Run { figures, .. } => {
            assert!(!figures.is_empty());
            for (i, figure) in figures.iter().enumerate() {
                assert!(figure.value.is_finite());
                let twin = figures[..i].iter().any(|f| f.metric == figure.metric);
                assert!(!twin, "{figures:?}");
            }
        }
        Finding::Summary { figure, .. } | Finding::Statement { figure, .. } => {
            assert!(figure.value.is_finite());
        }
        Finding::Doubt(code, sentence) => assert!(!code.is_empty() && !sentence.is_empty()),
        _ => {}
    }
}

impl Read {
    /// The codes of the doubts, in order.
    fn doubts(&self) -> Vec<&'static str> {
        let doubt = |(_, f): &(usize, Finding)| match f {
            Finding::Doubt(code, _) => Some(*code),
            _ => None,
        };
        self.findings.iter().filter_map(doubt).collect()
    }

    /// Configuration, workload, figure, standard deviation and number of runs
    /// of each summary.
    fn summaries(&self) -> Vec<Told> {
        let summary = |(_, f): &(usize, Finding)| match f {
            Finding::Summary {
                labels,
                figure,
                spread,
                n,
            } => {
                let deviation = match spread {
                    Some(Spread::StandardDeviation(d)) => Some(*d),
                    other => {
                        assert_eq!(*other, None);
                        None
                    }
                };
                let name = |label: &Option<String>| label.clone().unwrap_or_default();
                let (configuration, workload) = (&labels.configuration, &labels.workload);
                Some((
                    name(configuration),
                    name(workload),
                    figure.clone(),
                    deviation,
                    *n,
                ))
            }
            _ => None,
        };
        self.findings.iter().filter_map(summary).collect()
    }

    /// The runs with the lines they stand at.
    fn runs(&self) -> Vec<(usize, &Labels, &[Figure])> {
        let run = |(line, f): &'_ (usize, Finding)| match f {
            Finding::Run { .. } => Some(*line),
            _ => None,
        };
        let lines = self.findings.iter().filter_map(run);
        let bodies = self.findings.iter().filter_map(|(_, f)| match f {
            Finding::Run { labels, figures } => Some((labels, figures.as_slice())),
            _ => None,
        });
        lines.zip(bodies).map(|(l, (a, b))| (l, a, b)).collect()
    }

    /// The value and unit of a metric of the only run.
    fn figure(&self, metric: &str) -> Option<(f64, String)> {
        let runs = self.runs();
        assert_eq!(runs.len(), 1);
        runs[0]
            .2
            .iter()
            .find(|f| f.metric == metric)
            .map(|f| (f.value, f.unit.clone()))
    }
}

/// A value and unit, to compare with [`Read::figure`].
fn of(value: f64, unit: &str) -> Option<(f64, String)> {
    Some((value, unit.to_owned()))
}
