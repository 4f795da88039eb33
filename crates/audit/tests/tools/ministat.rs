//! `ministat` and `ping`.

use super::*;

fn row(name: &str, mean: f64, deviation: f64, n: u32) -> Told {
    let figure = Figure::new("value", mean, "");
    (
        name.to_owned(),
        String::new(),
        figure,
        Some(deviation),
        Some(n),
    )
}

#[test]
fn rows_are_summaries_named_by_the_legend() {
    let read = read(include_str!("../ministat/two-sets.txt"));
    assert_eq!(
        read.summaries(),
        [
            row("base.txt", 33511.3, 100.92467, 10),
            row("patched.txt", 36571.7, 1607.454, 10),
        ]
    );
    assert!(read.doubts().is_empty());
    assert!(read.taken.iter().all(|t| !t.is_empty()));
}

#[test]
fn tests_between_the_rows_do_not_end_the_table() {
    let read = read(include_str!("../ministat/three-sets.txt"));
    assert_eq!(
        read.summaries()[2],
        row("third2.txt", 33458.25, 72.669916, 4)
    );
    assert!(read.taken.iter().all(|t| !t.is_empty()));
}

#[test]
fn rows_may_be_named_by_themselves() {
    let read = read(
        "         N           Min           Max        Median           Avg        Stddev\nbase     10         33365         33704         33479       33511.3     100.92467\npatched  10         34388         39405         36858       36571.7      1607.454\nDifference at 95.0% confidence\n\t3060.4 +/- 1070.09\n\t9.13244% +/- 3.19321%\n\t(Student's t, pooled s = 1138.88)\n",
    );
    assert_eq!(
        read.summaries(),
        [
            row("base", 33511.3, 100.92467, 10),
            row("patched", 36571.7, 1607.454, 10)
        ]
    );
}

#[test]
fn a_table_without_n_has_no_number_of_runs() {
    let read = read(
        "    setting   Min       Max       Median     Avg    Stddev\n    0         38.7      45.8      38.7       40.12  3.175\n    1024      417       423       420        419.4  2.509\n",
    );
    let summaries = read.summaries();
    assert_eq!((summaries[1].0.as_str(), summaries[1].4), ("1024", None));
    assert_eq!(summaries[0].2.value, 40.12);
}

#[test]
fn wrapped_headers_and_rows_are_joined() {
    let read = read(
        "x a\n+ b\n\n    N           Min           Max        Median           Avg\nStddev\nx   5     813404.51     824574.98      821661.3     820470.83\n4202.0758\n"
            .replace("\n\n", "\n")
            .as_str(),
    );
    assert_eq!(read.summaries(), [row("a", 820470.83, 4202.0758, 5)]);
}

#[test]
fn cells_without_a_number_are_doubts() {
    let header = "    N           Min           Max        Median           Avg        Stddev\n";
    let infinite = read(&format!(
        "{header}x   3   1e+308   1e+308   1e+308   inf   -nan\n"
    ));
    assert_eq!(infinite.doubts(), ["bad-number"]);
    let no_deviation = read(&format!("{header}x   3   1   2   1   1.5   -nan\n"));
    assert_eq!(no_deviation.doubts(), ["bad-number"]);
    assert_eq!(no_deviation.summaries()[0].3, None);
    assert_eq!(
        read(&format!("{header}x   3   1   2   1\n")).doubts(),
        ["ragged-row", "truncated-block"]
    );
    assert_eq!(
        read(&format!("{header}\nThat is all.\n")).doubts(),
        ["truncated-block"]
    );
}

#[test]
fn multiplication_is_no_legend() {
    assert!(read("x 2 is what we get\nand so on\n").findings.is_empty());
}

#[test]
fn ping_gives_one_run() {
    let read = read("rtt min/avg/max/mdev = 0.03/0.04/0.05/0.01 ms\n");
    assert_eq!(read.figure("rtt max"), of(0.05, "ms"));
    let bsd = super::read("round-trip min/avg/max/stddev = 0.03/x/0.05/0.01 ms\n");
    assert_eq!(
        (bsd.figure("rtt avg"), bsd.doubts()),
        (None, vec!["bad-number"])
    );
}
