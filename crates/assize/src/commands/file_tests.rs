use assize_job::WorkloadKind;
use assize_plan::{Overrides, Plan};

use super::*;

fn arguments_for(commands: &[&str]) -> CommandsArguments {
    CommandsArguments {
        commands: commands.iter().map(|one| (*one).into()).collect(),
        timeout: "60min".into(),
        ..CommandsArguments::default()
    }
}

fn plan(asked: &CommandsArguments) -> Plan {
    let text = CommandsExperiment::from_arguments(asked).unwrap().text();
    let experiment = assize_plan::parse(&text, "x.toml").unwrap();
    experiment.plan(&Overrides::default()).unwrap()
}

fn argv(plan: &Plan, at: usize) -> &[String] {
    let workload = &plan.configurations[at].workloads[0];
    match &workload.kind {
        WorkloadKind::Command(command) => &command.argv,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_command_is_a_level_and_the_first_the_baseline() {
    let plan = plan(&arguments_for(&["sleep 0.1", "sleep 0.2", "echo 'a  b'"]));
    let names: Vec<&str> = plan
        .configurations
        .iter()
        .map(|c| c.name.as_str())
        .collect();
    assert_eq!(names, ["sleep-0.1", "sleep-0.2", "echo-a-b"]);
    assert_eq!(argv(&plan, 0), ["sleep", "0.1"]);
    assert_eq!(argv(&plan, 2), ["echo", "a  b"]);
    assert_eq!(plan.target, "host");
    assert_eq!(plan.primary[0].metric, "elapsed");
    let until = plan.until.unwrap();
    assert_eq!((until.within, until.first_look), (0.02, 10));
    assert_eq!(plan.runs.len(), 3 * 30);
}

#[test]
fn one_that_needs_a_shell_has_all_started_by_one() {
    let plan = plan(&arguments_for(&["sleep 0.1", "sleep 0.1 | cat"]));
    assert_eq!(argv(&plan, 0), ["sh", "-c", "sleep 0.1"]);
    assert_eq!(argv(&plan, 1), ["sh", "-c", "sleep 0.1 | cat"]);
}

#[test]
fn any_text_comes_back_from_the_file_as_it_was() {
    let all: String = (1..=0x9f).filter_map(char::from_u32).collect();
    let strange = format!("printf '{}' \"{{}}\" é\u{1f600}", all.replace('\'', ""));
    let plan = plan(&arguments_for(&["true", &strange]));
    assert_eq!(argv(&plan, 1), ["sh", "-c", &strange]);
}

#[test]
fn the_same_twice_is_an_experiment_of_noise() {
    let plan = plan(&arguments_for(&["sleep 0.1", "sleep  0.1"]));
    let repeats: Vec<bool> = plan.configurations.iter().map(|c| c.aa).collect();
    assert_eq!(repeats, [false, true]);
    assert_eq!((plan.runs.len(), plan.until.is_none()), (20, true));
    let why = CommandsExperiment::from_arguments(&arguments_for(&["a", "b", "a"])).unwrap_err();
    assert!(why.starts_with("a: is given twice"), "{why}");
    let why = CommandsExperiment::from_arguments(&arguments_for(&["a b"])).unwrap_err();
    assert!(why.ends_with("assize compare 'a b' 'a b'"), "{why}");
}

#[test]
fn runs_are_fixed_or_bounded() {
    let of = |runs, min_runs, max_runs| {
        CommandsExperiment::from_arguments(&CommandsArguments {
            runs,
            min_runs,
            max_runs,
            ..arguments_for(&["a", "b"])
        })
        .map(|experiment| experiment.often)
    };
    let until = |from, to| {
        let within = "2%".into();
        Ok(CommandRepetitions::Until { within, from, to })
    };
    assert_eq!(of(Some(4), None, None), Ok(CommandRepetitions::Runs(4)));
    assert_eq!(of(None, None, None), until(10, 30));
    assert_eq!(of(None, Some(50), None), until(50, 50));
    assert_eq!(of(None, None, Some(6)), until(6, 6));
    assert!(
        of(None, Some(9), Some(8))
            .unwrap_err()
            .contains("--min-runs 9")
    );
}

#[test]
fn what_is_prepared_is_done_before_each_run_of_its_command() {
    let two = CommandsArguments {
        prepare: vec!["sync".into(), "echo 3 > x".into()],
        conclude: vec!["rm -f y".into()],
        ..arguments_for(&["a", "b"])
    };
    let experiment = CommandsExperiment::from_arguments(&two).unwrap();
    let text = experiment.text();
    for line in [
        "setup = [{ command = [\"sync\"] }]\nteardown = [{ command = [\"rm\", \"-f\", \"y\"] }]\n",
        "setup = [{ command = [\"sh\", \"-c\", \"echo 3 > x\"] }]\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert_eq!(plan(&two).configurations.len(), 2);
    let three = CommandsArguments {
        prepare: vec!["p".into(); 3],
        ..two
    };
    let why = CommandsExperiment::from_arguments(&three).unwrap_err();
    assert!(why.starts_with("--prepare is given 3 times for 2"), "{why}");
}

#[test]
fn names_are_those_given_and_differ() {
    let names = |texts: &[&str], given: &[&str]| {
        let own = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        super::names(&own(texts), &own(given))
    };
    assert_eq!(
        names(&["a b", "a|b", "|"], &[]).unwrap(),
        ["a-b", "a-b-2", "command-3"]
    );
    assert_eq!(names(&["on", "base"], &[]).unwrap(), ["on-1", "base-2"]);
    assert_eq!(names(&["a", "b"], &["old"]).unwrap(), ["old", "b"]);
    assert!(names(&["a"], &["x", "y"]).is_err());
    let long = "x".repeat(200);
    assert_eq!(
        names(&[&long, &long], &[]).unwrap()[1],
        "x".repeat(40) + "-2"
    );
}

#[test]
fn on_the_exact_machine_a_shell_goes_to_this_directory() {
    let asked = CommandsArguments {
        target: CommandTarget::Exact,
        input: Some("in put".into()),
        environment: vec!["HOME=/h".into(), "X=1=2".into()],
        prepare: vec!["sync".into()],
        ..arguments_for(&["sort -r", "sort"])
    };
    let experiment = CommandsExperiment::from_arguments(&asked).unwrap();
    let text = experiment.on_exact(CommandFiles::default()).text();
    let plan = assize_plan::parse(&text, "x.toml").unwrap();
    let plan = plan.plan(&Overrides::default()).unwrap();
    let here = std::env::current_dir().unwrap();
    let script = format!("cd {} && exec \"$@\" < 'in put'", here.display());
    assert_eq!(argv(&plan, 0), ["sh", "-c", &script, "sh", "sort", "-r"]);
    let set = match &plan.configurations[0].workloads[0].kind {
        WorkloadKind::Command(command) => &command.environment,
        other => panic!("{other:?}"),
    };
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert!(set.contains(&pair("HOME", "/h")) && set.contains(&pair("X", "1=2")));
    assert_eq!((plan.target.as_str(), plan.primary.len()), ("exact", 2));
    assert_eq!((plan.margin, plan.runs.len()), (0.001, 2 * 8));
    assert!(
        text.contains("setup = [{ command = [\"sh\", \"-c\", \"cd "),
        "{text}"
    );
}
