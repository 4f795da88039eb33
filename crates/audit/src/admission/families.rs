//! Names of things that do the same: file systems, I/O schedulers, governors.

/// Things of which a kernel has one at a time, by what they do.
const FAMILIES: &[&[&str]] = &[
    &[
        "bfq",
        "mq-deadline",
        "deadline",
        "kyber",
        "cfq",
        "noop",
        "iocost",
        "iolatency",
        "wrr",
        "none",
    ],
    &[
        "performance",
        "powersave",
        "ondemand",
        "conservative",
        "schedutil",
        "userspace",
    ],
    &["bbr", "cubic", "reno", "dctcp", "vegas"],
    &["eevdf", "cfs", "bore", "bmq", "pds", "muqss"],
    &["menu", "teo", "ladder", "haltpoll"],
    &["slab", "slub", "slob"],
    &[
        "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "bcachefs", "jfs", "reiserfs",
        "nilfs2", "tmpfs", "ntfs", "ntfs3", "exfat", "vfat", "erofs", "squashfs", "nfs", "cifs",
    ],
    &["raid0", "raid1", "raid10", "raid4", "raid5", "raid6"],
    &["zsmalloc", "zbud", "z3fold"],
    &[
        "lzo", "lzo-rle", "lz4", "lz4hc", "zstd", "zlib", "deflate", "842",
    ],
    &[
        "libaio", "io-uring", "psync", "sync", "pvsync2", "posixaio", "epoll",
    ],
    &[
        "irq",
        "irqs",
        "interrupt",
        "interrupts",
        "poll",
        "polling",
        "polled",
        "iopoll",
    ],
];

/// `bfq` and `mq-deadline`: two of one family, and nothing else, a level apart: `lz4hc-9`.
pub(super) fn alternatives(a: &str, b: &str) -> bool {
    let (a, b) = (without_level(a), without_level(b));
    let of = |family: &&[&str]| family.contains(&a) && family.contains(&b);
    a != b && FAMILIES.iter().any(of)
}

/// `zstd` of `zstd-3`.
fn without_level(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((stem, level))
            if (1..=2).contains(&level.len()) && level.bytes().all(|b| b.is_ascii_digit()) =>
        {
            stem
        }
        _ => name,
    }
}
