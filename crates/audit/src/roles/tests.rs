use super::*;
use crate::Line;
use crate::grammar::Grammar;
use crate::grammar::table::Table;

/// Configuration, workload, metric and value of a figure.
type Placed = (String, String, String, f64);

/// What each figure of a table is of, and what speaks against that.
fn placed(text: &str, options: &Options) -> (Vec<Placed>, Vec<Sign>) {
    let lines = text.lines().zip(1..);
    let lines: Vec<Line<'_>> = lines.map(|(line, at)| Line::plain(at, line)).collect();
    let block = Table.read(&lines).unwrap();
    let grid = block.findings.into_iter().find_map(|(_, f)| match f {
        Finding::Grid(grid) => Some(grid),
        _ => None,
    });
    let context = Context {
        runs: None,
        spread: None,
        options,
    };
    let resolved = resolve(&grid.unwrap(), &context);
    let mut all = Vec::new();
    for (_, finding) in resolved.findings {
        if let Finding::Run { labels, figures } = finding {
            let name = labels.configuration.unwrap_or_default();
            let work = labels.workload.unwrap_or_default();
            let own = figures.into_iter();
            all.extend(own.map(|f| (name.clone(), work.clone(), f.metric, f.value)));
        }
    }
    (all, resolved.signs)
}

fn of(name: &str, work: &str, metric: &str, value: f64) -> (String, String, String, f64) {
    (name.into(), work.into(), metric.into(), value)
}

#[test]
fn rows_that_number_the_runs_of_each_name_are_runs_of_configurations() {
    let text = "busy % cpu 0 cpu 1 score\na_1 9.5 8.5 120\na_2 9.4 8.4 121\n\
                b_1 7.5 6.5 130\nb_2 7.4 6.4 131\n";
    let (figures, signs) = placed(text, &Options::default());
    assert!(
        figures.contains(&of("b", "", "score", 131.0)),
        "{figures:?}"
    );
    assert_eq!(signs, [Sign::NumberedRuns]);
    // Of one name, or with one run of a name, they number something else.
    for other in [text.replace("b_", "a_2"), text.replace("b_2", "c_1")] {
        assert_eq!(placed(&other, &Options::default()).1, [Sign::Undeclared]);
    }
}

#[test]
fn a_column_headed_kernel_names_configurations() {
    let text = "test   kernel   time   rate\nread   old   12.5   80\nread   new   11.5   90\n";
    let (figures, signs) = placed(text, &Options::default());
    assert_eq!(figures[0], of("old", "read", "time", 12.5));
    assert_eq!(signs, [Sign::ConfigurationKey]);
    let sizes = text.replace("old", "4.5").replace("new", "8.5");
    let (_, signs) = placed(&sizes, &Options::default());
    assert_ne!(signs, [Sign::ConfigurationKey]);
}

#[test]
fn what_nothing_says_is_read_and_not_judged_unless_the_user_says_it() {
    let text = "test   before   after\nread   12.5   11.5\nwrite  22.5   21.5\n";
    let (figures, signs) = placed(text, &Options::default());
    assert!(
        figures.contains(&of("", "read", "before", 12.5)),
        "{figures:?}"
    );
    assert_eq!(signs, [Sign::Undeclared]);
    let options = Options {
        columns_are: Some(Role::Configurations),
        ..Options::default()
    };
    let (figures, signs) = placed(text, &options);
    assert!(
        figures
            .iter()
            .any(|(name, .., value)| name == "after" && *value == 21.5)
    );
    assert!(signs.is_empty());
}
