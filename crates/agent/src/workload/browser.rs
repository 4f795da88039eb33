//! Loads pages with a main thread and workers while a compositor draws.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};

use assize_job::{AgentMessage, Browser};

use super::blanks::{Blanks, frames_missed};
use super::prepared::{Prepared, WorkloadContext, prepare_staged};
use super::series::TimedSeries;
use super::threads::{join, spawn, work};
use crate::process::Staged;
use crate::records::metric;
use crate::seed::Stream;
use crate::sys;

/// Delay before the first page, for all threads to start.
const LEAD_NS: u64 = 5_000_000;
const NS_PER_S: u64 = 1_000_000_000;
/// Number of missed vertical blanks to reserve memory for.
const MISSED: usize = 4096;

pub(super) fn prepare(browser: &Browser, context: &WorkloadContext<'_>) -> Prepared {
    let streams = Streams {
        seed: context.job.seed,
        label: context.label.into(),
    };
    let loading = PageLoading {
        browser: browser.clone(),
        streams,
        pages: (!context.background).then_some(browser.pages),
        samples: context.job.samples,
        start: 0,
        rendered: TimedSeries::default(),
        drawn: None,
    };
    prepare_staged(browser.scheduling.clone(), loading)
}

/// Creates the streams of random numbers.
#[derive(Debug, Clone)]
struct Streams {
    seed: u64,
    label: String,
}

impl Streams {
    fn stream(&self, what: &str) -> Stream {
        Stream::new(self.seed, &format!("{}.{what}", self.label))
    }
}

/// The pages to load, and the results.
struct PageLoading {
    browser: Browser,
    streams: Streams,
    /// `None`: until the process is killed.
    pages: Option<u32>,
    samples: bool,
    start: u64,
    rendered: TimedSeries,
    drawn: Option<CompositorResult>,
}

/// The results of the compositor.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct CompositorResult {
    frames: u64,
    /// The vertical blanks at which no frame was finished.
    missed: Vec<u64>,
    /// Time from the first vertical blank to the end, in nanoseconds.
    duration_ns: u64,
}

/// Barriers at which the main thread and the workers meet in each step.
#[derive(Debug)]
struct StepBarriers {
    /// Start of a step.
    begin: Barrier,
    /// End of a step.
    end: Barrier,
    /// Set when there are no more steps.
    over: AtomicBool,
}

impl StepBarriers {
    fn for_workers(workers: u32) -> StepBarriers {
        let all = usize::try_from(workers).unwrap_or(0) + 1;
        StepBarriers {
            begin: Barrier::new(all),
            end: Barrier::new(all),
            over: AtomicBool::new(false),
        }
    }
}

impl Staged for PageLoading {
    fn set_up(&mut self) -> Result<(), String> {
        self.rendered = TimedSeries::with_room(u64::from(self.pages.unwrap_or(0)));
        Ok(())
    }

    fn run(&mut self) -> Result<(), String> {
        self.start = sys::now();
        let begin = self.start + LEAD_NS;
        let meeting = Arc::new(StepBarriers::for_workers(self.browser.workers));
        let mut workers = Vec::new();
        for number in 0..self.browser.workers {
            let mut extra = self.streams.stream(&format!("worker.{number}"));
            let (browser, meeting) = (self.browser.clone(), meeting.clone());
            workers.push(spawn("worker", move || {
                work_steps(&browser, &meeting, &mut extra);
            })?);
        }
        let over = Arc::new(AtomicBool::new(false));
        let compositor = self.compositor(begin, over.clone())?;
        let page = {
            let (browser, pages) = (self.browser.clone(), self.pages);
            let think = self.streams.stream("think");
            let rendered = std::mem::take(&mut self.rendered);
            spawn("page", move || {
                load(&browser, pages, begin, think, &meeting, rendered)
            })?
        };
        let rendered = join(vec![page])?.pop();
        over.store(true, Ordering::Relaxed);
        self.rendered = rendered.unwrap_or_default();
        join(workers)?;
        self.drawn = join(compositor.into_iter().collect())?.pop();
        Ok(())
    }

    fn records(&mut self) -> Result<Vec<AgentMessage>, String> {
        let rendered = std::mem::take(&mut self.rendered);
        let mut records = vec![metric("render_time_mean", rendered.mean(), "ns")];
        records.extend(rendered.records("render_time", "ns", self.start, self.samples));
        if let Some(drawn) = &self.drawn {
            records.push(metric("frames", drawn.frames as f64, ""));
            records.push(frames_missed(&drawn.missed, drawn.duration_ns, self.start));
        }
        Ok(records)
    }
}

impl PageLoading {
    /// Starts the thread that draws frames until `over`. Does nothing if the rate is 0.
    fn compositor(
        &self,
        begin: u64,
        over: Arc<AtomicBool>,
    ) -> Result<Option<std::thread::JoinHandle<CompositorResult>>, String> {
        if self.browser.rate == 0 {
            return Ok(None);
        }
        let period_ns = NS_PER_S / u64::from(self.browser.rate);
        let blanks = Blanks {
            first: begin + self.streams.stream("phase").below(period_ns),
            period_ns,
            end: u64::MAX,
        };
        let frame_ns = self.browser.frame_ns;
        let thread = spawn("compositor", move || compose(blanks, frame_ns, &over))?;
        Ok(Some(thread))
    }
}

