//! The programs and libraries that a machine carries.

use std::fs;
use std::io::Read;
use std::path::PathBuf;

use assize_job::Order;

use super::Exact;
use crate::Error;
use crate::fault::{failed, read};

/// Path of the agent in the guest.
const AGENT: &str = "init";
/// File extension of the agent's symbols.
const SYMBOLS: &str = "symbols";

/// A program or library that a machine carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramFile {
    /// Its path in the guest; for the agent, its name.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The same program before its symbols were stripped.
    pub symbols: Option<Vec<u8>>,
}

impl Exact {
    /// Returns everything that the machine of this order carries and executes outside the
    /// kernel.
    ///
    /// # Errors
    /// The machine cannot be prepared.
    pub fn programs(&self, order: &Order) -> Result<Vec<ProgramFile>, Error> {
        let ready = self.stock.ready(order)?;
        let archive = read(&ready.initramfs)?;
        let damaged = |error: std::io::Error| {
            let what = format!("read {}", ready.initramfs.display());
            failed(what, error.to_string())
        };
        let mut all = Vec::new();
        let mut rest = &archive[..];
        loop {
            let mut reader = cpio::newc::Reader::new(rest).map_err(damaged)?;
            if reader.entry().is_trailer() {
                return Ok(all);
            }
            let path = reader.entry().name().to_owned();
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).map_err(damaged)?;
            rest = reader.finish().map_err(damaged)?;
            if !bytes.starts_with(b"\x7fELF") || path.ends_with(".ko") {
                continue;
            }
            let agent = path == AGENT;
            all.push(ProgramFile {
                symbols: agent.then(|| fs::read(self.agent_symbols()).ok()).flatten(),
                path: if agent { "assize-agent".into() } else { path },
                bytes,
            });
        }
    }

    /// The agent's unstripped file, which is next to the agent.
    fn agent_symbols(&self) -> PathBuf {
        self.stock.agent().with_extension(SYMBOLS)
    }
}
