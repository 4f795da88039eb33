//! `assize man`: manual pages, one for the program and one for each verb.

mod facts;

use std::fs;
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::cli::{Cli, ManArguments};
use crate::failure::Failure;
use crate::output;
use facts::VERBS;

/// Text for exit status 0; status 1 depends on the verb.
const SUCCESS: &str = "Success.";
const STATUSES: [(&str, &str); 3] = [
    (
        "2",
        "Wrong usage: an invalid option, experiment file or input.",
    ),
    (
        "3",
        "The work failed: a run, a build, a file that could not be written.",
    ),
    ("130", "An interrupt."),
];

const CACHE: (&str, &str) = (
    "$ASSIZE_CACHE",
    "Kernels, QEMU, memory images and the cache of exact runs.",
);

const ENVIRONMENT: [(&str, &str); 6] = [
    (
        "ASSIZE_CACHE",
        "The directory of the cache; by default $XDG_CACHE_HOME/assize, else ~/.cache/assize.",
    ),
    (
        "ASSIZE_AGENT",
        "An agent to use instead of the installed one.",
    ),
    ("ASSIZE_QEMU", "Another QEMU."),
    ("ASSIZE_SSH", "A command to use instead of ssh."),
    (
        "NO_COLOR",
        "If this is set and not empty, output is not coloured.",
    ),
    ("TMPDIR", "The directory for temporary files."),
];

/// Prints a page, or writes all of them.
pub(crate) fn man(arguments: &ManArguments) -> Result<u8, Failure> {
    let mut command = Cli::command();
    command.build();
    let verbs = || command.get_subcommands().filter(|verb| is_shown(verb));
    if let Some(directory) = &arguments.into {
        put(directory, "assize.1", &top(&command))?;
        for verb in verbs() {
            put(
                directory,
                &format!("assize-{}.1", verb.get_name()),
                &page(verb)?,
            )?;
        }
        return Ok(0);
    }
    let text = match &arguments.verb {
        None => top(&command),
        Some(name) => match verbs().find(|verb| verb.get_name() == name) {
            Some(verb) => page(verb)?,
            None => return Err(Failure::Argument(format!("{name}: there is no such verb"))),
        },
    };
    output::print(ascii(&text).as_bytes()).map(|()| 0)
}

/// Replaces non-ASCII characters by escapes, which every troff reads.
fn ascii(text: &str) -> String {
    let one = |c: char| match c.is_ascii() {
        true => c.to_string(),
        false => format!("\\[u{:04X}]", u32::from(c)),
    };
    text.chars().map(one).collect()
}

fn put(directory: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = directory.join(name);
    fs::write(&path, ascii(text)).map_err(|source| Failure::Write {
        what: path.display().to_string(),
        source,
    })
}

fn is_shown(verb: &Command) -> bool {
    !verb.is_hide_set() && verb.get_name() != "help"
}

/// The page of `assize` itself: its verbs.
fn top(command: &Command) -> String {
    let mut text = head("assize", command);
    section(&mut text, "VERBS");
    for verb in command.get_subcommands().filter(|verb| is_shown(verb)) {
        let about = verb
            .get_about()
            .map(ToString::to_string)
            .unwrap_or_default();
        item(&mut text, &format!("assize-{}(1)", verb.get_name()), &about);
    }
    section(&mut text, "OPTIONS");
    item(&mut text, "-h, --help", "Print help.");
    item(&mut text, "-V, --version", "Print the version.");
    tail(
        &mut text,
        "A claim was refuted, or a condition of --fail-on was met.",
        &[],
    );
    let examples = [
        (
            "assize compare 'make -j1' 'make -j2'",
            "Compare two commands here.",
        ),
        (
            "assize audit mail.txt",
            "Say what the numbers of a mail support.",
        ),
        ("assize doctor", "Show what this machine can measure."),
    ];
    add_examples(&mut text, &examples);
    text
}

fn page(verb: &Command) -> Result<String, Failure> {
    let name = format!("assize-{}", verb.get_name());
    let mut text = head(&name, verb);
    let own: Vec<&Command> = verb
        .get_subcommands()
        .filter(|verb| is_shown(verb))
        .collect();
    section(&mut text, "OPTIONS");
    options(&mut text, verb)?;
    for verb in own {
        let usage = verb.clone().render_usage().to_string();
        line(&mut text, ".SS", usage.trim_start_matches("Usage: "));
        paragraph(&mut text, &about(verb));
        options(&mut text, verb)?;
    }
    let facts = VERBS.iter().find(|facts| facts.verb == verb.get_name());
    let (finding, files, examples) = match facts {
        Some(facts) => (facts.finding, facts.files, facts.examples),
        None => ("", &[][..], &[][..]),
    };
    tail(&mut text, finding, files);
    add_examples(&mut text, examples);
    section(&mut text, "SEE ALSO");
    paragraph(&mut text, "assize(1)");
    Ok(text)
}

