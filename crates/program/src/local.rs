//! All parties of a program in one process, for trials and tests.

use std::thread;

use madrigal_core::Party;
use madrigal_engine::RunError;
use madrigal_net::transport::mesh;
use madrigal_net::{Session, SessionConfig, block_on};
use thiserror::Error;

use crate::lower::ExecuteError;
use crate::simulate::InputError;

/// Why a program could not be run by all of its parties.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LocalError {
    /// The inputs are not those that the program asks for.
    #[error(transparent)]
    Inputs(#[from] InputError),
    /// The program cannot be carried out in this mix.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// Something went wrong between the parties.
    #[error("{party}: {error}")]
    Run {
        /// The first party that says so.
        party: Party,
        /// The party's error.
        error: RunError,
    },
}

/// Does the work of all parties, in order, each on a thread of its own in a session over memory.
///
/// # Errors
/// Error of the first party that has one.
pub(crate) fn all_parties<T: Send, E: Send>(
    parties: usize,
    work: impl AsyncFn(&Session, Party) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let party = |me, transport| {
        block_on(async {
            let session = Session::new(SessionConfig::new(me, parties), transport);
            let done = work(&session, me).await;
            session.close().await;
            done
        })
    };
    let party = &party;
    let ended: Vec<Result<T, E>> = thread::scope(|scope| {
        let threads: Vec<_> = Party::all(parties)
            .zip(mesh(parties))
            .map(|(me, transport)| scope.spawn(move || party(me, transport)))
            .collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            let panicked = |panic| std::panic::resume_unwind(panic);
            thread.join().unwrap_or_else(panicked)
        };
        threads.into_iter().map(join).collect()
    });
    ended.into_iter().collect()
}
