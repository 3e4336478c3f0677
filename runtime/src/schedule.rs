//! Several attachments at a time, with the result of one after the other.
//!
//! An attachment is started only when it is certain that it would have been started had all before it been finished:
//! if everything still undecided were accepted, there would be room for it, and if everything undecided were read and
//! refused, there would be a read left for it. When in doubt it waits. So nothing past a limit is ever opened, and no
//! outcome depends on who finishes first.

use attache_conversation::{Refusal, RefusalCode, blocking};
use attache_workdir_fs::WorkDir;
use futures_util::stream::{FuturesUnordered, StreamExt};

use crate::attachment::Attachment;
use crate::check::{Failed, Planned, Sound, plan, read_and_check};
use crate::settings::Settings;

/// How many attachments are taken through together: two are hashed in less time than one after the other. With fewer
/// than the cores could take, each goes alone.
const TOGETHER: usize = 2;

/// How many files may be read and refused, for each image that may be accepted.
const REFUSED_READS_PER_IMAGE: usize = 4;

/// What is left of a turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    max: usize,
    accepted: usize,
    refused_reads: usize,
}

/// Whether the next attachment is looked at.
#[derive(Debug, PartialEq)]
pub(crate) enum Admission {
    Now,
    Wait,
    Never(Refusal),
}

impl Budget {
    pub(crate) fn new(max_per_turn: usize) -> Self {
        Self { max: max_per_turn, accepted: 0, refused_reads: 0 }
    }

    pub(crate) fn accepted(&self) -> usize {
        self.accepted
    }

    fn max_refused_reads(&self) -> usize {
        REFUSED_READS_PER_IMAGE * self.max
    }

    /// `undecided` attachments before the next one are still being looked at.
    pub(crate) fn admit(&self, undecided: usize) -> Admission {
        if self.accepted >= self.max {
            let reason = format!("the limit of {} images in one turn (max_per_turn) was reached", self.max);
            return Admission::Never(Refusal::new(RefusalCode::TurnLimit, reason));
        }
        if self.refused_reads >= self.max_refused_reads() {
            let reason = format!(
                "it was not read: {} files were read and refused in this turn already, {REFUSED_READS_PER_IMAGE} \
                 times the limit of {} images in one turn (max_per_turn)",
                self.refused_reads, self.max
            );
            return Admission::Never(Refusal::new(RefusalCode::TurnLimit, reason));
        }
        let certain = self.accepted + undecided < self.max && self.refused_reads + undecided < self.max_refused_reads();
        if certain { Admission::Now } else { Admission::Wait }
    }

    fn count<T>(&mut self, outcome: &Result<T, Failed>) {
        match outcome {
            Ok(_) => self.accepted += 1,
            Err(Failed { was_read: true, .. }) => self.refused_reads += 1,
            Err(_) => {}
        }
    }

    /// `count` accepted images were lost after all: they count as read and refused.
    pub(crate) fn take_back(&mut self, count: usize) {
        self.accepted -= count;
        self.refused_reads += count;
    }
}

/// Takes each attachment through the checks and then through `finish`, which may still refuse it. The outcomes come in
/// the order of the attachments.
///
/// `finish` is given one image or a few, and has to answer for each, in order.
pub(crate) async fn run<T, F>(
    attachments: &[Attachment],
    work: &WorkDir,
    settings: &Settings,
    budget: &mut Budget,
    finish: impl Fn(Vec<Sound>) -> F,
) -> Vec<Result<T, Refusal>>
where
    F: Future<Output = Vec<Result<T, Refusal>>>,
{
    let cores = settings.concurrency().get();
    let most = most_groups(cores);
    let mut outcomes: Vec<Option<Result<T, Refusal>>> = attachments.iter().map(|_| None).collect();
    let mut running = FuturesUnordered::new();
    let mut undecided = 0;
    let mut next = 0;
    loop {
        while running.len() < most {
            let free = cores.saturating_sub(running.len());
            let size = if attachments.len() - next > free { TOGETHER } else { 1 };
            let mut group = Vec::with_capacity(size);
            while group.len() < size && next < attachments.len() {
                match budget.admit(undecided + group.len()) {
                    Admission::Wait => break,
                    Admission::Never(refusal) => outcomes[next] = Some(Err(refusal)),
                    Admission::Now => match plan(&attachments[next], work) {
                        Ok(planned) => group.push((next, planned)),
                        Err(refusal) => outcomes[next] = Some(Err(refusal)),
                    },
                }
                next += 1;
            }
            if group.is_empty() {
                break;
            }
            undecided += group.len();
            running.push(take_through(group, work, settings, &finish));
        }
        let Some(decided) = running.next().await else { break };
        for (at, outcome) in decided {
            undecided -= 1;
            budget.count(&outcome);
            outcomes[at] = Some(outcome.map_err(|failed| failed.refusal));
        }
    }
    outcomes
        .into_iter()
        .map(|outcome| outcome.expect("with nothing undecided, none waits, and every attachment got its outcome"))
        .collect()
}

