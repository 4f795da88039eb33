//! Tests of targets with real machines.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)] // A test may fail.

mod delayed_qemu;
mod full;
mod host;
mod own_qemu;
mod stopped_qemu;
mod support;

/// One boot of each kind, which `make test` runs; [`full`] has the rest.
mod boots {
    use crate::full::exact;

    #[test]
    fn the_same_order_gives_the_same_bytes_however_busy_the_host_is() {
        exact::same_bytes_however_busy_the_host_is(1);
    }

    #[test]
    fn a_panic_is_a_failed_run_with_its_console() {
        exact::a_panic_is_a_failed_run_with_its_console();
    }
}
