//! Masked sharing of two parties (ABY2.0, Patra, Schneider, Suresh and Yalame 2021; MOTION2NX A.2): protocols
//! alpha, of elements of Z_{2^l}, l = 8, 16, 32, 64, 128, and beta, of bits.
//!
//! A value x is shared as its *public part* Delta, which both parties know, and as shares of its *mask*
//! delta, which were drawn before any input was there: x = Delta + delta, and of bits x = Delta ^ delta. The
//! paper has Delta = x + delta; with the other sign the formulas are Beaver's (MOTION 6.1), with the mask
//! where Beaver has a triple's factor, and a share of x in A is a share of the mask, to which the leader adds
//! Delta. Secure against semi-honest corruption of one party.
//!
//! Work that depends on masks alone is done in *setup*, which knows the circuit and no input: of a product's factors
//! the product of the masks, from a triple. All masks of a circuit are known before the first message, as
//! sums have the sums of their terms' masks and products have fresh ones: so setup takes one round, however
//! deep the circuit is, or two where online two layers of ANDs take one. Online a product opens one element.
//!
//! n bits, or n elements of l bits; bytes are those that each party sends, and everything is one round or
//! none:
//!
//! | operation | uses | setup opens | online opens |
//! |---|---|---|---|
//! | input of a party ([`share_bits`](Aby2::share_bits), [`share_elements`](Aby2::share_elements)) | - | - | n, which its owner sends |
//! | sums, public constants and factors | - | - | - |
//! | AND ([`bit_products`](Aby2::bit_products), [`and`](Aby2::and)) | n bit triples | 2 n bits | n bits |
//! | n ANDs, and in the same round m whose operands are sums of i and of j of their results and of other bits ([`TwoLayers`]) | n + m (1 + 2 i) (1 + 2 j) bit triples | twice as many bits, in two rounds | n + m bits |
//! | product ([`products`](Aby2::products), [`mul`](Aby2::mul)) | n triples | 2 n elements | n elements |
//! | square ([`squares`](Aby2::squares), [`square`](Aby2::square)) | n square pairs | n elements | n elements |
//! | n dot products of length k ([`dots`](Aby2::dots), [`dot`](Aby2::dot)) | n k triples | 2 n k elements | n elements |
//! | m x k times k x n ([`product_masks`](Aby2::product_masks), [`product_publics`](Aby2::product_publics)) | a matrix triple | m k + k n elements | m n elements |
//! | a convolution (the same) | a triple of it | filters and images | outputs |
//! | n numbers of w bits from beta to alpha ([`flips`](Aby2::flips), [`compose`](Aby2::compose)) | n w shared bits | n w bits | n elements |
//! | bit times element ([`bit_masks_times`](Aby2::bit_masks_times), [`bit_times`](Aby2::bit_times)) | n shared bits, n triples | 2 n elements, n bits | n elements |
//! | bit times bit, as an element ([`bit_pairs`](Aby2::bit_pairs), [`mul_bits`](Aby2::mul_bits)) | 3 n correlated OTs | for half of them each 3 elements one way, 3 bits the other | n elements |
//! | opening ([`open_bit_masks`](Aby2::open_bit_masks), [`open_masks`](Aby2::open_masks)) | - | n, to each who gets it | - |
//! | from B, from A ([`mask_bits`](Aby2::mask_bits), [`mask`](Aby2::mask)) | - | - | n |
//! | to B, to A ([`unmasked_bits`], [`unmasked`]) | - | - | - |
//!
//! Nothing that travels in setup depends on an input: masks under triples' factors are uniform, and the share of
//! an output's mask tells its receiver, who gets the output, nothing once Delta has come, and nothing of any
//! value before. Online each message is a share of a value under a fresh mask, of which the receiver has but a
//! share.

mod bit_pairs;
mod bits;
mod rings;
mod two_layers;

pub use bit_pairs::{BitPairs, bit_pairs_aes, bit_pairs_bytes, bit_pairs_ots};
pub use bits::unmasked_bits;
pub use rings::{Flips, unmasked};
pub use two_layers::{Masks, TwoLayers};

use bytes::Bytes;
use madrigal_core::{Party, PhaseCost, Zeroizing};
use madrigal_correlations::Scratch;
use madrigal_net::{Channel, Context, Error, Generator, Result, exchange_each};

/// Packed bits that are wiped.
type Bits = Zeroizing<Vec<u8>>;

/// Number of parties.
pub const PARTIES: usize = 2;

/// The party that adds what both know to its shares.
pub const LEADER: Party = crate::gmw::LEADER;

/// One party of the two at work, on a channel of its own. Setup and online have
/// a value each, opened in contexts of these phases.
pub struct Aby2 {
    context: Context,
    channel: Channel,
    random: Generator,
    scratch: Scratch,
    /// Rows that were hashed of pairs of bits, by their sender.
    hashed: [u64; PARTIES],
    /// Identifier of the instance that their hashes belong to.
    instance: [u8; 32],
}

