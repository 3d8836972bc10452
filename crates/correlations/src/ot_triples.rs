//! Boolean triples from oblivious transfer (MOTION 5.2.2).
//!
//! With a = XOR a_i and b = XOR b_i, c = a & b is the XOR of all a_i & b_j. A product of two
//! parties' bits is one random OT: P_i receives with choice a_i, P_j sends; of the masks k_0, k_1
//! P_i learns k_{a_i}, and k_{a_i} ^ k_0 = a_i & (k_0 ^ k_1). So with b_j = k_0 ^ k_1 the masks
//! themselves are the shares of the product.
//!
//! The paper uses a correlated OT (one more bit) for every product. That bit is needed only where
//! b_j is already fixed: here b_j *is* k_0 ^ k_1 of P_j's OTs with its first peer, and each further
//! peer gets the correction k_0 ^ k_1 ^ b_j. To a peer that knows only k_{a_i} the other mask is
//! pseudorandom, so the correction tells it nothing about b_j, also together with other peers.
//!
//! For N = 2 there are no corrections, and the whole is one message each way.
//!
//! The OTs are SoftSpoken's with k = 4 ([`FIELD_BITS`]): per triple and party N-1 times 32 bits
//! (rounded up to 128 triples in each message) and, with the corrections, at most N-2 bits. k = 1
//! (IKNP) would send 128 bits; k = 2 computes a little faster and sends 64; beyond k = 4 the work
//! doubles with each step and the bytes fall by less. Each direction begins with one message of
//! 3 KiB, which travels with the first part.
//!
//! All triples of a call are made in parts of [`PART`], and a part waits for the peers only up to
//! [`AHEAD`] parts later: latency is paid once per call.

use std::ops::Range;

use madrigal_core::{PhaseCost, bits};
use madrigal_kernels as kernels;
use madrigal_net::frame::HEADER_BYTES;
use madrigal_net::{Channel, Context, Error, Result, breathe};
use madrigal_ot::softspoken::{CHUNK, FieldBits, SoftSpokenReceiver, SoftSpokenSender};
use madrigal_ot::{ExtensionReceiver, ExtensionSender, cost};
use zeroize::Zeroizing;

use crate::BitTripleSource;
use crate::bit_triples::BitTriples;
use crate::pairs::{Base, Beginning, Stream, WaitingSender, base_cost, fail, stream_cost};

/// SoftSpoken's k.
const FIELD_BITS: FieldBits = match FieldBits::new(4) {
    Ok(k) => k,
    Err(_) => FieldBits::MIN,
};
/// Triples made at once: their extension message is one frame of 64 KiB.
const PART: usize = 2 * CHUNK;
/// Parts under way before the first is waited for, where the channels' windows allow it.
const AHEAD: usize = 4;

/// Makes triples with all peers; keeps the extensions running between calls.
pub struct OtTriples {
    context: Context,
    links: Vec<Link>,
    /// A call is under way, or did not come to its end: then the parties are out of step.
    broken: bool,
}

struct Link {
    sender: Sending,
    receiver: SoftSpokenReceiver,
    /// What the peer's sender waits for; sent with the first part.
    setup: Option<Vec<u8>>,
    extension: Channel,
    corrections: Channel,
}

/// The OTs that we send.
enum Sending {
    /// The peer's first message has not come yet.
    Waiting(WaitingSender),
    Ready(Box<SoftSpokenSender>),
    /// The first message was no good.
    Failed,
}

impl std::fmt::Debug for OtTriples {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OtTriples({:?})", self.context)
    }
}

/// One part of a call.
struct Part {
    triples: Range<usize>,
    context: Context,
}

impl Part {
    fn count(&self) -> usize {
        self.triples.len()
    }

    /// Parts begin at bytes.
    fn bytes(&self) -> Range<usize> {
        let start = self.triples.start / 8;
        start..start + bits::bytes_for(self.count())
    }
}

impl OtTriples {
    /// Runs the base OTs with all peers. Two rounds; [`base_cost`] and [`stream_cost`].
    ///
    /// # Errors
    /// Those of the network; a peer's malformed message.
    pub async fn new(context: &Context) -> Result<Self> {
        let base = Base::new(&context.step("bit triples")).await?;
        Self::with_base(context, &base)
    }

    /// Starts from base OTs that other correlations share. Local; [`stream_cost`].
    pub(crate) fn with_base(context: &Context, base: &Base) -> Result<Self> {
        let context = context.step("bit triples");
        let beginnings = base.begin(&context, Stream::Bits, FIELD_BITS)?;
        let link = |beginning: Beginning| {
            Ok(Link {
                extension: context.step("extension").channel(beginning.peer)?,
                corrections: context.step("corrections").channel(beginning.peer)?,
                sender: Sending::Waiting(beginning.sender),
                receiver: beginning.receiver,
                setup: Some(beginning.setup),
            })
        };
        let links = beginnings.into_iter().map(link).collect::<Result<_>>()?;
        Ok(Self {
            context,
            links,
            broken: false,
        })
    }

