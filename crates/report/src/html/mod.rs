//! The report as a single HTML file that needs no network.
//!
//! Everything that must be visible without a script is HTML: the question, the answer, the verdict
//! grid, data problems, limits, and how to reproduce the report. The script adds plots, other
//! baselines and interactive choices, from compressed data in the page. It computes no statistics:
//! the verdicts for each baseline come from documents.
//!
//! A Content-Security-Policy allows only the page's style and script, by hash, and no requests.

mod answer;
mod attributed;
mod block;
mod grid;
mod hero;
mod index;
mod library;
mod lists;
mod machines;
mod moments;
mod outcomes;
mod overview;
mod pack;
mod page;
mod post;
mod scale;
mod scatter;
mod tables;
mod tradeoffs;
mod trend;
mod view;
mod why;

use minijinja::Environment;

pub use index::{ArchiveIndex, IndexRow, index};
pub use library::{BundleLibrary, LibraryAnswer, LibraryRow, library};
pub use page::{About, Attributions, PostFigure, PostLine, ReadPost, ReportPage, ShellWords};
pub use trend::trend;
pub use why::why;

/// The style sheets, in the order in which they apply.
const STYLE: [&str; 5] = [
    include_str!("style/page.css"),
    include_str!("style/hero.css"),
    include_str!("style/plots.css"),
    include_str!("style/print.css"),
    why::FLAME_STYLE,
];

/// The script: several files joined into one closure.
const SCRIPT: [&str; 19] = [
    include_str!("script/unpack.js"),
    include_str!("script/data.js"),
    include_str!("script/number.js"),
    include_str!("script/svg.js"),
    include_str!("script/marks.js"),
    include_str!("script/table.js"),
    include_str!("script/grid.js"),
    include_str!("script/detail.js"),
    include_str!("script/forest.js"),
    include_str!("script/machines.js"),
    include_str!("script/distribution.js"),
    include_str!("script/runs.js"),
    include_str!("script/factors.js"),
    include_str!("script/events.js"),
    include_str!("script/timeline.js"),
    why::FLAME_SCRIPT[0],
    why::FLAME_SCRIPT[1],
    include_str!("script/attributed.js"),
    include_str!("script/main.js"),
];

/// The templates of all pages.
const TEMPLATES: [(&str, &str); 17] = [
    ("attributed.html", include_str!("template/attributed.html")),
    ("flame.html", include_str!("template/flame.html")),
    ("figure.html", include_str!("template/figure.html")),
    ("head.html", include_str!("template/head.html")),
    ("hero.html", include_str!("template/hero.html")),
    ("outcomes.html", include_str!("template/outcomes.html")),
    ("index.html", include_str!("template/index.html")),
    ("library.html", include_str!("template/library.html")),
    ("moments.html", include_str!("template/moments.html")),
    ("page.html", include_str!("template/page.html")),
    ("verdicts.html", include_str!("template/verdicts.html")),
    ("plots.html", include_str!("template/plots.html")),
    ("tradeoffs.html", include_str!("template/tradeoffs.html")),
    ("runs.html", include_str!("template/runs.html")),
    ("trend.html", include_str!("template/trend.html")),
    ("why.html", include_str!("template/why.html")),
    ("rest.html", include_str!("template/rest.html")),
];

/// Why a page could not be rendered. Each variant is a bug in assize.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HtmlError {
    /// A template is invalid.
    #[error("the page's template: {0:#}")]
    Template(#[from] minijinja::Error),
    /// The data could not be embedded in the page.
    #[error("the page's data: {0}")]
    Data(std::io::Error),
}

/// Renders the report as a page. The same input gives the same bytes.
///
/// # Errors
/// [`HtmlError`], never because of the contents of the documents.
pub fn html(page: &ReportPage<'_>) -> Result<String, HtmlError> {
    let style = STYLE.concat();
    let script = format!("(() => {{\n'use strict';\n{}}})();\n", SCRIPT.concat());
    let environment = environment()?;
    let heroes = heroes(page, &environment)?;
    let data = block::deflate_json(&pack::pack_page(page, &heroes)).map_err(HtmlError::Data)?;
    let view = view::PageView::new(page);
    let view = minijinja::context! {
        data => minijinja::Value::from_safe_string(data),
        ..minijinja::Value::from_serialize(&view)
    };
    Ok(render(&environment, "page.html", [&style, &script], view)?)
}

/// Renders a page with its style and script, which is empty if it has none.
fn render(
    environment: &Environment<'_>,
    name: &str,
    [style, script]: [&str; 2],
    view: minijinja::Value,
) -> Result<String, minijinja::Error> {
    let template = environment.get_template(name)?;
    template.render(minijinja::context! {
        policy => block::policy(style, script),
        style => minijinja::Value::from_safe_string(style.to_owned()),
        script => minijinja::Value::from_safe_string(script.to_owned()),
        version => env!("CARGO_PKG_VERSION"),
        ..view
    })
}

/// The first screens for the other baselines, rendered like the one in the page.
fn heroes(
    page: &ReportPage<'_>,
    environment: &Environment<'_>,
) -> Result<Vec<String>, minijinja::Error> {
    let template = environment.get_template("hero.html")?;
    let others = page.others.iter();
    let heroes = others.map(|other| {
        let hero = hero::hero(other, &page.about.metrics);
        template.render(minijinja::context! { hero => hero })
    });
    heroes.collect()
}

/// An environment with the templates, which escapes every value as text.
fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_formatter(format_value);
    for (name, source) in TEMPLATES {
        environment.add_template(name, source)?;
    }
    Ok(environment)
}

/// Writes a value as typeset for readers. Attributes that scripts and tests read need the raw text:
/// `{{ text | e }}`.
fn format_value(
    out: &mut minijinja::Output<'_>,
    state: &minijinja::State<'_, '_>,
    value: &minijinja::Value,
) -> Result<(), minijinja::Error> {
    match value.as_str() {
        Some(text) if !value.is_safe() => {
            let text = crate::printable(text);
            minijinja::escape_formatter(out, state, &minijinja::Value::from(text.as_ref()))
        }
        _ => minijinja::escape_formatter(out, state, value),
    }
}
