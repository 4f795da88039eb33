use super::*;

/// The only complaint in a log.
fn only(log: &str) -> Complaint {
    let mut all = complaints(log);
    assert_eq!(all.len(), 1, "{all:#?}");
    all.remove(0)
}

const WARNING: &str = "\
[    2.512345] probe: loaded
[    3.000123] ------------[ cut here ]------------
[    3.000124] ring: 3 entries lost
[    3.000131] WARNING: CPU: 1 PID: 212 at /build/ring/ring.c:104 ring_check+0xa1/0xc0 [ring]
[    3.000140] Modules linked in: ring(OE)
[    3.000151] CPU: 1 UID: 0 PID: 212 Comm: cat Tainted: G           OE      6.12.57+deb13-amd64 #1  Debian 6.12.57-1
[    3.000160] Tainted: [O]=OOT_MODULE, [E]=UNSIGNED_MODULE
[    3.000170] RIP: 0010:ring_check+0xa1/0xc0 [ring]
[    3.000180] Code: 48 c7 c7 28 b0 0d c0 e8 05 6c f7 ea <0f> 0b 48 8b 5b 08
[    3.000190] RSP: 0018:ffffc900001e7d60 EFLAGS: 00010286
[    3.000200] Call Trace:
[    3.000210]  <TASK>
[    3.000220]  ? __warn+0x81/0x130
[    3.000221]  ? ring_check+0xa1/0xc0 [ring]
[    3.000230]  seq_read_iter+0x11e/0x480
[    3.000240]  proc_reg_read_iter+0x5f/0xa0
[    3.000250]  vfs_read+0x292/0x370
[    3.000260]  ksys_read+0x6d/0xf0
[    3.000270]  do_syscall_64+0x82/0x190
[    3.000280] RIP: 0033:0x7f1d3c2a11ad
[    3.000290]  </TASK>
[    3.000300] ---[ end trace 0000000000000000 ]---
";

const OOPS: &str = "\
[    4.100001] BUG: kernel NULL pointer dereference, address: 0000000000000008
[    4.100002] #PF: supervisor read access in kernel mode
[    4.100003] #PF: error_code(0x0000) - not-present page
[    4.100004] PGD 0 P4D 0
[    4.100005] Oops: Oops: 0000 [#1] PREEMPT SMP NOPTI
[    4.100006] CPU: 0 UID: 0 PID: 221 Comm: ring-a Tainted: G           OE      6.12.57+deb13-amd64 #1
[    4.100007] RIP: 0010:ring_take+0x5e/0x90 [ring]
[    4.100008] RAX: 0000000000000000 RBX: ffff888003a4c000 RCX: 0000000000000000
[    4.100009] Call Trace:
[    4.100010]  <TASK>
[    4.100011]  ? __die_body.cold+0x19/0x27
[    4.100012]  reader+0x3a/0x60 [ring]
[    4.100013]  kthread+0xd2/0x100
[    4.100014]  ret_from_fork+0x34/0x50
[    4.100015]  </TASK>
[    4.100016] ---[ end trace 0000000000000000 ]---
[    4.100017] RIP: 0010:ring_take+0x5e/0x90 [ring]
[    4.100018] Kernel panic - not syncing: Fatal exception
[    4.100019] Kernel Offset: disabled
";

#[test]
fn a_warning_is_known_by_its_function_and_offset() {
    let found = only(WARNING);
    assert_eq!(found.kind, ComplaintKind::Warning);
    assert_eq!(found.place.as_deref(), Some("ring_check+0xa1 [ring]"));
    assert_eq!(found.signature(), "WARNING in ring_check+0xa1 [ring]");
    assert_eq!(found.frames[0], "seq_read_iter+0x11e");
    assert!(found.line.starts_with("WARNING: CPU: 1 PID: 212"));
    // As kernels since 6.19 print it.
    let newer = WARNING.replace("CPU: 1 PID: 212 at ", "").replace(
        "ring.c:104 ring_check+0xa1/0xc0 [ring]",
        "ring.c:104 at ring_check+0xa1/0xc0 [ring], CPU#1: cat/212",
    );
    let newer = only(&newer);
    assert_eq!(
        (newer.kind, newer.signature()),
        (found.kind, found.signature())
    );
    let without_file = only("WARNING: at ring_check+0xa1/0xc0, CPU#0: cat/2\n");
    assert_eq!(without_file.signature(), "WARNING in ring_check+0xa1");
    // With another CPU, task and address it is the same complaint.
    let other = WARNING
        .replace("CPU: 1 PID: 212", "CPU: 0 PID: 9")
        .replace("3 entries", "17 entries");
    assert_eq!(only(&other).signature(), found.signature());
}

#[test]
fn an_oops_with_its_panic_is_one_complaint() {
    let found = only(OOPS);
    assert_eq!(found.kind, ComplaintKind::Oops);
    assert_eq!(found.signature(), "oops in ring_take+0x5e [ring]");
    assert_eq!(
        found.frames,
        ["reader+0x3a [ring]", "kthread+0xd2", "ret_from_fork+0x34"]
    );
    assert!(
        found
            .line
            .starts_with("BUG: kernel NULL pointer dereference")
    );
}

/// What checks a count or a list reports on its caller.
#[test]
fn a_check_of_the_kernel_is_known_by_its_caller() {
    let checked = WARNING.replace(
        "ring_check+0xa1/0xc0 [ring]",
        "refcount_warn_saturate+0xba/0x110",
    );
    assert_ne!(checked, WARNING);
    assert_eq!(only(&checked).signature(), "WARNING in seq_read_iter+0x11e");
    let list = OOPS.replace(
        "ring_take+0x5e/0x90 [ring]",
        "__list_del_entry_valid_or_report+0x4/0x9",
    );
    assert_eq!(only(&list).signature(), "oops in reader+0x3a [ring]");
}

#[test]
fn each_report_is_told_from_the_next() {
    let both = format!("{WARNING}{OOPS}");
    let kinds: Vec<ComplaintKind> = complaints(&both).iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [ComplaintKind::Warning, ComplaintKind::Oops]);
    assert_eq!(
        leading(&complaints(&both)).unwrap().kind,
        ComplaintKind::Oops
    );
    assert_eq!(complaints(&WARNING.repeat(100)).len(), MOST);
}