/// How many groups are in hand at a time: with several cores one more than they are, so that none of them waits for its
/// next; on one core there is nothing to gain.
fn most_groups(cores: usize) -> usize {
    if cores == 1 { 1 } else { cores + 1 }
}

async fn take_through<T, F>(
    group: Vec<(usize, Planned)>,
    work: &WorkDir,
    settings: &Settings,
    finish: &impl Fn(Vec<Sound>) -> F,
) -> Vec<(usize, Result<T, Failed>)>
where
    F: Future<Output = Vec<Result<T, Refusal>>>,
{
    let (work, settings) = (work.clone(), settings.clone());
    let read_all = move || -> Vec<_> {
        group.iter().map(|(at, planned)| (*at, read_and_check(planned, &work, &settings))).collect()
    };
    let mut decided = Vec::new();
    let (mut places, mut images) = (Vec::new(), Vec::new());
    for (at, outcome) in blocking(read_all).await {
        match outcome {
            Ok(sound) => {
                places.push(at);
                images.push(sound);
            }
            Err(failed) => decided.push((at, Err(failed))),
        }
    }
    if !images.is_empty() {
        let finished = finish(images).await.into_iter();
        let finished = finished.map(|outcome| outcome.map_err(|refusal| Failed { refusal, was_read: true }));
        decided.extend(places.into_iter().zip(finished));
    }
    decided
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::num::NonZero;

    use super::*;

    fn budget(accepted: usize, refused_reads: usize) -> Budget {
        Budget { max: 5, accepted, refused_reads }
    }

    #[test]
    fn nothing_starts_that_might_turn_out_to_be_past_a_limit() {
        for (accepted, refused_reads, undecided, now) in [
            (0, 0, 4, true),
            (0, 0, 5, false),
            (4, 0, 0, true),
            (4, 0, 1, false),
            (0, 19, 0, true),
            (0, 19, 1, false),
            (0, 15, 5, false),
        ] {
            let admission = budget(accepted, refused_reads).admit(undecided);
            let expected = if now { Admission::Now } else { Admission::Wait };
            assert_eq!(admission, expected, "{accepted} {refused_reads} {undecided}");
        }
        for (accepted, refused_reads, undecided) in [(5, 0, 0), (5, 20, 0), (0, 20, 0)] {
            let admission = budget(accepted, refused_reads).admit(undecided);
            assert!(matches!(admission, Admission::Never(_)), "{accepted} {refused_reads} {undecided}");
        }
    }

    #[test]
    fn with_nothing_undecided_nobody_waits() {
        for max in 0..3 {
            for accepted in 0..=max {
                for refused_reads in 0..=13 {
                    let budget = Budget { max, accepted, refused_reads };
                    assert_ne!(budget.admit(0), Admission::Wait, "{budget:?}");
                }
            }
        }
    }

    /// What is in hand bounds the memory of a call, so that neither many attachments nor slow stores may widen it.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_more_is_in_hand_than_the_concurrency_allows() {
        const IMAGES: usize = 24;
        let folder = tempfile::tempdir().unwrap();
        let attachments: Vec<_> = (0..IMAGES)
            .map(|n| {
                let name = format!("{n}.png");
                std::fs::write(folder.path().join(&name), attache_media::fixtures::png(1, 1, n as u64)).unwrap();
                Attachment::new(name, "image/png")
            })
            .collect();
        let work = WorkDir::open(folder.path()).unwrap();
        for (cores, groups) in [(1, 1), (2, 3), (4, 5)] {
            let settings = Settings::default().with_concurrency(NonZero::new(cores).unwrap());
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
            let outcomes = run(&attachments, &work, &settings, &mut Budget::new(IMAGES), finish).await;
            assert!(outcomes.iter().all(Result::is_ok));
            assert_eq!(outcomes.len(), IMAGES);
            assert!(peak.get() <= groups, "{} groups in hand on {cores} cores", peak.get());
            assert!(largest.get() <= TOGETHER, "{} images in one group", largest.get());
        }
    }
}
