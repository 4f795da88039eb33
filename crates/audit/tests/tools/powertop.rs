//! `powertop` and rows of idle states.

use super::*;

#[test]
fn the_old_page_is_one_run() {
    let read = read(include_str!("../powertop/old-page.txt"));
    assert_eq!(read.figure("C0 residency"), of(9.7, "%"));
    assert_eq!(read.figure("C3 residency"), of(90.0, "%"));
    assert_eq!(read.figure("C3 duration"), of(1.6, "ms"));
    assert_eq!(read.figure("P-state 1.60 Ghz"), of(0.7, "%"));
    assert_eq!(read.figure("P-state Turbo Mode"), of(3.0, "%"));
    assert_eq!(read.figure("wakeups"), of(575.8, "1/s"));
    assert_eq!(read.figure("power"), of(9.1, "W"));
    assert!(read.doubts().is_empty());
    assert_eq!(read.taken.last(), Some(&""));
}

#[test]
fn a_comma_may_be_the_decimal_mark() {
    let read = read(include_str!("../powertop/old-page-decimal-comma.txt"));
    assert_eq!(read.figure("C3 residency"), of(76.8, "%"));
    assert_eq!(read.figure("wakeups"), of(103.5, "1/s"));
    assert_eq!(read.figure("power"), of(18.3, "W"));
    assert_eq!(read.figure("P-state 800 Mhz"), of(90.3, "%"));
}

#[test]
fn of_the_new_tables_the_package_is_read() {
    let read = read(include_str!("../powertop/idle-stats.txt"));
    assert_eq!(read.figure("C2 residency"), of(63.7, "%"));
    assert_eq!(read.figure("C3 residency"), of(0.5, "%"));
    assert_eq!(read.figure("C10 residency"), of(0.0, "%"));
    assert_eq!(read.runs()[0].2.len(), 3);
    assert!(read.taken.iter().all(|t| !t.is_empty()));
}

#[test]
fn rows_of_states_are_read_if_two_follow_each_other() {
    let read = read("C1 (CPU)  12.3%    0.2 ms\nC6  : 87.7%\nPOLL: x%\n");
    assert_eq!(read.figure("C6 residency"), of(87.7, "%"));
    assert_eq!(read.doubts(), ["bad-number"]);
    assert!(super::read("C6  : 98.7%\nfoo\n").findings.is_empty());
    assert!(
        super::read("C6 was at 98.7%\nC1 was at 1.3%\n")
            .findings
            .is_empty()
    );
}

#[test]
fn a_header_alone_is_a_doubt() {
    assert_eq!(
        read("Cn                Avg residency\n\nfoo\n").doubts(),
        ["truncated-block"]
    );
}
