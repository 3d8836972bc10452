//! A session's dealer: a party that serves jobs without computing them.
//!
//! It learns of each job the number of parties and what it is asked for, which tells the number of AND gates, of
//! products and their shapes, and when. It learns no input, no output and no message between the other parties. All
//! else that these agree on, digests of circuits, constants and opened values among it, they tell each other alone
//! ([`Session::job_among`]): who sees a digest can test guesses of what it is of.

use std::time::Duration;

use futures_util::future::BoxFuture;
use madrigal_core::Phase;
use madrigal_correlations_make::{Origin, deal};
use madrigal_net::{Error, Session};

use crate::carry_out::SETUP;
use crate::plan::CORRELATIONS;

/// Deals for the jobs of `session`, one after the other, until another party has left; gives their
/// number. The dealer is the session's last party, and the plans of the others name
/// [`Origin::Dealer`]; in jobs that do not, it only looks on. Each job fails by itself after `deadline`.
/// While the others have nothing for it to do, it waits for as long as they live.
///
/// The next job is the waiting one with the smallest number, and is served to its end before another
/// is opened: parties that run jobs side by side in one session open each within the session's
/// patience, and so cannot have a dealer in it. They give each its own session.
///
/// # Errors
/// [`Error`] where something goes wrong between the parties. A job that fails ends the service, and with it the session: a
/// dealer that is to go on meets the parties anew.
pub fn serve(session: &Session, deadline: Option<Duration>) -> BoxFuture<'_, Result<u64, Error>> {
    Box::pin(serve_jobs(session, deadline))
}

async fn serve_jobs(session: &Session, deadline: Option<Duration>) -> Result<u64, Error> {
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
