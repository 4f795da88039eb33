//! The answer, tables, page, checks and claims of a document agree on each of its rows.

use std::collections::BTreeMap;

use assize_bundle::kernel_log::{Complaint, Phase, complaints};
use assize_bundle::{
    ComplainedRun, Configuration, Ending, FailedRun, Measurement, Records, Run, ThinnedEvidence,
};
use assize_report::html::{About, ReportPage, html};
use assize_report::{
    Brief, CheckState, Checks, MetricWords, Style, brief, csv, github, gitlab, junit, kcidb, ktap,
    markdown, text,
};
use assize_verdict::{
    Better, Comparison, Document, Options, Outcome, OutcomeComparison, RunEnd, Verdict, try_records,
};
use regex::Regex;

use crate::absolutes::Source;

/// For each configuration and phase (measurement or set-up): the number of runs with a kernel
/// warning, and of runs for which that is known.
type PlantedWarnings = BTreeMap<(String, RunEnd), [u32; 2]>;

/// Plants warnings in one of five runs: in set-up, in the measurement or in both.
fn warnings(source: &mut Source, many: bool) -> Vec<Complaint> {
    let mut all = Vec::new();
    for (phase, name) in [(Phase::SetUp, "prepare"), (Phase::Window, "check")] {
        if many && source.share() < 0.2 {
            let line = format!("WARNING: CPU: 0 PID: 1 at a.c:1 {name}+0x1/0x2\n");
            all.extend(
                complaints(&line)
                    .into_iter()
                    .map(|one| Complaint { phase, ..one }),
            );
        }
    }
    all
}

/// Counts what was planted in one run.
fn plant(planted: &mut PlantedWarnings, name: &str, warnings: &[Complaint], crashes: bool) {
    for (end, phase) in [
        (RunEnd::Complained, Phase::Window),
        (RunEnd::ComplainedOutside, Phase::SetUp),
    ] {
        let warned = warnings.iter().any(|one| one.phase == phase);
        let [count, of] = planted.entry((name.to_owned(), end)).or_default();
        *count += u32::from(warned);
        // It is unknown whether a run that crashed would have had a warning later.
        *of += u32::from(warned || !crashes);
    }
}

/// A baseline and two configurations in up to three workloads, with effects and noise of
/// all sizes, including none; in some workloads, runs of one configuration crash, and in some
/// documents the kernel warns.
fn document(seed: u64) -> (Document, PlantedWarnings) {
    let mut warner = Source(seed ^ 0x5eed);
    let many = warner.share() < 0.5;
    let mut planted = PlantedWarnings::new();
    let mut source = Source(seed);
    let workloads = ["sync", "frames", "idle"][..1 + source.below(3)].to_vec();
    let mut records = Records {
        source: "planted.bundle".into(),
        primary: vec!["latency".into(), "work".into()],
        workloads: workloads.iter().map(|name| (*name).to_owned()).collect(),
        ..Records::default()
    };
    let mut claims = Vec::new();
    for name in ["base", "one", "two"] {
        records.configurations.push(Configuration {
            name: name.into(),
            label: name.into(),
            ..Configuration::default()
        });
    }
    let mut order = 0;
    for workload in &workloads {
        for metric in ["latency", "work"] {
            claims.push(format!("one < base on {metric} in {workload}"));
            claims.push(format!("two > base on {metric} in {workload}"));
        }
        let noise = 10_f64.powf(source.between(-4.0, -0.5));
        let effects = [0, 1, 2].map(|at| match at {
            0 => 0.0,
            _ if source.share() < 0.3 => 0.0,
            _ if source.share() < 0.3 => source.between(-0.005, 0.005),
            _ => source.between(-1.0, 1.0),
        });
        let crashes = if source.share() < 0.4 {
            source.share()
        } else {
            0.0
        };
        for repetition in 1..=8 {
            for (at, name) in ["base", "one", "two"].iter().enumerate() {
                order += 1;
                let warned = warnings(&mut warner, many);
                let fails = at == 2 && source.share() < crashes;
                plant(&mut planted, name, &warned, fails);
                if fails {
                    let oops = "BUG: kernel NULL pointer dereference, address: 0\n\
                                RIP: 0010:take+0x5e/0x90\n";
                    records.failures.push(FailedRun {
                        configuration: (*name).into(),
                        workload: (*workload).into(),
                        repetition,
                        order,
                        block: Some(repetition),
                        why: "the kernel panicked".into(),
                        ending: Some(Ending::Crashed),
                        complaints: [warned, complaints(oops)].concat(),
                        ..FailedRun::default()
                    });
                    continue;
                }
                let mut run = Run::new(*name, *workload, repetition);
                run.block = Some(repetition);
                run.order = order;
                for (metric, size) in [("latency", 100.0), ("work", 3e6)] {
                    let value = size * (effects[at] + noise * source.between(-1.0, 1.0)).exp();
                    run.metrics
                        .insert(metric.into(), Measurement::new(value, "ns"));
                }
                records.runs.push(run);
                if !warned.is_empty() {
                    records.complained.push(ComplainedRun {
                        configuration: (*name).into(),
                        workload: (*workload).into(),
                        order,
                        complaints: warned,
                    });
                }
            }
        }
    }
    claims.push("two > base on crashes".to_owned());
    let options = Options {
        claims,
        ..Options::default()
    };
    (try_records(&records, &options).unwrap(), planted)
}

