#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use super::*;
use crate::Line;
use crate::grammar::table::Table;
use crate::grammar::{Block, Figure, Grammar, Labels};
use crate::states::Stated;

/// What is read of a table that stands alone, as the user says.
fn read_as(text: &str, options: &Options) -> Option<Block> {
    let lines: Vec<Line<'_>> = text
        .lines()
        .enumerate()
        .map(|(i, t)| Line::plain(i as u32 + 1, t))
        .collect();
    let mut block = Table
        .starts(text.lines().next()?)
        .then(|| Table.read(&lines))
        .flatten()?;
    let context = Context {
        headings_differ: 0,
        heading: Stated::Not,
        runs: None,
        spread: None,
        options,
    };
    let mut findings = Vec::new();
    for (at, finding) in std::mem::take(&mut block.findings) {
        match finding {
            Finding::Grid(grid) => {
                let resolved = resolve(&grid, &context).findings;
                findings.extend(resolved.into_iter().map(|(_, finding)| (at, finding)));
            }
            other => findings.push((at, other)),
        }
    }
    block.findings = findings;
    Some(block)
}

fn read(text: &str) -> Option<Block> {
    read_as(text, &Options::default())
}

fn runs(block: &Block) -> Vec<(&Labels, &Vec<Figure>)> {
    block
        .findings
        .iter()
        .filter_map(|(_, f)| match f {
            Finding::Run { labels, figures } => Some((labels, figures)),
            _ => None,
        })
        .collect()
}

#[test]
fn rows_with_a_number_behind_the_name_are_repetitions() {
    let block =
        read("non-idle % cpu 0 cpu 1\n3.9_1 11.96 2.86\n3.9_2 12.64 2.81\nnext text").unwrap();
    assert_eq!(block.taken.len(), 3);
    let runs = runs(&block);
    assert_eq!(runs[1].0.configuration.as_deref(), Some("3.9"));
    assert_eq!(runs[1].0.repetition, Some(2));
    assert_eq!(runs[1].1[0], Figure::new("non-idle cpu 0", 12.64, "%"));
    assert_eq!(runs[1].1[2], Figure::new("non-idle total", 15.45, "%"));
}

#[test]
fn key_columns_part_workload_configuration_and_repetition() {
    let block = read(
        "test     gov    i     score  %change    idles\n\
         schbench teo-0  0    194.07   +0.00%    25308\n\
         schbench teo-1  0    189.80   -2.20%    23776\n",
    )
    .unwrap();
    let runs = runs(&block);
    assert_eq!(runs[1].0.workload.as_deref(), Some("schbench"));
    assert_eq!(runs[1].0.configuration.as_deref(), Some("teo-1"));
    let names: Vec<&str> = runs[1].1.iter().map(|f| f.metric.as_str()).collect();
    assert_eq!(names, ["score", "idles"]);
}

#[test]
fn columns_named_like_configurations_hold_repetitions() {
    let block = read("  ops/sec\n     BASE       PATCHED\n=====================\n  33452\t\t 36485\n  33541\t\t 39405\n").unwrap();
    let runs = runs(&block);
    assert_eq!(runs.len(), 4);
    assert_eq!(runs[0].1[0].metric, "ops/sec");
    assert_eq!(
        runs.iter()
            .filter(|r| r.0.configuration.as_deref() == Some("PATCHED"))
            .count(),
        2
    );
}

#[test]
fn ruled_and_piped_tables_are_the_same_table() {
    let ruled = "+------+-------+------+\n| kernel | time (s) | power (W) |\n+------+-----+----+\n| base | 12.5 | 3.1 |\n| patched | 11.5 | 3.2 |\n+-----+-----+-----+\n";
    let block = read(ruled).unwrap();
    assert_eq!(block.taken.len(), 6);
    assert_eq!(
        runs(&block)[1].1,
        &[
            Figure::new("time", 11.5, "s"),
            Figure::new("power", 3.2, "W")
        ]
    );
}

#[test]
fn percentages_with_a_column_of_hundreds_are_normalised_figures() {
    let block = read("normal nice FIFO\nwq 100% 76% 1%\nkthread_worker 100% 73% 1.2%\n└─relative to wq: 50.5% 48.5% 58.9%\n").unwrap();
    assert_eq!(block.findings.len(), 9);
    let Finding::Statement {
        labels,
        figure,
        normalised_to,
    } = &block.findings[8].1
    else {
        panic!()
    };
    assert_eq!(labels.configuration.as_deref(), Some("kthread_worker"));
    assert_eq!((figure.metric.as_str(), figure.value), ("FIFO", 58.9));
    assert_eq!(normalised_to.as_deref(), Some("wq"));
}

#[test]
fn rows_that_cannot_be_read_are_named() {
    let block = read("config  time  power\nbase  12.5  1.0\npatched  nan  1.1\nother  1,2,3  1.1\nshort  1.1\nlast  12.1  1.2\n").unwrap();
    let doubts: Vec<&str> = block
        .findings
        .iter()
        .filter_map(|(_, f)| {
            if let Finding::Doubt(code, _) = f {
                Some(*code)
            } else {
                None
            }
        })
        .collect();
    assert_eq!(doubts, ["bad-number", "bad-number", "ragged-row"]);
    assert_eq!(runs(&block).len(), 2);
}

