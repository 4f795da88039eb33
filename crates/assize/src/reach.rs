//! The effects that an experiment can establish, as far as its design limits them; printed before
//! anything is run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assize_bundle::{Records, Run};
use assize_judge::power::{ComparisonLayout, PowerAim, PowerDesign, least_effect, runs_for};
use assize_plan::{MOST_IMAGES, Plan};
use assize_verdict::{PRIMARY_SHARE, count_of, without_zeros};

use crate::cli::ALPHA;
use crate::failure::Failure;
use crate::terms::JudgingTerms;

/// An effect counts as detectable if it is found with this power.
const POWER: f64 = 0.8;
/// The assumed variation between runs if none is known: the standard deviation of the
/// logarithm.
const USUAL_SD: f64 = 0.03;

/// What the design of an experiment can establish.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DesignReach {
    replicates: Replicates,
    primary: ReachFamily,
    /// The family of rows that are not primary.
    others: Option<ReachFamily>,
    /// The noise of each primary metric in the given bundle, if there is one.
    noise: Vec<(String, Option<f64>)>,
    like: Option<PathBuf>,
    margin: f64,
}

/// The units that the test relabels.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Replicates {
    /// Blocks with one run of each cell, on a target without memory images.
    Blocks(u32),
    /// Blocks that each start from a different memory image.
    OwnImages(u32),
    /// Memory images, each shared by several blocks.
    Images(u32),
    /// Blocks that all start from the same memory image.
    OneImage(u32),
}

impl Replicates {
    fn of_plan(plan: &Plan) -> Self {
        let blocks = plan.runs.iter().map(|run| run.block + 1).max().unwrap_or(0);
        match u32::try_from(plan.images.len()).unwrap_or(u32::MAX) {
            0 => Self::Blocks(blocks),
            images if images == blocks => Self::OwnImages(blocks),
            1 => Self::OneImage(blocks),
            images => Self::Images(images),
        }
    }

    fn count(self) -> u32 {
        match self {
            Self::Blocks(count)
            | Self::OwnImages(count)
            | Self::Images(count)
            | Self::OneImage(count) => count,
        }
    }

    /// `8 blocks`.
    fn described(self) -> String {
        let noun = match self {
            Self::Images(_) => "memory image",
            _ => "block",
        };
        count_of(self.count() as usize, noun)
    }

    /// The options or keys that request `n` replicates.
    fn request_for(self, n: u32) -> String {
        match self {
            Self::Images(_) => count_of(n as usize, "memory image"),
            Self::OwnImages(_) if n > MOST_IMAGES => {
                format!("{n} runs of each cell with images = {n}")
            }
            _ => format!("{n} runs of each cell"),
        }
    }
}

/// Rows that are corrected together for multiple tests.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ReachFamily {
    /// The number of rows, if it is known.
    rows: Option<u32>,
    alpha: f64,
}

impl DesignReach {
    /// The reach of a plan. The noise is that of an earlier bundle, `like`, if given.
    pub(crate) fn of_plan(plan: &Plan, like: Option<&Path>) -> Result<Self, Failure> {
        let records = like.map(assize_bundle::read).transpose()?;
        let alpha = JudgingTerms::planned(plan).alpha(ALPHA);
        let compared = plan.configurations.iter().skip(1).filter(|one| !one.aa);
        let compared = compared.count();
        let measured = |metric: &str| {
            let on = |workload: &&assize_job::Workload| {
                let names = assize_job::measured(&[*workload], &plan.instruments);
                names.iter().any(|name| name.matches(metric))
            };
            plan.workloads.iter().filter(on).count()
        };
        let metrics = plan.primary.iter().map(|primary| &primary.metric);
        let primary = compared
            * metrics
                .clone()
                .map(|metric| measured(metric))
                .sum::<usize>();
        let all = records.as_ref().map(|records| compared * columns(records));
        let family = |rows: Option<usize>, share: f64| ReachFamily {
            rows: rows.map(|rows| u32::try_from(rows).unwrap_or(u32::MAX)),
            alpha: share * alpha,
        };
        let declared = !plan.primary.is_empty();
        let rest = all.map(|all| all.saturating_sub(primary));
        Ok(DesignReach {
            replicates: Replicates::of_plan(plan),
            primary: match declared {
                true => family(Some(primary), PRIMARY_SHARE),
                false => family(all, 1.0),
            },
            others: declared.then(|| family(rest, 1.0 - PRIMARY_SHARE)),
            noise: metrics
                .filter_map(|metric| Some((metric.clone(), noise(records.as_ref()?, metric))))
                .collect(),
            like: like.map(Path::to_path_buf),
            margin: plan.margin,
        })
    }

