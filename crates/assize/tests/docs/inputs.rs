//! The inputs that determine the figures of exact runs, apart from the experiment.

use std::fs;
use std::path::Path;

use crate::common::document;
use crate::page::{MEASURED, Page};

/// Programs that pages run.
const PROGRAMS: [&str; 2] = ["/usr/bin/cyclictest", "/usr/bin/hackbench"];

/// The kernels, QEMU, and everything else that goes into machines.
pub struct Inputs {
    kernels: Vec<String>,
    qemu: String,
    digest: String,
}

impl Inputs {
    /// The inputs on this host that the page depends on.
    pub fn here(page: &Page) -> Inputs {
        let mut hasher = blake3::Hasher::new();
        let mut wanted: Vec<String> = page.needs();
        wanted.retain(|name| name.starts_with("kernel "));
        wanted.push("kernel debian:6.12".into());
        wanted.sort();
        wanted.dedup();
        let mut kernels = Vec::new();
        for kernel in document(Path::new("."), &["kernel", "list", "--json"])
            .as_array()
            .unwrap()
        {
            let name = kernel["name"].as_str().unwrap();
            if wanted.contains(&format!("kernel {name}")) {
                kernels.push(format!("{name} {}", kernel["version"].as_str().unwrap()));
                hasher.update(kernel["digest"].as_str().unwrap().as_bytes());
            }
        }
        let doctor = document(Path::new("."), &["doctor", "--json"]);
        let detail = |name: &str| {
            let checks = doctor["checks"].as_array().unwrap();
            let check = checks.iter().find(|check| check["name"] == name);
            check
                .map_or("", |check| check["detail"].as_str().unwrap())
                .to_owned()
        };
        let qemu = detail("QEMU");
        let qemu = qemu.split(" in ").next().unwrap_or_default().to_owned();
        hasher.update(qemu.as_bytes());
        hasher.update(detail("modules for debian:6.12").as_bytes());
        hasher.update(&fs::read(detail("agent")).unwrap_or_default());
        for program in PROGRAMS {
            hasher.update(&fs::read(program).unwrap_or_default());
        }
        let digest = hasher.finalize().to_hex().chars().take(16).collect();
        Inputs {
            kernels,
            qemu,
            digest,
        }
    }

    /// The line of a page that lists the inputs.
    pub fn line(&self) -> String {
        let kernels = self.kernels.join(" and ");
        format!(
            "{MEASURED}{kernels} with QEMU {}; inputs {}.*",
            self.qemu, self.digest
        )
    }
}
