//! Checks what this machine lacks for workloads that copy frames to a device.

use std::fs;
use std::path::{Path, PathBuf};

use assize_job::{FrameMemory, FramesStream, Order, WorkloadKind};
use rustix::fs::{Access, access};

/// The number of CPUs that such a workload needs: one that streams, and others that only measure
/// disturbance and are otherwise idle.
const CPUS: usize = 4;

/// Where to look for devices, and what the user may do.
#[derive(Debug, Clone)]
pub(crate) struct DevicePaths {
    /// The directory of PCI devices in sysfs.
    pub(crate) pci: PathBuf,
    /// The directory of device files.
    pub(crate) dev: PathBuf,
    /// The number of CPUs.
    pub(crate) cpus: usize,
    /// Whether the user may read and write a file.
    pub(crate) may: fn(&Path) -> bool,
}

impl DevicePaths {
    /// This machine.
    pub(crate) fn here() -> DevicePaths {
        let cpus = std::thread::available_parallelism();
        DevicePaths {
            pci: "/sys/bus/pci/devices".into(),
            dev: "/dev".into(),
            cpus: cpus.map_or(1, std::num::NonZero::get),
            may: |path| access(path, Access::READ_OK | Access::WRITE_OK).is_ok(),
        }
    }

    /// What this machine lacks for a run of this order, one sentence each. Nothing listed
    /// here keeps other orders from running.
    pub(crate) fn lacking(&self, order: &Order) -> Vec<String> {
        let job = &order.job;
        let all = std::iter::once(&job.workload).chain(&job.background);
        let streams: Vec<&FramesStream> = all
            .filter_map(|workload| match &workload.kind {
                WorkloadKind::FramesStream(stream) => Some(stream),
                _ => None,
            })
            .collect();
        let mut lacking: Vec<String> = Vec::new();
        for stream in &streams {
            let memories = [stream.source, stream.destination];
            let memories = memories.into_iter().filter(|_| stream.copies());
            lacking.extend(memories.filter_map(|memory| self.lacks(stream, memory)));
        }
        if !streams.is_empty() && self.cpus < CPUS {
            let cpus = self.cpus;
            lacking.push(format!(
                "{CPUS} CPUs are needed, so that the watched CPUs have nothing else to do; there \
                 are {cpus}"
            ));
        }
        lacking.dedup();
        lacking
    }

    fn lacks(&self, stream: &FramesStream, memory: FrameMemory) -> Option<String> {
        let path = match memory {
            FrameMemory::Anonymous | FrameMemory::HugePages | FrameMemory::Memfd => return None,
            FrameMemory::Uncached => self.resource(stream, ""),
            FrameMemory::WriteCombined => self.resource(stream, "_wc"),
            FrameMemory::Framebuffer => self.file(stream, "fb0"),
            FrameMemory::DumbBuffer => self.card(stream),
        };
        match path {
            Err(why) => Some(why),
            Ok(path) if !path.exists() => Some(format!("there is no {}", path.display())),
            Ok(path) if !(self.may)(&path) => {
                let path = path.display();
                Some(format!(
                    "{path} requires root: run as root, `sudo assize run …`"
                ))
            }
            Ok(_) => None,
        }
    }

    fn resource(&self, stream: &FramesStream, kind: &str) -> Result<PathBuf, String> {
        let device = match &stream.device {
            Some(address) => self.pci.join(address),
            None => self.display().ok_or_else(|| {
                let pci = self.pci.display();
                format!("no graphics card is among the PCI devices in {pci}")
            })?,
        };
        Ok(device.join(format!("resource{}{kind}", stream.bar)))
    }

    fn file(&self, stream: &FramesStream, usual: &str) -> Result<PathBuf, String> {
        Ok(match &stream.device {
            Some(path) => path.into(),
            None => self.dev.join(usual),
        })
    }

    /// The named card, else the first one there is. Its number depends on the order in
    /// which drivers were loaded.
    fn card(&self, stream: &FramesStream) -> Result<PathBuf, String> {
        let cards = (0..FramesStream::CARDS).map(|number| format!("dri/card{number}"));
        let mut cards = cards.map(|name| self.dev.join(name));
        match (&stream.device, cards.find(|card| card.exists())) {
            (Some(path), _) => Ok(path.into()),
            (None, Some(first)) => Ok(first),
            (None, None) => Err(format!(
                "there is no {}/dri/card*; load the driver of a card",
                self.dev.display()
            )),
        }
    }

