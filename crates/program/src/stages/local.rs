//! Stages in one process: in the clear, or by all parties for trials and tests.

use madrigal_net::block_on;

use super::{StageError, Stages};
use crate::local::all_parties;

impl Stages<'_> {
    /// Runs stages in the clear.
    ///
    /// # Errors
    /// [`StageError`] of `drive`.
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
    /// [`StageError`] of the first party that has one.
    pub fn locally<T: Send>(
        parties: usize,
        drive: impl AsyncFn(Stages<'_>) -> Result<T, StageError> + Sync,
    ) -> Result<Vec<T>, StageError> {
        all_parties(parties, async |session, _| {
            let greeted = session.greet().await;
            greeted.map_err(|error| StageError::Run(error.into()))?;
            drive(Stages::over(session, parties, 1, None, &|_| {})).await
        })
    }
}