#[test]
fn prose_and_code_are_not_tables() {
    for text in [
        "This was seen on the box with\nkernel 6.12 64\nand more",
        "int a[] = {\n1, 2, 3,\n4, 5, 6\n};",
        "2 files changed, 3 insertions(+)\n create mode 100644 a.c",
        "See section\n3 4",
    ] {
        assert!(read(text).is_none(), "{text}");
    }
}

#[test]
fn parameters_of_the_workload_are_part_of_its_name() {
    let block = read("threads  base  patched\n1  10.5  10.1\n2  20.1  19.8\n").unwrap();
    let runs = runs(&block);
    assert_eq!(runs.len(), 4);
    assert!(
        runs.iter()
            .any(|r| r.0.workload.as_deref() == Some("threads=2"))
    );
}

#[test]
fn numbered_rounds_are_runs_of_each_column() {
    let text = "        stock     stock+patch\nround1  21061234  63150981\n\
                round2  21047810  63170224\nround3  21050177  63166102\n";
    let block = read(text).unwrap();
    let runs = runs(&block);
    let of = |name: &str| -> Vec<f64> {
        let these = runs
            .iter()
            .filter(|(labels, _)| labels.configuration.as_deref() == Some(name));
        these
            .flat_map(|(_, figures)| figures.iter().map(|f| f.value))
            .collect()
    };
    assert_eq!(of("stock"), [21_061_234.0, 21_047_810.0, 21_050_177.0]);
    assert_eq!(
        of("stock+patch"),
        [63_150_981.0, 63_170_224.0, 63_166_102.0]
    );
    let repeated = runs
        .iter()
        .all(|(labels, _)| labels.repetition.is_some() && labels.workload.is_none());
    assert!(repeated);
}

#[test]
fn two_columns_of_each_metric_are_two_configurations() {
    let text = "| Query | Avg(s) | Base Avg(s) | Delta(Avg) | StdDev(%) | Base StdDev(%) | Iters |\n\
                |-------|--------|-------------|------------|-----------|----------------|-------|\n\
                | q7    | 38.87  | 38.44       |   +1.13%   |   7.17%   | * 10.92% *     | 20    |\n\
                | q9    | 1.98   | 2.00        | R +1.32%   |   1.74%   |   2.81%        | 20    |\n";
    let block = read(text).unwrap();
    let told: Vec<(String, String, f64, Option<u32>)> = block
        .findings
        .iter()
        .map(|(_, finding)| match finding {
            Finding::Summary {
                labels, figure, n, ..
            } => (
                labels.configuration.clone().unwrap(),
                labels.workload.clone().unwrap(),
                figure.value,
                *n,
            ),
            other => panic!("{other:?}"),
        })
        .collect();
    let of = |name: &str, query: &str, mean: f64| (name.into(), query.into(), mean, Some(20));
    assert_eq!(
        told,
        [
            of("base", "q7", 38.44),
            of("base", "q9", 2.0),
            of("new", "q7", 38.87),
            of("new", "q9", 1.98),
        ]
    );
    let spreads: Vec<f64> = block
        .findings
        .iter()
        .filter_map(|(_, finding)| match finding {
            Finding::Summary {
                spread: Some(assize_bundle::Spread::StandardDeviation(sd)),
                ..
            } => Some(*sd),
            _ => None,
        })
        .collect();
    assert_eq!(spreads.len(), 4);
    assert!((spreads[2] - 38.87 * 0.0717).abs() < 0.01, "{spreads:?}");
    assert!((spreads[0] - 38.44 * 0.1092).abs() < 0.01, "{spreads:?}");
}

#[test]
fn columns_that_are_not_two_of_each_metric_are_no_configurations_by_their_words() {
    for text in [
        // Another metric on each side.
        "| size | old reads | new writes |\n|--|--|--|\n| 4k | 12.5 | 13.5 |\n",
        // Three of one metric.
        "| size | old time | new time | time |\n|--|--|--|--|\n| 4k | 12.5 | 13.5 | 14.5 |\n",
        // Nothing that is measured, but two patches.
        "| part | w/o patch | w/ patch |\n|--|--|--|\n| 4k | 12.5 | 13.5 |\n",
        // A parameter each.
        "| size | Avg(s) | Max(s) |\n|--|--|--|\n| 4k | 12.5 | 13.5 |\n",
    ] {
        let block = read(text).unwrap();
        let named = block.findings.iter().any(|(_, finding)| match finding {
            Finding::Run { labels, .. } => labels.configuration.as_deref() == Some("base"),
            _ => false,
        });
        assert!(!named, "{text}");
    }
}

