//! The page agrees with the document, and hostile text cannot break out of it.
//!
//! `ASSIZE_GOLDEN=1 cargo test` rewrites the golden file; review the diff.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use assize_bundle::{
    Configuration, Curve, Events, Measurement, Place, Records, Run, ThinnedEvidence, ThinnedSeries,
};
use assize_report::MetricWords;
use assize_report::html::{
    About, Attributions, PostFigure, PostLine, ReadPost, ReportPage, ShellWords, html,
};
use assize_verdict::{Better, Document, Options, try_records};
use assize_why::difference::{Account, DifferenceRow};
use assize_why::flame::FlameFrame;
use assize_why::{Flame, Kept, Why};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use regex::Regex;
use serde_json::{Value, json};

/// A name that would break out of any context that does not escape it.
const HOSTILE: &str = "</script><img src=x onerror='alert(1)'>\"&amp;";

/// Two workloads, a configuration that is faster, and one that does not differ.
fn records(third: &str) -> Records {
    let mut records = Records {
        source: "small.toml".into(),
        primary: vec!["time".into()],
        workloads: vec!["build".into(), "idle".into()],
        limits: vec!["Nothing is known of caches.".into()],
        ..Records::default()
    };
    for name in ["old", "new", third] {
        records.configurations.push(Configuration {
            name: name.into(),
            label: name.into(),
            ..Configuration::default()
        });
    }
    let mut order = 0;
    for repetition in 1..=6 {
        for (configuration, factor) in [("old", 1.0), ("new", 0.8), (third, 1.001)] {
            for (workload, base) in [("build", 10.0), ("idle", 3.0)] {
                let wobble = 1.0 + f64::from(repetition * 7 % 5) / 100.0;
                let mut run = Run::new(configuration, workload, repetition);
                run.order = order;
                let time = Measurement::new(base * factor * wobble, "s");
                run.metrics.insert("time".into(), time);
                let drift = f64::from(repetition) - 3.0 * factor;
                run.metrics
                    .insert("drift".into(), Measurement::new(drift, "ns"));
                records.runs.push(run);
                order += 1;
            }
        }
    }
    records.events.push(Events {
        configuration: "old".into(),
        workload: "build".into(),
        event: "missed".into(),
        count: 5,
        exposure_s: Some(60.0),
        times_s: Vec::new(),
        span_s: None,
        tolerated_s: None,
        by_run: Vec::new(),
        place: Place::default(),
    });
    records
}

fn judged(records: &Records, baseline: Option<&str>) -> Document {
    let options = Options {
        baseline: baseline.map(str::to_owned),
        claims: vec!["new < old on time in build".into()],
        ..Options::default()
    };
    let mut document = try_records(records, &options).unwrap();
    document.reproduce = "assize report small".into();
    document.rerun = Some("assize run --cpus 2 small.toml".into());
    document
}

fn page<'a>(document: &'a Document, others: &'a [Document]) -> ReportPage<'a> {
    ReportPage {
        document,
        others,
        about: About {
            title: "Is it faster?".into(),
            question: "What does it cost?".into(),
            target: Some("exact".into()),
            primary: vec!["time".into()],
            metrics: vec![MetricWords {
                metric: "time".into(),
                title: "time it takes".into(),
                better: Some(Better::Lower),
            }],
            facts: vec![("kernel".into(), "6.12".into())],
            experiment: Some("title = 'x'".into()),
        },
        evidence: ThinnedEvidence {
            curves: vec![Curve {
                run: 0,
                metric: "latency".into(),
                unit: "ns".into(),
                count: 3,
                values: vec![1.0, 2.0, 900.0],
                shares: vec![0.3, 0.6, 1.0],
            }],
            series: vec![ThinnedSeries {
                run: 0,
                metric: "latency".into(),
                unit: "ns".into(),
                count: 3,
                t_ns: vec![0.0, 10.0],
                low: vec![1.0, 2.0],
                high: vec![1.0, 900.0],
            }],
            thinned: vec!["Nothing was left out.".into()],
        },
        timelines: Vec::new(),
        post: None,
        attributions: Attributions::default(),
    }
}

