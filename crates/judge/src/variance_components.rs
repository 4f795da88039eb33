//! How much each source contributes to the spread of runs.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result, check_finite};

/// One run: its configuration, image, block and value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// The configuration.
    pub configuration: u32,
    /// The memory image.
    pub image: u32,
    /// The block, in which all configurations run with the same seed on the same
    /// image.
    pub block: u32,
    /// The measured value; usually a logarithm, so that a component is the
    /// square of a relative spread.
    pub value: f64,
}

/// Estimates of variances, in the square of the unit of the values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VarianceComponents {
    /// The effect of an image on all configurations alike.
    pub image: f64,
    /// The effect of an image on one configuration and not on another.
    pub image_by_configuration: f64,
    /// The effect of a seed on all configurations alike, on one image.
    pub seed: f64,
    /// The rest: the effect of a seed on one configuration and not on another.
    pub rest: f64,
    /// The numbers of images, of configurations, and of seeds on each image.
    pub sizes: (usize, usize, usize),
}

impl VarianceComponents {
    /// The standard error of the difference of two configurations, each with one
    /// run per block, for this many images and seeds per image: effects of
    /// images and seeds on both alike cancel.
    pub fn difference(&self, images: f64, seeds: f64) -> f64 {
        let of_image = self.image_by_configuration / images;
        (2.0 * (of_image + self.rest / (images * seeds))).sqrt()
    }
}

/// Splits the spread of runs into the contributions of image, image × configuration, seed within
/// image, and the rest; configurations are fixed.
///
/// x(c, i, s) = mean + configuration(c) + image(i) + interaction(i, c) + seed(s, i) + rest(c, s,
/// i), where all but the first two are independent with mean 0 (no restriction on the interaction).
/// The mean squares of the balanced analysis of variance are set equal to their expectations; with
/// a images, b configurations and n seeds on each image
///
/// ```text
/// E MS(image)                 = rest + b seed + n interaction + b n image
/// E MS(image × configuration) = rest          + n interaction
/// E MS(seed within image)     = rest + b seed
/// E MS(rest)                  = rest
/// ```
///
/// - Shape: balanced. Each configuration has one run in each block, and each image the same number
///   of blocks; in any order. At least two of each.
/// - Range: not below 0; a negative estimate (the component is small compared with its uncertainty)
///   becomes 0.
/// - Cost: O(N log N).
/// - Source: Searle, Casella and McCulloch 1992, "Variance Components", sections 4.2 to 4.4
///   (estimators from the analysis of variance, balanced data).
/// - Checked against sums of squares from totals in rational numbers, and by simulation with known
///   components.
///
/// # Errors
/// [`Error::TooFew`] with fewer than two images, configurations or seeds on an image,
/// [`Error::NotFinite`], [`Error::BadArgument`] if it is not balanced.
pub fn fit(runs: &[Observation]) -> Result<VarianceComponents> {
    let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
    check_finite(&values, 8)?;
    let (a, b, n) = sizes(runs)?;
    for got in [a, b, n] {
        if got < 2 {
            return Err(Error::TooFew { needed: 2, got });
        }
    }
    let total = mean_by(runs, |_| 0);
    let image = mean_by(runs, |run| run.image);
    let configuration = mean_by(runs, |run| run.configuration);
    let block = mean_by(runs, |run| run.block);
    let both = mean_by(runs, |run| (run.image, run.configuration));
    // Each run contributes each of its deviations once.
    let square = |of: &dyn Fn(&Observation) -> f64| -> f64 {
        runs.iter().map(|run| of(run) * of(run)).sum()
    };
    let mean = total[&0];
    let images = square(&|run| image[&run.image] - mean);
    let interaction = square(&|run| {
        both[&(run.image, run.configuration)]
            - image[&run.image]
            - configuration[&run.configuration]
            + mean
    });
    let seeds = square(&|run| block[&run.block] - image[&run.image]);
    let rest = square(&|run| {
        run.value - both[&(run.image, run.configuration)] - block[&run.block] + image[&run.image]
    });
    let (fa, fb, fn_) = (a as f64, b as f64, n as f64);
    let ms_image = images / (fa - 1.0);
    let ms_interaction = interaction / ((fa - 1.0) * (fb - 1.0));
    let ms_seed = seeds / (fa * (fn_ - 1.0));
    let ms_rest = rest / (fa * (fn_ - 1.0) * (fb - 1.0));
    Ok(VarianceComponents {
        image: ((ms_image - ms_seed - ms_interaction + ms_rest) / (fb * fn_)).max(0.0),
        image_by_configuration: ((ms_interaction - ms_rest) / fn_).max(0.0),
        seed: ((ms_seed - ms_rest) / fb).max(0.0),
        rest: ms_rest,
        sizes: (a, b, n),
    })
}

/// The numbers of images, configurations and seeds per image, if each
/// combination occurs once.
fn sizes(runs: &[Observation]) -> Result<(usize, usize, usize)> {
    const UNBALANCED: Error = Error::BadArgument(
        "each block must hold each configuration once, and all images equally many blocks",
    );
    let mut blocks: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    let mut image_of: BTreeMap<u32, u32> = BTreeMap::new();
    for run in runs {
        let image = image_of.entry(run.block).or_insert(run.image);
        let new = blocks
            .entry(run.block)
            .or_default()
            .insert(run.configuration);
        if *image != run.image || !new {
            return Err(UNBALANCED);
        }
    }
    let mut seeds: BTreeMap<u32, usize> = BTreeMap::new();
    for image in image_of.values() {
        *seeds.entry(*image).or_default() += 1;
    }
    let distinct: BTreeSet<&BTreeSet<u32>> = blocks.values().collect();
    let numbers: BTreeSet<usize> = seeds.values().copied().collect();
    match (distinct.into_iter().next(), numbers.len(), numbers.first()) {
        (Some(configurations), 1, Some(n)) if blocks.values().all(|one| one == configurations) => {
            Ok((seeds.len(), configurations.len(), *n))
        }
        _ => Err(UNBALANCED),
    }
}