#[test]
fn a_panic_says_where_it_came_from() {
    // With `quiet`, the warning before it is not on the console.
    let found = only(
        "Kernel panic - not syncing: kernel: panic_on_warn set ...\n\
         CPU: 1 UID: 0 PID: 212 Comm: cat Tainted: G           OE      6.12.57+deb13-amd64 #1\n\
         Call Trace:\n <TASK>\n dump_stack_lvl+0x5d/0x80\n panic+0x118/0x2d1\n \
         check_panic_on_warn.cold+0x1b/0x1b\n __warn+0x8e/0x130\n report_bug+0xff/0x140\n \
         handle_bug+0x5e/0x90\n exc_invalid_op+0x17/0x70\n asm_exc_invalid_op+0x1a/0x20\n\
         RIP: 0010:ring_check+0xa1/0xc0 [ring]\nCode: 48\n seq_read_iter+0x11e/0x480\n",
    );
    assert_eq!(found.signature(), "panic in ring_check+0xa1 [ring]");
    assert_eq!(found.frames, ["seq_read_iter+0x11e"]);
}

#[test]
fn every_kind_of_report_is_known() {
    for (log, signature) in [
        (
            "Oops: general protection fault, probably for non-canonical address \
             0xdead000000000100: 0000 [#1] PREEMPT SMP NOPTI\n\
             RIP: 0010:list_take+0x12/0x40\n",
            "oops in list_take+0x12",
        ),
        (
            "general protection fault, maybe for address 0x1: 0000 [#1]\nRIP: 0010:f+0x1/0x2\n",
            "oops in f+0x1",
        ),
        (
            "kernel BUG at drivers/gpu/drm/scheduler/sched_main.c:1204!\n\
             Oops: invalid opcode: 0000 [#1] PREEMPT SMP NOPTI\n\
             RIP: 0010:drm_sched_run_job_work+0x1f4/0x3a0 [gpu_sched]\n",
            "kernel BUG in drm_sched_run_job_work+0x1f4 [gpu_sched]",
        ),
        (
            "==================================================================\n\
             BUG: KASAN: slab-use-after-free in ring_take+0x5e/0x90 [ring]\n\
             Read of size 8 at addr ffff888003a4c000 by task ring-a/221\n",
            "KASAN in ring_take+0x5e [ring]",
        ),
        (
            "BUG: KCSAN: data-race in ring_put / ring_take\n",
            "KCSAN in ring_put",
        ),
        (
            "UBSAN: array-index-out-of-bounds in /build/ring/ring.c:77:9\n\
             index 9 is out of range for type 'int [8]'\nCall Trace:\n <TASK>\n \
             dump_stack_lvl+0x5d/0x80\n ubsan_epilogue+0x5/0x30\n \
             __ubsan_handle_out_of_bounds.cold+0x46/0x4b\n ring_at+0x44/0x60 [ring]\n",
            "UBSAN in ring_at+0x44 [ring]",
        ),
        (
            "WARNING: possible circular locking dependency detected\n",
            "lockdep: WARNING: possible circular locking dependency detected",
        ),
        (
            "INFO: task ring-b:221 blocked for more than 120 seconds.\n\
             Call Trace:\n <TASK>\n __schedule+0x3e7/0xb40\n",
            "hung task in __schedule+0x3e7",
        ),
        (
            "rcu: INFO: rcu_preempt self-detected stall on CPU\n\
             rcu: \t1-....: (5250 ticks this GP)\nRIP: 0010:spin+0x12/0x20 [ring]\n",
            "RCU stall in spin+0x12 [ring]",
        ),
        (
            "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [ring-b:221]\n\
             RIP: 0010:spin+0x12/0x20 [ring]\n",
            "lockup in spin+0x12 [ring]",
        ),
        (
            "BUG: scheduling while atomic: cat/212/0x00000002\n",
            "sleep in atomic context: BUG: scheduling while atomic: cat/N/N",
        ),
        (
            "BUG: Bad page state in process cat  pfn:03a4c\n",
            "BUG: Bad page state in process cat pfn:N",
        ),
        (
            "[  12.000001][   T1] Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b\n",
            "panic: Kernel panic - not syncing: Attempted to kill init! exitcode=N",
        ),
    ] {
        assert_eq!(only(log).signature(), signature, "{log}");
    }
}

