//! What each patch of a series does: a reply mail and JSON.

mod effect;

use assize_verdict::{Verdict, without_zeros};
use serde::{Deserialize, Serialize};
use unicode_width::UnicodeWidthStr;

use crate::WIDTH;
use crate::number::signed;
use crate::printable::printable;
use crate::wrap::{cut, push_wrapped_code};

pub use effect::{EffectReading, PatchEffect};

/// The schema of [`SeriesReport`].
pub const SERIES: &str = "assize.try/2";
/// The longest mail, in lines.
pub const LINES: usize = 40;
/// Maximum number of sentences about how runs ended, each at most two lines long.
const ENDED: usize = 2;

/// A series of patches and the effects of each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeriesReport {
    /// Always [`SERIES`].
    pub schema: String,
    /// The subject of the cover letter, or the range of commits.
    pub title: String,
    /// The commit that the series is compared with.
    pub base: PatchName,
    /// The patches, first to last.
    pub patches: Vec<TriedPatch>,
    /// The result of all patches together, if there are several or only these were tried.
    pub whole: Option<PatchOutcome>,
    /// The kernel, with its version.
    pub kernel: String,
    /// What was built, and the kernel directory it was built from.
    pub built: String,
    /// Files that the series changes but the build does not use.
    pub left_out: Vec<String>,
    /// The experiment that was run, and why it was chosen.
    pub experiment: String,
    /// The number of runs per side and workload.
    pub runs: u32,
    /// The number of attempted and of completed runs over all sides, if they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed: Option<[usize; 2]>,
    /// Sentences about runs that ended abnormally; they are reported first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended: Vec<String>,
    /// The level of each interval. The verdicts on all patches hold together at 0.95.
    pub level: f64,
    /// Ratios within 1 ± this count as no difference.
    pub margin: f64,
    /// The bundle with all runs; `null` if no build differs from the base, so that nothing was run.
    pub bundle: Option<String>,
    /// The command that reproduces this result.
    pub reproduce: String,
}

/// A patch, as its author names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchName {
    /// The commit ID; for a posted patch, the ID of the commit that git creates from it.
    pub commit: String,
    /// The first line of its message.
    pub subject: String,
    /// `Name <address>`; `null` for a bare diff.
    pub author: Option<String>,
    /// The date of the patch.
    pub date: Option<String>,
}

/// A patch and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TriedPatch {
    /// The patch.
    pub patch: PatchName,
    /// Its configuration in the bundle; `null` if it was not run.
    pub configuration: Option<String>,
    /// The result against the state before it.
    pub outcome: PatchOutcome,
}

/// The result of trying a patch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatchOutcome {
    /// It was run; its effects against the state before it, workload by workload.
    Effects(Vec<PatchEffect>),
    /// The build is byte for byte identical to the one before it.
    SameBytes,
    /// It does not build; the reason.
    NotBuilt(String),
    /// Not tried: only the last state of the series was tried.
    NotTried,
}

/// Returns the series as JSON.
///
/// # Errors
/// Never, for a [`SeriesReport`] built by this crate.
pub fn series_json(series: &SeriesReport) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(series)? + "\n")
}

/// Returns the mail: at most [`LINES`] lines of [`WIDTH`] columns.
#[must_use]
pub fn series_text(series: &SeriesReport) -> String {
    // The number of rows per patch, and whether the author gets a line; the first choice
    // that fits is used.
    let details = [
        (12, true),
        (6, true),
        (4, true),
        (3, true),
        (2, true),
        (1, true),
        (1, false),
    ];
    let full = details
        .iter()
        .map(|(rows, author)| mail(series, *rows, *author));
    let mut fitting = full.filter(|lines| lines.len() <= LINES);
    let lines = fitting.next().unwrap_or_else(|| short_mail(series));
    cut_lines(lines)
}

/// Joins lines, each printable and cut to the width of a mail.
pub(crate) fn cut_lines(lines: impl IntoIterator<Item = String>) -> String {
    let mut text = String::new();
    for line in lines {
        let line = line.replace(['\n', '\r'], " ");
        text.push_str(cut(&printable(&line), WIDTH).trim_end());
        text.push('\n');
    }
    text
}