#[test]
fn a_ratio_that_follows_from_two_columns_makes_them_configurations() {
    let table = |ratio: [&str; 2]| {
        format!(
            "          blead   nanyof  Ratio %\n       -------- -------- --------\n    Ir   2782.0   2648.0    {}\n    Dr    845.0    799.0    {}\n   IND     22.0     22.0    100.0\n",
            ratio[0], ratio[1]
        )
    };
    let names = |text: &str| -> Vec<String> {
        let block = read(text).unwrap();
        let runs = runs(&block).into_iter();
        runs.filter_map(|(labels, _)| labels.configuration.clone())
            .collect()
    };
    assert_eq!(names(&table(["105.1", "105.8"])), ["blead", "nanyof"]);
    assert_ne!(names(&table(["305.1", "7.8"])), ["blead", "nanyof"]);
}

#[test]
fn a_blank_line_may_part_names_over_columns_from_rows() {
    let text = "            log     log -c     log -c --merges\n\n    before  1.9s    16.4s      15.2s\n    after   1.9s     2.4s       1.1s\n";
    let block = read(text).unwrap();
    let runs = runs(&block);
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[1].0.configuration.as_deref(), Some("after"));
    let values: Vec<f64> = runs[1].1.iter().map(|figure| figure.value).collect();
    assert_eq!(values, [1.9, 2.4, 1.1]);
    // More figures than names.
    let text = "            log     log -c\n\n    before  1.9s    16.4s      15.2s\n    after   1.9s     2.4s       1.1s\n";
    assert!(read(text).is_none_or(|block| block.findings.is_empty()));
}

/// Configuration, workload, metric and value of each figure.
fn placed(text: &str) -> Vec<(String, String, String, f64)> {
    let block = read(text).unwrap();
    let mut all = Vec::new();
    for (labels, figures) in runs(&block) {
        let name = |name: &Option<String>| name.clone().unwrap_or_default();
        let (configuration, workload) = (name(&labels.configuration), name(&labels.workload));
        let of = |f: &Figure| {
            (
                configuration.clone(),
                workload.clone(),
                f.metric.clone(),
                f.value,
            )
        };
        all.extend(figures.iter().map(of));
    }
    all
}

fn has(all: &[(String, String, String, f64)], wanted: (&str, &str, &str, f64)) -> bool {
    let own = |(a, b, c, v): &(String, String, String, f64)| (&**a, &**b, &**c, *v) == wanted;
    all.iter().any(own)
}

#[test]
fn names_over_columns_that_come_again_are_groups_of_columns() {
    // Changes behind the groups belong to none, and the names begin where the rows do.
    let all = placed(
        "Before            After\n          Mean   StdDev   Mean   StdDev   Change\n\
         copy       9.7     0.11   19.2     0.02   +98.2%\nfill       7.3     0.02   12.5     0.01   +71.2%\n",
    );
    assert!(has(&all, ("Before", "copy", "Mean", 9.7)), "{all:?}");
    assert!(has(&all, ("After", "fill", "Mean", 12.5)), "{all:?}");
    assert_eq!(all.len(), 4, "{all:?}");
    // So do figures of how sure a change is, and rules may show which columns a name has.
    let all = placed(
        "       <--- old --->   <--- new --->\n       Mean StdDev     Mean StdDev   Confidence   Change\n\
         copy   21.1   0.07     32.3   0.08    100.00%     +52.9%\nfill   11.6   0.29     18.0   0.52    100.00%     +54.4%\n",
    );
    assert!(has(&all, ("old", "copy", "Mean", 21.1)), "{all:?}");
    assert!(has(&all, ("new", "fill", "Mean", 18.0)), "{all:?}");
    assert_eq!(all.len(), 4, "{all:?}");
    // The line above names the rows, too, and the groups are metrics.
    let all = placed(
        "clients      kIOPS          latency, us\n           shared  own    shared  own\n\
         1          8.62    8.61   13.9    14.0\n2          17.3    17.4   14.1    14.2\n4          34.5    34.4   14.2    14.3\n",
    );
    assert!(has(&all, ("shared", "clients=2", "kIOPS", 17.3)), "{all:?}");
    assert!(has(&all, ("own", "clients=4", "latency", 14.3)), "{all:?}");
    assert_eq!(all.len(), 12, "{all:?}");
    // Numbers before the groups name the rows, if no two are alike.
    let ruled = |last: &str| {
        format!(
            "+---------+-----------------+-----------------+\n|         |     vanilla     |     patched     |\n\
             | threads | MB/s   | us/op  | MB/s   | us/op  |\n+---------+--------+--------+--------+--------+\n\
             |       1 |  212.4 |   18.4 |  219.8 |   17.8 |\n| {last:>7} |  911.7 |   68.5 | 1304.9 |   47.9 |\n\
             +---------+--------+--------+--------+--------+\n"
        )
    };
    let all = placed(&ruled("16"));
    assert!(
        has(&all, ("patched", "threads=16", "us/op", 47.9)),
        "{all:?}"
    );
    assert_eq!(all.len(), 8, "{all:?}");
    let all = placed(&ruled("1"));
    assert!(
        !all.iter()
            .any(|(_, workload, ..)| workload.contains("threads=1")),
        "{all:?}"
    );
    // Names that do not come again are those of one column each.
    let all = placed(
        "Before            After\n          Mean   Median   Max   Sum\ncopy       9.7     0.11   19.2     0.02\nfill       7.3     0.02   12.5     0.01\n",
    );
    assert!(!has(&all, ("After", "copy", "Mean", 19.2)), "{all:?}");
}

