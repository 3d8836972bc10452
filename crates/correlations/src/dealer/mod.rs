//! Correlations from a trusted dealer: a party of the session that computes nothing.
//!
//! The dealer is the last party of the session, the computing parties are those before it. It learns
//! how many items of which kind are made and when, and whatever else the job announces to all parties
//! of the session ([`Session::attend`](madrigal_net::Session::attend)); no input, no output and no
//! message between the others. But with one of the parties, or with a record of what they open, it
//! could read all inputs of the others: it must be trusted not to.
//!
//! # What is sent
//! Each party's shares come from a generator that it has with the dealer
//! ([`Context::shared_prg`]): of random a and b, all of them; of what depends on them (c = a b), all
//! but party 0's, which the dealer sends, one string for each piece of a call. So a Boolean triple
//! costs one bit to party 0 and nothing to the others (PRG: AES-128 in counter mode; each call goes on
//! in the streams, so nothing masks twice). For each call every party sends a request of
//! [`request::BYTES`] bytes, and the dealer compares them.
//!
//! # Security
//! To who holds all generators but party p's, p's shares are pseudorandom, and party 0's string is the
//! product less the others' pseudorandom shares. Semi-honest parties, any number of them corrupted,
//! that do not work together with the dealer.

mod kinds;
mod request;

use bytes::Bytes;
use futures_util::future::{BoxFuture, LocalBoxFuture};
use madrigal_core::Wipe;
use madrigal_core::{Party, PhaseCost};
use madrigal_net::{Channel, Context, Error, Generator, Result, breathe};

use crate::kind::Width;
use crate::maker::Maker;
use crate::matrices::Tripled;
use crate::needs::products_together;

use kinds::Strings;
use request::Request;

const STEP: &str = "dealer";

/// Requests that a party makes before it takes what they bring. They stay far below a window, so that no
/// party waits to make them while the dealer waits to answer.
const AHEAD: usize = 1024;

/// Who gets the strings that cannot be expanded.
const CORRECTED: Party = Party::new(0);

/// A computing party's way to the dealer.
pub struct DealerSource {
    context: Context,
    channel: Channel,
    prg: Generator,
    broken: bool,
}

impl std::fmt::Debug for DealerSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DealerSource({:?})", self.context)
    }
}

/// Which party of a session deals.
fn dealer_of(context: &Context) -> Party {
    Party::new(context.parties() - 1)
}

impl DealerSource {
    /// Opens the way to the dealer, the last party of `context`, which runs [`deal`] in the same step.
    /// Local. Call [`end`](crate::Maker::end) when all is made: else the dealer waits for the next request, and
    /// the others' [`Job::finish`](madrigal_net::Job::finish) for the dealer until it takes it for
    /// stalled.
    ///
    /// # Errors
    /// Those of [`Context::channel`].
    pub fn new(context: &Context) -> Result<Self> {
        let context = context.step(STEP);
        let dealer = dealer_of(&context);
        Ok(Self {
            channel: context.channel(dealer)?,
            prg: context.shared_prg(dealer)?,
            context,
            broken: false,
        })
    }

    /// What a party pays once a job: the message that ends it. All that parties other than the
    /// corrected one send is in the first round.
    pub(crate) fn start_cost() -> PhaseCost {
        PhaseCost {
            rounds: 1,
            bytes_sent: request::BYTES as u64,
            messages: 1,
            ..PhaseCost::default()
        }
    }

    /// Cost for `me` of one call for `count` items of a kind; of triples of products, of as many calls.
    pub(crate) fn items_cost(me: Party, kind: crate::Kind, count: usize) -> PhaseCost {
        if let Some((width, tripled)) = kind.product() {
            return products_cost(me, width, tripled, count);
        }
        // It deals no others: `Origin::serves`.
        let request = Request::of(kind, count);
        request.map_or(PhaseCost::default(), |request| cost(me, request))
    }

    /// What `count` requests of this kind bring, none of which waits for another.
    fn dealt<'a>(
        &'a mut self,
        request: Request,
        count: usize,
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<Vec<Strings>>> {
        Box::pin(async move {
            let mut all = Vec::with_capacity(count);
            while all.len() < count {
                let now = AHEAD.min(count - all.len());
                self.deal_together(request, now, &mut all, made).await?;
            }
            Ok(all)
        })
    }

    async fn deal_together(
        &mut self,
        request: Request,
        count: usize,
        dealt: &mut Vec<Strings>,
        made: &dyn Fn(usize),
    ) -> Result<()> {
        if std::mem::replace(&mut self.broken, true) {
            let reason = "an earlier call to the dealer failed or was given up; start a new job";
            return Err(Error::Ended {
                reason: reason.into(),
            });
        }
        if !request.is_empty() {
            for _ in 0..count {
                self.channel.send(request.to_bytes().to_vec()).await?;
            }
        }
        for _ in 0..count {
            let mut all = Strings::with_room_for(request.whole());
            for (kind, items) in request.pieces() {
                let me = self.context.me();
                let corrected = me == CORRECTED;
                let mut strings = kind.expand(me, &mut self.prg, !corrected);
                if corrected {
                    let theirs = self.channel.recv(kind.dependent_bytes()).await?;
                    strings.dependent.copy_from_slice(&theirs);
                    wipe(theirs);
                }
                all.append(&strings);
                made(items);
                breathe().await;
            }
            dealt.push(all);
        }
        self.broken = false;
        Ok(())
    }
}

