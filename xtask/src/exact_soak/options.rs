//! The options of `cargo xtask exact-soak`.

use crate::Error;

/// Numbers of runs in the full and in the light form.
const RUNS: (usize, usize) = (2000, 100);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Options {
    /// Executions under load.
    pub(super) runs: usize,
    /// Few, short runs, which are not compared with runs on a quiet host.
    pub(super) light: bool,
    /// The seed of the load.
    pub(super) seed: u64,
    /// Whether to put the table into the documentation.
    pub(super) write: bool,
}

impl Options {
    /// Parses the command line.
    pub(super) fn parse(arguments: &[String]) -> Result<Options, Error> {
        let (mut runs, mut light, mut seed, mut write) = (None, false, 1, false);
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut number = || -> Result<u64, Error> {
                let value = words
                    .next()
                    .ok_or_else(|| format!("{word}: wants a number"))?;
                let number = value.parse();
                number.map_err(|_| format!("{word} {value}: no whole number"))
            };
            match word.as_str() {
                "--light" => light = true,
                "--write" => write = true,
                "--seed" => seed = number()?,
                "--runs" => runs = Some(usize::try_from(number()?).unwrap_or(usize::MAX)),
                other => {
                    let known = "valid: --runs N, --light, --seed S, --write";
                    return Err(format!("{other}: unknown; {known}"));
                }
            }
        }
        if runs == Some(0) {
            return Err("--runs 0: at least 1".into());
        }
        Ok(Options {
            runs: runs.unwrap_or(if light { RUNS.1 } else { RUNS.0 }),
            light,
            seed,
            write,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<Options, Error> {
        let words: Vec<String> = words.split_whitespace().map(String::from).collect();
        Options::parse(&words)
    }

    #[test]
    fn options_are_read_and_unknown_ones_refused() {
        let plain = parse("").unwrap();
        assert_eq!((plain.runs, plain.light, plain.seed), (2000, false, 1));
        let light = parse("--light --seed 9").unwrap();
        assert!(light.light && light.runs >= 100 && light.seed == 9);
        assert_eq!(parse("--runs 7 --write").unwrap().runs, 7);
        for bad in ["--run 7", "--runs", "--runs x", "--runs 0", "--seed -1"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
