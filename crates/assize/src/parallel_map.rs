//! Processes many items on all CPUs and delivers the results in the order of the items.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Bytes in flight at a time; a single larger item may exceed it.
const UNDER_WAY: usize = 4 << 20;
/// Bytes per batch: handing out mails one by one would cost too much.
const BATCH: usize = 128 << 10;

/// Runs `work` on each of `things` and passes the results to `note`, in order; stops when
/// `note` fails. `bytes` is the memory that an item takes; it bounds what is in flight,
/// whichever result is slowest.
pub(crate) fn each<T: Send, R: Send, E>(
    things: impl Iterator<Item = T>,
    bytes: impl Fn(&T) -> usize,
    work: impl Fn(T) -> R + Sync,
    note: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    each_with_threads(threads, things, bytes, work, note)
}

fn each_with_threads<T: Send, R: Send, E>(
    threads: usize,
    things: impl Iterator<Item = T>,
    bytes: impl Fn(&T) -> usize,
    work: impl Fn(T) -> R + Sync,
    mut note: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    if threads <= 1 {
        let mut things = things;
        return things.try_for_each(|thing| note(work(thing)));
    }
    let (give, orders) = channel();
    let (answer, answers) = channel();
    let orders = Mutex::new(orders);
    thread::scope(|scope| {
        for _ in 0..threads {
            let answer = answer.clone();
            scope.spawn(|| process_batches(&orders, answer, &work));
        }
        // The threads end when the queue is dropped, also after an error or a panic.
        let mut desk = BatchQueue {
            give,
            answers,
            given: VecDeque::new(),
            early: BTreeMap::new(),
            first: 0,
            under_way: 0,
        };
        let (mut batch, mut size) = (Vec::new(), 0);
        for thing in things {
            let more = bytes(&thing);
            if size > 0 && size + more > BATCH {
                desk.give(std::mem::take(&mut batch), size, &mut note)?;
                size = 0;
            }
            batch.push(thing);
            size += more.max(1);
        }
        if !batch.is_empty() {
            desk.give(batch, size, &mut note)?;
        }
        while !desk.given.is_empty() {
            desk.wait(&mut note)?;
        }
        Ok(())
    })
}

/// The results of a batch; an error if the work panicked.
type BatchResults<R> = (usize, thread::Result<Vec<R>>);

/// Processes batches until there are no more.
fn process_batches<T, R>(
    orders: &Mutex<Receiver<(usize, Vec<T>)>>,
    answer: Sender<BatchResults<R>>,
    work: impl Fn(T) -> R,
) {
    loop {
        let order = orders.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, batch)) = order else { return };
        let all = || batch.into_iter().map(&work).collect();
        let done = catch_unwind(AssertUnwindSafe(all));
        if answer.send((number, done)).is_err() {
            return;
        }
    }
}

/// Hands batches out and collects the results.
struct BatchQueue<T, R> {
    give: Sender<(usize, Vec<T>)>,
    answers: Receiver<BatchResults<R>>,
    /// Sizes, in order, of the batches whose results have not been passed on.
    given: VecDeque<usize>,
    /// The number of the first batch in `given`.
    first: usize,
    /// Results that arrived before those of an earlier batch.
    early: BTreeMap<usize, Vec<R>>,
    under_way: usize,
}

impl<T, R> BatchQueue<T, R> {
    /// Hands a batch out once the limit on bytes in flight allows it.
    fn give<E>(
        &mut self,
        batch: Vec<T>,
        size: usize,
        note: &mut impl FnMut(R) -> Result<(), E>,
    ) -> Result<(), E> {
        while !self.given.is_empty() && self.under_way + size > UNDER_WAY {
            self.wait(note)?;
        }
        let number = self.first + self.given.len();
        self.given.push_back(size);
        self.under_way += size;
        // Sending cannot fail: the threads live until the queue is dropped.
        let _ = self.give.send((number, batch));
        Ok(())
    }

    /// Waits for a result, then passes on all results that are next in order.
    fn wait<E>(&mut self, note: &mut impl FnMut(R) -> Result<(), E>) -> Result<(), E> {
        if let Ok((number, results)) = self.answers.recv() {
            let results = results.unwrap_or_else(|panic| resume_unwind(panic));
            self.early.insert(number, results);
        }
        while let Some(results) = self.early.remove(&self.first) {
            self.first += 1;
            self.under_way -= self.given.pop_front().unwrap_or(0);
            results.into_iter().try_for_each(&mut *note)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Items of all sizes, some of which take longer than others.
    fn things() -> impl Iterator<Item = usize> {
        (0..400).map(|at| [1, 70_000, 3_000_000, UNDER_WAY * 2][at * at % 7 % 4] + at)
    }

    fn slow(thing: usize) -> usize {
        let mut sum = thing;
        for _ in 0..thing % 4096 {
            sum = std::hint::black_box(sum.wrapping_mul(31));
        }
        std::hint::black_box(sum);
        thing
    }

    fn noted(threads: usize) -> Vec<usize> {
        let mut noted = Vec::new();
        let note = |thing| {
            noted.push(thing);
            Ok::<(), ()>(())
        };
        each_with_threads(threads, things(), |size| *size, slow, note).unwrap();
        noted
    }

    #[test]
    fn results_come_in_order_whatever_the_number_of_threads() {
        let wanted: Vec<usize> = things().collect();
        for threads in [1, 2, 3, 16] {
            assert!(noted(threads) == wanted, "{threads} threads");
        }
        let none = each_with_threads(2, std::iter::empty(), |_: &u8| 1, |_| (), Err);
        assert_eq!(none, Ok(()));
    }

    #[test]
    fn no_more_is_held_than_is_allowed_and_one_thing() {
        let held = AtomicUsize::new(0);
        let most = AtomicUsize::new(0);
        let things = things().inspect(|size| {
            let now = held.fetch_add(*size, Ordering::SeqCst) + size;
            most.fetch_max(now, Ordering::SeqCst);
        });
        let note = |size| {
            held.fetch_sub(size, Ordering::SeqCst);
            Ok::<(), ()>(())
        };
        each_with_threads(4, things, |size| *size, slow, note).unwrap();
        // Above the limit, the next item is held, and as much as one batch has room for.
        let allowed = UNDER_WAY * 4 + BATCH + 1000;
        assert!(most.into_inner() <= allowed);
        assert_eq!(held.into_inner(), 0);
    }

    #[test]
    fn a_failure_ends_it_at_its_place() {
        for threads in [1, 3] {
            let mut last = 0;
            let note = |(at, _)| {
                last = at;
                if at == 200 { Err(at) } else { Ok(()) }
            };
            let ended = each_with_threads(
                threads,
                things().enumerate(),
                |(_, size)| *size,
                |t| t,
                note,
            );
            assert_eq!((ended, last), (Err(200), 200), "{threads} threads");
        }
    }

    #[test]
    #[should_panic(expected = "this one breaks")]
    fn a_panic_of_the_work_is_not_lost() {
        let work = |thing: usize| assert!(thing != 50, "this one breaks");
        let _ = each_with_threads(3, 0..100, |_| BATCH, work, Ok::<(), ()>);
    }
}
