//! The QEMU of exact machines, where `cargo xtask lab` has built it.

#![allow(clippy::unwrap_used, clippy::print_stderr)] // A test may fail, and skip.

use assize_target::kernels::Kernels;
use assize_target::qemu::Qemu;
use assize_target::qemu_build;

#[test]
fn the_qemu_that_is_built_says_what_it_is() {
    let root = Kernels::default_root().unwrap();
    let Some(stored) = qemu_build::stored(&root) else {
        let missing = qemu_build::missing().join(" ");
        eprintln!("skipped: no QEMU of ours is built; cargo xtask lab ({missing})");
        return;
    };
    let asked = Qemu::at(stored.binary.clone(), stored.data_dirs.clone()).unwrap();
    assert_eq!(asked.version, stored.version);
    assert!(asked.parallel);
    assert!(asked.fits(4).is_ok());
    if std::env::var_os("ASSIZE_QEMU").is_none() {
        assert_eq!(Qemu::find(&root).unwrap(), asked);
    }
}
