//! Compares the text in pictures with the pages that the commands of a document write
//! now.

use std::collections::BTreeMap;
use std::fs;

use libtest_mimic::Failed;
use regex::Regex;

use crate::page::Page;
use crate::root;

/// Checks that all text in the pictures of a document is in the pages written by its commands.
/// `figures`: whether numbers must agree too.
pub fn agree(
    document: &Page,
    html: &BTreeMap<String, String>,
    figures: bool,
) -> Result<(), Failed> {
    let image = Regex::new(r"!\[[^\]]*\]\(([^)]+)\.png\)").unwrap();
    let text = document.lines.join("\n");
    let folder = root().join(&document.name).parent().unwrap().to_owned();
    for one in image.captures_iter(&text) {
        let said = folder.join(format!("{}.txt", &one[1]));
        let said = fs::read_to_string(&said)
            .map_err(|why| format!("{}: {why}; cargo xtask pictures", said.display()))?;
        let (page, lines) = said.split_once('\n').unwrap_or((&said, ""));
        let shown = html.get(page).ok_or_else(|| {
            let name = &document.name;
            format!("{name}: has a picture of {page}, which none of its commands writes")
        })?;
        let missing = missing(lines, shown, figures);
        if !missing.is_empty() {
            let file = format!("{}.png", &one[1]);
            let why =
                format!("{file} says what {page} does not: {missing:#?}; cargo xtask pictures");
            return Err(why.into());
        }
    }
    Ok(())
}

/// The lines that do not occur in the text of a page.
fn missing(lines: &str, html: &str, figures: bool) -> Vec<String> {
    let tag = Regex::new(r"(?s)<(style|script)\b.*?</(style|script)>|<[^>]*>").unwrap();
    let number = Regex::new(r"[+-]?\d[\d.]*").unwrap();
    let plain = |text: &str| {
        let text = unescaped(text);
        let text = text.split_whitespace().collect::<String>();
        match figures {
            true => text,
            false => number.replace_all(&text, "0").into_owned(),
        }
    };
    let shown = plain(&tag.replace_all(html, " "));
    let lines = lines.lines().filter(|line| !line.trim().is_empty());
    let absent = lines.filter(|line| !shown.contains(&plain(line)));
    absent.map(str::to_owned).collect()
}

/// Replaces the few entities that our pages use.
fn unescaped(text: &str) -> String {
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#x2f;", "/"),
    ];
    let text = entities
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    text.replace("&amp;", "&")
}

/// Tests that a line with another figure or another word is noticed.
pub fn knows_lines() -> Result<(), Failed> {
    let html = "<style>b{}</style><h2>Time <span>less is better</span></h2><p><b>new</b> better &amp; <i>-46.7 %</i></p>";
    let lines = "Time less is better\nnew better & -46.7 %\n";
    assert_eq!(missing(lines, html, true), Vec::<String>::new());
    for (spoiled, figures) in [
        ("new better & -46.8 %", true),
        ("new worse & -46.7 %", false),
    ] {
        assert_eq!(missing(spoiled, html, figures), [spoiled]);
    }
    assert!(missing("new better & -46.8 %", html, false).is_empty());
    Ok(())
}