/// The mail with at most `rows` effects per patch.
fn mail(series: &SeriesReport, rows: usize, author: bool) -> Vec<String> {
    let mut lines = head(series);
    for (at, tried) in series.patches.iter().enumerate() {
        lines.push(name(series, at, tried));
        if author && let Some(line) = written(&tried.patch) {
            lines.push(format!("    {line}"));
        }
        lines.extend(outcome(series, &tried.outcome, rows));
    }
    if let Some(whole) = &series.whole {
        lines.push(match series.patches.len() {
            1 => "The patch:".into(),
            n => format!("All {n} together:"),
        });
        lines.extend(outcome(series, whole, rows));
    }
    lines.extend(tail(series));
    lines
}

/// The mail with one line per patch, for as many patches as fit.
fn short_mail(series: &SeriesReport) -> Vec<String> {
    let (mut lines, tail) = (head(series), tail(series));
    let whole = series
        .whole
        .as_ref()
        .map(|all| format!("all: {}", in_short(all)));
    let room = LINES.saturating_sub(lines.len() + tail.len() + 2);
    for (at, tried) in series.patches.iter().enumerate().take(room) {
        let what = in_short(&tried.outcome);
        lines.push(format!("{:>3} {what}: {}", at + 1, tried.patch.subject));
    }
    if series.patches.len() > room {
        let more = series.patches.len() - room;
        lines.push(format!("    and {more} more: --format json names them all"));
    }
    lines.extend(whole);
    lines.extend(tail);
    lines
}

fn in_short(outcome: &PatchOutcome) -> String {
    match outcome {
        PatchOutcome::Effects(all) => count_effects(all),
        PatchOutcome::SameBytes => "same bytes".into(),
        PatchOutcome::NotBuilt(_) => "does not build".into(),
        PatchOutcome::NotTried => "not tried alone".into(),
    }
}

fn count_effects(all: &[PatchEffect]) -> String {
    let count = |reading| all.iter().filter(|one| one.reading == reading).count();
    let kinds = [
        EffectReading::Worse,
        EffectReading::Better,
        EffectReading::Undecided,
    ];
    let said: Vec<String> = kinds
        .into_iter()
        .filter(|reading| count(*reading) > 0)
        .map(|reading| format!("{} {}", count(reading), reading.words()))
        .collect();
    match said.is_empty() {
        true => "no difference".into(),
        false => said.join(", "),
    }
}

fn head(series: &SeriesReport) -> Vec<String> {
    let n = series.patches.len();
    let patches = if n == 1 { "patch" } else { "patches" };
    let mut lines = Vec::new();
    for said in series.ended.iter().take(ENDED) {
        let options = textwrap::Options::new(WIDTH).subsequent_indent("  ");
        let said = printable(said).replace('\n', " ");
        let wrapped = textwrap::wrap(&said, options).into_iter().take(ENDED + 1);
        lines.extend(wrapped.map(|line| cut(&line, WIDTH)));
    }
    lines.extend([
        format!("{}: {n} {patches}", series.title),
        format!("  {}", series.built),
        format!("  kernel: {}", series.kernel),
        format!("  base: {}", id_and_subject(&series.base)),
        match series.bundle {
            Some(_) => format!("  run: {}, {} times a side", series.experiment, series.runs),
            None => "  run: nothing, since all builds are identical".into(),
        },
    ]);
    let completed = series.completed;
    lines.extend(
        completed
            .map(|[done, of]| format!("  figures: from the {done} of {of} runs that completed")),
    );
    if let Some(first) = series.left_out.first() {
        lines.push(match series.left_out.len() {
            1 => format!("  changed, but not run: {first}"),
            n => format!("  changed, but not run: {first} and {} more files", n - 1),
        });
    }
    lines.push(String::new());
    lines
}

fn tail(series: &SeriesReport) -> Vec<String> {
    let level = plain(100.0 * series.level);
    let mut lines = vec![String::new()];
    if let Some(bundle) = &series.bundle {
        lines.extend([
            "** established, * supported".into(),
            format!("Each interval is at {level} %; all verdicts together hold at 95 %."),
            "All figures:".into(),
        ]);
        lines.extend(command(&format!("assize report {bundle}")));
    }
    lines.extend(command(&series.reproduce));
    lines
}

/// A command, wrapped with backslashes so that it can be pasted.
pub(crate) fn command(line: &str) -> Vec<String> {
    let mut text = String::new();
    push_wrapped_code(&mut text, line);
    text.lines().map(str::to_owned).collect()
}

fn name(series: &SeriesReport, at: usize, tried: &TriedPatch) -> String {
    let (n, of) = (at + 1, series.patches.len());
    match of {
        1 => id_and_subject(&tried.patch),
        _ => format!("{n}/{of} {}", id_and_subject(&tried.patch)),
    }
}

