//! The tables of the documentation page.

use super::Lane;
use super::boots::{Planted, Tried};

/// The results on one kernel as Markdown.
pub(super) fn section(version: &str, commit: &str, lane: &Lane) -> String {
    let built = &lane.built;
    let mut text = format!(
        "\nlinux-source {version} as {}, {} options set, built in {} s\nby {}; \
         the modules of commit {commit}.\n\n\
         | planted bug | must be reported as | outcome |\n| --- | --- | --- |\n",
        built.release, built.options, built.seconds, built.compiler,
    );
    for one in &lane.planted {
        text += &planted(one);
    }
    text += "\n| test | passed | failed | skipped | guest s | findings |\n\
             | --- | ---: | ---: | ---: | ---: | --- |\n";
    for one in &lane.tried {
        text += &tried(one);
    }
    if lane.kind.others {
        text += &elsewhere(&lane.tried);
    }
    text
}

fn planted(one: &Planted) -> String {
    let (words, good) = match one.bug {
        "none" => ("nothing", "silent"),
        _ => (one.words, "reported"),
    };
    let outcome = one.problem.as_ref().map_or_else(
        || good.to_string(),
        |why| format!("**failed**: {}", cell(why)),
    );
    format!("| `{}` | {} | {outcome} |\n", one.bug, cell(words))
}

fn tried(one: &Tried) -> String {
    let (passed, failed, skipped) = one.points;
    let findings = match one.problems.is_empty() {
        true => "none".to_string(),
        false => format!("**{}**", cell(&one.problems.join("; "))),
    };
    let mut command = one.test.program.to_string();
    for argument in one.test.arguments {
        command = format!("{command} {argument}");
    }
    if one.test.failslab {
        command += ", failslab";
    }
    format!(
        "| `{command}` | {passed} | {failed} | {skipped} | {:.1} | {findings} |\n",
        one.guest_s
    )
}

fn elsewhere(tried: &[Tried]) -> String {
    let mut lines: Vec<&String> = tried.iter().flat_map(|one| &one.elsewhere).collect();
    lines.sort();
    lines.dedup();
    if lines.is_empty() {
        return "\nNo race was reported elsewhere in the kernel.\n".into();
    }
    let mut text = String::from(
        "\nRaces that were reported between the kernel's own functions, which are not\n\
         counted as failures:\n\n",
    );
    for line in lines {
        text += &format!("- `{}`\n", line.trim_start_matches("BUG: "));
    }
    text
}

/// A text with the characters escaped that would end a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