#[test]
fn numbers_without_which_rows_of_one_name_are_one_are_parameters() {
    let table = |levels: [u32; 4]| {
        let [a, b, c, d] = levels;
        format!(
            "| Build | Level | Before | After |\n|---|---|---|---|\n| gcc | {a} | 931.4 | 904.4 |\n\
             | gcc | {b} | 849.1 | 822.6 |\n| clang | {c} | 705.5 | 683.2 |\n| clang | {d} | 670.0 | 649.2 |\n"
        )
    };
    let all = placed(&table([1, 2, 1, 2]));
    assert!(has(&all, ("Before", "Level=2", "gcc", 849.1)), "{all:?}");
    assert!(has(&all, ("After", "Level=1", "clang", 683.2)), "{all:?}");
    assert_eq!(all.len(), 8, "{all:?}");
    // Numbers that come again tell no rows apart.
    let all = placed(&table([3, 3, 3, 3]));
    assert!(!has(&all, ("Before", "Level=3", "gcc", 849.1)), "{all:?}");
}

#[test]
fn a_number_before_the_name_of_a_row_is_part_of_it() {
    let all = placed(
        "depth type   IOPS(default) IOPS(this patch)  diff\n1   write    7795157.27  7859909.78       0.83%\n\
         32  mix(70% r)   7418607.08  7404026.54      -0.20%\n",
    );
    let mixed = "32 mix(70% r)";
    assert!(
        has(&all, ("default", mixed, "IOPS", 7_418_607.08)),
        "{all:?}"
    );
    assert!(
        has(&all, ("this patch", "1 write", "IOPS", 7_859_909.78)),
        "{all:?}"
    );
    // Two numbers, or one with a unit, are figures behind which no word may stand.
    for text in [
        "a b  c  d\n1 2 write 12.5 13.5\n3 4 read 12.5 14.5\n",
        "a b  c  d\n1ms write 12.5 13.5\n3ms read 12.5 14.5\n",
    ] {
        assert!(read(text).is_none(), "{text}");
    }
}

#[test]
fn a_deviation_may_be_aligned_behind_its_mark() {
    let text = "        before             after\nclone   32.3 s ± 0.6 s     30.7 s ±  0.5 s\ncheck   54.2 s ±  7.1 s    54.4 s ± 6.7 s\n";
    let block = read(text).unwrap();
    let spread = |(_, finding): &(usize, Finding)| match finding {
        Finding::Summary {
            spread: Some(assize_bundle::Spread::StandardError(e)),
            ..
        } => Some(*e),
        _ => None,
    };
    let spreads: Vec<f64> = block.findings.iter().filter_map(spread).collect();
    assert_eq!(spreads.len(), 4);
    assert!(
        spreads.contains(&7.1) && spreads.contains(&0.5),
        "{spreads:?}"
    );
}

#[test]
fn a_cell_without_a_figure_leaves_the_others_in_their_places() {
    let text = "| Build | Before | Other | After |\n|---|---|---|---|\n| gcc | 1029.6 | 1308.1 | 1208.1 |\n| clang | 1081.0 | N/A | 1234.9 |\n| tcc | NA | - | 834.9 |\n";
    let all = placed(text);
    assert!(has(&all, ("After", "", "clang", 1234.9)), "{all:?}");
    assert!(has(&all, ("After", "", "tcc", 834.9)), "{all:?}");
    assert_eq!(all.len(), 6, "{all:?}");
}

#[test]
fn columns_beside_two_that_are_compared_are_left_aside() {
    let text = "| load  | base     | patched  | delta | faults | new huge |\n\
                |-------|----------|----------|-------|--------|----------|\n\
                | seq   |   11.260 |   10.301 | -8.5% | 1.001x |  16381.1 |\n\
                | again |    4.398 |    4.025 | -8.5% | 1.003x |   6221.1 |\n";
    let of = |all: &[(String, String, String, f64)]| -> Vec<String> {
        let mut names: Vec<String> = all.iter().map(|(name, ..)| name.clone()).collect();
        names.sort();
        names.dedup();
        names
    };
    assert_eq!(of(&placed(text)), ["base", "patched"]);
    // A change stands behind the further column, too, or two more say the opposite.
    let third = text
        .replace("1.001x", "9.1")
        .replace("1.003x", "4.2")
        .replace("faults", "newer ")
        .replace("new huge", "delta 2 ");
    assert_eq!(of(&placed(&third)).len(), 3);
    let pair = text
        .replace("1.001x", "9.1")
        .replace("1.003x", "4.2")
        .replace("faults", "old IO")
        .replace("new huge", "new IO  ");
    assert_eq!(of(&placed(&pair)).len(), 4);
}