/// The mean of the runs that have the same key.
fn mean_by<K: Ord>(runs: &[Observation], key: impl Fn(&Observation) -> K) -> BTreeMap<K, f64> {
    let mut sums: BTreeMap<K, (f64, f64)> = BTreeMap::new();
    for run in runs {
        let sum = sums.entry(key(run)).or_default();
        *sum = (sum.0 + run.value, sum.1 + 1.0);
    }
    let mean = |(key, (sum, count))| (key, sum / count);
    sums.into_iter().map(mean).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    /// `value(configuration, image, seed)` for these numbers of each.
    fn runs(
        (a, b, n): (u32, u32, u32),
        mut value: impl FnMut(u32, u32, u32) -> f64,
    ) -> Vec<Observation> {
        let mut all = Vec::new();
        for image in 0..a {
            for seed in 0..n {
                for configuration in 0..b {
                    all.push(Observation {
                        configuration,
                        image,
                        block: seed * a + image,
                        value: value(configuration, image, seed),
                    });
                }
            }
        }
        all
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "{a} {b}");
    }

    #[test]
    fn an_example_agrees_with_totals_in_rational_numbers() {
        const VALUES: [[[f64; 2]; 3]; 2] = [
            [[10.0, 12.0], [15.0, 14.0], [9.0, 8.0]],
            [[13.0, 17.0], [16.0, 18.0], [15.0, 11.0]],
        ];
        let of = |c: u32, i: u32, s: u32| VALUES[c as usize][i as usize][s as usize];
        let found = fit(&runs((3, 2, 2), of)).unwrap();
        close(found.image, 31.0 / 6.0);
        close(found.seed, 5.0 / 3.0);
        // It would be -3/8 without the limit at 0.
        close(found.image_by_configuration, 0.0);
        close(found.rest, 11.0 / 6.0);
        assert_eq!(found.sizes, (3, 2, 2));
        close(found.difference(3.0, 2.0), (11.0_f64 / 18.0).sqrt());
    }

    #[test]
    fn a_single_source_is_found_and_the_others_are_none() {
        let size = (4, 3, 5);
        let sources: [fn(u32, u32, u32) -> f64; 4] = [
            |_, i, _| f64::from(i),
            |c, i, _| f64::from((c * i) % 3),
            |_, i, s| f64::from((i + 2 * s * s) % 5),
            |c, i, s| f64::from((c * 7 + i * 11 + s * 13 + c * s * i) % 6),
        ];
        let image = fit(&runs(size, sources[0])).unwrap();
        // 0, 1, 2, 3 have the variance 5/3.
        close(image.image, 5.0 / 3.0);
        close(image.image_by_configuration + image.seed + image.rest, 0.0);
        let both = fit(&runs(size, sources[1])).unwrap();
        assert!(both.image_by_configuration > 0.1);
        close(both.seed + both.rest, 0.0);
        let seed = fit(&runs(size, sources[2])).unwrap();
        assert!(seed.seed > 0.5);
        close(seed.image_by_configuration + seed.rest, 0.0);
        let rest = fit(&runs(size, sources[3])).unwrap();
        assert!(rest.rest > 1.0);
        let nothing = fit(&runs(size, |c, _, _| f64::from(c))).unwrap();
        assert_eq!(nothing.difference(4.0, 5.0), 0.0);
    }

    #[test]
    fn planted_components_come_back() {
        let mut draws = crate::random::RandomStream::new(20_261_122);
        let mut normal = move |sd: f64| sd * draws.normal();
        let (a, b, n) = (300, 4, 6);
        let of_image: Vec<f64> = (0..a).map(|_| normal(2.0)).collect();
        let of_both: Vec<f64> = (0..a * b).map(|_| normal(1.0)).collect();
        let of_seed: Vec<f64> = (0..a * n).map(|_| normal(0.5)).collect();
        let found = fit(&runs((a, b, n), |c, i, s| {
            let fixed = 100.0 + 3.0 * f64::from(c);
            fixed
                + of_image[i as usize]
                + of_both[(i * b + c) as usize]
                + of_seed[(i * n + s) as usize]
                + normal(0.3)
        }))
        .unwrap();
        for (found, planted) in [
            (found.image, 4.0),
            (found.image_by_configuration, 1.0),
            (found.seed, 0.25),
            (found.rest, 0.09),
        ] {
            assert!((found / planted - 1.0).abs() < 0.25, "{found} {planted}");
        }
    }

    #[test]
    fn what_is_not_balanced_or_too_little_is_refused() {
        let mut all = runs((3, 2, 2), |c, i, s| f64::from(c + i + s));
        for size in [(1, 2, 4), (4, 1, 2), (4, 2, 1)] {
            let few = runs(size, |_, _, _| 1.0);
            let wanted = Error::TooFew { needed: 2, got: 1 };
            assert_eq!(fit(&few).unwrap_err(), wanted);
        }
        let last = all.pop().unwrap();
        assert!(matches!(fit(&all), Err(Error::BadArgument(_))));
        all.push(Observation { image: 0, ..last });
        assert!(matches!(fit(&all), Err(Error::BadArgument(_))));
        all.pop();
        let value = f64::NAN;
        all.push(Observation { value, ..last });
        assert_eq!(fit(&all), Err(Error::NotFinite));
    }
}