    /// The first display controller.
    fn display(&self) -> Option<PathBuf> {
        let entries = fs::read_dir(&self.pci).into_iter().flatten().flatten();
        let mut devices: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        devices.sort();
        devices.into_iter().find(|device| is_display(device))
    }
}

fn is_display(device: &Path) -> bool {
    let class = fs::read_to_string(device.join("class"));
    class.is_ok_and(|class| class.starts_with("0x03"))
}

#[cfg(test)]
mod tests {
    use assize_job::{FrameStore, Job, Workload};

    use super::*;

    fn order(destination: FrameMemory) -> Order {
        let stream = FramesStream {
            destination,
            ..FramesStream::default()
        };
        order_for(stream)
    }

    fn order_for(stream: FramesStream) -> Order {
        let workload = Workload {
            name: "stream".into(),
            kind: WorkloadKind::FramesStream(stream),
        };
        Order {
            job: Job {
                workload,
                ..Job::default()
            },
            ..Order::default()
        }
    }

    fn place(cpus: usize) -> (tempfile::TempDir, DevicePaths) {
        let root = tempfile::tempdir().unwrap();
        let place = DevicePaths {
            pci: root.path().join("pci"),
            dev: root.path().join("dev"),
            cpus,
            may: |_| true,
        };
        fs::create_dir_all(&place.pci).unwrap();
        (root, place)
    }

    #[test]
    fn what_a_machine_lacks_for_a_row_is_said_of_that_row_alone() {
        let (_root, place) = place(4);
        assert!(place.lacking(&order(FrameMemory::Anonymous)).is_empty());
        assert!(place.lacking(&Order::default()).is_empty());
        let told = place.lacking(&order(FrameMemory::WriteCombined));
        assert!(
            told.len() == 1 && told[0].contains("no graphics card"),
            "{told:?}"
        );
        let card = place.pci.join("0000:00:02.0");
        fs::create_dir(&card).unwrap();
        fs::write(card.join("class"), "0x030000\n").unwrap();
        fs::write(card.join("resource0"), "").unwrap();
        let told = place.lacking(&order(FrameMemory::WriteCombined));
        assert!(
            told.len() == 1 && told[0].ends_with("0000:00:02.0/resource0_wc"),
            "{told:?}"
        );
        assert!(place.lacking(&order(FrameMemory::Uncached)).is_empty());
        // The control case needs no card.
        let compute = FramesStream {
            store: FrameStore::Compute,
            destination: FrameMemory::WriteCombined,
            ..FramesStream::default()
        };
        assert!(place.lacking(&order_for(compute)).is_empty());
    }

    #[test]
    fn an_ordinary_user_is_told_which_rows_want_root_and_has_the_others() {
        let (_root, mut place) = place(4);
        place.may = |path| !path.to_string_lossy().contains("0000:00:02.0");
        let card = place.pci.join("0000:00:02.0");
        fs::create_dir(&card).unwrap();
        fs::write(card.join("class"), "0x030000\n").unwrap();
        fs::write(card.join("resource0"), "").unwrap();
        fs::write(card.join("resource0_wc"), "").unwrap();
        for memory in [FrameMemory::Uncached, FrameMemory::WriteCombined] {
            let told = place.lacking(&order(memory));
            assert!(
                told.len() == 1
                    && told[0].contains("resource0")
                    && told[0].contains("requires root"),
                "{told:?}"
            );
        }
        assert!(place.lacking(&order(FrameMemory::Anonymous)).is_empty());
    }

    #[test]
    fn the_first_card_there_is_has_any_number() {
        let (_root, place) = place(4);
        let dumb = order(FrameMemory::DumbBuffer);
        let told = place.lacking(&dumb);
        assert!(told.len() == 1 && told[0].contains("dri/card*"), "{told:?}");
        fs::create_dir_all(place.dev.join("dri")).unwrap();
        fs::write(place.dev.join("dri/card1"), "").unwrap();
        assert!(place.lacking(&dumb).is_empty());
        let named = FramesStream {
            destination: FrameMemory::DumbBuffer,
            device: Some(place.dev.join("dri/card0").display().to_string()),
            ..FramesStream::default()
        };
        let told = place.lacking(&order_for(named));
        assert!(
            told.len() == 1 && told[0].ends_with("dri/card0"),
            "{told:?}"
        );
    }

    #[test]
    fn few_cpus_are_said_of_every_row() {
        let (_root, place) = place(2);
        let told = place.lacking(&order(FrameMemory::Anonymous));
        assert!(
            told.len() == 1 && told[0].starts_with("4 CPUs are needed"),
            "{told:?}"
        );
        assert!(place.lacking(&Order::default()).is_empty());
    }
}
