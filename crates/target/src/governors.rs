//! Idle governors: whether a kernel has the one that an order names.

use assize_job::{IdleGovernor, Order};

use crate::Error;
use crate::fault::{mend, wrong};
use crate::kernels::Kernel;

const ALL: [IdleGovernor; 4] = [
    IdleGovernor::Menu,
    IdleGovernor::Ladder,
    IdleGovernor::Haltpoll,
    IdleGovernor::Teo,
];

/// Fails if an order wants a governor that its kernel is built without. If the kernel's
/// configuration is not known, the check passes, since the run itself will show it.
pub(crate) fn check_kernel(kernel: &Kernel, order: &Order) -> Result<(), Error> {
    let Some(idle) = &order.job.idle else {
        return Ok(());
    };
    let all = ALL.map(|governor| (governor.word(), option_of(governor)));
    let Some(found) = kernel.built_in(&all.each_ref().map(|(_, option)| option.as_str()))? else {
        return Ok(());
    };
    let option = option_of(idle.governor);
    if found.contains(&option.as_str()) {
        return Ok(());
    }
    let others = all
        .iter()
        .filter(|(_, option)| found.contains(&option.as_str()));
    let others: Vec<&str> = others.map(|(word, _)| *word).collect();
    Err(mend(
        wrong(
            format!(
                "use the idle governor {} on the kernel {}",
                idle.governor.word(),
                kernel.name
            ),
            format!("the kernel is built without it ({option}=y)"),
        ),
        format!(
            "use one that it has ({}), or build a kernel with {option}=y",
            others.join(", ")
        ),
    ))
}

/// Fails if an order for the exact machine wants an idle governor that only guests of KVM
/// have.
pub(crate) fn check_exact(order: &Order) -> Result<(), Error> {
    let governor = order.job.idle.as_ref().map(|idle| idle.governor);
    match governor {
        Some(IdleGovernor::Haltpoll) => Err(mend(
            wrong(
                "use the idle governor haltpoll on the exact machine",
                "only guests of KVM have this governor, and the exact machine is not one",
            ),
            "use 'menu' or 'ladder', or --target live where there is KVM",
        )),
        _ => Ok(()),
    }
}

fn option_of(governor: IdleGovernor) -> String {
    format!("CONFIG_CPU_IDLE_GOV_{}", governor.word().to_uppercase())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use assize_job::{Idle, Job};

    use super::*;

    fn order(governor: Option<IdleGovernor>) -> Order {
        let idle = governor.map(|governor| Idle {
            states: Vec::new(),
            governor,
            delay: true,
            active_uw: 0,
            package_uw: 0,
            package_idle_uw: 0,
        });
        Order {
            job: Job {
                idle,
                ..Job::default()
            },
            ..Order::default()
        }
    }

    #[test]
    fn a_governor_that_a_kernel_is_built_without_is_refused_with_those_it_has() {
        let place = tempfile::tempdir().unwrap();
        let config = place.path().join("config");
        fs::write(
            &config,
            "CONFIG_CPU_IDLE_GOV_LADDER=y\nCONFIG_CPU_IDLE_GOV_MENU=y\n\
             # CONFIG_CPU_IDLE_GOV_TEO is not set\n",
        )
        .unwrap();
        let mut kernel = Kernel::of_config("debian:7", &config);
        let teo = order(Some(IdleGovernor::Teo));
        let error = check_kernel(&kernel, &teo).unwrap_err();
        let said = error.to_string();
        for word in [
            "teo",
            "debian:7",
            "menu, ladder)",
            "CONFIG_CPU_IDLE_GOV_TEO=y",
        ] {
            assert!(said.contains(word), "{said}");
        }
        assert!(error.wrong_use);
        for governor in [None, Some(IdleGovernor::Menu), Some(IdleGovernor::Ladder)] {
            assert_eq!(check_kernel(&kernel, &order(governor)), Ok(()));
        }
        fs::write(&config, "CONFIG_CPU_IDLE_GOV_TEO=y\n").unwrap();
        assert_eq!(check_kernel(&kernel, &teo), Ok(()));
        kernel.config = None;
        assert_eq!(check_kernel(&kernel, &teo), Ok(()));
    }

    #[test]
    fn haltpoll_is_refused_where_there_is_no_kvm() {
        let said = check_exact(&order(Some(IdleGovernor::Haltpoll))).unwrap_err();
        assert!(said.to_string().contains("only guests of KVM"), "{said}");
        for governor in [None, Some(IdleGovernor::Menu), Some(IdleGovernor::Teo)] {
            assert_eq!(check_exact(&order(governor)), Ok(()));
        }
    }
}