fn metrics() -> Vec<MetricWords> {
    [("latency", Better::Lower), ("work", Better::Higher)]
        .map(|(metric, better)| MetricWords {
            metric: metric.into(),
            title: metric.into(),
            better: Some(better),
        })
        .to_vec()
}

/// The brief report and the mail.
fn rendered(document: &Document, metrics: &[MetricWords]) -> [String; 2] {
    let asked = Brief {
        metrics,
        question: None,
        width: 120,
        all: true,
    };
    [brief, text].map(|render| render(document, &asked, Style::default()))
}

/// The output for other programs, by the name of its format.
fn formats(document: &Document, checks: &Checks) -> Vec<(&'static str, String)> {
    vec![
        ("html", page(document)),
        ("csv", csv(document).unwrap()),
        ("junit", junit(checks)),
        ("ktap", ktap(checks)),
        ("github", github(checks)),
        ("gitlab", gitlab(checks).unwrap()),
        ("kcidb", kcidb(checks, "maker:1").unwrap()),
        ("markdown", markdown(checks)),
    ]
}

/// The outcome of a row, derived from its verdict, its figures and the good direction.
fn word(row: &Comparison, margin: f64) -> &'static str {
    let lower = row.metric == "latency";
    let better = lower == (row.ratio.unwrap() < 1.0);
    let within = |end: f64| (end - 1.0).abs() < margin;
    match (row.verdict, better) {
        (Verdict::Undecided, _) => "cannot tell",
        (Verdict::Equivalent, _) => "no difference larger than 1 %",
        (Verdict::Established | Verdict::Supported, _)
            if row.ci.unwrap().into_iter().all(within) =>
        {
            "no difference larger than 1 %"
        }
        (Verdict::Established, true) => "better",
        (Verdict::Established, false) => "worse",
        (Verdict::Supported, true) => "likely better",
        (Verdict::Supported, false) => "likely worse",
    }
}

/// The contrasts of an answer: the number of workloads with each outcome, by metric and
/// configuration.
fn verdicts_of_answer(answer: &str) -> BTreeMap<(String, String), BTreeMap<String, usize>> {
    let heading = Regex::new(r"^(latency|work) \((?:less|more) is better\)$").unwrap();
    let line = Regex::new(r"^  (one|two)   +(.*)$").unwrap();
    let several = Regex::new(r"^(.*) of \d workloads").unwrap();
    let all = Regex::new(r"^(.*) in (?:both|all (\d)) workloads").unwrap();
    let small = Regex::new(r"^(better|worse) by .* too small to matter").unwrap();
    let mut metric = String::new();
    let mut verdicts = BTreeMap::new();
    for text in answer.lines() {
        if text.is_empty() {
            metric.clear();
        }
        if let Some(found) = heading.captures(text) {
            metric = found[1].to_owned();
        }
        let Some(found) = line.captures(text).filter(|_| !metric.is_empty()) else {
            continue;
        };
        let says = found[2].split(": ").next().unwrap();
        let counts = if let Some(found) = several.captures(says) {
            let one = |part: &str| {
                let (word, n) = part.rsplit_once(" in ").unwrap();
                (word.to_owned(), n.parse().unwrap())
            };
            found[1].split(", ").map(one).collect()
        } else if let Some(found) = all.captures(says) {
            let n = found.get(2).map_or(2, |n| n.as_str().parse().unwrap());
            BTreeMap::from([(found[1].to_owned(), n)])
        } else {
            // For a difference that is too small to matter, both facts are reported.
            let word = match small.is_match(says) {
                true => "no difference larger than 1 %",
                false => says.trim_end_matches(':'),
            };
            BTreeMap::from([(word.to_owned(), 1)])
        };
        verdicts.insert((metric.clone(), found[1].to_owned()), counts);
    }
    verdicts
}

fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Established => "**",
        Verdict::Supported => "*",
        Verdict::Equivalent => "=",
        Verdict::Undecided => "?",
    }
}

/// The cells of a mail's tables: ratio and mark by workload, metric and configuration.
fn cells(mail: &str) -> BTreeMap<[String; 3], (f64, String)> {
    let title = Regex::new(r"^(\w+): ratio to base").unwrap();
    // A configuration without a completed run has no cell.
    let cell = r" +([0-9.]+) (\S+)";
    let row = Regex::new(&format!("^(latency|work){cell}(?:{cell})?$")).unwrap();
    let mut workload = String::new();
    let mut cells = BTreeMap::new();
    for line in mail.lines() {
        if let Some(found) = title.captures(line) {
            workload = found[1].to_owned();
        }
        let Some(found) = row.captures(line) else {
            continue;
        };
        for (name, at) in [("one", 2), ("two", 4)] {
            let Some(ratio) = found.get(at) else {
                continue;
            };
            let key = [&workload, &found[1], name].map(str::to_owned);
            let cell = (ratio.as_str().parse().unwrap(), found[at + 1].to_owned());
            assert!(cells.insert(key, cell).is_none());
        }
    }
    cells
}

fn page(document: &Document) -> String {
    let page = ReportPage {
        document,
        others: &[],
        evidence: ThinnedEvidence::default(),
        timelines: Vec::new(),
        about: About {
            metrics: metrics(),
            ..About::default()
        },
        post: None,
        attributions: Default::default(),
    };
    html(&page).unwrap()
}

/// The cells of the page: verdict and colour class.
fn on_page(document: &Document) -> BTreeMap<Vec<String>, Vec<String>> {
    let page = page(document);
    let value = |tag: &str, name: &str| {
        let (_, rest) = tag.split_once(&format!(" data-{name}=\""))?;
        rest.split('"').next().map(str::to_owned)
    };
    let tags = Regex::new("<td [^>]*>").unwrap();
    let mut cells = BTreeMap::new();
    for tag in tags.find_iter(&page) {
        let values = |names: &[&str]| -> Option<Vec<String>> {
            names.iter().map(|name| value(tag.as_str(), name)).collect()
        };
        let key = values(&["workload", "metric", "configuration"]);
        if let Some((key, words)) = key.zip(values(&["verdict", "tone"])) {
            let before = cells.insert(key, words.clone());
            assert!(before.is_none_or(|before| before == words));
        }
    }
    cells
}

fn tone(word: &str) -> &'static str {
    match word {
        "better" | "likely better" => "good",
        "worse" | "likely worse" => "bad",
        "cannot tell" => "open",
        _ => "same",
    }
}

/// Whether a claim on a row (less or more) may have this outcome.
fn may(claimed: Outcome, row: &Comparison, less: bool) -> bool {
    let points = less == (row.ratio.unwrap() < 1.0);
    let differs = matches!(row.verdict, Verdict::Established | Verdict::Supported);
    match claimed {
        Outcome::Upheld => differs && points,
        Outcome::Refuted => row.verdict == Verdict::Equivalent || differs && !points,
        Outcome::Undecided => row.verdict != Verdict::Established || !points,
    }
}

