//! Tries the instruments: `NAME… -- PROGRAM ARGUMENT…`.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used)]

mod instruments;

use std::os::unix::process::CommandExt;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let at = arguments.iter().position(|a| a == "--").expect("--");
    let (mut made, mut records) = instruments::make(&arguments[..at]);
    made.retain_mut(|i| {
        i.keep_samples(std::env::var_os("SAMPLES").is_some());
        let before = std::time::Instant::now();
        let opened = i.open();
        println!("{}: {:?}", i.name(), before.elapsed());
        match opened {
            Ok(()) => true,
            Err(why) => {
                println!("{}: {why}", i.name());
                false
            }
        }
    });
    let (go, ready) = rustix::pipe::pipe().unwrap();
    let mut command = std::process::Command::new(&arguments[at + 1]);
    command.args(&arguments[at + 2..]);
    let go2 = go.try_clone().unwrap();
    // SAFETY: only reads.
    unsafe {
        command.pre_exec(move || {
            rustix::io::read(&go2, &mut [0u8; 1])?;
            Ok(())
        });
    }
    // spawn waits for exec, so from another thread; the child is found by /proc.
    let spawner = std::thread::spawn(move || command.spawn().unwrap());
    std::thread::sleep(std::time::Duration::from_millis(50));
    let me = std::process::id();
    let mut pid = 0;
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(number) = entry.file_name().to_string_lossy().parse::<i32>() else {
            continue;
        };
        let status = std::fs::read_to_string(format!("/proc/{number}/status")).unwrap_or_default();
        if status.contains(&format!("PPid:\t{me}\n")) {
            pid = number;
        }
    }
    for i in &mut made {
        i.start(pid);
    }
    rustix::io::write(&ready, b"x").unwrap();
    let mut child = spawner.join().unwrap();
    let pid_of = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::waitid(
        rustix::process::WaitId::Pid(pid_of),
        rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT,
    )
    .unwrap();
    for i in made.iter_mut().rev() {
        i.stop();
    }
    child.wait().unwrap();
    for i in &mut made {
        records.extend(i.records());
    }
    for record in records {
        println!("{}", serde_json::to_string(&record).unwrap());
    }
}
