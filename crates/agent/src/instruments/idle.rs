//! Computes idle times from traced events.

/// A traced event of a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdleEvent {
    /// The CPU goes idle.
    Enter,
    /// The CPU is no longer idle.
    Leave,
    /// An interrupt has begun; if the CPU was idle, it no longer is.
    Interrupt,
}

/// A half-open interval of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IdleSpan {
    /// Its start, inclusive.
    pub from: u64,
    /// Its end, exclusive.
    pub to: u64,
}

/// When a CPU was idle within `window`, as ascending, disjoint spans.
///
/// The first event shows the state before it: a CPU that first leaves was idle until
/// then. `None` if no event shows it.
pub(crate) fn idle(events: &[(u64, IdleEvent)], window: IdleSpan) -> Option<Vec<IdleSpan>> {
    let first = events
        .iter()
        .find(|(_, event)| *event != IdleEvent::Interrupt)?;
    let mut since = (first.1 == IdleEvent::Leave).then_some(0);
    let mut spans = Vec::new();
    for &(time, event) in events {
        match event {
            IdleEvent::Enter => since = since.or(Some(time)),
            IdleEvent::Leave | IdleEvent::Interrupt => {
                if let Some(from) = since.take() {
                    spans.extend(clip(IdleSpan { from, to: time }, window));
                }
            }
        }
    }
    if let Some(from) = since {
        let to = window.to;
        spans.extend(clip(IdleSpan { from, to }, window));
    }
    Some(spans)
}

fn clip(span: IdleSpan, window: IdleSpan) -> Option<IdleSpan> {
    let (from, to) = (span.from.max(window.from), span.to.min(window.to));
    (from < to).then_some(IdleSpan { from, to })
}

/// The total length of all spans.
pub(crate) fn length(spans: &[IdleSpan]) -> u64 {
    spans.iter().map(|span| span.to - span.from).sum()
}

/// Intersects the idle spans of two CPUs.
pub(crate) fn intersect_spans(a: &[IdleSpan], b: &[IdleSpan]) -> Vec<IdleSpan> {
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
    use super::IdleEvent::{Enter, Interrupt, Leave};
    use super::*;
    use proptest::prelude::*;

    const WINDOW: IdleSpan = IdleSpan { from: 100, to: 200 };

    #[test]
    fn idle_time_is_what_lies_between_enter_and_leave() {
        type IdleCase<'a> = (&'a [(u64, IdleEvent)], Option<u64>);
        let cases: &[IdleCase<'_>] = &[
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

    fn spans() -> impl Strategy<Value = Vec<IdleSpan>> {
        prop::collection::vec((1u64..9, 1u64..9), 0..12).prop_map(|steps| {
            let mut time = 0;
            let mut spans = Vec::new();
            for (gap, long) in steps {
                let from = time + gap;
                time = from + long;
                spans.push(IdleSpan { from, to: time });
            }
            spans
        })
    }

    proptest! {
        #[test]
        fn both_is_what_each_moment_says(a in spans(), b in spans()) {
            let within =
                |spans: &[IdleSpan], at: u64| spans.iter().any(|s| s.from <= at && at < s.to);
            let together = intersect_spans(&a, &b);
            for at in 0..250 {
                prop_assert_eq!(within(&together, at), within(&a, at) && within(&b, at));
            }
            prop_assert_eq!(length(&together), length(&intersect_spans(&b, &a)));
        }
    }
}
