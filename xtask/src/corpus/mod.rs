//! `cargo xtask corpus`: how well the auditor reads mails that nobody prepared.
//!
//! `corpus/labels/` says what labelled mails of public archives hold, and
//! `corpus/twins/` has for each of them a text of ours with the same layout and
//! figures. Twins are scored everywhere, the mails where their archives are. Beside
//! them stand texts that were written in the forms of other tools and posts.

mod archive;
mod causes;
mod ceiling;
mod draw;
mod explain;
mod floors;
mod label;
mod matching;
mod options;
mod reading;
mod readings;
mod score;
mod standing;
mod strata;
mod texts;
mod twin;

use std::fs;

use crate::Error;
use crate::marks;
use crate::steps::Done;
use crate::tree;
use label::Label;
use options::{Options, What};
use score::Graded;
use standing::Standing;
use texts::Archives;

const PAGE: &str = "docs/corpus.md";

/// `cargo xtask corpus …`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let options = Options::parse(arguments)?;
    match options.what {
        What::Draw => options.draw.print(options.archives()?),
        What::Twin(ref names) => make_twins(names, &options),
        What::Explain(ref name) => explain(name, &options),
        What::Each => each_twin(),
        What::Ceiling => show_ceiling(&options),
        What::Score => score_mails(&options),
        What::Twins => score_twins(&options),
    }
}

/// The step of `check`.
pub(crate) fn step() -> Result<Done, Error> {
    run(&[])?;
    Ok(Done::Ok)
}

fn score_twins(options: &Options) -> Result<(), Error> {
    let graded = texts::graded(Label::all()?, texts::twin)?;
    let readings = readings::all()?;
    for (mark, table) in [
        ("twins", score::table(&graded)),
        ("fresh", score::fresh(&graded)),
        ("causes", causes::table(&graded)),
        ("readings", readings::table(&readings)),
        ("draws", readings::draws(&readings)),
    ] {
        println!("{table}");
        if options.write {
            write(mark, &table)?;
        }
    }
    let mut broken = floors::broken(&graded)?;
    broken.extend(causes::faults(&graded));
    broken.extend(readings::faults(&readings));
    match broken.is_empty() {
        true => Ok(()),
        false => Err(broken.join("\n")),
    }
}

/// A line for each twin, with how it is grouped.
fn each_twin() -> Result<(), Error> {
    for one in texts::graded(Label::all()?, texts::twin)? {
        println!(
            "{:8} {:8} {:10} {}",
            one.label.part().word(),
            if one.grade.admitted { "judged" } else { "" },
            one.grade.grouping.word(),
            one.label.name()
        );
    }
    Ok(())
}

/// What could be read right.
fn show_ceiling(options: &Options) -> Result<(), Error> {
    let table = ceiling::table()?;
    println!("{table}");
    match options.write {
        true => write("ceiling", &table),
        false => Ok(()),
    }
}

fn score_mails(options: &Options) -> Result<(), Error> {
    let mut archives = Archives::below(options.archives()?)?;
    let labels = Label::all()?;
    let mails = labels.iter().filter(|label| label.written.is_none());
    let missing = mails.filter(|label| !archives.have(label)).count();
    let (standing, graded) = Standing::of(&mut archives)?;
    if missing > 0 {
        println!("{missing} labels are left out: no clone of their archives is there\n");
    }
    let table = mails_table(&graded, &standing);
    println!("{table}");
    for differing in &standing.differing {
        println!("{differing}");
    }
    if options.write {
        if missing > 0 {
            return Err("--write wants the archives of all labels".into());
        }
        write("mails", &table)?;
    }
    match standing.percent() < standing::LEAST {
        true => Err(format!("{} Twins must stand for them", standing.line())),
        false => Ok(()),
    }
}

fn mails_table(graded: &[Graded], standing: &Standing) -> String {
    format!("{}\n{}\n", score::table(graded), standing.line())
}

/// Makes twins of the labels named, or of all that have none.
fn make_twins(names: &[String], options: &Options) -> Result<(), Error> {
    let mut archives = Archives::below(options.archives()?)?;
    let labels = Label::all()?;
    let mut wanted = Vec::new();
    for name in names {
        let label = labels.iter().find(|label| label.name() == *name);
        wanted.push(label.ok_or(format!("{name}: no such label"))?);
    }
    if names.is_empty() {
        for label in &labels {
            if label.written.is_none() && !label.twin()?.exists() {
                wanted.push(label);
            }
        }
    }
    twin::write(&wanted, &mut archives)
}

fn explain(name: &str, options: &Options) -> Result<(), Error> {
    let labels = Label::all()?;
    let mut found = labels.iter().filter(|label| label.name().contains(name));
    let label = found.next().ok_or(format!("{name}: no such label"))?;
    if let Some(other) = found.next() {
        return Err(format!("{name}: is {} and {}", label.name(), other.name()));
    }
    let text = match options.archives {
        Some(_) => Archives::below(options.archives()?)?.mail(label)?,
        None => texts::twin(label)?,
    };
    println!("{}", explain::text(label, &text)?);
    Ok(())
}

/// Puts a table into the page.
fn write(mark: &str, table: &str) -> Result<(), Error> {
    let path = tree::root()?.join(PAGE);
    let fault = |why| format!("{PAGE}: {why}");
    let page = fs::read_to_string(&path).map_err(fault)?;
    let page = marks::put(
        &page,
        &format!("table: corpus-{mark}"),
        &format!("\n\n{table}\n"),
    )
    .map_err(|why| format!("{PAGE}: {why}"))?;
    fs::write(&path, page).map_err(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_of_many_lists_and_years_and_hold_enough_comparisons() {
        let mut labels = Label::all().unwrap();
        labels.retain(|label| label.written.is_none());
        let count = |of: fn(&Label) -> String| {
            let mut all: Vec<String> = labels.iter().map(of).collect();
            all.sort();
            all.dedup();
            all.len()
        };
        assert!(labels.len() >= 200, "{}", labels.len());
        assert!(count(|label| label.list.clone()) >= 8);
        assert!(count(|label| label.year.to_string()) >= 8);
        assert_eq!(count(|label| label.message_id.clone()), labels.len());
        let comparisons = labels.iter().filter(|label| label.comparison.is_some());
        assert!(comparisons.count() >= 60);
    }
}
