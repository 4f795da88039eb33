//! A Markdown summary for a comment or a job page.

use super::{CheckState, Checks, line};

/// GitHub limits a comment to 65,536 characters.
const MOST: usize = 65_000;

/// Returns the checks as a Markdown table, failed ones first, in at most 65,000
/// characters. Rows that do not fit are counted.
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
                CheckState::Failed(why) => (0, "**failed**", format!("{why}; ")),
                CheckState::Undecided => (1, "undecided", String::new()),
                CheckState::Passed => (2, "passed", String::new()),
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
    let mut out = head + "| | group | check | answer |\n| --- | --- | --- | --- |\n";
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

/// Escapes text for a table cell so that no markup takes effect, and cuts it to `most`
/// characters.
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
            // Escaped so that GitHub does not notify a user of that name.
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
