//! A session's dealer: a party that serves jobs without knowing them.

use std::time::Duration;

use madrigal_core::Phase;
use madrigal_correlations::{Origin, deal};
use madrigal_net::{Error, Session};

use crate::plan::CORRELATIONS;
use crate::run::SETUP;

/// Deals for the jobs of `session`, one after the other, until the other parties have left; gives
/// their number. The dealer is the session's last party, and the plans of the others name
/// [`Origin::Dealer`]; in jobs that do not, it only looks on. Each job fails by itself after `deadline`.
///
/// # Errors
/// What goes wrong between the parties.
pub async fn serve(session: &Session, deadline: Option<Duration>) -> Result<u64, Error> {
    let mut jobs = 0;
    while let Some((job, facts)) = session.attend(deadline).await? {
        let wanted = (CORRELATIONS, Origin::Dealer.to_string());
        if facts
            .iter()
            .any(|(name, value)| (name.as_str(), value) == (wanted.0, &wanted.1))
        {
            deal(&job.context().enter(Phase::Setup, SETUP)).await?;
            jobs += 1;
        }
        job.finish_idle().await?;
    }
    Ok(jobs)
}