/// The abbreviated commit ID and the subject.
pub(crate) fn id_and_subject(patch: &PatchName) -> String {
    let id: String = patch.commit.chars().take(12).collect();
    format!("{id} {}", patch.subject).trim().to_owned()
}

pub(crate) fn written(patch: &PatchName) -> Option<String> {
    let author = patch.author.as_ref()?;
    Some(match &patch.date {
        Some(date) => format!("{author}, {date}"),
        None => author.clone(),
    })
}

fn outcome(series: &SeriesReport, outcome: &PatchOutcome, rows: usize) -> Vec<String> {
    match outcome {
        PatchOutcome::Effects(all) => effects(series, all, rows),
        PatchOutcome::SameBytes => {
            vec!["    no difference: the builds are identical".into()]
        }
        PatchOutcome::NotBuilt(why) => vec![format!("    does not build, left out: {why}")],
        PatchOutcome::NotTried => Vec::new(),
    }
}

/// The lines of the effects, most important first; what does not fit is counted.
fn effects(series: &SeriesReport, all: &[PatchEffect], rows: usize) -> Vec<String> {
    let mut telling: Vec<&PatchEffect> = all
        .iter()
        .filter(|one| one.reading != EffectReading::NoDifference)
        .collect();
    telling.sort_by(|a, b| {
        let by_size = || size(b).total_cmp(&size(a));
        let ended = b.said.is_some().cmp(&a.said.is_some());
        ended.then(a.reading.cmp(&b.reading)).then_with(by_size)
    });
    let margin = plain(100.0 * series.margin);
    let same = all.len() - telling.len();
    if telling.is_empty() {
        let where_none = match all.len() {
            1 => "the only comparison".to_owned(),
            n => format!("any of {n} comparisons"),
        };
        return vec![format!(
            "    no difference larger than {margin} % in {where_none}"
        )];
    }
    let shown = match telling.len() <= rows {
        true => telling.len(),
        false => rows.saturating_sub(1),
    };
    let mut lines: Vec<String> = telling.iter().take(shown).map(|one| row(one)).collect();
    if shown < telling.len() {
        let rest: Vec<PatchEffect> = telling
            .iter()
            .skip(shown)
            .map(|one| (*one).clone())
            .collect();
        let more = if shown == 0 { "" } else { "more: " };
        lines.push(format!("    {more}{}", count_effects(&rest)));
    }
    if same > 0
        && let Some(last) = lines.last_mut()
        && rows <= 1
    {
        last.push_str(&format!("; {same} no difference"));
    } else if same > 0 {
        let others = match same {
            1 => "the other comparison".to_owned(),
            _ => format!("the other {same} comparisons"),
        };
        lines.push(format!(
            "    no difference larger than {margin} % in {others}"
        ));
    }
    lines
}

/// The distance of an effect from no effect.
fn size(effect: &PatchEffect) -> f64 {
    match (effect.ratio, effect.difference) {
        (Some(ratio), _) if ratio > 0.0 => ratio.ln().abs(),
        (_, Some(difference)) => difference.abs(),
        _ => 0.0,
    }
}

/// The line for an effect; percentages are rounded to integers if its mark would not fit.
fn row(effect: &PatchEffect) -> String {
    let full = row_in(effect, percent);
    match full.width() <= WIDTH {
        true => full,
        false => row_in(effect, |value| format!("{value:+.0}")),
    }
}

fn row_in(effect: &PatchEffect, percent: impl Fn(f64) -> String) -> String {
    let mark = mark(effect.verdict);
    let share = |ratio: f64| 100.0 * (ratio - 1.0);
    if let Some(said) = &effect.said {
        let text = format!("    {}: {}: {said}", effect.word(), effect.metric);
        return cut(&text, WIDTH - mark.width()) + mark;
    }
    let figures = match (effect.ratio, effect.difference, effect.interval) {
        (Some(ratio), _, Some([low, high])) => {
            let [at, low, high] = [ratio, low, high].map(|value| percent(share(value)));
            format!("{at} % ({low}..{high})")
        }
        (None, Some(difference), Some([low, high])) => {
            let [at, low, high] = [difference, low, high].map(signed);
            format!("{at} {} ({low}..{high})", effect.unit)
        }
        _ => "no interval".into(),
    };
    format!(
        "    {}: {} in {} {figures}{mark}",
        effect.word(),
        effect.metric,
        effect.workload,
    )
}

/// The mark for how certain an effect is, appended to its line.
pub(crate) fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Established => " **",
        Verdict::Supported => " *",
        Verdict::Equivalent | Verdict::Undecided => "",
    }
}

