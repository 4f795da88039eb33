//! The result of `assize why` as text.

mod caches;
mod calls;

use std::fmt::Write as _;

use assize_verdict::count_of;
use assize_why::Why;
use assize_why::difference::{DifferenceRow, RequestedFunction};

use crate::number::with_plus;
use crate::wrap::{cut, fill_lines, push_wrapped_code};

/// The number of subsystems named in the first sentence.
const NAMED: usize = 4;
/// Subsystems with a smaller share of the difference are not named.
const WORTH: f64 = 0.01;
/// The width of the name column without an interval column, and with one.
const NAME: usize = 36;
const NAME_BESIDE_INTERVAL: usize = 24;

/// Returns the result in at most 72 columns, with at most `rows` functions, or all if
/// `rows` is `None`. `command` is the command that was run.
#[must_use]
pub fn why(why: &Why, rows: Option<usize>, command: &str) -> String {
    let mut text = fill_lines(&sentence(why));
    if let Some(caches) = &why.caches {
        text += &caches::sentence(why, caches);
    }
    text.push('\n');
    text += &fill_lines(&account(why));
    if let Some(metric) = metric(why) {
        text += &fill_lines(&metric);
    }
    text += &fill_lines(&seeds(why));
    for (title, table, most) in [
        ("Thread", &why.threads, None),
        ("Subsystem", &why.subsystems, None),
        ("Function", &why.functions, rows),
    ] {
        text.push('\n');
        text += &self::table(why, title, table, most, &why.total);
    }
    if let Some(caches) = &why.caches {
        text.push('\n');
        text += &caches::tables(why, caches, rows);
    }
    for reached in why
        .reached
        .iter()
        .map(|one| requested_function_text(why, one))
    {
        text.push('\n');
        text += &reached;
    }
    if !why.tree.is_empty() {
        text.push('\n');
        text += &calls::tree(why, rows);
    }
    if !why.hunks.is_empty() {
        text.push('\n');
        text += &calls::hunks(why);
    }
    for claim in &why.claims {
        text.push('\n');
        text += &calls::claim(why, claim);
    }
    text.push_str("\nReproduce:\n");
    push_wrapped_code(&mut text, command);
    text
}

/// The number of functions that the page lists per cache level.
const OF_CACHES: usize = 40;

/// The results for the functions, hunks, claims and caches that were asked about.
pub(crate) fn questions(why: &Why) -> Vec<String> {
    let caches = why.caches.as_ref();
    let caches = caches.map(|of| {
        let sentence = caches::sentence(why, of);
        sentence + "\n" + &caches::tables(why, of, Some(OF_CACHES))
    });
    let reached = why
        .reached
        .iter()
        .map(|one| requested_function_text(why, one));
    let hunks = (!why.hunks.is_empty()).then(|| calls::hunks(why));
    let claims = why.claims.iter().map(|one| calls::claim(why, one));
    claims.chain(reached).chain(hunks).chain(caches).collect()
}

/// The bundle's values of the metric to be explained.
pub(crate) fn metric(why: &Why) -> Option<String> {
    let metric = why.metric.as_ref()?;
    let (a, b) = (count(metric.a), count(metric.b));
    let difference = count(metric.a - metric.b);
    let per = &why.per;
    Some(format!(
        "{} in the bundle, per {per}: {a} and {b}, a difference of {difference}.",
        metric.name
    ))
}

/// The answer in one sentence.
pub(crate) fn sentence(why: &Why) -> String {
    let Why {
        a,
        b,
        per,
        workload,
        ..
    } = why;
    let whole = why.total.difference;
    if why.functions.iter().all(|row| row.difference == 0.0) {
        return format!(
            "{a} and {b} execute the same on {workload}: {} instructions per {per}, and the same in \
             every function.",
            count(why.total.a)
        );
    }
    let more = if whole < 0.0 { "fewer" } else { "more" };
    let executes = format!(
        "executes {} {more} instructions per {per}",
        count(whole.abs())
    );
    let range = over_seeds(why, &why.total);
    let (mut text, parts) = if is_open(why, &why.total) {
        let differ = format!("It is not established that {a} and {b} differ on {workload}");
        // The tables show the figures of individual rows.
        (
            format!("{differ}: {a} {executes} on average{range}"),
            Vec::new(),
        )
    } else {
        (
            format!("{a} {executes} than {b} on {workload}{range}"),
            subsystem_lines(why),
        )
    };
    if !parts.is_empty() {
        let _ = write!(text, ": {}", parts.join(", "));
    }
    text.push('.');
    text
}

