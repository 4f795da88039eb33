//! Groups blocks of figures into runs of a configuration and a workload.
//!
//! Names in the block itself take precedence. Otherwise the command line names the workload and
//! the nearest heading the configuration; where the block names the configuration itself (a table
//! row), the heading names the workload. Of two levels of headings the inner one is the
//! configuration, unless the words used say the opposite. Figures at different quote depths or in
//! different messages are never pooled.

mod admit;
mod apart;
mod assemble;
pub(crate) mod factors;
mod gate;
mod given;
pub(crate) mod item;
pub(crate) mod names;
mod record;
mod repeat;
mod units;

pub use assemble::is_tool;
pub use item::UNNAMED;

use std::collections::{BTreeMap, BTreeSet};

use assize_bundle::{Doubt, Place, Records};

use crate::grammar::block::{Finding, mean_figures};
use crate::grammar::cells;
use crate::grammar::form::Form;
use crate::options::{Options, Role};
use crate::scan::{Placed, Scan};
use crate::states::{are_before_and_after, baseline_first, side};
use gate::Ruling;
use item::{Item, NamedBy, Stand, doubt};
use repeat::Seen;

/// Collects the scans of all messages.
#[derive(Debug, Default)]
pub(crate) struct Grouper {
    seen: Seen,
    items: Vec<Item>,
    doubts: Vec<Doubt>,
    sleeps: Vec<(Place, f64)>,
    /// Where each quotation of a block begins, and where the original does.
    pub(crate) repeats: Vec<(Place, Place)>,
    /// Normalised subject of each message that holds figures.
    subjects: Vec<(u32, String)>,
    blocks: usize,
    /// Configurations to which a table gives the ratio 1.
    baselines: BTreeSet<String>,
    /// What was decided about each table, by line, for `--explain`.
    said: Vec<(Place, String)>,
}

/// The result of grouping a post.
pub(crate) struct Grouped {
    pub(crate) records: Records,
    /// Lines at which a quotation begins, and the original.
    pub(crate) repeats: Vec<(Place, Place)>,
    /// The decision on each table and each comparison.
    pub(crate) decisions: Vec<(Place, Vec<String>)>,
}

impl Grouper {
    /// About how much memory the figures take.
    pub(crate) fn bytes(&self) -> usize {
        self.items.len() * size_of::<Item>()
    }

    /// Adds one message.
    pub(crate) fn add(
        &mut self,
        message: u32,
        subject: Option<&str>,
        scan: Scan,
        options: &Options,
    ) {
        if !scan.placed.is_empty() {
            self.subjects.push((
                message,
                normal_subject(subject.unwrap_or_default()).to_owned(),
            ));
        }
        self.doubts.extend(scan.doubts);
        self.sleeps.extend(scan.sleeps);
        let mut context: BTreeMap<u8, (Option<String>, Option<String>)> = BTreeMap::new();
        let mut blocks = Vec::new();
        for placed in scan.placed {
            let (inner, outer) = context.entry(placed.depth).or_default();
            let mut headings = placed.headings.iter().map(|h| h.text.clone()).rev();
            *inner = headings.next().or(inner.take());
            *outer = headings.next().or(outer.take());
            blocks.push((placed, inner.clone(), outer.clone()));
        }
        for (placed, inner, outer) in blocks {
            let (placed, named_by) = self.resolve(placed, options);
            self.add_block(message, placed, (inner, outer), named_by);
        }
    }

    /// Gives the parts of a table their roles, and says of each finding what names its configuration.
    fn resolve(&mut self, mut placed: Placed, options: &Options) -> (Placed, Vec<NamedBy>) {
        let mut findings = Vec::new();
        let mut grids = Vec::new();
        for (place, finding) in std::mem::take(&mut placed.findings) {
            match finding {
                Finding::Grid(grid) => {
                    let by_ratios = grid.by_ratios();
                    let base = by_ratios
                        .as_ref()
                        .and_then(|grid| grid.rows[0].labels.last());
                    self.baselines.extend(base.cloned());
                    let parts = by_ratios.map_or_else(|| grid.parts(), |one| vec![one]);
                    grids.extend(parts.into_iter().map(|one| (place, one)))
                }
                other => findings.push((place, other)),
            }
        }
        let mut named_by = vec![NamedBy::Block; findings.len()];
        for (place, grid) in grids {
            let roles = grid.roles(options);
            if grid.hides_spreads() && options.spread.is_none() {
                let detail = "the text does not say what the +- is: it is taken for a standard \
                              error; --spread says what it is";
                self.doubts.push(doubt("spread-kind", detail, place));
            }
            if options.columns_are == Some(Role::Configurations) && roles.because.is_none() {
                let units: Vec<&str> = grid.units_of_columns(&roles.sides).into_iter().collect();
                let detail = format!(
                    "--columns-are configurations is not followed: the columns are in several \
                     units ({}), so they are metrics",
                    units.join(", ")
                );
                self.doubts.push(doubt("not-judged", detail, place));
            }
            let at = |line: usize| Place {
                line: place.line + line as u32,
                ..place
            };
            let read = grid.findings(&roles, options).into_iter();
            findings.extend(read.map(|(line, finding)| (at(line), finding)));
            let because = roles.because.filter(|_| roles.name_configurations());
            named_by.resize(findings.len(), NamedBy::Table(because));
            self.said.push((place, roles.said()));
        }
        placed.findings = findings;
        (placed, named_by)
    }

