//! The documentation page with the latest results.

use super::Lane;
use super::boots::{Planted, Tried};
use super::kinds::{SCALE, STRIDE};

/// The page, in Markdown.
pub(super) fn page(version: &str, commit: &str, lanes: &[Lane]) -> String {
    let mut text = format!(
        "# The modules on kernels that check themselves\n\n\
         Made by `cargo studies debug-kernel --write`, which `make test-debug` calls\n\
         without `--write`. It builds Debian's linux-source {version} with the\n\
         configurations in [kernel/debug/](../kernel/debug/), and runs all tests of\n\
         `depq` and `simgpu` of commit {commit} in the exact machine with 2 CPUs\n\
         and 1 GiB of memory.\n\
         Each test and each planted bug has a boot of its own. A test fails if the\n\
         program does, if the kernel complains, if a module cannot be removed\n\
         afterwards, if memory is left behind, or if a check has given up meanwhile.\n\
         These kernels are slow: `depq_test` makes {SCALE} % of its repetitions and tries\n\
         one of {STRIDE} designs, which leaves each value of each choice. The arguments of\n\
         `simgpu_fuzz` are seed, calls and threads, of `simgpu_graphs` seed and graphs,\n\
         of `simgpu_failnth` of how many designs one is tried. Seconds are those of the guest's clock.\n"
    );
    for lane in lanes {
        text += &section(lane);
    }
    text + FOUND
}

/// Bugs that these kernels found; the results above are after the fixes.
const FOUND: &str = "
## What was found on the way

In `depq` two data races, which were harmless and are marked now: whether the first
job waits for something, which depq_queue_want_kick() reads, is changed by
depq_queue_await_dep() without the lock. In `simgpu` two mistakes of its shrinker, which are
mended. It read without the mutex on which list an object is, so that one that was needed
again could stay on the list of the unneeded. And a scan that dropped the last reference to an
object freed it in reclaim, where no reservation may be taken. Tests
that relied on time were mended, in the suite, the user interface and the
graphs, and these mistakes of tests: the suite let an engine complete a job
that run_job() had not handed over yet, and took a job of `drm_sched` for
released too early whose fence was still calling its callbacks; the test that
uses up memory waited for ever for a process that had been killed, since the
lists of free pages of the CPUs hold 20 MiB on such a kernel, and its job was done
before memory was short; the fuzzer did not unmap again where a fault was injected into
munmap(), so that the file stayed open with its contexts. So were
harnesses that took a race elsewhere, or a line of kmemleak that is none, for
a complaint, and the fuzzer, whose own checks met the failing allocations.

With the short jobs that `close_in_flight` had, `drm_sched` of 6.12 once
signalled a job before jobs ahead of it in the same entity. A likely cause,
by its source: `drm_sched_entity_pop_job()` puts the entity back into the
tree of its run queue, also if `drm_sched_entity_kill()` has just removed it,
and then both take jobs from it. The longer jobs of the test do not bring
that about. KCSAN also reports that `spsc_queue_peek()` of `drm_sched` reads the
head of the queue without READ_ONCE(). Neither is ours to mend.
";

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
        "\nRaces that were reported between the kernel's own functions, which are not\n\
         counted as failures:\n\n",
    );
    for line in lines {
        text += &format!("- `{}`\n", line.trim_start_matches("BUG: "));
    }
    text
}

/// A text with characters escaped that would end a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
