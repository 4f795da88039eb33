//! The result of `assize bisect` as text and JSON: the first commit of a range for which
//! a claim holds.

use serde::{Deserialize, Serialize};

use assize_verdict::{Outcome as Claimed, OutcomeComparison, Verdict};

use crate::WIDTH;
use crate::contrasts::outcome_figures;
use crate::number::{signed, significant, with_points};
use crate::readable::Readable;
use crate::series::{PatchName, command, cut_lines, id_and_subject, mark, percent, plain, written};

/// The schema of [`Bisection`].
pub const BISECTION: &str = "assize.bisect/1";
/// The longest answer, in lines.
pub const BISECTION_LINES: usize = 25;
/// At most this many commits are listed by name.
const NAMED: usize = 4;
/// At most this many workloads are shown with figures.
const FIGURES: usize = 2;

/// The result of bisecting a range of commits for a claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bisection {
    /// Always [`BISECTION`].
    pub schema: String,
    /// The claim: `new` is the commit under test, `old` the commit it is compared with.
    pub claim: String,
    /// Whether failure rates under the same schedules were compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hunted: bool,
    /// The last commit before the range.
    pub good: PatchName,
    /// The last commit of the range.
    pub bad: PatchName,
    /// The number of commits in the range.
    pub commits: usize,
    /// The number of these commits that touch files of the build.
    pub touching: usize,
    /// The result.
    pub answer: BisectionAnswer,
    /// Every tested commit, in the order of testing.
    pub tried: Vec<TriedCommit>,
    /// The number of commits for which a build was attempted, including the one before
    /// the range and builds that failed.
    pub builds: usize,
    /// The total number of runs behind all verdicts.
    pub runs: u32,
    /// The level of each interval.
    pub level: f64,
    /// The level at which all verdicts hold simultaneously.
    pub joint: f64,
    /// The kernel, with its version.
    pub kernel: String,
    /// What was built, and the kernel directory it was built from.
    pub built: String,
    /// Files that the range changes but the build does not use.
    pub left_out: Vec<String>,
    /// The experiment that was run.
    pub experiment: String,
    /// The directory that holds the bundles behind all verdicts.
    pub directory: String,
    /// The `assize why` command that shows where the extra instructions are.
    pub why: Option<String>,
    /// The command that reproduces this bisection.
    pub reproduce: String,
}

/// The result of a bisection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BisectionAnswer {
    /// The claim starts to hold at this commit; the verdict is against its parent.
    Found(Culprit),
    /// The search ended at this commit, but the claim is not upheld against its parent.
    NotOfOne(Culprit),
    /// The claim starts to hold at one of these commits, oldest first, of which only the last can
    /// be tested.
    OneOf(Vec<PatchName>),
    /// The claim does not hold anywhere in the range: it is refuted for the last commit.
    NotThere,
    /// The runs do not decide whether the claim holds for the last commit.
    Undecided,
}

/// A commit, and the verdict against its parent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Culprit {
    /// The commit.
    pub commit: PatchName,
    /// Its position in the range, starting at 1.
    pub place: usize,
    /// Its parent.
    pub parent: PatchName,
    /// The verdict.
    pub verdict: ClaimVerdict,
}

/// A tested commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TriedCommit {
    /// The commit.
    pub commit: PatchName,
    /// Its position in the range, starting at 1.
    pub place: usize,
    /// The result of the test.
    pub result: TriedResult,
}

/// The result of testing a commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TriedResult {
    /// The commit does not build; the reason.
    NotBuilt(String),
    /// The verdict on the claim, against the commit before the range.
    Verdict(ClaimVerdict),
}

/// A verdict on the claim for one commit against another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimVerdict {
    /// Whether the claim is upheld.
    pub outcome: Claimed,
    /// The reason for the outcome, in words.
    pub because: String,
    /// The figures, one for each workload in the claim.
    pub figures: Vec<BisectionFigure>,
    /// How many runs of each side ended in each way, if any ended abnormally.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<OutcomeComparison>,
    /// The number of runs per side and workload.
    pub runs: u32,
    /// The bundle with these runs; `null` if both sides have identical modules.
    pub bundle: Option<String>,
    /// The commit whose modules were actually run, if its modules are byte for byte
    /// identical to those of this commit.
    pub same_as: Option<String>,
}

