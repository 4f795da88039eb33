//! Command-line overrides.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use assize_plan::{Overrides, Plan};

use crate::common::{FULL, SMALL, read};

fn set(pairs: &[(&str, &[&str])]) -> Overrides {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Overrides {
        levels: pairs
            .iter()
            .map(|(factor, levels)| ((*factor).to_owned(), owned(levels)))
            .collect(),
        ..Overrides::default()
    }
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.configurations
        .iter()
        .map(|one| one.name.as_str())
        .collect()
}

#[test]
fn options_come_before_the_file() {
    let overrides = Overrides {
        runs: Some(5),
        seed: Some(u64::MAX),
        target: Some("ssh:lab".to_owned()),
        cpus: Some(3),
        ..Overrides::default()
    };
    let plan = read(FULL).plan(&overrides).unwrap();
    let kernel = Overrides {
        kernel: Some("debian:7".to_owned()),
        ..Overrides::default()
    };
    let kernel = read(SMALL).plan(&kernel).unwrap();
    assert_eq!(kernel.configurations[0].machine.kernel, "debian:7");
    assert_eq!((plan.seed, plan.target.as_str()), (u64::MAX, "ssh:lab"));
    assert_eq!(plan.runs.len(), 5 * 4 * 3);
    assert!(plan.configurations.iter().all(|one| one.machine.cpus == 3));
}

#[test]
fn only_the_levels_named_are_kept_under_the_names_they_had() {
    let experiment = read(FULL);
    let whole = experiment.plan(&Overrides::default()).unwrap();
    let part = experiment.plan(&set(&[("load", &["hogs"])])).unwrap();
    assert_eq!(names(&part), ["hogs", "hogs/aa"]);
    assert_eq!(part.factors["load"], ["hogs"]);
    assert_eq!(part.factors["bypass"], ["off"]);
    assert_eq!(part.payload, whole.payload);
    let part = experiment.plan(&set(&[("bypass", &["off"])])).unwrap();
    assert_eq!(names(&part), ["none", "none/aa", "hogs"]);
    let every = set(&[("load", &["hogs", "none"])]);
    let mut same = experiment.plan(&every).unwrap();
    assert_eq!(std::mem::take(&mut same.overrides), every);
    assert_eq!(same, whole);
}

#[test]
fn the_order_of_blocks_does_not_hang_on_the_target() {
    let experiment = read(FULL);
    let whole = experiment.plan(&Overrides::default()).unwrap();
    let host = Overrides {
        target: Some("host".to_owned()),
        ..Overrides::default()
    };
    assert_eq!(experiment.plan(&host).unwrap().runs, whole.runs);
}

#[test]
fn wrong_options_name_themselves() {
    let diagonal = "title = \"x\"
        exclude = [{ a = \"2\", b = \"3\" }, { a = \"3\", b = \"2\" }]
        [factors.a.1]
        [factors.a.2]
        command_line = [\"a=2\"]
        [factors.a.3]
        command_line = [\"a=3\"]
        [factors.b.1]
        [factors.b.2]
        command_line = [\"b=2\"]
        [factors.b.3]
        command_line = [\"b=3\"]
        [workloads.w]
        kind = \"hackbench\"";
    let kernel = |name: &str, target: Option<&str>| Overrides {
        kernel: Some(name.to_owned()),
        target: target.map(str::to_owned),
        ..Overrides::default()
    };
    let kernels = format!("{SMALL}[factors.k.one]\n[factors.k.two]\nkernel = \"debian:6.1\"\n");
    let factor = format!("{SMALL}[factors.n.one]\n[factors.n.two]\ncpus = 2\n");
    for (text, overrides, wanted) in [
        (
            FULL,
            set(&[("lode", &["hogs"])]),
            "--set: lode: no such factor; did you mean 'load'?",
        ),
        (
            FULL,
            set(&[("load", &["hog"])]),
            "--set: load: no level 'hog'; did you mean 'hogs'?",
        ),
        (
            FULL,
            set(&[("load", &["hogs", "hogs"])]),
            "--set: load: level used twice: 'hogs'; remove one",
        ),
        (FULL, set(&[("load", &[])]), "--set: load: keeps no level"),
        (
            FULL,
            set(&[("load", &["hogs"]), ("bypass", &["on"])]),
            "--set: no remaining configuration has the first remaining level of each factor; keep \
             other levels",
        ),
        (
            diagonal,
            set(&[("a", &["2", "3"]), ("b", &["2", "3"])]),
            "--set: the effect of b=3 cannot be distinguished from that of a=3: they always change \
             together; keep more combinations",
        ),
        (
            FULL,
            Overrides {
                target: Some("exakt".to_owned()),
                ..Overrides::default()
            },
            "--target: exakt: no such target; did you mean 'exact'?",
        ),
        (
            FULL,
            Overrides {
                runs: Some(0),
                ..Overrides::default()
            },
            "--runs: 0 is not between 1 and 10000",
        ),
        (
            FULL,
            Overrides {
                cpus: Some(1),
                ..Overrides::default()
            },
            "x.toml:56: workloads.timer.scheduling.cpus: there is no CPU 1: the last one is 0; \
             set cpus = 2 at the top",
        ),
        (
            &factor,
            Overrides {
                cpus: Some(1),
                ..Overrides::default()
            },
            "--cpus: factors.n: sets the number of CPUs; use --set n=LEVEL",
        ),
        (
            &kernels,
            kernel("k", None),
            "--kernel: factors.k: sets the kernel; use --set k=LEVEL",
        ),
        (
            FULL,
            kernel("debian:7", Some("ssh:lab")),
            "--kernel: debian:7: the target ssh:lab uses the kernel that runs there; \
             leave it out, or use the target exact or live",
        ),
        (
            FULL,
            kernel("a b", None),
            "--kernel: 'a b' is not a kernel; use 'debian:6.12', 'running' or a name added by \
             assize kernel add",
        ),
    ] {
        let experiment = read(text);
        match experiment.plan(&overrides) {
            Ok(plan) => panic!("{wanted}: {:?}", names(&plan)),
            Err(error) => assert_eq!(error.to_string(), wanted),
        }
    }
}
