//! Parties that stay meet again whenever their session has ended. They do not begin at the same moment, so what one has made another may have
//! given up: while a party waits for the rest, it watches what it has, makes anew what was cut, and takes a party's newest connection for the
//! one that counts. So no failure of one is passed on to the others before all have met.

use std::sync::PoisonError;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use madrigal_core::Party;
use tokio::time::{Instant, sleep, sleep_until};

use super::error::ConnectError;
use super::gathering::Gathering;
use super::incoming::Incoming;
use super::newcomers::Newcomers;
use super::refusals::Refusals;
use super::{GRACE, MOMENT, Meeting, Ours, of_a_stranger};
use crate::transport::tcp::{MetParty, TcpTransport};

/// Pause between two looks at connections that are there.
const LOOK: Duration = Duration::from_millis(20);
/// Pause before a party is dialed again that has cut or refused a connection.
const PAUSE: Duration = Duration::from_millis(20);

type Dialed = (usize, Result<MetParty, ConnectError>);

impl Ours<'_> {
    pub(super) async fn all_again(
        &self,
        mut incoming: Incoming<'_>,
    ) -> Result<TcpTransport, ConnectError> {
        let above = || (self.me.index() + 1..self.parties()).map(Party::new);
        let address = &self.addresses[self.me.index()];
        let mut gathering = Gathering::new(above(), self.offer, address);
        let mut dialed: Vec<Option<MetParty>> = Vec::new();
        dialed.resize_with(self.me.index(), || None);
        let mut dialing: FuturesUnordered<BoxFuture<'_, Dialed>> = FuturesUnordered::new();
        (0..dialed.len()).for_each(|at| dialing.push(self.dial_again(at, Duration::ZERO)));
        let mut newcomers = Newcomers::new(above().count() * usize::from(self.offer));
        let mut strangers = Refusals::default();
        let (mut until, mut failure) = (self.until, None);
        let mut told = Box::pin(sleep(MOMENT));
        loop {
            if dialed.iter().all(Option::is_some) && gathering.complete() {
                break;
            }
            tokio::select! {
                () = sleep_until(until) => {
                    let strangers = std::mem::take(&mut strangers).most_telling();
                    return Err(failure.unwrap_or_else(|| self.not_come(strangers)));
                }
                Some((at, made)) = dialing.next(), if !dialing.is_empty() => match made {
                    Ok(met) => dialed[at] = Some(met),
                    Err(error) => {
                        failure = Some(error);
                        dialing.push(self.dial_again(at, PAUSE));
                    }
                },
                came = incoming.next() => match came {
                    Ok((stream, from)) => {
                        newcomers.admit(from, self.receive(stream, from.to_string()));
                    }
                    Err(_) => sleep(PAUSE).await,
                },
                Some((from, newcomer)) = newcomers.next() => match newcomer {
                    Ok(newcomer) => {
                        if newcomer.number == 0 {
                            gathering.forget(newcomer.peer);
                        }
                        gathering.take(newcomer, |error| self.turn_away(&mut strangers, from, error));
                    }
                    Err(error) if of_a_stranger(&error) => self.turn_away(&mut strangers, from, error),
                    Err(error) => {
                        until = until.min(Instant::now() + GRACE);
                        failure.get_or_insert(error);
                    }
                },
                () = told.as_mut() => {
                    self.miss(&dialed, &gathering);
                    let missing = self.missing();
                    (self.observe)(Meeting::Waiting { missing: &missing });
                    // Told once.
                    told.as_mut().reset(Instant::now() + Duration::from_secs(1 << 20));
                }
                () = sleep(LOOK) => {}
            }
            for (at, met) in dialed.iter_mut().enumerate() {
                if met.take_if(|met| met.is_cut()).is_some() {
                    dialing.push(self.dial_again(at, PAUSE));
                }
            }
            gathering.forget_cut();
        }
        let met = dialed.into_iter().flatten().chain(gathering.into_met());
        let mut met: Vec<MetParty> = met.collect();
        met.sort_by_key(|met| met.peer);
        Ok(TcpTransport::new(self.me, met))
    }

    fn dial_again(&self, at: usize, after: Duration) -> BoxFuture<'_, Dialed> {
        Box::pin(async move {
            sleep(after).await;
            (at, self.dial(Party::new(at)).await)
        })
    }

    /// Notes who is missing.
    fn miss(&self, dialed: &[Option<MetParty>], gathering: &Gathering) {
        let below = dialed.iter().enumerate().filter(|(_, met)| met.is_none());
        let below = below.map(|(at, _)| Party::new(at));
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        *missing = below.chain(gathering.missing()).collect();
    }
}
