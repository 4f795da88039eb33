//! Tests of the tables of a mail whose configurations do not fit side by side.

use super::*;

/// Seven configurations on one workload, of which `undecided` are undecided.
fn of_undecided(undecided: usize) -> Document {
    let names: Vec<String> = (0..7).map(|at| format!("change-{at}")).collect();
    let rows = names.iter().enumerate().flat_map(|(at, name)| {
        let (ends, verdict) = match at < undecided {
            true => ([0.9 - at as f64 / 100.0, 1.1], "undecided"),
            false => ([0.4, 0.6], "established"),
        };
        ["time", "work"].map(|metric| row(("sync", metric, name), [1.0, 0.5], ends, verdict))
    });
    let rows: Vec<_> = rows.collect();
    let names = names.iter().map(String::as_str);
    document(&[&["base"], &names.collect::<Vec<_>>()[..]].concat(), &rows)
}

fn mail(document: &Document, all: bool) -> String {
    let asked = Brief {
        all,
        ..Brief::default()
    };
    crate::text(document, &asked, Style::default())
}

#[test]
fn each_configuration_has_a_line_and_the_undecided_share_one() {
    let text = mail(&of_undecided(3), false);
    let table = text.split_once("Ratio to base (n = ").unwrap().1;
    let lines: Vec<&str> = table.lines().skip(1).collect();
    assert_eq!(
        lines[0], "sync        time                    work",
        "{text}"
    );
    assert!(lines[1].starts_with("change-3 "), "{text}");
    assert!(lines[4].starts_with("change-6 "), "{text}");
    assert!(lines[4].ends_with(" **  0.400..0.600"), "{text}");
    let shared = lines[5..7].join("").replace("  ", " ");
    assert_eq!(
        shared,
        "undecided: change-0, change-1, change-2; their intervals are within time \
         0.880..1.100, work 0.880..1.100",
        "{text}"
    );
    assert!(text.contains("** established"), "{text}");
    assert!(!text.contains("* supported"), "{text}");
}

#[test]
fn no_row_is_left_out_where_all_are_wanted_or_none_is_decided() {
    for (document, all) in [(of_undecided(3), true), (of_undecided(7), false)] {
        let text = mail(&document, all);
        assert!(!text.contains("undecided: change-0"), "{text}");
        for at in 0..7 {
            let name = format!("\nchange-{at} ");
            assert!(text.contains(&name), "{name}: {text}");
        }
    }
}
