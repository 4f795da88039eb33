//! The event rates that an experiment can establish, as far as its exposure limits them; printed
//! before anything is run.

use assize_job::{GapsSettings, TracerKind, TracerMode, TracerSettings, instrument_of};
use assize_judge::garwood;
use assize_plan::{Plan, PlannedConfiguration};
use assize_verdict::{PRIMARY_SHARE, count_of};

use crate::cli::ALPHA;
use crate::reach::two_digits;
use crate::run::declared;
use crate::terms::JudgingTerms;

/// The confidence level of rate bounds, as in reports.
const LEVEL: f64 = 0.95;
/// Maximum number of events considered in the search for how many a verdict needs.
const MOST: u64 = 1000;
const HOUR_S: f64 = 3600.0;

/// The exposure of an event in one run.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ExposureSource {
    /// Share of the workload's duration that counts, on one CPU.
    share: f64,
    /// CPUs watched at once; `None` if the target decides their number.
    cpus: Option<usize>,
    /// Exposure in ns of events that are counted before the workload, not during it.
    besides_ns: Option<u64>,
}

/// The exposure of the configuration with the least.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Exposure {
    runs: usize,
    /// Seconds watched in one run, summed over all CPUs if their number is known; `None` if a run
    /// lasts as long as its work.
    run_s: Option<f64>,
    /// Whether `run_s` is per watched CPU.
    each_cpu: bool,
}

/// Lines with the lowest bounds for the claimed rates; empty if no rate is claimed.
pub(crate) fn described(plan: &Plan) -> String {
    let mut text = String::new();
    for (event, workload) in declared::rates(plan) {
        if let Some(exposure) = planned(plan, &event, workload) {
            let on = &plan.workloads[workload].name;
            text += &lines(&event, on, exposure, level(plan, &event));
        }
    }
    text
}

/// The significance level for tests of this event: alpha, or its family's share of it.
fn level(plan: &Plan, event: &str) -> f64 {
    let alpha = JudgingTerms::planned(plan).alpha(ALPHA);
    match plan.primary.iter().any(|one| one.metric == event) {
        _ if plan.primary.is_empty() => alpha,
        true => PRIMARY_SHARE * alpha,
        false => (1.0 - PRIMARY_SHARE) * alpha,
    }
}

fn planned(plan: &Plan, event: &str, workload: usize) -> Option<Exposure> {
    let all = plan.configurations.iter().enumerate();
    let compared = all.filter(|(_, configuration)| !configuration.aa);
    let exposures = compared.map(|(at, configuration)| {
        let runs = plan.runs.iter();
        let runs = runs.filter(|run| run.configuration == at && run.workload == workload);
        let watched = watched(plan, configuration, event);
        let lasts = configuration.workloads[workload].kind.duration_ns();
        let lasts = watched.besides_ns.or(lasts).map(|ns| ns as f64 / 1e9);
        Exposure {
            runs: runs.count(),
            run_s: lasts.map(|s| s * watched.share * watched.cpus.unwrap_or(1) as f64),
            each_cpu: watched.cpus.is_none(),
        }
    });
    exposures.min_by(|a, b| a.total_s().total_cmp(&b.total_s()))
}

/// The exposure of an event in one run of a configuration.
fn watched(plan: &Plan, configuration: &PlannedConfiguration, event: &str) -> ExposureSource {
    let online = assize_plan::is_virtual(&plan.target)
        .then(|| (0..configuration.machine.cpus).collect::<Vec<u32>>());
    let chosen = |named: &[u32], of: &dyn Fn(&[u32]) -> Vec<u32>| match (named, &online) {
        ([], None) => None,
        ([], Some(online)) => Some(of(online).len()),
        (named, _) => Some(named.len()),
    };
    let whole = ExposureSource {
        share: 1.0,
        cpus: Some(1),
        besides_ns: None,
    };
    let instrument = instrument_of(event).unwrap_or_default();
    if let (Some(gaps), "gaps") = (&plan.gaps, instrument) {
        return of_gaps(
            gaps,
            event,
            chosen(&gaps.cpus, &|all| gaps.cpus_to_watch(all)),
        );
    }
    match (&plan.tracer, TracerKind::from_name(instrument)) {
        (Some(tracer), Some(kind)) => of_tracer(
            tracer,
            kind,
            chosen(&tracer.cpus, &|all| tracer.cpus_to_watch(all)),
        ),
        _ => whole,
    }
}

fn of_gaps(gaps: &GapsSettings, event: &str, cpus: Option<usize>) -> ExposureSource {
    let at_rest = event == "gaps_unexplained_at_rest";
    ExposureSource {
        share: match at_rest {
            true => 1.0,
            false => part(gaps.width_ns, gaps.window_ns),
        },
        cpus,
        besides_ns: at_rest.then_some(gaps.baseline_ns),
    }
}

