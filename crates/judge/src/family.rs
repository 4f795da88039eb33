//! Many contrasts tested together: step-down maxT by joint relabelings.
//!
//! The runs are relabelled jointly for all contrasts, so that the dependence
//! between metrics, workloads and contrasts makes the correction milder. See
//! [`step_down`].

mod sites;

use crate::error::{Error, Result, check_finite};
use crate::moments::{mean, variance};
use crate::permutation::{EXACT_LIMIT, MONTE_CARLO_DRAWS, choose};
use crate::prior::{VariancePrior, fit};
use crate::random::RandomStream;
use sites::RelabellingSites;

/// Maximum number of values processed over all relabelings: about a second.
const WORK: f64 = 3e8;
/// The fixed cost of a contrast per relabeling, in units of the cost of one value.
const OVERHEAD: usize = 12;
/// Minimum number of seeded draws if not every relabeling is visited.
const FEWEST_DRAWS: f64 = 9_999.0;
/// The smallest spread that counts as variation, as a share of the largest deviation.
const SUREST: f64 = 1e-5;
/// Statistics within this distance of each other are ties; for those above 1 the distance is
/// relative.
const TIE: f64 = 1e-5;

/// The runs of one block that a contrast compares.
#[derive(Debug, Clone, PartialEq)]
pub struct ContrastBlock {
    /// Contrasts with the same site are relabelled jointly in it, provided that
    /// they have the same numbers of runs of each label there.
    pub site: u64,
    /// Values of the baseline, in the same order for all contrasts of the site.
    pub a: Vec<f64>,
    /// Values of the other configuration.
    pub b: Vec<f64>,
}

/// One hypothesis: that `b` differs from `a`.
#[derive(Debug, Clone, PartialEq)]
pub struct Contrast {
    /// Labels are exchanged only within blocks; runs without blocks form one
    /// block. Values are on the scale on which they are averaged (logarithms for
    /// ratios).
    pub blocks: Vec<ContrastBlock>,
    /// The variance that resolution adds to one value, u²/12 for steps of u, on
    /// the same scale; 0 if unknown.
    pub resolution: f64,
    /// Whether the values are logarithms, so that spreads of different
    /// contrasts can be compared (see [`step_down`]).
    pub relative: bool,
}

impl Contrast {
    /// The differences b - a, if blocks hold one run of each label and there are at least two such
    /// blocks; blocks that lack a label are ignored. `None` for any other contrast.
    #[must_use]
    pub fn pairs(&self) -> Option<Vec<f64>> {
        let differences = differences(self)?;
        Some(differences.into_iter().map(|(_, d)| d).collect())
    }

    /// The smallest uncorrected p that this contrast can have: 2 over the number
    /// of its relabelings if every block holds equally many runs of both labels
    /// (a labeling and its mirror image tie), otherwise 1 over it; 1 if no block
    /// holds both.
    #[must_use]
    pub fn attainable(&self) -> f64 {
        let relabelings: f64 = self
            .blocks
            .iter()
            .map(|block| choose(block.a.len() + block.b.len(), block.a.len()))
            .product();
        let both = |block: &&ContrastBlock| !block.a.is_empty() && !block.b.is_empty();
        let mirrored = self
            .blocks
            .iter()
            .filter(both)
            .all(|block| block.a.len() == block.b.len());
        let ways = if mirrored { 2.0 } else { 1.0 };
        (ways / relabelings).min(1.0)
    }
}

/// The result for one contrast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContrastResult {
    /// The uncorrected two-sided p of the contrast.
    pub p: f64,
    /// The smallest uncorrected p that it can have.
    pub p_attainable: f64,
    /// The step-down p among all contrasts, at least `p`.
    pub p_adjusted: f64,
}

/// The result for all contrasts.
#[derive(Debug, Clone, PartialEq)]
pub struct FamilyResult {
    /// The results in the order of the contrasts.
    pub tested: Vec<ContrastResult>,
    /// The number of joint relabelings, visited or not.
    pub relabelings: f64,
    /// Whether all of them were visited; otherwise the p are (k + 1) / (m + 1)
    /// of `draws` draws.
    pub exact: bool,
    /// The number of relabelings visited, including the observed one.
    pub draws: u32,
}

