//! Several attachments at a time, with the result of one after the other.
//!
//! An attachment is started only when it is certain that it would have been started had all before it been finished:
//! if everything still undecided were accepted, there would be room for it, and if everything undecided were read and
//! refused, there would be a read left for it. When in doubt it waits. So nothing past a limit is ever opened, and no
//! outcome depends on who finishes first.

mod budget;
mod queue;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use attache_conversation::{Refusal, blocking};
use attache_workdir_fs::WorkDir;
use futures_util::stream::{FuturesUnordered, StreamExt};

pub(crate) use self::budget::Budget;
use self::queue::{Decided, Group, Queue};
use crate::attachment::Attachment;
use crate::check::{Failed, Sound, read_and_check};
use crate::settings::Settings;

/// How many attachments are taken through together: two are hashed in less time than one after the other. With fewer
/// than the cores could take, each goes alone.
const TOGETHER: usize = 2;

/// Takes each attachment through the checks and then through `finish`, which may still refuse it. The outcomes come in
/// the order of the attachments.
///
/// `finish` is given one image or a few, and has to answer for each, in order.
pub(crate) async fn run<T: Send + 'static, F>(
    attachments: &[Attachment],
    work: &WorkDir,
    settings: &Settings,
    budget: &mut Budget,
    finish: impl Fn(Vec<Sound>) -> F,
) -> Vec<Result<T, Refusal>>
where
    F: Future<Output = Vec<Result<T, Refusal>>>,
{
    let finish = &finish;
    let cores = settings.concurrency().get();
    let mut queue = Queue::new(attachments, work, *budget);
    let mut running = FuturesUnordered::new();
    loop {
        while running.len() < most_groups(cores) {
            let group = queue.next_group(cores.saturating_sub(running.len()));
            if group.is_empty() {
                break;
            }
            let (work, settings) = (work.clone(), settings.clone());
            running.push(async move {
                let mut read = blocking(move || read_group(group, &work, &settings)).await;
                if !read.images.is_empty() {
                    let finished = finish(std::mem::take(&mut read.images)).await;
                    read.decide(finished);
                }
                read.decided
            });
        }
        let Some(decided) = running.next().await else { break };
        queue.decide(decided);
    }
    let (outcomes, left) = queue.finish();
    *budget = left;
    outcomes
}

/// How many groups are in hand at a time: with several cores one more than they are, so that none of them waits for its
/// next; on one core there is nothing to gain.
fn most_groups(cores: usize) -> usize {
    if cores == 1 { 1 } else { cores + 1 }
}

/// As [`run`], where `finish` blocks: each core takes its next attachments itself, and finishes what it has just read.
pub(crate) async fn run_at_once<T: Send + 'static>(
    attachments: &[Attachment],
    work: &WorkDir,
    settings: &Settings,
    budget: &mut Budget,
    finish: impl Fn(Vec<Sound>) -> Vec<Result<T, Refusal>> + Clone + Send + 'static,
) -> Vec<Result<T, Refusal>> {
    let cores = settings.concurrency().get().min(attachments.len());
    let bench = Arc::new(Bench {
        queue: Mutex::new(Queue::new(attachments, work, *budget)),
        decided: Condvar::new(),
        abandoned: AtomicBool::new(false),
    });
    let abandon = AbandonOnDrop(&bench);
    let workers: FuturesUnordered<_> = (0..cores)
        .map(|_| {
            let (bench, work, settings, finish) = (Arc::clone(&bench), work.clone(), settings.clone(), finish.clone());
            blocking(move || bench.work(cores, &work, &settings, finish))
        })
        .collect();
    let () = workers.collect().await;
    drop(abandon);
    let bench = Arc::into_inner(bench).expect("the workers are done and gave back their shares");
    let (outcomes, left) = bench.queue.into_inner().unwrap_or_else(PoisonError::into_inner).finish();
    *budget = left;
    outcomes
}

