//! Turns commands into the text of an experiment file.

use std::path::Path;

use crate::cli::{CommandOutput, CommandTarget, CommandsArguments};
use crate::shell;

use super::carried::{self, CommandFiles};
use super::scan;
use super::words::{argv, wants_shell};

/// Runs on the exact machine by default, where little varies.
const EXACT_RUNS: u32 = 8;
/// Runs before the first look, and maximum number of runs, by default.
const LEAST: u32 = 10;
const MOST: u32 = 30;
/// Default maximum width of the intervals.
const WITHIN: &str = "2%";
/// The first primary metric on this machine.
pub(super) const ELAPSED: &str = "elapsed";
/// The first primary metric on the exact machine.
const INSTRUCTIONS: &str = "guest_instructions";
/// Elapsed time comes first. CPU time shows differences that load on the machine hides.
const PRIMARY: &str = "\
primary = [
    { metric = \"elapsed\", better = \"lower\" },
    { metric = \"command_cpu_time\", better = \"lower\" },
]
";
/// The margin on the exact machine, where intervals are narrow.
const EXACT_MARGIN: &str = "0.1%";
/// What differs on the exact machine, where CPU time is what counts anyway.
const EXACT_PRIMARY: &str = "\
instruments = [\"guest-instructions\", \"perf-software\", \"timer-list\"]
primary = [
    { metric = \"guest_instructions\", better = \"lower\" },
    { metric = \"elapsed\", better = \"lower\" },
]
";
/// Maximum length of a name derived from a command.
const LONGEST: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ComparedCommand {
    /// The command as given.
    text: String,
    /// The name of its level.
    name: String,
    /// Its words.
    pub(super) argv: Vec<String>,
    /// The command to run before each run.
    pub(super) prepare: Option<Vec<String>>,
    /// The command to run after each run.
    pub(super) conclude: Option<Vec<String>>,
}

/// How many times to run commands.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CommandRepetitions {
    Runs(u32),
    Until { within: String, from: u32, to: u32 },
}

impl ComparedCommand {
    /// All that is executed in a run, in its order.
    pub(super) fn steps(&self) -> impl Iterator<Item = &[String]> + Clone {
        let steps = [
            self.prepare.as_ref(),
            Some(&self.argv),
            self.conclude.as_ref(),
        ];
        steps.into_iter().flatten().map(Vec::as_slice)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommandsExperiment {
    title: String,
    pub(super) commands: Vec<ComparedCommand>,
    often: CommandRepetitions,
    /// The margin of equivalence, if the command line gives one.
    margin: Option<String>,
    timeout: String,
    /// Whether runs may end with any exit status.
    any_status: bool,
    /// Variables of the commands.
    environment: Vec<(String, String)>,
    /// What the exact machine gets; on this machine commands find their files.
    carried: Option<CommandFiles>,
}

impl CommandsExperiment {
    /// Builds the experiment from the command line, or returns why it cannot.
    pub(super) fn from_arguments(asked: &CommandsArguments) -> Result<CommandsExperiment, String> {
        let asked = &scan::expand(asked)?;
        let commands = commands(asked)?;
        let [first, others @ ..] = &commands[..] else {
            return Err("no command is given".into());
        };
        if others.is_empty() {
            return Err(format!(
                "one command alone cannot be compared; give another, or the same twice to measure \
                 the noise: assize compare {0} {0}",
                shell::quote(asked.commands[0].as_ref())
            ));
        }
        let same = |one: &ComparedCommand, other: &ComparedCommand| {
            (&one.argv, &one.prepare, &one.conclude)
                == (&other.argv, &other.prepare, &other.conclude)
        };
        let twice = same(first, &others[0]);
        if let Some(at) = (1..commands.len()).find(|at| {
            let before = commands.iter().take(*at);
            commands.len() > 2 && before.into_iter().any(|one| same(one, &commands[*at]))
        }) {
            return Err(format!(
                "{}: is given twice; to measure the noise, give it twice and nothing else",
                asked.commands[at]
            ));
        }
        Ok(CommandsExperiment {
            title: title(&asked.commands),
            often: often(asked, twice)?,
            margin: None,
            timeout: asked.timeout.clone(),
            any_status: asked.ignore_failure,
            environment: carried::environment(asked)?,
            carried: None,
            commands: match twice {
                true => vec![first.clone()],
                false => commands,
            },
        })
    }

    /// The text of the command that a configuration runs.
    pub(super) fn command_of(&self, configuration: &str) -> &str {
        let mut named = self.commands.iter();
        let named = named.find(|one| one.name == configuration);
        // If both commands are the same, no level has a name.
        named.or(self.commands.first()).map_or("", |one| &one.text)
    }

    /// Sets the margin from the command line.
    pub(super) fn with_margin(self, margin: Option<f64>) -> CommandsExperiment {
        // Rounds away floating-point noise.
        let percent = |share: f64| format!("{}%", (1e8 * share).round() / 1e6);
        CommandsExperiment {
            margin: margin.map(percent),
            ..self
        }
    }

    /// Lets the exact machine run the commands, with these files.
    pub(super) fn on_exact(self, carried: CommandFiles) -> CommandsExperiment {
        CommandsExperiment {
            carried: Some(carried),
            margin: self.margin.or(Some(EXACT_MARGIN.into())),
            ..self
        }
    }

    /// The variables of the commands.
    pub(super) fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    /// The text of the experiment file.
    pub(super) fn text(&self) -> String {
        let quote = quoted;
        let (target, metric) = match &self.carried {
            Some(_) => ("\"exact\"\nmemory = \"1G\"", INSTRUCTIONS),
            None => ("\"host\"", ELAPSED),
        };
        let mut text = format!("title = {}\ntarget = {target}\n", quote(&self.title));
        text.push_str(&match &self.often {
            CommandRepetitions::Runs(runs) => format!("runs = {runs}\n"),
            CommandRepetitions::Until { within, from, to } => format!(
                "until = {{ within = {}, metric = {}, first_look = {from}, every = 5, max_runs = {to} }}\n",
                quote(within),
                quote(metric)
            ),
        });
        if let Some(margin) = &self.margin {
            text.push_str(&format!("margin = {}\n", quote(margin)));
        }
        text.push_str(&format!("timeout = {}\n", quote(&self.timeout)));
        match &self.carried {
            Some(carried) => text.push_str(&(EXACT_PRIMARY.to_owned() + &carried.set_up())),
            None => text.push_str(&("offset = \"0ms\"\n".to_owned() + PRIMARY)),
        }
        let [first, others @ ..] = &self.commands[..] else {
            return text;
        };
        text.push_str(&self.levels(first, others));
        text.push_str(&format!(
            "\n[workloads.command]\nkind = \"command\"\nargv = {}\noutput = \"tail\"\n",
            list(&first.argv)
        ));
        if self.any_status {
            let all: Vec<String> = (0..=u8::MAX).map(|status| status.to_string()).collect();
            text.push_str(&format!("statuses = [{}]\n", all.join(", ")));
        }
        if !self.environment.is_empty() {
            let set = self.environment.iter();
            let set = set.map(|(name, value)| format!("{} = {}", quote(name), quote(value)));
            let set: Vec<String> = set.collect();
            text.push_str(&format!("environment = {{ {} }}\n", set.join(", ")));
        }
        text + &self
            .carried
            .as_ref()
            .map_or(String::new(), CommandFiles::payload)
    }

    /// The levels: a command each, or a repeated baseline.
    fn levels(&self, first: &ComparedCommand, others: &[ComparedCommand]) -> String {
        let mut text = String::new();
        if others.is_empty() {
            text.push_str("# The same command twice: any difference is noise.\naa = true\n");
            text.push_str(&steps(first));
        } else {
            text.push_str(&format!("\n[factors.command.{}]\n", quoted(&first.name)));
            text.push_str(&steps(first));
        }
        for other in others {
            text.push_str(&format!(
                "\n[factors.command.{}]\nworkload.command.argv = {}\n{}",
                quoted(&other.name),
                list(&other.argv),
                steps(other)
            ));
        }
        text
    }
}

/// The commands on one line, for a title.
fn title(texts: &[String]) -> String {
    let text = texts.join(" against ").replace(char::is_control, " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The lines for the set-up and the tear-down of each run.
fn steps(command: &ComparedCommand) -> String {
    let step = |key: &str, argv: &Option<Vec<String>>| match argv {
        Some(argv) => format!("{key} = [{{ command = {} }}]\n", list(argv)),
        None => String::new(),
    };
    step("setup", &command.prepare) + &step("teardown", &command.conclude)
}

fn commands(asked: &CommandsArguments) -> Result<Vec<ComparedCommand>, String> {
    let texts = &asked.commands;
    let by_shell = !asked.no_shell && texts.iter().any(|text| wants_shell(text));
    let names = names(texts, &asked.names)?;
    let directory = match asked.target {
        CommandTarget::Host => None,
        CommandTarget::Exact => Some(carried::here()?),
    };
    let directory = directory.as_deref();
    let input = asked.input.as_deref();
    let steps = |texts: &[String], option: &str, count: usize| {
        let steps = around(texts, option, count)?.into_iter();
        let there = |argv| wrapped(argv, CommandOutput::Kept, directory, None);
        Ok::<_, String>(steps.map(move |step| step.map(there)).collect::<Vec<_>>())
    };
    let prepare = steps(&asked.prepare, "--prepare", texts.len())?;
    let conclude = steps(&asked.conclude, "--conclude", texts.len())?;
    let rows = texts
        .iter()
        .zip(names)
        .zip(prepare.into_iter().zip(conclude));
    rows.map(|((text, name), (prepare, conclude))| {
        Ok(ComparedCommand {
            text: text.clone(),
            name,
            argv: wrapped(argv(text, by_shell)?, asked.output, directory, input),
            prepare,
            conclude,
        })
    })
    .collect()
}

/// Lets a shell, which does not interpret the command, redirect its input and output and start it
/// in a directory.
fn wrapped(
    argv: Vec<String>,
    output: CommandOutput,
    directory: Option<&Path>,
    input: Option<&Path>,
) -> Vec<String> {
    let quote = |path: &Path| shell::quote(path.as_os_str());
    let into = directory.map_or(String::new(), |at| format!("cd {} && ", quote(at)));
    let from = input.map_or(String::new(), |file| format!(" < {}", quote(file)));
    let (shell, script) = match output {
        CommandOutput::Kept if directory.is_none() && input.is_none() => return argv,
        CommandOutput::Kept => ("sh", format!("{into}exec \"$@\"{from}")),
        CommandOutput::Null => ("sh", format!("{into}exec \"$@\"{from} > /dev/null")),
        // The exit status is that of the command, not of `cat`.
        CommandOutput::Pipe => (
            "bash",
            format!("{into}set -o pipefail; \"$@\"{from} | cat > /dev/null"),
        ),
    };
    let start = [shell, "-c", &script, shell].map(String::from);
    start.into_iter().chain(argv).collect()
}

/// Expands an option that may be given once for all commands, or once per command.
fn around(
    texts: &[String],
    option: &str,
    commands: usize,
) -> Result<Vec<Option<Vec<String>>>, String> {
    let one = |text: &String| argv(text, wants_shell(text)).map(Some);
    match texts {
        [] => Ok(vec![None; commands]),
        [text] => Ok(vec![one(text)?; commands]),
        several if several.len() == commands => several.iter().map(one).collect(),
        several => Err(format!(
            "{option} is given {} times for {commands} commands; give it once, or once for each",
            several.len()
        )),
    }
}

fn often(asked: &CommandsArguments, twice: bool) -> Result<CommandRepetitions, String> {
    let from = asked
        .min_runs
        .unwrap_or(LEAST.min(asked.max_runs.unwrap_or(LEAST)));
    let to = asked.max_runs.unwrap_or(MOST.max(from));
    let plain = asked.min_runs.is_none() && asked.max_runs.is_none() && asked.within.is_none();
    if from > to {
        return Err(format!(
            "--min-runs {from} is more than --max-runs {to}; lower --min-runs or raise --max-runs"
        ));
    }
    Ok(match asked.runs {
        Some(runs) => CommandRepetitions::Runs(runs),
        None if plain && asked.target == CommandTarget::Exact => {
            CommandRepetitions::Runs(EXACT_RUNS)
        }
        // Two identical commands differ by noise only, so no interval could be narrow
        // enough.
        None if twice => CommandRepetitions::Runs(from),
        None => CommandRepetitions::Until {
            within: asked.within.clone().unwrap_or_else(|| WITHIN.into()),
            from,
            to,
        },
    })
}

/// A name for each command: the given ones, else derived from its words.
fn names(texts: &[String], given: &[String]) -> Result<Vec<String>, String> {
    if given.len() > texts.len() {
        return Err(format!(
            "--command-name is given {} times for {} commands; give it once for each",
            given.len(),
            texts.len()
        ));
    }
    let mut names: Vec<String> = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let mut name = given.get(at).cloned().unwrap_or_else(|| name_of(text));
        let taken = |name: &str| {
            let name = name.to_lowercase();
            ["", "base", "on", "off"].contains(&name.as_str())
                || names.iter().any(|other| other.to_lowercase() == name)
        };
        if taken(&name) && given.get(at).is_none() {
            let number = at + 1;
            name = match name.as_str() {
                "" => format!("command-{number}"),
                name => format!("{name}-{number}"),
            };
        }
        names.push(name);
    }
    Ok(names)
}

/// Derives a name from a command: characters other than letters and digits become dashes.
fn name_of(command: &str) -> String {
    let mut name = String::new();
    for c in command.chars() {
        if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':') {
            name.push(c);
        } else if !name.ends_with('-') {
            name.push('-');
        }
    }
    let end = name.len().min(LONGEST);
    name[..end].trim_matches(['-', '.']).to_owned()
}

/// A TOML string: as in JSON, except for one character.
pub(crate) fn quoted(text: &str) -> String {
    let json = serde_json::Value::String(text.to_owned()).to_string();
    json.replace('\u{7f}', "\\u007F")
}

pub(super) fn list(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("[{}]", words.join(", "))
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
