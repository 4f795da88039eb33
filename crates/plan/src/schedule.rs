//! Randomised complete blocks.

use assize_job::Image;

use crate::draws::Draws;
use crate::plan::PlannedRun;

/// The draws of an image: the block's seed with this for the block's number,
/// which no block has.
const IMAGE: u32 = u32::MAX;
/// An image is taken less than this later than it could be.
const SETTLE_US: u32 = 1_000_000;
/// Fewer processes than this have come and gone.
const PROCESSES: u32 = 256;
/// The stack of a process begins at a multiple of this …
const PADDING_STEP: u32 = 16;
/// … and less than this lower than it could.
const PADDING: u32 = 4096;

/// What the kernel's addresses are drawn from is at most this: about as many as
/// there are places for a kernel, and little of the command line.
const ADDRESSES: u32 = 512;

/// What is drawn for each of the images of a schedule. Image i belongs to block
/// i, and to those later ones that have none of their own. More images leave the
/// earlier ones as they are; for a single one nothing is drawn.
pub(crate) fn images(seed: u64, images: u32) -> Vec<Image> {
    if images == 1 {
        return vec![Image::default()];
    }
    let image = |block| {
        let mut draws = Draws::new(Draws::new(seed, block).seed(), IMAGE);
        Image {
            settle_us: draws.whole(SETTLE_US),
            processes: draws.whole(PROCESSES),
            padding: draws.whole(PADDING / PADDING_STEP) * PADDING_STEP,
            modules: 1 + draws.whole(u32::MAX),
            // Each as often as the others.
            build: block % Image::BUILDS,
            addresses: 1 + draws.whole(ADDRESSES),
        }
    };
    (0..images).map(image).collect()
}

/// The runs of `blocks` blocks. Each block holds each cell once, in an order
/// of its own. More blocks leave the earlier ones as they are.
///
/// There are so many configurations and workloads. Of each block's draws the first is its seed, the second that of the
/// repeated baseline, the rest shuffle its cells. `repeated` is the
/// configuration that repeats the baseline, if there is one. `images` is the
/// number of memory images, over which blocks are dealt out; 0 if there are none.
pub(crate) fn runs(
    seed: u64,
    blocks: u32,
    (configurations, workloads): (usize, usize),
    repeated: Option<usize>,
    images: u32,
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
                image: block.checked_rem(images),
            });
            index += 1;
        }
    }
    runs
}