/// Tests all contrasts together.
///
/// **Statistic.** If every block holds one run of each label: t of the differences within blocks,
/// their mean over its standard error. Otherwise Welch's t of the values centred on the means of
/// their blocks, with variances recomputed in each relabeling, so that unequal spreads are not
/// mistaken for unequal means (Janssen 1997; Chung and Romano 2013). The resolution is added to the
/// variance. t is converted to the normal deviate with nearly the same tail (Wallace 1959), at the
/// degrees of freedom of the contrast, so that contrasts with few and with many runs can be in one
/// family; since every p comes from relabelings, the approximation can cost only power.
///
/// **Relabelings.** Labels are exchanged within blocks, in each site in the same way for all
/// contrasts. In blocks of one run of each, this flips whole blocks.
///
/// **p.** `p` is the share of relabelings whose statistic is no smaller than the observed one.
/// `p_adjusted` is the share in which the largest statistic of this contrast and all less extreme
/// ones is no smaller, made monotone (Westfall and Young 1993, algorithm 4.1; Romano and Wolf
/// 2005): the chance of even one false positive is at most p, whichever contrasts are truly null.
///
/// **Exactness.** The test is exact if the runs of the null contrasts can be relabelled jointly
/// without changing their distribution: always for contrasts that share no runs, or share all.
/// Contrasts with a common baseline are flipped jointly as if their errors were jointly symmetric;
/// differences of two identically distributed runs are symmetric individually, but not necessarily
/// jointly.
///
/// **Shared spread.** A standard error from few blocks is sometimes small by chance, and the best
/// of many contrasts is then a lucky one. So if at least four contrasts of log differences vary,
/// the variance of each is shrunk towards a common one; the more similar the spreads are, the
/// stronger the shrinkage (Smyth 2004). The common variance and its weight are computed from the
/// absolute differences, which no flip changes: the test stays exact whatever the weight, and
/// control of the family does not depend on which contrasts are null. A contrast whose absolute
/// differences are all equal, as on a deterministic machine, keeps its own variance.
///
/// - Shape: at least one run of each label in each contrast.
/// - Range: p in (0, 1\]. Above 1e6 joint relabelings, or if visiting all would take more than
///   about a second, 9,999 to 99,999 draws from the ChaCha8 stream of `seed`, p = (k + 1) / (m + 1)
///   (Phipson and Smyth 2010).
/// - Ties: statistics within 1e-5 of each other, relative to those above 1.
/// - Cost: relabelings × values.
/// - Checked against an independent enumeration in numpy.
///
/// # Errors
/// [`Error::TooFew`] if a contrast lacks a label, [`Error::NotFinite`].
pub fn step_down(contrasts: &[Contrast], seed: u64) -> Result<FamilyResult> {
    for contrast in contrasts {
        check(contrast)?;
    }
    let mut sites = RelabellingSites::new(contrasts);
    let prior = prior(contrasts);
    let mut rows: Vec<PreparedContrast> = contrasts
        .iter()
        .map(|contrast| PreparedContrast::new(contrast, &sites, prior))
        .collect();
    let relabelings = sites.relabelings();
    let values: usize = rows.iter().map(|row| row.len() + OVERHEAD).sum();
    let work = values.max(1) as f64;
    let exact = relabelings <= EXACT_LIMIT && relabelings * work <= WORK;
    let mut tally = ExceedanceTally::new(&mut rows, &sites);
    if exact {
        while sites.next() {
            tally.add(&mut rows, &sites);
        }
    } else {
        let mut draws = RandomStream::new(seed);
        let wanted = (WORK / work).clamp(FEWEST_DRAWS, f64::from(MONTE_CARLO_DRAWS)) as u32;
        for _ in 0..wanted {
            sites.shuffle(&mut draws);
            tally.add(&mut rows, &sites);
        }
    }
    Ok(FamilyResult {
        tested: tally.finish(contrasts),
        relabelings,
        exact,
        draws: tally.visited,
    })
}

fn check(contrast: &Contrast) -> Result<()> {
    let count = |side: fn(&ContrastBlock) -> usize| contrast.blocks.iter().map(side).sum::<usize>();
    let fewest = count(|block| block.a.len()).min(count(|block| block.b.len()));
    if fewest < 1 {
        return Err(Error::TooFew {
            needed: 1,
            got: fewest,
        });
    }
    for block in &contrast.blocks {
        check_finite(&block.a, 0)?;
        check_finite(&block.b, 0)?;
    }
    Ok(())
}

/// The differences b - a of a contrast whose blocks hold one run of each label,
/// ignoring blocks that lack one; `None` for any other contrast.
fn differences(contrast: &Contrast) -> Option<Vec<(&ContrastBlock, f64)>> {
    let mut differences = Vec::new();
    for block in &contrast.blocks {
        match (&block.a[..], &block.b[..]) {
            ([a], [b]) => differences.push((block, b - a)),
            ([], _) | (_, []) => {}
            _ => return None,
        }
    }
    (differences.len() > 1).then_some(differences)
}

