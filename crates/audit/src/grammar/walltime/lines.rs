//! A `time` of one line: zsh's, csh's, and bash's in a format of one line.
//!
//! ```text
//! before: 3.77s user 890.90s system 1939% cpu 46.118 total
//! after:  3.24s user 397.73s system 1858% cpu 21.581 total (-53%)
//!
//! 0.10u 0.25s 0:01.30 26.9%   0+0k 0+0io 0pf+0w
//! ```
//!
//! Each line is a run. What stands before a line is its configuration if it is a state,
//! else its workload, as the command is that zsh prints there.

use crate::Line;
use crate::grammar::begins::Begins;
use crate::grammar::cells::{label, line_at};
use crate::grammar::number::english;
use crate::grammar::{Block, Figure, Finding, Grammar, Labels};
use crate::states;

use super::{clock, minutes, plain};

/// `time` of one line; see the module.
pub struct TimeLine;

/// A longer line is none of `time`.
const LONGEST: usize = 240;
/// No block has more lines.
const MOST: usize = 200;

impl Grammar for TimeLine {
    fn name(&self) -> &'static str {
        "time"
    }

    fn begins(&self) -> Begins {
        Begins::holding(b"%y")
    }

    fn starts(&self, line: &str) -> bool {
        let csh = || {
            let bytes = line.as_bytes();
            let mut units = memchr::memmem::find_iter(bytes, b"u ");
            units.any(|at| at > 0 && bytes[at - 1].is_ascii_digit())
        };
        let zsh_or_bash =
            line.contains("s user ") || line.contains(" user ") && line.contains("real ");
        line.len() <= LONGEST && (zsh_or_bash || csh()) && timed(line).is_some()
    }

    fn reach(&self) -> usize {
        0
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let depth = lines.first()?.depth;
        let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
        let timed: Vec<Timed<'_>> = (0..MOST).map_while(|at| timed(here(at)?)).collect();
        let mut block = Block {
            findings: Vec::new(),
            taken: vec!["time"; timed.len()],
        };
        for (at, Timed { name, figures }) in timed.into_iter().enumerate() {
            let own = Some(label(name)).filter(|name| !name.is_empty());
            let first = name.split_whitespace().next().unwrap_or_default();
            let state = states::is_bare(&first.to_lowercase());
            let (configuration, workload) = if state { (own, None) } else { (None, own) };
            let labels = Labels {
                configuration,
                workload,
                repetition: None,
            };
            block.find(at, Finding::Run { labels, figures });
        }
        (!block.findings.is_empty()).then_some(block)
    }
}

/// One line, and what stands before it.
struct Timed<'t> {
    name: &'t str,
    figures: Vec<Figure>,
}

fn timed(text: &str) -> Option<Timed<'_>> {
    let text = text.trim();
    if text.len() > LONGEST {
        return None;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    (0..words.len()).find_map(|at| {
        let (used, figures) = printed(&words[at..])?;
        let rest = &words[at + used..];
        let begin = words[at].as_ptr() as usize - text.as_ptr() as usize;
        let name = text[..begin].trim_end().trim_end_matches(':').trim_end();
        (ends(rest) && name.len() <= 100).then_some(Timed { name, figures })
    })
}

/// What may stand behind: nothing, a remark in parentheses, or csh's pages and blocks.
fn ends(rest: &[&str]) -> bool {
    match rest.first() {
        None => true,
        Some(first) => first.starts_with('(') || first.contains('+') && first.ends_with('k'),
    }
}

/// The times at the beginning of these words, and how many words they are.
fn printed(words: &[&str]) -> Option<(usize, Vec<Figure>)> {
    let (used, [user, sys, real], cpu) = match *words {
        [user, "user", sys, "system", cpu, "cpu", real, "total", ..] => {
            let real = clock(real).or_else(|| plain(real));
            (8, [seconds(user, 's'), seconds(sys, 's'), real], Some(cpu))
        }
        ["real", real, "user", user, "sys", sys, ..] => {
            (6, [minutes(user), minutes(sys), minutes(real)], None)
        }
        [user, sys, real, cpu, ..] if user.ends_with('u') && cpu.ends_with('%') => (
            4,
            [seconds(user, 'u'), seconds(sys, 's'), clock(real)],
            Some(cpu),
        ),
        _ => return None,
    };
    let time = |metric: &str, value| Figure::new(metric, value, "s");
    let mut figures = vec![time("real", real?), time("user", user?), time("sys", sys?)];
    if let Some(cpu) = cpu {
        let share = english(cpu.strip_suffix('%')?).filter(|share| *share >= 0.0)?;
        figures.push(Figure::new("CPU", share, "%"));
    }
    Some((used, figures))
}

/// `3.77s` as seconds.
fn seconds(word: &str, unit: char) -> Option<f64> {
    plain(word.strip_suffix(unit)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::testing;

    fn runs(text: &str) -> Vec<(Option<String>, Option<String>, Vec<f64>)> {
        let run = |(labels, figures): (Labels, Vec<Figure>)| {
            let values = figures.iter().map(|figure| figure.value).collect();
            (labels.configuration, labels.workload, values)
        };
        testing::runs(&TimeLine, text)
            .into_iter()
            .map(run)
            .collect()
    }

    fn named(name: &str) -> Option<String> {
        Some(name.to_owned())
    }

    #[test]
    fn each_line_behind_a_state_is_a_run() {
        let text = "before:\t2.50s user 80.25s system 1655% cpu 5.125 total\n\
                    after:  2.25s user 40.50s system 1425% cpu 1:03.50 total (-40%)\n\
                    after:  2.75s user 41.50s system 1405% cpu 1:04.50 total\n";
        let all = runs(text);
        assert_eq!(all.len(), 3);
        assert_eq!(
            all[0],
            (named("before"), None, vec![5.125, 2.5, 80.25, 1655.0])
        );
        assert_eq!(
            all[1],
            (named("after"), None, vec![63.5, 2.25, 40.5, 1425.0])
        );
        assert_eq!(all[2].0, named("after"));
    }

    #[test]
    fn what_each_shell_prints_is_read() {
        // As zsh 5.9, tcsh 6.24 and bash with TIMEFORMAT have printed them.
        let zsh = "sleep 0.1  0.00s user 0.01s system 1% cpu 0.110 total\n";
        assert_eq!(
            runs(zsh),
            [(None, named("sleep 0.1"), vec![0.11, 0.0, 0.01, 1.0])]
        );
        let tcsh = "0.001u 0.002s 0:00.11 0.0%\t0+0k 0+0io 0pf+0w\n";
        assert_eq!(runs(tcsh), [(None, None, vec![0.11, 0.001, 0.002, 0.0])]);
        let bash = "real 0m1.106s user 0m0.001s sys 0.002\n";
        assert_eq!(runs(bash), [(None, None, vec![1.106, 0.001, 0.002])]);
    }

    #[test]
    fn other_lines_are_left_alone() {
        for text in [
            "load: 2.39  cmd: ping 5374 running 0.00u 0.00s",
            "3.77s user 890.90s system took 46.118 total",
            "1.50s user 2.25s system 50% cpu 7.125 total and it was slow",
            "12u 3s 0:01 50% more",
            "the user 1.5 of the system 2.5% cpu 7 total",
        ] {
            assert!(runs(text).is_empty(), "{text}");
        }
    }
}
