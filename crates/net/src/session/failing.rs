//! Failures of sessions and jobs, and who hears of them.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use super::shared::{JobState, Shared, lock};
use crate::control::{self, Control, Message};
use crate::error::{Blame, Error};

/// The reason that a job's helper hears for what concerns the computing parties alone.
const FOR_INSIDERS: &str = "the computing parties ended the job for a reason that they tell each other alone: see their logs";

impl Shared {
    /// Fails the session and all its jobs, and tells the peers, also what one of them has told us:
    /// else they would see that we are gone before they hear why. The first failure counts.
    pub(crate) fn fail(&self, error: Error) -> Error {
        let speaking = self.speak();
        let first = self.failure.set(error.clone()).is_ok();
        let error = self.failure.get().cloned().unwrap_or(error);
        if first {
            self.abort(0, usize::MAX, &error);
        }
        // Those that are woken may close the session, which waits for whoever is speaking.
        drop(speaking);
        if first {
            self.wake_all();
        }
        error
    }

    /// Tells all peers that job `id` (0: the session) has failed here; why, the first `insiders` parties alone where
    /// the reason may show what they keep to themselves.
    pub(crate) fn abort(&self, id: u32, insiders: usize, error: &Error) {
        self.gave_up.store(true, SeqCst);
        self.tell_each(id, |peer| {
            let reason = match peer.index() < insiders || !error.shows_facts() {
                true => error.to_string(),
                false => FOR_INSIDERS.to_owned(),
            };
            Control::new(Message::Abort(control::Abort {
                reason: control::shorten(&reason, 1024),
                culprit: error.culprit().map_or(0, |party| party.index() as u32 + 1),
                network: error.blame() == Blame::Network,
            }))
        });
        self.flush();
    }

    /// Records a job's failure, tells the other parties, wakes whoever waits. The first failure counts.
    pub(super) fn fail_job(&self, job: &JobState, error: Error) -> Error {
        let speaking = self.speak();
        if let Err(earlier) = job.check(self) {
            return earlier;
        }
        let first = job.ended.set(error.clone()).is_ok();
        let error = job.ended.get().cloned().unwrap_or(error);
        if first {
            self.abort(job.id, job.insiders.load(Relaxed), &error);
        }
        drop(speaking);
        if first {
            self.wake_job(job.id);
        }
        error
    }

    pub(super) fn wake_all(&self) {
        for peer in &self.peers {
            let channels: Vec<_> = lock(&peer.channels).by_address.values().cloned().collect();
            channels.iter().for_each(|channel| channel.wake());
        }
        self.wake_control();
    }

    pub(crate) fn wake_job(&self, id: u32) {
        for peer in &self.peers {
            let channels: Vec<_> = lock(&peer.channels)
                .by_address
                .iter()
                .filter(|((job, _), _)| *job == id)
                .map(|(_, channel)| Arc::clone(channel))
                .collect();
            channels.iter().for_each(|channel| channel.wake());
        }
        self.wake_control();
    }
}