#[test]
fn every_format_says_the_same_of_every_row() {
    let (mut words, mut crashes, mut claimed) = (BTreeMap::new(), [0; 2], BTreeMap::new());
    let mut warned = 0;
    let more = Regex::new(r"(\d+) more answers?").unwrap();
    for seed in 0..60 {
        let (document, planted) = document(seed);
        let metrics = metrics();
        let [answer, mail] = rendered(&document, &metrics);
        let checks = Checks::for_document(&document, &metrics, &[]);
        let (verdicts, cells, on_page) = (
            verdicts_of_answer(&answer),
            cells(&mail),
            on_page(&document),
        );
        let mut expected: BTreeMap<(String, String), BTreeMap<String, usize>> = BTreeMap::new();
        assert_eq!(cells.len(), document.comparisons.len(), "{mail}");
        assert_eq!(on_page.len(), document.comparisons.len(), "{seed}");
        for row in &document.comparisons {
            let word = word(row, document.margin);
            *words.entry(word).or_insert(0) += 1;
            let of = expected.entry((row.metric.clone(), row.configuration.clone()));
            *of.or_default().entry(word.to_owned()).or_default() += 1;
            let key = [&row.workload, &row.metric, &row.configuration].map(Clone::clone);
            let (ratio, found) = &cells[&key];
            assert_eq!(found, mark(row.verdict), "{key:?}: {mail}");
            let rounded = (ratio / row.ratio.unwrap() - 1.0).abs();
            assert!(rounded < 2e-3, "{key:?}: {ratio}");
            assert_eq!(
                on_page[&key[..]],
                [row.verdict.word(), tone(word)],
                "{key:?}"
            );
            let name = format!("{} with {} against base", row.metric, row.configuration);
            let check = checks.checks.iter();
            let check = check.filter(|one| one.group == row.workload && one.name == name);
            let check: Vec<_> = check.collect();
            let [check] = check[..] else {
                panic!("{name}: {checks:?}");
            };
            let small = check.said.contains("too small to matter");
            assert!(
                small || check.said.starts_with(&format!("{word}: ")),
                "{}",
                check.said
            );
            assert!(check.said.ends_with(&format!("({})", row.verdict.word())));
            let completed = check.said.contains(" runs, of the baseline ");
            assert_eq!(completed, row.attempted.is_some(), "{}", check.said);
            assert_eq!(check.state == CheckState::Undecided, word == "cannot tell");
            let (_, of_metrics) = document.claims.split_last().unwrap();
            for (claim, less) in of_metrics.iter().zip([true, false].into_iter().cycle()) {
                let name = format!(
                    "{} {} base",
                    row.configuration,
                    ["> ", "<"][usize::from(less)].trim()
                );
                if claim.text == format!("{name} on {} in {}", row.metric, row.workload) {
                    assert!(may(claim.outcome, row, less), "{claim:?}: {row:?}");
                    *claimed.entry(claim.outcome.word()).or_insert(0) += 1;
                }
            }
        }
        // Contrasts that do not fit are counted.
        let left = more.captures(&answer).map_or(0, |n| n[1].parse().unwrap());
        assert_eq!(verdicts.len() + left, expected.len(), "{seed}: {answer}");
        for (of, counts) in &verdicts {
            assert_eq!(Some(counts), expected.get(of), "{seed}: {answer}");
        }
        // Figures are marked where runs did not complete.
        let lost = document
            .comparisons
            .iter()
            .any(|row| row.attempted.is_some());
        for text in [&answer, &mail] {
            assert_eq!(
                text.contains("Figures are of the runs that completed: "),
                lost
            );
        }
        let claim = document.claims.last().unwrap();
        let crashed = document.outcomes.iter();
        let mut crashed = crashed.filter(|row| row.outcome == RunEnd::Crashed);
        let upheld = crashed.any(OutcomeComparison::is_worse);
        assert_eq!(claim.outcome == Outcome::Upheld, upheld, "{claim:?}");
        for row in &document.outcomes {
            for (name, counted) in [
                (&row.baseline, [row.count_baseline, row.n_baseline]),
                (&row.configuration, [row.count, row.n]),
            ] {
                if let Some(wanted) = planted.get(&(name.clone(), row.outcome)) {
                    assert_eq!(counted, *wanted, "{seed}: {row:?}");
                    warned += 1;
                }
            }
            let said = assize_report::describe_outcome(row);
            let fails = |check: &&assize_report::Check| check.said == said;
            let check = checks.checks.iter().find(fails).unwrap();
            assert_eq!(matches!(check.state, CheckState::Failed(_)), row.is_worse());
            crashes[usize::from(row.is_worse())] += 1;
            let counted = answer.contains(" of how runs ended: --format mail");
            let flat: Vec<&str> = answer.split_whitespace().collect();
            let flat = flat.join(" ");
            assert!(counted || flat.contains(&said), "{said}: {answer}");
            let flat: Vec<&str> = mail.split_whitespace().collect();
            assert!(flat.join(" ").contains(&said), "{said}: {mail}");
            // The counts of runs must be in every format.
            let counts = format!(
                "{} of {} -> {} of {} runs",
                row.count_baseline, row.n_baseline, row.count, row.n
            );
            assert!(said.contains(&counts), "{said}");
            for (format, written) in formats(&document, &checks) {
                let plain = written
                    .replace("&#45;", "-")
                    .replace("&gt;", ">")
                    .replace("\\u003e", ">");
                assert!(plain.contains(&counts), "{format}: {counts}: {written}");
            }
        }
        let of = |text: &str, what: &str| text.matches(what).count();
        let failed = checks.checks.iter();
        let failed = failed
            .filter(|one| matches!(one.state, CheckState::Failed(_)))
            .count();
        let (junit, ktap) = (junit(&checks), ktap(&checks));
        assert_eq!(of(&junit, "<testcase "), checks.checks.len());
        assert_eq!(of(&junit, "<failure "), failed);
        assert_eq!(of(&ktap, "\n  not ok "), failed);
        let csv = csv(&document).unwrap();
        for verdict in [
            Verdict::Established,
            Verdict::Supported,
            Verdict::Equivalent,
        ] {
            let rows = document.comparisons.iter();
            let rows = rows.filter(|row| row.verdict == verdict).count();
            let lines = csv.lines().filter(|line| line.starts_with("comparison,"));
            let word = format!(",{},", verdict.word());
            assert_eq!(lines.filter(|line| line.contains(&word)).count(), rows);
        }
    }
    // The documents must cover several outcomes.
    assert!(words.len() >= 4, "{words:?}");
    assert_eq!(claimed.len(), 3, "{claimed:?}");
    assert!(crashes.iter().all(|&n| n > 3), "{crashes:?}");
    assert!(warned > 20, "{warned}");
}