#[test]
fn what_is_no_complaint_of_the_kernel_is_none() {
    for log in [
        "",
        "[    1.0] ring: loading out-of-tree module taints kernel.\n",
        "[    1.0] cat[212]: segfault at 0 ip 000055d1 sp 00007ffd error 4 in cat[1000]\n",
        "[    1.0] traps: cat[212] general protection fault ip:55d1 sp:7ffd error:0\n",
        "[    1.0] Spectre V2 : WARNING: Unprivileged eBPF is enabled\n",
        "[    1.0] rcu: INFO: not a stall\n",
        "a program says: BUG: not mine\n",
    ] {
        assert_eq!(complaints(log), [], "{log}");
    }
}

#[test]
fn any_text_is_a_log() {
    use proptest::prelude::*;
    let pieces = proptest::collection::vec(
        prop_oneof![
            Just("BUG: ".to_owned()),
            Just("RIP: 0010:".to_owned()),
            Just("+0x".to_owned()),
            Just(" in ".to_owned()),
            Just(" at ".to_owned()),
            Just("WARNING: CPU: ".to_owned()),
            Just("\n".to_owned()),
            ".{0,8}",
        ],
        0..40,
    );
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    runner
        .run(&pieces, |pieces| {
            for complaint in complaints(&pieces.concat()) {
                let _ = complaint.signature();
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn oopses_of_traps_are_known_in_the_form_before_6_10() {
    let log = "\
[    4.100001] divide error: 0000 [#1] PREEMPT SMP NOPTI
[    4.100002] CPU: 1 PID: 212 Comm: cat Not tainted 6.1.0-57-amd64 #1
[    4.100003] RIP: 0010:alpha+0x24/0x40 [probe]
[    4.200000] Kernel panic - not syncing: Fatal exception
";
    let complaint = only(log);
    assert_eq!(complaint.signature(), "oops in alpha+0x24 [probe]");
    assert_eq!(
        only(&log.replace("divide error", "invalid opcode")).kind,
        ComplaintKind::Oops
    );
    assert!(complaints("[ 1.0] usb 1-1: 0000 [#x] not an oops\n").is_empty());
    let lockup = "[ 30.1] NMI watchdog: Watchdog detected hard LOCKUP on cpu 1\n";
    assert_eq!(only(lockup).kind, ComplaintKind::Lockup);
}