/// The title, the name, the usage and the description.
fn head(name: &str, command: &Command) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut text = format!(".TH {} 1 \"\" \"assize {version}\"\n", name.to_uppercase());
    // Prints hyphens as typed, so that options can be copied, and does not divide words.
    text.push_str(".nh\n.ad l\n");
    section(&mut text, "NAME");
    let short = command.get_about().map(ToString::to_string);
    text.push_str(&format!(
        "{} \\- {}\n",
        escaped(name),
        escaped(&short.unwrap_or_default())
    ));
    section(&mut text, "SYNOPSIS");
    let uses = command.get_subcommands().filter(|verb| is_shown(verb));
    let mut uses: Vec<Command> = uses.cloned().collect();
    if uses.is_empty() || name == "assize" {
        uses = vec![command.clone()];
    }
    for mut verb in uses {
        let usage = verb.render_usage().to_string();
        line(&mut text, ".B", usage.trim_start_matches("Usage: "));
        text.push_str(".br\n");
    }
    section(&mut text, "DESCRIPTION");
    paragraph(&mut text, &about(command));
    text
}

fn about(command: &Command) -> String {
    let about = command.get_long_about().or_else(|| command.get_about());
    about.map(ToString::to_string).unwrap_or_default()
}

/// The options of a command, grouped by heading.
fn options(text: &mut String, command: &Command) -> Result<(), Failure> {
    let mut rendered = Vec::new();
    let all = command.clone().mut_args(|one| one.hide_short_help(false));
    Man::new(all)
        .render_options_section(&mut rendered)
        .map_err(|source| Failure::Write {
            what: "a manual page".into(),
            source,
        })?;
    for line in String::from_utf8_lossy(&rendered).lines() {
        match line.strip_prefix(".SH ") {
            Some("OPTIONS") => {}
            Some(heading) => text.push_str(&format!(".SS {heading}\n")),
            None => text.push_str(&format!("{line}\n")),
        }
    }
    Ok(())
}

/// Exit statuses, files and the environment.
fn tail(text: &mut String, finding: &str, files: &[(&str, &str)]) {
    section(text, "EXIT STATUS");
    item(text, "0", SUCCESS);
    if !finding.is_empty() {
        item(text, "1", finding);
    }
    STATUSES
        .iter()
        .for_each(|(status, what)| item(text, status, what));
    section(text, "FILES");
    files
        .iter()
        .chain([&CACHE])
        .for_each(|(file, what)| item(text, file, what));
    section(text, "ENVIRONMENT");
    ENVIRONMENT
        .iter()
        .for_each(|(name, what)| item(text, name, what));
}

fn add_examples(text: &mut String, examples: &[(&str, &str)]) {
    if examples.is_empty() {
        return;
    }
    section(text, "EXAMPLES");
    for (command, what) in examples {
        paragraph(text, what);
        text.push_str(".PP\n.RS\n.nf\n");
        text.push_str(&format!("{}\n.fi\n.RE\n", escaped(command)));
    }
}

fn section(text: &mut String, title: &str) {
    line(text, ".SH", title);
}

/// A roff request with one argument.
fn line(text: &mut String, request: &str, argument: &str) {
    let argument = escaped(argument).replace('"', "\\(dq");
    text.push_str(&match argument.is_empty() {
        true => format!("{request}\n"),
        false => format!("{request} \"{argument}\"\n"),
    });
}

/// A tagged paragraph: a term and its meaning.
fn item(text: &mut String, term: &str, meaning: &str) {
    text.push_str(&format!(".TP\n\\fB{}\\fR\n", escaped(term)));
    let mut paragraphs = meaning.split("\n\n");
    text.push_str(&filled(paragraphs.next().unwrap_or_default()));
    for more in paragraphs {
        text.push_str(".IP\n");
        text.push_str(&filled(more));
    }
}

fn paragraph(text: &mut String, words: &str) {
    for part in words.split("\n\n") {
        text.push_str(".PP\n");
        text.push_str(&filled(part));
    }
}

/// A line of running text; nothing if `text` is empty.
fn filled(text: &str) -> String {
    match escaped(text.trim()).replace('\n', " ") {
        text if text.is_empty() => text,
        text => format!("{text}\n"),
    }
}

/// Escapes text for roff.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\(rs").replace('-', "\\-");
    let text = text
        .replace('\'', "\\(aq")
        .replace('`', "\\(ga")
        .replace('^', "\\(ha");
    let text = text.replace('~', "\\(ti");
    match text.starts_with('.') {
        true => format!("\\&{text}"),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verb_has_facts_for_its_page() {
        let command = Cli::command();
        let verbs = command.get_subcommands().filter(|verb| is_shown(verb));
        let mut verbs: Vec<&str> = verbs.map(Command::get_name).collect();
        let mut known: Vec<&str> = VERBS.iter().map(|facts| facts.verb).collect();
        verbs.sort_unstable();
        known.sort_unstable();
        assert_eq!(known, verbs);
    }

    #[test]
    fn text_is_printed_as_it_is() {
        assert_eq!(escaped(".x 'a' \\ -o"), "\\&.x \\(aqa\\(aq \\(rs \\-o");
        assert_eq!(filled(" a\nb "), "a b\n");
        assert_eq!(filled(""), "");
        assert_eq!(ascii("1 ± 2…"), "1 \\[u00B1] 2\\[u2026]");
    }
}
