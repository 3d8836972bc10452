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

mod expand;
mod request;

use bytes::Bytes;
use futures_util::future::{BoxFuture, LocalBoxFuture};
use madrigal_core::Wipe;
use madrigal_core::{Party, PhaseCost, Zeroizing};
use madrigal_correlations::{Kind, Maker, Strings, calls};
use madrigal_net::{Channel, Context, Error, Generator, Result, breathe};

use self::expand::Piece;
use self::request::DealRequest;

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

/// Gives the party of a session that deals.
fn dealer_of(context: &Context) -> Party {
    Party::new(context.parties() - 1)
}

impl DealerSource {
    /// Opens the way to the dealer, the last party of `context`, which runs [`deal`] in the same step.
    /// Local. Call [`end`](Maker::end) when all is made: else the dealer waits for the next request, and
    /// the others' [`Job::finish`](madrigal_net::Job::finish) for the dealer until it takes it for
    /// stalled.
    ///
    /// # Errors
    /// [`Error`] of [`Context::channel`].
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

    /// Gives the cost that a party has once a job: the message that ends it. All that parties other than the
    /// corrected one send is in the first round.
    pub(crate) fn start_cost() -> PhaseCost {
        PhaseCost {
            rounds: 1,
            bytes_sent: request::BYTES as u64,
            messages: 1,
            ..PhaseCost::default()
        }
    }

    /// Gives the cost for `me` of one call for `count` items of a kind; of triples of products, of as many calls as a
    /// stock makes.
    pub(crate) fn items_cost(me: Party, kind: Kind, count: usize) -> PhaseCost {
        // It deals no others: `Origin::serves`.
        let Some(request) = DealRequest::of(kind, count) else {
            return PhaseCost::default();
        };
        let one = cost(me, request);
        if kind.product().is_none() {
            return one;
        }
        let waits: usize = calls(kind, count).map(|call| call.div_ceil(AHEAD)).sum();
        PhaseCost {
            rounds: one.rounds * waits as u64,
            ..one.times(count as u64)
        }
    }

    /// Adds what `count` requests, none of which waits for another, bring to `strings`, which have room for it.
    async fn deal_together(
        &mut self,
        request: DealRequest,
        count: usize,
        strings: &mut Strings,
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
            for piece in request.pieces().map(Piece::new) {
                let me = self.context.me();
                let corrected = me == CORRECTED;
                let mut expanded = piece.expand(me, &mut self.prg, !corrected);
                if let (true, Some(dependent)) = (corrected, expanded.last_mut()) {
                    let theirs = self.channel.recv(piece.dependent_bytes()).await?;
                    dependent.copy_from_slice(&theirs);
                    wipe(theirs);
                }
                for (all, more) in strings.iter_mut().zip(&expanded) {
                    debug_assert!(all.capacity() - all.len() >= more.len(), "room was made");
                    all.extend_from_slice(more);
                }
                made(piece.steps());
                breathe().await;
            }
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

/// Cost for `me` of one call.
fn cost(me: Party, request: DealRequest) -> PhaseCost {
    let corrected = me == CORRECTED;
    let mut total = PhaseCost::default();
    if request.is_empty() {
        return total;
    }
    total.bytes_sent = request::BYTES as u64;
    total.messages = 1;
    total.rounds = if corrected { 2 } else { 0 };
    for piece in request.pieces().map(Piece::new) {
        total.aes_blocks += piece.aes_blocks(me, !corrected);
        if corrected {
            total.bytes_received += piece.dependent_bytes() as u64;
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
/// [`Error`] of the network; of parties that ask for different things, or for more at once than they may.
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
        if request == DealRequest::End {
            return Ok(());
        }
        for piece in request.pieces().map(Piece::new) {
            let dependent = piece.deal(&mut prgs, &mut private).await;
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
async fn receive(channels: &mut [Channel]) -> Result<DealRequest> {
    let mut first: Option<(Party, DealRequest)> = None;
    let parties = channels.len();
    for channel in channels {
        let message = match first {
            None => channel.recv_idle(request::BYTES).await?,
            Some(_) => channel.recv(request::BYTES).await?,
        };
        let request = DealRequest::read(&message).map_err(|problem| channel.refuse(problem))?;
        if let DealRequest::Items(kind, _) = request
            && let Some((_, tripled)) = kind.product()
        {
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
    Ok(first.map_or(DealRequest::End, |(_, request)| request))
}

/// For the fuzz target: any bytes are read or refused, and what is read is bounded.
#[doc(hidden)]
pub fn fuzz_request(bytes: &[u8]) -> bool {
    let Ok(request) = DealRequest::read(bytes) else {
        return false;
    };
    assert_eq!(request.to_bytes(), bytes, "what we read, we write");
    for piece in request.pieces().take(3).map(Piece::new) {
        assert!(piece.dependent_bytes() <= 64 << 20, "{request}");
    }
    true
}

impl Maker for DealerSource {
    fn make<'a>(
        &'a mut self,
        kind: Kind,
        count: usize,
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<Strings>> {
        Box::pin(async move {
            let Some(request) = DealRequest::of(kind, count) else {
                let reason =
                    format!("a dealer has no {kind}; choose another origin of correlations");
                return Err(Error::Ended { reason });
            };
            let mut requests = 1;
            if let Some((_, tripled)) = kind.product() {
                tripled.check(self.context.parties() - 1)?;
                requests = count;
            }
            // Growing would take more memory for a while, and leave copies behind.
            let room = |bytes| Zeroizing::new(Vec::with_capacity(bytes));
            let mut strings: Strings = kind.strings(count).into_iter().map(room).collect();
            for start in (0..requests).step_by(AHEAD) {
                let now = AHEAD.min(requests - start);
                self.deal_together(request, now, &mut strings, made).await?;
            }
            Ok(strings)
        })
    }

    /// Says that no more is wanted, so that the dealer can finish the job.
    fn end(&mut self) -> LocalBoxFuture<'_, Result<()>> {
        Box::pin(self.channel.send(DealRequest::End.to_bytes().to_vec()))
    }
}
