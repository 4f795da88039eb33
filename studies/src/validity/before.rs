//! The figures under the previous rules.

use super::tally::Measure;

/// How they were measured.
pub(crate) const MEASURED: &str =
    "`cargo studies validity --figures --seed 1` with the rules of commit 5bc4b2e";

/// One line per figure: case, measure, per cent. Printed by `--figures`.
const FIGURES: &str = "\
claim/best-of-72: claim-established 96.5
claim/best-of-72: claim-upheld 96.5
flagship/null: directional 99.5
flagship/null: false-established 0.0
sentences/blocks-5: contradicting 41.5
sentences/blocks-8: contradicting 36.2
sentences/free-4: contradicting 100.0
tied/2: false-found 100.0
tied/3: false-found 61.8
spread/20-4: false-established 35.8
spread/20-4: false-found 35.8
spread/5-5: false-established 8.1
spread/5-5: false-found 8.1
spread/8-8: false-established 6.5
spread/8-8: false-found 6.5
drift/8: false-established 25.7
drift/8: drift-lint 0.1
image/8: false-established 44.0
machines/3: false-established 23.2
factors/5: factor-found 0.3
factors/5: factor-false 0.0
events/1-without: rate-established 3.5
events/1-with: rate-established 3.5
events/2-without: rate-established 17.0
events/2-with: rate-established 19.4
events/3-without: rate-established 27.7
events/3-with: rate-established 28.4
events/5-without: rate-established 40.2
events/5-with: rate-established 38.5
slow/5: false-equivalent 74.9
slow/8: false-equivalent 61.4
slow/20: false-equivalent 29.0
slow/60: false-equivalent 7.0
runs/blocks-72-3: found 37.0
runs/blocks-72-4: found 98.9
runs/blocks-72-5: found 100.0
runs/blocks-72-6: found 0.0
runs/blocks-72-7: found 0.0
runs/blocks-72-8: found 100.0
runs/blocks-72-12: found 100.0
runs/blocks-72-20: found 100.0
runs/free-72-2: found 1.5
runs/free-72-3: found 92.9
runs/free-72-4: found 0.0
runs/free-72-5: found 100.0
runs/free-72-6: found 100.0
runs/free-72-8: found 100.0
runs/blocks-10-3: found 11.4
runs/blocks-10-4: found 39.2
runs/blocks-10-5: found 70.1
runs/blocks-10-6: found 0.0
runs/blocks-10-7: found 9.5
runs/blocks-10-8: found 90.2
runs/blocks-10-9: found 99.1
runs/blocks-10-10: found 99.8
runs/blocks-10-12: found 100.0
runs/blocks-10-16: found 100.0
runs/blocks-10-20: found 100.0
runs/free-10-2: found 1.8
runs/free-10-3: found 22.6
runs/free-10-4: found 0.0
runs/free-10-5: found 81.5
runs/free-10-6: found 98.1
runs/free-10-7: found 99.6
runs/free-10-8: found 99.9
runs/free-10-9: found 100.0
runs/free-10-10: found 100.0
runs/free-10-11: found 100.0
runs/free-10-12: found 100.0
runs/free-10-16: found 100.0
runs/free-10-20: found 100.0
power/1-0-0.02-6: found 10.0
power/1-0-0.02-8: found 21.5
power/1-0-0.02-12: found 32.2
power/1-0-0.05-6: found 44.5
power/1-0-0.05-8: found 81.0
power/1-0-0.05-12: found 94.5
power/1-0-0.1-6: found 93.0
power/1-0-0.1-8: found 100.0
power/1-0-0.1-12: found 100.0
power/10-0-0.02-6: found 0.0
power/10-0-0.02-8: found 0.6
power/10-0-0.02-12: found 8.2
power/10-0-0.05-6: found 0.0
power/10-0-0.05-8: found 20.0
power/10-0-0.05-12: found 82.2
power/10-0-0.1-6: found 0.0
power/10-0-0.1-8: found 90.6
power/10-0-0.1-12: found 100.0
power/10-0.5-0.02-6: found 0.0
power/10-0.5-0.02-8: found 1.2
power/10-0.5-0.02-12: found 8.5
power/10-0.5-0.05-6: found 0.0
power/10-0.5-0.05-8: found 24.8
power/10-0.5-0.05-12: found 78.3
power/10-0.5-0.1-6: found 0.2
power/10-0.5-0.1-8: found 88.8
power/10-0.5-0.1-12: found 100.0
power/72-0-0.02-6: found 0.0
power/72-0-0.02-8: found 0.0
power/72-0-0.02-12: found 1.7
power/72-0-0.05-6: found 0.0
power/72-0-0.05-8: found 0.0
power/72-0-0.05-12: found 76.9
power/72-0-0.1-6: found 0.0
power/72-0-0.1-8: found 90.2
power/72-0-0.1-12: found 100.0
power/72-0.5-0.02-6: found 0.0
power/72-0.5-0.02-8: found 0.0
power/72-0.5-0.02-12: found 4.9
power/72-0.5-0.05-6: found 0.0
power/72-0.5-0.05-8: found 8.6
power/72-0.5-0.05-12: found 74.4
power/72-0.5-0.1-6: found 0.0
power/72-0.5-0.1-8: found 88.8
power/72-0.5-0.1-12: found 100.0
mixed/10: found 99.5
mixed/10: false-found 25.2
null/72 rows, normal, 3 blocks: false-established 0.0
null/72 rows, normal, 3 blocks: false-found 3.5
null/72 rows, normal, 3 blocks: directional 61.8
null/72 rows, normal, 5 blocks: false-established 0.0
null/72 rows, normal, 5 blocks: false-found 4.0
null/72 rows, normal, 5 blocks: directional 58.5
null/72 rows, normal, 6 blocks: false-established 0.0
null/72 rows, normal, 6 blocks: false-found 0.0
null/72 rows, normal, 6 blocks: directional 64.2
null/72 rows, normal, 8 blocks: false-established 0.0
null/72 rows, normal, 8 blocks: false-found 0.0
null/72 rows, normal, 8 blocks: directional 56.0
null/72 rows, normal, 12 blocks: false-established 4.0
null/72 rows, normal, 12 blocks: false-found 4.0
null/72 rows, normal, 12 blocks: directional 62.7
null/72 rows, normal, 3 runs in random order: false-established 0.0
null/72 rows, normal, 3 runs in random order: false-found 2.2
null/72 rows, normal, 3 runs in random order: directional 40.5
null/72 rows, normal, 4 runs in random order: false-established 0.0
null/72 rows, normal, 4 runs in random order: false-found 0.0
null/72 rows, normal, 4 runs in random order: directional 49.5
null/72 rows, normal, 5 runs in random order: false-established 0.0
null/72 rows, normal, 5 runs in random order: false-found 0.0
null/72 rows, normal, 5 runs in random order: directional 53.5
null/10 rows, normal, 6 blocks: false-established 0.0
null/10 rows, normal, 6 blocks: false-found 0.0
null/10 rows, normal, 6 blocks: directional 0.6
null/10 rows, normal, 8 blocks: false-established 0.4
null/10 rows, normal, 8 blocks: false-found 0.4
null/10 rows, normal, 8 blocks: directional 1.5
null/10 rows, normal, 3 runs in random order: false-established 0.0
null/10 rows, normal, 3 runs in random order: false-found 3.1
null/10 rows, normal, 3 runs in random order: directional 3.5
null/10 rows, normal, 5 runs in random order: false-established 0.2
null/10 rows, normal, 5 runs in random order: false-found 0.2
null/10 rows, normal, 5 runs in random order: directional 0.4
null/10 rows, normal, 8 runs in random order: false-established 4.0
null/10 rows, normal, 8 runs in random order: false-found 4.0
null/10 rows, normal, 8 runs in random order: directional 4.7
null/10 rows, normal, 5 runs against 10: false-established 5.0
null/10 rows, normal, 5 runs against 10: false-found 5.0
null/10 rows, normal, 5 runs against 10: directional 5.8
null/10 rows, log-normal tail, 6 blocks: false-established 0.0
null/10 rows, log-normal tail, 6 blocks: false-found 0.0
null/10 rows, log-normal tail, 6 blocks: directional 0.2
null/10 rows, log-normal tail, 8 blocks: false-established 0.1
null/10 rows, log-normal tail, 8 blocks: false-found 0.1
null/10 rows, log-normal tail, 8 blocks: directional 0.1
null/10 rows, log-normal tail, 3 runs in random order: false-established 0.0
null/10 rows, log-normal tail, 3 runs in random order: false-found 2.3
null/10 rows, log-normal tail, 3 runs in random order: directional 2.3
null/10 rows, log-normal tail, 5 runs in random order: false-established 0.1
null/10 rows, log-normal tail, 5 runs in random order: false-found 0.1
null/10 rows, log-normal tail, 5 runs in random order: directional 0.1
null/10 rows, log-normal tail, 8 runs in random order: false-established 4.3
null/10 rows, log-normal tail, 8 runs in random order: false-found 4.3
null/10 rows, log-normal tail, 8 runs in random order: directional 4.3
null/10 rows, log-normal tail, 5 runs against 10: false-established 3.5
null/10 rows, log-normal tail, 5 runs against 10: false-found 3.5
null/10 rows, log-normal tail, 5 runs against 10: directional 3.5
null/10 rows, heavy-tailed, 6 blocks: false-established 0.0
null/10 rows, heavy-tailed, 6 blocks: false-found 0.0
null/10 rows, heavy-tailed, 6 blocks: directional 0.9
null/10 rows, heavy-tailed, 8 blocks: false-established 0.3
null/10 rows, heavy-tailed, 8 blocks: false-found 0.3
null/10 rows, heavy-tailed, 8 blocks: directional 0.9
null/10 rows, heavy-tailed, 3 runs in random order: false-established 0.0
null/10 rows, heavy-tailed, 3 runs in random order: false-found 2.0
null/10 rows, heavy-tailed, 3 runs in random order: directional 2.1
null/10 rows, heavy-tailed, 5 runs in random order: false-established 0.1
null/10 rows, heavy-tailed, 5 runs in random order: false-found 0.1
null/10 rows, heavy-tailed, 5 runs in random order: directional 0.2
null/10 rows, heavy-tailed, 8 runs in random order: false-established 5.8
null/10 rows, heavy-tailed, 8 runs in random order: false-found 5.8
null/10 rows, heavy-tailed, 8 runs in random order: directional 6.3
null/10 rows, heavy-tailed, 5 runs against 10: false-established 6.2
null/10 rows, heavy-tailed, 5 runs against 10: false-found 6.2
null/10 rows, heavy-tailed, 5 runs against 10: directional 7.0
null/10 rows, Pareto tail, 6 blocks: false-established 0.0
null/10 rows, Pareto tail, 6 blocks: false-found 0.0
null/10 rows, Pareto tail, 6 blocks: directional 0.1
null/10 rows, Pareto tail, 8 blocks: false-established 0.2
null/10 rows, Pareto tail, 8 blocks: false-found 0.2
null/10 rows, Pareto tail, 8 blocks: directional 0.2
null/10 rows, Pareto tail, 3 runs in random order: false-established 0.0
null/10 rows, Pareto tail, 3 runs in random order: false-found 1.9
null/10 rows, Pareto tail, 3 runs in random order: directional 2.0
null/10 rows, Pareto tail, 5 runs in random order: false-established 0.1
null/10 rows, Pareto tail, 5 runs in random order: false-found 0.1
null/10 rows, Pareto tail, 5 runs in random order: directional 0.1
null/10 rows, Pareto tail, 8 runs in random order: false-established 4.0
null/10 rows, Pareto tail, 8 runs in random order: false-found 4.0
null/10 rows, Pareto tail, 8 runs in random order: directional 4.3
null/10 rows, Pareto tail, 5 runs against 10: false-established 3.8
null/10 rows, Pareto tail, 5 runs against 10: false-found 3.8
null/10 rows, Pareto tail, 5 runs against 10: directional 3.8
null/10 rows, skewed, 6 blocks: false-established 0.0
null/10 rows, skewed, 6 blocks: false-found 0.0
null/10 rows, skewed, 6 blocks: directional 0.4
null/10 rows, skewed, 8 blocks: false-established 0.4
null/10 rows, skewed, 8 blocks: false-found 0.4
null/10 rows, skewed, 8 blocks: directional 1.5
null/10 rows, skewed, 3 runs in random order: false-established 0.0
null/10 rows, skewed, 3 runs in random order: false-found 3.0
null/10 rows, skewed, 3 runs in random order: directional 3.1
null/10 rows, skewed, 5 runs in random order: false-established 0.5
null/10 rows, skewed, 5 runs in random order: false-found 0.5
null/10 rows, skewed, 5 runs in random order: directional 0.7
null/10 rows, skewed, 8 runs in random order: false-established 6.7
null/10 rows, skewed, 8 runs in random order: false-found 6.7
null/10 rows, skewed, 8 runs in random order: directional 6.8
null/10 rows, skewed, 5 runs against 10: false-established 4.5
null/10 rows, skewed, 5 runs against 10: false-found 4.5
null/10 rows, skewed, 5 runs against 10: directional 4.7
null/8 configurations that share a baseline, skewed, s = 30 %, 6 blocks: false-established 0.0
null/8 configurations that share a baseline, skewed, s = 30 %, 6 blocks: false-found 0.0
null/8 configurations that share a baseline, skewed, s = 30 %, 6 blocks: directional 0.0
null/8 configurations that share a baseline, skewed, s = 30 %, 8 blocks: false-established 0.5
null/8 configurations that share a baseline, skewed, s = 30 %, 8 blocks: false-found 0.5
null/8 configurations that share a baseline, skewed, s = 30 %, 8 blocks: directional 0.5
null/8 configurations that share a baseline, skewed, s = 30 %, 12 blocks: false-established 3.8
null/8 configurations that share a baseline, skewed, s = 30 %, 12 blocks: false-found 3.8
null/8 configurations that share a baseline, skewed, s = 30 %, 12 blocks: directional 3.8
null/24 configurations that share a baseline, skewed, s = 30 %, 6 blocks: false-established 0.0
null/24 configurations that share a baseline, skewed, s = 30 %, 6 blocks: false-found 0.0
null/24 configurations that share a baseline, skewed, s = 30 %, 6 blocks: directional 0.0
null/24 configurations that share a baseline, skewed, s = 30 %, 8 blocks: false-established 0.5
null/24 configurations that share a baseline, skewed, s = 30 %, 8 blocks: false-found 0.5
null/24 configurations that share a baseline, skewed, s = 30 %, 8 blocks: directional 0.5
null/24 configurations that share a baseline, skewed, s = 30 %, 12 blocks: false-established 3.0
null/24 configurations that share a baseline, skewed, s = 30 %, 12 blocks: false-found 3.0
null/24 configurations that share a baseline, skewed, s = 30 %, 12 blocks: directional 3.0
null/mixed: false-established 0.0
null/mixed: false-found 3.1
null/mixed: directional 11.4
";

/// The figure of a measure in a case; a dash if there is none.
pub(crate) fn figure(case: &str, measure: Measure) -> &'static str {
    let mut of_case = FIGURES.lines().filter_map(|line| {
        let (name, rest) = line.split_once(": ")?;
        let (word, figure) = rest.split_once(' ')?;
        (name == case && word == measure.word()).then_some(figure)
    });
    of_case.next().unwrap_or("–")
}