/// Wipes a received message, if nobody else holds its memory: a short one lies in its packet, others in memory that
/// a link may read into again, and one from a dealer in this process is wiped by its owner.
fn wipe(message: Bytes) {
    if let Ok(mut message) = message.try_into_mut() {
        message[..].wipe();
    }
}

fn products_cost(me: Party, width: Width, tripled: Tripled, count: usize) -> PhaseCost {
    let one = cost(
        me,
        Request::Product {
            width: width.bits(),
            tripled,
        },
    );
    let together = products_together(width, tripled);
    let whole = count / together * together.div_ceil(AHEAD);
    let waits = whole + (count % together).div_ceil(AHEAD);
    PhaseCost {
        rounds: one.rounds * waits as u64,
        ..one.times(count as u64)
    }
}

/// Cost for `me` of one call.
fn cost(me: Party, request: Request) -> PhaseCost {
    let corrected = me == CORRECTED;
    let mut total = PhaseCost::default();
    if request.is_empty() {
        return total;
    }
    total.bytes_sent = request::BYTES as u64;
    total.messages = 1;
    total.rounds = if corrected { 2 } else { 0 };
    for (kind, _) in request.pieces() {
        total.aes_blocks += kind.aes_blocks(me, !corrected);
        if corrected {
            total.bytes_received += kind.dependent_bytes() as u64;
        }
    }
    total
}

/// The dealer's part in a job: serves requests until the parties say that they want no more. It waits
/// for them as long as they live; [`Job::finish_idle`](madrigal_net::Job::finish_idle) waits so for the
/// rest of their job.
///
/// A triple of a product may have 64 MiB in each factor and 2^36 products of elements, a vector 64 MiB; of
/// all else there is no limit.
///
/// # Errors
/// Those of the network; parties that ask for different things, or for more at once than they may.
///
/// # Panics
/// At any party but the last.
pub fn deal(context: &Context) -> BoxFuture<'_, Result<()>> {
    Box::pin(serve(context.step(STEP)))
}

async fn serve(context: Context) -> Result<()> {
    assert_eq!(
        context.me(),
        dealer_of(&context),
        "the dealer is the last party"
    );
    let mut channels = context.channels()?;
    let mut prgs: Vec<Generator> = channels
        .iter()
        .map(|channel| context.shared_prg(channel.peer()))
        .collect::<Result<_>>()?;
    let mut private = context.private_prg();
    loop {
        let request = receive(&mut channels).await?;
        if request == Request::End {
            return Ok(());
        }
        for (kind, _) in request.pieces() {
            let dependent = kind.deal(&mut prgs, &mut private).await;
            let corrected = channels.iter_mut().find(|c| c.peer() == CORRECTED);
            if let Some(channel) = corrected {
                // Wiped when its last frame has left.
                channel.send(Bytes::from_owner(dependent)).await?;
            }
            breathe().await;
        }
    }
}

/// The request that all parties make. Until the first party makes it, there is nothing to do.
async fn receive(channels: &mut [Channel]) -> Result<Request> {
    let mut first: Option<(Party, Request)> = None;
    let parties = channels.len();
    for channel in channels {
        let message = match first {
            None => channel.recv_idle(request::BYTES).await?,
            Some(_) => channel.recv(request::BYTES).await?,
        };
        let request = Request::read(&message).map_err(|problem| channel.refuse(problem))?;
        if let Request::Product { tripled, .. } = request {
            let checked = tripled.check(parties);
            checked.map_err(|problem| channel.refuse(problem.to_string()))?;
        }
        match first {
            None => first = Some((channel.peer(), request)),
            Some((_, known)) if known == request => {}
            Some((party, known)) => {
                return Err(channel.refuse(format!(
                    "it asks the dealer for {request}, and {party} for {known}"
                )));
            }
        }
    }
    Ok(first.map_or(Request::End, |(_, request)| request))
}

/// For the fuzz target: any bytes are read or refused, and what is read is bounded.
#[doc(hidden)]
pub fn fuzz_request(bytes: &[u8]) -> bool {
    let Ok(request) = Request::read(bytes) else {
        return false;
    };
    assert_eq!(request.to_bytes(), bytes, "what we read, we write");
    for (kind, _) in request.pieces().take(3) {
        assert!(kind.dependent_bytes() <= 64 << 20, "{request}");
    }
    true
}

impl Maker for DealerSource {
    fn make<'a>(
        &'a mut self,
        kind: crate::Kind,
        count: usize,
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<crate::maker::Strings>> {
        Box::pin(async move {
            let Some(request) = Request::of(kind, count) else {
                let reason =
                    format!("a dealer has no {kind}; choose another origin of correlations");
                return Err(Error::Ended { reason });
            };
            let requests = match kind.product() {
                Some((_, tripled)) => {
                    tripled.check(self.context.parties() - 1)?;
                    count
                }
                None => 1,
            };
            let mut dealt = self.dealt(request, requests, made).await?.into_iter();
            let mut all = dealt.next().unwrap_or_default();
            if requests > 1 {
                all = all.with_room(requests);
                dealt.for_each(|more| all.append(&more));
            }
            let [a, b] = all.independent;
            Ok(match kind {
                crate::Kind::SquarePairs(_) => vec![a, all.dependent],
                crate::Kind::SharedBits(_) => vec![all.dependent],
                _ => vec![a, b, all.dependent],
            })
        })
    }

    /// Says that no more is wanted, so that the dealer can finish the job.
    fn end(&mut self) -> LocalBoxFuture<'_, Result<()>> {
        Box::pin(self.channel.send(Request::End.to_bytes().to_vec()))
    }
}
