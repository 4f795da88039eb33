//! Writes a made-up mailbox: `make-mbox SIZE_MB > file`.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

#[path = "../benches/support/mod.rs"]
mod support;

fn main() -> io::Result<ExitCode> {
    let size = std::env::args().nth(1).and_then(|s| s.parse::<u64>().ok());
    let Some(megabytes) = size else {
        eprintln!("usage: make-mbox SIZE_MB > file");
        return Ok(ExitCode::from(2));
    };
    let mut out = BufWriter::new(io::stdout().lock());
    support::write_mbox(
        &mut out,
        megabytes.saturating_mul(1_000_000),
        support::SHARE,
    )?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
