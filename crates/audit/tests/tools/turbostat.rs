//! `turbostat`.

use super::*;

#[test]
fn intervals_are_samples_of_one_run() {
    let read = read(include_str!("../turbostat/intervals-with-cpus.txt"));
    assert_eq!(read.figure("Busy%"), of(1.0, "%"));
    assert_eq!(read.figure("PkgWatt"), of(11.0, "W"));
    assert_eq!(read.figure("Bzy_MHz"), of(1900.0, "MHz"));
    assert_eq!(read.figure("C6"), of(150.0, ""));
    assert_eq!(read.figure("CoreTmp"), of(41.0, "C"));
    assert_eq!(read.figure("CPU"), None);
    assert!(read.doubts().is_empty());
    assert_eq!(read.taken[3], "turbostat row of a cpu");
}

#[test]
fn rows_of_a_summary_are_intervals() {
    let read = read(include_str!("../turbostat/summary-only.txt"));
    assert_eq!(read.figure("IRQ"), of(21000.0, ""));
    assert!(read.doubts().is_empty());
}

#[test]
fn headers_parted_by_prose_begin_another_run() {
    let read = read(
        "Without the patch,\nBusy%\tIRQ\tC10\tCPU%c1\tPkgWatt\n0.30\t2373\t2857\t0.36\t1.48\n\nWith it,\nBusy%\tIRQ\tC10\tCPU%c1\tPkgWatt\n0.42\t3071\t344\t34.18\t2.00\n",
    );
    let runs = read.runs();
    assert_eq!(runs.len(), 2);
    assert_eq!((runs[0].0, runs[1].0), (3, 7));
    assert_eq!(runs[1].2[4], Figure::new("PkgWatt", 2.0, "W"));
}

#[test]
fn a_header_again_is_the_next_interval() {
    let read = read("Busy% PkgWatt\n1.0 2.0\n\nBusy% PkgWatt\n3.0 4.0\n");
    assert_eq!(read.figure("PkgWatt"), of(3.0, "W"));
}

#[test]
fn short_rows_are_those_of_cpus() {
    let read = read("CPU%c1\tCPU%c6\tPkg%pc2\n2.0\t96.0\t21.0\n3.0\t95.0\t21.0\n2.5\n1.0\t97.0\n");
    assert_eq!(read.figure("CPU%c1"), of(2.0, "%"));
}

#[test]
fn rows_that_could_be_either_are_doubted() {
    let read = read("Busy% Bzy_MHz\n1.0 2000\n3.0 2100\n");
    assert_eq!(
        (read.figure("Busy%"), read.doubts()),
        (of(2.0, "%"), vec!["ambiguous-rows"])
    );
}

#[test]
fn wrapped_headers_and_rows_are_joined() {
    let read = read(include_str!("../turbostat/wrapped-by-mailer.txt"));
    assert_eq!(read.figure("elapsed"), of(10.003466, "s"));
    assert_eq!(read.figure("Avg_MHz"), of(219.0, "MHz"));
    assert_eq!(read.figure("GFXWatt"), of(0.07, "W"));
    assert_eq!(read.figure("PkgTmp"), of(57.0, "C"));
    assert!(read.doubts().is_empty(), "{:?}", read.findings);
}

#[test]
fn names_that_touch_are_parted() {
    let read = read("CPU%c7 Pkg%pc8 Pkg%pc9Pk%pc10\tSYS%LPI\n1.0 2.0 3.0 4.0 5.0\n");
    assert_eq!(read.figure("Pkg%pc9"), of(3.0, "%"));
    assert_eq!(read.figure("Pk%pc10"), of(4.0, "%"));
}

#[test]
fn a_register_is_doubted_once() {
    let read = read("Busy% PkgWatt REASON\n1.0 2.0 0x00\n3.0 4.0 0x0c\n");
    assert_eq!(
        (read.figure("PkgWatt"), read.doubts()),
        (of(3.0, "W"), vec!["bad-number"])
    );
}

#[test]
fn old_versions_leave_the_places_blank() {
    let read = read(include_str!("../turbostat/old-version-blank-places.txt"));
    assert_eq!(read.figure("%c0"), of(3.2, "%"));
    assert_eq!(read.figure("GHz"), of(1.7, "GHz"));
    assert_eq!(read.figure("Pkg_W"), of(6.62, "W"));
}

#[test]
fn ragged_rows_and_bad_cells_are_doubts() {
    let ragged = read("Busy%\tIRQ\tPkgWatt\n1.0\t2\n");
    assert_eq!(ragged.doubts(), ["ragged-row"]);
    let bad = read("Busy%\tIRQ\tPkgWatt\n1.0\t1,2,3\tnan\n");
    assert_eq!(bad.doubts(), ["bad-number", "bad-number"]);
    assert_eq!(bad.figure("Busy%"), of(1.0, "%"));
    assert_eq!(
        read("Busy%\tIRQ\tPkgWatt\n\nfoo\n").doubts(),
        ["truncated-block"]
    );
}

#[test]
fn sentences_about_columns_are_no_header() {
    for text in [
        "Busy% and Bzy_MHz are the columns to look at\n1 2\n",
        "CPU Core numbers\n1 2 3\n",
    ] {
        assert!(read(text).findings.is_empty(), "{text}");
    }
}