/// Formats a change in per cent: two decimals below 1, one below 1000, none above.
pub(crate) fn percent(value: f64) -> String {
    match value.abs() {
        small if small < 1.0 => format!("{value:+.2}"),
        middle if middle < 1000.0 => format!("{value:+.1}"),
        _ => format!("{value:+.0}"),
    }
}

/// Formats a percentage without trailing zeros.
pub(crate) fn plain(value: f64) -> String {
    without_zeros(&format!("{value:.2}")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(subject: &str) -> PatchName {
        PatchName {
            commit: "0123456789abcdef".into(),
            subject: subject.into(),
            author: Some("Ann <ann@x.org>".into()),
            date: Some("2026-11-02".into()),
        }
    }

    fn effect(workload: &str, reading: EffectReading, ratio: f64) -> PatchEffect {
        PatchEffect {
            workload: workload.into(),
            metric: "busy_time_per_job".into(),
            unit: "ns".into(),
            reading,
            verdict: Verdict::Established,
            ratio: Some(ratio),
            difference: None,
            interval: Some([ratio - 0.01, ratio + 0.01]),
            said: None,
            fails: None,
        }
    }

    fn series(outcomes: Vec<PatchOutcome>) -> SeriesReport {
        let tried = |(at, outcome): (usize, PatchOutcome)| TriedPatch {
            patch: patch(&format!("drm/sched: Change {}", at + 1)),
            configuration: Some(format!("p{}", at + 1)),
            outcome,
        };
        SeriesReport {
            schema: SERIES.into(),
            title: "drm/sched: Changes".into(),
            base: patch("linux 6.12"),
            patches: outcomes.into_iter().enumerate().map(tried).collect(),
            whole: None,
            kernel: "debian:6.12 6.12.117-1".into(),
            built: "gpu-sched of drivers/gpu/drm/scheduler".into(),
            left_out: Vec::new(),
            experiment: "drm-scheduler".into(),
            runs: 10,
            completed: None,
            ended: Vec::new(),
            level: 0.9875,
            margin: 0.01,
            bundle: Some("try.bundle".into()),
            reproduce: "assize try --patch s.mbox".into(),
        }
    }

    #[test]
    fn a_mail_begins_with_how_runs_ended() {
        let crashes = PatchEffect {
            metric: "crashes".into(),
            ratio: None,
            interval: None,
            said: Some("0 of 32 -> 7 of 32 runs".into()),
            ..effect("", EffectReading::Worse, 1.0)
        };
        let slower = effect("sync", EffectReading::Worse, 1.5);
        let mut all = series(vec![PatchOutcome::Effects(vec![slower, crashes])]);
        all.completed = Some([57, 64]);
        all.ended = vec![
            "Crashes with p1: worse: 0 of 32 -> 7 of 32 runs (kernel BUG in \
             drm_sched_run_job_work+0x1f4 [gpu_sched]), established"
                .into(),
        ];
        let text = series_text(&all);
        assert!(
            text.starts_with("Crashes with p1: worse: 0 of 32 -> 7 of 32 runs"),
            "{text}"
        );
        assert!(
            text.contains("figures: from the 57 of 64 runs that completed"),
            "{text}"
        );
        let crashes = text.find("    worse: crashes: 0 of 32 -> 7 of 32 runs **");
        let slower = text.find("    worse: busy_time_per_job in sync");
        assert!(crashes.is_some() && crashes < slower, "{text}");
        assert!(text.lines().all(|line| line.width() <= WIDTH), "{text}");
    }

    #[test]
    fn a_long_line_keeps_its_mark() {
        let mut long = effect("stream-nice19", EffectReading::Worse, 9.861);
        long.metric = "submit_to_run_ns_max".into();
        long.interval = Some([1.653, 35.43]);
        let text = series_text(&series(vec![PatchOutcome::Effects(vec![long])]));
        let line = "    worse: submit_to_run_ns_max in stream-nice19 +886 % (+65..+3443) **";
        assert!(text.lines().any(|one| one == line), "{text}");
    }

    #[test]
    fn each_patch_says_what_it_does_the_worst_first() {
        let text = series_text(&series(vec![
            PatchOutcome::Effects(vec![effect("sync", EffectReading::NoDifference, 1.001)]),
            PatchOutcome::Effects(vec![
                effect("frames", EffectReading::Better, 0.9),
                effect("sync", EffectReading::Worse, 1.5),
                effect("window", EffectReading::NoDifference, 1.0),
            ]),
            PatchOutcome::NotBuilt("a.c:1:1: error: x".into()),
            PatchOutcome::SameBytes,
        ]));
        let expected = [
            "1/4 0123456789ab drm/sched: Change 1",
            "    Ann <ann@x.org>, 2026-11-02",
            "    no difference larger than 1 % in the only comparison",
            "2/4 0123456789ab drm/sched: Change 2",
            "    Ann <ann@x.org>, 2026-11-02",
            "    worse: busy_time_per_job in sync +50.0 % (+49.0..+51.0) **",
            "    better: busy_time_per_job in frames -10.0 % (-11.0..-9.0) **",
            "    no difference larger than 1 % in the other comparison",
            "3/4 0123456789ab drm/sched: Change 3",
            "    Ann <ann@x.org>, 2026-11-02",
            "    does not build, left out: a.c:1:1: error: x",
            "4/4 0123456789ab drm/sched: Change 4",
            "    Ann <ann@x.org>, 2026-11-02",
            "    no difference: the builds are identical",
        ];
        assert!(text.contains(&expected.join("\n")), "{text}");
    }

    #[test]
    fn a_series_that_ends_where_it_began_does_nothing() {
        let there = effect("sync", EffectReading::Worse, 1.5);
        let back = effect("sync", EffectReading::Better, 0.667);
        let mut all = series(vec![
            PatchOutcome::Effects(vec![there]),
            PatchOutcome::Effects(vec![back]),
        ]);
        all.whole = Some(PatchOutcome::SameBytes);
        let same = "All 2 together:\n    no difference: the builds are identical\n";
        let text = series_text(&all);
        assert!(text.contains(same), "{text}");
        // "Nothing was compared" must not read as "nothing differs".
        all.whole = Some(PatchOutcome::Effects(Vec::new()));
        let text = series_text(&all);
        assert!(text.contains("in any of 0 comparisons"), "{text}");
    }

    #[test]
    fn a_mail_of_any_number_of_patches_fits_its_lines_and_columns() {
        for count in 1..60 {
            for rows in [0, 1, 12] {
                let worse = |_| {
                    effect(
                        "a workload with a long name",
                        EffectReading::Worse,
                        12345.678,
                    )
                };
                let effects: Vec<PatchEffect> = (0..rows).map(worse).collect();
                let mut all = series(vec![PatchOutcome::Effects(effects.clone()); count]);
                all.whole = Some(PatchOutcome::Effects(effects));
                all.title = "é".repeat(100);
                let text = series_text(&all);
                assert!(text.lines().count() <= LINES, "{count} {rows}\n{text}");
                assert!(text.lines().all(|line| line.width() <= WIDTH), "{text}");
                assert!(text.contains("assize report try.bundle"), "{text}");
            }
        }
    }

    #[test]
    fn a_series_of_identical_builds_was_not_run() {
        let mut all = series(vec![PatchOutcome::SameBytes]);
        (all.bundle, all.runs) = (None, 0);
        let text = series_text(&all);
        assert!(text.contains("  run: nothing, since all builds are identical\n"));
        assert!(text.contains("    no difference: the builds are identical\n"));
        assert!(!text.contains("assize report"), "{text}");
    }

    #[test]
    fn what_an_author_wrote_cannot_steer_a_terminal() {
        let mut all = series(vec![PatchOutcome::SameBytes]);
        all.patches[0].patch.subject = "a\u{1b}[2Jb\nworse: c".into();
        let text = series_text(&all);
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(
            !text.lines().any(|line| line.starts_with("worse")),
            "{text}"
        );
    }

    #[test]
    fn a_command_can_be_pasted_from_the_mail() {
        let mut all = series(vec![PatchOutcome::SameBytes]);
        all.reproduce = (0..40).fold("assize try".into(), |line, n| match n % 3 {
            0 => format!("{line} 'word {n}'\\''s end'"),
            _ => format!("{line} --word{n}"),
        });
        let text = series_text(&all);
        let pasted = text.replace(" \\\n   ", "");
        assert!(pasted.contains(&all.reproduce), "{text}");
        assert!(text.lines().all(|line| line.width() <= WIDTH), "{text}");
    }

    #[test]
    fn json_holds_what_was_made() {
        let all = series(vec![PatchOutcome::Effects(vec![effect(
            "a",
            EffectReading::Better,
            0.5,
        )])]);
        let text = series_json(&all).unwrap();
        assert_eq!(serde_json::from_str::<SeriesReport>(&text).unwrap(), all);
    }
}
