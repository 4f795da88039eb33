//! Inputs that declare their contents: tables whose header names the columns, and files of
//! plain numbers. They are judged as declared; nothing is guessed.
//!
//! | form | recognised by |
//! | --- | --- |
//! | CSV, TSV | a header whose names are known (`header`) |
//! | JSON lines | one object per line, whose keys are such names |
//! | Markdown, boxed | the same names between `|` or `│` |
//! | numbers | nothing else in the file |
//!
//! A row has one figure of a run (`value`), the mean of several runs (`mean`), or the figures of
//! all metrics or of all configurations. A contradiction within the input is reported as one
//! [`Error`] with its line.

pub(crate) mod arithmetic;
mod boxed;
pub(crate) mod changes;
mod csv;
pub(crate) mod error;
mod header;
pub(crate) mod input;
mod jsonl;
pub(crate) mod metric;
mod numbers;
mod rows;
pub(crate) mod sheet;
#[cfg(test)]
mod tests;

use std::io::{BufRead, Read};

use crate::grammar::hyperfine::starts_export;
use crate::group::item::UNNAMED;
use crate::harness;
use crate::harness::common::{Context, Harness};
use crate::options::Options;
pub use arithmetic::Check;
use error::NOT_TEXT;
pub use error::{Error, Fault};
use header::Known;
pub use input::{Declared, Stands};
use input::{Found, Input, is_comment};
pub use metric::{Better, Metric};
use sheet::Sheet;

/// The form is recognised by this many bytes.
const HEAD: u64 = 1 << 20;
/// Most bytes of a form that is read as a whole.
const LONGEST: u64 = 256 << 20;

/// The result of looking at an input.
pub enum Outcome<R> {
    /// It declares what it holds.
    Declared(Box<Declared>),
    /// It does not; the input from its beginning.
    Undeclared(Undeclared<R>),
}

/// An input from its beginning.
pub type Undeclared<R> = std::io::BufReader<std::io::Chain<std::io::Cursor<Vec<u8>>, R>>;

/// Reads an input, if it declares what it holds; `source` is its name for messages.
///
/// # Errors
/// The mistake, its place and the remedy.
pub fn read<R: BufRead>(
    mut reader: R,
    source: &str,
    stands: Stands,
    options: &Options,
) -> Result<Outcome<R>, Error> {
    let io = |error: std::io::Error| Error::io(source, error);
    let mut head = Vec::new();
    reader
        .by_ref()
        .take(HEAD)
        .read_to_end(&mut head)
        .map_err(io)?;
    let known = Known {
        columns_are: options.columns_are,
        is_configuration: stands == Stands::AsConfiguration,
    };
    let input = Input {
        source,
        known,
        options,
    };
    let whole = (head.len() as u64) < HEAD;
    let found = match form(&head, whole, &input)? {
        None => {
            let all = std::io::Cursor::new(head).chain(reader);
            return Ok(Outcome::Undeclared(std::io::BufReader::new(all)));
        }
        Some(Form::Separated(separated)) => {
            let all = std::io::Cursor::new(head).chain(reader);
            csv::read(all, &separated, &input)?
        }
        Some(form) => {
            let mut all = head;
            reader.take(LONGEST).read_to_end(&mut all).map_err(io)?;
            let text =
                String::from_utf8(all).map_err(|_| Error::whole(source, NOT_TEXT.to_owned()))?;
            match form {
                Form::Lines => jsonl::read(&text, &input)?,
                Form::Numbers => numbers::read(&text, &input)?,
                Form::Harness(harness) => written_by(harness, &text, &input)?,
                Form::Boxed | Form::Separated(_) => boxed::read(&text, &input)?,
            }
        }
    };
    checked(&found.0, &input)?;
    let declared = found.0.finish(source, found.1);
    Ok(Outcome::Declared(Box::new(declared)))
}

/// The form of an input.
enum Form {
    Separated(csv::Separated),
    Lines,
    Boxed,
    Numbers,
    Harness(&'static Harness),
}

/// The form of an input by its begin.
fn form(head: &[u8], whole: bool, input: &Input<'_>) -> Result<Option<Form>, Error> {
    let end = match whole {
        true => head.len(),
        // The last line may not be whole.
        false => head.iter().rposition(|b| *b == b'\n').unwrap_or(head.len()),
    };
    let Ok(text) = std::str::from_utf8(&head[..end]) else {
        return Ok(None);
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.lines().find(|line| !is_comment(line));
    let Some(first) = first.filter(|_| !text.contains('\0')) else {
        return Ok(None);
    };
    if starts_export(first) {
        return Ok(None);
    }
    if numbers::are_all(text) {
        return Ok(Some(Form::Numbers));
    }
    if let Some(harness) = harness::find(text) {
        return Ok(Some(Form::Harness(harness)));
    }
    if first.trim_start().starts_with('{') {
        return Ok(jsonl::is_declared(first, input).then_some(Form::Lines));
    }
    if whole && boxed::is_judged(text, input)? {
        return Ok(Some(Form::Boxed));
    }
    Ok(csv::separated(text, input)?.map(Form::Separated))
}

/// Reads what a harness wrote.
fn written_by(harness: &'static Harness, text: &str, input: &Input<'_>) -> Result<Found, Error> {
    let mut sheet = Sheet::default();
    let context = Context {
        configuration: UNNAMED,
        runs_behind: input.options.runs_behind,
    };
    let done = (harness.read)(text.trim_start_matches('\u{feff}'), &context, &mut sheet);
    done.map_err(|fault| Error::whole(input.source, fault))?;
    Ok((sheet, harness.name))
}

/// Fails if there is nothing to compare.
fn checked(sheet: &Sheet, input: &Input<'_>) -> Result<(), Error> {
    let whole = |fault| Err(Error::whole(input.source, fault));
    if sheet.is_empty() {
        return whole(error::nothing("row of figures below its header"));
    }
    if sheet.configurations() < 2 && !input.known.is_configuration {
        return whole(error::one_configuration("the figures"));
    }
    Ok(())
}