#[test]
fn the_other_column_of_a_metric_may_be_of_a_series() {
    let text = "| load  | base time | RFC time | base huge | faults |\n\
                |-------|-----------|----------|-----------|--------|\n\
                | seq   |    11.260 |   10.301 |     16381 |  1.001 |\n\
                | again |     4.398 |    4.025 |      6221 |  1.003 |\n";
    let all = placed(text);
    assert!(has(&all, ("RFC", "seq", "time", 10.301)), "{all:?}");
    assert!(has(&all, ("base", "again", "time", 4.398)), "{all:?}");
    assert_eq!(all.len(), 4, "{all:?}");
    // Without the word for the base nothing says that `RFC` is a state.
    let other = placed(&text.replace("base time", "fast time"));
    assert!(!other.iter().any(|(name, ..)| name == "RFC"), "{other:?}");
}

#[test]
fn two_rows_of_one_name_among_many_are_left_out() {
    let rows = |names: &[&str]| {
        let row = |(at, name): (usize, &&str)| format!("| {name} | {at}.5 | {at}.25 |\n");
        let rows: String = (1..).zip(names).map(row).collect();
        format!("| job | before | after |\n|-----|--------|-------|\n{rows}")
    };
    let figures = |names: &[&str]| placed(&rows(names)).len();
    let pooled = |names: &[&str]| signs(&rows(names)).contains(&Sign::Pooled);
    let slip = ["a", "b", "c", "d", "e", "f", "f", "h"];
    assert_eq!((figures(&slip), pooled(&slip)), (12, false));
    // Of fewer rows, or of several names that come again, nothing is known.
    assert!(pooled(&slip[3..]));
    assert!(pooled(&["a", "a", "c", "d", "e", "f", "f", "h"]));
}

#[test]
fn groups_over_columns_of_opposite_states_are_workloads() {
    let text = "|        |      nodelay      |       delay       |\n\
                |--------|-------------------|-------------------|\n\
                |        | Unpatched| Patched| Unpatched| Patched|\n\
                |--------|----------|--------|----------|--------|\n\
                | Test 1 | 11.8 MB/s| 23 MB/s| 27.2 MB/s| 63 MB/s|\n\
                | Test 2 | 1617 MB/s| 17 MB/s| 2223 MB/s| 22 MB/s|\n";
    let all = placed(text);
    assert!(has(&all, ("Patched", "delay", "Test 1", 63.0)), "{all:?}");
    // Without words for states in the columns the groups are compared.
    let other = text.replace("Unpatched| Patched", "    avg  |   max  ");
    let all = placed(&other);
    assert!(has(&all, ("delay", "Test 1", "max", 63.0)), "{all:?}");
}

#[test]
fn a_blank_line_may_part_a_header_between_pipes_from_its_rows() {
    let text = "           v6.8 | v6.8 + it | v6.8 + more\n\n\
                job 1 Time: 0.35 |    0.42   |   0.41\njob 2 Time: 0.61 |    0.76   |   0.75\n";
    let all = placed(text);
    assert!(has(&all, ("v6.8 + it", "", "job 2 Time", 0.76)), "{all:?}");
    let fewer = text.replace(" | v6.8 + more", "");
    assert!(read(&fewer).is_none_or(|block| runs(&block).is_empty()));
}

#[test]
fn names_in_brackets_may_have_brackets() {
    let text = "IOPS (IRQ mode) | IOPS (poll mode (pri=1))\n\
                --------------- | ------------------------\n\
                \u{20}          213k |                     19k\n";
    let all = placed(text);
    assert!(
        has(&all, ("poll mode (pri=1)", "", "IOPS", 19.0)),
        "{all:?}"
    );
    let open = text.replace("poll mode (pri=1)", "poll mode (pri=1");
    assert!(!placed(&open).iter().any(|(.., metric, _)| metric == "IOPS"));
}

/// What is read of each table of a text that stands alone.
fn resolved(text: &str) -> Vec<Resolved> {
    let lines: Vec<Line<'_>> = (1..)
        .zip(text.lines())
        .map(|(n, t)| Line::plain(n, t))
        .collect();
    let options = Options::default();
    let context = Context {
        headings_differ: 0,
        heading: Stated::Not,
        runs: None,
        spread: None,
        options: &options,
    };
    let findings = Table.read(&lines).unwrap().findings.into_iter();
    let grids = findings.filter_map(|(_, finding)| match finding {
        Finding::Grid(grid) => Some(resolve(&grid, &context)),
        _ => None,
    });
    grids.collect()
}

/// The signs that a table gives for and against judging it.
fn signs(text: &str) -> Vec<Sign> {
    let resolved = resolved(text).into_iter();
    resolved.flat_map(|table| table.signs).collect()
}