/// One metric on one workload, for both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BisectionFigure {
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// The unit; empty for plain counts.
    pub unit: String,
    /// The mean of the old side.
    pub old: Option<f64>,
    /// The mean of the new side.
    pub new: Option<f64>,
    /// `new / old`; `null` if differences were compared.
    pub ratio: Option<f64>,
    /// `new - old`, if differences were compared.
    pub difference: Option<f64>,
    /// The interval of the ratio or of the difference.
    pub interval: Option<[f64; 2]>,
    /// How certain it is that the two sides differ.
    pub verdict: Verdict,
}

/// Returns the bisection as JSON.
///
/// # Errors
/// Never, for a [`Bisection`] built by this crate.
pub fn bisection_json(bisection: &Bisection) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(bisection)? + "\n")
}

/// Returns the answer as text: at most [`BISECTION_LINES`] lines of [`WIDTH`] columns.
#[must_use]
pub fn bisection_text(bisection: &Bisection) -> String {
    let (answer, tail) = (answer(bisection), tail(bisection));
    let room = BISECTION_LINES.saturating_sub(answer.len() + tail.len() + 1);
    let mut about = about(bisection);
    about.truncate(room);
    let blank = std::iter::once(String::new());
    cut_lines(answer.into_iter().chain(blank).chain(about).chain(tail))
}

/// The claim on a separate line, whatever its length.
fn claim(bisection: &Bisection) -> String {
    format!("  {}", bisection.claim)
}

fn answer(bisection: &Bisection) -> Vec<String> {
    let mut lines = Vec::new();
    let range = match bisection.commits {
        1 => "the only commit".to_owned(),
        n => format!("{n} commits"),
    };
    match &bisection.answer {
        BisectionAnswer::Found(found) => {
            lines.push(id_and_subject(&found.commit));
            lines.extend(written(&found.commit).map(|line| format!("  {line}")));
            lines.push(match bisection.commits {
                1 => "the only commit of the range, causes this:".into(),
                n => format!("is the one of {n} commits that causes this:"),
            });
            lines.push(claim(bisection));
            lines.extend(against_parent(bisection, found));
        }
        BisectionAnswer::NotOfOne(found) => {
            lines.push("No commit is named as the cause. The search ended at the commit".into());
            lines.push("below, which is not shown to cause the whole difference:".into());
            lines.push(claim(bisection));
            lines.push(format!("{} against its parent:", outcome(&found.verdict)));
            lines.push(format!("  {}", id_and_subject(&found.commit)));
            lines.extend(reason_lines(&found.verdict));
            lines.extend(figures(&found.verdict));
            lines.push("The difference came in several steps, or the runs are too few.".into());
        }
        BisectionAnswer::OneOf(commits) => {
            lines.push(format!("The cause is one of these {}:", commits.len()));
            lines.push(claim(bisection));
            let hidden = commits.len().saturating_sub(NAMED);
            let line = |one: &PatchName| format!("  {}", id_and_subject(one));
            let shown = NAMED - usize::from(hidden > 0);
            lines.extend(commits.iter().take(shown).map(line));
            if hidden > 0 {
                lines.push(format!("  and {} more, the last of which is", hidden));
                lines.extend(commits.last().map(line));
            }
            lines.push("Only the last of them can be tested.".into());
        }
        BisectionAnswer::NotThere => {
            lines.push(format!("The claim does not hold at the end of {range}:"));
            lines.push(claim(bisection));
            lines.extend(of_end(bisection));
        }
        BisectionAnswer::Undecided => {
            lines.push(format!(
                "Undecided whether the claim holds at the end of {range}:"
            ));
            lines.push(claim(bisection));
            lines.extend(of_end(bisection));
        }
    }
    lines
}

fn against_parent(bisection: &Bisection, found: &Culprit) -> Vec<String> {
    let mut lines = vec![format!(
        "Against its parent {}:",
        id_and_subject(&found.parent)
    )];
    lines.extend(figures(&found.verdict));
    if bisection.hunted {
        lines.extend(reason_lines(&found.verdict));
    }
    lines
}