    fn add_block(
        &mut self,
        message: u32,
        placed: Placed,
        (inner, outer): (Option<String>, Option<String>),
        named_by: Vec<NamedBy>,
    ) {
        let stand = (message, placed.depth);
        let heading = inner.as_deref().unwrap_or_default();
        if let Some(original) = self.seen.repeats(&placed.findings, heading, stand) {
            if let Some((place, _)) = placed.findings.first() {
                self.repeats.push((*place, original));
                if original.message == message && placed.depth == 0 {
                    let detail = format!(
                        "the same figures as at line {}: counted once",
                        original.line
                    );
                    self.doubts.push(doubt("duplicate-rows", detail, *place));
                }
            }
            return;
        }
        self.blocks += 1;
        let mut samples = mean_figures(placed.samples.iter());
        for ((place, mut finding), named_by) in placed.findings.into_iter().zip(named_by) {
            if let Finding::Run { figures, .. } = &mut finding {
                for sample in std::mem::take(&mut samples) {
                    cells::push_new(figures, sample);
                }
            }
            self.items.push(Item {
                stand,
                place,
                finding,
                format: placed.format,
                inner: inner.clone(),
                outer: outer.clone(),
                command: placed.command.clone(),
                heading_is_nearer: placed.heading_is_nearer,
                workload: placed.workload.clone(),
                machine: placed.machine.clone(),
                block: self.blocks,
                named_by,
                older: false,
                not_admitted: false,
                configuration_label: None,
                workload_name: None,
            });
        }
    }

    /// Decides what belongs where and makes the records.
    pub(crate) fn finish(mut self, source: &str, options: &Options) -> Grouped {
        let mut stands: BTreeMap<Stand, Vec<&mut Item>> = BTreeMap::new();
        for item in &mut self.items {
            stands.entry(item.stand).or_default().push(item);
        }
        for mut here in stands.into_values() {
            split_crossed(&mut here);
            let same = measure_the_same(&here);
            let tools = here.iter_mut().filter(|_| same);
            tools.for_each(|item| item.name_workload());
            decide(&mut here, options);
        }
        self.infer_exposure(options);
        // Where all messages have one subject it tells nothing.
        let mut all = self.subjects.iter();
        let several = all.any(|(_, one)| *one != self.subjects[0].1);
        let subjects = self.subjects.into_iter().filter(|_| several).collect();
        let (mut records, rulings) = assemble::assemble(source, self.items, &subjects, options);
        records.doubts.splice(0..0, self.doubts);
        baseline_first(&mut records.configurations, |name| {
            self.baselines.contains(name)
        });
        let said = self.said.into_iter();
        let tables = said.map(|(place, said)| (place, vec![said]));
        let ruled = rulings.into_iter().map(|one: Ruling| {
            let head = format!("comparison on {}", one.workload);
            let judged = match one.judged {
                true => "judged",
                false => "read, not judged",
            };
            (one.place, vec![head, format!("{judged}: {}", one.why)])
        });
        Grouped {
            records,
            repeats: self.repeats,
            decisions: tables.chain(ruled).collect(),
        }
    }

    /// A trace that was taken during `sleep 300` had 300 s of exposure.
    fn infer_exposure(&mut self, options: &Options) {
        let mut noted = BTreeSet::new();
        for item in &mut self.items {
            let Finding::Events { exposure_s, .. } = &mut item.finding else {
                continue;
            };
            if options.exposure_s.is_some() {
                *exposure_s = options.exposure_s;
                continue;
            }
            if exposure_s.is_some() {
                continue;
            }
            let here = self.sleeps.iter();
            let here = here.filter(|(place, _)| place.message == item.stand.0);
            let here: Vec<&(Place, f64)> = here.collect();
            let Some((place, seconds)) = here.first() else {
                continue;
            };
            if here.iter().any(|(_, other)| other != seconds) {
                continue;
            }
            *exposure_s = Some(*seconds);
            if noted.insert(item.stand.0) {
                let from = format!("`sleep {seconds}`; --exposure corrects it");
                let detail = format!("the exposure of {seconds} s is taken from {from}");
                self.doubts.push(doubt("exposure-inferred", detail, *place));
            }
        }
    }
}

/// A subject without the marks of answers and the tags before it.
fn normal_subject(subject: &str) -> &str {
    static MARKS: Form = Form::new(r"^(?i)(?:\s*(?:re:|fwd:|fw:|aw:|\[[^\]]*\]))*");
    let end = MARKS.find(subject).map_or(0, |marks| marks.end());
    subject[end..].trim()
}

