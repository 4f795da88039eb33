//! Applies the scheduling of a process or thread.

use std::io;

use assize_job::{Policy, Scheduling};

use crate::sys;

/// Applies the scheduling to the calling thread. Default settings stay as inherited.
pub(crate) fn schedule(scheduling: &Scheduling) -> Result<(), String> {
    let failed = |what: String| {
        let why = sys::error_text(&io::Error::last_os_error());
        Err(format!(
            "scheduling: {what}: {why}; real-time policies and negative nice values need root"
        ))
    };
    if !scheduling.cpus.is_empty() {
        // SAFETY: an all-zero set is valid and empty.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        for cpu in &scheduling.cpus {
            if *cpu >= libc::CPU_SETSIZE.unsigned_abs() {
                return Err(format!("scheduling: cpus: {cpu}: there is no such CPU"));
            }
            // SAFETY: the number lies within the set.
            unsafe { libc::CPU_SET(*cpu as usize, &mut set) };
        }
        // SAFETY: the set has the size passed.
        let done = unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) };
        if done < 0 {
            return failed(format!("cpus {:?}", scheduling.cpus));
        }
    }
    let policy = policy_number(scheduling.policy);
    if scheduling.policy != Policy::Other || scheduling.priority != 0 {
        let parameters = libc::sched_param {
            sched_priority: i32::from(scheduling.priority),
        };
        // SAFETY: the parameters are valid for reads.
        if unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) } < 0 {
            return failed(format!(
                "policy {:?}, priority {}",
                scheduling.policy, scheduling.priority
            ));
        }
    }
    if scheduling.nice != 0 {
        let nice = i32::from(scheduling.nice);
        // SAFETY: no memory is passed.
        if unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) } < 0 {
            return failed(format!("nice {nice}"));
        }
    }
    Ok(())
}

fn policy_number(policy: Policy) -> libc::c_int {
    match policy {
        Policy::Other => libc::SCHED_OTHER,
        Policy::Batch => libc::SCHED_BATCH,
        Policy::Idle => libc::SCHED_IDLE,
        Policy::Fifo => libc::SCHED_FIFO,
        Policy::Rr => libc::SCHED_RR,
    }
}