/// The result of the last commit of the range, if the answer is about that commit.
fn last_commit_result(bisection: &Bisection) -> Option<&TriedCommit> {
    bisection.tried.iter().max_by_key(|one| one.place)
}

/// The figures and the reason of the verdict on the last commit of the range.
fn of_end(bisection: &Bisection) -> Vec<String> {
    let Some(TriedResult::Verdict(verdict)) = last_commit_result(bisection).map(|one| &one.result)
    else {
        return Vec::new();
    };
    let mut lines = figures(verdict);
    lines.extend(reason_lines(verdict));
    lines
}

/// The reason for an outcome, wrapped to at most three lines.
fn reason_lines(verdict: &ClaimVerdict) -> Vec<String> {
    let mut lines = vec![String::from(" ")];
    for word in verdict.because.split_whitespace() {
        match lines.last_mut() {
            Some(last) if last.len() + 1 + word.len() <= WIDTH || last.trim().is_empty() => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(format!("  {word}")),
        }
    }
    lines.truncate(3);
    lines
}

fn outcome(verdict: &ClaimVerdict) -> &'static str {
    match verdict.outcome {
        Claimed::Upheld => "Upheld",
        Claimed::Refuted => "Refuted",
        Claimed::Undecided => "Undecided",
    }
}

fn figures(verdict: &ClaimVerdict) -> Vec<String> {
    let shown = verdict.figures.iter().take(FIGURES);
    let mut lines: Vec<String> = shown.flat_map(figure).collect();
    let ended = verdict.outcomes.iter();
    lines.extend(ended.map(|row| format!("  {}: {}", row.heading(), outcome_figures(row))));
    let more = verdict.figures.len().saturating_sub(FIGURES);
    if more > 0 {
        lines.push(format!(
            "  and {more} more workloads: --format json has them all"
        ));
    }
    lines
}

/// Two lines: the effect, and below it the two means.
fn figure(of: &BisectionFigure) -> [String; 2] {
    let readable = Readable::for_values(&of.unit, of.old.into_iter().chain(of.new));
    let value = |value: Option<f64>| match value {
        Some(value) => significant(readable.value(value), 4),
        None => "nothing".into(),
    };
    let effect = match (of.ratio, of.difference, of.interval) {
        (Some(ratio), _, Some([low, high])) => {
            let [at, low, high] = [ratio, low, high].map(|one| percent(100.0 * (one - 1.0)));
            format!("{at} % ({low}..{high})")
        }
        (None, Some(difference), Some([low, high])) => {
            let [at, low, high] = [difference, low, high].map(|one| signed(readable.value(one)));
            with_points(&format!("{at} ({low}..{high})"), &readable.unit)
        }
        _ => "no interval".into(),
    };
    let (old, new) = (value(of.old), value(of.new));
    [
        format!(
            "  {} in {} {effect}{}",
            of.metric,
            of.workload,
            mark(of.verdict)
        ),
        format!("    from {old} to {new} {}", readable.unit),
    ]
}

fn about(bisection: &Bisection) -> Vec<String> {
    let verdicts: Vec<&ClaimVerdict> = bisection
        .tried
        .iter()
        .filter_map(|one| match &one.result {
            TriedResult::Verdict(verdict) => Some(verdict),
            TriedResult::NotBuilt(_) => None,
        })
        .collect();
    let same = verdicts
        .iter()
        .filter(|one| one.same_as.is_some() || one.bundle.is_none());
    let mut lines = vec![
        format!(
            "{} builds: GOOD and {} commits of the range; {} runs",
            bisection.builds,
            bisection.builds.saturating_sub(1),
            bisection.runs
        ),
        format!(
            "{} commits judged, {} of them without runs (identical files)",
            verdicts.len(),
            same.count()
        ),
    ];
    let is_undecided = bisection.answer == BisectionAnswer::Undecided;
    let end = last_commit_result(bisection)
        .filter(|_| is_undecided)
        .map(|one| one.place);
    for one in &bisection.tried {
        match &one.result {
            TriedResult::NotBuilt(why) => {
                lines.push(format!(
                    "not tested: {}: {why}",
                    id_and_subject(&one.commit)
                ));
            }
            TriedResult::Verdict(verdict) if verdict.outcome == Claimed::Undecided => {
                if end != Some(one.place) {
                    lines.push(format!("undecided: {}", id_and_subject(&one.commit)));
                }
            }
            TriedResult::Verdict(_) => {}
        }
    }
    lines.truncate(2 + NAMED);
    lines.push(format!("{}; {}", bisection.built, bisection.kernel));
    lines.push(format!("run: {}", bisection.experiment));
    lines.extend(bisection.left_out.first().map(|first| {
        let more = bisection.left_out.len() - 1;
        match more {
            0 => format!("changed, but not run: {first}"),
            _ => format!("changed, but not run: {first} and {more} more files"),
        }
    }));
    lines
}

