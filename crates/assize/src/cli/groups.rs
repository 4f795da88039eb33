//! The verbs by purpose, as `assize --help` lists them.

use std::fmt::Write;

use clap::Command;

/// Headings and the verbs below them.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Measure", &["try", "compare", "run", "bisect", "hunt"]),
    ("Judge and report", &["audit", "report", "trend", "index"]),
    ("Look into a run", &["why", "trace", "debug", "when"]),
    (
        "Machines and what they can do",
        &["doctor", "list", "kernel"],
    ),
    (
        "Parts of an experiment, for scripts",
        &["plan", "run-one", "merge"],
    ),
];

/// Makes the help of the program list its verbs by purpose.
pub(crate) fn group_verbs(command: Command) -> Command {
    let mut verbs = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(verbs, "{heading}:");
        for name in names {
            let about = command
                .find_subcommand(name)
                .and_then(|verb| verb.get_about());
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(verbs, "  {name:<9}{about}");
        }
        verbs.push('\n');
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{verbs}Options:\n{{options}}\n\n\
         'assize VERB -h' lists a verb's options, 'assize VERB --help' explains them."
    ))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn each_verb_is_in_one_group_on_one_line() {
        let command = Cli::command();
        let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
        let mut verbs: Vec<&str> = verbs.map(Command::get_name).collect();
        let mut listed: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        verbs.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, verbs);
        let help = group_verbs(Cli::command()).render_help().to_string();
        assert!(
            help.lines().all(|line| line.chars().count() <= 80),
            "{help}"
        );
        assert!(help.lines().count() <= 40, "{help}");
    }

    #[test]
    fn the_short_help_of_a_verb_fits_on_a_screen() {
        let mut command = Cli::command();
        command.build();
        let mut open: Vec<Command> = command.get_subcommands().cloned().collect();
        while let Some(mut verb) = open.pop() {
            open.extend(verb.get_subcommands().cloned());
            let help = verb.render_help().to_string();
            let lines = help.lines().count();
            assert!(lines <= 45, "{}: {lines} lines\n{help}", verb.get_name());
        }
    }
}