    /// All parties send before they receive: what is sent ahead must fit half a window, the half
    /// that a receiver may hold back before it gives new credit.
    fn ahead(&self) -> usize {
        let window = self.links.iter().map(|link| link.extension.window()).min();
        let half = (window.unwrap_or(0) / 2).saturating_sub(FIELD_BITS.setup_len() + HEADER_BYTES);
        let fit = half / (FIELD_BITS.message_len(PART) + HEADER_BYTES);
        fit.clamp(1, AHEAD + 1) - 1
    }

    /// Cost for party number `me` of `parties` of one call for `count` triples, the base OTs not
    /// counted.
    pub fn cost(me: usize, parties: usize, count: usize) -> PhaseCost {
        let peers = parties as u64 - 1;
        let mut total = PhaseCost::default();
        // Everyone corrects for all but its first peer.
        let sent = peers - 1;
        let received = (0..parties)
            .filter(|&j| j != me && first_peer(j) != me)
            .count() as u64;
        for part in parts(count) {
            let one = extended_bits(part.len());
            let correction = bits::bytes_for(part.len()) as u64;
            total += PhaseCost {
                rounds: 0,
                bytes_sent: peers * one.receiver_bytes + sent * correction,
                bytes_received: peers * one.receiver_bytes + received * correction,
                messages: peers + sent,
                aes_blocks: peers * (one.sender_aes + one.receiver_aes),
            };
        }
        if count > 0 {
            total.rounds = if parties == 2 { 1 } else { 2 };
        }
        total
    }

    /// What comes on top of [`cost`](Self::cost) and [`stream_cost`] in the first call that makes a
    /// triple: the extension's first messages, which travel with the first part.
    pub fn start_cost(parties: usize) -> PhaseCost {
        let peers = parties as u64 - 1;
        let one = cost::softspoken_setup(FIELD_BITS);
        PhaseCost {
            rounds: 0,
            bytes_sent: peers * one.receiver_bytes,
            bytes_received: peers * one.receiver_bytes,
            messages: peers,
            aes_blocks: peers * (one.sender_aes + one.receiver_aes),
        }
    }

    /// The cost of a first call for `count` triples, from the base OTs on.
    pub fn cost_with_base(me: usize, parties: usize, count: usize) -> PhaseCost {
        let calls = match count {
            0 => PhaseCost::default(),
            _ => Self::start_cost(parties) + Self::cost(me, parties, count),
        };
        base_cost(parties) + stream_cost(parties) + calls
    }
}

/// The peer whose OTs define a party's b.
pub(crate) const fn first_peer(party: usize) -> usize {
    if party == 0 { 1 } else { 0 }
}

/// `count` random OTs of bits, from the extension to the masks.
fn extended_bits(count: usize) -> cost::Cost {
    cost::softspoken(FIELD_BITS, count as u64) + cost::random(count as u64)
}

fn parts(count: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
    (0..count)
        .step_by(PART)
        .map(move |start| start..count.min(start + PART))
}

impl BitTripleSource for OtTriples {
    async fn bit_triples(&mut self, count: usize, made: &dyn Fn(usize)) -> Result<BitTriples> {
        if std::mem::replace(&mut self.broken, true) {
            let reason = "an earlier call for triples failed or was given up; start a new job";
            return Err(Error::Ended {
                reason: reason.into(),
            });
        }
        let parts: Vec<Part> = parts(count)
            .map(|triples| Part {
                triples,
                context: self.context.beside(),
            })
            .collect();
        let ahead = self.ahead();
        let mut work = Work::new(&self.context, count);
        for step in 0..parts.len() + ahead + 1 {
            let at = |lag: usize| step.checked_sub(lag).and_then(|index| parts.get(index));
            if let Some(part) = at(0) {
                work.receive_ots(&mut self.links, part).await?;
            }
            if let Some(part) = at(ahead) {
                work.send_ots(&mut self.links, part).await?;
            }
            if let Some(part) = at(ahead + 1) {
                work.correct(&mut self.links, part).await?;
                self.context.join(&part.context);
                made(part.count());
            }
            breathe().await;
        }
        let aes: u64 = parts
            .iter()
            .map(|part| extended_bits(part.count()))
            .map(|one| one.sender_aes + one.receiver_aes)
            .sum();
        self.context.count_aes(aes * self.links.len() as u64);
        self.broken = false;
        Ok(work.finish(count))
    }
}