#[test]
fn rows_that_add_up_to_a_total_are_parts() {
    let listing = "Kind      Share   Disk Space  Unpacked   Shared\n\
                   TOTAL      77%     168G        217G       226G\n\
                   none      100%      99G         99G       100G\n\
                   old        52%      54G        102G       109G\n\
                   new        19%      12M         65M        66M\n\
                   spare     100%      15G         15G        16G\n";
    assert!(signs(listing).contains(&Sign::PartsOfWhole));
    let other = listing
        .replace("168G", "368G")
        .replace("217G", "517G")
        .replace("226G", "526G");
    assert!(!signs(&other).contains(&Sign::PartsOfWhole));
    let block = read(listing).unwrap();
    let first = runs(&block)[0].1;
    assert_eq!(first[0], Figure::new("Share", 100.0, "%"));
    assert_eq!(first[1], Figure::new("Disk Space", 99.0, "G"));
}

#[test]
fn rows_above_their_mean_are_repetitions() {
    let text = "ops/s (Before)\tops/s (After)\n\t35993\t     32968\n\t35712\t     33146\n\t35369\t     32996\n\
                Std dev\t312.2\t96.1\nHMean\t35689.7\t33036.5\n";
    let block = read(text).unwrap();
    let numbers: Vec<_> = runs(&block)
        .iter()
        .map(|run| (run.0.configuration.clone().unwrap(), run.0.repetition))
        .collect();
    assert_eq!(numbers.len(), 6);
    assert_eq!(numbers[0], ("Before".to_owned(), Some(1)));
    assert_eq!(numbers[5], ("After".to_owned(), Some(3)));
    // The mean of other figures says nothing of these.
    let other = text.replace("35689.7", "40000").replace("33036.5", "40000");
    let block = read(&other).unwrap();
    assert!(runs(&block).iter().all(|run| run.0.repetition.is_none()));
}

#[test]
fn a_row_without_a_change_may_stand_above_those_with_one() {
    let text = "\t\t\t\tkIOPS\tMiB/s\tMB/s\t% delta\nqueue PLAIN_WRITE\t10.1\t631\t662\n\
                queue OTHER_WRITE\t13.2\t828\t868\t+31.12\nnone OTHER_WRITE\t\t15.6\t978\t1026\t+54.98\n";
    let block = read(text).unwrap();
    let runs = runs(&block);
    assert_eq!(runs.len(), 3);
    assert_eq!(runs[0].1[0], Figure::new("kIOPS", 10.1, ""));
    assert_eq!(runs[0].1[2], Figure::new("MB/s", 662.0, ""));
    assert_eq!(runs[2].1[1], Figure::new("MiB/s", 978.0, ""));
    assert!(runs.iter().all(|run| run.1.len() == 3));
    // The changes follow from the first row.
    assert!(signs(text).contains(&Sign::ChangesAgree));
    assert!(!signs(&text.replace("+54.98", "+64.98")).contains(&Sign::ChangesAgree));
}

#[test]
fn a_number_of_processes_before_two_states_is_a_parameter() {
    let table = |key: &str| {
        let rows = "open1  1  1310  2908\nopen1  24  4716  6382\nopen2  24  2378  5370";
        read(&format!("test  {key}  before  after\n{rows}\n")).unwrap()
    };
    let configurations = |block: &Block| -> Vec<String> {
        let runs = runs(block).into_iter();
        let mut names: Vec<String> = runs.filter_map(|(l, _)| l.configuration.clone()).collect();
        names.sort();
        names.dedup();
        names
    };
    assert_eq!(configurations(&table("proc")), ["after", "before"]);
    assert!(configurations(&table("idle")).contains(&"idle".to_owned()));
}

#[test]
fn a_column_that_counts_how_much_was_done_is_a_parameter() {
    let text = "FSUse%        Count         Size    Files/sec     App Overhead\n\
                \u{20}    10      1200000            0     112631.5         11928055\n\
                \u{20}    16      2400000            0     189943.5         12140777\n\
                \u{20}    16      3600000            0     150719.5         13178480\n";
    let block = read(text).unwrap();
    let workloads: Vec<_> = runs(&block)
        .iter()
        .filter_map(|run| run.0.workload.clone())
        .collect();
    assert_eq!(
        workloads,
        ["Count=1200000", "Count=2400000", "Count=3600000"]
    );
    // Nor is one that goes up and down.
    let block = read(&text.replace("2400000", "9600000")).unwrap();
    assert!(runs(&block).iter().all(|run| run.0.workload.is_none()));
}

#[test]
fn a_number_between_pipes_may_name_a_row_like_a_word_above_it() {
    let text = "Threshold | Calls | Time\nnone      | 1     | 770.5ms\n8K        | 3     | 280.5ms\n4K        | 5     | 146.5ms\n";
    let block = read(text).unwrap();
    let named: Vec<_> = runs(&block)
        .iter()
        .map(|run| (run.0.configuration.clone().unwrap(), run.1[1].value))
        .collect();
    let told = [("none", 770.5), ("8K", 280.5), ("4K", 146.5)];
    assert_eq!(named, told.map(|(name, value)| (name.to_owned(), value)));
}

#[test]
fn a_name_with_its_duration_is_no_header() {
    assert!(
        read(
            "Duration:         2:37:35\nTotal to scrub:   149.58GiB\nRate:             16.20MiB/s\n"
        )
        .is_none()
    );
}

