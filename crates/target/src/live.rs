//! The live machine: QEMU with the host's clock.
//!
//! It boots for every run. With KVM its times are those of a real machine; with software
//! emulation they are those of an emulator on a busy host, and only show whether something
//! works.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use assize_job::{AgentMessage, Job, Order, RunIdentityPart};

use crate::exact::{BOOT as BOOT_IMAGE, BootSpec, TurnOptions, bounded, cold, facts};
use crate::qemu::{Clock, Qemu, command_line};
use crate::vm::{BootStock, PreparedBoot, job_text};
use crate::{Error, OrderResult, ReportStep, RunOutcome, Target, agent, scratch, stream};

/// Limit in QEMU's own time for a boot by software emulation, which takes some seconds.
const BOOT: Duration = Duration::from_secs(60);
/// The device that offers hardware virtualisation.
const KVM: &str = "/dev/kvm";
/// Limit in QEMU's own time for a boot with KVM, which takes less than a second.
const KVM_BOOT: Duration = Duration::from_secs(15);

/// The live machine.
#[derive(Debug)]
pub struct Live {
    qemu: Qemu,
    stock: BootStock,
    clock: OnceLock<(Clock, Option<String>)>,
    wall_limit: Duration,
}

impl Live {
    /// Finds QEMU and the agent. Files are stored below `root`.
    ///
    /// # Errors
    /// One of them is missing or unsuitable.
    pub fn new(root: PathBuf) -> Result<Live, Error> {
        scratch::sweep(&root);
        Ok(Live {
            qemu: Qemu::find_live(&root)?,
            stock: BootStock::new(root, agent::find_here()?),
            clock: OnceLock::new(),
            wall_limit: bounded(Duration::MAX)?,
        })
    }

    fn booted<'a>(
        &'a self,
        ready: &'a PreparedBoot,
        order: &'a Order,
        clock: Clock,
    ) -> BootSpec<'a> {
        let own = if order.job.timeout_ms == 0 {
            Duration::from_secs(3600)
        } else {
            BOOT + Duration::from_millis(order.job.timeout_ms.saturating_mul(2))
        };
        BootSpec {
            root: self.stock.root(),
            qemu: &self.qemu,
            machine: &order.machine,
            clock,
            kernel: &ready.kernel.image,
            initramfs: &ready.initramfs,
            cpu: None,
            limit: self.wall_limit,
            own: Some(own),
            boot: BOOT_IMAGE,
            // Its clock is the host's.
            run: None,
            seed: 0,
            watch: None,
            turns: TurnOptions::default(),
        }
    }

    /// KVM if this kernel really boots with it, which `/dev/kvm` alone does not show.
    /// Otherwise the host's clock without KVM, and the reason.
    fn clock(&self, ready: &PreparedBoot, order: &Order) -> &(Clock, Option<String>) {
        self.clock.get_or_init(|| {
            let may = std::fs::File::options().read(true).write(true).open(KVM);
            if let Err(error) = may {
                return (Clock::Host, Some(format!("{KVM}: {error}")));
            }
            let booted = BootSpec {
                own: Some(KVM_BOOT),
                ..self.booted(ready, order, Clock::Kvm)
            };
            let job = serde_json::to_vec(&Job::default()).unwrap_or_default();
            match cold(&booted, &job) {
                Ok(left) if left.answer.windows(5).any(|text| text == b"hello") => {
                    (Clock::Kvm, None)
                }
                _ => {
                    let why = "the kernel does not boot with it".to_string();
                    (Clock::Host, Some(format!("{KVM}: {why}")))
                }
            }
        })
    }
}

/// Adds a doubt, so that an emulator's times are not mistaken for those of real hardware.
fn emulated(outcome: RunOutcome, why: &str) -> RunOutcome {
    let doubt = AgentMessage::Doubt {
        code: "software-emulation".into(),
        detail: format!(
            "the live machine was emulated, so its times are not those of hardware: {why}"
        ),
    };
    match outcome {
        RunOutcome::Completed(mut records) => {
            records.push(doubt);
            RunOutcome::Completed(records)
        }
        RunOutcome::Failed {
            failure,
            mut records,
            console,
        } => {
            records.push(doubt);
            RunOutcome::Failed {
                failure,
                records,
                console,
            }
        }
    }
}

impl Target for Live {
    /// One, because simultaneous runs would affect each other.
    fn slots(&self) -> usize {
        1
    }

    fn prepare_telling(&self, orders: &[Order], tell: &ReportStep<'_>) -> Result<(), Error> {
        for order in orders {
            let ready = self.stock.ready_telling(order, tell)?;
            self.clock(&ready, order);
        }
        Ok(())
    }

    fn expected(&self, order: &Order) -> Result<Vec<RunIdentityPart>, Error> {
        let ready = self.stock.ready(order)?;
        let (clock, _) = self.clock(&ready, order);
        Ok(ready.expected(order, &command_line(&order.machine, *clock)))
    }

    fn run(&self, order: &Order, _slot: usize) -> Result<OrderResult, Error> {
        let begun = Instant::now();
        let ready = self.stock.ready(order)?;
        let (clock, why) = self.clock(&ready, order);
        let job = job_text(&ready, order)?;
        let left = cold(&self.booted(&ready, order, *clock), &job)?;
        let mut outcome = stream::outcome(&left.answer, &left.console, left.ended);
        if let Some(why) = why {
            outcome = emulated(outcome, why);
        }
        Ok(OrderResult {
            outcome,
            machine: facts(&self.qemu, &ready, order, *clock),
            cached: false,
            elapsed: begun.elapsed(),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail.

    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::RunFailure;

    /// How a run ends if QEMU is replaced with this script, with a limit of a third of a second.
    fn ended(script: &str) -> Option<RunFailure> {
        let place = tempfile::tempdir().unwrap();
        let binary = place.path().join("qemu");
        std::fs::write(&binary, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755)).unwrap();
        let qemu = Qemu {
            binary,
            data: Vec::new(),
            version: "10.0.2".into(),
            parallel: false,
        };
        let order = Order::default();
        let nothing = place.path().join("nothing");
        let booted = BootSpec {
            root: place.path(),
            qemu: &qemu,
            machine: &order.machine,
            clock: Clock::Host,
            kernel: &nothing,
            initramfs: &nothing,
            cpu: None,
            limit: Duration::MAX,
            own: Some(Duration::from_millis(300)),
            boot: BOOT_IMAGE,
            run: None,
            seed: 0,
            watch: None,
            turns: TurnOptions::default(),
        };
        cold(&booted, b"").unwrap().ended
    }

    #[test]
    fn a_machine_that_a_host_holds_up_for_longer_than_its_limit_goes_on() {
        let stops = "(sleep 2; kill -CONT $$) & kill -STOP $$; exit 1";
        assert_eq!(ended(stops), None);
    }

    #[test]
    fn a_machine_that_hangs_ends_with_its_limit() {
        for hangs in ["exec sleep 1000", "while :; do :; done"] {
            let failure = ended(hangs);
            assert!(
                matches!(failure, Some(RunFailure::Timeout { .. })),
                "{hangs}"
            );
        }
    }
}