fn of_tracer(tracer: &TracerSettings, kind: TracerKind, cpus: Option<usize>) -> ExposureSource {
    let in_turn = kind == TracerKind::Hwlat && tracer.mode != TracerMode::PerCpu;
    ExposureSource {
        share: match kind {
            TracerKind::Timerlat => 1.0,
            TracerKind::Hwlat | TracerKind::Osnoise => part(tracer.width_ns, tracer.window_ns),
        },
        cpus: if in_turn { Some(1) } else { cpus },
        besides_ns: None,
    }
}

fn part(width_ns: u64, window_ns: u64) -> f64 {
    (width_ns as f64 / window_ns.max(1) as f64).min(1.0)
}

impl Exposure {
    fn total_s(&self) -> f64 {
        self.run_s.unwrap_or(0.0) * self.runs as f64
    }
}

fn lines(event: &str, workload: &str, exposure: Exposure, level: f64) -> String {
    let (runs, total) = (exposure.runs, exposure.total_s());
    let counted = count_of(runs, "run");
    let head = format!("{event} on {workload}: {counted} of each configuration");
    let Some(run_s) = exposure.run_s else {
        return format!(
            "{head} that last as long as their work does; with no event in a time T, the 95 % \
             upper bound of the rate is {}/T\n",
            two_digits(without_event(1.0))
        );
    };
    let Ok(bound) = garwood(0, total, LEVEL) else {
        return format!("{head} with no exposure\n");
    };
    let each = match exposure.each_cpu {
        true => " for each CPU that is watched",
        false => "",
    };
    let mut text = format!(
        "{head}, at most {} of exposure each, {} in total{each}; with no event in the total, the \
         95 % upper bound of the rate is 1 in {} s\n",
        time(run_s),
        time(total),
        two_digits(rounded_down(1.0 / bound.high))
    );
    let takes = |name: &str, period_s: f64| {
        let wanted = without_event(period_s);
        // The tolerance keeps the division's rounding error from adding a run.
        let runs = (wanted / run_s - 1e-9).ceil();
        format!(
            "a bound below 1 in {name} takes {} without an event, --runs {runs}",
            time(wanted)
        )
    };
    text += &format!(
        "  {}; {}\n",
        takes("1 h", HOUR_S),
        takes("24 h", 24.0 * HOUR_S)
    );
    if let Some((events, p)) = told_from_none(level) {
        text += &match (runs as u64) < events {
            true => format!(
                "  if one configuration has no event, {counted} cannot establish a \
                 difference; {events} runs could\n"
            ),
            false => format!(
                "  to establish a difference, at least {events} runs of one configuration must \
                 have an event if no run of the other has one (smallest p {}, if nothing else is \
                 tested)\n",
                two_digits(p)
            ),
        };
    }
    text
}

/// The exposure, in seconds, in which zero events bound the rate below one per period.
fn without_event(period_s: f64) -> f64 {
    garwood(0, 1.0, LEVEL).map_or(f64::INFINITY, |of| of.high * period_s)
}

/// The smallest n for which n runs with an event differ, at this level, from n runs without one,
/// and the p of that. Labels are exchanged within blocks: of the 2^n relabellings, two put all
/// events on one side.
fn told_from_none(level: f64) -> Option<(u64, f64)> {
    let p = |runs: u64| 2.0 * 0.5f64.powi(i32::try_from(runs).unwrap_or(i32::MAX));
    let least = (1..MOST).find(|runs| p(*runs) <= level)?;
    Some((least, p(least)))
}

/// Rounds down to two digits, so that a bound is never overstated.
fn rounded_down(value: f64) -> f64 {
    let unit = 10f64.powf(value.log10().floor() - 1.0);
    ((value / unit) + 1e-9).floor() * unit
}