#[test]
fn under_metric_stand_metrics_though_one_is_the_opposite_of_another() {
    let text = "metric     baseline   current         diff\n\
                ==========================================\n\
                lockx          0.78      0.20   -73.89%\nunlockx        0.16      0.12   -23.81%\n";
    let block = read(text).unwrap();
    let names: Vec<_> = runs(&block)
        .iter()
        .map(|run| run.0.configuration.clone().unwrap())
        .collect();
    assert_eq!(names, ["baseline", "current"]);
    // Elsewhere they may be configurations.
    let block = read(
        &text
            .replace("metric", "kernel")
            .replace("current", "maximum"),
    )
    .unwrap();
    assert!(
        runs(&block)
            .iter()
            .any(|run| run.0.configuration.as_deref() == Some("unlockx"))
    );
}

#[test]
fn a_spoiled_cell_ends_no_table() {
    let text = "metric     baseline   current\n==============================\n\
                flush         12.50     11.25\nclose          1.90      1.64å\nfind          13.84     13.13\n";
    let block = read(text).unwrap();
    assert_eq!(block.taken.len(), 5);
    let metrics: Vec<&str> = runs(&block)[0]
        .1
        .iter()
        .map(|f| f.metric.as_str())
        .collect();
    assert_eq!(metrics, ["flush", "find"]);
    assert!(
        block
            .findings
            .iter()
            .any(|(at, f)| *at == 3 && matches!(f, Finding::Doubt("bad-number", _)))
    );
    // A line behind which no such row follows is none.
    let words = text.replace("find          13.84     13.13", "and so on");
    assert_eq!(read(&words).unwrap().taken.len(), 3);
}

/// What a table's column of changes contradicts.
fn contradictions(text: &str) -> Vec<String> {
    let all = resolved(text)
        .into_iter()
        .flat_map(|table| table.contradictions);
    all.map(|(_, said)| said).collect()
}

#[test]
fn a_change_of_figures_before_they_were_rounded_contradicts_nothing() {
    let text = "metric     baseline   current         diff\n\
                flush       2502.92   1682.43   -32.78%\nmkdir          0.03      0.02   -46.67%\n\
                find          13.84     13.13    -5.15%\n";
    assert_eq!(contradictions(text), [""; 0]);
    let said = contradictions(&text.replace("-5.15%", "-9.15%"));
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("-9.15"), "{said:?}");
}

/// The configurations and the workloads of a table, sorted.
fn places(text: &str) -> (Vec<String>, Vec<String>) {
    let block = read(text).unwrap();
    let told = |of: fn(&Labels) -> Option<String>| {
        let names = runs(&block).into_iter();
        let mut names: Vec<String> = names.filter_map(|(labels, _)| of(labels)).collect();
        names.sort();
        names.dedup();
        names
    };
    (
        told(|labels| labels.configuration.clone()),
        told(|labels| labels.workload.clone()),
    )
}

#[test]
fn figures_under_a_key_of_configurations_are_workloads() {
    let figures = "pool type     setup     MB/s    lat mean\n\
                   plain base    2m,16,2   2359    591.5\n\
                   plain fixed   2m,16,2   2458    581.5\n\
                   plain base    8k,64,1   1256    163.5\n\
                   plain fixed   8k,64,1   1703    116.5\n";
    let (configurations, workloads) = places(figures);
    assert_eq!(configurations, ["plain base", "plain fixed"]);
    assert_eq!(workloads, ["2m,16,2", "8k,64,1"]);
    let names = figures
        .replace("2m,16,2", "eager  ")
        .replace("8k,64,1", "lazy   ");
    assert_eq!(places(&names).0, ["eager", "lazy"]);
}

#[test]
fn columns_that_are_tests_are_not_compared() {
    let tests = "            randread   randwrite\n\
                 lib (tap)   229.5      136.5\n\
                 lib (vec)   369.5      268.5\n";
    assert_eq!(places(tests).0, ["lib (tap)", "lib (vec)"]);
    let names = tests
        .replace("randread ", "old pool ")
        .replace("randwrite", "new pool ");
    assert_eq!(places(&names).0, ["new pool", "old pool"]);
}

#[test]
fn a_column_of_changes_needs_no_name() {
    let text = "              plain mode   split mode\n\
                push           400.5        440.35     9.95%\n\
                pop            200.5        210.5      4.99%\n\
                push           400.5        440.35     9.95%\n";
    let block = read(text).unwrap();
    assert_eq!(block.taken.len(), 4);
    assert_eq!(places(text).0, ["plain mode", "split mode"]);
    // Percentages that follow from nothing are a column that is wanting a name.
    let other = text.replace("9.95%", "17.55%").replace("4.99%", "71.25%");
    assert!(read(&other).is_none_or(|_| places(&other).0 != ["plain mode", "split mode"]));
}