/// The spread common to the contrasts, computed from quantities that no flip
/// changes.
fn prior(contrasts: &[Contrast]) -> Option<VariancePrior> {
    let spreads: Vec<(f64, f64)> = contrasts
        .iter()
        .filter(|contrast| contrast.relative)
        .filter_map(|contrast| spread(&differences(contrast)?))
        .collect();
    fit(&spreads)
}

/// The variance of the absolute differences, which no flip changes, with its
/// degrees of freedom; `None` if they are all equal.
fn spread(differences: &[(&ContrastBlock, f64)]) -> Option<(f64, f64)> {
    let sizes: Vec<f64> = differences.iter().map(|d| d.1.abs()).collect();
    let most = sizes.iter().copied().fold(0.0, f64::max);
    let spread = variance(&sizes);
    (spread > (SUREST * most).powi(2)).then_some((spread, sizes.len() as f64 - 1.0))
}

/// A contrast prepared for many relabelings.
enum PreparedContrast {
    Pairs(PairDifferences),
    Groups(CentredGroups),
}

/// Differences within blocks of one run of each label.
struct PairDifferences {
    differences: Vec<(usize, f64)>,
    squares: f64,
    /// Added to the sum of squared deviations, and to the degrees of freedom.
    prior: (f64, f64),
    /// Added to the variance of a difference.
    floor: f64,
}

/// Runs of two labels, centred on the means of their blocks.
struct CentredGroups {
    blocks: Vec<(usize, Vec<f64>)>,
    n_a: f64,
    n_b: f64,
    sum: f64,
    squares: f64,
    floor: f64,
}

impl PreparedContrast {
    fn new(contrast: &Contrast, sites: &RelabellingSites, prior: Option<VariancePrior>) -> Self {
        let Some(differences) = differences(contrast) else {
            return PreparedContrast::Groups(CentredGroups::new(contrast, sites));
        };
        let most = differences.iter().map(|d| d.1.abs()).fold(0.0, f64::max);
        let df = differences.len() as f64 - 1.0;
        let varies = contrast.relative && spread(&differences).is_some();
        let prior = prior.filter(|_| varies).map_or((0.0, 0.0), |prior| {
            let weight = prior.df.min(df);
            (weight * prior.variance, weight)
        });
        PreparedContrast::Pairs(PairDifferences {
            squares: differences.iter().map(|d| d.1 * d.1).sum(),
            prior,
            floor: 2.0 * contrast.resolution + (SUREST * most).powi(2),
            differences: differences
                .into_iter()
                .map(|(block, d)| (sites.index_of(block), d))
                .collect(),
        })
    }

    /// The number of values processed per relabeling.
    fn len(&self) -> usize {
        match self {
            PreparedContrast::Pairs(pairs) => pairs.differences.len(),
            PreparedContrast::Groups(groups) => {
                groups.blocks.iter().map(|block| block.1.len()).sum()
            }
        }
    }

    fn statistic(&self, sites: &RelabellingSites) -> f64 {
        match self {
            PreparedContrast::Pairs(pairs) => pairs.statistic(sites),
            PreparedContrast::Groups(groups) => groups.statistic(sites),
        }
    }
}

impl PairDifferences {
    fn statistic(&self, sites: &RelabellingSites) -> f64 {
        let sum: f64 = self
            .differences
            .iter()
            .map(|&(site, d)| sites.sign(site) * d)
            .sum();
        let n = self.differences.len() as f64;
        let deviations = (self.squares - sum * sum / n).max(0.0) + self.prior.0;
        let df = n - 1.0 + self.prior.1;
        let variance = deviations / df + self.floor;
        deviate(sum * sum / n, variance, df)
    }
}

impl CentredGroups {
    fn new(contrast: &Contrast, sites: &RelabellingSites) -> Self {
        let mut groups = CentredGroups {
            blocks: Vec::new(),
            n_a: 0.0,
            n_b: 0.0,
            sum: 0.0,
            squares: 0.0,
            floor: 0.0,
        };
        let mut most = 0.0_f64;
        for block in &contrast.blocks {
            if block.a.is_empty() || block.b.is_empty() {
                continue;
            }
            let values: Vec<f64> = block.a.iter().chain(&block.b).copied().collect();
            let centre = mean(&values);
            let values: Vec<f64> = values.into_iter().map(|v| v - centre).collect();
            groups.n_a += block.a.len() as f64;
            groups.n_b += block.b.len() as f64;
            groups.sum += values.iter().sum::<f64>();
            groups.squares += values.iter().map(|v| v * v).sum::<f64>();
            most = values.iter().fold(most, |most, v| most.max(v.abs()));
            groups.blocks.push((sites.index_of(block), values));
        }
        groups.floor = contrast.resolution + (SUREST * most).powi(2);
        groups
    }

