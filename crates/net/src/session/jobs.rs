//! Opens and closes jobs.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use super::shared::{JobState, Peer, Shared, lock};
use crate::error::{Error, Result};

impl Shared {
    /// Whether a job may have this number.
    pub(super) fn unused(&self, id: u32) -> Result<()> {
        self.check()?;
        let over = |peer: &Peer| lock(&peer.channels).over.contains(id);
        if id == 0 || self.find_job(id).is_some() || self.peers.iter().any(over) {
            let what = format!("job {id}");
            return Err(Error::Reused { what });
        }
        if self.identity.get().is_none() {
            return Err(Error::Ungreeted);
        }
        Ok(())
    }

    pub(super) fn register(&self, job: &Arc<JobState>) -> Result<()> {
        self.unused(job.id)?;
        match lock(&self.jobs).entry(job.id) {
            std::collections::hash_map::Entry::Occupied(_) => {
                let what = format!("job {}", job.id);
                return Err(Error::Reused { what });
            }
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(Arc::clone(job));
            }
        }
        // From here on an abort, and the news that a party has left, finds the job itself; what came
        // earlier is here. Why a party gave the job up says more than that it left then.
        let aborted = |peer: &Peer| peer.control().aborted.remove(&job.id);
        let mut aborted: Vec<Error> = self.peers.iter().filter_map(aborted).collect();
        if !aborted.is_empty() {
            self.fail_job(job, aborted.swap_remove(0));
        } else if let Some(peer) = self.peers.iter().find(|peer| peer.left.load(SeqCst)) {
            lock(&self.jobs).remove(&job.id);
            return Err(peer.has_left());
        }
        Ok(())
    }

    pub(crate) fn unregister(&self, id: u32) {
        let over: Arc<str> = "over".into();
        for peer in &self.peers {
            let mut channels = lock(&peer.channels);
            channels.over.insert(id);
            let mut unopened = 0;
            channels.by_address.retain(|(job, _), channel| {
                let ours = *job == id;
                if ours && let Some(early) = channel.open(&over) {
                    peer.early.fetch_sub(early, Relaxed);
                    unopened += 1;
                }
                !ours
            });
            channels.unopened -= unopened;
            drop(channels);
            let mut control = peer.control();
            control.opened.remove(&id);
            control.finished.remove(&id);
            control.aborted.remove(&id);
        }
        lock(&self.jobs).remove(&id);
    }

    /// The jobs that still need something from `peer`.
    pub(super) fn unfinished(&self, peer: &Peer) -> Vec<Arc<JobState>> {
        let jobs: Vec<_> = lock(&self.jobs).values().cloned().collect();
        let control = peer.control();
        let open = |job: &Arc<JobState>| !job.over() && !control.finished.contains_key(&job.id);
        jobs.into_iter().filter(open).collect()
    }

    pub(super) fn find_job(&self, id: u32) -> Option<Arc<JobState>> {
        lock(&self.jobs).get(&id).cloned()
    }
}