#[test]
fn names_of_rows_go_on_below_a_header_with_rules() {
    let text = "\u{20}\
     Kind of call              Before      After   Improvement
      ============              ======      =====   ===========

   1. Cycles in all in           44500      20000      122%
   make_key()
   while it mounts
   (4 calls)

   2. other_key() cycles         31500      22000       43%
";
    let block = read(text).unwrap();
    let (configurations, _) = places(text);
    assert_eq!(configurations, ["After", "Before"]);
    let figures = runs(&block);
    let names: Vec<&str> = figures[0].1.iter().map(|f| f.metric.as_str()).collect();
    assert_eq!(
        names,
        [
            "1. Cycles in all in make_key() while it mounts (4 calls)",
            "2. other_key() cycles"
        ]
    );
}

#[test]
fn rows_over_steps_are_compared_step_by_step() {
    let text = "threads    1     2     4\nbase     120   230   410\npatched  131   252   483\n";
    let block = read(text).unwrap();
    let (configurations, _) = places(text);
    assert_eq!(configurations, ["base", "patched"]);
    let figures = runs(&block);
    assert!(
        figures
            .iter()
            .all(|(labels, _)| labels.repetition.is_none())
    );
    let metrics: Vec<&str> = figures[0].1.iter().map(|f| f.metric.as_str()).collect();
    assert_eq!(metrics, ["threads=1", "threads=2", "threads=4"]);
}

#[test]
fn ratios_in_a_row_speak_for_the_rows_above() {
    let of = |text: &str| {
        let lines = text.lines().enumerate();
        let lines: Vec<Line<'_>> = lines.map(|(i, t)| Line::plain(i as u32 + 1, t)).collect();
        let block = Table.read(&lines).unwrap();
        let grid = block.findings.iter().find_map(|(_, f)| match f {
            Finding::Grid(grid) => Some(grid.clone()),
            _ => None,
        });
        change::agreement(&grid.unwrap())
    };
    let text = "ring       64    256   1024\nfolded     48     53     57\nplain      45     88    182\n\
                speedup  0.9x   1.7x   3.2x\n";
    assert_eq!(of(text), Some(change::Agreement::Rows));
    assert_eq!(of(&text.replace("1.7x", "2.4x")), None);
}

#[test]
fn a_row_that_is_printed_twice_is_one() {
    let pooled = |text: &str| {
        let lines = text.lines().enumerate();
        let lines: Vec<Line<'_>> = lines.map(|(i, t)| Line::plain(i as u32 + 1, t)).collect();
        let block = Table.read(&lines).unwrap();
        let context = Context {
            headings_differ: 0,
            heading: Stated::Not,
            runs: None,
            spread: None,
            options: &Options::default(),
        };
        block.findings.iter().any(|(_, f)| match f {
            Finding::Grid(grid) => resolve(grid, &context).signs.contains(&Sign::Pooled),
            _ => false,
        })
    };
    let text = "test   before   after\npush    400.5   440.5\npop     200.5   210.5\npush    400.5   440.5\n";
    assert!(!pooled(text));
    // Another figure under the same name is not told apart.
    assert!(pooled(&text.replacen("400.5   440.5", "401.5   440.5", 1)));
}

#[test]
fn rows_that_a_second_parameter_tells_apart_are_pooled() {
    let table = |sizes: [&str; 3]| {
        let row = |threads: u32, size: &str, time: &str| {
            format!("{size:>8}        {threads}        {time} us        9.5 us\n")
        };
        let times = ["41.8", "35.7", "68.9", "97.8", "96.9", "151.5"];
        let rows = [1, 1, 1, 2, 2, 2].into_iter().zip(sizes.iter().cycle());
        let rows = rows.zip(times);
        let rows: String = rows.map(|((n, size), time)| row(n, size, time)).collect();
        format!("@granule | @threads | bypass_vcmdq=1 | bypass_vcmdq=0\n{rows}")
    };
    let pooled = |sizes| signs(&table(sizes)).contains(&Sign::Pooled);
    assert!(pooled(["4KB", "16KB", "64KB"]));
    // What does not rise or fall may be another figure of one run.
    assert!(!pooled(["4KB", "64KB", "16KB"]));
}

#[test]
fn sizes_name_rows_that_have_no_other_names() {
    let table = |sizes: [&str; 3]| {
        let rows = sizes
            .iter()
            .zip(1..)
            .map(|(size, n)| format!("{size} | {n}.5MB/s | {n}20 usec\n"));
        format!(
            "chunk size | BW | 99th latency\n{}",
            rows.collect::<String>()
        )
    };
    let workloads = |sizes| {
        let block = read(&table(sizes)).unwrap();
        let named = runs(&block).into_iter();
        named
            .filter_map(|(labels, _)| labels.workload.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        workloads(["512B", "4k", "1M"]),
        ["chunk size=512B", "chunk size=4k", "chunk size=1M"]
    );
    // They may be sorted as words.
    assert_eq!(workloads(["10M", "128k", "1G"])[2], "chunk size=1G");
    // Sizes in no order were measured.
    assert!(workloads(["4k", "512B", "1M"]).is_empty());
}
