//! Parameters of commands: each command is run with each value.

use crate::cli::CommandsArguments;

/// Maximum number of commands.
const MOST: usize = 100;

/// A parameter and its values.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CommandParameter {
    /// The placeholder in commands: `{NAME}`.
    place: String,
    values: Vec<String>,
}

/// Substitutes each combination of parameter values in the commands and in their set-up and
/// tear-down.
///
/// # Errors
/// A parameter without values, given twice or not used by any command; an empty range; too many
/// commands.
pub(super) fn expand(asked: &CommandsArguments) -> Result<CommandsArguments, String> {
    let mut expanded = asked.clone();
    for parameter in parameters(asked)? {
        let CommandParameter { place, values } = parameter;
        let uses = |text: &String| text.contains(&place);
        if !asked.commands.iter().any(uses) {
            return Err(format!("no command contains {place}"));
        }
        let commands = expanded.commands.len();
        let with_each = |texts: &[String]| -> Vec<String> {
            let replaced = |text: &String| {
                values
                    .iter()
                    .map(|value| text.replace(&place, value))
                    .collect()
            };
            texts
                .iter()
                .flat_map(|text| -> Vec<String> { replaced(text) })
                .collect()
        };
        // A command without the parameter is run once.
        let mut all = with_each(&expanded.commands);
        all.dedup();
        let around = |texts: &[String]| match texts {
            // Given once for all commands, and the same for all values.
            [text] if !text.contains(&place) => texts.to_vec(),
            [text] => with_each(&vec![text.clone(); commands]),
            several => with_each(several),
        };
        expanded.prepare = around(&expanded.prepare);
        expanded.conclude = around(&expanded.conclude);
        expanded.commands = all;
        if expanded.commands.len() > MOST {
            return Err(format!(
                "the parameters make more than {MOST} commands; give fewer values"
            ));
        }
    }
    Ok(expanded)
}

/// The parameters in their order: lists, then ranges.
fn parameters(asked: &CommandsArguments) -> Result<Vec<CommandParameter>, String> {
    let mut all: Vec<CommandParameter> = Vec::new();
    let lists = asked.parameter_list.chunks(2).map(|words| match words {
        [name, values] => Ok((name, values.split(',').map(str::to_owned).collect())),
        _ => Err("--parameter-list needs a name and values: VAR A,B,C".to_owned()),
    });
    let ranges = asked.parameter_scan.chunks(3).map(|words| match words {
        [name, first, last] => Ok((
            name,
            range(first, last, asked.parameter_step_size.as_deref())?,
        )),
        _ => Err("--parameter-scan needs a name and two numbers: VAR MIN MAX".to_owned()),
    });
    for parameter in lists.chain(ranges) {
        let (name, values): (&String, Vec<String>) = parameter?;
        let place = format!("{{{name}}}");
        if all.iter().any(|other| other.place == place) {
            return Err(format!("the parameter {name} is given twice"));
        }
        all.push(CommandParameter { place, values });
    }
    if asked.parameter_step_size.is_some() && asked.parameter_scan.is_empty() {
        return Err("--parameter-step-size needs --parameter-scan".into());
    }
    Ok(all)
}

/// The numbers of a range, with as many decimals as the most precise of its arguments.
fn range(first: &str, last: &str, step: Option<&str>) -> Result<Vec<String>, String> {
    let step = step.unwrap_or("1");
    let number = |text: &str| match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(format!("--parameter-scan: '{text}' is not a number")),
    };
    let (from, to, by) = (number(first)?, number(last)?, number(step)?);
    if by <= 0.0 || from > to {
        return Err(format!(
            "--parameter-scan: there is nothing from {first} to {last} in steps of {step}"
        ));
    }
    let decimals = |text: &str| text.split_once('.').map_or(0, |(_, digits)| digits.len());
    let decimals = [first, last, step]
        .into_iter()
        .map(decimals)
        .max()
        .unwrap_or(0);
    // The tolerance keeps rounding from losing the last value.
    let steps = ((to - from) / by + 1e-9).floor();
    if steps >= MOST as f64 {
        return Err(format!(
            "--parameter-scan: more than {MOST} values; use a larger step"
        ));
    }
    let value = |at: u32| format!("{:.decimals$}", from + by * f64::from(at));
    Ok((0..=steps as u32).map(value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn asked(commands: &[&str], list: &[&str], scan: &[&str]) -> CommandsArguments {
        CommandsArguments {
            commands: words(commands),
            parameter_list: words(list),
            parameter_scan: words(scan),
            ..CommandsArguments::default()
        }
    }

    #[test]
    fn each_command_has_each_combination_of_values() {
        let two = expand(&asked(
            &["make -j{jobs} {what}", "true"],
            &["what", "all,install"],
            &["jobs", "1", "2"],
        ));
        assert_eq!(
            two.unwrap().commands,
            [
                "make -j1 all",
                "make -j2 all",
                "make -j1 install",
                "make -j2 install",
                "true"
            ]
        );
    }

    #[test]
    fn what_is_executed_around_a_run_has_its_values() {
        let mut each = asked(&["cat {file}"], &["file", "a,b"], &[]);
        each.prepare = words(&["touch {file}"]);
        each.conclude = words(&["sync"]);
        let done = expand(&each).unwrap();
        assert_eq!(done.prepare, ["touch a", "touch b"]);
        assert_eq!(done.conclude, ["sync"]);
    }

    #[test]
    fn ranges_have_the_decimals_that_were_written() {
        assert_eq!(range("1", "3", None).unwrap(), ["1", "2", "3"]);
        assert_eq!(
            range("0.1", "0.3", Some("0.1")).unwrap(),
            ["0.1", "0.2", "0.3"]
        );
        assert_eq!(
            range("0", "1", Some("0.50")).unwrap(),
            ["0.00", "0.50", "1.00"]
        );
    }

    #[test]
    fn what_is_no_parameter_is_refused() {
        for (list, scan, said) in [
            (&["n", "1"][..], &[][..], "no command contains {n}"),
            (&["x", "1", "x", "2"], &[], "the parameter x is given twice"),
            (&[], &["x", "2", "1"], "nothing from 2 to 1"),
            (&[], &["x", "a", "1"], "'a' is not a number"),
            (&[], &["x", "0", "1e9"], "more than 100 values"),
        ] {
            let why = expand(&asked(&["sleep {x}"], list, scan)).unwrap_err();
            assert!(why.contains(said), "{why}");
        }
    }
}