/// Formats a time in the largest unit in which it is at least 2.
fn time(s: f64) -> String {
    let units = [("h", HOUR_S), ("min", 60.0), ("s", 1.0)];
    let of = units.into_iter().find(|(_, length)| s >= 2.0 * length);
    let (unit, length) = of.unwrap_or(("ms", 1e-3));
    format!("{} {unit}", two_digits(s / length))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A claim that the rates of two configurations differ.
    fn described_claim(top: &str, event: &str, workload: &str) -> String {
        let text = format!(
            "title = 't'\nclaims = ['a > base on {event}']\n{top}\n\
             [factors.a.off]\n[factors.a.on]\nsetup = [{{ write = '/tmp/x', value = '1' }}]\n{workload}\n"
        );
        let experiment = assize_plan::parse(&text, "test.toml").unwrap();
        described(&experiment.plan(&assize_plan::Overrides::default()).unwrap())
    }

    const STREAM: &str = "[workloads.w]\nkind = 'frames-stream'\nduration = '30s'";
    const GAPS: &str = "cpus = 4\nruns = 10\ninstruments = ['gaps']";

    #[test]
    fn zero_events_bound_a_rate_by_three_over_the_exposure() {
        let told = described_claim(
            &format!("{GAPS}\ngaps = {{ cpus = [1] }}"),
            "gaps_unexplained",
            STREAM,
        );
        assert_eq!(
            told,
            "gaps_unexplained on w: 10 runs of each configuration, at most 30 s of exposure each, \
             5 min in total; with no event in the total, the 95 % upper bound of the rate is 1 in \
             100 s\n  \
             a bound below 1 in 1 h takes 3 h without an event, --runs 360; a bound below 1 in 24 \
             h takes 72 h without an event, --runs 8628\n  \
             to establish a difference, at least 6 runs of one configuration must have an event if \
             no run of the other has one (smallest p 0.031, if nothing else is tested)\n"
        );
        let few = GAPS.replace("runs = 10", "runs = 3");
        let told = described_claim(
            &format!("{few}\ngaps = {{ cpus = [1] }}"),
            "gaps_unexplained",
            STREAM,
        );
        let last = told.lines().last().unwrap();
        assert!(
            last.contains("3 runs cannot establish a difference"),
            "{last}"
        );
        assert!(last.ends_with("; 6 runs could"), "{last}");
    }

    #[test]
    fn a_bound_is_not_better_than_it_is() {
        for (value, shown) in [(10.5, "10"), (10.9, "10"), (99.99, "99"), (100.0, "100")] {
            assert_eq!(two_digits(rounded_down(value)), shown);
        }
    }

    #[test]
    fn only_what_is_watched_is_exposure() {
        let exposed = |top: &str, event: &str| -> String {
            let told = described_claim(top, event, STREAM);
            let behind = told.split("each configuration, ").nth(1).unwrap_or(&told);
            behind.split(';').next().unwrap().to_owned()
        };
        let gaps = |more: &str| format!("{GAPS}\ngaps = {{ {more} }}");
        // The gaps poll on three of four CPUs by default; here for a tenth of the time.
        let all = exposed(&gaps("width = '100ms'"), "gaps");
        assert_eq!(all, "at most 9 s of exposure each, 90 s in total");
        let two = exposed(&gaps("cpus = [1, 2], width = '100ms'"), "gaps");
        assert_eq!(two, "at most 6 s of exposure each, 60 s in total");
        // `baseline` is watched before the workload, so only that time counts.
        let rest = exposed(
            &gaps("cpus = [1], baseline = '3s'"),
            "gaps_unexplained_at_rest",
        );
        assert_eq!(rest, "at most 3 s of exposure each, 30 s in total");
        // The number of CPUs of a host is unknown.
        let host = GAPS.replace("cpus = 4", "target = 'host'\nkernel = 'running'");
        let host = exposed(&host, "gaps");
        assert_eq!(
            host,
            "at most 30 s of exposure each, 5 min in total for each CPU that is watched"
        );
        // hwlat polls on one CPU at a time by default.
        let hwlat = |mode: &str| {
            let top = "cpus = 4\nruns = 10\ninstruments = ['hwlat']\n\
                       tracer = { width = '500ms', window = '1s', mode = 'MODE' }";
            exposed(&top.replace("MODE", mode), "hwlat")
        };
        assert_eq!(
            hwlat("round-robin"),
            "at most 15 s of exposure each, 2.5 min in total"
        );
        assert_eq!(
            hwlat("per-cpu"),
            "at most 45 s of exposure each, 7.5 min in total"
        );
        // A workload counts events all the time.
        let late = described_claim(
            "cpus = 4\nruns = 2",
            "frames_late",
            &format!("{STREAM}\nperiod = '20ms'"),
        );
        assert!(
            late.contains("at most 30 s of exposure each, 60 s in total;"),
            "{late}"
        );
    }

    #[test]
    fn beside_primary_metrics_a_rate_takes_more_events() {
        let primary = |metric: &str| {
            let top = format!(
                "{GAPS}\nprimary = [{{ metric = '{metric}', better = 'lower' }}]\n\
                 gaps = {{ cpus = [1] }}"
            );
            let told = described_claim(&top, "gaps_unexplained", STREAM);
            let behind = told.split("at least ").nth(1).unwrap();
            behind.split(' ').next().unwrap().to_owned()
        };
        // 2/2^8 = 0.0078 is within the remaining 0.01.
        assert_eq!(primary("frame_time_mean"), "8");
    }

    #[test]
    fn what_is_no_rate_or_lasts_as_long_as_its_work_has_no_exposure_that_is_known() {
        assert_eq!(described_claim(GAPS, "frame_time_mean", STREAM), "");
        let command = "[workloads.w]\nkind = 'command'\nargv = ['true']";
        let told = described_claim(GAPS, "gaps", command);
        assert!(
            told.contains("as long as their work does; with no event in a time T")
                && told.contains("3/T"),
            "{told}"
        );
    }
}
