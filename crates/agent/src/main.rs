//! The agent: the program that carries out one run on a target.
//!
//! As process 1 of a virtual machine started by assize, it sets the machine up, reads its job from
//! QEMU's fw_cfg, sends its records to the debug console and powers the machine off. Anywhere
//! else, `assize-agent run` reads the job from standard input and sends its records to standard
//! output.
//!
//! It knows nothing of experiments or statistics: one job in, its records out.
//!
//! Layers, each using only those below it: `boot`; `run`; `setup`, `identity`,
//! `instruments` and `workload`, which do not know the run; processes, devices and system
//! calls.

// Rust's start-up code opens /dev/null as missing standard files, and aborts if there is
// none. Process 1 starts without either.
#![cfg_attr(not(test), no_main)]

#[cfg(not(target_arch = "x86_64"))]
compile_error!("the agent supports x86-64 only");

mod boot;
mod channel;
mod cpus;
mod device;
mod elf;
mod environment;
mod files;
mod group;
mod identity;
mod instruments;
mod kernel_log;
#[cfg(test)]
mod layout;
mod marks;
mod perf;
mod ports;
mod process;
mod records;
mod run;
mod seed;
mod setup;
mod simgpu;
mod sys;
mod tsc;
mod workload;

use std::io::{self, Read, Write};

use channel::{Channel, RecordSink};

const USAGE: &str = "\
usage: assize-agent run          carry out the job on standard input
       assize-agent --version
       assize-agent --help
";

/// Entry point that the C library calls.
#[cfg(not(test))]
#[unsafe(no_mangle)]
extern "C" fn main(_: libc::c_int, _: *const *const libc::c_char) -> libc::c_int {
    start()
}

/// The test harness replaces this function.
#[cfg(test)]
fn main() {
    start();
}

/// Runs as process 1 or as a command. Returns the exit status.
fn start() -> libc::c_int {
    if let Some(command_line) = boot::command_line() {
        boot::main(&command_line);
        return 1;
    }
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let mut arguments = arguments.iter().map(|argument| argument.to_str());
    let done = match (arguments.next().flatten(), arguments.next()) {
        (Some("run"), None) => run_here(),
        (Some("--version" | "-V"), None) => {
            print_line(concat!("assize-agent ", env!("CARGO_PKG_VERSION"), "\n"))
        }
        (Some("--help" | "-h"), None) => print_line(USAGE),
        _ => {
            eprint!("{USAGE}");
            return 2;
        }
    };
    match done {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("assize-agent: standard output: {}", sys::error_text(&error));
            3
        }
    }
}

/// Carries out the job on standard input.
fn run_here() -> io::Result<()> {
    let mut text = String::new();
    let job = match io::stdin().lock().read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) => Err(format!("standard input: {}", sys::error_text(&error))),
    };
    let mut channel = Channel::new(RecordSink::Stdout);
    run::send_greeting(&mut channel, None, false);
    run::carry_out_job(job, &mut channel, None);
    channel.end()
}

fn print_line(text: &str) -> io::Result<()> {
    io::stdout().lock().write_all(text.as_bytes())
}
