//! The results of `assize why` that a bundle keeps, or the command to get one.

use assize_verdict::{Comparison, Document, Verdict};
use assize_why::Kept;
use assize_why::difference::DifferenceRow;
use serde::Serialize;
use serde_json::{Value, json};

use super::page::ReportPage;
use super::why::{FunctionLine, lines, pack_result};
use crate::why::{account, seeds, sentence};

/// Maximum number of functions per result that the page lists without a script.
const FUNCTIONS: usize = 10;

/// The data for the template.
#[derive(Debug, Serialize)]
pub(super) struct AttributedView<'p> {
    answers: Vec<AttributedAnswer<'p>>,
    /// A command for one comparison, if no result is kept.
    ask: Option<String>,
}

#[derive(Debug, Serialize)]
struct AttributedAnswer<'p> {
    workload: &'p str,
    a: &'p str,
    b: &'p str,
    per: &'p str,
    sentence: String,
    account: String,
    seeds: String,
    several: bool,
    functions: Vec<FunctionLine<'p>>,
    /// How many further functions there are.
    others: usize,
    command: Option<String>,
}

/// Returns `None` if there is neither a result nor such a command.
pub(super) fn attributed_view<'p>(page: &'p ReportPage<'_>) -> Option<AttributedView<'p>> {
    let document = page.document;
    let answers: Vec<AttributedAnswer<'p>> =
        kept_results(page).map(|kept| answer(page, kept)).collect();
    let suggested = || {
        let row = worth_asking(document, &page.about.primary)?;
        command(page, &row.baseline, &row.configuration, &row.workload, 1)
    };
    let ask = if answers.is_empty() {
        Some(suggested()?)
    } else {
        None
    };
    Some(AttributedView { answers, ask })
}

/// The results whose configurations and workload are in the document.
fn kept_results<'p>(page: &'p ReportPage<'_>) -> impl Iterator<Item = &'p Kept> {
    page.attributions.kept.iter().filter(|kept| {
        let why = &kept.why;
        let both = [&why.a, &why.b].map(|name| configuration(page.document, name));
        both.iter().all(Option::is_some) && workload(page.document, &why.workload).is_some()
    })
}

fn configuration(document: &Document, name: &str) -> Option<usize> {
    let mut names = document.configurations.iter();
    names.position(|one| one.name == name)
}

fn workload(document: &Document, name: &str) -> Option<usize> {
    document.workloads.iter().position(|one| one == name)
}

fn answer<'p>(page: &ReportPage<'_>, kept: &'p Kept) -> AttributedAnswer<'p> {
    let why = &kept.why;
    let differ = |row: &&DifferenceRow| row.difference != 0.0;
    let differing = why.functions.iter().filter(differ).count();
    let first = why.functions.get(..differing.min(FUNCTIONS));
    let first = first.unwrap_or_default();
    let seeds_asked = why.seeds.len();
    AttributedAnswer {
        workload: &why.workload,
        a: &why.a,
        b: &why.b,
        per: &why.per,
        sentence: sentence(why),
        account: account(why),
        seeds: seeds(why),
        several: why.p_attainable.is_some(),
        // The last row is the total, which is in the sentence.
        functions: {
            let mut functions = lines(first, &why.total);
            functions.pop();
            functions
        },
        others: why.functions.len() - first.len(),
        command: command(page, &why.a, &why.b, &why.workload, seeds_asked),
    }
}

/// The command that compares two configurations on a workload.
fn command(page: &ReportPage<'_>, a: &str, b: &str, on: &str, seeds: usize) -> Option<String> {
    let shell = page.attributions.shell.as_ref()?;
    let [a, b] = [a, b].map(|name| {
        let at = configuration(page.document, name)?;
        shell.configurations.get(at)
    });
    let on = shell.workloads.get(workload(page.document, on)?)?;
    let mut text = format!("assize why {} {} {} --workload {on}", shell.source, a?, b?);
    if seeds > 1 {
        text += &format!(" --seeds {seeds}");
    }
    Some(text + " --keep")
}

/// The comparison that a reader would probably ask about first: established if possible, and on a
/// primary metric if there is one.
fn worth_asking<'d>(document: &'d Document, primary: &[String]) -> Option<&'d Comparison> {
    let rows = document.comparisons.iter();
    rows.min_by_key(|row| {
        (
            !primary.contains(&row.metric),
            row.verdict != Verdict::Established,
        )
    })
}

/// The input of the script: the frames of each result, and the words of commands.
pub(super) fn data(page: &ReportPage<'_>) -> [Value; 2] {
    let answers = kept_results(page).map(|kept| {
        let why = &kept.why;
        let mut value = pack_result(why, &kept.flame);
        let both = [&why.a, &why.b].map(|name| configuration(page.document, name));
        if let Some(fields) = value.as_object_mut() {
            fields.insert("c".into(), json!(both));
            fields.insert("w".into(), json!(workload(page.document, &why.workload)));
        }
        value
    });
    let shell = page.attributions.shell.as_ref().map(|shell| {
        json!({
            "source": shell.source,
            "configurations": shell.configurations,
            "workloads": shell.workloads,
        })
    });
    [answers.collect(), json!(shell)]
}