/// The subsystems with most of the difference, and the sum of the others.
fn subsystem_lines(why: &Why) -> Vec<String> {
    let whole = why.total.difference;
    let worth = |row: &&DifferenceRow| {
        row.difference.abs() >= WORTH * whole.abs().max(1.0) && row.established != Some(false)
    };
    let named: Vec<&DifferenceRow> = why.subsystems.iter().filter(worth).take(NAMED).collect();
    let sign = if whole < 0.0 { -1.0 } else { 1.0 };
    let mut parts: Vec<String> = named
        .iter()
        .map(|row| format!("{} in {}", count(sign * row.difference), row.name))
        .collect();
    let rest = whole - named.iter().map(|row| row.difference).sum::<f64>();
    let others = why.subsystems.len() - named.len();
    if others > 0 {
        parts.push(format!(
            "{} in {}",
            count(sign * rest),
            count_of(others, "other")
        ));
    }
    parts
}

/// Whether the difference of a row is not established over several seeds.
fn is_open(why: &Why, row: &DifferenceRow) -> bool {
    why.p_attainable.is_some() && row.established != Some(true)
}

/// The 95 % interval of a difference in words and the number of seeds, in parentheses;
/// empty for a single seed.
fn over_seeds(why: &Why, row: &DifferenceRow) -> String {
    if why.p_attainable.is_none() {
        return String::new();
    }
    let range = row.interval.map_or(String::new(), |[low, high]| {
        let [less, more] = [count(low.abs()), count(high.abs())];
        match (low >= 0.0, high <= 0.0) {
            (true, _) => format!("95 %: {less} to {more} more, "),
            (_, true) => format!("95 %: {more} to {less} fewer, "),
            _ => format!("95 %: {less} fewer to {more} more, "),
        }
    });
    format!(" ({range}{} seeds)", why.seeds.len())
}

/// Whether every instruction is accounted for.
pub(crate) fn account(why: &Why) -> String {
    let account = &why.account;
    let all = with_separators(account.instructions);
    if account.whole {
        let clock = if account.cpus > 1 {
            "never advanced by less than the count"
        } else {
            "agreed with the count, except for idle time"
        };
        return format!(
            "Every instruction is accounted for: {all} in {} runs; in {} readings the machine's \
             clock {clock}.",
            2 * why.runs.len(),
            with_separators(account.readings)
        );
    }
    format!(
        "NOT every instruction is accounted for: {all} were counted; the machine's clock did not \
         agree in {} of {} readings, and it is not known how far {} blocks were executed.",
        with_separators(account.mismatches),
        with_separators(account.readings),
        with_separators(account.unclear)
    )
}

/// The number of seeds, and what is established with them.
pub(crate) fn seeds(why: &Why) -> String {
    let Some(attainable) = why.p_attainable else {
        let run = why.runs.first().copied().unwrap_or_default();
        return format!(
            "One seed: runs {} and {} of the schedule, exact; --seeds N shows how much other seeds \
             differ.",
            run[0], run[1]
        );
    };
    let established = |rows: &[DifferenceRow]| {
        let of = rows.iter().filter(|row| row.established == Some(true));
        of.count()
    };
    let seeds = why.seeds.len();
    let mut text = format!(
        "{seeds} seeds: means, with 95 % intervals over seeds. Established, corrected within each \
         table: {} of {} functions, {} of {} subsystems, {} of {} threads (!).",
        established(&why.functions),
        why.functions.len(),
        established(&why.subsystems),
        why.subsystems.len(),
        established(&why.threads),
        why.threads.len()
    );
    if attainable > 0.05 {
        let _ = write!(
            text,
            " {seeds} seeds cannot establish anything at 0.05: the smallest p is {attainable}."
        );
    }
    text
}

