#![allow(clippy::unwrap_used)] // A test may fail.

use std::io::Read;

use assize_why::difference::Account;
use base64::Engine;

use super::*;
use assize_why::flame::FlameFrame;

fn row(name: &str, a: f64, b: f64) -> DifferenceRow {
    DifferenceRow {
        name: name.into(),
        of: Some("files".into()),
        a,
        b,
        difference: a - b,
        interval: None,
        established: None,
    }
}

fn sample_why() -> (Why, Flame) {
    let rows = || vec![row("planted", 200.0, 0.0), row("<b>read", 10.0, 60.0)];
    let why = Why {
        schema: assize_why::difference::SCHEMA.into(),
        workload: "cat".into(),
        a: "</script><script>alert(1)</script>".into(),
        b: "without".into(),
        per: "job".into(),
        seeds: vec![1],
        runs: vec![[0, 1]],
        total: row("all instructions", 210.0, 60.0),
        account: Account {
            whole: true,
            ..Account::default()
        },
        metric: None,
        threads: rows(),
        subsystems: rows(),
        functions: rows(),
        p_attainable: None,
        reached: Vec::new(),
        claims: Vec::new(),
        hunks: Vec::new(),
        tree: Vec::new(),
        caches: None,
    };
    let frame = |name: &str, own| FlameFrame {
        name: name.into(),
        own,
        all: own,
        ..FlameFrame::default()
    };
    let whole = FlameFrame {
        all: [420, 60],
        below: vec![
            FlameFrame {
                others: 3,
                ..frame("", [20, 60])
            },
            frame("planted", [400, 0]),
        ],
        ..FlameFrame::default()
    };
    let flame = Flame {
        stacks: true,
        jobs: [2.0, 1.0],
        least: 0.0001,
        whole,
    };
    (why, flame)
}

#[test]
fn the_page_says_the_answer_and_names_are_text() {
    let (why, flame) = sample_why();
    let page = super::why(&why, &flame, "assize why <x>").unwrap();
    assert_eq!(page, super::why(&why, &flame, "assize why <x>").unwrap());
    // The data and the script, but no element started by a name.
    assert_eq!(page.matches("<script").count(), 2);
    assert!(!page.contains("<b>read") && page.contains("&lt;b&gt;read"));
    assert!(page.contains("executes 150 more instructions per job than without on cat"));
    assert!(page.contains("assize why &lt;x&gt;"));
    // Three tables of two rows, each with a total.
    assert_eq!(page.matches("data-name=\"together\"").count(), 3);
    assert!(!page.contains("Frames are of all seeds together"), "{page}");
    let print = format!("tr:nth-child(n + {})", PRINTED + 1);
    assert!(STYLE.concat().contains(&print));
}

#[test]
fn a_bar_is_as_long_as_its_difference_and_on_its_side() {
    let (why, _) = sample_why();
    let lines = lines(&why.functions, &why.total);
    let of: Vec<_> = lines.iter().map(|line| (line.tone, line.bar)).collect();
    assert_eq!(
        of,
        [
            ("more", Some([50.0, 50.0])),
            ("fewer", Some([37.5, 12.5])),
            ("more", None)
        ]
    );
    let same = row("same", 3.0, 3.0);
    let lines = super::lines(std::slice::from_ref(&same), &same);
    assert!(
        lines
            .iter()
            .all(|line| line.bar.is_none() && line.tone == "same")
    );
}

#[test]
fn frames_come_back_from_the_page_as_they_are() {
    let (why, flame) = sample_why();
    let page = super::why(&why, &flame, "x").unwrap();
    let begin = page.find("id=\"data\">").unwrap() + "id=\"data\">".len();
    let end = begin + page[begin..].find('<').unwrap();
    let bytes = base64::engine::general_purpose::STANDARD.decode(&page[begin..end]);
    let mut text = String::new();
    let bytes = bytes.unwrap();
    let mut decoder = flate2::read::ZlibDecoder::new(&bytes[..]);
    decoder.read_to_string(&mut text).unwrap();
    let data: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(data["names"], json!(["", "planted"]));
    assert_eq!(data["subsystems"], json!(["", "files"]));
    let frames = &data["frames"];
    assert_eq!(frames["name"], json!([0, 0, 1]));
    assert_eq!(frames["above"], json!([null, 0, 0]));
    assert_eq!(frames["others"], json!([0, 3, 0]));
    assert_eq!(frames["own_a"], json!([0, 20, 400]));
    assert_eq!(frames["own_b"], json!([0, 60, 0]));
}

#[test]
fn it_is_said_where_frames_and_means_differ() {
    let (mut why, flame) = sample_why();
    why.total.a = 215.0;
    let page = super::why(&why, &flame, "x").unwrap();
    assert!(page.contains("Frames are of all seeds together"));
}
