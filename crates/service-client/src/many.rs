//! Many submissions, some at once.

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use madrigal_clients::private_seed;

use crate::client::ServiceClient;
use crate::error::ClientError;
use crate::prepared::Prepared;
use crate::submission::Submission;
use crate::value::Value;

/// Progress of many submissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Submissions that all servers have accepted.
    pub accepted: u64,
    /// Submissions that were refused, or could not be made.
    pub failed: u64,
}

/// One of many submissions: name of the client, inputs.
pub type One = (String, Vec<(String, Value)>);

impl ServiceClient {
    /// Makes many submissions to a kind, `at_once` of them side by side, each dealt when its turn comes. `done` gets each result with its place
    /// in the order that they were given in, and the progress; it returns whether to go on: if not, those that are under way are still finished.
    ///
    /// They have no pending files. What is interrupted is submitted anew, under another name; who cannot do with that submits one by one.
    ///
    /// The future may move between threads, so it can be spawned.
    ///
    /// # Errors
    /// [`ClientError::NoKind`]; the failures of submissions go to `done`.
    pub fn many(
        &self,
        kind: &str,
        submissions: impl IntoIterator<Item = One, IntoIter: Send>,
        at_once: usize,
        done: impl FnMut(usize, Result<Submission, ClientError>, Progress) -> bool + Send,
    ) -> impl Future<Output = Result<Progress, ClientError>> + Send {
        self.all_of(kind, submissions.into_iter(), at_once, done)
    }

    async fn all_of(
        &self,
        kind: &str,
        submissions: impl Iterator<Item = One> + Send,
        at_once: usize,
        mut done: impl FnMut(usize, Result<Submission, ClientError>, Progress) -> bool + Send,
    ) -> Result<Progress, ClientError> {
        self.servers.kind(kind)?;
        let mut submissions = submissions.enumerate();
        let mut running = FuturesUnordered::new();
        let mut progress = Progress {
            accepted: 0,
            failed: 0,
        };
        let mut goes_on = true;
        loop {
            while goes_on && running.len() < at_once.max(1) {
                let Some((place, one)) = submissions.next() else {
                    goes_on = false;
                    break;
                };
                running.push(async move { (place, self.one(kind, one).await) });
            }
            let Some((place, result)) = running.next().await else {
                return Ok(progress);
            };
            match result {
                Ok(_) => progress.accepted += 1,
                Err(_) => progress.failed += 1,
            }
            goes_on &= done(place, result, progress);
        }
    }

    async fn one(&self, kind: &str, (client, inputs): One) -> Result<Submission, ClientError> {
        let kind = self.servers.kind(kind)?;
        let seed = private_seed()?;
        let prepared = Prepared::deal(kind, &inputs, &client, self.servers.len(), &seed)?;
        drop(inputs);
        self.send(&prepared).await
    }
}