/// Loop of each worker.
fn work_steps(browser: &Browser, meeting: &StepBarriers, extra: &mut Stream) {
    loop {
        meeting.begin.wait();
        if meeting.over.load(Ordering::Relaxed) {
            return;
        }
        work(browser.work_ns + extra.below(browser.spread_ns));
        meeting.end.wait();
    }
}

/// Loop of the main thread. Returns how long each page took from its request to the end
/// of all work on it.
fn load(
    browser: &Browser,
    pages: Option<u32>,
    begin: u64,
    mut think: Stream,
    meeting: &StepBarriers,
    mut rendered: TimedSeries,
) -> TimedSeries {
    sys::no_timer_slack();
    let mut asked = begin + think.below(browser.think_spread_ns);
    let mut page = 0;
    while pages.is_none_or(|pages| page < pages) {
        sys::sleep_until(asked);
        for _ in 0..browser.steps {
            work(browser.main_ns);
            meeting.begin.wait();
            meeting.end.wait();
        }
        work(browser.main_ns);
        let done = sys::now();
        if pages.is_some() {
            rendered.push(done, done - asked);
            page += 1;
        }
        asked = done + browser.think_ns + think.below(browser.think_spread_ns);
    }
    meeting.over.store(true, Ordering::Relaxed);
    meeting.begin.wait();
    rendered
}

/// Loop of the compositor: at each vertical blank it begins the frame for the next one.
fn compose(blanks: Blanks, frame_ns: u64, over: &AtomicBool) -> CompositorResult {
    sys::no_timer_slack();
    let mut drawn = CompositorResult {
        missed: Vec::with_capacity(MISSED),
        ..CompositorResult::default()
    };
    let mut blank = blanks.first;
    loop {
        sys::sleep_until(blank);
        if over.load(Ordering::Relaxed) {
            drawn.duration_ns = blank - blanks.first;
            return drawn;
        }
        work(frame_ns);
        drawn.frames += 1;
        blank = showing_blank(blank, sys::now(), blanks.period_ns, &mut drawn.missed);
    }
}

/// The vertical blank that shows a frame begun at `begun` and finished at `done`. Adds
/// the blanks before it to `missed`. A frame finished exactly at a blank meets it.
fn showing_blank(begun: u64, done: u64, period_ns: u64, missed: &mut Vec<u64>) -> u64 {
    let mut blank = begun + period_ns;
    while blank < done {
        missed.push(blank);
        blank += period_ns;
    }
    blank
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    #[test]
    fn a_frame_that_is_late_misses_the_blanks_before_it() {
        let mut missed = Vec::new();
        assert_eq!(showing_blank(100, 105, 10, &mut missed), 110);
        assert_eq!(showing_blank(100, 110, 10, &mut missed), 110);
        assert!(missed.is_empty());
        assert_eq!(showing_blank(100, 125, 10, &mut missed), 130);
        assert_eq!(missed, [110, 120]);
    }

    fn loading(change: impl FnOnce(&mut Browser)) -> PageLoading {
        let mut browser = Browser {
            pages: 3,
            steps: 2,
            main_ns: 100_000,
            work_ns: 100_000,
            think_ns: 1_000_000,
            think_spread_ns: 1_000_000,
            ..Browser::default()
        };
        change(&mut browser);
        PageLoading {
            pages: Some(browser.pages),
            browser,
            streams: Streams {
                seed: 7,
                label: "workload".into(),
            },
            samples: true,
            start: 0,
            rendered: TimedSeries::default(),
            drawn: None,
        }
    }

    fn names(loading: &mut PageLoading) -> Vec<String> {
        loading.set_up().unwrap();
        loading.run().unwrap();
        let records = loading.records().unwrap().into_iter();
        records
            .filter_map(|record| match record {
                AgentMessage::Metric { metric, .. } | AgentMessage::Histogram { metric, .. } => {
                    Some(metric)
                }
                AgentMessage::Events { event, .. } => Some(event),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn pages_are_loaded_with_and_without_workers_and_compositor() {
        let all = ["render_time_mean", "render_time", "frames", "frames_missed"];
        assert_eq!(names(&mut loading(|_| {})), all);
        let mut alone = loading(|browser| {
            browser.workers = 0;
            browser.rate = 0;
        });
        assert_eq!(names(&mut alone), all[..2]);
    }

    /// However slow the host is, no page takes less than its longest chain of
    /// work.
    #[test]
    fn a_page_takes_at_least_its_work() {
        let mut some = loading(|browser| browser.spread_ns = 50_000);
        some.set_up().unwrap();
        some.run().unwrap();
        let records = some.records().unwrap();
        let buckets = records.iter().find_map(|record| match record {
            AgentMessage::Histogram { buckets, .. } => Some(buckets.clone()),
            _ => None,
        });
        let buckets = buckets.unwrap();
        assert_eq!(buckets.iter().map(|(_, count)| count).sum::<u64>(), 3);
        // Three times the main thread, twice the workers.
        assert!(buckets[0].0 >= 500_000, "{buckets:?}");
    }
}
