//! A summary in Markdown, for a comment or a job's page.

use super::{Checks, State, line};

/// GitHub takes a comment of 65,536 characters.
const MOST: usize = 65_000;

/// The checks as a table in Markdown, those that have failed first, in at most 65,000
/// characters. What does not fit is counted.
pub fn markdown(checks: &Checks) -> String {
    let (failed, _) = checks.counts();
    let sign = if failed > 0 { "\u{274c}" } else { "\u{2705}" };
    let head = format!(
        "### {sign} {}\n\n{}\n\n",
        cell(&checks.title, 200),
        checks.summary()
    );
    let tail = format!("\n`{}`\n", line(&checks.reproduce).replace('`', "'"));
    let tail: String = match tail.chars().count() {
        n if n > 2000 => String::new(),
        _ => tail,
    };
    let mut rows: Vec<(u8, String)> = checks
        .checks
        .iter()
        .map(|check| {
            let (order, word, why) = match &check.state {
                State::Failed(why) => (0, "**failed**", format!("{why}; ")),
                State::Undecided => (1, "undecided", String::new()),
                State::Passed => (2, "passed", String::new()),
            };
            let text = format!(
                "| {word} | {} | {} | {} |\n",
                cell(&check.group, 200),
                cell(&check.name, 400),
                cell(&format!("{why}{}", check.said), 1000)
            );
            (order, text)
        })
        .collect();
    rows.sort_by_key(|(order, _)| *order);
    let mut out = head + "| | of | what | answer |\n| --- | --- | --- | --- |\n";
    let room = MOST - tail.chars().count() - 100;
    let mut used = out.chars().count();
    let all = rows.len();
    for (at, (_, row)) in rows.into_iter().enumerate() {
        used += row.chars().count();
        if used > room {
            out.push_str(&format!("\n{} more are not shown.\n", all - at));
            break;
        }
        out.push_str(&row);
    }
    out + &tail
}

/// Text in a cell of a table, at most so many characters of it, as text: nothing in it
/// is markup.
fn cell(text: &str, most: usize) -> String {
    let text = line(text);
    let cut: String = match text.chars().count() {
        n if n > most => text.chars().take(most - 3).chain("...".chars()).collect(),
        _ => text,
    };
    let mut out = String::new();
    for c in cut.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // Names nobody: an address in a comment would be told of it.
            '@' => out.push_str("&#64;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '$' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}