/// Where the workers of a call stand.
struct Bench<T> {
    queue: Mutex<Queue<T>>,
    /// Told whenever something was decided, for those who wait to know whether there is room.
    decided: Condvar,
    /// Nobody waits for the call any more.
    abandoned: AtomicBool,
}

/// A call that is dropped midway starts nothing more.
struct AbandonOnDrop<'a, T>(&'a Bench<T>);

impl<T> Drop for AbandonOnDrop<'_, T> {
    fn drop(&mut self) {
        self.0.abandoned.store(true, Ordering::Relaxed);
    }
}

/// A worker that breaks down takes the others with it: what it had in hand is never decided, and nobody may wait for that.
struct StopOnPanic<'a, T>(&'a Bench<T>);

impl<T> Drop for StopOnPanic<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _queue = self.0.queue();
            self.0.abandoned.store(true, Ordering::Relaxed);
            self.0.decided.notify_all();
        }
    }
}

impl<T> Bench<T> {
    /// Takes group after group, until nothing is left. Blocks.
    fn work(
        &self,
        cores: usize,
        work: &WorkDir,
        settings: &Settings,
        finish: impl Fn(Vec<Sound>) -> Vec<Result<T, Refusal>>,
    ) {
        let _stop = StopOnPanic(self);
        while let Some(group) = self.take(cores) {
            let mut read = read_group(group, work, settings);
            if !read.images.is_empty() {
                let finished = finish(std::mem::take(&mut read.images));
                read.decide(finished);
            }
            self.queue().decide(read.decided);
            self.decided.notify_all();
        }
    }

