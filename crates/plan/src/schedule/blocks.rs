//! Randomised complete blocks.

use assize_job::MemoryImage;

use crate::plan::PlannedRun;
use crate::schedule::draws::BlockDraws;

/// Stands for the block number in the draws for an image, whose seed is that of the image's block.
/// No block has this number.
const IMAGE: u32 = u32::MAX;
/// Exclusive upper bound of the random extra delay before an image is taken, in
/// microseconds.
const SETTLE_US: u32 = 1_000_000;
/// Exclusive upper bound of the number of processes that have run and exited
/// before an image is taken.
const PROCESSES: u32 = 256;
/// The random offset of a process's stack is a multiple of this many bytes.
const PADDING_STEP: u32 = 16;
/// Exclusive upper bound of that offset, in bytes.
const PADDING: u32 = 4096;

/// The largest seed for the kernel's address randomisation: there are about as many values as
/// possible positions of the kernel, and the command line stays short.
const ADDRESSES: u32 = 512;

/// The random draws for each memory image of a schedule. Image i belongs to
/// block i, and to later blocks when there are more blocks than images. More
/// images leave the earlier ones unchanged; a single image is the default one,
/// without draws.
pub(crate) fn images(seed: u64, images: u32) -> Vec<MemoryImage> {
    if images == 1 {
        return vec![MemoryImage::default()];
    }
    let image = |block| {
        let mut draws = BlockDraws::new(BlockDraws::new(seed, block).seed(), IMAGE);
        MemoryImage {
            settle_us: draws.whole(SETTLE_US),
            processes: draws.whole(PROCESSES),
            padding: draws.whole(PADDING / PADDING_STEP) * PADDING_STEP,
            modules: 1 + draws.whole(u32::MAX),
            // Each build occurs equally often.
            build: block % MemoryImage::BUILDS,
            addresses: 1 + draws.whole(ADDRESSES),
        }
    };
    (0..images).map(image).collect()
}

/// The runs of `blocks` blocks. Each block holds each cell once, in a random order. More blocks
/// leave the earlier ones unchanged.
///
/// `configurations` and `workloads` are counts. The first draw of a block is its seed, the second
/// the seed of the repeated baseline; the rest shuffle its cells. `repeated` is the configuration
/// that repeats the baseline, if there is one. `images` is the number of memory images, which
/// blocks take in turn; 0 if there are none.
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
        let mut draws = BlockDraws::new(seed, block);
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
