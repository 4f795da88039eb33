use super::*;
use crate::random::RandomStream;

fn beat_of(times_s: &[f64], exposure_s: f64) -> Option<Periodicity> {
    beat(EventTimes {
        times_s,
        exposure_s,
    })
}

fn at_random(draws: &mut RandomStream, n: usize, span: f64) -> Vec<f64> {
    (0..n).map(|_| span * draws.uniform()).collect()
}

/// Events of this period, of which only a share occurs, each off by up to
/// `jitter` periods.
fn beats(draws: &mut RandomStream, period: f64, span: f64, share: f64, jitter: f64) -> Vec<f64> {
    let number = (span / period) as u32;
    let mut times = Vec::new();
    for at in 0..number {
        let off = jitter * (2.0 * draws.uniform() - 1.0);
        if draws.uniform() < share {
            times.push(period * (f64::from(at) + 0.5 + off));
        }
    }
    times
}

#[test]
fn a_beat_in_every_30_s_is_found_with_its_period_though_beats_are_missing() {
    let mut draws = RandomStream::new(4);
    for (share, jitter, others) in [
        (1.0, 0.0, 0),
        (1.0, 0.05, 0),
        (0.5, 0.02, 0),
        (0.35, 0.02, 0),
        (1.0, 0.02, 40),
        (0.6, 0.05, 20),
    ] {
        for _ in 0..10 {
            let span = 3600.0;
            let mut times = beats(&mut draws, 30.0, span, share, jitter);
            let on = times.len();
            times.extend(at_random(&mut draws, others, span));
            let beat = beat_of(&times, span).unwrap();
            let what = format!("{share} {jitter} {others}: {beat:?}");
            assert!(beat.p <= 0.01, "{what}");
            assert!((beat.period - 30.0).abs() < 0.1, "{what}");
            assert!(beat.on_beat + 1 >= on * 9 / 10, "{what}");
        }
    }
}

#[test]
fn events_that_keep_no_beat_have_one_as_seldom_as_promised() {
    let mut draws = RandomStream::new(11);
    let mut alarms = 0;
    for round in 0..2000 {
        let n = [8, 12, 20, 32][round % 4];
        let times = at_random(&mut draws, n, 100.0);
        alarms += u32::from(beat_of(&times, 100.0).is_some_and(|beat| beat.p <= 0.01));
    }
    println!("{alarms} of 2000");
    assert!(alarms <= 20, "{alarms} of 2000 at 1 %");
}

#[test]
fn clusters_keep_no_beat() {
    let mut draws = RandomStream::new(12);
    let mut alarms = 0;
    for round in 0..2000 {
        let (size, width) = [(2, 0.0), (4, 0.0), (3, 0.3), (5, 1.0)][round % 4];
        let mut times = Vec::new();
        for _ in 0..12 {
            let at = 99.0 * draws.uniform();
            times.extend((0..size).map(|_| at + width * draws.uniform()));
        }
        alarms += u32::from(beat_of(&times, 100.0).is_some_and(|beat| beat.p <= 0.01));
    }
    println!("{alarms} of 2000");
    assert!(alarms <= 20, "{alarms} of 2000 at 1 %");
}

#[test]
fn what_cannot_be_looked_at_has_no_beat() {
    let regular: Vec<f64> = (0..20).map(f64::from).collect();
    assert!(beat_of(&regular[..7], 20.0).is_none());
    assert!(beat_of(&regular, 18.0).is_none(), "one lies outside");
    assert!(beat_of(&[1.0; 20], 20.0).is_none(), "all are one");
    let mut broken = regular.clone();
    broken[3] = f64::NAN;
    assert!(beat_of(&broken, 20.0).is_none());
    assert!(beat_of(&regular, f64::NAN).is_none());
    // With very many events, the first are enough.
    let many: Vec<f64> = (0..20_000).map(|at| f64::from(at) * 0.5).collect();
    let beat = beat_of(&many, 10_000.0).unwrap();
    assert_eq!(beat.n, 300);
    assert!(
        (beat.period - 0.5).abs() < 1e-3 && beat.on_beat == 300,
        "{beat:?}"
    );
}
