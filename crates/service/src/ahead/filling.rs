//! A filling: a job of the session that makes one unit, on a thread of its own, until real work comes.

use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use futures_util::future::{Either, select};
use madrigal_correlations_store::StoreKey;
use madrigal_engine::{Precomputation, StoreSpec};
use madrigal_net::{Error, Session, block_on};
use tokio::sync::oneshot;

/// Time after which a filling is given up.
const DEADLINE: Duration = Duration::from_secs(600);

/// A filling at work. Dropped, it is given up at all servers, and what it has made is removed.
#[derive(Debug)]
pub(crate) struct Filling {
    /// Number of its job.
    pub(crate) number: u32,
    _stop: oneshot::Sender<()>,
}

/// The end of a filling.
#[derive(Debug)]
pub(crate) enum Filled {
    /// The unit is on the disk, in this directory, at all servers.
    Done(PathBuf),
    /// It was given up here.
    GivenUp,
    /// It came to nothing, for this reason.
    Failed(String),
}

impl Filling {
    /// Starts a filling as job `number` of the session, in a new directory. Its end comes by the receiver.
    ///
    /// # Errors
    /// The system's, which has no thread.
    pub(crate) fn start(
        (session, number): (&Session, u32),
        spec: StoreSpec,
        (directory, key): (PathBuf, StoreKey),
    ) -> io::Result<(Self, oneshot::Receiver<Filled>)> {
        let (stop, stopped) = oneshot::channel::<()>();
        let (ends, end) = oneshot::channel();
        let session = session.clone();
        // Computing and writing hold up neither notes nor jobs of the servers' thread.
        let thread = thread::Builder::new().name("madrigal ahead".to_owned());
        thread.spawn(move || {
            let filling = Box::pin(fill(&session, number, spec, &directory, &key));
            // Remains of a filling that was stopped go at the end of this closure.
            let made = match block_on(select(filling, stopped)) {
                Either::Left((made, _)) => Some(made),
                Either::Right(_) => None,
            };
            let filled = match made {
                Some(Ok(())) => Filled::Done(directory),
                Some(Err(error)) => Filled::Failed(error.to_string()),
                None => Filled::GivenUp,
            };
            // Nobody hears where the server has ended; the next one finds what is on the disk.
            let _ = ends.send(filled);
        })?;
        let filling = Self {
            number,
            _stop: stop,
        };
        Ok((filling, end))
    }
}

/// Makes a unit together with the other servers. A server that cannot take part ends it for all.
async fn fill(
    session: &Session,
    number: u32,
    spec: StoreSpec,
    directory: &Path,
    key: &StoreKey,
) -> Result<(), Error> {
    let facts = spec.facts();
    match Precomputation::new(spec, directory, key) {
        Ok(new) => {
            new.run(session, number, Some(DEADLINE), &|_| {}).await?;
            Ok(())
        }
        Err(error) => {
            let problem = error.to_string();
            let job = session.job(number, &facts, Some(DEADLINE)).await?;
            Err(job.context().fail(Error::Store { problem }))
        }
    }
}

/// Takes part in a filling that this server cannot do, so that it ends for all at once, with this reason.
pub(crate) async fn refuse(
    session: &Session,
    number: u32,
    spec: Option<&StoreSpec>,
    problem: String,
) -> Error {
    // Without the facts of the others the job fails by that.
    let facts = spec.map(StoreSpec::facts).unwrap_or_default();
    match session.job(number, &facts, Some(DEADLINE)).await {
        Ok(job) => job.context().fail(Error::Store { problem }),
        Err(error) => error,
    }
}
