//! The arguments of `cargo xtask corpus`.

use std::path::{Path, PathBuf};

use super::draw::Draw;
use crate::Error;

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Draw mails that may be labelled.
    Draw,
    /// Make twins of these labels; of all without one if none is named.
    Twin(Vec<String>),
    /// Show one labelled text.
    Explain(String),
    /// Say of each twin how it is read.
    Each,
    /// Say how many twins could be read right.
    Ceiling,
    /// Score the mails.
    Score,
    /// Score the twins.
    Twins,
}

/// All arguments.
#[derive(Debug)]
pub(super) struct Options {
    /// What is to be done.
    pub(super) what: What,
    /// What to draw.
    pub(super) draw: Draw,
    /// Where the clones are.
    pub(super) archives: Option<PathBuf>,
    /// Whether to put the result into the page.
    pub(super) write: bool,
}

impl Options {
    /// Reads the arguments.
    pub(super) fn parse(arguments: &[String]) -> Result<Options, Error> {
        let mut options = Options {
            what: What::Twins,
            draw: Draw {
                seed: 1,
                figures: 1,
                may_compare: 3,
                may_repeat: 1,
            },
            archives: None,
            write: false,
        };
        let mut drawing = false;
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word}: wants a value"));
            match word.as_str() {
                "draw" => options.what = What::Draw,
                "twin" => options.what = What::Twin(Vec::new()),
                "--score" => options.what = What::Score,
                "--twins" => options.what = What::Twins,
                "--each" => options.what = What::Each,
                "--ceiling" => options.what = What::Ceiling,
                "--explain" => options.what = What::Explain(value()?.clone()),
                "--write" => options.write = true,
                "--archives" => options.archives = Some(PathBuf::from(value()?)),
                "--seed" | "--figures" | "--may-compare" | "--may-repeat" => {
                    drawing = true;
                    let text = value()?;
                    let number = text
                        .parse()
                        .map_err(|_| format!("{word}: {text}: no number"))?;
                    match word.as_str() {
                        "--seed" => options.draw.seed = number,
                        "--figures" => options.draw.figures = number as usize,
                        "--may-compare" => options.draw.may_compare = number as usize,
                        _ => options.draw.may_repeat = number as usize,
                    }
                }
                other => match &mut options.what {
                    What::Twin(names) if !other.starts_with('-') => names.push(other.into()),
                    _ => return Err(format!("{other}: is not known")),
                },
            }
        }
        if drawing && options.what != What::Draw {
            return Err("--seed, --figures, --may-compare, --may-repeat: are for draw".into());
        }
        if options.write && !matches!(options.what, What::Score | What::Twins | What::Ceiling) {
            return Err("--write: is for --score, --twins and --ceiling".into());
        }
        Ok(options)
    }

    /// Where the clones are, for what cannot do without.
    pub(super) fn archives(&self) -> Result<&Path, Error> {
        let archives = self.archives.as_deref();
        archives.ok_or_else(|| "--archives DIR: is needed; DIR has public-inbox clones".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options, Error> {
        let words: Vec<String> = text.split_whitespace().map(str::to_string).collect();
        Options::parse(&words)
    }

    #[test]
    fn without_a_word_the_twins_are_scored() {
        let options = parse("").unwrap();
        assert_eq!(options.what, What::Twins);
        assert!(options.archives().unwrap_err().contains("--archives"));
    }

    #[test]
    fn words_that_are_not_known_or_do_not_belong_are_errors() {
        for (text, why) in [
            ("--scroe", "--scroe"),
            ("--explain", "wants a value"),
            ("draw --seed x", "no number"),
            ("--seed 3", "for draw"),
            ("draw --write", "--write"),
        ] {
            assert!(parse(text).unwrap_err().contains(why), "{text}");
        }
    }

    #[test]
    fn a_draw_has_a_seed_and_sizes() {
        let options = parse("draw --archives a --seed 7 --may-compare 3").unwrap();
        assert_eq!(options.what, What::Draw);
        assert_eq!((options.draw.seed, options.draw.may_compare), (7, 3));
    }
}
