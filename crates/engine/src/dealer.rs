//! A session's dealer: a party that serves jobs without knowing them.

use std::time::Duration;

use madrigal_core::Phase;
use madrigal_correlations::deal;
use madrigal_net::{Error, Session};

use crate::run::SETUP;

/// Deals for the jobs of `session`, one after the other, until the other parties have left; gives
/// their number. The dealer is the session's last party, and the plans of the others name
/// [`Origin::Dealer`](crate::Origin::Dealer). Each job fails by itself after `deadline`.
///
/// # Errors
/// What goes wrong between the parties.
pub async fn serve(session: &Session, deadline: Option<Duration>) -> Result<u64, Error> {
    let mut jobs = 0;
    while let Some(job) = session.attend(deadline).await? {
        deal(&job.context().enter(Phase::Setup, SETUP)).await?;
        job.finish().await?;
        jobs += 1;
    }
    Ok(jobs)
}
