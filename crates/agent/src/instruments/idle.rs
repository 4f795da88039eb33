//! Computes idle times from the events that CPUs traced.

/// A traced event of one CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// The CPU goes idle.
    Enter,
    /// The CPU is no longer idle.
    Leave,
    /// An interrupt has begun; if the CPU was idle, it no longer is.
    Interrupt,
}

/// A half-open interval of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// Its start, included.
    pub from: u64,
    /// Its end, excluded.
    pub to: u64,
}

/// When a CPU was idle within `window`, in ascending, disjoint spans.
///
/// The next event shows the state at the start: a CPU that first leaves was
/// idle until then. `None` if no event shows it.
pub(crate) fn idle(events: &[(u64, Event)], window: Span) -> Option<Vec<Span>> {
    let first = events
        .iter()
        .find(|(_, event)| *event != Event::Interrupt)?;
    let mut since = (first.1 == Event::Leave).then_some(0);
    let mut spans = Vec::new();
    for &(time, event) in events {
        match event {
            Event::Enter => since = since.or(Some(time)),
            Event::Leave | Event::Interrupt => {
                if let Some(from) = since.take() {
                    spans.extend(clip(Span { from, to: time }, window));
                }
            }
        }
    }
    if let Some(from) = since {
        let to = window.to;
        spans.extend(clip(Span { from, to }, window));
    }
    Some(spans)
}

fn clip(span: Span, window: Span) -> Option<Span> {
    let (from, to) = (span.from.max(window.from), span.to.min(window.to));
    (from < to).then_some(Span { from, to })
}

/// The total length of all spans.
pub(crate) fn length(spans: &[Span]) -> u64 {
    spans.iter().map(|span| span.to - span.from).sum()
}

/// When both CPUs were idle: the intersection of their spans.
pub(crate) fn both(a: &[Span], b: &[Span]) -> Vec<Span> {
    let (mut i, mut j) = (0, 0);
    let mut spans = Vec::new();
    while let (Some(&left), Some(&right)) = (a.get(i), b.get(j)) {
        spans.extend(clip(left, right));
        if left.to <= right.to {
            i += 1;
        } else {
            j += 1;
        }
    }
    spans
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use super::Event::{Enter, Interrupt, Leave};
    use super::*;
    use proptest::prelude::*;

    const WINDOW: Span = Span { from: 100, to: 200 };

    #[test]
    fn idle_time_is_what_lies_between_enter_and_leave() {
        type Case<'a> = (&'a [(u64, Event)], Option<u64>);
        let cases: &[Case<'_>] = &[
            (&[], None),
            (&[(150, Interrupt)], None),
            // Idle or busy at the beginning, idle or busy at the end.
            (&[(120, Leave)], Some(20)),
            (&[(120, Enter)], Some(80)),
            (&[(120, Leave), (150, Enter)], Some(70)),
            (&[(120, Enter), (150, Leave)], Some(30)),
            // Before and after the window.
            (&[(50, Enter), (120, Leave)], Some(20)),
            (&[(50, Enter), (60, Leave)], Some(0)),
            (&[(50, Enter), (250, Leave)], Some(100)),
            (&[(210, Enter), (250, Leave)], Some(0)),
            // An interrupt ends an idle time, and entering again starts a new
            // one.
            (&[(110, Enter), (120, Interrupt), (130, Leave)], Some(10)),
            (&[(110, Interrupt), (130, Leave)], Some(10)),
            (&[(110, Interrupt), (130, Enter)], Some(70)),
            (
                &[
                    (110, Enter),
                    (120, Interrupt),
                    (130, Interrupt),
                    (140, Enter),
                ],
                Some(70),
            ),
            (&[(110, Enter), (120, Enter), (130, Leave)], Some(20)),
        ];
        for (events, wanted) in cases {
            let got = idle(events, WINDOW).map(|spans| length(&spans));
            assert_eq!(got, *wanted, "{events:?}");
        }
    }

    fn spans() -> impl Strategy<Value = Vec<Span>> {
        prop::collection::vec((1u64..9, 1u64..9), 0..12).prop_map(|steps| {
            let mut time = 0;
            let mut spans = Vec::new();
            for (gap, long) in steps {
                let from = time + gap;
                time = from + long;
                spans.push(Span { from, to: time });
            }
            spans
        })
    }

    proptest! {
        #[test]
        fn both_is_what_each_moment_says(a in spans(), b in spans()) {
            let within = |spans: &[Span], at: u64| spans.iter().any(|s| s.from <= at && at < s.to);
            let together = both(&a, &b);
            for at in 0..250 {
                prop_assert_eq!(within(&together, at), within(&a, at) && within(&b, at));
            }
            prop_assert_eq!(length(&together), length(&both(&b, &a)));
        }
    }
}
