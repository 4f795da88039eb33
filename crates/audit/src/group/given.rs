//! Figures that were set and not measured; these are never compared.
//!
//! The elapsed time of `sleep 5` was set on its command line, and the last time stamp of
//! `perf stat -I` only marks the end of its last interval.

use super::admit::statements;
use super::item::Item;
use crate::grammar::block::{Figure, Finding};
use crate::grammar::perf_stat::{ELAPSED, INTERVAL};

/// The items with figures that were set as statements of their own.
pub(super) fn stated(items: Vec<Item>) -> Vec<Item> {
    let mut all = Vec::with_capacity(items.len());
    for item in items {
        let given =
            |metric: &str| waits(&item, metric) || item.format == INTERVAL && metric == ELAPSED;
        match &item.finding {
            Finding::Run { labels, figures } if figures.iter().any(|f| given(&f.metric)) => {
                let (set, measured): (Vec<&Figure>, Vec<&Figure>) =
                    figures.iter().partition(|figure| given(&figure.metric));
                let run = |figures: Vec<&Figure>| Item {
                    finding: Finding::Run {
                        labels: labels.clone(),
                        figures: figures.into_iter().cloned().collect(),
                    },
                    ..item.clone()
                };
                if !measured.is_empty() {
                    all.push(run(measured));
                }
                all.extend(statements(run(set)));
            }
            Finding::Summary { figure, .. } if given(&figure.metric) => {
                all.extend(statements(item));
            }
            _ => all.push(item),
        }
    }
    all
}

/// Whether it is the time of a program that only waits.
fn waits(item: &Item, metric: &str) -> bool {
    const TIMES: [&str; 5] = [ELAPSED, "user", "sys", "real", "time"];
    let workload = item.workload_name.as_deref().unwrap_or_default();
    workload.split_whitespace().next() == Some("sleep") && TIMES.contains(&metric)
}