#[test]
fn what_the_source_fixes_is_a_difference_without_an_interval() {
    for runs in [3, 8] {
        let mut records = Records {
            primary: vec!["latency".into()],
            workloads: vec!["sync".into()],
            ..Records::default()
        };
        for (side, (name, size)) in (0..).zip([("base", 512.0), ("one", 808.0)]) {
            records.configurations.push(Configuration {
                name: name.into(),
                label: name.into(),
                ..Configuration::default()
            });
            for repetition in 1..=runs {
                let mut run = Run::new(name, "sync", repetition);
                run.order = 2 * repetition + side;
                run.block = Some(repetition);
                let size = Measurement::new(size, "B");
                run.metrics.insert("latency".into(), size);
                records.runs.push(run);
            }
        }
        let document = try_records(&records, &Options::default()).unwrap();
        let [row] = &document.comparisons[..] else {
            panic!("{:?}", document.comparisons);
        };
        let decided = row.verdict != Verdict::Undecided;
        assert_eq!(decided, runs == 8, "{row:?}");
        let metrics = metrics();
        let [answer, mail] = rendered(&document, &metrics);
        let said = match decided {
            true => "worse: +57.8 % (512 -> 808 B) in every run",
            false => "a difference in every run: +57.8 % (512 -> 808 B)",
        };
        assert!(answer.contains(said), "{answer}");
        assert!(mail.contains("in every run"), "{mail}");
        let checks = Checks::for_document(&document, &metrics, &[]);
        assert!(checks.checks[0].said.contains(said), "{checks:?}");
        for text in [&answer, &mail] {
            assert!(!text.contains("1.578..1.578"), "{text}");
            assert!(!text.contains("+57.8 % to +57.8 %"), "{text}");
        }
    }
}