/// Decides the configuration and workload of all items of one message and quote depth.
fn decide(items: &mut [&mut Item], options: &Options) {
    let distinct = |of: &dyn Fn(&Item) -> Option<String>| -> BTreeSet<String> {
        let unnamed = items.iter().filter(|i| i.labels().configuration.is_none());
        unnamed.filter_map(|item| of(item)).collect()
    };
    let outers = distinct(&|item| item.outer.clone());
    let inners = distinct(&|item| item.inner.clone());
    // Of two levels of headings the inner one is the configuration, unless it is a workload or
    // the outer one names the states before and after a change.
    let workloads = |names: &BTreeSet<String>| names.iter().all(|name| names::is_workload(name));
    let states = |names: &BTreeSet<String>| are_before_and_after(&names.iter().collect::<Vec<_>>());
    let swapped = outers.len() >= 2
        && (workloads(&inners) && !workloads(&outers) || states(&outers) && !states(&inners));
    let pairs: BTreeSet<_> = items
        .iter()
        .map(|item| (&item.outer, &item.inner))
        .collect();
    let sections =
        outers.len() >= 2 && states(&inners) && pairs.len() == outers.len() * inners.len();
    for item in items.iter_mut() {
        let labels = item.labels();
        let command = item.command.as_ref();
        let program = command.and_then(|(_, command)| Some(joined(names::program(command)?)));
        let own = labels.workload.as_deref().map(named_workload);
        let heading = item.inner.as_deref().and_then(names::of_heading);
        let (configuration, workload) = match labels.configuration {
            Some(label) => {
                let above = match item.heading_is_nearer {
                    true => heading.or(program),
                    false => program.or(heading),
                };
                (Some(label), own.or(above))
            }
            None => {
                let unnamed = item.command.as_ref().filter(|_| item.inner.is_none());
                let built = unnamed.and_then(|(_, command)| names::state_of_program(command));
                let work = own.or(program);
                let outer = item.outer.as_deref().filter(|_| outers.len() >= 2);
                match built {
                    Some(state) => (Some(state.name), Some(state.command)),
                    None if swapped => (item.outer.clone(), work.or(heading)),
                    None => {
                        let section = outer.map(names::short);
                        let both = section.as_ref().zip(work.as_ref()).filter(|_| sections);
                        let both = both.map(|(section, work)| format!("{section} {work}"));
                        (item.inner.clone(), both.or(work).or(section))
                    }
                }
            }
        };
        if item.labels().configuration.is_none() && item.named_by == NamedBy::Block {
            item.named_by = NamedBy::Heading;
        }
        item.configuration_label = configuration;
        let named = workload.as_deref().and_then(|w| options.workload_of(w));
        item.workload_name = (item.workload.clone())
            .or(named.map(str::to_string))
            .or(workload);
    }
}

/// Whether a tool measured the same commands below the names of the states before and after a
/// change, so that these are what is compared.
fn measure_the_same(items: &[&mut Item]) -> bool {
    let mut below: BTreeMap<&Option<String>, BTreeSet<String>> = BTreeMap::new();
    for item in items {
        let by_block = item.named_by == NamedBy::Block;
        let named = item.labels().configuration.filter(|_| by_block);
        below.entry(&item.inner).or_default().extend(named);
    }
    let states: Vec<&String> = below.keys().copied().flatten().collect();
    let all: BTreeSet<_> = below.values().collect();
    let command = |name: &String| side(name).is_none();
    let commands = |names: &&BTreeSet<String>| !names.is_empty() && names.iter().all(command);
    let alike = all.len() == 1 && all.iter().all(commands);
    states.len() == below.len() && are_before_and_after(&states) && alike
}

/// Splits headings that cross a setting with a state, `At -O2, master`, into an outer and an inner
/// one, if all are of this kind and each setting has the same states.
fn split_crossed(items: &mut [&mut Item]) {
    fn parts(item: &Item) -> Option<(&str, &str)> {
        let parts = item.inner.as_deref()?.rsplit_once(", ")?;
        side(parts.1).map(|_| parts)
    }
    let crossed: Option<BTreeSet<_>> = items.iter().map(|item| parts(item)).collect();
    let crossed = crossed.unwrap_or_default();
    let settings: BTreeSet<&str> = crossed.iter().map(|(setting, _)| *setting).collect();
    let states: BTreeSet<&str> = crossed.iter().map(|(_, state)| *state).collect();
    let full = settings.len() > 1 && crossed.len() == settings.len() * states.len();
    if !(full && are_before_and_after(&states.into_iter().collect::<Vec<_>>())) {
        return;
    }
    for item in items {
        if let Some((setting, state)) = parts(item) {
            (item.outer, item.inner) = (Some(setting.to_owned()), Some(state.to_owned()));
        }
    }
}

/// Returns the workload that a block names; if that is a command line, its program.
fn named_workload(name: &str) -> String {
    let program = names::program(name).filter(|_| names::is_command(name));
    program.map_or_else(|| name.to_string(), joined)
}

fn joined((program, arguments): (String, String)) -> String {
    format!("{program} {arguments}").trim_end().to_string()
}
