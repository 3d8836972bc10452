//! Stages in one process: in the clear, or by all parties for trials and tests.

use madrigal_net::block_on;

use super::{StageError, Stages};
use crate::local::all_parties;
use crate::simulate::InputError;

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
    /// memory. It is for trials and tests, since one process then knows all inputs: those of clients are given as values, too,
    /// of which shares are [dealt](Self::dealing).
    ///
    /// # Errors
    /// [`StageError`] of the first party that has one.
    pub fn locally<T: Send>(
        parties: usize,
        drive: impl AsyncFn(Stages<'_>) -> Result<T, StageError> + Sync,
    ) -> Result<Vec<T>, StageError> {
        let mut seed = [0; 8];
        getrandom::fill(&mut seed).map_err(|_| InputError::NoRandomness)?;
        let seed = u64::from_le_bytes(seed);
        all_parties(parties, async |session, _| {
            let greeted = session.greet().await;
            greeted.map_err(|error| StageError::Run(error.into()))?;
            let stages = Stages::over(session, parties, 1, None, &|_| {});
            drive(stages.dealing(seed)).await
        })
    }
}