/// The data for the script.
fn data(text: &str) -> Value {
    let block =
        Regex::new(r#"<script type="application/octet-stream" id="data">([^<]*)<"#).unwrap();
    let bytes = STANDARD.decode(&block.captures(text).unwrap()[1]).unwrap();
    let mut json = String::new();
    flate2::read::ZlibDecoder::new(&bytes[..])
        .read_to_string(&mut json)
        .unwrap();
    serde_json::from_str(&json).unwrap()
}

/// The attributes of each verdict cell of the grid.
fn cells(text: &str) -> Vec<BTreeMap<String, String>> {
    let from = text.find("<section id=\"grid\"").unwrap();
    let cell = Regex::new(r"<td ([^>]*)>").unwrap();
    let attribute = Regex::new(r#"data-([a-z]+)="([^"]*)""#).unwrap();
    let all = cell.captures_iter(&text[from..]).map(|found| {
        let pairs = attribute.captures_iter(found.get(1).unwrap().as_str());
        pairs
            .map(|pair| (pair[1].to_owned(), unescaped(&pair[2])))
            .collect()
    });
    all.filter(|cell: &BTreeMap<String, String>| cell.get("kind").is_some_and(|k| k == "verdict"))
        .collect()
}

fn unescaped(text: &str) -> String {
    let mut text = text.to_owned();
    for (escape, sign) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#x2f;", "/"),
        ("&amp;", "&"),
    ] {
        text = text.replace(escape, sign);
    }
    text
}

#[test]
fn the_grid_says_what_the_document_says() {
    let document = judged(&records("alike"), None);
    let text = html(&page(&document, &[])).unwrap();
    let cells = cells(&text);
    assert_eq!(cells.len(), document.comparisons.len());
    let mut ratios = 0;
    for row in &document.comparisons {
        let same = |cell: &&BTreeMap<String, String>| {
            cell["workload"] == row.workload
                && cell["metric"] == row.metric
                && cell["unit"] == row.unit
                && cell["configuration"] == row.configuration
        };
        let cell = cells.iter().find(same).unwrap();
        let number = |name: &str| cell.get(name).map(|text| text.parse::<f64>().unwrap());
        assert_eq!(number("ratio"), row.ratio);
        assert_eq!(number("difference"), row.difference);
        assert_eq!(number("low"), row.ci.map(|ci| ci[0]));
        assert_eq!(number("high"), row.ci.map(|ci| ci[1]));
        assert_eq!(cell["verdict"], row.verdict.word());
        ratios += usize::from(row.ratio.is_some());
    }
    assert!(ratios > 0 && ratios < cells.len(), "both scales are tried");
}

#[test]
fn the_data_hold_the_verdicts_against_every_baseline() {
    let records = records("alike");
    let document = judged(&records, None);
    let others = [
        judged(&records, Some("new")),
        judged(&records, Some("alike")),
    ];
    let data = data(&html(&page(&document, &others)).unwrap());
    let all = data["judged"].as_array().unwrap();
    assert_eq!(all.len(), 3);
    for (packed, document) in all.iter().zip(std::iter::once(&document).chain(&others)) {
        assert_eq!(packed["baseline"].as_str(), document.baseline.as_deref());
        assert_eq!(
            packed["verdict"].as_str().unwrap().len(),
            document.comparisons.len()
        );
        for (at, row) in document.comparisons.iter().enumerate() {
            let metric = &data["metrics"][packed["m"][at].as_u64().unwrap() as usize];
            assert_eq!(metric[0].as_str(), Some(row.metric.as_str()));
            match (packed["ratio"][at].as_f64(), row.ratio) {
                (Some(packed), Some(ratio)) => assert!((packed / ratio - 1.0).abs() < 1e-6),
                (packed, ratio) => assert_eq!(packed, ratio),
            }
            let letter = packed["verdict"].as_str().unwrap().as_bytes()[at] as char;
            let word = row.verdict.word();
            assert_eq!(
                letter,
                if word == "equivalent" {
                    'q'
                } else {
                    word.chars().next().unwrap()
                }
            );
        }
    }
}

#[test]
fn names_that_are_markup_stay_names() {
    let document = judged(&records(HOSTILE), None);
    let mut page = page(&document, &[]);
    page.about.title = HOSTILE.into();
    page.about.experiment = Some(HOSTILE.into());
    page.about.facts = vec![(HOSTILE.into(), HOSTILE.into())];
    page.post = Some(ReadPost {
        lines: vec![PostLine {
            message: 1,
            line: 3,
            depth: 0,
            taken: HOSTILE.into(),
            text: HOSTILE.into(),
        }],
        figures: vec![PostFigure {
            place: Place {
                message: 1,
                line: 3,
            },
            configuration: Some(HOSTILE.into()),
            workload: None,
            behind: "run 1".into(),
            metric: HOSTILE.into(),
            value: "1".into(),
            shown: true,
        }],
    });
    let text = html(&page).unwrap();
    assert!(!text.contains("<img"));
    assert_eq!(
        text.matches("</script").count(),
        2,
        "those of the page itself"
    );
    let names = &data(&text)["configurations"];
    assert_eq!(names[2]["name"].as_str(), Some(HOSTILE));
    let shown = cells(&text)
        .iter()
        .any(|cell| cell["configuration"] == HOSTILE);
    assert!(shown, "it is a configuration like any other");
}

#[test]
fn a_line_of_a_post_has_what_its_figures_support_beside_it() {
    let document = judged(&records("alike"), None);
    let mut page = page(&document, &[]);
    let line = |line: u32, text: &str| PostLine {
        message: 1,
        line,
        depth: 0,
        taken: "figures".into(),
        text: text.into(),
    };
    let figure = |line: u32, configuration: &str| PostFigure {
        place: Place { message: 1, line },
        configuration: Some(configuration.into()),
        workload: Some("build".into()),
        behind: "run 1".into(),
        metric: "time".into(),
        value: "8 s".into(),
        shown: true,
    };
    page.post = Some(ReadPost {
        lines: vec![
            line(1, "new 8 s"),
            line(2, "alike 10 s"),
            line(3, "old 10 s"),
        ],
        figures: vec![
            figure(1, "new"),
            figure(1, "new"),
            figure(2, "alike"),
            figure(3, "old"),
        ],
    });
    let text = html(&page).unwrap();
    let of = |line: u32| {
        let from = text.find(&format!("<td id=\"L{line}\">")).unwrap();
        &text[from..from + text[from..].find("</tr>").unwrap()]
    };
    assert_eq!(
        of(1).matches("better: -20.0 % (10.2 -&gt; 8.16 s)").count(),
        1,
        "{}",
        of(1)
    );
    assert!(of(1).ends_with("<td></td>"), "it is settled: {}", of(1));
    assert!(of(2).contains("cannot tell: +0.10 %"), "{}", of(2));
    assert!(
        of(2).contains("would likely settle it at a margin of 1 %</div></td>"),
        "{}",
        of(2)
    );
    assert!(
        !of(3).contains("class=\"outcome"),
        "it is the baseline: {}",
        of(3)
    );
}

#[test]
fn nothing_is_asked_of_any_network() {
    let document = judged(&records("alike"), None);
    let text = html(&page(&document, &[])).unwrap();
    assert!(text.contains("content=\"default-src &#x27;none&#x27;; style-src"));
    for loads in [
        r#"\ssrc="#,
        r#"href="[^#]"#,
        r"url\(",
        r"@import",
        r"<link",
        r"fetch\(",
    ] {
        assert!(!Regex::new(loads).unwrap().is_match(&text), "{loads}");
    }
    // The only URL is the SVG namespace.
    assert_eq!(
        text.matches("http").count() - text.matches("http-equiv").count(),
        1
    );
    assert!(!text.contains(" style=\""), "the policy forbids it");
}

#[test]
fn the_same_input_gives_the_same_page() {
    let document = judged(&records("alike"), None);
    let others = [judged(&records("alike"), Some("new"))];
    let once = html(&page(&document, &others)).unwrap();
    assert_eq!(once, html(&page(&document, &others)).unwrap());
}

#[test]
fn an_axis_says_that_it_is_logarithmic_and_no_link_is_hidden_on_a_phone() {
    let document = judged(&records("new"), None);
    let text = html(&page(&document, &[])).unwrap();
    let scale = text.split("<div class=\"scale lane\"").nth(1).unwrap();
    assert!(scale.split("</div>").next().unwrap().contains(">log axis<"));
    assert!(text.contains("if (scale.log) sayLog("));
    let style = text
        .split("<style>")
        .nth(1)
        .unwrap()
        .split("</style>")
        .next()
        .unwrap();
    let hides = |line: &&str| line.contains("display: none") && !line.contains("#controls");
    for line in style.lines().filter(hides) {
        assert!(!line.contains("nav") && !line.contains(".less"), "{line}");
    }
    let nav = text
        .split("<nav")
        .nth(1)
        .unwrap()
        .split("</nav>")
        .next()
        .unwrap();
    for link in ["#lints", "#limits", "#reproduce"] {
        assert!(nav.contains(&format!("<a href=\"{link}\">")), "{nav}");
    }
}

#[test]
fn the_part_without_a_script_is_as_it_was() {
    let document = judged(&records("alike"), None);
    let text = html(&page(&document, &[])).unwrap();
    let without = |text: &str, pattern: &str| {
        Regex::new(pattern)
            .unwrap()
            .replace_all(text, "$1…$2")
            .into_owned()
    };
    let got = without(&text, r"(?s)(<style>).*?(</style>)");
    let got = without(&got, r"(?s)(<script[^>]*>).*?(</script>)");
    let got = without(&got, r#"(content="default-src)[^"]*(")"#);
    let got = got.replace(
        concat!("assize ", env!("CARGO_PKG_VERSION")),
        "assize VERSION",
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/page.html");
    if std::env::var_os("ASSIZE_GOLDEN").is_some_and(|value| value == "1") {
        fs::write(&path, &got).unwrap();
    }
    let want = fs::read_to_string(&path).unwrap_or_default();
    assert!(got == want, "{} differs:\n{got}", path.display());
}

/// A result of `assize why`: `new` spends 200,000 instructions per job in one function.
fn kept(a: &str, b: &str) -> Kept {
    let row = |name: &str, of: Option<&str>, a, b| DifferenceRow {
        name: name.into(),
        of: of.map(str::to_owned),
        a,
        b,
        difference: a - b,
        interval: None,
        established: None,
    };
    let why = Why {
        schema: assize_why::difference::SCHEMA.into(),
        workload: "build".into(),
        a: a.into(),
        b: b.into(),
        per: "job".into(),
        seeds: vec![7],
        runs: vec![[0, 1]],
        total: row("all instructions", None, 200_030.0, 30.0),
        account: Account::default(),
        metric: None,
        threads: Vec::new(),
        subsystems: vec![
            row("drm_sched", None, 200_000.0, 0.0),
            row("files", None, 30.0, 30.0),
        ],
        functions: vec![
            row("planted <b>", Some("drm_sched"), 200_000.0, 0.0),
            row("the_same", Some("files"), 30.0, 30.0),
        ],
        p_attainable: None,
        reached: Vec::new(),
        claims: Vec::new(),
        hunks: Vec::new(),
        caches: None,
        tree: Vec::new(),
    };
    let frame = |name: &str, own: [u64; 2], below| FlameFrame {
        name: name.into(),
        all: own,
        own,
        below,
        ..FlameFrame::default()
    };
    let whole = FlameFrame {
        all: [200_030, 30],
        below: vec![
            frame("planted <b>", [200_000, 0], Vec::new()),
            frame("the_same", [30, 30], Vec::new()),
        ],
        ..FlameFrame::default()
    };
    let flame = Flame {
        stacks: true,
        jobs: [1.0, 1.0],
        least: 0.001,
        whole,
    };
    Kept::new(&why, flame)
}

fn asking() -> Option<ShellWords> {
    Some(ShellWords {
        source: "'my bundle'".into(),
        configurations: vec!["old".into(), "new".into()],
        workloads: vec!["build".into()],
    })
}

#[test]
fn an_answer_that_is_kept_is_shown_with_its_functions_and_frames() {
    let document = judged(&records("third"), Some("old"));
    let mut page = page(&document, &[]);
    page.attributions = Attributions {
        // A result of another experiment is not on this page.
        kept: vec![kept("new", "old"), kept("new", "elsewhere")],
        moments: Vec::new(),
        shell: asking(),
    };
    let text = html(&page).unwrap();
    let section = text.split_once("<section id=\"why\"").unwrap().1;
    let section = section.split_once("</section>").unwrap().0;
    for words in [
        "new executes 200,000 more instructions per job than old on build: 200,000 in drm_sched",
        "planted &lt;b&gt;</th><td class=\"of\">drm_sched</td><td class=\"n\">200,000</td>",
        "1 other function is not listed",
        "assize why &#x27;my bundle&#x27; new old --workload build --keep",
    ] {
        assert!(section.contains(words), "{words} is not in {section}");
    }
    assert!(!section.contains("elsewhere") && !section.contains("the_same</th>"));
    let why = &data(&text)["why"];
    assert_eq!(why.as_array().unwrap().len(), 1);
    assert_eq!((&why[0]["c"], &why[0]["w"]), (&json!([1, 0]), &json!(0)));
    assert_eq!(why[0]["frames"]["own_a"], json!([0, 200_000, 30]));
}

#[test]
fn without_an_answer_the_page_says_how_to_get_one_if_there_is_a_way() {
    let document = judged(&records("third"), Some("old"));
    let mut page = page(&document, &[]);
    page.attributions.shell = asking();
    let text = html(&page).unwrap();
    let command = "assize why &#x27;my bundle&#x27; old new --workload build --keep";
    assert!(text.contains(command), "{text}");
    assert!(!text.contains("id=\"flame\""));
    // Runs that cannot be repeated get no command.
    page.attributions.shell = None;
    assert!(!html(&page).unwrap().contains("id=\"why\""));
}

#[test]
fn a_crash_and_a_run_apart_have_the_commands_that_go_there() {
    let mut document = judged(&records("third"), Some("old"));
    let run = |index: u32| json!({"configuration": "new", "workload": "build", "index": index, "seed": 7});
    let ended = |outcome: &str, index: u32| {
        json!({
            "outcome": outcome, "baseline": "old", "configuration": "new", "count_baseline": 0,
            "n_baseline": 9, "count": 1, "n": 9, "test": "fisher", "p": 1.0, "p_attainable": 0.1,
            "p_adjusted": null, "fewest": 5, "verdict": "undecided",
            "signatures": [
                {"signature": "planted", "line": "Oops", "frames": [], "runs": [run(index)]}
            ],
        })
    };
    let ended = [ended("crashed", 4), ended("timed-out", 5)];
    document.outcomes = ended.map(|row| serde_json::from_value(row).unwrap()).into();
    let lint = |code: &str, run: u32| json!({"code": code, "where": "new on build", "detail": "is far", "run": run});
    // The page has samples of run 0.
    let lints = [
        lint("outlier-run", 0),
        lint("outlier-run", 2),
        lint("doubt", 3),
    ];
    document.lints = lints.map(|one| serde_json::from_value(one).unwrap()).into();
    let mut page = page(&document, &[]);
    assert!(!html(&page).unwrap().contains("assize debug"));
    page.attributions.shell = asking();
    let text = html(&page).unwrap();
    let commands: Vec<&str> = text
        .split("assize debug &#x27;my bundle&#x27; ")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once("</code>")?.0))
        .collect();
    assert_eq!(commands, ["4 --at crash", "0 --at worst", "2"]);
}

#[test]
fn a_page_of_nothing_is_a_page() {
    let document = try_records(&Records::default(), &Options::default()).unwrap();
    let text = html(&ReportPage {
        document: &document,
        others: &[],
        about: About::default(),
        evidence: ThinnedEvidence::default(),
        timelines: Vec::new(),
        post: None,
        attributions: Attributions::default(),
    })
    .unwrap();
    assert!(text.contains(" id=\"answer\""));
    assert!(
        !text.contains("<section id=\"grid\""),
        "there is nothing to show in it"
    );
}
