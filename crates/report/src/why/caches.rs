//! The results of the cache model as text.

use std::fmt::Write as _;

use assize_why::caches::MissTable;
use assize_why::misses::MissKind;
use assize_why::{Caches, Why};

use super::{count, fill_lines, is_open, table};

/// The limits of the model, printed with its results.
const MODEL: &str = "A model: no latency, no prefetching, no TLB, no speculation, no devices; \
                     caches are empty when a memory image is resumed.";

/// The title of a kind of miss in a table.
fn title(kind: MissKind) -> &'static str {
    match kind {
        MissKind::L1iMisses => "L1i misses",
        MissKind::L1dMisses => "L1d misses",
        MissKind::L2Misses => "L2 misses",
        MissKind::LastLevelMisses => "Last level misses",
        MissKind::Transfers => "Transfers between CPUs",
    }
}

/// The result of the model in words.
pub(super) fn sentence(why: &Why, caches: &Caches) -> String {
    let Why { a, b, per, .. } = why;
    let of = |kind: MissKind| caches.kinds.iter().find(|table| table.kind == kind);
    let same = |table: &MissTable| table.functions.iter().all(|row| row.difference == 0.0);
    if caches.kinds.iter().all(same) {
        return fill_lines("In a model of caches both miss equally often in every function.");
    }
    let differs = |(level, kind): (&'static str, MissKind)| {
        let total = &of(kind)?.total;
        (total.difference != 0.0 && !is_open(why, total)).then_some((level, total.difference))
    };
    let levels = [
        ("L1d", MissKind::L1dMisses),
        ("L1i", MissKind::L1iMisses),
        ("L2", MissKind::L2Misses),
        ("the last level", MissKind::LastLevelMisses),
    ];
    let mut text = format!("In a model of caches {a} misses");
    for (at, (level, difference)) in levels.into_iter().filter_map(differs).enumerate() {
        let more = if difference < 0.0 { "fewer" } else { "more" };
        let times = count(difference.abs());
        let _ = match at {
            0 => write!(text, " {level} {times} {more} times per {per} than {b}"),
            _ => write!(text, ", {level} {times} {more}"),
        };
    }
    if levels.into_iter().all(|level| differs(level).is_none()) {
        text = match why.p_attainable {
            None => format!("{text} each level as often as {b}"),
            Some(_) => format!(
                "In a model of caches it is not established at any level that {a} and {b} differ"
            ),
        };
    }
    text.push('.');
    if why.account.cpus > 1
        && let Some(transfers) = of(MissKind::Transfers)
    {
        let [a_has, b_has] = [transfers.total.a, transfers.total.b].map(count);
        let _ = write!(
            text,
            " Lines that another CPU has modified are transferred {a_has} times per {per} by {a} \
             and {b_has} times by {b}."
        );
        if is_open(why, &transfers.total) {
            text += " That these differ is not established.";
        }
    }
    fill_lines(&text)
}

