//! Finds the shortest schedule that still fails.

use assize_job::Delay;

/// The shortest delay that is tried.
const SHORTEST_NS: u64 = 100;

/// Removes and shortens delays while `fails` holds for what is left, asking at most `most` times.
/// `fails` must hold for `delays`.
///
/// First whole parts are removed, halves, then quarters, down to single ones (Zeller and
/// Hildebrandt 2002); then the rest are halved. Without a limit no single delay of the result can
/// be removed.
pub(super) fn shrink<E>(
    delays: Vec<Delay>,
    most: u32,
    mut fails: impl FnMut(&[Delay]) -> Result<bool, E>,
) -> Result<Vec<Delay>, E> {
    let mut left = most;
    let mut fails = |delays: &[Delay]| match left.checked_sub(1) {
        Some(rest) => {
            left = rest;
            fails(delays)
        }
        None => Ok(false),
    };
    let kept = remove(delays, &mut fails)?;
    shorten(kept, &mut fails)
}

fn remove<E>(
    mut delays: Vec<Delay>,
    fails: &mut impl FnMut(&[Delay]) -> Result<bool, E>,
) -> Result<Vec<Delay>, E> {
    if delays.is_empty() || fails(&[])? {
        return Ok(Vec::new());
    }
    let mut part = delays.len().div_ceil(2);
    loop {
        let mut at = 0;
        let before = delays.len();
        while at < delays.len() && delays.len() > 1 {
            let mut without = delays.clone();
            without.drain(at..(at + part).min(delays.len()));
            if !without.is_empty() && fails(&without)? {
                delays = without;
            } else {
                at += part;
            }
        }
        if part == 1 && delays.len() == before {
            return Ok(delays);
        }
        part = part.div_ceil(2).min(delays.len().div_ceil(2)).max(1);
    }
}

fn shorten<E>(
    mut delays: Vec<Delay>,
    fails: &mut impl FnMut(&[Delay]) -> Result<bool, E>,
) -> Result<Vec<Delay>, E> {
    for at in 0..delays.len() {
        loop {
            let mut shorter = delays.clone();
            let Some(delay) = shorter.get_mut(at) else {
                break;
            };
            delay.length_ns /= 2;
            if delay.length_ns < SHORTEST_NS || !fails(&shorter)? {
                break;
            }
            delays = shorter;
        }
    }
    Ok(delays)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn delays(count: u64) -> Vec<Delay> {
        let one = |at_ns| Delay {
            cpu: 0,
            at_ns,
            length_ns: 3200,
        };
        (0..count).map(one).collect()
    }

    /// Shrinks `count` delays of which the given ones are needed, each at least so long; also
    /// returns how often it asked.
    fn shrunk(count: u64, needed: &[u64], length: u64, most: u32) -> (Vec<Delay>, u32) {
        let mut asked = 0;
        let fails = |delays: &[Delay]| {
            asked += 1;
            let has = |at: &u64| {
                delays
                    .iter()
                    .any(|one| one.at_ns == *at && one.length_ns >= length)
            };
            Ok::<bool, Infallible>(needed.iter().all(has))
        };
        let result = shrink(delays(count), most, fails).unwrap();
        (result, asked)
    }

    #[test]
    fn what_is_needed_stays_and_nothing_else() {
        for needed in [&[][..], &[7], &[0, 99], &[3, 4, 50]] {
            let (left, asked) = shrunk(100, needed, 1000, 1000);
            let at: Vec<u64> = left.iter().map(|one| one.at_ns).collect();
            assert_eq!(at, needed);
            assert!(left.iter().all(|one| one.length_ns == 1600), "{left:?}");
            assert!(asked < 100, "{asked}");
        }
    }

    #[test]
    fn it_asks_no_more_often_than_it_may_and_what_is_left_fails() {
        let (left, asked) = shrunk(1000, &[5, 700], 100, 12);
        assert_eq!(asked, 12);
        assert!(left.len() > 2 && left.len() < 1000);
        assert!(
            [5, 700]
                .iter()
                .all(|at| left.iter().any(|one| one.at_ns == *at))
        );
    }
}