fn tail(bisection: &Bisection) -> Vec<String> {
    let [level, joint] = [bisection.level, bisection.joint].map(|one| plain(100.0 * one));
    let mut lines = vec![match bisection.hunted {
        true => format!("Each comparison is decided at {level} %, all of them at {joint} %."),
        false => {
            format!("** established, * supported; intervals of {level} %, {joint} % together.")
        }
    }];
    let mut commands = |what: &str, line: &str| {
        lines.push(what.into());
        lines.extend(command(line));
    };
    if let Some(why) = &bisection.why {
        commands("Where the difference comes from:", why);
    }
    let reproduce = &bisection.reproduce;
    commands(
        &format!(
            "All figures are in {}. To search again:",
            bisection.directory
        ),
        reproduce,
    );
    lines
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;

    fn patch(subject: &str) -> PatchName {
        PatchName {
            commit: "0123456789abcdef".into(),
            subject: subject.into(),
            author: Some("Ann <ann@x.org>".into()),
            date: Some("2026-11-02".into()),
        }
    }

    fn verdict(outcome: Claimed, figures: usize) -> ClaimVerdict {
        let figure = BisectionFigure {
            workload: "sync".into(),
            metric: "busy_time_per_job".into(),
            unit: "ns".into(),
            old: Some(24_100.0),
            new: Some(124_000.0),
            ratio: Some(5.145),
            difference: None,
            interval: Some([5.1, 5.2]),
            verdict: Verdict::Established,
        };
        ClaimVerdict {
            outcome,
            because: "sync: ratio 5.15; established".into(),
            figures: vec![figure; figures],
            outcomes: Vec::new(),
            runs: 10,
            bundle: Some("a.bundle".into()),
            same_as: None,
        }
    }

    fn bisection(answer: BisectionAnswer) -> Bisection {
        let tried = |place: usize, result| TriedCommit {
            commit: patch(&format!("Change {place}")),
            place,
            result,
        };
        let same = ClaimVerdict {
            same_as: Some("4567".into()),
            ..verdict(Claimed::Upheld, 1)
        };
        Bisection {
            schema: BISECTION.into(),
            claim: "new > old + 3% on busy_time_per_job in sync".into(),
            good: patch("linux 6.12"),
            bad: patch("Change 16"),
            commits: 16,
            hunted: false,
            touching: 16,
            answer,
            tried: vec![
                tried(16, TriedResult::Verdict(verdict(Claimed::Upheld, 1))),
                tried(8, TriedResult::Verdict(same)),
                tried(4, TriedResult::NotBuilt("a.c:1:1: error: x".into())),
                tried(3, TriedResult::Verdict(verdict(Claimed::Undecided, 1))),
            ],
            builds: 5,
            runs: 60,
            level: 0.9972,
            joint: 0.975,
            kernel: "debian:6.12 6.12.117-1".into(),
            built: "gpu-sched of drivers/gpu/drm/scheduler".into(),
            left_out: vec!["MAINTAINERS".into()],
            experiment: "drm_sched, briefly, 10 times a side".into(),
            directory: "bisect.bundles".into(),
            why: Some("assize why bisect.bundles/a.bundle old new --workload sync".into()),
            reproduce: "assize bisect good..bad --claim 'new > old + 3% on x'".into(),
        }
    }

    fn convicted(outcome: Claimed) -> Culprit {
        Culprit {
            commit: patch("drm/sched: Wait before each job"),
            place: 11,
            parent: patch("Change 10"),
            verdict: verdict(outcome, 1),
        }
    }

    #[test]
    fn the_commit_comes_first_then_its_figures_then_how_they_came_about() {
        let text = bisection_text(&bisection(BisectionAnswer::Found(convicted(
            Claimed::Upheld,
        ))));
        let expected = "\
0123456789ab drm/sched: Wait before each job
  Ann <ann@x.org>, 2026-11-02
is the one of 16 commits that causes this:
  new > old + 3% on busy_time_per_job in sync
Against its parent 0123456789ab Change 10:
  busy_time_per_job in sync +414.5 % (+410.0..+420.0) **
    from 24.10 to 124.0 us

5 builds: GOOD and 4 commits of the range; 60 runs
3 commits judged, 1 of them without runs (identical files)
not tested: 0123456789ab Change 4: a.c:1:1: error: x
undecided: 0123456789ab Change 3
gpu-sched of drivers/gpu/drm/scheduler; debian:6.12 6.12.117-1
run: drm_sched, briefly, 10 times a side
changed, but not run: MAINTAINERS
** established, * supported; intervals of 99.72 %, 97.5 % together.
Where the difference comes from:
  assize why bisect.bundles/a.bundle old new --workload sync
All figures are in bisect.bundles. To search again:
  assize bisect good..bad --claim 'new > old + 3% on x'
";
        assert_eq!(text, expected);
    }

    #[test]
    fn where_no_commit_is_named_the_first_line_says_so() {
        let some = |n: usize| (0..n).map(|at| patch(&format!("Change {at}"))).collect();
        for (answer, first, inside) in [
            (
                BisectionAnswer::NotThere,
                "The claim does not hold at the end of 16 commits:",
                "established",
            ),
            (
                BisectionAnswer::Undecided,
                "Undecided whether the claim holds at the end of 16 commits:",
                "ratio 5.15",
            ),
            (
                BisectionAnswer::OneOf(some(3)),
                "The cause is one of these 3:",
                "Change 2",
            ),
            (
                BisectionAnswer::OneOf(some(9)),
                "The cause is one of these 9:",
                "Change 8",
            ),
            (
                BisectionAnswer::NotOfOne(convicted(Claimed::Refuted)),
                "No commit is named as the cause. The search ended at the commit",
                "Refuted against its parent:",
            ),
        ] {
            let text = bisection_text(&bisection(answer));
            assert_eq!(text.lines().next(), Some(first), "{text}");
            assert!(text.contains(inside), "{text}");
        }
    }

    #[test]
    fn any_answer_fits_its_lines_and_columns_and_steers_no_terminal() {
        for figures in [0, 1, 9] {
            for place in [1, 40] {
                let mut found = convicted(Claimed::Upheld);
                found.verdict = verdict(Claimed::Undecided, figures);
                found.verdict.because = "word ".repeat(90);
                found.commit.subject = format!("a\u{1b}[2J\nb{}", "é".repeat(100));
                for answer in [
                    BisectionAnswer::Found(found.clone()),
                    BisectionAnswer::NotOfOne(found.clone()),
                    BisectionAnswer::OneOf(vec![found.commit.clone(); place]),
                    BisectionAnswer::NotThere,
                    BisectionAnswer::Undecided,
                ] {
                    let mut all = bisection(answer);
                    all.tried = vec![all.tried[2].clone(); place];
                    all.tried[0].result = TriedResult::Verdict(found.verdict.clone());
                    all.reproduce = format!("assize bisect{}", " --word".repeat(40));
                    let text = bisection_text(&all);
                    assert!(text.lines().count() <= BISECTION_LINES, "{text}");
                    assert!(text.lines().all(|line| line.width() <= WIDTH), "{text}");
                    assert!(!text.contains('\u{1b}'), "{text}");
                    let pasted = text.replace(" \\\n   ", "");
                    assert!(pasted.contains(&all.reproduce), "{text}");
                }
            }
        }
    }

    #[test]
    fn json_holds_what_was_made() {
        let all = bisection(BisectionAnswer::Found(convicted(Claimed::Upheld)));
        let text = bisection_json(&all).unwrap();
        assert_eq!(serde_json::from_str::<Bisection>(&text).unwrap(), all);
    }
}
