//! Hands the attachments out, group by group, and takes in what became of them.

use attache_conversation::Refusal;
use attache_workdir_fs::WorkDir;

use super::TOGETHER;
use super::budget::{Admission, Budget};
use crate::attachment::Attachment;
use crate::check::{Failed, Planned, plan};

/// Attachments by their places, which are looked at together.
pub(super) type Group = Vec<(usize, Planned)>;

/// The place of an attachment, and what became of it.
pub(super) type Decided<T> = (usize, Result<T, Failed>);

/// The attachments of a call.
pub(super) struct Queue<T> {
    /// What the checks that need no disk found.
    planned: Vec<Option<Result<Planned, Refusal>>>,
    outcomes: Vec<Option<Result<T, Refusal>>>,
    budget: Budget,
    next: usize,
    undecided: usize,
}

impl<T> Queue<T> {
    pub(super) fn new(attachments: &[Attachment], work: &WorkDir, budget: Budget) -> Self {
        Self {
            planned: attachments.iter().map(|attachment| Some(plan(attachment, work))).collect(),
            outcomes: attachments.iter().map(|_| None).collect(),
            budget,
            next: 0,
            undecided: 0,
        }
    }

    /// The next attachments for one of `free` cores; none where nothing is left, or where it takes the outcome of others
    /// to know whether there is room.
    pub(super) fn next_group(&mut self, free: usize) -> Group {
        let left = self.planned.len() - self.next;
        let size = if left > free { TOGETHER } else { 1 };
        let mut group = Vec::with_capacity(size);
        while group.len() < size && self.next < self.planned.len() {
            match self.budget.admit(self.undecided + group.len()) {
                Admission::Wait => break,
                Admission::Never(refusal) => self.outcomes[self.next] = Some(Err(refusal)),
                Admission::Now => match self.planned[self.next].take().expect("each attachment is handed out once") {
                    Ok(planned) => group.push((self.next, planned)),
                    Err(refusal) => self.outcomes[self.next] = Some(Err(refusal)),
                },
            }
            self.next += 1;
        }
        self.undecided += group.len();
        group
    }

    /// Nothing is left to hand out.
    pub(super) fn is_empty(&self) -> bool {
        self.next == self.planned.len()
    }

    pub(super) fn decide(&mut self, decided: Vec<Decided<T>>) {
        for (at, outcome) in decided {
            self.undecided -= 1;
            self.budget.count(&outcome);
            self.outcomes[at] = Some(outcome.map_err(|failed| failed.refusal));
        }
    }

    /// The outcomes in the order of the attachments, and the budget that is left.
    pub(super) fn finish(self) -> (Vec<Result<T, Refusal>>, Budget) {
        let outcome =
            |outcome: Option<_>| outcome.expect("with nothing undecided none waits, and all have their outcome");
        (self.outcomes.into_iter().map(outcome).collect(), self.budget)
    }
}
