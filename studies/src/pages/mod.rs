//! The pages that report whole experiments; their tables are generated from bundles.
//!
//! A table is between `<!-- made: NAME -->` and `<!-- end -->`. The text around it is written by
//! hand, and must be reviewed when the table changes.

mod dep_queue;
mod dep_queue_shapes;
mod drm_sched_eras;
mod figures;
mod packing;
mod packing_cpus;
mod packing_more;
mod report;
mod run_job_latency;

use std::path::Path;

use serde_json::Value;

use report::Report;
use xtask::{Error, agent, assize, files, marks, tree};

/// An experiment that is carried out for a page.
struct Part {
    /// The name of its bundle.
    name: &'static str,
    file: &'static str,
    /// Options of `assize run`.
    more: &'static [&'static str],
    /// Options of `assize report`.
    asked: &'static [&'static str],
}

/// A page: its file, the experiments that it reports, and its tables by name.
struct Page {
    name: &'static str,
    file: &'static str,
    parts: &'static [Part],
    tables: &'static [(&'static str, Make)],
}

/// A function that makes a table from the reports of a page's parts, in order.
type Make = fn(&[Report]) -> String;

static PAGES: [Page; 7] = [
    dep_queue::PAGE,
    dep_queue_shapes::PAGE,
    drm_sched_eras::PAGE,
    run_job_latency::PAGE,
    packing::PAGE,
    packing_more::PAGE,
    packing_cpus::PAGE,
];

/// `cargo studies pages [--write] [--from DIRECTORY] [PAGE...]`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let mut write = false;
    let mut asked: Vec<&Page> = Vec::new();
    let mut from = tree::root()?.join("target/pages");
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--write" => write = true,
            "--from" => from = words.next().ok_or("--from: no directory")?.into(),
            other => match PAGES.iter().find(|page| page.name == other) {
                Some(page) => asked.push(page),
                None => return Err(format!("'{other}' is no page and no option")),
            },
        }
    }
    if asked.is_empty() {
        asked = PAGES.iter().collect();
    }
    agent::run(&[])?;
    assize::build()?;
    files::create(&from)?;
    for page in asked {
        let reports = page.parts.iter().map(|part| part.report(&from));
        let reports = reports.collect::<Result<Vec<Report>, Error>>()?;
        for (name, table) in page.tables {
            let table = table(&reports);
            println!("{}, {name}\n\n{table}", page.file);
            if write {
                marks::write(page.file, &format!("made: {name}"), &format!("\n{table}"))?;
            }
        }
    }
    Ok(())
}

impl Part {
    /// Executes the runs that its bundle lacks, and returns its report.
    fn report(&self, from: &Path) -> Result<Report, Error> {
        let bundle = from.join(format!("{}.bundle", self.name));
        let bundle = bundle.to_str().ok_or("the directory is not UTF-8")?;
        let arguments = match Path::new(bundle).exists() {
            true => vec!["run", "--resume", bundle],
            false => [&["run", self.file, "--out", bundle], self.more].concat(),
        };
        println!("assize {}", arguments.join(" "));
        assize::judged(&arguments)?;
        let asked = [&["report", bundle, "--format", "json"], self.asked].concat();
        let text = assize::judged(&asked)?;
        let document = serde_json::from_slice(&text).map_err(|why| format!("{bundle}: {why}"))?;
        has_baseline(&document, self.asked).map_err(|why| format!("{bundle}: {why}"))?;
        let runs = tree::runs(Path::new(bundle))?;
        Ok(Report { document, runs })
    }
}

/// If a baseline was requested, checks that the report uses it, because the tables are comparisons
/// with it.
fn has_baseline(document: &Value, asked: &[&str]) -> Result<(), Error> {
    let mut words = asked.iter().skip_while(|word| **word != "--baseline");
    match words.nth(1) {
        Some(wanted) if document["baseline"] != *wanted => Err(format!(
            "compares with {}, not with {wanted}",
            document["baseline"]
        )),
        _ => Ok(()),
    }
}

/// A Markdown table; columns from `numbers` on are aligned to the right.
fn table(heading: &[&str], numbers: usize, rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let heading_cells: Vec<String> = heading.iter().map(ToString::to_string).collect();
    let rules: Vec<String> = (0..heading.len())
        .map(|at| if at < numbers { "---" } else { "---:" }.to_string())
        .collect();
    let head = [line(&heading_cells), line(&rules)].concat();
    head + &rows.iter().map(|row| line(row)).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_compares_with_another_configuration_is_an_error() {
        let document = serde_json::json!({ "baseline": "6.12" });
        assert_eq!(has_baseline(&document, &[]), Ok(()));
        assert_eq!(has_baseline(&document, &["--baseline", "6.12"]), Ok(()));
        let why = has_baseline(&document, &["--seed", "1", "--baseline", "7"]).unwrap_err();
        assert_eq!(why, "compares with \"6.12\", not with 7");
        assert!(has_baseline(&Value::Null, &["--baseline", "7"]).is_err());
    }

    #[test]
    fn numbers_stand_at_the_right() {
        let rows = [vec!["a".into(), "1".into()]];
        assert_eq!(
            table(&["what", "n"], 1, &rows),
            "| what | n |\n| --- | ---: |\n| a | 1 |\n"
        );
    }
}
