//! A made-up mailbox of any size, the same for the same size.

use std::io::{self, Write};

/// Lines of prose in the mails.
const PROSE: [&str; 8] = [
    "The second series was taken with the scheduler in its default state.",
    "I ran each of them five times after a reboot, nothing else was running,",
    "and the governor was set to performance; the fan was at full speed.",
    "What puzzles me is the tail: the median hardly moves, the maximum does.",
    "Could you repeat this with the timer slack at its default, please?",
    "On the small board the difference is below what I can measure at all.",
    "My guess is that the wakeup path takes the lock twice now.",
    "",
];

/// A small generator of numbers; good enough to make text.
#[derive(Debug)]
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below.max(1)
    }
}

/// One message in so many posts results, which is more than mailing lists of
/// the kernel see.
pub(crate) const SHARE: u64 = 20;

/// Writes an mbox of at least `size` bytes: prose, quoted prose, patches and,
/// in one message of `share`, blocks of results, unquoted and quoted up to
/// three deep.
pub(crate) fn write_mbox(out: &mut impl Write, size: u64, share: u64) -> io::Result<u64> {
    let mut dice = Dice(size | 1);
    let mut written = 0;
    let mut number = 0u64;
    let mut message = String::new();
    while written < size {
        message.clear();
        number += 1;
        write_head(&mut message, number, &mut dice);
        for _ in 0..dice.roll(6) + 2 {
            let marks = ["", "", "> ", "> > ", ">>> "];
            let mark = marks[dice.roll(5) as usize % marks.len()];
            write_prose(&mut message, mark, &mut dice);
            match number % share {
                0 => write_block(&mut message, mark, &mut dice),
                n if n % 3 == 0 => write_patch(&mut message, mark, &mut dice),
                _ => {}
            }
        }
        message.push_str("-- \nA. Sender\n\n");
        out.write_all(message.as_bytes())?;
        written += message.len() as u64;
    }
    Ok(written)
}

fn write_head(out: &mut String, number: u64, dice: &mut Dice) {
    let day = dice.roll(28) + 1;
    out.push_str(&format!(
        "From mboxrd@z Thu Jan  1 00:00:00 1970\n\
         Return-Path: <sender@example.org>\n\
         Received: from mail.example.org (mail.example.org [192.0.2.7])\n\
         \tby lists.example.org with ESMTP id {number:08X}\n\
         \tfor <bench@lists.example.org>; {day} Mar 2026 10:11:12 +0000\n\
         From: A. Sender <sender@example.org>\n\
         To: bench@lists.example.org\n\
         Subject: Re: [PATCH {}/9] sched: Wake fewer threads\n\
         Date: Tue, {day} Mar 2026 10:11:12 +0000\n\
         Message-ID: <{number}.sender@example.org>\n\
         MIME-Version: 1.0\n\
         Content-Type: text/plain; charset=UTF-8\n\
         Content-Transfer-Encoding: 8bit\n\n",
        dice.roll(9) + 1
    ));
}

fn write_prose(out: &mut String, mark: &str, dice: &mut Dice) {
    for _ in 0..dice.roll(12) + 2 {
        out.push_str(mark);
        out.push_str(PROSE[dice.roll(8) as usize % PROSE.len()]);
        out.push('\n');
    }
}

fn write_patch(out: &mut String, mark: &str, dice: &mut Dice) {
    let line = dice.roll(4000) + 1;
    out.push_str(&format!(
        "{mark}diff --git a/kernel/sched/core.c b/kernel/sched/core.c\n{mark}index 1f2d3c4..5a6b7c8 100644\n\
         {mark}--- a/kernel/sched/core.c\n{mark}+++ b/kernel/sched/core.c\n\
         {mark}@@ -{line},6 +{line},7 @@ static int wake_up_one(struct rq *rq)\n"
    ));
    for text in [
        " \tstruct task_struct *p = rq->curr;",
        " \tint ret = 0;",
        " ",
        "+\tlockdep_assert_rq_held(rq);",
        " \tif (!p->on_rq || p->flags & PF_EXITING)",
        " \t\treturn -EINVAL;",
        " \tret = __wake_up(p, TASK_NORMAL, 1, NULL);",
    ] {
        out.push_str(&format!("{mark}{text}\n"));
    }
}

fn write_block(out: &mut String, mark: &str, dice: &mut Dice) {
    match dice.roll(2) {
        0 => {
            out.push_str(&format!(
                "{mark}\n{mark} Performance counter stats for './bench -l {}':\n{mark}\n",
                dice.roll(10_000)
            ));
            for event in [
                "context-switches",
                "cpu-migrations",
                "cycles",
                "instructions",
            ] {
                let (millions, units) = (dice.roll(900) + 1, dice.roll(1000));
                out.push_str(&format!(
                    "{mark}   {millions:>8},{units:03},417      {event:<28} #    0.{units:03} K/sec\n"
                ));
            }
            let time = dice.roll(100_000);
            out.push_str(&format!(
                "{mark}\n{mark}      {}.{time:05} seconds time elapsed\n{mark}\n",
                dice.roll(90)
            ));
        }
        _ => {
            out.push_str(&format!("{mark}| kernel | run | ops/s | p99 us |\n"));
            for run in 0..dice.roll(10) + 3 {
                out.push_str(&format!(
                    "{mark}| base   | {run:>3} | {:>5} | {:>6} |\n",
                    dice.roll(100_000),
                    dice.roll(900)
                ));
            }
        }
    }
}