impl Sending {
    /// The sender, made from the peer's first message if it is not there yet.
    async fn ready(&mut self, channel: &mut Channel, part: &Part) -> Result<&mut SoftSpokenSender> {
        if let Self::Waiting(_) = self {
            let setup = channel.recv(FIELD_BITS.setup_len()).await?;
            if let Self::Waiting(waiting) = std::mem::replace(self, Self::Failed) {
                let sender = waiting
                    .begin(&setup)
                    .map_err(|error| fail(channel, error))?;
                *self = Self::Ready(Box::new(sender));
            }
            part.context
                .count_aes(cost::softspoken_setup(FIELD_BITS).sender_aes);
        }
        match self {
            Self::Ready(sender) => Ok(sender),
            // A call after a failed one was refused before it came here.
            Self::Waiting(_) | Self::Failed => Err(channel.refuse("its first message failed")),
        }
    }
}

/// The triples of one call on their way.
struct Work {
    a: Zeroizing<Vec<u8>>,
    b: Zeroizing<Vec<u8>>,
    /// The shares of the products with peers; a & b of our own comes on top at the end.
    c: Zeroizing<Vec<u8>>,
    masks: [Zeroizing<Vec<u8>>; 2],
}

impl Work {
    fn new(context: &Context, count: usize) -> Self {
        let string = || Zeroizing::new(vec![0; bits::bytes_for(count)]);
        let mut a = string();
        context.private_prg().fill(&mut a);
        let mask = || Zeroizing::new(vec![0; PART / 8]);
        Self {
            a,
            b: string(),
            c: string(),
            masks: [mask(), mask()],
        }
    }

    /// Our choices are a: the extension message goes out, the masks k_a are our shares.
    async fn receive_ots(&mut self, links: &mut [Link], part: &Part) -> Result<()> {
        let (count, place) = (part.count(), part.bytes());
        for link in links {
            link.extension.count_in(&part.context);
            if let Some(setup) = link.setup.take() {
                part.context
                    .count_aes(cost::softspoken_setup(FIELD_BITS).receiver_aes);
                link.extension.send(setup).await?;
            }
            let mut message = vec![0; FIELD_BITS.message_len(count)];
            let mask = &mut self.masks[0][..place.len()];
            link.receiver
                .extend_bits(&self.a[place.clone()], count, &mut message, mask)
                .map_err(|error| fail(&link.extension, error))?;
            kernels::xor_into(&mut self.c[place.clone()], mask);
            link.extension.send(message).await?;
        }
        Ok(())
    }

    /// The peers' choices are their a: the masks k_0 are our shares, b is k_0 ^ k_1 with the first
    /// peer, and the others learn how theirs differs.
    async fn send_ots(&mut self, links: &mut [Link], part: &Part) -> Result<()> {
        let (count, place) = (part.count(), part.bytes());
        for (index, link) in links.iter_mut().enumerate() {
            link.extension.count_in(&part.context);
            let sender = link.sender.ready(&mut link.extension, part).await?;
            let message = link.extension.recv(FIELD_BITS.message_len(count)).await?;
            let [k0, k1] = &mut self.masks;
            let (k0, k1) = (&mut k0[..place.len()], &mut k1[..place.len()]);
            sender
                .extend_bits(&message, count, k0, k1)
                .map_err(|error| fail(&link.extension, error))?;
            kernels::xor_into(&mut self.c[place.clone()], k0);
            kernels::xor_into(k0, k1);
            let b = &mut self.b[place.clone()];
            if index == 0 {
                b.copy_from_slice(k0);
            } else {
                kernels::xor_into(k0, b);
                link.corrections.count_in(&part.context);
                link.corrections.send(k0.to_vec()).await?;
            }
        }
        Ok(())
    }

    /// Where a peer's b was fixed before our OT with it, its correction counts where our a is 1.
    async fn correct(&mut self, links: &mut [Link], part: &Part) -> Result<()> {
        let me = part.context.me().index();
        let place = part.bytes();
        for link in links
            .iter_mut()
            .filter(|link| first_peer(link.extension.peer().index()) != me)
        {
            link.corrections.count_in(&part.context);
            let correction = link.corrections.recv(place.len()).await?;
            let mut sound = correction.to_vec();
            bits::clear_tail(&mut sound, part.count());
            if sound != correction {
                return Err(link.corrections.refuse("its padding is not zero"));
            }
            let product = &mut self.masks[0][..place.len()];
            kernels::and(product, &self.a[place.clone()], &correction);
            kernels::xor_into(&mut self.c[place.clone()], product);
        }
        Ok(())
    }

    fn finish(mut self, count: usize) -> BitTriples {
        let mut own = Zeroizing::new(vec![0; self.a.len()]);
        kernels::and(&mut own, &self.a, &self.b);
        kernels::xor_into(&mut self.c, &own);
        BitTriples::new(self.a, self.b, self.c, count)
    }
}
