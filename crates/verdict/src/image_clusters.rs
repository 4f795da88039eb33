//! Values summed by memory image, to estimate how alike values of one image are.

use std::collections::BTreeMap;

use assize_judge::counts::{self, ClusterSum};

/// A memory image: machine and number.
pub(crate) type Image<'a> = (Option<&'a str>, u32);

/// Sums of values by memory image.
#[derive(Debug, Default)]
pub(crate) struct ImageClusters<'a>(BTreeMap<Image<'a>, ClusterSum>);

impl<'a> ImageClusters<'a> {
    /// Adds `of` values with this sum; each value is 1, -1 or 0, and all nonzero ones have one
    /// sign.
    pub(crate) fn add(&mut self, image: Image<'a>, of: f64, sum: f64) {
        let cluster = self.0.entry(image).or_insert(ClusterSum {
            of: 0.0,
            sum: 0.0,
            squares: 0.0,
        });
        cluster.of += of;
        cluster.sum += sum;
        cluster.squares += sum.abs();
    }

    /// How many values are worth one independent value: see [`counts::design_effect`].
    pub(crate) fn design_effect(self) -> f64 {
        let clusters: Vec<ClusterSum> = self.0.into_values().collect();
        counts::design_effect(&clusters)
    }
}