    fn statistic(&self, sites: &RelabellingSites) -> f64 {
        let (mut sum, mut squares) = (0.0, 0.0);
        for (site, values) in &self.blocks {
            for (v, _) in values.iter().zip(&sites.labels[*site]).filter(|run| *run.1) {
                sum += v;
                squares += v * v;
            }
        }
        let (n_a, n_b) = (self.n_a, self.n_b);
        let (sum_a, squares_a) = (self.sum - sum, self.squares - squares);
        let difference = sum / n_b - sum_a / n_a;
        let deviations_a = (squares_a - sum_a * sum_a / n_a).max(0.0);
        let deviations_b = (squares - sum * sum / n_b).max(0.0);
        if n_a < 2.0 || n_b < 2.0 {
            // A single run has no variance.
            let df = (n_a + n_b - 2.0).max(1.0);
            let variance = (deviations_a + deviations_b) / df + self.floor;
            return deviate(
                difference * difference,
                variance * (1.0 / n_a + 1.0 / n_b),
                df,
            );
        }
        let of_a = (deviations_a / (n_a - 1.0) + self.floor) / n_a;
        let of_b = (deviations_b / (n_b - 1.0) + self.floor) / n_b;
        // The degrees of freedom are the same for all relabelings, so that they
        // are ranked by t itself.
        deviate(difference * difference, of_a + of_b, n_a + n_b - 2.0)
    }
}

/// The absolute normal deviate with nearly the tail of t = sqrt(`squared` /
/// `variance`) with `df` degrees of freedom (Wallace 1959); 0 if nothing varies
/// and nothing differs.
fn deviate(squared: f64, variance: f64, df: f64) -> f64 {
    if squared <= 0.0 || variance <= 0.0 {
        return 0.0;
    }
    let t_squared = squared / variance;
    (df * (t_squared / df).ln_1p()).sqrt() * (8.0 * df + 1.0) / (8.0 * df + 3.0)
}

/// Counts how often the observed statistics are reached.
struct ExceedanceTally {
    /// Contrasts from the least to the most extreme.
    order: Vec<usize>,
    /// The smallest statistic that counts as reached, by contrast.
    threshold: Vec<f64>,
    alone: Vec<u32>,
    together: Vec<u32>,
    visited: u32,
}

impl ExceedanceTally {
    /// Starts a tally that includes the observed labeling.
    fn new(rows: &mut [PreparedContrast], sites: &RelabellingSites) -> Self {
        let observed: Vec<f64> = rows.iter().map(|row| row.statistic(sites)).collect();
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|&i, &j| observed[i].total_cmp(&observed[j]));
        ExceedanceTally {
            order,
            threshold: observed.iter().map(|z| z - TIE * z.max(1.0)).collect(),
            alone: vec![1; rows.len()],
            together: vec![1; rows.len()],
            visited: 1,
        }
    }

    fn add(&mut self, rows: &mut [PreparedContrast], sites: &RelabellingSites) {
        self.visited += 1;
        let mut largest = 0.0_f64;
        for &at in &self.order {
            let statistic = rows[at].statistic(sites);
            largest = largest.max(statistic);
            self.alone[at] += u32::from(statistic >= self.threshold[at]);
            self.together[at] += u32::from(largest >= self.threshold[at]);
        }
    }

    fn finish(&self, contrasts: &[Contrast]) -> Vec<ContrastResult> {
        let share = |count: u32| f64::from(count) / f64::from(self.visited);
        let mut tested: Vec<ContrastResult> = contrasts
            .iter()
            .zip(&self.alone)
            .map(|(contrast, &alone)| ContrastResult {
                p: share(alone),
                p_attainable: contrast.attainable(),
                p_adjusted: 1.0,
            })
            .collect();
        let mut largest = 0.0_f64;
        for &at in self.order.iter().rev() {
            largest = largest.max(share(self.together[at]));
            tested[at].p_adjusted = largest;
        }
        tested
    }
}

#[cfg(test)]
mod tests;
