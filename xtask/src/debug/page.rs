//! The page with the last results.

use super::Lane;
use super::guest::{Planted, Tried};
use super::kinds::{SCALE, STRIDE};

/// The page, in Markdown.
pub(super) fn page(version: &str, commit: &str, lanes: &[Lane]) -> String {
    let mut text = format!(
        "# The modules on kernels that check themselves\n\n\
         Made by `cargo xtask debug-kernel --write`, which `make test-debug` calls\n\
         without `--write`. It builds Debian's linux-source {version} with the\n\
         configurations in [kernel/debug/](../kernel/debug/), and runs all tests of\n\
         `depq` and `simgpu` of commit {commit} in the exact machine with 2 CPUs.\n\
         Each test and each planted bug has a boot of its own. A test fails if the\n\
         program does, if the kernel complains, if a module cannot be removed\n\
         afterwards, if memory is left behind, or if a check has given up meanwhile.\n\
         These kernels are slow: `depq_test` makes {SCALE} % of its repetitions and tries\n\
         one of {STRIDE} designs, which leaves each value of each choice.\n"
    );
    for lane in lanes {
        text += &section(lane);
    }
    text
}

fn section(lane: &Lane) -> String {
    let built = &lane.built;
    let mut text = format!(
        "\n## {}\n\nChecks: {}.\n\n\
         Kernel {}, {} options set, built in {} s by {}.\n\n\
         | planted bug | must be reported as | outcome |\n| --- | --- | --- |\n",
        built.name,
        squeezed(lane.kind.about),
        built.release,
        built.options,
        built.seconds,
        built.compiler,
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
        "\nRaces that were reported in the kernel's own functions, which are not\n\
         counted as failures:\n\n",
    );
    for line in lines {
        text += &format!("- `{}`\n", line.trim_start_matches("BUG: "));
    }
    text
}

/// A text that does not end a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
