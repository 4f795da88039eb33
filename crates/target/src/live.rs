//! The live machine: QEMU with the host's clock.
//!
//! It boots for every run. With KVM its times are those of a machine; with
//! software emulation they are those of an emulator on a busy host, and only
//! good for seeing whether something works.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use assize_job::{IdentityPart, Job, Order, Record};

use crate::exact::{BOOT as BOOT_IMAGE, Booted, bounded, cold, facts};
use crate::qemu::{Clock, Qemu, command_line};
use crate::vm::{Ready, Stock, job_text};
use crate::{Done, Error, Outcome, Target, Tell, agent, scratch, stream};

/// Booting by software emulation takes some seconds, more on a busy host.
const BOOT: Duration = Duration::from_secs(60);
/// Where a kernel offers hardware virtualisation.
const KVM: &str = "/dev/kvm";
/// With KVM it takes less than one.
const KVM_BOOT: Duration = Duration::from_secs(15);

/// The live machine.
#[derive(Debug)]
pub struct Live {
    qemu: Qemu,
    stock: Stock,
    clock: OnceLock<(Clock, Option<String>)>,
    wall_limit: Duration,
}

impl Live {
    /// Finds QEMU and the agent. Files are kept below `root`.
    ///
    /// # Errors
    /// One of them is missing or does not fit.
    pub fn new(root: PathBuf) -> Result<Live, Error> {
        scratch::sweep(&root);
        Ok(Live {
            qemu: Qemu::find_live(&root)?,
            stock: Stock::new(root, agent::find_here()?),
            clock: OnceLock::new(),
            wall_limit: bounded(Duration::MAX)?,
        })
    }

    fn booted<'a>(&'a self, ready: &'a Ready, order: &'a Order, clock: Clock) -> Booted<'a> {
        let limit = if order.job.timeout_ms == 0 {
            Duration::from_secs(3600)
        } else {
            BOOT + Duration::from_millis(order.job.timeout_ms.saturating_mul(2))
        };
        Booted {
            root: self.stock.root(),
            qemu: &self.qemu,
            machine: &order.machine,
            clock,
            kernel: &ready.kernel.image,
            initramfs: &ready.initramfs,
            cpu: None,
            limit: limit.min(self.wall_limit),
            boot: BOOT_IMAGE,
            // Its clock is the host's.
            run: None,
            seed: 0,
        }
    }

    /// KVM if this kernel really boots with it: `/dev/kvm` alone says little.
    /// Else why not.
    fn clock(&self, ready: &Ready, order: &Order) -> &(Clock, Option<String>) {
        self.clock.get_or_init(|| {
            let may = std::fs::File::options().read(true).write(true).open(KVM);
            if let Err(error) = may {
                return (Clock::Host, Some(format!("{KVM}: {error}")));
            }
            let booted = Booted {
                limit: KVM_BOOT,
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

/// Nobody shall take the times of an emulator for those of a machine.
fn emulated(outcome: Outcome, why: &str) -> Outcome {
    let doubt = Record::Doubt {
        code: "software-emulation".into(),
        detail: format!(
            "the live machine was emulated by software, so its times are no machine's: {why}"
        ),
    };
    match outcome {
        Outcome::Completed(mut records) => {
            records.push(doubt);
            Outcome::Completed(records)
        }
        Outcome::Failed {
            failure,
            mut records,
            console,
        } => {
            records.push(doubt);
            Outcome::Failed {
                failure,
                records,
                console,
            }
        }
    }
}

impl Target for Live {
    /// Runs at once would disturb each other.
    fn slots(&self) -> usize {
        1
    }

    fn prepare_telling(&self, orders: &[Order], tell: &Tell<'_>) -> Result<(), Error> {
        for order in orders {
            let ready = self.stock.ready_telling(order, tell)?;
            self.clock(&ready, order);
        }
        Ok(())
    }

    fn expected(&self, order: &Order) -> Result<Vec<IdentityPart>, Error> {
        let ready = self.stock.ready(order)?;
        let (clock, _) = self.clock(&ready, order);
        Ok(ready.expected(order, &command_line(&order.machine, *clock)))
    }

    fn run(&self, order: &Order, _slot: usize) -> Result<Done, Error> {
        let begun = Instant::now();
        let ready = self.stock.ready(order)?;
        let (clock, why) = self.clock(&ready, order);
        let job = job_text(&ready, order)?;
        let left = cold(&self.booted(&ready, order, *clock), &job)?;
        let mut outcome = stream::outcome(&left.answer, &left.console, left.ended);
        if let Some(why) = why {
            outcome = emulated(outcome, why);
        }
        Ok(Done {
            outcome,
            machine: facts(&self.qemu, &ready, order, *clock),
            cached: false,
            wall: begun.elapsed(),
        })
    }
}
