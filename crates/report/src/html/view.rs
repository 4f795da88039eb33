//! The input of the templates.

use assize_verdict::Scale;
use serde::Serialize;

use super::page::ReportPage;
use super::{
    answer, attributed, grid, hero, lists, machines, moments, outcomes, overview, post, tables,
    tradeoffs,
};
use crate::brief::{Brief, counts};
use crate::contrasts::{Wordings, describe_all_completed};
use crate::number::short;
use crate::style::Style;
use crate::text::text;

/// Everything in the page that is visible without a script.
#[derive(Debug, Serialize)]
pub(super) struct PageView<'p> {
    title: String,
    question: String,
    source: String,
    baseline: Option<String>,
    target: Option<String>,
    counts: Vec<String>,
    alpha: String,
    level: String,
    margin: String,
    raw: bool,
    hero: hero::Hero,
    ended: Vec<outcomes::EndedRuns>,
    /// Which runs the figures are from, if some did not complete.
    completed: Option<String>,
    look: Option<String>,
    sentences: Vec<answer::AnswerSentence>,
    tally: Vec<answer::VerdictTally>,
    compared: usize,
    claims: Vec<answer::ClaimLine>,
    overviews: Vec<overview::Overview>,
    grids: Vec<grid::MetricGrid>,
    tables: Vec<tables::DeclaredTableView>,
    tradeoffs: Vec<tradeoffs::TradeoffView>,
    machines: Option<machines::Machines>,
    rates: Vec<lists::EventRate>,
    statements: Vec<lists::StatedFigure>,
    identities: Vec<String>,
    lints: Vec<lists::LintGroup>,
    lint_count: usize,
    limits: Vec<String>,
    facts: Vec<(String, String)>,
    rerun: Option<String>,
    reproduce: String,
    experiment: Option<String>,
    mail: String,
    thinned: Vec<String>,
    post: Option<post::PostView>,
    why: Option<attributed::AttributedView<'p>>,
    moments: Vec<moments::MomentsView>,
    /// Which plots have data.
    has: PlotsPresent,
}

/// Which plots have data.
#[derive(Debug, Serialize)]
struct PlotsPresent {
    runs: bool,
    curves: bool,
    factorial: bool,
    floor: bool,
    cpus: bool,
    timeline: bool,
    others: bool,
}

impl<'p> PageView<'p> {
    pub(super) fn new(page: &'p ReportPage<'_>) -> Self {
        let document = page.document;
        let about = &page.about;
        let compared = document.comparisons.len();
        let asked = Brief {
            metrics: &about.metrics,
            question: Some(&about.question),
            ..Brief::default()
        };
        PageView {
            title: if about.title.is_empty() {
                document.source.clone()
            } else {
                about.title.clone()
            },
            question: about.question.clone(),
            source: document.source.clone(),
            baseline: document.baseline.clone(),
            target: about.target.clone(),
            counts: counts(document),
            alpha: short(document.alpha),
            level: short(document.level * 100.0),
            margin: short(document.margin * 100.0),
            raw: document.comparisons.iter().any(|c| c.scale == Scale::Raw),
            hero: hero::hero(document, &about.metrics),
            ended: outcomes::ended_runs(page),
            completed: describe_all_completed(document),
            look: document.look.clone(),
            sentences: answer::sentences(document),
            tally: answer::tally(document),
            compared,
            claims: answer::claims(document),
            overviews: overview::overviews(page),
            grids: grid::grids(page),
            tables: tables::tables(document),
            tradeoffs: tradeoffs::tradeoffs(document),
            machines: machines::machines(document),
            rates: lists::rates(document),
            statements: lists::statements(document),
            identities: lists::identities(document),
            lints: lists::lints(page),
            lint_count: document.lints.len(),
            limits: document.limits.clone(),
            facts: about.facts.clone(),
            rerun: document.rerun.clone(),
            reproduce: document.reproduce.clone(),
            experiment: about.experiment.clone(),
            mail: text(document, &asked, Style::default()),
            thinned: page.evidence.thinned.clone(),
            post: page
                .post
                .as_ref()
                .map(|post| post::post_view(post, document, Wordings(&about.metrics))),
            why: attributed::attributed_view(page),
            moments: moments::moments(page),
            has: plots_present(page),
        }
    }
}

fn plots_present(page: &ReportPage<'_>) -> PlotsPresent {
    let document = page.document;
    let per_cpu = |name: &String| cpu_of(name).is_some();
    PlotsPresent {
        runs: !document.runs.is_empty(),
        curves: !page.evidence.curves.is_empty(),
        factorial: !document.factorial.is_empty(),
        floor: !document.noise_floor.is_empty(),
        cpus: document
            .runs
            .iter()
            .any(|run| run.metrics.keys().any(per_cpu)),
        timeline: !page.timelines.is_empty(),
        others: !page.others.is_empty(),
    }
}

/// The CPU of a metric such as `cpu3_non_idle`.
fn cpu_of(metric: &str) -> Option<u32> {
    let number = metric.strip_prefix("cpu")?.strip_suffix("_non_idle")?;
    number.parse().ok()
}
