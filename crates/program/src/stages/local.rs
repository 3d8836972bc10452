//! Stages in one process: in the clear, or by all parties for trials and tests.

use std::thread;

use madrigal_core::Party;
use madrigal_net::transport::mesh;
use madrigal_net::{Session, SessionConfig, block_on};

use super::{StageError, Stages};

impl Stages<'_> {
    /// Runs stages in the clear.
    ///
    /// # Errors
    /// Those of `drive`.
    pub fn simulate<T>(
        parties: usize,
        drive: impl AsyncFn(Stages<'_>) -> Result<T, StageError>,
    ) -> Result<T, StageError> {
        block_on(drive(Stages::simulated(parties)))
    }

    /// Runs stages as all parties, in order: real protocols, each party on a thread of its own, messages through
    /// memory. It is for trials and tests, since one process then knows all inputs.
    ///
    /// # Errors
    /// Those of the first party that has one.
    pub fn locally<T: Send>(
        parties: usize,
        drive: impl AsyncFn(Stages<'_>) -> Result<T, StageError> + Sync,
    ) -> Result<Vec<T>, StageError> {
        let drive = &drive;
        let party = |me, transport| {
            block_on(async move {
                let session = Session::new(SessionConfig::new(me, parties), transport);
                let work = async {
                    let greeted = session.greet().await;
                    greeted.map_err(|error| StageError::Run(error.into()))?;
                    drive(Stages::over(&session, parties, 1, None, &|_| {})).await
                };
                let done = work.await;
                session.close().await;
                done
            })
        };
        let party = &party;
        let ended: Vec<Result<T, StageError>> = thread::scope(|scope| {
            let all = Party::all(parties).zip(mesh(parties));
            let threads: Vec<_> = all
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
}