/// All tables of the model.
pub(super) fn tables(why: &Why, caches: &Caches, rows: Option<usize>) -> String {
    let mut text = fill_lines(&format!("Caches: {}. {MODEL}", caches.geometry));
    let accesses = [caches.accesses_a, caches.accesses_b];
    let all = |of: fn(&assize_why::misses::Accesses) -> u64| {
        super::with_separators(accesses.iter().map(of).sum::<u64>())
    };
    text += &fill_lines(&format!(
        "Accesses in all runs: {} fetches, {} reads, {} writes.",
        all(|one| one.fetches),
        all(|one| one.reads),
        all(|one| one.writes)
    ));
    for kind in &caches.kinds {
        if kind.total.a == 0.0 && kind.total.b == 0.0 {
            let _ = write!(text, "\n{}: none.\n", title(kind.kind));
            continue;
        }
        for (rows_of, most, by) in [
            (&kind.threads, None, "thread"),
            (&kind.functions, rows, "function"),
        ] {
            text.push('\n');
            let title = format!("{} by {by}", title(kind.kind));
            text += &table(why, &title, rows_of, most, &kind.total);
        }
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;
    use assize_why::Geometry;
    use assize_why::difference::DifferenceRow;
    use assize_why::misses::{Accesses, KINDS};

    fn model(values: [(f64, f64); 5]) -> Caches {
        let row = |name: &str, (a, b): (f64, f64)| DifferenceRow {
            name: name.into(),
            of: None,
            a,
            b,
            difference: a - b,
            interval: None,
            established: None,
        };
        let table = |(kind, values): (&MissKind, (f64, f64))| MissTable {
            kind: *kind,
            total: row("all functions", values),
            threads: vec![row("kworkers", values)],
            subsystems: vec![row("locking", values)],
            functions: vec![row("_raw_spin_lock_irqsave", values)],
        };
        let accesses = Accesses {
            fetches: 1234,
            reads: 500,
            writes: 20,
        };
        Caches {
            geometry: Geometry::default(),
            accesses_a: accesses,
            accesses_b: accesses,
            kinds: KINDS.iter().zip(values).map(table).collect(),
        }
    }

    fn text(values: [(f64, f64); 5], cpus: u32) -> String {
        let mut why = super::super::tests::sample_why();
        why.account.cpus = cpus;
        why.caches = Some(model(values));
        let text = super::super::why(&why, Some(5), "x");
        assert!(
            text.lines().all(|line| line.chars().count() <= 72),
            "{text}"
        );
        text
    }

    #[test]
    fn the_answer_tells_levels_and_transfers_and_each_kind_has_its_tables() {
        let values = [
            (7.0, 7.0),
            (50.0, 20.0),
            (1.5, 4.0),
            (0.0, 0.0),
            (92.75, 1.0),
        ];
        let two = text(values, 2);
        let words = two.replace('\n', " ");
        for said in [
            "In a model of caches drm-sched misses L1d 30 more times per job than depq+bypass+irq, \
             L2 2.5 fewer. Lines that another CPU has modified are transferred 92.8 times per job \
             by drm-sched and 1 times by depq+bypass+irq.",
            "Caches: l1i=32K/8,l1d=32K/8,l2=1M/16,llc=8M/16,line=64. A model: no latency,",
            "Accesses in all runs: 2,468 fetches, 1,000 reads, 40 writes.",
            "L1d misses by thread",
            "Transfers between CPUs by function",
            "Last level misses: none.",
        ] {
            assert!(words.contains(said), "{said}\n{two}");
        }
        assert!(!text(values, 1).contains("another CPU has modified"));
    }

    #[test]
    fn levels_that_seeds_do_not_establish_are_not_said_to_differ() {
        let said = |established: [bool; 5]| {
            let mut why = super::super::tests::sample_why();
            (why.p_attainable, why.seeds) = (Some(0.0078), (1..=8).collect());
            why.account.cpus = 2;
            let mut model = model([(50.0, 20.0); 5]);
            for (table, established) in model.kinds.iter_mut().zip(established) {
                table.total.established = Some(established);
            }
            sentence(&why, &model).replace('\n', " ")
        };
        assert_eq!(
            said([true, false, true, false, true]).trim_end(),
            "In a model of caches drm-sched misses L1i 30 more times per job than depq+bypass+irq, \
             L2 30 more. Lines that another CPU has modified are transferred 50 times per job by \
             drm-sched and 20 times by depq+bypass+irq."
        );
        let none = said([false; 5]);
        for words in [
            "it is not established at any level",
            "That these differ is not",
        ] {
            assert!(none.contains(words), "{none}");
        }
    }

    #[test]
    fn a_page_says_it_too() {
        let mut why = super::super::tests::sample_why();
        let before = super::super::questions(&why).len();
        why.caches = Some(model([(50.0, 20.0); 5]));
        let said = super::super::questions(&why);
        assert_eq!(said.len(), before + 1);
        let said = &said[before];
        for words in [
            "In a model of caches drm-sched misses",
            "L2 misses by function",
        ] {
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn what_is_missed_alike_is_said_to_be() {
        let same = [(7.0, 7.0); 5];
        assert!(text(same, 1).contains("both miss equally often in every function"));
        let mut moved = model(same);
        moved.kinds[0].functions[0].difference = 1.0;
        let mut why = super::super::tests::sample_why();
        why.caches = Some(moved);
        let text = super::super::why(&why, None, "x").replace('\n', " ");
        assert!(
            text.contains("misses each level as often as depq"),
            "{text}"
        );
    }
}