    /// The next group, once it is known which it is.
    fn take(&self, cores: usize) -> Option<Group> {
        let mut queue = self.queue();
        while !self.abandoned.load(Ordering::Relaxed) {
            let group = queue.next_group(cores);
            if !group.is_empty() {
                return Some(group);
            }
            if queue.is_empty() {
                return None;
            }
            queue = self.decided.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    fn queue(&self) -> MutexGuard<'_, Queue<T>> {
        // Nothing in here panics between two changes that belong together.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A group that was read.
struct Read<T> {
    decided: Vec<Decided<T>>,
    /// What passed the checks, and its places.
    images: Vec<Sound>,
    places: Vec<usize>,
}

impl<T> Read<T> {
    /// `finished` are the outcomes of the images, in order.
    fn decide(&mut self, finished: Vec<Result<T, Refusal>>) {
        let finished =
            finished.into_iter().map(|outcome| outcome.map_err(|refusal| Failed { refusal, was_read: true }));
        self.decided.extend(self.places.drain(..).zip(finished));
    }
}

fn read_group<T>(group: Group, work: &WorkDir, settings: &Settings) -> Read<T> {
    let mut read = Read { decided: Vec::new(), images: Vec::new(), places: Vec::new() };
    for (at, planned) in group {
        match read_and_check(&planned, work, settings) {
            Ok(sound) => {
                read.places.push(at);
                read.images.push(sound);
            }
            Err(failed) => read.decided.push((at, Err(failed))),
        }
    }
    read
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::num::NonZero;

    use super::*;

    /// A work folder with so many images.
    fn images(count: usize) -> (tempfile::TempDir, WorkDir, Vec<Attachment>) {
        let folder = tempfile::tempdir().unwrap();
        let attachments = (0..count)
            .map(|n| {
                let name = format!("{n}.png");
                std::fs::write(folder.path().join(&name), attache_media::fixtures::png(1, 1, n as u64)).unwrap();
                Attachment::new(name, "image/png")
            })
            .collect();
        let work = WorkDir::open(folder.path()).unwrap();
        (folder, work, attachments)
    }

    fn on(cores: usize) -> Settings {
        Settings::default().with_concurrency(NonZero::new(cores).unwrap())
    }

    /// What is in hand bounds the memory of a call, so that neither many attachments nor slow stores may widen it.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_more_is_in_hand_than_the_concurrency_allows() {
        const IMAGES: usize = 24;
        let (_folder, work, attachments) = images(IMAGES);
        for (cores, groups) in [(1, 1), (2, 3), (4, 5)] {
            let (in_hand, peak, largest) = (Cell::new(0), Cell::new(0), Cell::new(0));
            let finish = |images: Vec<Sound>| {
                let (in_hand, peak, largest) = (&in_hand, &peak, &largest);
                async move {
                    in_hand.set(in_hand.get() + 1);
                    peak.set(peak.get().max(in_hand.get()));
                    largest.set(largest.get().max(images.len()));
                    // A store that takes its time, until everything that may come along has come.
                    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                    in_hand.set(in_hand.get() - 1);
                    images.iter().map(|_| Ok(())).collect()
                }
            };
            let outcomes = run(&attachments, &work, &on(cores), &mut Budget::new(IMAGES), finish).await;
            assert!(outcomes.iter().all(Result::is_ok));
            assert_eq!(outcomes.len(), IMAGES);
            assert!(peak.get() <= groups, "{} groups in hand on {cores} cores", peak.get());
            assert!(largest.get() <= TOGETHER, "{} images in one group", largest.get());
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn at_once_no_more_is_in_hand_than_there_are_cores() {
        const IMAGES: usize = 24;
        let (_folder, work, attachments) = images(IMAGES);
        for cores in [1, 2, 4] {
            let counts = Arc::new(Mutex::new((0, 0, 0)));
            let finish = {
                let counts = Arc::clone(&counts);
                move |images: Vec<Sound>| {
                    {
                        let (in_hand, peak, largest) = &mut *counts.lock().unwrap();
                        *in_hand += 1;
                        *peak = usize::max(*peak, *in_hand);
                        *largest = usize::max(*largest, images.len());
                    }
                    std::thread::sleep(std::time::Duration::from_millis(20));
                    counts.lock().unwrap().0 -= 1;
                    images.iter().map(|_| Ok(())).collect()
                }
            };
            let outcomes = run_at_once(&attachments, &work, &on(cores), &mut Budget::new(IMAGES), finish).await;
            assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), IMAGES);
            let (_, peak, largest) = *counts.lock().unwrap();
            assert!(peak <= cores && largest <= TOGETHER, "{peak} groups of {largest} in hand on {cores} cores");
            assert!(peak == cores, "only {peak} of {cores} cores worked");
        }
    }

    /// Of those that wait to know whether there is room, each gets its turn when others were refused.
    #[tokio::test]
    async fn at_once_a_refusal_makes_room_for_the_next() {
        let (_folder, work, attachments) = images(20);
        for refused in 0..4 {
            let finish = move |images: Vec<Sound>| {
                let outcome = |sound: Sound| match () {
                    () if sound.bytes.iter().map(|byte| usize::from(*byte)).sum::<usize>() % 4 < refused => {
                        Err(Refusal::new(attache_conversation::RefusalCode::StoreFailed, "not this one"))
                    }
                    () => Ok(()),
                };
                images.into_iter().map(outcome).collect()
            };
            let one_by_one = run_at_once(&attachments, &work, &on(1), &mut Budget::new(3), finish).await;
            for _ in 0..20 {
                let together = run_at_once(&attachments, &work, &on(4), &mut Budget::new(3), finish).await;
                assert_eq!(format!("{one_by_one:?}"), format!("{together:?}"));
            }
        }
    }

    #[tokio::test]
    async fn a_worker_that_breaks_down_ends_the_call() {
        let (_folder, work, attachments) = images(9);
        let (settings, mut budget) = (on(3), Budget::new(2));
        let finish = |_: Vec<Sound>| -> Vec<Result<(), Refusal>> { panic!("as arranged") };
        let call = run_at_once(&attachments, &work, &settings, &mut budget, finish);
        let outcome = futures_util::FutureExt::catch_unwind(std::panic::AssertUnwindSafe(call)).await;
        assert!(outcome.is_err());
    }
}
