//! The thread that notices what does not happen: a peer that is silent, a step that stalls, a
//! deadline that passes. It also gives our own sign of life, whatever the computing threads do.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::shared::{Shared, lock};
use crate::control::{Alive, Control, Message};
use crate::error::Error;

/// Ends with the session; unparked, at once.
pub(super) fn spawn(session: &Arc<Shared>) -> JoinHandle<()> {
    let shortest = session
        .config
        .silence
        .min(session.config.stall)
        .min(session.config.patience);
    let pause = (shortest / 8).clamp(Duration::from_millis(2), Duration::from_millis(250));
    let session = Arc::downgrade(session);
    let run = move || {
        while let Some(()) = look(&session) {
            thread::park_timeout(pause);
        }
    };
    thread::Builder::new()
        .name("madrigal watchdog".into())
        .spawn(run)
        .expect("the system has room for one thread per session")
}

fn look(session: &Weak<Shared>) -> Option<()> {
    let session = session.upgrade()?;
    session.wake_expired();
    if session.closed.load(Relaxed) || session.check().is_err() {
        return Some(());
    }
    // A party that computes for long without waiting keeps no message back.
    session.flush();
    session.sign_of_life();
    if let Some(error) = session.silent() {
        session.fail(error);
    }
    session.fail_stalled();
    let late: Vec<_> = lock(&session.jobs)
        .values()
        .filter(|job| !job.over() && job.deadline.is_some_and(|(at, _)| Instant::now() >= at))
        .cloned()
        .collect();
    for job in late {
        let after = job.deadline.map_or(Duration::ZERO, |(_, after)| after);
        let culprits = session.describe_waits();
        session.fail_job(&job, Error::Deadline { after, culprits });
    }
    Some(())
}

impl Shared {
    fn sign_of_life(&self) {
        let interval = self.config.silence.as_millis() as u64 / 4;
        let now = self.now();
        for peer in self.peers() {
            if now.saturating_sub(peer.sent.load(Relaxed)) >= interval {
                self.tell(peer, 0, &Control::new(Message::Alive(Alive::default())));
                self.flush_peer(peer);
            }
        }
    }

    /// The first peer of whom nothing is heard though something waits for it, as an error.
    fn silent(&self) -> Option<Error> {
        // Waits for control messages have time limits of their own, but while a job is open a
        // silent peer ends them sooner. So it does while we attend, for however long.
        let expected = !lock(&self.jobs).is_empty() || self.attending.load(Relaxed) > 0;
        let control = self.waits_since().filter(|_| expected);
        for peer in self.peers() {
            let heard = self.epoch + Duration::from_millis(peer.heard.load(Relaxed));
            let wait = peer.longest_wait();
            let control = control.filter(|_| !peer.left.load(Relaxed));
            // A party that computes on the thread of its sockets hears nothing: silence begins with the wait.
            let Some(since) = wait.as_ref().map(|wait| wait.since).or(control) else {
                continue;
            };
            let since = since.max(heard);
            let after = since.elapsed();
            if after >= self.config.silence {
                let missing = wait.as_ref().map_or(0, |wait| wait.missing);
                return Some(Error::Silent {
                    peer: peer.party,
                    after,
                    step: wait.map(|wait| wait.step),
                    missing,
                });
            }
        }
        None
    }

    /// Fails the jobs in which a living peer has been waited for too long; the others go on.
    fn fail_stalled(&self) {
        for peer in self.peers() {
            for (job, wait) in peer.waits().filter(|(_, wait)| !wait.idle) {
                let stalled = wait.since.elapsed();
                if stalled >= self.config.stall
                    && let Some(job) = self.find_job(job)
                {
                    self.fail_job(&job, wait.into_error(peer.party, stalled));
                }
            }
        }
    }

    fn describe_waits(&self) -> String {
        let waits = self.peers().iter().filter_map(|peer| {
            let wait = peer.longest_wait()?;
            Some(format!(
                "{} in step `{}`, {} bytes",
                peer.party, wait.step, wait.missing
            ))
        });
        waits.collect::<Vec<_>>().join("; ")
    }
}