    /// A warning if no primary row can be established.
    pub(crate) fn warning(&self) -> Option<String> {
        if self.primary.rows == Some(0) || self.can(self.primary) {
            return None;
        }
        let rows = self.noun();
        Some(format!(
            "warning: no {rows} can be established, whatever is measured: the smallest p of {} is \
             {}, above {}; {}",
            self.replicates.described(),
            two_digits(self.design().least_p()),
            two_digits(self.primary.alpha),
            self.needed(self.primary),
        ))
    }

    /// Lines that describe what can be established.
    pub(crate) fn described(&self) -> String {
        let mut text = String::new();
        if self.primary.rows == Some(0) {
            return "nothing is compared: there is no second configuration\n".into();
        }
        let rows = match self.primary.rows {
            Some(rows) => count_of(rows as usize, self.noun()),
            None => format!("all {}s", self.noun()),
        };
        text.push_str(&self.family(&rows, self.primary));
        if let Some(others) = self.others {
            let rows = match others.rows {
                Some(rows) => count_of(rows as usize, "other row"),
                None => "all other rows".into(),
            };
            text.push_str(&self.family(&rows, others));
        }
        if self.can(self.primary) {
            text.push_str(&self.effects());
        }
        if let Replicates::OneImage(_) = self.replicates {
            let line = "all runs start from one memory image: findings hold for that image alone, \
                        and none is established\n";
            text.push_str(line);
        }
        if let Some(warning) = self.warning() {
            text.push_str(&format!("{warning}\n"));
        }
        text
    }

    /// A line for a family: its level, and what this many blocks can reach.
    fn family(&self, rows: &str, family: ReachFamily) -> String {
        let can = match self.can(family) {
            true => String::new(),
            false => format!(": none can be established; {}", self.needed(family)),
        };
        format!(
            "{rows} at the level {} together, smallest p {}{can}\n",
            two_digits(family.alpha),
            two_digits(self.design().least_p()),
        )
    }

    /// The effects that are found in primary rows.
    fn effects(&self) -> String {
        let Some(like) = &self.like else {
            let name = self.noun();
            return self.effect(&format!("a {name} whose runs vary by"), USUAL_SD);
        };
        let mut text = String::new();
        for (metric, noise) in &self.noise {
            text.push_str(&match noise {
                Some(sd) if *sd > 0.0 => self.effect(&format!("{metric}, which varies by"), *sd),
                Some(_) => format!("{metric} does not vary in {}\n", like.display()),
                None => format!(
                    "{metric} has no cell with two positive values in {}\n",
                    like.display()
                ),
            });
        }
        text
    }

    fn effect(&self, of: &str, sd: f64) -> String {
        let aim = self.aim(self.primary);
        let noise = two_digits(100.0 * sd);
        let found = match least_effect(self.design(), sd, aim) {
            Some(ratio) => format!(
                "a ratio of {} or {} is found with {} % power",
                near_one(ratio),
                near_one(1.0 / ratio),
                100.0 * POWER
            ),
            None => "no ratio is found".into(),
        };
        let margin = runs_for(ComparisonLayout::Pairs, sd, 1.0 + self.margin, aim);
        let margin = match margin {
            Some(needed) if needed > self.replicates.count() => format!(
                "; a ratio of {} takes {}",
                near_one(1.0 + self.margin),
                self.replicates.request_for(needed)
            ),
            _ => String::new(),
        };
        format!("{of} {noise} %: {found}{margin}\n")
    }

    fn design(&self) -> PowerDesign {
        PowerDesign {
            layout: ComparisonLayout::Pairs,
            runs: self.replicates.count(),
        }
    }

    fn can(&self, family: ReachFamily) -> bool {
        self.design().least_p() <= family.alpha
    }

    fn aim(&self, family: ReachFamily) -> PowerAim {
        PowerAim {
            rows: family.rows.unwrap_or(1).max(1),
            alpha: family.alpha,
            power: POWER,
        }
    }

    fn needed(&self, family: ReachFamily) -> String {
        let able = |runs: &u32| {
            let design = PowerDesign {
                runs: *runs,
                ..self.design()
            };
            design.least_p() <= family.alpha
        };
        match (self.replicates.count() + 1..64).find(able) {
            Some(needed) => format!("{} could", self.replicates.request_for(needed)),
            None => "no number of runs could".into(),
        }
    }

