//! The developers' front door: `cargo xtask <task>`.

mod validity;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.split_first() {
        Some((task, rest)) if task == "validity" => validity::main(rest),
        _ => {
            eprintln!("usage: cargo xtask validity [--quick] [--seed S] [--write]");
            ExitCode::from(2)
        }
    }
}