fn table(
    why: &Why,
    title: &str,
    rows: &[DifferenceRow],
    most: Option<usize>,
    total: &DifferenceRow,
) -> String {
    let several = why.p_attainable.is_some();
    let name = if several { NAME_BESIDE_INTERVAL } else { NAME };
    let mut text = String::new();
    let [a, b] = [&why.a, &why.b].map(|name| cut(name, 11));
    let _ = write!(
        text,
        "{:<name$} {a:>11} {b:>11} {:>11}",
        cut(title, name),
        "difference"
    );
    text += if several { "        95 %\n" } else { "\n" };
    let line = |text: &mut String, row: &DifferenceRow| {
        let _ = write!(
            text,
            "{:<name$} {:>11} {:>11} {:>11}",
            cut(&row.name, name),
            count(row.a),
            count(row.b),
            signed(row.difference)
        );
        if several {
            let interval = interval(row);
            let is_established = row.established == Some(true);
            let mark = if is_established { "!" } else { "" };
            let _ = write!(text, " {interval:>10}{mark}");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    };
    let differing = rows.iter().filter(|row| row.difference != 0.0);
    let shown: Vec<&DifferenceRow> = differing.take(most.unwrap_or(usize::MAX)).collect();
    for row in &shown {
        line(&mut text, row);
    }
    if let Some(others) = others(rows, &shown) {
        line(&mut text, &others);
    }
    let together = DifferenceRow {
        name: "together".into(),
        ..total.clone()
    };
    line(&mut text, &together);
    text
}

/// The sum of the rows that are not shown.
fn others(rows: &[DifferenceRow], shown: &[&DifferenceRow]) -> Option<DifferenceRow> {
    let rest = rows.len() - shown.len();
    let sum = |of: fn(&DifferenceRow) -> f64| {
        rows.iter().map(of).sum::<f64>() - shown.iter().map(|row| of(row)).sum::<f64>()
    };
    (rest > 0).then(|| DifferenceRow {
        name: count_of(rest, "other"),
        of: None,
        a: sum(|row| row.a),
        b: sum(|row| row.b),
        difference: sum(|row| row.difference),
        interval: None,
        established: None,
    })
}

/// Half the width of the interval of a row's difference; empty for a single seed.
pub(crate) fn interval(row: &DifferenceRow) -> String {
    row.interval.map_or(String::new(), |[low, high]| {
        format!("± {}", count((high - low) / 2.0))
    })
}

/// The result for a function that the user asked about.
fn requested_function_text(why: &Why, reached: &RequestedFunction) -> String {
    let name = &reached.function;
    if reached.a == 0.0 && reached.b == 0.0 {
        return fill_lines(&format!("{name}: not reached by either."));
    }
    let share = |share: f64| format!("{} %", crate::significant(100.0 * share, 3));
    let state = |entries: f64| {
        if entries > 0.0 {
            "reached"
        } else {
            "not reached"
        }
    };
    let per = &why.per;
    let mut text = fill_lines(&format!(
        "{name}: {} by {}, entered {} times per {per}; {} by {}, {} times. It has {} and {} of all \
         instructions, without what it calls.",
        state(reached.a),
        why.a,
        count(reached.a),
        state(reached.b),
        why.b,
        count(reached.b),
        share(reached.share_a),
        share(reached.share_b)
    ));
    let mut sizes: Vec<u32> = reached
        .sizes_a
        .keys()
        .chain(reached.sizes_b.keys())
        .copied()
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    if !sizes.is_empty() {
        let [a, b] = [&why.a, &why.b].map(|name| cut(name, 11));
        let _ = writeln!(
            text,
            "{:<36} {a:>11} {b:>11}",
            "Entries by argument, in all runs"
        );
    }
    for bits in sizes {
        let [a, b] = [&reached.sizes_a, &reached.sizes_b].map(|of| of.get(&bits).map_or(0, |n| *n));
        let _ = writeln!(
            text,
            "{:<36} {:>11} {:>11}",
            range(bits),
            with_separators(a),
            with_separators(b)
        );
    }
    text
}

/// The range of values with `bits` significant bits.
fn range(bits: u32) -> String {
    let Some(low) = bits
        .checked_sub(1)
        .and_then(|shift| 1_u64.checked_shl(shift))
    else {
        return "0".into();
    };
    let high = low + (low - 1);
    if low == high {
        return low.to_string();
    }
    format!("{} to {}", with_separators(low), with_separators(high))
}

/// An integer with thousands separators.
fn with_separators(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of instructions: an integer from 1000 on, two significant digits below 1, else one
/// decimal.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Rounded and not negative.
pub(crate) fn count(value: f64) -> String {
    let size = value.abs();
    let whole = size >= 1000.0 || size.fract() == 0.0;
    let text = if whole {
        with_separators(size.round() as u64)
    } else if size < 1.0 {
        crate::significant(size, 2)
    } else {
        format!("{size:.1}")
    };
    if value < 0.0 && text != "0" && text != "0.0" {
        format!("-{text}")
    } else {
        text
    }
}

pub(crate) fn signed(value: f64) -> String {
    with_plus(value, count(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WIDTH;
    use assize_why::branches::Branch;
    use assize_why::claims::{
        ClaimOutcome, ExplainedClaim, FunctionShare, HunkShare, TouchedFunction,
    };
    use assize_why::difference::{Account, RecordedMetric};

    fn row(name: &str, a: f64, b: f64) -> DifferenceRow {
        DifferenceRow {
            name: name.into(),
            of: None,
            a,
            b,
            difference: a - b,
            interval: None,
            established: None,
        }
    }

    pub(super) fn sample_why() -> Why {
        let rows = || vec![row("scheduling", 9000.0, 2000.5), row("files", 10.0, 10.0)];
        Why {
            schema: assize_why::difference::SCHEMA.into(),
            workload: "sync".into(),
            a: "drm-sched".into(),
            b: "depq+bypass+irq".into(),
            per: "job".into(),
            seeds: vec![1],
            runs: vec![[0, 1]],
            total: row("all instructions", 9010.0, 2010.5),
            account: Account {
                whole: true,
                instructions: 12_345_678,
                readings: 1000,
                cpus: 1,
                ..Account::default()
            },
            metric: Some(RecordedMetric {
                name: "busy_time".into(),
                a: 9020.0,
                b: 2020.0,
            }),
            threads: rows(),
            subsystems: rows(),
            functions: (0..30)
                .map(|at| row(&"f".repeat(at + 1), 300.0, 0.25))
                .collect(),
            p_attainable: None,
            reached: vec![RequestedFunction {
                function: "memcpy:3".into(),
                a: 1.0,
                b: 0.0,
                share_a: 0.0123,
                share_b: 0.0,
                sizes_a: [(0, 1), (1, 2), (4, 5)].into(),
                sizes_b: [].into(),
            }],
            claims: Vec::new(),
            hunks: Vec::new(),
            caches: None,
            tree: Vec::new(),
        }
    }

    #[test]
    fn the_answer_comes_first_and_no_line_is_too_long() {
        let text = why(&sample_why(), Some(5), "assize why x a b");
        assert!(
            text.starts_with("drm-sched executes 7,000 more instructions per job than"),
            "{text}"
        );
        assert!(
            text.contains("6,999 ") || text.contains("6,999.5") || text.contains("7,000 in"),
            "{text}"
        );
        assert!(
            text.contains("Every instruction is accounted for: 12,345,678"),
            "{text}"
        );
        assert!(text.contains("25 others"), "{text}");
        assert!(text.contains("8 to 15"), "{text}");
        let longest = text.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(WIDTH), "{longest:?}\n{text}");
        assert!(text.ends_with("\nReproduce:\n  assize why x a b\n"));
    }

    #[test]
    fn with_several_seeds_intervals_fit_too() {
        let mut several = sample_why();
        several.p_attainable = Some(0.25);
        several.seeds = vec![1, 2, 3];
        for row in &mut several.functions {
            row.interval = Some([123_456.0, 234_567.0]);
            row.established = Some(true);
        }
        let text = why(&several, None, "x");
        assert!(text.contains("smallest p is 0.25"), "{text}");
        assert!(
            text.lines().all(|line| line.chars().count() <= WIDTH),
            "{text}"
        );
    }

    #[test]
    fn a_difference_that_seeds_do_not_establish_is_not_asserted() {
        let with = |established, interval| {
            let mut several = sample_why();
            several.p_attainable = Some(0.0078);
            several.seeds = (1..=8).collect();
            several.total.established = Some(established);
            several.total.interval = Some(interval);
            several.subsystems.push(row("locking", 900.0, 100.0));
            several.subsystems[0].established = Some(true);
            several.subsystems[2].established = Some(false);
            sentence(&several)
        };
        assert_eq!(
            with(true, [6500.0, 7500.0]),
            "drm-sched executes 7,000 more instructions per job than depq+bypass+irq on sync (95 %: \
             6,500 to 7,500 more, 8 seeds): 7,000 in scheduling, 0 in 2 others."
        );
        assert_eq!(
            with(false, [-500.0, 14_500.0]),
            "It is not established that drm-sched and depq+bypass+irq differ on sync: drm-sched \
             executes 7,000 more instructions per job on average (95 %: 500 fewer to 14,500 \
             more, 8 seeds)."
        );
    }

    #[test]
    fn what_is_not_accounted_for_is_said_at_once() {
        let mut bad = sample_why();
        bad.account.whole = false;
        bad.account.mismatches = 3;
        let text = why(&bad, None, "x");
        assert!(text.contains("NOT every instruction"), "{text}");
        assert!(text.contains("in 3 of 1,000"), "{text}");
    }

    #[test]
    fn nothing_differs_where_nothing_does() {
        let mut same = sample_why();
        for rows in [&mut same.threads, &mut same.subsystems, &mut same.functions] {
            for row in rows {
                row.b = row.a;
                row.difference = 0.0;
            }
        }
        same.total.b = same.total.a;
        same.total.difference = 0.0;
        let text = why(&same, None, "x");
        assert!(text.contains("the same in every function"), "{}", text);
    }

    fn branch(name: &str, a: f64, callees: Vec<Branch>) -> Branch {
        Branch {
            name: name.into(),
            a,
            difference: a,
            callees,
            ..Branch::default()
        }
    }

    #[test]
    fn a_tree_shows_its_largest_branches_below_who_calls_them() {
        let mut answer = sample_why();
        let deep = branch("deep", 30.0, vec![branch("deeper", 29.0, Vec::new())]);
        let long = branch(&"l".repeat(50), 20.0, Vec::new());
        answer.tree = vec![
            branch("t", 60.0, vec![deep, long]),
            branch("u", 10.0, Vec::new()),
        ];
        let rows = |rows: Option<usize>| -> Vec<String> {
            let text = why(&answer, rows, "x");
            assert!(text.lines().all(|line| line.chars().count() <= WIDTH));
            let tree = text.split_once("\nCalls, with what is called").unwrap().1;
            let end = tree.split_once("\n\n").unwrap().0;
            let name = |line: &str| line.get(..6).unwrap().trim_end().to_owned();
            end.lines().skip(1).map(name).collect()
        };
        assert_eq!(rows(Some(3)), ["t", " deep", "  deep", "2 more"]);
        assert_eq!(rows(None), ["t", " deep", "  deep", " lllll", "u"]);
    }

    #[test]
    fn hunks_say_of_each_function_what_it_explains() {
        let mut answer = sample_why();
        let function = |name: &str, known, reached| TouchedFunction {
            name: name.into(),
            has: FunctionShare {
                known,
                reached,
                at_most: 3.25,
                share_a: 2.5,
                ..FunctionShare::default()
            },
        };
        answer.hunks = vec![HunkShare {
            path: "x.c".into(),
            range: "-1 +1".into(),
            outside: true,
            functions: vec![
                function("f", true, true),
                function("g", true, false),
                function("h", false, false),
            ],
        }];
        let text = why(&answer, Some(1), "x");
        let hunks = text.split_once("x.c @@ -1 +1 @@\n").unwrap().1;
        let lines: Vec<&str> = hunks.lines().take(4).collect();
        assert!(
            lines[0].starts_with("  f: reached, 2.50 % and 0 % of all"),
            "{hunks}"
        );
        let flat = hunks.replace("\n  ", " ");
        for words in [
            "explains at most 3.25 %",
            "g: not reached",
            "h: no function of this name in the kernel",
            "lines outside functions",
        ] {
            assert!(flat.contains(words), "{words}: {hunks}");
        }
    }

    #[test]
    fn a_claim_is_refuted_in_words_that_say_why() {
        let mut answer = sample_why();
        let one = |outcome, reached, why: Option<&str>| ExplainedClaim {
            claim: "f: 20 %".into(),
            function: "f".into(),
            percent: 20.0,
            metric: "busy_time".into(),
            outcome,
            why: why.map(str::to_owned),
            has: FunctionShare {
                known: true,
                reached,
                at_most: 3.25,
                ..FunctionShare::default()
            },
        };
        for (claim, words) in [
            (
                one(ClaimOutcome::Refuted, false, None),
                "f: 20 %: refuted: not reached",
            ),
            (
                one(ClaimOutcome::Refuted, true, None),
                "f: 20 %: refuted: reached, but it explains at most 3.25 % of busy_time.",
            ),
            (
                one(ClaimOutcome::NotRefuted, true, None),
                "f: 20 %: not refuted: reached, and it explains at most 3.25 % of busy_time.",
            ),
            (
                one(ClaimOutcome::Undecided, false, Some("because")),
                "f: 20 %: undecided: because.",
            ),
        ] {
            answer.claims = vec![claim];
            let text = why(&answer, Some(1), "x").replace('\n', " ");
            assert!(text.contains(words), "{text}");
        }
    }

    #[test]
    fn sizes_are_ranges_of_values() {
        for (bits, text) in [(0, "0"), (1, "1"), (2, "2 to 3"), (11, "1,024 to 2,047")] {
            assert_eq!(range(bits), text);
        }
        assert!(range(64).ends_with("18,446,744,073,709,551,615"));
    }
}
