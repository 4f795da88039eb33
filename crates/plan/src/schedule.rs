//! Randomised complete blocks.

use crate::draws::Draws;
use crate::plan::PlannedRun;

/// The runs of `blocks` blocks. Each block holds each cell once, in an order
/// of its own. More blocks leave the earlier ones as they are.
///
/// Of each block's draws the first is its seed, the second that of the
/// repeated baseline, the rest shuffle its cells. `repeated` is the
/// configuration that repeats the baseline, if there is one. On the exact
/// target all go on from one memory image.
pub(crate) fn runs(
    seed: u64,
    blocks: u32,
    configurations: usize,
    workloads: usize,
    repeated: Option<usize>,
    exact: bool,
) -> Vec<PlannedRun> {
    let mut runs = Vec::new();
    let mut index = 0;
    for block in 0..blocks {
        let mut draws = Draws::new(seed, block);
        let shared = draws.seed();
        let mut own = draws.seed();
        if own == shared {
            own ^= 1;
        }
        let mut cells: Vec<(usize, usize)> = (0..configurations)
            .flat_map(|configuration| (0..workloads).map(move |workload| (configuration, workload)))
            .collect();
        draws.shuffle(&mut cells);
        for (configuration, workload) in cells {
            let seed = if repeated == Some(configuration) {
                own
            } else {
                shared
            };
            runs.push(PlannedRun {
                index,
                block,
                configuration,
                workload,
                repetition: block + 1,
                seed,
                image: exact.then_some(0),
            });
            index += 1;
        }
    }
    runs
}