impl std::fmt::Debug for Aby2 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Aby2({:?})", self.context)
    }
}

impl Aby2 {
    /// Opens the channel of `context`.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] in the same cases as [`Context::channel`]; another number of parties than two.
    pub fn new(context: Context) -> Result<Self> {
        if context.parties() != PARTIES {
            let parties = context.parties();
            let reason = format!("protocols alpha and beta are for two parties, not {parties}");
            return Err(Error::Ended { reason });
        }
        let peer = Party::new(1 - context.me().index());
        Ok(Self {
            channel: context.channel(peer)?,
            random: context.private_prg(),
            scratch: Scratch::default(),
            hashed: [0; PARTIES],
            instance: context.public_id(),
            context,
        })
    }

    /// Counts the rounds from now on in `context`, see [`Channel::count_in`].
    pub fn count_in(&mut self, context: &Context) {
        self.context = context.clone();
        self.channel.count_in(context);
    }

    /// Number of this party.
    pub fn me(&self) -> Party {
        self.context.me()
    }

    /// Draws our shares of fresh masks: uniformly random bytes. Costs [`draw_aes`].
    pub fn draw(&mut self, masks: &mut [u8]) {
        self.random.fill(masks);
    }

    /// Draws the masks of an input of `owner`'s, which draws them by itself: the other one's shares are
    /// zeros.
    pub fn draw_input(&mut self, owner: Party, masks: &mut [u8]) {
        if self.me() == owner {
            self.random.fill(masks);
        } else {
            masks.fill(0);
        }
    }

    /// Whether we add what both know.
    fn leads(&self) -> bool {
        self.me() == LEADER
    }

    /// Sends our string, for theirs of the same length; none is sent where it is empty.
    async fn exchange(&mut self, ours: &[u8]) -> Result<Bytes> {
        self.exchange_for(ours, ours.len()).await
    }

    /// Sends our string, for theirs of `theirs` bytes, where neither of the two is empty, or both are.
    async fn exchange_for(&mut self, ours: &[u8], theirs: usize) -> Result<Bytes> {
        if ours.is_empty() {
            return Ok(Bytes::new());
        }
        let Channel { tx, rx } = &mut self.channel;
        let sent = [(tx, Bytes::copy_from_slice(ours))];
        let mut received = exchange_each(sent, [(rx, theirs)]).await?;
        Ok(received.pop().expect("a message for each receiver"))
    }

    /// One of the two sends the other one a string.
    async fn tell(&mut self, from: Party, string: &mut [u8]) -> Result<()> {
        if string.is_empty() {
            return Ok(());
        }
        if self.me() == from {
            return self.channel.send(Bytes::copy_from_slice(string)).await;
        }
        string.copy_from_slice(&self.channel.recv(string.len()).await?);
        Ok(())
    }

    /// Each of `to` gets the other one's string.
    async fn reveal(&mut self, ours: &[u8], to: &[Party]) -> Result<Option<Bytes>> {
        if ours.is_empty() {
            return Ok(to.contains(&self.me()).then(Bytes::new));
        }
        let (me, peer) = (self.context.me(), self.channel.peer());
        let Channel { tx, rx } = &mut self.channel;
        let sent = to
            .contains(&peer)
            .then(|| (tx, Bytes::copy_from_slice(ours)));
        let wanted = to.contains(&me).then_some((rx, ours.len()));
        Ok(exchange_each(sent, wanted).await?.pop())
    }
}

/// AES blocks of drawing `bytes` bytes of masks in one call.
pub const fn draw_aes(bytes: usize) -> u64 {
    bytes.div_ceil(16) as u64
}

/// Cost of an exchange of strings of `bytes` bytes, but for its round.
pub fn exchange_cost(bytes: usize) -> PhaseCost {
    PhaseCost {
        bytes_sent: bytes as u64,
        bytes_received: bytes as u64,
        messages: u64::from(bytes > 0),
        ..PhaseCost::default()
    }
}

/// Cost for `me` of `from`'s sending `bytes` bytes, but for the round.
pub fn tell_cost(me: Party, from: Party, bytes: usize) -> PhaseCost {
    let (sent, received) = if me == from { (bytes, 0) } else { (0, bytes) };
    PhaseCost {
        bytes_sent: sent as u64,
        bytes_received: received as u64,
        messages: u64::from(sent > 0),
        ..PhaseCost::default()
    }
}

/// Cost for `me` of telling each of `to` `bytes` bytes of the other one's, but for the round.
pub fn reveal_cost(me: Party, to: &[Party], bytes: usize) -> PhaseCost {
    let mut cost = PhaseCost::default();
    for receiver in to {
        cost += tell_cost(me, Party::new(1 - receiver.index()), bytes);
    }
    cost
}