    fn noun(&self) -> &'static str {
        match self.others {
            Some(_) => "primary row",
            None => "row",
        }
    }
}

/// The number of metrics in a bundle, counted separately for each workload.
fn columns(records: &Records) -> usize {
    let mut of: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for run in &records.runs {
        let known = of.entry(&run.workload).or_default();
        for metric in run.metrics.keys() {
            if !known.contains(&metric.as_str()) {
                known.push(metric);
            }
        }
    }
    of.values().map(Vec::len).sum()
}

/// The largest standard deviation, over the workloads, of a metric's logarithm between
/// runs of one configuration. Leaves out variation common to the runs of a block. `None`
/// if the records do not show it.
fn noise(records: &Records, metric: &str) -> Option<f64> {
    let mut workloads: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
    for run in &records.runs {
        workloads.entry(&run.workload).or_default().push(run);
    }
    let repeats: Vec<&str> = records
        .configurations
        .iter()
        .filter(|one| one.repeats.is_some())
        .map(|one| one.name.as_str())
        .collect();
    let of = |runs: &Vec<&Run>| {
        let mut cells: BTreeMap<&str, Vec<(MachineBlock<'_>, f64)>> = BTreeMap::new();
        for run in runs {
            let value = run.metrics.get(metric).map(|value| value.value);
            if let Some(value) = value.filter(|value| *value > 0.0) {
                let at = (run.machine.as_deref(), run.block);
                let cell = cells.entry(&run.configuration).or_default();
                cell.push((at, value.ln()));
            }
        }
        let first = records.configurations.first().map(|one| one.name.as_str());
        let baseline = cells.get(first.unwrap_or(&runs.first()?.configuration));
        let others = cells.iter().filter(|(name, _)| !repeats.contains(name));
        let pairs = others.map(|(_, cell)| differences(baseline?, cell));
        // Each difference contains the noise of two runs.
        let paired = pooled(pairs.flatten()).map(|variance| 0.5 * variance);
        let plain = || {
            let values = |cell: &Vec<(_, f64)>| cell.iter().map(|(_, x)| *x).collect();
            pooled(cells.values().map(values))
        };
        paired.or_else(plain).map(f64::sqrt)
    };
    workloads.values().filter_map(of).reduce(f64::max)
}

/// The machine and block of a run.
type MachineBlock<'a> = (Option<&'a str>, Option<u32>);

/// The differences of logarithms in blocks that hold one run of each. `None` between a
/// cell and itself.
fn differences(a: &[(MachineBlock<'_>, f64)], b: &[(MachineBlock<'_>, f64)]) -> Option<Vec<f64>> {
    if std::ptr::eq(a, b) {
        return None;
    }
    let partner = |(at, x): &(MachineBlock<'_>, f64)| {
        at.1?;
        let of = |cell: &[(MachineBlock<'_>, f64)]| -> Option<f64> {
            let mut there = cell.iter().filter(|other| other.0 == *at);
            let one = there.next()?.1;
            there.next().is_none().then_some(one)
        };
        of(b)?;
        Some(x - of(a)?)
    };
    Some(b.iter().filter_map(partner).collect())
}

/// The pooled variance within samples of at least two values.
fn pooled(samples: impl Iterator<Item = Vec<f64>>) -> Option<f64> {
    let (mut squares, mut df) = (0.0, 0.0);
    for sample in samples.filter(|sample| sample.len() > 1) {
        let n = sample.len() as f64;
        // Relative to the first value, so that equal values have a variance of exactly
        // zero.
        let first = sample[0];
        let mean = first + sample.iter().map(|x| x - first).sum::<f64>() / n;
        squares += sample.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
        df += n - 1.0;
    }
    (df > 0.0).then(|| squares / df)
}

/// Two significant digits, without trailing zeros.
pub(crate) fn two_digits(value: f64) -> String {
    rounded(value, value)
}

/// A ratio, with two significant digits of its difference from 1.
fn near_one(ratio: f64) -> String {
    rounded(ratio, ratio - 1.0)
}

fn rounded(value: f64, digits_of: f64) -> String {
    let magnitude = digits_of.abs().log10().floor();
    let decimals = (1.0 - magnitude).clamp(0.0, 12.0) as usize;
    without_zeros(&format!("{value:.decimals$}")).to_owned()
}

#[cfg(test)]
#[path = "reach_tests.rs"]
mod tests;
